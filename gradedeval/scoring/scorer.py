"""Batches and measures -> the score and the residual of every topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from gradedeval.arrays import TOLERANCE, Floats, Ints
from gradedeval.errors import InputError, Note, shorten
from gradedeval.measures.applied import gain_table, last_rank, run_measure, scores_of
from gradedeval.measures.definition import Measure
from gradedeval.measures.gain_schemes import GainTable, Grades
from gradedeval.measures.parse import each_once
from gradedeval.measures.table import MEASURES
from gradedeval.options import Options
from gradedeval.options.presets import top_grade
from gradedeval.options.values import Fill
from gradedeval.parallel import workers
from gradedeval.parallel.workers import Limits
from gradedeval.rankings.batch import Batch
from gradedeval.rankings.grade import Grader, PartResult, RunPart
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.batch_gains import GainsCache
from gradedeval.scoring.by_measure import with_defaults
from gradedeval.scoring.doubts import with_ties
from gradedeval.scoring.intents import ByIntent, check_intents
from gradedeval.scoring.measure_notes import bounds_notes, name_notes, worth_notes
from gradedeval.scoring.run_scores import RunScores
from gradedeval.scoring.scales import grades_of, tables_of
from gradedeval.trec.lines import decode

REMEMBERED = 16
"""Scorers that qrels keep: a training loop asks for the same thousands of times."""


def scorer_for(qrels: Qrels, measures: Sequence[Measure], options: Options, limits: Limits | None = None) -> Scorer:
    """A scorer, the one that these qrels had for the same measures and options before. What reads a file is made anew,
    and so is what depends on intents: it remembers topics."""
    if any(map(_reads_more, measures)) or str(options.gain).startswith("@"):
        return Scorer(qrels, measures, options, limits)
    key = (tuple((measure, measure.asked) for measure in measures), options, limits)
    known: dict[Any, Scorer] = qrels._scorers
    if (scorer := known.get(key)) is None:
        if len(known) >= REMEMBERED:
            known.clear()
        scorer = known[key] = Scorer(qrels, measures, options, limits)
    return scorer


def _reads_more(measure: Measure) -> bool:
    return measure.by_intent or bool(measure.files) or str(measure.gain).startswith("@")


@dataclass(frozen=True, eq=False, repr=False)
class BatchScores:
    """Scores of some topics of a run.

    values  3 × topics × measures: score, residual by the unjudged documents, residual in all; nan where blank
    bounds  2 × topics × measures: the lowest and the highest score, where asked for; nan where blank
    types   what column 2 of the run calls its documents, where that was asked for
    judged  whether any of the documents is judged; None where there is no document
    empty   the topics without a document
    retrieved  topics: how many documents
    ties, later  4 × topics × measures, and topics whose orders of ties are not scored yet: as `doubts.with_ties` says
    """

    topics: list[bytes]
    values: Floats
    types: list[bytes]
    judged: bool | None
    empty: Sequence[bytes]
    retrieved: Ints
    bounds: Floats | None = None
    ties: Floats | None = None
    later: Batch | None = None


class Scorer:
    """Scores runs against one qrels by one list of measures under one set of options."""

    def __init__(
        self, qrels: Qrels, measures: Sequence[Measure], options: Options, limits: Limits | None = None
    ) -> None:
        self.qrels, self.options = qrels, options
        self.measures = each_once(with_defaults(measure, options) for measure in measures)
        self.grades = Grades(qrels.labels, top_grade(options, float(qrels.labels[-1])), options.max_gain)
        self.tables = tables_of(self.measures, qrels, options)
        check_intents(self.measures, qrels.subtopics is not None)
        _check_ties(self.measures, options)
        self.by_intent = {
            replace(measure, cutoff=None, judged_only=False): ByIntent(
                qrels, measure, grades_of(measure, qrels, options), gain_table
            )
            for measure in self.measures
            if measure.by_intent
        }
        types = options.costs is not None or any(measure.types for measure in self.measures)
        limits = limits or workers.LIMITS
        graded, self.fill_notes = qrels, list[str]()
        if options.fill is not None:
            graded = self._fill_in(options.fill)
        self.grader = Grader(graded, options, types=types, last_rank=self.last_rank, limits=limits)

    def _fill_in(self, fill: Fill) -> Qrels:
        """The qrels with codes of documents that nobody judged; the tables of measures that take them have their
        gains."""
        from gradedeval.rankings.filled import filled  # few evaluations fill in

        graded, gains, self.fill_notes = filled(self.qrels, fill)
        takes = [one.definition.takes_fill and not (one.by_intent or one.judged_only) for one in self.measures]
        pairs = zip(self.tables, takes, strict=True)
        self.tables = [replace(table, filled=gains) if taken else table for table, taken in pairs]
        without = [measure.label for measure, taken in zip(self.measures, takes, strict=True) if not taken]
        if without:
            self.fill_notes.append(f"--fill: documents that it fills stay unjudged in {', '.join(without)}")
        return graded

    @property
    def last_rank(self) -> int | None:
        """The last rank that any measure looks at; None where one looks at all."""
        last = [None if measure.judged_only else last_rank(measure) for measure in self.measures]
        if self.options.residual_depth == "full" or self.options.ties == "average" or None in last:
            return None
        return max((rank for rank in last if rank), default=None)

    @cached_property
    def notes(self) -> list[str]:
        """What was assumed for all runs."""
        notes = list(self.qrels._notes_for(self.options))
        if self.grades.top <= 0:
            what = f"{self.qrels.place}: no grade above 0, so all gains are 0 and residuals are blank"
            notes.append(Note(what, "use --top-grade to set the top grade", kind="no-positive-grade"))
        notes += self.fill_notes
        notes += worth_notes(self) + name_notes(self)
        sampled = dict.fromkeys(measure.name for measure in self.measures if measure.definition.uses_unsampled)
        if sampled and self.options.negative == "judged" and self.qrels.strata is None and self.qrels.labels[0] < 0:
            what = f"{self.qrels.place}: grades below 0 count as judged and not relevant in {', '.join(sampled)}"
            notes.append(Note(what, "--negative unjudged takes them as pooled and not sampled"))
        one = dict.fromkeys(measure.name for measure in self.measures if measure.definition.uses_strata)
        if one and self.qrels.strata is None:
            notes.append(f"{self.qrels.place}: read without --strata, so for {', '.join(one)}: one stratum a topic")
        units = {} if self.options.costs else {measure.name: measure.definition.cost_unit for measure in self.measures}
        notes += [f"{name}: {unit}; without --costs each document costs 1" for name, unit in units.items() if unit]
        notes += dict.fromkeys(note for by_intent in self.by_intent.values() for note in by_intent.notes)
        single = [measure.label for measure in self.measures if measure.by_intent and self.qrels.subtopics is None]
        if single:
            what = f"{', '.join(single)}: one intent a topic"
            notes.append(f"{self.qrels.place}: read without --subtopics, so for {what}")
        elif self.by_intent and self.qrels.subtopics and not any(self.qrels.subtopics.names.values()):
            what = "the only subtopic is 0, which is not an intent"
            notes.append(f"{self.qrels.place}: {what}; measures by intent score 0")
        if self.options.max_residual is not None:
            unbounded = [measure.label for measure in self.measures if measure.residual == "none"]
            if unbounded:
                have = "has" if len(unbounded) == 1 else "have"
                notes.append(f"--max-residual: {', '.join(unbounded)} {have} no residual; all topics count there")
        if self.options.ties == "best" and self.options.wants_residuals and self.options.residuals != "difference":
            what = (
                "--ties best: a document that is judged later may move up, and a score rise by more than its residual"
            )
            notes.append(Note(what, "take another order of ties"))
        return notes + (bounds_notes(self) if self.options.bounds else [])

    def score_part(self, part: RunPart) -> PartResult[BatchScores]:
        """The scores of a part of a run, in the process that reads it."""
        graded = part.grade(self.grader)
        return graded.with_batches([self.score_with_ties(batch) for batch in graded.batches])

    def score_with_ties(self, batch: Batch) -> BatchScores:
        """The scores of a batch, and what the order of ties leaves open of them."""
        return with_ties(self, batch, self.score_batch(batch))

    def merge(
        self, name: str, batches: Sequence[BatchScores], topics: list[bytes], missing: int = 0, format: str = ""
    ) -> RunScores:
        """The scores of a run, under the name that it goes by.

        batches  of all its parts; of a topic that is in several, the last counts
        topics   those that count, and how many of them the run lacks
        format   what its file was read as
        """
        scored = [topic for batch in batches for topic in batch.topics]
        values = np.concatenate([batch.values for batch in batches], axis=1)
        limits = [batch.bounds for batch in batches if batch.bounds is not None]
        bounds = np.concatenate(limits, axis=1) if limits else None
        if scored != topics:
            row = {topic: index for index, topic in enumerate(scored)}
            chosen = [row[topic] for topic in topics]
            values, bounds = values[:, chosen], bounds[:, chosen] if bounds is not None else None
        score, unjudged, residual = values
        included = np.ones(score.shape, dtype=bool)
        if self.options.max_residual is not None:
            included = ~(residual > self.options.max_residual)
        # Thousands of runs share one list of names.
        names = self.topics if topics == self.qrels.topics else [decode(topic) for topic in topics]
        empty = frozenset(decode(topic) for batch in batches for topic in batch.empty)
        return RunScores(name, names, missing, score, unjudged, residual, included, format, empty, bounds)

    def type_notes(self, place: str, batches: Sequence[BatchScores]) -> list[str]:
        """What is said of types that only a run or only a measure's file knows."""
        types = {kind for batch in batches for kind in batch.types}
        notes = []
        for measure in self.measures:
            strange, unused = types - measure.types, measure.types - types
            for kinds, what in ((strange, "are others to"), (unused, "are not of this run, but of")):
                if measure.types and kinds:
                    notes.append(f"{place}: the types {shorten(sorted(map(decode, kinds)))} {what} {measure}")
        return notes

    @cached_property
    def without_relevant(self) -> dict[tuple[str, ...], list[int]]:
        """Topics in which no document has a gain -> the columns of the measures that see none, in the order of the
        measures; () for those that find some in every topic. Measures that do not look at gains, counts and measures
        by intent are left out."""
        columns: dict[tuple[str, ...], list[int]] = {}
        for column, (measure, table) in enumerate(zip(self.measures, self.tables, strict=True)):
            if measure.definition.gain is None or measure.definition.summary == "total" or measure.by_intent:
                continue
            rows = np.flatnonzero(self.qrels.pool @ (table.worth > 0) == 0).tolist()
            columns.setdefault(tuple(self.topics[row] for row in rows), []).append(column)
        return columns

    @cached_property
    def topics(self) -> list[str]:
        """The topics of the qrels."""
        return [decode(topic) for topic in self.qrels.topics]

    def gains_cache(self, batch: Batch) -> GainsCache:
        """A batch as measures see it: a function of a gain table, a measure, and what the unjudged and the tail are
        worth."""
        return GainsCache(batch, self.grader, self.by_intent)

    def score_batch(self, batch: Batch) -> BatchScores:
        """The scores and residuals of a batch."""
        values = np.full((3, len(batch.topics), len(self.measures)), np.nan)
        bounds = np.full((2, *values.shape[1:]), np.nan) if self.options.bounds else None
        gains_of = self.gains_cache(batch)
        for column, (measure, table) in enumerate(zip(self.measures, self.tables, strict=True)):
            score = values[0, :, column] = scores_of(measure, gains_of(table, measure))
            if self.options.residuals == "difference":
                values[1:, :, column] = self._difference(measure, table, gains_of, score)
            elif self.options.wants_residuals and measure.residual != "none" and table.top > 0:
                values[1:, :, column] = self._residuals(measure, table, gains_of, score)
            if bounds is not None and measure.bounds != "none" and table.top > 0:
                bounds[:, :, column] = self._bounds(measure, table, gains_of, score)
        lowest = batch.codes.min(initial=batch.beyond)
        judged = None if lowest == batch.beyond else bool(lowest < len(self.qrels.labels))
        empty = [batch.topics[row] for row in np.flatnonzero(batch.retrieved == 0).tolist()]
        return BatchScores(batch.topics, values, batch.types, judged, empty, batch.retrieved, bounds)

    def _residuals(self, measure: Measure, table: GainTable, gains_of: GainsCache, score: Floats) -> Floats:
        """2 × topics: how far the unjudged documents could lift the score, and all that is unknown. Where the highest
        score is that of the bounds the first is blank."""
        found = np.full((2, len(score)), np.nan)
        if measure.residual == "from_bounds" and not measure.by_intent:
            whole = self.options.residual_depth == "full" and measure.only_truncates
            found[1] = self._bounds(replace(measure, cutoff=None) if whole else measure, table, gains_of, score)[1]
        if np.isnan(found[1]).all():
            found[:] = self._best(measure, table, gains_of)
        # The last bits of two sums may differ where nothing is unknown.
        return np.where(np.abs(found - score) <= TOLERANCE, 0.0, np.maximum(found - score, 0))

    def _difference(self, measure: Measure, table: GainTable, gains_of: GainsCache, score: Floats) -> Floats:
        """The best case less the score, signed, of a C/W/L measure; nan for others, and where both are infinite."""
        if not measure.definition.cwl or measure.by_intent or measure.judged_only or table.top <= 0:
            return np.full(len(score), np.nan)
        best = run_measure(measure, gains_of(table, measure, unjudged=table.top, tail=table.top))
        with np.errstate(invalid="ignore"):
            return best - score

    def bounds_beside(self, batch: Batch, column: int, missed: Ints) -> Floats:
        """3 × topics: the lowest score by one measure, the score, and the highest; nan where the ends are not known.

        missed  topics: how many documents that the run did not retrieve may be relevant, beside `Options.unseen`
        """
        measure, table = self.measures[column], self.tables[column]
        gains_of = GainsCache(batch, self.grader, self.by_intent, missed)
        score = scores_of(measure, gains_of(table, measure))
        if measure.bounds == "none" or table.top <= 0:
            low = high = np.full(len(score), np.nan)
        else:
            low, high = self._bounds(measure, table, gains_of, score)
        return np.array([low, score, high])

    def _bounds(self, measure: Measure, table: GainTable, gains_of: GainsCache, score: Floats) -> Floats:
        """2 × topics: the lowest and the highest score, down to the cutoff."""
        from gradedeval.measures.bounds.of_measure import bounds_of  # few evaluations ask for bounds

        seen = replace(measure, cutoff=None) if self.options.ties == "average" else measure
        plain, best = gains_of(table, seen), partial(gains_of, table, measure, unjudged=table.top)
        highest, grades = partial(self._best, measure, table, gains_of), grades_of(measure, self.qrels, self.options)
        return bounds_of(measure, score, grades, plain, best, lambda: highest(to_cutoff=True)[1])

    def _best(
        self, measure: Measure, table: GainTable, gains_of: GainsCache, to_cutoff: bool = False
    ) -> tuple[Floats, Floats]:
        """The best cases: every unjudged document at the top gain; and every rank beyond the end as well."""
        definition, residual = measure.definition, measure.residual
        if self.options.residual_depth == "full" and measure.only_truncates and not to_cutoff:
            measure = replace(measure, cutoff=None)
        inside = np.minimum(run_measure(measure, gains_of(table, measure, unjudged=table.top)), definition.ceiling)
        if residual != "beyond_run":
            return inside, inside
        both = gains_of(table, measure, unjudged=table.top, tail=table.top)
        return inside, np.minimum(run_measure(measure, both), definition.ceiling)


def _check_ties(measures: Sequence[Measure], options: Options) -> None:
    """Raise InputError (usage) where scores are to be averaged over ties, and a measure has no closed form of that."""
    for measure in measures:
        if options.ties == "average" and not measure.definition.over_ties:
            known = [name for name, other in MEASURES.items() if other.definition.over_ties]
            what = f"{measure.name} has no average over ties"
            hint = f"{len(known)} measures have one, such as {shorten(known)}; see `gradedeval measures NAME`"
            raise InputError("--ties average", what, hint, usage=True)
