"""A run without judged documents: the note names a change that makes its ids match, and the change works."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

import gradedeval
from gradedeval.kernel.rankings import near_matches
from gradedeval.kernel.rankings.near_matches import SEPARATORS, near_match
from gradedeval.kernel.scoring import tasks
from support.commands import Command

NAMES = ["Zürich", "Genève", "Bern-Süd", "Neuchâtel"]
Change = Callable[[str], str]


def same(name: str) -> str:
    return name


def decomposed(name: str) -> str:
    return unicodedata.normalize("NFD", name)


CASES: dict[str, tuple[Change, Change, str, str]] = {
    **{
        f"run cut at {mark}": (lambda name, mark=mark: f"{name}{mark}3", same, f"when cut at the last '{mark}'",
                               f'collapse="{mark}"')
        for mark in SEPARATORS
    },
    **{
        f"qrels cut at {mark}": (same, lambda name, mark=mark: f"{name}{mark}3",
                                 f"when the judgments are cut at the last '{mark}'", f'collapse_qrels="{mark}"')
        for mark in SEPARATORS
    },
    "blanks": (lambda name: f" {name} ", same, "without blanks around them", "strip the ids"),
    "blanks of qrels": (same, lambda name: f"{name} ", "without blanks around them", "strip the ids"),
    "case": (str.upper, same, "when lower-cased", "in lower case"),
    "composed": (decomposed, same, "in Unicode's normal form NFC", "in NFC"),
    "composed qrels": (same, decomposed, "in Unicode's normal form NFC", "in NFC"),
    "prefix": (lambda name: f"d:{name}", same, "without the prefix 'd:' of the run's", "ids of the qrels"),
    "prefix of qrels": (same, lambda name: f"d:{name}", "without the prefix 'd:' of the qrels's", "ids of the run"),
    "suffix": (lambda name: f"{name}.txt", same, "without the suffix '.txt' of the run's", "ids of the qrels"),
    "suffix of qrels": (same, lambda name: f"{name}.txt", "without the suffix '.txt' of the qrels's", "of the run"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_note_names_the_change_that_makes_documents_match(case: str, tmp_path: Path) -> None:
    of_run, of_qrels, change, cure = CASES[case]
    run = {"q": {of_run(name): -float(score) for score, name in enumerate([*NAMES, "unknown"])}}
    qrels = {"q": {of_qrels(name): 1 for name in NAMES}}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(run))
    beginning = f"none of its documents is judged in its topic, but 80 % of 5 are {change}; "
    for source in (run, path):
        with pytest.warns(gradedeval.EvaluationWarning) as heard:
            scores = gradedeval.evaluate(source, qrels, "ap")
        (note,) = [str(warning.message) for warning in heard if "is judged" in str(warning.message)]
        assert beginning in note
        assert cure in note
        assert scores.means["ap"] == 0
    if match := re.search(r'(collapse\w*)="(.+)"', cure):
        assert gradedeval.evaluate(run, qrels, "recall", **{match[1]: match[2]}).means["recall"] == 1  # type: ignore[arg-type]


@pytest.mark.parametrize("case", [case for case in CASES if "cut" not in case and "blanks" not in case])
def test_the_error_names_the_change_that_makes_topics_match(case: str) -> None:
    of_run, of_qrels, change, _ = CASES[case]
    run = {of_run(name): {"d": 1.0} for name in NAMES}
    qrels = {of_qrels(name): {"d": 1} for name in NAMES}
    with pytest.raises(gradedeval.InputError, match=re.escape(f"but 4 of 4 do {change}; ")):
        gradedeval.evaluate(run, qrels)


def test_ids_that_match_cost_no_second_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(tasks, "_docnos_of")
    gradedeval.evaluate({"q": {"a": 1.0, "b#1": 0.5}}, {"q": {"a": 1, "b": 1}}, "ap")


def test_a_few_matches_do_not_hide_the_others() -> None:
    run = {"q": {"whole": 500.0, **{f"d{number}#1": -float(number) for number in range(300)}}}
    qrels = {"q": {"whole": 1, **{f"d{number}": 1 for number in range(300)}}}
    with pytest.warns(gradedeval.EvaluationWarning, match="only 1 of its documents is judged in its topic, but 100 %"):
        gradedeval.evaluate(run, qrels, "ap")


def test_ids_with_nothing_in_common_have_no_near_match() -> None:
    assert near_match([([b"51", b"52"], [b"1", b"2"])], chunks=True) is None  # 5 and 1 are of one number
    assert near_match([([b"a", b"b"], [b"c"])], chunks=True) is None
    assert near_match([([], [b"c"])], chunks=True) is None
    with pytest.warns(gradedeval.EvaluationWarning, match=r"judged in its topic; check that docnos match the qrels"):
        gradedeval.evaluate({"q": {"a": 1.0}}, {"q": {"b": 1}}, "ap")


@pytest.mark.parametrize("words", ["run q -m ap", "compare run two q -m ap", "check run q --min ap=0.1"])
def test_every_command_names_the_change(words: str, tmp_path: Path, cli: Command) -> None:
    for name in ("run", "two"):
        (tmp_path / name).write_text(f"1 Q0 {name}#2 1 1 t\n1 Q0 {name}#1 2 .5 t\n")
    (tmp_path / "q").write_text("1 0 run 1\n1 0 two 1\n")
    outcome = cli(*words.split())
    place = "2 runs (run, two)" if "two" in words else "run"
    note = f"{place}: none of its documents is judged in its topic, but 100 % of 2 are when cut at the last '#'"
    assert f"{note}; add --collapse '#'" in outcome.messages


def test_of_a_very_long_id_only_the_ends_are_looked_at() -> None:
    parts = 0

    class Counted(str):
        def __getitem__(self, key: object) -> str:
            nonlocal parts
            parts += 1
            return super().__getitem__(key)  # type: ignore[index]

    near_matches._common([([Counted("x" * 100_000)], ["a"])], at_end=False)
    assert 0 < parts <= 4 * near_matches.LONGEST
