"""What a question says of itself, once: what it reads, its settings, its help, its second results, modes and picture.

A setting is a keyword of its function, whose type is an alias: `Draws = Annotated[int, Setting("Number of bootstrap
samples.", ranges.DRAWS, metavar="N")]`. Name, type and default are those of the signature. Of all this the runner,
`cli.runner`, makes the command and its page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from gradedeval.errors import public
from gradedeval.kernel.options import Commands
from gradedeval.kernel.options.settings import Setting, settings_of, takes_options

Asked = TypeVar("Asked", bound=Callable[..., Any])

Needs = Literal["matrix", "runs", "runs if any", "runs, qrels if any", "file", "files", "nothing", "log",
    "log and qrels", "log, qrels if any"]  # fmt: skip
"""What a question reads: scores of runs × topics, or saved ones; runs and qrels; these or nothing; runs alone, too; one
file, or several; a click log, with or without qrels."""


def lines_under(found: Any) -> str:
    """How an answer was found, and what it depends on: the lines below a picture."""
    return "\n".join(part for part in (found.aside, found.signature) if part)


@dataclass(eq=False, repr=False)
class Picture:
    """What `gradedeval plot` draws of an answer.

    panels     answer -> panels
    help       its page
    signature  answer -> what stands below it where that is asked for, and `caption` what always does
    asking     settings of the picture and the question -> those of the question that follow from them
    without    settings of the question that it does not take
    modes      other questions whose pictures the same command draws by a flag, which is their `mode`
    settings   name -> setting, of the signatures of both
    """

    panels: Callable[..., list[Any]]
    help: str = ""
    signature: Callable[[Any], str] = lines_under
    caption: Callable[[Any], str] = lambda found: ""
    asking: Callable[..., Mapping[str, Any]] = lambda: {}
    without: tuple[str, ...] = ()
    modes: tuple[Question, ...] = ()
    settings: Mapping[str, Setting] = field(init=False)

    def __post_init__(self) -> None:
        self.settings = settings_of(self.asking) | settings_of(self.panels)


@dataclass(eq=False, repr=False)
class Question:
    """How a function is asked at a prompt.

    name          of its command
    function      which answers it; what it reads stands first in its signature
    needs         what it reads, and `files` what the arguments are called; `wants`: by its settings, which of these
    help          its page
    answer        where the function gives a frame alone: makes of this, what was read and settings what shows itself
    check         by its settings, raises InputError for those that do not go together, before anything is read; it may
                  name other options, and `files`
    asking        settings, and what its answer is shown as -> settings and options that follow; `form` is the format,
                  `layout` its own, `output` the file, and `given` are the names of what the command line says. It may
                  have settings that the function has not, which stand first
    paired        by its settings, whether all runs are compared on the same topics, so that the others are told
    bounded       whether it asks how far the scores that it compares could still rise, by residuals
    counted       by a number of runs and settings in its signature, raises InputError (usage) where it is no question
                  about that many
    shows         the `document` of its answer, where this is asked something alone, by settings in its signature
    fails         by its answer, settings in its signature, `form` and `output`, whether the command ends with exit
                  code 1
    writes        name -> a setting, and the attribute of the answer that its file has; or what makes text of the answer
                  for it, by settings in its signature: second results, for programs
    as_text       a flag, and what makes text of the answer where it is given, in place of tables; `text` makes it of an
                  answer that has none
    reports       formats that it alone has: name -> extension, if any, and what makes text of the answer. The extension
                  of -o need not be one that is known
    modes         questions that the same command asks by a flag, which is their `mode`, and may be a setting of theirs;
                  one without is asked where there are no qrels
    picture       what `gradedeval plot` draws of it
    takes         makes of runs and qrels, by their names, what the function takes
    reads         reads its first file, where that is a click log, by the settings in its signature
    passes        those of them that the function takes in its place
    options       which options of the registry it takes, where it reads runs, as its command does where it is a mode,
                  and `besides` which of them alone; none: these
    used          options that its command does not take, and its function does as a keyword; all others it refuses
    cures         name -> what to do in place of giving a keyword that it refuses
    answered_by   public functions that answer it, too, and take the same keywords
    unjudged      those about judgments by which it goes without any, too, and settings that name measures
    own_measures  whether its settings name measures of --measures-from, too
    jobs          whether processes share its work
    form          the format where none is asked for, `by_extension` whether -o may ask for one, or what a page says of
                  that; `output` is what it says of -o
    at_terminal   that of a terminal instead, whose readers are people
    digits        those of tables, where they may be chosen; the `document` of its answer is told them if it asks
    wide          whether its tables have columns that only --wide shows
    page          whether its `text` is an HTML page, whose file -o has to name
    settings      name -> setting, in the order of the signature, and then those of `reads`
    asked         the names of those of `asking` alone
    views         those of `shows`, `fails` and `writes`
    reading       those of `reads`
    """

    name: str
    function: Callable[..., Any]
    needs: Needs
    wants: Callable[..., Needs] | None = None
    files: str = "RUN... QRELS"
    help: str = ""
    answer: Callable[..., Any] | None = None
    check: Callable[..., Any] = lambda: None
    asking: Callable[..., Mapping[str, Any]] = lambda: {}
    paired: Callable[[Mapping[str, Any]], bool] = lambda settings: True
    bounded: bool = True
    counted: Callable[..., Any] | None = None
    shows: Callable[..., Any] | None = None
    fails: Callable[..., bool] = lambda found: False
    writes: Mapping[str, tuple[Setting, str | Callable[..., str]]] = field(default_factory=dict)
    as_text: tuple[Setting, Callable[[Any], str]] | None = None
    text: Callable[[Any], str] | None = None
    reports: Mapping[str, tuple[str, Callable[[Any], str]]] = field(default_factory=dict)
    modes: tuple[Question, ...] = ()
    mode: Setting | None = None
    picture: Picture | None = None
    takes: Callable[[Any, Any], Mapping[str, Any]] = lambda runs, qrels: {"runs": runs, "qrels": qrels}
    reads: Callable[..., Any] | None = None
    passes: tuple[str, ...] = ()
    options: Commands = "reading"
    besides: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    cures: Mapping[str, str] = field(default_factory=dict)
    answered_by: tuple[Callable[..., Any], ...] = ()
    unjudged: tuple[str, ...] = ()
    own_measures: bool = False
    jobs: bool = False
    form: str = "table"
    at_terminal: str = ""
    by_extension: bool | str = True
    output: str = ""
    digits: str = ""
    wide: bool = False
    page: bool = False
    settings: Mapping[str, Setting] = field(init=False)
    asked: Collection[str] = field(init=False)
    views: Mapping[str, Setting] = field(init=False)
    reading: Mapping[str, Setting] = field(init=False)

    def __post_init__(self) -> None:
        self.reading = {} if self.reads is None else settings_of(self.reads)
        self.settings = {**settings_of(self.asking), **settings_of(self.function), **self.reading}
        self.asked = settings_of(self.asking).keys() - settings_of(self.function).keys()
        if self.mode is not None:
            self.mode = self.settings.get(self.mode.name, self.mode)
        shown = {} if self.shows is None else settings_of(self.shows)
        self.views = shown | settings_of(self.fails)
        for name, (setting, made) in self.writes.items():
            self.views[name] = replace(setting, name=name, writes=True)
            self.views |= settings_of(made) if callable(made) else {}
        if self.needs == "matrix" or "runs" in self.needs:  # what reads click logs has refusals of its own
            for function in (self.function, *self.answered_by):
                takes_options(self.options, *self.besides, *self.used, **self.cures)(function)


def question(name: str, needs: Needs, **said: Any) -> Callable[[Asked], Asked]:
    """Make a function a question, as `Question` has it; the function stays what it is, and is `public`."""

    def decorate(function: Asked) -> Asked:
        function = public(function)
        function.question = Question(name, function, needs, **said)  # type: ignore[attr-defined]
        return function

    return decorate
