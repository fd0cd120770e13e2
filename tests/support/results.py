"""Every function of Python that returns frames, on runs and qrels of one's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gradedeval

WITHOUT_IDS = {"anova", "correlate", "fit", "fit_weights", "plan_topics", "weights"}
"""Functions whose frames hold no id."""


def calls_on(runs: dict[str, Any], qrels: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Return a call of each function, by its name."""
    names, topic = list(runs), next(iter(qrels))
    first, second = ({name: runs[name]} for name in names[:2])
    pair = first | second
    scores = partial(gradedeval.evaluate, runs, qrels, "err ndcg", residuals="total")
    return {
        "agreement": lambda: gradedeval.agreement(runs),
        "anova": lambda: gradedeval.anova(scores()),
        "assessor_agreement": lambda: gradedeval.assessor_agreement(qrels, qrels, runs),
        "check": lambda: gradedeval.check(scores(), [gradedeval.Bound("min", "err", 0.1)]),
        "compare": lambda: gradedeval.compare(scores()),
        "correlate": lambda: gradedeval.correlate(scores()),
        "diff": lambda: gradedeval.diff(first, second, qrels),
        "evaluate": lambda: gradedeval.evaluate(runs, qrels, "err ndcg"),
        "evaluate_arrays": lambda: gradedeval.evaluate_arrays([1, 0], [2.0, 1.0], "ap", qid=[topic, topic]),
        "explain": lambda: gradedeval.explain(first, qrels, topic=topic),
        "fit": lambda: gradedeval.fit(runs, qrels, "rbp(p=0.2..0.8)", to="ndcg", precision=0.1),
        "fit_weights": lambda: gradedeval.fit_weights([0.5, 0.3, 0.2], "rbp(p=0.2..0.8)", precision=0.2),
        "informativeness": lambda: gradedeval.informativeness(runs, qrels, "ap", min_found=1),
        "leave_one_out": lambda: gradedeval.leave_one_out(runs, qrels),
        "letters": lambda: gradedeval.letters(scores()),
        "plan_topics": lambda: gradedeval.plan_topics(scores()),
        "pool": lambda: gradedeval.pool(runs, qrels),
        "power": lambda: gradedeval.power(scores(), draws=20),
        "precision_recall": lambda: gradedeval.precision_recall(runs, qrels),
        "reproduction": lambda: gradedeval.reproduction(pair, pair, qrels),
        "risk": lambda: gradedeval.risk(scores(), baseline=names[0]),
        "run_summaries": lambda: gradedeval.run_summaries(scores()),
        "standardize": lambda: gradedeval.standardize(gradedeval.evaluate(runs, qrels, "ap")),
        "to_judge": lambda: gradedeval.to_judge(runs, qrels),
        "topic_differences": lambda: gradedeval.topic_differences(gradedeval.evaluate(pair, qrels, "err")),
        "topic_table": lambda: gradedeval.topic_table(scores()),
        "weights": lambda: gradedeval.weights("rbp dcg"),
    }
