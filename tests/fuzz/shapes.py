"""Shapes of JSON that are drawn at random: scored as the same in a dict, and broken ones refused in one line."""

from __future__ import annotations

import json
import random
import warnings
from pathlib import Path
from typing import Any

import gradedeval
from fuzz.case import Case, Kind
from gradedeval import EvaluationWarning, InputError
from gradedeval.kernel.trec.shapes import SHAPES, Shape

MEASURES = "ap ndcg@5 num_ret"
KEYED = ("keyed_responses", "keyed_golden", "documents")
DRAWN = [(shape, kind) for shape in SHAPES if not shape.format or shape.name in KEYED for kind in shape.holds]
TOPICS = ["red shoes", "12", "0", "été", "a\tb", "what is 2?", "q-7", "1e3", '"quoted"', "hits"]
DOCNOS = ["d1", "2", "03", "1.5", "doc#3", "a b", "é", "1", "0", "x" * 40, "id", "score", "-1"]
NAMES = {
    "topic": ["query", "question", "input", "user_input", "id", "query_id", "Question"],
    "docno": ["id", "_id", "doc_id", "chunk_id", "docno", "docId"],
    "score": ["score", "_score", "similarity"],
    "grade": ["grade", "rating", "relevance", "label"],
}
WRONG: list[Any] = [None, True, 0.5, "text", [], {}, [[]], [None], {"name": "x"}, ["a", None], [["a", "2"]], [0.5]]
WRONG_TOPICS: list[Any] = [None, "", ["a"], {"a": 1}, 0.5, True]


def docs(dice: random.Random, listed: dict[str, Any], kind: str, form: str) -> Any:
    """Return the documents of a topic in one of the forms that a list may have."""
    pairs = list(listed.items())
    value = "score" if kind == "run" else "grade"
    docno, number = dice.choice(NAMES["docno"]), dice.choice(NAMES[value])
    if form == "ids":
        whole = dice.random() < 0.3
        return [int(name) if whole and name.isdigit() and str(int(name)) == name else name for name, _ in pairs]
    if form == "object":
        return dict(dice.sample(pairs, len(pairs)))
    if form == "pairs":
        return [[name, number] for name, number in dice.sample(pairs, len(pairs))]
    if form == "ranks":
        ranked = [{docno: name, "rank": rank} for rank, (name, _) in enumerate(pairs, 1)]
        return dice.sample(ranked, len(ranked))
    extra = dice.choice([{}, {"text": "some words"}, {"metadata": {"id": "no", "score": 5}}])
    return [{docno: name, **extra, number: mark} for name, mark in dice.sample(pairs, len(pairs))]


def drawn(number: int) -> tuple[Shape, str, dict[str, Any], Any, bool]:
    """Return a shape, the kind of its content, the topics, the records or the object of topics, and whether they are
    valid."""
    dice = random.Random(number)
    shape, kind = dice.choice(DRAWN)
    count = dice.randint(1, 5)
    names = list(map(str, range(1, count + 1))) if shape.counted else dice.sample(TOPICS, count)
    if shape.name in KEYED and names == ["hits"]:
        names = ["boots"]  # alone, such an object is a response
    forms = ["ids", "objects", *(["object", "pairs", "ranks"] if kind == "run" else ["object", "pairs"])]
    of_objects = ("hits", "rated_hits", "rank_eval", "judgments", "keyed_responses", "documents")
    form = dice.choice(["objects"] if shape.name in of_objects else forms)
    form = "object" if shape.name == "mteb" else form
    topics: dict[str, Any] = {}
    for name in names:
        listed = dice.sample(DOCNOS, dice.randint(0 if topics and dice.random() < 0.3 else 1, 6))
        grades = [1 if form == "ids" else dice.choice([0, 1, 2, 1.5, -1]) for _ in listed]
        scores = [9.5 - rank / 4 for rank in range(len(listed))]
        topics[name] = dict(zip(listed, scores if kind == "run" else grades, strict=True))
    listed = [docs(dice, topics[name], kind, form) for name in names]
    wrong = dice.random() < 0.4
    broken = dice.randrange(count)
    breaks = dice.choice(["documents", "entry", "topic"]) if wrong else ""
    if breaks == "documents" or (breaks == "entry" and not isinstance(listed[broken], list)):
        bad = [value for value in WRONG if value not in ([], {})]
        if shape.name in KEYED:  # a number may be the score of a document of that name, and text a number
            bad = [value for value in bad if not isinstance(value, bool | float) and value != [["a", "2"]]]
        listed[broken] = dice.choice(bad)
    elif breaks == "entry":
        bad = [value for value in WRONG if value != "text"]
        listed[broken].insert(dice.randrange(len(listed[broken]) + 1), dice.choice(bad))
    if shape.layout == "topics":
        if breaks == "topic":
            return shape, kind, topics, dict(zip(names, [5] * count, strict=True)), False
        paths = shape.documents(kind)
        held = [within(dice.choice(paths), value) | {"metric_score": 1} if paths else value for value in listed]
        return shape, kind, topics, dict(zip(names, held, strict=True)), not wrong
    if shape.counted and breaks == "topic":
        listed[broken] = dice.choice(["text", None, 5])
    return (
        shape,
        kind,
        topics,
        records(dice, shape, kind, names, listed, broken if breaks == "topic" else -1),
        not wrong,
    )


def within(path: str, value: Any) -> dict[str, Any]:
    """Return the object in which a path leads to a value."""
    first, _, rest = path.partition(".")
    return {first: within(rest, value) if rest else value}


def records(
    dice: random.Random, shape: Shape, kind: str, names: list[str], listed: list[Any], broken: int
) -> list[dict[str, Any]]:
    """Return the records of topics; the topic of the one at `broken` is wrong."""
    topic = "id" if shape.name == "rank_eval" else dice.choice(NAMES["topic"])
    path = dice.choice(shape.documents(kind))
    rows = []
    for rank, (name, value) in enumerate(zip(names, listed, strict=True)):
        for part in reversed(path.split(".")[1:]):
            value = {part: value, "total": 5}
        row: dict[str, Any] = {} if shape.counted else {topic: name}
        if rank == broken and not shape.counted:
            row[topic] = dice.choice(WRONG_TOPICS)
        row |= dice.choice([{}, {"answer": "some text"}, {"took": 5}, {"tags": ["x"]}])
        rows.append(dict(dice.sample(items := [*row.items(), (path.split(".")[0], value)], len(items))))
    return rows


def written(dice: random.Random, shape: Shape, content: Any) -> tuple[str, Any]:
    """Return the text of a file, and the object in Python that is the same."""
    if shape.layout == "topics":
        document = content
        for name in reversed(shape.inside.split(".") if shape.inside else []):
            document = {("default" if name == "*" else name): document}
        document |= {name: {} for name in shape.needs}
    elif shape.inside and (shape.name not in ("hits",) or dice.random() < 0.5):
        document = {"name": "n", shape.inside: content}
    elif dice.random() < 0.5:
        return "".join(json.dumps(row) + "\n" for row in content), content
    else:
        document = content
    return json.dumps(document, indent=dice.choice([None, 1]), ensure_ascii=dice.random() < 0.5), document


def outcome(run: Any, qrels: Any) -> list[Any] | str:
    """Return the scores of all topics, or the error message."""
    try:
        scores = gradedeval.evaluate(run, qrels, MEASURES, topics="both")
    except InputError as error:
        return str(error)
    return sorted((row.topic, row.measure, row.score) for row in scores.frame.itertuples())


def difference(number: int, folder: Path) -> tuple[str, str | None]:
    """Return the ending of a file, and its problem."""
    shape, kind, topics, content, right = drawn(number)
    text, held = written(random.Random(number), shape, content)
    counterpart = {name: {"d1": 2, "2": 1, "a b": 1} for name in topics} | {"more": {"d1": 1}}
    (folder / "FILE").write_text(text, encoding="utf-8")
    plain = {name: listed or {"not listed": 0} if kind == "qrels" else listed for name, listed in topics.items()}
    want = outcome(plain, counterpart) if kind == "run" else outcome(counterpart, plain)
    for source in (str(folder / "FILE"), held):
        result = outcome(source, counterpart) if kind == "run" else outcome(counterpart, source)
        about = f"{shape.name} as {kind}: {text}\n  found {result}\n  not {want}"
        if isinstance(result, str) and ("\n" in result or "; " not in result):
            return shape.name, f"a message of several lines, or without a cure: {about}"
        if right and not isinstance(want, str) and result != want:
            return shape.name, f"differs: {about}"
        if not right and not isinstance(result, str):
            return shape.name, f"a broken file is scored: {about}"
    return f"{shape.name} {kind} {'scored' if right else 'refused'}", None


def draw(dice: random.Random) -> Case:
    return Case({}, (), {}, {"number": dice.randrange(10**9)})


def check(case: Case, folder: Path) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        return difference(case.more["number"], folder)[1]


SHAPES_OF_JSON = Kind(draw, check)
