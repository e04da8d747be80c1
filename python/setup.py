"""Builds the extension module with the CMake project of the tree; the package carries the zoo."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent.parent


class CMakeBuild(build_ext):
    def build_extension(self, ext):
        build = pathlib.Path(self.build_temp).resolve()
        target = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve()
        off = ["BUILD_TESTING", "PANTO_BUILD_APPS", "PANTO_BUILD_BENCH", "PANTO_BUILD_VALIDATION"]
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(
            ["cmake", "-S", str(ROOT), "-B", str(build), *generator]
            + ["-DCMAKE_BUILD_TYPE=Release", f"-DPython3_EXECUTABLE={sys.executable}"]
            + [f"-D{option}=OFF" for option in off],
            check=True,
        )
        jobs = str(self.parallel or os.cpu_count() or 1)
        subprocess.run(
            ["cmake", "--build", str(build), "--target", "pantograph_core", "--parallel", jobs],
            check=True,
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build / "python" / "pantograph" / target.name, target)
        if (ROOT / "models").is_dir() and not self.inplace:
            shutil.copytree(ROOT / "models", target.parent / "models", dirs_exist_ok=True)


project = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
setup(
    version=re.search(r"VERSION (\d+\.\d+\.\d+)", project).group(1),
    ext_modules=[Extension("pantograph._core", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    options={"build": {"build_base": str(ROOT / "build" / "pip")}},
)
