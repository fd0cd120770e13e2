"""Objectives and metrics, in the shapes in which LightGBM, XGBoost and PyTorch ask for them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from gradedeval import kernel
from gradedeval.arrays import Floats
from gradedeval.errors import InputError, Note, emit_notes, public
from gradedeval.kernel import MEASURES, AnyMeasure, JudgedLists, Measure
from gradedeval.ltr.lists import (
    CELLS,
    Block,
    Lists,
    bands,
    changes,
    check_better,
    check_length,
    checked_top,
    lists_of,
    one_measure,
    pairs,
)

# The lists in the data of learning-to-rank libraries, which are not imported.


def grouped_by_lightgbm(dataset: Any) -> dict[str, Any]:
    """Return the sizes of the lists of a LightGBM Dataset. Raises InputError (usage) if it has none."""
    sizes = dataset.get_group()
    if sizes is None or not len(sizes):
        hint = "make it as lightgbm.Dataset(..., group=sizes)"
        raise InputError("dataset", "does not say which documents are in a list", hint, usage=True)
    return {"group": sizes}


def grouped_by_xgboost(dmatrix: Any) -> dict[str, Any]:
    """Return the sizes of the lists of an XGBoost DMatrix. Raises InputError (usage) if it has none."""
    ends = np.asarray(dmatrix.get_uint_info("group_ptr")).astype(np.int64)
    sizes = np.diff(ends)
    if not len(sizes):
        hint = "make it as xgboost.DMatrix(..., qid=…), or call set_group(sizes)"
        raise InputError("dmatrix", "does not say which documents are in a list", hint, usage=True)
    return {"group": sizes[sizes > 0]}


def _check(target: Metric | Objective) -> None:
    """Parse the measure and the top grade. Raises InputError (usage) for an unsupported measure or an invalid grade."""
    measure = one_measure(target.measure)
    object.__setattr__(target, "measure", measure)
    object.__setattr__(target, "top", checked_top(measure, target.top))
    check_better(measure)


# Measures as metrics for early stopping.


@dataclass(frozen=True, eq=False)
class Metric:
    """A measure as a metric of a validation set: the mean that `gradedeval` prints of a run with these scores.

    measure  the measure
    top      the top grade of the scale, for gains that depend on it; None: the highest label of each data set, with a
             warning: a validation set may lack the top grade

    Documents with equal scores rank in the order of the data (`--ties file`). Lists without a relevant document count,
    as topics do. Weights are ignored: all lists weigh the same. `xgboost.train` stops early at the highest value only
    with `maximize=True`. XGBRanker is not served: it calls a metric list by list, scores lists of one document
    1, and weighs the others by their length.

    Every method raises InputError where labels are not grades or above `top`, scores are not finite, or lists do not
    add up to the documents.
    """

    measure: Measure
    _: KW_ONLY
    top: float | None = None
    _said: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check(self)

    @property
    def name(self) -> str:
        """The measure as written; for XGBoost, + replaces spaces and colons."""
        return self.measure.label

    @property
    def higher_better(self) -> bool:
        """Whether higher values are better."""
        return self.measure.reading.better == "higher"

    def _mean(self, labels: Any, scores: Any, group: Any) -> float:
        """Return the mean over lists, or the summary of the measure."""
        documents = JudgedLists.of(labels, group, None)
        result = documents.evaluated(self.measure, documents.scores_of(scores), self.top)
        # Their hints name options, which a metric lacks; that on few topics names none.
        notes = [
            note.with_hint("") if isinstance(note, Note) and note.kind != "few-topics" else note
            for note in result.notes
        ]
        if self.top is None and self.measure.depends_on_top:
            notes.insert(0, f"{self.name}: the highest label of each data set is taken as the top grade; set top=")
        emit_notes(note for note in notes if note not in self._said)
        self._said.update(notes)
        (mean,) = result.means.values()
        return float(mean)

    def lightgbm(self, preds: Any, dataset: Any) -> tuple[str, float, bool]:
        """Return name, value and whether higher is better, for `lightgbm.train(..., feval=metric.lightgbm)`."""
        value = self._mean(dataset.get_label(), preds, **grouped_by_lightgbm(dataset))
        return self.name, value, self.higher_better

    def sklearn(self, y_true: Any, y_pred: Any, weight: Any, group: Any) -> tuple[str, float, bool]:
        """Return name, value and whether higher is better, for `LGBMRanker().fit(..., eval_metric=metric.sklearn)`."""
        return self.name, self._mean(y_true, y_pred, group), self.higher_better

    def xgboost(self, preds: Any, dmatrix: Any) -> tuple[str, float]:
        """Return name and value, for `xgboost.train(..., custom_metric=metric.xgboost)`."""
        value = self._mean(dmatrix.get_label(), preds, **grouped_by_xgboost(dmatrix))
        return self.name.replace(" ", "+").replace(":", "+"), value


@public
def metric(measure: AnyMeasure, *, top: float | None = None) -> Metric:
    """Make a measure a metric for early stopping in LightGBM and XGBoost.

    measure  one, as for `evaluate`; it must need only grades and scores
    top      the top grade of the scale; None: the highest label of each data set, with a warning if gains depend on it

    Returns `Metric`. Raises InputError (usage) for a wrong value, or a measure without a better direction.

    >>> metric = gradedeval.ltr.metric("p@2")
    >>> metric.sklearn([1, 0, 0], [0.9, 0.5, 0.1], None, [3])  # labels, scores, weights, sizes of lists
    ('p@2', 0.5, True)
    """
    return Metric(one_measure(measure), top=top)


# Objectives: gradients and Hessians of scores.


LOWEST_HESSIAN = 1e-12
"""Hessian of documents without gradient: libraries divide by sums of Hessians."""

SIGMA = kernel.ranges.Number("sigma", minimum=1e-12, maximum=1e12)
TRUNCATION = kernel.ranges.Number("truncation", whole=True, minimum=1)

Gradients = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Objective:
    """The training objective of a ranker, as gradients for learning-to-rank libraries.

    measure  the measure
    top      the top grade of the scale, for gains that depend on it; None: the highest label of the data it is given,
             which are those of training, with a warning where other data, as a batch, have another one

    Labels are grades, whole numbers from 0. A list in which all documents are worth the same, as one without a relevant
    document, has gradients of 0: no order of it is better. Gradients and Hessians are multiplied by the weights of
    documents where the data have them, or by those of their lists, as XGBoost has; no library does it for an objective
    of one's own. CatBoost is not among the libraries: it calls an objective in Python with parts of the data, and says
    nothing of lists. XGBRanker takes no callable: use `xgb.train`.

    Every method raises InputError where labels are not grades or above `top`, scores are not finite, lists do not add
    up to the documents, or are too long for a measure without a closed form.
    """

    measure: Measure
    _: KW_ONLY
    top: float | None = None
    _known: list[Lists] = field(default_factory=list, init=False, repr=False, compare=False)
    _tops: list[float] = field(default_factory=list, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without training data: models are copied and saved with their objective."""
        return {**vars(self), "_known": []}

    def __post_init__(self) -> None:
        _check(self)

    def gradients(
        self, labels: Any, scores: Any, *, group: Any = None, qid: Any = None, weight: Any = None
    ) -> Gradients:
        """Return gradients and Hessians of the minimized loss, for each document.

        labels  documents: grades
        scores  documents: scores of the model; documents with equal scores stay in the order of the arrays
        group   the sizes of lists, list after list; or
        qid     documents: the list of each, in any order
        weight  documents, or lists: weights; None: 1 each
        """
        documents = JudgedLists.of(labels, group, qid)
        gradient, hessian = self._of_lists(self._lists(documents), documents.scores_of(scores))
        weights = _weights(weight, documents)
        return gradient * weights, np.maximum(hessian * weights, LOWEST_HESSIAN)

    def values(self, labels: Any, scores: Any, *, group: Any = None, qid: Any = None) -> Floats:
        """Return the score of each list, in the order of `group` or of first appearance in `qid`.
        Scores are maximized; a cost is minimized."""
        documents = JudgedLists.of(labels, group, qid)
        return self._values(self._lists(documents), documents.scores_of(scores))

    def lightgbm(self, preds: Any, dataset: Any) -> Gradients:
        """Return gradients and Hessians, for `lightgbm.train`: `params["objective"] = objective.lightgbm`."""
        return self.gradients(dataset.get_label(), preds, weight=dataset.get_weight(), **grouped_by_lightgbm(dataset))

    def sklearn(self, y_true: Any, y_pred: Any, weight: Any, group: Any) -> Gradients:
        """Return gradients and Hessians, for `lightgbm.LGBMRanker(objective=objective.sklearn)`."""
        return self.gradients(y_true, y_pred, group=group, weight=weight)

    def xgboost(self, preds: Any, dmatrix: Any) -> Gradients:
        """Return gradients and Hessians, for `xgboost.train(..., obj=objective.xgboost)`."""
        result = self.gradients(dmatrix.get_label(), preds, weight=dmatrix.get_weight(), **grouped_by_xgboost(dmatrix))
        gradient, hessian = (values.reshape(np.shape(preds)) for values in result)
        return gradient, hessian

    def torch(self, scores: Any, labels: Any, *, group: Any = None, qid: Any = None) -> Any:
        """Return the loss for PyTorch: minus the mean of `values` (of a cost the mean), with the objective's gradient.

        scores  a tensor: documents, or lists × documents, which need no `group` and no `qid`
        labels  the grades, in the same shape

        Raises InputError (usage) if PyTorch is not installed.
        """
        function = _function()
        if getattr(scores, "ndim", 1) == 2 and group is None and qid is None:
            group = [scores.shape[1]] * scores.shape[0]
        if np.shape(labels) != tuple(scores.shape):
            problem = f"have the shape {tuple(np.shape(labels))}, scores {tuple(scores.shape)}"
            raise InputError("labels", problem, "give each document a grade and a score", usage=True)
        return function.apply(scores, self, labels, group, qid)

    def loss_and_slopes(self, labels: Any, scores: Any, *, group: Any = None, qid: Any = None) -> tuple[float, Floats]:
        """Return the loss and its gradient for each document, as `torch` does."""
        documents = JudgedLists.of(labels, group, qid)
        lists, model_scores = self._lists(documents), documents.scores_of(scores)
        slopes = self._slopes(lists, model_scores) / len(documents.sizes)
        mean = float(self._values(lists, model_scores).mean())
        return mean if self.measure.reading.better == "lower" else -mean, slopes

    def _lists(self, documents: JudgedLists) -> Lists:
        """Return the prepared lists, cached between iterations."""
        cache = self._known
        if not cache or not documents.same(cache[0].judged):
            cache[:] = [self._prepare(documents)]
            self._note_top(float(cache[0].labels[-1]))
        return cache[0]

    def _note_top(self, highest: float) -> None:
        """Warn if the highest label differs from the previous one and gains depend on it."""
        if self.top is not None or not highest or highest in self._tops or not self.measure.depends_on_top:
            return
        if self._tops:
            problem = f"the highest label is {highest:g}, and was {self._tops[-1]:g}: gains differ; set top="
            emit_notes([f"{self.measure}: {problem}"])
        self._tops.append(highest)

    def _prepare(self, documents: JudgedLists) -> Lists:
        return lists_of(self.measure, documents, self.top, None)

    def _of_lists(self, lists: Lists, scores: Floats) -> Gradients:
        raise NotImplementedError

    def _slopes(self, lists: Lists, scores: Floats) -> Floats:
        raise NotImplementedError

    def _values(self, lists: Lists, scores: Floats) -> Floats:
        """Return the score of each list."""
        return np.array(lists.judged.evaluated(lists.measure, scores, self.top).runs[0].score[:, 0])


def _weights(weight: Any, documents: JudgedLists) -> Floats | float:
    """Return the weight of each document, in the caller's order."""
    if weight is None or not np.size(weight):
        return 1.0
    values, lists = kernel.evaluate_arrays.as_numbers(weight, "weight").ravel(), len(documents.sizes)
    count = len(documents.labels)
    if len(values) not in (count, lists) or not (np.isfinite(values) & (values >= 0)).all():
        what = f"is not a weight for each of {count} documents or {lists} lists"
        raise InputError("weight", what, "give numbers from 0 on, one each", usage=True)
    if len(values) == count:
        return values
    spread = np.repeat(values, documents.sizes)
    if documents.order is None:
        return spread
    placed = np.empty(count)
    placed[documents.order] = spread
    return placed


@dataclass(frozen=True, eq=False)
class LambdaObjective(Objective):
    """LambdaRank for any measure: pairs pull at each other by how much the measure changes when they change places.

    sigma       how steep: λ = σ |Δ| / (1 + e^(σ (s_better − s_worse)))
    truncation  pairs count whose upper document is among this many first ones; None: all pairs
    norm        as LightGBM: |Δ| is divided by 0.01 + the distance of the scores, but where all scores are equal; and
                with Σ = 2 Σλ of a list, its gradients are multiplied by log2(1 + Σ) / Σ

    Where all scores are equal, as before the first tree, documents rank in the order of the data, as in LightGBM: files
    that are sorted by label flatter the first iteration. Burges, MSR-TR-2010-82; for gap Robertson et al., SIGIR 2010,
    section 5. See `Objective` for how it is given to a library.
    """

    _: KW_ONLY
    sigma: float = 1.0
    truncation: int | None = 30
    norm: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        SIGMA.check_field(self, "sigma")
        TRUNCATION.check_field(self, "truncation")

    def _prepare(self, documents: JudgedLists) -> Lists:
        lists = lists_of(self.measure, documents, self.top, self.truncation)
        check_length(lists)
        return lists

    def _of_lists(self, lists: Lists, scores: Floats) -> Gradients:
        gradient, hessian = np.zeros(len(scores) + 1), np.zeros(len(scores) + 1)
        padded = np.append(scores, -np.inf)
        for block in lists.blocks:
            score = padded[block.position]
            order = np.argsort(-score, axis=1, kind="stable")
            ranked, score = block.ordered(order), np.take_along_axis(score, order, 1)
            gradient[ranked.position], hessian[ranked.position] = self._of_block(lists, ranked, score)
        return gradient[:-1], hessian[:-1]

    def _slopes(self, lists: Lists, scores: Floats) -> Floats:
        return self._of_lists(lists, scores)[0]

    def _of_block(self, lists: Lists, ranked: Block, score: Floats) -> Gradients:
        """Return lists × ranks: gradients and Hessians."""
        last_score = score[np.arange(len(score)), ranked.lengths - 1][:, None]
        score = np.maximum(score, last_score)  # that of the padding is of no pair
        divided = self.norm & (score[:, :1] != last_score)[:, :, None]
        gradient, hessian = np.zeros(score.shape), np.zeros(score.shape)
        total = np.zeros((len(score), 1))
        for first, last in bands(ranked, self.truncation):
            rows, below = slice(first, last), slice(first + 1, None)
            better = pairs(ranked, first, last)
            apart = score[:, rows, None] - score[:, None, below]
            pull = changes(lists, ranked, first, last)
            np.abs(pull, out=pull)
            pull *= better
            if divided.any():
                pull /= np.where(divided, 0.01 + apart, 1.0)
            apart *= self.sigma
            apart *= better
            with np.errstate(over="ignore"):
                chance = 1 / (1 + np.exp(apart, out=apart))
            pull *= self.sigma * chance
            gradient[:, rows] -= pull.sum(2)
            gradient[:, below] += pull.sum(1)
            np.abs(pull, out=pull)
            total += 2 * pull.sum((1, 2))[:, None]
            pull *= self.sigma * (1 - chance)
            hessian[:, rows] += pull.sum(2)
            hessian[:, below] += pull.sum(1)
        if self.norm:
            factor = np.divide(np.log2(1 + total), total, out=np.ones(total.shape), where=total > 0)
            return gradient * factor, hessian * factor
        return gradient, hessian


@public
def objective(
    measure: AnyMeasure,
    *,
    sigma: float = 1.0,
    truncation: int | None = 30,
    norm: bool = True,
    top: float | None = None,
) -> LambdaObjective:
    """Make any measure a LambdaRank objective of LightGBM, XGBoost or PyTorch.

    measure     one, as for `evaluate`; it must need only grades and scores
    sigma       how steep: λ = σ |Δ| / (1 + e^(σ (s_better − s_worse)))
    truncation  pairs count whose upper document is among this many first ones; None: all pairs
    norm        whether distances of scores and sums of gradients are evened out, as LightGBM does
    top         the top grade of the scale; None: the highest label

    A swap's change has a closed form if the score is a sum over ranks with fixed weights (see `swap_deltas`); with
    other measures lists may have 50 documents. Returns `LambdaObjective`. Raises InputError (usage) for a wrong value.

    >>> objective = gradedeval.ltr.objective("ap")
    >>> gradients, _ = objective.sklearn(np.array([1, 0]), np.array([0.0, 0.5]), None, [2])
    >>> gradients.round(4)
    array([-0.5754,  0.5754])
    """
    return LambdaObjective(one_measure(measure), sigma=sigma, truncation=truncation, norm=norm, top=top)


# Smooth objectives: a measure of documents ranked by noisy scores, which has a gradient.


SMALLEST = 1e-100
"""Minimum chance as a divisor of products."""


@dataclass(frozen=True, eq=False)
class SmoothObjective(Objective):
    """A measure with π_mn, the chance that document m ranks above n, in place of ranks.

    noise  noise on scores: `normal`, π_mn = Φ((s_m − s_n) / (√2 σ)), as SoftRank has it, or `logistic`,
           π_mn = 1 / (1 + e^(−(s_m − s_n) / σ)), as approximations like ApproxNDCG have it
    sigma  scale of the noise: as it goes to 0, values go to the measure's

    A document's rank becomes 1 + Σ_m π_mn, and weights are interpolated between ranks, in a straight line. With gain G,
    weights w and ranks B: Σ G_n w(B_n); of a cascade Σ r_n w(B_n) Π_m (1 − r_m π_mn); of ap and gap
    Σ w(B_n) A_n / B_n with A_n = G_n + Σ_m π_mn min(G_m, G_n). As a boosting objective the gradient of a list is
    multiplied by its length, and Hessians are 1. See `Objective` for its use with libraries.
    """

    _: KW_ONLY
    noise: Literal["normal", "logistic"] = "normal"
    sigma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        SIGMA.check_field(self, "sigma")

    def _prepare(self, documents: JudgedLists) -> Lists:
        lists = lists_of(self.measure, documents, self.top, None)
        # Documents without gain add nothing: the others come first.
        blocks = [block.ordered(np.argsort(-block.gain, axis=1, kind="stable")) for block in lists.blocks]
        lists.blocks[:] = blocks
        return lists

    def _of_lists(self, lists: Lists, scores: Floats) -> Gradients:
        _, slopes = self._smoothed(lists, scores)
        hessian = np.zeros(len(scores) + 1)
        for block in lists.blocks:
            slopes[block.position] *= block.lengths[:, None]
            hessian[block.position] = 1.0
        return slopes[:-1], hessian[:-1]

    def _slopes(self, lists: Lists, scores: Floats) -> Floats:
        return self._smoothed(lists, scores)[1][:-1]

    def _values(self, lists: Lists, scores: Floats) -> Floats:
        values = super()._values(lists, scores)  # those of lists in which no order is better
        values[lists.varied] = self._smoothed(lists, scores)[0]
        return values

    def _smoothed(self, lists: Lists, scores: Floats) -> tuple[Floats, Floats]:
        """Return the values of the lists in blocks, and minus their slopes: documents, then the padding."""
        slopes, values, padded = np.zeros(len(scores) + 1), [], np.append(scores, -np.inf)
        for block in lists.blocks:
            value, slope = self._of_block(lists, block, padded[block.position])
            values.append(value)
            slopes[block.position] = -slope
        return np.concatenate([*values, np.zeros(0)]), slopes

    def _of_block(self, lists: Lists, block: Block, score: Floats) -> tuple[Floats, Floats]:
        """Return lists: values; lists × documents: slopes."""
        width = score.shape[1]
        value, slope = np.zeros(len(score)), np.zeros(score.shape)
        scores = np.where(np.isfinite(score), score, 0.0)
        there = np.arange(width) < block.lengths[:, None]
        last = int(np.count_nonzero(block.gain, axis=1).max())
        step = max(1, CELLS // score.size)
        smooth = _SMOOTH[lists.measure.rank_sum.of]  # type: ignore[union-attr]
        for first in range(0, last, step):
            rows = slice(first, min(first + step, last))
            above, density = _chances(scores[:, None, :] - scores[:, rows, None], self.noise, self.sigma)
            others = there[:, None, :] & (np.arange(width) != np.arange(width)[rows, None])
            above *= others
            density *= others
            smoothed = smooth(block, rows, above)
            value += smoothed.value.sum(1)
            density *= smoothed.slope
            slope += density.sum(1)
            slope[:, rows] -= density.sum(2)
        return value, slope


def _chances(apart: Floats, noise: str, sigma: float) -> tuple[Floats, Floats]:
    """Return the chances that documents rank above others by differences of scores, and their slopes."""
    from scipy.special import expit, ndtr

    if noise == "normal":
        apart /= np.sqrt(2) * sigma
        return ndtr(apart), np.exp(-(apart**2) / 2) / (2 * sigma * np.sqrt(np.pi))
    above = expit(apart / sigma)
    return above, above * (1 - above) / sigma


class Smoothed(NamedTuple):
    """value  lists × rows: contributions of documents; slope: lists × rows × documents: its slope by the chances."""

    value: Floats
    slope: Floats


def _interpolate(block: Block, rank: Floats) -> tuple[Floats, Floats]:
    """Interpolate the weights at fractional ranks, and return them and their slopes."""
    assert block.weights is not None
    lower = np.clip(rank.astype(np.int64) - 1, 0, block.weights.shape[1] - 2)
    weight = np.take_along_axis(block.weights, lower, 1)
    slope = np.take_along_axis(block.weights, lower + 1, 1) - weight
    return weight + (rank - 1 - lower) * slope, slope


def _of_gain(block: Block, rows: slice, above: Floats) -> Smoothed:
    weight, slope = _interpolate(block, 1 + above.sum(2))
    gain = block.gain[:, rows]
    return Smoothed(gain * weight, (gain * slope)[:, :, None])


def _of_stop(block: Block, rows: slice, above: Floats) -> Smoothed:
    weight, slope = _interpolate(block, 1 + above.sum(2))
    going_on = np.maximum(1 - block.gain[:, None, :] * above, SMALLEST)
    stop = block.gain[:, rows] * going_on.prod(2)
    by_chance = -block.gain[:, None, :] * (stop * weight)[:, :, None] / going_on
    by_chance += (stop * slope)[:, :, None]
    return Smoothed(stop * weight, by_chance)


def _of_precision(block: Block, rows: slice, above: Floats) -> Smoothed:
    rank = 1 + above.sum(2)
    weight, slope = _interpolate(block, rank)
    gain = block.gain[:, rows]
    shared = np.minimum(block.gain[:, None, :], gain[:, :, None])
    precision = (gain + (above * shared).sum(2)) / rank
    shared *= (weight / rank)[:, :, None]
    shared += (precision * (slope - weight / rank))[:, :, None]
    return Smoothed(weight * precision, shared)


_SMOOTH = {"gain": _of_gain, "stop": _of_stop, "precision": _of_precision}


@public
def softgap(measure: AnyMeasure = "gap", *, sigma: float = 0.5, top: float | None = None) -> SmoothObjective:
    """Make the objective SoftGAP: graded average precision of documents ranked by scores with normal noise.

    measure  gap, with any `g`, or ap or sp, of which it is the same
    sigma    the standard deviation of the noise: as it goes to 0, values go to the measure's
    top      the top grade of the scale; None: the highest label

    Robertson et al., SIGIR 2010, section 5; its sum over m holds m ≠ n, and its divisor Σ_i R_i Σ_{j≤i} g_j. Returns
    `SmoothObjective`. Raises InputError (usage) for another measure or a wrong value.

    >>> gradients, _ = gradedeval.ltr.softgap().sklearn(np.array([1, 0]), np.array([0.0, 0.5]), None, [2])
    >>> gradients.round(4)
    array([-0.2836,  0.2836])
    """
    return _smooth(measure, "normal", sigma, top, ("precision",), "softgap", "approx(…)")


@public
def approx(measure: AnyMeasure = "ndcg", *, sigma: float = 0.1, top: float | None = None) -> SmoothObjective:
    """Make an objective: a smooth approximation of any measure that is a sum over ranks with fixed weights.

    measure  one with a closed form in `swap_deltas`, as ndcg, err, rbp, ap and gap
    sigma    the temperature: as it goes to 0, values go to the measure's
    top      the top grade of the scale; None: the highest label

    Of ap this is ApproxAP of Qin, Liu & Li, Information Retrieval 2010, with α = 1/σ; of ndcg it is their ApproxNDCG,
    but that weights between whole ranks lie on straight lines. Returns `SmoothObjective`. Raises InputError (usage) for
    another measure or a wrong value.

    >>> gradedeval.ltr.approx("ndcg")
    SmoothObjective(measure=ndcg, top=None, noise='logistic', sigma=0.1)
    """
    return _smooth(measure, "logistic", sigma, top, ("gain", "stop", "precision"), "approx", "objective(…)")


def _smooth(
    measure: AnyMeasure,
    noise: Literal["normal", "logistic"],
    sigma: float,
    top: float | None,
    forms: tuple[str, ...],
    name: str,
    instead: str,
) -> SmoothObjective:
    parsed = one_measure(measure)
    if parsed.rank_sum is None or parsed.rank_sum.of not in forms:
        sums = {measure_name: definition.rank_sum for measure_name, definition in MEASURES.items()}
        names = [measure_name for measure_name, each in sums.items() if each is not None and each.of in forms]
        hint = f"use one of {', '.join(names)}, or gradedeval.ltr.{instead}"
        raise InputError(f"'{parsed}'", f"{name} has no formula for it", hint, usage=True)
    return SmoothObjective(parsed, noise=noise, sigma=sigma, top=top)


# Objectives as losses of PyTorch.


@lru_cache(maxsize=1)
def _function() -> Any:
    """Return the autograd function. Raises InputError (usage) if PyTorch is not installed."""
    try:
        import torch
    except ImportError:
        hint = "pip install torch"
        raise InputError("torch", "PyTorch is not installed", hint, usage=True) from None

    class Loss(torch.autograd.Function):  # type: ignore[misc]
        """Minus the mean of an objective's values; the slopes are found on the way."""

        @staticmethod
        def forward(ctx: Any, scores: Any, objective: Objective, labels: Any, group: Any, qid: Any) -> Any:
            grades = labels.detach().cpu().double().numpy() if hasattr(labels, "detach") else labels
            model_scores = scores.detach().cpu().double().numpy()
            value, slopes = objective.loss_and_slopes(grades, model_scores, group=group, qid=qid)
            ctx.save_for_backward(scores.new_tensor(slopes).reshape(scores.shape))
            return scores.new_tensor(value)

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Any) -> Any:
            (slopes,) = ctx.saved_tensors
            return gradient * slopes, None, None, None, None

    return Loss
