"""Results to standard output or to a file, completely or not at all; messages to stderr."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, TextIO

import click

from gradedeval.errors import InputError, plural, visible
from gradedeval.kernel.formats.tables import PAGE, View, as_bytes
from gradedeval.kernel.trec.stream import local_path

STDOUT = (None, "-", "/dev/stdout")
"""What names standard output, which several outputs may go to, one after the other."""


def write(text: str, target: str | None = None) -> None:
    """Write text to standard output, or to a file, as `write_bytes` does. Characters that could
    change a terminal are written to it as escapes, as in tables."""
    if target in STDOUT and sys.stdout is not None and sys.stdout.isatty():
        text = _escape(text)
    write_bytes(as_bytes(text), target)


def _escape(text: str) -> str:
    """Return a text whose characters cannot change a terminal."""
    return "".join(part if part in "\n\t" else visible(part) for part in re.split(r"([\n\t])", text))


def write_bytes(content: bytes, target: str | None = None) -> None:
    """Write to standard output, or to a file: a temporary file beside it is renamed, so that it is never incomplete.

    A pipe or device is written directly. Raises InputError if the file cannot be written, OSError if stdout cannot.
    """
    if target in STDOUT:
        if sys.stdout is None:
            raise InputError("<stdout>", "is closed", "write to a file with -o FILE")
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    from gradedeval.kernel.trec.atomic_write import write_file  # only for files

    write_file(content, target)


def check_target(target: str) -> None:
    """Raise InputError where a file cannot be written: its folder is not there, or it is a URL."""
    from gradedeval.kernel.trec.atomic_write import local_target  # only for files

    try:
        path = local_target(target)
    except InputError as error:
        raise error.replace(hint="name a file, or pipe the output to a command: -o - | COMMAND") from None
    if not os.path.exists(os.path.dirname(path) or "."):
        raise InputError(target, f"cannot be written ({os.strerror(errno.ENOENT)})", "nothing was written")


def write_colored(text: str, target: str | None = None) -> None:
    """Write a text for people, as `write` does; in color where a terminal shows it."""
    if target in STDOUT and in_color(sys.stdout):
        write_bytes(as_bytes(color_table(_escape(text))), target)
        return
    write(text, target)


def in_color(stream: TextIO | None) -> bool:
    """Return whether text written to a stream is colored: on a terminal, unless NO_COLOR is set (no-color.org); if
    FORCE_COLOR is set, everywhere."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def print_message(text: str, kind: Literal["", "error", "note", "verdict", "page"] = "") -> None:
    """A message for the user on stderr, in lines that fit a terminal; a closed stderr is not an error.

    kind   what colors it; a page, such as a traceback, keeps its lines
    """
    lines = [*map(visible, text.split("\n"))]
    if kind != "page":
        lines = [wrap_for_terminal(line, sys.stderr, hang=2) for line in lines]
    if kind in ("error", "note", "verdict") and in_color(sys.stderr):
        lines = [color_message(line, kind) for line in lines]
    shown = "\n".join(lines)
    try:
        sys.stderr.buffer.write(as_bytes(shown) + b"\n")
        sys.stderr.buffer.flush()
    except OSError:
        _silence(2)
    except (ValueError, AttributeError):
        pass  # there is no stderr


def size_of(file: str) -> int:
    """How large a file is that may not be there."""
    file = local_path(file)
    return os.path.getsize(file) if os.path.isfile(file) else 0


def report_written_files(sizes: Mapping[str, int | None]) -> None:
    """On a terminal, say which files were written and how large they are, and how many lines were added to those that
    had a size before; nothing with --quiet."""
    if sys.stderr is None or not sys.stderr.isatty() or context_option("quiet"):
        return
    from gradedeval.kernel.trec.atomic_write import readable_size

    sizes = {local_path(file): size for file, size in sizes.items()}
    for file, size in sizes.items():
        if size is None and os.path.isfile(file):
            print_message(f"wrote {file}, {readable_size(file)}")
    for file, size in sizes.items():
        if size is not None and size_of(file) > size:
            with open(file, "rb") as lines:
                lines.seek(size)
                count = len([line for line in lines if not line.isspace()])
            print_message(f"appended {count} {plural(count, 'line')} to {file}")


def print_notes(notes: Iterable[str]) -> None:
    """Report what was skipped or assumed; nothing with --quiet."""
    for note in () if context_option("quiet") else notes:
        print_message(note, "note")


def print_error(error: InputError) -> None:
    """Report what is wrong; if the variable GRADEDEVAL_DEBUG is set also the traceback of code that is not ours."""
    print_message(error.cli_text, "error")
    if error.trace and os.environ.get("GRADEDEVAL_DEBUG"):
        print_message(error.trace.rstrip(), "page")


def _keep_in_context(context: click.Context, parameter: click.Parameter, value: bool | str | int | None) -> None:
    context.meta[f"{__name__}.{parameter.name}"] = value


KEPT_IN_CONTEXT: dict[str, Any] = {"expose_value": False, "callback": _keep_in_context}
"""Of an option that no command reads itself: see `context_option`."""


def context_option(name: str) -> Any:
    """The value of an option that the command that runs does not read itself: -k, --quiet, --wide,
    --signature or --cluster; None or False where it is not given."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(f"{__name__}.{name}")


UNKNOWN_WIDTH = 80
"""Of a terminal that does not say how wide it is."""


def view_of(target: str | None) -> View:
    """How people see tables there: as wide as the terminal, if it is one, and with the columns of --wide."""
    wide, standard = context_option("wide"), target in STDOUT
    width = terminal_width(sys.stdout) if standard else None
    view = PAGE if width is None else View(width, terminal=True)
    return view._replace(flags=True, wide=wide, line=message_width(sys.stdout) if standard else None)


def terminal_width(stream: TextIO | None) -> int | None:
    """How wide the terminal is that a stream writes to; None where it is no terminal."""
    if stream is None or not stream.isatty():
        return None
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # a stand-in for a terminal
        width = 0
    return width or UNKNOWN_WIDTH


def message_width(stream: TextIO | None) -> int | None:
    """How wide a line of words may be; None where there is no terminal: programs may read it, so it stays one."""
    return terminal_width(stream)


def wrap_for_terminal(text: str, stream: TextIO | None, hang: int = 0) -> str:
    """Text in lines that fit the terminal that a stream writes to, if it is one; those that go on are indented by
    `hang`, or stand under the text behind a first column."""
    width = message_width(stream)
    if width is None or len(text) <= width:
        return text
    from gradedeval.kernel.formats.fitting import wrapped  # not for a help page

    return wrapped(text, width, hang)


def silence_stdout() -> None:
    """Give up on a standard output that is closed."""
    _silence(1)


def _silence(descriptor: int) -> None:
    """Discard what is still buffered for a closed stream, which would raise an error at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


class DocstringCommand(click.Command):
    """A command whose help page begins with the docstring of its function, whether or not Python keeps docstrings."""

    def __init__(self, *words: Any, **settings: Any) -> None:
        if not settings.get("help"):  # as with -OO
            from gradedeval.kernel.measures.definition import docstring

            settings["help"] = docstring(settings["callback"])
        super().__init__(*words, **settings)


# Color on a terminal. It says nothing that the text does not say.

BOLD, RED, GREEN, END = "\33[1m", "\33[31m", "\33[32m", "\33[0m"
_RULE = re.compile(r"-+(  -+)*")
_MARKED = re.compile(r"(?<!\S)(\*[-+.\d%]+\*|[-+.\d%]+[*†‡]+)(?!\S)")
_VERDICT = re.compile(r"(FAIL|ok)(?=  )")
_PLACE = re.compile(r".+?(?=: |; |$)")


def color_table(text: str) -> str:
    """A text for people in color: headers of tables are bold, and so is what stands out in a column; the verdicts of
    `check` are green and red. Without its escape codes it is the text."""
    return "\n".join(_painted(text.split("\n")))


def _painted(lines: list[str]) -> Iterator[str]:
    inside = False
    for line, heads in zip(lines, _are_heads(lines), strict=True):
        if heads:
            yield bold(line)
        elif _RULE.fullmatch(line):
            inside = True
            yield line
        else:
            inside = inside and bool(line)
            yield _MARKED.sub(lambda found: bold(found[0]), line) if inside else verdict(line)


def _are_heads(lines: list[str]) -> list[bool]:
    """Whether each line is of the header of a table: between it and the rule none is blank, nor a rule."""
    heads, under = list[bool](), False
    for line in reversed(lines):
        rule = _RULE.fullmatch(line) is not None
        heads.append(under and bool(line) and not rule)
        under = rule or heads[-1]
    return heads[::-1]


def bold(text: str) -> str:
    return f"{BOLD}{text}{END}"


def verdict(line: str) -> str:
    """A line with its FAIL in red, its ok in green."""
    found = _VERDICT.match(line)
    color = RED if found and found[0] == "FAIL" else GREEN
    return f"{BOLD}{color}{found[0]}{END}{line[found.end() :]}" if found else line


def error(line: str) -> str:
    """A line of an error with its place in red."""
    return _PLACE.sub(lambda found: f"{BOLD}{RED}{found[0]}{END}", line, count=1)


def note(line: str) -> str:
    """A line of a note with its place in bold."""
    place, colon, rest = line.partition(": ")
    return f"{bold(place)}{colon}{rest}" if colon else line


MESSAGES: dict[str, Callable[[str], str]] = {"error": error, "note": note, "verdict": verdict}


def color_message(text: str, kind: str) -> str:
    """A message, in the lines that it has on a terminal, with the color of its kind in the first."""
    first, end, rest = text.partition("\n")
    return f"{MESSAGES[kind](first)}{end}{rest}"
