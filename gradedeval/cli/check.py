"""`gradedeval check RUN... QRELS --min err@20=0.25`: a gate for CI."""

from __future__ import annotations

from typing import Any

import click

from gradedeval.analysis.bounds import KINDS, read_bound_specs, resolve_bounds
from gradedeval.analysis.check import baseline_notes, direction_notes, judging_notes, verdicts
from gradedeval.analysis.check_config import find_settings
from gradedeval.analysis.check_report import FAULTS, FORMATS, format_of, render
from gradedeval.analysis.history import lines_of
from gradedeval.analysis.score_matrix import Matrix
from gradedeval.analysis.significance import PAIR_TESTS, TestSettings
from gradedeval.cli.arguments import as_time, check_history, measure_table, run_and_qrels
from gradedeval.cli.many_runs import SCORING_OPTIONS, prepared, warn_of, with_baseline
from gradedeval.cli.options import (
    GROWS,
    READS,
    WRITES,
    command_line,
    history_options,
    is_given,
    measure_option,
    mismatch_option,
    one_registered,
    option,
)
from gradedeval.cli.output import asked_for, say, warn, write
from gradedeval.errors import InputError, Note
from gradedeval.formats import formats_for
from gradedeval.measures.parse import each_once
from gradedeval.options import numbers
from gradedeval.options.definition import OUTPUT
from gradedeval.scoring.by_measure import with_defaults
from gradedeval.scoring.run_names import named_runs
from gradedeval.trec.written import append_lines

KEYWORDS = {"min": "minimum", "max": "maximum"}
"""The parameters of options whose names Python needs itself."""
OPTIONS = [
    option("--baseline", metavar="RUN|SCORES.csv", file=READS, help="Measure drops against this run or these saved "
           "scores."),
    mismatch_option(),
    option("--min", "minimum", multiple=True, metavar="[MEASURE=]X", help="The mean (or total, or geometric "
           "mean) must be at least X."),
    option("--max", "maximum", multiple=True, metavar="[MEASURE=]X", help="It must be at most X: for measures such as "
           "unjudged@10, of which lower scores are better."),
    option("--max-drop", multiple=True, metavar="[MEASURE=]X|X%", help="The mean may drop by at most X, or by X "
           "percent of the baseline's; where lower is better, it may rise by that."),
    option("--max-topic-drop", multiple=True, metavar="[MEASURE=]X", help="No topic may drop by more than X."),
    option("--significant", multiple=True, metavar="[MEASURE=]P", help="The mean may not drop significantly at level "
           "P. Without MEASURE: each measure of -m, or else of the other bounds."),
    option("--max-unjudged", multiple=True, metavar="[MEASURE=]X", help="Judging the run's unjudged documents may "
           "raise the mean by at most X (column 'unjudged' of --residuals split)."),
    option("--min-topics", multiple=True, metavar="[MEASURE=]N", help="The mean must be over N topics or more "
           "for which the run has documents; with a baseline, over N that both have. "
           "Without MEASURE: each measure, as for --significant."),
    option("--history", metavar="FILE", file=GROWS, help="Append the summaries to a history: a line for each run. See "
           "`gradedeval history`."),
    *history_options(),
    one_registered("unseen"),
    option("--config", metavar="FILE.toml", file=READS, help="Read bounds and options from a file. Default: "
           "gradedeval.toml, or [tool.gradedeval] in pyproject.toml, if present."),
    option("--test", type=click.Choice(PAIR_TESTS),
           help="Significance test of --significant. Default: randomization."),
    option(numbers.DRAWS, metavar="N", help="Number of permutations, or of bootstrap samples. Default: "
           f"{TestSettings.draws}."),
    option(numbers.SEED, metavar="N", help="Random seed. Default: 0."),
    measure_option("Measure of the bounds that name none.", default=()),
    option("-f", "--format", "form", section=OUTPUT, type=click.Choice(FORMATS), metavar="FORMAT", help="Output "
           f"format: {', '.join(FORMATS)}. Default: text, or by the extension of -o (.md, .json, .xml for junit)."),
    option("-o", "--output", section=OUTPUT, metavar="FILE", file=WRITES, help="Write the report to FILE; failed "
           "bounds are also printed to stderr."),
]  # fmt: skip


@command_line("check", "RUN... QRELS", OPTIONS, SCORING_OPTIONS)
def command(files: tuple[str, ...], config: str | None, form: str | None, output: str | None, **keywords: Any) -> None:
    """Check runs against bounds. Exit code 0: all bounds hold; 1: a bound is broken; 2: bounds or options are invalid;
    3: the data are bad, so nothing was checked.

    MEASURE need not be given with -m. A bound without MEASURE applies to the only measure of -m, as in -m err@20 --min
    0.25.
    """
    history, label, time = (keywords.pop(name) for name in ("history", "label", "time"))
    check_history(history, "--history", {"label": label, "time": time})
    form = form or format_of(output)
    table = measure_table(keywords["measures_from"])
    file, specs, settings = find_settings(config, table)
    for kind in KINDS:
        specs += read_bound_specs(kind, keywords.pop(KEYWORDS.get(kind, kind.replace("-", "_"))))
    for name in ("test", "draws", "seed"):
        settings.setdefault(name, getattr(TestSettings, name))
    for name, value in settings.items():
        keywords[name] = keywords[name] if is_given(keywords[name]) else value
    measures, baseline, test, draws, seed, allow = (
        keywords.pop(name) for name in ("measures", "baseline", "test", "draws", "seed", "allow_mismatch")
    )
    chosen, options = prepared(measures, keywords, default=())
    bounds, needed = resolve_bounds(specs, chosen, options, table)
    if file is not None:
        warn([f"settings from {file}"])
    try:
        matrix, baseline = with_baseline(files, baseline, needed, options)
        _check_order(matrix)
        warn_of(matrix, allow, paired=baseline is not None)
        notes = [*baseline_notes(matrix, baseline), *direction_notes(matrix, bounds)]
        results = verdicts(matrix, bounds, baseline, TestSettings(test, draws=draws, seed=seed))
        warn([*notes, *judging_notes(matrix, results)])
    except InputError as error:
        if form in FAULTS and not error.usage:  # which is of the command line, and ends before there is a report
            write(FAULTS[form](error), output)
        raise
    if history is not None:
        passed = {run: all(one.passed for one in results if one.run == run) for run in matrix.runs if run != baseline}
        measures = each_once(with_defaults(measure, options) for measure in needed)
        scored = matrix.select(measures=[measure.label for measure in measures])
        sources = named_runs(run_and_qrels(files)[0])
        append_lines(history, lines_of(scored, measures, sources, as_time(time), label or "", passed))
    write(render(results, form, matrix.signature, signed=not asked_for("quiet")), output)
    broken = [verdict for verdict in results if not verdict.passed]
    # People have read them already.
    if output is not None or form not in ("text", "github", *formats_for("wide")):
        for verdict in broken:
            say(f"FAIL  {verdict.line}")
    if broken:
        click.get_current_context().exit(1)


def _check_order(matrix: Matrix) -> None:
    """Raise InputError for a run whose scores rise with the rank: a gate that lets it pass guards nothing."""
    for note in matrix.notes:
        if isinstance(note, Note) and note.kind == "rising-scores":
            place, _, what = note.text.partition(": ")
            raise InputError(place, what, note.hint, kind=note.kind)
