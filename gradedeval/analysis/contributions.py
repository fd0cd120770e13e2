"""What each document adds to the score of one topic, and what it could still add: for any measure at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.errors import InputError
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import Gains, Intents
from gradedeval.parallel import workers
from gradedeval.scoring.scorer import scores_of


@dataclass(frozen=True, eq=False)
class Parts:
    """What a score is made of: `before`: the score of an empty ranking, `terms`: one a rank, `beyond` the end; and the
    measure's own workings, name -> one value a rank, and where there is one more, it is that of all beyond the end."""

    before: float
    terms: Floats
    beyond: float
    workings: dict[str, Floats]


def trimmed(gains: Gains) -> Gains:
    """The gains of one topic, with a column for each document retrieved and no more."""
    width = int(gains.retrieved[0])
    own = replace(gains, **{name: values[:, :width] for name, values in _of_ranks(gains).items()})
    return _by_intent(own, [trimmed(one) for one in _intents(gains)])


def parts_of(measure: Measure, gains: Gains) -> Parts:
    """The parts that sum to the score of one topic. Raises InputError where a user's own measure fails."""
    if measure.prior is not None and gains.intents is not None:
        return _marginal(replace(measure, prior=None), gains.intents)
    width = gains.gain.shape[1]
    try:
        workings = {name: np.asarray(column, dtype=np.float64) for name, column in measure.details(gains).items()}
        shapes = {name: column.shape for name, column in workings.items()}
    except InputError:
        raise
    except Exception as error:  # as in `scoring`
        raise InputError(
            f"measure '{measure}'", f"`details` failed ({type(error).__name__}: {error})", "fix it"
        ) from error
    for name, shape in shapes.items():
        if shape not in ((1, width), (1, width + 1)):
            raise InputError(
                f"measure '{measure}'",
                f"`details` has '{name}' of shape {shape}",
                f"expected topics × ranks, (1, {width})",
            )
    shown = {name: column[0] for name, column in workings.items()}
    if "contribution" in shown:
        terms = np.append(shown.pop("contribution"), 0.0)
        return Parts(0.0, terms[:width], float(terms[width]), shown)
    scores = np.concatenate([scores_of(measure, part) for part in _endings(gains)])
    with np.errstate(invalid="ignore"):
        steps = np.diff(scores)
    return Parts(float(scores[0]), np.where(np.isnan(steps), 0.0, steps), 0.0, shown)


def _marginal(measure: Measure, intents: Intents) -> Parts:
    """The parts of a mean over intents: the means of the parts."""
    weight = intents.weight[:, 0]
    counted = [(one, gains) for one, gains in zip(weight, intents.each, strict=True) if one > 0]
    each = [(one / weight.sum(), parts_of(measure, gains)) for one, gains in counted]
    return Parts(
        float(sum(one * parts.before for one, parts in each)),
        np.sum([np.zeros(intents.each[0].gain.shape[1]), *(one * parts.terms for one, parts in each)], axis=0),
        float(sum(one * parts.beyond for one, parts in each)),
        {},
    )


def rises(measure: Measure, gains: Gains, best: Gains) -> Floats:
    """ranks: how far the score of one topic would rise if only the document there were as in the best case; nan where
    it is judged."""
    found = np.full(gains.gain.shape[1], np.nan)
    ceiling = measure.definition.ceiling
    score = np.minimum(scores_of(measure, gains), ceiling)
    for ranks in _chunks(np.flatnonzero(~gains.judged[0]), gains):
        filled = scores_of(measure, _filled(gains, best, ranks))
        found[ranks] = np.maximum(np.minimum(filled, ceiling) - score, 0)
    return found


def _filled(gains: Gains, best: Gains, ranks: Ints) -> Gains:
    """The one topic of a batch as many times as there are ranks: there, each time at one, as in the best case."""
    gain = np.repeat(gains.gain, len(ranks), axis=0)
    gain[np.arange(len(ranks)), ranks] = best.gain[0, ranks]
    own = replace(_several(gains, len(ranks)), gain=gain, intents=best.intents)
    pairs = zip(_intents(gains), _intents(best), strict=True)
    return _by_intent(own, [_filled(one, other, ranks) for one, other in pairs])


def _endings(gains: Gains) -> Iterator[Gains]:
    """The ranking of one topic, ended after rank 0, 1, 2, … to the last."""
    for lengths in _chunks(np.arange(gains.gain.shape[1] + 1), gains):
        yield _ended(gains, lengths)


def _ended(gains: Gains, lengths: Ints) -> Gains:
    """The one topic of a batch as many times as there are lengths, ended after so many ranks."""
    inside = np.arange(lengths[-1]) < lengths[:, None]
    ended = {name: values[:, : lengths[-1]] * inside for name, values in _of_ranks(gains).items()}
    own = replace(_several(gains, len(lengths)), retrieved=lengths, **ended)
    return _by_intent(own, [_ended(one, lengths) for one in _intents(gains)])


def _several(gains: Gains, count: int) -> Gains:
    """The one topic of a batch as so many."""
    rows: dict[str, Any] = {
        name: np.broadcast_to(row, (count, *row.shape[1:])) for name, row in gains.by_topic().items()
    }
    return replace(gains, **rows)


def _intents(gains: Gains) -> Sequence[Gains]:
    return gains.intents.each if gains.intents is not None else []


def _by_intent(gains: Gains, each: Sequence[Gains]) -> Gains:
    """The gains with what is made of them by intent: the same intents for as many topics as there are now."""
    intents = gains.intents
    if intents is None:
        return gains
    count, pool = len(gains.gain), intents.pool
    rows: dict[str, Any] = {
        name: np.repeat(getattr(intents, name), count, axis=1) for name in ("weight", "listed", "open")
    }
    return replace(gains, intents=replace(intents, each=each, pool=lambda row: pool(0), **rows))


def _of_ranks(gains: Gains) -> dict[str, Any]:
    """Those that have a column for each rank too: all with columns but the ideal ranking's."""
    return {name: values for name, values in gains.by_topic().items() if values.ndim > 1 and name != "ideal"}


def _chunks(numbers: Ints, gains: Gains) -> Iterator[Ints]:
    """Some of the numbers at a time: as many as a batch may have topics of this width."""
    at_once = max(workers.LIMITS.cells // max(gains.gain.shape[1], gains.ideal.shape[1], 1), 1)
    for begin in range(0, len(numbers), at_once):
        yield numbers[begin : begin + at_once]
