"""Whatever holds a run or judgments in Python -> a dict or a DataFrame -> the topics and documents that files have.

Rows, tables of other libraries, ranked lists, and the objects of ranx. None of these libraries is imported: an object
is known by what it offers.
"""

from __future__ import annotations

import math
import re
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from importlib import import_module
from itertools import chain, groupby, islice, repeat
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, all_finite
from gradedeval.errors import InputError, Note, flag, plural, safe_repr, shorten
from gradedeval.kernel.parallel import raise_malloc_threshold
from gradedeval.kernel.rankings.batch import LAST_RANK
from gradedeval.kernel.rankings.docnos import DIGITS, Docnos, Index, JudgmentColumns, TopicCodes, coded, repeats
from gradedeval.kernel.trec.file_formats import (
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
    fractional_grades,
    missing_column,
    plain,
)
from gradedeval.kernel.trec.lines import decimal, decode, encode
from gradedeval.kernel.trec.stream import Stream
from gradedeval.kernel.trec.text_columns import Text, check_column, text_of_arrow

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
    found = readable_table(source, what, place)
    if found is not None:
        if not len(found):
            raise _empty(what, place)
        return found
    if callable(convert := getattr(source, "to_dict", None)):  # ranx
        source = _converted(convert, source, what, place)
        return _of_lists(source, what, place) if isinstance(source, Mapping) else refuse_source(source, what, place)
    numbers = getattr(getattr(source, "dtype", None), "kind", "O") in ("b", "i", "u", "f")
    if numbers or isinstance(source, str | bytes | Set) or not isinstance(source, Iterable) or ndim(source) == 0:
        refuse_source(source, what, place)
    return _of_rows(list(source), what, place)


def check_no_columns(source: Mapping[Any, Any], place: str) -> None:
    """Raise InputError (usage) where a dict is a table: name of column -> values, as `DataFrame.to_dict` gives it."""
    if not 1 < len(source) < 20 or not _knows(source):
        return
    docnos = source[find_column(source, DOCNO)]
    if not isinstance(docnos, Mapping) or isinstance(next(iter(docnos.values()), None), str | bytes):
        what = f"is a dict of the columns {', '.join(map(str, source))}"
        raise InputError(place, what, "give pandas.DataFrame(...) of it, or a dict by topic", usage=True)


def refuse_source(source: Any, what: str, place: str) -> Any:
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
        return refuse_source(source, what, place)


def readable_table(source: Any, what: str, place: str, needed: bool = False) -> Any:
    """A DataFrame of pandas as it is; of polars, pyarrow, numpy and others, what stands for it. Of what is no table
    None, or the InputError of `refuse_source` where one is `needed`."""
    found = _readable_table(source, what, place)
    return refuse_source(source, what, place) if needed and found is None else found


def _readable_table(source: Any, what: str, place: str) -> Any:
    if hasattr(source, "iloc") and hasattr(source, "columns"):  # pandas, which takes its time to say what it lacks
        return source
    if isinstance(source, TableColumns):
        if not source.columns and what in VALUES:
            raise missing_column([], TOPIC, place)
        return source
    for collect in ("collect", "compute"):  # a LazyFrame of polars, a DataFrame of dask
        source = getattr(source, collect)() if callable(getattr(source, collect, None)) else source
    try:
        names = _column_names(source)
    except UnicodeDecodeError:  # of Arrow
        raise InputError(
            place, "has a column whose name is not UTF-8", "write the table again", kind="format"
        ) from None
    if names is None:
        return _of_stream(source, what, place) if hasattr(source, "__arrow_c_stream__") else None
    try:
        first = source[names[0]] if names else None
    except Exception:  # each library has its own
        first = None
    method = next((name for name in ("tolist", "to_list", "to_pylist") if callable(getattr(first, name, None))), None)
    if method == "tolist" and names == list(getattr(source, "columns", ())):
        return source
    if method == "to_pylist" and hasattr(first, "validate"):  # pyarrow
        return _of_arrow(source, names, place)
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
        refuse_source(source, what, place)
    return _of_arrow(found, found.column_names, place)


def _of_arrow(table: Any, names: list[Any], place: str) -> TableColumns:
    """Return the columns of a table of Arrow."""
    rows = len(table)
    return TableColumns(names, lambda name: check_column(table[name], name, rows, place).to_pylist(), rows)


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
    return _knows(names) if names else len(row) > 2 and (isinstance(row[0], Ids) or is_missing(row[0]))


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
        refuse_source(rows, what, place)
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
    """Whether a row has that many values."""
    try:
        return len(part(row)) == count
    except Exception:
        return False


def _of_lists(nested: Mapping[Any, Any], what: str, place: str) -> Any:
    """A dict of dicts as it is; the columns of a dict topic -> ranked list, or list of pairs of docno and score.

    Judgments without grades are the documents that are relevant.
    """
    if all_dicts(nested.values()) or not any(map(is_ids, nested.values())):
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
            if is_missing(docno := listed_docno(one)):
                ident(docno, f"{its_place}[{rank - 1}]", "docno")
            rows.append((topic, *one) if True in kinds else (topic, one, rank if what == "run" else 1))
    third = "rank" if what == "run" and True not in kinds else VALUES[what]
    note = "no grades: the listed documents are relevant, with grade 1" if kinds == {False} and what == "qrels" else ""
    if not rows:
        raise _empty(what, place)
    columns = dict(zip(("topic", "docno", third), zip(*rows, strict=True), strict=True))
    return TableColumns(list(columns), lambda name: columns[name], len(rows), note)


def listed_docno(one: Any) -> Any:
    """The docno of an entry of a list: the entry, the first of a pair, or that of a record."""
    if isinstance(one, Mapping):
        return one.get(find_column(one, DOCNO))
    return one[0] if isinstance(one, list | tuple) and len(one) == 2 else one


def all_dicts(values: Iterable[Any]) -> bool:
    """Whether all values are dicts: few types are sooner looked at than many values."""
    return all(issubclass(kind, dict) for kind in set(map(type, values)))


def _of_records(nested: Mapping[Any, Any], what: str, place: str) -> TableColumns:
    """The columns of a dict topic -> records of its documents."""
    rows: list[Mapping[Any, Any]] = []
    for topic, documents in nested.items():
        its_place = f"{place}['{topic}']"
        for position, record in enumerate(documents if is_ids(documents) else [documents]):
            if not isinstance(record, Mapping) or find_column(record, DOCNO) is None:
                raise InputError(
                    its_place, "holds something that is not a record of a document", "expected records with a docno"
                )
            if is_missing(docno := listed_docno(record)):
                ident(docno, f"{its_place}[{position}]", "docno")
            own = find_column(record, TOPIC)
            if own is not None and str(record[own]) != str(topic):
                hint = f"give the records alone, without '{topic}'"
                raise InputError(its_place, f"holds records of other topics, such as '{record[own]}'", hint)
            others = {name: value for name, value in record.items() if name != own}
            rows.append({"topic": topic, **others})
    return _of_rows(rows, what, place)


# Nested dicts and columns of usual content, whole columns at once: a training loop scores thousands of runs.
#
# What is unusual, wrong included, is left to what follows, which looks at each entry and has the words for it.


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
    if not all_dicts(inner) or any("" in documents for documents in inner):
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
            distinct = set(listed[-1])
            if len(distinct) < end - begin or "" in distinct:
                return None
            begin = end
        return _listed(names, listed, values) if len(set(names)) == len(names) else None
    except (TypeError, ValueError):  # what is not an id may have no hash, or no truth of being equal
        return None


def packed(values: Sequence[Any]) -> Floats:
    """Numbers as an array, which nobody writes to: twice as fast as NumPy makes one. Raises struct.error where one of
    them is no number, as text is none."""
    return np.frombuffer(struct.pack(f"{len(values)}d", *values), np.float64)


def _listed(topics: Iterable[Any], docnos: Iterable[list[Any]], values: list[Any] | Floats) -> Listed | None:
    """The documents, where all ids are text and all values finite numbers."""
    listed = list(docnos)
    try:
        # What is not text has nothing to encode and cannot be joined; what is not a number fits no array of them.
        if b"" in (names := list(map(encode, topics))):
            return None
        if not (joined := "".join(map("".join, listed))).isascii():
            encode(joined)
        numbers = np.asarray(values if isinstance(values, np.ndarray) else packed(values), np.float64)
    except (TypeError, AttributeError, ValueError, struct.error):
        return None
    return Listed(names, listed, numbers) if all_finite(numbers) else None


# DataFrames and files whose text Arrow holds: the bytes of ids as columns, as in a file of lines. No string is made of
# an id.


def id_columns(source: Any, names: Sequence[Any], what: str) -> tuple[Text, Text] | None:
    """The topics and docnos of a DataFrame whose text Arrow holds, or of a file's columns; None of any other.

    names  those of its columns: pandas makes them anew each time it is asked
    """
    known = [find_column(names, row) for row in (TOPIC, DOCNO)]
    if None in known:
        return None
    found = []
    for name in known:
        text = _in_one_piece(source, name, what)
        if not isinstance(text, Text):
            return None
        found.append(text)
    return found[0], found[1]


def arrow_judgments(source: Any, what: str) -> JudgmentColumns | None:
    """The judgments in a DataFrame or a file whose text Arrow holds; None of any other, and where a document comes
    again."""
    names = tuple(getattr(source, "columns", ()))  # a Series has none
    if (ids := id_columns(source, names, what)) is None or find_grades(names) is None:
        return None
    grade = numeric_column(source, _name_of(names, GRADE, what), what)
    if grade is None or (grade % 1).any():  # fractions may be scores
        return None
    (topic, docno), topics = ids, TopicCodes()
    named, size = topic.stretches()
    number, hashed = np.repeat(topics.numbers(named), size).astype(np.int32), docno.hashes()
    if repeats(number, len(topics.names), Docnos(docno.buffer, docno.start, docno.length, hashed)):
        return None
    index = Index(docno.buffer, docno.start, docno.length, number, hashed, len(topics.names))
    return JudgmentColumns(topics.names, *coded_floats(grade), index)


def coded_floats(grades: Floats) -> tuple[Floats, NDArray[Any]]:
    """The distinct grades, and the index of each among them."""
    digits = bool((np.abs(grades) <= DIGITS[-1]).all() and (grades == np.floor(grades)).all())
    return coded([grades.astype(np.int8) if digits else grades])


def json_judgments(stream: Stream) -> JudgmentColumns | None:
    """The judgments of a file in JSON, topic -> docno -> grade; None of any other, and where a document comes again."""
    from gradedeval.kernel.trec.text_columns import nested_numbers  # few files are such

    raise_malloc_threshold()
    if (found := nested_numbers(stream)) is None:
        return None
    topic, docno = np.repeat(np.arange(len(found.topics), dtype=np.int32), found.size), found.docno
    hashed = docno.hashes()
    if repeats(topic, len(found.topics), Docnos(docno.buffer, docno.start, docno.length, hashed)):
        return None
    index = Index(docno.buffer, docno.start, docno.length, topic, hashed, len(found.topics))
    return JudgmentColumns(found.topics, *coded_floats(found.value), index)


def _in_one_piece(source: Any, name: Any, what: str) -> Text | Floats | None:
    """A column as Arrow or a file holds it; None where something else does."""
    if isinstance(source, TableColumns):
        return source.array(name)
    values = _arrow_of_pandas(held(source, name, what))
    return None if values is None else text_of_arrow(values)


def _arrow_of_pandas(column: Any) -> Any:
    """Return what Arrow holds of a column of pandas; None if something else holds it."""
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "storage", "") != "pyarrow" and not hasattr(dtype, "pyarrow_dtype"):
        return None
    return column.array.__arrow_array__()


def numeric_column(source: Any, name: Any, what: str) -> Floats | None:
    """A column of finite numbers that NumPy or a file holds in one piece; None of any other."""
    numbers: Any = None
    if isinstance(source, TableColumns):
        numbers = _in_one_piece(source, name, what)
    elif isinstance((dtype := (column := held(source, name, what)).dtype), np.dtype) and dtype.kind in "fiu":
        numbers = column.to_numpy(np.float64)
    return numbers if isinstance(numbers, np.ndarray) and all_finite(numbers) else None


# Words that stand for grades: NTCIR's L0, L1, L2, and those that the user names.


_NTCIR = rb"L(\d+)"


SHOWN = 5
"""Labels that a message lists."""

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
    pairs = ",".join(
        f"{decode(one)}={'…' if math.isnan(named[one]) else f'{named[one]:g}'}" for one in [*named][:SHOWN]
    )
    pairs += ",…" if len(named) > SHOWN else ""
    pairs = pairs if re.fullmatch(_PLAIN, pairs) else f"'{pairs}'"
    what = f"grade '{decode(first)}' is a word"
    hint = f"the labels found are {shorten(map(decode, tokens), SHOWN)}: give each a grade, as in {flag.labels:{pairs}}"
    raise InputError(f"{place}:{lines[first]}" if lines[first] else place, what, hint, kind="label")


UNUSED_LABELS = "unused-labels"
"""The kind of a note on labels that no judgment has, which it is about."""


def lacking_labels(place: str, found: Iterable[bytes], labels: Mapping[bytes, float]) -> list[str]:
    """The note on labels that the user names and no judgment has: a list of none or one."""
    return unused_labels(place, map(decode, labels.keys() - set(found)))


def unused_labels(place: str, labels: Iterable[str]) -> list[str]:
    """The note on labels that no judgment has: a list of none or one."""
    unused = sorted(labels)
    what = f"{place}: no judgment has the {plural(len(unused), 'label')} {', '.join(unused)} of {flag.labels}"
    return [Note(what, kind=UNUSED_LABELS, about=unused)] if unused else []


def _is_number(token: bytes) -> bool:
    """Whether this is a number, if not a finite one."""
    try:
        float(token)
    except ValueError:
        return False
    return True


# DataFrames and dicts entry by entry, with the words for what is wrong.


NONE = np.empty(0)


TOO_LARGE = f"{flag.ties:rank} takes ranks up to {LAST_RANK}"


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
        name = ident(topic, f"{what}[{topic!r}]", "topic")
        for docno, said in inner(documents, what, topic).items():
            place = f"{what}['{topic}']['{docno}']"
            document = ident(docno, f"{what}['{topic}']", "docno")
            if not part:
                rows.append((name, document, grade(said, place, labels), 0))
                continue
            if not isinstance(said, Mapping):
                raise InputError(place, f"is a {type(said).__name__}", f"expected a dict {part[0]} -> grade")
            for key, value in said.items():
                known = grade(value, f"{place}['{key}']", labels)
                rows.append((name, (document, ident(key, place, part[0])), known, 0))
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
        raise InputError(what, "a dict has no ranks", f"{flag.ties:rank} needs a file or a DataFrame", usage=True)
    # A sum that is not finite shows that a score may not be: quicker than checking each.
    with np.errstate(over="ignore", invalid="ignore"):
        rankings = {
            ident(topic, f"{what}[{topic!r}]", "topic"): _dict_topic(topic, inner(documents, what, topic), what)
            for topic, documents in run.items()
        }
    if len(rankings) < len(run):
        names = [ident(topic, what, "topic") for topic in run]
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
    docnos = _docnos(list(documents), f"{what}['{topic}']")
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
    scores = None if name is None else getattr(held(source, name, what), "array", None)
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
    lines = lines_of(frame)
    docnos = _docnos(docnos, what, lines)
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


def _docnos(docnos: list[Any], place: str, lines: Sequence[int] = ()) -> list[Any]:
    """Docnos as ids; `lines`: as `checked_ids`. Text stays text: encoding each would take longer than the
    evaluation."""
    try:
        encode("".join(docnos))
        if "" not in docnos:
            return docnos
    except (TypeError, UnicodeEncodeError):
        pass
    return checked_ids(docnos, "docno", place, lines)


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


def held(frame: Any, name: Any, what: str) -> Any:
    """A column of a DataFrame, as it holds it."""
    values = frame[name]
    if not hasattr(values, "tolist"):
        raise InputError(what, f"has several columns '{name}'", "give each column a different name", usage=True)
    if (inside := _arrow_of_pandas(values)) is not None:
        check_column(inside, name, len(values), what)
    return values


def _name_of(names: Iterable[Any], known: tuple[str, ...], what: str) -> Any:
    """What a table with columns of these names calls one of them."""
    names = tuple(names)
    name = find_grades(names) if known is GRADE else find_column(names, known)
    if name is None:
        raise missing_column(names, known, what)
    if known is GRADE:
        check_one_grade(names, what)
    return name


def column(frame: Any, known: tuple[str, ...], what: str) -> list[Any]:
    """The values of a column."""
    name = _name_of(frame.columns, known, what)
    values = held(frame, name, what)
    if getattr(getattr(values, "dtype", None), "kind", "") == "O" and hasattr(values, "to_numpy"):
        values = values.to_numpy(object)  # pandas lists text of Arrow one by one
    listed: list[Any] = values.tolist()
    if known is GRADE and plain(name) in SCORE:
        _check_whole(listed, name, what, lines_of(frame))
    return listed


def _values(frame: Any, name: Any) -> Iterator[Any]:
    """The values of a column, once they are asked for; of one that is there twice, none."""
    held = frame[name]
    yield from held.tolist() if hasattr(held, "tolist") else ()


def _check_whole(values: list[Any], name: Any, what: str, lines: Sequence[int]) -> None:
    """Raise InputError where a column that may be the scores of a run is to be grades, and holds fractions; rows stand
    on these lines."""
    for value, line in zip(values, lines, strict=True):
        if isinstance(value, float | np.floating) and value % 1:
            raise fractional_grades(str(name), f"{what}:{line}")


def _ids(frame: Any, known: tuple[str, ...], what: str) -> list[bytes]:
    names, seen = column(frame, known, what), dict[Any, bytes]()
    try:
        return [seen[name] if name in seen else seen.setdefault(name, ident(name, what, known[0])) for name in names]
    except (TypeError, InputError):  # lists and dicts have no hash, and are no ids
        return checked_ids(names, known[0], what, lines_of(frame))


def checked_ids(names: Sequence[Any], column: str, place: str, lines: Sequence[int] = ()) -> list[bytes]:
    """The ids of a column, which stand on these lines; empty: the lines are not named. Raises InputError as `ident`,
    and at the first id that is missing before any other: where one is, pandas makes floats of whole numbers."""
    places: Iterable[str] = (f"{place}:{line}" for line in lines) if lines else repeat(place)
    rows = list(zip(names, places, strict=bool(lines)))
    for name, its_place in rows:
        if is_missing(name):
            ident(name, its_place, column)
    return [ident(name, its_place, column) for name, its_place in rows]


def is_missing(name: Any) -> bool:
    """Whether this stands for no id: None, a float that is not a number, pandas.NA, or empty text."""
    if isinstance(name, str | bytes):
        return not name
    return name is None or (isinstance(name, float | np.floating) and name != name) or _is_na(name)


def _is_na(name: Any) -> bool:
    """Whether this is what pandas has for a missing value of any type, or of a date."""
    return type(name).__name__ in ("NAType", "NaTType")


def ident(name: Any, place: str, column: str) -> bytes:
    """An id of a column as bytes. Raises InputError where it is missing, and for floats: 51.0 is an id that a table
    reader has converted."""
    if is_missing(name):
        hint = "fill it in, or leave it out"
        if isinstance(name, float | np.floating) or _is_na(name):
            hint += "; keep_default_na=False keeps ids such as NA and null as text where pandas reads a CSV"
        raise InputError(place, f"no {column}", hint)
    if isinstance(name, str):
        try:
            return encode(name)
        except UnicodeEncodeError:
            raise InputError(place, f"id {name!r} is not valid text", "use characters that UTF-8 can encode") from None
    if isinstance(name, bytes):
        return name
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return str(name).encode()
    raise InputError(place, f"id {name!r} is a {type(name).__name__}", "ids must be text: read them with dtype=str")


def number(value: Any, place: str, what: str) -> float:
    """A finite float, or InputError; text is read as in files."""
    try:
        text = isinstance(value, str | bytes)
        result = decimal(value if isinstance(value, bytes) else encode(value)) if text else float(value)
    except (TypeError, ValueError, OverflowError):
        result = math.nan
    if not math.isfinite(result):
        raise InputError(
            place, f"{what} {safe_repr(value)} is not a finite number", f"expected a number for each {what}"
        )
    return result


def is_ranking(run: Mapping[Any, Any]) -> bool:
    """Whether a dict is one run (topic -> docno -> score, or topic -> docnos) and not several by name."""
    for inner in run.values():
        if not isinstance(inner, Mapping):
            return is_ids(inner) and not any(map(is_row, islice(inner, 1)))
        for value in inner.values():
            return not isinstance(value, Mapping) and not is_ids(value)
    return True
