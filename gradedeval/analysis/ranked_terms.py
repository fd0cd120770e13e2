"""What each document of several runs adds to their scores, and what it could add: all topics of a run at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradedeval.analysis.contributions import check_by_rank, rises_of, terms_of
from gradedeval.analysis.ranked_runs import RankedRuns
from gradedeval.arrays import Floats
from gradedeval.scoring.scorer import Scorer


@dataclass(frozen=True, eq=False, repr=False)
class RankedTerms:
    """The scores of ranked runs, and what they are made of.

    scores     3 × runs × topics × measures, as `RankedRuns.scores`
    added      measures, runs: what each document of the run, down to the last rank, adds to the score of its topic
    could_add  the same: how much the score would rise if the document alone had the top gain; nan where it is judged.
               Empty unless it was asked for
    rest       measures × runs × topics: what else the score is made of
    """

    scores: Floats
    added: Sequence[Sequence[Floats]]
    could_add: Sequence[Sequence[Floats]]
    rest: Floats


def terms_by_run(ranked: RankedRuns, scorer: Scorer, last: int | None = None, could_add: bool = False) -> RankedTerms:
    """The terms of all documents of the runs, or of those down to the rank `last`. Raises InputError where a
    user-defined measure fails."""
    for measure in scorer.measures:
        check_by_rank(measure)
    row = {topic: number for number, topic in enumerate(ranked.topics)}
    shape = (len(ranked.runs), len(ranked.topics))
    values = np.full((3, *shape, len(scorer.measures)), np.nan)
    rest = np.zeros((len(scorer.measures), *shape))
    counts = [run.counts if last is None else np.minimum(run.counts, last) for run in ranked.runs]
    added = [[np.zeros(int(count.sum())) for count in counts] for _ in scorer.measures]
    rises = [[np.full(len(one), np.nan) for one in of_runs] for of_runs in (added if could_add else [])]
    for number, run in enumerate(ranked.runs):
        begin = np.cumsum(counts[number]) - counts[number]
        for batch in ranked.batches(run, scorer.grader):
            topics = [row[topic] for topic in batch.topics]
            values[:, number, topics] = scorer.score_batch(batch).values
            gains_of = scorer.gains_cache(batch)
            for column, (measure, table) in enumerate(zip(scorer.measures, scorer.tables, strict=True)):
                gains = gains_of(table, measure)
                terms, rest[column, number, topics] = terms_of(measure, gains, last)
                there = np.arange(terms.shape[1]) < gains.retrieved[:, None]
                which = (begin[topics][:, None] + np.arange(terms.shape[1]))[there]
                added[column][number][which] = terms[there]
                if could_add and measure.residual != "none" and scorer.options.wants_residuals:
                    best = gains_of(table, measure, unjudged=table.top)
                    rises[column][number][which] = rises_of(measure, gains, best, last)[there]
        values[:, number, ~run.listed] = np.nan
    return RankedTerms(values, added, rises, rest)
