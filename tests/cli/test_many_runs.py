"""Many runs in one command: the same bytes by any number of processes, from a pipe or packed; faults at the end."""

import gzip
import io
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval.errors import InputError
from gradedeval.kernel import parallel
from gradedeval.kernel.options import Options
from gradedeval.kernel.parallel import Limits, Workers, executors
from gradedeval.kernel.rankings import grade, qrels
from gradedeval.kernel.scoring.evaluate import evaluate_runs, file_names
from gradedeval.kernel.scoring.sharing import score_run
from support.commands import Command, Outcome
from support.examples import sampled
from support.processes import interrupted, linux, nobody_is_left, processes_of
from support.runs import awkward, refused

QRELS = "".join(f"{topic} 0 d{doc} {doc % 4}\n" for topic in range(1, 6) for doc in range(0, 40, 3))
LONG = ("-m", "ap ndcg@10 err rbp", "--residuals", "-q", "-f", "csv")


def run_of(seed: int, topics: int = 5) -> str:
    draw = random.Random(seed)
    return "".join(
        f"{topic} Q0 d{docno} {rank} {draw.random():.5f} tag{seed}\n"
        for topic in range(1, topics + 1)
        for rank, docno in enumerate(draw.sample(range(60), 30), 1)
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Runs of all kinds in `runs`: a packed one, one that lacks topics, a bad one, a hidden one and a folder."""
    runs = tmp_path / "runs"
    runs.mkdir()
    for seed in range(6):
        (runs / f"{seed}.run").write_text(run_of(seed))
    (runs / "packed.run.gz").write_bytes(gzip.compress(run_of(7).encode()))
    (runs / "short.run").write_text(run_of(8, topics=3) + "9 Q0 d1 1 1 t\n")
    (runs / "bad.run").write_text("1 Q0 d1 1 much t\n")
    (runs / ".hidden").write_text("no run at all\n")
    (runs / "more").mkdir()
    (tmp_path / "qrels.txt").write_text(QRELS)
    return tmp_path


@pytest.fixture
def shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share files of any size among processes."""
    monkeypatch.setattr(parallel, "LIMITS", Limits(small_runs=0))


@pytest.mark.one_in(2)
@linux
@pytest.mark.parametrize(
    "words", sampled([(LONG,), (("-m", "ap"),), (("--run-name", "tag", "-m", "ap"),), (("--sort", "ap"),)], 2)
)
def test_any_number_of_processes_gives_the_same_bytes(
    words: tuple[str, ...], folder: Path, cli: Command, shared_out: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = cli("runs", "qrels.txt", *words, "--jobs", "1")
    assert (alone.code, len(alone.messages)) == (1, 4)
    for jobs in ("2", "3", "20"):
        assert cli("runs", "qrels.txt", *words, "--jobs", jobs) == alone
    # Each file by several processes, but for the packed one.
    monkeypatch.setattr(parallel, "LIMITS", Limits(small_runs=0, large_file=100, segment=300))
    assert cli("runs", "qrels.txt", *words, "--jobs", "3") == alone
    assert cli("runs", "qrels.txt", *words) == alone
    assert nobody_is_left()


def every_way(cli: Command, run_file: str, content: bytes, words: tuple[str, ...]) -> dict[str, Outcome]:
    """Return the output for a run: by one process and by three, from a pipe, packed, and read line by line."""
    Path("packed").mkdir(exist_ok=True)
    packed = Path("packed") / Path(run_file).name
    packed.write_bytes(gzip.compress(content, 1))
    result = {"one process": cli(run_file, *words, "--jobs", "1")}
    with pytest.MonkeyPatch.context() as patch:
        small = Limits(large_file=0, segment=max(200, len(content) // 7), block=1 << 8)
        patch.setattr(parallel, "LIMITS", small)
        result["three processes"] = cli(run_file, *words, "--jobs", "3")
        result["a URL"] = cli(url := Path(run_file).absolute().as_uri(), *words)
    result["gz"] = cli(str(packed), *words)
    result["a pipe"] = cli("-", *words, stdin=content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade, "blocks", refused)
        patch.setattr(qrels, "read_judgments", refused)
        result["line by line"] = cli(run_file, *words)
    places = {"gz": str(packed), "a pipe": "<stdin>", "a URL": url}
    return {
        way: Outcome(outcome.code, outcome.out, outcome.err.replace(places.get(way, run_file).encode(), b"RUN"))
        for way, outcome in result.items()
    }


WAYS = ("-q", "-f", "trec", "--digits", "17", "-m", "ap ndcg@10 err@20 rbp bpref judged@5")


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", sampled(range(32), 8))
def test_awkward_runs_give_the_same_bytes_every_way(seed: int, tmp_path: Path, cli: Command) -> None:
    content, judgments = awkward(random.Random(f"every way {seed}"))
    (tmp_path / "run.txt").write_bytes(content)
    (tmp_path / "qrels.txt").write_bytes(judgments)
    result = every_way(cli, "run.txt", content, ("qrels.txt", *WAYS))
    assert set(result.values()) == {result["line by line"]}


LINES = [[f"{topic} Q0 d{rank} {rank} {60 - rank}.5 t\n" for rank in range(60)] for topic in range(1, 9)]
FORMS: dict[str, str] = {
    "one topic larger than all blocks": "".join(LINES[0] * 1)
    + "".join(f"1 Q0 x{rank} 1 -{rank} t\n" for rank in range(900)),
    "no final newline": "".join(line for topic in LINES for line in topic).rstrip("\n"),
    "one document": "1 Q0 d1 1 1 t",
    "a topic that comes back at the end": "".join(line for topic in LINES for line in topic) + "1 Q0 late 1 99 t\n",
    "topics that take turns": "".join(line for rank in zip(*LINES, strict=True) for line in rank),
    "long lines across blocks": "".join(
        f"{topic} Q0 {'x' * 300}{doc} 1 {doc} t\n" for topic in (1, 2) for doc in range(30)
    ),
    "unjudged topics between": "".join(
        f"u{line} Q0 d1 1 1 t\n{1 + line // 10} Q0 d{line} 1 {line} t\n" for line in range(50)
    ),
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("form", FORMS)
def test_odd_runs_give_the_same_bytes_every_way(form: str, tmp_path: Path, cli: Command) -> None:
    content = FORMS[form].encode()
    (tmp_path / "run.txt").write_bytes(content)
    (tmp_path / "qrels.txt").write_text(QRELS)
    result = every_way(cli, "run.txt", content, ("qrels.txt", *WAYS))
    assert result["line by line"].code == 0
    assert set(result.values()) == {result["line by line"]}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bad_run_is_reported_last_and_others_print(jobs: str, folder: Path, cli: Command, shared_out: None) -> None:
    outcome = cli("runs/0.run", "runs/bad.run", "runs/none.run", "runs/1.run", "qrels.txt", "-m", "ap", "--jobs", jobs)
    assert outcome.code == 1
    assert [line.split()[0] for line in outcome.text.splitlines()[:4]] == ["run", "-----", "0.run", "1.run"]
    assert outcome.messages == [
        "runs/bad.run:1: score 'much' is not a number; remove the line if it is a header, "
        "or skip it with --run-format trec+header",
        "runs/none.run: no such file; check the path",
        "2 of 4 runs are not scored",
    ]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_with_a_bad_run_output_is_written_on_request(jobs: str, folder: Path, cli: Command, shared_out: None) -> None:
    words = ("runs/0.run", "runs/bad.run", "qrels.txt", "-m", "ap", "-o", "out.csv", "--jobs", jobs)
    outcome = cli(*words)
    assert (outcome.code, outcome.out) == (1, b"")
    assert (
        outcome.messages[-1] == "1 of 2 runs is not scored, and out.csv is not written; --keep-going writes the others"
    )
    assert not (folder / "out.csv").exists()
    outcome = cli(*words, "--keep-going")
    assert (outcome.code, outcome.out, outcome.messages[-1]) == (1, b"", "1 of 2 runs is not scored")
    assert (folder / "out.csv").read_text().startswith("run,topic,measure,score,signature\n0.run,all,ap,")
    assert cli("runs/0.run", "runs/1.run", *words[2:]).code == 0


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_every_bad_run_is_reported(jobs: str, folder: Path, cli: Command, shared_out: None) -> None:
    outcome = cli("runs/bad.run", "runs/none.run", "qrels.txt", "--jobs", jobs)
    assert (outcome.code, outcome.out) == (1, b"")
    assert [line.partition(":")[0] for line in outcome.messages[:2]] == ["runs/bad.run", "runs/none.run"]
    assert outcome.messages[2] == "2 of 2 runs are not scored"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_fault_of_no_run_in_particular_is_told_once(jobs: str, folder: Path, cli: Command, shared_out: None) -> None:
    (folder / "my.py").write_text("from gradedeval import measure\n@measure(gain='linear', residual='none')\n"
                                  "def odd(g):\n    '''Odd.\\n\\nf\\n\\nme.'''\n    raise KeyError(g.k)\n")  # fmt: skip
    words = ("runs/0.run", "runs/1.run", "qrels.txt", "--measures-from", "my.py", "-m", "odd", "--jobs", jobs)
    outcome = cli(*words)
    assert (outcome.code, len(outcome.messages)) == (1, 1)
    assert outcome.messages[0].startswith("my.py:5: measure 'odd': failed (KeyError")


def test_a_fault_that_names_no_run_gets_its_name(folder: Path, cli: Command) -> None:
    (folder / "other.run").write_text("77 Q0 d1 1 1 t\n")
    (folder / "list").write_text("1\n77\n")
    outcome = cli("other.run", "runs/0.run", "qrels.txt", "-m", "ap", "--topics-from", "list")
    assert outcome.code == 1
    assert outcome.messages[-2].startswith("other.run: shares no topics with qrels.txt")


def test_more_bad_runs_than_anybody_reads_are_counted(folder: Path, cli: Command) -> None:
    for number in range(30):
        (folder / f"bad{number}.run").write_text("1 Q0 d1 1 much t\n")
    outcome = cli("bad*.run", "runs/0.run", "qrels.txt")
    assert len(outcome.messages) == 11
    assert outcome.messages[-1] == "30 of 31 runs are not scored (20 of them not listed here)"


def test_in_python_the_first_bad_run_is_raised(folder: Path, shared_out: None) -> None:
    runs = [str(folder / "runs" / name) for name in ("0.run", "bad.run", "1.run")]
    for jobs in (1, 2):
        with pytest.raises(InputError, match=r"bad\.run:1: score 'much' is not a number") as error:
            gradedeval.evaluate(runs, str(folder / "qrels.txt"), "ap", jobs=jobs)
        assert error.value.problem == "score 'much' is not a number"
    with pytest.raises(InputError, match="jobs: 0 is too small; it must be at least 1"):
        gradedeval.evaluate(runs, str(folder / "qrels.txt"), "ap", jobs=0)


def test_in_python_processes_give_the_same_of_anything_that_is_a_run(folder: Path, shared_out: None) -> None:
    runs = {"dict": {"1": {"d3": 2.0, "d5": 1.0}}, "path": folder / "runs" / "0.run", "file": None}
    result = []
    for jobs in (1, 2):
        runs["file"] = io.BytesIO(run_of(3).encode())
        with pytest.warns(gradedeval.EvaluationWarning, match="4 of 5 judged topics are missing"):
            result.append(gradedeval.evaluate(runs, str(folder / "qrels.txt"), "ap ndcg", jobs=jobs).means_by_run)
    assert result[0] == result[1]
    assert nobody_is_left()


SIX = [f"{seed}.run" for seed in range(6)]


def names(outcome: Outcome) -> list[str]:
    """Return the runs of a csv."""
    return [line.partition(",")[0] for line in outcome.text.splitlines()[1:]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("runs",), [*SIX, "packed.run", "short.run"]),
        (("runs/",), [*SIX, "packed.run", "short.run"]),
        (("runs/[0-5].run",), SIX),
        (("run?/0.run", "runs/packed*"), ["0.run", "packed.run"]),
        (("**/[12].run",), ["1.run", "2.run"]),
        (("[odd].run",), ["[odd].run"]),
    ],
)
def test_folders_and_patterns_are_runs(words: tuple[str, ...], expected: list[str], folder: Path, cli: Command) -> None:
    (folder / "[odd].run").write_text(run_of(1))
    outcome = cli(*words, "qrels.txt", "-m", "ap", "-f", "csv")
    assert names(outcome) == expected


def test_qrels_in_the_folder_of_the_runs_are_no_run(folder: Path, cli: Command) -> None:
    (folder / "runs" / "bad.run").unlink()
    (folder / "qrels.txt").rename(folder / "runs" / "qrels.txt")
    outcome = cli("runs", "runs/qrels.txt", "-m", "ap", "-f", "csv")
    assert (outcome.code, names(outcome)) == (0, [*SIX, "packed.run", "short.run"])


def test_a_name_that_is_no_text_survives(folder: Path, cli: Command) -> None:
    name = os.fsdecode(b"runs/\xff.run")
    Path(name).write_text(run_of(1))
    for word in (name, "runs/\udcff*"):
        outcome = cli(word, "qrels.txt", "-m", "ap", "-f", "csv", "--run-name", "file")
        assert (outcome.code, outcome.out.count(b",ap,")) == (0, 1)


def test_thousands_of_runs_have_names_of_their_own() -> None:
    paths = [f"a/{index % 7}/{index}.run" for index in range(5000)] + ["b/1/1.run"]
    names = file_names(paths)
    assert len(set(names)) == len(paths)
    assert (names[0], names[1], names[-1]) == ("0.run", "a/1/1.run", "b/1/1.run")


@pytest.mark.one_in(2)
@linux
@pytest.mark.parametrize("always", [False, True])
def test_a_run_on_which_a_process_dies_is_scored_by_another_which_may_die_too(
    always: bool, folder: Path, cli: Command, shared_out: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = cli("runs/[0-5].run", "qrels.txt", *LONG)
    parent, died = os.getpid(), folder / "died"

    def dies(name: str, *given: Any, **how: Any) -> Any:
        if name == "3.run" and os.getpid() != parent and (always or not died.exists()):
            died.touch()
            os._exit(9)
        return score_run(name, *given, **how)

    monkeypatch.setattr("gradedeval.kernel.scoring.sharing.score_run", dies)
    monkeypatch.setattr(executors, "can_fork", lambda: True)  # whatever threads other tests have left
    outcome = cli("runs/[0-5].run", "qrels.txt", *LONG, "--jobs", "2")
    if not always:
        assert outcome == expected
    else:
        message = "3.run: a worker process died; it may be out of memory; try --jobs 1"
        assert (outcome.code, outcome.messages[0]) == (1, message)
        lines = [line for line in expected.out.splitlines() if not line.startswith(b"3.run")]
        assert outcome.out.splitlines() == lines


@linux
def test_processes_do_not_multiply(folder: Path, shared_out: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes score two large files and six small ones, without any of their own."""
    forks, log = os.fork, folder / "forks"
    log.touch()

    def counted() -> int:
        with log.open("a") as lines:
            lines.write(f"{os.getpid()}\n")
        return forks()

    for name in ("large.run", "larger.run"):
        (folder / name).write_text(run_of(1) + "".join(f"x{index} Q0 d1 1 1 t\n" for index in range(900)))
    monkeypatch.setattr(os, "fork", counted)
    monkeypatch.setattr(executors, "can_fork", lambda: True)
    monkeypatch.setattr(parallel, "LIMITS", Limits(small_runs=0, large_file=10000, segment=1000, block=1 << 8))
    paths = [folder / "large.run", *(folder / "runs" / name for name in SIX), folder / "larger.run"]
    with pytest.warns(gradedeval.EvaluationWarning, match="900 unjudged topics"):
        result = gradedeval.evaluate(paths, str(folder / "qrels.txt"), "ap", jobs=2)
    assert list(result.means_by_run) == ["large.run", *SIX, "larger.run"]
    assert log.read_text().split() == [str(os.getpid())] * 2


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore:.*topics? not judged")
def test_beside_other_threads_processes_are_spawned(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Whole runs are shared, and one in segments, whose topics alternate."""
    lines = [f"{topic} Q0 d{index} {index} {60 - index}.5 t\n" for index in range(20) for topic in range(1, 40)]
    (folder / "turns.run").write_text("".join(lines))
    monkeypatch.setattr(parallel, "LIMITS", Limits(small_runs=0, large_file=5000, segment=3000, block=800))
    paths = [folder / "runs" / name for name in SIX]
    expected = [
        gradedeval.evaluate(runs, str(folder / "qrels.txt"), "ap ndcg@10", topics="run", residuals=True).frame
        for runs in (paths, folder / "turns.run")
    ]
    monkeypatch.setattr("threading.active_count", lambda: 2)
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("forked"))
    for runs, frame in zip((paths, folder / "turns.run"), expected, strict=True):
        result = gradedeval.evaluate(
            runs, str(folder / "qrels.txt"), "ap ndcg@10", topics="run", residuals=True, jobs=2
        )
        assert result.frame.equals(frame)


def test_in_a_library_nothing_is_forked_unless_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("forked"))
    monkeypatch.setattr(parallel, "LIMITS", Limits(small_runs=0, large_file=0))
    result = gradedeval.evaluate([folder / "runs" / name for name in SIX], str(folder / "qrels.txt"), "ap")
    assert len(result.means_by_run) == 6


def test_topics_of_many_runs_are_kept_once(folder: Path, shared_out: None) -> None:
    qrels = gradedeval.Qrels(folder / "qrels.txt")
    runs = {name: folder / "runs" / name for name in SIX}
    for jobs in (1, 2):
        result = evaluate_runs(runs, qrels, gradedeval.parse_measures("ap"), Options(), workers=Workers(jobs))
        assert len({id(run.topics) for run in result.runs}) == 1
        assert result.runs[0].topics == ["1", "2", "3", "4", "5"]


@pytest.mark.one_in(2)
@linux
@pytest.mark.parametrize("target", ["all", "parent"])
def test_ctrl_c_ends_at_once_without_litter(target: str, folder: Path) -> None:
    """Runs that never come keep both processes waiting; Ctrl-C at a terminal goes to all, `kill -INT` to one."""
    for name in ("never.run", "neither.run"):
        os.mkfifo(folder / name)
    script = (
        "from gradedeval.kernel import parallel; parallel.LIMITS = parallel.Limits(small_runs=0);"
        "from gradedeval.cli import main; main()"
    )
    words = ["never.run", "neither.run", *(f"runs/{name}" for name in SIX), "qrels.txt", "-o", "out.csv", "--jobs", "2"]
    original = sorted(folder.rglob("*"))
    code, message, group = interrupted(
        script, *words, folder=folder, when=lambda group: len(processes_of(group)) == 3, all_of_them=target == "all"
    )
    assert (code, message) == (130, b"interrupted; nothing was written\n")
    assert processes_of(group) == []
    assert sorted(folder.rglob("*")) == original


@pytest.mark.parametrize("jobs", [1, 2])
def test_of_one_large_run_the_bar_sees_parts(jobs: int, folder: Path) -> None:
    seen: list[tuple[int, int, str]] = []

    def progress(pieces: Any, count: int, label: str = "runs") -> Iterator[Any]:
        for number, piece in enumerate(pieces, 1):
            seen.append((number, count, label))
            yield piece

    shared = Workers(jobs, progress, Limits(large_file=0, segment=600, block=600))
    for names in (["0.run"], ["0.run", "1.run"]):
        paths = {name: folder / "runs" / name for name in names}
        evaluate_runs(paths, folder / "qrels.txt", gradedeval.parse_measures("ap"), Options(), workers=shared)
    parts = [(number, count) for number, count, label in seen if label == "parts"]
    assert len(parts) > 1
    assert [number for number, _ in parts] == list(range(1, len(parts) + 1))
    assert abs(parts[-1][0] - parts[-1][1]) <= 2  # of a file that one process reads the number is an estimate
    assert [step for step in seen if step[2] == "runs"] == [(1, 1, "runs"), (1, 2, "runs"), (2, 2, "runs")]


def test_the_simple_reader_reads_invalid_segments(folder: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{topic} Q0 d{index} {index} {60 - index}.5 t\n" for topic in range(1, 40) for index in range(20)]
    lines[700] = "36 Q0 d0 1 many t\n"
    (folder / "late.run").write_text("".join(lines))
    expected = cli("late.run", "qrels.txt", "--jobs", "1")
    assert expected.messages[-1] == "late.run:701: score 'many' is not a number; expected a finite decimal such as 12.5"
    monkeypatch.setattr(parallel, "LIMITS", Limits(large_file=0, segment=900, block=400))
    assert cli("late.run", "qrels.txt", "--jobs", "3") == expected


@linux
def test_a_pipe_of_a_dead_process_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch, cli: Command) -> None:
    """Half of the pipe is gone: the rest must not be scored as if it were all."""
    monkeypatch.setattr(parallel, "LIMITS", Limits(small_runs=0))
    parent = os.getpid()

    def dies(name: str, *given: Any, **how: Any) -> Any:
        if name == "stdin" and os.getpid() != parent:
            os._exit(9)
        return score_run(name, *given, **how)

    monkeypatch.setattr("gradedeval.kernel.scoring.sharing.score_run", dies)
    piped = (folder / "runs" / SIX[0]).read_bytes()
    outcome = cli("-", f"runs/{SIX[1]}", "qrels.txt", "-m", "num_ret", "-f", "csv", "--jobs", "2", stdin=piped)
    assert (outcome.code, outcome.messages[0]) == (1, "stdin: a worker process died; run it again from a file")
    assert outcome.out.count(b"num_ret") == 1


@pytest.mark.parametrize(
    ("where", "words", "message", "new"),
    [
        ("gradedeval.kernel.evaluate_runs", ("--history", "h", "-o", "t.csv"), "nothing was written", []),
        ("gradedeval.cli.commands.evaluate.write", ("--history", "h", "-o", "t.csv"), "only h was written", ["h"]),
        ("gradedeval.cli.commands.evaluate.write", ("--record", "r", "-o", "t"), "only r was written", ["r"]),
        ("gradedeval.cli.commands.evaluate.write", (), "nothing was written", []),
        ("gradedeval.cli.options.report_written_files", ("-o", "t"), "only t was written", ["t"]),
        ("gradedeval.cli.options.print_count_of_other_notes", (), "the output may be incomplete", []),
    ],
)
def test_an_interruption_names_the_written_files(
    where: str, words: tuple[str, ...], message: str, new: list[str], folder: Path, cli: Command,
    monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupt)
    names_before = {path.name for path in folder.iterdir()}
    outcome = cli("runs/1.run", "qrels.txt", "-m", "ap", "--quiet", *words)
    assert (outcome.code, outcome.messages) == (130, [f"interrupted; {message}"])
    assert [path.name for path in folder.iterdir() if path.name not in names_before] == new
