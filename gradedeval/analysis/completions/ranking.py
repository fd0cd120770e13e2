"""The documents of a run by rank, judged and unjudged, and what two runs have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gradedeval.analysis.completions.unknown import Unknown, small_integers, within
from gradedeval.arrays import Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """One run by one measure.

    gain    topics × depth: of what is judged
    levels  the gains there are
    beyond  topics: how much what lies past the end of the run could add
    topic   of each unjudged document that counts at its rank, or in what scores are divided by: its row
    number  of each: its number
    place   number of a document -> its rank, from 0, `depth` where it is below the last that counts, −1 where it is not
            there
    """

    gain: Floats
    levels: Floats
    beyond: Floats
    topic: Ints
    number: Ints
    place: NDArray[np.int32]

    def places(self, number: Ints) -> NDArray[np.int32]:
        """The places of documents, also of those that had no number when this run was read."""
        found: NDArray[np.int32] = self.place[np.minimum(number, len(self.place) - 1)]
        return found

    @cached_property
    def hits(self) -> list[Ints]:
        """of each level: topics × depth: how many documents of that gain or more stand at or above each rank."""
        kind = small_integers(2 * self.gain.shape[1] + 1)
        return [(self.gain >= level).cumsum(1, dtype=kind) for level in self.levels.tolist()]

    @cached_property
    def unjudged(self) -> Ints:
        """topics × depth: how many unjudged documents stand at or above each rank."""
        return within(self.topic, self.places(self.number), *self.gain.shape)


def unknown_of(first: Ranking, second: Ranking, unseen: int) -> Unknown:
    """The unjudged documents of two runs, and so many in each topic that neither retrieved."""
    topics, depth = first.gain.shape
    only = second.number[first.places(second.number) < 0]
    topic, number = np.append(first.topic, second.topic[first.places(second.number) < 0]), np.append(first.number, only)
    ranks = [np.where(place < 0, depth, place) for place in (first.places(number), second.places(number))]
    seen = np.minimum(*ranks) < depth
    hidden = np.bincount(topic[~seen], minlength=topics) + unseen
    return Unknown(topic[seen], ranks[0][seen], ranks[1][seen], hidden, depth)
