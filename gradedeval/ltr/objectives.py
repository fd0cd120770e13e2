"""Objectives: gradients and Hessians of scores, in the shapes in which LightGBM, XGBoost and PyTorch ask for them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError, warn_caller
from gradedeval.ltr.libraries import grouped_by_lightgbm, grouped_by_xgboost
from gradedeval.ltr.lists import (
    Block,
    Judged,
    Lists,
    check_better,
    checked_top,
    finite_scores,
    judged,
    lists_of,
    one_measure,
)
from gradedeval.ltr.metrics import scores_of_lists
from gradedeval.ltr.swaps import bands, changes, check_length, pairs
from gradedeval.measures.applied import depends_on_top
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.on_arrays import numbers
from gradedeval.options.numbers import Number

LOWEST_HESSIAN = 1e-12
"""That of documents which nothing moves: libraries divide by sums of them."""

SIGMA = Number("sigma", minimum=1e-12, maximum=1e12)
TRUNCATION = Number("truncation", whole=True, minimum=1)

Gradients = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Objective:
    """What a ranker is trained for, as gradients that libraries of learning to rank minimize by.

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
        """Without the data it was trained on: models are copied and written with their objective."""
        return {**vars(self), "_known": []}

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", one_measure(self.measure))
        object.__setattr__(self, "top", checked_top(self.measure, self.top))
        check_better(self.measure)

    def gradients(
        self, labels: Any, scores: Any, *, group: Any = None, qid: Any = None, weight: Any = None
    ) -> Gradients:
        """Gradients and Hessians of what is minimized, documents each.

        labels  documents: grades
        scores  documents: the model's; documents with equal scores stay in the order of the arrays
        group   the sizes of lists, list after list; or
        qid     documents: the list of each, in any order
        weight  documents, or lists: weights; None: 1 each
        """
        documents = judged(labels, group, qid)
        gradient, hessian = self._of_lists(self._lists(documents), finite_scores(scores, len(documents.labels)))
        weights = _weights(weight, documents)
        return gradient * weights, np.maximum(hessian * weights, LOWEST_HESSIAN)

    def values(self, labels: Any, scores: Any, *, group: Any = None, qid: Any = None) -> Floats:
        """The scores by the measure, lists each, in the order in which `group` has them, or they first appear in `qid`:
        what is maximized, or of a cost minimized."""
        documents = judged(labels, group, qid)
        return self._values(self._lists(documents), finite_scores(scores, len(documents.labels)))

    def lightgbm(self, preds: Any, dataset: Any) -> Gradients:
        """For `lightgbm.train`: `params["objective"] = objective.lightgbm`."""
        return self.gradients(dataset.get_label(), preds, weight=dataset.get_weight(), **grouped_by_lightgbm(dataset))

    def sklearn(self, y_true: Any, y_pred: Any, weight: Any, group: Any) -> Gradients:
        """For `lightgbm.LGBMRanker(objective=objective.sklearn)`."""
        return self.gradients(y_true, y_pred, group=group, weight=weight)

    def xgboost(self, preds: Any, dmatrix: Any) -> Gradients:
        """For `xgboost.train(..., obj=objective.xgboost)`."""
        found = self.gradients(dmatrix.get_label(), preds, weight=dmatrix.get_weight(), **grouped_by_xgboost(dmatrix))
        gradient, hessian = (values.reshape(np.shape(preds)) for values in found)
        return gradient, hessian

    def torch(self, scores: Any, labels: Any, *, group: Any = None, qid: Any = None) -> Any:
        """For PyTorch: the loss, minus the mean of `values` (of a cost the mean), with the objective's gradient.

        scores  a tensor: documents, or lists × documents, which need no `group` and no `qid`
        labels  the grades, in the same shape

        Raises InputError (usage) where PyTorch is not installed.
        """
        from gradedeval.ltr.torch_loss import loss

        return loss(self, scores, labels, group, qid)

    def loss_and_slopes(self, labels: Any, scores: Any, *, group: Any = None, qid: Any = None) -> tuple[float, Floats]:
        """The loss and its gradient, documents: what `torch` hands over."""
        documents = judged(labels, group, qid)
        lists, given = self._lists(documents), finite_scores(scores, len(documents.labels))
        slopes = self._slopes(lists, given) / len(documents.sizes)
        mean = float(self._values(lists, given).mean())
        return mean if self.measure.reading.better == "lower" else -mean, slopes

    def _lists(self, documents: Judged) -> Lists:
        """The lists as the measure sees them, which are the same in each iteration."""
        known = self._known
        if not known or not documents.same(known[0].judged):
            known[:] = [self._seen(documents)]
            self._note_top(float(known[0].labels[-1]))
        return known[0]

    def _note_top(self, highest: float) -> None:
        """Warn the caller of a method where the highest label is another one than before, and gains depend on it."""
        if self.top is not None or not highest or highest in self._tops or not depends_on_top(self.measure):
            return
        if self._tops:
            what = f"the highest label is {highest:g}, and was {self._tops[-1]:g}: gains differ between data; say top="
            warn_caller([f"{self.measure}: {what}"], 4)
        self._tops.append(highest)

    def _seen(self, documents: Judged) -> Lists:
        return lists_of(self.measure, documents, self.top, None)

    def _of_lists(self, lists: Lists, scores: Floats) -> Gradients:
        raise NotImplementedError

    def _slopes(self, lists: Lists, scores: Floats) -> Floats:
        raise NotImplementedError

    def _values(self, lists: Lists, scores: Floats) -> Floats:
        """Lists: the scores by the measure."""
        return np.array(scores_of_lists(lists.measure, lists.judged, scores, self.top).runs[0].score[:, 0])


def _weights(weight: Any, documents: Judged) -> Floats | float:
    """Documents: the weights, in the caller's order."""
    if weight is None or not np.size(weight):
        return 1.0
    given, lists = numbers(weight, "weight").ravel(), len(documents.sizes)
    count = len(documents.labels)
    if len(given) not in (count, lists) or not (np.isfinite(given) & (given >= 0)).all():
        what = f"is not a weight for each of {count} documents or {lists} lists"
        raise InputError("weight", what, "give numbers from 0 on, one each", usage=True)
    if len(given) == count:
        return given
    spread = np.repeat(given, documents.sizes)
    if documents.order is None:
        return spread
    placed = np.empty(count)
    placed[documents.order] = spread
    return placed


@dataclass(frozen=True, eq=False)
class LambdaObjective(Objective):
    """LambdaRank for any measure: pairs pull at each other by how much the measure changes when they change places.

    sigma       how steep: λ = σ |Δ| / (1 + e^(σ (s_better − s_worse)))
    truncation  pairs in which the upper document is among so many first ones; None: all pairs
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

    def _seen(self, documents: Judged) -> Lists:
        lists = lists_of(self.measure, documents, self.top, self.truncation)
        check_length(lists)
        return lists

    def _of_lists(self, lists: Lists, scores: Floats) -> Gradients:
        gradient, hessian = np.zeros(len(scores) + 1), np.zeros(len(scores) + 1)
        padded = np.append(scores, -np.inf)
        for block in lists.blocks:
            score = padded[block.at]
            order = np.argsort(-score, axis=1, kind="stable")
            ranked, score = block.ordered(order), np.take_along_axis(score, order, 1)
            gradient[ranked.at], hessian[ranked.at] = self._of_block(lists, ranked, score)
        return gradient[:-1], hessian[:-1]

    def _slopes(self, lists: Lists, scores: Floats) -> Floats:
        return self._of_lists(lists, scores)[0]

    def _of_block(self, lists: Lists, ranked: Block, score: Floats) -> Gradients:
        """lists × ranks: gradients and Hessians."""
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


def objective(
    measure: AnyMeasure,
    *,
    sigma: float = 1.0,
    truncation: int | None = 30,
    norm: bool = True,
    top: float | None = None,
) -> LambdaObjective:
    """Any measure as a LambdaRank objective of LightGBM, XGBoost or PyTorch.

    measure     one, as for `evaluate`; it must need no more than grades and scores
    sigma       how steep: λ = σ |Δ| / (1 + e^(σ (s_better − s_worse)))
    truncation  pairs in which the upper document is among so many first ones; None: all pairs
    norm        whether distances of scores and sums of gradients are evened out, as LightGBM does
    top         the top grade of the scale; None: the highest label

    A swap's change has a closed form where the score is a sum over ranks with fixed weights (see `swap_deltas`); with
    other measures lists may have 50 documents. Returns `LambdaObjective`. Raises InputError (usage) for a wrong value.
    """
    return LambdaObjective(one_measure(measure), sigma=sigma, truncation=truncation, norm=norm, top=top)
