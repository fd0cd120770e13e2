"""What pictures are drawn from: the frames of results, the part of them that is one picture, and words for axes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, cast

from gradedeval.errors import InputError, did_you_mean, plural, shorten
from gradedeval.measures.parse import canonical, parse_measures
from gradedeval.plot.appearance import MANY, shown

if TYPE_CHECKING:
    import pandas as pd

NUMBERS = frozenset({
    *("actual", "agreement", "contribution", "difference", "grade", "high", "inferred", "level", "low", "p"),
    *("precision", "rank", "recall", "running", "score", "sign", "value"),
})  # fmt: skip
"""The columns that are drawn as numbers."""


def frame_of(result: Any, columns: Collection[str], picture: str, source: str, part: str = "frame") -> pd.DataFrame:
    """The frame of a result, or the frame itself.

    columns  what it must have
    source   where such a frame comes from, for a message
    part     what the result calls it

    Raises InputError (usage) where it is not a frame, lacks a column, is empty, or has text in place of numbers.
    """
    import pandas as pd  # not before it is needed

    place, hint = f"plot.{picture}", f"give {source}"
    frame = getattr(result, part, result)
    if not isinstance(frame, pd.DataFrame):
        raise InputError(place, f"expected a frame, not a {type(result).__name__}", hint, usage=True)
    if missing := [name for name in columns if name not in frame.columns]:
        what = f"the frame has no {plural(len(missing), 'column')} {shorten(missing)}"
        raise InputError(place, what, hint, usage=True)
    if not len(frame):
        raise InputError(place, "the frame is empty", hint, usage=True)
    check_numbers(frame, [name for name in columns if name in NUMBERS], picture, source)
    return frame


def check_numbers(frame: pd.DataFrame, columns: Iterable[str], picture: str, source: str) -> None:
    """Raise InputError (usage) where one of these columns holds something else than numbers and blanks."""
    import pandas as pd

    for name in columns:
        known = frame[name][frame[name].notna()]
        if pd.to_numeric(known, errors="coerce").isna().any():
            raise InputError(f"plot.{picture}", f"column {name} holds other than numbers", f"give {source}", usage=True)


def of_measure(frame: pd.DataFrame, measure: Any, picture: str) -> pd.DataFrame:
    """The rows of one measure: of the only one, or of that named. Raises InputError (usage) where it is not there, or
    none is named of several."""
    known = list(dict.fromkeys(frame["measure"]))
    if measure is None:
        if len(known) > 1:
            what = f"{len(known)} measures ({shorten(known)})"
            raise InputError(f"plot.{picture}", what, f"name one, as in measure='{known[0]}'", usage=True)
        return frame
    wanted = str(measure)
    same = [name for name in known if name == wanted or canonical(name) == canonical(wanted)]
    if not same:
        hint = did_you_mean(wanted, known) or f"choose from {shorten(known)}"
        raise InputError(f"plot.{picture}", f"nothing by '{wanted}'", hint, usage=True)
    return cast("pd.DataFrame", frame[frame["measure"] == same[0]])


def grey_notes(frame: pd.DataFrame) -> list[str]:
    """A note where runs are more than can be told apart, and most are grey."""
    count = frame["run"].nunique()
    return [f"{count} runs: the first {MANY} are in color, the others grey"] if count > MANY else []


LOWER = " (lower is better)"


def lower(measure: str) -> bool:
    """Whether the lower of two scores is the better one; not of a measure that is not known here."""
    try:
        (known,) = parse_measures(measure)
    except (InputError, ValueError):
        return False
    return known.reading.sign < 0


def summary_label(measure: str, summary: str, topics: Collection[int]) -> str:
    """What an axis of summaries is called: what sums up, the measure, over how many topics."""
    low, high = min(topics), max(topics)
    count = f"{high} {plural(high, 'topic')}" if low == high else f"{low} to {high} topics"
    name = {"geometric": "geometric mean"}.get(summary, summary)
    return f"{name} {shown(measure)}, {count}"
