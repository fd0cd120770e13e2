"""`--fill`: gains of unjudged documents, in err, cascade and C/W/L measures."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gradedeval
from gradedeval import EvaluationWarning, InputError, Qrels, clicks, evaluate
from gradedeval.kernel.trec.lines import decode
from support.commands import Command, succeed
from support.paths import SAMPLES

QRELS = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"x": 1}}
RUN = {"1": {"u": 4.0, "a": 3.0, "v": 2.0, "b": 1.0}, "2": {"y": 1.0}}
FILL = {"1": {"u": 0.25, "v": 0.1234567}}
TAKES = "err rbp(p=0.5) cascade(gamma=0.9) insq"


def scores(measures: str, qrels: Any = QRELS, **options: Any) -> dict[str, float]:
    """Return the scores of topic 1."""
    frame = evaluate(RUN, qrels, measures, **options).frame
    return {row.measure: row.score for row in frame.itertuples() if row.topic == "1"}


def test_gains_by_hand() -> None:
    result = scores("err(gain=linear) rbp(p=0.5)", fill=FILL)
    v = 0.123457  # six digits
    assert result["err(gain=linear)"] == pytest.approx(0.25 + 0.75 * 1 / 2, abs=1e-12)
    assert result["rbp(p=0.5)"] == pytest.approx(0.5 * 0.25 + 0.25 * 1 + 0.125 * v, abs=1e-12)


def test_judged_documents_keep_their_grades() -> None:
    with pytest.warns(EvaluationWarning, match="fill: 1 of 3 documents has a grade, and keeps it"):
        result = scores(TAKES, fill={"1": {**FILL["1"], "a": 0.0}})
    assert result == scores(TAKES, fill=FILL)


def test_gains_of_all_unjudged_documents_equal_judgments() -> None:
    """Check measures that depend on the ranking alone."""
    whole = {"1": {**QRELS["1"], "u": 3, "v": 4}, "2": QRELS["2"]}
    measures = " ".join(f"{name}(gain=0:0.3:0.7:0.25:0.123457)" for name in ("err", "rbp", "insq"))
    judged = evaluate(RUN, whole, measures)
    filled = evaluate(RUN, QRELS, measures, fill=FILL)
    assert filled.frame["score"].tolist() == pytest.approx(judged.frame["score"].tolist(), abs=1e-12)


def test_other_measures_treat_filled_documents_as_unjudged() -> None:
    others = "ndcg ap p@2 judged@4 bpref rr nerr gap num_rel_ret"
    with pytest.warns(EvaluationWarning, match="fill: no measure here uses it \\(ndcg, ap, "):
        result = scores(others, fill=FILL)
    assert result == scores(others)
    assert scores(TAKES, fill=FILL) != scores(TAKES)


def test_residuals_count_filled_documents_as_judged() -> None:
    plain, filled = (
        evaluate(RUN, QRELS, TAKES, residuals="split", **options).frame for options in ({}, {"fill": FILL})
    )
    topic = filled[filled["topic"] == "1"]
    assert topic["unjudged"].tolist() == [0.0] * 4  # all four documents are judged or filled
    assert (plain[plain["topic"] == "1"]["unjudged"] > 0.01).all()
    others = filled[filled["topic"] == "2"]["unjudged"].tolist()
    assert others == plain[plain["topic"] == "2"]["unjudged"].tolist()


def test_a_file_a_frame_and_a_dict_are_the_same(tmp_path: Path, cli: Command) -> None:
    table = pd.DataFrame([("1", "u", 0.25, 12), ("1", "v", 0.1234567, 30)], columns=["topic", "docno", "gain", "seen"])
    path = tmp_path / "fill.csv"
    table.to_csv(path, index=False)
    expected = evaluate(RUN, QRELS, TAKES, fill=FILL)
    for fill in (table, path, str(path)):
        again = evaluate(RUN, QRELS, TAKES, fill=fill)
        assert again.frame.equals(expected.frame)
        assert again.signature == expected.signature
    assert " | fill 2 documents " in expected.signature
    assert "fill" not in evaluate(RUN, QRELS, TAKES).signature
    different = evaluate(RUN, QRELS, TAKES, fill={"1": {"u": 0.26, "v": 0.1234567}})
    assert different.signature != expected.signature
    lines = {"run": "1 Q0 u 1 4 t\n1 Q0 a 2 3 t\n1 Q0 v 3 2 t\n1 Q0 b 4 1 t\n2 Q0 y 1 1 t\n",
             "qrels": "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 x 1\n"}  # fmt: skip
    for name, text in lines.items():
        (tmp_path / name).write_text(text)
    done = succeed(cli("run", "qrels", "-m", TAKES, "--fill", "fill.csv", "-q", "-f", "csv"))
    printed = [float(line.split(",")[3]) for line in done.text.splitlines()[1:] if line.split(",")[1] == "1"]
    assert printed == [row.score for row in expected.frame.itertuples() if row.topic == "1"]


def test_comparisons_know_the_fill() -> None:
    filled, plain = (evaluate(RUN, QRELS, "err", **options).signature for options in ({"fill": FILL}, {}))
    from gradedeval.analysis.saved_scores import Signature

    ours, theirs = Signature.read(filled), Signature.read(plain)
    assert ours is not None
    assert theirs is not None
    assert list(ours.differences(theirs, "err")) == ["fill"]


LOG = pd.DataFrame(
    {"topic": ["1"] * 3, "clicks": [[1], [2], []], "shown": ["u a v", "a v u", "b v u"], "count": [3, 2, 1]}
)


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_lists_of_clicks_are_filled_in_or_a_note_says_why_not() -> None:
    for measure, takes in (("err", True), ("ndcg", False)):
        filled, plain = (
            clicks.correlate(LOG, QRELS, measure, unjudged="keep", **fill) for fill in ({"fill": FILL}, {})
        )
        assert filled.frame.equals(plain.frame) != takes, measure
        assert ("fill: no measure here uses it" in "".join(map(str, filled.notes))) != takes, measure
    lists = clicks.correlate(LOG, QRELS, "err", unjudged="keep", fill=FILL).lists
    assert lists is not None
    assert lists["err"].tolist()[0] == pytest.approx(0.25 + 0.75 * 0.75 / 2 + 0.75 * 0.25 * 0.1234567 / 3, abs=1e-6)


def test_an_explanation_shows_filled_gains(tmp_path: Path, cli: Command) -> None:
    with pytest.warns(EvaluationWarning, match="stay unjudged in ndcg"):
        explanation = gradedeval.explain(RUN, QRELS, "err rbp ndcg", topic="1", fill=FILL)
    assert [(row.score, row.residual) for row in explanation.measures[:2]] == [
        (float(row.score), float(row.residual))
        for row in evaluate(RUN, QRELS, "err rbp", fill=FILL, residuals="total").frame.itertuples()
        if row.topic == "1"
    ]
    assert (explanation.retrieved, explanation.judged, explanation.filled, explanation.pool) == (4, 2, 2, 3)
    for explained in explanation.measures[:2]:
        rows = [row for row in explained.rows() if row["part"] == "document"]
        assert [row["docno"] for row in rows] == ["u", "a", "v", "b"]
        assert [row["grade"] for row in rows] == [None, 2, None, 0]
        assert [row["gain"] for row in rows][::2] == [0.25, 0.123457]
        assert [row["could_add"] for row in rows] == [None] * 4  # all are known
        assert sum(row["contribution"] for row in rows) == pytest.approx(explained.score, abs=1e-12)
    ndcg = [row for row in explanation.measures[2].rows() if row["docno"] in FILL["1"]]
    assert all(row["gain"] == 0 and row["could_add"] is not None for row in ndcg)
    (tmp_path / "run").write_text("1 Q0 u 1 4 t\n1 Q0 a 2 3 t\n1 Q0 v 3 2 t\n1 Q0 b 4 1 t\n")
    (tmp_path / "qrels").write_text("1 0 a 2\n1 0 b 0\n1 0 c 1\n")
    (tmp_path / "fill.csv").write_text("topic,docno,gain\n1,u,0.25\n1,v,0.1234567\n")
    done = cli("explain", "run", "qrels", "--fill", "fill.csv")
    assert done.text.startswith("topic 1 of run | 4 retrieved, 2 of them judged and 2 filled in | 3 judged in all\n")
    done = cli("explain", "run", "run", "qrels", "--fill", "fill.csv")
    assert "| 4 and 4 retrieved, 2 and 2 judged, 2 and 2 filled in | 3 judged in all " in done.words


def test_functions_of_pools_take_no_fill() -> None:
    with pytest.raises(InputError, match=r"^fill: pool does not take it; leave it out, or use evaluate"):
        gradedeval.pool([RUN], QRELS, fill=FILL)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fill": {"1": {"u": 1.5}}}, "fill: gain 1.5 of document 'u' of topic '1' is outside 0..1"),
        ({"fill": {"1": 0.5}}, "fill: topic '1' has no dict of gains, but 0.5; as in {'301': {'doc1': 0.5}}"),
        ({"fill": {"1": {"u": "x"}}}, "fill: gain 'x' of document 'u' of topic '1' is not a number"),
        ({"fill": pd.DataFrame({"topic": [1], "doc": ["u"]})}, "fill: no column 'docno'; expected the columns topic,"),
        (
            {"fill": pd.DataFrame({"topic": [1, 1], "docno": ["u", "u"], "gain": [0.1, 0.2]})},
            "fill: two gains of document 'u' of topic '1'; list each once",
        ),
        ({"fill": {}}, "fill: has no gains; expected lines of topic,docno,gain"),
        ({"fill": 3}, "fill: 3 is not a file, a dict or a DataFrame of gains"),
        ({"fill": FILL, "judged_only": True}, "fill: judged_only=True drops the documents that it fills"),
        ({"fill": FILL, "subtopics": True}, "fill: cannot be combined with subtopics=True"),
    ],
)
def test_bad_values_of_fill_are_refused(options: Any, message: str) -> None:
    qrels = {"1": {"a": {"1": 2}}} if "subtopics" in options else QRELS
    with pytest.raises(InputError) as caught:
        evaluate(RUN, qrels, "err", **options)
    assert message in str(caught.value)


def test_bad_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "fill.csv"
    for text, message in (
        ("topic,docno,gain\n1,u,2\n", "fill.csv:2: gain 2 is out of range; expected a number from 0 to 1"),
        ("1,u,.2\n1,u,.3\n", "fill.csv:2: duplicate docno 'u' of topic '1' (first on line 1); list each once"),
        ("1,u\n", "fill.csv:1: 2 fields, expected 3 (topic, docno, gain) or 4 (topic, docno, gain, seen)"),
    ):
        path.write_text(text)
        with pytest.raises(InputError) as caught:
            evaluate(RUN, QRELS, "err", fill=path)
        assert message in str(caught.value)


def test_topics_without_judgments_are_left_out_with_a_note() -> None:
    with pytest.warns(EvaluationWarning, match="fill: 1 of 3 documents is in an unjudged topic"):
        assert scores(TAKES, fill={**FILL, "9": {"u": 0.5}}) == scores(TAKES, fill=FILL)


def test_a_run_with_filled_documents_only_is_noted_as_without_judged_documents() -> None:
    run = {"1": {"u": 2.0, "v": 1.0}}
    with pytest.warns(EvaluationWarning) as plain:
        evaluate(run, QRELS, "err")
    with pytest.warns(EvaluationWarning) as filled:
        evaluate(run, QRELS, "err", fill=FILL)
    assert [str(warning.message) for warning in plain] == [str(warning.message) for warning in filled]


def test_evaluations_with_fill_do_not_change_qrels() -> None:
    qrels = Qrels(SAMPLES / "rivers.qrels")
    run = SAMPLES / "rivers-bm25.run"
    original = gradedeval.evaluate(run, qrels, "err@20 ap")
    filled = {decode(topic): {f"river-{number:04d}": 0.5 for number in range(0, 2000, 7)} for topic in qrels.topics}
    with pytest.warns(EvaluationWarning):
        gradedeval.evaluate(run, qrels, "err@20 ap", fill=filled)
    again = gradedeval.evaluate(run, qrels, "err@20 ap")
    assert again.frame.equals(original.frame)
    assert again.signature == original.signature
