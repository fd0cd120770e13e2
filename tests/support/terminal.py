"""Commands at terminals: one for what they print, another for what they say."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import NamedTuple

from support.processes import environment

_ESCAPES = re.compile(r"\x1b\[[?\d;]*[A-Za-z]")


class Seen(NamedTuple):
    code: int
    out: str
    err: str


def without_escapes(text: str) -> str:
    return _ESCAPES.sub("", text)


RUN = "from gradedeval.__main__ import run; run()"


def at_terminal(*words: str, folder: Path, program: str = RUN, columns: int = 0, **more: str) -> Seen:
    """What a command leaves at its two terminals. `columns` is how wide they say that they are, `more` are variables
    of its environment."""
    masters, slaves = zip(*(pty.openpty() for _ in range(2)), strict=True)
    for slave in slaves:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 200 if columns else 0, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        env={**environment(), "TERM": "xterm", **more},
        stdin=subprocess.DEVNULL,
        stdout=slaves[0],
        stderr=slaves[1],
    )
    for slave in slaves:
        os.close(slave)
    read: dict[int, bytes] = dict.fromkeys(masters, b"")
    waiting = set(masters)
    while waiting:
        for ready in select.select(list(waiting), [], [], 120)[0]:
            try:
                part = os.read(ready, 1 << 16)
            except OSError:  # its other end is closed
                part = b""
            read[ready] += part
            waiting -= set() if part else {ready}
    for master in masters:
        os.close(master)
    out, err = (read[master].decode(errors="replace").replace("\r\n", "\n") for master in masters)
    return Seen(process.wait(60), out, err)
