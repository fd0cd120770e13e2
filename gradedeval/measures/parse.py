"""Text -> measures: 'err@20 ndcg(gain=exp)@10'."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gradedeval.errors import InputError
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.notation import IA, LONGEST, Spelling, read, split, too_long
from gradedeval.measures.over_intents import intent_aware
from gradedeval.measures.plugins import load_entry_point
from gradedeval.measures.table import MEASURES

DEFAULT = ("err@20", "ndcg@20", "rbp", "ap", "gap", "p@10", "judged@20")
CWL_DEFAULT = ("rbp", "insq", "inst", "sdcg@10", "cwlp@10", "bpm", "ift", "nerr10", "nerr11")


# Blanks between the parts of a measure, and what stands in quotes.
_BLANK = re.compile(r"""("[^"]*"|'[^']*')|\s+""")


def parse_measures(
    text: AnyMeasure | Iterable[AnyMeasure], table: Mapping[str, Measure] | None = None
) -> list[Measure]:
    """The measures that `text` names, each once, in the order written and called as first written: `.label`.

    text   `"err@20 ndcg(gain=exp)@10"`, a Measure or one of ir_measures, or several of these
    table  name -> Measure; default the built-in measures

    Raises InputError (usage) for a wrong name, key, value or cutoff, with the closest valid one.
    """
    if isinstance(text, Measure):
        own = text.complete()
        return [own if own.asked else replace(own, asked=(str(own),))]
    if hasattr(text, "SUPPORTED_PARAMS"):
        return _of_ir_measures(text, table)
    if not isinstance(text, str):
        if not isinstance(text, Iterable):
            hint = "give text as in 'err@20', a Measure, or several"
            raise InputError("", f"{text!r} is not a measure", hint, usage=True)
        return each_once(measure for part in text for measure in parse_measures(part, table))
    words = split(text)
    if not words:
        hint = "as in 'err@20 ndcg@10'; `gradedeval measures` lists them"
        raise InputError(repr(text), "contains no measure", hint, usage=True)
    known = MEASURES if table is None else table
    return each_once(measure for word in dict.fromkeys(words) for measure in _labelled(word, known))


def each_once(measures: Iterable[Measure]) -> list[Measure]:
    """The measures without repetition, each with every way that it was written."""
    asked: dict[Measure, dict[str, None]] = {}
    for measure in measures:
        asked.setdefault(measure, {}).update(dict.fromkeys(measure.asked))
    return [replace(measure, asked=tuple(ways)) if len(ways) > 1 else measure for measure, ways in asked.items()]


def _of_ir_measures(measure: Any, table: Mapping[str, Measure] | None) -> list[Measure]:
    """A measure of ir_measures as it is called there; one of gradedeval made for ir_measures is itself."""
    own = getattr(measure, "gradedeval", None)
    if isinstance(own, Measure):
        return [own.complete()]
    text = str(measure)
    if hasattr(measure, "runtime_impl"):
        what = "is defined in ir_measures as a function, which works only there"
        raise InputError(f"'{text}'", what, "define it with @gradedeval.measure", usage=True)
    # Here its name stands for another measure, unless it is written so.
    written = re.sub("^alpha_DCG", "α_DCG", text)
    return [replace(found, asked=(text,)) for found in parse_measures(written, table)]


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """The notation of a measure as gradedeval writes it; of one that is not known here, such as a user's, `text`."""
    try:
        (measure,) = parse_measures(text)
    except (InputError, ValueError):
        return text
    return str(measure)


def exact_label(measure: Measure) -> str:
    """What a measure is called, where that says all; the notation of one that options changed."""
    return measure.label if canonical(measure.label) == str(measure) else str(measure)


def _labelled(word: str, table: Mapping[str, Measure]) -> list[Measure]:
    """The measures that one word of notation names, each with what it is called: as it is written."""
    word = _BLANK.sub(lambda found: found[1] or "", word)
    own = _own(word, table)
    spellings = [] if own is None else [(word, own)]
    if own is None:
        from gradedeval.measures.spellings import (
            read_spellings,  # other tools', for which most evaluations need not wait
        )

        spellings = read_spellings(word, table)
    found = [replace(_find(spelling, table), asked=(label,)) for label, spelling in spellings]
    if any(len(str(measure)) > LONGEST for measure in found):  # then nothing could read it again
        raise too_long(word)
    return found


def _own(word: str, table: Mapping[str, Measure]) -> Spelling | None:
    """A word in gradedeval's own notation, with names that are known here; None where it is anything else."""
    try:
        (spelling,) = read(word)
    except InputError:
        return None
    if spelling.name not in table or spelling.inner is not None:
        return None
    definition = table[spelling.name].definition
    if spelling.cutoff is None and definition.cutoff == "required":
        return None
    accepted = definition.accepted
    known = accepted.others or all(key in accepted.names for key, _ in spelling.parameters)
    return spelling if known else None


def _find(spelling: Spelling, table: Mapping[str, Measure]) -> Measure:
    name, cutoff = spelling.name, spelling.cutoff
    if spelling.inner is not None:
        return _mean_over_intents(spelling, spelling.inner, table)
    measure = table[name] if name in table else load_entry_point(name)
    if measure is None:
        from gradedeval.measures.hints import hint_of  # most names are known

        what = f"unknown measure '{spelling.name}'"
        raise InputError("", what, hint_of(spelling, table), kind="unknown-measure", usage=True)
    measure = measure(**dict(spelling.parameters))
    return (measure if cutoff is None else measure @ cutoff).complete()


def _mean_over_intents(spelling: Spelling, inner: Spelling, table: Mapping[str, Measure]) -> Measure:
    """`ia(inner)`. A cutoff behind it is the cutoff of the measure inside."""
    if spelling.cutoff is not None:
        if inner.cutoff is not None:
            raise InputError(f"'{spelling}'", "has two cutoffs", f"write {IA}({inner})", usage=True)
        inner = replace(inner, cutoff=spelling.cutoff)
    return intent_aware(_find(inner, table), **{key: str(value) for key, value in spelling.parameters})
