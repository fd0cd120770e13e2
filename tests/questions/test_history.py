"""`history`: reading the appended entries back, concurrent writers, and comparability of entries."""

import json
import os
import re
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gradedeval
from gradedeval import EvaluationWarning, InputError, append_history, read_history
from gradedeval.kernel.trec.atomic_write import append_lines
from support.commands import Command
from support.paths import SAMPLES

RUN, QRELS = str(SAMPLES / "rivers-bm25.run"), str(SAMPLES / "rivers.qrels")
JUDGED = {f"t{number}": {"a": 1, "b": 0} for number in range(4)}


def scores(first: str, **options: Any) -> gradedeval.Scores:
    """Score runs that have a or b first on the first topics, and b on the others."""
    runs = {topic: {docno: 2.0, "x": 1.0} for topic, docno in zip(JUDGED, first, strict=True)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        return gradedeval.evaluate({"r": runs}, JUDGED, "rr esl", **options)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the path of a history to write."""
    return tmp_path / "history.jsonl"


def test_history_shows_the_scores_of_a_run_over_time(file: Path) -> None:
    for day, first in enumerate(("abbb", "aabb", "aaab", "abbb"), 1):
        append_history(scores(first), file, time=f"2026-01-0{day}", label=f"c{day}")
    frame = read_history(file).frame
    course = frame[frame["measure"] == "rr"]
    assert course["score"].tolist() == [0.25, 0.5, 0.75, 0.25]
    assert course["label"].tolist() == ["c1", "c2", "c3", "c4"]
    assert course["change"].tolist()[1:] == [0.25, 0.25, -0.5]
    assert course["from_best"].tolist() == [0, 0, 0, -0.5]
    assert course["topics"].tolist() == [4] * 4
    assert (course["low"] <= course["score"]).all()
    assert not course["changed"].any()


def test_a_history_is_ordered_by_time_not_by_line(file: Path) -> None:
    append_history(scores("aabb"), file, time="2026-01-02T00:00:00+01:00")
    append_history(scores("abbb"), file, time="2026-01-01")
    frame = read_history(file).frame
    assert frame[frame["measure"] == "rr"]["score"].tolist() == [0.25, 0.5]


def test_intervals_are_at_95_percent_and_no_signature_says_otherwise(file: Path, tmp_path: Path, cli: Command) -> None:
    append_history(scores("abab"), file, time="2026-01-01")
    with pytest.warns(EvaluationWarning, match=r"history.jsonl: keeps intervals at 95%, as every"):
        append_history(scores("abab", interval=0.5), file, time="2026-01-01")
    append_history(scores("abab", interval=0.95), file, time="2026-01-01")
    plain, *others = file.read_text().splitlines()
    assert others == [plain, plain]
    outcome = cli(RUN, QRELS, "-m", "rr", "--interval", "0.5", "--history", "other.jsonl")
    assert "other.jsonl: keeps intervals at 95%, as every history does, not at 50%" in outcome.messages
    assert "interval" not in (tmp_path / "other.jsonl").read_text()


def test_entries_of_other_qrels_or_options_are_not_compared(file: Path) -> None:
    append_history(scores("aaaa"), file, time="2026-01-01")
    append_history(scores("abbb", depth=1), file, time="2026-01-02")
    append_history(scores("aabb", depth=1), file, time="2026-01-03")
    course = read_history(file).frame.query("measure == 'rr'")
    assert [bool(changes) for changes in course["changed"]] == [False, True, False]
    assert course["changed"].iloc[1].startswith("depth")
    assert course["change"].isna().tolist() == [True, True, False]
    assert course["from_best"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("earlier", "later", "changed"),
    [
        ({"topics": "qrels"}, {"topics": "relevant"}, "topics"),
        ({"topics_from": ["t0", "t1"]}, {"topics_from": ["t2", "t3"]}, "chosen topics 2 ("),
        ({"max_residual": 0.9}, {"max_residual": 0.6}, "max residual 0.9 → 0.6"),
        ({"max_residual": 0.9}, {}, "max residual"),
        ({"residual_depth": "full", "residuals": "total"}, {}, ""),  # chooses no topics
    ],
)
def test_entries_over_other_topics_are_not_compared(
    earlier: dict[str, Any], later: dict[str, Any], changed: str, file: Path
) -> None:
    append_history(scores("abba", **earlier), file, time="2026-01-01")
    append_history(scores("abba", **later), file, time="2026-01-02")
    second = read_history(file).frame.query("measure == 'rr'").iloc[1]
    assert second["changed"].startswith(changed)
    assert bool(second["changed"]) == bool(changed)
    assert pd.isna(second["change"]) == bool(changed)


def edited(file: Path, line: int, **parts: Any) -> None:
    """Write the history again with other parts in a line."""
    lines = file.read_text().splitlines()
    lines[line] = json.dumps(json.loads(lines[line]) | parts)
    file.write_text("\n".join(lines) + "\n")


def test_another_version_or_number_of_topics_is_not_compared_but_a_missing_topic_is(file: Path) -> None:
    for day in (1, 2, 3, 4):
        append_history(scores("abba"), file, time=f"2026-01-0{day}")
    first, second, third, _ = map(json.loads, file.read_text().splitlines())
    version = first["signature"].split(" | ")[0]
    edited(file, 1, signature=second["signature"].replace(version, "gradedeval 9.9"))
    newer = third["signature"].replace(version, "gradedeval 9.9")
    edited(file, 2, signature=newer.replace("4 of 4", "4 of 4 (1 missing)"))
    edited(file, 3, signature=newer,
           scores={"rr": {"score": 0.5, "low": None, "high": None, "topics": 3}})  # fmt: skip
    changed = read_history(file).frame.query("measure == 'rr'")["changed"].tolist()
    assert changed == ["", f"{version} → 9.9", "", "number of topics 4 → 3"]


WHOLE: dict[str, Any] = {"gradedeval_history": 1, "time": "2026-01-01", "label": "", "run": "r", "signature": "s",
                         "scores": {"ap": {"score": 0.5}}}  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"scores": {"ap": {}}}, "has no score of 'ap'; remove the line"),
        ({"scores": {"ap": {"score": "0.5"}}}, "'score' of 'ap' is not a number"),
        ({"scores": {"ap": {"score": 0.5, "low": "x"}}}, "'low' of 'ap' is not a number"),
        ({"scores": {"ap": {"score": float("nan")}}}, "'score' of 'ap' is not a number"),
        ({"scores": {"ap": {"score": 10**400}}}, "'score' of 'ap' is not a number"),
        ({"scores": []}, "'scores' is not valid"),
        ({"passed": "yes"}, "'passed' is not valid"),
        ({"signature": None}, "'signature' is not text"),
        ({"scores": {"ap": {"score": 1, "answer": 3}}}, "'answer' of 'ap' is none of no worse, worse, cannot tell"),
        ({"gradedeval_history": "1"}, 'has "1" as version of the format, which is not a whole number; remove the line'),
    ],
)
def test_a_line_of_another_shape_is_one_message(parts: dict[str, Any], message: str, file: Path) -> None:
    file.write_text(f"{json.dumps(WHOLE)}\n{json.dumps(WHOLE | parts)}\n")
    with pytest.raises(InputError) as error:
        read_history(file)
    assert f"history.jsonl:2: {message}" in str(error.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1" * 5000, "is not valid JSON (a number has too many digits); remove the line"),
        ("[" * 50_000 + "]" * 50_000, "is not a line of a history; they are written by"),
        ("1e400", "'score' of 'ap' is not a number"),
    ],
)
def test_a_line_of_hostile_numbers_or_brackets_is_not_truncated(value: str, message: str, file: Path) -> None:
    file.write_text(f"{json.dumps(WHOLE)}\n{json.dumps(WHOLE).replace('0.5', value)}\n")
    with pytest.raises(InputError, match=re.escape(f"history.jsonl:2: {message}")):
        read_history(file)


@pytest.mark.parametrize("measure", ["(" * 30_000, "ia(" * 7_500 + "ap" + ")" * 7_500, f"ap(rel={'1' * 5000})"])
def test_a_measure_of_hostile_size_is_unknown(measure: str, file: Path) -> None:
    lines = [WHOLE | {"time": f"2026-01-0{day}", "scores": {measure: {"score": day}}} for day in (1, 2)]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert read_history(file).frame["change"].tolist()[1:] == [1]


def test_the_best_is_the_lowest_if_lower_is_better(file: Path) -> None:
    for day, first in enumerate(("aaab", "aaaa", "aabb"), 1):
        append_history(scores(first), file, time=f"2026-01-0{day}")
    course = read_history(file).frame.query("measure == 'esl'")
    assert course["from_best"].iloc[1] == 0
    assert course["from_best"].iloc[2] > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_twenty_writers_lose_no_line(tmp_path: Path) -> None:
    file, lines = tmp_path / "history.jsonl", 20
    children = []
    for writer in range(20):
        child = os.fork()
        if not child:
            for number in range(lines):
                append_lines(file, [json.dumps({"writer": writer, "number": number, "more": "x" * 3000})])
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    # A writer that sees another one's line half written begins a new line, perhaps after a blank one.
    entries = [json.loads(line) for line in file.read_text().splitlines() if line]
    assert len(entries) == 20 * lines
    for writer in range(20):  # the lines of each writer in its order
        assert [entry["number"] for entry in entries if entry["writer"] == writer] == list(range(lines))


def test_a_truncated_line_is_skipped_with_a_note(file: Path) -> None:
    append_history(scores("aabb"), file, time="2026-01-01")
    with file.open("a") as torn:
        torn.write('{"gradedeval_history": 1, "time": "2026')
    with pytest.warns(EvaluationWarning, match="cut short"):
        assert read_history(file).notes == [f"{file}: line 2 cut short while being written; skipped"]
    append_history(scores("aaab"), file, time="2026-01-03")
    with pytest.warns(EvaluationWarning, match="cut short"):
        frame = read_history(file).frame
    assert frame.query("measure == 'rr'")["score"].tolist() == [0.5, 0.75]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"gradedeval_history": 2, "time": "x"}\n', ":1: is of version 2 of the format, and this reads"),
        (b"run,topic,score\n", ":1: is not a line of a history; they are written by `gradedeval eval --history`"),
        (b'{"gradedeval_history": 1, "ti', ": holds no evaluation (line 1 cut short while being written); write one"),
        (b"[" * 100_000 + b"\n", ":1: is not a line of a history"),
        (b'{"gradedeval_history": 1, "time": "2026-01-01"}\n', ":1: lacks a part of an evaluation; remove the line"),
        (b"\n", ": holds no evaluation; write one with `gradedeval eval --history`"),
    ],
    ids=lambda value: repr(value[:30]),
)
def test_a_bad_line_is_one_message(line: bytes, message: str, file: Path, cli: Command) -> None:
    file.write_bytes(line)
    outcome = cli("history", str(file))
    assert (outcome.code, len(outcome.messages)) == (1, 1)
    assert f"history.jsonl{message}" in outcome.messages[0]


def test_history_reads_the_lines_of_eval_and_check(tmp_path: Path, cli: Command) -> None:
    file = str(tmp_path / "history.jsonl")
    words = ("-m", "err@20", "--history", file, "--label", "abc123")
    assert cli(RUN, QRELS, *words).code == 0
    assert cli("check", RUN, QRELS, "--min", "err@20=0.9", "--history", file).code == 1
    text = cli("history", file).text
    assert re.search(r"[\d-]{10} \d\d:\d\d  abc123  0\.2886", text)
    assert "FAILED" in text
    rows = [json.loads(line) for line in cli("history", file, "-f", "jsonl").text.splitlines()]
    assert [row["passed"] for row in rows] == [None, False]
    assert rows[1]["change"] == 0
    for row in rows:
        assert abs((datetime.now(UTC) - datetime.fromisoformat(row["time"])).total_seconds()) < 600


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((RUN, QRELS, "--label", "x"), "--label: there is no history to write to; add --history FILE"),
        ((RUN, QRELS, "--history", RUN), "--history: '"),
        ((RUN, QRELS, "--history", "-"), "--history: '-' is not a file that can be appended to; name one, as in"),
        (("history",), "0 files given; name one history: gradedeval history FILE"),
    ],
)
def test_invalid_use_of_history_is_one_line(
    words: tuple[str, ...], message: str, tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = cli(*words)
    assert outcome.code == 2
    assert message in outcome.messages[-1]


def test_an_invalid_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^time: 'noon' is not a time; write it like 2026-11-22T13:00:00Z$"):
        append_history(scores("aabb"), tmp_path / "h.jsonl", time="noon")
    assert list(tmp_path.iterdir()) == []


def test_unknown_names_are_reported(file: Path, tmp_path: Path, cli: Command) -> None:
    append_history(scores("aabb"), file, time="2026-01-01")
    assert "has no measure 'err@20'" in cli("history", str(file), "-m", "err@20").messages[0]
    with pytest.raises(InputError, match="cannot be written"):
        append_history(scores("aabb"), tmp_path / "none" / "h.jsonl", time="2026-01-01")


def test_the_mark_is_explained_below_its_table(file: Path, cli: Command) -> None:
    append_history(scores("aabb"), file, time="2026-01-01")
    assert "≠" not in cli("history", str(file)).text
    append_history(scores("aabb", depth=1), file, time="2026-01-02")
    text = cli("history", str(file)).text
    assert "≠ depth" in text
    assert "≠: not comparable with the line above" in text
