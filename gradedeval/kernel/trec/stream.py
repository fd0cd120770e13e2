"""Where bytes come from: sources, streams of them, and the files that a command reads and writes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO
from stat import S_ISREG
from typing import IO, TYPE_CHECKING, Any, TypeGuard

from gradedeval.errors import InputError, reason, url_place

if TYPE_CHECKING:
    from gradedeval.kernel.trec.decompression import BackgroundDecompressor, ReplayablePipe

# The files that a command reads and those that it writes: no output may replace an input.


Identity = tuple[int, int] | str

IR_DATASETS = "ir_datasets:"
"""What a name of qrels or queries begins with that the package ir_datasets holds."""


class FilesInUse:
    """What the command that runs reads, and what it writes.

    Outputs are named before anything is read. From then on whoever opens a file says so, in `trec.stream.Source`, so
    that a file named in a list of runs, in a measure or in a configuration is met as an argument is.
    """

    def __init__(self) -> None:
        self._written: dict[Identity, tuple[str, str]] = {}
        self._read: dict[Identity, str] = {}
        self._known: set[str] = set()

    def will_write(self, path: str, flag: str) -> None:
        """Name an output. Raises InputError (usage) where another option names it too."""
        if (file := identity(path, new=True)) is None:
            return
        if file in self._written:
            raise self._error(file, self._written[file][0], flag, path)
        self._written[file] = flag, path

    def will_read(self, path: str, flag: str = "") -> None:
        """Name an input, by the option that has it, if any. Raises InputError (usage) where it is an output."""
        if not self._written or path in self._known:
            return
        self._known.add(path)
        if (file := identity(path)) is not None:
            self._read.setdefault(file, flag)
            if file in self._written:
                raise self._error(file, self._read[file], *self._written[file])

    def check_written(self, path: str) -> None:
        """Raise InputError (usage) where a file that is about to be written has been read: where an error of one run
        does not end the command, the one of `will_read` did not end it either. That an option declares each file that
        is written is known here only of commands that have an output."""
        if (file := identity(path, new=True)) is None:
            return
        if file in self._read:
            raise self._error(file, self._read[file], *self._written[file])
        assert file in self._written, f"{path} is written, and no option declares it"

    @staticmethod
    def _error(file: Identity, other: str, flag: str, path: str) -> InputError:
        what = f"'{path}' is also {f'the file of {other}' if other else 'an input file'}"
        return InputError(flag, what, "choose another output file", usage=True)


_current: FilesInUse | None = None
"""Of the process, and not of a context: the threads of a command read for it."""


@contextmanager
def files_in_use() -> Iterator[FilesInUse]:
    """The files of a command, as long as it runs, where it has an output: without one it writes to no input."""
    global _current
    before, _current = _current, FilesInUse()
    try:
        yield _current
    finally:
        _current = before


def will_read(path: Any) -> None:
    """Say that a file is read, to the command that runs, if any."""
    if _current is not None:
        _current.will_read(os.fsdecode(path))


def check_written(path: str) -> None:
    """Raise InputError (usage) where a file that is about to be written is an input of the command that runs."""
    if _current is not None:
        _current.check_written(path)


def identity(path: str, new: bool = False) -> Identity | None:
    """What two names of one file have in common: its inode. None of what is no file here, such as a pipe or a URL, and
    of what is not there, unless it is `new`. `-` is standard input."""
    if is_url(path := local_path(path)):
        return None
    try:
        found = os.fstat(0) if path == "-" and not new else _found(path)
    except (OSError, ValueError):  # a name with a zero byte
        return os.path.realpath(path) if new and "\0" not in path else None
    return (found.st_dev, found.st_ino) if S_ISREG(found.st_mode) else None


def _found(path: str) -> os.stat_result:
    """What a name leads to; `run/` and `run/.` are the file `run` to whoever writes, who resolves names first."""
    try:
        return os.stat(path)
    except NotADirectoryError:
        return os.stat(os.path.realpath(path))


# Where bytes come from: a path, standard input or an open file.


LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""What a file of Git LFS begins with where its content was not fetched."""
COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4")

PACKED, ZST_FRAME = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18"), b"\x2a\x4d\x18"
"""How compressed files begin, and from the second byte on the frame with which a zst file may begin."""


_PATHS = str, os.PathLike


def is_path(source: Any) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this names a file, or standard input."""
    return isinstance(source, _PATHS)


def is_file(source: Any) -> bool:
    """Whether this is a path or an open file, and no DataFrame or dict."""
    if is_path(source) or hasattr(source, "iloc"):  # pandas, which takes its time to say what it lacks
        return is_path(source)
    return hasattr(source, "read") and not hasattr(source, "columns")


@dataclass(eq=False, repr=False)
class PlacedPath(os.PathLike[str]):
    """A path that processes in other folders can open; `place` is what messages call it."""

    path: str
    place: str

    def __fspath__(self) -> str:
        return self.path


@dataclass(eq=False, repr=False)
class Source:
    """A named place to read from.

    target  a path, `-` for standard input, or an open file
    place   the name that messages use
    is_url  whether it is one
    """

    target: str | os.PathLike[str] | IO[Any]
    place: str = field(init=False)
    is_url: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_url = is_url(self.target)
        if not isinstance(self.target, str | os.PathLike):
            self.place = str(getattr(self.target, "name", "<file>"))
            return
        if _current is not None:
            _current.will_read(os.fsdecode(self.target))
        path = os.fspath(self.target)
        place = str(getattr(self.target, "place", path))
        self.place = "<stdin>" if path == "-" else url_place(place) if self.is_url else place

    @property
    def size(self) -> int | None:
        """Bytes of a file on disk, as it is stored; None of anything else."""
        if not is_path(self.target) or os.fspath(self.target) == "-":
            return None
        try:
            found = os.stat(self.target)
        except OSError:
            return None
        return found.st_size if S_ISREG(found.st_mode) else None

    @property
    def is_read_once(self) -> bool:
        """Whether it is standard input, a pipe or an open file."""
        if not is_path(self.target):
            return True
        if self.is_url:
            return False
        return os.fspath(self.target) == "-" or (os.path.exists(self.target) and not os.path.isfile(self.target))

    def read(self) -> bytes:
        """All bytes, decompressed. Raises InputError where they cannot be read."""
        from gradedeval.kernel.trec.decompression import decompress  # which is for streams, as a rule

        content = self.stored()
        check_pointer(content, self.place)
        return decompress(content, self.place)

    def stored(self) -> bytes:
        """All bytes as they are stored. Raises InputError where they cannot be read."""
        with file_errors(self.place):
            if not isinstance(self.target, str | os.PathLike):
                content = self.target.read()
                return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else bytes(content)
            if os.fspath(self.target) == "-":
                return standard_input(self.place).read()
            if self.is_url:
                return remote(self.target).read()
            with open(self.target, "rb") as file:
                return file.read()

    def digest(self) -> str:
        """SHA-256 of all bytes as they are stored, of a path. Raises InputError where they cannot be read."""
        from hashlib import file_digest  # few signatures name a file

        target: Any = self.target
        with file_errors(self.place), remote(target) if self.is_url else open(target, "rb") as file:
            opened: Any = file
            return file_digest(opened, "sha256").hexdigest()


def is_url(target: Any) -> bool:
    """Whether this is a URL, as s3://bucket/run.txt."""
    return isinstance(target, str) and "://" in target and not os.path.exists(target)


def local_path(path: str) -> str:
    """Return the local path that a file:// URL names, as fsspec reads it; any other name as it is."""
    return os.path.expanduser(path.removeprefix("file://")) if is_url(path) else path


def beside(file: str, name: str) -> str:
    """A file that another one names: a path is relative to its folder, also where that is far away."""
    if is_url(name):
        return name
    if is_url(file):
        return f"{file.rpartition('/')[0]}/{name}"
    from pathlib import Path  # few evaluations need it

    return str(Path(file).parent / name)


def beginning(path: str, most: int) -> bytes:
    """The first bytes of a file or URL. Raises OSError, or the InputError of a URL."""
    will_read(path)
    if is_url(path):
        return remote(path).read(most)
    with open(path, "rb") as file:
        return file.read(most)


def is_named(path: Any) -> bool:
    """Whether a file has this name; of a URL that is known where it is read."""
    return os.path.isfile(path) or is_url(path)


def extension_of(path: str | None) -> str:
    """The extension of a file name, in small letters: `.csv`."""
    name = os.fspath(path or "")
    return os.path.splitext(name.partition("?")[0] if is_url(name) else name)[1].lower()


def remote(url: Any) -> IO[bytes]:
    """The bytes of a URL. Raises InputError where it cannot be opened."""
    from gradedeval.kernel.trec.decompression import temporary_file_errors
    from gradedeval.kernel.trec.remote import opened  # few evaluations read one

    with temporary_file_errors():
        return opened(str(url))


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
    """The path without a compression suffix."""
    for suffix in COMPRESSED:
        if path.endswith(suffix) and path != suffix:
            return path[: -len(suffix)]
    return path


# Files that are read from any place, here and by other processes, and segments of them.


class OpenFile:
    """A file on disk, read from any place. Another process opens it again by its path, and checks that it is the same.

    path    where it is
    number  its descriptor
    """

    def __init__(self, path: str, number: int) -> None:
        self.path, self.number = path, number

    @property
    def size(self) -> int:
        return os.fstat(self.number).st_size

    def own(self) -> OpenFile:
        return self  # it keeps no bytes

    def token(self, begin: int, start: int, length: int) -> bytes:
        with file_errors(self.path):
            return os.pread(self.number, length, begin + start)

    def read_into(self, view: memoryview, at: int, end: int) -> int:
        return os.preadv(self.number, [view], at)

    def closed(self) -> ClosedFile:
        return ClosedFile(os.path.abspath(self.path), self.path, _state(self.number))

    def __reduce__(self) -> Any:
        return _reopened, (os.path.abspath(self.path), self.path, _state(self.number))


class ClosedFile(OpenFile):
    """A file that is opened when somebody is to read it.

    path    where it is, for any process of this machine or of others that see it there
    place   what messages call it
    state   its size and time when it was first met; it is an error if they are others later
    """

    def __init__(self, path: str, place: str, state: tuple[int, int]) -> None:
        self.path, self._known = place, (path, place, state)

    def own(self) -> OpenFile:
        return _reopened(*self._known)

    def __reduce__(self) -> Any:
        return ClosedFile, self._known


class _Reopened(OpenFile):
    """A file that was opened here, and is closed with the object."""

    def __del__(self) -> None:
        os.close(self.number)


def _reopened(path: str, place: str, state: tuple[int, int]) -> OpenFile:
    with file_errors(place):
        file = _Reopened(path, os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))
    if _state(file.number) != state:
        raise InputError(place, "has changed while it was read", "evaluate it when it is complete")
    return file


def _state(number: int) -> tuple[int, int]:
    found = os.fstat(number)
    return found.st_size, found.st_mtime_ns


@dataclass
class Segment:
    """Bytes `at` to `end` of a file; reading does not move the position of the file."""

    file: OpenFile
    at: int
    end: int

    def own(self) -> Segment:
        """The same, to be read by one alone."""
        return replace(self, file=self.file.own())

    def closed(self) -> Segment:
        """The same of a file that need not stay open."""
        return replace(self, file=self.file.closed())

    def read_into(self, view: memoryview) -> int:
        """Fill the view as far as there are bytes; returns their number."""
        return fill(view, self._some)

    def _some(self, view: memoryview) -> int:
        count = self.file.read_into(view[: self.end - self.at], self.at, self.end)
        self.at += count
        return count


def fill(view: memoryview, some: Callable[[memoryview], int]) -> int:
    filled = 0
    while filled < len(view) and (count := some(view[filled:])):
        filled += count
    return filled


WHOLE = 1 << 20
"""Bytes that are read at once where all are wanted."""

GRACE = 0.5
"""Seconds that a thread has to end when its bytes are no longer needed."""


# A source as a stream of decompressed bytes that can be read again.


class Stream:
    """The bytes of a source from its beginning, decompressed. Raises InputError where it cannot be read.

    A file can be read again; the bytes of a pipe are kept, as they came, in memory or in a temporary file.

    ahead  whether compressed bytes are unpacked before they are asked for
    plain  whether the bytes are those of the file, at the same offsets
    """

    def __init__(self, source: Source, *, ahead: bool = True) -> None:
        self.place, self._unpacks_ahead = source.place, ahead
        with file_errors(self.place):
            self._raw = _opened(source)
            self._opened_here = isinstance(source.target, str | os.PathLike) and os.fspath(source.target) != "-"
            self._is_url = source.is_url
            self._replay: ReplayablePipe | None = None
            if not self._raw.seekable():
                from gradedeval.kernel.trec.decompression import ReplayablePipe

                self._replay = ReplayablePipe(self._raw)
            self._begin = self._raw.tell() if self._replay is None else 0
        self._decompressor: BackgroundDecompressor | None = None
        self._ahead = self._peeked = b""
        self.again()
        if self._ahead == LFS_POINTER[:8]:
            check_pointer(self.peek(len(LFS_POINTER)), self.place)

    def again(self) -> None:
        """Start again from the beginning."""
        if self._decompressor is not None:
            self._decompressor.close()
        if self._replay is not None:
            self._replay.rewind()
        else:
            self._raw.seek(self._begin)
        self._ahead = self._peeked = b""
        with file_errors(self.place):
            self._ahead = head = self._read(8)
        self._decompressor = None
        if head.startswith(PACKED) or head[1:4] == ZST_FRAME:
            from gradedeval.kernel.trec.decompression import BackgroundDecompressor, packing_of

            if packing := packing_of(head, self.place):
                self._decompressor = BackgroundDecompressor(packing, self._read, self.place, ahead=self._unpacks_ahead)
        self.plain = self._decompressor is None and self._replay is None

    def peek(self, size: int) -> bytes:
        """The first `size` bytes, or all there are; they are still to be read."""
        if len(self._peeked) < size:
            known, self._peeked = self._peeked, b""
            more = bytearray(size - len(known))
            self._peeked = known + more[: self.read_into(memoryview(more))]
        return self._peeked[:size]

    @property
    def file(self) -> Segment | None:
        """The segment of a file that holds all bytes; None for compressed data, URLs, pipes and objects in memory."""
        try:
            number = self._raw.fileno() if self.plain and self._opened_here and not self._is_url else None
        except (OSError, AttributeError):
            number = None
        if number is None:
            return None
        file = OpenFile(self.place, number)
        return Segment(file, self._begin, file.size)

    def read_into(self, view: memoryview) -> int:
        """Fill the view as far as there are bytes; returns their number."""
        with file_errors(self.place):
            return fill(view, self._some)

    def _some(self, view: memoryview) -> int:
        if self._peeked:
            got, self._peeked = self._peeked[: len(view)], self._peeked[len(view) :]
            view[: len(got)] = got
            return len(got)
        if self._decompressor is not None:
            return self._decompressor.read_into(view)
        if self._replay is None and not self._ahead and hasattr(self._raw, "readinto"):
            return self._raw.readinto(view) or 0
        got = self._read(min(len(view), 1 << 20))
        view[: len(got)] = got
        return len(got)

    def _read(self, size: int) -> bytes:
        """The next bytes as they are stored."""
        if self._ahead:
            got, self._ahead = self._ahead[:size], self._ahead[size:]
            return got
        return (self._replay.read(size) if self._replay is not None else self._raw.read(size)) or b""

    def whole(self) -> bytes:
        """All bytes, from the beginning."""
        self.again()
        held, part = BytesIO(), memoryview(bytearray(WHOLE))
        while size := self.read_into(part):
            held.write(part[:size])
        return held.getvalue()  # which copies nothing

    def token(self, start: int, length: int) -> bytes:
        """The bytes at an offset of a plain stream that has been read to its end."""
        with file_errors(self.place):
            if (file := self.file) is not None:  # processes share the position of an open file
                return file.file.token(file.at, start, length)
            self._raw.seek(self._begin + start)
            token: bytes = self._raw.read(length)
        return token

    def close(self) -> None:
        """Release the source; a file that was opened here is closed."""
        # A thread that waits for a pipe keeps the pipe open: both end with the process.
        ended = self._decompressor is None or self._decompressor.close(wait=GRACE)
        if self._opened_here and ended:
            self._raw.close()


def _opened(source: Source) -> Any:
    target = source.target
    if source.is_url:
        return remote(target)
    if isinstance(target, str | os.PathLike):
        return standard_input(source.place) if os.fspath(target) == "-" else open(target, "rb", buffering=0)
    from io import TextIOBase

    if isinstance(target, TextIOBase) or not all(hasattr(target, name) for name in ("readinto", "seekable", "tell")):
        return BytesIO(source.stored())
    return target


def check_pointer(head: bytes, place: str) -> None:
    """Raise InputError for the beginning of a Git LFS pointer."""
    if head.startswith(LFS_POINTER):
        problem = "is a Git LFS pointer, which stands for the file itself"
        raise InputError(place, problem, "fetch it with git lfs pull", kind="format")


def first_bytes(source: Source, most: int = 1 << 12) -> bytes:
    """How a file begins, decompressed."""
    stream = Stream(source, ahead=False)
    try:
        head = bytearray(most)
        return bytes(head[: stream.read_into(memoryview(head))])
    finally:
        stream.close()


# What a word names: a file, all files in a folder, or all that match a pattern.


def files_of(word: str, leave_out: Iterable[str] = ()) -> list[str]:
    """The files that an argument means: itself; all files in a folder, by name, without hidden ones; or, where no file
    has that name, all that match a pattern such as 'runs/*.run'.

    leave_out  files that are not runs, such as the qrels in the same folder

    Raises InputError where a folder holds no file, or none matches, and for a URL that is not allowed.
    """
    if is_url(word):
        from gradedeval.kernel.trec.remote import check_url, is_pattern, matching  # few evaluations read a URL

        check_url(word)
        if not is_pattern(word):
            return [word]
        if not (found := [url for url in matching(word) if url not in leave_out]):
            raise InputError(url_place(word), "names no file", "check the URL")
        return found
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
    files = [path for path in paths if os.path.isfile(path) and not any(same_file(path, other) for other in leave_out)]
    if not files:
        raise InputError(word, problem, hint)
    return files


def same_file(path: str, other: str) -> bool:
    """Whether two paths, or two URLs, lead to the same file."""
    if is_url(path):
        return path == other
    try:
        return os.path.isfile(path) and os.path.samefile(path, other)
    except OSError:
        return False
