"""Lines of output, and how a measure of trec_eval and its parameters become lines with measures of ours."""

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
UNLIMITED = 2**63 - 1
"""The number of documents in the collection where nobody says it."""


@dataclass(frozen=True)
class Line:
    """A line of output: its name, and the measure whose score it prints; None where it is text or of preferences.

    counted   of a line without a measure: how preferences are summed up over topics; None: text

    by_topic  whether -q prints it for each topic
    summary   whether it stands in the summary
    length    of relevance strings: how many documents they show
    relevant  whether it is 0 in topics without a relevant document, by -l
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
        """How its scores are summed up over topics; None where it has none."""
        return self.measure.definition.summary if self.measure is not None else self.counted


@dataclass(frozen=True)
class Setting:
    """What shapes a measure beside its own parameters: the version that is followed, and -N."""

    version: str = "10"
    documents: int = UNLIMITED

    @property
    def add(self) -> float:
        """What version 9 and version 10 add before they round a recall level times R down."""
        return 0.9 if self.version == "9" else 0.5


Lines = Callable[[str, str, Setting], list[Line]]
"""Name, the words after its dot (none: the defaults), setting -> lines."""


@dataclass(frozen=True)
class Entry:
    """A measure of trec_eval.

    sets      the nicknames that stand for it among others
    what      what it is, for -h
    takes     what may follow its dot, for -h; nothing where nothing may
    """

    lines: Lines
    sets: tuple[str, ...]
    what: str
    takes: str = ""


def wrong(name: str, words: str, hint: str) -> InputError:
    """What to say of parameters that a measure does not take."""
    return InputError(f"-m {name}.{words}", "takes no such parameters", hint, usage=True)


def _numbers(name: str, words: str) -> list[float]:
    try:
        numbers = [float(word) for word in words.split(",")]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise wrong(name, words, f"numbers with commas between them, as in {name}.1,2")
    return numbers


def plain(notation: str, *, by_topic: bool = True, summary: bool = True) -> Lines:
    """A measure without parameters."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        if words:
            raise wrong(name, words, f"{name} takes no parameters")
        return [Line(name, MEASURES[notation], by_topic, summary)]

    return lines


def cut(notation: str, default: Iterable[int]) -> Lines:
    """A measure at several cutoffs; a fraction of a rank is cut off."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        cutoffs = sorted({int(number) for number in _numbers(name, words)}) if words else list(default)
        if cutoffs[0] < 1:
            raise wrong(name, words, "ranks count from 1")
        return [Line(f"{name}_{cutoff}", MEASURES[notation] @ cutoff) for cutoff in cutoffs]

    return lines


def at_levels(measure: Callable[[float, Setting], Measure], default: Iterable[float]) -> Lines:
    """A measure at several levels, printed with two digits."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        levels = sorted(set(_numbers(name, words))) if words else list(default)
        return [Line(f"{name}_{level:.2f}", measure(level, setting)) for level in levels]

    return lines


def with_words(measure: Callable[[str, str, Setting], Measure], *, relevant: bool = False) -> Lines:
    """A measure that is printed once, with its parameters as they were given."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        return [Line(f"{name}_{words}" if words else name, measure(name, words, setting), relevant=relevant)]

    return lines


def iprec(level: float, setting: Setting) -> Measure:
    """Interpolated precision at a level of recall, as the version has it."""
    one = MEASURES["iprec"](recall=level)
    return one if setting.version == "10" else one(add=setting.add)


def eleven_points(name: str, words: str, setting: Setting) -> Measure:
    """Interpolated precision averaged over levels of recall, eleven or those given."""
    one = MEASURES["iprec_avg"] if setting.version == "10" else MEASURES["iprec_avg"](add=setting.add)
    return one(recall=tuple(_numbers(name, words))) if words else one


def utility(name: str, words: str, setting: Setting) -> Measure:
    """Linear utility by four coefficients, with -N where the last of them counts."""
    if not words:
        return MEASURES["utility"]
    coefficients = _numbers(name, words)
    if len(coefficients) != 4:
        raise wrong(name, words, f"four coefficients, as in {name}.1,-1,0,0")
    made = MEASURES["utility"](**dict(zip("abcd", coefficients, strict=True)))
    return made(docs=setting.documents) if coefficients[3] else made


def with_gains(notation: str, *, relevant: bool = False) -> Lines:
    """A graded measure; grade=gain pairs change the gains of these grades."""

    def measure(name: str, words: str, setting: Setting) -> Measure:
        if not words:
            return MEASURES[notation]
        if not is_pairs(words):
            raise wrong(name, words, f"grade=gain pairs, as in {name}.1=3,2=9")
        return MEASURES[notation](gain=words)

    return with_words(measure, relevant=relevant)


def with_number(notation: str, key: str, example: str) -> Lines:
    """A measure with one parameter of its own."""

    def measure(name: str, words: str, setting: Setting) -> Measure:
        if not words:
            return MEASURES[notation]
        numbers = _numbers(name, words)
        if len(numbers) != 1:
            raise wrong(name, words, f"one number, as in {name}.{example}")
        return MEASURES[notation](**{key: numbers[0]})

    return with_words(measure)


def relevance_string(name: str, words: str, setting: Setting) -> list[Line]:
    """The grades of the first documents, as text."""
    length = int(_numbers(name, words)[0]) if words else 10
    if length < 1:
        raise wrong(name, words, "ranks count from 1")
    return [Line(f"{name}_{words}" if words else name, summary=False, length=length)]


def text(name: str, words: str, setting: Setting) -> list[Line]:
    """Text that the verb makes."""
    if words:
        raise wrong(name, words, f"{name} takes no parameters")
    return [Line(name, by_topic=False)]


def preferences(summary: Summary) -> Lines:
    """A measure of preferences."""

    def lines(name: str, words: str, setting: Setting) -> list[Line]:
        if words:
            raise wrong(name, words, f"{name} takes no parameters")
        return [Line(name, counted=summary)]

    return lines
