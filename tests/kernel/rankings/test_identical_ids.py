"""`ignore_identical_ids`: runs lose the documents that have the id of their topic; judgments stay."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval import EvaluationWarning
from gradedeval.kernel import parallel
from support.commands import Command

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")

RUN = {"q1": {"q1": 3.0, "q2": 2.0, "a": 1.0}, "q2": {"b": 2.0, "q22": 1.5, "q2": 1.0}, "q3": {"q3": 1.0}}
QRELS = {"q1": {"a": 1}, "q2": {"b": 1, "q22": 1}, "q3": {"c": 1}}


def without_topic_ids(run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the run without documents named like their topic, as BEIR's evaluation does."""
    return {topic: {docno: score for docno, score in docs.items() if docno != topic} for topic, docs in run.items()}


def lines(run: dict[str, dict[str, float]]) -> list[str]:
    return [f"{topic} Q0 {docno} 0 {score} x\n" for topic, docs in run.items() for docno, score in docs.items()]


def shapes(run: dict[str, dict[str, float]]) -> dict[str, Any]:
    rows = [(topic, docno, score) for topic, docs in run.items() for docno, score in docs.items()]
    text = lines(run)
    return {
        "dict": run,
        "rows": rows,
        "frame": pd.DataFrame(rows, columns=["topic", "docno", "score"]),
        "file": io.StringIO("".join(text)),
        "interleaved": io.StringIO("".join(sorted(text, key=lambda line: line[::-1]))),
    }


@pytest.mark.parametrize("shape", list(shapes(RUN)))
@pytest.mark.parametrize("limits", [None, parallel.Limits(cells=8, block=60)], ids=["usual", "small"])
def test_documents_with_their_topics_id_are_left_out(shape: str, limits: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if limits is not None:
        monkeypatch.setattr(parallel, "LIMITS", limits)
    scores = gradedeval.evaluate(shapes(RUN)[shape], QRELS, "num_ret rr p@2", ignore_identical_ids=True)
    assert scores.by_topic("num_ret") == {"q1": 2, "q2": 2, "q3": 0}
    assert scores.by_topic("rr") == {"q1": 1 / 2, "q2": 1, "q3": 0}
    assert "ignore identical ids" in scores.signature
    whole = gradedeval.evaluate(shapes(RUN)[shape], QRELS, "num_ret rr")
    assert whole.by_topic("rr") == {"q1": 1 / 3, "q2": 1, "q3": 0}
    assert "identical" not in whole.signature


def test_random_runs_score_as_runs_without_these_documents() -> None:
    dice = np.random.default_rng(5)
    names = [str(number) for number in range(30)]
    run = {
        topic: {
            str(docno): float(dice.integers(5)) for docno in dice.choice(names, dice.integers(1, 20), replace=False)
        }
        for topic in names[:20]
    }
    qrels = {topic: {docno: int(dice.integers(3)) for docno in names[::2]} for topic in names[:20]}
    for options in ({}, {"depth": 3}, {"ties": "file"}, {"judged_only": True}, {"ties": "rank"}, {"order": "file"}):
        for measure in ("ndcg@5", "ap", "num_ret"):
            text = ["".join(lines(each)) for each in (run, without_topic_ids(run))]
            ignoring, expected = (
                gradedeval.evaluate(io.StringIO(each), qrels, measure, **{**options, **rule}).by_topic(measure)  # type: ignore[arg-type]
                for each, rule in zip(text, ({"ignore_identical_ids": True}, {}), strict=True)
            )
            assert ignoring == {topic: expected.get(topic, 0) for topic in ignoring}


def test_chunks_are_folded_first() -> None:
    run = {"q1": {"q1#0": 3.0, "a#1": 2.0, "q1#2": 1.0}}
    for source in (run, io.StringIO("".join(lines(run)))):
        for by in ("score", "first"):
            scores = gradedeval.evaluate(
                source,
                {"q1": {"a": 1}},
                "rr num_ret",
                collapse="#",
                collapse_by=by,
                ignore_identical_ids=True,  # type: ignore[arg-type]
            )
            assert scores.means == {"rr": 1, "num_ret": 1}
            if not isinstance(source, dict):
                source.seek(0)


@pytest.mark.parametrize("source", [RUN["q2"], "file"], ids=["dict", "file"])
def test_an_option_without_effect_is_noted(source: Any) -> None:
    run: Any = {"q1": {"a": 1.0}}
    if source == "file":
        run = io.StringIO("q1 Q0 a 1 1 x\n")
    with pytest.warns(EvaluationWarning, match="no document has the id of its topic, so ignore_identical_ids"):
        gradedeval.evaluate(run, QRELS, "rr", ignore_identical_ids=True)
    assert not any(
        "the id of" in note for note in gradedeval.evaluate(RUN, QRELS, "rr", ignore_identical_ids=True).notes
    )


def test_a_relevant_document_that_is_left_out_is_noted(tmp_path: Path, cli: Command) -> None:
    qrels = {**QRELS, "q1": {"q1": 1, "a": 1}, "q3": {"q3": 0, "c": 1}}
    with pytest.warns(EvaluationWarning, match=r"in 1 topic the document with the topic's id is relevant"):
        scores = gradedeval.evaluate(RUN, qrels, "recall", ignore_identical_ids=True)
    assert scores.by_topic("recall")["q1"] == 1 / 2
    (tmp_path / "run").write_text("".join(lines(RUN)))
    (tmp_path / "qrels").write_text("".join(f"{t} 0 {d} {g}\n" for t in qrels for d, g in qrels[t].items()))
    done = cli("run", "qrels", "-m", "recall", "--ignore-identical-ids")
    assert any("--ignore-identical-ids counts it as not retrieved" in message for message in done.messages)
