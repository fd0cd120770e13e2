"""`explain`: the contribution of each document, for every measure of the table, by hand, and at the command line."""

import io
import json
import math
import random
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gradedeval
from gradedeval import EvaluationWarning, Gains, InputError, Measure, evaluate, explain, measure, parse_measures
from gradedeval.kernel import parallel
from gradedeval.kernel.formats import FORMATS
from gradedeval.kernel.measures.bounds import exactness
from gradedeval.kernel.measures.definition import QUANTITIES
from gradedeval.questions.explain import Explained
from support.commands import Command, succeed
from support.examples import also, drawn, sampled
from support.measures import VARIANTS, every
from support.paths import SAMPLES
from support.topics import ANCHOR, TOP, Topic, any_topic

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")

WALKS = [variant for variant in VARIANTS if variant.definition.cwl and variant.arguments.get("of", "eu") == "eu"]
# One with a cutoff and one without of each.
BY_CUTOFF = {
    (variant.name, variant.cutoff is None): variant for variant in WALKS if variant.cutoff in (None, 3)
}.values()
TOTALS = [
    variant(of=quantity, **further)
    for variant in BY_CUTOFF
    for quantity in QUANTITIES
    for further in ({}, {"horizon": 4})
]
ALL = [variant for variant in dict.fromkeys(VARIANTS + TOTALS) if not variant.definition.may_skip]


def explained(topic: Topic, measures: Sequence[Measure], **options: Any) -> list[Explained]:
    """Return the explanations of a topic by each measure."""
    run = {"t": topic.run, "anchor": {"grade3": 1.0}}
    qrels = {"t": topic.judgments, "anchor": ANCHOR}
    return explain(run, qrels, measures, topic="t", **{"topics": "run", "top_grade": TOP, **options}).measures


def scores(topic: Topic, measures: Sequence[Measure]) -> Any:
    """Return the scores and the residuals of the same topic by an evaluation: 2 × measures."""
    run = {"t": topic.run, "anchor": {"grade3": 1.0}}
    qrels = {"t": topic.judgments, "anchor": ANCHOR}
    (evaluation,) = evaluate(run, qrels, measures, topics="run", top_grade=TOP, residuals="total").runs
    row = evaluation.topics.index("t")
    return evaluation.score[row], evaluation.residual[row]


def same(a: float, b: float) -> bool:
    return a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


TYPICAL = Topic((None, 3, 0, -1, 2, None, 1, 1, 0, 2, 3, None), (3, 0, 1))


@pytest.mark.exhaustive
@every(ALL)
@drawn(12)  # a second each for a thousand measures
@given(topic=any_topic)
@example(topic=TYPICAL)
@example(topic=Topic(()))
@also(topic=Topic((), (3, 1)))
@also(topic=Topic((3,)))
@also(topic=Topic((None,), (0,)))
def test_contributions_sum_to_the_score(measures: Sequence[Measure], topic: Topic) -> None:
    score, residual = scores(topic, measures)
    for index, explanation in enumerate(explained(topic, measures)):
        assert explanation.score == score[index]
        assert (explanation.residual is None) == bool(np.isnan(residual[index]))
        assert explanation.residual is None or explanation.residual == residual[index]
        assert same(sum(explanation.columns["contribution"]), explanation.score), explanation.measure
        if explanation.columns["running"]:
            assert same(explanation.columns["running"][-1], explanation.score), explanation.measure
        else:
            assert explanation.score == 0


@pytest.mark.exhaustive
@every(variant for variant in ALL if not variant.definition.cwl)
@drawn(12)
@given(topic=any_topic)
@also(topic=TYPICAL)
def test_the_running_score_is_the_score_of_the_documents_so_far(measures: Sequence[Measure], topic: Topic) -> None:
    whole = explained(topic, measures)
    shorter = [Topic(topic.ranking[:end]) for end in range(len(topic.ranking) + 1)]
    for end, part in enumerate(shorter):
        # Documents no longer retrieved are still judged.
        omitted = tuple(grade for grade in topic.ranking[end:] if grade is not None)
        score, _ = scores(Topic(part.ranking, (*omitted, *topic.missed)), measures)
        for index, explanation in enumerate(whole):
            running = {row["rank"]: row["running"] for row in explanation.rows() if row["part"] != "beyond"}
            assert same(running.get(end, 0.0 if end == 0 else score[index]), score[index]), explanation.measure


@pytest.mark.exhaustive
@every(variant for variant in VARIANTS if variant.residual != "none")
@drawn(30)
@given(ranking=st.lists(st.sampled_from([-1, 0, 1, 2, 3]), max_size=8), position=st.integers(0, 8), topic=any_topic)
def test_one_document_adds_residual(
    measures: Sequence[Measure], ranking: list[int], position: int, topic: Topic
) -> None:
    position = min(position, len(ranking))
    alone = Topic((*ranking[:position], None, *ranking[position:]), topic.missed)
    retrieved = [
        variant
        for variant in measures
        if variant.residual in ("within_run", "from_bounds") and (variant.cutoff or 99) > position
    ]
    # This cutoff leaves no ranks beyond the end of the run.
    beyond = [variant for variant in measures if variant.residual == "beyond_run"]
    endless = [
        variant @ len(alone.ranking) for variant in beyond if variant.definition.cutoff in ("truncates", "required")
    ]
    for explanation in explained(alone, retrieved + endless):
        (rise,) = (
            row["could_add"] for row in explanation.rows() if row["could_add"] is not None and row["part"] == "document"
        )
        assert explanation.residual is not None
        # A grade in between may lift a share of the ideal ranking further than the top one, and bounds may be wider.
        wider = explanation.measure.definition.gain != "binary" or exactness(explanation.measure) == "safe"
        wider &= explanation.measure.residual == "from_bounds"
        assert math.isclose(rise, explanation.residual, abs_tol=1e-12) or (wider and rise < explanation.residual), (
            explanation.measure
        )


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_no_document_alone_could_add_more_than_the_residual(step: int) -> None:
    """Check every measure on one of four topics, or on all of them."""
    shares = [variant for variant in VARIANTS if variant.residual == "from_bounds" and not variant.by_intent]
    topics = TYPICAL, Topic((3, None, 1, None, 0), (2,)), Topic((None, None), ()), Topic((0, None), (1,) * 40)
    for index, topic in enumerate(topics):
        for explanation in explained(topic, shares[index % step :: step]):
            rises = [row["could_add"] for row in explanation.rows() if row.get("could_add") is not None]
            assert explanation.residual is not None
            assert max(rises, default=0) <= explanation.residual + 1e-12, (explanation.measure, topic)


@pytest.mark.exhaustive
@every(variant for variant in VARIANTS if variant.residual != "none")
@drawn(30)
@given(ranking=st.lists(st.sampled_from([-1, 0, 1, 2, 3]), max_size=8), topic=any_topic)
def test_the_rest_adds_the_residual(measures: Sequence[Measure], ranking: list[int], topic: Topic) -> None:
    for explanation in explained(Topic(tuple(ranking), topic.missed), measures):
        rises = [row["could_add"] for row in explanation.rows() if row["could_add"] is not None]
        assert len(rises) <= 1
        assert explanation.residual is not None
        assert math.isclose(sum(rises), explanation.residual, abs_tol=1e-12), explanation.measure


@every(variant for variant in VARIANTS if variant.residual == "none" and not variant.definition.may_skip)
def test_measures_without_a_bound_have_no_possible_additions(measures: Sequence[Measure]) -> None:
    bounded = [
        explanation
        for explanation in explained(TYPICAL, measures)
        if "could_add" in explanation.columns or explanation.residual is not None
    ]
    assert [str(explanation.measure) for explanation in bounded] == []


def relevant_to_find(explanation: Explained) -> float:
    """Return R, or the cutoff if norm=k and it is smaller."""
    at_most_cutoff = explanation.measure.arguments.get("norm") == "k"
    assert explanation.relevant is not None
    return min(explanation.relevant, explanation.measure.cutoff or math.inf) if at_most_cutoff else explanation.relevant


# Contributions of each measure from its workings; the C/W/L family follows below.
FORMULAS = {
    "err": lambda f, explanation: f["stops"] * f["utility"],
    "cascade": lambda f, explanation: f["stops"] * f["utility"],
    "rr": lambda f, explanation: f["stops"] * f["utility"],
    "success": lambda f, explanation: f["stops"] * f["utility"],
    "nerr": lambda f, explanation: f["stops"] * f["utility"] / f["ideal_term"].sum(),
    "dcg": lambda f, explanation: f["gain"] * f["discount"],
    "ndcg": lambda f, explanation: f["gain"] * f["discount"] / f["ideal_term"].sum(),
    "q": lambda f, explanation: (f["gain"] > 0) * f["blended"] / relevant_to_find(explanation),
    "ap": lambda f, explanation: f["gain"] * f["precision"] / relevant_to_find(explanation),
    "sp": lambda f, explanation: f["gain"] * f["precision"],
    "gap": lambda f, explanation: f["term"] / f["ideal_term"].sum(),
    "bpref": lambda f, explanation: f["gain"] * f["preferred"] / explanation.relevant,
    **dict.fromkeys(("uniform", "zipf", "poisson", "logharmonic"), lambda f, explanation: f["gain"] * f["W"]),
}


def floats(explanation: Explained) -> dict[str, Any]:
    """Convert the columns of an explanation to numbers, nan for blanks."""
    return {
        name: np.array([np.nan if value is None else value for value in values], dtype=float)
        for name, values in explanation.columns.items()
        if name not in ("part", "docno")
    }


@pytest.mark.exhaustive
@every(variant for variant in VARIANTS if variant.name in FORMULAS)
@drawn(30)
@given(topic=any_topic.filter(lambda topic: any(grade > 0 for grade in topic.pool)))
@example(topic=TYPICAL)
@example(topic=Topic((1, None), (3, 2, 2)))
def test_the_workings_lead_to_the_contributions(measures: Sequence[Measure], topic: Topic) -> None:
    for explanation in explained(topic, measures):
        if not explanation.relevant:
            continue
        columns = floats(explanation)
        documents = np.array([part == "document" for part in explanation.columns["part"]], dtype=bool)
        columns = {name: np.nan_to_num(column) if name == "ideal_term" else column for name, column in columns.items()}
        expected = FORMULAS[explanation.measure.name](columns, explanation)
        assert expected[documents] == pytest.approx(columns["contribution"][documents], abs=1e-12), explanation.measure


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", sampled(range(3), 3), ids="from {} on, every third".format)
@drawn(30)
@given(topic=any_topic)
@example(topic=TYPICAL)
@example(topic=Topic(()))
def test_a_walk_goes_from_c_to_v_to_w_to_the_contributions(first: int, topic: Topic) -> None:
    for explanation in explained(topic, TOTALS[first::3]):
        columns, count = floats(explanation), explanation.columns["part"].count("document")
        C, V, W = (columns[name] for name in "CVW")
        horizon = dict(explanation.measure.parameters).get("horizon")
        if count:
            assert V[0] == 1
        last = count if horizon is None else min(count, int(str(horizon)))
        assert V[1:last] == pytest.approx(np.cumprod(C[:count])[: max(last - 1, 0)], abs=1e-12), explanation.measure
        if len(V) > count or V.sum() > 0:
            assert W.sum() == pytest.approx(1, abs=1e-9) or V.sum() == 0, explanation.measure
        quantity, gain = explanation.measure.arguments["of"], columns["gain"][:count]
        last_summed = explanation.measure.cutoff if explanation.measure.definition.cutoff == "sums_to_k" else None
        last_summed = last_summed or count
        rank = np.arange(1, count + 1)
        expected = {
            "eu": W[:count] * gain,
            "ec": W[:count],
            "ed": V[:count],
            "etu": V[:count] * (1 - C[:count]) * gain.cumsum(),
            "etc": V[:count] * (1 - C[:count]) * rank,
        }[str(quantity)] * (rank <= last_summed)
        assert columns["contribution"][:count] == pytest.approx(expected, abs=1e-12), explanation.measure


@pytest.mark.one_in(4)
@pytest.mark.parametrize("cells", [1, 7, 40])
def test_long_rankings_are_worked_on_in_parts(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(3)
    topic = Topic(tuple(dice.choice([None, 0, 1, 2, 3]) for _ in range(60)), (3, 3, 1))
    measures = parse_measures("err ndcg ap gap bpref judged num_ret p@100 inst q(beta=10)@20")
    whole = [explanation.columns for explanation in explained(topic, measures)]
    monkeypatch.setattr(parallel, "LIMITS", parallel.Limits(cells=cells))
    assert [explanation.columns for explanation in explained(topic, measures)] == whole


def by_hand(measures: str, docnos: str, judged: dict[str, float], **options: Any) -> list[list[dict[str, Any]]]:
    """Return the rows of each measure."""
    ranking = {docno: -float(rank) for rank, docno in enumerate(docnos.split())}
    return [
        list(explanation.rows()) for explanation in explain({"t": ranking}, {"t": judged}, measures, **options).measures
    ]


def column(rows: list[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows]


FOUR = {"a": 3, "b": 0, "c": 1, "d": 2}


DISCOUNT = 1 / math.log2(3)
IDEAL = 3 + 2 * DISCOUNT + 1 / 2
HARMONIC = 1 + 1 / 2 + 1 / 3
# As a further document of the pool it comes second in the ideal ranking, which is 3, 3, 2, 1 then.
MORE = 3 + 3 * DISCOUNT + 2 / 2 + 1 / math.log2(5)
BY_HAND: list[tuple[str, str, dict[str, float], dict[str, list[Any]]]] = [
    ("err@3", "x y z", {"x": 3, "y": 2, "z": 4, "w": 0}, {
        "docno": ["x", "y", "z"], "grade": [3, 2, 4], "gain": [7 / 16, 3 / 16, 15 / 16],
        "reached": [1, 9 / 16, 9 / 16 * 13 / 16],
        "stops": [7 / 16, 9 / 16 * 3 / 16, 9 / 16 * 13 / 16 * 15 / 16],
        "utility": [1, 1 / 2, 1 / 3],
        "contribution": [0.4375, 0.052734375, 0.142822265625],
        "running": [0.4375, 0.490234375, 0.633056640625],
        "could_add": [None] * 3,
    }),
    # Stops at rank 1 with 7/8; u at rank 2 with top gain: 1/8 · 7/8 · ½, and c after it has 1/8 of its 1/8 · 1/8 · ⅓.
    ("err@5", "a u c n b", FOUR, {
        "grade": [3, None, 1, None, 0],
        "could_add": [None, 1 / 8 * 7 / 8 / 2 - 7 / 8 * (1 / 8 * 1 / 8 / 3), None, 1 / 8 * 7 / 8 * 7 / 8 / 4, None],
    }),
    ("rbp", "a u c n b", FOUR, {
        "part": [*["document"] * 5, "beyond"], "rank": [1, 2, 3, 4, 5, None],
        "docno": [*"aucnb", None], "grade": [3, None, 1, None, 0, None],
        "C": [*[0.8] * 5, None],
        "V": [1, 0.8, 0.64, 0.512, 0.4096, 0.8**5 / 0.2],
        "W": [0.2, 0.16, 0.128, 0.1024, 0.08192, 0.8**5],
        "contribution": [0.2, 0, 0.128 / 3, 0, 0, 0],
        "could_add": [None, 0.16, None, 0.1024, None, 0.8**5],
    }),
    # One document of gain 1, p = ½: V is 1 and then ½, ¼, … = 1 in sum; Γ stays 1, K goes on.
    ("rbp(p=0.5,of=etu)", "a", {"a": 1}, {"contribution": [0.5, 0.5], "L": [0.5, None], "gained": [1, None]}),
    ("rbp(p=0.5,of=ec)", "a", {"a": 1}, {"contribution": [0.5, 0.5]}),
    # Half stop at cost 1, Σ_{i>1} i/2^i = 3/2.
    ("rbp(p=0.5,of=etc)", "a", {"a": 1}, {"contribution": [0.5, 1.5], "spent": [1, None]}),
    ("rbp(p=0.5,of=ed)", "a", {"a": 1}, {"contribution": [1, 1]}),
    ("zipf@3", "a u c", FOUR, {
        "W": [1 / HARMONIC, 1 / 2 / HARMONIC, 1 / 3 / HARMONIC],
        "contribution": [1 / HARMONIC, 0, 1 / 3 / HARMONIC / 3],
    }),
    # A user stops only at a relevant document, and there is none.
    ("cwlrr(of=ed)", "a b", {"a": 0, "b": 0}, {"contribution": [1, 1, math.inf]}),
    ("cwlrr(of=etu)", "a b", {"a": 0, "b": 0}, {"contribution": [0, 0, 0]}),
    ("ndcg", "a u c n b", FOUR, {
        "discount": [1, DISCOUNT, 1 / 2, 1 / math.log2(5), 1 / math.log2(6)], "ideal": [3, 2, 1, 0, 0],
        "ideal_term": [3, 2 * DISCOUNT, 1 / 2, 0, 0],
        "contribution": [3 / IDEAL, 0, 1 / 2 / IDEAL, 0, 0],
        "could_add": [None, (3.5 + 3 * DISCOUNT) / MORE - 3.5 / IDEAL, None,
                      (3.5 + 3 / math.log2(5)) / MORE - 3.5 / IDEAL, None],
    }),
    # The rest of the ideal ranking stands beyond the end.
    ("ndcg", "c", FOUR, {"part": ["document", "beyond"], "ideal_term": [3, 2 * DISCOUNT + 1 / 2]}),
    ("ndcg@1", "c", FOUR, {"ideal_term": [3]}),
    # u relevant: its own 2/2, and c's precision rises from 2/3 to 3/3; n: its own 3/4. R is four then.
    ("ap", "a u c n b", FOUR, {
        "precision": [1, 1 / 2, 2 / 3, 2 / 4, 2 / 5], "ideal": [1, 1, 1, 3 / 4, 3 / 5],
        "contribution": [1 / 3, 0, 2 / 9, 0, 0],
        "could_add": [None, (1 + 1 + 1) / 4 - 5 / 9, None, (1 + 2 / 3 + 3 / 4) / 4 - 5 / 9, None],
    }),
    # c counts from threshold 1 alone, as does a: 1/3 · 2/3
    ("gap", "a u c n b", FOUR, {
        "gain": [1, 0, 1 / 3, 0, 0], "precision": [1, 1 / 2, 4 / 9, 1 / 3, 4 / 15],
        "term": [1, 0, 2 / 9, 0, 0], "ideal_term": [1, 2 / 3, 1 / 3, 0, 0],
        "contribution": [1 / 2, 0, 1 / 9, 0, 0],
    }),
    ("q(rel=1)", "a b c", FOUR, {"blended": [2 / 2, 2 / 4, 4 / 6], "contribution": [1 / 3, 0, 2 / 9]}),
    ("bpref", "a b c", FOUR, {"above": [0, 1, 1], "contribution": [1 / 3, 0, 0]}),
    # A count may exist before any document.
    ("num_rel", "a u", FOUR, {"part": ["empty", "document", "document"], "rank": [0, 1, 2], "contribution": [3, 0, 0]}),
    ("num_ret", "a u", FOUR, {"contribution": [1, 1]}),
]  # fmt: skip


@pytest.mark.parametrize(("measure", "docnos", "judged", "expected"), BY_HAND)
def test_columns_by_hand(measure: str, docnos: str, judged: dict[str, float], expected: dict[str, list[Any]]) -> None:
    (rows,) = by_hand(measure, docnos, judged)
    for name, values in expected.items():
        near = [
            pytest.approx(value, rel=1e-12, abs=1e-15) if isinstance(value, int | float) else value for value in values
        ]
        assert column(rows, name) == near, name
    assert ("gain" in rows[0]) == (measure != "num_ret")


def test_costs_are_listed_with_their_documents() -> None:
    run = "t web a 1 2 x\nt news b 2 1 x\n"
    measures = "rbp(p=0.5,of=ec) rbp(p=0.5,of=etc)"
    costs = {"web": 4.0, "news": 2.0}
    explanation = explain(io.StringIO(run), {"t": {"a": 1}}, measures, costs=costs)
    ec, etc = (list(part.rows()) for part in explanation.measures)
    assert column(ec, "cost") == [4, 2, None]
    assert column(ec, "contribution") == pytest.approx([1 / 2 * 4, 1 / 4 * 2, 1 / 4])  # 1 each beyond the end
    assert column(etc, "spent") == [4, 6, None]
    assert column(etc, "contribution")[:2] == pytest.approx([1 / 2 * 4, 1 / 4 * 6])
    assert sum(column(etc, "contribution")) == pytest.approx(4 + 1 / 2 * 2 + 1 / 2)


def test_inst_by_hand() -> None:
    (rows,) = by_hand("inst", "a u c n b", FOUR)
    # T_1 = 1 − 1 = 0, T_3 = 1 − 4/3 = −1/3
    chances = [(1 / 2) ** 2, (2 / 3) ** 2, (8 / 11) ** 2]
    assert column(rows, "C")[:3] == pytest.approx(chances)
    assert column(rows, "V")[:4] == pytest.approx([1, 1 / 4, 1 / 9, 1 / 9 * 64 / 121])
    assert rows[0]["contribution"] / rows[2]["contribution"] == pytest.approx(1 / (1 / 9 / 3))
    assert sum(column(rows, "contribution")) == pytest.approx(0.6447, abs=5e-5)


RUN = "".join(f"{t} Q0 {d} 1 {s} x\n" for t, d, s in (
    ("1", "a", 3), ("2", "x", 9), ("1", "b", 2), ("1", "c", 2), ("2", "y", 8), ("1", "d", 2), ("9", "q", 1),
))  # fmt: skip
JUDGED = "1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 x 1\n3 0 z 2\n4 0 v 0\n1 0 s -1\n"


def docnos(topic: str = "1", run: str = RUN, **options: Any) -> list[Any]:
    explanation = explain(io.StringIO(run), io.StringIO(JUDGED), "ap", topic=topic, **options)
    return [row["docno"] for row in explanation.rows() if row["part"] == "document"]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, "adcb"),
        ({"ties": "docno-asc"}, "abcd"),
        ({"ties": "file"}, "abcd"),
        ({"ties": "best"}, "acbd"),
        ({"ties": "worst"}, "adbc"),
        ({"depth": 2}, "ad"),
        ({"judged_only": True}, "acb"),
    ],
)
def test_documents_stand_in_the_order_of_the_rules(rules: dict[str, Any], expected: str) -> None:
    assert docnos(**rules) == list(expected)
    lines = sorted(RUN.splitlines(keepends=True))  # topics one after the other
    assert docnos(run="".join(lines), **rules) == list(expected)


def test_a_cutoff_ends_the_rows_if_lower_ranks_add_nothing() -> None:
    assert [len(rows) for rows in by_hand("ap@2 rbp@2", "a u c n b", FOUR)] == [2, 6]


def test_a_topic_that_the_run_lacks_is_explained_as_an_empty_ranking() -> None:
    explanation = explain(io.StringIO(RUN), io.StringIO(JUDGED), "err@2 ap", topic="3")
    err, ap = explanation.measures
    assert (explanation.retrieved, explanation.judged, explanation.pool) == (0, 0, 1)
    assert (err.score, err.columns["part"], ap.columns["part"]) == (0, ["beyond"], [])
    assert err.columns["could_add"] == [err.residual]
    assert any("missing (3, 4)" in note for note in explanation.notes)


def test_the_run_s_own_topics_count_by_topics_run() -> None:
    explanation = explain(io.StringIO(RUN), io.StringIO(JUDGED), "err@1", topic="9", topics="run")
    (row,) = explanation.rows()
    assert (row["docno"], row["grade"], row["contribution"], row["could_add"]) == ("q", None, 0, 0.75)


def test_negative_grades_that_count_as_unjudged_could_add_something() -> None:
    judged = {"a": 2, "s": -1}
    (plain,) = by_hand("err@2", "s a", judged)
    (unjudged,) = by_hand("err@2", "s a", judged, negative="unjudged")
    assert [row["grade"] for row in plain] == [row["grade"] for row in unjudged] == [-1, 2]
    assert plain[0]["could_add"] is None
    assert unjudged[0]["could_add"] > 0


@pytest.mark.parametrize(
    ("topic", "rules", "problem"),
    [
        ("10", {}, "is not judged in qrels, and only topics=\"run\" includes such topics; did you mean '1'?"),
        ("9", {}, 'is not judged in qrels, and only topics="run" includes such topics; as in 1, 2, 3, 4, 5'),
        ("3", {"topics": "both"}, 'is not in run; topics="qrels" scores it 0'),
        ("3", {"topics": "run"}, 'is not in run; topics="qrels" scores it 0'),
        ("99", {"topics": "run"}, "is neither in run nor in qrels; did you mean '9'?"),
        ("2", {"topics_from": ["1"]}, "is not listed in topics_from; add it there"),
        ("5", {"topics": "relevant"}, 'has no relevant document in qrels; use topics="both" to include it'),
    ],
)
def test_a_topic_that_does_not_count_is_an_error(topic: str | None, rules: dict[str, Any], problem: str) -> None:
    run = {"1": {"a": 1.0}, "2": {"x": 1.0}, "9": {"q": 1.0}, "5": {"o": 1.0}}
    qrels = {"1": {"a": 1}, "2": {"x": 1}, "3": {"z": 2}, "4": {"v": 0}, "5": {"o": 0}}
    with pytest.raises(InputError) as error:
        explain(run, qrels, "ap", topic=topic, **rules)
    assert str(error.value) == f"topic: '{topic}' {problem}"
    assert error.value.exit_code == 2


def test_the_only_topic_need_not_be_named() -> None:
    assert explain({"t": {"a": 1.0}}, {"t": {"a": 1}}).topic == "t"
    assert explain({7: {"a": 1.0}, 8: {"a": 1.0}}, {7: {"a": 1}, 8: {"a": 1}}, topics_from=["8"]).topic == "8"
    assert explain({7: {"a": 1.0}, 8: {"a": 1.0}}, {7: {"a": 1}, 8: {"a": 1}}, topic=7).topic == "7"


def test_one_run_is_explained_with_the_residual_at_the_cutoff() -> None:
    run, qrels = {"t": {"a": 1.0}}, {"t": {"a": 1}}
    for words, problem in (
        ({"run": [run, run]}, "2 runs given"),
        ({"run": run, "residual_depth": "full"}, "residual_depth"),
        ({"run": run, "max_residual": 0.1}, "max_residual"),
    ):
        with pytest.raises(InputError, match=problem):
            explain(**{"qrels": qrels, **words})  # type: ignore[arg-type]


def test_an_explanation_has_the_signature_and_the_numbers_of_the_evaluation() -> None:
    words = (io.StringIO(RUN), io.StringIO(JUDGED), "err@20 gap")
    explanation = explain(*words, topic="1", gain="linear")
    evaluation = evaluate(io.StringIO(RUN), io.StringIO(JUDGED), "err@20 gap", gain="linear")
    assert explanation.signature == evaluation.signature
    assert len(evaluation.notes) == 5  # which are about other topics, ties and few topics
    # Only the ties of this topic have a note here.
    assert len(explanation.notes) == 1
    assert "equal scores: err@20 between 0.6250 and 0.7500, gap between 0.5833 and 0.8333" in explanation.notes[0]
    assert [part.score for part in explanation.measures] == [
        evaluation.by_topic(str(part.measure))["1"] for part in explanation.measures
    ]


def test_the_frame_has_a_row_for_each_rank_and_measure() -> None:
    explanation = explain({"t": {"a": 2.0, "u": 1.0}}, {"t": {"a": 1, "b": 1}}, "err ap num_ret")
    frame = explanation.frame
    assert list(frame.columns) == [
        *("run", "topic", "measure", "part", "rank", "docno", "grade", "gain", "reached", "stops", "utility"),
        *("precision", "ideal", "contribution", "running", "could_add"),
    ]
    assert frame["rank"].dropna().tolist() == [1, 2, 1, 2, 1, 2]
    sums = frame.groupby("measure")["contribution"].sum()
    assert all(sums[str(part.measure)] == pytest.approx(part.score) for part in explanation.measures)
    assert repr(explanation) == "<Explanation of run, topic t: err, ap, num_ret>"


def test_a_custom_measure_is_explained_and_may_add_columns() -> None:
    def halves(g: Gains, *, divisor: float = 2.0) -> dict[str, Any]:
        return {"half": g.gain / divisor}

    def half(g: Gains, *, divisor: float = 2.0) -> Any:
        """Return half the sum of gains."""
        return gradedeval.row_sums(g.gain / divisor)

    plain, detailed = measure(gain="linear")(half), measure(gain="linear", details=halves)(half)
    for custom, names in ((plain, set()), (detailed, {"half"})):
        (rows,) = by_hand(custom(divisor=4), "a u c", FOUR)  # type: ignore[arg-type]
        assert column(rows, "contribution") == pytest.approx([3 / 4, 0, 1 / 4])
        assert rows[0].keys() - {"part", "rank", "docno", "grade", "gain", "contribution", "running"} == names


@pytest.mark.parametrize(
    ("shows", "problem"),
    [
        (lambda g: {"x": g.gain[0]}, r"`details` has 'x' of shape \(3,\); expected topics × ranks, \(1, 3\)"),
        (lambda g: {"x": g.nothing}, "`details` failed .AttributeError"),
        (lambda g: 3, "`details` failed"),
        (lambda g: {"docno": g.gain}, "`details` has 'docno', which is already a column"),
    ],
)
def test_details_of_a_measure_must_be_one_number_a_rank(shows: Any, problem: str) -> None:
    def mine(g: Gains) -> Any:
        """Return the sum of gains."""
        return gradedeval.row_sums(g.gain)

    with pytest.raises(InputError, match=problem):
        by_hand(measure(gain="linear", details=shows)(mine), "a u c", FOUR)  # type: ignore[arg-type]


WORDS = ("explain", "run.txt", "qrels.txt", "--topic", "1")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(JUDGED)
    long = "".join(f"t Q0 d{rank:03} {rank} {-rank} x\n" for rank in range(100))
    (tmp_path / "long.txt").write_text(long)
    (tmp_path / "long.qrels").write_text("".join(f"t 0 d{rank:03} {int(rank % 3 == 0)}\n" for rank in range(60)))
    return tmp_path


@pytest.mark.parametrize("measure", ["insq(T=2e307)", "inst(T=1e308)", "nerr11(T=2e307)"])
@pytest.mark.parametrize("words", ["weights -m {} --ranks 2", "explain r q --topic 1 -m {}"])
def test_nearly_endless_users_are_explained_or_refused(words: str, measure: str, cli: Command, tmp_path: Path) -> None:
    (tmp_path / "r").write_text("1 Q0 a 1 2 x\n")
    (tmp_path / "q").write_text("1 0 a 1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        outcome = cli(*words.format(measure).split())
    assert outcome.code in (0, 1, 2)
    assert not any("Traceback" in line for line in outcome.messages)


LONG = ("explain", "long.txt", "long.qrels")


def table_rows(text: str) -> list[list[str]]:
    """Return the rows of the first table, blanks apart."""
    lines = text.splitlines()
    begin = next(index for index, line in enumerate(lines) if line.startswith("----"))
    return [line.split() for line in lines[begin + 1 : lines.index("", begin)]]


@pytest.mark.parametrize(
    ("words", "count", "remainder"),
    [
        (("-m", "ap"), 20, ["…", "80", "more"]),
        (("-m", "ap@30"), 30, None),
        (("-m", "ap@30", "--show", "5"), 5, ["…", "25", "more"]),
        (("-m", "ap", "--show", "99"), 100, None),  # a line about one document would be no shorter
        (("-m", "ap", "--show", "98"), 98, ["…", "2", "more"]),
        (("-m", "rbp@30"), 30, ["…", "70", "more"]),
    ],
)
def test_tables_show_some_ranks(
    words: tuple[str, ...], count: int, remainder: list[str] | None, files: Path, cli: Command
) -> None:
    rows = [row for row in table_rows(succeed(cli(*LONG, *words)).text) if not row[0].startswith(">")]
    assert [row[0] for row in rows[:count]] == [str(rank) for rank in range(1, count + 1)]
    assert [row[: len(remainder or [])] for row in rows[count:]] == ([remainder] if remainder else [])


def test_the_line_about_hidden_ranks_has_their_contributions(files: Path, cli: Command) -> None:
    rows = table_rows(succeed(cli(*LONG, "-m", "num_rel_ret")).text)
    assert rows[-1] == ["…", "80", "more", "13", "20"]


@pytest.mark.parametrize("form", [name for name, form in FORMATS.items() if form.layout == "long"])
def test_machine_formats_are_complete(form: str, files: Path, cli: Command) -> None:
    text = succeed(cli(*LONG, "-m", "ap err@7", "-f", form)).text
    whole = explain(str(files / "long.txt"), str(files / "long.qrels"), "ap err@7")
    rows = list(whole.rows())
    assert len(rows) == 107
    if form == "json":
        document = json.loads(text)
        assert document["rows"] == [{**row, "run": "long.txt"} for row in rows]
        assert document["signature"] == whole.signature
        (summary,) = document["topics"]
        assert (summary["topic"], summary["retrieved"], summary["judged"], summary["pool"]) == (
            "t",
            100,
            60,
            60,
        )
        assert summary["measures"] == [
            {
                "measure": str(explanation.measure),
                "score": explanation.score,
                "residual": explanation.residual,
                "relevant": explanation.relevant,
            }
            for explanation in whole.measures
        ]
    elif form == "jsonl":
        assert [json.loads(line) for line in text.splitlines()] == rows
    else:
        lines = [line.split("," if form == "csv" else "\t") for line in text.splitlines()]
        assert lines[0] == whole.columns
        assert lines[1:] == [["" if value is None else str(value) for value in row.values()] for row in rows]


def test_digits_round_everywhere(files: Path, cli: Command) -> None:
    document = json.loads(succeed(cli(*WORDS, "-m", "err", "-f", "json", "--digits", "2")).text)
    ((summary,),) = (topic["measures"] for topic in document["topics"])
    assert summary["score"] == round(summary["score"], 2)
    assert all(row["running"] == round(row["running"], 2) for row in document["rows"])
    assert "0.25000" in succeed(cli(*WORDS, "-m", "err", "--digits", "5")).text
    assert "0.06250" in succeed(cli(*WORDS, "-m", "err", "--like", "gdeval")).text  # which prints five digits


def test_infinity_is_null_in_json(files: Path, cli: Command) -> None:
    words = ("explain", "run.txt", "qrels.txt", "-m", "nerr5(of=ed)", "--topic", "3", "-f", "json")
    document = json.loads(succeed(cli(*words)).text)
    assert document["topics"][0]["measures"][0]["score"] is None
    assert document["rows"][-1]["contribution"] is None


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (("explain",), 2, "expected a run and a qrels file; usage: gradedeval explain RUN [RUN] QRELS [TOPIC]..."),
        (("explain", *["run.txt"] * 3, "qrels.txt"), 2, "3 runs given; explain one, or two side by side"),
        (("explain", "run.txt", "qrels.txt", "11"), 2, "'11' is not judged in qrels.txt, and only --topics "
         "run includes such topics; did you mean '1'?"),
        ((*WORDS, "--topic", "11"), 2, "--topic: '11' is not judged in qrels.txt, and only --topics run includes "
         "such topics; did you mean '1'?"),
        ((*WORDS, "-f", "csv", "--show", "3"), 2, "--show: the format csv lists all ranks; leave out --show"),
        ((*WORDS, "-o", "x.csv", "-m", "err(gain=grade)"), 1, "'err(gain=grade)': grade 2 is worth 2, outside 0..1; "
         "use gain=linear or gain=exp, or give values up to 1"),
        (("explain", "qrels.txt", "run.txt", "--topic", "1"), 1, "run.txt: looks like a run (6 fields per line), and "
         "qrels.txt like qrels (4 fields per line); swap them: the order is RUN... QRELS"),
    ],
)  # fmt: skip
def test_broken_input_is_one_line(words: tuple[str, ...], code: int, problem: str, files: Path, cli: Command) -> None:
    original = sorted(files.iterdir())
    outcome = cli(*words)
    assert (outcome.code, outcome.out, outcome.messages) == (code, b"", [problem])
    assert sorted(files.iterdir()) == original


def test_explain_reports_a_broken_line_of_another_topic(files: Path, cli: Command) -> None:
    (files / "run.txt").write_text(RUN + "9 Q0 z 1 x\n")
    outcome = cli(*WORDS)
    assert (outcome.code, outcome.out) == (1, b"")
    assert outcome.messages[0].startswith("run.txt:8: 5 fields")
    outcome = succeed(cli(*WORDS, "--lenient"))
    assert any("skipped 1 bad line" in message for message in outcome.messages)


def test_a_sampled_topic_is_explained_alone(tmp_path: Path) -> None:
    """Compare each contribution with the rise in score by one more rank, in a topic with fewer documents too."""
    strata = "1 0 a 1 1\n1 0 b 2 0\n1 0 c 2 2\n1 0 d 2 -1\n1 0 e 1 1\n2 0 a 1 1\n2 0 b 2 2\n2 0 c 2 -1\n"
    (tmp_path / "qrels").write_text(strata)
    qrels, options = gradedeval.Qrels(tmp_path / "qrels", format="strata"), {"qrels_format": "strata"}
    run = {"1": {docno: -float(rank) for rank, docno in enumerate("bacde")}, "2": {"b": 2.0, "a": 1.0}}
    names = ["infndcg", "xinfap", "statap"]
    cut = [gradedeval.evaluate(run, qrels, names, depth=rank, **options) for rank in range(1, 6)]
    for topic, ranking in run.items():
        by_measure = gradedeval.explain(run, qrels, names, topic=topic, **options).measures
        for name, explained in zip(names, by_measure, strict=True):
            ended = [0.0, *(scores.by_topic(name)[topic] for scores in cut)]
            steps = np.diff(ended)[: len(ranking)]
            assert explained.columns["contribution"] == pytest.approx(steps.tolist(), abs=1e-12)


def test_two_rankings_side_by_side(cli: Command) -> None:
    files = (str(SAMPLES / f"rivers{name}") for name in ("-bm25.run", "-neural.run", ".qrels"))
    words = ("explain", *files, "--topic", "301", "-m", "ndcg@5")
    text = cli(*words).text
    assert "ndcg@5: 0.5900 (residual 0.0000) and 0.5326 (residual 0.0000), difference -0.0573" in text
    assert "1 river-0202 4 0.5326 river-0202 4 0.5326 1 " in " ".join(text.split())
    rows = [json.loads(line) for line in cli(*words, "-f", "jsonl").text.splitlines()]
    for run, score in (("rivers-bm25.run", 0.58996), ("rivers-neural.run", 0.53262)):
        assert sum(row["contribution"] for row in rows if row["run"] == run) == pytest.approx(score, abs=1e-4)


def test_two_rankings_show_the_rank_of_a_document_below_the_cutoff(cli: Command, tmp_path: Path) -> None:
    for name, docnos in (("a", [f"d{number:02}" for number in range(30)]), ("b", ["d25", "d00", "new"])):
        (tmp_path / name).write_text("".join(f"1 Q0 {docno} 0 {-rank} {name}\n" for rank, docno in enumerate(docnos)))
    (tmp_path / "qrels").write_text("1 0 d00 1\n")
    text = cli("explain", *(str(tmp_path / name) for name in ("a", "b", "qrels")), "-m", "ndcg@3").text
    lines = [line.split() for line in text.splitlines()]
    assert [line[-1] for line in lines if line and line[0] in ("1", "2")] == ["26", "1"]


def test_the_default_topic_is_the_median_or_the_largest_difference() -> None:
    qrels = {topic: {"a": 1} for topic in "123"}
    good, fair, bad = {"a": 1.0}, {"x": 2.0, "a": 1.0}, {"x": 1.0}
    problem = "no topic given: explaining 2, with the median ap of 3; choose with topic"
    with pytest.warns(EvaluationWarning, match=problem):
        assert explain({"1": good, "2": fair, "3": bad}, qrels, "ap").topic == "2"


def test_of_two_runs_it_is_the_topic_with_the_largest_difference(files: Path, cli: Command) -> None:
    (files / "other.txt").write_text("1 Q0 z 1 1 x\n2 Q0 z 1 1 x\n")
    outcome = succeed(cli("explain", "run.txt", "other.txt", "qrels.txt", "-m", "ap"))
    assert outcome.messages[0].startswith("no topic given: explaining ")
    assert "the largest ap difference" in outcome.messages[0]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "qrels", "-12", "5", "-7"),
        ("run", "-m", "rr", "qrels", "-12", "--show", "3", "5", "-7"),
        ("run", "qrels", "-12", "--", "5", "-7"),
        ("run", "qrels", "--", "-12", "5", "-7"),
        ("run", "qrels", "--topic", "-12", "--topic", "5", "--topic", "-7"),
        ("--topic=-12", "--topic", "5", "run", "--topic=-7", "qrels"),
    ],
)
def test_a_topic_may_begin_with_a_minus(arguments: tuple[str, ...], cli: Command, tmp_path: Path) -> None:
    topics = ["-12", "-7", "5"]
    (tmp_path / "run").write_text("".join(f"{topic} Q0 a 1 1 x\n" for topic in topics))
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 a 1\n" for topic in topics))
    outcome = succeed(cli("explain", *arguments))
    headings = [line.split()[1] for line in outcome.text.splitlines() if line.startswith("topic ")]
    assert headings == ["-12", "5", "-7"]
    # The picture takes its arguments in the same way as these two.
    if arguments[1] == "-m" or arguments[0].startswith("--"):
        assert cli("plot", "explain", "-o", "a.svg", *arguments).code == 0


@pytest.mark.parametrize("topic", ["what are red shoes?", "what is 5*3"])
def test_a_topic_may_be_a_question(topic: str, cli: Command, tmp_path: Path) -> None:
    (tmp_path / "run").write_text(f"{topic}\tQ0\ta\t1\t1\tx\n")
    (tmp_path / "qrels").write_text(f"{topic}\t0\ta\t1\n")
    assert f"topic {topic} of run" in succeed(cli("explain", "run", "qrels", topic)).text


def test_a_topic_that_looks_like_an_option_has_a_hint(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("-zeta Q0 a 1 1 x\n")
    (tmp_path / "qrels").write_text("-zeta 0 a 1\n")
    problem = "unknown option '-z'; see `gradedeval explain --help`, or put -- before a topic that begins with -"
    assert cli("explain", "run", "qrels", "-zeta").messages == [problem]
    assert cli("explain", "run", "qrels", "--", "-zeta").code == 0


@pytest.mark.parametrize(
    ("measure", "gained"),
    [("ndcg@3", "dcg@3"), ("ndcg(gain=exp)@2", "dcg(gain=exp)@2"), ("nerr@4", "err@4"), ("ndcg", "dcg")],
)
def test_a_share_of_the_ideal_ranking_is_shown_as_a_fraction(measure: str, gained: str, cli: Command) -> None:
    run, qrels = str(SAMPLES / "rivers-bm25.run"), str(SAMPLES / "rivers.qrels")
    line = cli("explain", run, qrels, "306", "-m", measure).text.splitlines()[2]
    match = re.match(rf"{re.escape(measure)}: (\S+) = (\S+) / (\S+) \(ideal\)", line)
    assert match
    score, above, below = map(float, match.groups())
    assert above / below == pytest.approx(score, abs=2e-4)
    scores = gradedeval.evaluate(run, qrels, gained).by_topic(gained)
    assert above == pytest.approx(scores["306"], abs=5e-5)
