"""A report: the contents of its tables, sentences and rankings, escaped markup, and its size."""

from __future__ import annotations

import json
import re
import sys
import time
from base64 import b64encode
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval.analysis.significance import TestSettings as Settings
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.options import Options
from gradedeval.kernel.scoring.scores import Row
from gradedeval.questions.explain import explain_topics
from gradedeval.questions.report import page
from gradedeval.questions.report import page as pages
from gradedeval.questions.report.views import Findings, ReportSettings, collect
from support.commands import Command
from support.markup import HOSTILE, hostile_runs
from support.pages import Page
from support.paths import DATA, QRELS, SAMPLES, shared

pytest.importorskip("jinja2")
pytestmark = pytest.mark.filterwarnings("ignore:.*judged topics? (is|are) missing:gradedeval.EvaluationWarning")

NAMES = ("rivers-bm25.run", "rivers-dense.run", "rivers-neural.run")
RUNS = [str(SAMPLES / name) for name in NAMES]
MEASURES = "err@20 ap ndcg(gain=exp)@10"
DRAWS = 200


@cache
def findings(measures: str = MEASURES, runs: tuple[str, ...] = NAMES) -> Findings:
    sources = {name: str(SAMPLES / name) for name in runs}
    settings = ReportSettings(Settings(draws=DRAWS), show=5)
    return collect(sources, QRELS, parse_measures(measures), Options(), None, settings)


@cache
def whole() -> Page:
    return Page(pages.page(findings(), "gradedeval report <command>"))


def test_the_first_table_has_the_scores_of_evaluate_the_best_first_and_in_bold() -> None:
    rows = whole().table("Scores of all runs")
    means = gradedeval.evaluate(RUNS, QRELS, MEASURES).means_by_run
    order = sorted(NAMES, key=lambda run: -(means[run]["err@20"] or 0))
    assert [row[0].split()[0] for row in rows[1:]] == order
    for row in rows[1:]:
        scores = list(means[row[0].split()[0]].values())
        assert [re.match(r"\d\.\d{4}", text)[0] for text in row[1:4]] == [f"{score:.4f}" for score in scores]  # type: ignore[index]
    best = [text for row in rows[1:] for text in row if "best" in text]
    assert len(best) == 3
    assert all(text in rows[1] for text in best)
    assert rows[3][0].endswith("dense.run")


def test_marks_wins_and_sentences_agree_with_compare() -> None:
    scores = gradedeval.evaluate(RUNS, QRELS, MEASURES, residuals=True)
    frame = gradedeval.compare(scores, baseline=NAMES[0], draws=DRAWS).frame
    rows = {row[0].split()[0]: row for row in whole().table("Scores of all runs")[1:]}
    labels = scores.labels
    for pair in frame.to_dict("records"):
        text = rows[pair["run"]][1 + labels.index(pair["measure"])]
        assert ("*" in text) == (pair["p_corrected"] <= 0.05) == ("significant" in text)
        assert text.endswith(f"{pair['wins']}/{pair['ties']}/{pair['losses']}")
    assert "won/tied/lost" not in "".join(rows[NAMES[0]])
    flips = frame[frame["reversing"].notna()]
    assert len(flips)
    for flip in flips.to_dict("records"):
        clause = f"if {flip['reversing']:,} of {flip['unjudged']:,} unjudged documents were relevant"
        assert f"{clause} (top grade); the deepest is at rank {flip['reversing_rank']}" in whole().words
    assert whole().words.count("The order of rivers") + whole().words.count(" would overtake ") == int(
        frame["same_order"].eq(False).sum()
    )


@pytest.mark.exhaustive
def test_a_settled_order_names_the_run_ahead_and_its_topics() -> None:
    sources = dict(zip(NAMES[:2], RUNS[:2], strict=True))
    options = Options(max_residual=0.05)
    result = collect(sources, QRELS, parse_measures("err@20"), options, None, ReportSettings(Settings(draws=20)))
    (settled,) = [row for row in result.compared.rows if row["measure"] == "err@20"]
    means = {row.run: row.score for row in result.scores.rows(by_topic=False) if row.measure == "err@20"}
    assert settled["difference"] < 0 < (means[NAMES[1]] or 0) - (means[NAMES[0]] or 0)  # the other way round
    page = Page(pages.page(result))
    topics_clause = f"on the {settled['topics']} of 50 topics that all runs are scored on"
    assert f"More judging cannot change this: {NAMES[1]} stays below {NAMES[0]} {topics_clause}." in page.words
    assert "err@20: the means are over different topics (" in page.words
    assert not [text for row in page.table("Scores of all runs") for text in row if "best" in text]


def small(runs: dict[str, Any], qrels: Any, measures: str, options: Options | None = None) -> Page:
    settings = ReportSettings(Settings(draws=20))
    return Page(pages.page(collect(runs, qrels, parse_measures(measures), options or Options(), None, settings)))


THREE = "123"


def test_an_order_that_no_unjudged_documents_can_reverse_is_settled() -> None:
    ahead = {topic: {"r": 9.0, "u": 8.0, "v": 7.0} for topic in THREE}
    behind = {topic: {"u": 9.0, "v": 8.0, "n": 7.0} for topic in THREE}
    page = small({"A": ahead, "B": behind}, {topic: {"r": 1, "n": 0} for topic in THREE}, "p@3")
    assert "More judging cannot change this: B stays below A." in page.words
    equal_runs = small({"A": ahead, "B": ahead}, {topic: {"r": 1} for topic in THREE}, "p@3")
    assert "More judging cannot change this: B stays level with A." in equal_runs.words
    assert "end of a run" not in page.words + equal_runs.words


def test_a_reversal_assumes_the_top_grade() -> None:
    runs = {name: {topic: {f"{name}{topic}": 1.0} for topic in THREE} for name in ("G", "U")}
    qrels = {topic: {f"G{topic}": 2, "z": 4} for topic in THREE}
    page = small(runs, qrels, "err@5")
    sentence = "if 1 of 3 unjudged documents were relevant (top grade); the deepest is at rank 1"
    assert sentence in page.words
    assert "if all that is open had the top grade" in page.words
    assert "relevant (rank" not in page.words
    for topic in THREE:
        qrels[topic][f"U{topic}"] = 1
    means = gradedeval.evaluate(runs, qrels, "err@5").means_by_run
    assert means["G"]["err@5"] > means["U"]["err@5"]  # type: ignore[operator]


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_one_score_is_not_the_best_and_a_measure_without_shared_topics_is_not_compared() -> None:
    qrels = {"1": {"a": 1}, "2": {"a": 1}}
    runs = {"one": {"1": {"a": 1.0}, "2": {"a": 1.0}}, "two": {"1": {"b": 1.0}, "2": {"b": 1.0}}}
    result = collect(runs, qrels, parse_measures("p@1 ap"), Options(), None, ReportSettings(Settings(draws=20)))
    included = result.matrix.included.copy()
    included[1, :, 1] = False
    matrix = replace(result.matrix, included=included)
    rows = [row for row in result.compared.rows if row["measure"] == "p@1"]
    (_, part) = page.unknowns(replace(result, matrix=matrix, compared=replace(result.compared, rows=rows)))
    assert part["same"] == "Not compared: no topic is scored for all runs."
    scored = Row("one", "all", "ap", 0.0)
    assert page._best([scored, Row("two", "all", "ap", None)], "higher") is None


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_the_legend_has_the_grades_that_there_are_and_unjudged_ones_are_hatched() -> None:
    legend = "grade, from low to high: "
    assert f"{legend}-2 to 0 not relevant, 1, 2, 3, 4, ? unjudged" in whole().words
    runs = {"A": {topic: {"r": 2.0, "m": 1.0} for topic in THREE}}
    qrels = {topic: {"r": 2, "n": 0, "m": -2} for topic in THREE}
    for negative, hatched, plain in (("unjudged", "?, -2 unjudged", "0"), ("judged", "? unjudged", "-2 to 0")):
        page = small(runs, qrels, "ap", Options(negative=negative))  # type: ignore[arg-type]
        assert f"{legend}{plain} not relevant, 2, {hatched}" in page.words
        assert page.data("data")["grades"]["-2"] == ("gu" if negative == "unjudged" else "g0")


ALWAYS_ON = "a page always has it"


def test_arguments_that_a_report_does_not_take_are_refused() -> None:
    for words, message in (
        ({"residuals": True}, "residuals: html_report does not take it; leave it out: a page always has them"),
        ({"interval": 0.9}, f"interval: html_report does not take it; give alpha, as in alpha=0.05: {ALWAYS_ON}"),
        ({"at": "a"}, "at: 'a' is not a whole number from 1"),
    ):
        with pytest.raises(gradedeval.InputError, match=message):
            gradedeval.html_report(RUNS, QRELS, MEASURES, **words)  # type: ignore[arg-type]


def test_topics_have_the_scores_and_the_median_best_and_worst_of_topic_table() -> None:
    frame = gradedeval.topic_table(gradedeval.evaluate(RUNS, QRELS, MEASURES)).frame
    frame = frame[(frame["measure"] == "ap") & (frame["topic"] != "all")]
    rows = whole().table("Topics by ap")
    by_topic = frame.set_index(["topic", "run"])
    assert len(rows) == 51
    header = rows[0]
    assert [header[1], header[3]] == [NAMES[0], NAMES[2]]
    for topic, first, _, second, _, difference, *across in rows[1:]:
        scores = [by_topic.loc[(topic, header[place])] for place in (1, 3)]
        assert [first, second] == [f"{row['score']:.4f}" for row in scores]
        assert float(difference) == pytest.approx(scores[1]["score"] - scores[0]["score"], abs=1e-4)
        assert across == [f"{scores[0][name]:.4f}" for name in ("median", "best", "worst")]
    residuals = gradedeval.evaluate(RUNS[0], QRELS, MEASURES, residuals=True).frame
    residuals = residuals[(residuals["measure"] == "ap") & (residuals["topic"] != "all")]
    assert [row[2] for row in rows[1:]] == [f"{value:.4f}" for value in residuals["residual"]]
    heat = whole().table("Scores by ap")
    assert heat[0][1:] == [row[0] for row in rows[1:]]
    assert heat[1][0] == findings().runs[0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("runs", "qrels", "measures", "options"),
    [
        (NAMES, QRELS, "err@20 ap bpref", Options()),
        (("ambiguous-diverse.run", "ambiguous-plain.run"), str(SAMPLES / "ambiguous.qrels"),
         "erria alpha_ndcg ia(ndcg)@10 nrbp", Options(subtopics=True)),
    ],
)  # fmt: skip
def test_contributions_agree_with_explain(runs: tuple[str, ...], qrels: str, measures: str, options: Options) -> None:
    sources = {name: str(SAMPLES / name) for name in runs}
    settings = ReportSettings(Settings(draws=DRAWS), show=5)
    result = collect(sources, qrels, parse_measures(measures), options, None, settings)
    data = Page(pages.page(result))
    for index in (0, 1, len(result.matrix.topics) - 1):
        documents, rankings = data.data(f"r{index}")
        topic = result.matrix.topics[index]
        for run, (retrieved, listed, by_measure) in zip(result.runs, rankings, strict=True):
            (explained,) = explain_topics({run: sources[run]}, qrels, result.measures, options, [topic])
            assert retrieved == explained.retrieved
            for part, (score, residual, rest, adds, rises) in zip(explained.measures, by_measure, strict=True):
                rows = [row for row in part.rows() if row["part"] == "document"]
                assert score == pytest.approx(part.score, abs=1e-5)
                assert residual == pytest.approx(part.residual, abs=1e-5)
                assert sum(adds) + rest == pytest.approx(part.score, abs=1e-4)
                assert len(listed) == len(adds) == len(rises) == min(5, retrieved)
                for number, row, added, rise in zip(listed, rows, adds, rises, strict=False):
                    assert documents[number] == [row["docno"], row["grade"]]
                    assert added == pytest.approx(row["contribution"], abs=1e-5)
                    assert rise == pytest.approx(row.get("could_add"), abs=1e-5)


def test_judgments_agree_with_pool() -> None:
    pool = gradedeval.pool(RUNS, QRELS)
    rows = {row[0]: row for row in whole().table("Retrieved documents of each run")[1:]}
    for run in pool.runs.to_dict("records"):
        assert rows[run["run"]][-3:] == [str(run[name]) for name in ("unique", "unique_judged", "unique_relevant")]
    topics = whole().table("Judged documents of each topic")
    counts = pool.topics[["judged", "relevant", "found"]].astype(str)
    assert [row[1:4] for row in topics[1:]] == counts.to_numpy().tolist()
    assert topics[0][4:] == ["grade -2", "grade 0", "grade 1", "grade 2", "grade 3", "grade 4"]
    unjudged = gradedeval.evaluate(RUNS, QRELS, "unjudged@10").means_by_run
    at_ten = [float(row[3]) for row in whole().table("Unjudged documents of a topic")[1:]]
    in_scores = [float(row[-1].split()[0]) for row in whole().table("Scores of all runs")[1:]]
    assert (
        at_ten == in_scores == [pytest.approx(10 * unjudged[run]["unjudged@10"], abs=0.05) for run in findings().runs]
    )
    alone = sum(pool.runs["unique_relevant"])
    assert sum(map(int, re.findall(r"(\d+) relevant documents? on", whole().words))) == alone


def test_the_report_lists_its_settings() -> None:
    words = whole().words
    assert "gradedeval report <command>" in words
    for phrase in (*findings().scores.signature.split(" | "), "randomization, 200 draws, seed 0", "jinja2 3"):
        assert phrase in words
    assert findings().notes
    assert all(str(note) in words for note in findings().notes)


def test_a_page_allows_no_network_and_names_its_own_style_and_script_by_their_checksums() -> None:
    assert whole().policy.startswith("default-src 'none'; ")
    for name in ("style", "script"):
        digest = b64encode(sha256(whole().scripts[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in whole().policy
    assert "unsafe" not in whole().policy
    tags = [attrs for _, attrs in whole().tags]
    assert not [attrs for attrs in tags if "src" in attrs or attrs.get("href", "#")[:1] not in ("#", "d")]  # type: ignore[index]
    assert not [attrs for attrs in tags if "style" in attrs or any(name.startswith("on") for name in attrs)]


def test_markup_in_names_is_shown_as_text(cli: Command, tmp_path: Path) -> None:
    names = hostile_runs(tmp_path)
    outcome = cli("report", *names, "q.txt", "-m", "err@5", "--draws", "50", "-o", "out.html")
    assert outcome.code == 0
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    page = Page(text)
    tags = {tag for tag, _ in page.tags}
    assert "img" not in tags
    assert [attrs for tag, attrs in page.tags if tag == "script" and attrs.get("type") != "application/json"] == [{}]
    assert all(name in page.shown for name in names)
    documents = [docno for docno, _ in page.data("r0")[0]]
    assert sorted(documents) == sorted(["<script>alert(1)</script>", *HOSTILE[1:4], "a\\u202eb", "l\\u2028s"])
    hostile_topics = ['"><img/src=x/onerror=alert(1)>', "</script><script>alert(2)</script>", "{{7*7}}"]
    assert page.data("data")["topics"] == hostile_topics
    assert "\u202e" not in text
    assert "49" not in page.table("Topics by err@5")[3][0]


@pytest.mark.exhaustive
def test_of_too_many_topics_the_rankings_that_differ_most_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(pages.page(findings()).encode())
    text = pages.page(findings(), most_bytes=size - 20_000)
    assert size - 25_000 < len(text.encode()) <= size - 20_000
    page = Page(text)
    topics = page.data("data")["shown"]
    assert sorted(int(name[1:]) for name in page.scripts if re.fullmatch(r"r\d+", name)) == topics
    assert 0 < len(topics) < 50
    score = findings().matrix.score[:, :, 0]
    spread = score.max(0) - score.min(0)
    assert min(spread[topics]) >= max(spread[[topic for topic in range(50) if topic not in topics]])
    assert f"Rankings of the {len(topics)} of 50 topics on which the runs differ most" in page.words
    assert page.data("data")["topic"] in topics
    monkeypatch.setattr(pages, "MOST_CELLS", 90)
    page = Page(pages.page(findings()))
    assert "The map shows the 10 of 50 topics on which the runs differ most; the table has them all." in page.words
    assert len(page.table("Scores by ap")[0]) == 11
    assert len(page.table("Topics by ap")) == 51
    assert page.data("scores") is None


def test_one_run_has_a_page_without_comparisons() -> None:
    page = Page(pages.page(findings(MEASURES, NAMES[:1])))
    assert "There is one run alone: nothing is compared." in page.words
    assert "its ranking stands by itself" in page.words
    assert [row[0] for row in page.table("Scores of all runs")] == ["run", NAMES[0]]
    assert page.table("Topics by ap")[0] == ["topic", NAMES[0], "could rise"]
    assert page.data("data")["pair"] == [0, None]


@pytest.mark.exhaustive
def test_topics_too_uncertain_to_count_are_blank() -> None:
    sources = dict(zip(NAMES[:2], RUNS[:2], strict=True))
    options = Options(max_residual=0.02)
    result = collect(sources, QRELS, parse_measures("ap err@20"), options, None, ReportSettings(Settings(draws=DRAWS)))
    page = Page(pages.page(result))
    assert {cell for row in page.table("Topics by ap")[1:] for cell in row[-3:]} == {""}
    kept = [row for row in page.table("Topics by err@20")[1:] if row[5]]
    assert f"err@20: {50 - len(kept)} of 50 topics left out" in page.words
    assert {len(row[6]) for row in kept} == {6}


@pytest.mark.filterwarnings("ignore:(.*an interval needs 3 topics|the baseline is):gradedeval.EvaluationWarning")
def test_runs_that_share_one_topic_are_not_compared_with_a_note() -> None:
    with pytest.warns(gradedeval.EvaluationWarning, match="nothing is compared: .*a test needs two"):
        text = gradedeval.html_report({"a": {"1": {"d": 1.0}}, "b": {"1": {"e": 1.0}}}, {"1": {"d": 1}}, "err@5")
    assert "The runs are not compared; the notes say why." in Page(text).words


@pytest.mark.exhaustive
def test_the_page_is_reproducible_and_equal_in_python() -> None:
    with pytest.warns(gradedeval.EvaluationWarning):
        text = gradedeval.html_report(RUNS, QRELS, MEASURES, draws=DRAWS, show=5)
    assert text == pages.page(findings())


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "ap"], "-o: missing file name; for example -o report.html"),
        (["-o", "r.pdf"], "'r.pdf': a report is an HTML page; name a .html file"),
        (["-o", "none/r.html"], "none/r.html: cannot be written (No such file or directory); create its folder first"),
        (["-o", "r.html", "--baseline", "x"], "unknown run 'x'; choose from a.run, b.run"),
        (["-o", "r.html", "--baseline", "s.csv"], "--baseline: 's.csv' holds saved scores, and a report shows "
         "rankings; give the baseline as a run"),
        (["-o", "r.html", "--ties", "average"], "--ties: an average over orders has no ranks; choose an order"),
        (["-o", "r.html", "-m", "errr@5"], "unknown measure 'errr'; did you mean 'err'?"),
    ],
)  # fmt: skip
def test_errors_are_one_line_and_leave_no_file(words: list[str], message: str, cli: Command, tmp_path: Path) -> None:
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_text("1 Q0 d 1 2 t\n2 Q0 d 1 2 t\n")
    (tmp_path / "q").write_text("1 0 d 1\n2 0 d 0\n2 0 e 1\n")
    (tmp_path / "s.csv").write_text("run,topic,measure,score\na,1,ap,1\n")
    original = sorted(tmp_path.iterdir())
    outcome = cli("report", "a.run", "b.run", "q", "--quiet", *words)
    assert outcome.code != 0
    assert outcome.messages == [message]
    assert sorted(tmp_path.iterdir()) == original


def test_without_qrels_or_jinja2_no_file_is_read(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = cli("report", *RUNS, "-o", "r.html")
    assert (outcome.code, len(outcome.messages)) == (1, 1)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    outcome = cli("report", "no-such.run", QRELS, "-o", "r.html")
    assert (outcome.code, outcome.messages) == (
        2,
        ["report: jinja2 is not installed; pip install 'gradedeval[report]'"],
    )


@pytest.mark.exhaustive
def test_a_report_to_standard_output_is_the_page_alone(cli: Command, tmp_path: Path) -> None:
    outcome = cli("report", RUNS[0], RUNS[1], QRELS, "-m", "p@5", "--test", "bayes", "-o", "-")
    assert outcome.text.startswith("<!DOCTYPE html>")
    assert "P(better)" in outcome.text
    assert json.loads(Page(outcome.text).scripts["data"])["runs"] == ["rivers-bm25.run", "rivers-dense.run"]
    assert list(tmp_path.iterdir()) == []


@shared
@pytest.mark.exhaustive
def test_a_page_of_48_runs_takes_ten_seconds_and_20_megabytes_at_most() -> None:
    folder = DATA / "covid-round1"
    runs = {path.name: str(path) for path in sorted((folder / "runs").iterdir())}
    begin = time.process_time()  # others may be at work here
    measures = parse_measures("err@20 ndcg@10 ap")
    result = collect(runs, str(folder / "qrels.txt"), measures, Options(), None, ReportSettings(Settings()))
    text = pages.page(result)
    assert time.process_time() - begin < 10
    assert len(text.encode()) < 2_500_000
    page = Page(text)
    assert (len(page.table("Scores of all runs")), len(page.data("data")["shown"])) == (49, 30)


@pytest.mark.one_in(5)  # every grade and nearly every measure: 5 has no factor of 4 or 6
@pytest.mark.parametrize("grade", ["1e308", "1.7976931348623157e308", "5e-324", "1e17"])
@pytest.mark.parametrize("measure", ["ap", "err", "rbp", "ndcg", "p@1", "dcg"])
def test_a_grade_of_any_size_is_shown_or_refused(grade: str, measure: str, cli: Command) -> None:
    for run, docnos in (("a", "xyz"), ("b", "zyx")):
        Path(run).write_text("".join(f"1 Q0 {docno} 1 {3 - position} t\n" for position, docno in enumerate(docnos)))
    Path("qrels").write_text(f"1 0 x {grade}\n1 0 y 1\n")
    outcome = cli("report", "a", "b", "qrels", "-m", measure, "-o", "page.html")
    assert (outcome.code == 0) == Path("page.html").exists()
    if outcome.code:
        assert "; " in outcome.messages[-1]
