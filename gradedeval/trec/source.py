"""Where bytes come from: a path, standard input or an open file; compressed or not, by content."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from typing import IO, Any, TypeGuard

from gradedeval.errors import InputError, reason

SLICE = 1 << 16
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


def is_path(source: Any) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this names a file, or standard input."""
    return isinstance(source, str | os.PathLike)


def is_file(source: Any) -> bool:
    """Whether this is a path or an open file, and no DataFrame or dict."""
    return is_path(source) or (hasattr(source, "read") and not hasattr(source, "columns"))


@dataclass(frozen=True)
class Source:
    """A named place to read from: `target` is a path, `-` for standard input, or an open file."""

    target: str | os.PathLike[str] | IO[Any]

    @property
    def place(self) -> str:
        """What messages call it."""
        if isinstance(self.target, str | os.PathLike):
            return "<stdin>" if os.fspath(self.target) == "-" else os.fspath(self.target)
        return str(getattr(self.target, "name", "<file>"))

    @property
    def size(self) -> int | None:
        """Bytes of the file, as it is stored; None of what is no file on disk."""
        try:
            return os.path.getsize(self.target) if is_path(self.target) and not self.is_read_once else None
        except OSError:
            return None

    @property
    def is_read_once(self) -> bool:
        """Whether it is standard input, a pipe or an open file."""
        if not is_path(self.target):
            return True
        return os.fspath(self.target) == "-" or (os.path.exists(self.target) and not os.path.isfile(self.target))

    @property
    def is_packed(self) -> bool:
        """Whether a file is compressed. Raises InputError where it cannot be read."""
        if not is_path(self.target):
            return False
        with file_errors(self.place), open(self.target, "rb") as file:
            return opener(file.read(8), self.place) is not None

    def read(self) -> bytes:
        """All of it, unpacked. Raises InputError where it cannot be read."""
        return unpack(self.packed(), self.place)

    def packed(self) -> bytes:
        """All of it, as it is stored. Raises InputError where it cannot be read."""
        with file_errors(self.place):
            if not isinstance(self.target, str | os.PathLike):
                content = self.target.read()
                return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else bytes(content)
            if os.fspath(self.target) == "-":
                return standard_input(self.place).read()
            with open(self.target, "rb") as file:
                return file.read()


def standard_input(place: str) -> IO[bytes]:
    """The bytes of standard input. Raises InputError where it is closed."""
    if sys.stdin is None:
        raise InputError(place, "is closed", "name a file")
    return sys.stdin.buffer


@contextmanager
def file_errors(place: str) -> Iterator[None]:
    """What the operating system says of a file, as InputError."""
    try:
        yield
    except IsADirectoryError:
        raise InputError(place, "is a directory", "name a file") from None
    except FileNotFoundError:
        raise InputError(place, "no such file", "check the path") from None
    except PermissionError:
        raise InputError(place, "may not be read", "check its permissions") from None
    except UnicodeDecodeError as error:
        raise InputError(place, f"is not text ({error.reason})", "open it in binary mode: open(path, 'rb')") from None
    except InputError:
        raise
    except (OSError, ValueError) as error:  # a file that is closed is a wrong value
        raise InputError(place, f"cannot be read ({reason(error)})", "check the file") from None


@contextmanager
def temporary_file_errors() -> Iterator[None]:
    """What the operating system says of a temporary file, as InputError."""
    try:
        yield
    except OSError as error:
        what = f"cannot be written ({reason(error)})"
        raise InputError("temporary file", what, "TMPDIR names a folder with more space") from None


def without_suffix(path: str) -> str:
    """The file's name without a compression suffix: what the run is called."""
    for suffix in COMPRESSED:
        if path.endswith(suffix) and path != suffix:
            return path[: -len(suffix)]
    return path


def opener(head: bytes, place: str) -> Callable[[], Any] | None:
    """What unpacks a file that begins with these bytes, one compressed stream at a time; None where it is plain."""
    openers: dict[bytes, Callable[[], Any]] = {
        b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
        b"BZh": lambda: _library("bz2", place).BZ2Decompressor(),
        b"\xfd7zXZ\x00": lambda: _xz(place),
        b"\x28\xb5\x2f\xfd": lambda: _zstd(place),
    }
    if head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F:  # zstd may begin with a frame that holds no text
        return lambda: _zstd(place)
    return next((found for magic, found in openers.items() if head.startswith(magic)), None)


def unpacked(read: Callable[[int], bytes], opened: Callable[[], Any]) -> Iterator[bytes]:
    """The unpacked bytes of what `read` gives, piece by piece. Raises what the libraries raise where it is broken."""
    piece = read(SLICE)
    while piece:
        piece = piece.lstrip(b"\x00")  # zeros may pad the end of a tape block
        if not piece:
            piece = read(SLICE)
            continue
        stream = opened()
        while not stream.eof:
            piece = piece or read(SLICE)
            if not piece:
                raise EOFError("it ends early")
            # In slices, for a stream keeps a copy of all that follows its end.
            yield stream.decompress(piece)
            piece = stream.unused_data if stream.eof else b""
        # One compressed stream may follow another: what `cat a.gz b.gz` gives is legal.
        while len(piece) < SLICE and (more := read(SLICE - len(piece))):
            piece += more


def unpack(packed: bytes, place: str) -> bytes:
    """The bytes that packed ones hold, by content. Raises InputError where they are broken."""
    opened = opener(packed[:8], place)
    if opened is None:
        return packed
    try:
        return b"".join(unpacked(BytesIO(packed).read, opened))
    except (EOFError, OSError, zlib.error) as error:
        raise InputError(place, f"broken compressed data ({error})", "copy or compress the file again") from None


def _library(name: str, place: str) -> Any:
    """A library of compression: not before it is wanted, for runs are mostly plain; and not every Python has it."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(place, f"is packed, and this Python lacks {name}", "unpack it first") from None


def _xz(place: str) -> Any:
    lzma = _library("lzma", place)
    return _Library(lzma.LZMADecompressor(), lzma.LZMAError)


def _zstd(place: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise InputError(place, "is compressed with zstd", "pip install 'gradedeval[zstd]'") from None
    return _Library(zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError)


@dataclass
class _Library:
    """A library's decompressor whose own errors are OSErrors, as bz2's are."""

    stream: Any
    error: type[Exception]

    def decompress(self, packed: bytes) -> bytes:
        try:
            content: bytes = self.stream.decompress(packed)
        except self.error as error:
            raise OSError(str(error)) from None
        return content

    @property
    def eof(self) -> bool:
        return bool(self.stream.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self.stream.unused_data)
