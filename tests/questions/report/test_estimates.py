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
    ndcg, err = section.split('<div data-measure="1">')
    assert '<div data-measure="0">' in ndcg
    assert _rows(ndcg)[0] == ["run", "score", "±", "people", "±\N{NO-BREAK SPACE}people", "machine", "λ", "saves"]
    scores = gradedeval.evaluate(RUNS, PEOPLE, "ndcg@10 err@20", predicted=MACHINE)
    frame = scores.frame.query("topic == 'all'").set_index(["measure", "run"])
    compared = gradedeval.compare(scores).frame.set_index(["measure", "run"])
    for measure, part in (("ndcg@10", ndcg), ("err@20", err)):
        rows = _rows(part)
        for row in rows[1:4]:
            found = frame.loc[measure, row[0]]
            assert row[1] == f"{found['score']:.4f}"
            assert row[3] == f"{found['people']:.4f}"
            assert row[5] == f"{found['machine']:.4f}"
        assert rows[4] == ["run", "mean", "difference", "p\N{NO-BREAK SPACE}(holm)", "±", "people", "λ", "saves"]
        differences = [row for row in rows[5:] if "—" not in row]
        assert len(differences) == 2
        for row in differences:
            assert f"{compared.loc[(measure, row[0]), 'difference']:+.4f}" in row
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
    assert "Estimates of runs by part: ndcg@10" in section
    assert "Estimated differences from a, by part: ndcg@10" in section


def test_systems_are_estimated_beside_their_runs() -> None:
    systems = {"s": ["a", "b"], "t": ["c", "d"]}
    runs, measures = {**RUNS, "d": RUNS["c"]}, "ndcg@10 err@20"
    how = {"predicted": MACHINE, "replicates": systems}
    (section,) = SECTION.findall(gradedeval.html_report(runs, PEOPLE, measures, draws=99, baseline="a", **how))
    (_, err) = section.split('<div data-measure="1">')
    rows = _rows(err)
    means = gradedeval.evaluate(runs, PEOPLE, measures, **how).systems.query("measure == 'err@20'").set_index("system")
    head = rows.index(["system", "seeds", "err@20", "±", "±\N{NO-BREAK SPACE}sd"])
    assert [(row[0], row[2]) for row in rows[head + 1 : head + 3]] == [
        (system, f"{means.loc[system, 'mean']:.4f}") for system in ("t", "s")
    ]
    (row,) = gradedeval.compare(runs, PEOPLE, "err@20", **how).frame.itertuples()
    assert f"{row.difference:+.4f}" in rows[-1]
    assert "Estimates of systems, means over seeds: err@20" in section
    assert "Estimated differences from s: err@20" in section


def test_what_does_not_go_with_it() -> None:
    with pytest.raises(gradedeval.InputError, match="cannot be combined with judged_only=True"):
        gradedeval.html_report(RUNS, PEOPLE, "ndcg@10", predicted=MACHINE, judged_only=True)
