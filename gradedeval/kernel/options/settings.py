"""Settings in a function's signature, which become options of its command, and keywords that a function refuses.

A setting is a keyword whose type is an alias: `Draws = Annotated[int, Setting("Number of bootstrap samples.",
ranges.DRAWS, metavar="N")]`. Name, type and default are those of the parameter.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, wraps
from typing import Any, Literal, TypeVar, get_args, get_origin

from gradedeval.errors import REFUSING
from gradedeval.kernel.options import OPTIONS, THIS_COMMAND, Commands, Number, Section, ranges


@dataclass(eq=False, repr=False)
class Setting:
    """The description of a setting, besides its name, type and default.

    help          its effect, in sentences
    number        the range of its numbers, and its flag
    metavar       the name of its value on a help page, or several words for as many values; None: its choices
    section       its section of a help page
    spelled       its flags, if not derived from its name or number
    off_flag      the flag that turns it off, if it is on by default
    default_text  a description of the default, if None does not describe it
    reads         whether its value may name a file to read
    repeats       whether it may be repeated
    measure       whether it names one measure or several; or a function that reads its value, given the measures by
                  name and the cutoff of -k
    missing_hint  the hint of the error if it is missing; empty: it is optional
    short         its effect on the short help page; empty: the first sentence of `help`
    """

    help: str
    number: Number | None = None
    metavar: str | None = None
    section: Section = THIS_COMMAND
    spelled: tuple[str, ...] = ()
    off_flag: str = ""
    default_text: str | None = None
    reads: bool = False
    repeats: bool = False
    measure: Literal["", "one", "several"] | Callable[..., Any] = ""
    missing_hint: str = ""
    short: str = ""
    name: str = ""
    type: Any = None
    default: Any = None

    @property
    def flags(self) -> tuple[str, ...]:
        """Its flags on the command line."""
        if self.off_flag or self.spelled:
            return (self.off_flag,) if self.off_flag else self.spelled
        return (self.number.flag if self.number else f"--{self.name.replace('_', '-')}",)

    @property
    def flag(self) -> str:
        """Its name in messages, and its identity: settings of several modes with the same flag are one option."""
        return self.flags[0]

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return self.type is bool

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it accepts, if it accepts nothing else."""
        kinds = (self.type, *get_args(self.type)) if self.number is None else ()
        return next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())

    @property
    def text(self) -> str:
        """Its help, with the default."""
        silent = self.default is None or self.is_flag or self.default == ()
        value = " ".join(self.default) if isinstance(self.default, tuple) else self.default
        default = self.default_text if self.default_text is not None or silent else value
        return self.help if default is None else f"{self.help} Default: {default}.".lstrip()


@cache
def settings_of(function: Callable[..., Any]) -> dict[str, Setting]:
    """Return the settings in a signature by name: parameters whose type is an alias with a `Setting`.

    Replaces these aliases in the function's annotations by their plain types, which `help` and notebooks show; cached,
    because a second call would find none.
    """
    settings, module = {}, inspect.unwrap(function).__globals__
    for name, parameter in inspect.signature(function).parameters.items():
        kind = module.get(parameter.annotation)
        for metadata in getattr(kind, "__metadata__", ()):
            if isinstance(metadata, Setting):
                (plain, *_) = get_args(kind)
                default = None if parameter.default is parameter.empty else parameter.default
                settings[name] = replace(metadata, name=name, type=plain, default=default)
                function.__annotations__[name] = getattr(plain, "__forward_arg__", plain)
    return settings


# Options of the registry as keywords of a function.

Function = TypeVar("Function", bound=Callable[..., Any])


def takes_options(level: Commands, *extra: str, **cures: str) -> Callable[[Function], Function]:
    """Make a `public` function refuse options as keywords before anything is read, except options of commands at
    `level`, those in `extra`, and its parameters. `cures`: option -> hint for its message."""

    def decorate(function: Function) -> Function:
        def refuse(keywords: Mapping[str, Any]) -> None:
            for name, value in keywords.items():
                if value is None or value is False or name in extra or name not in OPTIONS:  # None and False: not set
                    continue
                described = OPTIONS[name]
                if level in described.taken_by or name in inspect.signature(function).parameters:
                    continue
                cure = "leave it out, or use evaluate" if described.commands == "eval" else "leave it out"
                cure = cures.get(name, CURES.get(name, cure))
                raise described.error(f"{function.__name__} does not take it", cure)

        vars(function)[REFUSING] = refuse
        return function

    return decorate


CURES = {
    **dict.fromkeys(("unseen", "queries", "slices", "predicted"), "leave it out, or use evaluate or compare"),
    "replicates": "give one run of each system, or use compare",
}
"""Option -> the hint when a function other than `evaluate` or `compare` refuses it."""


def shares_work(function: Function) -> Function:
    """Make the keywords `jobs` and `progress` of a function work: number of processes, and a progress bar."""

    @wraps(function)
    def shared(*positional: Any, **keywords: Any) -> Any:
        jobs, progress = ranges.JOBS.check(keywords.get("jobs", 1)), keywords.get("progress", False)
        if jobs == 1 and not progress:
            return function(*positional, **keywords)
        from gradedeval.kernel.parallel import using_jobs  # not for a help page

        with using_jobs(jobs, bool(progress)):
            return function(*positional, **keywords)

    return shared  # type: ignore[return-value]
