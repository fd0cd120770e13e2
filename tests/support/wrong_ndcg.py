"""Twelve mistakes of home-made nDCG code, each with an input of two lines that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import log, log2
from typing import Any

Run = tuple[tuple[str, str, float], ...]
Qrels = tuple[tuple[str, str, int], ...]


Code = Callable[[Run, Qrels], float]
"""Mean nDCG of a run."""


def ranked(run: Run, key: Callable[[tuple[str, str, float]], Any] | None = None) -> dict[str, list[str]]:
    """Return the docnos of each topic by descending score, ties by descending docno, or by a key."""
    rankings: dict[str, list[str]] = {}
    for topic, docno, _ in sorted(run, key=key or (lambda row: (row[2], row[1])), reverse=True):
        rankings.setdefault(topic, []).append(docno)
    return rankings


def judged(qrels: Qrels) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    for topic, docno, grade in qrels:
        grades.setdefault(topic, {})[docno] = grade
    return grades


def gains_of(docnos: Iterable[str], grades: dict[str, int]) -> list[float]:
    return [max(grades.get(docno, 0), 0) for docno in docnos]


def dcg(gains: Iterable[float], k: int | None, discount: Callable[[int], float] = lambda i: log2(i + 1)) -> float:
    return sum(gain / discount(i) for i, gain in enumerate(list(gains)[:k], 1))


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def mean(scores: Iterable[float]) -> float:
    values = list(scores)
    return sum(values) / len(values) if values else 0.0


def ideal(grades: dict[str, int]) -> list[float]:
    return sorted(gains_of(grades, grades), reverse=True)


def by_topic(run: Run, qrels: Qrels, score: Callable[[list[str], dict[str, int]], float]) -> float:
    """Return the mean over the judged topics."""
    rankings = ranked(run)
    return mean(score(rankings.get(topic, []), grades) for topic, grades in judged(qrels).items())


def of_retrieved(k: int) -> Code:
    def score(ranking: list[str], grades: dict[str, int]) -> float:
        gains = gains_of(ranking, grades)
        return share(dcg(gains, k), dcg(sorted(gains, reverse=True), k))

    return lambda run, qrels: by_topic(run, qrels, score)


def uncut_ideal(k: int) -> Code:
    def score(ranking: list[str], grades: dict[str, int]) -> float:
        return share(dcg(gains_of(ranking, grades), k), dcg(ideal(grades), None))

    return lambda run, qrels: by_topic(run, qrels, score)


def discounted(k: int, of_run: Callable[[int], float], of_ideal: Callable[[int], float]) -> Code:
    def score(ranking: list[str], grades: dict[str, int]) -> float:
        return share(dcg(gains_of(ranking, grades), k, of_run), dcg(ideal(grades), k, of_ideal))

    return lambda run, qrels: by_topic(run, qrels, score)


def gained(k: int, gain: Callable[[int], float]) -> Code:
    """Return nDCG with another gain of grades, that of unjudged documents too."""

    def score(ranking: list[str], grades: dict[str, int]) -> float:
        gains = [gain(grades.get(docno, 0)) for docno in ranking]
        return share(dcg(gains, k), dcg(sorted(map(gain, grades.values()), reverse=True), k))

    return lambda run, qrels: by_topic(run, qrels, score)


def right(ranking: list[str], grades: dict[str, int], k: int) -> float:
    return share(dcg(gains_of(ranking, grades), k), dcg(ideal(grades), k))


def ordered(k: int, key: Callable[[tuple[str, str, float]], Any]) -> Code:
    def code(run: Run, qrels: Qrels) -> float:
        rankings = ranked(run, key)
        return mean(right(rankings.get(topic, []), grades, k) for topic, grades in judged(qrels).items())

    return code


def retrieved_topics(k: int) -> Code:
    def code(run: Run, qrels: Qrels) -> float:
        grades = judged(qrels)
        return mean(right(ranking, grades[topic], k) for topic, ranking in ranked(run).items() if topic in grades)

    return code


def perfect_without_relevant(k: int) -> Code:
    def score(ranking: list[str], grades: dict[str, int]) -> float:
        return right(ranking, grades, k) if any(ideal(grades)) else 1.0

    return lambda run, qrels: by_topic(run, qrels, score)


def as_it_is(k: int) -> Code:
    """Return nDCG of rankings as they are, a document twice if it is there twice."""
    return lambda run, qrels: by_topic(run, qrels, lambda ranking, grades: right(ranking, grades, k))


@dataclass(frozen=True)
class Mistake:
    """A mistake: its name, the wrong code by its cutoff, and an input that shows it.

    run     rows of topic, docno, score
    qrels   rows of topic, docno, grade
    """

    name: str
    make: Callable[[int], Code]
    run: str
    qrels: str
    k: int = 2

    @property
    def input(self) -> tuple[Run, Qrels]:
        run, qrels = ([row.split() for row in text.split(", ")] for text in (self.run, self.qrels))
        return tuple((t, d, float(score)) for t, d, score in run), tuple((t, d, int(grade)) for t, d, grade in qrels)

    @property
    def options(self) -> dict[str, Any]:
        """Return the options without which the input is refused."""
        return {"duplicates": "first"} if len(self.input[0]) > len({row[:2] for row in self.input[0]}) else {}


MISTAKES = (
    Mistake("the ideal ranking has only retrieved documents", of_retrieved, "1 a 2, 1 b 1", "1 a 1, 1 c 3"),
    Mistake("the ideal ranking is not cut at k", uncut_ideal, "1 a 2, 1 b 1", "1 a 1, 1 b 1, 1 c 1"),
    Mistake(
        "logarithms to base 2 in the DCG, and natural ones in the ideal",
        lambda k: discounted(k, lambda i: log2(i + 1), lambda i: log(i + 1)),
        "1 a 2, 1 b 1",
        "1 a 2, 1 b 1",
    ),
    Mistake(
        "discount log2(i), and none at rank 1",
        lambda k: discounted(k, *[lambda i: max(1.0, log2(i))] * 2),
        "1 x 2, 1 a 1",
        "1 a 1, 1 x 0",
    ),
    Mistake(
        "ranks from 1 in the formula for ranks from 0, log2(i + 2)",
        lambda k: discounted(k, *[lambda i: log2(i + 2)] * 2),
        "1 x 2, 1 a 1",
        "1 a 1, 1 x 0",
    ),
    Mistake(
        "gain 2^g without − 1, so that a label of 0 gains 1",
        lambda k: gained(k, lambda grade: 2.0**grade),
        "1 x 2, 1 a 1",
        "1 a 1, 1 x 0",
    ),
    Mistake("a document listed twice gains twice", as_it_is, "1 a 3, 1 a 2, 1 b 1", "1 a 1, 1 b 1", 3),
    Mistake("topics without a result are left out of the mean", retrieved_topics, "1 a 1", "1 a 1, 2 b 1"),
    Mistake("a topic without relevant documents scores 1", perfect_without_relevant, "1 a 1, 2 b 1", "1 a 1, 2 b 0"),
    Mistake("ties stay as listed", lambda k: ordered(k, lambda row: row[2]), "1 a 1, 1 b 1", "1 a 1, 1 b 0"),
    Mistake("grades below 0 are gains below 0", lambda k: gained(k, float), "1 x 2, 1 a 1", "1 a 1, 1 x -1"),
    Mistake(
        "scores are sorted as text", lambda k: ordered(k, lambda row: str(row[2])), "1 a 10, 1 x 9", "1 a 1, 1 x 0"
    ),
)
