"""Graded evaluation of ranked retrieval: ERR, nDCG, RBP, AP, GAP and their kin, with the residual of the unjudged.

import gradedeval
scores = gradedeval.evaluate("run.txt", "qrels.txt", ["err@20", "ndcg@10"])
scores.means["err@20"]
"""

from gradedeval.errors import Fault, Note
from gradedeval.evaluation import evaluate
from gradedeval.gains import Gains, share
from gradedeval.measures import MEASURES, Measure, measure, parse
from gradedeval.rules import Rules
from gradedeval.scores import Scores
from gradedeval.trec.qrels import Qrels
from gradedeval.version import __version__

__all__ = [
    "MEASURES",
    "Fault",
    "Gains",
    "Measure",
    "Note",
    "Qrels",
    "Rules",
    "Scores",
    "__version__",
    "evaluate",
    "measure",
    "parse",
    "share",
]
