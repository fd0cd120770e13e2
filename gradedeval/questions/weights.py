"""`weights`: the weight of each rank under a measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Unpack, cast, get_args

from gradedeval import __version__, kernel
from gradedeval.analysis import pictures, ranked_runs
from gradedeval.arrays import TOLERANCE, Bools, Floats, np
from gradedeval.errors import InputError, Note, check_choice, emit_notes, flag, plural, public
from gradedeval.kernel import AnyMeasure, Column, Document, Layout, Measure, OptionKwargs, Options, Setting, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gradedeval.analysis.pictures import Panel
    from gradedeval.kernel import Batch, Qrels, Scorer


def weights_in_rankings(measure: Measure, g: kernel.gains.Gains) -> Floats:
    """Return the weights W(i) of the ranks of each ranking, topics × ranks: Σ_i W(i) [gain_i > 0] is the score.

    ap     Σ_{j≤i} r_j / (i R)
    sp     Σ_{j≤i} r_j / i
    q      (Σ_{j≤i} r_j + β cg(i)) / ((i + β cg*(i)) R): 2 Σ_{j≤i} r_j / ((i + min(i, R)) R) for gains 0 and 1 and β
           = 1
    bpref  1/R − min(k + R, J_i − Σ_{j≤i} r_j) / (min(k + R, N) R), J_i: number of judged documents among the first i
    rr     1/i at the first relevant document, 0 elsewhere

    With norm=k, R is capped at the cutoff as a divisor. Zhang et al., Information Retrieval 2010, section 3.3. Past
    the end of a ranking the formulas are taken literally: no document is relevant or judged there, and the sums stay
    as they are. If R is 0, so is W.
    """
    return _weighting(measure).at_ranks(g, measure.arguments)


def _weighting(measure: Measure) -> kernel.definition.RankingWeights:
    weighting = measure.definition.weights_in_ranking
    if weighting is None:
        raise TypeError(f"the weights of {measure} do not depend on the ranking")
    return weighting


class Background(NamedTuple):
    """Mean weights of ranks over the rankings of a set of runs.

    weights  ranks × measures
    shares   of each measure's weight past the last rank: 0 if there is none, nan if its sum is unknown
    counts   for each run the numbers of its scored topics, and of the missing ones among them
    formats  formats of the files of runs
    notes    skipped data and assumptions
    """

    weights: Floats
    shares: Floats
    counts: list[tuple[int, int]]
    formats: list[str]
    notes: list[str]


def background(
    runs: Mapping[str, Any], qrels: Qrels, measures: Sequence[Measure], options: Options, depth: int
) -> Background:
    """Return the mean weights at ranks 1..depth, over the rankings of runs by name, of measures such as ap and bpref.

    The mean is over all pairs of a run and a topic: the 1/(s·t) of the source if all runs have the same topics. The
    options define which topics count; a topic that a run lacks is a ranking without documents.

    Zhang et al., Information Retrieval 2010, section 3.4. Raises InputError as `evaluate` does.
    """
    if options.ties == "average":
        raise kernel.options.OPTIONS["ties"].error("weights in a ranking need one order", "choose an order")
    for measure in measures:
        ranked_runs.check_by_rank(measure)
    share = kernel.Workers.current()
    scorer = kernel.Scorer(qrels, measures, options, share.limits)
    grader = replace(scorer.grader, last_rank=None)
    summed = _Sums(scorer, depth)
    counts: list[tuple[int, int]] = []
    formats: list[str] = []
    notes, topics = list(scorer.notes), set()
    for name, source in share.progress(list(runs.items())):
        run = kernel.tasks.grade_run(source, grader, share.silent(), name)
        for batch in run.settled():
            summed.add(batch)
        counts.append((len(run.topics), run.missing))
        formats.append(run.format)
        topics.add(frozenset(run.topics))
        notes += run.notes
    if len(topics) > 1:
        notes.append(Note(f"the runs count in different topics; {flag.topics:qrels} counts the same for all"))
    notes += _without_relevant(summed.barren, scorer.qrels.place, len(set().union(*topics)))
    values = summed.weights / sum(count for count, _ in counts)
    return Background(values, summed.beyond(), counts, formats, notes)


class _Sums:
    """Sums of the weights of many rankings."""

    def __init__(self, scorer: Scorer, depth: int) -> None:
        self.scorer = scorer
        self.weights = np.zeros((depth, len(scorer.measures)))
        self.barren: dict[Measure, set[bytes]] = {
            measure: set() for measure in scorer.measures if _weighting(measure).over is not None
        }
        # If weights come to an end, as for rr, all the weight of a ranking is its score.
        self.scores = {column: 0.0 for column, measure in enumerate(scorer.measures) if _weighting(measure).finite}

    def add(self, batch: Batch) -> None:
        if self.scores:
            gains_of = self.scorer.gains_cache(batch)
            for column in self.scores:
                measure = self.scorer.measures[column]
                self.scores[column] += float(measure.score(gains_of(self.scorer.tables[column], measure)).sum())
        for part in _to_depth(batch, len(self.weights), self.scorer.grader.limits.cells):
            gains_of = self.scorer.gains_cache(part)
            for column, (measure, table) in enumerate(zip(self.scorer.measures, self.scorer.tables, strict=True)):
                g = gains_of(table, measure)
                weights = weights_in_rankings(measure, g)
                self.weights[: weights.shape[1], column] += weights.sum(0)
                if measure in self.barren:
                    without_relevant = np.flatnonzero(g.num_relevant == 0).tolist()
                    self.barren[measure].update(part.topics[row] for row in without_relevant)

    def beyond(self) -> Floats:
        """Return the share of the weight past the last rank, for each measure."""
        depth = len(self.weights)
        ends = [measure.cutoff is not None and measure.cutoff <= depth for measure in self.scorer.measures]
        shares = np.where(ends, 0.0, np.nan)
        for column, score in self.scores.items():
            shares[column] = share_past(float(self.weights[:, column].sum()), score)
        return shares


def share_past(inside: float, whole: float) -> float:
    """Return the share of the whole weight that is not inside; 0 if the two sums differ only by rounding."""
    return 1 - inside / whole if whole - inside > 1e-12 * whole else 0.0


def _to_depth(batch: Batch, depth: int, cells: int) -> Iterator[Batch]:
    """Yield the batch with `depth` ranks, in parts of bounded size."""
    every = np.arange(len(batch.topics))
    step = max(1, cells // depth)
    for begin in range(0, len(every), step):
        part = batch.select(every[begin : begin + step])
        codes = np.full((len(part.topics), depth), batch.padding_code, dtype=batch.codes.dtype)
        codes[:, : part.codes.shape[1]] = part.codes[:, :depth]
        yield replace(part, codes=codes, retrieved=np.minimum(part.retrieved, depth))


def _without_relevant(barren: Mapping[Measure, set[bytes]], place: str, counted: int) -> list[str]:
    """Return a note for all measures with the same topics with R = 0."""
    alike: dict[frozenset[bytes], list[str]] = {}
    for measure, topics in barren.items():
        alike.setdefault(frozenset(topics), []).append(measure.label)
    return [
        kernel.caveats.no_relevant_text(place, sorted(map(kernel.decode, topics)), counted, names, "get weights of 0")
        for topics, names in alike.items()
        if topics
    ]


def static_weights(measure: Measure, depth: int, tried: bool = False, progress: bool = False) -> Floats:
    """Return the fixed weight of a gain at each rank: the score of the ranking whose only gain is 1 at that rank.

    The weights are checked on other rankings, which differ in length, gains, judgments and pool, unless that was
    done with another value of a parameter (`tried`). With `progress` a progress bar is shown. Raises InputError (usage)
    for a measure without fixed weights.
    """
    if depth > kernel.ranges.MOST_RANKS + 1:  # C and L need one rank more
        kernel.ranges.WEIGHED_RANKS.check(depth)
    ranked_runs.check_by_rank(measure)
    if measure.types:
        problem = "its weights depend on the types of the documents"
        raise InputError(f"'{measure}'", problem, "give it a file without types", usage=True)
    levels = _levels(measure)
    weights = _contributions(measure, depth, levels)
    if weights is None:
        horizon: Any = measure.arguments.get("horizon")
        step = max(1, CELLS // max(depth, measure.cutoff or 0, horizon or 0))
        weights = np.zeros(depth)
        begins = [(measure.label, begin) for begin in range(0, depth, step)]
        for _, begin in kernel.parallel.progress("ranks")(begins) if progress else begins:
            end = min(begin + step, depth)
            weights[begin:end] = _scores(measure, np.eye(end - begin, end, k=begin), levels)
    if not tried:
        _check_fixed_weights(measure, weights, levels)
    return weights


def _contributions(measure: Measure, depth: int, levels: Floats) -> Floats | None:
    """Return the contributions when every gain is 1; None, as for other singles: a ranking for each rank is needed."""
    detail_columns = measure.details(_rankings(measure, np.ones((1, depth)), levels))
    column = detail_columns.get("contribution", detail_columns.get("W"))
    if column is None:
        return None
    weights = np.zeros(depth)
    counted = slice(min(depth, len(column[0]), measure.cutoff or depth))
    weights[counted] = column[0, counted]
    ranks = np.unique(np.geomspace(1, depth, 16).astype(np.int64))
    singles = np.zeros((len(ranks), depth))
    singles[np.arange(len(ranks)), ranks - 1] = 1
    return weights if np.allclose(_scores(measure, singles, levels), weights[ranks - 1], rtol=1e-12, atol=0) else None


def fixed_weights(measure: Measure, depth: int) -> tuple[Floats, float]:
    """Return fixed weights, and the share past them."""
    if measure.definition.weights_in_ranking:
        hint = "give RUN... QRELS to average them"
        raise InputError(f"'{measure}'", "its weights depend on the ranking", hint, usage=True)
    weights = static_weights(measure, depth, progress=True)
    return weights, _share_beyond(measure, weights)


def _levels(measure: Measure) -> Floats:
    """Return the gains for checks of a measure."""
    return np.array([1.0]) if measure.rel is not None else np.array([0.25, 0.5, 0.75, 1.0])


def _scores(
    measure: Measure, gain: Floats, levels: Floats, judged: Bools | None = None, missed: Floats | None = None
) -> Floats:
    """Return the scores of `_rankings`."""
    return kernel.scores_of(measure, _rankings(measure, gain, levels, judged, missed))


def _rankings(
    measure: Measure, gain: Floats, levels: Floats, judged: Bools | None = None, missed: Floats | None = None
) -> kernel.gains.Gains:
    """Return rankings with these gains, topics × ranks, as seen by the measure.

    judged  topics × ranks: judged documents, in addition to all with a gain; None: every document
    missed  topics × …: gains of relevant documents that the rankings lack
    """
    judged = np.ones(gain.shape, dtype=bool) if judged is None else judged | (gain > 0)
    missed = np.zeros((len(gain), 1)) if missed is None else missed
    ideal = -np.sort(-np.concatenate([gain, missed], axis=1), axis=1)
    pool = judged.sum(1) + np.count_nonzero(missed, axis=1)
    retrieved = np.full(len(gain), gain.shape[1])
    return _cut(measure, kernel.gains.Gains(gain, judged, ideal, retrieved, pool, levels))


def _cut(measure: Measure, g: kernel.gains.Gains) -> kernel.gains.Gains:
    """Cut the rankings at the measure's cutoff."""
    if (k := measure.last_rank) is None:
        return replace(g, k=measure.cutoff)
    return replace(g, gain=g.gain[:, :k], judged=g.judged[:, :k], retrieved=np.minimum(g.retrieved, k), k=k)


def _check_fixed_weights(measure: Measure, weights: Floats, levels: Floats) -> None:
    """Raise InputError unless the weights match the contributions of the first ranks to scores of random rankings."""
    depth = len(weights)
    draw = np.random.default_rng(2010)
    for trial, further in enumerate((0, 1, 2, 3, 7, 40, 300, 1000) * 2, 1):
        filled = (0.05, 0.3, 1.0)[trial % 3]
        gain = np.zeros((2, depth + further))
        gain[:] = draw.choice(levels, depth + further) * (draw.random(depth + further) < filled)
        gain[1, :depth] = 0
        judged = draw.random(gain.shape) < 0.5
        with_them, without = _scores(measure, gain, levels, judged, draw.choice(levels, (2, trial))).tolist()
        with np.errstate(over="ignore"):  # the scores have no such sum
            added = float(weights @ gain[0, :depth])
        # Without further documents nothing else may count.
        rest = without if further else 0.0
        if not abs(with_them - rest - added) <= 1e-9 * max(1.0, abs(with_them)):
            raise _without_weights(measure)


def _without_weights(measure: Measure) -> InputError:
    """Return the error for a measure without fixed weights, with alternatives."""
    if measure.name[0] == "n" and measure.name[1:] in ("dcg", "rbp"):
        kin = measure.name[1:] + ("" if measure.cutoff is None else f"@{measure.cutoff}")
        problem = f"{measure} has no fixed rank weights: it is normalized per topic"
        return InputError("", problem, f"try '{kin}'", usage=True)
    problem, hint = f"{measure} has no fixed rank weights", "try p@10, rbp or dcg"
    if measure.definition.weights_in_ranking:
        problem, hint = f"{problem}: they depend on the ranking", "give RUN... QRELS"
    return InputError("", problem, hint, usage=True)


def _share_beyond(measure: Measure, weights: Floats) -> float:
    """Return the share of all weight past these; nan if it exists but its sum is unknown."""
    depth, k, inside = len(weights), measure.cutoff, float(weights.sum())
    if measure.definition.residual == "beyond_run":
        ones = np.ones((1, depth))
        length = np.array([depth])
        endless = kernel.gains.Gains(ones, ones > 0, ones, length, length, np.array([1.0]), tail=1.0)
        whole = float(kernel.scores_of(measure, _cut(measure, endless))[0])
    else:
        # Such a measure has no value for ranks past the end of a run; a sufficiently long run has.
        enough = 2 * depth + 1000 if k is None or k > CELLS else k
        whole, longer = (
            float(_scores(measure, np.ones((1, length)), np.array([1.0]))[0])
            for length in (max(depth, enough), 2 * max(depth, enough))
        )
        if longer - whole > 1e-12 * longer:
            return float("nan")
    if not np.isfinite(whole):
        return float("nan")
    return share_past(inside, whole)


DEPTH = 1000
"""Default number of ranks."""
DIGITS = 6
"""Digits of weights in tables for people."""
SHOWN = 10
"""Default number of ranks in tables for people."""
CELLS = 1 << 18
"""Maximum number of ranks × rankings that are scored at once."""

Normalize = Literal["none", "sum", "max"]
NORMALIZE: tuple[str, ...] = get_args(Normalize)
Quantity = Literal["W", "C", "L"]
QUANTITIES: tuple[str, ...] = get_args(Quantity)
By = Annotated["AnyMeasure | Sequence[AnyMeasure]", Setting("Measure, such as 'rbp(p=0.95)' or p@10. Repeat -m, or "
    "separate measures by spaces.", metavar="MEASURE", section="Measures and gains", spelled=("-m", "--measure"),
    measure="several", missing_hint="for example -m 'rbp(p=0.95)'")]  # fmt: skip
Ranks = Annotated[int, Setting("Print ranks 1 to N. A table has ten unless N is given.",
    kernel.ranges.WEIGHED_RANKS, metavar="N", short="Print ranks 1 to N.")]  # fmt: skip
Scaled = Annotated[Normalize, Setting("'sum': scale the weights of ranks 1 to N to sum to 1; 'max': scale the largest "
    "to 1.", short="Scale weights: sum to 1, or largest 1.")]  # fmt: skip
Of = Annotated[Quantity, Setting("W: the weights; C: the probability of going on from a rank to the next, W(i+1)/W(i); "
    "L: that a rank is the last one seen, (W(i) − W(i+1))/W(1).",
    short="Weights, continuation, or last-seen share.")]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Weights(kernel.results.InNotebook):
    """Weights of ranks 1, 2, 3, … by several measures, or the behavior of a user with these weights.

    measures   as applied
    values     ranks × measures; nan if a user never reaches a rank
    beyond     measures: share of a measure's weight past the last rank; nan if its weights go on and their sum is
               unknown
    signature  all settings that the numbers depend on, in one line
    notes      skipped data and assumptions
    quantity   `W`, or a function of the weights: `C`, `L`
    """

    measures: list[Measure]
    values: Floats
    beyond: Floats
    signature: str
    notes: list[str] = field(default_factory=list)
    quantity: Quantity = "W"

    @property
    def columns(self) -> list[str]:
        return ["rank", *map(kernel.parse.exact_label, self.measures)]

    @property
    def rows(self) -> list[list[Any]]:
        """The table as plain numbers: the rank and its weight by each measure, None if blank."""
        return [
            [rank, *(None if np.isnan(weight) else _without_rounding_error(weight) for weight in weights)]
            for rank, weights in enumerate(self.values.tolist(), 1)
        ]

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a DataFrame: rank, and a column for each measure."""
        return kernel.results.to_frame(self.rows, columns=self.columns)

    @property
    def settings_text(self) -> str:
        """Settings that the numbers depend on."""
        return self.signature

    @property
    def remarks(self) -> list[str]:
        """Weight past the last rank."""
        depth, past = len(self.values), list(zip(self.columns[1:], self.beyond.tolist(), strict=True))
        endless = [name for name, share in past if np.isnan(share)]
        remarks = [f"{name}: {share:.4g} of its weight lies past rank {depth}" for name, share in past if share > 0]
        if endless:
            remarks.append(f"{', '.join(endless)}: weights go on past rank {depth}, and their sum is not known")
        return remarks

    def document(self, layout: Layout, *, digits: int | None = None, shown: int | None = None) -> Document:
        """Return a table, a row a rank, a column a measure; for people down to the last weight that is not printed as
        0.

        digits  digits of weights for people; None: 6
        shown   maximum number of ranks for people; None: all
        """
        rank, *measures = self.columns
        columns = [Column(rank, "count"), *(Column(name, "score", digits=DIGITS) for name in measures)]
        if layout == "long":
            return Document([Table(columns, self.rows)], self.signature)
        least = 0.5 * 10.0 ** -(DIGITS if digits is None else digits)
        last = 1 + int(np.flatnonzero((np.abs(np.nan_to_num(self.values)) >= least).any(1)).max(initial=0))
        if shown is not None and shown < last:
            more = [f"ranks {shown + 1} to {len(self.values)}: {flag.ranks:N} prints more, -f csv all"]
            return Document([Table(columns, self.rows[:shown]), *more], self.signature)
        num_hidden = len(self.values) - last
        hidden = f"ranks {last + 1} to {len(self.values)}" if num_hidden > 1 else f"rank {last + 1}"
        amount = "0" if not np.nan_to_num(self.values[last:]).any() else f"less than {least:.1g}"
        more = [f"{hidden}: {plural(num_hidden, 'weight')} of {amount}"] if num_hidden else []
        return Document([Table(columns, self.rows[:last]), *more], self.signature)


def _without_rounding_error(weight: float) -> float:
    """Return 0.2 for 0.19999999999999996: a number of fewer digits that differs in the last ones alone."""
    short = f"{weight:.15g}"
    return float(short) if len(short) < len(repr(weight)) - 2 else weight


RANKS_DRAWN = 50
"""Default number of ranks in a picture."""


def weight_panels(weights: Weights) -> list[Panel]:
    """Return the picture of some weights."""
    return [pictures.Panel(partial(draw_weights, frame=weights.frame, quantity=weights.quantity), 2.1)]


@kernel.takes_options("reading")
@public
@kernel.shares_work
def weights(
    measures: By,
    runs: Any = None,
    qrels: Any = None,
    *,
    ranks: Ranks = DEPTH,
    normalize: Scaled = "none",
    quantity: Of = "W",
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Weights:
    """Return the weight of each rank under measures that are sums of weighted gains.

    measures   notation, as in "rbp(p=0.95) dcg p@10"; ap, rr, sp, bpref and q need runs
    runs       as in `evaluate`: one run, a list of runs, or a dict of them by name
    qrels      as in `evaluate`
    ranks      number of ranks
    normalize  `none`; `sum`: weights sum to 1 over these ranks; `max`: the largest is 1
    quantity   `W`: the weights; `C`: W(i+1)/W(i), the probability of going on from a rank to the next; `L`: (W(i) −
               W(i+1))/W(1), the probability that a rank is the last one seen. Both describe the user with these
               weights (Moffat et al., TOIS 2017), and are probabilities if no weight exceeds the previous one
    keywords   options, as in `evaluate`

    Returns `Weights`: `.frame`, `.values`, `.beyond`. For ap, rr, sp, bpref and q the weights implied by each
    ranking are averaged over runs and topics. Zhang et al., Information Retrieval 2010, section 3. Raises InputError
    also for a measure without weights.

    >>> gradedeval.weights("rbp(p=0.5) p@2", ranks=3).frame
       rank  rbp(p=0.5)  p@2
    0     1       0.500  0.5
    1     2       0.250  0.5
    2     3       0.125  0.0
    """
    options, chosen = kernel.resolve_options(like, **keywords), kernel.parse_measures(measures)
    named = None if runs is None else kernel.named_runs(runs)
    ranks = kernel.ranges.WEIGHED_RANKS.check(ranks)
    _check_quantity(quantity, normalize)
    if not chosen:
        raise InputError("", "no measures given", "for example 'rbp(p=0.95) dcg'", usage=True)
    if (runs is None) != (qrels is None):
        raise InputError("", "runs and qrels belong together", "give both or neither", usage=True)
    result = _weights(chosen, named, qrels, options, ranks if quantity == "W" else ranks + 1, normalize)
    under = f"{result.signature} | ranks 1..{ranks}"
    if quantity == "W":
        result = replace(result, signature=f"{under} | normalize {normalize}")
    else:
        result = _of_user(result, quantity, under)
    return replace(result, notes=emit_notes(result.notes))


def _check_quantity(quantity: str, normalize: str) -> None:
    """Raise InputError (usage) for an unknown value, or if normalizing has no effect on the quantity."""
    check_choice(normalize, NORMALIZE, flag.normalize)
    check_choice(quantity, QUANTITIES, flag.quantity)
    if quantity != "W" and normalize != "none":
        problem = f"{quantity}(i) is the same for weights of any sum"
        raise InputError(flag.normalize, problem, "leave it out", usage=True)


def _weights(
    measures: Sequence[Measure],
    runs: Mapping[str, Any] | None,
    qrels: Any,
    options: Options,
    depth: int,
    normalize: str,
) -> Weights:
    """Return the weights of ranks down to a depth, without the settings of their transformation in the signature."""
    chosen = list(dict.fromkeys(kernel.scores.with_defaults(measure, options) for measure in measures))
    for measure in chosen:
        if measure.prior is not None:
            raise InputError(f"'{measure}'", "a mean over intents has no weights", "use the measure inside", usage=True)
    implied = [measure for measure in chosen if measure.definition.weights_in_ranking and runs is not None]
    # Before any run is read, so that a measure without weights fails at once.
    columns = {measure: fixed_weights(measure, depth) for measure in chosen if measure not in implied}
    notes = _cost_notes(list(columns))
    settings = [f"gradedeval {__version__}"]
    if implied and runs is not None:
        judged = kernel.qrels_for(runs, qrels, options)
        averaged = background(runs, judged, implied, options, depth)
        columns |= dict(zip(implied, zip(averaged.weights.T, averaged.shares.tolist(), strict=True), strict=True))
        notes += averaged.notes
        under = kernel.signature(judged, options, implied, averaged.counts, averaged.formats)
        settings = [str(under), f"{len(runs)} {plural(len(runs), 'run')}"]
    elif runs is not None:
        notes.append("the runs are not read: the weights of these measures are the same for all")
    values = np.stack([_normalized(columns[measure][0], measure, normalize) for measure in chosen], axis=1)
    beyond = np.array([columns[measure][1] for measure in chosen])
    return Weights(chosen, values, beyond, " | ".join(settings), notes)


def _of_user(weights: Weights, quantity: str, signature: str) -> Weights:
    """Return C(i) or L(i) of the user with these weights, down to the last rank but one."""
    current, following = weights.values[:-1], weights.values[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        goes_on = np.where(current > 0, following / current, np.nan)
    values = (current - following) / weights.values[0] if quantity == "L" else goes_on
    past = [_past(column, share) for column, share in zip(weights.values.T, weights.beyond.tolist(), strict=True)]
    notes, signature = [*weights.notes, *_rising(weights)], f"{signature} | {quantity}(i) of the weights"
    return Weights(weights.measures, values, np.array(past), signature, notes, cast(Quantity, quantity))


def _past(weights: Floats, share: float) -> float:
    """Return the share of the weight past the last rank but one, from the share past the last."""
    whole = float(weights.sum()) / (1 - share) if share < 1 else np.inf
    return float("nan") if np.isnan(share) else share_past(float(weights[:-1].sum()), whole)


def _rising(weights: Weights) -> list[str]:
    """Return a note for each measure with a weight above the previous one: no user has these weights."""
    rising = weights.values[1:] > weights.values[:-1] + TOLERANCE
    return [
        f"{name}: its weight rises at rank {int(column.argmax()) + 2}, so C and L are not probabilities there"
        for name, column in zip(weights.columns[1:], rising.T, strict=True)
        if column.any()
    ]


def _cost_notes(fixed: Sequence[Measure]) -> list[str]:
    """Return notes on fixed weights that depend on costs of documents: here each costs 1."""
    units = {measure.name: cwl.cost_unit for measure in fixed if (cwl := measure.definition.cwl) and cwl.cost_unit}
    return [f"{name}: {unit}; the weights are those of documents that cost 1 each" for name, unit in units.items()]


def _normalized(weights: Floats, measure: Measure, normalize: str) -> Floats:
    if normalize == "none":
        return weights
    divisor = float(weights.sum() if normalize == "sum" else weights.max())
    if not divisor > 0:
        problem = f"its weights down to rank {len(weights)} have {normalize} {divisor:g}"
        raise InputError(f"'{measure}'", problem, f"leave out {flag.normalize}, or raise {flag.ranks}")
    return weights / divisor


LABELS = {"W": "W(i): weight", "C": "C(i): probability of going on", "L": "L(i): probability of stopping"}
FEW = 25
"""Maximum number of points that are marked on a line."""
SOURCE = "the result of gradedeval.weights"


@public
def plot_weights(weights: Any, *, ranks: int | None = None, ax: Axes | None = None) -> Axes:
    """Plot W(i), C(i) or L(i) over ranks, a line for each measure.

    weights  result of `gradedeval.weights`, or its frame
    ranks    number of ranks; None: the first 50
    ax       matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, for ranks that are not numbers from
    1.

    >>> axes = gradedeval.plot.weights(gradedeval.weights("rbp(p=0.5) p@2", ranks=3))
    >>> [line.get_label() for line in axes.lines]
    ['rbp(p=0.5)', 'p@2']
    """
    ranks = kernel.ranges.RANKS.check_or_none(ranks) or RANKS_DRAWN
    frame = pictures.require_frame(weights, ["rank"], "weights", SOURCE)
    if len(frame.columns) == 1:
        raise InputError("plot.weights", "the frame has no column but rank", f"give {SOURCE}", usage=True)
    pictures.check_numbers(frame, frame.columns, "weights", SOURCE)
    quantity = getattr(weights, "quantity", "W")
    frame = frame[frame["rank"] <= ranks]
    return pictures.draw_on(partial(draw_weights, frame=frame, quantity=quantity), ax)


def draw_weights(ax: Axes, frame: pd.DataFrame, quantity: str) -> None:
    """Draw the columns of a frame over its ranks."""
    rank = frame["rank"].to_numpy(dtype=float)
    names = [str(name) for name in frame.columns if name != "rank"]
    values = frame[names].to_numpy(dtype=float)
    for column, (name, look) in enumerate(zip(names, pictures.line_styles(len(names)), strict=True)):
        few = np.isfinite(values[:, column]).sum() <= FEW
        marker: dict[str, Any] = {"marker": "osD^vP*"[column % 7]} if few else {}
        ax.plot(rank, values[:, column], label=pictures.label_text(name), **look, **marker)
    ax.set_ylim(min(0.0, float(values.min(where=np.isfinite(values), initial=0))), None)
    ax.set_xlim(0.5, rank.max() + 0.5)
    pictures.use_integer_ticks(ax)
    ax.grid(color=pictures.LIGHT, linewidth=0.4)
    ax.set_xlabel("rank i (documents)")
    ax.set_ylabel(LABELS[quantity])
    pictures.legend(ax)
