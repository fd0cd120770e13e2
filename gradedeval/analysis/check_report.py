"""Verdicts of a check -> text: lines for a terminal, annotations, a JUnit report, or a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from xml.sax.saxutils import quoteattr

from gradedeval import formats
from gradedeval.analysis.verdict import Verdict
from gradedeval.errors import InputError, plural
from gradedeval.formats import Column, Document, Layout, Table, formats_for
from gradedeval.trec.source import extension_of


def render(verdicts: Sequence[Verdict], form: str, signature: str, *, signed: bool = True) -> str:
    """The verdicts in one of FORMATS, in their order, with what the scores depend on; for people only if `signed`."""
    if form in REPORTS:
        return REPORTS[form](verdicts, signature if signed or form != "text" else "")
    return formats.render(partial(check_document, verdicts, signature), form, signed=signed)


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many bounds are broken."""
    broken = sum(not verdict.passed for verdict in verdicts)
    if not broken:
        words = {1: "the bound holds", 2: "both bounds hold"}
        return words.get(len(verdicts), f"all {len(verdicts)} bounds hold")
    return f"{broken} of {len(verdicts)} {plural(len(verdicts), 'bound')} broken"


def check_document(verdicts: Sequence[Verdict], signature: str, layout: Layout) -> Document:
    """The verdicts as a table."""
    if layout == "long":
        rows = [verdict.row for verdict in verdicts]
        bounds = [
            {**row, "worst": [{"topic": topic, "value": value} for topic, value in verdict.worst]}
            for row, verdict in zip(rows, verdicts, strict=True)
        ]
        nested = {"signature": signature, "passed": all(verdict.passed for verdict in verdicts), "bounds": bounds}
        table = Table([Column(name) for name in rows[0]], [list(row.values()) for row in rows])
        return Document([table], signature, nested=nested)
    columns = [
        Column(""),
        Column("run"),
        Column("bound"),
        Column("allowed", "figures"),
        Column("verdict"),
        Column("worst"),
    ]
    cells = [
        (
            "✅" if verdict.passed else "❌",
            verdict.run,
            f"{verdict.bound.kind} {verdict.bound.measure}",
            verdict.bound.allowed,
            verdict.sentence,
            verdict.worst_words,
        )
        for verdict in verdicts
    ]
    return Document([Table(columns, cells)], signature, title=f"gradedeval check: {summary(verdicts)}")


def _text(verdicts: Sequence[Verdict], signature: str) -> str:
    lines = [f"{'ok  ' if verdict.passed else 'FAIL'}  {verdict.line}" for verdict in verdicts]
    return "\n".join([*lines, "", summary(verdicts), *([signature] if signature else [])]) + "\n"


def _github(verdicts: Sequence[Verdict], signature: str) -> str:
    """Workflow commands, which GitHub shows beside the job."""
    lines = [
        f"::error title={_escape(f'{verdict.bound.kind} {verdict.bound.measure}', ':,')}::{_escape(verdict.line)}"
        for verdict in verdicts
        if not verdict.passed
    ]
    topics = sorted({verdict.topics for verdict in verdicts})
    said = f"{summary(verdicts)}, over {' to '.join(map(str, dict.fromkeys([topics[0], topics[-1]])))} topics"
    return "\n".join([*lines, f"::notice title=gradedeval check::{_escape(said)}"]) + "\n"


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _junit(verdicts: Sequence[Verdict], signature: str) -> str:
    broken = sum(not verdict.passed for verdict in verdicts)
    cases = []
    for verdict in verdicts:
        name = f"{verdict.bound.kind} {verdict.bound.measure} {verdict.bound.allowed}"
        topics = f'<properties><property name="topics" value="{verdict.topics}"/></properties>'
        failure = "" if verdict.passed else f"<failure message={_quote(verdict.line)}/>"
        cases.append(f"  <testcase classname={_quote(verdict.run)} name={_quote(name)}>{topics}{failure}</testcase>")
    head = f'  <properties><property name="signature" value={_quote(signature)}/></properties>'
    return _suite([head, *cases], len(verdicts), failures=broken)


def _suite(lines: Sequence[str], tests: int, *, failures: int = 0, errors: int = 0) -> str:
    counts = f'tests="{tests}" failures="{failures}" errors="{errors}"'
    begin = ['<?xml version="1.0" encoding="utf-8"?>', f'<testsuite name="gradedeval check" {counts}>']
    return "\n".join([*begin, *lines, "</testsuite>\n"])


def _junit_fault(error: InputError) -> str:
    """One case that could not be run: an error, where a broken bound is a failure."""
    case = '  <testcase classname="gradedeval check" name="data">'
    return _suite([f"{case}<error message={_quote(error.at_prompt)}/></testcase>"], 1, errors=1)


def _github_fault(error: InputError) -> str:
    return f"::error title=gradedeval check%3A nothing was checked::{_escape(error.at_prompt)}\n"


def _json_fault(error: InputError) -> str:
    return formats.as_json(Document([], nested={"passed": False, "error": error.at_prompt, "bounds": []}), None)


def _quote(text: str) -> str:
    """An attribute's value; a character that XML cannot hold becomes a question mark."""
    legal = (
        character if character in "\t\n" or (character >= " " and not "\ud800" <= character <= "\udfff") else "?"
        for character in formats.in_utf8(text)
    )
    return quoteattr("".join(legal), {"\n": "&#10;"})


REPORTS: dict[str, Callable[[Sequence[Verdict], str], str]] = {"text": _text, "github": _github, "junit": _junit}
"""The formats of a check alone, which no other result has."""
FORMATS = (*REPORTS, *formats_for())
FAULTS: dict[str, Callable[[InputError], str]] = {"junit": _junit_fault, "github": _github_fault, "json": _json_fault}
"""The formats in which a program is told that nothing could be checked."""


def format_of(output: str | None) -> str:
    """The format that the extension of -o asks for; `text` where it asks for none."""
    extension = extension_of(output)
    extensions = {formats.FORMATS[name].extension: name for name in formats_for()}
    return {**extensions, ".txt": "text", ".xml": "junit"}.get(extension, "text")
