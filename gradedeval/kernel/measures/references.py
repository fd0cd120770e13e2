"""The papers and tools that docstrings of measures cite, as BibTeX."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Reference(NamedTuple):
    """An entry of references.bib: the forms in which it is cited, and its text."""

    cited: tuple[str, ...]
    text: str


@cache
def references() -> list[Reference]:
    """Return the entries, in the order of the file."""
    text = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"((?:^% .*\n)+)(@(?:.*\n)+?\}\n)", text, re.MULTILINE)
    return [Reference(tuple(re.findall("^% (.*)", cited, re.MULTILINE)), entry) for cited, entry in entries]


def cited_in(source: str) -> list[Reference]:
    """Return the papers and tools that the source of a measure cites, in its order."""
    joined, places = " ".join(source.split()), dict[int, Reference]()
    for reference in references():
        for name in reference.cited:
            if name in joined:
                places.setdefault(joined.index(name) + len(name), reference)
    return list(dict.fromkeys(reference for _, reference in sorted(places.items())))
