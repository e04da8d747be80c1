"""The package as a whole."""

import pathlib
import re

import pantograph as pg


def test_everything_public_is_documented():
    assert pg.__version__.count(".") == 2
    for name in pg.__all__:
        item = getattr(pg, name)
        assert item.__doc__, name
        if isinstance(item, type) and item.__module__.startswith("pantograph"):
            for member, value in vars(item).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__, f"{name}.{member}"


def test_the_zoo_can_be_loaded():
    for name in pg.models():
        assert pg.load(name).name == name


def test_the_example_of_the_readme_runs(tmp_path, monkeypatch):
    readme = pathlib.Path(__file__).parent.parent / "README.md"
    text = readme.read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(readme), "exec"), {})
    assert (tmp_path / "run.h5").exists()
