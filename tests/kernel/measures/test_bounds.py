"""The bounds of scores against every judgment of the unjudged documents, one by one."""

import contextlib
import itertools
import math
import random
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import MEASURES, InputError, Measure, measure, parse_measures, row_sums
from gradedeval.kernel.measures import bounds
from gradedeval.kernel.measures.bounds import exactness, may_fall
from support.measures import VARIANTS, every
from support.topics import Topic, evaluated, scored

BOUNDED = [measure for measure in VARIANTS if exactness(measure) != "none"]
OVER_TIES = [
    measure
    for measure in BOUNDED
    if measure.definition.over_ties and may_fall(measure) and exactness(measure, over_ties=True) != "none"
]
LATER = (None, 0, 1, 2, 3)
CANNOT_FALL = {
    *("err", "cascade", "rr", "success", "rbp", "p", "gprecision", "dcg", "sp", "erria", "nrbp", "strec", "alpha_dcg")
}
"""Measures whose plain score is a lower bound: later judgments raise no divisor."""

# Deep and shallow unjudged documents around judged ones; topics without relevant, judged or retrieved documents.
TOPICS = [
    Topic((None, 3, None), (2,)),
    Topic((1, None, 0, None), ()),
    Topic((2, 0, 1, None, None), (3, 1)),
    Topic((0, 3, None, 1, None, 2), ()),
    Topic((None, None), ()),
    Topic((0, None, -1), (0,)),
    Topic((1, 2), (3,)),
    Topic((), (2,)),
]
DEEPER = [Topic((None, 3, None, None, None)), Topic((0, None, None, 0), (0,))]


def completions(topic: Topic, unseen: int = 0) -> list[Topic]:
    """Return the topic after every judgment of its unjudged documents, and of `unseen` documents that are not
    retrieved."""
    rankings = itertools.product(*(LATER if grade is None else (grade,) for grade in topic.ranking))
    more = list(itertools.combinations_with_replacement((0, 1, 2, 3), unseen))
    return [Topic(ranking, (*topic.missed, *extra), topic.ties) for ranking in rankings for extra in more]


def check(measures: Sequence[Measure], topics: Sequence[Topic], unseen: int = 0, **options: Any) -> None:
    """Assert that no completion leaves the bounds, and that completions reach exact bounds."""
    scores = scored(topics, measures, bounds=True, unseen=unseen, **options)
    low, high = scores.bounds
    later = [completions(topic, unseen) for topic in topics]
    every_one = scored([each for completed in later for each in completed], measures, residuals=None, **options).score
    ends = np.cumsum([0, *map(len, later)])
    parts = [every_one[begin:end] for begin, end in itertools.pairwise(ends)]
    least, most = np.array([part.min(0) for part in parts]), np.array([part.max(0) for part in parts])
    best = scores.score + scores.residual
    exact = np.array([exactness(each, over_ties="ties" in options) == "exact" for each in measures])
    # The best case of ranks past the end, which no completion has, is that of the residual.
    ends_here = np.array([each.residual in ("within_run", "from_bounds") for each in measures])
    by_bounds = np.array([each.residual == "from_bounds" and not each.by_intent for each in measures])
    cannot_fall = np.array([each.name in CANNOT_FALL and each.residual != "none" for each in measures])
    wrong = {
        "low is above a score": low > least + 1e-12,
        "high is below a score": high < most - 1e-12,
        "low is never reached": exact & (abs(low - least) > 1e-12),
        "high is never reached": exact & (np.where(ends_here, abs(high - most), abs(high - best)) > 1e-12),
        "the residual is another": by_bounds & ((abs(high - best) > 1e-12) | ~np.isnan(scores.unjudged)),
        "the residual is wider": ends_here & (best > high + 1e-12),
        "a score falls": cannot_fall & (scores.score > least + 1e-12),
        "out of order": (low > scores.score) | (scores.score > high) | (high > best + 1e-12),
    }
    for violation, cells in wrong.items():
        places = [(str(measures[column]), topics[row]) for row, column in np.argwhere(cells)]
        assert (violation, places[:3]) == (violation, [])


@every(BOUNDED)
def test_all_judgments_stay_within_the_bounds_and_reach_exact_ones(measures: Sequence[Measure]) -> None:
    check(measures, [*TOPICS, *DEEPER])


@pytest.mark.exhaustive
@every(BOUNDED)
def test_bounds_hold_if_documents_that_were_not_retrieved_may_be_relevant(measures: Sequence[Measure]) -> None:
    check(measures, TOPICS[:4], unseen=1)
    check(measures, TOPICS[4:], unseen=2)


# All tied, ties across the cutoffs of 1, 2, 3 and more, of judged and unjudged documents, and none.
TIED = [
    Topic((None, 3, None), (2,), ties=(3,)),
    Topic((1, None, None, 0, 2, None), (), ties=(1, 4)),
    Topic((None, 3, 2, None), (3, 1), ties=(2, 2)),
    Topic((0, None, 1, None), (), ties=(4,)),
    Topic((None, 2), (1,)),
]


@every(OVER_TIES)
def test_bounds_hold_for_means_over_the_orders_of_tied_documents(measures: Sequence[Measure]) -> None:
    check(measures, TIED, ties="average")
    check(measures, TIED[:1], unseen=1, ties="average")


RESIDUAL = [
    measure for measure in VARIANTS if measure.residual != "none" and "rel" in measure.definition.accepted.names
]


def with_rel(rel: float) -> list[Measure]:
    """Return every measure with a residual and a lowest relevant grade, with that grade."""
    measures = dict[Measure, None]()
    for variant in RESIDUAL:
        with contextlib.suppress(InputError):  # a measure with gains of its own takes none
            measures[variant(rel=rel)] = None
    return list(measures)


def test_with_a_lowest_relevant_grade_above_the_top_one_no_judgment_changes_a_score() -> None:
    measures = with_rel(3.5)
    assert len({measure.name for measure in measures}) > 40
    check(measures, TOPICS, unseen=1)
    scores = scored(TOPICS, measures, bounds=True)
    for ends in scores.bounds:
        assert np.array_equal(ends, scores.score)
    assert (scores.residual == 0).all()
    assert not np.nan_to_num(scores.unjudged).any()


def test_thresholds_at_the_top_grade_and_open_scales_leave_scores_open() -> None:
    measures = with_rel(3)
    check(measures, TOPICS)
    assert (scored([Topic((None, None, None))], measures).residual > 0).all()
    run, qrels, ap = {"1": ["a", "b"]}, {"1": {"a": 1}}, parse_measures("ap(rel=2)")
    assert evaluated(run, qrels, ap, bounds=True, top_grade=None).bounds.ravel().tolist() == [0, 0]
    # With b of grade 2, 1/2.
    assert evaluated(run, qrels, ap, bounds=True, top_grade=2).bounds.ravel().tolist() == [0, 1 / 2]


def test_in_long_topics_the_worst_and_the_best_number_of_relevant_documents_are_found() -> None:
    dice, measures = random.Random(1), parse_measures("q(rel=1) q(rel=1,beta=.3)@40 ap ndcg")
    topics = [
        Topic(tuple(dice.choices([None, 0, 3], [8, 1, share], k=60)), (3,) * missed)
        for share, missed in itertools.product((0.2, 1, 4), (0, 3, 30))
    ]
    low, high = scored(topics, measures, bounds=True).bounds
    for row, topic in enumerate(topics):
        places = [place for place, grade in enumerate(topic.ranking) if grade is None]
        deepest, first = (
            [filled(topic, chosen[:number]) for number in range(len(places) + 1)] for chosen in (places[::-1], places)
        )
        assert low[row] == pytest.approx(scored(deepest, measures).score.min(0), abs=1e-12)
        assert high[row] == pytest.approx(scored(first, measures).score.max(0), abs=1e-12)


def filled(topic: Topic, places: Sequence[int]) -> Topic:
    """Return the topic with the documents at some ranks judged with grade 3."""
    return Topic(tuple(3 if place in places else grade for place, grade in enumerate(topic.ranking)), topic.missed)


def test_the_low_bound_of_graded_q_counts_relevant_documents_besides_the_documents_judged_later() -> None:
    # Worked by hand: with the second relevant the ideal is 3, 1. The first term is 2/4; the second (2 + 2) / (2 + 4) as
    # if of grade 1; of grade 3, as the ideal has it, it would be 6/6.
    low = scored([Topic((1, None))], parse_measures("q"), bounds=True).bounds[0]
    assert low.tolist() == [[pytest.approx((1 / 2 + 2 / 3) / 2)]]


def test_the_high_end_of_q_with_grades_knows_of_the_documents_that_are_not_relevant() -> None:
    # A document at rank 2 can come to (1 + 3) / (2 + 3) here, and one at rank 3 to (2 + 6) / (3 + 6): it alone, or both
    # if another is not found. With R as judged all would be 1.
    topics = [Topic((0, None)), Topic((0, None, None)), Topic((0, None, None), (3,))]
    high = scored(topics, parse_measures("q"), bounds=True).bounds[1, :, 0]
    assert high.tolist() == pytest.approx([4 / 5, 8 / 9, (4 / 5 + 8 / 9) / 3])


def test_unlimited_unseen_documents_lower_the_bounds_of_uncut_measures_to_0() -> None:
    topic = Topic((1, None, 2, 0), (3,))
    cut = "ap(norm=k)@2 gap(norm=k)@3 q(norm=k)@2 q(norm=k,rel=1)@3"
    measures = parse_measures(f"ap gap recall ndcg q(rel=1) grecall set_f f1@3 ndcg@2 nerr@3 nerr err set_p {cut}")
    low = scored([topic], measures, bounds=True, unseen=math.inf).bounds[0, 0]
    many = scored([topic], measures, bounds=True, unseen=1000)
    expected = [0.0] * 8 + many.bounds[0, 0, 8:].tolist()
    assert low.tolist() == pytest.approx(expected, abs=1e-12)
    # nERR without a cutoff has a limit too: that of top documents at all ranks, Σ 1/i · 7/8 · (1/8)^(i−1).
    best = 7 * math.log(8 / 7)
    score = scored([topic], parse_measures("err")).score[0, 0]
    assert low[measures.index(MEASURES["nerr"])] == pytest.approx(score / best)


def test_documents_beyond_a_cutoff_count_with_and_without_a_measure_of_all_ranks() -> None:
    topics, short = [Topic((1, 2, *[None] * 9)), Topic((None, 3, 0, None, None))], parse_measures("ndcg@2 ap@1 err@2")
    alone = scored(topics, short, bounds=True).bounds
    with_deeper = scored(topics, [*short, MEASURES["ap"]], bounds=True).bounds[:, :, :3]
    assert np.array_equal(alone, with_deeper)
    assert (alone[0, :, 0] < scored(topics, short).score[:, 0]).all()


def test_interpolated_precision_at_recall_0_reaches_its_bounds() -> None:
    measures = parse_measures("iprec iprec@2 iprec(recall=0,add=0.9)")
    topics = [*TOPICS, Topic((0, None, None)), Topic((0, None), (0,)), Topic((0, 0))]
    low, high = scored(topics, measures, bounds=True).bounds
    for row, topic in enumerate(topics):
        scores = scored(completions(topic), measures, residuals=None).score
        assert low[row] == pytest.approx(scores.min(0), abs=1e-12)
        assert high[row] == pytest.approx(scores.max(0), abs=1e-12)
    assert high[len(TOPICS), 0] == pytest.approx(2 / 3)  # of 0, 1, 1: with R = 0 any score could be


def test_dropped_documents_count_as_not_retrieved() -> None:
    topic, ap = Topic((1, None, None)), parse_measures("ap recall")
    cut, short = scored([topic], ap, bounds=True, depth=1), scored([Topic((1,))], ap, bounds=True)
    assert cut.bounds.tolist() == short.bounds.tolist() == [[[1, 1]], [[1, 1]]]


def test_a_measure_without_residual_has_no_bounds() -> None:
    without = [measure for measure in VARIANTS if measure.residual == "none"]
    assert len(without) > 50
    assert {exactness(measure) for measure in without} == {"none"}
    assert np.isnan(scored(TOPICS, without, bounds=True).bounds).all()


def test_a_grade_may_turn_up_that_occurs_nowhere(tmp_path: Path) -> None:
    two = tmp_path / "gains.csv"
    two.write_text("0,0\n1,0.3\n3,1\n")  # no document can be of grade 2
    measures = parse_measures(f"nerr nerr@2 q q@3 q(gain=exp) gap ndcg q(gain=@{two}) nerr(gain=@{two})")
    runs = {name: {name: {f"d{rank}": -rank for rank in range(5)}} for name in ("few", "none")}
    qrels = {"few": {"d0": 3, "d1": 3, "m": 3}, "none": {"d0": 0, "d1": 0}}
    for topic, run in runs.items():
        low, high = evaluated(run, qrels, measures, bounds=True, topics="run").bounds[:, 0]
        later = [
            qrels[topic] | dict(zip(("d2", "d3", "d4"), way, strict=True))
            for way in itertools.product((0, 1, 3), repeat=3)
        ]
        ways = {str(number): judged for number, judged in enumerate(later)}
        scores = evaluated(dict.fromkeys(ways, run[topic]), ways, measures).score
        assert (low <= scores.min(0) + 1e-12).all()
        assert (high >= scores.max(0) - 1e-12).all()
        assert high[[0, 1, 5, 6, 8]] == pytest.approx(scores.max(0)[[0, 1, 5, 6, 8]])


def test_a_note_says_that_bounds_leave_out_fractional_grades_that_no_judgment_has() -> None:
    def notes(judged: dict[str, float], measures: str = "grecall@2 gap nerr q ap ndcg gap(rel=1)") -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            gradedeval.evaluate({"1": {"a": 2.0, "u": 1.0}}, {"1": judged}, measures, bounds=True)
        return [str(warning.message) for warning in caught if "fractional grade" in str(warning.message)]

    note = "documents judged later are assumed to have grade 0 or one of 0.5, 2; with another fractional grade"
    assert notes({"a": 2, "b": 0.5}) == [
        f"bounds: grecall@2, gap, nerr, q: {note} a score could be below low or above high"
    ]
    assert notes({"a": 2, "b": 0.5}, "ap ndcg") == notes({"a": 2, "b": 1}) == []
    # Found are a and u, both of the top of two thresholds: 2 of 2.5. With grade 1 for u there are three: 5/3 of 2.
    run, grecall = {"1": {"a": 2.0, "u": 1.0}}, parse_measures("grecall@2")
    assert evaluated(run, {"1": {"a": 2, "b": 0.5}}, grecall, bounds=True, top_grade=2).bounds[
        1
    ].item() == pytest.approx(0.8)
    later = {"1": {"a": 2, "b": 0.5, "u": 1}}
    assert evaluated(run, later, grecall, top_grade=2).score.item() == pytest.approx(5 / 6)


def test_a_grade_that_a_measure_refuses_cannot_turn_up() -> None:
    nerr = parse_measures("nerr(gain=grade)")
    scores = evaluated({"1": {"a": 2, "b": 1}}, {"1": {"b": 1}}, nerr, bounds=True, top_grade=1)
    # a is not relevant, or of grade 1 as b is.
    assert (scores.score.item(), *scores.bounds.ravel()) == (0.5, 0.5, 1)


def test_high_is_a_safe_bound_if_grades_can_be_given_in_too_many_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    topic, nerr = Topic((1, None, None), (2,)), parse_measures("nerr@3")
    exact = scored([topic], nerr, bounds=True).bounds.ravel()
    monkeypatch.setattr(bounds, "MOST_WAYS", 1)
    safe = scored([topic], nerr, bounds=True).bounds.ravel()
    assert safe[0] == exact[0]
    assert exact[1] < safe[1] <= 1


def test_a_user_defined_measure_has_its_declared_bounds() -> None:
    @measure(residual="within_run", bounds="rises")
    def found(g: Any) -> Any:
        """Return the number of relevant documents."""
        return row_sums(g.relevant)

    @measure(residual="within_run")
    def other(g: Any) -> Any:
        """Return the same, with no information on bounds."""
        return row_sums(g.relevant)

    bounds = scored([Topic((1, None, None))], [found, other], bounds=True).bounds[:, 0]
    assert bounds[:, 0].tolist() == [1, 3]
    assert np.isnan(bounds[:, 1]).all()


@pytest.mark.parametrize("name", ["ndcg", "ndcg@2", "gap", "gap@2", "nerr"])
def test_bounds_do_not_depend_on_the_other_topics(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare with single topics, which have few of the gains of all, so that most levels are like the one below."""
    draw = random.Random(7)
    topics = [Topic(tuple(None if doc % 2 else draw.random() for doc in range(6))) for _ in range(20)]

    def ends() -> list[Any]:
        scores: list[Any] = scored(topics, parse_measures(name), bounds=True, unseen=2).bounds.tolist()
        return scores

    together = ends()
    monkeypatch.setattr(bounds, "LAYERED", 1)
    assert ends() == together
