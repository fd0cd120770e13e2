"""Runs the blocks of a Markdown page: console sessions, Python, and the files that blocks define."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradedeval.cli import main
from gradedeval.cli import output as to_screen
from support.paths import ROOT

BLOCK = re.compile(
    r"^```(?P<kind>console|python|toml)\n(?P<body>.*?)^```\n(?P<shown>\n```text\n(?P<output>.*?)^```\n)?", re.M | re.S
)
NAMED = re.compile(r"# (?P<name>[\w-]+\.(?:py|toml))\n")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
PLAIN = re.compile(r"gradedeval (?P<words>[^|;&<>`$]*?)(?P<hushed> 2> /dev/null)?")


WIDTH = 100
"""Columns of the terminal of a reader of the pages."""

# The program; messages to a terminal are wrapped, those to a pipe or file are not.
FOR_READERS = f"""\
import os
from gradedeval.__main__ import run
from gradedeval.cli import output

def prose_width(stream):
    found = os.fstat(stream.fileno())
    return {WIDTH} if f"{{found.st_dev}}:{{found.st_ino}}" == os.environ.get("READER") else None

output.prose_width = prose_width
run()
"""


def reader_folder(folder: Path) -> Path:
    """Return a folder as a reader has it, with `gradedeval` and `python` of this environment for the shell."""
    for name in ("qrels_samples", "examples"):
        (folder / name).symlink_to(ROOT / name)
    return with_programs(folder)


def with_programs(folder: Path) -> Path:
    """Make `gradedeval` and `python` of this environment in `bin` of a folder, for `shell`."""
    (folder / "bin").mkdir()
    for name, words in (("gradedeval", f"-c {shlex.quote(FOR_READERS)}"), ("python", "")):
        command = folder / "bin" / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        command.chmod(0o755)
    return folder


def shell(command: str, folder: Path) -> str:
    """Return standard output and error together, with messages in lines of `WIDTH` columns."""
    return by_shell(command, folder)[1]


def by_shell(command: str, folder: Path) -> tuple[int, str]:
    """Return the exit code of a command in bash, and its printed text."""
    environment = {
        **{name: value for name, value in os.environ.items() if name != "COLUMNS"},
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "LC_ALL": "C.UTF-8",
    }
    with tempfile.TemporaryFile() as target:
        seen = os.fstat(target.fileno())
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment | {"READER": f"{seen.st_dev}:{seen.st_ino}"},
            stdin=subprocess.DEVNULL,
            stdout=target,
            stderr=target,
            timeout=120,
            check=False,
        )
        target.seek(0)
        return done.returncode, target.read().decode()


def gradedeval(words: list[str], folder: Path, *, hushed: bool = False, columns: int = 80) -> str:
    """Return the output of `gradedeval WORDS...` in `folder`, run in this process, which is faster.

    hushed   leave out standard error
    columns  the width of the terminal, for help pages
    """
    return in_process(words, folder, hushed=hushed, columns=columns)[1]


def in_process(words: list[str], folder: Path, *, hushed: bool = False, columns: int = 80) -> tuple[int, str]:
    """Return the exit code of `gradedeval WORDS...`, and its output."""
    code = 0
    with captured(folder, hushed=hushed, columns=columns) as output:
        try:
            main(words)
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, output[0]


@contextlib.contextmanager
def captured(folder: Path, *, hushed: bool = False, columns: int = 80) -> Iterator[list[str]]:
    """Yield a list that receives standard output and error of the block, in `folder`; messages have lines of `WIDTH`
    columns."""
    streams, here, width = (sys.stdin, sys.stdout, sys.stderr), os.getcwd(), os.environ.get("COLUMNS")
    saved = os.dup(1), os.dup(2)
    output: list[str] = []
    with tempfile.TemporaryFile() as target, open(os.devnull, "rb+") as nowhere:
        for stream in streams[1:]:
            stream.flush()
        os.dup2(target.fileno(), 1)
        os.dup2((nowhere if hushed else target).fileno(), 2)
        sys.stdin = io.TextIOWrapper(io.BytesIO())
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(io.BufferedWriter(io.FileIO(number, "wb", closefd=False)), "utf-8") for number in (1, 2)
        )
        os.environ["COLUMNS"] = str(columns)
        os.chdir(folder)
        known, to_screen.prose_width = to_screen.prose_width, lambda _: WIDTH
        try:
            yield output
        finally:
            to_screen.prose_width = known
            sys.stdout.flush()
            sys.stderr.flush()
            sys.stdin, sys.stdout, sys.stderr = streams
            for number, was in zip((1, 2), saved, strict=True):
                os.dup2(was, number)
                os.close(was)
            os.chdir(here)
            if width is None:
                del os.environ["COLUMNS"]
            else:
                os.environ["COLUMNS"] = width
        target.seek(0)
        output.append(target.read().decode())


def run_command(command: str, folder: Path) -> tuple[int, str]:
    """Return the exit code and output of a command of a session: plain calls of gradedeval in this process, others
    in bash."""
    plain = PLAIN.fullmatch(QUOTED.sub(lambda quoted: "x" * len(quoted[0]), command))
    if not plain or "\n" in command:
        return by_shell(command, folder)
    words = command[slice(*plain.span("words"))]
    # Bash expands globs and braces; other commands are split here.
    split = (
        shell(f"printf '%s\\n' {words}", folder).splitlines()
        if re.search(r"[*?{~\[]", QUOTED.sub("", words))
        else shlex.split(words)
    )
    return in_process(split, folder, hushed=bool(plain["hushed"]))


def commands_of(body: str) -> list[str]:
    """Return the `$` commands of a console block. A command goes on in the next line after a backslash."""
    return re.findall(r"^\$ ((?:.*\\\n)*.*)$", body, re.M)


def joined(command: str) -> str:
    """Return a command in one line."""
    return re.sub(r"\\\n *", "", command)


def session(body: str, folder: Path) -> str:
    """Return a console block with each `$` command followed by its output."""
    lines: list[str] = []
    for command in commands_of(body):
        lines += [f"$ {command}", *run_command(joined(command), folder)[1].splitlines()]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def printed(body: str, folder: Path, names: dict[str, Any]) -> str:
    """Return the output of a Python block. `names` are the definitions of the blocks before it."""
    with captured(folder) as output:
        exec(compile(body, "block", "exec"), names)
    return "".join(f"{line.rstrip()}\n" for line in output[0].splitlines())


def rewritten(text: str, folder: Path) -> str:
    """Return the page with the output of every block run again.

    A block that begins with a comment `# name.py` or `# name.toml` becomes that file, for the commands that follow.
    Python blocks of a page share their names, and what one prints stands in a `text` block behind it.
    """
    names: dict[str, Any] = {"__name__": "page"}

    def run(block: re.Match[str]) -> str:
        body = block["body"]
        if named := NAMED.match(body):
            (folder / named["name"]).write_text(body, encoding="utf-8")
        if block["kind"] == "console":
            return f"```console\n{session(body, folder)}```\n{block['shown'] or ''}"
        output = printed(body, folder, names) if block["kind"] == "python" else ""
        if named:
            return block[0]
        assert bool(output) == bool(block["shown"]), f"what this block prints stands in no text block:\n{body}{output}"
        return f"```python\n{body}```\n" + (f"\n```text\n{output}```\n" if output else "")

    return BLOCK.sub(run, text)
