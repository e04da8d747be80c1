"""State observers: Kalman filters on models, through logs, beside machines and in twin studies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np

from . import _core
from ._errors import Diagnostic, warn
from ._kinematic import KinematicAdvice, KinematicEstimates, _advise, _observe, _wanted_kinematic
from ._model import Model, _caller, as_model
from ._tasks import _shown_progress
from ._view import Paged


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
    nees: float  #: 1: consistent (OBS-7); NaN: the truth has other coordinates
    nis_mean: float  #: per reading, 1: consistent
    whiteness: float  #: autocorrelation of the innovations at lag 1
    rejected: int  #: readings left out by the gate
    diverged: bool
    lost: int  #: how often the innovations showed that the filter had lost the truth
    lost_at: float  #: when first [s]; NaN: never
    restarts: int
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
    lost: int  #: runs in which the filter was lost, by its innovations
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
class Observation(Paged):
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
    _page: _core.Page = field(default=None, repr=False)  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Observation of {self.model!r}: {len(self.rows)} runs, {len(self.cells)} cells>"


def filters() -> dict[str, str]:
    """Names of all filters, and what they are.

    >>> pg.filters()["dekf"]
    'extended, Euler step, constant transition'
    """
    return dict(_core.filters())


@dataclass(frozen=True)
class SensorSummary:
    """What became of a sensor's readings; ``rms`` of the innovations [unit of the sensor]."""

    readings: int
    missing: int
    used: int
    rejected: int  #: by the gate
    late: int
    dropped: int  #: older than the lag
    repeated: int
    rms: float
    mean: float  #: of the innovations, in standard deviations: 0 is right
    nis: float  #: mean square of the same: 1 is right
    correlation: float  #: of neighbouring innovations: 0 is right


@dataclass(frozen=True, eq=False)
class Estimates:
    """What a filter made of a log; times [s], quantities [``units``].

    ``estimates["theta"]`` is short for ``estimates.values["theta"]``.
    """

    model: str
    filter: str
    t: np.ndarray  #: [s]
    values: dict[str, np.ndarray]
    sigma: dict[str, np.ndarray]  #: standard deviations
    units: dict[str, str]
    innovations: dict[str, np.ndarray]  #: by sensor; NaN: no reading, or left out
    innovation_sigma: dict[str, np.ndarray]
    nis: np.ndarray
    sensors: dict[str, SensorSummary]
    nis_mean: float  #: per reading, 1: consistent
    dt: float  #: longest step [s]
    updates: int
    steps: int
    lost: int  #: how often the innovations were too large for long
    restarts: int
    complete: bool
    warnings: list[Diagnostic] = field(default_factory=list)

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self.values[name]
        except KeyError:
            raise KeyError(f"{name!r} is not estimated; there are {', '.join(self.values)}") from None

    def __repr__(self) -> str:
        return f"<Estimates of {self.model!r} by {self.filter}: {len(self.t)} times>"


@dataclass(frozen=True)
class Estimate:
    """State at one time [s]; quantities in the units of the ``Observer``."""

    t: float
    values: dict[str, float]
    sigma: dict[str, float]  #: standard deviations
    innovations: dict[str, float]  #: by sensor; NaN: no reading, or left out
    innovation_sigma: dict[str, float]
    nis: float  #: of the readings at ``t``; NaN: none

    def __getitem__(self, name: str) -> float:
        return self.values[name]


@dataclass(frozen=True, eq=False)
class InnovationTest:
    """What innovations, in standard deviations [-], say: with the right noise they are white."""

    readings: int
    log_likelihood: float
    nis: float  #: per reading, 1 is right
    autocorrelation: np.ndarray  #: at lag 1, 2, …
    inside: float  #: share of the autocorrelations in their 95 % band
    ljung_box: float
    p_value: float  #: above 0.05: white


@dataclass(frozen=True)
class TunePoint:
    """One run of a search; noise [(rad/s²)² s or (m/s²)² s], sigma [unit of the sensor]."""

    varied: str  #: "start", "all", a speed or a sensor
    factor: float  #: of what was varied, to its start
    noise: dict[str, float]
    sigma: dict[str, float]
    log_likelihood: float  #: minus infinity: the filter failed
    nis: float
    lag1: float


@dataclass(frozen=True, eq=False)
class Tuning:
    """Noise under which the readings are most likely.

    ``noise`` is a spectral density by speed [(rad/s²)² s or (m/s²)² s], ``sigma`` a standard
    deviation by sensor [its unit]; errors are standard deviations of their logarithms.
    """

    noise: dict[str, float]
    noise_error: dict[str, float]
    sigma: dict[str, float]
    sigma_error: dict[str, float]  #: where sensors were tuned too
    start: InnovationTest
    chosen: InnovationTest
    points: list[TunePoint]
    settings: dict[str, Any]  #: ``observe(..., settings=)``; of a study, one of its filters
    complete: bool
    filter: str = ""  #: of a study, as the next ones
    sensors: str = ""
    error_level: str = ""
    rate_hz: float = 0
    warnings: list[Diagnostic] = field(default_factory=list)


@dataclass(frozen=True)
class RankedSet:
    """A set of sensors; condition numbers as their log10, deviations [unit of the coordinate]."""

    sensors: list[str]
    observable: bool
    median: float  #: of the condition number along the motion
    worst: float
    blind: float  #: share of the motion with more than 6
    share: float  #: RMS deviation of the coordinates, of that at the start; sets are ranked by it
    deviations: dict[str, float]
    seen_least: dict[str, str]  #: states that are hidden or seen least -> in words
    failure: str


@dataclass(frozen=True, eq=False)
class Advice:
    """Sets of sensors, best first."""

    sets: list[RankedSet]
    complete: bool
    warnings: list[Diagnostic] = field(default_factory=list)


Sensors = Union[Sequence[Union[str, Mapping[str, Any]]], Mapping[str, Union[float, str]]]
Log = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def _spec(description: Mapping[str, Any] | str | os.PathLike[str], depth: int) -> _core.Spec:
    if isinstance(description, Mapping):
        return _core.Spec(dict(description), *_caller(depth + 1))
    return _core.read_study(os.fspath(description))


def _sensor_list(sensors: Sensors) -> list[Any]:
    if isinstance(sensors, Mapping):
        return [{"name": name, "sigma": sigma} for name, sigma in sensors.items()]
    return [s if isinstance(s, str) else dict(s) for s in sensors]


def _is_kinematic(settings: Mapping[str, Any] | str | os.PathLike[str] | None) -> bool:
    if settings is None or isinstance(settings, Mapping):
        return settings is not None and "kinematic" in settings
    return _core.is_kinematic(_spec(settings, 2))


def _refuse(**given: bool) -> None:
    """ValueError for arguments that a kinematic observer does not take."""
    names = [name for name, is_given in given.items() if is_given]
    if names:
        raise ValueError(f"{', '.join(names)}: not with settings of a kinematic observer")


def _wanted(
    settings: Mapping[str, Any] | str | os.PathLike[str] | None,
    sensors: Sensors | None,
    filter: str | None,
    gate: float = 0,
) -> _core.Wanted:
    if not 0 <= gate < 1:
        raise ValueError("gate: expected a probability between 0 and 1, 0.999 say")
    named = None
    if sensors is not None:
        named = _spec({"sensors": _sensor_list(sensors)}, 3)
    return _core.Wanted(None if settings is None else _spec(settings, 3), named, filter, gate)


def _log(log: Log, core: _core.Model) -> str | list[tuple[str, np.ndarray, np.ndarray]]:
    """A path, or (name, t, values) of every column."""
    if not isinstance(log, Mapping):
        return os.fspath(log)
    columns = []
    known = [*core.outputs, *core.inputs]
    for name, column in log.items():
        if name == "t":
            continue
        if name not in known:
            raise ValueError(f"log: {name!r} is no output or input of the model ({', '.join(known)})")
        if isinstance(column, tuple):
            t, values = column
        elif "t" in log:
            t, values = log["t"], column
        else:
            raise ValueError(f"log: {name!r} has no times; give (t, values), or a column \"t\"")
        t, values = np.asarray(t, float).ravel(), np.asarray(values, float).ravel()
        if len(t) != len(values) or not np.all(np.isfinite(t)):
            raise ValueError(f"log: {name!r} needs a finite time for every value")
        columns.append((name, t, values))
    return columns


def observe(
    study: Model | Mapping[str, Any] | str | os.PathLike[str],
    log: Log | None = None,
    *,
    filter: str | None = None,
    sensors: Sensors | None = None,
    outputs: Sequence[str] = (),
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    gate: float = 0,
    lag: float = 0.1,
    dt: float = 0,
    restart: str = "never",
    smooth: bool | float = False,
    seeds: int | Sequence[int] | None = None,
    threads: int | None = None,
    series: bool = False,
    progress: bool | Callable[[float], Any] = False,
) -> Observation | Estimates | KinematicEstimates:
    """Runs a twin study, or with a ``log`` an observer of a model through it.

    A twin study has a simulated truth, sensors with noise, filters on wrong models:

    study:      a study file, or a dictionary with its structure (docs/observe.md)
    seeds:      noise sequences instead of the study's: how many, or which
    threads:    0: all cores
    series:     keep the course of the first sequence of every cell

    >>> result = pg.observe({
    ...     "model": "fourbar_sanjurjo", "until": 2, "dt": 0.005, "channels": ["theta"],
    ...     "error": [{"name": "gravity", "set": {"g": 9}}],
    ...     "sensors": [{"name": "encoder", "use": ["crank_encoder"]}],
    ...     "filter": ["dekf", "ukf"],
    ... })
    >>> [run.rmse["theta"] < 0.01 for run in result.rows]
    [True, True]

    With a log, ``study`` is the model:

    log:        a CSV or HDF5 file, or name -> (t [s], values [SI]), or columns with a common "t"
    filter:     one of ``filters()``; default: "ukf"
    sensors:    names, name -> standard deviation [SI], or dictionaries as in studies; default: all
    outputs:    outputs of the model to estimate; default: all that are no sensors
    settings:   filter and sensors: a file, or a dictionary with its structure; with a table
                [kinematic] an observer by kinematics alone (docs/kinematic-observer.md), which
                takes outputs, filter, gate and dt beside it
    gate:       leave out readings that a good sensor would not give with this probability
    lag:        how late a reading may come [s]
    dt:         longest step [s]; default: the shortest period of a sensor, at most 0.01
    restart:    "never", "present" or "initial": where a lost filter is started again
    smooth:     True: estimates from all readings; a number: from those up to this much later [s]

    progress:   True: a line on standard error; or a function of the fraction done: False stops

    >>> run = pg.simulate("fourbar_sanjurjo", until=2, seed=1)
    >>> readings = {name: (m.t, m.values) for name, m in run.measured.items()}
    >>> estimates = pg.observe("fourbar_sanjurjo", readings, smooth=True)
    >>> theta, sigma = estimates["theta"], estimates.sigma["theta"]
    """
    if log is not None:
        core = as_model(study)._ready()
        if _is_kinematic(settings):
            assert settings is not None
            _refuse(
                sensors=sensors is not None,
                lag=lag != 0.1,
                restart=restart != "never",
                smooth=smooth is not False,
            )
            with _shown_progress(progress) as watch:
                return _observe(
                    core,
                    _log(log, core),
                    _wanted_kinematic(settings, filter, gate, dt),
                    outputs,
                    watch,
                )
        later = None if smooth is False else float("inf") if smooth is True else float(smooth)
        if later is not None and later < 0:
            raise ValueError("smooth: expected a time of zero or more")
        with _shown_progress(progress) as watch:
            found, notes = _core.observe_log(
                core,
                _log(log, core),
                _wanted(settings, sensors, filter, gate),
                list(outputs),
                lag,
                dt,
                restart,
                later,
                watch,
            )
        warn(notes, stacklevel=2)
        found["sensors"] = {name: SensorSummary(**s) for name, s in found["sensors"].items()}
        return Estimates(**found, warnings=notes)
    if isinstance(study, Model):
        raise ValueError("log: what was measured is missing; a study is a file or a dictionary")
    spec = _spec(study, 2)
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


def _tuning(found: dict[str, Any], notes: list[Diagnostic]) -> Tuning:
    found["start"] = InnovationTest(*found["start"])
    found["chosen"] = InnovationTest(*found["chosen"])
    found["points"] = [TunePoint(*p) for p in found["points"]]
    found["settings"] = found["settings"].to_dict()
    return Tuning(**found, warnings=notes)


def tune(
    study: Model | Mapping[str, Any] | str | os.PathLike[str],
    log: Log | None = None,
    *,
    filter: str | None = None,
    sensors: Sensors | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    tune_sensors: bool = False,
    lag: float = 0.1,
    dt: float = 0,
    threads: int | None = None,
    progress: bool | Callable[[float], Any] = False,
) -> Tuning | list[Tuning]:
    """Noise of a filter under which the readings of a log are most likely, with their whiteness.

    Arguments as those of ``observe``; ``tune_sensors``: the sensors' standard deviations too.
    Without a log, ``study`` is a twin study, and every filter of it is tuned with every set of
    sensors and error on the readings of its first noise sequence at its first rate.

    >>> run = pg.simulate("fourbar_sanjurjo", until=2, seed=1)
    >>> readings = {"crank_encoder": (run.measured["crank_encoder"].t, run.measured["crank_encoder"].values)}
    >>> tuning = pg.tune("fourbar_sanjurjo", readings, filter="error_ekf_ej")
    >>> estimates = pg.observe("fourbar_sanjurjo", readings, settings=tuning.settings)
    """
    if log is None:
        if isinstance(study, Model):
            raise ValueError("log: what was measured is missing; a study is a file or a dictionary")
        with _shown_progress(progress) as watch:
            all_found, notes = _core.tune_study(_spec(study, 2), threads, watch)
        warn(notes, stacklevel=2)
        return [_tuning(found, notes) for found in all_found]
    core = as_model(study)._ready()
    with _shown_progress(progress) as watch:
        found, notes = _core.tune_log(
            core,
            _log(log, core),
            _wanted(settings, sensors, filter),
            tune_sensors,
            lag,
            dt,
            threads or 0,
            watch,
        )
    warn(notes, stacklevel=2)
    return _tuning(found, notes)


def advise(
    model: Model | str | os.PathLike[str],
    *,
    candidates: Sensors | None = None,
    largest: int = 1,
    filter: str | None = None,
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    dt: float = 0,
    until: float = 0,
    spare: int = 0,
    threads: int = 0,
    progress: bool | Callable[[float], Any] = False,
) -> Advice | KinematicAdvice:
    """Sets of sensors ranked by what a filter would know with them along the model's motion.

    candidates: sensors and outputs to choose from, as ``sensors`` of ``observe``; default: all
    largest:    sets of up to so many
    dt, until:  step and length of the motion [s]; default: 0.005, the model's length
    filter, settings, threads, progress: as those of ``observe``

    With settings of a kinematic observer, its inputs and sensors are checked, and sets of inputs
    and positions ranked; ``spare``: inputs beyond the degrees of freedom. It follows the model's
    own motion: no largest, until, threads.

    >>> best = pg.advise("fourbar_sanjurjo", filter="dekf").sets[0]
    >>> best.sensors
    ['crank_encoder']
    >>> pg.advise("slider_crank", settings={"kinematic": {"dt": 0.002}}).check.exists
    False
    """
    core = as_model(model)._ready()
    if _is_kinematic(settings):
        assert settings is not None
        _refuse(largest=largest != 1, until=until != 0, threads=threads != 0)
        named = None
        if candidates is not None:
            named = _spec({"kinematic": {"inputs": _sensor_list(candidates)}}, 2)
        return _advise(core, _wanted_kinematic(settings, filter, 0, dt or 0), named, spare)
    if spare:
        raise ValueError("spare: only with settings of a kinematic observer")
    with _shown_progress(progress) as watch:
        sets, complete, notes = _core.advise(
            core, _wanted(settings, candidates, filter), largest, dt or 0.005, until, threads, watch
        )
    warn(notes, stacklevel=2)
    return Advice([RankedSet(*s) for s in sets], complete, notes)


class Observer:
    """An observer of a machine that takes its readings one by one.

    Arguments as those of ``observe`` with a log; ``restart`` is "present", since a machine that
    runs cannot wait. ``units`` are those of the quantities.

    >>> observer = pg.Observer("fourbar_sanjurjo", filter="error_ekf_ej")
    >>> estimate = observer.step(0.0, {"crank_encoder": 1.05})
    >>> estimate = observer.step(0.005, {"crank_encoder": 1.05, "crank_gyro": -0.02})
    >>> theta, sigma = estimate["theta"], estimate.sigma["theta"]
    """

    def __init__(
        self,
        model: Model | str | os.PathLike[str],
        *,
        filter: str | None = None,
        sensors: Sensors | None = None,
        outputs: Sequence[str] = (),
        settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        gate: float = 0,
        lag: float = 0.1,
        dt: float = 0,
        restart: str = "present",
    ) -> None:
        self._stream = _core.Stream(
            as_model(model)._ready(),
            _wanted(settings, sensors, filter, gate),
            list(outputs),
            lag,
            dt,
            restart,
        )
        self.units: dict[str, str] = dict(self._stream.quantities)
        self._names = list(self.units)
        self._sensors = list(self._stream.sensors)
        self._inputs = self._stream.inputs

    def step(
        self, t: float, readings: Mapping[str, float], inputs: Mapping[str, float] | None = None
    ) -> Estimate:
        """To the readings [SI] of time ``t`` [s]; inputs [SI] hold until others come.

        Readings that come late, up to the lag, are put in their place. ValueError: older ones,
        stamps far ahead, unknown names; NumericalError: the filter failed.
        """
        t, values, sigma, innovations, innovation_sigma, nis = self._stream.step(
            t, self._row(readings, self._sensors, "sensor"), self._row(inputs or {}, self._inputs, "input")
        )
        return Estimate(
            t,
            dict(zip(self._names, values.tolist())),
            dict(zip(self._names, sigma.tolist())),
            dict(zip(self._sensors, innovations.tolist())),
            dict(zip(self._sensors, innovation_sigma.tolist())),
            nis,
        )

    @property
    def sensors(self) -> dict[str, SensorSummary]:
        """What became of the readings that have left the lag."""
        return {name: SensorSummary(**s) for name, s in self._stream.sensors.items()}

    @property
    def lost(self) -> int:
        """How often the innovations were too large for long."""
        return self._stream.lost

    @property
    def restarts(self) -> int:
        """How often the filter was started again."""
        return self._stream.restarts

    @staticmethod
    def _row(values: Mapping[str, float], names: list[str], kind: str) -> np.ndarray:
        row = np.full(len(names), np.nan)
        for name, value in values.items():
            if name not in names:
                raise ValueError(f"{name!r} is no {kind} in use ({', '.join(names)})")
            row[names.index(name)] = value
        return row
