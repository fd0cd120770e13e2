"""Two runs with judgments: which topics got worse or better, and which documents made the difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np

from gradedeval.analysis.completions.differences import topic_bounds
from gradedeval.analysis.completions.reread import Reread
from gradedeval.analysis.diff.changes import Change, document_rows, passed_by_unjudged, topic_rows
from gradedeval.analysis.explain import DEFAULT
from gradedeval.analysis.ranked_runs import NOWHERE, RankedRuns, rank_runs, two_runs
from gradedeval.analysis.ranked_terms import RankedTerms, terms_by_run
from gradedeval.analysis.score_matrix import Paired
from gradedeval.analysis.unseen import unseen_notes
from gradedeval.arrays import Ints
from gradedeval.errors import InputError, check_choice, did_you_mean, shorten, warn_caller
from gradedeval.formats.frames import joined
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OptionKwargs, Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.topics import no_common_topics
from gradedeval.scoring.doubts import few_topics
from gradedeval.scoring.evaluate import qrels_for
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.signature import signature

if TYPE_CHECKING:
    import pandas as pd

Only = Literal["worse", "better", "reversible"]
ONLY: tuple[Only, ...] = get_args(Only)


@dataclass(frozen=True, eq=False)
class Diff(InNotebook, document="analysis.diff.tables.own_document"):
    """What changed from one run, the baseline, to another, by each measure and on the topics that both are scored on.

    topics     a frame with a row for each topic and measure, the worst change first: measure, topic, baseline_score,
               score, difference (score − baseline_score), baseline_residual, residual, settled (whether no judgment of
               unjudged documents could reverse the order of the two scores; blank without a residual), changed (how
               many documents below tell of it)
    documents  a frame with a row for each document that entered, left, rose, fell, or stayed where it was and counts
               otherwise, those that explain most first: measure, topic, part, docno, grade (blank: unjudged), change,
               baseline_rank, rank, baseline_contribution, contribution, explains (contribution −
               baseline_contribution), above (of an unjudged document that came to stand above a relevant one: the
               docno of that). `explains` of all rows of a topic sums to its difference: what is not a document's, such
               as what lies beyond the end of a run, has a row with that `part`. Documents that neither run has among
               the ranks that the measure looks at are left out
    """

    baseline: str
    run: str
    topics: pd.DataFrame
    documents: pd.DataFrame
    measures: list[Measure]
    signature: str
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Diff from {self.baseline} to {self.run}: {', '.join(measure.label for measure in self.measures)}>"

    @cached_property
    def by_topic(self) -> dict[tuple[str, str], pd.DataFrame]:
        """(measure, topic) -> its documents."""
        groups = self.documents.groupby(["measure", "topic"], sort=False)
        return {(str(measure), str(topic)): rows for (measure, topic), rows in groups}

    def only(self, kind: Only | None = None, topic: str | None = None) -> Diff:
        """The topics that got worse or better, those whose order judging could reverse, or one of them.

        Raises InputError (usage) for another kind, a topic that the runs are not scored on, and where it is not known
        of any topic whether judging could reverse it.
        """
        rows = np.ones(len(self.topics), dtype=bool)
        if kind is not None:
            check_choice(kind, ONLY, "--only")
            better = {measure.label: measure.reading.sign for measure in self.measures}
            change = self.topics["difference"] * [better[label] for label in self.topics["measure"]]
            settled = self.topics["settled"]
            if kind == "reversible" and settled.isna().all() and len(settled):
                what = "what judging could reverse is not known here"
                hint = "leave out --judged-only, or --ties best or worst, or take a measure with bounds"
                raise InputError("--only", what, hint, usage=True)
            rows &= {"worse": change < 0, "better": change > 0, "reversible": settled.eq(False).fillna(False)}[kind]
        if topic is not None:
            known = list(dict.fromkeys(self.topics["topic"]))
            if topic not in known:
                hint = did_you_mean(topic, known) or f"as in {shorten(known)}"
                raise InputError("--topic", f"'{topic}' is not a topic that both runs are scored on", hint, usage=True)
            rows &= self.topics["topic"] == topic
        topics = self.topics[rows]
        wanted = set(zip(topics["measure"], topics["topic"], strict=True))
        pairs = zip(self.documents["measure"], self.documents["topic"], strict=True)
        documents = self.documents[np.array([pair in wanted for pair in pairs], dtype=bool)]
        return replace(self, topics=topics, documents=documents)


def diff(
    baseline: Any,
    run: Any,
    qrels: Any,
    measures: AnyMeasure | Iterable[AnyMeasure] = DEFAULT,
    *,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Diff:
    """What changed from one run to another: topics by difference, the worst first, and the documents that made it.

    baseline, run  two runs, as `evaluate` takes them; a dict name -> run names one

    The other arguments are those of `evaluate`; `residuals`, `residual_depth` and `max_residual` are not among them.

    Returns `Diff`: `.topics`, `.documents`, `.only("worse")`, `.signature`. Raises `gradedeval.InputError` as
    `evaluate` does, and where the runs have no topic in common; what is skipped or assumed is a warning, and in
    `.notes`.
    """
    options = resolve_options(like, **keywords)
    found = diff_runs(two_runs(baseline, run), qrels, parse_measures(measures), options)
    warn_caller(found.notes)
    return found


def diff_runs(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: Iterable[Measure],
    options: Options,
    workers: Workers | None = None,
) -> Diff:
    """As `diff`, for two runs by name, the baseline first. Raises InputError as `diff` does."""
    judged = qrels_for(runs, qrels, options)
    known = options.bounded_by_residuals and not options.judged_only
    options = replace(options, residuals="total" if known else None, bounds=False)
    scorer = Scorer(judged, list(measures), options)
    ranked = rank_runs(runs, scorer.grader, workers, scorer)
    old, new = ranked.runs
    shared = np.flatnonzero(old.listed & new.listed)
    if not len(shared):
        raise no_common_topics(new.place, ranked.topics, old.place, ranked.topics)
    if scorer.grader.types:
        raise InputError("--costs", "diff does not read the types of documents", "leave it out", usage=True)
    terms, reread = terms_by_run(ranked, scorer), Reread.of_runs(scorer, runs)
    columns = range(len(scorer.measures))
    topics, documents = zip(
        *(_of_measure(ranked, scorer, column, shared, terms, reread) for column in columns), strict=True
    )
    told = [
        (measure.label, str(measure))
        for measure, rows in zip(scorer.measures, topics, strict=True)
        if rows["settled"].notna().any()
    ]
    counts = [(int(run.listed.sum()), run.missing) for run in ranked.runs]
    return Diff(
        old.name,
        new.name,
        joined(topics),
        joined(documents),
        scorer.measures,
        str(signature(judged, options, scorer.measures, counts)),
        [*scorer.notes, *ranked.notes, *few_topics(len(shared)), *unseen_notes(told, options)],
    )


def _of_measure(
    ranked: RankedRuns,
    scorer: Scorer,
    column: int,
    shared: Ints,
    terms: RankedTerms,
    reread: Reread | None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The topics and the documents of `Diff`, by one measure."""
    measure, table = scorer.measures[column], scorer.tables[column]
    old, new = (run.ranks_of(len(ranked)) for run in ranked.runs)
    added = np.zeros((2, len(ranked)))
    for number, run in enumerate(ranked.runs):
        added[number, run.document] = terms.added[column][number]
    of_documents, of_topics = (added[0], added[1]), (terms.rest[column, 0], terms.rest[column, 1])
    scores = terms.scores[:, :, :, column]
    last = NOWHERE - 1 if measure.cutoff is None or measure.definition.cutoff == "sums_to_k" else measure.cutoff
    change = Change(ranked, shared, old, new, of_documents, of_topics, last, measure.label)
    names, (score, residual) = [run.name for run in ranked.runs], scores[[0, 2]][:, :, shared]
    paired = Paired(measure.label, measure.reading, names, [ranked.names[topic] for topic in shared], score, residual)
    bounds = topic_bounds(paired, np.array([0]), np.array([1]), reread)[:, 0]
    topics = topic_rows(change, score, residual, bounds, measure.bounds == "rises")
    # The worst first; of equal changes the order of the qrels.
    order = np.argsort(measure.reading.sign * topics["difference"].to_numpy(), kind="stable")
    place = np.zeros(len(ranked.topics), dtype=np.int64)
    place[shared[order]] = np.arange(len(shared))
    relevant = table.by_code(len(scorer.grader.qrels.labels) + 2)[ranked.code] > 0
    return topics.iloc[order], document_rows(change, place, passed_by_unjudged(change, relevant))
