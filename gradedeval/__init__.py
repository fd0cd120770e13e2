"""Evaluation of ranked retrieval with graded relevance judgments: ERR, nDCG, RBP, AP, GAP and more, with residuals.

import gradedeval
scores = gradedeval.evaluate("run.txt", "qrels.txt", ["err@20", "ndcg@10"])
scores.means["err@20"]

Public is what `gradedeval.__all__` names, the measures in `gradedeval.measures`, the pictures in `gradedeval.plot`,
what click logs tell in `gradedeval.clicks`, the steps of an evaluation on many machines in `gradedeval.cluster`,
objectives of rankers in `gradedeval.ltr`, and `gradedeval.interop`; everything else is internal.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# For type checkers and editors; a test holds that these are the names below.
if TYPE_CHECKING:
    from gradedeval import clicks as clicks
    from gradedeval import cluster as cluster
    from gradedeval import ltr as ltr
    from gradedeval import measures as measures
    from gradedeval import plot as plot
    from gradedeval.analysis.anova import anova as anova
    from gradedeval.analysis.bounds import Bound as Bound
    from gradedeval.analysis.check import check as check
    from gradedeval.analysis.compare import compare as compare
    from gradedeval.analysis.correlate import correlate as correlate
    from gradedeval.analysis.diff.agreement import Agreement as Agreement
    from gradedeval.analysis.diff.agreement import agreement as agreement
    from gradedeval.analysis.diff.by_topic import Diff as Diff
    from gradedeval.analysis.diff.by_topic import diff as diff
    from gradedeval.analysis.diff.reproduce import Reproduction as Reproduction
    from gradedeval.analysis.diff.reproduce import reproduction as reproduction
    from gradedeval.analysis.explain import Explanation as Explanation
    from gradedeval.analysis.explain import explain as explain
    from gradedeval.analysis.fit import fit as fit
    from gradedeval.analysis.fit_weights import fit_weights as fit_weights
    from gradedeval.analysis.history import History as History
    from gradedeval.analysis.history import append_history as append_history
    from gradedeval.analysis.history import read_history as read_history
    from gradedeval.analysis.informative.informativeness import Informativeness as Informativeness
    from gradedeval.analysis.informative.informativeness import informativeness as informativeness
    from gradedeval.analysis.lint.frame import lint as lint
    from gradedeval.analysis.pool.assessors import AssessorAgreement as AssessorAgreement
    from gradedeval.analysis.pool.assessors import assessor_agreement as assessor_agreement
    from gradedeval.analysis.pool.leave_one_out import LeftOut as LeftOut
    from gradedeval.analysis.pool.leave_one_out import leave_one_out as leave_one_out
    from gradedeval.analysis.pool.statistics import Pool as Pool
    from gradedeval.analysis.pool.statistics import pool as pool
    from gradedeval.analysis.pool.to_judge import ToJudge as ToJudge
    from gradedeval.analysis.pool.to_judge import to_judge as to_judge
    from gradedeval.analysis.power import power as power
    from gradedeval.analysis.precision_recall import PrecisionRecall as PrecisionRecall
    from gradedeval.analysis.precision_recall import precision_recall as precision_recall
    from gradedeval.analysis.published import table as table
    from gradedeval.analysis.rank_weights import Weights as Weights
    from gradedeval.analysis.rank_weights import weights as weights
    from gradedeval.analysis.report.page import html_report as html_report
    from gradedeval.analysis.risk import risk as risk
    from gradedeval.analysis.run_summaries import run_summaries as run_summaries
    from gradedeval.analysis.standardize import standardize as standardize
    from gradedeval.analysis.topic_differences import topic_differences as topic_differences
    from gradedeval.analysis.topic_plan import plan_topics as plan_topics
    from gradedeval.analysis.topic_table import topic_table as topic_table
    from gradedeval.errors import EvaluationWarning as EvaluationWarning
    from gradedeval.errors import InputError as InputError
    from gradedeval.interop.pytrec_eval import RelevanceEvaluator as RelevanceEvaluator
    from gradedeval.measures.cwl_family.define import cwl as cwl
    from gradedeval.measures.cwl_family.user_state import UserState as UserState
    from gradedeval.measures.definition import Measure as Measure
    from gradedeval.measures.definition import measure as measure
    from gradedeval.measures.gains import Gains as Gains
    from gradedeval.measures.gains import row_sums as row_sums
    from gradedeval.measures.gains import safe_divide as safe_divide
    from gradedeval.measures.over_intents import intent_aware as intent_aware
    from gradedeval.measures.parse import parse_measures as parse_measures
    from gradedeval.measures.plugins import load_measures as load_measures
    from gradedeval.measures.table import MEASURES as MEASURES
    from gradedeval.options import Options as Options
    from gradedeval.rankings.qrels import Qrels as Qrels
    from gradedeval.scoring.evaluate import evaluate as evaluate
    from gradedeval.scoring.evaluate_arrays import evaluate_arrays as evaluate_arrays
    from gradedeval.scoring.scores import Scores as Scores

# Module -> the public names in it, imported when they are asked for: `gradedeval --help` should not wait for numpy.
_PUBLIC = {
    "analysis.anova": "anova",
    "analysis.bounds": "Bound",
    "analysis.check": "check",
    "analysis.compare": "compare",
    "analysis.correlate": "correlate",
    "analysis.diff.agreement": "Agreement agreement",
    "analysis.diff.by_topic": "Diff diff",
    "analysis.diff.reproduce": "Reproduction reproduction",
    "analysis.explain": "Explanation explain",
    "analysis.fit": "fit",
    "analysis.fit_weights": "fit_weights",
    "analysis.history": "History append_history read_history",
    "analysis.informative.informativeness": "Informativeness informativeness",
    "analysis.lint.frame": "lint",
    "analysis.pool.assessors": "AssessorAgreement assessor_agreement",
    "analysis.pool.leave_one_out": "LeftOut leave_one_out",
    "analysis.pool.statistics": "Pool pool",
    "analysis.pool.to_judge": "ToJudge to_judge",
    "analysis.power": "power",
    "analysis.precision_recall": "PrecisionRecall precision_recall",
    "analysis.published": "table",
    "analysis.rank_weights": "Weights weights",
    "analysis.report.page": "html_report",
    "analysis.risk": "risk",
    "analysis.run_summaries": "run_summaries",
    "analysis.standardize": "standardize",
    "analysis.topic_differences": "topic_differences",
    "analysis.topic_plan": "plan_topics",
    "analysis.topic_table": "topic_table",
    "errors": "EvaluationWarning InputError",
    "interop.pytrec_eval": "RelevanceEvaluator",
    "measures.cwl_family.define": "cwl",
    "measures.cwl_family.user_state": "UserState",
    "measures.definition": "Measure measure",
    "measures.gains": "Gains row_sums safe_divide",
    "measures.over_intents": "intent_aware",
    "measures.parse": "parse_measures",
    "measures.plugins": "load_measures",
    "measures.table": "MEASURES",
    "options": "Options",
    "rankings.qrels": "Qrels",
    "scoring.evaluate": "evaluate",
    "scoring.evaluate_arrays": "evaluate_arrays",
    "scoring.scores": "Scores",
}
_MODULES = ("clicks", "cluster", "ltr", "measures", "plot")
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names.split()}
__all__ = ["__version__", *sorted([*_MODULE_OF, *_MODULES])]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"gradedeval.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'gradedeval' has no attribute '{name}'")
    return getattr(importlib.import_module(f"gradedeval.{_MODULE_OF[name]}"), name)
