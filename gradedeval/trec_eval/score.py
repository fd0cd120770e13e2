"""A run scored topic by topic in trec_eval's order, with what its lines need beside the scores."""

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
class Scored:
    """A run's scores in byte order of the topics.

    run      what it is called, and `tag` what it calls itself
    values   topics × lines: the score, nan for text
    strings  topic -> the grades of its first documents, one character each
    empty    topics: whether the run has no document of it
    scores   the same as the rest of the package knows it
    """

    run: str
    tag: str
    topics: list[str]
    values: Floats
    strings: dict[str, str]
    empty: list[bool]
    scores: RunScores
    notes: list[str] = field(default_factory=list)


def needed(lines: list[Line]) -> list[Measure]:
    """The measures that these lines rest on."""
    own = [line.measure for line in lines if line.measure is not None]
    return own + [MEASURES["num_rel"] for line in lines if line.relevant]


def score_run(name: str, path: str, scorer: Scorer, lines: list[Line], workers: Workers) -> Scored:
    """Score a run by the measures of the lines. Raises InputError where it is none."""
    graded = grade_run(path, replace(scorer.grader, last_rank=None), workers)
    scored = [scorer.score_batch(batch) for batch in graded.batches]
    scores = scorer.merge(name, scored, graded.topics, graded.missing)
    seen = _Seen(scorer.qrels.labels, max((line.length for line in lines), default=0))
    for batch in graded.batches:
        seen.add(batch)
    order = sorted(range(len(scores.topics)), key=lambda at: encode(scores.topics[at]))
    column = {measure: at for at, measure in enumerate(scorer.measures)}
    values = np.full((len(order), len(lines)), np.nan)
    for at, line in enumerate(lines):
        if line.measure is not None:
            values[:, at] = scores.score[order, column[with_defaults(line.measure, scorer.options)]]
            if line.relevant:
                known = scores.score[order, column[with_defaults(MEASURES["num_rel"], scorer.options)]]
                values[:, at] *= known > 0
    topics = [scores.topics[at] for at in order]
    empty = [not seen.retrieved.get(topic, 0) for topic in topics]
    return Scored(name, graded.tag, topics, values, seen.strings, empty, scores, graded.notes)


class _Seen:
    """What trec_eval prints of batches beside scores."""

    def __init__(self, labels: Floats, length: int) -> None:
        self.length = length
        # Codes after the labels: unjudged, beyond the end.
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
