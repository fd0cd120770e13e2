"""Runs: the documents that a system retrieved for each topic, read line by line or from a dict or DataFrame."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, repeat
from operator import le
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.errors import InputError, Note, ProblemList, either, flag
from gradedeval.kernel.options import Options
from gradedeval.kernel.rankings import grade as grading
from gradedeval.kernel.rankings import in_memory
from gradedeval.kernel.rankings.batch import LAST_RANK, Batch, Documents
from gradedeval.kernel.rankings.docnos import Docnos, TopicCodes
from gradedeval.kernel.rankings.in_memory import Listed, lines_of
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.trec import file_formats, line_reader
from gradedeval.kernel.trec.blocks import format_of
from gradedeval.kernel.trec.file_formats import RANK, SCORE, TOPIC, TableColumns
from gradedeval.kernel.trec.line_reader import HEAD, looks_like
from gradedeval.kernel.trec.lines import (
    MSMARCO,
    MSMARCO_RANKS,
    QRELS,
    RUN,
    LineLayout,
    WholeFile,
    decimal,
    decode,
    encode,
)
from gradedeval.kernel.trec.stream import Source, Stream, first_bytes, is_file, is_named, is_path
from gradedeval.kernel.trec.text_columns import Text
from gradedeval.kernel.trec.tokenizer import text_hashes


@dataclass
class TopicResults:
    """The documents that a run retrieved for a topic, in the order listed.

    docnos  bytes; in a dict they may be text
    ranks   ranks stated in the file, if `--ties rank` needs them
    lines   the line (or row) of each document
    types   column 2 of each document, if costs need it
    chunks  the chunk of each document, if its id breaks ties
    """

    docnos: list[Any] = field(default_factory=list)
    scores: array[float] | Floats = field(default_factory=lambda: array("d"))
    ranks: array[float] | Floats = field(default_factory=lambda: array("d"))
    lines: array[int] | range = field(default_factory=lambda: array("q"))
    types: list[bytes] = field(default_factory=list)
    chunks: list[bytes] = field(default_factory=list)

    def keep(self, positions: list[int]) -> TopicResults:
        """Return only the documents at these positions."""
        return TopicResults(
            [self.docnos[position] for position in positions],
            np.asarray(self.scores)[positions] if len(self.scores) else self.scores,
            np.asarray(self.ranks)[positions] if len(self.ranks) else self.ranks,
            array("q", [self.lines[position] for position in positions]),
            [self.types[position] for position in positions] if self.types else [],
            [self.chunks[position] for position in positions] if self.chunks else [],
        )


@dataclass
class Run:
    """A run.

    held         its documents by topic, or as columns if of usual content
    tag          the sixth column
    notes        notes on skipped lines and assumptions
    lines        the line (or row) of each document of columns; empty: counted within topics
    order_check  the check of its order
    changed      number of chunks whose document has another id
    own          number of documents left out because they have the id of their topic
    by_rank      whether it has ranks and no scores
    numbered     whether its topics have no names, and are counted
    """

    place: str
    held: dict[bytes, TopicResults] | Listed
    tag: str = ""
    notes: list[str] = field(default_factory=list)
    lines: Sequence[int] = ()
    order_check: grading.OrderCheck = grading.NOT_CHECKED
    changed: int = 0
    own: int = 0
    by_rank: bool = False
    numbered: bool = False

    @cached_property
    def topics(self) -> dict[bytes, TopicResults]:
        """topic -> its documents."""
        if not isinstance(self.held, Listed):
            return self.held
        results, begin = {}, 0
        for topic, docnos in zip(self.held.topics, self.held.docnos, strict=True):
            end = begin + len(docnos)
            lines = array("q", self.lines[begin:end]) if self.lines else range(1, len(docnos) + 1)
            results[topic] = TopicResults(list(docnos), self.held.values[begin:end], lines=lines)
            begin = end
        return results

    @property
    def listed(self) -> Listed | None:
        """Its documents as columns, which are graded faster; None if held by topic."""
        return self.held if isinstance(self.held, Listed) else None

    @property
    def empty(self) -> list[bytes]:
        """The topics for which nothing was returned."""
        if isinstance(self.held, Listed):
            if all(self.held.docnos):
                return []
            return [topic for topic, docnos in zip(self.held.topics, self.held.docnos, strict=True) if not docnos]
        return [topic for topic, results in self.held.items() if not results.docnos]

    @property
    def names(self) -> list[bytes]:
        """The ids of the topics."""
        return self.held.topics if isinstance(self.held, Listed) else list(self.held)


def read_run(source: Any, options: Options, types: bool = False, place: str = "run") -> Run:
    """Read a run from a Python object, as in `evaluate`. Files are read in blocks elsewhere.

    types  whether to keep the type of each document: the column `type` of a DataFrame
    place  the name of the run in messages

    Raises InputError if the source is not a run, and for duplicate documents unless the options keep one.
    """
    by_rank = options.order == "rank"
    ranks = options.ties == "rank" and options.order != "file"
    source = in_memory.readable(source, "run", place)
    changes = bool(options.collapse) or options.ignore_identical_ids
    usual = None if ranks or types or by_rank or changes else in_memory.usual_run(source, place)
    order_check = _order_check(source, usual) if options.by_score else grading.NOT_CHECKED
    if usual is not None:
        lines = () if isinstance(source, Mapping) else lines_of(source)
        numbered = isinstance(source, TableColumns) and source.numbered
        return Run(place, usual, lines=lines, order_check=order_check, numbered=numbered)
    if isinstance(source, Mapping):
        if by_rank:
            raise InputError(place, "a dict has no ranks", f"{flag.order:rank} needs a column of them", usage=True)
        if types:
            hint = "costs need a file, or a DataFrame with a column 'type'"
            raise InputError(place, "a dict has no document types", hint, usage=True)
        rankings = in_memory.dict_ranking(source, ranks, place)
    else:
        rankings = in_memory.frame_ranking(source, ranks, types, place, by_rank)
    run = Run(place, {topic: TopicResults(*columns) for topic, columns in rankings.items()}, order_check=order_check)
    run.by_rank = hasattr(source, "columns") and in_memory.ordered_by_rank(source)
    run.numbered = isinstance(source, TableColumns) and source.numbered
    if run.by_rank and options.by_score:
        run.notes.append(grading.by_rank_note(run.place))
    _settle_documents(run, options)
    return run


def run_of_lines(stream: Stream, options: Options, types: bool = False, layout: LineLayout = RUN) -> Run:
    """Read a run line by line: the reference for the block reader, and the source of messages on bad lines.

    types   whether to keep the type of each document: column 2 in TREC's format
    layout  the layout of its lines
    """
    place, problems = stream.place, ProblemList(stream.place)
    topics: dict[bytes, TopicResults] = {}
    tags: dict[bytes, None] = {}
    kinds: dict[bytes, bytes] = {}
    by_rank = options.order == "rank" or (options.by_score and layout.by_rank)
    by_score = options.by_score and not by_rank
    keeps_ranks = options.order != "file" and options.ties == "rank"
    sampled: list[tuple[bytes, bytes, float]] = []
    current, results = None, TopicResults()
    topic_at, docno_at, score_at, rank_at, type_at, tag_at = (
        layout.columns.index(column) if column in layout.columns else -1
        for column in ("topic", "docno", "score", "rank", "type", "tag")
    )
    for number, fields in line_reader.records(stream, layout, problems, extra=options.extra_fields):
        if (topic := fields[topic_at]) != current:
            current, results = topic, topics.setdefault(topic, TopicResults())
            tags[fields[tag_at] if tag_at >= 0 else b""] = None
        score = score_of(fields[score_at]) if by_score else 0.0
        if score != score:
            problems.add(number, *file_formats.field_problem("score", fields, number, layout), kind="score")
            continue
        if keeps_ranks or by_rank:
            if (rank := decimal(fields[rank_at])) != rank or abs(rank) > LAST_RANK:
                problems.add(number, *_about_rank(fields, rank, number, layout, options))
                continue
            if keeps_ranks:
                results.ranks.append(rank)  # type: ignore[union-attr]
            score = -rank if by_rank else score
        if options.order != "file":
            results.scores.append(score)  # type: ignore[union-attr]
        if by_score and rank_at >= 0 and len(sampled) < grading.ROWS:
            sampled.append((topic, fields[rank_at], score))
        if types:
            results.types.append(kinds.setdefault(fields[type_at], fields[type_at]))
        results.docnos.append(fields[docno_at])
        results.lines.append(number)  # type: ignore[union-attr]
    run = Run(
        place, {topic: results for topic, results in topics.items() if results.docnos}, decode(next(iter(tags), b""))
    )
    run.order_check = grading.order_check_of(*zip(*sampled, strict=True)) if sampled else grading.NOT_CHECKED
    line_reader.check_read("documents", bool(run.topics), stream, layout, problems, options.lenient, run.notes)
    _settle_documents(run, options)
    return run


def _about_rank(fields: list[bytes], rank: float, line: int, layout: LineLayout, options: Options) -> tuple[str, str]:
    """Return the problem of a rank, and the hint."""
    token = fields[layout.columns.index("rank")]
    if rank == rank:
        return f"rank {decode(token)} is too large", in_memory.TOO_LARGE
    if file_formats.is_header(fields, line, layout):
        return file_formats.field_problem("rank", fields, line, layout)
    hint = "ranks order this run, which has no scores" if layout.by_rank else f"{flag.ties:rank} needs ranks"
    hint = f"{flag.order:rank} needs ranks" if options.order == "rank" else hint
    return f"rank '{decode(token)}' is not a number", hint


def score_of(token: bytes) -> float:
    """Parse a score as `decimal`, but faster: with `float` first, and a check of text that only `float` accepts."""
    try:
        score = float(token)
    except ValueError:
        return np.nan
    return score if score - score == 0 and b"_" not in token else np.nan


def _settle_documents(run: Run, options: Options) -> None:
    """Settle duplicates, fold chunks, leave out documents with the id of their topic if requested, and check that all
    types of documents have a cost."""
    _drop_duplicates(run, options)
    if options.collapse is not None:
        from gradedeval.kernel.rankings.chunks import fold_run  # most runs are of documents

        fold_run(run, options.collapse, options)
    if options.ignore_identical_ids:
        _leave_out_own(run)
    _check_costs(run, options)


def _leave_out_own(run: Run) -> None:
    """Leave out the documents that have the id of their topic."""
    for topic, results in run.topics.items():
        own = [docno in (topic, decode(topic)) for docno in results.docnos]
        if any(own):
            run.own += sum(own)
            run.topics[topic] = results.keep([position for position, is_own in enumerate(own) if not is_own])


def _check_costs(run: Run, options: Options) -> None:
    """Raise InputError for types without a cost, at the first line of each."""
    if options.costs is None:
        return
    first: dict[bytes, int] = {}
    for results in run.topics.values():
        for kind, line in zip(results.types, results.lines, strict=True):
            if kind not in options.costs.of:
                first[kind] = min(line, first.get(kind, line))
    problems = ProblemList(run.place)
    for kind, line in first.items():
        problems.add(line, f"type '{decode(kind)}' has no cost", f"add it to {options.costs.place}")
    problems.check()


def _drop_duplicates(run: Run, options: Options) -> None:
    """Keep one document of each docno in a topic, and add a note on the others; or raise InputError."""
    problems = ProblemList(run.place)
    dropped = 0
    for topic, results in run.topics.items():
        from_dict = isinstance(results.lines, range) and isinstance(results.docnos[0] if results.docnos else "", str)
        if from_dict or len(set(results.docnos)) == len(results.docnos):  # keys of a dict are distinct
            continue

        def repeated(position: int, first: int, topic: bytes = topic, results: TopicResults = results) -> None:
            if options.duplicates not in ("first", "last"):
                problem = line_reader.duplicate(
                    line_reader.document(results.docnos[position], topic), results.lines[first]
                )
                problems.add(results.lines[position], problem, line_reader.KEEP_ONE, kind="duplicate-document")

        positions = sorted(line_reader.settle_duplicates(results.docnos, options.duplicates, repeated).values())
        dropped += len(results.docnos) - len(positions)
        run.topics[topic] = results.keep(positions)
    problems.check()
    if dropped:
        run.notes.append(grading.dropped_note(run.place, dropped, options))


# Topics in lists, as one part of a run.


@dataclass(eq=False, repr=False)
class ListedTopics:
    """Topics of a run in lists; a topic that the run lacks has no documents."""

    run: Run
    topics: list[bytes]

    def grade(self, grader: grading.Grader) -> grading.PartResult[Batch]:
        return grading.PartResult(
            list(grader.batches(self.documents(grader))), dict.fromkeys(self.topics), tag=self.run.tag
        )

    def documents(self, grader: grading.Grader) -> Documents:
        """Return the documents of these topics as columns, with the codes of their grades."""
        if self.run.listed is not None:
            listed = self.run.listed.select(self.topics)
            return self._joined(grader, listed.docnos, listed.values)
        rankings = [self.run.topics.get(topic) or TopicResults() for topic in self.topics]
        types = sorted({kind for ranking in rankings for kind in ranking.types})
        kind_of = {kind: number for number, kind in enumerate(types)}
        scores, ranks = (_concatenated([getattr(each, name) for each in rankings]) for name in ("scores", "ranks"))
        joined = self._joined(grader, [ranking.docnos for ranking in rankings], scores, ranks)
        if any(ranking.chunks for ranking in rankings):
            joined.tie_ids = Docnos.of([chunk for ranking in rankings for chunk in ranking.chunks]).__getitem__
        if not types:
            return joined
        kind = np.array([kind_of[kind] for ranking in rankings for kind in ranking.types], np.int64)
        return replace(joined, types=types, kind=kind)

    def _joined(
        self, grader: grading.Grader, docnos: list[list[Any]], scores: Floats, stated: Floats | None = None
    ) -> Documents:
        """Build the documents with codes of grades, scores, and stated ranks."""
        options = grader.options
        by_score = options.order != "file"
        all_docnos: list[Any] = []  # filled on demand: few runs have ties that matter

        def docnos_at(positions: Ints) -> Docnos:
            if not all_docnos:
                all_docnos.extend(chain.from_iterable(docnos))
            names = (all_docnos[position] for position in positions.tolist())
            return Docnos.of([encode(name) if isinstance(name, str) else name for name in names])

        return Documents(
            self.topics,
            np.array([len(topic_docnos) for topic_docnos in docnos], dtype=np.int64),
            self._codes(grader, docnos),
            scores if by_score else None,
            stated if by_score and options.ties == "rank" else None,
            docnos_at,
        )

    def _codes(self, grader: grading.Grader, docnos: list[list[Any]]) -> NDArray[Any]:
        """Return the code of each document's grade: those of the previous run if it lists the same documents, as when a
        model reranks the same candidates."""
        qrels, unjudged = grader.qrels, len(grader.qrels.labels)
        (topics, last_docnos), codes = qrels._last
        if last_docnos == docnos and topics == self.topics:
            return codes
        # The first access converts the qrels to a dict, which takes time and memory.
        kinds = {type(topic_docnos[0]) for topic_docnos in docnos if topic_docnos}
        lookups: Any = {kind: qrels._text_codes if issubclass(kind, str) else qrels.codes for kind in kinds}
        no_codes: dict[Any, int] = {}
        otherwise = repeat(unjudged)
        graded = chain.from_iterable(
            map(lookups[type(topic_docnos[0])].get(topic, no_codes).get, topic_docnos, otherwise)
            for topic, topic_docnos in zip(self.topics, docnos, strict=True)
            if topic_docnos
        )
        # Bytes are the fastest way from many small numbers to an array.
        small = np.min_scalar_type(unjudged + 1)
        codes = np.frombuffer(bytes(graded), np.uint8) if unjudged < 255 else np.fromiter(graded, small)
        if sum(map(len, docnos)) <= grader.limits.cells:
            # Caching would not pay if each run lists other documents: all are cached only after a second similar run.
            qrels._last = (self.topics, docnos if last_docnos[:1] == docnos[:1] else docnos[:1]), codes
        return codes


def _concatenated(columns: list[Any]) -> Floats:
    return np.concatenate([in_memory.NONE, *columns], dtype=np.float64)


def _order_check(source: Any, usual: Listed | None) -> grading.OrderCheck:
    """Check the first documents of a dict or a DataFrame; without stated ranks, of its columns already read."""
    if not hasattr(source, "columns"):
        return order_check_of_dict(source)
    if usual is None or file_formats.find_column(source.columns, RANK) is not None:
        return order_check_of_frame(source)
    return order_check_of_scores(usual.topics, np.fromiter(map(len, usual.docnos), np.int64), usual.values)


ALIKE = 5
"""Minimum documents of a topic without ranks: they rise by chance once in 120 times."""


def order_check_without_ranks(rankings: Iterable[Sequence[float]]) -> grading.OrderCheck:
    """Check the first scores of some topics, as listed. They must rise in all sampled topics: a list without ranks may
    be in no order, and rise by chance."""
    sampled = 0
    for scores in rankings:
        if len(scores) < ALIKE:
            continue
        sampled += 1
        if not (scores[0] < scores[-1] and all(map(le, scores, scores[1:]))):
            return grading.OrderCheck(sampled, stated=False)
    return grading.OrderCheck(sampled, sampled, stated=False)


def order_check_of_frame(frame: Any) -> grading.OrderCheck:
    """Check the first rows of a DataFrame with scores, or of columns with its interface."""
    names = tuple(frame.columns)
    topic, rank, score = (file_formats.find_column(names, accepted) for accepted in (TOPIC, RANK, SCORE))
    if topic is None or score is None:
        return grading.NOT_CHECKED
    head = frame.head(grading.ROWS) if hasattr(frame, "head") else frame
    topics, ranks, scores = (
        list[Any]() if name is None else getattr(head[name], "tolist", list)()[: grading.ROWS]
        for name in (topic, rank, score)
    )
    try:
        if rank is not None:
            return grading.order_check_of(topics, ranks, map(float, scores))
        return _order_check_of_rows(topics, map(float, scores))
    except (OverflowError, TypeError, ValueError):  # the reader of the column reports it
        return grading.NOT_CHECKED


def order_check_of_scores(topics: list[bytes], size: Ints, score: Floats) -> grading.OrderCheck:
    """Check columns without ranks, in stretches of one topic."""
    rows = chain.from_iterable(map(repeat, topics, size.tolist()))
    return _order_check_of_rows(islice(rows, grading.ROWS), score[: grading.ROWS].tolist())


def _order_check_of_rows(topics: Iterable[Any], scores: Iterable[float]) -> grading.OrderCheck:
    by_topic: dict[Any, list[float]] = {}
    for topic, score in zip(topics, scores, strict=True):
        by_topic.setdefault(topic, []).append(score)
    return order_check_without_ranks(by_topic.values())


def order_check_of_dict(source: Any) -> grading.OrderCheck:
    """Check the first documents of the first topics of a dict, in insertion order."""
    try:
        return order_check_without_ranks(
            list(islice(documents.values(), grading.DOCUMENTS)) for documents in islice(source.values(), grading.TOPICS)
        )
    except (AttributeError, OverflowError, TypeError, ValueError):  # not a dict of scores, as its reader reports
        return grading.NOT_CHECKED


# A run in a DataFrame or a file with Arrow text, processed like a block of lines.


@dataclass(eq=False, repr=False)
class ArrowRun:
    """A run as columns, in a single part.

    topics  the topic of each stretch of documents with one topic
    size    stretches: number of documents
    score   documents; None if their order is that of the file
    """

    topics: list[bytes]
    size: Ints
    docno: Text
    score: Floats | None
    order_check: grading.OrderCheck

    def grade(self, grader: grading.Grader) -> grading.PartResult[Batch]:
        """Grade the run. Raises NeedsLineReader if duplicate documents are an error."""
        unjudged, topics, docno = len(grader.qrels.labels), TopicCodes(grader.limits), self.docno
        numbers = topics.numbers(self.topics)
        code = np.full(len(docno.start), unjudged, dtype=np.min_scalar_type(unjudged + 1))
        columns = code, docno.hashes(), docno.start, docno.length, self.score
        rows = grading.Rows(
            topics.names, numbers, self.size, *columns, None, docno.buffer, order_check=self.order_check
        )
        return grading.grade_whole_topics(rows, grader)


def arrow_run(source: Any, options: Options, place: str = "run") -> ArrowRun | None:
    """Return the columns of a run in a DataFrame or a file with Arrow text; None otherwise, or if ranks order it."""
    names = tuple(getattr(source, "columns", ()))  # a Series has none
    if (ids := in_memory.id_columns(source, names, place)) is None or (
        scores := file_formats.find_column(names, SCORE)
    ) is None:
        return None
    topic, docno = ids
    if options.order == "file":
        return ArrowRun(*topic.stretches(), docno, None, grading.NOT_CHECKED)
    by_rank = options.ties == "rank" or options.order == "rank"
    score = None if by_rank else in_memory.numeric_column(source, scores, place)
    if score is None:
        return None
    without_ranks = file_formats.find_column(names, RANK) is None
    topics, size = topic.stretches()
    order_check = order_check_of_scores(topics, size, score) if without_ranks else order_check_of_frame(source)
    return ArrowRun(topics, size, docno, score, order_check)


def json_run(stream: Stream, options: Options) -> ArrowRun | None:
    """Return the columns of a JSON run topic -> docno -> score; None for other files, if ranks are needed, or if the
    options keep one of duplicate documents: names that repeat are an error in JSON."""
    if not options.by_score or options.ties == "rank" or options.duplicates in ("first", "last"):
        return None
    from gradedeval.kernel.trec.text_columns import nested_numbers  # few files are JSON

    if (nested := nested_numbers(stream)) is None:
        return None
    begins = np.cumsum(nested.size) - nested.size
    first = [
        nested.value[begin : begin + min(size, grading.DOCUMENTS)].tolist()
        for begin, size in zip(begins[: grading.TOPICS].tolist(), nested.size[: grading.TOPICS].tolist(), strict=True)
    ]
    return ArrowRun(nested.topics, nested.size, nested.docno, nested.value, order_check_without_ranks(first))


# A run with all columns in memory, for repeated use.


@dataclass(eq=False, repr=False)
class RunColumns:
    """The documents of a run without duplicates, topic after topic and as listed within, in a single part.

    rows      their columns; ranks as stated in the run, nan if not a number
    lines_of  returns the lines of all documents, computed on demand
    graded    the qrels of the last grading, and the graded columns
    """

    rows: grading.Rows
    lines_of: Callable[[], Ints]
    graded: tuple[Qrels, grading.Rows] | None = None

    @classmethod
    def of_topics(cls, topics: Mapping[bytes, TopicResults]) -> RunColumns:
        """Build the columns from topics in lists."""
        rankings = list(topics.values())
        docnos = [docno for results in rankings for docno in results.docnos]
        buffer, start, length, hashed = text_hashes(docnos)
        size = np.array([len(results.docnos) for results in rankings], dtype=np.int64)
        lines = [line for results in rankings for line in results.lines]
        scores, ranks = (_concatenated([getattr(each, name) for each in rankings]) for name in ("scores", "ranks"))
        columns = np.zeros(len(docnos), dtype=np.uint8), hashed, start, length, scores, ranks
        rows = grading.Rows(list(topics), np.arange(len(topics)), size, *columns, buffer)
        return cls(rows, lambda: np.array(lines, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.rows.code)

    @property
    def topics(self) -> list[bytes]:
        return self.rows.topics

    @property
    def scores(self) -> Floats:
        assert self.rows.score is not None
        return np.asarray(self.rows.score, dtype=np.float64)

    @property
    def ranks(self) -> Floats:
        assert self.rows.rank is not None
        return self.rows.rank

    @cached_property
    def begins(self) -> Ints:
        """topics: the first document."""
        begins: Ints = np.cumsum(self.rows.counts) - self.rows.counts
        return begins

    @cached_property
    def lines(self) -> Ints:
        """documents: the line."""
        return self.lines_of()

    @cached_property
    def follows(self) -> Bools:
        """documents from the second on: whether the previous one is of the same topic."""
        follows: Bools = self.rows.topic_of[1:] == self.rows.topic_of[:-1]
        return follows

    def bounds(self) -> list[tuple[int, int]]:
        """Return begin and end of the documents of each topic."""
        return list(zip(self.begins.tolist(), (self.begins + self.rows.counts).tolist(), strict=True))

    def ascending(self, values: Floats) -> Ints | slice:
        """Return the order of documents by a value within each topic: ascending, nan last, equal values as listed."""
        if not ((values[1:] < values[:-1]) & self.follows).any() and not np.isnan(values).any():
            return slice(None)  # as most runs are listed
        order = np.argsort(values, kind="stable")
        small = self.rows.topic_of.astype(np.min_scalar_type(len(self.topics)))  # numpy sorts small integers by radix
        return order[np.argsort(small[order], kind="stable")]

    def grade(self, grader: grading.Grader) -> grading.PartResult[Batch]:
        if self.graded is None or self.graded[0] is not grader.qrels:
            unjudged = len(grader.qrels.labels)
            code = np.full(len(self), unjudged, dtype=np.min_scalar_type(unjudged + 1))
            self.graded = grader.qrels, grading.grade_by_block(replace(self.rows, code=code), grader)[0]
        rows = self.graded[1]
        if grader.options.ignore_identical_ids:
            rows = rows.without_own()
        return grading.PartResult(grader.batches_of(rows), dict.fromkeys(rows.topics), own=rows.own)


# Run and qrels swapped: an error, if the content shows it.

FEW_GRADES = 10
"""Maximum distinct values of a run that may be grades."""

HIGHEST = 100
"""A run's values beyond this are not grades."""

MANY = 10
"""Maximum distinct grades of qrels; more are taken for scores, if the run has few and whole values."""


SCALE = 20
"""Larger grades are on no usual scale."""

FALLING, SURELY_FALLING = 3, 6
"""Minimum pairs of neighbors whose grades fall: of grades beyond `SCALE`, and of any."""


SWAP = either("swap them: the order is RUN... QRELS", "swap them, and give the run first: evaluate(run, qrels)")


def check_swapped(run: Any, qrels: Any, options: Options) -> None:
    """Raise InputError if a run and qrels have the form of each other, as files or as values in Python.

    options  may name formats
    """
    are_files = all(is_path(source) and is_named(source) for source in (run, qrels))
    if are_files:
        check_fields_swapped(Source(run), Source(qrels))
    elif not all(isinstance(source, Mapping) or hasattr(source, "columns") for source in (run, qrels)):
        return  # an iterator is read once
    if is_readable_only_as("qrels", run, options) and is_readable_only_as("run", qrels, options):
        place, name = (Source(qrels).place, Source(run).place) if are_files else ("qrels", "the run")
        raise InputError(place, f"looks like a run, and {name} like qrels", SWAP, kind="swapped-files")


def is_readable_only_as(kind: str, source: Any, options: Options) -> bool:
    """Return whether a source can be read as a run or as qrels, and not as the other. Fields of TREC tell by their
    number: such a file, which may be large, counts as neither."""
    if is_path(source) and any(looks_like(first_bytes(Source(source), HEAD), layout) for layout in (RUN, QRELS)):
        return False
    other = "qrels" if kind == "run" else "run"
    return _is_readable_as(kind, source, options) and not _is_readable_as(other, source, options)


def _is_readable_as(kind: str, source: Any, options: Options) -> bool:
    try:
        if kind == "qrels":
            Qrels(source, subtopics=options.subtopics, format=options.qrels_format, labels=options.labels)
            return True
        if is_path(source):
            return _of_file(Source(source), options.run_format) is not None
        read_run(source, Options())
    except InputError:
        return False
    return True


def check_fields_swapped(run: Source, qrels: Source) -> None:
    """Raise InputError if the run has the fields of qrels, and the qrels have the fields of a run."""
    if not looks_like(first_bytes(qrels, HEAD), RUN) or _is_document(qrels):
        return
    problem = f"looks like a run ({RUN.width} fields per line)"
    head = first_bytes(run, HEAD)
    if looks_like(head, RUN):
        raise InputError(qrels.place, f"{problem}, as does {run.place}", "the qrels file comes last")
    if looks_like(head, QRELS):
        problem += f", and {run.place} like qrels ({QRELS.width} fields per line)"
        raise InputError(qrels.place, problem, SWAP, kind="swapped-files")


def check_not_run(qrels: Any, hint: str) -> None:
    """Raise InputError if a file of judgments has the fields of a run; `hint` describes the expected file."""
    if not (is_path(qrels) and is_named(qrels)):
        return
    source = Source(qrels)
    if looks_like(first_bytes(source, HEAD), RUN) and not _is_document(source):
        raise InputError(source.place, f"looks like a run ({RUN.width} fields per line)", hint)


def _is_document(source: Source) -> bool:
    """Check for a format such as LETOR, whose lines may have any number of fields."""
    with closing(Stream(source)) as stream:
        try:
            return isinstance(format_of(stream, "qrels"), WholeFile)
        except InputError:
            return False


def check_values_swapped(run: Any, qrels: Qrels, options: Options, judged: Any = None) -> None:
    """Raise InputError if the numbers of the qrels resemble scores, and the run's resemble grades; add a note if they
    are few.

    Checks only forms common to runs and qrels: dicts, JSON, columns named `score`. Grades may be fractions, and scores
    whole: both together are suspect, unless the run counts down in each topic as ranks do. So are grades that fall in
    each topic, with a run whose scores are few and tied.

    judged  the qrels as given, whose numbers have types in a dict
    """
    if not qrels.could_be_run:
        return
    fractions, falls = bool((qrels.labels % 1).any()), _falls(qrels)
    of_types = 0 not in qrels.labels and not fractions and _types_of(judged) == {float} and _types_of(run) == {int}
    if not (fractions or falls or of_types or len(qrels.labels) > MANY):
        return
    if options.qrels_format or options.labels or options.subtopics:
        return
    scores = _values(run)
    if not scores:
        if not is_file(run) and is_readable_only_as("qrels", run, options):
            problem = "looks like a run, and the run like qrels"
            raise InputError(qrels.place, problem, SWAP, usage=True, kind="swapped-files")
        return
    distinct, doubt = np.unique(np.concatenate(scores)), ""
    count = sum(map(len, scores))
    counts_down = all(len(set(values.tolist())) == len(values) == np.ptp(values) + 1 for values in scores)
    if len(scores) > 1 and max(map(len, scores)) < 3:  # one or two grades also count down
        counts_down = counts_down and 0 not in distinct and len(qrels.labels) <= MANY
    all_differ = len(qrels.labels) == int(qrels.counts.count.sum())
    like_scores = all_differ and (qrels.labels[qrels.labels % 1 > 0] > 1).any()  # one is a fraction above 1
    if fractions and not (distinct % 1).any() and (not counts_down or like_scores):
        doubt = "grades are fractions, and the run's scores whole numbers"
    are_many = len(qrels.labels) > max(MANY, len(distinct) - 1) and count >= max(MANY, 2 * len(distinct))
    are_few = np.abs(distinct).max() <= HIGHEST and len(distinct) <= FEW_GRADES and not (distinct % 1).any()
    if are_many and are_few and not counts_down:
        low, high = f"{qrels.labels[0]:g}", f"{qrels.labels[-1]:g}"
        raise _swapped(qrels, f"{len(qrels.labels)} different grades from {low} to {high}", distinct)
    are_ties = any(len(np.unique(values)) < len(values) for values in scores)
    are_grades = are_few and distinct[0] >= 0 and distinct[-1] <= FEW_GRADES and are_ties
    if falls and not fractions and are_grades:
        if qrels.labels[-1] > SCALE:
            raise _swapped(qrels, f"its grades fall in each topic, from up to {qrels.labels[-1]:g}", distinct)
        doubt = "grades fall in each topic as scores do, and the run's scores are few whole numbers"
    elif of_types and 0 in distinct:
        doubt = "grades are floats, and the run's scores integers from 0"
    if doubt:
        hint = "are the two swapped? the run comes first"
        qrels.notes.append(Note(f"{qrels.place}: {doubt}", hint, kind="swapped"))


SMALL = 100
"""Maximum numbers of topics, and of documents of each, whose types are looked at."""


def _types_of(values: Any) -> set[type]:
    """Return the types of the numbers in a small dict of dicts; nothing of any other object."""
    if not (type(values) is dict and 0 < len(values) <= SMALL and all(type(each) is dict for each in values.values())):
        return set()
    return {type(number) for each in values.values() for number in list(each.values())[:SMALL]}


def _swapped(qrels: Qrels, evidence: str, scores: Floats) -> InputError:
    """Return the error of qrels that look like a run, with the evidence; `scores`: the different scores of the run."""
    hint = "swap them: the run comes first; if they are right, "
    hint += f"add {flag.qrels_format:{qrels.format}}" if qrels.format else "give Qrels(...) of the qrels"
    problem = f"looks like a run ({evidence}), and the run like qrels (whole numbers, {len(scores)} different)"
    return InputError(qrels.place, problem, hint, usage=True, kind="swapped-files")


def _falls(qrels: Qrels) -> bool:
    """Return whether the grades of each topic are listed from the highest to the lowest, as scores are: all different,
    or beyond `SCALE`."""
    beyond, count = bool(len(qrels.labels) and qrels.labels[-1] > SCALE), qrels.counts.count
    pairs = int(count.sum()) - len(qrels.topics)
    if pairs < (FALLING if beyond else SURELY_FALLING) or (not beyond and bool((count > 1).any())):
        return False
    rises = np.diff(qrels.labels[qrels.columns.code])[np.diff(qrels.columns.index.topic) == 0]
    return not (rises > 0).any() and int((rises < 0).sum()) >= FALLING


def _values(run: Any) -> list[np.ndarray[Any, Any]]:
    """Return the scores of each topic of a run in a form common to runs and qrels; empty for other or invalid runs."""
    if not (is_file(run) or isinstance(run, Mapping) or hasattr(run, "columns")):
        return []  # an iterator is read once
    try:
        parsed = _of_file(Source(run)) if is_file(run) else read_run(run, Options())
    except InputError:
        return []  # scoring reports it
    if parsed is None:
        return []
    if parsed.listed is not None:
        ends = np.cumsum([len(docnos) for docnos in parsed.listed.docnos])[:-1]
        topics = np.split(np.asarray(parsed.listed.values), ends)
    else:
        topics = [np.asarray(results.scores) for results in parsed.topics.values()]
    return [values for values in topics if len(values)]


def _of_file(source: Source, requested: str | None = None) -> Run | None:
    if source.is_read_once:
        return None
    with closing(Stream(source)) as stream:
        form = format_of(stream, "run", requested)
        if isinstance(form, WholeFile):
            from gradedeval.kernel.trec.documents import read_document

            return read_run(read_document(form, stream, "run")[1], Options())
        if form in (RUN, MSMARCO, MSMARCO_RANKS) or form.by_rank:
            return None
        return run_of_lines(stream, Options(), layout=form)
