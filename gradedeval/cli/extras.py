"""Options that few evaluations use: a record, and additions to a plain table of scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from gradedeval import kernel
from gradedeval.cli.arguments import check_history, measure_table, named_measures, single_measure
from gradedeval.cli.options import NO_VALUE
from gradedeval.cli.output import STDOUT, context_option
from gradedeval.errors import InputError, Note, emit_notes, flag
from gradedeval.kernel.measures.parse import CWL_DEFAULT, DEFAULT
from gradedeval.kernel.options import OPTIONS, Options, resolve_options

if TYPE_CHECKING:
    from gradedeval.kernel.measures.definition import Measure
    from gradedeval.kernel.scoring.scores import Scores
    from gradedeval.kernel.trec.digests import InputsRead
    from gradedeval.questions.published import Published


class Extras:
    """Additions to a plain table of scores: digests of inputs and a record, standardized scores, quantities of C/W/L
    measures, sorted runs, a history, a table to publish, systems in place of their seeds, predicted judgments, and
    query texts.

    given          name -> value of the options on the command line; options of extras are popped
    by_topic       whether the table has a row for each topic
    output_format  name of the format
    measures_from  files of measures
    run_name       the value of --run-name

    Raises InputError (usage) for options that exclude each other, before anything is read.
    """

    def __init__(
        self, given: dict[str, Any], by_topic: bool, output_format: str, measures_from: tuple[str, ...], run_name: str
    ) -> None:
        self._given, self._by_topic, self._format, self._run_name = given, by_topic, output_format, run_name
        self.record: str | None = given.pop("record", None)
        self._measures_from = measures_from
        self._inputs = self._start_recording()
        self._standardize: Callable[[Scores], Scores] | None = None
        if not given.keys().isdisjoint(("standardize", "reference", "save_reference")):
            from gradedeval.cli.many_runs import pop_standardization  # each extra imports only its own modules

            self._standardize = pop_standardization(given)
        self._cwl = given.pop("cwl", False)
        self._sort = given.pop("sort", None)
        self._history, self._label = given.pop("history", None), given.pop("label", None)
        self._order: Measure | None = None
        self._published: Published | None = None
        self._options: Options

    def _start_recording(self) -> InputsRead | None:
        """Start to record digests of inputs if a record, JSON or a full signature needs them, and return them."""
        if self.record is None and self._format != "json" and context_option("signature") != "full":
            return None
        if self.record in STDOUT[1:]:
            hint = "name a file, as in result.json"
            raise InputError(flag.record, f"'{self.record}' is standard output, not a file", hint, usage=True)
        given = self._given
        settings: dict[str, Any] = {
            **given,
            "measures_from": self._measures_from or None,
            "run_name": self._run_name if self._run_name != "file" else None,
            "standardize": given.get("standardize") or "save_reference" in given,
        }
        names = (*OPTIONS, *kernel.records.COMMAND_SETTINGS)
        self._settings = {name: value for name, value in settings.items() if name in names}
        return click.get_current_context().with_resource(kernel.records.recording())

    def measures(self, named: Sequence[str]) -> list[Measure]:
        """Return the named measures, or the default ones, and the measure of --sort."""
        table = measure_table(self._measures_from)
        chosen = named_measures(named or (CWL_DEFAULT if self._cwl else DEFAULT), table)
        if self._sort not in (None, NO_VALUE):
            self._order = single_measure("--sort", self._sort, table)
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
        if self._standardize is not None:
            raise InputError(flag.cwl, "standardized costs have no meaning", "leave out --standardize", usage=True)
        return kernel.score_tables.all_quantities(measures)

    def options(self, runs: Sequence[str], qrels: str) -> Options:
        """Return the options of reading and scoring. Raises InputError (usage) for files that cannot be recorded."""
        if self.record is not None:
            kernel.records.check_recordable(dict.fromkeys(runs, ""), qrels)
        publishing = {name: self._given.pop(name) for name in [*self._given] if name not in OPTIONS}
        if publishing:
            self._published = self._to_publish(publishing, runs if self._run_name == "file" else None)
        check_history(self._history, self._label)
        self._options = resolve_options(**self._given)
        if self._options.replicates is not None:
            self._check_systems()
        if self._options.predicted is not None:
            self._check_predicted()
        return self._options

    def _to_publish(self, options: dict[str, Any], runs: Sequence[str] | None) -> Published:
        """Return the marks, caption and other extras of a table to publish.

        options  name -> value of the options of such tables
        runs  the files, which --baseline may name; None if runs are named by their tags or paths
        """
        from gradedeval.analysis.score_matrix import Baseline
        from gradedeval.questions.published import Published

        if runs is not None and "baselines" in options:
            options["baselines"] = [Baseline.read(word, runs).name or word for word in options["baselines"]]
        published = Published(**options)
        published.check(self._format, by_topic=self._by_topic, cwl=self._cwl)
        if runs is not None:
            published.check_runs(list(kernel.named_runs(list(runs))))
        return published

    def _check_systems(self) -> None:
        """Raise InputError (usage) for an option that a table of systems excludes."""
        if self._by_topic and not (self._cwl or self._published):  # a row is a run on a topic, never a system
            return
        excluded = {
            flag.cwl: self._cwl,
            flag.interval: self._options.interval is not None,
            flag.bounds: self._options.bounds,
            flag.residuals: self._options.wants_residuals,
            "the marks, percent and captions of a table to publish": self._published is not None,
        }
        for name in (name for name, is_used in excluded.items() if is_used):
            problem = f"cannot be combined with {name}: a row has the mean and deviation of a system over its seeds"
            raise InputError(flag.replicates, problem, "leave out one of them", usage=True)

    def _check_predicted(self) -> None:
        """Raise InputError (usage) for an option that excludes --predicted."""
        if self._published and self._published.baselines:
            problem = f"cannot be combined with {flag.baseline}: its marks compare scores by topic"
            raise InputError(flag.predicted, problem, "see `gradedeval compare --predicted`", usage=True)
        excluded = {flag.cwl: self._cwl, flag.standardize: self._standardize, flag.history: self._history is not None}
        for name in (name for name, is_used in excluded.items() if is_used):
            raise InputError(flag.predicted, f"cannot be combined with {name}", "leave out one of them", usage=True)

    @property
    def needs_topics(self) -> bool:
        """Whether the extras need the scores of topics."""
        needs = (self._history is not None, self._standardize, self._published, self.record is not None)
        return any(needs)

    def apply(self, scores: Scores, qrels: str) -> Scores:
        """Standardize and sort the scores, emit their notes, append them to the history, and record them unless some
        runs have failed."""
        scores = self._standardize(scores) if self._standardize else scores
        emit_notes([*scores.notes, *self._notes_on_unused()])
        scores = scores.sorted_by(self._order) if self._order else scores
        if self._history is not None and scores.runs:
            from gradedeval.questions.history import append_history  # few evaluations have a history

            append_history(scores, self._history, label=self._label or "")
        if self._inputs is not None:
            scores = kernel.records.with_digests(scores, self._inputs, qrels)
            if self.record is not None and not scores.errors:
                kernel.records.write_record(self.record, scores, self._inputs, qrels, self._settings)
        return scores

    def _notes_on_unused(self) -> list[Note]:
        """Return notes on --queries and --replicates if the table does not show query texts or systems."""
        notes = list[Note]()
        if self._options.replicates is not None and self._by_topic:
            notes.append(Note(f"{flag.replicates} is not used: rows are of runs", "leave out -q"))
        if self._options.queries is None or (self._by_topic and self._format != "trec"):
            return notes
        from gradedeval.questions.shared import texts_unused  # few evaluations have query texts

        problem, hint = "rows are of all topics", "add -q"
        if self._by_topic:
            problem, hint = "trec has no place for texts", "choose another format with -f"
        return [*notes, *texts_unused(self._options, problem, hint)]

    def have_baselines(self, scores: Scores) -> bool:
        """Return whether all baselines have scores; a note names a baseline that could not be scored.

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
