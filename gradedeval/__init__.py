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
    from gradedeval.explaining import Explanation, explain
    from gradedeval.gains import Gains, share, total
    from gradedeval.measures import MEASURES, Measure, Walk, cwl, measure, measures_from, parse
    from gradedeval.rules import Rules
    from gradedeval.scores import Scores
    from gradedeval.trec.qrels import Qrels
    from gradedeval.weighting import Weights, weights

__all__ = [
    "MEASURES",
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
    "cwl",
    "evaluate",
    "explain",
    "measure",
    "measures_from",
    "parse",
    "share",
    "total",
    "weights",
]

# Imported when they are asked for: `gradedeval --help` should not wait for numpy.
_HOME = {
    "MEASURES": "measures",
    "Explanation": "explaining",
    "Fault": "errors",
    "Gains": "gains",
    "Measure": "measures",
    "Note": "errors",
    "Qrels": "trec.qrels",
    "Rules": "rules",
    "Scores": "scores",
    "Walk": "measures",
    "Weights": "weighting",
    "cwl": "measures",
    "evaluate": "evaluation",
    "explain": "explaining",
    "measure": "measures",
    "measures_from": "measures",
    "parse": "measures",
    "share": "gains",
    "total": "gains",
    "weights": "weighting",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gradedeval' has no attribute '{name}'")
    return getattr(importlib.import_module(f"gradedeval.{_HOME[name]}"), name)
