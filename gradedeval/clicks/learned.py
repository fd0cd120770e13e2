"""Gains that were learned from users, and what they must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from gradedeval.arrays import Floats, Ints
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_table, to_frame
from gradedeval.measures.notation import write_value
from gradedeval.options import numbers

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Learned:
    """What was learned from users.

    what      "gain" of grades, "phi" of ranks, or "g" of grades: gains, a utility, or shares of users by threshold
    at        the grades or ranks
    values    of each
    seen      sessions that showed each grade; None where that is not what it was learned from
    score     how well they agree with users, and what that is called; None where that is not what was maximized
    settings  what the values depend on
    notes     what was skipped or assumed
    """

    what: Literal["gain", "phi", "g"]
    at: Sequence[float]
    values: Floats
    settings: str
    seen: Ints | None = None
    score: tuple[str, float] | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each grade or rank: what --gain @FILE or cascade(utility=FILE) reads."""
        at = [int(one) if float(one).is_integer() else one for one in self.at]
        return to_frame({"rank" if self.what == "phi" else "grade": at, self.what: self.values})


@dataclass(frozen=True)
class Shape:
    """What gains must be. Raises InputError (usage) where the top is not above 0.

    free  they may fall with the grade, and a utility may rise with the rank
    zero  grade 0 gains nothing
    top   the largest, where clicks tell gains up to a factor alone
    """

    free: bool = False
    zero: bool = False
    top: float = 1.0

    def __post_init__(self) -> None:
        numbers.TOP_GAIN.check_field(self, "top")


def learned_document(learned: Learned, layout: Layout) -> Document:
    """The result of `clicks gains`."""
    if layout == "long":
        return Document([frame_table(learned.frame)], learned.settings)
    columns = [Column("rank" if learned.what == "phi" else "grade", "figures"), Column(learned.what, "score")]
    rows: list[list[object]] = [[f"{at:g}", float(value)] for at, value in zip(learned.at, learned.values, strict=True)]
    if learned.seen is not None:
        columns.append(Column("seen", "count"))
        for row, seen in zip(rows, learned.seen.tolist(), strict=True):
            row.append(seen)
    said = [f"{learned.score[0]} {learned.score[1]:.4f}"] if learned.score else []
    if learned.what == "g":
        said.append(f"gap(g={write_value(tuple(round(float(value), 4) for value in learned.values))})")
    return Document([Table(columns, rows), *said], learned.settings)
