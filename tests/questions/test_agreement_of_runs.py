"""`diff` without qrels: rank-biased overlap by hand, by loops and by another tool; reproduced experiments."""

from __future__ import annotations

import csv
import itertools
import json
import math
import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

import gradedeval
from gradedeval import InputError
from gradedeval.kernel.parallel import workers
from gradedeval.kernel.parallel.workers import Limits
from gradedeval.questions.agreement import TIES, Lists, kendall_taus, rank_biased_overlap
from support.commands import Command
from support.paths import SAMPLES

BM25, RM3, NEURAL, DENSE = (str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "dense"))
QRELS = str(SAMPLES / "rivers.qrels")
Groups = list[list[int]]


def lists(groups: Groups) -> Lists:
    """One ranking: groups of tied documents."""
    ends = np.cumsum([len(group) for group in groups])
    sizes = [len(group) for group in groups]
    first, last = np.repeat(ends - sizes, sizes), np.repeat(ends - 1, sizes)
    return Lists(np.array([one for group in groups for one in group]), ends[-1:], first, last)


def together(alone: list[Lists], documents: int) -> Lists:
    """Rankings of several topics; a document of a topic has a number of its own."""
    numbers = np.concatenate([one.document + documents * topic for topic, one in enumerate(alone)])
    columns = zip(*((one.counts, one.first, one.last) for one in alone), strict=True)
    return Lists(numbers, *map(np.concatenate, columns))


def by_loops(one: Groups, other: Groups, p: float, ties: str) -> tuple[float, float, float]:
    """As the papers define it: how much of each document is there at each depth."""
    places = []
    for groups in (one, other):
        at, place = 0, {}
        for group in groups:
            place |= dict.fromkeys(group, (at, at + len(group) - 1))
            at += len(group)
        places.append(place)
    short, long = sorted(places, key=len)
    common, unique = short.keys() & long.keys(), [one for one in long if one not in short]

    def there(place: tuple[int, int], depth: int) -> float:
        first, last = place
        return float(depth >= first) if ties == "w" else min(1.0, max(0.0, (depth - first + 1) / (last - first + 1)))

    agreed, low, high = [], [], []
    for depth in range(len(long)):
        mine = [there(place, depth) for place in long.values()]
        theirs = [there(place, depth) for place in short.values()] if depth < len(short) else [1.0] * (depth + 1)
        squares = math.sqrt(sum(one * one for one in mine) * sum(one * one for one in theirs))
        norm = {"w": (sum(mine) + sum(theirs)) / 2, "a": depth + 1, "b": squares}[ties]
        shared = sum(there(short[one], depth) * there(long[one], depth) for one in common)
        extra = best = 0.0
        if depth >= len(short):
            unseen = depth + 1 - len(short)
            parts = [there(long[one], depth) if ties == "b" else 1.0 for one in unique if there(long[one], depth)]
            extra = unseen * agreed[len(short) - 1] * sum(parts) / len(parts)
            best = sum(parts[:unseen])
        agreed.append((shared + extra) / norm)
        low.append(shared / norm)
        high.append((shared + best) / norm)
    s, l, x = len(short), len(long), len(common)  # noqa: E741
    weights = [(1 - p) * p**depth for depth in range(l)]
    sums = [sum(map(math.prod, zip(weights, part, strict=True))) for part in (agreed, low, high)]
    end = (x + (l - s) * agreed[s - 1]) / l * p**l
    below = (1 - p) / p * x * (-math.log(1 - p) - sum(p**depth / depth for depth in range(1, l + 1)))
    full = l + s - x
    above = sum((2 * depth - l - s + x) / depth * p**depth for depth in range(l + 1, full + 1))
    return sums[0] + end, sums[1] + below, sums[2] + (1 - p) / p * (above + p ** (full + 1) / (1 - p))


def drawn(draw: random.Random, tied: bool) -> Groups:
    """A random ranking."""
    docnos, groups = draw.sample(range(40), draw.randint(1, 25)), []
    while docnos:
        size = draw.choice([1, 1, 2, 3]) if tied else 1
        groups.append(docnos[:size])
        docnos = docnos[size:]
    return groups


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_rank_biased_overlap_is_what_the_definition_gives(count: int) -> None:
    draw = random.Random(count)
    for number in range(count):
        one, other = drawn(draw, number % 2 == 0), drawn(draw, number % 2 == 0)
        p, ties = draw.choice([0.5, 0.8, 0.9, 0.98]), TIES[number % 3]
        found = rank_biased_overlap(lists(one), lists(other), 40, p, ties)[:, 0]
        assert found == pytest.approx(by_loops(one, other, p, ties), abs=1e-12)
        assert found == pytest.approx(rank_biased_overlap(lists(other), lists(one), 40, p, ties)[:, 0], abs=1e-12)
        assert found[1] - 1e-12 <= found[0] <= found[2] + 1e-12


def as_defined(one: list[int], other: list[int], p: float) -> float:
    """Extrapolated RBO without ties, by sets: equation 32 of Webber, Moffat & Zobel, TOIS 2010."""
    short, long = sorted((one, other), key=len)
    s, l = len(short), len(long)  # noqa: E741
    overlap = [len({*short[:depth]} & {*long[:depth]}) for depth in range(l + 1)]
    total = sum(overlap[depth] / depth * p**depth for depth in range(1, l + 1))
    total += sum(overlap[s] * (depth - s) / (s * depth) * p**depth for depth in range(s + 1, l + 1))
    return (1 - p) / p * total + ((overlap[l] - overlap[s]) / l + overlap[s] / s) * p**l


def orders(groups: Groups) -> list[list[int]]:
    """All orders of tied documents."""
    parts = itertools.product(*map(itertools.permutations, groups))
    return [[one for part in order for one in part] for order in parts]


def few_orders(*rankings: Groups) -> bool:
    return math.prod(math.factorial(len(group)) for groups in rankings for group in groups) <= 24


@pytest.mark.parametrize("count", [150, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_rank_biased_overlap_of_many_lists_is_that_of_equation_32(count: int) -> None:
    """Half of them with ties: the mean over all orders."""
    draw, pairs = random.Random(32), []
    while len(pairs) < count:
        tied = len(pairs) % 2 == 1
        pair = drawn(draw, tied), drawn(draw, tied)
        if not tied or few_orders(*pair):
            pairs.append(pair)
    p = draw.choice([0.5, 0.8, 0.9, 0.98])
    sides = [together([lists(groups) for groups in each], 40) for each in zip(*pairs, strict=True)]
    found = rank_biased_overlap(*sides, 40 * len(pairs), p, "a")[0]
    for value, (one, other) in zip(found.tolist(), pairs, strict=True):
        values = [as_defined(mine, theirs, p) for mine in orders(one) for theirs in orders(other)]
        assert value == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_rank_biased_overlap_equals_the_package_rbo(count: int) -> None:
    rbo = pytest.importorskip("rbo")
    draw = random.Random(count)
    for _ in range(count):
        one, other = drawn(draw, False), drawn(draw, False)
        flat = ([group[0] for group in one], [group[0] for group in other])
        theirs = rbo.RankingSimilarity(*flat).rbo_ext(p=0.9)
        assert rank_biased_overlap(lists(one), lists(other), 40, 0.9, "a")[0, 0] == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_ties_are_the_mean_over_all_orders(count: int) -> None:
    """Of the overlap and of both its bounds, also where one list is longer than the other."""
    draw = random.Random(7)
    for _ in range(count):
        rankings: list[Groups] = []
        while not (rankings and few_orders(*rankings)):
            rankings = [drawn(draw, True), drawn(draw, True)]
        each = [[[[one] for one in order] for order in orders(groups)] for groups in rankings]
        values = [rank_biased_overlap(lists(one), lists(other), 40, 0.8, "a")[:, 0]
                  for one in each[0] for other in each[1]]  # fmt: skip
        found = rank_biased_overlap(lists(rankings[0]), lists(rankings[1]), 40, 0.8, "a")[:, 0]
        assert found == pytest.approx(np.mean(values, axis=0), abs=1e-12)


def test_a_tie_of_twice_as_many_documents_takes_no_more_than_twice_the_memory() -> None:
    def peak(size: int) -> int:
        one, other = (lists([random.Random(seed).sample(range(size), size)]) for seed in range(2))
        tracemalloc.start()
        rank_biased_overlap(one, other, size, 0.9, "a")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(2000) < 2.2 * peak(1000)


def test_one_deep_topic_does_not_widen_the_others() -> None:
    """Topics are cut into blocks by their length; each has the numbers that it has alone."""
    draw = random.Random(3)
    groups = [(drawn(draw, True), drawn(draw, True)) for _ in range(30)]
    groups.insert(7, tuple([draw.sample(range(2000), 2000)] for _ in range(2)))  # type: ignore[arg-type]
    alone = [rank_biased_overlap(lists(one), lists(other), 2000, 0.9, "b")[:, 0] for one, other in groups]
    pair = together([lists(one) for one, _ in groups], 2000), together([lists(other) for _, other in groups], 2000)
    for cells in (1 << 18, 100, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(workers, "LIMITS", Limits(cells=cells))
            found = rank_biased_overlap(*pair, 2000 * len(groups), 0.9, "b")
        assert found == pytest.approx(np.array(alone).T, abs=1e-12)


def test_by_hand() -> None:
    """Two lists of two that are turned around: agreement 0 at depth 1, and 1 from depth 2 on."""
    found = rank_biased_overlap(lists([[1], [2]]), lists([[2], [1]]), 3, 0.9, "a")[:, 0]
    assert found[0] == pytest.approx(0.9)
    assert found[2] == pytest.approx(0.9)
    assert found[1] == pytest.approx(0.1 * 0.9 + 0.1 / 0.9 * 2 * (math.log(10) - 0.9 - 0.81 / 2))


def test_kendalls_tau_is_that_of_scipy() -> None:
    draw = np.random.default_rng(5)
    for _ in range(30):
        groups = int(draw.integers(1, 5))
        group = np.sort(draw.integers(0, groups, 40))
        one, other = (draw.integers(0, int(draw.choice([2, 5, 60])), 40) for _ in range(2))
        found = kendall_taus(group, one, other, groups)
        for number in range(groups):
            inside = group == number
            expected = kendalltau(one[inside], other[inside]).statistic if inside.sum() > 1 else math.nan
            assert found[number] == pytest.approx(expected, nan_ok=True)


def test_the_numbers_of_two_runs() -> None:
    runs = {"A": {"t": {"a": 3.0, "b": 2.0, "c": 1.0}, "only": {"x": 1.0}}, "B": {"t": {"b": 9.0, "a": 8.0, "d": 7.0}}}
    with pytest.warns(gradedeval.EvaluationWarning, match="1 of 2 topics left out of a pair: not in both runs"):
        found = gradedeval.agreement(runs, at=2)
    (row,) = found.frame.to_dict("records")
    assert (row["topic"], row["overlap"], row["tau"], row["common"]) == ("t", 1, -1, 2)
    assert row["residual"] == pytest.approx(row["rbo_high"] - row["rbo_low"])
    assert list(found.means["topics"]) == [1]
    assert gradedeval.agreement([BM25, RM3]).of_topic("301").frame["overlap"].tolist() == [0.2]


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_a_reproduced_experiment_is_the_original() -> None:
    frame = gradedeval.reproduction([BM25, NEURAL], [BM25, NEURAL], QRELS, "ndcg@10 ap", topics="relevant").frame
    best = {"ktu": 1, "rbo": 1, "rmse": 0, "er": 1, "delta_ri": 0}
    for row in frame.to_dict("records"):
        assert row["value"] == pytest.approx(best[row["what"]])


def test_how_rankings_of_a_reproduction_agree_is_measured_as_its_command_does(cli: Command) -> None:
    runs, originals = [NEURAL, BM25], [BM25, NEURAL]
    frame = gradedeval.reproduction(runs, originals, persistence=0.8, rbo_ties="a").frame
    outcome = cli("diff", *runs, "--reproduce", *originals, "--persistence", "0.8", "--rbo-ties", "a", "-f", "csv")
    assert [float(row["value"]) for row in csv.DictReader(outcome.text.splitlines())] == pytest.approx(
        frame["value"].tolist(), abs=1e-12
    )


def test_the_numbers_of_a_reproduction() -> None:
    """Breuer et al.: the union of d1 d2 d3 and d1 d2 d4 is d1 d2 d3 d4, so that ranks 1 2 3 meet 1 2 4."""
    qrels = {"t": {"d1": 1, "d3": 1}, "u": {"d1": 1}}
    old = {"t": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "u": {"d2": 2.0, "d1": 1.0}}
    better = {"t": {"d3": 3.0, "d1": 2.0}, "u": {"d1": 2.0}}
    mine = {"t": {"d1": 3.0, "d2": 2.0, "d4": 1.0}, "u": {"d2": 2.0, "d1": 1.0}}
    good = {"t": {"d1": 3.0, "d4": 2.0}, "u": {"d1": 2.0}}
    frame = gradedeval.reproduction({"b": mine, "a": good}, {"B": old, "A": better}, qrels, "p@2").frame
    value = {(row["what"], row["run"]): row["value"] for row in frame.to_dict("records")}
    assert value["ktu", "b"] == 1
    assert value["rmse", "b"] == 0
    assert value["rmse", "a"] == pytest.approx(math.sqrt((0.5**2 + 0) / 2))
    improved, original = 0.5 - 0.5, 0.75 - 0.5
    assert value["er", "a − b"] == pytest.approx(improved / original)
    assert value["delta_ri", "a − b"] == pytest.approx(original / 0.5 - improved / 0.5)


# --- at the prompt ----------------------------------------------------------------------------------------------------


def test_two_runs_by_topic_and_more_as_a_matrix(cli: Command) -> None:
    two = cli("diff", BM25, RM3, "--top", "1").text
    assert "mean of 50  0.2361" in two
    assert "49 more topics: --top N" in two
    matrix = cli("diff", BM25, RM3, NEURAL).text
    assert "bm25          —     0.236   0.152" in matrix
    lines = cli("diff", BM25, RM3, "-f", "jsonl", "--top", "1").text.splitlines()
    assert json.loads(lines[0]).keys() >= {"run", "other", "topic", "rbo", "residual", "overlap", "tau"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((BM25,), "1 run given; agreement is between two or more"),
        ((BM25, RM3, "--only", "worse"), "--only: needs qrels; add QRELS"),
        ((BM25, RM3, QRELS, "--at", "3"), "--at: applies to runs without qrels; leave it out"),
        ((BM25, RM3, "--persistence", "1"), "--persistence: 1 is too large; it must be below 1"),
        ((BM25, RM3, "--topic", "nine"), "--topic: 'nine' is not a topic of both runs; as in "),
        ((BM25, QRELS, "--reproduce", DENSE, NEURAL), "1 runs and 2 originals given; give a baseline"),
    ],
)
def test_what_cannot_be_compared_is_one_line(words: tuple[str, ...], message: str, cli: Command) -> None:
    done = cli("diff", *words)
    assert done.code == 2
    assert len(done.messages) == 1
    assert message in done.messages[0]


def test_runs_without_a_topic_in_common() -> None:
    runs: Any = {"A": {"t": {"a": 1.0}}, "B": {"u": {"a": 1.0}}}
    with pytest.raises(InputError, match="shares no topics with"):
        gradedeval.agreement(runs)


@pytest.mark.parametrize("words", [("diff", BM25, RM3), ("pool", BM25, RM3)])
def test_runs_without_a_topic_that_is_listed(words: tuple[str, ...], tmp_path: Path, cli: Command) -> None:
    (tmp_path / "topics").write_text("none\n")
    done = cli(*words, "--topics-from", "topics")
    said = f"--topics-from: no topic of {BM25} is listed; its topics are 301, 302, 303, 304, 305, …"
    assert (done.code, done.out, done.messages) == (1, b"", [said])
    with pytest.raises(InputError, match=r"^run: is empty"):
        gradedeval.agreement({"A": {}, "B": {"t": {"a": 1.0}}})


def test_ktu_orders_the_union_by_docno_as_repro_eval() -> None:
    """By loops; rankings without a common document agree no more than chance has it, and those of the paper's example
    fully."""
    draw = random.Random(17)

    def ktu(run: list[str], original: list[str]) -> float:
        ranked = [{"t": {docno: float(-rank) for rank, docno in enumerate(one)}} for one in (run, original)]
        found = gradedeval.reproduction([ranked[0]] * 2, [ranked[1]] * 2).frame
        return float(found[found["what"] == "ktu"]["value"].iloc[0])

    docnos = [f"d{number:02}" for number in range(60)]
    for _ in range(5):
        run, original = draw.sample(docnos, draw.randint(2, 30)), draw.sample(docnos, draw.randint(2, 30))
        union = sorted({*run, *original})
        places = [[union.index(one) for one in ranking[: min(len(run), len(original))]] for ranking in (run, original)]
        assert ktu(run, original) == pytest.approx(kendalltau(*places).statistic)
    assert ktu(["d1", "d2", "d4"], ["d1", "d2", "d3"]) == 1
    mixed = draw.sample(docnos, 60)
    assert abs(ktu(mixed[:30], mixed[30:])) < 0.4
