"""Inverse models: inputs that make outputs of underactuated mechanisms follow a path."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, _html
from ._errors import Diagnostic, warn
from ._model import Model, _caller, as_model
from ._tasks import _numbers, _shown_progress


@dataclass(frozen=True, eq=False)
class InverseAnalysis:
    """What can be said about an inverse before it is solved; poles and zeros in [1/s]."""

    type: str  #: "flat", "minimum phase", "marginal", "non-minimum phase" or "undetermined"
    configuration: str  #: orthogonal, tangential or mixed: how inputs reach outputs
    reachable: int  #: outputs whose accelerations the inputs reach directly
    regular: bool  #: the inverse exists, as a linear system
    poles: np.ndarray
    zeros: np.ndarray  #: finite: eigenvalues of the internal motion
    zeros_qz: np.ndarray = field(repr=False)  #: the same by QZ
    zeros_second_order: np.ndarray | None = field(repr=False)  #: where all rows are on positions
    relative_degree: list[int]  #: per output; 0: no input acts on it
    total_relative_degree: int  #: poles minus zeros
    decoupling_regular: bool
    index: int  #: of the inverse equations
    motion_index: int  #: of the same without multipliers: of motion and inputs alone
    plant_index: int  #: of the equations with inputs given
    smoothness: int  #: continuous derivatives that the path needs
    redefined: RedefinedOutput | None = None  #: what the rest is said of, where it is asked for
    warnings: list[Diagnostic] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class InverseCycle:
    """Time that the cycles of the inverse model took [s]."""

    mean: float  #: [s]
    worst: float  #: [s]
    cycles: int
    over: int  #: of them longer than the step itself


@dataclass(frozen=True, eq=False)
class StableInverse:
    """How ``method="stable"`` found the bounded motion; times [s]."""

    ends: str  #: "eigenspaces" or "clamped"
    growing: np.ndarray  #: zeros of the internal motion at the beginning [1/s]
    decaying: np.ndarray
    neutral: np.ndarray
    path_begin: float  #: [s]
    path_end: float  #: [s]
    clamped_begin: list[str]  #: coordinates, speeds with "'"; of clamped ends
    clamped_end: list[str]
    before: float  #: horizon before the path [s]
    after: float  #: and after it [s]
    pre_actuation: float  #: how long before the path inputs act [s]
    post_actuation: float  #: and after it [s]; inf: internal oscillation does not decay
    leakage_begin: float  #: left of the internal motion at the beginning, of its largest [1]
    leakage_end: float
    error: float  #: of positions, speeds and inputs, relative to their largest [1]
    intervals: int  #: of the mesh
    meshes: int
    iterations: int  #: Newton steps on all meshes
    slow_downs: int  #: how often the path had to be slowed down to find a solution


@dataclass(frozen=True)
class TrackingError:
    """Of a true output minus the desired one, over a run [SI]."""

    rms: float
    max: float  #: largest magnitude
    final: float  #: at the end, with its sign


@dataclass(frozen=True)
class InputUse:
    """What a controller asked of an actuator [SI]."""

    rms: float
    max: float  #: largest magnitude, inside the limits
    saturated: float  #: share of the cycles in a limit
    first_saturated: float | None  #: time of the first of them [s]


@dataclass(frozen=True)
class Spread:
    """A number over draws, in the unit of what it is of [SI]."""

    mean: float
    deviation: float  #: standard
    smallest: float
    largest: float
    p95: float  #: 95 % are below


@dataclass(frozen=True, eq=False)
class LoopRun:
    """A feedback law on a plant, over time [SI], by name; ``plant`` is "nominal" or perturbed."""

    feedback: str
    plant: str
    status: str  #: "ok", or why the loop ended early
    failed_at: float | None  #: [s]
    t: np.ndarray = field(repr=False)  #: [s]
    outputs: dict[str, np.ndarray] = field(repr=False)  #: true ones
    given: dict[str, np.ndarray] = field(repr=False)  #: by the controller, limits counted in
    acting: dict[str, np.ndarray] = field(repr=False)  #: behind lag, with disturbances
    q: dict[str, np.ndarray] = field(repr=False)  #: of the plant [m, rad]
    v: dict[str, np.ndarray] = field(repr=False)  #: of the plant [m/s, rad/s]
    seen: dict[str, np.ndarray] = field(repr=False)  #: coordinates as the controller has them
    tracking: dict[str, TrackingError]
    use: dict[str, InputUse]
    cycle: tuple[float, float] = field(repr=False)  #: of controller and observer: mean, worst [s]


@dataclass(frozen=True, eq=False)
class LoopDraws:
    """A feedback law on plants drawn at random; numbers over draws [SI]."""

    feedback: str
    draws: int
    failed: int  #: left out of the statistics
    rms: dict[str, Spread]  #: of tracking errors, by output
    max: dict[str, Spread]
    final: dict[str, Spread]  #: of magnitudes
    input_rms: dict[str, Spread]  #: by actuator
    input_max: dict[str, Spread]
    saturated: dict[str, Spread]
    max_by_draw: dict[str, np.ndarray] = field(repr=False)  #: nan: failed
    drawn: dict[str, np.ndarray] = field(repr=False)  #: what was drawn: "factor m", "start x"


@dataclass(frozen=True, eq=False)
class FeedbackGains:
    """Of a linear quadratic law: ``F[k]`` at ``t[k]``, inputs by coordinates and speeds [SI]."""

    t: np.ndarray  #: [s]
    F: list[np.ndarray] = field(repr=False)
    poles: list[np.ndarray] = field(repr=False)  #: of the loop frozen there [1/s]


@dataclass(frozen=True, eq=False)
class Feedback:
    """What feedback did [SI]; ``found.feedback["lqr", "nominal"]`` is one run."""

    loops: list[LoopRun]
    monte_carlo: list[LoopDraws]
    gains: dict[str, FeedbackGains]
    complete: bool  #: False: stopped by ``progress``

    def __getitem__(self, key: tuple[str, str]) -> LoopRun:
        for run in self.loops:
            if (run.feedback, run.plant) == key:
                return run
        raise KeyError(key)


@dataclass(frozen=True, eq=False)
class TrueOutput:
    """An output that another one is followed in place of [SI]."""

    name: str
    unit: str
    inverse: np.ndarray = field(repr=False)  #: as the inverse model has it
    plant: np.ndarray = field(repr=False)  #: of the simulated plant; empty where not verified
    mean_square: float  #: of ``inverse`` minus desired, over the duration of the path
    largest: float  #: of the same, over the run
    residual: float | None  #: largest distance from the goal after the path; None: none of the run is


@dataclass(frozen=True, eq=False)
class RedefinedOutput:
    """Outputs rigid + weight (output - rigid), whose inverse is minimum phase; weights [1], zeros [1/s]."""

    outputs: list[str]  #: what is followed
    weight: float
    axial: float | None  #: along the link, where it has a weight of its own
    limit: float  #: largest weight that stays minimum phase
    together: float  #: the same along the link and across it alike
    weights: np.ndarray  #: at which zeros were looked at
    worst: np.ndarray  #: by weight: largest real part of a zero over its magnitude
    zeros: list[np.ndarray] = field(repr=False)  #: by weight [1/s]
    truth: list[TrueOutput] = field(repr=False)


@dataclass(frozen=True, repr=False, eq=False)
class Inversion:
    """Inputs that make outputs follow a path, over time [SI]; ``units`` by name.

    ``found["u"]`` is the input of an actuator.
    """

    model: str
    analysis: InverseAnalysis
    t: np.ndarray  #: [s]
    inputs: dict[str, np.ndarray]  #: by actuator
    desired: dict[str, np.ndarray]  #: outputs on the path
    achieved: dict[str, np.ndarray]  #: outputs of the simulated plant; empty where not verified
    q: dict[str, np.ndarray]  #: coordinates of the inverse model [m, rad]
    v: dict[str, np.ndarray]  #: their speeds [m/s, rad/s], by coordinate
    a: dict[str, np.ndarray]  #: their accelerations [m/s², rad/s²], by coordinate
    units: dict[str, str]  #: of inputs, outputs and coordinates
    tracking_max: dict[str, float]  #: largest |achieved - desired|; empty where not verified
    tracking_rms: dict[str, float]
    complete: bool  #: False: stopped by ``progress``
    most_iterations: int  #: of a step
    not_converged: int  #: steps
    largest_residual: float  #: as scaled [1]
    cycle: InverseCycle
    stable: StableInverse | None = None  #: of ``method="stable"``
    feedback: Feedback | None = None  #: of a study that asks for it
    redefined: RedefinedOutput | None = None  #: where other outputs are followed
    warnings: list[Diagnostic] = field(default_factory=list)
    _core: _core.Inverted | None = None

    def __getitem__(self, actuator: str) -> np.ndarray:
        """Input of an actuator over ``t`` [SI]."""
        return self.inputs[actuator]

    def unit(self, name: str) -> str:
        """Unit of an input, an output or a coordinate."""
        return self.units[name]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the CSV of ``panto invert --csv``; HDF5 where the name ends with .h5."""
        self._core.write(os.fspath(path))

    def view(self, path: str | os.PathLike[str]) -> str:
        """Writes the report page: motion with the desired path, outputs, inputs, poles and zeros.

        Returns where it is.
        """
        _core.write_text(os.fspath(path), self._core.html())
        return os.fspath(path)

    def __repr__(self) -> str:
        what = f"{', '.join(self.inputs)} for {', '.join(self.desired)}"
        return f"<pantograph.Inversion: {self.model}, {what}, {len(self.t) - 1} steps>"

    def _repr_html_(self) -> str:
        """For notebooks: inputs and how the plant follows."""
        inputs = [(n, self.units[n], u.min(), u.max()) for n, u in self.inputs.items()]
        errors = [(n, self.units[n], e, self.tracking_rms[n]) for n, e in self.tracking_max.items()]
        return _html.section(
            f"{self.model}: {self.analysis.type}",
            _html.table(("input", "unit", "smallest", "largest"), inputs),
            _html.table(("output", "unit", "largest error", "rms"), errors),
        )


def invert(
    study: Model | Mapping[str, Any] | str | os.PathLike[str],
    *,
    output: Sequence[str] | str | None = None,
    by: Sequence[str] | str | None = None,
    to: ArrayLike | None = None,
    duration: float | None = None,
    step: float | None = None,
    method: str | None = None,
    form: str | None = None,
    smooth: int | None = None,
    until: float | None = None,
    verify: bool | None = None,
    force: bool | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    ends: str | None = None,
    guess: str | None = None,
    before: float | None = None,
    after: float | None = None,
    clamp_begin: Sequence[str] | str | None = None,
    clamp_end: Sequence[str] | str | None = None,
    tolerance: float | None = None,
    redefine: Sequence[str] | str | None = None,
    along: str | None = None,
    weight: float | None = None,
    solver: str | None = None,
    set: Mapping[str, float | str] | None = None,
    progress: bool | Callable[[float], Any] = False,
) -> Inversion:
    """Inputs that make outputs of an underactuated mechanism follow a path from rest to rest.

    study:    a model, or a study (file or dictionary, docs/invert.md), which has other paths too
    output:   outputs that follow, ``by``: actuators that make them; default: ``servo`` of the model
    to:       outputs at the end of a line from rest to rest [SI]
    duration: of the path [s] (1)
    step:     cycle of the inverse model [s] (0.01)
    method:   "euler", "linear_euler", "bdf1" … "bdf6" ("bdf4"), "radau5"; "stable" solves a
              boundary value problem: also where forward integration grows without bound;
              "optimal" finds the same motion as the one nearest to rest
    form:     "original", "projection" (default), "substitution", "minimal_extension", "baumgarte"
    smooth:   continuous derivatives of the path; default: as the analysis asks for, two more
              with methods "stable" and "optimal"
    until:    end of the run [s]; default: a quarter beyond the path, with methods "stable" and
              "optimal" where ``after`` ends
    verify:   simulate the plant with the inputs (True)
    force:    integrate a non-minimum phase system all the same (False)
    limits:   {actuator: (lower, upper)} [SI]; where one is exceeded is warned about
    ends:     of method "stable": "eigenspaces" (default), or "clamped" positions and speeds
    guess:    where its solution begins: "rest" along the path (default), or "linear", the bounded
              motion linearised there
    before, after: its horizon around the path [s]; default: until internal motion has decayed
    clamp_begin, clamp_end: coordinates to clamp, speeds with "'"; default: chosen
    tolerance: of its solution, relative to the largest values (1e-6)
    solver:   of method "optimal": "direct" (default) or "indirect"
    redefine: outputs of rigid links, one per output: a mixture is followed, ``found.redefined``
    along:    angle of the link, for a weight along it and one across it
    weight:   share of the outputs; default: a hundredth below the largest that is minimum phase
    set:      parameters of a model, as in ``load``; a study has its own
    progress: True: a line on standard error; or a function of the fraction done: False stops

    A study with tables ``feedback`` has them tried, too: ``found.feedback``.
    What is given here stands over what a study says. ``ModelError`` where there is no stable
    inverse (E1031, E1032), ``NumericalError`` where a step fails.

    >>> found = pg.invert("torsional_oscillator", to=1, duration=6)
    >>> found.unit("u"), found.tracking_max["z"] < 1e-5
    ('N m', True)
    """
    core, notes = _source(study, set)
    changes = _changes(
        output,
        by,
        to,
        duration,
        step,
        method,
        form,
        smooth,
        until,
        verify,
        force,
        limits,
        ends,
        guess,
        before,
        after,
        clamp_begin,
        clamp_end,
        tolerance,
        redefine,
        along,
        weight,
        solver,
    )
    with _shown_progress(progress) as watch:
        inverted, found, more = _core.invert(core, changes, watch)
    notes = [*notes, *more]
    warn(notes, stacklevel=2)
    found["analysis"] = InverseAnalysis(**found["analysis"])
    found["cycle"] = InverseCycle(*found["cycle"])
    if found["stable"] is not None:
        found["stable"] = StableInverse(**found["stable"])
    if found["redefined"] is not None:
        found["redefined"] = _redefined(**found["redefined"])
    if found["feedback"] is not None:
        found["feedback"] = _feedback(*found["feedback"])
    return Inversion(**found, warnings=notes, _core=inverted)


def _redefined(weights: list[float], worst: list[float], truth: list[Any], **rest: Any) -> Any:
    return RedefinedOutput(
        weights=np.array(weights),
        worst=np.array(worst),
        truth=[TrueOutput(**output) for output in truth],
        **rest,
    )


def _feedback(loops: list[Any], draws: list[Any], gains: list[Any], complete: bool) -> Feedback:
    def by_name(values: dict[str, Any], kind: Any) -> dict[str, Any]:
        return {name: kind(**value) for name, value in values.items()}

    for run in loops:
        run["tracking"] = by_name(run["tracking"], TrackingError)
        run["use"] = by_name(run["use"], InputUse)
    for run in draws:
        for key in ("rms", "max", "final", "input_rms", "input_max", "saturated"):
            run[key] = by_name(run[key], Spread)
    return Feedback(
        [LoopRun(**run) for run in loops],
        [LoopDraws(**run) for run in draws],
        {name: FeedbackGains(t, list(f), list(poles)) for name, t, f, poles in gains},
        complete,
    )


def analyse(
    study: Model | Mapping[str, Any] | str | os.PathLike[str],
    *,
    output: Sequence[str] | str | None = None,
    by: Sequence[str] | str | None = None,
    redefine: Sequence[str] | str | None = None,
    along: str | None = None,
    weight: float | None = None,
    set: Mapping[str, float | str] | None = None,
) -> InverseAnalysis:
    """What kind of inverse ``invert`` would solve, where the path begins; zeros in [1/s].

    Arguments as in ``invert``: with ``redefine`` it is that of the mixture. A finding that ``invert`` would refuse is a warning here.

    >>> pg.analyse("torsional_oscillator").type
    'flat'
    """
    core, notes = _source(study, set)
    changes = _changes(output, by, redefine=redefine, along=along, weight=weight)
    found, more = _core.analyse_inverse(core, changes)
    notes = [*notes, *more]
    warn(notes, stacklevel=2)
    if found["redefined"] is not None:
        found["redefined"] = _redefined(**found["redefined"])
    return InverseAnalysis(**found, warnings=notes)


def _changes(
    output: Sequence[str] | str | None,
    by: Sequence[str] | str | None,
    to: ArrayLike | None = None,
    duration: float | None = None,
    step: float | None = None,
    method: str | None = None,
    form: str | None = None,
    smooth: int | None = None,
    until: float | None = None,
    verify: bool | None = None,
    force: bool | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    ends: str | None = None,
    guess: str | None = None,
    before: float | None = None,
    after: float | None = None,
    clamp_begin: Sequence[str] | str | None = None,
    clamp_end: Sequence[str] | str | None = None,
    tolerance: float | None = None,
    redefine: Sequence[str] | str | None = None,
    along: str | None = None,
    weight: float | None = None,
    solver: str | None = None,
) -> _core.InvertChanges:
    return _core.InvertChanges(
        _names(output),
        _names(by),
        None if to is None else _numbers(to),
        duration,
        step,
        method,
        form,
        smooth,
        until,
        verify,
        force,
        None if limits is None else [(name, *values) for name, values in limits.items()],
        ends,
        guess,
        before,
        after,
        _names(clamp_begin),
        _names(clamp_end),
        tolerance,
        _names(redefine),
        along,
        weight,
        solver,
    )


def _names(names: Sequence[str] | str | None) -> list[str] | None:
    if names is None:
        return None
    return [names] if isinstance(names, str) else list(names)


def _source(
    study: Any, set: Mapping[str, float | str] | None
) -> tuple[_core.InvertStudy, list[Diagnostic]]:
    spec = None
    if isinstance(study, Mapping):
        description = dict(study)
        model = description.get("model")
        if isinstance(model, Model):
            _refuse(set)
            model = as_model(model, description.pop("set", None))
            description["model"] = model.name or "model"
            spec = _core.Spec(description, *_caller(3))
            return _core.invert_study_of_model(spec, model._ready(), model._spec)
        spec = _core.Spec(description, *_caller(3))
    elif not isinstance(study, Model):
        path = os.fspath(study)
        if path.endswith(".toml") and os.path.isfile(path):
            found = _core.read_study(path)
            spec = found if _core.is_invert_study(found) else None
    if spec is not None:
        _refuse(set)
        return _core.invert_study(spec)
    model = as_model(study, set)
    return _core.invert_model(model._ready(), model._spec)


def _refuse(set: Mapping[str, float | str] | None) -> None:
    if set:
        raise ValueError('set: belongs to a model; a study has its own table "set"')
