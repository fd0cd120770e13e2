"""Text -> measures: 'err@20 ndcg(gain=exp)@10'."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gradedeval.errors import Guess, InputError, did_you_mean, public, safe_repr
from gradedeval.kernel.measures.definition import MEASURES, AnyMeasure, Measure
from gradedeval.kernel.measures.notation import (
    IA,
    LONGEST,
    Spelling,
    plain_value,
    read_notation,
    split_list,
    split_words,
    too_long,
)

DEFAULT = ("err@20", "ndcg@20", "rbp", "ap", "gap", "p@10", "judged@20")
CWL_DEFAULT = ("rbp", "insq", "inst", "sdcg@10", "cwlp@10", "bpm", "ift", "nerr10", "nerr11")


# Blanks between the parts of a measure, and quoted text.
_BLANK = re.compile(r"""("[^"]*"|'[^']*')|\s+""")


@public
def parse_measures(
    text: AnyMeasure | Iterable[AnyMeasure], table: Mapping[str, Measure] | None = None, cutoff: int | None = None
) -> list[Measure]:
    """Return the measures that `text` names, without duplicates, in the order and with the label as first written.

    text    `"err@20 ndcg(gain=exp)@10"`, `"map,bpref ndcg@5,10"`, a Measure, a measure of ir_measures, or a list of
            these
    table   name -> Measure; default the built-in measures
    cutoff  the cutoff of measures written without one; ignored by measures that take none

    Raises InputError (usage) for a wrong name, key, value or cutoff, with the closest valid one.

    >>> gradedeval.parse_measures("ndcg map rbp(p=0.9)", cutoff=10)
    [ndcg@10, ap@10, rbp(p=0.9)@10]
    """
    measures, parts = list[Measure](), [text]
    while parts:
        part = parts.pop()
        if not isinstance(part, str):
            if isinstance(part, Measure) or hasattr(part, "SUPPORTED_PARAMS") or not isinstance(part, Iterable):
                measures += _of_object(part, table, cutoff)
            else:
                parts += reversed([*part])
        elif table is None and cutoff is None and _PLAIN.fullmatch(part):
            measures += _plain_measures(part)
        else:
            measures += _of_text(part, MEASURES if table is None else table, cutoff)
    return without_duplicates(measures)


def _of_object(part: Any, table: Mapping[str, Measure] | None, cutoff: int | None) -> list[Measure]:
    """Return a Measure, or a measure of ir_measures, as a list. Raises InputError (usage) for anything else."""
    if isinstance(part, Measure):
        measure = _cut(part, cutoff).complete()
        return [measure if measure.spellings else replace(measure, spellings=(str(measure),))]
    if hasattr(part, "SUPPORTED_PARAMS"):
        return _of_ir_measures(part, table)
    if callable(part):
        hint = "decorate it: @gradedeval.measure(per_topic=True) of a function of one topic"
        raise InputError("", f"the function {getattr(part, '__name__', part)} is not a measure", hint, usage=True)
    hint = "pass text as in 'err@20', a Measure, or a list of these"
    raise InputError("", f"{safe_repr(part)} is not a measure", hint, usage=True)


# Names and cutoffs depend on no file, so a caller in a loop parses them once.
_PLAIN = re.compile(r"[\w@., ]+", re.ASCII)


@lru_cache(maxsize=256)
def _plain_measures(text: str) -> tuple[Measure, ...]:
    return tuple(_of_text(text, MEASURES, None))


def python_attribute(name: str) -> Measure:
    """Return the measure of a name in Python: a gradedeval name, `set_` for a reserved one, or another tool's, as nDCG.
    Raises AttributeError, with the closest name."""
    for key in (name.removesuffix("_"), name.lower()):
        if key in MEASURES:
            return MEASURES[key]
    if not name.startswith("_"):
        with suppress(InputError):
            named = parse_measures(name)
            if len(named) == 1:
                return named[0]
    near = did_you_mean(name, MEASURES) and f"; {did_you_mean(name, MEASURES)}"
    raise AttributeError(f"no measure is called '{name}'{near}")


def _of_text(text: str, table: Mapping[str, Measure], cutoff: int | None) -> list[Measure]:
    """Return the measures of a text in notation."""
    words = list[str]()
    for word in split_words(text):
        words += split_list(word) if "," in word or ".." in word else [word]
    if not words:
        hint = "as in 'err@20 ndcg@10'; `gradedeval measures` lists them"
        raise InputError(repr(text), "contains no measure", hint, usage=True)
    measures = list[Measure]()
    for word in dict.fromkeys(words):
        measures += _of_word(word, table) if cutoff is None else _of_word_at(cutoff, word, table)
    return measures


def is_measure(text: str) -> bool:
    """Return whether a text names measures, regardless of missing files."""
    try:
        parse_measures(text)
    except InputError:
        from gradedeval.kernel.measures.spellings import ALIASES

        return text.split("@")[0].lower() in (*MEASURES, *ALIASES)
    return True


def without_duplicates(measures: Iterable[Measure]) -> list[Measure]:
    """Return the distinct measures, each with all the ways that it was written."""
    ways: dict[Measure, dict[str, None]] = {}
    for measure in measures:
        ways.setdefault(measure, {}).update(dict.fromkeys(measure.spellings))
    return [measure if len(texts) < 2 else replace(measure, spellings=tuple(texts)) for measure, texts in ways.items()]


def _of_ir_measures(measure: Any, table: Mapping[str, Measure] | None) -> list[Measure]:
    """Return a measure of ir_measures with its label there; a gradedeval measure made for ir_measures is unwrapped."""
    wrapped = getattr(measure, "gradedeval", None)
    if isinstance(wrapped, Measure):
        return [wrapped.complete()]
    text = str(measure)
    if hasattr(measure, "runtime_impl"):
        problem = "is defined in ir_measures as a function, which works only there"
        raise InputError(f"'{text}'", problem, "define it with @gradedeval.measure", usage=True)
    # alpha_DCG is another measure here; α_DCG is the alias of ir_measures' one.
    written = re.sub("^alpha_DCG", "α_DCG", text)
    return [replace(parsed, spellings=(text,)) for parsed in parse_measures(written, table)]


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """Return the notation of a measure as gradedeval writes it; `text` for unknown ones, such as a user's."""
    try:
        (measure,) = parse_measures(text)
    except (InputError, ValueError):
        return text
    return str(measure)


def exact_label(measure: Measure) -> str:
    """Return the label of a measure, if that defines it completely; else its notation, as after changes by options."""
    return measure.label if canonical(measure.label) == str(measure) else str(measure)


def _cut(measure: Measure, cutoff: int | None) -> Measure:
    """Return the measure with the cutoff, if it has none and takes one."""
    if cutoff is None or measure.cutoff is not None or measure.definition.cutoff == "none":
        return measure
    return replace(measure @ cutoff, spellings=tuple(f"{way}@{int(cutoff)}" for way in measure.spellings))


def _of_word_at(cutoff: int, word: str, table: Mapping[str, Measure]) -> list[Measure]:
    """Return the measures of a word, with the cutoff for those without one."""
    try:
        return [_cut(measure, cutoff) for measure in _of_word(word, table)]
    except InputError:
        with suppress(InputError):  # the error of the word as written is more useful
            return _of_word(f"{word}@{plain_value(cutoff)}", table)  # measures that require a cutoff
        raise


def _of_word(word: str, table: Mapping[str, Measure]) -> list[Measure]:
    """Return the measures of a word of notation, labeled as written."""
    word = _BLANK.sub(lambda match: match[1] or "", word)
    spelling = _native_spelling(word, table)
    spellings = [(word, spelling)] if spelling else _foreign_spellings(word, table)
    measures = list[Measure]()
    for label, notation in spellings:
        measure = replace(_find(notation, table), spellings=(label,))
        if (measure.parameters or measure.prior) and len(str(measure)) > LONGEST:  # then nothing could read it again
            raise too_long(word)
        measures.append(measure)
    return measures


def _native_spelling(word: str, table: Mapping[str, Measure]) -> Spelling | None:
    """Return a word in gradedeval's notation with valid names as a spelling; None for anything else."""
    try:
        (spelling,) = read_notation(word)
    except InputError:
        return None
    measure = table.get(spelling.name) if spelling.inner is None else None
    if measure is None or (spelling.cutoff is None and measure.definition.cutoff == "required"):
        return None
    if spelling.parameters:
        accepted = measure.definition.accepted
        if not accepted.others and any(key not in accepted.names for key, _ in spelling.parameters):
            return None
    return spelling


def _foreign_spellings(word: str, table: Mapping[str, Measure]) -> list[tuple[str, Spelling]]:
    """Return the label and the spelling here of each measure in a word of another tool's notation."""
    from gradedeval.kernel.measures.spellings import read_spellings  # most evaluations need none

    try:
        return read_spellings(word, table)
    except InputError as error:
        suggestion = _rewritten(word, table)
        raise error.replace(hint=Guess(word, suggestion)) if suggestion else error from None


REORDERED = (
    (r"([\w-]+)@(\d+)\((.+)\)", r"\1(\3)@\2"),  # ndcg@10(rel=2)
    (r"([\w-]+)@(?:k=|top|top-|first)(\d+)", r"\1@\2"),
    (r"([\w-]+)@([a-zA-Z]\w*=[^()]+)", r"\1(\2)"),  # rbp@p=0.5
    (r"([\w-]+)@(\d+)[:,]([a-zA-Z]\w*=[^()]+)", r"\1(\3)@\2"),
    (r"([\w-]+)[(\[](\d+)[)\]]", r"\1@\2"),  # ndcg(10)
    (r"([\w-]+)@(\d+)-(\d+)", r"\1@\2..\3"),
)
"""Patterns of measures with parts in another order -> the right order."""


def _rewritten(word: str, table: Mapping[str, Measure]) -> str:
    """Return a measure with its parts in the right order, also `rbp(p=0.8)` for `rbp(0.8)`: a fraction is the value of
    the first parameter. Return "" if the result is not a measure."""
    shape = re.fullmatch(r"(?P<name>\w+)[(-](?P<value>\d*\.\d+)\)?(?P<cutoff>(@\d+)?)", word)
    measure = table.get(shape["name"].lower()) if shape else None
    if shape and measure is not None and (names := list(measure.definition.parameters)):
        return f"{shape['name']}({names[0]}={shape['value']}){shape['cutoff']}"
    rewritten = next((re.sub(theirs, ours, word) for theirs, ours in REORDERED if re.fullmatch(theirs, word)), "")
    with suppress(InputError):
        return rewritten if rewritten and parse_measures(rewritten, table) else ""
    return ""


def _find(spelling: Spelling, table: Mapping[str, Measure]) -> Measure:
    if spelling.inner is not None:
        return _mean_over_intents(spelling, spelling.inner, table)
    measure = table.get(spelling.name) or _entry_point_measure(spelling, table)
    if spelling.parameters:
        measure = measure(**dict(spelling.parameters))
    return (measure if spelling.cutoff is None else measure @ spelling.cutoff).complete()


def _entry_point_measure(spelling: Spelling, table: Mapping[str, Measure]) -> Measure:
    """Return the measure that another package offers. Raises InputError (usage) if none has this name."""
    from gradedeval.kernel.measures.user_measures import load_entry_point  # most names are known

    measure = load_entry_point(spelling.name)
    if measure is None:
        from gradedeval.kernel.measures.spellings import hint_of

        hint = hint_of(spelling, table)
        raise InputError("", f"unknown measure '{spelling.name}'", hint, kind="unknown-measure", usage=True)
    return measure


def _mean_over_intents(spelling: Spelling, inner: Spelling, table: Mapping[str, Measure]) -> Measure:
    """Return `ia(inner)`. A cutoff after it is the cutoff of the measure inside."""
    if spelling.cutoff is not None:
        if inner.cutoff is not None:
            raise InputError(f"'{spelling}'", "has two cutoffs", f"write {IA}({inner})", usage=True)
        inner = replace(inner, cutoff=spelling.cutoff)
    from gradedeval.kernel.measures.diversity import intent_aware  # few measures are

    return intent_aware(_find(inner, table), **{key: str(value) for key, value in spelling.parameters})
