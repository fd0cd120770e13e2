"""Precision over recall of a list, and of the chances of grades at its ranks; how far they are from each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradedeval.analysis.informative.expected_scores import Chances
from gradedeval.arrays import Floats, Ints

LEVELS = np.arange(1, 21) / 20
"""Levels of recall at which curves are shown: shares of the relevance in the list."""
_REACHED = 1e-6
"""Documents that a sum of chances may lack, and still counts as so many: they sum up with an error."""


class Users(NamedTuple):
    """Users whose threshold is each grade: `steps` thresholds, their shares; `holds` thresholds × grades, 1 where the
    grade is the threshold or more. One alone makes the binary curve of its threshold."""

    steps: Floats
    holds: Floats


class Curves(NamedTuple):
    """Precision over recall of a list, at its relevant documents, which are the points where recall changes.

    recall    documents: the share of the relevance in the list
    actual    documents: precision
    inferred  documents: precision where the sum of the chances is as much
    """

    recall: Floats
    actual: Floats
    inferred: Floats

    @property
    def rms(self) -> float:
        """The distance of the curves: the root of the mean square over the documents."""
        return float(np.sqrt(np.mean((self.actual - self.inferred) ** 2)))

    def at_levels(self) -> Floats:
        """2 × levels: actual and inferred precision at the first document that reaches each level of recall."""
        at = np.searchsorted(self.recall, LEVELS - 1e-9)
        return np.stack([self.actual[at], self.inferred[at]])


def curves(users: Users, grades: Chances, chances: Chances) -> Curves:
    """Actual and inferred precision over recall.

    grades, chances  grades × ranks, down to the end of the list

    With one threshold precision is h/rank_h at the h-th relevant document, and h/x_h where the sum of the chances,
    which grows linearly between ranks, is h. With several it is graded: 1/n Σ_{m≤n} Σ_{j ≤ min(i_m, i_n)} g_j /
    Σ_{j≤i_n} g_j, and with chances that of the users whose threshold the document at that rank reaches. Robertson et
    al., SIGIR 2010, section 3.2.
    """
    is_relevant, chance = users.holds @ grades, users.holds @ chances
    gained = (users.steps @ is_relevant).cumsum()
    rank = np.flatnonzero(np.diff(gained, prepend=0)) + 1
    # Where the chances have gained as much: the rank above, and the part of the way to the next.
    expected = np.append(0.0, (users.steps @ chance).cumsum())
    below = np.minimum(np.searchsorted(expected, gained[rank - 1] - _REACHED), len(gained))
    step = expected[below] - expected[below - 1]
    part = np.clip((gained[rank - 1] - expected[below - 1]) / step, 0, 1)
    return Curves(
        gained[rank - 1] / gained[-1],
        _precision(users, is_relevant, rank, np.ones(len(rank))),
        _precision(users, chance, below, part),
    )


def _precision(users: Users, relevant: Floats, rank: Ints, part: Floats) -> Floats:
    """Precision at real ranks: so large a part of the way from one rank to the next, `rank`; the mean of the thresholds
    by how likely the document there reaches each."""
    summed = np.cumsum(relevant, axis=1)
    here = relevant[:, rank - 1]
    down_to = summed[:, rank - 1] - (1 - part) * here
    reaches = users.steps[:, None] * here
    return np.asarray((reaches * down_to).sum(0) / reaches.sum(0) / (rank - 1 + part))
