"""The first ranks of all runs on each topic, as the JSON that the page draws two of them from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradedeval.analysis.report.findings import Findings
from gradedeval.analysis.report.markup import as_json, on_page
from gradedeval.arrays import Floats, Ints

DIGITS = 5


def rankings(found: Findings) -> Iterator[str]:
    """Topic by topic, in the order of `found.ranked.topics`: the JSON of `topic_rankings`."""
    ranked, show = found.ranked, found.settings.show
    grades, docnos = ranked.grades(np.arange(len(ranked))), ranked.docnos
    begins = [np.cumsum(count) - count for count in (np.minimum(run.counts, show) for run in ranked.runs)]
    for topic in range(len(ranked.topics)):
        number: dict[int, int] = {}
        runs = [
            _run(found, run, topic, int(begins[run][topic]), number) if ranked.runs[run].listed[topic] else None
            for run in range(len(ranked.runs))
        ]
        documents = [[on_page(docnos[document]), _grade(grades[document])] for document in number]
        yield as_json([documents, runs])


def _run(found: Findings, run: int, topic: int, begin: int, number: dict[int, int]) -> list[Any]:
    """One ranking of a topic: how many documents it has, the numbers of the first ones, and by measure score, residual,
    what else the score is made of, what each document adds and what it could add."""
    ranked, terms = found.ranked, found.terms
    of_topic = ranked.runs[run].of_topic(topic)
    documents: Ints = of_topic[: found.settings.show]
    listed = [number.setdefault(document, len(number)) for document in documents.tolist()]
    part = slice(begin, begin + len(documents))
    by_measure = [
        [
            *_rounded(terms.scores[[0, 2], run, topic, column]),
            *_rounded(terms.rest[column, run, topic : topic + 1]),
            _rounded(terms.added[column][run][part]),
            _rounded(terms.could_add[column][run][part]),
        ]
        for column in range(len(found.measures))
    ]
    return [len(of_topic), listed, by_measure]


def _rounded(values: Floats) -> list[float | None]:
    """Numbers as JSON has them: short, and null where they are blank or infinite."""
    finite = np.isfinite(values)
    rounded = np.round(np.where(finite, values, 0.0), DIGITS).tolist()
    short = [int(value) if value.is_integer() else value for value in rounded]
    return [value if known else None for value, known in zip(short, finite.tolist(), strict=True)]


def _grade(grade: float) -> float | None:
    return None if np.isnan(grade) else int(grade) if float(grade).is_integer() else float(grade)


UNJUDGED = "gu"


def grade_classes(found: Findings) -> dict[str, str]:
    """The grades of the qrels, ascending, and how each is drawn: hatched where it counts as unjudged, else from the
    color of what is not relevant to that of the top grade."""
    grader = found.ranked.grader
    labels, judged = grader.qrels.labels.tolist(), grader.judged[: len(grader.qrels.labels)].tolist()
    known = [(label, is_judged) for label, is_judged in zip(labels, judged, strict=True) if not np.isnan(label)]
    top = max((label for label, _ in known), default=0.0)
    return {f"{_grade(label)}": _class(label, top) if is_judged else UNJUDGED for label, is_judged in known}


def _class(grade: float, top: float) -> str:
    if grade <= 0:
        return "g0"
    return f"g{max(1, min(COLORS, round(grade) if top <= COLORS else math.ceil(COLORS * grade / top)))}"


COLORS = 4
"""Colors of relevant documents."""


def legend(found: Findings) -> list[tuple[str, str, str]]:
    """Each way to draw a grade that occurs: its class, the grades, and what they are, where colors do not say it."""
    classes = grade_classes(found)
    drawn = []
    for name in sorted(set(classes.values()) - {UNJUDGED}):
        grades = [grade for grade, of in classes.items() if of == name]
        text = grades[0] if len(grades) == 1 else f"{grades[0]} to {grades[-1]}"
        drawn.append((name, text, "not relevant" if name == "g0" else ""))
    hatched = ["?", *(grade for grade, of in classes.items() if of == UNJUDGED)]
    return [*drawn, (UNJUDGED, ", ".join(hatched), "unjudged")]


def scores_of_topics(found: Findings) -> list[Any]:
    """Measures × runs × two × topics: scores and residuals; null where a topic does not count for a run."""
    matrix = found.matrix
    parts = [np.where(matrix.included, values, np.nan) for values in (matrix.score, matrix.residual)]
    return [
        [[_rounded(values[run, :, column]) for values in parts] for run in range(len(matrix.runs))]
        for column in range(len(matrix.measures))
    ]


def most_different(found: Findings) -> Sequence[int]:
    """The topics of `found.matrix`, those on which the runs differ most by the first measure first; of one run those on
    which it scores worst."""
    matrix = found.matrix
    score = np.where(matrix.included, matrix.score, np.nan)[:, :, 0]
    known = np.where(np.isnan(score).all(0), 0.0, score)
    spread = np.nanmax(known, axis=0) - np.nanmin(known, axis=0)
    if len(matrix.runs) == 1:
        spread = -known[0] * matrix.reading(0).sign
    order: Sequence[int] = np.argsort(-spread, kind="stable").tolist()
    return order
