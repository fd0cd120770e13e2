"""Read the shapes of JSON that `shapes.SHAPES` describes, and tables whose cells list documents: documents listed by
topic become a table."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, TypeGuard

from gradedeval.errors import Flag, InputError, did_you_mean, plural, safe_repr, shorten
from gradedeval.kernel.trec import file_formats
from gradedeval.kernel.trec.file_formats import COLUMNS, DOCNO, GRADE, RANK, SCORE, TOPIC, TableColumns
from gradedeval.kernel.trec.line_reader import Skipped, csv_rows
from gradedeval.kernel.trec.lines import decode, separator_in
from gradedeval.kernel.trec.shapes import DOCUMENT_IDS, RESPONSE, SCORES, SHAPES, TOPIC_IDS, Shape
from gradedeval.kernel.trec.stream import Source

Records = Iterable[tuple[int | str, Any]]
"""Records, each with its line, number or name."""

Fields = Mapping[str, str]
"""Content of a field -> the name that the user gave to it, as in `--run-format topic=question,docno=chunk_id`."""

_TEXTS = TOPIC[TOPIC.index("query") :]
_TOPICS = (*TOPIC[: TOPIC.index("query")], *TOPIC_IDS, *_TEXTS)
_GOODS = DOCNO.index("segment_id")
_DOCNOS = (*DOCNO[:_GOODS], *DOCUMENT_IDS, *DOCNO[_GOODS:])  # a product is the content of a document that has an id
_VALUES = {"run": (*SCORE, *SCORES), "qrels": (*GRADE, *SCORE)}
_OTHERS = {"run": ("rank", "type"), "qrels": ("subtopic", "stratum")}
"""Columns besides topic, docno and number, kept if each document of a list by topic has them."""

_LISTS = [shape for shape in SHAPES if shape.layout == "lists"]
_INSIDE = [shape for shape in SHAPES if shape.inside]
_KEYED = [shape for shape in SHAPES if shape.layout == "topics" and not shape.inside and (shape.run or shape.qrels)]
DOCUMENTS = next(shape for shape in SHAPES if shape.name == "documents")
MARKS = frozenset(
    name for shape in _INSIDE for name in (shape.needs or (shape.inside.partition(".")[0],)) if name != "*"
) | frozenset(("error", *(name.partition(".")[0] for shape in _LISTS for name in (*shape.run, *shape.qrels))))
"""Names, one of which is in each object of these shapes."""

_LIST_NAMES = {
    file_formats.plain(part)
    for shape in _LISTS
    for name in (*shape.run, *shape.qrels)
    for part in (name, name.partition(".")[0])
}
"""Names of lists of documents, and of the objects that hold them."""

_MISSING = object()


def look_up(record: Any, names: Iterable[str]) -> tuple[str, Any]:
    """Return the first of some names that an object has, as it is spelled there, and its value; "" if there is none. A
    dot leads into an object."""
    if not _is_object(record):
        return "", None
    present = {file_formats.plain(name): name for name in reversed(list(record))}
    for name in names:
        first, _, rest = name.partition(".")
        if (key := present.get(file_formats.plain(first))) is None:
            continue
        if not rest:
            return str(key), record[key]
        inner, value = look_up(record[key], [rest])
        if inner:
            return f"{key}.{inner}", value
    return "", None


def _lists(record: Any, shape: Shape, fields: Fields) -> str:
    """Return the kinds of documents that a record lists: run, qrels or both, with a space between."""
    kinds = [kind for kind in shape.holds if isinstance(_documents(record, shape, kind, fields)[1], list | Mapping)]
    return " ".join(kinds)


def _documents(record: Any, shape: Shape, kind: str, fields: Fields) -> tuple[str, Any]:
    """Return the name and the value of the documents of a record."""
    if "documents" in fields:
        return look_up(record, [fields["documents"]])
    if "docno" in fields and isinstance((found := look_up(record, [fields["docno"]]))[1], list):
        return found
    name, documents = look_up(record, shape.documents(kind))
    # An object is the part of a response whose hits were left out, not documents with scores.
    return ("", None) if shape.run is RESPONSE and isinstance(documents, Mapping) else (name, documents)


def find_shape(
    document: Any, fields: Fields | None = None, only: str = "", place: str = ""
) -> tuple[Shape, Any] | None:
    """Return the shape of a document whose topics list documents, and its records or its object of topics; None for
    any other.

    fields  names that the user gave
    only    the name of the shape that the user asked for; empty: any

    Raises InputError if no record has the list that the user named.
    """
    fields = fields or {}
    if isinstance(document, Mapping):
        for shape in _INSIDE:
            if only in ("", shape.name) and (inner := _inside(document, shape, place)) is not None:
                return shape, inner
        if (keyed := _keyed_shape(document, fields)) is not None and only in ("", keyed.format):
            return keyed, document
    records = [document] if isinstance(document, Mapping) else document
    first = next((record for record in records if _is_object(record) and not _has_failed(record)), None)
    all_failed = first is None and any(_is_object(record) for record in records)
    for shape in _LISTS:
        if only not in ("", shape.name):
            continue
        if all_failed and shape.counted:
            return shape, records
        is_near = first is not None and _lists(first, shape, fields)
        if is_near and (shape.counted or look_up(first, [fields["topic"]] if "topic" in fields else _TOPICS)[0]):
            return shape, records
    if "documents" in fields and first is not None and not look_up(first, [fields["documents"]])[0]:
        problem = f"no field '{fields['documents']}' for the documents among {shorten(list(map(str, first)), 8)}"
        raise InputError(place, problem, "see the names of its fields", kind="format")
    return None


def _keyed_shape(topics: Mapping[Any, Any], fields: Fields) -> Shape | None:
    """Return the shape of an object topic -> record of its documents, or -> list of documents; None for any other."""
    if all(file_formats.plain(name) in _LIST_NAMES for name in topics):
        return None  # lists of a record without a topic
    values = list(topics.values())
    if all(isinstance(value, list | tuple) for value in values):
        firsts = [(topic, value[0]) for topic, value in topics.items() if value]
        is_keyed = firsts and all(_is_object(entry) for _, entry in firsts) and not _is_row(firsts[0][1], firsts[0][0])
        return DOCUMENTS if is_keyed else None
    if not all(isinstance(value, Mapping) for value in values):
        return None
    first = next((value for value in values if not _has_failed(value)), dict[str, Any](hits=[]))
    return next((shape for shape in _KEYED if _lists(first, shape, fields)), None)


def _is_row(entry: Mapping[Any, Any], topic: Any) -> bool:
    """Return whether an object in a list by topic is of another topic, or lists documents: then it is a row of a
    run, and the list has the name of the run."""
    name, value = look_up(entry, TOPIC)
    listed = (_documents(entry, shape, kind, {})[1] for shape in _LISTS for kind in shape.holds)
    has_list = any(isinstance(documents, list | tuple) for documents in listed)
    return bool(name) and (has_list or (bool(look_up(entry, _DOCNOS)[0]) and str(value) != str(topic)))


def _has_failed(record: Mapping[Any, Any]) -> bool:
    """Return whether a record is the response of Elasticsearch or OpenSearch to a search that failed."""
    return "error" in record and isinstance(record.get("status"), int)


def listed_kinds(document: Any) -> str:
    """Return what the first record of a document lists: run, qrels or both, with a space between; empty for a document
    of no known shape."""
    try:
        shape = find_shape(document)
    except InputError:
        return ""
    if shape is None or shape[0] is DOCUMENTS:
        return ""
    if shape[0].inside and shape[0].layout == "topics":
        return " ".join(shape[0].holds)
    records = shape[1].values() if shape[0].layout == "topics" else shape[1]
    return next((_lists(record, shape[0], {}) for record in records), "")


def lists_documents(source: Mapping[Any, Any]) -> bool:
    """Return whether an object in Python has a shape whose topics list documents."""
    return _is_marked(source) and find_shape(source) is not None


def _is_marked(source: Mapping[Any, Any]) -> bool:
    """Return whether an object in Python may have a shape whose topics list documents, by few of its names."""
    if source.keys() & MARKS:
        return True
    first = next((value for value in source.values() if not isinstance(value, list | tuple) or value), None)
    if isinstance(first, list | tuple):
        return isinstance(first[0], Mapping)
    return isinstance(first, Mapping) and bool(first.keys() & MARKS)


def read_document_of_lists(source: Any, kind: str, place: str) -> TableColumns | None:
    """Return the documents of an object in Python, or of a list of records, as `read_shape`; None for other shapes."""
    first = source if isinstance(source, Mapping) else source[0]
    is_marked = isinstance(source, Mapping) and _is_marked(source)
    if not is_marked and not (isinstance(first, Mapping) and first.keys() & MARKS):
        return None
    shape = find_shape(source, place=place)
    return None if shape is None else read_shape(*shape, kind, Skipped(place))


def _inside(document: Mapping[str, Any], shape: Shape, place: str) -> Any:
    """Return the records or topics inside a document of a shape; None if it has another."""
    if not all(name in document for name in shape.needs):
        return None
    inner: Any = document
    path, several = list[str](), list[str]()
    for name in shape.inside.split("."):
        if not isinstance(inner, Mapping):
            return None
        if name == "*":
            keys = [key for key in inner if key not in shape.needs]
            several = keys if len(keys) > 1 and not several else several
            name = keys[0] if keys else ""
        path.append(name)
        inner = inner.get(name)
    if several:
        steps = "".join(f'["{name}"]' for name in path)
        hint = f"keep one of them, as jq '.{steps}' does"
        raise InputError(place, f"holds {len(several)} subsets or splits: {shorten(several, 8)}", hint)
    wanted = (list, Mapping) if shape.layout == "lists" else (Mapping,)
    return inner if isinstance(inner, wanted) else None


def read_shape(shape: Shape, content: Any, kind: str, skipped: Skipped, fields: Fields | None = None) -> TableColumns:
    """Return the documents of all topics as a table: topic, docno, and score, rank or grade.

    content  the records, alone or with their lines in pairs (`Numbered`), or the object of topics
    kind     "run" or "qrels"

    Raises InputError, with the nearest shape and what is missing, unless the records have the shape.
    """
    reader = _Reader(shape, kind, skipped, dict(fields or {}))
    if isinstance(content, Mapping):
        skipped.unit = "entry"
        reader.read((str(topic), documents) for topic, documents in content.items())
    elif isinstance(content, Numbered):
        reader.read(content)
    else:
        skipped.unit = "record"
        reader.read(enumerate(content, 1))
    return reader.table()


class Numbered(list[tuple[int, Any]]):
    """Records with the lines of their file."""


class _Reader:
    """Collect the documents of records: one at a time, so that a bad one can be skipped."""

    def __init__(self, shape: Shape, kind: str, skipped: Skipped, fields: dict[str, str]) -> None:
        self.shape, self.kind, self.skipped, self.fields = shape, kind, skipped, fields
        self.topics: list[Any] = []
        self.docnos: list[Any] = []
        self.values: list[Any] = []
        self.lines = array("q")
        self.empty: dict[Any, int] = {}
        self.of_topic: dict[str, int | str] = {}
        self.valued: dict[bool, int | str] = {}
        self.others: dict[str, list[Any]] = {name: [] for name in _OTHERS[kind] if shape is DOCUMENTS}
        self.scored: set[bool] = set()
        self.found: dict[tuple[Any, ...], str] = {}
        self.unused = dict(fields)
        self.names: list[str] | None = None  # the topics in the file that `topic=@FILE` names
        if (name := fields.get("topic", "")).startswith("@"):
            del self.unused["topic"]
            lines = decode(Source(name[1:]).read()).splitlines()
            self.names = [line.partition("\t")[0].strip() for line in lines if line.strip()]
        self.count, self.numbered = 0, False
        if kind not in shape.holds:
            holds = "judgments and no results" if kind == "run" else "results and no judgments"
            other = "the qrels come last" if kind == "run" else "it is a run: give it before the qrels"
            raise self._error("", f"holds {holds} ({shape.name}: {shape.meaning})", other)
        if self.names is not None and shape.layout == "topics":
            hint = f"leave out {Flag(f'--{kind}-format'):topic={fields['topic']}}"
            raise self._error("", f"names its topics ({shape.name}: {shape.meaning})", hint)

    def read(self, records: Records) -> None:
        for position, record in records:
            self.count += 1
            try:
                self._add(position, record)
            except InputError as error:
                self.skipped.add(error, position)

    def table(self) -> TableColumns:
        """Return all documents. Raises InputError if there are none, or a name that the user gave was not found."""
        if self.names is not None and self.count != len(self.names):
            problem = f"has {len(self.names)} {plural(len(self.names), 'topic')}, and the file {self.count} responses"
            raise InputError(self.fields["topic"], problem, "list a topic for each, in their order")
        if self.unused and self.count > self.skipped.count:
            content, name = next(iter(self.unused.items()))
            raise self._error("", f"no field '{name}' for the {content}", "see the names of its fields")
        if not self.topics and not (self.kind == "run" and self.empty):
            problem, hint = ("no documents" if self.kind == "run" else "no judgments"), f"expected {self.shape.meaning}"
            problem += f" ({self.skipped.count} bad skipped)" if self.skipped.count else ""
            if self.empty:
                problem, hint = f"{problem}: all lists are empty", "list a relevant document of at least one topic"
            raise InputError(self.skipped.place, problem, hint, kind="empty")
        third, values, note = ("score" if self.kind == "run" else "grade"), self.values, ""
        if self.kind == "run" and True not in self.valued:
            third, values = "rank", list(map(len, self._ranks()))
        if self.kind == "qrels" and False in self.valued:
            note = file_formats.NO_GRADES_LISTED
            if True in self.valued:
                note = "some documents are listed without grades: they are relevant, with grade 1"
        if self.kind == "qrels" and self.shape is DOCUMENTS and self.scored == {True}:
            third = "score"  # as in a table: fractions are refused
        columns = {"topic": self.topics, "docno": self.docnos, third: values}
        complete = {name: of for name, of in self.others.items() if not any(value is _MISSING for value in of)}
        table = TableColumns.of({**complete, **columns}, self.lines)
        table.note, table.bare, table.numbered = note, self.empty, self.numbered
        return table

    def _ranks(self) -> Iterator[range]:
        """Yield a range of the length of each document's rank in its topic."""
        previous, rank = _MISSING, 0
        for topic in self.topics:
            rank = rank + 1 if topic == previous else 1
            previous = topic
            yield range(rank)

    def _error(self, position: int | str, problem: str, hint: str) -> InputError:
        place = self.skipped.place
        place = f"{place}:{position}" if isinstance(position, int) else f"{place}['{position}']" if position else place
        return InputError(place, problem, hint, kind="format")

    def _add(self, position: int | str, record: Any) -> None:
        """Add the documents of a record, all or none."""
        topic, name, documents = position, str(position), record
        if self.shape.layout == "lists" or "topic" in self.fields:
            topic = self._topic(position, record)
        if self.shape.documents(self.kind) and (_is_object(record) or self.shape.layout == "lists"):
            name, documents = self._listed(position, record)
        elif self.shape is DOCUMENTS and _is_object(record) and file_formats.find_column(record, DOCNO) is not None:
            documents = [record]
        if not isinstance(documents, list | tuple | Mapping):
            problem = f"'{name}' is {_kind_of(documents)}, not a list of ids"
            raise self._error(position, problem, f"expected ids of documents, {_OBJECTS[self.kind]}")
        if self.kind == "run" and self.of_topic.setdefault(str(topic), position) != position:
            problem = f"topic '{topic}' again, first in record {self.of_topic[str(topic)]}"
            raise self._error(position, problem, "give each record an id, or each topic once")
        listed = list(self._in_order(documents))
        if self.shape is DOCUMENTS:
            for entry in listed:
                self._check_row(position, topic, entry)
        entries = [self._entry(position, name or "its list", entry) for entry in listed]
        if not entries:
            self.empty.setdefault(topic, len(self.topics))
        kinds = {value is not None for _, value in entries}
        if self.kind == "run" and len(kinds | self.valued.keys()) > 1:
            where = next((f"record {at}" for has, at in self.valued.items() if has not in kinds), "its first document")
            raise self._error(position, f"some documents have scores and some have none, unlike {where}", _SCORES)
        for has_value in kinds:
            self.valued.setdefault(has_value, position)
        for docno, value in entries:
            self.topics.append(topic)
            self.docnos.append(docno)
            self.values.append(1 if value is None and self.kind == "qrels" else value)
            self.lines.append(position if isinstance(position, int) else self.count)
        for column, values in self.others.items():
            names = (
                file_formats.find_column(entry, COLUMNS[column]) if _is_object(entry) else None for entry in listed
            )
            values += [_MISSING if name is None else entry[name] for name, entry in zip(names, listed, strict=True)]

    def _check_row(self, position: int | str, topic: Any, entry: Any) -> None:
        """Raise InputError if a document listed by topic is of another topic, or has several grades."""
        if not _is_object(entry):
            return
        name = None if "topic" in self.fields else file_formats.find_column(entry, TOPIC)
        if name is not None and str(entry[name]) != str(topic):
            problem = f"holds records of other topics, such as '{entry[name]}'"
            raise self._error(position, problem, f"give the records alone, without '{topic}'")
        if self.kind == "qrels" and "grade" not in self.fields:
            file_formats.check_one_grade(entry, self.skipped.place)

    def _topic(self, position: int | str, record: Any) -> Any:
        if self.names is not None:
            return self.names[self.count - 1] if self.count <= len(self.names) else str(self.count)
        name, topic = self._field("topic", record, _TOPICS)
        if topic in (None, "") and "topic" not in self.fields:  # an id without a value is no id
            name, topic = self._field("topic", record, _TEXTS)
        if name and isinstance(topic, str | int) and topic != "" and not isinstance(topic, bool):
            return topic
        if not name and self.shape.counted and not self.of_topic.keys() - {str(at) for at in range(1, self.count)}:
            self.numbered = True
            return str(self.count)
        if name and topic not in (None, ""):
            raise self._error(position, f"the topic '{name}' is {_kind_of(topic)}", "expected text")
        raise self._lacks(position, record, f"no topic ({', '.join(_TEXTS)} or id)")

    def _listed(self, position: int | str, record: Any) -> tuple[str, Any]:
        """Return the name and the value of the documents of a record."""
        name, documents = _documents(record, self.shape, self.kind, self.fields)
        for content in ("documents", "docno"):
            if name and self.fields.get(content) == name:
                self.unused.pop(content, None)
        if self.shape.run is RESPONSE and _is_object(record) and "error" in record:
            raise self._error(position, "is the response to a search that failed", "repeat the search")
        if name:
            return name, documents
        noun, names = ("results", self.shape.run) if self.kind == "run" else ("relevant documents", self.shape.qrels)
        raise self._lacks(position, record, f"no list of {noun} ({shorten(names, NAMES)})")

    def _in_order(self, documents: Any) -> Iterable[Any]:
        """Return the entries of a list, by rank if all of them have ranks."""
        if isinstance(documents, Mapping):
            return map(_Pair, documents.items())
        if self.kind == "run" and all(_is_object(entry) for entry in documents):
            ranks = [self._field("rank", entry, RANK)[1] for entry in documents]
            if all(map(_is_number, ranks)):
                return [documents[index] for index in sorted(range(len(ranks)), key=ranks.__getitem__)]
        listed: Iterable[Any] = documents
        return listed

    def _lacks(self, position: int | str, record: Any, missing: str) -> InputError:
        """Return the error of a record that lacks a field."""
        given = f" among {', '.join(map(str, list(record)[:8]))}" if _is_object(record) else ""
        given = given or f": it is {_kind_of(record)}"
        return self._error(position, f"{missing}{given}", f"name it, as in {_naming(record, self.kind)}")

    def _field(self, content: str, record: Any, names: Sequence[str]) -> tuple[str, Any]:
        """Return the name and the value of a field of a record, by the user's name if there is one."""
        key = (content, *record) if content != "topic" and _is_object(record) else ()
        if (known := self.found.get(key)) is not None:
            return known, record[known] if known else None
        if content in self.fields:
            names = [self.fields[content]]
        name, value = look_up(record, names)
        if name:
            self.unused.pop(content, None)
        if key and (name in record or not name) and not {n.partition(".")[0] for n in names if "." in n} & {*record}:
            self.found[key] = name
        return name, value

    def _entry(self, position: int | str, name: str, entry: Any) -> tuple[Any, Any]:
        """Return the docno and the number of a document, None if it has none."""
        if isinstance(entry, _Pair):
            return entry
        if isinstance(entry, list) and len(entry) == 2 and _is_number(entry[1]) and isinstance(entry[0], str | int):
            return entry[0], entry[1]
        if isinstance(entry, str | int) and not isinstance(entry, bool) and entry != "":
            return entry, None
        if not _is_object(entry):
            hint = f"expected ids of documents, {_OBJECTS[self.kind]}"
            raise self._error(position, f"'{name}' lists {_kind_of(entry)}: {safe_repr(entry)}", hint)
        id_name, docno = self._field("docno", entry, _DOCNOS)
        given = ", ".join(map(str, list(entry)[:8]))
        if not id_name or docno in (None, ""):
            missing = f"'{self.fields['docno']}'" if "docno" in self.fields else "an id"
            problem = f"'{name}' lists a document without {missing}, only {given or 'nothing'}"
            raise self._error(position, problem, self._id_hint(entry))
        content = "score" if self.kind == "run" else "grade"
        value_name, value = self._field(content, entry, _VALUES[self.kind])
        if value_name:
            self.scored.add(file_formats.find_column([value_name], SCORE) is not None)
        if self.kind == "run" and not value_name:
            self._check_scores(position, name, entry)
        if self.kind == "qrels" and value_name and value is None:
            problem = f"'{name}' lists a document whose {value_name} is null"
            raise self._error(position, problem, "give it a grade, or leave the document out")
        if self.kind == "qrels" and not value_name:
            others = {key: number for key, number in entry.items() if _is_number(number) and key != id_name}
            if others:
                hint = f"name it, as in {Flag('--qrels-format'):grade={next(iter(others))}}"
                raise self._error(position, f"'{name}' lists a document without a grade, only {given}", hint)
        return docno, value

    def _check_scores(self, position: int | str, name: str, entry: Mapping[Any, Any]) -> None:
        """Raise InputError if a document without a known score has a number that may be one."""
        near = next(
            (field for field, value in entry.items() if _is_number(value) and file_formats.may_be_score(field)), None
        )
        if near is not None:
            hint = f"name it, as in {Flag('--run-format'):score={near}}, or leave it out to order by the lists"
            raise self._error(position, f"'{name}' lists documents without a score, but '{near}' may be one", hint)

    def _id_hint(self, entry: Mapping[Any, Any]) -> str:
        """Return the hint for a document whose id was not found: the path to an id inside, or known names."""
        if "docno" in self.fields:
            return "name a field that each document has, with a value"
        for key, inner in entry.items():
            if (id_name := look_up(inner, _DOCNOS)[0]) and "." not in str(key):
                return f"name it, as in {Flag(f'--{self.kind}-format'):docno={key}.{id_name}}"
        return did_you_mean(next(map(str, entry), ""), _DOCNOS) or f"known names: {', '.join(_DOCNOS[:8])}, id"


_SCORES = "give each document a score, or list ids in order"
_OBJECTS = {
    "run": 'or objects such as {"id": "d7", "score": 0.5}',
    "qrels": 'objects such as {"id": "d7", "grade": 2}, or an object id -> grade',
}


class _Pair(tuple[Any, Any]):
    """An id and its number, of an object id -> number."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_object(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Return whether a value has keys; most are dicts, for which this is a quarter of the time of `isinstance`."""
    return type(value) is dict or isinstance(value, Mapping)


def _kind_of(value: Any) -> str:
    words = {"list": "a list", "str": "text", "bool": "true or false", "NoneType": "null", "dict": "an object"}
    return words.get(type(value).__name__, "a number")


def has_lists_alone(document: Mapping[Any, Any]) -> bool:
    """Return whether all names of an object are of lists of a record, whose topic is missing: they are no topics."""
    listed = (entry for value in document.values() if isinstance(value, list) for entry in value)
    rows = (entry for entry in listed if _is_object(entry) and file_formats.find_column(entry, TOPIC) is not None)
    return all(file_formats.plain(name) in _LIST_NAMES for name in document) and not any(rows)


def nearest(record: Mapping[Any, Any], kind: str) -> str:
    """Return the hint for an object of no known shape: the nearest one, and what is missing; empty if none is near."""
    best, most, topic, name = "", 0, "", ""
    for shape in (shape for shape in SHAPES if shape.inside or shape.layout == "lists"):
        names = shape.documents(kind) or shape.run or shape.qrels
        needed = [*shape.needs, *([shape.inside] if shape.inside.isidentifier() else [])]
        lacking = [f"no '{name}'" for name in needed if not look_up(record, [name])[0]]
        near = len(needed) - len(lacking)
        if not needed or shape.inside in ("", "responses"):
            topic, (name, value) = look_up(record, _TOPICS)[0], look_up(record, names)
            near = bool(topic) + bool(name)
            lacking = [] if topic or shape.counted else [f"no topic ({', '.join(_TEXTS)} or id)"]
            if not isinstance(value, list | Mapping):
                absent = f"no {shorten(names, NAMES)}"
                lacking.append(f"'{name}' is {_kind_of(value)}, no list of ids" if name else absent)
        if lacking and near > most:
            best, most = f"nearest is {shape.name}, {shape.meaning}: {' and '.join(lacking)}", near
            if topic and shape.name == "golden" and not name and _unnamed_lists(record):
                best = f"name the list of documents, as in {_naming(record, kind)}"
    return best


NAMES = 4
"""Maximum number of known names that a message lists."""

_NEAR_IDS = re.compile("id|doc|chunk|passage|context|node")

_OF_QUERIES = re.compile("tag|label|keyword|categor|embedding|vector|meta|message|history|filter")
"""Lists that describe a query."""


def _unnamed_lists(record: Mapping[Any, Any]) -> list[str]:
    """Return the fields of a record that may list documents and have no known name, the likely ones first."""
    names = [str(name) for name, value in record.items() if isinstance(value, list | Mapping) and value]
    names = [name for name in names if file_formats.plain(name) not in _LIST_NAMES and not {",", "="} & {*name}]
    names = [name for name in names if not _OF_QUERIES.search(name.lower())]
    return sorted(names, key=lambda name: not _NEAR_IDS.search(name.lower()))


def _naming(record: Any, kind: str) -> str:
    """Return the option that names the topic and the documents of a record, by its own fields if it has such."""
    texts, lists = list[str](), list[str]()
    if _is_object(record):
        texts, lists = [str(name) for name, value in record.items() if isinstance(value, str)], _unnamed_lists(record)
    topic = look_up(record, _TOPICS)[0] or next(iter(texts), "question")
    return f"{Flag(f'--{kind}-format'):topic={topic},documents={next(iter(lists), 'chunks')}}"


# Tables with a row for each topic whose cells list documents, as `EvaluationDataset` of ragas becomes one.

_GOLDEN = next(shape for shape in SHAPES if shape.name == "golden")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_ADJACENT = re.compile(r"''\s*''")


def read_table_of_lists(table: Any, kind: str, skipped: Skipped, fields: Fields | None = None) -> TableColumns | None:
    """Return the documents that the cells of a table list, as `read_shape`; None for a table with a row for each
    document.

    fields  names that the user gave
    """
    names = list(table.columns)
    if not ("documents" in (fields or {}) or file_formats.kinds_of_columns(names)):
        return None
    read = frozenset(map(file_formats.plain, (fields or {}).values())).union(*file_formats.LISTED.values())
    # Texts and vectors that may accompany the lists are not unpacked.
    columns = (
        map(_value, table[name].tolist()) if file_formats.plain(name) in read else repeat(None, len(table))
        for name in names
    )
    records = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    lines = getattr(table, "lines", ()) or range(1, len(records) + 1)
    return read_shape(_GOLDEN, Numbered(zip(lines, records, strict=True)), kind, skipped, fields)


def _value(value: Any) -> Any:
    """Return a cell as JSON has it: lists of arrays, of tuples and of text; None if nothing is there."""
    if isinstance(value, str):
        return _of_text(value)
    if callable(convert := getattr(value, "tolist", None) or getattr(value, "to_list", None)):
        value = convert()
    if isinstance(value, list | tuple):
        return [_value(entry) if not isinstance(entry, str) else entry for entry in value]
    return None if type(value).__name__ in ("NAType", "NaTType") or value != value else value


def _of_text(text: str) -> Any:
    """Return the list or object that a text holds in JSON or as Python prints it; any other text unchanged."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return json.loads(text, object_pairs_hook=refuse_duplicates(""))
    except InputError:
        return text
    except (ValueError, RecursionError):
        return _of_python(text.strip())


def refuse_duplicates(place: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """Return a function that makes a dict of the pairs of a JSON object. It raises InputError if a name occurs twice:
    JSON would silently keep the last value."""

    def of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            names = [name for name, _ in pairs]
            again = next(name for position, name in enumerate(names) if name in names[:position])
            raise InputError(place, f"duplicate name '{again}' in a JSON object", "give each name once", kind="format")
        return record

    return of_pairs


def _of_python(text: str) -> Any:
    """Return the list or dict that Python printed; any other text unchanged."""
    if _ADJACENT.search(_QUOTED.sub("''", text)):  # of an array, without commas: Python would join its texts
        return text
    import ast  # few files are such

    try:
        tree = ast.parse(text, mode="eval")
        dicts = [list(map(ast.dump, filter(None, node.keys))) for node in ast.walk(tree) if isinstance(node, ast.Dict)]
        value = ast.literal_eval(tree)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    is_distinct = all(len(keys) == len(set(keys)) for keys in dicts)
    return value if is_distinct and isinstance(value, list | dict) else text


def read_lines_of_lists(data: bytes, skipped: Skipped) -> tuple[str, TableColumns]:
    """Return the format and the table of lines below a header; quoted cells may have line breaks, as texts have."""
    header = next(line for line in data.split(b"\n") if line.strip() and not line.lstrip().startswith(b"#"))
    separator = decode(separator_in(header.replace(b" ", b"")) or b",")

    def refuse(line: int, problem: str, hint: str) -> None:
        skipped.add(InputError(f"{skipped.place}:{line}", problem, hint, kind="format"), line)

    pieces = iter([(1, re.sub(b"\r\n?", b"\n", data))])
    numbered = [row for row in csv_rows(pieces, separator, refuse, multiline=True) if any(map(str.strip, row[1]))]
    first = next(place for place, (_, row) in enumerate(numbered) if not row[0].startswith("#"))
    names = [name.strip() for name in numbered[first][1]]
    file_formats.check_distinct(names, skipped.place)
    rows, lines = list[list[str]](), array("q")
    for line, row in numbered[first + 1 :]:
        if len(row) == len(names):
            rows.append(row)
            lines.append(line)
        else:
            refuse(line, f"{len(row)} fields, expected {len(names)} ({', '.join(names)})", "quote lists and texts")
    columns: Mapping[str, Sequence[str]] = dict(zip(names, map(list, zip(*rows, strict=True)), strict=False))
    return ("tsv" if separator == "\t" else "csv"), TableColumns.of(
        {name: columns.get(name, []) for name in names}, lines
    )
