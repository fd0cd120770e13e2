"""Frames hold every id, in any string storage of pandas."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval.kernel.formats.tables import as_bytes
from gradedeval.kernel.scoring.results import InNotebook, distinct, group_numbers, groups, joined, merged, to_frame
from support.results import WITHOUT_IDS, calls_on

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")  # small examples

ODD = "caf\udce9"
QRELS = {ODD: {ODD: 2, "b": 1, "c": 0}, "2": {"a": 1, ODD: 0}}
RUNS = {
    ODD: {ODD: {ODD: 3.0, "b": 2.0, "x": 1.0}, "2": {"a": 2.0, ODD: 1.0}},
    "b": {ODD: {"b": 3.0, ODD: 2.0, "x": 1.0}, "2": {ODD: 2.0, "a": 1.0}},
}
COLUMNS = ("topic", "docno", "score")


def column(frame: pd.DataFrame, name: str = "id") -> list[Any]:
    return [None if value is None or value != value else value for value in frame[name].tolist()]


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ({"id": [ODD, None], "n": [1, 2]}, None),
        ({"id": np.array([ODD, None], dtype=object), "n": 1}, None),
        ([{"id": ODD, "n": 1}, {"id": None, "n": 2}], None),
        ([(ODD, 1), (None, 2)], ["id", "n"]),
    ],
)
def test_a_frame_of_anything_holds_every_id(content: Any, columns: list[str] | None) -> None:
    storage = pd.get_option("mode.string_storage")
    frame = to_frame(content, columns)
    assert column(frame) == [ODD, None]
    assert frame["n"].dtype == "int64"
    assert str(frame["id"].dtype) == str(to_frame({"id": ["cafe"]})["id"].dtype)  # as of any other text
    assert pd.get_option("mode.string_storage") == storage


def test_a_frame_has_the_names_of_its_columns_and_of_arrays_of_text() -> None:
    assert list(to_frame([[1]], [ODD]).columns) == [ODD]
    assert column(to_frame({"id": np.array([ODD, "b"])})) == [ODD, "b"]
    assert column(to_frame({"id": ODD, "n": [1, 2]})) == [ODD, ODD]


def test_frames_mix_text_that_arrow_holds_and_refuses() -> None:
    plain, odd = to_frame({"id": ["cafe"], "n": [1]}), to_frame({"id": [ODD], "n": [1]})
    for pair in ((plain, odd), (odd, plain)):
        assert sorted(column(joined(pair))) == ["cafe", ODD]
    assert column(merged(odd, plain, ["n"]), "id_x") == [ODD]
    assert column(merged(odd, plain, ["id"])) == []
    assert column(merged(odd, joined([plain, odd]), ["id"])) == [ODD]


def test_frames_of_users_can_be_joined_with_frames_of_results() -> None:
    with pd.option_context("mode.string_storage", "python"):
        frame = pd.DataFrame({"id": ["cafe"], "n": [1]})
    assert column(pd.concat([frame, to_frame({"id": [ODD], "n": [1]})])) == ["cafe", ODD]


def test_a_frame_of_results_is_grouped_pivoted_and_matched() -> None:
    frame = gradedeval.evaluate(RUNS, QRELS, "err@5 ap").frame
    assert frame.groupby("run", sort=False)["score"].mean().index.tolist() == [ODD, "b"]
    assert set(frame.pivot_table(index="topic", columns="run", values="score").columns) == {ODD, "b"}
    assert len(frame.merge(frame, on=["run", "topic", "measure"])) == len(frame)
    assert len(frame[frame["topic"] == ODD]) == 4
    assert frame["run"].value_counts()[ODD] == 6


def scores() -> gradedeval.Scores:
    return gradedeval.evaluate(RUNS, QRELS, "ap")


RESULTS = calls_on(RUNS, QRELS)
OF_FILES = {"lint", "read_history"}


def frames_of(result: Any) -> list[pd.DataFrame]:
    """Return a frame as a list, or all frames of a result."""
    parts = ("frame", *vars(result)) if isinstance(result, InNotebook) else ()
    return [
        part for part in (result, *(getattr(result, name, None) for name in parts)) if isinstance(part, pd.DataFrame)
    ]


def test_every_function_that_returns_frames_is_walked() -> None:
    offered = {name: getattr(gradedeval, name) for name in gradedeval.__all__}
    others = {"None", "str", "Floats", "Measure", "list[Measure]", "dict[str, Measure]", "Verification"}
    functions = {name for name, value in offered.items() if inspect.isfunction(value)}
    walked = {name for name in functions if str(offered[name].__annotations__.get("return")) not in others}
    assert walked - OF_FILES == set(RESULTS)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", RESULTS)
def test_frames_of_results_hold_every_id(name: str) -> None:
    frames = frames_of(RESULTS[name]())
    assert frames
    held = {value for frame in frames for part in frame.columns for value in frame[part].astype(object).tolist()}
    assert (ODD in held) == (name not in WITHOUT_IDS)


def test_frames_of_files_hold_every_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(f"{ODD}.run").write_bytes(b"1 Q0 caf\xe9 1 2 t\n1 Q0 caf\xe9 2 1 t\n")
    assert gradedeval.lint(f"{ODD}.run")["file"].tolist() == [f"{ODD}.run"]
    gradedeval.append_history(scores(), "history", time="2026-01-01")
    assert set(gradedeval.read_history("history").frame["run"]) == set(RUNS)


def test_a_frame_that_was_made_is_read() -> None:
    frame = scores().frame
    assert set(gradedeval.compare(frame)["run"]) | set(gradedeval.compare(frame)["baseline"]) == set(RUNS)
    rows = [(topic, docno, score) for topic, documents in RUNS[ODD].items() for docno, score in documents.items()]
    run = to_frame(rows, COLUMNS)
    assert gradedeval.evaluate(run, QRELS, "ap").runs[0].topics == [ODD, "2"]
    assert gradedeval.evaluate(run, QRELS, "ap").runs[0].score.tolist() == scores().runs[0].score.tolist()


def test_a_report_is_text(tmp_path: Path) -> None:
    page = gradedeval.html_report(RUNS, QRELS, "ap")
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    assert r"caf\xe9" in page


def test_a_lone_surrogate_is_refused_as_an_id_and_written_as_its_escape(tmp_path: Path) -> None:
    for run in ({"1": {"\ud800": 1.0, "b": 0.5}}, to_frame([("1", "\ud800", 1), ("1", "b", 0)], COLUMNS)):
        with pytest.raises(gradedeval.InputError, match=r"id '\\ud800' is not valid text"):
            gradedeval.evaluate(run, {"1": {"b": 1}}, "ap")
    gradedeval.append_history(scores(), tmp_path / "history", label="\ud800")
    history = gradedeval.read_history(tmp_path / "history")
    assert r">\ud800 " in history._repr_html_()
    assert as_bytes(f"\ud800{ODD}") == b"\\ud800caf\xe9"


def test_groups_distinguish_text_that_is_not_utf8() -> None:
    """Group values that pandas 2 takes as equal."""
    names = [f"{number}\udce9" for number in range(8)]
    frame = to_frame({"run": [*names, *names], "kind": ["a"] * 8 + ["b"] * 8, "value": range(16)})
    assert distinct(frame, "run") == names
    assert distinct(frame, "kind", "run")[8:] == [("b", name) for name in names]
    assert group_numbers(frame, "run").tolist() == [*range(8), *range(8)]
    assert {name: group["value"].tolist() for name, group in groups(frame, "run").items()} == {
        name: [number, number + 8] for number, name in enumerate(names)
    }
