"""The sums of the C/W/L family: to infinity against mpmath's numbers, at a horizon against plain loops."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from gradedeval import MEASURES, Gains, InputError, Measure, parse_measures, row_sums
from gradedeval.kernel.measures.cwl_family import infinite_sums as series
from gradedeval.kernel.measures.cwl_family.infinite_sums import damped, exponential_integral, squared_ratios
from gradedeval.kernel.measures.definition import QUANTITIES
from support.conformance_measures import cwl, in_doubles
from support.cwl import gains, score
from support.examples import sampled

# Measures without a C from a formula or a file.
OWN = [measure for measure in MEASURES.values() if measure.definition.cwl and measure.name not in ("cwl", "ddm")]

# ΣV of a best case with a tiny gain at every document.
TINY_GAINS = {
    ("nerr6(of=ed)", 1e-7): 16.118098774577923568,
    ("nerr6(of=ed)", 1e-6): 13.815537189025836664,
    ("nerr11(of=ed)", 1e-7): 2.5797304940734038307,
    ("nerr11(of=ed)", 1e-6): 2.5796877443795369258,
    ("nerr5(of=ed)", 1e-7): 1 + 1e7,
    ("nerr10(phi=0.9999999,of=ed)", 1e-9): 1 + 0.9999999 / (1 - 0.9999999 + 0.9999999e-9),
}


@pytest.mark.parametrize(("measure", "tail"), list(TINY_GAINS), ids=str)
def test_tiny_gains_stop_people_at_last(measure: str, tail: float) -> None:
    assert score(measure, [0.0], tail) == pytest.approx(TINY_GAINS[measure, tail], rel=1e-14)


@pytest.mark.parametrize(
    ("fall", "start", "power", "exact"),
    [
        (1e-9, 2.0, 1, 39.446531754785885658),
        (1e-9, 3.0, 2, 3.5544064302878645782),
        (1e-4, 1000.0, 1, 2015.1027080765605161),
        (1e-4, 1000.0, 2, 799.02983967476550815),
        (0.3, 2.0, 1, 2.0570318543915755206),
        (0.3, 2.0, 2, 1.5459397900901121681),
    ],
)
def test_damped_sums(fall: float, start: float, power: int, exact: float, monkeypatch: pytest.MonkeyPatch) -> None:
    for steps in (series.STEPS, 1 << 10):
        monkeypatch.setattr(series, "STEPS", steps)
        assert damped(fall, np.array([start, 7.0, start]), power)[[0, 2]] == pytest.approx([exact, exact], rel=1e-14)


@pytest.mark.parametrize(
    ("x", "rate", "power", "exact"),
    [
        (200, 1e-3, 1, 299.17024938517571238),
        (200, 1e-3, 2, 140.76696678454244716),
        (200, 0.02, 1, 41.771213288892253013),
        (200, 0.02, 2, 35.425980034712374916),
        (5000, 1e-8, 2, 4998.1683362804758876),
    ],
)
def test_the_rest_of_a_damped_sum(x: int, rate: float, power: int, exact: float) -> None:
    assert series._lerch(np.array([float(x)]), rate, power) == pytest.approx([exact], rel=1e-13)


def test_exponential_integrals() -> None:
    z = np.array([1e-9, 0.01, 0.5, 1.0, 1.0000001, 2.0, 40.0, 1e5])
    first = [20.146050193190928416, 4.0785114434564258266, 0.92291063248373046883, 0.59634736232319407434]
    first += [0.59634732195793326483, 0.3613286168882225847, 0.02440411507962857627, 9.9999000019999400024e-6]
    second = [0.99999997985394980681, 0.95921488556543574088, 0.53854468375813476558, 0.40365263767680592566]
    second += [0.40365261840733450456, 0.27734276622355483061, 0.023835396814856949192, 9.999800005999760012e-6]
    assert exponential_integral(1, z) == pytest.approx(first, rel=2e-15)
    assert exponential_integral(2, z) == pytest.approx(second, rel=2e-15)


SQUARED_RATIOS = {
    (1e4, 1e-8): 5000.2500375018751538,
    (5e3, 1e-7): 2500.2501500150064998,
    (1e3, 1e-6): 500.25037518765626562,
    (300.0, 1e-5): 150.2511686160197565,
    (30.0, 1e-3): 15.261866031175971164,
    (2.0, 0.05): 1.3638455705548829117,
    (1.5, 0.7): 1.6380471319677189965,
    (100.0, 0.5): 67.001336664226133042,
    (1.0, 0.5): 1.1594725347858114918,
    (900.0, 0.4): 562.8126447241563719,
    (1.0, 1.0): math.pi**2 / 6,
    (4.0, 0.0): 16 / 7,
}


@pytest.mark.parametrize(("start", "step"), list(SQUARED_RATIOS))
def test_the_best_case_of_inst(start: float, step: float) -> None:
    assert squared_ratios(np.array([start, 5000.0]), step)[0] == pytest.approx(SQUARED_RATIOS[start, step], rel=1e-14)


@pytest.mark.parametrize(("start", "step", "distant"), [(100.0, 0.5, 8.0), (900.0, 0.4, 8.0), (1.5, 0.7, 20.0)])
def test_the_series_of_inst_s_best_case_holds_from_near_on(
    start: float, step: float, distant: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Most of these sums comes after the first terms.
    monkeypatch.setattr(series, "DISTANT", distant)
    exact = SQUARED_RATIOS[start, step]
    assert squared_ratios(np.array([start]), step) == pytest.approx([exact], rel=1e-13)
    monkeypatch.setattr(series, "ORDERS", 3)
    assert squared_ratios(np.array([start]), step) != pytest.approx([exact], rel=1e-13)


@pytest.mark.parametrize(
    ("measure", "exact"),
    [
        ("npv(rate=1e-12,of=ed)", 1000000000001.0000201),
        ("npv(rate=1e-6,of=ed)", 1000001.0000000000453),
        ("npv(of=ed)", 11.0),
        ("tbg(h=1e12,of=ed)", 1442695040889.4634074),
        ("tbg(h=1e6,of=ed)", 1442695.5408890211696),
        ("tbg(of=ed)", 323.66394702634132301),
    ],
)
def test_great_patience(measure: str, exact: float) -> None:
    assert score(measure, [], 1.0) == pytest.approx(exact, rel=1e-15)
    assert score(measure, [1.0], 1.0) == pytest.approx(exact, rel=1e-14)


def test_great_patience_and_documents_that_cost() -> None:
    # Half of the users are gone after 1e12 seconds: the first document takes 3e12, an eighth is left.
    batch = gains_with_costs([1.0], [3e12])
    (measure,) = parse_measures("tbg(h=1e12,of=ed)")
    assert measure.score(batch) == pytest.approx([1 + 1442695040889.4634074 / 8], rel=1e-14)


# All that is viewed, added up rank by rank in extended precision: down to 6e7 ranks.
TEN = [1.0] * 10
FORAGERS = [
    ("ift(A=.2,b2=1e-3,R2=10,of=ed)", TEN, 0.0, 286.9996280428566445),
    ("ift(A=.2,b2=2e-5,R2=10,of=ed)", TEN, 0.0, 7191.1848159734124497),
    ("ift(A=.2,b2=1e-6,R2=10,of=ed)", TEN, 0.0, 136043.5924395951443),
    ("ift(A=.2,b2=1e-7,R2=10,of=ed)", TEN, 0.0, 1354289.5509893841005),
    ("ift(T=2,b1=1e9,R1=1e-6,of=ed)", [0.5], 0.5, 11301367.2172169782525),
    ("ift(T=2,b1=1e3,R1=1e-5,of=ed)", [0.5], 0.5, 996.06412908849157906),
    ("ift(T=0,b1=100,R1=1e-4,of=ed)", [0.5], 0.5, 100.49998798527589706),
]


@pytest.mark.parametrize(("measure", "values", "tail", "exact"), FORAGERS)
def test_patient_foragers(measure: str, values: list[float], tail: float, exact: float) -> None:
    assert score(measure, values, tail) == pytest.approx(exact, rel=1e-14)


def brute_force(measure: str, gained: float, spent: float, tail: float, ranks: int) -> float:
    """Compute 1 + C(1) + C(1) C(2) + … past the end of a ranking, in extended precision if the machine has it."""
    settings = dict(parse_measures(measure)[0].parameters)
    m = np.arange(1, ranks + 1, dtype=np.longdouble)
    logs = np.zeros_like(m)
    if "T" in settings:
        y = (gained + m * tail - settings["T"]) * settings["R1"] - np.log(np.longdouble(settings["b1"]))
        logs -= np.logaddexp(np.longdouble(0), y)
    if "A" in settings:
        y = np.log(np.longdouble(settings["b2"])) + (settings["A"] - (gained + m * tail) / (spent + m)) * settings["R2"]
        logs -= np.logaddexp(np.longdouble(0), y)
    viewed = np.exp(np.cumsum(logs))
    assert viewed[-1] < 1e-17
    return float(1 + viewed.sum())


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("measure", "tail"),
    sampled(
        [
            ("ift(A=.3,b2=5e-5,R2=20,of=ed)", 0.0),
            ("ift(A=.3,b2=5e-4,R2=9,of=ed)", 0.125),
            ("ift(T=20000,b1=1,R1=1e-3,of=ed)", 0.25),
            ("ift(T=20000,b1=1,R1=1,of=ed)", 0.25),
            ("ift(T=9000,b1=1e4,R1=1e-3,A=.3,b2=1e-5,R2=2,of=ed)", 0.125),
            ("ift(T=1e5,b1=1e9,R1=1e-3,A=.3,b2=2e-4,R2=2,of=ed)", 0.5),
        ],
        3,
    ),
)
@pytest.mark.parametrize("block", [1 << 11, pytest.param(1 << 14, marks=pytest.mark.exhaustive)])
def test_foragers_of_every_kind(measure: str, tail: float, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "BLOCK", block)
    exact = brute_force(measure, 0.0, 0.0, tail, 1 << 20)
    assert score(measure, [], tail) == pytest.approx(exact, rel=1e-13)


def test_the_few_users_beyond_the_first_thousands_stay_for_long() -> None:
    # All but e^−48 leave within some thousand ranks; of the others, one in 1e12 at each rank.
    def chances(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(m)), -(1e-12 + 48 / 300 * np.exp(-m / 300))

    near = np.exp(np.cumsum(chances(np.arange(1.0, 20_001))[1]))
    exact = 1 + float(near[:-1].sum()) + float(near[-1]) / -math.expm1(-1e-12)
    assert exact > 6 + 1e-9
    assert series.sum_by_panels(chances, -1e-12) == pytest.approx(exact, rel=1e-13)


def test_a_forager_with_endless_patience_stays_for_ever() -> None:
    assert math.isinf(score("ift(A=.2,b2=0,of=ed)", [1.0]))
    assert score("ift(A=.2,b2=0)", [1.0]) == 0
    assert score("ift(T=2,b1=0,of=ed)", [1.0], 1.0) == 1
    # 1 + C/(1 − C) if the rate is always 0.
    assert score("ift(A=.2,b2=1e-30,R2=1,of=ed)", [0.0]) == pytest.approx(1 + 1e30 * math.exp(-0.2), rel=1e-14)


def test_foragers_of_topics_are_independent() -> None:
    (measure,) = parse_measures("ift(A=.2,b2=1e-5,R2=10,of=ed)")
    gain = np.array([[1.0, 0, 0], [0, 0, 0], [1.0, 0, 0], [1.0, 1, 0]])
    number = np.array([3, 3, 3, 2])
    batch = Gains(gain, gain >= 0, gain, number, number, np.array([1.0]), None, 0.0)
    alone = [score(measure, row[:n].tolist()) for row, n in zip(gain, number, strict=True)]
    assert measure.score(batch).tolist() == alone
    assert len(set(alone)) == 3


def test_a_sum_that_is_not_settled_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "PLAIN", 1 << 16)
    monkeypatch.setattr(series, "SMOOTH", 0.0)
    with pytest.raises(
        InputError, match=r"did not converge within 65,\d{3} ranks past the end; C still jumps there; set horizon=1000"
    ):
        score("ift(A=.2,b2=1e-6,R2=10,of=ed)", TEN)


def test_some_users_look_at_rank_1_of_an_empty_ranking() -> None:
    for values in ([], [0.0]):
        for words in ("", ",horizon=1", ",horizon=9"):
            values_of = {of: score(f"cwlap(of={of}{words})", values) for of in QUANTITIES}
            assert values_of == {"eu": 0, "etu": 0, "ec": 1, "etc": 1, "ed": 1}, (values, words)
    assert math.isinf(score("cwlap(of=ed)", [], 0.5))


@pytest.mark.parametrize("measure", OWN, ids=str)
def test_all_users_look_at_rank_1(measure: Measure) -> None:
    cut = measure @ 3 if measure.definition.cutoff == "required" else measure
    for values in ([], [0.0], [1.0]):
        assert score(cut(of="ed"), values) >= 1


WALKED = [
    *("cwlp@4", "sdcg@4", "rbp(p=0.7)", "cwlrr", "cwlap", "insq(T=2)", "inst(T=2)", "inst(T=0.5)", "bpm(T=2,K=12)"),
    *("bpmd(mid=0.5)", "bpmd(T=3,K=12,hb=0.5,hc=2,mid=0.25)", "bpmd(T=1000,K=10,hb=0,hc=1,mid=0.5)"),
    *("bpmd(T=2,K=1000,hb=0.75,hc=0,mid=0.5)", "ift(T=2,b1=0.9,R1=2)", "ift(A=0.3,b2=0.5,R2=4)", "ift", "tbg(h=9)"),
    *("u(L=20.5)", "set(beta=0.4)@4", "npv(rate=0.2)", "nerr5", "nerr6", "nerr8@4", "nerr9@4", "nerr10(phi=0.9)"),
    "nerr11(T=2)",
]


def gains_with_costs(values: list[float], costs: list[float], tail: float = 0.0, k: int | None = None) -> Gains:
    batch = gains(values, tail, k)
    return replace(batch, cost=np.array([costs], dtype=np.float64).reshape(batch.gain.shape))


def test_every_measure_is_walked() -> None:
    assert {parse_measures(name)[0].name for name in WALKED} == {measure.name for measure in OWN}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("horizon", [1, 3, 7, 50])
@pytest.mark.parametrize("name", WALKED)
def test_all_five_quantities_equal_plain_loops(name: str, horizon: int) -> None:
    draw = random.Random(f"{name} {horizon}")
    (measure,) = parse_measures(name)
    k = measure.cutoff
    for _ in range(12):
        length = draw.choice([0, 1, 2, 3, 5, 9, 30])
        values = [draw.choice([0.0, 0.0, 0.25, 0.5, 0.875, 1.0]) for _ in range(length)]
        costs = [draw.choice([1.0, 0.25, 0.5, 2.5, 6.0]) for _ in range(length)]
        tail = draw.choice([0.0, 0.0, 0.5, 0.875, 1.0])
        batch = gains_with_costs(values[:k], costs[:k], tail, k)
        for of in QUANTITIES:
            value = float(measure(of=of, horizon=horizon).score(batch)[0])
            parameters = dict(measure.parameters) | {"of": of, "horizon": horizon}
            with in_doubles():
                expected = cwl(measure.name, parameters, k, values, tail, costs)
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-14), (of, values, costs, tail)


@pytest.mark.parametrize("topics", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("ranks", [0, 1, 2, 8, 9, 127, 128, 129, 1000, 8193])
def test_each_row_is_added_up_rank_by_rank_in_any_matrix(topics: int, ranks: int) -> None:
    """Compare to the last bit: `fsum` and sums by pairs differ there."""
    values = np.random.default_rng(topics * ranks).lognormal(0, 8, (topics, ranks))
    by_hand = []
    for row in values.tolist():
        sum_of_row = 0.0
        for value in row:
            sum_of_row += value
        by_hand.append(sum_of_row)
    wide = np.asfortranarray(values)
    assert row_sums(values).tolist() == row_sums(wide).tolist() == by_hand
    assert [row_sums(values[topic : topic + 1])[0] for topic in range(topics)] == by_hand
