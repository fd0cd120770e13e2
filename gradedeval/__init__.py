"""Graded evaluation of ranked retrieval: ERR, nDCG, RBP, AP, GAP and their kin, with the residual of the unjudged.

import gradedeval
scores = gradedeval.evaluate("run.txt", "qrels.txt", ["err@20", "ndcg@10"])
scores.means["err@20"]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gradedeval.version import __version__

if TYPE_CHECKING:
    from gradedeval.errors import Fault, Note
    from gradedeval.evaluation import evaluate
    from gradedeval.experiments.bounds import Bound
    from gradedeval.experiments.comparing import compare
    from gradedeval.experiments.correlating import correlate
    from gradedeval.experiments.discriminating import power
    from gradedeval.experiments.fitting import fit
    from gradedeval.experiments.gate import check
    from gradedeval.experiments.nearest import nearest_weights
    from gradedeval.experiments.standardising import standardised
    from gradedeval.explaining import Explanation, explain
    from gradedeval.gains import Gains, share, total
    from gradedeval.measures import MEASURES, Measure, ia, measure, measures_from, parse
    from gradedeval.measures.continuation import cwl
    from gradedeval.measures.walk import Walk
    from gradedeval.rules import Rules
    from gradedeval.scores import Scores
    from gradedeval.trec.qrels import Qrels
    from gradedeval.weighting import Weights, weights

__all__ = [
    "MEASURES",
    "Bound",
    "Explanation",
    "Fault",
    "Gains",
    "Measure",
    "Note",
    "Qrels",
    "Rules",
    "Scores",
    "Walk",
    "Weights",
    "__version__",
    "check",
    "compare",
    "correlate",
    "cwl",
    "evaluate",
    "explain",
    "fit",
    "ia",
    "measure",
    "measures_from",
    "nearest_weights",
    "parse",
    "power",
    "share",
    "standardised",
    "total",
    "weights",
]

# Imported when they are asked for: `gradedeval --help` should not wait for numpy.
_HOME = {
    "MEASURES": "measures",
    "Bound": "experiments.bounds",
    "Explanation": "explaining",
    "Fault": "errors",
    "Gains": "gains",
    "Measure": "measures",
    "Note": "errors",
    "Qrels": "trec.qrels",
    "Rules": "rules",
    "Scores": "scores",
    "Walk": "measures.walk",
    "Weights": "weighting",
    "check": "experiments.gate",
    "compare": "experiments.comparing",
    "correlate": "experiments.correlating",
    "cwl": "measures.continuation",
    "evaluate": "evaluation",
    "explain": "explaining",
    "fit": "experiments.fitting",
    "ia": "measures",
    "measure": "measures",
    "measures_from": "measures",
    "nearest_weights": "experiments.nearest",
    "parse": "measures",
    "power": "experiments.discriminating",
    "share": "gains",
    "standardised": "experiments.standardising",
    "total": "gains",
    "weights": "weighting",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gradedeval' has no attribute '{name}'")
    return getattr(importlib.import_module(f"gradedeval.{_HOME[name]}"), name)
