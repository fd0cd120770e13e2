"""Explanation -> text: a table for each measure, or the long form for programs."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis.explain import BEFORE, BEYOND, DOCUMENT, LAST, Explained, Explanation
from gradedeval.errors import InputError, did_you_mean
from gradedeval.formats import finite, json_document, json_lines, laid_out, rounded, separated

FORMATS = ("table", "csv", "tsv", "json", "jsonl", "markdown")
DISPLAYED = ("table", "markdown")
SHOWN = 20
"""Ranks of a measure without cutoff that a table shows unless told otherwise."""

CALLED = {BEFORE: "empty ranking", BEYOND: "beyond the end"}
RISES = "could_add: how far the score would rise if that alone had the top gain; they need not sum to the residual"


def render_explanation(
    explanation: Explanation, form: str, *, digits: int | None = None, shown: int | None = None
) -> str:
    """The explanation as text.

    digits  rounds; without it tables have 4 and the long forms full precision
    shown   how many ranks a table shows, at most; without it those down to the cutoff, or 20. Those left out make one
            line. The long forms are always complete.

    Raises InputError (usage) for an unknown format.
    """
    if form in DISPLAYED:
        return _tables(explanation, form, 4 if digits is None else digits, shown)
    rows = [rounded(row, digits) for row in explanation.rows()]
    if form in ("csv", "tsv"):
        return separated(explanation.columns, rows, form)
    if form == "jsonl":
        return json_lines(rows)
    if form == "json":
        return json_document(_head(explanation, digits), rows)
    raise InputError(
        "--format", f"no format '{form}'", did_you_mean(form, FORMATS) or f"one of {', '.join(FORMATS)}", usage=True
    )


def _head(explanation: Explanation, digits: int | None) -> dict[str, Any]:
    """What stands at the head of a JSON document."""
    measures = [
        {"measure": str(one.measure), "score": one.score, "residual": one.residual, "relevant": one.relevant}
        for one in explanation.measures
    ]
    names = ("signature", "run", "topic", "retrieved", "judged", "pool")
    return {
        **{name: getattr(explanation, name) for name in names},
        "measures": [finite(rounded(one, digits)) for one in measures],
    }


def _tables(explanation: Explanation, form: str, digits: int, shown: int | None) -> str:
    parts = [
        f"topic {explanation.topic} of {explanation.run} | {explanation.retrieved} retrieved, {explanation.judged} of"
        f" them judged | {explanation.pool} judged in all"
    ]
    rises = False
    for one in explanation.measures:
        lines = _lines(one, digits, one.measure.cutoff or SHOWN if shown is None else shown)
        header = [name for name in one.columns if name != "part"]
        parts += [_summary(one, digits), laid_out(header, lines, form, header[:2])]
        rises |= any(one.columns.get("could_add", []))
    return "\n\n".join([*parts, *([RISES] if rises else []), explanation.signature]) + "\n"


def _summary(one: Explained, digits: int) -> str:
    told = f"{one.measure}: {_cell(one.score, digits)}"
    told += "" if one.residual is None else f", residual {_cell(one.residual, digits)}"
    return told if one.relevant is None else f"{told} | R {one.relevant}"


def _lines(one: Explained, digits: int, shown: int) -> list[list[str]]:
    """The rows as cells; documents below so many make one line."""
    whole = {name for name, values in one.columns.items() if name not in LAST and _all_whole(values)}
    rows = list(one.rows())
    documents = [row for row in rows if row["part"] == DOCUMENT]
    if len(documents) > shown + 1:  # a line about one document would be as long as its own
        kept = [row for row in rows if row["part"] == BEFORE] + documents[:shown]
        rows = [*kept, _left_out(documents[shown:]), *(row for row in rows if row["part"] == BEYOND)]
    lines = []
    for row in rows:
        named = {**row, "docno": CALLED.get(row["part"], row["docno"])}
        lines.append([_cell(named[name], 0 if name in whole else digits) for name in one.columns if name != "part"])
    return lines


def _left_out(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """The line for documents that have none of their own."""
    blank = dict.fromkeys(documents[0])
    added = sum(row["contribution"] for row in documents)
    unjudged = sum(row["grade"] is None for row in documents)
    return {
        **blank,
        "rank": "…",
        "docno": f"{len(documents)} more" + (f", {unjudged} unjudged" if unjudged else ""),
        "contribution": added,
        "running": documents[-1]["running"],
    }


def _all_whole(values: list[Any]) -> bool:
    return all(value is None or isinstance(value, str | int) or value == round(value) for value in values)


def _cell(value: Any, digits: int) -> str:
    if value is None:
        return ""
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)
