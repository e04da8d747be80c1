"""What goes wrong, and how it is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Diagnostic:
    """One finding: ``str()`` gives the line that the command line prints.

    ``severity`` ("error" or "warning"), ``id`` (207 for E0207, see docs/errors.md), ``file``,
    ``line`` and ``column`` (from 1; 0: unknown), ``message``, ``hint``.
    """

    severity: str
    id: int
    file: str  #: model file or Python source; empty where there is none
    line: int
    column: int
    message: str
    text: str = field(repr=False)

    def __str__(self) -> str:
        return self.text

    @property
    def hint(self) -> str:
        """The remedy, where one is likely: what the message says behind its semicolon."""
        return self.message.partition("; ")[2]


class _Failure(Exception):
    """What both kinds of error have in common."""

    def __init__(self, items: Iterable[Diagnostic] | str):
        self.items: list[Diagnostic] = [] if isinstance(items, str) else list(items)
        text = items if isinstance(items, str) else "\n".join(str(item) for item in self.items)
        super().__init__(text)

    def __reduce__(self):
        return type(self), (self.items or str(self),)


class ModelError(_Failure, ValueError):
    """Bad input: a model, a data file or an argument. ``items`` holds every finding.

    >>> try:
    ...     pg.load("missing.toml")
    ... except pg.ModelError as error:
    ...     for item in error.items:
    ...         print(item.file, item.line, item.message)
    missing.toml 0 the file does not exist
    """


class NumericalError(_Failure, RuntimeError):
    """A computation that failed: an iteration that stalls, a singular matrix, a step."""


class ModelWarning(UserWarning):
    """A finding that does not prevent the computation."""


def warn(items: Iterable[Diagnostic], stacklevel: int) -> None:
    """Passes warnings among ``items`` on to Python's ``warnings``."""
    for item in items:
        if item.severity == "warning":
            warnings.warn(str(item), ModelWarning, stacklevel=stacklevel + 1)
