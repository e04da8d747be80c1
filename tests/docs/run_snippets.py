#!/usr/bin/env python3
"""Executes the code blocks of README.md and of all pages of the site: run_snippets.py ROOT PANTO PYTHON_PACKAGE_FOLDER PAGES

A block preceded by "Save as `name`" is kept under that name for the blocks after it.
toml     a complete model (it says `space`) is checked with `panto check` and simulated for a moment
console  lines that start with "$ " are run in the page's scratch folder
python   run as one program per block in the same folder

Blocks of other kinds are not code. Prints the closing line "N passed, M failed".
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\w+)[ \t]*\n(.*?)^```[ \t]*$", re.M | re.S)
SAVE_AS = re.compile(r"Save as `([\w.]+)`:\s*$")


def run(command, folder, environment):
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)


def blocks(page):
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        saved = SAVE_AS.search(text[: match.start()])
        yield line, match.group(1), match.group(2), saved.group(1) if saved else None


def main():
    root, panto, package, pages = (pathlib.Path(a).resolve() for a in sys.argv[1:5])
    environment = dict(os.environ, PYTHONPATH=str(package), PATH=f"{panto.parent}:{os.environ['PATH']}")
    passed, failed = 0, 0
    for page in [root / "README.md", *sorted(pages.rglob("*.md"))]:
        with tempfile.TemporaryDirectory() as scratch:
            for line, kind, code, saved in blocks(page):
                name = saved or "snippet.toml"
                if saved or kind == "toml":
                    pathlib.Path(scratch, name).write_text(code, encoding="utf-8")
                if kind == "toml" and re.search(r"^space\s*=", code, re.M):
                    commands = [[str(panto), "check", name], [str(panto), "simulate", name, "--until", "0.01"]]
                elif kind == "console":
                    commands = [["bash", "-c", c[2:]] for c in code.splitlines() if c.startswith("$ ")]
                elif kind == "python":
                    commands = [["/usr/bin/python3", "-c", code]]
                else:
                    continue
                for command in commands:
                    result = run(command, scratch, environment)
                    if result.returncode == 0:
                        passed += 1
                    elif "[E0640]" in result.stderr:
                        print(f"{page.relative_to(root)}:{line}: left out, the program was built without the report page")
                    else:
                        failed += 1
                        print(f"{page.name}:{line}: {kind} block: exit {result.returncode}\n{result.stdout}{result.stderr}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
