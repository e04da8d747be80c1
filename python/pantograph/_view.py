"""Report pages: how a mechanism moves, and what to read off it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._model import Model, as_model
from ._run import Run, read_run, scale


def view(
    run_or_model: Run | Model | str | os.PathLike[str] | Sequence[Any] | Mapping[str, Any],
    path: str | os.PathLike[str] | None = None,
    with_: Run | str | os.PathLike[str] | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    deformation: float | None = None,
    title: str = "",
) -> str:
    """Writes the report page of a run or a model and returns where it is.

    run_or_model: a run, a model, a result file (.h5, .hdf5, .csv) or what ``load`` takes; or pages
                  that are there (.html), bound to one: a list of files, or title -> file
    path:         the HTML file; default: named after the model, in the current folder
    with_:        a second run, laid over the first
    set:          parameters of a model to replace, as in ``load``
    deformation:  of beams: how many times larger than they are elastic displacements are drawn at
                  first; 1 is true to nature, default: so that they are seen
    title:        of pages that are bound

    One self-contained file that opens from the disk without a network.
    """
    if isinstance(run_or_model, (Mapping, list, tuple)) and not isinstance(run_or_model, Run):
        return _bound(run_or_model, path, title)
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


def _bound(pages: Any, path: str | os.PathLike[str] | None, title: str) -> str:
    if path is None:
        raise ValueError("path: where to write the bound page")
    named = pages.items() if isinstance(pages, Mapping) else [("", page) for page in pages]
    texts = []
    for chapter, page in named:
        with open(page, encoding="utf-8", newline="") as file:
            texts.append((os.fspath(page), chapter, file.read()))
    _core.write_text(os.fspath(path), _core.bind_pages(title, texts))
    return os.fspath(path)


class Paged:
    """A result with a report page."""

    _page: _core.Page

    def view(self, path: str | os.PathLike[str]) -> str:
        """Writes the report page, as ``--view`` of the program does; returns where it is."""
        _core.write_text(os.fspath(path), self._page.html())
        return os.fspath(path)


def _run_of(item: Run | Model | str | os.PathLike[str]) -> Run | None:
    if isinstance(item, (Run, Model)):
        return item if isinstance(item, Run) else None
    is_run = os.path.splitext(os.fspath(item))[1].lower() in (".h5", ".hdf5", ".csv")
    return read_run(item) if is_run else None
