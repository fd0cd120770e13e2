"""Shortcuts of judging, against the long way to the same values."""

import random
from typing import Any

import numpy as np
import pytest

from gradedeval.analysis import reversals
from gradedeval.analysis.difference_bounds import Differences, Ranking, counts_of, shared_above, unjudged_of
from gradedeval.analysis.greatest_differences import UpperBounds, largest_ratio
from gradedeval.analysis.ranked_runs import rank_runs
from gradedeval.analysis.reversals import RereadRuns, ReversalFinder, judge_run, top_gain_scores
from gradedeval.analysis.score_matrix import scores_to_compare, shared_topics, to_matrix
from gradedeval.arrays import Floats, Ints
from gradedeval.kernel.scoring.scorer import bounds_of_rows, bounds_with_unretrieved
from gradedeval.kernel.scoring.scores import Scores

TOPICS = ("1", "2", "3")


def evaluated(seed: int, measures: str, length: int | None = 40, **options: Any) -> Scores:
    """Return scores of three runs of the same documents in other orders, a third judged; no `length` draws lengths."""
    draw = random.Random(seed)
    docnos = [f"d{number}" for number in range(60)]
    qrels = {topic: {docno: draw.randint(0, 2) for docno in draw.sample(docnos, 20)} for topic in TOPICS}
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in "abc"}
    for run in runs.values():
        for topic in TOPICS:
            drawn = draw.sample(docnos, length or draw.randint(12, 60))
            run[topic] = {docno: -float(rank) for rank, docno in enumerate(drawn)}
    scores = scores_to_compare(runs, qrels, measures, None, options)
    assert isinstance(scores, Scores)
    return scores


def reread_of(scores: Scores) -> RereadRuns:
    reread = RereadRuns.of(scores)
    assert reread is not None
    return reread


@pytest.mark.parametrize("parts", [1, 2])
def test_cells_asked_for_one_by_one_give_the_largest_ratio(parts: int) -> None:
    draw = np.random.default_rng(parts)
    shape = (6, 5)
    for _ in range(200):
        exact = [draw.normal(size=shape) for _ in range(parts)]
        least = [draw.integers(0, 4, shape).astype(np.float64).cumsum(1) for _ in range(parts)]
        most = [whole + np.arange(5) * draw.integers(0, 3) for whole in least]
        ceilings = [cells + draw.random(shape) for cells in exact]
        for ceiling, cells in zip(ceilings, exact, strict=True):
            ceiling[:, 0] = cells[:, 0]

        def asked(part: int, rows: Ints, cells: Ints, exact: list[Floats] = exact) -> Floats:
            return exact[part][rows, cells]

        def lazy(enough: Floats, of: Any = (ceilings, least, most, asked)) -> Floats:
            bounds, low, high, cells = of
            sure = [np.zeros(shape, dtype=bool) for _ in bounds]
            for mask in sure:
                mask[:, 0] = True
            return UpperBounds([bound.copy() for bound in bounds], low, high, cells, sure).largest_ratio(enough)

        largest = largest_ratio(np.zeros(6), exact, least, most)
        assert (lazy(np.full(6, np.nan)) == largest).all()
        enough = draw.normal(size=6)
        ratio = lazy(enough)
        assert (np.minimum(ratio, enough) == np.minimum(largest, enough)).all()


@pytest.mark.parametrize(
    "measure",
    ["ap", "ap@7", "ap(norm=k)@7", "sp", "ap(rel=2)", "gap", "gap@7", "gap(norm=k)@7", "gap(g=1:3)", "gap(g=0:1)"],
)
def test_precisions_agree_with_the_measure(measure: str) -> None:
    for seed in range(5):
        scores = evaluated(seed, measure)
        reread, draw = reread_of(scores), np.random.default_rng(seed)
        (part,) = reread.parts("a", TOPICS) or ()
        judged = judge_run(reread.scorer, 0, [part], {})
        assert judged.precise is not None
        numbers = [draw.permutation(part.number[part.number > 0])[:size] for size in (0, 1, 5, 30, 1000)]
        cells = [part.cells(some) for some in numbers]
        expected = top_gain_scores(reread.scorer, 0, part, map(part.choice, numbers), judged.ceiling)
        for (rows, values), reference, some in zip(
            judged.precise[0].scores(cells, judged.ceiling), expected, numbers, strict=True
        ):
            score_by_row = dict(zip(part.choice(some)[0].tolist(), reference.tolist(), strict=True))
            assert dict(zip(rows.tolist(), values.tolist(), strict=True)).items() <= score_by_row.items()


@pytest.mark.parametrize("measure", ["ap", "gap(g=1:3)"])
def test_first_documents_have_the_scores_of_the_measure(measure: str) -> None:
    reread = reread_of(evaluated(3, measure))
    (part,) = reread.parts("b", TOPICS) or ()
    judged = judge_run(reread.scorer, 0, [part], {})
    seen, rows, tried = judged.seen[0], np.arange(3), np.arange(12)
    assert judged.precise is not None
    each = judged.precise[0].down_to(seen, tried, 1.0)
    for number in tried.tolist():
        (expected,) = top_gain_scores(reread.scorer, 0, part, [(rows, seen & (seen.cumsum(1) <= number))], 1.0)
        assert (each[:, number] == expected).all()


@pytest.mark.parametrize("measure", ["ap", "ap(norm=k)@7", "gap", "gap@9", "gm_ap"])
def test_bounds_of_rows_with_missed_documents_equal_bounds_of_the_batch(measure: str) -> None:
    reread = reread_of(evaluated(1, measure))
    (part,) = reread.parts("a", TOPICS) or ()
    rows, missed = np.array([0, 1, 2]), np.array([0, 3, 17])
    for shift in range(3):
        missed = np.roll(missed, shift)
        bounds = bounds_of_rows(reread.scorer, part.batch, 0, rows, missed)
        assert bounds is not None
        assert (bounds == bounds_with_unretrieved(reread.scorer, part.batch, 0, missed)).all()


def test_runs_that_are_ranked_need_not_be_read_again() -> None:
    scores = evaluated(2, "ap err@5")
    unranked = reread_of(scores)
    ranked = RereadRuns.of_runs(unranked.scorer, scores.sources, rank_runs(scores.sources, unranked.scorer.grader))
    assert ranked is not None
    for run in "abc":
        parts = [(reread.parts(run, TOPICS) or [])[0] for reread in (unranked, ranked)]
        first, second = (
            {name: (part.batch.codes[row].tolist(), part.unjudged[row].tolist()) for row, name in enumerate(part.names)}
            for part in parts
        )
        assert first == second
    paired = shared_topics(to_matrix(scores), "ap")
    requests = [("a", "b", paired, 0.01), ("b", "c", paired, 0.3)]
    assert ReversalFinder(unranked).reversals(requests) == ReversalFinder(ranked).reversals(requests)


@pytest.mark.filterwarnings("ignore:unseen.*no measure here uses it")  # sp
@pytest.mark.one_in(7)
@pytest.mark.parametrize("seeds", [2, pytest.param(6, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("unseen", [None, 3, float("inf")])
@pytest.mark.parametrize("measure", ["ap", "ap(norm=k)@25", "ap@15", "sp", "gap(g=1:3)"])
def test_few_ranks_suffice(measure: str, unseen: float | None, seeds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    reached, draw = 0, np.random.default_rng(0)
    few_ranks = Differences._reached
    for seed in range(seeds):
        scores = evaluated(seed, measure, length=30 + seed % 3 * 15, unseen=unseen)
        paired = shared_topics(to_matrix(scores), scores.measures[0].label)
        differences = Differences(reread_of(scores), paired)
        first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
        nothing = np.full((3, len(TOPICS)), np.nan)
        lowest, highest = differences.bounds(first, second, nothing, nothing)
        for _ in range(40 if seeds > 2 else 10):
            least, most = lowest * draw.uniform(0, 1.2, lowest.shape), highest * draw.uniform(0, 1.2, highest.shape)
            enough = np.array([most, -least])
            sure = few_ranks(differences, first, second, enough)
            assert (enough[sure] <= np.array([highest, -lowest])[sure]).all()
            reached += int(sure.sum())
            with monkeypatch.context() as patched:
                bounds = differences.bounds(first, second, least, most)
                patched.setattr(Differences, "_reached", lambda *asked: np.zeros(asked[-1].shape, dtype=bool))
                expected = differences.bounds(first, second, least, most)
            assert (np.fmax(bounds[0], least) == np.fmax(expected[0], least)).all()
            assert (np.fmin(bounds[1], most) == np.fmin(expected[1], most)).all()
    assert reached > 100


@pytest.mark.parametrize("measure", ["ap", "gap(g=1:3)", "sp"])
def test_bounds_of_a_pair_do_not_depend_on_other_pairs(measure: str) -> None:
    for seed in range(6):
        scores = evaluated(seed, measure, length=None)
        paired, first, second = shared_topics(to_matrix(scores), measure), np.array([0, 0, 1]), np.array([1, 2, 2])
        nothing = np.full((3, len(TOPICS)), np.nan)
        together = Differences(reread_of(scores), paired).bounds(first, second, nothing, nothing)
        for pair in range(3):
            index = slice(pair, pair + 1)
            alone = Differences(reread_of(scores), paired).bounds(
                first[index], second[index], nothing[index], nothing[index]
            )
            assert np.array_equal([table[0] for table in alone], [table[pair] for table in together])


@pytest.mark.parametrize("depth", [100, (1 << 15) - 1, 1 << 15, 40_000])
def test_runs_of_many_ranks_have_few_documents_in_common(depth: int) -> None:
    """Count ranks of unjudged documents in small numbers; the last one may stand far beyond the last rank."""
    nothing, zero = np.zeros((1, depth)), np.zeros(1)
    first, second = (
        Ranking.of(nothing, np.ones(1), zero, np.zeros(3, dtype=int), np.array(ranks), np.array(numbers))
        for ranks, numbers in (([0, 4, 9], [1, 2, 3]), ([2, 5, 60], [3, 4, 5]))
    )
    unknown = unjudged_of(first, second, 0)
    assert unknown.first.tolist() == [0, 4, 9, depth, depth]
    assert unknown.second.tolist() == [depth, depth, 2, 5, 60]
    (shared,) = shared_above([first, second], np.array([0]), np.array([10, depth]))
    assert shared.tolist() == [[[3, 1]], [[3, 1]]]
    assert counts_of(first, second, 0, np.zeros(1, dtype=int)).seen.tolist() == [5]


@pytest.mark.parametrize("measure", ["ap", "gap(g=1:3)", "ndcg", "err"])
def test_documents_unsorted_at_first_are_found_too(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(8):
        scores = evaluated(seed, measure)
        paired = shared_topics(to_matrix(scores), measure)
        requests = [(*runs, paired, needed) for runs in ("ab", "ca", "bc") for needed in (0.01, 0.1, 0.4)]
        expected = ReversalFinder(reread_of(scores)).reversals(requests)
        with monkeypatch.context() as patched:
            patched.setattr(reversals, "FIRST_SORTED", 4)
            assert ReversalFinder(reread_of(scores)).reversals(requests) == expected
