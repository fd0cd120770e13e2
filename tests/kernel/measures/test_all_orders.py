"""Expected search length and compatibility: by hand, and by loops over all orders of documents."""

import random
from itertools import chain, permutations, product

import pytest

import gradedeval


def found(run: dict[str, float], judged: dict[str, int], measure: str, **rules: str) -> float:
    (value,) = gradedeval.evaluate({"t": run}, {"t": judged}, measure, **rules).means.values()
    return value


@pytest.mark.parametrize(
    ("measure", "worked"),
    [
        ("esl", 1),  # n is above a
        ("esl(n=2)", 2),
        ("esl(n=3)", 3 + 2 / 2),  # of c and the two others that the run lacks c is between them on average
        ("esl(n=3,docs=20)", 3 + 14 / 2),  # 20 documents less the 5 of the run and c
        ("esl(n=4)", 3 + 2),  # only three are relevant: all others are seen
        ("esl(rel=2)", 3),
    ],
)
def test_search_length_by_hand(measure: str, worked: float) -> None:
    run = {"n": 5.0, "a": 4.0, "u": 3.0, "b": 2.0, "m": 1.0}
    judged = {"a": 1, "b": 2, "c": 1, "n": 0, "m": 0, "x": 0, "y": -1}
    assert found(run, judged, measure) == pytest.approx(worked)


def test_cooper_s_weak_ordering() -> None:
    # The second relevant document lies in the second level, of 2 relevant and 3 others: 1 above, and 1 · 3 / (2 + 1).
    run = {"a": 9.0, "n": 9.0, **dict.fromkeys("bcopq", 5.0), "z": 1.0}
    judged = dict.fromkeys("abcz", 1) | dict.fromkeys("nopq", 0)
    assert found(run, judged, "esl(n=2)", ties="average") == pytest.approx(1 + 1)


@pytest.mark.filterwarnings("ignore:run. 1 topic with relevant documents returned nothing")
@pytest.mark.parametrize("seed", range(12))
def test_documents_that_the_run_lacks_follow_in_random_order(seed: int) -> None:
    dice = random.Random(seed)
    judged = {docno: int(dice.random() < 0.5) for docno in "abcdefgh"}
    ranking, n = dice.sample("abcdefghuv", dice.randint(0, 6)), dice.randint(1, 4)
    lengths = []
    for rest in permutations(sorted(judged.keys() - set(ranking))):
        relevant = wasted = 0
        for docno in (*ranking, *rest):
            relevant += judged.get(docno, 0)
            wasted += not judged.get(docno, 0) and (relevant < n)
        lengths.append(wasted)
    run = {docno: -float(rank) for rank, docno in enumerate(ranking)}
    lists, all_judged = {"t": run, "other": {"a": 1.0}}, {"t": judged, "other": {"a": 1}}
    length = gradedeval.evaluate(lists, all_judged, f"esl(n={n})").by_topic(f"esl(n={n})")["t"]
    assert length == pytest.approx(sum(lengths) / len(lengths))


def overlap(first: list[str], second: list[str], p: float, depth: int) -> float:
    return sum(p ** (i - 1) * len({*first[:i]} & {*second[:i]}) / i for i in range(1, depth + 1))


def best_of_all_ideals(ranking: list[str], judged: dict[str, int], p: float, depth: int) -> float:
    grades = sorted({grade for grade in judged.values() if grade > 0}, reverse=True)
    levels = [[docno for docno in judged if judged[docno] == grade] for grade in grades]
    ideals = [list(chain(*order)) for order in product(*map(permutations, levels))]
    return max(overlap(ranking, ideal, p, depth) / overlap(ideal, ideal, p, depth) for ideal in ideals)


@pytest.mark.parametrize("seed", range(20))
def test_the_score_equals_the_overlap_with_the_best_of_all_ideal_rankings(seed: int) -> None:
    dice = random.Random(seed)
    ranking = dice.sample("abcdefgh", dice.randint(1, 8))
    judged = {docno: dice.randint(0, 2) for docno in "abcdexy" if dice.random() < 0.7} | {"z": 2, "w": 0}
    p, k = dice.choice((0, 0.5, 0.8)), dice.choice((None, 1, 3, 12))
    run = {"t": {docno: -float(rank) for rank, docno in enumerate(ranking)}}
    measure = gradedeval.MEASURES["compat"](p=p)
    (value,) = gradedeval.evaluate(run, {"t": judged}, measure if k is None else measure @ k).means.values()
    assert value == pytest.approx(best_of_all_ideals(ranking, judged, p, k or 200), abs=1e-12)


def test_compatibility_by_hand() -> None:
    # The ideal is b, a, c.
    run, judged = {"t": {"a": 3.0, "x": 2.0, "b": 1.0}}, {"t": {"a": 1, "b": 2, "c": 1, "x": 0}}
    scores = gradedeval.evaluate(run, judged, "compat(p=0.5)@3 compat(p=0.5,rel=1)@3").means
    # By grades: 0 of 1, a of 2, a and b of 3; if all are equally relevant the ideal is a, b, c: a, a, a and b.
    whole = 1 + 0.5 + 0.25
    assert list(scores.values()) == pytest.approx(
        [(0.5 / 2 + 0.25 * 2 / 3) / whole, (1 + 0.5 / 2 + 0.25 * 2 / 3) / whole]
    )


def test_endless_overlap_is_that_of_a_deep_cutoff() -> None:
    run = {"t": {f"d{n}": -float(n) for n in range(50)}}
    judged = {"t": {f"d{n}": n % 3 for n in range(0, 90, 4)}}
    endless, deep, endlessly_deep = gradedeval.evaluate(
        run, judged, f"compat compat@2000 compat@{10**17}"
    ).means.values()
    assert deep == pytest.approx(endless, rel=1e-13)
    assert endlessly_deep == pytest.approx(endless, rel=1e-13)
