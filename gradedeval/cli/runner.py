"""The runner: makes of a question its command, with its help and options, and its verb of `gradedeval plot`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import click

from gradedeval.cli.arguments import (
    check_last,
    check_standard_input,
    check_without_qrels,
    form_of,
    is_qrels,
    measure_table,
    named_measures,
    one_measure,
    placed,
    run_and_qrels,
    sharing,
    signing,
    tell_unused_cutoff,
    usage,
)
from gradedeval.cli.options import (
    CUTOFF,
    GROWS,
    JOBS,
    MEASURES_FROM,
    OUTPUT_FILE,
    READS,
    WIDE,
    WRITES,
    Option,
    command_line,
    given,
    one_registered,
    output_file,
    output_options,
    registered,
)
from gradedeval.cli.output import STDOUT, asked_for, columns_of, in_lines, show, view_of, warn, write
from gradedeval.errors import InputError, emit_notes
from gradedeval.kernel.formats import FORMATS, Maker, formats_for, render
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.options import OPTIONS
from gradedeval.kernel.options.question import Question
from gradedeval.kernel.options.settings import Setting
from gradedeval.kernel.scoring.results import InNotebook
from gradedeval.kernel.trec.stream import extension_of, files_of, is_url

Inputs = tuple[Any, ...]

PAGE_FILE = output_file("Write to FILE.html, atomically; - is standard output.", metavar="FILE.html",
                        required=True)  # fmt: skip


@cache
def command_of(question: Question) -> click.Command:
    """`gradedeval NAME`: prints the answer."""

    def run(**keywords: Any) -> None:
        with _as_typed():
            _print(question, keywords)

    outputs = [PAGE_FILE if question.page else OUTPUT_FILE]
    if question.text is None:
        formats, said = (*question.reports, *formats_for()), (question.by_extension, question.output)
        default = f"{question.form}, at a terminal {question.at_terminal}" if question.at_terminal else question.form
        outputs = output_options(formats, default, question.digits, *said)
        outputs += [WIDE] if question.wide else []
    own = [*map(option_of, _settings(question, question.modes, question.views).values())]
    return _command(question, [own, _reading(question), outputs], question.help, run)


@cache
def picture_of(question: Question) -> click.Command:
    """`gradedeval plot NAME`: draws the answer."""
    from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas  # a command that prints draws nothing

    assert question.picture is not None, question.name
    own = _settings(question, question.picture.modes, question.picture.settings)
    known = {flag: setting for flag, setting in own.items() if setting.name not in question.picture.without}

    def run(**keywords: Any) -> None:
        with _as_typed():
            _place(question, keywords)
            canvas = Canvas(keywords)
            canvas.draw(*_drawn(question, _own(known, keywords), keywords))

    groups = [[*map(option_of, known.values())], PICTURE_OPTIONS, _reading(question)]
    return _command(question, groups, question.picture.help, run)


def _command(question: Question, groups: list[list[Option]], help: str, run: Callable[..., None]) -> click.Command:
    made: click.Command = command_line(question.name, question.files, *groups, help=inspect.cleandoc(help))(run)
    return made


def _print(question: Question, keywords: dict[str, Any]) -> None:
    """Answer what was asked, and write it where it is to go."""
    _place(question, keywords)
    asked = _mode(question, question.modes, _by_qrels(question, keywords))
    _check_cut(question, asked)
    own = _own(_settings(question, question.modes, question.views), keywords)
    settings, views = _said(asked.settings, own), _said(asked.views, own)
    asked.check(**_for(asked.check, settings, keywords | views))
    if question.page and keywords["output"] != "-" and extension_of(keywords["output"]) not in (".html", ".htm"):
        what = f"a {question.name} is an HTML page"
        raise InputError(f"'{keywords['output']}'", what, "name a .html file", usage=True)
    text = asked.as_text if asked.as_text is not None and own[asked.as_text[0].flag] else None
    if text is not None and keywords["form"] is not None:
        raise InputError("-f", f"does not apply to {text[0].flag}", "leave one of them out", usage=True)
    if asked.text is not None:
        keywords["form"] = question.form
    elif text is not None or question.reports or not question.by_extension:
        keywords["form"] = keywords["form"] or _form(question, keywords["output"])
    at_terminal = keywords["output"] in STDOUT and columns_of(sys.stdout) is not None
    destination = Destination(keywords, (at_terminal and question.at_terminal) or question.form)
    _check_seconds(asked, views)
    layout = FORMATS[destination.form].layout if destination.form in FORMATS else "wide"
    shown_as = {"form": destination.form, "layout": layout, "output": destination.output, "given": _typed().values()}
    for name, value in asked.asking(**_for(asked.asking, settings | keywords | views | shown_as)).items():
        (keywords if name in keywords else settings)[name] = value
    found = _answer(asked, settings, keywords)
    wanted = [(made, views[name]) for name, (_, made) in asked.writes.items() if views[name]]
    for content, target in [(_second(found, made, target, views), target) for made, target in wanted]:
        write(content, target)
    _, makes = question.reports.get(destination.form, text) or (None, asked.text)
    if makes is not None:
        made, plain = makes(found), asked.text is None and destination.form == question.form
        made = in_lines(made, sys.stdout) if destination.form == "text" and destination.output is None else made
        (show if plain else write)(made, destination.output)
    else:
        shown = _for(found.document, {**views, "digits": destination.digits})
        destination.deliver(partial(found.tables, **shown), found.aside)
    if asked.fails(found, **_for(asked.fails, views | shown_as)):
        click.get_current_context().exit(1)


def _form(question: Question, output: str | None) -> str:
    """The format where none is asked for, of a question for which the extension of -o need not say it."""
    forms = {FORMATS[name].extension: name for name in formats_for()} if question.reports else {}
    forms |= {extension: name for name, (extension, _) in question.reports.items() if extension}
    return forms.get(extension_of(output), question.form)


def _check_seconds(question: Question, views: Mapping[str, Any]) -> None:
    """Raise InputError (usage) where a second result would be written in a format that is not for programs."""
    for name, (_, made) in question.writes.items():
        if not callable(made):
            from gradedeval.cli.many_runs import curve_form  # few questions have one

            curve_form(views[name])


def _second(found: Any, made: str | Callable[..., str], target: str, views: Mapping[str, Any]) -> str:
    """The text of a second result of an answer."""
    if callable(made):
        return made(found, **_for(made, views))
    from gradedeval.cli.many_runs import curve_text

    return curve_text(getattr(found, made), target, found.aside or found.signature)


def _drawn(question: Question, own: Mapping[str, Any], keywords: dict[str, Any]) -> tuple[list[Any], str, str]:
    """Panels of the answer to what was asked, its signature, and the lines that are always below them."""
    assert question.picture is not None
    asked = _mode(question, question.picture.modes, question)
    picture = asked.picture
    assert picture is not None
    of_picture, settings = _said(picture.settings, own), _said(asked.settings, own)
    following = picture.asking(**_for(picture.asking, settings | of_picture))
    asked.check(**_for(asked.check, {**settings, **following}, keywords))
    found = _answer(asked, {**settings, **following}, keywords)
    panels = picture.panels(found, **_for(picture.panels, of_picture))
    return panels, picture.signature(found), picture.caption(found)


def _answer(question: Question, settings: Mapping[str, Any], keywords: dict[str, Any]) -> Any:
    """The answer to a question, after the files are read that it needs."""
    from gradedeval.kernel.parallel import shared_by  # not for a help page

    jobs = keywords.pop("jobs", None)
    if question.wants is not None:
        question = replace(question, needs=question.wants(**_for(question.wants, settings)))
    read, settings = READERS[question.needs](question, dict(settings), keywords)
    settings = {name: value for name, value in settings.items() if name not in question.asked}
    with shared_by(None if question.needs in ("matrix", "files") else sharing(jobs)):  # which read by themselves
        found = question.function(*read, **settings)
    if question.answer is not None:
        found = question.answer(found, *read, **_for(question.answer, settings))
    if isinstance(found, InNotebook):
        warn(found.remarks)
    return found


def _for(
    function: Callable[..., Any], settings: Mapping[str, Any], beside: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """The settings that a function takes: all of them, where it takes any; and of what is beside them that it names."""
    wanted = inspect.signature(function).parameters
    every = any(one.kind is one.VAR_KEYWORD for one in wanted.values())
    named = {name: value for name, value in {**beside, **settings}.items() if name in wanted}
    return {**settings, **named} if every else named


# Where the answer goes


class Destination:
    """Where a result goes: -f, -o and --digits.

    Takes these options out of all options. Raises InputError (usage) where no format has the extension of -o.
    """

    def __init__(self, keywords: dict[str, Any], default: str = "table") -> None:
        self.output, self.digits = keywords.pop("output"), keywords.pop("digits", None)
        self.form: str = keywords.pop("form") or form_of(self.output, formats_for(), default)

    def deliver(self, make: Maker, settings: str = "") -> None:
        """Write the result; where the format has no place for its settings, they go to stderr."""
        if settings and not FORMATS[self.form].signed:
            emit_notes([settings])
        text = render(make, self.form, self.digits, signing(), view_of(self.output))
        (show if self.form == "table" else write)(text, self.output)


# Settings and modes


def _settings(question: Question, modes: tuple[Question, ...], more: Mapping[str, Setting]) -> dict[str, Setting]:
    """Flag -> setting of a command: each mode and what it takes, then those of the question and of what it shows."""
    found: dict[str, Setting] = {}
    for mode in (*modes, question):
        asking = [mode.mode] if mode.mode is not None else []
        texts = [mode.as_text[0]] if mode.as_text is not None else []
        shows = more.values() if mode is question else ()
        own = {setting.flag: setting for setting in (*asking, *texts, *mode.settings.values(), *shows)}
        found = {flag: setting for flag, setting in found.items() if mode is not question or flag not in own} | own
    return found


def option_of(setting: Setting) -> Option:
    """A setting as an option of click. Without the default: that is the function's."""
    said: dict[str, Any] = {"section": setting.section, "help": setting.text, "metavar": setting.metavar}
    flags = () if setting.number else setting.flags
    if setting.is_flag:
        said |= {"is_flag": True}
    else:
        several = setting.repeats or setting.measure not in ("", "one")
        values = len((setting.metavar or "").split()) or 1
        file = READS if setting.reads else WRITES if setting.writes else GROWS if setting.grows else ""
        said |= {"file": file, "multiple": several, "nargs": values}
    if setting.choices:
        said |= {"type": click.Choice(setting.choices)}
    return Option(*flags, setting.name, number=setting.number, **said)


def _own(known: Mapping[str, Setting], keywords: dict[str, Any]) -> dict[str, Any]:
    """Flag -> value of the settings of a command, which are taken out of all options."""
    return {flag: keywords.pop(setting.name) for flag, setting in known.items()}


def _place(question: Question, keywords: dict[str, Any]) -> None:
    """Move the arguments that stand for a setting to it."""
    for setting in question.settings.values():
        before = keywords[setting.name] if setting.place else ""
        if isinstance(before, str):  # what can only be named once has a name
            continue
        keywords["files"], words = placed(keywords["files"], setting.place)
        if words:
            keywords[setting.name] = words[0] if before is None else (*words, *before)
            given, context = click.core.ParameterSource.COMMANDLINE, click.get_current_context()
            context.set_parameter_source(setting.name, given)
            context.meta.setdefault(PLACED, set()).add(setting.flag)


PLACED = f"{__name__}.placed"
"""Where a context has the flags of settings for which arguments stand."""


@contextmanager
def _as_typed() -> Iterator[None]:
    """In this block an error names no option for which an argument stands: the user has not typed it."""
    try:
        yield
    except InputError as error:
        if error.place in click.get_current_context().meta.get(PLACED, ()):
            raise error.replace(place="") from None
        raise


def _typed() -> dict[str, str]:
    """Flag -> name of the options that stand on the command line."""
    context = click.get_current_context()
    there = click.core.ParameterSource.COMMANDLINE
    options = {param.opts[0]: str(param.name) for param in context.command.params if isinstance(param, click.Option)}
    return {flag: name for flag, name in options.items() if context.get_parameter_source(name) is there}


def _said(settings: Mapping[str, Setting], own: Mapping[str, Any]) -> dict[str, Any]:
    """What was given for each setting, or else its default."""
    typed, said = _typed(), {}
    for name, setting in settings.items():
        given = setting.flag in typed
        said[name] = setting.default if not given else not own[setting.flag] if setting.off else own[setting.flag]
    return said


def _by_qrels(question: Question, keywords: dict[str, Any]) -> Question:
    """What a command is asked by no flag: a mode that has none, where there are no qrels. Of a command with such a mode
    runs and qrels take the place of its files."""
    for mode in question.modes:
        if mode.mode is None:
            keywords["files"] = _runs_and_perhaps_qrels(keywords["files"], keywords)
            return mode if keywords["files"][1] is None else question
    return question


def _mode(question: Question, modes: tuple[Question, ...], plain: Question) -> Question:
    """Which of its questions a command was asked, where `plain` is by no flag. Raises InputError (usage) for two, or
    for an option of another."""
    typed, everything = _typed(), (question, *modes)
    flags = {mode.mode.flag: mode for mode in modes if mode.mode is not None}
    asked, *others = [flag for flag in flags if flag in typed] or [""]
    if others:
        raise InputError(asked, f"cannot be combined with {others[0]}", "ask for one at a time", usage=True)
    chosen = flags.get(asked, plain)
    why = chosen.mode.why if chosen.mode is not None else ""
    for flag in [flag for one in everything for flag in _owned(one)]:
        if flag in typed and flag not in _owned(chosen):
            takers = " or ".join(taker for taker, mode in flags.items() if flag in _owned(mode))
            what, hint = f"needs {takers}", f"add {takers}"
            if asked:
                what, hint = f"does not apply to {asked}{why}", "leave it out"
            elif any(flag in _owned(one) for one in everything if one.mode is None):
                without = "applies to runs without qrels", "leave it out"
                what, hint = without if plain is question else ("needs qrels", "add QRELS")
            raise InputError(flag, what, hint, usage=True)
    return chosen


def _owned(question: Question) -> list[str]:
    """The flags of what a question takes."""
    texts = [question.as_text[0].flag] if question.as_text is not None else []
    settings = [setting.flag for setting in (*question.settings.values(), *question.views.values())]
    besides = [OPTIONS[name].flag for name in question.besides]
    return [*texts, *settings, *besides]


# What is read


def _runs_and_perhaps_qrels(files: tuple[str, ...], keywords: Mapping[str, Any]) -> tuple[list[str], str | None]:
    """The runs among the arguments, and the qrels where the last of them is not a run, by its first line. Raises
    InputError as `run_and_qrels` does."""
    if not files:
        raise InputError("", "no run given", usage(), usage=True)
    if len(files) > 1 and is_qrels(files[-1]):
        return run_and_qrels(files, keywords)
    check_last(files)
    check_standard_input(files, keywords)
    return [file for word in files for file in files_of(word)], None


def _reading(question: Question) -> list[Option]:
    """The options of what a question reads, and of who shares the work."""
    if question.needs == "matrix":
        from gradedeval.cli.many_runs import MATRIX_OPTIONS  # others do without runs × topics

        return [*map(one_registered, _besides(question)), *MATRIX_OPTIONS]
    measuring: list[Option] = [CUTOFF] if any(map(_is_cut, (question, *question.modes))) else []
    measuring += MEASURES_FROM if question.own_measures else []
    shared = [JOBS] if question.jobs else []
    shared += map(one_registered, _besides(question))
    none = question.options == "none" or question.needs in ("file", *LOGS)
    return [*measuring, *shared, *([] if none else registered(question.options))]


def _besides(question: Question) -> dict[str, None]:
    """The options of the registry that its command takes alone, of all its modes."""
    return dict.fromkeys(name for one in (question, *question.modes) for name in one.besides)


def _is_cut(question: Question) -> bool:
    """Whether -k cuts measures that its settings name: in a history they are what they are."""
    return question.needs != "file" and any(setting.measure for setting in question.settings.values())


def _check_cut(question: Question, asked: Question) -> None:
    """Raise InputError (usage) for -k, where what is asked names no measures, though another mode does."""
    if asked_for("k") is None or question.needs == "matrix" or _is_cut(asked):
        return
    if _is_cut(question) and asked.mode is None:  # which is asked without qrels
        raise InputError("-k", "needs qrels", "add QRELS", usage=True)
    takers = " or ".join(mode.mode.flag for mode in question.modes if mode.mode is not None and _is_cut(mode))
    hint = f"add {takers}" if takers else "leave it out"
    raise InputError("-k", "cuts measures, and none are taken here", hint, usage=True)


def _read_matrix(
    question: Question, settings: dict[str, Any], keywords: dict[str, Any]
) -> tuple[Inputs, dict[str, Any]]:
    """The scores of runs × topics."""
    from gradedeval.cli.many_runs import matrix_from  # see `_reading`

    if question.counted is not None and not keywords["from_scores"] and not keywords.get("replicates"):
        _check_count(question.counted, settings, keywords["files"])
    if "baseline" not in settings:
        return (matrix_from(keywords, None, question.paired(settings), bounded=question.bounded)[0],), settings
    word = settings["baseline"] if settings["baseline"] in question.settings["baseline"].words else None
    named, keep = None if word else settings["baseline"], bool(settings.get("judging"))
    matrix, baseline = matrix_from(keywords, named, question.paired(settings), keep, question.bounded)
    return (matrix,), settings | {"baseline": word or baseline}


def _check_count(check: Callable[..., Any], settings: Mapping[str, Any], files: tuple[str, ...]) -> None:
    """Raise InputError (usage) where it is no question about that many runs, before they are read."""
    from gradedeval.analysis.score_matrix import Baseline  # see `_reading`

    words = [word for word in (*files, settings.get("baseline")) if word is not None]
    if len(files) < 2 or any(word == "-" or is_url(word) for word in words):  # which are listed or read once
        return
    runs, _ = run_and_qrels(files)
    baseline = Baseline.read(settings.get("baseline"), runs)
    if not baseline.is_unknown(runs):  # of which more is said than of their number
        check(baseline.count(runs), **_for(check, settings))


def _read_runs(question: Question, settings: dict[str, Any], keywords: dict[str, Any]) -> tuple[Inputs, dict[str, Any]]:
    """The names of runs and qrels, if there are any; the options of reading are settings of the function."""
    files, table = keywords.pop("files"), measure_table(keywords.pop("measures_from", ()))
    none = question.needs == "runs if any" and not files
    if question.needs == "runs, qrels if any":
        runs, qrels = _runs_or_qrels(question, files, keywords)
    elif "baseline" in settings:
        from gradedeval.cli.many_runs import runs_with_baseline  # few have one

        why = f"'{settings['baseline']}' holds saved scores, and a {question.name} shows rankings"
        runs, qrels, compared = runs_with_baseline(files, settings["baseline"], why, keywords)
        settings["baseline"] = compared.name
    else:
        runs, qrels = (None, None) if none else run_and_qrels(files, keywords)
    settings = _with_measures(question, settings, table)
    if none and given(keywords):
        hint = "add RUN... QRELS" + ("; --ranks N ends the table" if "ranks" in settings else "")
        raise InputError(given(keywords)[0], "applies to runs, and none are given", hint, usage=True)
    return (), settings | keywords | dict(question.takes(runs, qrels))


def _with_measures(question: Question, settings: Mapping[str, Any], table: Mapping[str, Measure]) -> dict[str, Any]:
    """The settings, with those that name measures as measures. Raises InputError of all that are wrong at once."""
    read, faults = dict(settings), list[InputError]()
    for name, setting in question.settings.items():
        if setting.required and not read[name]:
            raise InputError("", f"no {setting.flags[-1].strip('-')} given", setting.required, usage=True)
        try:
            if setting.measure:
                read[name] = _as_measures(setting, read[name], table)
        except InputError as fault:
            faults.append(fault)
    tell_unused_cutoff()
    if faults:
        raise faults[0].replace(also=(*faults[0].also, *faults[1:])) if len(faults) > 1 else faults[0]
    return read


def _as_measures(setting: Setting, value: Any, table: Mapping[str, Measure]) -> Any:
    """What a setting that names measures says."""
    if setting.measure == "one":
        text = " ".join(value) if isinstance(value, tuple) else value
        # Something else may stand in place of a measure.
        return one_measure(setting.flags[-1], text, table) if text is None or isinstance(text, str) else value
    reads: Any = named_measures if setting.measure == "several" else setting.measure
    return reads(value, table) if setting.measure == "several" else reads(value, table, asked_for("k"))


def _runs_or_qrels(
    question: Question, files: tuple[Any, ...], keywords: Mapping[str, Any]
) -> tuple[list[str] | None, str | None]:
    """Runs and qrels, of which the function may do without one, as its signature says."""
    wanted = inspect.signature(question.function).parameters
    needed = {name for name in ("runs", "qrels") if name in wanted and wanted[name].default is not None}
    if needed == {"qrels"} and "runs" in wanted and len(files) == 1 and is_qrels(files[0]):
        return None, files[0]
    runs, qrels = files if any(isinstance(one, list) for one in files) else _runs_and_perhaps_qrels(files, keywords)
    if qrels is None:
        check_without_qrels(keywords, question.unjudged)
        if "qrels" in needed:
            raise InputError(question.mode.flag if question.mode else "", "needs qrels", "add QRELS", usage=True)
        for name, setting in question.settings.items():
            if setting.measure and name not in question.unjudged and setting.flag in _typed():
                raise InputError(setting.flag, "needs qrels", "add QRELS", usage=True)
    return runs, qrels


def _read_files(
    question: Question, settings: dict[str, Any], keywords: dict[str, Any]
) -> tuple[Inputs, dict[str, Any]]:
    """The names of files, with the options of the registry that are taken."""
    files, table = keywords.pop("files"), measure_table(keywords.pop("measures_from", ()))
    return (files,), _with_measures(question, settings, table) | keywords


def _read_file(question: Question, settings: dict[str, Any], keywords: dict[str, Any]) -> tuple[Inputs, dict[str, Any]]:
    """The name of a file."""
    files = keywords["files"]
    if len(files) != 1:
        hint = f"name one {question.name}: {usage().removeprefix('usage: ')}"
        raise InputError("", f"{len(files)} files given", hint, usage=True)
    return files, settings


def _read_nothing(
    question: Question, settings: dict[str, Any], keywords: dict[str, Any]
) -> tuple[Inputs, dict[str, Any]]:
    """Nothing: a setting says where all is found."""
    if keywords["files"]:
        assert question.mode is not None, question.name
        raise InputError(question.mode.flag, "cannot be combined with runs", "leave them out", usage=True)
    return (), _with_measures(question, settings, measure_table(keywords["measures_from"]))


LOGS = {
    "log": (1, 1, "a click log"),
    "log and qrels": (2, 2, "a click log and qrels"),
    "log, qrels if any": (1, 2, "a click log, and perhaps qrels"),
}
"""How many files a question about a click log takes, at least and at most, and what messages call them."""


def _read_log(question: Question, settings: dict[str, Any], keywords: dict[str, Any]) -> tuple[Inputs, dict[str, Any]]:
    """A click log, and the qrels beside it; their name alone where the function takes options that say how to read
    them."""
    assert question.reads is not None
    files, (least, most, wanted) = keywords["files"], LOGS[question.needs]
    if not least <= len(files) <= most:
        counted = f"{len(files)} files, " if files and most == 1 else ""
        raise InputError("", f"{counted}expected {wanted}", usage(), usage=True)
    settings = _with_measures(question, settings, measure_table(keywords.pop("measures_from", ())))
    reading = {name: value for name, value in _for(question.reads, settings).items() if name not in question.passes}
    settings = {name: value for name, value in settings.items() if name not in reading or name not in question.reading}
    options = {name: keywords[name] for name in question.besides}
    if most > 1 and any(
        one.kind is one.VAR_KEYWORD for one in inspect.signature(question.function).parameters.values()
    ):
        settings |= {"qrels": files[1], **options}
    elif most > 1:
        settings["qrels"] = _qrels(files[1:], options)
    log = question.reads(files[0], **reading)
    for name, setting in question.settings.items():
        if setting.reads == "log":
            settings[name] = question.reads(settings[name], **reading) if settings[name] else None
    return (log,), settings


def _qrels(files: tuple[str, ...], options: Mapping[str, Any]) -> Any:
    """The judgments of a file, if there is one. Raises InputError (usage) for an option without a file."""
    from gradedeval.kernel.options import resolve_options
    from gradedeval.kernel.scoring.evaluate import qrels_for  # not for a help page

    if files:
        return qrels_for({}, files[0], resolve_options(**options))
    for name, value in options.items():
        if value is not None:
            raise OPTIONS[name].error("says how QRELS are read", "add them")
    return None


READERS = {
    "matrix": _read_matrix,
    "runs": _read_runs,
    "runs if any": _read_runs,
    "runs, qrels if any": _read_runs,
    "file": _read_file,
    "files": _read_files,
    "nothing": _read_nothing,
    **dict.fromkeys(LOGS, _read_log),
}
