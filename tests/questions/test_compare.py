"""`compare`: pairs of runs, inconclusive differences, baselines from any source, and saved scores."""

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval import EvaluationWarning
from gradedeval.analysis.reversals import COLUMNS
from gradedeval.analysis.saved_scores import holds_scores
from gradedeval.analysis.score_matrix import join_matrices, to_matrix
from support.commands import Command, Outcome, succeed, without_flips
from support.commands import rows as csv_rows
from support.paths import SAMPLES

RIVERS = [str(SAMPLES / f"rivers{name}") for name in ("-bm25.run", "-neural.run", ".qrels")]

# Topic 1 to 4; a: relevant, b: not; u: unjudged.
QRELS = "".join(f"{topic} 0 a 1\n{topic} 0 b 0\n" for topic in range(1, 5))
RUNS = {
    "good.run": {"1": "a b", "2": "a b", "3": "a b", "4": "b a"},
    "fair.run": {"1": "a b", "2": "b a", "3": "b a", "4": "b a"},
    "hazy.run": {"1": "u a", "2": "u a", "3": "u b", "4": "b u"},
}


def lines(ranking: dict[str, str]) -> str:
    return "".join(
        f"{topic} Q0 {docno} {rank} {10 - rank} t\n"
        for topic, docnos in ranking.items()
        for rank, docno in enumerate(docnos.split(), 1)
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, ranking in RUNS.items():
        (tmp_path / name).write_text(lines(ranking))
    return tmp_path


def rows_of(outcome: Outcome) -> list[dict[str, str]]:
    assert outcome.code == 0, outcome.messages
    return csv_rows(outcome.text)


def compared(cli: Command, *words: str) -> list[dict[str, str]]:
    outcome = cli("compare", *words, "-m", "rr", "-f", "csv")
    return rows_of(replace(outcome, out=without_flips(outcome.text).encode()))


TWO = ("good.run", "fair.run", "qrels.txt")


def test_a_pair_by_hand(files: Path, cli: Command) -> None:
    (row,) = compared(cli, *TWO)
    # rr of good: 1 1 1 .5; of fair: 1 .5 .5 .5; differences of fair from good: 0 −.5 −.5 0
    expected = {"measure": "rr", "run": "fair.run", "baseline": "good.run", "topics": "4", "mean": "0.625"}
    expected |= {"baseline_mean": "0.875", "difference": "-0.25", "wins": "0", "ties": "2", "losses": "2"}
    assert expected.items() <= row.items()
    assert float(row["relative"]) == pytest.approx(-2 / 7)
    assert float(row["effect"]) == pytest.approx(-0.25 / np.std([0, -0.5, -0.5, 0], ddof=1))
    assert float(row["p"]) == 0.5  # 8 of 16 sign flips: the flips with the two signs alike
    assert row["same_order"] == "True"


def test_all_runs_are_compared_with_the_first_another_or_each_other(files: Path, cli: Command) -> None:
    pairs = [(row["baseline"], row["run"]) for row in compared(cli, *RUNS, "qrels.txt")]
    assert pairs == [("good.run", "fair.run"), ("good.run", "hazy.run")]
    pairs = [(row["baseline"], row["run"]) for row in compared(cli, *RUNS, "qrels.txt", "--all-pairs")]
    assert pairs == [("good.run", "fair.run"), ("good.run", "hazy.run"), ("fair.run", "hazy.run")]
    pairs = [(row["baseline"], row["run"]) for row in compared(cli, *RUNS, "qrels.txt", "--baseline", "fair.run")]
    assert pairs == [("fair.run", "good.run"), ("fair.run", "hazy.run")]


@pytest.mark.parametrize("baseline", ["good.run", "./good.run", "link.run"])
def test_a_run_given_as_baseline_and_as_run_counts_once(baseline: str, files: Path, cli: Command) -> None:
    (files / "link.run").symlink_to("good.run")
    rows = compared(cli, *TWO, "--baseline", baseline)
    assert [(row["baseline"], row["run"]) for row in rows] == [("good.run", "fair.run")]


def test_a_baseline_among_the_files_is_scored_with_the_runs(files: Path, cli: Command) -> None:
    inside = compared(cli, *TWO, "--baseline", "good.run")
    assert compared(cli, "fair.run", "qrels.txt", "--baseline", "good.run") == inside


def save(cli: Command, name: str, *words: str) -> None:
    assert cli(*words, "-q", "-m", "rr ap", "--residuals", "-o", name).code == 0


def test_a_baseline_of_saved_scores_gives_the_same(files: Path, cli: Command) -> None:
    save(cli, "main.csv", "good.run", "qrels.txt")
    inside = compared(cli, *TWO, "--baseline", "good.run")
    assert compared(cli, "fair.run", "qrels.txt", "--baseline", "main.csv") == inside
    save(cli, "both.csv", *TWO)
    assert compared(cli, "hazy.run", "qrels.txt", "--baseline", "both.csv:fair.run")[0]["baseline"] == "fair.run"
    messages = cli("compare", "hazy.run", "qrels.txt", "--baseline", "both.csv", "-m", "rr").messages
    assert messages == ["both.csv: 2 runs (good.run, fair.run); choose one: --baseline both.csv:good.run"]


def test_saved_scores_of_a_run_of_the_same_name_are_another_run(files: Path, cli: Command) -> None:
    save(cli, "main.csv", "good.run", "qrels.txt")
    (files / "good.run").write_text(lines(RUNS["fair.run"]))
    (row,) = compared(cli, "good.run", "qrels.txt", "--baseline", "main.csv")
    assert (row["run"], row["baseline"], row["difference"]) == ("good.run", "main.csv:good.run", "-0.25")


def test_saved_scores_stand_in_for_runs_and_qrels(files: Path, cli: Command) -> None:
    save(cli, "all.csv", *RUNS, "qrels.txt")
    inside = compared(cli, *RUNS, "qrels.txt", "--baseline", "fair.run")
    assert compared(cli, "--from-scores", "all.csv", "--baseline", "fair.run") == inside
    save(cli, "good.tsv", "good.run", "qrels.txt")
    save(cli, "fair.csv", "fair.run", "qrels.txt")
    assert compared(cli, "--from-scores", "good.tsv", "--from-scores", "fair.csv") == compared(cli, *TWO)
    for name in ("good.tsv", "fair.csv", "all.csv"):
        assert holds_scores(name)
    assert not holds_scores("good.run")


def test_differences_within_the_residual_of_the_trailing_run_are_unknown(files: Path, cli: Command) -> None:
    words = ("compare", "good.run", "hazy.run", "qrels.txt", "-m", "rr p@2 bpref", "-f", "csv")
    rows = {row["measure"]: row for row in rows_of(cli(*words))}
    # hazy's rr is .25 and could be .875: .5 more for topics 1 and 2, 1 for 3, .5 for 4; good's lead is .625.
    assert (rows["rr"]["difference"], rows["rr"]["same_order"]) == ("-0.625", "False")
    assert rows["bpref"]["same_order"] == ""
    table = cli(*words[:-2], "--judging").text.splitlines()
    orders = [line.split("  ")[-1].strip() for line in table[11:15]]
    # .625 of rr would be a tie; bpref has no bounds
    assert orders == ["could be tied", "reversed if 3 of 4 unjudged docs are", "relevant", "unknown"]


def test_a_larger_lead_is_conclusive_and_only_the_residual_of_the_lower_run_counts() -> None:
    judged_run = {"1": {"a": 2.0}, "2": {"a": 2.0}}
    hazy = {"1": {"u": 2.0, "a": 1.0}, "2": {"a": 1.0}}
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}}

    def conclusive(first: Any, second: Any) -> bool:
        scores = gradedeval.evaluate({"x": first, "y": second}, qrels, "rr", residuals=True)
        with pytest.warns(EvaluationWarning, match="rr: interval with no end at 95%: too few topics"):
            return bool(gradedeval.compare(scores)["same_order"][0])

    worst = {"1": {"b": 2.0}, "2": {"b": 2.0}}
    assert not conclusive(judged_run, hazy)  # .75 could be 1
    assert conclusive(worst, hazy)  # the worst could have .5 in each topic by its lower documents, and hazy has .75
    assert conclusive(hazy, worst)


@pytest.mark.filterwarnings("ignore:.*with no end:gradedeval.EvaluationWarning")
def test_topics_that_judging_could_add_are_noted() -> None:
    # Topic 3 is left out; with u relevant it is won by b, and the difference is −1/6, past its bounds.
    good, bad = {"x": 2.0, "y": 1.0}, {"y": 2.0, "x": 1.0}
    runs = {
        "a": {"1": good, "2": good, "3": {"n": 2.0, "u": 1.0}},
        "b": {"1": bad, "2": bad, "3": {"u": 2.0, "n": 1.0}},
    }
    qrels = {"1": {"x": 1, "y": 0}, "2": {"x": 1, "y": 0}, "3": {"n": 0}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)  # of the topic that is left out
        scores = gradedeval.evaluate(runs, qrels, "ap", residuals="total", topics="relevant")
    with pytest.warns(EvaluationWarning, match='topics="relevant" selects now; further judgments may add topics'):
        row = gradedeval.compare(scores, test="sign").frame.iloc[0]
    assert row[["difference", "lowest", "highest", "same_order"]].tolist() == [-0.5, -0.5, -0.5, True]


def test_only_topics_that_every_run_keeps_are_compared(files: Path, cli: Command) -> None:
    (files / "hazy.run").write_text(lines({**RUNS["hazy.run"], "3": "b u"}))
    succeed(cli(*RUNS, "qrels.txt", "-q", "-m", "rr p@1", "--max-residual", "0.3", "-o", "kept.csv"))
    outcome = cli("compare", "--from-scores", "kept.csv", "-f", "csv")
    assert {row["topics"] for row in rows_of(outcome) if row["measure"] == "p@1"} == {"2"}
    assert "p@1: 2 of 4 topics left out (1, 2): hazy.run is not scored on them (max residual 0.3)" in outcome.messages


def test_one_topic_is_not_tested(files: Path, cli: Command, tmp_path: Path) -> None:
    (files / "part.run").write_text(lines({"2": "a b"}))
    save(cli, "part.csv", "good.run", "part.run", "qrels.txt", "--topics", "both")
    problem = (
        "measure 'rr': both runs share a single topic (2), and a test needs two; compare runs with more "
        "topics in common"
    )
    for words in (("good.run", "part.run", "qrels.txt", "--topics", "both"), ("--from-scores", "part.csv")):
        for test in ("randomization", "t", "tukey-hsd"):
            outcome = cli("compare", *words, "-m", "rr", "--test", test)
            assert (outcome.code, outcome.out, outcome.messages[-1]) == (1, b"", problem)
    with pytest.raises(gradedeval.InputError, match="a test needs two"):
        gradedeval.compare("part.csv")


NOT_SIGNIFICANT = "so nothing is significant at 0.05; use"


def in_keywords(text: str) -> str:
    """Return a message of the command about too few draws as Python words it."""
    return re.sub(r"--draws (\d+)", r"draws=\1", text).replace("--test t", 'test="t"')


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("test", "correction", "draws", "problem"),
    [
        ("randomization", None, 59, None),  # 3/60 is .05
        ("randomization", None, 58, f"(0.05085 after holm over 3), {NOT_SIGNIFICANT} --draws 59 or more"),
        ("randomization", "bonferroni", 58, "after bonferroni over 3"),
        ("randomization", "none", 19, None),
        ("randomization", "none", 18, f"with 18 draws the smallest possible p is 0.053, {NOT_SIGNIFICANT} --draws 19"),
        ("randomization", "bh", 19, None),  # if all pairs differ none is corrected
        ("randomization", "bh", 18, "use --draws 19 or more, or --test t"),
        ("tukey-hsd", None, 18, "use --draws 19 or more, or --test t"),
        ("tukey-hsd", None, 19, None),
        ("bootstrap", None, 118, f"(0.05042 after holm over 3), {NOT_SIGNIFICANT} --draws 119"),
        ("t", None, 1, None),
        ("sign", None, 1, None),
    ],
)
def test_too_few_draws_are_noted(
    test: Any, correction: Any, draws: int, problem: str | None, files: Path, cli: Command
) -> None:
    qrels = {str(topic): {"a": 1, "b": 0} for topic in range(20)}
    runs = {f"r{place}": {topic: {"a": -place, "b": -1.5, "c": -2.5} for topic in qrels} for place in (1, 2, 3)}
    for run in runs.values():
        run["0"] = {"a": 1.0}
    scores = gradedeval.evaluate(runs, qrels, "rr")
    words: dict[str, Any] = {"test": test, "correction": correction, "draws": draws}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame = gradedeval.compare(scores, all_pairs=True, **words).frame
    # The runs differ by as much as they can: in every topic but one.
    assert (frame["p_corrected"] <= 0.05).any() == (problem is None)
    # With too few draws for a pair alone its interval has no end.
    messages = [str(warning.message) for warning in caught if "with no end at 95%" not in str(warning.message)]
    assert len(messages) == (problem is not None)
    assert problem is None or in_keywords(problem) in messages[0], messages
    scores.frame.to_csv(files / "s.csv", index=False)
    options = ("--test", test, "--draws", str(draws), *(("--correction", correction) if correction else ()))
    outcome = cli("compare", "--from-scores", "s.csv", "--all-pairs", *options)
    assert [in_keywords(line) for line in outcome.messages] == [str(warning.message) for warning in caught]


def test_runs_without_a_shared_topic_are_not_compared(files: Path, cli: Command) -> None:
    (files / "one.run").write_text(lines({"1": "a b"}))
    (files / "two.run").write_text(lines({"2": "a b"}))
    outcome = cli("compare", "one.run", "two.run", "qrels.txt", "-m", "rr", "--topics", "both")
    assert (outcome.code, outcome.out) == (1, b"")
    assert outcome.messages[-1] == (
        "measure 'rr': no topic that both runs are scored on; compare runs with topics in common"
    )


@pytest.mark.filterwarnings("ignore:the means are over different topics:gradedeval.EvaluationWarning")
def test_the_limit_is_named(files: Path) -> None:
    scores = gradedeval.evaluate([files / name for name in RUNS], files / "qrels.txt", "rr", max_residual=0.1)
    message = "measure 'rr': no topic that all 3 runs are scored on; compare fewer runs, or raise max_residual"
    with pytest.raises(gradedeval.InputError, match=f"^{re.escape(message)}$"):
        gradedeval.compare(scores)


def test_the_family_of_a_correction_is_the_pairs_of_one_measure(files: Path, cli: Command) -> None:
    words = ("compare", *RUNS, "qrels.txt", "-m", "rr ap", "-f", "csv", "--all-pairs")
    for row in rows_of(cli(*words, "--correction", "bonferroni")):
        assert float(row["p_corrected"]) == min(1.0, 3 * float(row["p"]))


def test_every_line_below_a_latex_table_is_a_comment(files: Path, cli: Command) -> None:
    text = cli("compare", *TWO, "-m", "rr", "-f", "latex").text
    below = text.partition("\\end{tabular}}\n")[2].splitlines()
    assert below
    assert all(line.startswith("% ") for line in below)
    words = " ".join(line.removeprefix("% ") for line in below)  # a note may be longer than a line
    assert all(phrase in words for phrase in ("obtained by inverting the test", "| qrels "))


def test_a_run_with_the_mean_0_has_no_relative_difference(files: Path, cli: Command) -> None:
    (files / "none.run").write_text(lines(dict.fromkeys("1234", "b")))
    (row,) = compared(cli, "none.run", "good.run", "qrels.txt")
    assert (row["baseline_mean"], row["relative"]) == ("0.0", "")
    succeed(cli("compare", "none.run", "good.run", "qrels.txt", "-m", "rr"))


# In Python


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_scores_files_and_frames_give_the_same_frame(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    scores = gradedeval.evaluate(list(RUNS), "qrels.txt", "rr ap", residuals=True)
    comparison = gradedeval.compare(scores).frame
    scores.frame.to_csv("frame.csv", index=False)
    pd.testing.assert_frame_equal(gradedeval.compare(to_matrix(scores)).frame, comparison)
    judging = ("lowest", "highest", "same_order")
    names = [name for name in comparison.columns if name not in (*COLUMNS, *judging)]  # read again
    for source in (scores.frame, "frame.csv", Path("frame.csv")):
        pd.testing.assert_frame_equal(gradedeval.compare(source)[names], comparison[names])


def test_two_matrices_join_by_their_measures(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    first = to_matrix(gradedeval.evaluate("good.run", "qrels.txt", "rr ap"))
    second = to_matrix(gradedeval.evaluate("fair.run", "qrels.txt", "p@1 rr"))
    both = join_matrices(first, second)
    assert (both.runs, both.measures, both.topics) == (["good.run", "fair.run"], ["rr"], ["1", "2", "3", "4"])
    assert both.score[:, :, 0].tolist() == [[1, 1, 1, 0.5], [1, 0.5, 0.5, 0.5]]


def test_a_topic_called_all_differs_from_the_mean(files: Path, cli: Command) -> None:
    (files / "qrels.txt").write_text("all 0 a 1\n2 0 a 1\n")
    for name, ranking in (("x.run", {"all": "a", "2": "b a"}), ("y.run", {"all": "b a", "2": "b a"})):
        (files / name).write_text(lines(ranking))
    inside = compared(cli, "x.run", "y.run", "qrels.txt")
    save(cli, "all.csv", "x.run", "y.run", "qrels.txt")
    assert compared(cli, "--from-scores", "all.csv") == inside
    assert inside[0]["topics"] == "2"


@pytest.mark.filterwarnings("ignore:.*with no end:gradedeval.EvaluationWarning")
def test_a_rise_from_a_negative_mean_is_a_rise() -> None:
    run, better = ({"1": ranking, "2": ranking} for ranking in ({"x": 2.0, "a": 1.0}, {"a": 2.0, "x": 1.0}))
    judged = {"1": {"a": 1, "x": 0}, "2": {"a": 1, "x": 0, "y": 1}}
    frame = gradedeval.compare({"run": run, "better": better}, judged, "yaap", baseline="run").frame
    assert frame["baseline_mean"].item() < 0
    assert frame["relative"].item() * frame["difference"].item() > 0


def test_topic_tables_have_median_best_and_worst() -> None:
    qrels = {"t": {"a": 1}, "u": {"a": 1}}
    runs = {
        name: {"t": {"a": first, "b": 0.5}, "u": {"b": 1.0, "a": 0.5}}
        for name, first in (("x", 1.0), ("y", 0.1), ("z", 0.2))
    }
    frame = gradedeval.topic_table(gradedeval.evaluate(runs, qrels, "rr esl")).frame
    rr = frame[(frame["measure"] == "rr") & (frame["topic"] == "t")]
    assert dict(zip(rr["run"], rr["score"], strict=True)) == {"x": 1, "y": 0.5, "z": 0.5}
    assert rr[["median", "best", "worst"]].iloc[0].tolist() == [0.5, 1, 0.5]
    esl = frame[(frame["measure"] == "esl") & (frame["topic"] == "t")].iloc[0]
    assert esl["best"] < esl["worst"]
    means = frame[(frame["measure"] == "rr") & (frame["topic"] == "all")]
    assert means["score"].tolist() == [0.75, 0.5, 0.5]
    assert means[["median", "best", "worst"]].iloc[0].tolist() == [0.5, 0.75, 0.5]


def test_compare_q_prints_topics_and_runs(cli: Command) -> None:
    words = ("compare", *RIVERS, "-q")
    text = cli(*words, "-m", "err@20").text
    assert text.splitlines()[0].split() == ["err@20", "rivers-bm25.run", "rivers-neural.run", "median", "best", "worst"]
    assert "all 0.2886 0.7176 0.5031" in " ".join(text.split())
    assert len(cli(*words, "-f", "jsonl", "-m", "ap").text.splitlines()) == 2 * 51
    messages = cli(*words, "--alpha", "0.1").messages
    assert messages == ["--alpha: does not apply to -q, which makes no tests; leave it out"]


def test_topics_that_no_run_is_scored_on_are_not_left_out(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n3 0 a 1\n4 0 a 0\n")
    (tmp_path / "one").write_text("1 Q0 a 1 2 x\n2 Q0 a 1 2 x\n3 Q0 a 1 2 x\n4 Q0 a 1 2 x\n")
    (tmp_path / "two").write_text("1 Q0 a 1 2 x\n2 Q0 b 1 2 x\n2 Q0 a 2 1 x\n3 Q0 b 1 2 x\n4 Q0 a 1 2 x\n")
    messages = cli("compare", "one", "two", "qrels", "-m", "rank1").messages
    assert "rank1: 1 of 3 topics left out (3): two is not scored on it" in messages
