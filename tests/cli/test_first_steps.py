"""First mistakes of new users: a misspelt word, an option twice, a failing measure, equal runs, --quiet."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gradedeval
from gradedeval.cli import main
from gradedeval.kernel.measures.definition import MEASURES
from gradedeval.kernel.trec.atomic_write import readable_size
from support.commands import Command, succeed

QRELS = "".join(f"{topic} 0 a 1\n{topic} 0 b 0\n" for topic in (1, 2, 3))
RUN = "".join(f"{topic} Q0 a 1 2 t\n{topic} Q0 b 2 1 t\n" for topic in (1, 2, 3))
WORSE = "".join(f"{topic} Q0 b 1 2 t\n{topic} Q0 u 2 1 t\n" for topic in (1, 2, 3))
OWN = """from gradedeval import measure


def divided(gain):
    return gain / {}["size"]


@measure(gain="linear")
def mine(g):
    \"\"\"Mine.

    Σ gain

    Me.

    depth  how far the user looks,
           at most
    \"\"\"
    return divided(g.gain)


@measure(gain="linear")
def other(g, *, depth: float = 3.0):
    \"\"\"Other.

    Σ gain

    Me.

    depth  how far the user looks,
           at most
    \"\"\"
    return g.gain[:, 0]
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> Path:
    for name, content in {"qrels": QRELS, "a": RUN, "b": WORSE, "my.py": OWN}.items():
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.parametrize("words", ["comapre a b qrels", "comapre", "comapre none none", "corelate a b qrels"])
def test_a_misspelt_command_is_said_before_any_work(words: str, cli: Command) -> None:
    result, typed = cli(*words.split()), words.split()[0]
    meant = {"comapre": "compare", "corelate": "correlate"}[typed]
    assert (result.code, result.out) == (2, b"")
    assert result.messages == [f"no such command '{typed}'; did you mean '{meant}'?"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("evaluate run.txt qrels.txt", "no such command 'evaluate'; did you mean 'eval'?"),
        ("significance a b qrels", "no such command 'significance'; did you mean 'compare'?"),
        ("eval a q --qrels q", "unknown option '--qrels'; files are arguments: RUN... QRELS"),
        (
            "eval a --qrels q --qrels r",
            "unknown option '--qrels'; files are arguments: RUN... QRELS; "
            "`gradedeval agreement QRELS QRELS2 RUN...` compares two qrels",
        ),
        ("eval a q --cutoffs 3", "unknown option '--cutoffs'; did you mean '-k'?"),
        ("eval a q -m p(x=1) -k 2", "'p': unknown parameter 'x'; it takes rel"),
        ("eval a q --resduals", "unknown option '--resduals'; did you mean '--residuals'?"),
        ("eval a q --pvalue", "unknown option '--pvalue'; see `gradedeval eval --help`"),
        ("lint a --digits 3", "unknown option '--digits'; it is an option of eval, explain, diff, history, …"),
        ("version", "no such command 'version'; did you mean '--version'?"),
        ("-V", "unknown option '-V'; `gradedeval --version` prints the version"),
        ("history a --k 3", "unknown option '--k'; write cutoffs in measures, as in -m ndcg@10"),
        ("compare a b q -t", "unknown option '-t'; did you mean '--test t'?"),
        ("pool a b q --ttest", "unknown option '--ttest'; --test is an option of eval, compare, check, report"),
        (
            "compare a b q --seeds 1,2",
            "unknown option '--seeds'; the option --seed takes one number; "
            "--replicates NAME=PATTERN names runs that are seeds of one system",
        ),
        ("lint a q --seeds 1,2", "unknown option '--seeds'; see `gradedeval lint --help`"),
        ("--install-completion", "unknown option '--install-completion'; `gradedeval completion bash` prints a script"),
        ("clicks log", "clicks: no such command 'log'; did you mean `gradedeval clicks observe log`?"),
        ("report a q", "-o: missing file name; for example -o report.html"),
        ("eval a q -m rbp(0.8)", "'rbp(0.8)': cannot read '0.8'; did you mean 'rbp(p=0.8)'?"),
        ("eval a q -m ndcg(10)", "'ndcg(10)': cannot read '10'; did you mean 'ndcg@10'?"),
        ("eval a q -m ndcg@5-10", "'ndcg@5-10': is not a measure; did you mean 'ndcg@5..10'?"),
        (
            "eval a.run b.qrels -o t.xlsx",
            "'t.xlsx': no format has the extension '.xlsx'; spreadsheets open CSV: -o t.csv",
        ),
        ("eval a.run b.qrels -f xlsx", "--format: invalid value 'xlsx'; spreadsheets open csv"),
        ("eval a.run b.qrels --gain 2^x", "--gain: unknown gain scheme '2^x'; for 2^grade − 1 write exp"),
        ("check a q --min ap>0.8", "--min ap>0.8: 'ap>0.8' is not a number; write >= or =, as in ap>=0.8"),
        ("eval a q -m 10", "unknown measure '10'; write a cutoff with the measure, as in ndcg@10"),
        ("eval a q -m mean_average_precision", "unknown measure 'mean_average_precision'; did you mean 'ap'?"),
    ],
)
def test_mistakes_of_users_of_other_tools_are_answered(words: str, says: str, cli: Command) -> None:
    assert cli(*words.split()).messages == [says]


def test_a_file_in_the_place_of_a_picture_or_of_a_verb_leads_to_the_usual_one(files: Path, cli: Command) -> None:
    assert cli("plot", "a", "qrels").messages == ["plot: no such picture 'a'; did you mean `gradedeval plot runs a`?"]
    message = "clicks: no such command 'a'; did you mean `gradedeval clicks observe a`?"
    assert cli("clicks", "a").messages == [message]


@pytest.mark.parametrize(("name", "form"), [("json", "json"), ("CSV", "csv"), ("tex", "latex"), ("html", "html")])
def test_a_format_given_as_the_file_is_told_of_f(name: str, form: str, files: Path, cli: Command) -> None:
    message = cli("a", "qrels", "-m", "ap", "--output", name)
    hint = f"did you mean -f {form}? For a file of that name write ./{name}"
    assert (message.code, message.messages) == (2, [f"-o: '{name}' is the name of a format; {hint}"])
    assert not (files / name).exists()
    assert cli("a", "qrels", "-m", "ap", "-o", f"./{name}").code == 0
    assert cli("a", "qrels", "-m", "ap", "-o", name).code == 0  # which is there now
    assert cli("a", "qrels", "-m", "ap", "-o", "jsonl", "-f", "csv").code == 0
    assert (files / "jsonl").exists()


@pytest.mark.parametrize("words", ["pool a b qrels --to-judge 10", "compare a b qrels 10", "a b qrels 10"])
def test_a_word_behind_the_qrels_is_no_file(words: str, files: Path, cli: Command) -> None:
    outcome = cli(*words.split())
    assert (outcome.code, outcome.messages) == (2, ["10: no such file; the qrels are the last argument: RUN... QRELS"])


def test_qrels_without_grades_are_refused(files: Path, cli: Command) -> None:
    (files / "unjudged").write_text(
        "".join(f"{topic} Q0 {docno} {rank} {9 - rank} t\n" for topic in "123" for rank, docno in enumerate("auvw"))
    )
    succeed(cli("pool", "unjudged", "qrels", "--to-judge", "--as-qrels", "-o", "next.qrels"))
    assert len((files / "next.qrels").read_text().splitlines()) == 9
    message = "next.qrels: has 3 fields in a line, 'topic iteration docno': the grade is missing; "
    for words in (("a",), ("compare", "a", "b"), ("diff", "a", "b")):
        assert cli(*words, "next.qrels").messages == [f"{message}fill it in as the fourth field"]


def test_many_labels_are_not_all_listed(files: Path, cli: Command) -> None:
    (files / "words").write_text("".join(f"{topic} 0 a w{topic:02}\n" for topic in range(1, 31)))
    (message,) = cli("a", "words").messages
    assert message == (
        "words:1: grade 'w01' is a word; the labels found are w01, w02, w03, w04, w05, …: "
        "give each a grade, as in --labels w01=…,w02=…,w03=…,w04=…,w05=…,…"
    )


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("DL19_passage", "dl19-passage"),
        ("trec-dl-2019", "dl19-passage"),
        ("robust4", "'robust04'"),
        ("irds:beir/scifact/test", "scifact"),
        ("irds:beir/scifact/train", "ir_datasets:beir/scifact/train"),
    ],
)
def test_other_names_of_collections_are_answered_with_names(name: str, full: str, cli: Command, tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("1 Q0 a 1 2 t\n")
    assert cli("run.txt", name).messages == [f"{name}: no such file; did you mean {full}?"]


@pytest.mark.parametrize("words", ["assess a qrels", "grade a b qrels -m rr"])
def test_a_word_that_is_no_command_is_said_before_any_work(words: str, cli: Command) -> None:
    result, typed = cli(*words.split()), words.split()[0]
    hint = "to score runs, give files alone: gradedeval RUN... QRELS"
    assert (result.code, result.out) == (2, b"")
    assert result.messages == [f"no such command '{typed}', and no such file; {hint}"]
    for named in (("eval", "evaluate", "a", "qrels"), ("missing", "none.run", "qrels")):
        assert cli(*named).code == 1  # these are runs


def test_two_topics_are_both_explained(cli: Command) -> None:
    words = ("explain", "a", "qrels", "-m", "rr")
    alone = [cli(*words, "--topic", topic).text for topic in "21"]
    both = cli(*words, "--topic", "2", "--topic", "1", "--topic", "2").text
    first, second = (text.rpartition("\n\ngradedeval")[0] for text in alone)
    assert both.startswith(f"{first}\n\n{second}\n\ngradedeval")
    document = json.loads(cli(*words, "--topic", "2", "--topic", "1", "-f", "json").text)
    assert [topic["topic"] for topic in document["topics"]] == ["2", "1"]
    assert [row["topic"] for row in document["rows"]] == ["2", "2", "1", "1"]


def test_a_failing_measure_has_its_line_and_if_asked_a_traceback(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("a", "qrels", "--measures-from", "my.py", "-m", "mine")
    plain = cli(*words)
    monkeypatch.setenv("GRADEDEVAL_DEBUG", "1")
    outcome = cli(*words)
    (message,) = plain.messages
    assert message.endswith(
        "my.py:5: measure 'mine': failed (KeyError: 'size'); fix its function; GRADEDEVAL_DEBUG=1 shows the traceback"
    )
    assert outcome.messages[0] == message
    assert outcome.messages[1].startswith("Traceback ")
    assert outcome.messages[-1] == "KeyError: 'size'"
    assert any("divided(g.gain)" in line for line in outcome.messages)


@pytest.mark.parametrize(
    ("content", "says"),
    [("import os\n1 / 0\n", "bad.py:2: cannot be loaded (ZeroDivisionError: division by zero)"),
     ("x = 1\ndef f(:\n", "bad.py:2: cannot be loaded (SyntaxError: "),
     ("from gradedeval import measure\n@measure\n@measure\ndef mine(g):\n    return g.rank\n",
      "bad.py:2: cannot be loaded (InputError: measure 'mine': is already a measure; write @measure once)")],
)  # fmt: skip
def test_an_invalid_file_is_shown_with_its_line(content: str, says: str, files: Path, cli: Command) -> None:
    (files / "bad.py").write_text(content)
    (message,) = cli("a", "qrels", "--measures-from", "bad.py").messages
    assert message.startswith(says)


def test_every_parameter_is_explained(cli: Command) -> None:
    of_all = ("of", "horizon", "prior")
    for name, measure in MEASURES.items():
        keys = [key for key in measure.definition.parameters if key not in of_all]
        assert list(measure.definition.meanings) == keys, name
    assert (
        "p            the persistence: the probability of going on to the next document; in [0, 1)"
        in cli("measures", "rbp").text.splitlines()
    )
    page = cli("measures", "other", "--measures-from", "my.py").text
    assert "depth        how far the user looks, at most\n" in page
    assert "source       Me.\n" in page


def test_runs_equal_up_to_rounding_are_ordered_by_name(files: Path, cli: Command) -> None:
    runs = {"z": RUN, "y": RUN, "x": RUN, "best": RUN}
    scores = gradedeval.evaluate({name: str(files / "a") for name in runs}, str(files / "qrels"), "ap")
    values = {"z": [0.1, 0.2, 0.3], "y": [0.3, 0.2, 0.1], "x": [0.1, 0.1, 0.1], "best": [1.0, 0.2, 0.3]}
    assert sum(values["z"]) != sum(values["y"])
    own = [replace(run, score=np.array(values[run.run])[:, None]) for run in scores.runs]
    ordered = replace(scores, runs=own).sorted_by(scores.measures[0])
    assert [run.run for run in ordered.runs] == ["best", "y", "z", "x"]
    printed = cli("b", "a", "qrels", "-m", "ap", "--sort", "ap").text
    assert [line.split()[0] for line in printed.splitlines()[2:4]] == ["a", "b"]


def test_quiet_leaves_results_and_errors(cli: Command) -> None:
    result = cli("a", "b", "qrels", "-m", "num_q ap", "--quiet")
    assert result.messages == []
    assert "gradedeval 0" not in result.text
    assert cli("a", "none", "qrels", "--quiet").messages != []
    assert "signature" in cli("a", "qrels", "-m", "ap", "--quiet", "-f", "csv").text
    assert cli("compare", "a", "b", "qrels", "-m", "ap", "--quiet").text.count("\n") == 4
    broken = cli("check", "b", "qrels", "--min", "ap=0.9", "--quiet", "-o", "report.txt")
    assert (broken.code, len(broken.messages)) == (1, 1)


HABITS = {
    "-m map,p@1": "-m map -m p@1",
    "-m map p@1": "-m map -m p@1",
    "-m ndcg@1,2 --json": "-m ndcg@1 -m ndcg@2 -f json",
    "--metric=map": "-m map",
    "--metrics map --per-query": "-m map -q",
    "-m map -f JSON": "-m map -f json",
    "-m map,ndcg@1,P_1 -k 2": "-m map@2 -m ndcg@1 -m P_1",
    "-m p --cutoff 1": "-m p@1",
    "-m ap --by_query": "-m ap -q",
    "-m ap --per-topic": "-m ap -q",
    "-m ap --csv": "-m ap -f csv",
    "-m ap --latex": "-m ap -f latex",
    "-m ap -f md": "-m ap -f markdown",
    "-m ap -f tex": "-m ap -f latex",
    "-m ap --threads 2": "-m ap --jobs 2",
    "-m ap --min-rel 2": "-m ap --rel 2",
    "-m ap --relevance-level 2": "-m ap --rel 2",
    "-m ap --k 1": "-m ap -k 1",
    "-m ap --decimals 2": "-m ap --digits 2",
}
"""How users of other tools write what is written otherwise here."""


@pytest.mark.parametrize("typed", HABITS)
def test_clear_habits_of_other_tools_are_accepted(typed: str, files: Path, cli: Command) -> None:
    meant = succeed(cli("a", "qrels", *HABITS[typed].split()))
    assert cli("a", "qrels", *typed.split()) == meant


WITH_MEASURES = ["compare a a2", "explain a", "correlate a a2", "lint a", "risk a a2", "report a -o x.html"]


@pytest.mark.parametrize("words", WITH_MEASURES)
def test_k_cuts_measures_without_a_cutoff_in_every_command(words: str, files: Path, cli: Command) -> None:
    (files / "a2").write_text(RUN)
    arguments = ("qrels", "-m")
    cut, written = (cli(*words.split(), *arguments, *rest) for rest in (("ap p@1", "-k", "2"), ("ap@2 p@1",)))
    assert cut.code in (0, 1)
    assert cut == written


def test_a_measure_that_takes_no_cutoff_is_named(files: Path, cli: Command) -> None:
    assert "-k 2: rprec takes no cutoff" in cli("a", "qrels", "-m", "rprec ap", "-k", "2").messages
    kept = "-k 10: err@20, ndcg@20, judged@20 keep their cutoffs; name measures without one, as in -m 'err ndcg'"
    assert kept in cli("a", "qrels", "-k", "10").messages
    assert not any("keep" in message for message in cli("a", "qrels", "-k", "10", "-m", "err@20 ap").messages)
    assert [line.split()[0] for line in cli("a", "qrels", "-k", "2").text.splitlines()[2:9]] == [
        "err@20", "ndcg@20", "rbp@2", "ap@2", "gap@2", "p@10", "judged@20",
    ]  # fmt: skip


def test_a_word_after_a_measure_is_a_file_if_it_exists(files: Path, cli: Command) -> None:
    (files / "map").write_text(RUN)
    assert cli("-m", "ap", "map", "qrels").text.splitlines()[2].split()[0] == "ap"


def test_a_bound_may_say_which_way_it_goes(files: Path, cli: Command) -> None:
    bounds = succeed(cli("check", "a", "qrels", "--min", "ap>=0.5", "--max", "unjudged@2<=0.4", "-f", "csv"))
    assert bounds.text == cli("check", "a", "qrels", "--min", "ap=0.5", "--max", "unjudged@2=0.4", "-f", "csv").text


def test_a_terminal_names_the_written_file(
    files: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    messages: list[str] = []
    monkeypatch.setattr("gradedeval.cli.output.print_message", lambda text, kind="": messages.append(text))
    words = ["a", "qrels", "-m", "ap", "-o", "scores.csv", "--history", "history.jsonl"]
    for more in ([], ["--quiet"]):
        with pytest.raises(SystemExit) as ended:
            main([*words, *more])
        assert ended.value.code == 0
    size = (files / "scores.csv").stat().st_size
    wrote = [line for line in messages if line.startswith("wrote ")]
    assert wrote[0] == f"wrote scores.csv, {size} bytes"
    assert len(wrote) == 1
    assert [line for line in messages if line.startswith("appended ")] == ["appended 1 line to history.jsonl"]
    assert capsysbinary.readouterr().out == b""


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1700, "1.7 kB"), (9960, "10 kB"), (999_600, "1.0 MB")],
)
def test_sizes_of_files_are_said_in_three_digits_at_most(size: int, words: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(size))
    assert readable_size(str(tmp_path / "file")) == words
