"""Properties of every measure at once; a measure that joins the table is tested without further work.

Small rankings are enumerated and scored as the topics of a single evaluation; larger ones are drawn at random.
"""

import contextlib
import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gradedeval
from gradedeval import MEASURES, InputError, Measure, intent_aware, parse_measures
from gradedeval.kernel.measures.bounds import exactness
from support import reference
from support.examples import drawn
from support.measures import REPRESENTATIVES, VARIANTS, every, failing, in_the_shell
from support.topics import ANCHOR, SCALE, Found, Topic, any_topic, scored

BOUNDED = [measure for measure in VARIANTS if measure.residual != "none"]
ENDLESS = [measure for measure in VARIANTS if measure.residual == "beyond_run"]
UNBOUNDED = [measure for measure in VARIANTS if measure.residual == "none"]


def rises_with_grade(measure: Measure) -> bool:
    """Return whether gains never fall with the grade, and no unjudged document gains more than a judged one."""
    gain = dict(measure.parameters).get("gain")
    return not isinstance(gain, tuple) or list(gain) == sorted(gain)


# A measure that looks at no gain (`gain=None` in its definition: shares and counts of judged documents) knows no better
# document.
LOOKING = [
    measure
    for measure in VARIANTS
    if measure.definition.gain is not None and measure.definition.relevance_only and rises_with_grade(measure)
]
# Users sated by a good document stop earlier when it moves up, and may miss documents found before: such a
# measure says so of itself.
UNSATED = [measure for measure in LOOKING if measure.monotone]


def _worse(grade: int | None, second: int | None) -> bool:
    """Return whether the first document is worse; unjudged ones, with gain 0, are below every grade."""
    return second is not None and (grade is None or grade < second)


# All rankings of up to four documents, in topics with different pools.
SHORT = [
    Topic(ranking, missed)
    for length in range(5)
    for ranking in itertools.product((None, 0, 1, 2, 3), repeat=length)
    for missed in ((), (3,), (1, 0))
]


# Their ideal ranking is built topic by topic, one document after the other.
GREEDY = [measure for measure in VARIANTS if measure.name in ("alpha_ndcg", "nerria", "nnrbp")]
QUICK = [measure for measure in VARIANTS if measure in REPRESENTATIVES and measure not in GREEDY]


@cache
def _found_of_all(measures: tuple[Measure, ...]) -> Found:
    return scored(SHORT, measures)


def found_of_short(measures: Sequence[Measure]) -> Found:
    """Return the scores of all short rankings, computed once for all tests of the same variants."""
    same = QUICK if set(measures) <= set(QUICK) else VARIANTS
    scores = _found_of_all(tuple(same))
    columns = [same.index(measure) for measure in measures]
    parts = (part[:, columns] for part in (scores.score, scores.unjudged, scores.residual))
    return Found(list(measures), {}, *parts)


def first(wrong: Any, rows: Sequence[int]) -> Topic | None:
    """Return the first short ranking of rows with a violation."""
    places = np.flatnonzero(wrong)
    return SHORT[rows[places[0]]] if len(places) else None


@every(UNSATED)
@drawn(40)
@given(topic=any_topic, rank=st.integers(0, 10))
def test_moving_a_better_document_up_never_hurts_in_depth(measures: Sequence[Measure], topic: Topic, rank: int) -> None:
    r = topic.ranking
    if rank + 1 >= len(r) or r[rank] == r[rank + 1]:
        return
    swapped = Topic((*r[:rank], r[rank + 1], r[rank], *r[rank + 2 :]), topic.missed)
    original, after = (topic, swapped) if _worse(r[rank], r[rank + 1]) else (swapped, topic)
    score = scored([original, after], measures).score
    assert [str(measures[column]) for column in np.flatnonzero(score[1] < score[0] - 1e-12)] == []


@pytest.mark.exhaustive
@every(ENDLESS)
@drawn(12)
@given(topic=any_topic, tail=st.lists(st.sampled_from([None, 0, 1, 2, 3]), max_size=30), data=st.data())
def test_the_bound_of_endless_measures_holds_for_any_continuation_of_the_run(
    measures: Sequence[Measure], topic: Topic, tail: list[int | None], data: st.DataObject
) -> None:
    judged = [
        tuple(data.draw(st.sampled_from([None, 0, 1, 2, 3])) if grade is None else grade for grade in topic.ranking)
        for _ in range(8)
    ]
    best = tuple(3 if grade is None else grade for grade in topic.ranking)
    later = [Topic((*ranking, *end), topic.missed) for ranking in (*judged, best) for end in (tail, [3] * 40)]
    scores = scored([topic, *later], measures)
    bound = scores.score[0] + scores.residual[0] + 1e-9
    assert [str(measures[column]) for column in np.flatnonzero((scores.score > bound).any(0))] == []


REACHED = [
    m
    for m in ENDLESS
    if m.name in ("err", "cascade", "rbp", "rr", "success", "p", "gprecision", "erria", "nrbp", "strec")
]


@every(REACHED)
@drawn(8)
@given(topic=any_topic)
@example(topic=Topic(()))
def test_the_bound_of_endless_measures_is_reached_by_top_documents_all_the_way(
    measures: Sequence[Measure], topic: Topic
) -> None:
    # A thousand ranks stand for the endless rest: 0.95^1000 = 5e-23.
    filled = [
        Topic((*(top if grade is None else grade for grade in topic.ranking), *([top] * 1000)), topic.missed)
        for top in (1, 2, 3)
    ]
    scores = scored([topic, *filled], measures)
    bound = scores.score[0] + scores.residual[0]
    unlike = np.flatnonzero(abs(scores.score[1:].max(0) - bound) > 1e-9)
    assert [str(measures[column]) for column in unlike] == []


@every(m for m in BOUNDED if m.cutoff and m.definition.cutoff == "truncates" and m.only_truncates)
@drawn(20)
@given(topic=any_topic)
def test_residuals_to_full_depth_reach_the_best_case_without_cutoff(measures: Sequence[Measure], topic: Topic) -> None:
    uncut = [Measure(m.definition, m.parameters) for m in measures]
    full = scored([topic], measures, residual_depth="full")
    whole = scored([topic], list(dict.fromkeys(uncut)))
    for measure, uncut_measure in zip(measures, uncut, strict=True):
        best = whole.of(uncut_measure) + whole.of(uncut_measure, "residual")
        assert full.of(measure) + full.of(measure, "residual") == pytest.approx(best, abs=1e-12), str(measure)


@every(UNBOUNDED)
def test_measures_with_unbounded_residuals_have_none(measures: Sequence[Measure]) -> None:
    scores = scored([Topic((None, 1, None)), Topic((0, None), (3,)), Topic(())], measures)
    assert np.isnan(scores.residual).all()
    assert np.isnan(scores.unjudged).all()
    assert not np.isnan(scores.score[:, [not measure.definition.may_skip for measure in measures]]).any()


@every(BOUNDED)
@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_the_table_splits_a_residual_into_unjudged_and_beyond(measures: Sequence[Measure]) -> None:
    topic = Topic((None, 1, None), (2,))
    scores = gradedeval.evaluate(
        {"t": topic.run}, {"t": topic.judgments, "anchor": ANCHOR}, measures, residuals="split"
    )
    rows = list(scores.rows())
    assert len(rows) >= len(measures)
    blank = {column.label for column in measures if column.residual == "from_bounds" and not column.by_intent}
    for row in rows:
        if row.measure in blank:
            assert row.unjudged is row.beyond is None, row
            assert row.residual is not None, row
            continue
        assert row.unjudged is not None, row
        assert row.beyond is not None, row
        assert min(row.unjudged, row.beyond) >= 0, row
        assert row.unjudged + row.beyond == pytest.approx(row.residual, abs=1e-12), row


@pytest.mark.exhaustive
@every(VARIANTS, slow=GREEDY)
def test_scores_lie_between_the_floor_and_the_ceiling(measures: Sequence[Measure]) -> None:
    score = found_of_short(measures).score
    floor = [measure.definition.floor for measure in measures]
    ceiling = [measure.definition.ceiling + 1e-12 for measure in measures]
    skipped = np.isnan(score) & [measure.definition.may_skip for measure in measures]
    outside = ~((score >= floor) & (score <= ceiling) | skipped)
    assert failing(measures, lambda c: first(outside[:, c], range(len(SHORT)))) == {}


@every(BOUNDED)
def test_score_and_residual_stay_below_the_ceiling(measures: Sequence[Measure]) -> None:
    scores = found_of_short(measures)
    above = ~(scores.score + scores.residual <= [measure.definition.ceiling + 1e-12 for measure in measures])
    assert failing(measures, lambda c: first(above[:, c], range(len(SHORT)))) == {}


def grade_0_is_worth_0(measure: Measure) -> bool:
    gain = dict(measure.parameters).get("gain")
    return not isinstance(gain, tuple) or gain[0] == 0


@every(m for m in VARIANTS if m.definition.gain is not None and m.definition.relevance_only and grade_0_is_worth_0(m))
def test_a_topic_without_relevant_documents_scores_0_or_is_skipped(measures: Sequence[Measure]) -> None:
    scores = scored([Topic((0, None, -1, 0), (0,)), Topic((None, None)), Topic(()), Topic((), (0, -1))], measures)
    skipped = [column for column, measure in enumerate(measures) if measure.definition.may_skip]
    assert np.isnan(scores.score[:, skipped]).all()
    scores.score[:, skipped] = 0
    assert [str(measures[column]) for column in np.flatnonzero(~(scores.score == 0).all(0))] == []


IDEAL = parse_measures(
    "ndcg ndcg@1 ndcg@3 ndcg@10 ndcg(gain=exp) ndcg(log=2) ndcg(rel=2) nerr nerr@3 nerr(gain=linear) ap ap(rel=2)"
    " gap gap(g=1:2:3) gap(gain=exp) q q(beta=0) q(beta=10,gain=exp) recall recall(rel=2) grecall rprec rprec(rel=2)"
    " bpref bpref(k=10)"
)


@drawn(30)
@given(pool=st.lists(st.integers(-1, 3), min_size=1, max_size=15), unjudged=st.integers(0, 3))
def test_the_ideal_ranking_scores_1(pool: list[int], unjudged: int) -> None:
    ideal = Topic((*sorted([*pool, 2], reverse=True), *([None] * unjudged)))
    assert scored([ideal], IDEAL).score[0] == pytest.approx(np.ones(len(IDEAL)), abs=1e-12)


SAME = [
    ("gap(rel=2)", "ap(rel=2)"),
    ("gap(g=1:0:0)", "ap"),  # every user's threshold is grade 1
    ("gap(g=0:0:1)", "ap(rel=3)"),
    ("gap", "gap(gain=linear)"),  # g_j = j − (j−1)
    ("gap(g=1:2:4)", "gap(gain=exp)"),  # g_j = 2^j − 2^{j−1}
    ("gap(g=1:2:4)", "gap(gain=0:1:3:7)"),
    ("grecall(g=1:0:0)", "recall"),
    ("grecall(rel=2)@3", "recall(rel=2)@3"),
    ("gprecision(g=0:1:0)@5", "p(rel=2)@5"),
    ("gprecision(rel=1)@5", "p@5"),
    ("gprecision@5", "gprecision(gain=linear)@5"),
    ("err(rel=1)", "rr"),
    ("cascade", "err"),
    ("cascade(rel=1)", "rr"),
    ("cascade(utility=one,rel=1)", "success"),
    ("q(rel=1,beta=0)", "ap"),
    ("dcg(log=2,gain=exp)@2", "dcg(log=3,gain=exp)@2"),  # neither discounts before rank 3
    ("err(gain=0:0.125:0.375:0.875)", "err(gain=exp)"),
    ("rbp(gain=0:1:1:1)", "rbp(rel=1)"),
    ("ndcg(gain=0:2:4:6)", "ndcg"),  # only ratios of gains count
    ("rbp(p=0,rel=1)", "p@1"),
    ("dcg(rel=1)@1", "p@1"),
    # One intent a topic, as qrels without subtopics have.
    ("erria", "err"),
    ("nerria", "nerr"),
    ("alpha_ndcg(alpha=0)@3", "ndcg(rel=1)@3"),
    ("alpha_dcg(alpha=0)", "dcg(rel=1)"),
    ("alpha_dcg(alpha=1)@1", "p@1"),
    ("nrbp(alpha=0,beta=0.9)", "rbp(p=0.9,rel=1)"),
    ("nrbp(alpha=1)@1", "p@1"),
    ("strec(rel=2)@3", "success(rel=2)@3"),
]
TOPICS = st.lists(any_topic, min_size=1, max_size=6)


@drawn(60)
@given(topics=TOPICS)
def test_two_notations_of_one_measure_agree(topics: list[Topic]) -> None:
    pairs = [(parse_measures(first)[0], parse_measures(second)[0]) for first, second in SAME]
    scores = scored(topics, list(dict.fromkeys(itertools.chain(*pairs))))
    for first, second in pairs:
        assert scores.of(first) == pytest.approx(scores.of(second), abs=1e-12), (first, second)
        if first.residual == second.residual and exactness(first) == exactness(second):
            expected = pytest.approx(scores.of(second, "residual"), abs=1e-9)
            assert scores.of(first, "residual") == expected, (first, second)


REFERRED = [measure for measure in VARIANTS if measure.name in reference.NAMES]


@every(REFERRED)
@drawn(60)
@given(topics=st.lists(any_topic, min_size=1, max_size=4))
@example(topics=[Topic((None, 3, 0, -1, 2, None, 1, 1, 0, 2, 3, None), (3, 0, 1)), Topic(()), Topic((None,), (0,))])
def test_scores_equal_slow_loops_over_formulas_of_papers(measures: Sequence[Measure], topics: list[Topic]) -> None:
    scores = scored(topics, measures)
    unlike = [
        (str(measure), topic, scores.score[row, column], expected)
        for row, topic in enumerate(topics)
        for column, measure in enumerate(measures)
        for expected in [reference.score(measure, topic.ranking, topic.pool, SCALE)]
        if not abs(scores.score[row, column] - expected) <= 1e-12 * max(1, expected)
    ]
    assert unlike == []


@every(REFERRED)
@drawn(20)
@given(topic=any_topic)
@example(topic=Topic(()))
@example(topic=Topic((None, 3, 0, None), (2,)))
def test_residuals_equal_plain_loops_over_the_best_case(measures: Sequence[Measure], topic: Topic) -> None:
    scores = scored([topic], measures)
    unlike = []
    for column, measure in enumerate(measures):
        plain = reference.score(measure, topic.ranking, topic.pool, SCALE)
        best = reference.best_cases(measure, topic.ranking, topic.pool, SCALE) or (math.nan, math.nan)
        parts = [scores.unjudged[0, column], scores.residual[0, column]]
        expected = [case - plain for case in best]
        if measure.residual == "from_bounds":  # the residual alone; tests of the bounds check its value
            assert math.isnan(parts[0])
            assert 0 <= parts[1] <= expected[1] + 1e-11
            continue
        if parts != pytest.approx(expected, abs=1e-11, nan_ok=True):
            unlike.append((str(measure), parts, expected))
    assert unlike == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Change to a folder with files of any name, whose values never rise."""
    path = tmp_path_factory.mktemp("words")
    with contextlib.chdir(path):
        yield path


def test_every_notation_of_a_measure_is_the_same_measure() -> None:
    for measure in VARIANTS:
        written = str(measure)
        assert parse_measures(written) == [measure]
        assert parse_measures(in_the_shell(written)) == [measure]
        name, bracket, rest = written.partition("(")
        assert parse_measures(name.upper() + bracket + rest) == [measure]
        assert hash(parse_measures(written)[0]) == hash(measure)


@pytest.mark.parametrize("name", ["gains, new.csv", "gains@10", "my gains.csv", "a(b).csv", "x=1,y=2", "it's.csv", "5"])
def test_ambiguous_file_names_are_quoted(name: str, folder: Path) -> None:
    (folder / name).write_text("1\n0.5\n", encoding="utf-8")
    measure = MEASURES["cascade"](utility=name) @ 20
    assert str(measure) == f'cascade(utility="{name}")@20'
    assert parse_measures(str(measure)) == parse_measures(f'cascade:utility="{name}"@20') == [measure]
    graded = MEASURES["ndcg"](gain=f"@{name}")
    assert parse_measures(str(graded)) == [graded]
    weighed = intent_aware(graded, f"@{name}")
    assert parse_measures(str(weighed)) == parse_measures(in_the_shell(str(weighed))) == [weighed]


NOT_FINITE = ["q(beta=1e999)", "q(beta=inf)", "q(beta=nan)", "q(gain=0:1e999)", "gap(g=1:1e999)", "gap(g=1e308:1e308)"]


@pytest.mark.parametrize("text", NOT_FINITE)
def test_numbers_that_are_not_finite_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"beta|gain|g="):
        parse_measures(text)


def test_measures_made_in_python_print_a_readable_notation() -> None:
    # Python users write lists for 0:0.5:1 of the notation.
    assert str(MEASURES["err"](gain=[0, 0.5, 1])) == "err(gain=0:0.5:1)"  # type: ignore[arg-type]
    assert str(MEASURES["gap"](g=[1, 2])) == "gap(g=1:2)"  # type: ignore[arg-type]
