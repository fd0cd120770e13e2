"""A measure called with arrays: the grades and scores of one topic, or of topics with as many documents each."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints, as_float, distinct
from gradedeval.errors import InputError, check_choice, shown, tell
from gradedeval.kernel.measures.gains import Gains, GainTable, Grades, gain_table, mean_gains, scores_of

if TYPE_CHECKING:
    from gradedeval.kernel.measures.definition import ArrayTies, Measure

TIES: tuple[ArrayTies, ...] = ("file", "best", "worst", "average")

TIED = (
    "documents with equal scores and different grades stay in the order of the arrays; set ties='file' if this is "
    "intended, or 'average', 'worst' or 'best'"
)


def score_called(measure: Measure, arrays: tuple[Any, ...], keywords: dict[str, Any]) -> float | Floats:
    """What a measure called with arrays gives: see `Measure`. Raises InputError (usage) where these are not two."""
    if len(arrays) != 2:
        what = f"called with {len(arrays)} arrays" if len(arrays) > 2 else "called with one array"
        raise InputError(f"'{measure}'", what, "expected grades and scores: (y_true, y_score)", usage=True)
    ties, top_grade = keywords.pop("ties", None), keywords.pop("top_grade", None)
    return score_arrays(measure(**keywords) if keywords else measure, *arrays, ties, top_grade)


def score_arrays(
    measure: Measure, y_true: Any, y_score: Any, ties: ArrayTies | None, top_grade: float | None
) -> float | Floats:
    """The score of one topic, or the scores of several: see `Measure`."""
    check_measure(measure)
    check_ties(measure, ties)
    grades, scores = as_numbers(y_true, "y_true"), as_numbers(y_score, "y_score")
    if grades.ndim not in (1, 2) or not grades.size:
        what = f"has {grades.ndim} dimensions" if grades.size else "is empty"
        raise InputError("y_true", what, "expected documents, or topics × documents", usage=True)
    if grades.shape != scores.shape:
        what = f"has the shape {scores.shape}, y_true {grades.shape}"
        raise InputError("y_score", what, "give each document a grade and a score", usage=True)
    check_finite(scores, "y_score")
    labels, codes = grade_codes(grades, "y_true")
    table = _table(measure, labels, top_grade)
    if grades.ndim == 1 and top_grade is None and measure.depends_on_top:
        what = f"{measure}: the highest grade in y_true is taken as the top of the scale; set top_grade="
        tell([what])
    lengths = None
    if measure.judged_only:  # what nobody judged stands below the end
        scores = np.where(codes == len(labels), -np.inf, scores)
        lengths = np.count_nonzero(np.atleast_2d(codes) != len(labels), axis=1)
    order, first, tied = ordered(np.atleast_2d(codes), np.atleast_2d(scores), len(labels), ties)
    if tied and ties is None:
        tell([f"y_score: {TIED}"])
    found = scores_of(measure, gains_of(measure, table, order, labels, first=first, lengths=lengths))
    return float(found[0]) if grades.ndim == 1 else found


@lru_cache(maxsize=256)
def check_measure(measure: Measure) -> None:
    """Raise InputError (usage) for a measure that is not complete, or needs more than grades and scores."""
    measure.complete()
    needs = {
        "intents": measure.by_intent,
        "strata": measure.definition.uses_strata,
        "types of documents": measure.types,
    }
    for what in (what for what, needed in needs.items() if needed):
        raise InputError(f"'{measure}'", f"needs {what}, which arrays lack", "use gradedeval.evaluate", usage=True)


def check_ties(measure: Measure, ties: ArrayTies | None) -> None:
    """Raise InputError (usage) where there is no such order of ties, or the measure has no average over all."""
    if ties is not None:
        check_choice(ties, TIES, "ties")
    if ties == "average" and not measure.definition.over_ties:
        what = f"{measure.name} has no average over ties"
        raise InputError("ties", what, "use 'file', 'worst' or 'best'", usage=True)


def as_numbers(values: Any, place: str) -> Floats:
    """An array of float64. Raises InputError where the values are not numbers, are masked, or rows differ in length."""
    if np.any(mask := getattr(values, "mask", False)) and isinstance(mask, np.ndarray):
        hint = "give documents without a grade the grade nan, and leave out ranks that hold none"
        raise InputError(place, "has masked values", hint, usage=True)
    try:
        array = np.asarray(values)
    except ValueError:
        hint = "gradedeval.evaluate_arrays(..., group=...) takes topics of different lengths"
        raise InputError(place, "has rows of different lengths", hint, usage=True) from None
    except Exception as error:  # whatever holds the values has its own
        raise InputError(place, f"is not an array of numbers ({error})", "expected numbers", usage=True) from None
    if array.dtype.kind not in "biuf":
        try:
            if array.dtype.kind != "O" or any(isinstance(value, str | bytes) for value in array.ravel()[:1]):
                raise TypeError
            array = array.astype(np.float64)
        except OverflowError:
            raise InputError(place, "holds a number that is too large", "expected finite numbers", usage=True) from None
        except (TypeError, ValueError):
            what = f"holds {array.dtype} values"
            raise InputError(place, what, "expected numbers", usage=True) from None
    return array.astype(np.float64, copy=False)


def check_finite(scores: Floats, place: str) -> None:
    """Raise InputError where a score is infinite or not a number."""
    if not np.isfinite(scores).all():
        at = np.argwhere(~np.isfinite(scores))[0].tolist()
        where = ", ".join(map(str, at))
        raise InputError(f"{place}[{where}]", f"{scores[tuple(at)]} is not a finite number", "does the model diverge?")


def grade_codes(grades: Floats, place: str) -> tuple[Floats, NDArray[Any]]:
    """The distinct grades, ascending, and the index of each grade among them: their number where it is nan, unjudged.

    Raises InputError where a grade is infinite, or there is none.
    """
    judged: Bools = grades == grades
    if judged.all():
        labels, codes = distinct(grades.ravel())
        codes = codes.reshape(grades.shape)
    else:
        labels, known = distinct(grades[judged])
        codes = np.full(grades.shape, len(labels))
        codes[judged] = known
    if not len(labels) or not np.isfinite(labels[[0, -1]]).all():
        what = "holds an infinite grade" if len(labels) else "holds no grade"
        raise InputError(place, what, "expected a grade for each document, nan where it is not judged")
    return labels + 0.0, codes  # no −0


def ordered(
    codes: NDArray[Any], scores: Floats, unjudged: int, ties: ArrayTies | None
) -> tuple[NDArray[Any], Ints | None, bool]:
    """topics × ranks: the codes from the best score to the worst; for `average` also the column where the documents
    tied with each one begin; and whether documents of different grades are tied."""
    falling = -scores
    if ties in ("best", "worst"):
        grade = np.where(codes == unjudged, -1, codes)
        order = np.lexsort((grade if ties == "worst" else -grade, falling))
    else:
        order = np.argsort(falling, axis=1, kind="stable")
    rows = np.arange(len(codes))[:, None]
    ranked, falling = codes[rows, order], falling[rows, order]
    same = falling[:, 1:] == falling[:, :-1]
    if ties == "average":
        first = np.zeros(codes.shape, dtype=np.int64)
        first[:, 1:] = np.where(same, 0, np.arange(1, codes.shape[1]))
        return ranked, np.maximum.accumulate(first, axis=1), False
    return ranked, None, ties is None and bool((same & (ranked[:, 1:] != ranked[:, :-1])).any())


def _table(measure: Measure, labels: Floats, top_grade: float | None) -> GainTable:
    """The gains of the grades. Raises InputError where the top grade is below one of them."""
    highest = float(labels[-1])
    try:
        top = highest if top_grade is None else as_float(top_grade)
    except (TypeError, ValueError):
        raise InputError("top_grade", f"{shown(top_grade)} is not a number", "as in 3", usage=True) from None
    if not math.isfinite(top):
        raise InputError("top_grade", f"{shown(top_grade)} is not a finite number", "as in 3", usage=True)
    if not top >= highest:
        hint = "raise top_grade or correct the grade"
        raise InputError("y_true", f"grade {highest:g} is above the top grade {top:g}", hint, usage=True)
    if str(measure.gain).startswith("@"):  # a file may change
        return gain_table(measure, Grades(labels, top))
    return _known_table(measure, tuple(labels.tolist()), top)


@lru_cache(maxsize=256)
def _known_table(measure: Measure, labels: tuple[float, ...], top: float) -> GainTable:
    return gain_table(measure, Grades(np.array(labels), top))


def gains_of(
    measure: Measure,
    table: GainTable,
    codes: NDArray[Any],
    labels: Floats,
    *,
    first: Ints | None = None,
    lengths: Ints | int | None = None,
) -> Gains:
    """The batch as the measure sees it: what `GainsCache` makes of a run.

    codes    topics × ranks: index into labels; their number where it is unjudged, or past the end
    first    topics × ranks: the column where the documents tied with each one begin, for means over ties
    lengths  topics: how many documents; None: as many as there are columns
    """
    last, unjudged = measure.last_rank, len(labels)
    gain = uncut = np.append(table.gain_of_label, 0.0)[codes]
    if first is not None:
        gain = mean_gains(uncut, first)
    judged = codes != unjudged
    ideal = -np.sort(-uncut, axis=1)
    ideal = ideal[:, : int(np.count_nonzero(ideal, axis=1).max())]
    width = codes.shape[1] if last is None else min(last, codes.shape[1])
    return Gains(
        gain[:, :last],
        judged[:, :last],
        ideal,
        np.minimum(width, np.broadcast_to(codes.shape[1] if lengths is None else lengths, len(codes))),
        np.count_nonzero(judged, axis=1),
        table.levels,
        measure.cutoff,
        unsampled=np.append(labels < 0, False)[codes[:, :last]] if labels[0] < 0 else None,
        first=first,
        uncut=uncut if first is not None else None,
    )
