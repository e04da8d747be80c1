#!/usr/bin/env python3
"""Draws mechanisms in their initial pose as small SVG files.

usage: gallery.py [--check] [NAME ...]      models/NAME/drawing.svg of the zoo (default: all)

--check compares with the files in the tree instead of writing them. Needs the package pantograph on PYTHONPATH.
Lengths, angles and poses are evaluated by the library: every place of interest is made an output of the model.
"""

import math
import pathlib
import re
import sys

import numpy as np
import pantograph as pg

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
WIDTH, HEIGHT, MARGIN = 320.0, 220.0, 26.0
PALETTE = ["#3465a4", "#c4622d", "#4e8f3a", "#8f5a99", "#b8860b", "#2a8f8f", "#a33b4e"]
INK, GREY = "#222", "#888"


def expanded(items):
    """Items with `repeat` written out."""
    for item in items:
        item = dict(item)
        repeat = item.pop("repeat", None)
        if repeat is None:
            yield item
            continue
        name, first, last = re.match(r"\s*(\w+)\s*=\s*(.+?)\s*\.\.\s*(.+?)\s*$", repeat).groups()
        for value in range(count(first), count(last) + 1):
            yield filled(item, name, value)


CONSTANTS = {}


def count(text):
    """Whole number of an expression of the constants: only literals and parameters of the zoo come here."""
    return round(float(CONSTANTS.get(text, text)))


def filled(value, name, number):
    if isinstance(value, dict):
        return {k: filled(v, name, number) for k, v in value.items()}
    if isinstance(value, list):
        return [filled(v, name, number) for v in value]
    if not isinstance(value, str):
        return value
    value = re.sub(r"\{([^}]*)\}", lambda m: whole(m.group(1), name, number), value)
    return re.sub(rf"\b{name}\b", f"({number})", value)


def whole(text, name, number):
    """{i}, {i-1}, {i+1}."""
    shift = re.fullmatch(rf"\s*{name}\s*([+-]\s*\d+)?\s*", text).group(1)
    return str(number + int((shift or "0").replace(" ", "")))


class Probe:
    """Asks the library for poses of places and for numbers."""

    def __init__(self, description):
        self.description = description
        self.planar = description["space"] == "planar"
        self.axes = "xy" if self.planar else "xyz"
        self.outputs, self.poses, self.numbers = [], {}, {}

    def position(self, of, within=None):
        first = len(self.outputs)
        for axis in self.axes:
            item = {"name": f"probe{len(self.outputs)}", "type": "position", "of": of, "axis": axis}
            if within is not None:
                item["in"] = within
            self.outputs.append(item)
        return slice(first, len(self.outputs))

    def pose(self, place):
        key = repr(place)
        if key not in self.poses:
            corners = [[0.0] * len(self.axes)] + np.eye(len(self.axes)).tolist()
            self.poses[key] = (
                self.position(place),
                [self.position({"body": "ground", "at": c}, place) for c in corners],
            )
        return key

    def number(self, expression):
        key = str(expression)
        if key not in self.numbers:
            at = [expression] + [0] * (len(self.axes) - 1)
            self.numbers[key] = self.position({"body": "ground", "at": at})
        return key

    def solve(self):
        """Poses become (position, rotation), numbers become floats."""
        kept = {
            k: v
            for k, v in self.description.items()
            if k not in ("force", "actuator", "sensor", "output", "servo", "simulation")
        }
        model = pg.Model.from_dict({**kept, "output": self.outputs})
        q, _ = model.initial_state()
        y = model.residual(q)["y"]
        for key, (at, corners) in self.poses.items():
            origin = y[corners[0]]
            self.poses[key] = y[at], np.array([y[c] - origin for c in corners[1:]])
        for key, at in self.numbers.items():
            self.numbers[key] = float(y[at][0])


def body_of(place):
    return place["body"] if isinstance(place, dict) else place.split(".")[0]


def axis_vector(axis, fallback, dimension):
    if axis is None:
        axis = fallback
    if isinstance(axis, str):
        return np.eye(dimension)["xyz".index(axis)]
    vector = np.array([float(a) for a in axis])
    return vector / np.linalg.norm(vector)


class Sketch:
    """What there is to draw, with places still to be evaluated."""

    def __init__(self, description):
        CONSTANTS.clear()
        CONSTANTS.update(description.get("parameters", {}))
        self.probe = probe = Probe(description)
        self.dimension = len(probe.axes)
        self.bodies = {}  # name -> poses of the places on it
        self.beams = set()  # names; all places on them lie on their line
        self.shapes = []  # body, kind, pose, numbers, axis
        self.joints = []  # symbol, pose, axis in the place
        self.rails = []  # pose of the guide, axis, pose of the slider
        self.lines = []  # kind, pose, pose
        self.grounded = []  # places on the ground that carry the mechanism
        self.anchors = []  # other ends on the ground
        for body in expanded(description.get("body", [])):
            self.add_body(body)
        for joint in expanded(description["joint"]):
            self.add_joint(joint)
        for loop in expanded(description.get("loop", [])):
            self.add_loop(loop)
        for item in expanded([*description.get("force", []), *description.get("actuator", [])]):
            if "between" in item:
                kind = "spring" if "spring" in item["type"] else "drive"
                ends = [self.place(p) for p in item["between"]]
                self.lines.append((kind, *ends))
                self.anchors += [e for e, p in zip(ends, item["between"]) if body_of(p) == "ground"]
        probe.solve()

    def place(self, place, fixed=False):
        key = self.probe.pose(place)
        body = body_of(place)
        if body != "ground":
            self.bodies.setdefault(body, []).append(key)
        elif fixed:
            self.grounded.append(key)
        return key

    def add_body(self, body):
        name = body["name"]
        self.bodies[name] = [self.probe.pose({"body": name, "at": body["com"]})] if "com" in body else []
        for kind in ("beam", "ancf"):
            if kind in body:
                self.beams.add(name)
                self.add_shape(name, "bar", {"length": body[kind]["length"]})
        for kind in ("bar", "box", "cylinder", "sphere", "point_mass", "shape"):
            parts = body.get(kind, [])
            for part in parts if isinstance(parts, list) else [parts]:
                self.add_shape(name, part.get("type", kind), part)

    def add_shape(self, body, kind, part):
        if kind == "none":
            return
        pose = {"body": body, **{k: part[k] for k in ("at", "angle", "rpy") if k in part}}
        numbers = {k: self.probe.number(part[k]) for k in ("length", "radius") if k in part}
        for k, v in enumerate(part.get("size", [])):
            numbers[f"size{k}"] = self.probe.number(v)
        for axis in ("x", "y"):
            for k, v in enumerate(part.get(axis, [])):
                numbers[f"{axis}{k}"] = self.probe.number(v)
        self.shapes.append((body, kind, self.probe.pose(pose), numbers, part.get("axis", "x")))

    def add_joint(self, joint):
        parent, child = self.place(joint["parent"], True), self.place(joint["child"])
        kind = joint["type"]
        if kind in ("prismatic", "cylindrical"):
            fallback = "x" if kind == "prismatic" else "z"
            axis = axis_vector(joint.get("axis"), fallback, self.dimension)
            self.rails.append((parent, axis, child))
        elif kind == "revolute":
            axis = axis_vector(joint.get("axis"), "z", 3) if self.dimension == 3 else None
            self.joints.append(("hinge", parent, axis))
        elif kind in ("spherical", "universal"):
            self.joints.append(("ball", parent, None))
        elif kind == "free" and parent in self.grounded:
            self.grounded.remove(parent)

    def add_loop(self, loop):
        if "between" not in loop:
            return
        a, b = (self.place(p, loop["type"] != "distance" or body_of(p) == "ground") for p in loop["between"])
        kind = loop["type"]
        if kind == "distance":
            self.lines.append(("rod", a, b))
        elif kind == "slider":
            self.rails.append((b, axis_vector("x", "x", self.dimension), a))
        elif kind in ("pin", "revolute"):
            axis = axis_vector("z", "z", 3) if self.dimension == 3 else None
            self.joints.append(("hinge", a, axis))
        elif kind in ("spherical", "universal"):
            self.joints.append(("ball", a, None))


class View:
    """From metres to the picture: planar as it is, spatial from above and the side, up as gravity says."""

    def __init__(self, description, dimension):
        if dimension == 2:
            self.matrix = np.eye(2)
            return
        gravity = description.get("gravity", [0, 0, -1])
        up = max(range(3), key=lambda k: gravity[k] not in (0, 0.0, "0"))
        order = np.eye(3)[[(up + 1) % 3, (up + 2) % 3, up]]  # two horizontal axes, then up
        turn, lift = math.radians(-35), math.radians(24)
        right = np.array([math.cos(turn), -math.sin(turn), 0])
        depth = np.array([math.sin(turn), math.cos(turn), 0])
        above = math.cos(lift) * np.array([0, 0, 1.0]) + math.sin(lift) * depth
        self.matrix = np.array([right, above]) @ order

    def fit(self, points):
        flat = np.array([self.matrix @ p for p in points])
        low, high = flat.min(axis=0), flat.max(axis=0)
        span = np.maximum(high - low, 1e-9)
        self.scale = min((WIDTH - 2 * MARGIN) / span[0], (HEIGHT - 2 * MARGIN - 16) / span[1])
        self.middle = (low + high) / 2

    def __call__(self, point):
        x, y = (self.matrix @ point - self.middle) * self.scale
        return np.array([WIDTH / 2 + x, HEIGHT / 2 - y - 8])


def hull(points):
    """Corners of the convex hull, in order."""
    points = sorted({(round(float(x), 1), round(float(y), 1)) for x, y in points})
    if len(points) < 3:
        return points

    def half(sequence):
        out = []
        for p in sequence:
            while len(out) > 1 and (
                (out[-1][0] - out[-2][0]) * (p[1] - out[-2][1])
                - (out[-1][1] - out[-2][1]) * (p[0] - out[-2][0])
                <= 0
            ):
                out.pop()
            out.append(p)
        return out[:-1]

    return half(points) + half(points[::-1])


def number(value):
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def path(points, closed=False):
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points) + ("Z" if closed else "")


def corners_of(kind, pose, numbers, axis, dimension):
    """Points of space that outline a shape."""
    p, r = pose
    n = dimension
    if kind == "bar":
        return [p, p + r[:, 0] * numbers["length"]]
    if kind == "polygon":
        return [p + r[:, 0] * numbers[f"x{k}"] + r[:, 1] * numbers[f"y{k}"] for k in range(len(numbers) // 2)]
    if kind == "box":
        signs = np.array(np.meshgrid(*[[-0.5, 0.5]] * n)).reshape(n, -1).T
        return [p + r @ (s * [numbers[f"size{k}"] for k in range(n)]) for s in signs]
    if kind == "cylinder" and n == 3:
        along = axis_vector(axis, "x", 3)
        u, v = np.eye(3)["xyz".index(axis) - 2], np.eye(3)["xyz".index(axis) - 1]
        ring = [math.tau * k / 12 for k in range(12)]
        return [
            p + r @ (s * numbers["length"] / 2 * along + numbers["radius"] * (math.cos(a) * u + math.sin(a) * v))
            for s in (-1, 1)
            for a in ring
        ]
    if kind in ("sphere", "cylinder"):
        return [p + numbers["radius"] * d for d in np.vstack([np.eye(n), -np.eye(n)])]
    return [p]


class Drawing:
    def __init__(self, sketch, view, title):
        self.sketch, self.view = sketch, view
        self.poses, self.numbers = sketch.probe.poses, sketch.probe.numbers
        self.parts = []
        self.title = title

    def add(self, tag, **attributes):
        pairs = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in attributes.items())
        self.parts.append(f"<{tag}{pairs}/>")

    def at(self, key):
        return self.view(self.poses[key][0])

    def direction(self, key, axis):
        """Unit vector in the picture of an axis of a place; its length there before."""
        p, r = self.poses[key]
        d = self.view(p + r @ axis) - self.view(p)
        length = float(np.linalg.norm(d)) / self.view.scale
        return (d / np.linalg.norm(d) if length > 1e-6 else np.array([1.0, 0.0])), length

    def shape(self, kind, key, numbers, axis, color):
        numbers = {k: self.numbers[v] for k, v in numbers.items()}
        pose = self.poses[key]
        if kind == "bar":
            return
        at = self.view(pose[0])
        if kind == "point_mass":
            self.add("circle", cx=number(at[0]), cy=number(at[1]), r=4, fill=color)
        elif kind == "sphere" or (kind == "cylinder" and self.sketch.dimension == 2):
            r = number(max(numbers["radius"] * self.view.scale, 2))
            self.add("circle", cx=number(at[0]), cy=number(at[1]), r=r, fill=color, fill_opacity=0.3, stroke=color)
        else:
            points = hull([self.view(c) for c in corners_of(kind, pose, numbers, axis, self.sketch.dimension)])
            self.add("path", d=path(points, True), fill=color, fill_opacity=0.3, stroke=color)

    def link(self, body, color):
        """A thick line, or a plate where the places of a body do not lie on one."""
        keys = list(self.sketch.bodies[body])
        points = [] if body in self.sketch.beams else [self.at(k) for k in keys]
        for name, kind, key, numbers, _ in self.sketch.shapes:
            if name == body and kind == "bar":
                p, r = self.poses[key]
                points += [self.view(p), self.view(p + r[:, 0] * self.numbers[numbers["length"]])]
            elif name == body and len(hull(points)) < 2:
                points.append(self.at(key))
        corners = hull(points)
        if len(corners) > 2:
            self.add("path", d=path(corners, True), fill=color, fill_opacity=0.3, stroke=color, stroke_width=3)
        elif len(corners) == 2:
            self.add("path", d=path(corners), stroke=color, stroke_width=5)

    def support(self, key):
        x, y = self.at(key)
        hatch = "l-4 4" + "m7-4l-4 4" * 4
        self.add("path", d=f"M{number(x)} {number(y)}l-7 11h14z", fill="#fff", stroke=INK)
        self.add("path", d=f"M{number(x - 5)} {number(y + 11)}{hatch}", stroke=INK, fill="none")

    def rail(self, guide, axis, slider):
        d, _ = self.direction(guide, axis)
        a, b = self.at(guide), self.at(slider)
        reach = [float(d @ (b - a)), 0.0]
        points = [a + d * (min(reach) - 22), a + d * (max(reach) + 22)]
        self.add("path", d=path(points), stroke=GREY, stroke_width=1.5, stroke_dasharray="6 3")
        n = np.array([-d[1], d[0]])
        box = [b + 9 * s * d + 5 * t * n for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        self.add("path", d=path(box, True), fill="#fff", stroke=INK, stroke_width=1.5)

    def line(self, kind, a, b):
        a, b = self.at(a), self.at(b)
        length = float(np.linalg.norm(b - a))
        if kind != "spring" or length < 1:
            dash = {"stroke_dasharray": "9 3"} if kind == "drive" else {}
            self.add("path", d=path([a, b]), stroke=INK, stroke_width=3, **dash)
            return
        d = (b - a) / length
        n = np.array([-d[1], d[0]])
        points = [a, a + 0.2 * (b - a)]
        points += [a + (0.2 + 0.6 * (k + 0.5) / 8) * (b - a) + (5 if k % 2 else -5) * n for k in range(8)]
        points += [a + 0.8 * (b - a), b]
        self.add("path", d=path(points), stroke=INK, stroke_width=1.2)

    def joint(self, symbol, key, axis):
        x, y = self.at(key)
        if axis is not None:
            d, length = self.direction(key, axis)
            if length > 0.2:
                ends = [np.array([x, y]) - 13 * length * d, np.array([x, y]) + 13 * length * d]
                self.add("path", d=path(ends), stroke=INK, stroke_dasharray="4 2")
        fill = INK if symbol == "ball" else "#fff"
        self.add("circle", cx=number(x), cy=number(y), r=4, fill=fill, stroke=INK, stroke_width=1.5)

    def scale_bar(self):
        length = 10 ** math.floor(math.log10(60 / self.view.scale))
        length = max(k * length for k in (1, 2, 5) if k * length * self.view.scale <= 80)
        x, y = WIDTH - 14, HEIGHT - 10
        self.add("path", d=path([(x - length * self.view.scale, y), (x, y)]), stroke=INK, stroke_width=2)
        unit = f"{length:g} m" if length >= 0.1 else f"{1000 * length:g} mm"
        self.parts.append(f'<text x="{x:g}" y="{y - 4:g}" text-anchor="end">{unit}</text>')

    def text(self):
        colors = {b: PALETTE[k % len(PALETTE)] for k, b in enumerate(self.sketch.bodies)}
        seen = set()
        for key in self.sketch.grounded:
            spot = path([self.at(key)])
            if spot not in seen:
                self.support(key)
            seen.add(spot)
        for key in self.sketch.anchors:
            x, y = self.at(key)
            self.add("path", d=f"M{number(x - 7)} {number(y)}h14m-11 0l-4 4" + "m7-4l-4 4" * 3, stroke=INK)
        for rail in self.sketch.rails:
            self.rail(*rail)
        for body, kind, key, numbers, axis in self.sketch.shapes:
            self.shape(kind, key, numbers, axis, colors[body])
        for body, color in colors.items():
            self.link(body, color)
        for line in self.sketch.lines:
            self.line(*line)
        for joint in self.sketch.joints:
            self.joint(*joint)
        self.scale_bar()
        title = self.title.replace("&", "&amp;").replace("<", "&lt;")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
            f'font-family="sans-serif" font-size="10" fill="none" stroke-linejoin="round" stroke-linecap="round">\n'
            f"<title>{title}</title>\n"
            f'<rect width="{WIDTH:g}" height="{HEIGHT:g}" rx="6" fill="#fff"/>\n'
            + "\n".join(self.parts).replace("<text", f'<text fill="{INK}"')
            + "\n</svg>\n"
        )


def drawing(name):
    """The SVG text of a model of the zoo."""
    model = pg.load(name)
    description = model.description
    sketch = Sketch(description)
    view = View(description, sketch.dimension)
    points = [sketch.probe.poses[k][0] for keys in sketch.bodies.values() for k in keys]
    points += [sketch.probe.poses[k][0] for k in sketch.grounded + sketch.anchors]
    for _, kind, key, numbers, axis in sketch.shapes:
        values = {k: sketch.probe.numbers[v] for k, v in numbers.items()}
        points += corners_of(kind, sketch.probe.poses[key], values, axis, sketch.dimension)
    view.fit(points)
    return Drawing(sketch, view, model.title).text()


NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def same(a, b):
    """Equal texts, numbers to 0.2: the last digit of a pose that lies on the edge of rounding may differ."""
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    return all(abs(float(x) - float(y)) <= 0.2 for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))


def main(arguments):
    check = "--check" in arguments
    names = [a for a in arguments if a != "--check"] or pg.models()
    failed = 0
    for name in names:
        file = MODELS / name / "drawing.svg"
        text = drawing(name)
        if not check:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or not same(file.read_text(encoding="utf-8"), text):
            failed += 1
            print(f"{file.relative_to(MODELS.parent)}: not the drawing of the model; run tools/gallery.py {name}")
        if len(text) > 10000:
            failed += 1
            print(f"{name}: drawing of {len(text)} bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
