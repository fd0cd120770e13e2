"""Score batches: the score, the residual and the bounds of each topic by each measure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import compress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints
from gradedeval.errors import InputError, Note, flag, plural, redacted, shorten
from gradedeval.kernel import parallel
from gradedeval.kernel.measures.definition import MEASURES, Measure
from gradedeval.kernel.measures.gains import Gains, GainTable, Grades, gain_table, run_measure, scores_of, thresholds
from gradedeval.kernel.measures.parse import without_duplicates
from gradedeval.kernel.options import PRESETS, Options, Order, exact
from gradedeval.kernel.parallel import Limits
from gradedeval.kernel.rankings.batch import Batch, condensed, count_unjudged
from gradedeval.kernel.rankings.grade import Grader, PartResult
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.scoring.caveats import (
    add_tie_ranges,
    different_topics_notes,
    no_relevant_hint,
    no_relevant_text,
)
from gradedeval.kernel.scoring.scores import RunScores, gain_option, with_defaults
from gradedeval.kernel.scoring.signature import compares_float32
from gradedeval.kernel.trec.lines import decode

if TYPE_CHECKING:
    from gradedeval.kernel.measures.sampled import Sample
    from gradedeval.kernel.options.metadata import Costs, Fill
    from gradedeval.kernel.rankings.grade import RunPart
    from gradedeval.kernel.scoring.intents import ByIntent

# The gains that each measure gives to the documents of a batch.


class GainsCache:
    """Gains of a batch for each measure; measures with equal gains share the arrays. `unretrieved`: for bounds, the
    number of unjudged documents of each topic that the run did not retrieve and that may be relevant."""

    def __init__(
        self, batch: Batch, grader: Grader, by_intent: Mapping[Measure, ByIntent], unretrieved: Ints | None = None
    ) -> None:
        self.batch, self.grader, self.by_intent, self.max_cells = batch, grader, by_intent, grader.limits.cells
        self.is_unsampled = grader.unsampled  # indexed by grade code
        self.strata = grader.qrels.strata
        # Runs with all topics share their ideal rankings.
        self.shared_ideals = grader.ideals if batch.topics == grader.qrels.topics else None
        self.cost = None if grader.options.costs is None else _costs(batch, grader.options.costs)
        self.unseen = grader.options.unseen or 0
        self.unretrieved = unretrieved
        needs_counts = grader.options.bounds or unretrieved is not None
        self.counts_below: dict[int | None, Ints] | None = {} if needs_counts else None
        self.is_judged = grader.judged  # indexed by grade code
        self.judged: Bools = self.is_judged.take(batch.codes)  # topics × ranks; faster than indexing
        is_judged_grade = self.is_judged[: batch.unjudged_code]
        self.pool = batch.pool.judged if is_judged_grade.all() else batch.pool.per_topic(is_judged_grade)
        self.gain_arrays: dict[
            tuple[bytes, float, int | None], Floats
        ] = {}  # by table, gain of unjudged documents, last rank
        self.ideal_rankings: dict[bytes, tuple[Floats, dict[Any, Any]]] = {}  # values as returned by `_ideal`
        self.cached_gains: dict[tuple[bytes, float, float, float, int | None, int | None], Gains] = {}

    def __call__(self, table: GainTable, measure: Measure, unjudged: float = 0.0, tail: float = 0.0) -> Gains:
        """Return the gains for a measure; `unjudged`: gain of each unjudged document, `tail`: of each rank beyond the
        end of the run."""
        if measure.judged_only:
            return self._condensed(table, replace(measure, judged_only=False), unjudged, tail)
        last = measure.last_rank
        key = (table.key, table.top, unjudged, tail, last, measure.cutoff)
        if key not in self.cached_gains:
            if self.batch.codes.size > self.max_cells:  # a single long topic: caching would take too much memory
                self.cached_gains.clear()
            self.cached_gains[key] = self._gains_for(table, measure, last, unjudged, tail)
        gains = self.cached_gains[key]
        if not (measure.definition.uses_strata or measure.by_intent):
            return gains
        gains = copy(gains)  # shares the memo of values derived from these gains
        if measure.definition.uses_strata:
            gains.sample = self._sample(table, last)
            return gains
        gains.intents = self.by_intent[replace(measure, cutoff=None)].intents_of(
            self.batch.topics,
            lambda intent: self._gains_for(intent, measure, last, unjudged, tail),
            best=unjudged > 0 or tail > 0,
        )
        return gains

    @cached_property
    def _condensed(self) -> GainsCache:
        """Gains of the rankings without unjudged documents."""
        return GainsCache(condensed(self.batch, self.is_judged), self.grader, self.by_intent)

    def _gains_for(self, table: GainTable, measure: Measure, last: int | None, unjudged: float, tail: float) -> Gains:
        gain, (ideal, ideal_memo) = self._gain(table, unjudged, last), self._ideal(table)
        tie_begin, uncut = self.batch.first, None
        if tie_begin is not None:  # averages over ties need the gains of all ranks
            from gradedeval.kernel.measures.gains import mean_gains  # for averages over ties only

            uncut = self._gain(table, unjudged, None)
            gain = mean_gains(uncut, tie_begin)[:, :last]
        judged = self.judged[:, :last]
        retrieved = self.batch.retrieved if last is None else np.minimum(self.batch.retrieved, last)
        # Measures share these arrays, so none may write to them.
        for array in (gain, judged, ideal, retrieved, self.pool, table.levels):
            array.setflags(write=False)
        cost, type_index, unsampled = self.cost, self.batch.type_index, self.is_unsampled
        gains = Gains(
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
            kind=type_index[:, :last] if type_index is not None else None,
            unsampled=None if unsampled is None else unsampled[self.batch.codes[:, :last]],
            first=tie_begin,
            uncut=uncut,
            below=None if self.counts_below is None else self._count_below(last, self.counts_below),
            unseen=self.unseen,
            highest=self.batch.highest,
        )
        gains.memo["topics"], gains.ideal_memo = self.batch.topics, ideal_memo  # the topics are for error messages
        return gains

    def _count_below(self, last: int | None, counts: dict[int | None, Ints]) -> Ints:
        """Return how many documents of each topic are unjudged below rank `last` or unretrieved; cached in `counts`."""
        if last not in counts:
            deeper = self.batch.codes[:, last if last is not None else self.batch.codes.shape[1] :]
            below_batch = 0 if self.batch.unjudged_below is None else self.batch.unjudged_below
            unretrieved = 0 if self.unretrieved is None else self.unretrieved
            counts[last] = count_unjudged(deeper, self.is_judged) + below_batch + unretrieved
        return counts[last]

    def _sample(self, table: GainTable, last: int | None) -> Sample:
        """Return the judged documents as a sample of the strata of the qrels, or of one stratum per topic."""
        from gradedeval.kernel.measures.sampled import Sample  # for few measures only

        codes = self.batch.codes[:, :last]
        pool_counts = self.batch.pool.table()[:, : len(table.gain_of_label)]  # without filled codes
        stratum_of_code = self.strata.of if self.strata is not None else np.zeros(pool_counts.shape[1], dtype=np.int64)
        num_other_codes = len(self.is_judged) - len(stratum_of_code)  # filled, unjudged and padding
        is_sampled = self.is_judged[: len(stratum_of_code)]
        in_stratum = (stratum_of_code[:, None] == np.arange(stratum_of_code.max(initial=0) + 1)).astype(np.float64)
        sampled_counts = (pool_counts * is_sampled) @ in_stratum
        stratum_weight = np.where(sampled_counts > 0, pool_counts @ in_stratum / np.maximum(sampled_counts, 1), 0.0)
        weight = stratum_weight[:, stratum_of_code] * is_sampled
        estimated_counts = (pool_counts * weight) @ (table.gain_of_label[:, None] == table.levels)
        weight_of_code = np.pad(weight, ((0, 0), (0, num_other_codes)))
        return Sample(
            in_stratum.shape[1],
            np.pad(stratum_of_code, (0, num_other_codes), constant_values=-1)[codes],
            self.is_judged[codes],
            np.take_along_axis(weight_of_code, codes.astype(np.int64), 1),
            estimated_counts,
        )

    def _gain(self, table: GainTable, unjudged: float, last: int | None) -> Floats:
        """Return topics × ranks: the gains down to rank `last`."""
        uncut_key, key = (table.key, unjudged, None), (table.key, unjudged, last)
        gain_of_code = self.grader.gain_of_code
        if uncut_key in self.gain_arrays:
            return self.gain_arrays[uncut_key][:, :last]
        if key not in self.gain_arrays:
            if key[:2] not in gain_of_code:
                gain, is_unjudged = table.by_code(len(self.is_judged)), ~self.is_judged
                if table.filled is not None:
                    is_unjudged[len(table.gain_of_label) : self.batch.unjudged_code] = False
                gain[is_unjudged] = unjudged
                gain[self.batch.padding_code] = 0
                gain_of_code[key[:2]] = gain
            self.gain_arrays[key] = gain_of_code[key[:2]].take(self.batch.codes[:, :last])
        return self.gain_arrays[key]

    def _ideal(self, table: GainTable) -> tuple[Floats, dict[Any, Any]]:
        """Return the ideal rankings, topics × ranks: the positive gains of the pool, descending, padded with zeros; and
        the memo of values that measures derive from them."""
        key = table.gain_of_label.tobytes()
        if self.shared_ideals is not None and key in self.shared_ideals:
            return self.shared_ideals[key]
        if key not in self.ideal_rankings:
            gains = self.batch.pool.sorted_gains(table.gain_of_label)
            self.ideal_rankings[key] = (gains, {})
            if self.shared_ideals is not None and gains.size <= self.max_cells:
                self.shared_ideals[key] = self.ideal_rankings[key]
        return self.ideal_rankings[key]


def _costs(batch: Batch, costs: Costs) -> Floats:
    """Return the costs of the documents by their types, topics × ranks; 1 beyond the last document."""
    if batch.type_index is None:
        return np.ones(batch.codes.shape)
    cost: Floats = np.array([*(costs.of[name] for name in batch.types), 1.0])
    return cost[batch.type_index]


# Notes on the measures of an evaluation.


def name_notes(scorer: Scorer) -> list[str]:
    """Return notes on measures given by several names, and on names with a different meaning in other tools."""
    notes, labels_elsewhere = list[str](), list[str]()
    for measure in scorer.measures:
        if len(measure.spellings) > 1:
            names = ", ".join(map(redacted, measure.spellings))
            notes.append(f"{names}: the same measure, shown as {measure.label}")
        # Such a label may be the name of another measure elsewhere; accuracy with a cutoff has several definitions.
        if measure.label != str(measure) or (measure.definition.name == "accuracy" and measure.cutoff is not None):
            labels_elsewhere.append(measure.label)
    if not labels_elsewhere:
        return notes
    # Imported for names of other tools only.
    from gradedeval.kernel.measures.spellings import note_of, note_of_cwl_eval

    if scorer.options.like != "cwl_eval":
        notes += filter(None, [note_of_cwl_eval(scorer.measures, float(scorer.qrels.labels[-1]))])
    lowest = float(scorer.qrels.labels[0]) if scorer.options.negative == "judged" else 0.0
    return notes + list(filter(None, (note_of(label, lowest, scorer.grades.top) for label in labels_elsewhere)))


def grade_one_notes(scorer: Scorer) -> list[str]:
    """Return notes on measures by which the top grade, 1, has a gain below 1, such as ½ with exponential gains."""
    measures_by_gain: dict[float, list[str]] = {}
    for measure, table in zip(scorer.measures, scorer.tables, strict=True):
        if measure.definition.scale == "unit" and measure.gain in ("exp", "ntcir") and measure.rel is None:
            measures_by_gain.setdefault(float(table.gain_of_label[-1]), []).append(measure.label)
    text = f"{scorer.qrels.place}: no grade is above 1, so a relevant document has gain"
    hint = f"use {flag.top_grade} if the scale has higher grades, or rel=1 in a measure for gain 1"
    return [Note(f"{text} {gain:g} in {', '.join(labels)}", hint) for gain, labels in measures_by_gain.items()]


def convention_notes(scorer: Scorer, rel: int) -> list[str]:
    """Return a note on binary measures if only grades from `rel` are relevant by convention of the test collection."""
    names = [
        measure.label
        for measure in scorer.measures
        if measure.definition.gain == "binary" and "rel" not in dict(measure.parameters)
    ]
    if not names:
        return []
    text = f"{scorer.qrels.place}: {', '.join(names)}: grade 1 counts as relevant, but by convention only grades"
    return [Note(f"{text} from {rel} do", f"add {flag.rel:{rel}}", kind="convention")]


def fraction_notes(scorer: Scorer) -> list[str]:
    """Return a note on binary measures if some grades are between 0 and 1: by default these are not relevant."""
    grades = scorer.qrels.labels
    is_fraction = (grades > 0) & (grades < 1)
    if not is_fraction.any():
        return []
    with_rel = replace(scorer.options, rel=1.0)
    names = [measure.label for measure in scorer.requested if gain_option(measure, with_rel) == "rel"]
    if not names:
        return []
    count = int(scorer.qrels.counts.per_topic(is_fraction).sum())
    judged = int(scorer.qrels.counts.count.sum())
    grade = exact(float(grades[is_fraction][0]))
    verb, them = ("has a grade", "it") if count == 1 else ("have grades", "them")
    text = f"{count:,} of {judged:,} judgments {verb} between 0 and 1, not relevant to {shorten(names)}"
    return [Note(f"{scorer.qrels.place}: {text}", f"use {flag.rel:{grade}} to count {them}", kind="fractions")]


def _sample_and_cost_notes(scorer: Scorer) -> list[str]:
    """Return notes on assumptions of measures that use sampled judgments, strata or costs."""
    sampled, stratified, units = dict[str, None](), dict[str, None](), dict[str, str]()
    for measure in scorer.measures:
        if measure.definition.uses_unsampled:
            sampled[measure.name] = None
        if measure.definition.uses_strata:
            stratified[measure.name] = None
        if (cwl := measure.definition.cwl) and cwl.cost_unit:
            units[measure.name] = cwl.cost_unit
    notes, qrels = list[str](), scorer.qrels
    if sampled and scorer.options.negative == "judged" and qrels.strata is None and qrels.labels[0] < 0:
        text = f"{qrels.place}: grades below 0 count as judged and not relevant in {', '.join(sampled)}"
        notes.append(Note(text, f"{flag.negative:unjudged} counts such documents as pooled but not sampled"))
    if stratified and qrels.strata is None:
        source = f"{qrels.place} was read without {flag.qrels_format:strata}"
        verb = "treats" if len(stratified) == 1 else "treat"
        notes.append(Note(f"{source}, so {', '.join(stratified)} {verb} each topic as a single stratum"))
    if units and not scorer.options.costs:
        default = f"without {flag.costs} each document costs 1"
        notes += [Note(f"{name}: {unit}", default) for name, unit in units.items()]
    return notes


def _intent_notes(scorer: Scorer) -> list[str]:
    """Return notes on assumptions of measures by intent."""
    qrels = scorer.qrels
    notes = list[str](dict.fromkeys(note for by_intent in scorer.by_intent.values() for note in by_intent.notes))
    single_intent = [measure.label for measure in scorer.measures if measure.by_intent and qrels.subtopics is None]
    if single_intent:
        verb = "treats" if len(single_intent) == 1 else "treat"
        text = f"{', '.join(single_intent)} {verb} each topic as having a single intent"
        notes.append(Note(f"{qrels.place} was read without {flag.subtopics:True}, so {text}"))
    elif qrels.subtopics and not any(qrels.subtopics.names.values()):
        notes.append(f"{qrels.place}: the only subtopic is 0, so there are no intents; measures by intent score 0")
    return notes


CACHED_SCORERS = 16
"""Maximum number of scorers cached in qrels, for training loops that evaluate again and again with few settings."""


def scorer_for(qrels: Qrels, measures: Sequence[Measure], options: Options, limits: Limits | None = None) -> Scorer:
    """Return a scorer, cached in the qrels unless a measure reads a file, or is intent-aware: the
    scorer then stores topics of runs."""
    key = (tuple((measure, measure.spellings) for measure in measures), options, limits)
    cache: dict[Any, Scorer] = qrels._scorers
    if (scorer := cache.get(key)) is not None:
        return scorer
    scorer = Scorer(qrels, measures, options, limits)
    reads_file = any(str(gain).startswith("@") for gain in (options.gain, *(measure.gain for measure in measures)))
    if not (reads_file or any(measure.by_intent or measure.files for measure in measures)):
        if len(cache) >= CACHED_SCORERS:
            cache.clear()
        cache[key] = scorer
    return scorer


@dataclass(eq=False, repr=False)
class BatchScores:
    """Scores of some topics of a run; nan if undefined.

    values        3 × topics × measures: score, residual of unjudged documents, total residual
    types         types of documents, from column 2 of the run, if requested
    judged        number of judged documents that the run retrieved
    max_judged    highest possible number of judged documents for the lengths of its rankings
    empty_topics  topics without documents
    retrieved     topics: number of documents
    bounds        2 × topics × measures: the lowest and the highest score, if requested
    ties          4 × topics × measures: the lowest and the highest score over orders of tied documents, and the
                  numbers of tied and of all documents that the measure reads; None if the order is fixed
    tied_batch    the topics with ties whose orders are not scored yet; None once they are
    """

    topics: list[bytes]
    values: Floats
    types: list[bytes]
    judged: int
    max_judged: int
    empty_topics: Sequence[bytes]
    retrieved: Ints
    bounds: Floats | None = None
    ties: Floats | None = None
    tied_batch: Batch | None = None

    def replace_columns(self, source: BatchScores, chosen: Sequence[bool]) -> BatchScores:
        """Return the scores with the chosen columns from `source`, which has the same topics. Neither may have a
        `tied_batch`."""

        def tie_table(scores: BatchScores) -> Floats:
            """Return `ties`; for a fixed order, the score as the lowest and the highest, and counts of 0."""
            if scores.ties is not None:
                return scores.ties
            counts = np.zeros((2, *scores.values[0].shape))
            return np.concatenate([np.broadcast_to(scores.values[0], counts.shape), counts])

        return replace(
            self,
            values=np.where(chosen, source.values, self.values),
            bounds=None if self.bounds is None else np.where(chosen, np.asarray(source.bounds), self.bounds),
            ties=None if self.ties is source.ties else np.where(chosen, tie_table(source), tie_table(self)),
        )


class Scorer:
    """Scores runs with fixed qrels, measures and options."""

    by_intent: Mapping[Measure, ByIntent] = MappingProxyType({})
    fill_notes: Sequence[str] = ()

    def __init__(
        self, qrels: Qrels, measures: Sequence[Measure], options: Options, limits: Limits | None = None
    ) -> None:
        self.qrels, self.options, self.requested = qrels, options, measures
        if options.like is not None or options.gain is not None or options.rel is not None:
            measures = [with_defaults(measure, options) for measure in measures]
        self.measures = without_duplicates(measures)
        self.measure_types: dict[Measure, frozenset[bytes]] = {}
        self.as_float32, self.skips_topics, uses_strata = list[bool](), False, False
        score_readers, intent_measures, last_ranks = list[Measure](), list[Measure](), list[int | None]()
        for measure in self.measures:
            self.as_float32.append(compares_float32(measure, options))
            if types := measure.types:
                self.measure_types[measure] = types
            if measure.by_intent:
                intent_measures.append(measure)
            if measure.reads_scores:
                score_readers.append(measure)
            last_ranks.append(None if measure.judged_only else measure.last_rank)
            self.skips_topics = self.skips_topics or measure.definition.may_skip
            uses_strata = uses_strata or measure.definition.uses_strata
        precisions = len(set(self.as_float32))
        order: Order = "float32" if any(self.as_float32) else "score"
        if options.by_score and precisions == 1 and order != options.order:
            self.options = options = replace(options, order=order)
        self.grades = Grades(qrels.labels, options.top_of(float(qrels.labels[-1])), options.max_gain)
        self.tables = self._gain_tables()
        if options.ties == "average":
            _check_ties(self.measures)
        if intent_measures:
            self._set_gains_by_intent(intent_measures)
        if score_readers and not options.by_score:
            problem = f"{flag.order:{options.order}} ignores the scores that {score_readers[0].label} reads"
            raise InputError("", problem, "leave out the option or the measure", usage=True)
        # The last rank that any measure reads; None for all ranks.
        reads_all = options.residual_depth == "full" or options.ties == "average" or None in last_ranks
        self.last_rank = None if reads_all else max(filter(None, last_ranks), default=None)
        graded = qrels if options.fill is None else self._fill_in(options.fill)
        self.grader = Grader(
            graded,
            replace(options, order=order) if precisions > 1 else options,
            reads_types=options.costs is not None or bool(self.measure_types),
            reads_scores=bool(score_readers),
            last_rank=self.last_rank,
            least_width=len(graded.labels) if uses_strata else 0,
            limits=limits or parallel.LIMITS,
            both_orders=precisions > 1,
        )

    def grades_of(self, measure: Measure) -> Grades:
        """Return the grade scale of a measure. Its top grade is that of the options, else of the preset, else the
        highest in the qrels. Raises InputError for a higher grade in the qrels."""
        options, highest = self.options, float(self.qrels.labels[-1])
        top = options.top_of(highest)
        lists_gains = isinstance(measure.gain, tuple) or str(measure.gain).startswith("@")
        if options.top_grade is None and lists_gains:
            top = highest
        preset = PRESETS[options.like].top_grade if options.like and measure.depends_on_top else None
        limit = preset if options.top_grade is None else options.top_grade
        if limit is not None and highest > limit:
            problem = f"grade {highest:g} is above the top grade {limit:g}"
            if options.top_grade is None:
                problem += f", which {measure.label} takes from {flag.like:{options.like}}"
            raise InputError(self.qrels.place, problem, f"raise {flag.top_grade} or correct the grade")
        return Grades(self.qrels.labels, top, options.max_gain)

    def _gain_tables(self) -> list[GainTable]:
        """Return the gain table of each measure; measures with equal gains share one."""
        tables, shared = list[GainTable](), dict[tuple[Any, ...], GainTable]()
        for measure in self.measures:
            key = measure.rel, measure.gain, measure.definition.scale, measure.threshold_shares
            if key not in shared:
                shared[key] = gain_table(measure, self.grades_of(measure))
            tables.append(shared[key])
        return tables

    def _set_gains_by_intent(self, measures: Sequence[Measure]) -> None:
        """Set the gains of intent-aware measures by intent. Raises InputError (usage) if the qrels lack intents."""
        from gradedeval.kernel.scoring.intents import ByIntent, check_intents  # for few measures only

        check_intents(measures, self.qrels.subtopics is not None)
        self.by_intent = {
            replace(measure, cutoff=None, judged_only=False): ByIntent(self.qrels, measure, self.grades_of(measure))
            for measure in measures
        }

    def _fill_in(self, fill: Fill) -> Qrels:
        """Return the qrels with codes for the documents of --fill, and add their gains to the tables of measures that
        use them."""
        from gradedeval.kernel.rankings.other_qrels import filled  # for one option only

        graded, gains, notes = filled(self.qrels, fill)
        self.tables = [
            replace(table, filled=gains) if measure.takes_fill else table
            for table, measure in zip(self.tables, self.measures, strict=True)
        ]
        unfilled = [measure.label for measure in self.measures if not measure.takes_fill]
        if unfilled and len(unfilled) < len(self.measures):  # otherwise there is a note on an unused option
            notes.append(Note(f"{flag.fill}: documents that it fills stay unjudged in {', '.join(unfilled)}"))
        self.fill_notes = notes
        return graded

    @cached_property
    def notes(self) -> list[str]:
        """Notes on assumptions for all runs."""
        notes = list(self.qrels._notes_for(self.options))
        if self.options.queries or self.options.slices or self.options.topic_weights:
            chosen = self.options.topics_from
            topics = [decode(topic) for topic in self.qrels.topics if chosen is None or topic in chosen]
            from gradedeval.kernel.options.metadata import unmatched_notes

            notes += unmatched_notes(self.options.queries, self.options.slices, topics)
            notes += self.options.topic_weights.unmatched(topics) if self.options.topic_weights else []
        if self.grades.top <= 0:
            text = f"{self.qrels.place}: no grade above 0, so all gains are 0 and residuals are blank"
            notes.append(Note(text, f"use {flag.top_grade} to set the top grade", kind="no-positive-grade"))
        if self.options.ignore_identical_ids and (count := self.qrels.own_relevant):
            topics_text = f"{self.qrels.place}: in {count} {plural(count, 'topic')}"
            hint = f"{flag.ignore_identical_ids:True} counts it as not retrieved"
            text = f"{topics_text} the document with the topic's id is relevant"
            notes.append(Note(text, hint, kind="own-relevant"))
        notes += [*self.fill_notes, *self.unused_notes]
        if self.options.top_grade is None and self.grades.top == 1:
            notes += grade_one_notes(self)
        collection = self.qrels._collection
        if collection is not None and collection.rel != 1 and self.options.rel is None:
            notes += convention_notes(self, collection.rel)
        elif self.options.rel is None:
            notes += fraction_notes(self)
        notes += name_notes(self) + _sample_and_cost_notes(self)
        if self.by_intent:
            notes += _intent_notes(self)
        if self.options.max_residual is not None:
            no_residual = [measure.label for measure in self.measures if measure.residual == "none"]
            if no_residual and len(no_residual) < len(self.measures):  # otherwise there is a note on an unused option
                verb = "has" if len(no_residual) == 1 else "have"
                text = f"{', '.join(no_residual)} {verb} no residual, so no topic is left out"
                notes.append(Note(f"{flag.max_residual}: {text}"))
        if self.options.ties == "best" and self.options.wants_residuals and self.options.residuals != "difference":
            text = "a document judged later may move up among its ties, so a score may rise by more than its residual"
            notes.append(Note(f"{flag.ties:best}: {text}", "take another order of ties"))
        if self.options.bounds:
            notes += bounds_notes(self)
        return notes

    @property
    def unused_notes(self) -> list[str]:
        """Notes on options without effect."""
        if not self.options.given:
            return []
        from gradedeval.kernel.scoring.unused_options import unused_options  # for few evaluations only

        return [*unused_options(self.requested, self.options, float(self.qrels.labels[-1]))]

    def unequal_topics(self, topics: Sequence[Hashable]) -> list[Note]:
        """Return a note if means are over different topics. `topics`: a list of topics for each run."""
        return different_topics_notes({measure.label: topics for measure in self.measures}, self.options)

    def score_part(self, part: RunPart) -> PartResult[BatchScores]:
        """Score a part of a run."""
        graded = part.grade(self.grader)
        return graded.with_batches(list(map(self.score_with_ties, graded.batches)))

    def score_with_ties(self, batch: Batch) -> BatchScores:
        """Score a batch, including the lowest and the highest score over orders of tied documents."""
        if batch.float64_batch is None:
            return add_tie_ranges(self, batch, self.score_batch(batch))
        orders = replace(batch, float64_batch=None), batch.float64_batch
        scored = [add_tie_ranges(self, order, self.score_batch(order), score_now=True) for order in orders]
        return scored[0].replace_columns(scored[1], [not as_float32 for as_float32 in self.as_float32])

    def merge(
        self, name: str, batches: Sequence[BatchScores], topics: list[bytes], missing: int = 0, format: str = ""
    ) -> RunScores:
        """Return the scores of a run over `topics`; of several batches of a topic the last is used. `missing`: number
        of topics that the run lacks."""
        first_batch = batches[0]
        scored, values = first_batch.topics, first_batch.values
        bounds, empty_topics = first_batch.bounds, first_batch.empty_topics
        if len(batches) > 1:
            scored = [topic for batch in batches for topic in batch.topics]
            empty_topics = [topic for batch in batches for topic in batch.empty_topics]
            values = np.concatenate([batch.values for batch in batches], axis=1)
            parts = [batch.bounds for batch in batches if batch.bounds is not None]
            bounds = np.concatenate(parts, axis=1) if parts else None
        if scored != topics:
            row_of = {topic: index for index, topic in enumerate(scored)}
            chosen = [row_of[topic] for topic in topics]
            values, bounds = values[:, chosen], bounds[:, chosen] if bounds is not None else None
        score, unjudged_residual, residual = values[0], values[1], values[2]  # an array is slow to unpack
        included = np.ones(score.shape, dtype=bool)
        if self.options.max_residual is not None:
            included = ~(residual > self.options.max_residual)
        if self.skips_topics:
            included &= ~np.isnan(score)
        # Thousands of runs share one list of names.
        names = self.topics if topics == self.qrels.topics else [decode(topic) for topic in topics]
        topic_weights = self.options.topic_weights
        weights = None if topic_weights is None else np.array(topic_weights.of_topics(names))
        without_documents = frozenset(map(decode, empty_topics))
        residuals = unjudged_residual, residual
        return RunScores(name, names, missing, score, *residuals, included, format, without_documents, bounds, weights)

    def type_notes(self, place: str, batches: Sequence[BatchScores]) -> list[str]:
        """Return notes on document types that only the run or only the file of a measure has."""
        run_types = {name for batch in batches for name in batch.types}
        notes = []
        for measure, measure_types in self.measure_types.items():
            unknown, unused = run_types - measure_types, measure_types - run_types
            for types, text in ((unknown, "are unknown to"), (unused, "are only in the file of")):
                if types:
                    notes.append(f"{place}: the types {shorten(sorted(map(decode, types)))} {text} {measure}")
        return notes

    @cached_property
    def topics_without_relevant(self) -> dict[tuple[str, ...], list[int]]:
        """Topics -> the columns of measures by which exactly these topics have no document with a gain; () if all
        topics have one. Left out: measures that are counts, are intent-aware, use no gains, or skip topics."""
        columns: dict[tuple[str, ...], list[int]] = {}
        for column, (measure, table) in enumerate(zip(self.measures, self.tables, strict=True)):
            definition = measure.definition
            if definition.gain is None or definition.summary == "total" or definition.may_skip or measure.by_intent:
                continue
            is_without = self.qrels.counts.per_topic(table.gain_of_label > 0) == 0
            columns.setdefault(tuple(compress(self.topics, is_without.tolist())), []).append(column)
        return columns

    @cached_property
    def topics(self) -> list[str]:
        """Topics of the qrels."""
        return list(map(decode, self.qrels.topics))

    def gains_cache(self, batch: Batch, unretrieved: Ints | None = None) -> GainsCache:
        """Return a cache of the gains of a batch; call it with a gain table and a measure."""
        return GainsCache(batch, self.grader, self.by_intent, unretrieved)

    def score_batch(self, batch: Batch) -> BatchScores:
        """Score a batch, with residuals and bounds if requested."""
        values = np.full((3, len(batch.topics), len(self.measures)), np.nan)
        bounds = np.full((2, *values.shape[1:]), np.nan) if self.options.bounds else None
        gains_cache = GainsCache(batch, self.grader, self.by_intent)
        for column, (measure, table) in enumerate(zip(self.measures, self.tables, strict=True)):
            score = values[0, :, column] = scores_of(measure, gains_cache(table, measure))
            if self.options.wants_residuals or bounds is not None:
                values[1:, :, column], measure_bounds = residuals_and_bounds(self, measure, table, gains_cache, score)
                if bounds is not None:
                    bounds[:, :, column] = measure_bounds
        judged = int(np.count_nonzero(batch.codes < len(self.qrels.labels)))
        max_judged = int(np.minimum(batch.pool.judged, batch.codes.shape[1]).clip(max=batch.retrieved).sum())
        empty_topics = list(compress(batch.topics, (batch.retrieved == 0).tolist()))
        return BatchScores(batch.topics, values, batch.types, judged, max_judged, empty_topics, batch.retrieved, bounds)


def _check_ties(measures: Sequence[Measure]) -> None:
    """Raise InputError (usage) if a measure has no closed form of its average over ties."""
    for measure in measures:
        if not measure.definition.over_ties:
            names = [name for name, candidate in MEASURES.items() if candidate.definition.over_ties]
            hint = f"{len(names)} measures have one, such as {shorten(names)}; see `gradedeval measures NAME`"
            raise InputError(f"{flag.ties:average}", f"{measure.name} has no average over ties", hint, usage=True)


def no_relevant_notes(scorer: Scorer, runs: Sequence[RunScores]) -> list[str]:
    """Return notes on measures whose means count topics without relevant documents as 0."""
    columns = scorer.topics_without_relevant if scorer.grades.top > 0 else {}
    if not runs or not any(columns):
        return []
    # Thousands of runs share a list of topics, so each list is read once.
    counted = set().union(*{id(run.topics): run.topics for run in runs}.values())
    notes: list[str] = []
    counts = scorer.qrels.counts.per_topic(scorer.qrels.labels > 0).tolist()
    relevant_counts = dict(zip(scorer.topics, counts, strict=True))
    for topics, group in columns.items():
        no_gain_topics = [topic for topic in topics if topic in counted]
        zero_labels = [scorer.measures[column].label for column in group if runs[0].is_zero(no_gain_topics, column)]
        if no_gain_topics and zero_labels:
            labels = zero_labels if len(columns) > 1 else []
            text = no_relevant_text(scorer.qrels.place, no_gain_topics, len(counted), labels)
            has_relevant = any(map(relevant_counts.get, no_gain_topics))  # but no gain for these measures
            hint = "" if has_relevant else no_relevant_hint(no_gain_topics, scorer.measures)
            notes.append(Note(text, hint, kind="no-relevant"))
    return notes


# Residuals and bounds: the possible effect of unjudged documents on a score.


def residuals_and_bounds(
    scorer: Scorer, measure: Measure, table: GainTable, gains_cache: GainsCache, score: Floats
) -> tuple[Floats, Floats]:
    """Return the residuals, 2 × topics (of unjudged documents, and total), and the bounds, 2 × topics (lowest and
    highest score); nan if not requested or undefined."""
    options = scorer.options
    shape = (2, len(score))
    residuals = bounds = np.full(shape, np.nan)
    if scorer.grades_of(measure).top <= 0:
        return residuals, bounds
    if options.residuals == "difference":
        residuals = np.broadcast_to(_difference(measure, table, gains_cache, score), shape)
    elif options.wants_residuals and measure.residual != "none":
        residuals = _residuals(scorer, measure, table, gains_cache, score)
    if options.bounds and measure.bounds != "none":
        bounds = _bounds(scorer, measure, table, gains_cache, score)
    return residuals, bounds


def _residuals(scorer: Scorer, measure: Measure, table: GainTable, gains_cache: GainsCache, score: Floats) -> Floats:
    """Return 2 × topics: the residual of unjudged documents, nan for measures whose residual comes from bounds; and the
    total residual."""
    highest = np.full((2, len(score)), np.nan)
    if measure.residual == "from_bounds" and not measure.by_intent:
        full_depth = scorer.options.residual_depth == "full" and measure.only_truncates
        bounds_measure = replace(measure, cutoff=None) if full_depth else measure
        highest[1] = _bounds(scorer, bounds_measure, table, gains_cache, score)[1]
    if np.isnan(highest[1]).all():
        highest[:] = _best_scores(scorer, measure, table, gains_cache)
    # Rounding must not leave a residual if all documents are judged.
    return np.where(np.abs(highest - score) <= TOLERANCE, 0.0, np.maximum(highest - score, 0))


def _difference(measure: Measure, table: GainTable, gains_cache: GainsCache, score: Floats) -> Floats:
    """Return the best-case score of a C/W/L measure minus its score; nan for others, or if both scores are infinite."""
    if not measure.definition.cwl or measure.by_intent or measure.judged_only:
        return np.full(len(score), np.nan)
    best = run_measure(measure, gains_cache(table, measure, unjudged=table.top, tail=table.top))
    with np.errstate(invalid="ignore"):
        return best - score


def bounds_with_unretrieved(scorer: Scorer, batch: Batch, column: int, unretrieved: Ints) -> Floats:
    """Return 3 × topics: the lowest score by a measure, the score, and the highest; nan for unknown bounds.

    unretrieved  topics: number of documents that may be relevant, in addition to `Options.unseen`
    """
    gains_cache = scorer.gains_cache(batch, unretrieved)
    return _bounds_and_score(scorer, scorer.measures[column], scorer.tables[column], gains_cache)


def _bounds_and_score(scorer: Scorer, measure: Measure, table: GainTable, gains_cache: GainsCache) -> Floats:
    score = scores_of(measure, gains_cache(table, measure))
    if measure.bounds == "none" or scorer.grades_of(measure).top <= 0:
        low = high = np.full(len(score), np.nan)
    else:
        low, high = _bounds(scorer, measure, table, gains_cache, score)
    return np.array([low, score, high])


def bounds_of_rows(scorer: Scorer, batch: Batch, column: int, rows: Ints, unretrieved: Ints) -> Floats | None:
    """Return `bounds_with_unretrieved` (3 × rows) for several values of `unretrieved` for a topic, from gains computed
    once; None if the gains depend on `unretrieved`.

    rows         the topic of each row: its index in the batch
    unretrieved  rows: number of documents that may be relevant
    """
    from gradedeval.kernel.measures.bounds import lowest_with_unretrieved  # for bounds only

    measure, table = scorer.measures[column], scorer.tables[column]
    if measure.bounds == "none" or table.top <= 0 or measure.judged_only:
        return None
    gains_cache = scorer.gains_cache(batch, np.zeros(len(batch.topics), dtype=np.int64))
    lowest = lowest_with_unretrieved(measure, gains_cache(table, measure), rows, unretrieved)
    if lowest is None:
        return None
    _, score, high = _bounds_and_score(scorer, measure, table, gains_cache)[:, rows]
    return np.array([np.minimum(lowest, score), score, high])


def _bounds(scorer: Scorer, measure: Measure, table: GainTable, gains_cache: GainsCache, score: Floats) -> Floats:
    """Return 2 × topics: the lowest and the highest score, down to the cutoff."""
    if table.top <= 0:  # no grade has a gain
        return np.array([score, score])
    from gradedeval.kernel.measures.bounds import bounds_of  # for bounds only

    # Averages over ties need the gains of all ranks.
    as_judged = gains_cache(table, replace(measure, cutoff=None) if scorer.options.ties == "average" else measure)
    best_gains = partial(gains_cache, table, measure, unjudged=table.top)
    grades = scorer.grades_of(measure)
    highest_scores = partial(_best_scores, scorer, measure, table, gains_cache, to_cutoff=True)
    return bounds_of(measure, score, grades, as_judged, best_gains, lambda: highest_scores()[1])


def _best_scores(
    scorer: Scorer, measure: Measure, table: GainTable, gains_cache: GainsCache, to_cutoff: bool = False
) -> tuple[Floats, Floats]:
    """Return the scores of two best cases: with unjudged documents at the top gain, and also with ranks beyond the end
    at the top gain."""
    definition, residual = measure.definition, measure.residual
    if scorer.options.residual_depth == "full" and measure.only_truncates and not to_cutoff:
        measure = replace(measure, cutoff=None)
    within_run = np.minimum(run_measure(measure, gains_cache(table, measure, unjudged=table.top)), definition.ceiling)
    if residual != "beyond_run":
        return within_run, within_run
    best_gains = gains_cache(table, measure, unjudged=table.top, tail=table.top)
    return within_run, np.minimum(run_measure(measure, best_gains), definition.ceiling)


def unseen_note(place: str, condition: str) -> Note:
    """Return the note that some unjudged documents are taken as not relevant. `condition` completes "unjudged
    documents that …", as in `neither run retrieved`."""
    text = f"{place}: unjudged documents that {condition} are taken as not relevant"
    return Note(text, f"use {flag.unseen:N} to assume that some are relevant", kind="unseen")


def bounds_notes(scorer: Scorer) -> list[str]:
    """Return notes on measures without exact bounds, and on assumptions of the bounds."""
    from gradedeval.kernel.measures.bounds import depends_on_scale, exactness, may_fall  # for bounds only

    averaged = scorer.options.ties == "average"
    labels_by_exactness: dict[str, list[str]] = {"exact": [], "safe": [], "none": []}
    for measure in scorer.measures:
        if measure.definition.gain is not None:  # otherwise judging changes nothing
            labels_by_exactness[exactness(measure, over_ties=averaged)].append(measure.label)
    notes = list[str]()
    if blank := labels_by_exactness["none"]:
        over = f" with {flag.ties:average}" if averaged else ""
        notes.append(Note(f"{flag.bounds}: low and high are blank{over} for {', '.join(blank)}"))
    if labels_by_exactness["safe"]:
        text = f"low and high of {', '.join(labels_by_exactness['safe'])} are safe, but may be wider than necessary"
        notes.append(Note(f"{flag.bounds}: {text}"))
    falling = [measure.label for measure in scorer.measures if may_fall(measure) and measure.label not in blank]
    if falling and scorer.options.unseen is None:
        notes.append(unseen_note(f"{flag.bounds}: {', '.join(falling)}", "the run did not retrieve"))
    levels = thresholds(scorer.grades)
    dependent = [measure.label for measure in scorer.measures if depends_on_scale(measure)]
    if not isinstance(levels, range) and dependent:  # some grade has a fraction
        listed = shorten([f"{level:g}" for level in levels])
        text = f"{', '.join(dependent)}: documents judged later are assumed to have grade 0 or one of {listed}"
        notes.append(
            Note(f"{flag.bounds}: {text}", "with another fractional grade a score could be below low or above high")
        )
    if scorer.options.fill is not None:
        notes.append(Note(f"{flag.bounds}: the gains of {flag.fill} count as known"))
    if chosen := scorer.options.topics_judged_later:
        notes.append(Note(f"{flag.bounds}: means are over the {chosen}"))
    return notes
