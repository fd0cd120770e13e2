"""In a notebook: results are HTML, names in them are text, and a measure has a short repr."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest

import gradedeval
from gradedeval import clicks
from gradedeval.kernel.scoring.results import ENDS, FrameResult, InNotebook, to_frame
from support.results import WITHOUT_IDS, calls_on

HOSTILE = [f"{name}\udce9" for name in ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "<b>&amp;</b>")]
QRELS = {HOSTILE[1]: {HOSTILE[0]: 2, "b": 1, "c": 0}, "2": {"a": 1, "b": 0}}
RUNS = {
    HOSTILE[0]: {HOSTILE[1]: {HOSTILE[0]: 3.0, "b": 2.0, HOSTILE[2]: 1.0}, "2": {"a": 2.0, "b": 1.0}},
    HOSTILE[1]: {HOSTILE[1]: {"b": 3.0, HOSTILE[0]: 2.0, "c": 1.0}, "2": {"b": 2.0, "a": 1.0}},
    HOSTILE[2]: {HOSTILE[1]: {"c": 3.0, HOSTILE[0]: 2.0, "b": 1.0}, "2": {"b": 2.0, "a": 1.0}},
}
CLICKED = to_frame({"topic": [HOSTILE[0]], "clicks": [[1]], "shown": [["a"]]})
NAMELESS = {"power", "informativeness", "evaluate_arrays"}
RESULTS = calls_on(RUNS, QRELS) | {"clicks.measures": lambda: clicks.measures(CLICKED)}


MANY = [str(topic) for topic in range(80)]
LONG_QRELS = {topic: {"a": 2, "b": 1, "c": 0} for topic in MANY}
LONG_RUNS = {
    "one": {topic: {"a": 3.0, "b": 2.0, "c": 1.0} for topic in MANY},
    "two": {topic: {"a": 1.0, "c": 3.0, "n": 3.0} for topic in MANY},
}


def long_scores() -> gradedeval.Scores:
    return gradedeval.evaluate(LONG_RUNS, LONG_QRELS, "err ndcg", residuals="total")


LONG: dict[str, Callable[[], Any]] = {
    "long diff": lambda: gradedeval.diff({"one": LONG_RUNS["one"]}, {"two": LONG_RUNS["two"]}, LONG_QRELS),
    "long agreement": lambda: gradedeval.ranking_agreement(LONG_RUNS),
    "long compare": lambda: gradedeval.compare(long_scores(), draws=50),
    "long risk": lambda: gradedeval.risk(long_scores()),
    "long check": lambda: gradedeval.check(
        long_scores(), [gradedeval.Bound("max", "err", 0.1), gradedeval.Bound("max-drop", "err", 0.1)], baseline="one"
    ),
}
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


@pytest.mark.parametrize("name", [*RESULTS, *LONG])
def test_the_html_of_a_result_has_no_flags_and_escapes_names(name: str) -> None:
    """Name options by keyword, as Python does: in tables, below them, and in notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = (RESULTS | LONG)[name]()
        html = result._repr_html_()
    assert FLAG.findall(html) == []
    assert [flag for warning in caught for flag in FLAG.findall(str(warning.message))] == []
    assert not set("\ufdd0\ufdd1\ufdd2") & set(html)
    texts: list[str] = []
    result._repr_pretty_(SimpleNamespace(text=texts.append), False)
    assert html.encode() + texts[0].encode()  # both are UTF-8
    page = ElementTree.fromstring(f"<page>{html}</page>")  # well-formed: names contain no tags
    assert {node.tag for node in page.iter()} <= {"page", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    text = "".join(page.itertext())
    names = [hostile.replace("\udce9", r"\xe9") for hostile in HOSTILE]
    assert any(hostile in text for hostile in names) or name in WITHOUT_IDS | NAMELESS | LONG.keys()
    assert page.find(".//td") is not None


def test_a_history_has_html(tmp_path: Any) -> None:
    scores = gradedeval.evaluate(RUNS, QRELS, "ndcg")
    gradedeval.append_history(scores, tmp_path / "h.jsonl", time="2026-01-01", label="<b>")
    assert "&lt;script&gt;" in gradedeval.read_history(tmp_path / "h.jsonl")._repr_html_()


def test_every_public_result_has_html() -> None:
    plain = {"Bound", "Gains", "Measure", "Options", "Qrels", "RelevanceEvaluator", "UserState", "Verification"}
    classes = {name for name in gradedeval.__all__ if isinstance(getattr(gradedeval, name), type)}
    errors = {name for name in classes if issubclass(getattr(gradedeval, name), Exception)}
    displayed = {name for name in classes if issubclass(getattr(gradedeval, name), InNotebook)}
    assert classes - errors - plain == displayed


def test_a_long_table_shows_its_ends() -> None:
    page = gradedeval.weights("rbp(p=0.99)", ranks=100)._repr_html_()
    assert page.count("<tr>") == 2 * ENDS + 2
    assert "…" in page


def test_the_repr_of_a_measure_is_its_notation() -> None:
    measure = gradedeval.measures.ndcg(gain="exp") @ 10
    assert (repr(measure), str(measure), repr([measure])) == ("ndcg(gain=exp)@10",) * 2 + ("[ndcg(gain=exp)@10]",)
    assert gradedeval.parse_measures(repr(measure)) == [measure]


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_a_frame_and_a_signature(name: str) -> None:
    result = RESULTS[name]()
    frame = result.frame
    assert isinstance(frame, pd.DataFrame)
    assert len(frame)
    assert result.signature or name == "fit_weights"
    assert len(str(result).splitlines()) > 2
    assert " object at 0x" not in str(result)
    if isinstance(result, FrameResult):
        first = frame.columns[0]
        assert (len(result), list(result)) == (len(frame), list(frame))
        assert repr(result) in (str(result), result._as(result._shortened, "table"))
        assert result[first].equals(frame[first])


def test_a_report_of_lint_is_a_frame(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n")
    report = gradedeval.lint(tmp_path / "a.run")
    assert (report["kind"].tolist(), report.errors, len(report)) == (["duplicate"], 1, 1)
    assert "duplicate" in report._repr_html_()


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("name", ["long diff", "long agreement"])
def test_a_notebook_names_the_way_to_more_topics(name: str) -> None:
    result = LONG[name]()
    hint = re.search(r"(\d+) more topics not shown; see them with \.shown\(top=(\d+)\)", result._repr_html_())
    assert hint is not None
    whole = result.shown(top=int(hint[2]))
    assert "more topics" not in whole._repr_html_()
    assert "more topics" not in repr(whole)
    assert repr(whole).count("\n") > 80


def test_lint_shows_all_problems_on_request(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_text("".join(f"1 Q0 d{rank} {rank} {rank}x t\n" for rank in range(30)))
    report = gradedeval.lint(run)
    page = report._repr_html_()
    assert ".shown(everything=True)" in page
    assert FLAG.findall(page) == []
    assert "more of the kind" not in report.shown(everything=True)._repr_html_()
    (tmp_path / "qrels").write_text("1 0 d1 0\n")
    problems = gradedeval.lint(run, tmp_path / "qrels")
    assert FLAG.findall(" ".join(problems["hint"])) == []
