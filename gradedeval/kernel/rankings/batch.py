"""Batches: topics of a run joined with their judgments, and the documents from which they are made."""

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
    from gradedeval.kernel.rankings.document_numbers import DocumentNumbers

Codes = NDArray[Any]


@dataclass(eq=False, repr=False)
class Ties:
    """The alternatives that equal scores leave open in a batch.

    tied   topics × ranks: whether another document has the same score
    rows   the topics with ties between documents of different grades
    codes  2 × these topics × ranks: codes in the worst order and in the best; the unjudged rank below every grade
    counts 2 × these topics: number of documents in each order
    """

    tied: Bools
    rows: Ints
    codes: NDArray[Any]
    counts: Ints

    def of_row(self, row: int) -> Ties:
        """Return the ties of one topic."""
        positions = np.flatnonzero(self.rows == row)
        zeros = np.zeros(len(positions), dtype=np.int64)
        return Ties(self.tied[row : row + 1], zeros, self.codes[:, positions], self.counts[:, positions])

    def down_to(self, rank: int) -> Ties:
        """Return the ties without the ranks below `rank`; lists keep their lengths."""
        return Ties(self.tied[:, :rank], self.rows, self.codes[:, :, :rank], self.counts)

    def cut(self, depth: int) -> Ties:
        """Return the ties of lists cut at `depth`."""
        return replace(self.down_to(depth), counts=np.minimum(self.counts, depth))


@dataclass(eq=False, repr=False)
class GradeCounts:
    """The number of judged documents with each label in each topic: the nonzero cells of a table topics × labels, by
    topic.

    A dense table could be the square of the judgments: with fractions as grades, there may be as many labels as topics.

    labels  number of labels
    size    topics: number of cells
    code    cells: index into the labels, ascending within a topic
    count   cells: number of documents
    """

    labels: int
    size: Ints
    code: Ints
    count: Ints

    @classmethod
    def of(cls, topic: NDArray[Any], code: Codes, topics: int, labels: int) -> GradeCounts:
        """Count the documents from the topic and the code of every judgment, given the numbers of topics and labels."""
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
        """Sum partial counts in any order."""
        cells, place = distinct(topic * labels + code)
        row = cells // max(labels, 1)
        total = np.bincount(place, weights=count, minlength=len(cells)).astype(np.int64)
        return cls(labels, np.bincount(row, minlength=topics), cells - row * labels, total)

    def __len__(self) -> int:
        """Return the number of topics."""
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

    def per_topic(self, included: Bools | None = None) -> Ints:
        """Return the number of judged documents of each topic; with `included`, only of labels that are true there."""
        count = self.count if included is None else self.count * included[self.code]
        total = np.append(0, count.cumsum())
        per_topic: Ints = total[self.begin + self.size] - total[self.begin]
        return per_topic

    @cached_property
    def judged(self) -> Ints:
        """topics: number of documents with a label."""
        return self.per_topic()

    def select(self, rows: Ints) -> GradeCounts:
        """Return the counts of some topics, which may repeat."""
        size = self.size[rows]
        cells = ranges(self.begin[rows], size)
        return GradeCounts(self.labels, size, self.code[cells], self.count[cells])

    def without(self, topic: Ints, code: Ints) -> GradeCounts:
        """Subtract documents, given by topic and code."""
        cells = np.searchsorted(self.topic * self.labels + self.code, topic * self.labels + code)
        return replace(self, count=self.count - np.bincount(cells, minlength=len(self.count)))

    def table(self) -> Ints:
        """Return the dense table, topics × labels; small only for few topics or few labels."""
        table = np.zeros((len(self.size), self.labels), dtype=np.int64)
        table[self.topic, self.code] = self.count
        return table

    def sorted_gains(self, gain_of_label: Floats) -> Floats:
        """Return the gains of the documents of each topic, topics × …, descending, padded with zeros; gains of 0 are
        left out.

        Equal gains of different labels are ordered by label.

        gain_of_label  labels: the gain of a document
        """
        order = np.argsort(-gain_of_label, kind="stable")[: np.count_nonzero(gain_of_label)]
        place = np.full(self.labels, len(order))
        place[order] = np.arange(len(order))
        cells = np.flatnonzero(place[self.code] < len(order))
        cells = cells[np.argsort(self.topic[cells] * len(order) + place[self.code[cells]], kind="stable")]
        each = self.per_topic(gain_of_label != 0)
        gains = np.zeros((len(each), int(each.max(initial=0))))
        inside = np.arange(gains.shape[1]) < each[:, None]
        gains[inside] = np.repeat(gain_of_label[self.code[cells]], self.count[cells])
        return gains


@dataclass(eq=False, repr=False)
class Batch:
    """Some topics of a run, joined with their judgments. Strings other than topic ids are kept only on request.

    topics          the ids
    codes           topics × ranks: index into the labels of the qrels; `unjudged_code` and `padding_code` follow the
                    labels
    retrieved       topics: number of documents
    pool            number of judged documents with each label, by topic
    docnos          docnos of documents, by topic in rank order; None unless requested
    numbers         topics × ranks: number of the document across several runs, 0 beyond the end; None unless numbered
    types           names of the documents' types, column 2 of the run, if requested
    type_index      topics × ranks: index into `types`, −1 beyond the end; None unless requested
    first           topics × ranks: the first column tied with the document, for `--ties average`
    unjudged_below  topics: number of unjudged documents below these ranks; None: none, or not requested
    highest         topics: the highest score of a document, −inf without documents; None unless requested
    ties            alternatives that equal scores leave open; None: none, or not requested
    float64_batch   the batch with scores compared as float64 for some measures, if others compare them as float32 and
                    the two orders differ
    """

    topics: list[bytes]
    codes: Codes
    retrieved: Ints
    pool: GradeCounts
    docnos: Docnos | None = None
    numbers: NDArray[np.int32] | None = None
    types: list[bytes] = field(default_factory=list)
    type_index: Ints | None = None
    first: Ints | None = None
    unjudged_below: Ints | None = None
    highest: Floats | None = None
    ties: Ties | None = None
    float64_batch: Batch | None = None

    def docnos_of(self, row: int) -> Docnos:
        """Return the docnos of a topic in rank order."""
        assert self.docnos is not None
        end = int(self.retrieved[: row + 1].sum())
        return self.docnos[end - int(self.retrieved[row]) : end]

    def select(self, rows: Ints) -> Batch:
        """Return some of its topics, which may repeat, without docnos, numbers and ties."""
        names = ("codes", "retrieved", "type_index", "first", "unjudged_below", "highest")
        arrays = {name: getattr(self, name) for name in names}
        chosen = {name: array[rows] for name, array in arrays.items() if array is not None}
        float64_batch = self.float64_batch and self.float64_batch.select(rows)
        selected = replace(self, docnos=None, numbers=None, ties=None, float64_batch=float64_batch)
        topics = [self.topics[row] for row in rows.tolist()]
        return replace(selected, topics=topics, pool=self.pool.select(rows), **chosen)

    def ranked_alike(self, second: Batch) -> bool:
        """Check if another order of the same documents gives the same scores and leaves the same ties open."""
        orders = [
            (batch.codes, batch.type_index, batch.first, batch.ties and batch.ties.tied) for batch in (self, second)
        ]
        return all(
            first_array is second_array is None
            or (first_array is not None and second_array is not None and np.array_equal(first_array, second_array))
            for first_array, second_array in zip(*orders, strict=True)
        )

    def numbered(self, documents: DocumentNumbers) -> Batch:
        """Replace docnos by numbers."""
        assert self.docnos is not None
        numbers: NDArray[Any] = np.zeros(self.codes.shape, dtype=np.int32)
        inside = np.arange(numbers.shape[1]) < self.retrieved[:, None]
        numbers[inside] = documents.numbers(documents.topics(self.topics, self.retrieved), self.docnos) + 1
        float64_batch = self.float64_batch and self.float64_batch.numbered(documents)
        return replace(self, docnos=None, numbers=numbers, float64_batch=float64_batch)

    def down_to(self, rank: int | None, judged: Bools | None = None) -> Batch:
        """Return the batch without the ranks below `rank`; None keeps all.

        judged  code: whether it is judged; if given, the unjudged documents below are counted
        """
        if rank is None:
            return self
        return replace(
            self,
            codes=self.codes[:, :rank],
            numbers=None if self.numbers is None else self.numbers[:, :rank],
            type_index=None if self.type_index is None else self.type_index[:, :rank],
            unjudged_below=None if judged is None else count_unjudged(self.codes[:, rank:], judged),
            ties=self.ties and self.ties.down_to(rank),
            float64_batch=self.float64_batch and self.float64_batch.down_to(rank, judged),
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
    counts  topics: number of documents
    code    documents: index into the labels of the qrels; the code of the unjudged follows the labels
    score   documents: scores or numbers in the same order; None if scores do not matter
    rank    documents: rank stated in the run; None if it does not matter
    docnos  positions of documents -> docnos
    types   names of the types; `kind`: documents: index into them, None if types do not matter
    tie_ids positions of documents -> ids that break ties; None: docnos do
    """

    topics: list[bytes]
    counts: Ints
    code: Codes
    score: Floats | Ints | None
    rank: Floats | None
    docnos: Callable[[Ints], Docnos]
    types: list[bytes] = field(default_factory=list)
    kind: Ints | None = None
    tie_ids: Callable[[Ints], Docnos] | None = None

    def select(self, rows: Ints) -> Documents:
        """Return some topics, in any order."""
        positions, tie_ids = positions_of(self.counts, rows), self.tie_ids
        return replace(
            self,
            topics=[self.topics[row] for row in rows.tolist()],
            counts=self.counts[rows],
            code=self.code[positions],
            score=self.score[positions] if self.score is not None else None,
            rank=self.rank[positions] if self.rank is not None else None,
            docnos=lambda chosen: self.docnos(positions[chosen]),
            kind=self.kind[positions] if self.kind is not None else None,
            tie_ids=None if tie_ids is None else lambda chosen: tie_ids(positions[chosen]),
        )


def count_unjudged(codes: Codes, judged: Bools) -> Ints:
    """Count the unjudged documents of each topic.

    codes   topics × ranks
    judged  code: whether it is judged; the last code is padding
    """
    counts: Ints = np.count_nonzero(~judged[codes] & (codes != len(judged) - 1), axis=1)
    return counts


def condensed(batch: Batch, judged: Bools) -> Batch:
    """Return the batch without unjudged documents, with codes of full rankings; `judged`: code: whether it is."""
    is_judged = judged[batch.codes]
    counts = np.count_nonzero(is_judged, axis=1)
    width = int(counts.max(initial=0))
    order = np.argsort(~is_judged, axis=1, kind="stable")[:, :width]
    inside = np.arange(width) < counts[:, None]
    codes = np.where(inside, np.take_along_axis(batch.codes, order, 1), batch.padding_code).astype(batch.codes.dtype)
    type_index, first = batch.type_index, batch.first
    if type_index is not None:
        type_index = np.where(inside, np.take_along_axis(type_index, order, 1), -1)
    if first is not None:  # the new column of the first tied document that is judged
        above = np.take_along_axis(is_judged.cumsum(1) - is_judged, first, 1)
        first = np.where(inside, np.take_along_axis(above, order, 1), np.arange(width))
    rest: dict[str, Any] = dict.fromkeys(("unjudged_below", "highest", "docnos"))
    return replace(batch, codes=codes, retrieved=counts, type_index=type_index, first=first, **rest)


# Documents of a run with their grade codes -> rankings: ordered, cut, and laid out as topics × ranks.


def to_batch(
    documents: Documents,
    pool: GradeCounts,
    judged: Bools,
    options: Options,
    keep_docnos_for: Container[bytes],
    keep_ties: bool = False,
    last_rank: int | None = None,
    keep_highest: bool = False,
) -> Batch:
    """Order and cut the documents of these topics by the options, and lay them out as a batch.

    pool       number of judged documents with each label, by topic
    judged     code: whether it is judged
    keep_ties  whether to record tied documents even if no score is averaged over ties; `keep_highest`: highest scores
    last_rank  the last rank of the batch; None: all ranks
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
        retrieved, open_ties = np.minimum(retrieved, options.depth), open_ties and open_ties.cut(options.depth)
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
        highest=_highest(documents, order, retrieved) if keep_highest else None,
        ties=open_ties,
    ).down_to(last_rank, judged if options.bounds else None)


def _highest(documents: Documents, order: Ints | None, retrieved: Ints) -> Floats | None:
    """Return the highest score of each topic; None without scores."""
    if documents.score is None:
        return None
    highest = np.full(len(retrieved), -np.inf)
    score = documents.score if order is None else documents.score[order]
    np.maximum.at(highest, np.arange(len(retrieved)).repeat(retrieved), score)
    return highest


def _first_cut(options: Options) -> int | None:
    """Return the depth of a cut before unjudged documents are removed, as with trec_eval's -M and -J; else None."""
    return options.depth if options.like == "trec_eval" else None


def _judged_only(documents: Documents, order: Ints | None, judged: Bools, options: Options) -> tuple[Ints, Ties | None]:
    """Return the positions of judged documents in rank order, and the ties that remain open if lists are cut first.

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
    """Return the open ties of whole lists after a cut and the removal of unjudged documents.

    included  documents in rank order: whether the document remains
    """
    padding = len(judged) - 1
    row, rank = np.repeat(np.arange(len(retrieved)), retrieved)[included], ranks(retrieved)[included]
    counts = np.bincount(row, minlength=len(retrieved))
    is_left = judged[ties.codes] & (np.arange(ties.codes.shape[2]) < depth)
    of_order = is_left.sum(2)
    width = int(max(counts.max(initial=0), of_order.max(initial=0)))
    tied, codes = np.zeros((len(counts), width), bool), np.full((*of_order.shape, width), padding, ties.codes.dtype)
    tied[np.arange(width) < counts[:, None]] = ties.tied[row, rank]
    codes[np.arange(width) < of_order[..., None]] = ties.codes[is_left]
    # Documents that another order would keep are tied with documents beyond the cut.
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
    """Return the open ties of lists before they are cut; None if the user has chosen an order of ties.

    code  documents in rank order
    """
    if documents.score is None or "ties" in options.given or not len(code):
        return None
    if options.depth is not None:
        last_rank = options.depth if last_rank is None else min(last_rank, options.depth)
    width = int(retrieved.max())
    seen = width if last_rank is None else min(width, last_rank)
    looked_depth = min(width, seen + 1)  # one rank more: a tie may go on below
    tied_with_next = _tied_with_next(documents.score, order, retrieved, looked_depth, options)
    if not tied_with_next.any():
        return None
    tied = np.zeros((len(retrieved), looked_depth), bool)
    tied[:, 1:] = tied_with_next
    tied[:, :-1] |= tied_with_next
    heads = _heads(code, retrieved, looked_depth)
    is_open = (tied_with_next & (heads[:, 1:] != heads[:, :-1])).any(axis=1)
    if looked_depth > seen:  # a tie may matter because of documents below
        is_open |= tied_with_next[:, -1]
    rows = np.flatnonzero(is_open)
    score = documents.score if order is None else documents.score[order]
    if len(rows) < len(retrieved):
        positions = positions_of(retrieved, rows)
        score, code = score[positions], code[positions]
    score = _falling(score, options) if options.order == "float32" else score
    is_open_topic, codes = _worst_and_best(score, code, retrieved[rows], unjudged, last_rank)
    lacking = [(0, 0), (0, 0), (0, max(0, seen - codes.shape[2]))]
    padded = np.pad(codes, lacking, constant_values=unjudged + 1) if lacking[2][1] else codes[:, :, :seen]
    counts = retrieved[rows[is_open_topic]]
    return Ties(tied[:, :seen], rows[is_open_topic], padded, np.stack([counts, counts]))


def _tied_with_next(
    score: NDArray[Any], order: Ints | None, counts: Ints, width: int, options: Options
) -> NDArray[np.bool_]:
    """Compare each document's score to the next rank's, topics × ranks but the last; only the first `width` ranks,
    which is cheap even for long lists."""
    head = _heads(score, counts, width) if order is None else score[_heads(order, counts, width)]
    head = _falling(head, options) if options.order == "float32" else head
    same: NDArray[np.bool_] = head[:, 1:] == head[:, :-1]
    if counts.min() < width:
        same &= np.arange(1, width) < counts[:, None]
    return same


def _worst_and_best(
    score: NDArray[Any], code: Codes, counts: Ints, unjudged: int, last_rank: int | None
) -> tuple[Bools, Codes]:
    """Return a mask of the topics in which documents of different grades are tied, in a tie that begins above
    `last_rank`, and their codes in the worst and the best order: 2 × these topics × ranks."""
    same = np.append(score[1:] == score[:-1], False)  # as the next document's
    ends = np.cumsum(counts)
    same[ends[ends > 0] - 1] = False
    follows = np.append(False, same[:-1])
    tied = np.flatnonzero(same | follows)  # few documents are tied, as a rule
    first = ~follows[tied]
    begin = tied[np.maximum.accumulate(np.where(first, np.arange(len(tied)), 0))]
    row = np.searchsorted(ends, tied, side="right")
    changes = ~first & (code[tied] != code[tied - 1])
    if last_rank is not None:
        changes &= begin - (ends - counts)[row] < last_rank
    is_open = np.bincount(row[changes], minlength=len(counts)) > 0
    begin, grade = begin * (unjudged + 1), code[tied].astype(np.int64) + 1
    grade[grade > unjudged] = 0  # the unjudged rank below every grade
    worst = np.sort(begin + grade) - begin  # one key for tie and grade
    best = unjudged - (np.sort(begin + unjudged - grade) - begin)
    codes = []
    for grades in (worst, best):
        ordered = code.copy()
        ordered[tied] = np.where(grades == 0, unjudged, grades - 1)
        codes.append(_to_matrix(ordered, counts, unjudged + 1)[is_open])
    return is_open, np.stack(codes)


def _heads(values: NDArray[Any], counts: Ints, width: int) -> NDArray[Any]:
    """Return the first `width` values of each topic, topics × ranks, from values topic after topic; arbitrary beyond
    the end."""
    longest = int(counts.max(initial=0))
    if len(counts) * longest == len(values):
        return values.reshape(len(counts), longest)[:, :width]
    position = (np.cumsum(counts) - counts)[:, None] + np.arange(width)
    heads: NDArray[Any] = values[np.minimum(position, len(values) - 1, out=position)]
    return heads


def _ties(documents: Documents, order: Ints | None, retrieved: Ints, options: Options) -> Ints:
    """Return the first column tied with each document, topics × ranks; without scores, no two are tied."""
    if documents.score is None:
        return np.tile(np.arange(int(retrieved.max(initial=0))), (len(retrieved), 1))
    falling = _falling(documents.score if order is None else documents.score[order], options)
    within = ranks(retrieved)
    begins = (within == 0) | np.append(True, falling[1:] != falling[:-1])[: len(within)]
    first = within[np.maximum.accumulate(np.where(begins, np.arange(len(within)), 0))]
    matrix = _to_matrix(first, retrieved, -1)
    return np.where(matrix < 0, np.arange(matrix.shape[1]), matrix)


def _to_matrix(values: NDArray[Any], counts: Ints, beyond: int) -> NDArray[Any]:
    """Lay out values topic after topic as topics × ranks, padded with `beyond`."""
    width = int(counts.max(initial=0))
    if len(counts) * width == len(values):
        return values.reshape(len(counts), width)
    matrix = np.full((len(counts), width), beyond, dtype=values.dtype)
    matrix[np.arange(width) < counts[:, None]] = values
    return matrix


def _rank_order(
    documents: Documents, topic: Ints, unjudged: int, options: Options, keep_docnos_for: Container[bytes]
) -> tuple[Ints | None, bool]:
    """Return the positions of documents from best to worst in each topic, and whether any may be tied.

    The positions are None if documents are listed in that order. Docnos only break ties that can change a score,
    between different grades or types, and all ties of topics in `keep_docnos_for`.
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
        grade = np.where(code == unjudged, -1, code.astype(np.int64))  # the unjudged rank below every grade
        return _by_grade(grade if options.ties == "worst" else -grade, falling, topic), True
    same = topic[1:] == topic[:-1]
    order = None
    rises = (falling[1:] < falling[:-1]) & same
    if np.count_nonzero(rises):  # faster than `any` on few documents
        order = _sorted(falling, documents, topic, rises, options.ties == "file")
        falling = falling.take(order)
    tied = same & (falling[1:] == falling[:-1])
    if options.ties == "file" or not np.count_nonzero(tied):
        return order, options.ties == "file"
    # A tie is a stretch of positions each tied with the previous one; it matters if grades or types differ within it.
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
    _settle_ties(order, tied, matters, documents.tie_ids or documents.docnos, options.ties == "docno-desc")
    return order, True


def _by_grade(grade: Ints, falling: NDArray[Any], topic: Ints) -> Ints:
    """Return positions by topic, falling score and grade; equal documents stay as listed. Most runs list documents from
    best to worst, with few ties: then only tied documents are sorted."""
    same = topic[1:] == topic[:-1]
    if ((falling[1:] < falling[:-1]) & same).any():
        return np.lexsort((grade, falling, topic))
    tied = same & (falling[1:] == falling[:-1])
    in_tie = np.append(tied, False)
    in_tie[1:] |= tied
    positions, order = np.flatnonzero(in_tie[: len(topic)]), np.arange(len(topic))
    tie = np.cumsum(np.append(True, ~tied))[positions]
    order[positions] = positions[np.lexsort((grade[positions], tie))]
    return order


def _falling(score: NDArray[Any], options: Options) -> NDArray[Any]:
    """Negate the scores, in the precision in which they are compared."""
    falling: NDArray[Any] = -score
    if options.order == "float32":
        with np.errstate(over="ignore"):  # scores beyond single precision become infinite, and tie
            falling = falling.astype(np.float32).astype(np.float64)
    return falling


def _falls(score: NDArray[Any], counts: Ints) -> bool:
    """Check if each document of a topic scores less than the previous one."""
    climbs = score[1:] >= score[:-1]
    if np.count_nonzero(climbs) >= len(counts):
        return False  # more than the boundaries between topics
    last = counts.cumsum() - 1
    climbs[last[(last >= 0) & (last < len(climbs))]] = False
    return not np.count_nonzero(climbs)


def _sorted(falling: NDArray[Any], documents: Documents, topic: Ints, rises: Bools, stable: bool) -> Ints:
    """Return positions by topic and falling score; equal scores stay as listed only if `stable`.

    rises  positions but the last: whether the next document of the topic is better
    """
    kind: Any = "stable" if stable else "quicksort"
    counts, longest = documents.counts, int(documents.counts.max(initial=0))
    if len(counts) * longest == len(topic):
        by_row = falling.reshape(len(counts), longest).argsort(axis=1, kind=kind)
        by_row += (counts.cumsum() - counts)[:, None]
        return by_row.ravel()
    if len(counts) * 64 > len(topic):  # many short topics: a single sort costs less than one for each
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
    """Sort the documents of each tie by docno, in place.

    tied, matters  positions from 1: whether the document is tied with the previous one, and whether that matters
    """
    starts = np.flatnonzero(np.append(True, ~tied))
    tie = np.searchsorted(starts, np.flatnonzero(matters) + 1, side="right") - 1
    tie = tie[np.append(True, tie[1:] != tie[:-1])]
    sizes = np.diff(starts, append=len(order))[tie]
    positions = np.repeat(starts[tie], sizes) + ranks(sizes)
    docnos, settled, begin = docnos_of(order[positions]).names(), list[int](), 0
    for size in sizes.tolist():
        settled += sorted(range(begin, begin + size), key=docnos.__getitem__, reverse=descending)
        begin += size
    order[positions] = order[positions[settled]]


LAST_RANK = 2**53 - 1
"""The largest rank that a float distinguishes from the next."""


# Small batches merged into batches of bounded size.


def coalesce(batches: Iterable[Batch], cells: int, least: int = 0) -> Iterator[Batch]:
    """Merge batches into as few as possible, of at most `cells` cells; a topic counts as `least` cells or more. NumPy
    calls for a few topics cost more than their work."""
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
    """Concatenate batches, without types of documents."""
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
    unjudged_below = None
    if batches[0].unjudged_below is not None:
        unjudged_below = np.concatenate([batch.unjudged_below for batch in batches])
    mixed = any(batch.float64_batch is not None for batch in batches)
    counts = (np.concatenate([getattr(batch.pool, name) for batch in batches]) for name in ("size", "code", "count"))
    docnos = None
    if any(batch.docnos is not None for batch in batches):  # empty names for batches that have none
        docnos = Docnos.joined([batch.docnos or Docnos.of([b""] * int(batch.retrieved.sum())) for batch in batches])
    return Batch(
        [topic for batch in batches for topic in batch.topics],
        codes,
        np.concatenate([batch.retrieved for batch in batches]),
        GradeCounts(batches[0].pool.labels, *counts),
        docnos,
        first=first,
        unjudged_below=unjudged_below,
        highest=None if batches[0].highest is None else np.concatenate([batch.highest for batch in batches]),
        ties=_concatenate_ties(batches, width),
        float64_batch=_concatenate([batch.float64_batch or batch for batch in batches]) if mixed else None,
    )


def _concatenate_ties(batches: list[Batch], width: int) -> Ties | None:
    """Concatenate the open ties of batches of at most `width` ranks."""
    if not any(batch.ties for batch in batches):
        return None
    deepest = max(width, *(batch.ties.codes.shape[2] for batch in batches if batch.ties is not None))
    rows, codes, begin = [np.empty(0, np.int64)], [np.empty((2, 0, deepest), batches[0].codes.dtype)], 0
    tied = np.zeros((sum(len(batch.topics) for batch in batches), deepest), bool)
    counts = [np.empty((2, 0), np.int64)]
    for batch in batches:
        if batch.ties is not None:
            depth = batch.ties.tied.shape[1]
            tied[begin : begin + len(batch.topics), :depth] = batch.ties.tied
            rows.append(begin + batch.ties.rows)
            beyond = [(0, 0), (0, 0), (0, deepest - batch.ties.codes.shape[2])]
            codes.append(np.pad(batch.ties.codes, beyond, constant_values=batch.padding_code))
            counts.append(batch.ties.counts)
        begin += len(batch.topics)
    return Ties(tied, np.concatenate(rows), np.concatenate(codes, axis=1), np.concatenate(counts, axis=1))
