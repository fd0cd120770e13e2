"""The rules by which runs are read and scored: every option with its default, and the presets of other tools."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypedDict, get_args

import numpy as np

from gradedeval.errors import InputError, did_you_mean
from gradedeval.measures.costs import Costs
from gradedeval.measures.notation import Value

Ties = Literal["docno-desc", "docno-asc", "file", "rank", "best", "worst"]
Order = Literal["score", "file"]
Precision = Literal["float64", "float32"]
Topics = Literal["qrels", "both", "run", "relevant"]
Negative = Literal["judged", "unjudged"]
Duplicates = Literal["error", "first", "last", "refuse"]
Residuals = Literal["total", "split", "difference"]
Depth = Literal["cutoff", "full"]

CHOICES: dict[str, tuple[str, ...]] = {
    "ties": get_args(Ties),
    "order": get_args(Order),
    "scores": get_args(Precision),
    "topics": get_args(Topics),
    "negative": get_args(Negative),
    "duplicates": get_args(Duplicates),
    "residuals": get_args(Residuals),
    "residual_depth": get_args(Depth),
}


@dataclass(frozen=True)
class Options:
    """How runs are read and scored. Raises InputError (usage) where a value is no choice, or two exclude each other.

    ties            order of documents with one score
    order           `score`, or `file`: as listed, scores unread
    scores          precision in which scores are compared
    depth           documents kept of each topic, the best by the order above; None: all
    judged_only     drop unjudged documents first (condensed lists)
    topics          which topics count: all of the `qrels`; those in `both`; all of the `run`; `relevant`: in both, with
                    a grade above 0 in the qrels
    topics_from     only these topics, of run and qrels alike
    negative        documents with a grade below 0: `judged`, worth 0, or `unjudged`
    top_grade       the top grade of the scale; None: the highest in the qrels
    max_gain        the top gain; None: the largest of the scheme
    duplicates      one docno twice in a topic: an `error` (the same grade twice in the qrels: a note); keep the `first`
                    or the `last`; `refuse`: an error even where the grades agree
    lenient         skip bad lines and say how many
    subtopics       the second column of the qrels tells the intent that a document is judged for
    gain            gain scheme of every graded measure that names none
    rel             lowest relevant grade of every binary measure that names none
    costs           what it costs to look at a document of each type, column 2 of the run; None: 1 each
    residuals       None, `total`, `split` into unjudged and beyond, or the signed `difference` of the best case and the
                    score, for the C/W/L measures and each of their quantities (cwl_eval's; no bound)
    residual_depth  the best case is taken at the `cutoff`, or at `full` depth
    max_residual    leave out (run, topic) pairs whose residual is larger, by measure
    like            the preset that was asked for
    extra_fields    ignore what a line of a run has beyond its six fields, as trec_eval does
    """

    ties: Ties = "docno-desc"
    order: Order = "score"
    scores: Precision = "float64"
    depth: int | None = None
    judged_only: bool = False
    topics: Topics = "qrels"
    topics_from: frozenset[bytes] | None = None
    negative: Negative = "judged"
    top_grade: float | None = None
    max_gain: float | None = None
    duplicates: Duplicates = "error"
    lenient: bool = False
    subtopics: bool = False
    gain: Value | None = None
    rel: float | None = None
    costs: Costs | None = None
    residuals: Residuals | None = None
    residual_depth: Depth = "cutoff"
    max_residual: float | None = None
    like: str | None = None
    extra_fields: bool = False

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices and not (value is None and name == "residuals"):
                hint = did_you_mean(str(value), choices) or f"one of {', '.join(choices)}"
                raise InputError(option(name), f"no choice '{value}'", hint, usage=True)
        self._check_numbers()
        for name in ("judged_only", "lenient", "subtopics"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(option(name), f"{getattr(self, name)!r} is neither True nor False", usage=True)
        if not (self.gain is None or isinstance(self.gain, str | tuple | int | float)):
            raise InputError("--gain", f"cannot read a {type(self.gain).__name__}", "a scheme or a list", usage=True)
        if self.residuals == "difference" and (self.max_residual is not None or self.residual_depth == "full"):
            raise InputError(
                "--residuals difference",
                "a signed difference is no bound, and ends where its measure ends",
                "--residuals total goes with --max-residual and --residual-depth",
                usage=True,
            )
        if not (self.costs is None or isinstance(self.costs, Costs)):
            raise InputError("--costs", f"cannot read a {type(self.costs).__name__}", "a file, or a dict", usage=True)
        if self.judged_only and self.wants_residuals:
            raise InputError(
                "--judged-only",
                "a condensed list has no residual: a document judged later would enter above others",
                "leave out one of --judged-only and the residuals",
                usage=True,
            )

    def _check_numbers(self) -> None:
        for name, least in (("depth", 1), ("top_grade", 0), ("max_gain", 0), ("rel", 0), ("max_residual", 0)):
            value: Any = getattr(self, name)
            if value is None:
                continue
            number = isinstance(value, float | int | np.number) and not isinstance(value, bool)
            if not number or (name == "depth" and int(value) != value):
                raise InputError(option(name), f"{value!r} is no {'rank' if name == 'depth' else 'number'}", usage=True)
            if not value >= least or (name == "rel" and value == 0):
                raise InputError(option(name), f"{value:g} is too small", usage=True)

    @property
    def wants_residuals(self) -> bool:
        return self.residuals is not None or self.max_residual is not None


def option(name: str) -> str:
    """The command-line spelling of a rule's name."""
    return "--" + name.replace("_", "-")


class OptionKwargs(TypedDict, total=False):
    """The options of `evaluate`, as keywords: the fields of `Options`, where None means the default."""

    ties: Ties | None
    order: Order | None
    scores: Precision | None
    depth: int | None
    judged_only: bool
    topics: Topics | None
    topics_from: str | os.PathLike[str] | Iterable[str | bytes] | None
    negative: Negative | None
    top_grade: float | None
    max_gain: float | None
    duplicates: Duplicates | None
    lenient: bool
    subtopics: bool
    gain: Value | Sequence[float] | None
    rel: float | None
    costs: str | os.PathLike[str] | Mapping[str, float] | Costs | None
    residuals: Residuals | bool | None
    residual_depth: Depth | None
    max_residual: float | None


@dataclass(frozen=True)
class Preset:
    """What `--like TOOL` sets: rules, parameters of single measures, the digits that are printed, the kind of residual
    where none is named, and parameters of all measures that take them."""

    options: Mapping[str, Any]
    parameters: Mapping[str, Mapping[str, Value]]
    digits: int = 4
    residuals: Residuals = "total"
    shared: Mapping[str, Value] = field(default_factory=dict)


LIKE: dict[str, Preset] = {
    "trec_eval": Preset(
        {"topics": "both", "negative": "unjudged", "duplicates": "refuse"},
        {name: {"gain": "linear"} for name in ("err", "nerr", "cascade", "erria", "nerria")},
    ),
    "gdeval": Preset(
        {"topics": "relevant", "top_grade": 4},
        {"err": {"gain": "exp"}, "nerr": {"gain": "exp"}, "ndcg": {"gain": "exp"}, "dcg": {"gain": "exp"}},
        digits=5,
    ),
    "ir_measures": Preset(
        {"topics": "qrels", "top_grade": 4},
        {"err": {"gain": "exp"}, "ndcg": {"gain": "linear"}, "rbp": {"rel": 1, "p": 0.8}},
    ),
    "cwl_eval": Preset(
        {"topics": "run", "order": "file", "gain": "grade", "max_gain": 1},
        {},
        residuals="difference",
        shared={"horizon": 1000},
    ),
}


def resolve_options(like: str | None, **given: Any) -> Options:
    """The rules of a preset with the given options on top; None and False mean: not given.

    Raises InputError (usage) for an unknown option or preset.
    """
    known = {one.name for one in fields(Options)}
    for name in given:
        if name not in known:
            raise InputError("", f"no option '{name}'", did_you_mean(name, known), usage=True)
    if like is not None and like not in LIKE:
        raise InputError(
            "--like", f"no preset '{like}'", did_you_mean(like, LIKE) or f"one of {', '.join(LIKE)}", usage=True
        )
    if given.get("residual_depth") is not None and given.get("residuals") is None and given.get("max_residual") is None:
        given["residuals"] = True
    if given.get("residuals") is True:
        bound = given.get("residual_depth") is not None or given.get("max_residual") is not None
        given["residuals"] = LIKE[like].residuals if like and not bound else "total"
    explicit = {name: value for name, value in given.items() if value is not None and value is not False}
    return replace(Options(), **{**(LIKE[like].options if like else {}), **explicit, "like": like})
