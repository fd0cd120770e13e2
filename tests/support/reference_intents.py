"""Measures over several intents in slow loops: any measure by intent, and novelty and diversity as ndeval has them."""

from collections.abc import Sequence
from typing import Any

from support import reference
from support.conformance_measures import Topic, definition, in_doubles

Judged = dict[str, dict[str, float]]
"""docno -> subtopic -> grade, for one topic."""
Listed = Sequence[str]
"""The docnos of one topic in rank order."""


def intents_of(judged: Judged) -> list[str]:
    return sorted({subtopic for grades in judged.values() for subtopic in grades})


def by_intent(listed: Listed, judged: Judged, intent: str) -> tuple[list[float | None], list[float]]:
    """Return the ranking and the pool for an intent: a document judged for any intent is judged for this one."""
    grade = {docno: grades.get(intent, 0) for docno, grades in judged.items()}
    return [grade.get(docno) for docno in listed], list(grade.values())


def marginal(inner: Any, listed: Listed, judged: Judged, scale: reference.Scale) -> float:
    """Return the mean of a measure over the intents with a relevant document: Chapelle et al., eq. 6."""
    parameters = dict(inner.parameters)
    scores = []
    for intent in intents_of(judged):
        ranking, pool = by_intent(listed, judged, intent)
        if any(reference.worth(inner.name, parameters, grade, scale) > 0 for grade in pool):
            scores.append(reference.score(inner, ranking, pool, scale))
    return sum(scores) / len(scores) if scores else 0.0


def slow(measure: Any, listed: Listed, judged: Judged) -> float:
    """Return the binary measures of novelty, as ndeval has them."""
    intents: dict[str, dict[str, float]] = {}
    for docno, grades in judged.items():
        for intent, grade in grades.items():
            intents.setdefault(intent, {})[docno] = grade
    with in_doubles():
        function = definition(measure.name, dict(measure.parameters), measure.cutoff)
        return float(function(Topic(tuple(listed), {}, 1, (), intents)))
