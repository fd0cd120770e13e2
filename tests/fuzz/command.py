"""The command line in this process, with its output."""

import contextlib
import io
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from gradedeval.cli import EXIT_CODES, main
from support.commands import HIDDEN, Outcome


class _Stream(io.TextIOWrapper):
    def __init__(self, content: bytes = b"") -> None:
        super().__init__(io.BytesIO(content), encoding="utf-8", errors="surrogateescape")

    @property
    def written(self) -> bytes:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue()


def run(
    words: Sequence[str], folder: Path, stdin: bytes = b"", warned: list[str] | None = None, warn: bool = False
) -> Outcome:
    """Run `gradedeval` with words in a folder. An exception without a message of ours is raised, and with `warn` a
    warning of NumPy.

    shown  gets the warnings of Python that a user would see
    """
    streams = sys.stdin, sys.stdout, sys.stderr
    out, err = _Stream(), _Stream()
    with contextlib.chdir(folder), warnings.catch_warnings(record=warned is not None) as caught:
        warnings.simplefilter("ignore" if warned is None else "default")
        if warn:
            warnings.simplefilter("error", RuntimeWarning)
        sys.stdin, sys.stdout, sys.stderr = _Stream(stdin), out, err
        try:
            main(list(words))
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        finally:
            sys.stdin, sys.stdout, sys.stderr = streams
    if warned is not None:
        warned += [
            f"{warning.filename}:{warning.lineno}: {warning.message}"
            for warning in caught
            if not issubclass(warning.category, HIDDEN)
        ]
    return Outcome(code, out.written, err.written)


CODES = {0, 1, 2, *(code for exits in EXIT_CODES.values() for code in (exits.data, *exits.kinds.values()))}
"""The exit codes of the program."""


FINDS = ("lint", "verify", "check")
"""Commands with exit code 1 for findings, which they print."""


def unclean(outcome: Outcome, name: str = "") -> str | None:
    """Return the problem of an outcome, regardless of the input."""
    text = outcome.err.decode("utf-8", "replace")
    if "Traceback" in text or outcome.code not in CODES:
        return f"no clean end: exit code {outcome.code}, {text[-400:]}"
    finds = name in FINDS and outcome.code == 1 and outcome.out
    if outcome.code and not finds and not text.strip():
        return f"no message: exit code {outcome.code}"
    return None
