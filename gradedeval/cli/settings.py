"""The settings in a function's signature as options, and the values that the command line gives them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from gradedeval.cli.arguments import (
    measure_table,
    named_measures,
    note_unused_cutoff,
    record_cutoff_use,
    single_measure,
)
from gradedeval.cli.options import APPENDS, READS, WRITES, Option, is_given
from gradedeval.cli.output import context_option
from gradedeval.errors import InputError
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.options.settings import Setting, settings_of


def setting_options(*functions: Callable[..., Any], without: tuple[str, ...] = ()) -> list[Option]:
    """Return an option for each setting in the signatures of functions; one that several have stands once, as the last
    of them has it."""
    settings: dict[str, Setting] = {}
    for function in functions:
        own = {setting.flag: setting for name, setting in settings_of(function).items() if name not in without}
        settings = {flag: setting for flag, setting in settings.items() if flag not in own} | own
    return [*map(setting_option, settings.values())]


def setting_option(setting: Setting) -> Option:
    """Return a setting as an option of click, without its default: that is the function's."""
    attributes: dict[str, Any] = {"section": setting.section, "help": setting.text, "metavar": setting.metavar}
    flags = () if setting.number else setting.flags
    if setting.is_flag:
        attributes |= {"is_flag": True}
    else:
        file = READS if setting.reads else WRITES if setting.writes else APPENDS if setting.grows else ""
        repeats = setting.repeats or setting.measure not in ("", "one")
        values = len((setting.metavar or "").split()) or 1
        attributes |= {"file": file, "multiple": repeats, "nargs": values}
    if setting.choices:
        attributes |= {"type": click.Choice(setting.choices)}
    return Option(*flags, setting.name, number=setting.number, **attributes)


def pop_settings(function: Callable[..., Any], options: dict[str, Any], *others: Callable[..., Any]) -> dict[str, Any]:
    """Take the settings of a function out of the options of a command, and return those that are given.

    others  functions of other modes of the command, whose settings are taken out, too
    """
    values: dict[str, Any] = {}
    for setting in [setting for each in (*others, function) for setting in settings_of(each).values()]:
        value = options.pop(setting.name, None)
        if is_given(value):
            values[setting.name] = not value if setting.off else value
    return {name: value for name, value in values.items() if name in settings_of(function)}


def resolve_measures(
    function: Callable[..., Any], settings: Mapping[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Return the settings with the names of measures, given or default, as measures, those of --measures-from among
    them, which is taken out of the options. Raises InputError of all that are wrong at once."""
    table = measure_table(options.pop("measures_from", ()))
    resolved, problems = dict(settings), list[InputError]()
    for name, setting in settings_of(function).items():
        value = settings.get(name, setting.default)
        if setting.required and not value:
            raise InputError("", f"no {setting.flags[-1].strip('-')} given", setting.required, usage=True)
        try:
            if setting.measure:
                resolved[name] = _measures_of(setting, value, table)
        except InputError as problem:
            problems.append(problem)
    note_unused_cutoff()
    if problems:
        first, *others = problems
        raise first.replace(also=(*first.also, *others)) if others else first
    return resolved


def _measures_of(setting: Setting, value: Any, table: Mapping[str, Measure]) -> Any:
    """Return the measure or measures that a setting names, or else what stands in their place."""
    if setting.measure == "one":
        text = " ".join(value) if isinstance(value, tuple) else value
        return single_measure(setting.flags[-1], text, table) if text is None or isinstance(text, str) else value
    if setting.measure == "several":
        return named_measures(value, table)
    read: Any = setting.measure
    cutoff = context_option("k")
    resolved = read(value, table, cutoff)
    if cutoff is not None and value:
        try:
            whole = read(value, table, None)
            record_cutoff_use([measure.label for measure in whole], table, resolved != whole)
        except InputError:  # of a measure that needs a cutoff
            record_cutoff_use([], table, True)
    return resolved


def check_mode(
    mode: str, options_of: Mapping[str, Collection[str]], why: str = "", unmet: tuple[str, str] | None = None
) -> None:
    """Raise InputError (usage) for an option on the command line that the chosen mode of a command does not take.

    mode        its flag; empty if there is none
    options_of  flag of each mode -> the names of the options that are not for all modes, and that it takes
    why         added to the problem: `, which tests nothing`
    unmet       the problem and the hint without a mode; None: the modes that take the option
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        takers = [flag for flag, names in options_of.items() if name in names]
        if not takers or mode in takers or not is_given(context.params.get(name)):
            continue
        problem, hint = f"does not apply to {mode}{why}", "leave it out"
        if not mode:
            problem, hint = unmet or (f"needs {' or '.join(takers)}", f"add {' or '.join(takers)}")
        raise InputError(parameter.opts[0], problem, hint, usage=True)


@contextmanager
def hide_flag(flag: str, given: object) -> Iterator[None]:
    """Leave the flag out of an error if arguments were given in its place: the user has not typed it."""
    try:
        yield
    except InputError as error:
        if given and error.place == flag:
            raise error.replace(place="") from None
        raise


def chosen_mode(modes: Mapping[str, Any]) -> str:
    """Return the flag of the mode that is given, empty if none is. Raises InputError (usage) for two.

    modes  flag -> the value of its option
    """
    given = [flag for flag, value in modes.items() if is_given(value)]
    if len(given) > 1:
        raise InputError(given[0], f"cannot be combined with {given[1]}", "ask for one at a time", usage=True)
    return given[0] if given else ""
