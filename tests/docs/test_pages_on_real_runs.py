"""The pages of topics, slices, seeds, tables, collections and gates on real runs: each command as it stands there.

What they print is compared with plain loops over the files.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from support.pages import Page
from support.paths import shared
from support.real_pages import REAL, Played, judged, mean, played, raw, scored, scores, slice_of, tables, too_wide
from support.statistics import by_hand, holm

pytestmark = [shared, pytest.mark.filterwarnings("default::gradedeval.EvaluationWarning")]

BM25, RM3, NEURAL, DENSE = (REAL[name] for name in ("bm25", "bm25-rm3", "neural", "dense"))


def near(value: float) -> Any:
    """What is printed with four digits."""
    return pytest.approx(value, abs=0.000051)


def page(name: str, folder: Path) -> Played:
    """The page, of which every command does what it should, in lines of a terminal, with no trace of Python."""
    found = played(name, folder)
    assert found.commands
    for command, code, shown in found.commands:
        assert (code, "Traceback" in shown, raw(shown)) == (0, False, []), (command, shown)
        if not re.search(r"-f (latex|markdown|tsv)", command):
            assert too_wide(shown) == [], command
    return found


def rows(shown: str, *having: str) -> Iterator[dict[str, str]]:
    """The rows of all tables with these columns."""
    return (row for table in tables(shown) for row in table if {*having} <= {*row})


def change(run: str, baseline: str, measure: str, topics: list[str] | None = None) -> float:
    return mean(run, measure, topics) - mean(baseline, measure, topics)


def test_topics_and_slices(tmp_path: Path) -> None:
    found = page("topics-and-slices.md", tmp_path)
    compared, evaluated = found.shown("gradedeval compare"), found.shown("'ndcg@10 ap'")
    for column, own in (("relevant", ("many", "few")), ("parity", ("odd", "even"))):
        of_column = list(rows(compared, column, "difference"))
        assert [row[column] for row in of_column] == list(own)
        for row in of_column:
            topics = slice_of(column, row[column])
            assert (int(row["topics"]), float(row["mean"])) == (len(topics), near(mean(RM3, "ndcg@10", topics)))
            assert float(row["difference"]) == near(change(RM3, BM25, "ndcg@10", topics))
    assert "holm over 4 slices × 1 pair of each measure" in compared
    assert [row["differs between"] for row in rows(compared, "differs between")] == ["relevant", "parity"]
    for row in rows(evaluated, "relevant"):
        topics = slice_of("relevant", row["relevant"])
        assert float(row["ndcg@10"]) == near(mean(NEURAL, "ndcg@10", topics))
        assert float(row["ap"]) == near(mean(NEURAL, "ap", topics))
    many = mean(NEURAL, "ndcg@10", slice_of("relevant", "many"))
    assert f"relevant=many: ndcg@10 {many:.4f} is at least 0.3" in found.shown("gradedeval check")
    few = found.names["scores"].by_slice["relevant"]["few"]["ndcg@10"]
    assert few == pytest.approx(mean(NEURAL, "ndcg@10", slice_of("relevant", "few")), abs=1e-14)

    falls = {topic: scores(NEURAL)["ndcg@5"][topic] - scores(BM25)["ndcg@5"][topic] for topic in judged()}
    changed = [row for row in rows(found.shown("gradedeval diff"), "query") if row["topic"]]
    assert [row["topic"] for row in changed] == sorted(falls, key=lambda topic: falls[topic])[:2]
    assert [float(row["difference"]) for row in changed] == [near(falls[row["topic"]]) for row in changed]
    assert all(re.search(r"\w\w", row["query"]) for row in changed)


def test_seeds(tmp_path: Path) -> None:
    found = page("seeds.md", tmp_path)
    seeds = {
        system: [scored(path.read_text()) for path in sorted((tmp_path / "seeds").glob(f"{system}-*"))]
        for system in ("expanded", "plain")
    }
    assert [len(own) for own in seeds.values()] == [4, 4]
    for row in rows(found.shown("'ndcg@10 ap'", REAL["neural"]), "system"):
        for measure, deviation in (("ndcg@10", "± sd"), ("ap", "± sd")):
            runs = [one[measure].values() for one in seeds.get(row["system"], [scores(NEURAL)])]
            assert float(row[measure]) == near(statistics.fmean(map(statistics.fmean, runs)))
            assert deviation in row
    for row in found.names["scores"].systems.to_dict("records"):
        means = [statistics.fmean(one["ndcg@10"].values()) for one in seeds[row["system"]]]
        assert row["mean"] == pytest.approx(statistics.fmean(means), abs=1e-14)
        assert row["sd"] == pytest.approx(statistics.stdev(means), abs=1e-14)
    plain, expanded = ([one["ndcg@10"] for one in seeds[system]] for system in ("plain", "expanded"))
    (row,) = found.names["found"].frame.to_dict("records")
    for name, value in by_hand(plain, expanded).items():
        assert row[name] == pytest.approx(value, rel=1e-9), name
    (shown,) = (row for row in rows(found.shown("gradedeval compare"), "seeds", "p")
                if (row["run"], row["measure"]) == ("plain", "ndcg@10"))  # fmt: skip
    assert float(shown["p"]) == near(row["p"])


def test_latex_table(tmp_path: Path) -> None:
    found = page("latex-table.md", tmp_path)
    latex = found.shown("-f latex --best")
    for name in (BM25, RM3, NEURAL):
        line = next(line for line in latex.splitlines() if line.startswith(name.replace("_", r"\_")))
        whole, point = re.findall(r"(0\.|\d{4})", line.partition("&")[2])
        assert float(whole + point) == near(mean(name, "err@20"))
    assert "_" not in re.sub(r"\\_", "", latex.partition(r"\begin{tabular}")[2])
    # By no t-test of these two pairs a mark is due.
    p = [stats.ttest_rel(*(list(scores(name)["err@20"].values()) for name in (one, BM25))).pvalue
         for one in (RM3, NEURAL)]  # fmt: skip
    assert [value > 0.05 for value in holm(p)] == [r"\dag{}" not in line for line in latex.splitlines()
                                                   if line.startswith(("10x10", "UIUC"))]  # fmt: skip
    markdown = found.shown("--digits 3")
    for name in (BM25, NEURAL):
        assert re.search(rf"\| {name} +\| +{mean(name, 'err@20'):.3f} \| +{mean(name, 'ap'):.3f} \|", markdown)
    places = {run: [mean(run, measure) for measure in ("err@20", "ap")] for run in REAL.values()}
    tau = stats.kendalltau(*zip(*places.values(), strict=True)).statistic
    assert re.search(rf"^err@20 +& +— & +{tau:.3f} &", found.shown("gradedeval correlate"), re.M)
    assert f"{mean(NEURAL, 'err@20'):.3f}" in found.printed[0]


def test_compare_two_systems(tmp_path: Path) -> None:
    found = page("compare-two-systems.md", tmp_path)
    checked = 0
    for command, _, shown in found.commands:
        measure = re.search(r"-m (\w+@?\d*)", command)
        for row in rows(shown, "run", "mean", "difference"):
            name = row.get("measure") or (measure or [""])[1]
            if name == "bpref":
                continue
            assert float(row["mean"]) == near(mean(row["run"], name)), command
            if row["difference"] != "—":
                assert float(row["difference"]) == near(change(row["run"], BM25, name)), command
                checked += 1
    assert checked == 11
    letters = {row["run"]: row for row in rows(found.shown("--letters"), "same as")}
    assert list(letters) == sorted(letters, key=lambda run: -mean(run, "ndcg@10"))
    assert list(letters) == [NEURAL, RM3, BM25, DENSE]
    # The mean square of runs is the variance of their means times the topics.
    means = [mean(run, "ap") for run in (BM25, RM3, NEURAL)]
    (of_runs,) = (row for row in rows(found.shown("--test anova"), "F") if row["source"] == "runs")
    assert float(of_runs["mean square"]) == pytest.approx(30 * statistics.variance(means), rel=1e-5)


def test_named_collections(tmp_path: Path) -> None:
    found = page("named-collections.md", tmp_path)
    shown = found.shown("robust04", "-m p@20")
    assert "robust04: read from the file of that name" in shown
    (score,) = rows(shown, "score")
    assert float(score["score"]) == near(mean(BM25, "p@20"))


def test_gate_ci(tmp_path: Path) -> None:
    found = page("gate-ci.md", tmp_path)
    gate = found.shown("--significant 0.05")
    fall = -change(BM25, RM3, "err@20") / mean(RM3, "err@20")
    assert fall > 0.05
    assert f"FAIL  {BM25}.run: err@20 fell by {fall * mean(RM3, 'err@20'):.4f} ({fall:.1%})" in gate
    assert f"ok    {BM25}.run: err@20 {mean(BM25, 'err@20'):.4f} is at least 0.25" in gate
    assert gate.endswith("exit code 1\n")
    falls = {topic: scores(RM3)["err@20"][topic] - value for topic, value in scores(BM25)["err@20"].items()}
    worst = sorted(falls, key=lambda topic: -falls[topic])[:5]
    assert ", ".join(f"{topic} -{falls[topic]:.4f}" for topic in worst) in " ".join(gate.split())
    holds = found.shown("gradedeval check", f"{RM3}.run real/covid.qrels; echo")
    assert "all 4 bounds hold" in holds
    assert holds.endswith("exit code 0\n")
    failed = found.shown("python -m pytest").splitlines()
    drops = -change(BM25, RM3, "ndcg@10") / mean(RM3, "ndcg@10")
    assert drops > 0.1
    assert sum(line.startswith(f"E           {BM25}.run: ") for line in failed) == 1
    assert f"({drops:.1%})" in failed[1]
    assert found.names["verdicts"]["passed"].tolist() == [True, False]


def test_report(tmp_path: Path) -> None:
    page("report.md", tmp_path)
    of_run = {row[0].split()[0]: row for row in Page((tmp_path / "report.html").read_text()).table("Scores of all")[1:]}
    assert list(of_run) == [f"{NEURAL}.run", f"{BM25}.run"]  # the page's last block wrote it, of two runs
    for run in (BM25, NEURAL):
        assert of_run[f"{run}.run"][1].startswith(f"{mean(run, 'err@20'):.4f}")
