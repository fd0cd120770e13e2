"""Notation of measures, small tables and settings: random text is a clean error, or is read back as itself."""

import contextlib
import random
import re
from pathlib import Path

from fuzz import command
from fuzz.case import Case, Kind
from fuzz.files import mutated, value_of
from fuzz.hostile import expression
from fuzz.scores import SCALES, some_measure
from gradedeval import MEASURES, InputError
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.measures.spellings import ALIASES
from support.commands import Outcome
from support.measures import in_the_shell

PIECES = [
    *("(", ")", "@", "@10", "=", ",", ":", '"', "'", " ", "  ", "\t", "\n", ".", "..", "-", "_", "0", "1"),
    *("1e3", "1e999"),
    *("rel=1", "gain=exp", "gain=0:1:2", "k=", "p=.5", "p=5", "of=ed", "horizon=5", "T=1", 'C="1/i"'),
    *("g=1:2", "prior=uniform"),
    *("ia(", "P.5,10", "ndcg_cut_10", "map_cut.", "unj_", "@0", "@1_0", "@١", "@99999999999999999999", "é"),
    *("\x00", "\ud800"),
    *("nan", "inf", "-1", "+1", ".5", "5.", "0x10", "1_0", "gain=@no.csv", "file=", "ERR", "İ", "ß", "{}", "%s", "\\"),
]


def draw_notation(dice: random.Random) -> Case:
    if dice.random() < 0.2:
        return Case({}, (expression(dice),))
    names = [*MEASURES, *ALIASES]
    if dice.random() < 0.5:
        text = some_measure(dice, dice.choice(SCALES))
        for _ in range(dice.choice([0, 1, 1, 2])):
            position = dice.randrange(len(text) + 1)
            text = text[:position] + dice.choice([*PIECES, *names]) + text[position + dice.choice([0, 0, 1, 3]) :]
    else:
        text = "".join(dice.choice([dice.choice(PIECES), dice.choice(names)]) for _ in range(dice.randint(1, 7)))
    return Case({}, (text,))


def check_notation(case: Case, folder: Path) -> str | None:
    (text,) = case.measures
    with contextlib.chdir(folder):
        try:
            measures = parse_measures(text)
        except InputError as error:
            if not error.usage:
                return f"no usage error: {error}"
            return None if "\n" not in str(error).replace(repr(text), "") or "\n" in text else f"two lines: {error}"
        for measure in measures:
            written = str(measure)
            for form in (written, in_the_shell(written)):
                if parse_measures(form) != [measure]:
                    return f"another measure: {text!r} is {measure!r}, and {form!r} is {parse_measures(form)!r}"
            if hash(parse_measures(written)[0]) != hash(measure):
                return f"another hash: {written}"
    return None


RUN = b"1 a d1 1 3 t\n1 b d2 2 2 t\n2 a d1 1 1 t\n2 a d3 2 0.5 t\n"
QRELS = b"1 1 d1 2\n1 2 d2 1\n1 1 d3 0\n2 1 d1 1\n2 2 d3 3\n"
TABLES: dict[str, tuple[bytes, str]] = {
    "wp(file=table)": (b"rank,weight\n1,0.5\n2,0.3\n3,0.1\n", ""),
    "cascade(utility=table)": (b"1\n0.5\n0.25\n", ""),
    "err ndcg": (b"grade,gain\n0,0\n1,0.5\n2,0.7\n3,1\n", "--gain @table"),
    "rbp(of=ec)": (b"type,cost\na,1.5\nb,2\n", "--costs table"),
}
"""Measures -> a table that they need, and the option that names it; `commands.py` draws tables of other options."""


def draw_table(dice: random.Random) -> Case:
    name = dice.choice(list(TABLES))
    content, option = TABLES[name]
    if dice.random() < 0.3:
        content = content.replace(b",", dice.choice([b"\t", b" ", b", ", b";"]))
    if dice.random() < 0.3:
        content = content.replace(b"\n", b"\r\n")
    spoilt = mutated(content, dice, 0)
    for _ in range(dice.choice([0, 1])):
        lines = spoilt.split(b"\n")
        row = dice.randrange(len(lines))
        cells = lines[row].split(b",")
        cells[dice.randrange(len(cells))] = dice.choice(
            [b"nan", b"inf", b"1e309", b"-1", b"2", b"1_0", b"", b'"', b"0x1", b"1e5", b'"1"']
        )
        lines[row] = b",".join(cells)
        spoilt = b"\n".join(lines)
    words = ["run", "qrels", "-m", name, *option.split()]
    files = {"table": spoilt, "run": RUN, "qrels": QRELS}
    return Case(files, (), {}, {"words": words, "form": dice.choice(["csv", "json", "table"])})


def check_table(case: Case, folder: Path) -> str | None:
    case.write(folder)
    outcome = command.run([*case.more["words"], "-f", case.more["form"]], folder)
    if wrong := command.unclean(outcome):
        return wrong
    text = outcome.out.decode("utf-8", "replace").lower()
    if outcome.code and outcome.out:
        return f"output beside an error: {outcome.out[:300]!r} {outcome.err[:200]!r}"
    if not outcome.code and case.more["form"] == "csv" and ("nan" in text.replace("nan,", "") or ",inf" in text):
        return f"no number: {text[:400]}"
    return other_table(case, folder, outcome)


# The columns that tables may have which a reader of a few lines can read, and which of them hold numbers.
SHAPES = {
    "wp(file=table)": [("rank,weight", "01")],
    "cascade(utility=table)": [("phi", "0"), ("rank,phi", "01")],
    "err ndcg": [("grade,gain", "01")],
    "rbp(of=ec)": [("type,cost", "1")],
}


def other_table(case: Case, folder: Path, outcome: Outcome) -> str | None:
    """Return whether a table changes its meaning: written anew, from a simple reader, it must give the same scores."""
    words = case.more["words"]
    if re.search(rb'"|\r(?!\n)|[\x0e-\x1f\x80-\xff]', case.files["table"]):
        return None
    widths = [names.count(",") + 1 for names, _ in SHAPES[words[3]]]
    reader = (
        (names, plain_table(case.files["table"], names, [*map(int, numbers)], widths))
        for names, numbers in SHAPES[words[3]]
    )
    names, rows = next(((names, rows) for names, rows in reader if rows is not None), ("", None))
    if rows is None:
        return None if outcome.code else f"read what is not a table: {case.files['table']!r}"
    anew = "".join(",".join(row) + "\n" for row in [names.split(","), *rows])
    (folder / "table").write_bytes(anew.encode("utf-8", "surrogateescape"))
    direct = command.run([*words, "-f", "trec"], folder)
    (folder / "table").write_bytes(case.files["table"])
    again = command.run([*words, "-f", "trec"], folder)
    if (direct.code, direct.out) == (again.code, again.out):
        return None
    return f"another table: {again.out!r} {again.err!r} instead of {direct.out!r} {direct.err!r}"


def plain_table(content: bytes, names: str, numeric: list[int], widths: list[int]) -> list[list[str]] | None:
    """Return the rows of a table without its header; None for no table. `widths`: possible numbers of columns."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    lines = [
        line
        for line in text.replace("\r\n", "\n").split("\n")
        if line.strip(" \t\r") and not line.strip().startswith("#")
    ]
    width, space = len(names.split(",")), " \r"
    present = [sign for sign in "\t;," if lines and sign in lines[0]]
    fitting = [sign for sign in present if len(lines[0].split(sign)) in widths]
    # Tabs and semicolons among spaces are not between cells; a line with a tab at its end lacks a cell.
    among_spaces = lines and len(lines[0].split()) in widths and not lines[0].rstrip(space).endswith("\t")
    between = " " if among_spaces and not fitting else next(iter([*fitting, *present]), " ")
    if between == " ":
        between, space = "[ \t\r]+", " \t\r"
    rows = [[cell.strip(" \t\r") for cell in re.split(between, line.strip(space))] for line in lines]

    def is_number(cell: str) -> bool:
        return value_of(cell.encode("utf-8", "surrogateescape")) is not None

    if (
        rows
        and not any(map(is_number, rows[0]))
        and (len(numeric) == width or re.sub(r"^\s+|\s+$|[-_ ]", "", rows[0][0].lower()) == names.split(",")[0])
    ):
        rows = rows[1:]
    good = all(len(row) == width and all(is_number(row[column]) for column in numeric) for row in rows)
    return rows if rows and good else None


NOTATION = Kind(draw_notation, check_notation, weight=0.5)
SMALL_TABLES = Kind(draw_table, check_table, weight=1)
