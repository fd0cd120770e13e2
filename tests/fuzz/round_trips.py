"""Output that is read back: tables for people, baselines, references, weights, and small tables in other forms."""

import csv
import html
import io
import random
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from fuzz import command
from fuzz.case import Case, Kind
from fuzz.experiments import cells_differ, draw, near, numbers
from support.commands import Outcome

LATEX = {
    r"\textbar{}": "|",
    r"\char34{}": '"',
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textasciigrave{}": "`",
    r"\ensuremath{<}": "<",
}
LATEX |= {r"\ensuremath{>}": ">", **{f"\\{sign}": sign for sign in "&%$#_{}"}, "{}": ""}


def cells_of_markdown(text: str) -> list[list[str]]:
    """Return rows of cells, as a reader of markdown shows them."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    rows = [re.findall(r"((?:\\.|[^|\\])*)\|", line[1:]) for line in [lines[0], *lines[2:]]]
    # An invisible comment keeps @ from naming a person.
    rows = [[cell.strip().replace("<!-- -->", "") for cell in row] for row in rows]
    return [[html.unescape(re.sub(r"\\([^\w\s])", r"\1", cell)) for cell in row] for row in rows]


def cells_of_latex(text: str) -> list[list[str]]:
    lines = [line[:-3] for line in text.splitlines() if line.endswith(r" \\")]
    pattern = re.compile("|".join(map(re.escape, LATEX)))
    rows = [re.split(r"(?<!\\)&", line) for line in lines]
    return [[pattern.sub(lambda found: LATEX[found[0]], cell).strip() for cell in row] for row in rows]


def cells_of_html(text: str) -> list[list[str]]:
    page = ElementTree.fromstring(f"<page>{text}</page>")
    return [["".join(cell.itertext()).strip() for cell in row] for row in page.iter("tr")]


READERS = {"markdown": cells_of_markdown, "latex": cells_of_latex, "html": cells_of_html}


def check_people(case: Case, folder: Path) -> str | None:
    """Check that tables for people hold the rows of CSV, rounded, regardless of the names of runs."""
    case.write(folder)
    (folder / case.more["name"]).write_bytes(case.files["r3"])
    files = ["r1", f"./{case.more['name']}", "qrels", *case.words]
    plain = command.run([*files, "-f", "csv", "--digits", "4"], folder)
    if plain.code:
        return command.unclean(plain)
    expected: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(io.StringIO(plain.text)):
        expected.setdefault(row["run"], {})[row["measure"]] = row["score"]
    for form, reader in READERS.items():
        outcome = command.run([*files, "-f", form], folder)
        if wrong := command.unclean(outcome):
            return f"{form} {wrong}"
        header, *rows = reader(outcome.text)
        kept = [index for index, name in enumerate(header) if name != "topics"]  # of measures that skip some
        header, rows = [header[index] for index in kept], [[row[index] for index in kept] for row in rows]
        if header[1:] != list(expected["r1"]) or [row[0] for row in rows] != list(expected):
            return f"{form} names: {header} {[row[0] for row in rows]}, and csv {expected}"
        for row in rows:
            if any(not near(*pair) for pair in zip(row[1:], expected[row[0]].values(), strict=True)):
                return f"{form} numbers: {row}, and csv {expected[row[0]]}"
    return None


JUDGING = '; [^;"]*judging[^;"]*'
"""Words of `check` if it can read both runs again: saved scores hold no documents."""


def check_gates(case: Case, folder: Path) -> str | None:
    """`check` by a saved baseline is `check` by the run; a saved reference standardizes as the runs that it is from."""
    case.write(folder)
    saved = command.run(["r2", "qrels", *case.words, "-q", "-f", "csv", "-o", "base.csv"], folder)
    if saved.code:
        return command.unclean(saved)
    bounds = ["--max-drop", f"{case.measures[0]}=0.01", "--max-topic-drop", f"{case.measures[-1]}=0.2"]
    bounds += ["--significant", f"{case.measures[0]}=0.05", "--draws", "50", "--top-grade", "3", "-f", "csv"]
    by_run, by_scores = (
        command.run(["check", "r1", "qrels", "--baseline", base, *bounds], folder) for base in ("r2", "base.csv")
    )
    if (
        wrong := command.unclean(by_run)
        or command.unclean(by_scores)
        or differ(by_run, by_scores, ("same_order",), JUDGING)
    ):
        return f"check by saved scores: {wrong}"
    words = ["r1", "r2", "r3", "qrels", *case.words, "-q", "-f", "csv"]
    first = command.run([*words, "--standardize", "--save-reference", "reference.csv"], folder)
    if first.code:
        return command.unclean(first)
    second = command.run([*words, "--reference", "reference.csv"], folder)
    if wrong := command.unclean(second) or differ(first, second, but=("signature",)):
        return f"standardized by a saved reference: {wrong}"
    dice = random.Random(case.more["seed"])
    return fitted_again(dice, folder) if dice.random() < 0.1 else None  # which takes a second


def differ(a: Outcome, b: Outcome, but: tuple[str, ...] = (), unsaid: str = "") -> str | None:
    """Return the difference of two tables, except for some columns and the words of a pattern."""
    if a.code != b.code:
        return f"exit code {b.code} instead of {a.code}: {b.err[-300:]!r} {a.err[-300:]!r}"
    texts = []
    for text in (a, b):
        rows = [
            {key: cell for key, cell in row.items() if key not in but}
            for row in csv.DictReader(io.StringIO(re.sub(unsaid, "", text.text)))
        ]
        texts.append("\n".join(",".join(map(repr, row.values())) for row in rows))
    return cells_differ(*texts)


def fitted_again(dice: random.Random, folder: Path) -> str | None:
    """Check that the weights of a measure are fitted by the value that they were made with."""
    form, low, high = dice.choice(
        [("rbp(p={})", 0.2, 0.9), ("zipf(beta={})", 1.2, 3.0), ("poisson(alpha={})", 0.5, 4.0)]
    )
    value = round(dice.uniform(low, high), 3)
    measure = form.format(value) + ("@40" if "rbp" not in form else "")
    ranks = "40" if "@40" in measure else "200"  # the rest of rbp is negligible
    weights = command.run(["weights", "-m", measure, "--ranks", ranks, "-f", "csv", "-o", "weights.csv"], folder)
    span = form.format(f"{low}..{high}") + ("@40" if "rbp" not in form else "")
    fitted = command.run(["fit", "-m", span, "--to-weights", "weights.csv", "-f", "csv"], folder)
    if wrong := command.unclean(weights) or command.unclean(fitted):
        return f"fit to saved weights: {wrong}"
    if weights.code or fitted.code:
        return f"fit to saved weights: {measure} {weights.err!r} {fitted.err!r}"
    (row,) = csv.DictReader(io.StringIO(fitted.text))
    return None if abs(float(row["value"]) - value) <= 0.002 else f"fit to saved weights: {row['value']} for {measure}"


PEOPLE = Kind(draw, check_people, numbers, weight=0.5)
GATES = Kind(draw, check_gates, numbers, weight=0.5)
