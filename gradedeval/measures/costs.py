"""What it costs to view a document: a file gives each document type (column 2 of a run) a cost."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass

from gradedeval.errors import InputError
from gradedeval.trec.lines import decode, encode


@dataclass(frozen=True, eq=False, repr=False)
class Costs:
    """The cost of a document of each type, in any unit: seconds, characters, documents. `of`: type -> cost, above 0.

    Raises InputError where a cost is not a finite number above 0.
    """

    of: Mapping[bytes, float]
    place: str = "costs"

    def __post_init__(self) -> None:
        if not self.of:
            raise InputError(self.place, "has no costs", "expected a line for each type, such as 'video 30'")
        for name, cost in self.of.items():
            if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 < cost < math.inf:
                what = f"cost {cost!r} of type '{decode(name)}' is not a finite number above 0"
                raise InputError(self.place, what, "every document costs something")

    @property
    def digest(self) -> str:
        """Six hexadecimal digits that change with any cost."""
        from hashlib import sha256

        lines = sorted(b"%b %b" % (name, repr(float(cost)).encode()) for name, cost in self.of.items())
        return sha256(b"\n".join(lines)).hexdigest()[:6]


def read_costs(path: str | os.PathLike[str]) -> Costs:
    """Costs from a file with lines of `type cost`.

    Raises InputError where it cannot be read, a line is not a type with its cost, or a type has two costs.
    """
    from gradedeval.trec.small_tables import small_table  # few evaluations need a table

    table = small_table(path, ("type", "cost"), hint="expected lines such as 'video 30'", words=True)
    costs: dict[bytes, float] = {}
    for row in table.rows:
        cost = costs[encode(row.cells["type"])] = table.number(row, "cost")
        if cost <= 0:
            table.problems.add(row.line, f"cost {row.cells['cost']} is not above 0", "every document costs something")
    table.check([row.cells["type"] for row in table.rows], ("type",))
    return Costs(costs, table.place)
