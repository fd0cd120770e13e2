"""Written files: their data are on the disk before a file gets its name."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gradedeval.kernel.trec.atomic_write import ENDING, append_lines, defer_signals, write_file
from support.commands import Command, environment
from support.processes import linux

LONGEST = 255
"""Bytes of a name that file systems allow."""


@pytest.mark.parametrize("size", [245, 246, 254, LONGEST])
def test_a_name_may_be_as_long_as_the_system_allows(size: int, tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run").write_text("1 Q0 a 1 1 t\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    name = "ü" * ((size - 4) // 2) + "x" * (size % 2) + ".csv"
    assert len(os.fsencode(name)) == size
    for _ in range(2):
        assert cli("run", "qrels", "-m", "ap", "-o", name).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["run", "qrels", name])


def test_a_name_that_is_too_long_is_an_error(tmp_path: Path) -> None:
    target = str(tmp_path / ("x" * (LONGEST + 1)))
    with pytest.raises(ValueError, match=r"cannot be written \(File name too long\); nothing was written$"):
        write_file(b"new", target)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the names of synced files and of renames, in order."""
    names: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        names.append(Path(os.readlink(f"/proc/self/fd/{handle}")).name)
        sync(handle)

    def renamed(self: Path, target: Path) -> Path:
        names.append(f"{self.name} → {target.name}")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    return names


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="nothing says which files are open")
def test_data_are_synced_before_the_file_is_renamed(seen: list[str], tmp_path: Path) -> None:
    """Write the folder, too, before reporting success; a history after it has grown."""
    write_file(b"new", str(tmp_path / "scores.csv"))
    unfinished = seen[0]
    assert unfinished.startswith(".gradedeval-")
    assert seen == [unfinished, f"{unfinished} → scores.csv", tmp_path.name]
    seen.clear()
    append_lines(tmp_path / "history", ["one", "two"])
    assert seen == ["history", tmp_path.name]
    assert (tmp_path / "history").read_text() == "one\ntwo\n"


def test_an_evaluation_is_one_write_at_the_end_of_a_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written, write = list[bytes](), os.write
    monkeypatch.setattr(os, "write", lambda handle, data: (written.append(data), write(handle, data))[1])
    (tmp_path / "history").write_bytes(b"torn")
    append_lines(tmp_path / "history", ["one", "two"])
    assert written == [b"\none\ntwo\n"]


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no such device")
def test_a_device_without_storage_is_not_an_error() -> None:
    write_file(b"new", os.devnull)
    append_lines(os.devnull, ["one"])


# Signals wait until a write is complete.


class Met(Exception):
    """The exception that a caller's signal handler raises."""


@contextmanager
def handled(number: int, handler: object) -> Iterator[None]:
    original = signal.signal(number, handler)  # type: ignore[arg-type]
    try:
        yield
    finally:
        signal.signal(number, original)


def raises(number: int, frame: object) -> None:
    raise Met


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
@linux
def test_a_signal_waits_until_the_block_ends_in_any_thread(number: signal.Signals) -> None:
    done = []

    def work() -> None:
        with defer_signals():
            thread = threading.Thread(target=lambda: signal.pthread_kill(threading.get_ident(), number))
            thread.start()
            thread.join()
            os.kill(os.getpid(), number)
            done.append(number)

    with handled(number, raises):
        with pytest.raises(Met):
            work()
        assert done == [number]
        assert signal.getsignal(number) is raises


@linux
def test_ignored_signals_stay_ignored() -> None:
    with handled(signal.SIGHUP, signal.SIG_IGN), defer_signals():
        os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


@linux
def test_a_repeated_late_signal_has_its_usual_effect() -> None:
    script = """
import os, signal
from gradedeval.kernel.trec import atomic_write
atomic_write.GRACE = 0
signal.signal(signal.SIGTERM, signal.SIG_DFL)
with atomic_write.defer_signals():
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGTERM)
    print("never", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, b"", b"")


@linux
def test_signals_are_not_deferred_in_another_thread() -> None:
    handlers = []

    def work() -> None:
        with defer_signals():
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGTERM)]
