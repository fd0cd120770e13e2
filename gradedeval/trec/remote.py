"""Files that a URL names, as s3://bucket/run.txt: fsspec opens them, in ranges where they are large.

Each of the libraries behind fsspec fails in its own way, and only here: a fault becomes one line. None of them is
waited for longer than GRADEDEVAL_TIMEOUT says. What a URL says of a user is for fsspec alone, and in no message.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from io import RawIOBase
from threading import Event, Thread
from typing import IO, Any

from gradedeval.errors import InputError, url_place
from gradedeval.trec.remote_faults import changed, fault, timed_out

IN_MEMORY = 1 << 23
"""Bytes that are kept in memory; more go to a temporary file."""

LARGE = 1 << 25
"""Bytes of a file that is read in ranges, and not fetched before."""

WINDOW = 1 << 22
"""Bytes of one request. The next window is asked for while this one is worked on."""

HEAD = 1 << 16
"""Bytes of the first request, which tell the format of a file."""

TIMEOUT, SECONDS = "GRADEDEVAL_TIMEOUT", 60.0
"""The variable that says how many seconds a storage may take for a request, and how many they are without it."""

_MARKS = ("ETag", "etag", "blob_id", "mtime", "LastModified", "Last-Modified", "last_modified", "updated", "created")
"""What file systems call that by which a changed file is known; the first that there is counts."""

_HERE_ALONE = ("memory",)
"""File systems that other processes do not see."""

State = tuple[int, str]
"""Size of a file, and what else changes with it."""


class _Call:
    """A call of fsspec in a thread of its own: one that does not come back is left there."""

    def __init__(self, url: str, call: Callable[[], Any]) -> None:
        self._url, self._call, self._done = url, call, Event()
        self._answer: Any = None
        self._error: BaseException | None = None
        Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self._answer = self._call()
        except BaseException as error:
            self._error = error
        self._done.set()

    def answer(self) -> Any:
        """What the call gives. Raises InputError where it fails or takes too long."""
        if not self._done.wait(seconds := _seconds()):
            raise timed_out(url_place(self._url), seconds, TIMEOUT)
        if isinstance(self._error, Exception):
            raise fault(self._url, self._error) from None
        if self._error is not None:
            raise self._error
        return self._answer


def _asked(url: str, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
    return _Call(url, lambda: call(*given, **named)).answer()


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


def _files(url: str) -> tuple[Any, str]:
    """The file system of a URL, which fsspec makes once, and the path there."""
    found: tuple[Any, str] = _asked(url, _fsspec(url).core.url_to_fs, url)
    return found


def _state(info: dict[str, Any]) -> State:
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
        self._files, self._name = _files(url)
        self._state = state or _state(_asked(url, self._files.info, self._name))
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
        if _state(_asked(self.url, self._files.info, self._name)) != self._state:
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
        return _Call(self.url, lambda: self._files.cat_file(self._name, at, end) if end > at else b"")

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
        self._window, self._begin = _asked(self.url, self._files.cat_file, self._name, 0, min(HEAD, self.size)), 0
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


def is_here_alone(url: str) -> bool:
    """Whether other processes do not see what is at a URL."""
    files, _ = _files(url)
    protocols = (files.protocol,) if isinstance(files.protocol, str) else files.protocol
    return bool(set(protocols) & set(_HERE_ALONE))


def size_of(url: str) -> int:
    """How many bytes are at a URL, as its server says. Raises InputError where it does not answer."""
    files, name = _files(url)
    return _state(_asked(url, files.info, name))[0]


def opened(url: str) -> IO[bytes] | RangedReader:
    """The bytes of a URL: of a large file in ranges, as they are asked for; of any other all of them."""
    files, name = _files(url)
    if not is_here_alone(url):
        info = _asked(url, files.info, name)
        if (info.get("size") or 0) > LARGE and info.get("partial", True):
            file = RemoteFile(url, _state(info))
            if file.knows_ranges:
                return RangedReader(file)
    return fetched(url)


def fetched(url: str) -> IO[bytes]:
    """The bytes of a URL, all of them, in memory or in a temporary file. Raises OSError of that file alone."""
    from tempfile import SpooledTemporaryFile  # few evaluations read a URL

    files, name = _files(url)
    before = _state(_asked(url, files.info, name))
    file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - it is read later
    try:
        with _asked(url, files.open, name, "rb", block_size=WINDOW) as remote:
            while piece := _asked(url, remote.read, WINDOW):
                file.write(piece)
        files.invalidate_cache(name)
        if _state(_asked(url, files.info, name)) != before:
            raise changed(url_place(url))
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def matching(url: str) -> list[str]:
    """The URLs that a pattern, or a folder that ends with /, names; sorted. Hidden ones are none of a folder's."""
    pattern = f"{url}[!.]*" if url.endswith("/") else url
    files, path = _files(pattern)
    found = _asked(url, files.glob, path, detail=True)
    before = pattern.removesuffix(path) if pattern.endswith(path) else None
    return [
        files.unstrip_protocol(name) if before is None else f"{before}{name}"
        for name in sorted(found)
        if found[name]["type"] == "file"
    ]
