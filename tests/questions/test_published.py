"""Tables to publish: the best of each column, significant differences from baselines, captions, percent."""

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import EvaluationWarning, InputError
from gradedeval.analysis import significance
from gradedeval.analysis.pairs import significance_matrix
from gradedeval.analysis.score_matrix import to_matrix
from gradedeval.analysis.significance import CORRECTIONS, PAIR_TESTS
from gradedeval.kernel.scoring.score_tables import best_two
from gradedeval.questions.published import NAMES
from support.commands import Command
from support.runs import write_qrels, write_run

TOPICS = [str(topic) for topic in range(1, 13)]
QRELS = {topic: {"a": 2, "b": 1, "c": 0} for topic in TOPICS}
ORDERS = {"good": "abc", "fair": "bac", "poor": "cba", "same": "cba"}
EQUAL = {"fair": 5}
"""The number of first topics on which a run equals the best, 1 by default: differences vary."""
RUNS = {
    name: {
        topic: {docno: -float(rank) for rank, docno in enumerate("abc" if int(topic) <= EQUAL.get(name, 1) else order)}
        for topic in TOPICS
    }
    for name, order in ORDERS.items()
}


@pytest.fixture(scope="module")
def scores() -> gradedeval.Scores:
    return gradedeval.evaluate(RUNS, QRELS, "ndcg esl num_ret rr")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, run in RUNS.items():
        (tmp_path / name).write_text(write_run(tmp_path / name, run).read_text().replace(" t\n", f" {name.upper()}\n"))
    write_qrels(tmp_path / "qrels", QRELS)
    return tmp_path


def cells(text: str) -> dict[str, list[str]]:
    """Return the cells of a plain table by run."""
    rows = [re.split(r"  +", line.strip()) for line in text.partition("\n\n")[0].splitlines()[2:]]
    return {row[0]: row[1:] for row in rows}


def test_the_best_is_bold_and_the_second_underlined_by_the_direction_of_the_measure(scores: gradedeval.Scores) -> None:
    text = gradedeval.table(scores, "table", best=True)
    table = cells(text)
    assert [row[0][0] for row in table.values()] == ["*", "_", "0", "0"]
    assert table["good"][1:] == ["*0.0000*", "36", "*1.0000*"]  # fewer documents are better, and of num_ret neither
    assert table["fair"][1:] == ["*0.0000*", "36", "*1.0000*"]
    assert table["poor"][1:] == ["_0.9167_", "36", "_0.5417_"]
    legend = "*best* and _second best_ of each column; esl: lower is better; num_ret: no preferred direction"
    assert legend in " ".join(text.split())


@pytest.mark.parametrize(
    ("printed", "sign", "places"),
    [
        (["0.38", "0.38", "0.37", "0.36"], 1, [1, 1, 2, 0]),  # equal as printed: a reader sees no better one
        (["3", "inf", "5"], -1, [1, 0, 2]),
        (["0.38", "", ""], 1, [0, 0, 0]),
        (["0.38", "", "0.40"], 1, [2, 0, 1]),
        (["", ""], 1, [0, 0]),
        (["nan", "0.5", "0.7"], 1, [0, 2, 1]),
        (["nan", "0.7", "0.5"], -1, [0, 2, 1]),
        (["nan", "0.5"], 1, [0, 0]),
    ],
)
def test_values_printed_alike_are_equal(printed: list[str], sign: int, places: list[int]) -> None:
    assert best_two(printed, sign) == places


def test_digits_decide_equality(scores: gradedeval.Scores) -> None:
    assert "*1*" in gradedeval.table(scores, "table", best=True, digits=0).splitlines()[3]


def test_signs_are_the_p_values_of_compare(scores: gradedeval.Scores) -> None:
    frame = gradedeval.compare(scores, baseline="good", test="sign", correction="bonferroni").frame
    text = gradedeval.table(scores, "table", baseline="good", test="sign", correction="bonferroni")
    for index, measure in enumerate(scores.labels):
        p = frame[frame["measure"] == measure].set_index("run")["p_corrected"]
        for run, row in cells(text).items():
            sign = "" if run == "good" or p[run] > 0.05 else "‡" if p[run] <= 0.01 else "†"
            assert row[index].lstrip("0123456789.") == sign, (measure, run)
    assert {"†", "‡"} <= set(text.partition("\n\n")[0])
    legend = "† p ≤ 0.05, ‡ p ≤ 0.01 against good: two-sided sign test, Bonferroni over 3 pairs of each measure"
    assert legend in " ".join(text.split())


def test_several_baselines_have_letters_and_one_family_of_pairs(scores: gradedeval.Scores) -> None:
    text = gradedeval.table(scores, "table", baseline=["good", "poor"], test="sign")
    table = cells(text)
    assert [name for name in table if "^" in name] == ["good^a", "poor^b"]
    assert [row[0].partition("^")[2] for row in table.values()] == ["b", "ab", "a", "a"]
    # good with three others, and poor with the two that are left; each pair once.
    legend = "p ≤ 0.05 against the run of that letter: two-sided sign test, Holm over 5 pairs of each measure"
    assert legend in " ".join(text.split())


@pytest.mark.parametrize("test", ["randomization", "t", "sign", "tukey-hsd", "anova"])
def test_every_test_but_bayes_is_named_as_a_paper_names_it(test: Any, scores: gradedeval.Scores) -> None:
    text = gradedeval.table(scores, "table", baseline="good", test=test)
    assert re.search(r"against good: (two-sided \D+|anova: two-way, runs × topics; Tukey's HSD over all pairs)", text)
    assert {*PAIR_TESTS, *CORRECTIONS} - set(NAMES) == {"none"}


def test_impossible_significance_is_noted(scores: gradedeval.Scores) -> None:
    with pytest.warns(EvaluationWarning, match=r"nothing is significant at 0\.05; use test=\"t\"$"):
        significance_matrix(to_matrix(scores), ["good"], significance.TestSettings(draws=5))


def test_percent_is_of_shares_alone_and_has_two_digits_less() -> None:
    scores = gradedeval.evaluate(RUNS, QRELS, "ndcg dcg num_ret", residuals="total")
    text = gradedeval.table(scores, "table", percent=True)
    assert cells(text)["good"] == ["100.00", "0.00", "2.6309", "0.0000", "36"]
    assert "\n\nscores in percent (not of dcg, num_ret); 12 topics\n\n" in text
    of_fair = gradedeval.evaluate(RUNS["fair"], QRELS, "ndcg num_ret")
    assert re.search(r"^ndcg +\d\d\.\d\d$\n^num_ret +36$", gradedeval.table(of_fair, "table", percent=True), re.M)
    assert "ndcg      91.8" in gradedeval.table(of_fair, "table", percent=True, digits=1)


def test_undefined_values_have_no_mark() -> None:
    few = {**RUNS, "gone": {topic: {"x": 2.0, "y": 1.0} for topic in TOPICS}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = gradedeval.evaluate(few, QRELS, "ndcg", max_residual=0.1)
        text = gradedeval.table(scores, "latex", best=True)
    assert re.search(r"^gone +& +& +& +& +0 ", text, re.M)
    assert r"\textbf{1.} & \textbf{0000}" in text


def test_the_command_prints_the_result_of_the_function(files: Path, cli: Command) -> None:
    words = ["good", "fair", "poor", "qrels", "-m", "ndcg rr", "-f", "latex", "--best", "--baseline", "./good",
             "--test", "t", "--correction", "holm", "--caption", "A & B"]  # fmt: skip
    scores = gradedeval.evaluate(["good", "fair", "poor"], "qrels", "ndcg rr")
    expected = gradedeval.table(scores, best=True, baseline="good", test="t", correction="holm", caption="A & B")
    outcome = cli(*words)
    assert (outcome.code, outcome.text) == (0, expected)
    assert expected.count(r"\textsuperscript{\ddag{}}") > 2
    words = ("--baseline", "GOOD", "--run-name", "tag", "--best", "-m", "rr", "--test", "t")
    by_tag = cli("good", "poor", "qrels", *words)
    assert list(cells(by_tag.text)) == ["GOOD", "POOR"]


def test_a_repeated_baseline_counts_once(files: Path, cli: Command) -> None:
    words = ("good", "fair", "poor", "qrels", "-m", "rr", "--test", "t", "--baseline", "good")
    once = cli(*words)
    assert {"†", "‡"} <= set(once.text.partition("\n\n")[0] + once.text.partition("\n\n")[2])
    assert cli(*words, "--baseline", str(files / "good")).text == once.text
    assert cli(*words, "--baseline", "./good").text == once.text


def test_a_baseline_that_cannot_be_scored_is_reported(files: Path, cli: Command) -> None:
    (files / "bad").write_text("1 Q0 a\n")
    outcome = cli("good", "bad", "poor", "qrels", "-m", "rr", "--baseline", "bad")
    assert (outcome.code, outcome.text) == (1, "")
    assert outcome.messages[0] == "--baseline: 'bad' is not scored, so there is no table"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("fair qrels --caption x -f csv", "--caption: csv is for programs and has no caption; choose one of table,"),
        ("fair qrels --best -o x.json", "--best: json is for programs and has no bold numbers;"),
        ("fair qrels --percent -f trec", "--percent: trec is for programs and has the scores as they are;"),
        ("qrels --best", "--best: there is one run, and nothing to choose from; give two runs or more"),
        ("qrels --baseline good", "--baseline: there is one run, and nothing to compare; give two runs or more"),
        ("fair qrels --baseline god", "--baseline: 'god' is none of the runs (good, fair); did you mean 'good'?"),
        ("fair qrels --baseline POO --run-name tag", "--baseline: 'POO' is none of the runs (GOOD, FAIR);"),
        ("fair qrels --test t", "--test: there is nothing to test against; add --baseline RUN"),
        ("fair qrels --baseline good --test bayes", "--test: bayes gives no p to mark; choose another test,"),
        ("fair qrels --baseline good --test tt", "--test: invalid value 'tt'; did you mean 't'?"),
        ("fair qrels --best -q", "--best: cannot be combined with --by-topic: marks are of summaries; leave out one"),
        ("fair qrels --percent --cwl", "--percent: cannot be combined with --cwl; leave out one of them"),
    ],
)
def test_options_without_effect_are_one_line(words: str, message: str, files: Path, cli: Command) -> None:
    outcome = cli("good", *words.split())
    assert (outcome.code, outcome.text) == (2, "")
    assert message in outcome.messages[-1]
    assert "is missing" not in "".join(outcome.messages)


def test_the_function_refuses_invalid_arguments(scores: gradedeval.Scores) -> None:
    with pytest.raises(InputError, match="test: there is nothing to test against; add baseline=…"):
        gradedeval.table(scores, test="t")
    with pytest.raises(InputError, match="format: invalid value 'latx'; did you mean 'latex'"):
        gradedeval.table(scores, "latx")


def test_a_comparison_names_its_test(scores: gradedeval.Scores) -> None:
    attrs = gradedeval.compare(scores, baseline="good", test="t").frame.attrs
    assert attrs == {
        "test": "t | holm over 3 pairs of each measure",
        "interval": "95% interval: obtained by inverting the test, for each pair alone",
        "alpha": 0.05,
        "signature": scores.signature,
        "if_fully_judged": "",
    }


def test_percent_stands_in_the_signature(files: Path, cli: Command) -> None:
    words = ("good", "fair", "qrels", "-m", "ap")
    plain, percent = (cli(*words, *more).text.splitlines()[-1] for more in ((), ("--percent",)))
    assert percent == f"{plain} | percent"
