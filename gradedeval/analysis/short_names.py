"""Short names of runs for pictures, which have less room than tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

SEPARATORS = "-_./: "


def short_names(names: Iterable[str]) -> tuple[dict[str, str], str]:
    """Shorten names by their common beginning and end, for pictures; return name -> short name, and a pattern such as
    `rivers-*.run`.

    Names are cut only at separators. Both results are empty if there is no common part, or if a short name would be
    empty or equal another run's name.
    """
    distinct = list(dict.fromkeys(names))
    if len(distinct) < 2:
        return {}, ""
    prefix, suffix = _start(distinct), _start([name[::-1] for name in distinct])[::-1]
    for start, end in ((prefix, suffix), ("", suffix), (prefix, "")):
        short = {name: name[len(start) : len(name) - len(end)] for name in distinct}
        whole = min(map(len, distinct)) > len(start) + len(end) and not set(short.values()) & set(distinct)
        if start + end and whole and all(re.search(r"\w", name) for name in short.values()):
            return short, f"{start}*{end}"
    return {}, ""


def _start(names: Sequence[str]) -> str:
    """Return the common beginning of all names, up to a separator."""
    first, last = min(names), max(names)  # all names between them share their prefix
    length = next((n for n, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[: 1 + max(first.rfind(sign, 0, length) for sign in SEPARATORS)]
