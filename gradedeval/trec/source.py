"""Where bytes come from: a path, standard input or an open file; compressed or not, by content."""

from __future__ import annotations

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from gradedeval.errors import Fault

SLICE = 1 << 16
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
        packed = self._packed()
        try:
            return _unpack(packed, self.place)
        except Fault:
            raise
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise Fault(self.place, f"broken compressed data ({error})", "copy or compress the file again") from None

    def _packed(self) -> bytes:
        try:
            if not isinstance(self.target, str | Path):
                content = self.target.read()
                return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else bytes(content)
            if str(self.target) == "-":
                if sys.stdin is None:
                    raise Fault(self.place, "is closed", "name a file")
                return sys.stdin.buffer.read()
            return Path(self.target).read_bytes()
        except IsADirectoryError:
            raise Fault(self.place, "is a directory", "name a file") from None
        except FileNotFoundError:
            raise Fault(self.place, "no such file", "check the path") from None
        except PermissionError:
            raise Fault(self.place, "may not be read", "check its permissions") from None
        except OSError as error:
            raise Fault(self.place, f"cannot be read ({error.strerror})", "check the file") from None
        except UnicodeDecodeError as error:
            raise Fault(
                self.place, f"is not text ({error.reason})", "open it in binary mode: open(path, 'rb')"
            ) from None


def name_of(path: str) -> str:
    """The file's name without a compression suffix: what the run is called."""
    for suffix in COMPRESSED:
        if path.endswith(suffix) and path != suffix:
            return path[: -len(suffix)]
    return path


def _unpack(packed: bytes, place: str) -> bytes:
    openers: dict[bytes, Callable[[], Any]] = {
        b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
        b"BZh": bz2.BZ2Decompressor,
        b"\xfd7zXZ\x00": lzma.LZMADecompressor,
        b"\x28\xb5\x2f\xfd": lambda: _zstd(place),
    }
    opener = next((opener for magic, opener in openers.items() if packed.startswith(magic)), None)
    if opener is None:
        return packed
    parts = []
    at = 0
    while at < len(packed):  # one compressed stream may follow another: what `cat a.gz b.gz` gives is legal
        stream = opener()
        while not stream.eof:
            if at >= len(packed):
                raise EOFError("it ends early")
            # In slices, for a stream keeps a copy of all that follows its end.
            piece = packed[at : at + SLICE]
            parts.append(stream.decompress(piece))
            at += len(piece) - len(stream.unused_data)
        if not packed[at : at + SLICE].strip(b"\x00"):
            break  # zeros may pad the end of a tape block
    return b"".join(parts)


def _zstd(place: str) -> Any:
    try:
        import zstandard
    except ImportError:
        raise Fault(place, "is compressed with zstd", "pip install 'gradedeval[zstd]'") from None
    return _Zstd(zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError)


@dataclass
class _Zstd:
    """zstandard's decompressor with the errors of the standard library's."""

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
