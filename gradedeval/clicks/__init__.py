"""Click logs: what users did, as observation models, click measures, click models and learned gains.

from gradedeval import clicks
log = clicks.read_log("log.tsv")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# For type checkers and editors; a test holds that these are the names below.
if TYPE_CHECKING:
    from gradedeval.clicks.click_measures import ClickCorrelations as ClickCorrelations
    from gradedeval.clicks.click_measures import correlate as correlate
    from gradedeval.clicks.click_measures import measures as measures
    from gradedeval.clicks.click_models import ClickModel as ClickModel
    from gradedeval.clicks.click_models import ClickModels as ClickModels
    from gradedeval.clicks.click_models import models as models
    from gradedeval.clicks.click_models import read_model as read_model
    from gradedeval.clicks.learned_gains import LearnedValues as LearnedValues
    from gradedeval.clicks.learned_gains import gains as gains
    from gradedeval.clicks.log import ClickLog as ClickLog
    from gradedeval.clicks.log import read_log as read_log
    from gradedeval.clicks.model_kinds import Prediction as Prediction
    from gradedeval.clicks.observation import Fits as Fits
    from gradedeval.clicks.observation import Observation as Observation
    from gradedeval.clicks.observation import fit as fit
    from gradedeval.clicks.observation import observe as observe
    from gradedeval.clicks.simulation import simulate as simulate

# Module -> the public names in it, imported when they are asked for.
_PUBLIC = {
    "click_measures": "ClickCorrelations correlate measures",
    "click_models": "ClickModel ClickModels models read_model",
    "learned_gains": "LearnedValues gains",
    "log": "ClickLog read_log",
    "model_kinds": "Prediction",
    "observation": "Fits Observation fit observe",
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
