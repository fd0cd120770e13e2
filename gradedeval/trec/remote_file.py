"""A file that a URL names, read through fsspec in ranges, and asked for with patience that ends.

Each of the libraries behind fsspec fails in its own way, and only here: a fault becomes one line. GRADEDEVAL_TIMEOUT
limits a request as a whole, and a window of bytes where a request brings more: a server that sends a byte now and then
answers, but would be waited for without end. What a URL says of a user is for fsspec alone, and in no message.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from io import RawIOBase
from threading import Event, Thread
from typing import Any

from gradedeval.errors import InputError, url_place
from gradedeval.trec.remote_faults import changed, fault, timed_out
from gradedeval.trec.urls import check_url

WINDOW = 1 << 22
"""Bytes of one request. The next window is asked for while this one is worked on."""

HEAD = 1 << 16
"""Bytes of the first request, which tell the format of a file."""

TIMEOUT, SECONDS = "GRADEDEVAL_TIMEOUT", 60.0
"""The variable that says how many seconds a storage may take for a request or a window of bytes, and how many they are
without it."""

_MARKS = ("ETag", "etag", "blob_id", "mtime", "LastModified", "Last-Modified", "last_modified", "updated", "created")
"""What file systems call that by which a changed file is known; the first that there is counts."""

State = tuple[int, str]
"""Size of a file, and what else changes with it."""


class _Call:
    """A call of fsspec in a thread of its own: one that does not come back is left there."""

    def __init__(self, url: str, call: Callable[[], Any], purpose: str, windows: int = 1) -> None:
        self._url, self._call, self._purpose, self._done = url, call, purpose, Event()
        self._windows = windows
        self._answer: Any = None
        self._error: BaseException | None = None
        try:
            Thread(target=self._run, daemon=True).start()
        except RuntimeError:  # a limit of processes: then it is waited for to its end
            self._run()

    def _run(self) -> None:
        try:
            self._answer = self._call()
        except BaseException as error:
            self._error = error
        self._done.set()

    def answer(self) -> Any:
        """What the call gives. Raises InputError where it fails or takes too long."""
        if not self._done.wait(seconds := _seconds() * self._windows):
            raise timed_out(url_place(self._url), seconds, TIMEOUT)
        if isinstance(self._error, Exception):
            raise fault(self._url, self._error, self._purpose) from None
        if self._error is not None:
            raise self._error
        return self._answer


def asked(url: str, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What a call of fsspec gives that reads. Raises InputError where it fails or takes too long."""
    return _Call(url, lambda: call(*given, **named), "opened").answer()


def asked_to_write(url: str, call: Callable[..., Any], name: str, content: bytes) -> None:
    """As `asked`, for a call that writes, which may take as long as all its windows."""
    _Call(url, lambda: call(name, content), "written", -(-len(content) // WINDOW) or 1).answer()


def _seconds() -> float:
    text = os.environ.get(TIMEOUT) or SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise InputError(TIMEOUT, f"'{text}' is not a number of seconds above 0", f"as in {TIMEOUT}=60", usage=True)
    return seconds


def _fsspec(url: str) -> Any:
    try:
        return import_module("fsspec")
    except ImportError:
        raise InputError(url_place(url), "is a URL, which fsspec opens", "pip install 'gradedeval[remote]'") from None


def file_system(url: str) -> tuple[Any, str]:
    """The file system of a URL, which fsspec makes once, and the path there. Whatever is read, listed or written passes
    here: raises InputError for a URL that is not allowed."""
    check_url(url)
    found: tuple[Any, str] = asked(url, _found, url, _fsspec(url))
    return found


def _found(url: str, fsspec: Any) -> Any:
    if not url.startswith(("http://", "https://")):
        return fsspec.core.url_to_fs(url)
    from gradedeval.trec.web import Client  # other protocols have no use for it

    return fsspec.core.url_to_fs(url, get_client=Client.of(url))


def state_of(info: dict[str, Any]) -> State:
    return int(info["size"] or 0), str(next((info[mark] for mark in _MARKS if info.get(mark) is not None), ""))


class RemoteFile:
    """A file that a URL names, read in ranges from any place, as an `OpenFile` is. Another process opens it again, and
    both find out whether it has changed.

    path   the URL as messages show it
    size   how many bytes it has
    """

    is_far = True

    def __init__(self, url: str, state: State | None = None) -> None:
        self.url, self.path = url, url_place(url)
        self._files, self._name = file_system(url)
        self._state = state or state_of(asked(url, self._files.info, self._name))
        self.size = self._state[0]
        self._ahead: tuple[int, int, _Call] | None = None
        self._window, self._begin = b"", 0

    def __reduce__(self) -> Any:
        return RemoteFile, (self.url, self._state)

    def closed(self) -> RemoteFile:
        return self

    def own(self) -> RemoteFile:
        """The same for another reader: what is kept of it is not shared."""
        return RemoteFile(self.url, self._state)

    def check(self) -> None:
        """Raise InputError where the file is not the one that was opened."""
        self._files.invalidate_cache(self._name)
        if state_of(asked(self.url, self._files.info, self._name)) != self._state:
            raise changed(self.path)

    def token(self, begin: int, start: int, length: int) -> bytes:
        """So many bytes, from `start` on where the file counts from `begin`."""
        at, end = begin + start, min(begin + start + length, self.size)
        if self._begin <= at and end <= self._begin + len(self._window):
            return self._window[at - self._begin : end - self._begin]
        return self._received(at, end, self._requested(at, end))

    def read_into(self, view: memoryview, at: int, end: int | None = None) -> int:
        """Fill the view with what is at `at`; returns how many bytes there are.

        end  where the caller stops reading: nothing beyond is asked for ahead of time
        """
        end = min(self.size if end is None else end, self.size)
        if not self._begin <= at < self._begin + len(self._window):
            if at >= end:
                return 0
            self._next_window(at, end)
        got = self._window[at - self._begin : at - self._begin + len(view)]
        view[: len(got)] = got
        return len(got)

    def windows(self) -> Iterator[bytes]:
        """All of it, piece by piece."""
        for at in range(0, self.size, WINDOW):
            self._next_window(at, self.size)
            yield self._window

    def _next_window(self, at: int, end: int) -> None:
        first, after, call = self._ahead or (at, min(at + WINDOW, end), None)
        if first != at or call is None:
            first, after = at, min(at + WINDOW, end)
            call = self._requested(first, after)
        self._ahead = None
        self._window, self._begin = self._received(first, after, call), first
        if after < end:
            later = min(after + WINDOW, end)
            self._ahead = after, later, self._requested(after, later)

    def _requested(self, at: int, end: int) -> _Call:
        return _Call(
            self.url, lambda: self._files.cat_file(self._name, start=at, end=end) if end > at else b"", "opened"
        )

    def _received(self, at: int, end: int, call: _Call) -> bytes:
        try:
            got: bytes = call.answer()
        except InputError:
            self.check()  # which is the better word for a range that is not there any more
            raise
        if len(got) == self.size > end - at:  # a server that does not know ranges
            got = got[at:end]
        if len(got) != end - at:
            self.check()
            raise InputError(self.path, f"ends after {at + len(got)} of {self.size} bytes", "try again")
        return got

    @property
    def knows_ranges(self) -> bool:
        """Whether a part of the file can be had without the rest. The part is the first, and is kept."""
        self._window, self._begin = (
            asked(self.url, self._files.cat_file, self._name, start=0, end=min(HEAD, self.size)),
            0,
        )
        return len(self._window) <= HEAD


class RangedReader(RawIOBase):
    """A remote file as one to read from the beginning: nothing of it is stored here."""

    def __init__(self, file: RemoteFile) -> None:
        self.ranged, self._at = file, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        count = self.ranged.read_into(memoryview(view).cast("B"), self._at)
        self._at += count
        if not count and len(view):
            self.ranged.check()
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + (0, self._at, self.ranged.size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at
