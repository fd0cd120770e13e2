"""`gradedeval lint`: every defect with its place and its cure, and valid submissions without defects."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from support.broken import BYTES, COMPRESSED, EMPTY, NUMBERS, PLACES, TWICE, WIDTHS, Broken
from support.commands import Command, Outcome, succeed
from support.paths import DATA, shared

RUN = b"1 Q0 a 1 3 run\n1 Q0 b 2 2 run\n2 Q0 c 1 1 run\n"
QRELS = b"1 0 a 2\n1 0 b 0\n2 0 c 1\n"


def report(outcome: Outcome, code: int) -> dict[str, Any]:
    """Return the JSON document of `lint -f json`."""
    content = outcome.out.decode("utf-8", "surrogateescape")  # ids may have any bytes
    assert outcome.code == code, content
    assert outcome.messages == []
    document: dict[str, Any] = json.loads(content)
    return document


def linted(cli: Command, *words: str, run: bytes = RUN, qrels: bytes = b"", code: int = 0) -> dict[str, Any]:
    """Return the JSON document of linting this run, and these judgments if there are any."""
    Path("run.txt").write_bytes(run)
    Path("qrels.txt").write_bytes(qrels)
    return report(cli("lint", "run.txt", *(("--qrels", "qrels.txt") if qrels else ()), *words, "-f", "json"), code)


def defects(document: dict[str, Any], weight: str = "") -> list[str]:
    """Return every defect as place: problem."""
    all_of = [defect for file in document["files"] for defect in file["defects"]]
    return [f"{defect['place']}: {defect['problem']}" for defect in all_of if defect["weight"] == weight or not weight]


def facts(document: dict[str, Any], index: int = 0) -> dict[str, Any]:
    facts_of_file: dict[str, Any] = [file["facts"] for file in document["files"] if "facts" in file][index]
    return facts_of_file


# Requirements of an evaluation alone: that ranks are numbers, and exact (--ties rank), or that grades are given once
# (--duplicates).
OTHERS = ("ranks that are no numbers", "ranks that no float tells apart", "one grade twice, refused")
LABELS = "a label that --labels leaves out"  # which the corpus gives to an evaluation alone
# Arguments of an evaluation alone: folders and patterns.
SEVERAL = ("folder", "none/*.run")
FILES = [
    case
    for case in (*WIDTHS, *EMPTY, *NUMBERS, *TWICE, *BYTES, *COMPRESSED, *PLACES)
    if case.name not in (*OTHERS, LABELS)
    and case.code == 1
    and (not case.command or case.command[0] not in ("-", "run.txt/x"))
    if not set(SEVERAL) & {*case.words, *case.command}
]


def arguments(case: Broken) -> list[str]:
    *runs, qrels = case.command or ("run.txt", "qrels.txt")
    return [*runs, "--qrels", qrels]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("case", FILES, ids=lambda case: case.name)
def test_each_defect_of_the_corpus_is_named(case: Broken, tmp_path: Path, cli: Command) -> None:
    case.write(tmp_path)
    output = report(cli("lint", *arguments(case), "-f", "json"), 1)
    errors = defects(output, "error")
    for pattern in (pattern for pattern in case.says if "more such line" not in pattern):
        start = re.split(";|…|, as", pattern)[0].strip()
        assert any(line.startswith(start) for line in errors), pattern
    text = cli("lint", *arguments(case))
    assert text.code == 1
    printed = [line for line in text.out.decode("utf-8", "surrogateescape").splitlines() if line.startswith("  ")]
    assert printed
    assert all(line.startswith(("  error ", "  warning ")) for line in printed)


def test_the_corpus_has_enough_files() -> None:
    assert len(FILES) > 120


def test_every_bad_line_is_named(cli: Command) -> None:
    output = linted(cli, run=b"".join(b"1 Q0 d%d %d x t\n" % (number, number) for number in range(25)), code=1)
    assert defects(output, "error") == [f"run.txt:{number}: score 'x' is not a number" for number in range(1, 26)]
    short = cli("lint", "run.txt").text
    assert short.count("is not a number") == 10
    assert "15 more of the kind 'score'; --all lists them" in short
    assert cli("lint", "run.txt", "--all").text.count("is not a number") == 25


def test_defects_of_many_kinds_are_named_at_once(cli: Command) -> None:
    run = b"1 Q0 a 1 3 run\n1 Q0 a 2 2 run\n1 Q0\n1 Q0 c 3 high run\n1 Q0 \x1b 4 0 run\n1 1 e five 0 run\n"
    qrels = b"1 0 a 2\n1 0 a 1\n1 0 b\n1 0 c good\n1 0 d 1\n1 0 d 1\n"
    output = linted(cli, run=run, qrels=qrels, code=1)
    assert defects(output, "error") == [
        "qrels.txt:2: duplicate document 'a' in topic 1 with grade 1 (first on line 1 with grade 2)",
        "qrels.txt:3: 3 fields, expected 4 (topic iteration docno grade)",
        "qrels.txt:4: grade 'good' is not a number",
        "run.txt:2: duplicate document 'a' in topic 1 (first on line 1)",
        "run.txt:3: 2 fields, expected 6 (topic Q0 docno rank score tag)",
        "run.txt:4: score 'high' is not a number",
        "run.txt:5: control byte 0x1b",
    ]
    assert defects(output, "warning") == [
        "qrels.txt:6: duplicate document 'd' in topic 1 with grade 1 (first on line 5 with grade 1)",
        "run.txt:6: the second column is '1', not Q0",
        "run.txt:6: 1 rank not a number, the first on this line",
    ]
    assert all(defect["hint"] for file in output["files"] for defect in file["defects"])


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 3 t\n1 Q0 c 3 1 t\n",
         "run.txt:2: 1 document scores higher than the one ranked above, first here"),
        (b"1 Q0 a 1 1 t\n1 Q0 b 2 2 t\n2 Q0 c 1 0 t\n2 Q0 d 2 5 t\n",
         "run.txt:2: scores increase with the rank, so the document ranked last is scored as the best"),
        (b"1 Q0 a 1 3 t\n1 Q0 b 1 2 t\n", "run.txt:2: 1 rank repeated within a topic, the first on this line"),
        (b"1 Q0 a 1 3 t\n1 Q0 b 2 3 t\n2 Q0 a 1 1 t\n", "run.txt: 2 of 3 documents tied"),
        (b"1 Q0 a 1 3 t\n1 Q0 b 2 3 t\n2 Q0 a 1 1 t\n",
         "run.txt:1: all documents have the same score in 1 of 2 topics (1)"),
        (b"1 Q0 a 1 1.00000001 t\n1 Q0 b 2 1 t\n",
         "run.txt: 2 of 2 documents tied only in single precision, which trec_eval 9 uses"),
        (b"1 Q0 a 1 1e39 t\n1 Q0 b 2 1 t\n",
         "run.txt:1: 1 score too large for single precision, the first on this line"),
        (b"1 Q0 a 1 1e308 t\n1 Q0 b 2 -1e308 t\n",
         "run.txt:1: 2 scores too large for single precision, the first on this line"),
        (b"1 Q0 a 1 -1e308 t\n1 Q0 b 2 1e308 t\n",
         "run.txt:2: scores increase with the rank, so the document ranked last is scored as the best"),
        (b"1 Q0 a 1 1 t\n1 Q0 b 2 1e-50 t\n",
         "run.txt:2: 1 score too small for single precision, the first on this line"),
        (b"1 Q0 a 1 1 t\n1 Q0 b 2 0 u\n", "run.txt:2: 2 tags (t, u); the second starts on this line"),
        (b"1 0 a 1 1 t\n", "run.txt:1: the second column is '0', not Q0"),
        (b"1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n2 Q0 a 1 2 t\n2 Q0 b 2 1 t\n",
         "run.txt:3: topic 2 (1 of 2) has the documents of topic 1 in the same order"),
    ],
)  # fmt: skip
def test_surprising_scores_are_a_warning(run: bytes, message: str, cli: Command) -> None:
    assert message in defects(linted(cli, run=run), "warning")
    assert cli("lint", "run.txt", "--strict").code == 1


def test_a_valid_run_has_no_problems_even_with_strict(cli: Command) -> None:
    linted(cli, qrels=QRELS)
    outcome = succeed(cli("lint", "run.txt", "--qrels", "qrels.txt", "--strict"))
    assert outcome.text.startswith("qrels.txt: no problems found\n\nrun.txt: no problems found\n")


@pytest.mark.parametrize("content", [b"9 Q0 a 0 1.5e-3 x\n\n# more\r\n 9\tQ0  b 1 -2 x", RUN.replace(b"\n", b"\r\n")])
def test_unusual_but_valid_lines_are_accepted(content: bytes, tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run.txt.gz").write_bytes(gzip.compress(content))
    assert defects(report(cli("lint", "run.txt.gz", "-f", "json"), 0)) == []


def test_topics_and_docnos_are_compared_with_the_qrels(cli: Command) -> None:
    output = linted(cli, run=b"1 Q0 a 1 1 run\n7 Q0 a 1 1 run\n", qrels=QRELS + b"3 0 x 1\n")
    missing = "run.txt: 2 of 3 topics of qrels.txt are missing (2, 3)"
    assert defects(output, "warning") == [missing, "run.txt: 1 topic not in qrels.txt (7)"]
    assert (facts(output)["missing"], facts(output)["extra"]) == (["2", "3"], ["7"])
    output = linted(cli, run=b"51 Q0 a 1 1 run\n", qrels=QRELS, code=1)
    assert defects(output, "error") == ["run.txt: shares no topics with qrels.txt (51 vs 1, 2)"]
    output = linted(cli, run=RUN.replace(b" a ", b" A ").replace(b" b ", b" B ").replace(b" c ", b" C "), qrels=QRELS)
    assert defects(output) == ["run.txt: no document is judged in qrels.txt"]


def test_runs_are_compared_with_each_other(tmp_path: Path, cli: Command) -> None:
    for name, content in {"a": RUN, "b": RUN, "c": b"1 Q0 z 1 1 mine\n"}.items():
        (tmp_path / name).write_bytes(content)
    output = report(cli("lint", "a", "b", "c", "-f", "json"), 0)
    assert defects(output) == [
        "b: tag 'run' is also the tag of a",
        "b: has the same documents and scores as a",
        "c: 1 of 2 topics of the other runs are missing (2)",
    ]
    *_, facts, signature = cli("lint", "a", "b", "c").text.split("\n\n")
    table = facts.splitlines()
    assert signature == f"gradedeval {gradedeval.__version__}\n"
    assert " ".join(table[0].split()) == "run tag topics documents median depth tied errors warnings"
    assert " ".join(table[2].split()) == "a run 2 3 1.5 0 0 0"
    wide = cli("lint", "a", "b", "c", "--wide").text.split("\n\n")[-2].splitlines()
    assert " ".join(wide[-3].split()) == "a run 2 3 1 1.5 2 0 0 0 0"
    assert [line.split()[0] for line in table[2:]] == ["a", "b", "c"]


def test_options_of_a_track_make_errors(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "mine.txt.gz").write_bytes(gzip.compress(RUN))
    (tmp_path / "run.txt").write_bytes(RUN)
    output = report(cli("lint", "mine.txt.gz", "--tag-is-filename", "--max-depth", "1", "-f", "json"), 1)
    assert defects(output) == [
        "mine.txt.gz:1: tag 'run' is not the file name",
        "mine.txt.gz:2: topic 1 has 2 documents, more than 1",
    ]
    assert defects(report(cli("lint", "run.txt", "--tag-is-filename", "--max-depth", "2", "-f", "json"), 0)) == []


TIED = b"1 Q0 a 1 1 run\n1 Q0 b 2 1 run\n1 Q0 c 3 0.5 run\n2 Q0 x 1 1 run\n2 Q0 u 2 0.4 run\n"
GRADES = b"1 0 a 1\n1 0 b 0\n1 0 c 1\n2 0 x 1\n"


def test_ties_show_how_far_each_measure_could_move(cli: Command) -> None:
    output = linted(cli, "-m", "rr", "-m", "p@3", run=TIED, qrels=GRADES)
    # a and b are tied: b, a by docno; rr of topic 1 is 1/2 there, and 1 at best.
    assert facts(output)["moves"] == {
        "rr": {"worst": 0.75, "best": 1.0, "score": 0.75},
        "p@3": {"worst": 0.5, "best": 0.5, "score": 0.5},
    }
    assert defects(output) == ["run.txt: 2 of 5 documents tied, so scores depend on their order: rr 0.7500..1.0000"]


def test_facts_are_counted_and_harmless_ties_are_no_warning(cli: Command) -> None:
    output = linted(cli, "-m", "p@3", run=TIED, qrels=GRADES)
    counts = facts(output)
    assert (defects(output), counts["tied"]) == ([], 2)
    assert (counts["tag"], counts["topics"], counts["documents"]) == ("run", 2, 5)
    assert counts["depth"] == {"1": 3, "2": 2}
    assert counts["unjudged"] == {"10": 0.25, "20": 0.25, "100": 0.25}  # u, one of two in topic 2; none of three in 1


def test_qrels_alone_can_be_checked_and_an_unreadable_file_hides_no_other(cli: Command) -> None:
    linted(cli, qrels=QRELS + b"1 0 a 1\n", code=1)
    outcome = cli("lint", "--qrels", "qrels.txt")
    assert (outcome.code, outcome.text.splitlines()[0]) == (1, "qrels.txt: 1 error, 0 warnings")
    output = report(cli("lint", "none.txt", "run.txt", "-f", "json"), 1)
    assert defects(output, "error") == ["none.txt: no such file"]
    assert facts(output, 1)["documents"] == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no run given; usage: gradedeval lint RUN... [QRELS]"),
        (("-", "--qrels", "-"), "-: standard input can only be read once; give the other as a file"),
        (("run.txt", "qrels.txt", "-m", "rpb"), "unknown measure 'rpb'; did you mean 'rbp'?"),
        (("run.txt", "run.txt"), "run 'run.txt' is given twice; give each run once"),
    ],
)
def test_invalid_arguments_are_one_line(words: tuple[str, ...], message: str, cli: Command) -> None:
    linted(cli, qrels=b"1 0 a 1\n2 0 c 1\n")
    outcome = cli("lint", *words)
    assert (outcome.code, outcome.out, outcome.messages) == (2, b"", [message])


@shared
@pytest.mark.parametrize("step", [16, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_48_submitted_runs_have_no_error(step: int, cli: Command) -> None:
    runs = sorted(map(str, (DATA / "covid-round1" / "runs").glob("*.gz")))
    assert len(runs) == 48
    odd = [run for run in runs if Path(run).name in ("CincyMedIR-run3.gz", "ERST_PROSE.gz")]
    runs = sorted({*runs[::step], *odd})
    qrels = str(DATA / "covid-round1" / "qrels.txt")
    output = report(cli("lint", *runs, "--qrels", qrels, "--max-depth", "1000", "-f", "json"), 0)
    assert output["errors"] == 0
    named = {Path(file["file"]).name: [defect["problem"] for defect in file["defects"]] for file in output["files"]}
    # Two of them have mistakes of their authors: one has a single list for all topics, one is upside down.
    assert re.search("(has|have) the documents of topic 1", " ".join(named["CincyMedIR-run3.gz"]))
    assert "scores increase with the rank" in " ".join(named["ERST_PROSE.gz"])


def test_a_folder_or_a_pattern_names_runs_and_the_qrels_are_left_out(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    for name in ("b.run", "a.run", ".hidden"):
        (tmp_path / "runs" / name).write_text("1 Q0 a 1 1 t\n")
    (tmp_path / "runs" / "qrels").write_text("1 0 a 1\n")
    for word in ("runs", "runs/*"):
        outcome = cli("lint", word, "--qrels", "runs/qrels", "-f", "json")
        assert [Path(entry["file"]).name for entry in json.loads(outcome.text)["files"]] == ["qrels", "a.run", "b.run"]
    assert cli("lint", "runs/*.txt").messages == ["runs/*.txt: matches no file; check the pattern"]
    (tmp_path / "none").mkdir()
    assert cli("lint", "none").messages == ["none: holds no run; name the folder that holds the runs"]


def test_in_python_defects_are_a_frame(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_bytes(RUN.replace(b"3 run", b"x run"))
    (tmp_path / "qrels.txt").write_bytes(QRELS)
    result = gradedeval.lint(tmp_path / "run.txt", tmp_path / "qrels.txt", "ap").frame
    assert list(result.columns) == ["file", "weight", "kind", "place", "problem", "hint"]
    assert result["problem"].tolist()[0] == "score 'x' is not a number"
    assert result["weight"].tolist()[0] == "error"
    for wrong in ({"run": {"1": {"a": 1}}}, 5, [b"x"]):
        with pytest.raises(gradedeval.InputError, match="lint reads files: give a path"):
            gradedeval.lint(wrong)


def test_qrels_are_recognized_among_the_arguments(cli: Command) -> None:
    expected = linted(cli, qrels=QRELS)
    for words in (("run.txt", "qrels.txt"), ("qrels.txt", "run.txt")):
        assert report(cli("lint", *words, "-f", "json"), 0) == expected
    assert report(cli("lint", "qrels.txt", "-f", "json"), 0)["files"][0]["kind"] == "qrels"


def test_problems_of_many_runs_are_listed_by_kind_and_their_folder_once(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "deep" / "runs").mkdir(parents=True)
    for name in "abcdefghijklmn":
        (tmp_path / "deep" / "runs" / name).write_bytes(RUN if name != "c" else b"1 Q0 z x y mine\n2 Q0 z 1 y mine\n")
    text = cli("lint", "deep/runs").text
    listed = text.rpartition("\n\n")[0]
    assert text.startswith("14 runs in deep/runs: 2 errors, 24 warnings; 1 of 14 files without problems\n\nerror, ")
    assert listed.count("deep/runs") == 1
    assert "  c: line 1: score 'y' is not a number" in listed
    assert "(and 1 more)" in listed
    assert "more files; --all lists them" in listed
    assert "more files" not in cli("lint", "deep/runs", "--all").text


def test_unknown_topics_are_listed_with_missing_ones(cli: Command, tmp_path: Path) -> None:
    """Check any number of files, by file and by kind, without --all."""
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n3 0 a 1\n")
    for count in (1, 3, 6):
        folder = tmp_path / f"runs{count}"
        folder.mkdir()
        for name in "abcdef"[:count]:
            (folder / name).write_text(f"1 Q0 {name} 1 2 {name}\nX{name} Q0 a 1 2 {name}\n")
        text = cli("lint", str(folder), "--qrels", "qrels").text
        for name in "abcdef"[:count]:
            assert f"(X{name})" in text
            assert "(2, 3)" in text


def test_a_tag_with_spaces_is_a_warning(cli: Command) -> None:
    (warning,) = defects(linted(cli, run=b"1 Q0 d 1 2 my run\n"), "warning")
    assert warning == "run.txt:1: tag 'my run' has spaces, and trec_eval 9 refuses its lines as malformed"
    assert defects(linted(cli, run=b"1 Q0 d 1 2 my_run\n")) == []


@pytest.mark.parametrize("tag", ["x" * 400, "x" * 400 + " y", "y " * 200 + "y"])
def test_a_long_tag_is_shortened_in_problems(tag: str, tmp_path: Path, cli: Command) -> None:
    (tmp_path / "a.run").write_text(f"1 Q0 d 1 2 {tag}\n2 Q0 d 1 2 {tag}z\n")
    problems = cli("lint", str(tmp_path / "a.run"), "--tag-is-filename").text.partition("\n\n")[0]
    assert f"tag '{tag[:100]}…' is not the file name" in problems
    assert max(map(len, problems.splitlines())) < 400


@pytest.mark.parametrize("name", ["report.json", "report.md", "report.txt"])
def test_the_extension_of_an_output_chooses_no_format(name: str, tmp_path: Path, cli: Command) -> None:
    """Check that -f alone chooses the format of lint, as its help says."""
    target, run = tmp_path / name, tmp_path / "a.run"
    run.write_bytes(RUN)
    printed = cli("lint", str(run)).out
    outcome = cli("lint", str(run), "-o", str(target))
    assert (outcome.code, outcome.out) == (0, b"")
    assert target.read_bytes() == printed


def test_chunks_are_folded_as_in_an_evaluation(tmp_path: Path) -> None:
    run, qrels = tmp_path / "a.run", tmp_path / "qrels"
    run.write_text("".join(f"1 Q0 d{rank % 5}#{rank} {rank} {40 - rank} t\n" for rank in range(1, 31)))
    qrels.write_text("".join(f"1 0 d{name}_x {name % 3}\n" for name in range(4)))
    settings = {"collapse": "#", "collapse_by": "first", "collapse_qrels": "_"}
    report = gradedeval.lint(run, qrels, "err@20 ap", **settings)
    assert not len(report.frame)
    assert report.facts[0].unjudged["10"] == pytest.approx(1 / 5)
    scores = gradedeval.evaluate(run, qrels, "err@20 ap", **settings)
    assert {name: values["score"] for name, values in report.facts[0].moves.items()} == scores.means
    assert scores.signature.partition(" | ")[2] in report.signature
    with pytest.raises(gradedeval.InputError, match=r"^collapse: needs qrels; add QRELS$"):
        gradedeval.lint(run, collapse="#")
