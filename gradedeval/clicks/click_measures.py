"""Compute click measures of lists and correlate them with measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack

from gradedeval import arrays, kernel
from gradedeval.analysis import pictures, ranked_runs
from gradedeval.arrays import Bools, Floats, Ints, np
from gradedeval.clicks.click_models import NO_LIST
from gradedeval.clicks.log import ClickLog, ClicksAs, Depth, FromLog, Idle, Lenient, read_log
from gradedeval.errors import InputError, check_choice, did_you_mean, emit_notes, flag, plural, public, shorten
from gradedeval.kernel import Column, Document, Layout, Measure, OptionKwargs, Options, Setting, Table, encode, ranges
from gradedeval.questions import weights as weighing

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


# Lists of runs and logs as rankings that measures score.


def lists_of(runs: Mapping[str, Any], qrels: kernel.Qrels, options: Options, depth: int) -> tuple[ClickLog, list[str]]:
    """Return the distinct lists of runs by topic as a log without sessions, and the notes on the runs."""
    ranked = ranked_runs.rank_runs(runs, kernel.grade.Grader(qrels, replace(options, depth=depth)))
    lists: dict[tuple[str, tuple[str, ...]], None] = {}
    for run in ranked.runs:
        for number, topic in enumerate(ranked.names):
            documents = run.of_topic(number)
            if run.listed[number] and len(documents):
                lists[topic, tuple(ranked.docnos(documents).tolist())] = None
    if not lists:
        raise InputError("", "no run has a document for any topic", "give runs of the topics in the qrels")
    # A topic without documents in a run shows no list, unlike an empty ranking.
    notes = [note for note in ranked.notes if getattr(note, "kind", "") not in ("missing-topics", "empty-topics")]
    return log_of_lists([topic for topic, _ in lists], [ranking for _, ranking in lists]), notes


def log_of_lists(topics: list[str], rankings: list[tuple[str, ...]]) -> ClickLog:
    """Return a log of these lists without sessions."""
    none = np.empty(0, dtype=np.int64)
    return ClickLog(topics, rankings, [()], none, none, none)


def gains_of_lists(log: ClickLog, qrels: kernel.Qrels, measure: Measure, options: Options) -> kernel.gains.Gains:
    """Return the gains of the lists of a log, each as a ranking of its topic."""
    scorer = kernel.Scorer(qrels, [measure], options)
    return scorer.gains_cache(batch_of(log, scorer.grader.qrels))(scorer.tables[0], scorer.measures[0])


def batch_of(log: ClickLog, qrels: kernel.Qrels) -> kernel.Batch:
    """Return the lists of a log as rankings of their topics, joined with the judgments."""
    topics = [encode(topic) for topic in log.topics]
    labels, width = len(qrels.labels), max(map(len, log.shown), default=0)
    codes = np.full((len(topics), width), labels + 1, dtype=np.int64)
    for row, (topic, docnos) in enumerate(zip(topics, log.shown, strict=True)):
        code_of = qrels._text_codes.get(topic, {})
        codes[row, : len(docnos)] = [code_of.get(docno, labels) for docno in docnos]
    return kernel.Batch(topics, codes, log.lengths, qrels.counts_for(topics))


# The click measures of Chapelle et al., CIKM 2009, section 6.2.


ClickMeasure = Literal["qctr", "uctr", "maxrr", "meanrr", "minrr", "ss", "plc"]
CLICK_MEASURES: dict[str, str] = {
    "qctr": "clicks",
    "uctr": "whether there is a click",
    "maxrr": "1 / the first clicked rank",
    "meanrr": "mean of 1 / clicked ranks",
    "minrr": "1 / the last clicked rank",
    "ss": "whether a click is on a relevant document",
    "plc": "clicks / the last clicked rank",
}
"""Click measures of a session, 0 without a click; averaged over the sessions of a configuration."""

SS_REL: float = 2
"""The lowest grade, of 0 to 4, that search success counts: not fair or bad."""
SsRel = Annotated[float, Setting("Lowest grade that search success counts.", ranges.SS_REL, "GRADE")]


@dataclass(frozen=True, eq=False, repr=False)
class ClickMeasures(kernel.results.FrameResult, FromLog):
    """The frame of `measures` and a description of the sessions."""

    frame: pd.DataFrame
    settings: str

    def document(self, layout: Layout) -> Document:
        """Return a row for each list; for people, lists are numbered within their topic."""
        frame = self.frame
        if layout == "long":
            return Document([kernel.results.to_table(frame)], self.settings)
        names = [name for name in CLICK_MEASURES if name in frame]
        counts = [Column(name, "count") for name in ("list", "sessions")]
        numbers = (frame.groupby(kernel.results.group_numbers(frame, "topic"), sort=False).cumcount() + 1).tolist()
        numbered = zip(numbers, kernel.results.to_rows(frame), strict=True)
        rows = [[row["topic"], number, row["sessions"], *(row[name] for name in names)] for number, row in numbered]
        columns = [Column("topic"), *counts, *(Column(name, "score") for name in names)]
        return Document([Table(columns, rows)], self.settings)


@public
def measures(log: Any, qrels: Any = None, *, depth: int | None = None, ss_rel: SsRel = SS_REL) -> ClickMeasures:
    """Compute the click measures of each configuration of a log: a topic and the list shown for it.

    log     as for `read_log`, with the lists
    qrels   as for `evaluate`, for search success; None: leave it out
    depth   cut lists to this depth, and ignore clicks below
    ss_rel  the lowest grade that search success counts

    Returns `ClickMeasures`. The columns of its `.frame` are topic, shown (docnos separated by spaces), sessions,
    then means over sessions: qctr (clicks), uctr (whether there is one), maxrr, meanrr and minrr (of 1 / clicked rank),
    ss (whether a click is on a document of grade `ss_rel` or more) and plc (clicks / last clicked rank), each 0 in a
    session without a click. Chapelle et al., CIKM 2009, section 6.2. `.settings` describes the sessions. Raises
    InputError if the log shows no lists. Warns of lists and measures left out.

    >>> qrels = "qrels_samples/rivers.qrels"
    >>> means = gradedeval.clicks.measures("qrels_samples/rivers-clicks.tsv", qrels).frame
    >>> means[["topic", "sessions", "uctr", "meanrr"]].head(2).round(3)
      topic  sessions   uctr  meanrr
    0   301       420  0.845   0.814
    1   301       420  0.838   0.812
    """
    qrels = qrels if qrels is None or isinstance(qrels, kernel.Qrels) else kernel.Qrels(qrels)
    log, ss_rel = read_log(log, depth=depth), ranges.SS_REL.check(ss_rel)
    log = with_lists(log)
    notes, parts = list(log.notes), [f"{log.sessions} sessions", f"{len(log.topics)} configurations"]
    if qrels is None:
        notes.append("ss is left out: it needs qrels")
    else:
        parts.append(f"ss from grade {ss_rel:g}")
        unjudged = (batch_of(log, qrels).codes == len(qrels.labels)).any(axis=1)
        if lists := int(unjudged.sum()):
            listed = f"{lists} {plural(lists, 'list')} with unjudged documents"
            notes.append(f"{log.place}: {listed}; clicks on them are misses to ss")
    sessions, values = means_by_configuration(log, None if qrels is None else relevant_in_lists(log, qrels, ss_rel))
    columns: dict[str, Any] = {
        "topic": log.topics,
        "shown": [" ".join(docnos) for docnos in log.shown],
        "sessions": sessions,
    }
    names = [name for name in CLICK_MEASURES if name != "ss" or qrels is not None]
    frame = kernel.results.to_frame(columns | {name: values[:, list(CLICK_MEASURES).index(name)] for name in names})
    emit_notes(notes)
    return ClickMeasures(frame, " | ".join(parts))


def with_lists(log: ClickLog) -> ClickLog:
    """Return the log without configurations that have no sessions or show no list. Raises InputError if all do."""
    kept = np.bincount(log.configuration, log.count, minlength=len(log.topics)) > 0
    listed = kept & (log.lengths > 0)
    if not listed.any():
        raise InputError(log.place, *NO_LIST)
    dropped = int(log.count[~listed[log.configuration]].sum())
    note = [f"{log.place}: {dropped} {plural(dropped, 'session')} without a shown list left out"] if dropped else []
    return replace(select_configurations(log, listed), notes=[*log.notes, *note])


def select_configurations(log: ClickLog, chosen: Bools) -> ClickLog:
    """Return the log restricted to some configurations and their sessions."""
    log, kept = log.select(chosen[log.configuration]), np.flatnonzero(chosen).tolist()
    topics, shown = [log.topics[code] for code in kept], [log.shown[code] for code in kept]
    return replace(log, topics=topics, shown=shown, configuration=(np.cumsum(chosen) - 1)[log.configuration])


def relevant_in_lists(log: ClickLog, qrels: kernel.Qrels, rel: float) -> Bools:
    """Return configurations × ranks: the mask of shown documents with a grade of at least `rel`."""
    if rel != rel:
        raise InputError(flag.ss_rel, "nan is not a grade", f"as in {flag.ss_rel:2}", usage=True)
    relevant = np.append(qrels.labels >= rel, [False, False])
    return np.asarray(relevant[batch_of(log, qrels).codes])


def means_of_lists(log: ClickLog, name: str, qrels: kernel.Qrels | None = None, ss_rel: float = SS_REL) -> Floats:
    """Return the mean of one click measure over the sessions of each configuration; nan without sessions."""
    check_choice(name, tuple(CLICK_MEASURES), flag.click_measure)
    if name == "ss" and qrels is None:
        raise InputError("ss", "needs the grades of documents", "give qrels", usage=True)
    relevant = relevant_in_lists(log, qrels, ss_rel) if name == "ss" and qrels is not None else None
    return means_by_configuration(log, relevant)[1][:, list(CLICK_MEASURES).index(name)]


def means_by_configuration(log: ClickLog, relevant: Bools | None) -> tuple[Ints, Floats]:
    """Return the number of sessions of each configuration, and configurations × CLICK_MEASURES: their means.
    A mean is nan without sessions; `ss` is nan without `relevant`."""
    configuration, pattern, count = log.totals()
    size = len(log.topics)
    sessions = np.bincount(configuration, count, minlength=size)
    of_row = _values_of_patterns(log)[pattern]
    of_row[:, list(CLICK_MEASURES).index("ss")] = np.nan if relevant is None else _successes(log, relevant)
    with np.errstate(invalid="ignore"):
        means = [np.bincount(configuration, count * values, minlength=size) / sessions for values in of_row.T]
    return sessions.astype(np.int64), np.array(means).T


def _values_of_patterns(log: ClickLog) -> Floats:
    """Return patterns × CLICK_MEASURES; `ss`, which depends on the list as well, is 0."""
    pattern, rank = log.flat_clicks
    clicks, last = log.clicks, np.maximum(log.last_click, 1)
    first = np.array([ranks[0] if ranks else 1 for ranks in log.patterns], dtype=np.int64)
    some = clicks > 0
    mean = np.bincount(pattern, 1 / rank, minlength=len(clicks)) / np.maximum(clicks, 1)
    none = np.zeros(len(clicks))
    return np.array([clicks, some, some / first, mean, some / last, none, clicks / last], dtype=np.float64).T


def _successes(log: ClickLog, relevant: Bools) -> Floats:
    """Return for each row of `log.totals()` whether a click is on a relevant document."""
    configuration, pattern, _ = log.totals()
    row = np.repeat(np.arange(len(pattern)), log.clicks[pattern])
    begin = np.cumsum(log.clicks) - log.clicks
    rank = log.flat_clicks[1][arrays.ranges(begin[pattern], log.clicks[pattern])]
    hits = np.bincount(row, relevant[configuration[row], rank - 1], minlength=len(pattern))
    return np.asarray(hits > 0, dtype=np.float64)


# The correlation of click measures (Chapelle et al., CIKM 2009, section 6.2), over lists and over pairs of engines.


CELLS = 1 << 21
"""Maximum draws of pairs of lists held at a time."""


def weighted_correlation(x: Floats, y: Floats, n: Ints | Floats) -> Floats:
    """Return columns of x × columns of y: Σ n(x−m_x)(y−m_y) / √(Σ n(x−m_x)² · Σ n(y−m_y)²), m the n-weighted means.
    The value is nan if a column is constant or has a nan. Chapelle et al., CIKM 2009, section 6.2."""
    weight = (n / n.sum())[:, None]
    dx, dy = x - (weight * x).sum(axis=0), y - (weight * y).sum(axis=0)
    vx, vy = ((weight * d**2).sum(axis=0) for d in (dx, dy))
    # Rounding of a constant is not a variance.
    vx[vx <= (1e-12 * np.abs(x).max(axis=0)) ** 2] = np.nan
    vy[vy <= (1e-12 * np.abs(y).max(axis=0)) ** 2] = np.nan
    return np.asarray((weight * dx).T @ dy / np.sqrt(vx[:, None] * vy))


def paired_correlation(topics: Sequence[str], x: Floats, y: Floats, pairs: int, seed: int) -> Floats:
    """Return columns of x × columns of y: the correlation of mean differences of two engines over `pairs` pairs.
    Each pair draws two different lists of each topic that has two, uniformly. `topics` of the rows of x and y ascend.
    Chapelle et al., CIKM 2009, algorithm 3."""
    first = np.flatnonzero([index == 0 or topics[index - 1] != topics[index] for index in range(len(topics))])
    lists = np.diff(np.append(first, len(topics)))
    first, lists = first[lists > 1], lists[lists > 1]
    if not len(first):
        return np.full((x.shape[1], y.shape[1]), np.nan)
    generator = np.random.default_rng(seed)
    step, differences = max(1, CELLS // len(first)), []
    for begin in range(0, pairs, step):
        draws = generator.random((min(step, pairs - begin), len(first), 2))
        list_a = (draws[..., 0] * lists).astype(np.int64)
        list_b = (draws[..., 1] * (lists - 1)).astype(np.int64)
        list_a, list_b = first + list_a, first + list_b + (list_b >= list_a)
        apart = ([(v[list_a] - v[list_b]).mean(axis=1) for v in some.T] for some in (x, y))
        differences.append([np.stack(of_columns, axis=1) for of_columns in apart])
    dx, dy = (np.concatenate([part[side] for part in differences]) for side in (0, 1))
    return weighted_correlation(dx, dy, np.ones(pairs))


# Picture of click measures against a measure.


COLUMNS_DRAWN = ("measure", "clicks", "correlation")
SOURCE = "the result of gradedeval.clicks.correlate"
CLICKS: ClickMeasure = "meanrr"
LEAST, MOST = 4.0, 40.0
"""Smallest and largest area of a point, in square points, by the sessions of its list."""
ClickMeasureSetting = Annotated[ClickMeasure, Setting("Click measure to draw.")]


@public
def plot_clicks(correlations: Any, measure: Any = None, click_measure: str = CLICKS, *, ax: Axes | None = None) -> Axes:
    """Plot a click measure of lists against a measure: a point for each list, its area by its sessions, and the
    correlation in the legend.

    correlations   the result of `gradedeval.clicks.correlate`; if it is split, each part has its color
    measure        the measure; needed if there are several
    click_measure  the click measure
    ax             matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for anything else, and if the measure is ambiguous.

    >>> log, qrels = "qrels_samples/rivers-clicks.tsv", "qrels_samples/rivers.qrels"
    >>> axes = gradedeval.plot.clicks(gradedeval.clicks.correlate(log, qrels, "err"))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('err, by topic and list', 'meanrr of clicks, mean over sessions')
    """
    frame = pictures.require_frame(correlations, COLUMNS_DRAWN, "clicks", SOURCE)
    if getattr(correlations, "lists", None) is None:
        raise InputError("plot.clicks", "there are no lists to draw", f"give {SOURCE} without pairs", usage=True)
    rows = pictures.select_measure(frame, measure, "clicks")
    names = list(dict.fromkeys(rows["clicks"]))
    if click_measure not in names:
        hint = did_you_mean(click_measure, names) or f"choose from {shorten(names)}"
        raise InputError("plot.clicks", f"no click measure '{click_measure}'", hint, usage=True)
    drawn = rows[rows["clicks"] == click_measure]
    return pictures.draw_on(partial(draw_clicks, frame=drawn, lists=correlations.lists), ax)


def click_panels(correlations: Any, click_measure: ClickMeasureSetting = CLICKS) -> list[pictures.Panel]:
    """Return a picture for each measure."""
    frame = correlations.frame[correlations.frame["clicks"] == click_measure]
    of_measures = (frame[frame["measure"] == name] for name in dict.fromkeys(frame["measure"]))
    return [pictures.Panel(partial(draw_clicks, frame=part, lists=correlations.lists), 2.4) for part in of_measures]


def draw_clicks(ax: Axes, frame: pd.DataFrame, lists: pd.DataFrame) -> None:
    """Draw a point for each list; a row of `frame` is the correlation of a part of the log."""
    measure, name = (str(frame[column].iloc[0]) for column in ("measure", "clicks"))
    most = float(lists["sessions"].max())
    for number, (row, look) in enumerate(zip(frame.to_dict("records"), pictures.line_styles(len(frame)), strict=True)):
        part = lists[lists["by"] == row["by"]] if "by" in lists else lists
        color = look["color"] if number < pictures.MAX_COLORED else pictures.GREY
        area = LEAST + (MOST - LEAST) * part["sessions"].to_numpy(dtype=float) / most
        ax.scatter(part[measure], part[name], s=area, facecolors="none", edgecolors=color, linewidths=0.6,
                   label=_label(row))  # fmt: skip
    ax.grid(color=pictures.LIGHT, linewidth=0.4)
    lower = pictures.LOWER if pictures.lower_is_better(measure) else ""
    ax.set_xlabel(f"{pictures.label_text(measure)}, by topic and list{lower}")
    ax.set_ylabel(f"{name} of clicks, mean over sessions")
    pictures.legend(ax)


def _label(row: Mapping[Any, Any]) -> str:
    """Return the part of the log and its correlation; a dash if one side is constant."""
    value = row["correlation"]
    text = "—" if value is None or value != value else f"{value:.3f}"
    return f"{pictures.label_text(str(row['by']))}: {text}" if "by" in row else f"correlation {text}"


# Agreement of measures with clicks.


DECILE = "decile"
MeasureSetting = Annotated["kernel.AnyMeasure | Sequence[kernel.AnyMeasure]", Setting(
    "Measure to correlate, such as err or 'ap(rel=3)'. "
    "Repeat -m, or separate measures by spaces.", metavar="MEASURE", section="Measures and gains",
    spelled=("-m", "--measure"), measure="several", short="Measure to correlate; may be repeated.")]  # fmt: skip
By = Annotated[str | None, Setting("Correlate each part of the log separately: by one of its columns, or by "
    "'decile', ten groups of topics by number of sessions.", metavar="COLUMN",
    short="Correlate the parts of the log separately.")]  # fmt: skip
Unjudged = Annotated[Literal["drop", "keep"], Setting("Lists with unjudged documents: drop or keep.")]  # fmt: skip
Pairs = Annotated[int | None, Setting("Correlate the differences of N pairs of simulated engines instead, each of "
    "which shows a list of each topic that has several. Chapelle et al. draw 1000.", ranges.PAIRS, "N",
    short="Correlate differences of N pairs of engines.")]  # fmt: skip
Seed = Annotated[int, Setting("Random seed of these pairs.", ranges.SEED, "N")]


@dataclass(frozen=True, eq=False)
class ClickCorrelations(FromLog):
    """The correlation of measures with click measures.

    frame     a row for each measure and click measure, and each part of a split log: by (the value of the column),
              measure, clicks (the click measure), correlation (nan if one of the two is constant), topics,
              configurations, sessions
    lists     a row for each configuration, and each part of a split log: by, topic, shown (docnos separated by
              spaces), sessions, then a column for each measure and each click measure. None for pairs of engines
    settings  a description of lists and sessions
    notes     notes for the user
    """

    frame: pd.DataFrame
    lists: pd.DataFrame | None
    settings: str
    notes: list[str]

    def document(self, layout: Layout) -> Document:
        """Return a row for each correlation; for people, a column for each click measure."""
        if layout == "long":
            return Document([kernel.results.to_table(self.frame)], self.settings)
        split = "by" in self.frame
        lines: dict[tuple[Any, ...], list[Any]] = {}
        for row in kernel.results.to_rows(self.frame):
            head = (row["by"], row["measure"], row["configurations"], row["sessions"]) if split else (row["measure"],)
            lines.setdefault(head, []).append("—" if row["correlation"] is None else row["correlation"])
        heads = [Column("by"), Column("measure"), Column("lists", "count"), Column("sessions", "count")]
        columns = [*(heads if split else heads[1:2]), *(Column(name, "score", 3) for name in CLICK_MEASURES)]
        return Document([Table(columns, [[*head, *cells] for head, cells in lines.items()])], self.settings)


def read_parts(
    source: Any,
    *,
    by: str | None = None,
    clicks_as: ClicksAs = "rank",
    depth: Depth = None,
    idle: Idle = None,
    lenient: Lenient = False,
) -> ClickLog:
    """Read a log as `read_log` does, keeping the column that `by` names."""
    columns = [] if by in (None, DECILE) else [by]
    return read_log(source, clicks_as=clicks_as, depth=depth, idle=idle, columns=columns, lenient=lenient)


@public
def correlate(
    log: Any,
    qrels: Any,
    measures: MeasureSetting = kernel.parse.DEFAULT,
    *,
    by: By = None,
    ss_rel: SsRel = SS_REL,
    unjudged: Unjudged = "drop",
    pairs: Pairs = None,
    seed: Seed = 0,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> ClickCorrelations:
    """Correlate measures of lists with the click measures of their sessions.

    log       as for `read_log`, with the lists; with the columns of `by`
    qrels     as for `evaluate`
    measures  as for `evaluate`. A list is scored as a ranking of its topic, with all judgments of the topic
    by        a column of the log, or "decile": topics by number of sessions, in ten parts; each part is correlated
              separately
    ss_rel    the lowest grade that the click measure `ss` counts
    unjudged  "drop" or "keep" lists with unjudged documents
    pairs     None: correlate configurations, weighted by sessions. Otherwise the number of pairs of simulated engines,
              each with a different list of every topic that has two; their differences are correlated
    seed      random seed of the pairs
    keywords  options of grades and gains, as for `evaluate`. `depth` cuts lists, drops shorter lists and ignores clicks
              below

    Chapelle et al., CIKM 2009, section 6.2, tables 2 to 5 and figure 4; with `pairs` algorithm 3 and table 6. Raises
    InputError as `read_log` and `evaluate` do, and if no configuration is left.

    >>> log, qrels = "qrels_samples/rivers-clicks.tsv", "qrels_samples/rivers.qrels"
    >>> correlations = gradedeval.clicks.correlate(log, qrels, "err p@1").frame
    >>> correlations[correlations["clicks"] == "meanrr"][["measure", "correlation"]].round(3)
       measure  correlation
    3      err        0.978
    10     p@1        0.746
    """
    sections = kernel.options.RESIDUALS, kernel.options.OUTPUT
    kernel.options.refuse_options(keywords, "click logs", sections, kernel.options.OF_RUNS)
    options, chosen = kernel.resolve_options(like, **keywords).refuse_predicted(), kernel.parse_measures(measures)
    if not chosen:
        raise InputError("", "no measure given", "for example 'err ndcg@10'", usage=True)
    judged = kernel.qrels_for({}, qrels, options)
    settings = Settings(by, ss_rel, unjudged, pairs, seed)
    return _correlate(read_parts(log, by=by), judged, chosen, options, settings)


@dataclass(frozen=True)
class Settings:
    """The keywords of `correlate` alone. Raises InputError (usage) for a value that is not allowed."""

    by: str | None = None
    ss_rel: float = SS_REL
    unjudged: str = "drop"
    pairs: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice(self.unjudged, ("drop", "keep"), flag.unjudged)
        ranges.SS_REL.check_field(self, "ss_rel")
        ranges.SEED.check_field(self, "seed")
        ranges.PAIRS.check_field(self, "pairs")
        if self.seed and self.pairs is None:
            raise InputError(flag.seed, f"applies to {flag.pairs}", "add them", usage=True)


def _correlate(
    log: ClickLog, qrels: kernel.Qrels, measures: Sequence[Measure], options: Options, settings: Settings
) -> ClickCorrelations:
    """Correlate measures with the click measures of a log, and emit the notes."""
    log = _select_usable(log, qrels, options, settings)
    scorer = kernel.Scorer(qrels, measures, options)
    if types := [measure.label for measure in scorer.measures if measure.types]:
        raise InputError(f"'{types[0]}'", "a click log has no types of documents", "leave it out", usage=True)
    scores = scorer.score_batch(batch_of(log, scorer.grader.qrels)).values[0]
    relevant = relevant_in_lists(log, qrels, settings.ss_rel)

    rows: list[tuple[Any, ...]] = []
    lists, alone, parts_of_two = [], 0, list[str]()
    labels = [measure.label for measure in scorer.measures]
    for part, part_log in _split(log, settings.by):
        sessions, clicked = means_by_configuration(part_log, relevant)
        chosen = np.flatnonzero(sessions)
        if settings.pairs is not None:
            topics = [log.topics[code] for code in chosen.tolist()]
            lists_of = Counter(topics)
            kept = np.array([lists_of[topic] > 1 for topic in topics], dtype=bool)
            chosen, alone = chosen[kept], alone + int((~kept).sum())
        topics, rankings = [log.topics[code] for code in chosen.tolist()], [log.shown[code] for code in chosen.tolist()]
        table = _correlations(topics, rankings, scores[chosen], clicked[chosen], sessions[chosen], settings)
        counts = len(set(topics)), len(chosen), int(sessions[chosen].sum())
        parts_of_two += [part] if len(chosen) == 2 else []
        for label, row in zip(labels, table.tolist(), strict=True):
            rows += [(part, label, *cell, *counts) for cell in zip(CLICK_MEASURES, row, strict=True)]
        keys = {"by": [part] * len(chosen), "topic": topics, "shown": [" ".join(docnos) for docnos in rankings]}
        values = dict(zip([*labels, *CLICK_MEASURES], [*scores[chosen].T, *clicked[chosen].T], strict=True))
        lists.append(kernel.results.to_frame({**keys, "sessions": sessions[chosen], **values}))
    columns: dict[str, Any] = dict(zip(["by", *COLUMNS], zip(*rows, strict=True), strict=True))
    frame, each = kernel.results.to_frame(columns), kernel.results.joined(lists)
    counted = [(len(set(log.topics)), 0)]
    description = "\n".join([_describe(settings, each), kernel.signature(qrels, options, scorer.measures, counted)])
    if not settings.by:
        frame, each = (part_frame.drop(columns="by") for part_frame in (frame, each))
    notes = [*log.notes, *scorer.notes]
    if alone:
        notes.append(f"{log.place}: {alone} {plural(alone, 'list')} left out of pairs: the only list of the topic")
    if parts_of_two:
        in_parts = f" in {plural(len(parts_of_two), 'part')} {shorten(parts_of_two)}" if settings.by else ""
        notes.append(f"{log.place}: only two lists{in_parts}, and any two correlate by +1 or -1")
    if not frame["configurations"].any():
        raise InputError(log.place, "no topic has two lists to pair", f"leave out {flag.pairs}", usage=True)
    return ClickCorrelations(frame, each if settings.pairs is None else None, description, emit_notes(notes))


def _correlations(
    topics: Sequence[str], rankings: Sequence[Any], scores: Floats, clicked: Floats, sessions: Ints, settings: Settings
) -> Floats:
    """Return measures × click measures: correlations over lists or over pairs of engines."""
    if settings.pairs is None:
        return weighted_correlation(scores, clicked, sessions)
    order = sorted(range(len(topics)), key=lambda row: (topics[row], rankings[row]))
    ordered = [topics[row] for row in order]
    return paired_correlation(ordered, scores[order], clicked[order], settings.pairs, settings.seed)


COLUMNS = ("measure", "clicks", "correlation", "topics", "configurations", "sessions")


def _select_usable(log: ClickLog, qrels: kernel.Qrels, options: Options, settings: Settings) -> ClickLog:
    """Return the log at its depth, restricted to usable lists. Raises InputError if none is left."""
    log = with_lists(log if options.depth is None else log.cut(options.depth))
    batch = batch_of(log, qrels)
    short = log.lengths < (options.depth or 0)
    foreign = np.array([topic not in qrels.row_of for topic in batch.topics])
    unknown = ~foreign & ((batch.codes == batch.unjudged_code).any(axis=1) & (settings.unjudged == "drop"))
    notes, sessions = list(log.notes), np.bincount(log.configuration, log.count, minlength=len(log.topics))
    for left_out, reason in (
        (short, f"with fewer than {options.depth} documents"),
        (foreign & ~short, f"of topics that {qrels.place} lacks"),
        (unknown & ~short, f"with a document that is not judged ({flag.unjudged:keep} counts them)"),
    ):
        if left_out.any():
            lists, lost = int(left_out.sum()), int(sessions[left_out].sum())
            counted = f"{lists} {plural(lists, 'list')} ({lost} {plural(lost, 'session')})"
            notes.append(f"{log.place}: {counted} {reason} left out")
    kept = ~(short | foreign | unknown)
    if not kept.any():
        reasons = "; ".join(note.partition(": ")[2] for note in notes[len(log.notes) :])
        hint = f"give the qrels of its topics, or a smaller {flag.depth}"
        raise InputError(log.place, f"no list is left: {reasons}", hint)
    return replace(select_configurations(log, kept), notes=notes)


def _split(log: ClickLog, by: str | None) -> Iterator[tuple[str, ClickLog]]:
    """Yield the name and the log of each part: by a column in the order of its values, or by frequency of topics."""
    if by is None:
        yield "", log
    elif by == DECILE:
        topics, topic_of = np.unique(np.array(log.topics, dtype=object).astype(str), return_inverse=True)
        frequency = np.bincount(topic_of[log.configuration], log.count, minlength=len(topics))
        for number, members in enumerate(np.array_split(np.argsort(frequency, kind="stable"), 10), 1):
            if len(members):
                yield str(number), log.select(np.isin(topic_of[log.configuration], members))
    else:
        values, codes = log.columns[by]
        for code in sorted(set(codes.tolist()), key=lambda code: _sort_key(values[code])):
            yield values[code], log.select(codes == code)


def _sort_key(value: str) -> tuple[bool, float, str]:
    """Return a sort key: numbers by value, before words."""
    try:
        return False, float(value), value
    except ValueError:
        return True, 0.0, value


def _describe(settings: Settings, lists: pd.DataFrame) -> str:
    """Describe the correlations; a list may be in several parts of the log."""
    counts = {
        "topic": len(kernel.results.distinct(lists, "topic")),
        "configuration": len(kernel.results.distinct(lists, "topic", "shown")),
        "session": int(lists["sessions"].sum()),
    }
    parts = [
        f"{settings.pairs} pairs of engines, seed {settings.seed}" if settings.pairs else "weighted by sessions",
        *(f"{count} {plural(count, name)}" for name, count in counts.items()),
        *([f"by {settings.by}"] if settings.by else []),
        f"ss from grade {settings.ss_rel:g}",
        *(["unjudged kept"] if settings.unjudged == "keep" else []),
    ]
    return " | ".join(parts)


# Lists as grades by rank, and their scores by gains or utilities.


@dataclass(frozen=True, eq=False, repr=False)
class GradedLists:
    """Lists, as the grades of their documents.

    grades  the grades from 0 on that the qrels have, ascending, 0 among them; lower ones count as 0
    code    lists × ranks: index into the grades, −1 of an unjudged document, `len(grades)` past the end
    """

    grades: Floats
    code: Ints

    @cached_property
    def judged(self) -> Bools:
        """For each list, whether all documents are judged."""
        return np.asarray((self.code >= 0).all(axis=1))

    def gains(self, gains: Floats) -> Floats:
        """Return lists × ranks: the gain of each document; 0 for an unjudged document."""
        return np.asarray(np.append(gains, [0.0, 0.0])[self.code])  # −1 is the last

    @property
    def has(self) -> Bools:
        """For each grade, whether a document has it."""
        return np.asarray(np.isin(np.arange(len(self.grades)), self.code))

    def select(self, rows: Bools) -> GradedLists:
        """Return some of the lists."""
        return GradedLists(self.grades, self.code[rows])

    def of_grades(self, kept: Bools) -> GradedLists:
        """Renumber the grades to the kept ones; no document may have another grade."""
        size = int(kept.sum())
        number = np.append(np.cumsum(kept) - 1, [size, -1])  # −1 is the last
        return GradedLists(self.grades[kept], number[self.code])


def graded_lists(log: ClickLog, qrels: kernel.Qrels) -> GradedLists:
    """Return the lists of a log with the grades of their documents."""
    positive = np.maximum(qrels.labels, 0)
    grades = np.unique(np.append(positive, 0.0))
    code = np.append(np.searchsorted(grades, positive), [-1, len(grades)])  # past the labels: unjudged, and no document
    return GradedLists(grades, code[batch_of(log, qrels).codes])


@dataclass(frozen=True, eq=False, repr=False)
class Scoring:
    """The weights with which a measure turns gains into a score.

    cascade  whether a user stops at the first satisfying document: a weight is then the value of stopping at its rank,
             otherwise the factor of a gain
    """

    measure: Measure
    weight: Floats
    cascade: bool

    def scores(self, gain: Floats) -> Floats:
        """Return the score of each list from lists × ranks of gains."""
        return (stop_probabilities(gain) if self.cascade else gain) @ self.weight


def stop_probabilities(gain: Floats) -> Floats:
    """Return lists × ranks: the probability of stopping at the rank."""
    reached = np.cumprod(1 - gain, axis=1)
    return gain * np.column_stack([np.ones(len(gain)), reached[:, :-1]])


def scoring_of(measure: Measure, ranks: int) -> Scoring:
    """Return the weights of a measure down to a rank. Raises InputError (usage) if they are not fixed."""
    last = ranks if measure.cutoff is None else min(ranks, measure.cutoff)
    rank = np.arange(1.0, ranks + 1)
    if measure.name in ("err", "cascade"):
        arguments = measure.arguments
        gamma = float(arguments.get("gamma", 1))  # type: ignore[arg-type]
        weight = kernel.useful(gamma ** (rank - 1), rank, str(arguments.get("utility", "rr")))
        return Scoring(measure, weight * (rank <= last), True)
    try:
        return Scoring(measure, np.pad(weighing.static_weights(measure, last), (0, ranks - last)), False)
    except InputError as error:
        hint = "name err, cascade, or a sum of gains with fixed weights such as rbp or dcg"
        raise error.replace(hint=hint) from None
