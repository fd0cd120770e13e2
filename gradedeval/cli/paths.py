"""What names runs on the command line -> their files: folders, patterns, lists."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gradedeval.errors import InputError, ProblemList
from gradedeval.trec.source import Source, file_errors

PATTERN = "*?["


def files_of(word: str, leave_out: Iterable[str] = ()) -> list[str]:
    """The files that a word means: itself; all plain files in a folder, by name, hidden ones left out; or, where no
    file has that name, all that match a pattern as in 'runs/*.run'.

    leave_out  files that are no run, such as the qrels in the same folder

    Raises InputError where a folder holds no file, or none matches.
    """
    if os.path.isdir(word):
        with file_errors(word):
            found = sorted(os.path.join(word, name) for name in os.listdir(word) if not name.startswith("."))
        what, hint = "holds no run", "name the folder that holds the runs"
    elif set(word) & set(PATTERN) and not os.path.exists(word):
        from glob import glob  # few patterns reach us: the shell has replaced them

        found = sorted(glob(word, recursive=True))
        what, hint = "matches no file", "check the pattern"
    else:
        return [word]
    found = [path for path in found if os.path.isfile(path) and not any(same_file(path, one) for one in leave_out)]
    if not found:
        raise InputError(word, what, hint)
    return found


def listed_files(list_of_runs: str, leave_out: Iterable[str] = ()) -> list[str]:
    """The files that a list names, one word a line as in `files_of`, from the folder we are in; blank lines and those
    that begin with # are skipped, and zero bytes end lines where there are any (`find -print0`). `-` is standard input.

    Raises InputError where it names none, or what is not there: the first ten lines.
    """
    source = Source(list_of_runs)
    data = source.read()
    findings = ProblemList(source.place)
    found: list[str] = []
    for number, line in enumerate(data.split(b"\0" if b"\0" in data else b"\n"), 1):
        word = os.fsdecode(line.strip(b"\r\n") if b"\0" in data else line.strip())
        if not word or word.startswith("#"):
            continue
        try:
            files = files_of(word, leave_out)
        except InputError as error:
            findings.add(number, f"'{word}' {error.problem}", error.hint)
            continue
        if files == ["-"] or not os.path.exists(files[0]):
            findings.add(number, f"no such file '{word}'", "paths start from the folder you are in")
        found += files
    findings.check()
    if not found:
        raise InputError(source.place, "names no run", "one file a line")
    return found


def same_file(path: str, other: str) -> bool:
    """Whether two paths lead to one plain file."""
    try:
        return os.path.isfile(path) and os.path.samefile(path, other)
    except OSError:
        return False
