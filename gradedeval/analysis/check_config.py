"""The settings of a check in a TOML file, each fault with its line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gradedeval.analysis.bounds import KINDS, Demand, Kind
from gradedeval.analysis.compare import Trial
from gradedeval.analysis.significance import Test
from gradedeval.errors import InputError, did_you_mean
from gradedeval.measures.definition import Measure
from gradedeval.measures.gain_schemes import read_scheme
from gradedeval.measures.notation import read_value
from gradedeval.measures.parse import parse_measures
from gradedeval.options import Options, resolve_options

Place = Callable[..., str]
"""Keys -> file and line of the statement that sets them."""
SETTINGS = ("baseline", "measures", "test", "draws", "seed")
# What may stand in a file as on the command line, `--` left out.
RULES = tuple(name.replace("_", "-") for name in Options.__dataclass_fields__ if name != "residuals")


@dataclass(frozen=True)
class Settings:
    """What a TOML file asks for: `demands`, what stands beside them, and `rules` as options of the command line."""

    demands: list[Demand] = field(default_factory=list)
    baseline: str | None = None
    measures: tuple[str, ...] = ()
    test: Test | None = None
    draws: int | None = None
    seed: int | None = None
    options: dict[str, Any] = field(default_factory=dict)


def find_settings(given: str | None, table: Mapping[str, Measure] | None = None) -> tuple[str | None, Settings]:
    """The file of settings and what it says: the one given, or else gradedeval.toml, or else pyproject.toml where it
    has a table [tool.gradedeval]; nothing where there is none. Raises InputError (usage) with the line of what is
    wrong."""
    if given is not None:
        return given, read_settings(given, table)
    for name in ("gradedeval.toml", "pyproject.toml"):
        if os.path.isfile(name) and (found := read_settings(name, table, needed=False)) != Settings():
            return name, found
    return None, Settings()


def read_settings(path: str, table: Mapping[str, Measure] | None = None, needed: bool = True) -> Settings:
    """The settings of a TOML file; of a pyproject.toml, its table [tool.gradedeval].

    table   name -> Measure; default the table of this package
    needed  whether a file without settings is a fault
    """
    import tomllib  # only a check reads TOML

    try:
        content = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "--config names a TOML file", usage=True) from None
    except UnicodeDecodeError as error:
        raise InputError(path, f"is not UTF-8 ({error.reason})", "TOML is", usage=True) from None
    content = content.removeprefix("\ufeff")
    try:
        found: Any = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        message = re.fullmatch(r"(?P<what>.*?) \(at (?:line (?P<line>\d+), column \d+|end of document)\)", str(error))
        line = (message and message["line"]) or len(content.splitlines()) or 1
        what = message["what"] if message else str(error)
        raise InputError(f"{path}:{line}", f"is no TOML ({what})", "mend that line", usage=True) from None
    prefix: tuple[str, ...] = ()
    if Path(path).name == "pyproject.toml" or "tool" in found:
        prefix, found = ("tool", "gradedeval"), found.get("tool", {})
        found = found.get("gradedeval") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not found:
        if needed:
            where = "table [tool.gradedeval]" if prefix else "settings"
            raise InputError(path, f"has no {where}", 'as in min = { "err@20" = 0.25 }', usage=True)
        return Settings()
    place: Place = lambda *keys: f"{path}:{line_of(content, (*prefix, *keys))}"  # noqa: E731
    return _settings(found, place, Path(path).parent, table)


def line_of(content: str, keys: tuple[str, ...]) -> int:
    """The line of a TOML text on which the statement begins that sets a key.

    The parser keeps no lines: the shortest beginning of the text that has the key ends with that statement, and the
    statement begins after the longest shorter one that is TOML too.
    """
    import tomllib

    lines = content.splitlines(keepends=True)
    before = 0
    for end in range(1, len(lines) + 1):
        try:
            found: Any = tomllib.loads("".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        if found is not None:
            return before + 1
        before = end
    return 1


def _settings(found: dict[str, Any], place: Place, folder: Path, table: Mapping[str, Measure] | None) -> Settings:
    demands, options, beside = list[Demand](), dict[str, Any](), dict[str, Any]()
    for key, value in found.items():
        if key in KINDS:
            kind: Kind = next(one for one in KINDS if one == key)
            demands += _demands(kind, value, place)
        elif key in RULES:
            options[key.replace("-", "_")] = _rule(key, value, place(key), folder)
        elif key in SETTINGS:
            beside[key] = _beside(key, value, place(key), folder, table)
        else:
            hint = did_you_mean(key, (*KINDS, *SETTINGS, *RULES)) or f"bounds are {', '.join(KINDS)}"
            if key in ("run", "runs", "qrels"):
                hint = "RUN and QRELS stand on the command line"
            raise InputError(place(key), f"no setting '{key}'", hint, usage=True)
    return replace(Settings(demands, options=options), **beside)


def _demands(kind: Kind, value: Any, place: Place) -> list[Demand]:
    if not isinstance(value, dict):
        return [Demand(kind, None, value, place(kind))]
    return [Demand(kind, measure, limit, place(kind, measure)) for measure, limit in value.items()]


def _rule(key: str, value: Any, place: str, folder: Path) -> Any:
    """A rule as the command line would have it, checked by itself so that a fault has its line."""
    if key in ("topics-from", "costs") and isinstance(value, str):
        return str(folder / value)
    if key == "gain":
        _at(place, lambda: read_scheme(read_value(str(value)), place))
        return str(value)
    _at(
        place,
        lambda: resolve_options(value) if key == "like" else resolve_options(None, **{key.replace("-", "_"): value}),
    )
    return value


def _at(place: str, test: Callable[[], object]) -> None:
    """Try a value; what is wrong with it is wrong at this line."""
    try:
        test()
    except InputError as error:
        raise error.replace(place=place, usage=True) from None


def _beside(key: str, value: Any, place: str, folder: Path, table: Mapping[str, Measure] | None) -> Any:
    kinds: dict[str, type] = {"baseline": str, "test": str, "draws": int, "seed": int}
    if key == "measures":
        words = [value] if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InputError(
                place, "measures are no list of texts", 'as in measures = ["err@20", "ndcg@10"]', usage=True
            )
        _at(place, lambda: parse_measures(words, table))
        return tuple(words)
    if not isinstance(value, kinds[key]) or isinstance(value, bool):
        what = "a text" if kinds[key] is str else "a whole number"
        raise InputError(place, f"{key} is not {what}", "mend that line", usage=True)
    given: dict[str, Any] = {} if key == "baseline" else {key: value}
    _at(place, lambda: Trial(**given))
    beside = folder / str(value) if key == "baseline" else None
    return str(beside) if beside is not None and beside.exists() else value
