"""'ndcg(gain=exp)@10' <-> name, parameters, cutoff: the syntax of measures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from gradedeval.arrays import as_float
from gradedeval.errors import InputError, redacted
from gradedeval.kernel.trec.stream import is_named

Value = str | int | float | tuple[float, ...]

LAST_CUTOFF = 10**18 - 1
LONGEST, DEEPEST = 4096, 100
"""Maximum characters of a measure, enough for the path of a file or the gains of some hundred grades, and maximum
nested parentheses, including a formula."""

IA = "ia"
"""The only name that takes a measure in its parentheses: the mean over intents."""

SCHEMES = ("linear", "exp", "ntcir", "grade")
"""Names of gain schemes."""

UNIFORM = "uniform"
PRIOR = f"{UNIFORM} or a file as in @prior.txt"

_SHAPE = re.compile(r"(?P<name>\w[\w-]*)(?:\((?P<inside>.*)\)|:(?P<after>.+?))?(?:@(?P<cutoff>[0-9]+))?", re.DOTALL)
_PARAMETER = re.compile(r"""\s*(?P<key>\w+)\s*=\s*(?P<value>"[^"]*"|'[^']*'|\{[^{}]*\}|[^,"']*+)\s*(?:,|\Z)""")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# Tokens between possible ends of a measure: quoted text, a parenthesis, blanks, or anything else.
_PIECE = re.compile(r"""("[^"]*"?|'[^']*'?|[()]|\s+|[^"'()\s]+)""")
# The content of ia(...): a measure, and optionally the source of the intents' probabilities.
_INTENTS = re.compile(r"""(?P<inner>.*?)(?:,\s*(?P<prior>prior\s*=\s*("[^"]*"|'[^']*'|[^,"'()]*?)))?\s*""", re.DOTALL)
_BARE = re.compile(r"[\w.:+/~-]+")
_DECIMAL = r"[+-]?(?:\d+\.?\d*|\.\d+)"
_PAIRS = rf"{_DECIMAL}={_DECIMAL}(?:,{_DECIMAL}={_DECIMAL})*"


@dataclass(frozen=True)
class Spelling:
    """A measure as written: `name` in lower case, `parameters` in the order written, `inner` the measure in
    `ia(...)`."""

    name: str
    parameters: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None
    inner: Spelling | None = None

    def __str__(self) -> str:
        written = self.name
        if self.parameters or self.inner is not None:
            inside = [f"{key}={write_value(value)}" for key, value in self.parameters]
            written += f"({','.join(inside if self.inner is None else [str(self.inner), *inside])})"
        return written if self.cutoff is None else f"{written}@{self.cutoff}"


def split_words(text: str) -> list[str]:
    """Split measures at spaces outside quotes and parentheses. Raises InputError (usage) for too long or deep ones."""
    words, word, size, depth = list[str](), list[str](), 0, 0
    for match in _PIECE.finditer(text):
        piece = match[0]
        depth += {"(": 1, ")": -1}.get(piece, 0)
        if depth > DEEPEST:
            problem = f"has parentheses more than {DEEPEST} deep"
            raise InputError(_begin(word), problem, "leave some of them out", usage=True)
        if depth <= 0 and piece.isspace():
            words.append("".join(word))
            word, size = [], 0
        else:
            word.append(piece)
            size += len(piece)
        if size > LONGEST:
            raise too_long(word)
    return list(filter(None, [*words, "".join(word).strip()]))


_CUTOFFS = re.compile(r"(?P<measure>.+)@(?P<cutoffs>[0-9]{1,7}(?:\.\.[0-9]{1,7}|(?:,[0-9]{1,7})+))", re.DOTALL)
_ANOTHER = re.compile(r",(?=[^\W\d])(?!\w+\s*=)")
MOST_CUTOFFS = 1000


def split_list(word: str) -> list[str]:
    """Return the measures of a word that lists more than one: `map,bpref`, `ndcg@5,10` or `ndcg@1..3`."""
    ends = [comma.start() for comma in _ANOTHER.finditer(word) if _is_outside(word[: comma.start()])]
    parts = [word[begin + 1 : end] for begin, end in pairwise([-1, *ends, len(word)])]
    return [measure for part in parts for measure in _at_each_cutoff(part)]


def _is_outside(preceding: str) -> bool:
    """Return whether no parenthesis or quotation is open after the preceding text."""
    return (
        preceding.count("(") == preceding.count(")") and not preceding.count('"') % 2 and not preceding.count("'") % 2
    )


def _at_each_cutoff(word: str) -> list[str]:
    match = _CUTOFFS.fullmatch(word)
    if not match or not _is_outside(match["measure"]):
        return [word]
    first, dots, last = match["cutoffs"].partition("..")
    if not dots:
        return [f"{match['measure']}@{cutoff}" for cutoff in first.split(",")]
    if not int(first) <= int(last) < int(first) + MOST_CUTOFFS:
        problem = f"{first}..{last} is not an ascending range of at most {MOST_CUTOFFS:,} cutoffs"
        raise InputError(repr(word), problem, "for example 'ndcg@1..10'", usage=True)
    return [f"{match['measure']}@{cutoff}" for cutoff in range(int(first), int(last) + 1)]


def too_long(word: Iterable[str]) -> InputError:
    """Return the error for a measure with too many characters."""
    hint = "put long values in a file, as in gain=@gains.csv"
    return InputError(_begin(word), f"is longer than {LONGEST:,} characters", hint, usage=True)


def _begin(word: Iterable[str]) -> str:
    return repr("".join(word)[:40] + "…")


def read_notation(text: str, read_inner: Callable[[str], list[Spelling]] | None = None) -> list[Spelling]:
    """Return the measure in a text, `name(key=value,...)@cutoff` or `name:key=value,...@cutoff`; more than one if
    `read_inner` returns more for the parentheses of `ia(...)`."""
    shape = _SHAPE.fullmatch(text.strip())
    if not shape:
        hint = "write name(key=value,...)@cutoff, as in 'ndcg(gain=exp)@10'"
        if letter := re.fullmatch(r"(.+)@([kn])", text.strip(), re.IGNORECASE):
            raise InputError(repr(text), f"the cutoff {letter[2]} is not a number", f"as in {letter[1]}@10", usage=True)
        is_list = "," in re.sub(r"\(.*?\)", "", text)
        raise InputError(repr(text), "is not a measure", "separate measures by spaces" if is_list else hint, usage=True)
    inside = shape["inside"] or shape["after"] or ""
    cutoff = None if shape["cutoff"] is None else read_cutoff(text, shape["cutoff"])
    if shape["name"].lower() == IA:
        return _by_intent(text, inside, cutoff, read_inner or read_notation)
    return [Spelling(shape["name"].lower(), tuple(_parameters(text, inside)) if inside else (), cutoff)]


def _by_intent(
    text: str, inside: str, cutoff: int | None, read_inner: Callable[[str], list[Spelling]]
) -> list[Spelling]:
    """Return the measures of `ia(MEASURE)` or `ia(MEASURE,prior=@FILE)`; a cutoff after it applies to the measure."""
    match = _INTENTS.fullmatch(inside)
    if not match or not match["inner"].strip():
        raise InputError(repr(text), "has no measure inside", f"as in {IA}(err@20)", usage=True)
    if re.match(rf"{IA}\s*[(:]", match["inner"].strip(), re.IGNORECASE):
        inner = match["inner"].strip()
        raise InputError(f"'{text}'", f"{inner} is already averaged over intents", f"write {inner}", usage=True)
    if re.search(r"""^[\w-]+,\s*\w+\s*=""", match["inner"].strip()):
        hint = f"parameters of the measure go in its own parentheses, as in {IA}(err(rel=2)@20)"
        raise InputError(repr(text), f"the only parameter of {IA} is prior", hint, usage=True)
    prior = tuple(_parameters(text, match["prior"] or ""))
    return [Spelling(IA, prior, cutoff, inner) for inner in read_inner(match["inner"].strip())]


def read_cutoff(text: str, digits: str) -> int:
    if len(digits.lstrip("0")) > len(str(LAST_CUTOFF)):  # Python reads no number of thousands of digits
        raise cutoff_too_large(repr(text), digits)
    cutoff = int(digits)
    if not cutoff:
        raise InputError(repr(text), f"invalid cutoff {digits}", "cutoffs start at 1", usage=True)
    return cutoff


def cutoff_too_large(place: str, digits: str) -> InputError:
    """Return the error for a cutoff that no array can have."""
    return InputError(place, f"invalid cutoff {digits}", f"cutoffs end at {LAST_CUTOFF:,}", usage=True)


def _parameters(text: str, inside: str) -> list[tuple[str, Value]]:
    parameters: dict[str, Value] = {}
    position = 0
    while position < len(inside):
        match = _PARAMETER.match(inside, position)
        if not match:
            hint = "parameters are key=value, separated by commas"
            raise InputError(repr(text), f"cannot read '{inside[position:]}'", hint, usage=True)
        key = match["key"]
        if key in parameters:
            raise InputError(repr(text), f"'{key}' is given twice", "give it once", usage=True)
        parameters[key] = read_value(match["value"].rstrip())
        position = match.end()
    return list(parameters.items())


def plain_value(value: Any) -> Any:
    """Return a value of Python or NumPy in the types of notation: lists as tuples, too long integers as floats."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, str | float) or (isinstance(value, int) and abs(value) <= LAST_CUTOFF):
        return value
    try:
        return tuple(map(as_float, value)) if isinstance(value, list | tuple) else as_float(value)
    except (TypeError, ValueError):  # neither a number nor a list of numbers
        return value


def read_value(text: str) -> Value:
    """Return a number, a list of numbers (`0:0.5:1`), or a word; quotes make anything a word."""
    if text[:1] in ('"', "'"):
        return text[1:-1]
    if _NUMBER.fullmatch(text):
        is_whole, digits = not re.search(r"[.eE]", text), text.lstrip("+-0")
        # Arrays have no room for an integer of more digits.
        return int(text) if is_whole and len(digits) <= len(str(LAST_CUTOFF)) else float(text)
    parts = text.split(":")
    if len(parts) > 1 and all(_NUMBER.fullmatch(part) for part in parts):
        return tuple(float(part) for part in parts)
    return text


def is_pairs(value: object) -> bool:
    """Return whether a scheme lists the gains of some grades: `1=3,2=9`."""
    return isinstance(value, str) and re.fullmatch(_PAIRS, value) is not None


def write_value(value: Value) -> str:
    """Return the text that `read_value` reads as `value`, without credentials in a URL."""
    if isinstance(value, tuple):
        return ":".join(write_value(part) for part in value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, int):
        return str(value)
    value = redacted(value)
    plain = _BARE.fullmatch(value.removeprefix("@")) and not all(map(_NUMBER.fullmatch, value.split(":")))
    return value if plain and not re.search(r"@[0-9]+$", value) else f'"{value}"'


def is_prior(value: Value) -> bool:
    """Return whether `value` names the probabilities of intents: `uniform`, or an existing file as in `@prior.txt`."""
    if not isinstance(value, str) or value[:1] != "@":
        return value == UNIFORM
    if not is_named(value[1:]):
        hint = "prior=@FILE reads lines of topic, subtopic and probability"
        raise InputError(f"prior={value}", f"no file '{value[1:]}'", hint, usage=True)
    return True
