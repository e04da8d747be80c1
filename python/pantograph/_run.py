"""Runs: simulated motions with their energy and constraint audit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _html
from ._errors import warn

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


def scale(deformation: float | None) -> float | None:
    """The scale at which a page draws elastic displacements; None: the page chooses."""
    if deformation is not None and not 0 <= deformation <= 1e9:
        raise ValueError(f"deformation={deformation}: a scale from 0 to 1e9 is expected")
    return deformation


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
    """Cost of a run: counts, ``wall_seconds`` [s], ``real_time_factor`` [simulated s per s]."""

    steps: int
    evaluations: int  #: of the equations of motion
    jacobians: int
    repartitions: int  #: changes of the independent coordinates
    rejected: int  #: steps repeated with a smaller step size
    references: int  #: how often the interior modes of a reduced model were computed anew
    reference_jump: float  #: largest change of a displacement by that [m, rad]
    wall_seconds: float
    real_time_factor: float


@dataclass(frozen=True)
class Measured:
    """Readings of a sensor: ``values`` [unit] at the instants ``t`` [s]."""

    t: np.ndarray = field(repr=False)
    values: np.ndarray = field(repr=False)
    unit: str


class Run(Mapping[str, np.ndarray]):
    """One simulated motion: a mapping from output names to series over ``t``.

    Arrays are read-only views of the run's own memory, which they keep alive; ``.copy()`` gives
    one to write on.

    >>> r = pg.simulate("fourbar_f1", until=10)
    >>> theta, unit = r["theta"], r.unit("theta")
    >>> axes = r.plot("theta", degrees=True)
    >>> r.save("run.h5")
    """

    def __init__(self, core: _core.Run):
        self._core = core
        self._outputs = core.outputs

    def __getitem__(self, name: str) -> np.ndarray:
        return _member(self._outputs, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def __repr__(self) -> str:
        t = self.t
        span = f"{t[0]:g} … {t[-1]:g} s, " if len(t) else ""
        return f"<pantograph.Run {self.model}: {span}{len(t)} instants, outputs {', '.join(self)}>"

    def _repr_html_(self) -> str:
        """For notebooks: the animated report, outputs with their ranges, the audit."""
        outputs = [
            (name, self.unit(name), *((y.min(), y.max(), y[-1]) if len(y) else ("", "", "")))
            for name, y in self.items()
        ]
        energy, violation = self.energy, self.constraint_violation
        audit = [
            ("energy at the start", energy.initial, "J"),
            ("energy at the end", energy.final, "J"),
            ("largest drift of energy", energy.max_drift, "J"),
            ("constraints, positions", violation.position, "m, rad"),
            ("constraints, velocities", violation.velocity, "m/s, rad/s"),
        ]
        report = getattr(self, "to_html", None) or getattr(self._core, "to_html", None)
        return _html.section(
            f"{self.model}, {self.integrator}, {len(self.t)} instants",
            _html.table(("output", "unit", "min", "max", "last"), outputs),
            _html.table(("audit", "value", "unit"), audit),
        ) + (_html.frame(report()) if report else "")

    @property
    def t(self) -> np.ndarray:
        """Instants [s]."""
        return self._core.t

    @property
    def units(self) -> dict[str, str]:
        """Unit of every output, coordinate, speed and multiplier by name: {"theta": "rad"}."""
        return self._core.units

    def unit(self, name: str) -> str:
        """Unit of one output, coordinate, speed or multiplier: "rad"."""
        return _member(self.units, name)

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
        """What the sensors read [unit of each], where a ``seed`` was given to ``simulate``."""
        return {name: Measured(*series) for name, series in self._core.measured.items()}

    @property
    def energy(self) -> Energy:
        """Energy audit [J]."""
        return Energy(**self._core.energy)

    @property
    def constraint_violation(self) -> ConstraintViolation:
        """Largest constraint residuals: positions [m, rad], velocities [m/s, rad/s]."""
        return ConstraintViolation(*self._core.violation)

    @property
    def stats(self) -> Stats:
        """Steps, evaluations and time spent [s]."""
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

    def plot(
        self,
        *names: str,
        degrees: bool = False,
        label: str = "",
        axes: Axes | Sequence[Axes] | None = None,
    ) -> list[Axes]:
        """Draws series over time with matplotlib: one axes per unit, below each other.

        names:   outputs, coordinates, speeds or multipliers; default: all outputs
        degrees: angles in deg, deg/s, deg/s² instead of rad
        label:   what the legend says behind each name
        axes:    draw into these, as many as there are units: a second run over the first

        >>> axes = r.plot("theta", "theta_dot", label="1 kg")
        >>> axes = another_run.plot("theta", "theta_dot", label="3 kg", axes=axes)
        """
        import matplotlib.pyplot as plt

        everything = {**self.lam, **self.v, **self.q, **self._outputs}
        by_unit: dict[str, list[tuple[str, np.ndarray]]] = {}
        for name in names or self:
            values, unit = _member(everything, name), self.unit(name)
            if degrees and (unit == "rad" or unit.startswith("rad/")):
                values, unit = np.degrees(values), unit.replace("rad", "deg")
            by_unit.setdefault(unit, []).append((name, values))
        if axes is None:
            _, grid = plt.subplots(len(by_unit), sharex=True, squeeze=False, layout="constrained")
            axes = list(grid[:, 0])
            axes[-1].set_xlabel("t [s]")
        else:
            axes = list(np.atleast_1d(axes))
        if len(axes) != len(by_unit):
            raise ValueError(f"axes: expected {len(by_unit)}, one for each of {list(by_unit)}")
        for ax, (unit, members) in zip(axes, by_unit.items()):
            for name, values in members:
                ax.plot(self.t, values, label=f"{name}, {label}" if label else name)
            ax.set_ylabel(f"{members[0][0]} [{unit}]" if len(members) == 1 else f"[{unit}]")
            if len(ax.lines) > 1:
                ax.legend()
        return axes

    def to_dataframe(self) -> pandas.DataFrame:
        """The outputs as columns over t [s], a copy; units in ``.attrs["units"]``. Needs pandas."""
        import pandas

        frame = pandas.DataFrame(dict(self), index=pandas.Index(self.t, name="t"))
        frame.attrs["units"] = {"t": "s", **{name: self.unit(name) for name in self}}
        return frame

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the run to ``.h5`` or ``.hdf5`` (everything) or ``.csv`` (outputs and energy)."""
        path = os.fspath(path)
        extension = os.path.splitext(path)[1].lower()
        formats = {".h5": "hdf5", ".hdf5": "hdf5", ".csv": "csv"}
        if extension not in formats:
            raise ValueError(f"{path}: a run is saved as .h5, .hdf5 or .csv")
        _core.write_run(self._core, path, formats[extension])

    def to_html(self, with_: Run | None = None, deformation: float | None = None) -> str:
        """The report page of the run: animation, plots, audit, numbers of the model.

        with_:       a second run, laid over this one
        deformation: scale of elastic displacements, as in ``view``
        """
        second = None if with_ is None else with_._core
        html, notes = _core.run_html(self._core, second, scale(deformation))
        warn(notes, stacklevel=2)
        return html


def read_run(path: str | os.PathLike[str]) -> Run:
    """Reads a run from a file. A damaged file gives what it still holds, with warnings."""
    core, notes = _core.read_run(os.fspath(path))
    warn(notes, stacklevel=2)
    return Run(core)


def _member(items: Mapping[str, Any], name: str) -> Any:
    try:
        return items[name]
    except KeyError:
        raise KeyError(f"the run has no {name!r}; it has {', '.join(items)}") from None
