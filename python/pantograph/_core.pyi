from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._errors import Diagnostic

__version__: str

class Spec:
    def __init__(self, description: dict[str, Any], file: str, line: int) -> None: ...
    def append(self, list: str, item: dict[str, Any], file: str, line: int) -> None: ...
    def merge(self, table: str, members: dict[str, Any], file: str, line: int) -> None: ...
    def copy(self) -> Spec: ...
    def to_dict(self) -> dict[str, Any]: ...
    def compile(self, overrides: list[tuple[str, str]]) -> Model: ...
    def to_toml(self, model: Model) -> str: ...
    @property
    def file(self) -> str: ...

class Model:
    def with_parameters(self, values: list[tuple[str, float]]) -> Model: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def space(self) -> str: ...
    @property
    def coordinates(self) -> dict[str, str]: ...
    @property
    def speeds(self) -> dict[str, str]: ...
    @property
    def bodies(self) -> list[str]: ...
    @property
    def joints(self) -> dict[str, str]: ...
    @property
    def constraints(self) -> dict[str, str]: ...
    @property
    def forces(self) -> dict[str, str]: ...
    @property
    def inputs(self) -> dict[str, str]: ...
    @property
    def outputs(self) -> dict[str, str]: ...
    @property
    def parameter_units(self) -> dict[str, str]: ...
    @property
    def parameter_values(self) -> np.ndarray: ...

class Run:
    @property
    def model(self) -> str: ...
    @property
    def integrator(self) -> str: ...
    @property
    def complete(self) -> bool: ...
    @property
    def stopped_by(self) -> str: ...
    @property
    def model_text(self) -> str: ...
    @property
    def settings(self) -> list[str]: ...
    @property
    def units(self) -> dict[str, str]: ...
    @property
    def t(self) -> np.ndarray: ...
    @property
    def outputs(self) -> dict[str, np.ndarray]: ...
    @property
    def q(self) -> dict[str, np.ndarray]: ...
    @property
    def v(self) -> dict[str, np.ndarray]: ...
    @property
    def a(self) -> dict[str, np.ndarray]: ...
    @property
    def lam(self) -> dict[str, np.ndarray]: ...
    @property
    def measured(self) -> dict[str, tuple[np.ndarray, np.ndarray, str]]: ...
    @property
    def energy(self) -> dict[str, Any]: ...
    @property
    def violation(self) -> tuple[float, float]: ...
    @property
    def stats(self) -> dict[str, Any]: ...

def residual(
    model: Model,
    t: float,
    q: ArrayLike,
    v: ArrayLike | None,
    a: ArrayLike | None,
    lam: ArrayLike | None,
    u: ArrayLike | None,
) -> dict[str, np.ndarray]: ...
def tangent(
    model: Model,
    t: float,
    q: ArrayLike,
    v: ArrayLike | None,
    a: ArrayLike | None,
    lam: ArrayLike | None,
    u: ArrayLike | None,
    by: list[str],
    theta: list[int],
    outputs: bool,
) -> dict[str, np.ndarray]: ...
def forward_dynamics(
    model: Model, t: float, q: ArrayLike, v: ArrayLike, u: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]: ...
def reactions(
    model: Model,
    t: float,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike | None,
    lam: ArrayLike | None,
    u: ArrayLike | None,
) -> dict[str, tuple[np.ndarray, np.ndarray]]: ...
def mass_matrix(model: Model, q: ArrayLike) -> np.ndarray: ...
def constraint_jacobian(model: Model, t: float, q: ArrayLike) -> np.ndarray: ...
def energy(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[float, float]: ...
def initial_state(
    model: Model, t: float, guess: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]: ...
def check(model: Model) -> tuple[dict[str, Any], list[Diagnostic]]: ...
def equilibrium(
    model: Model, t: float, guess: ArrayLike | None
) -> tuple[dict[str, Any], list[Diagnostic]]: ...
def inverse_dynamics(
    model: Model, t: ArrayLike, q: ArrayLike, v: ArrayLike, a: ArrayLike, actuators: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]: ...
def inverse_motion(
    model: Model,
    t: ArrayLike,
    motion: list[tuple[str, ArrayLike, ArrayLike | None, ArrayLike | None]],
    actuators: list[int],
) -> tuple[dict[str, Any], list[Diagnostic]]: ...
def simulate(
    model: Model,
    until: float | None,
    dt: float | None,
    tol: float | None,
    integrator: str | None,
    at: list[float],
    sample: float | None,
    stop: tuple[str, float, int] | None,
    q: list[float],
    v: list[float],
    seed: int | None,
    model_text: str,
    settings: list[str],
    progress: Callable[[float], Any] | None,
) -> tuple[Run, list[Diagnostic]]: ...
def integrators() -> list[tuple[str, str, float, bool, bool]]: ...
def read_spec(name: str) -> Spec: ...
def text_of(spec: Spec) -> str: ...
def json_schema() -> str: ...
def linearize(
    model: Model, at: list[tuple[str, float]], where: str, t: float
) -> tuple[dict[str, Any], list[Diagnostic]]: ...
def linearize_along(
    model: Model,
    run: Run | None,
    at: list[tuple[str, float]],
    until: float | None,
    sample: float | None,
    tol: float | None,
) -> tuple[dict[str, Any], list[Diagnostic]]: ...
def modes(
    model: Model,
    at: list[tuple[str, float]],
    where: str,
    t: float,
    count: int,
    view: bool,
    deformation: float | None,
) -> tuple[dict[str, Any], list[Diagnostic], str | None]: ...
def poses(
    model: Model,
    parameters: list[str],
    ranges: list[tuple[str, float, float]],
    poses: int,
    samples: int,
    spread: float,
    damping: bool,
    local: bool,
    together: int,
    seed: int,
    threads: int,
    progress: Callable[[float], Any] | None,
) -> tuple[dict[str, Any], list[Diagnostic]]: ...
def read_study(path: str) -> Spec: ...
def study_model(study: Spec) -> tuple[Spec, list[tuple[str, str]], Model]: ...
def study_settings(study: Spec) -> list[tuple[str, str]]: ...
def identify(
    study: Spec,
    model: Model,
    method: str | None,
    starts: int | None,
    seed: int | None,
    threads: int | None,
    progress: Callable[[float], Any] | None,
) -> tuple[dict[str, Any], list[Diagnostic]]: ...
class FrequencyData:
    def __init__(
        self,
        responses: list[str],
        excitations: list[str],
        frequency_hz: np.ndarray,
        h: np.ndarray,
        coherence: np.ndarray | None,
        motion: str,
        window_decay: float,
    ) -> None: ...
    def write(self, path: str, positions: dict[str, np.ndarray]) -> None: ...

class ModalTest:
    def write(self, path: str) -> None: ...

class ImpactOptions:
    def __init__(
        self,
        points: list[str],
        hammer: list[str],
        body_axes: bool,
        rate: float,
        record: float,
        averages: int,
        peak: float,
        pulse: float,
        trigger: float,
        pretrigger: float,
        window: float,
        force_window: float,
        noise: float,
        hold: bool,
        damping: list[float],
        band: tuple[float, float] | None,
        seed: int,
        threads: int,
    ) -> None: ...

def read_responses(
    path: str, frames: dict[int, str]
) -> tuple[dict[str, Any], dict[str, np.ndarray], list[Diagnostic]]: ...
def ema(
    data: FrequencyData,
    band: tuple[float, float] | None,
    order: int,
    references: int,
    select: list[float],
    refine: int,
    progress: Callable[[float], Any] | None,
) -> tuple[dict[str, Any], list[Diagnostic], ModalTest]: ...
def impact(
    model: Model,
    at: list[tuple[str, float]],
    where: str,
    options: ImpactOptions,
    progress: Callable[[float], Any] | None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, np.ndarray], list[Diagnostic]]: ...
def update_study_model(study: Spec) -> tuple[Spec, list[tuple[str, str]], Model]: ...
def update_study_settings(study: Spec) -> list[tuple[str, str]]: ...
def update(
    study: Spec,
    model: Model,
    method: str | None,
    penalty: float | None,
    as_printed: bool | None,
    cross_validate: bool | None,
    threads: int | None,
    progress: Callable[[float], Any] | None,
) -> tuple[dict[str, Any], list[Diagnostic]]: ...

class MatrixEntries:
    def __init__(
        self, size: int, rows: list[int], columns: list[int], values: list[float]
    ) -> None: ...

class LinearSystem:
    @property
    def name(self) -> str: ...
    @property
    def dofs(self) -> list[str]: ...

class ReduceOptions:
    def __init__(self) -> None: ...
    def changed(self, changes: Spec) -> ReduceOptions: ...

class Reduced:
    def write(self, path: str) -> list[Diagnostic]: ...
    def html(self) -> str: ...

def reduced_model(
    spec: Spec, model: Model, reduced: Reduced
) -> tuple[str, list[Diagnostic]]: ...
def is_reduce_study(study: Spec) -> bool: ...
def reduce_study(study: Spec) -> tuple[LinearSystem, ReduceOptions, list[Diagnostic]]: ...
def reduce_posed_study(
    study: Spec,
) -> tuple[ReduceOptions, list[tuple[str, float]], str, list[tuple[str, str]]]: ...
def linear_system_of_model(
    model: Model, at: list[tuple[str, float]], where: str
) -> tuple[LinearSystem, list[Diagnostic]]: ...
def linear_system_of_matrices(
    M: MatrixEntries, K: MatrixEntries, C: MatrixEntries | None, dofs: list[str], name: str
) -> LinearSystem: ...
def read_matrices(mass: str, stiffness: str, damping: str) -> LinearSystem: ...
def read_calculix(job: str) -> LinearSystem: ...
def reduce(
    system: LinearSystem, options: ReduceOptions, progress: Callable[[float], Any] | None
) -> tuple[Reduced, dict[str, Any], list[Diagnostic]]: ...

class InvertStudy: ...

class InvertChanges:
    def __init__(
        self,
        output: list[str] | None,
        by: list[str] | None,
        to: list[float] | None,
        duration: float | None,
        step: float | None,
        method: str | None,
        form: str | None,
        smooth: int | None,
        until: float | None,
        verify: bool | None,
        force: bool | None,
        limits: list[tuple[str, float, float]] | None,
        ends: str | None,
        guess: str | None,
        before: float | None,
        after: float | None,
        clamp_begin: list[str] | None,
        clamp_end: list[str] | None,
        tolerance: float | None,
        redefine: list[str] | None,
        along: str | None,
        weight: float | None,
        solver: str | None,
    ) -> None: ...

class Inverted:
    def write(self, path: str) -> None: ...
    def html(self) -> str: ...

def is_invert_study(study: Spec) -> bool: ...
def invert_study(study: Spec) -> tuple[InvertStudy, list[Diagnostic]]: ...
def invert_study_of_model(
    study: Spec, model: Model, spec: Spec
) -> tuple[InvertStudy, list[Diagnostic]]: ...
def invert_model(model: Model, spec: Spec) -> tuple[InvertStudy, list[Diagnostic]]: ...
def invert(
    study: InvertStudy, changes: InvertChanges, progress: Callable[[float], Any] | None
) -> tuple[Inverted, dict[str, Any], list[Diagnostic]]: ...
def analyse_inverse(
    study: InvertStudy, changes: InvertChanges
) -> tuple[dict[str, Any], list[Diagnostic]]: ...
def observe(
    study: Spec,
    seeds: list[int] | None,
    threads: int | None,
    series: bool,
    progress: Callable[[float], Any] | None,
) -> tuple[dict[str, Any], list[Diagnostic]]: ...

class Wanted:
    def __init__(
        self, settings: Spec | None, sensors: Spec | None, filter: str | None, gate: float
    ) -> None: ...

class Stream:
    def __init__(
        self, model: Model, wanted: Wanted, outputs: list[str], lag: float, dt: float, restart: str
    ) -> None: ...
    def step(
        self, t: float, readings: ArrayLike, inputs: ArrayLike
    ) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]: ...
    @property
    def quantities(self) -> list[tuple[str, str]]: ...
    @property
    def sensors(self) -> dict[str, dict[str, Any]]: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def restarts(self) -> int: ...
    @property
    def lost(self) -> int: ...

def observe_log(
    model: Model,
    log: str | list[tuple[str, np.ndarray, np.ndarray]],
    wanted: Wanted,
    outputs: list[str],
    lag: float,
    dt: float,
    restart: str,
    smooth: float | None,
    progress: Callable[[float], Any] | None,
) -> tuple[dict[str, Any], list[Diagnostic]]: ...
def tune_log(
    model: Model,
    log: str | list[tuple[str, np.ndarray, np.ndarray]],
    wanted: Wanted,
    tune_sensors: bool,
    lag: float,
    dt: float,
    threads: int,
    progress: Callable[[float], Any] | None,
) -> tuple[dict[str, Any], list[Diagnostic]]: ...
def tune_study(
    study: Spec, threads: int | None, progress: Callable[[float], Any] | None
) -> tuple[list[dict[str, Any]], list[Diagnostic]]: ...
def advise(
    model: Model,
    wanted: Wanted,
    largest: int,
    dt: float,
    until: float,
    threads: int,
    progress: Callable[[float], Any] | None,
) -> tuple[list[tuple[Any, ...]], bool, list[Diagnostic]]: ...
def is_kinematic(settings: Spec) -> bool: ...

class KinematicWanted:
    def __init__(
        self,
        settings: Spec,
        filter: str | None,
        gate: float,
        dt: float,
        laws: dict[str, Callable[[float, float, float], float]],
    ) -> None: ...

def observe_kinematic(
    model: Model,
    log: str | list[tuple[str, np.ndarray, np.ndarray]],
    wanted: KinematicWanted,
    outputs: list[str],
    progress: Callable[[float], Any] | None,
) -> tuple[dict[str, Any], list[Diagnostic]]: ...
def advise_kinematic(
    model: Model, wanted: KinematicWanted, candidates: Spec | None, spare: int
) -> dict[str, Any]: ...

class KinematicStream:
    def __init__(self, model: Model, wanted: KinematicWanted, outputs: list[str]) -> None: ...
    def start(
        self, t: float, readings: ArrayLike, q: ArrayLike | None, v: ArrayLike | None
    ) -> tuple[Any, ...]: ...
    def step(self, t: float, readings: ArrayLike) -> tuple[Any, ...]: ...
    @property
    def quantities(self) -> list[tuple[str, str]]: ...
    @property
    def channels(self) -> dict[str, dict[str, Any]]: ...
    @property
    def counts(self) -> dict[str, int]: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...
    @property
    def q(self) -> np.ndarray: ...
    @property
    def v(self) -> np.ndarray: ...
    @property
    def a(self) -> np.ndarray: ...
    @property
    def unknown(self) -> np.ndarray: ...

def filters() -> list[tuple[str, str]]: ...
def zoo_names() -> list[str]: ...
def zoo_folder() -> str: ...
def write_run(run: Run, path: str, format: str) -> None: ...
def read_run(path: str) -> tuple[Run, list[Diagnostic]]: ...
def reproduce(
    what: str,
) -> tuple[
    list[tuple[str, str, float, float, str, float, bool, str, list[str]]], list[Diagnostic]
]: ...
def reproductions() -> dict[str, str]: ...
def run_html(
    run: Run, second: Run | None, deformation: float | None
) -> tuple[str, list[Diagnostic]]: ...
def model_html(model: Model, deformation: float | None) -> str: ...
def write_text(path: str, text: str) -> None: ...
def has_page() -> bool: ...


class Page:
    def html(self) -> str: ...


def bind_pages(title: str, pages: list[tuple[str, str, str]]) -> str: ...
