"""What has to be said of the p values and intervals of comparisons: what an interval is, and where there is nothing to
see."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradedeval.analysis import significance
from gradedeval.analysis.unseen import IF_JUDGED, unseen_notes
from gradedeval.errors import Note, plural

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.score_matrix import Matrix, Paired
    from gradedeval.analysis.significance import TestSettings

CENTRES = {"wilcoxon": "pseudo-median", "sign": "median"}
"""What the interval of a test is of, where that is not the mean."""


def interval_title(settings: TestSettings, pairs: int) -> str:
    """The heading of intervals: their level, what they are of if not of the mean, and whether of each pair alone."""
    centre, alone = CENTRES.get(settings.test), "of this pair alone" if settings.corrects(pairs) else None
    said = [f"of the {centre}" if centre else None, alone]
    return ", ".join([f"{settings.level} interval", *(words for words in said if words)])


def interval_words(frame: pd.DataFrame, settings: TestSettings) -> list[str]:
    """What the intervals of a comparison are; and where p is corrected, how many leave out 0 beside a corrected p above
    the level."""
    pairs = len(frame) // frame["measure"].nunique()
    if settings.test == "bayes":
        return [f"{settings.level} credible interval"]
    if settings.test in significance.NOT_BY_PAIR:
        whose = "Tukey's" if settings.test == "anova" else "by the same ranges"
        return [f"{settings.level} interval: {whose}, of all pairs together"]
    centre = f"{CENTRES[settings.test]}s of differences" if settings.test in CENTRES else "differences"
    said = f"{settings.level} interval: {centre} that the test does not reject"
    if not settings.corrects(pairs):
        return [said]
    count = int(((frame["p"] <= settings.alpha) & (frame["p_corrected"] > settings.alpha)).sum())
    told = f"{count} of {len(frame)} intervals {'leaves' if count == 1 else 'leave'} out 0 where p "
    told += f"({settings.correction_applied}) is above {settings.alpha:g}: an interval is of its pair alone"
    return [f"{said} for this pair alone", *([told] if count else [])]


def unattainable_notes(measures: list[Paired], pairs: int, settings: TestSettings) -> list[str]:
    """A note for measures by which no difference, however large, could be significant with so few draws."""
    causes: dict[tuple[str, str], list[str]] = {}
    for paired in measures:
        topics, runs = len(paired.topics), len(paired.runs)
        if not significance.uses_draws(settings.test, topics, settings.draws, runs):
            continue
        smallest = np.full(pairs, significance.min_p(settings.test, topics, settings.draws, runs))
        p = float(significance.correct_p_values(smallest, settings.correction_applied)[0])
        cause = significance.unattainable(
            settings.alpha, p, settings.test, topics, settings.draws, pairs, settings.correction_applied, runs
        )
        if cause:
            causes.setdefault(cause, []).append(paired.measure)
    return [f"{', '.join(names)}: {what}; {hint}" for (what, hint), names in causes.items()]


def interval_notes(frame: pd.DataFrame, measures: list[Paired], settings: TestSettings) -> list[str]:
    """Notes of the measures by which an interval has no end, and of those by which a pair has no p and no interval."""
    notes, blank = [], frame["low"].isna()
    if names := frame["measure"][blank].unique().tolist():
        count = int(blank.sum())
        what = f"{settings.test} is blank for {count} {plural(count, 'pair')} whose topics all differ alike"
        notes.append(f"{', '.join(names)}: {what}, so that there is no variance; use --test randomization")
    endless = np.isposinf(frame["high"]) | (frame["low"] == np.where(frame["tested"] == "ratio", 0, -np.inf))
    if names := frame["measure"][endless].unique().tolist():
        drawn = any(
            significance.uses_draws(settings.test, len(own.topics), settings.draws, len(own.runs))
            for own in measures
            if own.measure in names
        )
        why = "draws are too few" if drawn else "too few topics"
        why = "too few topics differ, or draws are too few" if settings.test == "bootstrap" else why
        notes.append(f"{', '.join(names)}: {plural(len(frame), 'interval')} with no end at {settings.level}: {why}")
    return notes


def order_notes(frame: pd.DataFrame, matrix: Matrix) -> list[str]:
    """What is taken for granted where a comparison says whether judging could reverse an order."""
    return [*unseen_in(frame, matrix), *later_topics(frame, matrix)]


def unseen_in(frame: pd.DataFrame, matrix: Matrix, column: str = "conclusive") -> list[Note]:
    """That no unjudged document is relevant which neither of two runs retrieved, where the column says whether judging
    could reverse an order."""
    known = frame["measure"][frame[column].notna()].unique().tolist()
    notations = [(name, matrix.notations[matrix.measure_index(name)]) for name in known]
    return unseen_notes(notations, matrix.scores.options if matrix.scores else None)


def later_topics(frame: pd.DataFrame, matrix: Matrix) -> list[str]:
    """That further judgments may bring in other topics."""
    chosen = matrix.scores.options.topics_judged_later if matrix.scores else ""
    return [f"{IF_JUDGED}: orders are of the {chosen}"] if chosen and frame["conclusive"].notna().any() else []
