"""Measures of users: from a Python file, or from another package by entry point."""

from __future__ import annotations

import importlib.util
import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

from gradedeval.errors import InputError, flag, public, url_place, user_code_error
from gradedeval.kernel.measures.definition import MEASURES, Measure
from gradedeval.kernel.measures.notation import IA
from gradedeval.kernel.measures.spellings import ALIASES
from gradedeval.kernel.trec.stream import Source, check_pointer, first_bytes, is_url, will_read

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "gradedeval.measures"

loaded_code: list[str] = []
"""Files and entry points of loaded code, which may have registered work for the end of the process."""


@public
def load_measures(path: str | os.PathLike[str]) -> dict[str, Measure]:
    """Return the measures of a user's Python file, by name. Raises InputError (usage) if it has none or does not
    load.

    >>> list(gradedeval.load_measures("examples/my_measures.py"))
    ['first_page', 'slow_dcg', 'hyperbolic']
    """
    place = str(path)
    will_read(path)
    if is_url(place):
        problem = "is a URL; code from a URL is never executed"
        raise InputError(url_place(place), problem, "copy the file, read it, and name the copy", usage=True)
    if not os.path.exists(path):
        raise InputError(place, "no such file", "check the path", usage=True)
    spec = importlib.util.spec_from_file_location("gradedeval_user_measures", place)
    if not os.path.isfile(path) or spec is None or spec.loader is None:
        raise InputError(place, "is not a Python file", f"{flag.measures_from} takes a .py file", usage=True)
    check_pointer(first_bytes(Source(path)), place)
    module = importlib.util.module_from_spec(spec)
    loaded_code.append(place)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # an error in the user's file is reported, not a traceback
        raise user_code_error(error, place, "cannot be loaded", usage=True) from error
    # A file may import built-in measures to build on them.
    defined = [value for value in vars(module).values() if isinstance(value, Measure)]
    measures = {measure.name: measure for measure in defined if measure not in MEASURES.values()}
    if not measures:
        raise InputError(place, "has no measures", "decorate a function with @gradedeval.measure", usage=True)
    if duplicates := [name for name in measures if name in (*MEASURES, *ALIASES, IA)]:
        problem = f"'{duplicates[0]}' is already a measure of gradedeval"
        raise InputError(place, problem, "choose another name", usage=True)
    return measures


def load_entry_point(name: str) -> Measure | None:
    """Return the measure that another package offers under this name, or None."""
    return next((_load(point) for point in _entry_points(tuple(sys.path)) if point.name.lower() == name), None)


def entry_point_measures() -> dict[str, Measure]:
    """Return the measures that other packages offer by entry point, by name."""
    return {point.name.lower(): _load(point) for point in _entry_points(tuple(sys.path))}


@lru_cache(maxsize=1)
def _entry_points(path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points of packages on a path, read once: saved scores may name thousands of unknown measures."""
    from importlib.metadata import entry_points  # slow to import, and needed only for a name that is not ours

    return tuple(entry_points(group=ENTRY_POINTS))


def _load(point: EntryPoint) -> Measure:
    place = f"entry point '{point.name}'"
    loaded_code.append(point.name)
    try:
        loaded = point.load()
    except Exception as error:
        raise user_code_error(error, place, "cannot be loaded", usage=True) from error
    if not isinstance(loaded, Measure):
        raise InputError(place, "is not a measure", "decorate it with @gradedeval.measure", usage=True)
    if loaded.name != point.name.lower():
        raise InputError(place, f"is the measure '{loaded.name}'", "give both the same name", usage=True)
    return loaded
