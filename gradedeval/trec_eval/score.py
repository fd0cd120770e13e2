"""A run scored topic by topic in trec_eval's order, with what its lines need besides scores."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.measures.definition import Measure
from gradedeval.measures.table import MEASURES
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import Batch
from gradedeval.scoring.run_parts import grade_run
from gradedeval.scoring.scorer import Scorer, with_defaults
from gradedeval.scoring.scores import RunScores
from gradedeval.trec.lines import decode, encode
from gradedeval.trec_eval.output_lines import Line


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """A run's scores in byte order of the topics.

    run      the name of the run, and `tag` its sixth column
    values   topics × lines: the score, nan for text
    strings  topic -> relevance string: the grades of its first documents, one character each
    empty    topics: whether the run has no document of it
    scores   the scores as the other formats print them
    """

    run: str
    tag: str
    topics: list[str]
    values: Floats
    strings: dict[str, str]
    empty: list[bool]
    scores: RunScores
    notes: list[str] = field(default_factory=list)


def needed_measures(lines: list[Line]) -> list[Measure]:
    """The measures that these lines need."""
    measures = [line.measure for line in lines if line.measure is not None]
    return measures + [MEASURES["num_rel"] for line in lines if line.relevant]


def score_run(name: str, path: str, scorer: Scorer, lines: list[Line], workers: Workers) -> ScoredRun:
    """Score a run by the measures of the lines. Raises InputError for an invalid run."""
    graded = grade_run(path, replace(scorer.grader, last_rank=None), workers)
    scored = [scorer.score_batch(batch) for batch in graded.batches]
    scores = scorer.merge(name, scored, graded.topics, graded.missing)
    details = _Details(scorer.qrels.labels, max((line.length for line in lines), default=0))
    for batch in graded.batches:
        details.add(batch)
    order = sorted(range(len(scores.topics)), key=lambda at: encode(scores.topics[at]))
    column = {measure: at for at, measure in enumerate(scorer.measures)}
    values = np.full((len(order), len(lines)), np.nan)
    for column_index, line in enumerate(lines):
        if line.measure is not None:
            values[:, column_index] = scores.score[order, column[with_defaults(line.measure, scorer.options)]]
            if line.relevant:
                relevant = scores.score[order, column[with_defaults(MEASURES["num_rel"], scorer.options)]]
                values[:, column_index] *= relevant > 0
    topics = [scores.topics[at] for at in order]
    empty = [not details.retrieved.get(topic, 0) for topic in topics]
    return ScoredRun(name, graded.tag, topics, values, details.strings, empty, scores, graded.notes)


class _Details:
    """What trec_eval prints of batches besides scores."""

    def __init__(self, labels: Floats, length: int) -> None:
        self.length = length
        # The codes after the labels are: unjudged, and past the end of the ranking.
        self.characters = np.array([*(_character(label) for label in labels.tolist()), "-", ""], dtype="U1")
        self.strings: dict[str, str] = {}
        self.retrieved: dict[str, int] = {}

    def add(self, batch: Batch) -> None:
        topics = [decode(topic) for topic in batch.topics]
        self.retrieved.update(zip(topics, batch.retrieved.tolist(), strict=True))
        if self.length:
            shown: Any = self.characters[batch.codes[:, : self.length]]
            self.strings.update(zip(topics, ("".join(row) for row in shown.tolist()), strict=True))


def _character(label: float) -> str:
    if label < 0:
        return {-1: ".", -2: "-"}.get(int(label), "<")
    return ">" if label > 9 else str(int(label))
