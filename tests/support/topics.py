"""Topics of a few documents, and the results of every measure for them in one evaluation."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import gradedeval
from gradedeval import Measure
from support import reference

LABELS, TOP = (-1, 0, 1, 2, 3), 3
SCALE = reference.Scale(LABELS, TOP)

# A topic that is always there, so that the scale of the qrels does not hang on the others.
ANCHOR = {f"grade{label}": label for label in LABELS}


@dataclass(frozen=True)
class Topic:
    """The grades of the retrieved documents (None: unjudged), from rank 1 on, and of the judged ones that are not
    retrieved; and the sizes of ties, from rank 1 on."""

    ranking: tuple[int | None, ...]
    missed: tuple[int, ...] = ()
    ties: tuple[int, ...] = ()

    @property
    def pool(self) -> list[int]:
        return [grade for grade in self.ranking if grade is not None] + list(self.missed)

    @property
    def run(self) -> dict[str, float]:
        begins = [
            first for first, size in zip(np.cumsum([0, *self.ties]), self.ties, strict=False) for _ in range(size)
        ]
        return {f"d{rank}": -float(begins[rank] if rank < len(begins) else rank) for rank in range(len(self.ranking))}

    @property
    def judgments(self) -> dict[str, int]:
        retrieved = {f"d{rank}": grade for rank, grade in enumerate(self.ranking) if grade is not None}
        return {**retrieved, **{f"m{number}": grade for number, grade in enumerate(self.missed)}}


@dataclass(frozen=True, eq=False)
class Found:
    """Scores, residuals and, on request, bounds by topic: a row for each topic, a column for each measure, nan for
    blank; bounds are 2 × topics × measures."""

    measures: list[Measure]
    row: dict[str, int]
    score: Any
    unjudged: Any
    residual: Any
    bounds: Any = None

    def of(self, measure: Measure, part: str = "score") -> Any:
        return getattr(self, part)[:, self.measures.index(measure)]

    def bits(self, topic: str) -> bytes:
        """Return all that was found for a topic, to the last bit."""
        return b"".join(part[self.row[topic]].tobytes() for part in (self.score, self.unjudged, self.residual))


def evaluated(run: Any, qrels: Any, measures: Sequence[Measure], **rules: Any) -> Found:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gradedeval.EvaluationWarning)  # topics without run or judgments are wanted here
        scores = gradedeval.evaluate(run, qrels, measures, **{"top_grade": TOP, "residuals": "split", **rules})
    run_scores = scores.runs[0]
    row = {topic: row_of_topic for row_of_topic, topic in enumerate(run_scores.topics)}
    return Found(scores.measures, row, run_scores.score, run_scores.unjudged, run_scores.residual, run_scores.bounds)


def scored(topics: Sequence[Topic], measures: Sequence[Measure], /, **rules: Any) -> Found:
    """Return the results of topics, in their order. A topic without judgments counts, too."""
    run = {f"t{number}": topic.run for number, topic in enumerate(topics)} | {"anchor": {"grade3": 1.0}}
    qrels = {f"t{number}": topic.judgments for number, topic in enumerate(topics)} | {"anchor": ANCHOR}
    scores_of = evaluated(run, qrels, measures, **{"topics": "run", **rules})
    order = [scores_of.row[f"t{number}"] for number in range(len(topics))]
    bounds = scores_of.bounds[:, order] if scores_of.bounds is not None else None
    return Found(
        scores_of.measures, {}, scores_of.score[order], scores_of.unjudged[order], scores_of.residual[order], bounds
    )


retrieved = st.lists(st.sampled_from([None, None, -1, 0, 0, 1, 2, 3]), max_size=12).map(tuple)
missed = st.lists(st.sampled_from([-1, 0, 1, 2, 3]), max_size=6).map(tuple)
any_topic = st.builds(Topic, retrieved, missed)
