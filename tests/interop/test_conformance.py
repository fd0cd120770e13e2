"""trec_eval and ir_measures against the conformance vectors: their numbers differ only for the reasons listed."""

from __future__ import annotations

import contextlib
import io
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.commands import Command, succeed
from support.conformance import Case, cases, families, summary
from support.conformance_peers import DIFFERENCES, FAILS, different_cases, differs, expected

TREC_EVAL = shutil.which("trec_eval")


def cases_of_family(tool: str, family: str) -> list[Case]:
    return [case for case in cases() if case.family == family and tool in case.elsewhere]


FAMILIES = {tool: [each for each in families() if cases_of_family(tool, each)] for tool in ("trec_eval", "ir_measures")}


def to_dicts(case: Case) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return the qrels and the run as dicts."""
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for topic, _, docno, grade in case.input.qrels:
        qrels.setdefault(topic, {})[docno] = grade
    for topic, docno, score in case.input.run:
        run.setdefault(topic, {})[docno] = score
    return qrels, run


@pytest.mark.parametrize("family", FAMILIES["trec_eval"])
def test_pytrec_eval_differs_for_the_reasons_listed(family: str) -> None:
    theirs = pytest.importorskip("pytrec_eval", reason="pytrec_eval is missing: pip install pytrec-eval-terrier")
    for case in cases_of_family("trec_eval", family):
        name = case.elsewhere["trec_eval"]
        qrels, run = to_dicts(case)
        scores_by_topic = theirs.RelevanceEvaluator(qrels, {name}).evaluate(run)
        (key,) = scores_by_topic["1"]
        scores = {topic: each[key] for topic, each in scores_by_topic.items()}
        right = expected(case, "trec_eval")
        assert not differs(scores, right), (name, case.name, scores, right)
        mean = theirs.compute_aggregated_measure(key, list(scores.values()))
        assert mean == pytest.approx(float(summary(case, right)), abs=1e-12, nan_ok=True), (name, case.name)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("family", FAMILIES["ir_measures"])
def test_ir_measures_differs_for_the_reasons_listed(family: str) -> None:
    theirs = pytest.importorskip("ir_measures", reason="ir_measures is missing: pip install ir-measures[cwl-eval]")
    pytest.importorskip("pyndeval", reason="pyndeval is missing: pip install pyndeval")
    for case in cases_of_family("ir_measures", family):
        name = case.elsewhere["ir_measures"]
        measure = theirs.parse_measure(name)
        qrels = [theirs.Qrel(topic, docno, grade, intent) for topic, intent, docno, grade in case.input.qrels]
        run = [theirs.ScoredDoc(*row) for row in case.input.run]
        if ("ir_measures", case.entry.measure, case.name) in FAILS:
            with pytest.raises(ZeroDivisionError):
                theirs.calc_aggregate([measure], qrels, run)
            continue
        with contextlib.redirect_stderr(io.StringIO()):  # it warns of topics with one intent
            scores = {each.query_id: float(each.value) for each in theirs.iter_calc([measure], qrels, run)}
            mean = theirs.calc_aggregate([measure], qrels, run)[measure]
        right = expected(case, "ir_measures")
        assert not differs(scores, right), (name, case.name, scores, right)
        assert mean == pytest.approx(float(summary(case, right)), abs=1e-12, nan_ok=True), (name, case.name)


def program_scores(case: Case, folder: Path, call: Callable[[list[str]], str]) -> dict[str, float]:
    """Return the scores by topic in the output of `trec_eval -q -m NAME QRELS RUN`."""
    qrels, run = folder / "qrels", folder / "run"
    qrels.write_text("".join(f"{t} {i} {docno} {grade}\n" for t, i, docno, grade in case.input.qrels), encoding="utf-8")
    run.write_text("".join(f"{t} Q0 {docno} 0 {score!r} t\n" for t, docno, score in case.input.run), encoding="utf-8")
    printed = call(["-q", "-m", case.elsewhere["trec_eval"], str(qrels), str(run)])
    rows = [line.split() for line in printed.splitlines()]
    return {topic: float(score) for _, topic, score in rows if topic != "all"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("family", FAMILIES["trec_eval"])
@pytest.mark.parametrize(
    "program",
    ["drop-in", pytest.param("trec_eval", marks=pytest.mark.skipif(TREC_EVAL is None, reason="no trec_eval here"))],
)
def test_the_program_trec_eval_differs_for_the_reasons_listed(
    program: str, family: str, cli: Command, tmp_path: Path
) -> None:
    def drop_in(words: list[str]) -> str:
        return succeed(cli("trec_eval", "--compat", "9", *words)).out.decode()

    def binary(words: list[str]) -> str:
        return subprocess.run([str(TREC_EVAL), *words], capture_output=True, check=True, text=True).stdout

    for case in cases_of_family("trec_eval", family):
        if case.entry.measure != "num_q":  # printed for all topics together only
            scores = program_scores(case, tmp_path, drop_in if program == "drop-in" else binary)
            right: dict[str, Any] = {topic: float(score) for topic, score in expected(case, "trec_eval").items()}
            assert scores == pytest.approx(right, abs=5.1e-5), (case.elsewhere, case.name)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda each: f"{each.tool}-{each.reason}")
def test_every_reason_changes_a_score(difference: Any) -> None:
    assert any(True for _ in different_cases(difference))
