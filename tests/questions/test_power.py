"""`power`: discriminative power over all pairs of runs, its curve, and the difference that suffices."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.analysis.score_matrix import Matrix, to_matrix
from gradedeval.analysis.significance import studentized
from support.commands import Command
from support.paths import QRELS, SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "manual")]
NEEDED = "difference needed: by the sample at that level (Sakai 2006, figure 5), the largest of all pairs"


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return to_matrix(gradedeval.evaluate(RUNS, QRELS, "ndcg@10 p@5"))


def test_the_levels_are_those_of_each_pair(matrix: Matrix) -> None:
    found = gradedeval.power(matrix, draws=300, seed=4)
    paired = matrix.paired("ndcg@10")
    curve = found.curve[found.curve["measure"] == "ndcg@10"]
    for row in curve.itertuples():
        own, other = (paired.score[paired.runs.index(str(name))] for name in (row.run, row.other))
        level, needed = studentized((own - other)[None], 300, 4, 0.05)
        assert (row.level, row.needed) == (level[0], pytest.approx(needed[0]))
        assert row.difference == pytest.approx((own - other).mean())
    assert curve["pair"].tolist() == [1, 2, 3, 4, 5, 6]
    assert (np.diff(curve["level"]) <= 0).all()


def test_power_is_the_share_of_pairs_below_alpha(matrix: Matrix) -> None:
    found = gradedeval.power(matrix, draws=300, alpha=0.05)
    for row in found.frame.itertuples():
        own = found.curve[found.curve["measure"] == row.measure]
        assert row.significant == (own["level"] < 0.05).sum()
        assert row.power == row.significant / 6
        assert row.needed == own["needed"].max()
        assert (row.runs, row.topics, row.pairs) == (4, 50, 6)


def test_a_smaller_level_finds_no_more_pairs_and_needs_a_larger_difference(matrix: Matrix) -> None:
    loose, strict = (gradedeval.power(matrix, draws=300, alpha=alpha).frame for alpha in (0.1, 0.01))
    assert (strict["significant"] <= loose["significant"]).all()
    assert (strict["needed"] >= loose["needed"]).all()


def test_the_best_runs_are_those_of_each_measure(matrix: Matrix) -> None:
    found = gradedeval.power(matrix, draws=50, best_runs=2)
    assert found.frame["pairs"].tolist() == [1, 1]
    for measure in matrix.measures:
        means = matrix.paired(measure).summaries
        best = {matrix.runs[at] for at in np.argsort(-means)[:2].tolist()}
        row = found.curve[found.curve["measure"] == measure].iloc[0]
        assert {row["run"], row["other"]} == best
    assert gradedeval.power(matrix, draws=50, best_runs=9).frame["runs"].tolist() == [4, 4]


def test_a_run_against_itself_is_never_told_apart() -> None:
    runs = {"x": RUNS[0], "y": RUNS[0]}
    found = gradedeval.power(gradedeval.evaluate(runs, QRELS, "ap"), draws=50)
    assert (found.curve["level"][0], found.frame["power"][0]) == (1, 0)


def test_settings_and_curve_at_the_prompt(cli: Command, tmp_path: Path) -> None:
    words = ("power", *RUNS, QRELS, "-m", "ap ndcg@10", "--draws", "99", "--alpha", "0.1", "--seed", "7")
    table = cli(*words, "--best-runs", "3", "--curve", "curve.csv")
    said = f"paired bootstrap, studentized, 99 draws, alpha 0.1, seed 7 | {NEEDED} | the best 3 runs by each measure"
    assert said in table.words
    rows = list(csv.DictReader((tmp_path / "curve.csv").open()))
    assert list(rows[0]) == ["measure", "pair", "run", "other", "difference", "level", "needed", "tested"]
    assert [row["pair"] for row in rows] == ["1", "2", "3"] * 2
    assert cli(*words, "-f", "csv").messages[1:] == [
        f"paired bootstrap, studentized, 99 draws, alpha 0.1, seed 7 | {NEEDED}"
    ]


def test_faults_of_usage(matrix: Matrix) -> None:
    with pytest.raises(InputError, match="best_runs: 1 is too small; it must be at least 2"):
        gradedeval.power(matrix, best_runs=1)
    with pytest.raises(InputError, match="power needs at least two runs"):
        gradedeval.power(matrix.select(runs=matrix.runs[:1]))
    with pytest.raises(InputError, match="draws: with 99 draws only a level of 0"):
        gradedeval.power(matrix, draws=99, alpha=0.01)
    assert gradedeval.power(matrix, draws=100, alpha=0.01).frame["pairs"].tolist() == [6, 6]


def test_one_topic_has_no_power(cli: Command, tmp_path: Path) -> None:
    for name, docnos in (("x.run", "a"), ("y.run", "b")):
        (tmp_path / name).write_text("".join(f"1 Q0 {docno} 1 1 t\n" for docno in docnos))
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n")
    found = cli("power", "x.run", "y.run", "qrels.txt", "-m", "rr")
    assert (found.code, found.out) == (1, b"")
    assert found.messages == [
        "measure 'rr': both runs share a single topic (1), and a test needs two; compare runs with more topics "
        "in common"
    ]
