"""Bounds of a difference, against all ways to judge the unjudged documents of two runs."""

import itertools
import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval.analysis import difference_bounds, greatest_differences
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.questions.limits import Bound
from support.examples import sampled
from support.measures import VARIANTS

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
Ranking = dict[str, float]
Runs = dict[str, dict[str, Ranking]]
Judged = dict[str, dict[str, int]]
TOPICS = ("1", "2", "3")
UNJUDGED = -1
EXACT = (
    "dcg@3", "p@2", "rbp(p=0.8)@3", "sdcg@3", "zipf@3", "gprecision@2", "sp", "err@2", "err@3", "rr@3",
    "success@2", "cascade(gamma=0.9,gain=linear)@3", "ndcg", "ndcg@2", "ndcg(gain=exp)@3", "ndcg(gain=0.1:0.5:1)",
    "recall@2", "grecall", "ap", "ap@2", "gap", "gap(g=1:3)@2", "ap(norm=k)@2", "gap(norm=k)@1", "gap(norm=k,g=1:3)@2",
)  # fmt: skip
SAFE = ("nerr", "nerr@2")
SEPARATE = (
    "q", "q@2", "q(norm=k)@2", "iprec(recall=0.5)", "iprec_avg", "inst", "f1", "set_p", "set_map", "set_recall",
    "relative_p@2",
)  # fmt: skip
"""Known by the bounds of each run."""


def ranked(docnos: Sequence[str]) -> Ranking:
    return {docno: float(-rank) for rank, docno in enumerate(docnos)}


def case(seed: int) -> tuple[Runs, Judged]:
    """Return two runs of a few documents, some in common, and grades of some of these and of other documents."""
    draw = random.Random(seed)
    runs: Runs = {"a": {}, "b": {}}
    qrels: Judged = {}
    for topic in TOPICS:
        docnos = [f"d{number}" for number in range(draw.randint(3, 6))]
        judged = draw.sample(docnos, max(0, len(docnos) - draw.randint(1, 3)))
        qrels[topic] = {
            docno: draw.choice((0, 0, 1, 2)) for docno in [*judged, "other", "another"][: draw.randint(1, 9)]
        }
        for run in runs.values():
            run[topic] = ranked(draw.sample(docnos, draw.randint(3, len(docnos))))
    return runs, qrels


def scored(runs: Runs, qrels: Judged, measures: Sequence[str], **rules: Any) -> Any:
    return gradedeval.evaluate(runs, qrels, list(measures), residuals="total", top_grade=2, **rules)


def compared(runs: Runs, qrels: Judged, measures: Sequence[str], **rules: Any) -> Any:
    return gradedeval.compare(scored(runs, qrels, measures, **rules), draws=10).frame.set_index("measure")


def enumerate_ends(runs: Runs, qrels: Judged, measures: Sequence[str], unseen: int = 0, **rules: Any) -> pd.DataFrame:
    """Return the least and the largest difference b − a by measure, scoring each completion as a topic.

    unseen  how many documents that neither run retrieved may be relevant too
    """
    ends = np.zeros((2, len(measures)))
    for topic in TOPICS:
        unknown = sorted((runs["a"][topic].keys() | runs["b"][topic].keys()) - qrels[topic].keys())
        unknown += [f"unseen{number}" for number in range(unseen)]
        ways = list(itertools.product((UNJUDGED, 0, 1, 2), repeat=len(unknown)))
        completed = {
            str(way): qrels[topic] | {d: g for d, g in zip(unknown, way, strict=True) if g != UNJUDGED} for way in ways
        }
        alike = {name: dict.fromkeys(completed, run[topic]) for name, run in runs.items()}
        scores = scored(alike, completed, measures, **rules)
        first, second = (run.score for run in scores.runs)
        ends += np.array([(second - first).min(0), (second - first).max(0)]) / len(TOPICS)
    return pd.DataFrame(ends.T, index=list(measures), columns=["least", "largest"])


def check_bounds(frame: pd.DataFrame, ends: pd.DataFrame) -> None:
    """Check that no completion leaves the bounds."""
    assert (frame["lowest"] <= ends["least"] + 1e-12).all()
    assert (frame["highest"] >= ends["largest"] - 1e-12).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("unseen", [0, 1, 2])
@pytest.mark.parametrize("seed", sampled(range(1, 8), 8))
def test_completions_of_the_judgments_reach_the_bounds_and_never_leave_them(seed: int, unseen: int) -> None:
    (runs, qrels), measures = case(seed), (*EXACT, *SAFE)
    frame, ends = compared(runs, qrels, measures, unseen=unseen), enumerate_ends(runs, qrels, measures, unseen)
    exact = frame.loc[list(EXACT)]
    np.testing.assert_allclose(exact["lowest"], ends.loc[list(EXACT), "least"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(exact["highest"], ends.loc[list(EXACT), "largest"], rtol=0, atol=1e-12)
    check_bounds(frame, ends)
    settled = (ends["least"] > 1e-9) | (ends["largest"] < -1e-9) | ((ends["largest"] - ends["least"]) < 1e-9)
    assert (frame["same_order"] <= settled).all()
    assert (frame["same_order"] == settled)[list(EXACT)].all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("unseen", [0, 1])
@pytest.mark.parametrize("seed", sampled(range(1, 8), 8))
def test_with_too_many_ways_to_try_bounds_are_safe(seed: int, unseen: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greatest_differences, "COMPLETIONS", 0)
    monkeypatch.setattr(greatest_differences, "EXACT", 1)
    monkeypatch.setattr(greatest_differences, "CELLS", 0)
    (runs, qrels), measures = case(seed), (*EXACT, *SAFE)
    frame, ends = compared(runs, qrels, measures, unseen=unseen), enumerate_ends(runs, qrels, measures, unseen)
    check_bounds(frame, ends)
    sums = [name for name in EXACT if getattr(parse_measures(name)[0].rank_sum, "of", "") == "gain"]
    np.testing.assert_allclose(frame.loc[sums, "highest"], ends.loc[sums, "largest"], rtol=0, atol=1e-12)


@pytest.mark.exhaustive
@pytest.mark.parametrize("unseen", [0, 1])
@pytest.mark.parametrize("seed", sampled(range(1, 8), 8))
def test_other_measures_use_the_bounds_of_each_run(seed: int, unseen: int) -> None:
    runs, qrels = case(seed)
    frame = compared(runs, qrels, (*SEPARATE, "gm_ap"), unseen=unseen)
    ends = enumerate_ends(runs, qrels, SEPARATE, unseen)
    check_bounds(frame.loc[list(SEPARATE)], ends)
    draw, row = random.Random(seed), frame.loc["gm_ap"]
    unknown = {topic: sorted((runs["a"][topic] | runs["b"][topic]).keys() - qrels[topic].keys()) for topic in TOPICS}
    for _ in range(5):
        judged = {topic: qrels[topic] | {docno: draw.randint(0, 2) for docno in unknown[topic]} for topic in TOPICS}
        first, second = (means["gm_ap"] for means in scored(runs, judged, ["gm_ap"]).means_by_run.values())
        assert row["lowest"] - 1e-12 <= second - first <= row["highest"] + 1e-12


def test_bounds_hold_for_means_over_the_orders_of_tied_documents() -> None:
    runs, qrels = case(1)
    tied = {
        name: {topic: {docno: score // 2 for docno, score in ranking.items()} for topic, ranking in run.items()}
        for name, run in runs.items()
    }
    measures = ("ap", "ap@2", "gap", "ndcg@3", "recall@1", "grecall@2", "f1@3")
    frame, ends = compared(tied, qrels, measures, ties="average"), enumerate_ends(tied, qrels, measures, ties="average")
    check_bounds(frame, ends)
    assert np.isnan(compared(tied, qrels, ["nerr"], ties="average")["lowest"]).all()


@pytest.mark.parametrize(
    ("measure", "difference"),
    [
        ("set_recall", -1.0),  # If u is relevant, a misses it and falls from 1 to 1/2, the score of b.
        ("rbp(p=0.5)", -0.5),  # W = 1/2, 1/4, 1/8 …: a has 1/2, and 1/2 past its end; b has u, and 1/4 past its end.
    ],
)
def test_documents_missing_from_a_run_may_be_relevant_too(measure: str, difference: float) -> None:
    runs = {"a": {topic: ranked(["x"]) for topic in TOPICS}, "b": {topic: ranked(["n", "u"]) for topic in TOPICS}}
    row = compared(runs, {topic: {"x": 2, "n": 0} for topic in TOPICS}, [measure]).loc[measure]
    assert row[["difference", "lowest", "highest"]].tolist() == [difference, -1.0, 0.0]
    assert not row["same_order"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", sampled(range(1, 4), 4))
def test_bounds_of_a_difference_are_no_wider_than_bounds_of_each_run(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, qrels = case(seed)
    monkeypatch.setattr(greatest_differences, "COMPLETIONS", 0)
    monkeypatch.setattr(greatest_differences, "CELLS", 0)
    joint = compared(runs, qrels, (*EXACT, *SAFE))
    monkeypatch.setattr(difference_bounds.Differences, "rank_sum", None)
    separate = compared(runs, qrels, (*EXACT, *SAFE))
    assert (joint["lowest"] >= separate["lowest"] - 1e-12).all()
    assert (joint["highest"] <= separate["highest"] + 1e-12).all()
    assert (joint["lowest"] > separate["lowest"] + 1e-9).any()


def test_every_kind_of_sum_over_ranks_is_tried() -> None:
    def kinds(measures: Iterable[Measure]) -> set[tuple[str, str]]:
        sums = [measure.rank_sum for measure in measures if measure.residual != "none"]
        return {(each.of, each.pool) for each in sums if each is not None}

    assert kinds(parse_measures(" ".join((*EXACT, *SAFE)))) == kinds(VARIANTS)


def test_judging_may_reverse_an_order_that_the_residual_of_the_lower_run_settles() -> None:
    """Make the first run win topic 1 with few relevant documents; judging the others there can void its lead."""
    deep = [f"u{rank}" for rank in range(20)]
    runs = {
        "a": {"1": ranked(["x", *deep]), "2": ranked(["n", "y"])},
        "b": {"1": ranked(["n", "m", "x"]), "2": ranked(["y"])},
    }
    qrels = {"1": {"x": 1, "n": 0, "m": 0}, "2": {"y": 1, "n": 0}}
    row = compared(runs, qrels, ["ap@3"]).loc["ap@3"]
    assert abs(row["difference"]) > 0.08
    assert row["lowest"] < 0 < row["highest"]
    assert not row["same_order"]


def test_a_topic_is_settled_only_if_judging_cannot_reverse_its_scores() -> None:
    runs = {"a": {topic: ranked(["x"]) for topic in TOPICS}, "b": {topic: ranked(["u", "v"]) for topic in TOPICS}}
    qrels, measures = {topic: {"x": 2} for topic in TOPICS}, ["recall", "gm_ap", "err@1"]
    scores = scored(runs, qrels, measures)
    frame = gradedeval.topic_differences(scores).frame.drop_duplicates("measure").set_index("measure")
    # u and v alone lift b to 2/3, less than a has: but then a comes down to 1/3.
    np.testing.assert_allclose(frame.loc["recall", ["low", "high"]].astype(float), [-1, 1 / 3])
    np.testing.assert_allclose(frame.loc["err@1", ["low", "high"]].astype(float), [-0.75, 0])
    assert frame["same_order"].tolist() == [False, False, False]
    named = [{name: run} for name, run in runs.items()]
    with pytest.warns(gradedeval.EvaluationWarning, match="^recall, gm_ap: unjudged documents that neither run"):
        assert not gradedeval.diff(*named, qrels, measures, top_grade=2).topics["same_order"].any()
    saved = gradedeval.topic_differences(scores.frame).frame.drop_duplicates("measure").set_index("measure")
    assert saved.loc["recall", ["low", "high"]].isna().all()
    assert saved["same_order"].tolist() == [False, False, False]
    np.testing.assert_allclose(saved.loc["err@1", ["low", "high"]].astype(float), [-0.75, 0])


def test_nothing_is_settled_if_grades_order_ties() -> None:
    """Put ties in their best order: u stands below n, and would stand above it if it were relevant."""
    tied = {topic: {"n": 1.0, "u": 1.0} for topic in TOPICS}
    runs = {"a": tied, "b": tied | {"1": ranked(["x"])}}
    qrels = {topic: {"x": 1, "n": 0} for topic in TOPICS}
    scores = gradedeval.evaluate(runs, qrels, "p@1 ap", residuals="total", ties="best")
    for source in (scores, scores.frame):
        assert gradedeval.compare(source, draws=10)["same_order"].isna().all()
        assert gradedeval.topic_differences(source)["same_order"].isna().all()
    frame = gradedeval.check(scores, [Bound("max-drop", "p@1", 0.1)], "b").frame
    assert frame["same_order"].tolist() == [None]
    named = [{name: run} for name, run in runs.items()]
    assert gradedeval.diff(*named, qrels, "p@1", ties="best").topics["same_order"].isna().all()


def test_a_check_says_whether_judging_could_reverse_a_drop() -> None:
    qrels = {topic: {"x": 2, "n": 0} for topic in TOPICS}
    runs = {"before": {topic: ranked(["x", "n"]) for topic in TOPICS}}
    for name, docnos in (("judged", ["n", "x"]), ("unjudged", ["u", "x"]), ("same", ["x", "n"])):
        runs[name] = {topic: ranked(docnos) for topic in TOPICS}
    bounds = [Bound("max-drop", "p@1", 0.1), Bound("min", "p@1", 0.1)]
    frame = gradedeval.check(scored(runs, qrels, ["p@1"]), bounds, "before").frame.set_index(["run", "bound"])
    assert frame["same_order"].tolist() == [True, None, False, None, None, None]
    assert frame.loc[("judged", "max-drop"), "verdict"].endswith(
        "; judging the unjudged documents could not reverse it"
    )
    assert frame.loc[("unjudged", "max-drop"), "verdict"].endswith("; judging the unjudged documents could reverse it")
    assert "judging" not in frame.loc[("same", "max-drop"), "verdict"]
