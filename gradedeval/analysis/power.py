"""`power`: how many pairs of runs a measure tells apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.analysis.resampling import studentized
from gradedeval.analysis.score_matrix import Matrix, Paired, comparable, run_pairs, shared_topics, topic_differences
from gradedeval.analysis.tables import Row, Shown, frame_document, ratio, same, signature_lines
from gradedeval.arrays import TOLERANCE
from gradedeval.errors import InputError
from gradedeval.formats import Column, Document, Layout
from gradedeval.formats.frames import joined, to_frame
from gradedeval.formats.notebook import InNotebook
from gradedeval.options import numbers
from gradedeval.options.numbers import MOST_DRAWS
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.scoring.scores import Scores
from gradedeval.scoring.summaries import of_mean

if TYPE_CHECKING:
    import pandas as pd


NEEDED = "by the sample at that level (Sakai 2006, figure 5), the largest of all pairs"


@dataclass(frozen=True, eq=False)
class Power(InNotebook, document="analysis.power.power_document"):
    """The discriminative power of measures.

    frame     a row for each measure: measure, runs, topics, pairs, significant (pairs with a level below alpha), power
              (their share), needed (Sakai's estimate of the difference that is significant: the largest of all pairs),
              tested (`difference` of means or totals, or `ratio` of geometric means, which needed is)
    curve     a row for each measure and pair, from the highest level to the lowest: measure, pair (its number from 1),
              run, other, difference (or ratio), level, needed, tested
    settings  draws, alpha and seed

    The difference needed of a pair is |mean| of the bootstrap sample whose |t| is the (alpha · draws)-th largest
    (Sakai, SIGIR 2006, figure 5). It goes by the deviation of that sample, and not by the standard error of the pair.
    """

    frame: pd.DataFrame
    curve: pd.DataFrame
    settings: str


def power(
    scores: Scores | Matrix | pd.DataFrame | str | Path,
    *,
    draws: int = 1000,
    alpha: float = 0.05,
    seed: int = 0,
    best: int | None = None,
    allow_mismatch: bool = False,
    progress: Progress = no_progress,
) -> Power:
    """The share of pairs of runs that each measure finds significantly different, by Sakai's paired bootstrap test.

    scores          what `gradedeval.evaluate` returns, or saved scores; each measure uses the topics that all runs
                    have
    draws           bootstrap samples of the topics, the same for all pairs and measures
    alpha           significance level
    seed            of the random draws
    best            only the runs that are the best by each measure's own mean, total or geometric mean
    allow_mismatch  compare saved scores of different qrels or options all the same, with a warning

    Raises InputError (usage) for fewer than two runs, or too few draws for alpha, and InputError if a measure has a
    single topic. Sakai, SIGIR 2006; used by Robertson et al., SIGIR 2010, section 4.2.
    """
    draws, alpha, seed = numbers.DRAWS.check(draws), numbers.ALPHA.check(alpha), numbers.SEED.check(seed)
    if draws * alpha < 1 - TOLERANCE:
        what = f"with {draws} draws only a level of 0 is below {alpha:g}"
        hint = f"use {math.ceil(min(1 / alpha, MOST_DRAWS) - TOLERANCE)} or more for --alpha {alpha:g}"
        if 1 / alpha > MOST_DRAWS:
            hint = f"use an --alpha of {1 / MOST_DRAWS:g} or more"
        raise InputError("--draws", what, hint, usage=True)
    matrix = comparable(scores, allow_mismatch)
    best = numbers.BEST.check_or_none(best)
    if len(matrix.runs) < 2:
        raise InputError("", "power needs at least two runs", "add a run", usage=True)
    rows, curves = [], []
    for measure in matrix.comparable_measures():
        paired = shared_topics(matrix, measure)
        paired = matrix.select(runs=_best(paired, best)).paired(measure)
        curve = to_frame(_levels(paired, draws, alpha, seed, progress))
        curves.append(curve)
        rows.append(_row(paired, curve, alpha))
    settings = (
        f"paired bootstrap, studentized, {draws} draws, alpha {alpha:g}, seed {seed} | difference needed: {NEEDED}"
    )
    settings += "" if best is None else f" | the best {min(best, len(matrix.runs))} runs by each measure"
    return Power(to_frame(rows), joined(curves), settings)


def _best(paired: Paired, best: int | None) -> Sequence[str]:
    order = np.argsort(-paired.reading.sign * paired.summaries, kind="stable")[:best]
    return paired.runs if best is None else [paired.runs[index] for index in sorted(order.tolist())]


def _levels(paired: Paired, draws: int, alpha: float, seed: int, progress: Progress) -> dict[str, Any]:
    first, second = run_pairs(len(paired.runs))
    differences = topic_differences(paired.values, first, second)
    level, needed = studentized(differences, draws, seed, alpha, progress)
    topics, summary = len(paired.topics), paired.reading.summary
    order = np.argsort(-level, kind="stable")
    names = np.array(paired.runs, dtype=object)
    return {
        "measure": paired.measure,
        "pair": np.arange(1, len(order) + 1),
        "run": names[second[order]],
        "other": names[first[order]],
        "difference": of_mean(differences.mean(1), topics, summary)[order],
        "level": level[order],
        "needed": of_mean(needed, topics, summary)[order],
        "tested": paired.tested,
    }


def _row(paired: Paired, curve: pd.DataFrame, alpha: float) -> dict[str, Any]:
    significant = int((curve["level"] < alpha).sum())
    counts = {"runs": len(paired.runs), "topics": len(paired.topics), "pairs": len(curve), "significant": significant}
    found = {"needed": curve["needed"].max(), "tested": paired.tested}
    return {"measure": paired.measure, **counts, "power": significant / len(curve), **found}


def power_document(result: Power, layout: Layout, signature: str = "") -> Document:
    """The result of `power`."""
    counts = (Column(name, "count") for name in ("runs", "topics", "pairs", "significant"))
    shown: Shown = {
        **same(Column("measure"), *counts, Column("power", "share")),
        Column("difference needed", "score"): _needed,
    }
    return frame_document(result.frame, layout, shown, signature_lines(result.settings, signature))


def _needed(row: Row) -> Any:
    return ratio(row["needed"]) if row["tested"] == "ratio" else row["needed"]
