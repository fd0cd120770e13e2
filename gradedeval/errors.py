"""Errors and notes for users: `place: problem; hint`.

Messages hold options as values, such as `flag.topics`, rendered as a flag at the prompt and as a keyword in Python.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial, wraps
from pickle import PicklingError
from typing import Any, TypeVar

SHOWN = 10
"""Maximum problems listed per file; the rest are counted."""

LONG, KEPT = 250, 100
"""Words of at least LONG characters, such as docnos, are truncated to KEPT in messages."""

MOST = 1000
"""Maximum characters of a problem, of a hint and of a note: whatever they quote, a message can be read."""

LONGEST_PATH = 4096
"""Longer paths cannot be opened: they are contents of files."""

_LONG = rf"(?<!\S)\S{{{LONG},}}"
_QUOTED = rf"'(?P<quoted>[^'\n]{{{LONG},}})'"
_KEY = rf"(?s)\[(?P<quote>['\"])(?P<key>.{{{LONG},}})(?P=quote)\]"

# Control characters, line ends, and marks that change the direction of text.
_INVISIBLE = "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\udc80-\udc9f]"


_URL = r"(?P<protocol>(?<![\w+.-])[\w+.-]+)://(?P<user>[^\s/'\"]*@)?(?P<path>[^\s?'\"]*)(?P<query>\?[^\s'\"]*)?"
_SECRET: dict[str, str] = {}
"""URL with credentials -> the redacted URL."""

_CONTAINERS = ("abfs", "abfss", "wasb", "wasbs")
"""Protocols with a container, not a user, before the @ of a URL."""

# Unicode reserves noncharacters for internal use by programs.
_FLAG, _KEYWORD, _END = "\ufdd0", "\ufdd1", "\ufdd2"
_MARKS = re.compile(f"[{_FLAG}-{_END}]")
_OPTION = re.compile(f"{_FLAG}([^{_FLAG}-{_END}]*){_KEYWORD}([^{_FLAG}-{_END}]*){_END}")


class Flag(str):
    """An option in a message, alone or with a value: f"use {flag.topics:both}" is `use --topics both` at the prompt
    and `use topics="both"` to a Python caller.

    The value follows the colon: literal words, as in `first or last`, capitals for a placeholder, and `True` for a flag
    without a value. The text holds both wordings between marks and can be part of a longer text.
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
    """Return a text that reads as `flags` at the prompt and as `keywords` in Python."""
    return f"{_FLAG}{_MARKS.sub('', flags)}{_KEYWORD}{_MARKS.sub('', keywords)}{_END}"


def _in_python(value: str) -> str:
    if value == "True" or re.fullmatch(r"-?[\d.]+(e-?\d+)?", value):
        return value
    return "…" if value.isupper() else f'"{value.strip(chr(39))}"'


class _Flags:
    """Namespace of flags by keyword."""

    def __getattr__(self, keyword: str) -> Flag:
        if keyword.startswith("_"):
            raise AttributeError(keyword)
        return Flag("-m" if keyword in ("measure", "measures") else f"--{keyword.replace('_', '-')}", keyword)


flag = _Flags()
"""`flag.max_residual` is `--max-residual` and max_residual; `flag.measures` is `-m`."""


def with_flags(text: str) -> str:
    """Return a message with options as flags."""
    return _OPTION.sub(r"\1", text) if _FLAG in text else text


def with_keywords(text: str) -> str:
    """Return a message with options as Python keywords."""
    return _OPTION.sub(r"\2", text) if _FLAG in text else text


class InputError(ValueError):
    """A problem with a user's files or arguments, in one line: `place: problem; hint`.

    The text of the error names options as Python keywords; its parts and `cli_text` name them as flags.

    place    the file, line or option: `run.txt:17`, `--depth`
    problem  the problem there; `hint` is a remedy
    kind     a stable identifier for programs, as in "duplicate-document": the wording may change
    usage    True for a wrong command line (exit code 2), False for wrong data (exit code 1)
    also     further problems of the same file; `beyond` is the number of those not listed
    trace    the traceback of the user's code that failed
    raw      the problem and the hint before rendering, for use in other messages

    >>> try:
    ...     gradedeval.parse_measures("ndgc@10")
    ... except gradedeval.InputError as error:
    ...     print(error)
    unknown measure 'ndgc'; did you mean 'ndcg'?
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
        return partial(InputError, **self._parts), ()

    def replace(self, **changes: Any) -> InputError:
        """Return a copy with some parts changed, as in `error.replace(hint="give each document once")`."""
        return InputError(**(self._parts | changes))

    @property
    def _parts(self) -> dict[str, Any]:
        problem, hint = self.raw
        texts = {"place": self._place, "problem": problem, "hint": hint}
        return texts | {name: getattr(self, name) for name in ("kind", "usage", "also", "beyond", "trace")}

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

    def _line(self, render: Callable[[str], str]) -> str:
        place, problem, hint = map(render, (self._place, *self.raw))
        message = "; ".join(readable for part in (problem, hint) if (readable := within_line(part)))
        if not place:
            return visible(message)
        # The user opens a path, so it must be whole, without keys behind it.
        place = re.sub(_KEY, lambda match: f"[{match['quote']}{match['key'][:KEPT]}…{match['quote']}]", place)
        place = place if len(place) <= LONGEST_PATH else f"{place[:KEPT]}…"
        place = truncate_words(place) if self.place.startswith(("'", "-")) else place
        return visible(f"{place}: {message}")

    def __str__(self) -> str:
        return self._lines(with_keywords)

    @property
    def cli_text(self) -> str:
        """The text of the error with options as flags."""
        return self._lines(with_flags)

    def _lines(self, render: Callable[[str], str]) -> str:
        lines = [error._line(render) for error in (self, *self.also)]
        if self.beyond:
            place = render(self._place).split(":")[0]
            lines.append(f"{place}: {self.beyond} more such {plural(self.beyond, 'line')}")
        return "\n".join(lines)


def truncate(text: str) -> str:
    """Return a text of at least LONG characters truncated to KEPT."""
    return text if len(text) < LONG else f"{text[:KEPT]}…"


def truncate_words(text: str) -> str:
    """Return a text with long words truncated."""

    def shortened(match: re.Match[str]) -> str:
        punctuation = match[0][len(match[0].rstrip("';:,.)")) :]
        return f"{match[0][:KEPT]}…{punctuation[:SHOWN]}"

    return re.sub(_LONG, shortened, text) if len(text) > LONG else text


def within_line(text: str) -> str:
    """Return a text whose long words and quoted values are truncated, and which ends after MOST characters."""
    if len(text) <= LONG:
        return text
    text = truncate_words(re.sub(_QUOTED, lambda match: f"'{match['quoted'][:KEPT]}…'", text))
    return text if len(text) <= MOST else f"{text[:MOST]}…"


TRACE = either("GRADEDEVAL_DEBUG=1 shows the traceback", ".trace of this error is its traceback")


def user_code_error(
    error: BaseException, place: str, problem: str, hint: str = "", *, usage: bool = False
) -> InputError:
    """Return the error of a user's code that failed: `my.py:7: measure 'x': failed (ZeroDivisionError: …)`. `place` is
    its file or name; the line is added if known."""
    import importlib  # few measures fail
    import os
    import traceback

    modules = (sys.modules[__name__], importlib, *filter(None, [sys.modules.get("numpy")]))
    packages = tuple(os.path.dirname(str(module.__file__)) for module in modules)
    frames = traceback.extract_tb(error.__traceback__)
    files = [frame.filename for frame in frames if not frame.filename.startswith((*packages, "<frozen "))]
    # The failing line may be in a library that the user's code calls; the user's line is of more use.
    lines = [(frame.filename, frame.lineno) for frame in frames if frame.filename in files[:1]][-1:]
    if isinstance(error, SyntaxError) and error.filename:
        lines = [(error.filename, error.lineno)]
    cause = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    for file, line in lines:
        if file == os.path.abspath(place):
            place = f"{place}:{line}"
        else:
            folder = os.path.join(os.getcwd(), "")
            problem, place = f"{place}: {problem}", f"{file.removeprefix(folder)}:{line}"
    trace = "".join(traceback.format_exception(error))
    return InputError(place, f"{problem} ({cause})", hint, usage=usage, trace=trace)


class NotImportable(InputError, PicklingError):
    """A measure that other processes cannot import."""

    def __init__(self, source: str, name: str) -> None:
        problem = f"other processes cannot import it from {source}"
        hint = "put it into a package that is installed there and has an entry point gradedeval.measures"
        super().__init__(f"measure {name}", problem, hint, usage=True)


class WrongCall(InputError, TypeError):
    """Invalid arguments in a call of a public function; a TypeError, as usual in Python."""


class EvaluationWarning(UserWarning):
    """A note on a valid result: something was counted, skipped or assumed."""


class Note(str):
    """A note to the user, `place: text; hint`, with options as flags.

    kind       a stable identifier for programs
    about      all the names or numbers that the text abbreviates
    statement  the text before rendering
    common     the text without what holds for this run alone, which notes on several runs share; by default the text
    raw        the text, with its place, and the hint before rendering
    """

    place: str
    statement: str
    raw: tuple[str, str]
    kind: str
    about: tuple[str, ...]
    common: str

    def __new__(
        cls, text: str, hint: str = "", *, place: str = "", kind: str = "", about: Iterable[str] = (), common: str = ""
    ) -> Note:
        statement, text = text, f"{place}: {text}" if place else text
        rendered = within_line(with_flags(text)) + (f"; {within_line(with_flags(hint))}" if hint else "")
        note = super().__new__(cls, rendered)
        note.place, note.raw, note.kind, note.about = place, (text, hint), kind, tuple(about)
        note.statement, note.common = statement, common or statement
        return note

    @property
    def text(self) -> str:
        return with_flags(self.raw[0])

    @property
    def hint(self) -> str:
        return with_flags(self.raw[1])

    def in_python(self) -> Note:
        """Return the note with options as keywords."""
        statement, hint = map(with_keywords, (self.statement, self.raw[1]))
        place, common = with_keywords(self.place), with_keywords(self.common)
        return Note(statement, hint, place=place, kind=self.kind, about=self.about, common=common)

    def with_hint(self, hint: str) -> Note:
        """Return the note with a different hint."""
        return Note(self.statement, hint, place=self.place, kind=self.kind, about=self.about, common=self.common)


class ProblemList:
    """Problems of one file: the first SHOWN are kept, all are counted. Lines with the same wrong number of fields are
    one problem."""

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
            counted = map(self._counted, self.errors)
            first, *rest = sorted(counted, key=lambda error: int(error.place.rpartition(":")[2]))
            beyond = self.count - len(self.errors) - sum(self._alike.values())
            raise first.replace(also=tuple(rest), beyond=beyond) from None

    def _counted(self, error: InputError) -> InputError:
        """Return the problem with the number of further lines that have it."""
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
    """Return the singular or the plural of `noun` for `count`."""
    return noun if count == 1 else f"{noun}s"


def reason(error: Exception) -> str:
    """Return the reason of a failure, in the words of the operating system if possible."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def visible(text: str) -> str:
    """Return a text for people in one line, with opened URLs as in `url_place`, and with invisible characters escaped:
    names of files must neither add a row to a table nor change colors of a terminal."""
    for url, safe_url in _SECRET.items():
        text = text.replace(url, safe_url)
    return text if text.isprintable() else re.sub(_INVISIBLE, lambda match: repr(match[0])[1:-1], with_flags(text))


def redacted(text: str) -> str:
    """Return a text without user names, passwords and query strings in its URLs."""
    return re.sub(_URL, _without_user, text) if "://" in text else text


def url_place(url: str) -> str:
    """Return the redacted URL for messages, and redact it in all messages from now on."""
    safe_url = redacted(url)
    if safe_url != url:
        _SECRET[url] = safe_url
    return safe_url


def _without_user(url: re.Match[str]) -> str:
    user = url["user"] or ""
    owner = user if url["protocol"] in _CONTAINERS and ":" not in user else "…@" if user else ""
    return f"{url['protocol']}://{owner}{url['path']}{'?…' if url['query'] else ''}"


def safe_repr(value: object) -> str:
    """Return the repr of a value, as by `truncate`; Python refuses one for integers of thousands of digits."""
    try:
        return truncate(repr(value))
    except ValueError:
        return f"a {type(value).__name__} of thousands of digits"


def shorten(words: Iterable[str], maximum: int = 5) -> str:
    """Return the first few words for a message: `51, 52, …`; those with a comma of their own are quoted."""
    words = list(words)
    shown = [f"'{truncate(word)}'" if ", " in word else truncate(word) for word in words[:maximum]]
    return ", ".join(shown) + (", …" if len(words) > maximum else "")


SPREADSHEETS = ("xlsx", "xls", "ods", "excel")
"""Formats of tables that are not written."""


def check_choice(value: str, choices: tuple[str, ...], place: str) -> None:
    """Raise InputError (usage) unless the value is among the choices."""
    if value not in choices:
        raise InputError(place, f"invalid value '{value}'", choice_hint(value, choices), usage=True)


def choice_hint(value: str, choices: tuple[str, ...]) -> str:
    """Return the hint for a value that is not among the choices: one that may be meant, or all."""
    if value in SPREADSHEETS and "csv" in choices:
        return "spreadsheets open csv"
    if "qrels" in choices and value[:1].isdigit():
        return f"to choose topics, list their ids in a file: {flag.topics_from:FILE}"
    meant = hint_of("values", value.lower(), choices) or did_you_mean(value, choices)
    return meant or f"choose from {', '.join(choices)}"


# Suggestions for unknown words: names in other tools, and misspellings.


class Guess(str):
    """The hint `did you mean 'rbp'?`, or a sentence, with both words: the program can correct the command line."""

    typed: str
    meant: str

    def __new__(cls, typed: str, meant: str, more: str = "", text: str = "") -> Guess:
        guess = super().__new__(cls, text or f"did you mean '{meant}'?{more}")
        guess.typed, guess.meant = typed, meant
        return guess

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


class Added(str):
    """A hint that words are missing at the end of the command line."""

    words: Sequence[str]

    def __new__(cls, hint: str, *words: str) -> Added:
        added = super().__new__(cls, hint)
        added.words = words
        return added


class Rewritten(Added):
    """A hint with all the words that the command line should have."""


BEGINNING = 3
"""Minimum letters of a prefix; a match by prefix precedes one by similarity."""


def did_you_mean(typed: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the hint for a misspelt word: the shortest known word that begins with it, or else the most similar one;
    "" if the share of common letters is below the cutoff."""
    import difflib  # needed for errors only

    word, names = typed.lower().lstrip("-"), {name.lower().lstrip("-"): name for name in known}
    longer = [name for name in names if name.startswith(word)] if len(word) >= BEGINNING else []
    near = sorted(longer, key=len) or difflib.get_close_matches(word, list(names), n=1, cutoff=cutoff)
    return Guess(typed, names[near[0]]) if near else ""


@cache
def synonyms() -> dict[str, dict[str, tuple[str, str]]]:
    """Return the table of synonyms.toml: kind -> word of another tool -> the equivalent here, and the tool."""
    import tomllib  # needed for errors only
    from pathlib import Path

    table = tomllib.loads(Path(__file__).with_name("synonyms.toml").read_text(encoding="utf-8"))
    return {
        kind: {word: (ours, tool) for tool, words in tools.items() for word, ours in words.items()}
        for kind, tools in table.items()
    }


def hint_of(kind: str, typed: str, known: Collection[str], cutoff: float = 0.7) -> str:
    """Return the hint for an unknown word: from the synonyms of its kind, else the most similar known word; "" if there
    is none, or the synonyms of the word are not known here."""
    table = synonyms()
    word = typed.replace("_", "-") if kind == "options" else typed
    ours, tool = table[kind].get(word, ("", ""))
    if not ours and kind == "keywords":
        ours, _ = table["options"].get(f"--{typed.replace('_', '-')}", ("", ""))
        ours = " | ".join(map(_as_keyword, ours.split(" | ")))
    if not ours:
        return did_you_mean(typed, known, cutoff)
    for choice in ours.split(" | "):
        meant, replaces, sentence = choice.partition(" := ")
        if replaces:
            return Guess(typed, meant, text=sentence)
        needed, asks, text = choice.rpartition("? ")
        if asks and needed in known:
            return Guess(typed, text) if is_pointer(kind, text, known) else text
        if not asks and is_pointer(kind, choice, known):
            drop_in = " `gradedeval trec_eval` takes trec_eval's options"
            return Guess(typed, choice, drop_in if tool == "trec_eval" and kind == "options" else "")
        if not asks and " " in choice and choice[0] != "-":
            return choice
    return ""


def is_pointer(kind: str, ours: str, known: Collection[str]) -> bool:
    """Return whether a synonym is a known word, possibly with a value, and not a sentence."""
    first = re.split(r"[ .=]", ours, maxsplit=1)[0]
    return first in known and (" " not in ours or kind in ("commands", "options"))


def _as_keyword(pointer: str) -> str:
    """Return an option and its value in Python syntax; "" for a sentence."""
    name, _, value = pointer.partition(" ")
    return with_keywords(f"{Flag(name):{value}}") if name.startswith("--") else ""


# Errors of calls of public functions: unknown keywords, missing or too many arguments.

Called = TypeVar("Called", bound=Callable[..., Any])


REFUSING = "__refusing__"
"""Attribute of a `public` function with a function that raises InputError for refused keywords."""


def public(function: Called) -> Called:
    """Decorate a public function: invalid arguments raise WrongCall (usage), with a suggestion, in place of a plain
    TypeError, and its REFUSING function is called with the keywords first."""

    @wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        if keywords and (known := _keywords(function)):
            keywords = _with_measures(keywords, known)
            if not keywords.keys() <= {*known}:
                raise WrongCall(*_unknown_keywords(function, arguments, keywords, known), usage=True)
            if refuse := vars(checked).get(REFUSING):
                refuse(keywords)
        try:
            return function(*arguments, **keywords)
        except TypeError:
            _check_call(function, arguments, keywords)
            raise

    return checked  # type: ignore[return-value]


METRICS = ("metrics", "metric")
"""Names of `measures`, or `measure`, in most other libraries, which are understood."""


def _with_measures(keywords: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return the keywords with `measures` or `measure` in place of METRICS, if the function takes one of these."""
    ours = next((name for name in ("measures", "measure") if name in known and name not in keywords), None)
    theirs = next((name for name in METRICS if name in keywords and name not in known), None)
    if ours is None or theirs is None:
        return keywords
    return {ours if name == theirs else name: value for name, value in keywords.items()}


@cache
def _keywords(function: Callable[..., Any]) -> Collection[str]:
    """Return the keywords of a function, including the TypedDict that it unpacks; empty if it takes any keyword."""
    import inspect  # the command line evaluates without it

    names, module = list[str](), inspect.unwrap(function).__globals__
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_KEYWORD:
            unpacked = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation))
            if unpacked is None or unpacked[1] not in module:
                return ()
            names += module[unpacked[1]].__annotations__
    return tuple(names)


def _unknown_keywords(
    function: Callable[..., Any], arguments: tuple[Any, ...], keywords: Mapping[str, Any], known: Collection[str]
) -> tuple[str, str, str]:
    """Return place, problem and hint for the unknown keywords of a call: of several, each with its own hint."""
    hints = dict[str, str]()
    for name in keywords:
        if name not in known:
            hint = _cutoff_hint(function, arguments, keywords) if name in ("k", "cutoff") else ""
            hints[name] = hint or hint_of("keywords", name, known)
    see = f"see help({function.__name__.removeprefix('plot_')})"
    if len(hints) == 1:
        ((name, hint),) = hints.items()
        return "", f"unknown option '{name}'", hint or see
    each = [f"for {name}: {hint}" for name, hint in hints.items() if hint]
    return "", f"unknown options {', '.join(hints)}", "; ".join(each) or see


def _cutoff_hint(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> str:
    """Return the hint to write a cutoff in the measures, if they are a text without cutoffs; else ""."""
    import inspect

    with suppress(TypeError):
        measures = inspect.signature(function).bind_partial(*arguments).arguments.get("measures")
        measures, cutoff = keywords.get("measures", measures), keywords.get("k", keywords.get("cutoff"))
        if isinstance(measures, str) and "@" not in measures and isinstance(cutoff, int):
            return f'write cutoffs in measures, here "{" ".join(f"{word}@{cutoff}" for word in measures.split())}"'
    return ""


def _check_call(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
    """Raise WrongCall (usage) if the arguments do not fit the signature of the function."""
    import inspect

    signature = inspect.signature(function)
    try:
        signature.bind(*arguments, **keywords)
    except TypeError as error:
        parameters = [p for p in signature.parameters.values() if p.name != "self"]
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        values = arguments[len(signature.parameters) - len(parameters) :]
        missing = [p.name for p in positional[len(values) :] if p.default is p.empty and p.name not in keywords]
        name, most = function.__name__.removeprefix("plot_"), len(positional)
        usage = f"as in {name}({', '.join(p.name for p in positional)})"
        if len(values) > most:
            problem = f"takes {most} positional {plural(most, 'argument')}, but {len(values)} were given"
            scores = f"scores come from evaluate, as in {name}(evaluate(runs, qrels, measures))"
            hint = scores if positional and positional[0].name == "scores" else f"{usage}; name the rest"
        else:
            problem, hint = f"needs {' and '.join(missing)}" if missing else str(error), usage
            if missing == ["qrels"] and positional[0].name in ("run", "runs"):
                hint += f"; data that hold both are given twice: {name}(data, data)"
        names = [p.name for p in positional]
        if names[:1] == ["runs"]:
            has_measures = len(values) > most  # after the files; else `measures` may be a keyword as well
            files = values[:-1] if has_measures else values if keywords.keys() & {*names[: len(values)]} else ()
            if len(files) > 2 and all(isinstance(file, str) for file in files):
                *runs, qrels = map(repr, files)
                hint = f"give several runs as a list, as in {name}([{', '.join(runs)}], {qrels}, measures)"
        raise WrongCall(name, problem, hint, usage=True) from None
