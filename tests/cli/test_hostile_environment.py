"""Commands on hostile machines: full disks, few descriptors, signals, odd names."""

import csv
import gzip
import html
import io
import json
import re
import resource
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from gradedeval.cli import EXIT_CODES, ExitCodes
from gradedeval.kernel.formats import FORMATS, formats_for
from support.commands import FEW, Command, environment, python, shell
from support.examples import sampled
from support.processes import linux
from support.terminal import at_terminal

QRELS = "".join(f"{topic} 0 d{rank} {rank % 4}\n" for topic in range(1, 4) for rank in range(0, 20, 3))
RUN = "".join(f"{topic} Q0 d{rank} {rank} {20 - rank} t\n" for topic in range(1, 4) for rank in range(20))
# Runs of any size are worth a process.
SHARED = "from gradedeval.kernel import parallel; parallel.LIMITS = parallel.Limits(small_runs=0);"
MAIN = "from gradedeval.cli import main; main()"
MANY = ("0.run", "1.run", "2.run", "3.run", "qrels.txt", "-m", "ap", "-f", "csv", "--jobs", "2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(4):
        (tmp_path / f"{number}.run").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path


@pytest.mark.one_in(4)
@linux
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGXCPU, 152)]
)
def test_a_signal_while_a_file_is_written_leaves_no_other_file(number: signal.Signals, code: int, folder: Path) -> None:
    """Any thread may receive the signal: libraries have threads of their own."""
    original = {path.name for path in folder.iterdir()}
    # Whoever started the tests may ignore signals, as nohup does; that would be inherited.
    handler = "default_int_handler" if number is signal.SIGINT else "SIG_DFL"
    late = (
        "import os, pathlib, signal, threading, time; replace = pathlib.Path.replace;"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start();"
        f"signal.signal({number:d}, signal.{handler});"
        f"pathlib.Path.replace = lambda *paths: (os.kill(os.getpid(), {number:d}), replace(*paths));"
    )
    words = "0.run qrels.txt -m ap -f csv -o out.csv"
    done = shell(f"'{sys.executable}' -c '{late}{MAIN}' {words}; exit $?", folder)  # the code that a shell has of it
    assert (done.code, done.out) == (code, b"")
    assert "Traceback" not in done.err.decode()
    assert {path.name for path in folder.iterdir()} == {*original, "out.csv"}
    assert len((folder / "out.csv").read_text().splitlines()) == 2


def limited(folder: Path, limit: int, value: int, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", SHARED + MAIN, *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(limit, (value, value)),
    )


@pytest.mark.parametrize("jobs", sampled(["2", "1"], 2))
def test_64_file_descriptors_are_enough_for_any_number_of_runs(jobs: str, folder: Path) -> None:
    names = [f"many{number}.run" for number in range(80)]
    for name in names:
        (folder / name).symlink_to("0.run")
    words = [*names, "qrels.txt", "-m", "ap", "-f", "csv", "-q", "--jobs", jobs, "-o", "out.csv"]
    done = limited(folder, resource.RLIMIT_NOFILE, 64, *words)
    assert (done.returncode, done.stdout, FEW.sub(b"", done.stderr)) == (0, b"", b"")
    assert len((folder / "out.csv").read_text().splitlines()) == 1 + 80 * 4


@pytest.mark.exhaustive
@linux
def test_one_process_does_the_work_if_no_other_can_start(folder: Path) -> None:
    words = ["0.run", "1.run", "qrels.txt", "-m", "ap", "--jobs", "2"]
    done = limited(folder, resource.RLIMIT_NOFILE, 8, *words)
    assert (done.returncode, FEW.sub(b"", done.stderr)) == (0, b"")
    assert [line.split() for line in done.stdout.splitlines()[2:4]] == [[b"0.run", b"0.2698"], [b"1.run", b"0.2698"]]


@pytest.mark.parametrize("output", ["out.csv", "file:///{}/out.csv"])
def test_a_file_that_may_not_grow_leaves_the_old_one(output: str, folder: Path) -> None:
    output = output.format(str(folder).lstrip("/"))
    (folder / "out.csv").write_text("old\n")
    original = sorted(folder.iterdir())
    done = limited(folder, resource.RLIMIT_FSIZE, 0, "0.run", "qrels.txt", "-m", "ap", "-o", output)
    assert (done.returncode, done.stdout) == (1, b"")
    path = output.removeprefix("file://").encode()
    assert FEW.sub(b"", done.stderr) == path + b": cannot be written (File too large); nothing was written\n"
    assert (folder / "out.csv").read_text() == "old\n"
    assert sorted(folder.iterdir()) == original


@pytest.mark.exhaustive
@linux
def test_without_shared_memory_processes_work_all_the_same(folder: Path) -> None:
    hidden = "mount -t tmpfs -o ro none /dev/shm"
    command = f"{hidden} && ! touch /dev/shm/x 2>/dev/null && exec \"$0\" -c '{SHARED}{MAIN}' {' '.join(MANY)}"
    done = subprocess.run(
        ["unshare", "-rm", "bash", "-c", command, sys.executable],
        cwd=folder,
        env=environment(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    if b"unshare" in done.stderr or b"mount" in done.stderr:
        pytest.skip("nobody may mount here")
    assert done.returncode == 0, done.stderr
    assert done.stdout == shell(f"gradedeval {' '.join(MANY[:-1])} 1", folder).out


@pytest.mark.exhaustive
def test_a_pipe_larger_than_memory_needs_a_folder_for_it(folder: Path) -> None:
    topics = "".join(f"t{topic:06} Q0 document-{topic % 7} 1 1 t\n" for topic in range(700_000))
    (folder / "large.run").write_text(topics + "t000000 Q0 again 1 1 t\n")
    (folder / "qrels.txt").write_text("t000000 0 again 1\n")
    script = f'ulimit -f 0; cat large.run | "{sys.executable}" -m gradedeval - qrels.txt -m ap 2>&1 | cat'
    message = shell(script, folder).text
    assert "Traceback" not in message
    assert message.startswith("temporary file: cannot be written (")
    assert message.count("\n") == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("piped", [False, True])
def test_packed_topics_that_take_turns_need_a_folder_for_it(piped: bool, folder: Path) -> None:
    lines = [f"{topic} Q0 document-{index} 1 {index} t\n" for index in range(30_000) for topic in range(1, 4)]
    (folder / "turns.run.gz").write_bytes(gzip.compress("".join(lines).encode(), 1))
    source = "-" if piped else "turns.run.gz"
    command = f'cat turns.run.gz | "{sys.executable}" -m gradedeval {source} qrels.txt -m ap 2>&1 | cat'
    message = shell(f"ulimit -f 0; {command}", folder).text
    assert message.startswith("temporary file: cannot be written (No usable temporary directory")
    assert message.count("\n") == 1


@pytest.mark.one_in(2)
@pytest.mark.parametrize("form", sampled([*FORMATS], 8))
def test_a_full_device_is_a_message_in_every_format(form: str, folder: Path) -> None:
    words = f"gradedeval 0.run 1.run qrels.txt -m ap -f {form}"
    for script in (f"{words} > /dev/full", f"{words} -o /dev/full"):
        done = shell(script, folder)
        assert (done.code, done.out) == (1, b"")
        assert len(done.messages) == 1
        assert "No space left on device" in done.messages[0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "words",
    sampled(
        [
            "check 0.run qrels.txt --min ap=0",
            "compare 0.run 1.run qrels.txt -m ap --draws 20 -f csv",
            "correlate 0.run other.run qrels.txt -m 'ap err'",
            "weights -m rbp --ranks 5",
            "explain 0.run qrels.txt --topic 1 -m err",
            "lint 0.run",
            "power 0.run 1.run qrels.txt -m ap --draws 20",
            "trec_eval qrels.txt 0.run",
        ],
        4,
    ),
)
def test_every_command_says_that_its_output_is_incomplete(words: str, folder: Path) -> None:
    (folder / "other.run").write_text(RUN.replace("1 Q0 d0", "1 Q0 e0").replace("3 Q0 d3", "3 Q0 e3"))
    code = EXIT_CODES.get(words.split()[0], ExitCodes()).data
    full = shell(f"gradedeval {words} > /dev/full", folder)
    assert full.code == code
    assert "No space left on device" in full.messages[-1]
    closed = shell(f"gradedeval {words} >&-", folder)
    assert closed.code == code
    assert closed.messages[-1].startswith("<stdout>: ")


@pytest.mark.exhaustive
def test_no_language_is_no_hindrance(folder: Path) -> None:
    (folder / "économie.run").write_text(RUN.replace("1 Q0", "économie-8 Q0"), encoding="utf-8")
    (folder / "qrels.txt").write_text(QRELS.replace("1 0", "économie-8 0"), encoding="utf-8")
    words = "économie.run qrels.txt -m 'err ap' -q"
    here = shell(f"gradedeval {words}", folder)
    for language in ("LC_ALL=C", "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0", "LC_ALL=POSIX LANG="):
        done = shell(f"export {language}; gradedeval {words}", folder)
        assert done == here
    assert "économie-8" in here.text


NAMES = [
    *("=cmd|' /C calc'!A0", "+1+1", "@SUM(1)", "-1", "a\nb", "a\r\nb", "t\tab", "\x1b[31mred", "<script>"),
    *("<b>&amp;", "a|b"),
    *("a,b;c", 'say "x"', "it's", "$x_1$", "50%", "\\", "{}", "#1", "~^", " blank ", "`x`", "*x*"),
    *("\u202egnp", "ä\u0308"),
]


@pytest.fixture
def oddly_named(folder: Path) -> list[str]:
    for name in NAMES:
        (folder / name.replace("/", "∕")).write_text(RUN)
    return [name.replace("/", "∕") for name in NAMES]


@pytest.mark.exhaustive
def test_programs_read_every_name_as_it_is(oddly_named: list[str], folder: Path, cli: Command) -> None:
    words = [*(f"./{name}" for name in oddly_named), "qrels.txt", "-m", "ap"]
    for form, separator in (("csv", ","), ("tsv", "\t")):
        rows = csv.DictReader(io.StringIO(cli(*words, "-f", form).text, newline=""), delimiter=separator)
        assert [row["run"] for row in rows] == oddly_named
    assert [row["run"] for row in json.loads(cli(*words, "-f", "json").text)["rows"]] == oddly_named
    assert [json.loads(line)["run"] for line in cli(*words, "-f", "jsonl").text.splitlines()] == oddly_named


@pytest.mark.one_in(2)
@pytest.mark.parametrize("separator", ["csv", "tsv"])
def test_saved_scores_keep_every_name(separator: str, oddly_named: list[str], folder: Path, cli: Command) -> None:
    words = [*(f"./{name}" for name in oddly_named), "qrels.txt", "-m", "ap"]
    assert cli(*words, "-q", "-f", separator, "-o", f"s.{separator}").code == 0
    direct = cli("power", *words, "--draws", "10", "-f", "csv")
    assert cli("power", "--from-scores", f"s.{separator}", "--draws", "10", "-f", "csv").out == direct.out


# As people see them: in one line, without what nobody sees.
SEEN = {
    "a\nb": r"a\nb",
    "a\r\nb": r"a\r\nb",
    "t\tab": r"t\tab",
    "\x1b[31mred": r"\x1b[31mred",
    "\u202egnp": r"\u202egnp",
}


def test_a_name_for_people_is_one_row_and_no_markup(oddly_named: list[str], folder: Path, cli: Command) -> None:
    words = [*(f"./{name}" for name in oddly_named), "qrels.txt", "-m", "ap", "-f"]
    seen = [SEEN.get(name, name) for name in oddly_named]
    outputs = {form: cli(*words, form).text for form in formats_for("wide", "trec")}
    assert not [form for form, text in outputs.items() if set(text.replace("\n", "")) & set("\r\x1b\u202e")]
    assert [line[: -len("  0.0000")].rstrip() for line in outputs["table"].splitlines()[2:-2]] == [
        s.rstrip() for s in seen
    ]
    assert [line.split("\t")[2] for line in outputs["trec"].splitlines() if line.startswith("runid")] == seen
    assert len(outputs["latex"].split("midrule")[1].splitlines()) == len(seen) + 4
    table = ElementTree.fromstring(f"<page>{outputs['html']}</page>")
    assert ["".join(row[0].itertext()).strip() for row in table.iter("tr")][1:] == [name.strip() for name in seen]
    assert {element.tag for element in table.iter()} <= {"page", "table", "thead", "tbody", "tr", "th", "td", "p"}
    cells = [re.split(r"(?<!\\)(?:\\\\)*\|", line)[1].strip() for line in outputs["markdown"].splitlines()[2:-2]]
    cells = [re.sub(r"\\(.)", r"\1", cell.replace("<!-- -->", "")) for cell in cells]  # it keeps @ from a mention
    assert list(map(html.unescape, cells)) == [name.strip() for name in seen]


@pytest.mark.parametrize(
    "words",
    [
        "compare {name} 1.run qrels.txt -m ap --draws 20",
        "explain {name} qrels.txt --topic 1 -m ap",
        "lint {name} --qrels qrels.txt",
        "check {name} qrels.txt --min ap=2",
        "check {name} qrels.txt --min ap=2 -f github",
        "{name} missing.txt",
    ],
)
def test_no_command_shows_a_name_in_two_lines(words: str, folder: Path, cli: Command) -> None:
    name = "a\nzz\x1b[31m"
    (folder / name).write_text(RUN)
    done = cli(*(word.format(name=name) for word in words.split()))
    output = done.out + done.err
    assert b"\nzz" not in output
    assert b"\x1b" not in output
    assert rb"a\nzz\x1b" in output or b"missing" in output


HALF_IMPORTED = (
    "import os, signal, sys\n"
    "class Finder:\n"
    "    def find_spec(self, name, *_):\n"
    "        if name == 'numpy':\n"
    "            try:\n"
    "                os.kill(os.getpid(), signal.SIGINT)\n"
    "            except KeyboardInterrupt:\n"
    "                raise {error}('half imported') from None\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "sys.meta_path.insert(0, Finder())\n"
    "from gradedeval.__main__ import run\n"
    "run()\n"
)


@pytest.mark.one_in(3)
@linux
@pytest.mark.parametrize("error", ["TypeError", "ImportError", "SystemError", "KeyboardInterrupt"])
@pytest.mark.parametrize("words", ["0.run qrels.txt -m ap", "trec_eval qrels.txt 0.run", "report 0.run qrels.txt -o x"])
def test_an_import_that_ctrl_c_ends_is_an_interruption(words: str, error: str, folder: Path) -> None:
    """Libraries may turn the interruption into other errors."""
    done = python("-c", HALF_IMPORTED.format(error=error), *words.split(), folder=folder)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted; nothing was written\n")


@linux
@pytest.mark.parametrize(
    "words", ["run qrels -m ap -q", "run qrels -m ap -q -f trec", "trec_eval -q qrels run", "explain run qrels -m ap"]
)
@pytest.mark.parametrize(
    "texts", [[b"\xc2\x9b31m", b"\xe2\x80\xae"], [b"\x9b31m"], [b"\x84"]], ids=["UTF-8", "9b", "84"]
)
def test_no_id_controls_a_terminal(texts: list[bytes], words: str, tmp_path: Path) -> None:
    """Bytes that are no UTF-8 may be control characters of a terminal with one byte for each character."""
    (tmp_path / "run").write_bytes(b"".join(b"t%b Q0 d%b 1 1 t\n" % (text, text) for text in texts))
    (tmp_path / "qrels").write_bytes(b"".join(b"t%b 0 d%b 1\n" % (text, text) for text in texts))
    _, out, err = at_terminal(*words.split(), folder=tmp_path)
    output = (out + err).encode("utf-8", "surrogateescape")
    assert b"\\" in output
    assert [text for text in texts if text in output] == []
