"""Output lines, and how a trec_eval measure and its parameters become lines with gradedeval's measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gradedeval.errors import InputError
from gradedeval.measures.definition import Measure
from gradedeval.measures.gain_schemes import is_pairs
from gradedeval.measures.properties import Summary
from gradedeval.measures.table import MEASURES

VERSIONS = ("10", "9")


@dataclass(frozen=True)
class Line:
    """An output line: its name, and the measure whose score it prints; None for text and for preference measures.

    by_topic  whether -q prints it for each topic
    summary   whether the summary has it
    length    of relevance strings: how many documents they show
    relevant  whether it is 0 in topics without a relevant document (by -l)
    counted   of preference measures: how they are aggregated over topics; None for text
    """

    name: str
    measure: Measure | None = None
    by_topic: bool = True
    summary: bool = True
    length: int = 0
    relevant: bool = False
    counted: Summary | None = None

    @property
    def summed(self) -> Summary | None:
        """How its scores are aggregated over topics; None for text."""
        return self.measure.definition.summary if self.measure is not None else self.counted


@dataclass(frozen=True)
class Setting:
    """What measures depend on besides their parameters: the version to follow, and -N, which is 0 unless given."""

    version: str = "10"
    documents: int = 0


Lines = Callable[[str, str, Setting], list[Line]]
"""(name, parameters after its dot (empty: defaults), setting) -> lines."""


@dataclass(frozen=True)
class Entry:
    """A measure of trec_eval.

    lines     makes its output lines
    sets      the nicknames that include it
    what      what it is, for -h
    takes     its parameters, for -h; empty if it has none
    """

    lines: Lines
    sets: tuple[str, ...]
    what: str
    takes: str = ""


def bad_parameters(name: str, words: str, hint: str) -> InputError:
    """The error for parameters that a measure does not take."""
    return InputError(f"-m {name}.{words}", "invalid parameters", hint, kind="parameters", usage=True)


def _numbers(name: str, words: str, key: str = "") -> list[float]:
    """The numbers among the parameters, after `key=` where that is written."""
    try:
        numbers = [float(word) for word in words.removeprefix(f"{key}=").split(",")]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise bad_parameters(name, words, f"expected numbers separated by commas, such as {name}.1,2")
    return numbers


def plain(notation: str | None = None, *, by_topic: bool = True, counted: Summary | None = None) -> Lines:
    """A line without parameters: of a measure, or without `notation` of a preference measure or text."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        if words:
            raise bad_parameters(name, words, f"{name} takes no parameters")
        return [Line(name, MEASURES[notation] if notation else None, by_topic, counted=counted)]

    return lines


def at_cutoffs(notation: str, default: Iterable[int]) -> Lines:
    """A measure at several cutoffs, rounded down to whole ranks."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        cutoffs = [int(number) for number in _numbers(name, words)] if words else list(default)
        if min(cutoffs) < 1:
            raise bad_parameters(name, words, "cutoffs start at 1")
        return [Line(f"{name}_{cutoff}", MEASURES[notation] @ cutoff) for cutoff in cutoffs]

    return lines


def at_levels(measure: Callable[[float, Setting], Measure], default: Iterable[float]) -> Lines:
    """A measure at several levels, printed with two digits."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        levels = sorted(set(_numbers(name, words))) if words else list(default)
        return [Line(f"{name}_{level:.2f}", measure(level, setting)) for level in levels]

    return lines


def with_words(
    notation: str, given: Callable[[Measure, str, str, Setting], Measure], *, relevant: bool = False
) -> Lines:
    """A measure with one line, whose name includes the parameters as they were given.

    given  the measure, its name, the parameters and the setting -> the measure with these parameters
    """

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        measure = MEASURES[notation]
        if words:
            measure = given(measure, name, words, setting)
        return [Line(f"{name}_{words}" if words else name, measure, relevant=relevant)]

    return lines


def with_gains(notation: str, *, relevant: bool = False) -> Lines:
    """A graded measure; grade=gain pairs replace the gains of these grades."""

    def given(measure: Measure, name: str, words: str, setting: Setting) -> Measure:
        if not is_pairs(words):
            raise bad_parameters(name, words, f"expected grade=gain pairs, such as {name}.1=3,2=9")
        return measure(gain=words)

    return with_words(notation, given, relevant=relevant)


def with_number(notation: str, key: str, example: str) -> Lines:
    """A measure with one parameter: its value, or `key=value`."""

    def given(measure: Measure, name: str, words: str, setting: Setting) -> Measure:
        numbers = _numbers(name, words, key)
        if len(numbers) != 1:
            raise bad_parameters(name, words, f"expected one number, such as {name}.{example}")
        return measure(**{key: numbers[0]})

    return with_words(notation, given)


def utility(measure: Measure, name: str, words: str, setting: Setting) -> Measure:
    """Linear utility by four coefficients, with -N where the last is not 0."""
    coefficients = _numbers(name, words)
    if len(coefficients) != 4:
        raise bad_parameters(name, words, f"expected four coefficients, such as {name}.1,-1,0,0")
    measure = measure(**dict(zip("abcd", coefficients, strict=True)))
    return measure(docs=setting.documents) if coefficients[3] else measure


def iprec(level: float, setting: Setting) -> Measure:
    """Interpolated precision at a recall level, as the version computes it."""
    return _as_rounded("iprec", setting)(recall=level)


def eleven_points(name: str, words: str, setting: Setting) -> list[Line]:
    """Interpolated precision averaged over levels of recall, eleven or those given."""
    measure = _as_rounded("iprec_avg", setting)
    if words:
        return [Line(f"{name}_{words}", measure(recall=tuple(_numbers(name, words))))]
    return [Line(name, measure)]


def _as_rounded(notation: str, setting: Setting) -> Measure:
    """The measure; version 9 adds more than 0.5 to recall level × R before it rounds down."""
    return MEASURES[notation](add=0.9) if setting.version == "9" else MEASURES[notation]


def relevance_string(name: str, words: str, setting: Setting) -> list[Line]:
    """The grades of the first documents, as text."""
    length = int(_numbers(name, words)[0]) if words else 10
    if length < 1:
        raise bad_parameters(name, words, "cutoffs start at 1")
    return [Line(f"{name}_{words}" if words else name, summary=False, length=length)]
