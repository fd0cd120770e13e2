"""Comparisons of pairs of runs by a measure: differences, tests, intervals, and possible effects of judging on their
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

from gradedeval.analysis import difference_bounds, replicates, reversal_search, reversals, score_matrix, significance
from gradedeval.analysis.tables import Row, total_formatter
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, np
from gradedeval.errors import InputError, Note, emit_notes, flag, plural
from gradedeval.kernel.formats.tables import Column
from gradedeval.kernel.scoring.predicted import HEAVY, PREDICTED, saved_words, summarized, within
from gradedeval.kernel.scoring.predicted import LEAST as LEAST
from gradedeval.kernel.scoring.results import joined, to_frame

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.reversals import RereadRuns
    from gradedeval.analysis.score_matrix import Matrix, Paired
    from gradedeval.analysis.significance import TestSettings
    from gradedeval.analysis.tables import DisplayColumns


# By one measure: a row for each pair.


MAX_PAIRS = 1 << 14
"""Maximum pairs with differences by topic in memory, if each pair is tested by itself."""


def comparison_frame(
    paired: Paired, first: Ints, second: Ints, settings: TestSettings, reread: RereadRuns | None, **options: Any
) -> pd.DataFrame:
    """Return the rows of a comparison by one measure; `options` are the keywords of `_columns`."""
    apart = settings.test not in significance.SIMULTANEOUS and reread is None
    step = MAX_PAIRS if apart else max(len(first), 1)
    parts = [slice(begin, begin + step) for begin in range(0, len(first), step)]
    frames = [to_frame(_columns(paired, first[part], second[part], settings, reread, **options)) for part in parts]
    if len(frames) == 1:
        return frames[0]
    frame = joined(frames)
    if "p" in frame:
        tested = replicates.are_tested(frame) if "df" in frame else np.full(len(frame), True)
        frame.loc[tested, "p_corrected"] = significance.correct_p_values(
            frame["p"].to_numpy()[tested], settings.correction_applied
        )
    return frame


def _columns(
    paired: Paired,
    first: Ints,
    second: Ints,
    settings: TestSettings,
    reread: RereadRuns | None,
    *,
    tests: bool = True,
    judging: bool = True,
    seeds: Matrix | None = None,
) -> dict[str, Any]:
    """Return the columns of a comparison by one measure; `seeds` are the runs of systems."""
    summary, summaries = paired.reading.summary, paired.summaries
    differences = score_matrix.topic_differences(paired.values, first, second)
    difference = paired.reading.summarize(differences)
    if summary == "geometric":
        difference = np.where(differences.any(1), summaries[second] - summaries[first], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(summaries[first] == 0, np.nan, difference / np.abs(summaries[first]))
    names = np.array(paired.runs, dtype=object)
    inferred = _system_columns(paired, seeds, first, second, settings) if seeds is not None else {}
    if paired.machine is not None:
        inferred = estimate_comparison(paired, first, second, settings)
    if not tests:
        of_test = ("better", "equivalent", "worse") if settings.test == "bayes" else ("p", "p_corrected")
        inferred |= dict.fromkeys(("low", "high", *of_test), np.nan)
    elif seeds is None and paired.machine is None:
        inferred = _inference(paired, differences, settings)
    return {
        "measure": paired.measure,
        "run": names[second],
        "baseline": names[first],
        "topics": len(paired.topics),
        "mean": summaries[second],
        "baseline_mean": summaries[first],
        "difference": difference,
        "relative": relative,
        **paired.wins(score_matrix.topic_differences(paired.score, first, second)),
        "effect": significance.effect_size(differences),
        **inferred,
        **(_judging_columns(paired, difference, first, second, reread) if judging else {}),
        "tested": paired.tested,
    }


def _system_columns(paired: Paired, seeds: Matrix, first: Ints, second: Ints, settings: TestSettings) -> dict[str, Any]:
    """Return the columns of systems, with p and interval by the mixed model."""
    columns = replicates.compare_systems(paired, seeds, first, second, settings.alpha)
    tested = replicates.have_enough_seeds(columns["seeds"], columns["baseline_seeds"])
    corrected = np.full(len(first), np.nan)
    corrected[tested] = significance.correct_p_values(columns["p"][tested], settings.correction_applied)
    return {**columns, "p_corrected": corrected}


def _inference(paired: Paired, differences: Floats, settings: TestSettings) -> dict[str, Floats]:
    """Return the interval of each pair, and its p or posterior probabilities."""
    if settings.test == "bayes":
        columns = _posterior(paired, differences, settings)
    else:
        p, low, high = significance.run_test(paired, differences, settings)
        corrected = significance.correct_p_values(p, settings.correction_applied)
        columns = {"low": low, "high": high, "p": p, "p_corrected": corrected}
    ends = {end: paired.reading.of_mean(columns[end], len(paired.topics)) for end in ("low", "high")}
    return {**columns, **ends}


def _posterior(paired: Paired, differences: Floats, settings: TestSettings) -> dict[str, Floats]:
    """Return posterior probabilities, with the rope on the scale of the summary."""
    rope = settings.rope_applied / (len(paired.topics) if paired.reading.summary == "total" else 1)
    columns = significance.posterior(differences, rope, settings.alpha)
    if paired.reading.better == "lower":
        columns |= {"better": columns["worse"], "worse": columns["better"]}
    if paired.reading.better == "neither":
        columns |= dict.fromkeys(("better", "worse"), np.full(len(differences), np.nan))
    return columns


def _judging_columns(
    paired: Paired, difference: Floats, first: Ints, second: Ints, reread: RereadRuns | None
) -> dict[str, Floats | list[bool | None]]:
    """Return the lowest and highest possible differences, and whether judging keeps the order."""
    lowest, highest = difference_bounds.difference_bounds(paired, first, second, reread)
    residuals, rises = paired.residuals, difference_bounds.never_falls(paired.measure, reread)
    same_order = difference_bounds.same_order(
        difference, (residuals[first], residuals[second]), (lowest, highest), rises
    )
    return {"lowest": lowest, "highest": highest, "same_order": same_order}


# By slices: the topics of each label, and whether a difference depends on the label. For few or small slices the mean
# is shown, and nothing is tested.


LEAST_LABELLED = 5
"""The topics that a slice needs for a test."""


def sliced_frame(matrix: Matrix, first: Ints, second: Ints, settings: TestSettings) -> pd.DataFrame | None:
    """Compare pairs of runs on the topics of each slice; None without slices. The columns are the columns of `compare`
    without judging, and slice (as in `intent=head`), its column and label, p_between (whether the difference depends on
    the label) and p_between_corrected. p is corrected over slices × pairs of a measure, p_between over columns × pairs.
    Slices of fewer than five topics, and of all, have neither p nor interval."""
    frames: list[pd.DataFrame] = []
    by_column = matrix.labelled
    for measure in matrix.comparable_measures() if by_column else ():
        of_measure = []
        for column, members in by_column.items():
            of_all = matrix.paired(measure)
            p: Floats | float = np.nan
            if matrix.machine is None:  # people's topics alone would tell less than the estimates
                p = _p_between(of_all, matrix, [*members.values()], first, second, settings)
            for label, kept in members.items():
                slice_matrix = matrix.of_topics(kept)
                if not slice_matrix.shared(measure).any():
                    continue
                paired = slice_matrix.paired(measure)
                tests = len(paired.topics) >= LEAST_LABELLED and paired.count < of_all.count
                frame = comparison_frame(
                    paired, first, second, settings, None, tests=tests, judging=False, seeds=slice_matrix.seeds
                )
                labels = {"slice": f"{column}={label}", "column": column, "label": label, "p_between": p}
                of_measure.append(frame.assign(**labels))
        frames += [_correct_slices(joined(of_measure), settings)] if of_measure else []
    return joined(frames) if frames else None


def label_p_values(differences: Floats, members: Sequence[Bools], draws: int, seed: int) -> Floats | None:
    """Return p of each pair for a mean difference that depends on the label, by permutations of labels over topics.

    The statistic is the variance between the means of labels, weighted by their topics. Topics without a label, and
    labels of fewer than `LEAST_LABELLED` topics, are left out. None if fewer than two labels remain, or a topic has
    two.

    differences  pairs × topics
    members      per label: the mask of its topics
    """
    groups = np.array([mask for mask in members if mask.sum() >= LEAST_LABELLED])
    if len(groups) < 2 or (np.sum(members, axis=0) > 1).any():
        return None
    kept = groups.any(0)
    labelled = differences[:, kept] - differences[:, kept].mean(1, keepdims=True)
    label, sizes = groups[:, kept].argmax(0), groups.sum(1)
    observed = _spread(labelled, label[None], sizes)[0]
    rng, beyond, done = np.random.default_rng(seed), np.zeros(len(differences)), 0
    tolerance = TOLERANCE * (1 + observed)
    while done < draws:
        count = min(256, draws - done)
        drawn = rng.permuted(np.broadcast_to(label, (count, len(label))), axis=1)
        beyond += (_spread(labelled, drawn, sizes) >= observed - tolerance).sum(0)
        done += count
    return np.asarray((beyond + 1) / (draws + 1))


def _spread(differences: Floats, labels: Floats, sizes: Floats) -> Floats:
    """Return the squared sums of centered differences by label: draws × pairs."""
    spread = np.zeros((len(labels), len(differences)))
    for number, size in enumerate(sizes):
        spread += ((labels == number) @ differences.T) ** 2 / size
    return spread


def _p_between(
    paired: Paired, matrix: Matrix, members: Sequence[Bools], first: Ints, second: Ints, settings: TestSettings
) -> Floats | float:
    """Return p of each pair for a difference that depends on the label; nan if not tested."""
    kept = np.isin(np.array(matrix.topics, dtype=object), np.array(paired.topics, dtype=object))
    differences = score_matrix.topic_differences(paired.values, first, second)
    p = label_p_values(differences, [mask[kept] for mask in members], settings.draws, settings.seed)
    return np.nan if p is None else p


def _correct_slices(frame: pd.DataFrame, settings: TestSettings) -> pd.DataFrame:
    """Correct p over slices × pairs, and p_between over columns × pairs. Some tests already correct over pairs."""
    correction = settings.correction_applied
    if "p" in frame:
        tested = frame["p"].notna().to_numpy()
        p = frame["p"].to_numpy(dtype=float)[tested]
        slices = frame["slice"][tested].nunique()
        together = settings.test in significance.SIMULTANEOUS
        of_slices = np.minimum(p * slices, 1) if together else significance.correct_p_values(p, correction)
        frame.loc[tested, "p_corrected"] = of_slices
    of_pair = ["column", "run", "baseline"]
    once = (~frame.duplicated(of_pair) & frame["p_between"].notna()).to_numpy()
    whole = np.full(len(frame), np.nan)
    whole[once] = significance.correct_p_values(frame["p_between"].to_numpy(dtype=float)[once], correction)
    corrected = frame.assign(p_between_corrected=whole).groupby(of_pair, sort=False)["p_between_corrected"]
    return frame.assign(p_between_corrected=corrected.transform("first"))


# p alone.


def significance_matrix(matrix: Matrix, baselines: Sequence[str], settings: TestSettings) -> pd.DataFrame:
    """Return the p values of `compare` alone, of all runs with the baselines. The columns are measure, run, baseline,
    topics, p, p_corrected, with each pair once. p is corrected over all pairs of a measure. The test must give p.
    Raises InputError as `compare` does."""
    matrix = score_matrix.require_single_runs("a table to publish", matrix)
    first, second = score_matrix.run_pairs(len(matrix.runs), [matrix.run_index(name) for name in baselines])
    measures = [score_matrix.shared_topics(matrix, name) for name in matrix.comparable_measures()]
    names, frames = np.array(matrix.runs, dtype=object), []
    for paired in measures:
        p = significance.pair_p_values(paired, score_matrix.topic_differences(paired.values, first, second), settings)
        pair = {"measure": paired.measure, "run": names[second], "baseline": names[first]}
        frames.append(to_frame({**pair, "topics": len(paired.topics), **p}))
    unattainable = significance.unattainable_notes(measures, len(first), settings, fixed_draws=True)
    emit_notes([*matrix.omission_notes(), *unattainable])
    return joined(frames)


# Notes on p values and intervals.


CENTERS = {"wilcoxon": "pseudo-median", "sign": "median"}
"""The center of the intervals of tests, other than the mean."""


def describe_tests(frame: pd.DataFrame, matrix: Matrix, settings: TestSettings) -> list[str]:
    """Return the tests of all measures in words, each once, for the pairs per measure of a frame."""
    measures = frame["measure"].unique().tolist()
    pairs = len(frame) // len(measures)
    if matrix.machine is not None:
        over = f" | {settings.correction_applied} over {pairs} pairs of each measure"
        return [PREDICTED + over * settings.corrects(pairs)]
    if matrix.seeds is not None:
        return [replicates.describe_test(frame, settings.correction_applied)]
    return list(dict.fromkeys(settings.describe(matrix.paired(name), pairs) for name in measures))


def describe_intervals(frame: pd.DataFrame, settings: TestSettings) -> list[str]:
    """Return lines on the intervals of a comparison, and on intervals that contradict a corrected p."""
    pairs = len(frame) // frame["measure"].nunique()
    if "df" in frame or "lambda_" in frame:
        return [f"{settings.level} interval: of the same t, for each pair alone"]
    if settings.test == "bayes":
        return [f"{settings.level} credible interval"]
    if settings.test in significance.SIMULTANEOUS:
        source = "Tukey's" if settings.test == "anova" else "by the same ranges"
        return [f"{settings.level} interval: {source}, of all pairs together"]
    centre = f"of the {CENTERS[settings.test]}, " if settings.test in CENTERS else ""
    description = f"{settings.level} interval: {centre}obtained by inverting the test"
    if not settings.corrects(pairs):
        return [description]
    count = int(((frame["p"] <= settings.alpha) & (frame["p_corrected"] > settings.alpha)).sum())
    count_line = f"{count} of {len(frame)} intervals {'leaves' if count == 1 else 'leave'} out 0 where p "
    count_line += f"({settings.correction_applied}) is above {settings.alpha:g}: an interval is of its pair alone"
    return [f"{description}, for each pair alone", *([count_line] if count else [])]


def interval_notes(frame: pd.DataFrame, measures: list[Paired], settings: TestSettings) -> list[str]:
    """Return notes on measures with endless intervals, and on measures with pairs without p and interval."""
    notes, blank = list[str](), frame["low"].isna()
    if names := frame["measure"][blank].unique().tolist():
        count = int(blank.sum())
        problem = f"{settings.test} is blank for {count} {plural(count, 'pair')} with the same difference on all topics"
        cure = f"so that there is no variance; use {flag.test:randomization}"
        notes.append(Note(f"{', '.join(names)}: {problem}, {cure}"))
    endless = np.isposinf(frame["high"]) | (frame["low"] == np.where(frame["tested"] == "ratio", 0, -np.inf))
    if names := frame["measure"][endless].unique().tolist():
        sizes = [(len(paired.topics), len(paired.runs)) for paired in measures if paired.measure in names]
        drawn = any(significance.uses_draws(settings.test, topics, settings.draws, runs) for topics, runs in sizes)
        why = "draws are too few" if drawn else "too few topics"
        why = "too few topics differ, or draws are too few" if settings.test == "bootstrap" else why
        notes.append(f"{', '.join(names)}: {plural(len(frame), 'interval')} with no end at {settings.level}: {why}")
    return notes


def no_variance_notes(frame: pd.DataFrame) -> list[str]:
    """Return a note on measures by which two systems differ by the same on all topics and seeds."""
    blank = frame["p"].isna().to_numpy() & (replicates.are_tested(frame) if "df" in frame else True)
    names, count = frame["measure"][blank].unique().tolist(), int(blank.sum())
    problem = f"no p for {count} {plural(count, 'pair')} with the same difference on all topics"
    problem += " and seeds" if "df" in frame else ""
    return [f"{', '.join(names)}: {problem}"] if names else []


def unseen_notes(frame: pd.DataFrame, matrix: Matrix, column: str = "same_order") -> list[Note]:
    """Return notes on unjudged documents that neither of two runs retrieved, if `column` tells an order."""
    measures = frame["measure"][frame[column].notna()].unique().tolist() if column in frame else []
    notations = [(name, matrix.notations[matrix.measure_index(name)]) for name in measures]
    scores = (matrix.seeds or matrix).scores
    return difference_bounds.unseen_notes(notations, scores.options if scores else None, matrix.seeds is not None)


def later_judged_topic_notes(frame: pd.DataFrame, matrix: Matrix) -> list[str]:
    """Return a note that further judgments may add other topics."""
    chosen = matrix.scores.options.topics_judged_later if matrix.scores else ""
    has_orders = chosen and frame["same_order"].notna().any()
    return [Note(f"{difference_bounds.IF_JUDGED}: orders are of the {chosen}")] if has_orders else []


# Effects of judging on the order of two runs if no number of documents of the trailing run is known to reverse it.


Prospect = Literal["same order", "could be reversed", "could be tied", "unknown"]


Pair = tuple[str, str, str]
"""A measure, a run and its baseline."""


def reversible_pairs(frame: pd.DataFrame, matrix: Matrix, reread: RereadRuns | None = None) -> frozenset[Pair]:
    """Return the pairs of a comparison whose order some judgments reverse, if no number of documents is known to do it.

    Either their bounds are exact and allow it, or such judgments were found.

    reread  the runs, if already read again; None: they are read if necessary
    """
    candidates = frame[frame["same_order"].eq(False) & frame["reversing"].isna()]
    reread = (reread or reversals.RereadRuns.of(matrix.scores)) if len(candidates) else None
    reversible: set[Pair] = set()
    for name in candidates["measure"].unique().tolist() if reread is not None else ():
        assert reread is not None
        paired = score_matrix.shared_topics(matrix, name)
        exact = difference_bounds.Differences(reread, paired).are_exact
        search = reversal_search.ReversalSearch(reread, paired)
        columns = ("run", "baseline", "difference", "lowest", "highest")
        for run, baseline, *ends in zip(
            *(candidates[candidates["measure"] == name][value].tolist() for value in columns), strict=True
        ):
            difference, lowest, highest = (np.nan if value is None else value for value in ends)
            sides = [(run, baseline, highest)] if difference <= 0 else []
            sides += [(baseline, run, -lowest)] if difference >= 0 else []
            if any(past > TOLERANCE and (exact or search.reverses(behind, ahead)) for behind, ahead, past in sides):
                reversible.add((name, run, baseline))
    return frozenset(reversible)


def describe_prospect(row: Row, reversible: frozenset[Pair]) -> Prospect:
    """Return the possible effect of judging on the order of a row of a comparison without `reversing`."""
    if row["same_order"]:
        return "same order"
    lowest, highest, difference = (
        np.nan if row[name] is None else row[name] for name in ("lowest", "highest", "difference")
    )
    past = -lowest if difference > 0 else highest if difference < 0 else max(-lowest, highest)
    if np.isnan(past):
        return "unknown"
    if past <= TOLERANCE:
        return "could be tied"
    return "could be reversed" if (row["measure"], row["run"], row["baseline"]) in reversible else "unknown"


def check_estimates_test(test: str) -> None:
    """Raise InputError (usage) if estimates are to be compared by a test of scores by topic."""
    if test != "randomization":
        problem = f"{test} compares scores by topic, and estimates have a test of their own, by Student's t"
        raise InputError(flag.test, problem, f"leave out {flag.test} or {flag.predicted}", usage=True)


def estimated_means(paired: Paired) -> dict[str, Floats]:
    """Return estimates of each run, by the names of columns; nan for too few topics."""
    machine, others = map(paired.reading.tested, paired.by_machine)
    estimates = summarized(paired.values, machine, others, paired.reading, 0.05)
    return within(estimates, paired.limits, paired.reading, paired.count)


def estimated_differences(paired: Paired, first: Ints, second: Ints, alpha: float) -> dict[str, Floats]:
    """Return estimates of the difference of each pair, by the names of columns; a ratio for geometric means."""
    values = (paired.values, *map(paired.reading.tested, paired.by_machine))
    human, machine, others = (score_matrix.topic_differences(by_judge, first, second) for by_judge in values)
    return summarized(human, machine, others, paired.reading, alpha)


def estimate_comparison(
    paired: Paired, first: Ints, second: Ints, settings: significance.TestSettings
) -> dict[str, Any]:
    """Return the columns of a comparison of pairs by estimates; ratios of geometric means are tested."""
    estimates, means = estimated_differences(paired, first, second, settings.alpha), estimated_means(paired)["score"]
    by_machine = paired.reading.summarize(np.hstack(paired.by_machine))
    difference, people = estimates["score"], estimates["people"]
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
        "people_low": estimates["people_low"],
        "people_high": estimates["people_high"],
        "machine": by_machine[second] - by_machine[first],
        **{name: estimates[name] for name in ("lambda_", "narrower", "times", "se", "low", "high", "p")},
        "p_corrected": significance.correct_p_values(estimates["p"], settings.correction_applied),
    }


def heavy_difference_notes(measures: Iterable[Paired], first: Ints, second: Ints, alpha: float) -> list[Note]:
    """Return a note on the differences whose variance is mostly from a single topic."""
    from gradedeval.kernel.scoring.predicted import heavy_notes  # few comparisons have predictions

    heavy = list[tuple[str, float, str]]()
    for paired in measures:
        estimates = estimated_differences(paired, first, second, alpha)
        for pair in np.flatnonzero(estimates["share"] > HEAVY).tolist():
            topic = paired.topics[int(estimates["farthest"][pair])]
            label = f"{paired.measure}, {paired.runs[second[pair]]} against {paired.runs[first[pair]]}"
            heavy.append((topic, float(estimates["share"][pair]), label))
    return heavy_notes(heavy)


def estimate_columns(matrix: Matrix, interval: DisplayColumns) -> DisplayColumns:
    """Return the display columns of estimated differences, in place of the column of their intervals."""
    return {
        Column("±", "figures"): _margin,
        **{replace(column, wide=True): value for column, value in interval.items()},
        Column("people", "signed"): total_formatter(matrix, "people", "+"),
        Column("machine", "signed", wide=True): total_formatter(matrix, "machine", "+"),
        Column("λ", "score", digits=2): itemgetter("lambda_"),
        Column("saves", "figures"): _savings,
    }


def _margin(row: Row) -> str | None:
    """Return half the interval of a difference, or the factor up or down of a ratio of geometric means."""
    if row["low"] is None:
        return None
    if row["tested"] == "ratio":
        return f"×{(row['high'] / row['low']) ** 0.5:.2f}"
    return f"{(row['high'] - row['low']) / 2:.4f}"


def _savings(row: Row) -> str | None:
    return None if row["times"] is None else saved_words(row["narrower"], row["times"])
