#!/usr/bin/env python3
"""Runs clang-tidy on the project's sources, skipping those that passed before unchanged.

usage: tidy.py [BUILD_DIR] [JOBS]     BUILD_DIR holds compile_commands.json (build/release)

A source is skipped when a stamp exists for the hash of: the version of clang-tidy, .clang-tidy, the
compile command, the source and every project header that it includes, directly or not. Stamps are
kept for all checkouts of a user, as ccache keeps objects: $XDG_CACHE_HOME/pantograph/lint, by default ~/.cache.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = ROOT / "build" / "lint"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "pantograph" / "lint"
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# The compile commands are GCC's; clang knows no such option at all as these, and reads each source without precompiled headers.
GCC_ONLY = re.compile(r" (-fno-tree-loop-distribute-patterns|-fpch-preprocess|-Winvalid-pch|-include \S+/cmake_pch\.hxx)(?= )")
EXTRA = [
    "--extra-arg=-Wno-unknown-warning-option",
    "--extra-arg=-Wno-unused-command-line-argument",
    "--extra-arg=-Wno-ignored-optimization-argument",
]


def project_includes(path, seen):
    """Adds path and the project files it includes to seen."""
    if path in seen:
        return
    seen.add(path)
    for name in INCLUDE.findall(path.read_bytes()):
        for base in (ROOT, path.parent):
            header = (base / name.decode(errors="replace")).resolve()
            if header.is_file() and ROOT in header.parents:
                project_includes(header, seen)
                break


def key(version, entry, source):
    files = set()
    project_includes(source, files)
    digest = hashlib.sha256()
    digest.update(version)
    digest.update((ROOT / ".clang-tidy").read_bytes())
    digest.update(entry["command"].replace(str(ROOT), ".").encode())
    for path in sorted(files):
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def run(build, source):
    start = time.monotonic()
    done = subprocess.run(
        ["clang-tidy", "-p", str(build), "--quiet", *EXTRA, str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    output = done.stdout + (done.stderr if done.returncode and not done.stdout else "")
    return done.returncode, output, time.monotonic() - start


def main(arguments):
    build = pathlib.Path(arguments[0]) if arguments else ROOT / "build" / "release"
    jobs = int(arguments[1]) if len(arguments) > 1 else min(os.cpu_count() or 2, 8)
    CACHE.mkdir(parents=True, exist_ok=True)
    work = {}
    commands = build / "compile_commands.json"  # absent while there is nothing to compile
    entries = json.loads(commands.read_text()) if commands.exists() else []
    for entry in entries:
        entry["command"] = GCC_ONLY.sub("", entry["command"])
    build = COMMANDS
    build.mkdir(parents=True, exist_ok=True)
    (build / "compile_commands.json").write_text(json.dumps(entries))
    version = subprocess.run(["clang-tidy", "--version"], stdout=subprocess.PIPE, check=True).stdout
    for entry in entries:
        source = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if ROOT not in source.parents or ROOT / "build" in source.parents or not source.is_file():
            continue
        stamp = CACHE / key(version, entry, source)
        if not stamp.exists():
            work[source] = stamp
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = {pool.submit(run, build, source): source for source in sorted(work)}
        for number, task in enumerate(concurrent.futures.as_completed(tasks), start=1):
            source = tasks[task]
            code, output, seconds = task.result()
            print(f"[{number}/{len(work)}] {source.relative_to(ROOT)} {seconds:.1f} s", flush=True)
            if code == 0:
                work[source].touch()
            else:
                failed += 1
                print(output, flush=True)
    if failed:
        print(f"clang-tidy: {failed} of {len(work)} files have findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
