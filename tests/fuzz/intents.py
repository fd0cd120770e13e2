"""Random qrels by subtopic: novelty, diversity and means over intents against slow loops."""

import random
import warnings
from pathlib import Path
from typing import Any

from fuzz.case import Case, Kind
from fuzz.scores import PARAMETERS, close, evaluated, some_measure
from gradedeval import EvaluationWarning, InputError
from support import reference, reference_run
from support.reference_intents import Judged, marginal, slow

NOVEL = ("alpha_dcg", "alpha_ndcg", "nrbp", "nnrbp", "strec", "erria", "nerria")
INNER = [
    *("err", "nerr", "ndcg", "dcg", "rbp", "ap", "gap", "q"),
    *("p", "rr", "recall", "rprec", "success", "sp", "cascade"),
]


def novel(dice: random.Random) -> str:
    name = dice.choice(NOVEL)
    parameters = {key: draw(dice) for key, draw in PARAMETERS.get(name, {}).items() if dice.random() < 0.6}
    if "erria" in name:
        parameters = {"rel": 1, **parameters, "stop": round(dice.uniform(0.05, 1), 2)}
    if dice.random() < 0.3:
        parameters["rel"] = dice.choice([1, 2, 3])
    if name in ("alpha_dcg", "erria") and dice.random() < 0.3:
        parameters["norm"] = "best"
    inside = ",".join(f"{key}={value}" for key, value in parameters.items())
    return f"{name}({inside})" + dice.choice(["", "@1", "@2", "@5", "@20"])


def draw(dice: random.Random) -> Case:
    run, qrels = [], []
    intents = dice.sample(["0", "1", "2", "3", "10", "a"], dice.randint(1, 5))
    for topic in dice.sample(["1", "2", "t3", "4"], dice.randint(1, 4)):
        names = [f"d{number}" for number in range(dice.randint(1, 14))]
        listed = dice.sample(names, dice.randint(0, len(names)))
        run += [f"{topic} Q0 {name} {rank} {50 - rank} t\n" for rank, name in enumerate(listed, 1)]
        for name in names:
            if dice.random() < 0.7:
                intents_of_document = dice.sample(intents, dice.randint(1, len(intents)))
                qrels += [
                    f"{topic} {intent} {name} {dice.choice([-2, 0, 1, 1, 2, 3])}\n" for intent in intents_of_document
                ]
    run.append("anchor Q0 a 1 1 t\n")
    qrels += [f"anchor 1 a{grade} {grade}\n" for grade in (0, 1, 2, 3)]
    if dice.random() < 0.3:
        dice.shuffle(qrels)
    inner = [some_measure(dice, [0, 1, 2, 3], INNER) for _ in range(4)]
    # The quantities of C/W/L have their loops elsewhere.
    measures = [novel(dice) for _ in range(4)] + [
        f"ia({measure})" for measure in inner if "of=" not in measure and "horizon" not in measure
    ]
    options: dict[str, Any] = {"subtopics": True, "top_grade": dice.choice([3, 3, 4])}
    if dice.random() < 0.3:
        options["topics"] = dice.choice(["both", "run", "qrels"])
    limits = {"cells": dice.choice([1, 20, 1 << 18]), "block": dice.choice([1, 60, 1 << 20])}
    content = {"run": "".join(run).encode(), "qrels": "".join(qrels).encode()}
    return Case(content, tuple(dict.fromkeys(measures)), options, {"limits": limits})


def check(case: Case, folder: Path) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvaluationWarning)
            scores = evaluated(case, folder)
    except InputError as error:
        expected = (
            *("shares no topics", "is empty", "g has", "no value for grade", "outside 0..1"),
            *("needs gain 0", "infinite sum"),
        )
        return None if any(words in str(error) for words in expected) else f"refused: {error}"
    judged: dict[str, Judged] = {}
    for topic, intent, docno, grade in (line.split() for line in case.files["qrels"].decode().splitlines()):
        judged.setdefault(topic, {}).setdefault(docno, {})[intent] = float(grade)
    listed: dict[str, list[str]] = {}
    for topic, _, docno, *_ in (line.split() for line in case.files["run"].decode().splitlines()):
        listed.setdefault(topic, []).append(docno)
    labels = {
        grade
        for grades_by_intent in judged.values()
        for grades in grades_by_intent.values()
        for grade in grades.values()
    }
    scale = reference.Scale(tuple(sorted(labels | {0.0})), case.options.get("top_grade", max(labels)))
    if scale.top <= 0:
        return None
    for column, measure in enumerate(scores.measures):
        for topic, score in zip(scores.runs[0].topics, scores.runs[0].score[:, column], strict=True):
            right = expectation(measure, listed.get(topic, []), judged.get(topic, {}), scale)
            if not close(float(score), right):
                return f"score of {measure.name}: {measure} gives topic {topic} {score!r} instead of {right!r}"
    return None


def expectation(measure: Any, listed: list[str], judged: Judged, scale: reference.Scale) -> float:
    if measure.prior is None:
        return slow(measure, listed, judged)
    inner = reference_run.Asked(measure.name, measure.parameters, measure.cutoff)
    return marginal(inner, listed, judged, scale)


INTENTS = Kind(draw, check, lambda case: len(case.measures) * 4, weight=1)
