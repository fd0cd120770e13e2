"""Commands at terminals: one for output, another for messages."""

import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from gradedeval.cli import main
from support.commands import environment

_ESCAPES = re.compile(r"\x1b\[[?\d;]*[A-Za-z]")


class Seen(NamedTuple):
    code: int
    out: str
    err: str


def without_escapes(text: str) -> str:
    return _ESCAPES.sub("", text)


def at_terminal(*words: str, folder: Path, columns: int = 0, **more: str) -> Seen:
    """Return the text on the two terminals of a command. `columns` is their width, `more` are environment variables.
    The process is forked from this one, which has imported everything."""
    masters, slaves = zip(*(pty.openpty() for _ in range(2)), strict=True)
    for slave in slaves:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 200 if columns else 0, columns, 0, 0))
    child = os.fork()
    if not child:
        _run(words, folder, slaves, {**environment(), "TERM": "xterm", **more})
    for slave in slaves:
        os.close(slave)
    output: dict[int, bytes] = dict.fromkeys(masters, b"")
    waiting = set(masters)
    while waiting:
        for ready in select.select(list(waiting), [], [], 120)[0]:
            try:
                part = os.read(ready, 1 << 16)
            except OSError:  # its other end is closed
                part = b""
            output[ready] += part
            waiting -= set() if part else {ready}
    for master in masters:
        os.close(master)
    out, err = (output[master].decode(errors="surrogateescape").replace("\r\n", "\n") for master in masters)
    return Seen(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), out, err)


def _run(words: Sequence[str], folder: Path, terminals: Sequence[int], variables: Mapping[str, str]) -> NoReturn:
    """Run the command line in a process that has just been forked."""
    code = 1
    try:
        for descriptor, file in enumerate((os.open(os.devnull, os.O_RDONLY), *terminals)):
            os.dup2(file, descriptor)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", errors="backslashreplace")  # noqa: SIM115
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        main(words)
    except SystemExit as end:
        code = int(end.code or 0)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
