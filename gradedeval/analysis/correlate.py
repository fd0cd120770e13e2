"""`correlate`: how far measures agree, by the scores of topics or the ordering of runs."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from gradedeval.analysis.score_matrix import Matrix, comparable
from gradedeval.analysis.significance import scipy_stats
from gradedeval.analysis.tables import signature_lines
from gradedeval.arrays import TOLERANCE, Bools, Floats, merge_close
from gradedeval.errors import InputError, check_choice
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_rows, frame_table, to_frame
from gradedeval.measures.properties import Reading
from gradedeval.scoring.scores import Scores
from gradedeval.scoring.summaries import tested

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["pearson", "spearman", "tau", "weighted-tau", "tau-ap"]
KINDS: tuple[Kind, ...] = get_args(Kind)
BY_TOPIC = ("pearson", "spearman")
"""Kinds that compare the scores of (run, topic) pairs; the others compare the orderings of runs, the best first."""
NAMES = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "tau": "Kendall's τ",
    "weighted-tau": "τ weighted by 1/rank",
    "tau-ap": "τ_AP of the column against the row",
}


def correlate(
    scores: Scores | Matrix | pd.DataFrame | str | Path,
    above: Kind = "tau",
    below: Kind = "weighted-tau",
    *,
    allow_mismatch: bool = False,
) -> pd.DataFrame:
    """How far measures agree, pair by pair.

    scores          what `gradedeval.evaluate` returns, or saved scores
    above           kind of agreement above the diagonal of the matrix of measures
    below           kind of agreement below it
    allow_mismatch  compare saved scores of different qrels or options all the same, with a warning

    `pearson` and `spearman` compare the scores of the (run, topic) pairs that both measures have; `tau`, `weighted-tau`
    and `tau-ap` the orderings of runs, the best first, by their means (or totals, or geometric means) over the topics
    that all runs have by both: where lower is better, the lowest is first. Returns a frame with the columns measure
    (the row of the matrix; tau-ap's truth), other (its column), kind, agreement (blank where scores are all the same),
    n (pairs or runs). Raises InputError (usage) for a single measure, or the ordering of a single run; InputError if no
    agreement is defined for any two measures.
    """
    for kind, option in ((above, "--above"), (below, "--below")):
        check_choice(kind, KINDS, option)
    matrix = comparable(scores, allow_mismatch)
    if len(matrix.measures) < 2:
        raise InputError("", "correlate needs at least two measures", "add another -m", usage=True)
    if len(matrix.runs) < 2 and not {above, below} <= set(BY_TOPIC):
        hint = "add a run, or use --above pearson --below spearman"
        raise InputError("", "rank correlation needs at least two runs", hint, usage=True)
    rows = []
    for row, measure in enumerate(matrix.measures):
        for column, other in enumerate(matrix.measures):
            if row != column:
                kind = above if row < column else below
                included = matrix.included[:, :, row] & matrix.included[:, :, column]
                truth, judged = matrix.score[:, :, row], matrix.score[:, :, column]
                readings = matrix.reading(row), matrix.reading(column)
                rows.append((measure, other, kind, *scores_agreement(kind, truth, judged, included, readings)))
    frame = to_frame(rows, columns=["measure", "other", "kind", "agreement", "n"])
    if frame["agreement"].isna().all():
        raise _undefined(matrix, {above, below})
    return frame


def _undefined(matrix: Matrix, kinds: set[Kind]) -> InputError:
    """Why no agreement is defined."""
    if matrix.included.sum(2).max(initial=0) < 2:
        return InputError("", "no (run, topic) pair that two measures have", matrix.hint)
    if not kinds & set(BY_TOPIC) and matrix.included.all(0).sum(1).max(initial=0) < 2:
        return InputError("", f"no topic that all {len(matrix.runs)} runs have by two measures", matrix.hint)
    what = "scores are all the same, or infinite, so no agreement is defined"
    return InputError("", what, "use runs that differ, or other measures")


def agreement(kind: Kind, truth: Floats, scores: Floats) -> float:
    """How far `scores` agree with `truth`, from −1 to 1; nan if either is constant or infinite.

    `pearson` (1895); `spearman` (1904); `tau` (Kendall 1945, τ_b); `weighted-tau` (Vigna, WWW 2015: an exchange of two
    items weighs 1/rank of the one + 1/rank of the other; the mean over the ranks in either list); `tau-ap` (see
    `tau_ap`).
    """
    if len(truth) < 2 or np.ptp(truth) == 0 or np.ptp(scores) == 0 or not np.isfinite([truth, scores]).all():
        return float("nan")
    if kind == "tau-ap":
        return tau_ap(truth, scores)
    stats = scipy_stats()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns of nearly constant lists, and gives the value all the same
        if kind == "weighted-tau":
            return float(stats.weightedtau(truth, scores, rank=True, additive=True).statistic)
        function = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "tau": stats.kendalltau}[kind]
        return float(function(truth, scores).statistic)


def tau_ap(truth: Floats, scores: Floats) -> float:
    """AP correlation: 2/(n−1) Σ_{i≥2} C(i)/(i−1) − 1, C(i) the items above rank i of `scores` that belong there.

    Errors at the top of the ordering by `scores` weigh more. Where items are tied in `scores` it is the mean over all
    their orders; a tie in `truth` is half right. Yilmaz et al., SIGIR 2008; ties as τ_AP,a of Urbano & Marrero, ICTIR
    2017.
    """
    right = (np.sign(truth[:, None] - truth) + 1) / 2  # [i, j]: whether i belongs above j
    above = scores[:, None] > scores
    level = (scores[:, None] == scores) & ~np.eye(len(scores), dtype=bool)
    total = 0.0
    for item in range(len(scores)):
        before, tied = int(above[:, item].sum()), int(level[:, item].sum())
        sure, among = right[above[:, item], item].sum(), right[level[:, item], item].sum()
        # Each place among the tied is as likely; at the m-th of them, m − 1 of the others stand above.
        others = np.arange(tied + 1)
        ahead = before + others
        share = (sure + others / max(1, tied) * among) / np.maximum(1, ahead)
        total += float(share[ahead > 0].sum()) / (tied + 1)
    return 2 * total / (len(scores) - 1) - 1


def scores_agreement(
    kind: Kind,
    truth: Floats,
    scores: Floats,
    included: Bools,
    readings: tuple[Reading, Reading] = (Reading(), Reading()),
) -> tuple[float, int]:
    """The agreement of the scores by two measures, runs × topics, and the number of pairs or runs compared.

    included  runs × topics: which pairs count; orderings use the topics that are included for all runs
    readings  of the two measures, by which runs are ordered
    """
    if kind in BY_TOPIC:
        return agreement(kind, truth[included], scores[included]), int(included.sum())
    shared = np.logical_and.reduce(included, axis=0)
    if not shared.any():
        return float("nan"), len(truth)
    orders = (_order(own[:, shared], reading) for own, reading in zip((truth, scores), readings, strict=True))
    return agreement(kind, *orders), len(truth)


def _order(scores: Floats, reading: Reading) -> Floats:
    """The mean by which each run is ordered, more is better; equal where runs differ in the last bits alone: those
    depend on the order of topics."""
    if not np.isfinite(scores).all():
        return np.full(len(scores), np.inf)
    values = reading.sign * tested(scores, reading.summary)
    return merge_close(np.array([math.fsum(row) / len(row) for row in values.tolist()]), TOLERANCE)


def correlation_settings(frame: pd.DataFrame) -> str:
    """Which kind of agreement stands above the diagonal and which below, and what they are taken over."""
    counts: dict[str, list[int]] = {}
    for row in frame_rows(frame):
        counts.setdefault(row["kind"], []).append(row["n"])
    # The first row stands above the diagonal.
    places = ("above", "below") if len(counts) > 1 else ("off",)
    over = {kind: "(run, topic) pairs" if kind in BY_TOPIC else "runs" for kind in counts}
    return " | ".join(
        f"{place} the diagonal: {NAMES[kind]}, {_extent(numbers)} {over[kind]}"
        for place, (kind, numbers) in zip(places, counts.items(), strict=True)
    )


def correlation_document(frame: pd.DataFrame, matrix: Matrix, settings: str, layout: Layout) -> Document:
    """The result of `correlate`, for people as a matrix."""
    signature = signature_lines(settings, matrix.signature)
    if layout == "long":
        return Document([frame_table(frame)], signature)
    cells = {(row["measure"], row["other"]): row["agreement"] for row in frame_rows(frame)}
    columns = [Column(""), *(Column(name, "score", digits=3) for name in matrix.measures)]
    rows = [[name, *(cells.get((name, other), "—") for other in matrix.measures)] for name in matrix.measures]
    return Document([Table(columns, rows)], signature)


def _extent(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
