"""Invariance to the last bit: order, names, other runs, processes, the form of the input; and the numbers of the
drop-in."""

import random
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradedeval
from fuzz import command
from fuzz.case import Case, Kind
from fuzz.scores import SCALES, evaluated, files, some_measure, some_options
from gradedeval import EvaluationWarning, InputError, parse_measures
from support.paths import SAMPLES

MORE = [
    *(f"wp(file={SAMPLES}/attention.csv)", f"wp(file={SAMPLES}/attention.csv)@3", f"ddm(file={SAMPLES}/chances.csv)"),
    *('cwl(C="p*(1-r)",p=0.8)', 'cwl(C="p*(1-r)",p=0.8,of=etu)@3', 'cwl(C="(i/(i+1))**2")', "nerr5", "nerr6"),
    *('cwl(C="where(gained<1,0.9,0.2)")', 'cwl(C="1/(1+rate*spent)",rate=0.3,of=etc)', "ia(ap)"),
    *("ia(err@3)", "ia(ndcg)"),
    *("erria@5", "alpha_ndcg@10", "nrbp", "strec@3", "nerria", "nnrbp"),
]


def draw(dice: random.Random) -> Case:
    labels = dice.choice(SCALES)
    content = files(dice, labels)
    if dice.random() < 0.3:
        lines = [line.split() for line in content["qrels"].splitlines()]
        for line in lines:
            line[1] = dice.choice([b"1", b"2", b"2", b"zebra", b"0"])
        content["qrels"] = b"".join(b" ".join(line) + b"\n" for line in lines)
    measures = [some_measure(dice, labels) for _ in range(6)] + dice.sample(MORE, 4)
    options = some_options(dice, labels)
    if dice.random() < 0.4:
        options["subtopics"] = True
    limits = {"block": dice.choice([1, 50, 400]), "cells": dice.choice([1, 30]), "gathered": dice.choice([1, 10])}
    limits |= {
        "segment": dice.choice([40, 400]),
        "large_file": 1,
        "small_runs": 1,
        "topic_stretches": dice.choice([1, 5]),
    }
    more = {
        "seed": dice.randrange(1 << 30),
        "form": dice.choice(["limits", "limits", "jobs", "lines", "names", "dict"]),
    }
    return Case(content, tuple(dict.fromkeys(measures)), options, {**more, "small": limits})


def found(case: Case, folder: Path) -> Any:
    """Return the scores, or the words of the refusal."""
    try:
        return evaluated(case, folder)
    except InputError as error:
        return re.sub(r"\S*/(run|qrels)|qrels:\d+|run:\d+|^qrels|^run", "", str(error))


def bits(scores: Any) -> dict[str, bytes]:
    run = scores.runs[0]
    rows = zip(run.topics, run.score, run.unjudged, run.residual, run.included, strict=True)
    return {topic: b"".join(part.tobytes() for part in parts) for topic, *parts in rows}


def check(case: Case, folder: Path) -> str | None:
    if not case.files["run"].strip() or not case.files["qrels"].strip():
        return None
    original = found(case, folder)
    form = case.more["form"]
    if form == "dict":
        return None if isinstance(original, str) else as_dict(case, bits(original))
    changed, renamed = transformed(case, form)
    after = found(changed, folder)
    if isinstance(original, str) or isinstance(after, str):
        if isinstance(original, str) and isinstance(after, str):
            return None if form in ("lines", "names") or original == after else f"{form}: {after} instead of {original}"
        results = [words if isinstance(words, str) else "scores" for words in (after, original)]
        return f"{form}: {results[0]} instead of {results[1]}"
    expected = {renamed(topic): values for topic, values in bits(original).items()}
    right = bits(after)
    if expected.keys() != right.keys():
        return f"{form}: topics {sorted(right)} instead of {sorted(expected)}"
    wrong = [topic for topic in expected if expected[topic] != right[topic]]
    return f"{form}: topics {wrong} have other scores" if wrong else None


def transformed(case: Case, form: str) -> tuple[Case, Any]:
    """Return the case in another form, and its names of topics."""
    dice = random.Random(case.more["seed"])
    if form in ("limits", "jobs"):
        more = {**case.more, "limits": case.more["small"], "jobs": 2 if form == "jobs" else 1}
        return replace(case, more=more), str
    if form == "names":
        content = {name: re.sub(rb"(?m)^(\S+ \S+ )(\S+)", rb"topic-\1x\2", text) for name, text in case.files.items()}
        return replace(case, files=content), lambda topic: f"topic-{topic}"
    keeps = case.options.get("ties") in ("file", "rank") or case.options.get("order") == "file"
    keeps |= case.options.get("like") in ("cwl_eval", "ntcireval")
    content = dict(case.files)
    for name in ("qrels",) if keeps or "duplicates" in case.options else ("qrels", "run"):
        lines = content[name].splitlines(keepends=True)
        if case.options.get("duplicates") in (None, "error", "refuse"):
            dice.shuffle(lines)
        content[name] = b"".join(lines)
    return replace(case, files=content), str


def as_dict(case: Case, expected: dict[str, bytes]) -> str | None:
    """Return run and qrels as dicts; None if that is impossible."""
    lines = {name: [line.split() for line in text.decode().splitlines()] for name, text in case.files.items()}
    keys = {name: [(line[0], line[2]) for line in rows] for name, rows in lines.items()}
    needs_file = {"subtopics", "costs"} & case.options.keys() or case.options.get("ties") == "rank"
    if needs_file or any(len(set(keys_of_topic)) < len(keys_of_topic) for keys_of_topic in keys.values()):
        return None
    run: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, float]] = {}
    for topic, _, docno, _, score, _ in lines["run"]:
        run.setdefault(topic, {})[docno] = float(score)
    for topic, _, docno, grade in lines["qrels"]:
        qrels.setdefault(topic, {})[docno] = float(grade)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        try:
            scores = gradedeval.evaluate(run, qrels, parse_measures(" ".join(case.measures)), **case.options)
        except InputError as error:
            if "has no document types" in str(error):
                return None
            return f"dict: refused: {error}"
    return None if bits(scores) == expected else "dict: other scores than of files"


DROP_IN = [
    *(
        "map",
        "ndcg",
        "recip_rank",
        "Rprec",
        "bpref",
        "num_ret",
        "num_rel",
        "num_rel_ret",
        "gm_map",
        "gm_bpref",
        "infAP",
    ),
    *("set_P", "set_recall", "set_map", "11pt_avg", "Rprec_mult", "yaap", "G", "binG", "ndcg_rel", "Rndcg"),
]
SAME = {"11pt_avg": "iprec_avg", "Rprec_mult": "", "yaap": "yaap", "G": "g", "binG": "bing"}


def draw_drop_in(dice: random.Random) -> Case:
    labels = dice.choice([[0, 1], [0, 1, 2, 3], [-1, 0, 1, 2], [0, 1, 4], [-2, -1, 0, 2]])
    measures = tuple(name for name in dice.sample(DROP_IN, 4) if SAME.get(name, name))
    level = dice.choice([1, 2])
    if level == 2:  # the drop-in's Rndcg, like trec_eval's, gives lower grades no gain
        measures = tuple(name for name in measures if name != "Rndcg") or ("map",)
    complete = dice.random() < 0.3
    # In version 9 with -c a missing topic scores 0, regardless of the score of an empty ranking.
    nine = dice.random() < 0.5 and not (complete and "yaap" in measures)
    more = {"complete": complete, "level": level, "nine": nine}
    return Case(files(dice, labels), measures, {}, more)


def check_drop_in(case: Case, folder: Path) -> str | None:
    case.write(folder)
    drop_in = [word for name in case.measures for word in ("-m", name)]
    nine = bool(case.more["nine"])
    flags = [*(["-c"] if case.more["complete"] else []), *(["--compat", "9"] if nine else [])]
    level = case.more["level"]
    names = {**SAME, "11pt_avg": "iprec_avg(add=0.9)"} if nine else SAME
    ours = [word for name in case.measures for word in ("-m", names.get(name, name).lower())]
    first = command.run(["trec_eval", "-q", *flags, "-l", str(level), *drop_in, "qrels", "run"], folder)
    words = ["--like", "trec_eval", "--order", "float32" if nine else "score", "--rel", str(level), "-q", "-f", "trec"]
    words += ["--topics", "qrels"] if case.more["complete"] else []
    second = command.run(["run", "qrels", *ours, *words], folder)
    for outcome in (first, second):
        if wrong := command.unclean(outcome):
            return wrong
    if first.code or second.code:
        return (
            None
            if first.code and second.code  # the drop-in has codes of its own
            else f"exit codes: {first.code} {first.err!r}, {second.code} {second.err!r}"
        )
    first_lines, second_lines = (sorted(numbers_of(outcome.text)) for outcome in (first, second))
    if nine and case.more["complete"]:  # version 9 prints no line for a missing topic
        first_lines, second_lines = (
            [line for line in lines if line[0] == "all"] for lines in (first_lines, second_lines)
        )
    if len(first_lines) == len(second_lines) and all(
        alike(*pair) for pair in zip(first_lines, second_lines, strict=True)
    ):
        return None
    return f"other lines: {[pair for pair in zip(first_lines, second_lines, strict=False) if not alike(*pair)][:6]}"


def alike(first: list[str], second: list[str]) -> bool:
    """Return whether two lines agree; the last bit of a sum may round the last digit up or down."""
    return first[0] == second[0] and abs(float(first[1]) - float(second[1])) < 1.5e-4


def numbers_of(text: str) -> list[list[str]]:
    """Return topic and number of each line; the drop-in prints geometric means without their topics."""
    lines = [line.split() for line in text.splitlines()]
    return [line[-2:] for line in lines if line[1] == "all" or not line[0].startswith("gm_")]


SAME_BITS = Kind(draw, check, lambda case: len(case.measures) * 4, weight=2)
DROPPED_IN = Kind(draw_drop_in, check_drop_in, lambda case: len(case.measures) * 4, weight=0.5)
