"""The note that means are over different topics, and its absence if they are not."""

import warnings
from pathlib import Path

import pytest

import gradedeval
from support.commands import Command

QRELS = "".join(f"{topic} 0 {document} {grade}\n" for topic in range(1, 7) for document, grade in (("a", 1), ("b", 0)))
NOTE = "the means are over different topics for different runs"
EACH = {
    "eval": "{runs} -m ap",
    "check": "{runs} --min ap=0",
    "report": "{runs} -m ap -o page.html",
    "plot runs": "{runs} -m ap -o picture.svg",
    "pr": "{runs}",
    "pool": "{runs} --leave-one-out -m ap",
}
"""Commands that average each run over its own topics."""
SHARED = {
    "compare": "{runs} -m ap",
    "risk": "{runs} -m ap",
    "correlate": "{runs} -m ap -m rr",
    "power": "{runs} -m ap --draws 50",
    "check": "{runs} --baseline first --max-drop ap=1",
    "plot power": "{runs} -m ap --draws 50 -o picture.svg",
}
"""Commands that average all runs over the topics that they share."""


def _run(topics: range) -> str:
    rows = [(topic, *(("a", "b") if topic % 2 else ("b", "a"))) for topic in topics]
    return "".join(f"{topic} Q0 {first} 1 2 x\n{topic} Q0 {second} 2 1 x\n" for topic, first, second in rows)


@pytest.fixture(params=["same", "different"])
def differ(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Write two runs over the same topics or over different ones."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "first").write_text(_run(range(1, 6)))
    (tmp_path / "second").write_text(_run(range(1, 6) if request.param == "same" else range(2, 7)))
    return bool(request.param == "different")


CASES = [
    pytest.param(
        differ, topics, name, words, separate, id=f"{differ}-{topics}-{name}{' of its own' * separate}",
        marks=() if topics == "both" or (differ == "different" and (topics == "qrels" or name == "eval")) else
        pytest.mark.exhaustive,
    )
    for commands, separate in ((EACH, True), (SHARED, False)) for name, words in commands.items()
    for topics in ("qrels", "both", "run", "relevant") for differ in ("same", "different")
]  # fmt: skip
"""All commands with the same and with different topics of runs; --topics run and relevant by `eval`."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("differ", "topics", "name", "words", "separate"), CASES, indirect=["differ"])
def test_different_sets_are_noted(
    name: str, words: str, separate: bool, topics: str, differ: bool, cli: Command
) -> None:
    outcome = cli(*name.split(), *words.format(runs="first second qrels").split(), "--topics", topics)
    assert outcome.code in (0, 1), outcome.messages
    assert any(NOTE in message for message in outcome.messages) == (separate and differ and topics != "qrels")


@pytest.mark.parametrize("topics", ["qrels", "both"])
def test_in_python(topics: str, differ: bool) -> None:
    runs = {"first": "first", "second": "second"}
    for function, separate in ((gradedeval.evaluate, True), (gradedeval.compare, False), (gradedeval.risk, False)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(runs, "qrels", "ap", topics=topics)
        noted = any(NOTE in str(warning.message) for warning in caught)
        assert noted == (separate and differ and topics == "both"), function


def test_means_are_over_the_topics_of_the_test(cli: Command, differ: bool) -> None:
    outcome = cli("compare", "first", "second", "qrels", "-m", "ap", "--topics", "both", "-f", "json")
    assert outcome.text.count('"topics": 4' if differ else '"topics": 5') > 0


def test_topics_left_out_by_their_residual_are_noted(cli: Command, differ: bool) -> None:
    run = Path("second").read_text().replace("2 Q0 b", "2 Q0 unjudged")
    Path("second").write_text(run)
    outcome = cli("first", "second", "qrels", "-m", "p@2 num_ret", "--max-residual", "0.1")
    expected = f"p@2: {NOTE}; leave out --max-residual to average over the same ones"
    assert expected in outcome.messages
