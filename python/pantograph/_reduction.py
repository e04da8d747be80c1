"""Model reduction: the smallest linear model that is still right where it matters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _core, _html
from ._errors import Diagnostic, warn
from ._model import Model, _caller, as_model
from ._tasks import _pose, _shown_progress


@dataclass(frozen=True)
class ReducedMode:
    """A mode that was asked for, and how well it is kept; errors are relative [1]."""

    mode: int  #: of the full system, from 1, rigid ones counted
    frequency: float  #: [Hz]
    frequency_error: float
    nco: float  #: normalised cross-orthogonality (RED-9)


@dataclass(frozen=True, eq=False)
class ModeRanking:
    """One ranking of interior modes: how good models of growing size are; errors are relative [1]."""

    name: str  #: "imr", "ebr" or "sbe"
    needed: int | None  #: size at which the tolerance is met
    order: list[int]  #: interior modes from 1, most important first
    coefficient: np.ndarray = field(repr=False)  #: by interior mode
    size: np.ndarray = field(repr=False)  #: of a model; the arrays below belong to it
    epsilon: np.ndarray = field(repr=False)  #: a-priori truncation error (RED-8); NaN without modes
    frequency_error: np.ndarray = field(repr=False)  #: worst of the modes asked for
    nco: np.ndarray = field(repr=False)  #: smallest of them
    mac: np.ndarray = field(repr=False)  #: of the forced response (RED-11); NaN without forces
    gain_error: np.ndarray = field(repr=False)


@dataclass(frozen=True, repr=False, eq=False)
class Reduction:
    """A reduced system M ÿ + C ẏ + K y = f [SI], with its way back: x = basis y."""

    name: str
    dofs: list[str]  #: of x
    names: list[str]  #: of y: masters, then interior modes ("mode 7")
    masters: list[str]
    kept: list[int]  #: interior modes from 1, in the order of the ranking
    M: np.ndarray
    K: np.ndarray
    C: np.ndarray | None
    basis: np.ndarray
    interior_hz: np.ndarray  #: of all interior modes that were computed [Hz]
    rigid: int  #: motions without strain energy
    unseen: float  #: part of ε that modes never computed hold
    modes: list[ReducedMode]
    rankings: dict[str, ModeRanking]  #: the chosen one first
    warnings: list[Diagnostic] = field(default_factory=list)
    _core: _core.Reduced | None = None
    _model: Model | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """Degrees of freedom of the reduced system."""
        return len(self.names)

    def expand(self, y: ArrayLike) -> np.ndarray:
        """Physical coordinates x of reduced ones, one state per column [m, rad]."""
        return self.basis @ np.asarray(y, dtype=float)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the HDF5 file (.h5, .hdf5) of ``panto reduce -o`` and those beside it (docs/reduce.md).

        A name that ends with .toml: the model file with these masters and modes, a mechanism.
        """
        path = os.fspath(path)
        ending = os.path.splitext(path)[1]
        if ending not in (".h5", ".hdf5", ".toml"):
            raise ValueError(f"{path}: a reduction is saved as .h5, .hdf5 or .toml")
        if ending != ".toml":
            warn(self._core.write(path), stacklevel=2)
            return
        if self._model is None:
            raise ValueError(f"{path}: only the reduction of a model can be a model file")
        text, notes = _core.reduced_model(self._model._spec, self._model._ready(), self._core)
        _core.write_text(path, text)
        warn(notes, stacklevel=2)

    def view(self, path: str | os.PathLike[str]) -> str:
        """Writes the report page: error by size for every ranking; returns where it is."""
        _core.write_text(os.fspath(path), self._core.html())
        return os.fspath(path)

    def __repr__(self) -> str:
        sizes = f"{len(self.dofs)} -> {self.size} degrees of freedom"
        return f"<pantograph.Reduction: {self.name}, {sizes}>"

    def _repr_html_(self) -> str:
        """For notebooks: sizes by ranking, and the modes."""
        sizes = [(r.name, "-" if r.needed is None else r.needed) for r in self.rankings.values()]
        modes = [(m.mode, m.frequency, 100 * m.frequency_error, m.nco) for m in self.modes]
        return _html.section(
            f"{self.name}: {len(self.dofs)} -> {self.size}",
            _html.table(("ranking", "size needed"), sizes),
            _html.table(("mode", "frequency [Hz]", "error [%]", "NCO"), modes),
        )


def reduce(
    system: Model | Mapping[str, Any] | str | os.PathLike[str] | tuple[Any, ...],
    masters: Sequence[str] | str | None = None,
    *,
    rank: str | None = None,
    modes: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    band: Sequence[float | str] | None = None,
    forces: Sequence[Mapping[str, Any]] | None = None,
    tolerance: float | str | None = None,
    mac: float | None = None,
    damping: float | None = None,
    sample: str | None = None,
    candidates: int | None = None,
    keep: int | None = None,
    at: Mapping[str, float] | None = None,
    where: str | None = None,
    dofs: Sequence[str] | None = None,
    progress: bool | Callable[[float], Any] = False,
) -> Reduction:
    """The smallest linear model that keeps chosen modes, a band or forced responses.

    system:     a model (linearised ``at`` a pose, as in ``linearize``), a study (file or
                dictionary, docs/reduce.md, with a ``Model`` too), a CalculiX job (.inp), or
                matrices (M, K) or (M, K, C): arrays, scipy's sparse matrices, or names of
                Matrix Market files
    at, where:  of a model alone, or of a ``Model`` in a dictionary
    masters:    degrees of freedom, nodes or sets that stay
    rank:       "imr" for modes, "ebr" for forces (defaults), "sbe": lowest frequency first
    modes:      to keep, by number from 1, rigid ones counted; ``weights``: one per mode
    band:       or all elastic modes between two frequencies [Hz], or texts with a unit
    forces:     periodic forces on masters: {"at": [names], "frequency": [Hz],
                "amplitude": [N, N m], "phase": [rad]}
    tolerance:  relative error allowed (0.01), or "1%"; mac: of forced responses (0.999)
    damping:    structural damping ratio of forced responses; sample: master that is compared
    candidates: interior modes to choose from; keep: a number to keep, whatever the tolerance
    dofs:       names for the rows of arrays; default: "d1", "d2", …
    progress:   True: a line on standard error; or a function of the fraction done: False stops

    What is given here stands over what a study says.

    >>> found = pg.reduce("flexible_pendulum", ["beam.n9"], band=(0, 100), where="here")
    >>> found.size < len(found.dofs)
    True
    """
    core, options, notes, model = _source(system, at, where, dofs)
    given = {
        "masters": masters,
        "rank": rank,
        "modes": modes,
        "weights": weights,
        "band": band,
        "force": forces,
        "tolerance": tolerance,
        "mac": mac,
        "damping": damping,
        "sample": sample,
        "candidates": candidates,
        "keep": keep,
    }
    changes = {name: _plain(value) for name, value in given.items()}
    options = options.changed(_core.Spec(changes, *_caller()))
    with _shown_progress(progress) as watch:
        reduced, found, more = _core.reduce(core, options, watch)
    notes = [*notes, *more]
    warn(notes, stacklevel=2)
    found["modes"] = [ReducedMode(*row) for row in found["modes"]]
    found["rankings"] = {row["name"]: ModeRanking(**row) for row in found["rankings"]}
    return Reduction(**found, warnings=notes, _core=reduced, _model=model)


def _source(
    system: Any, at: Mapping[str, float] | None, where: str | None, dofs: Sequence[str] | None
) -> tuple[_core.LinearSystem, _core.ReduceOptions, list[Diagnostic], Model | None]:
    options = _core.ReduceOptions()

    def no_pose(kind: str) -> None:
        if at is not None or where is not None:
            raise ValueError(f"at and where are for a model, not for {kind}")

    def no_names(kind: str) -> None:
        if dofs is not None:
            raise ValueError(f"dofs are names for the rows of arrays, not for {kind}")

    if isinstance(system, tuple):
        if len(system) not in (2, 3):
            raise ValueError("system: expected (M, K) or (M, K, C)")
        no_pose("matrices")
        if all(isinstance(part, (str, os.PathLike)) for part in system):
            no_names("files, which name their own")
            names = [os.fspath(part) for part in system]
            return _core.read_matrices(names[0], names[1], (*names, "")[2]), options, [], None
        entries = [_entries(part) for part in system]
        made = _core.linear_system_of_matrices(*(*entries, None)[:3], list(dofs or ()), "matrices")
        return made, options, [], None
    no_names("a model, a study or a job")
    if isinstance(system, Mapping):
        description = dict(system)
        model = description.get("model")
        if isinstance(model, Model):
            description["model"] = model.name or "model"
            posed = _core.reduce_posed_study(_core.Spec(description, *_caller(3)))
            options, pose, operation, settings = posed
            if settings:
                model = model._with_overrides(dict(settings))
            pose = pose if at is None else _pose(at)
            made, notes = _core.linear_system_of_model(model._ready(), pose, where or operation)
            return made, options, notes, model
        no_pose("a study, which has them as keys")
        return (*_core.reduce_study(_core.Spec(description, *_caller(3))), None)
    if not isinstance(system, Model):
        path = os.fspath(system)
        ending = os.path.splitext(path)[1].lower()
        if ending in (".inp", ".sti", ".mas", ".dof"):
            no_pose("a CalculiX job")
            return _core.read_calculix(path), options, [], None
        if ending == ".toml":
            study = _core.read_study(path)
            if _core.is_reduce_study(study):
                no_pose("a study, which has them as keys")
                return (*_core.reduce_study(study), None)
    model = as_model(system)
    made, notes = _core.linear_system_of_model(model._ready(), _pose(at), where or "equilibrium")
    return made, options, notes, model


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (str, np.ndarray)) or not isinstance(value, Iterable):
        return value
    return [_plain(item) for item in value]


def _entries(matrix: Any) -> _core.MatrixEntries:
    if hasattr(matrix, "tocoo"):
        sparse = matrix.tocoo()
        rows, columns, values, shape = sparse.row, sparse.col, sparse.data, sparse.shape
    else:
        dense = np.asarray(matrix)
        if not np.iscomplexobj(dense):
            dense = dense.astype(float)
        shape = dense.shape
        rows, columns = np.nonzero(dense) if dense.ndim == 2 else ((), ())
        values = dense[rows, columns] if dense.ndim == 2 else ()
    if np.iscomplexobj(values):
        raise ValueError(
            "system: matrices are real, got complex ones (structural damping is the option "
            "damping)"
        )
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"system: matrices are square, got one of shape {shape}")
    return _core.MatrixEntries(
        shape[0], list(map(int, rows)), list(map(int, columns)), list(map(float, values))
    )
