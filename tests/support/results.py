"""Every function of Python that returns frames, on runs and qrels of one's own."""

from collections.abc import Callable
from functools import partial
from typing import Any

import gradedeval

WITHOUT_IDS = {"anova", "correlate", "fit", "fit_weights", "plan_topics", "weights"}
"""Functions whose frames hold no id."""


def calls_on(runs: dict[str, Any], qrels: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Return a call of each function, which takes its other keywords, by its name."""
    names, topic = list(runs), next(iter(qrels))
    first, second = ({name: runs[name]} for name in names[:2])
    pair, scored = first | second, (runs, qrels, "err ndcg")
    ranged, vector, bounds = "rbp(p=0.2..0.8)", [0.5, 0.3, 0.2], [gradedeval.Bound("min", "err", 0.1)]
    return {
        "ranking_agreement": partial(gradedeval.ranking_agreement, runs),
        "anova": partial(gradedeval.anova, *scored),
        "agreement": partial(gradedeval.agreement, qrels, qrels, runs),
        "check": lambda **given: gradedeval.check(gradedeval.evaluate(*scored, residuals="total"), bounds, **given),
        "compare": partial(gradedeval.compare, *scored, draws=50),
        "correlate": partial(gradedeval.correlate, *scored),
        "diff": partial(gradedeval.diff, first, second, qrels),
        "evaluate": partial(gradedeval.evaluate, *scored),
        "evaluate_arrays": partial(gradedeval.evaluate_arrays, [1, 0], [2.0, 1.0], "ap", qid=[topic, topic]),
        "explain": partial(gradedeval.explain, first, qrels, topic=topic),
        "fit": partial(gradedeval.fit, runs, qrels, ranged, to="ndcg", precision=0.1),
        "fit_weights": partial(gradedeval.fit_weights, vector, ranged, precision=0.2),
        "informativeness": partial(gradedeval.informativeness, runs, qrels, "ap", min_found=1),
        "leave_one_out": partial(gradedeval.leave_one_out, runs, qrels),
        "letters": partial(gradedeval.letters, *scored, draws=50),
        "plan_topics": partial(gradedeval.plan_topics, *scored),
        "pool": partial(gradedeval.pool, runs, qrels),
        "power": partial(gradedeval.power, *scored, draws=20),
        "precision_recall": partial(gradedeval.precision_recall, runs, qrels),
        "reproduction": partial(gradedeval.reproduction, pair, pair, qrels),
        "risk": partial(gradedeval.risk, *scored, baseline=names[0]),
        "run_summaries": partial(gradedeval.run_summaries, *scored),
        "standardize": lambda **given: gradedeval.standardize(gradedeval.evaluate(runs, qrels, "ap", **given)),
        "to_judge": partial(gradedeval.to_judge, runs, qrels),
        "topic_differences": partial(gradedeval.topic_differences, pair, qrels, "err"),
        "topic_table": partial(gradedeval.topic_table, *scored),
        "weights": partial(gradedeval.weights, "rbp dcg"),
    }
