"""Builds the extension module with CMake; the package carries the zoo and reference data.

PANTO_BUILD_DIR: a configured build folder to use (build/release, say) instead of build/pip.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
BUILD = ROOT / "build" / "pip"
WORK = BUILD / "setuptools"
OFF = ["BUILD_TESTING", "PANTO_BUILD_APPS", "PANTO_BUILD_BENCH", "PANTO_BUILD_EXAMPLES"]


class CMakeBuild(build_ext):
    """Runs CMake and puts what the package needs at run time beside its Python files."""

    def build_extension(self, ext):
        target = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve()
        build = pathlib.Path(os.environ.get("PANTO_BUILD_DIR") or self.configure()).resolve()
        jobs = str(self.parallel or os.cpu_count() or 1)
        command = ["cmake", "--build", build, "--target", "pantograph_core", "--parallel", jobs]
        subprocess.run(command, check=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build / "python" / "pantograph" / target.name, target)
        if not self.inplace:
            data = shutil.ignore_patterns("*.cpp", "*.hpp", "*.py", "test", "CMakeLists.txt")
            for folder in ("models", "validation"):
                shutil.copytree(
                    ROOT / folder, target.parent / folder, ignore=data, dirs_exist_ok=True
                )

    def configure(self):
        options = [f"-DPython3_EXECUTABLE={sys.executable}", *(f"-D{name}=OFF" for name in OFF)]
        # The report page is bundled from npm packages; without Node.js or a network the rest still installs.
        page = subprocess.run([ROOT / "tools" / "viewer", "build"], check=False).returncode == 0
        options.append(f"-DPANTO_VIEWER={'ON' if page else 'OFF'}")
        if not page:
            print("pantograph: no report page: pg.view() will say how to build it", file=sys.stderr)
        subprocess.run(["cmake", "--preset", "release", "-B", BUILD, *options], cwd=ROOT, check=True)
        return BUILD


WORK.mkdir(parents=True, exist_ok=True)
project = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
setup(
    version=re.search(r"VERSION (\d+\.\d+\.\d+)", project).group(1),
    ext_modules=[Extension("pantograph._core", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    options={"build": {"build_base": str(WORK)}, "egg_info": {"egg_base": str(WORK)}},
)
