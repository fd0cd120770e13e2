"""How well a click model predicts sessions: log-likelihood and perplexity, by session and by rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.clicks.cells import Cells

MEANS = {
    "perplexity": "by_rank",
    "per click": "by_click",
    "per skip": "by_skip",
    "unconditional": "unconditional",
}
"""What the arithmetic mean over ranks is called -> of which field of `Prediction`."""


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """How well sessions are predicted.

    sessions      how many
    ll_session    mean ln P(C) of a session
    ll_rank       mean over sessions of the mean of ln P(C_k | C_<k) over the ranks shown
    by_rank       ranks: perplexity, 2^(−mean log2 P(C_k | C_<k))
    by_click      ranks: the same over the sessions that clicked the rank; nan without one
    by_skip       ranks: the same over the others
    unconditional ranks: the perplexity of P(C_k), whatever is clicked above
    unseen        documents shown that the model never saw, of `shown`: they have ½
    """

    sessions: int
    ll_session: float
    ll_rank: float
    by_rank: Floats
    by_click: Floats
    by_skip: Floats
    unconditional: Floats
    unseen: int
    shown: int

    def mean(self, name: str) -> float:
        """The arithmetic mean over ranks of `by_rank`, `by_click`, `by_skip` or `unconditional`; nan where no rank has
        one."""
        known = getattr(self, name)[~np.isnan(getattr(self, name))]
        return float(known.mean()) if len(known) else np.nan


def log_chances(chance: Floats, cells: Cells, floor: float = 0.0) -> Floats:
    """ranks × columns: ln of the probability of what was done; 0 past the end of a list, −∞ where it cannot be.

    floor  raises probabilities to this
    """
    done = np.where(cells.click, chance, 1 - chance)
    with np.errstate(divide="ignore"):
        logs: Floats = np.where(cells.shown, np.log(np.maximum(done, floor)), 0.0)
    return logs


def predicted(conditional: Floats, marginal: Floats, cells: Cells, floor: float = 0.0) -> Prediction:
    """How well sessions are predicted by the chances of clicks, ranks × columns."""
    logs, total = log_chances(conditional, cells, floor), float(cells.count.sum())
    shown = np.maximum(cells.shown.sum(0), 1)
    return Prediction(
        int(total),
        float((logs.sum(0) * cells.count).sum() / total),
        float((logs.sum(0) / shown * cells.count).sum() / total),
        _perplexity(logs, cells, cells.shown),
        _perplexity(logs, cells, cells.click),
        _perplexity(logs, cells, cells.shown & ~cells.click),
        _perplexity(log_chances(marginal, cells, floor), cells, cells.shown),
        int((cells.weight * (cells.item == cells.items)).sum()),
        int(cells.weight.sum()),
    )


def _perplexity(logs: Floats, cells: Cells, of: Bools) -> Floats:
    """ranks: exp(−mean) of the logarithms over some cells; nan where there is none."""
    weight = cells.weight * of
    counted, summed = weight.sum(1), (np.where(of, logs, 0.0) * weight).sum(1)
    mean = np.where(counted > 0, summed / np.where(counted > 0, counted, 1), np.nan)
    return np.exp(-mean)
