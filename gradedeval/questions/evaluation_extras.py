"""What `gradedeval eval` is asked for beside a plain table of scores: most evaluations do without."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradedeval import kernel
from gradedeval.cli.arguments import check_history, named_measures, one_measure
from gradedeval.errors import InputError, Note, flag, tell
from gradedeval.kernel import Measure, Options, Scores, resolve_options
from gradedeval.questions.shared import texts_unused

if TYPE_CHECKING:
    from gradedeval.questions.published import Published


class Extras:
    """Standardized scores, the quantities of C/W/L measures, an order of runs, a line in a history, a table to publish,
    systems in place of their seeds, estimates from predicted judgments, and texts.

    given     the options that were given, by their names; its own are taken out
    table     the measures by their names
    by_topic  whether the table has a row for each topic

    What does not go together is an InputError (usage), before anything is read.
    """

    def __init__(self, given: dict[str, Any], table: Mapping[str, Measure], by_topic: bool) -> None:
        self._given, self._table, self._by_topic = given, table, by_topic
        self._standardized: Callable[[Scores], Scores] | None = None
        if not given.keys().isdisjoint(("standardize", "reference", "save_reference")):
            from gradedeval.cli.many_runs import standardization  # each extra waits for what it needs alone

            self._standardized = standardization(given)
        self._cwl = given.pop("cwl", False)
        self._sort = given.pop("sort", None)
        self._history, self._label = given.pop("history", None), given.pop("label", None)
        self._order: Measure | None = None
        self._published: Published | None = None
        self._options: Options

    def measures(self, named: Sequence[str]) -> list[Measure]:
        """The measures that are named, or the usual ones."""
        usual = kernel.parse.CWL_DEFAULT if self._cwl else kernel.parse.DEFAULT
        chosen = named_measures(named or usual, self._table)
        chosen = self._quantities(chosen) if self._cwl else chosen
        if self._sort is not None:
            self._order = one_measure("--sort", self._sort, self._table)
        return chosen

    def _quantities(self, measures: list[Measure]) -> list[Measure]:
        """All quantities of the measures."""
        if "max_residual" in self._given:
            why = "of the five quantities only expected utility has a residual"
            what = f"cannot be combined with {flag.max_residual}: {why}"
            raise InputError(flag.cwl, what, "leave out one of them", usage=True)
        if "slices" in self._given:
            raise InputError(flag.cwl, f"cannot be combined with {flag.slices}", "leave out one of them", usage=True)
        if self._standardized is not None:
            raise InputError(flag.cwl, "standardized costs have no meaning", "leave out --standardize", usage=True)
        return kernel.score_tables.all_quantities(measures)

    def options(self, form: str, runs: Sequence[str] | None) -> Options:
        """How runs are read and scored.

        form  the output format
        runs  the files, which --baseline may name; None where runs go by tags, which are not known yet
        """
        own = {name: self._given.pop(name) for name in self._given.keys() - kernel.options.OPTIONS}
        if own:
            self._published = self._to_publish(own, form, runs)
        check_history(self._history, self._label)
        self._options = resolve_options(**self._given)
        if self._options.replicates is not None:
            self._check_systems()
        if self._options.predicted is not None:
            self._check_predicted()
        return self._options

    def _to_publish(self, own: dict[str, Any], form: str, runs: Sequence[str] | None) -> Published:
        """What a table to publish shows."""
        from gradedeval.analysis.score_matrix import Baseline
        from gradedeval.questions.published import Published

        if runs is not None and "baselines" in own:
            own["baselines"] = [Baseline.read(word, runs).name or word for word in own["baselines"]]
        published = Published(**own)
        published.check(form, by_topic=self._by_topic, cwl=self._cwl)
        if runs is not None:
            published.check_runs(list(kernel.named_runs(list(runs))))
        return published

    def _check_systems(self) -> None:
        """Raise InputError (usage) where something is asked for that a table of systems does not have."""
        asked = {
            flag.cwl: self._cwl,
            flag.interval: self._options.interval is not None,
            flag.bounds: self._options.bounds,
            flag.residuals: self._options.wants_residuals,
            "the marks, percent and captions of a table to publish": self._published is not None,
        }
        if self._by_topic and not (self._cwl or self._published):  # then rows are of runs
            return
        for name, is_asked in asked.items():
            if is_asked:
                what = f"cannot be combined with {name}: a row is the mean of a system over its seeds, and their "
                raise InputError(flag.replicates, f"{what}deviation", "leave out one of them", usage=True)

    def _check_predicted(self) -> None:
        """Raise InputError (usage) for what estimates from two kinds of judgments do not go with."""
        others = {
            str(flag.cwl): self._cwl,
            str(flag.standardize): self._standardized is not None,
            str(flag.history): self._history is not None,
            "marks in tables, which are of scores by topic": bool(self._published and self._published.baselines),
        }
        for other, is_asked in others.items():
            if is_asked:
                marks = other.startswith("marks")
                hint = "see `gradedeval compare --predicted`" if marks else "leave out one of them"
                raise InputError(flag.predicted, f"cannot be combined with {other}", hint, usage=True)

    @property
    def needs_topics(self) -> bool:
        """Whether the scores of topics are needed."""
        return bool(self._history is not None or self._standardized or self._published)

    def applied(self, scores: Scores, form: str) -> Scores:
        """The scores as they are wanted, with their notes told; kept in a history where that is wanted."""
        scores = self._standardized(scores) if self._standardized else scores
        tell([*scores.notes, *self._unused(form)])
        scores = scores.sorted_by(self._order) if self._order else scores
        if self._history is not None and scores.runs:
            from gradedeval.questions.history import append_history  # few evaluations are kept

            append_history(scores, self._history, label=self._label or "")
        return scores

    def _unused(self, form: str) -> list[Note]:
        """Notes on texts of topics, and systems, that are given and not shown."""
        found = list[Note]()
        if self._options.replicates is not None and self._by_topic:
            found.append(Note(f"{flag.replicates} is not used: rows are of runs", "leave out -q"))
        if self._options.queries is None or (self._by_topic and form != "trec"):
            return found
        if self._by_topic:
            why, hint = "trec has no place for texts", "choose another format with -f"
            return [*found, *texts_unused(self._options, why, hint)]
        return [*found, *texts_unused(self._options, "rows are of all topics", "add -q")]

    def are_possible(self, scores: Scores) -> bool:
        """Whether the baselines are among the runs that have scores. Raises InputError (usage) where they are none of
        the runs at all; one that could not be scored is told."""
        if self._published is None:
            return True
        names = [run.run for run in scores.runs]
        if not scores.errors:
            self._published.check_runs(names)
        missing = [name for name in self._published.baselines if name not in names]
        tell(f"{flag.baseline}: '{name}' is not scored, so there is no table" for name in missing)
        return not missing

    def shown(self, scores: Scores) -> dict[str, Any]:
        """What `render_scores` is told beside the scores."""
        style = self._published.style(scores) if self._published else None
        return {"cwl": self._cwl, "style": style}
