#!/usr/bin/env python3
"""Puts the documentation's sources together: written pages, generated pages, pictures, KaTeX, navigation.

usage: docs_stage.py OUT [PANTO]      fills OUT/src and writes OUT/mkdocs.yml; needs the package pantograph on PYTHONPATH
"""

import pathlib
import re
import shutil
import sys

import docs_api
import docs_items
import pantograph as pg
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
KATEX = pathlib.Path("/usr/share/javascript/katex")
# An equation's id is defined by \tag{EOM-1} and cited as EOM-1.
# Code, formulas, links and headings: no citations in there.
NOT_PROSE = r"^```.*?^```$|^    .*?$|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`|\[[^\]\n]*\]\([^)\n]*\)|^#+ .*?$"
TAG = re.compile(r"\\tag\{([A-Z]+-\d+)\}")


def equation_homes(source):
    """Id -> page that defines it, relative to the source folder."""
    homes = {}
    for page in sorted(source.rglob("*.md")):
        for name in TAG.findall(page.read_text(encoding="utf-8")):
            if name in homes:
                raise SystemExit(f"{name} is defined in {homes[name]} and {page.relative_to(source)}")
            homes[name] = page.relative_to(source)
    return homes


def link_equations(page, source, homes):
    """Gives equations an anchor and turns citations of their ids into links."""
    text = page.read_text(encoding="utf-8")
    here = page.relative_to(source)
    up = "../" * (len(here.parts) - 1)

    def cited(match):
        name = match.group(0)
        if name not in homes:
            return name
        target = "" if homes[name] == here else up + homes[name].as_posix()
        return f"[{name}]({target}#{name.lower()})"

    pieces = re.split(f"({NOT_PROSE})", text, flags=re.M | re.S)
    for i, piece in enumerate(pieces):
        if i % 2 == 0:
            pieces[i] = re.sub(r"\b[A-Z]{3,4}-\d+\b", cited, piece)
        elif piece.startswith("$$"):
            anchors = "".join(f'<a id="{name.lower()}"></a>' for name in TAG.findall(piece))
            pieces[i] = (anchors + "\n\n" if anchors else "") + piece
    page.write_text("".join(pieces), encoding="utf-8")


def source_of(readme):
    found = re.search(r"\*\*Source\.\*\* (.*?)(?=\n- \*\*|\n\n|\Z)", readme, re.S)
    return " ".join(found.group(1).split()) if found else ""


def write_gallery(source):
    folder = source / "gallery"
    folder.mkdir()
    rows = []
    for name in pg.models():
        model = pg.load(name)
        shutil.copy2(ROOT / "models" / name / "drawing.svg", folder / f"{name}.svg")
        freedom = pg.check(model).degrees_of_freedom
        origin = source_of((ROOT / "models" / name / "README.md").read_text(encoding="utf-8"))
        rows.append(
            f'<div markdown="1">\n\n## {name}\n\n![{model.title}](gallery/{name}.svg)\n\n**{model.title}.** '
            f"{model.space.capitalize()}, degrees of freedom: {freedom}. {origin}\n\n</div>\n"
        )
    text = (
        "# Gallery\n\n![What three feedforwards leave of the move of a flexible link](images/flexible_link.svg)\n\n"
        "What three feedforwards leave of a move, on a machine that has aged: all the way [from a model file to a feedback loop](from-model-to-loop.md) on one of them.\n\nThe mechanisms of the zoo in their initial pose. White circles are hinges, black ones balls, boxes slide on dashed "
        "guides. `panto simulate <name>` runs one; `panto models` tells where its file is.\n\n"
    )
    grid = f'<div class="gallery" markdown="1">\n\n{"".join(rows)}\n</div>\n'
    (source / "gallery.md").write_text(text + grid, encoding="utf-8")


def filled(navigation, generated):
    out = []
    for entry in navigation:
        ((title, target),) = entry.items()
        if isinstance(target, list):
            target = filled(target, generated)
        elif target.startswith("@"):
            target = generated[target[1:]]
        out.append({title: target})
    return out


def pages_of(navigation):
    for entry in navigation:
        for target in entry.values():
            if isinstance(target, list):
                yield from pages_of(target)
            else:
                yield target


def main(arguments):
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    out = pathlib.Path(arguments[0]).resolve()
    panto = arguments[1] if len(arguments) > 1 else ROOT / "build/release/bin/panto"
    source = out / "src"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("items"))
    generated = {
        "items": docs_items.write_pages(panto, ROOT / "docs/items", source / "items"),
        "cpp": docs_api.write_cpp(ROOT, source / "cpp"),
    }
    docs_api.write_python(source / "python-reference.md")
    write_gallery(source)
    homes = equation_homes(source)
    for page in source.rglob("*.md"):
        link_equations(page, source, homes)
    for file in ("katex.min.js", "katex.min.css"):
        (source / "katex").mkdir(exist_ok=True)
        shutil.copyfile(KATEX / file, source / "katex" / file)
    shutil.copytree(KATEX / "fonts", source / "katex/fonts", ignore=lambda _, names: [n for n in names if not n.endswith("woff2")])

    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    settings["docs_dir"], settings["site_dir"] = str(source), str(out / "site")
    navigation = filled(settings["nav"], generated)
    known = set(pages_of(navigation))
    more = sorted(p.relative_to(source).as_posix() for p in source.rglob("*.md"))
    more = [{pathlib.PurePath(p).stem: p} for p in more if p not in known]
    settings["nav"] = navigation + ([{"More": more}] if more else [])
    (out / "mkdocs.yml").write_text(yaml.safe_dump(settings, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
