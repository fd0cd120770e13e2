"""`gradedeval eval`, the default command: scores of runs, as tables for people, publications and programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gradedeval import kernel
from gradedeval.cli.arguments import (
    CLUSTER,
    STANDARDIZATION_OPTIONS,
    check_history,
    format_of_output,
    make_workers,
    measure_table,
    named_measures,
    note_unused_cutoff,
    runs_and_qrels,
    signature_kind,
    single_measure,
)
from gradedeval.cli.options import (
    HISTORY_OPTIONS,
    JOBS,
    MANY_RUNS,
    MEASURE_OPTIONS,
    MEASURES_FROM,
    NO_VALUE,
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
from gradedeval.cli.output import STDOUT, context_option, print_error, print_message, view_of, write, write_colored
from gradedeval.errors import SHOWN, InputError, Note, emit_notes, flag, redacted
from gradedeval.kernel.formats import SCORE_FORMATS
from gradedeval.kernel.measures.parse import CWL_DEFAULT, DEFAULT
from gradedeval.kernel.options import OPTIONS, resolve_options

if TYPE_CHECKING:
    from gradedeval.kernel.measures.definition import Measure
    from gradedeval.kernel.options import Options
    from gradedeval.kernel.scoring.scores import Scores
    from gradedeval.kernel.trec.digests import InputsRead
    from gradedeval.questions.published import Published


# --test and --correction are checked by the analysis, which a plain evaluation does not import.
PUBLISHED_OPTIONS = [
    Option("--best", section=PUBLISHED, is_flag=True, help="Mark the best of each column in bold and the second best "
           "underlined; equal as printed is equal.", short="Mark the best and second best of each column."),
    Option("--baseline", "baselines", section=PUBLISHED, multiple=True, metavar="RUN", file=READS, help="Mark what "
           "differs significantly from RUN, one of the runs: † at 0.05, ‡ at 0.01. Repeat it for a letter for each.",
           short="Mark what differs significantly from RUN."),
    Option("--test", section=PUBLISHED, metavar="TEST", help="Significance test, as of `gradedeval compare`, bayes "
           "aside. Default: randomization.", short="Significance test of --baseline."),
    Option("--correction", section=PUBLISHED, metavar="NAME", help="Correction for multiple comparisons, over the "
           "pairs of each measure, as of `gradedeval compare`. Default: holm.",
           short="Correction for multiple comparisons."),
    Option("--percent", section=PUBLISHED, is_flag=True, help="Print measures between 0 and 1 times 100."),
    Option("--caption", section=PUBLISHED, metavar="TEXT", help="Caption of the table, which makes it a float in "
        "LaTeX. TEXT is escaped.", short="Caption of the table."),
]  # fmt: skip

EVAL_OPTIONS = [
    Option("--save-reference", section=STANDARDIZATION, metavar="FILE", file=WRITES, help="Standardize, and save the "
           "means and standard deviations as CSV.", short="Standardize, and save the statistics."),
    Option("-q", "--by-topic", section="Output", is_flag=True, help="Print a row per topic, then the summary."),
    *output_options(formats=SCORE_FORMATS, digits="4"),
    Option("--cwl", section="Output", is_flag=True, help="Print the five quantities of each C/W/L measure as columns: "
           "eu, etu, ec, etc, ed. p, rr and ap are taken as cwlp, cwlrr and cwlap.",
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
"""Options of reading and scoring: a table with these alone has no `Extras`."""


@command_line("eval", "RUN... QRELS", [*MEASURE_OPTIONS, MEASURES_FROM], registry_options("eval"),
              STANDARDIZATION_OPTIONS, EVAL_OPTIONS, PUBLISHED_OPTIONS,
              most_used="-m -q -f -o --sort -k --gain --top-grade "
              "--topics --residuals --bounds --interval --baseline --like --quiet")  # fmt: skip
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    output_format: str | None,
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
    given, output_format = _given(options), output_format or format_of_output(output, SCORE_FORMATS)
    recorder, table = Recorder(given, measures_from, run_name, output_format), measure_table(measures_from)
    extras = None if given.keys() <= PLAIN_OPTIONS else Extras(given, table, by_topic)
    chosen = extras.measures(measures) if extras else named_measures(measures or DEFAULT, table)
    note_unused_cutoff()
    runs, qrels = runs_and_qrels(files, given)
    recorder.check(runs, qrels)
    files_named = runs if run_name == "file" else None
    scoring = extras.options(output_format, files_named) if extras else resolve_options(**given)
    scores = kernel.evaluate_runs(
        _named_runs(runs, run_name),
        qrels,
        chosen,
        scoring,
        by_tag=run_name == "tag",
        by_topic=by_topic or recorder.target is not None or (extras is not None and extras.needs_topics),
        keep_going=True,
        predicts=True,
        workers=make_workers(jobs),
    )
    scores.notes += scores.unequal_topics()
    if extras is None:
        emit_notes(scores.notes)
    scores = recorder.apply(extras.apply(scores, output_format) if extras else scores, qrels)
    is_complete = bool(scores.runs) and (output is None or keep_going or not scores.errors)
    is_written = is_complete and (extras is None or extras.have_baselines(scores))
    if is_written:
        additions = extras.table_keywords(scores) if extras else {}
        _write_table(scores, output_format, output, by_topic=by_topic, digits=digits, **additions)
    if scores.errors:
        _exit_with_errors(scores, None if is_written else output, recorder.target)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options on the command line."""
    return {name: value for name, value in options.items() if is_given(value)}


def _named_runs(runs: list[str], run_name: str) -> dict[str, str]:
    """Return name -> run: by path if `run_name` is path, else by file; tags are known once runs are read."""
    named = kernel.named_runs(runs)
    if run_name != "path":
        return named
    return {redacted(path) if path != "-" else name: path for name, path in named.items()}


def _write_table(scores: Scores, output_format: str, output: str | None, **keywords: Any) -> None:
    """Write the scores as a table; keywords as in `render_scores`."""
    kind, view = signature_kind(), view_of(output)
    text = kernel.score_tables.render_scores(scores, output_format, signed=kind, view=view, **keywords)
    (write_colored if output_format == "table" else write)(text, output)


def _exit_with_errors(scores: Scores, output: str | None, record: str | None) -> None:
    """Print the errors of runs that could not be scored, and which of two files is not written; exit with code 1."""
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


class Recorder:
    """The digests of inputs, for a record, JSON and a full signature, and the record.

    given          name -> value of the options on the command line; --record is popped
    measures_from  files of measures
    run_name       the value of --run-name

    Without any of the three nothing is digested.
    """

    def __init__(
        self, given: dict[str, Any], measures_from: tuple[str, ...], run_name: str, output_format: str
    ) -> None:
        self.target: str | None = given.pop("record", None)
        self._inputs: InputsRead | None = None
        if self.target is None and output_format != "json" and context_option("signature") != "full":
            return
        if self.target in STDOUT[1:]:
            hint = "name it, as in result.json"
            raise InputError(flag.record, f"'{self.target}' is not a file beside the inputs", hint, usage=True)
        table: dict[str, Any] = {
            "measures_from": measures_from or None,
            "run_name": run_name if run_name != "file" else None,
        }
        table |= {"standardize": given.get("standardize") or "save_reference" in given}
        names = (*OPTIONS, *kernel.records.COMMAND_SETTINGS)
        self._settings = {name: value for name, value in {**given, **table}.items() if name in names}
        self._inputs = click.get_current_context().with_resource(kernel.records.recording())

    def check(self, runs: Sequence[str], qrels: str) -> None:
        """Raise InputError (usage) for qrels that are not a file, of which there can be no record."""
        if self.target is not None:
            kernel.records.check_recordable(dict.fromkeys(runs, ""), qrels)

    def apply(self, scores: Scores, qrels: str) -> Scores:
        """Return the scores with digests, and write the record unless some runs have failed."""
        if self._inputs is None:
            return scores
        scores = kernel.records.with_digests(scores, self._inputs, qrels)
        if self.target is not None and not scores.errors:
            kernel.records.write_record(self.target, scores, self._inputs, qrels, self._settings)
        return scores


class Extras:
    """Additions to a plain table of scores: standardized scores, quantities of C/W/L measures, sorted runs, a history,
    a table to publish, systems in place of their seeds, predicted judgments, and texts of topics.

    given     name -> value of the options on the command line; options of extras are popped
    table     name -> measure
    by_topic  whether the table has a row for each topic

    Raises InputError (usage) for options that exclude each other, before anything is read.
    """

    def __init__(self, given: dict[str, Any], table: Mapping[str, Measure], by_topic: bool) -> None:
        self._given, self._table, self._by_topic = given, table, by_topic
        self._standardized: Callable[[Scores], Scores] | None = None
        if not given.keys().isdisjoint(("standardize", "reference", "save_reference")):
            from gradedeval.cli.many_runs import pop_standardization  # each extra imports only its own modules

            self._standardized = pop_standardization(given)
        self._cwl = given.pop("cwl", False)
        self._sort = given.pop("sort", None)
        self._history, self._label = given.pop("history", None), given.pop("label", None)
        self._order: Measure | None = None
        self._published: Published | None = None
        self._options: Options

    def measures(self, named: Sequence[str]) -> list[Measure]:
        """Return the named measures, or the default ones, and the measure of --sort."""
        chosen = named_measures(named or (CWL_DEFAULT if self._cwl else DEFAULT), self._table)
        if self._sort not in (None, NO_VALUE):
            self._order = single_measure("--sort", self._sort, self._table)
            chosen = chosen if self._order in chosen else [self._order, *chosen]
        if self._cwl:
            chosen = self._quantities(chosen)
            if self._order is not None and self._order not in chosen:
                self._order = kernel.score_tables.all_quantities([self._order])[0]
        if self._sort == NO_VALUE:
            self._order = chosen[0]
        return chosen

    def _quantities(self, measures: list[Measure]) -> list[Measure]:
        """Return all quantities of C/W/L measures."""
        if "max_residual" in self._given:
            reason = "of the five quantities only expected utility has a residual"
            problem = f"cannot be combined with {flag.max_residual}: {reason}"
            raise InputError(flag.cwl, problem, "leave out one of them", usage=True)
        if "slices" in self._given:
            raise InputError(flag.cwl, f"cannot be combined with {flag.slices}", "leave out one of them", usage=True)
        if self._standardized is not None:
            raise InputError(flag.cwl, "standardized costs have no meaning", "leave out --standardize", usage=True)
        return kernel.score_tables.all_quantities(measures)

    def options(self, output_format: str, runs: Sequence[str] | None) -> Options:
        """Return the options of reading and scoring.

        output_format  name of the format
        runs  the files, which --baseline may name; None if runs are named by their tags or paths
        """
        table = {name: self._given.pop(name) for name in [*self._given] if name not in OPTIONS}
        if table:
            self._published = self._to_publish(table, output_format, runs)
        check_history(self._history, self._label)
        self._options = resolve_options(**self._given)
        if self._options.replicates is not None:
            self._check_systems()
        if self._options.predicted is not None:
            self._check_predicted()
        return self._options

    def _to_publish(self, table: dict[str, Any], output_format: str, runs: Sequence[str] | None) -> Published:
        """Return the extras of a table to publish, from their options."""
        from gradedeval.analysis.score_matrix import Baseline
        from gradedeval.questions.published import Published

        if runs is not None and "baselines" in table:
            table["baselines"] = [Baseline.read(word, runs).name or word for word in table["baselines"]]
        published = Published(**table)
        published.check(output_format, by_topic=self._by_topic, cwl=self._cwl)
        if runs is not None:
            published.check_runs(list(kernel.named_runs(list(runs))))
        return published

    def _check_systems(self) -> None:
        """Raise InputError (usage) for an option that a table of systems excludes."""
        excluded = {
            flag.cwl: self._cwl,
            flag.interval: self._options.interval is not None,
            flag.bounds: self._options.bounds,
            flag.residuals: self._options.wants_residuals,
            "the marks, percent and captions of a table to publish": self._published is not None,
        }
        if self._by_topic and not (self._cwl or self._published):  # then rows are of runs
            return
        for name, is_used in excluded.items():
            if is_used:
                row = "a row is the mean of a system over its seeds, and their deviation"
                problem = f"cannot be combined with {name}: {row}"
                raise InputError(flag.replicates, problem, "leave out one of them", usage=True)

    def _check_predicted(self) -> None:
        """Raise InputError (usage) for an option that excludes --predicted."""
        excluded = {
            str(flag.cwl): self._cwl,
            str(flag.standardize): self._standardized is not None,
            str(flag.history): self._history is not None,
            "marks in tables, which are of scores by topic": bool(self._published and self._published.baselines),
        }
        for name, is_used in excluded.items():
            if is_used:
                is_mark = name.startswith("marks")
                hint = "see `gradedeval compare --predicted`" if is_mark else "leave out one of them"
                raise InputError(flag.predicted, f"cannot be combined with {name}", hint, usage=True)

    @property
    def needs_topics(self) -> bool:
        """Whether the extras need the scores of topics."""
        return bool(self._history is not None or self._standardized or self._published)

    def apply(self, scores: Scores, output_format: str) -> Scores:
        """Standardize and sort the scores, emit their notes, and append them to the history."""
        scores = self._standardized(scores) if self._standardized else scores
        emit_notes([*scores.notes, *self._unused(output_format)])
        scores = scores.sorted_by(self._order) if self._order else scores
        if self._history is not None and scores.runs:
            from gradedeval.questions.history import append_history  # few evaluations have a history

            append_history(scores, self._history, label=self._label or "")
        return scores

    def _unused(self, output_format: str) -> list[Note]:
        """Return notes on texts of topics and on systems that the table does not show."""
        notes = list[Note]()
        if self._options.replicates is not None and self._by_topic:
            notes.append(Note(f"{flag.replicates} is not used: rows are of runs", "leave out -q"))
        if self._options.queries is None or (self._by_topic and output_format != "trec"):
            return notes
        from gradedeval.questions.shared import texts_unused  # few evaluations have texts

        problem, hint = "rows are of all topics", "add -q"
        if self._by_topic:
            problem, hint = "trec has no place for texts", "choose another format with -f"
        return [*notes, *texts_unused(self._options, problem, hint)]

    def have_baselines(self, scores: Scores) -> bool:
        """Return if all baselines have scores; a note names a baseline that could not be scored.

        Raises InputError (usage) for a baseline that is not among the runs.
        """
        if self._published is None:
            return True
        names = [run.run for run in scores.runs]
        if not scores.errors:
            self._published.check_runs(names)
        missing = [name for name in self._published.baselines if name not in names]
        emit_notes(f"{flag.baseline}: '{name}' is not scored, so there is no table" for name in missing)
        return not missing

    def table_keywords(self, scores: Scores) -> dict[str, Any]:
        """Return the keywords of `render_scores` that a plain table lacks."""
        style = self._published.style(scores) if self._published else None
        return {"cwl": self._cwl, "style": style}
