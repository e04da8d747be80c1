"""Runs: simulated motions with their energy and constraint audit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from . import _core
from ._errors import warn


@dataclass(frozen=True)
class Energy:
    """Energy audit of a run [J]; the series belong to ``Run.t``.

    What is conserved is kinetic + potential - entered + taken; the drift is its change since the
    start.
    """

    initial: float
    final: float
    max_drift: float
    kinetic: np.ndarray = field(repr=False)
    potential: np.ndarray = field(repr=False)
    entered: np.ndarray = field(repr=False)  #: work done by applied forces, actuators and drivers
    taken: np.ndarray = field(repr=False)  #: work taken by dampers and friction


@dataclass(frozen=True)
class ConstraintViolation:
    """Largest constraint residuals of a run: positions [m, rad], velocities [m/s, rad/s]."""

    position: float
    velocity: float


@dataclass(frozen=True)
class Stats:
    """Cost of a run."""

    steps: int
    evaluations: int  #: of the equations of motion
    jacobians: int
    repartitions: int  #: changes of the independent coordinates
    rejected: int  #: steps repeated with a smaller step size
    wall_seconds: float
    real_time_factor: float  #: simulated seconds per second


@dataclass(frozen=True)
class Measured:
    """Readings of a sensor."""

    t: np.ndarray = field(repr=False)  #: instants [s]
    values: np.ndarray = field(repr=False)
    unit: str


class Run(Mapping[str, np.ndarray]):
    """One simulated motion: a mapping from output names to series over ``t``.

    Arrays are read-only views of the run's own memory, which they keep alive; ``.copy()`` gives
    one to write on.
    """

    def __init__(self, core: _core.Run):
        self._core = core
        self._outputs = core.outputs

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self._outputs[name]
        except KeyError:
            known = ", ".join(self._outputs)
            raise KeyError(f"the run has no output {name!r}; it has {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def __repr__(self) -> str:
        t = self.t
        span = f"{t[0]:g} … {t[-1]:g} s, " if len(t) else ""
        return f"<pantograph.Run {self.model}: {span}{len(t)} instants, outputs {', '.join(self)}>"

    @property
    def t(self) -> np.ndarray:
        """Instants [s]."""
        return self._core.t

    @property
    def units(self) -> dict[str, str]:
        """Unit of every output, coordinate, speed and multiplier."""
        return self._core.units

    @property
    def q(self) -> dict[str, np.ndarray]:
        """Coordinates [m, rad; quaternions 1] by name."""
        return self._core.q

    @property
    def v(self) -> dict[str, np.ndarray]:
        """Speeds [m/s, rad/s] by name."""
        return self._core.v

    @property
    def a(self) -> dict[str, np.ndarray]:
        """Accelerations [m/s², rad/s²] by the names of the speeds."""
        return self._core.a

    @property
    def lam(self) -> dict[str, np.ndarray]:
        """Multipliers λ [N, N m] by the names of the constraint rows."""
        return self._core.lam

    @property
    def measured(self) -> dict[str, Measured]:
        """What the sensors read, noise included, where a ``seed`` was given to ``simulate``."""
        return {name: Measured(*series) for name, series in self._core.measured.items()}

    @property
    def energy(self) -> Energy:
        """Energy audit [J]."""
        return Energy(**self._core.energy)

    @property
    def constraint_violation(self) -> ConstraintViolation:
        """Largest constraint residuals."""
        return ConstraintViolation(*self._core.violation)

    @property
    def stats(self) -> Stats:
        """Steps, evaluations and time spent."""
        return Stats(**self._core.stats)

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._core.model

    @property
    def integrator(self) -> str:
        """Name of the integrator."""
        return self._core.integrator

    @property
    def complete(self) -> bool:
        """False where the caller stopped the run early."""
        return self._core.complete

    @property
    def stopped_by(self) -> str:
        """What ended the run before its time: an event or the caller; empty otherwise."""
        return self._core.stopped_by

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the run to ``.h5`` or ``.hdf5`` (everything) or ``.csv`` (outputs and energy)."""
        path = os.fspath(path)
        extension = os.path.splitext(path)[1].lower()
        formats = {".h5": "hdf5", ".hdf5": "hdf5", ".csv": "csv"}
        if extension not in formats:
            raise ValueError(f"{path}: a run is saved as .h5, .hdf5 or .csv")
        _core.write_run(self._core, path, formats[extension])

    def to_html(self, with_: Run | None = None) -> str:
        """The report page of the run: animation, plots, audit, numbers of the model.

        with_: a second run, laid over this one
        """
        html, notes = _core.run_html(self._core, None if with_ is None else with_._core)
        warn(notes, stacklevel=2)
        return html


def read_run(path: str | os.PathLike[str]) -> Run:
    """Reads a run from a file. A damaged file gives what it still holds, with warnings."""
    core, notes = _core.read_run(os.fspath(path))
    warn(notes, stacklevel=2)
    return Run(core)
