"""The output file of a picture, and its size and signature."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

from gradedeval.analysis.pictures import (
    EXTENSIONS,
    WIDTH,
    Panel,
    extension,
    figure,
    no_room_error,
    read_size,
    render,
    require_matplotlib,
)
from gradedeval.cli.arguments import signature_formatter
from gradedeval.cli.options import SIGNATURE, WRITES, Option
from gradedeval.cli.output import context_option, write_bytes
from gradedeval.errors import Added, InputError, emit_notes, shorten
from gradedeval.kernel.options import OUTPUT

PICTURE_OPTIONS = [
    Option("-o", "--output", section=OUTPUT, metavar="FILE", file=WRITES, help="Write the picture to FILE, "
           f"atomically; the extension sets the format: {', '.join(EXTENSIONS)}.",
           short="File of the picture: png, svg or pdf."),
    Option("--size", section=OUTPUT, metavar="WIDTH[xHEIGHT]", help="Size in inches, as in 7x3; without a height it "
           f"fits the content. Default: {WIDTH}, the column of a paper.", short="Size in inches, as in 7x3."),
    SIGNATURE,
]  # fmt: skip


def lines_under(result: Any) -> str:
    """Return the settings and the signature of a result, as lines under its picture."""
    return "\n".join(part for part in (result.settings_text, result.signature) if part)


PICTURE = "picture.svg"
"""The example of a file name in the hint for a missing -o."""


class Canvas:
    """The file and size of a picture. Pops -o and --size from the options of the command.

    Raises InputError (usage) for a missing -o, an unknown extension, an invalid size, or missing matplotlib.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        output, size = options.pop("output"), options.pop("size")
        if output is None:
            raise InputError("-o", "missing file name", Added(f"for example -o {PICTURE}", "-o", PICTURE), usage=True)
        self.output: str = output
        self.format = extension(self.output, "-o")
        self.size = read_size(size)
        require_matplotlib()

    def draw(self, panels: Sequence[Panel], signature: str, caption: str = "") -> None:
        """Draw panels below each other and write the file, with caption and, by --signature, signature below."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)  # such as letters that the font lacks
            warnings.simplefilter("ignore", DeprecationWarning)  # matplotlib's own, in pyparsing
            lines = [caption, signature_formatter()(signature) if context_option("signature") else ""]
            drawing = figure(panels, *self.size, "\n".join(filter(None, lines)))
            content = render(drawing, self.format, signature)
        messages = dict.fromkeys(str(warning.message) for warning in caught)
        if any("collapsed to zero" in text for text in messages):
            raise no_room_error(drawing)
        letters = {match[1]: text for text in messages if (match := _MISSING_LETTER.match(text))}
        write_bytes(content, self.output)
        emit_notes(f"{self.output}: {text}" for text in messages if text not in letters.values())
        if letters and self.format != "svg":
            lacking = shorten(chr(int(number)) for number in letters)
            emit_notes([f"{self.output}: no font here has {lacking}; install one, or write .svg, which keeps the text"])


_MISSING_LETTER = re.compile(r"Glyph (\d+) .*missing from")
