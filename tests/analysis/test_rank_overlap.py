"""Rank-biased overlap by hand, by loops and by another tool, Kendall's τ by scipy, and runs pair by pair."""

import itertools
import math
import random
import sys
import tracemalloc

import numpy as np
import pytest
from scipy.stats import kendalltau

import gradedeval
from gradedeval.analysis.correlation import kendall_taus
from gradedeval.analysis.rank_overlap import RankedLists, Ties, rank_biased_overlap
from gradedeval.kernel import parallel
from gradedeval.kernel.parallel import Limits
from gradedeval.questions.ranking_agreement import NUMBERS

Groups = list[list[int]]
TIES: tuple[Ties, ...] = ("a", "b")
Run = dict[str, dict[str, float]]


def ranking_of(groups: Groups) -> RankedLists:
    """Return a ranking of groups of tied documents."""
    ends = np.cumsum([len(group) for group in groups])
    sizes = [len(group) for group in groups]
    first, last = np.repeat(ends - sizes, sizes), np.repeat(ends - 1, sizes)
    return RankedLists(np.array([document for group in groups for document in group]), ends[-1:], first, last)


def join(alone: list[RankedLists], documents: int) -> RankedLists:
    """Return rankings of several topics; number the documents of each topic apart."""
    numbers = np.concatenate([ranking.document + documents * topic for topic, ranking in enumerate(alone)])
    columns = zip(*((ranking.counts, ranking.first, ranking.last) for ranking in alone), strict=True)
    return RankedLists(numbers, *map(np.concatenate, columns))


def by_loops(first: Groups, second: Groups, p: float, ties: str) -> tuple[float, float, float]:
    """Return the overlap and its bounds as the papers define them, by the share of each document at each depth."""
    places = []
    for groups in (first, second):
        start, place = 0, {}
        for group in groups:
            place |= dict.fromkeys(group, (start, start + len(group) - 1))
            start += len(group)
        places.append(place)
    short, long = sorted(places, key=len)
    common, unique = short.keys() & long.keys(), [docno for docno in long if docno not in short]

    def there(place: tuple[int, int], depth: int) -> float:
        top, bottom = place
        return min(1.0, max(0.0, (depth - top + 1) / (bottom - top + 1)))

    agreed, low, high = [], [], []
    for depth in range(len(long)):
        mine = [there(place, depth) for place in long.values()]
        theirs = [there(place, depth) for place in short.values()] if depth < len(short) else [1.0] * (depth + 1)
        squares = math.sqrt(sum(share * share for share in mine) * sum(share * share for share in theirs))
        norm = squares if ties == "b" else depth + 1
        shared = sum(there(short[docno], depth) * there(long[docno], depth) for docno in common)
        extra = best = 0.0
        if depth >= len(short):
            unseen = depth + 1 - len(short)
            parts = [there(long[docno], depth) if ties == "b" else 1.0 for docno in unique if there(long[docno], depth)]
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


def draw_ranking(draw: random.Random, tied: bool) -> Groups:
    """Return a random ranking."""
    docnos, groups = draw.sample(range(40), draw.randint(1, 25)), []
    while docnos:
        size = draw.choice([1, 1, 2, 3]) if tied else 1
        groups.append(docnos[:size])
        docnos = docnos[size:]
    return groups


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_rank_biased_overlap_follows_its_definition(count: int) -> None:
    draw = random.Random(count)
    for number in range(count):
        first, second = draw_ranking(draw, number % 2 == 0), draw_ranking(draw, number % 2 == 0)
        p, ties = draw.choice([0.5, 0.8, 0.9, 0.98]), TIES[number // 2 % 2]
        overlap = rank_biased_overlap(ranking_of(first), ranking_of(second), 40, p, ties)[:, 0]
        assert overlap == pytest.approx(by_loops(first, second, p, ties), abs=1e-12)
        assert overlap == pytest.approx(
            rank_biased_overlap(ranking_of(second), ranking_of(first), 40, p, ties)[:, 0], abs=1e-12
        )
        assert overlap[1] - 1e-12 <= overlap[0] <= overlap[2] + 1e-12


def as_defined(first: list[int], second: list[int], p: float) -> float:
    """Return extrapolated RBO without ties, by sets: equation 32 of Webber, Moffat & Zobel, TOIS 2010."""
    short, long = sorted((first, second), key=len)
    s, l = len(short), len(long)  # noqa: E741
    overlap = [len({*short[:depth]} & {*long[:depth]}) for depth in range(l + 1)]
    total = sum(overlap[depth] / depth * p**depth for depth in range(1, l + 1))
    total += sum(overlap[s] * (depth - s) / (s * depth) * p**depth for depth in range(s + 1, l + 1))
    return (1 - p) / p * total + ((overlap[l] - overlap[s]) / l + overlap[s] / s) * p**l


def orders_of(groups: Groups) -> list[list[int]]:
    """Return all orders of tied documents."""
    parts = itertools.product(*map(itertools.permutations, groups))
    return [[document for part in order for document in part] for order in parts]


def few_orders(*rankings: Groups) -> bool:
    return math.prod(math.factorial(len(group)) for groups in rankings for group in groups) <= 24


@pytest.mark.parametrize("count", [150, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_rank_biased_overlap_of_many_lists_follows_equation_32(count: int) -> None:
    """Draw half of the lists with ties: their overlap is the mean over all orders."""
    draw, pairs = random.Random(32), []
    while len(pairs) < count:
        tied = len(pairs) % 2 == 1
        pair = draw_ranking(draw, tied), draw_ranking(draw, tied)
        if not tied or few_orders(*pair):
            pairs.append(pair)
    p = draw.choice([0.5, 0.8, 0.9, 0.98])
    sides = [join([ranking_of(groups) for groups in each], 40) for each in zip(*pairs, strict=True)]
    overlaps = rank_biased_overlap(*sides, 40 * len(pairs), p, "a")[0]
    for value, (first, second) in zip(overlaps.tolist(), pairs, strict=True):
        values = [as_defined(mine, theirs, p) for mine in orders_of(first) for theirs in orders_of(second)]
        assert value == pytest.approx(np.mean(values), abs=1e-12)


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_ties_are_the_mean_over_all_orders(count: int) -> None:
    """Check the overlap and both its bounds, also if one list is longer than the other."""
    draw = random.Random(7)
    for _ in range(count):
        rankings: list[Groups] = []
        while not (rankings and few_orders(*rankings)):
            rankings = [draw_ranking(draw, True), draw_ranking(draw, True)]
        each = [[[[docno] for docno in order] for order in orders_of(groups)] for groups in rankings]
        values = [rank_biased_overlap(ranking_of(first), ranking_of(second), 40, 0.8, "a")[:, 0]
                  for first in each[0] for second in each[1]]  # fmt: skip
        overlap = rank_biased_overlap(ranking_of(rankings[0]), ranking_of(rankings[1]), 40, 0.8, "a")[:, 0]
        assert overlap == pytest.approx(np.mean(values, axis=0), abs=1e-12)


def test_a_tie_of_twice_as_many_documents_takes_no_more_than_twice_the_memory() -> None:
    def peak(size: int) -> int:
        first, second = (ranking_of([random.Random(seed).sample(range(size), size)]) for seed in range(2))
        tracemalloc.start()
        rank_biased_overlap(first, second, size, 0.9, "a")
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(2000) < 2.2 * peak(1000)


def test_one_deep_topic_does_not_widen_the_others() -> None:
    """Cut topics into blocks by their length: each has the same numbers as alone."""
    draw = random.Random(3)
    groups = [(draw_ranking(draw, True), draw_ranking(draw, True)) for _ in range(30)]
    groups.insert(7, tuple([draw.sample(range(2000), 2000)] for _ in range(2)))  # type: ignore[arg-type]
    alone = [
        rank_biased_overlap(ranking_of(first), ranking_of(second), 2000, 0.9, "b")[:, 0] for first, second in groups
    ]
    pair = (
        join([ranking_of(first) for first, _ in groups], 2000),
        join([ranking_of(second) for _, second in groups], 2000),
    )
    for cells in (1 << 18, 100, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parallel, "LIMITS", Limits(cells=cells))
            overlaps = rank_biased_overlap(*pair, 2000 * len(groups), 0.9, "b")
        assert overlaps == pytest.approx(np.array(alone).T, abs=1e-12)


def test_by_hand() -> None:
    """Reverse a list of two: agreement 0 at depth 1, and 1 from depth 2 on."""
    overlap = rank_biased_overlap(ranking_of([[1], [2]]), ranking_of([[2], [1]]), 3, 0.9, "a")[:, 0]
    assert overlap[0] == pytest.approx(0.9)
    assert overlap[2] == pytest.approx(0.9)
    assert overlap[1] == pytest.approx(0.1 * 0.9 + 0.1 / 0.9 * 2 * (math.log(10) - 0.9 - 0.81 / 2))


@pytest.mark.parametrize("ties", [1, 4, 10_000])
@pytest.mark.parametrize("size", [1, 31, 33, 1000, 1025, pytest.param(5000, marks=pytest.mark.exhaustive)])
def test_kendalls_tau_of_groups_of_any_size(size: int, ties: int) -> None:
    """Check blocks of 32 and numbers of ten bits and more: an empty group, one of this size, and two small ones."""
    draw = np.random.default_rng(size)
    group = np.repeat([1, 2, 4], [size, 40, 3])
    first, second = (draw.permutation(len(group)) // ties for _ in range(2))
    taus = kendall_taus(group, first, second, 5)
    for number in range(5):
        inside = group == number
        expected = kendalltau(first[inside], second[inside]).statistic if inside.sum() > 1 else math.nan
        assert taus[number] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def draw_run(draw: random.Random) -> Run:
    """Return a run of some topics, of any length, with few ties or many."""
    levels = draw.choice([2, 10, 10_000])
    return {
        topic: {f"d{number}": draw.randrange(levels) / 4 for number in draw.sample(range(60), draw.randint(1, 50))}
        for topic in ("t1", *(topic for topic in ("t2", "t3", "t4") if draw.random() < 0.7))
    }


def groups_of(documents: dict[str, float]) -> Groups:
    """Return the groups of tied documents of a topic, best first."""
    ordered = sorted(documents.items(), key=lambda item: (item[1], item[0]), reverse=True)
    groups = itertools.groupby(ordered, key=lambda item: item[1])
    return [[int(docno[1:]) for docno, _ in group] for _, group in groups]


def plainly(first: dict[str, float], second: dict[str, float], depth: int, p: float) -> list[float]:
    """Return the numbers of one topic of two runs, document by document."""
    groups = groups_of(first), groups_of(second)
    firsts = [[docno for _, docno in sorted(((score, docno) for docno, score in run.items()), reverse=True)][:depth]
              for run in (first, second)]  # fmt: skip
    both = sorted(first.keys() & second.keys())
    scores = [[run[docno] for docno in both] for run in (first, second)]
    tau = kendalltau(*scores).statistic if len(both) > 1 else math.nan
    rbo, low, high = by_loops(*groups, p, "a")
    overlap = len({*firsts[0]} & {*firsts[1]}) / max(map(len, firsts))
    return [rbo, low, high, high - low, overlap, tau, len(both)]


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("count", [2, pytest.param(24, marks=pytest.mark.exhaustive)])
def test_runs_in_blocks_have_the_numbers_of_their_topics_one_by_one(count: int) -> None:
    """Draw missing topics, short lists and ties, with blocks of any size and more runs than a task takes at once."""
    draw = random.Random(31)
    for _ in range(count):
        runs = {f"r{run}": draw_run(draw) for run in range(4)}
        depth, p = draw.choice([1, 10, 100]), draw.choice([0.5, 0.9, 0.98])
        frames = []
        for cells, together in ((1 << 18, 64), (1000, 2), (150, 1), (1, 64)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(parallel, "LIMITS", Limits(cells=cells))
                patch.setattr(sys.modules["gradedeval.questions.ranking_agreement"], "RUNS_PER_TASK", together)
                frames.append(gradedeval.ranking_agreement(runs, at=depth, persistence=p).frame)
        for row in frames[0].to_dict("records"):
            expected = plainly(runs[row["run"]][row["topic"]], runs[row["other"]][row["topic"]], depth, p)
            assert [row[name] for name in NUMBERS] == pytest.approx(expected, abs=1e-12, nan_ok=True)
        for frame in frames:
            assert [list(row) for row in frame[["run", "other"]].drop_duplicates().to_numpy()] == [
                [f"r{first}", f"r{second}"] for second in range(4) for first in range(second)
            ]
            assert (frame.groupby(["run", "other"], sort=False)["rbo"].diff().dropna() >= 0).all()
            keyed = [table.sort_values(["run", "other", "topic"])[list(NUMBERS)] for table in
                     (frame, frames[0])]  # fmt: skip
            assert keyed[0].to_numpy() == pytest.approx(keyed[1].to_numpy(), abs=1e-12, nan_ok=True)
