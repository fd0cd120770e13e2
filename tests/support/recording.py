"""A recording of the program at a terminal, as an SVG that plays by itself: python -m tests.support.recording

The program runs at a terminal of its own, and its bytes become text in the colors that it chose; nothing is drawn by
hand. `docs/pictures/terminal.svg` is shown by the README, and a test holds that it is what the program prints today.
"""

import re
import shlex
import sys
import tempfile
from html import escape
from pathlib import Path

COLUMNS = 88
"""Width of the terminal."""

SESSION = (
    "bm25.run qrels -m 'err@20 ndcg@10' --topics relevant",
    "compare bm25.run neural.run qrels -m ndcg@10 --judging --quiet",
    "check neural.run qrels --baseline bm25.run --no-worse ndcg@10=5% --quiet",
)
"""The words after `gradedeval`, in a folder with two runs of the samples and their qrels."""

# Colors of SGR codes, on a dark ground.
COLORS = {"1": "#ffffff", "2": "#8b949e", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff",
          "35": "#d2a8ff", "36": "#76e3ea", "90": "#8b949e"}  # fmt: skip
SIZE, CHARACTER, LINE, MARGIN = 14, 8.43, 19, 16
"""Font size, width of a character, height of a line, and margin, in pixels."""

TYPING, READING = 0.035, 2.5
"""Seconds for a character that is typed, and after a command's output."""

_SGR = re.compile(r"\x1b\[([\d;]*)m")
STYLE = f"""\
text {{ font: {SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #e6edf3;
  white-space: pre }}
g {{ animation: shown 1ms both }}
@keyframes shown {{ from {{ opacity: 0 }} to {{ opacity: 1 }} }}
@media (prefers-reduced-motion: reduce) {{ g {{ animation: none }} }}"""


def spans(line: str) -> str:
    """Return a line of a terminal as SVG text: a tspan for each color."""
    parts = _SGR.split(line)
    colored = [
        (COLORS.get(code.split(";")[-1], ""), text) for code, text in zip(["", *parts[1::2]], parts[::2], strict=True)
    ]
    return "".join(
        f'<tspan fill="{color}">{escape(text)}</tspan>' if color else escape(text) for color, text in colored if text
    )


def drawn(session: list[tuple[str, str]]) -> str:
    """Return the SVG of commands and their outputs, which appear one after the other."""
    groups, row, seconds = [], 1, 0.3
    for command, output in session:
        prompt = (
            f'<text x="{MARGIN}" y="{MARGIN + row * LINE}"><tspan fill="#7ee787">$ </tspan>{escape(command)}</text>'
        )
        groups.append(f'<g style="animation-delay:{seconds:.2f}s">{prompt}</g>')
        seconds += TYPING * len(command)
        lines = output.splitlines()
        texts = [
            f'<text x="{MARGIN}" y="{MARGIN + (row + number) * LINE}">{spans(line)}</text>'
            for number, line in enumerate(lines, 1)
            if line
        ]
        groups.append("\n".join([f'<g style="animation-delay:{seconds:.2f}s">', *texts, "</g>"]))
        row, seconds = row + len(lines) + 2, seconds + READING
    width, height = round(2 * MARGIN + COLUMNS * CHARACTER), MARGIN * 2 + (row - 2) * LINE
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
            "<title>gradedeval at a terminal</title>",
            f"<style>{STYLE}</style>",
            '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
            *groups,
            "</svg>\n",
        ]
    )


def recorded() -> str:
    """Run the commands at a terminal, and return the SVG."""
    from support.paths import ROOT
    from support.terminal import at_terminal

    session = []
    with tempfile.TemporaryDirectory() as folder:
        for name, sample in (
            ("bm25.run", "rivers-bm25.run"),
            ("neural.run", "rivers-neural.run"),
            ("qrels", "rivers.qrels"),
        ):
            (Path(folder) / name).symlink_to(ROOT / "qrels_samples" / sample)
        for words in SESSION:
            seen = at_terminal(*shlex.split(words), folder=Path(folder), columns=COLUMNS, FORCE_COLOR="1")
            session.append((f"gradedeval {words}", seen.err + seen.out))
    return drawn(session)


if __name__ == "__main__":
    sys.path.insert(0, "tests")
    Path("docs/pictures/terminal.svg").write_text(recorded(), encoding="utf-8")
