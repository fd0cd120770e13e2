"""The presets that follow other tools, and what they and a user's options come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from gradedeval.errors import InputError, did_you_mean
from gradedeval.measures.notation import Value
from gradedeval.options import OPTIONS, Options, Residuals
from gradedeval.options.definition import allowed_growth


@dataclass(eq=False, repr=False)
class Preset:
    """What `--like TOOL` sets.

    options     options, where the user does not give them
    parameters  measure -> parameters
    digits      digits that are printed
    residuals   the kind of residual, where the user names none
    shared      parameters of all measures that take them
    cut         measure -> parameters, where it has a cutoff
    top_grade   the top grade of its scale, for measures that look at one; None: the highest in the qrels
    """

    options: Mapping[str, Any]
    parameters: Mapping[str, Mapping[str, Value]]
    digits: int = 4
    residuals: Residuals = "total"
    shared: Mapping[str, Value] = field(default_factory=dict)
    cut: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    top_grade: float | None = None


PRESETS: dict[str, Preset] = {
    "trec_eval": Preset(
        {"topics": "both", "negative": "unjudged", "duplicates": "refuse"},
        {name: {"gain": "linear"} for name in ("err", "nerr", "cascade", "erria", "nerria")},
    ),
    "gdeval": Preset(
        {"topics": "relevant"},
        {"err": {"gain": "exp"}, "nerr": {"gain": "exp"}, "ndcg": {"gain": "exp"}, "dcg": {"gain": "exp"}},
        digits=5,
        top_grade=4,
    ),
    "ir_measures": Preset(
        {"topics": "qrels", "scores": "float32"},
        {"err": {"gain": "exp"}, "ndcg": {"gain": "linear"}, "rbp": {"rel": 1, "p": 0.8}},
        top_grade=4,
    ),
    "cwl_eval": Preset(
        {"topics": "run", "order": "file", "gain": "grade", "max_gain": 1},
        {},
        residuals="difference",
        shared={"horizon": 1000},
    ),
    "ntcireval": Preset(
        {"topics": "qrels", "order": "file"},
        {"err": {"gain": "ntcir"}, "nerr": {"gain": "ntcir"}, "rbp": {"p": 0.95}},
        cut={name: {"norm": "k"} for name in ("ap", "gap", "q")},
    ),
}


def top_grade(options: Options, highest: float) -> float:
    """The top grade of the scale: as given, or the highest of the qrels and of the preset's.

    highest  the highest grade in the qrels
    """
    if options.top_grade is not None:
        return options.top_grade
    return max(highest, PRESETS[options.like].top_grade or highest) if options.like else highest


@cache
def _defaults() -> Options:
    """The options of a user who gives none: a training loop asks for them thousands of times."""
    return Options()


def resolve_options(like: str | None = None, **given: Any) -> Options:
    """The options of a preset, and over them those that a user gives, as text, file names or values; None and False
    mean: not given.

    Raises InputError (usage) for an unknown option or preset, or a value that is not allowed.
    """
    if like is None and not given:
        return _defaults()
    known = [name for name, described in OPTIONS.items() if described.commands != "none"]
    for name in given:
        if name not in known:
            hint = "" if name in OPTIONS else did_you_mean(name, known)
            raise InputError("", f"unknown option '{name}'", hint, usage=True)
    OPTIONS["like"].check(like)
    given = {name: value for name, value in given.items() if value is not None and value is not False}
    with allowed_growth(given.get("max_growth")):  # of the files that others name
        explicit = {name: OPTIONS[name].read(value) for name, value in given.items()}
    # Who says where the best case ends wants to see it.
    if "residual_depth" in explicit and "max_residual" not in explicit:
        explicit.setdefault("residuals", True)
    if explicit.get("unseen"):
        explicit.setdefault("bounds", True)
    if explicit.get("residuals") is True:
        bound = like is None or explicit.keys() & {"residual_depth", "max_residual"}
        explicit["residuals"] = "total" if bound else PRESETS[str(like)].residuals
    chosen = frozenset({"order", "ties"} & explicit.keys())
    return Options(**{**(PRESETS[like].options if like else {}), **explicit, "like": like, "given": chosen})
