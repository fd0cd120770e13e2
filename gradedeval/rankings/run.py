"""Runs: the documents that a system retrieved for each topic, as lists that the join can look up."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError, ProblemList, plural
from gradedeval.options import Options
from gradedeval.rankings.frames import dict_ranking, frame_ranking
from gradedeval.trec.lines import QRELS_FIELDS, RUN_FIELDS, decimal, decode, fields, looks_like, settle, skipped


@dataclass
class Retrieved:
    """What a run retrieved for one topic, in the order listed; `lines` are where each stands in the file, `types` what
    column 2 says of it, where that is asked for.

    Docnos are bytes; of a dict they may be text.
    """

    docnos: list[Any] = field(default_factory=list)
    scores: array[float] | Floats = field(default_factory=lambda: array("d"))
    ranks: array[float] | Floats = field(default_factory=lambda: array("d"))
    lines: array[int] | range = field(default_factory=lambda: array("q"))
    types: list[bytes] = field(default_factory=list)

    def keep(self, positions: list[int]) -> Retrieved:
        """Only the documents at these positions."""
        return Retrieved(
            [self.docnos[at] for at in positions],
            np.asarray(self.scores)[positions] if len(self.scores) else self.scores,
            np.asarray(self.ranks)[positions] if len(self.ranks) else self.ranks,
            array("q", [self.lines[at] for at in positions]),
            [self.types[at] for at in positions] if self.types else [],
        )


@dataclass
class Run:
    """One run: topic -> what was retrieved. `tag` is its sixth column; notes: what was skipped or assumed."""

    place: str
    topics: dict[bytes, Retrieved]
    tag: str = ""
    notes: list[str] = field(default_factory=list)


def read_run(source: Any, options: Options, types: bool = False) -> Run:
    """A run from a DataFrame with the columns topic, docno and score (or the names of ir_measures and PyTerrier), or
    from a dict topic -> docno -> score; those in files are read in blocks. `types`: with the type of each document, a
    column `type` of a DataFrame.

    Raises InputError where the source is no run, and where a docno stands twice in a topic and the rules do not settle
    it.
    """
    ranks = options.ties == "rank" and options.order == "score"
    if isinstance(source, Mapping):
        if types:
            raise InputError(
                "run", "a dict has no types", "costs take a file or a DataFrame with a column 'type'", usage=True
            )
        run = Run("run", {topic: Retrieved(*found) for topic, found in dict_ranking(source, ranks).items()})
    elif hasattr(source, "columns"):
        run = Run("run", {topic: Retrieved(*found) for topic, found in frame_ranking(source, ranks, types).items()})
    else:
        kinds = "give a path, an open file, a DataFrame or a dict"
        raise InputError("run", f"cannot read a {type(source).__name__}", kinds, usage=True)
    _settle_duplicates(run, options)
    _check_costs(run, options)
    return run


def run_of_bytes(place: str, data: bytes, options: Options, types: bool = False) -> Run:
    """A run line by line: the reference that the block reader agrees with, and what says where a file is wrong.

    types  keep column 2, the type of each document
    """
    findings = ProblemList(place)
    topics: dict[bytes, Retrieved] = {}
    tags: dict[bytes, None] = {}
    kinds: dict[bytes, bytes] = {}
    wants_scores, wants_ranks = options.order == "score", options.ties == "rank" and options.order == "score"
    now, found = None, Retrieved()
    for number, (topic, kind, docno, rank, token, tag) in fields(data, findings, RUN_FIELDS, options.extra_fields):
        if topic != now:
            now, found = topic, topics.setdefault(topic, Retrieved())
            tags[tag] = None
        if wants_scores:
            score = score_of(token)
            if score != score:
                findings.add(number, *about_score(token, number))
                continue
        if wants_ranks:
            listed = decimal(rank)
            if listed != listed:
                findings.add(number, f"rank '{decode(rank)}' is no number", "--ties rank needs ranks")
                continue
            found.ranks.append(listed)  # type: ignore[union-attr]
        if wants_scores:
            found.scores.append(score)  # type: ignore[union-attr]
        if types:
            found.types.append(kinds.setdefault(kind, kind))
        found.docnos.append(docno)
        found.lines.append(number)  # type: ignore[union-attr]
    if not any(found.docnos for found in topics.values()) and looks_like(data, QRELS_FIELDS):
        raise InputError(
            place,
            f"looks like qrels ({len(QRELS_FIELDS)} fields a line)",
            "the order is RUN... QRELS: are they swapped?",
        )
    run = Run(place, {topic: found for topic, found in topics.items() if found.docnos}, decode(next(iter(tags), b"")))
    settle(findings, options.lenient, run.notes)
    if not run.topics:
        raise InputError(place, f"no documents{skipped(findings)}", f"lines of {' '.join(RUN_FIELDS)} are expected")
    _settle_duplicates(run, options)
    _check_costs(run, options)
    return run


def about_score(token: bytes, number: int) -> tuple[str, str]:
    """What is wrong with the score in line `number`, and the cure."""
    hint = "remove the line if it is a header" if number == 1 else "a score is a finite decimal number"
    return f"score '{decode(token)}' is no number", hint


def score_of(token: bytes) -> float:
    """As `decimal`, the quicker way: `float` first, and a second look at what only `float` would take."""
    try:
        score = float(token)
    except ValueError:
        return np.nan
    return score if score - score == 0 and b"_" not in token else np.nan


def _check_costs(run: Run, options: Options) -> None:
    """Raise InputError for types that have no cost, each where it stands first."""
    if options.costs is None:
        return
    first: dict[bytes, int] = {}
    for found in run.topics.values():
        for kind in set(found.types) - options.costs.of.keys():
            line = found.lines[found.types.index(kind)]
            first[kind] = min(line, first.get(kind, line))
    findings = ProblemList(run.place)
    for kind, line in first.items():
        findings.add(line, f"type '{decode(kind)}' has no cost", f"add it to {options.costs.place}")
    findings.check()


def _settle_duplicates(run: Run, options: Options) -> None:
    """A docno more than once in a topic: an error with both lines, or the first or last of them and a note."""
    findings = ProblemList(run.place)
    dropped = 0
    for topic, found in run.topics.items():
        told_apart = isinstance(found.lines, range) and isinstance(found.docnos[0] if found.docnos else "", str)
        if told_apart or len(set(found.docnos)) == len(found.docnos):  # the text of a dict's keys is
            continue
        first: dict[bytes, int] = {}
        last: dict[bytes, int] = {}
        for at, docno in enumerate(found.docnos):
            if docno in first and options.duplicates in ("error", "refuse"):
                name = docno if isinstance(docno, str) else decode(docno)
                what = f"docno {name} of topic {decode(topic)} again, first in line {found.lines[first[docno]]}"
                findings.add(found.lines[at], what, "--duplicates first or last keeps one")
            first.setdefault(docno, at)
            last[docno] = at
        kept = sorted((first if options.duplicates == "first" else last).values())
        dropped += len(found.docnos) - len(kept)
        run.topics[topic] = found.keep(kept)
    findings.check()
    run.notes += dropped_notes(run.place, dropped, options)


def dropped_notes(place: str, dropped: int, options: Options) -> list[str]:
    """What is said of documents that were dropped because they repeat."""
    said = f"{place}: {dropped} repeated {plural(dropped, 'document')} dropped; the {options.duplicates} counts"
    return [said] if dropped else []
