"""What each document adds to the score of one topic, and what it could still add: for any measure at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.errors import InputError
from gradedeval.measures.applied import scores_of
from gradedeval.measures.definition import Measure
from gradedeval.measures.gain_schemes import Sample
from gradedeval.measures.gains import Gains
from gradedeval.measures.intents import Intents
from gradedeval.parallel import workers


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a score: that of an empty ranking, one term per rank, and what lies beyond the end of the run.

    details  the columns of the measure: name -> one value per rank; where there is one more, it is that of all ranks
             beyond the end
    """

    before: float
    terms: Floats
    beyond: float
    details: dict[str, Floats]


def check_by_rank(measure: Measure) -> None:
    """Raise InputError (usage) for a measure whose ranks are not those of the run."""
    if measure.judged_only:
        what = "looks at a condensed list, whose ranks are not those of the run"
        raise InputError(f"'{measure}'", what, "leave out judged_only, and give --judged-only", usage=True)


def trimmed(gains: Gains) -> Gains:
    """The gains of one topic, with a column for each document retrieved and no more."""
    width = int(gains.retrieved[0])
    columns = {name: values[:, :width] for name, values in _of_ranks(gains).items()}
    cut = replace(gains, **columns, sample=_sample(gains, np.ones((1, width), dtype=bool)))
    return _by_intent(cut, [trimmed(intent) for intent in _intents(gains)], np.zeros(1, dtype=np.int64))


def parts_of(measure: Measure, gains: Gains) -> Parts:
    """The parts that sum to the score of one topic. Raises InputError where a user-defined measure fails."""
    if measure.prior is not None and gains.intents is not None:
        return _marginal(replace(measure, prior=None), gains.intents)
    width = gains.gain.shape[1]
    shown = {name: column[0] for name, column in _details(measure, gains).items()}
    if "contribution" in shown:
        terms = np.append(shown.pop("contribution"), 0.0)
        return Parts(0.0, terms[:width], float(terms[width]), shown)
    scores = np.concatenate([scores_of(measure, part) for part in _endings(gains)])
    with np.errstate(invalid="ignore"):
        steps = np.diff(scores)
    return Parts(float(scores[0]), np.where(np.isnan(steps), 0.0, steps), 0.0, shown)


def terms_of(measure: Measure, gains: Gains, last: int | None = None) -> tuple[Floats, Floats]:
    """The parts of the scores of all topics of a batch: topics × ranks, one term for each document retrieved, 0 below
    them; and topics: that of an empty ranking and of what lies beyond the end. Raises InputError as `parts_of`.

    last  down to this rank alone: the documents below it are part of what else there is
    """
    intents, whole = gains.intents, gains.gain.shape[1]
    width = whole if last is None else min(last, whole)
    if measure.prior is not None and intents is not None:
        shares = intents.weight / intents.weight.sum(0)
        each = [terms_of(replace(measure, prior=None), intent, last) for intent in intents.each]
        pairs = list(zip(shares, each, strict=True))
        # An intent that nobody has may have no score.
        means = (np.where(share[:, None] > 0, share[:, None] * term, 0) for share, (term, _) in pairs)
        others = (np.where(share > 0, share * rest, 0) for share, (_, rest) in pairs)
        return np.sum(list(means), axis=0), np.sum(list(others), axis=0)
    terms, rest = _details(measure, gains).get("contribution"), np.zeros(len(gains.gain))
    if terms is not None:
        rest, terms = terms[:, width:].sum(1), terms[:, :width]
    else:
        scores = np.stack([scores_of(measure, _cut(gains, rank)) for rank in range(width + 1)], axis=1)
        with np.errstate(invalid="ignore"):
            steps = np.diff(scores)
        rest, terms = scores[:, 0], np.where(np.isnan(steps), 0.0, steps)
        if width < whole:
            rest = rest + scores_of(measure, gains) - scores[:, -1]
    retrieved = np.arange(width) < gains.retrieved[:, None]
    return np.where(retrieved, terms, 0.0), rest + np.where(retrieved, 0.0, terms).sum(1)


def _cut(gains: Gains, rank: int) -> Gains:
    """The rankings of a batch, each ended after a rank."""
    parts: dict[str, Any] = {name: values[:, :rank] for name, values in _of_ranks(gains).items()}
    sample = _sample(gains, np.ones((len(gains.gain), rank), dtype=bool))
    cut = replace(gains, retrieved=np.minimum(gains.retrieved, rank), sample=sample, **parts)
    return (
        cut
        if gains.intents is None
        else replace(cut, intents=replace(gains.intents, each=[_cut(intent, rank) for intent in gains.intents.each]))
    )


def _sample(gains: Gains, inside: Bools) -> Sample | None:
    """The strata of the documents of a batch, or of one topic repeated, at the ranks that are kept.

    inside  topics × ranks: whether a rank is within its ranking
    """
    if gains.sample is None:
        return None
    ranks = inside.shape[1]
    stratum, sampled, weight = (getattr(gains.sample, name)[:, :ranks] for name in ("stratum", "sampled", "weight"))
    times = len(inside) // len(gains.sample.estimated)
    return replace(
        gains.sample,
        stratum=np.where(inside, stratum, -1),
        sampled=sampled & inside,
        weight=weight * inside,
        estimated=np.repeat(gains.sample.estimated, times, axis=0),
    )


def _details(measure: Measure, gains: Gains) -> dict[str, Floats]:
    """The columns of a measure. Raises InputError where a user-defined measure fails."""
    topics, width = gains.gain.shape
    try:
        columns = {name: np.asarray(column, dtype=np.float64) for name, column in measure.details(gains).items()}
        shapes = {name: column.shape for name, column in columns.items()}
    except InputError:
        raise
    except Exception as error:  # as in `scoring`
        from gradedeval.measures.plugins import failure

        hint = "fix it; --debug shows the traceback"
        raise failure(error, f"measure '{measure}'", "`details` failed", hint) from error
    for name, shape in shapes.items():
        if shape not in ((topics, width), (topics, width + 1)):
            what, hint = f"`details` has '{name}' of shape {shape}", f"expected topics × ranks, ({topics}, {width})"
            raise InputError(f"measure '{measure}'", what, hint)
    return columns


def _marginal(measure: Measure, intents: Intents) -> Parts:
    """The parts of a mean over intents: the means of the parts."""
    weight = intents.weight[:, 0]
    counted = [(share, gains) for share, gains in zip(weight, intents.each, strict=True) if share > 0]
    each = [(share / weight.sum(), parts_of(measure, gains)) for share, gains in counted]
    return Parts(
        float(sum(share * parts.before for share, parts in each)),
        np.sum([np.zeros(intents.each[0].gain.shape[1]), *(share * parts.terms for share, parts in each)], axis=0),
        float(sum(share * parts.beyond for share, parts in each)),
        {},
    )


def rises(measure: Measure, gains: Gains, best: Gains) -> Floats:
    """ranks: how much the score of one topic would rise if the document there alone had the top gain; nan where it is
    judged. By measures whose residual comes from the bounds it is one more document of the pool then."""
    added = np.full(gains.gain.shape[1], np.nan)
    ranks, joins = np.flatnonzero(~gains.judged[0]), _joins_the_pool(measure)
    score = np.minimum(scores_of(measure, gains), measure.definition.ceiling)
    added[ranks] = np.maximum(lifted(measure, gains, best, np.zeros_like(ranks), ranks, joins=joins) - score, 0)
    return added


def _joins_the_pool(measure: Measure) -> bool:
    return measure.residual == "from_bounds" and not measure.by_intent


def lifted(measure: Measure, gains: Gains, best: Gains, rows: Ints, ranks: Ints, *, joins: bool = False) -> Floats:
    """The score of the topic at each of the rows if the document at the rank beside it, from 0, had the top gain; no
    more than the largest score there is.

    best   the same batch with every unjudged document at the top gain
    joins  whether the document is one more of the pool then, which otherwise stays as it is
    """
    places = _chunks(np.arange(len(ranks)), gains)
    scores = [scores_of(measure, _filled(gains, best, rows[some], ranks[some], joins=joins)) for some in places]
    found: Floats = np.minimum(np.concatenate([np.empty(0), *scores]), measure.definition.ceiling)
    return found


def _filled(gains: Gains, best: Gains, rows: Ints, ranks: Ints, *, joins: bool = False) -> Gains:
    """The topics at these rows, with the document at the rank beside each as in the best case."""
    gain, top = gains.gain[rows], best.gain[rows, ranks]
    gain[np.arange(len(ranks)), ranks] = top
    filled = replace(_several(gains, rows), gain=gain, intents=best.intents)
    filled = _with_one_more(filled, top) if joins else filled
    pairs = zip(_intents(gains), _intents(best), strict=True)
    return _by_intent(filled, [_filled(intent, other, rows, ranks) for intent, other in pairs], rows)


def _with_one_more(gains: Gains, top: Floats) -> Gains:
    """The topics with a further document in the pool, of the top gain."""
    return replace(gains, ideal=np.column_stack([top, gains.ideal]), pool=gains.pool + 1)


def rises_of(measure: Measure, gains: Gains, best: Gains, last: int | None = None) -> Floats:
    """topics × ranks: as `rises`, for all topics of a batch, down to a rank."""
    topics, width = gains.gain.shape
    ceiling = measure.definition.ceiling
    score = np.minimum(scores_of(measure, gains), ceiling)
    added = np.full((topics, width if last is None else min(last, width)), np.nan)
    for rank in range(added.shape[1]):
        unjudged = ~gains.judged[:, rank] & (rank < gains.retrieved)
        if unjudged.any():
            judged = _filled_at(gains, best, rank)
            judged = _with_one_more(judged, best.gain[:, rank]) if _joins_the_pool(measure) else judged
            filled = scores_of(measure, judged)
            added[unjudged, rank] = np.maximum(np.minimum(filled, ceiling) - score, 0)[unjudged]
    return added


def _filled_at(gains: Gains, best: Gains, rank: int) -> Gains:
    """The topics of a batch, each with the document at a rank as in the best case."""
    gain = gains.gain.copy()
    gain[:, rank] = best.gain[:, rank]
    filled = replace(gains, gain=gain, intents=best.intents)
    pairs = zip(_intents(gains), _intents(best), strict=True)
    each = [_filled_at(intent, other, rank) for intent, other in pairs]
    return filled if best.intents is None else replace(filled, intents=replace(best.intents, each=each))


def _endings(gains: Gains) -> Iterator[Gains]:
    """The ranking of one topic, ended after rank 0, 1, 2, … to the last."""
    for lengths in _chunks(np.arange(gains.gain.shape[1] + 1), gains):
        yield _ended(gains, lengths)


def _ended(gains: Gains, lengths: Ints) -> Gains:
    """The one topic of a batch once for each of the lengths, ended after so many ranks."""
    inside, first = np.arange(lengths[-1]) < lengths[:, None], np.zeros_like(lengths)
    ended = {name: values[:, : lengths[-1]] * inside for name, values in _of_ranks(gains).items()}
    whole = replace(_several(gains, first), retrieved=lengths, sample=_sample(gains, inside), **ended)
    return _by_intent(whole, [_ended(intent, lengths) for intent in _intents(gains)], first)


def _several(gains: Gains, rows: Ints) -> Gains:
    """The topics at these rows, of which one may come several times."""
    arrays: dict[str, Any] = gains.by_topic()
    if len(gains.gain) == 1:  # without a copy
        arrays = {name: np.broadcast_to(row, (len(rows), *row.shape[1:])) for name, row in arrays.items()}
    else:
        arrays = {name: values[rows] for name, values in arrays.items()}
    return replace(gains, **arrays)


def _intents(gains: Gains) -> Sequence[Gains]:
    return gains.intents.each if gains.intents is not None else []


def _by_intent(gains: Gains, each: Sequence[Gains], rows: Ints) -> Gains:
    """The gains with their batch by intent, of the topics at these rows."""
    intents = gains.intents
    if intents is None:
        return gains
    pool = intents.pool
    arrays: dict[str, Any] = {name: getattr(intents, name)[:, rows] for name in ("weight", "listed", "open")}
    return replace(gains, intents=replace(intents, each=each, pool=lambda row: pool(int(rows[row])), **arrays))


def _of_ranks(gains: Gains) -> dict[str, Any]:
    """The arrays with a column for each rank: all two-dimensional ones but the ideal ranking's."""
    return {name: values for name, values in gains.by_topic().items() if values.ndim > 1 and name != "ideal"}


def _chunks(numbers: Ints, gains: Gains) -> Iterator[Ints]:
    """The numbers in chunks of as many as a batch may have topics of this width."""
    at_once = max(workers.LIMITS.cells // max(gains.gain.shape[1], gains.ideal.shape[1], 1), 1)
    for begin in range(0, len(numbers), at_once):
        yield numbers[begin : begin + at_once]
