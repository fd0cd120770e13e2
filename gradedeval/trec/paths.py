"""What a word names: a file, all files in a folder, or all that match a pattern."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gradedeval.errors import InputError, url_place
from gradedeval.trec.source import file_errors, is_url
from gradedeval.trec.urls import check_url, storage_of


def files_of(word: str, leave_out: Iterable[str] = ()) -> list[str]:
    """The files that an argument means: itself; all files in a folder, by name, without hidden ones; or, where no file
    has that name, all that match a pattern such as 'runs/*.run'.

    leave_out  files that are not runs, such as the qrels in the same folder

    Raises InputError where a folder holds no file, or none matches, and for a URL that is not allowed.
    """
    if is_url(word):
        from gradedeval.trec.remote import is_pattern, matching  # few evaluations read a URL

        check_url(word)
        if not is_pattern(word):
            return [word]
        if not (found := [url for url in matching(word) if url not in leave_out]):
            raise InputError(url_place(word), "names no file", "check the URL")
        return found
    if os.path.isdir(word):
        with file_errors(word):
            paths = sorted(os.path.join(word, name) for name in os.listdir(word) if not name.startswith("."))
        problem, hint = "holds no run", "name the folder that holds the runs"
    elif set(word) & set("*?[") and not os.path.exists(word):
        from glob import glob  # rarely needed: the shell expands most patterns

        paths = sorted(glob(word, recursive=True))
        problem, hint = "matches no file", "check the pattern"
    else:
        return [word]
    files = [path for path in paths if os.path.isfile(path) and not any(same_file(path, other) for other in leave_out)]
    if not files:
        raise InputError(word, problem, hint)
    return files


def check_listed(word: str, source: str) -> None:
    """Raise InputError where a line of a list that came from a URL, `source`, names a file here, or one of another
    protocol, host or bucket: whoever wrote the list would choose what is read with the rights of this user."""
    there = storage_of(source)
    if not is_url(word):
        what = "is not a URL"
    elif there is None or storage_of(word) != there or ".." in word.split("/"):
        what = "lies elsewhere than the list"
    else:
        return
    where = there or "its own storage"
    raise InputError(url_place(word), what, f"a list from a URL may name URLs of {where} alone; copy it to name others")


def same_file(path: str, other: str) -> bool:
    """Whether two paths, or two URLs, lead to the same file."""
    if is_url(path):
        return path == other
    try:
        return os.path.isfile(path) and os.path.samefile(path, other)
    except OSError:
        return False
