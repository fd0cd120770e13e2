"""`gradedeval eval`, the default command: scores of runs, as tables for people, publications and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gradedeval import kernel
from gradedeval.cli.arguments import (
    CLUSTER,
    STANDARDIZATION_OPTIONS,
    format_of_output,
    make_workers,
    measure_table,
    named_measures,
    note_unused_cutoff,
    runs_and_qrels,
    signature_kind,
)
from gradedeval.cli.options import (
    HISTORY_OPTIONS,
    JOBS,
    MANY_RUNS,
    MEASURE_OPTIONS,
    MEASURES_FROM,
    PUBLISHED,
    READS,
    STANDARDIZATION,
    WRITES,
    Option,
    command_line,
    is_given,
    output_options,
    registry_options,
)
from gradedeval.cli.output import context_option, print_error, print_message, view_of, write
from gradedeval.errors import SHOWN, emit_notes, redacted
from gradedeval.kernel.formats import SCORE_FORMATS
from gradedeval.kernel.measures.parse import DEFAULT
from gradedeval.kernel.options import OPTIONS, resolve_options

if TYPE_CHECKING:
    from gradedeval.cli.extras import Extras
    from gradedeval.kernel.scoring.scores import Scores


# --test and --correction are checked by the analysis, which a plain evaluation does not import.
PUBLISHED_OPTIONS = [
    Option("--best", section=PUBLISHED, is_flag=True, help="Mark the best of each column in bold and the second best "
           "underlined; values that print alike are equal.", short="Mark the best and second best of each column."),
    Option("--baseline", "baselines", section=PUBLISHED, multiple=True, metavar="RUN", file=READS, help="Mark scores "
           "that differ significantly from those of RUN, one of the runs: † at 0.05, ‡ at 0.01. If repeated, a "
           "letter stands for each baseline.", short="Mark scores that differ from those of RUN."),
    Option("--test", section=PUBLISHED, metavar="TEST", help="Significance test, any of `gradedeval compare` "
           "except bayes. Default: randomization.", short="Significance test of --baseline."),
    Option("--correction", section=PUBLISHED, metavar="NAME", help="Correction for multiple comparisons, over the "
           "pairs of each measure, any of `gradedeval compare`. Default: holm.",
           short="Correction for multiple comparisons."),
    Option("--percent", section=PUBLISHED, is_flag=True, help="Print measures between 0 and 1 times 100."),
    Option("--caption", section=PUBLISHED, metavar="TEXT", help="Caption of the table, which makes it a float in "
        "LaTeX. TEXT is escaped.", short="Caption of the table."),
]  # fmt: skip

EVAL_OPTIONS = [
    Option("--save-reference", section=STANDARDIZATION, metavar="FILE", file=WRITES, help="Standardize, and save the "
           "means and standard deviations as CSV.", short="Standardize, and save the statistics."),
    Option("-q", "--by-topic", section="Output", is_flag=True, help="Print a row per topic, then the summary."),
    *output_options(formats=SCORE_FORMATS, short="Format, such as csv, json or, for pipes, trec.", digits="4"),
    Option("--cwl", section="Output", is_flag=True, help="Print the five quantities of each C/W/L measure as columns: "
           "eu, etu, ec, etc and ed. The measures p, rr and ap are taken as cwlp, cwlrr and cwlap.",
           short="The five quantities of C/W/L measures."),
    Option("--sort", section="Output", metavar="[MEASURE]", help="Sort runs by their summary of MEASURE, best first, "
        "or descending if it has no preferred direction. Without MEASURE: by the first of the table. A measure that "
        "is not in the table becomes the first. Ties (within 1e-12) are ordered by name.",
        short="Sort runs by a measure, best first."),
    Option("--run-name", section="Output", type=click.Choice(["file", "tag", "path"]), default="file", help="Name runs "
           "after their file, their tag, or their path as given. Default: file.",
           short="Name runs by file, tag or path."),
    JOBS,
    CLUSTER,
    *HISTORY_OPTIONS,
    Option("--record", section="Output", metavar="FILE", file=WRITES, help="Write a record of the evaluation, with the "
        "digests of all files that it reads: `gradedeval verify` evaluates again and compares.",
        short="Record the result, so that it can be checked."),
    Option("--keep-going", section=MANY_RUNS, is_flag=True, help="Write -o even if some runs fail, without them."),
]  # fmt: skip


PLAIN_OPTIONS = set(OPTIONS).difference(("queries", "replicates", "predicted"))
"""Names of options of reading and scoring. An evaluation with only these options needs no `Extras`."""


@command_line("eval", "RUN... QRELS", [*MEASURE_OPTIONS, MEASURES_FROM], registry_options("eval"),
              STANDARDIZATION_OPTIONS, EVAL_OPTIONS, PUBLISHED_OPTIONS,
              most_used="-m -q -f -o --sort -k --gain --top-grade "
              "--topics --residuals --bounds --interval --baseline --like --quiet")  # fmt: skip
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    output: str | None,
    digits: int | None,
    by_topic: bool,
    run_name: str,
    jobs: int | None,
    keep_going: bool,
    **options: Any,
) -> None:
    """Score runs against graded relevance judgments and print a table.

    RUN has lines of `topic Q0 docno rank score tag`, QRELS of `topic iteration docno grade`. Both may be compressed
    (gz, bz2, xz, zst), and one of them may be - for standard input. RUN may also be a folder of runs or a quoted
    pattern. `gradedeval measures` lists the measures.
    """
    output_format = options.pop("output_format") or format_of_output(output, SCORE_FORMATS)
    given = {name: value for name, value in options.items() if is_given(value)}
    extras = _make_extras(given, by_topic, output_format, measures_from, run_name)
    chosen = extras.measures(measures) if extras else named_measures(measures or DEFAULT, measure_table(measures_from))
    note_unused_cutoff()
    runs, qrels = runs_and_qrels(files, given)
    scoring = extras.options(runs, qrels) if extras else resolve_options(**given)
    scores = kernel.evaluate_runs(
        _named_runs(runs, run_name),
        qrels,
        chosen,
        scoring,
        by_tag=run_name == "tag",
        by_topic=by_topic or (extras is not None and extras.needs_topics),
        keep_going=True,
        predicts=True,
        workers=make_workers(jobs),
    )
    scores.notes += scores.unequal_topics()
    if extras:
        scores = extras.apply(scores, qrels)
    else:
        emit_notes(scores.notes)
    is_complete = bool(scores.runs) and (output is None or keep_going or not scores.errors)
    is_written = is_complete and (extras is None or extras.have_baselines(scores))
    if is_written:
        keywords: dict[str, Any] = {"signed": signature_kind(), "view": view_of(output), "digits": digits}
        keywords |= extras.table_keywords(scores) if extras else {}
        text = kernel.score_tables.render_scores(scores, output_format, by_topic=by_topic, **keywords)
        write(text, output, colored=output_format == "table")
    if scores.errors:
        _exit_with_errors(scores, None if is_written else output, extras.record if extras else None)


def _make_extras(given: dict[str, Any], by_topic: bool, output_format: str, *recorded: Any) -> Extras | None:
    """Return the additions to a plain table of scores that the options ask for; None for a plain table."""
    if given.keys() <= PLAIN_OPTIONS and output_format != "json" and context_option("signature") != "full":
        return None
    from gradedeval.cli.extras import Extras  # most evaluations have none

    return Extras(given, by_topic, output_format, *recorded)


def _named_runs(runs: list[str], run_name: str) -> dict[str, str]:
    """Return name -> run: by path if `run_name` is path, else by file; tags are known once runs are read."""
    named = kernel.named_runs(runs)
    if run_name != "path":
        return named
    return {redacted(path) if path != "-" else name: path for name, path in named.items()}


def _exit_with_errors(scores: Scores, output: str | None, record: str | None) -> None:
    """Print the errors of runs that could not be scored, and the files that are not written; exit with code 1.

    output, record  the files of -o and --record; None: no such file, or it is written
    """
    for error in scores.errors[:SHOWN]:
        print_error(error)
    summary = scores.unscored_text
    if unlisted := len(scores.errors[SHOWN:]):
        summary += f" ({unlisted} of them not listed here)"
    if missing := [file for file in (output, record) if file is not None]:
        summary += f", and {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not written"
    if output is not None and scores.runs:
        summary += "; --keep-going writes the others" + (f" to {output}" if record else "")
    print_message(summary)
    click.get_current_context().exit(1)
