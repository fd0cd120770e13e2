"""`gradedeval.lint`: the defects of run files as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gradedeval.analysis.lint.lint import lint as find_defects
from gradedeval.analysis.lint.report import lint_document
from gradedeval.errors import InputError
from gradedeval.formats.frames import to_frame
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import DEFAULT, parse_measures
from gradedeval.options.presets import resolve_options
from gradedeval.options.values import allowed_growth
from gradedeval.scoring.run_names import named_runs
from gradedeval.trec.source import is_path

if TYPE_CHECKING:
    import pandas as pd


def lint(
    runs: Any,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT,
    *,
    max_depth: int | None = None,
    tag_is_filename: bool = False,
    run_format: str | None = None,
    qrels_format: str | None = None,
    labels: Any = None,
    max_growth: float | str | None = None,
) -> pd.DataFrame:
    """Check run files for everything that a careful organizer checks before scoring, as `gradedeval lint` does.

    runs             a path, a folder, a pattern such as "runs/*.run", a list of these, or a dict name -> path
    qrels            the path of judgments: checks topics, shares of unjudged documents, and effects of ties as well
    measures         the measures whose scores ties may change
    max_depth        report topics with more documents as errors
    tag_is_filename  report a tag that differs from the file name as an error
    run_format       the format of the runs, and qrels_format that of the qrels, where their content does not say it
    labels           a dict label -> grade, where grades are words
    max_growth       how many times its size a compressed file may unpack to: a number, or "inf"; None: 1000

    Returns a frame with a row for each defect, of qrels first: file, weight (`error`: an evaluator would refuse it,
    `warning`: it would score it, but not as intended), kind, place, problem, hint. No row: no defect.
    Raises InputError for what is not a file, and where a measure cannot be computed from these qrels.
    """
    named = named_runs(runs, qrels)
    for name, source in [*named.items(), *([("qrels", qrels)] if qrels is not None else [])]:
        if not is_path(source):
            what = f"is an object of type {type(source).__name__}"
            raise InputError(name, what, "lint reads files: give a path", usage=True)
    options = resolve_options(run_format=run_format, qrels_format=qrels_format, labels=labels)
    with allowed_growth(max_growth):
        report = find_defects(
            named,
            qrels,
            parse_measures(measures),
            max_depth=max_depth,
            tag_is_filename=tag_is_filename,
            run_format=options.run_format,
            qrels_format=options.qrels_format,
            labels=options.labels,
        )
    table = lint_document(report, "long").table
    return to_frame(table.rows, columns=list(table.names))
