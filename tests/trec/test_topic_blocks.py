"""A file is cut into blocks and segments that end with a topic."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradedeval.trec import stream, topic_blocks


def test_a_file_of_one_topic_is_looked_through_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, looked = tmp_path / "run", []
    path.write_bytes(b"".join(b"1 Q0 d%d 1 1 t\n" % at for at in range(20000)))
    read_into = stream.Segment.read_into
    monkeypatch.setattr(
        stream.Segment, "read_into", lambda self, view: looked.append(len(view)) or read_into(self, view)
    )
    with path.open("rb") as file:
        whole = stream.Segment(stream.OpenFile(str(path), file.fileno()), 0, path.stat().st_size)
        assert len(topic_blocks.segments(whole, 2, 1000)) == 1
        assert sum(looked) < 1.2 * path.stat().st_size
        path.write_bytes(path.read_bytes() + b"2 Q0 d 1 1 t\n" * 100)
        whole = stream.Segment(stream.OpenFile(str(path), file.fileno()), 0, path.stat().st_size)
        assert [segment.at for segment in topic_blocks.segments(whole, 2, 1000)] == [0, whole.end - 1300]
