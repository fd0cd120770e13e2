"""Numbers worked by hand: the papers' examples, and each rule of reading, gains and cutoffs as one small case."""

import io
import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import EvaluationWarning, InputError, Scores, evaluate

LOG3 = math.log2(3)  # the divisor at rank 2 is log2 3; at ranks 1 and 3 it is 1 and 2

UNUSED = pytest.mark.filterwarnings("ignore:.*no measure here uses it:gradedeval.EvaluationWarning")
"""For tests that give an option to measures that it does not change."""

Judged = dict[str, float]
Rules = dict[str, Any]


def ranked(docnos: str) -> dict[str, float]:
    """Return a ranking from the best document to the worst."""
    return {docno: -float(rank) for rank, docno in enumerate(docnos.split())}


def score(measure: str, docnos: str, judged: Mapping[str, float], **rules: Any) -> float:
    """Return the score of a topic."""
    (value,) = evaluate({"t": ranked(docnos)}, {"t": judged}, measure, **rules).means.values()
    return float(value)


def residual(measure: str, docnos: str, judged: Mapping[str, float], **rules: Any) -> Any:
    """Return the residual of a topic; None if it is blank."""
    (value,) = evaluate(
        {"t": ranked(docnos)}, {"t": judged}, measure, **{"residuals": "total", **rules}
    ).residuals.values()
    return value


def evaluate_quietly(run: Any, qrels: Any, measures: str, **rules: Any) -> Scores:
    """Evaluate without warnings; the notes are in `.notes`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        return evaluate(run, qrels, measures, **rules)


def lines(*rows: str) -> io.StringIO:
    """Return a file of these lines."""
    return io.StringIO("".join(f"{row}\n" for row in rows))


def by_topic(measure: str, run: Any, qrels: Any, **rules: Any) -> dict[str, float]:
    return evaluate_quietly(run, qrels, measure, **rules).by_topic(measure)


def exactly(worked: Any) -> Any:
    """Return the value with a tolerance for the last bits of a sum."""
    return pytest.approx(worked, rel=4e-15, abs=0)


PAIRS = {"a": 1, "b": 2, "n": 0, "m": 0}
SHORT = {"a": 1, "b": 2, "c": 1, "n": 0}
BPREF = {"n": 0, "m": 0, "a": 1}
FALLING = {"a": 3, "b": 2, "c": 1, "d": 2}
SATISFYING = {"a": 1, "b": 3}
RISING = {"a": 1, "b": 2, "c": 3}
ONE, BOTH, SECOND = {"a": 1}, {"a": 1, "b": 1}, {"a": 0, "b": 1}
PRECISIONS = {f"d{rank}": float(rank in (2, 5, 6, 13, 20)) for rank in range(1, 21)}
HALVES = {"a": 0.5, "b": 1, "c": 2}
GRADES = {"a": 1, "b": 2}
GAP = {"a": 1, "b": 3, "x": 0}
FRACTIONS = {"a": 0.5, "b": 1, "x": 0, "spam": -1}
LONG = {"a": 1100, "b": 1099}
SPAM: Judged = {"spam": -2, "a": 1}

SCORES: list[tuple[str, str, Mapping[str, float], float]] = [
    # Two of a, b and c are found; of three relevant documents two fit above the cutoff.
    ("recall@2", "a b n c", SHORT, 2 / 3),
    ("recall(norm=k)@2", "a b n c", SHORT, 2 / 2),
    ("recall(norm=k)@2", "n b a c", SHORT, 1 / 2),
    ("recall(norm=k)@4", "n b u u", SHORT, 1 / 3),
    ("recall(norm=k,rel=2)@2", "n a b c", SHORT, 0),
    ("rank1", "n u b a", SHORT, 3),
    ("rank1(rel=2)", "n a b", SHORT, 3),
    ("rank1@2", "n a b", SHORT, 2),
    # Of the pairs of a or b with n, u or m, a stands before two and b before one.
    ("accuracy", "n a u b m", PAIRS, 3 / 6),
    ("accuracy@3", "n a u b m", PAIRS, 1 / 2),
    ("accuracy(rel=2)", "n a u b m", PAIRS, 1 / 4),
    ("accuracy", "n u a b", PAIRS, 0),
    ("accuracy", "a b", PAIRS, 1),
    ("accuracy@1", "n a", PAIRS, 0),
    # P@4 = 2/4, R = 2/3: 2·2/(4 + 3); without a cutoff P is 2/3. f1 counts a short run as filled up.
    ("f1@4", "a n b", SHORT, 4 / 7),
    ("f1", "a n b", SHORT, 2 / 3),
    ("set_f", "a n b", SHORT, 2 / 3),
    ("set_f@4", "a n b", SHORT, 2 / 3),
    # The worked example of ERR, on a scale of 0 to 4: .6330566.
    (
        *("err", "x y z", {"x": 3, "y": 2, "z": 4}),
        7 / 16 + 1 / 2 * 3 / 16 * 9 / 16 + 1 / 3 * 15 / 16 * 13 / 16 * 9 / 16,
    ),
    ("p@10", " ".join(PRECISIONS), PRECISIONS, 0.3),
    ("p@20", " ".join(PRECISIONS), PRECISIONS, 0.25),
    # gap with one threshold is average precision. a and c are relevant at ranks 2 and 3: ½ (1/2 + 2/3).
    ("gap", "b a c", {"a": 1, "b": 0, "c": 1}, 7 / 12),
    ("ap", "b a c", {"a": 1, "b": 0, "c": 1}, 7 / 12),
    # err with gains 0 and 1 is the reciprocal rank.
    ("err(rel=1)", "x y a c", {"a": 1, "c": 3}, 1 / 3),
    ("rr", "x y a c", {"a": 1, "c": 3}, 1 / 3),
    # bpref: R = 1, N = 2 judged irrelevant: 1 − min(1,1)/min(1,2) = 0; with k = 10: 1 − min(11,1)/min(11,2) = ½. It
    # does not see the unjudged.
    ("bpref", "n a", BPREF, 0),
    ("bpref(k=10)", "n a", BPREF, 1 / 2),
    ("bpref", "n a", {**BPREF, "b": 1}, 1 / 4),
    ("bpref", "u v n a", {**BPREF, "b": 1}, 1 / 4),
    # Binary q has the smaller of rank and R. Relevant at ranks 2 and 4: ½ (2·1/(2 + 2) + 2·2/(4 + 2)) = ½ (1/2 + 2/3).
    ("q", "x a y b", BOTH, 7 / 12),
    # The discount of Järvelin and Kekäläinen begins after rank b. Gains 3 2 1 2 with base 2: 3 + 2 + 1/log2 3 +
    # 2/log2 4; with base 4: 3 + 2 + 1 + 2/log4 4.
    ("dcg(log=2)", "a b c d", FALLING, 5 + 1 / LOG3 + 1),
    ("dcg(log=4)", "a b c d", FALLING, 8),
    # Cascades: gains 1/8 and 7/8 at ranks 2 and 3 (grades 1 and 3, top 3); 7/8 of the users reach rank 3.
    ("cascade", "x a b", SATISFYING, 1 / 2 * 1 / 8 + 1 / 3 * 7 / 8 * 7 / 8),
    ("cascade(utility=dcg)", "x a b", SATISFYING, 1 / LOG3 / 8 + 1 / 2 * 49 / 64),
    ("cascade(utility=one)", "x a b", SATISFYING, 1 - 7 / 8 * 1 / 8),
    ("cascade(utility=one,gamma=0.5)", "x a b", SATISFYING, 1 / 2 / 8 + 1 / 4 * 49 / 64),
    # judged is a share of the retrieved documents, and unjudged a share of k.
    ("judged@10", "a u b", {"a": 1, "b": 0}, 2 / 3),
    ("unjudged@10", "a u b", {"a": 1, "b": 0}, 1 / 10),
    ("judged@2", "a u b", {"a": 1, "b": 0}, 1 / 2),
    ("unjudged@2", "a u b", {"a": 1, "b": 0}, 1 / 2),
    # A negative grade does not lengthen the ideal ranking. Run good, spam with gains 0.5 for grade 0 and 1 for grade 1:
    # dcg 1, and the ideal has only good: 1.
    ("ndcg(gain=0.5:1)", "good spam", {"good": 1, "spam": -1}, 1),
    # Grade 0 may have a gain, and the unjudged get none.
    ("rbp(p=0.5,gain=0.2:1)", "b a", {"a": 1, "b": 0}, 0.5 * (0.2 + 0.5 * 1)),
    ("rbp(p=0.5,gain=0.2:1)", "u a", {"a": 1, "b": 0}, 0.5 * (0 + 0.5 * 1)),
    # rel makes the gains of a graded measure 0 and 1; it is the lowest relevant grade, and may be a fraction.
    ("dcg(rel=2)", "a b c", RISING, 1 / LOG3 + 1 / 2),
    ("rbp(rel=2,p=0.5)", "a b c", RISING, 1 / 4 + 1 / 8),
    ("rr", "a b c", HALVES, 1 / 2),
    ("rr(rel=0.5)", "a b c", HALVES, 1),
    ("rr(rel=1.5)", "a b c", HALVES, 1 / 3),
    # Defaults from the papers. Grade 1 of 3: (2 − 1)/8 for err and its kin, 1/3 for rbp and gap, 1 for dcg.
    ("err", "a", SATISFYING, 1 / 8),
    ("cascade", "a", SATISFYING, 1 / 8),
    ("nerr@1", "a", SATISFYING, 1 / 7),
    ("ndcg@1", "a", SATISFYING, 1 / 3),
    ("rbp(p=0)", "a", SATISFYING, 1 / 3),
    ("dcg", "a", SATISFYING, 1),
    ("q", "a", SATISFYING, (1 + 1) / (1 + 3) / 2),
    ("gprecision@1", "a", SATISFYING, 1 / 3),
    # A gain above 1 is fine if gains are cumulated.
    ("dcg(gain=0:10)", "a", ONE, 10),
    # (2^g − 1) / 2^top is 1 − 2^−1100 at the top, though 2^1100 is not a number of the machine.
    ("err", "x a", LONG, 1 / 2),
    ("err", "x b", LONG, 1 / 4),
    # The weights of gap are shares of the users. g = 3:1: a of grade 1 is relevant to ¾ of the users, b of grade 2 to
    # all. Run a b: threshold 1 gives ¾ (1 + 1), threshold 2 gives ¼ · ½; over ¾ + 1.
    *((f"gap(g={g})", "a b", GRADES, (3 / 4 * 2 + 1 / 4 * 1 / 2) / (3 / 4 + 1)) for g in ("3:1", "0.75:0.25", "6:2")),
    ("gprecision(g=3:1)@1", "a", GRADES, 3 / 4),
    ("grecall(g=3:1)", "a", GRADES, 3 / 7),
    # A threshold of weight 0 has no effect: ap(rel=2), and ap.
    ("gap(g=0:1)", "a b", GRADES, 1 / 2),
    ("gap(g=1:0)", "a b", GRADES, 1),
    # A grade without judgments is a threshold, too. Grades 1 and 3: thresholds 1, 2 and 3, each with ⅓. Run a b:
    # ⅓ (1 + 1) + ⅔ · ½, over ⅓ + 1.
    ("gap", "a b", GAP, (2 / 3 + 1 / 3) / (4 / 3)),
    ("gap(g=3:0:1)", "a b", GAP, (3 / 4 * 2 + 1 / 4 * 1 / 2) / (3 / 4 + 1)),
    # Fractional grades are thresholds. Grades 0.5 and 1, each with ½. Run a b: ½ (1 + 1) + ½ · ½, over ½ + 1.
    ("gap", "a b", FRACTIONS, (1 + 1 / 4) / (3 / 2)),
    ("gprecision(g=3:1)@1", "a", FRACTIONS, 3 / 4),
    # Graded precision is a share for any gains: the g_j are chances of exclusive events and sum to 1. With linear
    # gains they are ⅓ each. Run a u with a at the top grade 3: ½ (1 + 0).
    ("gprecision(gain=linear)@2", "a u", {"a": 3, "b": 1, "c": 2}, 1 / 2),
    # Measures that differ from their papers. set: (3^½ − 1) in all over (2^½ − 1) of rank 1, the paper's total
    # would be 2^½.
    ("set(of=etu)@2", "a b", BOTH, (math.sqrt(3) - 1) / (math.sqrt(2) - 1)),
    # tbg: the paper's sum, in which half of the users are left after a document of cost h.
    ("tbg(h=1,of=etu)", "a b", SECOND, 1 / 2),
    # u: attention at the start of the second document, 1 − 1/4; in the paper, at its end, 1 − 2/4.
    ("u(L=4,of=etu)", "a b", SECOND, 3 / 4),
    # gprecision: of thresholds 1 and 2, half and all users; at rank 2, for users of threshold 1, it is 1.
    ("gprecision@2", "b a", GRADES, (1 + 1 / 2) / 2),
    # g: 0.5 / log2(2 + 0.5 − 0.5) over 0.5; trec_eval's ideal would be at 1 after the first rank.
    ("g(gain=0:0.5)", "a", ONE, 1),
    # rbp_resid: beyond the end, though all that is retrieved is judged.
    ("rbp_resid(p=0.5)", "a b", SECOND, 1 / 4),
]


@pytest.mark.filterwarnings(
    "ignore:.*(each document costs 1|between 0 and 1, not relevant to rr|pairs in):gradedeval.EvaluationWarning"
)
@pytest.mark.parametrize(("measure", "docnos", "judged", "worked"), SCORES)
def test_a_score_worked_by_hand(measure: str, docnos: str, judged: Mapping[str, float], worked: float) -> None:
    assert score(measure, docnos, judged) == exactly(worked)


# The run a u c n b: u and n are unjudged, and d is missed.
FOUR = {"a": 3, "b": 0, "c": 1, "d": 2}
LINEAR_NDCG, EXPONENTIAL_NDCG = 3.5 / (3.5 + 2 / LOG3), 7.5 / (7.5 + 3 / LOG3)
BY_THIRDS = 0.2 * (3 / 4 + 1 / 4 * 0.64)  # rbp with grades of 4

RULED: list[tuple[str, str, Mapping[str, float], Rules, float]] = [
    # 7/16 + ⅓·1/16·9/16
    ("err", "a u c n b", FOUR, {"top_grade": 4}, 7 / 16 + 1 / 3 * 1 / 16 * 9 / 16),
    ("rr", "a b c", HALVES, {"rel": 2}, 1 / 3),
    ("rr(rel=1)", "a b c", HALVES, {"rel": 2}, 1 / 2),
    ("rbp(p=0.8,gain=grade)", "a", {"a": 0.5}, {"top_grade": 1}, 0.2 * 0.5),
    # The thresholds of gap are the grades up to the top grade. Grades 1 and 2 of 4: thresholds 1, 2, 3, 4, each with ¼;
    # a is relevant to ¼, b to ½ of the users. Run a b: threshold 1: 1 + 2/2; threshold 2: 1/2; over 1 + 2.
    ("gap", "a b", GRADES, {"top_grade": 4}, (2 + 1 / 2) / 3),
    ("gap(g=1:1:1:1)", "a b", GRADES, {"top_grade": 4}, (2 + 1 / 2) / 3),
    ("gprecision@1", "a", GRADES, {"top_grade": 4}, 1 / 4),
    # A top grade too high to list its thresholds is only a large number.
    ("gap", "a b", {"a": 1, "b": 0}, {"top_grade": 1e30}, 1),
    ("gprecision@2", "a u", {"a": 3, "b": 1, "c": 2}, {"gain": "exp"}, 1 / 2),
    # A condensed list has no unjudged documents. u a n b: ½ (1/2 + 2/4); without u and n: 1.
    ("ap", "u a n b", BOTH, {}, 1 / 2),
    ("ap", "u a n b", BOTH, {"judged_only": True}, 1),
    ("num_ret", "u a n b", BOTH, {"judged_only": True}, 2),
    # It is condensed before it is cut.
    ("recall", "u a n b", BOTH, {"judged_only": True, "depth": 1}, 1 / 2),
    ("recall", "u a n b", BOTH, {"depth": 1}, 0),
    # It drops spam if spam is unjudged.
    ("rr", "spam a", SPAM, {"judged_only": True}, 1 / 2),
    ("rr", "spam a", SPAM, {"judged_only": True, "negative": "unjudged"}, 1),
    # Spam is judged unless an option makes it unjudged. Run spam a: R = 1, and N = 1 only if spam is judged.
    *((measure, "spam a", SPAM, {}, value) for measure, value in (("bpref", 0), ("judged@2", 1), ("unjudged@2", 0))),
    *((measure, "spam a", SPAM, {}, value) for measure, value in (("p@2", 1 / 2), ("rr", 1 / 2), ("num_ret", 2))),
    ("bpref", "spam a", SPAM, {"negative": "unjudged"}, 1),
    ("judged@2", "spam a", SPAM, {"negative": "unjudged"}, 1 / 2),
    ("unjudged@2", "spam a", SPAM, {"negative": "unjudged"}, 1 / 2),
    ("p@2", "spam a", SPAM, {"negative": "unjudged"}, 1 / 2),
    ("rr", "spam a", SPAM, {"negative": "unjudged"}, 1 / 2),
    ("num_ret", "spam a", SPAM, {"negative": "unjudged"}, 2),
    # To trec_eval spam is not judged, and gains are linear: with r = g/3 the first document satisfies everybody.
    ("bpref", "spam a", SPAM, {"like": "trec_eval"}, 1),
    ("unjudged@2", "spam a", SPAM, {"like": "trec_eval"}, 1 / 2),
    ("ndcg", "a u c n b", FOUR, {"like": "trec_eval"}, LINEAR_NDCG),
    ("err", "a u c n b", FOUR, {"like": "trec_eval"}, 1),
    # gdeval has a scale to 4 and exponential gains: .4492 and .7985.
    ("err", "a u c n b", FOUR, {"like": "gdeval"}, 7 / 16 + 9 / 768),
    ("ndcg", "a u c n b", FOUR, {"like": "gdeval"}, EXPONENTIAL_NDCG),
    # ir_measures mixes its tools' defaults: err on a scale to 4, ndcg linear, rbp binary with p = 0.8 unless given.
    ("err", "a u c n b", FOUR, {"like": "ir_measures"}, 7 / 16 + 9 / 768),
    ("ndcg", "a u c n b", FOUR, {"like": "ir_measures"}, LINEAR_NDCG),
    ("rbp", "a u c n b", FOUR, {"like": "ir_measures"}, 0.2 * (1 + 0.8**2)),
    ("rbp(p=0.5)", "a u c n b", FOUR, {"like": "ir_measures"}, 0.5 * (1 + 0.5**2)),
    # An explicit option beats the other tool's.
    ("bpref", "spam a", SPAM, {"like": "trec_eval", "negative": "judged"}, 0),
    ("err", "a", {"a": 3}, {"like": "gdeval", "top_grade": 3}, 7 / 8),
    # Gains written in a measure beat the other tool's, with any gains for all measures.
    ("ndcg(gain=linear)", "a u c n b", FOUR, {"like": "gdeval"}, LINEAR_NDCG),
    ("ndcg(gain=linear)", "a u c n b", FOUR, {"like": "gdeval", "gain": "exp"}, LINEAR_NDCG),
    ("rbp(p=0.8,gain=linear)", "a u c n b", FOUR, {"like": "ir_measures"}, BY_THIRDS),
    ("rbp(p=0.8,gain=linear)", "a u c n b", FOUR, {"like": "ir_measures", "gain": "exp"}, BY_THIRDS),
    # So do gains given for all measures, also if they are the default, and if ir_measures has 0 and 1.
    ("ndcg", "a u c n b", FOUR, {"like": "gdeval", "gain": "linear"}, LINEAR_NDCG),
    ("ndcg", "a u c n b", FOUR, {"like": "trec_eval", "gain": "exp"}, EXPONENTIAL_NDCG),
    ("rbp", "a u c n b", FOUR, {"like": "ir_measures", "gain": "linear"}, BY_THIRDS),
]


@UNUSED
@pytest.mark.parametrize(("measure", "docnos", "judged", "rules", "worked"), RULED)
def test_a_score_by_a_rule(measure: str, docnos: str, judged: Mapping[str, float], rules: Rules, worked: float) -> None:
    assert score(measure, docnos, judged, **rules) == exactly(worked)


REFUSED: list[tuple[str, str, Mapping[str, float], Rules, str]] = [
    ("err", "a", {"a": 3}, {"top_grade": 2}, "grade 3 is above the top grade 2"),
    ("err", "a", {"a": 5}, {"like": "gdeval"}, "grade 5"),
    ("dcg(gain=exp)", "a", {"a": 1100}, {}, "1100"),
    # A gain is a chance of stopping.
    ("err(gain=grade)", "a b", {"a": 3}, {}, r"0\.\.1"),
    ("rbp(gain=0:1:2)", "a b", {"a": 2}, {}, r"0\.\.1"),
    ("cascade(gain=0:0.5:1.1)", "a b", {"a": 2, "b": 1}, {}, r"0\.\.1"),
    ("rbp(gain=1.5:1)", "a b", {"a": 1, "b": 0}, {}, r"0\.\.1"),
    # A list has a value for each grade, up to the top grade given.
    ("dcg(gain=0:1)", "a", {"a": 2, "b": 1}, {}, "no value for grade 2"),
    ("dcg(gain=0:1)", "a", {"a": 0.5, "b": 1}, {}, "no value for grade 0.5"),
    ("dcg(gain=0:0.5:1)", "a", {"a": 3, "b": 1}, {}, "no value for grade 3"),
    ("dcg(gain=0:0.5:1)", "a", {"a": 2}, {"top_grade": 3}, "no value for grade 3"),
    # There are as many weights as thresholds.
    *(
        (f"{measure}(g={g})@5", "a b", judged, {}, r"g has \d values for \d thresholds")
        for measure in ("gap", "grecall", "gprecision")
        for g, judged in (("1:1", {"a": 3, "b": 1, "c": 2}), ("1:1", {"a": 3, "b": 1}), ("1:1:1", {"a": 0.5, "b": 1}))
    ),
    ("gap(g=1:1)", "a b", {"a": 1}, {"top_grade": 1e30}, r"g has 2 values for \d{31} thresholds"),
    # gap needs gains that rise from 0, even if no judgment has grade 0.
    *(
        (f"gap(gain={gain})", "a b", {"a": 1, "b": 2, "c": 0}, {}, "gain 0 for grade 0")
        for gain in ("0.1:0.5:1", "0:1:0.5", "1:0:0")
    ),
    ("gap(gain=0.1:0.5:1)", "a b", {"a": 1, "b": 2}, {}, "gain 0 for grade 0"),
    ("rr", "a", {"a": 1}, {"judged_only": True, "residuals": "total"}, "condensed"),
    ("rr", "a", {"a": 1}, {"like": "gdevl"}, "did you mean 'gdeval'"),
    # Not a measure.
    ("p", "a", {"a": 1}, {}, "needs a cutoff"),
    ("gprecision", "a", {"a": 1}, {}, "needs a cutoff"),
    *((measure, "a", {"a": 1}, {}, "takes no cutoff") for measure in ("rprec@5", "num_rel@5", "num_q@5")),
    ("err@0", "a", {"a": 1}, {}, "cutoff 0"),
    *(
        (f"{name}(norm=k)", "a", {"a": 1}, {}, rf"norm=k needs a cutoff.*as in {name}\(norm=k\)@10")
        for name in ("ap", "gap", "q")
    ),
    *((f"{name}(norm=r)@10", "a", {"a": 1}, {}, "norm=r is not k; as in norm=k") for name in ("ap", "gap", "q")),
]


@UNUSED
@pytest.mark.parametrize(("measure", "docnos", "judged", "rules", "problem"), REFUSED)
def test_measures_without_a_score_are_refused(
    measure: str, docnos: str, judged: Mapping[str, float], rules: Rules, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        score(measure, docnos, judged, **rules)


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
def test_norm_k_limits_the_findable_documents_to_the_cutoff(measure: str, worked: float) -> None:
    assert score(measure, "a u c n b", FOUR) == pytest.approx(worked, abs=1e-12)
    assert score(measure, "a d c", FOUR) == pytest.approx(1, abs=1e-12)  # the ideal ranking


def test_the_residual_of_the_example_of_four_judged_documents() -> None:
    # 0.2 (0.8 + 0.8³) for u and n, 0.8⁵ beyond the end
    scores = evaluate({"t": ranked("a u c n b")}, {"t": FOUR}, "rbp(p=0.8,rel=1)", residuals="split")
    row = next(scores.rows())
    assert row.unjudged == pytest.approx(0.2 * (0.8 + 0.8**3), abs=1e-12)
    assert row.beyond == pytest.approx(0.8**5, abs=1e-12)
    assert f"{row.residual:.4f}" == "0.5901"


def test_a_cascade_with_a_utility_from_a_file_has_no_gain_after_its_last_line(tmp_path: Path) -> None:
    file = tmp_path / "utility.txt"
    file.write_text("1\n0.5\n", encoding="utf-8")
    measure = f'cascade(utility="{file}",rel=1)'
    assert score(measure, "a x y", {"a": 1}) == 1
    assert score(measure, "x a y", {"a": 1}) == 0.5
    assert score(measure, "x y a", {"a": 1}) == 0
    # The best case of a run of one unjudged document: all users stop there. Of an irrelevant one: at rank 2.
    assert residual(measure, "u", {"a": 1}) == 1
    assert residual(measure, "b", {"a": 1, "b": 0}) == 0.5
    assert residual(measure, "b b2", {"a": 1, "b": 0, "b2": 0}) == 0


def gains(scheme: str, grades: Sequence[float], measure: str, **rules: Any) -> list[float]:
    """Return the gain of each grade: dcg@1 and rbp(p=0) of a run of a single document equal its gain."""
    form = {"raw": f"dcg(gain={scheme})@1", "unit": f"rbp(p=0,gain={scheme})"}[measure]
    scale = {f"g{number}": grade for number, grade in enumerate(grades)}
    return [score(form, docno, scale, **rules) for docno in scale]


SCALE, HALF, GAPPED = [0, 1, 2, 3], [0, 0.5, 1], [0, 1, 4]


@UNUSED
@pytest.mark.parametrize(
    ("scheme", "grades", "raw", "unit", "rules"),
    [
        ("linear", SCALE, [0, 1, 2, 3], [0, 1 / 3, 2 / 3, 1], {}),  # g, and g / 3
        ("exp", SCALE, [0, 1, 3, 7], [0, 1 / 8, 3 / 8, 7 / 8], {}),  # 2^g − 1, and that over 2³
        ("ntcir", SCALE, [0, 1, 2, 3], [0, 1 / 4, 2 / 4, 3 / 4], {}),  # g, and g / (3 + 1)
        ("0:0.1:0.4:1", SCALE, [0, 0.1, 0.4, 1], [0, 0.1, 0.4, 1], {}),
        ("0.05:0.1:0.4:1", SCALE, [0.05, 0.1, 0.4, 1], [0.05, 0.1, 0.4, 1], {}),
        ("0:1:0.5:0", SCALE, [0, 1, 0.5, 0], [0, 1, 0.5, 0], {}),  # no order is asked for
        ("0:0:0:0.5:1", SCALE, [0, 0, 0, 0.5], [0, 0, 0, 0.5], {}),  # a value more than there are grades
        ("grade", SCALE, [0, 1, 2, 3], None, {}),
        ("grade", [0, 0.25, 1], None, [0, 0.25, 1], {}),
        # Fractions of the top grade 1: exp gives 2^½ − 1, and that over 2¹; ntcir g / 2.
        ("linear", HALF, None, [0, 0.5, 1], {}),
        ("exp", HALF, [0, math.sqrt(2) - 1, 1], [0, (math.sqrt(2) - 1) / 2, 1 / 2], {}),
        ("ntcir", HALF, None, [0, 0.25, 0.5], {}),
        # A gap between the grades changes no gain.
        ("linear", GAPPED, None, [0, 1 / 4, 1], {}),
        ("exp", GAPPED, None, [0, 1 / 16, 15 / 16], {}),
        ("0:0.1:0.2:0.3:1", GAPPED, None, [0, 0.1, 1], {}),
        # A top grade given is the top of the scale.
        ("linear", [0, 1, 2], None, [0, 1 / 4, 2 / 4], {"top_grade": 4}),
        ("exp", [0, 1, 2], [0, 1, 3], [0, 1 / 16, 3 / 16], {"top_grade": 4}),
    ],
)
def test_gains_of_the_grades(
    scheme: str, grades: list[float], raw: list[float] | None, unit: list[float] | None, rules: Rules
) -> None:
    assert raw is None or gains(scheme, grades, "raw", **rules) == exactly(raw)
    assert unit is None or gains(scheme, grades, "unit", **rules) == exactly(unit)


@pytest.mark.parametrize("scheme", ["linear", "exp", "ntcir", "grade", "0:0.5:1", "0.3:0.5:1"])
@pytest.mark.parametrize("form", ["dcg(gain={})@1", "rbp(p=0,gain={})"])
def test_a_negative_grade_is_worth_0(scheme: str, form: str) -> None:
    # Also if grade 0 has a gain: spam is judged, and has gain 0.
    top = 1 if scheme == "grade" else 2
    assert score(form.format(scheme), "spam", {"spam": -2, "bad": -1, "none": 0, "good": top}) == 0


def test_the_top_grade_is_that_of_the_file_and_not_of_the_topic() -> None:
    # The best grade of topic t is 1; the 3 of another topic makes that 1/3, or (2 − 1)/2³.
    run, qrels = {"t": ranked("a"), "s": ranked("b")}, {"t": {"a": 1}, "s": {"b": 3}}
    scores = evaluate(run, qrels, "rbp(p=0) err")
    assert scores.by_topic("rbp(p=0)") == pytest.approx({"t": 1 / 3, "s": 1})
    assert scores.by_topic("err") == pytest.approx({"t": 1 / 8, "s": 7 / 8})
    # The same if the other topic is not scored.
    assert by_topic("err", {"t": ranked("a")}, qrels, topics="both") == pytest.approx({"t": 1 / 8})


def test_a_qrels_file_without_a_grade_above_0_scores_0_and_has_no_residual() -> None:
    scores = evaluate_quietly(
        {"t": ranked("a u")}, {"t": {"a": 0, "b": -1}}, "err ap ndcg rbp gap p@2", residuals="total"
    )
    assert set(scores.means.values()) == {0}
    assert set(scores.residuals.values()) == {None}
    assert any("no grade above 0" in note for note in scores.notes)


def test_an_explicit_top_grade_sets_the_scale_so_that_the_residual_is_a_bound() -> None:
    # Thresholds 1, 2, 3 for any judgments: a document of grade 1 is worth 1/3. With 1 alone it would be worth 1, and
    # the judgment of x would change that, though it was judged all along.
    judged = {"d0": 1, "d1": 0}
    unlifted = evaluate({"t": ranked("d0 d1")}, {"t": judged}, "gprecision@2", top_grade=3, residuals="total")
    after = score("gprecision@2", "d0 d1", {**judged, "x": 3}, top_grade=3)
    assert unlifted.means["gprecision@2"] == after == pytest.approx(1 / 6)
    assert unlifted.residuals["gprecision@2"] == 0


def test_a_gain_scheme_for_all_measures_beats_defaults_and_loses_to_the_scheme_of_a_measure() -> None:
    with pytest.warns(gradedeval.EvaluationWarning, match=r"dcg, dcg\(gain=exp\): the same measure, shown as dcg"):
        scores = evaluate(
            {"t": ranked("a")}, {"t": {"a": 1, "b": 3}}, "dcg rbp(p=0) dcg(gain=exp) dcg(rel=1) ap", gain="exp"
        )
    assert scores.means == pytest.approx({"dcg": 1, "rbp(p=0)": 1 / 8, "dcg(rel=1)": 1, "ap": 1 / 2}, abs=1e-12)
    scores = evaluate({"t": ranked("b")}, {"t": {"a": 1, "b": 3}}, "dcg dcg(gain=linear)", gain="exp")
    assert scores.means == {"dcg": 7, "dcg(gain=linear)": 3}


def test_gains_from_a_file_serve_fractions_and_gaps(tmp_path: Path) -> None:
    file = tmp_path / "gains.csv"
    file.write_text("grade,gain\n0,0\n0.5,0.1\n2,0.3\n10,0.9\n", encoding="utf-8")
    assert gains(f'"@{file}"', [0, 0.5, 2, -1], "raw") == [0, 0.1, 0.3, 0]
    assert gains(f'"@{file}"', [0, 0.5, 2, -1], "unit") == [0, 0.1, 0.3, 0]
    # The top gain is the scheme's largest, 0.9.
    assert residual(f'rbp(p=0.5,gain="@{file}")', "a", {"a": 2}) == pytest.approx(0.9 * 0.5)
    # A negative grade is worth 0; the largest gain is 0.5.
    file.write_text("-1,0.9\n0,0\n1,0.5\n", encoding="utf-8")
    assert residual(f'rbp(p=0.5,gain="@{file}")', "a spam", {"a": 1, "spam": -1}) == pytest.approx(0.5 * 0.5**2)
    assert f" | err: @{file} " in evaluate({"t": ranked("a")}, {"t": {"a": 1}}, f'err(gain="@{file}")').signature
    with pytest.raises(InputError, match="no gain for grade 2"):
        score(f'dcg(gain="@{file}")', "a", {"a": 2})


def test_a_file_of_gains_needs_no_sign_before_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gains.txt").write_text("0 0\n1 0.25\n2 1\n", encoding="utf-8")
    Path("exp").write_text("0 0\n1 0\n2 0\n", encoding="utf-8")
    run, qrels = {"t": ranked("a b")}, {"t": {"a": 1, "b": 2}}
    whole = evaluate(run, qrels, "dcg", gain="@gains.txt")
    for gain in ("gains.txt", Path("gains.txt"), str(tmp_path / "gains.txt")):
        assert evaluate(run, qrels, "dcg", gain=gain).means == whole.means
    assert evaluate(run, qrels, "dcg", gain="gains.txt") == whole
    assert evaluate(run, qrels, "dcg(gain=gains.txt)").means["dcg(gain=gains.txt)"] == whole.means["dcg"]
    assert evaluate(run, qrels, "dcg", gain="exp").means["dcg"] > 1  # a scheme goes before a file of its name


def test_all_documents_of_the_best_ranking_of_erria_have_the_top_gain() -> None:
    # One document of gain 1/2 at rank 1: .614/2, over Σ 1/i · .614 g · (1 − .614 g)^(i−1) with g = 1/2, or 1.
    expected = 0.614 / 2
    for gains, stop in (("0:0.5", expected), ("0:0.5:1", 0.614)):
        best = -stop * math.log(stop) / (1 - stop)
        measure = f"erria(stop=0.614,norm=best,gain={gains})"
        (value,) = evaluate_quietly({"t": ranked("a")}, {"t": {"a": 1}}, measure).means.values()
        assert value == pytest.approx(expected / best)


@UNUSED
@pytest.mark.parametrize("measure", ["gap", "grecall@1", "gprecision@1"])
def test_an_equal_top_grade_and_grades_of_other_topics_leave_graded_precision_unchanged(measure: str) -> None:
    judged = {"a": 1, "b": 3, "x": 0}
    alone = evaluate({"t": ranked("a b")}, {"t": judged}, measure)
    with_top_grade = evaluate({"t": ranked("a b")}, {"t": judged}, measure, top_grade=3)
    assert with_top_grade.means == alone.means
    assert with_top_grade.signature == alone.signature
    with_second_topic = evaluate({"t": ranked("a b"), "s": ranked("c")}, {"t": judged, "s": {"c": 2}}, measure)
    assert with_second_topic.by_topic(measure)["t"] == alone.means[measure]


def test_gains_give_gap_its_weights() -> None:
    # exp: g_1 = 1, g_2 = 3 − 1, g_3 = 7 − 3.
    judged = {"a": 1, "b": 3, "c": 2}
    assert score("gap(gain=exp)", "a b c", judged) == pytest.approx(score("gap(g=1:2:4)", "a b c", judged), abs=1e-12)


CLOSE = ("t Q0 a 1 1.00000001 x", "t Q0 b 2 1 x")
HUGE = {"a": 2e300, "b": 1e300, "c": -1e300}
DEEP = {"c": 1.0, "a": 3.0, "b": 2.0}
ORDERS: list[tuple[Any, Judged, Rules, dict[str, float]]] = [
    # Scores, and not ranks or lines, make the order: b c a.
    (("t Q0 a 1 0.5 x", "t Q0 b 2 1.5 x", "t Q0 c 3 1e0 x"), {"a": 1}, {}, {"rr": 1 / 3}),
    # Only ties are in docno order.
    ({"a": 2.0, "b": 1.0, "c": 1.0}, {"a": 1}, {}, {"rr": 1}),
    ({"a": 2.0, "b": 1.0, "c": 1.0}, {"b": 1}, {}, {"rr": 1 / 3}),
    # The order of the file needs no scores.
    (("t Q0 b 1 nonsense x", "t Q0 a 1 7 x"), {"a": 1}, {"order": "file"}, {"rr": 1 / 2}),
    ({"b": 1, "a": 2}, {"a": 1}, {"order": "file"}, {"rr": 1 / 2}),
    # 1.00000001 and 1 are one float32, and so are all above the largest: then b comes before a.
    (CLOSE, {"a": 1}, {}, {"rr": 1}),
    (CLOSE, {"a": 1}, {"order": "float32"}, {"rr": 1 / 2}),
    (HUGE, {"a": 1}, {}, {"rr": 1}),
    (HUGE, {"a": 1}, {"order": "float32"}, {"rr": 1 / 2}),
    # Depth keeps the best documents and not the first lines: c is not found. It cuts after ties are settled.
    (DEEP, {"a": 1, "c": 1}, {"depth": 2}, {"num_ret": 2, "recall": 1 / 2, "ap": 1 / 2}),
    ({"x": 2.0, "a": 1.0, "b": 1.0}, {"b": 1, "a": 0}, {"depth": 2}, {"success": 1}),
    ({"x": 2.0, "a": 1.0, "b": 1.0}, {"b": 1, "a": 0}, {"depth": 2, "ties": "docno-asc"}, {"success": 0}),
]


@pytest.mark.parametrize(("run", "judged", "rules", "worked"), ORDERS)
def test_the_order_of_documents(run: Any, judged: Judged, rules: Rules, worked: dict[str, float]) -> None:
    source = lines(*run) if isinstance(run, tuple) else {"t": run}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "there is one topic|.*many documents have equal scores|.* has no scores")
        assert evaluate(source, {"t": judged}, " ".join(worked), **rules).means == exactly(worked)


@pytest.mark.parametrize(
    ("first", "second"), [("b", "a"), ("9", "10"), ("a", "Z"), ("ab", "a"), ("é", "z"), ("a-1", "a"), ("doc2", "doc10")]
)
def test_ties_are_in_docno_order_byte_by_byte(first: str, second: str) -> None:
    for docnos in ((first, second), (second, first)):
        run = {"t": dict.fromkeys(docnos, 1.0)}
        judged = {"t": {first: 1, second: 0}}
        assert evaluate(run, judged, "rr").means == {"rr": 1}
        assert evaluate(run, judged, "rr", ties="docno-asc").means == {"rr": 1 / 2}


def test_a_run_without_ranks_cannot_have_its_ties_by_rank() -> None:
    with pytest.raises(InputError, match="rank"):
        evaluate({"t": {"a": 1.0, "b": 1.0}}, {"t": {"a": 1}}, "rr", ties="rank")


def test_the_best_case_keeps_the_order_of_the_worst_ties() -> None:
    # u and a of grade 1 (top 3) tie; at their worst u stands first. err = ½·1/8; with u at the top grade
    # 7/8 + ½·1/8·1/8. (A new order would put a first: 1/8 + ½·7/8·7/8.)
    run, qrels = {"t": {"u": 1.0, "a": 1.0}}, {"t": {"a": 1, "b": 3}}
    scores = evaluate(run, qrels, "err@2", ties="worst", residuals="total")
    assert scores.means["err@2"] == 1 / 16
    assert scores.residuals["err@2"] == pytest.approx(7 / 8 + 1 / 128 - 1 / 16)


# `none` has no relevant document; the run lacks `lacking` and has `extra` besides.


RUN = {"good": ranked("a"), "none": ranked("a"), "extra": ranked("a")}


QRELS = {"good": {"a": 1}, "none": {"a": 0}, "lacking": {"a": 1}}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, {"good": 1, "none": 0, "lacking": 0}),
        ({"topics": "qrels"}, {"good": 1, "none": 0, "lacking": 0}),
        ({"topics": "both"}, {"good": 1, "none": 0}),
        ({"topics": "run"}, {"good": 1, "none": 0, "extra": 0}),
        ({"topics": "relevant"}, {"good": 1}),
        ({"like": "trec_eval"}, {"good": 1, "none": 0}),
        ({"like": "gdeval"}, {"good": 1}),
        ({"like": "gdeval", "topics": "qrels"}, {"good": 1, "none": 0, "lacking": 0}),
        ({"like": "ir_measures"}, {"good": 1, "none": 0, "lacking": 0}),
        ({"like": "cwl_eval"}, {"good": 1, "none": 0, "extra": 0}),
    ],
)
def test_which_topics_count(rules: Rules, expected: Mapping[str, float]) -> None:
    scores = evaluate_quietly(RUN, QRELS, "rr", **rules)
    assert scores.by_topic("rr") == expected
    assert scores.means["rr"] == pytest.approx(sum(expected.values()) / len(expected))
    assert scores.options.like == rules.get("like")


def test_notes_count_and_name_topics_that_are_left_out_or_score_0() -> None:
    notes = evaluate_quietly(RUN, QRELS, "rr").notes
    assert any("1 of 3 judged topics is missing (lacking)" in note for note in notes)
    assert any("1 unjudged topic (extra)" in note for note in notes)
    with pytest.warns(EvaluationWarning, match="1 of 2 judged topics is missing"):
        evaluate({"a": ranked("x")}, {"a": {"x": 1}, "b": {"x": 1}}, "rr")


@pytest.mark.parametrize("chosen", [["good", "none"], [b"good", b"none"]])
def test_chosen_topics_restrict_the_qrels_and_the_run(chosen: list[Any]) -> None:
    assert by_topic("rr", RUN, QRELS, topics_from=chosen) == {"good": 1, "none": 0}
    note, few = evaluate_quietly(RUN, QRELS, "rr", topics_from=chosen).notes
    assert few == "the means are over 2 topics; too few to tell systems apart"
    assert note.startswith("qrels: 1 of 2 topics has no relevant documents (none) and scores 0")


def test_chosen_topics_are_read_from_a_file(tmp_path: Path) -> None:
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
    scores = evaluate_quietly(RUN, QRELS, "num_q num_ret num_rel num_rel_ret recall")
    expected = {"num_q": 3, "num_ret": 2, "num_rel": 2, "num_rel_ret": 1, "recall": 1 / 3}
    assert scores.means == pytest.approx(expected)
    run = {"s": ranked("a b"), "t": ranked("a n")}
    judged = {topic: {"a": 1, "b": 1, "n": 0} for topic in "st"}
    assert evaluate(run, judged, "hits num_rel_ret hits@1").means == {"hits": 1.5, "num_rel_ret": 3, "hits@1": 1}


TWICE = ("t Q0 a 1 3 x", "t Q0 b 2 2 x", "t Q0 a 3 1 x")
UNLIKE, ALIKE = ("t 0 a 1", "t 0 b 0", "t 0 a 2"), ("t 0 a 1", "t 0 a 1", "t 0 b 1")


@pytest.mark.parametrize(
    ("rules", "run", "qrels", "says"),
    [
        *(
            ({"duplicates": policy}, *files)
            for policy in ("error", "refuse")
            for files in (
                (TWICE, ("t 0 a 1",), r"(?s):3: .*document 'a'.*topic t.*line 1"),
                (TWICE[:1], UNLIKE, r"(?s):3: .*document 'a'.*topic t.*grade 2.*line 1 with grade 1"),
            )
        ),
        ({"duplicates": "refuse"}, TWICE[:1], ALIKE, "line 1"),
        ({"like": "trec_eval"}, TWICE[:1], ALIKE, "duplicate document"),
    ],
)
def test_duplicates_have_both_lines(rules: Rules, run: tuple[str, ...], qrels: tuple[str, ...], says: str) -> None:
    with pytest.raises(InputError, match=says):
        evaluate(lines(*run), lines(*qrels), "dcg", **rules)


@pytest.mark.parametrize(("policy", "rr", "dcg"), [("first", 1, 1), ("last", 1 / 2, 2)])
def test_the_first_or_the_last_of_duplicates_can_count(policy: str, rr: float, dcg: float) -> None:
    with pytest.warns(EvaluationWarning, match="dropped 1 duplicate document"):
        scores = evaluate(lines(*TWICE), {"t": {"a": 1}}, "rr num_ret", duplicates=policy)
    assert scores.means == {"rr": rr, "num_ret": 2}
    with pytest.warns(EvaluationWarning, match="1 duplicate judgment"):
        assert evaluate({"t": ranked("a")}, lines(*UNLIKE), "dcg", duplicates=policy).means == {"dcg": dcg}


def test_duplicates_within_a_topic_and_under_another_name() -> None:
    with pytest.warns(EvaluationWarning, match="repeated with the same grade"):
        assert evaluate({"t": ranked("a")}, lines(*ALIKE), "num_rel").means == {"num_rel": 2}
    run = lines("s Q0 a 1 1 x", "t Q0 a 1 1 x", "s Q0 b 2 0 x")
    assert evaluate(run, {"s": {"a": 1}, "t": {"a": 1}}, "rr").means == {"rr": 1}
    with pytest.raises(InputError, match="duplicate document"):
        evaluate({"t": {"1": 2.0, 1: 1.0}}, {"t": {"1": 1, "2": 1}}, "recall")


RESIDUALS: list[tuple[str, str, Mapping[str, float], Rules, float]] = [
    ("f1@2", "a u", SHORT, {}, 4 / 6 - 2 / 5),  # u would be one more that is relevant
    # rr: u in rank 2 could be the first relevant one.
    ("rr@2", "a u", {"a": 0}, {"top_grade": 1}, 1 / 2),
    # Grades up to 0.5 that are gains: beyond the first rank lies p·0.5, or p·1 if a gain of 1 is possible.
    ("rbp(p=0.8,gain=grade)", "a", {"a": 0.5}, {}, 0.8 * 0.5),
    ("rbp(p=0.8,gain=grade)", "a", {"a": 0.5}, {"top_grade": 1}, 0.8),
    ("gprecision(gain=linear)@2", "a u", {"a": 3, "b": 1, "c": 2}, {}, 1 / 2),  # u could be at the top grade too
    # Spam that is unjudged could be better than it looks. rr of spam a: ½, and 1 if spam were relevant.
    ("rr", "spam a", SPAM, {}, 0),
    ("rr", "spam a", SPAM, {"negative": "unjudged"}, 1 / 2),
    # Run a x u: rr(rel=2)@1 is 0. At the cutoff no rank is open; in full, rank 3 with u is: ⅓.
    ("rr(rel=2)@1", "a x u", {"a": 1, "x": 0, "b": 2}, {}, 0),
    ("rr(rel=2)@1", "a x u", {"a": 1, "x": 0, "b": 2}, {"residual_depth": "full"}, 1 / 3),
    # Without a relevant document known u would be the only one, at rank 2. q: (1 + 1) / (2 + 1).
    *(
        (measure, docnos, judged, {"top_grade": 1}, value if docnos == "b u" else 0)
        for measure, value in (
            *(("ap", 1 / 2), ("ndcg", 1 / LOG3), ("recall", 1), ("gap", 1 / 2)),
            *(("q", 2 / 3), ("nerr", 1 / 2), ("grecall", 1)),
        )
        for docnos, judged in (("b u", {"b": 0}), ("b", {"b": 0, "c": 0}))
    ),
]


@UNUSED
@pytest.mark.parametrize(("measure", "docnos", "judged", "rules", "worked"), RESIDUALS)
def test_a_residual_worked_by_hand(
    measure: str, docnos: str, judged: Mapping[str, float], rules: Rules, worked: float
) -> None:
    assert residual(measure, docnos, judged, **rules) == pytest.approx(worked, abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "unjudged", "beyond"),
    [
        # Run u a, with a of grade 1 and a missed document of grade 3.
        # rr: from ½ to 1. rr@1: from 0 to 1.
        ("rr", 1 / 2, 0),
        ("rr@1", 1, 0),
        ("rr(rel=3)", 1, 0),
        # err: from ½·1/8 to 7/8 + ½·1/8·1/8; after that, for 1/8·7/8 of the users, ⅓·7/8 and no more at @3.
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
def test_residuals_are_split_into_unjudged_documents_and_ranks_beyond_the_run(
    measure: str, unjudged: float, beyond: float
) -> None:
    scores = evaluate({"t": ranked("u a")}, {"t": {"a": 1, "b": 3}}, measure, residuals="split")
    row = next(scores.rows())
    assert row.unjudged == pytest.approx(unjudged, abs=1e-12)
    assert row.beyond == pytest.approx(beyond, abs=1e-12)
    assert row.residual == pytest.approx(unjudged + beyond, abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "score", "highest"),
    [
        # Run u a, with a of grade 1 and a missed document of grade 3: u counts in the divisor of the scores too.
        ("ap", 1 / 4, 2 / 3),
        ("recall", 1 / 2, 2 / 3),
        ("ndcg", (1 / LOG3) / (3 + 1 / LOG3), (3 + 1 / LOG3) / (3 + 3 / LOG3 + 1 / 2)),
        # gap, thresholds 1, 2, 3: from ⅓ · ½ over ⅓ + 1 to ⅓ (1 + 1) + ⅔ · 1, over ⅓ + 1 + 1.
        ("gap", 1 / 8, 4 / 7),
    ],
)
def test_residuals_of_measures_with_a_divisor_that_judgments_change(measure: str, score: float, highest: float) -> None:
    scores = evaluate({"t": ranked("u a")}, {"t": {"a": 1, "b": 3}}, measure, residuals="split")
    row = next(scores.rows())
    assert row.score == pytest.approx(score, abs=1e-12)
    assert row.residual == pytest.approx(highest - score, abs=1e-12)
    assert row.unjudged is row.beyond is None


def test_an_endless_list_of_one_gain_has_that_rbp() -> None:
    # An empty ranking, and the top gain is ½: rbp ½.
    scores = evaluate_quietly({"s": ranked("a")}, {"t": {"a": 1}, "s": {"a": 1}}, "rbp(gain=0:0.5)", residuals="total")
    assert next(row.residual for row in scores.rows() if row.topic == "t") == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("r", [0.5, 0.01, 0.0001, 0.00001, 0.000001])
def test_the_endless_best_case_of_err_is_exact_for_small_gains_too(r: float) -> None:
    # Σ r (1−r)^{i−1} / i = r/(1−r) · ln(1/r); ln 2 for ½.
    scores = evaluate_quietly(
        {"s": ranked("a")}, {"t": {"a": 1}, "s": {"a": 1}}, f"err(gain=0:{r:.6f})", residuals="total"
    )
    best = next(row.residual for row in scores.rows() if row.topic == "t")
    assert best == pytest.approx(r / (1 - r) * math.log(1 / r), abs=1e-12)


def test_topics_that_are_too_uncertain_are_left_out_by_measure() -> None:
    # rr of u a is ½ with residual ½; p@1 is 0 with residual 1; bpref has none and counts both topics.
    run, qrels = {"sure": ranked("a"), "open": ranked("u a")}, {"sure": {"a": 1}, "open": {"a": 1}}
    scores = evaluate_quietly(run, qrels, "rr p@1 bpref rr@1", max_residual=0.4)
    assert scores.means == {"rr": 1, "p@1": 1, "bpref": 1, "rr@1": 1}
    topics = {row.measure: row.topics for row in scores.rows(by_topic=False)}
    assert topics == {"rr": 1, "p@1": 1, "bpref": 2, "rr@1": 1}
    assert any("bpref has no residual" in note for note in scores.notes)


def test_a_residual_at_the_limit_is_not_too_large() -> None:
    run, qrels = {"sure": ranked("a"), "open": ranked("u a")}, {"sure": {"a": 1}, "open": {"a": 1}}
    assert evaluate(run, qrels, "rr", max_residual=0.5).means == {"rr": 3 / 4}
    assert evaluate(run, qrels, "rr", max_residual=0.4).means == {"rr": 1}


def test_both_limits_of_residuals_count_additions_to_the_pool() -> None:
    # Of a b, with a and the missed d relevant, ap is 1/2; if b is too it is (1 + 1) / 3, and 1/6 more. With the pool as
    # it is b would lift ap to 1.
    run, qrels = {"t": ranked("a b"), "s": ranked("a")}, {"t": {"a": 1, "d": 1}, "s": {"a": 1}}
    scores = evaluate_quietly(run, qrels, "ap", residuals="total")
    assert scores.runs[0].residual[:, 0].tolist() == pytest.approx([1 / 6, 0], abs=1e-12)
    bounds = [gradedeval.Bound("max-unjudged", "ap", limit) for limit in (0.083, 0.084)]
    assert gradedeval.check(scores, bounds)["passed"].tolist() == [False, True]
    assert evaluate_quietly(run, qrels, "ap", max_residual=0.16).means == {"ap": 1}
    assert evaluate_quietly(run, qrels, "ap", max_residual=0.17).means == {"ap": 3 / 4}


def test_a_mean_of_no_topic_is_blank() -> None:
    assert evaluate({"t": ranked("u a")}, {"t": {"a": 1}}, "rr", max_residual=0.4).means == {"rr": None}


def test_like_cwl_eval_the_grade_is_the_gain_and_the_file_gives_the_order() -> None:
    # Listed u, a: ½ (0 + ½ · 0.4); u open: ½ · 1; beyond: ¼ · 1.
    run, qrels = lines("t Q0 u 1 1 x", "t Q0 a 2 9 x"), {"t": {"a": 0.4, "b": 0}}
    scores = evaluate(run, qrels, "rbp(p=0.5)", like="cwl_eval", residuals="total")
    assert list(scores.means.values()) == pytest.approx([0.1])
    assert list(scores.residuals.values()) == pytest.approx([0.75])


def test_like_ntcireval_divides_by_the_findable_documents_and_takes_the_order_of_the_file() -> None:
    # Listed a, u, c: gains 1, 0, 3 of 3; b and d are missed. NTCIREVAL prints these, with -g 1:2:3 -cutoffs 2.
    run = lines("t Q0 a 1 1 x", "t Q0 u 2 3 x", "t Q0 c 3 2 x")
    qrels = {"t": {"a": 1, "b": 2, "c": 3, "d": 1}, "lacking": {"e": 1}}
    measures = "ap@2 q@2 gap@2 ap q MSnDCG@2 ndcg(log=2)@2 err nerr@2 rbp p@2 success@2"
    scores = evaluate_quietly(run, qrels, measures, like="ntcireval")
    q = (1 + 1) / (1 + 3)
    worked = [
        *(1 / 2, q / 2, 1 / 5, (1 + 2 / 3) / 4, (q + (2 + 4) / (3 + 6)) / 4),
        *(1 / (3 + 2 / LOG3), 1 / 5),
        # The chance of stopping is gain / (3 + 1).
        *(1 / 4 + 1 / 3 * 3 / 4 * 3 / 4, 1 / 4 / (3 / 4 + 1 / 2 * 1 / 4 * 1 / 2)),
        *(0.05 * (1 / 3 + 0.95**2), 1 / 2, 1),
    ]
    assert scores.runs[0].topics == ["t", "lacking"]
    assert scores.runs[0].score[0] == pytest.approx(worked, abs=1e-12)
    assert (scores.runs[0].score[1] == 0).all()
