"""Two runs with judgments: which topics got worse or better, and which documents made the difference."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np

from gradedeval.analysis.contributions import terms_of
from gradedeval.analysis.explain import BEYOND, DEFAULT, DOCUMENT
from gradedeval.analysis.ranked_runs import NOWHERE, RankedRuns, rank_runs
from gradedeval.analysis.significance import TOLERANCE
from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.errors import EvaluationWarning, InputError, check_choice, did_you_mean, shorten
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OptionKwargs, Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.topics import no_common_topics
from gradedeval.scoring.evaluate import qrels_for
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.signature import signature

if TYPE_CHECKING:
    import pandas as pd

Only = Literal["worse", "better", "unsettled"]
ONLY: tuple[Only, ...] = get_args(Only)

ENTERED, LEFT, ROSE, FELL, STAYED = "entered", "left", "rose", "fell", "stayed"


@dataclass(frozen=True, eq=False)
class Diff:
    """What changed from one run, the baseline, to another, by each measure and on the topics that both are scored on.

    topics     a frame with a row for each topic and measure, the worst change first: measure, topic, baseline_score,
               score, difference (score − baseline_score), baseline_residual, residual, settled (whether no judgment of
               unjudged documents could reverse the order of the two scores; blank without a residual), changed (how many
               documents below tell of it)
    documents  a frame with a row for each document that entered, left, rose, fell, or stayed where it was and counts
               otherwise, those that explain most first: measure, topic, part, docno, grade (blank: unjudged), change,
               baseline_rank, rank, baseline_contribution, contribution, explains (contribution −
               baseline_contribution), above (of an unjudged document that came to stand above a relevant one: the
               docno of that). `explains` of all rows of a topic sums to its difference: what is no document's, such as
               what lies beyond the end of a run, has a row with that `part`. Documents that neither run has among the
               ranks that the measure looks at are left out
    """

    baseline: str
    run: str
    topics: pd.DataFrame
    documents: pd.DataFrame
    measures: list[Measure]
    signature: str
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Diff from {self.baseline} to {self.run}: {', '.join(map(str, self.measures))}>"

    @cached_property
    def by_topic(self) -> dict[tuple[str, str], pd.DataFrame]:
        """(measure, topic) -> its documents."""
        groups = self.documents.groupby(["measure", "topic"], sort=False)
        return {(str(measure), str(topic)): rows for (measure, topic), rows in groups}

    def only(self, kind: Only | None = None, topic: str | None = None) -> Diff:
        """The topics that got worse or better, those whose order is unsettled, or one of them.

        Raises InputError (usage) for another kind, or a topic that the runs are not scored on.
        """
        rows = np.ones(len(self.topics), dtype=bool)
        if kind is not None:
            check_choice(kind, ONLY, "--only")
            better = self.topics["measure"].map({str(measure): measure.reading.sign for measure in self.measures})
            change = self.topics["difference"] * better
            settled = self.topics["settled"]
            rows &= {"worse": change < 0, "better": change > 0, "unsettled": settled.eq(False).fillna(False)}[kind]
        if topic is not None:
            known = list(dict.fromkeys(self.topics["topic"]))
            if topic not in known:
                hint = did_you_mean(topic, known) or f"as in {shorten(known)}"
                raise InputError("--topic", f"'{topic}' is not a topic that both runs are scored on", hint, usage=True)
            rows &= self.topics["topic"] == topic
        topics = self.topics[rows]
        wanted = set(zip(topics["measure"], topics["topic"], strict=True))
        pairs = zip(self.documents["measure"], self.documents["topic"], strict=True)
        documents = self.documents[[pair in wanted for pair in pairs]]
        return replace(self, topics=topics, documents=documents)


def diff(
    baseline: Any,
    run: Any,
    qrels: Any,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT,
    *,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Diff:
    """What changed from one run to another: topics by difference, the worst first, and the documents that made it.

    baseline, run  two runs, as `evaluate` takes them; a dict name -> run names one

    The other arguments are those of `evaluate`; `residuals`, `residual_depth` and `max_residual` are not among them.

    Returns `Diff`: `.topics`, `.documents`, `.only("worse")`, `.signature`. Raises `gradedeval.InputError` as `evaluate`
    does, and where the runs have no topic in common; what is skipped or assumed is a warning, and in `.notes`.
    """
    options = resolve_options(like, **keywords)
    found = diff_runs(_two(baseline, run), qrels, parse_measures(measures), options)
    for note in found.notes:
        warnings.warn(note, EvaluationWarning, stacklevel=2)
    return found


def _two(baseline: Any, run: Any) -> dict[str, Any]:
    """Two runs by different names."""
    named = [named_runs(one) for one in (baseline, run)]
    if all(len(names) == 1 and isinstance(one, str) for names, one in zip(named, (baseline, run), strict=True)):
        return named_runs([baseline, run]) if baseline != run else {f"{baseline} (A)": baseline, f"{run} (B)": run}
    (first, source), (second, other) = (next(iter(names.items())) for names in named)
    return {first: source, second: other} if first != second else {f"{first} (A)": source, f"{second} (B)": other}


def diff_runs(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: Iterable[Measure],
    options: Options,
    workers: Workers | None = None,
) -> Diff:
    """As `diff`, for two runs by name, the baseline first. Raises InputError as `diff` does."""
    import pandas as pd  # not before it is needed

    judged = qrels_for(runs, qrels, options)
    scorer = Scorer(judged, list(measures), replace(options, residuals=None if options.judged_only else "total"))
    ranked = rank_runs(runs, scorer.grader, workers)
    old, new = ranked.runs
    shared = np.flatnonzero(old.listed & new.listed)
    if not len(shared):
        raise no_common_topics(new.place, ranked.topics, old.place, ranked.topics)
    if scorer.grader.types:
        raise InputError("--costs", "diff does not read the types of documents", "leave it out", usage=True)
    scores, terms = _scored(ranked, scorer)
    topics, documents = [], []
    for column, measure in enumerate(scorer.measures):
        rows, found = _of_measure(ranked, scorer, column, shared, scores[:, :, :, column], terms[column])
        topics.append(rows.assign(measure=str(measure)))
        documents.append(found.assign(measure=str(measure)))
    counts = [(int(run.listed.sum()), run.missing) for run in ranked.runs]
    columns = ["measure", *(name for name in topics[0].columns if name != "measure")]
    of_documents = ["measure", *(name for name in documents[0].columns if name != "measure")]
    return Diff(
        old.name,
        new.name,
        pd.concat(topics, ignore_index=True)[columns],
        pd.concat(documents, ignore_index=True)[of_documents],
        scorer.measures,
        str(signature(judged, options, scorer.measures, counts)),
        [*scorer.notes, *ranked.notes],
    )


def _scored(ranked: RankedRuns, scorer: Scorer) -> tuple[Floats, list[list[tuple[Floats, Floats]]]]:
    """3 × runs × topics × measures, as `RankedRuns.scores`; and of each measure and run: documents, what each adds to
    the score of its topic, and topics, what else does."""
    row = {topic: number for number, topic in enumerate(ranked.topics)}
    values = np.full((3, 2, len(ranked.topics), len(scorer.measures)), np.nan)
    terms = [[(np.zeros(len(ranked)), np.zeros(len(ranked.topics))) for _ in ranked.runs] for _ in scorer.measures]
    for number, run in enumerate(ranked.runs):
        for batch in ranked.batches(run, scorer.grader):
            topics = [row[topic] for topic in batch.topics]
            values[:, number, topics] = scorer.score_batch(batch).values
            gains_of = scorer.gains_cache(batch)
            for column, (measure, table) in enumerate(zip(scorer.measures, scorer.tables, strict=True)):
                gains = gains_of(table, measure)
                added, rest = terms_of(measure, gains)
                of_documents, of_topics = terms[column][number]
                of_topics[topics] = rest
                there = np.arange(added.shape[1]) < gains.retrieved[:, None]
                which = (run.begin[topics][:, None] + np.arange(added.shape[1]))[there]
                of_documents[run.document[which]] = added[there]
    return values, terms


def _of_measure(
    ranked: RankedRuns,
    scorer: Scorer,
    column: int,
    shared: Ints,
    scores: Floats,
    terms: list[tuple[Floats, Floats]],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The topics and the documents of `Diff`, by one measure.

    scores  3 × runs × topics
    """
    import pandas as pd

    measure, table = scorer.measures[column], scorer.tables[column]
    (old_terms, old_rest), (new_terms, new_rest) = terms
    old, new = (run.ranks_of(len(ranked)) for run in ranked.runs)
    (before, after), (old_residual, residual) = scores[0][:, shared], scores[2][:, shared]
    with np.errstate(invalid="ignore"):
        difference = np.where(before == after, 0.0, after - before)
    difference[np.abs(difference) <= TOLERANCE] = 0
    explains = new_terms - old_terms
    last = NOWHERE - 1 if measure.cutoff is None or measure.definition.cutoff == "sums_to_k" else measure.cutoff
    counts = np.zeros(len(ranked.topics), dtype=bool)
    counts[shared] = True
    seen = (np.minimum(old, new) <= last) & ((old != new) | (np.abs(explains) > TOLERANCE)) & counts[ranked.topic]
    relevant = np.append(table.worth, [0.0, 0.0])[ranked.code] > 0
    above = _passed(ranked, np.flatnonzero(seen), relevant, old, new, last, new_terms + old_terms)
    of_topics = new_rest - old_rest
    changed = np.bincount(ranked.topic[seen], minlength=len(ranked.topics))[shared]
    moved = (changed > 0) | (difference != 0)
    settled = _settled(difference, old_residual, residual, moved)
    # The worst first; of equal changes the order of the qrels.
    order = np.argsort(measure.reading.sign * difference, kind="stable")
    names = np.array(ranked.names, dtype=object)
    topics = pd.DataFrame(
        {
            "topic": names[shared],
            "baseline_score": before,
            "score": after,
            "difference": difference,
            "baseline_residual": old_residual,
            "residual": residual,
            "settled": pd.array(settled, dtype="boolean"),
            "changed": changed,
        }
    ).iloc[order]
    rest = shared[np.abs(of_topics[shared]) > TOLERANCE]
    place = np.zeros(len(ranked.topics), dtype=np.int64)
    place[shared[order]] = np.arange(len(shared))
    documents = _documents(ranked, np.flatnonzero(seen), old, new, old_terms, new_terms, above)
    beyond = pd.DataFrame({"topic": names[rest], "part": BEYOND, "explains": of_topics[rest]})
    beyond["baseline_contribution"], beyond["contribution"] = old_rest[rest], new_rest[rest]
    rows = np.append(ranked.topic[seen], rest)
    found = pd.concat([documents, beyond], ignore_index=True) if len(rest) else documents
    size = np.abs(found["explains"].to_numpy(dtype=float))
    nearest = np.append(np.minimum(old, new)[seen], np.full(len(rest), NOWHERE))
    return topics, found.iloc[np.lexsort((nearest, -size, place[rows]))]


def _settled(difference: Floats, old: Floats, new: Floats, moved: Bools) -> list[bool | None]:
    """Whether no judgment could reverse the order of two scores: the lower one cannot rise as far. None without a
    residual; what did not move cannot turn around."""
    lower = np.where(difference > 0, old, np.where(difference < 0, new, np.maximum(old, new)))
    sure = (np.abs(difference) > lower) | ((difference == 0) & (lower == 0)) | ~moved
    return [None if np.isnan(bound) else bool(one) for bound, one in zip(lower, sure, strict=True)]


def _documents(
    ranked: RankedRuns, chosen: Ints, old: Ints, new: Ints, old_terms: Floats, new_terms: Floats, above: Ints
) -> pd.DataFrame:
    """The rows of some documents; ranks and contributions are blank where a run did not retrieve one."""
    import pandas as pd

    before, after = old[chosen], new[chosen]
    change = np.select(
        [before == NOWHERE, after == NOWHERE, after < before, after > before], [ENTERED, LEFT, ROSE, FELL], STAYED
    )
    old_there, new_there = before != NOWHERE, after != NOWHERE
    passed = np.append(ranked.docnos, None)[above]
    return pd.DataFrame(
        {
            "topic": np.array(ranked.names, dtype=object)[ranked.topic[chosen]],
            "part": DOCUMENT,
            "docno": ranked.docnos[chosen],
            "grade": ranked.grades(chosen),
            "change": change.astype(object),
            "baseline_rank": pd.array(np.where(old_there, before, 0), dtype="Int64"),
            "rank": pd.array(np.where(new_there, after, 0), dtype="Int64"),
            "baseline_contribution": np.where(old_there, old_terms[chosen], np.nan),
            "contribution": np.where(new_there, new_terms[chosen], np.nan),
            "explains": new_terms[chosen] - old_terms[chosen],
            "above": passed,
        }
    ).replace({"baseline_rank": {0: pd.NA}, "rank": {0: pd.NA}})


def _passed(
    ranked: RankedRuns, chosen: Ints, relevant: Bools, old: Ints, new: Ints, last: int, worth: Floats
) -> Ints:
    """Of the documents chosen: the relevant document that an unjudged one moved above, −1 where there is none; of
    several the one that counts most.

    last  the last rank that counts: the unjudged document stands there now, or the relevant one stood there
    """
    above = np.full(len(chosen), -1)
    rising = np.flatnonzero(~ranked.judged[chosen] & (new[chosen] < old[chosen]) & (new[chosen] <= last))
    beaten = chosen[relevant[chosen] & (old[chosen] <= last) & (new[chosen] > old[chosen])]
    beaten = beaten[np.argsort(-worth[beaten], kind="stable")]
    # A relevant document that kept its rank, or rose, may be passed as well.
    kept = np.flatnonzero(relevant & (old <= last) & (new != NOWHERE))
    candidates = np.append(beaten, np.setdiff1d(kept, beaten))
    by_topic: dict[int, Any] = {}
    for topic in np.unique(ranked.topic[chosen[rising]]).tolist():
        by_topic[topic] = candidates[ranked.topic[candidates] == topic]
    for position in rising.tolist():
        document = chosen[position]
        others = by_topic[int(ranked.topic[document])]
        passed = others[(old[others] < old[document]) & (new[others] > new[document])]
        if len(passed):
            above[position] = passed[0]
    return above

