"""A table by columns, as far as DataFrames are read: what files of records and objects of other libraries become."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class Column(list[Any]):
    """A column as a DataFrame has it."""

    def tolist(self) -> list[Any]:
        return self


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """A table as a DataFrame shows it: the names of its columns, and the values of each when they are asked for.

    note   what was assumed
    lines  the line of its file that each row stands on; empty where rows are counted
    """

    columns: list[str]
    values: Callable[[str], Iterable[Any]]
    length: int
    note: str = ""
    lines: Sequence[int] = ()

    @classmethod
    def of(cls, values: Mapping[str, Sequence[Any]], lines: Sequence[int] = ()) -> Columns:
        """Columns of equal length that are at hand."""
        return cls(list(values), lambda name: values[name], len(next(iter(values.values()), ())), lines=lines)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, name: str) -> Column:
        return Column(self.values(name))
