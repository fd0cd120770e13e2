"""What clicks say of a list: the click measures of Chapelle et al., CIKM 2009, section 6.2."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.clicks.items import NO_LIST
from gradedeval.clicks.lists import batch_of
from gradedeval.clicks.log import ClickLog
from gradedeval.clicks.read import read_log
from gradedeval.errors import InputError, check_choice, plural, warn_caller
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_rows, frame_table, to_frame
from gradedeval.options import numbers
from gradedeval.rankings.qrels import Qrels

if TYPE_CHECKING:
    import pandas as pd

CLICK_MEASURES = {
    "qctr": "clicks",
    "uctr": "whether there is a click",
    "maxrr": "1 / the first clicked rank",
    "meanrr": "mean of 1 / clicked ranks",
    "minrr": "1 / the last clicked rank",
    "ss": "whether a click is on a relevant document",
    "plc": "clicks / the last clicked rank",
}
"""Each is worked out for a session, 0 without a click, then averaged over the sessions of a configuration."""

SS_REL: float = 2
"""The lowest grade that search success counts, of 0 to 4: fair and bad are not."""


def measures(log: Any, qrels: Any = None, *, depth: int | None = None, ss_rel: float = SS_REL) -> pd.DataFrame:
    """The click measures of each configuration of a log, which is a topic and the list shown for it.

    log     as for `read_log`, with the lists
    qrels   as for `evaluate`, for search success; None: it is left out
    depth   lists are cut to it, and clicks below ignored
    ss_rel  the lowest grade that search success counts

    The columns are topic, shown (docnos with blanks between them), sessions, then means over these: qctr (clicks), uctr
    (whether there is one), maxrr, meanrr and minrr (of 1 / clicked rank), ss (whether a click is on a document of
    grade `ss_rel` or more) and plc (clicks / last clicked rank), each 0 in a session without a click. Chapelle et al.,
    CIKM 2009, section 6.2. Raises InputError where the log shows no lists. Warns of what was left out.
    """
    judged = qrels if qrels is None or isinstance(qrels, Qrels) else Qrels(qrels)
    found = click_measures(read_log(log, depth=depth), judged, ss_rel)
    warn_caller(found.notes)
    return found.frame


class ClickMeasures(NamedTuple):
    """The frame of `measures`, what it was made of, and notes for the user."""

    frame: pd.DataFrame
    settings: str
    notes: list[str]


def click_measures(log: ClickLog, qrels: Qrels | None, ss_rel: float) -> ClickMeasures:
    """As `measures`, of what has been read."""
    ss_rel = numbers.SS_REL.check(ss_rel)
    log = with_lists(log)
    notes, said = list(log.notes), [f"{log.sessions} sessions", f"{len(log.topics)} configurations"]
    if qrels is None:
        notes.append("ss is left out, which needs qrels")
    else:
        said.append(f"ss from grade {ss_rel:g}")
        unjudged = (batch_of(log, qrels).codes == len(qrels.labels)).any(axis=1)
        if lists := int(unjudged.sum()):
            notes.append(
                f"{log.place}: {lists} {plural(lists, 'list')} with documents that are not judged; clicks on them are "
                "misses to ss"
            )
    sessions, values = by_configuration(log, None if qrels is None else relevant_shown(log, qrels, ss_rel))
    shown: dict[str, Any] = {
        "topic": log.topics,
        "shown": [" ".join(docnos) for docnos in log.shown],
        "sessions": sessions,
    }
    names = [name for name in CLICK_MEASURES if name != "ss" or qrels is not None]
    frame = to_frame(shown | {name: values[:, list(CLICK_MEASURES).index(name)] for name in names})
    return ClickMeasures(frame, " | ".join(said), notes)


def with_lists(log: ClickLog) -> ClickLog:
    """The log without configurations that no session has, or that show no list. Raises InputError where all are so."""
    kept = np.bincount(log.configuration, log.count, minlength=len(log.topics)) > 0
    listed = kept & (log.lengths > 0)
    if not listed.any():
        raise InputError(log.place, *NO_LIST)
    lost = int(log.count[~listed[log.configuration]].sum())
    note = [f"{log.place}: {lost} {plural(lost, 'session')} without a shown list left out"] if lost else []
    return replace(only(log, listed), notes=[*log.notes, *note])


def only(log: ClickLog, chosen: Bools) -> ClickLog:
    """The log of some configurations, and of their sessions."""
    number, rows = np.cumsum(chosen) - 1, chosen[log.configuration]
    kept = np.flatnonzero(chosen).tolist()
    return replace(
        log,
        topics=[log.topics[code] for code in kept],
        shown=[log.shown[code] for code in kept],
        configuration=number[log.configuration[rows]],
        pattern=log.pattern[rows],
        count=log.count[rows],
        user=None if log.user is None else log.user[rows],
        columns={name: (values, codes[rows]) for name, (values, codes) in log.columns.items()},
    )


def relevant_shown(log: ClickLog, qrels: Qrels, rel: float) -> Bools:
    """configurations × ranks: whether the document shown has a grade of `rel` or more. Raises InputError (usage) where
    that is not a number."""
    if rel != rel:
        raise InputError("--ss-rel", "nan is not a grade", "as in --ss-rel 2", usage=True)
    relevant = np.append(qrels.labels >= rel, [False, False])
    return np.asarray(relevant[batch_of(log, qrels).codes])


def of_lists(log: ClickLog, name: str, qrels: Qrels | None = None, ss_rel: float = SS_REL) -> Floats:
    """configurations: the mean of one click measure over their sessions; nan where there is none.

    Raises InputError (usage) for an unknown measure, and for `ss` without grades.
    """
    check_choice(name, tuple(CLICK_MEASURES), "--click-measure")
    if name == "ss" and qrels is None:
        raise InputError("ss", "needs the grades of documents", "give qrels", usage=True)
    relevant = relevant_shown(log, qrels, ss_rel) if name == "ss" and qrels is not None else None
    return by_configuration(log, relevant)[1][:, list(CLICK_MEASURES).index(name)]


def by_configuration(log: ClickLog, relevant: Bools | None = None) -> tuple[Ints, Floats]:
    """configurations: the sessions, and × CLICK_MEASURES their means; nan where there is no session, or `ss` and not
    known what is relevant."""
    configuration, pattern, count = log.totals()
    size = len(log.topics)
    sessions = np.bincount(configuration, count, minlength=size)
    of_row = _of_patterns(log)[pattern]
    of_row[:, list(CLICK_MEASURES).index("ss")] = np.nan if relevant is None else _successes(log, relevant)
    with np.errstate(invalid="ignore"):
        means = [np.bincount(configuration, count * values, minlength=size) / sessions for values in of_row.T]
    return sessions.astype(np.int64), np.array(means).T


def _of_patterns(log: ClickLog) -> Floats:
    """patterns × CLICK_MEASURES, of what depends on nothing else."""
    pattern, rank = log.flat_clicks
    clicks, last = log.clicks, np.maximum(log.last_click, 1)
    first = np.array([ranks[0] if ranks else 1 for ranks in log.patterns], dtype=np.int64)
    some = clicks > 0
    mean = np.bincount(pattern, 1 / rank, minlength=len(clicks)) / np.maximum(clicks, 1)
    none = np.zeros(len(clicks))
    return np.array([clicks, some, some / first, mean, some / last, none, clicks / last], dtype=np.float64).T


def _successes(log: ClickLog, relevant: Bools) -> Floats:
    """Rows of `log.totals()`: whether a click is on a relevant document."""
    configuration, pattern, _ = log.totals()
    made = log.clicks[pattern]
    row = np.repeat(np.arange(len(pattern)), made)
    begin = np.cumsum(log.clicks) - log.clicks
    within = np.arange(len(row)) - np.repeat(np.cumsum(made) - made, made)
    rank = log.flat_clicks[1][begin[pattern[row]] + within]
    hits = np.bincount(row, relevant[configuration[row], rank - 1], minlength=len(pattern))
    return np.asarray(hits > 0, dtype=np.float64)


def click_measures_document(frame: pd.DataFrame, settings: str, layout: Layout) -> Document:
    """The result of `clicks measures`; for people lists are numbered within their topic."""
    if layout == "long":
        return Document([frame_table(frame)], settings)
    names = [name for name in CLICK_MEASURES if name in frame]
    columns = [
        Column("topic"),
        Column("list", "count"),
        Column("sessions", "count"),
        *(Column(n, "score") for n in names),
    ]
    numbers = (frame.groupby("topic", sort=False).cumcount() + 1).tolist()
    rows = [
        [row["topic"], number, row["sessions"], *(row[name] for name in names)]
        for number, row in zip(numbers, frame_rows(frame), strict=True)
    ]
    return Document([Table(columns, rows)], settings)
