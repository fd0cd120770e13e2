"""Bounds and random judgments: no score leaves its bounds."""

import math
import random
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.case import Case, Kind
from fuzz.scores import SCALES, evaluated, files, some_measure, some_options
from gradedeval import InputError

USUAL = ["ap", "gap", "ndcg", "ndcg@3", "nerr@3", "nerr", "q", "q(rel=1)", "grecall", "recall@3", "f1", "iprec_avg"]
REFUSED = ("judged_only", "max_residual", "residuals")
JUDGMENTS = 6
"""How often the unjudged documents of a case are judged."""


def draw(dice: random.Random) -> Case:
    labels = dice.choice(SCALES)
    options = {name: value for name, value in some_options(dice, labels).items() if name not in REFUSED}
    options |= {"bounds": True, "residuals": "total"}
    if dice.random() < 0.3:
        options["unseen"] = dice.choice([0, 1, 3, "inf"])
    if averaged := dice.random() < 0.2:
        options["ties"] = "average"
    if "depth" in options:  # dropped documents are not retrieved
        options["unseen"] = "inf"
    if options.get("ties") in ("best", "worst"):  # judging changes the order itself
        del options["ties"]
    measures = [*dice.sample(USUAL, 4), *(some_measure(dice, labels) for _ in range(0 if averaged else 5))]
    more = {"seed": dice.randrange(1 << 30)}
    if dice.random() < 0.3:
        more["limits"] = {"cells": dice.choice([1, 20, 150])}
    return Case(files(dice, labels), tuple(dict.fromkeys(measures)), options, more)


def later(case: Case, dice: random.Random) -> Case:
    """Return the case with more judgments of some documents of the run, or all, and of `unseen`, by grades that it
    has or, if they are whole, of its scale."""
    lines = [line.split() for line in case.files["qrels"].splitlines()]
    # Of a document that is judged twice one line counts: the grade of the other may be above the top grade.
    lines = lines[::-1] if case.options.get("duplicates") == "first" else lines
    judged = {(line[0], line[2]): line[3] for line in lines}
    grades = sorted({*judged.values()}, key=float)
    top = max(float(grades[-1]), case.options.get("top_grade", 0))
    words = " ".join([*case.measures, *map(str, case.options.values())])
    # Such gains may be too large if a new grade occurs.
    refused = any(word in words for word in ("grade", "cwl_eval"))
    if not refused and all(float(grade).is_integer() for grade in (*grades, top)):
        grades += [b"%d" % grade for grade in range(int(top) + 1)]
    listed: dict[bytes, list[bytes]] = defaultdict(list)
    for line in case.files["run"].splitlines():
        topic, _, docno, *_ = line.split()
        if (topic, docno) not in judged and docno not in listed[topic]:
            listed[topic].append(docno)
    unseen = case.options.get("unseen", 0)
    more = []
    for topic, docnos in listed.items():
        docnos += [b"unseen-%d" % number for number in range(dice.randint(0, 9 if unseen == "inf" else unseen))]
        share = dice.choice([0.1, 0.5, 1])
        best = dice.choice([0.0, 0.5, 1])
        begin, end = sorted(dice.choices(range(len(docnos) + 1), k=2)) if dice.random() < 0.5 else (0, len(docnos))
        for docno in docnos[begin:end]:
            if dice.random() < share:
                grade = grades[-1] if dice.random() < best else dice.choice(grades)
                more.append(b"%s 0 %s %s\n" % (topic, docno, grade))
    qrels = case.files["qrels"]
    qrels += b"" if qrels.endswith(b"\n") else b"\n"
    plain = {name: value for name, value in case.options.items() if name not in ("bounds", "unseen")}
    return replace(case, files={**case.files, "qrels": qrels + b"".join(more)}, options=plain)


def above(first: Any, second: Any) -> Any:
    """Return whether one number is above another, by more than rounding."""
    return first > second + 1e-9 * np.maximum(1, abs(second))


def check(case: Case, folder: Path) -> str | None:
    if not case.files["run"].strip() or not case.files["qrels"].strip():
        return None
    try:
        found = evaluated(case, folder)
    except InputError:
        return None
    run = found.runs[0]
    low, high = run.bounds
    names = [measure.name for measure in found.measures]
    for problem, wrong in {
        "low is above the score": low > run.score,
        "high is below the score": high < run.score,
        "high is above score + residual": above(high, run.score + run.residual),
    }.items():
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            values = [float(part[row, column]) for part in (low, run.score, high, run.residual)]
            return f"{problem} of {names[column]}: topic {run.topics[row]} {values}"
    dice = random.Random(case.more["seed"])
    place = {topic: row for row, topic in enumerate(run.topics)}
    for _ in range(JUDGMENTS):
        judged = later(case, dice)
        try:
            scores = evaluated(judged, folder).runs[0]
        except InputError as error:
            return f"refused once judged: {error}"
        for row, topic in enumerate(scores.topics):
            if topic not in place:
                continue
            for column, name in enumerate(names):
                ends, score = run.bounds[:, place[topic], column], scores.score[row, column]
                if not math.isnan(ends[0]) and (above(ends[0], score) or above(score, ends[1])):
                    more = judged.files["qrels"][len(case.files["qrels"]) :]
                    return f"{name} leaves its bounds: topic {topic} {score!r} {ends.tolist()} after {more!r}"
    return None


BOUNDS = Kind(draw, check, lambda case: JUDGMENTS * len(case.measures) * 4)
