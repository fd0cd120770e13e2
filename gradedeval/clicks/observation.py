"""Estimate which ranks users examine from their clicks: gaps between clicks, last clicks, and ends of pages.

Zhang, Park & Moffat, Information Retrieval 2010, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from gradedeval import arrays, kernel
from gradedeval.analysis.tables import DisplayColumns, format_range, frame_document, plain_columns
from gradedeval.arrays import Floats, Ints, np
from gradedeval.clicks.log import (
    LAST_RANK,
    ClickLog,
    ClicksAs,
    Depth,
    FromLog,
    Idle,
    Lenient,
    collapse,
    read_log,
    small_table_of,
)
from gradedeval.errors import InputError, check_choice, emit_notes, flag, plural, public
from gradedeval.kernel import MEASURES, Column, Document, Layout, Measure, Setting, Table, parse_measures, ranges
from gradedeval.questions import weights as weighing
from gradedeval.questions.fit import (
    NORMALIZE,
    MeasureRange,
    Normalize,
    check_total,
    divergence,
    fit_weights,
    read_ranges,
)

if TYPE_CHECKING:
    import pandas as pd


MU, PAGE, RANKS = 5, 10, 50
LOG_RANKS = kernel.ranges.Number("--ranks", whole=True, minimum=1, maximum=LAST_RANK)
PAST_THE_LAST_PAGE = 1e-8
"""Share of users that go on past the last page with a click."""

CELLS = 1 << 21
"""Maximum users × ranks processed at a time."""


class Pages(NamedTuple):
    """Pages of results from the first: the sessions with the last click there, the sessions with it there or further
    down, and the share of these that go on to the next page."""

    last: Ints
    reached: Ints
    share: Floats


Mu = Annotated[float, Setting("Dirichlet smoothing of a user's gaps by those of all users, in clicks.",
    ranges.MU, metavar="X", short="Smoothing of a user's gaps, in clicks.")]  # fmt: skip
Page = Annotated[int, Setting("Ranks on a page of results; 0: no pages.", ranges.PAGE, metavar="N")]
Ranks = Annotated[int | None, Setting("Weigh ranks 1 to N.", LOG_RANKS, metavar="N", default_text="the length "
    f"of the longest list, or {RANKS} if the log shows none")]  # fmt: skip
Clickless = Annotated[Literal["count", "drop"], Setting("How to treat sessions without clicks.",
    default_text="count; their user examined rank 1")]  # fmt: skip
Per = Annotated[Literal["query", "user"] | None, Setting("Estimate a model for each query or user, instead of one of "
    "all.", short="A model for each query or user.")]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Observation(FromLog):
    """Examination probabilities of ranks.

    frame      rank, weight, observed: `observed` is the probability of examination, and weights are these scaled to sum
               1 over the ranks. With `per`, first the topic or the user
    gaps       P(gap ≥ i) of all clicks, for i = 1, 2, … up to the largest
    pages      last clicks by page; None without pages
    settings   settings of the estimate
    notes      notes for the user
    """

    frame: pd.DataFrame
    gaps: Floats
    pages: Pages | None
    settings: str
    notes: list[str]

    @property
    def weights(self) -> Floats:
        """The weight of rank 1, 2, …"""
        return np.asarray(self.frame["weight"].to_numpy(), dtype=np.float64)

    def document(self, layout: Layout) -> Document:
        """Return the weights; for programs those of all users, with gaps and pages in the head of JSON."""
        whole, *_ = names = list(self.frame.columns)
        weights = [Column("rank", "count"), Column("weight", "score"), Column("observed", "score")]
        if whole != "rank":
            return frame_document(self.frame, layout, plain_columns(Column(whole), *weights), self.settings)
        pages = [] if self.pages is None else list(zip(*map(np.ndarray.tolist, self.pages), strict=True))
        if layout == "long":
            named = [dict(zip(("last_clicks", "reached", "share"), row, strict=True)) for row in pages]
            head: dict[str, Any] = {"gaps": self.gaps.tolist(), "pages": named}
            return Document([kernel.results.to_table(self.frame[["rank", "weight"]])], self.settings, head=head)
        gaps = [[gap, share] for gap, share in enumerate(self.gaps.tolist(), 1)]
        weighed = self.frame[names][: 1 + np.flatnonzero(self.weights).max(initial=-1)]
        blocks: list[Table | str] = [
            Table(weights, kernel.results.to_table(weighed).rows),
            Table([Column("gap", "count"), Column("P(gap >= it)", "score")], gaps),
        ]
        if pages:
            counts = [Column(name, "count") for name in ("page", "last clicks", "reached")]
            rows = [[page, *row] for page, row in enumerate(pages, 1)]
            blocks.append(Table([*counts, Column("go on", "score")], rows))
        return Document(blocks, self.settings)


@public
def observe(
    log: Any,
    *,
    mu: Mu = MU,
    page: Page = PAGE,
    ranks: Ranks = None,
    clickless: Clickless = "count",
    per: Per = None,
) -> Observation:
    """Estimate the observation model of a click log: the probability that users examine each rank.

    log        as for `read_log`, or its result
    mu         weight of the gaps of all users in the gaps of one user, in clicks
    page       ranks on a page of results; 0: no pages
    ranks      number of ranks with a weight; None: the length of the longest list, or 50 if the log shows none
    clickless  "count" or "drop" sessions without a click
    per        "query" or "user": a model for each; None: one of all users

    A user who clicked rank L examined ranks 1 to L, and each further rank i with the probability that a gap between
    clicks is that long, less the share of users who stop at the ends of pages between L and i. It is averaged over the
    sessions of a user, then over users. It describes attention, and is not an estimate of a measure's parameter. Raises
    InputError if the log has no click. Zhang et al., Information Retrieval 2010, section 4.

    >>> observation = gradedeval.clicks.observe("qrels_samples/zhang-clicks.tsv")
    >>> observation.frame.head(5).round(4)
       rank  weight  observed
    0     1  0.0823    1.0000
    1     2  0.0823    1.0000
    2     3  0.0823    1.0000
    3     4  0.0823    1.0000
    4     5  0.0787    0.9565
    """
    log = read_log(log)
    mu, page, ranks = ranges.MU.check(mu), ranges.PAGE.check(page), LOG_RANKS.check_or_none(ranks)
    check_choice(clickless, ("count", "drop"), flag.clickless)
    if per is not None:
        check_choice(per, ("query", "user"), flag.per)
    if not (log.clicks[log.pattern] > 0).any():
        raise InputError(log.place, "no click in any session", "nothing can be observed without clicks")
    depth = ranks or int(log.lengths.max(initial=0)) or RANKS
    model = _Model(log, mu, page, depth)
    rows, notes = _select_sessions(log, per, clickless)
    names = [""] if per is None else _topics(log)[0] if per == "query" else list(log.users)
    observed = model.mean(rows, len(names))
    kept = np.flatnonzero(np.bincount(rows.outer, minlength=len(names)))
    observed, names = observed[kept], [names[index] for index in kept.tolist()]
    settings = _settings(log, mu, page, clickless, depth)
    return Observation(_frame(observed, names, per), model.gaps, model.pages, settings, emit_notes(notes))


class _Sessions(NamedTuple):
    """Sessions of one user with one last click, in a group: a query, a user or all.

    outer   index of the query or user
    reader  index of the user; after the users, index of the pattern of clicks of separate users
    """

    outer: Ints
    reader: Ints
    last: Ints
    sessions: Ints

    def select(self, chosen: Any) -> _Sessions:
        return _Sessions(*(column[chosen] for column in self))


def _reader_of_row(log: ClickLog) -> Ints:
    """Return for each row the user of its gaps. Separate users with equal clicks are equal."""
    separate = len(log.users) + log.pattern
    return separate if log.user is None else np.where(log.user >= 0, log.user, separate)


def _select_sessions(log: ClickLog, per: str | None, clickless: str) -> tuple[_Sessions, list[str]]:
    """Return the sessions to average, and notes."""
    outer = np.zeros(len(log.count), dtype=np.int64)
    if per == "query":
        outer = _topics(log)[1][log.configuration]
    elif per == "user":
        if log.user is None:
            raise InputError(f"{flag.per:user}", f"{log.place} has no users", "add the column user", usage=True)
        outer = log.user
    keys, sessions = collapse([_reader_of_row(log), outer, log.last_click[log.pattern]], log.count)
    rows, notes = _Sessions(keys[1], keys[0], keys[2], sessions), list(log.notes)
    if clickless == "drop":
        rows = rows.select(rows.last > 0)
    if per == "user" and (rows.outer < 0).any():
        notes.append(f"{log.place}: sessions without a user are left out")
        rows = rows.select(rows.outer >= 0)
    return rows, notes


def _topics(log: ClickLog) -> tuple[list[str], Ints]:
    """Return the topics, and the index of the topic of each configuration."""
    codes: dict[str, int] = {}
    topic_of = np.array([codes.setdefault(topic, len(codes)) for topic in log.topics], dtype=np.int64)
    return list(codes), topic_of


class _Model:
    """The gaps of all users together, and of each user."""

    def __init__(self, log: ClickLog, mu: float, page: int, depth: int) -> None:
        self.mu, self.depth, self.page, self.named = mu, depth, page, len(log.users)
        pattern, rank = log.flat_clicks
        gap = np.diff(rank, prepend=0)
        first = np.append(True, pattern[1:] != pattern[:-1])[: len(gap)]
        gap[first] = rank[first]
        begin = np.cumsum(log.clicks) - log.clicks
        (reader, clicked), sessions = collapse([_reader_of_row(log), log.pattern], log.count)
        clicks_of_row = log.clicks[clicked]
        # Each click of each pattern of each reader.
        self.reader = np.repeat(reader, clicks_of_row)
        self.gap = gap[arrays.ranges(begin[clicked], clicks_of_row)]
        each = np.repeat(sessions, clicks_of_row)
        self.weight = each / np.repeat(np.maximum(clicks_of_row, 1), clicks_of_row)
        self.clicks = np.bincount(reader, sessions * clicks_of_row, minlength=self.named + len(log.patterns))
        self.sessions = np.bincount(reader, sessions, minlength=self.named + len(log.patterns))
        self.gaps = _tail_shares(np.bincount(self.gap, each)[None, 1:])[0]
        self.everyone = np.pad(self.gaps[:depth], (0, max(0, depth - len(self.gaps))))
        last = collapse([log.last_click[log.pattern]], log.count)
        self.pages = _pages(last[0][0], last[1], page) if page else None

    def smooth_gaps(self, begin: int, end: int) -> Floats:
        """Return readers begin to end × i = 1, 2, …: P(gap ≥ i) of each, smoothed by the gaps of all users."""
        end = min(end, len(self.sessions))
        low, high = np.searchsorted(self.reader, [begin, end]).tolist()
        row, gap = self.reader[low:high] - begin, np.minimum(self.gap[low:high], self.depth) - 1
        size = (end - begin) * self.depth
        counted = np.bincount(row * self.depth + gap, self.weight[low:high], minlength=size)
        # Separate users with equal clicks share a row, but each has the clicks of one session.
        alike = np.where(np.arange(begin, end) < self.named, 1, np.maximum(self.sessions[begin:end], 1))
        clicks = self.clicks[begin:end] / alike
        alpha = clicks / np.where(clicks + self.mu > 0, clicks + self.mu, 1)
        gaps = _tail_shares(counted.reshape(-1, self.depth))
        mixed: Floats = alpha[:, None] * gaps + (1 - alpha)[:, None] * self.everyone
        return mixed

    def continuation(self, last: int) -> Floats:
        """Return for each rank the share of users with last click `last` that continue past the ends of pages."""
        if self.pages is None:
            return np.ones(self.depth)
        reached = self.pages.reached
        page = -(-np.arange(1, self.depth + 1) // self.page)
        beyond = np.maximum(page - len(reached), 0)
        reached_there = reached[np.minimum(page, len(reached)) - 1] * PAST_THE_LAST_PAGE**beyond
        return np.asarray(reached_there / reached[-(-max(last, 1) // self.page) - 1])

    def mean(self, rows: _Sessions, size: int) -> Floats:
        """Return outer × ranks: P(observed), the mean over the sessions of each user, then over users."""
        (pair_outer, pair_reader), inside = collapse([rows.outer, rows.reader], rows.sessions)
        users = np.bincount(pair_outer, np.where(pair_reader < self.named, 1, inside), minlength=size)
        readers = len(self.sessions)
        pair = np.searchsorted(pair_outer * readers + pair_reader, rows.outer * readers + rows.reader)
        of_user = np.where(rows.reader < self.named, inside[pair], 1)
        share = rows.sessions / of_user / users[rows.outer]
        total, most = np.zeros((size, self.depth)), max(1, CELLS // self.depth)
        for begin in range(0, len(self.sessions), most):
            low, high = np.searchsorted(rows.reader, [begin, begin + most]).tolist()
            smoothed = self.smooth_gaps(begin, begin + most) if low < high else np.zeros((0, 0))
            for last in np.unique(rows.last[low:high]).tolist():
                here, seen = low + np.flatnonzero(rows.last[low:high] == last), min(last, self.depth)
                for some in (here[begin_part : begin_part + most] for begin_part in range(0, len(here), most)):
                    looked, below = np.ones((len(some), self.depth)), self.continuation(last)[seen:]
                    looked[:, seen:] = smoothed[rows.reader[some] - begin, : self.depth - seen] * below
                    _add_rows(total, rows.outer[some], share[some, None] * looked)
        return total


def _tail_shares(counted: Any) -> Floats:
    """Return rows × 1, 2, …: the share of the row's sum from there on; 0 if the sum is 0."""
    sums = np.cumsum(counted[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(sums / np.where(sums[:, :1] > 0, sums[:, :1], 1))


def _add_rows(total: Floats, index: Ints, added: Floats) -> None:
    """Add rows to the rows of `total` with these indices."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    total[ordered[first]] += np.add.reduceat(added[order], first, axis=0)


def _pages(last: Ints, sessions: Ints, page: int) -> Pages:
    """Count last clicks by page; sessions without a click are on no page."""
    clicked = last > 0
    counts = np.bincount(-(-last[clicked] // page) - 1, sessions[clicked]).astype(np.int64)
    reached = np.cumsum(counts[::-1])[::-1]
    share = np.append(reached[1:] / reached[:-1], PAST_THE_LAST_PAGE)
    return Pages(counts, reached, share)


def _frame(observed: Floats, names: list[str], per: str | None) -> pd.DataFrame:
    depth = observed.shape[1]
    weight = observed / observed.sum(axis=1, keepdims=True)
    columns: dict[str, Any] = {}
    if per is not None:
        columns["topic" if per == "query" else "user"] = [name for name in names for _ in range(depth)]
    columns["rank"] = np.tile(np.arange(1, depth + 1), len(names))
    return kernel.results.to_frame({**columns, "weight": weight.ravel(), "observed": observed.ravel()})


def _settings(log: ClickLog, mu: float, page: int, clickless: str, depth: int) -> str:
    """Describe the settings of the model."""
    clicks_of_row = log.clicks[log.pattern]
    clicks, without = int((clicks_of_row * log.count).sum()), int(log.count[clicks_of_row == 0].sum())
    parts = [
        f"{log.sessions} {plural(log.sessions, 'session')}",
        f"{without} without a click {'counted' if clickless == 'count' else 'left out'}",
        f"{len(log.users)} {plural(len(log.users), 'user')}" if log.user is not None else "each a user of its own",
        f"{clicks} {plural(clicks, 'click')}",
        f"mu {mu:g}",
        f"{page} ranks a page" if page else "no pages",
        "gaps by session",
        f"sum 1 over {depth} {plural(depth, 'rank')}",
    ]
    return " | ".join(parts)


# Weights of measures and files compared with an observation.


PRECISION = 0.001
AS_IN = f"for example {flag.measures:'rbp(p=0.05..0.99)'}"

Weighing = str | Measure | MeasureRange
"""A measure, a measure with a range of parameter values, or text with measures of both kinds."""


def read_weighing(
    measures: Weighing | Sequence[Weighing] | None,
    table: Mapping[str, Measure] = MEASURES,
    cutoff: int | None = None,
) -> list[Measure | MeasureRange] | None:
    """Return measures, with `cutoff` by default, first those with a range. Raises InputError (usage)."""
    if measures is None:
        return None
    items = [measures] if isinstance(measures, Weighing) else measures
    words = [*chain(*(kernel.notation.split_words(item) if isinstance(item, str) else [item] for item in items))]
    ranges = [word for word in words if isinstance(word, str) and ".." in word]
    searched = read_ranges(ranges, table, cutoff) if ranges else []
    plain = [word for word in words if word not in ranges]
    parsed = [parse_measures(word, table, cutoff) if isinstance(word, str) else [word] for word in plain]
    return [*searched, *chain.from_iterable(parsed)]


MeasuresSetting = Annotated["Weighing | Sequence[Weighing] | None", Setting(
    "Measure with a range of parameter values, or "
    "without one. Default: geometric, Poisson, Zipf and log-harmonic weights. Repeat -m, or separate measures by "
    "spaces.", metavar="MEASURE", section="Measures and gains", spelled=("-m", "--measure"),
    measure=read_weighing, short="Measure, with a range of values or without.")]  # fmt: skip
NormalizeSetting = Annotated[Normalize, Setting(
    "'sum': scale the weights of measures over the ranks of the observation to sum "
    "to 1; 'none': compare them unscaled.", short="Scale the weights of measures to sum to 1.")]  # fmt: skip
WeightsSetting = Annotated[Any, Setting(
    "Compare with these weights too: a column for each measure, as `gradedeval weights` "
    "writes.", metavar="FILE.csv", spelled=("--weights",), reads=True,
    short="Compare with these weights too.")]  # fmt: skip
Precision = Annotated[float, Setting("Precision of the fitted values.", ranges.PRECISION, "X")]


@dataclass(frozen=True, eq=False)
class Fits(FromLog):
    """Divergences of the weights of measures from an observation model.

    frame     a row for each measure, the closest first: measure (in the notation of `-m`), parameter and value (if
              searched), divergence (Kullback–Leibler, in nats; infinite if an examined rank weighs nothing), low and
              high (the range of values within 0.001 nats), scaled (whether to sum 1 over these ranks), covered (the sum
              of the unscaled weights)
    curves    rank, observation, and the compared weights of each row of `frame`, under its measure
    settings  settings of the comparison and of the observation
    notes     notes for the user
    """

    frame: pd.DataFrame
    curves: pd.DataFrame
    settings: str
    notes: list[str]

    def document(self, layout: Layout) -> Document:
        """Return a row for each measure, the closest first."""
        scaled = [] if self.frame["scaled"].nunique() < 2 else [Column("scaled")]
        columns: DisplayColumns = {
            **plain_columns(Column("measure"), *scaled),
            Column("KL (nats)", "score"): itemgetter("divergence"),
            Column("within 0.001", "figures"): format_range,
            **plain_columns(Column("covered", "score")),
        }
        return frame_document(self.frame, layout, columns, self.settings)


def read_observation(
    source: Any,
    *,
    mu: Mu = MU,
    page: Page = PAGE,
    ranks: Ranks = None,
    clickless: Clickless = "count",
    clicks_as: ClicksAs = "rank",
    depth: Depth = None,
    idle: Idle = None,
    lenient: Lenient = False,
) -> Observation:
    """Read a click log and estimate its observation model."""
    log = read_log(source, clicks_as=clicks_as, depth=depth, idle=idle, lenient=lenient)
    return observe(log, mu=mu, page=page, ranks=ranks, clickless=clickless)


@public
def fit(
    log: Any,
    measures: MeasuresSetting = None,
    *,
    normalize: NormalizeSetting = "sum",
    weights: WeightsSetting = None,
    precision: Precision = PRECISION,
    **observing: Any,
) -> Fits:
    """Find the measures whose rank weights are closest to the examination probabilities of a click log.

    log        as for `observe`, or its result
    measures   with a range, as in "rbp(p=0.05..0.99)", or without one; None: geometric, Poisson, Zipf and log-harmonic
    normalize  "sum": scale the weights of measures to sum 1 over the ranks of the observation; "none": compare them
               unscaled
    weights    further weights to compare, scaled to sum 1: a file written by `gradedeval weights`, or a DataFrame with
               the columns rank and one for each vector
    precision  precision of the fitted values
    observing  the keywords of `observe`

    Close weights describe examination; they do not estimate a parameter of the users, as `models` does.
    Zhang et al., Information Retrieval 2010, section 5.2. Raises InputError as `observe` and `fit_weights` do.

    >>> log, measures = "qrels_samples/zhang-clicks.tsv", "rbp(p=0.05..0.99) poisson(alpha=1..20)"
    >>> gradedeval.clicks.fit(log, measures, precision=0.01).frame[["measure", "divergence"]].round(3)
                   measure  divergence
    0          rbp(p=0.88)       0.123
    1  poisson(alpha=7.09)       1.034
    """
    if isinstance(log, Observation) and observing:
        raise InputError("log", "is observed already", f"leave out {', '.join(observing)}", usage=True)
    observation = log if isinstance(log, Observation) else observe(log, **observing)
    chosen = read_weighing(families(observation) if measures is None else measures) or []
    return fit_observation(observation, chosen, normalize, weights, precision)


def families(observation: Observation) -> str:
    """Return the static models of Zhang et al., table 3: geometric, Poisson, Zipf and log-harmonic."""
    ranks = len(observation.weights)
    return f"rbp(p=0.05..0.99) poisson(alpha=0.1..20) zipf(beta=0.05..5)@{ranks} logharmonic(b=2..40)@{ranks}"


def fit_observation(
    observation: Observation,
    chosen: Sequence[Measure | MeasureRange],
    normalize: Normalize,
    weights: Any,
    precision: float,
) -> Fits:
    """Compare parsed measures and weights with an observation, as `fit` does."""
    check_choice(normalize, NORMALIZE, flag.normalize)
    if observation.frame.columns[0] != "rank":
        raise InputError(flag.per, "weights are fitted to one model of all", "leave it out", usage=True)
    observed = observation.weights
    searched = [item for item in chosen if isinstance(item, MeasureRange)]
    fixed = [item for item in chosen if not isinstance(item, MeasureRange)]
    rows: list[tuple[dict[str, Any], Floats]] = []
    notes: list[str] = []
    scaled = normalize == "sum"
    if searched:
        fitted = fit_weights(observed, searched, normalize=normalize, precision=precision)
        notes += fitted.notes
        for search_range, row in zip(searched, kernel.results.to_rows(fitted.frame), strict=True):
            nearest = search_range.at(row["value"])
            row["measure"], row["scaled"] = str(nearest), scaled
            rows.append((row, weighing.static_weights(nearest, len(observed), tried=True)))
    for measure in fixed:
        vector = _fixed(measure, len(observed))
        if not scaled:
            check_total(measure, float(vector.sum()))
        rows.append((_row(str(measure), vector, observed, scaled, notes), vector))
    rows += [(_row(name, vector, observed, True, notes), vector) for name, vector in _vectors(weights, len(observed))]
    if not rows:
        raise InputError("", "no measure and no weights given", AS_IN, usage=True)
    rows.sort(key=lambda row: float(row[0]["divergence"]))
    frame = kernel.results.to_frame([row for row, _ in rows], columns=list(COLUMNS))
    curves = {"rank": np.arange(1, len(observed) + 1), "observation": observed}
    for row, vector in rows:
        curves[row["measure"]] = vector / row["covered"] if row["scaled"] else vector
    over = f"over {len(observed)} {plural(len(observed), 'rank')}"
    scaling = f"weights scaled to sum 1 {over}, as the observation is"
    if not scaled:
        scaling = f"the observation scaled to sum 1 {over}, weights as they are"
    notes = [*observation.notes, *emit_notes(notes)]
    return Fits(frame, kernel.results.to_frame(curves), f"{scaling}\n{observation.settings}", notes)


COLUMNS = ("measure", "parameter", "value", "divergence", "low", "high", "scaled", "covered")


def _fixed(measure: Measure, depth: int) -> Floats:
    try:
        return weighing.static_weights(measure, depth)
    except InputError as error:
        if not measure.definition.weights_in_ranking:
            raise
        written = f"as `gradedeval weights RUN... QRELS -m {measure}` writes them"
        hint = f"give its weights over runs with {flag.weights}, {written}"
        raise error.replace(hint=hint) from None


def _row(name: str, weights: Floats, observed: Floats, scaled: bool, notes: list[str]) -> dict[str, Any]:
    """Return the row of weights with their divergence; a note names the rank if it is infinite."""
    covered = float(weights.sum())
    distance = divergence(observed, weights / covered if scaled and covered > 0 else weights)
    if np.isinf(distance):
        rank = int(np.flatnonzero((observed > 0) & (weights <= 0))[0]) + 1
        notes.append(f"{name}: infinitely far, because users examine rank {rank}, which weighs nothing")
    return dict(zip(COLUMNS, (name, None, None, distance, None, None, scaled, covered), strict=True))


def _vectors(weights: Any, depth: int) -> Iterator[tuple[str, Floats]]:
    """Yield the columns of weights from rank 1 on; missing ranks weigh nothing."""
    if weights is None:
        return
    hint = "expected a header of rank and names of measures, as `weights` writes"
    table = small_table_of(weights, ["rank"], "weights", hint)
    for name in [name for name in (table.rows[0].cells if table.rows else ()) if name != "rank"]:
        values, vector = table.by_rank(name), np.zeros(depth)
        vector[: len(values)] = values[:depth]
        if not vector.any():
            raise InputError(name, f"no weight above 0 down to rank {depth}", "observe more ranks", usage=True)
        yield name, vector
