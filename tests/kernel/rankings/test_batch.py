"""Batches: open ties of lists that are cut and condensed."""

import numpy as np

from gradedeval.kernel.rankings.batch import Ties, _dropped


def test_no_rank_beyond_the_end_of_a_list_is_tied() -> None:
    # Labels: 0 judged, 1 unjudged, 2 padding. One judged document of the first list remains, three of the second.
    judged = np.array([True, False, False])
    tied = np.array([[True, True, False], [False, False, False]])
    ties = Ties(tied, np.array([0]), np.array([[[1, 0, 2]], [[0, 1, 2]]]), np.array([[2], [2]]))
    included, retrieved = np.array([True, False, True, True, True]), np.array([2, 3])
    cut = _dropped(ties, included, retrieved, judged, 3)
    assert cut.tied.tolist() == [[True, False, False], [False, False, False]]
