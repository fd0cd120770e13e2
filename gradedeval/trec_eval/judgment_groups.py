"""Runs scored by preferences, or by each judgment group of the qrels separately."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError, ProblemList, shorten
from gradedeval.measures.definition import Measure
from gradedeval.options import Options
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.run import Run, TopicResults, run_of_bytes
from gradedeval.rankings.topics import no_common_topics
from gradedeval.scoring.run_parts import map_lists
from gradedeval.scoring.scorer import Scorer, with_defaults
from gradedeval.scoring.scores import RunScores
from gradedeval.trec.duplicates import document, duplicate, settle_duplicates
from gradedeval.trec.lines import QRELS_FIELDS, about_number, decimal, decode, encode, expected_lines, records
from gradedeval.trec.source import Source
from gradedeval.trec_eval.output_lines import Line
from gradedeval.trec_eval.preferences import Preferences, preference_scores
from gradedeval.trec_eval.score import ScoredRun

BETWEEN = b"\t"
"""Separates topic and group: ids have no tabs."""


def score_preferences(name: str, path: str, preferences: Preferences, lines: list[Line], options: Options) -> ScoredRun:
    """Score a run by preference measures. Raises InputError for an invalid run."""
    run = _read(path, options)
    topics, notes = _chosen(run, preferences.topics, preferences.place, options)
    values = np.zeros((len(topics), len(lines)))
    for row, topic in enumerate(topics):
        scores = preference_scores(preferences.topics[topic], _ranking(run.topics.get(topic), options))
        values[row] = [scores.get(line.name, np.nan) for line in lines]
    return _scored(name, run, topics, values, notes)


@dataclass(frozen=True)
class GroupedQrels:
    """Qrels of judgment groups: each group is a separate topic in `qrels`. topics: topic -> groups."""

    qrels: Qrels
    topics: dict[bytes, list[bytes]]


def read_groups(path: str) -> GroupedQrels:
    """Qrels whose second column names the judgment group. Raises InputError for bad lines."""
    source = Source(path)
    problems = ProblemList(source.place)
    keys: list[tuple[bytes, bytes, bytes]] = []
    lines: list[int] = []
    grades: list[float] = []
    for number, (topic, group, docno, token) in records(source.read(), QRELS_FIELDS, problems):
        if (grade := decimal(token)) != grade:
            problems.add(number, *about_number("grade", token, number))
            continue
        keys.append((topic, group, docno))
        lines.append(number)
        grades.append(grade)

    def repeated(position: int, first: int) -> None:
        topic, group, docno = keys[position]
        what = duplicate(f"{document(docno, topic)}, group {decode(group)}", lines[first])
        problems.add(lines[position], what, kind="duplicate-judgment")

    judged: dict[bytes, dict[bytes, float]] = {}
    topics: dict[bytes, dict[bytes, None]] = {}
    for (topic, group, docno), position in settle_duplicates(keys, "error", repeated).items():
        judged.setdefault(topic + BETWEEN + group, {})[docno] = grades[position]
        topics.setdefault(topic, {})[group] = None
    problems.check()
    if not judged:
        raise InputError(source.place, "no judgments", expected_lines(QRELS_FIELDS), kind="empty")
    qrels = Qrels(
        {
            decode(topic): {decode(docno): grade for docno, grade in grades_of.items()}
            for topic, grades_of in judged.items()
        }
    )
    qrels.place = source.place
    return GroupedQrels(qrels, {topic: list(groups) for topic, groups in topics.items()})


def score_groups(name: str, path: str, groups: GroupedQrels, lines: list[Line], options: Options) -> ScoredRun:
    """Score a run by ordinary measures: a topic's score is the mean over its groups. Raises InputError for an invalid
    run."""
    run = _read(path, options)
    topics, notes = _chosen(run, groups.topics, groups.qrels.place, options)
    repeated = {
        topic + BETWEEN + group: run.topics[topic]
        for topic in topics
        if topic in run.topics
        for group in groups.topics[topic]
    }
    measures = [line.measure for line in lines if line.measure is not None]
    scorer = Scorer(groups.qrels, measures, options)
    scored = map_lists(scorer.score_part, Run(run.place, repeated), scorer.grader)
    scores = scorer.merge(name, scored.batches, scored.topics, scored.missing)
    row = {encode(topic): at for at, topic in enumerate(scores.topics)}
    column = {measure: at for at, measure in enumerate(scorer.measures)}

    def averaged(topic: bytes, measure: Measure) -> float:
        values = [scores.score[row[topic + BETWEEN + group], column[measure]] for group in groups.topics[topic]]
        return float(np.cumsum(values)[-1]) / len(values)

    values = np.full((len(topics), len(lines)), np.nan)
    for column_index, line in enumerate(lines):
        if line.measure is not None:
            values[:, column_index] = [averaged(topic, with_defaults(line.measure, options)) for topic in topics]
    return _scored(name, run, topics, values, notes)


def _read(path: str, options: Options) -> Run:
    source = Source(path)
    return run_of_bytes(source.place, source.read(), options)


def _chosen(run: Run, judged: Iterable[bytes], place: str, options: Options) -> tuple[list[bytes], list[str]]:
    """The topics that are evaluated, in byte order, and a note about the others."""
    known = sorted(judged)
    both = [topic for topic in known if topic in run.topics]
    if not both:
        raise no_common_topics(run.place, run.topics, place, known)
    missing = [decode(topic) for topic in known if topic not in run.topics]
    fate = "they score 0" if options.topics == "qrels" else "left out"
    note = f"{run.place}: {len(missing)} of {len(known)} topics of {place} not in the run ({shorten(missing)}); {fate}"
    return (known if options.topics == "qrels" else both), [note] if missing else []


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
    names = [decode(topic) for topic in topics]
    empty = [topic not in run.topics for topic in topics]
    blank = np.full(values.shape, np.nan)
    scores = RunScores(name, names, sum(empty), values, blank, blank, np.ones(values.shape, dtype=bool))
    return ScoredRun(name, run.tag, names, values, {}, empty, scores, [*run.notes, *notes])
