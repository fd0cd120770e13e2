"""Settings in the signature of a function, which a command has as options, and keywords that a function refuses.

A setting is a keyword whose type is an alias: `Draws = Annotated[int, Setting("Number of bootstrap samples.",
ranges.DRAWS, metavar="N")]`. Its name, type and default are those of the signature.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from typing import Any, Literal, TypeVar, get_args, get_origin

from gradedeval.errors import REFUSING
from gradedeval.kernel.options import OPTIONS, THIS_COMMAND, Commands, Number, Section, ranges


@dataclass(eq=False, repr=False)
class Setting:
    """What the signature does not say of a setting.

    help          what it does, in sentences
    number        the numbers that it takes, and its flag
    metavar       what its value is called on a help page, or several words for as many values; None: its choices
    section       where it stands on a help page
    spelled       its flags, where they are not those of its name or number
    off           the flag that turns it off, where it is on by default
    default_text  what the default is, where None does not say it
    reads         its value may name a file, which is read; a "log" as the question reads its own
    words         values that name no file
    writes        its value names a file, which is written, and `grows` one that lines are added to
    repeats       it may be given several times
    measure       it names a measure, or several; or what reads these, and the table of measures
    place         what stands for it among the arguments, too: `qrels` that come last, the `words` behind all files, or
                  `measures` where no argument is a file
    required      it must be given; this is the hint where it is not
    why           of a mode: what is said of it where an option does not apply to it
    """

    help: str
    number: Number | None = None
    metavar: str | None = None
    section: Section = THIS_COMMAND
    spelled: tuple[str, ...] = ()
    off: str = ""
    default_text: str | None = None
    reads: bool | Literal["log"] = False
    words: tuple[str, ...] = ()
    writes: bool = False
    grows: bool = False
    repeats: bool = False
    measure: Literal["", "one", "several"] | Callable[[Any, Mapping[str, Any]], Any] = ""
    place: Literal["", "qrels", "words", "measures"] = ""
    required: str = ""
    why: str = ""
    name: str = ""
    type: Any = None
    default: Any = None

    @property
    def flags(self) -> tuple[str, ...]:
        """How it is written on the command line."""
        if self.off or self.spelled:
            return (self.off,) if self.off else self.spelled
        return (self.number.flag if self.number else f"--{self.name.replace('_', '-')}",)

    @property
    def flag(self) -> str:
        """What messages call it, and by what settings of several modes are known to be one option."""
        return self.flags[0]

    @property
    def is_flag(self) -> bool:
        """Whether it is only on or off."""
        return self.type is bool

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it takes, where it takes no others."""
        kinds = (self.type, *get_args(self.type)) if self.number is None else ()
        return next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())

    @property
    def text(self) -> str:
        """Its help, with the default."""
        silent = self.default is None or self.is_flag or self.default == ()
        shown = " ".join(self.default) if isinstance(self.default, tuple) else self.default
        default = self.default_text if self.default_text is not None or silent else shown
        return self.help if default is None else f"{self.help} Default: {default}.".lstrip()


@cache
def settings_of(function: Callable[..., Any]) -> dict[str, Setting]:
    """The settings in a signature, by name: parameters whose type is an alias with a `Setting`. In its annotations the
    plain types take their places, which `help` and notebooks show: so they are found once."""
    found, known = {}, inspect.unwrap(function).__globals__
    for name, parameter in inspect.signature(function).parameters.items():
        kind = known.get(parameter.annotation)
        for said in getattr(kind, "__metadata__", ()):
            if isinstance(said, Setting):
                (plain, *_) = get_args(kind)
                default = None if parameter.default is parameter.empty else parameter.default
                found[name] = replace(said, name=name, type=plain, default=default)
                function.__annotations__[name] = getattr(plain, "__forward_arg__", plain)
    return found


# Which options of the registry a function takes as keywords.


Asked = TypeVar("Asked", bound=Callable[..., Any])


def takes_options(level: Commands, *besides: str, **cures: str) -> Callable[[Asked], Asked]:
    """Make a `public` function refuse keywords that are options of the registry and none of its own: it takes those
    that such commands do, and `besides`. A `Question` says so of its function; cures are as there.

    Where one is given, it raises InputError (usage) before anything is read.
    """

    def decorate(function: Asked) -> Asked:
        vars(function)[REFUSING] = partial(_refuse, function, level, besides, cures)
        return function

    return decorate


def _refuse(
    function: Callable[..., Any],
    level: Commands,
    besides: Collection[str],
    cures: Mapping[str, str],
    given: Mapping[str, Any],
) -> None:
    """Raise InputError (usage) for a keyword that is given, and not taken. None and False mean: not given."""
    for name, value in given.items():
        if value is None or value is False or name in besides or name not in OPTIONS:
            continue
        described = OPTIONS[name]
        if level in described.taken_by or name in inspect.signature(function).parameters:
            continue
        cure = CURES.get(name, "leave it out, or use evaluate" if described.commands == "eval" else "leave it out")
        raise described.error(f"{function.__name__} does not take it", cures.get(name, cure))


CURES = {
    **dict.fromkeys(("unseen", "queries", "slices", "predicted"), "leave it out, or use evaluate or compare"),
    "replicates": "give one run of each system, or use compare",
}
"""What to do in place of giving an option that evaluations and comparisons take."""


def shares_work(function: Asked) -> Asked:
    """Make the keywords `jobs` and `progress` in the signature of a function work: that many processes share what it
    does, and a bar shows how far it has come. Where a command runs it says so itself."""

    @wraps(function)
    def shared(*given: Any, **keywords: Any) -> Any:
        jobs, progress = ranges.JOBS.check(keywords.get("jobs", 1)), keywords.get("progress", False)
        if jobs == 1 and not progress:
            return function(*given, **keywords)
        from gradedeval.kernel.parallel import asked_for  # not for a help page

        with asked_for(jobs, bool(progress)):
            return function(*given, **keywords)

    return shared  # type: ignore[return-value]
