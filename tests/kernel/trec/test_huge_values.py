"""Messages shorten huge values of any kind in any place."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gradedeval
from support.commands import Command

WORDS = "it's a long text, as of a document; " * 500
HUGE: dict[str, Any] = {
    "words": WORDS,
    "letters": "x" * 18_000,
    "quotes": "'\"" * 9_000,
    "list": [["a", "b c"]] * 3_000,
    "object": {"hits": {"total": {"value": 5}, "text": WORDS, "more": [{"text": "a b"}] * 2_000}},
    "fields": {f"field {i}": i for i in range(4_000)},
    "digits": int("9" * 600),
}
LONGEST = 2_300
"""Characters of a problem, a hint and a place."""


def sources(value: Any, name: str) -> dict[str, Any]:
    """Return values in all places of a source: topics, docnos, numbers, entries, lists, and names of fields."""
    text = value if isinstance(value, str) else json.dumps(value)
    number = "score" if name == "run" else "grade"
    listed = "retrieved" if name == "run" else "expected"
    return {
        "value of nested": {"q": {"d": value}},
        "topic of nested": {text: {"d": "high"}},
        "docno of nested": {"q": {text: "high"}},
        "documents of nested": {"q": value},
        "entry of a list": {"q": ["d", value]},
        "id of a hit": {"q": [{"_id": value, "_score": 1, "grade": 1}]},
        "field of a hit": {"q": [{text: 1}]},
        "score of a hit": {"q": [{"_id": "d", number: value}]},
        "topic of a hit": {"q": [{"_id": "d", number: 1, "query": text}]},
        "documents of a record": [{"query": "q", listed: value}],
        "entry of a record": [{"query": "q", listed: [value]}],
        "topic of a record": [{"query": value, listed: ["d"]}, {"query": value, listed: ["d"]}],
        "field of a record": [{text: "q", "list": ["d"]}],
        "value of a row": [{"topic": "q", "docno": "d", number: value}],
        "topic of a row": [{"topic": value, "docno": "d", number: "high"}],
        "docno of a row": [{"topic": "q", "docno": value, number: "high"}],
        "field of a row": [{"topic": "q", text: "d", number: 1}],
    }


def lengths(message: str) -> list[int]:
    return [len(line) for line in message.splitlines()]


@pytest.mark.parametrize("kind", ["run", "qrels"])
@pytest.mark.parametrize("huge", HUGE)
def test_a_huge_value_is_shortened_in_every_message(huge: str, kind: str, tmp_path: Path) -> None:
    counterpart: Any = {"q": {"d": 1}, "r": {"d": 1.0}}
    for where, source in sources(HUGE[huge], kind).items():
        (tmp_path / "file.json").write_text(json.dumps(source))
        for content in (source, str(tmp_path / "file.json")):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    gradedeval.evaluate(*((content, counterpart) if kind == "run" else (counterpart, content)), "ap")
                    messages = []
                except gradedeval.InputError as error:
                    messages = [str(error), error.cli_text]
            messages += [str(warning.message) for warning in caught]
            assert all(length <= LONGEST for message in messages for length in lengths(message)), (where, messages)


@pytest.mark.parametrize("huge", ["words", "letters", "quotes"])
@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_a_huge_field_of_a_line_is_shortened(huge: str, kind: str, tmp_path: Path, cli: Command) -> None:
    value = HUGE[huge].strip()
    (tmp_path / "other.run").write_text("q Q0 d 1 1 t\n")
    (tmp_path / "other.qrels").write_text("q 0 d 1\n")
    row = f"q\t{value}\thigh\n"
    for text in (
        f"q 0 d {value}\n",
        f"q Q0 d 1 {value} t\n",
        f"topic\tdocno\tscore\n{row}",
        f"topic\tdocno\t{value}\nq\td\t1\n",
        f'topic,docno,grade\nq,d,"{value}\n',
    ):
        (tmp_path / "FILE").write_text(text)
        files = ("FILE", "other.qrels") if kind == "run" else ("other.run", "FILE")
        done = cli(*files, "-m", "ap")
        assert all(len(message) <= LONGEST for message in done.messages), done.messages


def test_names_of_columns_of_a_frame_are_shortened() -> None:
    frame = pd.DataFrame({"qid": ["q"], "docno": ["d"], WORDS: ["high"]})
    with pytest.raises(gradedeval.InputError) as refused:
        gradedeval.evaluate(frame, {"q": {"d": 1}}, "ap")
    assert len(str(refused.value)) <= LONGEST
