"""Preferences: pairs of documents of which a judge prefers one, and how many of them a ranking satisfies.

A judgment group is one judge's view of a topic: one or several lists of documents with values, where a larger value is
preferred. Preferences are transitive across the lists of a group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradedeval.arrays import Bools, Floats

Lists = dict[bytes, dict[bytes, float]]
"""Subgroup -> docno -> value: the lists of one judgment group."""


@dataclass(frozen=True, eq=False)
class _Group:
    """A judgment group and a ranking.

    number  documents: the index among all documents of the topic
    before  documents × documents: whether the row is preferred to the column
    value   documents: the largest value in any list; 0 and below is not relevant
    rank    documents: the rank, infinite if not retrieved
    single  whether the group has one list
    """

    number: Any
    before: Bools
    value: Floats
    rank: Floats
    single: bool

    @property
    def satisfied(self) -> Bools:
        """Preferences that the ranking satisfies; documents that are not retrieved come after all others."""
        return self.before & (self.rank[:, None] < self.rank[None, :])

    @property
    def retrieved(self) -> Bools:
        return np.isfinite(self.rank)

    def pairs(self, kind: str) -> Bools:
        """The pairs of documents that a kind of measure counts."""
        if kind == "_ret":
            return self.retrieved[:, None] & self.retrieved[None, :]
        return self.retrieved[:, None] | self.retrieved[None, :] if kind == "_imp" else np.ones_like(self.before)


def _group(lists: Lists, number: Mapping[bytes, int], rank: Mapping[bytes, int]) -> _Group:
    docnos = list(dict.fromkeys(docno for listed in lists.values() for docno in listed))
    row_of = {docno: row for row, docno in enumerate(docnos)}
    before = np.zeros((len(docnos), len(docnos)), dtype=bool)
    for listed in lists.values():
        rows = np.array([row_of[docno] for docno in listed])
        values = np.array(list(listed.values()))
        before[np.ix_(rows, rows)] |= values[:, None] > values[None, :]
    if len(lists) > 1:
        before = _closed(before)
    return _Group(
        np.array([number[docno] for docno in docnos]),
        before,
        np.array([max(listed[docno] for listed in lists.values() if docno in listed) for docno in docnos]),
        np.array([rank.get(docno, np.inf) for docno in docnos], dtype=np.float64),
        len(lists) == 1,
    )


def _closed(before: Bools) -> Bools:
    """The transitive closure: if a is preferred to b, and b to c, a is preferred to c."""
    for middle in range(len(before)):
        before |= before[:, middle, None] & before[middle, None, :]
    np.fill_diagonal(before, False)
    return before


def _with_r_others(group: _Group, retrieved: bool) -> float:
    """The share of preferences satisfied if R nonrelevant documents count, as many as there are relevant ones.

    Where there are fewer, unseen ones are assumed after all retrieved documents. With `retrieved` only retrieved
    documents count, and R is the number of relevant ones retrieved.
    """
    relevant, seen = group.value > 0, group.retrieved
    reached = int((relevant & seen).sum())
    limit = reached if retrieved else int(relevant.sum())
    others = ~relevant & seen if retrieved else ~relevant
    count = int(others.sum())
    if group.single and count > limit:
        return _crowded(group, relevant & seen if retrieved else relevant, others, limit)
    pairs = group.pairs("_ret" if retrieved else "")
    unseen = max(limit - count, 0)
    satisfied = int((group.satisfied & pairs).sum()) + reached * unseen
    return _ratio(satisfied, int((group.before & pairs).sum()) + int(relevant.sum()) * unseen)


def _crowded(group: _Group, relevant: Bools, others: Bools, limit: int) -> float:
    """The same for one list with more nonrelevant than relevant documents, as trec_eval counts.

    For the first R nonrelevant documents it counts every judged document above, not only relevant ones, and divides by
    R (N + R): not a proportion of preferences, but what trec_eval prints.
    """
    within = np.ix_(relevant, relevant)
    ranks = np.sort(group.rank[others])
    above = np.searchsorted(np.sort(group.rank[relevant]), ranks[:limit]) + np.searchsorted(ranks, ranks[:limit])
    satisfied = int(above.sum()) + int(group.satisfied[within].sum())
    return _ratio(satisfied, limit * (len(ranks) + limit) + int(group.before[within].sum()))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


KINDS = ("", "_ret", "_imp")
"""All pairs, those of two retrieved documents, and those of at least one."""


def preference_scores(groups: Mapping[bytes, Lists], ranking: Iterable[bytes]) -> dict[str, float]:
    """The preference measures of one topic, by trec_eval's names."""
    rank = {docno: place for place, docno in enumerate(ranking, 1)}
    docnos = dict.fromkeys(docno for lists in groups.values() for values in lists.values() for docno in values)
    number = {docno: index for index, docno in enumerate(docnos)}
    judged = [_group(lists, number, rank) for lists in groups.values()]
    scores: dict[str, float] = {
        "prefs_num_prefs_poss": float(sum(group.before.sum() for group in judged)),
        "prefs_num_prefs_ful": float(sum(group.satisfied.sum() for group in judged)),
        "prefs_num_prefs_ful_ret": float(sum((group.satisfied & group.pairs("_ret")).sum() for group in judged)),
    }
    for kind in KINDS:
        within = [group.pairs(kind) for group in judged]
        satisfied = [int((group.satisfied & pairs).sum()) for group, pairs in zip(judged, within, strict=True)]
        every = [int((group.before & pairs).sum()) for group, pairs in zip(judged, within, strict=True)]
        scores[f"prefs_simp{kind}"] = _ratio(sum(satisfied), sum(every))
        scores[f"prefs_pair{kind}"] = _by_pair(judged, within, len(docnos))
        scores[f"prefs_avgjg{kind}"] = sum(map(_ratio, satisfied, every)) / len(judged)
    for kind, retrieved in (("", False), ("_ret", True)):
        scores[f"prefs_avgjg_Rnonrel{kind}"] = sum(_with_r_others(group, retrieved) for group in judged) / len(judged)
    return scores


def _by_pair(groups: list[_Group], within: list[Bools], documents: int) -> float:
    """The mean over pairs of documents of the share of groups whose preference for the pair is satisfied."""
    satisfied, every = (np.zeros((documents, documents), dtype=np.int32) for _ in range(2))
    for group, pairs in zip(groups, within, strict=True):
        cells = np.ix_(group.number, group.number)
        satisfied[cells] += group.satisfied & pairs
        every[cells] += group.before & pairs
    upper = np.triu_indices(documents, 1)
    satisfied, every = ((counts + counts.T)[upper] for counts in (satisfied, every))
    shares = satisfied[every > 0] / every[every > 0]
    return float(shares.cumsum()[-1] / len(shares)) if len(shares) else 0.0
