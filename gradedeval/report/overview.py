"""The first page of a report: runs × measures, and in words what is not known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gradedeval.analysis.compare import TestSettings
from gradedeval.analysis.frames import frame_rows
from gradedeval.analysis.significance import p_value
from gradedeval.arrays import TOLERANCE
from gradedeval.errors import plural
from gradedeval.formats import Column
from gradedeval.measures.definition import Measure
from gradedeval.report.findings import Findings
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
        scale, best = _scale(rows), _best(rows, found.matrix.reading(column).better)
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
    """The best score; None of a single run, and where neither more nor less is better."""
    scores = [row.score for row in rows if row.score is not None]
    if better == "neither" or len(rows) < 2 or not scores:
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
        words.append(f"at most {number(ends['most'])} if all that is open were relevant")
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
    return "*" if pair["p_corrected"] <= test.alpha else "", f"p {p_value(pair['p_corrected'])}"


def unknowns(found: Findings) -> list[dict[str, Any]]:
    """By measure, what is not known of the order of each run and the baseline: how many pairs are settled, and a
    sentence for each other one, those that turn round most easily first."""
    parts = []
    for measure in found.measures:
        own = [row for row in found.compared.rows if row["measure"] == measure.label]
        if not own:
            continue
        settled = sum(row["conclusive"] is True for row in own)
        open_ = [row for row in own if row["conclusive"] is False]
        open_.sort(key=lambda row: (row["flip"] is None, row["flip"] or 0))
        parts.append(
            {
                "measure": measure.label,
                "settled": _settled(settled, len(own), len(own) - settled - len(open_), str(found.baseline)),
                "sentences": [_turning(row) for row in open_],
            }
        )
    return parts


def _settled(settled: int, pairs: int, without: int, baseline: str) -> str:
    if without == pairs:
        return "This measure has no residual: what unjudged documents could change is not known."
    of = f"{settled} of {pairs} {plural(pairs, 'run')}"
    turn = "is settled: no judgment of unjudged documents could turn it round"
    if settled == pairs:
        return f"The order of {'the run' if pairs == 1 else 'each run'} and {baseline} {turn}."
    return f"The order of {of} and {baseline} {turn}." if settled else "No order is settled."


def _turning(row: dict[str, Any]) -> str:
    """What could turn the order of a run and the baseline round."""
    run, baseline, difference = row["run"], row["baseline"], row["difference"]
    ahead, behind = (run, baseline) if difference > 0 else (baseline, run)
    pair = f"The order of {ahead} (higher by {abs(difference):.4f}) and {behind}"
    if difference == 0:
        pair = f"The tie of {run} and {baseline}"
    if row["flip"] is None:
        if row["unjudged"] is None:
            return f"{pair} is open: unjudged documents, or what lies beyond the end of a run, could turn it round"
        return (
            f"{pair} is open, though not by unjudged documents alone: what lies beyond the end of a run could turn it "
            "round"
        )
    count, of = row["flip"], row["unjudged"]
    were = f"{count} of {of} unjudged {plural(of, 'document')} {'was' if count == 1 else 'were'} judged relevant"
    return f"{pair} could turn if {were}, the lowest of them at rank {row['flip_rank']}"


def sizes(found: Findings) -> Iterator[str]:
    """How much there is, for the head of the page."""
    for count, noun in (
        (len(found.runs), "run"),
        (len(found.matrix.topics), "topic"),
        (len(found.measures), "measure"),
    ):
        yield f"{count:,} {plural(count, noun)}"
