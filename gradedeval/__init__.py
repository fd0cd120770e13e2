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
    from gradedeval.analysis.bounds import Bound
    from gradedeval.analysis.check import check
    from gradedeval.analysis.compare import compare
    from gradedeval.analysis.correlate import correlate
    from gradedeval.analysis.explain import Explanation, explain
    from gradedeval.analysis.fit import fit
    from gradedeval.analysis.fit_weights import fit_weights
    from gradedeval.analysis.power import power
    from gradedeval.analysis.rank_weights import Weights, weights
    from gradedeval.analysis.standardize import standardize
    from gradedeval.errors import EvaluationWarning, InputError
    from gradedeval.measures.cwl_family.define import cwl
    from gradedeval.measures.cwl_family.user_state import UserState
    from gradedeval.measures.definition import Measure, intent_aware, measure
    from gradedeval.measures.gains import Gains, row_sums, safe_divide
    from gradedeval.measures.parse import parse_measures
    from gradedeval.measures.plugins import load_measures
    from gradedeval.measures.table import MEASURES
    from gradedeval.options import Options
    from gradedeval.rankings.qrels import Qrels
    from gradedeval.scoring.evaluate import evaluate
    from gradedeval.scoring.scores import Scores


__all__ = [
    "MEASURES",
    "Bound",
    "EvaluationWarning",
    "Explanation",
    "Gains",
    "InputError",
    "Measure",
    "Options",
    "Qrels",
    "Scores",
    "UserState",
    "Weights",
    "__version__",
    "check",
    "compare",
    "correlate",
    "cwl",
    "evaluate",
    "explain",
    "fit",
    "fit_weights",
    "intent_aware",
    "load_measures",
    "measure",
    "parse_measures",
    "power",
    "row_sums",
    "safe_divide",
    "standardize",
    "weights",
]

# Imported when they are asked for: `gradedeval --help` should not wait for numpy.
_HOME = {
    "MEASURES": "measures.table",
    "Bound": "analysis.bounds",
    "Explanation": "analysis.explain",
    "InputError": "errors",
    "Gains": "measures.gains",
    "Measure": "measures.definition",
    "EvaluationWarning": "errors",
    "Qrels": "rankings.qrels",
    "Options": "options",
    "Scores": "scoring.scores",
    "UserState": "measures.cwl_family.user_state",
    "Weights": "analysis.rank_weights",
    "check": "analysis.check",
    "compare": "analysis.compare",
    "correlate": "analysis.correlate",
    "cwl": "measures.cwl_family.define",
    "evaluate": "scoring.evaluate",
    "explain": "analysis.explain",
    "fit": "analysis.fit",
    "intent_aware": "measures.definition",
    "measure": "measures.definition",
    "load_measures": "measures.plugins",
    "fit_weights": "analysis.fit_weights",
    "parse_measures": "measures.parse",
    "power": "analysis.power",
    "safe_divide": "measures.gains",
    "standardize": "analysis.standardize",
    "row_sums": "measures.gains",
    "weights": "analysis.rank_weights",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'gradedeval' has no attribute '{name}'")
    return getattr(importlib.import_module(f"gradedeval.{_HOME[name]}"), name)
