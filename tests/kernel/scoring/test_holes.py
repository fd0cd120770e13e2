"""`--holes predicted`: documents without a grade take a machine's grades in a second score."""

import random

import pytest

import gradedeval
from gradedeval.kernel.rankings.qrels import Qrels

TOPICS = [f"t{number:02}" for number in range(12)]


def _collection():
    """A run, the judgments of people with holes, and those of a machine, which differ."""
    drawn = random.Random(5)
    documents = [f"d{number:02}" for number in range(25)]
    run = {topic: {docno: drawn.random() for docno in documents[:20]} for topic in TOPICS}
    people = {
        topic: {"d00": 3} | {docno: drawn.choice((0, 0, 1, 2, 3)) for docno in documents[1:] if drawn.random() < 0.5}
        for topic in TOPICS
    }
    machine = {topic: {docno: drawn.choice((0, 0, 0, 1, 3)) for docno in documents} for topic in TOPICS}
    return run, people, machine


RUN, PEOPLE, MACHINE = _collection()
JOINED = {topic: {**MACHINE[topic], **PEOPLE[topic]} for topic in TOPICS}
MEASURES = ["ndcg@10", "err@20", "ap", "rbp", "gm_ap", "num_rel_ret", "bpref", "ndcg(judged_only=true)@5"]


def _found(people=PEOPLE, machine=MACHINE, measures=MEASURES, **options):
    return gradedeval.evaluate(RUN, people, measures, predicted=machine, holes="predicted", **options)


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_holes_take_the_grades_of_the_machine_and_a_grade_by_people_counts():
    frame = _found().frame.set_index(["topic", "measure"])
    filled = gradedeval.evaluate(RUN, JOINED, MEASURES).frame.set_index(["topic", "measure"])
    plain = gradedeval.evaluate(RUN, PEOPLE, MEASURES, bounds=True).frame.set_index(["topic", "measure"])
    assert frame["predicted"].tolist() == pytest.approx(filled["score"].tolist())
    assert frame["score"].tolist() == plain["score"].tolist()
    assert (plain["score"] - frame["predicted"]).abs().max() > 0.05
    for end in ("low", "high"):
        assert frame[end].tolist() == pytest.approx(plain[end].tolist(), nan_ok=True)


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_a_machine_of_the_same_documents_changes_nothing():
    machine = {topic: dict.fromkeys(grades, 3) for topic, grades in PEOPLE.items()}
    frame = _found(machine=machine).frame
    assert frame["predicted"].tolist() == frame["score"].tolist()


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_zero_leaves_holes_as_they_are():
    people = {topic: PEOPLE[topic] for topic in TOPICS[:7]}
    zero = gradedeval.evaluate(RUN, people, "err", predicted=MACHINE, holes="zero")
    assert "predicted" not in zero.columns
    assert zero.frame.equals(gradedeval.evaluate(RUN, people, "err", predicted=MACHINE).frame)


def test_what_the_machine_lacks_and_has_besides_is_said():
    people = {topic: PEOPLE[topic] for topic in TOPICS[1:]}
    machine = {topic: MACHINE[topic] for topic in TOPICS[:-2]}
    with pytest.warns(gradedeval.EvaluationWarning) as said:
        _found(people, machine, "err@20 ap")
    text = "\n".join(str(warning.message) for warning in said)
    assert "bounds:" not in text
    count = sum(docno not in PEOPLE[topic] for topic in TOPICS[1:-2] for docno in MACHINE[topic])
    assert f"grades {count} documents that qrels does not; they count in the column predicted alone" in text
    assert "grades nothing in 2 topics of qrels (t10, t11), whose unjudged documents stay so" in text
    assert '1 topic not in qrels left out; without holes="predicted" means over all topics are estimated' in text


def test_topics_that_the_machine_alone_judged_are_said_once():
    people, machine = ({topic: of[topic] for topic in TOPICS[a:b]} for of, a, b in ((PEOPLE, 4, 12), (MACHINE, 1, 12)))
    with pytest.warns(gradedeval.EvaluationWarning) as said:
        gradedeval.evaluate({"a": RUN, "b": RUN}, people, "err@20", predicted=machine, holes="predicted")
    text = [str(warning.message) for warning in said]
    assert sum("3 topics not in qrels left out" in one for one in text) == 1
    of_runs = [one for one in text if "neither" in one]
    assert of_runs == [f"{run}: 1 topic is in neither qrels nor predicted (t00); ignored" for run in "ab"]


@pytest.mark.filterwarnings("ignore:.*taken as not relevant:gradedeval.EvaluationWarning")
@pytest.mark.filterwarnings("ignore:.*grades .* documents that:gradedeval.EvaluationWarning")
def test_a_score_outside_its_bounds_is_said():
    """The machine finds many relevant documents that the run did not retrieve."""
    people = {topic: {"d00": 1, "d01": 0} for topic in TOPICS}
    run = {topic: {"d00": 2, "d01": 1} for topic in TOPICS}
    machine = {topic: {f"x{number}": 1 for number in range(30)} for topic in TOPICS}
    ask = {"predicted": machine, "holes": "predicted"}
    with pytest.warns(gradedeval.EvaluationWarning, match=r"predicted scores outside their bounds \(ap\)"):
        found = gradedeval.evaluate(run, people, "ap", **ask)
    *_, row = found.rows()
    assert row.predicted < row.low
    *_, row = gradedeval.evaluate(run, people, "ap", unseen="inf", **ask).rows()
    assert row.low <= row.predicted <= row.high


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_several_measures_have_a_row_each():
    labels = {topic: "a" if number % 3 else "b" for number, topic in enumerate(TOPICS)}
    ask = {"predicted": MACHINE, "holes": "predicted", "slices": {"kind": labels}}
    found = gradedeval.evaluate({"x": RUN, "y": RUN}, PEOPLE, "err@20 num_rel_ret", **ask)
    whole, sliced = found.document("wide").blocks
    assert whole.names == ["measure", "run", "score", "predicted", "low", "high"]
    assert sliced.names == ["kind", *whole.names]
    assert [row[:2] for row in whole.rows] == [[m, r] for m in ("err@20", "num_rel_ret") for r in "xy"]
    expected = found.frame.query("topic == 'all' and slice.isna() and measure == 'num_rel_ret'")["predicted"]
    assert [row[3] for row in whole.rows[2:]] == expected.tolist()
    assert isinstance(whole.rows[2][3], int)
    one = gradedeval.evaluate({"x": RUN, "y": RUN}, PEOPLE, "err@20", predicted=MACHINE, holes="predicted")
    assert one.document("wide").blocks[0].names == ["run", "err@20", "predicted", "low", "high"]


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_slices_have_their_own():
    labels = {topic: "a" if number % 3 else "b" for number, topic in enumerate(TOPICS)}
    found = _found(measures="err@20", slices={"kind": labels})
    part = found.by_slice["kind"]["b"]
    filled = gradedeval.evaluate(RUN, {topic: JOINED[topic] for topic in TOPICS[::3]}, "err@20", topics="both")
    *_, row = part.rows(by_topic=False)
    assert row.predicted == pytest.approx(filled["err@20"])


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_the_signature_names_the_file(tmp_path):
    path = tmp_path / "machine judgments.qrels"
    path.write_text("".join(f"{t} 0 {d} {g}\n" for t, own in MACHINE.items() for d, g in own.items()))
    signature = _found(machine=str(path), measures="err@20").signature
    assert signature.endswith(f'holes predicted "{path}" {Qrels(MACHINE).digest}')


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predicted": None}, "^holes: there are no grades to fill them with; add predicted, with a machine's"),
        ({"fill": {"t00": {"d01": 0.5}}}, "^predicted: cannot be combined with fill; leave out one"),
        ({"interval": 0.9}, '^predicted: cannot be combined with interval=True; holes="predicted" shows bounds'),
        ({"ties": "best"}, '^predicted: cannot be combined with ties="best"; holes="predicted" shows bounds'),
        ({"judged_only": True}, "^predicted: cannot be combined with judged_only"),
        ({"residuals": True}, "^predicted: cannot be combined with residuals"),
        ({"topics": "both"}, '^predicted: cannot be combined with topics="both"'),
        ({"holes": "one"}, "^holes: invalid value 'one'"),
        (
            {"predicted": {topic: {"d00": 4} for topic in TOPICS}},
            "has grades up to 4, and qrels up to 3; give",
        ),
        ({"predicted": {topic: {"d00": 2.5} for topic in TOPICS}}, r"has grades such as 2\.5, and ap"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(gradedeval.InputError, match=message):
        gradedeval.evaluate(RUN, PEOPLE, "ap", **{"predicted": MACHINE, "holes": "predicted", **options})
