"""How much ties can change each measure: the run scored with tied documents in the best and in the worst order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradedeval.analysis.lint.checks import Facts
from gradedeval.analysis.lint.submissions import Judgments, Submission
from gradedeval.measures.definition import Measure
from gradedeval.options import Options, Ties
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.run import Run, TopicResults
from gradedeval.scoring.run_parts import map_lists
from gradedeval.scoring.scorer import Scorer
from gradedeval.trec.lines import decode


def valid_qrels(judged: Judgments) -> Qrels:
    """The judgments without defects."""
    return Qrels(
        {
            decode(topic): {decode(docno): grade for docno, grade in known.items()}
            for topic, known in judged.grades.items()
        }
    )


def check_tie_effects(run: Submission, facts: Facts, qrels: Qrels, measures: Sequence[Measure]) -> None:
    """Score the run, and warn where ties change its scores. Raises InputError where a measure cannot be computed."""
    if not any(topic in qrels.row for topic in run.topics):
        return
    orders: dict[str, Ties] = {"score": "docno-desc"}
    if facts.tied:
        orders |= {"worst": "worst", "best": "best"}
    means = {name: _means(run, qrels, measures, ties) for name, ties in orders.items()}
    for column, measure in enumerate(measures):
        values = {name: float(scores[column]) for name, scores in means.items()}
        facts.moves[str(measure)] = {"worst": values["score"], "best": values["score"], **values}
    ranges = {name: (f"{values['worst']:.4f}", f"{values['best']:.4f}") for name, values in facts.moves.items()}
    moving = [f"{name} {worst}..{best}" for name, (worst, best) in ranges.items() if worst != best]
    if moving:
        what = f"{facts.tied} of {facts.documents} documents tied, so scores depend on their order: {', '.join(moving)}"
        run.warn("ties", what, "give scores that differ")


def _means(run: Submission, qrels: Qrels, measures: Sequence[Measure], ties: Ties) -> list[float]:
    options = replace(Options(), ties=ties)
    topics = {
        topic: TopicResults(ranking.docnos, ranking.scores, ranking.ranks) for topic, ranking in run.topics.items()
    }
    scorer = Scorer(qrels, measures, options)
    scored = map_lists(scorer.score_part, Run(run.place, topics), scorer.grader)
    scores = scorer.merge(run.name, scored.batches, scored.topics, scored.missing)
    return [
        scores.summary("score", column, measure.definition.summary) if scores.topics else np.nan
        for column, measure in enumerate(scorer.measures)
    ]
