"""Click logs: columns, notations, sessions, and messages about bad lines."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gradedeval import InputError, Qrels, clicks
from gradedeval.clicks.learned_gains import read_preferences
from gradedeval.clicks.log import ClickLog

HEAD = b"topic\tclicks\tshown\tuser\n"
LINES = b"q1\t3 1 3\ta b c\tann\nq1\t-\ta b c\tann\nq1\t\tb a c\tbob\nq2\t1\td\t\n"


def log_of(text: bytes, **options: Any) -> ClickLog:
    file = io.BytesIO(text)
    file.name = "log"
    return clicks.read_log(file, **options)


def sessions(log: ClickLog) -> list[tuple[Any, ...]]:
    """Return the sessions, in any order: topic, clicks, list, user."""
    users = [-1] * len(log.count) if log.user is None else log.user.tolist()
    rows = zip(log.configuration.tolist(), log.pattern.tolist(), users, log.count.tolist(), strict=True)
    tuples = []
    for configuration, pattern, user, count in rows:
        name = log.users[user] if user >= 0 else ""
        tuples += [(log.topics[configuration], log.patterns[pattern], log.shown[configuration], name)] * count
    return sorted(tuples)


EXPECTED = [
    ("q1", (), ("a", "b", "c"), "ann"),
    ("q1", (), ("b", "a", "c"), "bob"),
    ("q1", (1, 3), ("a", "b", "c"), "ann"),
    ("q2", (1,), ("d",), ""),
]


def json_lines() -> bytes:
    rows: list[dict[str, Any]] = [
        {"topic": "q1", "clicks": [3, 1, 3], "shown": ["a", "b", "c"], "user": "ann"},
        {"topic": "q1", "clicks": [], "shown": ["a", "b", "c"], "user": "ann"},
        {"topic": "q1", "clicks": "", "shown": "b a c", "user": "bob"},
        {"topic": "q2", "clicks": 1, "shown": ["d"]},
    ]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.parametrize(
    "text", [HEAD + LINES, json_lines(), gzip.compress(HEAD + LINES, mtime=0), (HEAD + LINES).replace(b"\n", b"\r\n")]
)
def test_a_log_has_the_same_sessions_in_every_form(text: bytes) -> None:
    assert sessions(log_of(text)) == EXPECTED


def test_a_written_log_can_be_read_again() -> None:
    text = b"topic\tclicks\tshown\tuser\tlength\tcount\n" + LINES.replace(b"\n", b"\t2\t3\n")
    file = io.BytesIO()
    log = log_of(text, columns="length")
    log.write(file)
    again = log_of(file.getvalue(), columns="length")
    assert sessions(again) == sessions(log) == sorted(EXPECTED * 3)
    assert again.columns["length"][0] == ["2"]


def test_a_count_equals_as_many_lines() -> None:
    counted = log_of(b"topic\tclicks\tcount\nq\t2\t3\nq\t-\t1\nq\t2\t1\n")
    repeated = log_of(b"topic\tclicks\n" + b"q\t2\n" * 4 + b"q\t-\n")
    assert counted.sessions == 5
    for total, expected in zip(counted.totals(), repeated.totals(), strict=True):
        assert np.array_equal(total, expected)


def test_clicks_are_docnos_only_on_request() -> None:
    text = b"topic\tclicks\tshown\nq\t2 1\t5 2 1\n"
    assert sessions(log_of(text)) == [("q", (1, 2), ("5", "2", "1"), "")]
    assert sessions(log_of(text, clicks_as="docno")) == [("q", (2, 3), ("5", "2", "1"), "")]


def test_lines_within_the_idle_time_are_one_session() -> None:
    lines = [
        ("ann", "q", "1", "a b c", "0"),
        ("ann", "q", "3", "a b c", "3600"),  # exactly 60 minutes later
        ("ann", "q", "2", "a b c", "7201"),
        ("ann", "q", "2", "b a c", "10"),  # another list
        ("bob", "q", "2", "a b c", "10"),
        ("", "q", "1", "a b c", "10"),
        ("", "q", "2", "a b c", "10"),
    ]
    text = b"user\ttopic\tclicks\tshown\ttime\n" + "".join("\t".join(line) + "\n" for line in lines).encode()
    united = [(ranks, docnos, user) for _, ranks, docnos, user in sessions(log_of(text, idle="60m"))]
    abc = ("a", "b", "c")
    assert united == [((1,), abc, ""), ((1, 3), abc, "ann"), ((2,), abc, ""), ((2,), abc, "ann"), ((2,), abc, "bob"),
                      ((2,), ("b", "a", "c"), "ann")]  # fmt: skip
    assert log_of(text).sessions == 7


def test_a_byte_order_mark_is_skipped_with_a_note() -> None:
    log = log_of(b"\xef\xbb\xbf" + HEAD + LINES)
    assert sessions(log) == EXPECTED
    assert log.notes[0] == "log: starts with a byte order mark, which is skipped"


def test_a_cut_log_merges_equal_lists_and_notes_ignored_clicks() -> None:
    log = log_of(b"topic\tclicks\tshown\nq\t1 3\ta b c\nq\t1\ta b d\n", depth=2)
    assert sessions(log) == [("q", (1,), ("a", "b"), "")] * 2
    assert list(log.notes) == ["log: --depth 2: 1 click below it ignored"]


def test_clicks_in_order_of_time_get_a_note() -> None:
    assert list(log_of(HEAD + LINES).notes) == [
        "log: a second click on a rank counts once, in 1 session",
        "log: clicks are sorted by rank; the log has another order in 1 session",
    ]


RANKS = "ranks are counted from 1"
NOT_WHOLE = 'is not a whole number; write ranks separated by spaces; clicks_as="docno" reads docnos'
HEADER = (
    "expected a header such as topic, clicks, shown between tabs, commas or semicolons, or JSON Lines with these keys"
)
COUNT = "is not a whole number from 1; write the number of sessions"


def test_fields_may_be_between_commas_and_in_quotes() -> None:
    rows = [["topic", "clicks", "shown"], ["q", "1 2", "a b"], ["p, or r", "", "c"]]
    tabs = "".join("\t".join(row) + "\n" for row in rows).encode()
    commas = b'topic,clicks,shown\nq,1 2,"a b"\n"p, or r",,c\n'
    first, second = log_of(tabs), log_of(commas)
    assert first.topics == second.topics == ["q", "p, or r"]
    assert first.frame().equals(second.frame())


def test_a_quote_ends_on_its_line() -> None:
    with pytest.raises(InputError, match=r"^log:2: a quote does not end on its line"):
        log_of(b'topic,clicks,shown\n"q,1,a\nq,1,a"\n')


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q\t0\ta b", f"rank 0 is below 1; {RANKS}"),
        ("q\t1 x\ta b", f"rank 'x' {NOT_WHOLE}"),
        ("q\t²\ta b", f"rank '²' {NOT_WHOLE}"),
        ("q\t" + "9" * 5000 + "\ta b", f"rank 99999999999999999999 is too large; {RANKS}"),
        ("q\t1 3\ta b", "a click on rank 3, but 2 documents shown; ranks are those of the shown list, from 1"),
        ("q\t1\ta b a", "'a' is shown twice; give each document of a list once"),
        ("\t1\ta b", "no topic in this line; fill the field, or remove the line"),
        ("q\t1", "2 fields, expected 3 (topic, clicks, shown); separate the fields as in the header"),
        ("q\t1\ta\x00b", "control byte 0x00; save the file as UTF-8"),
    ],
)
def test_a_bad_line_has_a_message_of_one_line(line: str, message: str) -> None:
    text = f"topic\tclicks\tshown\n{line}\nq\t1\ta b\n".encode()
    with pytest.raises(InputError) as raised:
        log_of(text)
    assert str(raised.value) == f"log:2: {message}"
    log = log_of(text, lenient=True)
    assert (log.sessions, list(log.notes)) == (1, ["log: skipped 1 bad line, the first on line 2"])


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (b'{"topic": "q", "clicks": [1]}\n{"topic": "q", "clicks": [' + b"1" * 5000 + b"]}\n", {},
         "log:2: is not valid JSON (a number has too many digits); write an object a line"),
        (b"", {}, f"log: no session; {HEADER}"),
        (b"topic\tshown\nq\ta\n", {}, f"log:1: no column 'clicks'; {HEADER}"),
        (b"q1\t1 2\nq1\t1\n", {}, f"log:1: no column 'topic' in the header; {HEADER}"),
        (b"topic\tclicks\ttopic\nq\t1\tq\n", {}, "log:1: two columns 'topic'; give each column a different name"),
        (b"topic\tclicks\tcount\nq\t1\t0\n", {}, f"log:2: count '0' {COUNT}"),
        (b"topic\tclicks\tsession\nq\t1\ts\nq\t2\ts\n", {},
         "log:3: session 's' a second time; give each session once, with all its clicks"),
        (b"topic\tclicks\tshown\nq\td\ta b\n", {"clicks_as": "docno"},
         "log:2: 'd' is clicked but not shown; clicks are on documents of the list"),
        (b"topic\tclicks\nq\t1\n", {"columns": "lenght"}, "log:1: no column 'lenght'; there are topic, clicks"),
        (b"topic\tclicks\tuser\nq\t1\ta\n", {"idle": "60m"}, "log:1: no column 'time'; there are topic, clicks, user"),
        (b"topic\tclicks\tuser\ttime\nq\t1\ta\tNA\n", {"idle": "60m"},
         "log:2: time 'NA' is not a number; expected seconds, such as 12.5"),
        (b"topic\tclicks\n", {"idle": "soon"}, "idle: 'soon' is not a time; write 60m, 1h or 3600s"),
        (b'{"topic": "q", "clicks": [1]}\n{"topic": "q"}\n', {},
         "log:2: no key 'clicks'; every line needs topic and clicks"),
        (b'{"topic": "q", "clicks": 1, "user": "a", "tme": 5}\n', {"idle": "60m"},
         "log: no key 'time'; did you mean 'tme'?"),
        (b'{"topic": "q", "clicks": {"a": 1}}\n', {}, "log:1: clicks is a dict; give text or numbers"),
        ("topic\tclicks\nq\t1\n".encode("utf-16"), {},
         "log:1: starts with a byte order mark; save the file as UTF-8 without a byte order mark"),
        (gzip.compress(HEAD + LINES, mtime=0)[:-9], {},
         "log: broken compressed data (unexpected end of file); copy or compress the file again"),
    ],
)  # fmt: skip
def test_a_bad_log_has_a_message_of_one_line(text: bytes, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        log_of(text, **options)
    assert str(raised.value) == message


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + LINES * 40
    whole = sessions(log_of(text))
    for size in (7, 64):
        monkeypatch.setattr("gradedeval.kernel.trec.line_reader.SIZE", size)
        assert sessions(log_of(text)) == whole


INSERTED = [b"\t", b"\n", b"\x00", b"\xff", b"-1 ", b"1e9 ", b"'", b"{", b"[" * 2000]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("text", [HEAD + LINES, json_lines(), gzip.compress(HEAD + LINES)], ids=["tabs", "json", "gz"])
def test_a_hostile_log_is_read_or_refused_in_lines(text: bytes) -> None:
    """Read logs with bytes changed, removed, copied and inserted at random: the outcome is a log or an error in
    lines."""
    draw = np.random.default_rng(18)
    for _ in range(150):
        broken = bytearray(text)
        for _ in range(draw.integers(1, 4)):
            start, end = sorted(draw.integers(0, len(broken) + 1, 2).tolist())
            change = draw.integers(4)
            if change == 0 and start < len(broken):
                broken[start] = draw.integers(256)
            elif change == 1:
                del broken[start : min(end, start + 9)]
            elif change == 2:
                broken[start:start] = broken[start:end]
            else:
                broken[start:start] = INSERTED[draw.integers(len(INSERTED))]
        for lenient in (False, True):
            message, count = "log", 1
            try:
                count = log_of(bytes(broken), lenient=lenient).sessions
            except InputError as error:
                message = str(error)
            assert count >= 1
            assert all(line.startswith("log") for line in message.splitlines())


@pytest.mark.parametrize("module", [pytest.param("polars", marks=pytest.mark.exhaustive), "pyarrow"])
def test_frames_of_other_libraries_are_read(module: str) -> None:
    make = getattr(pytest.importorskip(module), {"polars": "DataFrame", "pyarrow": "table"}[module])
    log = clicks.read_log(make({"topic": ["1", "2"], "clicks": [[1, 2], []], "shown": ["a b", "b a"]}))
    nearest = clicks.fit(log, "rbp(p=0.5)", weights=make({"rank": [2, 1], "x": [0.4, 0.6]})).frame
    assert nearest["measure"].tolist() == ["rbp(p=0.5)", "x"]
    pairs = {"topic": ["1", "1"], "list_a": ["a b", "b"], "list_b": ["b a", "a"], "sign": [1, -1]}
    assert read_preferences(make(pairs), Qrels({"1": {"a": 1, "b": 0}})).sign.tolist() == [1, -1]
    assert log.frame()[["clicks", "shown"]].to_numpy().tolist() == [[[1, 2], ["a", "b"]], [[], ["b", "a"]]]


def test_frames_may_have_arrays_and_missing_values() -> None:
    arrays = pd.DataFrame(
        {"topic": [1, 2], "clicks": [np.array([1, 2]), np.array([])], "shown": [np.array(["a", "b"])] * 2}
    )
    assert clicks.read_log(arrays).frame()["clicks"].tolist() == [[1, 2], []]
    missing = {
        "topic": ["1", "2"],
        "clicks": pd.array([1, None], dtype="Int64"),
        "user": pd.array(["u", None], "string"),
    }
    frame = clicks.read_log(pd.DataFrame(missing)).frame()
    assert frame["clicks"].tolist() == [[1], []]
    assert frame["user"].fillna("nobody").tolist() == ["u", "nobody"]
