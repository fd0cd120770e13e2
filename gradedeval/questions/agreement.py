"""How far two rankings agree, by topic: rank-biased overlap, Kendall's τ, and whether a run reproduces another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import correlation, rank_overlap, ranked_runs, replicates, score_matrix
from gradedeval.arrays import Floats, Ints, np
from gradedeval.errors import (
    InputError,
    did_you_mean,
    either,
    emit_notes,
    flag,
    plural,
    public,
    shorten,
    visible,
)
from gradedeval.kernel import (
    AnyMeasure,
    Column,
    Document,
    Layout,
    Measure,
    OptionKwargs,
    Options,
    Setting,
    Table,
    parse_measures,
    ranges,
    resolve_options,
    shares_work,
    takes_options,
)
from gradedeval.questions.explain import DEFAULT

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.rank_overlap import ListPairs, RankedLists, Ties
    from gradedeval.analysis.ranked_runs import RankedRun, RankedRuns
    from gradedeval.kernel import Workers


# Runs without judgments: how far their rankings agree, topic by topic and pair by pair.


PERSISTENCE, AT, TOPICS = 0.9, 10, 10
FEW_PAIRS = 400
"""Pairs of runs that are not worth the start of further processes."""
TOGETHER = 64
"""Runs that are compared with one in turn: where that one has each document is looked up for all of them."""
PAIR = ("run", "other")
NUMBERS = ("rbo", "rbo_low", "rbo_high", "residual", "overlap", "tau", "common")
SHOWN = ("rbo", "residual", "overlap", "tau", "common")

Persistence = Annotated[float, Setting("Of rank-biased overlap: the probability of going on from rank to rank.",
    ranges.PERSISTENCE, metavar="P")]  # fmt: skip
At = Annotated[int, Setting("Depth of the column overlap.", ranges.AT, metavar="N")]
Measures = Annotated["AnyMeasure | Iterable[AnyMeasure]", Setting("Measure to compare by. Repeat -m, or separate "
    "measures by spaces.", metavar="MEASURE", section="Measures and gains", spelled=("-m", "--measure"),
    measure="several")]  # fmt: skip
Originals = Annotated[Any, Setting("How well A and B reproduce these two original runs: KTU and RBO of the rankings, "
    "with qrels RMSE, effect ratio and ΔRI too.", metavar="BASE ADVANCED", spelled=("--reproduce",),
    reads=True)]  # fmt: skip


@dataclass(frozen=True)
class AgreementSettings:
    """How agreement is measured: see `agreement`. Raises InputError (usage) where a value is not allowed."""

    persistence: float = PERSISTENCE
    at: int = AT
    ties: Ties = "a"

    def __post_init__(self) -> None:
        ranges.PERSISTENCE.check_field(self, "persistence")
        ranges.AT.check_field(self, "at")

    def __str__(self) -> str:
        rbo = f"rbo: extrapolated, p {self.persistence:g}, mean over the orders of ties"
        return f"{rbo} | overlap at {self.at} | tau: of what both retrieved"


@dataclass(frozen=True, eq=False)
class Agreement(kernel.results.InNotebook):
    """How far runs agree.

    frame  a row for each pair of runs and topic, those that agree least first: run, other, topic, rbo (extrapolated),
           rbo_low, rbo_high (its bounds, for any documents below the ends of the rankings), residual (rbo_high −
           rbo_low), overlap (documents among the first `at` of both, as a share of those of the longer), tau (Kendall's
           τ_b of the documents that both retrieved; blank with fewer than two), common (how many these are). Of systems
           of several seeds these are means over the pairs of a seed of each, and the last column says of how many
           `pairs`; the rows of a system and itself are of the pairs of its own seeds: how far the seed alone moves a
           ranking
    seeds  system -> how many seeds it has; None of runs
    """

    runs: list[str]
    frame: pd.DataFrame
    settings: AgreementSettings
    notes: list[str] = field(default_factory=list)
    seeds: Mapping[str, int] | None = None

    def __repr__(self) -> str:
        return f"<Agreement of {shorten(self.runs)}>"

    def of_topic(self, topic: str | None) -> Agreement:
        """The same, for one topic alone. Raises InputError (usage) where it is not among them."""
        if topic is None:
            return self
        known = list(dict.fromkeys(self.frame["topic"]))
        if topic not in known:
            hint = did_you_mean(topic, known) or f"as in {shorten(known)}"
            what = "both runs" if len(self.runs) == 2 and self.seeds is None else "two of the runs"
            raise InputError(flag.topic, f"'{topic}' is not a topic of {what}", hint, usage=True)
        return replace(self, frame=self.frame[self.frame["topic"] == topic])

    @property
    def means(self) -> pd.DataFrame:
        """The means over topics of each pair of runs, and how many topics they share."""
        pairs = self.frame.groupby(kernel.results.group_numbers(self.frame, *PAIR), sort=False)
        means = pairs[list(NUMBERS)].mean().assign(topics=pairs.size())
        return kernel.results.to_frame(kernel.results.distinct(self.frame, *PAIR), PAIR).join(means)

    def document(self, layout: Layout, *, topic: str | None = None, top: int | None = None) -> Document:
        """Of two runs by topic, those that agree least first, and in the mean; of more as a matrix.

        topic  the only one
        top    how many topics of two runs a table shows; None: 10
        """
        found = self.of_topic(topic)
        if layout == "long":
            pairs = found.frame.groupby(kernel.results.group_numbers(found.frame, *PAIR))
            return Document(
                [kernel.results.to_table(found.frame if top is None else pairs.head(top))], str(found.settings)
            )
        if len(found.runs) > 2:
            of = "means over topics" if topic is None else f"topic {visible(topic)}"
            on = "" if found.seeds is None else " on it: rbo between the seeds of a system;"
            words = f"above the diagonal: rbo, below it: tau;{on} {of}{'' if found.seeds is None else SEED_PAIRS}"
            return Document([_matrix(found)], f"{words}\n{found.settings}")
        blocks = _by_topic(found, topic is None, TOPICS if top is None else top)
        words = "" if found.seeds is None else f"below a system: rbo between its own seeds{SEED_PAIRS}\n"
        return Document(blocks, f"{words}{found.settings}")


SEED_PAIRS = " | all means over pairs of seeds"


def _by_topic(found: Agreement, with_mean: bool, top: int) -> list[Table | str]:
    """Two runs or systems by topic, those that agree least first, and in the mean; of systems beside it how far the
    seeds of each agree, and below it in the mean."""
    one, other = found.runs[0], found.runs[-1]
    rows = [row for row in kernel.results.to_rows(found.frame) if (row["run"], row["other"]) == (one, other)]
    own = {
        (row["run"], row["topic"]): row["rbo"]
        for row in kernel.results.to_rows(found.frame)
        if row["run"] == row["other"]
    }
    within = _within(found)
    systems = [run for run in found.runs if run in within and one != other]

    def cells(row: Mapping[str, Any], name: str, of: Mapping[str, float | None], common: bool = False) -> list[Any]:
        numbers = [None if which == "common" and not common else row[which] for which in SHOWN]
        return [name, numbers[0], *(of.get(system) for system in systems), *numbers[1:]]

    shown = [
        cells(row, row["topic"], {run: own.get((run, row["topic"])) for run in systems}, True) for row in rows[:top]
    ]
    left_out = len(rows) - len(shown)
    if with_mean:
        (mean,) = (row for row in kernel.results.to_rows(found.means) if (row["run"], row["other"]) == (one, other))
        shown.append(cells(mean, f"mean of {mean['topics']}", {run: within[run]["rbo"] for run in systems}))
    shown += [cells(within[run], f"seeds of {visible(run)}", {}) for run in systems]
    columns = [Column("topic"), Column("rbo", "score"), *(Column(run, "score", of_run=True) for run in systems)]
    columns += [Column(name, "score") for name in SHOWN[1:-1]]
    columns.append(Column("common", "count") if found.seeds is None else Column("common", "score", digits=1))
    title = " and ".join(dict.fromkeys([_named(found, one), _named(found, other)]))
    blocks: list[Table | str] = [title, Table(columns, shown)]
    if left_out > 0:
        top_n = either("--top N", f".shown(top={len(rows)})")
        blocks.append(f"{left_out} more {plural(left_out, 'topic')}: {top_n}")
    return blocks


def _within(found: Agreement) -> dict[str, dict[str, Any]]:
    """System -> the means over pairs of its own seeds, where it has several."""
    return {row["run"]: row for row in kernel.results.to_rows(found.means) if row["run"] == row["other"]}


def _named(found: Agreement, run: str) -> str:
    """A run; or a system, with how many seeds it has."""
    count = 0 if found.seeds is None else found.seeds[run]
    return f"{visible(run)} ({count} {plural(count, 'seed')})" if count else visible(run)


def _matrix(found: Agreement) -> Table:
    values: dict[tuple[str, str], Any] = {}
    for row in kernel.results.to_rows(found.means):
        values[row["other"], row["run"]], values[row["run"], row["other"]] = row["tau"], row["rbo"]
    first = Column("", "run")
    columns = [Column(name, "score", digits=3, of_run=True) for name in found.runs]
    cells = {run: [values.get((run, other), "—") for other in found.runs] for run in found.runs}
    if found.seeds is None:
        return Table([first, *columns], [[run, *row] for run, row in cells.items()])
    own = {run: row["tau"] for run, row in _within(found).items()}
    return Table(
        [first, Column("seeds", "count"), *columns, Column("tau of seeds", "score", digits=3)],
        [[run, found.seeds[run], *row, own.get(run, "—")] for run, row in cells.items()],
    )


@takes_options("reading", "unseen", "replicates")
@public
@shares_work
def agreement(
    runs: Any,
    *,
    persistence: Persistence = PERSISTENCE,
    at: At = AT,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Agreement:
    """How far the rankings of runs agree, without judgments.

    runs         two or more, as `evaluate` takes them
    persistence  persistence of rank-biased overlap: at depth d it weighs (1 − p) p^(d − 1)
    at           the depth of `overlap`

    The other arguments are those of `evaluate` that say how runs are read and ranked; how ties are broken matters to
    overlap alone. With `replicates` systems are compared, by means over pairs of their seeds, and each with itself.

    Rank-biased overlap: Webber, Moffat & Zobel, TOIS 2010, equation 32, and its bounds, as means over all orders of
    tied documents. Where the longer of two rankings has ties, Corsi & Urbano, SIGIR 2024, extrapolate by a product of
    means, which is not quite the mean over orders. Returns `Agreement`: `.frame`, `.means`. Raises
    `gradedeval.InputError` where there are fewer than two runs, or two have no topic in common.
    """
    options = resolve_options(like, **keywords)
    named, workers = kernel.named_runs(runs), kernel.Workers.current()
    settings = AgreementSettings(persistence, at)
    if len(named) < 2:
        what = f"{len(named)} {plural(len(named), 'run')} given"
        raise InputError("", what, "agreement is between two or more", usage=True)
    systems = None if options.replicates is None else options.replicates.systems(list(named))
    ranked = ranked_runs.rank_runs(named, kernel.grade.Grader(kernel.Qrels.none(), options, keep_ties=True), workers)
    counts, topics, found = _of_pairs(ranked, settings, workers)
    left_out, of = len(ranked.topics) - int(counts.min()), len(ranked.topics)
    what = f"{left_out} of {of} {plural(of, 'topic')} left out of a pair: not in both runs"
    notes = [*ranked.notes, *([what] if left_out else [])]
    if systems is None:
        frame = _frame({run: [run] for run in named}, ranked, counts, topics, found)
        return Agreement(list(named), frame.astype({"common": int}), settings, emit_notes(notes))
    assert options.replicates is not None
    seeds = {system: len(runs) for system, runs in systems.items()}
    notes += options.replicates.notes(named)
    return Agreement(list(systems), _frame(systems, ranked, counts, topics, found), settings, emit_notes(notes), seeds)


def _frame(
    systems: Mapping[str, list[str]], ranked: RankedRuns, counts: Ints, topics: Ints, found: Floats
) -> pd.DataFrame:
    """The rows of pairs of runs by topic, as `_of_pairs` has them; of systems the means over pairs of their runs, also
    over those of one system, and of how many."""
    of = {run: number for number, members in enumerate(systems.values()) for run in members}
    system, size = np.array([of[run.name] for run in ranked.runs]), len(systems)
    low, high = np.sort(system[[(one, other) for other in range(len(system)) for one in range(other)]], axis=1).T
    pair, more = np.repeat(high * size + low, counts), {}
    if size < len(system):
        pair, topics, found, of_runs = replicates.means_over_pairs(pair, topics, found)
        more = {"pairs": of_runs}
    called, names = (np.array(list(all_of), dtype=object) for all_of in (systems, ranked.names))
    numbers = dict(zip(NUMBERS, found, strict=True))
    return kernel.results.to_frame(
        {"run": called[pair % size], "other": called[pair // size], "topic": names[topics], **numbers, **more}
    )


def _of_pairs(ranked: RankedRuns, settings: AgreementSettings, workers: Workers) -> tuple[Ints, Ints, Floats]:
    """How many topics each pair of runs shares, those topics, and their `NUMBERS`; processes share many pairs."""
    lists = [rank_overlap.RankedLists.of(run) for run in ranked.runs]
    tasks = [
        (other, range(begin, min(begin + TOGETHER, other)))
        for other in range(len(lists))
        for begin in range(0, other, TOGETHER)
    ]
    if len(lists) * (len(lists) - 1) // 2 < FEW_PAIRS:
        workers = workers.serial()
    return _in_turn(workers.imap(partial(_beside, ranked, lists, settings), tasks))


def _in_turn(parts: Iterable[tuple[Ints, Ints, Floats]]) -> tuple[Ints, Ints, Floats]:
    counts, topics, numbers = zip(*parts, strict=True)
    return np.concatenate(counts), np.concatenate(topics), np.concatenate(numbers, axis=1)


def _beside(
    ranked: RankedRuns, lists: list[RankedLists], settings: AgreementSettings, task: tuple[int, range]
) -> tuple[Ints, Ints, Floats]:
    """The same of one run and each of several others, the latter first in each pair. Raises InputError where a pair
    shares no topic."""
    number, ones = task
    other = lists[number]
    place = rank_overlap.document_positions(other, len(ranked))
    parts = []
    for block in rank_overlap.run_blocks(lists, other, ones):
        for one in block:
            if not np.minimum(lists[one].counts, other.counts).any():
                own = [[ranked.topics[row] for row in np.flatnonzero(lists[run].counts)] for run in (one, number)]
                raise kernel.grade.no_common_topics(ranked.runs[one].place, own[0], ranked.runs[number].place, own[1])
        pairs = rank_overlap.ListPairs.of([lists[one] for one in block], other, place)
        parts.append(_numbers(pairs, len(block), settings))
    return _in_turn(parts)


def _numbers(pairs: ListPairs, runs: int, settings: AgreementSettings) -> tuple[Ints, Ints, Floats]:
    """How many topics each pair of runs shares, those topics, the ones that agree least first, and their `NUMBERS`."""
    counts = np.stack([pairs.one.counts, pairs.other.counts])
    shared = np.flatnonzero(counts.min(0))
    rbo, low, high = pairs.overlaps(settings.persistence, settings.ties)[:, shared]
    among = pairs.shared_down_to(settings.at) / np.maximum(np.minimum(counts.max(0), settings.at), 1)
    numbers = np.stack([rbo, low, high, high - low, among[shared], pairs.taus()[shared], pairs.counts[shared]])
    run, topic = np.divmod(shared, counts.shape[1] // runs)
    order = np.lexsort((rbo, run))
    return np.bincount(run, minlength=runs), topic[order], numbers[:, order]


# Whether an experiment was reproduced: the rankings, the scores and the improvement beside the original's.


TIES_OF_ORIGINALS: Ties = "b"
"""With ties corrected for, a ranking agrees fully with itself."""

ROLES = ("baseline", "advanced")


@dataclass(frozen=True, eq=False)
class Reproduction(kernel.results.InNotebook):
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

    def document(self, layout: Layout) -> Document:
        """An experiment beside its original: a row for each run, and one for each improvement."""
        signature = "\n".join(part for part in (_words(self), self.signature) if part)
        if layout == "long":
            return Document([kernel.results.to_table(self.frame)], signature)
        rows = kernel.results.to_rows(self.frame)
        measures = list(dict.fromkeys(row["measure"] for row in rows if row["measure"] is not None))
        cells = {(row["what"], row["run"], row["original"], row["measure"]): row["value"] for row in rows}
        pairs = dict.fromkeys((row["run"], row["original"]) for row in rows if row["what"] == "ktu")
        columns = [Column("run"), Column("original"), Column("KTU", "score"), Column("RBO", "score")]
        columns += [Column(f"RMSE {name}", "score") for name in measures]
        numbers = [("ktu", None), ("rbo", None), *(("rmse", name) for name in measures)]
        table = [[*pair, *(cells[what, *pair, name] for what, name in numbers)] for pair in pairs]
        blocks: list[Table | str] = [Table(columns, table)]
        if measures:
            effects = [row for row in rows if row["what"] == "er"]
            shown = [[row["measure"], row["value"], cells["delta_ri", row["run"], row["original"], row["measure"]]]
                     for row in effects]  # fmt: skip
            blocks.append(Table([Column("measure"), Column("effect ratio", "score"), Column("ΔRI", "signed")], shown))
        return Document(blocks, signature)


def _words(found: Reproduction) -> str:
    at_best = "as the original: KTU, RBO and effect ratio 1, RMSE and ΔRI 0"
    blank = any(math.isnan(value) for value in found.frame["value"])
    ktu, rbo = "ktu: union by docno", f"rbo: extrapolated, p {found.settings.persistence:g}, ties {found.settings.ties}"
    return " | ".join([at_best, ktu, rbo, *(["blank: not defined"] if blank else [])])


@takes_options("reading", "unseen", "replicates")
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
    """How well a baseline and an advanced run reproduce two original ones.

    runs         the baseline and the advanced run
    originals    the two that they reproduce, in the same order
    qrels        as `evaluate` takes them; without, rankings alone are compared
    persistence  as in `agreement`; here overlap is corrected for ties, so that a ranking agrees fully with itself: what
                 is shared at a depth counts as a share of what a ranking with these ties agrees with itself

    The other arguments are those of `evaluate`. KTU, RBO, RMSE, ER and ΔRI as Breuer et al., SIGIR 2020. Returns
    `Reproduction`: `.frame`. Raises `gradedeval.InputError` as `evaluate` does.
    """
    options, chosen = resolve_options(like, **keywords), parse_measures(measures)
    if options.replicates is not None:
        what = "an experiment is reproduced run by run, and a system has several"
        raise InputError(flag.replicates, what, "give one run of each system", usage=True)
    settings = AgreementSettings(persistence, AT, TIES_OF_ORIGINALS)
    mine, theirs = kernel.named_runs(runs), kernel.named_runs(originals)
    if len(mine) != 2 or len(theirs) != 2:
        what = f"{len(mine)} runs and {len(theirs)} originals given"
        raise InputError("", what, "give a baseline and an advanced run, and the originals of both", usage=True)
    keyed = {
        f"{kind} {role}": source
        for kind, named in (("run", mine), ("original", theirs))
        for role, source in zip(ROLES, named.values(), strict=True)
    }
    ranked = ranked_runs.rank_runs(keyed, kernel.grade.Grader(kernel.Qrels.none(), options, keep_ties=True))
    rows: list[tuple[str, str, str, str | None, float]] = []
    for number, names in enumerate(zip(mine, theirs, strict=True)):
        ktu, rbo = _rankings(ranked, ranked.runs[2 + number], ranked.runs[number], settings)
        rows += [("ktu", *names, None, ktu), ("rbo", *names, None, rbo)]
    notes, signature = list(ranked.notes), ""
    if qrels is not None:
        found, notes, signature = _scores(keyed, list(mine), list(theirs), qrels, chosen, options)
        rows += found
    frame = kernel.results.to_frame(rows, columns=["what", "run", "original", "measure", "value"])
    return Reproduction(frame, [*mine, *theirs], settings, signature, emit_notes(notes))


def _rankings(
    ranked: RankedRuns, original: RankedRun, run: RankedRun, settings: AgreementSettings
) -> tuple[float, float]:
    """KTU and RBO, means over the topics that both have. Raises InputError where they share none."""
    shared = np.flatnonzero((original.counts > 0) & (run.counts > 0))
    if not len(shared):
        own = [[ranked.topics[row] for row in np.flatnonzero(one.counts)] for one in (run, original)]
        raise kernel.grade.no_common_topics(run.place, own[0], original.place, own[1])
    lists = rank_overlap.RankedLists.of(original), rank_overlap.RankedLists.of(run)
    rbo = rank_overlap.rank_biased_overlap(*lists, len(ranked), settings.persistence, settings.ties)[0, shared]
    taus = kendall_tau_union(ranked, original, run)[shared]
    return float(np.nanmean(taus)) if np.isfinite(taus).any() else np.nan, float(rbo.mean())


def kendall_tau_union(ranked: RankedRuns, original: RankedRun, run: RankedRun) -> Floats:
    """topics: Kendall's τ of two rankings, rank by rank, of which each rank is the place of its document in the union,
    ordered by docno; down to the end of the shorter one.

    Breuer et al., SIGIR 2020, in the order of repro_eval: the paper leaves open how the union is ordered. In that of
    the original, followed by the others of the run, rankings that share nothing would agree fully.
    """
    place = np.empty(len(ranked), dtype=np.int64)
    place[np.argsort(ranked.docnos(np.arange(len(ranked))))] = np.arange(len(ranked))
    topic = ranked.topic[run.document]
    inside = run.rank <= original.counts[topic]
    topic, rank, document = topic[inside], run.rank[inside], run.document[inside]
    partner = original.document[original.begin[topic] + rank - 1]
    return correlation.kendall_taus(topic, place[partner], place[document], len(ranked.topics))


def _scores(
    sources: Mapping[str, Any],
    runs: list[str],
    originals: list[str],
    qrels: Any,
    measures: list[Measure],
    options: Options,
) -> tuple[list[tuple[str, str, str, str, float]], list[str], str]:
    """The numbers that come from scores, the notes, and the signature."""
    scores = kernel.evaluate_runs(sources, qrels, measures, options, workers=kernel.Workers.current())
    matrix, rows = score_matrix.to_matrix(scores), []
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


# What `diff` is asked without qrels, and beside two originals.
