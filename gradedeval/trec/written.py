"""Files that are written completely or not at all, here or where a URL says."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from gradedeval.errors import InputError
from gradedeval.trec.in_use import check_written
from gradedeval.trec.source import is_url


def write_file(content: bytes, target: str) -> None:
    """Write a file: a temporary file beside it is renamed, so that it is never incomplete.

    A pipe or device is written directly. Raises InputError where it cannot be written, or is an input.
    """
    check_written(target)
    if is_url(target):
        from gradedeval.trec.remote import stored  # few results go far

        stored(target, content)
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
