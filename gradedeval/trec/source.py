"""Where bytes come from: a path, standard input or an open file; compression is recognized by content."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from io import BytesIO
from typing import IO, Any, TypeGuard

from gradedeval.errors import InputError, reason, url_place

SLICE = 1 << 16
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4")


def is_path(source: Any) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this names a file, or standard input."""
    return isinstance(source, str | os.PathLike)


def is_file(source: Any) -> bool:
    """Whether this is a path or an open file, and no DataFrame or dict."""
    if is_path(source) or hasattr(source, "iloc"):  # pandas, which takes its time to say what it lacks
        return is_path(source)
    return hasattr(source, "read") and not hasattr(source, "columns")


@dataclass(frozen=True, eq=False, repr=False)
class PlacedPath(os.PathLike[str]):
    """A path that processes in other folders can open; `place` is what messages call it."""

    path: str
    place: str

    def __fspath__(self) -> str:
        return self.path


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """A named place to read from: `target` is a path, `-` for standard input, or an open file."""

    target: str | os.PathLike[str] | IO[Any]

    @property
    def place(self) -> str:
        """The name that messages use."""
        if isinstance(self.target, str | os.PathLike):
            path = os.fspath(self.target)
            place = str(getattr(self.target, "place", path))
            return "<stdin>" if path == "-" else url_place(place) if is_url(place) else place
        return str(getattr(self.target, "name", "<file>"))

    @property
    def size(self) -> int | None:
        """Bytes of the file, as it is stored; None of what has no size that is known."""
        if not is_path(self.target) or self.is_read_once:
            return None
        try:
            return _size_of_url(self.target) if is_url(self.target) else os.path.getsize(self.target)
        except (OSError, InputError):
            return None

    @property
    def modified(self) -> datetime | None:
        """When a file was written; None where that is not known."""
        if is_url(self.target):
            from gradedeval.trec.remote import modified  # few evaluations read one

            return modified(str(self.target))
        return datetime.fromtimestamp(os.path.getmtime(self.place), UTC)

    @property
    def is_read_once(self) -> bool:
        """Whether it is standard input, a pipe or an open file."""
        if not is_path(self.target):
            return True
        if is_url(self.target):
            return False
        return os.fspath(self.target) == "-" or (os.path.exists(self.target) and not os.path.isfile(self.target))

    def read(self) -> bytes:
        """All bytes, decompressed. Raises InputError where they cannot be read."""
        return decompress(self.stored(), self.place)

    def stored(self) -> bytes:
        """All bytes as they are stored. Raises InputError where they cannot be read."""
        with file_errors(self.place):
            if not isinstance(self.target, str | os.PathLike):
                content = self.target.read()
                return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else bytes(content)
            if os.fspath(self.target) == "-":
                return standard_input(self.place).read()
            if is_url(self.target):
                return remote(self.target).read()
            with open(self.target, "rb") as file:
                return file.read()


def is_url(target: Any) -> bool:
    """Whether this is a URL, as s3://bucket/run.txt."""
    return isinstance(target, str) and "://" in target and not os.path.exists(target)


def is_named(path: Any) -> bool:
    """Whether a file has this name; of a URL that is known where it is read."""
    return os.path.isfile(path) or is_url(path)


def extension_of(path: str | None) -> str:
    """The extension of a file name, in small letters: `.csv`."""
    name = os.fspath(path or "")
    return os.path.splitext(name.partition("?")[0] if is_url(name) else name)[1].lower()


def _size_of_url(url: Any) -> int | None:
    from gradedeval.trec.remote import size_of  # few evaluations read one

    return size_of(url)


def remote(url: Any) -> IO[bytes]:
    """The bytes of a URL. Raises InputError where it cannot be opened."""
    from gradedeval.trec.remote import fetched  # few evaluations read one

    with temporary_file_errors():
        return fetched(url)


def standard_input(place: str) -> IO[bytes]:
    """The bytes of standard input. Raises InputError where it is closed."""
    if sys.stdin is None:
        raise InputError(place, "is closed", "give a file")
    return sys.stdin.buffer


@contextmanager
def file_errors(place: str) -> Iterator[None]:
    """Errors of the operating system about a file, as InputError."""
    try:
        yield
    except IsADirectoryError:
        raise InputError(place, "is a directory", "give a file") from None
    except FileNotFoundError:
        raise InputError(place, "no such file", "check the path", kind="no-file") from None
    except PermissionError:
        raise InputError(place, "permission denied", "check the permissions of the file") from None
    except UnicodeDecodeError as error:
        raise InputError(place, f"is not text ({error.reason})", "open it in binary mode: open(path, 'rb')") from None
    except InputError:
        raise
    except (OSError, ValueError) as error:  # reading a closed file is a ValueError
        raise InputError(place, f"cannot be read ({reason(error)})", "check the file") from None


@contextmanager
def temporary_file_errors() -> Iterator[None]:
    """Errors of the operating system about a temporary file, as InputError."""
    try:
        yield
    except OSError as error:
        what = f"cannot be written ({reason(error)})"
        raise InputError("temporary file", what, "set TMPDIR to a folder with more space") from None


def without_suffix(path: str) -> str:
    """The path without a compression suffix."""
    for suffix in COMPRESSED:
        if path.endswith(suffix) and path != suffix:
            return path[: -len(suffix)]
    return path


def opener(head: bytes, place: str) -> Callable[[], Any] | None:
    """Makes a decompressor for one stream of a file that starts with these bytes; None if it is not compressed."""
    openers: dict[bytes, Callable[[], Any]] = {
        b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
        b"BZh": lambda: _library("bz2", place).BZ2Decompressor(),
        b"\xfd7zXZ\x00": lambda: _library("lzma", place).LZMADecompressor(),
        b"\x28\xb5\x2f\xfd": lambda: _zstd(place),
        b"\x04\x22\x4d\x18": lambda: _lz4(place),
    }
    if head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F:  # a zstd file may start with a skippable frame
        return lambda: _zstd(place)
    return next((make for magic, make in openers.items() if head.startswith(magic)), None)


def decompressed_pieces(read: Callable[[int], bytes], make: Callable[[], Any], place: str) -> Iterator[bytes]:
    """The decompressed bytes of what `read` returns, piece by piece. Raises InputError where they are broken."""
    try:
        yield from _decompressed(read, make)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # each library has its own
        if isinstance(error, OSError) and error.errno is not None:  # of `read`
            raise
        raise InputError(place, f"broken compressed data ({error})", "copy or compress the file again") from None


def _decompressed(read: Callable[[int], bytes], make: Callable[[], Any]) -> Iterator[bytes]:
    """The same with the errors of the libraries."""
    piece = read(SLICE)
    while piece:
        piece = piece.lstrip(b"\x00")  # zero padding after a stream, as on tapes
        if not piece:
            piece = read(SLICE)
            continue
        stream = make()
        while not stream.eof:
            piece = piece or read(SLICE)
            if not piece:
                raise EOFError("unexpected end of file")
            # In slices, because a decompressor keeps a copy of all that follows the end of its stream.
            yield stream.decompress(piece)
            piece = (stream.unused_data or b"") if stream.eof else b""
        # Several streams may follow each other: the output of `cat a.gz b.gz` is a valid file.
        while len(piece) < SLICE and (more := read(SLICE - len(piece))):
            piece += more


def decompress(data: bytes, place: str) -> bytes:
    """Bytes decompressed, if they are compressed. Raises InputError where they are broken."""
    make = opener(data[:8], place)
    return data if make is None else b"".join(decompressed_pieces(BytesIO(data).read, make, place))


def _library(name: str, place: str) -> Any:
    """A compression library, imported when a file needs it: most runs are plain, and not every Python has it."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(place, f"is compressed, and this Python has no {name}", "decompress the file first") from None


def _zstd(place: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise InputError(place, "is compressed with zstd", "pip install 'gradedeval[zstd]'") from None
    return zstandard.ZstdDecompressor().decompressobj()


def _lz4(place: str) -> Any:
    try:
        import lz4.frame
    except ImportError:
        raise InputError(place, "is compressed with lz4", "pip install lz4") from None
    return lz4.frame.LZ4FrameDecompressor()
