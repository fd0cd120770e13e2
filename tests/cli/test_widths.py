"""Tables and messages for people are no wider than the terminal, or than 100 columns without one."""

from pathlib import Path

import pytest

from gradedeval.analysis.pictures import short_names
from gradedeval.kernel.formats import Column, Document, Table, View, formats_for, render
from gradedeval.kernel.formats.fitting import LEAST_NAME, cut_names, wrapped
from support.commands import Command
from support.every_command import POSITIONS, WORDS, collection, filled, forms_of
from support.generated_docs import LEAVES
from support.terminal import at_terminal, without_escapes

TABLES = [
    (name, words)
    for name, every in WORDS.items()
    if "table" in forms_of(name, LEAVES[name])
    for words in every
    if "--append-to" not in words and "--history" not in words
]
LONG = {"docno": b"clueweb", "topic": b"301", "run": b"systems-with-long-names", "tag": b"t"}


def test_most_commands_print_tables() -> None:
    assert len({name for name, _ in TABLES}) > 15


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert LONG.keys() == set(POSITIONS)
    collection(LONG)
    return tmp_path


def widest(text: str) -> int:
    return max(map(len, text.splitlines()), default=0)


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("name", "words"), TABLES)
def test_tables_fit_a_page(name: str, words: tuple[str, ...], cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")  # counts for nothing
    flags = {flag for param in LEAVES[name].params for flag in param.opts}
    for more in ((), ("--wide",)) if "--wide" in flags else ((),):
        text = cli(*name.split(), *filled(words, LONG), "-f", "table", *more).text
        if name == "lint":  # what programs read, too, stays a line each
            text = text[text.index("\nrun ") :] if "\nrun " in text else ""
        assert widest(text) <= 100 or name in ("eval", "trec_eval"), text


def on_terminal(words: list[str], columns: int, folder: Path) -> str:
    """Return the output of a command on a terminal of a width."""
    seen = at_terminal(*words, folder=folder, columns=columns, NO_COLOR="1")
    assert seen.code in (0, 1), seen.err
    return seen.out


ON_TERMINALS = [(*table, 80) for table in TABLES] + [(*table, 120) for table in TABLES[::3]]
"""All tables at 80 columns, and one in three at 120."""


@pytest.mark.one_in(16)
@pytest.mark.parametrize(("name", "words", "columns"), ON_TERMINALS)
def test_no_table_is_wider_than_a_terminal(name: str, words: tuple[str, ...], columns: int, files: Path) -> None:
    table = ["-f", "table"] if name == "trec_eval" else []  # whose own format is trec_eval's
    assert 0 < widest(on_terminal([*name.split(), *filled(words, LONG), *table], columns, files)) <= columns


def test_a_terminal_gets_no_characters_that_change_it(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "a").write_text("1 Q0 d 1 1 t\n")
    (tmp_path / "q").write_text("1 0 d 1\n")
    (tmp_path / "t.tsv").write_text("1\tred \x1b[31m and \u202e back\n", encoding="utf-8")
    words = ["a", "q", "-q", "-m", "ap", "--queries", "t.tsv", "-f", "csv"]
    assert "red \x1b[31m and \u202e back" in cli(*words).text
    assert "red \\x1b[31m and \\u202e back" in on_terminal(words, 100, tmp_path)


@pytest.mark.parametrize("columns", [60, 100])
def test_messages_fit_a_terminal_and_are_a_line_each_elsewhere(columns: int, files: Path, cli: Command) -> None:
    runs = filled(("{run}.run", "b.run", "c{run}.run"), LONG)
    for words in (
        [*runs, "qrels", "-m", "ap bpref", "--bounds", "--ties", "file"],
        ["check", *runs, "qrels", "--min", "err@5=0.9", "--max-drop", "ndcg=0.001", "-f", "json"],
        [*runs, "qrels", "--residual-depth", "none", "-m", "ap"],
        [*runs, "qrels", "--topics-from", "a-file-that-is-nowhere", "-m", "ap", "--depth", "3", "--metricks"],
    ):
        plain, seen = cli(*words), at_terminal(*words, folder=files, columns=columns)
        assert plain.messages, words
        assert 0 < widest(without_escapes(seen.err)) <= columns
        message = " ".join(without_escapes(seen.err).split())
        assert all(" ".join(line.split()) in message for line in plain.messages)


def test_a_line_that_goes_on_is_indented_by_two_or_stands_under_the_text_of_its_first() -> None:
    assert wrapped("a.run: 2 of 50 topics have none", 20, 2) == "a.run: 2 of 50\n  topics have none"
    assert wrapped("FAIL  a.run: it fell by 0.1", 20, 2) == "FAIL  a.run: it fell\n      by 0.1"
    assert wrapped("a.run: fits", 20, 2) == "a.run: fits"


def test_no_line_ends_between_an_option_and_its_value() -> None:
    assert wrapped("too low by --min 0.4 of it", 16, 2) == "too low by\n  --min 0.4 of\n  it"
    assert wrapped("a.run: fails, or (-m ap)", 20, 2) == "a.run: fails, or\n  (-m ap)"
    assert wrapped("it does not go with --min; take it out", 26, 2) == "it does not go with --min;\n  take it out"
    assert wrapped("take --measure averages-of-many-things", 22, 2) == "take --measure\n  averages-of-many-things"


def test_scores_by_many_measures_keep_a_row_a_line_off_a_terminal_and_are_cut_on_one(files: Path, cli: Command) -> None:
    names = [f"{name}.run" for name in ("systems-with-long-names", "b", "csystems-with-long-names")]
    words = [*names, "qrels", "-m", " ".join(f"ndcg@{k} rbp(p=0.{k})" for k in range(1, 9)), "--residuals"]
    rows = cli(*words).text.partition("\n\n")[0].splitlines()
    assert len(rows) == 2 + len(names)
    assert widest(rows[0]) > 200
    printed = on_terminal(words, 80, files)
    assert printed.count("\nb.run ") > 3
    assert (
        sum(line.count("ndcg@") + line.count("rbp(") for line in printed.partition("gradedeval")[0].splitlines()) == 16
    )


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["rivers-bm25.run", "rivers-neural.run"], ["bm25", "neural"]),
        (["input.a", "input.b"], ["a", "b"]),
        (["run1.txt", "run12.txt"], ["run1", "run12"]),
        (["only.run"], []),
        (["a", "b"], []),
        (["a-.run", "a-b.run"], ["a-", "a-b"]),
        (["a.run", "a.run.run"], ["run", "run.run"]),
        (["x.run", "x.run"], []),
    ],
)
def test_common_parts_of_names_are_left_out(names: list[str], short: list[str]) -> None:
    result, pattern = short_names(names)
    assert list(result.values()) == short
    assert bool(pattern) == bool(short)
    assert all(pattern.replace("*", value) == name for name, value in result.items())


ALIKE = [f"covid-round1-{system}-title-2s.lr" for system in ("bm25", "bm25-rm3", "dense", "fused")]


@pytest.mark.parametrize("width", range(LEAST_NAME, 40))
def test_names_are_cut_in_the_middle_and_stay_different(width: int) -> None:
    assert cut_names(["covidex.t5.round1.2s.lr"], 13) == {"covidex.t5.round1.2s.lr": "covide….2s.lr"}
    short = cut_names(ALIKE, width)
    assert set(short) in (set(), set(ALIKE))
    assert len(set(short.values())) == len(short)
    for name, text in short.items():
        assert len(text) == min(width, len(name))
        start, mark, end = text.partition("…")
        assert text == name or (mark and start and end and name.startswith(start) and name.endswith(end))
    if width >= len("covid-round1-bm25-…"):
        assert short


def test_wide_characters_and_invisible_ones_of_a_name_count_as_shown() -> None:
    assert cut_names(["系統系統系統系統系統"], 13) == {"系統系統系統系統系統": "系統系…統系統"}
    assert all("\x1b" not in text for text in cut_names(["a\x1b[31m" * 9, "b" * 30], 20).values())


def names_in(columns: int, terminal: bool, names: list[str], *more: Column) -> str:
    """Return a table of runs, at a terminal or in a file."""
    rows = [[name, *([0.5] * len(more))] for name in names]
    view = View(columns, terminal=terminal)
    return render(lambda _: Document([Table([Column("run"), *more], rows)]), "table", view=view)


def test_names_are_whole_but_at_a_terminal_that_they_do_not_fit() -> None:
    scores = [Column(f"m{number}", "score") for number in range(5)]
    whole = names_in(80, True, ALIKE, *scores[:2])
    assert all(name in whole for name in ALIKE)
    cut = names_in(60, True, ALIKE, *scores)
    rows = [line.split() for line in cut.splitlines()[2:]]
    assert [len(row) for row in rows] == [6] * 4
    assert max(map(widest, cut.splitlines())) == 60
    assert all("…" in row[0][1:-1] for row in rows)
    assert all(row[0].endswith("s.lr") for row in rows)
    for columns in (40, 60):
        table = names_in(columns, False, ALIKE, *scores)
        assert all(name in table for name in ALIKE)
        assert "…" not in table


@pytest.mark.parametrize("form", formats_for("wide", "long", "trec"))
def test_names_are_whole_in_every_format(form: str) -> None:
    columns, rows = [Column("measure"), Column("run"), Column("score", "score")], [["ap", name, 0.5] for name in ALIKE]
    text = render(lambda _: Document([Table(columns, rows)]), form, view=View(30, terminal=form != "table"))
    assert all(name in text.replace("\\", "") for name in ALIKE)


def test_a_name_is_a_baseline_as_the_terminal_cuts_it(files: Path, cli: Command) -> None:
    words = ("compare", *filled(("{run}.run", "b.run", "c{run}.run"), LONG), "qrels", "-m", "ndcg", "-f", "csv")
    name = filled(("{run}.run",), LONG)[0]
    assert cli(*words, "--baseline", f"{name[:5]}…{name[-6:]}").out == cli(*words, "--baseline", name).out
    assert "is neither a file nor one of the runs" in cli(*words, "--baseline", "…run").messages[-1]


def test_wide_columns_are_shown_on_request() -> None:
    table = Table([Column("run"), Column("mean", "score"), Column("effect", "score", wide=True)], [["a", 0.5, 0.25]])
    for form in formats_for("wide"):
        assert "effect" not in render(lambda _: Document([table]), form)
        assert "effect" in render(lambda _: Document([table]), form, view=View(wide=True))
    assert "effect" in render(lambda _: Document([table]), "csv")
    message = render(lambda _: Document([table]), "table", view=View(80, terminal=True))
    assert message.endswith("\n\neffect is not shown; --wide shows it\n")


def test_the_baseline_goes_by_either_name_and_is_the_first_run_unless_named(files: Path, cli: Command) -> None:
    words = ("compare", *filled(("{run}.run", "b.run", "c{run}.run"), LONG), "qrels", "-m", "ndcg", "-f", "csv")
    assert cli(*words, "--baseline", "b").out == cli(*words, "--baseline", "b.run").out
    first = cli(*words)
    assert first.out == cli(*words, "--baseline", filled(("{run}.run",), LONG)[0]).out
    assert any(line.startswith("using the first run as baseline; ") for line in first.messages)
    assert cli(*words, "--all-pairs", "--baseline", "b").messages[-1].startswith("--all-pairs: cannot be combined")
