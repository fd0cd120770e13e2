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
from gradedeval.kernel.trec.stream import WINDOWS, local_path

STDOUT = (None, "-", "/dev/stdout")
"""Names of standard output."""


def write(text: str, target: str | None = None, colored: bool = False) -> None:
    """Write text to standard output or a file, as `write_bytes` does. Control characters are escaped on a terminal.

    colored  whether the text is a table for people, which is colored if `in_color` allows it
    """
    if target in STDOUT and sys.stdout is not None:
        colored = colored and in_color(sys.stdout)
        text = _escape(text) if colored or sys.stdout.isatty() else text
        text = color_table(text) if colored else text
    write_bytes(as_bytes(text), target)


_PRINTED, FILES_IN_USE = f"{__name__}.printed", f"{__name__}.files"
"""Keys in the `meta` of click's context: whether something was printed, and the files in use."""


def interruption(context: click.Context) -> str:
    """Return the message of an interrupted command, which names the files that it has written."""
    files = context.meta.get(FILES_IN_USE)
    if files is not None and files.completed:
        return f"interrupted; only {', '.join(dict.fromkeys(files.completed))} was written"
    if context.meta.get(_PRINTED):
        return "interrupted; the output may be incomplete"
    return "interrupted; nothing was written"


def _escape(text: str) -> str:
    """Escape the control characters of a text, which could change a terminal."""
    return "".join(part if part in "\n\t" else visible(part) for part in re.split(r"([\n\t])", text))


def write_bytes(content: bytes, target: str | None = None) -> None:
    """Write to standard output or a file.

    The content goes to a temporary file, which then replaces the file, so that the file is never incomplete. A pipe or
    device is written directly. Raises InputError if the file cannot be written, OSError if stdout cannot be written.
    """
    print_count_of_other_notes()
    if target in STDOUT:
        if sys.stdout is None:
            raise InputError("<stdout>", "is closed", "write to a file with -o FILE")
        if (context := click.get_current_context(silent=True)) is not None:
            context.meta[_PRINTED] = True
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    from gradedeval.kernel.trec.atomic_write import write_file  # only for files

    write_file(content, target)


def check_target(target: str) -> None:
    """Raise InputError for a file that cannot be written: it is a URL, or its folder does not exist."""
    from gradedeval.kernel.trec.atomic_write import local_target  # only for files

    try:
        path = local_target(target)
    except InputError as error:
        raise error.replace(hint="name a file, or pipe the output to a command: -o - | COMMAND") from None
    if not os.path.exists(os.path.dirname(path) or "."):
        raise InputError(target, f"cannot be written ({os.strerror(errno.ENOENT)})", "create its folder first")


def in_color(stream: TextIO | None) -> bool:
    """Return whether to color text: on a terminal without NO_COLOR (no-color.org), and anywhere with FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if WINDOWS and not (os.environ.get("WT_SESSION") or os.environ.get("TERM")):  # older consoles print the codes
        return False
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def print_message(text: str, kind: Literal["", "error", "note", "verdict", "page"] = "") -> None:
    """Print a message on stderr, in lines that fit a terminal. A closed stderr is not an error.

    kind  sets the color; the lines of a page, such as a traceback, are not wrapped
    """
    lines = list[str]()
    is_colored = kind in COLORS and in_color(sys.stderr)
    for line in map(visible, text.split("\n")):
        wrapped = line if kind == "page" else wrap_for_terminal(line, sys.stderr, hang=2)
        lines.append(color_message(wrapped, kind) if is_colored else wrapped)
    try:
        sys.stderr.buffer.write(as_bytes("\n".join(lines)) + b"\n")
        sys.stderr.buffer.flush()
    except OSError:
        _discard(2)
    except (ValueError, AttributeError):
        pass  # there is no stderr


def size_of(file: str) -> int:
    """Return the size of a file in bytes, 0 if it does not exist."""
    file = local_path(file)
    return os.path.getsize(file) if os.path.isfile(file) else 0


def report_written_files(sizes: Mapping[str, int | None]) -> None:
    """Print on a terminal the size of each written file, or the number of appended lines; nothing with --quiet.

    sizes  file -> its size before lines were appended; None: it was replaced
    """
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


MAX_NOTES = 5
"""Maximum number of notes that a command prints without --verbose; the others are counted."""


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on stderr: the first few, or all with --verbose; nothing with --quiet."""
    for note in () if context_option("quiet") else notes:
        emitted = click.get_current_context().meta.setdefault(f"{__name__}.notes", {"printed": [], "unprinted": []})
        is_printed = context_option("verbose") or len(emitted["printed"]) < MAX_NOTES
        emitted["printed" if is_printed else "unprinted"].append(note)
        if is_printed:
            print_message(note, "note")


def print_remark_lines(remarks: Iterable[str]) -> None:
    """Print remarks on stderr, nothing with --quiet. They are part of a result: all are printed, unlike notes."""
    for remark in () if context_option("quiet") else remarks:
        print_message(remark, "note")


def print_count_of_other_notes() -> None:
    """Print the number of notes that were not printed yet, before a table or at the end."""
    context = click.get_current_context(silent=True)
    notes = [] if context is None else context.meta.get(f"{__name__}.notes", {}).get("unprinted", [])
    if notes:
        print_message(f"… and {len(notes)} more {plural(len(notes), 'note')}; --verbose shows all", "note")
        notes.clear()


def print_error(error: InputError) -> None:
    """Print an error on stderr. With the variable GRADEDEVAL_DEBUG also print the traceback of a user's own code."""
    print_message(error.cli_text, "error")
    if error.trace and os.environ.get("GRADEDEVAL_DEBUG"):
        print_message(error.trace.rstrip(), "page")


OPTION_KEY_PREFIX = f"{__name__}.option."
"""Prefix of the keys of options in the `meta` of click's context."""


def context_option(name: str) -> Any:
    """Return the value of -k, --quiet, --wide, --signature or --cluster in the running command; None or False if it is
    missing."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(f"{OPTION_KEY_PREFIX}{name}")


UNKNOWN_WIDTH = 80
"""Width of a terminal that does not report its width."""


def view_of(target: str | None) -> View:
    """Return the view of tables in an output: the width of the terminal, if it is one, and the columns of --wide."""
    is_stdout = target in STDOUT
    width = terminal_width(sys.stdout) if is_stdout else None
    view = PAGE if width is None else View(width, terminal=True)
    line_width = prose_width(sys.stdout) if is_stdout else None
    return view._replace(names_flags=True, wide=context_option("wide"), prose_width=line_width)


def terminal_width(stream: TextIO | None) -> int | None:
    """Return the number of columns of a stream's terminal; None if it is not a terminal."""
    if stream is None or not stream.isatty():
        return None
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # a stand-in for a terminal
        width = 0
    return width or UNKNOWN_WIDTH


def prose_width(stream: TextIO | None) -> int | None:
    """Return the maximum width of lines of prose: that of the terminal; None without one, where programs may read."""
    return terminal_width(stream)


def wrap_for_terminal(text: str, stream: TextIO | None, hang: int = 0) -> str:
    """Wrap a text to the terminal of a stream, if it is one.

    hang  indent of continuation lines that have no label or leading space to be aligned to
    """
    width = prose_width(stream)
    if width is None or len(text) <= width:
        return text
    from gradedeval.kernel.formats.fitting import wrapped  # not for a help page

    return wrapped(text, width, hang)


def is_closed_pipe(error: OSError) -> bool:
    """Return whether an error means that the reader of a pipe has closed it. Windows reports it as EINVAL."""
    return isinstance(error, BrokenPipeError) or (WINDOWS and error.errno == errno.EINVAL)


def silence_stdout() -> None:
    """Discard all further standard output, after it was closed."""
    _discard(1)


def _discard(descriptor: int) -> None:
    """Discard the buffer of a closed stream, which would raise an error at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


class DocstringCommand(click.Command):
    """A command whose help begins with the docstring of its function, also under `python -OO`."""

    def __init__(self, *words: Any, **settings: Any) -> None:
        if not settings.get("help"):
            from gradedeval.kernel.measures.definition import docstring

            settings["help"] = docstring(settings["callback"])
        super().__init__(*words, **settings)


# Color on a terminal. It carries no information of its own.

BOLD, RED, GREEN, YELLOW, END = "\33[1m", "\33[31m", "\33[32m", "\33[33m", "\33[0m"
_VERDICT_COLORS = {"FAIL": RED, "ok": GREEN, "?": YELLOW}
_RULE = re.compile(r"-+(  -+)*")
_MARKED = re.compile(r"(?<!\S)(\*[-+.\d%]+\*|[-+.\d%]+[*†‡]+)(?!\S)")
_VERDICT = re.compile(r"^(FAIL|ok|\?)(?=  )")
_PLACE = re.compile(r".+?(?=: |; |$)")


def color_table(text: str) -> str:
    """Color a text: table headers and marked values are bold, the verdicts of `check` green, red and yellow."""
    return "\n".join(_color_lines(text.split("\n")))


def _color_lines(lines: list[str]) -> Iterator[str]:
    """Color each line of a text with tables."""
    in_table = False
    for line, is_header in zip(lines, _are_headers(lines), strict=True):
        if is_header:
            yield bold(line)
        elif _RULE.fullmatch(line):
            in_table = True
            yield line
        else:
            in_table = in_table and bool(line)
            yield _MARKED.sub(lambda match: bold(match[0]), line) if in_table else color_verdict(line)


def _are_headers(lines: list[str]) -> list[bool]:
    """Return for each line whether it is in the header of a table: directly above a rule, or above a header line."""
    headers, above_rule = list[bool](), False
    for line in reversed(lines):
        is_rule = _RULE.fullmatch(line) is not None
        headers.append(above_rule and bool(line) and not is_rule)
        above_rule = is_rule or headers[-1]
    return headers[::-1]


def bold(text: str) -> str:
    """Return a text in bold."""
    return f"{BOLD}{text}{END}"


def color_verdict(line: str) -> str:
    """Color FAIL at the start of a line red, ok green, ? yellow."""
    return _VERDICT.sub(lambda match: f"{BOLD}{_VERDICT_COLORS[match[0]]}{match[0]}{END}", line, count=1)


def color_error(line: str) -> str:
    """Color the start of an error red: the file, option or other place that the error is about."""
    return _PLACE.sub(lambda match: f"{BOLD}{RED}{match[0]}{END}", line, count=1)


def color_note(line: str) -> str:
    """Print the text before the first colon of a note in bold: the file, option or other place."""
    place, colon, rest = line.partition(": ")
    return f"{bold(place)}{colon}{rest}" if colon else line


COLORS: dict[str, Callable[[str], str]] = {"error": color_error, "note": color_note, "verdict": color_verdict}
"""Kind of message -> the function that colors its first line."""


def color_message(text: str, kind: str) -> str:
    """Color the first line of a wrapped message by its kind."""
    first, end, rest = text.partition("\n")
    return f"{COLORS[kind](first)}{end}{rest}"
