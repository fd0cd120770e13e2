"""The first page of a report: runs × measures, and in words what is not known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gradedeval.analysis.prospects import Prospect, prospect
from gradedeval.analysis.report.findings import Findings
from gradedeval.analysis.significance import TestSettings, p_value
from gradedeval.arrays import TOLERANCE
from gradedeval.errors import plural
from gradedeval.formats import Column
from gradedeval.formats.frames import frame_rows
from gradedeval.measures.definition import Measure
from gradedeval.scoring.scores import Row

SCORE = Column("", "score")


def number(value: float | None, measure: Measure | None = None) -> str:
    """A score as people read it: the totals of counts are whole numbers."""
    counted = measure is not None and measure.definition.summary == "total"
    if value is None or math.isnan(value):
        return ""
    return f"{value:.0f}" if counted and float(value).is_integer() else SCORE.cells([float(value)])[0]


def run_rows(found: Findings) -> list[dict[str, Any]]:
    """A row for each run: its cells, one a measure, and the unjudged documents among its first ranks."""
    summaries = {(row.run, row.measure): row for row in found.scores.rows(by_topic=False)}
    pairs = {(row["run"], row["measure"]): row for row in found.compared.rows}
    columns = []
    for column, measure in enumerate(found.measures):
        rows = [summaries[run, measure.label] for run in found.runs]
        alike = not _differing(found, column)
        scale, best = _scale(rows), _best(rows, found.matrix.reading(column).better) if alike else None
        columns.append(
            [
                _cell(row, measure, pairs.get((row.run, row.measure)), found, scale)
                | {"best": row.score is not None and best is not None and abs(row.score - best) <= TOLERANCE}
                for row in rows
            ]
        )
    top = {row["run"]: row for row in frame_rows(found.unjudged) if row["depth"] == found.settings.at}
    return [
        {
            "name": run,
            "is_baseline": run == found.baseline,
            "cells": [cells[index] for cells in columns],
            "unjudged": f"{top[run]['per_topic']:.1f}",
            "of_all": f"{top[run]['unjudged']} of {top[run]['documents']}",
        }
        for index, run in enumerate(found.runs)
    ]


def _differing(found: Findings, column: int) -> list[int]:
    """How many topics the mean of each run is over, where these are not the same topics; else nothing."""
    included = found.matrix.included[:, :, column]
    return [] if (included == included[0]).all() else included.sum(1).tolist()


def different_topics(found: Findings) -> Iterator[str]:
    """A line for each measure by which the means of runs are over different topics."""
    for column, measure in enumerate(found.measures):
        if counts := _differing(found, column):
            of = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else f"{counts[0]} each"
            what = f"the means are over different topics ({of}), so that none is called the best"
            shared = _on_topics(found, column)
            yield f"{measure.label}: {what}; " + (f"runs are compared{shared}" if shared else "nothing is compared")


def _on_topics(found: Findings, column: int) -> str:
    """Which topics runs are compared on, where it is not all of them."""
    shared, topics = int(found.matrix.included[:, :, column].all(0).sum()), len(found.matrix.topics)
    return f" on the {shared} of {topics} topics that all runs are scored on" if 0 < shared < topics else ""


def _ends(row: Row) -> dict[str, float]:
    """What a bar shows, as far as it is known: the score, the ends of its interval, and what it could be at most."""
    most = None if row.score is None or row.residual is None else row.score + row.residual
    named = {"score": row.score, "low": row.low, "high": row.high, "most": most}
    return {name: value for name, value in named.items() if value is not None and math.isfinite(value)}


def _scale(rows: list[Row]) -> tuple[float, float]:
    """What the bars of a measure begin and end with."""
    ends = [0.0, *(value for row in rows for value in _ends(row).values())]
    low, high = min(ends), max(ends)
    return low, high if high > low else low + 1.0


def _best(rows: list[Row], better: str) -> float | None:
    """The best score; None of a single one, and where neither more nor less is better."""
    scores = [row.score for row in rows if row.score is not None]
    if better == "neither" or len(scores) < 2:
        return None
    return min(scores) if better == "lower" else max(scores)


def _cell(
    row: Row, measure: Measure, pair: dict[str, Any] | None, found: Findings, scale: tuple[float, float]
) -> dict[str, Any]:
    """One score: its text, what marks it, and the bar of its interval and residual, in words too."""
    level = f"{100 * (found.scores.options.interval or 0):.10g}%"
    ends, (low, high) = _ends(row), scale
    words = [number(row.score, measure)]
    if {"low", "high"} <= ends.keys():
        words.append(f"{level} interval {number(ends['low'])} to {number(ends['high'])}")
    if "most" in ends:
        words.append(f"at most {number(ends['most'])} if all that is open had the top grade")
    places = {name: round(100 * (value - low) / (high - low), 2) for name, value in {**ends, "zero": 0.0}.items()}
    cell: dict[str, Any] = {"text": number(row.score, measure), "value": row.score, "words": "; ".join(words)}
    cell["bar"] = dict.fromkeys(("score", "low", "high", "most")) | places
    if pair is not None:
        cell["won"] = _won(pair)
        cell["mark"], cell["tested"] = _mark(pair, found.settings.test)
    return cell


def _won(pair: dict[str, Any]) -> str:
    wins, ties, losses = (pair[name] for name in ("wins", "ties", "losses"))
    return f"–/{ties}/–" if wins is None else f"{wins}/{ties}/{losses}"


def _mark(pair: dict[str, Any], test: TestSettings) -> tuple[str, str]:
    """The mark of a run that differs from the baseline, and how that was found, in words."""
    if test.test == "bayes":
        known = {name: pair[name] for name in ("better", "worse") if pair[name] is not None}
        said = ", ".join(f"P({name}) {value:.4f}" for name, value in known.items())
        return "*" if any(value >= 1 - test.alpha for value in known.values()) else "", said
    p = pair["p_corrected"]
    return ("", "") if p is None else ("*" if p <= test.alpha else "", f"p {p_value(p)}")


def unknowns(found: Findings) -> list[dict[str, Any]]:
    """By measure, whether more judging could reverse the order of each run and the baseline: which pairs keep it, and a
    sentence for each other one, those that are reversed most easily first."""
    parts = []
    for column, measure in enumerate(found.measures):
        own = [row for row in found.compared.rows if row["measure"] == measure.label]
        open_ = [row for row in own if row["conclusive"] is False]
        open_.sort(key=lambda row: (row["flip"] is None, row["flip"] or 0))
        topics = _on_topics(found, column)
        parts.append(
            {
                "measure": measure.label,
                "same": _same_order(own, topics),
                "sentences": [_reversing(row, topics, found.compared.reached) for row in open_],
            }
        )
    return parts


NAMED = 5
"""Up to so many runs are named in a sentence; more are counted."""


def _same_order(own: list[dict[str, Any]], topics: str) -> str:
    """Which pairs keep their order by a measure."""
    if not own:
        return "Not compared: there is no topic that all runs are scored on."
    if all(row["conclusive"] is None for row in own):
        return "This measure has no residual: what unjudged documents could change is not known."
    parts, same = [], [row for row in own if row["conclusive"] is True]
    for sign, order in ((1, "higher than"), (-1, "lower than"), (0, "equal to")):
        runs = [row["run"] for row in same if (row["difference"] > 0) - (row["difference"] < 0) == sign]
        if runs:
            named = ", ".join(runs) if len(runs) <= NAMED else f"{len(runs)} runs"
            parts.append(f"{named} {'is' if len(runs) == 1 else 'are'} {order} {own[0]['baseline']}")
    if not parts:
        return "Judging could reverse every order, or that is not known."
    count = "" if len(own) == 1 else f" ({len(same)} of {len(own)} runs)"
    return f"Same order if fully judged{count}: {'; '.join(parts)}{topics}."


_PROSPECTS: dict[Prospect, str] = {
    "could be reversed": "could be reversed: some judgments do it",
    "could be tied": "could become a tie, and no judgments reverse it",
    "unknown": "is unknown: its bounds leave room for another one, but no judgments were found that lead there",
}


def _reversing(row: dict[str, Any], topics: str, reached: frozenset[str]) -> str:
    """What could reverse the order of a run and the baseline; by measures that are `reached` some judgments lead as far
    as the bounds."""
    run, baseline, difference = row["run"], row["baseline"], row["difference"]
    ahead, behind = (run, baseline) if difference > 0 else (baseline, run)
    pair = f"The order of {ahead} (higher by {abs(difference):.4f}{topics}) and {behind}"
    if difference == 0:
        pair = f"The tie of {run} and {baseline}{topics}"
    if row["flip"] is None:
        return f"{pair} {_PROSPECTS[prospect(row, reached)]}"
    count, of = row["flip"], row["unjudged"]
    are = f"{count:,} of {of:,} unjudged {plural(of, 'document')} {'is' if count == 1 else 'are'} relevant"
    return f"{pair} reverses if {are} (of the top grade), the lowest of them at rank {row['flip_rank']}"


def sizes(found: Findings) -> Iterator[str]:
    """How much there is, for the head of the page."""
    for count, noun in (
        (len(found.runs), "run"),
        (len(found.matrix.topics), "topic"),
        (len(found.measures), "measure"),
    ):
        yield f"{count:,} {plural(count, noun)}"
