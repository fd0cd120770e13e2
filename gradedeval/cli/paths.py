"""What names runs on the command line -> their files: folders, patterns, lists."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gradedeval.errors import InputError, ProblemList
from gradedeval.trec.source import Source, file_errors

PATTERN = "*?["


def files_of(word: str, leave_out: Iterable[str] = ()) -> list[str]:
    """The files that an argument means: itself; all files in a folder, by name, without hidden ones; or, where no file
    has that name, all that match a pattern such as 'runs/*.run'.

    leave_out  files that are not runs, such as the qrels in the same folder

    Raises InputError where a folder holds no file, or none matches.
    """
    if os.path.isdir(word):
        with file_errors(word):
            paths = sorted(os.path.join(word, name) for name in os.listdir(word) if not name.startswith("."))
        problem, hint = "holds no run", "name the folder that holds the runs"
    elif set(word) & set(PATTERN) and not os.path.exists(word):
        from glob import glob  # rarely needed: the shell expands most patterns

        paths = sorted(glob(word, recursive=True))
        problem, hint = "matches no file", "check the pattern"
    else:
        return [word]
    files = [path for path in paths if os.path.isfile(path) and not any(same_file(path, other) for other in leave_out)]
    if not files:
        raise InputError(word, problem, hint)
    return files


def listed_files(list_of_runs: str, leave_out: Iterable[str] = ()) -> list[str]:
    """The files in a list, one argument of `files_of` per line, relative to the current folder; blank lines and those
    that begin with # are skipped. Zero bytes end lines where there are any (`find -print0`). `-` is standard input.

    Raises InputError where the list is empty or names missing files, with the first ten lines.
    """
    source = Source(list_of_runs)
    data = source.read()
    problems = ProblemList(source.place)
    listed: list[str] = []
    for number, line in enumerate(data.split(b"\0" if b"\0" in data else b"\n"), 1):
        word = os.fsdecode(line.strip(b"\r\n") if b"\0" in data else line.strip())
        if not word or word.startswith("#"):
            continue
        try:
            files = files_of(word, leave_out)
        except InputError as error:
            problems.add(number, f"'{word}' {error.problem}", error.hint)
            continue
        if files == ["-"] or not os.path.exists(files[0]):
            problems.add(number, f"{word}: no such file", "check the path")
        listed += files
    problems.check()
    if not listed:
        raise InputError(source.place, "names no run", "expected one file per line")
    return listed


def same_file(path: str, other: str) -> bool:
    """Whether two paths lead to the same file."""
    try:
        return os.path.isfile(path) and os.path.samefile(path, other)
    except OSError:
        return False
