"""Side-by-side preferences: of two lists for a topic, which one users want."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.clicks.blocks import small_table_of
from gradedeval.clicks.graded_lists import GradedLists, graded_lists
from gradedeval.clicks.lists import empty_log
from gradedeval.errors import InputError, plural
from gradedeval.rankings.qrels import Qrels

COLUMNS = ("topic", "list_a", "list_b", "sign")
HINT = "expected a header topic, list_a, list_b, sign between tabs; lists are docnos with blanks between them"


@dataclass(frozen=True, eq=False, repr=False)
class Preferences:
    """Pairs of lists, and which is wanted.

    first   the lists named first, and `second` the others
    sign    pairs: 1 where the first is wanted, −1 where the second is
    place   what messages call them
    notes   what was left out
    """

    first: GradedLists
    second: GradedLists
    sign: Floats
    place: str
    notes: Sequence[str]


def read_preferences(source: Any, qrels: Qrels) -> Preferences:
    """The preferences of a file, or of a DataFrame with the same columns. Raises InputError for bad lines, and where no
    pair is left: pairs that are alike to users tell nothing of gains, and an unjudged document has none."""
    table = small_table_of(source, COLUMNS, "preferences", HINT)
    topics, lists, signs = [], list[tuple[str, ...]](), []
    for line, cells in table.rows:
        sign = cells["sign"].strip()
        if sign not in ("1", "+1", "-1", "0"):
            hint = "1 where list_a is wanted, -1 where list_b is, 0 if neither"
            table.problems.add(line, f"sign '{sign}' is not 1, -1 or 0", hint)
            continue
        topics += [cells["topic"].strip()] * 2
        for name in COLUMNS[1:3]:
            docnos = tuple(cells[name].split())
            if again := next((docno for docno in docnos if docnos.count(docno) > 1), None):
                table.problems.add(line, f"'{again}' is twice in {name}", "give each document of a list once")
            lists.append(docnos)
        signs.append(float(sign))
    table.problems.check()
    return _usable(graded_lists(empty_log(topics, lists), qrels), np.array(signs), table.place)


def _usable(lists: GradedLists, sign: Floats, place: str) -> Preferences:
    """The pairs that tell something."""
    first, second = np.arange(0, len(lists.code), 2), np.arange(1, len(lists.code), 2)
    judged = lists.judged[first] & lists.judged[second]
    kept = judged & (sign != 0)
    notes = []
    for number, what in (
        (int((~judged).sum()), "with unjudged documents"),
        (int((judged & (sign == 0)).sum()), "alike"),
    ):
        if number:
            notes.append(f"{place}: {number} {plural(number, 'pair')} {what} left out")
    if not kept.any():
        raise InputError(place, "no pair tells which list is wanted", "; ".join(notes) or HINT)
    return Preferences(lists.select(first[kept]), lists.select(second[kept]), sign[kept], place, notes)
