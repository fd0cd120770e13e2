"""Verdicts of a check as text: lines for a terminal, annotations, a table, JSON, or a JUnit report."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from gradedeval.analysis.check import Verdict
from gradedeval.errors import plural
from gradedeval.formats import laid_out, signed


def render_verdicts(verdicts: Sequence[Verdict], form: str, signature: str) -> str:
    """The verdicts in one of FORMS, in their order, with what the scores depend on."""
    return FORMS[form](verdicts, signature)


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many bounds are broken."""
    broken = sum(not verdict.passed for verdict in verdicts)
    if not broken:
        words = {1: "the bound holds", 2: "both bounds hold"}
        return words.get(len(verdicts), f"all {len(verdicts)} bounds hold")
    return f"{broken} of {len(verdicts)} {plural(len(verdicts), 'bound')} broken"


def _text(verdicts: Sequence[Verdict], signature: str) -> str:
    lines = [f"{'ok  ' if verdict.passed else 'FAIL'}  {verdict.line}" for verdict in verdicts]
    return "\n".join([*lines, "", summary(verdicts), signature]) + "\n"


def _github(verdicts: Sequence[Verdict], signature: str) -> str:
    """Workflow commands, which GitHub shows beside the job."""
    lines = [
        f"::error title={_escaped(f'{verdict.bound.kind} {verdict.bound.measure}', ':,')}::{_escaped(verdict.line)}"
        for verdict in verdicts
        if not verdict.passed
    ]
    return "\n".join([*lines, f"::notice title=gradedeval check::{_escaped(summary(verdicts))}"]) + "\n"


def _escaped(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _markdown(verdicts: Sequence[Verdict], signature: str) -> str:
    header = ["", "run", "bound", "allowed", "verdict", "worst topics"]
    body = [
        [
            "✅" if verdict.passed else "❌",
            verdict.run,
            f"{verdict.bound.kind} {verdict.bound.measure}",
            verdict.bound.allowed,
            verdict.says,
            ", ".join(f"{topic} ({value:+.4f})" for topic, value in verdict.worst),
        ]
        for verdict in verdicts
    ]
    table = signed(laid_out(header, body, "markdown", header[:3] + header[4:]), "markdown", signature)
    return f"**gradedeval check: {summary(verdicts)}**\n\n{table}"


def _json(verdicts: Sequence[Verdict], signature: str) -> str:
    found: list[dict[str, Any]] = [
        {
            "run": verdict.run,
            "bound": verdict.bound.kind,
            "measure": verdict.bound.measure,
            "limit": verdict.bound.limit,
            "relative": verdict.bound.relative,
            "found": verdict.found,
            "passed": verdict.passed,
            "says": verdict.says,
            "worst": [{"topic": topic, "value": value} for topic, value in verdict.worst],
        }
        for verdict in verdicts
    ]
    whole = {"signature": signature, "passed": all(verdict.passed for verdict in verdicts), "bounds": found}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _junit(verdicts: Sequence[Verdict], signature: str) -> str:
    broken = sum(not verdict.passed for verdict in verdicts)
    cases = []
    for verdict in verdicts:
        name = f"{verdict.bound.kind} {verdict.bound.measure} {verdict.bound.allowed}"
        case = f"  <testcase classname={_quoted(verdict.run)} name={_quoted(name)}"
        cases.append(f"{case}/>" if verdict.passed else f"{case}><failure message={_quoted(verdict.line)}/></testcase>")
    return "\n".join(
        [
            '<?xml version="1.0" encoding="utf-8"?>',
            f'<testsuite name="gradedeval check" tests="{len(verdicts)}" failures="{broken}" errors="0">',
            f'  <properties><property name="signature" value={_quoted(signature)}/></properties>',
            *cases,
            "</testsuite>\n",
        ]
    )


def _quoted(text: str) -> str:
    """An attribute's value; what XML cannot hold becomes a question mark."""
    legal = "".join(one if one in "\t\n" or (one >= " " and not "\ud800" <= one <= "\udfff") else "?" for one in text)
    return quoteattr(legal, {"\n": "&#10;"})


FORMS: dict[str, Callable[[Sequence[Verdict], str], str]] = {
    "text": _text,
    "github": _github,
    "markdown": _markdown,
    "json": _json,
    "junit": _junit,
}
EXTENSIONS = {".md": "markdown", ".json": "json", ".xml": "junit"}
