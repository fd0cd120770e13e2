"""A report as text for people, or as JSON."""

from __future__ import annotations

import json
from itertools import groupby

from gradedeval.analysis.lint.checks import DEPTHS, Facts
from gradedeval.analysis.lint.lint import Report
from gradedeval.analysis.lint.submissions import Submission
from gradedeval.errors import SHOWN, plural
from gradedeval.formats import aligned

LINT_FORMATS = ("table", "json")


def written(report: Report, form: str = "table", *, everything: bool = False) -> str:
    """The report. The text shows the first ten defects of a kind, or with `everything` all; JSON has them all."""
    if form == "json":
        return _json(report)
    blocks = [_block(file, everything) for file in report.files]
    if report.runs:
        blocks.append(_table(report))
    return "\n".join(blocks)


def _block(file: Submission, everything: bool) -> str:
    errors, warnings = file.count("error"), file.count("warning")
    head = f"{file.place}: {errors} {plural(errors, 'error')}, {warnings} {plural(warnings, 'warning')}"
    lines = [head if errors or warnings else f"{file.place}: in order"]
    ranked = sorted(file.defects, key=lambda defect: (defect.weight, _first(file, defect.kind)))
    for (weight, kind), defects in groupby(ranked, key=lambda defect: (defect.weight, defect.kind)):
        listed = list(defects)
        shown = listed if everything else listed[:SHOWN]
        lines += [f"  {weight:<8} {defect}" for defect in shown]
        rest = len(listed) - len(shown)
        if rest:
            lines.append(f"  {weight:<8} {file.place}: {rest} more of the kind '{kind}'; --all lists them")
    return "\n".join(lines) + "\n"


def _first(file: Submission, kind: str) -> int:
    """Where the first defect of a kind stands: kinds come in the order in which they were met."""
    return next(at for at, defect in enumerate(file.defects) if defect.kind == kind)


def _table(report: Report) -> str:
    judged = any(own.unjudged for own in report.facts)
    header = ["run", "tag", "topics", "documents", "fewest", "median", "most", "tied", "float32"]
    header += [f"unjudged@{depth}" for depth in DEPTHS] if judged else []
    body = [
        [*_row(run, own, judged), str(run.count("error")), str(run.count("warning"))]
        for run, own in zip(report.runs, report.facts, strict=True)
    ]
    return aligned([*header, "errors", "warnings"], body, header[:2]) + "\n"


def _row(run: Submission, own: Facts, judged: bool) -> list[str]:
    fewest, median, most = own.depths
    cells = [run.name, own.tag, str(own.topics), str(own.documents), str(fewest), f"{median:g}", str(most)]
    cells += [str(own.tied), str(own.float32)]
    if judged:
        cells += [f"{own.unjudged[str(depth)]:.4f}" if own.unjudged else "" for depth in DEPTHS]
    return cells


def _json(report: Report) -> str:
    facts = {id(run): own for run, own in zip(report.runs, report.facts, strict=True)}
    files = [
        {
            "file": file.place,
            "kind": "run" if id(file) in facts else "qrels",
            "errors": file.count("error"),
            "warnings": file.count("warning"),
            "defects": [
                {"weight": one.weight, "kind": one.kind, "place": one.place, "fault": one.problem, "cure": one.hint}
                for one in file.defects
            ],
            **({"facts": facts[id(file)].as_dict} if id(file) in facts else {}),
        }
        for file in report.files
    ]
    found = {"errors": report.errors, "warnings": report.warnings, "files": files}
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"
