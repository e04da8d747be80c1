"""Modal tests: frequency responses, measured or simulated, and the modes they hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, _html
from ._errors import Diagnostic, warn
from ._model import Model, as_model
from ._tasks import _pose, _shown_progress
from ._view import Paged


@dataclass(frozen=True, repr=False, eq=False)
class FrequencyResponses:
    """What points did when forces acted at points; points are named ``"tip:y"``, ``"tip:-x"``.

    ``data["tip:y", "base:x"]`` is one response [m/N, m/s/N or m/s²/N].
    """

    responses: list[str]
    excitations: list[str]
    frequency_hz: np.ndarray  #: lines [Hz]
    h: np.ndarray  #: lines x responses x excitations, motion per force in SI units; NaN: not measured
    coherence: np.ndarray | None = None  #: as ``h``
    motion: str = "acceleration"  #: or "velocity", "displacement"
    window_decay: float = 0.0  #: rate of an exponential window of the responses [1/s]
    positions: dict[str, np.ndarray] = field(default_factory=dict)  #: of frames [m]

    def __getitem__(self, pair: tuple[str, str]) -> np.ndarray:
        """One response over the lines [m/N, m/s/N or m/s²/N]."""
        return self.h[:, self.responses.index(pair[0]), self.excitations.index(pair[1])]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a universal file, CSV (.csv) or HDF5 (.h5, .hdf5), by the name."""
        self._core().write(os.fspath(path), self.positions)

    def _core(self) -> _core.FrequencyData:
        if np.ndim(self.h) != 3:
            raise ValueError("h: expected lines x responses x excitations")
        coherence = None if self.coherence is None else _flat(self.coherence)
        return _core.FrequencyData(
            self.responses, self.excitations, self.frequency_hz, _flat(self.h), coherence, self.motion,
            self.window_decay,
        )  # fmt: skip

    @classmethod
    def _from(cls, found: dict[str, Any], positions: dict[str, Any]) -> FrequencyResponses:
        count = len(found["responses"])
        found["h"] = _grid(found["h"], count)
        if found["coherence"] is not None:
            found["coherence"] = _grid(found["coherence"], count)
        return cls(**found, positions={k: np.asarray(v) for k, v in positions.items()})

    def __repr__(self) -> str:
        grid = f"{len(self.responses)} responses x {len(self.excitations)} excitations"
        lines = f"{len(self.frequency_hz)} lines to {self.frequency_hz[-1]:.6g} Hz"
        return f"<pantograph.FrequencyResponses: {grid}, {lines}>"


@dataclass(frozen=True)
class EstimatedMode:
    """A mode found in frequency responses; ``participation`` [SI], phases [rad]."""

    frequency_hz: float  #: [Hz]
    damping: float  #: ratio [1], without the window's share
    frequency_sigma: float  #: standard deviation [Hz]
    damping_sigma: float  #: [1]
    shape: np.ndarray  #: at the responses, largest entry 1
    shape_sigma: np.ndarray
    participation: np.ndarray  #: at the excitations: residues are shape x participation
    mpc: float  #: modal phase collinearity, 1: all points in phase or opposite
    mpd: float  #: mean phase deviation [rad]
    orders: int  #: in which the pole was stable
    significance: float  #: how far the residues stand out of noise, 1: at the limit of chance (EMA-16)
    share: float  #: of the energy within its half-width [1]: about 2 where it stands free
    assurance: float  #: MAC with the true shape that the scatter lets expect [1]


@dataclass(frozen=True, repr=False, eq=False)
class ModalAnalysis(Paged):
    """Modes of frequency responses [Hz], and how well they explain them (EMA-1 to EMA-8)."""

    modes: list[EstimatedMode]
    diagram: np.ndarray  #: rows of order, frequency [Hz], damping [1], stability 0 … 3
    responses: list[str]
    excitations: list[str]
    frequency_hz: np.ndarray  #: lines that were used [Hz]
    measured: np.ndarray  #: lines x responses x excitations, SI
    synthesised: np.ndarray  #: the same from the modes
    correlation: np.ndarray  #: of the two, responses x excitations [1]
    references: int
    warnings: list[Diagnostic]
    _page: _core.Page
    _test: _core.ModalTest

    @property
    def frequencies_hz(self) -> np.ndarray:
        """Natural frequencies [Hz], ascending."""
        return np.array([m.frequency_hz for m in self.modes])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the modal table: .toml, .csv or .uff; ``update`` reads it as ``test``."""
        self._test.write(os.fspath(path))

    def __repr__(self) -> str:
        found = ", ".join(f"{m.frequency_hz:.5g}" for m in self.modes)
        return f"<pantograph.ModalAnalysis: {len(self.modes)} modes, {found} Hz>"

    def _repr_html_(self) -> str:
        """For notebooks: the modes."""
        rows = [(m.frequency_hz, m.frequency_sigma, m.damping, m.damping_sigma, m.mpc) for m in self.modes]
        heads = ("frequency [Hz]", "±", "damping", "±", "MPC")
        return _html.section("modal analysis", _html.table(heads, rows))


@dataclass(frozen=True, repr=False, eq=False)
class ImpactTest:
    """A simulated hammer test [SI], with what the model itself says."""

    data: FrequencyResponses  #: H1 with coherence
    exact: np.ndarray  #: as ``data.h``: the model's own at these lines
    modes: list[tuple[float, float, np.ndarray]]  #: frequency [Hz], damping [1], shape: the truth
    time: np.ndarray  #: of the first record [s]
    force: np.ndarray  #: of its hammer [N], with windows
    response: np.ndarray  #: of its first accelerometer [m/s²], with windows
    error: float  #: of ``data.h`` relative to ``exact``, root mean square [1]
    complete: bool  #: False where ``progress`` stopped it
    warnings: list[Diagnostic]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the frequency responses: universal file, CSV (.csv) or HDF5 (.h5)."""
        self.data.save(path)

    def __repr__(self) -> str:
        return f"<pantograph.ImpactTest: {self.data!r}, error {100 * self.error:.3g} %>"


def read_responses(
    path: str | os.PathLike[str], frames: Mapping[int, str] | None = None
) -> FrequencyResponses:
    """Frequency responses [m/N, m/s/N or m/s²/N] from a universal file, CSV or HDF5 (docs/ema.md).

    frames: names of the nodes of a universal file
    """
    found, positions, notes = _core.read_responses(os.fspath(path), dict(frames or {}))
    warn(notes, stacklevel=2)
    return FrequencyResponses._from(found, positions)


def ema(
    data: FrequencyResponses | ImpactTest | str | os.PathLike[str],
    *,
    band: tuple[float, float] | None = None,
    order: int = 40,
    references: int = 0,
    select: ArrayLike | None = None,
    window_decay: float | None = None,
    refine: int = 20,
    frames: Mapping[int, str] | None = None,
    progress: bool | Callable[[float], Any] = False,
) -> ModalAnalysis:
    """Modes from frequency responses: frequencies [Hz], damping ratios and shapes.

    data:         responses, a simulated test, or a file (universal, CSV, HDF5)
    band:         lowest and highest frequency [Hz]
    order:        highest of the stabilisation diagram
    references:   combinations of excitations that the denominator sees; 0: up to 4
    select:       frequencies [Hz] of the poles to take; default: automatic
    window_decay: rate [1/s] of the exponential window instead of what the data tells
    refine:       steps of the nonlinear least squares that follow; 0: poles as selected
    frames:       names of the nodes of a universal file
    progress:     True: a line on standard error; or a function of the fraction done: False stops

    >>> test = pg.impact("single_flexible_link", ["link.n3:y", "link.end:y"], damping=0.02, band=(0, 60))
    >>> round(float(pg.ema(test, order=20).frequencies_hz[0]), 2) == round(test.modes[0][0], 2)
    True
    """
    if isinstance(data, ImpactTest):
        data = data.data
    if not isinstance(data, FrequencyResponses):
        data = read_responses(data, frames)
    core = data._core() if window_decay is None else _with_window(data, window_decay)
    chosen = [] if select is None else [float(f) for f in np.atleast_1d(np.asarray(select, dtype=float))]
    with _shown_progress(progress) as watch:
        found, notes, test = _core.ema(core, band, order, references, chosen, refine, watch)
    warn(notes, stacklevel=2)
    count = len(found["responses"])
    found["modes"] = [EstimatedMode(*row) for row in found["modes"]]
    found["diagram"] = np.array(found["diagram"], dtype=float).reshape(-1, 4)
    found["measured"] = _grid(found["measured"], count)
    found["synthesised"] = _grid(found["synthesised"], count)
    found["correlation"] = _grid(found["correlation"][np.newaxis], count)[0]
    return ModalAnalysis(**found, warnings=notes, _test=test)


def impact(
    model: Model | str | os.PathLike[str],
    points: Sequence[str],
    hammer: Sequence[str] | None = None,
    at: Mapping[str, float] | None = None,
    where: str = "equilibrium",
    *,
    axes: str = "ground",
    rate: float = 2048.0,
    record: float = 16.0,
    averages: int = 3,
    peak: float = 100.0,
    pulse: float = 0.002,
    trigger: float = 5.72,
    pretrigger: float = 0.01,
    window: float = 0.9,
    force_window: float = 0.05,
    noise: float = 0.0,
    hold: bool = False,
    damping: ArrayLike | None = None,
    band: tuple[float, float] | None = None,
    seed: int = 1,
    threads: int = 0,
    progress: bool | Callable[[float], Any] = False,
) -> ImpactTest:
    """A hammer test simulated on a model: frequency responses [m/s²/N] as an analyser gives them.

    points:       accelerometers, frame and direction: ``"tip:y"``
    hammer:       where it hits; default: at every accelerometer
    at, where:    the pose [m, rad], and "equilibrium" (searched from there) or "here"
    axes:         directions of the "ground", or of the "body" that carries the point
    rate, record: samples per second [Hz], length of a record [s]
    averages:     hits per point
    peak, pulse:  of a hit [N], [s]
    trigger, pretrigger: force that starts a record [N], time recorded before it [s]
    window:       exponential window at the end of the record [1]; 1: none
    force_window: force kept after the trigger [s]; 0: all of it
    noise:        of each channel, share of its root mean square [1]
    hold:         friction holds the pose: modes that grow are taken as free
    damping:      ratios of the modes [1], ascending, further ones take the last; default: the model's own
    band:         lines that are kept [Hz]; default: 0 to rate / 2.56
    progress:     True: a line on standard error; or a function of the fraction done: False stops

    >>> test = pg.impact("single_flexible_link", ["link.end:y"], damping=0.02, band=(0, 60))
    >>> test.error < 1e-3
    True
    """
    if axes not in ("ground", "body"):
        raise ValueError(f'axes: expected "ground" or "body", got {axes!r}')
    ratios = [] if damping is None else [float(z) for z in np.atleast_1d(np.asarray(damping, dtype=float))]
    options = _core.ImpactOptions(
        list(points), list(hammer or []), axes == "body", rate, record, averages, peak, pulse, trigger,
        pretrigger, window, force_window, noise, hold, ratios, band, seed, threads,
    )  # fmt: skip
    with _shown_progress(progress) as watch:
        found, data, positions, notes = _core.impact(as_model(model)._ready(), _pose(at), where, options, watch)
    warn(notes, stacklevel=2)
    found["exact"] = _grid(found["exact"], len(data["responses"]))
    return ImpactTest(data=FrequencyResponses._from(data, positions), **found, warnings=notes)


def _grid(columns: np.ndarray, responses: int) -> np.ndarray:
    """Lines x pairs to lines x responses x excitations."""
    return columns.reshape(columns.shape[0], -1, responses).transpose(0, 2, 1)


def _flat(grid: np.ndarray) -> np.ndarray:
    """The reverse of it."""
    grid = np.asarray(grid)
    return grid.transpose(0, 2, 1).reshape(grid.shape[0], -1)


def _with_window(data: FrequencyResponses, decay: float) -> _core.FrequencyData:
    if not decay >= 0:
        raise ValueError("window_decay: not below 0")
    fields = {name: getattr(data, name) for name in data.__dataclass_fields__}
    return FrequencyResponses(**{**fields, "window_decay": decay})._core()
