"""Weighting models: the papers' numbers, and sums over ranks against long sums and special functions."""

import math
from pathlib import Path

import numpy as np
import pytest

import gradedeval
from gradedeval import InputError, parse_measures
from gradedeval.kernel.measures.weighting_models import inverse_logarithms, powers
from support.cwl import score
from support.paths import SAMPLES


def test_zhang_et_al_s_example() -> None:
    """Check Zhang et al., Information Retrieval 2010, section 3.2; its .297 is a slip: 1 − H20/H100 is .306."""
    written = "p@10 p@20 uniform@10 uniform@20 zipf@20 zipf@100"
    scores = gradedeval.evaluate(SAMPLES / "zhang-ranks.run", SAMPLES / "zhang-ranks.qrels", written, residuals=True)
    # The paper cuts .1915 to .191.
    assert [round(mean, 4) for mean in scores.means.values()] == [0.3, 0.25, 0.3, 0.25, 0.2762, 0.1915]
    assert scores.means["zipf@20"] == pytest.approx((0.5 + 0.2 + 1 / 6 + 1 / 13 + 0.05) / 3.597739657143682)
    harmonic = [sum(1 / i for i in range(1, n + 1)) for n in (20, 100)]
    assert scores.residuals["zipf@100"] == pytest.approx(1 - harmonic[0] / harmonic[1], abs=1e-14)
    assert round(scores.residuals["zipf@100"], 3) == 0.306


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("uniform@4", [0.25, 0.25, 0.25, 0.25]),
        ("zipf@3", [6 / 11, 3 / 11, 2 / 11]),
        ("zipf(beta=2)", [6 / math.pi**2 / i**2 for i in range(1, 6)]),
        ("zipf(beta=0.5)@2", [1 / (1 + 0.5**0.5), 0.5**0.5 / (1 + 0.5**0.5)]),
        ("poisson", [math.exp(-1) / math.factorial(i - 1) for i in range(1, 8)]),
        ("poisson(alpha=3)@4", [math.exp(-3) * 3 ** (i - 1) / math.factorial(i - 1) for i in range(1, 5)]),
        ("logharmonic@4", [w / (1 + 1 + 1 / math.log2(3) + 0.5) for w in (1, 1, 1 / math.log2(3), 0.5)]),
        ("logharmonic(b=3)@4", [w / (3 + 1 / math.log(4, 3)) for w in (1, 1, 1, 1 / math.log(4, 3))]),
        ("logharmonic(b=9)@4", [0.25] * 4),
        (f"wp(file={SAMPLES}/attention.csv)", [0.4, 0.2, 0.15, 0.1, 0.05, 0.04, 0.03, 0.02, 0.005, 0.005]),
        (f"wp(file={SAMPLES}/attention.csv)@3", [0.4, 0.2, 0.15]),
    ],
)
def test_the_weight_of_a_rank_is_the_score_of_a_document_there(name: str, weights: list[float]) -> None:
    for rank, weight in enumerate(weights, 1):
        assert score(name, [0.0] * (rank - 1) + [1.0]) == pytest.approx(weight, rel=1e-14)
        assert score(name, [0.0] * (rank - 1) + [0.5, 0.0]) == pytest.approx(weight / 2, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "mass"),
    [
        ("uniform@100", 1),
        ("zipf@1000000", 1),
        ("zipf(beta=0.3)@100000", 1),
        ("zipf(beta=1.1)", 1),
        ("zipf(beta=7)", 1),
        ("poisson(alpha=0.01)", 1),
        ("poisson(alpha=500)", 1),
        ("poisson@1", math.exp(-1)),
        ("logharmonic@1000000", 1),
        ("logharmonic(b=50)@40", 1),
        (f"wp(file={SAMPLES}/attention.csv)@3", 0.75),
    ],
)
@pytest.mark.parametrize("length", [0, 1, 30, 200, 5000])
def test_weights_within_and_beyond_the_run_sum_to_all(name: str, mass: float, length: int) -> None:
    length = min(length, parse_measures(name)[0].cutoff or length)
    assert score(name, [1.0] * length, tail=1.0) == pytest.approx(mass, abs=1e-13)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("beta", [0.2, 1, 1.0000001, 1.7, 9])
@pytest.mark.parametrize(("after", "last"), [(0, 1), (0, 10), (3, 70), (0, 300_000), (64, 65), (1000, 200_000), (5, 5)])
def test_sums_of_powers_equal_plain_sums(beta: float, after: int, last: int) -> None:
    exact = math.fsum(i**-beta for i in range(after + 1, last + 1))
    assert powers(beta, after, last) == pytest.approx(exact, rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("beta", [1.001, 1.5, 2, 11])
@pytest.mark.parametrize("after", [0, 1, 63, 64, 5000])
def test_endless_sums_of_powers_are_the_zeta_function(beta: float, after: int) -> None:
    special = pytest.importorskip("scipy.special")
    assert powers(beta, after, math.inf) == pytest.approx(float(special.zeta(beta, after + 1)), rel=1e-13)


@pytest.mark.parametrize(
    ("after", "last"), [(1, 2), (1, 5000), (2, 2_000_000), (4096, 4097), (9000, 1_000_000), (7, 7)]
)
def test_sums_of_inverse_logarithms_equal_plain_sums(after: int, last: int) -> None:
    exact = float((1 / np.log(np.arange(after + 1.0, last + 1))).sum())
    assert inverse_logarithms(after, last) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("name", ["zipf", "zipf(beta=0.9)", "zipf(beta=1)", "logharmonic", "uniform"])
def test_a_weighting_without_a_finite_sum_needs_a_cutoff(name: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_measures(name)
    assert refused.value.usage
    assert "@" in refused.value.hint


def test_weights_that_rise_with_the_rank_are_not_monotone() -> None:
    assert [
        not measure.monotone for measure in parse_measures(f"poisson poisson(alpha=2) wp(file={SAMPLES}/attention.csv)")
    ] == [False, True, False]


def test_an_edited_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "w.csv"
    for content, weight in (("1,0.5\n", 0.5), ("1,0.7\n", 0.7)):
        file.write_text(content)
        assert score(f"wp(file={file})", [1.0]) == weight
        assert score(f"cascade(utility={file})", [1.0]) == weight
    for content, depth in (("1,0.5\n", 2), ("1,0.75\n", 4)):
        file.write_text(content)
        assert score(f"ddm(file={file},of=ed)", [1.0]) == depth


def test_the_signature_changes_with_the_content_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "w.csv"
    signatures = []
    for content in ("1,0.5\n", "1,0.7\n"):
        file.write_text(content)
        scores = gradedeval.evaluate({"t": {"a": 1.0}}, {"t": {"a": 1}}, f"wp(file={file}) cascade(utility={file}) err")
        signatures.append(scores.signature)
        assert scores.signature.count(f"{file} ") == 1
    assert signatures[0] != signatures[1]
