"""Runs scored by preferences, or by each judgment group of the qrels separately."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError, ProblemList, shorten
from gradedeval.interop.trec_eval.output_lines import Line
from gradedeval.interop.trec_eval.preferences import Lists, preference_scores
from gradedeval.interop.trec_eval.score import ScoredRun, line_values
from gradedeval.options import Options
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.run import Run, TopicResults, run_of_lines
from gradedeval.rankings.topics import no_common_topics
from gradedeval.scoring.run_parts import map_lists
from gradedeval.scoring.scorer import Scorer
from gradedeval.trec.duplicates import document, duplicate
from gradedeval.trec.layouts import PREFERENCES, QRELS
from gradedeval.trec.lines import about_number, decimal, decode, expected_lines, records
from gradedeval.trec.source import Source
from gradedeval.trec.stream import Stream

BETWEEN = b"\t"
"""Separates topic and group: ids have no tabs."""


@dataclass(frozen=True, eq=False)
class JudgmentGroups:
    """The judgments of a file, in file order: topic -> group -> lists. `place` is what messages call it."""

    place: str
    topics: dict[bytes, dict[bytes, Lists]]

    @cached_property
    def qrels(self) -> Qrels:
        """Each group as a topic of its own."""
        judged = {
            decode(topic + BETWEEN + group): {decode(docno): grade for docno, grade in lists[b""].items()}
            for topic, groups in self.topics.items()
            for group, lists in groups.items()
        }
        qrels = Qrels(judged)
        qrels.place = self.place
        return qrels


def read_groups(path: str, holds: str) -> JudgmentGroups:
    """The judgments of a file of judgment groups (`qrels_jg`) or preferences (`prefs`, `qrels_prefs`).

    `prefs` has five fields per line; `qrels_prefs` is qrels, one list for each topic. Raises InputError for bad lines,
    and where a list has a document twice.
    """
    place = Source(path).place
    problems = ProblemList(place)
    layout = PREFERENCES if holds == "prefs" else QRELS
    name, judgments = ("grade", "judgments") if holds == "qrels_jg" else ("value", "preferences")
    topics: dict[bytes, dict[bytes, Lists]] = {}
    first_line: dict[tuple[bytes, ...], int] = {}
    with closing(Stream(Source(path))) as stream:
        for number, row in records(stream, layout, problems):
            topic, *_, docno, token = row
            if (value := decimal(token)) != value:
                problems.add(number, *about_number(name, token, number))
                continue
            group = b"" if holds == "qrels_prefs" else row[1]
            subgroup = row[2] if holds == "prefs" else b""
            first = first_line.setdefault((topic, group, subgroup, docno), number)
            if first != number:
                where = f", group {decode(group)}" if holds == "qrels_jg" else " in its list"
                what = duplicate(f"{document(docno, topic)}{where}", first)
                problems.add(number, what, kind="duplicate-judgment")
            topics.setdefault(topic, {}).setdefault(group, {}).setdefault(subgroup, {})[docno] = value
    problems.check()
    if not topics:
        raise InputError(place, f"no {judgments}", expected_lines(layout), kind="empty")
    return JudgmentGroups(place, topics)


def score_preferences(name: str, path: str, groups: JudgmentGroups, lines: list[Line], options: Options) -> ScoredRun:
    """Score a run by preference measures. Raises InputError for an invalid run, and contradictory preferences."""
    run, topics, notes = _read(path, groups, options)
    values = np.zeros((len(topics), len(lines)))
    for row, topic in enumerate(topics):
        try:
            scores = preference_scores(groups.topics[topic], _ranking(run.topics.get(topic), options))
        except InputError as error:
            raise error.replace(place=f"{groups.place}: topic {decode(topic)}") from None
        values[row] = [scores.get(line.name, np.nan) for line in lines]
    return _scored(name, run, topics, values, notes)


def score_groups(name: str, path: str, groups: JudgmentGroups, lines: list[Line], options: Options) -> ScoredRun:
    """Score a run by ordinary measures: a topic's score is the mean over its groups. Raises InputError for an invalid
    run."""
    run, topics, notes = _read(path, groups, options)
    repeated = {
        topic + BETWEEN + group: run.topics[topic]
        for topic in topics
        if topic in run.topics
        for group in groups.topics[topic]
    }
    scorer = Scorer(groups.qrels, [line.measure for line in lines if line.measure is not None], options)
    scored = map_lists(scorer.score_part, Run(run.place, repeated), scorer.grader)
    score = scorer.merge(name, scored.batches, scored.topics, scored.missing).score
    row = {topic: number for number, topic in enumerate(scored.topics)}
    means = []
    for topic in topics:
        rows = [row[topic + BETWEEN + group] for group in groups.topics[topic]]
        means.append(score[rows].cumsum(0)[-1] / len(rows))  # added up one by one, as trec_eval does
    return _scored(name, run, topics, line_values(np.array(means), lines, scorer), notes)


def _read(path: str, groups: JudgmentGroups, options: Options) -> tuple[Run, list[bytes], list[str]]:
    """A run, the topics that are evaluated in byte order, and a note about the others."""
    with closing(Stream(Source(path))) as stream:
        run = run_of_lines(stream, options)
    known, place = sorted(groups.topics), groups.place
    both = [topic for topic in known if topic in run.topics]
    if not both:
        raise no_common_topics(run.place, run.topics, place, known)
    missing = [decode(topic) for topic in known if topic not in run.topics]
    fate = "they score 0" if options.topics == "qrels" else "left out"
    note = f"{run.place}: {len(missing)} of {len(known)} topics of {place} not in the run ({shorten(missing)}); {fate}"
    return run, known if options.topics == "qrels" else both, [note] if missing else []


def _ranking(results: TopicResults | None, options: Options) -> list[bytes]:
    """Docnos from the best to the worst. Unlike everywhere else, trec_eval breaks ties here by ascending docno."""
    if results is None:
        return []
    scores: Floats = np.array(results.scores)
    if options.scores == "float32":
        scores = scores.astype(np.float32).astype(np.float64)
    order = sorted(range(len(results.docnos)), key=lambda i: (-scores[i], results.docnos[i]))
    return [results.docnos[i] for i in order[: options.depth]]


def _scored(name: str, run: Run, topics: list[bytes], values: Floats, notes: list[str]) -> ScoredRun:
    empty = [topic not in run.topics for topic in topics]
    return ScoredRun(name, run.tag, [decode(topic) for topic in topics], values, empty, [*run.notes, *notes])
