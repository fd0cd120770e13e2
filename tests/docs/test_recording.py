"""The recording in the README, made again."""

import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from support.paths import ROOT
from support.recording import COLUMNS, SESSION, recorded, spans

STORED = ROOT / "docs" / "pictures" / "terminal.svg"
NAMESPACE = "{http://www.w3.org/2000/svg}"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudoterminals of this kind")
def test_the_recording_is_up_to_date(request: pytest.FixtureRequest) -> None:
    now = recorded()
    if request.config.getoption("--golden"):
        STORED.write_text(now, encoding="utf-8")
    assert STORED.read_text(encoding="utf-8") == now


def test_every_line_fits_and_every_command_is_shown() -> None:
    picture = ElementTree.parse(STORED).getroot()
    lines = ["".join(text.itertext()) for text in picture.iter(f"{NAMESPACE}text")]
    assert max(map(len, lines)) <= COLUMNS
    assert [line for line in lines if line.startswith("$ ")] == [f"$ gradedeval {words}" for words in SESSION]
    delays = [float(re.findall(r"[\d.]+", group.attrib["style"])[0]) for group in picture.iter(f"{NAMESPACE}g")]
    assert delays == sorted(delays)
    assert max(delays) < 20


def test_colors_of_the_terminal_are_colors_of_the_picture() -> None:
    assert spans("a \x1b[32mok\x1b[0m <b>") == 'a <tspan fill="#7ee787">ok</tspan> &lt;b&gt;'
