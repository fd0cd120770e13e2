"""Read and check arrays of grades and scores, and the measures that are to score them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, distinct
from gradedeval.errors import InputError

if TYPE_CHECKING:
    from gradedeval.kernel.measures.definition import Measure

TIES = ("file", "best", "worst", "average")
"""Orders of documents with equal scores that need no docnos; `file`: as arrays list them."""

TIED = (
    "documents with equal scores and different grades stay in the order of the arrays; set ties='file' if this is "
    "intended, or 'average', 'worst' or 'best'"
)


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
