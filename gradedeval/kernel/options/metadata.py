"""Inputs of an evaluation besides runs and qrels: costs and gains of documents, labels, texts of topics, systems."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import Any

from gradedeval.arrays import as_float
from gradedeval.errors import Flag, InputError, Note, did_you_mean, flag, plural, safe_repr, shorten
from gradedeval.kernel.measures.notation import plain_value
from gradedeval.kernel.trec.lines import BYTE_ORDER_MARKS, decimal, decode, encode
from gradedeval.kernel.trec.stream import Source, Stream, is_url


def _digest(lines: Iterable[bytes], separator: bytes = b"\n") -> str:
    """Return six hexadecimal digits of a checksum of lines, whatever their order."""
    from hashlib import sha256  # most evaluations do without

    return sha256(separator.join(sorted(lines))).hexdigest()[:6]


# Each `read_…` returns a value of any other type unchanged, which the check of the option refuses.
# Documents: costs of their types, and gains of unjudged documents.


@dataclass(eq=False, repr=False)
class Costs:
    """The cost of a document of each type, in any unit: seconds, characters, documents. `of`: type -> cost, finite and
    above 0."""

    of: Mapping[bytes, float]
    place: str = "costs"

    def __post_init__(self) -> None:
        if not self.of:
            raise InputError(self.place, "has no costs", "expected a line for each type, such as 'video 30'")
        for name, cost in self.of.items():
            if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 < cost < math.inf:
                problem = f"cost {safe_repr(cost)} of type '{decode(name)}' is not a finite number above 0"
                raise InputError(self.place, problem, "costs must be positive")

    @property
    def digest(self) -> str:
        """Six hexadecimal digits that change with any cost."""
        return _digest(b"%b %b" % (name, repr(float(cost)).encode()) for name, cost in self.of.items())


@dataclass(eq=False, repr=False)
class Fill:
    """Gains in [0, 1] of unjudged documents, estimated from clicks. `of`: topic -> docno -> gain."""

    of: Mapping[bytes, Mapping[bytes, float]]
    place: str = "fill"

    def __post_init__(self) -> None:
        if not self.count:
            raise InputError(self.place, "has no gains", "expected lines of topic,docno,gain")
        for topic, documents in self.of.items():
            for docno, gain in documents.items():
                if isinstance(gain, bool) or not 0 <= gain <= 1:
                    document = f"document '{decode(docno)}' of topic '{decode(topic)}'"
                    problem = f"gain {safe_repr(gain)} of {document} is outside 0..1"
                    raise InputError(self.place, problem, "it is a probability")

    @property
    def count(self) -> int:
        """The number of documents."""
        return sum(map(len, self.of.values()))

    @property
    def digest(self) -> str:
        """Six hexadecimal digits that change with any gain."""
        rows = ((topic, docno, gain) for topic, documents in self.of.items() for docno, gain in documents.items())
        return _digest(b"%b\t%b\t%.6f" % row for row in rows)


def read_fill(fill: Any) -> Any:
    """Read gains from a dict topic -> docno -> gain, or a DataFrame or a file with topic, docno, gain (and seen)."""
    gains: dict[bytes, dict[bytes, float]] = {}
    columns = ("topic", "docno", "gain")
    if isinstance(fill, Mapping) or hasattr(fill, "columns"):
        for topic, docno, gain in _fill_rows(fill, columns):
            documents, document = gains.setdefault(encode(str(topic)), {}), f"document '{docno}' of topic '{topic}'"
            if encode(str(docno)) in documents:
                raise InputError("fill", f"two gains of {document}", "list each once")
            try:
                documents[encode(str(docno))] = as_float(gain)
            except (TypeError, ValueError):
                problem = f"gain {safe_repr(gain)} of {document} is not a number"
                raise InputError("fill", problem, "give one from 0 to 1") from None
        return Fill(gains)
    if not isinstance(fill, str | os.PathLike):
        return fill
    from gradedeval.kernel.trec.small_tables import SmallTable  # few evaluations need a table

    table = SmallTable.read(fill, columns, (*columns, "seen"), hint="expected lines of topic,docno,gain", words=True)
    for row in table.rows:
        gain = table.number(row, "gain", 0, 1)
        gains.setdefault(encode(row.cells["topic"]), {})[encode(row.cells["docno"])] = gain
    table.check([(row.cells["topic"], row.cells["docno"]) for row in table.rows], ("docno", "topic"))
    return Fill(gains, table.place)


def _fill_rows(fill: Any, columns: Sequence[str]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield topic, docno and gain of each document of a dict or a DataFrame."""
    if isinstance(fill, Mapping):
        for topic, documents in fill.items():
            if not isinstance(documents, Mapping):
                problem = f"topic '{topic}' has no dict of gains, but {safe_repr(documents)}"
                raise InputError("fill", problem, "as in {'301': {'doc1': 0.5}}")
            yield from ((topic, docno, gain) for docno, gain in documents.items())
        return
    if missing := [name for name in columns if name not in fill.columns]:
        raise InputError("fill", f"no column '{missing[0]}'", f"expected the columns {', '.join(columns)}")
    yield from zip(*(fill[name] for name in columns), strict=True)


def read_costs(costs: Any) -> Any:
    """Read costs from a dict, or from a file with lines of `type cost`."""
    if isinstance(costs, Mapping):
        return Costs({encode(str(name)): plain_value(cost) for name, cost in costs.items()})
    if not isinstance(costs, str | os.PathLike):
        return costs
    from gradedeval.kernel.trec.small_tables import SmallTable  # few evaluations need a table

    table = SmallTable.read(costs, ("type", "cost"), hint="expected lines such as 'video 30'", words=True)
    cost_of: dict[bytes, float] = {}
    for row in table.rows:
        cost = cost_of[encode(row.cells["type"])] = table.number(row, "cost")
        if cost <= 0:
            table.problems.add(row.line, f"cost {row.cells['cost']} is not above 0", "costs must be positive")
    table.check([row.cells["type"] for row in table.rows], ("type",))
    return Costs(cost_of, table.place)


# Chunks: the documents that they are of.


@dataclass(eq=False, repr=False)
class Collapse:
    """The rule that turns ids of chunks into ids of documents: a separator, or a table.

    separator  the bytes before the last part of a docno, which is left out; empty with a table
    of         chunk -> document; empty with a separator
    place      the name of the table in messages
    """

    separator: bytes
    of: Mapping[bytes, bytes]
    place: str = ""

    def document(self, chunk: bytes) -> bytes | None:
        """Return the document of a chunk; None if the table lacks it. Without a separator behind its first byte a docno
        stays as it is."""
        if not self.separator:
            return self.of.get(chunk)
        position = chunk.rfind(self.separator)
        return chunk[:position] if position > 0 else chunk

    def same_as(self, second: Collapse) -> bool:
        """Return whether another rule gives the same documents."""
        return self.separator == second.separator and self.of == second.of

    @property
    def digest(self) -> str:
        """The separator in quotes, or six hexadecimal digits that change with any line of the table."""
        if self.separator:
            return f'"{decode(self.separator)}"'
        lines = (b"%b\t%b" % pair for pair in self.of.items())
        return f"table {_digest(lines, b'|')}"


def read_collapse(value: Any, option: Flag = flag.collapse) -> Any:
    """Read the rule for chunks: a file or a dict is a table chunk -> document, any other text a separator."""
    if isinstance(value, Mapping):
        table = {encode(str(chunk)): encode(str(document)) for chunk, document in value.items()}
        if not table:
            raise InputError(option, "has no chunks", "give a dict chunk -> document", usage=True)
        return Collapse(b"", table, "the table")
    if not isinstance(value, str | os.PathLike):
        return value
    if isinstance(value, str) and not os.path.isfile(value) and not is_url(value):
        if not value:
            raise InputError(option, "is empty", "give a separator such as #, or a file", usage=True)
        return Collapse(encode(value), {})
    return _table_of_chunks(value)


def _table_of_chunks(value: str | os.PathLike[str]) -> Collapse:
    """Read a table of chunk and document."""
    from gradedeval.kernel.trec.small_tables import SmallTable  # few evaluations need a table

    if not is_url(value) and (plain := _plain_table(value)):
        return Collapse(b"", plain, Source(value).place)
    columns = ("chunk", "document")
    rows = SmallTable.read(value, columns, hint="expected lines of chunk,document", words=True)
    documents: dict[bytes, bytes] = {}
    for row in rows.rows:
        chunk, document = (encode(row.cells[column]) for column in columns)
        if not chunk or not document:
            rows.problems.add(row.line, f"no {'document' if chunk else 'chunk'}", "expected lines of chunk,document")
        elif documents.setdefault(chunk, document) != document:
            problem = f"chunk '{decode(chunk)}' is of '{decode(document)}' and of '{decode(documents[chunk])}'"
            rows.problems.add(row.line, problem, "list it once")
    rows.check()
    return Collapse(b"", documents, rows.place)


def _plain_table(path: str | os.PathLike[str]) -> dict[bytes, bytes]:
    """Return chunk -> document of a table with two plain cells in each line; nothing of any other, which is read line
    by line. A table may have as many lines as a collection has chunks."""
    from gradedeval.kernel.trec.line_reader import whole_lines

    documents, count, separator = dict[bytes, bytes](), 0, b""
    with closing(Stream(Source(path))) as stream:
        for start, text in whole_lines(stream):
            if start == 1:
                first = text.partition(b"\n")[0]
                separator = b"\t" if b"\t" in first else b"" if b";" in first else b","
                if first.lower() == separator.join((b"chunk", b"document")):
                    text = text[len(first) + 1 :]
            special = (separator + b"\n", b"\n" + separator, b"\n#", b'"', b"\r", b" ", *BYTE_ORDER_MARKS)
            if not separator or any(part in b"\n%b\n" % text for part in special):
                return {}
            pairs: list[Any] = [line.split(separator) for line in text.removesuffix(b"\n").split(b"\n")]
            if any(len(pair) != 2 for pair in pairs) or pairs[0][0].lower() == b"chunk":
                return {}
            documents.update(pairs)
            count += len(pairs)
    return documents if len(documents) == count else {}


read_collapse_qrels = partial(read_collapse, option=flag.collapse_qrels)


def collapse_of(value: Any) -> Collapse:
    """Read the rule for chunks of the qrels. Raises InputError as `read_collapse`, and (usage) for anything else."""
    collapse = read_collapse(value, flag.collapse)
    if not isinstance(collapse, Collapse):
        problem = f"{safe_repr(value)} is not a separator, a file or a dict chunk -> document"
        raise InputError(flag.collapse, problem, usage=True)
    return collapse


# Judgments: grades of labels, and judgments by a machine.


@dataclass(eq=False, repr=False)
class Predicted:
    """Judgments by a machine, in any form of qrels; they are read together with the qrels."""

    source: Any


def read_predicted(source: Any) -> Any:
    """Wrap a machine's judgments, in any form of qrels."""
    return source if isinstance(source, Predicted) else Predicted(source)


@dataclass(eq=False, repr=False)
class Labels:
    """Words that stand for grades. `of`: label -> grade."""

    of: Mapping[bytes, float]


def read_labels(labels: Any) -> Any:
    """Read labels with their grades from a dict, or from text such as `HRel=2,Rel=1`."""
    if isinstance(labels, str):
        pairs = [pair.rpartition("=")[::2] for pair in labels.split(",")]
    elif isinstance(labels, Mapping):
        words = [label.decode() if isinstance(label, bytes) else str(label) for label in labels]
        pairs = list(zip(words, (str(plain_value(grade)) for grade in labels.values()), strict=True))
    else:
        return labels
    grades: dict[bytes, float] = {}
    for label, grade in pairs:
        name, value = encode(label.strip()), decimal(encode(grade.strip()))
        if not name or value != value or name in grades:
            again = f"label '{label.strip()}' is given twice"
            problem = again if name in grades else f"'{f'{label}=' if label else ''}{grade}' is not label=grade"
            raise InputError(flag.labels, problem, f"as in {flag.labels:HRel=2,Rel=1,NRel=0}", usage=True)
        grades[name] = value
    return Labels(grades)


# Topics: the chosen ones, their texts, and labels that put them in slices.


def read_topics(topics: Any) -> Any:
    """Read topic ids from a list, or from the first field of every line of a file."""
    if isinstance(topics, str | os.PathLike):
        from gradedeval.kernel.trec.line_reader import check_text, whole_lines  # few choose topics

        ids = set[bytes]()
        with closing(Stream(Source(topics))) as stream:
            for number, text in whole_lines(stream):
                check_text(text, stream.place, number)
                ids.update(line.split()[0] for line in text.split(b"\n") if line.strip() and line[:1] != b"#")
        if not ids:
            raise InputError(stream.place, "names no topics", "expected one topic per line")
        return frozenset(ids)
    if not isinstance(topics, Iterable):
        return topics
    return frozenset(topic if isinstance(topic, bytes) else encode(str(topic)) for topic in topics)


def chosen_topics(topics: frozenset[bytes]) -> str:
    """Describe a choice of topics for the signature: their number, and six digits that identify the choice."""
    return f"{len(topics)} chosen {plural(len(topics), 'topic')} {_digest(topics, b'|')}"


@dataclass(eq=False, repr=False)
class Queries:
    """The texts of topics, in one line each, and further columns of the table: column -> topic -> value."""

    texts: Mapping[str, str]
    columns: Mapping[str, Mapping[str, Any]]
    place: str = "queries"

    def unmatched(self, topics: Iterable[str]) -> list[str]:
        """Return a note if topics lack a text, or texts belong to no topic."""
        return _unmatched(self.place, "text", self.texts, topics)


class Slices:
    """Labels of topics. `of`: column -> topic -> its labels, in the order of the file; topics without labels are
    absent."""

    def __init__(self, of: Mapping[str, Mapping[str, tuple[str, ...]]], place: str = "slices") -> None:
        self.of, self.place = of, place
        if odd := next((column for column in of if "=" in column), None):
            problem = f"column '{odd}' has a = in its name, which stands between column and label"
            raise InputError(place, problem, "rename the column")

    @cached_property
    def topics(self) -> dict[str, dict[str, frozenset[str]]]:
        """column -> label -> its topics, in the order of the labels' first topics."""
        sets: dict[str, dict[str, set[str]]] = {column: {} for column in self.of}
        for column, of_topics in self.of.items():
            for topic, labels in of_topics.items():
                for label in labels:
                    sets[column].setdefault(label, set()).add(topic)
        return {column: {label: frozenset(members) for label, members in of.items()} for column, of in sets.items()}

    @property
    def digest(self) -> str:
        """Six hexadecimal digits that change with any label."""
        rows = ((column, topic, *labels) for column, of in self.of.items() for topic, labels in of.items())
        return _digest("\t".join(row).encode("utf-8", "surrogatepass") for row in rows)

    def unmatched(self, topics: Iterable[str]) -> list[str]:
        """Return a note for each column with topics that lack a label, or labels of no topic."""
        notes, topics = list[str](), list(topics)
        for column, labels in self.of.items():
            notes += _unmatched(f"{self.place}: {column}", "label", labels, topics)
        return notes


def _unmatched(place: str, noun: str, values: Mapping[str, Any], topics: Iterable[str]) -> list[str]:
    topics = list(topics)
    without = [topic for topic in topics if not values.get(topic)]
    extra = len(values) - (len(topics) - len(without))
    parts = []
    if without:
        verb = "has" if len(without) == 1 else "have"
        parts.append(f"{len(without)} of {len(topics)} topics {verb} no {noun} ({shorten(without)})")
    if extra > 0:
        verb = "is of a topic" if extra == 1 else "are of topics"
        parts.append(f"{extra} {plural(extra, noun)} {verb} that {'is' if extra == 1 else 'are'} not in the qrels")
    return [Note(f"{place}: {'; '.join(parts)}", kind="unmatched-topics")] if parts else []


def read_queries(source: Any) -> Any:
    """Read the texts of topics from any source of `topic_table`."""
    if isinstance(source, Queries):
        return source
    from gradedeval.kernel.trec.small_tables import topic_table

    if (table := topic_table(source, "queries")) is None:
        return source
    column = table.text_column()
    words = {topic: " ".join(str(record.get(column) or "").split()) for topic, record in table.records.items()}
    texts = {topic: text for topic, text in words.items() if text}
    if not texts:
        raise InputError(table.place, "has no texts of topics", "expected a topic and its text in each line")
    return Queries(texts, table.columns(without=(column,)), table.place)


def read_slices(source: Any) -> Any:
    """Read the labels of topics from a dict column -> topic -> label, or from each column but texts of any source of
    `topic_table`; several labels are separated by `|`, in Python also a list.

    Returns names of columns of the queries, separated by commas, as a tuple, and anything else unchanged.
    """
    if isinstance(source, Slices):
        return source
    from gradedeval.kernel.trec.small_tables import TEXT_NAMES, is_source, topic_table

    if isinstance(source, str) and not is_source(source):
        return tuple(name.strip() for name in source.split(","))
    if isinstance(source, list | tuple) and source and all(isinstance(word, str) for word in source):
        return tuple(source)
    if isinstance(source, Mapping) and source and all(isinstance(inner, Mapping) for inner in source.values()):
        return Slices({str(column): _labels(inner) for column, inner in source.items()})
    if (table := topic_table(source, "slices")) is None:
        return source
    of = {column: _labels(values) for column, values in table.columns(without=TEXT_NAMES).items()}
    if not any(of.values()):
        raise InputError(table.place, "has no labels of topics", "expected a header such as 'topic,intent'")
    return Slices(of, table.place)


def slices_of(queries: Queries | None, columns: Sequence[str]) -> Slices:
    """Build slices from columns of the queries. Raises InputError (usage) if a column is missing."""
    if queries is None:
        hint = f"check the path, or add {flag.queries} with a column '{columns[0]}'"
        raise InputError(flag.slices, f"no file '{','.join(columns)}'", hint, usage=True)
    if unknown := [name for name in columns if name not in queries.columns]:
        hint = did_you_mean(unknown[0], queries.columns) or f"columns: {shorten(queries.columns) or 'none'}"
        problem = f"'{unknown[0]}' is neither a file nor a column of {queries.place}"
        raise InputError(flag.slices, problem, hint, usage=True)
    return Slices({name: _labels(queries.columns[name]) for name in columns}, queries.place)


@dataclass(eq=False, repr=False)
class TopicWeights:
    """Weights of topics in means, finite and 0 or more, but not all 0. `of`: topic -> weight."""

    of: Mapping[str, float]
    place: str = "topic_weights"

    def __post_init__(self) -> None:
        for topic, weight in self.of.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
                problem = f"weight {safe_repr(weight)} of topic '{topic}' is not a finite number of 0 or more"
                raise InputError(self.place, problem, "leave a topic out of means with weight 0")
        if not any(self.of.values()):
            raise InputError(self.place, "no topic has a weight above 0", "expected lines of topic,weight")

    @property
    def digest(self) -> str:
        """Six hexadecimal digits that change with any weight."""
        lines = (f"{topic}\t{float(weight)!r}" for topic, weight in self.of.items())
        return _digest(line.encode("utf-8", "surrogatepass") for line in lines)

    def unmatched(self, topics: Iterable[str]) -> list[str]:
        """Return a note if weights are of topics that do not count."""
        weighed = dict.fromkeys(self.of, "yes")  # 0 is a weight, too
        return _unmatched(self.place, "weight", weighed, [topic for topic in topics if topic in self.of])

    def of_topics(self, topics: Sequence[str]) -> list[float]:
        """Return the weights of these topics. Raises InputError if one has none."""
        if missing := [topic for topic in topics if topic not in self.of]:
            count = f"{len(missing)} of {len(topics)} topics have no weight ({shorten(missing)})"
            raise InputError(self.place, count, "give each topic one; 0 leaves it out of means")
        return [float(self.of[topic]) for topic in topics]


def read_topic_weights(source: Any) -> Any:
    """Read weights of topics from a dict, or from a file or a DataFrame with the columns topic and weight."""
    from gradedeval.kernel.trec.small_tables import SmallTable, topic_table

    if isinstance(source, Mapping):
        return TopicWeights({_label(topic): plain_value(weight) for topic, weight in source.items()})
    if isinstance(source, str | os.PathLike):
        table = SmallTable.read(source, ("topic", "weight"), hint="expected lines of topic,weight", words=True)
        weights = [table.number(row, "weight", 0) for row in table.rows]
        topics = [row.cells["topic"] for row in table.rows]
        table.check(topics, ("topic",))
        return TopicWeights(dict(zip(topics, weights, strict=True)), table.place)
    if not hasattr(source, "columns"):
        return source
    frame = topic_table(source, "slices")
    columns = frame.columns() if frame is not None else {}
    if "weight" not in columns:
        raise InputError("topic_weights", "no column 'weight'", "expected the columns topic, weight")
    return TopicWeights({topic: plain_value(weight) for topic, weight in columns["weight"].items()})


def unmatched_notes(queries: Queries | None, slices: Slices | None, topics: Iterable[str]) -> list[str]:
    """Return notes on topics without a text or a label, and on texts and labels without a topic."""
    all_topics = list(topics)
    return [note for table in (queries, slices) if table is not None for note in table.unmatched(all_topics)]


def _labels(of: Mapping[Any, Any]) -> dict[str, tuple[str, ...]]:
    """Return topic -> its distinct labels, without topics that have none."""
    labels_of = dict[str, tuple[str, ...]]()
    for topic, value in of.items():
        values = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value
        words = (word.strip() for item in values for word in _label(item).split("|"))
        labels_of[str(topic)] = tuple(dict.fromkeys(filter(None, words)))
    return {topic: labels for topic, labels in labels_of.items() if labels}


def _label(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


# Runs: seeds of one system.

SYSTEMS_HINT = "as in 'NAME=pattern', or a file with lines of a run and its system"


class Replicates:
    """The runs that are seeds of one system.

    patterns  pairs of a system and a pattern of its runs
    listed    pairs of a run and its system from a list, which may contain absent runs
    place     the source of the list, for messages
    """

    def __init__(
        self,
        patterns: Sequence[tuple[str, str]] = (),
        listed: Sequence[tuple[str, str]] = (),
        place: str = "",
    ) -> None:
        self.patterns, self.listed, self.place = tuple(patterns), tuple(listed), place

    def systems(self, runs: Iterable[str]) -> dict[str, list[str]]:
        """Return system -> its runs, in the order of the runs; a run in no system is a system by itself, without seeds.
        Raises InputError (usage) for systems that do not fit the runs."""
        names = list(runs)
        of: dict[str, str] = {}
        for system, pattern in self._pairs(names):
            matched = [name for name in names if name == pattern] or [name for name in names if matches(name, pattern)]
            if not matched:
                hint = did_you_mean(pattern, names) or f"runs: {shorten(names)}"
                raise _systems_error(f"{system}={pattern} matches no run", hint)
            for name in matched:
                if of.setdefault(name, system) != system:
                    problem = f"run '{name}' is in two systems, '{of[name]}' and '{system}'"
                    raise _systems_error(problem, "a run is of one system")
        by_system: dict[str, list[str]] = {}
        for name in names:
            by_system.setdefault(of.get(name, name), []).append(name)
        for system, seeds in by_system.items():
            if len({name in of for name in seeds}) > 1:
                raise _systems_error(f"'{system}' is a system and a run", "give the system another name")
            if len(seeds) == 1 and seeds[0] in of:
                problem = f"system '{system}' has one seed ({seeds[0]}), and a deviation needs two"
                raise _systems_error(problem, "add runs, or leave it out: a run in no system has no seeds")
        return by_system

    def among(self, runs: Iterable[str]) -> Replicates:
        """Fix the systems of these runs: some may have no scores later. Raises InputError as `systems`."""
        return OfRuns({run: system for system, members in self.systems(runs).items() for run in members})

    def _pairs(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return all pairs of a system and a pattern. Raises InputError (usage) if a list names none of the runs."""
        present = [
            (system, run) for run, system in self.listed if any(name == run or matches(name, run) for name in names)
        ]
        if self.listed and not present:
            raise _systems_error(f"{self.place or 'the list'} names none of the runs", f"runs: {shorten(names)}")
        return [*self.patterns, *present]

    def notes(self, runs: Iterable[str]) -> list[str]:
        """Return a note on runs in no system."""
        by_system = self.systems(runs)
        alone = [system for system, members in by_system.items() if members == [system]]
        if not alone:
            return []
        are = "run is in no system and has" if len(alone) == 1 else "runs are in no system and have"
        very = "this very run" if len(alone) == 1 else "these very runs"
        return [Note(f"{len(alone)} {are} no seeds ({shorten(alone)}): scores are of {very}")]


class OfMapping(Replicates):
    """Replicates of a dict of texts: run -> system if a key is one of the runs, else system -> pattern."""

    def __init__(self, of: Mapping[str, str]) -> None:
        super().__init__(tuple(of.items()), tuple(of.items()), "the dict")

    def _pairs(self, names: Sequence[str]) -> list[tuple[str, str]]:
        if any(run in names for run, _ in self.listed):
            return [(system, run) for run, system in self.listed if run in names]
        return list(self.patterns)


class OfRuns(Replicates):
    """Replicates with the system of each run: run -> system."""

    def __init__(self, of: Mapping[str, str]) -> None:
        super().__init__(listed=tuple(of.items()))
        self.of = of

    def systems(self, runs: Iterable[str]) -> dict[str, list[str]]:
        by_system: dict[str, list[str]] = {}
        for run in runs:
            by_system.setdefault(self.of.get(run, run), []).append(run)
        return by_system


def matches(name: str, pattern: str) -> bool:
    """Check if the name of a run matches a pattern; compares as many folders as both have, from the file upwards."""
    both = [text.replace(os.sep, "/").split("/")[::-1] for text in (name, pattern.removeprefix(f".{os.sep}"))]
    return all(fnmatchcase(folder, folder_pattern) for folder, folder_pattern in zip(*both, strict=False))


def read_replicates(source: Any) -> Any:
    """Read replicates from `NAME=pattern`, a file, or a list of these, from a DataFrame, or from a dict: run -> system,
    or system -> pattern or runs. Returns anything else unchanged."""
    if isinstance(source, Replicates):
        return source
    if isinstance(source, Mapping):
        return _systems_of_mapping(source)
    if hasattr(source, "columns"):
        if missing := [name for name in ("run", "system") if name not in source.columns]:
            raise _systems_error(f"no column '{missing[0]}'", "expected the columns run and system")
        pairs = zip(source["run"], source["system"], strict=True)
        return Replicates(listed=[(str(run), str(system)) for run, system in pairs], place="the DataFrame")
    words = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(words, list | tuple) or not all(isinstance(word, str | os.PathLike) for word in words):
        return source
    patterns, listed, files = list[tuple[str, str]](), list[tuple[str, str]](), list[str]()
    for word in words:
        system, equals, pattern = os.fspath(word).partition("=")
        if not equals and not os.path.exists(word) and not is_url(os.fspath(word)) and word != "-":
            raise _systems_error(f"'{word}' is neither a file nor a system and a pattern", SYSTEMS_HINT)
        if not equals or os.path.exists(word):
            from gradedeval.kernel.trec.small_tables import SmallTable  # few evaluations need a table

            hint = "expected lines such as 'bm25-seed1.run bm25'"
            table = SmallTable.read(os.fspath(word), ("run", "system"), hint=hint, words=True)
            table.problems.check()
            listed += [(row.cells["run"], row.cells["system"]) for row in table.rows]
            files.append(os.fspath(word))
        elif not (system.strip() and pattern.strip()):
            raise _systems_error(f"'{word}' is not a system and a pattern", SYSTEMS_HINT)
        else:
            patterns.append((system.strip(), pattern.strip()))
    return Replicates(patterns, listed, ", ".join(files))


def _systems_of_mapping(source: Mapping[Any, Any]) -> Replicates:
    if not source:
        raise _systems_error("has no systems", SYSTEMS_HINT)
    if all(isinstance(value, str) for value in source.values()):
        return OfMapping({str(key): value for key, value in source.items()})
    patterns = []
    for system, runs in source.items():
        names = [runs] if isinstance(runs, str) else list(runs) if isinstance(runs, Iterable) else []
        if not names or not all(isinstance(run, str) for run in names):
            problem = f"{safe_repr(runs)} are not the runs of '{system}'"
            raise _systems_error(problem, "give a list of names, or a pattern")
        patterns += [(str(system), run) for run in names]
    return Replicates(patterns)


def seeds_in_words(systems: Mapping[str, Sequence[str]]) -> str:
    """Describe the systems for a signature: `2 systems of 5 seeds`."""
    counts = sorted({len(runs) for runs in systems.values()})
    of = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{len(systems)} {plural(len(systems), 'system')} of {of} {plural(counts[-1], 'seed')}"


def _systems_error(problem: str, hint: str) -> InputError:
    return InputError(flag.replicates, problem, hint, usage=True)
