"""Evaluation of ranked retrieval with graded relevance judgments: ERR, nDCG, RBP, AP, GAP and more, with residuals.

import gradedeval
scores = gradedeval.evaluate("run.txt", "qrels.txt", ["err@20", "ndcg@10"])
scores.means["err@20"]

Public are the names in `gradedeval.__all__`, measures in `gradedeval.measures`, pictures in `gradedeval.plot`, analyses
of click logs in `gradedeval.clicks`, objectives of rankers in `gradedeval.ltr`, and `gradedeval.interop`; all else is
internal.
"""

from __future__ import annotations

import importlib
import sys

__version__ = "0.1.0"

TYPE_CHECKING = False  # `typing` takes milliseconds in which the program could not answer Ctrl-C yet

# For type checkers and editors; a test holds that these are the names below.
if TYPE_CHECKING:
    from gradedeval import clicks as clicks
    from gradedeval import ltr as ltr
    from gradedeval import measures as measures
    from gradedeval import plot as plot
    from gradedeval import testing as testing
    from gradedeval.analysis.significance import anova as anova
    from gradedeval.analysis.standardize import standardize as standardize
    from gradedeval.errors import EvaluationWarning as EvaluationWarning
    from gradedeval.errors import InputError as InputError
    from gradedeval.interop.pytrec_eval import RelevanceEvaluator as RelevanceEvaluator
    from gradedeval.kernel.measures.cwl_family.formula import UserState as UserState
    from gradedeval.kernel.measures.cwl_family.formula import cwl as cwl
    from gradedeval.kernel.measures.definition import MEASURES as MEASURES
    from gradedeval.kernel.measures.definition import Measure as Measure
    from gradedeval.kernel.measures.definition import measure as measure
    from gradedeval.kernel.measures.diversity import intent_aware as intent_aware
    from gradedeval.kernel.measures.gains import Gains as Gains
    from gradedeval.kernel.measures.gains import row_sums as row_sums
    from gradedeval.kernel.measures.gains import safe_divide as safe_divide
    from gradedeval.kernel.measures.parse import parse_measures as parse_measures
    from gradedeval.kernel.measures.user_measures import load_measures as load_measures
    from gradedeval.kernel.options import Options as Options
    from gradedeval.kernel.rankings.qrels import Qrels as Qrels
    from gradedeval.kernel.scoring.evaluate import evaluate as evaluate
    from gradedeval.kernel.scoring.evaluate_arrays import evaluate_arrays as evaluate_arrays
    from gradedeval.kernel.scoring.scores import Scores as Scores
    from gradedeval.questions.agreement import Agreement as Agreement
    from gradedeval.questions.agreement import agreement as agreement
    from gradedeval.questions.check import check as check
    from gradedeval.questions.compare import Comparison as Comparison
    from gradedeval.questions.compare import Letters as Letters
    from gradedeval.questions.compare import compare as compare
    from gradedeval.questions.compare import letters as letters
    from gradedeval.questions.correlate import correlate as correlate
    from gradedeval.questions.diff import Diff as Diff
    from gradedeval.questions.diff import diff as diff
    from gradedeval.questions.explain import Explanation as Explanation
    from gradedeval.questions.explain import explain as explain
    from gradedeval.questions.fit import fit as fit
    from gradedeval.questions.fit import fit_weights as fit_weights
    from gradedeval.questions.history import History as History
    from gradedeval.questions.history import append_history as append_history
    from gradedeval.questions.history import read_history as read_history
    from gradedeval.questions.informative import Informativeness as Informativeness
    from gradedeval.questions.informative import informativeness as informativeness
    from gradedeval.questions.leave_one_out import LeftOut as LeftOut
    from gradedeval.questions.leave_one_out import leave_one_out as leave_one_out
    from gradedeval.questions.limits import Bound as Bound
    from gradedeval.questions.lint import lint as lint
    from gradedeval.questions.pool import Pool as Pool
    from gradedeval.questions.pool import pool as pool
    from gradedeval.questions.power import plan_topics as plan_topics
    from gradedeval.questions.power import power as power
    from gradedeval.questions.precision_recall import PrecisionRecall as PrecisionRecall
    from gradedeval.questions.precision_recall import precision_recall as precision_recall
    from gradedeval.questions.published import table as table
    from gradedeval.questions.ranking_agreement import RankingAgreement as RankingAgreement
    from gradedeval.questions.ranking_agreement import Reproduction as Reproduction
    from gradedeval.questions.ranking_agreement import ranking_agreement as ranking_agreement
    from gradedeval.questions.ranking_agreement import reproduction as reproduction
    from gradedeval.questions.report.page import html_report as html_report
    from gradedeval.questions.risk import risk as risk
    from gradedeval.questions.runs import run_summaries as run_summaries
    from gradedeval.questions.to_judge import ToJudge as ToJudge
    from gradedeval.questions.to_judge import to_judge as to_judge
    from gradedeval.questions.topic_table import topic_table as topic_table
    from gradedeval.questions.topics import topic_differences as topic_differences
    from gradedeval.questions.verify import Verification as Verification
    from gradedeval.questions.verify import verify as verify
    from gradedeval.questions.weights import Weights as Weights
    from gradedeval.questions.weights import weights as weights

if TYPE_CHECKING:
    from typing import Any

# Module -> its public names, imported on first use: `gradedeval --help` should not wait for numpy.
_PUBLIC = {
    "analysis.significance": "anova",
    "analysis.standardize": "standardize",
    "errors": "EvaluationWarning InputError",
    "interop.pytrec_eval": "RelevanceEvaluator",
    "kernel.measures.cwl_family.formula": "UserState cwl",
    "kernel.measures.definition": "MEASURES Measure measure",
    "kernel.measures.diversity": "intent_aware",
    "kernel.measures.gains": "Gains row_sums safe_divide",
    "kernel.measures.parse": "parse_measures",
    "kernel.measures.user_measures": "load_measures",
    "kernel.options": "Options",
    "kernel.rankings.qrels": "Qrels",
    "kernel.scoring.evaluate": "evaluate",
    "kernel.scoring.evaluate_arrays": "evaluate_arrays",
    "kernel.scoring.scores": "Scores",
    "questions.agreement": "Agreement agreement",
    "questions.check": "check",
    "questions.compare": "Comparison Letters compare letters",
    "questions.correlate": "correlate",
    "questions.diff": "Diff diff",
    "questions.explain": "Explanation explain",
    "questions.fit": "fit fit_weights",
    "questions.history": "History append_history read_history",
    "questions.informative": "Informativeness informativeness",
    "questions.leave_one_out": "LeftOut leave_one_out",
    "questions.limits": "Bound",
    "questions.lint": "lint",
    "questions.pool": "Pool pool",
    "questions.power": "plan_topics power",
    "questions.precision_recall": "PrecisionRecall precision_recall",
    "questions.published": "table",
    "questions.ranking_agreement": "RankingAgreement Reproduction ranking_agreement reproduction",
    "questions.report.page": "html_report",
    "questions.risk": "risk",
    "questions.runs": "run_summaries",
    "questions.to_judge": "ToJudge to_judge",
    "questions.topic_table": "topic_table",
    "questions.topics": "topic_differences",
    "questions.verify": "Verification verify",
    "questions.weights": "Weights weights",
}
_MODULES = ("clicks", "ltr", "measures", "plot", "testing")
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names.split()}
__all__ = ["__version__", *sorted([*_MODULE_OF, *_MODULES])]


def __dir__() -> list[str]:
    return __all__


def _check_import(name: str, hint: str) -> None:
    """Raise ImportError with the hint if `from gradedeval import NAME` asked for an unknown name: Python replaces the
    text of an AttributeError there. It asks for submodules, too, before it imports them."""
    from importlib.util import find_spec  # needed for errors only

    asked_by = sys._getframe(2).f_code.co_name
    if hint and asked_by == "_handle_fromlist" and find_spec(f"{__name__}.{name}") is None:
        raise ImportError(f"cannot import name '{name}' from 'gradedeval'; {hint}", name=__name__)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"gradedeval.{name}")
    if name not in _MODULE_OF:
        problem = f"module 'gradedeval' has no attribute '{name}'"
        if not name.startswith("_"):
            hint = importlib.import_module(f"{__name__}.errors").hint_of("functions", name, __all__)
            problem += f"; {hint}" if hint else ""
            _check_import(name, hint)
        raise AttributeError(problem)
    value = globals()[name] = getattr(importlib.import_module(f"gradedeval.{_MODULE_OF[name]}"), name)
    return value
