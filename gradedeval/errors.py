"""What is wrong with the user's input, and what the user should know: `place: problem; hint`.

Messages hold options as values, such as `flag.topics`: at the prompt they name flags, and in Python keywords.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, wraps
from pickle import PicklingError
from typing import Any, TypeVar

SHOWN = 10
"""Problems of one file that a message lists; the others are counted."""

LONG, SHOWN_OF_A_WORD = 250, 100
"""Characters of a word, such as a docno, that is cut in a message, and those that are left of it."""

_LONG = rf"(?<!\S)\S{{{LONG},}}"

# Control characters, ends of lines, and marks that turn the direction of the text after them.
_UNSEEN = "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\udc80-\udc9f]"


_URL = r"(?P<protocol>(?<![\w+.-])[\w+.-]+)://(?P<user>[^\s/'\"]*@)?(?P<path>[^\s?'\"]*)(?P<query>\?[^\s'\"]*)?"
_SECRET: dict[str, str] = {}
"""URL that says something of a user -> the same without it."""

_CONTAINERS = ("abfs", "abfss", "wasb", "wasbs")
"""Protocols whose URLs have a container, and no user, before the @."""

# Noncharacters: Unicode keeps them for the inside of programs.
_FLAG, _KEYWORD, _END = "\ufdd0", "\ufdd1", "\ufdd2"
_MARKS = re.compile(f"[{_FLAG}-{_END}]")
_SAID = re.compile(f"{_FLAG}([^{_FLAG}-{_END}]*){_KEYWORD}([^{_FLAG}-{_END}]*){_END}")


class Flag(str):
    """An option as a message names it, alone or with a value: f"use {flag.topics:both}" is `use --topics both` at the
    prompt, and `use topics="both"` to who called from Python.

    The value stands behind the colon: words as they are, `first or last`, capitals for what the user is to put there,
    and `True` where the flag takes none. The text holds both wordings between marks, and may be part of longer ones.
    """

    flag: str
    keyword: str

    def __new__(cls, flag: str, keyword: str = "") -> Flag:
        keyword = keyword or (flag[2:].replace("-", "_") if flag.startswith("--") else flag)
        option = super().__new__(cls, either(flag, keyword))
        option.flag, option.keyword = flag, keyword
        return option

    def __reduce__(self) -> tuple[Any, ...]:  # a str pickles its text
        return Flag, (self.flag, self.keyword)

    def __format__(self, value: str) -> str:
        if not value:
            return str(self)
        words = " or ".join(map(_in_python, value.split(" or ")))
        return either(self.flag if value == "True" else f"{self.flag} {value}", f"{self.keyword}={words}")


def either(flags: str, keywords: str) -> str:
    """A text that is the first at the prompt, and the second in Python."""
    return f"{_FLAG}{_MARKS.sub('', flags)}{_KEYWORD}{_MARKS.sub('', keywords)}{_END}"


def _in_python(value: str) -> str:
    if value == "True" or re.fullmatch(r"-?[\d.]+(e-?\d+)?", value):
        return value
    return "…" if value.isupper() else f'"{value.strip(chr(39))}"'


class _Flags:
    """Flags by the names of their keywords."""

    def __getattr__(self, keyword: str) -> Flag:
        if keyword.startswith("_"):
            raise AttributeError(keyword)
        return Flag("-m" if keyword in ("measure", "measures") else f"--{keyword.replace('_', '-')}", keyword)


flag = _Flags()
"""`flag.max_residual` is `--max-residual` and max_residual; `flag.measures` is `-m`."""


def with_flags(text: str) -> str:
    """A message as it is said at the prompt."""
    return _SAID.sub(r"\1", text) if _FLAG in text else text


def with_keywords(text: str) -> str:
    """A message as it is said to who calls from Python."""
    return _SAID.sub(r"\2", text) if _FLAG in text else text


class InputError(ValueError):
    """What is wrong with a user's files or arguments, in one line: `place: problem; hint`.

    The text of the error names options as Python's keywords, its parts and `cli_text` as the command line's flags.

    place    the file, line or option: `run.txt:17`, `--depth`
    problem  what is wrong there, and `hint` what to do about it
    kind     a short name for programs, as in "duplicate-document": the words are for people, and may change
    usage    whether the command line is wrong (exit code 2) rather than the data (exit code 1)
    also     further problems of the same file; with `beyond` more that are counted only
    trace    the traceback of a user's own code that failed
    raw      the problem and the hint before rendering, with options as values: for another message
    """

    def __init__(
        self,
        place: str,
        problem: str,
        hint: str = "",
        *,
        kind: str = "",
        usage: bool = False,
        also: Iterable[InputError] = (),
        beyond: int = 0,
        trace: str = "",
    ) -> None:
        self._place, self.raw = place, (problem, hint)
        self.kind, self.usage = kind, usage
        self.also = tuple(also)
        self.beyond, self.trace = beyond, trace
        super().__init__(str(self))

    def __reduce__(self) -> tuple[Any, ...]:  # exceptions pickle their positional arguments alone
        return _rebuild, (self._parts,)

    def replace(self, **changes: Any) -> InputError:
        """The same error with other parts, as in `error.replace(hint="give each document once")`."""
        return _rebuild(self._parts | changes)

    @property
    def _parts(self) -> dict[str, Any]:
        problem, hint = self.raw
        named = {"place": self._place, "problem": problem, "hint": hint}
        return named | {name: getattr(self, name) for name in ("kind", "usage", "also", "beyond", "trace")}

    @property
    def place(self) -> str:
        return with_flags(self._place)

    @property
    def problem(self) -> str:
        return with_flags(self.raw[0])

    @property
    def hint(self) -> str:
        return with_flags(self.raw[1])

    @property
    def exit_code(self) -> int:
        return 2 if self.usage else 1

    @property
    def line(self) -> str:
        return self._line(with_flags)

    def _line(self, words: Callable[[str], str]) -> str:
        place, problem, hint = map(words, (self._place, *self.raw))
        said = f"{problem}; {hint}" if hint else problem
        if not place:
            return visible(_brief(said))
        # A path stands whole: it is what the reader opens.
        place = _brief(place) if self.place.startswith(("'", "-")) else place
        return visible(f"{place}: {_brief(said)}")

    def __str__(self) -> str:
        return self._lines(with_keywords)

    @property
    def cli_text(self) -> str:
        """The text of the error with the flags of the command line."""
        return self._lines(with_flags)

    def _lines(self, words: Callable[[str], str]) -> str:
        lines = [self._line(words), *(other._line(words) for other in self.also)]
        if self.beyond:
            place = words(self._place).split(":")[0]
            lines.append(f"{place}: {self.beyond} more such {plural(self.beyond, 'line')}")
        return "\n".join(lines)


def _brief(said: str) -> str:
    """A part of a message with the first characters of words that are too long to be read."""

    def cut(found: re.Match[str]) -> str:
        ends = found[0][len(found[0].rstrip("';:,.)")) :]
        return f"{found[0][:SHOWN_OF_A_WORD]}…{ends[:SHOWN]}"

    return re.sub(_LONG, cut, said) if len(said) > LONG else said


def _rebuild(parts: dict[str, Any]) -> InputError:
    return InputError(**parts)


TRACE = either("GRADEDEVAL_DEBUG=1 shows the traceback", ".trace of this error is its traceback")


def user_code_error(
    error: BaseException, place: str, problem: str, hint: str = "", *, usage: bool = False
) -> InputError:
    """The message of a user's own code that failed: `my.py:7: measure 'x': failed (ZeroDivisionError: …)`, with the
    traceback for those who ask for it.

    place  what it is called; without its line where none is known
    """
    import importlib  # few measures fail
    import os
    import traceback

    modules = (sys.modules[__name__], importlib, *filter(None, [sys.modules.get("numpy")]))
    packages = tuple(os.path.dirname(str(module.__file__)) for module in modules)
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith((*packages, "<frozen "))]
    # What the user's code calls may fail further down: its own line is of more use.
    own = [(frame.filename, frame.lineno) for frame in theirs if frame.filename == theirs[0].filename][-1:]
    if isinstance(error, SyntaxError) and error.filename:
        own = [(error.filename, error.lineno)]
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    for file, line in own:
        if file == os.path.abspath(place):
            place = f"{place}:{line}"
        else:
            here = os.path.join(os.getcwd(), "")
            problem, place = f"{place}: {problem}", f"{file.removeprefix(here)}:{line}"
    trace = "".join(traceback.format_exception(error))
    return InputError(place, f"{problem} ({said})", hint, usage=usage, trace=trace)


class NotImportable(InputError, PicklingError):
    """A measure that other processes cannot import, and so cannot be sent to them."""

    def __init__(self, source: str, name: str) -> None:
        what = f"other processes cannot import it from {source}"
        hint = "put it into a package that they have too, which offers it by the entry point gradedeval.measures"
        super().__init__(f"measure {name}", what, hint, usage=True)


class WrongCall(InputError, TypeError):
    """A function was called with arguments that it does not take, which in Python is a TypeError."""


class EvaluationWarning(UserWarning):
    """Something was counted, skipped or assumed: the result is valid, but the user should know."""


class Note(str):
    """A note to the user that has parts: `text; hint`, and a `kind` for programs. It reads as at the prompt; `raw` is
    its text and its hint as they were given, with options as values, and `about` all of what it lists cut short."""

    raw: tuple[str, str]
    kind: str
    about: tuple[str, ...]

    def __new__(cls, text: str, hint: str = "", *, kind: str = "", about: Iterable[str] = ()) -> Note:
        note = super().__new__(cls, with_flags(f"{text}; {hint}" if hint else text))
        note.raw, note.kind, note.about = (text, hint), kind, tuple(about)
        return note

    @property
    def text(self) -> str:
        return with_flags(self.raw[0])

    @property
    def hint(self) -> str:
        return with_flags(self.raw[1])

    def in_python(self) -> Note:
        """The same note with keywords in place of flags."""
        return Note(*map(with_keywords, self.raw), kind=self.kind, about=self.about)

    def with_hint(self, hint: str) -> Note:
        """The same note with another hint."""
        return Note(self.raw[0], hint, kind=self.kind, about=self.about)


class ProblemList:
    """Collects what is wrong with one file: the first ten problems are kept, all are counted. Lines with the same wrong
    number of fields are one problem."""

    def __init__(self, place: str, *, usage: bool = False) -> None:
        self.place, self.usage = place, usage
        self.errors: list[InputError] = []
        self.count = 0
        self._alike: dict[str, int] = {}

    def add(self, line: int, problem: str, hint: str = "", kind: str = "") -> None:
        self.count += 1
        if kind == "fields" and problem in self._alike:
            self._alike[problem] += 1
        elif len(self.errors) < SHOWN:
            if kind == "fields":
                self._alike[problem] = 0
            self.errors.append(InputError(f"{self.place}:{line}", problem, hint, kind=kind, usage=self.usage))

    def check(self) -> None:
        """Raise InputError if there is any problem."""
        if self.errors:
            first, *others = sorted(
                map(self._counted, self.errors), key=lambda error: int(error.place.rpartition(":")[2])
            )
            beyond = self.count - len(self.errors) - sum(self._alike.values())
            raise first.replace(also=tuple(others), beyond=beyond) from None

    def _counted(self, error: InputError) -> InputError:
        """The problem with the number of further lines that have it."""
        problem, _ = error.raw
        more = self._alike.get(problem, 0)
        return error.replace(problem=f"{problem}, here and on {more} more {plural(more, 'line')}") if more else error


_HANDLER: ContextVar[tuple[Callable[[Iterable[str]], None], set[str]] | None] = ContextVar("handler", default=None)
"""The note handler, and the notes that it already had."""


@contextmanager
def handling_notes(handle: Callable[[Iterable[str]], None]) -> Iterator[None]:
    """Call `handle` with the notes of `emit_notes`, each once, in this thread and for this context."""
    token = _HANDLER.set((handle, set()))
    try:
        yield
    finally:
        _HANDLER.reset(token)


def emit_notes(notes: Iterable[str], packages: Collection[str] = ("gradedeval",)) -> list[str]:
    """Pass each note once to the handler of `handling_notes`, or else issue it as a warning at the line that called
    `packages`. Returns the notes with options as keywords."""
    unique = list(dict.fromkeys(notes))
    with_names = [note.in_python() if isinstance(note, Note) else with_keywords(note) for note in unique]
    if (handler := _HANDLER.get()) is not None:
        handle, emitted = handler
        rendered = [note if isinstance(note, Note) else with_flags(note) for note in unique]
        handle([note for note in rendered if note not in emitted])
        emitted.update(rendered)
    else:
        for note in with_names:
            warnings.warn(note, EvaluationWarning, stacklevel=_outside(packages))
    return with_names


def _outside(packages: Collection[str]) -> int:
    """Return the stacklevel, as `emit_notes` gives it to `warn`, of the first caller outside `packages`."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in packages:
        frame, level = frame.f_back, level + 1
    return level


def plural(count: int, noun: str) -> str:
    """`noun` in the number that `count` asks for."""
    return noun if count == 1 else f"{noun}s"


def reason(error: Exception) -> str:
    """Why something failed, in the words of the operating system if it has any."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def visible(text: str) -> str:
    """Text for people in one line, characters that nobody sees as escapes: names of files may hold any of them, and
    must neither add a row to a table nor change the colors of a terminal. URLs that were opened are as `url_place`."""
    for url, shown in _SECRET.items():
        text = text.replace(url, shown)
    return text if text.isprintable() else re.sub(_UNSEEN, lambda found: repr(found[0])[1:-1], with_flags(text))


def redacted(text: str) -> str:
    """Text without what URLs in it say of a user: names, passwords, and signatures behind a question mark."""
    return re.sub(_URL, _without_user, text) if "://" in text else text


def url_place(url: str) -> str:
    """What messages call a URL: as `redacted`. From then on no message has it otherwise."""
    shown = redacted(url)
    if shown != url:
        _SECRET[url] = shown
    return shown


def _without_user(url: re.Match[str]) -> str:
    user = url["user"] or ""
    shown = user if url["protocol"] in _CONTAINERS and ":" not in user else "…@" if user else ""
    return f"{url['protocol']}://{shown}{url['path']}{'?…' if url['query'] else ''}"


def safe_repr(value: object) -> str:
    """A value of Python as a message has it: Python itself shows no integer of thousands of digits."""
    try:
        return repr(value)
    except ValueError:
        return f"a {type(value).__name__} of thousands of digits"


def shorten(words: Iterable[str], maximum: int = 5) -> str:
    """The first few of many words, for a message: `51, 52, …`."""
    words = list(words)
    return ", ".join(words[:maximum]) + (", …" if len(words) > maximum else "")


def check_choice(value: str, choices: tuple[str, ...], place: str) -> None:
    """Raise InputError (usage) where a value is not among the choices."""
    if value not in choices:
        hint = did_you_mean(value, choices) or f"choose from {', '.join(choices)}"
        raise InputError(place, f"invalid value '{value}'", hint, usage=True)


# What may be meant by a word that is not known: one of another tool, or a misspelt one.


class Guess(str):
    """The hint `did you mean 'rbp'?`, with the word that was typed and the one that is meant: by them a command line is
    corrected."""

    typed: str
    meant: str

    def __new__(cls, typed: str, meant: str, more: str = "") -> Guess:
        guess = super().__new__(cls, f"did you mean '{meant}'?{more}")
        guess.typed, guess.meant = typed, meant
        return guess

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


BEGINNING = 3
"""The letters that the beginning of a word has at least; it goes before words that are spelt alike."""


def did_you_mean(typed: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the hint for a misspelt word: the shortest known word that begins with it, or else the most similar one;
    "" if the share of letters in common is below the cutoff."""
    import difflib  # most words are spelt right

    word, names = typed.lower().lstrip("-"), {name.lower().lstrip("-"): name for name in known}
    begun = [name for name in names if name.startswith(word)] if len(word) >= BEGINNING else []
    near = sorted(begun, key=len) or difflib.get_close_matches(word, list(names), n=1, cutoff=cutoff)
    return Guess(typed, names[near[0]]) if near else ""


@cache
def synonyms() -> dict[str, dict[str, tuple[str, str]]]:
    """Return the table of synonyms.toml: kind -> word of another tool -> what it is here, and the tool."""
    import tomllib  # most words are known
    from pathlib import Path

    table = tomllib.loads(Path(__file__).with_name("synonyms.toml").read_text(encoding="utf-8"))
    return {
        kind: {word: (ours, tool) for tool, words in tools.items() for word, ours in words.items()}
        for kind, tools in table.items()
    }


def hint_of(kind: str, typed: str, known: Collection[str], cutoff: float = 0.7) -> str:
    """Return what may be meant by an unknown word: what the synonyms of that kind say, else a known word that is spelt
    alike; "" where there is none, or the table has the word and nothing of what it says is known."""
    table = synonyms()
    word = typed.replace("_", "-") if kind == "options" else typed
    ours, tool = table[kind].get(word, ("", ""))
    if not ours and kind == "keywords":
        ours, _ = table["options"].get(f"--{typed.replace('_', '-')}", ("", ""))
        ours = " | ".join(map(_as_keyword, ours.split(" | ")))
    if not ours:
        return did_you_mean(typed, known, cutoff)
    for choice in ours.split(" | "):
        needed, asks, text = choice.rpartition("? ")
        if asks and needed in known:
            return text
        if not asks and is_pointer(kind, choice, known):
            drop_in = " `gradedeval trec_eval` takes trec_eval's options"
            return Guess(typed, choice, drop_in if tool == "trec_eval" and kind == "options" else "")
        if not asks and " " in choice and choice[0] != "-":
            return choice
    return ""


def is_pointer(kind: str, ours: str, known: Collection[str]) -> bool:
    """Return whether an entry of the synonyms is a known word, with what follows it, and not a sentence."""
    first = re.split(r"[ .=]", ours, maxsplit=1)[0]
    return first in known and (" " not in ours or kind in ("commands", "options"))


def _as_keyword(pointer: str) -> str:
    """Return an option with its value as Python has it; "" for a sentence."""
    name, _, value = pointer.partition(" ")
    return with_keywords(f"{Flag(name):{value}}") if name.startswith("--") else ""


# What is wrong with a call of a public function: unknown keywords, too many arguments, missing ones.

Called = TypeVar("Called", bound=Callable[..., Any])


REFUSING = "__refusing__"
"""The attribute of a `public` function that raises InputError for keywords that it does not take."""


def public(function: Called) -> Called:
    """Make a function that users call say what is wrong with a call: raises WrongCall (usage), with the keyword that
    may be meant, in place of Python's TypeError; and what its REFUSING raises, before anything is read."""

    @wraps(function)
    def called(*given: Any, **keywords: Any) -> Any:
        if keywords and (known := _keywords(function)):
            for name in keywords:
                if name not in known:
                    hint = _at_cutoff(function, given, keywords) if name in ("k", "cutoff") else ""
                    hint = hint or hint_of("keywords", name, known) or f"see help({_name(function)})"
                    raise WrongCall("", f"unknown option '{name}'", hint, usage=True)
            if refusing := vars(called).get(REFUSING):
                refusing(keywords)
        try:
            return function(*given, **keywords)
        except TypeError:
            _check_call(function, given, keywords)
            raise

    return called  # type: ignore[return-value]


@cache
def _keywords(function: Callable[..., Any]) -> Collection[str]:
    """The keywords of a function, with those of the TypedDict that it unpacks; none where it takes any."""
    import inspect  # a plain evaluation from the command line does without

    known, whose = list[str](), inspect.unwrap(function).__globals__
    for one in inspect.signature(function).parameters.values():
        if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            known.append(one.name)
        elif one.kind is one.VAR_KEYWORD:
            unpacked = re.fullmatch(r"Unpack\[(\w+)\]", str(one.annotation))
            if unpacked is None or unpacked[1] not in whose:
                return ()
            known += whose[unpacked[1]].__annotations__
    return tuple(known)


def _at_cutoff(function: Callable[..., Any], given: tuple[Any, ...], keywords: Mapping[str, Any]) -> str:
    """How the measures of a call are written with the cutoff that it names, where they are a text without cutoffs."""
    import inspect

    with suppress(TypeError):
        measures = inspect.signature(function).bind_partial(*given).arguments.get("measures")
        measures, cutoff = keywords.get("measures", measures), keywords.get("k", keywords.get("cutoff"))
        if isinstance(measures, str) and "@" not in measures and isinstance(cutoff, int):
            return f'write cutoffs in measures, here "{" ".join(f"{word}@{cutoff}" for word in measures.split())}"'
    return ""


def _check_call(function: Callable[..., Any], given: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
    """Raise WrongCall (usage) where a function does not take such arguments."""
    import inspect

    signature = inspect.signature(function)
    try:
        signature.bind(*given, **keywords)
    except TypeError as error:
        parameters = [one for one in signature.parameters.values() if one.name != "self"]
        placed = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        own = given[len(signature.parameters) - len(parameters) :]
        missing = [one.name for one in placed[len(own) :] if one.default is one.empty and one.name not in keywords]
        name = _name(function)
        usage = f"as in {name}({', '.join(one.name for one in placed)})"
        if len(own) > len(placed):
            what = f"takes {len(placed)} {plural(len(placed), 'argument')} without a name, and {len(own)} were given"
            scores = f"scores are what evaluate returns, as in {name}(evaluate(runs, qrels, measures))"
            hint = scores if placed and placed[0].name == "scores" else f"{usage}; name the others"
        else:
            what, hint = f"needs {' and '.join(missing)}" if missing else str(error), usage
        raise WrongCall(name, what, hint, usage=True) from None


def _name(function: Callable[..., Any]) -> str:
    """What users call a function: those of pictures have a shorter name there."""
    return function.__name__.removeprefix("plot_")
