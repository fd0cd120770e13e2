"""What may be meant by a name that no measure has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gradedeval.measures.definition import Measure
from gradedeval.measures.notation import IA, Spelling
from gradedeval.measures.spellings import ALIASES, notation_of

# What is not a measure, and what to do instead; and names that others use for more than one measure.
_HINTS = {
    "ssp": "write -m sp --standardize",
    "rbo": "`gradedeval diff RUN RUN` compares rankings by rank-biased overlap",
    **{
        name: f"trec_eval has it: write gradedeval trec_eval -m {name}"
        for name in ("all_trec", "official", "relstring", "runid")
    },
}
_MEANT = {"hit": "hits", "hitrate": "hit_rate", "hr": "hit_rate", "gmap": "gm_ap", "prec": "p"}


def hint_of(spelling: Spelling, table: Mapping[str, Measure]) -> str:
    """What may be meant by a name that no measure has."""
    name = spelling.name
    if name in _HINTS:
        return _HINTS[name]
    if name[-3:] in ("-ia", "_ia") and name[:-3] in (*table, *ALIASES):
        return f"the mean of {name[:-3]} over intents is {IA}({name[:-3]})"
    stem = name.rstrip("0123456789")
    digits, stem = name[len(stem) :], stem.rstrip("_-")
    cutoff = int(digits[:9]) if digits else spelling.cutoff
    meant = replace(spelling, name=_MEANT.get(stem, stem), cutoff=cutoff)
    measure = table.get(notation_of(meant.name) if meant.name in ALIASES else meant.name)
    if measure is not None and (cutoff is None or (cutoff and measure.definition.cutoff != "none")):
        return f"did you mean '{meant}'?"
    return _nearest(name, [*table, *ALIASES]) or "`gradedeval measures` lists them"


def _nearest(name: str, known: Iterable[str]) -> str:
    """The hint for a misspelt measure: names are short, and a letter off is another measure soon. For one of three
    letters only a name of three is meant."""
    if len(name) < 4:
        known = [other for other in known if len(other) == len(name) == 3]
    distances = {other: _edits(name, other) for other in known if abs(len(other) - len(name)) < 3}
    nearest = min(distances, key=lambda other: (distances[other], other[:1] != name[:1]), default="")
    return f"did you mean '{nearest}'?" if nearest and distances[nearest] <= (1 if len(name) < 6 else 2) else ""


def _edits(word: str, other: str) -> int:
    """How many letters have to be left out, put in, changed, or swapped with the next to make one word of another."""
    before, row = [], list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        before, above, row = row, before, [i]
        for j, its in enumerate(other, 1):
            row.append(min(row[-1] + 1, before[j] + 1, before[j - 1] + (letter != its)))
            if i > 1 and j > 1 and word[i - 2] == its and letter == other[j - 2]:
                row[j] = min(row[j], above[j - 2] + 1)
    return row[-1]
