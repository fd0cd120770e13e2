"""The command line in this process, with what it writes."""

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
    words: Sequence[str], folder: Path, stdin: bytes = b"", shown: list[str] | None = None, warn: bool = False
) -> Outcome:
    """What `gradedeval` with these words comes to in a folder. An exception without a message of ours comes out, and
    with `warn` a warning of numpy.

    shown  gets the warnings of Python that a user would see
    """
    streams = sys.stdin, sys.stdout, sys.stderr
    out, err = _Stream(), _Stream()
    with contextlib.chdir(folder), warnings.catch_warnings(record=shown is not None) as caught:
        warnings.simplefilter("ignore" if shown is None else "default")
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
    if shown is not None:
        shown += [
            f"{one.filename}:{one.lineno}: {one.message}" for one in caught if not issubclass(one.category, HIDDEN)
        ]
    return Outcome(code, out.written, err.written)


CODES = {0, 1, 2, *(code for exits in EXIT_CODES.values() for code in (exits.data, *exits.kinds.values()))}
"""The exit codes of the program."""


FINDS = ("lint", "verify", "check")
"""Commands whose exit code 1 says what they found, which they print."""


def unclean(outcome: Outcome, name: str = "") -> str | None:
    """What is wrong with an outcome of a command, whatever the input was."""
    text = outcome.err.decode("utf-8", "replace")
    if "Traceback" in text or outcome.code not in CODES:
        return f"no clean end: exit code {outcome.code}, {text[-400:]}"
    found = name in FINDS and outcome.code == 1 and outcome.out
    if outcome.code and not found and not text.strip():
        return f"no message: exit code {outcome.code}"
    return None
