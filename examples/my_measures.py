"""User-defined measures: gradedeval RUN QRELS --measures-from examples/my_measures.py -m 'slow_dcg(base=3)@10'

A measure is a function from a batch of gains (topics × ranks) to one score per topic. Its name is the function's,
its parameters are the keyword-only arguments. Cutoffs, gain schemes, residuals and means need no code.
"""

import numpy as np

from gradedeval import Gains, UserState, cwl, measure, row_sums


@measure(gain="linear", scale="unit", residual="within_run", cutoff="none", ceiling=10)
def first_page(g: Gains) -> np.ndarray:
    """Gain on the first page of ten results, all ranks alike.

    Σ_{i≤10} r_i

    An example.
    """
    return row_sums(g.gain[:, :10])


@measure(gain="exp", scale="raw", residual="within_run", checks={"base": ("above 1", lambda base: base > 1)})
def slow_dcg(g: Gains, *, base: float = 10.0) -> np.ndarray:
    """DCG for a patient user: the larger the base, the slower the decay.

    Σ_i gain_i / (1 + log_base(i))

    An example.

    base  the larger, the slower the decay
    """
    return row_sums(g.gain / (1 + np.log(g.rank) / np.log(base)))


@cwl()
def hyperbolic(state: UserState, *, T: float = 5.0) -> np.ndarray:
    """A user whose patience wears off with the rank.

    C(i) = ((i + T) / (i + T + 1))²

    An example.
    """
    return ((state.rank + T) / (state.rank + T + 1)) ** 2
