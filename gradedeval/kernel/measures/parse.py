"""Text -> measures: 'err@20 ndcg(gain=exp)@10'."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gradedeval.errors import InputError, did_you_mean, failure, flag, public, url_place
from gradedeval.kernel.measures.definition import AnyMeasure, Measure, intent_aware
from gradedeval.kernel.measures.notation import (
    IA,
    LONGEST,
    Spelling,
    plain_value,
    read_notation,
    several,
    split_words,
    too_long,
)
from gradedeval.kernel.measures.table import MEASURES
from gradedeval.kernel.trec.stream import is_url, will_read

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


# User-defined measures: from a Python file, or from another package by entry point.


ENTRY_POINTS = "gradedeval.measures"

foreign: list[str] = []
"""The files and entry points that code was loaded from: it may have registered work for the end of the process."""


@public
def load_measures(path: str | os.PathLike[str]) -> dict[str, Measure]:
    """The measures of a user's Python file, by name. Raises InputError (usage) where it has none or does not load."""
    place = str(path)
    will_read(path)
    if is_url(place):
        what = "is a URL; code from a URL is never executed"
        raise InputError(url_place(place), what, "copy the file, read it, and name the copy", usage=True)
    if not os.path.exists(path):
        raise InputError(place, "no such file", "check the path", usage=True)
    spec = importlib.util.spec_from_file_location("gradedeval_user_measures", place)
    if not os.path.isfile(path) or spec is None or spec.loader is None:
        raise InputError(place, "is not a Python file", f"{flag.measures_from} takes a .py file", usage=True)
    module = importlib.util.module_from_spec(spec)
    foreign.append(place)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # an error in the user's file is reported, not a traceback
        raise failure(error, place, "cannot be loaded", usage=True) from error
    # A file may import built-in measures to build on them.
    defined = [value for value in vars(module).values() if isinstance(value, Measure)]
    measures = {measure.name: measure for measure in defined if measure not in MEASURES.values()}
    if not measures:
        raise InputError(place, "has no measures", "decorate a function with @gradedeval.measure", usage=True)
    from gradedeval.kernel.measures.spellings import ALIASES  # few evaluations need other tools' names

    taken = [name for name in measures if name in (*MEASURES, *ALIASES, IA)]
    if taken:
        raise InputError(place, f"'{taken[0]}' is already a measure of gradedeval", "choose another name", usage=True)
    return measures


def load_entry_point(name: str) -> Measure | None:
    """The measure that another package offers under that name; None without one."""
    return next((_load(point) for point in _entry_points() if point.name.lower() == name), None)


def offered() -> dict[str, Measure]:
    """The measures that other packages offer by entry point, by name."""
    return {point.name.lower(): _load(point) for point in _entry_points()}


def _entry_points() -> tuple[EntryPoint, ...]:
    return _entry_points_of(tuple(sys.path))


@lru_cache(maxsize=1)
def _entry_points_of(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Those of the packages on a path, read once: saved scores may name thousands of measures that are not known."""
    from importlib.metadata import entry_points  # slow to import, and needed only for a name that is not ours

    return tuple(entry_points(group=ENTRY_POINTS))


def _load(point: EntryPoint) -> Measure:
    place = f"entry point '{point.name}'"
    foreign.append(point.name)
    try:
        loaded = point.load()
    except Exception as error:
        raise failure(error, place, "cannot be loaded", usage=True) from error
    if not isinstance(loaded, Measure):
        raise InputError(place, "is not a measure", "decorate it with @gradedeval.measure", usage=True)
    if loaded.name != point.name.lower():
        raise InputError(place, f"is the measure '{loaded.name}'", "give both the same name", usage=True)
    return loaded


DEFAULT = ("err@20", "ndcg@20", "rbp", "ap", "gap", "p@10", "judged@20")
CWL_DEFAULT = ("rbp", "insq", "inst", "sdcg@10", "cwlp@10", "bpm", "ift", "nerr10", "nerr11")


# Blanks between the parts of a measure, and what stands in quotes.
_BLANK = re.compile(r"""("[^"]*"|'[^']*')|\s+""")


@public
def parse_measures(
    text: AnyMeasure | Iterable[AnyMeasure], table: Mapping[str, Measure] | None = None, cutoff: int | None = None
) -> list[Measure]:
    """The measures that `text` names, each once, in the order written and called as first written: `.label`.

    text    `"err@20 ndcg(gain=exp)@10"`, `"map,bpref ndcg@5,10"`, a Measure or one of ir_measures, or several of these
    table   name -> Measure; default the built-in measures
    cutoff  that of measures written without one; those that take none are as without it

    Raises InputError (usage) for a wrong name, key, value or cutoff, with the closest valid one.
    """
    return _parsed(text, table, cutoff)


def _parsed(
    text: AnyMeasure | Iterable[AnyMeasure], table: Mapping[str, Measure] | None, cutoff: int | None
) -> list[Measure]:
    if isinstance(text, Measure):
        own = _cut(text, cutoff).complete()
        return [own if own.asked else replace(own, asked=(str(own),))]
    if hasattr(text, "SUPPORTED_PARAMS"):
        return _of_ir_measures(text, table)
    if not isinstance(text, str):
        if not isinstance(text, Iterable):
            hint = "give text as in 'err@20', a Measure, or several"
            if callable(text):
                hint = "decorate it: @gradedeval.measure(per_topic=True) of a function of one topic"
                raise InputError(
                    "", f"the function {getattr(text, '__name__', text)} is not a measure", hint, usage=True
                )
            raise InputError("", f"{text!r} is not a measure", hint, usage=True)
        return each_once([measure for part in text for measure in _parsed(part, table, cutoff)])
    if table is None and cutoff is None and _PLAIN.fullmatch(text):
        return list(_plain_measures(text))
    return _named_in(text, MEASURES if table is None else table, cutoff)


# Names and cutoffs: what they mean depends on no file, so that a caller in a loop parses them once.
_PLAIN = re.compile(r"[\w@., ]+", re.ASCII)


@lru_cache(maxsize=256)
def _plain_measures(text: str) -> tuple[Measure, ...]:
    return tuple(_named_in(text, MEASURES, None))


def called(name: str) -> Measure:
    """The measure of a name in Python: ours, `set_` where Python needs the name, or that of another tool, as nDCG.

    Raises AttributeError, with the name that may be meant.
    """
    for own in (name.removesuffix("_"), name.lower()):
        if own in MEASURES:
            return MEASURES[own]
    if not name.startswith("_"):
        with suppress(InputError):
            named = parse_measures(name)
            if len(named) == 1:
                return named[0]
    near = did_you_mean(name, MEASURES) and f"; {did_you_mean(name, MEASURES)}"
    raise AttributeError(f"no measure is called '{name}'{near}")


def _named_in(text: str, table: Mapping[str, Measure], cutoff: int | None) -> list[Measure]:
    """The measures of a text in notation."""
    words = [one for word in split_words(text) for one in several(word)]
    if not words:
        hint = "as in 'err@20 ndcg@10'; `gradedeval measures` lists them"
        raise InputError(repr(text), "contains no measure", hint, usage=True)
    return each_once([measure for word in dict.fromkeys(words) for measure in _labelled_at(cutoff, word, table)])


def is_measure(text: str) -> bool:
    """Whether a text names measures, as far as one can see without the files that it may name."""
    try:
        parse_measures(text)
    except InputError:
        from gradedeval.kernel.measures.spellings import ALIASES

        return text.split("@")[0].lower() in (*MEASURES, *ALIASES)
    return True


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


def _cut(measure: Measure, cutoff: int | None) -> Measure:
    """The measure with the cutoff, where it has none and takes one."""
    if cutoff is None or measure.cutoff is not None or measure.definition.cutoff == "none":
        return measure
    return replace(measure @ cutoff, asked=tuple(f"{way}@{int(cutoff)}" for way in measure.asked))


def _labelled_at(cutoff: int | None, word: str, table: Mapping[str, Measure]) -> list[Measure]:
    """The measures of one word, with the cutoff where they have none."""
    try:
        return [_cut(measure, cutoff) for measure in _labelled(word, table)]
    except InputError:
        if cutoff is None:
            raise
        try:
            return _labelled(f"{word}@{plain_value(cutoff)}", table)  # of those that have to have one
        except InputError:
            pass  # what is wrong with the word as it was written is of more use
        raise


def _labelled(word: str, table: Mapping[str, Measure]) -> list[Measure]:
    """The measures that one word of notation names, each with what it is called: as it is written."""
    word = _BLANK.sub(lambda found: found[1] or "", word)
    own = _own(word, table)
    spellings = [] if own is None else [(word, own)]
    if own is None:
        from gradedeval.kernel.measures.spellings import (
            read_spellings,  # other tools', for which most evaluations need not wait
        )

        try:
            spellings = read_spellings(word, table)
        except InputError as error:
            named = _with_names(word, table)
            raise error.replace(hint=f"did you mean '{named}'?") if named else error from None
    found = [replace(_find(spelling, table), asked=(label,)) for label, spelling in spellings]
    if any(len(str(measure)) > LONGEST for measure in found):  # then nothing could read it again
        raise too_long(word)
    return found


def _with_names(word: str, table: Mapping[str, Measure]) -> str:
    """`rbp(p=0.8)` for `rbp(0.8)`, whose fraction is the value of the first parameter, and `ndcg@10` for `ndcg(10)`;
    nothing of what is written otherwise."""
    found = re.fullmatch(r"(?P<name>\w+)\((?P<value>\d*\.?\d+)\)(?P<cutoff>(@\d+)?)", word)
    measure = table.get(found["name"].lower()) if found else None
    if not found or measure is None:
        return ""
    if found["value"].isdigit():
        takes = measure.definition.cutoff != "none" and not found["cutoff"]
        return f"{found['name']}@{found['value']}" if takes else ""
    names = list(measure.definition.parameters)
    return f"{found['name']}({names[0]}={found['value']}){found['cutoff']}" if names else ""


def _own(word: str, table: Mapping[str, Measure]) -> Spelling | None:
    """A word in gradedeval's own notation, with names that are known here; None where it is anything else."""
    try:
        (spelling,) = read_notation(word)
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
        from gradedeval.kernel.measures.spellings import hint_of  # most names are known

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
