"""Broken input gives one clear line, a non-zero exit code and no output; odd but legal input gives the right
numbers."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest

from gradedeval.kernel.trec.decompression import SLICE, Packing, decompressed_pieces
from gradedeval.kernel.trec.stream import Source
from support.broken import CASES, PACKERS, QRELS, RUN, Broken, by_name, check_refused, contents, zstd
from support.commands import Command, Outcome, environment, python, shell, succeed
from support.every_command import POSITIONS, collection, filled
from support.every_command import WORDS as CALLS
from support.examples import sampled
from support.generated_docs import LEAVES


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", LEAVES)
def test_a_missing_option_is_no_crash(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Command) -> None:
    """Without an option there is a result, or an error with a message of ours."""
    monkeypatch.chdir(tmp_path)
    ids = dict.fromkeys(POSITIONS, b"cafe")
    collection(ids)
    options = {
        flag: option for option in LEAVES[name].params if isinstance(option, click.Option) for flag in option.opts
    }
    for call in CALLS[name]:
        words = filled(call, ids)
        for index in (index for index, word in enumerate(words) if word in options):
            option = options[words[index]]
            behind = index + 1 + (0 if option.is_flag else option.nargs)
            done = cli(*name.split(), *words[:index], *words[behind:])
            assert done.code in (0, 1, 2, 3), words
            assert done.code == 0 or done.messages or done.out, words


@pytest.mark.one_in(3)
@by_name
def test_broken_input_gives_one_clear_message_and_no_output(case: Broken, tmp_path: Path, cli: Command) -> None:
    case.write(tmp_path)
    original = contents(tmp_path)
    check_refused(cli(*case.arguments, stdin=case.stdin), case.code, case.says)
    assert contents(tmp_path) == original


@pytest.mark.one_in(3)
@pytest.mark.parametrize("case", sampled(CASES, 4), ids=lambda case: case.name)
def test_broken_input_leaves_the_output_file_as_it_was(case: Broken, tmp_path: Path, cli: Command) -> None:
    if case.arguments[0] == "measures" or "-o" in case.arguments:
        pytest.skip("has no output file, or is about it")
    case.write(tmp_path)
    (tmp_path / "out.csv").write_bytes(b"yesterday's numbers\n")
    original = contents(tmp_path)
    assert cli(*case.arguments, "-o", "out.csv", stdin=case.stdin).code == case.code
    assert contents(tmp_path) == original


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "name",
    sampled(
        [
            *("swapped files", "five fields", "score nan", "an unknown option", "a gz run cut at 50%"),
            *("-m rpb", "a measure that fails"),
        ],
        3,
    ),
)
def test_a_process_of_its_own_prints_the_same(name: str, tmp_path: Path, cli: Command, process: Command) -> None:
    case = next(case for case in CASES if case.name == name)
    case.write(tmp_path)
    apart, here = process(*case.arguments), cli(*case.arguments)
    assert (apart.code, apart.out, apart.messages) == (here.code, here.out, here.messages)


def test_a_wrong_name_is_refused_before_any_file_is_read(cli: Command) -> None:
    outcome = cli("none.txt", "none.qrels", "-m", "rpb")
    assert (outcome.code, outcome.messages) == (2, ["unknown measure 'rpb'; did you mean 'rbp'?"])


# Files that may not be read or written


@contextmanager
def unprivileged() -> Iterator[None]:
    """Drop the rights of root for a while, which override permissions."""
    if os.geteuid() != 0:
        yield
        return
    try:
        os.seteuid(65534)
    except OSError:
        pytest.skip("root that may not become somebody else sees no permissions")
    try:
        yield
    finally:
        os.seteuid(0)


DENIED = "permission denied; check the permissions of the file"


@pytest.mark.parametrize(
    ("closed", "mode", "words", "says"),
    [
        ("run.txt", 0, "run.txt qrels.txt", f"run.txt: {DENIED}"),
        ("qrels.txt", 0, "run.txt qrels.txt", f"qrels.txt: {DENIED}"),
        ("folder", 0, "folder/run.txt qrels.txt", f"folder/run.txt: {DENIED}"),
        (
            "folder",
            0o555,
            "run.txt qrels.txt -o folder/x.csv",
            "folder/x.csv: cannot be written (Permission denied); …",
        ),
    ],
)
def test_permissions_are_named(closed: str, mode: int, words: str, says: str, tmp_path: Path, cli: Command) -> None:
    Broken("", (), files={"x.csv": b"old"}).write(tmp_path)
    for name in ("run.txt", "x.csv"):
        (tmp_path / "folder" / name).write_bytes((tmp_path / name).read_bytes())
    assert cli("run.txt", "qrels.txt", "-f", "csv").code == 0  # and imports what is imported late, while it may be read
    tmp_path.chmod(0o755)
    original = contents(tmp_path)
    (tmp_path / closed).chmod(mode)
    try:
        with unprivileged():
            outcome = cli(*words.split())
    finally:
        (tmp_path / closed).chmod(0o755)
    check_refused(outcome, 1, (says,))
    assert contents(tmp_path) == original


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that opens and cannot be read")
@pytest.mark.parametrize("words", [("/proc/self/mem", "qrels.txt"), ("run.txt", "/proc/self/mem")])
def test_a_file_that_breaks_while_it_is_read_is_named(words: tuple[str, str], tmp_path: Path, cli: Command) -> None:
    Broken("", ()).write(tmp_path)
    check_refused(cli(*words), 1, ("/proc/self/mem: cannot be read (Input/output error); …",))


# Standard input, output and error that are full or closed


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "words", ["run.txt qrels.txt", "run.txt qrels.txt -o /dev/stdout", "measures", "-h", "eval -h"]
)
def test_a_pipe_without_a_reader_ends_in_silence_and_success(words: str, tmp_path: Path, process: Command) -> None:
    Broken("", ()).write(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        outcome = process(*words.split(), stdout=writer)
    finally:
        os.close(writer)
    assert outcome == Outcome(0, b"", b"")


@pytest.mark.exhaustive
def test_a_pipe_closed_half_way_ends_in_silence_and_success(tmp_path: Path) -> None:
    topics = range(20_000)
    (tmp_path / "run.txt").write_text("".join(f"{topic} Q0 d 1 1 t\n" for topic in topics))
    (tmp_path / "qrels.txt").write_text("".join(f"{topic} 0 d 1\n" for topic in topics))
    outcome = shell("gradedeval run.txt qrels.txt -m rr@1 -q -f csv | head -n 1", tmp_path)
    assert outcome == Outcome(0, b"run,topic,measure,score,signature\n", b"")
    assert shell("gradedeval run.txt qrels.txt -m rr@1 -q -f csv | head -n 0", tmp_path) == Outcome(0, b"", b"")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("words", [("run.txt", "qrels.txt"), ("measures",), ("--help",)])
def test_a_full_standard_output_is_a_message(words: tuple[str, ...], tmp_path: Path, process: Command) -> None:
    Broken("", ()).write(tmp_path)
    with Path("/dev/full").open("wb") as full:
        outcome = process(*words, stdout=full)
    check_refused(outcome, 1, ("<stdout>: No space left on device; the output is incomplete",))


@pytest.mark.exhaustive
def test_a_closed_standard_input_is_a_message(tmp_path: Path) -> None:
    Broken("", ()).write(tmp_path)
    check_refused(shell("gradedeval - qrels.txt <&-", tmp_path), 1, ("<stdin>: …",))
    assert shell("gradedeval run.txt qrels.txt <&-", tmp_path).code == 0


@pytest.mark.exhaustive
def test_a_closed_or_full_standard_error_changes_no_exit_code(tmp_path: Path) -> None:
    Broken("", ()).write(tmp_path)
    for redirected in ("2>&-", "2>/dev/full"):
        assert shell(f"gradedeval none.txt qrels.txt {redirected}", tmp_path) == Outcome(1, b"", b"")
        assert shell(f"gradedeval run.txt qrels.txt {redirected}", tmp_path).code == 0


# --lenient


LENIENT_RUN = b"topic Q0 docno rank score tag\n" + RUN + b"1 Q0 d 1 inf t\n1 Q0\n2 Q0 e f 1 9 t\n"
LENIENT_QRELS = b"topic iteration docno grade\n" + QRELS + b"1 0 d high\n"


def test_lenient_skips_and_counts_bad_lines_of_both_files(tmp_path: Path, cli: Command) -> None:
    Broken("", (), run=LENIENT_RUN, qrels=LENIENT_QRELS).write(tmp_path)
    words = ("run.txt", "qrels.txt", "-m", "err@20 num_ret num_rel", "-q", "-f", "csv")
    outcome = succeed(cli(*words, "--lenient"))
    assert outcome.messages == [
        "qrels.txt: skipped 2 bad lines, the first on line 1",
        "run.txt: skipped 4 bad lines, the first on line 1",
    ]
    (tmp_path / "run.txt").write_bytes(RUN)
    (tmp_path / "qrels.txt").write_bytes(QRELS)
    assert cli(*words).text == outcome.text.replace(" | lenient", "")


def test_lenient_prints_nothing_for_files_without_a_fault(tmp_path: Path, cli: Command) -> None:
    Broken("", ()).write(tmp_path)
    outcome = cli("run.txt", "qrels.txt", "--lenient")
    assert (outcome.code, outcome.messages) == (0, [])


def test_lenient_skips_a_line_without_a_rank_if_ranks_are_read(tmp_path: Path, cli: Command) -> None:
    Broken("", (), run=b"1 Q0 a one 3 t\n1 Q0 b 2 2 t\n2 Q0 c 1 1 t\n").write(tmp_path)
    words = ("run.txt", "qrels.txt", "-m", "num_ret", "-f", "csv", "--lenient")
    ranked = cli(*words, "--ties", "rank")
    assert ranked.messages == ["run.txt: skipped 1 bad line, the first on line 1"]
    assert "num_ret,2," in ranked.text
    assert "num_ret,3," in cli(*words).text  # elsewhere a rank may be anything


# Odd and legal


# Topic 1: grades 3, 2, 4 in order of score, the ERR paper's example; topic 2: unjudged, then grade 4.
ODD_RUN = b"1 Q0 x 1 30 t\n1 Q0 y 2 20 t\n1 Q0 z 3 10 t\n2 Q0 u 1 2 t\n2 Q0 w 2 1 t\n"
ODD_QRELS = b"1 0 x 3\n1 0 y 2\n1 0 z 4\n2 0 w 4\n"
EXPECTED = {"1": 7 / 16 + 3 / 16 * 9 / 16 / 2 + 15 / 16 * 13 / 16 * 9 / 16 / 3, "2": 15 / 16 / 2}


def scores_of(outcome: Outcome) -> dict[str, float]:
    """Return topic -> score, from `-q -f csv` with one measure."""
    assert outcome.code == 0, outcome.messages
    rows = list(csv.DictReader(io.StringIO(outcome.out.decode("utf-8", "surrogateescape"))))
    return {row["topic"]: float(row["score"]) for row in rows if row["topic"] != "all"}


def spaced(data: bytes) -> bytes:
    """Return the fields separated by tabs, blanks, and both."""
    gaps = [b"\t", b"  ", b" \t ", b" "]
    split = [line.split() for line in data.splitlines()]
    return b"".join(b"".join(field + gaps[index % 4] for index, field in enumerate(line)) + b"\n" for line in split)


def commented(data: bytes) -> bytes:
    return b"# made by us\n" + b"#1 Q0 x 9 99 t\n#\n".join(line + b"\n" for line in data.splitlines()) + b"# the end"


def with_scores(*scores: bytes) -> bytes:
    rows = [line.split() for line in ODD_RUN.splitlines()]
    return b"".join(b" ".join([*row[:4], score, row[5]]) + b"\n" for row, score in zip(rows, scores, strict=True))


ODD: dict[str, tuple[bytes, bytes]] = {
    "as it should be": (ODD_RUN, ODD_QRELS),
    "CRLF": (ODD_RUN.replace(b"\n", b"\r\n"), ODD_QRELS.replace(b"\n", b"\r\n")),
    "LF and CRLF in turn": (ODD_RUN.replace(b"t\n2", b"t\r\n2"), ODD_QRELS.replace(b"4\n", b"4\r\n")),
    "tabs": (ODD_RUN.replace(b" ", b"\t"), ODD_QRELS.replace(b" ", b"\t")),
    "tabs and blanks mixed": (spaced(ODD_RUN), spaced(ODD_QRELS)),
    "leading blanks": (b"  " + ODD_RUN.replace(b"\n", b"\n\t "), b" " + ODD_QRELS.replace(b"\n", b"\n  ")),
    "trailing blanks": (ODD_RUN.replace(b"\n", b" \t\n"), ODD_QRELS.replace(b"\n", b"  \n")),
    "no final newline": (ODD_RUN[:-1], ODD_QRELS[:-1]),
    "CRLF, and no final newline": (ODD_RUN.replace(b"\n", b"\r\n")[:-2], ODD_QRELS.replace(b"\n", b"\r\n")[:-2]),
    "CRLF, cut before the last newline": (ODD_RUN.replace(b"\n", b"\r\n")[:-1], ODD_QRELS.replace(b"\n", b"\r\n")[:-1]),
    "blank lines": (b"\n" + ODD_RUN.replace(b"\n", b"\n\n \n\t\r\n"), b"\r\n" + ODD_QRELS.replace(b"\n", b"\n\n")),
    "comments": (commented(ODD_RUN), commented(ODD_QRELS)),
    "interleaved topics": (
        b"".join(ODD_RUN.splitlines(keepends=True)[line] for line in (3, 0, 4, 2, 1)),
        b"".join(ODD_QRELS.splitlines(keepends=True)[line] for line in (0, 3, 2, 1)),
    ),
    "lines upside down": (
        b"".join(reversed(ODD_RUN.splitlines(keepends=True))),
        b"".join(reversed(ODD_QRELS.splitlines(keepends=True))),
    ),
    "scores in every notation": (with_scores(b"+1", b".5", b"1e-3", b"5.", b"-1.5E+2"), ODD_QRELS),
    "scores below what a float can tell from 0": (with_scores(b"1e-300", b"1e-310", b"-0.0", b"1e-399", b"-1"),
                                                  ODD_QRELS),
    "scores of many digits": (
        with_scores(b"0.30000000000000004", b"0.3", b"0.29999999999999993", b"00012345678901234567890.5", b"7"),
        ODD_QRELS,
    ),
    "grades in every notation": (ODD_RUN, b"1 0 x +3\n1 0 y 2.0\n1 0 z .4e1\n2 0 w 04\n"),
    "ranks that say nothing": (ODD_RUN.replace(b" 1 30", b" - 30").replace(b" 2 20", b" x 20"), ODD_QRELS),
    "second columns that say nothing": (ODD_RUN.replace(b"Q0", b"?"), ODD_QRELS.replace(b" 0 ", b" Q0 ")),
    "another tag in every line": (with_scores(b"5", b"4", b"3", b"2", b"1").replace(b" t\n2", b" s\n2"), ODD_QRELS),
    "docnos with # and :": (ODD_RUN.replace(b"x", b"#x:1#"), ODD_QRELS.replace(b"x", b"#x:1#")),
    "docnos that are no UTF-8": (ODD_RUN.replace(b"x", b"\xe9\xff"), ODD_QRELS.replace(b"x", b"\xe9\xff")),
    "docnos with the blanks of Unicode": (
        ODD_RUN.replace(b"x", "a\u00a0b\u2028c\u0085d".encode()),
        ODD_QRELS.replace(b"x", "a\u00a0b\u2028c\u0085d".encode()),
    ),
    "a docno of 5,000 bytes": (ODD_RUN.replace(b"x", b"x" * 5000), ODD_QRELS.replace(b"x", b"x" * 5000)),
    "docnos alike in their first 2,000 bytes": (
        ODD_RUN.replace(b"x", b"a" * 2000 + b"1").replace(b"y", b"a" * 2000 + b"2"),
        ODD_QRELS.replace(b"x", b"a" * 2000 + b"1").replace(b"y", b"a" * 2000 + b"2"),
    ),
    **{f"packed by {kind}": (pack(ODD_RUN), pack(ODD_QRELS)) for kind, pack in PACKERS.items()},
    **{
        f"packed by {kind} in two parts": (pack(ODD_RUN[:35]) + pack(ODD_RUN[35:]),
                                           pack(ODD_QRELS[:9]) + pack(ODD_QRELS[9:]))
        for kind, pack in PACKERS.items()
    },
    "packed by zstd that reads a pipe": (zstd(ODD_RUN), zstd(ODD_QRELS)),
    "gzip with zeros behind, as tape drives leave them": (gzip.compress(ODD_RUN) + bytes(512), ODD_QRELS),
}  # fmt: skip
odd = pytest.mark.parametrize("name", list(ODD))
WORDS = ("-m", "err@20", "-q", "-f", "csv")


@pytest.mark.one_in(3)
@odd
def test_odd_input_gives_the_right_numbers(name: str, tmp_path: Path, cli: Command) -> None:
    run, qrels = ODD[name]
    # A name that promises another compression: only the content counts.
    (tmp_path / "run.gz").write_bytes(run)
    (tmp_path / "qrels.bz2").write_bytes(qrels)
    outcome = cli("run.gz", "qrels.bz2", *WORDS)
    assert scores_of(outcome) == pytest.approx(EXPECTED, rel=1e-15)
    assert outcome.messages == []


@pytest.mark.one_in(3)
@odd
def test_odd_input_gives_the_same_from_standard_input(name: str, tmp_path: Path, cli: Command) -> None:
    run, qrels = ODD[name]
    (tmp_path / "run.txt").write_bytes(run)
    (tmp_path / "qrels.txt").write_bytes(qrels)
    assert scores_of(cli("-", "qrels.txt", *WORDS, stdin=run)) == pytest.approx(EXPECTED, rel=1e-15)
    assert scores_of(cli("run.txt", "-", *WORDS, stdin=qrels)) == pytest.approx(EXPECTED, rel=1e-15)


def test_standard_input_is_read_to_its_end_however_it_drips(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_bytes(ODD_RUN)
    (tmp_path / "qrels.txt").write_bytes(ODD_QRELS)
    outcome = shell(
        "(head -n 2 run.txt; sleep 0.3; tail -n +3 run.txt) | gradedeval - qrels.txt -m err@20 -q -f csv", tmp_path
    )
    assert scores_of(outcome) == pytest.approx(EXPECTED, rel=1e-15)


def test_files_may_be_pipes(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_bytes(ODD_RUN)
    (tmp_path / "qrels.txt").write_bytes(ODD_QRELS)
    outcome = shell("gradedeval <(cat run.txt) <(gzip -c qrels.txt) -m err@20 -q -f csv", tmp_path)
    assert scores_of(outcome) == pytest.approx(EXPECTED, rel=1e-15)


IDS = [
    *(b"051", b"51", b"2019-1", "économie-8".encode(), b"\xe9conomie-8", b"a:b", b"5#1", b"1.0", b"nan", b"-3"),
    *(b"a,b", b'"', b'a"b,c', b"a\\b", "\U0001f600".encode()),
]
# They separate lines to Unicode, and are ordinary characters to TREC files; trec is for people too, and escapes them.
SEPARATORS = ["1\u2028x".encode(), "1\u0085x".encode()]


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "trec"])
def test_topic_ids_come_out_byte_for_byte(form: str, tmp_path: Path, cli: Command) -> None:
    ids = IDS if form == "trec" else [*IDS, *SEPARATORS]
    (tmp_path / "run.txt").write_bytes(b"".join(b"%s Q0 d 1 1 t\n" % topic for topic in ids))
    (tmp_path / "qrels.txt").write_bytes(
        b"".join(b"%s 0 d %d\n" % (topic, index % 3) for index, topic in enumerate(ids))
    )
    outcome = succeed(cli("run.txt", "qrels.txt", "-m", "err", "-q", "-f", form))
    # JSON is UTF-8 by definition; other bytes stand in it as escapes.
    text = outcome.out.decode("utf-8", "strict" if form.startswith("json") else "surrogateescape")
    if form in ("csv", "tsv"):
        result = [row[1:4] for row in csv.reader(io.StringIO(text), delimiter="," if form == "csv" else "\t")][1:]
    elif form == "trec":
        result = [
            [topic, name.strip(), score] for name, topic, score in (line.split("\t") for line in text.splitlines())
        ]
    else:
        rows = json.loads(text)["rows"] if form == "json" else [json.loads(line) for line in text.split("\n") if line]
        result = [[row["topic"], row["measure"], row["score"]] for row in rows]
    scores = {topic.encode("utf-8", "surrogateescape"): float(score) for topic, _, score in result[:-1]}
    assert scores == {topic: (0.0, 0.25, 0.75)[index % 3] for index, topic in enumerate(ids)}
    assert result[-1][0] == "all"


def test_a_topic_of_100_000_lines_is_scored_to_its_end(tmp_path: Path, cli: Command) -> None:
    count = 100_000
    (tmp_path / "run.txt").write_text("".join(f"1 Q0 d{index} {index} {-index} t\n" for index in range(1, count + 1)))
    (tmp_path / "qrels.txt").write_text(f"1 0 d{count} 1\n1 0 d2 0\n")
    outcome = succeed(cli("run.txt", "qrels.txt", "-m", "num_ret rr ap", "-f", "trec", "--digits", "9"))
    result = {name.strip(): float(score) for name, _, score in map(str.split, outcome.text.splitlines())}
    assert result == {"num_ret": count, "rr": 1 / count, "ap": 1 / count}


def test_copies_of_a_gzip_part_do_not_grow_with_the_parts_after_it() -> None:
    """Block compressors and `cat *.gz` write thousands of parts, and a decompressor copies all input after its end:
    with the whole file as input, time would be quadratic."""
    sizes: list[int] = []

    def pieces(stream: Any, piece: bytes) -> Iterator[bytes]:
        sizes.append(len(piece))
        yield stream.decompress(piece)

    packed = b"".join(gzip.compress(b"1 Q0 d%d 1 %d t\n" % (index, -index), 1) for index in range(5_000))
    parts = Packing(lambda: zlib.decompressobj(wbits=31), pieces)
    content = b"".join(decompressed_pieces(io.BytesIO(packed).read, parts, "run"))
    assert content.count(b"\n") == 5_000
    assert max(sizes) <= SLICE < len(packed)


@pytest.mark.parametrize(
    "words",
    [
        "pool a.run bad",
        "diff a.run bad",
        "diff bad a.run",
        "diff a.run bad qrels.txt",
        "clicks simulate bad qrels.txt --as rbp",
        "explain bad qrels.txt --topic 1",
        "weights -m ap bad qrels.txt",
        "check a.run qrels.txt --baseline bad --max-drop ap=0.1",
        "compare --from-scores bad",
        "eval a.run bad",
    ],
)
def test_every_reader_reports_a_truncated_compressed_file(words: str, tmp_path: Path, cli: Command) -> None:
    (tmp_path / "a.run").write_bytes(RUN)
    (tmp_path / "qrels.txt").write_bytes(QRELS)
    (tmp_path / "bad").write_bytes(gzip.compress(RUN * 100)[:60])
    message = "bad: broken compressed data (unexpected end of file); copy or compress the file again"
    assert message in cli(*words.split()).messages


@pytest.mark.parametrize("zeros", [0, 1, 100, SLICE - 1, SLICE, 3 * SLICE, 3 * SLICE + 7])
def test_zeros_between_packed_parts_hide_nothing_behind_them(zeros: int, tmp_path: Path, cli: Command) -> None:
    parts = [gzip.compress(b"1 Q0 a 1 2 t\n"), gzip.compress(b"1 Q0 b 2 1 t\n")]
    (tmp_path / "run.gz").write_bytes(parts[0] + bytes(zeros) + parts[1] + bytes(zeros))
    (tmp_path / "qrels.txt").write_bytes(b"1 0 b 1\n")
    assert Source(tmp_path / "run.gz").read() == b"1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n"
    assert scores_of(cli("run.gz", "qrels.txt", "-m", "rr", "-q", "-f", "csv")) == {"1": 0.5}


@pytest.mark.exhaustive
def test_exit_handlers_of_a_users_measure_run(tmp_path: Path, process: Command) -> None:
    """The program ends at once, unless code of the user's registered something for the end."""
    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    (tmp_path / "mine.py").write_text(
        "import atexit\nfrom gradedeval import measure\nlog = open('log.txt', 'w')\n"
        "atexit.register(log.close)\n"
        "@measure\ndef mine(g):\n    log.write('called\\n')\n    return g.gain[:, 0]\n"
    )
    outcome = process("run.txt", "qrels.txt", "--measures-from", "mine.py", "-m", "mine", "-f", "csv")
    assert outcome.code == 0
    assert (tmp_path / "log.txt").read_text() == "called\n"


@pytest.mark.exhaustive
def test_a_profiler_writes_its_report(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    words = ["-m", "cProfile", "-o", "profile", "-m", "gradedeval", "run.txt", "qrels.txt", "-m", "ap"]
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "profile").stat().st_size > 1000


def test_a_frame_without_text_may_begin_a_zst_file(tmp_path: Path, cli: Command) -> None:
    zstandard = pytest.importorskip("zstandard")
    skipped = b"\x53\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"size"
    (tmp_path / "run.txt.zst").write_bytes(skipped + zstandard.compress(b"1 Q0 a 1 3 t\n"))
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    assert cli("run.txt.zst", "qrels.txt", "-m", "num_ret", "-f", "csv").out.count(b"num_ret,1,") == 1


def test_one_score_of_two_runs_names_its_run(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "good.run").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "bad.run").write_text("1 Q0 a 1\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    outcome = cli("good.run", "bad.run", "qrels.txt", "-m", "ap")
    assert outcome.code == 1
    assert outcome.out.startswith(b"run           ap\n--------  ------\ngood.run  1.0000\n")


def test_too_little_memory_is_one_line(tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of_it(*_: object, **__: object) -> None:
        raise MemoryError

    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    monkeypatch.setattr("gradedeval.kernel.scoring.scorer.Scorer.score_batch", all_of_it)
    outcome = cli("run.txt", "qrels.txt", "-m", "ap", "--jobs", "1")
    assert (outcome.code, outcome.out) == (1, b"")
    assert outcome.messages[0].startswith("out of memory; ")


def test_the_seed_of_hashes_does_not_order_messages(tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text(json.dumps({"1": {"a": 1}} | dict.fromkeys("bcdefg", 0)))
    command = ("-m", "gradedeval", "lint", "q.json")
    outputs = [python(*command, folder=tmp_path, PYTHONHASHSEED=seed).stdout for seed in "123"]
    assert len(set(outputs)) == 1
    assert "is not a topic" in outputs[0]
