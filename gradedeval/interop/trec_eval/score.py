"""A run scored topic by topic in trec_eval's order, with what its lines need besides scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.interop.trec_eval.output_lines import Line
from gradedeval.measures.definition import Measure
from gradedeval.measures.table import MEASURES
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import Batch
from gradedeval.scoring.by_measure import with_defaults
from gradedeval.scoring.doubts import doubts, not_too_many
from gradedeval.scoring.run_parts import grade_run
from gradedeval.scoring.run_scores import RunScores
from gradedeval.scoring.scorer import Scorer
from gradedeval.trec.lines import decode


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """A run's scores in byte order of the topics.

    run      the name of the run, and `tag` its sixth column
    values   topics × lines: the score, nan for text
    empty    topics: whether the run has no document of it
    strings  topic -> relevance string: the grades of its first documents, one character each
    """

    run: str
    tag: str
    topics: list[str]
    values: Floats
    empty: list[bool]
    notes: list[str]
    strings: dict[str, str] = field(default_factory=dict)


def needed_measures(lines: list[Line]) -> list[Measure]:
    """The measures that these lines need."""
    measures = [line.measure for line in lines if line.measure is not None]
    return measures + [MEASURES["num_rel"] for line in lines if line.relevant]


def score_run(name: str, path: str, scorer: Scorer, lines: list[Line], workers: Workers) -> tuple[ScoredRun, RunScores]:
    """A run scored by the measures of the lines, and the scores as the other formats print them.

    Raises InputError for an invalid run.
    """
    graded = grade_run(path, replace(scorer.grader, last_rank=None), workers)
    batches, topics = graded.batches, graded.topics
    scored = graded.with_batches([scorer.score_with_ties(batch) for batch in batches])
    scores = scorer.merge(name, scored.batches, topics, graded.missing)
    order = sorted(range(len(topics)), key=topics.__getitem__)
    retrieved = dict(pair for batch in batches for pair in zip(batch.topics, batch.retrieved.tolist(), strict=True))
    empty = [not retrieved.get(topics[row], 0) for row in order]
    names, values = [decode(topics[row]) for row in order], line_values(scores.score[order], lines, scorer)
    notes = not_too_many([*graded.notes, *doubts(scored, scores, scorer, names_of(lines, scorer))])
    strings = _relevance_strings(batches, scorer.qrels.labels, max((line.length for line in lines), default=0))
    return ScoredRun(name, graded.tag, names, values, empty, notes, strings), scores


def names_of(lines: list[Line], scorer: Scorer) -> list[str]:
    """What the lines call the measures of the scorer; those that they need beside by their own names."""
    called: dict[Measure, str] = {}
    for line in lines:
        if line.measure is not None:
            called.setdefault(with_defaults(line.measure, scorer.options), line.name)
    return [called.get(measure, measure.label) for measure in scorer.measures]


def line_values(scores: Floats, lines: list[Line], scorer: Scorer) -> Floats:
    """topics × lines: the scores, given for topics × measures of the scorer, by the measure of each line."""
    column = {measure: number for number, measure in enumerate(scorer.measures)}
    values = np.full((len(scores), len(lines)), np.nan)
    for number, line in enumerate(lines):
        if line.measure is not None:
            values[:, number] = scores[:, column[with_defaults(line.measure, scorer.options)]]
        if line.relevant:
            values[:, number] *= scores[:, column[with_defaults(MEASURES["num_rel"], scorer.options)]] > 0
    return values


def _relevance_strings(batches: Sequence[Batch], labels: Floats, length: int) -> dict[str, str]:
    """topic -> the grades of its first documents, one character each."""
    if not length:
        return {}
    # The codes after the labels are: unjudged, and past the end of the ranking.
    characters = np.array([*map(_character, labels.tolist()), "-", ""], dtype="U1")
    strings: dict[str, str] = {}
    for batch in batches:
        shown: Any = characters[batch.codes[:, :length]]
        strings.update(zip(map(decode, batch.topics), map("".join, shown.tolist()), strict=True))
    return strings


def _character(label: float) -> str:
    if label < 0:
        return "."
    return ">" if label > 9 else str(int(label))
