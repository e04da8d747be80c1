#!/usr/bin/env python3
"""Checks that includes between the modules of panto/ go downward only.

usage: check_layers.py [ROOT]      report every forbidden include under ROOT, exit 1 if any
       check_layers.py --self-test prove that forbidden includes are found and allowed ones are not
"""

import pathlib
import re
import sys
import tempfile

# Lowest first. A module may include itself and everything in an earlier row.
ROWS = [
    ["base"],
    ["numerics"],
    ["spatial"],
    ["elements"],
    ["model"],
    ["mechanics"],
    ["integrate"],
    ["linear"],
    ["reduction", "updating", "identification", "estimation", "inversion"],
]
# Leaves: nobody in panto/ includes them; each may include the rows up to the one named.
LEAVES = {"io": "identification", "scene": "identification"}

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]panto/([^/">]+)/[^">]+[">]')
UPPER_FOLDERS = ["apps", "python", "bench", "validation", "examples", "tests"]
SUFFIXES = {".hpp", ".cpp", ".h", ".ipp"}


def allowed_modules():
    allowed = {}
    below = []
    up_to = {}
    for row in ROWS:
        for module in row:
            allowed[module] = set(below) | {module}
        below += row
        for module in row:
            up_to[module] = set(below)
    for leaf, top in LEAVES.items():
        allowed[leaf] = up_to[top] | {leaf}
    return allowed


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in SUFFIXES and p.is_file())


def includes(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def check(root):
    """Returns the list of violations, each a line of text."""
    root = pathlib.Path(root)
    allowed = allowed_modules()
    problems = []
    for folder in sorted(p for p in (root / "panto").glob("*") if p.is_dir()):
        module = folder.name
        files = sources(folder)
        if module not in allowed:
            if files:
                problems.append(f"panto/{module}: not in the layer list of tools/check_layers.py")
            continue
        for path in files:
            for number, target in includes(path):
                where = f"{path.relative_to(root)}:{number}"
                if target not in allowed:
                    problems.append(f"{where}: includes unknown module panto/{target}")
                elif target not in allowed[module]:
                    problems.append(f"{where}: panto/{module} must not include panto/{target}")
    for upper in UPPER_FOLDERS:
        if not (root / upper).is_dir():
            continue
        for path in sources(root / upper):
            for number, target in includes(path):
                if target not in allowed:
                    problems.append(
                        f"{path.relative_to(root)}:{number}: includes unknown module panto/{target}"
                    )
    return problems


def self_test():
    cases = [
        # (file, included header, is allowed)
        ("panto/numerics/a.cpp", "panto/base/b.hpp", True),
        ("panto/numerics/a.cpp", "panto/numerics/b.hpp", True),
        ("panto/base/a.hpp", "panto/numerics/b.hpp", False),
        ("panto/model/a.hpp", "panto/mechanics/b.hpp", False),
        ("panto/mechanics/rigid/a.cpp", "panto/model/b.hpp", True),
        ("panto/mechanics/rigid/a.cpp", "panto/linear/b.hpp", False),
        ("panto/estimation/a.cpp", "panto/linear/b.hpp", True),
        ("panto/estimation/a.cpp", "panto/updating/b.hpp", False),
        ("panto/io/a.cpp", "panto/linear/b.hpp", True),
        ("panto/io/a.cpp", "panto/identification/b.hpp", True),
        ("panto/io/a.cpp", "panto/scene/b.hpp", False),
        ("panto/identification/a.cpp", "panto/io/b.hpp", False),
        ("panto/linear/a.cpp", "panto/io/b.hpp", False),
        ("panto/model/test/a_test.cpp", "panto/io/b.hpp", False),
        ("panto/model/test/a_test.cpp", "panto/linear/b.hpp", False),
        ("panto/estimation/a.cpp", "panto/scene/b.hpp", False),
        ("panto/scene/a.cpp", "panto/mechanics/b.hpp", True),
        ("panto/scene/a.cpp", "panto/integrate/b.hpp", True),
        ("panto/scene/a.cpp", "panto/linear/b.hpp", True),
        ("panto/scene/a.cpp", "panto/identification/b.hpp", True),
        ("panto/scene/a.cpp", "panto/io/b.hpp", False),
        ("panto/base/a.cpp", "panto/nowhere/b.hpp", False),
        ("panto/nowhere/a.cpp", "panto/base/b.hpp", False),
        ("apps/cli/a.cpp", "panto/estimation/b.hpp", True),
        ("python/a.cpp", "panto/io/b.hpp", True),
        ("python/a.cpp", "panto/nowhere/b.hpp", False),
    ]
    failures = 0
    for file, header, is_allowed in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / file
            path.parent.mkdir(parents=True)
            (pathlib.Path(folder) / "panto").mkdir(exist_ok=True)
            path.write_text(f'#pragma once\n#  include "{header}"\n')
            found = check(folder)
            if bool(found) == is_allowed:
                failures += 1
                print(f"self-test: {file} including {header}: expected allowed={is_allowed}, {found}")
    print(f"self-test: {len(cases)} cases, {failures} failures")
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print(__doc__, file=sys.stderr)
        return 2
    root = arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent
    problems = check(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
