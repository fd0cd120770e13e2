"""Learning to rank: any measure as an objective and as a metric for early stopping, in LightGBM, XGBoost and PyTorch.

from gradedeval import ltr
params["objective"] = ltr.objective("gap").lightgbm

None of these libraries is imported here.
"""

from __future__ import annotations

from gradedeval.ltr.lists import swap_deltas as swap_deltas
from gradedeval.ltr.objectives import LambdaObjective as LambdaObjective
from gradedeval.ltr.objectives import Metric as Metric
from gradedeval.ltr.objectives import Objective as Objective
from gradedeval.ltr.objectives import SmoothObjective as SmoothObjective
from gradedeval.ltr.objectives import approx as approx
from gradedeval.ltr.objectives import metric as metric
from gradedeval.ltr.objectives import objective as objective
from gradedeval.ltr.objectives import softgap as softgap

__all__ = [
    *("LambdaObjective", "Metric", "Objective", "SmoothObjective"),
    *("approx", "metric", "objective", "softgap", "swap_deltas"),
]
