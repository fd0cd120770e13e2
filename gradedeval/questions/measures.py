"""`gradedeval measures [NAME]`: the list of measures, or the description of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from gradedeval import kernel
from gradedeval.cli.arguments import measure_table, usage
from gradedeval.cli.options import MEASURES_FROM, NAME, command_line, option
from gradedeval.cli.output import write
from gradedeval.errors import InputError, with_flags
from gradedeval.kernel import (
    ALIASES,
    DIFFERENT,
    IA,
    OUTPUT,
    Bounds,
    Column,
    Definition,
    Document,
    Measure,
    Table,
    formats_for,
    notation_of,
    offered,
    parse_measures,
    render,
    write_value,
)

HEADER = ("measure", "what it is", "parameters", "gains", "cutoff", "residual", "bounds", "source")

OPTIONS = [
    MEASURES_FROM,
    option("-f", "--format", "form", section=OUTPUT, type=click.Choice(formats_for()), default="table",
           metavar="FORMAT", help=f"Output format of the list: {', '.join(formats_for())}. Default: table."),
]  # fmt: skip


@command_line("measures", NAME, OPTIONS)
def command(files: tuple[str, ...], measures_from: tuple[str, ...], form: str) -> None:
    """List the measures, or describe the one called NAME: formula, parameters, defaults, source."""
    table = {**measure_table(measures_from), **offered()}
    name, *others = files or [None]
    if others:
        raise InputError("", f"unexpected argument '{others[0]}'", usage(), usage=True)
    if name is not None:
        write(_page(_named(name, table)))
    elif form == "table":
        write(_list(table))
    else:
        rows = [_row(measure) for measure in table.values()]
        write(render(lambda _: Document([Table([Column(title) for title in HEADER], rows)]), form))


def _named(name: str, table: Mapping[str, Measure]) -> Measure:
    """The measure of that name or alias, or of a notation such as err@20."""
    bare = notation_of(name.lower()) if name.lower() in ALIASES else name.lower()
    return table[bare] if bare in table else table[parse_measures(name, table)[0].name]


def _page(measure: Measure) -> str:
    definition = measure.definition
    what, formula, source = definition.paragraphs
    others = [
        alias if text == measure.name else f"{alias} ({text})"
        for alias, text in ALIASES.items()
        if notation_of(alias) == measure.name
    ]
    elsewhere = [
        with_flags(different.what) for name, different in DIFFERENT.items() if name.lower().rstrip(".") == measure.name
    ]
    entries = {
        "formula": formula,
        "parameters": _parameters(measure) or "none",
        "gains": _gains(measure),
        "cutoff": _CUTOFF[definition.cutoff],
        "residual": _RESIDUAL[_residual(definition)],
        "bounds": _bounds_in_words(measure),
        "ties": "--ties average takes the mean over all their orders" if definition.over_ties else "",
        "over topics": definition.summary,
        "better": _BETTER[measure.reading.better],
        "also called": ", ".join(others),
        "elsewhere": "; ".join(dict.fromkeys(elsewhere)),
        "source": source,
    }
    lines = [f"{key:<12} {value}" for key, value in entries.items() if value]
    accepted = definition.accepted
    explained = [f"{key:<12} {_meaning(definition, key)}" for key in accepted.names]
    return "\n".join([f"{measure.name}: {what}", "", *lines, *([""] if explained else []), *explained]) + "\n"


def _meaning(definition: Definition, key: str) -> str:
    """What a parameter means, and what it may be."""
    own, expected = definition.meanings.get(key), definition.accepted.check(key).expected
    if own is None and key in SHARED_PARAMETERS:
        return SHARED_PARAMETERS[key]
    said = own is not None and (expected in ("a number", "a file", "a formula") or own.startswith(f"{expected}:"))
    return own if own is not None and said else "; ".join(part for part in (own, expected) if part)


def _list(table: Mapping[str, Measure]) -> str:
    from tabulate import tabulate

    rows = [_row(measure, formula=False)[:3] for measure in table.values()]
    text = tabulate(rows, headers=HEADER[:3], disable_numparse=True, maxcolwidths=[None, 56, 34])
    return (
        f"{text}\n\n`gradedeval measures NAME` shows formula, gains, residual, bounds and source.\n"
        f"{IA}(MEASURE) is the mean of MEASURE over the intents of a topic; see --subtopics.\n"
    )


def _row(measure: Measure, formula: bool = True) -> list[str]:
    """The columns of HEADER."""
    definition = measure.definition
    what, equation, source = definition.paragraphs
    return [
        measure.name,
        f"{what} {equation}" if equation and formula else what,
        _parameters(measure),
        _gains(measure),
        definition.cutoff,
        _residual(definition),
        _bounds(measure),
        source,
    ]


def _residual(definition: Definition) -> str:
    return "depends" if callable(definition.residual) else definition.residual


def _bounds(measure: Measure) -> str:
    return "depends" if callable(measure.definition.residual) else kernel.kept(measure)


def _bounds_in_words(measure: Measure) -> str:
    rule = measure.definition.bounds
    if isinstance(rule, Bounds) and rule.exact is not True:
        ties = "; none with --ties average" if measure.definition.over_ties and not rule.over_ties else ""
        return f"safe; {rule.but}{ties}"
    return "exact; safe with norm=best" if callable(rule) else _BOUNDS[_bounds(measure)]


def _parameters(measure: Measure) -> str:
    definition = measure.definition
    defaults: dict[str, Any] = {**definition.parameters}
    if "gain" in definition.accepted.names and definition.gain != "thresholds":
        defaults["gain"] = definition.gain
    defaults["rel"] = 1 if definition.gain == "binary" else None
    keys = [(key, defaults.get(key)) for key in definition.accepted.names]
    return ", ".join(key if value in (None, "") else f"{key}={write_value(value)}" for key, value in keys)


def _gains(measure: Measure) -> str:
    definition = measure.definition
    if definition.gain == "binary":
        return "0 and 1"
    if definition.gain is None:
        return ""
    return "1/top for each grade" if definition.gain == "thresholds" else f"{definition.gain}, {definition.scale}"


SHARED_PARAMETERS = {
    "rel": "the lowest relevant grade; if given, the gains of graded measures are 0 and 1",
    "gain": "the gain scheme: linear, exp, ntcir, grade, a list such as 0:0.5:1, or @FILE",
    "g": "the share of users whose threshold is each grade from 1 to top (each label above 0, if one has a fraction), "
    "as in 1:1:2; equal shares by default",
    "of": "the quantity: eu utility per document, etu total utility, ec cost per document, etc total cost, ed depth",
    "horizon": "the rank at which all sums end; by default they go to infinity",
    "prior": "the probability of each intent: uniform, or @FILE",
}
_BETTER = {"higher": "", "lower": "lower scores", "neither": "no preferred direction: no run wins or loses by it"}
_CUTOFF = {
    "truncates": "optional; the sum stops at k",
    "renormalizes": "optional; what it is divided by is cut at k too",
    "sums_to_k": "optional; the weights are those of the full depth, summed to k",
    "required": "required",
    "none": "none",
}
_RESIDUAL = {
    "beyond_run": "bound; ranks past the end of the run count",
    "within_run": "bound; of the retrieved documents alone",
    "from_bounds": "the highest score that judging the retrieved documents can give, minus the score",
    "none": "none: no bound",
    "depends": "bound if no gain found changes a weight, else none",
}
_BOUNDS = {
    "exact": "exact",
    "safe": "safe",
    "none": "none",
    "depends": "exact where it has a residual, else none",
}
