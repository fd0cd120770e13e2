"""Gains learned from clicks and preferences of known users."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval import EvaluationWarning, InputError, Qrels, clicks
from gradedeval.clicks import learned_gains
from gradedeval.clicks.click_measures import graded_lists, means_of_lists, stop_probabilities
from gradedeval.clicks.log import ClickLog
from support.clicks import COVID, all_judged
from support.paths import shared

TOPICS = [f"q{number}" for number in range(15)]
GRADES = np.random.default_rng(7).integers(0, 3, size=(15, 10))
QRELS = Qrels({t: {f"d{d}": int(g) for d, g in enumerate(row)} for t, row in zip(TOPICS, GRADES, strict=True)})
ORDERS = np.random.default_rng(8).permuted(np.tile(np.arange(10), (15, 8, 1)), axis=2)
RUNS = {f"r{n}": {t: {f"d{d}": -i for i, d in enumerate(ORDERS[row, n])} for row, t in enumerate(TOPICS)}
        for n in range(8)}  # fmt: skip
TRUE = [0.05, 0.3, 0.7]
SCHEME = "gain=0.05:0.3:0.7"


@pytest.fixture(scope="module")
def cascade() -> ClickLog:
    return clicks.simulate(f"err({SCHEME})", RUNS, QRELS, sessions=200_000)


@pytest.fixture(scope="module")
def readers() -> ClickLog:
    return clicks.simulate(f"rbp(p=0.8,{SCHEME})", RUNS, QRELS, sessions=80_000)


def true_err(topic: int, order: Any) -> float:
    gain = np.array(TRUE)[GRADES[topic, order]]
    return float((gain * np.cumprod([1, *(1 - gain[:-1])]) / np.arange(1, 11)).sum())


def pairs_of_lists(sign_of: Any) -> pd.DataFrame:
    """Return all pairs of lists of a topic, and the sign of their difference in ERR."""
    rows = []
    for topic, orders in zip(TOPICS, ORDERS, strict=True):
        lists = [" ".join(f"d{d}" for d in order) for order in orders]
        scores = [true_err(TOPICS.index(topic), order) for order in orders]
        rows += [(topic, lists[a], lists[b], sign_of(scores[a] - scores[b])) for a, b in combinations(range(8), 2)]
    return pd.DataFrame(rows, columns=["topic", "list_a", "list_b", "sign"])


@pytest.mark.exhaustive
def test_gains_from_a_click_model_with_parameters_of_grades(cascade: ClickLog, readers: ClickLog) -> None:
    learned = clicks.gains(cascade, QRELS, model="cm")
    assert learned.frame.columns.tolist() == ["grade", "gain"]
    assert learned.index == [0, 1, 2]
    assert learned.values == pytest.approx(TRUE, abs=0.01)
    assert clicks.gains(readers, QRELS, "rbp").values == pytest.approx(TRUE, abs=0.01)


def test_relevance_by_document_is_pulled_to_a_half_by_the_prior() -> None:
    few = clicks.simulate(f"rbp(p=0.8,{SCHEME})", RUNS, QRELS, sessions=3_000)
    tied, alone, bare = (
        clicks.gains(few, QRELS, model="reader(p=0.8)", **options).values
        for options in ({}, {"by_document": True}, {"by_document": True, "prior": 0.0})
    )
    assert tied[0] == pytest.approx(0.05, abs=0.015)
    assert alone[0] > tied[0] + 0.004
    assert abs(bare[0] - tied[0]) < abs(alone[0] - tied[0])


@pytest.mark.exhaustive
def test_a_higher_grade_clicked_less_shares_a_gain() -> None:
    odd = clicks.simulate("err(gain=0.4:0.2:0.7)", RUNS, QRELS, sessions=30_000)
    with pytest.warns(EvaluationWarning, match="a higher grade was clicked less than a lower grade"):
        learned = clicks.gains(odd, QRELS, model="cm")
    assert learned.values[0] == learned.values[1] < learned.values[2]


@pytest.mark.exhaustive
def test_gains_from_the_correlation_of_err_with_a_click_measure(cascade: ClickLog) -> None:
    learned = clicks.gains(cascade, QRELS, learn_from="correlation")
    assert learned.values == pytest.approx(TRUE, abs=0.03)
    assert learned.score is not None
    assert learned.score[0] == "correlation with meanrr"
    assert learned.score[1] > 0.99


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("measure", "model"),
    [
        ("err", "cm"),
        ("err@10", "cm"),
        ("cascade(gamma=0.9)", "dbn(gamma=0.9)"),
        ("rbp", "reader"),
        ("rbp(p=0.8)", "reader(p=0.8)"),
        ("dcg@5", "pbm"),
    ],
)
def test_a_measure_takes_the_click_model_of_its_users(readers: ClickLog, measure: str, model: str) -> None:
    by_measure, by_model = clicks.gains(readers, QRELS, measure), clicks.gains(readers, QRELS, model=model)
    assert by_measure.values.tolist() == by_model.values.tolist()
    assert by_measure.settings == by_model.settings


def test_gains_of_a_sum_are_exact_and_known_up_to_a_factor(readers: ClickLog) -> None:
    arguments: dict[str, Any] = {"learn_from": "correlation", "click_measure": "qctr", "measure": "rbp(p=0.8)"}
    with pytest.warns(EvaluationWarning, match="only the steps between grades are known"):
        learned = clicks.gains(readers, QRELS, **arguments)
    assert learned.values == pytest.approx([0, 0.25 / 0.65, 1], abs=0.01)
    assert learned.score is not None
    # No other gains correlate as well, not even neighbors.
    y, count = means_of_lists(readers, "qctr"), np.bincount(readers.configuration, readers.count)
    weights = 0.2 * 0.8 ** np.arange(10)
    grades = np.array([GRADES[TOPICS.index(t), [int(d[1:]) for d in s]] for t, s in
                       zip(readers.topics, readers.shown, strict=True)])  # fmt: skip
    for step in (-0.02, 0, 0.02):
        x = np.array([0, learned.values[1] + step, 1])[grades] @ weights
        covered = np.cov(x, y, fweights=count)
        correlation = covered[0, 1] / np.sqrt(covered[0, 0] * covered[1, 1])
        assert correlation <= learned.score[1] + 1e-12
        assert (correlation == pytest.approx(learned.score[1], abs=1e-12)) == (step == 0)


def test_a_cascade_that_is_a_sum_determines_only_ratios_of_gains(readers: ClickLog) -> None:
    with pytest.warns(EvaluationWarning, match="a cascade is a sum of gains .* the largest is set to 1"):
        learned = clicks.gains(readers, QRELS, learn_from="correlation", click_measure="qctr")
    assert learned.values[-1] == 1


def test_the_learned_utility_of_ranks_is_1_over_the_rank(cascade: ClickLog, tmp_path: Any) -> None:
    learned = clicks.gains(cascade, QRELS, learn_from="correlation", target="utility", measure=f"err({SCHEME})")
    assert learned.values[:6] == pytest.approx(1 / np.arange(1, 7), abs=0.07)
    assert learned.values[0] == 1
    assert (np.diff(learned.values) <= 0).all()
    path = tmp_path / "phi.csv"
    learned.frame.to_csv(path, index=False)
    for name in (path, f"@{path}"):
        scores = gradedeval.evaluate(RUNS["r0"], QRELS, f"cascade(utility={name},{SCHEME}) err({SCHEME})")
        assert scores.frame["score"].iloc[0] == pytest.approx(scores.frame["score"].iloc[1], abs=0.05)


def test_learned_gains_score_runs(cascade: ClickLog, tmp_path: Any) -> None:
    path = tmp_path / "gains.csv"
    clicks.gains(cascade, QRELS, model="cm").frame.to_csv(path, index=False)
    learned, true = (
        gradedeval.evaluate(RUNS["r0"], QRELS, "err", gain=gain).means["err"] for gain in (f"@{path}", (0.05, 0.3, 0.7))
    )
    assert learned == pytest.approx(true, abs=0.003)


LISTS = ["a b c d", "b a d c", "d c b a", "c d a b", "a c b d"]
FEW = {"q": {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}}


@pytest.fixture
def one_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start searches once, in a third of the time."""
    monkeypatch.setattr(learned_gains, "STARTS", learned_gains.STARTS[1:2])


def few_lists(clicked: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"topic": "q", "clicks": clicked, "shown": LISTS[: len(clicked)]})


@pytest.mark.parametrize(
    ("log", "options", "message"),
    [
        (few_lists(["1"]), {}, "there is one list alone, so nothing correlates with it"),
        (few_lists(["", "", ""]), {}, "meanrr is the same for all lists, so nothing correlates with it"),
        (few_lists(["", "", ""]), {"target": "utility"}, "meanrr is the same for all lists"),
        (few_lists(["1", "", "-", "-", "1 2"]), {"measure": "rbp(p=0.5)"}, "no gains that never fall"),
        (few_lists(["1", "2"]).assign(shown=["a x", "x a"]), {}, "all documents shown are of grade 0"),
    ],
)  # fmt: skip
def test_clicks_without_information_about_gains_are_refused(log: pd.DataFrame, options: Any, message: str) -> None:
    qrels = {"q": FEW["q"] | {"x": 0}}
    with pytest.raises(InputError, match=message):
        clicks.gains(log, qrels, learn_from="correlation", **options)


@pytest.mark.parametrize("measure", ["err", "rbp(p=0.8)"])
@pytest.mark.usefixtures("one_start")
def test_a_grade_that_was_not_shown_has_no_gain(measure: str) -> None:
    log = few_lists(["1", "2", "-", "1 2"]).assign(shown=["a b", "b a", "a", "b c"])
    with pytest.warns(EvaluationWarning):
        learned = clicks.gains(log, FEW, measure, learn_from="correlation")
    preferences = pd.DataFrame({"topic": ["q"], "list_a": ["d a"], "list_b": ["a d"], "sign": [1]})
    with pytest.warns(EvaluationWarning):
        preferred = clicks.gains(preferences, FEW, measure, learn_from="preferences")
    assert learned.index == [0, 1, 2]
    assert any(note.startswith("no document of the grades 3, 4 was shown: add a line") for note in learned.notes)
    assert preferred.index == [0, 3]
    assert preferred.notes[-1].startswith("no document of the grades 1, 2, 4 was shown")
    assert preferred.notes[-2].startswith("these gains agree with every pair, but so do others")


def test_a_frame_of_preferences_equals_its_file(tmp_path: Any) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("topic\tlist_a\tlist_b\tsign\n7\td a\ta d\t1\n7\tc a\ta c\t1\n7\td b\tb d\t-1\n")
    frame = pd.DataFrame({
        "topic": [7.0] * 3, "list_a": ["d a", ("c", "a"), np.array(["d", "b"])], "list_b": ["a d", "a c", "b d"],
        "sign": [1.0, 1.0, -1.0],
    })  # fmt: skip
    qrels = {"7": {"a": 0, "b": 1, "c": 2, "d": 3}}
    gains = [clicks.gains(source, qrels, learn_from="preferences").values.tolist() for source in (path, frame)]
    assert gains[0] == gains[1]
    with pytest.raises(InputError, match="preferences: cannot read preferences from an object of type dict; give a"):
        clicks.gains({"topic": ["7"]}, qrels, learn_from="preferences")
    with pytest.raises(InputError, match=r"preferences:3: sign '' is not 1, -1 or 0"):
        clicks.gains(frame.assign(sign=[1, 1, None]), qrels, learn_from="preferences")
    with pytest.raises(InputError, match=r"preferences:1: 'd' is twice in list_b; give each document"):
        clicks.gains(frame.assign(list_b="d a d"), qrels, learn_from="preferences")
    with pytest.raises(InputError, match="preferences: no column 'sign'"):
        clicks.gains(frame.drop(columns="sign"), qrels, learn_from="preferences")


def test_pairs_without_a_difference_in_grades_are_refused() -> None:
    same = pd.DataFrame({"topic": ["q"], "list_a": ["a b"], "list_b": ["a b"], "sign": [1]})
    with pytest.raises(InputError, match="no pair has lists that differ in grades"):
        clicks.gains(same, FEW, learn_from="preferences")


@pytest.mark.exhaustive
def test_gains_from_preferences(tmp_path: Any) -> None:
    generator = np.random.default_rng(3)
    table = pairs_of_lists(lambda difference: int(np.sign(difference + generator.normal(0, 0.05))))
    learned = clicks.gains(table, QRELS, learn_from="preferences")
    assert learned.values == pytest.approx(TRUE, abs=0.12)
    assert learned.score is not None
    assert learned.score[0] == "agreement with preferences"
    assert learned.score[1] > 0.85
    path = tmp_path / "pairs.tsv"
    table.to_csv(path, sep="\t", index=False)
    assert clicks.gains(path, QRELS, learn_from="preferences").values.tolist() == learned.values.tolist()


def test_pairs_without_information_are_left_out(tmp_path: Any) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("topic\tlist_a\tlist_b\tsign\nq0\td1 d2\td2 d1\t0\nq0\tx d2\td2 d1\t1\n")
    with pytest.raises(InputError, match="no pair has a preferred list"):
        clicks.gains(path, QRELS, learn_from="preferences")
    path.write_text("topic\tlist\n")
    with pytest.raises(InputError, match=r"no column 'list_a'; expected a header topic, list_a"):
        clicks.gains(path, QRELS, learn_from="preferences")


def draw_threshold_users(shares: tuple[float, float], sessions: int = 60_000) -> ClickLog:
    """Return clicks of readers of rbp, each on all documents from a grade of their own."""
    generator = np.random.default_rng(4)
    topic, run = generator.integers(15, size=sessions), generator.integers(8, size=sessions)
    threshold = 1 + (generator.random(sessions) >= shares[0])
    depth = generator.geometric(0.2, size=sessions)
    grades = GRADES[topic[:, None], ORDERS[topic, run]]
    clicked = (grades >= threshold[:, None]) & (np.arange(10) < depth[:, None])
    rows, pattern = np.unique(clicked, axis=0, return_inverse=True)
    docnos = [tuple(f"d{d}" for d in ORDERS[t, n]) for t in range(15) for n in range(8)]
    patterns = [tuple((np.flatnonzero(row) + 1).tolist()) for row in rows]
    topics = [t for t in TOPICS for _ in range(8)]
    return ClickLog(topics, docnos, patterns, topic * 8 + run, pattern.ravel(), np.ones(sessions, dtype=np.int64))


@pytest.mark.exhaustive
def test_thresholds_of_graded_average_precision() -> None:
    log = draw_threshold_users((0.6, 0.4))
    assert clicks.gains(log, QRELS, target="gap").values == pytest.approx([0.6, 0.4], abs=0.015)
    share = clicks.gains(log, QRELS, target="gap", share=True).values
    assert share.sum() == pytest.approx(1)
    assert share[0] < 0.45  # as the documents of grade 2 are clicked by all users
    # A reader model takes the clicks of a session for independent.
    model = clicks.gains(log, QRELS, model="reader").values
    assert model[1] / model[2] > 0.61


def test_learned_thresholds_fit_the_measure(tmp_path: Any) -> None:
    qrels = {"q": {"a": 0, "b": 1, "c": 3}}  # gap takes a share for each of 1, 2 and 3
    orders = ["a b c", "b c a", "c a b"]
    log = pd.DataFrame({"topic": "q", "clicks": ["2 3", "1 2", "1 3"], "shown": orders})
    with pytest.warns(EvaluationWarning, match="no document is judged 2: .* g is 0"):
        learned = clicks.gains(log, qrels, target="gap", share=True)
    assert (list(learned.index), learned.values.tolist()) == ([1, 2, 3], [0.5, 0, 0.5])
    assert gradedeval.evaluate({"q": {"c": 1.0}}, qrels, "gap(g=0.5:0:0.5)").means
    with pytest.raises(InputError, match="no document of a grade above 0 was clicked"):
        clicks.gains(log.assign(clicks="-"), qrels, target="gap", share=True)
    with pytest.raises(InputError, match="no grade is above 0"):
        clicks.gains(log, {"q": {"a": 0, "b": 0}}, target="gap")


def test_a_grade_clicked_less_than_the_grade_below_has_no_threshold() -> None:
    log = clicks.simulate("rbp(p=0.8,gain=0.1:0.05:0.7)", RUNS, QRELS, sessions=20_000)
    with pytest.warns(EvaluationWarning, match="grade 1 was clicked less than the grade below"):
        assert clicks.gains(log, QRELS, target="gap").values[0] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learn_from": "clicks"}, "learn_from: invalid value 'clicks'; choose from model, correlation, preferences"),
        ({"target": "utility"}, 'target="utility": cannot be learned from model; add learn_from="correlation"'),
        ({"target": "gap", "learn_from": "correlation"}, 'target="gap": is learned from click rates alone'),
        ({"learn_from": "correlation", "measure": "ap"}, "name err, cascade, or a sum of gains with fixed weights"),
        ({"learn_from": "correlation", "click_measure": "ctr"}, "click_measure: invalid value 'ctr'"),
        ({"model": "dbn ubm"}, "model: 2 click models; name one, such as dbn"),
        ({"measure": "err rbp"}, "measures: 2 measures; name one, such as err"),
    ],
)
def test_bad_options_of_gains_are_refused(options: Any, message: str, cascade: ClickLog) -> None:
    with pytest.raises(InputError) as caught:
        clicks.gains(cascade, QRELS, **options)
    assert message in str(caught.value)


@shared
@pytest.mark.exhaustive
def test_gains_and_utility_over_covid_round1() -> None:
    runs, qrels = COVID / "runs", Qrels(COVID / "qrels.txt")
    judged: dict[str, Any] = {"sessions": 200_000, "judged_only": True}
    log = clicks.simulate(f"err({SCHEME})", runs, qrels, **judged)
    learned = clicks.gains(log, qrels, learn_from="correlation")
    assert learned.values == pytest.approx([0.0504, 0.3027, 0.7032], abs=0.01)
    phi = clicks.gains(log, qrels, learn_from="correlation", target="utility", measure=f"err({SCHEME})")
    assert phi.values == pytest.approx([1, 0.5, 0.332, 0.246, 0.203, 0.174, 0.145, 0.133, 0.112, 0.095], abs=0.02)
    log = clicks.simulate(f"rbp(p=0.8,{SCHEME})", runs, qrels, **judged)
    with pytest.warns(EvaluationWarning):
        gains = clicks.gains(log, qrels, learn_from="correlation", click_measure="qctr", measure="rbp(p=0.8)")
    assert gains.values[1] == pytest.approx(0.3842, abs=0.005)


@shared
@pytest.mark.exhaustive
def test_gains_of_5661_preferences_over_covid_round1() -> None:
    """Check gains from pairs of lists of a topic: users prefer the higher err, the surer the larger the difference."""
    qrels = Qrels(all_judged(COVID))
    log = clicks.simulate("rr", COVID / "runs", qrels, sessions=30_000)
    lists = graded_lists(log, qrels)
    full = np.flatnonzero((lists.code < len(lists.grades)).all(1))
    generator, topics = np.random.default_rng(0), np.array(log.topics)[full]
    first, second = generator.integers(len(full), size=(2, 400_000))
    alike = (topics[first] == topics[second]) & (first != second)
    first, second = full[first[alike][:5661]], full[second[alike][:5661]]
    difference = stop_probabilities(lists.gains(np.array(TRUE))) @ (1 / np.arange(1, 11))
    difference = difference[first] - difference[second]
    sign = np.where(generator.random(5661) < 1 / (1 + np.exp(-14 * difference)), 1, -1)
    texts = np.array([" ".join(docnos) for docnos in log.shown])
    columns = {"topic": np.array(log.topics)[first], "list_a": texts[first], "list_b": texts[second], "sign": sign}
    learned = clicks.gains(pd.DataFrame(columns), qrels, learn_from="preferences")
    assert learned.values == pytest.approx(TRUE, abs=0.06)  # draws differ by that much
    assert learned.score is not None
    true = np.mean(np.where(difference == 0, 0.5, np.sign(difference) == sign))
    assert true == pytest.approx(0.86, abs=0.005)
    assert learned.score[1] == pytest.approx(true, abs=0.002)
