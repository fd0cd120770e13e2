"""Every place of the command line that takes a file takes a URL, and says the same."""

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from support.commands import Command, Outcome
from support.dated import dated
from support.generated_docs import LEAVES

FOLDER = "memory://files/"

RUNS = {
    "runs/a.run": "1 Q0 d1 1 9 t\n1 Q0 d2 2 8 t\n2 Q0 d1 1 9 t\n2 Q0 d3 2 8 t\n3 Q0 d1 1 2 t\n3 Q0 d2 2 1 t\n",
    "runs/b.run": "1 Q0 d2 1 9 t\n1 Q0 d1 2 8 t\n2 Q0 d3 1 9 t\n3 Q0 d9 1 9 t\n3 Q0 d2 2 8 t\n",
    "c.run": "1 Q0 d2 1 9 t\n2 Q0 d3 1 9 t\n3 Q0 d2 1 9 t\n",
}
FILES = {
    **RUNS,
    "qrels": "1 0 d1 2\n1 0 d2 0\n2 0 d3 1\n2 0 d1 0\n3 0 d1 1\n3 0 d2 2\n",
    "other.qrels": "1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n2 0 d1 1\n3 0 d1 1\n3 0 d2 0\n",
    "intents": "1 1 d1 1\n1 2 d2 1\n2 1 d3 1\n3 1 d2 1\n3 2 d1 1\n",
    "prior": "1 1 0.3\n1 2 0.7\n2 1 1\n3 1 0.5\n3 2 0.5\n",
    "topics": "1\n2\n",
    "costs": "Q0 2\n",
    "topic-weights": "topic,weight\n1,2\n2,1\n3,1\n",
    "chunks": "d1,d1\nd2,d1\nd3,d3\nd9,d3\n",
    "fill": "topic,docno,gain\n3,d9,0.5\n",
    "gains.csv": "grade,gain\n0,0\n1,0.2\n2,0.9\n",
    "weights.csv": "rank,weight\n1,0.7\n2,0.3\n",
    "phi": "0.9\n0.5\n",
    "systems": "a.run one\nb.run one\n",
    "groups": "a.run one\nb.run two\n",
    "check.toml": 'min = { "err@20" = 0.01 }\ntopics-from = "topics"\n',
    "norms": "1 map 0.5 0.2\n2 map 0.5 0.2\n3 map 0.5 0.2\n",
    "d.run": "".join(f"{topic} Q0 d{topic % 3} 1 9 t\n" for topic in range(8)),
    "e.run": "".join(f"{topic} Q0 d{topic % 5 % 2} 1 9 t\n" for topic in range(8)),
    "people.qrels": "".join(f"{topic} 0 d{topic % 2} {topic % 2 + 1}\n" for topic in range(5)),
    "machine.qrels": "".join(f"{topic} 0 d{topic % 3 % 2} {topic % 2 + 1}\n" for topic in range(8)),
    "q.tsv": "topic\tquery\tkind\n1\tone\ta\n2\ttwo\ta\n3\tthree\tb\n",
    "labels": "topic\tkind\n1\ta\n2\ta\n3\tb\n",
    "log": "topic\tshown\tclicks\n1\td1 d2\t1\n1\td1 d2\t1 2\n2\td1 d3\t2\n3\td2 d1\t1\n2\td1 d3\t\n",
}
LINES = """
{runs/} {c.run} {qrels} -m err@5 --history {kept.jsonl}
{runs/*.run} {qrels} -m err@5 -q -o {saved.csv}
{runs/a.run} {qrels} -m 'wp(file={weights.csv}) cascade(utility=@{phi})'
{runs/a.run} {qrels} -m 'err@5 ap' --gain @{gains.csv} --topics-from {topics}
{runs/a.run} {qrels} -m rbp --costs {costs}
{runs/a.run} {qrels} -m rbp --topic-weights {topic-weights}
{runs/a.run} {qrels} -m rbp --collapse {chunks} --collapse-qrels {chunks}
{runs/b.run} {qrels} -m err@5 --fill {fill}
{runs/} {qrels} -m err@5 --replicates {systems}
{runs/b.run} {qrels} -m err@5 -q --queries {q.tsv} --slices {labels}
{d.run} {people.qrels} -m err@5 --predicted {machine.qrels}
{runs/a.run} {intents} -m 'ia(err@5,prior=@{prior})' --subtopics
{runs/} {c.run} {qrels} -m err@5 --record {record.json}
verify {record.json} {runs/} {c.run} {qrels}
{runs/} {qrels} -m err@5 --save-reference {reference.csv}
{runs/} {qrels} -m err@5 --reference {reference.csv}
{runs/} {qrels} -m err@5 --baseline {runs/a.run} -f latex
history {kept.jsonl}
compare {d.run} {e.run} {people.qrels} -m err@5 --predicted {machine.qrels}
compare {c.run} {qrels} -m err@5 --baseline {saved.csv}:a.run
compare --from-scores {saved.csv} --baseline a.run
check {runs/a.run} {qrels} --config {check.toml} --baseline {c.run} --history {checked.jsonl}
explain {runs/a.run} {qrels} -m err@5 --topic 1
diff {runs/a.run} {runs/b.run} {qrels} -m err@5
diff {runs/a.run} {runs/b.run} {qrels} -m err@5 --reproduce {c.run} {runs/a.run}
pool {runs/*.run} {qrels} --groups {groups}
agreement {qrels} {other.qrels} {runs/*.run}
fit {runs/a.run} {runs/b.run} {c.run} {qrels} -m 'rbp(p=0.5..0.9)' --to ap --precision 0.1 --validate {topics}
fit -m 'rbp(p=0.5..0.9)' --precision 0.1 --to-weights {weights.csv} --curve {curve.csv}
power {runs/*.run} {c.run} {qrels} -m err@5 --draws 20 --curve {power.csv}
lint {runs/a.run} --qrels {qrels} -o {lint.json}
weights {runs/a.run} {qrels} -m ap
pr {runs/a.run} {qrels}
trec_eval -Z {norms} -m map {qrels} {runs/a.run}
clicks observe {log}
clicks fit {log} --weights {weights.csv}
clicks models {log} --test-log {log} --write-model {model.json} --write-relevance {relevance.csv} --min-seen 0
clicks simulate {runs/a.run} --model-from {model.json} --sessions 5
clicks simulate {runs/a.run} {qrels} --as rr --sessions 5
"""

# What holds a word of these as its value, as its help page calls it, is a file. A measure may name one as well.
WORDS = ("FILE", "RUN", "QRELS", "LOG", "SCORES", "BASE ADVANCED")
ELSEWHERE = {"--measures-from": "it would be executed", "--output": "-o"}


@pytest.fixture
def files(tmp_path: Path) -> Iterator[None]:
    """Yield the files, here and in memory."""
    memory = pytest.importorskip("fsspec", reason="fsspec is not installed").filesystem("memory")
    (tmp_path / "runs").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
        memory.pipe(f"/files/{name}", text.encode())
    yield
    memory.rm("/files", recursive=True)


def text_of(outcome: Outcome) -> tuple[int, list[bytes], list[bytes]]:
    """Return the words of an outcome, without times of a history: columns are as wide as their URLs."""
    out, err = (
        re.sub(rb"-{3,}|[\d-]{10} \d\d:\d\d", b"", text).replace(FOLDER.encode(), b"")
        for text in (outcome.out, outcome.err)
    )
    return outcome.code, out.split(), err.split()


QUICK_AND_ALL = pytest.mark.parametrize(
    "lines", [LINES[: LINES.index("history")], pytest.param(LINES, marks=pytest.mark.exhaustive)]
)


OUTPUT = re.compile(
    r"(?<= )(-o|--history|--record|--save-reference|--curve|--write-model|--write-relevance) \{(\S+?)\}"
)


@QUICK_AND_ALL
def test_every_place_takes_urls(lines: str, cli: Command, files: None, tmp_path: Path) -> None:
    """Every place that reads takes URLs, and every place that writes takes file:///."""
    import fsspec

    memory, far_away = fsspec.filesystem("memory"), tmp_path / "far"
    far_away.mkdir()
    for line in lines.strip().split("\n"):
        here = cli(*shlex.split(line.replace("{", "").replace("}", "")))
        line_of_urls = OUTPUT.sub(rf"\1 {far_away.as_uri()}/\2", line).replace("{", FOLDER).replace("}", "")
        far = cli(*shlex.split(line_of_urls))
        assert here.code == 0, (line, here)
        assert text_of(far) == text_of(here), line
        for _, name in OUTPUT.findall(line):
            content = (far_away / name).read_bytes()
            assert dated(content.replace(FOLDER.encode(), b"")) == dated((tmp_path / name).read_bytes())
            memory.pipe(f"/files/{name}", content)
    assert {path.name for path in far_away.iterdir()} == {name for _, name in OUTPUT.findall(lines)}


@QUICK_AND_ALL
def test_no_place_writes_to_another_url(lines: str, cli: Command, files: None, tmp_path: Path) -> None:
    """Writing to another URL is refused before anything is read: there is no run of that name."""
    for line in lines.strip().split("\n"):
        for flag, name in OUTPUT.findall(line):
            for url in ("s3://bucket/", "memory://", "reference://", "https://me:secret@host/"):
                words = OUTPUT.sub(r"\1 \2", line.replace(f"{flag} {{{name}}}", f"{flag} {url}{name}"))
                done = cli(*shlex.split(words.replace("{", "none/").replace("}", "")))
                assert (done.code, done.out, len(done.messages)) == (2, b"", 1), words
                place = f"{url}{name}".replace("me:secret", "…")
                assert done.messages[0].startswith(
                    f"{place}: is a URL, but only local files can be written; name a file"
                )
                assert done.messages[0].endswith("-o - | COMMAND")


@QUICK_AND_ALL
def test_no_place_takes_a_protocol_that_is_not_allowed(
    lines: str, cli: Command, files: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for line in lines.strip().split("\n"):
        here = line.replace("{", "").replace("}", "")
        assert cli(*shlex.split(here)).code == 0
        for name in re.findall(r"\{(.*?)\}", OUTPUT.sub("", line)):
            hostile = line.replace(f"{{{name}}}", f"reference://{name}").replace("{", "").replace("}", "")
            done = cli(*shlex.split(hostile))
            document = (tmp_path / "lint.json").read_bytes() if line.startswith("lint") else b""
            assert b"uses the protocol 'reference', which is not allowed" in done.err + document, hostile
            assert (done.code, done.out) in ((1, b""), (2, b"")), hostile


def test_no_option_that_takes_a_file_is_forgotten() -> None:
    tested = {word.partition("=")[0] for word in LINES.split()} | ELSEWHERE.keys()
    of_files = {
        (option.opts[-1], option.opts[0])
        for command in LEAVES.values()
        for option in command.params
        if isinstance(option, click.Option) and any(word in (option.metavar or "") for word in WORDS)
    }
    assert {long for long, short in of_files if not {long, short} & tested} == set()
    assert len(of_files) > 20


def test_files_from_a_url_are_not_executed(cli: Command, files: None) -> None:
    done = cli("c.run", "qrels", "--measures-from", f"{FOLDER}own.py")
    message = "is a URL; code from a URL is never executed; copy the file, read it, and name the copy"
    assert (done.code, done.messages) == (2, [f"{FOLDER}own.py: {message}"])
