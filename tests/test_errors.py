"""Errors carry a kind for programs: no code looks at their words."""

import ast
import os
import pickle
import re
from pathlib import Path

import click
import pytest

import gradedeval
from gradedeval.errors import (
    EvaluationWarning,
    Flag,
    InputError,
    Note,
    ProblemList,
    emit_notes,
    flag,
    handling_notes,
    visible,
)
from support.commands import Command, Outcome
from support.every_command import POSITIONS, collection
from support.every_command import WORDS as CALLS
from support.examples import sampled
from support.generated_docs import LEAVES
from support.source import FILES, nodes

SEARCHES = "startswith|endswith|find|index|count|split|partition|rpartition|replace|lower"


def searches(code: str) -> list[str]:
    """Return the places where the text of an error is compared or searched: `error.problem`, `str(error)` and the
    like."""
    code = re.sub(r"\s+", " ", code)
    texts = [(r"\w+\.(?:problem|hint)", code)]
    for name, handler in re.findall(r"except [^:]*InputError[^:]* as (\w+):(.*?)(?=\bexcept\b|\bdef\b|$)", code):
        texts.append((rf"(?:{name}\.(?:line|text)|(?:str|repr)\({name}\))", handler))
    looks = r"(?:[=!]=|\bin) \b{0}(?!\w)|\bre\.\w+\([^()]*\b{0}(?!\w)|\b{0}(?: (?:[=!]=|(?:not )?in) |\[|\.(?:{1})\()"
    return [place for text, part in texts for place in re.findall(looks.format(text, SEARCHES), part)]


def test_no_code_compares_or_searches_the_text_of_an_error() -> None:
    places_by_file = {path.name: places for path in FILES if (places := searches(path.read_text(encoding="utf-8")))}
    assert places_by_file == {}


def test_the_search_finds_comparisons_of_texts() -> None:
    code = """
try:
    work()
except InputError as problem:
    if "no measure" in problem.problem or error.hint == "": pass
    if str(problem).startswith("run") or re.search("x|y", problem.line) or (
        "run" not in
        repr(problem)
    ): pass
    if error.kind == "unknown-measure" or error.place.startswith("run") or other.line == "": pass
"""
    assert len(searches(code)) == 5


def test_an_error_keeps_its_parts_between_processes() -> None:
    problems = ProblemList("run.txt", usage=True)
    for line in range(1, 13):
        problems.add(line, "is wrong", "mend it", "wrong")
    with pytest.raises(InputError) as raised:
        problems.check()
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.kind, again.exit_code, len(again.also), again.beyond) == ("wrong", 2, 9, 2)
    assert str(again) == str(raised.value)
    assert str(again.replace(place="x", hint="", also=())) == "x: is wrong\nx: 2 more such lines"


def test_a_note_keeps_its_parts_between_processes() -> None:
    note = Note("run: 1 topic missing", "use --topics both", kind="missing-topics")
    again = pickle.loads(pickle.dumps(note))
    assert (again, again.kind) == (note, "missing-topics") == ("run: 1 topic missing; use --topics both", again.kind)
    assert again.with_hint("leave it") == "run: 1 topic missing; leave it"


def test_an_error_that_was_added_to_can_still_be_replaced_and_pickled() -> None:
    error = InputError("run.txt", "is empty")
    error.add_note("seen by a test")
    assert error.replace(hint="check it").line == "run.txt: is empty; check it"
    assert pickle.loads(pickle.dumps(error)).line == "run.txt: is empty"


@pytest.mark.parametrize(
    ("message", "prompt", "python"),
    [
        (f"use {flag.topics:both} to leave them out", "use --topics both to leave them out",
         'use topics="both" to leave them out'),
        (f"use {flag.duplicates:first or last} to keep one", "use --duplicates first or last to keep one",
         'use duplicates="first" or "last" to keep one'),
        (f"{flag.labels}: 'x' is not label=grade; as in {flag.labels:HRel=2}",
         "--labels: 'x' is not label=grade; as in --labels HRel=2",
         "labels: 'x' is not label=grade; as in labels=\"HRel=2\""),
        (f"q: read without {flag.qrels_format:strata}, so for x", "q: read without --qrels-format strata, so for x",
         'q: read without qrels_format="strata", so for x'),
        (f"{flag.max_residual} and {flag.residual_depth:full}", "--max-residual and --residual-depth full",
         'max_residual and residual_depth="full"'),
        (f"use {flag.test:t}, {flag.top_grade:{4.0:g}} or {flag.draws:1e4}",
         "use --test t, --top-grade 4 or --draws 1e4", 'use test="t", top_grade=4 or draws=1e4'),
        (f"add {flag.measures:'ndcg@10'}, or {flag.baseline:RUN}; another {flag.measure}",
         "add -m 'ndcg@10', or --baseline RUN; another -m", 'add measures="ndcg@10", or baseline=…; another measure'),
        (f"add {Flag('--from', 'learn_from'):model}", "add --from model", 'add learn_from="model"'),
        ("use --depth, as a text has it", "use --depth, as a text has it", "use --depth, as a text has it"),
        ("doc\ufdd0no\ufdd2 of a file", "doc\ufdd0no\ufdd2 of a file", "doc\ufdd0no\ufdd2 of a file"),
    ],
)  # fmt: skip
def test_python_names_keywords_and_the_prompt_flags(message: str, prompt: str, python: str) -> None:
    for error in (InputError("", message), pickle.loads(pickle.dumps(InputError("", message)))):
        assert (error.cli_text, error.problem, str(error)) == (prompt, prompt, python)
    note = pickle.loads(pickle.dumps(Note(message, message)))
    assert (note, note.text, note.hint) == (f"{prompt}; {prompt}", prompt, prompt)
    assert note.in_python() == f"{python}; {python}"
    assert visible(message) == prompt


def test_a_place_is_an_option_too() -> None:
    error = InputError(flag.residual_depth, "is wrong", also=[InputError(f"{flag.ties:best}", "too")], beyond=2)
    assert str(error) == 'residual_depth: is wrong\nties="best": too\nresidual_depth: 2 more such lines'
    assert error.place == "--residual-depth"
    assert error.cli_text == "--residual-depth: is wrong\n--ties best: too\n--residual-depth: 2 more such lines"
    assert str(pickle.loads(pickle.dumps(error)).replace(hint=f"{error.raw[0]}?")) == str(error).replace(
        "is wrong\n", "is wrong; is wrong?\n"
    )


def test_values_of_users_hold_no_marks() -> None:
    topic = "a\ufdd1b\ufdd2"
    error = InputError("", f"leave out {flag.topic:{topic}} here")
    assert (error.cli_text, str(error)) == ("leave out --topic ab here", 'leave out topic="ab" here')


def test_errors_and_notes_name_keywords_in_python_and_flags_at_the_prompt(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("1 Q0 d 1 1 t\n")
    (tmp_path / "qrels").write_text("1 0 d 1\n2 0 d 1\n")
    assert "exclude missing topics with --topics both" in cli("run", "qrels", "-m", "ap").err.decode()
    assert "--depth: 0 is too small" in cli("run", "qrels", "--depth", "0").err.decode()
    run, qrels = {"1": {"d": 1.0}}, {"1": {"d": 1}, "2": {"d": 1}}
    with pytest.warns(gradedeval.EvaluationWarning) as warned:
        scores = gradedeval.evaluate(run, qrels, "ap")
    assert [str(warning.message) for warning in warned] == scores.notes
    assert 'exclude missing topics with topics="both"' in scores.notes[0]
    with pytest.raises(InputError, match=r"^like: .*did you mean 'gdeval'"):
        gradedeval.evaluate(run, qrels, "ap", like="gdevl")


def test_a_note_is_emitted_once_to_its_handler() -> None:
    heard: list[str] = []
    use = f"use {flag.top_grade:4}"
    with handling_notes(heard.extend):
        assert emit_notes([use, use]) == ["use top_grade=4"]
        assert emit_notes([Note(use), "and another"]) == ["use top_grade=4", "and another"]
    assert heard == ["use --top-grade 4", "and another"]
    for text in (use, Note(use)):
        with pytest.warns(EvaluationWarning, match="use top_grade=4") as caught:
            assert emit_notes([text]) == ["use top_grade=4"]
        assert [warning.filename for warning in caught] == [__file__]


def test_an_outcome_refuses_marks() -> None:
    with pytest.raises(AssertionError):
        Outcome(0, f"use {flag.depth:5}".encode(), b"")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sampled(sorted(CALLS), 5))
def test_messages_hold_no_marks(name: str, cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each option a meaningless value, and each file a text that is none: `Outcome` looks for marks."""
    monkeypatch.chdir(tmp_path)
    collection(dict.fromkeys(POSITIONS, b"x"))
    words = [word.format(**dict.fromkeys(POSITIONS, "x")) for word in CALLS[name][0]]
    options = [param for param in LEAVES[name].params if isinstance(param, click.Option) and not param.is_flag]
    outcomes = [cli(*name.split(), *words, option.opts[0], "nought") for option in options]
    for file in [word for word in words if os.path.isfile(word)]:
        kept = Path(file).read_bytes()
        for broken in (b"no such thing\n", kept + kept):
            Path(file).write_bytes(broken)
            outcomes.append(cli(*name.split(), *words))
        Path(file).write_bytes(kept)
    assert any(outcome.messages for outcome in outcomes)


def named_in(code: list[ast.AST]) -> set[str]:
    """Return the options that a module names as values, as the command line writes them."""
    options = set()
    for node in code:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "flag":
            options.add("-m" if node.attr in ("measure", "measures") else f"--{node.attr.replace('_', '-')}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Flag":
            options |= {node.args[0].value} if isinstance(node.args[0], ast.Constant) else set()
    return options


def test_messages_name_existing_options() -> None:
    flags = {spelled for leaf in LEAVES.values() for param in leaf.params for spelled in param.opts}
    named = {(option, path.stem) for path in FILES if path.stem != "errors" for option in named_in(nodes(path))}
    assert len(named) > 100
    assert {(option, stem) for option, stem in named if option not in flags} == set()
