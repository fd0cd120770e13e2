"""`--predicted` at the command line, and what does not know estimates: it is refused in a line, nowhere ignored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from support.commands import Command
from support.predicted import JUDGED, MACHINE, PEOPLE, RUNS, TRUTH, write_files

PAIR = {name: RUNS[name] for name in "ab"}
BOTH = {"predicted": MACHINE}


@pytest.fixture
def files(tmp_path: Path) -> None:
    write_files(tmp_path)


CALLS: dict[str, Callable[[], Any]] = {
    "explain": lambda: gradedeval.explain(RUNS["a"], PEOPLE, "ndcg@10", topic="t00", **BOTH),
    "diff": lambda: gradedeval.diff(RUNS["a"], RUNS["b"], PEOPLE, "ndcg@10", **BOTH),
    "agreement": lambda: gradedeval.agreement(PAIR, **BOTH),
    "pool": lambda: gradedeval.pool(RUNS, PEOPLE, **BOTH),
    "to_judge": lambda: gradedeval.to_judge(RUNS, PEOPLE, **BOTH),
    "leave_one_out": lambda: gradedeval.leave_one_out(RUNS, PEOPLE, "ndcg@10", **BOTH),
    "assessor_agreement": lambda: gradedeval.assessor_agreement(PEOPLE, TRUTH, runs=RUNS, measures="ap", **BOTH),
    "power": lambda: gradedeval.power(RUNS, PEOPLE, "ndcg@10", **BOTH),
    "plan_topics": lambda: gradedeval.plan_topics(RUNS, PEOPLE, "ndcg@10", **BOTH),
    "precision_recall": lambda: gradedeval.precision_recall(RUNS["a"], PEOPLE, **BOTH),
    "weights": lambda: gradedeval.weights("ap", RUNS["a"], PEOPLE, **BOTH),
    "fit": lambda: gradedeval.fit(RUNS, PEOPLE, "rbp(p=0.5..0.9)", to="ap", **BOTH),
    "informativeness": lambda: gradedeval.informativeness(RUNS, PEOPLE, "ap", **BOTH),
    "topic_differences": lambda: gradedeval.topic_differences(PAIR, PEOPLE, "ap", **BOTH),
    "anova": lambda: gradedeval.anova(RUNS, PEOPLE, "ap", **BOTH),
    "standardize": lambda: gradedeval.standardize(gradedeval.evaluate(RUNS, PEOPLE, "ap", **BOTH)),
}


HERE = {name: f"{name} does not take it" for name in CALLS} | {"standardize": "does not apply here"}


@pytest.mark.parametrize("name", CALLS)
def test_what_knows_no_estimates_refuses_them(name: str) -> None:
    with pytest.raises(gradedeval.InputError, match=rf"^predicted: {HERE[name]}; leave it out, or use eval"):
        CALLS[name]()


def test_scores_are_refused_as_well(tmp_path: Path) -> None:
    scores = gradedeval.evaluate(RUNS, PEOPLE, "ndcg@10", **BOTH)
    for call in (
        lambda: gradedeval.append_history(scores, str(tmp_path / "kept.jsonl")),
        lambda: gradedeval.power(scores),
    ):
        with pytest.raises(
            gradedeval.InputError, match="estimates from people's judgments and a machine's are not known"
        ):
            call()


EVAL = ("a.run", "people.qrels", "--predicted", "machine.qrels", "-m", "ndcg@10")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("--fill gains.csv", "--predicted: cannot be combined with --fill; leave out one of them"),
        ("--unseen 3", "--predicted: cannot be combined with --unseen; leave out one of them"),
        ("--judged-only", "--predicted: cannot be combined with --judged-only; leave out one of them"),
        ("--residuals", "--predicted: cannot be combined with --residuals; leave out one of them"),
        ("--bounds", "--predicted: cannot be combined with --bounds; leave out one of them"),
        ("--cwl", "--predicted: cannot be combined with --cwl; leave out one of them"),
        ("--standardize", "--predicted: cannot be combined with --standardize; leave out one of them"),
        ("--history kept.jsonl", "--predicted: cannot be combined with --history; leave out one of them"),
        ("--topics relevant", "--predicted: cannot be combined with --topics relevant; --topics qrels, the default"),
    ],
)
def test_options_that_do_not_go_with_it(more: str, message: str, cli: Command, files: None, tmp_path: Path) -> None:
    (tmp_path / "gains.csv").write_text("topic,docno,gain\nt00,d99,0.5\n")
    done = cli(*EVAL[:4], *more.split())
    assert (done.code, done.out) == (2, b"")
    assert message in done.err.decode()
    assert "\n" not in done.err.decode().strip()
    assert not (tmp_path / "kept.jsonl").exists()


def _write(path: Path, qrels: dict[str, dict[str, Any]]) -> None:
    path.write_text(
        "".join(f"{topic} 0 {docno} {grade}\n" for topic, own in qrels.items() for docno, grade in own.items())
    )


@pytest.mark.parametrize(
    ("machine", "measure", "message"),
    [
        ({"x": {"d00": 3}}, "ndcg@10", "machine.qrels: has none of the 20 topics of people.qrels; --predicted needs"),
        ({topic: MACHINE[topic] for topic in JUDGED[:4]}, "ndcg@10",
         "machine.qrels: has 4 topics of people.qrels, too few for an interval; have people judge 5 or more"),
        ({topic: MACHINE[topic] for topic in JUDGED}, "ndcg@10",
         "machine.qrels: has no other topic than people.qrels; leave out --predicted"),
        ({topic: MACHINE[topic] for topic in [*JUDGED, "t01"]}, "ndcg@10",
         "machine.qrels: has only one other topic than people.qrels; have the machine judge two more"),
        ({topic: {docno: min(grade, 1) for docno, grade in own.items()} for topic, own in MACHINE.items()}, "ndcg@10",
         "machine.qrels: has grades up to 1, and people.qrels up to 3; give both one scale, as --labels yes=3"),
        ({topic: {docno: 0.5 * grade for docno, grade in own.items()} for topic, own in MACHINE.items()}, "ap p@10",
         "machine.qrels: has grades such as 1.5, and ap, p@10 know only relevant or not; take graded measures"),
    ],
)  # fmt: skip
def test_judgments_that_do_not_go_together(
    machine: Any, measure: str, message: str, cli: Command, files: None, tmp_path: Path
) -> None:
    _write(tmp_path / "machine.qrels", machine)
    done = cli(*EVAL[:4], "-m", measure)
    assert (done.code, done.out) == (1, b"")
    assert message in done.err.decode()
    assert "\n" not in done.err.decode().strip()


def test_words_have_grades_by_labels(cli: Command, files: None, tmp_path: Path) -> None:
    """People's are numbers, the machine's are words."""
    yes = {topic: {docno: int(grade > 0) for docno, grade in own.items()} for topic, own in PEOPLE.items()}
    words = {topic: {docno: "yes" if grade else "no" for docno, grade in own.items()} for topic, own in MACHINE.items()}
    _write(tmp_path / "people.qrels", yes)
    _write(tmp_path / "machine.qrels", words)
    done = cli(*EVAL)
    assert done.code == 1
    done = cli(*EVAL, "--labels", "yes=1,no=0,1=1,0=0", "-f", "csv")
    assert done.code == 0, done.err


def test_what_is_told_of_the_topics(cli: Command, files: None, tmp_path: Path) -> None:
    people = {topic: PEOPLE[topic] for topic in JUDGED[:8]}
    _write(tmp_path / "people.qrels", people | {"u": {"d00": 1}})
    done = cli(*EVAL)
    assert done.code == 0
    said = done.err.decode()
    assert "8 topics that people judged: intervals are only rough guides; have 15 or more judged" in said
    assert "machine.qrels: 1 of 9 topics of people.qrels is not in it, and left out (u)" in said
    done = cli("compare", "b.run", *EVAL)
    assert "machine.qrels: 1 of 9 topics of people.qrels is not in it, and left out (u)" in done.err.decode()
    assert "not every run is scored" not in done.err.decode()
    scores = gradedeval.evaluate(RUNS["a"], MACHINE, "ndcg@10").by_topic("ndcg@10")
    lowest = sorted(MACHINE, key=scores.__getitem__)[:18]
    _write(tmp_path / "people.qrels", {topic: TRUTH[topic] for topic in lowest})
    said = cli(*EVAL).err.decode()
    assert "the topics that people judged are not a random sample: their ndcg@10 is 0." in said
    assert "estimates are biased unless topics are drawn at random" in said


def test_agreement_on_few_topics_says_why_nothing_is_saved(cli: Command, files: None, tmp_path: Path) -> None:
    _write(tmp_path / "people.qrels", {topic: PEOPLE[topic] for topic in JUDGED[:4]})
    text = cli("pool", "a.run", "b.run", "people.qrels", "--agreement", "machine.qrels", "-m", "ndcg@10").text
    said = "would save is not known: 4 topics are judged in both, and prediction-powered inference needs 5"
    assert said in " ".join(text.split())
    assert "interval of" not in text


def test_a_table_of_estimates_to_publish(cli: Command, files: None) -> None:
    words = (*EVAL[:1], "b.run", *EVAL[1:], "-m", "num_rel_ret ap", "--best", "--percent")
    done = cli(*words, "--baseline", "a.run")
    assert done.err.startswith(b"--predicted: cannot be combined with marks in tables, which are of scores by topic")
    latex = cli(*words, "--caption", "Estimates", "-f", "latex").text
    assert r"\caption{Estimates}" in latex
    plain, percent = (cli(*one, "-f", "html").text for one in (words[:-1], words))
    assert plain.count("<strong>") == percent.count("<strong>") >= 2
    assert "of each measure" in percent
    assert "20 judged topics" in percent
    rows = gradedeval.evaluate(PAIR, PEOPLE, "ap num_rel_ret", predicted=MACHINE).frame.query("topic == 'all'")
    of_run = rows[rows["run"] == "a"].set_index("measure")
    assert f"{100 * of_run.loc['ap', 'score']:.2f}" in percent
    assert f"{of_run.loc['num_rel_ret', 'score']:.2f}" in percent
    assert f">{of_run.loc['ap', 'lambda_']:.2f}<" in percent
