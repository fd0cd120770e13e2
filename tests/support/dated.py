"""Histories with one date, so that two of them have the same bytes."""

import re

TIME, THEN = re.compile(rb'("time": *")([^"]*)'), b"2026-01-01T00:00:00+00:00"


def dated(content: bytes) -> bytes:
    """Return the lines with one time, as long as theirs: of a line that was cut short, as much of it."""
    return TIME.sub(lambda found: found[1] + THEN[: len(found[2])], content)
