"""A report of lint -> tables: the problems and the facts of each run for people, a row a problem for programs."""

from __future__ import annotations

from dataclasses import asdict, astuple, fields
from itertools import groupby
from typing import Any

from gradedeval.analysis.lint.checks import DEPTHS, Facts
from gradedeval.analysis.lint.lint import Report
from gradedeval.analysis.lint.submissions import Defect, Submission
from gradedeval.errors import SHOWN, plural, visible
from gradedeval.formats import Column, Document, Layout, Table


def lint_document(report: Report, layout: Layout, *, show_all: bool = False) -> Document:
    """The report. People see the first ten defects of a kind, or with `show_all` all; programs always get all."""
    if layout == "long":
        names = ("file", *(field.name for field in fields(Defect)))
        rows = [(file.place, *astuple(defect)) for file in report.files for defect in file.defects]
        return Document([Table([Column(name) for name in names], rows)], nested=_nested(report))
    blocks: list[Table | str] = [_problems(file, show_all) for file in report.files]
    return Document([*blocks, _facts_table(report)] if report.runs else blocks)


def _problems(file: Submission, show_all: bool) -> str:
    """How many defects a file has, and below that the defects."""
    errors, warnings = file.count("error"), file.count("warning")
    place = visible(file.place)
    place_and_format = place if file.format in ("", "trec") else f"{place} (format {visible(file.format)})"
    head = f"{place_and_format}: {errors} {plural(errors, 'error')}, {warnings} {plural(warnings, 'warning')}"
    lines = [head if errors or warnings else f"{place_and_format}: no problems found"]
    ranked = sorted(file.defects, key=lambda defect: (defect.weight, _first(file, defect.kind)))
    for (weight, kind), group in groupby(ranked, key=lambda defect: (defect.weight, defect.kind)):
        defects = list(group)
        shown = defects if show_all else defects[:SHOWN]
        lines += [f"  {weight:<8} {defect}" for defect in shown]
        rest = len(defects) - len(shown)
        if rest:
            lines.append(f"  {weight:<8} {place}: {rest} more of the kind '{kind}'; --all lists them")
    return "\n".join(lines)


def _first(file: Submission, kind: str) -> int:
    """The index of the first defect of a kind: kinds are listed in the order in which they were met."""
    return next(index for index, defect in enumerate(file.defects) if defect.kind == kind)


def _facts_table(report: Report) -> Table:
    judged = any(facts.unjudged for facts in report.facts)
    counts = ("topics", "documents", "fewest", "median", "most", "tied", "float32")
    columns = [Column("run"), Column("tag"), *(Column(name, "number") for name in counts)]
    columns += [Column(f"unjudged@{depth}", "score") for depth in DEPTHS] if judged else []
    rows = [
        [*_facts_row(run, facts, judged), run.count("error"), run.count("warning")]
        for run, facts in zip(report.runs, report.facts, strict=True)
    ]
    return Table([*columns, Column("errors", "count"), Column("warnings", "count")], rows)


def _facts_row(run: Submission, facts: Facts, judged: bool) -> list[Any]:
    row = [run.name, facts.tag, facts.topics, facts.documents, *facts.depths, facts.tied, facts.float32]
    return [*row, *(facts.unjudged.get(str(depth)) for depth in DEPTHS)] if judged else row


def _nested(report: Report) -> dict[str, Any]:
    facts_of = {id(run): facts for run, facts in zip(report.runs, report.facts, strict=True)}
    files = [
        {
            "file": file.place,
            "kind": "run" if id(file) in facts_of else "qrels",
            "format": file.format,
            "errors": file.count("error"),
            "warnings": file.count("warning"),
            "defects": [asdict(defect) for defect in file.defects],
            **({"facts": facts_of[id(file)].as_dict} if id(file) in facts_of else {}),
        }
        for file in report.files
    ]
    return {"errors": report.errors, "warnings": report.warnings, "files": files}
