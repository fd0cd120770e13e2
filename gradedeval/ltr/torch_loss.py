"""Objectives as losses of PyTorch."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.errors import InputError

if TYPE_CHECKING:
    from gradedeval.ltr.objectives import Objective


def loss(objective: Objective, scores: Any, labels: Any, group: Any, qid: Any) -> Any:
    """See `Objective.torch`."""
    function = _function()
    if getattr(scores, "ndim", 1) == 2 and group is None and qid is None:
        group = [scores.shape[1]] * scores.shape[0]
    if np.shape(labels) != tuple(scores.shape):
        what = f"have the shape {tuple(np.shape(labels))}, scores {tuple(scores.shape)}"
        raise InputError("labels", what, "give each document a grade and a score", usage=True)
    return function.apply(scores, objective, labels, group, qid)


@lru_cache(maxsize=1)
def _function() -> Any:
    """The autograd function. Raises InputError (usage) where PyTorch is not installed."""
    try:
        import torch
    except ImportError:
        hint = "pip install torch"
        raise InputError("torch", "PyTorch is not installed", hint, usage=True) from None

    class Loss(torch.autograd.Function):  # type: ignore[misc]
        """Minus the mean of an objective's values; the slopes are found on the way."""

        @staticmethod
        def forward(ctx: Any, scores: Any, objective: Objective, labels: Any, group: Any, qid: Any) -> Any:
            numbers = (_array(values) for values in (labels, scores))
            value, slopes = objective.loss_and_slopes(*numbers, group=group, qid=qid)
            ctx.save_for_backward(scores.new_tensor(slopes).reshape(scores.shape))
            return scores.new_tensor(value)

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Any) -> Any:
            (slopes,) = ctx.saved_tensors
            return gradient * slopes, None, None, None, None

    return Loss


def _array(values: Any) -> Any:
    return values.detach().cpu().double().numpy() if hasattr(values, "detach") else values
