"""Numbers worked by hand: the papers' examples, and each rule of reading, gains and cutoffs as one small case."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import EvaluationWarning, InputError, Scores, evaluate, parse_measures

LOG3 = math.log2(3)  # the divisor at rank 2 is log2 3; at ranks 1 and 3 it is 1 and 2

UNUSED = pytest.mark.filterwarnings("ignore:.*no measure here uses it:gradedeval.EvaluationWarning")
"""For tests that give an option to measures that it does not change."""


def ranked(docnos: str) -> dict[str, float]:
    """A ranking from the best document to the worst."""
    return {docno: -float(rank) for rank, docno in enumerate(docnos.split())}


def score(measure: str, docnos: str, judged: Mapping[str, float], **rules: Any) -> float:
    """The score of one topic."""
    (value,) = evaluate({"t": ranked(docnos)}, {"t": judged}, measure, **rules).means.values()
    return float(value)


def residual(measure: str, docnos: str, judged: Mapping[str, float], **rules: Any) -> Any:
    """The residual of one topic; None where it is blank."""
    (value,) = evaluate(
        {"t": ranked(docnos)}, {"t": judged}, measure, **{"residuals": "total", **rules}
    ).residuals.values()
    return value


def told(run: Any, qrels: Any, measures: str, **rules: Any) -> Scores:
    """An evaluation with something to say: in `.notes`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        return evaluate(run, qrels, measures, **rules)


def lines(*rows: str) -> io.StringIO:
    """A file of these lines."""
    return io.StringIO("".join(f"{row}\n" for row in rows))


def by_topic(measure: str, run: Any, qrels: Any, **rules: Any) -> dict[str, float]:
    return told(run, qrels, measure, **rules).by_topic(measure)


# --- the papers' and other tools' examples ---------------------------------------------------------------------------


def test_accuracy_is_the_share_of_pairs_in_order() -> None:
    # n a u b m: of the pairs of a or b with n, u or m, a stands before two and b before one.
    judged = {"a": 1, "b": 2, "n": 0, "m": 0}
    assert score("accuracy", "n a u b m", judged) == pytest.approx(3 / 6)
    assert score("accuracy@3", "n a u b m", judged) == pytest.approx(1 / 2)
    assert score("accuracy(rel=2)", "n a u b m", judged) == pytest.approx(1 / 4)
    assert score("accuracy", "n u a b", judged) == 0
    assert score("accuracy", "a b", judged) == 1
    assert score("accuracy@1", "n a", judged) == 0


def test_f1_counts_a_short_run_as_filled_up() -> None:
    judged = {"a": 1, "b": 2, "c": 1, "n": 0}
    # P@4 = 2/4, R = 2/3: 2·2/(4 + 3); without a cutoff P is 2/3.
    assert score("f1@4", "a n b", judged) == pytest.approx(4 / 7)
    assert score("f1", "a n b", judged) == pytest.approx(score("set_f", "a n b", judged)) == pytest.approx(2 / 3)
    assert score("set_f@4", "a n b", judged) == pytest.approx(2 / 3)
    assert residual("f1@2", "a u", judged) == pytest.approx(4 / 6 - 2 / 5)  # u would be one more that is relevant


def test_hits_are_averaged_and_relevant_documents_retrieved_are_added_up() -> None:
    run = {"s": ranked("a b"), "t": ranked("a n")}
    judged = {topic: {"a": 1, "b": 1, "n": 0} for topic in "st"}
    assert evaluate(run, judged, "hits num_rel_ret hits@1").means == {"hits": 1.5, "num_rel_ret": 3, "hits@1": 1}


def test_the_worked_example_of_err() -> None:
    # Grades 3, 2, 4 on a scale of 0 to 4: 7/16 + ½·3/16·9/16 + ⅓·15/16·13/16·9/16
    value = score("err", "x y z", {"x": 3, "y": 2, "z": 4})
    assert value == pytest.approx(7 / 16 + 1 / 2 * 3 / 16 * 9 / 16 + 1 / 3 * 15 / 16 * 13 / 16 * 9 / 16, abs=1e-12)
    assert f"{value:.7f}" == "0.6330566"


# The run a u c n b, where u and n are unjudged and d is missed.
FOUR = {"a": 3, "b": 0, "c": 1, "d": 2}


@pytest.mark.parametrize(
    ("measure", "worked", "printed"),
    [
        ("ndcg", (3 + 1 / 2) / (3 + 2 / LOG3 + 1 / 2), "0.7350"),
        ("ndcg(gain=exp)", (7 + 1 / 2) / (7 + 3 / LOG3 + 1 / 2), "0.7985"),
        ("err", 7 / 8 + 1 / 3 * 1 / 8 * 1 / 8, "0.8802"),
        ("err(gain=ntcir)", 3 / 4 + 1 / 3 * 1 / 4 * 1 / 4, "0.7708"),
        ("ap", (1 / 1 + 2 / 3) / 3, "0.5556"),
        ("rbp(p=0.8,rel=1)", 0.2 * (1 + 0.8**2), "0.3280"),
        ("rbp(p=0.8)", 0.2 * (1 + 1 / 3 * 0.8**2), "0.2427"),
        # a counts at the thresholds 1, 2 and 3 with precision 1, c at threshold 1 with 2/3; over 3 + 2 + 1.
        ("gap", (1 + 1 + 1 + 2 / 3) / 6, "0.6111"),
        ("bpref", (1 + 1) / 3, "0.6667"),  # no document judged irrelevant stands above a or c
        ("q(rel=1)", ((1 + 1) / (1 + 1) + (2 + 2) / (3 + 3)) / 3, "0.5556"),
        ("q", ((1 + 3) / (1 + 3) + (2 + 4) / (3 + 6)) / 3, "0.5556"),
        ("nerr", (7 / 8 + 1 / 192) / (7 / 8 + 1 / 2 * 1 / 8 * 3 / 8 + 1 / 3 * 1 / 8 * 5 / 8 * 1 / 8), "0.9762"),
        ("dcg", 3 + 1 / 2, "3.5000"),
        ("sp", 1 + 2 / 3, "1.6667"),
        ("p@2", 1 / 2, "0.5000"),
        ("recall", 2 / 3, "0.6667"),
        ("rprec", 2 / 3, "0.6667"),  # a and c are among the first R = 3
        ("rr", 1, "1.0000"),
        ("success@1", 1, "1.0000"),
        ("grecall", (1 + 1 / 3) / (1 + 2 / 3 + 1 / 3), "0.6667"),
        ("gprecision@5", (1 + 1 / 3) / 5, "0.2667"),
        ("judged", 3 / 5, "0.6000"),
        ("unjudged@2", 1 / 2, "0.5000"),
        ("num_ret", 5, "5.0000"),
        ("num_rel", 3, "3.0000"),
        ("num_rel_ret", 2, "2.0000"),
        ("num_q", 1, "1.0000"),
    ],
)
def test_the_example_of_four_judged_documents(measure: str, worked: float, printed: str) -> None:
    value = score(measure, "a u c n b", FOUR)
    assert value == pytest.approx(worked, abs=1e-12)
    assert f"{value:.4f}" == printed


@pytest.mark.parametrize(
    ("measure", "worked"),
    [
        ("ap(norm=k)@2", 1 / 2),  # one hit, at rank 1, over min(3, 2)
        ("ap(norm=k)@3", (1 + 2 / 3) / 3),
        ("ap(norm=k)@10", (1 + 2 / 3) / 3),  # R is 3
        ("ap(norm=k,rel=2)@1", 1),
        ("q(norm=k)@2", 1 / 2),
        ("q(norm=k)@3", (1 + (2 + 4) / (3 + 6)) / 3),
        ("q(norm=k,beta=2)@3", (1 + (2 + 8) / (3 + 12)) / 3),
        # Of thresholds 1, 2 and 3 there are 3, 2 and 1 documents, of which 2, 2 and 1 can be found.
        ("gap(norm=k)@2", 3 / 5),
        ("gap(norm=k)@3", (3 + 2 / 3) / 6),
        ("gap(norm=k,g=1:0:1)@2", 2 / 3),
    ],
)
def test_with_norm_k_no_more_is_to_be_found_than_the_cutoff(measure: str, worked: float) -> None:
    assert score(measure, "a u c n b", FOUR) == pytest.approx(worked, abs=1e-12)
    assert score(measure, "a d c", FOUR) == pytest.approx(1, abs=1e-12)  # the ideal ranking


@pytest.mark.parametrize("name", ["ap", "gap", "q"])
def test_norm_k_needs_a_cutoff_and_takes_no_other_word(name: str) -> None:
    with pytest.raises(InputError, match=rf"norm=k needs a cutoff.*as in {name}\(norm=k\)@10"):
        gradedeval.parse_measures(f"{name}(norm=k)")
    with pytest.raises(InputError, match="norm=r is not k; as in norm=k"):
        gradedeval.parse_measures(f"{name}(norm=r)@10")


def test_the_example_of_four_judged_documents_on_a_scale_to_4() -> None:
    # 7/16 + ⅓·1/16·9/16
    value = score("err", "a u c n b", FOUR, top_grade=4)
    assert value == pytest.approx(7 / 16 + 1 / 3 * 1 / 16 * 9 / 16, abs=1e-12)
    assert f"{value:.4f}" == "0.4492"


def test_the_residual_of_the_example_of_four_judged_documents() -> None:
    # 0.2 (0.8 + 0.8³) for u and n, 0.8⁵ beyond the end
    scores = evaluate({"t": ranked("a u c n b")}, {"t": FOUR}, "rbp(p=0.8,rel=1)", residuals="split")
    row = next(scores.rows())
    assert row.unjudged == pytest.approx(0.2 * (0.8 + 0.8**3), abs=1e-12)
    assert row.beyond == pytest.approx(0.8**5, abs=1e-12)
    assert f"{row.residual:.4f}" == "0.5901"


def test_the_precisions_of_relevant_documents_at_ranks_2_5_6_13_and_20() -> None:
    docnos = [f"d{rank}" for rank in range(1, 21)]
    judged = {docno: int(rank in (2, 5, 6, 13, 20)) for rank, docno in enumerate(docnos, 1)}
    assert score("p@10", " ".join(docnos), judged) == pytest.approx(0.3)
    assert score("p@20", " ".join(docnos), judged) == pytest.approx(0.25)


def test_an_endless_list_of_one_gain_has_that_rbp_and_a_larger_err() -> None:
    # Nothing retrieved, and the top gain is ½: rbp ½; err Σ ½ (½)^{i−1} / i = ln 2.
    qrels = {"t": {"a": 1, "b": 0}, "other": {"a": 1}}
    scores = told({"other": ranked("a")}, qrels, "rbp(gain=0:0.5) err(gain=0:0.5)", residuals="total")
    rbp, err = (row.residual for row in scores.rows() if row.topic == "t")
    assert rbp == pytest.approx(0.5, abs=1e-12)
    assert err == pytest.approx(math.log(2), abs=1e-12)


def test_gap_with_one_threshold_is_average_precision() -> None:
    # a and c relevant at ranks 2 and 3: ½ (1/2 + 2/3)
    judged = {"a": 1, "b": 0, "c": 1}
    assert score("gap", "b a c", judged) == score("ap", "b a c", judged) == pytest.approx(7 / 12)


def test_err_with_gains_0_and_1_is_the_reciprocal_rank() -> None:
    judged = {"a": 1, "c": 3}
    assert score("err(rel=1)", "x y a c", judged) == score("rr", "x y a c", judged) == pytest.approx(1 / 3)


def test_bpref_with_k_10_forgives_more() -> None:
    # Run n a, R = 1, N = 2 judged irrelevant: 1 − min(1,1)/min(1,2) = 0; with k = 10: 1 − min(11,1)/min(11,2) = ½.
    judged = {"n": 0, "m": 0, "a": 1}
    assert score("bpref", "n a", judged) == 0
    assert score("bpref(k=10)", "n a", judged) == pytest.approx(1 / 2)


def test_bpref_does_not_see_the_unjudged() -> None:
    assert score("bpref", "u v n a", {"n": 0, "m": 0, "a": 1, "b": 1}) == score(
        "bpref", "n a", {"n": 0, "m": 0, "a": 1, "b": 1}
    )


def test_binary_q_is_the_form_with_the_smaller_of_rank_and_r() -> None:
    # Relevant at ranks 2 and 4, R = 2: ½ (2·1/(2 + 2) + 2·2/(4 + 2)) = ½ (1/2 + 2/3)
    assert score("q", "x a y b", {"a": 1, "b": 1}) == pytest.approx(7 / 12)


def test_the_discount_of_jaervelin_and_kekaelaeinen_begins_after_rank_b() -> None:
    # Gains 3 2 1 2 with base 2: 3 + 2 + 1/log2 3 + 2/log2 4; with base 4: 3 + 2 + 1 + 2/log4 4.
    judged = {"a": 3, "b": 2, "c": 1, "d": 2}
    assert score("dcg(log=2)", "a b c d", judged) == pytest.approx(5 + 1 / LOG3 + 1)
    assert score("dcg(log=4)", "a b c d", judged) == pytest.approx(8)


def test_a_cascade_with_other_utilities() -> None:
    # Gains 1/8 and 7/8 at ranks 2 and 3 (grades 1 and 3, top 3); who reaches rank 3: 7/8.
    judged = {"a": 1, "b": 3}
    assert score("cascade", "x a b", judged) == pytest.approx(1 / 2 * 1 / 8 + 1 / 3 * 7 / 8 * 7 / 8)
    assert score("cascade(utility=dcg)", "x a b", judged) == pytest.approx(1 / LOG3 / 8 + 1 / 2 * 49 / 64)
    assert score("cascade(utility=one)", "x a b", judged) == pytest.approx(1 - 7 / 8 * 1 / 8)
    assert score("cascade(utility=one,gamma=0.5)", "x a b", judged) == pytest.approx(1 / 2 / 8 + 1 / 4 * 49 / 64)


def test_a_cascade_with_a_utility_from_a_file_is_worth_nothing_after_its_last_line(tmp_path: Path) -> None:
    file = tmp_path / "utility.txt"
    file.write_text("1\n0.5\n", encoding="utf-8")
    measure = f'cascade(utility="{file}",rel=1)'
    assert score(measure, "a x y", {"a": 1}) == 1
    assert score(measure, "x a y", {"a": 1}) == 0.5
    assert score(measure, "x y a", {"a": 1}) == 0
    # The best case of a run of one unjudged document: everybody stops there. Of an irrelevant one: at rank 2.
    assert residual(measure, "u", {"a": 1}) == 1
    assert residual(measure, "b", {"a": 1, "b": 0}) == 0.5
    assert residual(measure, "b b2", {"a": 1, "b": 0, "b2": 0}) == 0


# --- cutoffs ---------------------------------------------------------------------------------------------------------

# Run a x b c: grades 1, 0, 3, 2; d of grade 3 is missed.
CUT = {"a": 1, "x": 0, "b": 3, "c": 2, "d": 3}


@pytest.mark.parametrize(
    ("measure", "worked"),
    [
        # The sum stops at k, and nothing is divided by less.
        ("err@1", 1 / 8),
        ("err@2", 1 / 8),
        ("err@3", 1 / 8 + 1 / 3 * 7 / 8 * 7 / 8),
        ("err@100", 1 / 8 + 1 / 3 * 7 / 8 * 7 / 8 + 1 / 4 * 3 / 8 * 7 / 8 * 1 / 8),
        ("cascade(utility=one)@1", 1 / 8),
        ("rbp(p=0.5,rel=1)@1", 1 / 2),
        ("rbp(p=0.5,rel=1)@3", 1 / 2 + 1 / 8),
        ("dcg@1", 1),
        ("dcg@3", 1 + 3 / 2),
        ("sp@3", 1 + 2 / 3),
        # R is never cut.
        ("ap@1", 1 / 4),
        ("ap@3", (1 + 2 / 3) / 4),
        ("ap@100", (1 + 2 / 3 + 3 / 4) / 4),
        ("recall@3", 2 / 4),
        ("q(rel=1)@3", (1 + (2 + 2) / (3 + 3)) / 4),
        ("q@1", (1 + 1) / (1 + 3) / 4),
        # Thresholds 1, 2, 3. Precisions at rank 3: 2/3 at threshold 1, 1/3 at 2 and 3; the pool is worth 1 + 3 + 2 + 3.
        ("gap@1", 1 / 9),
        ("gap@3", (1 + 2 / 3 + 1 / 3 + 1 / 3) / 9),
        ("grecall@3", 4 / 9),
        ("bpref@1", 1 / 4),
        # The ideal ranking 3 3 2 1 is cut alike.
        ("ndcg@1", 1 / 3),
        ("ndcg@2", 1 / (3 + 3 / LOG3)),
        ("ndcg@3", (1 + 3 / 2) / (3 + 3 / LOG3 + 2 / 2)),
        ("nerr@1", (1 / 8) / (7 / 8)),
        ("nerr@2", (1 / 8) / (7 / 8 + 1 / 2 * 7 / 8 * 1 / 8)),
        # Divided by k, also where fewer are retrieved.
        ("p@1", 1),
        ("p@2", 1 / 2),
        ("p@10", 3 / 10),
        ("gprecision@3", (1 / 3 + 1) / 3),
        ("gprecision@10", (1 / 3 + 1 + 2 / 3) / 10),
        ("rr(rel=2)@2", 0),
        ("rr(rel=2)@3", 1 / 3),
        ("success(rel=3)@2", 0),
        ("success(rel=3)@3", 1),
        ("num_ret@3", 3),
        ("num_ret@10", 4),
        ("num_rel_ret@3", 2),
    ],
)
def test_a_cutoff(measure: str, worked: float) -> None:
    assert score(measure, "a x b c", CUT) == pytest.approx(worked, abs=1e-12)


def test_judged_is_a_share_of_what_is_retrieved_and_unjudged_a_share_of_k() -> None:
    assert score("judged@10", "a u b", {"a": 1, "b": 0}) == pytest.approx(2 / 3)
    assert score("unjudged@10", "a u b", {"a": 1, "b": 0}) == pytest.approx(1 / 10)
    assert score("judged@2", "a u b", {"a": 1, "b": 0}) == score("unjudged@2", "a u b", {"a": 1, "b": 0}) == 1 / 2


@pytest.mark.parametrize("measure", ["p", "gprecision"])
def test_precision_needs_a_cutoff(measure: str) -> None:
    with pytest.raises(InputError, match="needs a cutoff"):
        parse_measures(measure)


@pytest.mark.parametrize("measure", ["rprec@5", "num_rel@5", "num_q@5"])
def test_what_counts_the_whole_pool_takes_no_cutoff(measure: str) -> None:
    with pytest.raises(InputError, match="takes no cutoff"):
        parse_measures(measure)


def test_ranks_count_from_1() -> None:
    with pytest.raises(InputError, match="cutoff 0"):
        parse_measures("err@0")


# --- gains -----------------------------------------------------------------------------------------------------------


def gains(scheme: str, grades: Sequence[float], measure: str, **rules: Any) -> list[float]:
    """What each grade is worth: dcg@1 and rbp(p=0) of a run of one document are its gain."""
    form = {"raw": f"dcg(gain={scheme})@1", "unit": f"rbp(p=0,gain={scheme})"}[measure]
    scale = {f"g{number}": grade for number, grade in enumerate(grades)}
    return [score(form, docno, scale, **rules) for docno in scale]


@pytest.mark.parametrize(
    ("scheme", "raw", "unit"),
    [
        ("linear", [0, 1, 2, 3], [0, 1 / 3, 2 / 3, 1]),  # g, and g / 3
        ("exp", [0, 1, 3, 7], [0, 1 / 8, 3 / 8, 7 / 8]),  # 2^g − 1, and that over 2³
        ("ntcir", [0, 1, 2, 3], [0, 1 / 4, 2 / 4, 3 / 4]),  # g, and g / (3 + 1)
        ("0:0.1:0.4:1", [0, 0.1, 0.4, 1], [0, 0.1, 0.4, 1]),
        ("0.05:0.1:0.4:1", [0.05, 0.1, 0.4, 1], [0.05, 0.1, 0.4, 1]),
        ("0:1:0.5:0", [0, 1, 0.5, 0], [0, 1, 0.5, 0]),  # no order is asked for
        ("0:0:0:0.5:1", [0, 0, 0, 0.5], [0, 0, 0, 0.5]),  # a value more than there are grades
    ],
)
def test_what_the_grades_are_worth(scheme: str, raw: list[float], unit: list[float]) -> None:
    assert gains(scheme, [0, 1, 2, 3], "raw") == pytest.approx(raw, abs=1e-12)
    assert gains(scheme, [0, 1, 2, 3], "unit") == pytest.approx(unit, abs=1e-12)


def test_the_grade_itself_can_be_the_gain() -> None:
    assert gains("grade", [0, 1, 2, 3], "raw") == [0, 1, 2, 3]
    assert gains("grade", [0, 0.25, 1], "unit") == [0, 0.25, 1]


def test_fractional_grades_are_worth_what_the_formulas_say() -> None:
    # Top grade 1: exp gives 2^½ − 1, and that over 2¹; ntcir g / 2.
    assert gains("linear", [0, 0.5, 1], "unit") == [0, 0.5, 1]
    assert gains("exp", [0, 0.5, 1], "raw") == pytest.approx([0, math.sqrt(2) - 1, 1])
    assert gains("exp", [0, 0.5, 1], "unit") == pytest.approx([0, (math.sqrt(2) - 1) / 2, 1 / 2])
    assert gains("ntcir", [0, 0.5, 1], "unit") == [0, 0.25, 0.5]


def test_a_gap_between_the_grades_changes_no_gain() -> None:
    assert gains("linear", [0, 1, 4], "unit") == [0, 1 / 4, 1]
    assert gains("exp", [0, 1, 4], "unit") == [0, 1 / 16, 15 / 16]
    assert gains("0:0.1:0.2:0.3:1", [0, 1, 4], "unit") == [0, 0.1, 1]


@pytest.mark.parametrize("scheme", ["linear", "exp", "ntcir", "grade", "0:0.5:1", "0.3:0.5:1"])
@pytest.mark.parametrize("form", ["dcg(gain={})@1", "rbp(p=0,gain={})"])
def test_a_negative_grade_is_worth_0(scheme: str, form: str) -> None:
    # Also where grade 0 has a gain: spam is judged, and worth nothing.
    top = 1 if scheme == "grade" else 2
    assert score(form.format(scheme), "spam", {"spam": -2, "bad": -1, "none": 0, "good": top}) == 0


def test_a_negative_grade_does_not_lengthen_the_ideal_ranking() -> None:
    # Run good, spam with gains 0.5 for grade 0 and 1 for grade 1: dcg 1, and the ideal has nothing but good: 1.
    assert score("ndcg(gain=0.5:1)", "good spam", {"good": 1, "spam": -1}) == 1


def test_grade_0_may_have_a_gain_and_the_unjudged_get_none() -> None:
    judged = {"a": 1, "b": 0}
    assert score("rbp(p=0.5,gain=0.2:1)", "b a", judged) == pytest.approx(0.5 * (0.2 + 0.5 * 1))
    assert score("rbp(p=0.5,gain=0.2:1)", "u a", judged) == pytest.approx(0.5 * (0 + 0.5 * 1))


def test_the_top_grade_is_that_of_the_file_and_not_of_the_topic() -> None:
    # Topic t has nothing better than grade 1; the 3 of another topic makes that 1/3, or (2 − 1)/2³.
    run, qrels = {"t": ranked("a"), "s": ranked("b")}, {"t": {"a": 1}, "s": {"b": 3}}
    scores = evaluate(run, qrels, "rbp(p=0) err")
    assert scores.by_topic("rbp(p=0)") == pytest.approx({"t": 1 / 3, "s": 1})
    assert scores.by_topic("err") == pytest.approx({"t": 1 / 8, "s": 7 / 8})


def test_the_top_grade_of_the_file_counts_topics_that_are_not_scored() -> None:
    scores = told({"t": ranked("a")}, {"t": {"a": 1}, "s": {"b": 3}}, "err", topics="both")
    assert scores.by_topic("err") == pytest.approx({"t": 1 / 8})


@UNUSED
def test_a_top_grade_given_is_the_top_of_the_scale() -> None:
    assert gains("linear", [0, 1, 2], "unit", top_grade=4) == [0, 1 / 4, 2 / 4]
    assert gains("exp", [0, 1, 2], "unit", top_grade=4) == [0, 1 / 16, 3 / 16]
    assert gains("exp", [0, 1, 2], "raw", top_grade=4) == [0, 1, 3]


def test_a_grade_above_the_top_grade_given_is_an_error() -> None:
    with pytest.raises(InputError, match="grade 3 is above the top grade 2"):
        score("err", "a", {"a": 3}, top_grade=2)


def test_a_qrels_file_without_a_grade_above_0_scores_0_and_has_no_residual() -> None:
    scores = told({"t": ranked("a u")}, {"t": {"a": 0, "b": -1}}, "err ap ndcg rbp gap p@2", residuals="total")
    assert set(scores.means.values()) == {0}
    assert set(scores.residuals.values()) == {None}
    assert any("no grade above 0" in note for note in scores.notes)


def test_a_top_grade_given_brings_back_the_residuals_of_a_file_without_a_grade_above_0() -> None:
    # rr: u in rank 2 could be the first relevant one.
    assert residual("rr@2", "a u", {"a": 0}, top_grade=1) == 1 / 2


def test_rel_makes_the_gains_of_a_graded_measure_0_and_1() -> None:
    assert score("dcg(rel=2)", "a b c", {"a": 1, "b": 2, "c": 3}) == pytest.approx(1 / LOG3 + 1 / 2)
    assert score("rbp(rel=2,p=0.5)", "a b c", {"a": 1, "b": 2, "c": 3}) == pytest.approx(1 / 4 + 1 / 8)


@UNUSED
def test_rel_is_the_lowest_relevant_grade_and_may_be_a_fraction() -> None:
    judged = {"a": 0.5, "b": 1, "c": 2}
    assert score("rr", "a b c", judged) == 1 / 2
    assert score("rr(rel=0.5)", "a b c", judged) == 1
    assert score("rr(rel=1.5)", "a b c", judged) == pytest.approx(1 / 3)
    assert score("rr", "a b c", judged, rel=2) == pytest.approx(1 / 3)
    assert score("rr(rel=1)", "a b c", judged, rel=2) == 1 / 2


def test_the_defaults_are_those_of_the_papers() -> None:
    # Grade 1 of 3: (2 − 1)/8 for err and its kin, 1/3 for rbp and gap, 1 for dcg.
    judged = {"a": 1, "b": 3}
    for measure in ("err", "cascade"):
        assert score(measure, "a", judged) == 1 / 8
    assert score("nerr@1", "a", judged) == pytest.approx(1 / 7)
    assert score("ndcg@1", "a", judged) == pytest.approx(1 / 3)
    assert score("rbp(p=0)", "a", judged) == pytest.approx(1 / 3)
    assert score("dcg", "a", judged) == 1
    assert score("q", "a", judged) == pytest.approx((1 + 1) / (1 + 3) / 2)
    assert score("gprecision@1", "a", judged) == pytest.approx(1 / 3)


def test_a_top_grade_told_sets_the_scale_so_that_the_residual_is_a_bound() -> None:
    # Thresholds 1, 2, 3, whatever is judged: a document of grade 1 is worth 1/3. With 1 alone it would be worth 1, and
    # the judgment of x would change that, though it was judged all along.
    judged = {"d0": 1, "d1": 0}
    before = evaluate({"t": ranked("d0 d1")}, {"t": judged}, "gprecision@2", top_grade=3, residuals="total")
    after = score("gprecision@2", "d0 d1", {**judged, "x": 3}, top_grade=3)
    assert before.means["gprecision@2"] == after == pytest.approx(1 / 6)
    assert before.residuals["gprecision@2"] == 0


def test_a_gain_scheme_for_all_graded_measures_beats_defaults_and_loses_to_a_measure_s_own() -> None:
    with pytest.warns(gradedeval.EvaluationWarning, match=r"dcg, dcg\(gain=exp\): the same measure, shown as dcg"):
        scores = evaluate(
            {"t": ranked("a")}, {"t": {"a": 1, "b": 3}}, "dcg rbp(p=0) dcg(gain=exp) dcg(rel=1) ap", gain="exp"
        )
    assert scores.means == pytest.approx({"dcg": 1, "rbp(p=0)": 1 / 8, "dcg(rel=1)": 1, "ap": 1 / 2}, abs=1e-12)
    scores = evaluate({"t": ranked("b")}, {"t": {"a": 1, "b": 3}}, "dcg dcg(gain=linear)", gain="exp")
    assert scores.means == {"dcg": 7, "dcg(gain=linear)": 3}


@pytest.mark.parametrize(
    ("measure", "judged"),
    [
        ("err(gain=grade)", {"a": 3}),
        ("rbp(gain=0:1:2)", {"a": 2}),
        ("cascade(gain=0:0.5:1.1)", {"a": 2, "b": 1}),
        ("rbp(gain=1.5:1)", {"a": 1, "b": 0}),
    ],
)
def test_a_gain_outside_0_to_1_is_an_error_where_it_is_a_chance(measure: str, judged: Mapping[str, float]) -> None:
    with pytest.raises(InputError, match=r"0\.\.1"):
        score(measure, "a b", judged)


def test_a_gain_above_1_is_fine_where_gains_are_cumulated() -> None:
    assert score("dcg(gain=0:10)", "a", {"a": 1}) == 10


@pytest.mark.parametrize(
    ("scheme", "grade", "missing"), [("0:1", 2, "grade 2"), ("0:1", 0.5, "grade 0.5"), ("0:0.5:1", 3, "grade 3")]
)
def test_a_grade_without_a_value_in_the_list_is_an_error(scheme: str, grade: float, missing: str) -> None:
    with pytest.raises(InputError, match=f"no value for {missing}"):
        score(f"dcg(gain={scheme})", "a", {"a": grade, "b": 1})


def test_a_list_needs_a_value_for_the_top_grade_given() -> None:
    with pytest.raises(InputError, match="no value for grade 3"):
        score("dcg(gain=0:0.5:1)", "a", {"a": 2}, top_grade=3)


def test_gains_from_a_file_serve_fractions_and_gaps(tmp_path: Path) -> None:
    file = tmp_path / "gains.csv"
    file.write_text("grade,gain\n0,0\n0.5,0.1\n2,0.3\n10,0.9\n", encoding="utf-8")
    assert gains(f'"@{file}"', [0, 0.5, 2, -1], "raw") == [0, 0.1, 0.3, 0]
    assert gains(f'"@{file}"', [0, 0.5, 2, -1], "unit") == [0, 0.1, 0.3, 0]
    # The top gain is the scheme's largest, 0.9.
    assert residual(f'rbp(p=0.5,gain="@{file}")', "a", {"a": 2}) == pytest.approx(0.9 * 0.5)


def test_a_gain_for_a_negative_grade_in_a_file_is_no_top_gain(tmp_path: Path) -> None:
    file = tmp_path / "gains.csv"
    file.write_text("-1,0.9\n0,0\n1,0.5\n", encoding="utf-8")
    # A negative grade is worth 0; the largest gain is 0.5.
    assert residual(f'rbp(p=0.5,gain="@{file}")', "a spam", {"a": 1, "spam": -1}) == pytest.approx(0.5 * 0.5**2)


def test_a_grade_that_a_file_of_gains_lacks_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "gains.csv"
    file.write_text("0,0\n1,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="no gain for grade 2"):
        score(f'dcg(gain="@{file}")', "a", {"a": 2})


def test_exponential_gains_of_a_very_long_scale() -> None:
    # (2^g − 1) / 2^top is 1 − 2^−1100 at the top, though 2^1100 is not a number of the machine; a cumulated gain cannot
    # do without it.
    assert score("err", "x a", {"a": 1100, "b": 1099}) == 1 / 2
    assert score("err", "x b", {"a": 1100, "b": 1099}) == pytest.approx(1 / 4)
    with pytest.raises(InputError, match="1100"):
        score("dcg(gain=exp)", "a", {"a": 1100})


@UNUSED
def test_a_max_gain_is_the_best_case_of_documents_not_judged() -> None:
    # Grades up to 0.5 that are gains: beyond the first rank lies p·0.5, or p·1 where a gain of 1 is possible.
    assert residual("rbp(p=0.8,gain=grade)", "a", {"a": 0.5}) == pytest.approx(0.8 * 0.5)
    assert residual("rbp(p=0.8,gain=grade)", "a", {"a": 0.5}, max_gain=1) == pytest.approx(0.8)
    assert score("rbp(p=0.8,gain=grade)", "a", {"a": 0.5}, max_gain=1) == pytest.approx(0.2 * 0.5)


def test_a_max_gain_is_what_each_document_of_the_best_ranking_of_erria_has() -> None:
    # One document of gain 2/3 at rank 1: .614·2/3, over Σ 1/i · .614 g · (1 − .614 g)^(i−1) with g = 2/3, or 1.
    measure, found = "erria(stop=0.614,norm=best,gain=ntcir)", 0.614 * 2 / 3
    for rules, stop in (({}, found), ({"max_gain": 1}, 0.614)):
        best = -stop * math.log(stop) / (1 - stop)
        (value,) = told({"t": ranked("a")}, {"t": {"a": 2}}, measure, **rules).means.values()
        assert value == pytest.approx(found / best)


# --- thresholds of gap -----------------------------------------------------------------------------------------------


@UNUSED
def test_the_thresholds_of_gap_are_the_grades_up_to_the_top_grade() -> None:
    # Grades 1 and 2 of 4: thresholds 1, 2, 3, 4, each with ¼; a is relevant to ¼, b to ½ of the users. Run a b:
    # threshold 1: 1 + 2/2; threshold 2: 1/2; over 1 + 2.
    judged = {"a": 1, "b": 2}
    assert score("gap", "a b", judged, top_grade=4) == pytest.approx((2 + 1 / 2) / 3)
    assert score("gap(g=1:1:1:1)", "a b", judged, top_grade=4) == pytest.approx((2 + 1 / 2) / 3)
    assert score("gprecision@1", "a", judged, top_grade=4) == 1 / 4


def test_the_weights_of_gap_are_shares_of_the_users() -> None:
    # g = 3:1: a of grade 1 is relevant to ¾ of the users, b of grade 2 to all. Run a b: threshold 1 gives ¾ (1 + 1),
    # threshold 2 gives ¼ · ½; over ¾ + 1.
    judged = {"a": 1, "b": 2}
    worked = (3 / 4 * 2 + 1 / 4 * 1 / 2) / (3 / 4 + 1)
    for g in ("3:1", "0.75:0.25", "6:2"):
        assert score(f"gap(g={g})", "a b", judged) == pytest.approx(worked)
    assert score("gprecision(g=3:1)@1", "a", judged) == 3 / 4
    assert score("grecall(g=3:1)", "a", judged) == pytest.approx(3 / 7)


def test_a_threshold_that_nobody_sets_counts_for_nothing() -> None:
    assert score("gap(g=0:1)", "a b", {"a": 1, "b": 2}) == 1 / 2  # ap(rel=2)
    assert score("gap(g=1:0)", "a b", {"a": 1, "b": 2}) == 1  # ap


def test_a_grade_that_nobody_gave_is_a_threshold_all_the_same() -> None:
    # Grades 1 and 3: thresholds 1, 2 and 3, each with ⅓. Run a b: ⅓ (1 + 1) + ⅔ · ½, over ⅓ + 1.
    judged = {"a": 1, "b": 3, "x": 0}
    assert score("gap", "a b", judged) == pytest.approx((2 / 3 + 1 / 3) / (4 / 3))
    assert score("gap(g=3:0:1)", "a b", judged) == pytest.approx((3 / 4 * 2 + 1 / 4 * 1 / 2) / (3 / 4 + 1))


@UNUSED
@pytest.mark.parametrize("measure", ["gap", "grecall@1", "gprecision@1"])
def test_neither_the_same_top_grade_told_nor_a_grade_elsewhere_changes_graded_precision(measure: str) -> None:
    judged = {"a": 1, "b": 3, "x": 0}
    alone = evaluate({"t": ranked("a b")}, {"t": judged}, measure)
    told_top = evaluate({"t": ranked("a b")}, {"t": judged}, measure, top_grade=3)
    assert told_top.means == alone.means
    assert told_top.signature == alone.signature
    beside = evaluate({"t": ranked("a b"), "s": ranked("c")}, {"t": judged, "s": {"c": 2}}, measure)
    assert beside.by_topic(measure)["t"] == alone.means[measure]


@UNUSED
def test_a_top_grade_too_high_to_list_its_thresholds_is_only_a_large_number() -> None:
    assert score("gap", "a b", {"a": 1, "b": 0}, top_grade=1e30) == 1
    with pytest.raises(InputError, match=r"g has 2 values for \d{31} thresholds"):
        score("gap(g=1:1)", "a b", {"a": 1}, top_grade=1e30)


def test_fractional_grades_are_thresholds_themselves() -> None:
    # Grades 0.5 and 1, each with ½. Run a b: ½ (1 + 1) + ½ · ½, over ½ + 1.
    judged = {"a": 0.5, "b": 1, "x": 0, "spam": -1}
    assert score("gap", "a b", judged) == pytest.approx((1 + 1 / 4) / (3 / 2))
    assert score("gprecision(g=3:1)@1", "a", judged) == 3 / 4


@pytest.mark.parametrize(
    ("g", "judged"),
    [("1:1", {"a": 3, "b": 1, "c": 2}), ("1:1", {"a": 3, "b": 1}), ("1:1:1", {"a": 0.5, "b": 1})],
)
@pytest.mark.parametrize("measure", ["gap", "grecall", "gprecision"])
def test_another_number_of_weights_than_of_thresholds_is_an_error(
    measure: str, g: str, judged: Mapping[str, float]
) -> None:
    with pytest.raises(InputError, match=r"g has \d values for \d thresholds"):
        score(f"{measure}(g={g})@5", "a b", judged)


def test_gains_give_gap_its_weights() -> None:
    # exp: g_1 = 1, g_2 = 3 − 1, g_3 = 7 − 3.
    judged = {"a": 1, "b": 3, "c": 2}
    assert score("gap(gain=exp)", "a b c", judged) == pytest.approx(score("gap(g=1:2:4)", "a b c", judged), abs=1e-12)


def test_graded_precision_is_a_share_whatever_the_gains() -> None:
    # The g_j are chances of exclusive events and sum to 1: with linear gains ⅓ each. Run a u with a at the top grade 3:
    # ½ (1 + 0); u could be at the top grade too.
    judged = {"a": 3, "b": 1, "c": 2}
    assert score("gprecision(gain=linear)@2", "a u", judged) == pytest.approx(1 / 2)
    assert score("gprecision@2", "a u", judged, gain="exp") == pytest.approx(1 / 2)
    assert residual("gprecision(gain=linear)@2", "a u", judged) == pytest.approx(1 / 2)


@pytest.mark.parametrize("gain", ["0.1:0.5:1", "0:1:0.5", "1:0:0"])
def test_gap_needs_gains_that_rise_from_0(gain: str) -> None:
    with pytest.raises(InputError, match="gain 0 for grade 0"):
        score(f"gap(gain={gain})", "a b", {"a": 1, "b": 2, "c": 0})


def test_gap_needs_a_gain_of_0_for_grade_0_even_where_nobody_gave_that_grade() -> None:
    with pytest.raises(InputError, match="gain 0 for grade 0"):
        score("gap(gain=0.1:0.5:1)", "a b", {"a": 1, "b": 2})


# --- order -----------------------------------------------------------------------------------------------------------


def test_scores_and_not_ranks_or_lines_make_the_order() -> None:
    run = lines("t Q0 a 1 0.5 x", "t Q0 b 2 1.5 x", "t Q0 c 3 1e0 x")
    # b c a
    assert evaluate(run, {"t": {"a": 1}}, "rr").means["rr"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("first", "second"),
    [("b", "a"), ("9", "10"), ("a", "Z"), ("ab", "a"), ("é", "z"), ("a-1", "a"), ("doc2", "doc10")],
)
def test_ties_are_in_docno_order_byte_by_byte(first: str, second: str) -> None:
    for docnos in ((first, second), (second, first)):
        run = {"t": dict.fromkeys(docnos, 1.0)}
        judged = {"t": {first: 1, second: 0}}
        assert evaluate(run, judged, "rr").means == {"rr": 1}
        assert evaluate(run, judged, "rr", ties="docno-asc").means == {"rr": 1 / 2}


def test_only_ties_are_in_docno_order() -> None:
    run = {"t": {"a": 2.0, "b": 1.0, "c": 1.0}}
    assert evaluate(run, {"t": {"a": 1}}, "rr").means == {"rr": 1}
    assert evaluate(run, {"t": {"b": 1}}, "rr").means["rr"] == pytest.approx(1 / 3)


def test_ties_can_stay_as_listed() -> None:
    run = lines("t Q0 a 9 1 x", "t Q0 c 8 2 x", "t Q0 b 7 1 x")
    # c, then a and b as listed
    assert evaluate(run, {"t": {"a": 1}}, "rr", ties="file").means == {"rr": 1 / 2}


def test_ties_can_go_by_the_rank_column() -> None:
    rows = ("t Q0 a 9 1 x", "t Q0 c 8 2 x", "t Q0 b 7 1 x")
    # c has the best score; b and a by their ranks 7 and 9
    assert evaluate(lines(*rows), {"t": {"b": 1}}, "rr", ties="rank").means == {"rr": 1 / 2}
    assert evaluate(lines(*rows), {"t": {"a": 1}}, "rr", ties="rank").means["rr"] == pytest.approx(1 / 3)


def test_a_run_without_ranks_cannot_have_its_ties_by_rank() -> None:
    with pytest.raises(InputError, match="rank"):
        evaluate({"t": {"a": 1.0, "b": 1.0}}, {"t": {"a": 1}}, "rr", ties="rank")


def test_ties_at_their_best_and_at_their_worst() -> None:
    # Four tied documents of grades −1, 0, 2 and none.
    run = {"t": dict.fromkeys(("spam", "zero", "good", "unjudged"), 1.0)}
    qrels = {"t": {"spam": -1, "zero": 0, "good": 2}}
    assert evaluate(run, qrels, "rr judged@3", ties="best").means == {"rr": 1, "judged@3": 1}
    worst = evaluate(run, qrels, "rr judged@1 judged@2", ties="worst").means
    assert worst == {"rr": 1 / 4, "judged@1": 0, "judged@2": 1 / 2}  # the unjudged stand lowest


def test_the_best_case_keeps_the_order_of_the_worst_ties() -> None:
    # u and a of grade 1 (top 3) tie; at their worst u stands first. err = ½·1/8; with u at the top grade
    # 7/8 + ½·1/8·1/8. (A new order would put a first: 1/8 + ½·7/8·7/8.)
    run, qrels = {"t": {"u": 1.0, "a": 1.0}}, {"t": {"a": 1, "b": 3}}
    found = evaluate(run, qrels, "err@2", ties="worst", residuals="total")
    assert found.means["err@2"] == 1 / 16
    assert found.residuals["err@2"] == pytest.approx(7 / 8 + 1 / 128 - 1 / 16)


def test_the_order_of_the_file_needs_no_scores() -> None:
    run = lines("t Q0 b 1 nonsense x", "t Q0 a 1 7 x")
    assert evaluate(run, {"t": {"a": 1}}, "rr", order="file").means == {"rr": 1 / 2}
    assert evaluate({"t": {"b": 1, "a": 2}}, {"t": {"a": 1}}, "rr", order="file").means == {"rr": 1 / 2}


def test_scores_that_differ_after_seven_digits_tie_in_single_precision() -> None:
    # 1.00000001 and 1 are one float32: then b comes before a.
    run = lines("t Q0 a 1 1.00000001 x", "t Q0 b 2 1 x")
    qrels = {"t": {"a": 1}}
    assert evaluate(run, qrels, "rr").means == {"rr": 1}
    run.seek(0)
    assert evaluate(run, qrels, "rr", order="float32").means == {"rr": 1 / 2}


def test_scores_that_no_single_float_holds_tie_without_a_word() -> None:
    run = {"t": {"a": 2e300, "b": 1e300, "c": -1e300}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "there is one topic|.*many documents have equal scores")
        assert evaluate(run, {"t": {"a": 1}}, "rr", order="float32").means == {"rr": 1 / 2}
        assert evaluate(run, {"t": {"a": 1}}, "rr").means == {"rr": 1}


# --- depth and condensed lists ---------------------------------------------------------------------------------------


def test_depth_keeps_the_best_documents_and_not_the_first_lines() -> None:
    run = {"t": {"c": 1.0, "a": 3.0, "b": 2.0}}
    # a and b stay: num_ret 2, and c is not found.
    found = evaluate(run, {"t": {"a": 1, "c": 1}}, "num_ret recall ap", depth=2)
    assert found.means == {"num_ret": 2, "recall": 1 / 2, "ap": 1 / 2}


def test_depth_cuts_after_ties_are_settled() -> None:
    run = {"t": {"x": 2.0, "a": 1.0, "b": 1.0}}
    assert evaluate(run, {"t": {"b": 1, "a": 0}}, "success", depth=2).means == {"success": 1}
    assert evaluate(run, {"t": {"b": 1, "a": 0}}, "success", depth=2, ties="docno-asc").means == {"success": 0}


def test_a_condensed_list_has_no_unjudged_documents() -> None:
    # u a n b: ½ (1/2 + 2/4); without u and n: 1.
    judged = {"a": 1, "b": 1}
    assert score("ap", "u a n b", judged) == 1 / 2
    assert score("ap", "u a n b", judged, judged_only=True) == 1
    assert score("num_ret", "u a n b", judged, judged_only=True) == 2


def test_a_list_is_condensed_before_it_is_cut() -> None:
    assert score("recall", "u a n b", {"a": 1, "b": 1}, judged_only=True, depth=1) == 1 / 2
    assert score("recall", "u a n b", {"a": 1, "b": 1}, depth=1) == 0


def test_a_condensed_list_drops_spam_where_spam_is_unjudged() -> None:
    judged = {"spam": -1, "a": 1}
    assert score("rr", "spam a", judged, judged_only=True) == 1 / 2
    assert score("rr", "spam a", judged, judged_only=True, negative="unjudged") == 1


def test_a_condensed_list_has_no_residual() -> None:
    with pytest.raises(InputError, match="condensed"):
        score("rr", "a", {"a": 1}, judged_only=True, residuals="total")


# --- topics ----------------------------------------------------------------------------------------------------------

# `none` has no relevant document; the run lacks `lacking` and has `extra` besides.
RUN = {"good": ranked("a"), "none": ranked("a"), "extra": ranked("a")}
QRELS = {"good": {"a": 1}, "none": {"a": 0}, "lacking": {"a": 1}}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("qrels", {"good": 1, "none": 0, "lacking": 0}),
        ("both", {"good": 1, "none": 0}),
        ("run", {"good": 1, "none": 0, "extra": 0}),
        ("relevant", {"good": 1}),
    ],
)
def test_which_topics_count(policy: str, expected: Mapping[str, float]) -> None:
    found = told(RUN, QRELS, "rr", topics=policy)
    assert found.by_topic("rr") == expected
    assert found.means["rr"] == pytest.approx(sum(expected.values()) / len(expected))
    assert found.means == (told(RUN, QRELS, "rr").means if policy == "qrels" else found.means)


def test_what_is_left_out_or_scores_0_is_counted_and_named() -> None:
    notes = told(RUN, QRELS, "rr").notes
    assert any("1 of 3 judged topics is missing from the run (lacking)" in note for note in notes)
    assert any("1 unjudged topic (extra)" in note for note in notes)
    with pytest.warns(EvaluationWarning, match="1 of 2 judged topics is missing from the run"):
        evaluate({"a": ranked("x")}, {"a": {"x": 1}, "b": {"x": 1}}, "rr")


@pytest.mark.parametrize("chosen", [["good", "none"], [b"good", b"none"]])
def test_chosen_topics_restrict_the_qrels_and_the_run(chosen: list[Any]) -> None:
    assert by_topic("rr", RUN, QRELS, topics_from=chosen) == {"good": 1, "none": 0}
    note, few = told(RUN, QRELS, "rr", topics_from=chosen).notes
    assert few == "the means are over 2 topics; too few to tell systems apart"
    assert note.startswith("qrels: 1 of 2 topics has no relevant documents (none) and scores 0")


def test_chosen_topics_come_from_a_file_too(tmp_path: Path) -> None:
    fold = tmp_path / "fold1"
    fold.write_text("good\nextra\n", encoding="utf-8")
    assert by_topic("rr", RUN, QRELS, topics_from=fold) == {"good": 1}
    assert by_topic("rr", RUN, QRELS, topics_from=fold, topics="run") == {"good": 1, "extra": 0}


def test_a_topic_is_its_bytes() -> None:
    run = {"051": ranked("a"), "2019-1": ranked("a"), "économie-8": ranked("a")}
    qrels = {"051": {"a": 1}, "2019-1": {"a": 1}, "économie-8": {"a": 0}}
    assert evaluate(run, qrels, "rr").by_topic("rr") == {"051": 1, "2019-1": 1, "économie-8": 0}
    with pytest.raises(InputError, match="shares no topics"):
        evaluate({"51": ranked("a")}, {"051": {"a": 1}}, "rr")


def test_counts_are_summed_up_and_shares_averaged() -> None:
    found = told(RUN, QRELS, "num_q num_ret num_rel num_rel_ret recall")
    expected = {"num_q": 3, "num_ret": 2, "num_rel": 2, "num_rel_ret": 1, "recall": 1 / 3}
    assert found.means == pytest.approx(expected)


# --- negative grades -------------------------------------------------------------------------------------------------


@UNUSED
@pytest.mark.parametrize(
    ("measure", "judged", "unjudged"),
    [
        # Run spam a: R = 1, and N = 1 only where spam is judged.
        ("bpref", 0, 1),
        ("judged@2", 1, 1 / 2),
        ("unjudged@2", 0, 1 / 2),
        ("p@2", 1 / 2, 1 / 2),
        ("rr", 1 / 2, 1 / 2),
        ("num_ret", 2, 2),
    ],
)
def test_spam_is_judged_unless_it_is_said_to_be_unjudged(measure: str, judged: float, unjudged: float) -> None:
    qrels = {"spam": -2, "a": 1}
    assert score(measure, "spam a", qrels) == judged
    assert score(measure, "spam a", qrels, negative="unjudged") == unjudged


def test_spam_that_is_unjudged_could_be_better_than_it_looks() -> None:
    # rr of spam a: ½, and 1 if spam were relevant.
    assert residual("rr", "spam a", {"spam": -2, "a": 1}) == 0
    assert residual("rr", "spam a", {"spam": -2, "a": 1}, negative="unjudged") == 1 / 2


# --- duplicates ------------------------------------------------------------------------------------------------------

TWICE = ("t Q0 a 1 3 x", "t Q0 b 2 2 x", "t Q0 a 3 1 x")


@pytest.mark.parametrize("policy", ["error", "refuse"])
def test_a_document_twice_in_a_run_is_an_error_with_both_lines(policy: str) -> None:
    with pytest.raises(InputError, match=r"(?s):3: .*document 'a'.*topic t.*line 1"):
        evaluate(lines(*TWICE), {"t": {"a": 1}}, "rr", duplicates=policy)


@pytest.mark.parametrize(("policy", "rr"), [("first", 1), ("last", 1 / 2)])
def test_the_first_or_the_last_of_a_document_in_a_run_can_count(policy: str, rr: float) -> None:
    with pytest.warns(EvaluationWarning, match="dropped 1 duplicate document"):
        found = evaluate(lines(*TWICE), {"t": {"a": 1}}, "rr num_ret", duplicates=policy)
    assert found.means == {"rr": rr, "num_ret": 2}


def test_a_document_may_be_in_two_topics() -> None:
    run = lines("s Q0 a 1 1 x", "t Q0 a 1 1 x", "s Q0 b 2 0 x")
    assert evaluate(run, {"s": {"a": 1}, "t": {"a": 1}}, "rr").means == {"rr": 1}


def test_a_document_twice_under_names_that_are_one_docno_is_a_duplicate_too() -> None:
    with pytest.raises(InputError, match="duplicate document"):
        evaluate({"t": {"1": 2.0, 1: 1.0}}, {"t": {"1": 1, "2": 1}}, "recall")


@pytest.mark.parametrize("policy", ["error", "refuse"])
def test_two_grades_of_one_document_are_an_error_with_both_lines(policy: str) -> None:
    qrels = lines("t 0 a 1", "t 0 b 0", "t 0 a 2")
    with pytest.raises(InputError, match=r"(?s):3: .*document 'a'.*topic t.*grade 2.*line 1 with grade 1"):
        evaluate({"t": ranked("a")}, qrels, "dcg", duplicates=policy)


@pytest.mark.parametrize(("policy", "dcg"), [("first", 1), ("last", 2)])
def test_the_first_or_the_last_grade_of_a_document_can_count(policy: str, dcg: float) -> None:
    qrels = lines("t 0 a 1", "t 0 b 0", "t 0 a 2")
    with pytest.warns(EvaluationWarning, match="1 duplicate judgment"):
        assert evaluate({"t": ranked("a")}, qrels, "dcg", duplicates=policy).means == {"dcg": dcg}


def test_one_grade_given_twice_is_a_note_and_counts_once() -> None:
    qrels = lines("t 0 a 1", "t 0 a 1", "t 0 b 1")
    with pytest.warns(EvaluationWarning, match="repeated with the same grade"):
        assert evaluate({"t": ranked("a")}, qrels, "num_rel").means == {"num_rel": 2}


def test_one_grade_given_twice_is_refused_where_any_duplicate_is() -> None:
    with pytest.raises(InputError, match="line 1"):
        evaluate({"t": ranked("a")}, lines("t 0 a 1", "t 0 a 1"), "num_rel", duplicates="refuse")


# --- residuals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "unjudged", "beyond"),
    [
        # Run u a, with a of grade 1 and a missed document of grade 3.
        # rr: from ½ to 1. rr@1: from 0 to 1.
        ("rr", 1 / 2, 0),
        ("rr@1", 1, 0),
        ("rr(rel=3)", 1, 0),
        # err: from ½·1/8 to 7/8 + ½·1/8·1/8; after that, for the 1/8·7/8 who are left, ⅓·7/8 and no more at @3.
        ("err@2", 7 / 8 + 1 / 128 - 1 / 16, 0),
        ("err@3", 7 / 8 + 1 / 128 - 1 / 16, 7 / 64 / 3 * 7 / 8),
        ("rbp(p=0.5,rel=1)", 1 / 2, 1 / 4),
        ("rbp(p=0.5,rel=1)@3", 1 / 2, 1 / 8),
        ("p@2", 1 / 2, 0),
        ("p@4", 1 / 4, 2 / 4),
        ("dcg", 3, 0),
        ("sp", 2 - 1 / 2, 0),
    ],
)
def test_what_could_still_rise(measure: str, unjudged: float, beyond: float) -> None:
    scores = evaluate({"t": ranked("u a")}, {"t": {"a": 1, "b": 3}}, measure, residuals="split")
    row = next(scores.rows())
    assert row.unjudged == pytest.approx(unjudged, abs=1e-12)
    assert row.beyond == pytest.approx(beyond, abs=1e-12)
    assert row.residual == pytest.approx(unjudged + beyond, abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "score", "highest"),
    [
        # Run u a, with a of grade 1 and a missed document of grade 3: u counts in what the scores are divided by too.
        ("ap", 1 / 4, 2 / 3),
        ("recall", 1 / 2, 2 / 3),
        ("ndcg", (1 / LOG3) / (3 + 1 / LOG3), (3 + 1 / LOG3) / (3 + 3 / LOG3 + 1 / 2)),
        # gap, thresholds 1, 2, 3: from ⅓ · ½ over ⅓ + 1 to ⅓ (1 + 1) + ⅔ · 1, over ⅓ + 1 + 1.
        ("gap", 1 / 8, 4 / 7),
    ],
)
def test_what_could_still_rise_where_a_judgment_changes_what_is_divided_by(
    measure: str, score: float, highest: float
) -> None:
    scores = evaluate({"t": ranked("u a")}, {"t": {"a": 1, "b": 3}}, measure, residuals="split")
    row = next(scores.rows())
    assert row.score == pytest.approx(score, abs=1e-12)
    assert row.residual == pytest.approx(highest - score, abs=1e-12)
    assert row.unjudged is row.beyond is None


@pytest.mark.parametrize("r", [0.5, 0.01, 0.0001, 0.00001, 0.000001])
def test_the_endless_best_case_of_err_is_exact_for_small_gains_too(r: float) -> None:
    # Σ r (1−r)^{i−1} / i = r/(1−r) · ln(1/r)
    scores = told({"s": ranked("a")}, {"t": {"a": 1}, "s": {"a": 1}}, f"err(gain=0:{r:.6f})", residuals="total")
    best = next(row.residual for row in scores.rows() if row.topic == "t")
    assert best == pytest.approx(r / (1 - r) * math.log(1 / r), abs=1e-12)


def test_without_a_relevant_document_known_the_unjudged_could_be_the_only_one() -> None:
    # u would be the only relevant document, at rank 2. q: (1 + 1) / (2 + 1).
    highest = {"ap": 1 / 2, "ndcg": 1 / LOG3, "recall": 1, "gap": 1 / 2, "q": 2 / 3, "nerr": 1 / 2, "grecall": 1}
    for measure, score in highest.items():
        assert residual(measure, "b u", {"b": 0}, top_grade=1) == pytest.approx(score, abs=1e-12), measure
        assert residual(measure, "b", {"b": 0, "c": 0}, top_grade=1) == 0, measure


def test_a_residual_to_full_depth_counts_what_lies_below_the_cutoff() -> None:
    # Run a x u: rr(rel=2)@1 is 0. At the cutoff nothing is open; in full, u in rank 3 is: ⅓.
    judged = {"a": 1, "x": 0, "b": 2}
    assert residual("rr(rel=2)@1", "a x u", judged) == 0
    assert residual("rr(rel=2)@1", "a x u", judged, residual_depth="full") == pytest.approx(1 / 3)


def test_topics_that_are_too_uncertain_are_left_out_by_measure() -> None:
    # rr of u a is ½ with residual ½; p@1 is 0 with residual 1; bpref has none and counts both topics.
    run, qrels = {"sure": ranked("a"), "open": ranked("u a")}, {"sure": {"a": 1}, "open": {"a": 1}}
    found = told(run, qrels, "rr p@1 bpref rr@1", max_residual=0.4)
    assert found.means == {"rr": 1, "p@1": 1, "bpref": 1, "rr@1": 1}
    assert {row.measure: row.topics for row in found.rows(by_topic=False)} == {"rr": 1, "p@1": 1, "bpref": 2, "rr@1": 1}
    assert any("bpref has no residual" in note for note in found.notes)


def test_a_residual_at_the_limit_is_not_too_large() -> None:
    run, qrels = {"sure": ranked("a"), "open": ranked("u a")}, {"sure": {"a": 1}, "open": {"a": 1}}
    assert evaluate(run, qrels, "rr", max_residual=0.5).means == {"rr": 3 / 4}
    assert evaluate(run, qrels, "rr", max_residual=0.4).means == {"rr": 1}


def test_what_a_document_adds_to_the_pool_counts_in_both_limits_of_residuals() -> None:
    # Of a b, with a and the missed d relevant, ap is 1/2; if b is too it is (1 + 1) / 3, and 1/6 more. With the pool as
    # it is b would lift ap to 1.
    run, qrels = {"t": ranked("a b"), "s": ranked("a")}, {"t": {"a": 1, "d": 1}, "s": {"a": 1}}
    scores = told(run, qrels, "ap", residuals="total")
    assert scores.runs[0].residual[:, 0].tolist() == pytest.approx([1 / 6, 0], abs=1e-12)
    bounds = [gradedeval.Bound("max-unjudged", "ap", limit) for limit in (0.083, 0.084)]
    assert gradedeval.check(scores, bounds)["passed"].tolist() == [False, True]
    assert told(run, qrels, "ap", max_residual=0.16).means == {"ap": 1}
    assert told(run, qrels, "ap", max_residual=0.17).means == {"ap": 3 / 4}


def test_a_mean_of_no_topic_is_blank() -> None:
    assert evaluate({"t": ranked("u a")}, {"t": {"a": 1}}, "rr", max_residual=0.4).means == {"rr": None}


# --- other tools' rules ----------------------------------------------------------------------------------------------


def test_like_trec_eval_scores_the_topics_in_both_files() -> None:
    assert by_topic("rr", RUN, QRELS, like="trec_eval") == {"good": 1, "none": 0}


def test_like_trec_eval_does_not_count_spam_as_judged() -> None:
    assert score("bpref", "spam a", {"spam": -1, "a": 1}, like="trec_eval") == 1
    assert score("unjudged@2", "spam a", {"spam": -1, "a": 1}, like="trec_eval") == 1 / 2


def test_like_trec_eval_gains_are_linear() -> None:
    found = evaluate({"t": ranked("a u c n b")}, {"t": FOUR}, "ndcg err", like="trec_eval").means
    # err with r = g/3: the first document satisfies everybody.
    assert list(found.values()) == pytest.approx([3.5 / (3.5 + 2 / LOG3), 1])


def test_like_trec_eval_refuses_any_duplicate() -> None:
    with pytest.raises(InputError, match="duplicate document"):
        evaluate({"t": ranked("a")}, lines("t 0 a 1", "t 0 a 1"), "ap", like="trec_eval")


def test_like_gdeval_has_a_scale_to_4_and_exponential_gains() -> None:
    found = list(evaluate({"t": ranked("a u c n b")}, {"t": FOUR}, "err ndcg", like="gdeval").means.values())
    assert found == pytest.approx([7 / 16 + 9 / 768, 7.5 / (7.5 + 3 / LOG3)])
    assert [f"{value:.4f}" for value in found] == ["0.4492", "0.7985"]


def test_like_gdeval_scores_topics_in_both_files_with_a_relevant_document() -> None:
    assert list(told(RUN, QRELS, "err", like="gdeval").runs[0].topics) == ["good"]


def test_like_gdeval_a_grade_above_4_is_an_error() -> None:
    with pytest.raises(InputError, match="grade 5"):
        score("err", "a", {"a": 5}, like="gdeval")


def test_like_ir_measures_mixes_its_tools_defaults() -> None:
    found = list(
        evaluate({"t": ranked("a u c n b")}, {"t": FOUR}, "err ndcg rbp rbp(p=0.5)", like="ir_measures").means.values()
    )
    # err on a scale to 4, ndcg linear, rbp binary with p = 0.8 unless p is given.
    assert [f"{value:.4f}" for value in found] == ["0.4492", "0.7350", "0.3280", "0.6250"]


def test_like_ir_measures_all_topics_of_the_qrels_count() -> None:
    assert by_topic("rr", RUN, QRELS, like="ir_measures") == {"good": 1, "none": 0, "lacking": 0}


def test_like_cwl_eval_the_grade_is_the_gain_and_the_file_gives_the_order() -> None:
    # Listed u, a: ½ (0 + ½ · 0.4); u open: ½ · 1; beyond: ¼ · 1.
    run, qrels = lines("t Q0 u 1 1 x", "t Q0 a 2 9 x"), {"t": {"a": 0.4, "b": 0}}
    found = evaluate(run, qrels, "rbp(p=0.5)", like="cwl_eval", residuals="total")
    assert list(found.means.values()) == pytest.approx([0.1])
    assert list(found.residuals.values()) == pytest.approx([0.75])


def test_like_cwl_eval_the_run_s_topics_count() -> None:
    found = told(RUN, QRELS, "rbp(p=0.5)", like="cwl_eval").runs[0]
    assert dict(zip(found.topics, found.score[:, 0].tolist(), strict=True)) == {"good": 0.5, "none": 0, "extra": 0}


def test_like_ntcireval_divides_what_is_cut_by_what_can_be_found_and_takes_the_order_of_the_file() -> None:
    # Listed a, u, c: gains 1, 0, 3 of 3; b and d are missed. NTCIREVAL prints these, with -g 1:2:3 -cutoffs 2.
    run = lines("t Q0 a 1 1 x", "t Q0 u 2 3 x", "t Q0 c 3 2 x")
    qrels = {"t": {"a": 1, "b": 2, "c": 3, "d": 1}, "lacking": {"e": 1}}
    measures = "ap@2 q@2 gap@2 ap q MSnDCG@2 ndcg(log=2)@2 err nerr@2 rbp p@2 success@2"
    found = told(run, qrels, measures, like="ntcireval")
    q = (1 + 1) / (1 + 3)
    worked = [
        *(1 / 2, q / 2, 1 / 5, (1 + 2 / 3) / 4, (q + (2 + 4) / (3 + 6)) / 4),
        *(1 / (3 + 2 / LOG3), 1 / 5),
        # The chance of stopping is gain / (3 + 1).
        *(1 / 4 + 1 / 3 * 3 / 4 * 3 / 4, 1 / 4 / (3 / 4 + 1 / 2 * 1 / 4 * 1 / 2)),
        *(0.05 * (1 / 3 + 0.95**2), 1 / 2, 1),
    ]
    assert found.runs[0].topics == ["t", "lacking"]
    assert found.runs[0].score[0] == pytest.approx(worked, abs=1e-12)
    assert (found.runs[0].score[1] == 0).all()


def test_an_explicit_option_beats_the_other_tool_s() -> None:
    assert list(told(RUN, QRELS, "rr", like="gdeval", topics="qrels").runs[0].topics) == ["good", "none", "lacking"]
    assert score("bpref", "spam a", {"spam": -1, "a": 1}, like="trec_eval", negative="judged") == 0
    assert score("err", "a", {"a": 3}, like="gdeval", top_grade=3) == 7 / 8


@UNUSED
@pytest.mark.parametrize("options", [{}, {"gain": "exp"}])
def test_gains_written_in_a_measure_beat_the_other_tool_s(options: dict[str, Any]) -> None:
    linear = 3.5 / (3.5 + 2 / LOG3)
    assert score("ndcg(gain=linear)", "a u c n b", FOUR, like="gdeval", **options) == pytest.approx(linear)
    worked = 0.2 * (3 / 4 + 1 / 4 * 0.64)  # grades of 4
    assert score("rbp(p=0.8,gain=linear)", "a u c n b", FOUR, like="ir_measures", **options) == pytest.approx(worked)


def test_gains_given_for_all_measures_beat_the_other_tool_s_also_where_they_are_the_default() -> None:
    assert score("ndcg", "a u c n b", FOUR, like="gdeval", gain="linear") == pytest.approx(3.5 / (3.5 + 2 / LOG3))
    assert score("ndcg", "a u c n b", FOUR, like="trec_eval", gain="exp") == pytest.approx(7.5 / (7.5 + 3 / LOG3))


def test_linear_gains_given_for_all_measures_beat_the_binary_rbp_of_ir_measures() -> None:
    worked = 0.2 * (3 / 4 + 1 / 4 * 0.64)  # grades of 4, where ir_measures has 0 and 1
    assert score("rbp", "a u c n b", FOUR, like="ir_measures", gain="linear") == pytest.approx(worked)


def test_every_preset_is_an_option_of_the_library() -> None:
    for tool in ("trec_eval", "gdeval", "ir_measures", "cwl_eval", "ntcireval"):
        assert gradedeval.evaluate({"t": ranked("a")}, {"t": {"a": 1}}, "rr", like=tool).options.like == tool
    with pytest.raises(InputError, match="did you mean 'gdeval'"):
        evaluate({"t": ranked("a")}, {"t": {"a": 1}}, "rr", like="gdevl")


@pytest.mark.filterwarnings("ignore:.*each document costs 1:gradedeval.EvaluationWarning")
def test_what_docstrings_say_of_measures_that_differ_from_their_papers() -> None:
    both, second = {"a": 1, "b": 1}, {"a": 0, "b": 1}
    # set: (3^½ − 1) in all over (2^½ − 1) of rank 1, where the paper's total would be 2^½.
    assert score("set(of=etu)@2", "a b", both) == pytest.approx((math.sqrt(3) - 1) / (math.sqrt(2) - 1))
    # tbg: the paper's sum, in which half of the users are left after a document of cost h.
    assert score("tbg(h=1,of=etu)", "a b", second) == pytest.approx(1 / 2)
    # u: attention where the second document begins, 1 − 1/4; in the paper it is that where it ends, 1 − 2/4.
    assert score("u(L=4,of=etu)", "a b", second) == pytest.approx(3 / 4)
    # gprecision: of thresholds 1 and 2, half and all users; at rank 2 by those who take grade 1 for relevant it is 1.
    assert score("gprecision@2", "b a", {"a": 1, "b": 2}) == pytest.approx((1 + 1 / 2) / 2)
    # g: 0.5 / log2(2 + 0.5 − 0.5) over 0.5, where trec_eval's ideal would be at 1 after the first rank.
    assert score("g(gain=0:0.5)", "a", {"a": 1}) == pytest.approx(1)
    # rbp_resid: beyond the end, though all that is retrieved is judged.
    assert score("rbp_resid(p=0.5)", "a b", second) == pytest.approx(1 / 4)
