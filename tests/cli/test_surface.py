"""Arguments that all commands refuse or accept alike: baselines, -k, counts of runs, files."""

from pathlib import Path

import click
import pytest

from support.commands import Command
from support.generated_docs import LEAVES

GRADES = {"a": 2, "b": 1, "c": 0}
QRELS = "".join(f"{topic} 0 {docno} {grade}\n" for topic in range(4) for docno, grade in GRADES.items())
NO_MEAN = (
    "--baseline: 'mean' is neither a file nor one of the runs (one, two); only risk compares with the mean of runs"
)
NO_TOPIC = "'nosuch' is not judged in qrels, and only --topics run includes such topics; as in 0, 1, 2, 3"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, docnos in {"one": "abc", "two": "cab", "three": "bca"}.items():
        lines = [
            f"{topic} Q0 {docno} 1 {9 - index} {name}\n" for topic in range(4) for index, docno in enumerate(docnos)
        ]
        (tmp_path / name).write_text("".join(lines))
    (tmp_path / "qrels").write_text(QRELS)
    return tmp_path


def flags(command: click.Command) -> set[str]:
    return {flag for param in command.params for flag in param.opts}


def test_commands_with_measures_take_k() -> None:
    named = {name for name, command in LEAVES.items() if "-m" in flags(command) and name != "trec_eval"}
    without = {"history", "clicks models"}  # of a file's columns; a click model
    assert {name for name in named if "-k" not in flags(LEAVES[name])} <= without | {
        name for name in named if name.startswith(("clicks ", "plot clicks"))
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("check one qrels --min ap=0.9 -k 1", "ap@1"),
        ("fit one two three qrels -m rbp(p=0.2..0.8..0.2) --to ap -k 2", "rbp(p=0.2..0.8..0.2)@2"),
        ("pr one qrels -k 2", "gap@2"),
        ("lint one qrels -k 2", ""),
        ("pool one two qrels --to-judge --strategy residual -m ap -k 2", "ap@2"),
    ],
)
def test_k_cuts_the_measures_of_each(words: str, message: str, files: Path, cli: Command) -> None:
    done = cli(*words.split())
    assert "unknown" not in done.words
    assert message in done.words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("lint one -k 2", "-k: needs qrels; add QRELS"),
        ("lint one -m ap", "-m: needs qrels; add QRELS"),
        ("history x -k 2", "unknown option '-k'; it cuts measures, and none are named here"),
        (
            "pool one qrels -k 2",
            "-k: cuts measures, and none are named here; write --pool-depth for the depth of the pool",
        ),
        ("diff one two -k 2", "-k: needs qrels; add QRELS"),
        ("compare one two qrels --baseline mean", NO_MEAN),
        ("diff one two qrels --baseline mean", NO_MEAN),
        ("compare one qrels --baseline nosuch", "--baseline: 'nosuch' is neither a file nor one of the runs (one); "
         "check the path"),
        ("diff one two --baseline two", "--baseline: needs qrels; add QRELS"),
        ("explain one qrels nosuch", NO_TOPIC),
        ("explain one qrels --topic nosuch", f"--topic: {NO_TOPIC}"),
        ("eval one qrels --level 0.9", "unknown option '--level'; did you mean '--interval' or '--rel'?"),
    ],
)  # fmt: skip
def test_errors_name_the_typed_words(words: str, message: str, files: Path, cli: Command) -> None:
    done = cli(*words.split())
    assert done.code != 0
    assert done.messages == [message]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare one qrels", "compare needs at least two runs; add a run or --baseline"),
        ("risk one qrels", "risk needs at least two runs; add a run or --baseline"),
        ("power one qrels", "power needs at least two runs; add a run"),
        ("plot topics one qrels -o x.svg", "1 run given, and two are compared topic by topic; add a run"),
        ("plot topics one two three qrels -o x.svg", "3 runs given, and two are compared topic by topic; choose two"),
    ],
)
def test_a_wrong_number_of_runs_is_refused_before_reading(words: str, message: str, files: Path, cli: Command) -> None:
    (files / "one").write_text("nothing that can be read as a run\n")
    done = cli(*words.split())
    assert (done.code, done.messages) == (2, [message])


def test_a_diff_takes_a_baseline_as_others_do(files: Path, cli: Command) -> None:
    for words in ("two one qrels", "one two qrels --baseline two", "one qrels --baseline two"):
        done = cli("diff", *words.split(), "-m", "ap", "-f", "csv")
        assert (done.code, done.out) == (0, cli("diff", "two", "one", "qrels", "-m", "ap", "-f", "csv").out)


def test_the_short_page_of_trec_eval_leads_to_the_long_one(cli: Command) -> None:
    short, whole = cli("trec_eval", "-h").text, cli("trec_eval", "--help").text
    assert len(short.splitlines()) <= 24
    assert "`gradedeval trec_eval --help` explains all" in short
    assert "in no set" in whole
    assert cli("trec_eval", "-h", "-m", "map").text == cli("trec_eval", "--help", "-m", "map").text
