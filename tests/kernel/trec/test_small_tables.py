"""Every small table is read alike: weights, gains, costs, probabilities, saved scores and the others."""

import bz2
import gzip
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval.analysis.saved_scores import read_saved
from gradedeval.analysis.standardize import Reference
from gradedeval.errors import InputError
from gradedeval.interop.trec_eval import read_norms
from gradedeval.kernel.measures.cwl_family.user_defined import read_chances
from gradedeval.kernel.measures.parameters import read_gains
from gradedeval.kernel.measures.parameters import read_utilities as read_utility
from gradedeval.kernel.measures.weighting_models import read_weights
from gradedeval.kernel.options.metadata import read_costs
from gradedeval.kernel.scoring.intents import read_prior
from gradedeval.kernel.trec.small_tables import SmallTable
from gradedeval.questions.fit import read_vector


@dataclass(frozen=True)
class Reader:
    """A reader of small tables: what it makes of a file, and good rows, the first of them the header."""

    name: str
    read: Callable[[str], Any]
    rows: tuple[str, ...]
    ranked: bool = False
    headed: bool = False
    code: int = 1

    def __str__(self) -> str:
        return self.name


READERS = [
    Reader("costs", lambda path: read_costs(path).of, ("type cost", "video 30", "page 1.5")),
    Reader("gains", read_gains, ("grade gain", "0 0", "1 2.5", "2 10")),
    Reader("prior", lambda path: read_prior(path).chance, ("topic subtopic probability", "1 1 .25", "1 2 .75")),
    Reader("weights", lambda path: read_weights(path).tolist(),
           ("rank weight", "1 0.5", "2 0.25", "3 .125"), True, code=2),
    Reader("chances", lambda path: {kind: c.tolist() for kind, c in read_chances(path).items()},
           ("rank type C", "1 * .5", "1 ad .9", "2 * .25"), True, code=2),
    Reader("utility", lambda path: read_utility(path).tolist(), ("rank phi", "1 1", "2 0.5", "3 .25"), True, code=2),
    Reader("vector", lambda path: read_vector(path).tolist(), ("rank weight", "1 0.5", "2 0.25", "3 .125"), True),
    Reader("saved scores", lambda path: str(read_saved(path).rows),
           ("run topic measure score", "a 1 ap 0.5", "a 2 ap 0.25"), headed=True),
    Reader("reference", lambda path: Reference.read(path).standards,
           ("measure topic mean deviation runs", "ap 1 0.5 0.1 3", "ap 2 0.25 0 3"), headed=True),
    Reader("norms", read_norms, ("topic measure mean deviation", "1 map 0.5 0.1", "2 map 0.25 0.2")),
]  # fmt: skip
every_reader = pytest.mark.parametrize("reader", READERS, ids=str)


def lines(rows: tuple[str, ...], separator: str = " ", end: str = "\n") -> str:
    return "".join(row.replace(" ", separator) + end for row in rows)


def ways(reader: Reader) -> dict[str, bytes]:
    """Return one table in many notations."""
    header, *rows = reader.rows
    plain = lines(reader.rows)
    written = {
        "blanks": plain,
        "blanks around": "".join(f"  {row.replace(' ', '   ')}  \n" for row in reader.rows),
        "tabs": lines(reader.rows, "\t"),
        "commas": lines(reader.rows, ","),
        "carriage returns": lines(reader.rows, ",", "\r\n"),
        "no newline at the end": plain.rstrip("\n"),
        "a byte order mark": "\ufeff" + lines(reader.rows, "\t"),
        "comments": "# by hand, for 3 measures\n" + lines((header, "# one", *rows, "#"), ","),
        "blank lines": "\n" + lines((header, "", "", *rows, ""), "\t"),
        "quotes": lines((header, *('"' + row.replace(" ", '" "') + '"' for row in rows)), ","),
    }
    if not reader.headed:
        written["no header"] = lines(tuple(rows))
        written["no header, a byte order mark"] = "\ufeff" + lines(tuple(rows), ",")
    if reader.ranked:
        written["ranks out of order"] = lines((header, *reversed(rows)), ",")
        written["ranks out of order, no header"] = lines(tuple(reversed(rows)), "\t")
        written["ranks with a fraction of 0"] = plain.replace("\n2 ", "\n2.0 ")
    encoded = {name: text.encode() for name, text in written.items()}
    return encoded | {"gz": gzip.compress(plain.encode()), "bz2": bz2.compress(lines(reader.rows, ",").encode())}


@every_reader
def test_a_table_is_equal_in_every_notation(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(lines(reader.rows).encode())
    expected = reader.read(str(path))
    assert len(expected)
    for name, content in ways(reader).items():
        path.write_bytes(content)
        assert reader.read(str(path)) == expected, name


@every_reader
def test_a_bad_line_is_named(reader: Reader, tmp_path: Path) -> None:
    last = reader.rows[-1].split()
    bad = {
        "a short row": (last[0], "field"),
        "a long row": (" ".join([*last, "1", "1"]), "field"),
        "a word for a number": (" ".join([*last[:-1], "high"]), "'high' is not a number"),
    }
    for name, (row, says) in bad.items():
        path = tmp_path / "table"
        path.write_text(lines((*reader.rows[:-1], row)))
        with pytest.raises(InputError) as raised:
            reader.read(str(path))
        error = raised.value
        assert (error.place, error.exit_code) == (f"{path}:{len(reader.rows)}", reader.code), name
        assert says in error.problem, name
        assert error.hint, name


@every_reader
def test_a_repeated_row_is_a_duplicate_with_both_lines(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text(lines((*reader.rows, reader.rows[1])))
    with pytest.raises(InputError, match=r"duplicate .*\(first on line 2\)") as raised:
        reader.read(str(path))
    assert raised.value.place == f"{path}:{len(reader.rows) + 1}"


@every_reader
def test_a_file_without_rows_or_that_cannot_be_read_is_an_error(reader: Reader, tmp_path: Path) -> None:
    for name, content in {
        "empty": b"",
        "blank": b"\n \n",
        "a comment": b"# nothing\n",
        "broken": b"\x1f\x8bnothing",
        "UTF-16": lines(reader.rows).encode("utf-16"),
    }.items():
        (tmp_path / "table").write_bytes(content)
        with pytest.raises(InputError) as raised:
            reader.read(str(tmp_path / "table"))
        assert raised.value.exit_code == reader.code, name
    with pytest.raises(InputError, match="no such file") as raised:
        reader.read(str(tmp_path / "none"))
    assert raised.value.exit_code == reader.code


BROKEN = [
    ("weights", "", "is empty; expected lines of rank,weight"),
    ("weights", "rank,weight\n", "is empty; expected lines of rank,weight"),
    ("weights", "1,0.5\n3,0.5\n", "rank 2 is missing; list every rank from 1, in any order"),
    ("weights", "0,0.5\n", "1: rank 0 is out of range; expected a number of 1 or more"),
    ("weights", "1,0.5\n1.5,0.5\n", "2: rank 1.5 is not a whole number; ranks are 1, 2, 3, …"),
    ("weights", "1,0.5\n2,-0.1\n", "2: weight -0.1 is out of range; expected a number of 0 or more"),
    ("weights", "1,0.5,0.1\n", "1: 3 fields, expected 2 (rank, weight)"),
    ("weights", "1,0.9\n2,0.2\n", "the weights sum to 1.1; they must sum to 1, or less if the list was cut"),
    ("weights", "1,inf\n", "1: weight 'inf' is not a number"),
    ("vector", "1,0.5\n3,0.5\n", "rank 2 is missing; list every rank from 1, in any order"),
    ("vector", "1,-1\n", "1: weight -1 is out of range; expected a number of 0 or more"),
    ("chances", "", "is empty; expected lines of rank,C"),
    ("chances", "1,0.5\n3,0.5\n", "rank 2 is missing; list every rank from 1"),
    ("chances", "1,1.5\n", "1: C 1.5 is out of range; expected a number from 0 to 1"),
    ("chances", "1,x,0.5\n", "no C for the type *"),
    ("chances", "1,0.5\n2,1\n", "the last continuation probability is 1, so users never stop; end with"),
    ("chances", "rank,C\nrank,C\n", "2: rank 'rank' is not a number"),
    ("chances", "1,a,b,0.5\n", "1: 4 fields, expected 2 (rank, C) or 3 (rank, type, C)"),
    ("prior", "1 1 .5\n1 2 x\n", "2: probability 'x' is not a number; expected a finite decimal such as 12.5"),
    ("prior", "1 1 -.5\n", "1: probability -.5 is out of range; expected a number from 0 to 1"),
    ("prior", "1 1 .5\n1 1 .5\n", "2: duplicate subtopic '1' of topic '1' (first on line 1); list each once"),
    ("prior", "1 1 .5\n1 2 .3\n1 3 .1\n", "3: the probabilities of topic 1 sum to 0.9; they must sum to 1"),
    ("prior", "1 1\n", "1: 2 fields, expected 3 (topic, subtopic, probability); expected lines of 'topic subtopic"),
    ("prior", "", "is empty; expected lines of 'topic subtopic probability'"),
    ("costs", "page -1\n", "1: cost -1 is not above 0; costs must be positive"),
    *(("costs", f"page {cost}\n", f"1: cost '{cost}' is not a number") for cost in ("inf", "nan", "1_0")),
]


@pytest.mark.parametrize(("name", "content", "says"), BROKEN)
def test_problems_of_a_table_are_reported(name: str, content: str, says: str, tmp_path: Path) -> None:
    (path := tmp_path / "table").write_text(content)
    (reader,) = (one for one in READERS if one.name == name)
    with pytest.raises(InputError) as raised:
        reader.read(str(path))
    assert re.sub(r"^: ?", "", str(raised.value).removeprefix(str(path))).startswith(says)
    assert raised.value.exit_code == reader.code


def test_a_weights_file_counts_the_same_for_a_measure_and_for_a_fit(tmp_path: Path) -> None:
    weights = tmp_path / "w.tsv"
    weights.write_bytes("\ufeff# by rank\r\n2\t0.25\r\n1\t0.5\r\n\r\n3\t0.125\r\n".encode())
    assert read_weights(str(weights)).tolist() == read_vector(weights).tolist() == [0.5, 0.25, 0.125]
    qrels, run = io.StringIO("1 0 a 1\n1 0 b 1\n"), io.StringIO("1 Q0 x 1 3 t\n1 Q0 a 2 2 t\n1 Q0 b 3 1 t\n")
    scores = gradedeval.evaluate(run, qrels, f"wp(file='{weights}')")
    assert list(scores.means.values()) == [0.375]
    fitted = gradedeval.fit_weights(weights, "rbp(p=0.45..0.55)").frame
    assert fitted.equals(gradedeval.fit_weights(np.array([0.5, 0.25, 0.125]), "rbp(p=0.45..0.55)").frame)


def test_a_run_may_be_called_after_a_comment_in_saved_scores(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("# saved\nrun,topic,measure,score\n#a.run,1,ap,0.5\n# the end\n")
    assert [row.run for row in read_saved(str(tmp_path / "s.csv")).rows] == ["#a.run"]


def test_saved_scores_are_read_as_csv_with_quotes(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text('topic,run,measure,score,more\n1,"a, b","cwl(C=""0.5"")",0.5,\n')
    (row,) = read_saved(str(tmp_path / "s.csv")).rows
    assert (row.run, row.topic, row.measure) == ("a, b", "1", 'cwl(C="0.5")')


def test_ids_keep_bytes_that_are_not_utf8_and_blanks_that_are_not_ascii(tmp_path: Path) -> None:
    (tmp_path / "costs").write_bytes(b"caf\xe9 2\nno\xc2\xa0break 3\n")
    assert read_costs(tmp_path / "costs").of == {b"caf\xe9": 2, b"no\xc2\xa0break": 3}


def test_a_measure_does_not_take_its_file_from_standard_input() -> None:
    with pytest.raises(InputError, match="cannot be standard input"):
        read_weights("-")


def test_the_table_reader_by_itself(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a,b\n1,2\n")
    table = SmallTable.read(tmp_path / "t", ("a", "b"), hint="")
    assert [(row.line, row.cells) for row in table.rows] == [(2, {"a": "1", "b": "2"})]
    with pytest.raises(InputError, match="t:1: no column 'c'; as in c"):
        SmallTable.headed(tmp_path / "t", ("a", "c"), "as in c")


@pytest.mark.parametrize(
    ("content", "line"), [('type,"\na,1.5\n', 1), ('a,1.5\n"\n', 2), ('a,1.5\n"b,2\n', 2), ('a,1\n"b,2\nc",3\n', 2)]
)
def test_an_unclosed_quote_is_an_error_at_its_line(content: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text(content)
    with pytest.raises(InputError, match=rf"costs.csv:{line}: a quote is not closed on this line; close it, or "):
        read_costs(str(tmp_path / "costs.csv"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"1\t\t\n", "3 fields, expected 1 (phi) or 2 (rank, phi)"),  # a cell is missing, not a table of one column
        (b"1\n1\x0b0.5\n", "phi '1\x0b0.5' is not a number"),  # a control character separates nothing
        (b"\x0c\n1,0.5\n", "phi '1,0.5' is not a number"),  # and is not blank: the first line says what separates
    ],
)
def test_outer_separators_do_not_change_columns(content: bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / "table").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_utility(str(tmp_path / "table"))
    assert caught.value.problem == problem
