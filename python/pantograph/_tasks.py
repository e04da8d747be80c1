"""The verbs: what can be done with a model."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._errors import NumericalError, warn
from ._model import Model, _index, as_model
from ._run import Run, scale


def load(
    name_or_path: str | os.PathLike[str],
    *,
    set: Mapping[str, float | str] | None = None,
    **overrides: float | str,
) -> Model:
    """Loads a model: a file, a folder with ``model.toml``, or one of ``models()``.

    ``overrides`` and ``set`` (for names that are no Python words: ``{"crank.bar.mass": 2}``)
    replace parameters [SI], as numbers, quantities ("30 deg") or expressions.

    >>> m = pg.load("fourbar_f1", g="1.62 m/s^2", set={"crank.bar.mass": 2})
    """
    model = as_model(name_or_path, {**(set or {}), **overrides})
    model._ready()
    return model


def models() -> list[str]:
    """Names of the models of the zoo, as ``load`` takes them: ["andrews", "arm_spatial", …]."""
    return _core.zoo_names()


def schema() -> dict[str, Any]:
    """JSON Schema of the model file, for editors: ``json.dump(pg.schema(), file)``."""
    return json.loads(_core.json_schema())


def import_urdf(path: str | os.PathLike[str], out: str | os.PathLike[str] | None = None) -> str:
    """The model file, as text, of a robot description; written to ``out`` too where given.

    ``load`` reads a ``.urdf`` directly; this is for going on with the file.

    >>> text = pg.import_urdf("arm.urdf", "arm.toml")
    """
    model = load(path)
    if out is not None:
        model.save(out)
    return model.to_toml()


def simulate(
    model: Model | str | os.PathLike[str],
    until: float | None = None,
    *,
    dt: float | None = None,
    tol: float | None = None,
    integrator: str | None = None,
    at: ArrayLike | None = None,
    sample: float | None = None,
    set: Mapping[str, float | str] | None = None,
    stop: str | None = None,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    seed: int | None = None,
    progress: bool | Callable[[float], Any] = False,
) -> Run:
    """Simulates a model from its initial state.

    until:      end [s]; default: the last of ``at``, else what the model says, else 10
    dt:         fixed step [s]; default: variable step
    tol:        relative tolerance of the variable step; default: what the model says, else 1e-8
    integrator: one of ``integrators()``; default: "auto", or "rk4" with a fixed step
    at:         report exactly at these instants [s]
    sample:     report interval [s]; default: every fixed step, or ``until`` / 1000
    set:        parameters [SI] to replace, as in ``load``
    stop:       stop where an output crosses a value: "theta>1.5" rising, "theta<1.5" falling
    q, v:       initial coordinates [m, rad] and speeds [m/s, rad/s] instead of the model's
    seed:       simulate the sensors too (``Run.measured``), with noise from this seed
    progress:   True: a line on standard error; or a function of the fraction done: False stops

    Releases the interpreter's lock while it computes. Ctrl-C raises KeyboardInterrupt; to stop and
    keep the run up to there, return False from ``progress``.

    >>> r = pg.simulate("fourbar_f1", until=10, tol=1e-10)
    """
    model = as_model(model, set)
    core = model._ready()
    times = _numbers(at)
    if times and until is None:
        until = max(*times, 1e-9)
    if dt is not None and tol is not None:
        raise ValueError("give dt (fixed step) or tol (variable step), not both")
    with _shown_progress(progress) as watch:
        run, notes = _core.simulate(
            core,
            until=until,
            dt=dt,
            tol=tol,
            integrator=integrator,
            at=times,
            sample=sample,
            stop=None if stop is None else _event(stop),
            q=_numbers(q),
            v=_numbers(v),
            seed=seed,
            model_text=_core.text_of(model._spec),
            settings=[f"{name}={value}" for name, value in model._overrides.items()],
            progress=watch,
        )
    warn(notes, stacklevel=2)
    return Run(run)


@dataclass(frozen=True)
class Integrator:
    """An integrator of ``simulate``; ``order``: its error goes with the step [s] to this power."""

    name: str
    title: str
    order: float
    fixed_step: bool
    implicit: bool


def integrators() -> dict[str, Integrator]:
    """All integrators by name: ``pg.integrators()["rk4"].order``."""
    return {row[0]: Integrator(*row) for row in _core.integrators()}


@dataclass(frozen=True)
class Check:
    """Mobility and health of a model at its initial pose, q [m, rad] and v [m/s, rad/s]."""

    bodies: int
    joints: int
    loops: int
    coordinates: int
    rows: int  #: constraint rows
    degrees_of_freedom: int  #: by rank
    mobility: int  #: the same at the initial pose: more where that is singular
    redundant: list[str]  #: constraint rows that follow from others
    independent: list[str]  #: chosen independent coordinates
    conditioning: float  #: smallest relative pivot of the dependent coordinates
    singular_pose: bool
    frequencies_hz: np.ndarray = field(repr=False)  #: implied by each force element [Hz]; 0: none
    q: np.ndarray = field(repr=False)  #: coordinates [m, rad]
    v: np.ndarray = field(repr=False)  #: speeds [m/s, rad/s]


def check(model: Model | str | os.PathLike[str]) -> Check:
    """Assembles a model and counts its degrees of freedom; warns of what is doubtful.

    >>> pg.check("fourbar_f1").degrees_of_freedom
    1
    """
    report, notes = _core.check(as_model(model)._ready())
    warn(notes, stacklevel=2)
    return Check(**report)


@dataclass(frozen=True)
class Equilibrium:
    """A static equilibrium: q [m, rad], λ [N, N m], eigenvalues [1/s]."""

    q: np.ndarray  #: coordinates [m, rad]
    lam: np.ndarray  #: multipliers [N, N m]
    residual: float  #: largest generalised force left [N, N m]
    stable: bool
    growth_rate: float  #: largest real part of the eigenvalues [1/s]
    eigenvalues: np.ndarray  #: of the linearised motion [1/s]
    iterations: int


def equilibrium(
    model: Model | str | os.PathLike[str], guess: ArrayLike | None = None, t: float = 0.0
) -> Equilibrium:
    """Static equilibrium at t [s], near ``guess`` (coordinates [m, rad]) or the initial pose."""
    found, notes = _core.equilibrium(as_model(model)._ready(), t, guess)
    warn(notes, stacklevel=2)
    return Equilibrium(**found)


@dataclass(frozen=True)
class LinearModel:
    """Small motions about an operating point, equations LIN-1 to LIN-3; all matrices in SI units [m, rad, kg, s]."""

    coordinates: list[str]  #: of δq [m, rad]
    independent: list[str]  #: of z [m, rad]
    states: list[str]  #: of x = (z, speeds) [m, rad, m/s, rad/s]
    inputs: list[str]
    outputs: list[str]
    output_units: list[str]
    rows: list[str]  #: constraint rows
    M: np.ndarray  #: descriptor form: M δa + D δv + K δq = B δu + Gᵀ δλ
    D: np.ndarray
    K: np.ndarray
    B: np.ndarray
    G: np.ndarray
    R: np.ndarray  #: δq = R z
    M_z: np.ndarray  #: minimal form: M_z z̈ + D_z ż + K_z z = B_z δu
    D_z: np.ndarray
    K_z: np.ndarray
    B_z: np.ndarray
    A: np.ndarray  #: ẋ = A x + B_x δu + B_rate δu̇ [1/s]
    B_x: np.ndarray
    B_rate: np.ndarray
    C_x: np.ndarray  #: δy = C_x x + D_x δu + D_rate δu̇
    D_x: np.ndarray
    D_rate: np.ndarray
    q: np.ndarray  #: coordinates of the operating point [m, rad]
    v: np.ndarray  #: speeds [m/s, rad/s]
    residual: float  #: largest generalised force left over [N, N m]


def _pose(at: Mapping[str, float] | None) -> list[tuple[str, float]]:
    return [(name, float(value)) for name, value in (at or {}).items()]


def linearize(
    model: Model | str | os.PathLike[str],
    at: Mapping[str, float] | None = None,
    where: str = "equilibrium",
    *,
    t: float = 0.0,
) -> LinearModel:
    """Linear model about a pose.

    ``at``: coordinates [m, rad] and speeds [m/s, rad/s] by name. ``where``: "equilibrium" searches
    it from there, "here" stays there, "steady" searches a motion with the initial speeds held.
    """
    found, notes = _core.linearize(as_model(model)._ready(), _pose(at), where, t)
    warn(notes, stacklevel=2)
    return LinearModel(**found)


@dataclass(frozen=True)
class LinearTrajectory:
    """Small motions about a motion, equation LIN-5; SI units [m, rad, kg, s], one entry of each array per time."""

    time: np.ndarray  #: instants [s]
    coordinates: list[str]  #: of δq [m, rad]
    independent: list[str]  #: of z [m, rad]
    states: list[str]  #: of x = (z, speeds) [m, rad, m/s, rad/s], the same at all times
    inputs: list[str]
    outputs: list[str]
    output_units: list[str]
    A: np.ndarray  #: ẋ = A x + B_x δu + B_rate δu̇ [1/s]; shape (times, states, states)
    B_x: np.ndarray
    B_rate: np.ndarray
    C_x: np.ndarray  #: δy = C_x x + D_x δu + D_rate δu̇
    D_x: np.ndarray
    D_rate: np.ndarray
    R: np.ndarray  #: δq = R z
    M_z: np.ndarray  #: minimal form: M_z z̈ + D_z ż + K_z z = B_z δu
    D_z: np.ndarray
    K_z: np.ndarray
    B_z: np.ndarray
    q: np.ndarray  #: coordinates of the motion [m, rad]; shape (times, coordinates)
    v: np.ndarray  #: speeds [m/s, rad/s]
    u: np.ndarray  #: inputs [N, N m, …]


def linearize_along(
    model: Model | str | os.PathLike[str],
    run: Run | None = None,
    at: Mapping[str, float] | None = None,
    *,
    until: float | None = None,
    sample: float | None = None,
    tol: float | None = None,
) -> LinearTrajectory:
    """Linear model along a motion: matrices over time, in one set of states.

    ``run``: the motion, a run of this model that keeps its states; linearised at its instants.
    Without it the motion from the initial state is simulated:

    at:     initial coordinates [m, rad] and speeds [m/s, rad/s] by name, on top of the model's
    until:  end [s]; default: what the model says
    sample: interval of the instants [s]; default: ``until`` / 200
    tol:    relative tolerance of the simulation; default: what the model says, else 1e-8

    >>> pg.linearize_along("double_pendulum", until=1, sample=0.1).A.shape
    (11, 4, 4)
    """
    if run is not None and (at or until is not None or sample is not None or tol is not None):
        raise ValueError("give a run, or how to simulate one (at, until, sample, tol), not both")
    core = as_model(model)._ready()
    motion = None if run is None else run._core
    found, notes = _core.linearize_along(core, motion, _pose(at), until, sample, tol)
    warn(notes, stacklevel=2)
    return LinearTrajectory(**found)


@dataclass(frozen=True)
class Modes:
    """Natural vibrations, equation MOD-1: frequencies [Hz], damping ratios, shapes."""

    frequencies_hz: np.ndarray  #: undamped natural frequencies [Hz], ascending
    damping: np.ndarray  #: modal damping ratios
    growth_rates: np.ndarray  #: [1/s], of modes that grow
    shapes: np.ndarray  #: one column per mode, changes of ``coordinates``, the largest 1
    strain: np.ndarray  #: one column per mode, share of the potential energy in each of ``elements``
    coordinates: list[str]
    elements: list[str]
    eigenvalues: np.ndarray  #: of the state matrix [1/s]
    stable: bool
    q: np.ndarray  #: coordinates of the operating point [m, rad]
    v: np.ndarray  #: speeds [m/s, rad/s]
    residual: float  #: largest generalised force left over [N, N m]


def modes(
    model: Model | str | os.PathLike[str],
    at: Mapping[str, float] | None = None,
    where: str = "equilibrium",
    *,
    t: float = 0.0,
    count: int = 0,
    view: str | os.PathLike[str] | None = None,
    deformation: float | None = None,
) -> Modes:
    """Natural frequencies [Hz], damping and shapes about a pose; arguments as in linearize().

    ``count``: lowest modes only, 0 for all. ``view``: the report page to write, with shapes that
    move; ``deformation``: scale of elastic displacements on it, as in view().
    """
    if deformation is not None and view is None:
        raise ValueError("deformation is a scale of the page: give view too")
    found, notes, html = _core.modes(
        as_model(model)._ready(), _pose(at), where, t, count, view is not None, scale(deformation)
    )
    warn(notes, stacklevel=2)
    if view is not None:
        _core.write_text(os.fspath(view), html)
    return Modes(**found)


@dataclass(frozen=True)
class InverseDynamics:
    """Inputs [N, N m] that produce a motion; rows where the motion was given in rows."""

    u: np.ndarray  #: all inputs [N, N m], in the order of ``names``
    lam: np.ndarray  #: multipliers [N, N m]
    residual: np.ndarray | float  #: norm of the generalised forces that no input can produce
    names: list[str] = field(repr=False)

    def __getitem__(self, name: str) -> np.ndarray:
        """One input by name [N, N m]."""
        return self.u.T[_index(name, self.names, "input")]


def inverse_dynamics(
    model: Model | str | os.PathLike[str],
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    actuators: Sequence[str] | None = None,
    *,
    t: ArrayLike = 0.0,
    least_squares: bool = False,
) -> InverseDynamics:
    """Inputs that produce the accelerations a [m/s², rad/s²] at q [m, rad] and v [m/s, rad/s].

    q, v, a: vectors, or arrays with one row per instant. ``actuators``: names of the inputs to
    find (default: all); the others follow the model's own signals at t [s]. Where the inputs
    cannot produce the motion NumericalError is raised, or with ``least_squares`` the nearest
    answer given with its residual.
    """
    core = as_model(model)._ready()
    names = list(core.inputs)
    chosen = _inputs(names, actuators)
    rows = np.atleast_2d(np.asarray(q, dtype=float))
    times = np.broadcast_to(np.asarray(t, dtype=float), len(rows))
    u, lam, residual, singular = _core.inverse_dynamics(
        core, times, rows, np.atleast_2d(v), np.atleast_2d(a), chosen
    )
    if singular >= 0 and not least_squares:
        raise NumericalError(
            f"the inputs {', '.join(names[i] for i in chosen) or '(none)'} cannot produce "
            f"this motion: {residual[singular]:.3g} N or N m are left"
        )
    if np.ndim(q) == 1:
        u, lam, residual = u[0], lam[0], float(residual[0])
    return InverseDynamics(u, lam, residual, names)


@dataclass(frozen=True)
class InverseMotion:
    """Inputs along a prescribed motion; all series belong to ``t`` [s]."""

    t: np.ndarray = field(repr=False)
    inputs: dict[str, np.ndarray] = field(repr=False)  #: [N, N m] by name
    q: dict[str, np.ndarray] = field(repr=False)  #: all coordinates [m, rad]
    v: dict[str, np.ndarray] = field(repr=False)  #: speeds [m/s, rad/s]
    a: dict[str, np.ndarray] = field(repr=False)  #: accelerations [m/s², rad/s²]
    max_residual: float  #: largest generalised force that no input could produce [N, N m]


def inverse_motion(
    model: Model | str | os.PathLike[str],
    t: ArrayLike,
    motion: Mapping[str, ArrayLike],
    actuators: Sequence[str] | None = None,
) -> InverseMotion:
    """Inputs that move some coordinates as prescribed over time; the loops give the others.

    ``motion``: samples at the instants t [s] by coordinate name [m, rad], and where known
    ``<name>_dot`` and ``<name>_ddot``; otherwise these are differentiated from the samples.
    ``actuators``: as in ``inverse_dynamics``. A motion that the inputs cannot produce is warned
    about.
    """
    core = as_model(model)._ready()
    names = [
        name
        for name in motion
        if not any(name.endswith(end) and name[: -len(end)] in motion for end in ("_dot", "_ddot"))
    ]
    series = [
        (name, *(motion.get(name + end) for end in ("", "_dot", "_ddot")))
        for name in names
    ]
    found, notes = _core.inverse_motion(core, t, series, _inputs(list(core.inputs), actuators))
    warn(notes, stacklevel=2)
    return InverseMotion(**found)


@dataclass(frozen=True)
class Reproduced:
    """One published number beside the computed one, both in ``unit``.

    ``reproduced`` where they differ by no more than ``band``, which was set before the run.
    """

    case: str
    quantity: str
    printed: float
    computed: float
    unit: str
    band: float
    reproduced: bool
    note: str  #: where the values differ: why
    assumed: list[str]  #: data of the case that the source does not print


def reproduce(key: str) -> list[Reproduced]:
    """Published results, computed next to printed [unit of each row].

    ``key``: a source ("iftomm") or one item of it ("iftomm:A01"), see ``reproductions``.

    >>> all(row.reproduced or row.note for row in pg.reproduce("iftomm:A01"))
    True
    """
    rows, notes = _core.reproduce(key)
    warn(notes, stacklevel=2)
    return [Reproduced(*row) for row in rows]


def reproductions() -> dict[str, str]:
    """What ``reproduce`` knows: title by "source:item"."""
    return _core.reproductions()


def _inputs(names: list[str], actuators: Sequence[str] | None) -> list[int]:
    if actuators is None:
        return list(range(len(names)))
    return [_index(name, names, "input") for name in actuators]


def _numbers(values: ArrayLike | None) -> list[float]:
    return [] if values is None else np.atleast_1d(np.asarray(values, dtype=float)).tolist()


def _event(text: str) -> tuple[str, float, int]:
    match = re.fullmatch(r"\s*([^<>=]*[^<>=\s])\s*([<>=])\s*(\S+)\s*", text)
    try:
        output, sign, value = match.groups()
        return output, float(value), {">": 1, "<": -1, "=": 0}[sign]
    except (AttributeError, ValueError):
        message = f'stop: expected "output>value" or "output<value", got {text!r}'
        raise ValueError(message) from None


@contextlib.contextmanager
def _shown_progress(
    progress: bool | Callable[[float], Any],
) -> Iterator[Callable[[float], Any] | None]:
    """What to call with the fraction done: nothing, a line on the terminal, or the user."""
    line = _ProgressLine() if progress is True else None
    try:
        yield line or progress or None
    finally:
        if line is not None:
            line.clear()


class _ProgressLine:
    """Percent and time left on standard error, from one second on, on a terminal only."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = False

    def __call__(self, fraction: float) -> None:
        elapsed = time.monotonic() - self._start
        if elapsed < 1 or fraction <= 0 or not sys.stderr.isatty():
            return
        left = elapsed * (1 - fraction) / fraction
        sys.stderr.write(f"\r{100 * fraction:5.1f} %  {left:.0f} s left \x1b[K")
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
