"""gradedeval's measures as ir_measures and PyTerrier take them: `from gradedeval.interop.ir_measures import err, gap`.

`ir_measures.calc_aggregate([err @ 20, nDCG @ 10], qrels, run)`, `pt.Experiment(..., eval_metrics=[err @ 20, gap])`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Unpack

from gradedeval import kernel, measures
from gradedeval.errors import InputError, emit_notes
from gradedeval.kernel import MEASURES, AnyMeasure, Measure, OptionKwargs, decode, parse_measures, resolve_options

try:
    import ir_measures
    from ir_measures.measures import MeanAgg, SumAgg
except ImportError as error:
    raise ImportError("gradedeval.interop.ir_measures needs ir_measures: pip install ir_measures") from error

LEAVING_OUT = ("topics", "topics_from", "max_residual")
"""Options that leave topics out, which ir_measures counts as 0."""
PACKAGES = ("gradedeval", "ir_measures", "pyterrier")
"""What stands between the user's line and an evaluation."""


class GradedMeasure(ir_measures.Measure):
    """A measure of gradedeval as one of ir_measures: `err @ 20`, `rbp(p=0.9)`. Prints as it is written.

    gradedeval  the measure itself
    """

    def __init__(self, measure: Measure) -> None:
        super().__init__()
        self.gradedeval = measure
        self.NAME = self.__name__ = measure.name

    def __call__(self, **parameters: Any) -> GradedMeasure:
        """Return the measure with parameters set. Raises InputError (usage) for an invalid parameter or value."""
        return GradedMeasure(self.gradedeval(**parameters))

    def __matmul__(self, cutoff: int) -> GradedMeasure:
        """Return the measure cut at a rank. Raises InputError (usage) if it takes none."""
        return GradedMeasure(self.gradedeval @ cutoff)

    def __repr__(self) -> str:
        return self.gradedeval.label

    def validate_params(self) -> None:
        """Raise InputError (usage) if the measure lacks a cutoff or a parameter."""
        self.gradedeval.complete()

    def aggregator(self) -> Any:
        """Return the aggregator of its scores: a mean, a total or a geometric mean."""
        aggregators = {"mean": MeanAgg, "total": SumAgg, "geometric": _GeometricMean}
        return aggregators[self.gradedeval.definition.summary]()


class _GeometricMean(MeanAgg):
    """The geometric mean of scores, each raised to 0.00001 where it is lower, as trec_eval's gm_map."""

    def add(self, value: float) -> None:
        super().add(math.log(max(value, 1e-5)))

    def result(self) -> float:
        return math.exp(super().result())


class GradedProvider(ir_measures.Provider):
    """Calculates the measures of gradedeval. One with options: `GradedProvider(top_grade=4).calc_aggregate(...)`.

    options as for `gradedeval.evaluate`, except options that leave topics out

    Called itself, it scores measures of ir_measures too, as gradedeval does: `calc_aggregate([err @ 5, AP], ...)`.
    Raises InputError (usage) for an unknown option.
    """

    NAME = "gradedeval"

    def __init__(self, **options: Unpack[OptionKwargs]) -> None:
        super().__init__()
        for name in LEAVING_OUT:
            if name in options:
                problem = "leaves topics out, which ir_measures counts as 0"
                raise InputError(name, problem, "leave it out, or call gradedeval.evaluate", usage=True)
        resolve_options(**options)
        self.options = options

    def supports(self, measure: ir_measures.Measure) -> bool:
        """Return whether it is a measure of gradedeval."""
        measure.validate_params()
        return isinstance(measure, GradedMeasure)

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> GradedEvaluator:
        return GradedEvaluator(list(measures), qrels, self.options)


class GradedEvaluator(ir_measures.Evaluator):
    """Scores runs against qrels read once. All topics of the qrels count; topics that a run lacks are empty."""

    def __init__(self, measures: list[Any], qrels: Any, options: OptionKwargs) -> None:
        self.graded = {measure: parse_measures(measure)[0] for measure in measures}
        by_intent = any(measure.by_intent for measure in self.graded.values())
        self.options = resolve_options(**options)
        self.qrels = kernel.qrels_for({}, qrels, replace(self.options, subtopics=by_intent or self.options.subtopics))
        self.said: set[str] = set()
        super().__init__(measures, {decode(topic) for topic in self.qrels.topics})

    def iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        """Yield each topic's score by each measure."""
        ranked = self._ranked(ir_measures.util.RunConverter(run))
        # A part of the topics may have nothing to score, as in batches of PyTerrier.
        ranked = ranked if len(ranked) else {next(iter(self.qrel_qids)): {}}
        scores = kernel.evaluate_runs({"run": ranked}, self.qrels, list(self.graded.values()), self.options)
        emit_notes((note for note in scores.notes if note not in self.said), PACKAGES)
        self.said.update(scores.notes)  # batches and runs would repeat them
        for measure, definition in self.graded.items():
            for topic, score in scores.by_topic(definition).items():
                yield ir_measures.Metric(topic, measure, score)

    def _ranked(self, run: Any) -> Any:
        """Return the judged topics of a run, as a DataFrame if it is one, or a dict."""
        if run.predict_type()[0] == "pd_dataframe":
            frame = run.as_pd_dataframe()[["query_id", "doc_id", "score"]]
            return frame[frame["query_id"].isin(self.qrel_qids)]
        return {topic: ranked for topic, ranked in run.as_dict_of_dict().items() if topic in self.qrel_qids}


def as_ir_measures(measures: AnyMeasure | Iterable[AnyMeasure]) -> list[GradedMeasure]:
    """Return measures of any notation as ir_measures takes them. Raises InputError (usage) as `parse_measures`."""
    return [GradedMeasure(measure) for measure in parse_measures(measures)]


def __getattr__(name: str) -> GradedMeasure:
    """Return a measure of gradedeval by its name, also as ir_measures writes it; `set_` if Python needs the name."""
    return GradedMeasure(getattr(measures, name))


def __dir__() -> list[str]:
    return ["GradedMeasure", "GradedProvider", "as_ir_measures", *MEASURES]


provider = ir_measures.providers.register(GradedProvider())
ir_measures.DefaultPipeline.providers.append(provider)  # after their own: no measure of theirs changes
