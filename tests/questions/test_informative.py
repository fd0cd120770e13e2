"""How well a score alone determines the precision-recall curve."""

import csv
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.kernel.measures.gains import Gains
from gradedeval.questions.informative import Users, curves
from gradedeval.questions.maximum_entropy import MAKERS, GradedLists, expected_score, most_random
from support.commands import Command
from support.commands import rows as csv_rows
from support.paths import DATA, QRELS, SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "neural")]
COVID = DATA / "covid-round1"
ignored = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
NOTATION = (
    "ap ap@3 sp gap(g=3:1) gap(g=3:1)@4 err nerr@4 cascade(gamma=0.9,utility=dcg)@5 rr ndcg(log=2)@5 dcg@5 rbp "
    "recall@3 p@3"
)

TOPICS = ["304", "306", "308"]

inform = partial(gradedeval.informativeness, min_found=1)


def graded_list(grades: list[int], extra: int = 0) -> tuple[Any, Any]:
    """Return a run and qrels of one topic: documents with these grades in this order, and further ones of the top
    grade."""
    judged = {f"d{rank}": grade for rank, grade in enumerate(grades)}
    run = {name: -float(rank) for rank, name in enumerate(judged)}
    return {"1": run}, {"1": judged | {f"x{number}": max(grades) for number in range(extra)}}


def one_hot(grades: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.stack([grades == grade for grade in range(3)], axis=-2).astype(float)


def expected(notation: str, ranks: int, lists: int = 1) -> tuple[Any, Any, np.ndarray[Any, Any]]:
    """Return a measure, its expected score over lists of grades 0, 1 and 2, and the gains of these."""
    (measure,) = gradedeval.parse_measures(notation)
    unit = {"exp": [0, 0.25, 0.75], "linear": [0, 0.5, 1], "thresholds": [0, 0.75, 1]}
    gains = np.array(unit[str(measure.gain)] if measure.rel is None else [0.0, 1, 1])
    ones = np.ones((lists, 1))
    g = Gains(ones, ones > 0, ones, np.ones(lists, int), np.ones(lists, int), np.unique(gains[gains > 0]))
    return measure, expected_score(measure, g, gains, ranks), gains


@pytest.mark.parametrize("notation", NOTATION.split())
def test_an_expected_score_is_the_mean_over_drawn_lists(notation: str) -> None:
    # All 3^6 lists of six documents, each with the probability of its chances.
    measure, score_of, gains = expected(notation, 6)
    chances = np.random.default_rng(1).dirichlet(np.ones(3), 6).T
    grades = np.indices((3,) * 6).reshape(6, -1).T
    likely = chances[grades, np.arange(6)].prod(1)
    gain = gains[grades]
    ones = np.full((len(gain), 1), 1.0)
    cut = measure.cutoff
    g = Gains(gain[:, :cut], gain[:, :cut] >= 0, ones, np.full(len(gain), 6), np.full(len(gain), 6),
              np.unique(gains[gains > 0]), cut)  # fmt: skip
    scores = measure.score(g)
    ratio = score_of.value(one_hot(grades))[scores > 0] / scores[scores > 0]  # the factors of the pool are left out
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)
    np.testing.assert_allclose(score_of.value(chances[None])[0], likely @ scores * ratio[0], rtol=1e-12)
    step = 1e-6
    for grade, rank in ((1, 0), (2, 2), (1, 5)):
        moved = np.repeat(chances[None], 2, axis=0)
        moved[:, grade, rank] += [step, -step]
        up, down = score_of.value(moved)
        assert score_of.slope(chances[None])[0, grade, rank] == pytest.approx((up - down) / (2 * step), abs=1e-8)


def random_lists(count: int, ranks: int) -> GradedLists:
    draw = np.random.default_rng(7)
    likely = np.linspace(0.8, 0.1, ranks)
    grades = (draw.random((count, ranks)) < likely).astype(int) * draw.integers(1, 3, (count, ranks))
    return GradedLists(one_hot(grades))


@pytest.mark.parametrize("notation", ["gap(g=3:1)", "ap", "rbp(p=0.9)", "err", "rr"])
def test_the_chances_have_the_counts_the_score_and_the_greatest_entropy(notation: str) -> None:
    lists = random_lists(6, 40)
    _, score_of, gains = expected(notation, 40, 6)
    result = most_random(lists, score_of, gains)
    assert result.converged.all()
    np.testing.assert_allclose(result.chances.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(result.chances.sum(2), lists.counts, atol=1e-7)
    np.testing.assert_allclose(score_of.value(result.chances), score_of.value(lists.grades), rtol=1e-8)
    # At the greatest entropy the logarithms of chances are linear in the multipliers and the slope alone.
    for chances, slope in zip(result.chances, score_of.slope(result.chances), strict=True):
        inside = (chances > 1e-12).all(0)
        if inside.sum() < 5:
            continue
        odds = np.log(chances[1:, inside] / chances[0, inside])
        columns = np.stack(
            [slope[1:, inside].ravel(), np.repeat([1, 0], inside.sum()), np.repeat([0, 1], inside.sum())]
        )
        residual = np.linalg.lstsq(columns.T, odds.ravel(), rcond=None)[1]
        assert residual.sum() < 1e-8


def test_an_rr_of_1_determines_rank_1_alone() -> None:
    lists = GradedLists(one_hot(np.array([[2, 0, 1, 0, 2, 0, 2, 0, 0, 0]])))
    _, score_of, gains = expected("rr", 10)
    result = most_random(lists, score_of, gains)
    assert result.converged.all()
    np.testing.assert_allclose(result.chances[0, :, 0], [0, 1 / 4, 3 / 4])
    np.testing.assert_allclose(result.chances[0, :, 1:], np.repeat([[6 / 9], [0.75 / 9], [2.25 / 9]], 9, axis=1))


def test_near_the_best_err_the_first_ranks_are_certain_and_the_others_open() -> None:
    # There are 30 documents of grade 2, and that many of them stand first.
    below = np.random.default_rng(3).permutation(np.repeat([0, 1, 2], [60, 10, 12]))
    for certain, short in ((8, True), (12, True), (14, True), (18, False)):
        grades = np.concatenate([np.full(certain, 2), [0], below, np.full(18 - certain, 2)])
        lists = GradedLists(one_hot(grades[None]))
        _, score_of, gains = expected("err", len(grades))
        result = most_random(lists, score_of, gains)
        assert bool(result.converged[0]) is short  # 18 of them leave a rest below rounding errors
        if short:
            best = score_of.value(one_hot(-np.sort(-grades)[None]))
            shortfall = best - score_of.value(result.chances)
            np.testing.assert_allclose(shortfall, best - score_of.value(lists.grades), rtol=1e-3)
            assert result.chances[0, 2, certain - 4] > 0.999
            np.testing.assert_allclose(result.chances[0, :, -1], result.chances[0, :, -9], atol=0.01)
            assert result.steps[0] < 100


@ignored
def test_gap_with_all_users_at_grade_1_is_ap() -> None:
    frame = inform(RUNS[0], QRELS, "gap(g=1:0:0:0) ap", depth=60, topics_from=TOPICS).frame.pivot(
        index="curve", columns="measure", values="rms"
    )
    np.testing.assert_allclose(frame["gap(g=1:0:0:0)"], frame["ap"], atol=1e-9)


def test_a_fully_determined_list_is_inferred_exactly() -> None:
    # Everything is relevant; and the best order.
    for grades, measures in (
        ([1] * 8, "ap ndcg err rr p@5"),
        ([2, 2, 2, 1, 1, 0, 0, 0, 0], "gap ndcg"),
        ([1, 1, 0, 0], "ap"),
    ):
        result = inform(*graded_list(grades, extra=3), measures)
        inferred = result.lists[result.lists["measure"] != "counts alone"]
        assert inferred["converged"].all()
        np.testing.assert_allclose(inferred["rms"], 0, atol=1e-6)


def test_missing_grades_and_uninformative_scores_leave_the_counts() -> None:
    lists = GradedLists(one_hot(np.array([[0, 2, 0, 2, 0, 0, 2, 0]])))
    for notation in ("recall", "gap(g=3:1)"):
        _, score_of, gains = expected(notation, 8)
        chances = most_random(lists, score_of, gains)
        assert chances.converged.all()
        assert (chances.chances[:, 1] == 0).all()
        if notation == "recall":
            np.testing.assert_allclose(chances.chances[0, 2], 3 / 8)


def test_the_distance_of_curves_by_hand() -> None:
    # Relevant at ranks 1 and 4; by the counts alone half a document a rank: two of four ranks for the first.
    grades, chances = np.array([[0, 1, 1, 0], [1, 0, 0, 1.0]]), np.full((2, 4), 0.5)
    result = curves(Users(np.ones(1), np.array([[0, 1.0]])), grades, chances)
    np.testing.assert_allclose(result.actual, [1, 1 / 2])
    np.testing.assert_allclose(result.inferred, [1 / 2, 1 / 2])
    assert result.rms == pytest.approx(np.sqrt(((1 - 1 / 2) ** 2 + 0) / 2))


@ignored
@pytest.mark.parametrize("share", [1e-3, 1e-19])
def test_curves_depend_on_the_ratio_of_thresholds_alone(share: float) -> None:
    """Check shares of any size, as below a top grade that no document has."""
    grades, chances = np.eye(3)[:, [2, 0, 1, 0, 2]], np.full((3, 5), 1 / 3)
    steps, holds = np.array([0.5, 0.5]), np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    first, second = (curves(Users(steps * by, holds), grades, chances) for by in (1, share))
    for name in first._fields:
        assert getattr(second, name) == pytest.approx(getattr(first, name), rel=1e-9)


def test_the_actual_curve_equals_the_curve_of_pr() -> None:
    run, qrels = graded_list([2, 0, 1, 0, 2, 1])
    result = gradedeval.precision_recall(run, qrels, "gap")
    users = inform(run, qrels, "ap").curves
    graded = users[(users["curve"] == "graded") & (users["measure"] == "ap")]
    assert graded["actual"].iloc[-1] == pytest.approx(
        result.frame[result.frame["measure"] == "gap"]["precision"].iloc[-1]
    )


@pytest.mark.exhaustive
@ignored
def test_frames_tables_csv_and_json_agree(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "topics").write_text("\n".join(TOPICS))
    words = ("informative", *RUNS, QRELS, "--depth", "60", "--min-found", "2", "-m", "gap ap", "--jobs", "1")
    words = (*words, "--topics-from", "topics")
    result = gradedeval.informativeness(RUNS, QRELS, "gap ap", depth=60, min_found=2, topics_from=TOPICS)
    outcome = cli(*words, "-q", "-f", "csv", "--curve", "curves.csv")
    assert (outcome.code, any("lists left out: without 2 documents" in line for line in outcome.messages)) == (0, True)
    rows = csv_rows(outcome.text)
    means = [row for row in rows if (row["run"], row["topic"]) == ("all", "all")]
    assert [float(row["rms"]) for row in means] == result.frame["rms"].tolist()
    lists = [row for row in rows if row not in means]
    assert [float(row["rms"]) for row in lists] == result.lists["rms"].tolist()
    assert {row["converged"] for row in lists} == {"1"}
    with (tmp_path / "curves.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(result.curves)
    written = json.loads(cli(*words, "-f", "json").out)
    assert [row["rms"] for row in written["rows"]] == [float(row["rms"]) for row in means]
    table = cli(*words, "-q", "--quiet").out.decode()
    assert "rms ≥1" in table
    assert "counts alone" in table


def test_measures_and_lists_without_an_inference_are_refused(cli: Command) -> None:
    with pytest.raises(InputError, match=r"^'q': its expectation is unknown; choose from ap, sp, gap, .* rbp$"):
        inform(RUNS, QRELS, "gap q")
    for words, message in {
        ("-m", "bpref"): "'bpref': its expectation is unknown; choose from ",
        ("--ties", "average"): "--ties: precision at a document needs one order; choose an order",
        ("-m", "err(gain=0.1:0.2:0.3:0.4:0.5)"): "'err(gain=0.1:0.2:0.3:0.4:0.5)': gives grade 0 the gain 0.1; here",
    }.items():
        outcome = cli("informative", RUNS[0], QRELS, *words, "--quiet")
        assert (outcome.code, outcome.messages[0].startswith(message)) == (2, True), outcome.messages
    outcome = cli("informative", RUNS[0], QRELS, "--depth", "40", "--quiet")
    hint = "lower --min-found, or raise --depth"
    assert (outcome.code, outcome.messages) == (1, [f"no list has 5 documents of each grade above 0; {hint}"])


def test_every_measure_with_an_expectation_of_its_own_is_named_in_the_docstring() -> None:
    assert all(name in (gradedeval.informativeness.__doc__ or "") for name in MAKERS)


FIRST = (
    *("BITEM_df", "CSIROmed_RF", "IRIT_marked_mu_pair", "OHSU_RUN1", "bm25_basline", "sab20.1.blind", "udel_fang_run3"),
    "uogTrDPH_prox_QQ",
)
BY_DEPTH = {
    100: {
        "gap(g=0:1)": (0.1633, 0.0929, 0.1281), "gap(g=0.25:0.75)": (0.1316, 0.0838, 0.1077),
        "gap": (0.1048, 0.0909, 0.0978), "gap(g=0.75:0.25)": (0.0914, 0.1084, 0.0999), "ap": (0.0890, 0.1409, 0.1150),
        "ndcg(gain=exp)": (0.1322, 0.0829, 0.1076), "ndcg": (0.1151, 0.0886, 0.1019),
        # rr: that one has .2037 and .2195. If rr is 1 the chances are known in closed form, and on the other lists
        # an augmented Lagrangian finds these.
        "err": (0.2030, 0.1417, None), "rr": (0.2354, 0.2394, None), "rbp(p=0.95)": (0.1078, 0.0934, None),
        "rbp": (0.1414, 0.1072, None), "counts alone": (0.2821, 0.2556, 0.2688),
    },
    1000: {
        "gap(g=0:1)": (0.1727, 0.1134, 0.1431), "gap(g=0.25:0.75)": (0.1449, 0.1273, 0.1361),
        "gap": (0.1213, 0.1395, 0.1304), "gap(g=0.75:0.25)": (0.1091, 0.1184, 0.1138), "ap": (0.1086, 0.1485, 0.1285),
        "ndcg(gain=exp)": (0.1386, 0.1219, 0.1302), "ndcg": (0.1223, 0.1303, 0.1263),
        "counts alone": (0.2960, 0.2666, None),
    },
}  # fmt: skip


@ignored
@pytest.mark.exhaustive
@pytest.mark.skipif(not COVID.is_dir(), reason="no TREC-COVID runs")
@pytest.mark.parametrize("depth", BY_DEPTH)
def test_real_runs_give_the_figures_of_another_implementation(depth: int) -> None:
    figures = BY_DEPTH[depth]
    result = gradedeval.informativeness(
        [str(COVID / "runs" / f"{name}.gz") for name in FIRST], str(COVID / "qrels.txt"),
        [name for name in figures if name != "counts alone"], depth=depth, topics_from=list(map(str, range(1, 11))),
    )  # fmt: skip
    frame = result.frame.pivot(index="measure", columns="curve", values="rms")
    assert set(result.frame["lists"]) == set(result.frame["converged"]) == {{100: 39, 1000: 67}[depth]}
    for name, values in figures.items():
        for curve, value in zip(("rel=1", "rel=2", "mean"), values, strict=True):
            assert value is None or frame.loc[name, curve] == pytest.approx(value, abs=0.001), (name, curve)


@ignored
@pytest.mark.skipif(not COVID.is_dir(), reason="no TREC-COVID runs")
def test_the_entropy_agrees_with_two_other_solvers() -> None:
    run, qrels = str(COVID / "runs" / "BITEM_df.gz"), str(COVID / "qrels.txt")
    lists = inform(run, qrels, "gap ap", depth=60, topics_from=["1"]).lists.drop_duplicates("measure")
    entropy = dict(zip(lists["measure"], lists["entropy"], strict=True))
    assert entropy["gap"] == pytest.approx(18.37330932, abs=1e-7)
    assert entropy["ap"] == pytest.approx(17.04178838, abs=1e-7)
    # 7e-11 below the best err that its documents can have: by an augmented Lagrangian for the logarithm of that.
    near = inform(run, qrels, "err", depth=100, topics_from=["10"]).lists
    assert near["entropy"].iloc[0] == pytest.approx(76.613187, abs=1e-4)
    assert near["rms"].iloc[:2].tolist() == pytest.approx([0.09509, 0.11103], abs=1e-5)
