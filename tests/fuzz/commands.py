"""Every command of the program with files that are cut, changed, packed or others: a result, or a clean refusal.

The commands and their options are those of the program: a new one is drawn from the day on which it is there.
"""

import contextlib
import json
import os
import random
import re
import shlex
import signal
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click

import gradedeval
from fuzz import command
from fuzz.case import Case, Kind
from fuzz.inputs import CALLED, TOPICS, inputs, spoilt
from gradedeval.cli.options import NO_VALUE
from gradedeval.kernel.trec.file_formats import DESCRIPTIONS
from support.broken import contents
from support.commands import Outcome
from support.generated_docs import LEAVES

# What a command needs beside its files to do something; one that is not here is called without.
NEEDS = {
    "explain": "--topic 1",
    "weights": "-m rbp",
    "check": "--min ap=0.1",
    "fit": "-m rbp(p=0.2..0.8..0.2) --to err",
    "plot fit": "-m rbp(p=0.2..0.8..0.2) --to err",
    "informative": "--min-found 1 -m ap",
    "plot informative": "--min-found 1 -m ap",
    "correlate": "-m 'ap err@3'",
    "plot correlate": "-m 'ap err@3'",
    "plot explain": "--topic 1 -m err",
    "plot weights": "-m rbp",
    "plot runs": "-m ap",
    "plot topics": "-m ap",
    "plot power": "-m 'ap err'",
    "report": "-o out.html",
    "clicks fit": "-m rbp(p=0.2..0.8..0.2)",
    "clicks simulate": "--as rbp",
    "clicks correlate": "-m ap",
    "plot clicks": "-m ap",
    "clicks gains": "--model cm",
}
LITTLE = {"--draws": "20", "--sessions": "30", "--iterations": "2"}
"""How much work is done, by options that say so; a command that takes them has them, but for `eval`, which need not."""

LEFT_OUT = ("--cluster", "--help", "--version")
"""Options that are not drawn: a cluster takes seconds to start, and help is no work."""

DRAWN = " drawn"
"""How the names of options end that are drawn."""

WRITES = re.compile("(?:^|, and )(?:Write|Append|save) ")
"""What the help of an option says whose file is written."""

MEASURES = [
    *("ap", "err@3", "ndcg@2", "rbp(p=0.8)", "gap", "bpref", "q", "p@2", "judged@3", "nerr", "inst", "insq(T=2)@5"),
    *("wp(file=weights.csv)", "cascade(utility=@utility.csv)", "ddm(file=chances.csv)", "ia(ap,prior=@prior)"),
    *("err(gain=@gains.csv)", "ap err@3", "map", "nDCG@10", "xinfap", "rbp(of=ec)", "zipf@10", "alpha_ndcg", "mine"),
]  # fmt: skip
NUMBERS = ["0", "1", "2", "3", "5", "0.5", "0.05", "1", "2", "3"]
WORDS = {
    "MEASURE": MEASURES,
    "MEASURE[.PARAMETERS]": ["map", "P.1,2", "ndcg_cut.2", "all_trec", "official", "gm_map", "rbp", "err@3", "-h"],
    "SCHEME": ["linear", "exp", "ntcir", "grade", "0:0.25:0.5:1", "@gains.csv", "0:1"],
    "MODEL": ["ctr", "cm", "dcm", "sdbn", "dbn", "ccm", "reader", "pbm", "ubm", "dbn(gamma=fit)", "cm sdbn"],
    "LABEL=GRADE,…": ["HRel=2,NRel=0", "0=0", "x=1"],
    "TIME": ["60m", "1h", "90s"],
    "TEXT": ["text", "ä", "a,b", "=1+1"],
    "ID": [*TOPICS, "9"],
    "TOPIC": [*TOPICS, "9"],
    "NAME": ["a.run", "holm", "ap", "err", "b"],
    "TEST": ["t", "randomization", "anova"],
    "COLUMN": ["kind", "user", "session", "none"],
    "FORMAT": [*DESCRIPTIONS, "topic,docno,grade", "topic,q0,docno,rank,score,tag", "trec+header"],
    "BASE ADVANCED": [],
    "A[,B]": ["1", "1,1", "0.5,2"],
    "[LEVEL]": [NO_VALUE, "0.9", "0.95"],
    "N|all": ["all", "1", "3"],
    "N|inf": ["inf", "0", "2"],
}
"""Values of options, by the word that stands for them in a help page."""

WRONG = ["nan", "-1", "x", "", "0", "inf", "1e400", "٣", "1_0", "a:b", "@", "0.0001", "1000"]


def values(option: click.Option, dice: random.Random) -> list[str]:
    """Return an option and its value, most often one that it takes."""
    flag, metavar = option.opts[-1], str(option.metavar or "")
    if option.is_flag:
        return [flag]
    if WRITES.search(option.help or "") and "FILE" in metavar:
        return [flag, dice.choice(["out.csv", "out.json", "out.svg", "out.html", "out.txt", "out.md"])]
    if flag in CALLED:
        return [flag, dice.choice(CALLED[flag])]
    if metavar in CALLED or metavar == "BASE ADVANCED" or "RUN" in metavar or "QRELS" in metavar:
        kind = metavar if metavar in CALLED else "QRELS" if "QRELS" in metavar else "RUN"
        return [flag, *(dice.choice(CALLED[kind]) for _ in range(option.nargs))]
    if "FILE" in metavar:
        return [flag, dice.choice(sorted(inputs()))]
    if dice.random() < 0.1:
        return [flag, dice.choice(WRONG)]
    if isinstance(option.type, click.Choice):
        return [flag, dice.choice(list(option.type.choices))]
    if metavar in WORDS:
        word = dice.choice(WORDS[metavar])
        return [flag, word] if word != NO_VALUE else [flag]
    if metavar.startswith("[") and "|" in metavar:
        return [flag, dice.choice(metavar.strip("[]").split("|"))]
    number = dice.choice(NUMBERS)
    if isinstance(option.type, click.types.IntParamType) or metavar == "N":
        number = str(round(float(number)))
    return [flag, f"{dice.choice(['', 'ap=', 'err@3='])}{number}" if metavar.startswith("[MEASURE=]") else number]


def arguments(name: str, metavar: str, dice: random.Random) -> list[str]:
    """Return the files of a command, as its help calls them: `RUN... [QRELS]`."""
    if name in CALLED:
        return [dice.choice(CALLED[name])]
    words = []
    for group in re.findall(r"\[[^]]*\](?:\.\.\.)?|\S+", metavar):
        if group.startswith("[") and dice.random() < 0.4:
            continue
        for word in group.replace("[", "").replace("]", "").split():
            kind = word.removesuffix("...")
            known = CALLED.get({"A": "RUN", "B": "RUN"}.get(kind, kind), WORDS.get(kind, sorted(inputs())))
            many = dice.choice([1, 2, 2, 3]) if word.endswith("...") else 1
            plain = [one for one in ("a.run", "b.run", "c.run") if one in known]
            words += dice.sample(plain, many) if plain and dice.random() < 0.7 else dice.choices(known, k=many)
    return words


def some_command(dice: random.Random) -> str:
    """Return a command, down the tree of groups."""
    group = dice.choice(sorted({name.split()[0] for name in LEAVES}))
    return dice.choice(sorted(name for name in LEAVES if name.split()[0] == group))


def draw(dice: random.Random, name: str = "") -> Case:
    """Return a call of a command, one of whose files is spoilt."""
    name = name or some_command(dice)
    options = [param for param in LEAVES[name].params if isinstance(param, click.Option)]
    metavar = next(str(param.metavar) for param in LEAVES[name].params if isinstance(param, click.Argument))
    called = [*name.split(), *arguments(name, metavar, dice)]
    chosen: dict[str, list[str]] = {f"needs {at}": [word] for at, word in enumerate(shlex.split(NEEDS.get(name, "")))}
    if name.startswith("plot"):
        chosen["-o"] = ["-o", f"out.{dice.choice(['svg', 'png', 'pdf'])}"]
    flags = {option.opts[-1]: option for option in options}
    chosen |= {flag: [flag, few] for flag, few in LITTLE.items() if flag in flags and name != "eval"}
    taken = [option for option in options if option.opts[-1] not in (*LEFT_OUT, *LITTLE)]
    for option in dice.sample(taken, min(len(taken), dice.choice([0, 0, 1, 1, 2, 3]))):
        chosen[f"{option.opts[-1]}{DRAWN}"] = values(option, dice)
    files = needed([*called, *(word for words in chosen.values() for word in words)])
    more: dict[str, Any] = {"command": called, "old": dice.random() < 0.5}
    if files and dice.random() < 0.85:
        file = dice.choice(sorted(files))
        more["how"], files[file] = spoilt(files[file], dice)
        more["spoilt"] = file
        if dice.random() < 0.04:
            more["how"] = dice.choice(["missing", "folder"])
        elif file in called and dice.random() < 0.1:
            more["how"], more["command"] = "piped", ["-" if word == file else word for word in called]
    return Case(files, (), chosen, more)


def whole(case: Case) -> Case:
    """Return the same command with files as they are, and what it needs of options."""
    options = {name: words for name, words in case.options.items() if not name.endswith(DRAWN)}
    called = [str(case.more["spoilt"]) if word == "-" else word for word in case.more["command"]]
    files = needed([*called, *(word for words in options.values() for word in words)])
    return Case(files, (), options, {"command": called, "old": False})


def needed(words: Sequence[str]) -> dict[str, bytes]:
    """Return the inputs that words name, and those that these name."""
    named, files = " ".join(words), inputs()
    found = {name for name in files if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", named)}
    found |= {"b.run"} if "config.toml" in found else set()
    found |= {"a.run", "qrels"} if "record.json" in found else set()
    return {name: files[name] for name in sorted(found)}


PACKAGE = str(Path(gradedeval.__file__).parent)


class Slow(BaseException):
    """A command that takes far longer than such small files are worth."""


LONG = 60
"""Seconds of such a command."""


@contextlib.contextmanager
def limited() -> Iterator[None]:
    def late(number: int, frame: object) -> None:
        raise Slow

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONG)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check(case: Case, folder: Path) -> str | None:
    """What is wrong with how a command ends, and with what it leaves."""
    here, temporary = folder / "here", folder / "temporary"
    here.mkdir(parents=True)
    temporary.mkdir()
    case.write(here)
    how, file = case.more.get("how"), str(case.more.get("spoilt"))
    if how in ("missing", "folder", "piped"):
        (here / file).unlink(missing_ok=True)
    if how == "folder":
        (here / file).mkdir()
    line = case.line
    written = {word for word in line if word.startswith("out.")}
    for name in written if case.more["old"] else ():
        (here / name).write_bytes(OLD)
    before = contents(here)
    shown: list[str] = []
    try:
        with limited(), patch.object(tempfile, "tempdir", str(temporary)):
            found = command.run(line, here, case.files.get(file, b"") if how == "piped" else b"", shown)
    except Slow:
        return f"takes more than {LONG} seconds: "
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        last = [frame for frame in frames if frame.filename.startswith(PACKAGE)][-1]
        place = f"{Path(last.filename).name} {last.name}"
        return f"{type(error).__name__} in {place}: {''.join(traceback.format_exc().splitlines(True)[-14:])}"
    if os.listdir(temporary):
        return f"temporary files are left: {os.listdir(temporary)}"
    if shown:
        return f"a warning of Python: {shown[0]}"
    return badly_said(case, found) or badly_left(before, contents(here), written, found)


OLD = b"yesterday's numbers\n"
PRINTS = (*command.FINDS, "eval", "trec_eval")
"""Commands that print what they found, or the runs that could be scored, beside what is wrong with others."""

MESSAGE = re.compile(r".+: \S.*|.+; \S.*")
"""`place: fault; cure`: a fault of words may have no place, and one of a place no cure."""


def badly_said(case: Case, found: Outcome) -> str | None:
    """What is wrong with the exit code and the messages."""
    if found.code not in command.CODES:
        return f"exit code {found.code}: {found.err[-300:]!r}"
    lines = COLOR.sub("", found.err.decode("utf-8", "replace")).splitlines()
    if bad := [line for line in lines if UNREADABLE.search(line)]:
        return f"no clean message: {bad[0]!r}"
    finds = case.more["command"][0] in command.FINDS and found.code == 1
    if found.code and not finds and not any(map(MESSAGE.fullmatch, lines)):
        return f"no message: exit code {found.code}, {found.err[-300:]!r}"
    if found.code and found.out and case.more["command"][0] not in PRINTS:
        return f"output beside an error: {found.out[:200]!r} {found.err[-200:]!r}"
    return None


COLOR = re.compile(r"\x1b\[[\d;]*m")
UNREADABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|Traceback|Errno|object at 0x")


def badly_left(
    before: dict[str, bytes | None], after: dict[str, bytes | None], written: set[str], found: Outcome
) -> str | None:
    """What is wrong with the files that are there afterwards."""
    for name, content in before.items():
        if name not in written and (name not in after or after[name] != content):
            return f"an input is changed: {name}"
    if new := after.keys() - before.keys() - written:
        return f"files are left: {sorted(new)}"
    for name in written & after.keys():
        content, was = after[name] or b"", before.get(name)
        if content == was:
            continue
        if found.code == 2:
            return f"written beside a usage error: {name}"
        if was is not None and content.startswith(was):
            content = content.removeprefix(was)  # it was appended to
        if not is_whole(content, name):
            return f"half a file: {name} {content[-100:]!r}"
    return None


def is_whole(content: bytes, name: str) -> bool:
    """Return whether a file ends as one of its format does."""
    if content.startswith((b"{", b"[")) and name.endswith(".json"):
        try:
            json.loads(content)
        except ValueError:
            return all(map(is_json, content.splitlines()))  # a history, or JSON Lines
    if content.startswith(b"\x89PNG"):
        return content.endswith(b"IEND\xaeB\x60\x82")
    if content.startswith(b"%PDF"):
        return content.rstrip().endswith(b"%%EOF")
    return content.endswith((b"\n", b"</html>")) or not content


def is_json(line: bytes) -> bool:
    with contextlib.suppress(ValueError):
        return json.loads(line) is not None
    return False


COMMANDS = Kind(draw, check, weight=6)
