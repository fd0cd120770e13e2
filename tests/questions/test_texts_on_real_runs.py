"""Hostile texts of topics with real runs: whole in machine formats, harmless in tables, in a report and in a CI job.

The texts are written here, as no queries come with the runs.
"""

import json
import re
from pathlib import Path

import pytest

from support.commands import Command, rows
from support.pages import Page
from support.paths import shared
from support.real_pages import QRELS, mean, path_of, raw, slice_of, texts, too_wide, written_queries

pytestmark = [shared, pytest.mark.filterwarnings("default::gradedeval.EvaluationWarning")]

NAMES = ("bm25_basline", "10x10.prf.unipd.it", "base.unipd.it")
FIRST, RUNS = NAMES[0], [str(path_of(name)) for name in NAMES]


@pytest.fixture
def queries(tmp_path: Path) -> str:
    return str(written_queries(tmp_path))


def test_machine_formats_have_whole_texts_and_tables_have_safe_ones(queries: str, cli: Command) -> None:
    words = (*RUNS[:2], str(QRELS), "-m", "ndcg@10", "--queries", queries)
    by_topic = cli(*words, "-q", "-f", "csv")
    assert {row["topic"]: row["query"] for row in rows(by_topic.text) if row["topic"] != "all"} == texts()
    document = json.loads(cli(*words, "-q", "-f", "json").text)
    assert {row["topic"]: row["query"] for row in document["rows"] if row["topic"] != "all"} == texts()
    outputs = {
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
    for name, output in outputs.items():
        assert (name, output.code, raw(output.text)) == (name, int(name in ("check", "github")), [])
        if name in ("diff", "explain", "pool"):
            assert (name, too_wide(output.text)) == (name, [])
    assert [line for line in outputs["github"].text.splitlines() if line.startswith("::error title=no")] == []
    assert "stolen()" not in "".join(Page(outputs["html"].text).scripts.values())
    assert not re.search(r"(?<!\\)[%#&$_]of_it|\\textbf\{bold\}", outputs["latex"].text)


def test_the_report_has_every_text_as_text(queries: str, tmp_path: Path, cli: Command) -> None:
    pytest.importorskip("jinja2")
    words = (*RUNS, str(QRELS), "-m", "ndcg@10", "--slices", "relevant,parity", "-o", "report.html")
    assert cli("report", *words, "--queries", queries).code == 0
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    control = re.compile(r"[\x00-\x1f\u202a-\u202e]")
    escaped = {topic: control.sub(lambda match: repr(match[0])[1:-1], text) for topic, text in texts().items()}
    listed = [row[0] for row in page.table("Topics by ndcg@10")[1:]]
    assert listed == [topic + text for topic, text in escaped.items()]
    assert page.data("data")["texts"] == list(escaped.values())
    assert not [tag for tag, _ in page.tags if tag in ("strong", "img")]
    assert "stolen" not in page.scripts["script"]
    for column, labels in (("relevant", ("many", "few")), ("parity", ("odd", "even"))):
        by_label = page.table(f"Scores by {column}")[1:]
        assert {row[0] for row in by_label} == {*labels}
        for label, run, topics, score in by_label:
            kept = slice_of(column, label)
            assert int(topics) == len(kept)
            assert float(score) == pytest.approx(mean(run, "ndcg@10", kept), abs=0.000051)
