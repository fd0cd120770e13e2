"""The C/W/L family: walks by hand, sums past the end against long sums and closed forms, and cwl_eval's collection."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import MEASURES, Measure, UserState, cwl, parse_measures
from gradedeval.kernel.measures.cwl_family.infinite_sums import trigamma
from gradedeval.kernel.measures.definition import QUANTITIES
from gradedeval.kernel.scoring.score_tables import all_quantities, document
from support.conformance_measures import cwl as by_definition
from support.conformance_measures import in_doubles
from support.cwl import gains, score
from support.paths import DATA, SAMPLES, shared

GIVEN = parse_measures(f'cwl(C="phi*(1-r)",phi=0.7) cwl(C="((i+1)/(i+2))**2") ddm(file={SAMPLES}/chances.csv)')
FAMILY = [
    measure for measure in MEASURES.values() if measure.definition.cwl and measure.name not in ("cwl", "ddm")
] + GIVEN
ENDLESS = ("nerr5", "nerr6")
FOR_EVER = (0, 0, 1, math.inf, math.inf)
CONVERGENT = [
    measure @ 7 if measure.definition.cutoff == "required" else measure
    for measure in FAMILY
    if measure.name not in ENDLESS
]


def test_the_dynamic_bejeweled_player_moves_each_threshold_once() -> None:
    # cwl_eval moves T by both scales and K by none. By hand, T = 1, K = 3, gains 1 0 0 …, mid ½: after rank 1 both
    # thresholds are ½ higher, after each rank with no gain ½ lower.
    # Rank 1: Γ = 1 ≥ T = 1: the walk ends, however much may still be spent.
    assert score("bpmd(T=1,K=3,of=ed)", [1, 0, 0]) == 1
    # T = 1.2: rank 1: 1 < 1.2 and 1 < 3; rank 2: 1 < 1.7 and 2 < 3.5; rank 3: 1 < 1.2 and 3 ≥ 3.
    assert score("bpmd(T=1.2,K=3,of=ed)", [1, 0, 0]) == 3
    # The same if the run ends before the walk.
    assert score("bpmd(T=1.2,K=3,of=ed)", [1]) == score("bpmd(T=1.2,K=3,of=ed)", [1, 0]) == 3


@pytest.mark.parametrize("measure", CONVERGENT, ids=str)
@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.875])
def test_an_endless_list_of_one_gain_has_that_gain_in_every_convergent_measure(measure: Measure, alpha: float) -> None:
    """Check Azzopardi et al., ICTIR 2021, section 2: the weights sum to 1 for every user."""
    for length in (0, 1, 5, 50):
        assert score(measure, [alpha] * length, alpha) == pytest.approx(alpha, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.875])
def test_err_of_an_endless_list_exceeds_its_gain_and_is_not_a_cwl_measure(alpha: float) -> None:
    exact = alpha / (1 - alpha) * math.log(1 / alpha)
    for length in (0, 1, 50):
        assert score("err", [alpha] * length, alpha) == pytest.approx(exact, abs=1e-12)
    assert exact > alpha


@pytest.mark.parametrize("name", ENDLESS)
def test_the_continuations_of_err_tend_to_0_with_depth(name: str) -> None:
    values = [0.5, 0.875, 0.25]
    deep = [score(f"{name}(horizon={depth})", values) for depth in (10, 1_000, 100_000)]
    assert deep[0] > deep[1] > deep[2] > 0
    assert score(name, values) == 0
    assert math.isinf(score(f"{name}(of=ed)", values))
    # A document that stops everyone ends the walk: there is a score.
    assert score("nerr5", [0, 0, 1, 0]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("measure", [measure for measure in CONVERGENT if measure.name != "cwlrr"], ids=str)
def test_sums_to_infinity_are_the_limit_of_long_sums(measure: Measure) -> None:
    values = [0.5, 0, 1, 0, 0.25, 0.5]
    exact = score(measure(of="ed"), values)
    # A horizon H cuts off O(1/H) at the worst, for V ~ 1/i²: twice the horizon, half the error.
    far, farther = (score(measure(of="ed", horizon=depth), values) for depth in (100_000, 200_000))
    assert exact == pytest.approx(2 * farther - far, abs=1e-8)
    assert far <= farther <= exact + 1e-9


def test_users_of_cwlrr_stop_at_the_first_gain_or_never() -> None:
    values = {of: score(f"cwlrr(of={of})", [0, 0, 0.5, 1]) for of in QUANTITIES}
    assert values == {"eu": pytest.approx(0.5 / 3), "etu": 0.5, "ec": 1, "etc": 3, "ed": 3}
    # Without any gain everybody goes on for ever: so far as a horizon lets them, for no gain at all.
    assert {of: score(f"cwlrr(of={of})", [0, 0]) for of in QUANTITIES} == dict(zip(QUANTITIES, FOR_EVER, strict=True))
    for depth in (10, 1_000, 100_000):
        assert score(f"cwlrr(of=ed,horizon={depth})", [0, 0]) == depth
        assert score(f"cwlrr(of=eu,horizon={depth})", [0, 0]) == 0
    # If every rank past the end has a gain, users stop at the first of them.
    assert score("cwlrr(of=ed)", [0, 0], tail=0.5) == 3
    assert score("cwlrr", [0, 0], tail=0.5) == pytest.approx(0.5 / 3)


def test_a_short_horizon_raises_the_score() -> None:
    values = [1.0, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    rbp, inst = score("rbp(p=0.99)", values), score("inst(T=10)", values)
    # Σ V of rbp is 100 at infinity and 100 (1 − .99^1000) at 1,000: the old score is too high by that share.
    assert score("rbp(p=0.99,horizon=1000)", values) - rbp == pytest.approx(rbp * (1 / (1 - 0.99**1000) - 1), rel=1e-9)
    assert score("inst(T=10,horizon=1000)", values) - inst > 1e-3


def test_the_trigamma_function_at_its_known_values() -> None:
    assert trigamma(np.array([1.0, 0.5, 2.0])) == pytest.approx(
        [math.pi**2 / 6, math.pi**2 / 2, math.pi**2 / 6 - 1], abs=1e-15
    )
    # 1 / (x − ½) is off by about 1 / (12 x³).
    assert trigamma(np.array([1e6])) == pytest.approx([1 / (1e6 - 0.5)], abs=1e-18)


def test_the_example_of_four_documents() -> None:
    run = {"t": {"a": 5, "u": 4, "c": 3, "n": 2, "b": 1}}
    qrels = {"t": {"a": 3, "b": 0, "c": 1, "d": 2}}
    expected = {"inst(T=1,horizon=1000)": 0.6450, "inst": 0.6447, "insq(T=1,horizon=1000)": 0.4206, "insq": 0.4199}
    means = gradedeval.evaluate(run, qrels, list(expected)).means
    assert {name: round(mean, 4) for name, mean in means.items()} == expected


def test_the_depth_of_insq_equals_its_closed_form() -> None:
    # V(i) = (2T)² / (i + 2T − 1)², so ΣV = 4 ψ₁(2) = 4 (π²/6 − 1) for T = 1, however long the run is.
    for length in (0, 3, 40):
        assert score("insq(of=ed)", [0.5] * length) == pytest.approx(4 * (math.pi**2 / 6 - 1), abs=1e-12)


def test_a_cutoff_sums_the_weights_of_the_full_depth() -> None:
    # rbp: W(1) + W(2) = .2 + .16 in any case; inst: later documents change the weights of those above.
    assert score("rbp@2", [1, 1, 1]) == pytest.approx(0.36)
    assert score("inst@1", [1, 0]) != pytest.approx(score("inst@1", [1, 1]))


def test_a_distant_goal_keeps_the_forager_without_overflow() -> None:
    assert score("ift(T=1000,b1=0.9,R1=100)", [1, 0]) == 0
    assert score("ift(T=2,b1=0,R1=1)", [1, 1]) == 1


def test_inst_refuses_a_goal_below_a_half() -> None:
    with pytest.raises(gradedeval.InputError, match=r"T=0.4 is not 0.5 or more"):
        parse_measures("inst(T=0.4)")


def test_quantities_other_than_expected_utility_have_no_residual() -> None:
    scores = gradedeval.evaluate({"t": {"a": 1.0}}, {"t": {"b": 1}}, "insq insq(of=ed)", residuals=True)
    assert scores.residuals["insq"] > 0
    assert scores.residuals["insq(of=ed)"] is None


def half(state: UserState) -> Any:
    """Let half of the users go on.

    C(i) = 1/2

    Unpublished.
    """
    return np.full(state.gain.shape, 0.5)


def test_measures_of_one_continuation_keep_separate_tails() -> None:
    run, qrels = {"t": {"a": 1.0}}, {"t": {"a": 1}}
    measures = {rest: cwl(tail=lambda state, rest=rest: rest)(half) for rest in (10.0, 2.0, 0.0)}
    # ΣV = 1 + rest / 2, and a single document has all the gain.
    for order in (list(measures), list(measures)[::-1]):
        for rest in order:
            alone = gradedeval.evaluate(run, qrels, [measures[rest]]).by_topic("half")["t"]
            assert alone == pytest.approx(1 / (1 + rest / 2))
        g = gains([1.0])
        assert [measures[rest].score(g)[0] for rest in order] == pytest.approx([1 / (1 + r / 2) for r in order])


def test_cwl_decorates_a_function_without_arguments() -> None:
    assert float(cwl(half).score(gains([1, 1, 1]))[0]) == pytest.approx(score("rbp(p=0.5)", [1, 1, 1]))


@pytest.mark.parametrize(("grade", "top"), [(0.1, 10), (1 / 7, 7), (0.05, 20), (1 / 3, 3)])
def test_a_goal_is_reached_at_the_rank_of_the_sufficient_sum_of_gains(grade: float, top: int) -> None:
    """Check ten tenths, which are 1, though in floats they add up to less."""
    assert score("bpm(K=100,of=ed)", [grade] * 30) == top
    assert score("bpm(K=100,of=ed)", [], tail=grade) == top
    assert score("bpm(K=100,of=ed,horizon=40)", [grade] * 30) == top


@pytest.mark.parametrize(
    ("measure", "ranking", "depth"),
    [("bpmd(T=1,K=20,mid=0.1,of=ed{})", [0.0], 11), ("bpmd(T=2,K=20,hb=0.5,hc=0.3,mid=0.3,of=ed{})", [1.0], 11)],
)
def test_moving_thresholds_equal_a_walk_rank_by_rank(measure: str, ranking: list[float], depth: int) -> None:
    """Compare by fractions: with a bad document at every rank the cost threshold falls by hc · mid a rank."""
    assert score(measure.format(""), ranking) == score(measure.format(",horizon=1000"), ranking) == depth


NUMBER = r"[-\d.e]+"
# How cwl_eval prints its measures, and how they are written here.
NAMES = {
    rf"P@({NUMBER})": "cwlp@{}",
    rf"RBP@({NUMBER})": "rbp(p={})",
    rf"NDCG-k@({NUMBER})": "sdcg@{}",
    "RR": "cwlrr",
    "AP": "cwlap",
    rf"INST-T=({NUMBER})": "inst(T={})",
    rf"INSQ-T=({NUMBER})": "insq(T={})",
    rf"BPM-Static-T=({NUMBER})-K=({NUMBER})": "bpm(T={},K={})",
    rf"BPM-Dynamic-T=({NUMBER})-K=({NUMBER})-hb=({NUMBER})-hc=({NUMBER})": "bpmd(T={},K={},hb={},hc={})",
    rf"U-L@({NUMBER})": "u(L={})",
    rf"TBG-H@({NUMBER})": "tbg(h={})",
    rf"IFT-C1-T=({NUMBER})-b1=({NUMBER})-R1=({NUMBER})": "ift(T={},b1={},R1={})",
    rf"IFT-C2-A=({NUMBER})-b2=({NUMBER})-R2=({NUMBER})": "ift(A={},b2={},R2={})",
    rf"IFT-C1-C2-T=({NUMBER})-b1=({NUMBER})-R1=({NUMBER})-A=({NUMBER})-b2=({NUMBER})-R2=({NUMBER})": (
        "ift(T={},b1={},R1={},A={},b2={},R2={})"
    ),
}


def in_our_notation(name: str) -> str:
    for shape, written in NAMES.items():
        match = re.fullmatch(shape, name.strip())
        if match:
            return written.format(*match.groups())
    raise AssertionError(name)


def read_printed(file: Path) -> Iterator[tuple[str, str, list[float]]]:
    """Return topic, measure in gradedeval's notation, and the numbers of each line."""
    for line in file.read_text().splitlines():
        topic, name, *numbers = line.split("\t")
        if topic != "Topic":
            yield topic, in_our_notation(name), [float(number) for number in numbers]


def evaluate_gains(run: Path, gains: Path, measures: list[str], **options: Any) -> dict[tuple[str, str], list[float]]:
    scores = gradedeval.evaluate(
        run, gains, all_quantities(parse_measures(measures)), like="cwl_eval", residuals="difference", **options
    )
    plain = {parsed.label: name for parsed, name in zip(scores.measures[:: len(QUANTITIES)], measures, strict=True)}
    table = document(scores, "long", by_topic=True, cwl=True).table
    assert table.names[3:] == [*QUANTITIES, *(f"{of}.residual" for of in QUANTITIES)]
    return {(topic, plain[measure]): numbers for _, topic, measure, *numbers in table.rows if topic != "all"}


# Its dynamic bejeweled player lets T follow the gains twice and K never.
CWL = DATA / "cwl"
FAULTY = "bpmd(T=1000,K=10,hb=1.0,hc=1.0)"


def dynamic_players(gains: Path, costs: Path | None) -> dict[str, list[float]]:
    """Return topic -> the correct five quantities of FAULTY, and the distance of the best case's quantities from
    them."""
    judged = {(words[0], words[2]): float(words[3]) for words in map(str.split, gains.read_text().splitlines())}
    prices = dict(line.split() for line in costs.read_text().splitlines()) if costs else {}
    runs: dict[str, list[tuple[str, str]]] = {}
    for line in (CWL / "result_file").read_text().splitlines():
        topic, kind, docno, *_ = line.split()
        runs.setdefault(topic, []).append((docno, kind))
    results = {}
    for topic, listed in runs.items():
        cost = [float(prices.get(kind, 1)) for _, kind in listed]
        parameters = {"T": 1000, "K": 10, "hb": 1, "hc": 1, "mid": 0.5, "horizon": 1000}
        five = []
        for rest in (0.0, 1.0):
            values = [judged.get((topic, docno), rest) for docno, _ in listed]
            with in_doubles():
                five.append(
                    [by_definition("bpmd", parameters | {"of": of}, None, values, rest, cost) for of in QUANTITIES]
                )
        results[topic] = five[0] + [best - score for score, best in zip(*five, strict=True)]
    return results


EXPECTED = sorted((CWL / "expected").glob("*.out"))


@pytest.mark.parametrize(
    ("continuation", "message"),
    [
        (
            lambda rank, gain: 0.5,
            r"C takes the state alone, .*; for example cwl\(lambda state: 0.9 - 0.5 \* state.gain",
        ),
        (lambda: 0.5, "C takes the state alone"),
        (lambda state, *gains: 0.5, "C takes the state alone"),
        (lambda state, p=0.5: p, r"parameters must follow a \*; def <lambda>\(state, \*, p=0.5\)"),
        (lambda state, *, r: 0.9 - 0.5 * r, "the parameter r has no default; give it one, as in r=0.5"),
    ],
)
def test_wrong_arguments_of_a_continuation_are_refused_at_once(continuation: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        gradedeval.cwl(continuation)


@shared
@pytest.mark.filterwarnings("ignore:.*without costs:gradedeval.EvaluationWarning")
@pytest.mark.parametrize("file", EXPECTED, ids=lambda file: file.name)
def test_every_number_that_cwl_eval_prints(file: Path) -> None:
    parts = file.name.split(".")
    gains = CWL / (parts[1] if parts[1] in ("gain_file", "qrel_file") else "qrel_file")
    lines = list(read_printed(file))
    names = list(dict.fromkeys(name for _, name, _ in lines))
    options = {"costs": CWL / "cost_file"} if "cost" in parts else {}
    scores = evaluate_gains(CWL / "result_file", gains, names, **options)
    compared = [
        (topic, name, column, theirs, scores[topic, name][column])
        for topic, name, numbers in lines
        for column, theirs in enumerate(numbers)
    ]
    unlike = [row for row in compared if not abs(row[3] - row[4]) <= 0.5e-4 + 1e-9]
    assert {name for _, name, *_ in unlike} <= {FAULTY}
    players = dynamic_players(gains, options.get("costs"))
    if FAULTY in names:
        assert unlike
        for topic, numbers in players.items():
            assert scores[topic, FAULTY] == pytest.approx(numbers, rel=1e-12, abs=1e-12), topic
    assert len(compared) == sum(len(numbers) for *_, numbers in lines) > 0


@shared
def test_the_dynamic_player_of_the_collection_of_cwl_eval_by_hand() -> None:
    # T1 has the gains 1 0 1 1 0 0 1 0 1 0. K moves by r − ½ after each rank, so that rank i may be paid for while
    # i < 10 + (found above i) − (i−1)/2: at rank 10 that is 10 < 10 + 5 − 4.5, at rank 11 it is 11 ≥ 10 + 5 − 5.
    values = evaluate_gains(CWL / "result_file", CWL / "qrel_file", [FAULTY])["T1", FAULTY]
    assert values[:5] == [pytest.approx(5 / 11), pytest.approx(5), 1, 11, 11]
    theirs = {
        (topic, name): numbers for topic, name, numbers in read_printed(CWL / "expected/cwltests.metrics_file.out")
    }
    assert theirs["T1", FAULTY] == [0.5, 5.0, 1.0, 10.0, 10.0]
