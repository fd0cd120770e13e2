"""Look up test collections by short names, and keep the package ir_datasets from unrequested downloads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gradedeval.errors import InputError, Note, did_you_mean, emit_notes
from gradedeval.kernel.trec.stream import IR_DATASETS

INSTALL = "pip install 'gradedeval[collections]'"


@dataclass(frozen=True)
class Collection:
    """A test collection and its evaluation conventions.

    name         its short name; empty for other collections of ir_datasets
    dataset      its name in ir_datasets
    description  its name in words
    rel          the lowest grade that counts as relevant for binary measures
    measures     the usual measures, in our notation
    note         another convention
    """

    name: str
    dataset: str
    description: str = ""
    measures: str = ""
    rel: int = 1
    note: str = ""

    @property
    def place(self) -> str:
        """The full name."""
        return IR_DATASETS + self.dataset

    @cached_property
    def is_local(self) -> bool | None:
        """Whether its judgments can be read without a download; None where ir_datasets is not installed."""
        import logging

        try:
            import ir_datasets
        except ImportError:
            return None
        disabled = logging.root.manager.disable
        try:
            logging.disable(logging.WARNING)
            with offline(ir_datasets, self.place):
                next(iter(ir_datasets.load(self.dataset).qrels_iter()), None)
        except Exception:  # any error: they cannot be read
            return False
        finally:
            logging.disable(disabled)
        return True


def _listed() -> Iterator[Collection]:
    graded, duplicates = "ndcg@10 rr(rel=2) ap(rel=2)", "judgments were copied to duplicate passages"
    for year in range(2019, 2024):
        v2, note = ("-v2" if year > 2020 else ""), (duplicates if year > 2021 else "")
        yield Collection(f"dl{year % 100}-passage", f"msmarco-passage{v2}/trec-dl-{year}/judged",
            f"TREC Deep Learning {year}, passages", graded, 2, note)  # fmt: skip
        yield Collection(f"dl{year % 100}-doc", f"msmarco-document{v2}/trec-dl-{year}/judged",
            f"TREC Deep Learning {year}, documents", "ndcg@10 rr ap")  # fmt: skip
    yield Collection("dl-hard", "msmarco-passage/trec-dl-hard", "DL-HARD, passages", "ndcg@10 rr(rel=2)", 2)
    yield Collection("dl-hard-doc", "msmarco-document/trec-dl-hard", "DL-HARD, documents", "ndcg@10 rr(rel=2)", 2)
    yield Collection("msmarco-dev", "msmarco-passage/dev/small", "MS MARCO, passages, small dev set", "rr@10")
    yield Collection("msmarco-doc-dev", "msmarco-document/dev", "MS MARCO, documents, dev set", "rr@100")
    yield Collection("robust04", "disks45/nocr/trec-robust-2004", "TREC Robust 2004", "ap p@20 ndcg@20")
    yield Collection("trec-covid", "cord19/trec-covid", "TREC-COVID, all rounds", "ndcg@20 p@20 bpref ap")
    for number in (1, 2):
        yield Collection(f"ntcir-www-{number}", f"clueweb12/b13/ntcir-www-{number}",
            f"NTCIR We Want Web {number}, English", "ndcg@10 q@10 nerr@10")  # fmt: skip
    of_beir = {
        **dict.fromkeys(("nfcorpus", "fiqa", "scifact", "dbpedia-entity", "hotpotqa", "fever", "quora"), "/test"),
        **dict.fromkeys(("nq", "arguana", "climate-fever", "scidocs"), ""),
    }
    exclusion = "BEIR leaves out documents whose id is the topic's"
    for name, subset in sorted(of_beir.items()):
        note = exclusion if name in ("arguana", "quora") else ""
        yield Collection(name, f"beir/{name}{subset}", f"BEIR, {name}", "ndcg@10", note=note)
    yield Collection("touche2020", "beir/webis-touche2020/v2", "BEIR, Touché 2020, second version", "ndcg@10")
    yield Collection("beir-trec-covid", "beir/trec-covid", "BEIR, TREC-COVID", "ndcg@10")
    for forum in ("android", "english", "gaming", "gis", "mathematica", "physics", "programmers", "stats", "tex",
                  "unix", "webmasters", "wordpress"):  # fmt: skip
        yield Collection(f"cqadupstack-{forum}", f"beir/cqadupstack/{forum}", f"BEIR, CQADupStack, {forum}", "ndcg@10")


COLLECTIONS: Mapping[str, Collection] = {collection.name: collection for collection in _listed()}
"""Short name -> collection."""

_BY_DATASET = {collection.dataset: collection for collection in COLLECTIONS.values()}


def find_collection(name: str) -> Collection | None:
    """Return the collection of a short name or of `ir_datasets:NAME`; None for any other name."""
    if not name.startswith(IR_DATASETS):
        return COLLECTIONS.get(name)
    dataset = name.removeprefix(IR_DATASETS)
    return _BY_DATASET.get(dataset, Collection("", dataset))


def find_unless_file(source: str) -> Collection | None:
    """Return the collection as `find_collection`; None, with a note, if a file of that name exists, which wins."""
    collection = find_collection(source)
    if collection is None or not os.path.exists(source):
        return collection
    hint = f"the collection of that name is {collection.place}" if collection.name == source else ""
    emit_notes([Note(f"{source}: read from the file of that name", hint)])
    return None


def suggest(name: str) -> str:
    """Return a suggestion for a missing file: a collection of a similar name; empty for any other name."""
    name = name.removeprefix("irds:")
    short = re.sub(r"^(trec-)?dl-20(\d\d)$", r"dl\2-passage", name.lower().replace("_", "-").removesuffix("-qrels"))
    if short in COLLECTIONS:
        return f"did you mean {short}?"
    if name in _BY_DATASET:
        return f"did you mean {_BY_DATASET[name].name}?"
    if name.startswith(("beir/", "msmarco-", "cord19/", "disks45/", "clueweb12/")):
        return f"did you mean {IR_DATASETS}{name}?"
    return "" if "." in name or "/" in name else did_you_mean(short, COLLECTIONS, 0.85)


# Control of ir_datasets, which by default downloads and caches any missing data.


@contextmanager
def offline(ir_datasets: Any, place: str, content: str = "qrels", allowed: bool = False) -> Iterator[None]:
    """Prevent downloads by ir_datasets in this block, or add a note about them if they are allowed.

    All downloads go through methods of `BaseDownload`, which are replaced meanwhile. Raises InputError if a download is
    necessary but not allowed, or if this version of the package has no such class.
    """
    collection = find_collection(place)
    place, attempts = (collection and collection.name) or place, list[Any]()
    cure = f"`gradedeval collections {place} --download` fetches them"
    if content != "qrels":
        cure = f"`ir_datasets export {collection.dataset if collection else place} {content}` fetches them"
    kinds = _downloads(ir_datasets)
    if not kinds and not allowed:
        raise InputError(place, "this version of ir_datasets cannot be kept from downloading", cure)
    saved = {(kind, name): vars(kind)[name] for kind in kinds for name in ("stream", "__iter__") if name in vars(kind)}
    for (kind, name), method in saved.items():
        setattr(kind, name, _watched(method, allowed, attempts))
    try:
        yield
    except Exception:
        if attempts and not allowed:
            raise InputError(place, "its files are not on this machine", cure, kind="download") from None
        raise
    finally:
        for (kind, name), method in saved.items():
            setattr(kind, name, method)
    if attempts:
        text = f"{place}: downloaded by ir_datasets, which keeps it"
        emit_notes([Note(text, "https://ir-datasets.com has the terms of each collection")])


def _downloads(ir_datasets: Any) -> list[type]:
    """Return the download classes of ir_datasets, without the one for files that users put in its folder."""
    util = getattr(ir_datasets, "util", None)
    base, local = (getattr(util, name, None) for name in ("BaseDownload", "LocalDownload"))
    if base is None or local is None:
        return []
    classes: list[type] = []
    pending: list[type] = list(base.__subclasses__())
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        if not issubclass(kind, local):
            classes.append(kind)
    return classes


def _watched(method: Any, allowed: bool, attempts: list[Any]) -> Any:
    def watched(download: Any, *arguments: Any) -> Any:
        attempts.append(download)
        if not allowed:
            raise OSError("downloads were not requested")
        return method(download, *arguments)

    return watched
