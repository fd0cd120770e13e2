"""Runs and judgments in Python objects -> a dict or a DataFrame -> topics and documents as in files.

Rows, tables of other libraries, ranked lists, and objects of ranx. None of these libraries is imported: objects are
recognized by their attributes.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from importlib import import_module
from itertools import chain, groupby, islice, repeat
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, all_finite
from gradedeval.errors import InputError, flag, plural, safe_repr
from gradedeval.kernel.parallel import raise_malloc_threshold
from gradedeval.kernel.rankings.batch import LAST_RANK
from gradedeval.kernel.rankings.docnos import DIGITS, Docnos, Index, JudgmentColumns, TopicCodes, coded, repeats
from gradedeval.kernel.rankings.labels import GradeOfWord, check_labels, grade_of
from gradedeval.kernel.trec import file_formats, records
from gradedeval.kernel.trec.file_formats import DOCNO, GRADE, RANK, SCORE, TOPIC, TYPE, TableColumns
from gradedeval.kernel.trec.line_reader import Skipped
from gradedeval.kernel.trec.lines import decimal, encode
from gradedeval.kernel.trec.stream import Stream
from gradedeval.kernel.trec.text_columns import Text, check_column, text_of_arrow

VALUES = {"run": "score", "qrels": "grade"}
"""The name of the third of three columns."""

Ids = str | bytes | int | np.integer


def readable(source: Any, kind: str, place: str) -> Any:
    """Convert any source of a run or judgments to a dict of dicts, a DataFrame, or a table with its interface.

    kind  "run" or "qrels"

    Raises InputError if the source is neither.
    """
    table = _readable(source, kind, place)
    if (
        kind == "run" and (topics := file_formats.bare_topics(table)) and not len(table)
    ):  # nothing was returned for any topic
        return {topic: {} for topic in topics}
    return table


def _readable(source: Any, kind: str, place: str) -> Any:
    if isinstance(source, Mapping):
        if (table := records.read_document_of_lists(source, kind, place)) is not None:
            return table
        check_no_columns(source, place)
        return _of_lists(source, kind, place)
    table = readable_table(source, kind, place)
    if table is not None:
        if (listed := records.read_table_of_lists(table, kind, Skipped(place))) is not None:
            return listed
        if not len(table) and not file_formats.bare_topics(table):
            raise _empty(kind, place)
        return table
    if callable(convert := getattr(source, "to_dict", None)):  # ranx
        try:
            source = convert()
        except Exception:  # an unrelated method of that name
            refuse_source(source, kind, place)
        return _of_lists(source, kind, place) if isinstance(source, Mapping) else refuse_source(source, kind, place)
    numbers = getattr(getattr(source, "dtype", None), "kind", "O") in ("b", "i", "u", "f")
    if numbers or isinstance(source, str | bytes | Set) or not isinstance(source, Iterable) or ndim(source) == 0:
        refuse_source(source, kind, place)
    return _of_rows(list(source), kind, place)


def with_own_names(source: Any, requested: str | None, kind: str, place: str) -> Any:
    """Return an object whose fields have the names that the user gave, as in `run_format="topic=question"`, under our
    names; unchanged if the format names no fields."""
    if not (fields := file_formats.chosen_fields(requested or "")):
        return source
    rows = source if isinstance(source, Mapping) or not isinstance(source, list | tuple) else list(source)
    if isinstance(rows, Mapping | list) and (shape := records.find_shape(rows, fields, place=place)) is not None:
        return records.read_shape(*shape, kind, Skipped(place), fields)
    table = readable_table(source, kind, place)
    if table is None and isinstance(rows, list) and rows and isinstance(rows[0], Mapping):
        table = _of_rows(rows, kind, place)
    if table is None:
        hint = "give a DataFrame or a file, or rename them"
        raise InputError(place, f"has no fields that {kind}_format could name", hint, usage=True)
    if (listed := records.read_table_of_lists(table, kind, Skipped(place), fields)) is not None:
        return listed
    columns = TableColumns(list(table.columns), lambda name: table[name].tolist(), len(table))
    return file_formats.with_fields(columns, fields, place)


def check_no_columns(source: Mapping[Any, Any], place: str) -> None:
    """Raise InputError (usage) if a dict is a table: name of column -> values, as from `DataFrame.to_dict`."""
    if not 1 < len(source) < 20 or not _has_id_names(source):
        return
    docnos = source[file_formats.find_column(source, DOCNO)]
    if not isinstance(docnos, Mapping) or isinstance(next(iter(docnos.values()), None), str | bytes):
        problem = f"is a dict of the columns {', '.join(map(str, source))}"
        raise InputError(place, problem, "give pandas.DataFrame(...) of it, or a dict by topic", usage=True)


def refuse_source(source: Any, kind: str, place: str) -> Any:
    """Raise the InputError of an object that is neither a run nor judgments."""
    description = f"an object of type {type(source).__name__}"
    if isinstance(source, list) and source:
        description = f"a list of objects of type {type(source[0]).__name__}"
    rows = f", a dict, or rows of topic, docno and {VALUES[kind]}" if kind in VALUES else ""
    hint = f"give a path, an open file, a DataFrame{rows}" if rows else "give a path, an open file or a DataFrame"
    if rows and getattr(getattr(source, "dtype", None), "kind", "") in ("b", "i", "u", "f"):
        hint = "gradedeval.evaluate_arrays takes arrays of grades and scores"
    raise InputError(place, f"cannot read {'a run' if kind == 'run' else kind} from {description}", hint, usage=True)


def readable_table(source: Any, kind: str, place: str, needed: bool = False) -> Any:
    """Return a DataFrame of pandas unchanged; convert tables of polars, pyarrow, NumPy and others. Return None for
    anything else, or raise the InputError of `refuse_source` if a table is `needed`."""
    table = _readable_table(source, kind, place)
    return refuse_source(source, kind, place) if needed and table is None else table


def _readable_table(source: Any, source_kind: str, place: str) -> Any:
    if hasattr(source, "iloc") and hasattr(source, "columns"):  # pandas; a failed attribute lookup is slow there
        return source
    if isinstance(source, TableColumns):
        if not source.columns and source_kind in VALUES:
            raise file_formats.missing_column([], TOPIC, place)
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
        return _of_stream(source, source_kind, place) if hasattr(source, "__arrow_c_stream__") else None
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
        return _of_stream(source, source_kind, place)
    return None


def _column_names(source: Any) -> list[Any] | None:
    """Return the names of the columns of a table of Arrow, NumPy or another library; None if it is not a table."""
    candidates = (
        getattr(getattr(source, "schema", None), "names", None),
        getattr(getattr(source, "dtype", None), "names", None),
        getattr(source, "column_names", None),
        getattr(source, "columns", None),
    )
    return next((list(names) for names in candidates if isinstance(names, Iterable)), None)


def _of_stream(source: Any, kind: str, place: str) -> TableColumns:
    """Read a table that offers only the Arrow stream protocol, such as a relation of DuckDB."""
    try:
        pyarrow: Any = import_module("pyarrow")
    except ImportError:
        problem = f"needs pyarrow to read an object of type {type(source).__name__}"
        raise InputError(place, problem, "pip install 'gradedeval[parquet]'", usage=True) from None
    try:
        arrow_table = pyarrow.table(source)
    except Exception:  # a column alone
        refuse_source(source, kind, place)
    return _of_arrow(arrow_table, arrow_table.column_names, place)


def _of_arrow(table: Any, names: list[Any], place: str) -> TableColumns:
    """Return the columns of a table of Arrow."""
    rows = len(table)
    return TableColumns(names, lambda name: check_column(table[name], name, rows, place).to_pylist(), rows)


def ndim(values: Any) -> int | None:
    """Return the number of dimensions of an array; None for anything else."""
    return getattr(values, "ndim", None)


def is_ids(values: Any) -> bool:
    """Check for a list of docnos, or of pairs of docno and number, but not of numbers alone."""
    if not isinstance(values, list | tuple | Set) and ndim(values) != 1:
        return False
    return not any(isinstance(first, float) for first in islice(values, 1))


def is_row(row: Any) -> bool:
    """Check for a row of a run or of judgments: values, a namedtuple, a record, or an object with such attributes."""
    if isinstance(row, Mapping):  # a topic of a run is neither text nor a number: such a dict has fields
        has_values = any(isinstance(value, str | int | float) for value in row.values())
        return has_values or _has_id_names(row) or records.lists_documents(row)
    if (names := _fields(row)) is None:
        return False
    return _has_id_names(names) if names else len(row) > 2 and (isinstance(row[0], Ids) or is_missing(row[0]))


def rows_or_several(source: Iterator[Any]) -> Any:
    """Return an iterator of rows unchanged, and an iterator of runs as a list."""
    first = next(source, None)
    if first is None or is_row(first):
        return chain([] if first is None else [first], source)
    return [first, *source]


def _has_id_names(names: Iterable[Any]) -> bool:
    names = list(names)
    return file_formats.find_column(names, TOPIC) is not None and file_formats.find_column(names, DOCNO) is not None


def _fields(row: Any) -> list[str] | None:
    """Return the names of a row's values, empty for a plain sequence; None if it is not a row."""
    if isinstance(row, Mapping):
        return list(row)
    if hasattr(row, "_fields"):
        return list(row._fields)
    if isinstance(row, list | tuple) or ndim(row) == 1:
        return []
    names = list(getattr(row, "__dict__", ()))
    return names if _has_id_names(names) else None


def _of_rows(rows: Sequence[Any], kind: str, place: str) -> TableColumns:
    """Convert rows, all of the first row's kind, to columns."""
    if not rows:
        raise _empty(kind, place)
    if (table := records.read_document_of_lists(rows, kind, place)) is not None:
        return table
    if not is_row(first := rows[0]):
        refuse_source(rows, kind, place)
    names = _fields(first) or ["topic", "docno", VALUES[kind]]
    values_of: Callable[[Any], Any] = tuple
    if isinstance(first, Mapping):
        values_of = itemgetter(*names)
    elif not isinstance(first, list | tuple) and ndim(first) is None:
        values_of = attrgetter(*names)
    try:
        columns = dict(zip(names, zip(*map(values_of, rows), strict=True), strict=True))
    except Exception:
        number = 0
        with suppress(Exception):
            while len(values_of(rows[number])) == len(names):
                number += 1
        row = rows[number]
        problem = (
            f"has {len(row)} {plural(len(row), 'value')}" if isinstance(row, list | tuple) else "is not such a row"
        )
        raise InputError(
            f"{place}:{number + 1}", problem, f"expected {', '.join(map(str, names))}", usage=True
        ) from None
    return TableColumns(list(names), lambda name: columns[name], len(rows))


def _empty(kind: str, place: str) -> InputError:
    return InputError(place, "is empty", f"expected a row for each document: topic, docno, {VALUES[kind]}")


def _of_lists(nested: Mapping[Any, Any], kind: str, place: str) -> Any:
    """Convert a dict topic -> ranked list, or list of pairs of docno and score, to columns; return a dict of dicts
    unchanged. In judgments without grades, the listed documents are relevant."""
    if all_dicts(nested.values()) or not any(map(is_ids, nested.values())):
        return nested
    others = [documents for documents in nested.values() if not (is_ids(documents) and not len(documents))]
    if others and all_dicts(others):  # an empty object, as PHP writes it
        return {topic: documents if isinstance(documents, dict) else {} for topic, documents in nested.items()}
    if any(isinstance(entry, Mapping) for documents in nested.values() if is_ids(documents) for entry in documents):
        return records.read_shape(records.DOCUMENTS, nested, kind, Skipped(place))
    rows: list[tuple[Any, Any, Any]] = []
    kinds: set[bool] = set()
    bare = dict[Any, int]()
    for topic, documents in nested.items():
        topic_place = f"{place}['{topic}']"
        if not is_ids(documents):
            raise InputError(topic_place, f"is a {type(documents).__name__}", "expected a list, as the others are")
        if kind == "run" and isinstance(documents, Set):
            raise InputError(topic_place, "is a set, which has no order", "expected a list, the best document first")
        listed = documents.tolist() if hasattr(documents, "tolist") else list(documents)
        bare |= {} if listed else {topic: len(rows)}
        kinds |= {isinstance(entry, list | tuple) and len(entry) == 2 for entry in listed}
        if len(kinds) > 1:
            raise InputError(topic_place, "mixes docnos with pairs of docno and number", "expected one or the other")
        for rank, entry in enumerate(listed, 1):
            if is_missing(docno := listed_docno(entry)):
                ident(docno, f"{topic_place}[{rank - 1}]", "docno")
            rows.append((topic, *entry) if True in kinds else (topic, entry, rank if kind == "run" else 1))
    third = "rank" if kind == "run" and True not in kinds else VALUES[kind]
    note = file_formats.NO_GRADES_LISTED if kinds == {False} and kind == "qrels" else ""
    if not rows and not (kind == "run" and bare):
        raise _empty(kind, place)
    columns = dict(zip(("topic", "docno", third), zip(*rows, strict=True) if rows else ((), (), ()), strict=True))
    return TableColumns(list(columns), lambda name: columns[name], len(rows), note, bare=bare)


def listed_docno(entry: Any) -> Any:
    """Return the docno of a list entry: the entry, or the first of a pair."""
    return entry[0] if isinstance(entry, list | tuple) and len(entry) == 2 else entry


def all_dicts(values: Iterable[Any]) -> bool:
    """Check if all values are dicts; checks each type once, as there are few types."""
    return all(issubclass(kind, dict) for kind in set(map(type, values)))


# Nested dicts and columns of usual content, whole columns at once: a training loop scores thousands of runs.
# Unusual or wrong content is left to the functions below, which check each entry and report it.


class Listed(NamedTuple):
    """Documents by topic: ids of topics, distinct docnos of each topic, and a number for every document."""

    topics: list[bytes]
    docnos: list[list[str]]
    values: Floats

    def select(self, topics: list[bytes]) -> Listed:
        """Return only these topics, in any order; absent topics have no documents."""
        if topics == self.topics:
            return self
        row = {topic: row for row, topic in enumerate(self.topics)}
        ends = np.cumsum([len(docnos) for docnos in self.docnos]).tolist()
        rows = [row[topic] for topic in topics if topic in row]
        parts = [self.values[ends[index] - len(self.docnos[index]) : ends[index]] for index in rows]
        docnos = [self.docnos[row[topic]] if topic in row else [] for topic in topics]
        return Listed(topics, docnos, np.concatenate([np.empty(0), *parts]))


def usual_dict(nested: Mapping[Any, Any]) -> Listed | None:
    """Convert a dict topic -> docno -> number; None unless all ids are text and all numbers finite."""
    inner = list(nested.values())
    if not all_dicts(inner) or any("" in documents for documents in inner):
        return None
    return _listed(nested, map(list, inner), list(chain.from_iterable(map(dict.values, inner))))


def usual_columns(topics: list[Any], docnos: list[Any], values: list[Any] | Floats) -> Listed | None:
    """Convert three columns; None as `usual_dict`, and if a document or a topic's rows repeat."""
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
    except (TypeError, ValueError):  # values that are not ids may lack a hash or a boolean comparison
        return None


def packed(values: Sequence[Any]) -> Floats:
    """Convert numbers to a read-only array, twice as fast as NumPy. Raises struct.error if a value is not a number."""
    return np.frombuffer(struct.pack(f"{len(values)}d", *values), np.float64)


def _listed(topics: Iterable[Any], docnos: Iterable[list[Any]], values: list[Any] | Floats) -> Listed | None:
    """Build the documents; None unless all ids are text and all values finite numbers."""
    listed = list(docnos)
    try:
        # Raises for ids that are not text, and for values that are not numbers.
        if b"" in (names := list(map(encode, topics))):
            return None
        if not (joined := "".join(map("".join, listed))).isascii():
            encode(joined)
        numbers = np.asarray(values if isinstance(values, np.ndarray) else packed(values), np.float64)
    except (TypeError, AttributeError, ValueError, struct.error):
        return None
    return Listed(names, listed, numbers) if all_finite(numbers) else None


# DataFrames and files with Arrow text: ids stay bytes in columns, as in a file of lines; no strings are made.


def id_columns(source: Any, names: Sequence[Any], place: str) -> tuple[Text, Text] | None:
    """Return topics and docnos of a DataFrame with Arrow text, or of a file's columns; None otherwise.

    names  the names of its columns; pandas builds them anew on each access
    """
    id_names = [file_formats.find_column(names, row) for row in (TOPIC, DOCNO)]
    if None in id_names:
        return None
    texts = []
    for name in id_names:
        text = _in_one_piece(source, name, place)
        if not isinstance(text, Text):
            return None
        texts.append(text)
    return texts[0], texts[1]


def arrow_judgments(source: Any, place: str) -> JudgmentColumns | None:
    """Return the judgments of a DataFrame or file with Arrow text; None otherwise, and if a document repeats."""
    names = tuple(getattr(source, "columns", ()))  # a Series has none
    if (ids := id_columns(source, names, place)) is None or file_formats.find_grades(names) is None:
        return None
    grade = numeric_column(source, _name_of(names, GRADE, place), place)
    if grade is None or (grade % 1).any():  # fractions may be scores
        return None
    (topic, docno), topics = ids, TopicCodes()
    topic_ids, size = topic.stretches()
    return _columns_of(topics.names, np.repeat(topics.numbers(topic_ids), size).astype(np.int32), docno, grade)


def _columns_of(names: list[bytes], topic: NDArray[np.int32], docno: Text, grade: Floats) -> JudgmentColumns | None:
    """Return judgments by the number of each topic; None if a document repeats."""
    docnos = Docnos(docno.buffer, docno.start, docno.length)
    if repeats(topic, len(names), docnos):
        return None
    return JudgmentColumns(names, *coded_floats(grade), Index(docnos, topic, len(names)))


def coded_floats(grades: Floats) -> tuple[Floats, NDArray[Any]]:
    """Return the distinct grades, and the index of each grade among them."""
    digits = bool((np.abs(grades) <= DIGITS[-1]).all() and (grades == np.floor(grades)).all())
    return coded([grades.astype(np.int8) if digits else grades])


def json_judgments(stream: Stream) -> JudgmentColumns | None:
    """Return the judgments of a JSON file topic -> docno -> grade; None for other files, and if a document repeats."""
    from gradedeval.kernel.trec.text_columns import nested_numbers  # few files are JSON

    raise_malloc_threshold()
    if (nested := nested_numbers(stream)) is None:
        return None
    topic = np.repeat(np.arange(len(nested.topics), dtype=np.int32), nested.size)
    return _columns_of(nested.topics, topic, nested.docno, nested.value)


def _in_one_piece(source: Any, name: Any, place: str) -> Text | Floats | None:
    """Return a column as a single array of Arrow or of a file; None if it is stored otherwise."""
    if isinstance(source, TableColumns):
        return source.array(name)
    values = _arrow_of_pandas(stored_column(source, name, place))
    return None if values is None else text_of_arrow(values)


def _arrow_of_pandas(column: Any) -> Any:
    """Return the Arrow array of a pandas column; None if it is stored otherwise."""
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "storage", "") != "pyarrow" and not hasattr(dtype, "pyarrow_dtype"):
        return None
    return column.array.__arrow_array__()


def numeric_column(source: Any, name: Any, place: str) -> Floats | None:
    """Return a column of finite numbers stored as a single array; None otherwise."""
    numbers: Any = None
    if isinstance(source, TableColumns):
        numbers = _in_one_piece(source, name, place)
    elif isinstance((dtype := (column := stored_column(source, name, place)).dtype), np.dtype) and dtype.kind in "fiu":
        numbers = column.to_numpy(np.float64)
    return numbers if isinstance(numbers, np.ndarray) and all_finite(numbers) else None


# DataFrames and dicts entry by entry, with messages for problems.

NONE = np.empty(0)

TOO_LARGE = f"{flag.ties:rank} takes ranks up to {LAST_RANK}"

Judgment = tuple[bytes, Any, float, int]
"""Topic, docno (or docno and subtopic or stratum), grade, and line (or row) number."""

Ranking = tuple[list[Any], Floats, Floats, "array[int] | range", list[bytes]]
"""Docnos, scores, ranks (or none), row numbers, and types (or none)."""


def empty_topics(source: Mapping[Any, Any]) -> list[Any]:
    """Return the topics of a dict whose documents are an empty dict: topics without relevant documents."""
    return [topic for topic, documents in source.items() if isinstance(documents, Mapping) and not documents]


def topics_in_order(source: Any) -> list[Any]:
    """Return all topics of judgments in their order if nothing is listed for some of them; none otherwise."""
    if isinstance(source, Mapping):
        return list(source) if empty_topics(source) else []
    if not (bare := file_formats.bare_topics(source)):
        return []
    listed = [*source.values(file_formats.find_column(source.columns, TOPIC))]
    topics, start = list[Any](), 0
    for topic, rows_before in bare.items():
        topics += [*listed[start:rows_before], topic]
        start = rows_before
    return list(dict.fromkeys([*topics, *listed[start:]]))


def usual_judgments(source: Any, place: str = "qrels") -> Listed | None:
    """Return the judgments of a dict or DataFrame of usual content; None otherwise."""
    if isinstance(source, Mapping):
        usual = None if empty_topics(source) else usual_dict(source)
    elif (
        hasattr(source, "columns")
        and not file_formats.bare_topics(source)
        and file_formats.find_grades(source.columns) is not None
    ):
        columns = [column(source, accepted, place, "qrels") for accepted in (TOPIC, DOCNO, GRADE)]
        usual = usual_columns(*columns)
    else:
        return None
    return usual if usual and usual.topics else None


def dict_judgments(
    judged: Mapping[Any, Any], part: tuple[str, ...], place: str = "qrels", labels: GradeOfWord = None
) -> list[Judgment]:
    """Return the judgments of a dict topic -> docno -> grade, or topic -> docno -> `part` -> grade (SUBTOPIC or
    STRATUM)."""
    rows: list[Judgment] = []
    listed = [documents.values() for documents in judged.values() if isinstance(documents, Mapping) and not part]
    words = {
        encode(value_or_parts): 0 for grades in listed for value_or_parts in grades if isinstance(value_or_parts, str)
    }
    check_labels(place, words, labels, words)
    for topic, documents in judged.items():
        name = ident(topic, f"{place}[{safe_repr(topic)}]", "topic")
        for docno, value_or_parts in documents_of(documents, place, topic).items():
            entry = f"{place}['{topic}']['{docno}']"
            document = ident(docno, f"{place}['{topic}']", "docno")
            if not part:
                rows.append((name, document, grade(value_or_parts, entry, labels), 0))
                continue
            if not isinstance(value_or_parts, Mapping):
                raise InputError(entry, f"is a {type(value_or_parts).__name__}", f"expected a dict {part[0]} -> grade")
            for key, value in value_or_parts.items():
                entry_grade = grade(value, f"{entry}['{key}']", labels)
                rows.append((name, (document, ident(key, entry, part[0])), entry_grade, 0))
    return rows


def frame_judgments(
    frame: Any, part: tuple[str, ...], place: str = "qrels", labels: GradeOfWord = None
) -> list[Judgment]:
    """Return the judgments of a DataFrame with columns topic, docno, grade, and, for a `part`, subtopic or stratum."""
    parts = _ids(frame, part, place, "qrels") if part else []
    topic, docno = (_ids(frame, accepted, place, "qrels") for accepted in (TOPIC, DOCNO))
    documents: Iterable[Any] = zip(docno, parts, strict=True) if part else docno
    grades, rows = column(frame, GRADE, place, "qrels"), lines_of(frame)
    first: dict[bytes, int] = {}
    for value, row in zip(grades, rows, strict=True):
        if isinstance(value, str):
            first.setdefault(_token(value), row)
    check_labels(place, first, labels, first)
    return [
        (topic, document, grade(value, f"{place}:{row}", labels), row)
        for topic, document, value, row in zip(topic, documents, grades, rows, strict=True)
    ]


def words_of(source: Any, place: str = "qrels") -> set[bytes]:
    """Return the text grades of a dict or a DataFrame."""

    def values(item: Any) -> Iterable[Any]:
        return (leaf for value in item.values() for leaf in values(value)) if isinstance(item, Mapping) else (item,)

    grades = values(source) if isinstance(source, Mapping) else column(source, GRADE, place)
    return {_token(grade_text) for grade_text in grades if isinstance(grade_text, str)}


def lines_of(frame: Any) -> Sequence[int]:
    """Return the line of each row of a table in its file, or its number."""
    return frame.lines if isinstance(frame, TableColumns) and frame.lines else range(1, len(frame) + 1)


def _token(text: str) -> bytes:
    try:
        return encode(text)
    except UnicodeEncodeError:
        return repr(text).encode()


def grade(value: Any, place: str, labels: GradeOfWord) -> float:
    """Convert a grade, possibly text, to a number. Raises InputError if it is not a grade."""
    label_grade = grade_of(_token(value), labels) if isinstance(value, str) else math.nan
    return label_grade if label_grade == label_grade else number(value, place, "grade")


def dict_ranking(run: Mapping[Any, Any], ranks: bool, place: str = "run") -> dict[bytes, Ranking]:
    """Return the documents of a dict topic -> docno -> score."""
    if ranks:
        raise InputError(place, "a dict has no ranks", f"{flag.ties:rank} needs a file or a DataFrame", usage=True)
    # A finite sum proves that all scores are finite, faster than a check of each.
    with np.errstate(over="ignore", invalid="ignore"):
        rankings = {
            ident(topic, f"{place}[{safe_repr(topic)}]", "topic"): _dict_topic(
                topic, documents_of(documents, place, topic), place
            )
            for topic, documents in run.items()
        }
    if len(rankings) < len(run):
        names = [ident(topic, place, "topic") for topic in run]
        repeated = next(topic for position, topic in enumerate(run) if names[position] in names[:position])
        raise InputError(place, f"duplicate topic '{repeated}', as text and as a number", "give each topic once")
    return rankings


def _dict_topic(topic: Any, documents: Mapping[Any, Any], place: str) -> Ranking:
    scores = list(documents.values())
    try:
        values = np.array(scores) if scores else NONE
    except ValueError:  # lists of various lengths
        values = np.empty((0, 0))
    if values.dtype.kind not in "iuf" or values.ndim != 1:
        values = np.array([number(score, f"{place}['{topic}']", "score") for score in scores])
    values = values.astype(np.float64, copy=False)
    if not math.isfinite(values.sum()) and not np.isfinite(values).all():
        docno = list(documents)[int(np.flatnonzero(~np.isfinite(values))[0])]
        raise InputError(f"{place}['{topic}']['{docno}']", "the score is not finite", "expected a finite number")
    docnos = _docnos(list(documents), f"{place}['{topic}']")
    return docnos, values, NONE, range(1, len(docnos) + 1), []


def ordered_by_rank(frame: Any) -> bool:
    """Check if a DataFrame has ranks but no scores; then the rank orders its documents."""
    score, rank = (file_formats.find_column(frame.columns, aliases) for aliases in (SCORE, RANK))
    return score is None and rank is not None


def usual_run(source: Any, place: str = "run") -> Listed | None:
    """Return the documents of a dict or DataFrame of usual content; None otherwise."""
    if isinstance(source, Mapping):
        return usual_dict(source)
    if ordered_by_rank(source) or file_formats.bare_topics(source):
        return None
    docnos, topics = (column(source, accepted, place, "run") for accepted in (DOCNO, TOPIC))
    name = file_formats.find_column(source.columns, SCORE)
    scores = None if name is None else getattr(stored_column(source, name, place), "array", None)
    numbers = np.asarray(scores) if getattr(getattr(scores, "dtype", None), "kind", "") == "f" else None
    return usual_columns(topics, docnos, column(source, SCORE, place, "run") if numbers is None else numbers)


def frame_ranking(
    frame: Any, ranks: bool, types: bool = False, place: str = "run", by_rank: bool = False
) -> dict[bytes, Ranking]:
    """Return the documents of a DataFrame with columns topic, docno and score or rank; ranks and types on request."""
    if not len(frame):
        raise InputError(place, "is empty", "expected a row for each document")
    docnos = column(frame, DOCNO, place, "run")
    if ordered_by_rank(frame):
        by_rank = True
        file_formats.check_no_score({name: _values(frame, name) for name in frame.columns}, place)
    topics = _ids(frame, TOPIC, place, "run")
    lines = lines_of(frame)
    docnos = _docnos(docnos, place, lines)
    stated = _numbers(column(frame, RANK, place, "run"), "rank", place, lines) if ranks or by_rank else NONE
    scores = -stated if by_rank else _numbers(column(frame, SCORE, place, "run"), "score", place, lines)
    if (large := np.flatnonzero(np.abs(stated) > LAST_RANK)).size:
        raise InputError(f"{place}:{lines[large[0]]}", f"rank {stated[large[0]]:.0f} is too large", TOO_LARGE)
    kinds = _ids(frame, TYPE, place) if types else []
    rows: dict[bytes, list[int]] = {}
    for topic, group in groupby(range(len(topics)), key=topics.__getitem__):
        rows.setdefault(topic, []).extend(group)
    for topic in file_formats.bare_topics(frame):
        rows.setdefault(ident(topic, place, "topic"), [])
    return {
        topic: (
            [docnos[row] for row in positions],
            scores[positions],
            stated[positions] if ranks else NONE,
            array("q", [lines[row] for row in positions]),
            [kinds[row] for row in positions] if types else [],
        )
        for topic, positions in rows.items()
    }


def _docnos(docnos: list[Any], place: str, lines: Sequence[int] = ()) -> list[Any]:
    """Check that docnos are ids; `lines` as in `checked_ids`. Text stays text, as encoding would take longer than the
    evaluation."""
    try:
        encode("".join(docnos))
        if "" not in docnos:
            return docnos
    except (TypeError, UnicodeEncodeError):
        pass
    return checked_ids(docnos, "docno", place, lines)


def _numbers(values: list[Any], noun: str, place: str, lines: Sequence[int]) -> Floats:
    """Convert a column of a run to finite floats, or raise InputError with the line of the row."""
    if set(map(type, values)) == {float}:
        numbers = np.array(values)
        if np.isfinite(numbers).all():
            return numbers
    return np.array([number(value, f"{place}:{row}", noun) for row, value in zip(lines, values, strict=True)])


def documents_of(documents: Any, place: str, topic: Any) -> Mapping[Any, Any]:
    """Return the documents of one topic of a nested dict. Raises InputError if it is not a dict."""
    if not isinstance(documents, Mapping):
        raise InputError(f"{place}['{topic}']", f"is a {type(documents).__name__}", "expected a dict docno -> number")
    return documents


def stored_column(frame: Any, name: Any, place: str) -> Any:
    """Return a column of a DataFrame in its storage type. Raises InputError if its name repeats or Arrow data is
    invalid."""
    values = frame[name]
    if not hasattr(values, "tolist"):
        raise InputError(place, f"has several columns '{name}'", "give each column a different name", usage=True)
    if (arrow := _arrow_of_pandas(values)) is not None:
        check_column(arrow, name, len(values), place)
    return values


def _name_of(names: Iterable[Any], accepted: tuple[str, ...], place: str, kind: str = "") -> Any:
    """Return the name of the column with one of the accepted names. Raises InputError if there is none; `kind`, run or
    qrels, is of the option that could name it."""
    names = tuple(names)
    name = file_formats.find_grades(names) if accepted is GRADE else file_formats.find_column(names, accepted)
    if name is None:
        raise file_formats.missing_column(names, accepted, place, kind)
    if accepted is GRADE:
        file_formats.check_one_grade(names, place)
    return name


def column(frame: Any, accepted: tuple[str, ...], place: str, kind: str = "") -> list[Any]:
    """Return the values of a column as a list; `kind` as in `_name_of`."""
    name = _name_of(frame.columns, accepted, place, kind)
    values = stored_column(frame, name, place)
    if getattr(getattr(values, "dtype", None), "kind", "") == "O" and hasattr(values, "to_numpy"):
        values = values.to_numpy(object)  # pandas converts Arrow text one by one
    listed: list[Any] = values.tolist()
    if accepted is GRADE and file_formats.plain(name) in SCORE:
        for value, line in zip(listed, lines_of(frame), strict=True):
            if isinstance(value, float | np.floating) and value % 1:
                raise file_formats.fractional_grades(str(name), f"{place}:{line}")
    return listed


def _values(frame: Any, name: Any) -> Iterator[Any]:
    """Yield the values of a column; none if its name repeats."""
    stored = frame[name]
    yield from stored.tolist() if hasattr(stored, "tolist") else ()


def _ids(frame: Any, accepted: tuple[str, ...], place: str, kind: str = "") -> list[bytes]:
    names, id_of = column(frame, accepted, place, kind), dict[Any, bytes]()
    try:
        return [
            id_of[name] if name in id_of else id_of.setdefault(name, ident(name, place, accepted[0])) for name in names
        ]
    except (TypeError, InputError):  # lists and dicts have no hash
        return checked_ids(names, accepted[0], place, lines_of(frame))


def checked_ids(names: Sequence[Any], column: str, place: str, lines: Sequence[int] = ()) -> list[bytes]:
    """Convert a column to ids. Raises InputError as `ident`, first for missing ids: pandas turns numbers beside them to
    floats.

    lines  line of each row for messages; empty: messages name no line
    """
    places: Iterable[str] = (f"{place}:{line}" for line in lines) if lines else repeat(place)
    rows = list(zip(names, places, strict=bool(lines)))
    for name, row_place in rows:
        if is_missing(name):
            ident(name, row_place, column)
    return [ident(name, row_place, column) for name, row_place in rows]


def is_missing(name: Any) -> bool:
    """Check for a missing id: None, nan, pandas.NA, or empty text."""
    if isinstance(name, str | bytes):
        return not name
    return name is None or (isinstance(name, float | np.floating) and name != name) or _is_na(name)


def _is_na(name: Any) -> bool:
    """Check for pandas' missing value of any type, or of a date."""
    return type(name).__name__ in ("NAType", "NaTType")


def ident(name: Any, place: str, column: str) -> bytes:
    """Convert an id of a column to bytes. Raises InputError if it is missing, or a float: a table reader has converted
    it."""
    if is_missing(name):
        hint = "fill it in, or leave it out"
        if isinstance(name, float | np.floating) or _is_na(name):
            hint += "; keep_default_na=False keeps ids such as NA and null as text where pandas reads a CSV"
        raise InputError(place, f"no {column}", hint)
    if isinstance(name, str):
        try:
            return encode(name)
        except UnicodeEncodeError:
            problem = f"id {safe_repr(name)} is not valid text"
            raise InputError(place, problem, "use characters that UTF-8 can encode") from None
    if isinstance(name, bytes):
        return name
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return str(name).encode()
    problem = f"id {safe_repr(name)} is a {type(name).__name__}"
    raise InputError(place, problem, "ids must be text: read them with dtype=str")


def number(value: Any, place: str, noun: str) -> float:
    """Convert a value, possibly text, to a finite float, or raise InputError."""
    try:
        text = isinstance(value, str | bytes)
        result = decimal(value if isinstance(value, bytes) else encode(value)) if text else float(value)
    except (TypeError, ValueError, OverflowError):
        result = math.nan
    if not math.isfinite(result):
        raise InputError(
            place, f"{noun} {safe_repr(value)} is not a finite number", f"expected a number for each {noun}"
        )
    return result


def is_ranking(run: Mapping[Any, Any]) -> bool:
    """Check if a dict is a single run (topic -> docno -> score, or topic -> docnos), not several by name."""
    if records.lists_documents(run):
        return True
    for inner in run.values():
        if is_ids(inner) and not len(inner):
            continue
        if not isinstance(inner, Mapping):
            return is_ids(inner) and not any(map(is_row, islice(inner, 1)))
        for value in inner.values():
            return not isinstance(value, Mapping) and not is_ids(value)
    return True
