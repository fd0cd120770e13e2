"""Descriptions of measures: definition, parameters, gains, cutoff, residual, bounds, names in other tools, papers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gradedeval.errors import with_flags
from gradedeval.kernel.measures.bounds import exactness
from gradedeval.kernel.measures.definition import Bounds, Measure, status_of
from gradedeval.kernel.measures.notation import write_value
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.measures.spellings import ALIASES, DIFFERENT, notation_of


@dataclass(frozen=True, eq=False)
class Description:
    """The description of a measure."""

    measure: Measure

    @classmethod
    def of(cls, name: str, table: Mapping[str, Measure]) -> Description:
        """Describe the measure of this name, alias or notation in a table. Raises InputError (usage) without one."""
        bare = notation_of(name.lower()) if name.lower() in ALIASES else name.lower()
        return cls(table[bare] if bare in table else table[parse_measures(name, table)[0].name])

    @property
    def summary(self) -> str:
        """The definition in a sentence."""
        return self.measure.definition.paragraphs[0]

    @property
    def bibtex(self) -> list[str]:
        """The papers or tools of its source as BibTeX."""
        return [reference.text for reference in cited_in(self.measure.definition.paragraphs[2])]

    @property
    def status(self) -> str:
        """The breadth of its use, or `your own` for a user's measure."""
        return "your own" if self.measure.definition.code else status_of(self.measure.name)

    @property
    def row(self) -> dict[str, str]:
        """The description in a row: definition with formula, parameters, gains, cutoff, residual, bounds and source."""
        definition = self.measure.definition
        summary, equation, source = definition.paragraphs
        return {
            "measure": self.measure.name,
            "what it is": f"{summary} {equation}" if equation else summary,
            "parameters": self.parameters,
            "gains": self.gains,
            "cutoff": definition.cutoff,
            "residual": self._residual,
            "bounds": self._bounds,
            "status": self.status,
            "source": source,
        }

    @property
    def entries(self) -> dict[str, str]:
        """The description as a page, entry by entry."""
        measure, definition = self.measure, self.measure.definition
        _, formula, source = definition.paragraphs
        aliases = [
            alias if text == measure.name else f"{alias} ({text})"
            for alias, text in ALIASES.items()
            if notation_of(alias) == measure.name
        ]
        differences = [
            with_flags(difference.reason)
            for name, difference in DIFFERENT.items()
            if name.lower().rstrip(".") == measure.name
        ]
        entries = {
            "formula": formula,
            "parameters": self.parameters or "none",
            "gains": self.gains,
            "cutoff": _CUTOFF[definition.cutoff],
            "residual": _RESIDUAL[self._residual],
            "bounds": self._bounds_in_words,
            "ties": "--ties average takes the mean over all their orders" if definition.over_ties else "",
            "over topics": definition.summary,
            "better": _BETTER[measure.reading.better],
            "also called": ", ".join(aliases),
            "elsewhere": "; ".join(dict.fromkeys(differences)),
            "status": self.status,
            "source": source,
        }
        return {key: value for key, value in entries.items() if value}

    @property
    def meanings(self) -> dict[str, str]:
        """The meaning and the valid values of each parameter."""
        return {key: self._meaning(key) for key in self.measure.definition.accepted.names}

    def _meaning(self, key: str) -> str:
        definition = self.measure.definition
        meaning, expected = definition.meanings.get(key), definition.accepted.check(key).expected
        if meaning is None and key in SHARED_PARAMETERS:
            return SHARED_PARAMETERS[key]
        if meaning and (expected in ("a number", "a file", "a formula") or meaning.startswith(f"{expected}:")):
            return meaning
        return "; ".join(part for part in (meaning, expected) if part)

    @property
    def _residual(self) -> str:
        residual = self.measure.definition.residual
        return "depends" if callable(residual) else residual

    @property
    def _bounds(self) -> str:
        return "depends" if callable(self.measure.definition.residual) else exactness(self.measure)

    @property
    def _bounds_in_words(self) -> str:
        definition = self.measure.definition
        rule = definition.bounds
        if isinstance(rule, Bounds) and rule.exact is not True:
            ties = "; none with --ties average" if definition.over_ties and not rule.over_ties else ""
            return f"safe; {rule.but}{ties}"
        return "exact; safe with norm=best" if callable(rule) else _BOUNDS[self._bounds]

    @property
    def parameters(self) -> str:
        """The parameters with their defaults."""
        definition = self.measure.definition
        defaults: dict[str, Any] = {**definition.parameters}
        if "gain" in definition.accepted.names and definition.gain != "thresholds":
            defaults["gain"] = definition.gain
        defaults["rel"] = 1 if definition.gain == "binary" else None
        keys = [(key, defaults.get(key)) for key in definition.accepted.names]
        return ", ".join(key if value in (None, "") else f"{key}={write_value(value)}" for key, value in keys)

    @property
    def gains(self) -> str:
        """The gains of grades."""
        definition = self.measure.definition
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
    "renormalizes": "optional; the divisor is cut at k too",
    "sums_to_k": "optional; the weights are those of the full depth, summed to k",
    "required": "required",
    "none": "none",
}
_RESIDUAL = {
    "beyond_run": "bound; ranks past the end of the run count",
    "within_run": "bound; of the retrieved documents alone",
    "from_bounds": "the highest score that judging the retrieved documents can give, minus the score",
    "none": "none: no bound",
    "depends": "bound if no retrieved gain changes a weight, else none",
}
_BOUNDS = {
    "exact": "exact",
    "safe": "safe",
    "none": "none",
    "depends": "exact if it has a residual, else none",
}


class Reference(NamedTuple):
    """An entry of references.bib: the forms in which it is cited, and its text."""

    cited: tuple[str, ...]
    text: str


@cache
def references() -> list[Reference]:
    """Return the entries, in the order of the file."""
    text = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"((?:^% .*\n)+)(@(?:.*\n)+?\}\n)", text, re.MULTILINE)
    return [Reference(tuple(re.findall("^% (.*)", cited, re.MULTILINE)), entry) for cited, entry in entries]


def cited_in(source: str) -> list[Reference]:
    """Return the papers and tools that the source of a measure cites, in its order."""
    joined, places = " ".join(source.split()), dict[int, Reference]()
    for reference in references():
        for name in reference.cited:
            if name in joined:
                places.setdefault(joined.index(name) + len(name), reference)
    return list(dict.fromkeys(reference for _, reference in sorted(places.items())))
