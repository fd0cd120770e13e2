"""The package ir_datasets in small: datasets with a cache, and downloads that no network is needed for."""

from __future__ import annotations

import contextlib
import sys
from collections import namedtuple
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

import pytest

Judged = namedtuple("Judged", "query_id doc_id relevance iteration")


class BaseDownload:
    """A download, with the interface of the package."""

    def stream(self) -> Any:
        raise NotImplementedError


class LocalDownload(BaseDownload):
    """A file that a user has put in the folder of the package."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextlib.contextmanager
    def stream(self) -> Iterator[Any]:
        with self.path.open("rb") as file:
            yield file


class RequestsDownload(BaseDownload):
    """A file far away."""

    def __init__(self, far: Far, name: str) -> None:
        self.far, self.name = far, name

    @contextlib.contextmanager
    def stream(self) -> Iterator[Any]:
        self.far.asked.append(self.name)
        if self.name not in self.far.files:
            raise OSError("no route to host\nand so on")
        yield BytesIO(self.far.files[self.name])


class Far:
    """The network: name -> bytes, and the requests."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files, self.asked = files, list[str]()


class Dataset:
    """Judgments that are read from the cache, and downloaded if they are missing."""

    def __init__(self, path: Path, far: Far, name: str) -> None:
        self.path, self.mirrors = path, (LocalDownload(path.with_suffix(".local")), RequestsDownload(far, name))

    def qrels_iter(self) -> Iterator[Judged]:
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(self._fetched())
        for line in self.path.read_text().splitlines():
            topic, iteration, docno, grade = line.split()
            yield Judged(topic, docno, int(grade), iteration)

    def queries_iter(self) -> Iterator[Any]:
        """Raise an error: texts are never in the cache."""
        raise AssertionError(self._fetched())

    def _fetched(self) -> bytes:
        errors = []
        for mirror in self.mirrors:
            try:
                with mirror.stream() as file:
                    return bytes(file.read())
            except OSError as error:
                errors.append(error)
        raise errors[-1]


def install(monkeypatch: pytest.MonkeyPatch, home: Path, files: dict[str, bytes], **known: str) -> Far:
    """Install the package with a cache in a folder, the content of the network, and further datasets by short name."""
    from gradedeval import Qrels

    far, names = Far(files), {entry.dataset for entry in Qrels.collections().values()} | set(known.values())

    def load(name: str) -> Dataset:
        if name not in names:
            raise KeyError(name)
        return Dataset(home / name / "qrels", far, name)

    util = SimpleNamespace(BaseDownload=BaseDownload, LocalDownload=LocalDownload)
    package = ModuleType("ir_datasets")
    package.load, package.util = load, util  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ir_datasets", package)
    for entry in Qrels.collections().values():
        entry.__dict__.pop("is_local", None)  # it is remembered
    return far


def no_network(*_: object, **__: object) -> NoReturn:
    """Raise an error in place of a socket."""
    raise AssertionError("the network was asked")
