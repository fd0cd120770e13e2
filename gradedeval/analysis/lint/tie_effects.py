"""How far each measure could move under the ties: the run scored in the best order of tied documents, and the worst."""

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


def clean_qrels(judged: Judgments) -> Qrels:
    """The judgments that are in order."""
    return Qrels(
        {
            decode(topic): {decode(docno): grade for docno, grade in known.items()}
            for topic, known in judged.grades.items()
        }
    )


def check_moves(run: Submission, facts: Facts, qrels: Qrels, measures: Sequence[Measure]) -> None:
    """Score the run, and note how far ties leave its scores open. Raises InputError where a measure cannot be had."""
    if not any(topic in qrels.row for topic in run.topics):
        return
    orders: dict[str, Ties] = {"score": "docno-desc"}
    if facts.tied:
        orders |= {"worst": "worst", "best": "best"}
    means = {name: _means(run, qrels, measures, ties) for name, ties in orders.items()}
    for at, measure in enumerate(measures):
        own = {name: float(found[at]) for name, found in means.items()}
        facts.moves[str(measure)] = {"worst": own["score"], "best": own["score"], **own}
    ranges = {name: (f"{own['worst']:.4f}", f"{own['best']:.4f}") for name, own in facts.moves.items()}
    moving = [f"{name} {worst}..{best}" for name, (worst, best) in ranges.items() if worst != best]
    if moving:
        what = f"{facts.tied} of {facts.documents} documents tied: by their order {', '.join(moving)}"
        run.warn("ties", what, "give scores that differ")


def _means(run: Submission, qrels: Qrels, measures: Sequence[Measure], ties: Ties) -> list[float]:
    options = replace(Options(), ties=ties)
    topics = {topic: TopicResults(own.docnos, own.scores, own.ranks) for topic, own in run.topics.items()}
    scorer = Scorer(qrels, measures, options)
    scored = map_lists(scorer.score_part, Run(run.place, topics), scorer.grader)
    found = scorer.merge(run.name, scored.batches, scored.topics, scored.missing)
    return [
        found.summary("score", at, measure.definition.summary) if found.topics else np.nan
        for at, measure in enumerate(scorer.measures)
    ]
