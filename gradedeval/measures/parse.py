"""Text -> measures: 'err@20 ndcg(gain=exp)@10'."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from gradedeval.errors import InputError, did_you_mean
from gradedeval.measures.definition import Measure
from gradedeval.measures.notation import IA, Spelling, read, read_cutoff, split
from gradedeval.measures.over_intents import intent_aware
from gradedeval.measures.plugins import load_entry_point
from gradedeval.measures.table import ALIASES, MEASURES

DEFAULT = ("err@20", "ndcg@20", "rbp", "ap", "gap", "p@10", "judged@20")
CWL_DEFAULT = ("rbp", "insq", "inst", "sdcg@10", "cwlp@10", "bpm", "ift", "nerr10", "nerr11")


# trec_eval's names that carry their cutoff, as in P_10.
_WITH_CUTOFF = ("p", "recall", "ndcg_cut", "map_cut", "relative_p", "success", "unj")

# Blanks between the parts of a measure, and what stands in quotes.
_BLANK = re.compile(r"""("[^"]*"|'[^']*')|\s+""")
# What is no measure, and what to do instead; and names that others use for more than one measure.
_HINTS = {
    "ssp": "write -m sp --standardize",
    **{name: f"trec_eval has it: write gradedeval trec_eval -m {name}" for name in ("all_trec", "official")},
}
_MEANT = dict.fromkeys(("hit", "hits", "hitrate", "hit_rate"), "success")


def parse_measures(
    text: str | Measure | Iterable[str | Measure], table: Mapping[str, Measure] | None = None
) -> list[Measure]:
    """The measures that `text` names, each once, in the order written and called as first written: `.label`.

    text   `"err@20 ndcg(gain=exp)@10"`, a Measure, or several of either
    table  name -> Measure; default the built-in measures

    Raises InputError (usage) for a wrong name, key, value or cutoff, with the closest valid one.
    """
    if isinstance(text, Measure):
        return [text.complete()]
    if not isinstance(text, str):
        if not isinstance(text, Iterable):
            hint = "give text as in 'err@20', a Measure, or several"
            raise InputError("", f"{text!r} is not a measure", hint, usage=True)
        return list(dict.fromkeys(measure for part in text for measure in parse_measures(part, table)))
    words = split(text)
    if not words:
        hint = "as in 'err@20 ndcg@10'; `gradedeval measures` lists them"
        raise InputError(repr(text), "contains no measure", hint, usage=True)
    known = MEASURES if table is None else table
    return list(dict.fromkeys(measure for word in words for measure in _labelled(word, known)))


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """The notation of a measure as gradedeval writes it; of one that is not known here, such as a user's, `text`."""
    try:
        (measure,) = parse_measures(text)
    except (InputError, ValueError):
        return text
    return str(measure)


def _labelled(word: str, table: Mapping[str, Measure]) -> list[Measure]:
    """The measures that one word of notation names, each with what it is called: as it is written."""
    spellings = read(word)
    word = _BLANK.sub(lambda found: found[1] or "", word)
    several = f"{word.rpartition('.')[0]}_" if len(spellings) > 1 else ""
    return [
        replace(_find(spelling, table), asked=f"{several}{spelling.cutoff}" if several else word)
        for spelling in spellings
    ]


def _find(spelling: Spelling, table: Mapping[str, Measure]) -> Measure:
    name, cutoff = spelling.name, spelling.cutoff
    if spelling.inner is not None:
        return _mean_over_intents(spelling, spelling.inner, table)
    stem, _, digits = name.rpartition("_")
    if stem in _WITH_CUTOFF and digits.isdigit() and cutoff is None and name not in table:
        name, cutoff = stem, read_cutoff(f"{stem}@{digits}", digits)
    name = name if name in table else ALIASES.get(name, name)
    measure = table[name] if name in table else load_entry_point(name)
    if measure is None:
        hint = _hint(spelling, table)
        raise InputError("", f"unknown measure '{spelling.name}'", hint, kind="unknown-measure", usage=True)
    measure = measure(**dict(spelling.parameters))
    return (measure if cutoff is None else measure @ cutoff).complete()


def _hint(spelling: Spelling, table: Mapping[str, Measure]) -> str:
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
    measure = table.get(ALIASES.get(meant.name, meant.name))
    if measure is not None and (cutoff is None or (cutoff and measure.definition.cutoff != "none")):
        return f"did you mean '{meant}'?"
    return did_you_mean(name, [*table, *ALIASES]) or "`gradedeval measures` lists them"


def _mean_over_intents(spelling: Spelling, inner: Spelling, table: Mapping[str, Measure]) -> Measure:
    """`ia(inner)`. A cutoff behind it is the cutoff of the measure inside."""
    if spelling.cutoff is not None:
        if inner.cutoff is not None:
            raise InputError(f"'{spelling}'", "has two cutoffs", f"write {IA}({inner})", usage=True)
        inner = replace(inner, cutoff=spelling.cutoff)
    return intent_aware(_find(inner, table), **{key: str(value) for key, value in spelling.parameters})
