"""Make click options from the settings of a function, and turn parsed options back into its keyword arguments."""

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
from gradedeval.cli.options import READS, Option, is_given
from gradedeval.cli.output import context_option
from gradedeval.errors import InputError
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.options.settings import Setting, settings_of


def setting_options(*functions: Callable[..., Any], without: tuple[str, ...] = ()) -> list[Option]:
    """Return an option for each setting of functions. If two have the same flag, the setting of the later one counts.

    without  names of settings to leave out
    """
    settings: dict[str, Setting] = {}
    for function in functions:
        by_flag = {setting.flag: setting for name, setting in settings_of(function).items() if name not in without}
        settings = {flag: setting for flag, setting in settings.items() if flag not in by_flag} | by_flag
    return [*map(setting_option, settings.values())]


def setting_option(setting: Setting) -> Option:
    """Return the option for a setting. It has no default, so that the default of the function applies."""
    attributes: dict[str, Any] = {"section": setting.section, "help": setting.text, "metavar": setting.metavar}
    attributes["short"] = setting.short
    flags = () if setting.number else setting.flags
    if setting.is_flag:
        attributes["is_flag"] = True
    else:
        attributes["file"] = READS if setting.reads else ""
        attributes["multiple"] = setting.repeats or setting.measure not in ("", "one")
        attributes["nargs"] = len((setting.metavar or "").split()) or 1
    if setting.choices:
        attributes["type"] = click.Choice(setting.choices)
    return Option(*flags, setting.name, number=setting.number, **attributes)


def pop_settings(function: Callable[..., Any], options: dict[str, Any], *modes: Callable[..., Any]) -> dict[str, Any]:
    """Pop the settings of a function from the options of a command, and return those on the command line.

    modes  functions of all modes of the command; settings that the function does not have are popped and dropped
    """
    settings: dict[str, Any] = {}
    for setting in [setting for mode in (*modes, function) for setting in settings_of(mode).values()]:
        value = options.pop(setting.name, None)
        if is_given(value):
            settings[setting.name] = not value if setting.off_flag else value
    return {name: value for name, value in settings.items() if name in settings_of(function)}


def resolve_measures(
    function: Callable[..., Any], settings: Mapping[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Return the settings with measures in place of their names, and with default measures.

    Pops --measures-from from the options. Raises one InputError with the problems of all measures.
    """
    table = measure_table(options.pop("measures_from", ()))
    resolved, problems = dict(settings), list[InputError]()
    for name, setting in settings_of(function).items():
        value = settings.get(name, setting.default)
        if setting.missing_hint and not value:
            raise InputError("", f"no {setting.flags[-1].strip('-')} given", setting.missing_hint, usage=True)
        try:
            if setting.measure:
                resolved[name] = _measures_of(setting, value, table)
        except InputError as problem:
            problems.append(problem)
    note_unused_cutoff()
    if problems:
        first, *rest = problems
        raise first.replace(also=(*first.also, *rest)) if rest else first
    return resolved


def _measures_of(setting: Setting, value: Any, table: Mapping[str, Measure]) -> Any:
    """Return the measures that the value of a setting names. A value that is not text is returned unchanged."""
    if setting.measure == "one":
        text = " ".join(value) if isinstance(value, tuple) else value
        return single_measure(setting.flags[-1], text, table) if text is None or isinstance(text, str) else value
    if setting.measure == "several":
        return named_measures(value, table)
    parse: Any = setting.measure  # otherwise a function that parses the value
    cutoff = context_option("k")
    measures = parse(value, table, cutoff)
    if cutoff is not None and value:
        try:
            uncut = parse(value, table, None)
            record_cutoff_use([measure.label for measure in uncut], table, cut=measures != uncut)
        except InputError:  # a measure needs a cutoff
            record_cutoff_use([], table, cut=True)
    return measures


# Modes of a command.


def chosen_mode(modes: Mapping[str, Any]) -> str:
    """Return the flag of the mode on the command line, or an empty string. Raises InputError (usage) for two.

    modes  flag -> value of its option
    """
    flags = [flag for flag, value in modes.items() if is_given(value)]
    if len(flags) > 1:
        raise InputError(flags[0], f"cannot be combined with {flags[1]}", "ask for one at a time", usage=True)
    return flags[0] if flags else ""


def check_mode(
    mode: str, options_of: Mapping[str, Collection[str]], reason: str = "", without: tuple[str, str] | None = None
) -> None:
    """Raise InputError (usage) for an option on the command line that the mode of the command does not take.

    mode        flag of the mode; empty: the command without a mode
    options_of  flag of a mode -> names of its options, without those that all modes take
    reason      end of the problem, as in ", which makes no tests"
    without     problem and hint if no mode is given; None: "needs --MODE", "add --MODE"
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        modes = [flag for flag, names in options_of.items() if name in names]
        if not modes or mode in modes or not is_given(context.params.get(name)):
            continue
        problem, hint = f"does not apply to {mode}{reason}", "leave it out"
        if not mode:
            problem, hint = without or (f"needs {' or '.join(modes)}", f"add {' or '.join(modes)}")
        raise InputError(parameter.opts[0], problem, hint, usage=True)


@contextmanager
def hide_flag(flag: str, arguments: object) -> Iterator[None]:
    """Leave the flag out of errors if its value came from positional arguments: the user has not typed it."""
    try:
        yield
    except InputError as error:
        if arguments and error.place == flag:
            raise error.replace(place="") from None
        raise
