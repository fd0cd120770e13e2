"""Where the libraries of learning to rank keep the lists of their data; none of them is imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradedeval.errors import InputError


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
