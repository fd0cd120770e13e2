"""A file is cut into blocks and segments that end with a topic."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradedeval.kernel.trec import blocks, stream
from gradedeval.kernel.trec.tokenizer import PAD, padded


def test_a_file_of_one_topic_is_scanned_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, looked = tmp_path / "run", []
    path.write_bytes(b"".join(b"1 Q0 d%d 1 1 t\n" % number for number in range(20000)))
    read_into = stream.Segment.read_into
    monkeypatch.setattr(
        stream.Segment, "read_into", lambda self, view: looked.append(len(view)) or read_into(self, view)
    )
    with path.open("rb") as file:
        whole = stream.Segment(stream.OpenFile(str(path), file.fileno()), 0, path.stat().st_size)
        assert len(blocks.segments(whole, 2, 1000)) == 1
        assert sum(looked) < 1.2 * path.stat().st_size
        path.write_bytes(path.read_bytes() + b"2 Q0 d 1 1 t\n" * 100)
        whole = stream.Segment(stream.OpenFile(str(path), file.fileno()), 0, path.stat().st_size)
        assert [segment.position for segment in blocks.segments(whole, 2, 1000)] == [0, whole.end - 1300]


NASTY = b"".join(
    [
        b"# a header\r\n\n  1 Q0 d1 1 9 t\r\n1\tQ0\td2\t2\t8\tt\r\n",
        b"1 Q0 " + b"x" * 90 + b" 3 7 t\n# 2 within\n\t\n \t1 Q0 d4 4 6 t\n10 Q0 d1 1 9 t\n",
        b"#\n\r\n2 Q0 d1 1 9 t\n\n\n2 Q0 d2 2 8 t\n1 Q0 late 1 1 t\n2x Q0 d 1 1 t\n# end\n2x Q0 e 2 0 t",
    ]
)


def starts_by_definition(text: bytes) -> list[int]:
    """Return for each offset the start of the next line with another topic than the topic before it."""
    ends = [i + 1 for i, byte in enumerate(text) if byte == 10]
    lines = [(begin, text[begin:end]) for begin, end in zip([0, *ends], [*ends, len(text)], strict=True) if begin < end]
    topics = [(begin, line.split()[0]) for begin, line in lines if line.strip() and not line.startswith(b"#")]
    starts = [0]
    for i in range(1, len(text)):
        previous = [topic for begin, topic in topics if begin < i]
        last = previous[-1] if previous else None
        starts.append(next((begin for begin, topic in topics if begin >= i and topic != last), len(text)))
    return [*starts, len(text)]


@pytest.mark.parametrize("look", [8, 40, 1 << 16])
@pytest.mark.parametrize("text", [NASTY, NASTY + b"\n", b"1 Q0 d 1 1 t", b"# nothing\n\n"])
def test_each_position_has_one_start(look: int, text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LOOK", look)
    path = tmp_path / "run"
    path.write_bytes(text)
    with path.open("rb") as file:
        whole = stream.Segment(stream.OpenFile(str(path), file.fileno()), 0, len(text))
        starts = [blocks.topic_start(whole, offset) for offset in range(len(text) + 1)]
        assert starts == starts_by_definition(text)
        for size in (1, 5, 60, 1000):
            parts = blocks.segments(whole, 2, size, first=3)
            assert b"".join(text[part.position : part.end] for part in parts) == text


TOPICS = st.sampled_from(["1", "10", "q"])
LINES = st.lists(
    st.builds(str.__add__, TOPICS, st.sampled_from([" Q0 d 1 2 t", "\tQ0\td 1 2 t"]))
    | st.sampled_from(["", "# 1", " 1 Q0 d 1 2 t", "10"]),
    max_size=12,
)


@given(lines=LINES, repeats=st.integers(1, 3), rest=st.sampled_from(["", "\n", "\n1 Q0"]))
def test_a_search_for_bytes_and_a_scan_find_the_same_last_topic(lines: list[str], repeats: int, rest: str) -> None:
    text = ("\n".join(line for line in lines for _ in range(repeats)) + rest).encode()
    buffer = padded(len(text))
    buffer[PAD : PAD + len(text)] = np.frombuffer(text, np.uint8)
    last = blocks.last_topic(buffer, PAD, PAD + len(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_plain_stretch", lambda text, is_whole: None)
        assert blocks.last_topic(buffer, PAD, PAD + len(text)) == last
