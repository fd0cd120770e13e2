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
from gradedeval.errors import InputError, Note, ProblemList, flag
from gradedeval.kernel.options import Options
from gradedeval.kernel.rankings.batch import LAST_RANK, Batch, Documents
from gradedeval.kernel.rankings.docnos import Docnos, TopicCodes
from gradedeval.kernel.rankings.grade import (
    DOCUMENTS,
    NOT_CHECKED,
    ROWS,
    TOPICS,
    Grader,
    OrderCheck,
    PartResult,
    Rows,
    by_rank_note,
    dropped_note,
    grade_by_block,
    grade_whole_topics,
    order_check_of,
)
from gradedeval.kernel.rankings.in_memory import (
    NONE,
    TOO_LARGE,
    Listed,
    dict_ranking,
    frame_ranking,
    id_columns,
    lines_of,
    numeric_column,
    ordered_by_rank,
    readable,
    usual_run,
)
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.trec.blocks import format_of
from gradedeval.kernel.trec.file_formats import RANK, SCORE, TOPIC, field_problem, find_column, is_header
from gradedeval.kernel.trec.line_reader import (
    HEAD,
    KEEP_ONE,
    check_read,
    document,
    duplicate,
    looks_like,
    records,
    settle_duplicates,
)
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
    """What a run retrieved for one topic, in the order listed.

    docnos  bytes; of a dict they may be text
    ranks   as the file states them, where `--ties rank` needs them
    lines   the line (or row) of each document
    types   column 2 of each document, where costs need it
    """

    docnos: list[Any] = field(default_factory=list)
    scores: array[float] | Floats = field(default_factory=lambda: array("d"))
    ranks: array[float] | Floats = field(default_factory=lambda: array("d"))
    lines: array[int] | range = field(default_factory=lambda: array("q"))
    types: list[bytes] = field(default_factory=list)

    def keep(self, positions: list[int]) -> TopicResults:
        """Only the documents at these positions."""
        return TopicResults(
            [self.docnos[position] for position in positions],
            np.asarray(self.scores)[positions] if len(self.scores) else self.scores,
            np.asarray(self.ranks)[positions] if len(self.ranks) else self.ranks,
            array("q", [self.lines[position] for position in positions]),
            [self.types[position] for position in positions] if self.types else [],
        )


@dataclass
class Run:
    """One run.

    held         its documents, or their columns where they need no further look
    tag          the sixth column
    notes        what was skipped or assumed
    lines        the line (or row) of each document of columns; none: they count within topics
    order_check  the check of its order
    """

    place: str
    held: dict[bytes, TopicResults] | Listed
    tag: str = ""
    notes: list[str] = field(default_factory=list)
    lines: Sequence[int] = ()
    order_check: OrderCheck = NOT_CHECKED

    @cached_property
    def topics(self) -> dict[bytes, TopicResults]:
        """topic -> its documents."""
        if not isinstance(self.held, Listed):
            return self.held
        found, begin = {}, 0
        for topic, docnos in zip(self.held.topics, self.held.docnos, strict=True):
            end = begin + len(docnos)
            lines = array("q", self.lines[begin:end]) if self.lines else range(1, len(docnos) + 1)
            found[topic] = TopicResults(list(docnos), self.held.values[begin:end], lines=lines)
            begin = end
        return found

    @property
    def listed(self) -> Listed | None:
        """Its documents as columns, which are graded more quickly, if they are held so."""
        return self.held if isinstance(self.held, Listed) else None

    @property
    def names(self) -> list[bytes]:
        """The topics."""
        return self.held.topics if isinstance(self.held, Listed) else list(self.held)


def read_run(source: Any, options: Options, types: bool = False, place: str = "run") -> Run:
    """A run from whatever holds one in Python: see `evaluate`. Files are read in blocks elsewhere.

    types  keep the type of each document: the column `type` of a DataFrame
    place  what messages call it

    Raises InputError where the source is not a run, and for duplicate documents unless the options keep one.
    """
    by_rank = options.order == "rank"
    ranks = options.ties == "rank" and options.order != "file"
    source = readable(source, "run", place)
    usual = None if ranks or types or by_rank else usual_run(source, place)
    order_check = _order_check(source, usual) if options.by_score else NOT_CHECKED
    if usual is not None:
        return Run(place, usual, lines=() if isinstance(source, Mapping) else lines_of(source), order_check=order_check)
    if isinstance(source, Mapping):
        if by_rank:
            raise InputError(place, "a dict has no ranks", f"{flag.order:rank} needs a column of them", usage=True)
        if types:
            hint = "costs need a file, or a DataFrame with a column 'type'"
            raise InputError(place, "a dict has no document types", hint, usage=True)
        rankings = dict_ranking(source, ranks, place)
    else:
        rankings = frame_ranking(source, ranks, types, place, by_rank)
    run = Run(place, {topic: TopicResults(*columns) for topic, columns in rankings.items()}, order_check=order_check)
    if hasattr(source, "columns") and options.by_score and ordered_by_rank(source):
        run.notes.append(by_rank_note(run.place))
    _drop_duplicates(run, options)
    _check_costs(run, options)
    return run


def run_of_lines(stream: Stream, options: Options, types: bool = False, layout: LineLayout = RUN) -> Run:
    """A run read line by line: the reference that the block reader agrees with, and what reports where a file is wrong.

    types   keep the type of each document: in TREC, column 2
    layout  of its lines
    """
    place, problems = stream.place, ProblemList(stream.place)
    topics: dict[bytes, TopicResults] = {}
    tags: dict[bytes, None] = {}
    kinds: dict[bytes, bytes] = {}
    by_rank = options.order == "rank" or (options.by_score and layout.by_rank)
    by_score = options.by_score and not by_rank
    keeps_ranks = options.order != "file" and options.ties == "rank"
    looked: list[tuple[bytes, bytes, float]] = []
    current, results = None, TopicResults()
    at_topic, at_docno, at_score, at_rank, at_type, at_tag = (
        layout.columns.index(column) if column in layout.columns else -1
        for column in ("topic", "docno", "score", "rank", "type", "tag")
    )
    for number, fields in records(stream, layout, problems, extra=options.extra_fields):
        if (topic := fields[at_topic]) != current:
            current, results = topic, topics.setdefault(topic, TopicResults())
            tags[fields[at_tag] if at_tag >= 0 else b""] = None
        score = score_of(fields[at_score]) if by_score else 0.0
        if score != score:
            problems.add(number, *field_problem("score", fields, number, layout), kind="score")
            continue
        if keeps_ranks or by_rank:
            if (rank := decimal(fields[at_rank])) != rank or abs(rank) > LAST_RANK:
                problems.add(number, *_about_rank(fields, rank, number, layout, options))
                continue
            if keeps_ranks:
                results.ranks.append(rank)  # type: ignore[union-attr]
            score = -rank if by_rank else score
        if options.order != "file":
            results.scores.append(score)  # type: ignore[union-attr]
        if by_score and at_rank >= 0 and len(looked) < ROWS:
            looked.append((topic, fields[at_rank], score))
        if types:
            results.types.append(kinds.setdefault(fields[at_type], fields[at_type]))
        results.docnos.append(fields[at_docno])
        results.lines.append(number)  # type: ignore[union-attr]
    run = Run(
        place, {topic: results for topic, results in topics.items() if results.docnos}, decode(next(iter(tags), b""))
    )
    run.order_check = order_check_of(*zip(*looked, strict=True)) if looked else NOT_CHECKED
    check_read("documents", bool(run.topics), stream, layout, problems, options.lenient, run.notes)
    _drop_duplicates(run, options)
    _check_costs(run, options)
    return run


def _about_rank(fields: list[bytes], rank: float, line: int, layout: LineLayout, options: Options) -> tuple[str, str]:
    """What is wrong with a rank, and what cures it."""
    token = fields[layout.columns.index("rank")]
    if rank == rank:
        return f"rank {decode(token)} is too large", TOO_LARGE
    if is_header(fields, line, layout):
        return field_problem("rank", fields, line, layout)
    hint = "ranks order this run, which has no scores" if layout.by_rank else f"{flag.ties:rank} needs ranks"
    hint = f"{flag.order:rank} needs ranks" if options.order == "rank" else hint
    return f"rank '{decode(token)}' is not a number", hint


def score_of(token: bytes) -> float:
    """As `decimal`, but quicker: `float` first, then a second look at what only `float` accepts."""
    try:
        score = float(token)
    except ValueError:
        return np.nan
    return score if score - score == 0 and b"_" not in token else np.nan


def _check_costs(run: Run, options: Options) -> None:
    """Raise InputError for types that have no cost, at the first line of each."""
    if options.costs is None:
        return
    first: dict[bytes, int] = {}
    for results in run.topics.values():
        for kind in set(results.types) - options.costs.of.keys():
            line = results.lines[results.types.index(kind)]
            first[kind] = min(line, first.get(kind, line))
    problems = ProblemList(run.place)
    for kind, line in first.items():
        problems.add(line, f"type '{decode(kind)}' has no cost", f"add it to {options.costs.place}")
    problems.check()


def _drop_duplicates(run: Run, options: Options) -> None:
    """Keep one document of each docno in a topic, and add a note about the others; or raise InputError."""
    problems = ProblemList(run.place)
    dropped = 0
    for topic, results in run.topics.items():
        from_dict = isinstance(results.lines, range) and isinstance(results.docnos[0] if results.docnos else "", str)
        if from_dict or len(set(results.docnos)) == len(results.docnos):  # the text keys of a dict are distinct
            continue

        def repeated(position: int, first: int, topic: bytes = topic, results: TopicResults = results) -> None:
            if options.duplicates not in ("first", "last"):
                what = duplicate(document(results.docnos[position], topic), results.lines[first])
                problems.add(results.lines[position], what, KEEP_ONE, kind="duplicate-document")

        kept = sorted(settle_duplicates(results.docnos, options.duplicates, repeated).values())
        dropped += len(results.docnos) - len(kept)
        run.topics[topic] = results.keep(kept)
    problems.check()
    if dropped:
        run.notes.append(dropped_note(run.place, dropped, options))


# Topics in lists, as one part of a run.


@dataclass(eq=False, repr=False)
class ListedTopics:
    """Topics of a run in lists; one that the run lacks has no documents."""

    run: Run
    topics: list[bytes]

    def grade(self, grader: Grader) -> PartResult[Batch]:
        return PartResult(list(grader.batches(self.documents(grader))), dict.fromkeys(self.topics), tag=self.run.tag)

    def documents(self, grader: Grader) -> Documents:
        """The documents of these topics as columns, with the codes of their grades."""
        if self.run.listed is not None:
            listed = self.run.listed.select(self.topics)
            return self._joined(grader, listed.docnos, listed.values)
        rankings = [self.run.topics.get(topic) or TopicResults() for topic in self.topics]
        types = sorted({kind for ranking in rankings for kind in ranking.types})
        kind_of = {kind: number for number, kind in enumerate(types)}
        joined = self._joined(
            grader,
            [ranking.docnos for ranking in rankings],
            _concatenated([ranking.scores for ranking in rankings]),
            _concatenated([ranking.ranks for ranking in rankings]),
        )
        if not types:
            return joined
        kind = np.array([kind_of[kind] for ranking in rankings for kind in ranking.types], np.int64)
        return replace(joined, types=types, kind=kind)

    def _joined(
        self, grader: Grader, docnos: list[list[Any]], scores: Floats, stated: Floats | None = None
    ) -> Documents:
        """The documents with the codes of their grades, their scores, and the ranks that the run states."""
        options = grader.options
        by_score = options.order != "file"
        every: list[Any] = []  # few runs have ties that matter

        def named(positions: Ints) -> Docnos:
            if not every:
                every.extend(chain.from_iterable(docnos))
            names = (every[position] for position in positions.tolist())
            return Docnos.of([encode(name) if isinstance(name, str) else name for name in names])

        return Documents(
            self.topics,
            np.array([len(own) for own in docnos], dtype=np.int64),
            self._codes(grader, docnos),
            scores if by_score else None,
            stated if by_score and options.ties == "rank" else None,
            named,
        )

    def _codes(self, grader: Grader, docnos: list[list[Any]]) -> NDArray[Any]:
        """documents: the codes of their grades. Those of a run that lists the same as the one before, as where a model
        ranks the same candidates anew, are not looked up again."""
        qrels, unjudged = grader.qrels, len(grader.qrels.labels)
        (topics, before), codes = qrels._last
        if before == docnos and topics == self.topics:
            return codes
        # The qrels become a dict when they are first asked for, which takes time and memory.
        kinds = {type(own[0]) for own in docnos if own}
        known: Any = {kind: qrels._text_codes if issubclass(kind, str) else qrels.codes for kind in kinds}
        none: dict[Any, int] = {}
        otherwise = repeat(unjudged)
        graded = chain.from_iterable(
            map(known[type(own[0])].get(topic, none).get, own, otherwise)
            for topic, own in zip(self.topics, docnos, strict=True)
            if own
        )
        # Bytes are the quickest way from many small numbers to an array.
        small = np.min_scalar_type(unjudged + 1)
        codes = np.frombuffer(bytes(graded), np.uint8) if unjudged < 255 else np.fromiter(graded, small)
        if sum(map(len, docnos)) <= grader.limits.cells:
            # Where each run lists others, to keep them would cost more than it gains: all are kept of the second alike.
            qrels._last = (self.topics, docnos if before[:1] == docnos[:1] else docnos[:1]), codes
        return codes


def _concatenated(columns: list[Any]) -> Floats:
    return np.concatenate([NONE, *columns], dtype=np.float64)


def _order_check(source: Any, usual: Listed | None) -> OrderCheck:
    """A look at the first documents of a dict, or of a DataFrame; where that states no ranks, of what is read of it."""
    if not hasattr(source, "columns"):
        return order_check_of_dict(source)
    if usual is None or find_column(source.columns, RANK) is not None:
        return order_check_of_frame(source)
    return order_check_of_scores(usual.topics, np.fromiter(map(len, usual.docnos), np.int64), usual.values)


ALIKE = 5
"""Documents of a topic without ranks that are listed from the lowest score up, which chance does once in 120 times."""


def order_check_without_ranks(rankings: Iterable[Sequence[float]]) -> OrderCheck:
    """A look at the first scores of some topics, as listed. Only where all topics rise, and by enough documents, is
    that no chance: a list without ranks may be in no order."""
    looked = 0
    for scores in rankings:
        if len(scores) < ALIKE:
            continue
        looked += 1
        if not (scores[0] < scores[-1] and all(map(le, scores, scores[1:]))):
            return OrderCheck(looked, stated=False)
    return OrderCheck(looked, looked, stated=False)


def order_check_of_frame(frame: Any) -> OrderCheck:
    """A look at the first rows of a DataFrame, or of columns of that form, that has scores."""
    names = tuple(frame.columns)
    topic, rank, score = (find_column(names, known) for known in (TOPIC, RANK, SCORE))
    if topic is None or score is None:
        return NOT_CHECKED
    head = frame.head(ROWS) if hasattr(frame, "head") else frame
    topics, ranks, scores = (
        list[Any]() if name is None else getattr(head[name], "tolist", list)()[:ROWS] for name in (topic, rank, score)
    )
    try:
        if rank is not None:
            return order_check_of(topics, ranks, map(float, scores))
        by_topic: dict[Any, list[float]] = {}
        for own, value in zip(topics, map(float, scores), strict=True):
            by_topic.setdefault(own, []).append(value)
        return order_check_without_ranks(by_topic.values())
    except (OverflowError, TypeError, ValueError):  # who reads the column says what is wrong
        return NOT_CHECKED


def order_check_of_scores(topics: list[bytes], size: Ints, score: Floats) -> OrderCheck:
    """The same of columns without ranks, in stretches of one topic."""
    by_topic, begin, first = dict[bytes, list[float]](), 0, score[:ROWS]
    for name, count in zip(topics[:ROWS], size[:ROWS].tolist(), strict=True):
        if begin >= len(first):
            break
        by_topic.setdefault(name, []).extend(first[begin : begin + count].tolist())
        begin += count
    return order_check_without_ranks(by_topic.values())


def order_check_of_dict(source: Any) -> OrderCheck:
    """A look at the first documents of the first topics of a dict, whose order is that in which it was filled."""
    if not isinstance(source, Mapping):
        return NOT_CHECKED
    try:
        return order_check_without_ranks(
            list(islice(one.values(), DOCUMENTS)) for one in islice(source.values(), TOPICS)
        )
    except (AttributeError, OverflowError, TypeError, ValueError):  # it is no dict of scores, and who reads it says so
        return NOT_CHECKED


# A run in a DataFrame or a file whose text Arrow holds: it goes the way of a block of lines.


@dataclass(eq=False, repr=False)
class ArrowRun:
    """A run as columns; the one part of itself.

    topics  the topic of each stretch of documents with one topic
    size    stretches: how many documents
    score   documents; None where they are listed in their order
    """

    topics: list[bytes]
    size: Ints
    docno: Text
    score: Floats | None
    order_check: OrderCheck

    def grade(self, grader: Grader) -> PartResult[Batch]:
        """Raises NeedsLineReader where repeated documents are an error."""
        unjudged, topics = len(grader.qrels.labels), TopicCodes(grader.limits)
        numbers = topics.numbers(self.topics)
        rows = Rows(
            topics.names,
            numbers,
            self.size,
            np.full(len(self.docno.start), unjudged, dtype=np.min_scalar_type(unjudged + 1)),
            self.docno.hashes(),
            self.docno.start,
            self.docno.length,
            self.score,
            None,
            lambda start, length: self.docno.buffer[start : start + length].tobytes(),
            buffer=self.docno.buffer,
            order_check=self.order_check,
        )
        return grade_whole_topics(rows, topics, grader)


def arrow_run(source: Any, options: Options, place: str = "run") -> ArrowRun | None:
    """The columns of a run in a DataFrame or a file; None of any other, and where ranks order it."""
    names = tuple(getattr(source, "columns", ()))  # a Series has none
    if (ids := id_columns(source, names, place)) is None or (scores := find_column(names, SCORE)) is None:
        return None
    topic, docno = ids
    if options.order == "file":
        return ArrowRun(*topic.stretches(), docno, None, NOT_CHECKED)
    by_rank = options.ties == "rank" or options.order == "rank"
    score = None if by_rank else numeric_column(source, scores, place)
    if score is None:
        return None
    # Where the file states no ranks, what is looked at is read already.
    plain = find_column(names, RANK) is None
    topics, size = topic.stretches()
    order_check = order_check_of_scores(topics, size, score) if plain else order_check_of_frame(source)
    return ArrowRun(topics, size, docno, score, order_check)


def json_run(stream: Stream, options: Options) -> ArrowRun | None:
    """The columns of a run in JSON, topic -> docno -> score; None of any other, where ranks are asked for, and where
    one of documents that repeat is to be kept: names that repeat are an error in JSON."""
    if not options.by_score or options.ties == "rank" or options.duplicates in ("first", "last"):
        return None
    from gradedeval.kernel.trec.text_columns import nested_numbers  # few files are such

    if (found := nested_numbers(stream)) is None:
        return None
    begins = np.cumsum(found.size) - found.size
    first = [
        found.value[begin : begin + min(size, DOCUMENTS)].tolist()
        for begin, size in zip(begins[:TOPICS].tolist(), found.size[:TOPICS].tolist(), strict=True)
    ]
    return ArrowRun(found.topics, found.size, found.docno, found.value, order_check_without_ranks(first))


# A run whose columns are all at hand, to be looked at more than once.


@dataclass(eq=False, repr=False)
class RunColumns:
    """The documents of a run, no two of a topic alike, topic after topic and as listed within; the one part of itself.

    rows      their columns; ranks are those that the run states, nan where one is no number
    lines_of  the lines of all documents: few are asked for
    graded    the qrels that the documents met last, and the columns with the codes of their grades
    """

    rows: Rows
    lines_of: Callable[[], Ints]
    graded: tuple[Qrels, Rows] | None = None

    @classmethod
    def of_topics(cls, topics: Mapping[bytes, TopicResults]) -> RunColumns:
        """The same of topics in lists."""
        held = list(topics.values())
        docnos = [docno for results in held for docno in results.docnos]
        buffer, start, length, hashed = text_hashes(docnos)
        size = np.array([len(results.docnos) for results in held], dtype=np.int64)
        lines = [line for results in held for line in results.lines]
        rows = Rows(
            list(topics),
            np.arange(len(topics)),
            size,
            np.zeros(len(docnos), dtype=np.uint8),
            hashed,
            start,
            length,
            _concatenated([results.scores for results in held]),
            _concatenated([results.ranks for results in held]),
            lambda start, length: buffer[start : start + length].tobytes(),
            buffer=buffer,
        )
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
        """documents from the second on: whether the one before is of the same topic."""
        follows: Bools = self.rows.topic_of[1:] == self.rows.topic_of[:-1]
        return follows

    def bounds(self) -> list[tuple[int, int]]:
        """topics: where the documents begin and end."""
        return list(zip(self.begins.tolist(), (self.begins + self.rows.counts).tolist(), strict=True))

    def ascending(self, values: Floats) -> Ints | slice:
        """The documents by a value within each topic, the least first, nan last, equal ones as listed."""
        if not ((values[1:] < values[:-1]) & self.follows).any() and not np.isnan(values).any():
            return slice(None)  # as most runs are listed
        order = np.argsort(values, kind="stable")
        small = self.rows.topic_of.astype(np.min_scalar_type(len(self.topics)))  # numpy sorts small integers by radix
        return order[np.argsort(small[order], kind="stable")]

    def grade(self, grader: Grader) -> PartResult[Batch]:
        if self.graded is None or self.graded[0] is not grader.qrels:
            unjudged, topics = len(grader.qrels.labels), TopicCodes(grader.limits)
            topics.numbers(self.rows.topics)
            code = np.full(len(self), unjudged, dtype=np.min_scalar_type(unjudged + 1))
            self.graded = grader.qrels, grade_by_block(replace(self.rows, code=code), topics, grader)[0]
        rows = self.graded[1]
        return PartResult(list(grader.batches(grader.countable(rows.documents()))), dict.fromkeys(rows.topics))


# A run in the place of the qrels, and the qrels in that of the run: an error, where the content says so.


FEW_GRADES = 10
"""Distinct grades that qrels have at most: the run's values, to be taken for grades."""


HIGHEST = 100
"""A run's values beyond this are not grades."""


MANY = 10
"""More distinct values than these are taken for scores, where the run has few and whole ones."""


def check_files_swapped(run: Any, qrels: Any) -> None:
    """Raise InputError where two files have the fields of each other."""
    if all(is_path(source) and is_named(source) for source in (run, qrels)):
        check_fields_swapped(Source(run), Source(qrels))


def check_fields_swapped(run: Source, qrels: Source) -> None:
    """Raise InputError where the run has the fields of qrels, and the qrels those of a run."""
    if not looks_like(first_bytes(qrels, HEAD), RUN) or _is_document(qrels):
        return
    what = f"looks like a run ({RUN.width} fields per line)"
    head = first_bytes(run, HEAD)
    if looks_like(head, RUN):
        raise InputError(qrels.place, f"{what}, as does {run.place}", "the qrels file comes last")
    if looks_like(head, QRELS):
        what += f", and {run.place} like qrels ({QRELS.width} fields per line)"
        raise InputError(qrels.place, what, "swap them: the order is RUN... QRELS")


def check_not_run(qrels: Any, hint: str) -> None:
    """Raise InputError where a file that is to hold judgments has the fields of a run; `hint` is what belongs there."""
    if not (is_path(qrels) and is_named(qrels)):
        return
    source = Source(qrels)
    if looks_like(first_bytes(source, HEAD), RUN) and not _is_document(source):
        raise InputError(source.place, f"looks like a run ({RUN.width} fields per line)", hint)


def _is_document(source: Source) -> bool:
    """Whether a file is of a format such as LETOR, whose lines may have any number of fields."""
    with closing(Stream(source)) as stream:
        try:
            return isinstance(format_of(stream, "qrels"), WholeFile)
        except InputError:
            return False


def check_values_swapped(run: Any, qrels: Qrels, options: Options) -> None:
    """Raise InputError where the numbers of the qrels are such as scores are, and those of the run such as grades are;
    of few numbers, a note of the qrels.

    Only of what looks the same as a run and as qrels: dicts, JSON, columns called `score`. Grades may be fractions, and
    scores whole: both together are suspect, unless the run counts down in each topic as ranks do.
    """
    fractions = bool((qrels.labels % 1).any())
    if not qrels.could_be_run or not (fractions or len(qrels.labels) > MANY):
        return
    if options.qrels_format or options.labels or options.subtopics:
        return
    found = _values(run)
    if not found:
        return
    distinct = np.unique(np.concatenate(found))
    count = sum(map(len, found))
    counts = all(len(set(values.tolist())) == len(values) == np.ptp(values) + 1 for values in found)
    if len(found) > 1 and max(map(len, found)) < 3:  # so do a relevant document and another one, and any document alone
        counts = counts and 0 not in distinct and len(qrels.labels) <= MANY
    if fractions and not (distinct % 1).any() and (not counts or _look_like_scores(qrels)):
        what = f"{qrels.place}: grades are fractions, and the run's scores whole numbers"
        qrels.notes.append(Note(what, "are the two swapped? the run comes first", kind="swapped"))
    if len(qrels.labels) <= MANY:
        return
    if np.abs(distinct).max() > HIGHEST or count < max(MANY, 2 * len(distinct)):
        return  # too large, or too few of each, to be grades
    if (distinct % 1).any() or len(distinct) > min(FEW_GRADES, len(qrels.labels)) or counts:
        return
    low, high = f"{qrels.labels[0]:g}", f"{qrels.labels[-1]:g}"
    what = f"looks like a run ({len(qrels.labels)} different grades from {low} to {high}), and the run like qrels"
    hint = "swap them: the run comes first; if they are right, "
    hint += f"add {flag.qrels_format:{qrels.format}}" if qrels.format else "give Qrels(...) of the qrels"
    raise InputError(qrels.place, f"{what} (whole numbers, {len(distinct)} different)", hint, usage=True)


def _look_like_scores(qrels: Qrels) -> bool:
    """Whether no grade occurs twice, and one is a fraction above 1."""
    return len(qrels.labels) == int(qrels.counts.count.sum()) and bool((qrels.labels[qrels.labels % 1 > 0] > 1).any())


def _values(run: Any) -> list[np.ndarray[Any, Any]]:
    """The scores of each topic of a run that has no form of its own; none of any other, or of a broken one."""
    if not (is_file(run) or isinstance(run, Mapping) or hasattr(run, "columns")):
        return []  # an iterator is read once
    try:
        read = _of_file(Source(run)) if is_file(run) else read_run(run, Options())
    except InputError:
        return []  # it is reported where it is scored
    if read is None:
        return []
    if read.listed is not None:
        ends = np.cumsum([len(docnos) for docnos in read.listed.docnos])[:-1]
        topics = np.split(np.asarray(read.listed.values), ends)
    else:
        topics = [np.asarray(results.scores) for results in read.topics.values()]
    return [values for values in topics if len(values)]


def _of_file(source: Source) -> Run | None:
    if source.is_read_once:
        return None
    with closing(Stream(source)) as stream:
        form = format_of(stream, "run")
        if isinstance(form, WholeFile):
            from gradedeval.kernel.trec.documents import read_document

            return read_run(read_document(form.format, stream)[1], Options())
        if form in (RUN, MSMARCO, MSMARCO_RANKS) or form.by_rank:
            return None
        return run_of_lines(stream, Options(), layout=form)
