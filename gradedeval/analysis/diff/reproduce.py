"""Whether an experiment was reproduced: the rankings, the scores and the improvement beside the original's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gradedeval.analysis.diff.agreement import AgreementSettings
from gradedeval.analysis.diff.kendall import kendall_taus
from gradedeval.analysis.diff.overlap import Ties, lists_of, rank_biased_overlap
from gradedeval.analysis.explain import DEFAULT
from gradedeval.analysis.ranked_runs import RankedRun, RankedRuns, rank_runs
from gradedeval.analysis.score_matrix import to_matrix
from gradedeval.arrays import Floats
from gradedeval.errors import InputError, warn_caller
from gradedeval.formats.frames import to_frame
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OptionKwargs, Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.grade import Grader
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.topics import no_common_topics
from gradedeval.scoring.evaluate import evaluate_runs
from gradedeval.scoring.run_names import named_runs

if TYPE_CHECKING:
    import pandas as pd

TIES_OF_ORIGINALS: Ties = "b"
"""With ties corrected for, a ranking agrees fully with itself."""

ROLES = ("baseline", "advanced")


@dataclass(frozen=True, eq=False)
class Reproduction(InNotebook, document="analysis.diff.agreement_tables.reproduction_document"):
    """How well an experiment was reproduced.

    frame  a row for each number: what, run, original, measure (blank for those of rankings), value. `ktu` and `rbo`
           say how far the ranking of a run is the original's, as a mean over topics; `rmse` how far its scores are from
           the original's, 0 at best; `er` is the improvement of the advanced run over the baseline as a share of the
           original one, 1 at best; `delta_ri` the original relative improvement less the reproduced one, 0 at best
    """

    frame: pd.DataFrame
    runs: list[str]
    settings: AgreementSettings
    signature: str = ""
    notes: list[str] = field(default_factory=list)


def reproduction(
    runs: Any,
    originals: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] = DEFAULT,
    *,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Reproduction:
    """How well a baseline and an advanced run reproduce two original ones.

    runs       the baseline and the advanced run
    originals  the two that they reproduce, in the same order
    qrels      as `evaluate` takes them; without, rankings alone are compared

    The other arguments are those of `evaluate`. KTU, RBO, RMSE, ER and ΔRI as Breuer et al., SIGIR 2020. Returns
    `Reproduction`: `.frame`. Raises `gradedeval.InputError` as `evaluate` does.
    """
    options = resolve_options(like, **keywords)
    named = [*named_runs(runs).items()], [*named_runs(originals).items()]
    found = reproduction_of(*named, qrels, parse_measures(measures), options, AgreementSettings(ties=TIES_OF_ORIGINALS))
    warn_caller(found.notes)
    return found


def reproduction_of(
    runs: list[tuple[str, Any]],
    originals: list[tuple[str, Any]],
    qrels: Any,
    measures: Iterable[Measure],
    options: Options,
    settings: AgreementSettings,
    workers: Workers | None = None,
) -> Reproduction:
    """As `reproduction`, for runs with their names."""
    if len(runs) != 2 or len(originals) != 2:
        what = f"{len(runs)} runs and {len(originals)} originals given"
        raise InputError("", what, "give a baseline and an advanced run, and the originals of both", usage=True)
    sources = {("run", 0): runs[0][1], ("run", 1): runs[1][1]}
    sources |= {("original", 0): originals[0][1], ("original", 1): originals[1][1]}
    keyed = {f"{kind} {ROLES[number]}": source for (kind, number), source in sources.items()}
    ranked = rank_runs(keyed, Grader(Qrels.none(), options, keep_ties=True), workers)
    rows: list[tuple[str, str, str, str | None, float]] = []
    for number in range(2):
        ktu, rbo = _rankings(ranked, ranked.runs[2 + number], ranked.runs[number], settings)
        names = runs[number][0], originals[number][0]
        rows += [("ktu", *names, None, ktu), ("rbo", *names, None, rbo)]
    notes, signature = list(ranked.notes), ""
    if qrels is not None:
        found, notes, signature = _scores(keyed, [name for name, _ in runs], [name for name, _ in originals],
                                          qrels, measures, options, workers)  # fmt: skip
        rows += found
    frame = to_frame(rows, columns=["what", "run", "original", "measure", "value"])
    return Reproduction(frame, [name for name, _ in (*runs, *originals)], settings, signature, notes)


def _rankings(
    ranked: RankedRuns, original: RankedRun, run: RankedRun, settings: AgreementSettings
) -> tuple[float, float]:
    """KTU and RBO, means over the topics that both have. Raises InputError where they share none."""
    shared = np.flatnonzero((original.counts > 0) & (run.counts > 0))
    if not len(shared):
        own = [[ranked.topics[row] for row in np.flatnonzero(one.counts)] for one in (run, original)]
        raise no_common_topics(run.place, own[0], original.place, own[1])
    lists = lists_of(original, shared), lists_of(run, shared)
    rbo = rank_biased_overlap(*lists, len(ranked), settings.p, settings.ties)[0]
    taus = kendall_tau_union(ranked, original, run)[shared]
    return float(np.nanmean(taus)) if np.isfinite(taus).any() else np.nan, float(rbo.mean())


def kendall_tau_union(ranked: RankedRuns, original: RankedRun, run: RankedRun) -> Floats:
    """topics: Kendall's τ of two rankings, rank by rank, of which each rank is the place of its document in the union,
    ordered by docno; down to the end of the shorter one.

    Breuer et al., SIGIR 2020, in the order of repro_eval: the paper leaves open how the union is ordered. In that of
    the original, followed by the others of the run, rankings that share nothing would agree fully.
    """
    place = np.empty(len(ranked), dtype=np.int64)
    place[np.argsort(ranked.docnos)] = np.arange(len(ranked))
    topic = ranked.topic[run.document]
    inside = run.rank <= original.counts[topic]
    topic, rank, document = topic[inside], run.rank[inside], run.document[inside]
    partner = original.document[original.begin[topic] + rank - 1]
    return kendall_taus(topic, place[partner], place[document], len(ranked.topics))


def _scores(
    sources: Mapping[str, Any],
    runs: list[str],
    originals: list[str],
    qrels: Any,
    measures: Iterable[Measure],
    options: Options,
    workers: Workers | None,
) -> tuple[list[tuple[str, str, str, str, float]], list[str], str]:
    """The numbers that come from scores, the notes, and the signature."""
    scores = evaluate_runs(sources, qrels, measures, options, workers=workers)
    matrix, rows = to_matrix(scores), []
    for name in matrix.measures:
        paired = matrix.paired(name)
        base, advanced, old_base, old_advanced = paired.score
        for number, (mine, theirs) in enumerate(((base, old_base), (advanced, old_advanced))):
            rmse = float(np.sqrt(np.mean((mine - theirs) ** 2)))
            rows.append(("rmse", runs[number], originals[number], name, rmse))
        (before, after), (old, new) = (
            (one.mean(), two.mean()) for one, two in ((base, advanced), (old_base, old_advanced))
        )
        both = f"{runs[1]} − {runs[0]}", f"{originals[1]} − {originals[0]}"
        rows.append(("er", *both, name, (after - before) / (new - old) if new != old else np.nan))
        relative = (new - old) / old - (after - before) / before if old and before else np.nan
        rows.append(("delta_ri", *both, name, relative))
    return rows, list(scores.notes), scores.signature
