"""Batches and measures -> the score and the residual of every topic."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints
from gradedeval.errors import InputError, Note, flag, redacted, shorten
from gradedeval.kernel import parallel
from gradedeval.kernel.measures.definition import MEASURES, Measure
from gradedeval.kernel.measures.gains import Gains, GainTable, Grades, gain_table, run_measure, scores_of, thresholds
from gradedeval.kernel.measures.parse import without_duplicates
from gradedeval.kernel.options import PRESETS, Options, Order
from gradedeval.kernel.parallel import Limits
from gradedeval.kernel.rankings.batch import Batch, condensed, count_unjudged
from gradedeval.kernel.rankings.grade import Grader, PartResult
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.scoring.caveats import add_tie_ranges, different_topics_notes, no_relevant_text
from gradedeval.kernel.scoring.scores import RunScores, with_defaults
from gradedeval.kernel.scoring.signature import compares_single
from gradedeval.kernel.trec.lines import decode

if TYPE_CHECKING:
    from gradedeval.kernel.measures.sampled import Sample
    from gradedeval.kernel.options.metadata import Costs, Fill
    from gradedeval.kernel.rankings.grade import RunPart
    from gradedeval.kernel.scoring.intents import ByIntent

# A batch of grade codes -> the gains that each measure sees.


class GainsCache:
    """A batch as measures see it; what several measures look at is looked up once.

    missed  topics: how many unjudged documents were not retrieved, and may be relevant in a bound
    """

    def __init__(
        self, batch: Batch, grader: Grader, by_intent: Mapping[Measure, ByIntent], missed: Ints | None = None
    ) -> None:
        self.batch, self.grader, self.by_intent, self.cells = batch, grader, by_intent, grader.limits.cells
        self.unsampled_code = grader.unsampled
        self.strata = grader.qrels.strata
        # The ideal rankings of all topics are those of every run.
        self.all_ideals = grader.ideals if batch.topics == grader.qrels.topics else None
        self.cost = None if grader.options.costs is None else _costs(batch, grader.options.costs)
        self.unseen = grader.options.unseen or 0
        self.missed = missed
        self.below: dict[int | None, Ints] | None = {} if grader.options.bounds or missed is not None else None
        self.judged_code = judged = grader.judged
        self.judged: Bools = judged.take(batch.codes)  # topics × ranks: whether it is; quicker than []
        self.pool = batch.pool.judged if judged[:-2].all() else batch.pool.per_topic(judged[: batch.unjudged_code])
        self.gains: dict[tuple[bytes, float, int | None], Floats] = {}
        self.ideals: dict[bytes, tuple[Floats, dict[Any, Any]]] = {}
        # Measures of the same gains share all that is worked out from them.
        self.by_key: dict[tuple[bytes, float, float, float, int | None, int | None], Gains] = {}

    def __call__(self, table: GainTable, measure: Measure, unjudged: float = 0.0, tail: float = 0.0) -> Gains:
        if measure.judged_only:
            return self._condensed(table, replace(measure, judged_only=False), unjudged, tail)
        last = measure.last_rank
        key = (table.key, table.top, unjudged, tail, last, measure.cutoff)
        if key not in self.by_key:
            if self.batch.codes.size > self.cells:  # one deep topic: two views of it would take more memory than time
                self.by_key.clear()
            self.by_key[key] = self._gains_for(table, measure, last, unjudged, tail)
        gains = self.by_key[key]
        if not (measure.definition.uses_strata or measure.by_intent):
            return gains
        gains = copy(gains)  # with all that is worked out of the same gains, and with the names of topics
        if measure.definition.uses_strata:
            gains.sample = self._sample(table, last)
            return gains
        gains.intents = self.by_intent[replace(measure, cutoff=None)].seen(
            self.batch.topics,
            lambda intent: self._gains_for(intent, measure, last, unjudged, tail),
            best=unjudged > 0 or tail > 0,
        )
        return gains

    @cached_property
    def _condensed(self) -> GainsCache:
        """The same of the rankings without the unjudged documents."""
        return GainsCache(condensed(self.batch, self.judged_code), self.grader, self.by_intent)

    def _gains_for(self, table: GainTable, measure: Measure, last: int | None, unjudged: float, tail: float) -> Gains:
        gain, (ideal, of_pool) = self._gain(table, unjudged, last), self._ideal(table)
        first, uncut = self.batch.first, None
        if first is not None:
            from gradedeval.kernel.measures.gains import mean_gains  # few evaluations average over ties

            uncut = self._gain(table, unjudged, None)
            gain = mean_gains(uncut, first)[:, :last]
        judged = self.judged[:, :last]
        retrieved = self.batch.retrieved if last is None else np.minimum(self.batch.retrieved, last)
        # Measures share these arrays: whoever writes to one would change the scores of the next.
        for array in (gain, judged, ideal, retrieved, self.pool, table.levels):
            array.setflags(write=False)
        cost, kinds, unsampled = self.cost, self.batch.kinds, self.unsampled_code
        seen = Gains(
            gain,
            judged,
            ideal,
            retrieved,
            self.pool,
            table.levels,
            measure.cutoff,
            tail,
            cost=cost[:, :last] if cost is not None else None,
            types=tuple(self.batch.types),
            kind=kinds[:, :last] if kinds is not None else None,
            unsampled=None if unsampled is None else unsampled[self.batch.codes[:, :last]],
            first=first,
            uncut=uncut,
            below=None if self.below is None else self._below(last, self.below),
            unseen=self.unseen,
        )
        seen.memo["topics"], seen.of_pool = self.batch.topics, of_pool  # the topics are for messages
        return seen

    def _below(self, last: int | None, known: dict[int | None, Ints]) -> Ints:
        """topics: how many unjudged documents were retrieved below a rank, or missed, where bounds are asked for."""
        if last not in known:
            deeper = self.batch.codes[:, last if last is not None else self.batch.codes.shape[1] :]
            counted = 0 if self.batch.below is None else self.batch.below
            missed = 0 if self.missed is None else self.missed
            known[last] = count_unjudged(deeper, self.judged_code) + counted + missed
        return known[last]

    def _sample(self, table: GainTable, last: int | None) -> Sample:
        """The documents as a sample: of the strata of the qrels, or of one, where the judged ones are the sample."""
        from gradedeval.kernel.measures.sampled import Sample  # few evaluations are of samples

        codes = self.batch.codes[:, :last]
        pool = self.batch.pool.table()[:, : len(table.gain_of_label)]  # without what is filled in
        of = self.strata.of if self.strata is not None else np.zeros(pool.shape[1], dtype=np.int64)
        more = len(self.judged_code) - len(of)
        sampled = self.judged_code[: len(of)]
        member = (of[:, None] == np.arange(of.max(initial=0) + 1)).astype(np.float64)
        size = (pool * sampled) @ member
        weight = np.where(size > 0, pool @ member / np.maximum(size, 1), 0.0)[:, of] * sampled
        estimated = (pool * weight) @ (table.gain_of_label[:, None] == table.levels)
        at_code = np.pad(weight, ((0, 0), (0, more)))
        return Sample(
            member.shape[1],
            np.pad(of, (0, more), constant_values=-1)[codes],
            self.judged_code[codes],
            np.take_along_axis(at_code, codes.astype(np.int64), 1),
            estimated,
        )

    def _gain(self, table: GainTable, unjudged: float, last: int | None) -> Floats:
        """The gains down to a rank: most rankings go on far below the cutoff."""
        whole, key = (table.key, unjudged, None), (table.key, unjudged, last)
        if whole in self.gains:
            return self.gains[whole][:, :last]
        if key not in self.gains:
            self.gains[key] = self._gain_of_code(table, unjudged).take(self.batch.codes[:, :last])
        return self.gains[key]

    def _gain_of_code(self, table: GainTable, unjudged: float) -> Floats:
        """code: the gain."""
        key, known = (table.key, unjudged), self.grader.worth
        if key not in known:
            worth, unknown = table.by_code(len(self.judged_code)), ~self.judged_code
            if table.filled is not None:  # nobody judged them, and yet they are known
                unknown[len(table.gain_of_label) : -2] = False
            worth[unknown] = unjudged
            worth[self.batch.padding_code] = 0  # not judged either, but the padding of short rankings gains nothing
            known[key] = worth
        return known[key]

    def _ideal(self, table: GainTable) -> tuple[Floats, dict[Any, Any]]:
        """topics × …: the gains above 0 of the pool, descending, padded with zeros; and what measures make of them."""
        key = table.gain_of_label.tobytes()
        if self.all_ideals is not None and key in self.all_ideals:
            return self.all_ideals[key]
        if key not in self.ideals:
            ideal = self.ideals[key] = self.batch.pool.sorted_worth(table.gain_of_label), {}
            if self.all_ideals is not None and ideal[0].size <= self.cells:
                self.all_ideals[key] = ideal
        return self.ideals[key]


def _costs(batch: Batch, costs: Costs) -> Floats:
    """topics × ranks: the cost of each document by its type; 1 beyond the end."""
    if batch.kinds is None:
        return np.ones(batch.codes.shape)
    cost: Floats = np.array([*(costs.of[kind] for kind in batch.types), 1.0])
    return cost[batch.kinds]


# The scale of grades as each measure sees it, and what its grades are worth.


def grades_of(measure: Measure, qrels: Qrels, options: Options) -> Grades:
    """The scale that a measure sees. The top grade of a preset counts where the measure looks at one: gains that are
    listed need none above those of the qrels. Raises InputError where a grade is above the top one."""
    highest = float(qrels.labels[-1])
    top = options.top_of(highest)
    if options.top_grade is None and (isinstance(measure.gain, tuple) or str(measure.gain).startswith("@")):
        top = highest
    preset = PRESETS[options.like].top_grade if options.like and measure.depends_on_top else None
    given = preset if options.top_grade is None else options.top_grade
    if given is not None and highest > given:
        of_preset = f", which {measure.label} takes from {flag.like:{options.like}}"
        what = f"grade {highest:g} is above the top grade {given:g}{of_preset if options.top_grade is None else ''}"
        raise InputError(qrels.place, what, f"raise {flag.top_grade} or correct the grade")
    return Grades(qrels.labels, top, options.max_gain)


def tables_of(measures: Sequence[Measure], qrels: Qrels, options: Options) -> list[GainTable]:
    """The table of each measure; those that see the same gains share one."""
    found, known = list[GainTable](), dict[tuple[Any, ...], GainTable]()
    for measure in measures:
        # All of a measure that its gains depend on.
        key = (measure.rel, measure.gain, measure.definition.scale, measure.threshold_shares)
        if key not in known:
            known[key] = gain_table(measure, grades_of(measure, qrels, options))
        found.append(known[key])
    return found


# What is said of the measures of an evaluation: their names, what grades are worth to them, and their bounds.


def name_notes(scorer: Scorer) -> list[str]:
    """Which names are of the same measure, and which other tools have another number under."""
    notes, foreign = list[str](), list[str]()
    for measure in scorer.measures:
        if len(measure.asked) > 1:
            names = ", ".join(map(redacted, measure.asked))
            notes.append(f"{names}: the same measure, shown as {measure.label}")
        if measure.label != str(measure):
            foreign.append(measure.label)
    if not foreign:
        return notes
    # For which most evaluations need not wait.
    from gradedeval.kernel.measures.spellings import note_of, note_of_cwl_eval

    notes += filter(None, [note_of_cwl_eval(scorer.measures)])
    lowest = float(scorer.qrels.labels[0]) if scorer.options.negative == "judged" else 0.0
    return notes + list(filter(None, (note_of(label, lowest, scorer.grades.top) for label in foreign)))


def worth_notes(scorer: Scorer) -> list[str]:
    """What grade 1 is worth, the top grade as far as is known: with exp gains ½."""
    shares: dict[float, list[str]] = {}
    for measure, table in zip(scorer.measures, scorer.tables, strict=True):
        if measure.definition.scale == "unit" and measure.gain in ("exp", "ntcir") and measure.rel is None:
            shares.setdefault(float(table.gain_of_label[-1]), []).append(measure.label)
    what = f"{scorer.qrels.place}: no grade above 1, so a relevant document is worth"
    hint = f"use {flag.top_grade} if the scale goes on, or rel=1 in a measure to make it 1"
    return [Note(f"{what} {share:g} to {', '.join(names)}", hint) for share, names in shares.items()]


def convention_notes(scorer: Scorer, rel: int) -> list[str]:
    """Which binary measures count grades as relevant that are not by the conventions of the test collection, by which
    they count from `rel`."""
    names = [
        measure.label
        for measure in scorer.measures
        if measure.definition.gain == "binary" and "rel" not in dict(measure.parameters)
    ]
    if not names:
        return []
    what = f"{scorer.qrels.place}: {', '.join(names)}: grade 1 counts as relevant here, and by convention only grades"
    return [Note(f"{what} from {rel}", f"add {flag.rel:{rel}}", kind="convention")]


def _notes_on_judgments(scorer: Scorer) -> list[str]:
    """What measures take for granted of samples of judgments and of costs."""
    sampled, one, units = dict[str, None](), dict[str, None](), dict[str, str]()
    for measure in scorer.measures:
        if measure.definition.uses_unsampled:
            sampled[measure.name] = None
        if measure.definition.uses_strata:
            one[measure.name] = None
        if measure.definition.cost_unit:
            units[measure.name] = measure.definition.cost_unit
    notes, qrels = list[str](), scorer.qrels
    if sampled and scorer.options.negative == "judged" and qrels.strata is None and qrels.labels[0] < 0:
        what = f"{qrels.place}: grades below 0 count as judged and not relevant in {', '.join(sampled)}"
        notes.append(Note(what, f"{flag.negative:unjudged} takes them as pooled and not sampled"))
    if one and qrels.strata is None:
        notes.append(
            Note(
                f"{qrels.place}: read without {flag.qrels_format:strata}, so for {', '.join(one)}: one stratum a topic"
            )
        )
    if units and not scorer.options.costs:
        free = f"without {flag.costs} each document costs 1"
        notes += [Note(f"{name}: {unit}", free) for name, unit in units.items()]
    return notes


def _notes_on_intents(scorer: Scorer) -> list[str]:
    """What measures by intent take for granted."""
    qrels = scorer.qrels
    notes = list[str](dict.fromkeys(note for by_intent in scorer.by_intent.values() for note in by_intent.notes))
    single = [measure.label for measure in scorer.measures if measure.by_intent and qrels.subtopics is None]
    if single:
        what = f"{', '.join(single)}: one intent a topic"
        notes.append(Note(f"{qrels.place}: read without {flag.subtopics:True}, so for {what}"))
    elif qrels.subtopics and not any(qrels.subtopics.names.values()):
        notes.append(f"{qrels.place}: the only subtopic is 0, so there are no intents; measures by intent score 0")
    return notes


REMEMBERED = 16
"""Scorers that qrels keep: a training loop asks for the same thousands of times."""


def scorer_for(qrels: Qrels, measures: Sequence[Measure], options: Options, limits: Limits | None = None) -> Scorer:
    """A scorer, the one that these qrels had for the same measures and options before. What reads a file is made anew,
    and so is what depends on intents: it remembers topics."""
    key = (tuple((measure, measure.asked) for measure in measures), options, limits)
    known: dict[Any, Scorer] = qrels._scorers
    if (scorer := known.get(key)) is not None:
        return scorer
    scorer = Scorer(qrels, measures, options, limits)
    reads_more = any(one.by_intent or one.files or str(one.gain).startswith("@") for one in measures)
    if not reads_more and not str(options.gain).startswith("@"):
        if len(known) >= REMEMBERED:
            known.clear()
        known[key] = scorer
    return scorer


@dataclass(eq=False, repr=False)
class BatchScores:
    """Scores of some topics of a run.

    values         3 × topics × measures: score, residual by the unjudged documents, residual in all; nan where blank
    types          what column 2 of the run calls its documents, where that was asked for
    any_judged     whether any of the documents is judged; None where there is no document
    empty          the topics without a document
    retrieved      topics: how many documents
    bounds         2 × topics × measures: the lowest and the highest score, where asked for; nan where blank
    ties           4 × topics × measures, as `caveats.add_tie_ranges` says
    unscored_ties  topics whose orders of ties are not scored yet
    """

    topics: list[bytes]
    values: Floats
    types: list[bytes]
    any_judged: bool | None
    empty: Sequence[bytes]
    retrieved: Ints
    bounds: Floats | None = None
    ties: Floats | None = None
    unscored_ties: Batch | None = None

    def with_columns(self, other: BatchScores, chosen: Sequence[bool]) -> BatchScores:
        """The scores with some columns of others of the same topics, whose ties are scored."""

        def ties(scores: BatchScores) -> Floats:
            if scores.ties is not None:
                return scores.ties
            none = np.zeros((2, *scores.values[0].shape))
            return np.concatenate([np.broadcast_to(scores.values[0], none.shape), none])

        return replace(
            self,
            values=np.where(chosen, other.values, self.values),
            bounds=None if self.bounds is None else np.where(chosen, np.asarray(other.bounds), self.bounds),
            ties=None if self.ties is other.ties else np.where(chosen, ties(other), ties(self)),
        )


class Scorer:
    """Scores runs against one qrels by one list of measures under one set of options."""

    def __init__(
        self, qrels: Qrels, measures: Sequence[Measure], options: Options, limits: Limits | None = None
    ) -> None:
        self.qrels, self.options = qrels, options
        self.asked = measures
        if options.like is not None or options.gain is not None or options.rel is not None:
            measures = [with_defaults(measure, options) for measure in measures]
        self.measures = without_duplicates(measures)
        self.single = [compares_single(measure, options) for measure in self.measures]
        if options.by_score and len(set(self.single)) == 1:
            order: Order = "float32" if self.single[0] else "score"
            if order != options.order:
                self.options = options = replace(options, order=order)
        self.grades = Grades(qrels.labels, options.top_of(float(qrels.labels[-1])), options.max_gain)
        self.tables = tables_of(self.measures, qrels, options)
        self.by_intent: dict[Measure, ByIntent] = {}
        self.types: dict[Measure, frozenset[bytes]] = {}
        intents, of_strata = list[Measure](), False
        for measure in self.measures:
            if measure.by_intent:
                intents.append(measure)
            if known := measure.types:
                self.types[measure] = known
            of_strata = of_strata or measure.definition.uses_strata
        if intents:
            from gradedeval.kernel.scoring.intents import ByIntent, check_intents  # few measures are

            check_intents(intents, qrels.subtopics is not None)
        if options.ties == "average":
            _check_ties(self.measures)
        for measure in intents:
            grades, key = grades_of(measure, qrels, options), replace(measure, cutoff=None, judged_only=False)
            self.by_intent[key] = ByIntent(qrels, measure, grades, gain_table)
        types = options.costs is not None or bool(self.types)
        limits = limits or parallel.LIMITS
        graded, self.fill_notes = qrels, list[str]()
        if options.fill is not None:
            graded = self._fill_in(options.fill)
        width = len(graded.labels) if of_strata else 0
        self.grader = Grader(graded, options, types=types, last_rank=self.last_rank, least_width=width, limits=limits)
        if len(set(self.single)) > 1:
            self.grader = replace(self.grader, options=replace(options, order="float32"), both=True)

    def _fill_in(self, fill: Fill) -> Qrels:
        """The qrels with codes of unjudged documents; the tables of measures that take them have their
        gains."""
        from gradedeval.kernel.rankings.other_qrels import filled  # few evaluations fill in

        graded, gains, self.fill_notes = filled(self.qrels, fill)
        takes = [one.takes_fill for one in self.measures]
        pairs = zip(self.tables, takes, strict=True)
        self.tables = [replace(table, filled=gains) if taken else table for table, taken in pairs]
        without = [measure.label for measure, taken in zip(self.measures, takes, strict=True) if not taken]
        if without and any(takes):  # else it is an option that no measure uses
            self.fill_notes.append(Note(f"{flag.fill}: documents that it fills stay unjudged in {', '.join(without)}"))
        return graded

    @property
    def last_rank(self) -> int | None:
        """The last rank that any measure looks at; None where one looks at all."""
        if self.options.residual_depth == "full" or self.options.ties == "average":
            return None
        last = [None if measure.judged_only else measure.last_rank for measure in self.measures]
        return None if None in last else max(filter(None, last), default=None)

    @cached_property
    def notes(self) -> list[str]:
        """What was assumed for all runs."""
        notes = list(self.qrels._notes_for(self.options))
        if self.options.queries or self.options.slices:
            chosen = self.options.topics_from
            topics = [decode(topic) for topic in self.qrels.topics if chosen is None or topic in chosen]
            from gradedeval.kernel.options.metadata import unmatched_notes

            notes += unmatched_notes(self.options.queries, self.options.slices, topics)
        if self.grades.top <= 0:
            what = f"{self.qrels.place}: no grade above 0, so all gains are 0 and residuals are blank"
            notes.append(Note(what, f"use {flag.top_grade} to set the top grade", kind="no-positive-grade"))
        notes += self.fill_notes + self.unused_notes
        if self.options.top_grade is None and self.grades.top == 1:
            notes += worth_notes(self)
        collection = self.qrels._collection
        if collection is not None and collection.rel != 1 and self.options.rel is None:
            notes += convention_notes(self, collection.rel)
        notes += name_notes(self) + _notes_on_judgments(self)
        if self.by_intent:
            notes += _notes_on_intents(self)
        if self.options.max_residual is not None:
            unbounded = [measure.label for measure in self.measures if measure.residual == "none"]
            if unbounded and len(unbounded) < len(self.measures):  # else it is an option that no measure uses
                have = "has" if len(unbounded) == 1 else "have"
                notes.append(
                    Note(f"{flag.max_residual}: {', '.join(unbounded)} {have} no residual; all topics count there")
                )
        if self.options.ties == "best" and self.options.wants_residuals and self.options.residuals != "difference":
            what = "a document that is judged later may move up, and a score rise by more than its residual"
            notes.append(Note(f"{flag.ties:best}: {what}", "take another order of ties"))
        if self.options.bounds:
            notes += bounds_notes(self)
        return notes

    @property
    def unused_notes(self) -> list[str]:
        """Notes of options that the user gave, and that no measure uses."""
        if not self.options.given:
            return []
        from gradedeval.kernel.scoring.unused_options import unused_options  # most evaluations are given no option

        return [*unused_options(self.asked, self.options, float(self.qrels.labels[-1]))]

    def unequal_topics(self, topics: Sequence[Hashable]) -> list[Note]:
        """Return a note where means are over different topics; `topics` are those of each run."""
        return different_topics_notes({measure.label: topics for measure in self.measures}, self.options)

    def score_part(self, part: RunPart) -> PartResult[BatchScores]:
        """The scores of a part of a run, in the process that reads it."""
        graded = part.grade(self.grader)
        return graded.with_batches(list(map(self.score_and_note_ties, graded.batches)))

    def score_and_note_ties(self, batch: Batch) -> BatchScores:
        """The scores of a batch, and the lowest and the highest that another order of tied documents would give."""
        if batch.as_double is None:
            return add_tie_ranges(self, batch, self.score_batch(batch))
        halves = replace(batch, as_double=None), batch.as_double
        single, double = (add_tie_ranges(self, half, self.score_batch(half), at_once=True) for half in halves)
        return single.with_columns(double, [not single for single in self.single])

    def merge(
        self, name: str, batches: Sequence[BatchScores], topics: list[bytes], missing: int = 0, format: str = ""
    ) -> RunScores:
        """The scores of a run, under the name that it goes by.

        batches  of all its parts; of a topic that is in several, the last counts
        topics   those that count, and how many of them the run lacks
        format   what its file was read as
        """
        first = batches[0]
        scored, values, bounds, empty = first.topics, first.values, first.bounds, first.empty
        if len(batches) > 1:
            scored = [topic for batch in batches for topic in batch.topics]
            empty = [topic for batch in batches for topic in batch.empty]
            values = np.concatenate([batch.values for batch in batches], axis=1)
            limits = [batch.bounds for batch in batches if batch.bounds is not None]
            bounds = np.concatenate(limits, axis=1) if limits else None
        if scored != topics:
            row = {topic: index for index, topic in enumerate(scored)}
            chosen = [row[topic] for topic in topics]
            values, bounds = values[:, chosen], bounds[:, chosen] if bounds is not None else None
        score, unjudged, residual = values[0], values[1], values[2]  # an array is slow to unpack
        included = np.ones(score.shape, dtype=bool)
        if self.options.max_residual is not None:
            included = ~(residual > self.options.max_residual)
        # Thousands of runs share one list of names.
        names = self.topics if topics == self.qrels.topics else [decode(topic) for topic in topics]
        without = frozenset(map(decode, empty))
        return RunScores(name, names, missing, score, unjudged, residual, included, format, without, bounds)

    def type_notes(self, place: str, batches: Sequence[BatchScores]) -> list[str]:
        """What is said of types that only a run or only a measure's file knows."""
        types = {kind for batch in batches for kind in batch.types}
        notes = []
        for measure, known in self.types.items():
            for kinds, what in ((types - known, "are others to"), (known - types, "are not of this run, but of")):
                if kinds:
                    notes.append(f"{place}: the types {shorten(sorted(map(decode, kinds)))} {what} {measure}")
        return notes

    @cached_property
    def topics_without_relevant(self) -> dict[tuple[str, ...], list[int]]:
        """Topics in which no document has a gain -> the columns of the measures that see none, in the order of the
        measures; () for those that find some in every topic. Measures that do not look at gains, counts and measures
        by intent are left out."""
        columns: dict[tuple[str, ...], list[int]] = {}
        for column, (measure, table) in enumerate(zip(self.measures, self.tables, strict=True)):
            if measure.definition.gain is None or measure.definition.summary == "total" or measure.by_intent:
                continue
            rows = np.flatnonzero(self.qrels.counts.per_topic(table.gain_of_label > 0) == 0).tolist()
            columns.setdefault(tuple(self.topics[row] for row in rows), []).append(column)
        return columns

    @cached_property
    def topics(self) -> list[str]:
        """The topics of the qrels."""
        return list(map(decode, self.qrels.topics))

    def gains_cache(self, batch: Batch, missed: Ints | None = None) -> GainsCache:
        """A batch as measures see it: a function of a gain table, a measure, and what the unjudged and the tail are
        worth. `missed` as there."""
        return GainsCache(batch, self.grader, self.by_intent, missed)

    def grades_of(self, measure: Measure) -> Grades:
        """The scale that a measure sees. Raises InputError as `grades_of`."""
        return grades_of(measure, self.qrels, self.options)

    def score_batch(self, batch: Batch) -> BatchScores:
        """The scores and residuals of a batch."""
        values = np.full((3, len(batch.topics), len(self.measures)), np.nan)
        bounds = np.full((2, *values.shape[1:]), np.nan) if self.options.bounds else None
        gains_of = GainsCache(batch, self.grader, self.by_intent)
        for column, (measure, table) in enumerate(zip(self.measures, self.tables, strict=True)):
            score = values[0, :, column] = scores_of(measure, gains_of(table, measure))
            if self.options.wants_residuals or bounds is not None:
                values[1:, :, column], ends = unknown(self, measure, table, gains_of, score)
                if bounds is not None:
                    bounds[:, :, column] = ends
        lowest = np.minimum.reduce(batch.codes, axis=None, initial=batch.padding_code)
        any_judged = None if lowest == batch.padding_code else bool(lowest < len(self.qrels.labels))
        empty = [topic for topic, count in zip(batch.topics, batch.retrieved.tolist(), strict=True) if not count]
        return BatchScores(batch.topics, values, batch.types, any_judged, empty, batch.retrieved, bounds)


def _check_ties(measures: Sequence[Measure]) -> None:
    """Raise InputError (usage) where a measure has no closed form of its average over ties."""
    for measure in measures:
        if not measure.definition.over_ties:
            known = [name for name, other in MEASURES.items() if other.definition.over_ties]
            what = f"{measure.name} has no average over ties"
            hint = f"{len(known)} measures have one, such as {shorten(known)}; see `gradedeval measures NAME`"
            raise InputError(f"{flag.ties:average}", what, hint, usage=True)


# Topics without a relevant document, which score 0 whatever a run does.


def relevance_notes(scorer: Scorer, runs: Sequence[RunScores]) -> list[str]:
    """A note for measures whose means count topics that have nothing relevant to them, as 0."""
    columns = scorer.topics_without_relevant if scorer.grades.top > 0 else {}
    if not runs or not any(columns):
        return []
    counted = set().union(*{id(run.topics): run.topics for run in runs}.values())
    notes: list[str] = []
    relevant = dict(zip(scorer.topics, scorer.qrels.counts.per_topic(scorer.qrels.labels > 0).tolist(), strict=True))
    for topics, of_topics in columns.items():
        here = [topic for topic in topics if topic in counted]
        zero = [scorer.measures[column].label for column in of_topics if runs[0].is_zero(here, column)]
        if here and zero:
            what = no_relevant_text(scorer.qrels.place, here, len(counted), zero if len(columns) > 1 else [])
            graded = any(map(relevant.__getitem__, here))
            hint = f"exclude {'it' if len(here) == 1 else 'them'} with {flag.topics:relevant}"
            notes.append(Note(what, "" if graded else hint, kind="no-relevant"))
    return notes


# What unjudged documents could change of a score: residuals and bounds, and what is taken for granted of them.


def unknown(
    scorer: Scorer, measure: Measure, table: GainTable, gains_of: GainsCache, score: Floats
) -> tuple[Floats, Floats]:
    """By one measure, as far as it is asked for: 2 × topics, the residual by the unjudged documents and that in all;
    and 2 × topics, the lowest and the highest score. Both are nan where blank, as they are
    without a grade above 0."""
    options = scorer.options
    residuals = bounds = np.full((2, len(score)), np.nan)
    if scorer.grades_of(measure).top <= 0:
        return residuals, bounds
    if options.residuals == "difference":
        residuals = np.broadcast_to(_difference(measure, table, gains_of, score), bounds.shape)
    elif options.wants_residuals and measure.residual != "none":
        residuals = _residuals(scorer, measure, table, gains_of, score)
    if options.bounds and measure.bounds != "none":
        bounds = _bounds(scorer, measure, table, gains_of, score)
    return residuals, bounds


def _residuals(scorer: Scorer, measure: Measure, table: GainTable, gains_of: GainsCache, score: Floats) -> Floats:
    """2 × topics: how far the unjudged documents could lift the score, and all that is unknown. Where the highest
    score is that of the bounds the first is blank."""
    found = np.full((2, len(score)), np.nan)
    if measure.residual == "from_bounds" and not measure.by_intent:
        whole = scorer.options.residual_depth == "full" and measure.only_truncates
        found[1] = _bounds(scorer, replace(measure, cutoff=None) if whole else measure, table, gains_of, score)[1]
    if np.isnan(found[1]).all():
        found[:] = _best(scorer, measure, table, gains_of)
    # The last bits of two sums may differ where nothing is unknown.
    return np.where(np.abs(found - score) <= TOLERANCE, 0.0, np.maximum(found - score, 0))


def _difference(measure: Measure, table: GainTable, gains_of: GainsCache, score: Floats) -> Floats:
    """The best case less the score, signed, of a C/W/L measure; nan for others, and where both are infinite."""
    if not measure.definition.cwl or measure.by_intent or measure.judged_only:
        return np.full(len(score), np.nan)
    best = run_measure(measure, gains_of(table, measure, unjudged=table.top, tail=table.top))
    with np.errstate(invalid="ignore"):
        return best - score


def bounds_beside(scorer: Scorer, batch: Batch, column: int, missed: Ints) -> Floats:
    """3 × topics: the lowest score by one measure, the score, and the highest; nan where the ends are not known.

    missed  topics: how many documents that the run did not retrieve may be relevant, beside `Options.unseen`
    """
    gains_of = scorer.gains_cache(batch, missed)
    return _ends(scorer, scorer.measures[column], scorer.tables[column], gains_of)


def _ends(scorer: Scorer, measure: Measure, table: GainTable, gains_of: GainsCache) -> Floats:
    score = scores_of(measure, gains_of(table, measure))
    if measure.bounds == "none" or scorer.grades_of(measure).top <= 0:
        low = high = np.full(len(score), np.nan)
    else:
        low, high = _bounds(scorer, measure, table, gains_of, score)
    return np.array([low, score, high])


def bounds_beside_any(scorer: Scorer, batch: Batch, column: int, rows: Ints, missed: Ints) -> Floats | None:
    """3 × rows: the same of some topics of a batch, one of which may stand in many rows, from what is worked out of
    each topic once; None where it has to be asked for each row."""
    from gradedeval.kernel.measures.bounds import lowest_beside  # as below

    measure, table = scorer.measures[column], scorer.tables[column]
    if measure.bounds == "none" or table.top <= 0 or measure.judged_only:
        return None
    gains_of = scorer.gains_cache(batch, np.zeros(len(batch.topics), dtype=np.int64))
    lowest = lowest_beside(measure, gains_of(table, measure), rows, missed)
    if lowest is None:
        return None
    _, score, high = _ends(scorer, measure, table, gains_of)[:, rows]
    return np.array([np.minimum(lowest, score), score, high])


def _bounds(scorer: Scorer, measure: Measure, table: GainTable, gains_of: GainsCache, score: Floats) -> Floats:
    """2 × topics: the lowest and the highest score, down to the cutoff."""
    if table.top <= 0:  # whatever grade a document turns out to have, it gains nothing
        return np.array([score, score])
    from gradedeval.kernel.measures.bounds import bounds_of  # residuals alone do without

    seen = replace(measure, cutoff=None) if scorer.options.ties == "average" else measure
    plain, best = gains_of(table, seen), partial(gains_of, table, measure, unjudged=table.top)
    highest, grades = partial(_best, scorer, measure, table, gains_of), scorer.grades_of(measure)
    return bounds_of(measure, score, grades, plain, best, lambda: highest(to_cutoff=True)[1])


def _best(
    scorer: Scorer, measure: Measure, table: GainTable, gains_of: GainsCache, to_cutoff: bool = False
) -> tuple[Floats, Floats]:
    """The best cases: every unjudged document at the top gain; and every rank beyond the end as well."""
    definition, residual = measure.definition, measure.residual
    if scorer.options.residual_depth == "full" and measure.only_truncates and not to_cutoff:
        measure = replace(measure, cutoff=None)
    inside = np.minimum(run_measure(measure, gains_of(table, measure, unjudged=table.top)), definition.ceiling)
    if residual != "beyond_run":
        return inside, inside
    both = gains_of(table, measure, unjudged=table.top, tail=table.top)
    return inside, np.minimum(run_measure(measure, both), definition.ceiling)


# What is said of them.


def unseen_note(measures: str, which: str) -> Note:
    """What is taken for granted of unjudged documents and that were not retrieved.

    measures  of which it is said, as the note begins
    which     these documents are, as in `neither run retrieved`
    """
    what = f"{measures}: unjudged documents that {which} are taken as not relevant"
    return Note(what, f"use {flag.unseen:N} to assume that some are relevant", kind="unseen")


def bounds_notes(scorer: Scorer) -> list[str]:
    """Which measures have no bounds or may not reach them, and what the bounds take for granted."""
    from gradedeval.kernel.measures.bounds import depends_on_scale, exactness, falls  # as above

    averaged = scorer.options.ties == "average"
    labels: dict[str, list[str]] = {"exact": [], "safe": [], "none": []}
    for measure in scorer.measures:
        if measure.definition.gain is None:  # no grade counts, so that none would change its score
            continue
        labels[exactness(measure, over_ties=averaged)].append(measure.label)
    notes = list[str]()
    if without := labels["none"]:
        over = f" with {flag.ties:average}" if averaged else ""
        notes.append(Note(f"{flag.bounds}: low and high are blank{over} for {', '.join(without)}"))
    if labels["safe"]:
        notes.append(
            Note(f"{flag.bounds}: low and high of {', '.join(labels['safe'])} are safe, but may be wider than need be")
        )
    falling = [measure.label for measure in scorer.measures if falls(measure) and measure.label not in without]
    if falling and scorer.options.unseen is None:
        notes.append(unseen_note(f"{flag.bounds}: {', '.join(falling)}", "the run did not retrieve"))
    known = thresholds(scorer.grades)
    if not isinstance(known, range) and (apart := [one.label for one in scorer.measures if depends_on_scale(one)]):
        occurring = shorten([f"{grade:g}" for grade in known])
        what = (
            f"{flag.bounds}: {', '.join(apart)}: a document judged later has grade 0 or one that occurs ({occurring})"
        )
        notes.append(Note(what, "another grade with a fraction could lead past low or high"))
    if scorer.options.fill is not None:
        notes.append(Note(f"{flag.bounds}: the gains of {flag.fill} count as known"))
    if chosen := scorer.options.topics_judged_later:
        notes.append(Note(f"{flag.bounds}: means are over the {chosen}"))
    return notes
