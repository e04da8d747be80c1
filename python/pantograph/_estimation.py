"""State observers: twin studies of Kalman filters on models."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._errors import Diagnostic, warn
from ._model import _caller
from ._tasks import _shown_progress


@dataclass(frozen=True)
class ObservedRun:
    """One filter on one noise sequence; errors [units of the channels]."""

    filter: str
    sensors: str
    rate_hz: float  #: 0: sensors at rates of their own
    error_level: str
    seed: int
    rmse: dict[str, float]  #: by channel, over all steps
    coverage95: float  #: share of steps inside the filter's own 95 % interval
    nees: float  #: 1: consistent (OBS-7)
    nis_mean: float  #: per reading, 1: consistent
    whiteness: float  #: autocorrelation of the innovations at lag 1
    rejected: int  #: readings left out by the gate
    diverged: bool
    status: str
    us_per_step: float  #: [µs]


@dataclass(frozen=True)
class ObservedCell:
    """The same filter over all noise sequences; errors [units of the channels].

    Sequences that diverged are left out of the means.
    """

    filter: str
    sensors: str
    rate_hz: float
    error_level: str
    runs: int
    diverged: int
    failed: int
    rmse_mean: dict[str, float]
    rmse_std: dict[str, float]
    coverage95: float
    nees: float
    nis_mean: float
    whiteness: float
    us_per_step: float


@dataclass(frozen=True, eq=False)
class ObservedSeries:
    """Course of one run over time [s].

    channels: name -> (truth, estimate, sigma); innovations: sensor -> (t, innovation, sigma)
    """

    row: int  #: of the run
    t: np.ndarray  #: [s]
    channels: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
    innovations: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Observation:
    """Outcome of a twin study; ``units`` are those of the channels, times [s]."""

    model: str
    channels: list[str]
    units: list[str]
    rows: list[ObservedRun]
    cells: list[ObservedCell]
    series: list[ObservedSeries]
    complete: bool
    seconds: float
    warnings: list[Diagnostic] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Observation of {self.model!r}: {len(self.rows)} runs, {len(self.cells)} cells>"


def filters() -> dict[str, str]:
    """Names of all filters, and what they are.

    >>> pg.filters()["dekf"]
    'extended, Euler step, constant transition'
    """
    return dict(_core.filters())


def observe(
    study: Mapping[str, Any] | str | os.PathLike[str],
    *,
    seeds: int | Sequence[int] | None = None,
    threads: int | None = None,
    series: bool = False,
    progress: bool | Callable[[float], Any] = False,
) -> Observation:
    """Runs a twin study: a simulated truth, sensors with noise, filters on wrong models.

    study:      a study file, or a dictionary with its structure (docs/observe.md)
    seeds:      noise sequences instead of the study's: how many, or which
    threads:    0: all cores
    series:     keep the course of the first sequence of every cell
    progress:   True: a line on standard error; or a function of the fraction done: False stops

    >>> result = pg.observe({
    ...     "model": "fourbar_sanjurjo", "until": 2, "dt": 0.005, "channels": ["theta"],
    ...     "error": [{"name": "gravity", "set": {"g": 9}}],
    ...     "sensors": [{"name": "encoder", "use": ["crank_encoder"]}],
    ...     "filter": ["dekf", "ukf"],
    ... })
    >>> [run.rmse["theta"] < 0.01 for run in result.rows]
    [True, True]
    """
    if isinstance(study, Mapping):
        spec = _core.Spec(dict(study), *_caller())
    else:
        spec = _core.read_study(os.fspath(study))
    numbers = None
    if seeds is not None:
        numbers = list(range(1, seeds + 1)) if isinstance(seeds, int) else list(seeds)
    with _shown_progress(progress) as watch:
        found, notes = _core.observe(spec, numbers, threads, series, watch)
    warn(notes, stacklevel=2)
    found["rows"] = [ObservedRun(*row) for row in found["rows"]]
    found["cells"] = [ObservedCell(*row) for row in found["cells"]]
    found["series"] = [ObservedSeries(*row) for row in found["series"]]
    return Observation(**found, warnings=notes)
