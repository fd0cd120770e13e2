"""What each document adds to the score of one topic, and what it could still add: for any measure at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from gradedeval.errors import Fault
from gradedeval.gains import Floats, Gains, Ints
from gradedeval.measures import Measure
from gradedeval.ranking import CELLS
from gradedeval.scoring import scores_of


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
    return replace(gains, **{name: values[:, :width] for name, values in _of_ranks(gains).items()})


def parts_of(measure: Measure, gains: Gains) -> Parts:
    """The parts that sum to the score of one topic. Raises Fault where a user's own measure fails."""
    width = gains.gain.shape[1]
    try:
        workings = {name: np.asarray(column, dtype=np.float64) for name, column in measure.workings(gains).items()}
        shapes = {name: column.shape for name, column in workings.items()}
    except Fault:
        raise
    except Exception as error:  # as in `scoring`
        raise Fault(f"measure '{measure}'", f"`shows` failed ({type(error).__name__}: {error})", "mend it") from error
    for name, shape in shapes.items():
        if shape not in ((1, width), (1, width + 1)):
            raise Fault(f"measure '{measure}'", f"shows '{name}' of shape {shape}", f"topics × ranks: (1, {width})")
    shown = {name: column[0] for name, column in workings.items()}
    if "contribution" in shown:
        terms = np.append(shown.pop("contribution"), 0.0)
        return Parts(0.0, terms[:width], float(terms[width]), shown)
    scores = np.concatenate([scores_of(measure, part) for part in _endings(gains)])
    with np.errstate(invalid="ignore"):
        steps = np.diff(scores)
    return Parts(float(scores[0]), np.where(np.isnan(steps), 0.0, steps), 0.0, shown)


def rises(measure: Measure, gains: Gains, best: Gains) -> Floats:
    """ranks: how far the score of one topic would rise if only the document there were as in the best case; nan where
    it is judged."""
    found = np.full(gains.gain.shape[1], np.nan)
    ceiling = measure.definition.ceiling
    score = np.minimum(scores_of(measure, gains), ceiling)
    for ranks in _chunks(np.flatnonzero(~gains.judged[0]), gains):
        gain = np.repeat(gains.gain, len(ranks), axis=0)
        gain[np.arange(len(ranks)), ranks] = best.gain[0, ranks]
        filled = replace(_several(gains, len(ranks)), gain=gain)
        found[ranks] = np.maximum(np.minimum(scores_of(measure, filled), ceiling) - score, 0)
    return found


def _endings(gains: Gains) -> Iterator[Gains]:
    """The ranking of one topic, ended after rank 0, 1, 2, … to the last."""
    for lengths in _chunks(np.arange(gains.gain.shape[1] + 1), gains):
        inside = np.arange(lengths[-1]) < lengths[:, None]
        ended = {name: values[:, : lengths[-1]] * inside for name, values in _of_ranks(gains).items()}
        yield replace(_several(gains, len(lengths)), retrieved=lengths, **ended)


def _several(gains: Gains, count: int) -> Gains:
    """The one topic of a batch as so many."""
    rows: dict[str, Any] = {
        name: np.broadcast_to(row, (count, *row.shape[1:])) for name, row in _of_topics(gains).items()
    }
    return replace(gains, **rows)


def _of_topics(gains: Gains) -> dict[str, Any]:
    """The arrays of a batch that have a row for each topic: all but the levels of the scheme."""
    each = {one.name: getattr(gains, one.name) for one in fields(gains) if one.name != "levels"}
    return {name: values for name, values in each.items() if isinstance(values, np.ndarray)}


def _of_ranks(gains: Gains) -> dict[str, Any]:
    """Those that have a column for each rank too: all with columns but the ideal ranking's."""
    return {name: values for name, values in _of_topics(gains).items() if values.ndim > 1 and name != "ideal"}


def _chunks(numbers: Ints, gains: Gains) -> Iterator[Ints]:
    """Some of the numbers at a time: as many as a batch may have topics of this width."""
    at_once = max(CELLS // max(gains.gain.shape[1], gains.ideal.shape[1], 1), 1)
    for begin in range(0, len(numbers), at_once):
        yield numbers[begin : begin + at_once]
