"""Report pages: how a mechanism moves, and what to read off it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _core
from ._model import Model, as_model
from ._run import Run, read_run, scale


def view(
    run_or_model: Run | Model | str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    with_: Run | str | os.PathLike[str] | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    deformation: float | None = None,
) -> str:
    """Writes the report page of a run or a model and returns where it is.

    run_or_model: a run, a model, a result file (.h5, .hdf5, .csv) or what ``load`` takes
    path:         the HTML file; default: named after the model, in the current folder
    with_:        a second run, laid over the first
    set:          parameters of a model to replace, as in ``load``
    deformation:  of beams: how many times larger than they are elastic displacements are drawn at
                  first; 1 is true to nature, default: so that they are seen

    One self-contained file that opens from the disk without a network.
    """
    item = _run_of(run_or_model)
    if item is not None:
        if set:
            raise ValueError("set changes a model; a run keeps the numbers it was made with")
        second = None
        if with_ is not None:
            second = with_ if isinstance(with_, Run) else read_run(with_)
        html, name = item.to_html(second, deformation), item.model
    else:
        if with_ is not None:
            raise ValueError("with_ lays a second run over a run, not over a model")
        model = as_model(run_or_model, set)
        html, name = _core.model_html(model._ready(), scale(deformation)), model.name
    path = os.fspath(path) if path is not None else f"{name or 'report'}.html"
    _core.write_text(path, html)
    return path


def _run_of(item: Run | Model | str | os.PathLike[str]) -> Run | None:
    if isinstance(item, (Run, Model)):
        return item if isinstance(item, Run) else None
    is_run = os.path.splitext(os.fspath(item))[1].lower() in (".h5", ".hdf5", ".csv")
    return read_run(item) if is_run else None
