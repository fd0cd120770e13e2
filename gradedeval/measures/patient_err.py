"""ERR's kin among the C/W/L measures: the user of ERR, with a patience that makes the sums converge."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradedeval.gains import Floats
from gradedeval.measures.continuation import cwl
from gradedeval.measures.parameters import POSITIVE, SHARE
from gradedeval.measures.patience import below
from gradedeval.measures.series import damped, trigamma
from gradedeval.measures.walk import Walk


def _nerr6_rest(walk: Walk) -> Any:
    return damped(walk.tail, walk.end + 1.0, 1) if walk.tail else np.inf


@cwl(rest=lambda walk: 1 / walk.tail if walk.tail else np.inf, gain="exp", residual="none")
def nerr5(walk: Walk) -> Any:
    """ERR's continuation read as C/W/L: V does not converge, and the score is the limit 0 unless a gain of 1 stops all.

    C(i) = 1 − r_i

    Azzopardi et al., ICTIR 2021, eq. 5.
    """
    return 1 - walk.gain


@cwl(rest=_nerr6_rest, gain="exp", residual="none", fades=True)
def nerr6(walk: Walk) -> Any:
    """ERR's discount as a continuation: ΣV does not converge, the score is the limit 0 unless a gain of 1 stops all.

    C(i) = i/(i+1) · (1 − r_i)

    Azzopardi et al., ICTIR 2021, eq. 6.
    """
    return walk.rank / (walk.rank + 1) * (1 - walk.gain)


@cwl(cutoff="needed", gain="exp")
def nerr8(walk: Walk) -> Any:
    """ERR's user, who gives up at k.

    C(i) = 1 − r_i for i < k, else 0

    Azzopardi et al., ICTIR 2021, eq. 8.
    """
    return below(walk) * (1 - walk.gain)


@cwl(cutoff="needed", gain="exp")
def nerr9(walk: Walk) -> Any:
    """ERR's discount and user, who gives up at k.

    C(i) = i/(i+1) · (1 − r_i) for i < k, else 0

    Azzopardi et al., ICTIR 2021, eq. 9.
    """
    return below(walk) * walk.rank / (walk.rank + 1) * (1 - walk.gain)


@cwl(rest=lambda walk, phi: 1 / (1 - phi + phi * walk.tail), gain="exp", valid={"phi": SHARE})
def nerr10(walk: Walk, *, phi: float = 0.8) -> Any:
    """ERR's user with the patience of RBP.

    C(i) = φ (1 − r_i)

    Azzopardi et al., ICTIR 2021, eq. 10.
    """
    return phi * (1 - walk.gain)


def _nerr11_rest(walk: Walk, T: float) -> Floats:
    at = walk.end + 2 * T
    if not walk.tail:
        return at**2 * trigamma(at)
    return damped(walk.tail, at, 2)


@cwl(rest=_nerr11_rest, gain="exp", valid={"T": POSITIVE})
def nerr11(walk: Walk, *, T: float = 1.0) -> Any:
    """ERR's user with the patience of INSQ.

    C(i) = ((i+2T−1) / (i+2T))² (1 − r_i)

    Azzopardi et al., ICTIR 2021, eq. 11.
    """
    return ((walk.rank + 2 * T - 1) / (walk.rank + 2 * T)) ** 2 * (1 - walk.gain)
