#!/usr/bin/env python3
"""Checks the links of a built site: every local target exists, every anchor is on its page.

usage: docs_links.py SITE
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, _, attributes):
        for key, value in attributes:
            if key == "id" and value:
                self.anchors.add(value)
            elif key in ("href", "src") and value:
                self.links.append(value)


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    site = pathlib.Path(arguments[0]).resolve()
    pages = {p: Page(p.read_text(encoding="utf-8")) for p in site.rglob("*.html") if p.name != "404.html"}
    broken = 0
    for path, page in sorted(pages.items()):
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            anchor = urllib.parse.unquote(parts.fragment)
            missing = not target.exists()
            if missing or (anchor and target in pages and anchor not in pages[target].anchors and anchor != "__skip"):
                broken += 1
                print(f"{path.relative_to(site)}: broken link {link}")
    print(f"links: {len(pages)} pages, {broken} broken")
    return 1 if broken or not pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
