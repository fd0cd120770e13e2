"""Whatever holds a run or judgments in Python -> a dict or a DataFrame, which `frames` reads.

Rows, tables of other libraries, ranked lists, and the objects of ranx. None of these libraries is imported: an object
is known by what it offers.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, groupby, islice
from operator import attrgetter, gt, itemgetter, lt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, Ints
from gradedeval.errors import InputError, Note, plural
from gradedeval.options import Options
from gradedeval.trec.file_formats import DOCNO, RANK, SCORE, TOPIC, TableColumns, find_column, no_column
from gradedeval.trec.lines import encode

VALUES = {"run": "score", "qrels": "grade"}
"""What the third of three columns is."""

Ids = str | bytes | int | np.integer


def readable(source: Any, what: str, place: str) -> Any:
    """A dict of dicts or a DataFrame, or what stands for one, of whatever holds a run or judgments.

    what  "run" or "qrels"

    Raises InputError where the source is neither.
    """
    if isinstance(source, Mapping):
        check_no_columns(source, place)
        return _of_lists(source, what, place)
    found = table(source, what, place)
    if found is not None:
        if not len(found):
            raise _empty(what, place)
        return found
    if callable(convert := getattr(source, "to_dict", None)):  # ranx
        source = _converted(convert, source, what, place)
        return _of_lists(source, what, place) if isinstance(source, Mapping) else refuse(source, what, place)
    numbers = getattr(getattr(source, "dtype", None), "kind", "O") in ("b", "i", "u", "f")
    if numbers or isinstance(source, str | bytes | Set) or not isinstance(source, Iterable) or ndim(source) == 0:
        refuse(source, what, place)
    return _of_rows(list(source), what, place)


def check_no_columns(source: Mapping[Any, Any], place: str) -> None:
    """Raise InputError (usage) where a dict is a table: name of column -> values, as `DataFrame.to_dict` gives it."""
    if not 1 < len(source) < 20 or not _knows(source):
        return
    docnos = source[find_column(source, DOCNO)]
    if not isinstance(docnos, Mapping) or isinstance(next(iter(docnos.values()), None), str | bytes):
        what = f"is a dict of the columns {', '.join(map(str, source))}"
        raise InputError(place, what, "give pandas.DataFrame(...) of it, or a dict by topic", usage=True)


def refuse(source: Any, what: str, place: str) -> Any:
    """Raise the InputError of what is neither a run nor judgments."""
    kind = f"an object of type {type(source).__name__}"
    if isinstance(source, list) and source:
        kind = f"a list of objects of type {type(source[0]).__name__}"
    rows = f", a dict, or rows of topic, docno and {VALUES[what]}" if what in VALUES else ""
    hint = f"give a path, an open file, a DataFrame{rows}" if rows else "give a path, an open file or a DataFrame"
    if rows and getattr(getattr(source, "dtype", None), "kind", "") in ("b", "i", "u", "f"):
        hint = "gradedeval.evaluate_arrays takes arrays of grades and scores"
    raise InputError(place, f"cannot read {'a run' if what == 'run' else what} from {kind}", hint, usage=True)


def _converted(convert: Callable[[], Any], source: Any, what: str, place: str) -> Any:
    """What an object makes of itself."""
    try:
        return convert()
    except Exception:  # it is some other object's method of that name
        return refuse(source, what, place)


def table(source: Any, what: str, place: str) -> Any:
    """A DataFrame of pandas as it is; of polars, pyarrow, numpy and others, what stands for it; None of what is no
    table."""
    if hasattr(source, "iloc") and hasattr(source, "columns"):  # pandas, which takes its time to say what it lacks
        return source
    if isinstance(source, TableColumns) and not source.columns and what in VALUES:
        raise no_column([], TOPIC, place)
    for collect in ("collect", "compute"):  # a LazyFrame of polars, a DataFrame of dask
        source = getattr(source, collect)() if callable(getattr(source, collect, None)) else source
    if (names := _column_names(source)) is None:
        return _of_stream(source, what, place) if hasattr(source, "__arrow_c_stream__") else None
    try:
        first = source[names[0]] if names else None
    except Exception:  # each library has its own
        first = None
    method = next((name for name in ("tolist", "to_list", "to_pylist") if callable(getattr(first, name, None))), None)
    if method == "tolist" and names == list(getattr(source, "columns", ())):
        return source
    if method is not None:
        return TableColumns(names, lambda name: getattr(source[name], method)(), len(source))
    if hasattr(source, "__arrow_c_stream__"):
        return _of_stream(source, what, place)
    return None


def _column_names(source: Any) -> list[Any] | None:
    """What a table calls its columns: one of Arrow, of numpy, or any other; None of what is not a table."""
    found = (
        getattr(getattr(source, "schema", None), "names", None),
        getattr(getattr(source, "dtype", None), "names", None),
        getattr(source, "column_names", None),
        getattr(source, "columns", None),
    )
    return next((list(names) for names in found if isinstance(names, Iterable)), None)


def _of_stream(source: Any, what: str, place: str) -> TableColumns:
    """A table that only the Arrow stream protocol opens, as a relation of duckdb."""
    try:
        pyarrow: Any = import_module("pyarrow")
    except ImportError:
        problem = f"needs pyarrow to read an object of type {type(source).__name__}"
        raise InputError(place, problem, "pip install 'gradedeval[parquet]'", usage=True) from None
    try:
        found = pyarrow.table(source)
    except Exception:  # a column alone
        refuse(source, what, place)
    return TableColumns(found.column_names, lambda name: found[name].to_pylist(), len(found))


def ndim(values: Any) -> int | None:
    """The dimensions of an array; None of anything else."""
    return getattr(values, "ndim", None)


def is_ids(values: Any) -> bool:
    """Whether this is a list of docnos, or of pairs of docno and number; numbers alone are neither."""
    if not isinstance(values, list | tuple | Set) and ndim(values) != 1:
        return False
    return not any(isinstance(first, float) for first in islice(values, 1))


def is_row(row: Any) -> bool:
    """Whether this is a row of a run or of judgments: values, a namedtuple, a record, or an object with their names."""
    if isinstance(row, Mapping) or (names := _fields(row)) is None:
        return isinstance(row, Mapping) and _knows(row)
    return _knows(names) if names else len(row) > 2 and isinstance(row[0], Ids)


def rows_or_several(source: Iterator[Any]) -> Any:
    """An iterator of rows as it was, one of runs as a list of them."""
    first = next(source, None)
    if first is None or is_row(first):
        return chain([] if first is None else [first], source)
    return [first, *source]


def _knows(names: Iterable[Any]) -> bool:
    names = list(names)
    return find_column(names, TOPIC) is not None and find_column(names, DOCNO) is not None


def _fields(row: Any) -> list[str] | None:
    """The names of a row's values; none of a plain one, and None of what is not a row."""
    if isinstance(row, Mapping):
        return list(row)
    if hasattr(row, "_fields"):
        return list(row._fields)
    if isinstance(row, list | tuple) or ndim(row) == 1:
        return []
    names = list(getattr(row, "__dict__", ()))
    return names if _knows(names) else None


def _of_rows(rows: Sequence[Any], what: str, place: str) -> TableColumns:
    """The columns of rows, all of the kind of the first."""
    if not rows:
        raise _empty(what, place)
    if not is_row(first := rows[0]):
        refuse(rows, what, place)
    names = _fields(first) or ["topic", "docno", VALUES[what]]
    part: Callable[[Any], Any] = tuple
    if isinstance(first, Mapping):
        part = itemgetter(*names)
    elif not isinstance(first, list | tuple) and ndim(first) is None:
        part = attrgetter(*names)
    try:
        columns = dict(zip(names, zip(*map(part, rows), strict=True), strict=True))
    except Exception:
        number, row = next((number, row) for number, row in enumerate(rows, 1) if not _has(row, part, len(names)))
        shown = f"has {len(row)} {plural(len(row), 'value')}" if isinstance(row, list | tuple) else "is not such a row"
        raise InputError(f"{place}:{number}", shown, f"expected {', '.join(map(str, names))}", usage=True) from None
    return TableColumns(list(names), lambda name: columns[name], len(rows))


def _empty(what: str, place: str) -> InputError:
    return InputError(place, "is empty", f"expected a row for each document: topic, docno, {VALUES[what]}")


def _has(row: Any, part: Callable[[Any], Any], count: int) -> bool:
    """Whether a row has so many values."""
    try:
        return len(part(row)) == count
    except Exception:
        return False


def _of_lists(nested: Mapping[Any, Any], what: str, place: str) -> Any:
    """A dict of dicts as it is; the columns of a dict topic -> ranked list, or list of pairs of docno and score.

    Judgments without grades are the documents that are relevant.
    """
    if not any(is_ids(documents) for documents in nested.values() if not isinstance(documents, dict)):
        return nested
    if any(isinstance(one, Mapping) for documents in nested.values() if is_ids(documents) for one in documents):
        return _of_records(nested, what, place)
    rows: list[tuple[Any, Any, Any]] = []
    kinds: set[bool] = set()
    for topic, documents in nested.items():
        its_place = f"{place}['{topic}']"
        if not is_ids(documents):
            raise InputError(its_place, f"is a {type(documents).__name__}", "expected a list, as the others are")
        if what == "run" and isinstance(documents, Set):
            raise InputError(its_place, "is a set, which has no order", "expected a list, the best document first")
        listed = documents.tolist() if hasattr(documents, "tolist") else list(documents)
        kinds |= {isinstance(one, list | tuple) and len(one) == 2 for one in listed}
        if len(kinds) > 1:
            raise InputError(its_place, "mixes docnos with pairs of docno and number", "expected one or the other")
        for rank, one in enumerate(listed, 1):
            rows.append((topic, *one) if True in kinds else (topic, one, rank if what == "run" else 1))
    third = "rank" if what == "run" and True not in kinds else VALUES[what]
    note = "no grades: the listed documents are relevant, with grade 1" if kinds == {False} and what == "qrels" else ""
    if not rows:
        raise _empty(what, place)
    columns = dict(zip(("topic", "docno", third), zip(*rows, strict=True), strict=True))
    return TableColumns(list(columns), lambda name: columns[name], len(rows), note)


def _of_records(nested: Mapping[Any, Any], what: str, place: str) -> TableColumns:
    """The columns of a dict topic -> records of its documents."""
    rows: list[Mapping[Any, Any]] = []
    for topic, documents in nested.items():
        its_place = f"{place}['{topic}']"
        for record in documents if is_ids(documents) else [documents]:
            if not isinstance(record, Mapping) or find_column(record, DOCNO) is None:
                raise InputError(
                    its_place, "holds something that is not a record of a document", "expected records with a docno"
                )
            own = find_column(record, TOPIC)
            if own is not None and str(record[own]) != str(topic):
                hint = f"give the records alone, without '{topic}'"
                raise InputError(its_place, f"holds records of other topics, such as '{record[own]}'", hint)
            others = {name: value for name, value in record.items() if name != own}
            rows.append({"topic": topic, **others})
    return _of_rows(rows, what, place)


# Nested dicts and columns of usual content, whole columns at once: a training loop scores thousands of runs.
#
# What is unusual, wrong included, is left to `frames`, which looks at each entry and has the words for it.


LastListed = tuple[tuple[list[bytes], list[list[Any]]], NDArray[Any]]
"""The topics and docnos of a run, and the codes of their grades."""

NOTHING_LISTED: LastListed = ([], []), np.empty(0, np.uint8)


class Listed(NamedTuple):
    """Documents topic by topic: ids of topics, the docnos of each, all different, and a number for every document."""

    topics: list[bytes]
    docnos: list[list[str]]
    values: Floats

    def select(self, topics: list[bytes]) -> Listed:
        """Only these topics, in any order; one that is not there has no documents."""
        if topics == self.topics:
            return self
        row = {topic: row for row, topic in enumerate(self.topics)}
        ends = np.cumsum([len(docnos) for docnos in self.docnos]).tolist()
        rows = [row[topic] for topic in topics if topic in row]
        parts = [self.values[ends[at] - len(self.docnos[at]) : ends[at]] for at in rows]
        docnos = [self.docnos[row[topic]] if topic in row else [] for topic in topics]
        return Listed(topics, docnos, np.concatenate([np.empty(0), *parts]))


def usual_dict(nested: Mapping[Any, Any]) -> Listed | None:
    """The documents of a dict topic -> docno -> number; None unless all ids are text and all numbers finite."""
    inner = list(nested.values())
    if not all(isinstance(documents, dict) for documents in inner):
        return None
    return _listed(nested, map(list, inner), list(chain.from_iterable(map(dict.values, inner))))


def usual_columns(topics: list[Any], docnos: list[Any], values: list[Any] | Floats) -> Listed | None:
    """The documents of three columns; None also where a document or the rows of a topic come back."""
    names: list[Any] = []
    listed: list[list[Any]] = []
    begin = 0
    try:
        for topic, rows in groupby(topics):
            end = begin + len(list(rows))
            names.append(topic)
            listed.append(docnos[begin:end])
            if len(set(listed[-1])) < end - begin:
                return None
            begin = end
        return _listed(names, listed, values) if len(set(names)) == len(names) else None
    except (TypeError, ValueError):  # what is not an id may have no hash, or no truth of being equal
        return None


def _listed(topics: Iterable[Any], docnos: Iterable[list[Any]], values: list[Any] | Floats) -> Listed | None:
    """The documents, where all ids are text and all values finite numbers."""
    listed = list(docnos)
    try:
        # What is not text has nothing to encode and cannot be joined; what is not a number fits no array of them.
        names = list(map(encode, topics))
        if not (joined := "".join(map("".join, listed))).isascii():
            encode(joined)
        numbers = np.asarray(values if isinstance(values, np.ndarray) else array("d", values), np.float64)
    except (TypeError, AttributeError, ValueError, OverflowError):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        total = numbers.sum()  # quicker than a look at each: where it is finite, all are
    return Listed(names, listed, numbers) if np.isfinite(total) or np.isfinite(numbers).all() else None


# How a run is listed: whether its scores rise with the ranks that it states, as distances do.


TOPICS, DOCUMENTS = 8, 8
"""Topics of a block, and documents of each, whose ranks are looked at: to read all would take its time."""

LEAST = 3
"""Documents of a topic that tell its order from chance."""

ROWS = 512
"""Documents that are looked at where they are not read in blocks."""


@dataclass(frozen=True, eq=False, repr=False)
class Listing:
    """What a look at some topics of a run says of its order.

    looked    the topics looked at whose ranks count up
    rising    those of them in which the scores rise with the rank
    in_order  whether documents are listed by rank
    """

    looked: int = 0
    rising: int = 0
    in_order: bool = True

    def __add__(self, other: Listing) -> Listing:
        return Listing(self.looked + other.looked, self.rising + other.rising, self.in_order and other.in_order)

    def notes(self, place: str, options: Options) -> list[Note]:
        """What is said of a run whose scores rise with the rank, unless the user has chosen the order."""
        if 2 * self.rising <= self.looked or "order" in options.given:
            return []
        what = f"{place}: scores rise with the rank, as distances do, so the document ranked last comes first"
        rank = "--order rank or --order file" if self.in_order else "--order rank"
        hint = f"use {rank}, or negate the scores; --order score if they are right"
        return [Note(what, hint, kind="rising-scores")]


NOT_LOOKED = Listing()


def listing_of(topics: Iterable[Any], stated: Iterable[Any], scores: Iterable[float]) -> Listing:
    """A look at some documents, as listed: their topics, the ranks that they state, and their scores."""
    by_topic: dict[Any, list[tuple[float, float]]] = {}
    for topic, rank, score in zip(topics, stated, scores, strict=True):
        try:
            by_topic.setdefault(topic, []).append((float(rank), score))
        except (TypeError, ValueError):
            return NOT_LOOKED  # ranks are words, which order nothing
    looked, rising, in_order = 0, 0, True
    for documents in by_topic.values():
        ranks = [rank for rank, _ in documents]
        if len(set(ranks)) < len(ranks) or len(ranks) < LEAST:
            continue
        looked += 1
        if not all(map(lt, ranks, ranks[1:])):
            in_order = False
            documents.sort()
        values = [score for _, score in documents]
        rising += sum(map(gt, values[1:], values)) > 2 * sum(map(lt, values[1:], values))
    return Listing(looked, rising, in_order)


def sample(size: Ints) -> Ints:
    """The first documents of some topics, as positions.

    size  stretches of documents of one topic: how many
    """
    start = np.cumsum(size) - size
    several = np.flatnonzero(size > 1)
    if not len(several):
        return np.arange(min(ROWS, int(size.sum())))  # topics take turns
    if (most := min(TOPICS, len(several))) > 1:
        several = several[np.arange(most) * (len(several) - 1) // (most - 1)]
    within = np.arange(DOCUMENTS)
    positions: Ints = (start[several][:, None] + within)[within < size[several][:, None]]
    return positions


def listing_of_frame(frame: Any) -> Listing:
    """A look at the first rows of a DataFrame, or of columns of that form, that has both ranks and scores."""
    names = [find_column(frame.columns, known) for known in (TOPIC, RANK, SCORE)]
    if None in names:
        return NOT_LOOKED
    head = frame.head(ROWS) if hasattr(frame, "head") else frame
    columns: list[list[Any]] = [getattr(head[name], "tolist", list)()[:ROWS] for name in names]
    topics, ranks, scores = columns
    try:
        return listing_of(topics, ranks, map(float, scores))
    except (TypeError, ValueError):  # who reads the column says what is wrong
        return NOT_LOOKED
