"""`correlate`: agreement of measures, by topic and by the ordering of runs, as scipy, by hand and by brute force."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import gradedeval
from gradedeval import InputError
from gradedeval.analysis.score_matrix import to_matrix
from gradedeval.questions.correlate import KINDS, agreement, scores_agreement, tau_ap
from support.commands import Command
from support.commands import rows as csv_rows
from support.paths import QRELS, SAMPLES

Floats = NDArray[np.float64]


def lists(count: int, digits: int = 12, seed: int = 1) -> tuple[Floats, Floats]:
    draw = np.random.default_rng(seed)
    first = draw.normal(size=count)
    return first.round(digits), (first + draw.normal(size=count)).round(digits)


@pytest.mark.parametrize("digits", [12, 0])
def test_coefficients_agree_with_scipy(digits: int) -> None:
    first, second = lists(30, digits)
    assert agreement("pearson", first, second) == pytest.approx(stats.pearsonr(first, second).statistic)
    assert agreement("spearman", first, second) == pytest.approx(stats.spearmanr(first, second).statistic)
    assert agreement("tau", first, second) == pytest.approx(stats.kendalltau(first, second).statistic)
    weighted = stats.weightedtau(first, second, rank=True, additive=True).statistic
    assert agreement("weighted-tau", first, second) == pytest.approx(weighted)


@pytest.mark.parametrize("kind", KINDS)
def test_agreement_goes_from_one_down_to_minus_one(kind: str) -> None:
    values = np.array([0.1, 0.2, 0.3, 0.4])
    assert agreement(kind, values, values) == pytest.approx(1)  # type: ignore[arg-type]
    assert agreement(kind, values, -values) == pytest.approx(-1)  # type: ignore[arg-type]
    assert np.isnan(agreement(kind, values, np.ones(4)))  # type: ignore[arg-type]
    assert np.isnan(agreement(kind, values, np.array([1, 2, 3, np.inf])))  # type: ignore[arg-type]


def tau_ap_by_definition(truth: Floats, order: tuple[int, ...]) -> float:
    """Compute the formula of Yilmaz et al. for an ordering without ties; a tie in the truth is half right."""
    total = 0.0
    for rank in range(1, len(order)):
        above = [(np.sign(truth[order[higher]] - truth[order[rank]]) + 1) / 2 for higher in range(rank)]
        total += sum(above) / rank
    return 2 * total / (len(order) - 1) - 1


def test_tau_ap_of_four_runs_by_hand() -> None:
    # The truth is a b c d, the other list b a c d: C(2)/1 = 0, C(3)/2 = 1, C(4)/3 = 1; 2/3 · 2 − 1.
    assert tau_ap(np.array([4.0, 3, 2, 1]), np.array([3.0, 4, 2, 1])) == pytest.approx(1 / 3)
    # A swap at the end costs less: 1 + 1 + 2/3.
    assert tau_ap(np.array([4.0, 3, 2, 1]), np.array([4.0, 3, 1, 2])) == pytest.approx(7 / 9)


def test_tau_ap_follows_the_definition() -> None:
    for seed in range(5):
        truth, estimate = lists(8, seed=seed)
        assert tau_ap(truth, estimate) == pytest.approx(
            tau_ap_by_definition(truth, tuple(np.argsort(-estimate).tolist()))
        )


@pytest.mark.parametrize("scores", [(1, 2, 2, 3, 2, 0), (1, 1, 1, 1, 1, 2), (3, 3, 2, 2, 1, 1), (5, 5, 5, 4, 4, 4)])
def test_tau_ap_of_ties_is_the_mean_over_their_orders(scores: tuple[int, ...]) -> None:
    truth = np.array([6.0, 4, 5, 4, 2, 1])
    values = np.array(scores, dtype=float)
    all_orders = itertools.permutations(range(6))
    orders = [
        order
        for order in all_orders
        if all(values[order[position]] >= values[order[position + 1]] for position in range(5))
    ]
    mean = np.mean([tau_ap_by_definition(truth, order) for order in orders])
    assert tau_ap(truth, values) == pytest.approx(mean)


def test_orderings_take_the_topics_that_all_runs_keep_and_scores_all_pairs_that_both_keep() -> None:
    truth = np.array([[1.0, 0.5, 0.2], [0.4, 0.6, 0.9], [0.3, 0.1, 0.8]])
    scores = truth**2
    kept = np.array([[True, True, True], [True, True, False], [True, True, True]])
    assert scores_agreement("pearson", truth, scores, kept) == (
        pytest.approx(stats.pearsonr(truth[kept], scores[kept]).statistic), 8)  # fmt: skip
    means = truth[:, :2].mean(1), scores[:, :2].mean(1)
    assert scores_agreement("tau", truth, scores, kept) == (pytest.approx(stats.kendalltau(*means).statistic), 3)
    assert np.isnan(scores_agreement("tau", truth, scores, np.zeros((3, 3), dtype=bool))[0])


@pytest.mark.parametrize("kind", ["tau", "weighted-tau", "tau-ap"])
def test_the_order_of_topics_changes_no_ordering_of_runs(kind: str) -> None:
    # The first two runs have the same hits on other topics: means that differ in their last bits, or do not.
    hits = np.random.default_rng(5).integers(0, 11, (2, 8, 30))
    hits[:, 1::2] = hits[:, ::2, np.random.default_rng(6).permutation(30)]
    truth, scores = hits / 10
    kept = np.ones(truth.shape, dtype=bool)
    orders = [np.random.default_rng(seed).permutation(30) for seed in range(20)]
    coefficients = {scores_agreement(kind, truth[:, order], scores[:, order], kept)[0] for order in orders}  # type: ignore[arg-type]
    exact = agreement(kind, *(counts.sum(1).astype(float) for counts in hits))  # type: ignore[arg-type]
    assert coefficients == {exact}


RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "manual")]


def test_the_matrix_has_one_kind_above_and_one_below_the_diagonal(cli: Command) -> None:
    words = (*RUNS, QRELS, "-m", "err@20 ndcg@10 ap", "--coefficient", "tau-ap", "--coefficient", "pearson")
    rows = csv_rows(cli("correlate", *words, "-f", "csv").text)
    measures = ["err@20", "ndcg@10", "ap"]
    pairs = list(itertools.permutations(measures, 2))
    assert [(row["measure"], row["other"]) for row in rows] == pairs
    above = [measures.index(measure) < measures.index(second) for measure, second in pairs]
    assert [row["kind"] for row in rows] == ["tau-ap" if is_above else "pearson" for is_above in above]
    scores = to_matrix(gradedeval.evaluate(RUNS, QRELS, "err@20 ndcg@10 ap")).score
    pearson = stats.pearsonr(scores[:, :, 2].ravel(), scores[:, :, 0].ravel()).statistic
    assert float(rows[4]["agreement"]) == pytest.approx(pearson)
    assert {row["n"] for row in rows} == {"4", "200"}
    outcome = cli("correlate", *words)
    table = outcome.text.splitlines()
    assert table[2].split()[:2] == ["err@20", "—"]
    assert table[4].split()[1] == f"{pearson:.3f}"
    assert "below the diagonal: Pearson's r, 200 (run, topic) pairs" in outcome.words


def test_one_kind_on_both_sides_is_named_once(cli: Command) -> None:
    words = (*RUNS, QRELS, "-m", "err@20 ap", "--coefficient", "tau-ap")
    assert "off the diagonal: τ_AP of the column against the row, 4 runs" in cli("correlate", *words).text


def test_runs_are_counted_before_they_are_read(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("no run\n")
    counted = cli("correlate", "x.run", QRELS)
    assert counted.messages == ["rank correlation needs at least two runs; add a run, or use --coefficient spearman"]
    assert "x.run" in cli("correlate", "x.run", QRELS, "--coefficient", "spearman").messages[-1]
    many = cli("correlate", *RUNS, QRELS, *["--coefficient", "tau"] * 3)
    assert (many.code, many.messages) == (2, ["--coefficient: 3 coefficients given; give one or two"])


def test_one_measure_or_one_run_has_no_agreement() -> None:
    single_run = gradedeval.evaluate(RUNS[0], QRELS, "err@20 ap")
    needs = 'rank correlation needs at least two runs; add a run, or use coefficient="spearman"'
    with pytest.raises(InputError, match=needs):
        gradedeval.correlate(single_run)
    assert gradedeval.correlate(single_run, coefficient=("pearson", "spearman"))["n"].tolist() == [50, 50]
    with pytest.raises(InputError, match="correlate needs at least two measures; add another measure"):
        gradedeval.correlate(gradedeval.evaluate(RUNS, QRELS, "ap"))
    with pytest.raises(InputError, match="coefficient: invalid value 'kendall'"):
        gradedeval.correlate(gradedeval.evaluate(RUNS, QRELS, "ap rr"), coefficient="kendall")  # type: ignore[arg-type]


def test_a_matrix_of_blanks_is_refused_with_the_reason(cli: Command, tmp_path: Path) -> None:
    words = ("correlate", *RUNS, QRELS, "-m", "err@20 rbp(p=0.9)", "--max-residual", "0")
    undefined = cli(*words, "--coefficient", "pearson")
    assert (undefined.code, undefined.out) == (1, b"")
    problem = "no (run, topic) pair that two measures have; compare fewer runs, or raise --max-residual"
    assert undefined.messages[-1] == problem
    shared = cli(*words[:-1], "0.05")
    assert (shared.code, shared.messages[-1]) == (
        1, "no topic that all 4 runs have by two measures; compare fewer runs, or raise --max-residual")  # fmt: skip
    cells = [f"{run},{topic},{measure},1\n" for run in "xy" for topic in "12" for measure in ("ap", "rr")]
    (tmp_path / "same.csv").write_text("".join(["run,topic,measure,score\n", *cells]))
    equal_scores = cli("correlate", "--from-scores", "same.csv")
    assert (equal_scores.code, equal_scores.out) == (1, b"")
    assert equal_scores.messages == [
        "same.csv: no signature, so qrels and options cannot be checked",
        "scores are all the same, or infinite, so no agreement is defined; use runs that differ, or other measures",
    ]


def test_no_residual_is_computed_unless_it_chooses_topics() -> None:
    plain = gradedeval.correlate(RUNS, QRELS, "err@20 ndcg@10").scores
    assert np.isnan(plain.residual).all()
    chosen = gradedeval.correlate(RUNS, QRELS, "err@20 ndcg@10", max_residual=0.05).scores
    assert not np.isnan(chosen.residual).all()
    assert chosen.included.sum() < plain.included.sum()
