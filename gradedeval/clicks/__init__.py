"""Click logs: what users did, as observation models, click measures, click models and learned gains.

from gradedeval import clicks
log = clicks.read_log("log.tsv")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# For type checkers and editors; a test holds that these are the names below.
if TYPE_CHECKING:
    from gradedeval.clicks.agreement import ClickCorrelations as ClickCorrelations
    from gradedeval.clicks.agreement import correlate as correlate
    from gradedeval.clicks.click_measures import measures as measures
    from gradedeval.clicks.click_models import ClickModel as ClickModel
    from gradedeval.clicks.click_models import ClickModels as ClickModels
    from gradedeval.clicks.click_models import models as models
    from gradedeval.clicks.fits import Fits as Fits
    from gradedeval.clicks.fits import fit as fit
    from gradedeval.clicks.held_out import Prediction as Prediction
    from gradedeval.clicks.learned import Learned as Learned
    from gradedeval.clicks.learned_gains import gains as gains
    from gradedeval.clicks.log import ClickLog as ClickLog
    from gradedeval.clicks.model_files import read_model as read_model
    from gradedeval.clicks.observation import Observation as Observation
    from gradedeval.clicks.observation import observe as observe
    from gradedeval.clicks.read import read_log as read_log
    from gradedeval.clicks.simulation import simulate as simulate

# Module -> the public names in it, imported when they are asked for.
_PUBLIC = {
    "agreement": "ClickCorrelations correlate",
    "click_measures": "measures",
    "click_models": "ClickModel ClickModels models",
    "fits": "Fits fit",
    "held_out": "Prediction",
    "learned": "Learned",
    "learned_gains": "gains",
    "log": "ClickLog",
    "model_files": "read_model",
    "observation": "Observation observe",
    "read": "read_log",
    "simulation": "simulate",
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names.split()}
__all__ = sorted(_MODULE_OF)


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'gradedeval.clicks' has no attribute '{name}'")
    return getattr(importlib.import_module(f"gradedeval.clicks.{_MODULE_OF[name]}"), name)
