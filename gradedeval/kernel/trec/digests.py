"""Digests of the inputs of an evaluation: SHA-256 and size of their bytes as stored, compressed if they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from hashlib import sha256
from threading import RLock
from typing import Any, NamedTuple

from gradedeval.errors import InputError
from gradedeval.kernel.trec.stream import Source, Stream, first_bytes, is_url, local_path

BEGINNING = 1 << 16
"""Decompressed bytes kept of an input that can be read only once."""

ONE_AT_A_TIME = RLock()
"""Held by an evaluation whose inputs are digested: inputs are registered for the whole process."""


class Digest(NamedTuple):
    """The digest of an input.

    sha256     64 hexadecimal digits
    size       the number of stored bytes
    beginning  its first bytes, decompressed; empty for a file, which can be read again
    """

    sha256: str
    size: int
    beginning: bytes = b""

    @property
    def described(self) -> dict[str, str | int]:
        """The digest and the size, for JSON."""
        return {"sha256": self.sha256, "size": self.size}


class InputDigests(NamedTuple):
    """The digests of the qrels, None if they are not a file, and of runs by name."""

    qrels: Digest | None
    runs: Mapping[str, Digest]

    @property
    def described(self) -> dict[str, Any]:
        """The digests and sizes, for JSON."""
        qrels = None if self.qrels is None else self.qrels.described
        return {"qrels": qrels, "runs": {run: file.described for run, file in self.runs.items()}}


class InputsRead:
    """The inputs that an evaluation has opened, by path as given; `-` is standard input.

    Files on disk are digested when a digest is requested: workers read parts of them in any order. If one has changed
    since it was registered, that is an error. All others are digested when their stream is closed.
    """

    def __init__(self) -> None:
        self._states: dict[str, tuple[int, int, int] | None] = {}
        self._digests: dict[str, Digest] = {}

    @property
    def paths(self) -> list[str]:
        """The paths of all inputs, in the order in which they were opened."""
        return list(self._states)

    def will_read(self, path: str) -> None:
        """Register an input. Python names the file of a module by its absolute path: it is the input of that name."""
        if path not in self._states and path not in map(os.path.abspath, self._states):
            self._states[path] = _state(path)

    def keep(self, path: str, stream: Stream) -> None:
        """Digest an input that is not a file on disk, when its stream is about to be closed."""
        if path in self._digests or _state(path) is not None:
            return
        with suppress(InputError):  # the reader of the stream has raised it, too
            stream.again()
            beginning = stream.peek(BEGINNING)
            self._digests[path] = _digest(stream.stored(), beginning)

    def digest(self, path: str) -> Digest:
        """Return the digest of an input. Raises InputError if it cannot be read, or has changed."""
        if path not in self._digests:
            self._digests[path] = digest_of(path)
            registered = self._states.setdefault(path, _state(path))
            if registered != _state(path):
                raise InputError(path, "has changed while it was read", "evaluate it when it is complete")
        return self._digests[path]

    def beginning(self, path: str) -> bytes:
        """Return the first bytes of an input, decompressed."""
        return self.digest(path).beginning or first_bytes(Source(path), BEGINNING)

    def of(self, qrels: str, runs: Mapping[str, str]) -> InputDigests:
        """Return the digests of the qrels and of runs: name -> path."""
        return InputDigests(
            self.digest(qrels) if has_bytes(qrels) else None, {run: self.digest(path) for run, path in runs.items()}
        )


def has_bytes(path: str) -> bool:
    """Return whether this is a file, a URL or standard input, rather than the name of a collection."""
    return path == "-" or is_url(path) or os.path.exists(path)


def digest_of(path: str) -> Digest:
    """Return the digest of a file or URL. Raises InputError if it cannot be read."""
    with closing(Stream(Source(path), ahead=False)) as stream:
        return _digest(stream.stored())


def _digest(parts: Iterable[bytes], beginning: bytes = b"") -> Digest:
    digest, size = sha256(), 0
    for part in parts:
        digest.update(part)
        size += len(part)
    return Digest(digest.hexdigest(), size, beginning)


def _state(path: str) -> tuple[int, int, int] | None:
    """Return the file, size and time of a file on disk; None for standard input, a pipe, a URL or no file."""
    path = local_path(path)
    if path == "-" or is_url(path) or not os.path.isfile(path):
        return None
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns
