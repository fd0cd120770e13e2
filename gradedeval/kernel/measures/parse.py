"""Text -> measures: 'err@20 ndcg(gain=exp)@10'."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gradedeval.errors import Guess, InputError, did_you_mean, public
from gradedeval.kernel.measures.definition import MEASURES, AnyMeasure, Measure
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
    found, parts = list[Measure](), [text]
    while parts:
        part = parts.pop()
        if not isinstance(part, str):
            if isinstance(part, Measure) or hasattr(part, "SUPPORTED_PARAMS") or not isinstance(part, Iterable):
                found += _of_object(part, table, cutoff)
            else:
                parts += reversed([*part])
        elif table is None and cutoff is None and _PLAIN.fullmatch(part):
            found += _plain_measures(part)
        else:
            found += _of_text(part, MEASURES if table is None else table, cutoff)
    return each_once(found)


def _of_object(part: Any, table: Mapping[str, Measure] | None, cutoff: int | None) -> list[Measure]:
    """A measure, or one of ir_measures, as it is meant here. Raises InputError (usage) for anything else."""
    if isinstance(part, Measure):
        own = _cut(part, cutoff).complete()
        return [own if own.asked else replace(own, asked=(str(own),))]
    if hasattr(part, "SUPPORTED_PARAMS"):
        return _of_ir_measures(part, table)
    if callable(part):
        hint = "decorate it: @gradedeval.measure(per_topic=True) of a function of one topic"
        raise InputError("", f"the function {getattr(part, '__name__', part)} is not a measure", hint, usage=True)
    hint = "give text as in 'err@20', a Measure, or several"
    raise InputError("", f"{part!r} is not a measure", hint, usage=True)


# Names and cutoffs: what they mean depends on no file, so that a caller in a loop parses them once.
_PLAIN = re.compile(r"[\w@., ]+", re.ASCII)


@lru_cache(maxsize=256)
def _plain_measures(text: str) -> tuple[Measure, ...]:
    return tuple(_of_text(text, MEASURES, None))


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


def _of_text(text: str, table: Mapping[str, Measure], cutoff: int | None) -> list[Measure]:
    """The measures of a text in notation."""
    words = list[str]()
    for word in split_words(text):
        words += several(word) if "," in word or ".." in word else [word]
    if not words:
        hint = "as in 'err@20 ndcg@10'; `gradedeval measures` lists them"
        raise InputError(repr(text), "contains no measure", hint, usage=True)
    found = list[Measure]()
    for word in dict.fromkeys(words):
        found += _of_word(word, table) if cutoff is None else _of_word_at(cutoff, word, table)
    return found


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
    return [measure if len(ways) < 2 else replace(measure, asked=tuple(ways)) for measure, ways in asked.items()]


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


def _of_word_at(cutoff: int, word: str, table: Mapping[str, Measure]) -> list[Measure]:
    """The measures of one word, with the cutoff where they have none."""
    try:
        return [_cut(measure, cutoff) for measure in _of_word(word, table)]
    except InputError:
        try:
            return _of_word(f"{word}@{plain_value(cutoff)}", table)  # of those that have to have one
        except InputError:
            pass  # what is wrong with the word as it was written is of more use
        raise


def _of_word(word: str, table: Mapping[str, Measure]) -> list[Measure]:
    """The measures that one word of notation names, each with what it is called: as it is written."""
    word = _BLANK.sub(lambda found: found[1] or "", word)
    spellings = [(word, own)] if (own := _own(word, table)) else _elsewhere(word, table)
    found = list[Measure]()
    for label, spelling in spellings:
        measure = replace(_find(spelling, table), asked=(label,))
        if (measure.parameters or measure.prior) and len(str(measure)) > LONGEST:  # then nothing could read it again
            raise too_long(word)
        found.append(measure)
    return found


def _own(word: str, table: Mapping[str, Measure]) -> Spelling | None:
    """A word in gradedeval's own notation, with names that are known here; None where it is anything else."""
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


def _elsewhere(word: str, table: Mapping[str, Measure]) -> list[tuple[str, Spelling]]:
    """What a word of another tool's notation names: each measure as it is called, and as it is written here."""
    from gradedeval.kernel.measures.spellings import read_spellings  # for which most evaluations need not wait

    try:
        return read_spellings(word, table)
    except InputError as error:
        meant = _rewritten(word, table)
        raise error.replace(hint=Guess(word, meant)) if meant else error from None


REORDERED = (
    (r"([\w-]+)@(\d+)\((.+)\)", r"\1(\3)@\2"),  # ndcg@10(rel=2)
    (r"([\w-]+)@(?:k=|top|top-|first)(\d+)", r"\1@\2"),
    (r"([\w-]+)@([a-zA-Z]\w*=[^()]+)", r"\1(\2)"),  # rbp@p=0.5
    (r"([\w-]+)@(\d+)[:,]([a-zA-Z]\w*=[^()]+)", r"\1(\3)@\2"),
    (r"([\w-]+)[(\[](\d+)[)\]]", r"\1@\2"),  # ndcg(10)
    (r"([\w-]+)@(\d+)-(\d+)", r"\1@\2..\3"),
)
"""What is a measure in another order -> how it is written."""


def _rewritten(word: str, table: Mapping[str, Measure]) -> str:
    """Return a measure that is written in another order as it should be, `rbp(p=0.8)` for `rbp(0.8)` too, whose
    fraction is the value of the first parameter; "" of what is no measure then either."""
    shape = re.fullmatch(r"(?P<name>\w+)[(-](?P<value>\d*\.\d+)\)?(?P<cutoff>(@\d+)?)", word)
    measure = table.get(shape["name"].lower()) if shape else None
    if shape and measure is not None and (names := list(measure.definition.parameters)):
        return f"{shape['name']}({names[0]}={shape['value']}){shape['cutoff']}"
    meant = next((re.sub(theirs, ours, word) for theirs, ours in REORDERED if re.fullmatch(theirs, word)), "")
    with suppress(InputError):
        return meant if meant and parse_measures(meant, table) else ""
    return ""


def _find(spelling: Spelling, table: Mapping[str, Measure]) -> Measure:
    if spelling.inner is not None:
        return _mean_over_intents(spelling, spelling.inner, table)
    measure = table.get(spelling.name) or _offered(spelling, table)
    if spelling.parameters:
        measure = measure(**dict(spelling.parameters))
    return (measure if spelling.cutoff is None else measure @ spelling.cutoff).complete()


def _offered(spelling: Spelling, table: Mapping[str, Measure]) -> Measure:
    """The measure that another package offers. Raises InputError (usage) where none has that name."""
    from gradedeval.kernel.measures.user_measures import load_entry_point  # most names are known

    measure = load_entry_point(spelling.name)
    if measure is None:
        from gradedeval.kernel.measures.spellings import hint_of

        what = f"unknown measure '{spelling.name}'"
        raise InputError("", what, hint_of(spelling, table), kind="unknown-measure", usage=True)
    return measure


def _mean_over_intents(spelling: Spelling, inner: Spelling, table: Mapping[str, Measure]) -> Measure:
    """`ia(inner)`. A cutoff behind it is the cutoff of the measure inside."""
    if spelling.cutoff is not None:
        if inner.cutoff is not None:
            raise InputError(f"'{spelling}'", "has two cutoffs", f"write {IA}({inner})", usage=True)
        inner = replace(inner, cutoff=spelling.cutoff)
    from gradedeval.kernel.measures.diversity import intent_aware  # few measures are

    return intent_aware(_find(inner, table), **{key: str(value) for key, value in spelling.parameters})
