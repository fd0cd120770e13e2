"""The order of files: qrels in the first place get a corrected command line; options make the last file qrels."""

import json
import shlex
from pathlib import Path

import pandas as pd
import pytest

from gradedeval import compare, evaluate
from gradedeval.cli.hints import QRELS_LAST
from gradedeval.errors import InputError
from support.commands import Command, succeed
from support.every_command import WORDS, collection, filled
from support.generated_docs import LEAVES

IDS = {"docno": b"d", "topic": b"t", "run": b"a", "tag": b"z"}

TAKE_RUNS = [name for name, command in LEAVES.items() if QRELS_LAST.match(str(command.params[0].metavar))]
"""The commands of RUN... QRELS."""

ANY_ORDER = ("lint",)
"""The commands that find the qrels in any place."""


def call(name: str) -> list[str]:
    """Return the words of a call with runs and qrels, the qrels last."""
    calls = [("{run}.run", "qrels")] if name == "lint" else WORDS["weights" if name == "plot weights" else name]
    words = next(words for words in calls if "qrels" in words)
    output = "report.html" if name == "report" else "picture.svg" if name.startswith("plot ") else ""
    return [*filled(words, IDS), *(["-o", output] if output else [])]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", TAKE_RUNS)
@pytest.mark.parametrize("runs_in", ["files", "folder"])
def test_every_command_prints_its_line_with_the_qrels_last(name: str, runs_in: str, cli: Command) -> None:
    collection(IDS)
    right = call(name)
    position = right.index("qrels")
    if runs_in == "folder":
        Path("runs").mkdir()
        for run in right[:position]:
            Path(run).rename(Path("runs", run))
        right, position = ["runs", *right[position:]], 1
    wrong = ["qrels", *right[:position], *right[position + 1 :]]
    if name in ANY_ORDER:
        assert cli(name, *wrong).text == cli(name, *right).text != ""
        return
    done = cli(*name.split(), *wrong)
    assert done.code != 0
    assert "swap" in done.messages[-1]
    assert done.corrected == [shlex.join(["gradedeval", *name.split(), *right])]


@pytest.fixture
def forms(tmp_path: Path) -> Path:
    """Write runs and qrels in several forms."""
    golden = [{"question": topic, "expected": ["a"]} for topic in ("q1", "q2")]
    named = [{"question": topic, "chunk_list": ["a"]} for topic in ("q1", "q2")]
    results = [{"question": topic, "results": ["b", "a"]} for topic in ("q1", "q2")]
    trec = "q1 Q0 a 1 2.5 t\nq2 Q0 a 1 3.5 t\n"
    for name, records in (("golden", golden), ("named", named), ("results", results)):
        (tmp_path / f"{name}.json").write_text(json.dumps(records))
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "named.csv").write_text("question,chunk,g\nq1,a,1\nq2,a,0\n")
    (tmp_path / "named-2.csv").write_text("question,chunk,g\nq1,a,0.5\nq2,a,0\n")
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 a 2\n")
    for path in ("run", "runs/a", "runs/b"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(trec)
    return tmp_path


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("typed", "says", "meant"),
    [
        ("qrels run -m ap", "run: looks like a run (6 fields per line), and qrels like qrels", "run qrels -m ap"),
        ("-q qrels runs/a runs/b", "runs/b: looks like a run", "-q runs/a runs/b qrels"),
        ("golden.json results.json", "results.json: looks like a run, and golden.json", "results.json golden.json"),
        ("golden.jsonl results.jsonl", "results.jsonl: looks like a run, and gol", "results.jsonl golden.jsonl"),
        ("golden.json run", "run: looks like a run", "run golden.json"),
        ("qrels results.json", "qrels: looks like qrels, and results.json is a run", "results.json qrels"),
        ("qrels runs/", "qrels: looks like qrels, and runs/ is a folder", "runs/ qrels"),
        ("golden.json runs", "golden.json: looks like qrels, and runs is a folder", "runs golden.json"),
        ("qrels 'runs/*'", "qrels: looks like qrels, and runs/* is a pattern", "'runs/*' qrels"),
        ("plot runs qrels runs -o x.svg", "qrels: looks like qrels, and ru", "plot runs runs qrels -o x.svg"),
        ("explain qrels run q1", "qrels: looks like qrels, and run is a run", "explain run qrels q1"),
        ("diff golden.json results.json run", "golden.json: looks like qrels", "diff results.json run golden.json"),
        ("diff qrels runs/a runs/b -m ap", "qrels: looks like qrels", "diff runs/a runs/b qrels -m ap"),
        ("pool golden.json results.json", "golden.json: looks like qrels", "pool results.json golden.json"),
        (
            "named.json results.json --qrels-format topic=question,documents=chunk_list",
            "results.json: looks like a run, and named.json like qrels",
            "results.json named.json --qrels-format topic=question,documents=chunk_list",
        ),
    ],
)
def test_every_form_of_qrels_is_moved_to_the_end(typed: str, says: str, meant: str, forms: Path, cli: Command) -> None:
    done = cli(*shlex.split(typed))
    assert done.code != 0
    assert done.messages[-1].startswith(says)
    assert "the order is RUN... QRELS" in done.messages[-1]
    assert done.corrected == [f"gradedeval {meant}"]
    succeed(cli(*shlex.split(meant)))


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("run runs/a", "runs/a: looks like a run (6 fields per line), as does run; the qrels file comes last"),
        ("qrels golden.json run", "run: looks like a run"),
        ("qrels run -m xyzzy", "unknown measure 'xyzzy'"),
        ("qrels runs/c", "runs/c: no such file"),
        ("runs qrels --gain nosuch", "--gain: "),
        ("qrels -", "<stdin>: "),
    ],
)
def test_files_in_another_mistake_are_not_moved(typed: str, says: str, forms: Path, cli: Command) -> None:
    done = cli(*shlex.split(typed))
    assert done.code != 0
    assert done.messages[-1].startswith(says)
    assert done.corrected == []


GRADES = pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "grade": [1, 0]})
SCORES = pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "score": [1.5, 0.5]})
RANKED = {"q1": {"a": 1.5, "b": 0.5}}


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize(
    ("judged", "retrieved"),
    [
        (GRADES, SCORES),
        (GRADES.rename(columns={"grade": "relevance"}), SCORES),
        (GRADES, SCORES.assign(score=[3, 1], rank=[1, 2]).rename(columns={"score": "sim"})),
        (GRADES, RANKED),
        ({"q1": {"a"}}, RANKED),
        ({"q1": {"a"}}, SCORES),
    ],
)
def test_values_in_python_are_told_to_be_swapped(judged: object, retrieved: object) -> None:
    with pytest.raises(InputError, match=r"swap them, and give the run first: evaluate\(run, qrels\)$"):
        evaluate(judged, retrieved, "ap")
    assert evaluate(retrieved, judged, "ap").runs


def test_files_in_python_and_several_runs_are_told_to_be_swapped(forms: Path) -> None:
    for judged, retrieved in (("qrels", "run"), ("golden.json", "results.json")):
        with pytest.raises(InputError, match=r"swap them, and give the run first: evaluate\(run, qrels\)$"):
            evaluate(forms / judged, forms / retrieved, "ap")
    with pytest.raises(InputError, match="looks like a run, and the run like qrels"):
        compare({"a": GRADES, "b": SCORES}, SCORES, "ap")


def test_a_run_without_scores_is_not_called_qrels() -> None:
    with pytest.raises(InputError, match="'score' holds fractions"):
        evaluate(SCORES, SCORES, "ap")
    with pytest.raises(InputError, match="no column 'score'"):
        evaluate(GRADES, GRADES, "ap")


JSON = ("--qrels-format", "topic=question,documents=chunk_list")
CSV = ("--qrels-format", "topic=question,docno=chunk,grade=g")


@pytest.mark.parametrize(
    "qrels", [("named.json", *JSON), ("named.jsonl", *JSON), ("named.csv", *CSV), ("named-2.csv", *CSV)], ids=str
)
@pytest.mark.parametrize(
    "words",
    [("diff", "-m", "recall@5"), ("diff",), ("pool",), ("pool", "--leave-one-out"), ("lint",), ("lint", "-m", "ap")],
    ids=str,
)
def test_with_a_format_of_qrels_the_last_file_is_the_qrels(
    words: tuple[str, ...], qrels: tuple[str, ...], forms: Path, cli: Command
) -> None:
    file, *options = qrels
    judged = {"named.csv": "q1 0 a 1\nq2 0 a 0\n", "named-2.csv": "q1 0 a 0.5\nq2 0 a 0\n"}
    (forms / "plain").write_text(judged.get(file, "q1 0 a 1\nq2 0 a 1\n"))
    command, *more = words
    done = succeed(cli(command, "run", "runs/b", file, *options, *more, "-f", "json"))
    if command == "lint":
        assert [file["kind"] for file in json.loads(done.text)["files"]].count("qrels") == 1
        assert file in done.text
    else:
        plain = succeed(cli(command, "run", "runs/b", "plain", *more, "-f", "json"))
        dropped = ("signature", "qrels")
        rows = [{k: v for k, v in json.loads(file.text).items() if k not in dropped} for file in (done, plain)]
        assert rows[0] == rows[1]


def test_with_measures_the_last_file_is_the_qrels_unless_it_is_a_run(forms: Path, cli: Command) -> None:
    assert cli("diff", "run", "runs/b", "named.json", "-m", "ap").messages[-1].startswith("named.json:1: ")
    assert cli("diff", "run", "runs/b", "-m", "ap").messages == ["-m: needs qrels; add QRELS"]
    assert cli("lint", "run", "runs/b", "-m", "ap").messages == ["-m: needs qrels; add QRELS"]
