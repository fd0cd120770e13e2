"""Color on a terminal: headings, the best, what is significant, verdicts, errors and notes. Color says nothing that the
text does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

BOLD, RED, GREEN, END = "\33[1m", "\33[31m", "\33[32m", "\33[0m"
_RULE = re.compile(r"-+(  -+)*")
_MARKED = re.compile(r"(?<!\S)(\*[-+.\d%]+\*|[-+.\d%]+[*†‡]+)(?!\S)")
_VERDICT = re.compile(r"(FAIL|ok)(?=  )")
_PLACE = re.compile(r".+?(?=: |; |$)")


def table(text: str) -> str:
    """A text for people in color: headers of tables are bold, and so is what stands out in a column; the verdicts of
    `check` are green and red. Without its escape codes it is the text."""
    return "\n".join(_painted(text.split("\n")))


def _painted(lines: list[str]) -> Iterator[str]:
    inside = False
    for line, heads in zip(lines, _are_heads(lines), strict=True):
        if heads:
            yield bold(line)
        elif _RULE.fullmatch(line):
            inside = True
            yield line
        else:
            inside = inside and bool(line)
            yield _MARKED.sub(lambda found: bold(found[0]), line) if inside else verdict(line)


def _are_heads(lines: list[str]) -> list[bool]:
    """Whether each line is of the header of a table: between it and the rule none is blank, nor a rule."""
    heads, under = list[bool](), False
    for line in reversed(lines):
        rule = _RULE.fullmatch(line) is not None
        heads.append(under and bool(line) and not rule)
        under = rule or heads[-1]
    return heads[::-1]


def bold(text: str) -> str:
    return f"{BOLD}{text}{END}"


def verdict(line: str) -> str:
    """A line with its FAIL in red, its ok in green."""
    found = _VERDICT.match(line)
    color = RED if found and found[0] == "FAIL" else GREEN
    return f"{BOLD}{color}{found[0]}{END}{line[found.end() :]}" if found else line


def error(line: str) -> str:
    """A line of an error with its place in red."""
    return _PLACE.sub(lambda found: f"{BOLD}{RED}{found[0]}{END}", line, count=1)


def note(line: str) -> str:
    """A line of a note with its place in bold."""
    place, colon, rest = line.partition(": ")
    return f"{bold(place)}{colon}{rest}" if colon else line


MESSAGES: dict[str, Callable[[str], str]] = {"error": error, "note": note, "verdict": verdict}


def message(text: str, kind: str) -> str:
    """A message, in the lines that it has on a terminal, with the color of its kind in the first."""
    first, end, rest = text.partition("\n")
    return f"{MESSAGES[kind](first)}{end}{rest}"
