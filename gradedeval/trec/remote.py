"""Files that a URL names, as s3://bucket/run.txt: opened, listed, written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import IO, Any

from gradedeval.errors import InputError, url_place
from gradedeval.trec.remote_file import WINDOW, RangedReader, RemoteFile, asked, asked_to_write, file_system, state_of

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
        for piece in _in_turn(url) if info["size"] is None or protocols & _STREAMS else far.windows():
            file.write(piece)
        far.check()
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file


def _in_turn(url: str) -> Iterator[bytes]:
    """The bytes of a file by one request, for servers that may know no ranges."""
    files, name = file_system(url)
    with asked(url, files.open, name, "rb", block_size=0) as remote:
        while piece := asked(url, _next_window, remote):
            yield piece


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
        raise error.replace(hint=f"nothing was written; {error.hint}") from None


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
        return error.problem
    return ""
