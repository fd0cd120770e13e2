"""`--holes predicted`: scores with a machine's grades of unjudged documents, beside those without and their bounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import Note, flag, plural, shorten
from gradedeval.kernel.measures.notation import write_value
from gradedeval.kernel.rankings.other_qrels import joined_qrels
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.scoring.predicted import labels_of_neither, topics_of_neither, without_topics
from gradedeval.kernel.scoring.run_scores import BOUNDS, RunScores
from gradedeval.kernel.trec.lines import decode

if TYPE_CHECKING:
    from gradedeval.kernel.measures.definition import Measure
    from gradedeval.kernel.scoring.scores import Scores


@dataclass(frozen=True, eq=False, repr=False)
class Holes:
    """Judgments by people, and those by a machine of documents that people did not judge.

    both  all of them, of the topics that people judged: a grade by people always counts
    runs  run -> its scores by both, once there are any
    """

    people: Qrels
    machine: Qrels
    both: Qrels
    runs: Mapping[str, RunScores]

    @classmethod
    def of(cls, people: Qrels, machine: Qrels) -> Holes:
        """Raises InputError (usage) for qrels with subtopics or strata."""
        return cls(people, machine, joined_qrels(people, machine), {})

    def scored(self, people: Scores, both: Scores) -> Scores:
        """The scores by people with those by both beside them, and what is to be said of them."""
        holes = replace(self, runs={run.run: run for run in both.runs})
        runs = [run for run in people.runs if run.run in holes.runs]
        found = replace(people, runs=runs, holes=holes)
        return replace(found, notes=[*self._told(people), *self._notes(), *holes._outside(found)])

    def of_topics(self, topics: Collection[str]) -> Holes:
        """The same with the scores on some topics."""
        return replace(self, runs={name: run.of_topics(topics) for name, run in self.runs.items()})

    def values(self, run: RunScores, column: int, measure: Measure, by_topic: bool) -> Floats:
        """The scores by both of a run: of topics, where wanted, and their summary."""
        both, found = self.runs[run.run], list[float]()
        if by_topic:
            kept = np.where(both.included[:, column], both.score[:, column], np.nan)
            at = dict(zip(both.topics, kept.tolist(), strict=True))
            mine = zip(run.topics, run.included[:, column].tolist(), strict=True)
            found = [at.get(topic, np.nan) for topic, own in mine if own]
        return np.array([*found, both.summary("score", column, measure.definition.summary)])

    @property
    def words(self) -> str:
        """What signatures say of the machine's judgments."""
        return f"holes predicted {write_value(self.machine.place)} {self.machine.digest}"

    def _told(self, people: Scores) -> list[str]:
        """The notes on the scores by people, but for topics and labels that the machine's judgments alone have."""
        known, places = {decode(topic) for topic in self.machine.topics}, (self.people.place, self.machine.place)
        notes = [note for note in people.notes if getattr(note, "kind", "") != "unjudged-topics"]
        notes += topics_of_neither(people.notes, known, places)
        notes = labels_of_neither(notes, self.people, self.machine)
        return [_without_option(without_topics(note)) for note in notes]

    def _notes(self) -> list[str]:
        """What the machine judged, and what it did not."""
        place, of = self.machine.place, self.people.place
        known, judged = ([decode(topic) for topic in one.topics] for one in (self.machine, self.people))
        filled = int(self.both.counts.count.sum() - self.people.counts.count.sum())
        what = f"{place}: grades {filled} {plural(filled, 'document')} that {of} does not"
        notes: list[str] = [f"{what}; they count in the column predicted alone"]
        if lacking := [topic for topic in judged if topic not in set(known)]:
            what = f"{place}: grades nothing in {len(lacking)} {plural(len(lacking), 'topic')} of {of}"
            notes.append(f"{what} ({shorten(lacking)}), whose unjudged documents stay so")
        if others := [topic for topic in known if topic not in set(judged)]:
            what = f"{place}: {len(others)} {plural(len(others), 'topic')} not in {of} left out"
            notes.append(Note(what, f"without {flag.holes:predicted} means over all topics are estimated from them"))
        return notes

    def _outside(self, scores: Scores) -> list[str]:
        """A note on scores that no judging of what was retrieved could give: the machine knows of other documents."""
        outside: list[str] = []
        for run in scores.runs:
            for column, measure in enumerate(scores.measures):
                low, high = (run.summary(end, column, measure.definition.summary) for end in BOUNDS)
                value = float(self.values(run, column, measure, False)[-1])
                if value < low - 1e-9 or value > high + 1e-9:
                    outside.append(f"{measure.label} of {run.run}" if scores.is_multi_run else measure.label)
        if not outside:
            return []
        what = f"predicted scores outside their bounds ({shorten(outside)}): the machine grades documents not retrieved"
        return [Note(what, f"{flag.unseen:inf} has the bounds allow for them")]


def _without_option(note: str) -> str:
    """A note on bounds without the option, which nobody gave."""
    if not isinstance(note, Note) or not note.said[0].startswith(prefix := f"{flag.bounds}: "):
        return note
    return Note(note.said[0].removeprefix(prefix), note.said[1], kind=note.kind, about=note.about)
