"""The index of judged documents."""

from __future__ import annotations

import numpy as np

from gradedeval.rankings import docno_index as index


def test_slots_hold_any_number_of_documents() -> None:
    assert index.TopicBuckets(np.array([0, 1, 7, 8, 1000])).size >= 4 * 1016
