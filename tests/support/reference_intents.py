"""Measures over several intents in slow loops: any measure by intent, and novelty and diversity as ndeval has them."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from support import reference

Judged = dict[str, dict[str, float]]
"""docno -> subtopic -> grade, for one topic."""
Listed = Sequence[str]
"""The docnos of one topic in rank order."""


def intents_of(judged: Judged) -> list[str]:
    return sorted({subtopic for grades in judged.values() for subtopic in grades})


def by_intent(listed: Listed, judged: Judged, intent: str) -> tuple[list[float | None], list[float]]:
    """The ranking and the pool as somebody with that intent sees them: who is judged at all is judged for it."""
    grade = {docno: grades.get(intent, 0) for docno, grades in judged.items()}
    return [grade.get(docno) for docno in listed], list(grade.values())


def marginal(inner: Any, listed: Listed, judged: Judged, scale: reference.Scale) -> float:
    """Chapelle et al., eq. 6, with any measure: the mean over the intents for which something is relevant."""
    given = dict(inner.parameters)
    scores = []
    for intent in intents_of(judged):
        ranking, pool = by_intent(listed, judged, intent)
        if any(reference.worth(inner.name, given, grade, scale) > 0 for grade in pool):
            scores.append(reference.score(inner, ranking, pool, scale))
    return sum(scores) / len(scores) if scores else 0.0


def covered(judged: Judged, rel: float) -> dict[str, set[str]]:
    """docno -> the intents to which it is relevant."""
    return {docno: {intent for intent, grade in grades.items() if grade >= rel} for docno, grades in judged.items()}


def novelty(listed: Listed, relevant: dict[str, set[str]], alpha: Any) -> list[Any]:
    """Clarke et al.: what each document adds to those before it."""
    seen: dict[str, int] = {}
    added = []
    for docno in listed:
        added.append(sum((1 - alpha) ** seen.get(intent, 0) for intent in relevant.get(docno, ())))
        for intent in relevant.get(docno, ()):
            seen[intent] = seen.get(intent, 0) + 1
    return added


def greedy(relevant: dict[str, set[str]], alpha: float) -> list[str]:
    # In fractions: documents that add the same are told apart by their docnos, not by how sums are rounded.
    exact = Fraction(str(alpha))
    left = sorted((docno for docno, own in relevant.items() if own), reverse=True)
    order: list[str] = []
    while left:
        order.append(max(left, key=lambda docno: novelty([*order, docno], relevant, exact)[-1]))
        left.remove(order[-1])
    return order


def slow(measure: Any, listed: Listed, judged: Judged) -> float:
    """The binary measures of novelty, as ndeval has them, by slow loops."""
    own = {"alpha": 0.5, "beta": 0.5, "stop": 0.5, "norm": "none", "rel": 1, **dict(measure.parameters)}
    alpha = own["stop"] if "erria" in measure.name else own["alpha"]
    relevant = covered(judged, float(own["rel"]))
    intents = set().union(*relevant.values()) if relevant else set()
    k = measure.cutoff or 1000
    if measure.name == "strec":
        found = set().union(*(relevant.get(docno, set()) for docno in listed[:k]))
        return len(found) / len(intents) if intents else 0.0
    weigh = {
        "erria": lambda i: alpha / i,
        "nerria": lambda i: alpha / i,
        "alpha_dcg": lambda i: 1 / math.log2(i + 1),
        "alpha_ndcg": lambda i: 1 / math.log2(i + 1),
        "nrbp": lambda i: own["beta"] ** (i - 1),
        "nnrbp": lambda i: own["beta"] ** (i - 1),
    }[measure.name]

    def summed(added: Sequence[float]) -> float:
        return sum(worth * weigh(i) for i, worth in enumerate(added, 1))

    score = summed(novelty(listed, relevant, alpha)[:k])
    if measure.name in ("nerria", "alpha_ndcg", "nnrbp"):
        return reference.ratio(score, summed(novelty(greedy(relevant, alpha), relevant, alpha)[:k]))
    score = score / len(intents) if intents and (measure.name != "alpha_dcg" or own["norm"] == "best") else score
    if measure.name == "nrbp":
        return (1 - (1 - alpha) * own["beta"]) * score
    if own["norm"] == "none":
        return score
    ranks = measure.cutoff or math.ceil(40 / max(alpha, 1e-3))  # e^-40 is left beyond
    return score / summed([(1 - alpha) ** i for i in range(ranks)])
