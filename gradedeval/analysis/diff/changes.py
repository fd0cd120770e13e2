"""What became of the documents of two runs by one measure: a row for each topic, and for each document that changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gradedeval.analysis.completions.settled import settled
from gradedeval.analysis.explain import BEYOND, DOCUMENT
from gradedeval.analysis.ranked_runs import NOWHERE, RankedRuns
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints
from gradedeval.formats.frames import joined, to_frame

if TYPE_CHECKING:
    import pandas as pd

ENTERED, LEFT, ROSE, FELL, STAYED = "entered", "left", "rose", "fell", "stayed"


@dataclass(frozen=True, eq=False, repr=False)
class Change:
    """What became of documents by one measure.

    shared        the topics that both runs are scored on
    old, new      documents: ranks
    terms         of each run: documents, what each adds to the score of its topic
    rest          of each run: topics, what else does
    last          the last rank that the measure looks at
    measure       what the measure is called
    """

    ranked: RankedRuns
    shared: Ints
    old: Ints
    new: Ints
    terms: tuple[Floats, Floats]
    rest: tuple[Floats, Floats]
    last: int
    measure: str

    @cached_property
    def explains(self) -> Floats:
        """documents: what each adds to the difference."""
        return self.terms[1] - self.terms[0]

    @cached_property
    def chosen(self) -> Ints:
        """The documents whose change is told."""
        counts = np.zeros(len(self.ranked.topics), dtype=bool)
        counts[self.shared] = True
        changed = (self.old != self.new) | (np.abs(self.explains) > TOLERANCE)
        seen = np.minimum(self.old, self.new) <= self.last
        return np.flatnonzero(seen & changed & counts[self.ranked.topic])


def topic_rows(change: Change, scores: Floats, residuals: Floats, bounds: Floats, rises: bool) -> pd.DataFrame:
    """A row for each topic.

    scores, residuals  runs × topics
    bounds             topics, twice: how low and how high the difference can come; nan where that is not known
    rises              whether no judging lowers a score
    """
    ranked, shared, (before, after), (old, new) = change.ranked, change.shared, scores, residuals
    with np.errstate(invalid="ignore"):
        difference = np.where(before == after, 0.0, after - before)
    difference[np.abs(difference) <= TOLERANCE] = 0
    changed = np.bincount(ranked.topic[change.chosen], minlength=len(ranked.topics))[shared]
    same = (changed == 0) & (difference == 0)
    known = settled(difference, (old, new), (bounds[0], bounds[1]), rises, same)
    return to_frame(
        {
            "measure": change.measure,
            "topic": np.array(ranked.names, dtype=object)[shared],
            "baseline_score": before,
            "score": after,
            "difference": difference,
            "baseline_residual": old,
            "residual": new,
            "settled": known,
            "changed": changed,
        }
    ).astype({"settled": "boolean"})


def document_rows(change: Change, place: Ints, above: Ints) -> pd.DataFrame:
    """A row for each document chosen, and for what else makes the difference of a topic; ranks and contributions are
    blank where a run did not retrieve the document.

    place  topics: where each stands in the order of topics
    above  of the documents chosen: the relevant one that an unjudged one moved above, −1 where there is none
    """
    ranked, chosen = change.ranked, change.chosen
    names, (before, after) = np.array(ranked.names, dtype=object), (change.old[chosen], change.new[chosen])
    kinds = [before == NOWHERE, after == NOWHERE, after < before, after > before]
    documents = to_frame(
        {
            "measure": change.measure,
            "topic": names[ranked.topic[chosen]],
            "part": DOCUMENT,
            "docno": ranked.docnos[chosen],
            "grade": ranked.grades(chosen),
            "change": np.select(kinds, [ENTERED, LEFT, ROSE, FELL], STAYED).astype(object),
            "baseline_rank": np.where(before == NOWHERE, np.nan, before),
            "rank": np.where(after == NOWHERE, np.nan, after),
            "baseline_contribution": np.where(before == NOWHERE, np.nan, change.terms[0][chosen]),
            "contribution": np.where(after == NOWHERE, np.nan, change.terms[1][chosen]),
            "explains": change.explains[chosen],
            "above": np.append(ranked.docnos, [None])[above],
        }
    ).astype({"baseline_rank": "Int64", "rank": "Int64"})
    more = change.rest[1] - change.rest[0]
    others = change.shared[np.abs(more[change.shared]) > TOLERANCE]
    rest = to_frame({"measure": change.measure, "topic": names[others], "part": BEYOND, "explains": more[others]})
    rest["baseline_contribution"], rest["contribution"] = change.rest[0][others], change.rest[1][others]
    found = joined([documents, rest]) if len(others) else documents
    of_topic = np.append(ranked.topic[chosen], others)
    nearest = np.append(np.minimum(before, after), np.full(len(others), NOWHERE))
    return found.iloc[np.lexsort((nearest, -found["explains"].abs().to_numpy(dtype=float), place[of_topic]))]


def passed_by_unjudged(change: Change, relevant: Bools) -> Ints:
    """Of the documents chosen: the relevant document that an unjudged one moved above, −1 where there is none; of
    several the one that lost or counts most. The unjudged one stands now, and the other stood, at a rank that counts.
    """
    ranked, chosen, old, new, last = change.ranked, change.chosen, change.old, change.new, change.last
    above = np.full(len(chosen), -1)
    rising = np.flatnonzero(~ranked.judged[chosen] & (new[chosen] < old[chosen]) & (new[chosen] <= last))
    candidates = np.flatnonzero(relevant & (old <= last))
    candidates = candidates[np.lexsort((old[candidates], change.explains[candidates], ranked.topic[candidates]))]
    begin = np.searchsorted(ranked.topic[candidates], np.arange(len(ranked.topics) + 1))
    for position in rising.tolist():
        document = chosen[position]
        topic = ranked.topic[document]
        others = candidates[begin[topic] : begin[topic + 1]]
        passed = others[(old[others] < old[document]) & (new[others] > new[document])]
        if len(passed):
            above[position] = passed[0]
    return above
