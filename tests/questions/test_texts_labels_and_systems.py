"""Texts and labels of topics, and systems of runs: each command that takes them shows them in every format, or
refuses them with a reason; and the table of the docs names these commands."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval.kernel.formats import SCORE_FORMATS
from support.commands import Command
from support.generated_docs import FEATURES, features
from support.paths import SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "dense")]
QRELS, QUERIES = str(SAMPLES / "rivers.qrels"), str(SAMPLES / "rivers-queries.tsv")
TEXT = "length of the Amazon"
GIVEN = {
    "queries": ("--queries", QUERIES),
    "slices": ("--slices", "labels.csv"),
    "replicates": ("--replicates", "Plain=rivers-bm25*", "--replicates", "Other=rivers-[nd]*"),
}
TABLES = tuple(form for form in SCORE_FORMATS if form != "trec")
PICTURES = ("svg", "png", "pdf")
M = ("-m", "ndcg@5")

COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "eval": (("eval", *RUNS, QRELS, *M), SCORE_FORMATS),
    "eval -q": (("eval", *RUNS, QRELS, *M, "-q"), SCORE_FORMATS),
    "explain": (("explain", RUNS[0], QRELS, "301", "-m", "ndcg@3"), TABLES),
    "compare": (("compare", *RUNS, QRELS, *M), TABLES),
    "diff": (("diff", RUNS[0], RUNS[2], QRELS, *M, "--top", "50"), TABLES),
    "diff without qrels": (("diff", RUNS[0], RUNS[2]), TABLES),
    "check": (("check", *RUNS, QRELS, "--min", "ndcg@5=0.99"), ("text", "github", "junit", *TABLES)),
    "pool": (("pool", *RUNS, QRELS, "--to-judge", "--budget", "999"), TABLES),
    "report": (("report", *RUNS, QRELS, *M), ("page",)),
    "plot topics": (("plot", "topics", RUNS[0], RUNS[2], QRELS, *M), PICTURES),
    "plot runs": (("plot", "runs", *RUNS, QRELS, *M), PICTURES),
    "plot explain": (("plot", "explain", RUNS[0], QRELS, "301", *M), PICTURES),
}  # fmt: skip
MORE = {
    ("check", "slices"): ("--min", "intent=survey: ndcg@5=0.9"),
    ("plot runs", "slices"): ("--slice", "intent"),
    ("diff", "replicates"): tuple(RUNS[1::2]),
    ("diff without qrels", "replicates"): tuple(RUNS[1::2]),
    ("plot topics", "replicates"): tuple(RUNS[1::2]),
}
"""Further options with which a command shows them."""

OF_ALL, OF_RUNS = "--queries is not used: rows are of all topics", "--replicates is not used: rows are of runs; leave"
NOT_SHOWN = {
    ("eval", "queries"): f"{OF_ALL}; add -q",
    ("eval -q", "replicates"): f"{OF_RUNS} out -q",
    ("compare", "queries"): f"{OF_ALL}; `gradedeval diff` shows topics",
    ("diff without qrels", "queries"): "--queries: needs qrels; add QRELS",
    ("diff without qrels", "slices"): "--slices: needs qrels; add QRELS",
    ("plot runs", "queries"): "--queries is not used: the picture has no topics; `gradedeval plot topics` has them",
}
"""The problem of each command that does not show them; commands without the option do not know it."""
NO_TEXTS = "--queries is not used: trec has no place for texts; choose another format with -f"
UNKNOWN = {*product(("explain", "pool", "plot explain"), ("slices", "replicates")), ("plot topics", "slices")}


def expected(command: str, feature: str, form: str) -> str | None:
    """Return the expected problem, or None if the output shows the feature."""
    if (command, feature) in UNKNOWN:
        return f"unknown option '--{feature}'"
    if (command, feature, form) == ("eval -q", "queries", "trec"):
        return NO_TEXTS
    return NOT_SHOWN.get((command, feature))


def cells(value: Any) -> Iterator[str]:
    """Yield the texts in a value of JSON."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from cells(item)
    elif isinstance(value, str):
        yield value


def shows(text: str, feature: str, form: str) -> bool:
    """Return whether an output has the text of a topic, the label of a slice or the name of a system: in a cell of
    its own in machine formats, except for a text among the worst topics of a check."""
    text_of_feature = {"queries": TEXT, "slices": "intent=survey", "replicates": "Plain"}[feature]
    if form in ("csv", "tsv"):
        lines = csv.reader(io.StringIO(text), delimiter="\t" if form == "tsv" else ",")
        texts = [cell for line in lines for cell in line]
    elif form in ("json", "jsonl"):
        documents = [text] if form == "json" else text.splitlines()
        texts = [cell for document in documents for cell in cells(json.loads(document))]
    else:
        return text_of_feature.rpartition("=")[2] in re.sub(r"\s+", " ", text)
    return text_of_feature in texts or any(f" ({text_of_feature}) " in cell for cell in texts)


@pytest.fixture(autouse=True)
def labels(tmp_path: Path) -> str:
    """Write a file of labels; return its name."""
    rows = csv.DictReader(Path(QUERIES).read_text().splitlines(), delimiter="\t")
    lines = [f"{row['topic']},{row['intent']}" for row in rows]
    (tmp_path / "labels.csv").write_text("\n".join(["topic,intent", *lines, ""]))
    return str(tmp_path / "labels.csv")


def with_options(command: str, feature: str) -> tuple[str, ...]:
    words, more = COMMANDS[command][0], MORE.get((command, feature), ())
    position = words.index(RUNS[0])
    runs = [word for word in more if word in RUNS]
    return (
        *words[: position + 1],
        *runs,
        *words[position + 1 :],
        *(word for word in more if word not in RUNS),
        *GIVEN[feature],
    )


CASES = [(command, form, feature) for command, (_, forms) in COMMANDS.items() for form in forms for feature in FEATURES]


@pytest.mark.one_in(25)
@pytest.mark.parametrize(("command", "form", "feature"), CASES)
def test_texts_are_shown_or_refused(command: str, form: str, feature: str, cli: Command, tmp_path: Path) -> None:
    target = None
    if form in ("page", *PICTURES):
        pytest.importorskip("jinja2" if form == "page" else "matplotlib")
        target = tmp_path / f"made.{'html' if form == 'page' else form}"
    words = with_options(command, feature)
    outcome = cli(*words, *(("-f", form) if target is None else ("-o", str(target))))
    problem = expected(command, feature, form)
    if problem is not None:
        assert any(message.startswith(problem) for message in outcome.messages), outcome.messages
        assert outcome.code == (0 if "is not used" in problem else 2)
        return
    assert outcome.code == (1 if command == "check" else 0), outcome.messages
    assert not any("is not used" in message for message in outcome.messages)
    if form in ("png", "pdf"):
        assert target is not None
        cli(*COMMANDS[command][0], "-o", f"plain.{form}")
        assert target.read_bytes() != (tmp_path / f"plain.{form}").read_bytes()
        return
    assert shows(outcome.text if target is None else target.read_text(), feature, form)


def test_the_table_of_the_docs_agrees_with_the_commands() -> None:
    marks = dict[tuple[str, str], str]()
    for line in features().splitlines():
        if (row := re.fullmatch(r"\| `([^-`]+)` \| (.*) \|", line)) is not None:
            marks |= {(row[1], feature): mark for feature, mark in zip(FEATURES, row[2].split(" | "), strict=True)}
    names = [name for name in COMMANDS if not re.search("-| without", name)]
    assert {name for name, _ in marks} == {*names}
    unknown = {pair for pair, mark in marks.items() if mark == "–"}
    assert unknown == UNKNOWN
    # Cases beyond the walk above: other options, or another command.
    needs = {pair for pair, more in MORE.items() if not {*more} <= {*RUNS}} | {("pool", "queries")}
    needs |= {pair for pair in NOT_SHOWN if pair in marks} | {("diff", feature) for feature in ("queries", "slices")}
    assert {pair for pair, mark in marks.items() if mark not in ("yes", "–")} == needs


FRAMES = ("frame", "systems", "slices", "topics", "documents")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "evaluate": gradedeval.evaluate,
    "compare": gradedeval.compare,
    "diff": gradedeval.diff,
    "run_summaries": gradedeval.run_summaries,
    "topic_differences": gradedeval.topic_differences,
}


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize(
    ("name", "feature"), [pair for pair in product(FUNCTIONS, FEATURES) if pair != ("topic_differences", "slices")]
)
def test_results_in_python_have_texts_slices_and_systems(name: str, feature: str, labels: str) -> None:
    settings: dict[str, Any] = {
        "queries": {"queries": QUERIES},
        "slices": {"slices": labels, **({"slice": "intent"} if name == "run_summaries" else {})},
        "replicates": {"replicates": {"Plain": "rivers-bm25*", "Other": "rivers-[nd]*"}},
    }[feature]
    two = name in ("diff", "topic_differences") and feature != "replicates"
    result = FUNCTIONS[name](RUNS[::2] if two else RUNS, QRELS, "ndcg@5", **settings)
    text_of_feature = {"queries": TEXT, "slices": "intent=survey", "replicates": "Plain"}[feature]
    frames = [frame for part in FRAMES if (frame := getattr(result, part, None)) is not None]
    values = {value for frame in frames for column in frame for value in frame[column] if isinstance(value, str)}
    assert text_of_feature in {*values, *result.texts.values(), getattr(result, "baseline", None)}
