"""Runs and qrels in object storage: moto's S3 server on the loopback."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradedeval.kernel.trec import remote
from support.commands import Command
from support.paths import SAMPLES
from support.storage import KEYS, keys_without_rights, storage_of_samples

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def storage() -> Iterator[Any]:
    with storage_of_samples() as files:
        yield files


@pytest.fixture
def bucket(storage: Any, tmp_path: Path) -> str:
    shutil.copytree(SAMPLES, tmp_path / "here")
    (tmp_path / "runs").mkdir()
    for path in (tmp_path / "here").glob("*.run*"):
        shutil.move(path, tmp_path / "runs" / path.name) if path.name.startswith("rivers") else path.unlink()
    return "s3://bucket"


WORDS = ("-m", "err@20 ndcg@10", "-q", "-f", "csv", "--topics", "both")


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("large", [remote.LARGE, 1 << 10])
def test_what_lies_in_a_bucket_scores_as_what_lies_here(
    bucket: str, jobs: str, large: int, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "LARGE", large)
    here = cli("runs/*", "here/rivers.qrels", *WORDS, "--jobs", "1")
    for pattern in ("runs/*", "runs/")[: 3 - int(jobs)]:
        far = cli(f"{bucket}/{pattern}", f"{bucket}/rivers.qrels", *WORDS, "--jobs", jobs)
        assert (far.code, far.out) == (0, here.out)
        assert far.err == here.err.replace(b"here/", b"s3://bucket/").replace(b"runs/", b"s3://bucket/runs/")


FAULTS = {
    "runs/none.run": "no such file; check the URL",
    "runs": "is a folder; add / for the files in it",
    "none*": "names no file; check the URL",
    "../none/x.run": "no such bucket; check the URL",
    "../none/*": "no such bucket; check the URL",
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_missing_is_one_line(name: str, bucket: str, cli: Command) -> None:
    url = f"{bucket}/{name}".replace("bucket/../", "")
    done = cli(url, "here/rivers.qrels", "-m", "ap")
    assert (done.code, done.out, done.messages) == (1, b"", [f"{url}: {FAULTS[name]}"])


def test_nothing_is_written_into_a_bucket_that_is_not_there(bucket: str, storage: Any, cli: Command) -> None:
    run = f"{bucket}/runs/rivers-bm25.run"
    done = cli(run, f"{bucket}/rivers.qrels", "-m", "ap", "-o", "s3://none/x.csv", "--quiet")
    assert (done.code, done.messages) == (1, ["s3://none/x.csv: no such bucket; nothing was written; check the URL"])
    assert cli(run, f"{bucket}/rivers.qrels", "-m", "ap", "-o", f"{bucket}/x.csv", "--quiet").code == 0
    assert storage.cat("bucket/x.csv") == cli(run, "here/rivers.qrels", "-m", "ap", "-f", "csv").out


def test_an_object_that_changes_while_it_is_read_says_so(
    bucket: str, storage: Any, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, window = f"{bucket}/changing.run", remote.RemoteFile._next_window
    content = (SAMPLES / "rivers-bm25.run").read_bytes()
    storage.pipe("bucket/changing.run", content)

    def changing(self: remote.RemoteFile, at: int, end: int) -> None:
        window(self, at, end)
        storage.pipe("bucket/changing.run", content.replace(b"bm25", b"bm26"))

    monkeypatch.setattr(remote.RemoteFile, "_next_window", changing)
    for large in (remote.LARGE, 0):
        monkeypatch.setattr(remote, "LARGE", large)
        storage.pipe("bucket/changing.run", content)
        done = cli(url, "here/rivers.qrels", "-m", "ap")
        message = f"{url}: has changed while it was read; evaluate it when it is complete"
        assert (done.code, done.messages) == (1, [message])


def test_without_credentials_a_line_says_where_they_go(
    bucket: str, process: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in KEYS:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    done = process(f"{bucket}/runs/rivers-bm25.run", "here/rivers.qrels", "-m", "ap")
    assert done.code == 1
    where = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    assert done.messages == [
        f"{bucket}/runs/rivers-bm25.run: permission denied (Unable to locate credentials); {where}"
    ]


WHERE = "AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and what they allow"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (dict.fromkeys(KEYS, "wrong-key"), "(InvalidAccessKeyId)"),
        ({KEYS[1]: "wrong-key"}, "(SignatureDoesNotMatch)"),
        ({}, "(AccessDenied)"),
    ],
    ids=["unknown", "wrong", "no rights"],
)
def test_keys_that_a_bucket_refuses_are_one_line_without_them(
    changed: dict[str, str], why: str, bucket: str, process: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with keys_without_rights() as keys, monkeypatch.context() as patch:
        for name, key in (keys | changed).items():
            patch.setenv(name, key)
        done = process(f"{bucket}/runs/*", "here/rivers.qrels", "-m", "ap", "-o", f"{bucket}/x.csv")
    assert (done.code, done.out, len(done.messages)) == (1, b"", 1)
    assert done.messages[0].startswith(f"{bucket}/runs/*: permission denied (An error occurred {why} ")
    assert done.messages[0].endswith(f"; check {WHERE}")
    assert not [key for key in (keys | changed).values() if key in done.messages[0]]
