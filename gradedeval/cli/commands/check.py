"""`gradedeval check`: a gate for continuous integration, whose exit code says whether bounds hold."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, get_args

import click

from gradedeval import analysis, kernel
from gradedeval.analysis import score_matrix, significance
from gradedeval.cli.arguments import (
    check_history,
    measure_table,
    named_measures,
    remember_cut,
    signing,
    tell_unused_cutoff,
)
from gradedeval.cli.many_runs import scores_with_baseline, tell_assumptions
from gradedeval.cli.options import (
    CUTOFF,
    GROWS,
    HISTORY,
    LABEL,
    MEASURES_FROM,
    READS,
    Option,
    command_line,
    is_given,
    one_registered,
    output_options,
    registered,
)
from gradedeval.cli.output import asked_for, in_lines, say, show, write
from gradedeval.cli.results import Destination, form_by_extension
from gradedeval.errors import InputError, emit_notes
from gradedeval.kernel import append_lines
from gradedeval.kernel.formats import formats_for
from gradedeval.kernel.options import ranges
from gradedeval.questions.check import FAULTS, REPORTS, Checked, baseline_of, check_order, slice_notes, verdicts
from gradedeval.questions.history import lines_of
from gradedeval.questions.limits import KINDS, BoundSpec, Settings, find_settings, read_bound, resolve_bounds


def bound_option(kind: str, help: str, value: str = "X") -> Option:
    """Return the option of the bounds of one kind, which may be given several times."""
    return Option(f"--{kind}", multiple=True, metavar=f"[MEASURE=]{value}", help=help)


BOUNDS = [
    bound_option("min", "The mean (or total, or geometric mean) must be at least X."),
    bound_option("max", "It must be at most X: for measures such as unjudged@10, of which lower scores are better."),
    bound_option("max-drop", "The mean may drop by at most X, or by X percent of the baseline's; where lower is "
                 "better, it may rise by that.", "X|X%"),
    bound_option("max-topic-drop", "No topic may drop by more than X."),
    bound_option("significant", "The mean may not drop significantly at level P. Without MEASURE: each measure of -m, "
                 "or else of the other bounds.", "P"),
    bound_option("max-unjudged", "The residual of the run's unjudged documents may be at most X (column 'unjudged' of "
                 "--residuals split)."),
    bound_option("min-topics", "The mean must cover at least N topics for which the run has documents; with a "
                 "baseline, at least N that both have. Without MEASURE: each measure, as for --significant.", "N"),
]  # fmt: skip
COMPARED = [
    Option("--baseline", metavar="RUN|SCORES.csv", file=READS, help="Measure drops against this run or these saved "
           "scores. Default: the first of several runs, which is then not checked itself."),
]  # fmt: skip
RECORDED = [
    Option("--history", metavar="FILE", file=GROWS, help=HISTORY),
    Option("--label", metavar="TEXT", help=LABEL),
    Option("--config", metavar="FILE.toml", file=READS, help="Read bounds and options from a file. Default: "
           "gradedeval.toml, or [tool.gradedeval] in pyproject.toml, if present."),
]  # fmt: skip
TESTED = [
    Option("--test", type=click.Choice(get_args(analysis.PairTest)), help="Significance test of --significant. "
           "Default: randomization."),
    Option(number=ranges.DRAWS, metavar="N", help="Number of permutations, or of bootstrap samples. Default: 10000."),
    Option(number=ranges.SEED, metavar="N", help="Random seed. Default: 0."),
]  # fmt: skip
MEASURED = [
    Option("-m", "--measure", "measures", multiple=True, section="Measures and gains", metavar="MEASURE",
           help="Measure of the bounds that name none. Repeat -m, or separate measures by spaces."),
    CUTOFF,
    *MEASURES_FROM,
]  # fmt: skip
READING = [*map(one_registered, ("unseen", "queries", "slices", "replicates")), *registered("reading")]
OUTPUT = output_options((*REPORTS, *formats_for()), "text", "", ".md, .json, .xml for junit",
                        "Write the report to FILE; failed bounds are also printed to stderr.")  # fmt: skip


@command_line("check", "RUN... QRELS", COMPARED, BOUNDS, RECORDED, TESTED, MEASURED, READING, OUTPUT)
def command(files: tuple[str, ...], config: str | None, history: str | None, label: str | None, **options: Any) -> None:
    """Check runs against bounds. Exit code 0: all bounds hold; 1: a bound fails; 2: bounds or options are
    invalid; 3: the data are bad, so nothing was checked.

    A bound of a slice has its name before it, as in --min 'intent=tail: ndcg@10=0.4' (see --slices).
    With --replicates bounds are of systems: the mean over the seeds.

    MEASURE need not be given with -m. A bound without MEASURE applies to the only measure of -m, as in -m err@20 --min
    0.25.
    """
    check_history(history, label)
    form, output = options["form"], options["output"]
    options["form"] = form or form_by_extension(output, {".txt": "text", ".xml": "junit"}, "text")
    destination = Destination(options)
    settings = find_settings(config, measure_table(options.pop("measures_from")))
    written = [*settings.specs, *_bounds_given(options, settings)]
    from_file = {name: value for name, value in settings.options.items() if not is_given(options[name])}
    options |= from_file
    baseline = options.pop("baseline")
    tested = {name: options.pop(name) for name in ("test", "draws", "seed")}
    test = significance.TestSettings(**{name: value for name, value in tested.items() if value is not None})
    chosen = named_measures(options.pop("measures"), settings.table)
    tell_unused_cutoff()
    scoring = score_matrix.options_with_residuals(**options)
    scoring = replace(scoring, untold=scoring.untold.union(from_file))  # not all that a file says need be of use
    bounds, measures = resolve_bounds(written, chosen, scoring, settings.table)
    if settings.path is not None:
        emit_notes([f"settings from {settings.path}"])
    try:
        matrix, name = scores_with_baseline(files, baseline, measures, scoring)
        check_order(matrix)
        if name is None and (name := baseline_of(matrix, bounds, None)) is not None:
            emit_notes(score_matrix.first_baseline_notes(matrix, None, fewest=2, named=True))
        tell_assumptions(matrix, paired=name is not None)
        emit_notes(slice_notes(matrix, bounds))
        checked = Checked(verdicts(matrix, bounds, name, test), matrix.signature)
    except InputError as error:
        # Bad data are written where the report was to go, in a form that has a place for them.
        if destination.form in FAULTS and not error.usage:
            write(FAULTS[destination.form](error), destination.output)
        raise
    if history is not None:
        scored = kernel.parse.without_duplicates(kernel.scores.with_defaults(measure, scoring) for measure in measures)
        shown = matrix.select(measures=[measure.label for measure in scored])
        append_lines(history, lines_of(shown, scored, None, label or "", checked.passed_by_run))
    _print(checked, destination)
    if not checked.passed:
        click.get_current_context().exit(1)


def _bounds_given(options: dict[str, Any], settings: Settings) -> list[BoundSpec]:
    """Take the bounds out of the options."""
    cutoff = asked_for("k")
    bounds = [read_bound(kind, word, cutoff) for kind in KINDS for word in options.pop(kind.replace("-", "_"))]
    for bound in bounds:
        if cutoff is not None and bound.measure is not None:
            remember_cut(bound.measure, settings.table)
    return bounds


def _print(checked: Checked, destination: Destination) -> None:
    """Write the report, and the broken bounds to stderr unless people have read them already."""
    form, output = destination.form, destination.output
    if form in REPORTS:
        report = REPORTS[form](checked, signing())
        report = in_lines(report, sys.stdout) if form == "text" and output is None else report
        (show if form == "text" else write)(report, output)
    else:
        destination.print(checked)
    if output is not None or form not in ("text", "github", *formats_for("wide")):
        for verdict in checked.broken:
            say(f"FAIL  {verdict.line}", "verdict")
