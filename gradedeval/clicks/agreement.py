"""How well measures of lists agree with what users clicked on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.clicks.click_measures import CLICK_MEASURES, SS_REL, by_configuration, only, relevant_shown, with_lists
from gradedeval.clicks.correlation import paired_correlation, weighted_correlation
from gradedeval.clicks.lists import batch_of
from gradedeval.clicks.log import ClickLog
from gradedeval.clicks.read import read_log
from gradedeval.errors import InputError, check_choice, plural, warn_caller
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_rows, frame_table, joined, to_frame
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.parse import DEFAULT, parse_measures
from gradedeval.options import OF_RUNS, OF_SCORES, OptionKwargs, Options, numbers, refuse_options
from gradedeval.options.presets import resolve_options
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.evaluate import qrels_for
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.signature import signature

if TYPE_CHECKING:
    import pandas as pd

    pass

UNJUDGED = ("drop", "keep")
DECILE = "decile"


@dataclass(frozen=True, eq=False)
class ClickCorrelations:
    """The correlation of measures with click measures.

    frame     a row for each measure and click measure, and each part of the log where it is split: by (the value of the
              column), measure, clicks (the click measure), correlation (nan where one of the two is the same
              everywhere), topics, configurations, sessions
    lists     a row for each configuration, and each part of the log where it is split: by, topic, shown (docnos with
              blanks between them), sessions, then a column for each measure and each click measure. None where pairs
              of engines are correlated
    settings  what it was taken over
    notes     notes for the user
    """

    frame: pd.DataFrame
    lists: pd.DataFrame | None
    settings: str
    notes: list[str]


def correlate(
    log: Any,
    qrels: Any,
    measures: AnyMeasure | Sequence[AnyMeasure] = DEFAULT,
    *,
    by: str | None = None,
    ss_rel: float = SS_REL,
    unjudged: Literal["drop", "keep"] = "drop",
    pairs: int | None = None,
    seed: int = 0,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> ClickCorrelations:
    """Correlate measures of lists with the click measures of their sessions.

    log       as for `read_log`, with the lists; with the columns of `by`
    qrels     as for `evaluate`
    measures  as for `evaluate`. A list is scored as a ranking of its topic, with all that is judged for it
    by        a column of the log, or "decile": topics by their number of sessions, in ten parts; each is correlated
              alone
    ss_rel    the lowest grade that the click measure `ss` counts
    unjudged  "drop" or "keep" lists with a document that is not judged
    pairs     None: configurations are correlated, weighted by sessions. Else so many pairs of simulated engines: of
              each topic that has several lists one shows one, the other another, and their differences are correlated
    seed      of these pairs
    keywords  options of grades and gains, as for `evaluate`. To `depth` lists are cut, those that are shorter left out,
              and clicks below ignored

    Chapelle et al., CIKM 2009, section 6.2, tables 2 to 5 and figure 4; with `pairs` algorithm 3 and table 6. Raises
    InputError as `read_log` and `evaluate` do, and where no configuration is left.
    """
    columns = [by] if by is not None and by != DECILE else []
    refuse_options(keywords, (*OF_RUNS, *OF_SCORES), "click logs")
    options, chosen = resolve_options(like, **keywords), parse_measures(measures)
    if not chosen:
        raise InputError("", "no measure given", "for example 'err ndcg@10'", usage=True)
    judged = qrels_for({}, qrels, options)
    settings = Settings(by, ss_rel, unjudged, pairs, seed)
    found = correlate_log(read_log(log, columns=columns), judged, chosen, options, settings)
    warn_caller(found.notes)
    return found


@dataclass(frozen=True)
class Settings:
    """The keywords of `correlate` that are its own. Raises InputError (usage) for a value that is not allowed."""

    by: str | None = None
    ss_rel: float = SS_REL
    unjudged: str = "drop"
    pairs: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice(self.unjudged, UNJUDGED, "--unjudged")
        numbers.SS_REL.check_field(self, "ss_rel")
        numbers.SEED.check_field(self, "seed")
        numbers.PAIRS.check_field(self, "pairs")
        if self.seed and self.pairs is None:
            raise InputError("--seed", "applies to --pairs", "add them", usage=True)


def correlate_log(
    log: ClickLog, qrels: Qrels, measures: Sequence[Measure], options: Options, settings: Settings
) -> ClickCorrelations:
    """As `correlate`, of what has been read."""
    log = _usable(log, qrels, options, settings)
    scorer = Scorer(qrels, measures, options)
    if types := [measure.label for measure in scorer.measures if measure.types]:
        raise InputError(f"'{types[0]}'", "a click log has no types of documents", "leave it out", usage=True)
    scores = scorer.score_batch(batch_of(log, scorer.grader.qrels)).values[0]
    relevant = relevant_shown(log, qrels, settings.ss_rel)

    rows: list[tuple[Any, ...]] = []
    lists, alone = [], 0
    labels = [measure.label for measure in scorer.measures]
    for part, some in _parts(log, settings.by):
        sessions, clicked = by_configuration(some, relevant)
        here = np.flatnonzero(sessions)
        if settings.pairs is not None:
            kept = _paired(log, here)
            here, alone = here[kept], alone + int((~kept).sum())
        topics, shown = [log.topics[code] for code in here.tolist()], [log.shown[code] for code in here.tolist()]
        found = _correlations(topics, shown, scores[here], clicked[here], sessions[here], settings)
        counts = len(set(topics)), len(here), int(sessions[here].sum())
        for label, row in zip(labels, found.tolist(), strict=True):
            rows += [(part, label, *cell, *counts) for cell in zip(CLICK_MEASURES, row, strict=True)]
        known = {"by": [part] * len(here), "topic": topics, "shown": [" ".join(docnos) for docnos in shown]}
        values = dict(zip([*labels, *CLICK_MEASURES], [*scores[here].T, *clicked[here].T], strict=True))
        lists.append(to_frame({**known, "sessions": sessions[here], **values}))
    columns: dict[str, Any] = dict(zip(["by", *COLUMNS], zip(*rows, strict=True), strict=True))
    frame, each = to_frame(columns), joined(lists)
    counted = [(len(set(log.topics)), 0)]
    said = "\n".join([_said(settings, each), str(signature(qrels, options, scorer.measures, counted))])
    if not settings.by:
        frame, each = (one.drop(columns="by") for one in (frame, each))
    notes = [*log.notes, *scorer.notes]
    if alone:
        what = f"{alone} {plural(alone, 'list')} left out of pairs, for want of another of the same topic"
        notes.append(f"{log.place}: {what}")
    if not frame["configurations"].any():
        raise InputError(log.place, "no topic has two lists to pair", "leave out --pairs", usage=True)
    return ClickCorrelations(frame, each if settings.pairs is None else None, said, notes)


def _paired(log: ClickLog, configurations: Ints) -> Bools:
    """Configurations: whether another of them is of the same topic."""
    topics = [log.topics[code] for code in configurations.tolist()]
    lists = Counter(topics)
    return np.array([lists[topic] > 1 for topic in topics], dtype=bool)


def _correlations(
    topics: Sequence[str], shown: Sequence[Any], scores: Floats, clicked: Floats, sessions: Ints, settings: Settings
) -> Floats:
    """measures × click measures, over lists or pairs of engines."""
    if settings.pairs is None:
        return weighted_correlation(scores, clicked, sessions)
    order = sorted(range(len(topics)), key=lambda row: (topics[row], shown[row]))
    ordered = [topics[row] for row in order]
    return paired_correlation(ordered, scores[order], clicked[order], settings.pairs, settings.seed)


COLUMNS = ("measure", "clicks", "correlation", "topics", "configurations", "sessions")


def _usable(log: ClickLog, qrels: Qrels, options: Options, settings: Settings) -> ClickLog:
    """The log at its depth, of the lists that count. Raises InputError where there are none."""
    log = with_lists(log if options.depth is None else log.cut(options.depth))
    batch = batch_of(log, qrels)
    short = log.lengths < (options.depth or 0)
    strange = np.array([topic not in qrels._row for topic in batch.topics])
    unknown = ~strange & ((batch.codes == batch.unjudged).any(axis=1) & (settings.unjudged == "drop"))
    notes, sessions = list(log.notes), np.bincount(log.configuration, log.count, minlength=len(log.topics))
    for left_out, what in (
        (short, f"with fewer than {options.depth} documents"),
        (strange & ~short, f"of topics that {qrels.place} lacks"),
        (unknown & ~short, "with a document that is not judged (--unjudged keep counts them)"),
    ):
        if left_out.any():
            lists, lost = int(left_out.sum()), int(sessions[left_out].sum())
            counted = f"{lists} {plural(lists, 'list')} ({lost} {plural(lost, 'session')})"
            notes.append(f"{log.place}: {counted} {what} left out")
    kept = ~(short | strange | unknown)
    if not kept.any():
        said = "; ".join(note.partition(": ")[2] for note in notes[len(log.notes) :])
        raise InputError(log.place, f"no list is left: {said}", "give the qrels of its topics, or a smaller --depth")
    return replace(only(log, kept), notes=notes)


def _parts(log: ClickLog, by: str | None) -> Iterator[tuple[str, ClickLog]]:
    """The log, or its parts by a column, in the order of their values, or by the frequency of topics."""
    if by is None:
        yield "", log
    elif by == DECILE:
        topics, of = np.unique(np.array(log.topics, dtype=object).astype(str), return_inverse=True)
        frequency = np.bincount(of[log.configuration], log.count, minlength=len(topics))
        for number, some in enumerate(np.array_split(np.argsort(frequency, kind="stable"), 10), 1):
            if len(some):
                yield str(number), _rows(log, np.isin(of[log.configuration], some))
    else:
        values, codes = log.columns[by]
        for code in sorted(set(codes.tolist()), key=lambda code: _natural(values[code])):
            yield values[code], _rows(log, codes == code)


def _natural(value: str) -> tuple[bool, float, str]:
    """Numbers in their order, and before words."""
    try:
        return False, float(value), value
    except ValueError:
        return True, 0.0, value


def _rows(log: ClickLog, chosen: Any) -> ClickLog:
    """Some sessions of the log; its configurations stay."""
    count, user = log.count[chosen], None if log.user is None else log.user[chosen]
    return replace(
        log, configuration=log.configuration[chosen], pattern=log.pattern[chosen], count=count, user=user, columns={}
    )


def _said(settings: Settings, lists: pd.DataFrame) -> str:
    """What the correlations are taken over, in words; a list may be in several parts of the log."""
    counts = {
        "topic": lists["topic"].nunique(),
        "configuration": len(lists.drop_duplicates(["topic", "shown"])),
        "session": int(lists["sessions"].sum()),
    }
    parts = [
        f"{settings.pairs} pairs of engines, seed {settings.seed}" if settings.pairs else "weighted by sessions",
        *(f"{count} {plural(count, name)}" for name, count in counts.items()),
        *([f"by {settings.by}"] if settings.by else []),
        f"ss from grade {settings.ss_rel:g}",
        *(["unjudged kept"] if settings.unjudged == "keep" else []),
    ]
    return " | ".join(parts)


def click_correlations_document(found: ClickCorrelations, layout: Layout) -> Document:
    """The result of `clicks correlate`, for people with a column for each click measure."""
    if layout == "long":
        return Document([frame_table(found.frame)], found.settings)
    split = "by" in found.frame
    lines: dict[tuple[Any, ...], list[Any]] = {}
    for row in frame_rows(found.frame):
        head = (row["by"], row["measure"], row["configurations"], row["sessions"]) if split else (row["measure"],)
        lines.setdefault(head, []).append("—" if row["correlation"] is None else row["correlation"])
    heads = [Column("by"), Column("measure"), Column("lists", "count"), Column("sessions", "count")]
    columns = [*(heads if split else heads[1:2]), *(Column(name, "score", 3) for name in CLICK_MEASURES)]
    return Document([Table(columns, [[*head, *cells] for head, cells in lines.items()])], found.settings)
