"""Test collections by name: reading, downloads on request, and the conventions of each."""

import importlib
import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import InputError, Qrels
from gradedeval.kernel.trec import named_qrels
from support import fake_ir_datasets
from support.commands import Command, succeed
from support.fake_ir_datasets import Far
from support.paths import ROOT

JUDGED = b"1 0 a 1\n1 0 b 2\n2 0 a 0\n2 0 c 3\n"
DL19 = "msmarco-passage/trec-dl-2019/judged"
NOTE = "dl19-passage: ap: grade 1 counts as relevant, but by convention only grades from 2 do; add --rel 2"
TERMS = (
    "dl19-passage: downloaded by ir_datasets, which keeps it; https://ir-datasets.com has the terms of each collection"
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.txt").write_text("1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n2 Q0 c 1 3 t\n")
    (tmp_path / "qrels.txt").write_bytes(JUDGED)
    return tmp_path


@pytest.fixture
def far(files: Path, monkeypatch: pytest.MonkeyPatch) -> Far:
    """Return the package with an empty cache."""
    return fake_ir_datasets.install(monkeypatch, files / "home", {DL19: JUDGED})


def fill_cache(files: Path, dataset: str) -> None:
    path = files / "home" / dataset / "qrels"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(JUDGED)


def test_a_name_means_the_judgments_in_the_cache(files: Path, far: Far, cli: Command) -> None:
    fill_cache(files, DL19)
    plain, judgments = (
        cli("run.txt", qrels, "-m", "ap ndcg@10", "-f", "json") for qrels in ("qrels.txt", "dl19-passage")
    )
    assert [row["score"] for row in json.loads(judgments.text)["rows"]] == [
        row["score"] for row in json.loads(plain.text)["rows"]
    ]
    signatures = [json.loads(output.text)["signature"] for output in (plain, judgments)]
    digest = Qrels("qrels.txt").digest
    assert [f"qrels {digest}" in signature for signature in signatures] == [True, True]
    assert f"qrels format ir_datasets:{DL19}" in signatures[1]
    assert far.asked == []


def test_nothing_is_downloaded_without_a_request(files: Path, far: Far, cli: Command) -> None:
    refused = cli("run.txt", "dl19-passage", "-m", "ap")
    assert (refused.code, far.asked) == (1, [])
    assert refused.messages == [
        "dl19-passage: its files are not on this machine; `gradedeval collections dl19-passage --download` fetches them"
    ]
    assert not (files / "home" / DL19 / "qrels").exists()
    fetched = cli("collections", "dl19-passage", "--download")
    assert (fetched.code, fetched.messages, far.asked) == (0, [TERMS], [DL19])
    done = cli("run.txt", "dl19-passage", "-m", "ap")
    assert (done.code, done.messages, far.asked) == (0, [NOTE], [DL19])


def test_queries_are_not_downloaded_either(far: Far, cli: Command) -> None:
    refused = cli("run.txt", "qrels.txt", "-m", "ap", "--queries", f"ir_datasets:{DL19}")
    assert (refused.code, far.asked) == (1, [])
    cure = f"`ir_datasets export {DL19} queries` fetches them"
    assert refused.messages == [f"dl19-passage: its files are not on this machine; {cure}"]
    line = cli("run.txt", "qrels.txt", "-m", "ap", "--queries", "ir_datasets:vaswani")
    assert line.messages == ["ir_datasets:vaswani: unknown to ir_datasets; see https://ir-datasets.com for the names"]


def test_a_keyword_allows_downloads_in_python(far: Far) -> None:
    for function in (Qrels, lambda qrels: gradedeval.evaluate("run.txt", qrels, "ap")):
        cure = "`gradedeval collections dl19-passage --download` fetches them"
        with pytest.raises(InputError, match=rf"^dl19-passage: its files are not on this machine; {cure}$") as error:
            function("dl19-passage")
        assert (error.value.kind, far.asked) == ("download", [])
    with pytest.warns(gradedeval.EvaluationWarning, match="downloaded by ir_datasets"):
        qrels = Qrels("dl19-passage", download=True)
    assert gradedeval.evaluate("run.txt", qrels, "ap(rel=2)")["ap(rel=2)"] == 0.75
    assert Qrels("dl19-passage").digest == Qrels("qrels.txt").digest


def test_every_command_names_the_download_command(far: Far, cli: Command) -> None:
    message = cli("trec_eval", "dl19-passage", "run.txt").messages
    assert message == [
        "dl19-passage: its files are not on this machine; `gradedeval collections dl19-passage --download` fetches them"
    ]
    done = cli("collections", "dl19-passage", "--download")
    assert "judgments    4 of 2 topics, qrels " in done.text
    assert "\nhere         yes\n" in done.text
    (row,) = json.loads(cli("collections", "dl19-passage", "-f", "json").text)["rows"]
    assert (row["rel"], row["here"], row["judgments"][:13]) == (2, "yes", "4 of 2 topics")
    assert cli("trec_eval", "dl19-passage", "run.txt").code == 0
    messages = (
        cli("collections", "ir_datasets:vaswani").messages + cli("trec_eval", "ir_datasets:gov", "run.txt").messages
    )
    assert messages == ["ir_datasets:gov: unknown to ir_datasets; see https://ir-datasets.com for the names"]


def test_a_file_with_the_name_of_a_collection_wins(files: Path, far: Far, cli: Command) -> None:
    (files / "dl19-passage").write_bytes(JUDGED)
    output = cli("run.txt", "dl19-passage", "-m", "ap")
    wins = f"dl19-passage: read from the file of that name; the collection of that name is ir_datasets:{DL19}"
    assert output.messages == [wins]
    assert output.text == cli("run.txt", "qrels.txt", "-m", "ap").text
    with pytest.warns(gradedeval.EvaluationWarning, match="^dl19-passage: read from the file of that name"):
        Qrels("dl19-passage")


@pytest.mark.parametrize(
    ("qrels", "words", "noted"),
    [
        ("dl19-passage", "-m ap", True),
        (f"ir_datasets:{DL19}", "-m ap", True),
        ("dl19-passage", "-m ap --rel 2", False),
        ("dl19-passage", "-m ap --rel 1", False),
        ("dl19-passage", "-m ap(rel=2) -m ndcg@10", False),
        ("dl19-doc", "-m ap", False),
        ("qrels.txt", "-m ap", False),
    ],
)
def test_broken_conventions_are_noted(qrels: str, words: str, noted: bool, files: Path, far: Far, cli: Command) -> None:
    for name in ("dl19-passage", "dl19-doc"):
        fill_cache(files, Qrels.collections()[name].dataset)
    notes = succeed(cli("run.txt", qrels, *words.split()))
    assert any("by convention only grades from 2 do; add --rel 2" in line for line in notes.messages) == noted


def test_unavailable_collections_are_one_line(far: Far, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("collections", "dl20-passage", "--download").messages == [
        "ir_datasets:msmarco-passage/trec-dl-2020/judged: ir_datasets says: no route to host; "
        "try it with the package, or give a file"
    ]
    monkeypatch.delattr(sys.modules["ir_datasets"], "util")
    assert cli("run.txt", "dl19-passage").messages == [
        "dl19-passage: this version of ir_datasets cannot be kept from downloading; "
        "`gradedeval collections dl19-passage --download` fetches them"
    ]
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    assert cli("run.txt", "dl19-passage").messages == [
        "dl19-passage: needs the package ir_datasets; pip install 'gradedeval[collections]'"
    ]


def test_collections_are_listed_with_their_availability(files: Path, far: Far, cli: Command) -> None:
    fill_cache(files, "beir/scifact/test")
    rows = json.loads(cli("collections", "-f", "json").text)["rows"]
    assert {row["name"]: row["here"] for row in rows}["scifact"] == "yes"
    assert [row["name"] for row in rows if row["here"] != "no"] == ["scifact"]
    assert [row["name"] for row in rows] == list(Qrels.collections())
    assert far.asked == []
    assert cli("collections", "scifat").messages == ["no collection 'scifat'; did you mean 'scifact'?"]
    assert cli("collections", "--download").messages == [
        "--download: downloads the collections that are named; give a NAME"
    ]


def test_without_the_package_the_list_names_the_installation(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    for collection in Qrels.collections().values():
        collection.__dict__.pop("is_local", None)
    output = cli("collections")
    assert output.messages == [
        "collections on this machine are unknown without ir_datasets; pip install 'gradedeval[collections]'"
    ]
    assert "dl19-passage" in output.text


def test_missing_data_are_looked_up_once(files: Path, far: Far) -> None:
    """Restore the methods of downloads, also after an error."""
    originals = fake_ir_datasets.RequestsDownload.stream
    for _ in range(2):
        with pytest.raises(InputError):
            Qrels("dl20-doc")
    assert fake_ir_datasets.RequestsDownload.stream is originals


def test_names_and_datasets_are_unique() -> None:
    collections = list(Qrels.collections().values())
    assert len({collection.dataset for collection in collections}) == len(collections) >= 40
    for collection in collections:
        assert gradedeval.parse_measures(collection.measures)
        assert "." not in collection.name
    years = {f"dl{year}-{kind}" for year in range(19, 24) for kind in ("passage", "doc")}
    assert years < set(Qrels.collections())
    assert {name for name, collection in Qrels.collections().items() if collection.rel == 2} == {
        *(f"dl{year}-passage" for year in range(19, 24)), "dl-hard", "dl-hard-doc",
    }  # fmt: skip


def test_ir_datasets_has_the_collections_and_opens_no_socket(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IR_DATASETS_HOME", str(files / "home"))
    for name in [name for name in sys.modules if name.partition(".")[0] == "ir_datasets"]:
        monkeypatch.delitem(sys.modules, name)
    real: Any = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")
    real = importlib.reload(real) if real.util.home_path() != files / "home" else real
    monkeypatch.setattr(socket, "socket", fake_ir_datasets.no_network)
    monkeypatch.setattr(socket, "create_connection", fake_ir_datasets.no_network)
    for collection in Qrels.collections().values():
        assert real.load(collection.dataset).has_qrels(), collection.name
        with pytest.raises(InputError, match="its files are not on this machine"):
            Qrels(collection.name)
    fill_cache(files, "msmarco-passage/trec-dl-2019")
    assert Qrels("dl19-passage").digest == Qrels("qrels.txt").digest
    assert named_qrels.COLLECTIONS["robust04"].dataset == "disks45/nocr/trec-robust-2004"


def test_the_page_quotes_the_messages() -> None:
    page = (ROOT / "docs" / "how-to" / "named-collections.md").read_text(encoding="utf-8")
    cure = "`gradedeval collections dl19-passage --download` fetches them"
    assert f"```text\ndl19-passage: its files are not on this machine;\n  {cure}\n```" in page
    assert f"```text\n{NOTE}\n```" in page
