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
from gradedeval.errors import InputError
from gradedeval.trec.lines import decode

Lists = dict[bytes, dict[bytes, float]]
"""Subgroup -> docno -> value: the lists of one judgment group."""


@dataclass(frozen=True, eq=False)
class _Group:
    """A judgment group and a ranking.

    number  documents, ascending by docno: the index among all documents of the topic
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
    docnos = sorted({docno for listed in lists.values() for docno in listed})
    row_of = {docno: row for row, docno in enumerate(docnos)}
    before = np.zeros((len(docnos), len(docnos)), dtype=bool)
    highest, zero = np.full(len(docnos), -np.inf), np.zeros(len(docnos), dtype=bool)
    for listed in lists.values():
        rows = np.array([row_of[docno] for docno in listed])
        values = np.array(list(listed.values()))
        before[np.ix_(rows, rows)] |= values[:, None] > values[None, :]
        highest[rows] = np.maximum(highest[rows], values)
        zero[rows] |= values == 0
    if len(lists) > 1:
        before = _closed(before)
        _check(before, zero & (highest > 0), docnos)
    return _Group(
        np.array([number[docno] for docno in docnos]),
        before,
        highest,
        np.array([rank.get(docno, np.inf) for docno in docnos], dtype=np.float64),
        len(lists) == 1,
    )


def _closed(before: Bools) -> Bools:
    """The transitive closure: if a is preferred to b, and b to c, a is preferred to c."""
    for middle in range(len(before)):
        before |= before[:, middle, None] & before[middle, None, :]
    np.fill_diagonal(before, False)
    return before


def _check(before: Bools, both: Bools, docnos: list[bytes]) -> None:
    """Raise InputError where lists contradict each other, as trec_eval refuses them. `both`: documents of value 0 in
    one list, and above 0 in another."""
    pairs = np.argwhere(before & before.T)
    if len(pairs):
        one, other = (decode(docnos[row]) for row in pairs[0].tolist())
        what = f"contradictory preferences: '{one}' before '{other}' and '{other}' before '{one}'"
    elif both.any():
        what = f"document '{decode(docnos[int(both.argmax())])}' has the value 0 in one list and more in another"
    else:
        return
    raise InputError("", what, "give judges who disagree groups of their own (column 2)", kind="contradiction")


def _with_r_others(group: _Group, retrieved: bool) -> float:
    """The share of preferences satisfied if R nonrelevant documents count, as many as there are relevant ones; nan of
    none.

    Where there are fewer, unseen ones are assumed after all retrieved documents; where there are more, the first count.
    With `retrieved` only retrieved documents count, and R is the number of relevant ones retrieved.
    """
    relevant, seen = group.value > 0, group.retrieved
    reached = int((relevant & seen).sum())
    limit = reached if retrieved else int(relevant.sum())
    others = ~relevant & seen if retrieved else ~relevant
    count = int(others.sum())
    if group.single and count > limit:
        return _crowded(group, relevant & seen if retrieved else relevant, others, limit)
    pairs = group.pairs("_ret" if retrieved else "")
    if count > limit:
        # trec_eval drops those after the R-th of all, also where R counts the retrieved ones alone.
        rows = np.flatnonzero(others & (group.value == 0))
        dropped = rows[np.argsort(group.rank[rows], kind="stable")][int(relevant.sum()) :]
        pairs[dropped], pairs[:, dropped] = False, False
    unseen = max(limit - count, 0)
    satisfied = int((group.satisfied & pairs).sum()) + reached * unseen
    return _ratio(satisfied, int((group.before & pairs).sum()) + int(relevant.sum()) * unseen, np.nan)


def _crowded(group: _Group, relevant: Bools, others: Bools, limit: int) -> float:
    """The same for one list with more nonrelevant than relevant documents, as trec_eval counts.

    For the first R nonrelevant documents it counts every judged document above, not only relevant ones, and divides by
    R (N + R): not a proportion of preferences, but what trec_eval prints.
    """
    within = np.ix_(relevant, relevant)
    ranks = np.sort(group.rank[others])
    above = np.searchsorted(np.sort(group.rank[relevant]), ranks[:limit]) + np.searchsorted(ranks, ranks[:limit])
    satisfied = int(above.sum()) + int(group.satisfied[within].sum())
    return _ratio(satisfied, limit * (len(ranks) + limit) + int(group.before[within].sum()), np.nan)


def _ratio(part: float, whole: float, none: float = 0.0) -> float:
    return part / whole if whole else none


KINDS = ("", "_ret", "_imp")
"""All pairs, those of two retrieved documents, and those of at least one."""


def preference_scores(groups: Mapping[bytes, Lists], ranking: Iterable[bytes]) -> dict[str, float]:
    """The preference measures of one topic, by trec_eval's names. Raises InputError where lists of a group contradict
    each other."""
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
        # One group without any such preference makes the topic's score 0 in trec_eval.
        mean = sum(_with_r_others(group, retrieved) for group in judged) / len(judged)
        scores[f"prefs_avgjg_Rnonrel{kind}"] = 0.0 if np.isnan(mean) else mean
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
