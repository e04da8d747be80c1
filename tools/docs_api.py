"""Reference pages of the C++ headers and of the Python package, from their comments and docstrings."""

import importlib
import inspect
import pathlib
import re

LAYERS = ["base", "numerics", "spatial", "elements", "model", "mechanics", "integrate", "linear"]  # from below


# ---- C++ ---------------------------------------------------------------------------------------------------------------------------


def public(header):
    name = header.name
    return "test" not in header.parts and "internal" not in name and header.parent.name != "rigid"


def without_private(lines):
    """Declarations of a class up to its private part."""
    out, hidden = [], False
    for line in lines:
        if re.match(r"^ (private|protected):", line):
            hidden = True
        elif re.match(r"^ public:", line):
            hidden = False
        if re.match(r"^};", line):
            hidden = False
        if not hidden:
            out.append(line)
    return out


def entities(text):
    """(name, comment, code) of every declaration at namespace level."""
    comment, code, depth = [], [], 0
    hidden = False
    for line in text.splitlines():
        if re.match(r"^(#|namespace |}  // namespace|using namespace)", line):
            hidden = hidden or bool(re.match(r"^namespace \w*detail", line))
            if line.startswith("}  // namespace"):
                hidden = False
            comment = []
            continue
        if hidden:
            continue
        if not code and line.startswith("//"):
            comment.append(line[2:].strip())
            continue
        if not code and not line.strip():
            comment = []
            continue
        code.append(line)
        bare = re.sub(r"//.*|\"(\\.|[^\"])*\"|'(\\.|[^'])*'", "", line)
        depth += bare.count("{") - bare.count("}")
        if depth == 0 and re.search(r"[;}]\s*$", bare):
            yield name_of(code), comment, without_private(code)
            comment, code = [], []


def name_of(code):
    text = re.sub(r"//.*", "", "\n".join(code))
    text = re.sub(r"template\s*<[^<>]*(<[^<>]*>)?[^<>]*>", "", text)
    found = re.search(r"\b(?:enum class|class|struct|enum|using)\s+(\w+)", text)
    if found and found.start() < (text.find("(") if "(" in text else len(text)):
        return found.group(1)
    found = re.search(r"(operator\s*\S+|[\w:]+)\s*\(", text) or re.search(r"(\w+)\s*(?:=|;|{)", text)
    return found.group(1) if found else ""


def module_page(root, module):
    folder = root / "panto" / module
    text = (folder / "README.md").read_text(encoding="utf-8")
    lead = next((p for p in text.split("\n\n")[1:] if not p.startswith(("|", "-", "#"))), "")
    out = [f"# panto/{module}", "", lead.strip(), ""]
    for header in sorted(h for h in folder.rglob("*.hpp") if public(h.relative_to(root))):
        lines = header.read_text(encoding="utf-8").splitlines()
        top = []
        for line in lines:
            if not line.startswith("//"):
                break
            top.append(line[2:].strip())
        found = list(entities("\n".join(lines[len(top) :])))
        if not found:
            continue
        out += [f"## `{header.relative_to(root)}`", "", escaped(" ".join(top)), ""]
        previous = None
        for name, comment, code in found:
            if name and name != previous and (comment or len(code) > 1):
                out += [f"### {name}", ""]
            previous = name
            if comment:
                out += [escaped(" ".join(comment)), ""]
            out += ["```cpp", *code, "```", ""]
    return "\n".join(out) + "\n"


def escaped(text):
    """Comments are plain text: no accidental markup, except in words between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return re.sub(r"([`*_<>|$\\#\[\]])", r"\\\1", text)
    parts[::2] = [re.sub(r"([*_<>|$\\#\[\]])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def write_cpp(root, out):
    out.mkdir(parents=True, exist_ok=True)
    navigation = []
    found = sorted(p.parent.name for p in (root / "panto").glob("*/CMakeLists.txt"))
    for module in sorted(found, key=lambda m: LAYERS.index(m) if m in LAYERS else len(LAYERS)):
        (out / f"{module}.md").write_text(module_page(root, module), encoding="utf-8")
        navigation.append({module: f"cpp/{module}.md"})
    return navigation


# ---- Python ------------------------------------------------------------------------------------------------------------------------


def call(name, thing):
    """How it is called, one argument per line where the line would be long."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return f"{name}(...)"
    text = re.sub(r"<[^>]*>", "...", str(found).replace("'", ""))
    if len(name + text) <= 90:
        return name + text
    lines = [f"    {parameter},".replace("'", "") for parameter in map(str, found.parameters.values())]
    keyword = [k for k, p in enumerate(found.parameters.values()) if p.kind is p.KEYWORD_ONLY]
    if keyword:
        lines.insert(keyword[0], "    *,")
    end = text[text.rindex(")") :]
    return "\n".join([f"{name}(", *lines, end])


def documentation(thing):
    text = inspect.getdoc(thing) or ""
    return text.replace("``", "`").strip()


def member_lines(name, member):
    if isinstance(member, property):
        return [f"#### {name}", "", documentation(member), ""]
    function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
    if not callable(function):
        return []
    return [f"#### {name}", "", "```text", call(name, function), "```", "", documentation(function), ""]


def python_page():
    package = importlib.import_module("pantograph")
    out = ["# Python reference", "", "```text", documentation(package), "```", ""]
    groups = {"Functions": [], "Classes": []}
    for name in sorted(package.__all__):
        thing = getattr(package, name)
        if not inspect.getdoc(thing):
            raise SystemExit(f"pantograph.{name} has no docstring")
        if not inspect.isclass(thing):
            groups["Functions"] += [f"### {name}", "", "```text", call(name, thing), "```", ""]
            groups["Functions"] += [documentation(thing), ""]
            continue
        bases = [b.__name__ for b in thing.__bases__ if b is not object]
        groups["Classes"] += [f"### {name}", "", documentation(thing), ""]
        if bases:
            groups["Classes"] += [f"Kind of: {', '.join(bases)}", ""]
        for member_name, member in vars(thing).items():
            if member_name.startswith("_") or not inspect.getdoc(getattr(thing, member_name)):
                continue
            groups["Classes"] += member_lines(member_name, member)
    for title, lines in groups.items():
        out += [f"## {title}", "", *lines]
    return "\n".join(out) + "\n"


def write_python(out):
    pathlib.Path(out).write_text(python_page(), encoding="utf-8")
