"""Pages of the model file's items: parameters from the schema, equation and example from docs/items/*.md.

A fragment file has a title, an introduction, and one section "## item" per item ("## bar", "## joint revolute"); a section holds
the item's equation (TeX between dollar signs, or a line "No equation: reason") and a complete model in a ```toml block.
"""

import json
import pathlib
import re
import subprocess


def read_schema(panto):
    return json.loads(subprocess.run([panto, "schema"], capture_output=True, check=True, text=True).stdout)


def schema_items(schema):
    """Item name -> object of the schema: "bar", "joint revolute"."""
    items = {"model": {**schema, "description": "one mechanism"}}
    for name, definition in schema["definitions"].items():
        if name == "number":
            continue
        if "oneOf" in definition:
            for variant in definition["oneOf"]:
                items[f"{name} {variant['properties']['type']['const']}"] = variant
        else:
            items[name] = definition
    return items


def read_fragments(folder):
    """File stem -> (title, introduction, {item: section})."""
    fragments = {}
    for file in sorted(pathlib.Path(folder).glob("*.md")):
        head, *sections = re.split(r"^## ", file.read_text(encoding="utf-8"), flags=re.M)
        title, _, introduction = head.partition("\n")
        found = {}
        for section in sections:
            name, _, body = section.partition("\n")
            found[name.strip()] = body.strip()
        fragments[file.stem] = (title.removeprefix("# ").strip(), introduction.strip(), found)
    return fragments


def complaints(items, fragments):
    """What is missing or superfluous, as lines of text."""
    out = []
    written = {}
    for stem, (_, _, sections) in fragments.items():
        for name, body in sections.items():
            where = f'docs/items/{stem}.md: "{name}"'
            if name not in items:
                out.append(f"{where}: the model file has no such item")
            if name in written:
                out.append(f"{where}: also in docs/items/{written[name]}.md")
            written[name] = stem
            if "$" not in body and "No equation:" not in body:
                out.append(f"{where}: no equation")
            examples = re.findall(r"^```toml\n(.*?)^```", body, re.M | re.S)
            if not any(re.search(r"^space\s*=", e, re.M) for e in examples):
                out.append(f"{where}: no complete example")
            elif not any(uses(name, e) for e in examples):
                out.append(f"{where}: the example does not use it")
    out += [f"{name}: no section in docs/items" for name in items if name not in written]
    return out


# Kinds of table that the file does not call by their name.
SIGNS = {
    "model": "space",
    "law": r"table = \{ x",
    "signal": "polynomial",
    "samples": r"table = \{ t",
    "place": r"\{ body",
    "point": "points",
    "point_velocity": "velocities",
    "orientation": "rpy",
    "rayleigh": r"damping = \{ alpha",
    "connection": r"connect = \[",
}


def uses(name, example):
    kind, _, variant = name.partition(" ")
    if variant:
        return re.search(rf'\b{kind}\b\s*[=\]][\s\S]*type = "{variant}"', example) is not None
    return re.search(SIGNS.get(kind, rf"\b{kind}\b"), example) is not None


def page_name(item):
    return item.replace(" ", "-")


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def key_table(schema, item):
    required = set(item.get("required", []))
    rows = ["| key | type | unit | default | meaning |", "|---|---|---|---|---|"]
    for name, key in item["properties"].items():
        if "const" in key:
            rows.append(f'| `type` | word | | required | `"{key["const"]}"` |')
            continue
        kind = key.get("x-type", "text")
        if "x-table" in key:
            kind = f"{kind}: [{key['x-table']}]({link_to(schema, key['x-table'])})"
        elif kind in ("place", "two places", "place or coordinate"):
            kind = f"[{kind}](place.md)"
        elif "signal" in kind:
            kind = f"[{kind}](signal.md)"
        elif kind == "word":
            kind = ", ".join(f'`"{w}"`' for w in key["enum"])
        default = f"`{key['x-default']}`" if "x-default" in key else ""
        if name in required or key.get("x-required"):
            default = "required"
        meaning = key.get("x-meaning", key["description"])
        if "x-space" in key:
            meaning += f" ({key['x-space']} only)"
        unit = key.get("x-unit", "").replace("^2", "²").replace("^3", "³")
        rows.append(f"| `{name}` | {cell(kind)} | {unit} | {default} | {cell(meaning)} |")
    extra = item.get("additionalProperties")
    if isinstance(extra, dict):
        rows.append(f"| any other | number | | | {cell(extra['description'])} |")
    return "\n".join(rows)


def link_to(schema, table):
    variants = "oneOf" in schema["definitions"][table]
    return f"group-{table}.md" if variants else f"{table}.md"


def heading(item):
    kind, _, variant = item.partition(" ")
    return f"{variant} ({kind})" if variant else kind


def write_pages(panto, fragments_folder, out):
    """Writes the pages and returns their part of the navigation."""
    schema = read_schema(panto)
    items = schema_items(schema)
    fragments = read_fragments(fragments_folder)
    wrong = complaints(items, fragments)
    if wrong:
        raise SystemExit("\n".join(wrong))
    out.mkdir(parents=True, exist_ok=True)
    navigation = []
    order = list(items)
    for stem, (title, introduction, sections) in sorted(
        fragments.items(), key=lambda f: min(order.index(name) for name in f[1][2])
    ):
        rows = "\n".join(
            f"| [{heading(n)}]({page_name(n)}.md) | {cell(items[n]['description'])} |" for n in sections
        )
        group = f"group-{stem}.md"
        (out / group).write_text(
            f"# {title}\n\n{introduction}\n\n| item | what it is |\n|---|---|\n{rows}\n", encoding="utf-8"
        )
        entries = [{"Overview": f"items/{group}"}]
        for name, body in sections.items():
            item = items[name]
            where = f" Available in {item['x-space']} models." if "x-space" in item else ""
            meaning = item["description"][0].upper() + item["description"][1:]
            text, example = split_example(body)
            (out / f"{page_name(name)}.md").write_text(
                f"# {heading(name)}\n\n{meaning}.{where} Group: [{title}]({group}).\n\n"
                f"## Equation\n\n{text}\n\n## Keys\n\n{key_table(schema, item)}\n\n## Example\n\n{example}\n",
                encoding="utf-8",
            )
            entries.append({heading(name): f"items/{page_name(name)}.md"})
        navigation.append({title: entries})
    return navigation


def split_example(body):
    """The first code block begins the example, with the line that names its file."""
    at = re.search(r"^(Save as `[\w.]+`:\s*)?^```", body, re.M).start()
    return body[:at].strip(), body[at:].strip()
