"""Comparisons by people's judgments of some topics and a machine's of all: the differences of two runs are estimated
from their differences by topic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from gradedeval.analysis import score_matrix, significance
from gradedeval.analysis.tables import whole
from gradedeval.arrays import Floats, Ints, np
from gradedeval.errors import InputError, Note, flag
from gradedeval.kernel.formats.tables import Column
from gradedeval.kernel.scoring import predicted
from gradedeval.kernel.scoring.predicted import HEAVY, PREDICTED, saved_words, summarized, within
from gradedeval.kernel.scoring.predicted import LEAST as LEAST

if TYPE_CHECKING:
    from gradedeval.analysis.score_matrix import Matrix, Paired
    from gradedeval.analysis.tables import Row, Shown

METHOD = PREDICTED


def check_test(test: str) -> None:
    """Raise InputError (usage) where estimates are to be compared by a test of scores by topic."""
    if test != "randomization":
        what = f"{test} compares scores by topic, and estimates have a test of their own, by Student's t"
        raise InputError(flag.test, what, f"leave out {flag.test} or {flag.predicted}", usage=True)


def summaries(paired: Paired, alpha: float = 0.05) -> dict[str, Floats]:
    """What is known of each run, by the names of columns: nan where topics are too few."""
    machine, others = map(paired.reading.tested, paired.by_machine)
    found = summarized(paired.values, machine, others, paired.reading, alpha)
    return within(found, paired.limits, paired.reading, paired.count)


def differences(paired: Paired, first: Ints, second: Ints, alpha: float) -> dict[str, Floats]:
    """What is known of the difference of each pair, by the names of columns: of geometric means it is a ratio."""
    values = (paired.values, *map(paired.reading.tested, paired.by_machine))
    human, machine, others = (score_matrix.topic_differences(one, first, second) for one in values)
    return summarized(human, machine, others, paired.reading, alpha)


def compared(paired: Paired, first: Ints, second: Ints, settings: significance.TestSettings) -> dict[str, Any]:
    """The columns of a comparison of pairs of runs by one measure, in place of those by people alone.

    The difference of two geometric means is that of their estimates; what is tested is their ratio.
    """
    found, means = differences(paired, first, second, settings.alpha), summaries(paired)["score"]
    by_machine = paired.reading.summarize(np.hstack(paired.by_machine))
    difference, people = found["score"], found["people"]
    if paired.tested == "ratio":
        alone = paired.summaries
        difference, people = means[second] - means[first], alone[second] - alone[first]
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(means[first] == 0, np.nan, difference / np.abs(means[first]))
    return {
        "topics": len(paired.topics),
        "others": paired.by_machine[1].shape[1],
        "mean": means[second],
        "baseline_mean": means[first],
        "difference": difference,
        "relative": relative,
        "people": people,
        "people_low": found["people_low"],
        "people_high": found["people_high"],
        "machine": by_machine[second] - by_machine[first],
        **{name: found[name] for name in ("lambda_", "narrower", "times", "se", "low", "high", "p")},
        "p_corrected": significance.correct_p_values(found["p"], settings.correction_applied),
    }


def heavy_notes(measures: Iterable[Paired], first: Ints, second: Ints, alpha: float) -> list[Note]:
    """Return a note on the differences whose variance is mostly that of a single topic."""
    heavy = list[tuple[str, float, str]]()
    for paired in measures:
        found = differences(paired, first, second, alpha)
        for pair in np.flatnonzero(found["share"] > HEAVY).tolist():
            topic = paired.topics[int(found["farthest"][pair])]
            label = f"{paired.measure}, {paired.runs[second[pair]]} against {paired.runs[first[pair]]}"
            heavy.append((topic, float(found["share"][pair]), label))
    return predicted.heavy_notes(heavy)


# Tables for people.


def columns(matrix: Matrix, interval: Shown) -> Shown:
    """What people see of estimated differences, in place of the column of their intervals."""
    return {
        Column("±", "figures"): _margin,
        **{replace(column, wide=True): value for column, value in interval.items()},
        Column("people", "signed"): whole(matrix, "people", "+"),
        Column("machine", "signed", wide=True): whole(matrix, "machine", "+"),
        Column("λ", "score", digits=2): itemgetter("lambda_"),
        Column("saves", "figures"): _saved,
    }


def _margin(row: Row) -> str | None:
    """Half the interval of a difference, or the factor that a ratio of geometric means may be larger or smaller by."""
    if row["low"] is None:
        return None
    if row["tested"] == "ratio":
        return f"×{(row['high'] / row['low']) ** 0.5:.2f}"
    return f"{(row['high'] - row['low']) / 2:.4f}"


def _saved(row: Row) -> str | None:
    return None if row["times"] is None else saved_words(row["narrower"], row["times"])
