"""Weights of ranks: those of measures with fixed weights, and beside them the background weights of a set of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast, get_args

import numpy as np

from gradedeval import __version__
from gradedeval.analysis.background_weights import background, share_past
from gradedeval.analysis.fixed_weights import RANKS, fixed_weights
from gradedeval.arrays import TOLERANCE, Floats
from gradedeval.errors import InputError, check_choice, plural, warn_caller
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import to_frame
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.parse import exact_label, parse_measures
from gradedeval.options import OptionKwargs, Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.by_measure import with_defaults
from gradedeval.scoring.evaluate import qrels_for
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.signature import signature

if TYPE_CHECKING:
    import pandas as pd


DEPTH = 1000
"""Ranks unless told otherwise."""

Normalize = Literal["none", "sum", "max"]
NORMALIZE: tuple[str, ...] = get_args(Normalize)
Quantity = Literal["W", "C", "L"]
QUANTITIES: tuple[str, ...] = get_args(Quantity)


@dataclass(frozen=True, eq=False)
class Weights(InNotebook, document="analysis.rank_weights.weights_document"):
    """Weights of ranks 1, 2, 3, … by several measures, or what a user with these weights does.

    measures   as applied
    values     ranks × measures; nan where a user never comes to a rank
    beyond     measures: the share of a measure's weight that lies past the last rank; nan where its weights go on
               without a sum that is known
    signature  all that the numbers depend on, in one line
    notes      what was skipped or assumed
    quantity   `W`, or what was made of the weights: `C`, `L`
    """

    measures: list[Measure]
    values: Floats
    beyond: Floats
    signature: str
    notes: list[str] = field(default_factory=list)
    quantity: Quantity = "W"

    @property
    def columns(self) -> list[str]:
        return ["rank", *map(exact_label, self.measures)]

    @property
    def rows(self) -> list[list[Any]]:
        """The table, as plain numbers: the rank and its weight by each measure, None where it is blank."""
        values = np.where(np.isnan(self.values), None, self.values).tolist()  # type: ignore[call-overload]
        return [[rank, *weights] for rank, weights in enumerate(values, 1)]

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a DataFrame: rank, and a column for each measure."""
        return to_frame(self.rows, columns=self.columns)

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
    quantity: Quantity = "W",
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Weights:
    """The weight of each rank by measures that are sums of weighted gains.

    measures   notation, as in "rbp(p=0.95) dcg p@10"; ap, rr, sp, bpref and q need runs
    runs       what `evaluate` takes: one run, a list of runs, or a dict of them by name
    qrels      what `evaluate` takes
    ranks      how many ranks
    normalize  `none`; `sum`: weights that sum to 1 over those ranks; `max`: the largest is 1
    quantity   `W`: the weights; `C`: W(i+1)/W(i), the probability of going on from a rank to the next; `L`:
               (W(i) − W(i+1))/W(1), the probability that a rank is the last one seen. Both are of the user whose
               weights these are (Moffat et al., TOIS 2017), and probabilities only where no weight is above the one
               before
    keywords   options, as in `evaluate`

    Returns `Weights`: `.frame`, `.values`, `.beyond`. Measures whose weights are fixed have those; for ap, rr, sp,
    bpref and q the weights that each ranking implies are averaged over the runs and topics.
    Zhang et al., Information Retrieval 2010, section 3. Raises InputError also where a measure has no weights.
    """
    options = resolve_options(like, **keywords)
    named = None if runs is None else named_runs(runs)
    table = weights_by(
        parse_measures(measures), named, qrels, options, ranks=ranks, normalize=normalize, quantity=quantity
    )
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
    quantity: str = "W",
    workers: Workers | None = None,
    rank_progress: Progress = no_progress,
) -> Weights:
    """As `weights`, for measures and options that are settled and runs by name, or None.

    workers        processes that may share a large run; their progress is that of runs
    rank_progress  shows how many ranks of fixed weights are done
    """
    ranks = RANKS.check(ranks)
    check_choice(normalize, NORMALIZE, "--normalize")
    check_choice(quantity, QUANTITIES, "--quantity")
    if quantity != "W" and normalize != "none":
        raise InputError("--normalize", f"{quantity}(i) is the same for weights of any sum", "leave it out", usage=True)
    if not measures:
        raise InputError("", "no measures given", "for example 'rbp(p=0.95) dcg'", usage=True)
    if (runs is None) != (qrels is None):
        raise InputError("", "runs and qrels belong together", "give both or neither", usage=True)
    depth = ranks if quantity == "W" else ranks + 1
    chosen = list(dict.fromkeys(with_defaults(measure, options) for measure in measures))
    for measure in chosen:
        if measure.prior is not None:
            raise InputError(f"'{measure}'", "a mean over intents has no weights", "use the measure inside", usage=True)
    implied = [measure for measure in chosen if measure.definition.weights_in_ranking and runs is not None]
    # Before any run is read: a measure without weights need not wait for them.
    columns = {measure: fixed_weights(measure, depth, rank_progress) for measure in chosen if measure not in implied}
    notes = _cost_notes(list(columns), options)
    settings = [f"gradedeval {__version__}"]
    if implied and runs is not None:
        judged = qrels_for(runs, qrels, options)
        found = background(runs, judged, implied, options, depth, workers or Workers())
        columns |= dict(zip(implied, zip(found.weights.T, found.shares.tolist(), strict=True), strict=True))
        notes += found.notes
        count, under = len(found.counts), signature(judged, options, implied, found.counts, found.formats)
        settings = [str(under), f"{count} {plural(count, 'run')}"]
    elif runs is not None:
        notes.append("the runs are not read: the weights of these measures are the same for all")
    values = np.stack([_normalized(columns[measure][0], measure, normalize) for measure in chosen], axis=1)
    beyond = np.array([columns[measure][1] for measure in chosen])
    settings += [f"ranks 1..{ranks}", f"normalize {normalize}"]
    weights = Weights(chosen, values, beyond, " | ".join(settings), notes)
    return weights if quantity == "W" else _of_user(weights, quantity, " | ".join(settings[:-1]))


def _of_user(weights: Weights, quantity: str, signature: str) -> Weights:
    """C(i) or L(i) of the user who has these weights, down to the last rank but one."""
    here, next_one = weights.values[:-1], weights.values[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        goes_on = np.where(here > 0, next_one / here, np.nan)
    values = (here - next_one) / weights.values[0] if quantity == "L" else goes_on
    past = [_past(own, share) for own, share in zip(weights.values.T, weights.beyond.tolist(), strict=True)]
    notes, signature = [*weights.notes, *_rising(weights)], f"{signature} | {quantity}(i) of the weights"
    return Weights(weights.measures, values, np.array(past), signature, notes, cast(Quantity, quantity))


def _past(weights: Floats, share: float) -> float:
    """The share of the weight past the last rank but one, given that past the last."""
    whole = float(weights.sum()) / (1 - share) if share < 1 else np.inf
    return float("nan") if np.isnan(share) else share_past(float(weights[:-1].sum()), whole)


def _rising(weights: Weights) -> list[str]:
    """A note for measures with weights above the one before: no user has these."""
    rising = weights.values[1:] > weights.values[:-1] + TOLERANCE
    return [
        f"{name}: its weight rises at rank {int(own.argmax()) + 2}, so C and L are no probabilities there"
        for name, own in zip(weights.columns[1:], rising.T, strict=True)
        if own.any()
    ]


def _cost_notes(fixed: Sequence[Measure], options: Options) -> list[str]:
    """What is said of fixed weights that depend on what documents cost: here each costs 1."""
    units = {measure.name: measure.definition.cost_unit for measure in fixed if measure.definition.cost_unit}
    notes = [f"{name}: {unit}; the weights are those of documents that cost 1 each" for name, unit in units.items()]
    if options.costs is not None and not notes and any(measure.definition.cwl for measure in fixed):
        notes = ["--costs: fixed weights are those of documents that cost 1 each"]
    return notes


def _normalized(weights: Floats, measure: Measure, normalize: str) -> Floats:
    if normalize == "none":
        return weights
    by = float(weights.sum() if normalize == "sum" else weights.max())
    if not by > 0:
        what = f"its weights down to rank {len(weights)} have {normalize} {by:g}"
        raise InputError(f"'{measure}'", what, "leave out --normalize, or raise --ranks")
    return weights / by
