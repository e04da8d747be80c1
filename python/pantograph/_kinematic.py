"""Observers by kinematics alone, and unknown forces behind them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._errors import Diagnostic, warn
from ._model import Model, as_model


@dataclass(frozen=True)
class ChannelSummary:
    """What became of a channel's readings; ``rms`` of the innovations [unit of the sensor]."""

    role: str  #: "input", "sensor" or "force"
    none: int  #: no reading came
    used: int
    held: int  #: of inputs: the last good one stood in
    not_finite: int
    saturated: int
    frozen: int
    rejected: int  #: by the gate
    rms: float  #: of sensors
    nis: float  #: mean square of the innovations in standard deviations: 1 is right


@dataclass(frozen=True)
class KinematicCounts:
    """Steps, passages of the singular zone, restarts, stamps that could not be used."""

    steps: int
    crossings: int
    restarts: int
    repeated: int
    backward: int
    jumps: int


@dataclass(frozen=True, eq=False)
class KinematicEstimates:
    """What a kinematic observer made of a log; times [s], quantities [``units``].

    ``estimates["theta"]`` is short for ``estimates.values["theta"]``.
    """

    model: str
    filter: str
    t: np.ndarray  #: [s]
    values: dict[str, np.ndarray]
    sigma: dict[str, np.ndarray]  #: standard deviations; NaN: not known
    units: dict[str, str]
    innovations: dict[str, np.ndarray]  #: by sensor; NaN: no reading, or left out
    innovation_sigma: dict[str, np.ndarray]
    nis: np.ndarray
    readings: dict[str, np.ndarray]  #: by channel: "used", "held", "frozen", "rejected", …
    zone: np.ndarray  #: where the inputs did not determine the motion
    channels: dict[str, ChannelSummary]
    counts: KinematicCounts
    nis_mean: float  #: per reading, 1: consistent
    enter: float  #: thresholds of the zone
    leave: float
    complete: bool
    warnings: list[Diagnostic] = field(default_factory=list)

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self.values[name]
        except KeyError:
            raise KeyError(f"{name!r} is not estimated; there are {', '.join(self.values)}") from None

    def __repr__(self) -> str:
        return f"<KinematicEstimates of {self.model!r} by {self.filter}: {len(self.t)} times>"


@dataclass(frozen=True)
class KinematicEstimate:
    """State at one time [s]; quantities in the units of the observer."""

    t: float
    values: dict[str, float]
    sigma: dict[str, float]  #: standard deviations; NaN: not known
    innovations: dict[str, float]  #: by sensor; NaN: no reading, or left out
    innovation_sigma: dict[str, float]
    nis: float  #: of the readings at ``t``; NaN: none
    readings: dict[str, str]  #: by channel, what became of the reading
    zone: bool  #: the inputs did not determine the motion
    restarted: bool
    stamp: str  #: "good"; "repeated", "backward", "jump": nothing was done

    def __getitem__(self, name: str) -> float:
        return self.values[name]


@dataclass(frozen=True)
class FailingPoses:
    """A part of a motion [s] where the inputs do not determine it."""

    begin: float
    end: float
    worst: float
    margin: float  #: 1/|S⁺| at the worst
    pose: dict[str, float]  #: coordinates [SI] there


@dataclass(frozen=True)
class KinematicCheck:
    """Whether inputs determine a motion and sensors the state; deviations [SI]."""

    inputs: list[str]
    sensors: list[str]
    exists: bool  #: everywhere
    observable: bool
    median_margin: float  #: of 1/|S⁺| along the motion
    least_margin: float
    enter: float  #: thresholds that keep out of the failing poses
    leave: float
    failing: list[FailingPoses]
    failing_share: float  #: of the motion
    rank: int  #: of the observability matrix, out of ``states``
    states: int
    median: float  #: log10 of its condition number
    worst: float
    deviations: dict[str, float]  #: that the filter would have, by state
    words: str


@dataclass(frozen=True)
class KinematicAdvice:
    """The check of a settings' sensors, and sets of candidates, best first."""

    degrees_of_freedom: int
    needed: str  #: how many sensors of which kind
    check: KinematicCheck | None  #: None: no sensors that could do
    sets: list[KinematicCheck]


def _spec_of(
    settings: Mapping[str, Any] | str | os.PathLike[str], depth: int
) -> tuple[_core.Spec, dict[str, Callable[[float, float, float], float]]]:
    """Description, and the laws in it that are functions."""
    from ._estimation import _spec

    laws: dict[str, Callable[[float, float, float], float]] = {}
    if isinstance(settings, Mapping) and isinstance(settings.get("forces"), Mapping):
        forces = dict(settings["forces"])
        unknown = []
        for force in forces.get("unknown", []):
            if isinstance(force, Mapping) and callable(force.get("law")):
                laws[force["name"]] = force["law"]
                force = {key: value for key, value in force.items() if key != "law"}
            unknown.append(force)
        if unknown:
            forces["unknown"] = unknown
        settings = {**settings, "forces": forces}
    return _spec(settings, depth + 1), laws


def _wanted_kinematic(
    settings: Mapping[str, Any] | str | os.PathLike[str],
    filter: str | None,
    gate: float,
    dt: float,
) -> _core.KinematicWanted:
    if not 0 <= gate < 1:
        raise ValueError("gate: expected a probability between 0 and 1, 0.999 say")
    spec, laws = _spec_of(settings, 3)
    return _core.KinematicWanted(spec, filter, gate, dt, laws)


def _check(found: dict[str, Any]) -> KinematicCheck:
    return KinematicCheck(**{**found, "failing": [FailingPoses(*f) for f in found["failing"]]})


def _observe(
    core: _core.Model,
    log: str | list[tuple[str, np.ndarray, np.ndarray]],
    wanted: _core.KinematicWanted,
    outputs: Sequence[str],
    watch: Callable[[float], Any] | None,
) -> KinematicEstimates:
    found, notes = _core.observe_kinematic(core, log, wanted, list(outputs), watch)
    warn(notes, stacklevel=3)
    found["readings"] = {name: np.array(words) for name, words in found["readings"].items()}
    found["zone"] = found["zone"] > 0
    found["channels"] = {name: ChannelSummary(**c) for name, c in found["channels"].items()}
    found["counts"] = KinematicCounts(**found["counts"])
    return KinematicEstimates(**found, warnings=notes)


def _advise(
    core: _core.Model, wanted: _core.KinematicWanted, candidates: _core.Spec | None, spare: int
) -> KinematicAdvice:
    found = _core.advise_kinematic(core, wanted, candidates, spare)
    return KinematicAdvice(
        found["degrees_of_freedom"],
        found["needed"],
        None if found["check"] is None else _check(found["check"]),
        [_check(s) for s in found["sets"]],
    )


class KinematicObserver:
    """An observer by kinematics alone that takes the readings of a machine one by one.

    settings:   a file with a table [kinematic], or a dictionary with its structure
    outputs:    outputs of the model to estimate; default: all that are no sensors
    filter, gate, dt: as those of ``observe``, before the settings

    ``units`` are those of the quantities, ``channels`` says what became of the readings.

    >>> observer = pg.KinematicObserver("slider_crank", settings={"kinematic": {"dt": 0.002}})
    >>> estimate = observer.step(0.0, {"slider_accelerometer": -86.4, "crank_encoder": 0.0})
    >>> estimate = observer.step(0.002, {"slider_accelerometer": -86.2, "crank_encoder": 0.024})
    >>> theta, sigma = estimate["theta"], estimate.sigma["theta"]
    """

    _forces = False

    def __init__(
        self,
        model: Model | str | os.PathLike[str],
        *,
        settings: Mapping[str, Any] | str | os.PathLike[str],
        outputs: Sequence[str] = (),
        filter: str | None = None,
        gate: float = 0,
        dt: float = 0,
    ) -> None:
        self._stream = _core.KinematicStream(
            as_model(model)._ready(), _wanted_kinematic(settings, filter, gate, dt), list(outputs)
        )
        warn(self._stream.warnings, stacklevel=2)
        if (len(self._stream.unknown) > 0) != self._forces:
            raise ValueError(
                "settings: a TwoStageObserver needs [forces]"
                if self._forces
                else "settings with [forces] are those of a TwoStageObserver"
            )
        self.units: dict[str, str] = dict(self._stream.quantities)
        self._names = list(self.units)
        channels = self._stream.channels
        self._channels = list(channels)
        self._sensors = [name for name, c in channels.items() if c["role"] == "sensor"]

    def start(
        self,
        t: float,
        readings: Mapping[str, float],
        q: Sequence[float] | np.ndarray | None = None,
        v: Sequence[float] | np.ndarray | None = None,
    ) -> KinematicEstimate:
        """At the model's initial state, or at coordinates ``q`` and speeds ``v`` [SI].

        t: time [s]; readings: by channel [SI]. The first ``step`` does the same at the initial state.
        """
        return self._estimate(self._stream.start(t, self._row(readings), q, v))

    def step(self, t: float, readings: Mapping[str, float]) -> KinematicEstimate:
        """To the readings [SI] of time ``t`` [s]: inputs, sensors and measured forces by name.

        What is missing or NaN did not come. Stamps that are not later do nothing: ``stamp`` says so.
        """
        return self._estimate(self._stream.step(t, self._row(readings)))

    @property
    def q(self) -> np.ndarray:
        """All coordinates [rad, m]."""
        return self._stream.q

    @property
    def v(self) -> np.ndarray:
        """All speeds [rad/s, m/s]."""
        return self._stream.v

    @property
    def a(self) -> np.ndarray:
        """All accelerations [rad/s², m/s²]; zero of a first-order model and where nothing is known."""
        return self._stream.a

    @property
    def channels(self) -> dict[str, ChannelSummary]:
        """What became of the readings."""
        return {name: ChannelSummary(**c) for name, c in self._stream.channels.items()}

    @property
    def counts(self) -> KinematicCounts:
        """Steps, passages of the singular zone, restarts and bad stamps."""
        return KinematicCounts(**self._stream.counts)

    def _row(self, readings: Mapping[str, float]) -> np.ndarray:
        row = np.full(len(self._channels), np.nan)
        for name, value in readings.items():
            if name not in self._channels:
                raise ValueError(f"{name!r} is no channel in use ({', '.join(self._channels)})")
            row[self._channels.index(name)] = value
        return row

    def _estimate(self, found: tuple[Any, ...]) -> KinematicEstimate:
        t, values, sigma, innovations, innovation_sigma, nis, readings, zone, restarted, stamp = found
        return KinematicEstimate(
            t,
            dict(zip(self._names, values.tolist())),
            dict(zip(self._names, sigma.tolist())),
            dict(zip(self._sensors, innovations.tolist())),
            dict(zip(self._sensors, innovation_sigma.tolist())),
            nis,
            dict(zip(self._channels, readings)),
            zone,
            restarted,
            stamp,
        )


class TwoStageObserver(KinematicObserver):
    """A kinematic observer and unknown forces behind it; ``settings`` have a table [forces].

    The law of an unknown force may be a function of time [s], step [s] and force [N, N m], which
    gives the force after the step.

    >>> settings = {"kinematic": {}, "forces": {"unknown": [{"name": "F", "walk": 100}]}}
    >>> observer = pg.TwoStageObserver("slider_crank", settings=settings)
    >>> readings = {"slider_accelerometer": -86.4, "crank_encoder": 0.0, "torque_meter": 0.0}
    >>> estimate = observer.step(0.0, readings)
    >>> force, sigma = estimate["force F"], estimate.sigma["force F"]
    """

    _forces = True

    @property
    def forces(self) -> np.ndarray:
        """Unknown forces [N, N m] and payloads [kg], in the order of the settings."""
        return self._stream.unknown
