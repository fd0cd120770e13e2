"""`fit`: ranges, the search over them, agreement with another measure, validation, and the nearest weights by rank."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import gradedeval
from gradedeval import InputError, kernel
from gradedeval.analysis.score_matrix import to_matrix
from gradedeval.questions.fit import (
    Collection,
    MeasureRange,
    Target,
    best,
    divergence,
    fit_weights,
    has_fixed_weights,
    near_best_range,
    read_ranges,
    read_vector,
    resolution,
    search,
)
from support.commands import Command, succeed
from support.commands import rows as csv_rows
from support.paths import QRELS, SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "manual")]


def family(text: str) -> MeasureRange:
    return read_ranges([text])[0]


# Ranges


def test_a_range_of_cutoffs_includes_every_cutoff() -> None:
    candidates = family("nerr9@1..5")
    assert (candidates.parameter, candidates.whole, candidates.grid(candidates.resolution(0.001))) == (
        "k",
        True,
        [1, 2, 3, 4, 5],
    )
    assert str(candidates.at(3)) == "nerr9@3"


def test_a_range_of_numbers_is_tried_at_the_precision() -> None:
    candidates = family("nerr10(phi=0.05..0.95)")
    assert (candidates.parameter, candidates.whole, candidates.resolution(0.001)) == ("phi", False, 0.001)
    grid = candidates.grid(0.001)
    assert (grid[:3], grid[-1], len(grid)) == ([0.05, 0.051, 0.052], 0.95, 901)
    assert str(candidates.at(0.3)) == "nerr10(phi=0.3)"


def test_a_given_step_is_used_and_both_ends_are_tried() -> None:
    assert family("rbp(p=.5..0.95..0.2)").grid(0.2) == [0.5, 0.7, 0.9, 0.95]
    assert family("nerr8@1..10..3").grid(3) == [1, 4, 7, 10]
    assert [family(text).resolution(0.001) for text in ("rbp(p=.5..0.95..0.2)", "nerr8@1..10..3")] == [0.2, 3]


@pytest.mark.parametrize(
    ("text", "precision", "step", "problem"),
    [
        ("rbp(p=0.05..0.95)", 0.001, 0.001, "every step tried"),
        ("rbp(p=0.05..0.95)", 1e-5, 0.001, "every step tried, then to 1e-05 around the best"),
        ("nerr11(T=0.5..5)", 0.001, 0.005, "every step tried, then to 0.001 around the best"),
        ("nerr9@1..400", 0.001, 1, "every step tried"),
    ],
)
def test_searches_have_50_to_1000_steps(text: str, precision: float, step: float, problem: str) -> None:
    assert (family(text).resolution(precision), resolution([family(text)], precision)) == (step, problem)


def test_whole_ends_span_fractions_if_the_measure_takes_them() -> None:
    assert not family("nerr11(T=1..5)").whole
    assert not family("bpref(k=0..3)").whole


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rbp(p=0.1..0.5)@1..3", "has 2 ranges"),
        ("rbp(p=0.5..0.9..0)", "invalid range 0.5..0.9..0"),
        ("rpb(p=0.1..0.5)", "unknown measure 'rpb'; did you mean 'rbp'?"),
        ("nerr9@0..5", "invalid cutoff 0"),
        ("nerr9@1..100000", "1..100000 makes more than 10000 values; use larger steps"),
        ("nerr9@1.5..5", "cannot|is not a measure|no measure"),
    ],
)
def test_an_invalid_range_is_a_usage_error(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem.replace("?", r"\?").replace("(", r"\(")) as caught:
        read_ranges([text])
    assert caught.value.usage


# The search


def searched(text: str, goodness_of: object, precision: float = 0.001) -> dict[float, float]:
    def goodness(grids: list[tuple[MeasureRange, list[float]]]) -> list[list[list[float]]]:
        return [[[goodness_of(value)] for value in grid] for _, grid in grids]  # type: ignore[operator]

    return search([family(text)], goodness, 1, precision)[0][0]


def test_the_search_finds_an_optimum_between_the_points_of_the_grid() -> None:
    assert best(searched("rbp(p=0.05..0.95)", lambda p: -((p - 0.4237) ** 2))) == 0.424
    assert best(searched("rbp(p=0.05..0.95)", lambda p: -((p - 0.4237) ** 2), 1e-5)) == 0.4237
    assert best(searched("nerr11(T=0.5..5)", lambda t: -abs(t - 1.2345))) in (1.234, 1.235)


def test_the_search_keeps_within_the_range() -> None:
    values = searched("rbp(p=0.05..0.95)", lambda p: p)
    assert best(values) == 0.95 == max(values)


def test_the_search_finds_the_higher_of_two_tops() -> None:
    values = searched("rbp(p=0.05..0.95)", lambda p: max(1 - abs(p - 0.2), 1.1 - 5 * abs(p - 0.8)))
    assert best(values) == 0.8


def test_the_search_finds_a_step_as_wide_as_the_resolution_at_any_value() -> None:
    values = searched("rbp(p=0.05..0.95)", lambda p: 0.9394 if p < 0.7442 else 0.9697 if p < 0.7453 else 0.9)
    assert (best(values), near_best_range(values, 0.001)) == (0.745, (0.745, 0.745))


def test_the_smallest_of_equal_values_is_best_and_the_band_has_all() -> None:
    values = {1.0: 0.2, 2.0: 0.9, 3.0: 0.9, 4.0: 0.8995, 5.0: 0.5, 6.0: float("nan"), 7.0: 0.9}
    assert best(values) == 2
    assert near_best_range(values, 0.001) == (2, 4)


# Agreement


def test_a_measure_agrees_best_with_itself() -> None:
    result = gradedeval.fit(RUNS, QRELS, "rbp(p=0.6..0.65)", "rbp(p=0.625)")
    assert result.frame["value"].tolist() == [0.625, 0.625]
    assert result.frame["agreement"].tolist() == pytest.approx([1, 1])
    assert [note.kind for note in result.notes] == ["short-lists", "no-relevant"]


@pytest.mark.exhaustive
def test_two_notations_of_a_measure_have_the_same_results() -> None:
    families = ["rbp(p=0.5..0.6)", "rbp(p=0.5..0.6,gain=exp)"]
    result = gradedeval.fit(RUNS, QRELS, families, "err@20", coefficient="pearson", gain="exp").frame
    assert result["value"].nunique() == result["agreement"].nunique() == 1
    assert result["measure"].tolist() == families


def test_the_curve_is_the_agreement_of_every_value() -> None:
    result = gradedeval.fit(RUNS, QRELS, "nerr9@1..6", "err@20", coefficient=["spearman", "tau"])
    scores = to_matrix(gradedeval.evaluate(RUNS, QRELS, ["err@20", *(f"nerr9@{k}" for k in range(1, 7))])).score
    for row in result.curve.itertuples():
        at_value = scores[:, :, int(row.value)]  # type: ignore[arg-type]
        truth = scores[:, :, 0]
        if row.by == "spearman":
            expected = stats.spearmanr(truth.ravel(), at_value.ravel()).statistic
        else:
            expected = stats.kendalltau(truth.mean(1), at_value.mean(1)).statistic
        assert row.agreement == pytest.approx(expected)
    assert len(result.curve) == 12
    assert result.frame["pairs"].tolist() == [200, 4]


FIXED = (
    "rbp(p=0.5) rbp(p=0.95) rbp(p=0.7)@3 rbp@100 rbp(p=0.9,horizon=4) rbp(p=0.5,rel=2) insq(T=2) insq(T=3)@7 sdcg@5 "
    "cwlp@4 set@20 tbg(h=5) u(L=8) uniform@7 zipf@100 zipf(beta=2) poisson(alpha=3) poisson@2 logharmonic@50"
)
NOT_FIXED = "ap err@20 ndcg@10 dcg@10 p@5 nerr8@5 nerr9@5 nerr10 nerr11 inst cwlap cwlrr rbp(of=ed) ia(rbp)"


def fixed_scores(texts: str, qrels: object, runs: object, **keywords: object) -> tuple[Target, dict[str, np.ndarray]]:
    collection = Collection.read(runs, qrels, kernel.resolve_options(None, **keywords))  # type: ignore[arg-type]
    target = Target.of(collection, kernel.parse_measures("err@20")[0])
    measures = [kernel.scores.with_defaults(measure, collection.options) for measure in kernel.parse_measures(texts)]
    assert all(has_fixed_weights(measure, collection.options) for measure in measures)
    return target, {str(measure): scores for measure, scores in target.fixed_scores(measures)}


@pytest.mark.parametrize("keywords", [{}, {"depth": 5}, {"topics": "qrels"}, {"order": "rank"}])
def test_scores_of_fixed_weights_equal_evaluate_bit_by_bit(keywords: dict[str, object]) -> None:
    target, by_measure = fixed_scores(FIXED, QRELS, RUNS, **keywords)
    matrix = target.collection.scores(kernel.parse_measures(FIXED))
    assert set(by_measure) == set(matrix.notations)
    for column, notation in enumerate(matrix.notations):
        np.testing.assert_array_equal(by_measure[notation], matrix.score[:, :, column], notation)


def test_one_measure_of_fixed_weights_alone_has_the_same_scores() -> None:
    target, by_measure = fixed_scores("rbp(p=0.8)", QRELS, RUNS)
    expected = target.collection.scores(kernel.parse_measures("rbp(p=0.8)")).score[:, :, 0]
    np.testing.assert_array_equal(by_measure["rbp(p=0.8)"], expected)


def test_a_plain_loop_over_ranks_gives_the_scores_of_fixed_weights() -> None:
    rng = np.random.default_rng(31)
    qrels = {f"t{t}": {f"d{d}": int(rng.integers(0, 4)) for d in range(30)} for t in range(5)}
    runs = {
        f"r{r}": {topic: [f"d{d}" for d in rng.permutation(40)[: rng.integers(1, 41)]] for topic in qrels}
        for r in range(3)
    }
    _, by_measure = fixed_scores("rbp(p=0.5) rbp(p=0.83) zipf(beta=1.5)@12", qrels, runs)
    harmonic = sum(rank**-1.5 for rank in range(1, 13))
    for r, run in enumerate(runs.values()):
        for t, topic in enumerate(qrels):
            sums = [0.0, 0.0, 0.0]
            for rank, docno in enumerate(run[topic], 1):
                gain = qrels[topic].get(docno, 0) / 3
                sums[0] += gain * 0.5 * 0.5 ** (rank - 1)
                sums[1] += gain * 0.17 * 0.83 ** (rank - 1)
                sums[2] += gain * rank**-1.5 / harmonic if rank <= 12 else 0
            np.testing.assert_allclose([scores[r, t] for scores in by_measure.values()], sums, rtol=1e-12, atol=1e-15)


def test_weights_that_the_documents_or_an_option_change_are_not_fixed() -> None:
    plain, average = kernel.resolve_options(None), kernel.resolve_options(None, ties="average")
    assert not [str(measure) for measure in kernel.parse_measures(NOT_FIXED) if has_fixed_weights(measure, plain)]
    assert not [str(measure) for measure in kernel.parse_measures(FIXED) if has_fixed_weights(measure, average)]


def test_a_best_value_at_an_end_of_the_range_is_noted() -> None:
    result = gradedeval.fit(RUNS, QRELS, "nerr9@1..2", "err@20", coefficient="spearman")
    assert result.notes[1:] == ["nerr9@1..2 by spearman: the best value 2 is at the end of the range; widen the range"]


def test_pairs_that_the_target_is_too_uncertain_of_are_left_out() -> None:
    some = gradedeval.fit(RUNS, QRELS, "nerr9@1..5", "err@20", coefficient="pearson", max_residual=0.01)
    with pytest.warns(gradedeval.EvaluationWarning, match="over different topics"):
        kept = gradedeval.evaluate(RUNS, QRELS, "err@20", max_residual=0.01)
    count = sum(int(run.included.sum()) for run in kept.runs)
    assert some.frame["pairs"][0] == count < 200
    with pytest.raises(InputError, match=r"max_residual: no \(run, topic\) pair is left"):
        gradedeval.fit(RUNS[0], QRELS, "nerr9@1..5", "rbp(p=0.99)", coefficient="pearson", max_residual=0)


def odd(path: Path) -> Path:
    path.write_text("".join(f"{topic}\n" for topic in range(301, 351, 2)))
    return path


@pytest.mark.exhaustive
def test_other_topics_validate_the_best_value(tmp_path: Path) -> None:
    even = [str(topic) for topic in range(302, 351, 2)]
    fitted = partial(gradedeval.fit, RUNS, QRELS, "rbp(p=0.1..0.9..0.1)", "err@20", coefficient="spearman")
    validated, alone = fitted(topics_from=odd(tmp_path / "odd"), validate=even), fitted(topics_from=even)
    assert list(validated.curve) == ["measure", "parameter", "by", "value", "agreement", "agreement_there"]
    row = validated.frame.iloc[0]
    assert (row["value_there"], row["best_there"]) == (alone.frame["value"][0], alone.frame["agreement"][0])
    measures = f"err@20 rbp(p={row['value']})"
    scores = to_matrix(gradedeval.evaluate(RUNS, QRELS, measures, topics_from=even)).score
    expected = stats.spearmanr(scores[:, :, 0].ravel(), scores[:, :, 1].ravel()).statistic
    assert row["agreement_there"] == pytest.approx(expected)
    assert row["agreement_there"] <= row["best_there"]


@pytest.mark.exhaustive
def test_validation_topics_that_were_fitted_are_counted(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "few").write_text("302\n303\n304\n305\n")
    fitted = ("-m", "rbp(p=0.1..0.9..0.1)", "--to", "err@20", "--coefficient", "spearman")
    words = ("fit", *RUNS, QRELS, *fitted, "--validate", "few")
    message = "--validate: {} of 4 topics were also used for fitting; use --topics-from FILE to fit on others"
    assert message.format(4) in cli(*words).messages
    odd(tmp_path / "odd")
    assert message.format(2) in cli(*words, "--topics-from", "odd").messages
    (tmp_path / "even").write_text("\n".join(map(str, range(306, 351))))
    assert not [line for line in cli(*words, "--topics-from", "even").messages if "fitted too" in line]


def test_no_agreement_has_no_best_value(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "one.run").write_text("1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
    words = ("fit", "one.run", "qrels", "-m", "err@1..3", "--to", "rr", "--coefficient", "pearson")
    table = cli(*words)
    assert "err@1..3 by pearson: no agreement is defined: the scores are all the same" in table.messages
    assert table.text.splitlines()[2].split() == ["err@1..3", "pearson", "k", "1", "2"]
    (row,) = csv_rows(cli(*words, "-f", "csv").text)
    assert (row["value"], row["agreement"], row["low"], row["high"], row["pairs"]) == ("", "", "", "", "2")


# Weights by rank


def test_the_divergence_is_scipy_s_entropy() -> None:
    first, second = np.array([0.5, 0.3, 0.2, 0]), np.array([0.4, 0.3, 0.2, 0.1])
    assert divergence(first, second) == pytest.approx(stats.entropy(first, second))
    assert divergence(second, first) == np.inf


def test_a_geometric_vector_gives_its_persistence() -> None:
    ranks = np.arange(1, 301)
    nearest = fit_weights(0.27 * 0.73 ** (ranks - 1), "rbp(p=0.7..0.75)").frame.iloc[0]
    assert nearest["value"] == 0.73
    assert nearest["divergence"] == pytest.approx(0, abs=1e-9)
    assert (nearest["depth"], nearest["covered"]) == (300, pytest.approx(1))


def test_depth_and_normalization_change_the_nearest_weights() -> None:
    vector = 1 / np.arange(1, 101)
    fitted = partial(fit_weights, vector, "rbp(p=0.5..0.99..0.1)")
    results = fitted(ranks=20), fitted(ranks=100), fitted(ranks=20, normalize="sum")
    nearest = [result.frame.iloc[0] for result in results]
    assert nearest[0]["value"] < nearest[1]["value"]
    assert nearest[0]["value"] < nearest[2]["value"]
    # Without normalization the optimum has the mean rank 1/(1 − p).
    v = vector[:20] / vector[:20].sum()
    assert nearest[0]["value"] == pytest.approx(1 - 1 / (v * np.arange(1, 21)).sum(), abs=0.001)
    assert nearest[0]["covered"] == pytest.approx(1 - nearest[0]["value"] ** 20)


def test_weights_that_sum_to_more_than_1_need_scaling() -> None:
    with pytest.raises(InputError, match=r'sum to 7\.04, more than 1; add normalize="sum"'):
        fit_weights(np.ones(20), "dcg@20..21")
    assert fit_weights(np.ones(20), "dcg@20..21", normalize="sum").frame["value"][0] == 20


def test_the_nearest_weights_to_a_file_at_the_prompt(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("rank,weight\n# a comment\n2,0.25\n1,0.5\n3,0.125\n")
    outcome = succeed(cli("fit", "--to-weights", "w.csv", "-m", "rbp(p=0.47..0.53)", "--normalize", "sum"))
    assert outcome.text.splitlines()[2].split()[:4] == ["rbp(p=0.47..0.53)", "p", "0.5", "0.0000"]
    assert outcome.text.splitlines()[-1] == (
        "3 ranks | the vector scaled to sum 1, the measures' scaled to 1 too | every step tried"
    )
    assert read_vector(tmp_path / "w.csv").tolist() == [0.5, 0.25, 0.125]


def test_ranks_are_of_given_weights(cli: Command) -> None:
    outcome = cli("fit", *RUNS, QRELS, "--to", "err", "--ranks", "3", "-m", "rbp(p=0.2..0.8)")
    assert (outcome.code, outcome.messages[-1]) == (2, "--ranks: needs --to-weights; add --to-weights")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("rbp", "rbp(p=0.05..0.95)"),
        ("nerr10", "nerr10(phi=0.05..0.95)"),
        ("nerr11", "nerr11(T=0.5..5)"),
        ("ndcg", "ndcg@1..40"),
    ],
)
def test_a_measure_without_a_range_uses_and_reports_the_default(text: str, meant: str) -> None:
    with pytest.warns(gradedeval.EvaluationWarning, match=f"{text} has no range; trying {re.escape(meant)}"):
        assert read_ranges([text]) == read_ranges([meant])
