"""Open sources as streams of bytes, and track the files read and written by a command."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO, TextIOBase
from stat import S_ISREG
from typing import IO, TYPE_CHECKING, Any, TypeGuard

from gradedeval.errors import InputError, reason, url_place

if TYPE_CHECKING:
    from gradedeval.kernel.trec.decompression import BackgroundDecompressor
    from gradedeval.kernel.trec.digests import InputsRead

# Inputs and outputs of a command: no output may replace an input.

Identity = tuple[int, int] | str

WINDOWS = os.name == "nt"

IR_DATASETS = "ir_datasets:"
"""The prefix of names of qrels or queries in the package ir_datasets."""


class FilesInUse:
    """The files that the running command reads and writes; `completed` are those that it has written.

    Outputs are declared before any input is read. From then on every `Source` registers itself, so that a file named in
    a list of runs, a measure or a configuration is checked as an argument is.
    """

    def __init__(self) -> None:
        self._written: dict[Identity, tuple[str, str]] = {}
        self._read: dict[Identity, str] = {}
        self._checked: set[str] = set()
        self.completed: list[str] = []

    def will_write(self, path: str, flag: str) -> None:
        """Register an output. Raises InputError (usage) if another option names it too."""
        if (file := identity(path, new=True)) is None:
            return
        if file in self._written:
            raise self._error(file, self._written[file][0], flag, path)
        self._written[file] = flag, path

    def will_read(self, path: str, flag: str = "") -> None:
        """Register an input, with the option that names it, if any. Raises InputError (usage) if it is also an
        output."""
        if not self._written or path in self._checked:
            return
        self._checked.add(path)
        if (file := identity(path)) is not None:
            self._read.setdefault(file, flag)
            if file in self._written:
                raise self._error(file, self._read[file], *self._written[file])

    def check_written(self, path: str) -> None:
        """Raise InputError (usage) if a file about to be written has been read: the error of `will_read` does not
        always end the command."""
        if (file := identity(path, new=True)) is None:
            return
        if file in self._read:
            raise self._error(file, self._read[file], *self._written[file])
        assert file in self._written, f"{path} is written, and no option declares it"

    @staticmethod
    def _error(file: Identity, option: str, flag: str, path: str) -> InputError:
        problem = f"'{path}' is also {f'the file of {option}' if option else 'an input file'}"
        return InputError(flag, problem, "choose another output file", usage=True)


_current: FilesInUse | None = None
"""Global rather than of a context, because threads of a command read for it."""


@contextmanager
def files_in_use() -> Iterator[FilesInUse]:
    """Track the files of a command while it runs; only needed if it has an output."""
    global _current
    previous, _current = _current, FilesInUse()
    try:
        yield _current
    finally:
        _current = previous


def will_read(path: Any) -> None:
    """Register an input of the running command, and of an evaluation whose inputs are digested."""
    if _current is not None:
        _current.will_read(os.fsdecode(path))
    if _digested is not None:
        _digested.will_read(os.fsdecode(path))


_digested: InputsRead | None = None
"""The inputs of an evaluation that is recorded; most are not, and nothing is digested."""


@contextmanager
def digesting(inputs: InputsRead) -> Iterator[None]:
    """Register all inputs that are read in this block, so that their bytes can be digested."""
    global _digested
    previous, _digested = _digested, inputs
    try:
        yield
    finally:
        _digested = previous


def is_digesting() -> bool:
    """Return whether inputs are registered to be digested."""
    return _digested is not None


def check_written(path: str) -> None:
    """Raise InputError (usage) if a file about to be written is an input of the running command."""
    if _current is not None:
        _current.check_written(path)


def mark_completed(path: str) -> None:
    """Register that the running command has written a file, or begun to write to a device."""
    if _current is not None:
        _current.completed.append(path)


def identity(path: str, new: bool = False) -> Identity | None:
    """Return a key common to all names of a file: its inode. None for anything but regular files, and for missing files
    unless `new`. `-` is standard input."""
    if is_url(path := local_path(path)):
        return None
    try:
        status = os.fstat(0) if path == "-" and not new else _status(path)
    except (OSError, ValueError):  # a name with a zero byte
        return os.path.realpath(path) if new and "\0" not in path else None
    return (status.st_dev, status.st_ino) if S_ISREG(status.st_mode) else None


def _status(path: str) -> os.stat_result:
    """Return the status of a file; `run/` and `run/.` are `run` to a writer that resolves names first."""
    try:
        return os.stat(path)
    except NotADirectoryError:
        return os.stat(os.path.realpath(path))


# Sources of bytes: a path, standard input or an open file.

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""The beginning of a Git LFS pointer, left if the content was not fetched."""
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4")

PACKED, ZST_FRAME = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18"), b"\x2a\x4d\x18"
"""Beginnings of compressed files, and bytes 1 to 3 of the skippable frame that may begin a zst file."""

_PATHS = str, os.PathLike


def is_path(source: Any) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether this is a path, or `-` for standard input."""
    return isinstance(source, _PATHS)


def is_file(source: Any) -> bool:
    """Return whether this is a path or an open file, rather than a DataFrame or dict."""
    if hasattr(source, "iloc"):  # pandas, whose failed attribute lookups are slow
        return False
    return is_path(source) or (hasattr(source, "read") and not hasattr(source, "columns"))


@dataclass(eq=False, repr=False)
class PlacedPath(os.PathLike[str]):
    """A path that processes in other folders can open; `place` is its name in messages."""

    path: str
    place: str

    def __fspath__(self) -> str:
        return self.path


@dataclass(eq=False, repr=False)
class Source:
    """A named place to read from.

    target  a path, `-` for standard input, or an open file
    place   its name in messages
    is_url  whether it is a URL
    """

    target: str | os.PathLike[str] | IO[Any]
    place: str = field(init=False)
    is_url: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_url = is_url(self.target)
        if not isinstance(self.target, str | os.PathLike):
            self.place = str(getattr(self.target, "name", "<file>"))
            return
        will_read(self.target)
        path = os.fspath(self.target)
        place = str(getattr(self.target, "place", path))
        self.place = "<stdin>" if path == "-" else url_place(place) if self.is_url else place

    @property
    def size(self) -> int | None:
        """The stored bytes of a file on disk; None for any other source."""
        if not is_path(self.target) or os.fspath(self.target) == "-":
            return None
        try:
            status = os.stat(self.target)
        except OSError:
            return None
        return status.st_size if S_ISREG(status.st_mode) else None

    @property
    def is_read_once(self) -> bool:
        """Whether it is standard input, a pipe or an open file."""
        if not is_path(self.target):
            return True
        if self.is_url:
            return False
        return os.fspath(self.target) == "-" or (os.path.exists(self.target) and not os.path.isfile(self.target))

    def read(self) -> bytes:
        """Return all bytes, decompressed. Raises InputError if they cannot be read."""
        with closing(Stream(self, ahead=False)) as stream:
            return stream.whole()

    def stored(self) -> bytes:
        """Return all bytes as stored. Raises InputError if they cannot be read."""
        with file_errors(self.place):
            if not isinstance(self.target, str | os.PathLike):
                content = self.target.read()
                return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else bytes(content)
            with closing(Stream(self, ahead=False)) as stream:
                return b"".join(stream.stored())


def is_url(target: Any) -> bool:
    """Return whether this is a URL, such as s3://bucket/run.txt."""
    return isinstance(target, str) and "://" in target and not os.path.exists(target)


def local_path(path: str) -> str:
    """Return the local path of a file:// URL, as fsspec reads it; any other name unchanged."""
    if not is_url(path):
        return path
    local = path.removeprefix("file://")
    return os.path.expanduser(local.removeprefix("/") if WINDOWS and local[2:3] == ":" else local)  # file:///C:/run.txt


def resolve_relative(file: str, name: str) -> str:
    """Resolve a name relative to the folder of a file or URL."""
    if is_url(name):
        return name
    if is_url(file):
        return f"{file.rpartition('/')[0]}/{name}"
    from pathlib import Path  # few evaluations need it

    return str(Path(file).parent / name)


def beginning(path: str, most: int) -> bytes:
    """Return the first bytes of a file or URL. Raises OSError, or the InputError of a URL."""
    will_read(path)
    if is_url(path):
        return remote(path).read(most)
    with open(path, "rb") as file:
        return file.read(most)


def is_named(path: Any) -> bool:
    """Return whether a file of this name exists; a URL is checked only on reading."""
    return os.path.isfile(path) or is_url(path)


def extension_of(path: str | None) -> str:
    """Return the lower-case extension of a file name: `.csv`."""
    name = os.fspath(path or "")
    return os.path.splitext(name.partition("?")[0] if is_url(name) else name)[1].lower()


def remote(url: Any) -> IO[bytes]:
    """Return a file with the bytes of a URL. Raises InputError if it cannot be opened."""
    from gradedeval.kernel.trec.decompression import temporary_file_errors
    from gradedeval.kernel.trec.remote import download  # few evaluations read one

    with temporary_file_errors():
        return download(str(url))


@contextmanager
def file_errors(place: str) -> Iterator[None]:
    """Raise errors of the operating system about a file as InputError."""
    try:
        yield
    except IsADirectoryError:
        raise InputError(place, "is a folder", "give a file") from None
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


def without_suffix(path: str) -> str:
    """Return the path without a compression suffix."""
    for suffix in COMPRESSED:
        if path.endswith(suffix) and path != suffix:
            return path[: -len(suffix)]
    return path


# Files with random access, shared with other processes, and segments of them.


@dataclass(eq=False, repr=False)
class OpenFile:
    """A file on disk with random access. Other processes reopen it by its path, and check that it is the same.

    path    its path
    number  its descriptor
    """

    path: str
    number: int

    def reopen(self) -> OpenFile:
        return self  # it keeps no bytes

    def token(self, begin: int, start: int, length: int) -> bytes:
        with file_errors(self.path):
            return _read_at(self.number, length, begin + start)

    def read_into(self, view: memoryview, position: int, end: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self.number, [view], position)
        data = _read_at(self.number, len(view), position)
        view[: len(data)] = data
        return len(data)

    def closed(self) -> ClosedFile:
        return ClosedFile(os.path.abspath(self.path), self.path, _state(self.number))

    def __reduce__(self) -> Any:
        return _reopen, (os.path.abspath(self.path), self.path, _state(self.number))


_position_lock = threading.Lock()


def _read_at(number: int, length: int, position: int) -> bytes:
    """Return bytes of a file from a position. Windows reads only where the file is, which threads share."""
    if hasattr(os, "pread"):
        return os.pread(number, length, position)
    with _position_lock:
        os.lseek(number, position, os.SEEK_SET)
        return os.read(number, length)


class ClosedFile(OpenFile):
    """A file opened on first use.

    path    valid for any process that sees the file, on this or another machine
    place   its name in messages
    state   its original size and time; if they change, reading is an error
    """

    def __init__(self, path: str, place: str, state: tuple[int, int]) -> None:
        self.path, self._arguments = place, (path, place, state)

    def reopen(self) -> OpenFile:
        return _reopen(*self._arguments)

    def __reduce__(self) -> Any:
        return ClosedFile, self._arguments


class _ReopenedFile(OpenFile):
    """A file opened in this process, and closed with the object."""

    def __del__(self) -> None:
        os.close(self.number)


def _reopen(path: str, place: str, state: tuple[int, int]) -> OpenFile:
    with file_errors(place):
        file = _ReopenedFile(path, os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))
    if _state(file.number) != state:
        raise InputError(place, "has changed while it was read", "evaluate it when it is complete")
    return file


def _state(number: int) -> tuple[int, int]:
    status = os.fstat(number)
    return status.st_size, status.st_mtime_ns


@dataclass
class Segment:
    """Bytes `position` to `end` of a file; reading does not move the position of the file."""

    file: OpenFile
    position: int
    end: int

    def reopen(self) -> Segment:
        """Return the same segment with its own file descriptor."""
        return replace(self, file=self.file.reopen())

    def closed(self) -> Segment:
        """Return the same segment of a file that need not stay open."""
        return replace(self, file=self.file.closed())

    def read_into(self, view: memoryview) -> int:
        """Fill the view as far as there are bytes; return their number."""
        return fill(view, self._read_some)

    def _read_some(self, view: memoryview) -> int:
        count = self.file.read_into(view[: self.end - self.position], self.position, self.end)
        self.position += count
        return count


def fill(view: memoryview, some: Callable[[memoryview], int]) -> int:
    """Fill the view by repeated calls of `some`; return the number of bytes."""
    filled = 0
    while filled < len(view) and (count := some(view[filled:])):
        filled += count
    return filled


WHOLE = 1 << 20
"""Bytes read at once by `whole`."""

GRACE = 0.5
"""Maximum seconds to wait for the end of a thread whose bytes are no longer needed."""


# Rereadable streams of decompressed bytes.


class Stream:
    """The decompressed bytes of a source from its beginning. Raises InputError if it cannot be read.

    It can be read again: the bytes of a pipe are kept as received, in memory or in a temporary file.

    ahead  whether to decompress ahead of reading
    plain  whether the bytes equal those of the file, at the same offsets
    """

    def __init__(self, source: Source, *, ahead: bool = True) -> None:
        self.place, self._source, self._unpacks_ahead = source.place, source, ahead
        with file_errors(self.place):
            self._opened_here = is_path(source.target) and os.fspath(source.target) != "-"
            self._raw = _open_source(source)
            self._is_pipe = not self._raw.seekable()
            if self._is_pipe:
                from gradedeval.kernel.trec.decompression import ReplayablePipe

                self._raw = ReplayablePipe(self._raw)
            self._begin = self._raw.tell()
        self._decompressor: BackgroundDecompressor | None = None
        self.again()

    def _rewind(self) -> None:
        """Go back to the first stored byte."""
        if self._decompressor is not None:
            self._decompressor.close()
        self._decompressor, self._peeked = None, b""
        self._raw.seek(self._begin)

    def stored(self) -> Iterator[bytes]:
        """Yield all bytes as stored, compressed if they are, from the beginning."""
        with file_errors(self.place):
            self._rewind()
            while data := self._raw.read(WHOLE):
                yield data

    def again(self) -> None:
        """Start again from the beginning."""
        self._rewind()
        with file_errors(self.place):
            head = self._raw.read(8) or b""
            self._raw.seek(self._begin)
        if head.startswith(PACKED) or head[1:4] == ZST_FRAME:
            from gradedeval.kernel.trec.decompression import BackgroundDecompressor, packing_of

            if packing := packing_of(head, self.place):
                read, ahead = self._raw.read, self._unpacks_ahead
                self._decompressor = BackgroundDecompressor(packing, read, self.place, ahead=ahead)
        self.plain = self._decompressor is None and not self._is_pipe
        if head == LFS_POINTER[:8]:
            check_pointer(self.peek(len(LFS_POINTER)), self.place)

    def peek(self, size: int) -> bytes:
        """Return the first `size` bytes, or all there are, without consuming them."""
        if len(self._peeked) < size:
            peeked, self._peeked = self._peeked, b""
            more = bytearray(size - len(peeked))
            self._peeked = peeked + more[: self.read_into(memoryview(more))]
        return self._peeked[:size]

    @property
    def file(self) -> Segment | None:
        """The segment of a file that holds all bytes; None for compressed data, URLs, pipes and objects in memory."""
        try:
            number = self._raw.fileno() if self.plain and self._opened_here and not self._source.is_url else None
        except (OSError, AttributeError):
            number = None
        if number is None:
            return None
        return Segment(OpenFile(self.place, number), self._begin, os.fstat(number).st_size)

    def read_into(self, view: memoryview) -> int:
        """Fill the view as far as there are bytes; return their number."""
        peeked = self._peeked[: len(view)]
        view[: len(peeked)] = peeked
        self._peeked = self._peeked[len(peeked) :]
        some = self._raw.readinto if self._decompressor is None else self._decompressor.read_into
        with file_errors(self.place):
            return len(peeked) + fill(view[len(peeked) :], some)

    def whole(self) -> bytes:
        """Return all bytes, from the beginning."""
        self.again()
        buffer, part = BytesIO(), memoryview(bytearray(WHOLE))
        while size := self.read_into(part):
            buffer.write(part[:size])
        return buffer.getvalue()  # without a copy

    def token(self, start: int, length: int) -> bytes:
        """Return the bytes at an offset of a plain stream that has been read to its end."""
        with file_errors(self.place):
            if (file := self.file) is not None:  # processes share the position of an open file
                return file.file.token(file.position, start, length)
            self._raw.seek(self._begin + start)
            token: bytes = self._raw.read(length)
        return token

    def close(self) -> None:
        """Release the source, and close a file that was opened here."""
        if _digested is not None and is_path(self._source.target):
            _digested.keep(os.fsdecode(self._source.target), self)
        # A thread that waits for a pipe keeps the pipe open: both end with the process.
        ended = self._decompressor is None or self._decompressor.close(wait=GRACE)
        if self._opened_here and ended:
            self._raw.close()


def _open_source(source: Source) -> Any:
    target: Any = source.target
    if source.is_url:
        return remote(target)
    if is_path(target) and os.fspath(target) != "-":
        return open(target, "rb", buffering=0)
    if is_path(target):
        if sys.stdin is None:
            raise InputError(source.place, "is closed", "give a file")
        return sys.stdin.buffer
    is_binary = not isinstance(target, TextIOBase) and hasattr(target, "readinto")
    return target if is_binary and hasattr(target, "seekable") and hasattr(target, "tell") else BytesIO(source.stored())


def check_pointer(head: bytes, place: str) -> None:
    """Raise InputError if a file begins as a Git LFS pointer."""
    if head.startswith(LFS_POINTER):
        problem = "is a Git LFS pointer in place of the file"
        raise InputError(place, problem, "fetch it with git lfs pull", kind="format")


def first_bytes(source: Source, most: int = 1 << 12) -> bytes:
    """Return the first bytes of a file, decompressed."""
    with closing(Stream(source, ahead=False)) as stream:
        return stream.peek(most)


# Arguments: a file, all files in a folder, or all that match a pattern.


def files_of(word: str, leave_out: Iterable[str] = ()) -> list[str]:
    """Return the files of an argument: the file itself; all files in a folder, sorted by name, without hidden ones; or,
    if no file has that name, all that match a pattern such as 'runs/*.run'.

    leave_out  files that are not runs, such as the qrels in the same folder

    Raises InputError if a folder holds no file, or nothing matches, and for a URL that is not allowed.
    """
    if is_url(word):
        from gradedeval.kernel.trec.remote import check_url, expand_pattern, is_pattern  # few evaluations read a URL

        check_url(word)
        if not is_pattern(word):
            return [word]
        if not (urls := [url for url in expand_pattern(word) if url not in leave_out]):
            raise InputError(url_place(word), "names no file", "check the URL")
        return urls
    if os.path.isdir(word):
        with file_errors(word):
            paths = sorted(os.path.join(word, name) for name in os.listdir(word) if not name.startswith("."))
        problem, hint = "holds no run", "name the folder that holds the runs"
    elif set(word) & set("*?[") and not os.path.exists(word):
        from glob import glob  # rarely needed: the shell expands most patterns

        paths = sorted(glob(word, recursive=True))
        problem, hint = "matches no file", "check the pattern"
    else:
        return [word]
    files = [
        path for path in paths if os.path.isfile(path) and not any(same_file(path, excluded) for excluded in leave_out)
    ]
    if not files:
        raise InputError(word, problem, hint)
    return files


def same_file(path: str, second: str) -> bool:
    """Return whether two paths, or two URLs, lead to the same file."""
    if is_url(path):
        return path == second
    try:
        return os.path.isfile(path) and os.path.samefile(path, second)
    except OSError:
        return False
