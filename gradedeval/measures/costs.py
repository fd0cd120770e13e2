"""What it costs to look at a document: a file that gives each type, column 2 of a run, its cost."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass

from gradedeval.errors import InputError, reason


@dataclass(frozen=True, eq=False)
class Costs:
    """The cost of a document of each type, in any unit: seconds, characters, documents. `of`: type -> cost, above 0.

    Raises InputError where a cost is not a finite number above 0.
    """

    of: Mapping[bytes, float]
    place: str = "costs"

    def __post_init__(self) -> None:
        if not self.of:
            raise InputError(self.place, "has no costs", "add a line for each type, as in `video 30`")
        for name, cost in self.of.items():
            if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 < cost < math.inf:
                what = f"cost {cost!r} of type '{_text(name)}' is not a finite number above 0"
                raise InputError(self.place, what, "every cost must be above 0")

    @property
    def digest(self) -> str:
        """Six digits that tell one table of costs from another."""
        from hashlib import sha256

        lines = sorted(b"%b %b" % (name, repr(float(cost)).encode()) for name, cost in self.of.items())
        return sha256(b"\n".join(lines)).hexdigest()[:6]


def read_costs(path: str | os.PathLike[str]) -> Costs:
    """Costs from a file with lines of `type cost`, separated by blanks; `#` begins a comment line.

    Raises InputError where it cannot be read, or a line is no type with its cost.
    """
    place = os.fspath(path)
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError as error:
        raise InputError(place, f"cannot be read ({reason(error)})", "a cost file has lines of `type cost`") from None
    if lines[0].startswith(b"\xef\xbb\xbf"):
        raise InputError(f"{place}:1", "begins with a byte order mark", "save the file as UTF-8 without one")
    of: dict[bytes, float] = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or line.startswith(b"#"):
            continue
        try:
            name, cost = words[0], float(words[1])
        except (IndexError, ValueError):
            cost = math.nan
        if len(words) != 2 or not 0 < cost < math.inf or b"_" in words[1]:
            what = f"'{_text(line.strip())}' is no type with a cost above 0"
            raise InputError(f"{place}:{number}", what, "as in `video 30`")
        if name in of:
            raise InputError(f"{place}:{number}", f"type '{_text(name)}' again", "give each type one cost")
        of[name] = cost
    return Costs(of, place)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
