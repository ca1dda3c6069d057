"""The next experiment to run, for a process whose causes you know.

>>> import mcbo
>>> problem = mcbo.Problem(
...     nodes={"moisture": {"actions": ["water"]}, "growth": {"parents": ["moisture"]}},
...     actions={"water": (0.0, 10.0)},
...     maximize="growth",
...     simulator={"moisture": "0.3 + 0.05 * water", "growth": "1 - (moisture - 0.6)^2 + normal(0, 0.01)"},
... )
>>> study = mcbo.create_study(problem, seed=3)
>>> study.optimize(problem.simulate, n_trials=15)
>>> water = study.best().actions["water"]
>>> (0.3 + 0.05 * water - 0.6) ** 2 < 0.01  # what is lost is less than the noise of one trial
True
"""

from __future__ import annotations

import logging

from mcbo import bench, plot, strategy
from mcbo._create import create_study
from mcbo._errors import (
    DataError,
    InternalError,
    McboError,
    NoPredictionError,
    ProblemError,
    StorageError,
    StrategyError,
    StudyExistsError,
    StudyNotFoundError,
    TaskError,
    TrialError,
    TrialFailed,
)
from mcbo._intervention import Intervention
from mcbo._mcbo import VERSION as __version__
from mcbo._mcbo import set_threads
from mcbo._model import Model, NodeSummary
from mcbo._picture import Picture
from mcbo._problem import Action, Node, Problem
from mcbo._serve import Served, serve
from mcbo._storage import StudySummary, copy_study, delete_study, rename_study, studies
from mcbo._study import Study, load_study
from mcbo._trial import (
    Best,
    Certificate,
    Doubt,
    Effect,
    Effects,
    Forecast,
    Keeping,
    Prediction,
    Status,
    Suspicion,
    Trial,
    Why,
)
from mcbo.strategy import Context, Strategy

# A library says nothing unless it is asked to: logging.basicConfig(level=logging.INFO) shows every trial.
logging.getLogger("mcbo").addHandler(logging.NullHandler())

__all__ = [
    "Action",
    "Best",
    "Certificate",
    "Context",
    "DataError",
    "Doubt",
    "Effect",
    "Effects",
    "Forecast",
    "Keeping",
    "InternalError",
    "Intervention",
    "McboError",
    "Model",
    "NoPredictionError",
    "Node",
    "NodeSummary",
    "Picture",
    "Prediction",
    "Problem",
    "ProblemError",
    "Served",
    "Status",
    "StorageError",
    "Strategy",
    "StrategyError",
    "Study",
    "StudyExistsError",
    "StudyNotFoundError",
    "StudySummary",
    "Suspicion",
    "TaskError",
    "Trial",
    "TrialError",
    "TrialFailed",
    "Why",
    "__version__",
    "bench",
    "copy_study",
    "create_study",
    "delete_study",
    "load_study",
    "plot",
    "rename_study",
    "serve",
    "set_threads",
    "strategy",
    "studies",
]
