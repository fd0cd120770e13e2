"""Files that a URL names, as s3://bucket/run.txt: opened, listed, written."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from io import RawIOBase
from threading import Event, Thread
from typing import IO, Any

from gradedeval.errors import InputError, reason, redacted, url_place

# What is wrong with a URL, in one line: the libraries behind fsspec have many words for it, and few classes.


EXTRAS = {"s3": "s3", "gs": "gs", "az": "az", "abfs": "az", "hf": "hf", "http": "remote", "https": "remote"}
"""Protocol -> the extra that installs what opens it."""

_CREDENTIALS = {
    "s3": "AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    "hf": "HF_TOKEN",
}
"""Extra -> where its library looks for credentials."""

_STATUS = ("status", "status_code", "code")
"""What errors call the status of HTTP."""

_DENIED = ("forbidden", "unauthorized", "authentication")
_UNREACHED = ("connect", "nameresolution", "gaierror")
_CHANGED = ("fileexpired", "preconditionfailed")
_CUT_OFF = ("payload", "contentlength", "incompleteread")
"""Words in the names of errors, small."""


def fault(url: str, error: Exception, purpose: str = "opened") -> InputError:
    """The error of a library as ours. `purpose`: what the URL was to be, `opened` or `written`."""
    place, extra = url_place(url), EXTRAS.get(url.partition("://")[0], "")
    causes = list(_causes(error))
    first = reason(causes[-1]).strip().partition("\n")[0]  # the whole answer of the server may follow
    why = redacted(" ".join(first.split())).rstrip(".!")
    kinds = " ".join(type(cause).__name__ for cause in causes).lower()
    if (refused := next((cause for cause in causes if isinstance(cause, InputError)), None)) is not None:
        return refused.replace(place=place)
    if isinstance(error, ImportError):
        needed = f"pip install 'gradedeval[{extra}]'" if extra else str(error)
        return InputError(place, "needs a package that is not installed", needed)
    if any(word in kinds for word in _CHANGED):
        return changed(place)
    if "redirect" in kinds:
        what = "too often" if "toomany" in kinds else "to what is neither http nor https"
        return InputError(place, f"the server redirects {what}", "name the file itself")
    if any(word in kinds for word in _CUT_OFF):
        return InputError(place, "the connection ended before all of the file had come", "try again")
    if isinstance(error, IsADirectoryError):
        return InputError(place, "is a folder", "add / for the files in it")
    status = next((str(getattr(cause, name)) for cause in causes for name in _STATUS if hasattr(cause, name)), "")
    unset = "credential" in kinds or (isinstance(error, ValueError) and "credential" in why)
    if isinstance(error, PermissionError) or status in ("401", "403") or unset or any(one in kinds for one in _DENIED):
        keys = _CREDENTIALS.get(extra, "the credentials")
        hint = f"set {keys}" if unset else f"check {keys}, and what they allow"
        return InputError(place, f"permission denied ({why})", hint)
    if "timeout" in kinds:
        return InputError(place, f"the server does not answer ({why})", "try again later")
    if any(word in kinds for word in _UNREACHED):
        return InputError(place, f"cannot be reached ({why})", "check the address, and whether the server runs")
    if status.startswith("5"):  # fsspec says of any answer but the file that there is none
        return InputError(place, f"the server fails ({why})", "try again later")
    if isinstance(error, FileNotFoundError):
        what = "bucket" if "bucket does not exist" in str(error) else "file"
        return InputError(place, f"no such {what}", "check the URL")
    return InputError(place, f"cannot be {purpose} ({why})", "check the URL")


def changed(place: str) -> InputError:
    """A file is not the one any more that was opened."""
    return InputError(place, "has changed while it was read", "evaluate it when it is complete")


def timed_out(place: str, seconds: float, variable: str) -> InputError:
    """A storage took too long for one request."""
    return InputError(
        place, f"no complete response within {seconds:g} seconds", f"try again, or wait longer, as with {variable}=300"
    )


def _causes(error: Exception) -> Iterator[Exception]:
    """An error, and those that libraries say led to it."""
    cause: BaseException | None = error
    while isinstance(cause, Exception):
        yield cause
        cause = cause.__cause__


# A file that a URL names, read through fsspec in ranges, and asked for with patience that ends.
#
# Each of the libraries behind fsspec fails in its own way, and only here: a fault becomes one line. GRADEDEVAL_TIMEOUT
# limits a request as a whole, and a window of bytes where a request brings more: a server that sends a byte now and
# then answers, but would be waited for without end. What a URL says of a user is for fsspec alone, and in no message.


WINDOW = 1 << 22
"""Bytes of one request. The next window is asked for while this one is worked on."""

HEAD = 1 << 16
"""Bytes of the first request, which tell the format of a file."""

TIMEOUT, SECONDS = "GRADEDEVAL_TIMEOUT", 60.0
"""The variable that says how many seconds a storage may take for a request or a window of bytes, and how many they are
without it."""

MOST, MOST_BYTES = "GRADEDEVAL_MAX_DOWNLOAD", 10_000_000_000
"""The variable that limits the bytes of a file whose server does not say how many there are, and the limit without
it."""

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


IN_MEMORY = 1 << 23
"""Bytes that are kept in memory; more go to a temporary file."""

LARGE = 1 << 25
"""Bytes of a file that is read in ranges, and not fetched before."""

LISTED: dict[str, int] = {}
"""The bytes of URLs that a pattern or a folder named, as its listing said."""

_HERE_ALONE, _STREAMS = {"memory"}, {"http", "https"}
"""File systems that other processes do not see, and those whose servers may give a file as a whole alone."""


def opened(url: str) -> IO[bytes] | RangedReader:
    """The bytes of a URL: of a large file in ranges, as they are asked for; of any other all of them."""
    info, protocols = _described(url)
    if (info["size"] or 0) > LARGE and info.get("partial", True) and not protocols & _HERE_ALONE:
        file = RemoteFile(url, state_of(info))
        if file.knows_ranges:
            return RangedReader(file)
    return _kept(url, info, protocols)


def is_here_alone(url: str) -> bool:
    """Whether other processes do not see what is at a URL."""
    files, _ = file_system(url)
    return bool(_protocols(files) & _HERE_ALONE)


def fetched(url: str) -> IO[bytes]:
    """The bytes of a URL, all of them, in memory or in a temporary file. Raises OSError of that file alone."""
    return _kept(url, *_described(url))


def _described(url: str) -> tuple[dict[str, Any], set[str]]:
    """What its server says of a file, and the names of its protocol. Raises InputError where it is none."""
    files, name = file_system(url)
    info = asked(url, files.info, name)
    if info.get("type") == "directory":
        raise InputError(url_place(url), "is a folder", "add / for the files in it")
    return {"size": None, **info}, _protocols(files)


def _protocols(files: Any) -> set[str]:
    return {files.protocol} if isinstance(files.protocol, str) else set(files.protocol)


def _kept(url: str, info: dict[str, Any], protocols: set[str]) -> IO[bytes]:
    from tempfile import SpooledTemporaryFile  # few evaluations read a URL

    file, far = SpooledTemporaryFile(IN_MEMORY), RemoteFile(url, state_of(info))  # noqa: SIM115 - it is read later
    try:
        for piece in _in_turn(url, info["size"]) if info["size"] is None or protocols & _STREAMS else far.windows():
            file.write(piece)
        far.check()
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _in_turn(url: str, size: int | None) -> Iterator[bytes]:
    """The bytes of a file by one request, for servers that may know no ranges; no more than the `size` that the server
    says, and, if it says none, no more than the user allows."""
    files, name = file_system(url)
    most, received = _most_bytes() if size is None else size, 0
    with asked(url, files.open, name, "rb", block_size=0) as remote:
        while piece := asked(url, _next_window, remote):
            received += len(piece)
            if received > most and size is not None:
                raise InputError(
                    url_place(url), f"the server sends more than the {size:,} bytes it announced", "try again"
                )
            if received > most:
                problem = f"the server does not say how large the file is, and sends more than {most:,} bytes"
                raise InputError(url_place(url), problem, f"if that is right, allow more, as with {MOST}={10 * most}")
            yield piece


def _most_bytes() -> int:
    text = os.environ.get(MOST) or str(MOST_BYTES)
    if not re.fullmatch("[0-9]{1,18}", text):
        raise InputError(MOST, f"'{text}' is not a number of bytes", f"as in {MOST}={MOST_BYTES}", usage=True)
    return int(text)


def _next_window(remote: Any) -> bytes:
    """The next bytes, as many as one request gives elsewhere, however few the server sends at a time: the time limit is
    for all of them."""
    got = bytearray()
    while len(got) < WINDOW and (some := remote.read(WINDOW - len(got))):
        got += some
    return bytes(got)


def size_of(url: str) -> int | None:
    """How many bytes a URL has, where its server says so, or said so when its folder was listed."""
    if url in LISTED:
        return LISTED[url]
    files, name = file_system(url)
    size: int | None = asked(url, files.info, name).get("size")
    return size


def modified(url: str) -> datetime | None:
    """When a URL was written, where its server says so."""
    files, name = file_system(url)
    try:
        time: datetime = asked(url, files.modified, name)
    except InputError:  # most file systems know none
        return None
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def stored(url: str, content: bytes) -> None:
    """Write a file that a URL names: storages of objects take all of it or nothing."""
    if url.endswith("/"):
        raise InputError(url_place(url), "is a folder", "name a file in it")
    files, name = file_system(url)
    try:
        asked_to_write(url, files.pipe_file, name, content)
    except InputError as error:
        raise error.replace(hint=f"nothing was written; {error.said[1]}") from None


def appended(url: str, lines: Iterable[str]) -> None:
    """Write lines at the end of a file that a URL names: all of it anew, for storages of objects append nothing."""
    files, name = file_system(url)
    before = b""
    if asked(url, files.exists, name):
        with fetched(url) as file:
            before = file.read()
        before += b"" if before.endswith(b"\n") or not before else b"\n"
    stored(url, before + "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))


def is_pattern(url: str) -> bool:
    """Whether a URL means all files in a folder, or that match. What a listing named is a file, whatever is in it."""
    return url not in LISTED and (url.endswith("/") or bool(set(url) & set("*[")))  # ? begins the query of a URL


def matching(url: str) -> list[str]:
    """The URLs that a pattern, or a folder that ends with /, names; sorted. Hidden ones are none of a folder's."""
    if url.endswith("://"):
        return []
    pattern = f"{url}[!.]*" if url.endswith("/") else url
    files, path = file_system(pattern)
    found = asked(url, files.glob, path, detail=True)
    if not found and "bucket" in (missing := _missing(url, files, path)):
        raise InputError(url_place(url), missing, "check the URL")
    before = pattern.removesuffix(path) if pattern.endswith(path) else None
    sizes = {
        files.unstrip_protocol(name) if before is None else f"{before}{name}": found[name].get("size")
        for name in sorted(found)
        if found[name]["type"] == "file"
    }
    LISTED.update({one: size for one, size in sizes.items() if size is not None})
    return list(sizes)


def _missing(url: str, files: Any, pattern: str) -> str:
    """Why a pattern names nothing, where that is known."""
    try:
        asked(url, files.ls, pattern.partition("*")[0].rpartition("/")[0])
    except InputError as error:
        return error.said[0]
    return ""


# Requests to web servers: what they carry where a server sends them elsewhere.


_OF_ANY_REQUEST = {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "range",
                   "transfer-encoding", "user-agent"}  # fmt: skip
"""Headers that say nothing of a user."""


@dataclass(frozen=True)
class Client:
    """Makes the session in which fsspec asks a server. Where that redirects to another one, no password, token or
    cookie goes there, be it from the URL or from fsspec's settings.

    origin  protocol, host and port of the server, as `https://host`; fsspec keeps a session for each
    """

    origin: str

    @classmethod
    def of(cls, url: str) -> Client:
        return cls(str(import_module("yarl").URL(url).origin()))

    async def __call__(self, **settings: Any) -> Any:
        aiohttp = import_module("aiohttp")
        middlewares = (*settings.pop("middlewares", ()), self._elsewhere)
        settings.setdefault("connector", aiohttp.TCPConnector(socket_factory=_Sockets().make))
        timeout = settings.pop("timeout", aiohttp.ClientTimeout(total=None))  # `remote_file` ends what takes too long
        return aiohttp.ClientSession(**settings, timeout=timeout, middlewares=middlewares)

    async def _elsewhere(self, request: Any, send: Any) -> Any:
        is_elsewhere = str(request.url.origin()) != self.origin
        if is_elsewhere:
            for name in {name for name in request.headers if name.lower() not in _OF_ANY_REQUEST}:
                request.headers.popall(name)
        refused: list[InputError] = []
        token = _REFUSED.set(refused if is_elsewhere else None)
        try:
            return await send(request)
        except Exception:
            if refused:  # aiohttp has another error if it tried several addresses
                raise refused[0] from None
            raise
        finally:
            _REFUSED.reset(token)


_REFUSED: ContextVar[list[InputError] | None] = ContextVar("refused", default=None)
"""Takes the errors of addresses, for a request that goes where a server redirects; None for any other request."""


class _Sockets:
    """Makes the sockets of a session: none to this machine or its network where a server outside redirects there.

    The addresses are those to which a socket connects, whatever a name meant a moment before.
    """

    def __init__(self) -> None:
        self._starts_inside = False  # whether the URL of the user, or the proxy, is of this machine or network

    def make(self, address: Any) -> socket.socket:
        family, kind, protocol, _, (host, *_) = address
        if (refused := _REFUSED.get()) is None:
            self._starts_inside |= is_inside(host)
        elif is_inside(host) and not self._starts_inside:
            problem = f"the server redirects to {host}, an address of this machine or network"
            refused.append(InputError("URL", problem, "if that is meant, name the file there itself"))
            raise OSError(problem)
        return socket.socket(family, kind, protocol)


def is_inside(address: str) -> bool:
    """Return whether an IP address is not one of the public network: loopback, private, link-local and the like."""
    from ipaddress import ip_address

    host = ip_address(address.partition("%")[0])
    return not (getattr(host, "ipv4_mapped", None) or host).is_global


# Which URLs are read and written, and which of them lie at the same place.
#
# A URL may be a stranger's: it stands in a list, or in a line that somebody copied. fsspec knows protocols that unpack
# what another URL names, log in to other machines, or take a file for instructions. So those that only transfer bytes
# are allowed, by name and one at a time, whatever is installed or configured beside them.


PROTOCOLS = ("file", "memory", "http", "https", "s3", "gs", "az", "abfs", "hf")
"""What a URL that is read or written may begin with."""


_WITHOUT_HOST = ("file", "memory")


_REPOSITORIES = ("datasets", "spaces", "buckets")
"""How a repository of hf begins that is not a model's."""


_HOST = r"(?:[^\s\\@]*@)?(?P<host>[\w.-]+(?::\d+)?)"


_BUCKET = r"(?P<host>[\w.-]+(?:@[\w.-]+)?)"
"""What stands behind :// where every library understands the same by it."""


def check_url(url: str) -> None:
    """Raise InputError (usage) for a URL of a protocol that is not allowed, and for a chain of several."""
    protocol = url.partition("://")[0]
    if "::" in url:
        what, hint = "joins several URLs by '::', which is not allowed", "copy the file, and name the copy"
    elif protocol not in PROTOCOLS:
        what = f"has the protocol '{protocol}', which is not allowed"
        hint = f"allowed are {', '.join(PROTOCOLS[:-1])} and {PROTOCOLS[-1]}"
    else:
        return
    raise InputError(url_place(url), what, hint, usage=True)


def storage_of(url: str) -> str | None:
    """The protocol and the host, bucket or repository of a URL, as `https://host/`; None where libraries may differ."""
    protocol, _, rest = url.partition("://")
    if protocol in _WITHOUT_HOST:
        return f"{protocol}://"
    if protocol == "hf":
        parts = rest.split("/")
        parts = parts[: 3 if parts[0] in _REPOSITORIES else 2]
        return f"hf://{'/'.join([*parts[:-1], parts[-1].partition('@')[0]])}/"
    is_web = protocol in ("http", "https")
    found = re.fullmatch(_HOST if is_web else _BUCKET, re.split("[/?#]", rest, maxsplit=1)[0])
    if found is None:
        return None
    return f"{protocol}://{found['host'].lower() if is_web else found['host']}/"


def check_listed(word: str, source: str) -> None:
    """Raise InputError where a line of a list that came from a URL, `source`, names a file here, or one of another
    protocol, host or bucket: whoever wrote the list would choose what is read with the rights of this user."""
    there = storage_of(source)
    if "://" not in word or os.path.exists(word):
        what = "is not a URL"
    elif there is None or storage_of(word) != there or ".." in word.split("/"):
        what = "lies elsewhere than the list"
    else:
        return
    where = there or "its own storage"
    raise InputError(url_place(word), what, f"a list from a URL may name URLs of {where} alone; copy it to name others")
