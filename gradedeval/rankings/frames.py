"""DataFrames and dicts -> the same topics and documents that files have."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError, plural, shown
from gradedeval.rankings.objects import Listed, usual_columns, usual_dict
from gradedeval.trec.file_formats import (
    DOCNO,
    GRADE,
    RANK,
    SCORE,
    TOPIC,
    TYPE,
    TableColumns,
    check_no_score,
    check_one_grade,
    find_column,
    find_grades,
    no_column,
    not_whole,
    plain,
)
from gradedeval.trec.lines import decimal, decode, encode

# Words that stand for grades: NTCIR's L0, L1, L2, and those that the user names.


_NTCIR = rb"L(\d+)"
_PLAIN = "[\\w+.,=…-]+"  # what no shell takes for its own


def grade_of(token: bytes, labels: Mapping[bytes, float] | None) -> float:
    """The grade that a token says: that of its label, the number that it is, or the digits of NTCIR's L2; nan where it
    says none."""
    if labels is not None and token in labels:
        return labels[token]
    grade = decimal(token)
    ntcir = re.fullmatch(_NTCIR, token) if grade != grade else None
    return float(ntcir[1]) if ntcir else grade


def check_labels(
    place: str, found: Iterable[bytes], labels: Mapping[bytes, float] | None, lines: Mapping[bytes, int]
) -> None:
    """Raise InputError where grades are words and some of them have no number.

    found   all tokens that say a grade
    labels  those that the user names; without them a few bad tokens among numbers are errors of their lines
    lines   token -> its first line, or 0
    """
    tokens = sorted(set(found))
    unknown = [token for token in tokens if math.isnan(grade_of(token, labels))]
    words = [token for token in unknown if not _is_number(token)]
    named = {token: grade_of(token, labels) for token in tokens if token in words or not _is_number(token)}
    if not words or (labels is None and len(unknown) < len(tokens) and len(named) == len(words)):
        return
    first = min(words, key=lambda token: lines[token])
    pairs = ",".join(f"{decode(token)}={'…' if math.isnan(of) else f'{of:g}'}" for token, of in named.items())
    pairs = pairs if re.fullmatch(_PLAIN, pairs) else f"'{pairs}'"
    what = f"grade '{decode(first)}' is a word"
    hint = f"the labels found are {', '.join(map(decode, tokens))}: give each a grade, as in --labels {pairs}"
    raise InputError(f"{place}:{lines[first]}" if lines[first] else place, what, hint, kind="label")


def unused_labels(place: str, found: Iterable[bytes], labels: Mapping[bytes, float]) -> list[str]:
    """The note on labels that the user names and no judgment has: a list of none or one."""
    unused = sorted(labels.keys() - set(found))
    named = ", ".join(map(decode, unused))
    return [f"{place}: no judgment has the {plural(len(unused), 'label')} {named} of --labels"] if unused else []


def _is_number(token: bytes) -> bool:
    """Whether this is a number, if not a finite one."""
    try:
        float(token)
    except ValueError:
        return False
    return True


NONE = np.empty(0)

LAST_RANK = 2**53 - 1
"""The largest rank that a float tells from the next."""

TOO_LARGE = f"--ties rank takes ranks up to {LAST_RANK}"

Judgment = tuple[bytes, Any, float, int]
"""Topic, docno (or docno and subtopic or stratum), grade, and line (or row) number."""

Ranking = tuple[list[Any], Floats, Floats, "array[int] | range", list[bytes]]
"""Docnos, scores, ranks (or none), row numbers, and types (or none)."""


GradeOfWord = Mapping[bytes, float] | None
"""Words that stand for grades."""


def usual_judgments(source: Any, what: str = "qrels") -> Listed | None:
    """The judgments of a dict or DataFrame that needs no further look; None of any other."""
    if isinstance(source, Mapping):
        usual = usual_dict({topic: documents for topic, documents in source.items() if documents})
    elif hasattr(source, "columns") and find_grades(source.columns) is not None:
        columns = [column(source, known, what) for known in (TOPIC, DOCNO, GRADE)]
        usual = usual_columns(*columns)
    else:
        return None
    return usual if usual and usual.topics else None


def judgments_in(source: Any, part: tuple[str, ...], what: str = "qrels", labels: GradeOfWord = None) -> list[Judgment]:
    """The judgments of a dict or a DataFrame."""
    return (dict_judgments if isinstance(source, Mapping) else frame_judgments)(source, part, what, labels)


def dict_judgments(
    judged: Mapping[Any, Any], part: tuple[str, ...], what: str = "qrels", labels: GradeOfWord = None
) -> list[Judgment]:
    """The judgments of a dict topic -> docno -> grade, or topic -> docno -> `part` -> grade: SUBTOPIC or STRATUM."""
    rows: list[Judgment] = []
    listed = [documents.values() for documents in judged.values() if isinstance(documents, Mapping) and not part]
    words = {encode(said): 0 for grades in listed for said in grades if isinstance(said, str)}
    check_labels(what, words, labels, words)
    for topic, documents in judged.items():
        name = ident(topic, what)
        for docno, said in inner(documents, what, topic).items():
            place, document = f"{what}['{topic}']['{docno}']", ident(docno, what)
            if not part:
                rows.append((name, document, grade(said, place, labels), 0))
                continue
            if not isinstance(said, Mapping):
                raise InputError(place, f"is a {type(said).__name__}", f"expected a dict {part[0]} -> grade")
            for key, value in said.items():
                known = grade(value, f"{place}['{key}']", labels)
                rows.append((name, (document, ident(key, what)), known, 0))
    return rows


def frame_judgments(
    frame: Any, part: tuple[str, ...], what: str = "qrels", labels: GradeOfWord = None
) -> list[Judgment]:
    """The judgments of a DataFrame with a topic, a docno and a grade column, and perhaps one of subtopics or strata."""
    parts = _ids(frame, part, what) if part else []
    topic, docno = _ids(frame, TOPIC, what), _ids(frame, DOCNO, what)
    documents: Iterable[Any] = zip(docno, parts, strict=True) if part else docno
    grades, rows = column(frame, GRADE, what), lines_of(frame)
    first: dict[bytes, int] = {}
    for said, row in zip(grades, rows, strict=True):
        if isinstance(said, str):
            first.setdefault(_token(said), row)
    check_labels(what, first, labels, first)
    return [
        (topic, document, grade(said, f"{what}:{row}", labels), row)
        for topic, document, said, row in zip(topic, documents, grades, rows, strict=True)
    ]


def words_of(source: Any, what: str = "qrels") -> set[bytes]:
    """The grades of a dict or a DataFrame that are text."""

    def values(own: Any) -> Iterable[Any]:
        return (one for value in own.values() for one in values(value)) if isinstance(own, Mapping) else (own,)

    grades = values(source) if isinstance(source, Mapping) else column(source, GRADE, what)
    return {_token(said) for said in grades if isinstance(said, str)}


def lines_of(frame: Any) -> Sequence[int]:
    """The line that each row of a table stands on in its file, or its number."""
    return frame.lines if isinstance(frame, TableColumns) and frame.lines else range(1, len(frame) + 1)


def _token(text: str) -> bytes:
    try:
        return encode(text)
    except UnicodeEncodeError:
        return repr(text).encode()


def grade(value: Any, place: str, labels: GradeOfWord) -> float:
    """A grade as a number, which text may say. Raises InputError where it says none."""
    said = grade_of(_token(value), labels) if isinstance(value, str) else math.nan
    return said if said == said else number(value, place, "grade")


def dict_ranking(run: Mapping[Any, Any], ranks: bool, what: str = "run") -> dict[bytes, Ranking]:
    """The documents of a dict topic -> docno -> score."""
    if ranks:
        raise InputError(what, "a dict has no ranks", "--ties rank needs a file or a DataFrame", usage=True)
    # A sum that is not finite shows that a score may not be: quicker than checking each.
    with np.errstate(over="ignore", invalid="ignore"):
        rankings = {
            ident(topic, what): _dict_topic(topic, inner(documents, what, topic), what)
            for topic, documents in run.items()
        }
    if len(rankings) < len(run):
        names = [ident(topic, what) for topic in run]
        again = next(topic for position, topic in enumerate(run) if names[position] in names[:position])
        raise InputError(what, f"duplicate topic '{again}', as text and as a number", "give each topic once")
    return rankings


def _dict_topic(topic: Any, documents: Mapping[Any, Any], what: str) -> Ranking:
    scores = list(documents.values())
    try:
        values = np.array(scores) if scores else NONE
    except ValueError:  # lists of various lengths
        values = np.empty((0, 0))
    if values.dtype.kind not in "iuf" or values.ndim != 1:
        values = np.array([number(score, f"{what}['{topic}']", "score") for score in scores])
    values = values.astype(np.float64, copy=False)
    if not math.isfinite(values.sum()) and not np.isfinite(values).all():
        docno = list(documents)[int(np.flatnonzero(~np.isfinite(values))[0])]
        raise InputError(f"{what}['{topic}']['{docno}']", "the score is not finite", "expected a finite number")
    docnos = _docnos(list(documents), what)
    return docnos, values, NONE, range(1, len(docnos) + 1), []


def ordered_by_rank(frame: Any) -> bool:
    """Whether a DataFrame has ranks and no scores: then the rank orders its documents."""
    return find_column(frame.columns, SCORE) is None and find_column(frame.columns, RANK) is not None


def usual_run(source: Any, what: str = "run") -> Listed | None:
    """The documents of a dict or DataFrame that needs no further look; None of any other."""
    if isinstance(source, Mapping):
        return usual_dict(source)
    if ordered_by_rank(source):
        return None
    docnos, topics = column(source, DOCNO, what), column(source, TOPIC, what)
    name = find_column(source.columns, SCORE)
    scores = None if name is None else getattr(source[name], "array", None)
    numbers = np.asarray(scores) if getattr(getattr(scores, "dtype", None), "kind", "") == "f" else None
    return usual_columns(topics, docnos, column(source, SCORE, what) if numbers is None else numbers)


def frame_ranking(
    frame: Any, ranks: bool, types: bool = False, what: str = "run", by_rank: bool = False
) -> dict[bytes, Ranking]:
    """The documents of a DataFrame with columns topic, docno and score or rank; ranks and types where asked for."""
    if not len(frame):
        raise InputError(what, "is empty", "expected a row for each document")
    docnos = column(frame, DOCNO, what)
    if ordered_by_rank(frame):
        by_rank = True
        check_no_score({name: _values(frame, name) for name in frame.columns}, what)
    topics = _ids(frame, TOPIC, what)
    docnos, lines = _docnos(docnos, what), lines_of(frame)
    places = _numbers(column(frame, RANK, what), "rank", what, lines) if ranks or by_rank else NONE
    scores = -places if by_rank else _numbers(column(frame, SCORE, what), "score", what, lines)
    if (large := np.flatnonzero(np.abs(places) > LAST_RANK)).size:
        raise InputError(f"{what}:{lines[large[0]]}", f"rank {places[large[0]]:.0f} is too large", TOO_LARGE)
    kinds = _ids(frame, TYPE, what) if types else []
    rows: dict[bytes, list[int]] = {}
    for topic, group in groupby(range(len(topics)), key=topics.__getitem__):
        rows.setdefault(topic, []).extend(group)
    return {
        topic: (
            [docnos[row] for row in positions],
            scores[positions],
            places[positions] if ranks else NONE,
            array("q", [lines[row] for row in positions]),
            [kinds[row] for row in positions] if types else [],
        )
        for topic, positions in rows.items()
    }


def _docnos(docnos: list[Any], what: str) -> list[Any]:
    """Docnos as ids. Text stays text: encoding each would take longer than the evaluation."""
    try:
        encode("".join(docnos))
    except (TypeError, UnicodeEncodeError):
        return [ident(docno, what) for docno in docnos]
    return docnos


def _numbers(values: list[Any], what: str, place: str, lines: Sequence[int]) -> Floats:
    """A column of a run as finite floats, or InputError; rows stand on these lines."""
    if set(map(type, values)) == {float}:
        numbers = np.array(values)
        if np.isfinite(numbers).all():
            return numbers
    return np.array([number(value, f"{place}:{row}", what) for row, value in zip(lines, values, strict=True)])


def inner(documents: Any, what: str, topic: Any) -> Mapping[Any, Any]:
    """The documents of one topic of a nested dict."""
    if not isinstance(documents, Mapping):
        raise InputError(f"{what}['{topic}']", f"is a {type(documents).__name__}", "expected a dict docno -> number")
    return documents


def held(frame: Any, known: tuple[str, ...], what: str) -> Any:
    """A column of a DataFrame under any of its known names, as it holds it."""
    return _held(frame, known, what)[1]


def _held(frame: Any, known: tuple[str, ...], what: str) -> tuple[Any, Any]:
    """The name of a column, and what holds its values."""
    name = find_grades(frame.columns) if known is GRADE else find_column(frame.columns, known)
    if name is None:
        raise no_column(frame.columns, known, what)
    if known is GRADE:
        check_one_grade(frame.columns, what)
    values = frame[name]
    if not hasattr(values, "tolist"):
        raise InputError(what, f"has several columns '{name}'", "give each column a name of its own", usage=True)
    return name, values


def column(frame: Any, known: tuple[str, ...], what: str) -> list[Any]:
    """The values of a column."""
    name, held = _held(frame, known, what)
    if getattr(getattr(held, "dtype", None), "kind", "") == "O" and hasattr(held, "to_numpy"):
        held = held.to_numpy(object)  # pandas lists text of Arrow one by one
    values: list[Any] = held.tolist()
    if known is GRADE and plain(name) in SCORE:
        _check_whole(values, name, what)
    return values


def _values(frame: Any, name: Any) -> Iterator[Any]:
    """The values of a column, once they are asked for; of one that is there twice, none."""
    held = frame[name]
    yield from held.tolist() if hasattr(held, "tolist") else ()


def _check_whole(values: list[Any], name: Any, what: str) -> None:
    """Raise InputError where a column that may be the scores of a run is to be grades, and holds fractions."""
    if any(isinstance(value, float | np.floating) and value % 1 for value in values):
        raise not_whole(str(name), what)


def _ids(frame: Any, known: tuple[str, ...], what: str) -> list[bytes]:
    names, seen = column(frame, known, what), dict[Any, bytes]()
    try:
        return [seen[name] if name in seen else seen.setdefault(name, ident(name, what)) for name in names]
    except TypeError:  # lists and dicts have no hash, and are no ids
        return [ident(name, what) for name in names]


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
    """A finite float, or InputError; text is read as in files."""
    try:
        text = isinstance(value, str | bytes)
        result = decimal(value if isinstance(value, bytes) else encode(value)) if text else float(value)
    except (TypeError, ValueError, OverflowError):
        result = math.nan
    if not math.isfinite(result):
        raise InputError(place, f"{what} {shown(value)} is not a finite number", f"expected a number for each {what}")
    return result
