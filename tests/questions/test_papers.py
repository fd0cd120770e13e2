"""The papers' experiments of examples/: the script runs on any collection, and its results on real runs still hold."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import gradedeval
from gradedeval.analysis.score_matrix import Matrix, to_matrix
from support.commands import Command, environment, succeed
from support.examples import sampled
from support.paths import DATA, ROOT, shared

COVID = DATA / "covid-round1"
RESULTS = (ROOT / "examples" / "papers.md").read_text(encoding="utf-8")
GAIN = (0.0, 0.25, 0.75)

pytestmark = pytest.mark.filterwarnings("ignore:the means are over different topics:gradedeval.EvaluationWarning")
"""The filter of the paper leaves out topics run by run."""


def block(begins: str) -> tuple[str, str]:
    """Return the command of a console block of the results, and its output."""
    match = re.search(r"```console\n\$ (" + re.escape(begins) + r"(?:.*\\\n)*.*)\n((?:.*\n)*?)```", RESULTS)
    assert match is not None, begins
    return match[1], match[2]


@cache
def runs() -> list[str]:
    return sorted(str(path) for path in (COVID / "runs").iterdir())


@cache
def scores(measures: str) -> Matrix:
    qrels = COVID / "qrels.txt"
    return to_matrix(gradedeval.evaluate(runs(), qrels, measures, gain=GAIN, max_residual=0.05, residual_depth="full"))


@shared
def test_the_filter_keeps_the_expected_pairs() -> None:
    matrix = scores("err@20")
    assert (int(matrix.included.sum()), matrix.included.size) == (930, 1440)
    assert round(float(matrix.score.max()), 3) == 0.863


@pytest.mark.exhaustive
@shared
@pytest.mark.parametrize(
    ("measure", "by", "expected"),
    sampled(
        [
            ("rbp(p=0.259)", "pearson", 0.9835),
            ("rbp(p=0.388)", "spearman", 0.9986),
            ("nerr8@2", "pearson", 0.9713),
            ("nerr8@4", "spearman", 0.9835),
            ("nerr9@3", "pearson", 0.9921),
            ("nerr9@9", "spearman", 0.9988),
            ("nerr10(phi=0.492)", "pearson", 0.9924),
            ("nerr10(phi=0.441)", "spearman", 0.9989),
            ("nerr11(T=0.974)", "pearson", 0.9905),
            ("nerr11(T=0.909)", "spearman", 0.9999),
        ],
        5,
    ),
)
def test_table_1_agrees_with_correlations_by_scipy(measure: str, by: str, expected: float) -> None:
    matrix = scores(f"err@20 {measure}")
    kept = matrix.included[:, :, 0]
    function = stats.pearsonr if by == "pearson" else stats.spearmanr
    by_scipy = function(matrix.score[:, :, 0][kept], matrix.score[:, :, 1][kept]).statistic
    assert by_scipy == pytest.approx(expected, abs=0.00005)
    name, value = re.match(r"(nerr\d+|rbp).*?([\d.]+)\)?$", measure).groups()  # type: ignore[union-attr]
    printed = block("gradedeval fit runs/* qrels.txt")[1].splitlines()
    (line,) = [line for line in printed if re.match(rf"{name}\b", line) and f" {by} " in line]
    assert [float(cell) for cell in line.split()[3:5]] == [float(value), expected]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").symlink_to(COVID / "runs")
    (tmp_path / "qrels.txt").symlink_to(COVID / "qrels.txt")
    return tmp_path


def typed(command: str, cli: Command, folder: Path) -> str:
    """Return the output of a command of the results, with `runs/*` expanded as by the shell."""
    words = [word.strip("'\"") for word in re.findall(r"'[^']*'|\"[^\"]*\"|\S+", command)[1:]]
    position = words.index("runs/*") if "runs/*" in words else -1
    if position >= 0:
        words[position : position + 1] = [f"runs/{path.name}" for path in sorted((folder / "runs").iterdir())]
    outcome = succeed(cli(*words))
    return outcome.text


@shared
@pytest.mark.exhaustive
@pytest.mark.parametrize("best", ["--curve levels.csv", "--best-runs 15"])
def test_discriminative_power_agrees_with_figure_3(best: str, folder: Path, cli: Command) -> None:
    command, printed = block(f"gradedeval power runs/* qrels.txt -m 'gap ndcg(gain=exp) ap' --draws 10000 {best}")
    assert typed(command, cli, folder).split() == printed.split()  # in lines of other widths


@shared
@pytest.mark.exhaustive
def test_the_geometric_distribution_nearest_to_ap_agrees_with_the_paper(folder: Path, cli: Command) -> None:
    typed(block("gradedeval weights runs/* qrels.txt -m ap")[0], cli, folder)
    command, printed = block("gradedeval fit --to-weights w-ap.csv --ranks 50")
    assert typed(command, cli, folder).split() == printed.split()  # in lines of other widths
    # The mean rank of a geometric distribution is 1/(1 − p): the same as of the vector at the optimum.
    vector = np.loadtxt(folder / "w-ap.csv", delimiter=",", skiprows=1)[:50]
    mean = (vector[:, 0] * vector[:, 1]).sum() / vector[:, 1].sum()
    assert float(printed.splitlines()[2].split()[2]) == pytest.approx(1 - 1 / mean, abs=0.0006)


@pytest.mark.exhaustive
def test_the_script_runs_on_any_collection(tmp_path: Path) -> None:
    """Run it on the samples: every experiment prints its heading and a result."""
    (tmp_path / "collection" / "runs").mkdir(parents=True)
    samples = ROOT / "qrels_samples"
    for name in ("bm25", "bm25-rm3", "neural"):
        lines = (samples / f"rivers-{name}.run").read_text().splitlines(keepends=True)
        few = [line for line in lines if line < "309"]
        (tmp_path / "collection" / "runs" / name).write_text("".join(few))
    judged = (samples / "rivers.qrels").read_text().splitlines(keepends=True)
    (tmp_path / "collection" / "qrels.txt").write_text("".join(line for line in judged if line < "309"))
    # Thousands of draws and sessions make results exact, as do wide ranges and fine steps, but slow here.
    fewer = 'set -- "${@/%200000/2000}"; set -- "${@/%10000/100}"; set -- "${@//1..40/1..4}"'
    fewer += '; set -- "${@//0.05..0.95/0.4..0.6..0.1}"; set -- "${@//0.05..0.999/0.3..0.9..0.1}"'
    fewer += '; set -- "${@/T=0.5..5/T=1..2..0.5}"'
    (tmp_path / "gradedeval").write_text(f'#!/bin/bash\n{fewer}\nexec "{sys.executable}" -m gradedeval "$@"\n')
    (tmp_path / "gradedeval").chmod(0o755)
    outcome = subprocess.run(
        [str(ROOT / "examples" / "papers.sh"), str(tmp_path / "collection")],
        env={
            **environment(),
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "GAIN": "exp",
            "CLICKED": "gain=exp",
            "RANKS": "50 20",
            "FOUND": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    headings = [line for line in RESULTS.splitlines() if line.startswith("### ")]
    assert [line for line in outcome.stdout.splitlines() if line.startswith("### ")] == headings
    blocks = re.findall(r"```console\n\$ (.*?)```", outcome.stdout, re.DOTALL)
    assert len(blocks) == RESULTS.count("```console")
    assert all(len(console.splitlines()) > 1 for console in blocks if " -o " not in console)
