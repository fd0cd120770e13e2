"""Standardized scores: Φ(z) by topic over a set of runs, and the set's means and deviations saved and used again."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import gradedeval
from gradedeval import InputError
from gradedeval.analysis.score_matrix import to_matrix
from gradedeval.analysis.standardize import Reference
from support.commands import Command, succeed
from support.paths import QRELS, SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "manual")]


def test_scores_are_the_normal_distribution_of_z() -> None:
    plain = gradedeval.evaluate(RUNS, QRELS, "sp ndcg@10", residuals=True)
    scores = to_matrix(plain).score
    deviation = scores.std(0, ddof=1)
    z = (scores - scores.mean(0)) / np.where(deviation > 1e-12, deviation, np.inf)
    standardized = gradedeval.standardize(plain)
    assert to_matrix(standardized).score == pytest.approx(stats.norm.cdf(z), abs=1e-12)
    assert re.search(r" \| standardized over 4 runs [0-9a-f]{6}$", standardized.signature)
    assert set(standardized.residuals_by_run["rivers-bm25.run"].values()) == {None}
    assert plain.signature in standardized.signature


def test_two_runs_differ_equally_on_every_topic_and_equal_scores_become_a_half() -> None:
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}}
    runs = {"x": {"1": {"a": 2, "b": 1}, "2": {"a": 2}}, "y": {"1": {"b": 2, "a": 1}, "2": {"a": 2}}}
    standardized = gradedeval.standardize(gradedeval.evaluate(runs, qrels, "rr"))
    assert standardized.by_topic("rr", "x") == {"1": pytest.approx(stats.norm.cdf(np.sqrt(0.5))), "2": 0.5}
    assert standardized.by_topic("rr", "y") == {"1": pytest.approx(stats.norm.cdf(-np.sqrt(0.5))), "2": 0.5}


def test_a_saved_reference_gives_one_run_the_same_scores(cli: Command, tmp_path: Path) -> None:
    together = succeed(cli(*RUNS, QRELS, "-q", "-m", "sp ap", "--save-reference", "ref.csv", "-f", "csv"))
    alone = cli(RUNS[1], QRELS, "-q", "-m", "sp ap", "--reference", "ref.csv", "-f", "csv")
    rows = [line for line in together.text.splitlines() if line.startswith("rivers-bm25-rm3.run")]
    assert alone.text.replace("by ref.csv, 4 runs", "over 4 runs").splitlines()[1:] == rows
    assert "standardized by ref.csv, 4 runs" in cli(RUNS[1], QRELS, "-m", "sp", "--reference", "ref.csv").text
    saved = Reference.read(tmp_path / "ref.csv")
    assert saved.text == (tmp_path / "ref.csv").read_text()


def test_other_verbs_take_standardized_scores(cli: Command) -> None:
    result = cli("compare", *RUNS, QRELS, "-m", "sp", "--standardize", "--draws", "99")
    assert "standardized over 4 runs" in result.text
    assert "inconclusive" not in result.text
    for verb in (("correlate",), ("power", "--draws", "99")):
        assert "standardized over 4 runs" in cli(*verb, *RUNS, QRELS, "-m", "sp ap", "--standardize").text


def test_unsuitable_scores_and_references_are_faults() -> None:
    scores = gradedeval.evaluate(RUNS, QRELS, "num_ret ap")
    with pytest.raises(InputError, match="'num_ret' is a count"):
        gradedeval.standardize(scores)
    with pytest.raises(InputError, match=r"'nerr5\(of=ed\)' is infinite on topic 301, so there is no deviation"):
        gradedeval.standardize(gradedeval.evaluate(RUNS, QRELS, "nerr5(of=ed)"))
    reference = Reference.of(gradedeval.evaluate(RUNS, QRELS, "ap", topics_from=["301"]))
    with pytest.raises(InputError, match="reference: no means by 'rr'; it has those by ap"):
        gradedeval.standardize(gradedeval.evaluate(RUNS[0], QRELS, "rr"), reference)
    with pytest.raises(InputError, match="reference: no mean of topic 302 by 'ap'; save a new one"):
        gradedeval.standardize(gradedeval.evaluate(RUNS[0], QRELS, "ap"), reference)
