"""Identification: in which pose to measure, and what the measurements say."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _html
from ._errors import Diagnostic, warn
from ._model import Model, as_model, study_and_model
from ._tasks import _shown_progress
from ._view import Paged

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ScoredPose:
    """A pose and how well frequencies tell parameters apart in it; q [m, rad]."""

    number: int  #: of the draw, from 0
    q: dict[str, float]  #: all coordinates [m, rad] by name, as ``at`` of ``modes`` takes them
    correlation: np.ndarray  #: Pearson coefficients, features x parameters (IDN-3)
    sensitivity: np.ndarray  #: relative change of the features per relative change (IDN-2)
    told_by: dict[str, str | None]  #: parameter -> the feature that is its own
    score: float  #: of localisation, at most 1 (IDN-5)
    information: float  #: log10 per parameter, 0: each governs a frequency alone (IDN-6)


@dataclass(frozen=True, repr=False, eq=False)
class PoseStudy(Sequence[ScoredPose]):
    """Poses with the best score first, a sequence of ``ScoredPose``; q [m, rad].

    >>> study = pg.poses("three_link", ["kA", "kB", "kC"], poses=50, samples=100)
    >>> best = study[0]
    >>> modes = pg.modes("three_link", best.q, "here")
    """

    parameters: list[str]
    features: list[str]  #: "f1", "f2", …, "damping1", …
    coordinates: list[str]
    nominal: np.ndarray  #: values of the parameters [SI]
    ranges: dict[str, tuple[float, float]]  #: what was drawn [m, rad]
    number: np.ndarray  #: of each pose: in the order of the draws
    q: np.ndarray  #: poses x coordinates [m, rad]
    score: np.ndarray
    information: np.ndarray
    correlation: np.ndarray  #: poses x features x parameters
    sensitivity: np.ndarray  #: poses x features x parameters
    told_by: np.ndarray  #: poses x parameters: index of the feature, -1: none
    chosen: list[int]  #: indices of the poses that tell most when measured together (IDN-6)
    together_information: float
    together_deviation: list[float]  #: relative, per unit of relative frequency error
    drawn: int
    unreachable: int  #: draws in which loops cannot close
    beyond_limits: int  #: draws in which a joint leaves its range
    singular: int  #: draws without modes
    complete: bool  #: False where the caller stopped

    def __len__(self) -> int:
        return len(self.score)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} poses")
        names = [self.features[i] if i >= 0 else None for i in self.told_by[index]]
        return ScoredPose(
            int(self.number[index]),
            dict(zip(self.coordinates, self.q[index].tolist())),
            self.correlation[index],
            self.sensitivity[index],
            dict(zip(self.parameters, names)),
            float(self.score[index]),
            float(self.information[index]),
        )

    def __repr__(self) -> str:
        return f"<pantograph.PoseStudy: {len(self)} poses, best {self._named(self[0])}>"

    def _repr_html_(self) -> str:
        """For notebooks: the ten best poses, correlations of the best."""
        head = ("score", "information", *self.ranges)
        rows = [(p.score, p.information, *(p.q[name] for name in self.ranges)) for p in self[:10]]
        best = [(name, *row) for name, row in zip(self.features, self.correlation[0])]
        return _html.section(
            f"{len(self)} poses, {self.drawn} drawn",
            _html.table(head, rows),
            _html.table(("best pose", *self.parameters), best),
        )

    def _named(self, pose: ScoredPose) -> str:
        return f"{', '.join(f'{n} = {pose.q[n]:.4g}' for n in self.ranges)}: {pose.score:.3f}"

    @property
    def best(self) -> ScoredPose:
        """The pose with the best score; its q [m, rad]."""
        return self[0]

    @property
    def together(self) -> list[ScoredPose]:
        """The poses that tell most when they are measured together; their q [m, rad]."""
        return [self[i] for i in self.chosen]

    def plot(self, index: int = 0, axes: Axes | None = None) -> Axes:
        """Draws the correlations [1] of one pose, the best if not told otherwise, as a heat map.

        >>> axes = pg.poses("three_link", ["kA", "kB"], poses=20, samples=50).plot()
        """
        import matplotlib.pyplot as plt

        if axes is None:
            _, axes = plt.subplots(layout="constrained")
        pose = self[index]
        values = np.abs(pose.correlation)
        image = axes.imshow(values, vmin=0, vmax=1, cmap="Blues", aspect="auto")
        axes.figure.colorbar(image, ax=axes, label="|ρ|")
        axes.set_xticks(range(len(self.parameters)), self.parameters)
        axes.set_yticks(range(len(self.features)), self.features)
        for (i, k), value in np.ndenumerate(pose.correlation):
            color = "white" if values[i, k] > 0.6 else "black"
            axes.text(k, i, f"{value:.2f}", ha="center", va="center", color=color)
        axes.set_title(self._named(pose))
        return axes


def poses(
    model: Model | str | os.PathLike[str],
    parameters: Sequence[str] | str,
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    poses: int = 1000,
    samples: int = 1000,
    spread: float = 0.5,
    damping: bool = False,
    local: bool = False,
    together: int = 1,
    seed: int = 1,
    threads: int = 0,
    set: Mapping[str, float | str] | None = None,
    progress: bool | Callable[[float], Any] = False,
) -> PoseStudy:
    """Poses in which measured frequencies tell most about parameters.

    parameters: what is to be identified: ["kA", "kB"], or "kA,kB"
    ranges:     coordinate -> (low, high) [m, rad] that poses are drawn from; default: every
                independent one in its joint's range, ±π/2 for angles without one
    poses:      number of poses
    samples:    parameter sets per pose
    spread:     parameters are drawn within ± this share of their value
    damping:    damping ratios count beside the frequencies
    local:      no sets: correlations from derivatives at the model's values (IDN-4)
    together:   size of the set of poses that is measured together (IDN-6)
    seed:       of the draws; results do not depend on the number of threads
    threads:    0: all cores
    set:        parameters [SI] to replace, as in ``load``
    progress:   True: a line on standard error; or a function of the fraction done: False stops

    >>> study = pg.poses("three_link", "kA,kB,kC", poses=50, samples=100)
    >>> study[0].told_by["kA"]
    'f1'
    """
    core = as_model(model, set)._ready()
    names = [n.strip() for n in parameters.split(",")] if isinstance(parameters, str) else parameters
    limits = [(name, float(low), float(high)) for name, (low, high) in (ranges or {}).items()]
    with _shown_progress(progress) as watch:
        found, notes = _core.poses(
            core,
            list(names),
            limits,
            poses,
            samples,
            spread,
            damping,
            local,
            together,
            seed,
            threads,
            watch,
        )
    warn(notes, stacklevel=2)
    return PoseStudy(**found)


@dataclass(frozen=True)
class IdentifiedParameter:
    """An identified parameter [SI]; ``std`` is infinite where the data do not tell."""

    name: str
    value: float
    std: float  #: standard deviation (IDN-9)
    interval: tuple[float, float]  #: of 95 % confidence
    bounds_hit: bool
    start: float
    bounds: tuple[float, float]


@dataclass(frozen=True)
class Solution:
    """A distinct local minimum of the fit: ``values`` [SI] by name."""

    values: dict[str, float]
    cost: float  #: Σ ((model - measured)/σ)² (IDN-7)
    error_hz: float  #: root of the sum of squared frequency errors [Hz]
    hits: int  #: starts that ended here
    explains: bool  #: the data as well as the best one, within their uncertainty
    bounds_hit: bool


@dataclass(frozen=True)
class FittedMode:
    """A measured mode and the model's [Hz], at the identified values."""

    pose: str
    mode: int  #: of the model, from 1
    measured: float  #: [Hz]
    fitted: float  #: [Hz]
    sigma: float  #: standard deviation of the measurement [Hz]
    measured_damping: float | None  #: ratio
    fitted_damping: float
    assurance: float  #: MAC where a shape was measured, else 1 (IDN-8)


@dataclass(frozen=True)
class SimulatedError:
    """Errors over simulated measurements, relative to ``truth`` [SI]."""

    truth: float
    mean: float
    std: float
    worst: float


@dataclass(frozen=True, repr=False, eq=False)
class Identification(Paged):
    """What the measurements say: values [SI], their uncertainty, and whether they are the only ones.

    ``result["kA"]`` is the identified value of a parameter [SI].
    """

    parameters: dict[str, IdentifiedParameter]
    solutions: list[Solution]  #: all distinct minima, those that explain the data first
    frequencies: list[FittedMode]
    cost: float  #: Σ ((model - measured)/σ)² (IDN-7)
    error_hz: float  #: root of the sum of squared frequency errors [Hz]
    starts: int
    converged: int
    unseen: float  #: expected number of minima that no start has found (IDN-10)
    correlation: np.ndarray  #: of the estimated parameters
    condition: float  #: of the sensitivities; large: some combination is not seen
    sigma_assumed: bool  #: no uncertainty was given
    errors: dict[str, SimulatedError]  #: of simulated measurements
    repeats: int
    model: Model  #: with the identified values
    warnings: list[Diagnostic] = field(default_factory=list)
    _page: _core.Page = field(default=None, repr=False)  # type: ignore[assignment]

    def __getitem__(self, name: str) -> float:
        """Identified value of a parameter [SI]."""
        return self.parameters[name].value

    @property
    def unique(self) -> bool:
        """Whether one parameter set alone explains the data."""
        return sum(s.explains for s in self.solutions) == 1

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file with the identified values; its comments and units stay."""
        self.model.save(path)

    def __repr__(self) -> str:
        texts = (f"{p.name} = {p.value:.6g} ± {p.std:.2g}" for p in self.parameters.values())
        equal = sum(s.explains for s in self.solutions)
        words = "" if self.unique else f"; not unique, one of {equal}"
        return f"<pantograph.Identification {', '.join(texts)}{words}>"

    def _repr_html_(self) -> str:
        """For notebooks: values, frequencies, other minima."""
        values = [(p.name, p.value, p.std, *p.interval) for p in self.parameters.values()]
        modes = [(m.pose, str(m.mode), m.measured, m.fitted) for m in self.frequencies]
        minima = [
            (*s.values.values(), s.error_hz, str(s.hits), "yes" if s.explains else "no")
            for s in self.solutions
        ]
        return _html.section(
            "identified" if self.unique else "identified, but not unique",
            _html.table(("parameter", "value", "std", "from", "to"), values),
            _html.table(("pose", "mode", "measured [Hz]", "fitted [Hz]"), modes),
            _html.table((*self.parameters, "error [Hz]", "hits", "explains"), minima),
        )

    def plot(self, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draws fitted over measured frequencies [Hz], and their differences with ±2 sigma below."""
        import matplotlib.pyplot as plt

        if axes is None:
            _, axes = plt.subplots(2, sharex=True, layout="constrained", height_ratios=(2, 1))
            axes[1].set_xlabel("measured [Hz]")
        axes = list(np.atleast_1d(axes))
        if len(axes) != 2:
            raise ValueError("axes: expected 2, frequencies and differences")
        axes[0].set_ylabel("fitted [Hz]")
        axes[1].set_ylabel("fitted - measured [Hz]")
        highest = max(m.measured for m in self.frequencies)
        axes[0].plot([0, highest], [0, highest], color="gray", linewidth=1)
        axes[1].axhline(0, color="gray", linewidth=1)
        for name in dict.fromkeys(m.pose for m in self.frequencies):
            own = [m for m in self.frequencies if m.pose == name]
            measured = np.array([m.measured for m in own])
            fitted = np.array([m.fitted for m in own])
            axes[0].plot(measured, fitted, "o", label=name)
            bars = [2 * m.sigma for m in own]
            axes[1].errorbar(measured, fitted - measured, yerr=bars, fmt="o", capsize=3)
        axes[0].legend()
        return axes


def identify(
    study: Mapping[str, Any] | str | os.PathLike[str],
    *,
    model: Model | None = None,
    method: str | None = None,
    starts: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: bool | Callable[[float], Any] = False,
) -> Identification:
    """Parameters of a model from measured natural frequencies [Hz], damping and shapes.

    study:      a study file, or a dictionary with its structure (docs/identify.md)
    model:      instead of the study's own; the ``"model"`` of a dictionary may be one as well
    method:     "least_squares" or "interior_point" instead of the study's own
    starts:     searches from different points, which find all minima; the study says 100
    seed:       of the starts and of simulated noise
    threads:    0: all cores
    progress:   True: a line on standard error; or a function of the fraction done: False stops

    Warns where several parameter sets explain the data, or some are hardly seen.

    >>> pose = {"at": {"theta_B": "89.11 deg", "theta_C": "-84.95 deg"}, "frequencies": [22.7, 58.5, 101.2]}
    >>> limits = {"low": 5, "high": 50}
    >>> found = pg.identify({
    ...     "model": "three_link",
    ...     "parameters": {"kA": limits, "kB": limits, "kC": {"low": 3, "high": 50}},
    ...     "pose": [{**pose, "sigma": 0.05}],
    ... })
    >>> found.unique, round(found["kB"], 1)
    (True, 13.9)
    """
    spec, model = study_and_model(study, model, _core.study_model, _core.study_settings)
    with _shown_progress(progress) as watch:
        found, notes = _core.identify(spec, model._ready(), method, starts, seed, threads, watch)
    warn(notes, stacklevel=2)
    names = [row[0] for row in found["parameters"]]
    found["parameters"] = {row[0]: IdentifiedParameter(*row) for row in found["parameters"]}
    found["solutions"] = [
        Solution(dict(zip(names, theta.tolist())), *rest) for theta, *rest in found["solutions"]
    ]
    found["frequencies"] = [FittedMode(*row) for row in found["frequencies"]]
    found["errors"] = {name: SimulatedError(*row) for name, *row in found["errors"]}
    identified = {name: p.value for name, p in found["parameters"].items()}
    return Identification(**found, model=model.with_parameters(identified), warnings=notes)
