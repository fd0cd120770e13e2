"""`--record` and `verify`: the contents of a record, differences from it, and messages about broken records."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import gradedeval
from gradedeval.cli.commands.evaluate import command as evaluate_command
from gradedeval.errors import InputError
from gradedeval.kernel.scoring.records import SCHEMA
from gradedeval.questions.verify import violations
from support.commands import Command, environment, python, succeed
from support.paths import QRELS, ROOT, SAMPLES
from support.web import web_of

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is missing: pip install '.[test]'")

RUNS = ("bm25.run", "neural.run")
SCHEMA_FILE = ROOT / "docs" / "reference" / "record.schema.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write two runs and qrels, and the record of their scores."""
    for name in RUNS:
        shutil.copy(SAMPLES / f"rivers-{name}", tmp_path / name)
    shutil.copy(QRELS, tmp_path / "rivers.qrels")
    return tmp_path


def record(cli: Command, *words: str) -> dict[str, Any]:
    """Return the record of an evaluation that conforms to its schema."""
    succeed(cli(*words, "--record", "result.json", "--quiet"))
    content = json.loads(Path("result.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, SCHEMA)
    return dict(content)


def rewrite(content: dict[str, Any], name: str = "result.json") -> None:
    Path(name).write_text(json.dumps(content), encoding="utf-8")


def test_a_record_has_inputs_settings_and_scores(cli: Command, folder: Path) -> None:
    content = record(cli, *RUNS, "rivers.qrels", "-m", "map ndcg@10", "--depth", "100")
    for entry, name in zip(content["inputs"], (*RUNS, "rivers.qrels"), strict=True):
        data = (folder / name).read_bytes()
        assert (entry["path"], entry["size"], entry["sha256"]) == (name, len(data), hashlib.sha256(data).hexdigest())
    scores = gradedeval.evaluate(list(RUNS), "rivers.qrels", "map ndcg@10", depth=100)
    assert content["settings"] == {"depth": 100}
    assert content["measures"] == [{"label": "map", "notation": "ap"}, {"label": "ndcg@10", "notation": "ndcg@10"}]
    assert (content["gradedeval"], content["signature"]) == (gradedeval.__version__, scores.signature)
    for run in RUNS:
        for label in ("map", "ndcg@10"):
            expected = {"mean": scores.means_by_run[run][label], "topics": scores.by_topic(label, run)}
            assert content["scores"][run][label] == expected


def test_python_writes_the_same_record(cli: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = record(cli, *RUNS, "rivers.qrels", "-m", "map", "--depth", "100")
    monkeypatch.chdir(folder)
    scores = gradedeval.evaluate(list(RUNS), "rivers.qrels", "map", depth=100, record=Path("python.json"))
    assert json.loads(Path("python.json").read_text(encoding="utf-8")) == content
    assert gradedeval.verify("python.json").same
    assert "sha256 of qrels" in scores.signature


def test_moved_files_verify(cli: Command, folder: Path) -> None:
    record(cli, *RUNS, "rivers.qrels", "-m", "map rbp", "-q")
    assert succeed(cli("verify", "result.json")).text == "same: 3 inputs, 204 scores\n"
    elsewhere = folder / "elsewhere"
    (elsewhere / "runs").mkdir(parents=True)
    for name in RUNS:
        shutil.move(folder / name, elsewhere / "runs" / name)
    shutil.move(folder / "rivers.qrels", elsewhere / "renamed.qrels")
    shutil.move(folder / "result.json", elsewhere / "result.json")
    missing = cli("verify", "elsewhere/result.json")
    *absent, last = missing.text.splitlines()
    assert (missing.code, last) == (1, "different: 3 of 3 inputs; not evaluated again")
    assert absent[0] == "bm25.run: not found beside the record; name the file, or its folder"
    assert len(absent) == 3
    outcome = cli("verify", "elsewhere/result.json", "elsewhere/runs", "elsewhere/renamed.qrels")
    assert (outcome.code, outcome.text, outcome.err) == (0, "same: 3 inputs, 204 scores\n", b"")


def test_runs_of_the_same_name_are_distinguished_by_folders(cli: Command, folder: Path) -> None:
    for name, run in zip(("a", "b"), RUNS, strict=True):
        (folder / name).mkdir()
        shutil.move(folder / run, folder / name / "x.run")
    record(cli, "a/x.run", "b/x.run", "rivers.qrels", "-m", "map")
    shutil.move(folder / "a", folder / "c")
    assert succeed(cli("verify", "result.json", "c", "b/x.run")).text == "same: 3 inputs, 102 scores\n"


def test_one_byte_of_a_run_is_found(cli: Command, folder: Path) -> None:
    record(cli, *RUNS, "rivers.qrels", "-m", "map")
    run = folder / RUNS[1]
    original = run.read_bytes()
    docno = original.split()[2]
    after = original.replace(docno, docno[:-1] + b"x", 1)  # the first document of the first topic is no longer judged
    assert sum(first != second for first, second in zip(original, after, strict=True)) == 1
    run.write_bytes(after)
    outcome = cli("verify", "result.json")
    lines = outcome.text.splitlines()
    assert outcome.code == 1
    digest = hashlib.sha256(after).hexdigest()[:12]
    assert lines[0].startswith(f"neural.run: {RUNS[1]} is another file: SHA-256 {digest}")
    assert any(line.startswith("neural.run, map, topic 301: ") and "differs by " in line for line in lines)
    assert lines[-1] == "different: 1 of 3 inputs, 2 of 102 scores"


def test_one_byte_of_the_qrels_is_found(cli: Command, folder: Path) -> None:
    record(cli, *RUNS, "rivers.qrels", "-m", "ndcg")
    data = (folder / "rivers.qrels").read_bytes()
    (folder / "rivers.qrels").write_bytes(data.replace(b" 1\n", b" 2\n", 1))
    outcome = cli("verify", "result.json")
    assert outcome.code == 1
    assert outcome.text.startswith("rivers.qrels: rivers.qrels is another file")
    assert "settings: 'qrels " in outcome.text
    (folder / "rivers.qrels").write_bytes(data[:-1])  # no score depends on it
    assert cli("verify", "result.json").text.splitlines()[-1] == "different: 1 of 3 inputs, 0 of 102 scores"


def test_malformed_input_ends_without_traceback(cli: Command, folder: Path) -> None:
    record(cli, *RUNS, "rivers.qrels", "-m", "ndcg")
    (folder / RUNS[0]).write_bytes(b"x" * 154_600)
    outcome = cli("verify", "result.json")
    assert (outcome.code, outcome.err) == (1, b"")
    assert "not evaluated again: bm25.run" in outcome.text


def test_another_version_is_compared_within_a_tolerance(cli: Command, folder: Path) -> None:
    content = record(cli, *RUNS, "rivers.qrels", "-m", "map")
    mean = content["scores"][RUNS[0]]["map"]["mean"]
    cases = (5e-13, "0.0.9", 0), (5e-12, "0.0.9", 1), (5e-13, gradedeval.__version__, 1), (0, "0.0.9", 0)
    for change, version, expected in cases:
        content["gradedeval"], content["scores"][RUNS[0]]["map"]["mean"] = version, mean + change
        rewrite(content)
        outcome = cli("verify", "result.json")
        assert outcome.code == expected, (change, version)
        assert ("recorded by gradedeval 0.0.9, this is" in outcome.text) == (version == "0.0.9")


@pytest.mark.parametrize(
    ("setting", "score", "text"),
    [
        ({"depth": 5}, True, "settings: 'depth 5' does not follow"),
        ({"gain": "exp"}, True, "settings: 'ndcg: exp gains' does not follow"),
        ({"topics": "both"}, False, "settings: 'topics both' does not follow"),
    ],
)
def test_changed_settings_are_found(
    setting: dict[str, Any], score: bool, text: str, cli: Command, folder: Path
) -> None:
    content = record(cli, *RUNS, "rivers.qrels", "-m", "ndcg")
    rewrite({**content, "settings": setting})
    outcome = cli("verify", "result.json")
    assert outcome.code == 1
    assert text in outcome.text
    assert ("differs by" in outcome.text) == score


def test_a_changed_score_is_reported_with_its_difference(cli: Command, folder: Path) -> None:
    content = record(cli, *RUNS, "rivers.qrels", "-m", "map")
    topics = content["scores"][RUNS[0]]["map"]["topics"]
    topics["301"] += 0.25
    del topics["302"]
    rewrite(content)
    outcome = cli("verify", "result.json")
    first, second, last = outcome.text.splitlines()
    assert first.startswith("bm25.run, map, topic 302: blank in the record, ")
    assert second.startswith("bm25.run, map, topic 301: ")
    assert second.endswith("(differs by 0.25)")
    assert last == "different: 0 of 3 inputs, 2 of 102 scores"
    result = gradedeval.verify(folder / "result.json")
    assert [difference.topic for difference in result.scores] == ["302", "301"]
    assert not result


# Every option that reads a file.

FILES = {
    "prior": "301 1 1\n",
    "topics": "301\n302\n303\n304\n",
    "costs": "Q0 2\n",
    "fill": "topic,docno,gain\n301,nothing,0.5\n",
    "gains.csv": "grade,gain\n-2,0\n0,0\n1,0.2\n2,0.5\n3,0.7\n4,0.9\n",
    "weights.csv": "rank,weight\n1,0.7\n2,0.3\n",
    "topic-weights.csv": "".join(["topic,weight\n", *(f"{topic},{topic - 300}\n" for topic in range(301, 351))]),
    "systems": "bm25.run one\nneural.run one\n",
    "queries.tsv": "topic\tquery\n301\tone\n",
    "labels.tsv": "topic\tkind\n301\ta\n302\ta\n303\tb\n",
    "own.py": "import gradedeval\n\n\n@gradedeval.measure\ndef found(g):\n    return gradedeval.row_sums(g.relevant)\n",
}
READS: dict[str, tuple[str, ...]] = {
    "costs": ("--costs", "costs", "-m", "rbp(of=ec)"),
    "fill": ("--fill", "fill", "-m", "err"),
    "collapse": ("--collapse", "chunks", "-m", "map"),
    "collapse_qrels": ("--collapse-qrels", "other-chunks", "-m", "map"),
    "queries": ("--queries", "queries.tsv", "-q"),
    "slices": ("--slices", "labels.tsv"),
    "replicates": ("--replicates", "systems"),
    "predicted": ("--predicted", "machine.qrels"),
    "topics_from": ("--topics-from", "topics"),
    "topic_weights": ("--topic-weights", "topic-weights.csv"),
    "measures_from": ("--measures-from", "own.py", "-m", "found"),
    "reference": ("--reference", "reference.csv", "-m", "map"),
    "gain": ("--gain", "@gains.csv", "-m", "ndcg"),
    "measure": ("-m", "wp(file=weights.csv)"),
    "baselines": ("--baseline", "bm25.run", "-f", "markdown"),
    "files": (),
}


def test_the_walk_has_every_option_that_reads_a_file() -> None:
    params = evaluate_command.params
    reading = [param for param in params if getattr(param, "file", "") == "reads" or isinstance(param, click.Argument)]
    assert {param.name for param in reading} == READS.keys() - {"gain", "measure"}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("option", READS)
def test_files_of_options_are_recorded_and_found_again(option: str, cli: Command, folder: Path, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    documents = {line.split()[2] for name in (*RUNS, "rivers.qrels") for line in Path(name).read_text().splitlines()}
    for name in ("chunks", "other-chunks"):
        (folder / name).write_text("".join(f"{document},{document}\n" for document in sorted(documents)))
    shutil.copy(QRELS, folder / "machine.qrels")
    with (folder / "machine.qrels").open("a") as lines:
        lines.write("".join(f"{topic} 0 d 1\n{topic} 0 e 0\n" for topic in range(1000, 1010)))
    succeed(cli(*RUNS, "rivers.qrels", "-m", "map", "--save-reference", "reference.csv"))
    words = READS[option]
    content = record(cli, *RUNS, "rivers.qrels", *words)
    named = [word.rpartition("@")[2].removeprefix("wp(file=").rstrip(")") for word in words]
    expected = {name for name in named if (folder / name).is_file()} - {*RUNS}
    assert {entry["path"] for entry in content["inputs"]} == {*RUNS, "rivers.qrels"} | expected
    assert bool(expected) == (option not in ("files", "baselines"))
    elsewhere = tmp_path / "other" / "deep"
    elsewhere.mkdir(parents=True)
    for entry in content["inputs"]:
        shutil.move(folder / entry["path"], elsewhere / entry["path"])
    outcome = cli("verify", "result.json", "other/deep")
    assert outcome.text.startswith(f"same: {3 + len(expected)} inputs, "), outcome
    for name in expected - {"queries.tsv"}:
        with (elsewhere / name).open("a") as file:
            file.write("\n")
        assert f"{name}: other/deep/{name} is another file" in cli("verify", "result.json", "other/deep").text


def test_code_runs_only_if_its_file_is_named(cli: Command, folder: Path) -> None:
    (folder / "own.py").write_text(FILES["own.py"] + "\nopen('ran', 'w').close()\n")
    record(cli, *RUNS, "rivers.qrels", "--measures-from", "own.py", "-m", "found")
    (folder / "ran").unlink()
    outcome = cli("verify", "result.json")
    problem = "result.json: 'own.py' is code; read it, and name it after the record to run it"
    assert (outcome.code, outcome.messages) == (1, [problem])
    assert not (folder / "ran").exists()
    succeed(cli("verify", "result.json", "own.py"))
    assert (folder / "ran").exists()


def test_settings_of_a_record_read_no_file(cli: Command, folder: Path) -> None:
    (folder / "secret").write_text("301 0 secret-docno 1\n")
    content = record(cli, *RUNS, "rivers.qrels", "-m", "map")
    for changed in (
        {"settings": {"topics_from": "secret"}},
        {"settings": {"predicted": str(folder / "secret")}},
        {"settings": {"gain": "@secret"}},
        {"settings": {"reference": "secret"}},
        {"measures": [{"label": "map", "notation": "wp(file=secret)"}]},
        {"settings": {"measures_from": ["secret"]}},
    ):
        rewrite({**content, **changed})
        outcome = cli("verify", "result.json")
        assert (outcome.code, len(outcome.messages)) == (1, 1), (changed, outcome)
        assert "secret-docno" not in outcome.messages[0]


# Sources of bytes.


@pytest.mark.parametrize("pack", [None, "gz"])
def test_standard_input_is_digested_as_read(pack: str | None, cli: Command, folder: Path) -> None:
    import gzip

    data = (folder / RUNS[0]).read_bytes()
    data = gzip.compress(data) if pack else data
    succeed(cli("-", "rivers.qrels", "-m", "map", "--record", "result.json", "--quiet", stdin=data))
    content = json.loads((folder / "result.json").read_text())
    entry = content["inputs"][0]
    assert (entry["path"], entry["sha256"]) == ("-", hashlib.sha256(data).hexdigest())
    assert "standard input: not found" in cli("verify", "result.json").text
    (folder / "saved").write_bytes(data)
    assert succeed(cli("verify", "result.json", "saved")).text == "same: 2 inputs, 51 scores\n"


def test_pipes_and_compressed_files(folder: Path) -> None:
    script = "gzip -k neural.run && {0} <(cat bm25.run) neural.run.gz rivers.qrels -m map --record r.json --quiet"
    words = ["bash", "-c", script.format(f"{sys.executable} -m gradedeval")]
    subprocess.run(words, cwd=folder, env=environment(), check=True, capture_output=True, timeout=60)
    content = json.loads((folder / "r.json").read_text())
    for entry, name in zip(content["inputs"], ("bm25.run", "neural.run.gz", "rivers.qrels"), strict=True):
        assert entry["sha256"] == hashlib.sha256((folder / name).read_bytes()).hexdigest()
    assert gradedeval.verify(folder / "r.json", folder).same


def test_urls_are_digested_as_fetched_and_recorded_without_credentials(cli: Command, folder: Path) -> None:
    data = (folder / RUNS[0]).read_bytes()
    pytest.importorskip("aiohttp", reason="fsspec needs it for http")
    with web_of({"/a.run?token=hush": data}) as web:
        url = web.address.replace("://", "://user:hush@") + "/a.run?token=hush"
        succeed(cli(url, "rivers.qrels", "-m", "map", "--record", "result.json", "--quiet"))
    text = (folder / "result.json").read_text()
    assert "hush" not in text
    assert json.loads(text)["inputs"][0]["sha256"] == hashlib.sha256(data).hexdigest()
    (folder / "a.run").write_bytes(data)
    assert succeed(cli("verify", "result.json")).text == "same: 2 inputs, 51 scores\n"


def test_an_ir_metadata_header_is_copied(cli: Command, folder: Path) -> None:
    header = "# ir_metadata.start\n# platform:\n#   hardware:\n#     cpu: x\n# ir_metadata.end\n"
    (folder / RUNS[0]).write_text(header + (folder / RUNS[0]).read_text())
    content = record(cli, *RUNS, "rivers.qrels", "-m", "map")
    copied = [entry.get("ir_metadata") for entry in content["inputs"]]
    assert copied == ["platform:\n  hardware:\n    cpu: x", None, None]
    (folder / RUNS[0]).write_text((folder / RUNS[0]).read_text().replace("# ir_metadata.end\n", ""))
    outcome = cli(*RUNS, "rivers.qrels", "-m", "map", "--record", "result.json")
    assert any("the header of ir_metadata does not end" in line for line in outcome.messages)


# Digests elsewhere.


def test_only_json_and_the_full_signature_compute_digests(cli: Command, folder: Path) -> None:
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (*RUNS, "rivers.qrels")}
    part = f"sha256 of qrels {digests['rivers.qrels'][:12]}, run {digests['bm25.run'][:12]}"
    words = (RUNS[0], "rivers.qrels", "-m", "map")
    content = json.loads(succeed(cli(*words, "-f", "json")).out)
    assert content["inputs"]["runs"] == {"bm25.run": {"sha256": digests["bm25.run"], "size": 154_600}}
    assert content["inputs"]["qrels"]["sha256"] == digests["rivers.qrels"]
    assert content["signature"].endswith(part)
    assert part in succeed(cli(*words, "--signature", "full")).words
    assert "sha256" not in succeed(cli(*words)).text
    assert "sha256" not in succeed(cli(*words, "--record", "result.json")).text
    code = "import sys\nfrom gradedeval.cli import main\nfor form in ('csv', 'jsonl', 'table'):\n"
    code += f"    try: main([*{words!r}, '-f', form])\n    except SystemExit as end: assert end.code == 0\n"
    code += "print('gradedeval.kernel.trec.digests' in sys.modules, file=sys.stderr)"
    assert python("-c", code, folder=folder).stderr.splitlines()[-1] == "False"


def test_scores_of_different_files_compare_with_digests(cli: Command, folder: Path) -> None:
    for name in RUNS:
        succeed(cli(name, "rivers.qrels", "-m", "map", "-q", "--signature", "full", "-f", "csv", "-o", f"{name}.csv"))
    outcome = succeed(cli("compare", *(word for name in RUNS for word in ("--from-scores", f"{name}.csv"))))
    assert not any("sha256" in line for line in outcome.messages)


# Inputs that cannot be recorded, or outputs that cannot be written.


def test_inputs_without_bytes_are_refused(cli: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    run, judged = {"q1": {"d1": 1.0}}, {"q1": {"d1": 1}}
    custom = gradedeval.measure(lambda g: gradedeval.row_sums(g.relevant))
    for arguments, keywords, text in (
        ((run, "rivers.qrels", "ap"), {}, "an object in memory has no bytes to digest"),
        ((RUNS[0], judged, "ap"), {}, "the qrels: an object in memory"),
        ((RUNS[0], "rivers.qrels", custom), {}, "is defined in this session"),
        ((RUNS[0], "rivers.qrels", "err"), {"fill": gradedeval.Options}, "fill: an object in memory"),
    ):
        with pytest.raises(InputError, match=text):
            gradedeval.evaluate(*arguments, record="result.json", **keywords)
    named = cli(RUNS[0], "robust04", "-m", "ap", "--record", "result.json")
    assert (named.code, "'robust04' is not a file" in named.messages[0]) == (2, True)
    assert cli(RUNS[0], "rivers.qrels", "--record", "-").code == 2
    assert not Path("result.json").exists()


def test_failures_leave_no_partial_record_and_keep_inputs(
    cli: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = (folder / RUNS[0]).read_bytes()
    assert cli(*RUNS, "rivers.qrels", "--record", RUNS[0]).code == 2
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="is also an input file"):
        gradedeval.evaluate(RUNS[0], "rivers.qrels", "ap", record=RUNS[0])
    assert (folder / RUNS[0]).read_bytes() == original
    assert cli(*RUNS, "rivers.qrels", "--record", "none/result.json").code == 1
    Path("result.json").write_text("kept")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gradedeval.kernel.trec.atomic_write._sync", full)
    outcome = cli(*RUNS, "rivers.qrels", "-m", "ap", "--record", "result.json", "--quiet")
    assert (outcome.code, outcome.out) == (1, b"")
    assert outcome.messages == ["result.json: cannot be written (No space left on device); nothing was written"]
    assert Path("result.json").read_text() == "kept"
    assert {path.name for path in folder.iterdir()} == {*RUNS, "rivers.qrels", "result.json"}


def test_a_failed_run_leaves_no_record(cli: Command, folder: Path) -> None:
    (folder / "bad.run").write_text("301 Q0 x\n")
    outcome = cli(RUNS[0], "bad.run", "rivers.qrels", "-m", "ap", "--record", "result.json", "--keep-going")
    assert outcome.code == 1
    assert outcome.messages[-1] == "1 of 2 runs is not scored, and result.json is not written"
    assert not (folder / "result.json").exists()


def test_a_run_that_changes_meanwhile_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradedeval.kernel.scoring import records

    monkeypatch.chdir(folder)
    original = records.with_digests

    def touched(*arguments: Any) -> Any:
        with Path(RUNS[0]).open("a") as file:
            file.write("\n")
        return original(*arguments)

    monkeypatch.setattr(records, "with_digests", touched)
    with pytest.raises(InputError, match="has changed while it was read"):
        gradedeval.evaluate(RUNS[0], "rivers.qrels", "ap", record="result.json")


# Malformed and hostile records.

MALFORMED: list[Any] = [
    None, True, 0, -1, 1.5, 1e308, 10**30, "", "x", "@", "-", "inf", "nan", "\ud800", "\0", "../../etc/passwd",
    "/etc/passwd", "err@99999999999", "memory://x", [], {}, [[]], [None], {"": None}, ["-", "-"], {"a": {"b": "c"}},
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every place in a value of JSON."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def mutated(content: Any, draw: random.Random) -> Any:
    """Return a record with a value, a name or an entry changed."""
    content = json.loads(json.dumps(content))
    (*outer, last) = draw.choice([path for path in places(content) if path])
    container = content
    for key in outer:
        container = container[key]
    change = draw.choice(("value", "value", "remove", "rename", "setting"))
    if change == "setting":
        name = draw.choice([*gradedeval.kernel.options.OPTIONS, "measures_from", "reference", "standardize", "odd"])
        content["settings"][name] = draw.choice(MALFORMED)
    elif change == "remove":
        del container[last]
    elif change == "rename" and isinstance(container, dict):
        container[draw.choice(("x", "run", "", "sha256"))] = container.pop(last)
    else:
        container[last] = draw.choice(MALFORMED)
    return content


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_fuzzed_records_end_in_one_line(count: int, cli: Command, tmp_path: Path) -> None:
    """Check a record changed in `count` ways: no traceback, one line on stderr or a result, and the schemas agree."""
    small = ["1 Q0 d1 1 9 t", "1 Q0 d2 2 8 t", "2 Q0 d1 1 9 t"]
    Path("a.run").write_text("\n".join(small) + "\n")
    Path("b.run").write_text("\n".join(small[:2]) + "\n")
    Path("q").write_text("1 0 d1 1\n1 0 d2 0\n2 0 d1 0\n2 0 d3 2\n")
    Path("w.csv").write_text("rank,weight\n1,0.7\n2,0.3\n")
    content = record(cli, "a.run", "b.run", "q", "-m", "map wp(file=w.csv)", "--depth", "5", "--topics", "both")
    checker = jsonschema.Draft202012Validator(SCHEMA)
    succeed(cli("verify", "result.json"))
    for seed in range(count):
        draw = random.Random(seed)
        changed = mutated(content, draw)
        if draw.random() < 0.3:
            changed = mutated(changed, draw)
        text = json.dumps(changed)
        if draw.random() < 0.1:
            cut = draw.randrange(len(text))
            text = text[:cut] + draw.choice(("", "\0", "[" * 5000, "9" * 5000, "\x1b[2J", "NaN")) + text[cut + 1 :]
        else:
            assert checker.is_valid(changed) == (not any(violations(changed, SCHEMA))), changed
        Path("fuzzed.json").write_text(text)
        outcome = cli("verify", "fuzzed.json")
        assert outcome.code in (0, 1), (seed, outcome)
        assert bool(outcome.out) != bool(outcome.code == 1 and outcome.err), (seed, outcome)
        if not outcome.out:
            assert len(outcome.lines) == 1, (seed, outcome)
            assert outcome.lines[0].startswith("fuzzed.json: "), (seed, outcome)


def test_the_page_of_the_schema_is_the_schema(pytestconfig: pytest.Config) -> None:
    text = json.dumps(SCHEMA, indent=1) + "\n"
    if pytestconfig.getoption("--golden"):
        SCHEMA_FILE.write_text(text, encoding="utf-8")
    assert SCHEMA_FILE.read_text(encoding="utf-8") == text
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(("words", "code"), [("", 2), ("none.json", 1), ("--depth 5 result.json", 2)])
def test_usage(words: str, code: int, cli: Command) -> None:
    outcome = cli("verify", *words.split())
    assert (outcome.code, outcome.out) == (code, b"")
