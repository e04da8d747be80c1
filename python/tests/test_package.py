"""The package as a whole: names, documentation, type stubs, verbs, installation."""

import ast
import dataclasses
import doctest
import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import pantograph as pg
from pantograph import _core

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NUMBERS = ("float", "ndarray")


def public_members():
    """(name, object, source of the annotation of what it returns) of all that users see."""
    for name in pg.__all__:
        item = getattr(pg, name)
        if inspect.isfunction(item):
            yield name, item, str(item.__annotations__.get("return", ""))
            continue
        fields = dataclasses.fields(item) if dataclasses.is_dataclass(item) else ()
        yield name, item, " ".join(str(field.type) for field in fields)
        for member, value in vars(item).items():
            function = value.fget if isinstance(value, property) else value
            function = getattr(function, "__func__", function)
            if not member.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{member}", value, str(function.__annotations__.get("return", ""))


def test_everything_public_is_documented_with_units():
    assert pg.__version__.count(".") == 2
    for name, item, answer in public_members():
        assert item.__doc__, name
        if any(kind in answer for kind in NUMBERS):
            assert re.search(r"\[.+\]|>>>|``unit``", item.__doc__), f"{name}: in which unit?"


def test_the_examples_of_the_documentation_run(tmp_path, monkeypatch):
    for name in ("06_arm.urdf", "06_arm.loops.toml"):
        shutil.copy(ROOT / "examples" / name, tmp_path / name.replace("06_", ""))
    monkeypatch.chdir(tmp_path)
    run = pg.simulate("fourbar_f1", until=0.1)
    names = {"pg": pg, "m": pg.load("fourbar_f1"), "r": run, "another_run": run}
    texts = {"pantograph": pg.__doc__, **{name: item.__doc__ for name, item, _ in public_members()}}
    parse, runner = doctest.DocTestParser().get_doctest, doctest.DocTestRunner(verbose=False)
    for name, text in texts.items():
        runner.run(parse(text, dict(names), name, None, 0))
    assert runner.tries > 10 and runner.failures == 0


def stub_signatures():
    """Names in the stubs: arguments of functions, None for values and properties."""
    tree = ast.parse((pathlib.Path(pg.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))
    found = {}

    def add(node, prefix):
        if isinstance(node, ast.ClassDef):
            found[node.name] = None
            for member in node.body:
                add(member, node.name + ".")
        elif isinstance(node, ast.FunctionDef):
            is_property = any(getattr(d, "id", "") == "property" for d in node.decorator_list)
            arguments = None if is_property else [a.arg for a in node.args.args]
            found[prefix + node.name] = arguments
        elif isinstance(node, ast.AnnAssign):
            found[prefix + node.target.id] = None

    for node in tree.body:
        add(node, "")
    return found


def module_signatures():
    """The same of the compiled module: pybind11 writes the arguments into the documentation."""
    found = {"__version__": None}

    def add(name, item):
        if isinstance(item, property):
            found[name] = None
            return
        arguments = re.match(r"\w+\((.*)\) -> ", item.__doc__).group(1)
        found[name] = re.findall(r"(?:^|, )(\w+):", arguments)

    for name, item in vars(_core).items():
        if inspect.isclass(item):
            found[name] = None
            for member, value in vars(item).items():
                own_init = member == "__init__" and value.__doc__.startswith("__init__(")
                if own_init or not member.startswith("_"):
                    add(f"{name}.{member}", value)
        elif callable(item):
            add(name, item)
    return found


def test_the_stubs_are_in_step_with_the_compiled_module():
    assert stub_signatures() == module_signatures()
    assert (pathlib.Path(pg.__file__).parent / "py.typed").exists()


def test_the_verbs_of_the_command_line_are_functions():
    verbs = (
        "simulate check equilibrium modes linearize poses identify inverse_dynamics models schema "
        "import_urdf reproduce ema impact update observe reduce invert"
    )
    for name in verbs.split():
        assert name in pg.__all__ and callable(getattr(pg, name))


def test_the_zoo_can_be_loaded():
    for name in pg.models():
        assert pg.load(name).name == name


def test_the_schema_is_the_one_kept_for_editors():
    kept = json.loads((ROOT / "schemas" / "model.schema.json").read_text(encoding="utf-8"))
    assert pg.schema() == kept


def test_published_results_are_computed_next_to_the_printed():
    assert "iftomm:A01" in pg.reproductions()
    rows = pg.reproduce("iftomm:A01")
    assert rows and all(row.case == "iftomm:A01" for row in rows)
    for row in rows:
        assert row.reproduced == (abs(row.computed - row.printed) <= row.band)
        assert row.reproduced or row.note
    with pytest.raises(pg.ModelError, match='did you mean "iftomm:A01"'):
        pg.reproduce("iftom:A01")


def test_a_robot_description_becomes_a_model_file(tmp_path):
    urdf = ROOT / "examples" / "06_arm.urdf"
    text = pg.import_urdf(urdf, tmp_path / "arm.toml")
    assert (tmp_path / "arm.toml").read_text() == text
    again, direct = pg.load(tmp_path / "arm.toml"), pg.load(urdf)
    assert again.joints == direct.joints
    q, _ = direct.initial_state()
    assert again.mass_matrix(q) == pytest.approx(direct.mass_matrix(q), rel=1e-14)


def test_the_example_of_the_readme_runs(tmp_path, monkeypatch):
    readme = pathlib.Path(__file__).parent.parent / "README.md"
    text = readme.read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(readme), "exec"), {})
    assert (tmp_path / "run.h5").exists()


@pytest.mark.slow
def test_pip_installs_a_package_that_works_outside_the_tree(tmp_path):
    # With the objects of the tree that is tested; without PANTO_BUILD_DIR pip compiles everything.
    build = pathlib.Path(pg.__file__).resolve().parent.parent.parent
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PANTO_"))}
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", tmp_path], check=True)
    python = tmp_path / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-index", ROOT],
        env={**environment, "PANTO_BUILD_DIR": str(build)},
        check=True,
    )
    code = (
        "import json, pantograph as pg\n"
        "r = pg.simulate(pg.load('fourbar_f1'), until=0.5)\n"
        "ok = all(row.reproduced or row.note for row in pg.reproduce('drucker2022'))\n"
        "print(json.dumps([pg.__file__, r['theta'][-1], ok, len(pg.models())]))\n"
    )
    command = [python, "-W", "error", "-c", code]
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    file, theta, reproduced, models = json.loads(result.stdout)
    assert pathlib.Path(file).is_relative_to(tmp_path)
    assert theta == pg.simulate("fourbar_f1", until=0.5)["theta"][-1]
    assert reproduced
    assert models == len(pg.models())
