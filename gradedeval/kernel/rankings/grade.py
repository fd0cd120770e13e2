"""The join: documents of a run are matched with the judgments of their topics, and become batches of grade codes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from operator import gt, lt
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints, by_width
from gradedeval.errors import InputError, Note, flag, plural, shorten
from gradedeval.kernel import parallel
from gradedeval.kernel.options import Options
from gradedeval.kernel.parallel import Limits
from gradedeval.kernel.rankings.batch import LAST_RANK, Batch, Documents, GradeCounts, to_batch
from gradedeval.kernel.rankings.docnos import (
    Docnos,
    TopicBuckets,
    TopicCodes,
    duplicate_candidates,
    hash_join,
    surely_distinct,
)
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.trec.blocks import Block, blocks
from gradedeval.kernel.trec.lines import LineLayout, NeedsLineReader, decode
from gradedeval.kernel.trec.stream import Stream
from gradedeval.kernel.trec.tokenizer import Bytes, Lines, Words, lines_of, text_hashes

Made = TypeVar("Made")
Other = TypeVar("Other")

# The order of a run: whether its scores rise with its ranks, as distances do.

TOPICS, DOCUMENTS = 8, 8
"""Topics of a block, and documents of each, whose ranks are checked: reading all ranks would be slow."""

LEAST = 3
"""Minimum documents of a topic to distinguish its order from chance."""

ROWS = 512
"""Documents checked if topics alternate."""

RISING = "scores rise with the rank, as distances do, so the last document comes first"
"""The note on a run that lists distances."""

RISING_AS_LISTED = "scores rise as listed, as distances do, so the last document comes first"
"""The note on a run without ranks that lists distances."""


RIGHT = f"if they are right, {flag.order:score} silences this note"


@dataclass(eq=False, repr=False)
class OrderCheck:
    """A sample of whether the scores of a run rise with its ranks.

    looked    number of topics sampled whose ranks count up
    rising    number of these topics in which scores rise with the rank
    stated    whether ranks are stated; if not, the order of the list counts as rank
    """

    looked: int = 0
    rising: int = 0
    stated: bool = True

    def notes(self, place: str, options: Options) -> list[Note]:
        """Return a note on a run whose scores rise with the rank, unless the user has chosen the order."""
        if 2 * self.rising <= self.looked or "order" in options.given:
            return []
        if not self.stated:
            hint = f"use {flag.order:file}, or negate the scores ({RIGHT})"
            return [Note(RISING_AS_LISTED, hint, place=place, kind="rising-scores", common=RISING)]
        hint = f"use {flag.order:rank}, or negate the scores ({RIGHT})"
        return [Note(RISING, hint, place=place, kind="rising-scores")]


NOT_CHECKED = OrderCheck()


def order_check_of(topics: Iterable[Any], stated: Iterable[Any], scores: Iterable[float]) -> OrderCheck:
    """Check documents as listed: their topics, stated ranks, and scores."""
    by_topic: dict[Any, list[tuple[float, float]]] = {}
    for topic, rank, score in zip(topics, stated, scores, strict=True):
        try:
            by_topic.setdefault(topic, []).append((float(rank), score))
        except (TypeError, ValueError):
            return NOT_CHECKED  # ranks are words
    looked, rising = 0, 0
    for documents in by_topic.values():
        ranks, values = zip(*documents, strict=True)
        if len(set(ranks)) < len(ranks) or len(ranks) < LEAST:
            continue
        looked += 1
        if not all(map(lt, ranks, ranks[1:])):
            _, values = zip(*sorted(documents), strict=True)
        rising += sum(map(gt, values[1:], values)) > 2 * sum(map(lt, values[1:], values))
    return OrderCheck(looked, rising)


# Parts of a run, and their grader.

FEW_DIVIDED = 16
"""Topics that may be divided among parts before a file counts as interleaved, if they are more than half of all."""


@dataclass(eq=False, repr=False)
class PartResult(Generic[Made]):
    """The result of a part of a run, or of several parts.

    batches      its batches, or their results; a topic in several of them is complete in the last, which counts
    topics       its topics, in order of appearance
    divided      topics with lines in several blocks
    dropped      topic -> number of documents dropped as duplicates
    tag          the sixth column of its first line
    interleaved  whether topics alternate line by line; then the part has no batches
    order_check  the check of its order
    changed      number of chunks whose document has another id
    own          number of documents left out because they have the id of their topic
    """

    batches: list[Made] = field(default_factory=list)
    topics: dict[bytes, None] = field(default_factory=dict)
    divided: set[bytes] = field(default_factory=set)
    dropped: dict[bytes, int] = field(default_factory=dict)
    tag: str = ""
    interleaved: bool = False
    order_check: OrderCheck = NOT_CHECKED
    changed: int = 0
    own: int = 0

    def with_batches(self, batches: list[Other]) -> PartResult[Other]:
        """Replace the batches by results of them."""
        part: Any = self
        return replace(part, batches=batches)

    def add(self, part: PartResult[Made]) -> None:
        """Append the next part."""
        self.batches += part.batches
        self.divided |= part.divided | (self.topics.keys() & part.topics.keys())
        self.topics |= part.topics
        self.dropped |= part.dropped
        self.tag = self.tag or part.tag
        self.interleaved = part.interleaved
        self.changed += part.changed
        self.own += part.own
        first_check, next_check = self.order_check, part.order_check
        stated = first_check.stated and next_check.stated
        self.order_check = OrderCheck(
            first_check.looked + next_check.looked, first_check.rising + next_check.rising, stated
        )

    @property
    def is_interleaved(self) -> bool:
        """Whether topics alternate line by line, judging by all parts so far."""
        return self.interleaved or len(self.divided) > max(FEW_DIVIDED, len(self.topics) // 2)


if TYPE_CHECKING:
    from gradedeval.kernel.rankings.chunks import Chunks

    class RunPart(Protocol):
        """Part of a run: whole topics, or some of their lines, that one process reads and grades by itself."""

        def grade(self, grader: Grader) -> PartResult[Batch]:
            """Return its documents as batches. Raises NeedsLineReader if the line reader must read the run instead."""


@dataclass(eq=False, repr=False)
class Grader:
    """Joins the documents of runs with one qrels under one set of options.

    keep_docnos_for  topics whose docnos must stay in the batches
    keep_ties        whether batches record tied documents
    reads_types      whether batches keep the type of each document, column 2 of a run
    reads_scores     whether batches keep the highest score of each topic
    last_rank        the last rank of batches; None: all ranks
    least_width      minimum width of a topic when batches are sized: the number of labels, if a measure
                     reads a column for each
    ideals           gain table -> ideal rankings of all topics of the qrels, and values that measures derive from them
    both_orders      whether batches have two orders, as some measures compare scores as float32 and others as float64
    gain_of_code     cache: (gain table, gain of unjudged documents) -> gain of each code
    """

    qrels: Qrels
    options: Options
    keep_docnos_for: Container[bytes] = frozenset()
    keep_ties: bool = False
    reads_types: bool = False
    reads_scores: bool = False
    last_rank: int | None = None
    least_width: int = 0
    limits: Limits = field(default_factory=lambda: parallel.LIMITS)
    both_orders: bool = False
    ideals: dict[bytes, tuple[Floats, dict[Any, Any]]] = field(default_factory=dict)
    gain_of_code: dict[tuple[bytes, float], Floats] = field(default_factory=dict)

    @cached_property
    def chunks(self) -> Chunks:
        """The folding of chunks into documents, for runs of chunks."""
        from gradedeval.kernel.rankings.chunks import Chunks  # most runs are of documents

        assert self.options.collapse is not None
        return Chunks(self.options.collapse)

    @cached_property
    def judged(self) -> Bools:
        """code: whether it is judged; unjudged and padding, the last two, are not. In a stratified sample a grade below
        0 means that the document was not sampled."""
        labels, below_too = self.qrels.labels, self.options.negative == "judged" and self.qrels.strata is None
        judged = ~np.isnan(labels) if below_too else labels >= 0  # nan: filled
        return np.append(judged, [False, False])

    @cached_property
    def unsampled(self) -> Bools | None:
        """code: whether it was pooled but not sampled; None if no code means that."""
        below = self.qrels.labels < 0
        return np.append(below, [False, False]) if below.any() else None

    def batches(self, documents: Documents) -> Iterator[Batch]:
        """Order and cut documents, and lay them out as topics × ranks, in batches of bounded size."""
        pool = self.qrels.counts_for(documents.topics)
        widths = np.maximum(np.maximum(documents.counts, pool.judged), self.least_width)
        if len(widths) == 1 or len(widths) * int(widths.max(initial=0)) <= self.limits.cells:
            parts: Iterable[tuple[Documents, GradeCounts]] = [(documents, pool)]
        else:
            rows = by_width(widths, self.limits.cells)
            parts = ((documents.select(topics), pool.select(topics)) for topics in rows)
        rules = self.keep_docnos_for, self.keep_ties, self.last_rank, self.reads_scores
        options = replace(self.options, order="float32") if self.both_orders else self.options
        for part, counts in parts:
            batch = to_batch(part, counts, self.judged, options, *rules)
            if self.both_orders:
                double = to_batch(part, counts, self.judged, replace(self.options, order="score"), *rules)
                batch = batch if batch.ranked_alike(double) else replace(batch, float64_batch=double)
            yield batch

    def down_to_last(self, batch: Batch) -> Batch:
        """Return a batch of all ranks without the ranks below `last_rank`."""
        return batch.down_to(self.last_rank, self.judged if self.options.bounds else None)

    def batches_of(self, rows: Rows) -> list[Batch]:
        """Return the batches of graded rows that stand topic after topic, without topics that cannot count: the final
        choice needs the whole run."""
        topics, tie_ids = rows.topics, None if rows.chunks is None else rows.chunks.__getitem__
        documents = Documents(topics, rows.counts, rows.code, rows.score, rows.rank, rows.docnos, tie_ids=tie_ids)
        chosen, unjudged_too = self.options.topics_from, self.options.topics == "run" or not self.qrels.topics
        if chosen is not None or not (unjudged_too or self.qrels.row_of.keys() >= set(topics)):
            countable = [
                number
                for number, topic in enumerate(topics)
                if (unjudged_too or topic in self.qrels.row_of) and (chosen is None or topic in chosen)
            ]
            if len(countable) < len(topics):
                documents = documents.select(np.array(countable, dtype=np.int64))
        return list(self.batches(documents))


# A block of a run -> its documents as columns, those of a topic together, with the codes of their grades.


COLUMNS = ("code", "hashed", "start", "length", "score", "rank")
"""The fields of `Rows` with a value for each document."""


@dataclass(eq=False, repr=False)
class Rows:
    """Documents of some topics, in each topic as listed.

    topics       the ids, in order of appearance
    topic        stretches of documents with one topic: its number
    size         stretches: number of documents
    code         documents: index into the labels of the qrels; the code of the unjudged follows the labels
    hashed       documents: hash of the docno
    start        documents: start of the docno, for `token`
    length       documents: length of the docno
    score        documents: scores or numbers in the same order; None if the order of the file counts
    rank         documents: stated rank; None if it does not matter
    buffer       the text that contains the docnos; None if only `token` has it: start, length -> bytes
    chunks       documents: the chunk that counts, if its id breaks ties

    tag, order_check, changed and own are as of `PartResult`.
    """

    topics: list[bytes]
    topic: Ints
    size: Ints
    code: NDArray[Any]
    hashed: Words
    start: Ints
    length: NDArray[Any]
    score: Floats | Ints | None
    rank: Floats | None
    buffer: Bytes | None
    tag: str = ""
    order_check: OrderCheck = NOT_CHECKED
    chunks: Docnos | None = None
    changed: int = 0
    own: int = 0
    token: Callable[[int, int], bytes] | None = None

    @cached_property
    def counts(self) -> Ints:
        """topics: number of documents."""
        counts = np.zeros(len(self.topics), dtype=np.int64)
        np.add.at(counts, self.topic, self.size)
        return counts

    @cached_property
    def topic_of(self) -> Ints:
        """documents: number of the topic."""
        return np.repeat(self.topic, self.size)

    def docno(self, row: int) -> bytes:
        start, length = int(self.start[row]), int(self.length[row])
        if self.buffer is not None:
            return self.buffer[start : start + length].tobytes()
        assert self.token is not None
        return self.token(start, length)

    def docnos(self, rows: Ints) -> Docnos:
        """Return the docnos of documents; fast if the text is available."""
        if self.buffer is None:
            return Docnos.of(list(map(self.docno, rows.tolist())))
        return Docnos(self.buffer, self.start[rows], self.length[rows], self.hashed[rows])

    @property
    def ids(self) -> Docnos:
        """The docnos of all documents, if the text is available."""
        assert self.buffer is not None
        return Docnos(self.buffer, self.start, self.length, self.hashed)

    def keep(self, rows: Any) -> Rows:
        """Return only these documents."""
        topic = self.topic_of[rows]
        first = np.flatnonzero(np.append(topic[:1] >= 0, topic[1:] != topic[:-1]))
        columns = {name: getattr(self, name) for name in (*COLUMNS, "chunks")}
        kept: dict[str, Any] = {name: None if column is None else column[rows] for name, column in columns.items()}
        return replace(self, topic=topic[first], size=np.diff(first, append=len(topic)), **kept)

    def without_own(self) -> Rows:
        """Return the rows without documents that have the id of their topic."""
        _, _, length, hashed = text_hashes(self.topics)
        topic = self.topic_of
        alike = np.flatnonzero((self.hashed == hashed[topic]) & (self.length == length[topic]))
        own = [row for row in alike.tolist() if self.docno(row) == self.topics[topic[row]]]
        included = np.ones(len(topic), dtype=bool)
        included[own] = False
        return replace(self.keep(included), own=len(own)) if own else self

    def named(self, docnos: Docnos) -> Rows:
        """Return the rows with other docnos."""
        return replace(self, buffer=docnos.buffer, start=docnos.start, length=docnos.length, hashed=docnos.hashed)


def grade_by_block(rows: Rows, grader: Grader) -> tuple[Rows, dict[bytes, int]]:
    """Grade the documents of a block, after folding chunks; return them topic after topic without duplicates, and
    topic -> number dropped.

    Raises NeedsLineReader if duplicate documents are an error.
    """
    if not (rows.topic[1:] > rows.topic[:-1]).all():  # not topic after topic
        rows = rows.keep(np.argsort(rows.topic_of.astype(np.min_scalar_type(len(rows.topics))), kind="stable"))
    dropped: dict[bytes, int] = {}
    if grader.options.collapse is not None:
        rows, dropped = settle_repeated(rows, grader.options)
        rows = grader.chunks.fold(rows, grader.options)
    number = grader.qrels._rows_of(rows.topics)
    if _grade_from_judged(rows, number, grader):
        return rows, dropped
    grade_each(rows, number, grader.qrels)
    return settle_repeated(rows, grader.options) if grader.options.collapse is None else (rows, dropped)


def grade_whole_topics(rows: Rows, grader: Grader) -> PartResult[Batch]:
    """Return the batches of a block. Raises NeedsLineReader as `grade_by_block`."""
    rows, dropped = grade_by_block(rows, grader)
    if grader.options.ignore_identical_ids:
        rows = rows.without_own()
    part = PartResult(grader.batches_of(rows), dict.fromkeys(rows.topics), dropped=dropped, tag=rows.tag)
    return replace(part, order_check=rows.order_check, changed=rows.changed, own=rows.own)


def read_rows(block: Block, grader: Grader, topics: TopicCodes, order_is_enough: bool = True) -> Rows:
    """Read the documents of a block as listed, all still unjudged.

    order_is_enough  whether scores are compared only within this block

    Raises NeedsLineReader if a line is not a line of a run.
    """
    options, unjudged, layout = grader.options, len(grader.qrels.labels), block.layout
    begin = min(block.begin + max(0, layout.skip - block.offset), block.end)  # behind a header
    lines, docno = lines_of(block.buffer, begin, block.end, layout), layout.columns.index("docno")
    has_lines, tag = len(lines) > 0, layout.columns.index("tag") if "tag" in layout.columns else None
    none = np.empty(0, dtype=np.int64)
    codes, size = topics.topic_stretches(lines) if has_lines else (none, none)
    score, rank = _sort_keys(lines, layout, options, order_is_enough and not grader.reads_scores)
    code = np.full(len(lines), unjudged, dtype=np.min_scalar_type(unjudged + 1))
    columns = code, lines.hashes(docno), lines.start(docno), lines.length(docno), score, rank
    first_tag = decode(*lines.tokens(tag, np.zeros(1, dtype=np.int64))) if has_lines and tag is not None else ""
    order_check = _order_check(block, lines, codes, size, score) if options.by_score else NOT_CHECKED
    return Rows(topics.names, codes, size, *columns, block.buffer, first_tag, order_check)


LOOKED_AT, LOOK_EVERY = 1 << 20, 1 << 24
"""Bytes at the beginning of a run in which the ranks of every block are checked, and the distance of checks behind
them. Both are independent of the parts in which a run is read."""


def _order_check(block: Block, lines: Lines, topic: Ints, size: Ints, score: Floats | Ints | None) -> OrderCheck:
    """Check the first documents of some topics, in a run with both ranks and scores; `topic` and `size` are of
    stretches of lines. The sample does not depend on the parts in which the run is read: see `LOOKED_AT`."""
    previous_byte, columns = block.offset - 1, block.layout.columns
    is_sampled = (
        block.offset < LOOKED_AT
        or previous_byte // LOOK_EVERY != (previous_byte + block.end - block.begin) // LOOK_EVERY
    )
    if score is None or not is_sampled or not {"rank", "score"}.issubset(columns):
        return NOT_CHECKED
    end, stretches = np.cumsum(size), np.flatnonzero(size > 1)
    if len(stretches):
        if (number := min(TOPICS, len(stretches))) > 1:
            stretches = stretches[np.arange(number) * (len(stretches) - 1) // (number - 1)]
        offsets = np.arange(DOCUMENTS)
        rows = ((end - size)[stretches][:, None] + offsets)[offsets < size[stretches][:, None]]
    else:
        rows = np.arange(min(ROWS, int(size.sum())))  # topics alternate
    of_topic = topic[np.searchsorted(end, rows, side="right")]
    return order_check_of(of_topic.tolist(), lines.tokens(columns.index("rank"), rows), score[rows].tolist())


def _sort_keys(
    lines: Lines, layout: LineLayout, options: Options, order_is_enough: bool
) -> tuple[Floats | Ints | None, Floats | None]:
    """Return the scores of documents, or their negated ranks in a run without scores; and their ranks, if these
    matter."""
    if options.order == "file":
        return None, None
    rank, by_rank = None, layout.by_rank or options.order == "rank"
    if options.ties == "rank" or by_rank:
        rank = lines.numbers(layout.columns.index("rank"))
        if np.abs(rank).max(initial=0) > LAST_RANK:
            raise NeedsLineReader
    stated = rank if options.ties == "rank" else None
    if by_rank and rank is not None:
        return -rank, stated
    score = layout.columns.index("score")
    return lines.sort_keys(score) if order_is_enough and options.order != "float32" else lines.numbers(score), stated


def _grade_from_judged(rows: Rows, number: Ints, grader: Grader) -> bool:
    """Grade documents that stand topic after topic, in place, by looking up the judged documents among them, which are
    usually fewer. Returns False, with codes unchanged, if they are not, or if a document may repeat.

    number  topics: number of the topic in the qrels, −1 if it is not judged
    """
    judgments, index = grader.qrels.columns, grader.qrels.columns.index
    judged, count = index.rows_of(number)
    if len(judged) > grader.limits.judged_ratio * len(rows.code):
        return False
    judged_hashes, table, topic = index.docnos.hashed[judged], TopicBuckets(rows.counts), np.arange(len(rows.topics))
    places = table.places(topic, rows.hashed, rows.counts)
    hit, position, twice = hash_join(
        rows.hashed, places, table.size, judged_hashes, table.places(topic, judged_hashes, count)
    )
    judged = judged[hit]
    if twice or not index.same(judged, rows.ids, position).all():
        return False
    rows.code[position] = judgments.code[judged]
    return True


def grade_each(rows: Rows, number: Ints, qrels: Qrels) -> None:
    """Grade documents in place, by looking up each among the judged ones.

    number  topics: number of the topic in the qrels, −1 if it is not judged
    """
    hit, judged = qrels.columns.index.find(number[rows.topic_of], rows.ids)
    rows.code[hit] = qrels.columns.code[judged]


def settle_repeated(rows: Rows, options: Options) -> tuple[Rows, dict[bytes, int]]:
    """Drop documents that repeat in their topic; return the others, and topic -> number dropped.

    Raises NeedsLineReader if duplicate documents are an error.
    """
    if surely_distinct(rows.topic_of, len(rows.topics), rows.hashed):
        return rows, {}
    first: dict[tuple[int, bytes], int] = {}
    last: dict[tuple[int, bytes], int] = {}
    suspects = duplicate_candidates(rows.topic_of, rows.docnos(np.arange(len(rows.code))))
    for row in suspects.tolist():
        key = (int(rows.topic_of[row]), rows.docno(row))
        first.setdefault(key, row)
        last[key] = row
    chosen = first if options.duplicates == "first" else last
    included = np.ones(len(rows.code), dtype=bool)
    included[suspects] = False
    included[list(chosen.values())] = True
    if included.all():
        return rows, {}
    if options.duplicates in ("error", "refuse"):
        raise NeedsLineReader
    dropped: dict[bytes, int] = {}
    for topic in rows.topic_of[~included].tolist():
        dropped[rows.topics[topic]] = dropped.get(rows.topics[topic], 0) + 1
    return rows.keep(included), dropped


# A run file in parts: blocks of whole topics, each read, joined with the qrels and released.

FIRST = 2
"""Blocks of the first part: the second shows whether topics alternate."""

BLOCKS = 8
"""Blocks of every other part: NumPy calls for the few topics of a block would cost more than their work."""

FEW_REPEATED = 16
"""Stretches that may repeat a topic in a block before it counts as interleaved: more than one each, as a rule."""


@dataclass(eq=False, repr=False)
class BlocksPart:
    """Consecutive blocks of a run file; they can be graded only once.

    is_large  whether the file has many more
    """

    blocks: Iterable[Block]
    is_large: bool = False

    def grade(self, grader: Grader) -> PartResult[Batch]:
        whole = PartResult[Batch]()
        for block in self.blocks:
            rows = read_rows(block, grader, TopicCodes(grader.limits))
            if self.is_large and len(rows.topic) > FEW_REPEATED + 2 * len(rows.topics):
                # Topics alternate, and will in other blocks: batches of this one would be of no use.
                topic_ids = dict.fromkeys(rows.topics)
                whole.add(PartResult([], topic_ids, tag=rows.tag, interleaved=True, order_check=rows.order_check))
                break
            whole.add(grade_whole_topics(rows, grader))
        if len(whole.batches) > 1:
            from gradedeval.kernel.rankings.batch import coalesce  # many runs are one block

            whole.batches = list(coalesce(whole.batches, grader.limits.cells, grader.least_width))
        return whole


@dataclass(eq=False, repr=False)
class GradedPart:
    """A run that is already graded, with all ranks, by the same qrels and options."""

    batches: list[Batch]

    def grade(self, grader: Grader) -> PartResult[Batch]:
        return PartResult(list(map(grader.down_to_last, self.batches)))


class RunFile:
    """A run file in parts; `count` is their approximate number, None if unknown; `is_large`: worth several
    processes."""

    def __init__(self, stream: Stream, grader: Grader, layout: LineLayout) -> None:
        self.stream, self.grader, self.layout, self.file = stream, grader, layout, stream.file
        size, limits = None if self.file is None else self.file.end - self.file.position, grader.limits
        self.is_large = size is not None and size > limits.large_file
        self.count = None if size is None else 1 + max(0, size // limits.block + BLOCKS - FIRST - 1) // BLOCKS

    def parts(self) -> Iterator[RunPart]:
        """Yield the parts in order; each must be processed before the next is requested."""
        count, following = FIRST, blocks(self.stream, self.grader.limits.block, layout=self.layout)
        for block in following:
            yield BlocksPart(chain([block], islice(following, count - 1)), self.is_large)
            count = BLOCKS


def choose_topics(
    present: Collection[bytes],
    place: str,
    qrels: Qrels,
    options: Options,
    empty: Collection[bytes] = (),
    numbered: bool = False,
) -> tuple[list[bytes], int, list[Note]]:
    """Choose the topics that count for a run; return them, the number that the run lacks, and notes.

    present   the topics of the run, which all count without qrels; `empty`: those for which nothing was returned
    numbered  whether they have no names in the file, and are counted

    Raises InputError if the run shares none with the qrels, or if no topic is listed in `topics_from`.
    """
    chosen = options.topics_from
    candidates, source = (qrels.topics, qrels.place) if qrels.topics else (present, place)
    judged = [topic for topic in candidates if chosen is None or topic in chosen]
    if candidates and not judged:
        raise InputError(flag.topics_from, f"no topic of {source} is listed", f"its topics are {_names(candidates)}")
    if not present:
        raise InputError(place, "is empty", "expected one document per line")
    if not qrels.topics:
        return judged, 0, []
    listed = set(present)
    both = [topic for topic in judged if topic in listed]
    if not both:
        raise (unnamed_topics if numbered else no_common_topics)(place, present, qrels.place, judged)
    missing = [topic for topic in judged if topic not in listed] if len(both) < len(judged) else []
    unjudged = present if len(both) < len(listed) else ()
    extra = [topic for topic in unjudged if topic not in qrels.row_of and (chosen is None or topic in chosen)]
    topics, lacking, notes = both, 0, list[Note]()
    if options.topics == "qrels":
        topics, lacking = judged, len(missing)
    elif options.topics == "run":
        topics = both + extra
    elif options.topics == "relevant":
        topics, notes = _relevant(both, place, qrels)
    if missing:
        notes.append(_missing_note(place, missing, len(judged), options))
    if empty:
        notes += _empty_notes(place, empty, topics, qrels)
    if chosen and (unknown := sorted(chosen - listed - set(judged))):
        notes.append(_unknown_note(place, unknown, qrels.place))
    if extra:
        fate = "counted, with no relevant documents" if options.topics == "run" else "ignored"
        text = f"{len(extra)} {plural(len(extra), 'unjudged topic')} ({_names(extra)})"
        about = map(decode, extra)
        notes.append(Note(text, fate, place=place, kind="unjudged-topics", about=about, common="unjudged topics"))
    return topics, lacking, notes


def _missing_note(place: str, missing: list[bytes], judged: int, options: Options) -> Note:
    """Return the note on judged topics that a run lacks; `judged`: number of judged topics."""
    is_single, fate, fates, hint = len(missing) == 1, "is left out", "are left out", ""
    if options.topics == "qrels":
        fate, fates = "counts as an empty ranking", "count as empty rankings"
        hint = f"exclude missing topics with {flag.topics:both}"
    fate = fate if is_single else fates
    share = f"{len(missing)} of {judged} judged {plural(judged, 'topic')}"
    text = f"{share} {'is' if is_single else 'are'} missing ({_names(missing)}) and {fate}"
    common = f"judged topics are missing and {fates}"
    return Note(text, hint, place=place, kind="missing-topics", common=common)


def _unknown_note(place: str, unknown: list[bytes], qrels: str) -> Note:
    """Return the note on topics of topics_from that neither a run nor the qrels have."""
    count = f"{len(unknown)} {plural(len(unknown), 'topic')}"
    text = f"{count} of {flag.topics_from} {'is' if len(unknown) == 1 else 'are'} neither here nor in {qrels}"
    common = f"topics of {flag.topics_from} are neither here nor in {qrels}"
    return Note(f"{text} ({_names(unknown)})", place=place, kind="unknown-topics", common=common)


def _empty_notes(place: str, returned: Collection[bytes], topics: list[bytes], qrels: Qrels) -> list[Note]:
    """Return the note on the counted `topics` that have relevant documents, but whose list was `returned` empty."""
    listed = set(returned)
    counts = qrels.counts_for([topic for topic in topics if topic in listed]).per_topic(qrels.labels > 0)
    empty = [topic for topic, count in zip(filter(listed.__contains__, topics), counts.tolist(), strict=True) if count]
    if not empty:
        return []
    is_single = len(empty) == 1
    text = f"{len(empty)} {plural(len(empty), 'topic')} with relevant documents returned nothing ({_names(empty)})"
    text += " and counts as an empty ranking" if is_single else " and count as empty rankings"
    hint = f"to leave {'it' if is_single else 'them'} out, list the others in {flag.topics_from:FILE}"
    common = "topics with relevant documents returned nothing and count as empty rankings"
    return [Note(text, hint, place=place, kind="empty-topics", about=map(decode, empty), common=common)]


def unnamed_topics(
    run: str, topics: Collection[bytes], second_place: str, second_topics: Collection[bytes]
) -> InputError:
    """Build the error of responses without names of queries, none of whose numbers is a topic of the qrels."""
    problem = f"does not name its queries, so they are numbered ({_names(topics, 2)})"
    problem += f", and {second_place} names them ({_names(second_topics, 2)})"
    hint = f"list the queries in the order of the responses, one a line, and add {flag.run_format:topic=@queries.txt}"
    return InputError(run, problem, hint, kind="no-common-topics")


def no_common_topics(
    run: str, topics: Collection[bytes], second_place: str, second_topics: Collection[bytes]
) -> InputError:
    """Build the error of a run without any topic of the qrels (or of other runs); it names some of each."""
    from gradedeval.kernel.rankings.near_matches import near_match  # most runs share some

    problem = f"shares no topics with {second_place} ({_names(topics, 2)} vs {_names(second_topics, 2)})"
    hint = "check that both are for the same collection"
    if near := near_match([(topics, second_topics)], chunks=False):
        verb = "does" if near.matching == 1 else "do"
        problem, hint = f"{problem}, but {near.matching} of {near.of} {verb} {near.change}", near.cure
    return InputError(run, problem, hint, kind="no-common-topics")


def _relevant(both: list[bytes], place: str, qrels: Qrels) -> tuple[list[bytes], list[Note]]:
    """Return the topics in both files that have a relevant document, as gdeval counts them; and a note on the
    others."""
    positive = qrels.counts_for(both).per_topic(qrels.labels > 0)
    topics = [topic for topic, count in zip(both, positive.tolist(), strict=True) if count]
    if not topics:
        raise InputError(qrels.place, "no topic has a relevant document", f"use {flag.topics:both}, and all score 0")
    omitted = len(both) - len(topics)
    text = f"{omitted} {plural(omitted, 'topic')} without relevant documents"
    return topics, [Note(text, "left out", place=place, kind="topics-without-relevant")] if omitted else []


def _names(topics: Collection[bytes], most: int = 5) -> str:
    return shorten([decode(topic) for topic in topics], most)


def check_layout(place: str, layout: LineLayout, options: Options, types: bool = False) -> None:
    """Raise InputError if the lines of a run lack columns that the options need, such as ranks for `--ties rank`."""
    if types and "type" not in layout.columns:
        raise InputError(place, "has no types of documents", "costs need a column of them", usage=True)
    if options.order == "file":
        return
    if "rank" in (options.ties, options.order) and "rank" not in layout.columns:
        option = f"{flag.order:rank}" if options.order == "rank" else f"{flag.ties:rank}"
        raise InputError(place, "has no ranks", f"{option} needs a column of them", usage=True)
    if "score" not in layout.columns and not layout.by_rank:
        hint = f"{flag.order:file} keeps the order of its lines"
        raise InputError(place, "has neither scores nor ranks", hint, usage=True)


def by_rank_note(place: str) -> str:
    """Return the note on a run without scores."""
    return f"{place}: has no scores; its documents are ordered by rank"


def check_scores(place: str, grader: Grader) -> None:
    """Raise InputError (usage) for a run without scores if a measure reads them."""
    if grader.reads_scores:
        raise InputError(place, "has no scores", "silence(min=…) needs them; write silence", usage=True)


def dropped_note(place: str, dropped: int, options: Options) -> str:
    """Return the note on documents that were dropped as duplicates."""
    return f"{place}: dropped {dropped} duplicate {plural(dropped, 'document')}; kept the {options.duplicates} of each"


def no_effect_notes(place: str, changed: int, own: int, options: Options) -> list[Note]:
    """Return notes on options that change nothing in a run: no chunk has another id than its document, or no document
    has the id of its topic."""
    collapse, notes = options.collapse, list[Note]()
    if collapse is not None and collapse.separator and not changed:
        from gradedeval.kernel.rankings.chunks import unchanged_note

        notes.append(unchanged_note(place, collapse, flag.collapse))
    if options.ignore_identical_ids and not own:
        text = f"{place}: no document has the id of its topic, so {flag.ignore_identical_ids:True} changes nothing"
        notes.append(Note(text, "leave it out", kind="no-identical-ids"))
    return notes
