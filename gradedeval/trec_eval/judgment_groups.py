"""Runs scored by preferences, or by every judgment group of the qrels on its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import Fault, Findings, some
from gradedeval.measures.definition import Measure
from gradedeval.options import Rules
from gradedeval.rankings.grade_in_memory import grade_listed
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.run import Retrieved, Run, run_of_bytes
from gradedeval.scoring.scorer import Scorer, applied
from gradedeval.scoring.scores import RunScores
from gradedeval.trec.lines import QRELS_FIELDS, decimal, fields, raw, text
from gradedeval.trec.source import Source
from gradedeval.trec_eval.output_lines import Line
from gradedeval.trec_eval.preferences import Preferences, preference_scores
from gradedeval.trec_eval.score import Scored

BETWEEN = b"\t"
"""What stands between topic and group: no id has a tab."""


def score_preferences(name: str, path: str, preferences: Preferences, lines: list[Line], rules: Rules) -> Scored:
    """A run by the measures of preferences. Raises Fault where it is none."""
    run = _read(path, rules)
    topics, notes = _chosen(run, preferences.topics, preferences.place, rules)
    values = np.zeros((len(topics), len(lines)))
    for row, topic in enumerate(topics):
        scores = preference_scores(preferences.topics[topic], _ranking(run.topics.get(topic), rules))
        values[row] = [scores.get(line.name, np.nan) for line in lines]
    return _scored(name, run, topics, values, notes)


@dataclass(frozen=True)
class GroupedQrels:
    """Qrels of judgment groups: each is a topic of its own in `qrels`. topics: topic -> groups."""

    qrels: Qrels
    topics: dict[bytes, list[bytes]]


def read_groups(path: str) -> GroupedQrels:
    """Qrels whose second column names the judgment group. Raises Fault where a line is none."""
    source = Source(path)
    findings = Findings(source.place)
    judged: dict[bytes, dict[bytes, float]] = {}
    topics: dict[bytes, list[bytes]] = {}
    for number, (topic, group, docno, token) in fields(source.read(), findings, QRELS_FIELDS):
        grade = decimal(token)
        own = judged.setdefault(topic + BETWEEN + group, {})
        if grade != grade:
            findings.add(number, f"grade '{text(token)}' is no number", "a grade is a number, as in 2 or 0.5")
        elif docno in own:
            what = f"docno {text(docno)} of topic {text(topic)} again in group {text(group)}"
            findings.add(number, what, "give it once")
        else:
            own[docno] = grade
            topics.setdefault(topic, [])
            if group not in topics[topic]:
                topics[topic].append(group)
    findings.check()
    if not judged:
        raise Fault(source.place, "no judgements", f"lines of {' '.join(QRELS_FIELDS)} are expected")
    qrels = Qrels({text(topic): {text(docno): grade for docno, grade in own.items()} for topic, own in judged.items()})
    qrels.place = source.place
    return GroupedQrels(qrels, topics)


def score_groups(name: str, path: str, groups: GroupedQrels, lines: list[Line], rules: Rules) -> Scored:
    """A run by ordinary measures, each group of a topic by itself, averaged over its groups. Raises Fault as above."""
    run = _read(path, rules)
    topics, notes = _chosen(run, groups.topics, groups.qrels.place, rules)
    repeated = {
        topic + BETWEEN + group: run.topics[topic]
        for topic in topics
        if topic in run.topics
        for group in groups.topics[topic]
    }
    measures = [line.measure for line in lines if line.measure is not None]
    scorer = Scorer(groups.qrels, measures, rules)
    found = scorer.score(grade_listed(Run(run.place, repeated), groups.qrels, rules), name)
    row = {raw(topic): at for at, topic in enumerate(found.topics)}
    column = {measure: at for at, measure in enumerate(scorer.measures)}

    def averaged(topic: bytes, measure: Measure) -> float:
        own = [found.score[row[topic + BETWEEN + group], column[measure]] for group in groups.topics[topic]]
        return float(np.cumsum(own)[-1]) / len(own)

    values = np.full((len(topics), len(lines)), np.nan)
    for at, line in enumerate(lines):
        if line.measure is not None:
            values[:, at] = [averaged(topic, applied(line.measure, rules)) for topic in topics]
    return _scored(name, run, topics, values, notes)


def _read(path: str, rules: Rules) -> Run:
    source = Source(path)
    return run_of_bytes(source.place, source.read(), rules)


def _chosen(run: Run, judged: Iterable[bytes], place: str, rules: Rules) -> tuple[list[bytes], list[str]]:
    """The topics that count, in byte order, and what to say of the others."""
    known = sorted(judged)
    both = [topic for topic in known if topic in run.topics]
    if not both:
        raise Fault(run.place, f"no topic in common with {place}", "are they one collection's?")
    missing = [text(topic) for topic in known if topic not in run.topics]
    fate = "they score 0" if rules.topics == "qrels" else "left out"
    said = f"{run.place}: {len(missing)} of {len(known)} topics of {place} not in the run ({some(missing)}); {fate}"
    return (known if rules.topics == "qrels" else both), [said] if missing else []


def _ranking(found: Retrieved | None, rules: Rules) -> list[bytes]:
    """Documents from the best to the worst. Ties come in rising order of docnos here, unlike everywhere else."""
    if found is None:
        return []
    scores: Floats = np.array(found.scores)
    if rules.scores == "float32":
        scores = scores.astype(np.float32).astype(np.float64)
    order = sorted(range(len(found.docnos)), key=lambda at: (-scores[at], found.docnos[at]))
    return [found.docnos[at] for at in order[: rules.depth]]


def _scored(name: str, run: Run, topics: list[bytes], values: Floats, notes: list[str]) -> Scored:
    names = [text(topic) for topic in topics]
    empty = [topic not in run.topics for topic in topics]
    blank = np.full(values.shape, np.nan)
    scores = RunScores(name, names, sum(empty), values, blank, blank, np.ones(values.shape, dtype=bool))
    return Scored(name, run.tag, names, values, {}, empty, scores, [*run.notes, *notes])
