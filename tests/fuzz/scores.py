"""Random qrels and runs, measures and options: scores, residuals and means against the slow evaluation."""

import math
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz.case import Case, Kind
from gradedeval import MEASURES, EvaluationWarning, InputError
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.options import resolve_options
from gradedeval.kernel.parallel import Limits, Workers
from gradedeval.kernel.scoring.evaluate import evaluate_runs, named_runs
from support import reference_run
from support.reference_run import Asked, Refused

NAMES = [name for name in MEASURES if name not in ("cwl", "ddm", "wp", "nerr5", "nerr6")]
REQUIRED = {name for name in NAMES if MEASURES[name].definition.cutoff == "required"}
UNCUT = {name for name in NAMES if MEASURES[name].definition.cutoff == "none"}
GAINS: list[Any] = [(0.0, 0.2, 0.5, 1.0), (0.0, 0.1, 0.3, 0.6, 0.8, 1.0), (0.1, 0.1, 0.9, 0.4, 0.8, 1.0, 0.0)]
Drawn = Callable[[random.Random], Any]


def between(low: float, high: float, digits: int = 3) -> Drawn:
    return lambda dice: round(dice.uniform(low, high), digits)


def among(*values: Any) -> Drawn:
    return lambda dice: dice.choice(values)


PARAMETERS: dict[str, dict[str, Drawn]] = {
    "cascade": {"utility": among("rr", "dcg", "one"), "gamma": between(0.01, 1)},
    "ndcg": {"log": between(1.1, 20)},
    "dcg": {"log": between(1.1, 20)},
    "q": {"beta": between(0, 20)},
    "rbp": {"p": between(0, 0.95)},
    "insq": {"T": between(0.1, 6)},
    "inst": {"T": between(0.5, 6)},
    "tbg": {"h": between(0.1, 30)},
    "u": {"L": between(0.1, 60)},
    "set": {"beta": between(0.01, 1)},
    "npv": {"rate": between(0.05, 4)},
    "bpm": {"T": between(0.1, 4), "K": between(0.1, 30)},
    "bpmd": {
        "T": between(0.1, 4),
        "K": between(0.1, 30),
        "hb": between(0, 2),
        "hc": between(0, 2),
        "mid": between(-0.5, 1),
    },
    "ift": {"T": between(0, 4), "A": between(0, 1)},
    "nerr10": {"phi": between(0, 0.95)},
    "nerr11": {"T": between(0.1, 6)},
    "zipf": {"beta": between(1.2, 4)},
    "poisson": {"alpha": between(0.05, 8)},
    "logharmonic": {"b": among(2, 3, 5, 12)},
    "bpref": {"k": among(0, 1, 5, 10)},
    "gm_bpref": {},
    "iprec": {"recall": between(0, 1, 2), "add": between(0, 0.99, 2)},
    "iprec_avg": {"recall": among((0.25, 0.5, 0.75), (0.0, 1.0), (0.1, 0.2, 0.9)), "add": between(0, 0.99, 2)},
    "rprec_mult": {"times": between(0.05, 4, 2)},
    "rbp_topic": {"p": between(0, 0.95)},
    "rbp_resid": {"p": between(0, 0.95)},
    "set_f": {"x": between(0, 5)},
    "utility": {key: between(-2, 2) for key in "abcd"} | {"docs": among(0, 10, 1000)},
    "erria": {"stop": between(0.05, 1)},
    "nerria": {"stop": between(0.05, 1)},
    "alpha_ndcg": {"alpha": between(0, 1)},
    "alpha_dcg": {"alpha": between(0, 1)},
    "nrbp": {"alpha": between(0, 1), "beta": between(0.01, 0.9)},
    "nnrbp": {"alpha": between(0, 1), "beta": between(0.01, 0.9)},
}


def some_scheme(dice: random.Random, labels: list[float]) -> Any:
    """Return a gain scheme, mostly one that these grades allow."""
    whole = all(label == int(label) for label in labels)
    fitting = [gains for gains in GAINS if whole and len(gains) > max(labels) + 1]
    if dice.random() < 0.05:
        fitting = ["grade", *GAINS]
    return dice.choice(["linear", "exp", "ntcir", "exp", "ntcir", *fitting])


def some_measure(dice: random.Random, labels: list[float], names: list[str] = NAMES) -> str:
    """Return a measure in notation, with random parameters and a random cutoff."""
    name = dice.choice(names)
    accepted = MEASURES[name].definition.gain_parameters
    parameters = {key: draw(dice) for key, draw in PARAMETERS.get(name, {}).items() if dice.random() < 0.5}
    if name == "zipf":
        parameters["beta"] = round(dice.uniform(1.2, 4), 2)
    if reference_run.is_cwl(name) and dice.random() < 0.4:
        parameters["of"] = dice.choice(["eu", "etu", "ec", "etc", "ed"])
    if reference_run.is_cwl(name) and dice.random() < 0.4:
        parameters["horizon"] = dice.choice([1, 2, 5, 20, 60, 200])
    form = dice.random()
    if "rel" in accepted and form < 0.25:
        parameters["rel"] = dice.choice([1, 2, 3, 0.5, 1.5, 4])
    elif "gain" in accepted and form < 0.5:
        parameters["gain"] = some_scheme(dice, labels)
    elif "g" in accepted and form < 0.75:
        top = max([*labels, 1])
        parameters["g"] = tuple(float(dice.choice([0, 1, 1, 2, 3])) for _ in range(int(top)))
        if not any(parameters["g"]):
            del parameters["g"]
    if name == "erria" and dice.random() < 0.2:
        parameters["norm"] = "best"
    inside = ",".join(f"{key}={written(value)}" for key, value in parameters.items())
    cutoff = ""
    if name in REQUIRED or (name not in UNCUT and dice.random() < 0.5):
        cutoff = f"@{dice.choice([1, 2, 3, 4, 5, 7, 10, 20, 50, 100])}"
    return name + (f"({inside})" if inside else "") + cutoff


def written(value: Any) -> str:
    return ":".join(f"{part:g}" for part in value) if isinstance(value, tuple) else str(value)


SCALES: list[list[float]] = [
    *([0, 1], [0, 1, 2, 3], [-1, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5], [-3, -2, -1, 0, 1, 2], [0, 1, 3], [0, 2, 5], [-1, 0]),
    *([0, 0.5, 1], [-0.5, 0, 0.25, 1, 1.5, 3], [1], [0], [-2, 4]),
]
TOPICS = ["1", "2", "10", "051", "51", "2019-1", "t7", "t8", "t9", "économie-8", "-3", "1e2"]


def scores_of(dice: random.Random, size: int) -> list[str]:
    """Return the scores of a topic, as text: regular, random, with ties, or such as single floats do not tell apart."""
    form = dice.randrange(8)
    if form == 0:
        return [f"{size - rank}" for rank in range(size)]
    if form == 1:
        return [repr(dice.gauss(0, 10)) for _ in range(size)]
    if form == 2:
        return [f"{dice.randint(0, 3)}" for _ in range(size)]
    if form == 3:
        return [repr(1 + dice.randint(0, 4) * 2**-26) for _ in range(size)]
    if form == 4:
        return [f"{dice.choice([16777216, 16777217, 16777218, -0.0, 0.0])}" for _ in range(size)]
    if form == 5:
        return [f"{dice.choice([1e39, 2e39, 1e-46, 2e-46, 0, -1e39]):g}" for _ in range(size)]
    if form == 6:
        return [f"{dice.uniform(-5, 20):.2f}" for _ in range(size)]
    return [f"{20 - rank / 10:.4f}" for rank in range(size)]


def size_of_topic(dice: random.Random, deepest: int) -> int:
    return dice.choice([0, 1, 2, 3, dice.randint(0, 12), dice.randint(0, 12), dice.randint(0, 60), deepest])


def files(dice: random.Random, labels: list[float], deepest: int = 20) -> dict[str, bytes]:
    topics = dice.sample(TOPICS, dice.randint(1, 6))
    in_run = [topic for topic in topics if dice.random() < 0.85] or topics[:1]
    in_qrels = [topic for topic in topics if dice.random() < 0.85] or topics[:1]
    run: list[str] = []
    qrels: list[str] = []
    for topic in topics:
        size = size_of_topic(dice, deepest)
        names = [f"{dice.choice(['d', 'd', 'D', 'doc-', 'clueweb09-en-'])}{number}" for number in range(size + 8)]
        dice.shuffle(names)
        if topic in in_run:
            values = scores_of(dice, size)
            kinds = [dice.choice(["Q0", "Q0", "ad"]) for _ in range(size)]
            ranks = dice.sample(range(1, size + 1), size) if dice.random() < 0.3 else list(range(1, size + 1))
            run += [f"{topic} {kinds[rank]} {names[rank]} {ranks[rank]} {values[rank]} tag\n" for rank in range(size)]
        if topic in in_qrels:
            grades = [0] if dice.random() < 0.15 and 0 in labels else labels
            share = dice.random()
            judged = [name for name in names if dice.random() < share]
            qrels += [f"{topic} 0 {name} {dice.choice(grades):g}\n" for name in judged]
    if dice.random() < 0.1 and run:
        run += dice.choices(run, k=2)
    if dice.random() < 0.1 and qrels:
        line = dice.choice(qrels).split()
        qrels.append(f"{line[0]} {line[1]} {line[2]} {dice.choice(labels):g}\n")
    if dice.random() < 0.2:
        dice.shuffle(run)
    if dice.random() < 0.3:
        dice.shuffle(qrels)
    return {"run": "".join(run).encode(), "qrels": "".join(qrels).encode()}


def some_options(dice: random.Random, labels: list[float]) -> dict[str, Any]:
    chances: dict[str, tuple[float, Drawn]] = {
        "like": (0.25, among("trec_eval", "gdeval", "ir_measures", "cwl_eval", "ntcireval")),
        "ties": (0.5, among("docno-desc", "docno-asc", "file", "rank", "best", "worst")),
        "order": (0.3, among("score", "float32", "file")),
        "depth": (0.2, among(1, 2, 3, 5, 10, 100)),
        "topics": (0.5, among("qrels", "both", "run", "relevant")),
        "gain": (0.2, lambda dice: some_scheme(dice, labels)),
        "rel": (0.2, among(1, 2, 3, 0.5, 1.5)),
        "top_grade": (0.3, among(max(labels), max(labels) + 1, max(labels) + 0.5, 3, 4, 5)),
        "negative": (0.3, among("judged", "unjudged")),
        "duplicates": (0.6, among("first", "last", "refuse", "error")),
        "residuals": (0.5, among("total", "split", "difference")),
        "residual_depth": (0.1, among("full", "cutoff")),
        "max_residual": (0.1, among(0.05, 0.2, 0.5, 0.9)),
        "judged_only": (0.1, among(True)),
    }
    chosen = {name: draw(dice) for name, (chance, draw) in chances.items() if dice.random() < chance}
    if "top_grade" in chosen and chosen["top_grade"] < 0:
        del chosen["top_grade"]
    if chosen.get("judged_only") and dice.random() < 0.9:
        for name in ("residuals", "residual_depth", "max_residual"):
            chosen.pop(name, None)
    return chosen


def draw(dice: random.Random) -> Case:
    labels = dice.choice(SCALES)
    deep = dice.random() < 0.02
    content = files(dice, labels, dice.choice([200, 3000]) if deep else 20)
    options = some_options(dice, labels)
    many = dice.choice([1, 3, 8, 8, 20])
    measures = tuple(dict.fromkeys(some_measure(dice, labels) for _ in range(many)))
    small = dice.random() < 0.4
    limits = {
        "block": dice.choice([1, 32, 100, 1000]),
        "cells": dice.choice([1, 20, 150]),
        "segment": dice.choice([50, 300, 5000]),
        "gathered": dice.choice([1, 10, 1000]),
        "topic_stretches": dice.choice([1, 3, 1000]),
        "judged_ratio": dice.choice([0, 2, 1000]),
        "large_file": dice.choice([10, 1 << 25]),
        "small_runs": dice.choice([10, 1 << 23]),
    }
    more = {"limits": limits if small else {}, "jobs": 2 if dice.random() < 0.02 else 1}
    return Case(content, measures, options, more)


def asked(measures: tuple[str, ...]) -> list[Asked]:
    """Return the measures as the reference takes them, read by the package's notation alone."""
    return [Asked(measure.name, measure.parameters, measure.cutoff) for measure in parse_measures(" ".join(measures))]


def evaluated(case: Case, folder: Path) -> Any:
    """Scores, or InputError."""
    case.write(folder)
    options = dict(case.options)
    residuals = options.get("residuals")
    resolved = resolve_options(options.pop("like", None), **{**options, "residuals": residuals})
    workers = Workers(case.more.get("jobs", 1), limits=Limits(**case.more.get("limits", {})))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        return evaluate_runs(
            named_runs(str(folder / "run")),
            str(folder / "qrels"),
            parse_measures(" ".join(case.measures)),
            resolved,
            workers=workers,
        )


def check(case: Case, folder: Path) -> str | None:
    if not case.files["run"].strip() or not case.files["qrels"].strip():
        return None
    try:
        scores = evaluated(case, folder)
        error = ""
    except InputError as refusal:
        scores, error = None, str(refusal)
    try:
        expected = reference_run.evaluation(case.files["run"], case.files["qrels"], asked(case.measures), case.options)
    except Refused as reason:
        return None if error else f"scored what is not allowed: {reason}"
    if scores is None:
        return None if excused(error, case) else f"refused: {error}"
    return difference(case, scores, expected)


def excused(error: str, case: Case) -> bool:
    """Return whether a refusal is right for reasons that the slow evaluation does not know."""
    too_large = "is not finite" in error or "is not below 1e+300" in error
    return too_large or re.match(r"'(gap|gprecision|grecall)\(.*g has", error) is not None


def difference(case: Case, scores: Any, expected: Any) -> str | None:
    run = scores.runs[0]
    if run.topics != expected.topics:
        return f"topics: {run.topics} instead of {expected.topics}"
    for column, measure in enumerate(scores.measures):
        for row, topic in enumerate(run.topics):
            right = expected.scores[topic][column]
            if right is None:
                continue
            got = (run.score[row, column], run.unjudged[row, column], run.residual[row, column])
            if measure.residual == "from_bounds":  # no more than that of all unjudged documents at the top gain
                right = (right[0], math.nan, min(right[2], got[2]) if math.isnan(got[2]) == math.isnan(right[2]) else 0)
            for quantity, ours, theirs in zip(("score", "unjudged", "residual"), got, right, strict=True):
                if not close(float(ours), theirs):
                    return f"{quantity} of {measure.name}: {measure} gives topic {topic} {ours!r} instead of {theirs!r}"
        expected_mean, counted = expected.summaries[column], int(run.included[:, column].sum())
        if expected.counted[column] is None:
            continue
        if counted != expected.counted[column]:
            return f"topics of {measure.name}: {measure} counts {counted} instead of {expected.counted[column]}"
        mean = run.summary("score", column, measure.definition.summary)
        if expected_mean is not None and not close(mean, expected_mean):
            return f"summary of {measure.name}: {measure} gives {mean!r} instead of {expected_mean!r}"
    return None


def close(ours: float, theirs: float) -> bool:
    if math.isnan(ours) or math.isnan(theirs):
        return math.isnan(ours) and math.isnan(theirs)
    return ours == theirs or abs(ours - theirs) <= 1e-10 * max(1.0, abs(theirs))


def numbers(case: Case) -> int:
    return len(case.measures) * max(1, case.files["qrels"].count(b"\n") // 8)


SCORES = Kind(draw, check, numbers, weight=4)
