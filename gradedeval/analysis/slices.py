"""Comparisons by slice: the topics of each label, and whether a difference depends on the label.

Of slices that are few or small the mean is shown, and nothing is tested.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradedeval.analysis import replicates, score_matrix, significance
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, np
from gradedeval.errors import plural, shorten
from gradedeval.kernel.formats.frames import joined, to_frame
from gradedeval.kernel.scoring.scores import ALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gradedeval.analysis.changes import Sides
    from gradedeval.analysis.score_matrix import Matrix, Paired
    from gradedeval.analysis.significance import TestSettings

LEAST = 5
"""The topics that a slice needs for a test."""
BETWEEN = "between slices: labels permuted over topics"


def columns_of(matrix: Matrix) -> dict[str, dict[str, Bools]]:
    """column -> label -> which topics have it; empty where there are no slices."""
    known = {} if matrix.slices is None else matrix.slices.topics
    return {column: {label: _members(matrix, own) for label, own in of.items()} for column, of in known.items()}


def _members(matrix: Matrix, topics: Collection[str]) -> Bools:
    return np.array([topic in topics for topic in matrix.topics], dtype=bool)


def of_topics(matrix: Matrix, kept: Bools) -> Matrix:
    """The scores on some topics."""
    topics = [topic for topic, keep in zip(matrix.topics, kept.tolist(), strict=True) if keep]
    seeds = None if matrix.seeds is None else of_topics(matrix.seeds, kept)
    arrays: dict[str, Any] = {name: part[:, kept] for name, part in matrix.arrays.items()}
    return replace(matrix, topics=topics, seeds=seeds, **arrays)


def between(differences: Floats, members: Sequence[Bools], draws: int, seed: int) -> Floats | None:
    """Whether the mean difference depends on the label: p of each pair, by permutations of the labels over the topics.

    differences  pairs × topics
    members      for each label, which topics have it

    The statistic is the variance between the means of labels, weighted by their topics. Topics without a label, and
    labels of fewer than `LEAST` topics, are left out. None where fewer than two labels are left, or a topic has two.
    """
    groups = np.array([one for one in members if one.sum() >= LEAST])
    if len(groups) < 2 or (np.sum(members, axis=0) > 1).any():
        return None
    kept = groups.any(0)
    labelled = differences[:, kept] - differences[:, kept].mean(1, keepdims=True)
    label, sizes = groups[:, kept].argmax(0), groups.sum(1)
    observed = _spread(labelled, label[None], sizes)[0]
    rng, beyond, done = np.random.default_rng(seed), np.zeros(len(differences)), 0
    tolerance = TOLERANCE * (1 + observed)
    while done < draws:
        several = min(256, draws - done)
        drawn = rng.permuted(np.broadcast_to(label, (several, len(label))), axis=1)
        beyond += (_spread(labelled, drawn, sizes) >= observed - tolerance).sum(0)
        done += several
    return np.asarray((beyond + 1) / (draws + 1))


def _spread(differences: Floats, labels: Floats, sizes: Floats) -> Floats:
    """draws × pairs: the squared sums of each label over its topics, summed.

    differences  pairs × topics, whose mean is 0
    labels       draws × topics
    """
    spread = np.zeros((len(labels), len(differences)))
    for number, size in enumerate(sizes):
        spread += ((labels == number) @ differences.T) ** 2 / size
    return spread


def p_between(
    paired: Paired, matrix: Matrix, members: Sequence[Bools], first: Ints, second: Ints, settings: TestSettings
) -> Floats | float:
    """p of each pair, that its difference depends on the label; nan where that is not tested."""
    at = np.isin(np.array(matrix.topics, dtype=object), np.array(paired.topics, dtype=object))
    differences = score_matrix.topic_differences(paired.values, first, second)
    found = between(differences, [one[at] for one in members], settings.draws, settings.seed)
    return np.nan if found is None else found


# Changes between two runs, or two systems, by slice: shown, and not tested.

Labels = Mapping[str, Mapping[str, Collection[str]]]
"""column -> label -> its topics."""


def changed(topics: pd.DataFrame, paired: Paired, sides: Sides, labels: Labels) -> pd.DataFrame:
    """A row for each slice that the topics compared have: the columns of `Diff.slices`; empty where there is none.

    topics  rows as of `Diff.topics`, by one measure and of the topics of `paired` in their order
    """
    reading, found = paired.reading, list[dict[str, Any]]()
    before, after, gains = topics["baseline_score"].array, topics["score"].array, topics["difference"].array
    for column, of in labels.items():
        for label, members in of.items():
            own = np.array([topic in members for topic in paired.topics], dtype=bool)
            if not own.any():
                continue
            old, new = (float(reading.summarize(np.asarray(scores[own]))) for scores in (before, after))
            change = np.asarray(gains[own]) * reading.sign
            row = {"measure": paired.measure, "slice": f"{column}={label}", "column": column, "label": label,
                   "topics": int(own.sum()), "baseline_score": old, "score": new, "difference": new - old,
                   "worse": int((change < 0).sum()), "better": int((change > 0).sum())}  # fmt: skip
            if sides.of_seeds:
                by_seed = [reading.summarize(paired.score[runs][:, own])[:, None] for runs in sides.runs]
                row["se"] = float(replicates.difference_errors(*by_seed)[0])
            found.append(row)
    return to_frame({name: [row[name] for row in found] for name in (found[0] if found else ())})


def below(frame: pd.DataFrame, sliced: pd.DataFrame) -> pd.DataFrame:
    """The rows of topics, and below them those of slices, with the column `slice` behind `topic`, which is `all`."""
    counts = dict.fromkeys(("topics", "worse", "better"), "Int64")
    names = [*(name for name in sliced if name not in {*counts, "column", "label"}), *counts, "column", "label"]
    found = joined([frame, sliced[names].astype(counts).assign(topic=ALL)])
    found.insert(list(found).index("topic") + 1, "slice", found.pop("slice"))
    return found


# Families of tests: p over slices × pairs, and between slices over columns × pairs.


def corrected(frame: pd.DataFrame, settings: TestSettings) -> pd.DataFrame:
    """The rows of one measure, p corrected over slices × pairs, and p_between over columns × pairs.

    Tests of all pairs together correct for these: their p is multiplied by the number of slices.
    """
    correction = settings.correction_applied
    if "p" in frame:
        tested = frame["p"].notna().to_numpy()
        p = frame["p"].to_numpy(dtype=float)[tested]
        several = frame["slice"][tested].nunique()
        together = settings.test in significance.NOT_BY_PAIR
        of_slices = np.minimum(p * several, 1) if together else significance.correct_p_values(p, correction)
        frame.loc[tested, "p_corrected"] = of_slices
    of_pair = ["column", "run", "baseline"]
    once = (~frame.duplicated(of_pair) & frame["p_between"].notna()).to_numpy()
    whole = np.full(len(frame), np.nan)
    whole[once] = significance.correct_p_values(frame["p_between"].to_numpy(dtype=float)[once], correction)
    frame = frame.assign(p_between_corrected=whole)
    return frame.assign(
        p_between_corrected=frame.groupby(of_pair, sort=False)["p_between_corrected"].transform("first")
    )


def title(frame: pd.DataFrame, settings: TestSettings) -> str:
    """What the column of p of slices is called."""
    if settings.test in significance.NOT_BY_PAIR:
        return "p (× slices)"
    several = len(frame) > frame["measure"].nunique()
    return f"p ({settings.correction_applied})" if several and settings.correction_applied != "none" else "p"


def sizes(frame: pd.DataFrame) -> pd.Series[int]:
    """How many topics each row is of, with those that a machine alone judged."""
    return frame["topics"] + frame["others"] if "others" in frame else frame["topics"]


def words(frame: pd.DataFrame, settings: TestSettings, topics: Mapping[str, int]) -> list[str]:
    """How slices were tested, and which of them were not.

    topics  measure -> how many topics are compared by it
    """
    few = frame[frame["topics"] < LEAST]["slice"].unique().tolist()
    whole = frame[sizes(frame) == frame["measure"].map(topics)]["slice"].unique().tolist()
    tested = frame["slice"].nunique() - len({*few, *whole})
    said = []
    if tested and settings.test in significance.NOT_BY_PAIR:
        said.append(f"slices: p times {tested}, the number of slices; an interval is of its slice alone")
    elif tested and settings.test != "bayes" and (over := _over(frame, tested, "slice", settings)):
        said.append(f"slices: {over}; an interval is of its slice and pair alone")
    is_between = frame["p_between"].notna()
    if is_between.any():
        over = _over(frame, frame[is_between]["column"].nunique(), "column", settings)
        said.append(f"{BETWEEN}, {settings.draws} draws, seed {settings.seed}" + (f", {over}" if over else ""))
    if few:
        said.append(f"{shorten(few)}: fewer than {LEAST} topics, not tested")
    if whole:
        said.append(f"{shorten(whole)}: all topics, tested above")
    return [" | ".join(said)] if said else []


def _over(frame: pd.DataFrame, count: int, noun: str, settings: TestSettings) -> str:
    """The family that p is corrected over; nothing where there is one test of each measure, or no correction."""
    pairs = len(frame.drop_duplicates(["run", "baseline"]))
    if settings.correction_applied == "none" or count * pairs == 1:
        return ""
    over = f"{count} {plural(count, noun)} × {pairs} {plural(pairs, 'pair')} of each measure"
    return f"{settings.correction_applied} over {over}"
