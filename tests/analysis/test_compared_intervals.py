"""Intervals of `compare`: headings, the number that leave out 0 beside a corrected p, open ends, and blanks."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval import EvaluationWarning
from support.commands import Command
from support.commands import rows as csv_rows
from support.paths import QRELS, SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural")]


def saved(**scores: list[float]) -> pd.DataFrame:
    """Return scores of runs by topic in the form of saved scores."""
    rows = [(run, str(topic), "ap", score) for run, values in scores.items() for topic, score in enumerate(values)]
    return pd.DataFrame(rows, columns=["run", "topic", "measure", "score"])


@pytest.fixture
def near(tmp_path: Path) -> Path:
    """Write scores of three runs: b is a little better than a, by a p between .025 and .05, and c equals a."""
    noise = np.random.default_rng(3).normal(0, 0.1, 12)
    base = np.linspace(0.3, 0.6, 12)
    better = base + 0.113 + noise - noise.mean()
    saved(a=base.tolist(), b=better.tolist(), c=base.tolist()).to_csv(tmp_path / "s.csv", index=False)
    return tmp_path


LEFT_OUT = "2 of 3 intervals leave out 0 where p (holm) is above 0.05: an interval is of its pair alone"


def test_intervals_that_leave_out_0_beside_a_corrected_p_are_counted(near: Path, cli: Command) -> None:
    words = ("compare", "--from-scores", "s.csv", "--all-pairs")
    lines = cli(*words).text.splitlines()
    assert "95% interval " in lines[0]
    assert LEFT_OUT in lines
    for form in ("markdown", "html", "latex", "json"):
        assert LEFT_OUT in cli(*words, "-f", form).text
    for form in ("csv", "tsv", "jsonl"):
        result = cli(*words, "-f", form)
        assert LEFT_OUT in result.messages
        assert LEFT_OUT in result.text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)  # there is no signature
        frame = gradedeval.compare("s.csv", all_pairs=True).frame
    assert frame.attrs["interval"] == f"95% interval: obtained by inverting the test, for each pair alone | {LEFT_OUT}"
    outside = (frame["low"] > 0) | (frame["high"] < 0)
    assert ((frame["p"] <= 0.05) == outside).all()
    assert (outside & (frame["p_corrected"] > 0.05)).sum() == 2


def test_headings_are_plain_and_a_line_below_describes_the_interval(near: Path, cli: Command) -> None:
    for words in (("--correction", "none"), ("--test", "tukey-hsd"), ("--test", "anova"), ("--test", "bayes")):
        result = cli("compare", "--from-scores", "s.csv", *words)
        assert "  95% interval  " in f"{result.text.splitlines()[0]}  ".replace("    ", "  ")
        assert "intervals leave out" not in result.words
    settings = cli("compare", "--from-scores", "s.csv", "--test", "tukey-hsd").words
    assert "95% interval: by the same ranges, of all pairs together" in settings


@pytest.mark.parametrize(("test", "statistic"), [("wilcoxon", "pseudo-median"), ("sign", "median")])
def test_intervals_of_another_statistic_than_the_mean_name_it(
    test: str, statistic: str, near: Path, cli: Command
) -> None:
    text = cli("compare", "--from-scores", "s.csv", "--test", test, "--correction", "none").words
    assert f"95% interval: of the {statistic}, obtained by inverting the test" in text
    corrected = cli("compare", "--from-scores", "s.csv", "--test", test).words
    assert f"95% interval: of the {statistic}, obtained by inverting the test, for each pair alone" in corrected


def test_an_end_at_0_that_is_rejected_is_open(tmp_path: Path, cli: Command) -> None:
    scores = [0.5] * 10 + [0.5 + 0.01 * step for step in range(1, 11)]
    saved(a=[0.5] * 20, b=scores).to_csv(tmp_path / "s.csv", index=False)
    cells = cli("compare", "--from-scores", "s.csv", "--test", "sign").text.splitlines()[3]
    assert ">0.0000 to +0.0500" in cells
    turned = cli("compare", "--from-scores", "s.csv", "--test", "sign", "--baseline", "b").text.splitlines()[3]
    assert "-0.0500 to <0.0000" in turned
    ratios = saved(a=[0.5] * 20, b=scores).replace("ap", "gm_ap")
    ratios.to_csv(tmp_path / "r.csv", index=False)
    assert ">×1.0000 to ×1.1000" in cli("compare", "--from-scores", "r.csv", "--test", "sign").text


def test_five_topics_have_no_ends_and_a_note_reports_it(tmp_path: Path, cli: Command) -> None:
    saved(a=[0.1, 0.2, 0.3, 0.4, 0.5], b=[0.3, 0.5, 0.4, 0.8, 0.6]).to_csv(tmp_path / "s.csv", index=False)
    for test in ("randomization", "wilcoxon", "sign"):
        result = cli("compare", "--from-scores", "s.csv", "--test", test)
        assert "-inf to +inf" in result.text
        assert result.messages[1:] == ["ap: interval with no end at 95%: too few topics"]
    result = cli("compare", "--from-scores", "s.csv", "--test", "bootstrap", "--draws", "30")
    assert result.messages[-1] == "ap: interval with no end at 95%: too few topics differ, or draws are too few"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("test", ["t", "bootstrap", "bayes", "anova"])
def test_differences_without_variance_are_blank_and_a_note_reports_it(test: Any, tmp_path: Path, cli: Command) -> None:
    saved(a=[0.3, 0.5], b=[0.2, 0.4]).to_csv(tmp_path / "s.csv", index=False)
    result = cli("compare", "--from-scores", "s.csv", "--test", test)
    message = f"ap: {test} is blank for 1 pair with the same difference on all topics, so that there is no variance; "
    message += "use --test randomization"
    assert result.messages[1:] == [message]  # the first says that there is no signature
    assert "*" not in result.text.splitlines()[2]
    (row,) = csv_rows(cli("compare", "--from-scores", "s.csv", "--test", test, "-f", "csv").text)
    names = ("better", "equivalent", "worse") if test == "bayes" else ("p", "p_corrected")
    assert [row[name] for name in ("low", "high", *names)] == [""] * (2 + len(names))
    listed = json.loads(cli("compare", "--from-scores", "s.csv", "--test", test, "-f", "json").text)["rows"][0]
    assert [listed[name] for name in ("low", "high", *names)] == [None] * (2 + len(names))
    with pytest.warns(EvaluationWarning, match=f'{test} is blank for 1 pair .*; use test="randomization"$'):
        frame = gradedeval.compare(saved(a=[0.3, 0.5], b=[0.2, 0.4]), test=test).frame
    assert frame[["low", "high", *names]].isna().all(axis=None)


@pytest.mark.parametrize("test", ["randomization", "bootstrap", "t", "wilcoxon", "sign", "tukey-hsd", "anova", "bayes"])
def test_identical_runs_differ_by_0_to_0(test: Any) -> None:
    scores = [0.1, 0.7, 0.4, 0.4, 0.9, 0.2, 0.3]
    frame = gradedeval.compare(saved(a=scores, b=scores, c=scores[::-1]), test=test).frame.iloc[0]
    assert frame[["low", "high"]].tolist() == [0, 0]
    assert frame["equivalent" if test == "bayes" else "p"] == 1


def test_a_check_that_has_no_p_is_an_error_and_a_rise_passes(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 a 1\n{topic} 0 b 0\n" for topic in range(8)))
    for name, docnos in (("good", "ab"), ("bad", "ba")):
        lines = (
            f"{topic} Q0 {docno} {rank} {9 - rank} t\n" for topic in range(8) for rank, docno in enumerate(docnos, 1)
        )
        (tmp_path / name).write_text("".join(lines))
    words = ("qrels", "--significant", "rr=0.05", "--test", "t")
    result = cli("check", "bad", *words, "--baseline", "good")
    message = "--significant rr=0.05: rr of 'bad' differs equally on all topics, so there is no variance; "
    message += "use --test randomization"
    assert (result.code, result.messages) == (3, [message])
    result = cli("check", "good", *words, "--baseline", "bad")
    assert (result.code, "alike on all topics, so that t gives no p" in result.text) == (0, True)
    value = json.loads(cli("check", "good", *words, "--baseline", "bad", "-f", "json").text)["bounds"][0]["value"]
    assert value is None
    assert cli("check", "bad", *words[:-1], "bootstrap", "--baseline", "good").code == 3
    assert cli("check", "bad", *words[:-1], "randomization", "--baseline", "good").code == 1


@pytest.mark.exhaustive
def test_the_report_describes_its_intervals(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        page = gradedeval.html_report(RUNS, QRELS, "err@20 ap", test="bootstrap", draws=999)
    assert "bootstrap, 999 draws, seed 0" in page
    assert page.count("95% interval: obtained by inverting the test, for each pair alone") == 2


def test_a_table_to_publish_leaves_a_pair_without_p_unmarked() -> None:
    qrels = {str(topic): {"a": 1, "b": 0} for topic in range(8)}
    runs = {name: {topic: dict(zip(order, (2.0, 1.0), strict=True)) for topic in qrels} for name, order in
            (("good", "ab"), ("bad", "ba"))}  # fmt: skip
    text = gradedeval.table(gradedeval.evaluate(runs, qrels, "rr"), "table", baseline="good", test="t")
    assert text.splitlines()[3].split() == ["bad", "0.5000"]
