"""Broken input, with the one line that reports it, and odd but legal input, with its scores."""

import bz2
import gzip
import lzma
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
import zstandard

from support.commands import Outcome

RUN = b"1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n2 Q0 c 1 1 t\n"
QRELS = b"1 0 a 2\n1 0 b 0\n2 0 c 1\n"
LONG = "x" * 300  # longer than any file's name
MORE = "run.txt: {} more such line"


@dataclass(frozen=True)
class Broken:
    """Wrong files and words, and the expected messages: one pattern for each line of stderr, `…` stands for anything.

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
    """Return a case of wrong words; `files` are further files, and `my_py=b"…"` is a file my.py."""
    return Broken(name, says, code=code, words=words, files=named(files))


def bad_measure(text: str, *says: str, code: int = 2, **files: bytes) -> Broken:
    return Broken(f"-m {text}", says, code=code, command=("run.txt", "qrels.txt", "-m", text), files=named(files))


def bad_command(name: str, command: tuple[str, ...], *says: str, code: int = 2, **files: bytes) -> Broken:
    return Broken(name, says, code=code, command=command, files=named(files))


def named(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name.replace("_", "."): content for name, content in files.items()}


def lines(count: int, width: int = 6) -> bytes:
    """`count` lines of a run, each cut to `width` fields."""
    rows = [["1", "Q0", f"d{rank}", f"{rank}", f"{count - rank}.5", "tag", "more"] for rank in range(count)]
    return "".join(" ".join(row[:width]) + "\n" for row in rows).encode()


def zstd(data: bytes) -> bytes:
    """Return a frame that does not say how long it is, as `zstd` writes when it reads a pipe."""
    packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    half = data.index(b"\n", len(data) // 2) + 1
    # A block that ends with a line: cut there, the rest looks like a whole file.
    first = packer.compress(data[:half]) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return first + packer.compress(data[half:]) + packer.flush()


def flipped(data: bytes, index: int) -> bytes:
    """Return the same with all bits of one byte turned over."""
    return data[:index] + bytes([data[index] ^ 255]) + data[index + 1 :]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": partial(lzma.compress, preset=0),
    # As the program `zstd` does: the library would leave out the checksum.
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}

WIDTHS = [
    bad_run("one field", RUN + b"1\n", "run.txt:4: 1 field, expected 6 (topic Q0 docno rank score tag)…"),
    bad_run("two fields", RUN + b"1 Q0\n", "run.txt:4: 2 fields, expected 6 …"),
    bad_run("three fields", RUN + b"1 Q0 d\n", "run.txt:4: 3 fields, expected 6 …"),
    bad_run("four fields", RUN + b"1 Q0 d 1\n", "run.txt:4: 4 fields, expected 6 …"),
    bad_run("five fields", b"1 Q0 d 1 5\n" + RUN, "run.txt:1: 5 fields, expected 6 …"),
    bad_run("seven fields", RUN + b"1 Q0 my d 1 5 t\n", "run.txt:4: 7 fields, expected 6 …; …spaces inside ids; …"),
    bad_run("five fields throughout", lines(3, 5),
            "run.txt:1: 5 fields, expected 6 …, here and on 2 more lines; …--run-format topic,q0,docno,rank,score"),
    bad_run("commas in the run", RUN.replace(b" ", b","),
            "run.txt:1: 1 field, expected 6 …, here and on 2 more lines; …--run-format …"),
    bad_qrels("one field in the qrels", QRELS + b"1\n",
              "qrels.txt:4: 1 field, expected 4 (topic iteration docno grade)…"),
    bad_qrels("three fields in the qrels", QRELS + b"1 d 1\n", "qrels.txt:4: 3 fields, expected 4 …"),
    bad_qrels("five fields in the qrels", QRELS + b"1 0 d 1 x\n",
              "qrels.txt:4: 5 fields, expected 4 …; …--qrels-format strata …"),
    bad_qrels("six fields in the qrels", QRELS + b"1 Q0 d 1 1 t\n", "qrels.txt:4: 6 fields, expected 4 …"),
    bad_qrels("commas in the qrels", QRELS.replace(b" ", b","),
              "qrels.txt:1: 1 field, expected 4 …, here and on 2 more lines; …--qrels-format …"),
    bad_run("a line after blank ones and comments", b"\n# by us\n\r\n" + RUN + b" \n1 Q0 d\n", "run.txt:8: 3 fields…"),
    bad_run("lines of two wrong widths", RUN + lines(3, 5) + lines(2, 3),
            "run.txt:4: 5 fields, expected 6 …, here and on 2 more lines; …",
            "run.txt:7: 3 fields, expected 6 …, here and on 1 more line; …"),
    bad_run("twelve bad scores", lines(12).replace(b".5", b",5"), *(f"run.txt:{n}: score …" for n in range(1, 11)),
            MORE.format(2) + "s"),
    bad_run("ten bad scores", lines(10).replace(b".5", b",5"), *(f"run.txt:{n}: score …" for n in range(1, 11))),
    bad_run("faults of several kinds, by line", b"1 Q0 a 1 x t\n1 Q0\n1 Q0 b 2 nan t\n" + RUN,
            "run.txt:1: score 'x'…", "run.txt:2: 2 fields…", "run.txt:3: score 'nan'…"),
    bad_qrels("eleven bad grades", b"".join(b"1 0 d%d x\n" % n for n in range(11)) + b"1 0 e 1\n",
              *(f"qrels.txt:{n}: grade 'x' is not a number; …" for n in range(1, 11)), "qrels.txt: 1 more such line"),
]  # fmt: skip

EMPTY = [
    bad_run("an empty run", b"", "run.txt: is empty; expected lines of 'topic Q0 docno rank score tag'"),
    bad_qrels("empty qrels", b"", "qrels.txt: is empty; expected lines of 'topic iteration docno grade'"),
    bad_run("a run of blanks", b"  \n\t\r\n \n", "run.txt: is empty; …"),
    bad_qrels("qrels of blanks", b"  \n\t\r\n \n", "qrels.txt: is empty; …"),
    bad_run("a run of comments", b"# system x\n#\n", "run.txt: no documents; …"),
    bad_qrels("qrels of comments", b"# pool\n#\n", "qrels.txt: no judgments; …"),
    bad_run("a run of one word", b"x", "run.txt:1: 1 field, expected 6 …"),
    bad_qrels("qrels of one word", b"x", "qrels.txt:1: 1 field, expected 4 …"),
    bad_command("an empty standard input", ("-", "qrels.txt"), "<stdin>: is empty; …", code=1),
]

# Numbers of float() that a TREC file cannot hold, and numbers of neither.
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
    bad_run("a score that is not UTF-8", RUN + b"2 Q0 d 2 \xff t\n", "run.txt:4: score '…' is not a number; …"),
    bad_run("a header in the run", b"qid Q0 docno rank score tag\n" + RUN, "run.txt:1: score 'score' …; …header"),
    bad_qrels("a header in the qrels", b"qid iter docno rel\n" + QRELS, "qrels.txt:1: grade 'rel' …; …header"),
    bad_run("a bad score where a topic begins is not a header", RUN + b"3 Q0 d 1 x t\n",
            "run.txt:4: score 'x' …; …decimal…"),
    bad_run("bad scores throughout are one header at most", lines(3).replace(b".5", b",5"),
            "run.txt:1: score '3,5' …", "run.txt:2: score '2,5' …; …decimal…", "run.txt:3: score '1,5' …; …decimal…"),
    bad_qrels("words for grades", b"1 0 a no\n1 0 b yes\n",
              "qrels.txt:1: grade 'no' is a word; the labels found are no, yes: …--labels no=…,yes=…"),
    bad_qrels("a label that --labels leaves out", b"1 0 a no\n1 0 b maybe\n", "qrels.txt:2: grade 'maybe' is a word; …",
              words=("--labels", "yes=1,no=0")),
    bad_run("ranks that are no numbers", b"1 Q0 a one 3 t\n1 Q0 b 2 2 t\n1 Q0 c - 1 t\n",
            "run.txt:1: rank 'one' is not a number; --ties rank needs ranks", "run.txt:3: rank '-' is not a number; …",
            words=("--ties", "rank")),
    bad_run("ranks that no float tells apart", b"1 Q0 a 9007199254740993 3 t\n1 Q0 b 9007199254740992 3 t\n",
            "run.txt:1: rank 9…3 is too large; --ties rank takes ranks up to 9007199254740991", "run.txt:2: rank 9…2 …",
            words=("--ties", "rank")),
]  # fmt: skip

TWICE = [
    bad_run("a docno twice", RUN + b"1 Q0 a 3 1 t\n",
            "run.txt:4: duplicate document 'a' in topic 1 (first on line 1); use --duplicates…"),
    bad_run("docnos twice in interleaved topics", RUN + b"1 Q0 b 3 1 t\n2 Q0 c 2 0 t\n1 Q0 a 4 0 t\n",
            "run.txt:4: duplicate document 'b' in topic 1 (first on line 2); …",
            "run.txt:5: duplicate document 'c' in topic 2 (first on line 3); …",
            "run.txt:6: duplicate document 'a' in topic 1 (first on line 1); …"),
    bad_run("a docno twice between blank lines", b"\n# x\n" + RUN + b"\n1 Q0 a 3 1 t\n",
            "run.txt:7: duplicate document 'a' in topic 1 (first on line 3); …"),
    bad_run("a docno twelve times", b"1 Q0 a 1 1 t\n" * 12,
            *(f"run.txt:{number}: duplicate document 'a' in topic 1 (first on line 1); …" for number in range(2, 12)),
            MORE.format(1)),
    bad_qrels("two grades", QRELS + b"1 0 a 1\n",
              "qrels.txt:4: duplicate document 'a' in topic 1 with grade 1 (first on line 1 with grade 2); "
              "use --duplicates first or last to keep one"),
    bad_qrels("two grades in interleaved topics", b"1 0 a 2\n2 0 c 1\n1 0 a -1\n2 0 c 0.5\n",
              "qrels.txt:3: duplicate document 'a' in topic 1 with grade -1 (first on line 1 with grade 2); …",
              "qrels.txt:4: duplicate document 'c' in topic 2 with grade 0.5 (first on line 2 with grade 1); …"),
    bad_qrels("one grade twice, refused", QRELS + b"1 0 a 2\n",
              "qrels.txt:4: duplicate document 'a' in topic 1 …; give each judgment once",
              words=("--duplicates", "refuse")),
    bad_run("a docno twice is not a bad line to skip", RUN + b"1 Q0 a 3 1 t\n",
            "run.txt:4: duplicate document 'a' in topic 1 …",
            words=("--lenient",)),
]  # fmt: skip

BYTES = [
    bad_run("UTF-16", RUN.decode().encode("utf-16"), "run.txt: is UTF-16; save the file as UTF-8"),
    bad_qrels("UTF-16 in the qrels", QRELS.decode().encode("utf-16"), "qrels.txt: is UTF-16; save the file as UTF-8"),
    bad_run("bytes with a quote, a comma and a carriage return", b'\x01"a"\r,b"c\n', "run.txt:1: …"),
    bad_qrels("a mark of UTF-16 before a file that is not", b"\xff\xfe" + QRELS, "qrels.txt: is UTF-16; save …"),
    bad_qrels("a byte order mark after another", b"\xef\xbb\xbf" * 2 + QRELS,
              "qrels.txt:1: starts with a byte order mark; …"),
    bad_run("a mark of UTF-16 after another", b"\xef\xbb\xbf\xff\xfe" + RUN,
            "run.txt:1: starts with a byte order mark; …"),
    bad_qrels("UTF-16 without a mark", QRELS.decode().encode("utf-16-le"), "qrels.txt: is UTF-16; save …"),
    bad_run("a NUL byte", RUN + b"1 Q0 x\0y 3 1 t\n", "run.txt:4: control byte 0x00; …"),
    bad_qrels("a NUL byte in the qrels", QRELS + b"\0", "qrels.txt:4: control byte 0x00; …"),
    bad_run("an escape sequence", RUN + b"1 Q0 \x1b[31mx 3 1 t\n", "run.txt:4: control byte 0x1b; …"),
    # A vertical tab or a form feed would split a field for Python, and not for trec_eval.
    bad_run("a vertical tab", RUN + b"1 Q0\x0bd 4 1 t\n", "run.txt:4: control byte 0x0b; …"),
    bad_qrels("a form feed", QRELS + b"\x0c1 0 d 1\n", "qrels.txt:4: control byte 0x0c; …"),
    bad_run("the end-of-file byte of DOS", RUN + b"\x1a", "run.txt:4: control byte 0x1a; …"),
    bad_run("carriage returns alone", RUN.replace(b"\n", b"\r"), "run.txt:1: carriage return inside a line; …"),
    bad_qrels("carriage returns alone in the qrels", QRELS.replace(b"\n", b"\r"),
              "qrels.txt:1: carriage return …; …"),
    bad_run("a carriage return within a line", RUN + b"1 Q0\rd 4 1 t\n", "run.txt:4: carriage return …; …"),
    bad_run("a control byte is not a bad line to skip", RUN + b"1 Q0 \0 3 1 t\n", "run.txt:4: control byte 0x00; …",
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
        # A header may be followed only by its own end.
        bad_run(f"a {kind} run of six bytes", pack(RUN)[:6], "run.txt: broken compressed data (…); …")
        for kind, pack in PACKERS.items()
    ),
    *(
        # Bytes behind the end may be the rest of the run, damaged: half a run must not be scored in silence.
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
    bad_run("a zip archive", b"PK\x03\x04\x14\x00" + bytes(30), "run.txt: is a zip archive; …"),
]  # fmt: skip

PLACES = [
    bad_command("no such run", ("none.txt", "qrels.txt"), "none.txt: no such file; …", code=1),
    bad_command("no such qrels", ("run.txt", "none.txt"), "none.txt: no such file; …", code=1),
    bad_command("a folder for the run", ("folder", "qrels.txt"), "folder: holds no run; …", code=1),
    bad_command("a pattern without a match", ("none/*.run", "qrels.txt"), "none/*.run: matches no file; …", code=1),
    bad_command("one run by two ways", (".", "run.txt", "qrels.txt"), "run '…' is given twice; give each run once"),
    bad_words("no processes", ("--jobs", "0"), "--jobs: 0 is too small; it must be at least 1"),
    bad_words("processes in words", ("--jobs", "many"), "--jobs: 'many' is not a whole number from 1"),
    bad_words("output over the file of an option", ("--topics-from", "list", "-o", "list"),
        "-o: 'list' is also the file of --topics-from; …", list=b"1\n"),
    bad_words("a reference over a run", ("--save-reference", "run.txt"),
        "--save-reference: 'run.txt' is also an input file; …"),
    bad_words("output over the gains of an option", ("--gain", "@list", "-o", "list"),
        "-o: 'list' is also the file of --gain; …", list=b"grade,gain\n0,0\n1,1\n"),
    bad_command("a folder for the qrels", ("run.txt", "folder"), "folder: is a folder; …", code=1),
    bad_command("a name too long for a file", (LONG, "qrels.txt"), f"{LONG}: cannot be read (File name too long); …",
                code=1),
    Broken("a name too long beside empty qrels", ("qrels.txt: is empty; …",), qrels=b"", command=(LONG, "qrels.txt")),
    bad_words("a name too long for measures", ("--measures-from", LONG), f"{LONG}: no such file; check the path"),
    bad_words("a name too long for gains", ("--gain", f"@{LONG}"), "--gain: no file 'x…x…'; …"),
    bad_words("a name too long for output", ("-o", f"{LONG}.foo"), "'x…x…': no format has the extension '.foo'; …"),
    bad_command("a file taken for a folder", ("run.txt/x", "qrels.txt"), "run.txt/x: …; check …", code=1),
    Broken("swapped files", ("qrels.txt: looks like a run (6 fields per line)…run.txt…qrels (4 fields …)…swap…",),
           run=QRELS, qrels=RUN),
    bad_command("qrels for a run", ("qrels.txt", "qrels.txt"), "qrels.txt: looks like qrels (4 fields per line); …",
                code=1),
    bad_command("a run for qrels", ("run.txt", "run.txt"), "run.txt: looks like a run (6 fields per line), as …",
                code=1),
    bad_command("qrels that stand first", ("qrels.txt", "run.txt", "run.txt"), "run.txt: looks like a run (6 …",
                code=1),
    bad_qrels("no topic in common", b"q51 0 a 1\nq52 0 a 1\nq53 0 a 1\n",
              "run.txt: shares no topics with qrels.txt (1, 2 vs q51, q52, …); check that both are for the same "
              "collection"),
    bad_command("standard input twice", ("-", "-"),
                "-: standard input can only be read once; give the other as a file"),
    bad_command("standard input for two runs", ("-", "-", "qrels.txt"), "-: standard input can only be read once; …"),
    Broken("standard input for run and topics", ("-: standard input can only be read once; …",), 2, stdin=RUN,
           command=("-", "qrels.txt", "--topics-from", "-")),
    Broken("standard input for a run to compare and topics", ("-: standard input can only be read once; …",), 2,
           stdin=RUN, command=("compare", "-", "run.txt", "qrels.txt", "--topics-from", "-")),
    bad_command("one file alone", ("run.txt",), "expected a run and a qrels file; usage: gradedeval RUN... QRELS"),
    bad_command("a misspelt command", ("comapre", "run.txt", "run.txt", "qrels.txt", "--test", "t"),
                "no such command 'comapre'; did you mean 'compare'?"),
    bad_command("a command's option without its value", ("compare", "run.txt", "qrels.txt", "--draws"),
                "option '--draws' requires an argument; see `gradedeval compare --help`"),
    bad_command("no file", ("-m", "err"), "expected a run and a qrels file; …"),
    bad_command("a measure for a file", ("run.txt", "qrels.txt", "err@20"),
                "err@20: no such file; did you mean -m 'err@20'?"),
    bad_command("an alias for a file", ("P_10", "run.txt", "qrels.txt"), "P_10: no such file; did you mean -m 'P_10'?"),
    bad_command("a run given twice", ("run.txt", "./run.txt", "qrels.txt"),
                "run 'run.txt' is given twice; give each run once"),
    bad_command("one tag for two runs", ("run.txt", "b.txt", "qrels.txt", "--run-name", "tag"),
                "b.txt: tag 't' is used by another run as well; leave out --run-name tag", b_txt=RUN),
]  # fmt: skip

CONSTANT = b"from gradedeval import measure\n@measure\ndef mine(g):\n    'One.'\n    return %s\n"

MEASURES = [
    bad_measure("rpb", "unknown measure 'rpb'; did you mean 'rbp'?"),
    bad_measure("NDGC@10", "unknown measure 'ndgc'; did you mean 'ndcg'?"),
    bad_measure("ap xyzzy", "unknown measure 'xyzzy'; `gradedeval measures` lists them"),
    bad_measure("P_x", "unknown measure 'p_x'; `gradedeval measures` lists them"),
    bad_measure("ndcg10", "unknown measure 'ndcg10'; did you mean 'ndcg@10'?"),
    bad_measure("precision_5(rel=2)", "unknown measure 'precision_5'; did you mean 'precision(rel=2)@5'?"),
    bad_measure("rprec5", "unknown measure 'rprec5'; did you mean 'rprec'?"),
    bad_measure("hitrat@10", "unknown measure 'hitrat'; did you mean 'hit_rate'?"),
    bad_measure("hits10", "unknown measure 'hits10'; did you mean 'hits@10'?"),
    bad_measure("all_trec", "unknown measure 'all_trec'; `gradedeval trec_eval -m all_trec` prints it"),
    bad_measure("", "…no measure…; …"),
    bad_measure("err(p=1)", "'err': unknown parameter 'p'; it takes gain, rel"),
    bad_measure("ndcg(gian=exp)", "'ndcg': unknown parameter 'gian'; did you mean 'gain'?"),
    bad_measure("ap(gain=exp)", "'ap': unknown parameter 'gain'; it takes norm, rel"),
    bad_measure("num_q(rel=1)", "'num_q': unknown parameter 'rel'; it takes none"),
    bad_measure("rbp(p=2)", "'rbp': p=2 is not in [0, 1); as in p=0.8"),
    bad_measure("rbp(p=often)", "'rbp': p=often is not in [0, 1); as in p=0.8"),
    bad_measure("ap(rel=0)", "'ap': rel=0 is not a grade above 0; as in rel=1"),
    bad_measure("dcg(log=1)", "'dcg': log=1 is not a base above 1; as in log=2"),
    bad_measure("q(beta=-1)", "'q': beta=-1 is not 0 or more; as in beta=1"),
    bad_measure("cascade(gamma=2)", "'cascade': gamma=2 is not in (0, 1]; as in gamma=1"),
    bad_measure("cascade(utility=none)", "none: no such file; check the path"),
    bad_measure("cascade(utility=u.txt)", "u.txt: not a valid utility file: …; …non-increasing …", u_txt=b"0.5\n1\n"),
    bad_measure("rbp(p=.8,p=.9)", "'rbp(p=.8,p=.9)': 'p' is given twice; give it once"),
    bad_measure("err(rel)", "'err(rel)': cannot read 'rel'; parameters are key=value, separated by commas"),
    bad_measure("err(", "'err(': is not a measure; write name(key=value,...)@cutoff, as in 'ndcg(gain=exp)@10'"),
    bad_measure("err@x", "'err@x': is not a measure; write …"),
    bad_measure("err@-1", "'err@-1': is not a measure; write …"),
    bad_measure("p", "'p': p needs a cutoff; write p@10"),
    bad_measure("gprecision", "'gprecision': gprecision needs a cutoff; write gprecision@10"),
    bad_measure("rprec@5", "'rprec@5': rprec takes no cutoff; write rprec"),
    bad_measure("err@0", "'err@0': invalid cutoff 0; cutoffs start at 1"),
    bad_measure("P_0", "'P_0': invalid cutoff 0; cutoffs start at 1"),
    bad_measure("P.5,0", "'P.5,0': invalid cutoff 0; cutoffs start at 1"),
    bad_measure("err@99999999999999999999", "'err@9…9': invalid cutoff 9…9; cutoffs end at 999,999,999,999,999,999"),
    bad_measure("ndcg_cut_99999999999999999999", "'ndcg_cut_9…9': invalid cutoff 9…9; cutoffs end at 999,999,…"),
    bad_measure("ndcg(gain=foo)", "'ndcg': unknown gain scheme 'foo'; choose from linear, exp, ntcir, grade, values …"),
    bad_measure("ndcg(gain=-1:0:1)", "'ndcg': gain -1 is negative; gains must be 0 or more"),
    bad_measure("err(gain=@none.csv)", "'err': no file 'none.csv'; gain=@FILE reads lines of grade,gain"),
    bad_measure("ndcg(gain=0:1)@5", "'ndcg(gain=0:1)@5': gains 0:1 have no value for grade 2; …", code=1),
    bad_measure("err(gain=0:1:2)", "'err(gain=0:1:2)': grade 2 is worth 2, outside 0..1; …", code=1),
    bad_measure("rbp(gain=grade)", "'rbp(gain=grade)': grade 2 is worth 2, outside 0..1; …", code=1),
    bad_measure("gap(g=1:2:3)", "'gap(g=1:2:3)': g has 3 values for 2 thresholds; …the grades 1, 2", code=1),
    bad_measure("gap(g=0:0)", "'gap': g=0:0 is not a list of shares from 0 up…"),
    bad_measure("gap(gain=1:2:3)", "'gap(gain=1:2:3)': gap needs gain 0 for grade 0 and gains that rise…", code=1),
    bad_measure("grecall(gain=0:2:1)", "'grecall(gain=0:2:1)': grecall needs gain 0 for grade 0 and gains that rise…",
                code=1),
    bad_measure("err@20,,ap", "'err@20,': is not a measure; separate measures by spaces"),
]  # fmt: skip

GAINS = [
    bad_words("an unknown scheme", ("--gain", "foo"), "…: unknown gain scheme 'foo'; choose from linear, exp, …"),
    bad_words("too few gains", ("--gain", "0:1"), "'err(gain=0:1)@20': gains 0:1 have no value for grade 2; …", code=1),
    bad_words("unit gains above 1", ("--gain", "0:1:2"), "'err(gain=0:1:2)@20': grade 2 is worth 2, outside 0..1; …",
              code=1),
    bad_words("no such gain file", ("--gain", "@none.csv"),
              "…: no file 'none.csv'; gain=@FILE reads lines of grade,gain"),
    bad_words("a gain file without a grade", ("--gain", "@g.csv"), "g.csv: no gain for grade 2; …", code=1,
              g_csv=b"0,0\n1,1\n"),
    bad_words("an empty gain file", ("--gain", "@g.csv"), "g.csv: is empty; …grade,gain", code=1, g_csv=b""),
    bad_words("a gain that is not a number", ("--gain", "@g.csv"), "g.csv:2: gain 'x' is not a number; …", code=1,
              g_csv=b"0,0\n1,x\n2,1\n"),
    bad_words("a gain below 0", ("--gain", "@g.csv"), "g.csv:3: gain -1 is out of range; …", code=1,
              g_csv=b"0,0\n1,1\n2,-1\n"),
    bad_words("a grade twice in a gain file", ("--gain", "@g.csv"), "g.csv:4: duplicate grade '1' (first on line 3); …",
              code=1,
              g_csv=b"grade,gain\n0,0\n1,0.5\n1,1\n"),
    bad_words("a NUL byte in a gain file", ("--gain", "@g.csv"), "g.csv:2: …; …", code=1, g_csv=b"0,0\n1,\x001\n2,1\n"),
    bad_words("a gain file that is not text", ("--gain", "@g.csv"), "g.csv…: …; …", code=1, g_csv=b"\xff\xfe\xff"),
    bad_words("UTF-16 in a gain file", ("--gain", "@g.csv"), "g.csv:1: is UTF-16; save the file as UTF-8", code=1,
              g_csv="0,0\n1,.5\n2,1\n".encode("utf-16")),
    bad_words("a top grade that a grade exceeds", ("--top-grade", "1"),
              "qrels.txt: grade 2 is above the top grade 1; raise --top-grade or correct the grade", code=1),
    bad_words("a preset's top grade that a grade exceeds", ("--like", "gdeval", "--top-grade", "1"),
              "qrels.txt: grade 2 is above the top grade 1; …", code=1),
    bad_words("a top grade below 0", ("--top-grade", "-1"), "--top-grade: -1 is …"),
    bad_words("a top grade that is not a number", ("--top-grade", "nan"), "--top-grade: nan is not a finite number"),
    bad_words("a relevance level of 0", ("--rel", "0"), "--rel: 0 is too small; it must be above 0"),
]  # fmt: skip

OPTIONS = [
    bad_words("an unknown option", ("--unknown",), "unknown option '--unknown'; see `gradedeval eval --help`"),
    bad_words("a misspelt option", ("--digitss", "3"), "unknown option '--digitss'; did you mean '--digits'?"),
    bad_words("trec_eval's -c, renamed", ("-c",),
              "unknown option '-c'; judged topics that a run lacks count as 0 already, by --topics qrels; …"),
    bad_words("trec_eval's -M, renamed", ("-M", "100"), "unknown option '-M'; did you mean '--depth'? …"),
    bad_words("trec_eval's -l, renamed", ("-l2",), "unknown option '-l'; did you mean '--rel'? …"),
    bad_words("trec_eval's -Z, which we lack", ("-Z", "norms"),
              "unknown option '-Z'; `gradedeval trec_eval` takes trec_eval's options"),
    bad_words("an option without its value", ("-o",), "…'-o' requires an argument; see `gradedeval eval --help`"),
    bad_words("an unknown format", ("-f", "xml"), "--format: invalid value 'xml'; choose from table, trec, …"),
    bad_words("digits below 0", ("--digits", "-1"), "--digits: -1 is too small; it must be at least 0"),
    bad_words("a depth of 0", ("--depth", "0"), "…--depth…; …"),
    bad_words("unknown ties", ("--ties", "random"), "--ties: invalid value 'random'; did you mean 'rank'?"),
    bad_words("an unknown preset", ("--like", "gdevl"), "--like: invalid value 'gdevl'; did you mean 'gdeval'?"),
    bad_words("no such preset", ("--like", "xyz"), "--like: invalid value 'xyz'; choose from trec_eval, gdeval, …"),
    bad_words("condensed lists with residuals", ("--judged-only", "--residuals"),
              "--judged-only: a condensed list has no residual…; leave out --judged-only or the residuals"),
    bad_words("condensed lists with a limit", ("--judged-only", "--max-residual", "0.1"), "--judged-only: …; …"),
    bad_words("a residual below 0", ("--max-residual", "-1"), "--max-residual: -1 is too small; it must be at least 0"),
    bad_words("order by a wrong name", ("--sort", "rpb"), "unknown measure 'rpb'; did you mean 'rbp'?"),
    bad_words("order by a blank", ("--sort", " "), "--sort: …"),
    bad_words("order by two measures", ("--sort", "err@20 ap"), "--sort: …"),
    bad_words("no such file of topics", ("--topics-from", "none.txt"), "none.txt: no such file; …", code=1),
    bad_words("an empty file of topics", ("--topics-from", "t.txt"),
              "t.txt: names no topics; expected one topic per line", code=1,
              t_txt=b""),
    bad_words("a file of comments for topics", ("--topics-from", "t.txt"), "t.txt: names no topics; …", code=1,
              t_txt=b"# fold 1\n"),
    bad_words("unknown topics", ("--topics-from", "t.txt"),
              "--topics-from: no topic of qrels.txt is listed; its topics are 1, 2",
              code=1,
              t_txt=b"98\n99\n"),
    # Otherwise the first topic would be left out without a word.
    bad_words("a byte order mark before the topics", ("--topics-from", "t.txt"),
              "t.txt:1: starts with a byte order mark; …",
              code=1, t_txt=b"\xef\xbb\xbf1\n2\n"),
    # Otherwise all topics but the first would be left out without a word.
    bad_words("topics between carriage returns", ("--topics-from", "t.txt"),
              "t.txt:1: carriage return inside a line; …",
              code=1, t_txt=b"1\r2\r"),
    Broken("no topic left of the run", ("run.txt: shares no topics with qrels.txt (1 vs 2); …",),
           run=b"1 Q0 a 1 1 t\n",
           words=("--topics-from", "t.txt"), files={"t.txt": b"2\n"}),
    Broken("no relevant topic", ("qrels.txt: no topic has a relevant document; …",), qrels=b"1 0 a 0\n2 0 c 0\n",
           words=("--topics", "relevant")),
    Broken("all lines skipped", ("run.txt: no documents (12 bad lines skipped…); …",), run=lines(12, 5),
           words=("--lenient",)),
    Broken("all judgments skipped", ("qrels.txt: no judgments (2 bad lines skipped…); …",), qrels=b"1 0 a x\n1 0\n",
           words=("--lenient",)),
    bad_words("output to a folder that is not there", ("-o", "none/x.csv"),
              "none/x.csv: cannot be written (No such file…); …",
              code=1),
    bad_words("output to a folder", ("-o", "folder"), "folder: cannot be written (Is a directory); …", code=1),
    bad_words("output to nowhere", ("-o", ""), "-o: …; …"),
    bad_words("an unknown extension", ("-o", "x.foo"),
        "'x.foo': no format has the extension '.foo'; choose one with -f: table, …"),
    bad_words("an extension of a compression", ("-o", "x.csv.gz"),
        "'x.csv.gz': no format has the extension '.gz'; choose one with -f: …"),
    bad_words("output to a full device", ("-o", "/dev/full"),
              "/dev/full: cannot be written (No space left on device); …", code=1),
    bad_words("no such file of measures", ("--measures-from", "none.py"), "none.py: no such file; check the path"),
    bad_words("measures that are no Python", ("--measures-from", "my.txt"), "my.txt: is not a Python file; …",
              my_txt=CONSTANT % b"1"),
    bad_words("measures with a slip", ("--measures-from", "my.py"), "my.py:…: cannot be loaded (SyntaxError: …)…",
              my_py=b"def x(:\n"),
    bad_words("measures that miss a module", ("--measures-from", "my.py"),
              "my.py:…: cannot be loaded (ModuleNotFoundError: …)…",
              my_py=b"import no_such_module\n"),
    bad_words("measures that end the program", ("--measures-from", "my.py"), "my.py:…: cannot be loaded (SystemExit…)…",
              my_py=b"raise SystemExit(0)\n"),
    bad_words("an empty file of measures", ("--measures-from", "my.py"),
              "my.py: has no measures; decorate a function with …", my_py=b""),
    bad_words("a measure under a taken name", ("--measures-from", "my.py"),
              "my.py: 'ndcg' is already a measure of gradedeval; …",
              my_py=(CONSTANT % b"1").replace(b"mine", b"ndcg")),
    bad_words("a measure twice", ("--measures-from", "my.py", "--measures-from", "b.py"),
              "b.py: measure 'mine' already exists; …", my_py=CONSTANT % b"1", b_py=CONSTANT % b"1"),
    bad_words("a measure that fails", ("-m", "mine", "--measures-from", "my.py"),
              "my.py:…: measure 'mine': failed (ZeroDivisionError: division by zero); fix its function; GRADEDEVAL_…",
              code=1, my_py=CONSTANT % b"1 / 0"),
    bad_words("a measure of the wrong shape", ("-m", "mine", "--measures-from", "my.py"),
              "measure 'mine': returned shape (3,); …",
              code=1, my_py=CONSTANT % b"[1, 2, 3]"),
    bad_words("a measure of one number", ("-m", "mine", "--measures-from", "my.py"),
              "measure 'mine': returned shape (); …",
              code=1, my_py=CONSTANT % b"0.5"),
    bad_words("a measure of words", ("-m", "mine", "--measures-from", "my.py"),
              "measure 'mine': failed (ValueError: …); …",
              code=1, my_py=CONSTANT % b"'high'"),
    bad_command("a wrong name for help", ("measures", "rpb"), "unknown measure 'rpb'; did you mean 'rbp'?"),
    bad_command("no name for help", ("measures", ""), "…; …"),
    bad_command("two names for help", ("measures", "err", "ap"),
                "unexpected argument 'ap'; usage: gradedeval measures [NAME]"),
]  # fmt: skip

CASES = [*WIDTHS, *EMPTY, *NUMBERS, *TWICE, *BYTES, *COMPRESSED, *PLACES, *MEASURES, *GAINS, *OPTIONS]
by_name = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)

# A file with its line, an option, a measure, or words that name neither.
PLACE = re.compile(r"(?:[^\s;:']+(?::[1-9]\d*)?|'[^']+'|measure '[^']+'|-[a-z]|--[a-z-]+): \S")
COUNT = re.compile(r"[^\s;:]+: [1-9]\d* more such lines?")


def matches(pattern: str, line: str) -> bool:
    """Return whether a line has the pattern, in which `…` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), line) is not None


def is_message(line: str, code: int) -> bool:
    """Return whether a line is `place: fault; cure`: one of data has a place, one of words has a place or a cure."""
    readable = not re.search(r"[\x00-\x1f\x7f]|Traceback|Errno|\?;|;;|\s$|^\s", line)
    return readable and bool(PLACE.match(line) or (code == 2 and "; " in line))


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return path -> content of every file and folder below a folder."""
    paths = sorted(path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


def check_refused(outcome: Outcome, code: int, says: tuple[str, ...]) -> None:
    text = "\n".join(outcome.messages)
    assert outcome.code == code, text
    assert not outcome.out
    messages = outcome.messages
    if messages and COUNT.fullmatch(messages[-1]):
        assert len(messages) == 11, text
        assert all(is_message(line, code) for line in messages[:-1]), text
    else:
        assert 1 <= len(messages) <= 10, text
        assert all(is_message(line, code) for line in messages), text
    assert len(messages) == len(says), text
    for pattern, line in zip(says, messages, strict=True):
        assert matches(pattern, line), f"expected {pattern}\ngot      {line}"
