"""Broken input is one clear line, a non-zero exit, and nothing else; odd but legal input gives the right numbers."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import zstandard
from conftest import Command, Outcome, environment, shell

from gradedeval.trec.source import SLICE, Source, unpacked

RUN = b"1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n2 Q0 c 1 1 t\n"
QRELS = b"1 0 a 2\n1 0 b 0\n2 0 c 1\n"
LONG = "x" * 300  # longer than any file's name
MORE = "run.txt: {} more such line"


@dataclass(frozen=True)
class Broken:
    """Files and words that are wrong, and what must be said: one pattern a line of stderr, `…` stands for anything.

    `words` come after `run.txt qrels.txt -m err@20`; `command` replaces it all. Nothing is written for None.
    """

    name: str
    says: tuple[str, ...]
    code: int = 1
    run: bytes | None = RUN
    qrels: bytes | None = QRELS
    words: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    stdin: bytes = b""
    files: dict[str, bytes] = field(default_factory=dict)

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.command or ("run.txt", "qrels.txt", "-m", "err@20", *self.words)

    def write(self, folder: Path) -> None:
        for name, content in {"run.txt": self.run, "qrels.txt": self.qrels, **self.files}.items():
            if content is not None:
                (folder / name).write_bytes(content)
        (folder / "folder").mkdir()


def bad_run(name: str, run: bytes, *says: str, words: tuple[str, ...] = ()) -> Broken:
    return Broken(name, says, run=run, words=words)


def bad_qrels(name: str, qrels: bytes, *says: str, words: tuple[str, ...] = ()) -> Broken:
    return Broken(name, says, qrels=qrels, words=words)


def bad_words(name: str, words: tuple[str, ...], *says: str, code: int = 2, **files: bytes) -> Broken:
    """`files`: what else there is; `my_py=b"…"` is a file my.py."""
    return Broken(name, says, code=code, words=words, files=named(files))


def bad_measure(text: str, *says: str, code: int = 2, **files: bytes) -> Broken:
    return Broken(f"-m {text}", says, code=code, command=("run.txt", "qrels.txt", "-m", text), files=named(files))


def bad_command(name: str, command: tuple[str, ...], *says: str, code: int = 2, **files: bytes) -> Broken:
    return Broken(name, says, code=code, command=command, files=named(files))


def named(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name.replace("_", "."): content for name, content in files.items()}


def lines(count: int, width: int = 6) -> bytes:
    """`count` lines of a run, each cut to `width` fields."""
    rows = [["1", "Q0", f"d{at}", f"{at}", f"{count - at}.5", "tag", "more"] for at in range(count)]
    return "".join(" ".join(row[:width]) + "\n" for row in rows).encode()


def zstd(data: bytes) -> bytes:
    """A frame that does not say how long it is, as `zstd` writes when it reads a pipe."""
    packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    half = data.index(b"\n", len(data) // 2) + 1
    # A block that ends with a line: cut there, the rest looks like a whole file.
    first = packer.compress(data[:half]) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return first + packer.compress(data[half:]) + packer.flush()


def flipped(data: bytes, at: int) -> bytes:
    """The same with all bits of one byte turned over."""
    return data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    # As the program `zstd` does: the library would leave out the checksum.
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}

WIDTHS = [
    bad_run("one field", RUN + b"1\n", "run.txt:4: 1 field, expected 6 (topic Q0 docno rank score tag)…"),
    bad_run("two fields", RUN + b"1 Q0\n", "run.txt:4: 2 fields, expected 6 …"),
    bad_run("three fields", RUN + b"1 Q0 d\n", "run.txt:4: 3 fields, expected 6 …"),
    bad_run("four fields", RUN + b"1 Q0 d 1\n", "run.txt:4: 4 fields, expected 6 …"),
    bad_run("five fields", b"1 Q0 d 1 5\n" + RUN, "run.txt:1: 5 fields, expected 6 …"),
    bad_run("seven fields", RUN + b"1 Q0 d 1 5 my tag\n", "run.txt:4: 7 fields, expected 6 …; …blanks inside ids"),
    bad_run("five fields throughout", lines(3, 5), *(f"run.txt:{at}: 5 fields, expected 6 …" for at in (1, 2, 3))),
    bad_run("commas in the run", RUN.replace(b" ", b","), *(
        f"run.txt:{at}: 1 field, expected 6 …; …not commas" for at in (1, 2, 3))),
    bad_qrels("one field in the qrels", QRELS + b"1\n",
              "qrels.txt:4: 1 field, expected 4 (topic iteration docno grade)…"),
    bad_qrels("three fields in the qrels", QRELS + b"1 d 1\n", "qrels.txt:4: 3 fields, expected 4 …"),
    bad_qrels("five fields in the qrels", QRELS + b"1 0 d 1 x\n", "qrels.txt:4: 5 fields, expected 4 …; …inside ids"),
    bad_qrels("six fields in the qrels", QRELS + b"1 Q0 d 1 1 t\n", "qrels.txt:4: 6 fields, expected 4 …"),
    bad_qrels("commas in the qrels", QRELS.replace(b" ", b","), *(
        f"qrels.txt:{at}: 1 field, expected 4 …; …not commas" for at in (1, 2, 3))),
    bad_run("a line after blank ones and comments", b"\n# by us\n\r\n" + RUN + b" \n1 Q0 d\n", "run.txt:8: 3 fields…"),
    bad_run("twelve bad lines", lines(12, 5), *(f"run.txt:{at}: 5 fields…" for at in range(1, 11)),
            MORE.format(2) + "s"),
    bad_run("eleven bad lines", lines(11, 5), *(f"run.txt:{at}: 5 fields…" for at in range(1, 11)), MORE.format(1)),
    bad_run("ten bad lines", lines(10, 5), *(f"run.txt:{at}: 5 fields…" for at in range(1, 11))),
    bad_run("faults of several kinds, by line", b"1 Q0 a 1 x t\n1 Q0\n1 Q0 b 2 nan t\n" + RUN,
            "run.txt:1: score 'x'…", "run.txt:2: 2 fields…", "run.txt:3: score 'nan'…"),
    bad_qrels("eleven bad grades", b"".join(b"1 0 d%d x\n" % at for at in range(11)),
              *(f"qrels.txt:{at}: grade 'x' is no number; …" for at in range(1, 11)), "qrels.txt: 1 more such line"),
]  # fmt: skip

EMPTY = [
    bad_run("an empty run", b"", "run.txt: is empty; lines of topic Q0 docno rank score tag are expected"),
    bad_qrels("empty qrels", b"", "qrels.txt: is empty; lines of topic iteration docno grade are expected"),
    bad_run("a run of blanks", b"  \n\t\r\n \n", "run.txt: is empty; …"),
    bad_qrels("qrels of blanks", b"  \n\t\r\n \n", "qrels.txt: is empty; …"),
    bad_run("a run of comments", b"# system x\n#\n", "run.txt: no documents; …"),
    bad_qrels("qrels of comments", b"# pool\n#\n", "qrels.txt: no judgements; …"),
    bad_run("a run of one word", b"x", "run.txt:1: 1 field, expected 6 …"),
    bad_qrels("qrels of one word", b"x", "qrels.txt:1: 1 field, expected 4 …"),
    bad_command("an empty standard input", ("-", "qrels.txt"), "<stdin>: is empty; …", code=1),
]

# What float() takes and a TREC file does not say, and what neither takes.
NO_NUMBERS = [
    *("nan", "NaN", "inf", "-inf", "infinity", "1e999", "-1e999"),
    *("0x10", "1_0", "high", "1,5", "1e", "-", ".", "١"),
]

NUMBERS = [
    *(bad_run(f"score {token}", RUN + f"2 Q0 d 2 {token} t\n".encode(), f"run.txt:4: score '{token}' …; …")
      for token in NO_NUMBERS),
    *(bad_qrels(f"grade {token}", QRELS + f"2 0 d {token}\n".encode(), f"qrels.txt:4: grade '{token}' …; …")
      for token in NO_NUMBERS),
    # A field too few, because an empty one is none.
    bad_run("an empty score", RUN + b"2 Q0 d 2  t\n", "run.txt:4: 5 fields, expected 6 …"),
    bad_run("a score that is no UTF-8", RUN + b"2 Q0 d 2 \xff t\n", "run.txt:4: score '…' is no number; …"),
    bad_run("a header in the run", b"qid Q0 docno rank score tag\n" + RUN, "run.txt:1: score 'score' …; …header"),
    bad_qrels("a header in the qrels", b"qid iter docno rel\n" + QRELS, "qrels.txt:1: grade 'rel' …; …header"),
    bad_run("a bad score where a topic begins is no header", RUN + b"3 Q0 d 1 x t\n",
            "run.txt:4: score 'x' …; …decimal…"),
    bad_run("bad scores throughout are one header at most", lines(3).replace(b".5", b",5"),
            "run.txt:1: score '3,5' …", "run.txt:2: score '2,5' …; …decimal…", "run.txt:3: score '1,5' …; …decimal…"),
    bad_qrels("bad grades throughout are one header at most", b"1 0 a no\n1 0 b yes\n",
              "qrels.txt:1: grade 'no' …", "qrels.txt:2: grade 'yes' …; …as in 2 or 0.5"),
    bad_run("ranks that are no numbers", b"1 Q0 a one 3 t\n1 Q0 b 2 2 t\n1 Q0 c - 1 t\n",
            "run.txt:1: rank 'one' is no number; --ties rank needs ranks", "run.txt:3: rank '-' is no number; …",
            words=("--ties", "rank")),
]  # fmt: skip

TWICE = [
    bad_run("a docno twice", RUN + b"1 Q0 a 3 1 t\n",
            "run.txt:4: docno a of topic 1 again, first in line 1; --duplicates…"),
    bad_run("docnos twice in interleaved topics", RUN + b"1 Q0 b 3 1 t\n2 Q0 c 2 0 t\n1 Q0 a 4 0 t\n",
            "run.txt:4: docno b of topic 1 again, first in line 2; …",
            "run.txt:5: docno c of topic 2 again, first in line 3; …",
            "run.txt:6: docno a of topic 1 again, first in line 1; …"),
    bad_run("a docno twice between blank lines", b"\n# x\n" + RUN + b"\n1 Q0 a 3 1 t\n",
            "run.txt:7: docno a of topic 1 again, first in line 3; …"),
    bad_run("a docno twelve times", b"1 Q0 a 1 1 t\n" * 12,
            *(f"run.txt:{at}: docno a of topic 1 again, first in line 1; …" for at in range(2, 12)), MORE.format(1)),
    bad_qrels("two grades", QRELS + b"1 0 a 1\n",
              "qrels.txt:4: docno a of topic 1 again: grade 1, and 2 in line 1; --duplicates first or last keeps one"),
    bad_qrels("two grades in interleaved topics", b"1 0 a 2\n2 0 c 1\n1 0 a -1\n2 0 c 0.5\n",
              "qrels.txt:3: docno a of topic 1 again: grade -1, and 2 in line 1; …",
              "qrels.txt:4: docno c of topic 2 again: grade 0.5, and 1 in line 2; …"),
    bad_qrels("one grade twice, refused", QRELS + b"1 0 a 2\n",
              "qrels.txt:4: docno a of topic 1 again: …; give it once",
              words=("--duplicates", "refuse")),
    bad_run("a docno twice is no bad line to skip", RUN + b"1 Q0 a 3 1 t\n", "run.txt:4: docno a of topic 1 again, …",
            words=("--lenient",)),
]  # fmt: skip

BYTES = [
    bad_run("a UTF-8 byte order mark", b"\xef\xbb\xbf" + RUN, "run.txt:1: begins with a byte order mark; …UTF-8…"),
    bad_qrels("a byte order mark in the qrels", b"\xef\xbb\xbf" + QRELS,
              "qrels.txt:1: begins with a byte order mark; …"),
    bad_run("UTF-16", RUN.decode().encode("utf-16"), "run.txt:1: begins with a byte order mark; …UTF-8…"),
    bad_qrels("UTF-16 in the qrels", QRELS.decode().encode("utf-16"), "qrels.txt:1: begins with a byte order mark; …"),
    bad_qrels("UTF-16 without a mark", QRELS.decode().encode("utf-16-le"), "qrels.txt:1: control byte 0x00; …"),
    bad_run("a NUL byte", RUN + b"1 Q0 x\0y 3 1 t\n", "run.txt:4: control byte 0x00; …"),
    bad_qrels("a NUL byte in the qrels", QRELS + b"\0", "qrels.txt:4: control byte 0x00; …"),
    bad_run("an escape sequence", RUN + b"1 Q0 \x1b[31mx 3 1 t\n", "run.txt:4: control byte 0x1b; …"),
    # A vertical tab or a form feed would split a field for Python, and not for trec_eval.
    bad_run("a vertical tab", RUN + b"1 Q0\x0bd 4 1 t\n", "run.txt:4: control byte 0x0b; …"),
    bad_qrels("a form feed", QRELS + b"\x0c1 0 d 1\n", "qrels.txt:4: control byte 0x0c; …"),
    bad_run("the end-of-file byte of DOS", RUN + b"\x1a", "run.txt:4: control byte 0x1a; …"),
    bad_run("carriage returns alone", RUN.replace(b"\n", b"\r"), "run.txt:1: a carriage return inside the line; …"),
    bad_qrels("carriage returns alone in the qrels", QRELS.replace(b"\n", b"\r"),
              "qrels.txt:1: a carriage return …; …"),
    bad_run("a carriage return within a line", RUN + b"1 Q0\rd 4 1 t\n", "run.txt:4: a carriage return …; …"),
    bad_run("a control byte is no bad line to skip", RUN + b"1 Q0 \0 3 1 t\n", "run.txt:4: control byte 0x00; …",
            words=("--lenient",)),
]  # fmt: skip

COMPRESSED = [
    *(
        bad_run(f"a {kind} run cut at {share:.0%}", pack(lines(3000))[: int(share * len(pack(lines(3000))))],
                "run.txt: broken compressed data (…); …")
        for kind, pack in PACKERS.items() for share in (0.02, 0.5, 0.999)
    ),
    *(
        bad_qrels(f"{kind} qrels cut short", pack(QRELS)[:-3], "qrels.txt: broken compressed data (…); …")
        for kind, pack in PACKERS.items()
    ),
    *(
        # Where a header begins, nothing but its own end may follow.
        bad_run(f"a {kind} run of six bytes", pack(RUN)[:6], "run.txt: broken compressed data (…); …")
        for kind, pack in PACKERS.items()
    ),
    *(
        # What stands behind the end may be the rest of the run, damaged: half a run must not be scored in silence.
        bad_run(f"a {kind} run with garbage behind", pack(RUN) + b"garbage", "run.txt: broken compressed data (…); …")
        for kind, pack in PACKERS.items()
    ),
    *(
        bad_run(f"a {kind} run whose second part is cut", pack(RUN) + pack(lines(3000))[:-30],
                "run.txt: broken compressed data (…); …")
        for kind, pack in PACKERS.items()
    ),
    *(
        bad_run(f"a {kind} run with a flipped byte", flipped(pack(lines(3000)), 2000),
                "run.txt: broken compressed data (…); …")
        for kind, pack in PACKERS.items()
    ),
    *(bad_run(f"a {kind} run of nothing", pack(b""), "run.txt: is empty; …") for kind, pack in PACKERS.items()),
    *(
        bad_run(f"a bad line in a {kind} run", pack(RUN + b"1 Q0\n"), "run.txt:4: 2 fields, expected 6 …")
        for kind, pack in PACKERS.items()
    ),
    bad_run("a zst run without its length, cut where a line ends", zstd(lines(3000))[
        : len(zstandard.ZstdCompressor().compress(lines(3000))) // 2], "run.txt: broken compressed data (…); …"),
    bad_run("the first two bytes of gzip and garbage", b"\x1f\x8bgarbage", "run.txt: broken compressed data (…); …"),
    bad_run("a zip archive", b"PK\x03\x04\x14\x00" + bytes(30), "run.txt:1: control byte 0x03; …"),
]  # fmt: skip

PLACES = [
    bad_command("no such run", ("none.txt", "qrels.txt"), "none.txt: no such file; …", code=1),
    bad_command("no such qrels", ("run.txt", "none.txt"), "none.txt: no such file; …", code=1),
    bad_command("a folder for the run", ("folder", "qrels.txt"), "folder: holds no run; …", code=1),
    bad_command("a pattern without a match", ("none/*.run", "qrels.txt"), "none/*.run: matches no file; …", code=1),
    bad_command("one run by two ways", (".", "run.txt", "qrels.txt"), "run '…' is given twice; give each run once"),
    bad_words("a list with missing files", ("--runs-from", "list"), "list:1: no such file 'a.run'; …",
              "list:3: no such file 'b.run'; …", code=1, list=b"a.run\nrun.txt\nb.run\n"),
    bad_words("a list with an empty folder", ("--runs-from", "list"), "list:1: 'folder' holds no run; …", code=1,
              list=b"folder\n"),
    bad_words("a list of a run that is named before", ("--runs-from", "list"), "run 'run.txt' is given twice; …",
              list=b"run.txt\n"),
    bad_words("a list of one run twice", ("--runs-from", "list"), "run 'a' is given twice; …", list=b"a\na\n", a=RUN),
    bad_words("an empty list", ("--runs-from", "list"), "list: names no run; one file a line", code=1, list=b"#a\n"),
    bad_words("a list that is not there", ("--runs-from", "list"), "list: no such file; check the path", code=1),
    bad_command("a list alone", ("--runs-from", "run.txt"), "a run and a qrels file are needed; …"),
    Broken("standard input as list and run", ("-: standard input can be read once; …",), code=2, stdin=b"run.txt\n",
           command=("-", "qrels.txt", "--runs-from", "-")),
    bad_words("no processes", ("--jobs", "0"), "Invalid value for '--jobs': 0 is not in the range x>=1; …"),
    bad_words("processes in words", ("--jobs", "many"), "Invalid value for '--jobs': 'many' is not a valid …; …"),
    bad_words("output over a listed run", ("--runs-from", "list", "-o", "a.csv"), "-o: 'a.csv' is one of …; …",
              list=b"*.csv\n", a_csv=RUN),
    bad_command("a folder for the qrels", ("run.txt", "folder"), "folder: is a directory; …", code=1),
    bad_command("a name too long for a file", (LONG, "qrels.txt"), f"{LONG}: cannot be read (File name too long); …",
                code=1),
    Broken("a name too long beside empty qrels", ("qrels.txt: is empty; …",), qrels=b"", command=(LONG, "qrels.txt")),
    bad_words("a name too long for measures", ("--measures-from", LONG), f"{LONG}: is no Python file; …"),
    bad_words("a name too long for gains", ("--gain", f"@{LONG}"), f"--gain: no file '{LONG}'; …"),
    bad_words("a name too long for output", ("-o", f"{LONG}.foo"), "'x…x.foo': no format for .foo; …"),
    bad_command("a file taken for a folder", ("run.txt/x", "qrels.txt"), "run.txt/x: …; check …", code=1),
    Broken("swapped files", ("qrels.txt: looks like a run (6 fields per line)…run.txt…qrels (4 fields per line)…swap…",),
           run=QRELS, qrels=RUN),
    bad_command("qrels for a run", ("qrels.txt", "qrels.txt"), "qrels.txt: looks like qrels (4 fields per line); …",
                code=1),
    bad_command("a run for qrels", ("run.txt", "run.txt"), "run.txt: looks like a run (6 fields per line), as …",
                code=1),
    bad_command("qrels that stand first", ("qrels.txt", "run.txt", "run.txt"), "run.txt: looks like a run (6 …",
                code=1),
    bad_qrels("no topic in common", b"q51 0 a 1\nq52 0 a 1\nq53 0 a 1\n",
              "run.txt: shares no topics with qrels.txt (1, 2 vs q51, q52, …); are they from the same collection?"),
    bad_command("standard input twice", ("-", "-"), "-: standard input can be read once; name a file for the other"),
    bad_command("standard input for two runs", ("-", "-", "qrels.txt"), "-: standard input can be read once; …"),
    Broken("standard input for run and topics", ("-: standard input can be read once; …",), 2, stdin=RUN,
           command=("-", "qrels.txt", "--topics-from", "-")),
    bad_command("one file alone", ("run.txt",), "a run and a qrels file are needed; gradedeval RUN... QRELS"),
    bad_command("no file", ("-m", "err"), "a run and a qrels file are needed; …"),
    bad_command("a measure for a file", ("run.txt", "qrels.txt", "err@20"),
                "err@20: no such file; did you mean -m 'err@20'?"),
    bad_command("an alias for a file", ("P_10", "run.txt", "qrels.txt"), "P_10: no such file; did you mean -m 'P_10'?"),
    bad_command("a run given twice", ("run.txt", "./run.txt", "qrels.txt"),
                "run 'run.txt' is given twice; give each run once"),
    bad_command("one tag for two runs", ("run.txt", "b.txt", "qrels.txt", "--run-name", "tag"),
                "b.txt: its tag 't' is another run's too; leave out --run-name tag", b_txt=RUN),
]  # fmt: skip

CONSTANT = b"from gradedeval import measure\n@measure\ndef mine(g):\n    'One.'\n    return %s\n"

MEASURES = [
    bad_measure("rpb", "no measure 'rpb'; did you mean 'rbp'?"),
    bad_measure("NDGC@10", "no measure 'ndgc'; did you mean 'ndcg'?"),
    bad_measure("ap xyzzy", "no measure 'xyzzy'; `gradedeval measures` lists them"),
    bad_measure("P_x", "no measure 'p_x'; did you mean 'p'?"),
    bad_measure("", "…no measure…; …"),
    bad_measure("err(p=1)", "'err': no parameter 'p'; it takes gain, rel"),
    bad_measure("ndcg(gian=exp)", "'ndcg': no parameter 'gian'; did you mean 'gain'?"),
    bad_measure("ap(gain=exp)", "'ap': no parameter 'gain'; it takes rel"),
    bad_measure("num_q(rel=1)", "'num_q': no parameter 'rel'; it takes none"),
    bad_measure("rbp(p=2)", "'rbp': p=2 is not in [0, 1); as in p=0.8"),
    bad_measure("rbp(p=often)", "'rbp': p=often is not in [0, 1); as in p=0.8"),
    bad_measure("ap(rel=0)", "'ap': rel=0 is not a grade above 0; as in rel=1"),
    bad_measure("dcg(log=1)", "'dcg': log=1 is not a base above 1; as in log=2"),
    bad_measure("q(beta=-1)", "'q': beta=-1 is not 0 or more; as in beta=1"),
    bad_measure("cascade(gamma=2)", "'cascade': gamma=2 is not in (0, 1]; as in gamma=1"),
    bad_measure("cascade(utility=none)", "none: cannot be read as a utility (…); …"),
    bad_measure("cascade(utility=u.txt)", "u.txt: is no utility; …none larger than the one before", u_txt=b"0.5\n1\n"),
    bad_measure("rbp(p=.8,p=.9)", "'rbp(p=.8,p=.9)': 'p' is given twice; give it once"),
    bad_measure("err(rel)", "'err(rel)': cannot read 'rel'; parameters are key=value, separated by commas"),
    bad_measure("err(", "'err(': is no measure; write name(key=value,...)@cutoff, as in 'ndcg(gain=exp)@10'"),
    bad_measure("err@x", "'err@x': is no measure; write …"),
    bad_measure("err@-1", "'err@-1': is no measure; write …"),
    bad_measure("p", "'p': p needs a cutoff; write p@10"),
    bad_measure("gprecision", "'gprecision': gprecision needs a cutoff; write gprecision@10"),
    bad_measure("rprec@5", "'rprec@5': rprec takes no cutoff; write rprec"),
    bad_measure("err@0", "'err@0': cutoff 0 is no rank; ranks count from 1"),
    bad_measure("P_0", "'…@0': cutoff 0 is no rank; ranks count from 1"),
    bad_measure("P.5,0", "'P.5,0': cutoff 0 is no rank; ranks count from 1"),
    bad_measure("err@99999999999999999999", "'err@9…9': cutoff 9…9 is no rank; …"),
    bad_measure("ndcg(gain=foo)", "'ndcg': no gain scheme 'foo'; linear, exp, ntcir, grade, values as in 0:0.5:1, …"),
    bad_measure("ndcg(gain=-1:0:1)", "'ndcg': gain -1 is below 0; gains are 0 or more"),
    bad_measure("err(gain=@none.csv)", "'err': no file 'none.csv'; gain=@FILE reads lines of grade,gain"),
    bad_measure("ndcg(gain=0:1)@5", "'ndcg(gain=0:1)@5': gains 0:1 have no value for grade 2; …", code=1),
    bad_measure("err(gain=0:1:2)", "'err(gain=0:1:2)': grade 2 is worth 2, outside 0..1; …", code=1),
    bad_measure("rbp(gain=grade)", "'rbp(gain=grade)': grade 2 is worth 2, outside 0..1; …", code=1),
    bad_measure("gap(g=1:2:3)", "'gap(g=1:2:3)': g has 3 values for 2 thresholds; …the grades 1, 2", code=1),
    bad_measure("gap(g=0:0)", "'gap': g=0:0 is not a list of shares from 0 up…"),
    bad_measure("gap(gain=1:2:3)", "'gap(gain=1:2:3)': gap needs gain 0 for grade 0 and gains that rise…", code=1),
    bad_measure("grecall(gain=0:2:1)", "'grecall(gain=0:2:1)': grecall needs gain 0 for grade 0 and gains that rise…",
                code=1),
    bad_measure("err@20,ap", "'err@20,ap': is no measure; separate measures by blanks"),
]  # fmt: skip

GAINS = [
    bad_words("an unknown scheme", ("--gain", "foo"), "…: no gain scheme 'foo'; linear, exp, …"),
    bad_words("too few gains", ("--gain", "0:1"), "'err(gain=0:1)@20': gains 0:1 have no value for grade 2; …", code=1),
    bad_words("unit gains above 1", ("--gain", "0:1:2"), "'err(gain=0:1:2)@20': grade 2 is worth 2, outside 0..1; …",
              code=1),
    bad_words("no such gain file", ("--gain", "@none.csv"),
              "…: no file 'none.csv'; gain=@FILE reads lines of grade,gain"),
    bad_words("a gain file without a grade", ("--gain", "@g.csv"), "g.csv: no gain for grade 2; …", code=1,
              g_csv=b"0,0\n1,1\n"),
    bad_words("an empty gain file", ("--gain", "@g.csv"), "g.csv: has no gains; …", code=1, g_csv=b""),
    bad_words("a gain that is no number", ("--gain", "@g.csv"), "g.csv:2: '1,x' is no new grade,gain pair; …", code=1,
              g_csv=b"0,0\n1,x\n2,1\n"),
    bad_words("a gain below 0", ("--gain", "@g.csv"), "g.csv:3: '2,-1' is no new grade,gain pair; …", code=1,
              g_csv=b"0,0\n1,1\n2,-1\n"),
    bad_words("a grade twice in a gain file", ("--gain", "@g.csv"), "g.csv:4: '1,1' is no new grade,gain pair; …",
              code=1,
              g_csv=b"grade,gain\n0,0\n1,0.5\n1,1\n"),
    bad_words("blanks in a gain file", ("--gain", "@g.csv"), "g.csv:1: '0 0' is no new grade,gain pair; …", code=1,
              g_csv=b"0 0\n1 1\n2 1\n"),
    bad_words("a NUL byte in a gain file", ("--gain", "@g.csv"), "g.csv:2: …; …", code=1, g_csv=b"0,0\n1,\x001\n2,1\n"),
    bad_words("a gain file that is no text", ("--gain", "@g.csv"), "g.csv…: …; …", code=1, g_csv=b"\xff\xfe\xff"),
    # What a spreadsheet writes: the mark is invisible, so that a message which quotes the line shows nothing wrong.
    bad_words("a byte order mark in a gain file", ("--gain", "@g.csv"), "g.csv:1: begins with a byte order mark; …",
              code=1,
              g_csv=b"\xef\xbb\xbf0,0\n1,.5\n2,1\n"),
    bad_words("a top grade that a grade exceeds", ("--top-grade", "1"),
              "qrels.txt: grade 2 is above the top grade 1; raise --top-grade or mend the grade", code=1),
    bad_words("a preset's top grade that a grade exceeds", ("--like", "gdeval", "--top-grade", "1"),
              "qrels.txt: grade 2 is above the top grade 1; …", code=1),
    bad_words("a top grade below 0", ("--top-grade", "-1"), "--top-grade: -1 is …"),
    bad_words("a top grade that is no number", ("--top-grade", "nan"), "…--top-grade…'nan' is no number; …"),
    bad_words("a top gain below the gains", ("--max-gain", "0.1"), "--max-gain: 0.1 …'err@20'…", code=1),
    bad_words("a top gain above the scale", ("--max-gain", "2"), "--max-gain: 2 …'err@20'…", code=1),
    bad_words("a relevance level of 0", ("--rel", "0"), "--rel: 0 is too small…"),
]  # fmt: skip

OPTIONS = [
    bad_words("an unknown option", ("--unknown",), "…o such option '--unknown'; …"),
    bad_words("a misspelt option", ("--digitss", "3"), "…'--digitss'…did you mean '--digits'?…"),
    bad_words("an option without its value", ("-o",), "…'-o' requires an argument; `gradedeval eval -h` explains"),
    bad_words("an unknown format", ("-f", "xml"), "…'xml' is not one of 'table', …; `gradedeval eval -h` explains"),
    bad_words("digits below 0", ("--digits", "-1"), "…--digits…; …"),
    bad_words("a depth of 0", ("--depth", "0"), "…--depth…; …"),
    bad_words("unknown ties", ("--ties", "random"), "…--ties…'random' is not one of 'docno-desc', …; …"),
    bad_words("an unknown preset", ("--like", "gdevl"), "--like: no preset 'gdevl'; did you mean 'gdeval'?"),
    bad_words("no such preset", ("--like", "xyz"), "--like: no preset 'xyz'; one of trec_eval, gdeval, …"),
    bad_words("condensed lists with residuals", ("--judged-only", "--residuals"),
              "--judged-only: a condensed list has no residual…; leave out one of …"),
    bad_words("condensed lists with a limit", ("--judged-only", "--max-residual", "0.1"), "--judged-only: …; …"),
    bad_words("a residual below 0", ("--max-residual", "-1"), "--max-residual: -1 is too small…"),
    bad_words("order by another measure", ("--sort", "ndcg"),
              "--sort: 'ndcg' is not among the measures (err@20); add -m 'ndcg'"),
    bad_words("order by another cutoff", ("--sort", "err@10"), "--sort: 'err@10' is not among …; add -m 'err@10'"),
    bad_words("order by a wrong name", ("--sort", "rpb"), "no measure 'rpb'; did you mean 'rbp'?"),
    bad_words("order by a blank", ("--sort", " "), "--sort: …"),
    bad_words("order by two measures", ("--sort", "err@20 ap"), "--sort: …"),
    bad_words("no such file of topics", ("--topics-from", "none.txt"), "none.txt: no such file; …", code=1),
    bad_words("an empty file of topics", ("--topics-from", "t.txt"), "t.txt: names no topic; one topic a line", code=1,
              t_txt=b""),
    bad_words("a file of comments for topics", ("--topics-from", "t.txt"), "t.txt: names no topic; …", code=1,
              t_txt=b"# fold 1\n"),
    bad_words("unknown topics", ("--topics-from", "t.txt"), "--topics-from: names no topic of qrels.txt; as in 1, 2",
              code=1,
              t_txt=b"98\n99\n"),
    # Otherwise the first topic would be left out without a word.
    bad_words("a byte order mark before the topics", ("--topics-from", "t.txt"),
              "t.txt:1: begins with a byte order mark; …",
              code=1, t_txt=b"\xef\xbb\xbf1\n2\n"),
    # Otherwise all topics but the first would be left out without a word.
    bad_words("topics between carriage returns", ("--topics-from", "t.txt"),
              "t.txt:1: a carriage return inside the line; …",
              code=1, t_txt=b"1\r2\r"),
    Broken("no topic left of the run", ("run.txt: shares no topics with qrels.txt (1 vs 2); …",),
           run=b"1 Q0 a 1 1 t\n",
           words=("--topics-from", "t.txt"), files={"t.txt": b"2\n"}),
    Broken("no relevant topic", ("qrels.txt: no topic has a relevant document; …",), qrels=b"1 0 a 0\n2 0 c 0\n",
           words=("--topics", "relevant")),
    Broken("all lines skipped", ("run.txt: no documents (12 bad lines skipped…); …",), run=lines(12, 5),
           words=("--lenient",)),
    Broken("all judgements skipped", ("qrels.txt: no judgements (2 bad lines skipped…); …",), qrels=b"1 0 a x\n1 0\n",
           words=("--lenient",)),
    bad_words("output to a folder that is not there", ("-o", "none/x.csv"),
              "none/x.csv: cannot be written (No such file…); …",
              code=1),
    bad_words("output to a folder", ("-o", "folder"), "folder: cannot be written (Is a directory); …", code=1),
    bad_words("output to nowhere", ("-o", ""), "-o: …; …"),
    bad_words("an unknown extension", ("-o", "x.foo"), "'x.foo': no format for .foo; -f says which: table, …"),
    bad_words("an extension of a compression", ("-o", "x.csv.gz"), "'x.csv.gz': no format for .gz; -f says which: …"),
    bad_words("output to a full device", ("-o", "/dev/full"),
              "/dev/full: cannot be written (No space left on device); …", code=1),
    bad_words("no such file of measures", ("--measures-from", "none.py"), "none.py: is no Python file; …"),
    bad_words("measures that are no Python", ("--measures-from", "my.txt"), "my.txt: is no Python file; …",
              my_txt=CONSTANT % b"1"),
    bad_words("measures with a slip", ("--measures-from", "my.py"), "my.py: does not load (SyntaxError: …)…",
              my_py=b"def x(:\n"),
    bad_words("measures that miss a module", ("--measures-from", "my.py"),
              "my.py: does not load (ModuleNotFoundError: …)…",
              my_py=b"import no_such_module\n"),
    bad_words("measures that end the program", ("--measures-from", "my.py"), "my.py: does not load (SystemExit…)…",
              my_py=b"raise SystemExit(0)\n"),
    bad_words("an empty file of measures", ("--measures-from", "my.py"),
              "my.py: has no measures; decorate a function with …", my_py=b""),
    bad_words("a measure under a taken name", ("--measures-from", "my.py"),
              "my.py: 'ndcg' is a measure of gradedeval already; …",
              my_py=(CONSTANT % b"1").replace(b"mine", b"ndcg")),
    bad_words("a measure twice", ("--measures-from", "my.py", "--measures-from", "b.py"),
              "b.py: measure 'mine' is another file's too; …", my_py=CONSTANT % b"1", b_py=CONSTANT % b"1"),
    bad_words("a measure that fails", ("-m", "mine", "--measures-from", "my.py"),
              "measure 'mine': failed (ZeroDivisionError: division by zero); mend its function",
              code=1, my_py=CONSTANT % b"1 / 0"),
    bad_words("a measure of the wrong shape", ("-m", "mine", "--measures-from", "my.py"),
              "measure 'mine': gave shape (3,); …",
              code=1, my_py=CONSTANT % b"[1, 2, 3]"),
    bad_words("a measure of one number", ("-m", "mine", "--measures-from", "my.py"), "measure 'mine': gave shape (); …",
              code=1, my_py=CONSTANT % b"0.5"),
    bad_words("a measure of words", ("-m", "mine", "--measures-from", "my.py"),
              "measure 'mine': failed (ValueError: …); …",
              code=1, my_py=CONSTANT % b"'high'"),
    bad_command("a wrong name for help", ("measures", "rpb"), "no measure 'rpb'; did you mean 'rbp'?"),
    bad_command("no name for help", ("measures", ""), "…; …"),
    bad_command("two names for help", ("measures", "err", "ap"),
                "…extra argument (ap); `gradedeval measures -h` explains"),
]  # fmt: skip

CASES = [*WIDTHS, *EMPTY, *NUMBERS, *TWICE, *BYTES, *COMPRESSED, *PLACES, *MEASURES, *GAINS, *OPTIONS]
by_name = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)

# A file with its line, an option, a measure, or words that name neither.
PLACE = re.compile(r"(?:[^\s;:']+(?::[1-9]\d*)?|'[^']+'|measure '[^']+'|-[a-z]|--[a-z-]+): \S")
COUNT = re.compile(r"[^\s;:]+: [1-9]\d* more such lines?")


def matches(pattern: str, line: str) -> bool:
    """Whether the line is the pattern, where `…` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), line) is not None


def is_message(line: str, code: int) -> bool:
    """Whether a line is `place: fault; cure`: one of data has a place, one of words has a place or a cure."""
    readable = not re.search(r"[\x00-\x1f\x7f]|Traceback|Errno|\?;|;;|\s$|^\s", line)
    return readable and bool(PLACE.match(line) or (code == 2 and "; " in line))


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder below, and what is in it."""
    found = sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}


def check_refused(outcome: Outcome, code: int, says: tuple[str, ...]) -> None:
    shown = "\n".join(outcome.messages)
    assert outcome.code == code, shown
    assert not outcome.out
    said = outcome.messages
    if said and COUNT.fullmatch(said[-1]):
        assert len(said) == 11, shown
        assert all(is_message(line, code) for line in said[:-1]), shown
    else:
        assert 1 <= len(said) <= 10, shown
        assert all(is_message(line, code) for line in said), shown
    assert len(said) == len(says), shown
    for pattern, line in zip(says, said, strict=True):
        assert matches(pattern, line), f"expected {pattern}\ngot      {line}"


def test_there_are_many_ways_to_be_wrong_and_no_two_go_by_one_name() -> None:
    assert len(CASES) >= 70
    assert len({case.name for case in CASES}) == len(CASES)


@by_name
def test_broken_input_is_a_clear_message_and_nothing_else(case: Broken, tmp_path: Path, cli: Command) -> None:
    case.write(tmp_path)
    before = contents(tmp_path)
    check_refused(cli(*case.arguments, stdin=case.stdin), case.code, case.says)
    assert contents(tmp_path) == before


@by_name
def test_broken_input_leaves_the_output_file_as_it_was(case: Broken, tmp_path: Path, cli: Command) -> None:
    if case.arguments[0] == "measures" or "-o" in case.arguments:
        pytest.skip("has no output file, or is about it")
    case.write(tmp_path)
    (tmp_path / "out.csv").write_bytes(b"yesterday's numbers\n")
    before = contents(tmp_path)
    assert cli(*case.arguments, "-o", "out.csv", stdin=case.stdin).code == case.code
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "name",
    [
        "five fields",
        "swapped files",
        "score nan",
        "a gz run cut at 50%",
        "-m rpb",
        "an unknown option",
        "a measure that fails",
    ],
)
def test_a_process_of_its_own_says_the_same(name: str, tmp_path: Path, cli: Command, process: Command) -> None:
    case = next(case for case in CASES if case.name == name)
    case.write(tmp_path)
    apart, here = process(*case.arguments), cli(*case.arguments)
    assert (apart.code, apart.out, apart.messages) == (here.code, here.out, here.messages)


def test_a_wrong_name_is_said_before_any_file_is_read(cli: Command) -> None:
    outcome = cli("none.txt", "none.qrels", "-m", "rpb")
    assert (outcome.code, outcome.messages) == (2, ["no measure 'rpb'; did you mean 'rbp'?"])


def test_no_gains_above_0_is_a_warning_and_blank_residuals(tmp_path: Path, cli: Command) -> None:
    Broken("", (), qrels=b"1 0 a 0\n1 0 b -1\n2 0 c 0\n").write(tmp_path)
    outcome = cli("run.txt", "qrels.txt", "-m", "err@20", "--residuals", "-f", "csv")
    assert outcome.code == 0
    assert outcome.text == "run,topic,measure,score,residual\nrun.txt,all,err@20,0.0,\n"
    assert len(outcome.messages) == 1
    assert matches("qrels.txt: no grade above 0…; --top-grade…", outcome.messages[0])


def test_a_judgement_given_twice_alike_is_a_remark(tmp_path: Path, cli: Command) -> None:
    Broken("", (), qrels=QRELS + b"1 0 a 2\n").write(tmp_path)
    outcome = cli("run.txt", "qrels.txt", "-m", "err@20", "-f", "csv")
    assert outcome.code == 0
    assert outcome.messages == ["qrels.txt: 1 judgement repeated with the same grade; counted once"]
    assert outcome.text == "run,topic,measure,score\nrun.txt,all,err@20,0.5\n"


# Files that may not be read or written


@contextmanager
def unprivileged() -> Iterator[None]:
    """For a while without the rights of root, to whom permissions mean nothing; needless for everybody else."""
    if os.geteuid() != 0:
        yield
        return
    try:
        os.seteuid(65534)
    except OSError:
        pytest.skip("root that may not become somebody else sees no permissions")
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("name", ["run.txt", "qrels.txt"])
def test_a_file_without_read_permission_is_said_to_be_that(name: str, tmp_path: Path, cli: Command) -> None:
    Broken("", ()).write(tmp_path)
    assert cli("run.txt", "qrels.txt").code == 0  # and imports what is imported late, while it may be read
    tmp_path.chmod(0o755)
    (tmp_path / name).chmod(0)
    with unprivileged():
        outcome = cli("run.txt", "qrels.txt")
    check_refused(outcome, 1, (f"{name}: may not be read; check its permissions",))


def test_a_file_in_a_closed_folder_is_said_to_be_that(tmp_path: Path, cli: Command) -> None:
    Broken("", ()).write(tmp_path)
    (tmp_path / "folder" / "run.txt").write_bytes(RUN)
    assert cli("folder/run.txt", "qrels.txt").code == 0
    tmp_path.chmod(0o755)
    (tmp_path / "folder").chmod(0)
    try:
        with unprivileged():
            outcome = cli("folder/run.txt", "qrels.txt")
    finally:
        (tmp_path / "folder").chmod(0o755)
    check_refused(outcome, 1, ("folder/run.txt: may not be read; check its permissions",))


def test_output_into_a_folder_that_may_not_be_written_leaves_the_old_file(tmp_path: Path, cli: Command) -> None:
    Broken("", ()).write(tmp_path)
    (tmp_path / "folder" / "x.csv").write_bytes(b"old")
    assert cli("run.txt", "qrels.txt", "-f", "csv").code == 0
    tmp_path.chmod(0o755)
    (tmp_path / "folder").chmod(0o555)
    before = contents(tmp_path)
    try:
        with unprivileged():
            outcome = cli("run.txt", "qrels.txt", "-o", "folder/x.csv")
    finally:
        (tmp_path / "folder").chmod(0o755)
    check_refused(outcome, 1, ("folder/x.csv: cannot be written (Permission denied); …",))
    assert contents(tmp_path) == before


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that opens and cannot be read")
@pytest.mark.parametrize("words", [("/proc/self/mem", "qrels.txt"), ("run.txt", "/proc/self/mem")])
def test_a_file_that_breaks_while_it_is_read_is_said_to_be_that(
    words: tuple[str, str], tmp_path: Path, cli: Command
) -> None:
    Broken("", ()).write(tmp_path)
    check_refused(cli(*words), 1, ("/proc/self/mem: cannot be read (Input/output error); …",))


# Standard input, output and error that are full or closed


@pytest.mark.parametrize(
    "words", ["run.txt qrels.txt", "run.txt qrels.txt -o /dev/stdout", "measures", "-h", "eval -h"]
)
def test_a_pipe_that_nobody_reads_is_silence_and_success(words: str, tmp_path: Path, process: Command) -> None:
    Broken("", ()).write(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        outcome = process(*words.split(), stdout=writer)
    finally:
        os.close(writer)
    assert outcome == Outcome(0, b"", b"")


def test_a_pipe_that_is_closed_half_way_is_silence_and_success(tmp_path: Path) -> None:
    topics = range(20_000)
    (tmp_path / "run.txt").write_text("".join(f"{topic} Q0 d 1 1 t\n" for topic in topics))
    (tmp_path / "qrels.txt").write_text("".join(f"{topic} 0 d 1\n" for topic in topics))
    outcome = shell("gradedeval run.txt qrels.txt -m err -q -f csv | head -n 1", tmp_path)
    assert outcome == Outcome(0, b"run,topic,measure,score\n", b"")
    assert shell("gradedeval run.txt qrels.txt -m err -q -f csv | head -n 0", tmp_path) == Outcome(0, b"", b"")


@pytest.mark.parametrize("words", [("run.txt", "qrels.txt"), ("measures",), ("--help",)])
def test_a_full_standard_output_is_a_message(words: tuple[str, ...], tmp_path: Path, process: Command) -> None:
    Broken("", ()).write(tmp_path)
    with Path("/dev/full").open("wb") as full:
        outcome = process(*words, stdout=full)
    check_refused(outcome, 1, ("<stdout>: No space left on device; nothing complete was written",))


def test_a_closed_standard_output_is_a_message(tmp_path: Path) -> None:
    Broken("", ()).write(tmp_path)
    check_refused(shell("gradedeval run.txt qrels.txt >&-", tmp_path), 1, ("<stdout>: …",))


def test_a_closed_standard_input_is_a_message(tmp_path: Path) -> None:
    Broken("", ()).write(tmp_path)
    check_refused(shell("gradedeval - qrels.txt <&-", tmp_path), 1, ("<stdin>: …",))
    assert shell("gradedeval run.txt qrels.txt <&-", tmp_path).code == 0


def test_a_closed_or_full_standard_error_changes_no_exit_code(tmp_path: Path) -> None:
    Broken("", ()).write(tmp_path)
    for redirected in ("2>&-", "2>/dev/full"):
        assert shell(f"gradedeval none.txt qrels.txt {redirected}", tmp_path) == Outcome(1, b"", b"")
        assert shell(f"gradedeval run.txt qrels.txt {redirected}", tmp_path).code == 0


# --lenient


LENIENT_RUN = b"topic Q0 docno rank score tag\n" + RUN + b"1 Q0 d 1 inf t\n1 Q0\n2 Q0 e f 1 9 t\n"
LENIENT_QRELS = b"topic iteration docno grade\n" + QRELS + b"1 0 d high\n"


def test_lenient_skips_and_counts_bad_lines_of_both_files(tmp_path: Path, cli: Command) -> None:
    Broken("", (), run=LENIENT_RUN, qrels=LENIENT_QRELS).write(tmp_path)
    words = ("run.txt", "qrels.txt", "-m", "err@20 num_ret num_rel", "-q", "-f", "csv")
    outcome = cli(*words, "--lenient")
    assert outcome.code == 0
    assert outcome.messages == [
        "qrels.txt: 2 bad lines skipped, the first of them line 1",
        "run.txt: 4 bad lines skipped, the first of them line 1",
    ]
    (tmp_path / "run.txt").write_bytes(RUN)
    (tmp_path / "qrels.txt").write_bytes(QRELS)
    assert cli(*words).out == outcome.out


def test_lenient_says_nothing_of_files_without_a_fault(tmp_path: Path, cli: Command) -> None:
    Broken("", ()).write(tmp_path)
    outcome = cli("run.txt", "qrels.txt", "--lenient")
    assert (outcome.code, outcome.messages) == (0, [])


def test_one_line_skipped_is_a_line_and_not_lines(tmp_path: Path, cli: Command) -> None:
    Broken("", (), run=RUN + b"1 Q0\n").write(tmp_path)
    outcome = cli("run.txt", "qrels.txt", "--lenient")
    assert (outcome.code, outcome.messages) == (0, ["run.txt: 1 bad line skipped, the first of them line 4"])


def test_lenient_skips_a_line_without_a_rank_where_ranks_are_read(tmp_path: Path, cli: Command) -> None:
    Broken("", (), run=b"1 Q0 a one 3 t\n1 Q0 b 2 2 t\n2 Q0 c 1 1 t\n").write(tmp_path)
    words = ("run.txt", "qrels.txt", "-m", "num_ret", "-f", "csv", "--lenient")
    ranked = cli(*words, "--ties", "rank")
    assert ranked.messages == ["run.txt: 1 bad line skipped, the first of them line 1"]
    assert ranked.text.endswith("num_ret,2\n")
    assert cli(*words).text.endswith("num_ret,3\n")  # elsewhere a rank may be anything


# Odd and legal


# Topic 1: grades 3, 2, 4 in order of score, the ERR paper's example; topic 2: unjudged, then grade 4.
ODD_RUN = b"1 Q0 x 1 30 t\n1 Q0 y 2 20 t\n1 Q0 z 3 10 t\n2 Q0 u 1 2 t\n2 Q0 w 2 1 t\n"
ODD_QRELS = b"1 0 x 3\n1 0 y 2\n1 0 z 4\n2 0 w 4\n"
EXPECTED = {
    "1": 7 / 16 + 3 / 16 * 9 / 16 / 2 + 15 / 16 * 13 / 16 * 9 / 16 / 3,
    "2": 15 / 16 / 2,
}


def scores_of(outcome: Outcome) -> dict[str, float]:
    """topic -> score, of `-q -f csv` and one measure."""
    assert outcome.code == 0, outcome.messages
    rows = list(csv.DictReader(io.StringIO(outcome.out.decode("utf-8", "surrogateescape"))))
    return {row["topic"]: float(row["score"]) for row in rows if row["topic"] != "all"}


def spaced(data: bytes) -> bytes:
    """The fields apart by tabs, blanks, and both."""
    gaps = [b"\t", b"  ", b" \t ", b" "]
    split = [line.split() for line in data.splitlines()]
    return b"".join(b"".join(field + gaps[at % 4] for at, field in enumerate(line)) + b"\n" for line in split)


def commented(data: bytes) -> bytes:
    return b"# made by us\n" + b"#1 Q0 x 9 99 t\n#\n".join(line + b"\n" for line in data.splitlines()) + b"# the end"


def with_scores(*scores: bytes) -> bytes:
    rows = [line.split() for line in ODD_RUN.splitlines()]
    return b"".join(b" ".join([*row[:4], score, row[5]]) + b"\n" for row, score in zip(rows, scores, strict=True))


ODD: dict[str, tuple[bytes, bytes]] = {
    "as it should be": (ODD_RUN, ODD_QRELS),
    "CRLF": (ODD_RUN.replace(b"\n", b"\r\n"), ODD_QRELS.replace(b"\n", b"\r\n")),
    "LF and CRLF in turn": (ODD_RUN.replace(b"t\n2", b"t\r\n2"), ODD_QRELS.replace(b"4\n", b"4\r\n")),
    "tabs": (ODD_RUN.replace(b" ", b"\t"), ODD_QRELS.replace(b" ", b"\t")),
    "tabs and blanks mixed": (spaced(ODD_RUN), spaced(ODD_QRELS)),
    "leading blanks": (b"  " + ODD_RUN.replace(b"\n", b"\n\t "), b" " + ODD_QRELS.replace(b"\n", b"\n  ")),
    "trailing blanks": (ODD_RUN.replace(b"\n", b" \t\n"), ODD_QRELS.replace(b"\n", b"  \n")),
    "no final newline": (ODD_RUN[:-1], ODD_QRELS[:-1]),
    "CRLF, and no final newline": (ODD_RUN.replace(b"\n", b"\r\n")[:-2], ODD_QRELS.replace(b"\n", b"\r\n")[:-2]),
    "CRLF, cut before the last newline": (ODD_RUN.replace(b"\n", b"\r\n")[:-1], ODD_QRELS.replace(b"\n", b"\r\n")[:-1]),
    "blank lines": (b"\n" + ODD_RUN.replace(b"\n", b"\n\n \n\t\r\n"), b"\r\n" + ODD_QRELS.replace(b"\n", b"\n\n")),
    "comments": (commented(ODD_RUN), commented(ODD_QRELS)),
    "interleaved topics": (
        b"".join(ODD_RUN.splitlines(keepends=True)[at] for at in (3, 0, 4, 2, 1)),
        b"".join(ODD_QRELS.splitlines(keepends=True)[at] for at in (0, 3, 2, 1)),
    ),
    "lines upside down": (
        b"".join(reversed(ODD_RUN.splitlines(keepends=True))),
        b"".join(reversed(ODD_QRELS.splitlines(keepends=True))),
    ),
    "scores in every notation": (with_scores(b"+1", b".5", b"1e-3", b"5.", b"-1.5E+2"), ODD_QRELS),
    "scores below what a float can tell from 0": (with_scores(b"1e-300", b"1e-310", b"-0.0", b"1e-399", b"-1"),
                                                  ODD_QRELS),
    "scores of many digits": (
        with_scores(b"0.30000000000000004", b"0.3", b"0.29999999999999993", b"00012345678901234567890.5", b"7"),
        ODD_QRELS,
    ),
    "grades in every notation": (ODD_RUN, b"1 0 x +3\n1 0 y 2.0\n1 0 z .4e1\n2 0 w 04\n"),
    "ranks that say nothing": (ODD_RUN.replace(b" 1 30", b" - 30").replace(b" 2 20", b" x 20"), ODD_QRELS),
    "second columns that say nothing": (ODD_RUN.replace(b"Q0", b"?"), ODD_QRELS.replace(b" 0 ", b" Q0 ")),
    "another tag in every line": (with_scores(b"5", b"4", b"3", b"2", b"1").replace(b" t\n2", b" s\n2"), ODD_QRELS),
    "docnos with # and :": (ODD_RUN.replace(b"x", b"#x:1#"), ODD_QRELS.replace(b"x", b"#x:1#")),
    "docnos that are no UTF-8": (ODD_RUN.replace(b"x", b"\xe9\xff"), ODD_QRELS.replace(b"x", b"\xe9\xff")),
    "docnos with the blanks of Unicode": (
        ODD_RUN.replace(b"x", "a\u00a0b\u2028c\u0085d".encode()),
        ODD_QRELS.replace(b"x", "a\u00a0b\u2028c\u0085d".encode()),
    ),
    "a docno of 5,000 bytes": (ODD_RUN.replace(b"x", b"x" * 5000), ODD_QRELS.replace(b"x", b"x" * 5000)),
    "docnos alike in their first 2,000 bytes": (
        ODD_RUN.replace(b"x", b"a" * 2000 + b"1").replace(b"y", b"a" * 2000 + b"2"),
        ODD_QRELS.replace(b"x", b"a" * 2000 + b"1").replace(b"y", b"a" * 2000 + b"2"),
    ),
    **{f"packed by {kind}": (pack(ODD_RUN), pack(ODD_QRELS)) for kind, pack in PACKERS.items()},
    **{
        f"packed by {kind} in two parts": (pack(ODD_RUN[:35]) + pack(ODD_RUN[35:]),
                                           pack(ODD_QRELS[:9]) + pack(ODD_QRELS[9:]))
        for kind, pack in PACKERS.items()
    },
    "packed by zstd that reads a pipe": (zstd(ODD_RUN), zstd(ODD_QRELS)),
    "gzip with zeros behind, as tape drives leave them": (gzip.compress(ODD_RUN) + bytes(512), ODD_QRELS),
}  # fmt: skip
odd = pytest.mark.parametrize("name", list(ODD))
WORDS = ("-m", "err@20", "-q", "-f", "csv")


@odd
def test_odd_input_gives_the_right_numbers(name: str, tmp_path: Path, cli: Command) -> None:
    run, qrels = ODD[name]
    # A name that promises another compression: only the content counts.
    (tmp_path / "run.gz").write_bytes(run)
    (tmp_path / "qrels.bz2").write_bytes(qrels)
    outcome = cli("run.gz", "qrels.bz2", *WORDS)
    assert scores_of(outcome) == pytest.approx(EXPECTED, rel=1e-15)
    assert outcome.messages == []


@odd
def test_odd_input_gives_the_same_from_standard_input(name: str, tmp_path: Path, cli: Command) -> None:
    run, qrels = ODD[name]
    (tmp_path / "run.txt").write_bytes(run)
    (tmp_path / "qrels.txt").write_bytes(qrels)
    assert scores_of(cli("-", "qrels.txt", *WORDS, stdin=run)) == pytest.approx(EXPECTED, rel=1e-15)
    assert scores_of(cli("run.txt", "-", *WORDS, stdin=qrels)) == pytest.approx(EXPECTED, rel=1e-15)


def test_standard_input_is_read_to_its_end_however_it_drips(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_bytes(ODD_RUN)
    (tmp_path / "qrels.txt").write_bytes(ODD_QRELS)
    outcome = shell(
        "(head -n 2 run.txt; sleep 0.3; tail -n +3 run.txt) | gradedeval - qrels.txt -m err@20 -q -f csv", tmp_path
    )
    assert scores_of(outcome) == pytest.approx(EXPECTED, rel=1e-15)


def test_files_may_be_pipes(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_bytes(ODD_RUN)
    (tmp_path / "qrels.txt").write_bytes(ODD_QRELS)
    outcome = shell("gradedeval <(cat run.txt) <(gzip -c qrels.txt) -m err@20 -q -f csv", tmp_path)
    assert scores_of(outcome) == pytest.approx(EXPECTED, rel=1e-15)


IDS = [
    b"051",
    b"51",
    b"2019-1",
    "économie-8".encode(),
    b"\xe9conomie-8",
    b"a:b",
    b"5#1",
    b"1.0",
    b"nan",
    b"-3",
    b"a,b",
    b'"',
]


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "trec"])
def test_topic_ids_come_out_byte_for_byte(form: str, tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run.txt").write_bytes(b"".join(b"%s Q0 d 1 1 t\n" % topic for topic in IDS))
    (tmp_path / "qrels.txt").write_bytes(b"".join(b"%s 0 d %d\n" % (topic, at % 3) for at, topic in enumerate(IDS)))
    outcome = cli("run.txt", "qrels.txt", "-m", "err", "-q", "-f", form)
    assert outcome.code == 0
    text = outcome.out.decode("utf-8", "surrogateescape")
    if form in ("csv", "tsv"):
        found = [row[1:] for row in csv.reader(io.StringIO(text), delimiter="," if form == "csv" else "\t")][1:]
    elif form == "trec":
        found = [
            [topic, name.strip(), score] for name, topic, score in (line.split("\t") for line in text.splitlines())
        ]
    else:
        rows = json.loads(text)["rows"] if form == "json" else [json.loads(line) for line in text.split("\n") if line]
        found = [[row["topic"], row["measure"], row["score"]] for row in rows]
    scores = {topic.encode("utf-8", "surrogateescape"): float(score) for topic, _, score in found[:-1]}
    assert scores == {topic: (0.0, 0.25, 0.75)[at % 3] for at, topic in enumerate(IDS)}
    assert found[-1][0] == "all"


def test_a_run_s_own_name_comes_out_byte_for_byte(tmp_path: Path, process: Command) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (tmp_path / name).write_bytes(ODD_RUN)
    (tmp_path / "qrels.txt").write_bytes(ODD_QRELS)
    outcome = process(name, "qrels.txt", "-m", "err", "-f", "csv")
    assert (outcome.code, outcome.err) == (0, b"")
    assert outcome.out.splitlines()[1].startswith(b"caf\xe9.txt,all,err,")
    (tmp_path / name).write_bytes(b"x")
    assert process(name, "qrels.txt").err.startswith(b"caf\xe9.txt:1: 1 ")


def test_a_topic_of_100_000_lines_is_scored_to_its_end(tmp_path: Path, cli: Command) -> None:
    count = 100_000
    (tmp_path / "run.txt").write_text("".join(f"1 Q0 d{at} {at} {-at} t\n" for at in range(1, count + 1)))
    (tmp_path / "qrels.txt").write_text(f"1 0 d{count} 1\n1 0 d2 0\n")
    outcome = cli("run.txt", "qrels.txt", "-m", "num_ret rr ap", "-f", "trec", "--digits", "9")
    assert outcome.code == 0
    found = {name.strip(): float(score) for name, _, score in map(str.split, outcome.text.splitlines())}
    assert found == {"num_ret": count, "rr": 1 / count, "ap": 1 / count}


def test_files_of_one_line_are_enough(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run.txt").write_bytes(b"1 Q0 d 1 0 t")
    (tmp_path / "qrels.txt").write_bytes(b"1 0 d 1")
    assert scores_of(cli("run.txt", "qrels.txt", "-m", "ap", "-q", "-f", "csv")) == {"1": 1.0}


def test_what_a_part_of_a_gzip_file_copies_does_not_grow_with_the_parts_behind_it() -> None:
    """What block compressors and `cat *.gz` write has thousands of parts, and a stream keeps a copy of all that it is
    given beyond its end: were that the rest of the file, the time would grow with the square of its size."""
    given: list[int] = []

    class Part:
        def __init__(self) -> None:
            self.stream = zlib.decompressobj(wbits=31)

        def decompress(self, piece: bytes) -> bytes:
            given.append(len(piece))
            return self.stream.decompress(piece)

        eof = property(lambda self: self.stream.eof)
        unused_data = property(lambda self: self.stream.unused_data)

    packed = b"".join(gzip.compress(b"1 Q0 d%d 1 %d t\n" % (at, -at), 1) for at in range(5_000))
    content = b"".join(unpacked(io.BytesIO(packed).read, Part))
    assert content.count(b"\n") == 5_000
    assert max(given) <= SLICE < len(packed)


@pytest.mark.parametrize("zeros", [0, 1, 100, SLICE - 1, SLICE, 3 * SLICE, 3 * SLICE + 7])
def test_zeros_between_packed_parts_hide_nothing_behind_them(zeros: int, tmp_path: Path, cli: Command) -> None:
    parts = [gzip.compress(b"1 Q0 a 1 2 t\n"), gzip.compress(b"1 Q0 b 2 1 t\n")]
    (tmp_path / "run.gz").write_bytes(parts[0] + bytes(zeros) + parts[1] + bytes(zeros))
    (tmp_path / "qrels.txt").write_bytes(b"1 0 b 1\n")
    assert Source(tmp_path / "run.gz").read() == b"1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n"
    assert scores_of(cli("run.gz", "qrels.txt", "-m", "rr", "-q", "-f", "csv")) == {"1": 0.5}


# --- how the process ends ---------------------------------------------------------------------------------------------


def test_what_a_users_measure_leaves_for_the_end_is_done(tmp_path: Path, process: Command) -> None:
    """The program ends at once, but not where code of the user's has something to do at the end."""
    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    (tmp_path / "mine.py").write_text(
        "import atexit\nfrom gradedeval import measure\nlog = open('log.txt', 'w')\n"
        "atexit.register(log.close)\n"
        "@measure\ndef mine(g):\n    log.write('called\\n')\n    return g.gain[:, 0]\n"
    )
    outcome = process("run.txt", "qrels.txt", "--measures-from", "mine.py", "-m", "mine", "-f", "csv")
    assert outcome.code == 0
    assert (tmp_path / "log.txt").read_text() == "called\n"


def test_a_profiler_has_its_say(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    words = ["-m", "cProfile", "-o", "profile", "-m", "gradedeval", "run.txt", "qrels.txt", "-m", "ap"]
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "profile").stat().st_size > 1000


def test_a_frame_without_text_may_begin_a_zst_file(tmp_path: Path, cli: Command) -> None:
    zstandard = pytest.importorskip("zstandard")
    skipped = b"\x53\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"size"
    (tmp_path / "run.txt.zst").write_bytes(skipped + zstandard.compress(b"1 Q0 a 1 3 t\n"))
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    assert cli("run.txt.zst", "qrels.txt", "-m", "num_ret", "-f", "csv").out.endswith(b"num_ret,1\n")


def test_no_grade_is_minus_zero(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a -0\n1 0 b 0.5\n1 0 c 0\n")
    assert b"grades 0..0.5" in cli("run.txt", "qrels.txt", "-m", "ap(rel=0.5)").out


def test_one_score_of_two_runs_says_whose_it_is(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "good.run").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "bad.run").write_text("1 Q0 a 1\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    outcome = cli("good.run", "bad.run", "qrels.txt", "-m", "ap")
    assert outcome.code == 1
    assert outcome.out.startswith(b"run           ap\n--------  ------\ngood.run  1.0000\n")


def test_too_little_memory_is_one_line(tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of_it(*_: object, **__: object) -> None:
        raise MemoryError

    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    monkeypatch.setattr("gradedeval.scoring.scorer.Scorer.part", all_of_it)
    outcome = cli("run.txt", "qrels.txt", "-m", "ap", "--jobs", "1")
    assert (outcome.code, outcome.out) == (1, b"")
    assert outcome.messages[0].startswith("memory: there is not enough; ")
