"""What runs are called: by file, with as much of the folders as makes them unique, or as they are given."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from gradedeval.errors import InputError, redacted
from gradedeval.rankings.objects import check_no_columns, is_ids, is_row, rows_or_several
from gradedeval.trec.paths import files_of
from gradedeval.trec.source import is_file, is_path, is_url, without_suffix


def named_runs(run: Any, qrels: Any = None) -> dict[str, Any]:
    """Runs by the names they go by: `run` is one run, a list or iterator of runs, or a dict name -> run.

    qrels  a path that is left out of a folder or pattern
    """
    if isinstance(run, Mapping) and not _is_ranking(run):
        check_no_columns(run, "run")
        return {str(name): single for name, single in run.items()}
    if isinstance(run, Iterator) and not is_file(run):
        run = rows_or_several(run)
    several = list(run) if isinstance(run, list | tuple) and not (run and is_row(run[0])) else [run]
    if not several:
        raise InputError("", "no run given", "give at least one", usage=True)
    judged = [os.fsdecode(qrels)] if is_path(qrels) else []
    several = [
        one for given in several for one in (files_of(os.fsdecode(given), judged) if is_path(given) else [given])
    ]
    paths = [given for given in several if is_path(given)]
    names = dict(zip(map(os.fsdecode, paths), file_names([os.fsdecode(path) for path in paths]), strict=True))
    named: dict[str, Any] = {}
    for number, given in enumerate(several, 1):
        name = names[os.fsdecode(given)] if is_path(given) else _file_name(given)
        name = name or ("run" if len(several) == 1 else f"run{number}")
        if name in named and is_path(given) and is_url(given) and named[name] != given:
            hint = "score each by itself, or in Python name them in a dict"
            raise InputError("", f"two URLs are called '{name}'", hint, usage=True)
        if name in named:
            raise InputError("", f"run '{name}' is given twice", "give each run once", usage=True)
        named[name] = given
    return named


def _file_name(run: Any) -> str:
    """The name of an open file's path, or of a run of ranx."""
    name = getattr(run, "name", "") if hasattr(run, "read") or hasattr(run, "to_dict") else ""
    return without_suffix(os.path.basename(name)) if isinstance(name, str) else ""


def _is_ranking(run: Mapping[Any, Any]) -> bool:
    """Whether a dict is one run (topic -> docno -> score, or topic -> docnos) and not several by name."""
    for inner in run.values():
        if is_ids(inner):
            return not any(map(is_row, islice(inner, 1)))
        if not isinstance(inner, Mapping):
            return False
        for value in inner.values():
            return not isinstance(value, Mapping) and not is_ids(value)
    return True


def file_names(paths: list[str]) -> list[str]:
    """Each path's file name without compression suffix, with as much of its folders as makes it unique.

    The suffix stays where `a.run` and `a.run.gz` stand beside each other.
    """
    if not paths:
        return []
    paths = [redacted(path).removesuffix("?…") if is_url(path) else path for path in paths]
    short = [without_suffix(path) for path in paths]
    often = Counter(short)
    paths = [path if often[name] > 1 else name for path, name in zip(paths, short, strict=True)]
    names = ["stdin" if path == "-" else os.path.basename(path) for path in paths]
    if len(set(names)) == len(names):
        return names
    parts = [_folders(path) for path in paths]
    ends = [Counter(folders[-length:] for folders in parts) for length in range(max(map(len, parts)))]
    lengths = [
        next((length for length in range(1, len(folders)) if ends[length][folders[-length:]] == 1), len(folders))
        for folders in parts
    ]
    return [
        "/".join(folders[-length:]) if is_url(path) else os.path.join(*folders[-length:])
        for path, folders, length in zip(paths, parts, lengths, strict=True)
    ]


def _folders(path: str) -> tuple[str, ...]:
    """The folders of a path and its file; of a URL its protocol first."""
    from pathlib import Path

    if is_url(path):
        protocol, _, rest = path.partition("://")
        return (f"{protocol}:/", *rest.split("/"))
    return Path(path).parts if path != "-" else ("stdin",)
