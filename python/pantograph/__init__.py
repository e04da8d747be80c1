"""Pantograph: one description of a mechanism, and what model-based engineering needs from it.

>>> import pantograph as pg
>>> m = pg.load("fourbar_f1")
>>> r = pg.simulate(m, until=10)
>>> theta, unit = r["theta"], r.unit("theta")

SI units and radians everywhere; numpy arrays in and out.
"""

import os as _os

# An installed package carries its data; the build tree finds them in the source tree.
for _folder in ("models", "validation"):
    _data = _os.path.join(_os.path.dirname(__file__), _folder)
    if _os.path.isdir(_data):
        _os.environ.setdefault(f"PANTO_{_folder.upper()}", _data)

from ._errors import Diagnostic, ModelError, ModelWarning, NumericalError  # noqa: E402
from ._estimation import (  # noqa: E402
    Advice,
    Estimate,
    Estimates,
    InnovationTest,
    Observation,
    ObservedCell,
    ObservedRun,
    ObservedSeries,
    Observer,
    RankedSet,
    SensorSummary,
    TunePoint,
    Tuning,
    advise,
    filters,
    observe,
    tune,
)
from ._identification import (  # noqa: E402
    FittedMode,
    Identification,
    IdentifiedParameter,
    PoseStudy,
    ScoredPose,
    SimulatedError,
    Solution,
    identify,
    poses,
)
from ._kinematic import (  # noqa: E402
    ChannelSummary,
    FailingPoses,
    KinematicAdvice,
    KinematicCheck,
    KinematicCounts,
    KinematicEstimate,
    KinematicEstimates,
    KinematicObserver,
    TwoStageObserver,
)
from ._model import Model, Parameters  # noqa: E402
from ._run import (  # noqa: E402
    ConstraintViolation,
    Energy,
    Measured,
    Run,
    Stats,
    read_run,
)
from ._reduction import ModeRanking, ReducedMode, Reduction, reduce  # noqa: E402
from ._tasks import (  # noqa: E402
    Check,
    Equilibrium,
    Integrator,
    InverseDynamics,
    InverseMotion,
    LinearModel,
    LinearTrajectory,
    Modes,
    Reproduced,
    check,
    equilibrium,
    import_urdf,
    integrators,
    inverse_dynamics,
    inverse_motion,
    linearize,
    linearize_along,
    load,
    models,
    modes,
    reproduce,
    reproductions,
    schema,
    simulate,
)
from ._updating import (  # noqa: E402
    DrawnUpdates,
    UpdatedLimit,
    UpdatedMode,
    UpdatedParameter,
    Updating,
    update,
)
from ._view import view  # noqa: E402
from ._core import __version__  # noqa: E402

__all__ = [
    "Advice",
    "ChannelSummary",
    "Check",
    "ConstraintViolation",
    "Diagnostic",
    "DrawnUpdates",
    "Energy",
    "Equilibrium",
    "Estimate",
    "Estimates",
    "FailingPoses",
    "FittedMode",
    "Identification",
    "IdentifiedParameter",
    "InnovationTest",
    "Integrator",
    "InverseDynamics",
    "InverseMotion",
    "KinematicAdvice",
    "KinematicCheck",
    "KinematicCounts",
    "KinematicEstimate",
    "KinematicEstimates",
    "KinematicObserver",
    "LinearModel",
    "LinearTrajectory",
    "Measured",
    "Model",
    "ModelError",
    "ModeRanking",
    "ModelWarning",
    "Modes",
    "NumericalError",
    "Observation",
    "ObservedCell",
    "ObservedRun",
    "ObservedSeries",
    "Observer",
    "Parameters",
    "PoseStudy",
    "RankedSet",
    "ReducedMode",
    "Reduction",
    "Reproduced",
    "Run",
    "ScoredPose",
    "SensorSummary",
    "SimulatedError",
    "Solution",
    "Stats",
    "TunePoint",
    "Tuning",
    "TwoStageObserver",
    "UpdatedLimit",
    "UpdatedMode",
    "UpdatedParameter",
    "Updating",
    "advise",
    "check",
    "equilibrium",
    "filters",
    "identify",
    "import_urdf",
    "integrators",
    "inverse_dynamics",
    "inverse_motion",
    "linearize",
    "linearize_along",
    "load",
    "models",
    "modes",
    "observe",
    "poses",
    "read_run",
    "reduce",
    "reproduce",
    "reproductions",
    "schema",
    "simulate",
    "tune",
    "update",
    "view",
]
