"""A missing id is an error that names its place, for all kinds of runs and judgments."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gradedeval
from gradedeval import InputError

GOOD = {"topic": "1", "docno": "a"}
COLUMNS = ("topic", "docno")
VALUES = {"run": "score", "qrels": "grade"}
LEAVE_OUT = "fill it in, or leave it out"
PANDAS = "; keep_default_na=False keeps ids such as NA and null as text where pandas reads a CSV"
IN_LINE = "fill the field, or remove the line"

Rows = list[tuple[Any, Any, float]]
"""Topic, docno and a whole number."""


def rows_with(column: str, missing: Any) -> Rows:
    """Return three rows; of the second a column is missing."""
    ids = {**GOOD, "docno": "b", column: missing}
    return [("1", "a", 2.0), (ids["topic"], ids["docno"], 1.0), ("2", "a", 1.0)]


def frame_of(rows: Rows, value: str, dtype: Any = object) -> pd.DataFrame:
    topics, docnos, numbers = zip(*rows, strict=True)
    ids = [pd.Series(column, dtype=dtype) for column in (topics, docnos)]
    return pd.DataFrame({"topic": ids[0], "docno": ids[1], value: numbers})


def records_of(rows: Rows, value: str) -> list[dict[str, Any]]:
    return [{"topic": topic, "docno": docno, value: number} for topic, docno, number in rows]


def polars_of(rows: Rows, value: str) -> Any:
    return pytest.importorskip("polars").DataFrame(records_of(rows, value))


def arrow_of(rows: Rows, value: str) -> Any:
    return importlib.import_module("pyarrow").Table.from_pylist(records_of(rows, value))


def dict_of(rows: Rows, value: str) -> dict[Any, Any]:
    documents_by_topic: dict[Any, Any] = {}
    for topic, docno, number in rows:
        documents_by_topic.setdefault(topic, {})[docno] = number
    return documents_by_topic


def lists_of(rows: Rows, value: str) -> dict[Any, Any]:
    return {topic: list(documents.items()) for topic, documents in dict_of(rows, value).items()}


IN_MEMORY: dict[str, Callable[[Rows, str], Any]] = {
    "tuples": lambda rows, value: rows,
    "records": records_of,
    "dict": dict_of,
    "lists": lists_of,
    "pandas": frame_of,
    "pandas str": lambda rows, value: frame_of(rows, value, "string"),
    "polars": polars_of,
    "arrow": arrow_of,
}
"""Python objects with rows."""

SECOND_ROW = {"dict": "['1']", "lists": "['1'][1]"}
"""The place of the second row's docno, if it has no number."""


def csv_of(separator: str) -> Callable[[Path, Rows, str], None]:
    def write(path: Path, rows: Rows, value: str) -> None:
        lines = [(*COLUMNS, value), *((topic or "", docno or "", f"{number:g}") for topic, docno, number in rows)]
        path.write_text("".join(f"{separator.join(line)}\n" for line in lines))

    return write


def json_lines(path: Path, rows: Rows, value: str) -> None:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records_of(rows, value)))


def json_nested(path: Path, rows: Rows, value: str) -> None:
    path.write_text(json.dumps(dict_of(rows, value)))


FILES: dict[str, tuple[Callable[[Path, Rows, str], Any], str, tuple[Any, ...]]] = {
    "csv": (csv_of(","), ":3", ("",)),
    "tsv": (csv_of("\t"), ":3", ("",)),
    "jsonl": (json_lines, ":2", (None, "")),
    "json records": (lambda path, rows, value: path.write_text(json.dumps(records_of(rows, value))), ":2", (None, "")),
    "json nested": (json_nested, "['1']", ("",)),
    "json lists": (
        lambda path, rows, value: path.write_text(json.dumps(lists_of(rows, value))),
        "['1'][1]",
        (None, ""),
    ),
    "parquet": (lambda path, rows, value: frame_of(rows, value).to_parquet(path), ":2", (None, "")),
    "feather": (lambda path, rows, value: frame_of(rows, value).to_feather(path), ":2", (None, "")),
}
"""Files: the writer, the place of the second row, and the values of a missing id."""


def message_of(source: Any, holds: str, **options: Any) -> str:
    """Return the message of the error that a run or judgments raise."""
    good = {"1": {"a": 1.0, "b": 1.0}}
    run, qrels = (source, good) if holds == "run" else (good, source)
    with pytest.raises(InputError) as error:
        gradedeval.evaluate(run, qrels, "ap", **options)
    return str(error.value)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("holds", VALUES)
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, ""], ids=["None", "nan", "NA", "empty"])
@pytest.mark.parametrize(
    "carrier", [pytest.param(name, marks=pytest.mark.exhaustive if name == "polars" else ()) for name in IN_MEMORY]
)
def test_an_object_names_the_row_of_a_missing_id(carrier: str, missing: Any, column: str, holds: str) -> None:
    if carrier in ("polars", "arrow") and missing is pd.NA:
        missing = None  # neither takes the NA of pandas
    if carrier in ("polars", "arrow") and isinstance(missing, float):
        missing = None  # a column of text holds no number
    source = IN_MEMORY[carrier](rows_with(column, missing), VALUES[holds])
    place = SECOND_ROW.get(carrier, ":2") if column == "docno" or carrier not in SECOND_ROW else f"[{missing!r}]"
    if carrier == "lists" and column == "topic":
        place = ":2"  # the rows are numbered through
    is_pandas = missing is pd.NA or isinstance(missing, float) or (carrier == "pandas str" and missing is None)
    expected = f"{holds}{place}: no {column}; {LEAVE_OUT}{PANDAS if is_pandas else ''}"
    assert message_of(source, holds) == expected


@pytest.mark.parametrize("holds", VALUES)
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize(
    ("format", "missing"), [(name, missing) for name, (_, _, ways) in FILES.items() for missing in ways]
)
def test_files_name_the_place_of_no_id(format: str, missing: Any, column: str, holds: str, tmp_path: Path) -> None:
    write, place, _ = FILES[format]
    rows = rows_with(column, missing)
    if format.startswith("json ") and format != "json records" and column == "topic":
        rows, place = rows_with(column, ""), "['']" if format == "json nested" else ":2"  # names are text
    path = tmp_path / "file"
    write(path, rows, VALUES[holds])
    lines = format in ("csv", "tsv")
    message = f"no {column} in this line; {IN_LINE}" if lines else f"no {column}; {LEAVE_OUT}"
    assert message_of(path, holds) == f"{path}{place}: {message}"


def test_a_missing_id_is_reported_before_ids_that_pandas_made_floats() -> None:
    frame = pd.DataFrame({"topic": [51, None, 52], "docno": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]})
    assert message_of(frame, "run") == f"run:2: no topic; {LEAVE_OUT}{PANDAS}"


def test_the_advice_for_pandas_keeps_ids_that_look_missing(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("topic,docno,score\n1,NA,2\n1,null,1\n")
    assert ":1: no docno" in message_of(pd.read_csv(tmp_path / "run.csv", dtype={"topic": str}), "run")
    kept = pd.read_csv(tmp_path / "run.csv", dtype={"topic": str}, keep_default_na=False)
    assert gradedeval.evaluate(kept, {"1": {"NA": 1}}, "ap").means == {"ap": 1}
