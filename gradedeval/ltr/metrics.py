"""Measures as metrics for early stopping, in the shapes in which LightGBM and XGBoost ask for them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from gradedeval.errors import InputError, Note, public, tell
from gradedeval.kernel import AnyMeasure, JudgedLists, Measure
from gradedeval.ltr.lists import check_better, checked_top, one_measure

# Where the libraries of learning to rank keep the lists of their data; none of them is imported.


def grouped_by_lightgbm(dataset: Any) -> dict[str, Any]:
    """The lists of a LightGBM Dataset, which has their sizes. Raises InputError (usage) where it has none."""
    sizes = dataset.get_group()
    if sizes is None or not len(sizes):
        hint = "make it as lightgbm.Dataset(..., group=sizes)"
        raise InputError("dataset", "does not say which documents are in a list", hint, usage=True)
    return {"group": sizes}


def grouped_by_xgboost(dmatrix: Any) -> dict[str, Any]:
    """The lists of an XGBoost DMatrix, which has where each ends. Raises InputError (usage) where it has none."""
    ends = np.asarray(dmatrix.get_uint_info("group_ptr")).astype(np.int64)
    sizes = np.diff(ends)
    if not len(sizes):
        hint = "make it as xgboost.DMatrix(..., qid=…), or call set_group(sizes)"
        raise InputError("dmatrix", "does not say which documents are in a list", hint, usage=True)
    return {"group": sizes[sizes > 0]}


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
        object.__setattr__(self, "measure", one_measure(self.measure))
        object.__setattr__(self, "top", checked_top(self.measure, self.top))
        check_better(self.measure)

    @property
    def name(self) -> str:
        """What the measure is called, as it was written. XGBoost separates by blanks and colons: there they are +."""
        return self.measure.label

    @property
    def higher_better(self) -> bool:
        """Whether higher values are better."""
        return self.measure.reading.better == "higher"

    def value(self, labels: Any, scores: Any, *, group: Any = None, qid: Any = None) -> float:
        """The mean over lists, or the summary of the measure.

        labels  documents: grades
        scores  documents: the model's
        group   the sizes of lists, list after list; or
        qid     documents: the list of each, in any order
        """
        documents = JudgedLists.of(labels, group, qid)
        found = documents.evaluated(self.measure, documents.scores_of(scores), self.top)
        # Their hints name options, which a metric lacks; that on few topics names none.
        notes = [
            note.with_hint("") if isinstance(note, Note) and note.kind != "few-topics" else note for note in found.notes
        ]
        if self.top is None and self.measure.depends_on_top:
            notes.insert(0, f"{self.name}: the highest label of each data set is taken as the top grade; set top=")
        tell(note for note in notes if note not in self._said)
        self._said.update(notes)
        (mean,) = found.means.values()
        return float(mean)

    def lightgbm(self, preds: Any, dataset: Any) -> tuple[str, float, bool]:
        """For `lightgbm.train(..., feval=metric.lightgbm)`: name, value, and whether higher is better."""
        value = self.value(dataset.get_label(), preds, **grouped_by_lightgbm(dataset))
        return self.name, value, self.higher_better

    def sklearn(self, y_true: Any, y_pred: Any, weight: Any, group: Any) -> tuple[str, float, bool]:
        """For `LGBMRanker().fit(..., eval_metric=metric.sklearn)`: name, value, and whether higher is better."""
        return self.name, self.value(y_true, y_pred, group=group), self.higher_better

    def xgboost(self, preds: Any, dmatrix: Any) -> tuple[str, float]:
        """For `xgboost.train(..., custom_metric=metric.xgboost)`: name and value."""
        value = self.value(dmatrix.get_label(), preds, **grouped_by_xgboost(dmatrix))
        return self.name.replace(" ", "+").replace(":", "+"), value


@public
def metric(measure: AnyMeasure, *, top: float | None = None) -> Metric:
    """A measure as a metric for early stopping in LightGBM and XGBoost.

    measure  one, as for `evaluate`; it must need no more than grades and scores
    top      the top grade of the scale; None: the highest label of each data set, with a warning where that matters

    Returns `Metric`. Raises InputError (usage) for a wrong value, or a measure by which neither of two runs is better.
    """
    return Metric(one_measure(measure), top=top)
