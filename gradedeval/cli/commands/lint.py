"""`gradedeval lint`: the problems of runs, before they are scored."""

from __future__ import annotations

from typing import Any

import click

from gradedeval import kernel
from gradedeval.cli.arguments import check_standard_input, chosen_measures, split_qrels, usage
from gradedeval.cli.options import (
    CUTOFF,
    MEASURES_FROM,
    READS,
    WIDE,
    Option,
    command_line,
    output_options,
    registry_option,
)
from gradedeval.cli.output import context_option
from gradedeval.cli.results import Destination, print_remarks
from gradedeval.errors import InputError, with_flags
from gradedeval.kernel.options import OF_FILES, ranges, resolve_options
from gradedeval.questions.lint import lint_runs

OPTIONS = [
    Option("--qrels", metavar="QRELS", file=READS, help="Also check against these qrels: missing and extra topics, the "
           "share of unjudged documents, and how much ties could change scores.",
           short="Also check against these qrels."),
    Option("-m", "--measure", "measures", multiple=True, section="Measures and gains", metavar="MEASURE",
           help="Measure to check for the effect of ties. Repeat -m, or separate measures by spaces. Default: "
           f"{' '.join(kernel.parse.DEFAULT)}."),
    Option(number=ranges.MAX_DEPTH, metavar="N", help="Report topics with more than N documents as errors.",
        short="Topics with more documents are errors."),
    Option("--tag-is-filename", is_flag=True, help="Report a tag that differs from the file name as an error.",
        short="A tag unlike the file name is an error."),
    Option("--all", "everything", section="Output", is_flag=True, help="List every problem, not only the first ten "
           "of a kind.", short="List every problem, not ten of a kind."),
    Option("--strict", is_flag=True, help="Exit with code 1 for warnings too."),
    CUTOFF,
    MEASURES_FROM,
    *map(registry_option, OF_FILES),
]  # fmt: skip


@command_line("lint", "RUN... [QRELS]", OPTIONS, output_options(by_extension=False), [WIDE],
              most_used="--qrels --strict --all --max-depth --tag-is-filename -m -f "
              "-o --run-format --qrels-format --labels --wide --quiet")  # fmt: skip
def command(
    files: tuple[str, ...],
    qrels: str | None,
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    max_depth: int | None,
    tag_is_filename: bool,
    everything: bool,
    strict: bool,
    **options: Any,
) -> None:
    """Check runs before scoring, and report every problem with its place and how to fix it.

    RUN is a file, a folder or a pattern such as 'runs/*.run'; QRELS is skipped in a folder. With QRELS, or with
    --qrels, topics, unjudged documents and the effect of ties are checked, too.

    An evaluator would refuse a run with errors; it would score a run with warnings, but not as intended. Exit code 1:
    there are errors, or warnings with --strict.
    """
    if qrels is None:
        files, qrels = split_qrels(files, options, bool(measures))
    for flag, is_used in (("-m", measures), ("-k", context_option("k") is not None)):
        if is_used and qrels is None:
            raise InputError(flag, "needs qrels", "add QRELS", usage=True)
    options["output_format"] = options["output_format"] or "table"
    destination = Destination(options)
    chosen = chosen_measures(measures or kernel.parse.DEFAULT, measures_from)
    if not files and qrels is None:
        raise InputError("", "no run given", usage(), usage=True)
    check_standard_input([*files, qrels])
    runs = [file for word in files for file in kernel.stream.files_of(word, [] if qrels is None else [qrels])]
    named = kernel.named_runs(runs) if runs else {}
    formats = resolve_options(**options)
    result = print_remarks(lint_runs(named, qrels, chosen, max_depth, tag_is_filename, formats, with_flags))
    destination.print(result, everything=everything)
    if result.errors or (strict and result.warnings):
        click.get_current_context().exit(1)
