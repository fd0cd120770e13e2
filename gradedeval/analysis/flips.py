"""How many unjudged documents of the run behind would have to be relevant to reverse the order of two runs."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradedeval.analysis.completions.reread import Reread
from gradedeval.analysis.score_matrix import Paired
from gradedeval.analysis.unjudged import Judged, judge
from gradedeval.arrays import TOLERANCE, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("flip", "unjudged", "flip_share", "flip_rank")
SORTED = 512
"""How many of the best documents are sorted first: as a rule they suffice."""
TRIES = 2
"""How many smaller numbers are tried where one has been found that suffices."""


class Flip(NamedTuple):
    """What reverses an order: so many `documents` of all `unjudged` ones that the measure looks at, down to some
    `rank`; nan where not even all of them do."""

    documents: float
    unjudged: int
    rank: float


Asked = tuple[str, str, Paired, float]
"""The run behind, the run ahead, their scores, and by how much the sum of the first must rise above the other's."""

Search = Generator[tuple[Ints, Judged, Judged], float, Flip | None]


class Judging:
    """The runs of an evaluation, to see what judging their documents could do."""

    def __init__(self, reread: Reread) -> None:
        self.reread = reread
        self.judged: dict[tuple[str, str], Judged | None] = {}
        self.by_rank: dict[str, dict[bytes, Floats]] = {}

    def flips(self, asked: Sequence[Asked]) -> list[Flip | None]:
        """What reverses the order of two runs, by documents of the run behind, for each pair; None where one of them
        cannot be read again as it was scored, or where nothing was found."""
        searches: list[Search | None] = []
        for run, ahead, paired, needed in asked:
            behind, other = self._judged(run, paired), self._judged(ahead, paired)
            searches.append(None if behind is None or other is None else _search(behind, other, needed))
        return _side_by_side(searches)

    def _judged(self, run: str, paired: Paired) -> Judged | None:
        key = (run, paired.measure)
        if key not in self.judged:
            self.judged[key] = self._judge(run, paired)
        return self.judged[key]

    def _judge(self, run: str, paired: Paired) -> Judged | None:
        parts = self.reread.parts(run, paired.topics)
        if parts is None:
            return None
        row = {name: row for row, name in enumerate(name for part in parts for name in part.names)}
        by_rank = self.by_rank.setdefault(paired.measure, {})
        judged = judge(self.reread.scorer, self.reread.column[paired.measure], parts, by_rank)
        scored = paired.values[paired.runs.index(run)]
        same = np.allclose(judged.base[[row[topic] for topic in paired.topics]], scored, rtol=1e-9, atol=1e-9)
        return judged if same else None


def _side_by_side(searches: Sequence[Search | None]) -> list[Flip | None]:
    """What searches find. All go on at the same time, so that what they ask of a run is scored in one go."""
    found: list[Flip | None] = [None] * len(searches)
    answers: dict[int, Any] = {number: None for number, search in enumerate(searches) if search is not None}
    while answers:
        asked: dict[Judged, list[tuple[int, int, Ints]]] = {}
        for number, answer in answers.items():
            search = searches[number]
            assert search is not None
            try:
                chosen, behind, ahead = search.send(answer)
            except StopIteration as done:
                found[number] = done.value
                continue
            asked.setdefault(behind, []).append((number, 1, chosen))
            asked.setdefault(ahead, []).append((number, -1, chosen))
        answers = {}
        for judged, questions in asked.items():
            rises = judged.rises([chosen for _, _, chosen in questions])
            for (number, sign, _), rise in zip(questions, rises, strict=True):
                answers[number] = answers.get(number, 0.0) + sign * rise
    return found


def _search(behind: Judged, ahead: Judged, needed: float) -> Search:
    """Asks by how much more the run behind rises than the run ahead where some documents are relevant, by number, and
    is told.

    The documents that raise the run behind most and the run ahead least are taken until the order is reversed. Where
    what a document adds depends on its rank alone, that is the fewest. Elsewhere both runs are scored again with the
    documents, and more are taken until it really is reversed.
    """
    unjudged, bounded = len(behind.number), behind.bounded or ahead.bounded
    reach = float((behind.most - behind.base).sum())
    if behind.fixed is not None and ahead.fixes is not None and not bounded:
        reach = float(np.maximum(_net(behind, behind.fixed, ahead.fixes), 0).sum())
    if reach <= needed:
        return Flip(np.nan, unjudged, np.nan)

    def found(chosen: Ints) -> Flip:
        return Flip(len(chosen), unjudged, int(behind.rank[chosen].max()))

    if behind.fixed is not None and ahead.fixes is not None:
        order, rises, _ = _best(behind, behind.fixed, ahead.fixes, needed)
        chosen = order[: int(np.searchsorted(rises, needed, side="right")) + 1]
        if len(chosen) and rises[len(chosen) - 1] > needed:
            if not bounded:
                return found(chosen)
            rise = yield behind.number[chosen], behind, ahead
            if rise > needed:
                return found(chosen)
    order, rises, complete = _best(behind, behind.weight, ahead.weights, needed)
    few, many, target = 0, 0, needed
    while few < len(rises):
        if not complete and target >= rises[-1]:
            order, rises, complete = _best(behind, behind.weight, ahead.weights, target)
        many = min(len(rises), max(few + 1, int(np.searchsorted(rises, target, side="right")) + 1))
        reached = yield behind.number[order[:many]], behind, ahead
        if reached > needed:
            break
        few, target = many, float(rises[many - 1]) + 1.2 * (needed - reached)
    else:
        return None
    for _ in range(TRIES):
        less = min(many - 1, int(np.searchsorted(rises, rises[many - 1] - 0.9 * (reached - needed))))
        if less <= few:
            break
        reached_then = yield behind.number[order[:less]], behind, ahead
        if reached_then <= needed:
            break
        many, reached = less, reached_then
    return found(order[:many])


def _net(behind: Judged, weight: Floats, of_ahead: Floats) -> Floats:
    """What each unjudged document of the run behind adds to it, less what it adds to the run ahead.

    of_ahead  number of a document -> its weight in the run ahead
    """
    net: Floats = weight - of_ahead[np.minimum(behind.number, len(of_ahead) - 1)]
    return net


def _best(behind: Judged, weight: Floats, of_ahead: Floats, reach: float) -> tuple[Ints, Floats, bool]:
    """The documents that lift the run behind above the run ahead, the best first, and the sums of what they do: so many
    that these pass `reach`, and whether they are all there are."""
    net = _net(behind, weight, of_ahead)
    lifting = np.flatnonzero(net > 0)  # by topic and rank
    count, every = SORTED, net[lifting]
    while True:
        few = count < len(lifting)
        some = lifting[every >= np.partition(every, -count)[-count]] if few else lifting
        order = some[np.argsort(-net[some], kind="stable")]
        rises = np.cumsum(net[order])
        if len(some) == len(lifting) or rises[-1] > reach:
            return order, rises, len(some) == len(lifting)
        count *= 8


def flip_columns(frame: pd.DataFrame, measures: Mapping[str, Paired], reread: Reread | None) -> dict[str, Any]:
    """The columns flip, unjudged, flip_share and flip_rank of a comparison, None where blank: what would reverse the
    order of the pairs that are not conclusive.

    measures  name -> the scores that are compared
    reread    the runs that they are of, where it is known what judging would do to them
    """
    columns: dict[str, list[Any]] = {name: [None] * len(frame) for name in COLUMNS}
    if reread is None:
        return columns
    rows = sorted(_behind(frame, reread))
    listed = {name: frame[name].tolist() for name in ("run", "baseline", "measure", "difference")}
    asked: list[Asked] = []
    for run, row in rows:
        paired, difference = measures[listed["measure"][row]], listed["difference"][row]
        values = paired.values[[paired.runs.index(listed[name][row]) for name in ("run", "baseline")]]
        needed = 0.0 if difference == 0 else abs(float((values[0] - values[1]).sum()))
        ahead = listed["baseline" if listed["run"][row] == run else "run"][row]
        asked.append((run, ahead, paired, needed + TOLERANCE * len(paired.topics)))
    for (_, row), found in zip(rows, Judging(reread).flips(asked), strict=True):
        if found is None or not (
            columns["unjudged"][row] is None or found.documents < (columns["flip"][row] or math.inf)
        ):
            continue
        columns["unjudged"][row] = found.unjudged
        if not math.isnan(found.documents):
            columns["flip"][row], columns["flip_rank"][row] = found.documents, found.rank
            columns["flip_share"][row] = found.documents / found.unjudged
    return columns


def _behind(frame: pd.DataFrame, reread: Reread) -> Iterator[tuple[str, int]]:
    """The run behind and the row of each pair whose order may be reversed; both runs where they are equal."""
    columns = [frame[name].tolist() for name in ("run", "baseline", "difference")]
    for row in np.flatnonzero(frame["conclusive"].eq(False)).tolist():
        run, baseline, difference = (column[row] for column in columns)
        for name, behind in ((run, difference <= 0), (baseline, difference >= 0)):
            if behind and name in reread.sources:
                yield name, row
