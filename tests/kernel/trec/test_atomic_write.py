"""Files that are written: on the disk before they have their name, whatever that is."""

import os
from pathlib import Path

import pytest

from gradedeval.kernel.trec.atomic_write import append_lines, write_file
from support.commands import Command

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
    """What reaches the disk: the name of each file that is synced, and each name that is given."""
    found: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        found.append(Path(os.readlink(f"/proc/self/fd/{handle}")).name)
        sync(handle)

    def renamed(self: Path, target: Path) -> Path:
        found.append(f"{self.name} → {target.name}")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="nothing says which files are open")
def test_data_are_synced_before_the_file_is_renamed(seen: list[str], tmp_path: Path) -> None:
    """And so is the name before that is said; a history, once it has grown."""
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
