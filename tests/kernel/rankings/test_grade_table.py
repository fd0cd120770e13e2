"""DataFrames with text in Arrow have the same numbers, notes and errors as DataFrames with Python's text."""

import random
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval.kernel.options import Options
from gradedeval.kernel.rankings.run import arrow_run
from support.examples import sampled

pytest.importorskip("pyarrow")


def table(third: str, values: list[Any], seed: int) -> pd.DataFrame:
    draw = random.Random(seed)
    rows = [(f"t{t}", f"d{t}é{i}" * (1 + i % 9)) for t in range(6) for i in draw.sample(range(40), 12)]
    return pd.DataFrame([(*row, draw.choice(values)) for row in rows], columns=["topic", "docno", third])


RUN = table("score", [0.5, 1.25, 2.0, 7.5, -1.0], 1)
QRELS = table("grade", [0, 1, 2, -1], 2)
TIED = RUN.assign(score=[3, 2, 2, 1] * 18)
TWICE = pd.concat([RUN, RUN.iloc[[5, 5, 70]].assign(score=9.0)])
SHUFFLED = RUN.sample(frac=1, random_state=1)


def in_arrow(frame: pd.DataFrame, kind: Any = None) -> pd.DataFrame:
    kind = kind or pd.StringDtype("pyarrow")
    return frame.astype({"topic": kind, "docno": kind})


def result(run: pd.DataFrame, qrels: Any, options: dict[str, Any]) -> Any:
    """Return all output for a user."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scores = gradedeval.evaluate(run, qrels, "ndcg@5 ap err@20 bpref", **options)
    except gradedeval.InputError as error:
        return str(error)
    (run_scores,) = scores.runs
    numbers = [part.tobytes() for part in (run_scores.score, run_scores.unjudged, run_scores.residual)]
    return run_scores.topics, numbers, scores.signature, [str(warning.message) for warning in caught]


RUNS = [RUN, TIED, TWICE, SHUFFLED, RUN[RUN.topic > "t2"], RUN.replace("t5", "t9"), RUN[:0]]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("run", sampled(RUNS, 3, 2))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ties": "docno-asc", "residuals": True},
        {"ties": "average"},
        {"ties": "rank"},
        {"order": "file", "topics": "both"},
        {"duplicates": "first", "topics": "run"},
        {"duplicates": "last", "order": "float32"},
    ],
    ids=str,
)
def test_text_of_arrow_is_scored_like_any_other(run: pd.DataFrame, options: dict[str, Any]) -> None:
    expected = result(run.astype({"topic": object, "docno": object}), QRELS.astype({"docno": object}), options)
    assert result(in_arrow(run), in_arrow(QRELS), options) == expected
    assert result(in_arrow(run), gradedeval.Qrels(QRELS.astype({"docno": object})), options) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": [np.nan] + [1.0] * 71}, "run:1: score nan is not a finite number"),
        ({"docno": [None, *RUN.docno[1:]]}, "run:1: no docno"),
        ({"docno": ["", *RUN.docno[1:]]}, "run:1: no docno"),
        ({"score": ["7"] * 72}, None),
    ],
)
def test_unusual_columns_are_read_one_by_one(change: dict[str, Any], message: str | None) -> None:
    frame = in_arrow(RUN.assign(**change))
    assert arrow_run(frame, Options()) is None
    outcome = result(frame, QRELS, {})
    assert message in outcome if message else isinstance(outcome, tuple)


def test_parts_of_tables_and_columns_in_pieces() -> None:
    import pyarrow as pa

    pieces = pd.concat([in_arrow(RUN[:30]), in_arrow(RUN[30:])])
    wide = in_arrow(RUN, pd.ArrowDtype(pa.large_string()))
    narrow = in_arrow(RUN, pd.ArrowDtype(pa.string()))
    for frame in (pieces, wide, narrow):
        assert arrow_run(frame, Options()) is not None
        assert result(frame, QRELS, {}) == result(RUN.astype(object), QRELS, {})
    part = pieces.iloc[7:60]
    assert arrow_run(part, Options()) is not None
    assert result(part, QRELS, {}) == result(RUN.iloc[7:60].astype(object), QRELS, {})


def test_judgments_in_arrow_have_the_digest_of_others_and_the_same_errors() -> None:
    plain = QRELS.astype({"topic": object, "docno": object})
    qrels = gradedeval.Qrels(in_arrow(QRELS))
    assert qrels.digest == gradedeval.Qrels(plain).digest
    assert qrels.codes == gradedeval.Qrels(plain).codes
    twice = pd.concat([QRELS, QRELS[:1].assign(grade=7)])
    for frame in (twice, QRELS.rename(columns={"grade": "score"}).assign(score=0.5), QRELS.assign(label=1)):
        with pytest.raises(gradedeval.InputError) as error:
            gradedeval.Qrels(frame.astype({"topic": object, "docno": object}))
        with pytest.raises(gradedeval.InputError) as same:
            gradedeval.Qrels(in_arrow(frame))
        assert str(error.value) == str(same.value)
