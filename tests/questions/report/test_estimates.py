"""The section of a report on estimates from people's judgments and a machine's."""

from __future__ import annotations

import html
import io
import re

import pytest

import gradedeval
from support.predicted import MACHINE, PEOPLE, RUNS

pytestmark = pytest.mark.filterwarnings("ignore:.*that neither run retrieved are taken as not relevant")
SECTION = re.compile(r'<section id="estimates".*?</section>', re.S)


def _rows(section: str) -> list[list[str]]:
    """The cells of all tables."""
    rows = re.findall(r"<tr>(.*?)</tr>", section, re.S)
    return [[html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in rows]


def test_runs_and_differences_are_as_elsewhere() -> None:
    page = gradedeval.html_report(RUNS, PEOPLE, "ndcg@10 err@20", predicted=MACHINE, draws=50, baseline="a")
    (section,) = SECTION.findall(page)
    rows = _rows(section)
    assert rows[0] == ["measure", "run", "score", "±", "people", "±\N{NO-BREAK SPACE}people", "machine", "λ", "saves"]
    scores = gradedeval.evaluate(RUNS, PEOPLE, "ndcg@10 err@20", predicted=MACHINE)
    frame = scores.frame.query("topic == 'all'").set_index(["measure", "run"])
    for row in rows[1:7]:
        found = frame.loc[tuple(row[:2])]
        assert row[2] == f"{found['score']:.4f}"
        assert row[4] == f"{found['people']:.4f}"
        assert row[6] == f"{found['machine']:.4f}"
    compared = gradedeval.compare(scores).frame.set_index(["measure", "run"])
    differences = [row for row in rows[8:] if "—" not in row]
    assert len(differences) == len(compared)
    for row in differences:
        assert f"{compared.loc[tuple(row[:2]), 'difference']:+.4f}" in row
    assert "20 judged and 20 other topics" in page
    assert '<a href="#estimates">' in page


def test_all_else_is_by_people() -> None:
    runs = {name: {topic: own[topic] for topic in PEOPLE} for name, own in RUNS.items()}
    expected = gradedeval.html_report(runs, PEOPLE, "ndcg@10", draws=50, baseline="a")
    page = gradedeval.html_report(RUNS, PEOPLE, "ndcg@10", predicted=MACHINE, draws=50, baseline="a")
    runs_of = re.compile(r'<section id="runs".*?</section>', re.S)
    assert runs_of.findall(page) == runs_of.findall(expected)
    assert not SECTION.findall(expected)


def test_a_single_run_and_one_that_is_read_once() -> None:
    lines = [f"{topic} Q0 {docno} 0 {score!r} r\n" for topic, own in RUNS["a"].items() for docno, score in own.items()]
    stream = io.BytesIO("".join(lines).encode())
    (section,) = SECTION.findall(gradedeval.html_report(stream, PEOPLE, "ndcg@10", predicted=MACHINE))
    assert len(_rows(section)) == 2


@pytest.mark.filterwarnings("ignore:.*only rough guides:gradedeval.EvaluationWarning")
def test_slices_are_estimated_one_by_one() -> None:
    labels = {topic: "first" if int(topic[1:]) < 20 else "rest" for topic in MACHINE}
    page = gradedeval.html_report(
        RUNS, PEOPLE, "ndcg@10", predicted=MACHINE, draws=50, baseline="a", slices={"part": labels}
    )
    (section,) = SECTION.findall(page)
    assert "Estimates by part" in section
    assert "Estimated differences from a, by part" in section


def test_what_does_not_go_with_it() -> None:
    with pytest.raises(gradedeval.InputError, match="cannot be combined with judged_only=True"):
        gradedeval.html_report(RUNS, PEOPLE, "ndcg@10", predicted=MACHINE, judged_only=True)
