"""Pantograph: one description of a mechanism, and what model-based engineering needs from it.

>>> import pantograph as pg
>>> m = pg.load("fourbar_f1")
>>> r = pg.simulate(m, until=10)
>>> r["theta"], r.units["theta"]

SI units and radians everywhere; numpy arrays in and out.
"""

import os as _os

# An installed package carries the zoo; the build tree finds it in the source tree.
_zoo = _os.path.join(_os.path.dirname(__file__), "models")
if _os.path.isdir(_zoo):
    _os.environ.setdefault("PANTO_MODELS", _zoo)

from ._errors import Diagnostic, ModelError, ModelWarning, NumericalError  # noqa: E402
from ._model import Model, Parameters  # noqa: E402
from ._run import Run, read_run  # noqa: E402
from ._tasks import (  # noqa: E402
    check,
    equilibrium,
    integrators,
    inverse_dynamics,
    inverse_motion,
    load,
    models,
    simulate,
)
from ._view import view  # noqa: E402
from ._core import __version__  # noqa: E402

__all__ = [
    "Diagnostic",
    "Model",
    "ModelError",
    "ModelWarning",
    "NumericalError",
    "Parameters",
    "Run",
    "check",
    "equilibrium",
    "integrators",
    "inverse_dynamics",
    "inverse_motion",
    "load",
    "models",
    "read_run",
    "simulate",
    "view",
]
