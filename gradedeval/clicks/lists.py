"""The lists that runs show for their topics, as rankings that measures score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gradedeval.analysis.ranked_runs import rank_runs
from gradedeval.clicks.log import ClickLog
from gradedeval.errors import InputError
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import Gains
from gradedeval.options import Options
from gradedeval.rankings.batch import Batch
from gradedeval.rankings.grade import Grader
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.scorer import Scorer
from gradedeval.trec.lines import encode


def lists_of(runs: Mapping[str, Any], qrels: Qrels, options: Options, depth: int) -> tuple[ClickLog, list[str]]:
    """The first documents of each topic of each run, as a log without sessions, and the notes on the runs. Lists that
    several runs have are there once."""
    ranked = rank_runs(runs, Grader(qrels, replace(options, depth=depth)))
    found: dict[tuple[str, tuple[str, ...]], None] = {}
    for run in ranked.runs:
        for number, topic in enumerate(ranked.names):
            documents = run.of_topic(number)
            if run.listed[number] and len(documents):
                found[topic, tuple(ranked.docnos[documents].tolist())] = None
    if not found:
        raise InputError("", "no run has a document for any topic", "give runs of the topics in the qrels")
    # A topic that a run lacks shows nothing, which is not an empty ranking.
    notes = [note for note in ranked.notes if getattr(note, "kind", "") != "missing-topics"]
    return empty_log([topic for topic, _ in found], [shown for _, shown in found]), notes


def empty_log(topics: list[str], shown: list[tuple[str, ...]]) -> ClickLog:
    """A log of these lists, without sessions."""
    none = np.empty(0, dtype=np.int64)
    return ClickLog(topics, shown, [()], none, none, none)


def gains_of_lists(log: ClickLog, qrels: Qrels, measure: Measure, options: Options) -> Gains:
    """The lists of a log as a measure sees them, each as a ranking of its topic."""
    scorer = Scorer(qrels, [measure], options)
    return scorer.gains_cache(batch_of(log, scorer.grader.qrels))(scorer.tables[0], scorer.measures[0])


def batch_of(log: ClickLog, qrels: Qrels) -> Batch:
    """The lists of a log as rankings of their topics, joined with the judgments."""
    topics = [encode(topic) for topic in log.topics]
    labels, width = len(qrels.labels), max(map(len, log.shown), default=0)
    codes = np.full((len(topics), width), labels + 1, dtype=np.int64)
    for row, (topic, shown) in enumerate(zip(topics, log.shown, strict=True)):
        known = qrels._text_codes.get(topic, {})
        codes[row, : len(shown)] = [known.get(docno, labels) for docno in shown]
    return Batch(topics, codes, log.lengths, qrels._pool_of(topics))
