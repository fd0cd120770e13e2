"""Agreement of rankings by topic: rank-biased overlap, Kendall's τ, and the reproduction of an experiment."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import correlation, rank_overlap, ranked_runs, replicates, score_matrix
from gradedeval.arrays import Floats, Ints, np
from gradedeval.errors import InputError, did_you_mean, either, emit_notes, flag, plural, public, shorten, visible
from gradedeval.kernel import AnyMeasure, Column, Document, Layout, Measure, OptionKwargs, Options, Setting, Table
from gradedeval.questions.explain import DEFAULT

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.rank_overlap import ListPairs, RankedLists, Ties
    from gradedeval.analysis.ranked_runs import RankedRun, RankedRuns
    from gradedeval.kernel import Workers


# Agreement of rankings without judgments, by topic and pair of runs.


PERSISTENCE, OVERLAP_DEPTH, TOPICS = 0.9, 10, 10
FEW_PAIRS = 400
"""Number of pairs of runs below which further processes do not pay."""
RUNS_PER_TASK = 64
"""Number of runs compared with one run in a task: they share the ranks of its documents."""
PAIR = ("run", "other")
NUMBERS = ("rbo", "rbo_low", "rbo_high", "residual", "overlap", "tau", "common")
TABLE_COLUMNS = ("rbo", "residual", "overlap", "tau", "common")

Persistence = Annotated[float, Setting("Of rank-biased overlap: the probability of going on from rank to rank.",
    kernel.ranges.PERSISTENCE, metavar="P", short="Persistence of rank-biased overlap.")]  # fmt: skip
At = Annotated[int, Setting("Depth of the column overlap.", kernel.ranges.AT, metavar="N")]
Measures = Annotated["AnyMeasure | Iterable[AnyMeasure]", Setting("Measure to compare by. Repeat -m, or separate "
    "measures by spaces.", metavar="MEASURE", section="Measures and gains", spelled=("-m", "--measure"),
    measure="several")]  # fmt: skip
Originals = Annotated[Any, Setting("How well A and B reproduce these two original runs: KTU and RBO of the rankings, "
    "with qrels RMSE, effect ratio and ΔRI too.", metavar="BASE ADVANCED", spelled=("--reproduce",),
    reads=True, short="How well A and B reproduce two original runs.")]  # fmt: skip


@dataclass(frozen=True)
class RankingSettings:
    """Settings of `ranking_agreement`. Raises InputError (usage) for a value outside its range."""

    persistence: float = PERSISTENCE
    at: int = OVERLAP_DEPTH
    ties: Ties = "a"

    def __post_init__(self) -> None:
        kernel.ranges.PERSISTENCE.check_field(self, "persistence")
        kernel.ranges.AT.check_field(self, "at")

    def __str__(self) -> str:
        rbo = f"rbo: extrapolated, p {self.persistence:g}, mean over the orders of ties"
        return f"{rbo} | overlap at {self.at} | tau: of common documents"


@dataclass(frozen=True, eq=False)
class RankingAgreement(kernel.results.InNotebook):
    """Agreement of runs.

    frame  a row for each pair of runs and topic, the lowest agreement first: run, other, topic, rbo (extrapolated),
           rbo_low, rbo_high (its bounds, for any documents below the ends of the rankings), residual (rbo_high −
           rbo_low), overlap (documents among the first `at` of both, as a share of the longer ranking's), tau
           (Kendall's τ_b of the documents that both retrieved; blank with fewer than two), common (number of these
           documents). For systems of several seeds the values are means over pairs of seeds, and the last column,
           `pairs`, has their number; a row of a system and itself is over pairs of its seeds: the effect of the seed
           alone on a ranking
    seeds  system -> number of seeds; None for runs
    """

    runs: list[str]
    frame: pd.DataFrame
    settings: RankingSettings
    notes: list[str] = field(default_factory=list)
    seeds: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        return f"<RankingAgreement of {shorten(self.runs)}>"

    def of_topic(self, topic: str | None) -> RankingAgreement:
        """Return the agreement on one topic. Raises InputError (usage) for an unknown topic."""
        if topic is None:
            return self
        topics = list(dict.fromkeys(self.frame["topic"]))
        if topic not in topics:
            hint = did_you_mean(topic, topics) or f"as in {shorten(topics)}"
            runs_of_topic = "both runs" if len(self.runs) == 2 and self.seeds is None else "two of the runs"
            raise InputError(flag.topic, f"'{topic}' is not a topic of {runs_of_topic}", hint, usage=True)
        return replace(self, frame=self.frame[self.frame["topic"] == topic])

    @property
    def means(self) -> pd.DataFrame:
        """Means over topics of each pair of runs, and the number of common topics."""
        pairs = self.frame.groupby(kernel.results.group_numbers(self.frame, *PAIR), sort=False)
        means = pairs[list(NUMBERS)].mean().assign(topics=pairs.size())
        return kernel.results.to_frame(kernel.results.distinct(self.frame, *PAIR), PAIR).join(means)

    def document(self, layout: Layout, *, topic: str | None = None, top: int | None = None) -> Document:
        """Return a table of two runs by topic, the lowest agreement first, with the mean; of more runs a matrix.

        topic  only this topic
        top    number of topics in a table of two runs; None: 10
        """
        result = self.of_topic(topic)
        if layout == "long":
            pairs = result.frame.groupby(kernel.results.group_numbers(result.frame, *PAIR))
            frame = result.frame if top is None else pairs.head(top)
            return Document([kernel.results.to_table(frame)], str(result.settings))
        if len(result.runs) > 2:
            scope = "means over topics" if topic is None else f"topic {visible(topic)}"
            diagonal = "" if result.seeds is None else " on it: rbo between the seeds of a system;"
            words = f"above the diagonal: rbo, below it: tau;{diagonal} {scope}"
            words += "" if result.seeds is None else SEED_PAIRS
            return Document([_matrix(result)], f"{words}\n{result.settings}")
        blocks = _topic_blocks(result, topic is None, TOPICS if top is None else top)
        words = "" if result.seeds is None else f"below a system: rbo between its own seeds{SEED_PAIRS}\n"
        return Document(blocks, f"{words}{result.settings}")


SEED_PAIRS = " | all means over pairs of seeds"


def _topic_blocks(result: RankingAgreement, with_mean: bool, top: int) -> list[Table | str]:
    """Return the table of two runs or systems by topic, the lowest agreement first, with means and seeds."""
    first, second = result.runs[0], result.runs[-1]
    all_rows = kernel.results.to_rows(result.frame)
    rows = [row for row in all_rows if (row["run"], row["other"]) == (first, second)]
    seed_rbo = {(row["run"], row["topic"]): row["rbo"] for row in all_rows if row["run"] == row["other"]}
    within = _seed_means(result)
    systems = [run for run in result.runs if run in within and first != second]

    def cells(
        row: Mapping[str, Any], name: str, by_system: Mapping[str, float | None], common: bool = False
    ) -> list[Any]:
        numbers = [None if column == "common" and not common else row[column] for column in TABLE_COLUMNS]
        return [name, numbers[0], *(by_system.get(system) for system in systems), *numbers[1:]]

    cells_of_rows = [
        cells(row, row["topic"], {run: seed_rbo.get((run, row["topic"])) for run in systems}, True)
        for row in rows[:top]
    ]
    left_out = len(rows) - len(cells_of_rows)
    if with_mean:
        (mean,) = (row for row in kernel.results.to_rows(result.means) if (row["run"], row["other"]) == (first, second))
        cells_of_rows.append(cells(mean, f"mean of {mean['topics']}", {run: within[run]["rbo"] for run in systems}))
    cells_of_rows += [cells(within[run], f"seeds of {visible(run)}", {}) for run in systems]
    columns = [Column("topic"), Column("rbo", "score"), *(Column(run, "score", of_run=True) for run in systems)]
    columns += [Column(name, "score") for name in TABLE_COLUMNS[1:-1]]
    columns.append(Column("common", "count") if result.seeds is None else Column("common", "score", digits=1))
    title = " and ".join(dict.fromkeys([_run_title(result, first), _run_title(result, second)]))
    blocks: list[Table | str] = [title, Table(columns, cells_of_rows)]
    if left_out > 0:
        top_n = either("--top N", f".shown(top={len(rows)})")
        blocks.append(f"{left_out} more {plural(left_out, 'topic')} not shown; see them with {top_n}")
    return blocks


def _seed_means(result: RankingAgreement) -> dict[str, dict[str, Any]]:
    """Return system -> means over pairs of its seeds, for systems of several seeds."""
    return {row["run"]: row for row in kernel.results.to_rows(result.means) if row["run"] == row["other"]}


def _run_title(result: RankingAgreement, run: str) -> str:
    """Return the name of a run, or of a system with its number of seeds."""
    count = 0 if result.seeds is None else result.seeds[run]
    return f"{visible(run)} ({count} {plural(count, 'seed')})" if count else visible(run)


def _matrix(result: RankingAgreement) -> Table:
    values: dict[tuple[str, str], Any] = {}
    for row in kernel.results.to_rows(result.means):
        values[row["other"], row["run"]], values[row["run"], row["other"]] = row["tau"], row["rbo"]
    first = Column("", "run")
    columns = [Column(name, "score", digits=3, of_run=True) for name in result.runs]
    cells = {run: [values.get((run, second), "—") for second in result.runs] for run in result.runs}
    if result.seeds is None:
        return Table([first, *columns], [[run, *row] for run, row in cells.items()])
    tau_of_seeds = {run: row["tau"] for run, row in _seed_means(result).items()}
    return Table(
        [first, Column("seeds", "count"), *columns, Column("tau of seeds", "score", digits=3)],
        [[run, result.seeds[run], *row, tau_of_seeds.get(run, "—")] for run, row in cells.items()],
    )


@kernel.takes_options("reading", "unseen", "replicates")
@public
@kernel.shares_work
def ranking_agreement(
    runs: Any,
    *,
    persistence: Persistence = PERSISTENCE,
    at: At = OVERLAP_DEPTH,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> RankingAgreement:
    """Measure the agreement of the rankings of runs, without judgments.

    runs         two or more, as for `evaluate`
    persistence  persistence p of rank-biased overlap: depth d has the weight (1 − p) p^(d − 1)
    at           the depth of `overlap`

    The other arguments are the options of `evaluate` on reading and ranking; the order of ties affects overlap alone.
    With `replicates` systems are compared, by means over pairs of their seeds, and each system with itself.

    Rank-biased overlap: Webber, Moffat & Zobel, TOIS 2010, equation 32, and its bounds, as means over all orders of
    tied documents. If the longer of two rankings has ties, Corsi & Urbano, SIGIR 2024, extrapolate by a product of
    means, which deviates slightly from the mean over orders. Returns `RankingAgreement`: `.frame`, `.means`. Raises
    `gradedeval.InputError` for fewer than two runs, and for two runs without a common topic.

    >>> runs = {"A": {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}, "B": {"q1": {"d1": 3.0, "d3": 2.0, "d2": 1.0}}}
    >>> gradedeval.ranking_agreement(runs).frame[["topic", "rbo", "overlap", "tau"]].round(3)
      topic    rbo  overlap    tau
    0    q1  0.955      1.0  0.333
    """
    options = kernel.resolve_options(like, **keywords)
    named, workers = kernel.named_runs(runs), kernel.Workers.current()
    settings = RankingSettings(persistence, at)
    if len(named) < 2:
        problem = f"{len(named)} {plural(len(named), 'run')} given"
        raise InputError("", problem, "agreement is between two or more", usage=True)
    systems = None if options.replicates is None else options.replicates.systems(list(named))
    grader = kernel.grade.Grader(kernel.Qrels.empty(), options, keep_ties=True)
    ranked = ranked_runs.rank_runs(named, grader, workers)
    counts, topics, values = _compare_pairs(ranked, settings, workers)
    left_out, total = len(ranked.topics) - int(counts.min()), len(ranked.topics)
    omission = f"{left_out} of {total} {plural(total, 'topic')} left out of a pair: not in both runs"
    notes = [*ranked.notes, *([omission] if left_out else [])]
    if systems is None:
        frame = _frame({run: [run] for run in named}, ranked, counts, topics, values)
        return RankingAgreement([*named], frame.astype({"common": int}), settings, emit_notes(notes))
    assert options.replicates is not None
    seeds = {system: len(runs) for system, runs in systems.items()}
    notes += options.replicates.notes(named)
    frame = _frame(systems, ranked, counts, topics, values)
    return RankingAgreement(list(systems), frame, settings, emit_notes(notes), seeds)


def _frame(
    systems: Mapping[str, list[str]], ranked: RankedRuns, counts: Ints, topics: Ints, columns: Floats
) -> pd.DataFrame:
    """Return a row for each pair and topic, from `_compare_pairs`; of systems the means over pairs of seeds."""
    system_of = {run: number for number, members in enumerate(systems.values()) for run in members}
    system, size = np.array([system_of[run.name] for run in ranked.runs]), len(systems)
    low, high = np.sort(system[[(first, second) for second in range(len(system)) for first in range(second)]], axis=1).T
    pair, more = np.repeat(high * size + low, counts), {}
    if size < len(system):
        pair, topics, columns, of_runs = replicates.means_over_pairs(pair, topics, columns)
        more = {"pairs": of_runs}
    system_names, names = (np.array(list(all_of), dtype=object) for all_of in (systems, ranked.names))
    numbers = dict(zip(NUMBERS, columns, strict=True))
    keys = {"run": system_names[pair % size], "other": system_names[pair // size], "topic": names[topics]}
    return kernel.results.to_frame({**keys, **numbers, **more})


def _compare_pairs(ranked: RankedRuns, settings: RankingSettings, workers: Workers) -> tuple[Ints, Ints, Floats]:
    """Return for each pair of runs the number of common topics, these topics, and their `NUMBERS`."""
    lists = [rank_overlap.RankedLists.of(run) for run in ranked.runs]
    begins = [(second, begin) for second in range(len(lists)) for begin in range(0, second, RUNS_PER_TASK)]
    tasks = [(second, range(begin, min(begin + RUNS_PER_TASK, second))) for second, begin in begins]
    if len(lists) * (len(lists) - 1) // 2 < FEW_PAIRS:
        workers = workers.serial()
    return _concatenate(workers.imap(partial(_compare_with, ranked, lists, settings), tasks))


def _concatenate(parts: Iterable[tuple[Ints, Ints, Floats]]) -> tuple[Ints, Ints, Floats]:
    counts, topics, numbers = zip(*parts, strict=True)
    return np.concatenate(counts), np.concatenate(topics), np.concatenate(numbers, axis=1)


def _compare_with(
    ranked: RankedRuns, lists: list[RankedLists], settings: RankingSettings, task: tuple[int, range]
) -> tuple[Ints, Ints, Floats]:
    """Compare one run, the second of each pair, with others. Raises InputError for a pair without a common topic."""
    number, partners = task
    lists_of_run = lists[number]
    place = rank_overlap.document_positions(lists_of_run, len(ranked))
    parts = []
    for block in rank_overlap.run_blocks(lists, lists_of_run, partners):
        for partner in block:
            if not np.minimum(lists[partner].counts, lists_of_run.counts).any():
                raise _no_common_topics(ranked, ranked.runs[partner], ranked.runs[number])
        pairs = rank_overlap.ListPairs.of([lists[partner] for partner in block], lists_of_run, place)
        parts.append(_numbers(pairs, len(block), settings))
    return _concatenate(parts)


def _no_common_topics(ranked: RankedRuns, first: RankedRun, second: RankedRun) -> InputError:
    """Return the error for two runs without a common topic."""
    topics = ([ranked.topics[row] for row in np.flatnonzero(run.counts)] for run in (first, second))
    return kernel.grade.no_common_topics(first.place, next(topics), second.place, next(topics))


def _numbers(pairs: ListPairs, runs: int, settings: RankingSettings) -> tuple[Ints, Ints, Floats]:
    """Compare some pairs of one run as `_compare_pairs` does, the lowest agreement first."""
    counts = np.stack([pairs.one.counts, pairs.other.counts])
    shared = np.flatnonzero(counts.min(0))
    rbo, low, high = pairs.overlaps(settings.persistence, settings.ties)[:, shared]
    overlap = pairs.shared_down_to(settings.at) / np.maximum(np.minimum(counts.max(0), settings.at), 1)
    numbers = np.stack([rbo, low, high, high - low, overlap[shared], pairs.taus()[shared], pairs.counts[shared]])
    run, topic = np.divmod(shared, counts.shape[1] // runs)
    order = np.lexsort((rbo, run))
    return np.bincount(run, minlength=runs), topic[order], numbers[:, order]


# Reproduction of an experiment: rankings, scores and improvement compared with the original.


TIES_OF_ORIGINALS: Ties = "b"
"""With this correction for ties, a ranking agrees fully with itself."""

ROLES = ("baseline", "advanced")


@dataclass(frozen=True, eq=False)
class Reproduction(kernel.results.InNotebook):
    """Reproduction of an experiment.

    frame  a row for each number: what, run, original, measure (blank for numbers of rankings), value. `ktu` and `rbo`
           compare the rankings of a run and the original, as means over topics; `rmse` compares their scores (0 is
           perfect); `er` is the improvement of the advanced run over the baseline as a share of the original
           improvement (1 is perfect); `delta_ri` is the original relative improvement − the reproduced one (0 is
           perfect)
    """

    frame: pd.DataFrame
    runs: list[str]
    settings: RankingSettings
    signature: str = ""
    notes: list[str] = field(default_factory=list)

    def document(self, layout: Layout) -> Document:
        """Return a table with a row for each run and its original, and a table with a row for each improvement."""
        signature = "\n".join(part for part in (_legend(self), self.signature) if part)
        if layout == "long":
            return Document([kernel.results.to_table(self.frame)], signature)
        rows = kernel.results.to_rows(self.frame)
        measures = list(dict.fromkeys(row["measure"] for row in rows if row["measure"] is not None))
        cells = {(row["what"], row["run"], row["original"], row["measure"]): row["value"] for row in rows}
        pairs = dict.fromkeys((row["run"], row["original"]) for row in rows if row["what"] == "ktu")
        columns = [Column("run"), Column("original"), Column("KTU", "score"), Column("RBO", "score")]
        columns += [Column(f"RMSE {name}", "score") for name in measures]
        numbers = [("ktu", None), ("rbo", None), *(("rmse", name) for name in measures)]
        table = [[*pair, *(cells[number, *pair, name] for number, name in numbers)] for pair in pairs]
        blocks: list[Table | str] = [Table(columns, table)]
        if measures:
            effects = [row for row in rows if row["what"] == "er"]
            ri_changes = [cells["delta_ri", row["run"], row["original"], row["measure"]] for row in effects]
            columns = [Column("measure"), Column("effect ratio", "score"), Column("ΔRI", "signed")]
            effect_rows = zip(effects, ri_changes, strict=True)
            blocks.append(Table(columns, [[row["measure"], row["value"], change] for row, change in effect_rows]))
        return Document(blocks, signature)


def _legend(result: Reproduction) -> str:
    at_best = "as the original: KTU, RBO and effect ratio 1, RMSE and ΔRI 0"
    blank = any(math.isnan(value) for value in result.frame["value"])
    settings = result.settings
    rbo = f"rbo: extrapolated, p {settings.persistence:g}, ties {settings.ties}"
    return " | ".join([at_best, "ktu: union by docno", rbo, *(["blank: not defined"] if blank else [])])


@kernel.takes_options("reading", "unseen", "replicates")
@public
def reproduction(
    runs: Any,
    originals: Originals,
    qrels: Any = None,
    measures: Measures = DEFAULT,
    *,
    persistence: Persistence = PERSISTENCE,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Reproduction:
    """Measure how well a baseline and an advanced run reproduce two original runs.

    runs         the baseline and the advanced run
    originals    the runs that they reproduce, in the same order
    qrels        as for `evaluate`; None: compare rankings only
    persistence  as in `ranking_agreement`; overlap is corrected for ties here, so that a ranking agrees fully with
                 itself: overlap at a depth is divided by the overlap of a ranking with such ties and itself

    The other arguments are as for `evaluate`. KTU, RBO, RMSE, ER and ΔRI as Breuer et al., SIGIR 2020. Returns
    `Reproduction`: `.frame`. Raises `gradedeval.InputError` as `evaluate` does.

    >>> run, other = {"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d2": 2.0, "d1": 1.0}}
    >>> result = gradedeval.reproduction({"A": run, "B": run}, {"A": run, "B": other}, {"q1": {"d1": 1}}, "rr")
    >>> result.frame.query("what == 'rmse'")[["run", "value"]]
      run  value
    4   A    0.0
    5   B    0.5
    """
    options, chosen = kernel.resolve_options(like, **keywords), kernel.parse_measures(measures)
    settings = RankingSettings(persistence, OVERLAP_DEPTH, TIES_OF_ORIGINALS)
    reproduced, original_runs = _experiment(runs, originals, options)
    keyed = {
        f"{kind} {role}": source
        for kind, named in (("run", reproduced), ("original", original_runs))
        for role, source in zip(ROLES, named.values(), strict=True)
    }
    ranked = ranked_runs.rank_runs(keyed, kernel.grade.Grader(kernel.Qrels.empty(), options, keep_ties=True))
    rows: list[tuple[str, str, str, str | None, float]] = []
    for number, names in enumerate(zip(reproduced, original_runs, strict=True)):
        ktu, rbo = _compare_rankings(ranked, ranked.runs[2 + number], ranked.runs[number], settings)
        rows += [("ktu", *names, None, ktu), ("rbo", *names, None, rbo)]
    notes, signature = list(ranked.notes), ""
    if qrels is not None:
        names_of = list(reproduced), list(original_runs)
        score_rows, notes, signature = _compare_scores(keyed, *names_of, qrels, chosen, options)
        rows += score_rows
    frame = kernel.results.to_frame(rows, columns=["what", "run", "original", "measure", "value"])
    return Reproduction(frame, [*reproduced, *original_runs], settings, signature, emit_notes(notes))


def _experiment(runs: Any, originals: Any, options: Options) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the runs and the originals by name. Raises InputError (usage) for systems, and unless two each."""
    if options.replicates is not None:
        problem = "an experiment is reproduced run by run, and a system has several"
        raise InputError(flag.replicates, problem, "give one run of each system", usage=True)
    reproduced, original_runs = kernel.named_runs(runs), kernel.named_runs(originals)
    if len(reproduced) != 2 or len(original_runs) != 2:
        problem = f"{len(reproduced)} runs and {len(original_runs)} originals given"
        raise InputError("", problem, "give a baseline and an advanced run, and the originals of both", usage=True)
    return reproduced, original_runs


def _compare_rankings(
    ranked: RankedRuns, original: RankedRun, run: RankedRun, settings: RankingSettings
) -> tuple[float, float]:
    """Return KTU and RBO, means over common topics. Raises InputError if there is none."""
    shared = np.flatnonzero((original.counts > 0) & (run.counts > 0))
    if not len(shared):
        raise _no_common_topics(ranked, run, original)
    lists = rank_overlap.RankedLists.of(original), rank_overlap.RankedLists.of(run)
    rbo = rank_overlap.rank_biased_overlap(*lists, len(ranked), settings.persistence, settings.ties)[0, shared]
    taus = kendall_tau_union(ranked, original, run)[shared]
    return float(np.nanmean(taus)) if np.isfinite(taus).any() else np.nan, float(rbo.mean())


def kendall_tau_union(ranked: RankedRuns, original: RankedRun, run: RankedRun) -> Floats:
    """Return Kendall's τ of two rankings by topic. The value of a rank is the position of its document in the union of
    both rankings, ordered by docno; ranks below the end of the shorter ranking are ignored.

    Breuer et al., SIGIR 2020, in the order of repro_eval: the paper leaves the order of the union open. With the order
    of the original followed by the other documents of the run, disjoint rankings would agree fully.
    """
    place = np.empty(len(ranked), dtype=np.int64)
    place[np.argsort(ranked.docnos(np.arange(len(ranked))))] = np.arange(len(ranked))
    topic = ranked.topic[run.document]
    inside = run.rank <= original.counts[topic]
    topic, rank, document = topic[inside], run.rank[inside], run.document[inside]
    partner = original.document[original.begin[topic] + rank - 1]
    return correlation.kendall_taus(topic, place[partner], place[document], len(ranked.topics))


def _compare_scores(
    sources: Mapping[str, Any],
    runs: list[str],
    originals: list[str],
    qrels: Any,
    measures: list[Measure],
    options: Options,
) -> tuple[list[tuple[str, str, str, str, float]], list[str], str]:
    """Return the rows computed from scores, the notes, and the signature."""
    scores = kernel.evaluate_runs(sources, qrels, measures, options, workers=kernel.Workers.current())
    matrix, rows = score_matrix.to_matrix(scores), []
    for name in matrix.measures:
        paired = matrix.paired(name)
        base, advanced, old_base, old_advanced = paired.score
        for number, (reproduced, original_scores) in enumerate(((base, old_base), (advanced, old_advanced))):
            rmse = float(np.sqrt(np.mean((reproduced - original_scores) ** 2)))
            rows.append(("rmse", runs[number], originals[number], name, rmse))
        base_mean, new_mean, old_base_mean, old_mean = paired.score.mean(1)
        both = f"{runs[1]} − {runs[0]}", f"{originals[1]} − {originals[0]}"
        gain, old_gain = new_mean - base_mean, old_mean - old_base_mean
        rows.append(("er", *both, name, gain / old_gain if old_mean != old_base_mean else np.nan))
        has_means = old_base_mean and base_mean
        delta_ri = old_gain / old_base_mean - gain / base_mean if has_means else np.nan
        rows.append(("delta_ri", *both, name, delta_ri))
    return rows, list(scores.notes), scores.signature
