"""`gradedeval eval`, the default command: the scores of runs, as tables to read, to publish, and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gradedeval import kernel
from gradedeval.cli.arguments import (
    CLUSTER,
    STANDARD_OPTIONS,
    form_of,
    measure_table,
    named_measures,
    run_and_qrels,
    sharing,
    signed,
    tell_unused_cutoff,
)
from gradedeval.cli.options import (
    GROWS,
    HISTORY,
    JOBS,
    LABEL,
    MANY_RUNS,
    MEASURES,
    MEASURES_FROM,
    PUBLISHED,
    READS,
    STANDARDIZATION,
    WRITES,
    Option,
    command_line,
    is_given,
    output_options,
    registered,
)
from gradedeval.cli.output import report, say, show, view_of, write
from gradedeval.errors import SHOWN, tell
from gradedeval.kernel import resolve_options

if TYPE_CHECKING:
    from gradedeval.kernel import Scores


# Tests and corrections are names that the analysis checks: a plain evaluation does not wait for it.
PUBLISHED_OPTIONS = [
    Option("--best", section=PUBLISHED, is_flag=True, help="Mark the best of each column in bold and the second best "
           "underlined; equal as printed is equal."),
    Option("--baseline", "baselines", section=PUBLISHED, multiple=True, metavar="RUN", file=READS, help="Mark what "
           "differs significantly from RUN, one of the runs: † at 0.05, ‡ at 0.01. Repeat it for a letter for each."),
    Option("--test", section=PUBLISHED, metavar="TEST", help="Significance test, as of `gradedeval compare`, bayes "
           "aside. Default: randomization."),
    Option("--correction", section=PUBLISHED, metavar="NAME", help="Correction for multiple comparisons, over the "
           "pairs of each measure, as of `gradedeval compare`. Default: holm."),
    Option("--percent", section=PUBLISHED, is_flag=True, help="Print measures between 0 and 1 times 100."),
    Option("--caption", section=PUBLISHED, metavar="TEXT", help="Caption of the table, which makes it a float in "
        "LaTeX. TEXT is escaped."),
]  # fmt: skip

EVAL_OPTIONS = [
    Option("--save-reference", section=STANDARDIZATION, metavar="FILE", file=WRITES, help="Standardize, and save the "
           "means and standard deviations as CSV."),
    Option("-q", "--by-topic", section="Output", is_flag=True, help="Print a row per topic, then the summary."),
    *output_options(kernel.formats.SCORE_FORMATS, digits="4"),
    Option("--cwl", section="Output", is_flag=True, help="Print the five quantities of each C/W/L measure as columns: "
           "eu, etu, ec, etc, ed."),
    Option("--sort", section="Output", metavar="MEASURE", help="Sort runs by their summary of MEASURE, best first, or "
        "descending if it has no preferred direction. Ties (within 1e-12) are ordered by name."),
    Option("--run-name", section="Output", type=click.Choice(["file", "tag"]), default="file", help="Name runs after "
           "their file or their tag. Default: file."),
    JOBS,
    CLUSTER,
    Option("--history", metavar="FILE", file=GROWS, help=HISTORY),
    Option("--label", metavar="TEXT", help=LABEL),
    Option("--keep-going", section=MANY_RUNS, is_flag=True, help="Write -o even if some runs fail, without them."),
]  # fmt: skip


PLAIN_KEYWORDS = kernel.options.OPTIONS.keys() - {"queries", "replicates", "predicted"}
"""The options that only say how runs are read and scored: with others a table has more than scores, or is not all that
is wanted."""


@command_line("eval", "RUN... QRELS", [*MEASURES, *MEASURES_FROM], registered("eval"), STANDARD_OPTIONS,
              EVAL_OPTIONS, PUBLISHED_OPTIONS)  # fmt: skip
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    form: str | None,
    output: str | None,
    digits: int | None,
    by_topic: bool,
    run_name: str,
    jobs: int | None,
    keep_going: bool,
    **keywords: Any,
) -> None:
    """Score runs against graded relevance judgments and print a table.

    RUN has lines of `topic Q0 docno rank score tag`, QRELS of `topic iteration docno grade`. Both may be compressed
    (gz, bz2, xz, zst), and one of them may be - for standard input. RUN may also be a folder of runs or a quoted
    pattern. `gradedeval measures` lists the measures.
    """
    given = {name: value for name, value in keywords.items() if is_given(value)}
    table, tags, extras = measure_table(measures_from), run_name == "tag", None
    if given.keys() - PLAIN_KEYWORDS:
        from gradedeval.questions.evaluation_extras import Extras  # most evaluations are of plain tables

        extras = Extras(given, table, by_topic)
    chosen = extras.measures(measures) if extras else named_measures(measures or kernel.parse.DEFAULT, table)
    tell_unused_cutoff()
    form = form or form_of(output, kernel.formats.SCORE_FORMATS)
    runs, qrels = run_and_qrels(files, given)
    options = extras.options(form, None if tags else runs) if extras else resolve_options(**given)
    named = kernel.named_runs(runs)
    how = {"by_tag": tags, "keep_going": True, "by_topic": by_topic or (extras is not None and extras.needs_topics)}
    scores = kernel.evaluate_runs(named, qrels, chosen, options, **how, predicts=True, workers=sharing(jobs))
    scores.notes += scores.unequal_topics()
    if extras:
        scores = extras.applied(scores, form)
    else:
        tell(scores.notes)
    written = bool(scores.runs) and (output is None or keep_going or not scores.errors)
    if written := written and (extras is None or extras.are_possible(scores)):
        shown: dict[str, Any] = {"by_topic": by_topic, "digits": digits, "view": view_of(output), "signed": signed()}
        shown |= extras.shown(scores) if extras else {}
        text = kernel.score_tables.render_scores(scores, form, **shown)
        (show if form == "table" else write)(text, output)
    if scores.errors:
        _report(scores, output, written)


def _report(scores: Scores, output: str | None, written: bool) -> None:
    """Report the runs that could not be scored, and whether the output was written; then exit with code 1."""
    for error in scores.errors[:SHOWN]:
        report(error)
    said = scores.unscored
    if unnamed := len(scores.errors[SHOWN:]):
        said += f" ({unnamed} of them not named here)"
    if not written and output is not None:
        said += f", and {output} is not written" + ("; --keep-going writes the others" if scores.runs else "")
    say(said)
    click.get_current_context().exit(1)
