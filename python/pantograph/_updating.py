"""Model updating: corrections that bring a model to its modal tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core, _html
from ._errors import Diagnostic, warn
from ._model import Model, study_and_model
from ._tasks import _shown_progress
from ._view import Paged


@dataclass(frozen=True)
class UpdatedParameter:
    """A corrected parameter [SI]; ``std`` is NaN where the tests tell no scatter."""

    name: str
    nominal: float
    value: float
    change: float  #: relative to the nominal value, to the upper bound where that is zero
    std: float  #: standard deviation of the value (UPD-13)
    bounds: tuple[float, float]
    bounds_hit: bool
    resolution: float  #: 1: told by the data, 0: by the penalty alone
    unmovable: bool  #: no measured mode depends on it


@dataclass(frozen=True)
class UpdatedMode:
    """A measured mode and the model's [Hz], before and after."""

    pose: str
    measured: float  #: [Hz]
    before: float  #: [Hz]
    after: float  #: [Hz]
    mode_before: int  #: of the model, from 1
    mode_after: int
    mac_before: float  #: NaN without a shape (UPD-4)
    mac_after: float
    left_out: float  #: [Hz], predicted without this mode; NaN unless cross-validated
    misfit: float  #: of the expanded shape, relative
    weight: float  #: 0: the mode does not count
    damping: float  #: measured ratio, 0 where none was given


@dataclass(frozen=True)
class UpdatedLimit:
    """A constraint or a static test, in its own units [SI]."""

    name: str
    low: float
    high: float
    before: float
    after: float
    active: bool


@dataclass(frozen=True)
class DrawnUpdates:
    """Updates from many simulated tests; errors of frequencies and parameters are relative [1]."""

    draws: int
    failed: int
    all_improved: int  #: every error against the measured frequency became smaller
    all_nearer: int  #: every frequency came nearer to the true one
    within_bounds: int
    mean_error_before: float
    mean_error_after: float


@dataclass(frozen=True, repr=False, eq=False)
class Updating(Paged):
    """A corrected model, and how far the tests told it: values [SI].

    ``result["E1"]`` is the updated value of a parameter [SI].
    """

    parameters: dict[str, UpdatedParameter]
    modes: list[UpdatedMode]
    limits: list[UpdatedLimit]
    mac_before: np.ndarray  #: measured x model modes, first pose
    mac_after: np.ndarray
    mean_error_before: float  #: of the sizes of the relative frequency errors of modes that count [1]
    mean_error_after: float
    frame_differences: dict[str, float]  #: of exact and linearised link coordinates at 1 mm, per pose (UPD-3)
    lambda_: float  #: penalty on change (UPD-6)
    kkt: float  #: residual of the conditions of the optimum
    objective: float  #: of UPD-6
    objective_as_printed: float  #: what UPD-10 leaves of it
    iterations: int
    converged: bool
    rank: int  #: independent equations
    collinear: list[list[str]]  #: groups of parameters of which the tests tell only a combination
    covariance: np.ndarray  #: of the relative changes (UPD-13)
    l_curve: tuple[list[float], list[float], list[float]]  #: λ, residual, size (UPD-9)
    damping: tuple[float, float] | None  #: Rayleigh α [1/s], β [s] (UPD-12)
    draws: DrawnUpdates | None
    model: Model  #: with the updated values
    warnings: list[Diagnostic] = field(default_factory=list)
    _page: _core.Page = field(default=None, repr=False)  # type: ignore[assignment]

    def __getitem__(self, name: str) -> float:
        """Updated value of a parameter [SI]."""
        return self.parameters[name].value

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file with the updated values; its comments and units stay."""
        self.model.save(path)

    def __repr__(self) -> str:
        errors = f"{100 * self.mean_error_before:.3g} % -> {100 * self.mean_error_after:.3g} %"
        return f"<pantograph.Updating: {len(self.parameters)} parameters, mean error {errors}>"

    def _repr_html_(self) -> str:
        """For notebooks: modes and parameters before and after."""
        modes = [(m.pose, m.measured, m.before, m.after, m.mac_before, m.mac_after) for m in self.modes]
        values = [(p.name, p.nominal, p.value, *p.bounds, p.resolution) for p in self.parameters.values()]
        return _html.section(
            "updated",
            _html.table(("pose", "measured [Hz]", "before [Hz]", "after [Hz]", "MAC", "MAC"), modes),
            _html.table(("parameter", "nominal", "updated", "low", "high", "told"), values),
        )


def update(
    study: Mapping[str, Any] | str | os.PathLike[str],
    *,
    model: Model | None = None,
    method: str | None = None,
    penalty: float | None = None,
    as_printed: bool | None = None,
    cross_validate: bool | None = None,
    threads: int | None = None,
    progress: bool | Callable[[float], Any] = False,
) -> Updating:
    """A model corrected by modal tests: frequencies [Hz] and shapes in one or more poses.

    study:          a study file, or a dictionary with its structure (docs/update.md)
    model:          instead of the study's own; the ``"model"`` of a dictionary may be one as well
    method:         "quadratic" or "sensitivity" instead of the study's own
    penalty:        λ on changes; default: the study's own, else from the L-curve
    as_printed:     the preconditioned form of Belotti et al. (UPD-10)
    cross_validate: predict every mode from the others
    threads:        0: all cores
    progress:       True: a line on standard error; or a function of the fraction done: False stops

    Warns of parameters that the data do not tell, and of those at a bound.

    >>> found = pg.update({
    ...     "model": "three_link",
    ...     "lambda": 0,
    ...     "parameters": {"kA": {"range": 0.3}, "kB": {"range": 0.3}, "kC": {"range": 0.3}},
    ...     "pose": [{"modes": [1, 2, 3]}],
    ...     "simulate": {"truth": {"kA": 18, "kB": 15}, "points": [["link2", "y"], ["link3", "y"]]},
    ... })
    >>> found.converged, found.mean_error_after < found.mean_error_before
    (True, True)
    """
    spec, model = study_and_model(study, model, _core.update_study_model, _core.update_study_settings)
    with _shown_progress(progress) as watch:
        found, notes = _core.update(
            spec, model._ready(), method, penalty, as_printed, cross_validate, threads, watch
        )
    warn(notes, stacklevel=2)
    found["parameters"] = {row[0]: UpdatedParameter(*row) for row in found["parameters"]}
    found["modes"] = [UpdatedMode(*row) for row in found["modes"]]
    found["limits"] = [UpdatedLimit(*row) for row in found["limits"]]
    found["draws"] = DrawnUpdates(*found["draws"]) if found["draws"] else None
    values = found.pop("values")
    return Updating(**found, model=model.with_parameters(values), warnings=notes)
