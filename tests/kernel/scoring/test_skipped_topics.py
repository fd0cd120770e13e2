"""Measures that skip topics, such as `silence`: skipped topics are blank, and left out of means."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import MEASURES, EvaluationWarning, InputError
from gradedeval.kernel import parallel
from support.commands import Command

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")

SKIPPING = [name for name, measure in MEASURES.items() if measure.definition.may_skip]

# Topics 2 to 5 have no relevant document; 2 is not in the run, 3 gets little.
RUN = {"1": {"a": 0.9, "b": 0.8}, "3": {"a": 0.25}, "4": {"a": 0.5, "c": 0.75}, "5": {"a": 0.5}, "6": {"z": 0.9}}
QRELS = {"1": {"a": 0, "b": 1}, "2": {"a": 0}, "3": {"b": 0}, "4": {"c": 0}, "5": {"a": -1}, "6": {"a": 1}}
LINES = "".join(f"{topic} Q0 {docno} 1 {score} x\n" for topic, docs in RUN.items() for docno, score in docs.items())
JUDGED = "".join(f"{topic} 0 {docno} {grade}\n" for topic, docs in QRELS.items() for docno, grade in docs.items())
WORKED: dict[str, dict[str, float]] = {
    "silence": {"2": 1, "3": 0, "4": 0, "5": 0},
    "silence(min=0.5)": {"2": 1, "3": 1, "4": 0, "5": 0},
    "silence(min=0.6)": {"2": 1, "3": 1, "4": 0, "5": 1},
    "silence(rel=2)": {"1": 0, "2": 1, "3": 0, "4": 0, "5": 0, "6": 0},
    "rank1": {"1": 2},
    "rank1@1": {},
}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "a.run").write_text(LINES)
    (tmp_path / "q.qrels").write_text(JUDGED)
    return str(tmp_path / "a.run"), str(tmp_path / "q.qrels")


def test_each_measure_that_skips_topics_is_worked_by_hand() -> None:
    assert set(SKIPPING) == {name.partition("(")[0].partition("@")[0] for name in WORKED} == {"silence", "rank1"}


@pytest.mark.parametrize(("measure", "expected"), WORKED.items())
def test_skipped_topics_are_blank_and_left_out_of_means(measure: str, expected: dict[str, float]) -> None:
    interleaved = "".join(sorted(LINES.splitlines(keepends=True), key=lambda line: line.split()[4]))
    for run in (RUN, io.StringIO(LINES), io.StringIO(interleaved), [(t, d, s) for t in RUN for d, s in RUN[t].items()]):
        scores = gradedeval.evaluate(run, QRELS, f"{measure} ap")
        assert scores.by_topic(measure) == expected
        assert scores.means[measure] == (sum(expected.values()) / len(expected) if expected else None)
        summary = scores.frame.query("topic == 'all'").set_index("measure")["topics"]
        assert summary.to_dict() == {measure: len(expected), "ap": 6}


@pytest.mark.parametrize(
    ("topics", "expected"), [("both", 0), ("run", 0), ("relevant", None), ("qrels", 1 / 4)], ids=str
)
def test_topics_are_chosen_before_topics_are_skipped(topics: Any, expected: float | None) -> None:
    assert gradedeval.evaluate(RUN, QRELS, "silence", topics=topics).means["silence"] == expected


def test_the_highest_score_survives_batches_depth_and_orders_of_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    run = {f"{topic}.{n}": docs for topic, docs in RUN.items() for n in range(40)}
    qrels = {f"{topic}.{n}": docs for topic, docs in QRELS.items() for n in range(40)}
    text = "".join(f"{topic} Q0 {docno} 1 {score} x\n" for topic in run for docno, score in run[topic].items())
    measure = "silence(min=0.6)"
    expected = {f"{topic}.{n}": score for topic, score in WORKED[measure].items() for n in range(40)}
    monkeypatch.setattr(parallel, "LIMITS", parallel.Limits(cells=8, block=200))
    for options in ({}, {"depth": 1}, {"order": "float32"}, {"ties": "average"}, {"like": "ir_measures"}):
        for source in (run, io.StringIO(text)):
            assert gradedeval.evaluate(source, qrels, measure, **options).by_topic(measure) == expected  # type: ignore[arg-type]
    dropped = gradedeval.evaluate(RUN, QRELS, measure, judged_only=True)
    assert dropped.by_topic(measure) == {"2": 1, "3": 1, "4": 0, "5": 1}


def test_a_run_without_scores_has_no_silence_with_min(tmp_path: Path) -> None:
    ranked = tmp_path / "ranks.csv"
    ranked.write_text("topic,docno,rank\n1,a,1\n3,a,1\n")
    listed = tmp_path / "lists.json"
    listed.write_text(json.dumps([{"id": "1", "retrieved": ["a"]}, {"id": "3", "retrieved": ["a", "b"]}]))
    for run in (str(ranked), str(listed)):
        assert gradedeval.evaluate(run, QRELS, "silence").means["silence"] == 3 / 4
        with pytest.raises(InputError, match="has no scores; silence"):
            gradedeval.evaluate(run, QRELS, "silence(min=0.5)")
    for order in ("rank", "file"):
        with pytest.raises(InputError, match="ignores the scores that silence"):
            gradedeval.evaluate(io.StringIO(LINES), QRELS, "silence(min=0.5)", order=order)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown here; leave out min"):
        gradedeval.evaluate(RUN, QRELS, "silence(min=0.5,judged_only=True)")
    with pytest.raises(InputError, match=r"min=low is not a number; as in min=0.5"):
        gradedeval.parse_measures("silence(min=low)")


def test_a_note_on_topics_without_relevant_documents_names_silence(files: tuple[str, str], cli: Command) -> None:
    with pytest.warns(EvaluationWarning, match=r'topics="relevant", or score them with measures="silence"'):
        gradedeval.evaluate(RUN, QRELS, "ap")
    hint = "exclude them with --topics relevant, or score them with -m silence"
    assert any(hint in message for message in cli(*files, "-m", "ap").messages)
    assert hint in cli("lint", *files).out.decode().replace("\n", " ").replace("           ", "")
    both = [message for message in cli(*files, "-m", "ap silence").messages if "no relevant" in message]
    assert [message.partition("; ")[2] for message in both] == ["exclude them with --topics relevant"]


def test_commands_take_the_topics_that_are_scored(files: tuple[str, str], cli: Command, tmp_path: Path) -> None:
    run, qrels = files
    quiet = tmp_path / "b.run"
    quiet.write_text("".join(line for line in LINES.splitlines(keepends=True) if line[0] not in "345"))
    compared = gradedeval.compare([run, str(quiet)], qrels, "silence").frame
    assert compared[["mean", "difference"]].to_numpy().tolist() == [[1.0, 0.75]]
    alone = cli("compare", run, str(quiet), qrels, "-m", "rank1")
    assert (alone.code, "a test needs two" in alone.messages[-1]) == (1, True)
    checked = cli("check", run, qrels, "--min", "silence=0.5", "--max", "rank1=2")
    assert checked.code == 1
    assert "silence" in checked.out.decode()
    assert cli("check", str(quiet), qrels, "--min", "silence=1").code == 0
    saved = tmp_path / "saved.csv"
    saved.write_bytes(cli(run, qrels, "-q", "-f", "csv", "-m", "silence rank1").out)
    again = cli("check", str(quiet), qrels, "--baseline", str(saved), "--max-drop", "silence=0%")
    assert (again.code, "on 4 of 6 topics" in again.out.decode()) == (0, True)
    table = cli(run, qrels, "-m", "silence rank1 ap").out.decode()
    assert [line.split() for line in table.splitlines()[2:5]] == [
        ["silence", "0.2500", "4"],
        ["rank1", "2.0000", "1"],
        ["ap", "0.0833", "6"],
    ]


@pytest.mark.parametrize("name", SKIPPING)
def test_meaningless_options_are_refused(name: str, files: tuple[str, str], cli: Command) -> None:
    for command in (("explain", *files, "1"), ("weights",)):
        refused = cli(*command, "-m", name)
        assert refused.code == 2
        assert name in refused.messages[-1]
    with pytest.raises(InputError, match=f"{name} scores some topics only: it has no mean over intents"):
        gradedeval.parse_measures(f"ia({name})")
    with pytest.warns(EvaluationWarning, match="no measure here uses it"):
        gradedeval.evaluate(RUN, QRELS, name, residuals=True)


def test_runs_that_skip_different_topics_are_noted() -> None:
    better = {**RUN, "6": {"a": 1.0}}
    with pytest.warns(EvaluationWarning, match="rank1: the means are over different topics for different runs"):
        gradedeval.evaluate({"a": RUN, "b": better}, QRELS, "rank1 ap")
    notes = gradedeval.evaluate({"a": RUN, "b": better}, QRELS, "silence ap").notes
    assert not any("different topics" in note for note in notes)
