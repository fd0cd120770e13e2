"""Batches: topics of a run joined with their judgments, and the documents that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints, distinct, positions_of, ranges, ranks
from gradedeval.kernel.options import Options
from gradedeval.kernel.rankings.docnos import Docnos

if TYPE_CHECKING:
    from gradedeval.kernel.rankings.docnos import DocumentNumbers

Codes = NDArray[Any]


@dataclass(eq=False, repr=False)
class Ties:
    """What equal scores leave open in a batch.

    tied   topics × ranks: whether another document has the same score
    rows   the topics in which documents of different grades are tied
    codes  2 × these topics × ranks: their codes in the order that is worst, and in the best; the unjudged stand below
           every grade
    counts 2 × these topics: how many documents there are in each order
    """

    tied: Bools
    rows: Ints
    codes: NDArray[Any]
    counts: Ints

    def of_row(self, row: int) -> Ties:
        """The same of one topic."""
        here = np.flatnonzero(self.rows == row)
        zeros = np.zeros(len(here), dtype=np.int64)
        return Ties(self.tied[row : row + 1], zeros, self.codes[:, here], self.counts[:, here])

    def down_to(self, rank: int) -> Ties:
        """The same of the first ranks."""
        return Ties(self.tied[:, :rank], self.rows, self.codes[:, :, :rank], self.counts)

    def cut(self, depth: int) -> Ties:
        """The same of lists that end there."""
        return replace(self.down_to(depth), counts=np.minimum(self.counts, depth))


@dataclass(eq=False, repr=False)
class GradeCounts:
    """How many judged documents of each topic have each label: the cells of a table topics × labels that hold any,
    topic after topic. With as many labels as topics, as fractions may be, the table is the square of the judgments.

    labels  how many there are
    size    topics: how many cells
    code    cells: index into the labels, ascending within a topic
    count   cells: how many documents
    """

    labels: int
    size: Ints
    code: Ints
    count: Ints

    @classmethod
    def of(cls, topic: NDArray[Any], code: Codes, topics: int, labels: int) -> GradeCounts:
        """The counts, from the topic and the code of every judgment; topics, labels: how many there are."""
        keys = topic.astype(np.int64) * labels + code
        if topics * labels <= 1 << 16 or topics * labels <= len(keys):
            table = np.bincount(keys, minlength=topics * labels)
            cells = np.flatnonzero(table)
            count = table[cells]
        else:
            cells, place = distinct(keys)
            count = np.bincount(place, minlength=len(cells))
        row = cells // max(labels, 1)
        return cls(labels, np.bincount(row, minlength=topics), cells - row * labels, count)

    @classmethod
    def summed(cls, topic: Ints, code: Ints, count: Ints, topics: int, labels: int) -> GradeCounts:
        """The same from parts of the counts in any order."""
        cells, place = distinct(topic * labels + code)
        row = cells // max(labels, 1)
        total = np.bincount(place, weights=count, minlength=len(cells)).astype(np.int64)
        return cls(labels, np.bincount(row, minlength=topics), cells - row * labels, total)

    def __len__(self) -> int:
        """How many topics there are."""
        return len(self.size)

    @cached_property
    def topic(self) -> Ints:
        """cells: the number of the topic."""
        return np.repeat(np.arange(len(self.size)), self.size)

    @cached_property
    def begin(self) -> Ints:
        """topics: the first cell."""
        begin: Ints = np.cumsum(self.size) - self.size
        return begin

    def per_topic(self, some: Bools | None = None) -> Ints:
        """topics: how many judged documents; with `some`, only of the labels for which it is true."""
        count = self.count if some is None else self.count * some[self.code]
        total = np.append(0, count.cumsum())
        per_topic: Ints = total[self.begin + self.size] - total[self.begin]
        return per_topic

    @cached_property
    def judged(self) -> Ints:
        """topics: how many documents have a label."""
        return self.per_topic()

    def select(self, rows: Ints) -> GradeCounts:
        """The counts of these topics, of which one may come several times."""
        size = self.size[rows]
        cells = ranges(self.begin[rows], size)
        return GradeCounts(self.labels, size, self.code[cells], self.count[cells])

    def without(self, topic: Ints, code: Ints) -> GradeCounts:
        """The counts without documents that are counted, of these topics and codes."""
        cells = np.searchsorted(self.topic * self.labels + self.code, topic * self.labels + code)
        return replace(self, count=self.count - np.bincount(cells, minlength=len(self.count)))

    def table(self) -> Ints:
        """topics × labels, all cells: as large as it is, for few topics or few labels alone."""
        table = np.zeros((len(self.size), self.labels), dtype=np.int64)
        table[self.topic, self.code] = self.count
        return table

    def sorted_worth(self, worth: Floats) -> Floats:
        """topics × …: what the documents of each topic are worth, the most first, then zeros; what is worth 0 is left
        out. Equal ones of different labels stand by label.

        worth  labels: what a document is worth
        """
        order = np.argsort(-worth, kind="stable")[: np.count_nonzero(worth)]
        place = np.full(self.labels, len(order))
        place[order] = np.arange(len(order))
        cells = np.flatnonzero(place[self.code] < len(order))
        cells = cells[np.argsort(self.topic[cells] * len(order) + place[self.code[cells]], kind="stable")]
        each = self.per_topic(worth != 0)
        sorted_worth = np.zeros((len(each), int(each.max(initial=0))))
        inside = np.arange(sorted_worth.shape[1]) < each[:, None]
        sorted_worth[inside] = np.repeat(worth[self.code[cells]], self.count[cells])
        return sorted_worth


@dataclass(eq=False, repr=False)
class Batch:
    """Some topics of a run, joined with their judgments. From here on no string but the topics' names is left, unless
    docnos or types are asked for.

    topics     the ids
    codes      topics × ranks, those asked for: index into the labels of the qrels; `unjudged_code` and
               `padding_code` follow them
    retrieved  topics: how many documents
    pool       how many judged documents of each topic have each label
    docnos     documents, topic after topic in rank order: their docnos; None unless the caller asked for some
    numbers    topics × ranks: the number of the document among those of several runs, 0 beyond the end; None unless
               the caller gave numbers
    types      what column 2 of the run calls its documents, where that was asked for
    kinds      topics × ranks: index into `types`, −1 beyond the end; None where it was not asked for
    first      topics × ranks: the column where the documents tied with each one begin, for `--ties average`
    below      topics: how many unjudged documents stand below these ranks; None: none, or nobody asked
    ties       what equal scores leave open; None: nothing, or nobody asked
    as_double  the same with scores compared as float64, for the measures that do, where others compare them as float32
               and the two orders differ
    """

    topics: list[bytes]
    codes: Codes
    retrieved: Ints
    pool: GradeCounts
    docnos: Docnos | None = None
    numbers: NDArray[np.int32] | None = None
    types: list[bytes] = field(default_factory=list)
    kinds: Ints | None = None
    first: Ints | None = None
    below: Ints | None = None
    ties: Ties | None = None
    as_double: Batch | None = None

    def docnos_of(self, row: int) -> Docnos:
        """The docnos of a topic in rank order, where they were asked for."""
        assert self.docnos is not None
        end = int(self.retrieved[: row + 1].sum())
        return self.docnos[end - int(self.retrieved[row]) : end]

    def select(self, rows: Ints) -> Batch:
        """Some of its topics, or some several times, without docnos, numbers and what ties leave open."""
        arrays = {name: getattr(self, name) for name in ("codes", "retrieved", "kinds", "first", "below")}
        chosen = {name: array[rows] for name, array in arrays.items() if array is not None}
        topics, double = [self.topics[row] for row in rows.tolist()], self.as_double and self.as_double.select(rows)
        some = replace(self, docnos=None, numbers=None, ties=None, as_double=double)
        return replace(some, topics=topics, pool=self.pool.select(rows), **chosen)

    def ranked_alike(self, other: Batch) -> bool:
        """Whether another order of the same documents gives the same scores, and leaves the same ties open."""
        orders = [(each.codes, each.kinds, each.first, each.ties and each.ties.tied) for each in (self, other)]
        return all(
            one is another is None or (one is not None and another is not None and np.array_equal(one, another))
            for one, another in zip(*orders, strict=True)
        )

    def numbered(self, documents: DocumentNumbers) -> Batch:
        """The batch with numbers in place of docnos."""
        assert self.docnos is not None
        numbers: NDArray[Any] = np.zeros(self.codes.shape, dtype=np.int32)
        inside = np.arange(numbers.shape[1]) < self.retrieved[:, None]
        numbers[inside] = documents.numbers(documents.topics(self.topics, self.retrieved), self.docnos) + 1
        double = self.as_double and self.as_double.numbered(documents)
        return replace(self, docnos=None, numbers=numbers, as_double=double)

    def down_to(self, rank: int | None, judged: Bools | None = None) -> Batch:
        """The batch without the ranks below this one, which nobody looks at; all of it where `rank` is None.

        judged  code: whether it is judged; with it the unjudged documents below are counted
        """
        if rank is None:
            return self
        return replace(
            self,
            codes=self.codes[:, :rank],
            numbers=None if self.numbers is None else self.numbers[:, :rank],
            kinds=None if self.kinds is None else self.kinds[:, :rank],
            below=None if judged is None else count_unjudged(self.codes[:, rank:], judged),
            ties=self.ties and self.ties.down_to(rank),
            as_double=self.as_double and self.as_double.down_to(rank, judged),
        )

    @property
    def unjudged_code(self) -> int:
        return self.pool.labels

    @property
    def padding_code(self) -> int:
        return self.pool.labels + 1


@dataclass(eq=False, repr=False)
class Documents:
    """Documents of some topics as listed, topic after topic.

    topics  the ids
    counts  topics: how many documents of each
    code    documents: index into the labels of the qrels, or the code of the unjudged, which follows them
    score   documents, or numbers that order them alike: nothing where scores do not matter
    rank    documents: the rank that the run states; nothing where that does not matter
    docnos  those of documents, by their positions
    types   the names of the types, and `kind` documents: which of them; None where that does not matter
    """

    topics: list[bytes]
    counts: Ints
    code: Codes
    score: Floats | Ints | None
    rank: Floats | None
    docnos: Callable[[Ints], Docnos]
    types: list[bytes] = field(default_factory=list)
    kind: Ints | None = None

    def select(self, rows: Ints) -> Documents:
        """Only these topics, numbers in any order."""
        positions = positions_of(self.counts, rows)
        return replace(
            self,
            topics=[self.topics[row] for row in rows.tolist()],
            counts=self.counts[rows],
            code=self.code[positions],
            score=self.score[positions] if self.score is not None else None,
            rank=self.rank[positions] if self.rank is not None else None,
            docnos=lambda chosen: self.docnos(positions[chosen]),
            kind=self.kind[positions] if self.kind is not None else None,
        )


def count_unjudged(codes: Codes, judged: Bools) -> Ints:
    """topics: how many of these documents nobody judged.

    codes   topics × ranks
    judged  code: whether it is judged; the last code is beyond the end
    """
    counts: Ints = np.count_nonzero(~judged[codes] & (codes != len(judged) - 1), axis=1)
    return counts


def condensed(batch: Batch, judged: Bools) -> Batch:
    """The batch without the unjudged documents; its codes are those of full rankings.

    judged  code: whether it is judged
    """
    kept = judged[batch.codes]
    counts = np.count_nonzero(kept, axis=1)
    width = int(counts.max(initial=0))
    order = np.argsort(~kept, axis=1, kind="stable")[:, :width]
    there = np.arange(width) < counts[:, None]
    codes = np.where(there, np.take_along_axis(batch.codes, order, 1), batch.padding_code).astype(batch.codes.dtype)
    kinds, first = batch.kinds, batch.first
    if kinds is not None:
        kinds = np.where(there, np.take_along_axis(kinds, order, 1), -1)
    if first is not None:  # where the first of those that are kept and tied with it stands now
        above = np.take_along_axis(kept.cumsum(1) - kept, first, 1)
        first = np.where(there, np.take_along_axis(above, order, 1), np.arange(width))
    return replace(batch, codes=codes, retrieved=counts, kinds=kinds, first=first, below=None, docnos=None)


# Documents of a run with their grade codes -> rankings: ordered, cut, and laid out as topics × ranks.


def to_batch(
    documents: Documents,
    pool: GradeCounts,
    judged: Bools,
    options: Options,
    keep_docnos_for: Container[bytes],
    keep_ties: bool = False,
    last_rank: int | None = None,
) -> Batch:
    """A batch of these topics: their documents ordered and cut by the options.

    pool       how many judged documents of each topic have each label
    judged     code: whether it is judged
    keep_ties  say which documents are tied, though no score is averaged over ties
    last_rank  the last rank that is looked at, and no batch goes further; None: all are
    """
    topics, code, retrieved = documents.topics, documents.code, documents.counts
    row = np.arange(len(topics)).repeat(retrieved)
    order, may_tie, open_ties = None, True, None
    if options.order != "file":
        order, may_tie = _rank_order(documents, row, pool.labels, options, keep_docnos_for)
    if options.judged_only:
        order, open_ties = _judged_only(documents, order, judged, options)
        retrieved = np.bincount(row[order], minlength=len(topics))
    if order is not None:
        code = code.take(order)
    if may_tie and (not options.judged_only or _first_cut(options) is None):
        open_ties = _open_ties(documents, order, code, retrieved, pool.labels, options, last_rank)
    if options.depth is not None and retrieved.max(initial=0) > options.depth:
        included = ranks(retrieved) < options.depth
        order = np.flatnonzero(included) if order is None else order[included]
        code = code[included]
        retrieved = np.minimum(retrieved, options.depth)
        open_ties = open_ties and open_ties.cut(options.depth)
    docnos, kind = None, documents.kind if documents.kind is None or order is None else documents.kind[order]
    if keep_docnos_for and any(topic in keep_docnos_for for topic in topics):
        docnos = documents.docnos(np.arange(len(documents.code)) if order is None else order).packed()
    return Batch(
        topics,
        _to_matrix(code, retrieved, pool.labels + 1),
        retrieved,
        pool,
        docnos,
        None,
        documents.types,
        _to_matrix(kind, retrieved, -1) if kind is not None else None,
        _ties(documents, order, retrieved, options) if options.ties == "average" or keep_ties else None,
        ties=open_ties,
    ).down_to(last_rank, judged if options.bounds else None)


def _first_cut(options: Options) -> int | None:
    """The depth at which lists are cut before documents that are not judged are dropped, as trec_eval's -M and -J do;
    None where they are not."""
    return options.depth if options.like == "trec_eval" else None


def _judged_only(documents: Documents, order: Ints | None, judged: Bools, options: Options) -> tuple[Ints, Ties | None]:
    """The documents that are judged, as positions in rank order, and what equal scores leave open where lists are cut
    before.

    order  all documents in rank order, as positions; None: as listed
    """
    order = np.arange(len(documents.code)) if order is None else order
    code, ties = documents.code[order], None
    included = judged[code]
    if (depth := _first_cut(options)) is not None:
        included &= ranks(documents.counts) < depth
        ties = _open_ties(documents, order, code, documents.counts, len(judged) - 2, options, None)
        ties = ties and _dropped(ties, included, documents.counts, judged, depth)
    return order[included], ties


def _dropped(ties: Ties, included: Bools, retrieved: Ints, judged: Bools, depth: int) -> Ties:
    """What equal scores leave open of whole lists, where these are cut and their unjudged documents dropped afterwards.

    included   documents in rank order: whether it is left
    retrieved  topics: how many documents there were
    judged     code: whether it is judged
    depth      where they are cut
    """
    beyond = len(judged) - 1
    row, rank = np.repeat(np.arange(len(retrieved)), retrieved)[included], ranks(retrieved)[included]
    counts = np.bincount(row, minlength=len(retrieved))
    kept = judged[ties.codes] & (np.arange(ties.codes.shape[2]) < depth)
    of_order = kept.sum(2)
    width = int(max(counts.max(initial=0), of_order.max(initial=0)))
    tied, codes = np.zeros((len(counts), width), bool), np.full((*of_order.shape, width), beyond, ties.codes.dtype)
    tied[np.arange(width) < counts[:, None]] = ties.tied[row, rank]
    codes[np.arange(width) < of_order[..., None]] = ties.codes[kept]
    # What another order would leave is tied with what was cut.
    tied[ties.rows] |= np.arange(width) >= counts[ties.rows, None]
    tied[ties.rows] &= np.arange(width) < np.maximum(counts[ties.rows], of_order.max(0))[:, None]
    return Ties(tied, ties.rows, codes, of_order)


def _open_ties(
    documents: Documents,
    order: Ints | None,
    code: NDArray[Any],
    retrieved: Ints,
    unjudged: int,
    options: Options,
    last_rank: int | None,
) -> Ties | None:
    """What equal scores leave open, where the user has not chosen an order of ties, of lists that are not cut yet.

    code  documents in rank order
    """
    if documents.score is None or "ties" in options.given or not len(code):
        return None
    if options.depth is not None:
        last_rank = options.depth if last_rank is None else min(last_rank, options.depth)
    width = int(retrieved.max())
    seen = width if last_rank is None else min(width, last_rank)
    deep = min(width, seen + 1)  # one rank more than is seen: a tie may go on below
    tied_with_next = _tied_with_next(documents.score, order, retrieved, deep, options)
    if not tied_with_next.any():
        return None
    tied = np.zeros((len(retrieved), deep), bool)
    tied[:, 1:] = tied_with_next
    tied[:, :-1] |= tied_with_next
    heads = _heads(code, retrieved, deep)
    is_open = (tied_with_next & (heads[:, 1:] != heads[:, :-1])).any(axis=1)
    if deep > seen:  # what matters of a tie may stand below
        is_open |= tied_with_next[:, -1]
    rows = np.flatnonzero(is_open)
    score = documents.score if order is None else documents.score[order]
    if len(rows) < len(retrieved):
        at = positions_of(retrieved, rows)
        score, code = score[at], code[at]
    score = _falling(score, options) if options.order == "float32" else score
    kept, codes = _worst_and_best(score, code, retrieved[rows], unjudged, last_rank)
    lacking = [(0, 0), (0, 0), (0, max(0, seen - codes.shape[2]))]
    padded = np.pad(codes, lacking, constant_values=unjudged + 1) if lacking[2][1] else codes[:, :, :seen]
    counts = retrieved[rows[kept]]
    return Ties(tied[:, :seen], rows[kept], padded, np.stack([counts, counts]))


def _tied_with_next(
    score: NDArray[Any], order: Ints | None, counts: Ints, width: int, options: Options
) -> NDArray[np.bool_]:
    """topics × ranks but the last: whether the document at the next rank has the same score. Only the first ranks are
    looked at, which costs little where lists are long."""
    head = _heads(score, counts, width) if order is None else score[_heads(order, counts, width)]
    head = _falling(head, options) if options.order == "float32" else head
    same: NDArray[np.bool_] = head[:, 1:] == head[:, :-1]
    if counts.min() < width:
        same &= np.arange(1, width) < counts[:, None]
    return same


def _worst_and_best(
    score: NDArray[Any], code: Codes, counts: Ints, unjudged: int, last_rank: int | None
) -> tuple[Bools, Codes]:
    """Of some topics: whether documents of different grades are tied in each, in a tie that begins above `last_rank`;
    and of those where they are, 2 × topics × ranks: the codes in the order that is worst, and in the best."""
    same = np.append(score[1:] == score[:-1], False)  # as the next document
    ends = np.cumsum(counts)
    same[ends[ends > 0] - 1] = False
    follows = np.append(False, same[:-1])
    at = np.flatnonzero(same | follows)  # few documents are tied, as a rule
    first = ~follows[at]
    begin = at[np.maximum.accumulate(np.where(first, np.arange(len(at)), 0))]
    row = np.searchsorted(ends, at, side="right")
    changes = ~first & (code[at] != code[at - 1])
    if last_rank is not None:
        changes &= begin - (ends - counts)[row] < last_rank
    kept = np.bincount(row[changes], minlength=len(counts)) > 0
    begin, grade = begin * (unjudged + 1), code[at].astype(np.int64) + 1
    grade[grade > unjudged] = 0  # the unjudged stand below every grade
    worst = np.sort(begin + grade) - begin  # one number says which tie and which grade
    best = unjudged - (np.sort(begin + unjudged - grade) - begin)
    codes = []
    for grades in (worst, best):
        ordered = code.copy()
        ordered[at] = np.where(grades == 0, unjudged, grades - 1)
        codes.append(_to_matrix(ordered, counts, unjudged + 1)[kept])
    return kept, np.stack(codes)


def _heads(values: NDArray[Any], counts: Ints, width: int) -> NDArray[Any]:
    """topics × ranks: the first `width` values of each topic, from values topic after topic; beyond a topic's end are
    others."""
    longest = int(counts.max(initial=0))
    if len(counts) * longest == len(values):
        return values.reshape(len(counts), longest)[:, :width]
    at = (np.cumsum(counts) - counts)[:, None] + np.arange(width)
    heads: NDArray[Any] = values[np.minimum(at, len(values) - 1, out=at)]
    return heads


def _ties(documents: Documents, order: Ints | None, retrieved: Ints, options: Options) -> Ints:
    """topics × ranks: the column where the documents tied with each one begin; no two are tied where scores do not
    matter."""
    if documents.score is None:
        return np.tile(np.arange(int(retrieved.max(initial=0))), (len(retrieved), 1))
    falling = _falling(documents.score if order is None else documents.score[order], options)
    within = ranks(retrieved)
    begins = (within == 0) | np.append(True, falling[1:] != falling[:-1])[: len(within)]
    first = within[np.maximum.accumulate(np.where(begins, np.arange(len(within)), 0))]
    matrix = _to_matrix(first, retrieved, -1)
    return np.where(matrix < 0, np.arange(matrix.shape[1]), matrix)


def _to_matrix(values: NDArray[Any], counts: Ints, beyond: int) -> NDArray[Any]:
    """topics × ranks: the values of each topic, from values topic after topic; after a topic's end is `beyond`."""
    width = int(counts.max(initial=0))
    if len(counts) * width == len(values):
        return values.reshape(len(counts), width)
    matrix = np.full((len(counts), width), beyond, dtype=values.dtype)
    matrix[np.arange(width) < counts[:, None]] = values
    return matrix


def _rank_order(
    documents: Documents, topic: Ints, unjudged: int, options: Options, keep_docnos_for: Container[bytes]
) -> tuple[Ints | None, bool]:
    """The documents of each topic from the best to the worst, as positions; None where they are listed in that order;
    and whether any of them may be tied.

    Docnos settle only the ties that can change a score, those between different grades or types, and all ties of the
    topics in `keep_docnos_for`.
    """
    score = documents.score
    # Most runs list their documents from the best to the worst already.
    if score is None or (options.order != "float32" and _falls(score, documents.counts)):
        return None, False
    falling = _falling(score, options)
    code = documents.code
    if options.ties == "rank" and documents.rank is not None:
        return np.lexsort((documents.rank, falling, topic)), True
    if options.ties in ("best", "worst", "average"):
        grade = np.where(code == unjudged, -1, code.astype(np.int64))  # the unjudged stand below every grade
        return _by_grade(grade if options.ties == "worst" else -grade, falling, topic), True
    same = topic[1:] == topic[:-1]
    order = None
    rises = (falling[1:] < falling[:-1]) & same
    if np.count_nonzero(rises):  # of a few documents it is quicker than `any`
        order = _sorted(falling, documents, topic, rises, options.ties == "file")
        falling = falling.take(order)
    tied = same & (falling[1:] == falling[:-1])
    if options.ties == "file" or not np.count_nonzero(tied):
        return order, options.ties == "file"
    # A tie is a stretch of positions each tied with the one before; it matters where something changes within it.
    matters = code[1:] != code[:-1] if order is None else np.diff(code[order]) != 0
    if documents.kind is not None:
        kind = documents.kind if order is None else documents.kind[order]
        matters |= kind[1:] != kind[:-1]
    if keep_docnos_for:
        matters |= np.array([name in keep_docnos_for for name in documents.topics])[topic[1:]]
    matters &= tied
    if not matters.any():
        return order, True
    order = np.arange(len(topic)) if order is None else order
    _settle_ties(order, tied, matters, documents.docnos, options.ties == "docno-desc")
    return order, True


def _by_grade(grade: Ints, falling: NDArray[Any], topic: Ints) -> Ints:
    """Positions by topic, falling score and grade; what is equal stays as listed. Most runs list their documents from
    the best to the worst, and few are tied: only these are sorted then."""
    same = topic[1:] == topic[:-1]
    if ((falling[1:] < falling[:-1]) & same).any():
        return np.lexsort((grade, falling, topic))
    tied = same & (falling[1:] == falling[:-1])
    in_tie = np.append(tied, False)
    in_tie[1:] |= tied
    at, order = np.flatnonzero(in_tie[: len(topic)]), np.arange(len(topic))
    tie = np.cumsum(np.append(True, ~tied))[at]
    order[at] = at[np.lexsort((grade[at], tie))]
    return order


def _falling(score: NDArray[Any], options: Options) -> NDArray[Any]:
    """The negated scores, in the precision in which they are compared."""
    falling: NDArray[Any] = -score
    if options.order == "float32":
        with np.errstate(over="ignore"):  # what no single float holds is infinite, and ties
            falling = falling.astype(np.float32).astype(np.float64)
    return falling


def _falls(score: NDArray[Any], counts: Ints) -> bool:
    """Whether each document of a topic scores less than the one before it."""
    climbs = score[1:] >= score[:-1]
    if np.count_nonzero(climbs) >= len(counts):
        return False  # more than where one topic follows another
    last = counts.cumsum() - 1
    climbs[last[(last >= 0) & (last < len(climbs))]] = False
    return not np.count_nonzero(climbs)


def _sorted(falling: NDArray[Any], documents: Documents, topic: Ints, rises: Bools, stable: bool) -> Ints:
    """Positions by topic and falling score. Only with `stable` do equal scores stay as listed.

    rises  positions but the last: whether the next document of the topic is better
    """
    kind: Any = "stable" if stable else "quicksort"
    counts, longest = documents.counts, int(documents.counts.max(initial=0))
    if len(counts) * longest == len(topic):
        alike = falling.reshape(len(counts), longest).argsort(axis=1, kind=kind)
        alike += (counts.cumsum() - counts)[:, None]
        return alike.ravel()
    if len(counts) * 64 > len(topic):  # many short topics: one sort of all costs less than one of each
        order = np.argsort(falling, kind=kind)
        small = topic.astype(np.min_scalar_type(int(topic[-1])))  # numpy sorts small integers by radix
        return order[np.argsort(small[order], kind="stable")]
    order = np.arange(len(topic))
    ends = np.cumsum(counts)
    unsorted = np.bincount(topic[:-1][rises], minlength=len(counts))
    for row in np.flatnonzero(unsorted).tolist():
        begin, end = int(ends[row] - counts[row]), int(ends[row])
        order[begin:end] = np.argsort(falling[begin:end], kind=kind) + begin
    return order


def _settle_ties(
    order: Ints, tied: Bools, matters: Bools, docnos_of: Callable[[Ints], Docnos], descending: bool
) -> None:
    """Put the documents of each tie in docno order, in place.

    tied, matters  of positions from 1: whether the document is tied with the one before, and whether that matters
    docnos_of      those of documents
    """
    starts = np.flatnonzero(np.append(True, ~tied))
    which = np.searchsorted(starts, np.flatnonzero(matters) + 1, side="right") - 1
    which = which[np.append(True, which[1:] != which[:-1])]
    sizes = np.diff(starts, append=len(order))[which]
    at = np.repeat(starts[which], sizes) + ranks(sizes)
    docnos, settled, begin = docnos_of(order[at]).names(), list[int](), 0
    for size in sizes.tolist():
        settled += sorted(range(begin, begin + size), key=docnos.__getitem__, reverse=descending)
        begin += size
    order[at] = order[at[settled]]


LAST_RANK = 2**53 - 1
"""The largest rank that a float tells from the next."""


# Small batches that become one of bounded size.


def coalesce(batches: Iterable[Batch], cells: int, least: int = 0) -> Iterator[Batch]:
    """The topics of all batches in as few as may be, of at most `cells` cells: calls of numpy for a few topics cost
    more than what they do. A topic counts as `least` cells or more."""
    waiting: list[Batch] = []
    topics, width = 0, least
    for batch in batches:
        size, widest = len(batch.topics), max(batch.codes.shape[1], int(batch.pool.judged.max(initial=0)))
        if waiting and (topics + size) * max(width, widest) > cells:
            yield _concatenate(waiting)
            waiting, topics, width = [], 0, least
        waiting.append(batch)
        topics, width = topics + size, max(width, widest)
    if waiting:
        yield _concatenate(waiting)


def _concatenate(batches: list[Batch]) -> Batch:
    """One batch of the topics of several, without the types of documents."""
    if len(batches) == 1:
        return batches[0]
    sizes = [len(batch.topics) for batch in batches]
    width = max(batch.codes.shape[1] for batch in batches)
    codes = np.full((sum(sizes), width), batches[0].padding_code, dtype=batches[0].codes.dtype)
    first = None if batches[0].first is None else np.tile(np.arange(width), (len(codes), 1))
    for begin, batch in zip(np.cumsum([0, *sizes]).tolist(), batches, strict=False):
        codes[begin : begin + len(batch.topics), : batch.codes.shape[1]] = batch.codes
        if first is not None and batch.first is not None:
            first[begin : begin + len(batch.topics), : batch.codes.shape[1]] = batch.first
    mixed = any(batch.as_double is not None for batch in batches)
    return Batch(
        [topic for batch in batches for topic in batch.topics],
        codes,
        np.concatenate([batch.retrieved for batch in batches]),
        counts_of_all([batch.pool for batch in batches]),
        _concatenate_docnos(batches),
        first=first,
        below=None if batches[0].below is None else np.concatenate([batch.below for batch in batches]),
        ties=_concatenate_ties(batches, width),
        as_double=_concatenate([batch.as_double or batch for batch in batches]) if mixed else None,
    )


def _concatenate_docnos(batches: list[Batch]) -> Docnos | None:
    """The docnos of several batches, without names where a batch has none; None where none has any."""
    if all(batch.docnos is None for batch in batches):
        return None
    return Docnos.joined([batch.docnos or Docnos.of([b""] * int(batch.retrieved.sum())) for batch in batches])


def _concatenate_ties(batches: list[Batch], width: int) -> Ties | None:
    """What equal scores leave open in several batches, of at most `width` ranks."""
    if not any(batch.ties for batch in batches):
        return None
    deepest = max(width, *(batch.ties.codes.shape[2] for batch in batches if batch.ties is not None))
    rows, codes, begin = [np.empty(0, np.int64)], [np.empty((2, 0, deepest), batches[0].codes.dtype)], 0
    tied = np.zeros((sum(len(batch.topics) for batch in batches), deepest), bool)
    counts = [np.empty((2, 0), np.int64)]
    for batch in batches:
        if batch.ties is not None:
            own = batch.ties.tied.shape[1]
            tied[begin : begin + len(batch.topics), :own] = batch.ties.tied
            rows.append(begin + batch.ties.rows)
            beyond = [(0, 0), (0, 0), (0, deepest - batch.ties.codes.shape[2])]
            codes.append(np.pad(batch.ties.codes, beyond, constant_values=batch.padding_code))
            counts.append(batch.ties.counts)
        begin += len(batch.topics)
    return Ties(tied, np.concatenate(rows), np.concatenate(codes, axis=1), np.concatenate(counts, axis=1))


def counts_of_all(parts: list[GradeCounts]) -> GradeCounts:
    """The counts of the topics of all parts, one after the other."""
    columns = (np.concatenate([getattr(part, name) for part in parts]) for name in ("size", "code", "count"))
    return GradeCounts(parts[0].labels, *columns)
