"""`--predicted`: estimates from people's judgments of some topics and a machine's of all, and refusals."""

import io
import random
import re
import warnings

import numpy as np
import pytest

import gradedeval
from gradedeval.kernel.scoring.predicted import by_people, estimate, saved

TOPICS = [f"t{number:02}" for number in range(40)]
JUDGED = TOPICS[::2]


def _collection():
    """Return a run, the judgments of all topics, and the judgments of a machine with a few errors of one grade."""
    drawn = random.Random(3)
    documents = [f"d{number:02}" for number in range(20)]
    run = {topic: {docno: drawn.random() for docno in documents} for topic in TOPICS}
    truth = {topic: {docno: drawn.choice((0, 0, 0, 1, 2, 3)) for docno in documents} for topic in TOPICS}
    moved = {
        topic: {docno: min(3, max(0, grade + drawn.choice((0, 0, 0, 1, -1)))) for docno, grade in grades.items()}
        for topic, grades in truth.items()
    }
    for grades in truth.values():
        grades["d00"] = 3
    for grades in moved.values():
        grades["d00"] = 3
    return run, truth, moved


RUN, TRUTH, MACHINE = _collection()
PEOPLE = {topic: TRUTH[topic] for topic in JUDGED}
REVERSED = {topic: {docno: -score for docno, score in documents.items()} for topic, documents in RUN.items()}


def _alone(people, measure):
    """Score the run on the topics of some qrels."""
    return gradedeval.evaluate({topic: RUN[topic] for topic in people}, people, measure)


def _estimated(people=PEOPLE, machine=MACHINE, measures="ndcg@10", **options):
    return gradedeval.evaluate(RUN, people, measures, predicted=machine, **options)


@pytest.mark.parametrize("measure", ["ndcg@10", "err@20", "ap", "gm_ap", "num_rel_ret"])
@pytest.mark.parametrize("level", [None, 0.9])
def test_estimates_equal_the_estimator(measure, level):
    scores = _estimated(measures=measure, interval=level)
    row = scores.frame.query("topic == 'all'").iloc[0]
    h, m = _alone(PEOPLE, measure).by_topic(measure), _alone(MACHINE, measure).by_topic(measure)
    reading = scores.measures[0].reading
    sides = [h[t] for t in JUDGED], [m[t] for t in JUDGED], [m[t] for t in TOPICS if t not in JUDGED]
    arrays = [reading.tested(np.array([values])) for values in sides]
    alpha = 1 - (level or 0.95)
    both, alone = estimate(*arrays, alpha), by_people(arrays[0], alpha)
    expected = [both.mean, both.low, both.high, alone.mean, alone.low, alone.high]
    names = ["score", "low", "high", "people", "people_low", "people_high"]
    assert row[names].tolist() == pytest.approx([float(reading.of_mean(value, 40)[0]) for value in expected])
    assert row["machine"] == pytest.approx(gradedeval.evaluate(RUN, MACHINE, measure)[measure])
    assert [row["narrower"], row["times"]] == pytest.approx([float(value[0]) for value in saved(alone, both)])
    assert row["lambda_"] == pytest.approx(both.power[0])
    assert scores.means[measure] == scores[measure] == row["score"]


def test_the_estimate_of_a_perfect_machine_is_near_the_truth():
    row = _estimated(machine=TRUTH).frame.query("topic == 'all'").iloc[0]
    truth = gradedeval.evaluate(RUN, TRUTH, "ndcg@10")["ndcg@10"]
    assert row["machine"] == pytest.approx(truth)
    assert row["low"] < truth < row["high"]
    assert row["narrower"] > 0.1


def test_a_topic_that_makes_most_of_the_variance_is_named():
    """Check a machine that misses all relevant documents of one topic and is right elsewhere."""
    wrong = JUDGED[7]
    machine = {**TRUTH, wrong: {docno: 3 * (docno == "d19") for docno in TRUTH[wrong]}}
    run = {topic: dict(TRUTH[topic], d19=-1) for topic in TOPICS}  # the best documents first
    named = rf"one judged topic has over half .* interval: topic {wrong} has \d+% of that of ndcg@10 of run; check its"
    with pytest.warns(gradedeval.EvaluationWarning, match=named):
        gradedeval.evaluate(run, PEOPLE, "ndcg@10", predicted=machine)
    shuffled = {topic: {docno: -score for docno, score in documents.items()} for topic, documents in run.items()}
    two = {"one": shuffled, "two": run}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gradedeval.compare(two, PEOPLE, "ndcg@10", predicted=machine)
    notes = [str(warning.message) for warning in caught]
    assert any(re.search(rf"topic {wrong} has \d+% of that of ndcg@10, two against one", note) for note in notes)


def test_topics_that_only_the_machine_judged_have_no_score_by_people():
    frame = _estimated().frame.query("topic != 'all'").set_index("topic")
    assert sorted(frame.index) == TOPICS
    assert frame.loc[JUDGED, ["score", "people", "machine"]].notna().to_numpy().all()
    others = [topic for topic in TOPICS if topic not in JUDGED]
    assert frame.loc[others, ["score", "people"]].isna().to_numpy().all()
    assert frame.loc[others, "machine"].notna().all()


def test_topics_that_the_machine_lacks_are_left_out_with_a_note():
    machine = {topic: grades for topic, grades in MACHINE.items() if topic not in JUDGED[:2]}
    with pytest.warns(gradedeval.EvaluationWarning, match=r"2 of 20 topics of qrels are not in it, and left out \(t00"):
        scores = _estimated(machine=machine)
    fewer = {topic: PEOPLE[topic] for topic in JUDGED[2:]}
    with pytest.warns(gradedeval.EvaluationWarning, match="run: 2 topics are in neither qrels nor predicted"):
        assert scores["ndcg@10"] == _estimated(people=fewer, machine=machine)["ndcg@10"]


def test_topics_that_a_run_lacks_score_0_by_both():
    run = {topic: documents for topic, documents in RUN.items() if topic not in TOPICS[:4]}
    with pytest.warns(gradedeval.EvaluationWarning, match="4 of 40 judged topics are missing") as caught:
        scores = gradedeval.evaluate(run, PEOPLE, "ndcg@10", predicted=MACHINE)
    assert len(caught) == 1
    nothing = {topic: {"other": 0.0} for topic in TOPICS[:4]}
    assert scores["ndcg@10"] == gradedeval.evaluate({**run, **nothing}, PEOPLE, "ndcg@10", predicted=MACHINE)["ndcg@10"]


def test_few_topics_and_chosen_topics_are_noted():
    with pytest.warns(
        gradedeval.EvaluationWarning, match="8 topics that people judged: intervals are only rough guides"
    ):
        _estimated(people={topic: TRUTH[topic] for topic in JUDGED[:8]})
    scores = gradedeval.evaluate(RUN, MACHINE, "ndcg@10").by_topic("ndcg@10")
    worst = sorted(TOPICS, key=scores.__getitem__)[:16]
    # The first measure that varies tells a sample.
    with pytest.warns(gradedeval.EvaluationWarning, match="are no random sample: their ndcg@10"):
        _estimated(people={topic: TRUTH[topic] for topic in worst}, measures="num_ret ndcg@10")
    _estimated(measures="num_ret")


def test_slices_of_few_judged_topics_are_noted():
    labels = {topic: "first" if number < 20 else "rest" for number, topic in enumerate(TOPICS)}
    labels |= dict.fromkeys(TOPICS[:4], "tiny")
    with pytest.warns(gradedeval.EvaluationWarning) as caught:
        _estimated(slices={"part": labels})
    text = [str(warning.message) for warning in caught]
    assert text[0].startswith("part=first, part=rest: fewer than 15 topics that people judged: intervals are only")
    assert text[1] == "part=tiny: fewer than 5 topics that people judged, so nothing is estimated"


def test_no_note_advises_a_refused_option():
    people = {**PEOPLE, "t00": dict.fromkeys(TRUTH["t00"], 0)}
    run = {topic: documents for topic, documents in RUN.items() if topic != "t03"}
    with pytest.warns(gradedeval.EvaluationWarning) as caught:
        gradedeval.evaluate(run, people, "ndcg@10", predicted=MACHINE)
    assert len(caught) == 2
    assert not any("topics=" in str(warning.message) for warning in caught)


def test_labels_used_by_the_machine_alone_are_not_noted():
    words = {0: "no", 1: "some", 2: "much", 3: "all"}
    machine = {topic: {docno: words[grade] for docno, grade in grades.items()} for topic, grades in MACHINE.items()}
    labels = {word: grade for grade, word in words.items()}
    assert _estimated(machine=machine, labels=labels)["ndcg@10"] == _estimated()["ndcg@10"]
    with pytest.warns(gradedeval.EvaluationWarning, match="^qrels and predicted: no judgment has the label maybe of"):
        _estimated(machine=machine, labels={**labels, "maybe": 2})


def test_a_run_in_place_of_a_machines_judgments(tmp_path):
    path = tmp_path / "other.run"
    path.write_text("".join(f"{topic} Q0 d00 1 0.5 r\n" for topic in TOPICS))
    with pytest.raises(gradedeval.InputError, match=r"looks like a run .*; predicted takes judgments"):
        _estimated(machine=path)


@pytest.mark.filterwarnings("ignore:part=.*rough guides:gradedeval.EvaluationWarning")
def test_slices_are_estimated_one_by_one():
    labels = {topic: "first" if number < 28 else "rest" for number, topic in enumerate(TOPICS)}
    scores = _estimated(slices={"part": labels}).by_slice["part"]["first"]
    first = [topic for topic in TOPICS if labels[topic] == "first"]
    people, machine = ({t: judgments[t] for t in first if t in judgments} for judgments in (PEOPLE, MACHINE))
    with pytest.warns(gradedeval.EvaluationWarning, match="14 topics that people judged"):
        alone = gradedeval.evaluate({t: RUN[t] for t in first}, people, "ndcg@10", predicted=machine)
    assert scores["ndcg@10"] == pytest.approx(alone["ndcg@10"])


def test_systems_are_estimated_from_the_means_of_their_seeds():
    scores = gradedeval.evaluate(
        {"a": RUN, "b": REVERSED}, PEOPLE, "ndcg@10", predicted=MACHINE, replicates={"s": ["a", "b"]}
    )
    (row,) = scores.systems.itertuples()
    estimates = [means["ndcg@10"] for means in scores.means_by_run.values()]
    assert row.sd == pytest.approx(np.std(estimates, ddof=1))
    parts = []
    for qrels, topics in ((PEOPLE, JUDGED), (MACHINE, JUDGED), (MACHINE, TOPICS[1::2])):
        seeds = [{topic: run[topic] for topic in qrels} for run in (RUN, REVERSED)]
        by_seed = [gradedeval.evaluate(run, qrels, "ndcg@10").by_topic("ndcg@10") for run in seeds]
        parts.append(np.array([[np.mean([of[topic] for of in by_seed]) for topic in topics]]))
    expected = estimate(*parts, 0.05)
    assert (row.mean, row.low, row.high) == pytest.approx((expected.mean[0], expected.low[0], expected.high[0]))
    assert "±" in scores.document("wide").blocks[0].names


@pytest.mark.parametrize("measure", ["ndcg@10", "gm_ap", "num_rel_ret"])
def test_systems_have_one_mean_in_evaluations_and_comparisons(measure):
    ask = {"predicted": MACHINE, "replicates": {"s": ["a", "b"], "c": ["c", "d"]}}
    runs = {"a": RUN, "b": REVERSED, "c": RUN, "d": RUN}
    rows = gradedeval.evaluate(runs, PEOPLE, measure, **ask).systems.set_index("system")
    compared = gradedeval.compare(runs, PEOPLE, measure, **ask).frame.iloc[0]
    assert rows["mean"][["s", "c"]].tolist() == pytest.approx([compared["baseline_mean"], compared["mean"]])


def test_runs_are_ordered_by_estimates_and_topics_have_none():
    scores = gradedeval.evaluate({"a": RUN, "b": REVERSED}, PEOPLE, "ndcg@10", predicted=MACHINE)
    ordered, means = scores.sorted_by(scores.measures[0]), scores.means_by_run
    assert [run.run for run in ordered.runs] == sorted(means, key=lambda run: -means[run]["ndcg@10"]) == ["b", "a"]
    rows, again = (
        result.frame.query("topic == 'all'").set_index("run").loc[["a", "b"]] for result in (scores, ordered)
    )
    assert rows.equals(again)
    table = ordered.document("wide").table
    assert table.names == ["measure", "run", "score", "±", "people", "± people", "machine", "λ", "saves"]
    assert [row[1] for row in table.rows] == ["b", "a"]
    of_topics = [row for row in scores.document("wide", by_topic=True).table.rows if row[2] != "all"]
    assert len(of_topics) == 80
    assert all(row[3] is None and row[7] is not None for row in of_topics)


@pytest.mark.filterwarnings("ignore:part=.*rough guides:gradedeval.EvaluationWarning")
def test_estimates_of_a_run_do_not_depend_on_order_and_slice():
    runs, labels = {"a": RUN, "b": REVERSED}, {topic: "first" if topic < "t28" else "rest" for topic in TOPICS}
    ask = {"predicted": MACHINE, "slices": {"part": labels}}
    scores = gradedeval.evaluate(runs, PEOPLE, "ndcg@10", **ask)
    (measure,) = scores.measures
    assert len(scores.document("wide").blocks) == 2
    for name, run in runs.items():
        alone = gradedeval.evaluate(run, PEOPLE, "ndcg@10", **ask)
        expected = alone.frame.query("topic == 'all'")["score"].tolist()
        for view in (scores, scores.sorted_by(measure)):
            frame = view.frame.query("topic == 'all'")
            mine = frame[frame["run"] == name]["score"].tolist()
            assert mine == pytest.approx(expected, nan_ok=True)


def _text(qrels):
    return "".join(f"{topic} 0 {docno} {grade}\n" for topic, grades in qrels.items() for docno, grade in grades.items())


def test_pipes_and_iterators_are_read_once():
    expected = _estimated()["ndcg@10"]
    rows = [(topic, docno, score) for topic, documents in RUN.items() for docno, score in documents.items()]
    scores = gradedeval.evaluate(iter(rows), PEOPLE, "ndcg@10", predicted=MACHINE)
    assert scores["ndcg@10"] == expected
    lines = "".join(f"{topic} Q0 {docno} 0 {score!r} r\n" for topic, docno, score in rows)
    scores = gradedeval.evaluate(io.BytesIO(lines.encode()), PEOPLE, "ndcg@10", predicted=gradedeval.Qrels(MACHINE))
    assert scores["ndcg@10"] == expected


def test_the_signature_names_the_file(tmp_path):
    (tmp_path / "machine.qrels").write_text(_text(MACHINE))
    scores = _estimated(machine=tmp_path / "machine.qrels")
    digest = gradedeval.Qrels(MACHINE).digest
    assert f"machine.qrels {digest}, 20 judged and 20 other topics | 95% interval" in scores.signature
    assert scores["ndcg@10"] == _estimated()["ndcg@10"]


def _low(qrels):
    return {topic: {docno: min(grade, 2) for docno, grade in grades.items()} for topic, grades in qrels.items()}


@pytest.mark.parametrize(
    ("people", "machine", "message"),
    [
        ({"x": {"d": 3}}, MACHINE, "has none of the 1 topics of qrels"),
        ({topic: TRUTH[topic] for topic in JUDGED[:4]}, MACHINE, "4 topics of qrels, too few for an interval"),
        (PEOPLE, {topic: MACHINE[topic] for topic in JUDGED}, "no other topic than qrels; leave out predicted"),
        (
            PEOPLE,
            _low(MACHINE),
            r"grades up to 2, and qrels up to 3; give both one scale, as labels=.* does for words; top_grade=3 says",
        ),
        (_low(PEOPLE), MACHINE, "grades up to 3, and qrels up to 2"),
        (MACHINE, PEOPLE, "has no other topic than qrels, which has 20 more; swap them if predicted is by people"),
        (PEOPLE, PEOPLE, "^predicted: holds the same judgments as qrels"),
        (PEOPLE, {**PEOPLE, "t01": TRUTH["t01"]}, "only one other topic than qrels; have the machine judge two more"),
        (
            _low(PEOPLE),
            {topic: {docno: grade * 0.9 for docno, grade in grades.items()} for topic, grades in MACHINE.items()},
            "grades up to 2.7, and qrels up to 2; .*; top_grade=3 says",
        ),
    ],
)
def test_judgments_that_cannot_be_joined(people, machine, message):
    with pytest.raises(gradedeval.InputError, match=message):
        _estimated(people, machine)


@pytest.mark.filterwarnings("ignore:.*no measure here uses it")
def test_a_scale_with_a_top_grade():
    assert 0 < _estimated(machine=_low(MACHINE), top_grade=3)["ndcg@10"] < 1


def test_expected_grades_are_for_graded_measures():
    expected = {topic: {docno: 0.9 * grade for docno, grade in grades.items()} for topic, grades in MACHINE.items()}
    assert 0 < _estimated(machine=expected)["ndcg@10"] < 1
    with pytest.raises(gradedeval.InputError, match="and ap knows only relevant or not; take graded measures"):
        _estimated(machine=expected, measures="ap ndcg@10")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fill": {"t00": {"d99": 0.5}}}, "cannot be combined with fill"),
        ({"judged_only": True}, "cannot be combined with judged_only=True"),
        ({"residuals": True}, "cannot be combined with residuals=True"),
        ({"max_residual": 0.1}, "cannot be combined with max_residual"),
        ({"bounds": True}, "cannot be combined with bounds=True"),
        ({"topics": "both"}, 'cannot be combined with topics="both"; topics="qrels", the default, keeps all'),
    ],
)
def test_conflicting_options_are_refused(options, message):
    with pytest.raises(gradedeval.InputError, match=message):
        _estimated(**options)


def test_other_analyses_refuse_estimates():
    with pytest.raises(gradedeval.InputError, match="predicted: correlate does not take it"):
        gradedeval.correlate({"a": RUN, "b": RUN}, PEOPLE, "ndcg@10 ap", predicted=MACHINE)
    with pytest.raises(gradedeval.InputError, match="estimates from people's judgments and a machine's are not known"):
        gradedeval.topic_table(_estimated())
