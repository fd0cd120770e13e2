"""The settings of a check in a TOML file; errors name the line."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gradedeval.analysis.bounds import KINDS, BoundSpec
from gradedeval.analysis.compare import TestSettings
from gradedeval.errors import InputError, did_you_mean
from gradedeval.measures.definition import Measure
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
LARGEST = 1 << 20
"""Characters of a file of settings, at most."""
SETTINGS = ("baseline", "allow-mismatch", "measures", "test", "draws", "seed")
# The options of `gradedeval check`, as on the command line but without `--`.
OPTION_KEYS = {described.flag[2:]: described for described in OPTIONS.values() if described.is_of("scoring")}


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
    try:
        document: Any = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        message = re.fullmatch(r"(?P<what>.*?) \(at (?:line (?P<line>\d+), column \d+|end of document)\)", str(error))
        line = (message and message["line"]) or len(content.splitlines()) or 1
        what = message["what"] if message else str(error)
        bare = _UNQUOTED.search(content.splitlines()[int(line) - 1] if content.splitlines() else "")
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

    def place(*keys: str) -> str:
        return f"{path}:{line_of(content, (*prefix, *keys))}"

    return _settings(document, place, path, table)


def _text(path: str) -> str:
    will_read(path)
    try:
        with io.TextIOWrapper(remote(path) if is_url(path) else open(path, "rb"), encoding="utf-8") as file:
            content = file.read(LARGEST + 1)
    except InputError as error:
        raise error.replace(usage=True) from None
    if len(content) > LARGEST:
        what = f"has more than {LARGEST:,} characters"
        raise InputError(path, what, "--config takes a file of settings", usage=True)
    return content


def line_of(content: str, keys: tuple[str, ...]) -> int:
    """The line of a TOML text on which the statement that sets a key begins.

    The parser reports no lines. The shortest prefix of the text that has the key ends with that statement, which begins
    where the longest shorter prefix that is valid TOML ends.
    """
    import tomllib

    lines = content.splitlines(keepends=True)
    before = 0
    for end in range(1, len(lines) + 1):
        try:
            value: Any = tomllib.loads("".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            return before + 1
        before = end
    return 1


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
