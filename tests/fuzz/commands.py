"""Every command of the program with truncated, changed, compressed or other files: a result, or a clean refusal.

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

# Options without which a command does nothing.
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
"""Words in the help of options whose files are written."""

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
            allowed = CALLED.get({"A": "RUN", "B": "RUN"}.get(kind, kind), WORDS.get(kind, sorted(inputs())))
            many = dice.choice([1, 2, 2, 3]) if word.endswith("...") else 1
            plain = [name for name in ("a.run", "b.run", "c.run") if name in allowed]
            words += dice.sample(plain, many) if plain and dice.random() < 0.7 else dice.choices(allowed, k=many)
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
    chosen: dict[str, list[str]] = {
        f"needs {number}": [word] for number, word in enumerate(shlex.split(NEEDS.get(name, "")))
    }
    if name.startswith("plot"):
        chosen["-o"] = ["-o", f"out.{dice.choice(['svg', 'png', 'pdf'])}"]
    flags = {option.opts[-1]: option for option in options}
    chosen |= {flag: [flag, few] for flag, few in LITTLE.items() if flag in flags and name != "eval"}
    usable = [option for option in options if option.opts[-1] not in (*LEFT_OUT, *LITTLE)]
    for option in dice.sample(usable, min(len(usable), dice.choice([0, 0, 1, 1, 2, 3]))):
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
    """Return the command with undamaged files and its necessary options."""
    options = {name: words for name, words in case.options.items() if not name.endswith(DRAWN)}
    called = [str(case.more["spoilt"]) if word == "-" else word for word in case.more["command"]]
    files = needed([*called, *(word for words in options.values() for word in words)])
    return Case(files, (), options, {"command": called, "old": False})


def needed(words: Sequence[str]) -> dict[str, bytes]:
    """Return the inputs that words name, and the inputs that these name."""
    named, files = " ".join(words), inputs()
    names = {name for name in files if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", named)}
    names |= {"b.run"} if "config.toml" in names else set()
    names |= {"a.run", "qrels"} if "record.json" in names else set()
    return {name: files[name] for name in sorted(names)}


PACKAGE = str(Path(gradedeval.__file__).parent)


class Slow(BaseException):
    """A command that takes far longer than such small files are worth."""


LONG = 60
"""Seconds of such a command."""


@contextlib.contextmanager
def limited() -> Iterator[None]:
    def late(number: int, frame: object) -> None:
        raise Slow

    handler = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONG)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)


def check(case: Case, folder: Path) -> str | None:
    """Return the problem of the ending of a command, and of its files."""
    here, temporary = folder / "here", folder / "temporary"
    here.mkdir(parents=True)
    temporary.mkdir()
    case.write(here)
    treatment, file = case.more.get("how"), str(case.more.get("spoilt"))
    if treatment in ("missing", "folder", "piped"):
        (here / file).unlink(missing_ok=True)
    if treatment == "folder":
        (here / file).mkdir()
    line = case.line
    written = {word for word in line if word.startswith("out.")}
    for name in written if case.more["old"] else ():
        (here / name).write_bytes(OLD)
    contents_before = contents(here)
    warned: list[str] = []
    try:
        with limited(), patch.object(tempfile, "tempdir", str(temporary)):
            outcome = command.run(line, here, case.files.get(file, b"") if treatment == "piped" else b"", warned)
    except Slow:
        return f"takes more than {LONG} seconds: "
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        last = [frame for frame in frames if frame.filename.startswith(PACKAGE)][-1]
        place = f"{Path(last.filename).name} {last.name}"
        return f"{type(error).__name__} in {place}: {''.join(traceback.format_exc().splitlines(True)[-14:])}"
    if os.listdir(temporary):
        return f"temporary files are left: {os.listdir(temporary)}"
    if warned:
        return f"a warning of Python: {warned[0]}"
    return badly_said(case, outcome) or badly_left(contents_before, contents(here), written, outcome)


OLD = b"yesterday's numbers\n"
PRINTS = (*command.FINDS, "eval", "trec_eval")
"""Commands that print findings, or the scored runs, together with errors of others."""

MESSAGE = re.compile(r".+: \S.*|.+; \S.*")
"""`place: fault; cure`: a fault of words may have no place, and one of a place no cure."""


def badly_said(case: Case, outcome: Outcome) -> str | None:
    """Return the problem of the exit code and the messages."""
    if outcome.code not in command.CODES:
        return f"exit code {outcome.code}: {outcome.err[-300:]!r}"
    lines = COLOR.sub("", outcome.err.decode("utf-8", "replace")).splitlines()
    if bad := [line for line in lines if UNREADABLE.search(line)]:
        return f"no clean message: {bad[0]!r}"
    finds = case.more["command"][0] in command.FINDS and outcome.code == 1
    if outcome.code and not finds and not any(map(MESSAGE.fullmatch, lines)):
        return f"no message: exit code {outcome.code}, {outcome.err[-300:]!r}"
    if outcome.code and outcome.out and case.more["command"][0] not in PRINTS:
        return f"output beside an error: {outcome.out[:200]!r} {outcome.err[-200:]!r}"
    return None


COLOR = re.compile(r"\x1b\[[\d;]*m")
UNREADABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|Traceback|Errno|object at 0x")


def badly_left(
    contents_before: dict[str, bytes | None], after: dict[str, bytes | None], written: set[str], outcome: Outcome
) -> str | None:
    """Return the problem of the files after the command."""
    for name, content in contents_before.items():
        if name not in written and (name not in after or after[name] != content):
            return f"an input is changed: {name}"
    if new := after.keys() - contents_before.keys() - written:
        return f"files are left: {sorted(new)}"
    for name in written & after.keys():
        content, was = after[name] or b"", contents_before.get(name)
        if content == was:
            continue
        if outcome.code == 2:
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
