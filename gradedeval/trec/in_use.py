"""The files that a command reads and those that it writes: no output may replace an input."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from stat import S_ISREG
from typing import Any

from gradedeval.errors import InputError, url_place

Identity = tuple[int, int] | str

_SAME = {"az": "abfs"}
"""Protocols of one storage that has two names."""


class FilesInUse:
    """What the command that runs reads, and what it writes.

    Outputs are named before anything is read. From then on whoever opens a file says so, in `trec.source.Source`, so
    that a file named in a list of runs, in a measure or in a configuration is met as an argument is.
    """

    def __init__(self) -> None:
        self._written: dict[Identity, tuple[str, str]] = {}
        self._read: dict[Identity, str] = {}
        self._known: set[str] = set()

    def will_write(self, path: str, flag: str) -> None:
        """Name an output. Raises InputError (usage) where another option names it too."""
        if (file := identity(path, new=True)) is None:
            return
        if file in self._written:
            raise self._error(file, self._written[file][0], flag, path)
        self._written[file] = flag, path

    def will_read(self, path: str, flag: str = "") -> None:
        """Name an input, by the option that has it, if any. Raises InputError (usage) where it is an output."""
        if not self._written or path in self._known:
            return
        self._known.add(path)
        if (file := identity(path)) is not None:
            self._read.setdefault(file, flag)
            if file in self._written:
                raise self._error(file, self._read[file], *self._written[file])

    def check_written(self, path: str) -> None:
        """Raise InputError (usage) where a file that is about to be written has been read: where an error of one run
        does not end the command, the one of `will_read` did not end it either."""
        if (file := identity(path, new=True)) is None:
            return
        if file in self._read:
            raise self._error(file, self._read[file], *self._written[file])
        assert file in self._written, f"{path} is written, and no option declares it"

    @staticmethod
    def _error(file: Identity, other: str, flag: str, path: str) -> InputError:
        shown = url_place(path) if isinstance(file, str) else path
        what = f"'{shown}' is also {f'the file of {other}' if other else 'an input file'}"
        return InputError(flag, what, "choose another output file", usage=True)


_current: FilesInUse | None = None
"""Of the process, and not of a context: the threads of a command read for it."""


@contextmanager
def files_in_use() -> Iterator[FilesInUse]:
    """The files of a command, as long as it runs."""
    global _current
    before, _current = _current, FilesInUse()
    try:
        yield _current
    finally:
        _current = before


def will_read(path: Any) -> None:
    """Say that a file is read, to the command that runs, if any."""
    if _current is not None:
        _current.will_read(os.fsdecode(path))


def check_written(path: str) -> None:
    """Raise InputError (usage) where a file that is about to be written is an input of the command that runs."""
    if _current is not None:
        _current.check_written(path)


def identity(path: str, new: bool = False) -> Identity | None:
    """What two names of one file have in common: its inode, or where it is far away, its URL. None of what is no file,
    such as a pipe, and of what is not there, unless it is `new`. `-` is standard input."""
    protocol, separator, name = path.partition("://")
    if separator and not os.path.exists(path):
        if protocol != "file":
            return f"{_SAME.get(protocol, protocol)}://{name.lstrip('/')}"
        path = os.path.expanduser(name)  # as fsspec does
    try:
        found = os.fstat(0) if path == "-" and not new else _found(path)
    except (OSError, ValueError):  # a name with a zero byte
        return os.path.realpath(path) if new and "\0" not in path else None
    return (found.st_dev, found.st_ino) if S_ISREG(found.st_mode) else None


def _found(path: str) -> os.stat_result:
    """What a name leads to; `run/` and `run/.` are the file `run` to whoever writes, who resolves names first."""
    try:
        return os.stat(path)
    except NotADirectoryError:
        return os.stat(os.path.realpath(path))
