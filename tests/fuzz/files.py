"""Files with bytes that do not belong there: the block reader against the line reader and a reader of ten lines."""

import bz2
import gzip
import lzma
import math
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

from fuzz import command
from fuzz.case import Case, Kind
from gradedeval import EvaluationWarning
from gradedeval.errors import InputError
from gradedeval.kernel.formats import FORMATS
from gradedeval.kernel.options import resolve_options
from gradedeval.kernel.rankings.qrels import Qrels
from support.runs import awkward, named, outcome, read_by_line, read_in_blocks, read_simply, same_qrels

NUMBERS = [
    *(b"1e309", b"-1e309", b"1e-400", b"0x1p3", b"1_0", "١".encode(), b"+.5e-3", b"nan", b"NaN", b"inf", b"-Infinity"),
    *(b"1.", b".", b"+", b"-.5", b"1e", b"1e+", b"1e5.", b"00012", b"-0", b"+0.0", b"1,5"),
    *(b"1E5", b"12345678901234567890"),
    *(b"0." + b"1" * 40, b"9" * 400, b"1e00000000000005", b"4.9e-324", b"2.5e-324", b"1.7976931348623159e308", b"--1"),
    *(b"9007199254740993", b"0.30000000000000004", b"1e22", b"8.5899345920000001e9", b"\xff"),
    *(b"1\xa0", "1\u2003".encode()),
]
BYTES = [
    *(b"\x00", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xa0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r"),
    *(b"\n", b"\r\n"),
    *(b"\t", b" ", b"  ", b"#", b"# ", b"\x7f", b"\x1b", b"\n\n", b"\n#\n", b'"', b"x" * 70, b"y" * 300),
]


def mutated(content: bytes, dice: random.Random, column: int) -> bytes:
    """Return the content with a few mutations; `column` is the one that holds numbers."""
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        lines = content.split(b"\n")
        position = dice.randrange(len(content) + 1)
        row = dice.randrange(len(lines))
        form = dice.randrange(10)
        if form == 0 and content:
            position = min(position, len(content) - 1)
            content = (
                content[:position] + bytes([content[position] ^ (1 << dice.randrange(8))]) + content[position + 1 :]
            )
        elif form == 1:
            content = content[:position] + dice.choice(BYTES) + content[position:]
        elif form == 2:
            content = content[:position] + content[position + dice.choice([1, 2, 10]) :]
        elif form == 3:
            lines.insert(dice.randrange(len(lines) + 1), lines[row])
            content = b"\n".join(lines)
        elif form in (4, 5, 6):
            fields = lines[row].split()
            if len(fields) > column:
                fields[column] = dice.choice(NUMBERS)
                lines[row] = b" ".join(fields)
            content = b"\n".join(lines)
        elif form == 7:
            fields = lines[row].split()
            if fields:
                spot = dice.randrange(len(fields))
                fields[spot] = dice.choice([*BYTES, *NUMBERS, b"", b"z" * 33])
                lines[row] = dice.choice([b" ", b"\t", b"  "]).join(fields)
            content = b"\n".join(lines)
        elif form == 8:
            content = content[:position]
        else:
            content = dice.choice(BYTES) + content
    return content


NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")


def value_of(token: bytes) -> float | None:
    if not NUMBER.match(token):
        return None
    value = float(token)
    return value if math.isfinite(value) else None


def plain_rows(
    content: bytes, width: int, numbers: tuple[int, ...], lenient: bool, most: float = math.inf
) -> list[list[bytes]] | None:
    """Return the fields of all lines; None if the file is not valid. `most`: the number of columns that are numbers."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    if content.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return None
    rows = []
    for line in content.split(b"\n"):
        if line.endswith(b"\r"):
            line = line[:-1]
        if any(byte < 32 and byte != 9 for byte in line):
            return None
        fields = [field for field in line.replace(b"\t", b" ").split(b" ") if field]
        if not fields or line.startswith(b"#"):
            continue
        is_tag = len(fields) > width == 6 and None not in map(value_of, fields[3:5]) and value_of(fields[5]) is None
        fields = fields[:6] if is_tag else fields  # a tag may have spaces
        values = [value_of(fields[column]) for column in numbers] if len(fields) == width else [None]
        if None in values or (values and abs(values[0] or 0) > most):
            if not lenient:
                return None
            continue
        rows.append(fields)
    return rows or None


def draw_run(dice: random.Random) -> Case:
    run, qrels = awkward(dice)
    if dice.random() < 0.9:
        run = mutated(run, dice, dice.choice([4, 4, 4, 3]))
    options: dict[str, Any] = {"duplicates": dice.choice(["error", "first", "last", "refuse"]), "run_format": "trec"}
    if dice.random() < 0.4:
        options["lenient"] = True
    if dice.random() < 0.5:
        options["ties"] = dice.choice(["docno-asc", "file", "rank", "best", "worst"])
    if dice.random() < 0.1:
        options["order"] = "file"
    limits = {
        "block": dice.choice([1, 7, 32, 64, 256, 1 << 12, 1 << 21]),
        "gathered": dice.choice([1, 10, 1 << 16]),
        "topic_stretches": dice.choice([1, 4, 1 << 12]),
        "judged_ratio": dice.choice([0, 2, 100]),
        "cells": dice.choice([1, 50, 1 << 18]),
    }
    return Case({"run": run, "qrels": qrels}, (), options, {"limits": limits})


def check_run(case: Case, folder: Path) -> str | None:
    run = case.files["run"]
    rules = resolve_options(**case.options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        try:
            judgments = Qrels(named(case.files["qrels"]).target)
        except InputError:
            return None
        every = frozenset(line.split()[0] for line in run.split(b"\n") if line.split())
        simple = outcome(lambda: read_by_line("run", run, judgments, rules, every), every)
        blocks = outcome(
            lambda: read_in_blocks(named(run), judgments, rules, every, **case.more.get("limits", {})), every
        )
    if simple != blocks:
        return f"block reader: {str(blocks)[:600]} instead of {str(simple)[:600]}"
    numbers = () if rules.order == "file" else (3, 4) if rules.ties == "rank" else (4,)
    # Of larger ranks a float does not hold every one.
    rows = plain_rows(run, 6, numbers, rules.lenient, 2**53 - 1 if rules.ties == "rank" else math.inf)
    if rows is None:
        return None if isinstance(simple, str) else f"read what is not a run: {str(simple)[:300]}"
    if isinstance(simple, str):
        expected = ("duplicate", "shares no topics", "looks like", "is empty")
        return None if any(words in simple for words in expected) else f"refused a run: {simple}"
    return other_documents(rows, simple[0], rules.duplicates, case)


def other_documents(rows: list[list[bytes]], topics: Any, duplicates: str, case: Case) -> str | None:
    """Return whether the documents of the topics, in their order, are those of the lines."""
    if case.options.get("ties", "docno-desc") not in ("docno-asc", "docno-desc", "file"):
        return None
    listed: dict[bytes, dict[bytes, tuple[int, float]]] = {}
    for number, fields in enumerate(rows):
        documents = listed.setdefault(fields[0], {})
        if fields[2] not in documents or duplicates == "last":
            documents[fields[2]] = (number, float(fields[4]) if case.options.get("order") != "file" else 0.0)
    for topic, batch in topics:
        documents = listed.get(topic, {})
        docnos = sorted(documents, key=lambda docno: documents[docno][0])
        if case.options.get("order") != "file":
            ties = case.options.get("ties", "docno-desc")
            if ties != "file":
                docnos.sort(reverse=ties == "docno-desc")
            docnos.sort(key=lambda docno: documents[docno][1], reverse=True)
        names = batch[2]
        if documents and names != docnos:
            return f"documents: topic {topic!r} has {names} instead of {docnos}"
    return None


def draw_qrels(dice: random.Random) -> Case:
    _, qrels = awkward(dice)
    options: dict[str, Any] = {"duplicates": dice.choice(["error", "first", "last", "refuse"]), "qrels_format": "trec"}
    if dice.random() < 0.4:
        options["lenient"] = True
    if dice.random() < 0.2:
        options["subtopics"] = True
    return Case({"qrels": mutated(qrels, dice, 3)}, (), options)


def check_qrels(case: Case, folder: Path) -> str | None:
    content, options = case.files["qrels"], dict(case.options)
    options["format"] = options.pop("qrels_format", None)
    results: list[Any] = []
    for reader in (lambda: read_simply(content, **options), lambda: Qrels(named(content).target, **options)):
        try:
            results.append(reader())
        except InputError as error:
            results.append(str(error).replace("<file>", "run"))
    simple, blocks = results
    if isinstance(simple, str) or isinstance(blocks, str):
        if simple != blocks:
            return f"block reader: {blocks} instead of {simple}"
    else:
        simple.notes[:] = [note.replace("<file>", "run") for note in simple.notes]
        try:
            same_qrels(blocks, simple)
        except AssertionError:
            states = [(qrels.topics, qrels.codes, qrels.notes, qrels.digest) for qrels in (blocks, simple)]
            return f"qrels differ: {states[0]} instead of {states[1]}"
    rows = plain_rows(content, 4, (3,), bool(case.options.get("lenient")))
    if rows is None:
        return None if isinstance(simple, str) else "read what is not qrels: "
    if isinstance(simple, str):
        return None if "duplicate" in simple or "looks like" in simple else f"refused qrels: {simple}"
    if simple.topics != list(dict.fromkeys(fields[0] for fields in rows)):
        return f"topics: {simple.topics}"
    return None


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),  # the same bytes at any time
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "plain": bytes,
}


def draw_packed(dice: random.Random) -> Case:
    run, qrels = awkward(dice)
    packer = dice.choice(list(PACKERS))
    whole = PACKERS[packer](run)
    form = dice.choice(["cut", "reversing", "reversing", "tail", "whole"])
    if form == "cut":
        packed = whole[: dice.randrange(len(whole))]
    elif form == "reversing":
        position = dice.randrange(len(whole))
        packed = whole[:position] + bytes([whole[position] ^ (1 << dice.randrange(8))]) + whole[position + 1 :]
    elif form == "tail":
        packed = whole + dice.choice([b"\x00" * 5, b"junk", b"\n", whole[:7]])
    else:
        packed = whole
    if packer == "plain" or dice.random() < 0.2:
        form = "any"
    words = ["-m", "ap", "-m", "err@3", "-f", dice.choice([*FORMATS]), "--jobs", "1", *dice.choice([[], ["-q"]])]
    words += dice.choice([[], ["--lenient"]])
    more = {"words": words, "plain": run, "form": form, "stdin": dice.random() < 0.2}
    return Case({"run": packed, "qrels": qrels}, (), {}, more)


def without_digests(output: bytes) -> bytes:
    """Return an output without digests and sizes of files, which differ with their bytes."""
    return re.sub(rb'"size": \d+|\b[0-9a-f]{12}\b|\b[0-9a-f]{64}\b', b"", output)


def check_packed(case: Case, folder: Path) -> str | None:
    case.write(folder)
    source = "-" if case.more["stdin"] else "run"
    stdin = case.files["run"] if case.more["stdin"] else b""
    words = list(case.more["words"])
    outcome = command.run([source, "qrels", *words], folder, stdin)
    if wrong := command.unclean(outcome):
        return wrong
    if outcome.code and outcome.out:
        return f"output beside an error: {outcome.out[:200]!r}"
    if case.more["form"] == "any" or outcome.code:
        return None
    if case.more["form"] == "cut":
        return f"half a file is scored: {outcome.out[:200]!r}"
    (folder / "run").write_bytes(case.more["plain"])
    right = command.run([source, "qrels", *words], folder, case.more["plain"] if case.more["stdin"] else b"")
    if without_digests(outcome.out) != without_digests(right.out):
        return f"another result: {outcome.out[:300]!r} instead of {right.out[:300]!r}"
    return None


RUNS = Kind(draw_run, check_run, weight=3)
QRELS = Kind(draw_qrels, check_qrels, weight=1)
PACKED = Kind(draw_packed, check_packed, weight=1)
