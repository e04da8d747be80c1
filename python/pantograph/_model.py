"""Models: from a file, a dictionary or Python statements, all compiled by the same code."""

from __future__ import annotations

import contextlib
import numbers
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, _html
from ._errors import Diagnostic, ModelError, warn

_BLOCKS = ("q", "v", "a", "lambda", "u", "theta")


class Parameters(Mapping[str, float]):
    """The physical numbers θ of a model, by name, in SI units.

    >>> m.parameters["crank.bar.mass"], m.parameters.units["crank.bar.mass"]
    (1.0, 'kg')
    """

    def __init__(self, core: _core.Model):
        self._units = core.parameter_units
        self._index = {name: i for i, name in enumerate(self._units)}
        self._values = core.parameter_values
        self._values.setflags(write=False)

    def __getitem__(self, name: str) -> float:
        return float(self._values[self._index[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        units = (f" {unit}" if unit not in ("", "1") else "" for unit in self._units.values())
        rows = (f"{name} = {self[name]:g}{unit}" for name, unit in zip(self, units))
        return f"<pantograph.Parameters {', '.join(rows)}>"

    def _repr_html_(self) -> str:
        rows = [(name, self[name], unit) for name, unit in self._units.items()]
        return _html.table(("parameter", "value", "unit"), rows)

    @property
    def array(self) -> np.ndarray:
        """All of them as one vector [SI] (read-only), in the order of the names."""
        return self._values

    @property
    def units(self) -> dict[str, str]:
        """Unit of each by name; empty where the model does not tell a dimension."""
        return dict(self._units)


class Model:
    """A mechanism, described as in a model file (docs/model-file.md).

    ``load`` reads one from a file; the statements below build one in code::

        m = pg.Model(space="planar", gravity=[0, -9.81])
        m.body("rod", bar=dict(length=1, mass=1))
        m.joint("theta", "revolute", parent="ground", child="rod")
        m.output("theta", "coordinate", of="theta")

    Keys, values and units are those of the file. A key that is a word of Python is written with an
    underscore behind it: ``in_``, ``from_``. The model is compiled when it is first used;
    ``compile`` does it at once.
    """

    def __init__(self, space: str, gravity: Sequence[float | str] | None = None, **keys: Any):
        """``space``: "planar" or "spatial"; ``gravity`` [m/s²]; ``keys``: others of the file."""
        description = {"space": space, "gravity": gravity, **_plain(keys)}
        self._start(_core.Spec(description, *_caller()), {})

    def _start(self, spec: _core.Spec, overrides: dict[str, str]) -> None:
        self._spec = spec
        self._spec_shared = False
        self._overrides = overrides
        self._compiled: _core.Model | None = None

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Model:
        """A model from a nested dictionary with the structure of the file."""
        return cls._from_spec(_core.Spec(dict(description), *_caller()), {})

    @classmethod
    def _from_spec(cls, spec: _core.Spec, overrides: dict[str, str]) -> Model:
        model = cls.__new__(cls)
        model._start(spec, overrides)
        return model

    # ---- description

    def parameter(self, name: str, value: float | str) -> None:
        """Names a number, quantity ("16 mm") or expression ("rho*A*L") for use in expressions."""
        self._edit().merge("parameters", {name: value}, *_caller())
        self._compiled = None

    def body(self, name: str, **keys: Any) -> None:
        """Adds a body: ``mass`` [kg], ``com`` [m], ``inertia`` [kg m²], or ``bar``, ``box``, …"""
        self._add("body", {"name": name}, keys)

    def frame(self, name: str, body: str, **keys: Any) -> None:
        """Names the place ``"<body>.<name>"``: ``at`` [m], ``angle`` or ``rpy`` [rad]."""
        self._add("frame", {"name": name, "body": body}, keys)

    def joint(self, name: str, type: str, **keys: Any) -> None:
        """Adds a joint of the tree: ``parent``, ``child``, ``axis``, ``range`` [rad, m]."""
        self._add("joint", {"name": name, "type": type}, keys)

    def loop(self, name: str, type: str, **keys: Any) -> None:
        """Adds a loop closure: ``between`` (two places) and what its type needs."""
        self._add("loop", {"name": name, "type": type}, keys)

    def driver(self, name: str, **keys: Any) -> None:
        """Adds a prescribed motion: ``on`` (coordinate) or a channel, ``motion`` [rad, m]."""
        self._add("driver", {"name": name}, keys)

    def superelement(self, name: str, modes: str, **keys: Any) -> None:
        """Adds a linear structure given by the file of its modes: ``connect``, ``damping``."""
        self._add("superelement", {"name": name, "modes": modes}, keys)

    def force(self, name: str, type: str, **keys: Any) -> None:
        """Adds a spring, damper, force, torque or friction."""
        self._add("force", {"name": name, "type": type}, keys)

    def actuator(self, name: str, type: str, **keys: Any) -> None:
        """Adds an actuator: ``on`` or ``between``, ``input`` (signal) [N, N m, m/s, rad/s]."""
        self._add("actuator", {"name": name, "type": type}, keys)

    def sensor(self, name: str, type: str, **keys: Any) -> None:
        """Adds a sensor, also an output: ``of``, ``rate`` [Hz], ``noise``, ``bias``, …"""
        self._add("sensor", {"name": name, "type": type}, keys)

    def output(self, name: str, type: str, **keys: Any) -> None:
        """Adds an output: any channel, force, input or energy."""
        self._add("output", {"name": name, "type": type}, keys)

    def initial(self, values: Mapping[str, Any] | None = None, /, **keys: Any) -> None:
        """Gives initial values by coordinate and speed name, ``points``, ``guess``, …"""
        self._edit().merge("initial", {**(values or {}), **keys}, *_caller())
        self._compiled = None

    def simulation(self, **keys: Any) -> None:
        """Gives defaults of ``simulate``: ``until`` [s], ``dt`` [s], ``tol``, ``integrator``."""
        self._edit().merge("simulation", keys, *_caller())
        self._compiled = None

    @property
    def description(self) -> dict[str, Any]:
        """The description as a nested dictionary (a copy), as ``from_dict`` takes it."""
        return self._spec.to_dict()

    def to_toml(self) -> str:
        """The model file with the present parameters; comments and units of the file are kept."""
        return self._spec.to_toml(self._ready())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file (``to_toml``): the whole file or, if that fails, none."""
        text = self.to_toml()
        temporary = f"{os.fspath(path)}.{os.getpid()}.tmp"
        try:
            with open(temporary, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.replace(temporary, path)
        except OSError:
            with contextlib.suppress(OSError):
                os.remove(temporary)
            raise

    def _add(self, kind: str, head: dict[str, Any], keys: dict[str, Any]) -> None:
        self._edit().append(kind, {**head, **_plain(keys)}, *_caller(3))
        self._compiled = None

    def _edit(self) -> _core.Spec:
        if self._spec_shared:
            self._spec = self._spec.copy()
            self._spec_shared = False
        return self._spec

    # ---- compiled model

    def compile(self) -> Model:
        """Compiles the description if that is not done yet; all errors are in one ModelError."""
        self._ready()
        return self

    def _ready(self) -> _core.Model:
        if self._compiled is None:
            self._compiled = self._spec.compile(list(self._overrides.items()))
            warn(self._compiled.warnings, stacklevel=3)
        return self._compiled

    def __repr__(self) -> str:
        if self._compiled is None:
            return "<pantograph.Model, not compiled>"
        m = self._compiled
        return (
            f"<pantograph.Model {m.name or 'without name'}: {m.space}, {len(m.joints)} joints, "
            f"{len(m.coordinates)} coordinates, {len(m.parameter_units)} parameters>"
        )

    def _repr_html_(self) -> str:
        """For notebooks: what the model consists of, or what is wrong with it."""
        try:
            core = self._ready()
        except ModelError as error:
            return _html.text(str(error))
        parts = {
            ("joint", "type"): core.joints,
            ("loop, driver", "type"): core.constraints,
            ("force", "type"): core.forces,
            ("coordinate", "unit"): core.coordinates,
            ("input", "unit"): core.inputs,
            ("output", "unit"): core.outputs,
        }
        return _html.section(
            f"{core.name}: {core.title}" if core.title else core.name,
            _html.table(("body",), [(name,) for name in core.bodies]),
            *(_html.table(head, list(items.items())) for head, items in parts.items()),
            self.parameters._repr_html_(),
        )

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._ready().name

    @property
    def title(self) -> str:
        """One line about it."""
        return self._ready().title

    @property
    def space(self) -> str:
        """ "planar" or "spatial"."""
        return self._ready().space

    @property
    def parameters(self) -> Parameters:
        """The physical numbers θ [SI] by name, those written in place too ("crank.bar.mass")."""
        return Parameters(self._ready())

    @property
    def coordinates(self) -> dict[str, str]:
        """Unit of each coordinate q by name, in the order of q: {"theta": "rad"}."""
        return self._ready().coordinates

    @property
    def speeds(self) -> dict[str, str]:
        """Unit of each speed v by name, in the order of v: {"theta_dot": "rad/s"}."""
        return self._ready().speeds

    @property
    def inputs(self) -> dict[str, str]:
        """Unit of each input u by name, in the order of u: {"motor": "N m"}."""
        return self._ready().inputs

    @property
    def outputs(self) -> dict[str, str]:
        """Unit of each output y by name, in the order of y: {"pin_x": "m"}."""
        return self._ready().outputs

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies."""
        return self._ready().bodies

    @property
    def joints(self) -> dict[str, str]:
        """Type of each joint by name: {"theta": "revolute"}."""
        return self._ready().joints

    @property
    def constraints(self) -> dict[str, str]:
        """Type of each loop, driver and velocity-controlled actuator by name: {"pin": "pin"}."""
        return self._ready().constraints

    @property
    def forces(self) -> dict[str, str]:
        """Type of each force element by name: {"coil": "spring"}."""
        return self._ready().forces

    @property
    def warnings(self) -> list[Diagnostic]:
        """What compiling the model warned about."""
        return self._ready().warnings

    def with_parameters(
        self, values: Mapping[str, float | str] | None = None, /, **more: float | str
    ) -> Model:
        """The same model with other parameters [SI].

        Numbers for members of ``parameters`` change θ only, without compiling again and without
        its checks of what is physical. Quantities, expressions and sizes of repeats compile again.
        """
        changes = {**(values or {}), **more}
        core = self._ready()
        other = self._with_overrides(changes)
        known = self.parameters
        if all(name in known and _is_number(value) for name, value in changes.items()):
            pairs = [(name, float(value)) for name, value in changes.items()]
            bad = [name for name, value in pairs if not np.isfinite(value)]
            if bad:
                raise ValueError(f"{', '.join(bad)}: not a finite number")
            other._compiled = core.with_parameters(pairs)
        else:
            other._ready()
        return other

    def _with_overrides(self, changes: Mapping[str, float | str]) -> Model:
        other = Model._from_spec(self._spec, {**self._overrides, **override_texts(changes)})
        self._spec_shared = other._spec_shared = True
        return other

    # ---- equations of motion

    def initial_state(
        self, t: float = 0.0, guess: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates q [m, rad] and speeds v [m/s, rad/s] of the assembled initial state.

        ``guess``: coordinates to start from instead of the model's own guesses.
        """
        return _core.initial_state(self._ready(), t, guess)

    def residual(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        lam: ArrayLike | None = None,
        u: ArrayLike | None = None,
        t: float = 0.0,
    ) -> dict[str, np.ndarray]:
        """The equations of motion (EOM-2 … EOM-4) at a point.

        ``r`` = M a + k - Q - Gᵀλ - B u [N, N m]; ``phi``, ``phi_dot``, ``phi_ddot``: constraint
        residuals of positions, velocities, accelerations; ``y``: outputs. v, a, λ count as zero
        where not given, u as the model's own inputs at t.
        """
        return _core.residual(self._ready(), t, q, v, a, lam, u)

    def tangent(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        lam: ArrayLike | None = None,
        u: ArrayLike | None = None,
        t: float = 0.0,
        *,
        by: Sequence[str] = ("q", "v", "a", "lambda"),
        parameters: Sequence[str] | None = None,
        outputs: bool = False,
    ) -> dict[str, np.ndarray]:
        """Exact derivatives of the residual: ``r_q``, ``r_v``, ``phi_q``, … [SI].

        ``by``: any of "q", "v", "a", "lambda", "u", "theta". Columns of q blocks are directions of
        motion (as speeds), not raw coordinates. ``parameters``: names to differentiate by (with
        "theta" in ``by`` alone: all). ``outputs``: also the rows ``y_q``, … of the outputs.
        """
        core = self._ready()
        unknown = [block for block in by if block not in _BLOCKS]
        if unknown:
            raise ValueError(f"by: {unknown[0]!r} is none of {', '.join(_BLOCKS)}")
        names = list(core.parameter_units)
        if parameters is None:
            theta = list(range(len(names))) if "theta" in by else []
        else:
            theta = [_index(name, names, "parameter") for name in parameters]
        return _core.tangent(core, t, q, v, a, lam, u, list(by), theta, outputs)

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, t: float = 0.0, u: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations a [m/s², rad/s²] and multipliers λ [N, N m] at (t, q, v) and inputs u."""
        return _core.forward_dynamics(self._ready(), t, q, v, u)

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """M(q) [kg, kg m, kg m²], one row and column per speed."""
        return _core.mass_matrix(self._ready(), q)

    def constraint_jacobian(self, q: ArrayLike, t: float = 0.0) -> np.ndarray:
        """G(q) [1, m, 1/m]: one row per constraint, one column per speed."""
        return _core.constraint_jacobian(self._ready(), t, q)

    def energy(self, q: ArrayLike, v: ArrayLike) -> tuple[float, float]:
        """Kinetic and potential energy [J]."""
        return _core.energy(self._ready(), q, v)

    def reactions(
        self, q: ArrayLike, v: ArrayLike, t: float = 0.0, u: ArrayLike | None = None
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Force [N] and torque [N m] about the joint, from parent to child, in world axes."""
        core = self._ready()
        a, lam = _core.forward_dynamics(core, t, q, v, u)
        return _core.reactions(core, t, q, v, a, lam, u)


def as_model(model: Model | str | os.PathLike[str], set: Mapping[str, Any] | None = None) -> Model:
    """``model`` itself, or the one of that file or name, with the parameters ``set``."""
    if not isinstance(model, Model):
        return Model._from_spec(_core.read_spec(os.fspath(model)), override_texts(set or {}))
    return model._with_overrides(set) if set else model


def study_and_model(
    study: Mapping[str, Any] | str | os.PathLike[str],
    model: Model | None,
    model_of: Callable[[_core.Spec], tuple[_core.Spec, list[tuple[str, str]], _core.Model]],
    settings_of: Callable[[_core.Spec], list[tuple[str, str]]],
) -> tuple[_core.Spec, Model]:
    """The description of a study, and the model it speaks of with the parameters it sets.

    ``model``, or a ``Model`` in the dictionary, stands for the one that the study names. To be
    called by a function of the package's interface: warnings point at its caller.
    """
    if isinstance(study, Mapping):
        description = dict(study)
        if isinstance(description.get("model"), Model):
            model = model or description["model"]
        if model is not None:
            description["model"] = model.name or "model"
        spec = _core.Spec(description, *_caller(3))
    else:
        spec = _core.read_study(os.fspath(study))
    if model is not None:
        settings = dict(settings_of(spec))
        return spec, model._with_overrides(settings) if settings else model
    model_spec, overrides, core = model_of(spec)
    model = Model._from_spec(model_spec, dict(overrides))
    model._compiled = core
    warn(core.warnings, stacklevel=3)
    return spec, model


def override_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Values of parameters as the command line would give them; numbers keep all their digits."""
    out = {}
    for name, value in values.items():
        if isinstance(value, str):
            out[name] = value
        elif _is_number(value):
            whole = isinstance(value, numbers.Integral)
            out[name] = str(int(value)) if whole else repr(float(value))
        else:
            raise TypeError(f"{name}: expected a number or text, got {type(value).__name__}")
    return out


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _index(name: str, names: list[str], kind: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        raise KeyError(f"the model has no {kind} {name!r}; it has {', '.join(names)}") from None


def _plain(keys: dict[str, Any]) -> dict[str, Any]:
    """``in_`` and ``from_`` stand for keys that are words of Python."""
    return {{"in_": "in", "from_": "from"}.get(key, key): value for key, value in keys.items()}


def _caller(depth: int = 2) -> tuple[str, int]:
    """File and line of the statement that is being executed ``depth`` calls above."""
    frame = sys._getframe(depth)
    return frame.f_code.co_filename, frame.f_lineno
