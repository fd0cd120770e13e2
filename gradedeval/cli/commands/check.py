"""`gradedeval check`: a gate for continuous integration; its exit code reports if all bounds hold."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import click

from gradedeval import analysis, kernel
from gradedeval.analysis import score_matrix, significance
from gradedeval.cli.arguments import (
    check_history,
    measure_table,
    named_measures,
    note_unused_cutoff,
    record_cutoff_use,
    signature_formatter,
)
from gradedeval.cli.many_runs import check_assumptions, scores_with_baseline
from gradedeval.cli.options import (
    HISTORY_OPTIONS,
    READS,
    WRITES,
    Option,
    command_line,
    is_given,
    output_options,
    scoring_options,
)
from gradedeval.cli.output import context_option, print_message, wrap_for_terminal, write
from gradedeval.cli.results import Destination, format_or_default
from gradedeval.errors import InputError, emit_notes
from gradedeval.kernel.formats import TABLE_FORMATS, formats_for
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.options import GAINS, ranges
from gradedeval.questions.check import ERROR_REPORTS, REPORTS, Checked, baseline_of, check_order, slice_notes, verdicts
from gradedeval.questions.history import lines_of
from gradedeval.questions.limits import KINDS, Bound, BoundSpec, Undecided, find_settings, read_bound, resolve_bounds

if TYPE_CHECKING:
    from gradedeval.analysis.score_matrix import Matrix


def bound_option(kind: str, help: str, value: str = "X", short: str = "") -> Option:
    """Return the option of the bounds of one kind, which may be given several times."""
    return Option(f"--{kind}", multiple=True, metavar=f"[MEASURE=]{value}", help=help, short=short)


BOUNDS = [
    bound_option("min", "The mean (or total, or geometric mean) must be at least X.",
                 short="The mean must be at least X."),
    bound_option("max", "The mean must be at most X, for measures such as unjudged@10 with lower scores better.",
                 short="The mean must be at most X."),
    bound_option("max-drop", "The mean may drop by at most X, or by X percent of the baseline's mean; if lower is "
                 "better, it may rise by that.", "X|X%", short="The mean may drop by X, or by X percent."),
    bound_option("no-worse", "The topics must rule out a drop of the mean by X, or by X percent of the baseline's mean "
                 "(Student's t, one-sided, at 0.05). If they show a drop instead, the run is worse. Otherwise, and "
                 "with fewer than 10 topics, they cannot tell; to estimate how many are needed, use "
                 "`power --plan A B QRELS --no-worse ...`.",
                 "X|X%", short="The topics must rule out a drop by X."),
    bound_option("max-topic-drop", "No topic may drop by more than X."),
    bound_option("significant", "The mean may not drop significantly at level P. Without MEASURE: each measure of -m, "
                 "or without -m each measure of the other bounds.", "P", short="The mean may not drop significantly."),
    bound_option("max-unjudged", "The residual of the run's unjudged documents, the column 'unjudged' of --residuals "
                 "split, may be at most X.", short="Unjudged documents may add at most X."),
    bound_option("min-topics", "The mean must cover at least N topics for which the run has documents; with a "
                 "baseline, at least N topics of both. Without MEASURE: each measure, as for --significant.", "N",
                 short="The mean must cover at least N topics."),
]  # fmt: skip
BASELINE = Option("--baseline", metavar="RUN|SCORES.csv", file=READS, help="Measure drops against this run or these "
                  "saved scores. Default: the first of several runs, which is then not checked itself.",
                  short="Run or saved scores to measure drops against.")  # fmt: skip
CONFIG = Option("--config", metavar="FILE.toml", file=READS, help="Read bounds and options from a file. Default: "
                "gradedeval.toml, or [tool.gradedeval] in pyproject.toml, if present.")  # fmt: skip
UNDECIDED = Option("--undecided", type=click.Choice(get_args(Undecided)), help="Outcome of --no-worse if it cannot "
                   "tell. Default: neither; the exit code is 4.",
                   short="Outcome of --no-worse if it cannot tell.")  # fmt: skip
TEST_OPTIONS = [
    Option("--test", type=click.Choice(get_args(analysis.PairTest)), help="Significance test of --significant. "
           "Default: randomization."),
    Option(number=ranges.DRAWS, metavar="N", help="Number of permutations, or of bootstrap samples. Default: 10000.",
           short="Number of permutations or samples."),
    Option(number=ranges.SEED, metavar="N", help="Random seed. Default: 0."),
]  # fmt: skip
MEASURE = Option("-m", "--measure", "measures", multiple=True, section=GAINS, metavar="MEASURE",
                 help="Measure of bounds without MEASURE. Repeat -m, or separate measures by spaces.")  # fmt: skip
SETTINGS = [BASELINE, *BOUNDS, UNDECIDED, *HISTORY_OPTIONS, CONFIG, *TEST_OPTIONS, MEASURE]
READING_OPTIONS = scoring_options("unseen", "queries", "slices", "replicates")
REPORT_OPTIONS = output_options(
    formats=(*REPORTS, *TABLE_FORMATS),
    short="Format, such as github or junit.",
    default="text",
    by_extension=".md, .json, .xml for junit",
    output=Option("-o", "--output", section="Output", metavar="FILE", file=WRITES, help="Write the report to FILE, "
                  "and print the bounds that fail or cannot tell to stderr.", short="Write the report to FILE."),
)  # fmt: skip


UNDECIDED_CODE = 4
"""Exit code if no bound fails, but some --no-worse cannot tell."""
EXTENSIONS = {".txt": "text", ".xml": "junit"}
"""Extension -> format that only this command has."""


@command_line("check", "RUN... QRELS", SETTINGS, READING_OPTIONS, REPORT_OPTIONS,
              most_used="-m --min --max --max-drop --no-worse --max-topic-drop --baseline --significant --max-unjudged "
              "--min-topics --config -f -o -k --gain --quiet")  # fmt: skip
def command(
    files: tuple[str, ...],
    config: str | None,
    history: str | None,
    label: str | None,
    measures_from: tuple[str, ...],
    **options: Any,
) -> None:
    """Check runs against bounds. Exit code 0: all bounds hold; 1: a bound fails, or a run is worse; 2: bounds or
    options are invalid; 3: the data are bad, so nothing was checked; 4: nothing fails, but --no-worse cannot tell.

    The name of a slice precedes its bound, as in --min 'intent=tail: ndcg@10=0.4' (see --slices). With --replicates
    a bound applies to a system: to its mean over the seeds.

    A measure in a bound need not be named by -m. A bound without MEASURE applies to the only measure of -m, as in -m
    err@20 --min 0.25; --max-drop, --no-worse, --significant and --min-topics to every measure of -m or of other bounds.
    """
    check_history(history, label)
    options["output_format"] = options["output_format"] or format_or_default(options["output"], EXTENSIONS, "text")
    destination = Destination(options)
    settings = find_settings(config, measure_table(measures_from))
    specs = [*settings.specs, *_pop_bounds(options, settings.table)]
    from_file = {name: value for name, value in settings.options.items() if not is_given(options[name])}
    options |= from_file
    baseline, undecided = options.pop("baseline"), options.pop("undecided")
    if undecided is not None and not any(spec.kind == "no-worse" for spec in specs):
        raise InputError("--undecided", "applies to --no-worse alone", "add --no-worse MEASURE=MARGIN", usage=True)
    test = significance.TestSettings(**_pop_given(options, "test", "draws", "seed"))
    chosen = named_measures(options.pop("measures"), settings.table)
    note_unused_cutoff()
    scoring = score_matrix.options_with_residuals(**options)
    scoring = replace(scoring, may_be_unused=scoring.may_be_unused.union(from_file))  # checks may share this file
    bounds, measures = resolve_bounds(specs, chosen, scoring, settings.table)
    if settings.path is not None:
        emit_notes([f"settings from {settings.path}"])
    try:
        matrix, name = scores_with_baseline(files, baseline, measures, scoring, means_suffice=True)
        checked = _check(matrix, bounds, name, test, undecided)
    except InputError as error:
        if destination.format in ERROR_REPORTS and not error.usage:
            write(ERROR_REPORTS[destination.format](error), destination.output)
        raise
    if history is not None:
        scored = kernel.parse.without_duplicates(kernel.scores.with_defaults(measure, scoring) for measure in measures)
        selected = matrix.select(measures=[measure.label for measure in scored])
        lines = lines_of(selected, scored, None, label or "", checked.passed_by_run, checked.answers)
        kernel.append_lines(history, lines)
    _print(checked, destination)
    if checked.passed is not True:
        click.get_current_context().exit(1 if checked.failed else UNDECIDED_CODE)


def _pop_bounds(options: dict[str, Any], table: Mapping[str, Measure]) -> list[BoundSpec]:
    """Pop the options of bounds, and return the bounds."""
    cutoff = context_option("k")
    bounds = [read_bound(kind, word, cutoff) for kind in KINDS for word in options.pop(kind.replace("-", "_"))]
    for bound in bounds:
        if cutoff is not None and bound.measure is not None:
            record_cutoff_use(bound.measure, table)
    return bounds


def _pop_given(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Pop options, and return those that have a value."""
    popped = {name: options.pop(name) for name in names}
    return {name: value for name, value in popped.items() if is_given(value)}


def _check(
    matrix: Matrix,
    bounds: list[Bound],
    baseline: str | None,
    test: significance.TestSettings,
    undecided: Undecided | None,
) -> Checked:
    """Emit notes on the scores, and check the runs against the bounds."""
    check_order(matrix)
    if baseline is None and (baseline := baseline_of(matrix, bounds, None)) is not None:
        emit_notes(score_matrix.first_baseline_notes(matrix, None, fewest=2, named=True))
    check_assumptions(matrix, paired=baseline is not None)
    emit_notes(slice_notes(matrix, bounds))
    return Checked(verdicts(matrix, bounds, baseline, test, undecided), matrix.signature)


def _print(checked: Checked, destination: Destination) -> None:
    """Write the report. Print bounds that fail or cannot tell to stderr, unless stdout has a report for people."""
    if destination.format in REPORTS:
        report = REPORTS[destination.format](checked, signature_formatter())
        is_text = destination.format == "text"
        if is_text and destination.output is None:
            report = wrap_for_terminal(report, sys.stdout)
        write(report, destination.output, colored=is_text)
    else:
        destination.print(checked)
    if destination.output is not None or destination.format not in ("text", "github", *formats_for("wide")):
        for verdict in (verdict for verdict in checked.verdicts if verdict.passed is not True or verdict.is_open):
            print_message(f"{verdict.mark}  {verdict.line}", "verdict")
