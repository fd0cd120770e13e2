"""Output: formats, names of runs, digits, the signature, atomic writes, verbs, exit codes."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from fuzz.round_trips import READERS
from gradedeval.analysis.saved_scores import Signature
from gradedeval.cli import COMMANDS
from gradedeval.cli.options import OPTION_ALIASES
from gradedeval.kernel.formats import EXTENSIONS, FORMATS, formats_for
from gradedeval.kernel.measures.definition import COMMON, HISTORICAL
from support.commands import Command, Outcome, shell, succeed

GOLDEN = Path(__file__).parent / "golden"
HUMAN = {form: FORMATS[form].extension.removeprefix(".") for form in formats_for("wide", "trec")}

# d is spam, u, v, w and z are unjudged, e is missed by bm25 and topic 303 by dense.
QRELS = "301 0 a 3\n301 0 b 0\n301 0 c 1\n301 0 d -2\n301 0 e 2\n302 0 x 1\n302 0 y 0\n303 0 m 2\n"
RUNS = {
    "bm25.run": "301: a u c d b  302: y x  303: v m w",
    "dense.run": "301: c a e  302: x z",
    "best.run": "301: a e c b d  302: x y  303: m",
}
MEASURES = "err@20 ndcg@10 ap bpref num_ret"
VERSION = gradedeval.__version__


def run_lines(listed: str, tag: str) -> str:
    """Return `301: a b  302: x` as the lines of a run."""
    rows = []
    for topic, docnos in re.findall(r"(\d+): ([a-z ]+)", listed):
        rows += [f"{topic} Q0 {docno} {rank} {1 / rank!r} {tag}\n" for rank, docno in enumerate(docnos.split(), 1)]
    return "".join(rows)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Enter a folder with `qrels.txt` and the three runs."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, listed in RUNS.items():
        (tmp_path / name).write_text(run_lines(listed, name[:-4].upper()))
    return tmp_path


ONE = ("bm25.run", "qrels.txt", "-m", MEASURES)
SEVERAL = ("bm25.run", "dense.run", "best.run", "qrels.txt", "-m", MEASURES)


def rows_of(outcome: Outcome, delimiter: str = ",") -> list[dict[str, str]]:
    """Return the rows of csv or tsv."""
    return list(csv.DictReader(io.StringIO(succeed(outcome).text, newline=""), delimiter=delimiter))


def strict(text: str) -> Any:
    """Parse JSON by its standard: the parser of Python would take NaN and Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def signature_of(outcome: Outcome) -> str:
    """Return the last paragraph of a table, in one line, without the common parts of run names."""
    paragraph = re.sub(r"^runs: .*\n", "", succeed(outcome).text.rstrip().split("\n\n")[-1])
    return re.sub(r"\n *", " ", paragraph)


# Formats for people

GOLDEN_CASES = {
    "one-run": ONE,
    "by-topic": (*ONE, "-q"),
    "residuals": (*ONE, "--residuals"),
    "residuals-split": (*ONE, "--residuals", "split"),
    "residuals-by-topic": (*ONE, "--residuals", "split", "-q"),
    "max-residual": (*ONE, "--max-residual", "0.1", "-q"),
    "several-runs": SEVERAL,
    "several-runs-sorted": (*SEVERAL, "--sort", "err@20", "--run-name", "tag", "--digits", "2"),
    "several-runs-by-topic": (*SEVERAL, "-q"),
    "several-runs-residuals": (*SEVERAL, "--residuals"),
}
TOPIC = ("explain", "bm25.run", "qrels.txt", "--topic", "301", "-m")
EXPLAINED_CASES = {
    "explain": (*TOPIC, "err@20 ndcg@10 ap gap inst bpref num_rel judged"),
    "explain-shown": (*TOPIC, "rbp(p=0.5) rbp(of=etu) q", "--show", "2", "--digits", "2"),
}
# Every shape as plain text, and every other format in two shapes.
GOLDEN_FILES = [(name, "table") for name in GOLDEN_CASES] + [("explain", "table"), ("explain-shown", "markdown")]
GOLDEN_FILES += [
    (name, form) for name in ("residuals-by-topic", "several-runs-residuals") for form in HUMAN if form != "table"
]


@pytest.mark.parametrize(("name", "form"), GOLDEN_FILES)
def test_tables_for_people_equal_the_reviewed_files(
    name: str, form: str, files: Path, cli: Command, request: pytest.FixtureRequest
) -> None:
    golden = GOLDEN / f"{name}.{HUMAN[form]}"
    # A new version alone changes no line here.
    words = {**GOLDEN_CASES, **EXPLAINED_CASES}[name]
    table = succeed(cli(*words, "-f", form)).text.replace(f"gradedeval {VERSION}", "gradedeval VERSION")
    if request.config.getoption("--golden"):
        GOLDEN.mkdir(exist_ok=True)
        golden.write_text(table, encoding="utf-8")
    assert table == golden.read_text(encoding="utf-8")


def test_a_format_has_its_name_as_an_option_and_cells_that_read_back() -> None:
    assert [form for form in FORMATS if form not in ("table", "trec") and OPTION_ALIASES.get(f"--{form}") is None] == []
    assert READERS.keys() | {"table"} == set(formats_for("wide"))


def test_every_golden_file_belongs_to_a_case() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {f"{name}.{HUMAN[form]}" for name, form in GOLDEN_FILES}


@pytest.mark.parametrize("form", FORMATS)
def test_q_prints_topics_in_the_order_of_the_qrels_and_the_summary_last(form: str, files: Path, cli: Command) -> None:
    words = ("bm25.run", "qrels.txt", "-m", "ap", "-f", form)
    assert re.findall(r"\b(30\d|all)\b", succeed(cli(*words, "-q")).text) == ["301", "302", "303", "all"]
    assert not re.search(r"\b30[123]\b", succeed(cli(*words)).text.replace("qrels 30", ""))


@pytest.mark.parametrize("form", ["trec", "csv", "tsv", "jsonl"])
def test_lists_have_only_rows(form: str, files: Path, cli: Command) -> None:
    text = succeed(cli(*ONE, "-f", form)).text
    assert text.count("gradedeval") == (0 if form == "trec" else 5)  # the signature of each mean
    assert len(text.splitlines()) == 5 + (form in ("csv", "tsv"))


def test_trec_has_three_columns_and_names_each_of_several_runs(files: Path, cli: Command) -> None:
    rows_of_one = [line.split("\t") for line in succeed(cli(*ONE, "-f", "trec", "-q")).text.splitlines()]
    assert {len(line) for line in rows_of_one} == {3}
    assert [topic for _, topic, _ in rows_of_one] == [topic for topic in ("301", "302", "303", "all") for _ in range(5)]
    rows_of_several = [line.split() for line in succeed(cli(*SEVERAL, "-f", "trec")).text.splitlines()]
    assert [line for line in rows_of_several if line[0] == "runid"] == [["runid", "all", run] for run in RUNS]
    assert rows_of_several[1:6] == [[name.strip(), topic, score] for name, topic, score in rows_of_one[-5:]]


# Formats for programs


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize("residuals", [None, "total", "split"])
def test_csv_keeps_every_bit(form: str, delimiter: str, residuals: str | None, files: Path, cli: Command) -> None:
    words = ("--residuals", residuals) if residuals else ()
    printed = rows_of(cli(*ONE, "-q", "-f", form, *words), delimiter)
    scores = gradedeval.evaluate("bm25.run", "qrels.txt", MEASURES, residuals=residuals)
    rows = list(scores.rows())
    assert list(printed[0]) == [*scores.columns, "signature"]
    for cells, row, signature in zip(printed, rows, scores.row_signatures(rows), strict=True):
        assert cells["signature"] == ("" if signature is None else signature)
        for name in scores.columns:
            value = getattr(row, name)
            if isinstance(value, float):
                assert float(cells[name]).hex() == value.hex()
            else:
                assert cells[name] == ("" if value is None else value)


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_json_is_strict_and_has_the_rows_of_csv_with_null_for_a_blank(form: str, files: Path, cli: Command) -> None:
    words = (*SEVERAL, "-q", "--residuals", "split")
    text = succeed(cli(*words, "-f", form)).text
    rows = strict(text)["rows"] if form == "json" else [strict(line) for line in text.split("\n")[:-1]]
    as_csv = [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]
    # A document has once the values that csv repeats for each mean.
    assert as_csv == [
        {name: cell for name, cell in row.items() if name != "signature" or form == "jsonl"}
        for row in rows_of(cli(*words, "-f", "csv"))
    ]
    assert [row["residual"] for row in rows if row["measure"] == "bpref"] == [None] * 12
    assert all(isinstance(row["topic"], str) for row in rows)


def test_json_holds_the_signature_of_the_table(files: Path, cli: Command) -> None:
    document = strict(succeed(cli(*ONE, "-f", "json")).text)
    assert list(document) == ["form", "signature", "inputs", "rows"]
    assert document["signature"] == signature_of(cli(*ONE, "--signature", "full"))


def test_columns_depend_on_the_options(files: Path, cli: Command) -> None:
    plain = ["run", "topic", "measure", "score"]
    expected = {
        (): plain,
        ("--residuals",): [*plain, "residual"],
        ("--residuals", "split"): [*plain, "residual", "unjudged", "beyond"],
        ("--max-residual", "0.5"): [*plain, "residual", "topics"],
        ("--residuals", "split", "--max-residual", "0.5"): [*plain, "residual", "unjudged", "beyond", "topics"],
    }
    for words, columns in expected.items():
        assert list(rows_of(cli(*ONE, "-f", "csv", *words))[0]) == [*columns, "signature"]


def test_counts_are_whole_numbers_and_totals_in_every_format(files: Path, cli: Command) -> None:
    for form in FORMATS:
        text = succeed(cli("bm25.run", "qrels.txt", "-m", "num_ret num_q num_rel", "-f", form)).text
        # The signature may hold a 10 or a 3 of its own.
        unsigned = re.sub(r"gradedeval \d.*", "", text)
        assert re.search(r"\b10\b", unsigned)
        assert not re.search(r"\b(10|3|5)\.\d", unsigned)


def test_an_infinite_score_is_null_in_json(files: Path, cli: Command) -> None:
    (files / "my.py").write_text(
        "import numpy as np\nfrom gradedeval import measure\n"
        "@measure\ndef endless(g):\n    'Without end.'\n    return np.full(len(g.gain), np.inf)\n"
    )
    words = ("bm25.run", "qrels.txt", "--measures-from", "my.py", "-m", "endless")
    assert [row["score"] for row in strict(succeed(cli(*words, "-f", "json")).text)["rows"]] == [None]
    assert strict(succeed(cli(*words, "-f", "jsonl")).text)["score"] is None
    assert rows_of(cli(*words, "-f", "csv"))[0]["score"] == "inf"


@pytest.mark.parametrize("form", ["table", "trec", "csv"])
def test_a_topic_called_all_neither_hides_nor_follows_the_summary(form: str, files: Path, cli: Command) -> None:
    (files / "run.txt").write_text("all Q0 a 1 1 t\n1 Q0 a 1 1 t\n")
    (files / "judged.txt").write_text("all 0 a 1\n1 0 b 1\n")
    text = succeed(cli("run.txt", "judged.txt", "-m", "rr", "-q", "-f", form)).text.partition("\n\n")[0]
    rows = [re.split(r"[\s,]+", line.strip()) for line in text.splitlines()]
    topic = 0 if form == "table" else 1
    score = 3 if form == "csv" else -1
    scores = [(row[topic], float(row[score])) for row in rows if re.fullmatch(r"[01]\.\d+", row[score])]
    assert scores == [("all", 1.0), ("1", 0.0), ("all", 0.5)]


# Residuals beside scores


def test_measures_without_a_residual_keep_all_topics_with_a_note(files: Path, cli: Command) -> None:
    outcome = succeed(cli(*ONE, "--max-residual", "0.1"))
    assert outcome.messages == ["--max-residual: bpref, num_ret have no residual, so no topic is left out"]
    alone = succeed(cli("bm25.run", "qrels.txt", "-m", "bpref", "--max-residual", "0.1"))
    assert alone.messages == [
        "--max-residual 0.1: no measure here uses it (bpref); it is for measures with a residual, such as err and ap"
    ]


# Digits


def test_tables_have_four_digits_and_program_formats_have_all(files: Path, cli: Command) -> None:
    value = gradedeval.evaluate("bm25.run", "qrels.txt", "err@20").means["err@20"]
    words = ("bm25.run", "qrels.txt", "-m", "err@20")
    for form in ("table", "trec", "markdown", "latex", "html"):
        assert re.search(rf"\b{value:.4f}\b", succeed(cli(*words, "-f", form)).text)
        assert re.search(rf"\b{value:.7f}\b", succeed(cli(*words, "-f", form, "--digits", "7")).text)
    assert succeed(cli("best.run", *words[1:2], "-m", "ap", "-f", "trec", "--digits", "0")).text.split()[2] == "1"
    for form in ("csv", "tsv", "json", "jsonl"):
        assert repr(value) in succeed(cli(*words, "-f", form)).text
        assert repr(value) not in succeed(cli(*words, "-f", form, "--digits", "3")).text
        assert repr(round(value, 3)) in succeed(cli(*words, "-f", form, "--digits", "3")).text


def test_a_preset_sets_the_digits_of_tables_and_an_option_beats_it(files: Path, cli: Command) -> None:
    words = ("bm25.run", "qrels.txt", "-m", "ndcg@20", "--like", "gdeval")
    assert re.search(r"\d\.\d{5}\s", succeed(cli(*words)).text)
    assert re.search(r"\d\.\d{2}\s", succeed(cli(*words, "--digits", "2")).text)
    assert len(rows_of(cli(*words, "-f", "csv"))[0]["score"]) > 10


# Order and names of runs


def listed(outcome: Outcome) -> list[str]:
    return list(dict.fromkeys(row["run"] for row in rows_of(outcome)))


def test_runs_keep_their_order_or_are_sorted_by_a_measure(files: Path, cli: Command) -> None:
    words = ("dense.run", "bm25.run", "best.run", "qrels.txt", "-m", "err@20 num_ret", "-f", "csv")
    assert listed(cli(*words)) == ["dense.run", "bm25.run", "best.run"]
    means = {row["run"]: float(row["score"]) for row in rows_of(cli(*words)) if row["measure"] == "err@20"}
    assert listed(cli(*words, "--sort", "err@20")) == sorted(means, key=means.__getitem__, reverse=True)
    assert listed(cli(*words, "--sort", "num_ret")) == ["bm25.run", "best.run", "dense.run"]


@pytest.mark.parametrize(("first", "second"), [("err@20", "num_ret"), ("num_ret", "err@20")])
def test_sorting_without_a_measure_is_by_the_first_and_takes_no_option_or_file(
    first: str, second: str, files: Path, cli: Command
) -> None:
    runs, measures = ("dense.run", "bm25.run", "best.run", "qrels.txt"), f"{first} {second}"
    expected = listed(cli(*runs, "-m", measures, "-f", "csv", "--sort", first))
    for words in (
        (*runs, "-m", measures, "--sort", "-f", "csv"),
        (*runs, "-m", measures, "-f", "csv", "--sort"),
        ("--sort", *runs, "-m", measures, "-f", "csv"),
    ):
        assert listed(succeed(cli(*words))) == expected
    assert "unknown measure 'errx'" in cli(*runs, "--sort", "errx").messages[-1]


def test_sorting_by_another_measure_adds_it(files: Path, cli: Command) -> None:
    runs = ("dense.run", "bm25.run", "best.run", "qrels.txt")
    for words in ((), ("-m", "ap num_ret"), ("--cwl", "-m", "rbp")):
        plain = list(dict.fromkeys(row["measure"] for row in rows_of(cli(*runs, *words, "-f", "csv"))))
        output = succeed(cli(*runs, *words, "--sort", "p@2", "-f", "csv"))
        assert listed(output) == ["best.run", "bm25.run", "dense.run"]
        measures = list(dict.fromkeys(row["measure"] for row in rows_of(output)))
        assert [name for name in measures if "p@2" not in name and "p(" not in name] == plain
        assert measures[0] in ("p@2", "cwlp@2", "cwlp(of=eu)@2")
        again = succeed(cli(*runs, *words, "--sort", measures[-1], "-f", "csv"))
        assert list(dict.fromkeys(row["measure"] for row in rows_of(again))) == plain
    scores = gradedeval.evaluate("bm25.run", "qrels.txt", "ap")
    with pytest.raises(gradedeval.InputError, match=r"'p@2' is not among the measures .*; add measures="):
        scores.sorted_by(gradedeval.parse_measures("p@2")[0])


def test_sorting_knows_a_measure_by_its_alias_and_after_the_options(files: Path, cli: Command) -> None:
    words = ("dense.run", "best.run", "qrels.txt", "-m", "map ndcg@10", "--gain", "exp", "-f", "csv")
    for name in ("ap", "map", "MAP", "ndcg@10", "ndcg(gain=exp)@10", "ndcg_cut_10"):
        assert listed(cli(*words, "--sort", name)) == ["best.run", "dense.run"]


def test_runs_are_named_by_path_on_request(files: Path, cli: Command) -> None:
    (files / "a").mkdir()
    (files / "a/bm25.run").write_text(run_lines(RUNS["bm25.run"], "t"))
    words = ("a/bm25.run", "./dense.run", "qrels.txt", "-m", "ap", "--run-name", "path")
    assert listed(cli(*words, "-f", "csv")) == ["a/bm25.run", "./dense.run"]
    marked = cli(*words, "--baseline", "./dense.run", "--test", "t")
    assert (marked.code, "./dense.run" in marked.text) == (0, True)
    assert cli(*words, "--record", "record.json").code == 0
    assert cli("verify", "record.json").code == 0


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/bm25.run"], ["bm25.run"]),
        (["a/bm25.run", "b/bm25.run"], ["a/bm25.run", "b/bm25.run"]),
        (["a/bm25.run", "b/bm25.run", "b/dense.run"], ["a/bm25.run", "b/bm25.run", "dense.run"]),
        (["x/a/bm25.run", "y/a/bm25.run"], ["x/a/bm25.run", "y/a/bm25.run"]),
        (["bm25.run.gz"], ["bm25.run"]),
        (["bm25.gz", "a/bm25.bz2"], ["bm25", "a/bm25"]),
        (["bm25.run.xz", "dense.run.zst"], ["bm25.run", "dense.run"]),
        (["bm25.zip.txt"], ["bm25.zip.txt"]),
        # Two files are two runs: here the suffix makes their names unique.
        (["bm25.run", "bm25.run.gz"], ["bm25.run", "bm25.run.gz"]),
        (["bm25.run", "./a/../dense.run"], ["bm25.run", "dense.run"]),
    ],
)
def test_runs_have_the_shortest_unique_paths(paths: list[str], names: list[str], files: Path, cli: Command) -> None:
    for folder in ("a", "b", "x/a", "y/a"):
        (files / folder).mkdir(parents=True, exist_ok=True)
    for path in paths:
        packed = path.endswith((".gz", ".bz2", ".xz", ".zst"))
        text = run_lines(RUNS["bm25.run"], "t").encode()
        (files / path).write_bytes(gzip.compress(text) if packed else text)
    assert listed(cli(*paths, "qrels.txt", "-m", "ap", "-f", "csv")) == names


def test_standard_input_is_a_run_with_a_name(files: Path, cli: Command) -> None:
    run = (files / "bm25.run").read_bytes()
    assert listed(cli("-", "dense.run", "qrels.txt", "-m", "ap", "-f", "csv", stdin=run)) == ["stdin", "dense.run"]


# The signature

FULL = ("--signature", "full")


def digits(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12]


def test_the_signature_has_all_settings_that_change_numbers(files: Path, cli: Command) -> None:
    digest = gradedeval.Qrels("qrels.txt").digest
    assert re.fullmatch(r"[0-9a-f]{6}", digest)
    outcome = cli("bm25.run", "qrels.txt", "-m", "err@20 ndcg ndcg(gain=exp) ap p(rel=2)@5", *FULL)
    assert signature_of(outcome) == (
        f"gradedeval {VERSION} | qrels {digest}, grades -2..3, top 3 | topics 3 of 3 | ties docno-desc"
        " | err, ndcg(gain=exp): exp gains | ndcg: linear gains | ap: rel 1 | p: rel 2"
        f" | sha256 of qrels {digits('qrels.txt')}, run {digits('bm25.run')}"
    )


def test_the_signature_counts_topics(files: Path, cli: Command) -> None:
    def topics(*words: str) -> str:
        return next(
            part for part in signature_of(cli(*words, "-m", "ap", *FULL)).split(" | ") if part.startswith("topics ")
        )

    assert topics("bm25.run", "qrels.txt") == "topics 3 of 3"
    assert topics("dense.run", "qrels.txt") == "topics 3 of 3 (1 missing)"
    assert topics("dense.run", "qrels.txt", "--topics", "both") == "topics 2 of 3"
    assert topics("bm25.run", "dense.run", "qrels.txt", "--topics", "both") == "topics 2..3 of 3"
    assert topics("bm25.run", "dense.run", "qrels.txt") == "topics 3 of 3 (1 missing in 1 of 2 runs)"


OPTIONS = (
    "--gain linear|--gain 0:0.1:0.4:1|--rel 2|--top-grade 4|--negative unjudged|--ties docno-asc|--ties best"
    "|--order file|--order float32|--depth 2|--judged-only|--topics both|--topics run|--topics relevant"
    "|--topics-from fold1.txt|--topics-from fold2.txt|--duplicates first|--duplicates last|--lenient"
    "|--residual-depth full|--max-residual 0.5|--like trec_eval|--like gdeval|--like ir_measures"
)


def test_no_two_options_have_one_signature(files: Path, cli: Command) -> None:
    (files / "fold1.txt").write_text("301\n302\n")
    (files / "fold2.txt").write_text("302\n303\n")
    words = ("bm25.run", "qrels.txt", "-m", "err@20 ap")
    options: dict[str, list[str]] = {}
    short: dict[str, list[str]] = {}
    for option in ("", *OPTIONS.split("|")):
        options.setdefault(signature_of(cli(*words, *option.split(), *FULL)), []).append(option)
        short.setdefault(signature_of(cli(*words, *option.split())), []).append(option)
    assert [alike for alike in [*options.values(), *short.values()] if len(alike) > 1] == []
    plain, *others = (Signature.read(text) for text in options)
    assert plain is not None
    same = [option for signature, (option,) in zip(others, [*options.values()][1:], strict=True)
            if signature is not None and not signature.differences(plain, "err@20")]  # fmt: skip
    assert {option.split()[0] for option in same} == {
        "--rel", "--topics", "--topics-from", "--residual-depth", "--max-residual"}  # fmt: skip
    assert [str(Signature.read(text)) for text in options] == [*options]


@pytest.mark.parametrize(
    "words", [("-q",), ("--digits", "2"), ("--residuals",), ("--sort", "ap"), ("--run-name", "tag")]
)
def test_options_that_change_no_number_keep_the_signature(words: tuple[str, ...], files: Path, cli: Command) -> None:
    plain = ("bm25.run", "best.run", "qrels.txt", "-m", "err@20 ap")
    assert signature_of(cli(*plain, *words, *FULL)) == signature_of(cli(*plain, *FULL))
    assert signature_of(cli(*plain, *words)) == signature_of(cli(*plain))


def test_one_topic_chosen_is_a_topic_and_not_topics(files: Path, cli: Command) -> None:
    (files / "fold.txt").write_text("301\n")
    outcome = succeed(cli("bm25.run", "qrels.txt", "-m", "ap", "--topics-from", "fold.txt"))
    assert "1 chosen topics" not in signature_of(outcome)


# Numbers to standard output, all else to standard error


def test_notes_go_to_standard_error_and_numbers_to_standard_output(files: Path, cli: Command) -> None:
    (files / "extra.run").write_text((files / "dense.run").read_text() + "399 Q0 a 1 1 t\n")
    (files / "more.txt").write_text(QRELS + "301 0 a 3\n")
    (files / "fold.txt").write_text("301\n302\n303\n398\n")
    outcome = succeed(cli("extra.run", "more.txt", "-m", "ap", "-f", "trec", "--topics-from", "fold.txt"))
    assert re.fullmatch(rb"ap +\tall\t\d\.\d{4}\n", outcome.out)
    assert sorted(outcome.messages) == [
        "extra.run: 1 of 3 judged topics is missing (303) and counts as an empty ranking; "
        "exclude missing topics with --topics both",
        "extra.run: 1 topic of --topics-from is neither here nor in more.txt (398)",
        "more.txt: 1 judgment repeated with the same grade; counted once",
    ]
    assert cli("bm25.run", "qrels.txt").err == b""


def test_topics_left_out_are_counted(files: Path, cli: Command) -> None:
    (files / "extra.run").write_text("301 Q0 a 1 1 t\n398 Q0 a 1 1 t\n399 Q0 a 1 1 t\n")
    for topics, missing, unjudged in (
        ("qrels", "count as empty rankings; exclude missing topics with --topics both", "ignored"),
        ("both", "are left out", "ignored"),
        ("run", "are left out", "counted, with no relevant documents"),
    ):
        assert succeed(cli("extra.run", "qrels.txt", "-m", "ap", "--topics", topics)).messages == [
            f"extra.run: 2 of 3 judged topics are missing (302, 303) and {missing}",
            f"extra.run: 2 unjudged topics (398, 399); {unjudged}",
        ]


# -o


@pytest.mark.exhaustive
def test_the_extension_of_o_sets_the_format(files: Path, cli: Command) -> None:
    assert set(EXTENSIONS.values()) == set(FORMATS)
    for extension, form in EXTENSIONS.items():
        printed = succeed(cli(*ONE, "-f", form)).out
        for name in (f"out{extension}", f"OUT{extension.upper()}"):
            assert cli(*ONE, "-o", name) == Outcome(0, b"", b"")
            assert (files / name).read_bytes() == printed


def test_f_beats_the_extension(files: Path, cli: Command) -> None:
    for name in ("out.csv", "out.unheard-of", "out"):
        succeed(cli(*ONE, "-o", name, "-f", "jsonl"))
        assert (files / name).read_bytes() == cli(*ONE, "-f", "jsonl").out


def test_o_minus_is_standard_output(files: Path, cli: Command) -> None:
    assert cli(*ONE, "-o", "-") == cli(*ONE)
    assert cli(*ONE, "-o", "-", "-f", "csv") == cli(*ONE, "-f", "csv")
    (files / "topics").write_text("301\n")
    from_stdin = cli(*ONE, "--topics-from", "-", "-o", "-", stdin=b"301\n")  # two streams of one name
    assert succeed(from_stdin) == succeed(cli(*ONE, "--topics-from", "topics"))


def test_an_existing_file_is_replaced_whole_and_its_readers_keep_the_old_one(files: Path, cli: Command) -> None:
    target = files / "out.csv"
    target.write_text("old " * 10_000)
    with target.open() as reader:
        succeed(cli(*ONE, "-o", "out.csv"))
        assert reader.read() == "old " * 10_000
    assert target.read_bytes() == cli(*ONE, "-f", "csv").out
    assert [path.name for path in files.iterdir() if path.name not in ("qrels.txt", *RUNS)] == ["out.csv"]


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_an_existing_file_keeps_its_permissions(mode: int, files: Path, cli: Command) -> None:
    (files / "out.csv").touch()
    (files / "out.csv").chmod(mode)
    succeed(cli(*ONE, "-o", "out.csv"))
    assert stat.S_IMODE((files / "out.csv").stat().st_mode) == mode


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_permissions_that_open_would_give(mask: int, files: Path, cli: Command) -> None:
    original = os.umask(mask)
    try:
        succeed(cli(*ONE, "-o", "out.csv"))
        (files / "opened").touch()
    finally:
        os.umask(original)
    assert (files / "out.csv").stat().st_mode == (files / "opened").stat().st_mode


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_followed(exists: bool, files: Path, cli: Command) -> None:
    (files / "results").mkdir()
    if exists:
        (files / "results" / "today.csv").write_text("old")
    (files / "out.csv").symlink_to("results/today.csv")
    succeed(cli(*ONE, "-o", "out.csv"))
    assert (files / "out.csv").is_symlink()
    assert (files / "results" / "today.csv").read_bytes() == cli(*ONE, "-f", "csv").out
    assert [path.name for path in (files / "results").iterdir()] == ["today.csv"]


def test_standard_output_by_its_device_name_keeps_previous_content(files: Path) -> None:
    shell(
        "echo before > log; gradedeval bm25.run qrels.txt -m ap -f trec -o /dev/stdout >> log; echo after >> log", files
    )
    assert [line.split()[0] for line in (files / "log").read_text().splitlines()] == ["before", "ap", "after"]


def test_process_substitution_is_a_place_to_write(files: Path) -> None:
    outcome = shell("gradedeval bm25.run qrels.txt -m ap -f csv -o >(cat); wait $!", files)
    assert outcome.text.startswith("run,topic,measure,score,signature\nbm25.run,all,ap,")


# Verbs, help, exit codes


def test_options_are_read_in_any_position(files: Path, cli: Command) -> None:
    plain = cli("bm25.run", "qrels.txt", "-m", "err@20", "-f", "csv")
    assert cli("-m", "err@20", "-f", "csv", "bm25.run", "qrels.txt") == plain
    assert cli("-f", "csv", "bm25.run", "-m", "err@20", "qrels.txt") == plain
    assert cli("-m", "err@20", "-f", "csv", "--", "bm25.run", "qrels.txt") == plain


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_called_like_a_command_is_evaluated(name: str, files: Path, cli: Command) -> None:
    (files / name).write_text(run_lines(RUNS["bm25.run"], "t"))
    plain = succeed(cli("bm25.run", "qrels.txt", "-m", "ap", "-f", "trec"))
    assert cli("eval", name, "qrels.txt", "-m", "ap", "-f", "trec") == plain
    assert cli(f"./{name}", "qrels.txt", "-m", "ap", "-f", "trec") == plain


def test_measures_are_listed_in_their_order(cli: Command) -> None:
    for words, names in (
        ((), [name for name in gradedeval.MEASURES if name in COMMON]),
        (("--all",), gradedeval.MEASURES),
    ):
        text = succeed(cli("measures", *words)).text
        listed = [line.split()[0] for line in text.splitlines() if re.match(r"[a-z]\w* ", line)]
        assert [name for name in listed if name in gradedeval.MEASURES] == list(names)
        assert ("measures --all" in text) == (words == ())
        table = succeed(cli("measures", *words, "-f", "markdown")).text
        assert re.findall(r"^\| (\w+) ", table, re.MULTILINE)[1:] == list(names)
    refused = cli("measures", "err", "--all")
    assert (refused.code, refused.out) == (2, b"")


def test_each_measure_has_a_status() -> None:
    assert gradedeval.MEASURES.keys() >= {*COMMON, *HISTORICAL}
    assert not {*COMMON} & {*HISTORICAL}
    assert len(COMMON) in range(18, 24)


@pytest.mark.parametrize("name", gradedeval.MEASURES)
def test_every_measure_has_a_page_with_formula_and_source(name: str, cli: Command) -> None:
    page = succeed(cli("measures", name)).text
    assert page.startswith(f"{name}: ")
    assert {"formula", "parameters", "cutoff", "residual", "over", "source"} <= {
        line.split()[0] for line in page.splitlines()[2:] if line
    }
    for parameter in gradedeval.MEASURES[name].definition.accepted.names:
        assert re.search(rf"^{parameter} +\S", page.partition("\nsource ")[2], re.MULTILINE), parameter


@pytest.mark.parametrize(
    ("text", "name"),
    [("err", "err"), ("P_10", "p"), ("nDCG@10", "ndcg"), ("map", "ap"), ("recip_rank", "rr"), ("rbp(p=0.5)", "rbp")],
)
def test_a_page_is_found_under_any_notation(text: str, name: str, cli: Command) -> None:
    assert cli("measures", text) == cli("measures", name)


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_for_programs_a_page_is_the_row_of_the_list(form: str, cli: Command) -> None:
    every, page = (succeed(cli("measures", *name, "-f", form)).text.splitlines() for name in ((), ("err",)))
    assert page == [every[0], next(line for line in every if line.startswith("err"))]
    assert json.loads(cli("measures", "err", "-f", "json").text)["rows"][0]["measure"] == "err"


OWN = '''
from gradedeval import measure, row_sums


@measure
def goals(g, *, bonus=2):
    """Hits.

    bonus + rel_1 + rel_2 + …

    Us.
    """
    return row_sums(g.relevant) + bonus
'''


def test_user_defined_measures_have_pages(files: Path, cli: Command) -> None:
    (files / "my.py").write_text(OWN, encoding="utf-8")
    page = succeed(cli("measures", "goals", "--measures-from", "my.py")).text
    assert page.startswith("goals: Hits.\n")
    assert "bonus=2" in page
    assert "goals" in succeed(cli("measures", "--measures-from", "my.py")).text


def test_help_of_an_evaluation_is_read_after_files(cli: Command) -> None:
    assert cli("run.txt", "qrels.txt", "--help") == cli("eval", "--help")


def test_the_version_is_one_line(cli: Command) -> None:
    assert cli("--version") == Outcome(0, f"gradedeval {VERSION}\n".encode(), b"")
