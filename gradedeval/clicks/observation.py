"""What users look at, estimated from where they click: gaps between clicks, the last click, and ends of pages.

Zhang, Park & Moffat, Information Retrieval 2010, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from gradedeval import kernel
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
from gradedeval.kernel import (
    MEASURES,
    Column,
    Document,
    Layout,
    Measure,
    Setting,
    Table,
    parse_measures,
    ranges,
)
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
"""What a page boundary leaves that no click has been seen beyond."""

CELLS = 1 << 21
"""Users × ranks that are worked on at a time."""


class Pages(NamedTuple):
    """Pages of results, from the first: of how many sessions each has the last click, how many sessions have it there
    or further on, and the share of these that go on to the next page."""

    last: Ints
    reached: Ints
    share: Floats


Mu = Annotated[float, Setting("Dirichlet smoothing of a user's gaps by those of all users, in clicks.",
    ranges.MU, metavar="X")]  # fmt: skip
Page = Annotated[int, Setting("Ranks on a page of results; 0: no pages.", ranges.PAGE, metavar="N")]
Ranks = Annotated[int | None, Setting("Weigh ranks 1 to N.", LOG_RANKS, metavar="N", default_text="as many as the "
    f"longest list, or {RANKS} where the log shows none")]  # fmt: skip
Clickless = Annotated[Literal["count", "drop"], Setting("How to treat sessions without clicks.",
    default_text="count; their user examined rank 1")]  # fmt: skip
Per = Annotated[Literal["query", "user"] | None, Setting("A model for each query or user, instead of one of all.")]


@dataclass(frozen=True, eq=False)
class Observation(FromLog):
    """How likely users are to look at each rank.

    frame      rank, weight, observed: the weights sum to 1 over the ranks, `observed` is the probability that they are
               made of. With `per`, first the topic or the user
    gaps       P(gap ≥ i) of all clicks, for i = 1, 2, … up to the largest
    pages      where last clicks are, page by page; None without pages
    settings   how it was estimated
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
        """Of all users the weights alone for programs, so that measures read them, with the gaps and the pages beside
        them in JSON. People see ranks down to the last that has a weight."""
        whole, *_ = names = list(self.frame.columns)
        weights = [Column("rank", "count"), Column("weight", "score"), Column("observed", "score")]
        if whole != "rank":
            return frame_document(self.frame, layout, plain_columns(Column(whole), *weights), self.settings)
        pages = (
            [] if self.pages is None else [list(row) for row in zip(*map(np.ndarray.tolist, self.pages), strict=True)]
        )
        if layout == "long":
            named = [dict(zip(("last_clicks", "reached", "share"), row, strict=True)) for row in pages]
            head: dict[str, Any] = {"gaps": self.gaps.tolist(), "pages": named}
            return Document([kernel.results.to_table(self.frame[["rank", "weight"]])], self.settings, head=head)
        gaps = [[gap, share] for gap, share in enumerate(self.gaps.tolist(), 1)]
        blocks: list[Table | str] = [
            Table(
                weights,
                kernel.results.to_table(self.frame[names][: 1 + np.flatnonzero(self.weights).max(initial=-1)]).rows,
            ),
            Table([Column("gap", "count"), Column("P(gap >= it)", "score")], gaps),
        ]
        if pages:
            columns = [
                *(Column(name, "count") for name in ("page", "last clicks", "reached")),
                Column("go on", "score"),
            ]
            blocks.append(Table(columns, [[page, *row] for page, row in enumerate(pages, 1)]))
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
    """The observation model of a click log: how likely users are to look at each rank.

    log        as for `read_log`, or what it returned
    mu         weight of all users' gaps in those of one user, in clicks
    page       ranks on a page of results; 0: there are no pages
    ranks      how many ranks get a weight; None: as many as the longest list, or 50 where the log shows none
    clickless  "count" or "drop" sessions without a click
    per        "query" or "user": a model for each; None: one of all users

    A user who clicked rank L examined ranks 1 to L, and each further rank i with the probability that a gap between
    clicks is that long, less what the ends of pages between L and i hold back. It is averaged over the sessions of a
    user, then over users. It describes attention, and is not an estimate of a measure's parameter. Raises InputError
    where the log has no click. Zhang et al., Information Retrieval 2010, section 4.

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
    rows, notes = _rows(log, per, clickless)
    names = _names(log, per)
    observed = model.mean(rows, len(names))
    kept = np.flatnonzero(np.bincount(rows.outer, minlength=len(names)))
    observed, names = observed[kept], [names[index] for index in kept.tolist()]
    settings = _settings(log, mu, page, clickless, depth)
    return Observation(_frame(observed, names, per), model.gaps, model.pages, settings, emit_notes(notes))


class _Rows(NamedTuple):
    """Sessions of one user, with one last click, in what is averaged over: a query, a user or all.

    outer   which query, or which user
    reader  index of the user; after the users, index of the pattern of clicks of those who are users of their own
    """

    outer: Ints
    reader: Ints
    last: Ints
    sessions: Ints

    def only(self, chosen: Any) -> _Rows:
        return _Rows(*(column[chosen] for column in self))


def _readers(log: ClickLog) -> Ints:
    """rows: whose habits a session shows. Sessions that are users of their own are alike where their clicks are."""
    own = len(log.users) + log.pattern
    return own if log.user is None else np.where(log.user >= 0, log.user, own)


def _rows(log: ClickLog, per: str | None, clickless: str) -> tuple[_Rows, list[str]]:
    """The sessions that are averaged, and what is to be said of them."""
    outer = np.zeros(len(log.count), dtype=np.int64)
    if per == "query":
        outer = _topics(log)[1][log.configuration]
    elif per == "user":
        if log.user is None:
            raise InputError(f"{flag.per:user}", f"{log.place} has no users", "add the column user", usage=True)
        outer = log.user
    keys, sessions = collapse([_readers(log), outer, log.last_click[log.pattern]], log.count)
    rows, notes = _Rows(keys[1], keys[0], keys[2], sessions), list(log.notes)
    if clickless == "drop":
        rows = rows.only(rows.last > 0)
    if per == "user" and (rows.outer < 0).any():
        notes.append(f"{log.place}: sessions without a user are left out")
        rows = rows.only(rows.outer >= 0)
    return rows, notes


def _topics(log: ClickLog) -> tuple[list[str], Ints]:
    """The topics, and which of them each configuration is of."""
    codes: dict[str, int] = {}
    of = np.array([codes.setdefault(topic, len(codes)) for topic in log.topics], dtype=np.int64)
    return list(codes), of


def _names(log: ClickLog, per: str | None) -> list[str]:
    return [""] if per is None else _topics(log)[0] if per == "query" else list(log.users)


class _Model:
    """What all users have in common, and the habits of each."""

    def __init__(self, log: ClickLog, mu: float, page: int, depth: int) -> None:
        self.mu, self.depth, self.page, self.named = mu, depth, page, len(log.users)
        pattern, rank = log.flat_clicks
        gap = np.diff(rank, prepend=0)
        first = np.append(True, pattern[1:] != pattern[:-1])[: len(gap)]
        gap[first] = rank[first]
        begin = np.cumsum(log.clicks) - log.clicks
        (reader, clicked), sessions = collapse([_readers(log), log.pattern], log.count)
        made = log.clicks[clicked]
        # Each click of each pattern of each reader.
        self.reader = np.repeat(reader, made)
        within = np.arange(int(made.sum())) - np.repeat(np.cumsum(made) - made, made)
        self.gap = gap[np.repeat(begin[clicked], made) + within]
        each = np.repeat(sessions, made)
        self.weight = each / np.repeat(np.maximum(made, 1), made)
        self.clicks = np.bincount(reader, sessions * made, minlength=self.named + len(log.patterns))
        self.own = np.bincount(reader, sessions, minlength=self.named + len(log.patterns))
        self.gaps = _at_least(np.bincount(self.gap, each)[None, 1:])[0]
        everyone = np.zeros(depth)
        everyone[: len(self.gaps)] = self.gaps[:depth]
        self.everyone = everyone
        last = collapse([log.last_click[log.pattern]], log.count)
        self.pages = _pages(last[0][0], last[1], page) if page else None

    def smoothed(self, begin: int, end: int) -> Floats:
        """readers begin to end × i = 1, 2, …: P(gap ≥ i) of each, mixed with that of everybody."""
        end = min(end, len(self.own))
        low, high = np.searchsorted(self.reader, [begin, end]).tolist()
        row, gap = self.reader[low:high] - begin, np.minimum(self.gap[low:high], self.depth) - 1
        size = (end - begin) * self.depth
        counted = np.bincount(row * self.depth + gap, self.weight[low:high], minlength=size)
        # A session that is a user of its own has its own clicks only, however many sessions are like it.
        alike = np.where(np.arange(begin, end) < self.named, 1, np.maximum(self.own[begin:end], 1))
        clicks = self.clicks[begin:end] / alike
        alpha = clicks / np.where(clicks + self.mu > 0, clicks + self.mu, 1)
        own = _at_least(counted.reshape(-1, self.depth))
        mixed: Floats = alpha[:, None] * own + (1 - alpha)[:, None] * self.everyone
        return mixed

    def kept(self, last: int) -> Floats:
        """ranks: the share of those whose last click is at `last` that the ends of pages let through."""
        if self.pages is None:
            return np.ones(self.depth)
        reached = self.pages.reached
        page = -(-np.arange(1, self.depth + 1) // self.page)
        beyond = np.maximum(page - len(reached), 0)
        at = reached[np.minimum(page, len(reached)) - 1] * PAST_THE_LAST_PAGE**beyond
        return np.asarray(at / reached[-(-max(last, 1) // self.page) - 1])

    def mean(self, rows: _Rows, size: int) -> Floats:
        """outer × ranks: P(observed), the mean over the sessions of each user, then over users."""
        (pair_outer, pair_reader), inside = collapse([rows.outer, rows.reader], rows.sessions)
        users = np.bincount(pair_outer, np.where(pair_reader < self.named, 1, inside), minlength=size)
        pair = np.searchsorted(pair_outer * len(self.own) + pair_reader, rows.outer * len(self.own) + rows.reader)
        of_user = np.where(rows.reader < self.named, inside[pair], 1)
        share = rows.sessions / of_user / users[rows.outer]
        total, most = np.zeros((size, self.depth)), max(1, CELLS // self.depth)
        for begin in range(0, len(self.own), most):
            low, high = np.searchsorted(rows.reader, [begin, begin + most]).tolist()
            smoothed = self.smoothed(begin, begin + most) if low < high else np.zeros((0, 0))
            for last in np.unique(rows.last[low:high]).tolist():
                here, seen = low + np.flatnonzero(rows.last[low:high] == last), min(last, self.depth)
                for some in (here[at : at + most] for at in range(0, len(here), most)):
                    looked = np.ones((len(some), self.depth))
                    looked[:, seen:] = smoothed[rows.reader[some] - begin, : self.depth - seen] * self.kept(last)[seen:]
                    _add_rows(total, rows.outer[some], share[some, None] * looked)
        return total


def _at_least(counted: Any) -> Floats:
    """rows × 1, 2, …: the share of the whole row from there on; 0 where the row is."""
    sums = np.cumsum(counted[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(sums / np.where(sums[:, :1] > 0, sums[:, :1], 1))


def _add_rows(total: Floats, where: Ints, added: Floats) -> None:
    """Add rows to those of the total that they belong to."""
    order = np.argsort(where, kind="stable")
    ordered = where[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    total[ordered[first]] += np.add.reduceat(added[order], first, axis=0)


def _pages(last: Ints, sessions: Ints, page: int) -> Pages:
    """Where last clicks are; sessions without a click are on no page."""
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
    """How the model was made, in words."""
    made = log.clicks[log.pattern]
    clicks, without = int((made * log.count).sum()), int(log.count[made == 0].sum())
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


# Which weights of ranks are nearest to what users look at: those of measures with a parameter, and given ones.


PRECISION = 0.001
AS_IN = f"for example {flag.measures:'rbp(p=0.05..0.99)'}"

Weighing = str | Measure | MeasureRange
"""What weighs ranks: a measure, or one with a range of parameter values; or several of these as text."""


def read_weighing(
    measures: Weighing | Sequence[Weighing] | None,
    table: Mapping[str, Measure] = MEASURES,
    cutoff: int | None = None,
) -> list[Measure | MeasureRange] | None:
    """Return measures, first those with a range; None if `measures` is None. Raises InputError (usage) for an unknown
    measure.

    cutoff  of the measures that have none
    """
    if measures is None:
        return None
    given = [measures] if isinstance(measures, Weighing) else measures
    words = [word for one in given for word in (kernel.notation.split_words(one) if isinstance(one, str) else [one])]
    ranges = [word for word in words if isinstance(word, str) and ".." in word]
    searched = read_ranges(ranges, table, cutoff) if ranges else []
    others = [word for word in words if word not in ranges]
    read = [parse_measures(word, table, cutoff) if isinstance(word, str) else [word] for word in others]
    fixed = [one for several in read for one in several]
    return [*searched, *fixed]


Weighings = Annotated["Weighing | Sequence[Weighing] | None", Setting("Measure with a range of parameter values, or "
    "without one. Default: geometric, Poisson, Zipf and log-harmonic weights. Repeat -m, or separate measures by "
    "spaces.", metavar="MEASURE", section="Measures and gains", spelled=("-m", "--measure"),
    measure=read_weighing)]  # fmt: skip
Scaled = Annotated[Normalize, Setting("'sum': scale the weights of measures over the ranks of the observation to sum "
    "to 1; 'none': compare them as they are.")]  # fmt: skip
Vectors = Annotated[Any, Setting("Compare with these weights too: a column for each measure, as `gradedeval weights` "
    "writes.", metavar="FILE.csv", spelled=("--weights",), reads=True)]  # fmt: skip
Precision = Annotated[float, Setting("Precision of the fitted values.", ranges.PRECISION, "X")]


@dataclass(frozen=True, eq=False)
class Fits(FromLog):
    """Measures and how near their weights are to an observation model.

    frame     a row for each, the closest first: measure (in the notation of `-m`), parameter and value (where one was
              searched), divergence (Kullback–Leibler, in nats; infinite where an examined rank weighs nothing),
              low and high (the range of values within 0.001 nats), scaled (whether to sum 1 over these ranks), covered
              (what the weights sum to as they are)
    curves    rank, observation, and the weights of each row of `frame` as they were compared, under its measure
    settings  how the weights were compared, and how the observation was made
    notes     notes for the user
    """

    frame: pd.DataFrame
    curves: pd.DataFrame
    settings: str
    notes: list[str]

    def document(self, layout: Layout) -> Document:
        """A row for each measure, the closest first."""
        both = [] if self.frame["scaled"].nunique() < 2 else [Column("scaled")]
        shown: DisplayColumns = {
            **plain_columns(Column("measure"), *both),
            Column("KL (nats)", "score"): itemgetter("divergence"),
            Column("within 0.001", "figures"): format_range,
            **plain_columns(Column("covered", "score")),
        }
        return frame_document(self.frame, layout, shown, self.settings)


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
    """What the users of a click log look at."""
    log = read_log(source, clicks_as=clicks_as, depth=depth, idle=idle, lenient=lenient)
    return observe(log, mu=mu, page=page, ranks=ranks, clickless=clickless)


@public
def fit(
    log: Any,
    measures: Weighings = None,
    *,
    normalize: Scaled = "sum",
    weights: Vectors = None,
    precision: Precision = PRECISION,
    **observing: Any,
) -> Fits:
    """The measures whose rank weights are closest to the examination probabilities of a click log.

    log        as for `observe`, or what that returned
    measures   with a range, as in "rbp(p=0.05..0.99)", or without one; None: geometric, Poisson, Zipf and log-harmonic
    normalize  "sum": the weights of measures are scaled to sum 1 over the ranks of the observation, which ends there as
               well; "none": they stay as they are
    weights    further weights to compare with, scaled to sum 1: a file that `gradedeval weights` writes, or a DataFrame
               with the columns rank and one for each vector
    precision  of a value
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
    """The static models of Zhang et al., table 3: geometric, Poisson, Zipf and log-harmonic."""
    ranks = len(observation.weights)
    return f"rbp(p=0.05..0.99) poisson(alpha=0.1..20) zipf(beta=0.05..5)@{ranks} logharmonic(b=2..40)@{ranks}"


def fit_observation(
    observation: Observation,
    chosen: Sequence[Measure | MeasureRange],
    normalize: Normalize,
    weights: Any,
    precision: float,
) -> Fits:
    """As `fit`, of measures that are read."""
    check_choice(normalize, NORMALIZE, flag.normalize)
    if observation.frame.columns[0] != "rank":
        raise InputError(flag.per, "weights are fitted to one model of all", "leave it out", usage=True)
    looked = observation.weights
    searched = [one for one in chosen if isinstance(one, MeasureRange)]
    fixed = [one for one in chosen if not isinstance(one, MeasureRange)]
    rows: list[tuple[dict[str, Any], Floats]] = []
    notes: list[str] = []
    scaled = normalize == "sum"
    if searched:
        found = fit_weights(looked, searched, normalize=normalize, precision=precision)
        notes += found.notes
        for range_, row in zip(searched, kernel.results.to_rows(found.frame), strict=True):
            nearest = range_.at(row["value"])
            row["measure"], row["scaled"] = str(nearest), scaled
            rows.append((row, weighing.static_weights(nearest, len(looked), tried=True)))
    for measure in fixed:
        vector = _fixed(measure, len(looked))
        if not scaled:
            check_total(measure, float(vector.sum()))
        rows.append((_row(str(measure), vector, looked, scaled, notes), vector))
    rows += [(_row(name, vector, looked, True, notes), vector) for name, vector in _vectors(weights, len(looked))]
    if not rows:
        raise InputError("", "no measure and no weights given", AS_IN, usage=True)
    rows.sort(key=lambda row: float(row[0]["divergence"]))
    frame = kernel.results.to_frame([row for row, _ in rows], columns=list(COLUMNS))
    curves = {"rank": np.arange(1, len(looked) + 1), "observation": looked}
    for row, vector in rows:
        curves[row["measure"]] = vector / row["covered"] if row["scaled"] else vector
    over = f"over {len(looked)} {plural(len(looked), 'rank')}"
    scaling = f"weights scaled to sum 1 {over}, as the observation is"
    if not scaled:
        scaling = f"the observation scaled to sum 1 {over}, weights as they are"
    notes = [*observation.notes, *emit_notes(notes)]  # the others are told
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


def _row(name: str, weights: Floats, looked: Floats, scaled: bool, notes: list[str]) -> dict[str, Any]:
    """The divergence of weights that are what they are; a note names the rank that makes it infinite."""
    covered = float(weights.sum())
    found = divergence(looked, weights / covered if scaled and covered > 0 else weights)
    if np.isinf(found):
        rank = int(np.flatnonzero((looked > 0) & (weights <= 0))[0]) + 1
        notes.append(f"{name}: infinitely far, because users examine rank {rank}, which weighs nothing")
    return dict(zip(COLUMNS, (name, None, None, found, None, None, scaled, covered), strict=True))


def _vectors(weights: Any, depth: int) -> Iterator[tuple[str, Floats]]:
    """The columns of weights, from rank 1 on; ranks that they lack weigh nothing."""
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
