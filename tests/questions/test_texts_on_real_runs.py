"""Hostile texts of topics beside real runs: whole for programs, harmless for people, in a report and in a CI job.

The texts are made here: no queries lie beside the runs.
"""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from support.commands import Command, rows
from support.gate import steps, with_pip
from support.pages import Page
from support.paths import shared
from support.real_pages import QRELS, judged, mean, path_of, raw, scores, slice_of, texts, too_wide, written_queries
from support.sessions import with_programs

pytestmark = [shared, pytest.mark.filterwarnings("default::gradedeval.EvaluationWarning")]

NAMES = ("bm25_basline", "10x10.prf.unipd.it", "base.unipd.it")
FIRST, RUNS = NAMES[0], [str(path_of(name)) for name in NAMES]


@pytest.fixture
def queries(tmp_path: Path) -> str:
    return str(written_queries(tmp_path))


def test_programs_get_whole_texts_and_people_nothing_that_acts(queries: str, cli: Command) -> None:
    words = (*RUNS[:2], str(QRELS), "-m", "ndcg@10", "--queries", queries)
    by_topic = cli(*words, "-q", "-f", "csv")
    assert {row["topic"]: row["query"] for row in rows(by_topic.text) if row["topic"] != "all"} == texts()
    document = json.loads(cli(*words, "-q", "-f", "json").text)
    assert {row["topic"]: row["query"] for row in document["rows"] if row["topic"] != "all"} == texts()
    shown = {
        "eval": cli(*words, "-q"),
        "diff": cli("diff", *words, "--top", "30"),
        "explain": cli("explain", RUNS[0], str(QRELS), "3", "-m", "ndcg@10", "--queries", queries),
        "check": cli("check", *words, "--min", "ndcg@10=0.99"),
        "pool": cli("pool", *words, "--to-judge"),
        "latex": cli(*words, "-q", "-f", "latex"),
        "markdown": cli(*words, "-q", "-f", "markdown"),
        "html": cli(*words, "-q", "-f", "html"),
        "github": cli("check", *words, "--min", "ndcg@10=0.99", "-f", "github"),
    }
    for name, found in shown.items():
        assert (name, found.code, raw(found.text)) == (name, int(name in ("check", "github")), [])
        if name in ("diff", "explain", "pool"):
            assert (name, too_wide(found.text)) == (name, [])
    assert [line for line in shown["github"].text.splitlines() if line.startswith("::error title=no")] == []
    assert "stolen()" not in "".join(Page(shown["html"].text).scripts.values())
    assert not re.search(r"(?<!\\)[%#&$_]of_it|\\textbf\{bold\}", shown["latex"].text)


def test_the_report_has_every_text_as_text(queries: str, tmp_path: Path, cli: Command) -> None:
    pytest.importorskip("jinja2")
    words = (*RUNS, str(QRELS), "-m", "ndcg@10", "--slices", "relevant,parity", "-o", "report.html")
    assert cli("report", *words, "--queries", queries).code == 0
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    seen = {topic: re.sub(r"[\x00-\x1f\u202a-\u202e]", escaped, text) for topic, text in texts().items()}
    shown = [row[0] for row in page.table("Topics by ndcg@10")[1:]]
    assert shown == [topic + text for topic, text in seen.items()]
    assert page.data("data")["texts"] == list(seen.values())
    assert not [tag for tag, _ in page.tags if tag in ("strong", "img")]
    assert "stolen" not in page.scripts["script"]
    for column, own in (("relevant", ("many", "few")), ("parity", ("odd", "even"))):
        by_label = page.table(f"Scores by {column}")[1:]
        assert {row[0] for row in by_label} == {*own}
        for label, run, topics, score in by_label:
            kept = slice_of(column, label)
            assert int(topics) == len(kept)
            assert float(score) == pytest.approx(mean(run, "ndcg@10", kept), abs=0.000051)


def escaped(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]


def test_the_action_fails_the_job_where_the_mean_says(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    folder = with_pip(with_programs(tmp_path))
    written_queries(folder)
    (folder / "qrels.txt").symlink_to(QRELS)
    for run in NAMES[:2]:
        (folder / f"{run}.gz").symlink_to(path_of(run))
    bounds = {"ndcg@10": mean(FIRST, "ndcg@10") + 1e-9, "ap": mean(FIRST, "ap") - 1e-9}
    lines = [f'"{measure}" = {bound:.12f}\n' for measure, bound in bounds.items()]
    (folder / "gradedeval.toml").write_text(f"[min]\n{''.join(lines)}")
    ended = steps(folder, runs=f"{FIRST}.gz {NAMES[1]}.gz", qrels="qrels.txt", queries="covid-queries.tsv")
    assert ended.code == 1
    failing = [(run, name) for run in NAMES[:2] for name, bound in bounds.items() if mean(run, name) < bound]
    assert failing == [(FIRST, "ndcg@10")]
    suite = ElementTree.parse(ended.out / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "1", "0")
    worst = sorted(judged(), key=lambda topic: scores(FIRST)["ndcg@10"][topic])[:5]
    (notice,) = (line for line in ended.shown.splitlines() if line.startswith("::error "))
    assert [f"{topic} (" in notice for topic in worst] == [True] * 5
    assert raw(ended.shown + ended.summary) == []
    assert f"{mean(NAMES[1], 'ndcg@10'):.4f}" in ended.summary
    assert not (folder / "stolen").exists()
    report = Page((ended.out / "report.html").read_text(encoding="utf-8"))
    assert [row[0] for row in report.tables[next(iter(report.tables))][1:]]
