"""Preferences: documents that a judge puts before others, and how many of these orders a ranking keeps.

A judgment group is one judge's view of a topic: one or several lists of documents with values, where a larger value is
preferred. What one list says and what follows from several of them are preferences alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.errors import InputError, ProblemList
from gradedeval.trec.duplicates import document, duplicate, settle_duplicates
from gradedeval.trec.lines import QRELS_FIELDS, about_number, decimal, expected_lines, records
from gradedeval.trec.source import Source

PREFS_FIELDS = ("topic", "group", "subgroup", "docno", "value")

Lists = dict[bytes, dict[bytes, float]]
"""Subgroup -> docno -> value: the lists of one judgment group."""


@dataclass
class Preferences:
    """Topic -> group -> lists, in the order in which they were met."""

    place: str
    topics: dict[bytes, dict[bytes, Lists]] = field(default_factory=dict)


def read_preferences(path: str, form: str) -> Preferences:
    """The preferences of a file: `prefs` has five fields per line, `qrels_prefs` is qrels, one list for each topic.

    Raises InputError for bad lines, and where a list has a document twice.
    """
    source = Source(path)
    problems = ProblemList(source.place)
    expected = PREFS_FIELDS if form == "prefs" else QRELS_FIELDS
    keys: list[tuple[bytes, bytes, bytes, bytes]] = []
    lines: list[int] = []
    values: list[float] = []
    for number, row in records(source.read(), expected, problems):
        if (value := decimal(row[-1])) != value:
            problems.add(number, *about_number("value", row[-1], number))
            continue
        group, subgroup = (row[1], row[2]) if form == "prefs" else (b"", b"")
        keys.append((row[0], group, subgroup, row[-2]))
        lines.append(number)
        values.append(value)

    def repeated(position: int, first: int) -> None:
        topic, _, _, docno = keys[position]
        what = duplicate(f"{document(docno, topic)} in its list", lines[first])
        problems.add(lines[position], what, kind="duplicate-judgment")

    preferences = Preferences(source.place)
    for (topic, group, subgroup, docno), position in settle_duplicates(keys, "error", repeated).items():
        lists = preferences.topics.setdefault(topic, {}).setdefault(group, {})
        lists.setdefault(subgroup, {})[docno] = values[position]
    problems.check()
    if not preferences.topics:
        raise InputError(source.place, "no preferences", expected_lines(expected), kind="empty")
    return preferences


@dataclass(frozen=True, eq=False)
class _Group:
    """One group beside a ranking.

    number  documents: their number among all of the topic
    before  documents × documents: whether the row is preferred to the column
    value   documents: the largest value that a list gives; 0 and below is not relevant
    rank    documents: where they stand, infinite where they are not retrieved
    single  whether it is one list
    """

    number: Any
    before: Bools
    value: Floats
    rank: Floats
    single: bool

    @property
    def kept(self) -> Bools:
        """Preferences that the ranking keeps; a document that is not retrieved comes after all that are."""
        return self.before & (self.rank[:, None] < self.rank[None, :])

    @property
    def retrieved(self) -> Bools:
        return np.isfinite(self.rank)

    @property
    def both(self) -> Bools:
        """Pairs of documents that are both retrieved."""
        return self.retrieved[:, None] & self.retrieved[None, :]

    @property
    def either(self) -> Bools:
        return self.retrieved[:, None] | self.retrieved[None, :]


def _group(lists: Lists, number: Mapping[bytes, int], rank: Mapping[bytes, int]) -> _Group:
    docnos = list(dict.fromkeys(docno for own in lists.values() for docno in own))
    at = {docno: row for row, docno in enumerate(docnos)}
    before = np.zeros((len(docnos), len(docnos)), dtype=bool)
    for own in lists.values():
        rows = np.array([at[docno] for docno in own])
        values = np.array(list(own.values()))
        before[np.ix_(rows, rows)] |= values[:, None] > values[None, :]
    if len(lists) > 1:
        before = _closed(before)
    return _Group(
        np.array([number[docno] for docno in docnos]),
        before,
        np.array([max(own[docno] for own in lists.values() if docno in own) for docno in docnos]),
        np.array([rank.get(docno, np.inf) for docno in docnos], dtype=np.float64),
        len(lists) == 1,
    )


def _closed(before: Bools) -> Bools:
    """With what follows: where a comes before b, and b before c, a comes before c."""
    for middle in range(len(before)):
        before |= before[:, middle, None] & before[middle, None, :]
    np.fill_diagonal(before, False)
    return before


def _with_r_others(group: _Group, retrieved: bool) -> float:
    """The share of preferences kept when as many documents count as not relevant as are relevant, R of them.

    Where there are fewer, unseen ones stand after all that are retrieved. `retrieved` looks at the retrieved documents
    alone, and at as many others as relevant ones are retrieved.
    """
    relevant, seen = group.value > 0, group.retrieved
    reached = int((relevant & seen).sum())
    most = reached if retrieved else int(relevant.sum())
    others = ~relevant & seen if retrieved else ~relevant
    count = int(others.sum())
    if group.single and count > most:
        return _crowded(group, relevant & seen if retrieved else relevant, others, most)
    pairs = group.both if retrieved else np.ones_like(group.before)
    unseen = max(most - count, 0)
    kept = int((group.kept & pairs).sum()) + reached * unseen
    return _ratio(kept, int((group.before & pairs).sum()) + int(relevant.sum()) * unseen)


def _crowded(group: _Group, relevant: Bools, others: Bools, most: int) -> float:
    """The same of one list with more others than relevant documents, by trec_eval's count.

    Of the first R others it counts every judged document above, not the relevant ones alone, and divides by R (N + R):
    no share of preferences, but what it prints.
    """
    within = np.ix_(relevant, relevant)
    ranks = np.sort(group.rank[others])
    above = np.searchsorted(np.sort(group.rank[relevant]), ranks[:most]) + np.searchsorted(ranks, ranks[:most])
    kept = int(above.sum()) + int(group.kept[within].sum())
    return _ratio(kept, most * (len(ranks) + most) + int(group.before[within].sum()))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


KINDS = ("", "_ret", "_imp")
"""All pairs, those of two retrieved documents, and those of at least one."""


def preference_scores(groups: Mapping[bytes, Lists], ranking: Iterable[bytes]) -> dict[str, float]:
    """The measures of preferences for one topic, by trec_eval's names."""
    rank = {docno: at for at, docno in enumerate(ranking, 1)}
    docnos = dict.fromkeys(docno for lists in groups.values() for own in lists.values() for docno in own)
    number = {docno: at for at, docno in enumerate(docnos)}
    seen = [_group(lists, number, rank) for lists in groups.values()]
    scores: dict[str, float] = {
        "prefs_num_prefs_poss": float(sum(group.before.sum() for group in seen)),
        "prefs_num_prefs_ful": float(sum(group.kept.sum() for group in seen)),
        "prefs_num_prefs_ful_ret": float(sum((group.kept & group.both).sum() for group in seen)),
    }
    for kind in KINDS:
        within = [_pairs(group, kind) for group in seen]
        kept = [int((group.kept & pairs).sum()) for group, pairs in zip(seen, within, strict=True)]
        all_ = [int((group.before & pairs).sum()) for group, pairs in zip(seen, within, strict=True)]
        scores[f"prefs_simp{kind}"] = _ratio(sum(kept), sum(all_))
        scores[f"prefs_pair{kind}"] = _by_pair(seen, within, len(docnos))
        scores[f"prefs_avgjg{kind}"] = sum(map(_ratio, kept, all_)) / len(seen)
    for kind, retrieved in (("", False), ("_ret", True)):
        scores[f"prefs_avgjg_Rnonrel{kind}"] = sum(_with_r_others(group, retrieved) for group in seen) / len(seen)
    return scores


def _pairs(group: _Group, kind: str) -> Bools:
    """The pairs of documents that a kind of measure looks at."""
    if kind == "_ret":
        return group.both
    return group.either if kind == "_imp" else np.ones_like(group.before)


def _by_pair(groups: list[_Group], within: list[Bools], documents: int) -> float:
    """The mean over pairs of documents, whichever is preferred, of the share of groups whose preference is kept."""
    kept, all_ = (np.zeros((documents, documents), dtype=np.int32) for _ in range(2))
    for group, pairs in zip(groups, within, strict=True):
        cells = np.ix_(group.number, group.number)
        kept[cells] += group.kept & pairs
        all_[cells] += group.before & pairs
    upper = np.triu_indices(documents, 1)
    kept, all_ = ((counts + counts.T)[upper] for counts in (kept, all_))
    shares = kept[all_ > 0] / all_[all_ > 0]
    return float(shares.cumsum()[-1] / len(shares)) if len(shares) else 0.0
