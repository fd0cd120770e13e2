"""Click models in files: JSON that people can read, write and change."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.clicks.click_models import ClickModel
from gradedeval.clicks.items import TIES, UNJUDGED, Items
from gradedeval.clicks.kinds import FIT, Chosen, read_models
from gradedeval.errors import InputError
from gradedeval.formats import json_text
from gradedeval.rankings.qrels import Qrels
from gradedeval.trec.json_values import read_json
from gradedeval.trec.lines import BYTE_ORDER_MARKS, decode
from gradedeval.trec.source import Source

HINT = "write it with `gradedeval clicks models --write-model`"
UNJUDGED_NAME = "unjudged"


def model_text(model: ClickModel) -> str:
    """A model as JSON: its name, what its parameters are of, and these: of items by grade or by topic and docno."""
    kept: dict[str, Any] = {"model": str(model.chosen), "tie": model.items.tie}
    for name, values in model.parameters.items():
        kept[name] = _by_item(model.items, values) if name in model.chosen.kind.shares else np.asarray(values).tolist()
    if "examination" in model.parameters:
        kept["unseen"] = float(model.parameters["attractiveness"][-1])
    kept["seen"] = _by_item(model.items, model.seen)
    return json_text(kept, indent=1) + "\n"


def _by_item(items: Items, values: Any) -> dict[str, Any]:
    listed = np.asarray(values).tolist()[: len(items.names)]
    if items.tie == "grade":
        grades = [UNJUDGED_NAME if grade is UNJUDGED else f"{grade:g}" for grade in items.names]
        return dict(zip(grades, listed, strict=True))
    found: dict[str, dict[str, Any]] = {}
    for (topic, docno), value in zip(items.names, listed, strict=True):
        found.setdefault(topic, {})[docno] = value
    return found


def read_model(path: str | os.PathLike[str]) -> ClickModel:
    """The model of a file that `model_text` wrote, or a person. Raises InputError where it is none."""
    import json  # not before it is needed

    source = Source(path)
    content = source.read()
    try:
        kept = read_json(decode(content.removeprefix(BYTE_ORDER_MARKS[0])))
    except json.JSONDecodeError as error:
        raise InputError(f"{source.place}:{error.lineno}", f"is not valid JSON ({error.msg})", HINT) from None
    if not isinstance(kept, dict) or not isinstance(kept.get("model"), str):
        raise InputError(source.place, "is not a click model: it has no 'model'", HINT)
    chosen, tie = read_models(kept["model"]), kept.get("tie", "document")
    if len(chosen) != 1 or tie not in TIES:
        what = f"tie '{tie}' is not document or grade" if tie not in TIES else f"'{kept['model']}' is not one model"
        raise InputError(source.place, what, HINT)
    try:
        return _model(chosen[0], tie, kept, source.place)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(source.place, "its parameters are not numbers by name", HINT) from None


def _model(chosen: Chosen, tie: str, kept: dict[str, Any], place: str) -> ClickModel:
    wanted = [*chosen.kind.shares, *(name for name, _ in chosen.kind.start)]
    wanted += ["continuation"] if chosen.name == "dcm" else []
    wanted += ["examination"] if chosen.name in ("pbm", "ubm") else []
    if missing := next((name for name in wanted if name not in kept), None):
        raise InputError(place, f"no '{missing}', which {chosen.name} has", HINT)
    names = _values(kept[wanted[0]], tie)
    parameters: dict[str, Floats] = {}
    for name in wanted:
        if name in chosen.kind.shares:
            values = _values(kept[name], tie)
            if values.keys() != names.keys():
                raise InputError(place, f"'{name}' is not of the same items as '{wanted[0]}'", HINT)
            parameters[name] = np.array([*(float(values[item]) for item in names), 0.5])
        else:
            parameters[name] = np.asarray(kept[name], dtype=np.float64)
            _check_shape(chosen, name, parameters[name], place)
        least, most = parameters[name].min(initial=0), parameters[name].max(initial=0)
        if not (least >= 0 and most <= (np.inf if name == "examination" else 1)):
            raise InputError(place, f"a value of '{name}' is not from 0 to 1", "they are probabilities")
    if "examination" in parameters:
        _check_products(parameters, kept.get("unseen"), place)
    number = chosen.kind.number
    if number and not chosen.free and chosen.value != parameters[number[0]]:
        what = f"its name is {chosen}, and '{number[0]}' is {kept[number[0]]}"
        raise InputError(place, what, f"give both the same value, or the name {chosen.name}({number[0]}={FIT})")
    seen = _values(kept["seen"], tie) if "seen" in kept else {}
    counts = np.array([int(seen.get(item, 0)) for item in names], dtype=np.int64)
    # The grades of documents come from the qrels that it is used with.
    return ClickModel(chosen, Items(list(names), None if tie == "document" else Qrels.none()), parameters, counts)


def _check_products(parameters: dict[str, Floats], unseen: float | None, place: str) -> None:
    """Raise InputError where attractiveness times examination is no probability.

    unseen  the attractiveness of a document that was never shown, which is put in; None: ½, or as much as may be
    """
    attractiveness, most = parameters["attractiveness"], parameters["examination"].max(initial=1)
    attractiveness[-1] = 0.5 / most if unseen is None else unseen
    if not 0 <= attractiveness.min() <= attractiveness.max() * most <= 1 + 1e-9:
        what = "attractiveness times examination is not from 0 to 1"
        raise InputError(place, what, "the product is the probability of a click")


def _check_shape(chosen: Chosen, name: str, values: Floats, place: str) -> None:
    """Raise InputError where a parameter that is not of items has not the shape it has in the model."""
    what, dimensions = {
        "continuation": ("a list of numbers, one for each rank", 1),
        "examination": ("a list of numbers, one for each rank", 1),
    }.get(name, ("a number", 0))
    if chosen.name == "ubm" and name == "examination":
        what, dimensions = "a list of lists, for each rank one number for no click and each rank", 2
    if values.ndim != dimensions or len(set(values.shape)) > 1:
        raise InputError(place, f"'{name}' of {chosen.name} is not {what}", HINT)


def _values(kept: Any, tie: str) -> dict[Any, Any]:
    """item -> value."""
    if tie == "document":
        return {(topic, docno): value for topic, of in kept.items() for docno, value in of.items()}
    return {UNJUDGED if grade == UNJUDGED_NAME else float(grade): value for grade, value in kept.items()}
