"""Weights of ranks: those of measures with fixed weights, and beside them the background weights of a set of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np

from gradedeval import __version__
from gradedeval.analysis.background_weights import background, share_past
from gradedeval.arrays import Bools, Floats
from gradedeval.errors import InputError, check_choice, plural, warn_caller
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.applied import last_rank, scores_of
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.gains import Gains
from gradedeval.measures.parse import exact_label, parse_measures
from gradedeval.measures.table import MEASURES
from gradedeval.options import OptionKwargs, Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.parallel.workers import Limits, Workers
from gradedeval.scoring.by_measure import with_defaults
from gradedeval.scoring.evaluate import qrels_for
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.signature import signature

if TYPE_CHECKING:
    import pandas as pd


DEPTH, DEEPEST = 1000, 100_000
"""Ranks unless told otherwise, and at most: the work of fixed weights grows with the square of the depth."""

Normalize = Literal["none", "sum", "max"]
NORMALIZE: tuple[str, ...] = get_args(Normalize)


@dataclass(frozen=True, eq=False)
class Weights(InNotebook, document="analysis.rank_weights.weights_document"):
    """Weights of ranks 1, 2, 3, … by several measures.

    measures   as applied
    values     ranks × measures
    beyond     measures: the share of a measure's weight that lies past the last rank; nan where its weights go on
               without a sum that is known
    signature  all that the numbers depend on, in one line
    notes      what was skipped or assumed
    """

    measures: list[Measure]
    values: Floats
    beyond: Floats
    signature: str
    notes: list[str] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        return ["rank", *map(exact_label, self.measures)]

    @property
    def rows(self) -> list[list[Any]]:
        """The table, as plain numbers: the rank and its weight by each measure."""
        return [[rank, *weights] for rank, weights in enumerate(self.values.tolist(), 1)]

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a DataFrame: rank, and a column for each measure."""
        import pandas as pd  # slow to import

        return pd.DataFrame(self.rows, columns=self.columns)

    @property
    def remarks(self) -> list[str]:
        """What lies past the last rank."""
        depth, past = len(self.values), list(zip(self.columns[1:], self.beyond.tolist(), strict=True))
        endless = [name for name, share in past if np.isnan(share)]
        remarks = [f"{name}: {share:.4g} of its weight lies past rank {depth}" for name, share in past if share > 0]
        if endless:
            remarks.append(f"{', '.join(endless)}: weights go on past rank {depth}, and their sum is not known")
        return remarks


def weights_document(weights: Weights, layout: Layout) -> Document:
    """The weights as a table: a row a rank, a column a measure, for people and for programs."""
    rank, *measures = weights.columns
    columns = [Column(rank, "count"), *(Column(name, "score", digits=6) for name in measures)]
    return Document([Table(columns, weights.rows)], weights.signature)


def weights(
    measures: AnyMeasure | Sequence[AnyMeasure],
    runs: Any = None,
    qrels: Any = None,
    *,
    ranks: int = DEPTH,
    normalize: Normalize = "none",
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Weights:
    """The weight of each rank by measures that are sums of weighted gains.

    measures   notation, as in "rbp(p=0.95) dcg p@10"; ap, rr, sp, bpref and q need runs
    runs       what `evaluate` takes: one run, a list of runs, or a dict of them by name
    qrels      what `evaluate` takes
    ranks      how many ranks
    normalize  `none`; `sum`: weights that sum to 1 over those ranks; `max`: the largest is 1
    keywords   options, as in `evaluate`

    Returns `Weights`: `.frame`, `.values`, `.beyond`. Measures whose weights are fixed have those; for ap, rr, sp,
    bpref and q the weights that each ranking implies are averaged over the runs and topics.
    Zhang et al., Information Retrieval 2010, section 3. Raises InputError also where a measure has no weights.
    """
    options = resolve_options(like, **keywords)
    named = None if runs is None else named_runs(runs)
    table = weights_by(parse_measures(measures), named, qrels, options, ranks=ranks, normalize=normalize)
    warn_caller(table.notes)
    return table


def weights_by(
    measures: Sequence[Measure],
    runs: Mapping[str, Any] | None,
    qrels: Any,
    options: Options,
    *,
    ranks: int = DEPTH,
    normalize: str = "none",
    workers: Workers | None = None,
    rank_progress: Progress = no_progress,
) -> Weights:
    """As `weights`, for measures and options that are settled and runs by name, or None.

    workers        processes that may share a large run; their progress is that of runs
    rank_progress  shows how many ranks of fixed weights are done
    """
    _check(ranks, normalize)
    if not measures:
        raise InputError("", "no measures given", "for example 'rbp(p=0.95) dcg'", usage=True)
    if (runs is None) != (qrels is None):
        raise InputError("", "runs and qrels belong together", "give both or neither", usage=True)
    chosen = list(dict.fromkeys(with_defaults(measure, options) for measure in measures))
    for measure in chosen:
        if measure.prior is not None:
            raise InputError(f"'{measure}'", "a mean over intents has no weights", "use the measure inside", usage=True)
    implied = [measure for measure in chosen if measure.definition.weights_in_ranking and runs is not None]
    # Before any run is read: a measure without weights need not wait for them.
    columns = {measure: _fixed(measure, ranks, rank_progress) for measure in chosen if measure not in implied}
    notes = _cost_notes(list(columns), options)
    settings = [f"gradedeval {__version__}"]
    if implied and runs is not None:
        judged = qrels_for(runs, qrels, options)
        found = background(runs, judged, implied, options, ranks, workers or Workers())
        columns |= dict(zip(implied, zip(found.weights.T, found.shares.tolist(), strict=True), strict=True))
        notes += found.notes
        count, under = len(found.counts), signature(judged, options, implied, found.counts, found.formats)
        settings = [str(under), f"{count} {plural(count, 'run')}"]
    elif runs is not None:
        notes.append("the runs are not read: the weights of these measures are the same for all")
    values = np.stack([_normalized(columns[measure][0], measure, normalize) for measure in chosen], axis=1)
    beyond = np.array([columns[measure][1] for measure in chosen])
    settings += [f"ranks 1..{ranks}", f"normalize {normalize}"]
    return Weights(chosen, values, beyond, " | ".join(settings), notes)


def _cost_notes(fixed: Sequence[Measure], options: Options) -> list[str]:
    """What is said of fixed weights that depend on what documents cost: here each costs 1."""
    units = {measure.name: measure.definition.cost_unit for measure in fixed if measure.definition.cost_unit}
    notes = [f"{name}: {unit}; the weights are those of documents that cost 1 each" for name, unit in units.items()]
    if options.costs is not None and not notes and any(measure.definition.cwl for measure in fixed):
        notes = ["--costs: fixed weights are those of documents that cost 1 each"]
    return notes


def _check(ranks: int, normalize: str) -> None:
    if isinstance(ranks, bool) or not isinstance(ranks, int | np.integer) or not 1 <= ranks <= DEEPEST:
        raise InputError("--ranks", f"{ranks} is not a whole number from 1 to {DEEPEST}", usage=True)
    check_choice(normalize, NORMALIZE, "--normalize")


def _normalized(weights: Floats, measure: Measure, normalize: str) -> Floats:
    if normalize == "none":
        return weights
    by = float(weights.sum() if normalize == "sum" else weights.max())
    if not by > 0:
        what = f"its weights down to rank {len(weights)} have {normalize} {by:g}"
        raise InputError(f"'{measure}'", what, "leave out --normalize, or raise --ranks")
    return weights / by


# A measure with fixed weights is Σ_i w(i) gain_i, whatever the ranking.


def static_weights(measure: Measure, depth: int, progress: Progress = no_progress, tried: bool = False) -> Floats:
    """ranks: the fixed weight of a gain at each rank: the score of the ranking whose only gain is 1 at that rank.

    That these are the measure's weights is tried on other rankings, which differ in length, gains, judgments and pool,
    unless that was `tried` with another value of a parameter. Raises InputError (usage) where it has no fixed weights.
    """
    _check(depth, "none")
    if measure.types:
        what = "its weights depend on the types of the documents"
        raise InputError(f"'{measure}'", what, "give it a file without types", usage=True)
    levels = _levels(measure)
    weights = _shown(measure, depth, levels)
    if weights is None:
        horizon: Any = measure.arguments.get("horizon")
        step = max(1, Limits.cells // max(depth, measure.cutoff or 0, horizon or 0))
        weights = np.zeros(depth)
        for _, begin in progress([(measure.label, begin) for begin in range(0, depth, step)]):
            end = min(begin + step, depth)
            weights[begin:end] = _scores(measure, np.eye(end - begin, end, k=begin), levels)
    if not tried:
        _check_fixed(measure, weights, levels)
    return weights


def _shown(measure: Measure, depth: int, levels: Floats) -> Floats | None:
    """ranks: what the measure itself shows that each rank adds where every gain is 1; None where it shows nothing, or
    a document alone at a rank scores otherwise: then its weights have to be found one by one, which is slower."""
    shown = measure.details(_rankings(measure, np.ones((1, depth)), levels))
    column = shown.get("contribution", shown.get("W"))
    if column is None:
        return None
    weights = np.zeros(depth)
    shown_ranks = slice(min(depth, len(column[0]), measure.cutoff or depth))
    weights[shown_ranks] = column[0, shown_ranks]
    ranks = np.unique(np.geomspace(1, depth, 16).astype(np.int64))
    alone = np.zeros((len(ranks), depth))
    alone[np.arange(len(ranks)), ranks - 1] = 1
    return weights if np.allclose(_scores(measure, alone, levels), weights[ranks - 1], rtol=1e-12, atol=0) else None


def _fixed(measure: Measure, depth: int, progress: Progress) -> tuple[Floats, float]:
    """Fixed weights, and the share that lies past them."""
    if measure.definition.weights_in_ranking:
        hint = "give RUN... QRELS to average them"
        raise InputError(f"'{measure}'", "its weights depend on the ranking", hint, usage=True)
    weights = static_weights(measure, depth, progress)
    return weights, _share_beyond(measure, weights)


def _levels(measure: Measure) -> Floats:
    """Gains to try a measure with."""
    return np.array([1.0]) if measure.rel is not None else np.array([0.25, 0.5, 0.75, 1.0])


def _scores(
    measure: Measure, gain: Floats, levels: Floats, judged: Bools | None = None, missed: Floats | None = None
) -> Floats:
    """topics: the scores of `_rankings`."""
    return scores_of(measure, _rankings(measure, gain, levels, judged, missed))


def _rankings(
    measure: Measure, gain: Floats, levels: Floats, judged: Bools | None = None, missed: Floats | None = None
) -> Gains:
    """Rankings with these gains, topics × ranks, as the measure sees them.

    judged  topics × ranks: what is judged, beside all that has a gain; None: every document
    missed  topics × …: the gains of relevant documents that the rankings lack
    """
    judged = np.ones(gain.shape, dtype=bool) if judged is None else judged | (gain > 0)
    missed = np.zeros((len(gain), 1)) if missed is None else missed
    ideal = -np.sort(-np.concatenate([gain, missed], axis=1), axis=1)
    pool = judged.sum(1) + np.count_nonzero(missed, axis=1)
    retrieved = np.full(len(gain), gain.shape[1])
    return _cut(measure, Gains(gain, judged, ideal, retrieved, pool, levels))


def _cut(measure: Measure, g: Gains) -> Gains:
    """The rankings down to the measure's cutoff."""
    if (k := last_rank(measure)) is None:
        return replace(g, k=measure.cutoff)
    return replace(g, gain=g.gain[:, :k], judged=g.judged[:, :k], retrieved=np.minimum(g.retrieved, k), k=k)


def _check_fixed(measure: Measure, weights: Floats, levels: Floats) -> None:
    """Raise InputError where the weights do not give what the first ranks add to the scores of random rankings."""
    depth = len(weights)
    draw = np.random.default_rng(2010)
    for trial, further in enumerate((0, 1, 2, 3, 7, 40, 300, 1000) * 2, 1):
        filled = (0.05, 0.3, 1.0)[trial % 3]
        gain = np.zeros((2, depth + further))
        gain[:] = draw.choice(levels, depth + further) * (draw.random(depth + further) < filled)
        gain[1, :depth] = 0
        judged = draw.random(gain.shape) < 0.5
        with_them, without = _scores(measure, gain, levels, judged, draw.choice(levels, (2, trial))).tolist()
        added = float(weights @ gain[0, :depth])
        # Where nothing else is retrieved, nothing else may count.
        others = without if further else 0.0
        if not abs(with_them - others - added) <= 1e-9 * max(1.0, abs(with_them)):
            by_ranking = [name for name, measure in MEASURES.items() if measure.definition.weights_in_ranking]
            hint = f"as p@10, rbp and dcg are; given RUN... QRELS, {', '.join(by_ranking)} have weights too"
            raise InputError(f"'{measure}'", "is not a sum of gains with fixed weights", hint, usage=True)


def _share_beyond(measure: Measure, weights: Floats) -> float:
    """The share of all weight that lies past these; nan where there is some, and no sum of it that is known."""
    depth, k, inside = len(weights), measure.cutoff, float(weights.sum())
    if measure.definition.residual == "beyond_run":
        ones = np.ones((1, depth))
        endless = Gains(ones, ones > 0, ones, np.array([depth]), np.array([depth]), np.array([1.0]), tail=1.0)
        whole = float(scores_of(measure, _cut(measure, endless))[0])
    else:
        # Such a measure does not say what ranks past the end of a run are worth; a longer run does, if it is enough.
        enough = 2 * depth + 1000 if k is None or k > Limits.cells else k
        whole, longer = (
            float(_scores(measure, np.ones((1, length)), np.array([1.0]))[0])
            for length in (max(depth, enough), 2 * max(depth, enough))
        )
        if longer - whole > 1e-12 * longer:
            return float("nan")
    if not np.isfinite(whole):
        return float("nan")
    return share_past(inside, whole)
