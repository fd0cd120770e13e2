"""Files that are read from any place, here and by other processes, and segments of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from gradedeval.errors import InputError
from gradedeval.trec.source import file_errors


class AnyFile(Protocol):
    """A file that is read from any place, and that pickle can write: another process opens it again.

    path    what messages call it
    is_far  whether each look at it takes its time
    """

    path: str
    is_far: bool

    @property
    def size(self) -> int: ...

    def own(self) -> AnyFile:
        """The same for one reader alone."""

    def closed(self) -> AnyFile:
        """The same with nothing kept open, so that any number may be known at a time."""

    def token(self, begin: int, start: int, length: int) -> bytes:
        """So many bytes, from `start` on where the file counts from `begin`."""

    def read_into(self, view: memoryview, at: int, end: int) -> int:
        """Fill the view with what is at `at`, and say how many bytes there are; the caller reads no further than
        `end`."""

    def check(self) -> None:
        """Raise InputError where the file has changed since it was opened."""


class OpenFile:
    """A file on disk, read from any place. Another process opens it again by its path, and checks that it is the same.

    path    where it is
    number  its descriptor
    """

    is_far = False

    def __init__(self, path: str, number: int) -> None:
        self.path, self.number = path, number

    @property
    def size(self) -> int:
        return os.fstat(self.number).st_size

    def own(self) -> OpenFile:
        return self  # it keeps no bytes

    def token(self, begin: int, start: int, length: int) -> bytes:
        with file_errors(self.path):
            return os.pread(self.number, length, begin + start)

    def read_into(self, view: memoryview, at: int, end: int) -> int:
        return os.preadv(self.number, [view], at)

    def check(self) -> None:
        pass  # who opens it again looks

    def closed(self) -> ClosedFile:
        return ClosedFile(os.path.abspath(self.path), self.path, _state(self.number))

    def __reduce__(self) -> Any:
        return _reopened, (os.path.abspath(self.path), self.path, _state(self.number))


class ClosedFile(OpenFile):
    """A file that is opened when somebody is to read it.

    path    where it is, for any process of this machine or of others that see it there
    place   what messages call it
    state   its size and time when it was first met; it is an error if they are others later
    """

    def __init__(self, path: str, place: str, state: tuple[int, int]) -> None:
        self.path, self._known = place, (path, place, state)

    def own(self) -> OpenFile:
        return _reopened(*self._known)

    def __reduce__(self) -> Any:
        return ClosedFile, self._known


class _Reopened(OpenFile):
    """A file that was opened here, and is closed with the object."""

    def __del__(self) -> None:
        os.close(self.number)


def _reopened(path: str, place: str, state: tuple[int, int]) -> OpenFile:
    with file_errors(place):
        file = _Reopened(path, os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))
    if _state(file.number) != state:
        raise InputError(place, "has changed while it was read", "evaluate it when it is complete")
    return file


def _state(number: int) -> tuple[int, int]:
    found = os.fstat(number)
    return found.st_size, found.st_mtime_ns


@dataclass
class Segment:
    """Bytes `at` to `end` of a file; reading does not move the position of the file."""

    file: AnyFile
    at: int
    end: int

    def own(self) -> Segment:
        """The same, to be read by one alone."""
        return replace(self, file=self.file.own())

    def closed(self) -> Segment:
        """The same of a file that need not stay open."""
        return replace(self, file=self.file.closed())

    def read_into(self, view: memoryview) -> int:
        """Fill the view as far as there are bytes; returns their number."""
        return fill(view, self._some)

    def _some(self, view: memoryview) -> int:
        count = self.file.read_into(view[: self.end - self.at], self.at, self.end)
        self.at += count
        return count


def fill(view: memoryview, some: Callable[[memoryview], int]) -> int:
    filled = 0
    while filled < len(view) and (count := some(view[filled:])):
        filled += count
    return filled
