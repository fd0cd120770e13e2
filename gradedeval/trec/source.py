"""Where bytes come from: a path, standard input or an open file; compressed or not, by content."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from gradedeval.errors import Fault

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


@dataclass(frozen=True)
class Source:
    """A named place to read from: `target` is a path, `-` for standard input, or an open file."""

    target: str | Path | IO[Any]

    @property
    def place(self) -> str:
        """What messages call it."""
        if isinstance(self.target, str | Path):
            return "<stdin>" if str(self.target) == "-" else str(self.target)
        return str(getattr(self.target, "name", "<file>"))

    def read(self) -> bytes:
        """All of it, unpacked. Raises Fault where it cannot be read."""
        return unpack(self.packed(), self.place)

    def packed(self) -> bytes:
        """All of it, as it is stored. Raises Fault where it cannot be read."""
        with file_faults(self.place):
            if not isinstance(self.target, str | Path):
                content = self.target.read()
                return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else bytes(content)
            if str(self.target) == "-":
                return sys.stdin.buffer.read()
            return Path(self.target).read_bytes()


@contextmanager
def file_faults(place: str) -> Iterator[None]:
    """What the operating system says of a file, as Fault."""
    try:
        yield
    except IsADirectoryError:
        raise Fault(place, "is a directory", "name a file") from None
    except FileNotFoundError:
        raise Fault(place, "no such file", "check the path") from None
    except PermissionError:
        raise Fault(place, "may not be read", "check its permissions") from None
    except OSError as error:
        raise Fault(place, f"cannot be read ({error.strerror})", "check the file") from None
    except UnicodeDecodeError as error:
        raise Fault(place, f"is not text ({error.reason})", "open it in binary mode: open(path, 'rb')") from None


def name_of(path: str) -> str:
    """The file's name without a compression suffix: what the run is called."""
    for suffix in COMPRESSED:
        if path.endswith(suffix) and path != suffix:
            return path[: -len(suffix)]
    return path


def unpack(packed: bytes, place: str) -> bytes:
    """The bytes that packed ones hold, by content. Raises Fault where they are broken."""
    try:
        if packed.startswith(b"\x1f\x8b"):
            import gzip

            return gzip.decompress(packed)
        if packed.startswith(b"BZh"):
            import bz2

            return bz2.decompress(packed)
        if packed.startswith(b"\xfd7zXZ\x00"):
            import lzma

            return lzma.decompress(packed)
        if packed.startswith(b"\x28\xb5\x2f\xfd"):
            return _unpack_zstd(packed, place)
    except Fault:
        raise
    except Exception as error:  # EOFError, OSError, ValueError, and what zlib and lzma call their own
        raise Fault(place, f"broken compressed data ({error})", "copy or compress the file again") from None
    return packed


def _unpack_zstd(packed: bytes, place: str) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise Fault(place, "is compressed with zstd", "pip install 'gradedeval[zstd]'") from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
            content: bytes = reader.read()
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from None
    # A stream that ends inside a frame is not an error to the library: it just stops.
    expected = zstandard.frame_content_size(packed)
    if 0 <= len(content) < expected or (expected < 0 and not content):
        raise OSError("it ends early")
    return content
