"""`--predicted`: differences estimated from people's judgments and a machine's; messages; refusals of commands
without estimates."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval.kernel.scoring.predicted import by_people, estimate, saved
from support.commands import Command, Outcome, succeed
from support.predicted import JUDGED, MACHINE, OTHERS, PEOPLE, RUNS, TOPICS, TRUTH, write_files
from support.results import calls_on
from support.runs import write_qrels, write_run

PAIR = {name: RUNS[name] for name in "ab"}
BOTH = {"predicted": MACHINE}
EVAL = ("a.run", "people.qrels", "--predicted", "machine.qrels", "-m", "ndcg@10")
COMPARE = ("compare", "a.run", "b.run", *EVAL[1:])


@pytest.fixture
def files(tmp_path: Path) -> None:
    write_files(tmp_path)


def _refused(outcome: Outcome, code: int, message: str) -> None:
    assert (outcome.code, outcome.out, len(outcome.messages)) == (code, b"", 1)
    assert message in outcome.messages[0]


def _compared(measures: str = "ndcg@10", runs: Any = RUNS, **options: Any) -> Any:
    return gradedeval.compare(runs, PEOPLE, measures, **BOTH, **options)


def _differences(measure: str, first: str, second: str) -> list[np.ndarray]:
    """Return the tested differences of judged topics by people and by the machine, and of the others by the machine."""
    parts = []
    for qrels, topics in ((PEOPLE, JUDGED), (MACHINE, JUDGED), (MACHINE, OTHERS)):
        runs = {name: {topic: RUNS[name][topic] for topic in qrels} for name in (first, second)}
        scores = gradedeval.evaluate(runs, qrels, measure)
        (reading,) = (measure_scores.reading for measure_scores in scores.measures)
        by_topic = scores.frame.pivot(index="topic", columns="run", values="score").loc[topics]
        values = reading.tested(by_topic.to_numpy(dtype=float).T)
        parts.append(np.array([values[1] - values[0]]))
    return parts


@pytest.mark.parametrize("measure", ["ndcg@10", "err@20", "gm_ap", "num_rel_ret"])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_difference_is_estimated_from_the_differences_by_topic(measure: str, alpha: float) -> None:
    row = _compared(measure, PAIR, alpha=alpha).frame.iloc[0]
    human, machine, others = _differences(measure, "a", "b")
    both, alone = estimate(human, machine, others, alpha), by_people(human, alpha)
    times = 40 if measure == "num_rel_ret" else 1
    power = np.exp if measure == "gm_ap" else lambda value: times * value
    ends = [power(float(value[0])) for value in (both.low, both.high, alone.low, alone.high)]
    assert row[["low", "high", "people_low", "people_high"]].tolist() == pytest.approx(ends)
    narrower, fold = saved(alone, both)
    assert row[["p", "lambda_", "narrower", "times"]].tolist() == pytest.approx(
        [both.p[0], both.power[0], narrower[0], fold[0]]
    )
    assert (row["topics"], row["others"]) == (20, 20)
    means = {run: gradedeval.evaluate(RUNS[run], PEOPLE, measure, predicted=MACHINE)[measure] for run in "ab"}
    assert row[["mean", "baseline_mean"]].tolist() == pytest.approx([means["b"], means["a"]])
    difference = means["b"] - means["a"] if measure == "gm_ap" else power(float(both.mean[0]))
    assert row["difference"] == pytest.approx(difference)


def test_p_is_corrected_over_pairs() -> None:
    comparison = _compared(all_pairs=True)
    p = np.sort(comparison.frame["p"].to_numpy())
    corrected = np.minimum(np.maximum.accumulate(p * [3, 2, 1]), 1)
    assert np.sort(comparison.frame["p_corrected"].to_numpy()) == pytest.approx(corrected)
    assert "prediction-powered" in comparison.frame.attrs["test"]
    assert "holm over 3 pairs" in comparison.frame.attrs["test"]
    assert "20 judged and 20 other topics" in comparison.signature
    assert "95% interval" not in comparison.signature  # the level is that of alpha
    alone = _compared(all_pairs=True, correction="none").frame
    assert (alone["p"] == alone["p_corrected"]).all()


def test_other_columns_are_from_people_alone() -> None:
    frame = _compared().frame
    runs = {name: {topic: run[topic] for topic in JUDGED} for name, run in RUNS.items()}
    people = gradedeval.compare(runs, PEOPLE, "ndcg@10", judging=False).frame
    same = ["wins", "ties", "losses", "effect"]
    assert (frame[same] == people[same]).to_numpy().all()
    assert frame["people"].to_numpy() == pytest.approx(people["difference"].to_numpy())
    assert list(frame.columns)[-1] == "tested"
    assert not {"lowest", "highest", "same_order"} & set(frame.columns)


def test_equal_runs_have_p_1() -> None:
    row = _compared(runs={"a": RUNS["a"], "b": RUNS["a"]}).frame.iloc[0]
    assert (row["difference"], row["p"], row["low"], row["high"]) == (0, 1, 0, 0)
    assert pd.isna(row["narrower"])


def test_an_equal_difference_on_all_topics_has_no_p(cli: Command, files: None) -> None:
    short = {"d00": 2.0, "d01": 1.0}
    for name, ranking in (("short.run", short), ("long.run", short | {"d02": 0.5})):
        write_run(Path(name), dict.fromkeys(TOPICS, ranking))
    outcome = succeed(cli("compare", "long.run", "short.run", *EVAL[1:4], "-m", "num_ret", "--wide"))
    assert b"no p for 1 pair with the same difference on all topics" in outcome.err
    assert re.search(r"— +0\.0000 +-40\.0000 to -40\.0000", outcome.out.decode())


@pytest.mark.filterwarnings("ignore:.*only rough guides:gradedeval.EvaluationWarning")
def test_slices_are_estimated_one_by_one() -> None:
    labels = {topic: "first" if number < 24 else "rest" for number, topic in enumerate(TOPICS)}
    labels |= dict.fromkeys(TOPICS[-6:], "few")
    with pytest.warns(gradedeval.EvaluationWarning, match="part=few: fewer than 5 topics that people judged"):
        comparison = _compared(runs=PAIR, slices={"part": labels})
    rows = comparison.slices.set_index("label")
    first = [topic for topic in TOPICS if labels[topic] == "first"]
    runs = {name: {topic: RUNS[name][topic] for topic in first} for name in "ab"}
    people, machine = (
        {topic: judgments[topic] for topic in first if topic in judgments} for judgments in (PEOPLE, MACHINE)
    )
    with pytest.warns(gradedeval.EvaluationWarning, match="12 topics that people judged"):
        alone = gradedeval.compare(runs, people, "ndcg@10", predicted=machine).frame.iloc[0]
    same = ["difference", "mean", "low", "high", "p", "lambda_"]
    assert rows.loc["first", same].tolist() == pytest.approx(alone[same].tolist())
    assert (rows.loc[["first", "rest"], "p_corrected"] >= rows.loc[["first", "rest"], "p"]).all()
    assert rows["p_between"].isna().all()
    assert rows.loc["few", ["difference", "p", "low", "high"]].isna().all()
    assert "few" in " ".join(comparison.slice_settings)


def test_seeds_are_compared_by_their_means() -> None:
    runs = {"a1": RUNS["a"], "a2": RUNS["b"], "c1": RUNS["c"], "c2": RUNS["c"]}
    row = _compared(runs=runs, replicates={"a": ["a1", "a2"], "c": ["c1", "c2"]}).frame.iloc[0]
    parts = [(first + second) / 2 for first, second in zip(
        _differences("ndcg@10", "a", "c"), _differences("ndcg@10", "b", "c"), strict=True)]  # fmt: skip
    both = estimate(*parts, 0.05)
    assert (row["run"], row["baseline"]) == ("c", "a")
    assert row[["difference", "p"]].tolist() == pytest.approx([both.mean[0], both.p[0]])


def test_estimated_scores_are_compared() -> None:
    scores = gradedeval.evaluate(RUNS, PEOPLE, "ndcg@10", predicted=MACHINE)
    pd.testing.assert_frame_equal(gradedeval.compare(scores).frame, _compared().frame)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _compared(test="t"), "t compares scores by topic, and estimates have a test of their own"),
        (lambda: _compared(baseline=gradedeval.evaluate({"x": {t: RUNS["a"][t] for t in JUDGED}}, PEOPLE, "ndcg@10")),
         "saved scores have no judgments by a machine"),
        (lambda: _compared(judged_only=True), "cannot be combined with judged_only=True"),
        (lambda: gradedeval.evaluate(RUNS, PEOPLE, "ndcg@10", predicted=PEOPLE, fill={"t00": {"d99": 0.5}}),
         "cannot be combined with fill"),
    ],
)  # fmt: skip
def test_incompatible_options_are_refused(call: Any, message: str) -> None:
    with pytest.raises(gradedeval.InputError, match=message):
        call()


def test_the_table_gives_the_savings_of_the_machine(cli: Command, files: None) -> None:
    outcome = cli(*COMPARE, "-m", "gm_ap")
    assert (outcome.code, outcome.err) == (0, b"")
    head, _, *rows = outcome.out.decode().split("\n")
    assert head.split() == ["measure", "run", "mean", "difference", "p", "±", "people", "λ", "saves"]
    assert max(map(len, outcome.out.decode().split("\n"))) <= 100
    assert max(map(len, [head, *rows[:4]])) <= 80
    assert re.search(
        r"gm_ap +b\.run +0\.\d{4} +\+0\.\d{4} +.*×1\.\d\d +\+0\.\d{4} +\d\.\d\d +-?\d+%, ×\d", "\n".join(rows)
    )
    wide = cli(*COMPARE, "--wide").out.decode()
    assert "95% interval" in wide
    assert "won/tied/lost (people)" in wide
    assert "effect (people)" in wide
    assert "machine" in wide
    csv = cli(*COMPARE, "-f", "csv").out.decode().split("\n")[0].split(",")
    assert csv[csv.index("people") : csv.index("people") + 7] == [
        "people", "people_low", "people_high", "machine", "lambda_", "narrower", "times"
    ]  # fmt: skip


TOGETHER = "--predicted: cannot be combined with {0}; leave out one of them"
JUDGING = "--predicted: effects of judging on estimates are unknown; leave out --judging and --unseen"


@pytest.mark.parametrize(
    ("command", "option", "message"),
    [
        *((EVAL[:4], more, TOGETHER) for more in ("--fill gains.csv", "--unseen 3", "--judged-only", "--residuals",
          "--bounds", "--cwl", "--standardize", "--history kept.jsonl")),
        (EVAL[:4], "--topics relevant", "--predicted: cannot be combined with --topics relevant; --topics qrels, the"),
        *((COMPARE, more, JUDGING) for more in ("--judging", "--unseen 3")),
        *((COMPARE, more, "--predicted: ") for more in ("--letters", "-q")),
        (COMPARE, "--standardize", TOGETHER),
        (COMPARE, "--test wilcoxon", "--test: wilcoxon compares scores by topic"),
        (COMPARE, "--topics both", "--predicted: cannot be combined with --topics both"),
    ],
)  # fmt: skip
def test_options_incompatible_with_predicted_are_refused(
    command: tuple[str, ...], option: str, message: str, cli: Command, files: None, tmp_path: Path
) -> None:
    (tmp_path / "gains.csv").write_text("topic,docno,gain\nt00,d99,0.5\n")
    _refused(cli(*command, *option.split()), 2, message.format(option.split()[0]))
    assert not (tmp_path / "kept.jsonl").exists()


def test_estimates_that_were_saved_are_not_compared(cli: Command, files: None) -> None:
    assert cli("b.run", *EVAL, "-q", "-o", "saved.csv").code == 0
    message = "saved.csv: holds estimates by --predicted, which cannot be compared once they are saved"
    _refused(cli("compare", "--from-scores", "saved.csv"), 1, message)
    assert cli(*EVAL[:2], "-m", "ndcg@10", "-q", "-o", "plain.csv").code == 0
    outcome = cli("compare", "b.run", *EVAL, "--baseline", "plain.csv")
    assert b"--baseline: saved scores have no judgments by a machine; give the baseline as a run" in outcome.err


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
        ({topic: {docno: min(grade, 1) for docno, grade in rated.items()} for topic, rated in MACHINE.items()},
         "ndcg@10",
         "machine.qrels: has grades up to 1, and people.qrels up to 3; give both one scale, as --labels yes=3"),
        ({topic: {docno: 0.5 * grade for docno, grade in rated.items()} for topic, rated in MACHINE.items()},
         "ap p@10",
         "machine.qrels: has grades such as 1.5, and ap, p@10 know only relevant or not; take graded measures"),
    ],
)  # fmt: skip
def test_unlike_judgments_are_refused(
    machine: Any, measure: str, message: str, cli: Command, files: None, tmp_path: Path
) -> None:
    write_qrels(tmp_path / "machine.qrels", machine)
    _refused(cli(*EVAL[:4], "-m", measure), 1, message)


def test_words_have_grades_by_labels(cli: Command, files: None, tmp_path: Path) -> None:
    """Check people's numbers against the machine's words."""
    yes = {topic: {docno: int(grade > 0) for docno, grade in judged.items()} for topic, judged in PEOPLE.items()}
    words = {
        topic: {docno: "yes" if grade else "no" for docno, grade in judged.items()} for topic, judged in MACHINE.items()
    }
    write_qrels(tmp_path / "people.qrels", yes)
    write_qrels(tmp_path / "machine.qrels", words)
    outcome = cli(*EVAL)
    assert outcome.code == 1
    outcome = succeed(cli(*EVAL, "--labels", "yes=1,no=0,1=1,0=0", "-f", "csv"))


def test_notes_about_the_topics(cli: Command, files: None, tmp_path: Path) -> None:
    people = {topic: PEOPLE[topic] for topic in JUDGED[:8]}
    write_qrels(tmp_path / "people.qrels", people | {"u": {"d00": 1}})
    outcome = succeed(cli(*EVAL))
    printed = outcome.err.decode()
    assert "8 topics that people judged: intervals are only rough guides; have 15 or more judged" in printed
    assert "machine.qrels: 1 of 9 topics of people.qrels is not in it, and left out (u)" in printed
    outcome = cli("compare", "b.run", *EVAL)
    assert "machine.qrels: 1 of 9 topics of people.qrels is not in it, and left out (u)" in outcome.err.decode()
    assert "not every run is scored" not in outcome.err.decode()
    scores = gradedeval.evaluate(RUNS["a"], MACHINE, "ndcg@10").by_topic("ndcg@10")
    lowest = sorted(MACHINE, key=scores.__getitem__)[:18]
    write_qrels(tmp_path / "people.qrels", {topic: TRUTH[topic] for topic in lowest})
    printed = cli(*EVAL).err.decode()
    assert "topics that people judged are no random sample: their ndcg@10 is 0." in printed
    assert "estimates are biased unless drawn at random" in printed


def test_agreement_on_few_topics_explains_missing_savings(cli: Command, files: None, tmp_path: Path) -> None:
    write_qrels(tmp_path / "people.qrels", {topic: PEOPLE[topic] for topic in JUDGED[:4]})
    text = cli("agreement", "people.qrels", "machine.qrels", "a.run", "b.run", "-m", "ndcg@10").text
    message = "judgments are unknown: 4 topics are judged in both, and prediction-powered inference needs 5"
    assert message in " ".join(text.split())
    assert "interval of" not in text


def test_a_table_of_estimates_to_publish(cli: Command, files: None) -> None:
    words = ("a.run", "b.run", *EVAL[1:], "-m", "num_rel_ret ap", "--best", "--percent")
    outcome = cli(*words, "--baseline", "a.run")
    assert outcome.err.startswith(b"--predicted: cannot be combined with --baseline: its marks compare scores by topic")
    latex = cli(*words, "--caption", "Estimates", "-f", "latex").text
    assert r"\caption{Estimates}" in latex
    plain, percent = (cli(*arguments, "-f", "html").text for arguments in (words[:-1], words))
    assert plain.count("<strong>") == percent.count("<strong>") >= 2
    assert "of each measure" in percent
    assert "20 judged topics" in percent
    rows = gradedeval.evaluate(PAIR, PEOPLE, "ap num_rel_ret", predicted=MACHINE).frame.query("topic == 'all'")
    of_run = rows[rows["run"] == "a"].set_index("measure")
    assert f"{100 * of_run.loc['ap', 'score']:.2f}" in percent
    assert f"{of_run.loc['num_rel_ret', 'score']:.2f}" in percent
    assert f">{of_run.loc['ap', 'lambda_']:.2f}<" in percent


CALLS = calls_on(RUNS, PEOPLE) | {"weights": partial(gradedeval.weights, "ap", RUNS["a"], PEOPLE)}
SUPPORTED = {"check", "compare", "evaluate", "evaluate_arrays", "fit_weights", "reproduction", "run_summaries"}
"""Functions that take estimates, or take no options of an evaluation."""
REFUSED = {name: f"{name} does not take it" for name in CALLS.keys() - SUPPORTED} | {
    "standardize": "does not apply here"
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_commands_without_estimates_refuse_predicted(name: str) -> None:
    with pytest.raises(gradedeval.InputError, match=rf"^predicted: {REFUSED[name]}; leave it out, or use eval"):
        CALLS[name](**BOTH)


def test_scores_are_refused(tmp_path: Path) -> None:
    scores = gradedeval.evaluate(RUNS, PEOPLE, "ndcg@10", **BOTH)
    for call in (
        lambda: gradedeval.append_history(scores, str(tmp_path / "kept.jsonl")),
        lambda: gradedeval.power(scores),
    ):
        with pytest.raises(
            gradedeval.InputError, match="estimates from people's judgments and a machine's are not known"
        ):
            call()
