"""The settings of a check in a TOML file; errors name the line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gradedeval.analysis.bounds import KINDS, BoundSpec
from gradedeval.analysis.significance import TestSettings
from gradedeval.errors import InputError, did_you_mean
from gradedeval.measures.definition import Measure
from gradedeval.measures.notation import LONGEST
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OPTIONS
from gradedeval.options.definition import Option
from gradedeval.options.presets import resolve_options
from gradedeval.trec.in_use import will_read
from gradedeval.trec.source import is_url, remote

Place = Callable[..., str]
"""Keys -> file and line of the statement that sets them."""
_UNQUOTED = re.compile(r"""(?:^|[{,.])\s*(?P<key>[A-Za-z]\w*(?:\([^)"']*\)(?:@\d+)?|@\d+))\s*=""")
"""A measure for a key, without the quotes that its signs need."""
LARGEST, DEEPEST, MOST_DIGITS = 1 << 20, 50, 400
"""What a file of settings may have: bytes, brackets within each other or parts of a key, and digits of a number. More
takes Python's parser minutes, or it reads none of it."""
# What may end a statement or is not what it looks like: strings, comments, brackets, what ends a key, numbers.
_TOKEN = re.compile(
    r'''"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{0,5}|"(?:[^"\\\n]|\\.)*+"?'''
    r"""|'''(?:[^']|'{1,2}(?!'))*+'{0,5}|'[^'\n]*+'?|\#[^\n]*+|[][{}=,.\n]|[0-9][0-9_]*+""",
    re.DOTALL,
)
SETTINGS = ("baseline", "allow-mismatch", "measures", "test", "draws", "seed")
# The options of `gradedeval check`, as on the command line but without `--`.
OPTION_KEYS = {described.flag[2:]: described for described in OPTIONS.values() if described.is_of("scoring")}
OPTION_KEYS["unseen"] = OPTIONS["unseen"]


def find_settings(
    given: str | None, table: Mapping[str, Measure] | None = None
) -> tuple[str | None, list[BoundSpec], dict[str, Any]]:
    """The path of the settings, the bounds there, and the options by name: of the file given, else of gradedeval.toml,
    else of pyproject.toml if it has a table [tool.gradedeval]; no path where there is none. Raises InputError (usage)
    with the line of what is wrong."""
    if given is not None:
        return given, *read_settings(given, table)
    for name in ("gradedeval.toml", "pyproject.toml"):
        if os.path.isfile(name) and any(settings := read_settings(name, table, required=False)):
            return name, *settings
    return None, [], {}


def read_settings(
    path: str, table: Mapping[str, Measure] | None = None, required: bool = True
) -> tuple[list[BoundSpec], dict[str, Any]]:
    """The bounds and options in a TOML file; in a pyproject.toml, those of its table [tool.gradedeval].

    table     name -> Measure; default: the measures of this package
    required  whether a file without settings is an error
    """
    import tomllib  # only a check reads TOML

    try:
        content = _text(path)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "--config takes a TOML file", usage=True) from None
    except UnicodeDecodeError as error:
        raise InputError(path, f"not UTF-8 ({error.reason})", "save the file as UTF-8", usage=True) from None
    content = content.removeprefix("\ufeff")
    statements = statements_of(path, content)
    try:
        document: Any = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        message = re.fullmatch(r"(?P<what>.*?) \(at (?:line (?P<line>\d+), column \d+|end of document)\)", str(error))
        lines = content.split("\n")
        line = (message and message["line"]) or len(lines) - (not lines[-1]) or 1
        what = message["what"] if message else str(error)
        bare = _UNQUOTED.search(lines[int(line) - 1][:LONGEST])
        hint = f'quote the key: "{bare["key"]}" = …' if bare else ""
        raise InputError(f"{path}:{line}", f"invalid TOML ({what})", hint, usage=True) from None
    prefix: tuple[str, ...] = ()
    if Path(path).name == "pyproject.toml" or "tool" in document:
        prefix, document = ("tool", "gradedeval"), document.get("tool", {})
        document = document.get("gradedeval") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not document:
        if required:
            where = "table [tool.gradedeval]" if prefix else "settings"
            raise InputError(path, f"has no {where}", 'for example min = { "err@20" = 0.25 }', usage=True)
        return [], {}

    line_of = lines_of_keys(statements)

    def place(*keys: str) -> str:
        return f"{path}:{line_of.get((*prefix, *keys), 1)}"

    return _settings(document, place, path, table)


def _text(path: str) -> str:
    will_read(path)
    try:
        if is_url(path):
            data = remote(path).read(LARGEST + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(LARGEST + 1)
    except InputError as error:
        raise error.replace(usage=True) from None
    if len(data) > LARGEST:
        raise InputError(path, f"has more than {LARGEST:,} bytes", "--config takes a file of settings", usage=True)
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")


def statements_of(path: str, content: str) -> list[tuple[int, str]]:
    """The statements of a TOML text, each with the line on which it begins; blank lines and comments are some too.

    Raises InputError (usage) where brackets, keys or numbers are too large for the parser.
    """
    statements = []
    begin, first, line, depth, parts = 0, 1, 1, 0, 0
    for found in _TOKEN.finditer(content):
        token = found[0]
        line += token.count("\n")
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token, 0)
        parts = parts + (token == ".") if token not in "=,{}[]\n" else 0
        if max(depth, parts) > DEEPEST:
            what = f"nested more than {DEEPEST} deep"
            raise InputError(f"{path}:{line}", f"invalid TOML ({what})", "no setting is", usage=True)
        if token[0].isdigit() and len(token) > MOST_DIGITS:
            what = f"a number of more than {MOST_DIGITS} digits"
            raise InputError(f"{path}:{line}", f"invalid TOML ({what})", "give a smaller one", usage=True)
        if token == "\n" and depth <= 0:
            statements.append((first, content[begin : found.end()]))
            begin, first = found.end(), line
    return [*statements, (first, content[begin:])]


def lines_of_keys(statements: Iterable[tuple[int, str]]) -> dict[tuple[str, ...], int]:
    """Keys -> the line on which the first statement that sets them begins, in a valid text: the parser reports none."""
    import tomllib

    lines, table = dict[tuple[str, ...], int](), tuple[str, ...]()
    for line, text in statements:
        is_header = text.lstrip().startswith("[")
        if text.lstrip()[:1] in ("", "#"):
            continue
        found = list(_paths(tomllib.loads(text), () if is_header else table))
        table = found[-1] if is_header else table
        for keys in found:
            lines.setdefault(keys, line)
    return lines


def _paths(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The keys of a table and of all in it."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield (*keys, key)
        yield from _paths(inner, (*keys, key))


def _settings(
    document: dict[str, Any], place: Place, config: str, table: Mapping[str, Measure] | None
) -> tuple[list[BoundSpec], dict[str, Any]]:
    specs, options = list[BoundSpec](), dict[str, Any]()
    for key, value in document.items():
        if key in KINDS:
            of_measures = value.items() if isinstance(value, dict) else [(None, value)]
            for measure, limit in of_measures:
                where = place(key, *([] if measure is None else [measure]))
                specs.append(BoundSpec(key, measure, limit, where, from_file=True))
        elif key in OPTION_KEYS:
            options[OPTION_KEYS[key].name] = _option(OPTION_KEYS[key], value, place(key), config)
        elif key in SETTINGS:
            options[key.replace("-", "_")] = _setting(key, value, place(key), config, table)
        else:
            hint = did_you_mean(key, (*KINDS, *SETTINGS, *OPTION_KEYS)) or f"bounds are {', '.join(KINDS)}"
            if key in ("run", "runs", "qrels"):
                hint = "RUN and QRELS are given on the command line"
            elif key == "gradedeval":
                hint = "settings stand at the top of the file: leave out [gradedeval]"
            raise InputError(place(key), f"unknown setting '{key}'", hint, usage=True)
    return specs, options


def _option(described: Option, value: Any, place: str, config: str) -> Any:
    """The value of an option, checked now so that an error has its line; a path is relative to the file's folder."""
    if described.names_file and isinstance(value, str):
        return _beside(config, value)
    _at(place, lambda: resolve_options(**{described.name: value}))
    return value


def _at(place: str, check: Callable[[], object]) -> None:
    """Try a value; report an error at this line."""
    try:
        check()
    except InputError as error:
        raise error.replace(place=place, usage=True) from None


def _setting(key: str, value: Any, place: str, config: str, table: Mapping[str, Measure] | None) -> Any:
    if key == "allow-mismatch":
        if not isinstance(value, bool):
            raise InputError(place, f"{key} is not true or false", usage=True)
        return value
    kinds: dict[str, type] = {"baseline": str, "test": str, "draws": int, "seed": int}
    if key == "measures":
        words = [value] if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            hint = 'for example measures = ["err@20", "ndcg@10"]'
            raise InputError(place, "measures is not a list of strings", hint, usage=True)
        _at(place, lambda: parse_measures(words, table))
        return tuple(words)
    if not isinstance(value, kinds[key]) or isinstance(value, bool):
        raise InputError(place, f"{key} is not {'a string' if kinds[key] is str else 'a whole number'}", usage=True)
    given: dict[str, Any] = {} if key == "baseline" else {key: value}
    _at(place, lambda: TestSettings(**given))
    baseline = _beside(config, str(value)) if key == "baseline" else ""
    return baseline if os.path.exists(baseline) else value


def _beside(config: str, name: str) -> str:
    """A file that a configuration names: a path is relative to its folder, also where that is far away."""
    if is_url(name):
        return name
    return f"{config.rpartition('/')[0]}/{name}" if is_url(config) else str(Path(config).parent / name)
