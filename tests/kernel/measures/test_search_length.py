"""Expected search length: by hand, and as the mean over all orders of documents without a rank."""

import random
from itertools import permutations

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
