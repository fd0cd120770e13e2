"""Where a picture goes: -o, its size, and what is written with it."""

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
from gradedeval.errors import InputError, emit_notes, shorten
from gradedeval.kernel.options import OUTPUT

PICTURE_OPTIONS = [
    Option("-o", "--output", section=OUTPUT, metavar="FILE", file=WRITES, help="Write the picture to FILE, "
           f"atomically; the extension sets the format: {', '.join(EXTENSIONS)}."),
    Option("--size", section=OUTPUT, metavar="WIDTH[xHEIGHT]", help="Size in inches, as in 7x3; without a height it "
           f"fits the content. Default: {WIDTH}, the column of a paper."),
    SIGNATURE,
]  # fmt: skip


def lines_under(result: Any) -> str:
    """Return how a result was found, and what it depends on: the lines below its picture."""
    return "\n".join(part for part in (result.aside, result.signature) if part)


class Canvas:
    """Where a picture goes: -o, --size and --signature.

    Takes these options out of all options. Raises InputError (usage) where -o is missing or has another extension,
    where a size is none, and where matplotlib is not installed.
    """

    def __init__(self, keywords: dict[str, Any]) -> None:
        output, size = keywords.pop("output"), keywords.pop("size")
        if output is None:
            raise InputError("-o", "missing file name", "for example -o picture.svg", usage=True)
        self.output: str = output
        self.format = extension(self.output, "-o")
        self.size = read_size(size)
        require_matplotlib()

    def draw(self, panels: Sequence[Panel], signature: str, caption: str = "") -> None:
        """Draw pictures below each other and write the file; the signature stands below where it is asked for."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)  # as of letters that the font does not have
            warnings.simplefilter("ignore", DeprecationWarning)  # as matplotlib meets in pyparsing: not the user's
            lines = [caption, signature_formatter()(signature) if context_option("signature") else ""]
            made = figure(panels, *self.size, "\n".join(filter(None, lines)))
            content = render(made, self.format, signature)
        said = dict.fromkeys(str(warning.message) for warning in caught)
        if any("collapsed to zero" in text for text in said):
            raise no_room_error(made)
        letters = {found[1]: text for text in said if (found := _NO_LETTER.match(text))}
        write_bytes(content, self.output)
        emit_notes(f"{self.output}: {text}" for text in said if text not in letters.values())
        if letters and self.format != "svg":
            lacking = shorten(chr(int(number)) for number in letters)
            emit_notes([f"{self.output}: no font here has {lacking}; install one, or write .svg, which keeps the text"])


_NO_LETTER = re.compile(r"Glyph (\d+) .*missing from")
