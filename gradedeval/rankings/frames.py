"""DataFrames and dicts -> the same topics and documents that files have."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError, did_you_mean
from gradedeval.trec.lines import encode

# Our column names, and those of ir_measures and PyTerrier.
TOPIC = ("topic", "query_id", "qid")
DOCNO = ("docno", "doc_id", "docid")
GRADE = ("grade", "relevance", "label")
SUBTOPIC = ("subtopic", "subtopic_id", "iteration")
STRATUM = ("stratum",)
SCORE = ("score",)
TYPE = ("type", "element_type", "q0", "Q0")
RANK = ("rank",)

NONE = np.empty(0)

LAST_RANK = 2**53 - 1
"""The largest rank that a float tells from the next."""

TOO_LARGE = f"--ties rank takes ranks up to {LAST_RANK}"

Judgment = tuple[bytes, Any, float, int]
"""Topic, docno (or docno and subtopic or stratum), grade, and line (or row) number."""

Ranking = tuple[list[Any], Floats, Floats, "array[int] | range", list[bytes]]
"""Docnos, scores, ranks (or none), row numbers, and types (or none)."""


def dict_judgments(judged: Mapping[Any, Any], part: tuple[str, ...]) -> list[Judgment]:
    """The judgments of a dict topic -> docno -> grade, or topic -> docno -> `part` -> grade: SUBTOPIC or STRATUM."""
    rows: list[Judgment] = []
    for topic, documents in judged.items():
        name = ident(topic, "qrels")
        for docno, grade in inner(documents, "qrels", topic).items():
            place, document = f"qrels['{topic}']['{docno}']", ident(docno, "qrels")
            if not part:
                rows.append((name, document, number(grade, place, "grade"), 0))
                continue
            if not isinstance(grade, Mapping):
                raise InputError(place, f"is a {type(grade).__name__}", f"expected a dict {part[0]} -> grade")
            for key, value in grade.items():
                known = number(value, f"{place}['{key}']", "grade")
                rows.append((name, (document, ident(key, "qrels")), known, 0))
    return rows


def frame_judgments(frame: Any, part: tuple[str, ...]) -> list[Judgment]:
    """The judgments of a DataFrame with a topic, a docno and a grade column, and perhaps one of subtopics or strata."""
    parts = _ids(frame, part, "qrels") if part else []
    topic, docno = _ids(frame, TOPIC, "qrels"), _ids(frame, DOCNO, "qrels")
    documents: Iterable[Any] = zip(docno, parts, strict=True) if part else docno
    columns = zip(topic, documents, column(frame, GRADE, "qrels"), strict=True)
    return [
        (topic, document, number(grade, f"qrels:{row}", "grade"), row)
        for row, (topic, document, grade) in enumerate(columns, 1)
    ]


def dict_ranking(run: Mapping[Any, Any], ranks: bool) -> dict[bytes, Ranking]:
    """The documents of a dict topic -> docno -> score."""
    if ranks:
        raise InputError("run", "a dict has no ranks", "--ties rank needs a file or a DataFrame", usage=True)
    # A sum that is not finite shows that a score may not be: quicker than checking each.
    with np.errstate(over="ignore", invalid="ignore"):
        rankings = {
            ident(topic, "run"): _dict_topic(topic, inner(documents, "run", topic)) for topic, documents in run.items()
        }
    if len(rankings) < len(run):
        names = [ident(topic, "run") for topic in run]
        again = next(topic for position, topic in enumerate(run) if names[position] in names[:position])
        raise InputError("run", f"duplicate topic '{again}', as text and as a number", "give each topic once")
    return rankings


def _dict_topic(topic: Any, documents: Mapping[Any, Any]) -> Ranking:
    scores = list(documents.values())
    try:
        values = np.array(scores) if scores else NONE
    except ValueError:  # lists of various lengths
        values = np.empty((0, 0))
    if values.dtype.kind not in "iuf" or values.ndim != 1:
        values = np.array([number(score, f"run['{topic}']", "score") for score in scores])
    values = values.astype(np.float64, copy=False)
    if not math.isfinite(values.sum()) and not np.isfinite(values).all():
        docno = list(documents)[int(np.flatnonzero(~np.isfinite(values))[0])]
        raise InputError(f"run['{topic}']['{docno}']", "the score is not finite", "expected a finite number")
    # Text stays text: encoding every docno would take longer than the evaluation.
    docnos: list[Any] = list(documents)
    try:
        "".join(docnos)
    except TypeError:
        docnos = [ident(docno, "run") for docno in documents]
    return docnos, values, NONE, range(1, len(docnos) + 1), []


def frame_ranking(frame: Any, ranks: bool, types: bool = False) -> dict[bytes, Ranking]:
    """The documents of a DataFrame with a topic, a docno and a score column; with `ranks` a rank column, with `types` a
    column of types."""
    if not len(frame):
        raise InputError("run", "is empty", "expected a row for each document")
    topics = _ids(frame, TOPIC, "run")
    docnos: list[Any] = column(frame, DOCNO, "run")
    try:
        "".join(docnos)  # text stays text, as in dicts
    except TypeError:
        docnos = _ids(frame, DOCNO, "run")
    scores = _numbers(column(frame, SCORE, "run"), "score")
    places = _numbers(column(frame, RANK, "run"), "rank") if ranks else NONE
    if (large := np.flatnonzero(np.abs(places) > LAST_RANK)).size:
        raise InputError(f"run:{large[0] + 1}", f"rank {places[large[0]]:.0f} is too large", TOO_LARGE)
    kinds = _ids(frame, TYPE, "run") if types else []
    rows: dict[bytes, list[int]] = {}
    for topic, group in groupby(range(len(topics)), key=topics.__getitem__):
        rows.setdefault(topic, []).extend(group)
    return {
        topic: (
            [docnos[row] for row in positions],
            scores[positions],
            places[positions] if ranks else NONE,
            array("q", [row + 1 for row in positions]),
            [kinds[row] for row in positions] if types else [],
        )
        for topic, positions in rows.items()
    }


def _numbers(values: list[Any], what: str) -> Floats:
    """A column of a run as finite floats, or InputError."""
    if set(map(type, values)) == {float}:
        numbers = np.array(values)
        if np.isfinite(numbers).all():
            return numbers
    return np.array([number(value, f"run:{row}", what) for row, value in enumerate(values, 1)])


def inner(documents: Any, what: str, topic: Any) -> Mapping[Any, Any]:
    """The documents of one topic of a nested dict."""
    if not isinstance(documents, Mapping):
        raise InputError(f"{what}['{topic}']", f"is a {type(documents).__name__}", "expected a dict docno -> number")
    return documents


def column(frame: Any, known: tuple[str, ...], what: str) -> list[Any]:
    """A column of a DataFrame under any of its known names."""
    for name in known:
        if name in frame.columns:
            return list(frame[name].tolist())
    near = next((did_you_mean(str(name), known) for name in frame.columns if did_you_mean(str(name), known)), "")
    raise InputError(what, f"no column '{known[0]}' among {', '.join(map(str, frame.columns))}", near, usage=True)


def _ids(frame: Any, known: tuple[str, ...], what: str) -> list[bytes]:
    seen: dict[Any, bytes] = {}
    return [
        seen[name] if name in seen else seen.setdefault(name, ident(name, what)) for name in column(frame, known, what)
    ]


def ident(name: Any, what: str) -> bytes:
    """An id as bytes. Raises InputError for floats: 51.0 is an id that a table reader has converted."""
    if isinstance(name, str):
        try:
            return encode(name)
        except UnicodeEncodeError:
            raise InputError(what, f"id {name!r} is not valid text", "use characters that UTF-8 can encode") from None
    if isinstance(name, bytes):
        return name
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return str(name).encode()
    raise InputError(what, f"id {name!r} is a {type(name).__name__}", "ids must be text: read them with dtype=str")


def number(value: Any, place: str, what: str) -> float:
    """A finite float, or InputError."""
    try:
        result = float(value) if not isinstance(value, str | bytes) else math.nan
    except (TypeError, ValueError, OverflowError):
        result = math.nan
    if not math.isfinite(result):
        raise InputError(place, f"{what} {value!r} is not a finite number", f"expected a number for each {what}")
    return result
