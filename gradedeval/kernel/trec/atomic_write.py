"""Write files completely or not at all, or append whole lines; both wait until the data are on the disk."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from gradedeval.errors import InputError, plural, reason, url_place
from gradedeval.kernel.trec import stream

# Signals that end this process, deferred until a write is complete.

_NAMES = ("HUP", "INT", "QUIT", "ALRM", "TERM", "USR1", "USR2", "VTALRM", "PROF", "XCPU", "BREAK")
ENDING = [getattr(signal, f"SIG{name}") for name in _NAMES if hasattr(signal, f"SIG{name}")]
"""Signals whose default action ends a process."""

GRACE = 5
"""Seconds after a first signal in which others are ignored: `timeout` sends it twice. After that they have their usual
effect, so that nothing can make a process wait forever."""


@contextmanager
def defer_signals() -> Iterator[None]:
    """Defer signals until the block ends. Blocking them would defer them in this thread only, but libraries have
    threads of their own. For the main thread; without effect in others."""
    originals: dict[int, Any] = {}
    received: list[tuple[int, float]] = []

    def receive(number: int, frame: Any) -> None:
        if not received:
            received.append((number, monotonic()))
        elif monotonic() - received[0][1] > GRACE:
            signal.signal(number, originals[number])
            signal.raise_signal(number)

    try:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                handler = signal.getsignal(number)
                if handler not in (None, signal.SIG_IGN):  # None: Python could not restore this handler
                    originals[number] = handler
                    signal.signal(number, receive)
        yield
    finally:
        for number, handler in originals.items():
            signal.signal(number, handler)
        for number, _ in received:
            signal.raise_signal(number)


UNFINISHED = ".gradedeval-"
"""The prefix of temporary files. One remains only if the process could not remove it: after SIGKILL or a power failure.
"""

LOOKS = 5
"""How often to check the end of a file before it counts as torn."""

UNITS = (("kB", 1e3), ("MB", 1e6), ("GB", 1e9))


def readable_size(path: str) -> str:
    """Return the size of a file as text, such as `812 bytes` or `1.7 MB`."""
    size = os.path.getsize(path)
    if size < 1000:
        return f"{size} {plural(size, 'byte')}"
    unit, scale = next((unit for unit in UNITS if size < 999.5 * unit[1]), UNITS[-1])
    return f"{size / scale:.1f} {unit}" if size < 9.95 * scale else f"{size / scale:.0f} {unit}"


def local_target(target: str) -> str:
    """Return the local path to write for a target, which may be a file:// URL. Raises InputError (usage) for any other
    URL."""
    if stream.is_url(path := stream.local_path(target)):
        raise InputError(url_place(target), "is a URL, but only local files can be written", "name a file", usage=True)
    return path


def write_file(content: bytes, target: str) -> None:
    """Write a file atomically: a temporary file in the same folder is renamed.

    A pipe or device is written directly. Raises InputError if it cannot be written, or is an input.
    """
    target = local_target(target)
    stream.check_written(target)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            stream.mark_completed(target)
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

    path = Path(target).resolve()  # replace the target of a link, not the link
    if path.exists():
        mode = path.stat().st_mode & 0o777
    else:
        os.umask(mask := os.umask(0))
        mode = 0o666 & ~mask
    with defer_signals():
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=UNFINISHED)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                _sync(handle)  # otherwise a power failure could leave the new name empty
            Path(name).chmod(mode)
            Path(name).replace(path)
            stream.mark_completed(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def _sync(handle: int) -> None:
    """Flush a file to the disk."""
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a device without storage
            raise


def _sync_folder(path: str | os.PathLike[str]) -> None:
    """Flush the names in a folder to the disk, if the system supports it."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def append_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Append lines to a file by a single write at its end, so that concurrent writers lose nothing. A line that was cut
    short is ended first. Raises InputError if the file cannot be written."""
    place = path = local_target(os.fsdecode(path))
    stream.check_written(place)
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    try:
        with defer_signals():
            handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            try:
                data = (b"\n" if _is_torn(handle) else b"") + data
                os.lseek(handle, 0, os.SEEK_SET)
                stream.check_pointer(os.read(handle, len(stream.LFS_POINTER)), place)
                if os.write(handle, data) != len(data):
                    raise OSError("the disk is full")
                stream.mark_completed(place)
                _sync(handle)
            finally:
                os.close(handle)
            _sync_folder(os.path.dirname(os.path.realpath(path)))
    except OSError as error:
        hint = "name a file that can be appended to"
        raise InputError(place, f"cannot be written ({reason(error)})", hint) from None


def _is_torn(handle: int) -> bool:
    """Return whether the last line of a file lacks its end for good. If a writer is about to end it after all, the
    extra line end only makes a blank line, which readers skip."""
    for _ in range(LOOKS):
        if os.lseek(handle, 0, os.SEEK_END) == 0:
            return False
        os.lseek(handle, -1, os.SEEK_END)
        if os.read(handle, 1) == b"\n":
            return False
        time.sleep(0.001)
    return True
