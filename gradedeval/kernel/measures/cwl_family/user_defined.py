"""C/W/L measures with a user-defined C(i): a formula, or numbers in a file."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError, did_you_mean
from gradedeval.kernel.measures.cwl_family.formula import FUNCTIONS, UserState, cwl, ranks_viewed_past_end, read_formula
from gradedeval.kernel.measures.cwl_family.infinite_sums import geometric
from gradedeval.kernel.measures.definition import Arguments, Check, Residual
from gradedeval.kernel.measures.parameters import Lines, cached_reader, needs_file
from gradedeval.kernel.trec.lines import decode, encode
from gradedeval.kernel.trec.small_tables import SmallTable, TableRow

VARIABLES = ("i", "r", "gained", "cost", "spent")
"""Rank, gain, cumulative gain, cost and cumulative cost, the document at the rank included."""


RESERVED = {"C", "of", "horizon", "gain", "rel"}
"""Names with another meaning in the parentheses of a measure."""


def _needs_formula(arguments: Arguments, cutoff: int | None) -> None:
    """Raise InputError (usage) without a formula, or if its names differ from the parameters."""
    place = "'cwl'"
    if not arguments.get("C"):
        raise InputError(place, "needs C, a formula", 'as in cwl(C="phi*(1-r)",phi=.6)', usage=True)
    names = read_formula(str(arguments["C"])).names
    names_with_values = {unicodedata.normalize("NFKC", name) for name in arguments.keys() - {"C", "of", "horizon"}}
    for name in sorted(names_with_values | (names & RESERVED)):
        if name in RESERVED or name in VARIABLES or name in FUNCTIONS:
            raise InputError(place, f"'{name}' is a reserved name in formulas", "rename the parameter", usage=True)
    unknown = sorted(names - set(VARIABLES) - names_with_values)
    if unknown:
        valid_names = [*VARIABLES, *sorted(names_with_values), *FUNCTIONS]
        close = did_you_mean(unknown[0], valid_names) if len(unknown[0]) > 3 else ""
        hint = close or f"give it a value: {unknown[0]}=0.5"
        problem = f"unknown name '{unknown[0]}' in the formula (valid names: {', '.join(valid_names)})"
        raise InputError(place, problem, hint, usage=True)
    unused = sorted(names_with_values - names)
    if unused:
        raise InputError(place, f"'{unused[0]}' is not used in the formula {arguments['C']}", "remove it", usage=True)


def _bound(arguments: Arguments) -> Residual:
    """Return the residual rule: a bound exists only if the weights do not depend on gains."""
    return "none" if read_formula(str(arguments.get("C") or 0)).names & {"r", "gained"} else "beyond_run"


def _chance(state: UserState, C: str, **parameters: float) -> Any:
    constants = {unicodedata.normalize("NFKC", name): value for name, value in parameters.items()}
    columns = (state.rank, state.gain, state.cumulative_gain, state.cost, state.cumulative_cost)
    return read_formula(C)({**dict(zip(VARIABLES, columns, strict=True)), **constants})


def _rest_of_formula(state: UserState, C: str, **parameters: float) -> Floats:
    names = read_formula(C).names
    return ranks_viewed_past_end(_chance, state, ("i" in names, "gained" in names, "spent" in names), C=C, **parameters)


@cwl(
    tail=_rest_of_formula,
    residual=_bound,
    bounds="rises",
    costs=lambda arguments: bool(read_formula(str(arguments.get("C") or 0)).names & {"cost", "spent"}),
    monotone=lambda arguments: _bound(arguments) != "none",
    checks={"C": ("a formula", lambda text: isinstance(text, str) and read_formula(text) is not None)},
    validate=_needs_formula,
)
def cwl_(state: UserState, *, C: str = "", **parameters: float) -> Any:
    """A C/W/L measure by a formula of rank i, gain r, gained, cost, spent and parameters of your own.

    C(i) = the formula: numbers, names, + − * / **, comparisons (true is 1) and where exp log sqrt min max

    Moffat et al., TOIS 2017 for C, W and L; the formula is yours.

    C  the formula of C(i), in quotation marks, of i, r, gained, cost, spent and your own parameters
    """
    return _chance(state, C, **parameters)


ANY = b"*"
"""The type of ranks past the end, and of documents with a type that the file does not list."""


@cached_reader
def read_chances(name: str, lines: Lines) -> dict[bytes, Floats]:
    """Return type -> C(1), C(2), …, from a file with lines of rank,C or rank,type,C; the last value of each type goes
    on.

    Raises InputError (usage) if a C is not a probability, or ranks are missing.
    """
    hint = "expected lines of rank,C or rank,type,C"
    table = SmallTable.read(name, ("rank", "C"), ("rank", "type", "C"), hint=hint, usage=True, pieces=lines)
    rows: dict[bytes, list[TableRow]] = {ANY: []}
    for row in table.rows:
        rows.setdefault(encode(row.cells.get("type", decode(ANY))), []).append(row)
    chances = {kind: np.array(table.by_rank("C", of_kind, maximum=1)) for kind, of_kind in rows.items()}
    if not len(chances[ANY]):
        raise InputError(name, "no C for the type *", "add it, for ranks past the end of a run", usage=True)
    if chances[ANY][-1] >= 1:
        problem = "the last continuation probability is 1, so users never stop"
        raise InputError(name, problem, "end with a value below 1", usage=True)
    return chances


def _rest_of_file(state: UserState, file: str) -> Floats:
    chances = read_chances(file)[ANY]
    # The number of ranks viewed from rank n + 1 on, for n = 0, 1, …: computed from the last rank back.
    viewed = [float(geometric(chances[-1]))]
    for c in chances[-2::-1]:
        viewed.append(1 + float(c) * viewed[-1])
    steps = np.array(viewed[::-1])
    return np.asarray(steps[np.minimum(state.end, len(steps) - 1)])


@cwl(
    bounds="rises",
    tail=_rest_of_file,
    checks={"file": Check("a file", lambda name: len(read_chances(name)) > 0, names_file=True)},
    validate=needs_file("ddm", "lines of rank,C", "c.csv"),
    types=lambda arguments: frozenset(read_chances(str(arguments["file"]))) - {ANY},
)
def ddm(state: UserState, *, file: str | None = None) -> Any:
    """Data-driven: C of each rank from a file, by type of document (column 2 of the run) if the file has types.

    C(i) = the value of rank i in the file, whose last value goes on

    Azzopardi et al., CHIIR 2020.

    file  a file with lines of rank,C or of rank,type,C; the last value goes on
    """
    chances = read_chances(str(file))
    rank = state.rank.astype(np.int64) - 1

    def of_kind(kind: bytes) -> Floats:
        values = chances.get(kind, chances[ANY])
        return np.asarray(values[np.minimum(rank, len(values) - 1)])

    if len(chances) == 1 or state.kind is None:
        return of_kind(ANY)
    table = np.array([*(of_kind(kind) for kind in state.types), of_kind(ANY)])
    return table[state.kind, np.arange(len(rank))]
