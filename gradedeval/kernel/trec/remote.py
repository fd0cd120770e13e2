"""Read URLs such as s3://bucket/run.txt through fsspec, and list patterns of them."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from threading import Event, Thread
from typing import IO, Any

from gradedeval.errors import InputError, reason, redacted, url_place
from gradedeval.kernel.trec.decompression import limit_of

# Errors of a URL in one line: the libraries behind fsspec have many messages for them, but few classes.

_STATUS = ("status", "status_code", "code")
"""Attributes that hold the HTTP status of an error."""

_DENIED = ("forbidden", "unauthorized", "authentication", "credential")
_UNREACHED = ("connect", "nameresolution", "gaierror")
_CUT_OFF = ("payload", "contentlength", "incompleteread")
"""Parts of names of error classes, in lower case."""


def fault(url: str, error: Exception) -> InputError:
    """Return the error of a library as an InputError about the URL."""
    place, causes = url_place(url), list(_causes(error))
    first = reason(causes[-1]).strip().partition("\n")[0]  # the whole response of the server may follow
    why = redacted(" ".join(first.split())).rstrip(".!")
    kinds = " ".join(type(cause).__name__ for cause in causes).lower()
    if (input_error := next((cause for cause in causes if isinstance(cause, InputError)), None)) is not None:
        return input_error.replace(place=place)
    if isinstance(error, ImportError):
        hint = "pip install 'gradedeval[remote]' and the fsspec package of the storage, such as s3fs"
        return InputError(place, f"needs a package that is not installed ({why})", hint)
    if "redirect" in kinds:
        destination = "too often" if "toomany" in kinds else "to a URL that is neither http nor https"
        return InputError(place, f"the server redirects {destination}", "name the file itself")
    if any(word in kinds for word in _CUT_OFF):
        return InputError(place, "the connection ended before the whole file arrived", "try again")
    if isinstance(error, IsADirectoryError):
        return InputError(place, "is a folder", "add / for the files in it")
    status = next((str(getattr(cause, name)) for cause in causes for name in _STATUS if hasattr(cause, name)), "")
    if isinstance(error, PermissionError) or status in ("401", "403") or any(word in kinds for word in _DENIED):
        return InputError(place, f"permission denied ({why})", "check the credentials, and what they allow")
    if "timeout" in kinds:
        return InputError(place, f"the server does not answer ({why})", "try again later")
    if any(word in kinds for word in _UNREACHED):
        return InputError(place, f"cannot be reached ({why})", "check the address, and whether the server runs")
    if status.startswith("5"):  # fsspec raises FileNotFoundError for any other response
        return InputError(place, f"the server fails ({why})", "try again later")
    if isinstance(error, FileNotFoundError):
        return InputError(place, "no such file", "check the URL")
    return InputError(place, f"cannot be opened ({why})", "check the URL")


def _causes(error: Exception) -> Iterator[Exception]:
    """Yield an error and its causes."""
    cause: BaseException | None = error
    while isinstance(cause, Exception):
        yield cause
        cause = cause.__cause__


# Requests through fsspec, with a time limit.
#
# GRADEDEVAL_TIMEOUT limits a whole request, or a window of bytes of a longer response: otherwise a server that sends a
# byte now and then could keep it waiting forever. Credentials in a URL are passed to fsspec only, never to messages.

WINDOW = 1 << 22
"""Bytes to receive within a time limit."""

IN_MEMORY = 1 << 23
"""Maximum bytes kept in memory; more go to a temporary file."""

TIMEOUT, SECONDS = "GRADEDEVAL_TIMEOUT", 60.0
"""The variable for the maximum seconds of a request or a window of bytes, and its default."""

MOST, MOST_BYTES = "GRADEDEVAL_MAX_DOWNLOAD", 10_000_000_000
"""The variable for the maximum bytes of a file whose size the server does not report, and its default."""

_MARKS = ("ETag", "etag", "blob_id", "mtime", "LastModified", "Last-Modified", "last_modified", "updated", "created")
"""Keys of file systems for the version of a file; the first one present counts."""


def timed_call(url: str, call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Return the result of a call to fsspec, made in its own thread, which is abandoned on timeout. Raises InputError
    if the call fails or takes too long."""
    answer: list[Any] = []
    errors: list[BaseException] = []
    done = Event()

    def run() -> None:
        try:
            answer.append(call(*arguments, **keywords))
        except BaseException as error:
            errors.append(error)
        done.set()

    try:
        Thread(target=run, name="request", daemon=True).start()
    except RuntimeError:  # a limit of processes: then wait without a time limit
        run()
    if not done.wait(seconds := _seconds()):
        hint = f"try again, or wait longer, as with {TIMEOUT}=300"
        raise InputError(url_place(url), f"no complete response within {seconds:g} seconds", hint)
    if errors and isinstance(errors[0], Exception):
        raise fault(url, errors[0]) from None
    if errors:
        raise errors[0]
    return answer[0]


def _seconds() -> float:
    text = os.environ.get(TIMEOUT) or SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise InputError(TIMEOUT, f"'{text}' is not a number of seconds above 0", f"as in {TIMEOUT}=60", usage=True)
    return seconds


def file_system(url: str) -> tuple[Any, str]:
    """Return the cached file system of a URL, and the path there; all access goes through here. Raises InputError for a
    URL that is not allowed."""
    check_url(url)
    try:
        to_fs = import_module("fsspec").core.url_to_fs
    except ImportError as error:
        raise fault(url, error) from None
    options = {"get_client": Client.of(url)} if _is_web(url) else {}
    result: tuple[Any, str] = timed_call(url, to_fs, url, **options)
    return result


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _state(url: str) -> tuple[int | None, str]:
    """Return the size of a file, if its server reports it, and a mark of its version. Raises InputError for a
    folder."""
    files, name = file_system(url)
    files.invalidate_cache(name)
    info = timed_call(url, files.info, name)
    if info.get("type") == "directory":
        raise InputError(url_place(url), "is a folder", "add / for the files in it")
    return info.get("size"), str(next((info[mark] for mark in _MARKS if info.get(mark) is not None), ""))


def download(url: str) -> IO[bytes]:
    """Return all bytes of a URL, in memory or in a temporary file. Raises InputError if it cannot be read, and OSError
    only for the temporary file."""
    from tempfile import SpooledTemporaryFile  # few evaluations read a URL

    state, file = _state(url), SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - it is read later
    try:
        for piece in _pieces(url, state[0]):
            file.write(piece)
        if _state(url) != state or (state[0] is not None and file.tell() != state[0]):
            raise InputError(url_place(url), "has changed while it was read", "evaluate it when it is complete")
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _pieces(url: str, size: int | None) -> Iterator[bytes]:
    """Yield the bytes of a file: at most the `size` reported by the server, or else the user's limit."""
    files, name = file_system(url)
    most, received = limit_of(MOST, MOST_BYTES, "a number of bytes") if size is None else size, 0
    block = 0 if _is_web(url) else WINDOW  # 0: a single request, for web servers without ranges
    with timed_call(url, files.open, name, "rb", block_size=block) as remote:
        while piece := timed_call(url, _next_window, remote):
            received += len(piece)
            if received > most and size is not None:
                problem = f"the server sends more than the {size:,} bytes it announced"
                raise InputError(url_place(url), problem, "try again")
            if received > most:
                problem = f"the server does not report the size of the file, and sends more than {most:,} bytes"
                raise InputError(url_place(url), problem, f"if it is trusted, allow more, as with {MOST}={10 * most}")
            yield piece


def _next_window(remote: Any) -> bytes:
    """Return the next WINDOW bytes, however few the server sends at a time: the time limit applies to all of them."""
    data = bytearray()
    while len(data) < WINDOW and (chunk := remote.read(WINDOW - len(data))):
        data += chunk
    return bytes(data)


_LISTED: set[str] = set()
"""URLs listed by a pattern or a folder."""


def is_pattern(url: str) -> bool:
    """Return whether a URL means all files in a folder or matching a pattern. A listed URL is a file, whatever its
    name."""
    return url not in _LISTED and (url.endswith("/") or bool(set(url) & set("*[")))  # ? begins a query


def expand_pattern(url: str) -> list[str]:
    """Return the sorted URLs that match a pattern, or in a folder that ends with /, without hidden files."""
    if url.endswith("://"):
        return []
    pattern = f"{url}[!.]*" if url.endswith("/") else url
    files, path = file_system(pattern)
    entries = timed_call(url, files.glob, path, detail=True)
    prefix = pattern.removesuffix(path) if pattern.endswith(path) else None
    urls = [
        files.unstrip_protocol(name) if prefix is None else f"{prefix}{name}"
        for name in sorted(entries)
        if entries[name]["type"] == "file"
    ]
    _LISTED.update(urls)
    return urls


# Requests to web servers, without credentials after redirects to other servers.

_OF_ANY_REQUEST = {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "range",
                   "transfer-encoding", "user-agent"}  # fmt: skip
"""Headers without information about the user."""


@dataclass(frozen=True)
class Client:
    """Creates the fsspec session for a server. On redirects to another server no password, token or cookie is sent
    there, neither from the URL nor from the settings of fsspec.

    origin  protocol, host and port of the server, as `https://host`; fsspec keeps one session for each
    """

    origin: str

    @classmethod
    def of(cls, url: str) -> Client:
        return cls(str(import_module("yarl").URL(url).origin()))

    async def __call__(self, **settings: Any) -> Any:
        aiohttp = import_module("aiohttp")
        middlewares = (*settings.pop("middlewares", ()), self._elsewhere)
        settings.setdefault("connector", aiohttp.TCPConnector(socket_factory=_Sockets().make))
        timeout = settings.pop("timeout", aiohttp.ClientTimeout(total=None))  # `timed_call` limits the time
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
            if refused:  # aiohttp raises another error if it tried more than one address
                raise refused[0] from None
            raise
        finally:
            _REFUSED.reset(token)


_REFUSED: ContextVar[list[InputError] | None] = ContextVar("refused", default=None)
"""Collects the errors of addresses during a redirected request; None during any other request."""


class _Sockets:
    """Creates the sockets of a session: none to this machine or its network after a redirect from an outside server.

    It checks the addresses actually connected to, so a name cannot change its meaning in between.
    """

    def __init__(self) -> None:
        self._starts_inside = False  # the user's URL, or the proxy, is on this machine or network

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
    """Return whether an IP address is outside the public network: loopback, private, link-local and similar."""
    from ipaddress import ip_address

    host = ip_address(address.partition("%")[0])
    return not (getattr(host, "ipv4_mapped", None) or host).is_global


# Allowed URLs.
#
# A URL may be untrusted, copied from a list or a command line. fsspec has protocols that unpack other URLs, log in to
# other machines, or interpret a file as instructions. So only named protocols that transfer bytes are allowed, one at a
# time, whatever else is installed or configured.

PROTOCOLS = ("file", "memory", "http", "https", "s3", "gs", "az", "abfs", "hf")
"""Allowed protocols."""


def check_url(url: str) -> None:
    """Raise InputError (usage) for a URL with a forbidden protocol, or a chain of URLs."""
    protocol = url.partition("://")[0]
    if "::" in url:
        problem, hint = "chains URLs by '::', which is not allowed", "copy the file, and name the copy"
    elif protocol not in PROTOCOLS:
        problem = f"uses the protocol '{protocol}', which is not allowed"
        hint = f"allowed are {', '.join(PROTOCOLS[:-1])} and {PROTOCOLS[-1]}"
    else:
        return
    raise InputError(url_place(url), problem, hint, usage=True)
