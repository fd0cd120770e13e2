"""`gradedeval eval`, the default command: the scores of runs, as tables to read, to publish, and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gradedeval import kernel
from gradedeval.cli.arguments import (
    CLUSTER,
    STANDARD_OPTIONS,
    check_history,
    form_of,
    measure_table,
    named_measures,
    one_measure,
    run_and_qrels,
    sharing,
    signed,
    standardization,
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
    TIME,
    command_line,
    is_given,
    mismatch_option,
    option,
    output_options,
    registered,
)
from gradedeval.cli.output import report, say, show, view_of, write
from gradedeval.errors import SHOWN, InputError, Note, flag, tell
from gradedeval.kernel import Measure, numbers, resolve_options

if TYPE_CHECKING:
    from gradedeval.kernel import Options, Scores
    from gradedeval.questions.published import Published


# The options of `gradedeval eval` for tables to publish: marks, significance, captions.


# Tests and corrections are names that the analysis checks: a plain evaluation does not wait for it.
PUBLISHED_OPTIONS = [
    option("--best", section=PUBLISHED, is_flag=True, help="Mark the best of each column in bold and the second best "
           "underlined; equal as printed is equal."),
    option("--baseline", "baselines", section=PUBLISHED, multiple=True, metavar="RUN", file=READS, help="Mark what "
           "differs significantly from RUN, one of the runs: † and ‡ for two levels. Repeat it for a letter for each."),
    option("--test", section=PUBLISHED, metavar="TEST", help="Significance test, as of `gradedeval compare`, bayes "
           "aside. Default: randomization."),
    option("--correction", section=PUBLISHED, metavar="NAME", help="Correction for multiple comparisons, over the "
           "pairs of each measure, as of `gradedeval compare`. Default: holm."),
    option(numbers.ALPHA, "levels", section=PUBLISHED, multiple=True, metavar="P", help="Significance level; "
           "give it twice for two signs. Default: 0.05 and 0.01; with several baselines 0.05."),
    option(numbers.DRAWS, section=PUBLISHED, metavar="N", help="Number of permutations, or of bootstrap samples. "
           "Default: 10000."),
    option(numbers.SEED, section=PUBLISHED, metavar="N", help="Random seed. Default: 0."),
    option("--letters", section=PUBLISHED, is_flag=True, help="Add a column 'same as' to each measure: runs that share "
           "a letter do not differ significantly. `gradedeval compare --letters` also shows the ranks they can have."),
    option("--percent", section=PUBLISHED, is_flag=True, help="Print measures between 0 and 1 times 100."),
    option("--caption", section=PUBLISHED, metavar="TEXT", help="Caption of the table, which makes it a float in "
        "LaTeX. TEXT is escaped."),
    option("--latex-label", section=PUBLISHED, metavar="TEXT", help="\\label of a LaTeX table with "
           "--caption."),
]  # fmt: skip


def published_table(
    keywords: dict[str, Any],
    form: str,
    shown: Mapping[str, Any],
    runs: Sequence[str] | None,
) -> Published | None:
    """What a table to publish shows; None where nothing of it is asked for. Takes its options out of all.

    shown    what tables have beside summaries: by_topic, cwl
    runs     the files, which --baseline may name; None where runs go by tags, which are not known yet

    Raises InputError (usage) where options do not go together, or with the runs.
    """
    own = {name: keywords.pop(name) for name in keywords.keys() - kernel.options.OPTIONS}  # not those of the registry
    if not any(map(is_given, own.values())):
        return None
    from gradedeval.analysis.score_matrix import Baseline  # few evaluations are published
    from gradedeval.questions.published import Published

    if runs is not None:
        own["baselines"] = [Baseline.read(word, runs).name or word for word in own["baselines"]]
    published = Published(**own)
    published.check(form, by_topic=shown["by_topic"], cwl=shown["cwl"])
    if runs is not None:
        published.check_runs(list(kernel.named_runs(list(runs))))
    return published


def is_possible(published: Published | None, scores: Scores) -> bool:
    """Whether the baselines are among the runs that have scores. Raises InputError (usage) where they are none of the
    runs at all; one that could not be scored is told on stderr."""
    if published is None:
        return True
    names = [run.run for run in scores.runs]
    if not scores.errors:
        published.check_runs(names)
    missing = [name for name in published.baselines if name not in names]
    tell(f"{flag.baseline}: '{name}' is not scored, so there is no table" for name in missing)
    return not missing


# `gradedeval [eval] RUN... QRELS`: the main job.


EVAL_OPTIONS = [
    mismatch_option(STANDARDIZATION),
    option("-q", "--by-topic", section="Output", is_flag=True, help="Print a row per topic, then the summary."),
    *output_options(kernel.formats.SCORE_FORMATS, digits="4"),
    option("--layout", section="Output", type=click.Choice(["long", "wide"]), help="Of csv, tsv, json and jsonl: a row "
           "for each score, or for each topic with a column for each measure. Default: long."),
    option("--cwl", section="Output", is_flag=True, help="Print the five quantities of each C/W/L measure as columns: "
           "eu, etu, ec, etc, ed."),
    option("--sort", section="Output", metavar="MEASURE", help="Sort runs by their summary of MEASURE, best first, or "
        "descending if it has no preferred direction. Ties (within 1e-12) are ordered by name."),
    option("--numbered", section="Output", is_flag=True, help="Number the runs of --sort; equal runs share a rank."),
    option("--run-name", section="Output", type=click.Choice(["file", "tag"]), default="file", help="Name runs after "
           "their file or their tag. Default: file."),
    option("--runs-from", section=MANY_RUNS, metavar="FILE", file=READS, help="Also evaluate the runs listed in FILE, "
           "one per line; - is standard input."),
    JOBS,
    CLUSTER,
    option("--history", metavar="FILE", file=GROWS, help=HISTORY),
    option("--label", metavar="TEXT", help=LABEL),
    option("--time", metavar="TIME", help=f"{TIME} Default: now."),
    option("--keep-going", section=MANY_RUNS, is_flag=True, help="Write -o even if some runs fail, without them."),
]  # fmt: skip


@command_line("eval", "RUN... QRELS", [MEASURES, MEASURES_FROM], registered("eval"), STANDARD_OPTIONS,
              EVAL_OPTIONS, PUBLISHED_OPTIONS)  # fmt: skip
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    form: str | None,
    output: str | None,
    sort: str | None,
    numbered: bool,
    run_name: str,
    runs_from: str | None,
    jobs: int | None,
    keep_going: bool,
    allow_mismatch: bool,
    **keywords: Any,
) -> None:
    """Score runs against graded relevance judgments and print a table.

    RUN has lines of `topic Q0 docno rank score tag`, QRELS of `topic iteration docno grade`. Both may be compressed
    (gz, bz2, xz, zst), and one of them may be - for standard input. RUN may also be a folder of runs or a quoted
    pattern. `gradedeval measures` lists the measures.
    """
    table, standardized = measure_table(measures_from), standardization(keywords, allow_mismatch)
    crossed = keywords.pop("layout") == "wide"
    shown = {name: keywords.pop(name) for name in ("by_topic", "cwl", "digits")}
    chosen = named_measures(measures or (kernel.parse.CWL_DEFAULT if shown["cwl"] else kernel.parse.DEFAULT), table)
    chosen = _quantities(chosen, keywords, standardized is not None) if shown["cwl"] else chosen
    kept = {name: keywords.pop(name) for name in ("label", "history", "time")}
    order = _order(sort, numbered, table)
    form = form or form_of(output, kernel.formats.SCORE_FORMATS)
    _check_crossed(crossed, form, shown["cwl"])
    runs, qrels = run_and_qrels(files, keywords, runs_from)
    tags, history = run_name == "tag", kept["history"] is not None
    published = published_table(keywords, form, shown, None if tags else runs)
    check_history(kept["history"], kept, form)
    options = _check_systems(resolve_options(**keywords), shown, numbered, published)
    _check_predicted(options, shown["cwl"], standardized is not None, history, published)
    how = {"by_tag": tags, "keep_going": True, "by_topic": any((shown["by_topic"], history, standardized, published))}
    named, workers = kernel.named_runs(runs), sharing(jobs)
    scores = kernel.evaluate_runs(named, qrels, chosen, options, **how, predicts=True, workers=workers)
    scores = standardized(scores) if standardized else scores
    tell([*scores.notes, *_unused(options, shown["by_topic"], crossed, form)])
    scores = scores.sorted_by(order, numbered=numbered) if order else scores
    if history and scores.runs:
        _keep(scores, {} if tags else kernel.named_runs(runs), **kept)
    written = bool(scores.runs) and (output is None or keep_going or not scores.errors)
    if written := written and is_possible(published, scores):
        style, shown["view"] = published.style(scores) if published else None, view_of(output)
        text = kernel.score_tables.render_scores(scores, form, **shown, signed=signed(), style=style, crossed=crossed)
        (show if form == "table" else write)(text, output)
    _report(scores, output, written)


def _unused(options: Options, by_topic: bool, crossed: bool, form: str) -> list[Note]:
    """Notes on texts of topics, and systems, that are given and not shown."""
    found = list[Note]()
    if options.replicates is not None and (by_topic or crossed):
        leave = [*(["-q"] if by_topic else []), *([f"{flag.layout:wide}"] if crossed else [])]
        found.append(Note(f"{flag.replicates} is not used: rows are of runs", f"leave out {' and '.join(leave)}"))
    if options.queries is None or (by_topic and form != "trec"):
        return found
    from gradedeval.questions.shared import texts_unused  # few evaluations have texts

    if by_topic:
        return [*found, *texts_unused(options, "trec has no place for texts", "choose another format with -f")]
    return [*found, *texts_unused(options, "rows are of all topics", "add -q")]


def _order(sort: str | None, numbered: bool, table: Any) -> Measure | None:
    """The measure that runs are sorted by. Raises InputError (usage) where there is none, and they are numbered."""
    if numbered and sort is None:
        raise InputError(flag.numbered, "there is no order to number", f"add {flag.sort:MEASURE}", usage=True)
    return None if sort is None else one_measure("--sort", sort, table)


def _check_predicted(
    options: Options, cwl: bool, standardized: bool, history: bool, published: Published | None
) -> None:
    """Raise InputError (usage) for what estimates from two kinds of judgments do not go with."""
    others = {
        str(flag.cwl): cwl,
        str(flag.standardize): standardized,
        str(flag.history): history,
        "tests in tables, which are of scores by topic": published is not None and published.tests,
    }
    for other, given in others.items():
        if given and options.predicted is not None:
            tests = other.startswith("tests")
            hint = "see `gradedeval compare --predicted`" if tests else "leave out one of them"
            raise InputError(flag.predicted, f"cannot be combined with {other}", hint, usage=True)


def _check_crossed(crossed: bool, form: str, cwl: bool) -> None:
    """Raise InputError (usage) where a layout of topics × measures is asked for and does not apply."""
    if not crossed:
        return
    if form not in kernel.formats.formats_for("long"):
        hint = f"choose one of {', '.join(kernel.formats.formats_for('long'))} with -f"
        raise InputError(flag.layout, f"does not apply to {form}, which is for people", hint, usage=True)
    if cwl:
        raise InputError(flag.layout, f"cannot be combined with {flag.cwl}", "leave out one of them", usage=True)


def _quantities(measures: list[Measure], keywords: Mapping[str, Any], standardized: bool) -> list[Measure]:
    """All quantities of the measures. Raises InputError (usage) where an option does not go with them."""
    if keywords["max_residual"] is not None:
        why = "of the five quantities only expected utility has a residual"
        what = f"cannot be combined with {flag.max_residual}: {why}"
        raise InputError(flag.cwl, what, "leave out one of them", usage=True)
    if keywords["slices"] is not None:
        raise InputError(flag.cwl, f"cannot be combined with {flag.slices}", "leave out one of them", usage=True)
    if standardized:
        raise InputError(flag.cwl, "standardized costs have no meaning", "leave out --standardize", usage=True)
    return kernel.score_tables.all_quantities(measures)


def _check_systems(options: Options, shown: Mapping[str, Any], numbered: bool, published: Published | None) -> Options:
    """The options. Raises InputError (usage) where something is asked for that a table of systems does not have."""
    asked = {
        flag.cwl: shown["cwl"],
        flag.numbered: numbered,
        flag.interval: options.interval is not None,
        flag.bounds: options.bounds,
        flag.residuals: options.wants_residuals,
        "the marks, percent and captions of a table to publish": published is not None,
    }
    if options.replicates is None or (shown["by_topic"] and not (shown["cwl"] or published)):
        return options
    for name, is_asked in asked.items():
        if is_asked:
            what = f"cannot be combined with {name}: a row is the mean of a system over its seeds, and their deviation"
            raise InputError(flag.replicates, what, "leave out one of them", usage=True)
    return options


def _keep(scores: Scores, files: Mapping[str, str], history: str, label: str | None, time: str | None) -> None:
    """Append the scores to a history."""
    from gradedeval.questions.history import append_scores  # few evaluations are kept

    tell(append_scores(scores, history, files, time, label or ""))


def _report(scores: Scores, output: str | None, written: bool) -> None:
    """Report the runs that could not be scored, and whether the output was written; then exit with code 1."""
    if not scores.errors:
        return
    for error in scores.errors[:SHOWN]:
        report(error)
    said = scores.unscored
    if unnamed := len(scores.errors[SHOWN:]):
        said += f" ({unnamed} of them not named here)"
    if not written and output is not None:
        said += f", and {output} is not written" + ("; --keep-going writes the others" if scores.runs else "")
    say(said)
    click.get_current_context().exit(1)
