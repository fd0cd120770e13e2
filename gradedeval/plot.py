"""Pictures of results, with matplotlib (`pip install 'gradedeval[plot]'`): each function draws a frame on axes.

gradedeval.plot.runs(scores, "ndcg@10")
gradedeval.plot.save(gradedeval.plot.topics(scores, "ndcg@10"), "topics.pdf", scores.signature)

A function takes what a command of the same kind returns, draws on the matplotlib axes `ax`, or on the current ones, and
returns the axes. It computes no score. No setting of matplotlib is changed for good.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# For type checkers and editors; a test holds that these are the names below.
if TYPE_CHECKING:
    from gradedeval.analysis.pictures import save as save
    from gradedeval.analysis.pictures import style as style
    from gradedeval.clicks.click_measures import plot_clicks as clicks
    from gradedeval.questions.correlate import plot_correlate as correlate
    from gradedeval.questions.correlate import scatter as scatter
    from gradedeval.questions.explain import plot_explain as explain
    from gradedeval.questions.fit import plot_fit as fit
    from gradedeval.questions.informative import plot_informative as informative
    from gradedeval.questions.power import plot_power as power
    from gradedeval.questions.precision_recall import plot_pr as pr
    from gradedeval.questions.runs import plot_runs as runs
    from gradedeval.questions.topics import plot_topics as topics
    from gradedeval.questions.weights import plot_weights as weights

# Picture -> the module of its question, and its name there; imported when it is asked for.
_PUBLIC = {
    "clicks": "clicks.click_measures:plot_clicks",
    "correlate": "questions.correlate:plot_correlate",
    "explain": "questions.explain:plot_explain",
    "fit": "questions.fit:plot_fit",
    "informative": "questions.informative:plot_informative",
    "power": "questions.power:plot_power",
    "pr": "questions.precision_recall:plot_pr",
    "runs": "questions.runs:plot_runs",
    "save": "analysis.pictures:save",
    "scatter": "questions.correlate:scatter",
    "style": "analysis.pictures:style",
    "topics": "questions.topics:plot_topics",
    "weights": "questions.weights:plot_weights",
}
__all__ = ["clicks", "correlate", "explain", "fit", "informative", "power", "pr", "runs",
           "save", "scatter", "style", "topics", "weights"]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'gradedeval.plot' has no attribute '{name}'")
    module, _, attribute = _PUBLIC[name].partition(":")
    return getattr(importlib.import_module(f"gradedeval.{module}"), attribute)
