"""Click measures: what a session's clicks say of the list it was shown. Chapelle et al., CIKM 2009, section 6.2."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.clicks.graded_lists import graded_lists
from gradedeval.clicks.log import ClickLog
from gradedeval.errors import InputError, check_choice
from gradedeval.rankings.qrels import Qrels

SS_REL: float = 2
"""The lowest grade with which a click is a success, of the grades 0 to 4."""

_RANK: dict[str, Callable[[tuple[int, ...]], float]] = {
    "qctr": len,
    "uctr": lambda ranks: min(len(ranks), 1),
    "maxrr": lambda ranks: 1 / ranks[0],
    "meanrr": lambda ranks: sum(1 / rank for rank in ranks) / len(ranks),
    "minrr": lambda ranks: 1 / ranks[-1],
    "plc": lambda ranks: len(ranks) / ranks[-1],
}
CLICK_MEASURES = ("qctr", "uctr", "maxrr", "meanrr", "minrr", "ss", "plc")
"""Clicks, any click, largest, mean and smallest 1/rank of the clicks, a click on a document of a high grade, and clicks
over the deepest clicked rank; 0 without a click."""


def per_list(log: ClickLog, name: str, qrels: Qrels | None = None, ss_rel: float = SS_REL) -> Floats:
    """configurations: the mean of a click measure over its sessions; nan where it has none.

    qrels   the grades, for `ss`; ss_rel  the lowest grade that counts there

    Raises InputError (usage) for an unknown measure, and for `ss` without grades.
    """
    check_choice(name, CLICK_MEASURES, "--click-measure")
    values = _successes(log, qrels, ss_rel) if name == "ss" else _by_pattern(log, name)[log.pattern]
    count = np.bincount(log.configuration, log.count, minlength=len(log.topics))
    summed = np.bincount(log.configuration, log.count * values, minlength=len(log.topics))
    mean = np.full(len(count), np.nan)
    np.divide(summed, count, out=mean, where=count > 0)
    return mean


def _by_pattern(log: ClickLog, name: str) -> Floats:
    return np.array([float(_RANK[name](ranks)) if ranks else 0.0 for ranks in log.patterns])


def _successes(log: ClickLog, qrels: Qrels | None, lowest: float) -> Floats:
    """rows: 1 where a document of this grade or a higher one was clicked."""
    if qrels is None:
        raise InputError("ss", "needs the grades of documents", "give qrels", usage=True)
    lists = graded_lists(log, qrels)
    good: Bools = lists.gains((lists.grades >= lowest).astype(np.float64)) > 0
    clicked = good[log.configuration] & log.clicked(good.shape[1])[log.pattern]
    return np.asarray(clicked.any(axis=1), dtype=np.float64)
