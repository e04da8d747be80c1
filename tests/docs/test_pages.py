"""The pages say what the tree holds: items, equations, paths, verbs, integrators."""

import json
import pathlib
import re

import docs_items
import docs_stage
import pantograph as pg
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SCHEMA = json.loads((ROOT / "schemas/model.schema.json").read_text(encoding="utf-8"))
ITEMS = docs_items.schema_items(SCHEMA)
PREFIXES = "EOM|TREE|CHAN|LOOP|INT|ENE|ASM|EQU|SNG|INV|DRV|MEA|UNI|LIN|MOD|IDN|UPD|OBS|ELM|ERLS|ANCF|RED|RER|EMA|SRV|PEN|FB|RIC"


def pages():
    return sorted(DOCS.rglob("*.md"))


def test_every_item_has_equation_and_example():
    assert docs_items.complaints(ITEMS, docs_items.read_fragments(DOCS / "items")) == []


def broken(change):
    fragments = docs_items.read_fragments(DOCS / "items")
    change(fragments["body"][2])
    return docs_items.complaints(ITEMS, fragments)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda sections: sections.pop("bar"), "bar: no section"),
        (lambda sections: sections.update(plank=sections["bar"]), "no such item"),
        (lambda sections: sections.update(bar="no math\n```toml\nspace = 1\nbar = 2\n```"), "no equation"),
        (lambda sections: sections.update(bar="$x$"), "no complete example"),
        (lambda sections: sections.update(bar="$x$\n```toml\nspace = 1\n```"), "does not use it"),
    ],
)
def test_missing_and_unknown_items_are_noticed(change, words):
    found = broken(change)
    assert any(words in line for line in found), found


def cited_in_code():
    for folder in ("panto", "apps", "python", "validation"):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".hpp", ".cpp", ".py"):
                text = file.read_text(encoding="utf-8")
                yield from re.findall(rf"\b(?:{PREFIXES})-\d+\b", text)


def test_equation_ids_of_code_and_pages_agree():
    defined = set(docs_stage.equation_homes(DOCS))
    assert all(re.fullmatch(rf"(?:{PREFIXES})-\d+", name) for name in defined), defined
    cited = set(cited_in_code())
    assert cited - defined == set(), "cited in the code, not defined in docs"
    assert defined - cited == set(), "defined in docs, not cited in the code"


def test_pages_cite_equations_that_exist():
    defined = set(docs_stage.equation_homes(DOCS))
    for page in pages():
        text = page.read_text(encoding="utf-8")
        unknown = set(re.findall(rf"\b(?:{PREFIXES})-\d+\b", text)) - defined
        assert not unknown, f"{page.name}: {unknown}"


def test_paths_that_pages_name_exist():
    folders = "panto|apps|docs|tools|tests|models|python|schemas|validation|cmake|bench|viewer"
    named = 0
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *pages()]:
        text = page.read_text(encoding="utf-8")
        for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", text):
            named += 1
            assert (ROOT / path).exists(), f"{page.name} names {path}"
    assert named > 30


def test_names_that_recipes_tell_are_in_the_tree():
    sources = "\n".join(
        f.read_text(encoding="utf-8") for f in (ROOT / "panto").rglob("*") if f.suffix in (".hpp", ".cpp")
    )
    for page in sorted((DOCS / "extend").glob("*.md")):
        for name in re.findall(r"`([A-Za-z]\w+(?:::\w+)?)`", page.read_text(encoding="utf-8")):
            word = name.split("::")[-1]
            assert re.search(rf"\b{word}\b", sources), f"{page.name} names {name}"


def test_every_verb_has_a_page():
    sources = "".join(f.read_text(encoding="utf-8") for f in (ROOT / "apps/cli").glob("*.cpp"))
    verbs = re.findall(r'add_subcommand\(\s*"([\w-]+)"', sources)
    assert len(verbs) >= 10
    for verb in verbs:
        assert (DOCS / f"{verb}.md").exists(), verb


def test_every_integrator_is_described():
    text = (DOCS / "theory/integrators.md").read_text(encoding="utf-8")
    for integrator in pg.integrators():
        name = getattr(integrator, "name", integrator)
        family = "bdf1" if name.startswith("bdf") else name
        assert f"`{family}`" in text, name


def test_every_model_has_its_drawing_in_its_page():
    for name in pg.models():
        assert "](drawing.svg)" in (ROOT / "models" / name / "README.md").read_text(encoding="utf-8"), name
