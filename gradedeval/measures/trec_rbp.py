"""RBP as trec_eval 10 means it: against the topic's own highest grade, and its residual as a measure."""

from __future__ import annotations

import numpy as np

from gradedeval.gains import Floats, Gains, share, total
from gradedeval.measures.definition import measure
from gradedeval.measures.parameters import Valid
from gradedeval.measures.standing import found, gain_found

PATIENCE: Valid = ("from 0 to below 1", lambda p: isinstance(p, int | float) and 0 <= p < 1)


@measure(gain="linear", scale="raw", ceiling=1, valid={"p": PATIENCE})
def rbp_topic(g: Gains, *, p: float = 0.9) -> Floats:
    """Rank-biased precision where the topic's own highest gain is worth 1: not comparable from topic to topic.

    (1−p) Σ_i gain_i / (highest gain in the pool) p^{i−1}

    trec_eval 10's rbp, where its gains are initialised; Moffat & Zobel, TOIS 2008.
    """
    highest = g.ideal[:, 0] if g.ideal.shape[1] else np.zeros(len(g.ideal))
    gain = gain_found(g)
    return share(total((1 - p) * gain * p ** np.where(np.isfinite(found(g)), found(g) - 1, 0)), highest)


@measure(ceiling=1, rewards=False, valid={"p": PATIENCE})
def rbp_resid(g: Gains, *, p: float = 0.9) -> Floats:
    """The residual of binary rank-biased precision as a measure of its own; 0 where nothing is retrieved.

    (1−p) Σ_{i unjudged} p^{i−1} + p^n, or p^n − p^k with a cutoff

    Moffat & Zobel, TOIS 2008, section 3; trec_eval 10's rbp_resid.
    """
    here = g.rank <= g.retrieved[:, None]
    unknown = total(np.where(here & ~g.judged, (1 - p) * p ** (g.rank - 1), 0.0))
    beyond = p ** g.retrieved.astype(np.float64) - (0.0 if g.k is None else p**g.k)
    return np.where(g.retrieved > 0, unknown + beyond, 0.0)
