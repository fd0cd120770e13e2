"""Output: results to standard output or to a file, completely or not at all; messages to stderr."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator

import click

from gradedeval.errors import InputError, visible
from gradedeval.trec.lines import encode


def write(text: str, target: str | None = None) -> None:
    """Write text to standard output, or to a file, as `write_bytes` does."""
    write_bytes(encode(text), target)


def write_bytes(content: bytes, target: str | None = None) -> None:
    """Write to standard output, or to a file: a temporary file beside it is renamed, so that it is never incomplete.

    A pipe or device is written directly. Raises InputError if the file cannot be written, OSError if stdout cannot.
    """
    if target in (None, "-", "/dev/stdout"):
        if sys.stdout is None:
            raise InputError("<stdout>", "is closed", "write to a file with -o FILE")
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as device:
                device.write(content)
        else:
            _replace(target, content)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(target, f"cannot be written ({error.strerror})", "nothing was written") from None


def _replace(target: str, content: bytes) -> None:
    import tempfile  # only for files
    from pathlib import Path

    path = Path(target).resolve()  # replaces the file that a link points to, not the link
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    with _undisturbed():
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as beside:
                beside.write(content)
            Path(name).chmod(mode)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals that end this process wait meanwhile: none leaves a temporary file behind."""
    import signal  # only for files

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def say(text: str) -> None:
    """A message for the user on stderr; a closed stderr is not an error."""
    shown = "\n".join(map(visible, text.split("\n")))
    try:
        sys.stderr.buffer.write(encode(shown) + b"\n")
        sys.stderr.buffer.flush()
    except OSError:
        _silence(2)
    except (ValueError, AttributeError):
        pass  # there is no stderr


def warn(notes: Iterable[str]) -> None:
    """Report what was skipped or assumed; nothing with --quiet."""
    for note in () if asked_for("quiet") else notes:
        say(note)


def report(error: InputError) -> None:
    """Report what is wrong; with --debug also the traceback of code that is not ours."""
    say(error.at_prompt)
    if error.trace and asked_for("debug"):
        say(error.trace.rstrip())


def ask_for(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    """Remember --quiet or --debug of the command that runs; a callback of these options."""
    context.meta[f"{__name__}.{parameter.name}"] = value


def asked_for(name: str) -> bool:
    """Whether the command that runs was given --quiet or --debug."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(f"{__name__}.{name}"))


def stop_quietly() -> None:
    """Give up on a standard output that is closed."""
    _silence(1)


def _silence(descriptor: int) -> None:
    """Discard what is still buffered for a closed stream, which would raise an error at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
