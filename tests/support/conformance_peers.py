"""Differences of other tools from the conformance vectors: each reason as a change of the exact program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from support import conformance_measures as exact
from support.conformance import Case, by_topic, cases, topics
from support.conformance_measures import Real, mp

Scores = dict[str, Real]

PYTREC_EVAL = re.compile(r"AP|P@|P\(rel|R@|RR$|Rprec|nDCG(@|$)|Bpref|infAP|IPrec|Success|Set|Num")
"""The measures that ir_measures takes from pytrec_eval; below from gdeval, cwl_eval and pyndeval."""
GDEVAL = re.compile(r"ERR@|nDCG\(dcg")
CWL_EVAL = re.compile(r"RBP|INS[QT]|SDCG|BPM|NERR")
NDEVAL = re.compile(r"alpha_|n?NRBP|StRecall|n?ERR_IA|(AP|P)_IA")


@dataclass(frozen=True)
class Difference:
    """A reason for a different number.

    names   its measures, by their names in the tool
    change  the case under the tool's convention
    scores  what the tool makes of the scores
    """

    tool: str
    reason: str
    names: re.Pattern[str]
    change: Callable[[Case], Case] = lambda case: case
    scores: Callable[[Case, Scores], Scores] = lambda case, scores: scores

    def concerns(self, case: Case) -> bool:
        return bool(self.names.match(case.elsewhere.get(self.tool, "")))


def options(**changed: Any) -> Callable[[Case], Case]:
    """Return the change of a case by options."""
    return lambda case: replace(case, options={**case.options, **changed})


def parameters(**changed: Any) -> Callable[[Case], Case]:
    """Return the change of a case by parameters of its measure."""
    return lambda case: replace(case, entry=replace(case.entry, changed={**case.entry.changed, **changed}))


def twice(case: Case) -> Case:
    """Count a judgment that is given twice as two documents."""
    seen, rows = set(), []
    for topic, intent, docno, grade in case.input.qrels:
        rows.append((topic, intent, f"{docno} again" if docno in seen and case.name == "repeated" else docno, grade))
        seen.add(docno)
    return replace(case, input=replace(case.input, qrels=tuple(rows)))


def nearly_up(recall: Real, relevant: int) -> int:
    """Return the number of relevant documents of a level of recall as version 9 of trec_eval, in doubles."""
    return int(float(recall) * relevant + 0.9)


def rounded(case: Case, scores: Scores) -> Scores:
    return {topic: mp.nint(score * 100000) / 100000 for topic, score in scores.items()}


def with_hits(case: Case, scores: Scores) -> Scores:
    """Keep the topics in which something relevant is retrieved."""
    return {topic: score for topic, score in scores.items() if exact.num_rel_ret(topics(case.input, {})[topic][0])}


def zero_where_missing(case: Case, scores: Scores) -> Scores:
    topics_of_run = {topic for topic, _, _ in case.input.run}
    return {topic: score if topic in topics_of_run else mp.mpf(0) for topic, score in scores.items()}


FAILS = {("ir_measures", "accuracy", "short"): "divides by zero where all documents retrieved are relevant"}
"""Tool, measure and input of the cases for which a tool has no number."""


def undefined_without_relevant(case: Case, scores: Scores) -> Scores:
    topics_of_case = topics(case.input, {"subtopics": True})
    return {topic: score if exact.by_intent(topics_of_case[topic][0]) else mp.nan for topic, score in scores.items()}


EVERY = re.compile(".")
DIFFERENCES = (
    Difference("trec_eval", "the mean is over topics in both files", EVERY, options(topics="both")),
    Difference("trec_eval", "version 9 compares scores in single precision", EVERY, options(order="float32")),
    Difference("trec_eval", "grades below 0 are unjudged", re.compile("bpref"), options(negative="unjudged")),
    Difference("trec_eval", "grades below 0 are pooled and not judged", re.compile("infAP"), parameters(sampled=0)),
    Difference(
        "trec_eval",
        "version 9 rounds recall · R + 0.9 down, in doubles",
        re.compile("iprec|11pt"),
        parameters(needed=nearly_up),
    ),
    Difference(
        "ir_measures", "scores are compared in single precision, by pytrec_eval", PYTREC_EVAL, options(order="float32")
    ),
    Difference(
        "ir_measures", "grades below 0 are unjudged, by pytrec_eval", re.compile("Bpref"), options(negative="unjudged")
    ),
    Difference(
        "ir_measures",
        "grades below 0 are pooled and not judged, by pytrec_eval",
        re.compile("infAP"),
        parameters(sampled=0),
    ),
    Difference(
        "ir_measures",
        "recall · R + 0.9 is rounded down in doubles, by pytrec_eval",
        re.compile("IPrec"),
        parameters(needed=nearly_up),
    ),
    Difference(
        "ir_measures",
        "the number of relevant documents of a missing topic is 0",
        re.compile("NumRel$"),
        scores=zero_where_missing,
    ),
    Difference("ir_measures", "the top grade is 4, by gdeval", re.compile("ERR@"), options(top_grade=4)),
    Difference("ir_measures", "a judgment given twice counts twice in the ideal ranking, by gdeval", GDEVAL, twice),
    Difference("ir_measures", "scores of topics have five decimals, by gdeval", GDEVAL, scores=rounded),
    Difference(
        "ir_measures",
        "ties are in ascending order of docno",
        re.compile(r"RR.*@|Judged|Compat"),
        options(ties="docno-asc"),
    ),
    Difference("ir_measures", "ties are as listed", re.compile("Accuracy"), options(ties="file")),
    Difference(
        "ir_measures",
        "ranks end with the run or the ideal ranking, whichever is longer",
        re.compile("Compat"),
        parameters(to_end=True),
    ),
    Difference(
        "ir_measures",
        "topics in which nothing relevant is retrieved are left out",
        re.compile("Accuracy"),
        scores=with_hits,
    ),
    Difference("ir_measures", "gains are g / top, by cwl_eval", re.compile("NERR"), parameters(gain="linear")),
    Difference(
        "ir_measures", "ranks end at 1000, by cwl_eval", re.compile("RBP|INS[QT]|NERR1"), parameters(horizon=1000)
    ),
    Difference("ir_measures", "ties are as listed, by cwl_eval", CWL_EVAL, options(ties="file")),
    Difference("ir_measures", "ties are in ascending order of docno, by pyndeval", NDEVAL, options(ties="docno-asc")),
    Difference(
        "ir_measures",
        "nan in a topic without relevant documents, by pyndeval",
        re.compile("nNRBP"),
        scores=undefined_without_relevant,
    ),
)


def differs(first: Scores, second: Scores) -> bool:
    """Return whether scores differ by more than the rounding of doubles."""
    return first.keys() != second.keys() or any(
        not (abs(first[topic] - second[topic]) <= 1e-12 or (mp.isnan(first[topic]) and mp.isnan(second[topic])))
        for topic in first
    )


def expected(case: Case, tool: str) -> Scores:
    """Return the scores by the conventions of a tool."""
    differences = [difference for difference in DIFFERENCES if difference.tool == tool and difference.concerns(case)]
    changed = case
    for difference in differences:
        changed = difference.change(changed)
    scores = by_topic(changed)
    for difference in differences:
        scores = difference.scores(changed, scores)
    return scores


def different_cases(difference: Difference) -> Iterator[Case]:
    """Yield the cases whose scores change for this reason alone."""
    for case in cases():
        if difference.concerns(case):
            changed = difference.change(case)
            if differs(by_topic(case), difference.scores(changed, by_topic(changed))):
                yield case


def reasons() -> Iterator[tuple[str, str, int, str]]:
    """Yield the tool, the reason, the number of cases and one of them, for each difference."""
    for difference in DIFFERENCES:
        different = list(different_cases(difference))
        yield difference.tool, difference.reason, len(different), f"`{different[0].entry.measure}`, {different[0].name}"
    for (tool, measure, name), reason in FAILS.items():
        yield tool, reason, 1, f"`{measure}`, {name}"
