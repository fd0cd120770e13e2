"""What became of the documents between two runs, or between two systems of several seeds: ranks and contributions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.analysis import ranked_runs
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints
from gradedeval.errors import InputError, flag, plural, shorten
from gradedeval.kernel.options.metadata import seeds_in_words
from gradedeval.kernel.rankings.grade import no_common_topics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gradedeval.analysis.ranked_runs import RankedRuns, RankedTerms
    from gradedeval.kernel.options.metadata import Replicates

ENTERED, LEFT, ROSE, FELL, STAYED = "entered", "left", "rose", "fell", "stayed"


# The two sides of a difference: a run each, or the seeds of a system each.


def two_systems(names: Sequence[str], replicates: Replicates) -> dict[str, list[str]]:
    """The runs of each of two systems. Raises InputError (usage) for another number, and as `Replicates.systems`."""
    systems = replicates.systems(names)
    if len(systems) != 2:
        what = f"{len(systems)} {plural(len(systems), 'system')} given ({shorten(list(systems))})"
        hint = "name the other one" if len(systems) < 2 else "leave the runs of others out, or put them in a system"
        raise InputError(flag.replicates, what, f"with qrels diff compares two: {hint}", usage=True)
    return systems


@dataclass(frozen=True, eq=False, repr=False)
class Sides:
    """The two sides of a difference.

    names     what they are called
    runs      of each: the rows of its runs among those of `ranked`
    of_seeds  whether they are systems, and the runs their seeds
    """

    ranked: RankedRuns
    names: tuple[str, str]
    runs: tuple[Ints, Ints]
    of_seeds: bool

    @classmethod
    def of(cls, ranked: RankedRuns, members: Mapping[str, Sequence[str]], of_seeds: bool) -> Sides:
        """Those of two systems, or of two runs: name -> its runs."""
        row = {run.name: row for row, run in enumerate(ranked.runs)}
        (one, first), (other, second) = members.items()
        rows = np.array([row[run] for run in first]), np.array([row[run] for run in second])
        return cls(ranked, (one, other), rows, of_seeds)

    @property
    def counts(self) -> tuple[int, int]:
        """How many runs each has."""
        return len(self.runs[0]), len(self.runs[1])

    @property
    def in_words(self) -> str:
        """How many runs they have, for a signature."""
        return seeds_in_words({name: self.runs[side].tolist() for side, name in enumerate(self.names)})

    def means(self, values: NDArray[Any]) -> Floats:
        """2 × …: the mean over the runs of each.

        values  runs × …
        """
        return np.array([values[own].mean(0) for own in self.runs])

    @cached_property
    def shared(self) -> Ints:
        """The topics that all runs are scored on. Raises InputError where there are none."""
        first, *others = (self.ranked.runs[run] for run in (*self.runs[0], *self.runs[1]))
        listed = first.listed
        for run in others:
            listed = listed & run.listed
            if not listed.any():
                raise no_common_topics(run.place, self.ranked.topics, first.place, self.ranked.topics)
        return np.flatnonzero(listed)

    @cached_property
    def retrieved(self) -> Ints:
        """2 × documents: how many of its runs retrieved it."""
        ranked, size = self.ranked, len(self.ranked)
        return np.array(
            [
                np.bincount(np.concatenate([ranked.runs[run].document for run in own]), minlength=size)
                for own in self.runs
            ]
        )

    @cached_property
    def middle(self) -> Floats:
        """2 × documents: the median rank over its runs; a run that did not retrieve it counts as below all, and
        `NOWHERE` is where the median is there."""
        found = np.empty((2, len(self.ranked)))
        for side, own in enumerate(self.runs):
            ranks = np.array([self.ranked.runs[run].ranks_of(len(self.ranked)) for run in own], dtype=np.float64)
            ranks[ranks == ranked_runs.NOWHERE] = np.inf
            found[side] = np.median(ranks, axis=0) if len(own) > 1 else ranks[0]
        found[np.isinf(found)] = ranked_runs.NOWHERE
        return found

    def contributions(self, added: Sequence[Floats]) -> Floats:
        """2 × documents: the mean over its runs of what each document adds, nothing where a run did not retrieve it.

        added  runs: what each of their documents adds
        """
        found = np.zeros((2, len(self.ranked)))
        for side, own in enumerate(self.runs):
            for run in own.tolist():
                found[side, self.ranked.runs[run].document] += added[run]
            found[side] /= len(own)
        return found

    def alike(self, topics: Ints, last: int) -> Bools:
        """topics: whether both sides are the same rankings down to a rank, each as often as a share of all."""
        found = np.zeros(len(topics), dtype=bool)
        for at, topic in enumerate(topics.tolist()):
            one, other = (
                Counter(self.ranked.runs[run].of_topic(topic)[:last].tobytes() for run in own) for own in self.runs
            )
            sizes = self.counts
            found[at] = {ranking: count * sizes[1] for ranking, count in one.items()} == {
                ranking: count * sizes[0] for ranking, count in other.items()
            }
        return found


# What became of documents by one measure.


@dataclass(frozen=True, eq=False)
class Change:
    """What became of documents by one measure.

    terms    2 × documents: what each adds to the score of its topic, on each side
    rest     2 × topics: what else does
    last     the last rank that the measure looks at
    measure  what the measure is called
    """

    sides: Sides
    terms: Floats
    rest: Floats
    last: int
    measure: str

    @classmethod
    def of(cls, sides: Sides, terms: RankedTerms, column: int, last: int, measure: str) -> Change:
        """What became of them by the measure of this column."""
        return cls(sides, sides.contributions(terms.added[column]), sides.means(terms.rest[column]), last, measure)

    @property
    def ranked(self) -> RankedRuns:
        return self.sides.ranked

    @property
    def shared(self) -> Ints:
        """The topics that all runs are scored on."""
        return self.sides.shared

    @cached_property
    def explains(self) -> Floats:
        """documents: what each adds to the difference; 0 where both sides are the same but for the last bits of their
        means."""
        explains: Floats = self.terms[1] - self.terms[0]
        explains[np.abs(explains) <= TOLERANCE * np.abs(self.terms).max(0)] = 0
        return explains

    @cached_property
    def chosen(self) -> Ints:
        """The documents whose change is told: of those that a run has among the ranks that count the ones that count
        otherwise, or whose ranks or runs are others."""
        counts = np.zeros(len(self.ranked.topics), dtype=bool)
        counts[self.shared] = True
        (old, new), shares = self.sides.middle, self.shares
        changed = (old != new) | (shares[0] != shares[1]) | (np.abs(self.explains) > TOLERANCE)
        seen = self.ranked.best_rank <= self.last
        return np.flatnonzero(seen & changed & counts[self.ranked.topic])

    @cached_property
    def shares(self) -> Floats:
        """2 × documents: the share of the runs that retrieved it."""
        shares: Floats = self.sides.retrieved / np.array(self.sides.counts)[:, None]
        return shares

    @property
    def kinds(self) -> NDArray[Any]:
        """Of the documents chosen: what became of each. It entered or left where no run of the other side retrieved it;
        it rose or fell as the median of its ranks did, and where that is below all ranks on both sides as the share of
        runs that retrieved it did; otherwise it stayed."""
        (old, new), (before, after) = (both[:, self.chosen] for both in (self.sides.middle, self.shares))
        nowhere = (old == new) & (old == ranked_runs.NOWHERE)
        rose = (new < old) | (nowhere & (after > before))
        fell = (new > old) | (nowhere & (after < before))
        return np.select([before == 0, after == 0, rose, fell], [ENTERED, LEFT, ROSE, FELL], STAYED).astype(object)

    def passed_by_unjudged(self, relevant: Bools) -> Ints:
        """Of the documents chosen: the relevant document that an unjudged one moved above, −1 where there is none; of
        several the one that lost or counts most. The unjudged one stands now, and the other stood, at a rank that
        counts; ranks are medians where there are several.
        """
        ranked, chosen, (old, new), last = self.ranked, self.chosen, self.sides.middle, self.last
        above = np.full(len(chosen), -1)
        rising = np.flatnonzero(~ranked.judged[chosen] & (new[chosen] < old[chosen]) & (new[chosen] <= last))
        candidates = np.flatnonzero(relevant & (old <= last))
        candidates = candidates[np.lexsort((old[candidates], self.explains[candidates], ranked.topic[candidates]))]
        begin = np.searchsorted(ranked.topic[candidates], np.arange(len(ranked.topics) + 1))
        for position in rising.tolist():
            document = chosen[position]
            topic = ranked.topic[document]
            others = candidates[begin[topic] : begin[topic + 1]]
            passed = others[(old[others] < old[document]) & (new[others] > new[document])]
            if len(passed):
                above[position] = passed[0]
        return above
