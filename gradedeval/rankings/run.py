"""Runs: the documents that a system retrieved for each topic, read line by line or from a dict or DataFrame."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError, ProblemList, plural
from gradedeval.options import Options
from gradedeval.rankings.frames import (
    LAST_RANK,
    TOO_LARGE,
    dict_ranking,
    frame_ranking,
    lines_of,
    ordered_by_rank,
    usual_run,
)
from gradedeval.rankings.objects import NOT_LOOKED, ROWS, Listed, Listing, listing_of, listing_of_frame, readable
from gradedeval.trec.lines import (
    KEEP_ONE,
    RUN,
    LineLayout,
    about_number,
    check_read,
    decimal,
    decode,
    document,
    duplicate,
    records,
    settle_duplicates,
)
from gradedeval.trec.stream import Stream


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

    held   its documents, or their columns where they need no further look
    tag    the sixth column
    notes  what was skipped or assumed
    lines  the line (or row) of each document of columns; none: they count within topics
    listing  what a look at its order says
    """

    place: str
    held: dict[bytes, TopicResults] | Listed
    tag: str = ""
    notes: list[str] = field(default_factory=list)
    lines: Sequence[int] = ()
    listing: Listing = NOT_LOOKED

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
    listing = NOT_LOOKED
    if hasattr(source, "columns") and options.order == "score":
        listing = listing_of_frame(source)
    if not (ranks or types or by_rank) and (usual := usual_run(source, place)) is not None:
        return Run(place, usual, lines=() if isinstance(source, Mapping) else lines_of(source), listing=listing)
    if isinstance(source, Mapping):
        if by_rank:
            raise InputError(place, "a dict has no ranks", "--order rank needs a column of them", usage=True)
        if types:
            hint = "costs need a file, or a DataFrame with a column 'type'"
            raise InputError(place, "a dict has no document types", hint, usage=True)
        rankings = dict_ranking(source, ranks, place)
    else:
        rankings = frame_ranking(source, ranks, types, place, by_rank)
    run = Run(place, {topic: TopicResults(*columns) for topic, columns in rankings.items()}, listing=listing)
    if hasattr(source, "columns") and options.order == "score" and ordered_by_rank(source):
        run.notes.append(by_rank_note(run.place))
    _drop_duplicates(run, options)
    _check_costs(run, options)
    return run


def check_layout(place: str, layout: LineLayout, options: Options, types: bool = False) -> None:
    """Raise InputError where the lines of a run lack what its options need, such as ranks for `--ties rank`."""
    if types and "type" not in layout.columns:
        raise InputError(place, "has no types of documents", "costs need a column of them", usage=True)
    if options.order == "file":
        return
    if "rank" in (options.ties, options.order) and "rank" not in layout.columns:
        flag = "--order rank" if options.order == "rank" else "--ties rank"
        raise InputError(place, "has no ranks", f"{flag} needs a column of them", usage=True)
    if "score" not in layout.columns and not layout.by_rank:
        hint = "--order file keeps the order of its lines"
        raise InputError(place, "has neither scores nor ranks", hint, usage=True)


def run_of_lines(stream: Stream, options: Options, types: bool = False, layout: LineLayout = RUN) -> Run:
    """A run read line by line: the reference that the block reader agrees with, and what reports where a file is wrong.

    types   keep the type of each document: in TREC, column 2
    layout  of its lines
    """
    place, problems = stream.place, ProblemList(stream.place)
    topics: dict[bytes, TopicResults] = {}
    tags: dict[bytes, None] = {}
    kinds: dict[bytes, bytes] = {}
    by_rank = options.order == "rank" or (options.order == "score" and layout.by_rank)
    by_score = options.order == "score" and not by_rank
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
            problems.add(number, *about_number("score", fields[at_score], number), kind="score")
            continue
        if keeps_ranks or by_rank:
            if (rank := decimal(fields[at_rank])) != rank or abs(rank) > LAST_RANK:
                problems.add(number, *_about_rank(fields[at_rank], rank, layout, options))
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
    run.listing = listing_of(*zip(*looked, strict=True)) if looked else NOT_LOOKED
    check_read("documents", bool(run.topics), stream, layout, problems, options.lenient, run.notes)
    _drop_duplicates(run, options)
    _check_costs(run, options)
    return run


def _about_rank(token: bytes, rank: float, layout: LineLayout, options: Options) -> tuple[str, str]:
    """What is wrong with a rank, and what cures it."""
    if rank == rank:
        return f"rank {decode(token)} is too large", TOO_LARGE
    hint = "ranks order this run, which has no scores" if layout.by_rank else "--ties rank needs ranks"
    hint = "--order rank needs ranks" if options.order == "rank" else hint
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


def by_rank_note(place: str) -> str:
    """The note about a run without scores."""
    return f"{place}: has no scores; its documents are ordered by rank"


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
    run.notes += dropped_notes(run.place, dropped, options)


def dropped_notes(place: str, dropped: int, options: Options) -> list[str]:
    """The note about documents that were dropped as duplicates, if there are any."""
    what = f"{place}: dropped {dropped} duplicate {plural(dropped, 'document')}; kept the {options.duplicates} of each"
    return [what] if dropped else []
