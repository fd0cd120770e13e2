"""Runs and qrels at URLs are read through fsspec."""

import gzip
import socket
import sys
from pathlib import Path

import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.errors import redacted
from gradedeval.kernel.scoring.evaluate import file_names, named_runs
from gradedeval.kernel.trec import remote
from gradedeval.kernel.trec.remote import fault
from gradedeval.kernel.trec.stream import files_of

RUN, QRELS = "1 Q0 a 1 2 t\n2 Q0 b 1 1 t\n1 Q0 b 2 1 t\n", "1 0 b 1\n2 0 b 1\n"


@pytest.fixture
def bucket() -> str:
    """Make a folder in memory with two runs and their qrels."""
    files = pytest.importorskip("fsspec", reason="fsspec is not installed").filesystem("memory")
    for name in ("x.run", "y.run"):
        files.pipe(f"/bucket/runs/{name}", RUN.encode())
    files.pipe("/bucket/qrels.gz", gzip.compress(QRELS.encode()))
    return "memory://bucket"


def test_a_url_is_a_file_a_folder_or_a_pattern(bucket: str) -> None:
    qrels = f"{bucket}/qrels.gz"
    assert gradedeval.evaluate(f"{bucket}/runs/x.run", qrels, "rr").means == {"rr": 0.75}
    for word in (f"{bucket}/runs/*.run", f"{bucket}/runs/"):
        assert [run.run for run in gradedeval.evaluate(word, qrels, "rr").runs] == ["x.run", "y.run"]


def test_listed_urls_are_not_patterns(bucket: str) -> None:
    pytest.importorskip("fsspec").filesystem("memory").pipe("/bucket/odd/[1].run", RUN.encode())
    assert files_of(files_of(f"{bucket}/odd/")[0]) == [f"{bucket}/odd/[1].run"]


def test_runs_of_the_same_name_are_called_by_their_urls() -> None:
    assert file_names(["s3://a/x.run", "gs://a/x.run"]) == ["s3://a/x.run", "gs://a/x.run"]
    assert file_names(["s3://a/x.run", "s3://b/x.run", "c/x.run"]) == ["a/x.run", "b/x.run", "c/x.run"]
    with pytest.raises(InputError, match=r"^run 's3://a/x\.run' is given twice; give each run once"):
        named_runs(["s3://a/x.run"] * 2)
    with pytest.raises(InputError, match=r"^two URLs are called 'https://a/run'; score each by itself"):
        named_runs(["https://a/run?id=1", "https://a/run?id=2"])


@pytest.mark.parametrize(
    ("name", "message"),
    [("runs/z.run", "bucket/runs/z.run: no such file; check the URL"), ("runs/*.txt", "names no file; check the URL")],
)
def test_a_url_without_files_is_an_error(bucket: str, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("*", r"\*")):
        gradedeval.evaluate(f"{bucket}/{name}", {"1": {"a": 1}}, "rr")


def test_a_missing_package_is_one_line_with_its_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    for package, protocols in {"s3fs": ["s3"], "gcsfs": ["gs"], "fsspec": ["memory", "https"]}.items():
        monkeypatch.setitem(sys.modules, package, None)
        for protocol in protocols:
            with pytest.raises(InputError) as error:
                gradedeval.evaluate(f"{protocol}://bucket/x.run", {"1": {"a": 1}}, "rr")
            message = str(error.value).removeprefix(
                f"{protocol}://bucket/x.run: needs a package that is not installed ("
            )
            why, _, hint = message.partition("); ")
            assert package in why
            assert hint == "pip install 'gradedeval[remote]' and the fsspec package of the storage, such as s3fs"


@pytest.mark.parametrize(
    ("listens", "message"),
    [
        (True, "no complete response within 0.2 seconds; try again, or wait longer, as with GRADEDEVAL_TIMEOUT=300"),
        (False, "cannot be reached ("),
    ],
)
def test_silence_is_one_line_without_password(listens: bool, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")
    monkeypatch.setenv("GRADEDEVAL_TIMEOUT", "0.2" if listens else "20")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if not listens:
            server.close()
        with pytest.raises(InputError) as error:
            gradedeval.evaluate(f"http://me:secret@127.0.0.1:{port}/x.run?sig=secret", {"1": {"a": 1}}, "rr")
    assert str(error.value).startswith(f"http://…@127.0.0.1:{port}/x.run?…: {message}")
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("seconds", ["soon", "0", "nan"])
def test_a_time_limit_is_a_number_of_seconds(seconds: str, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADEDEVAL_TIMEOUT", seconds)
    with pytest.raises(InputError, match=r"^GRADEDEVAL_TIMEOUT: '.*' is not a number of seconds above 0; as in"):
        gradedeval.Qrels(f"{bucket}/qrels.gz")


class Answered(Exception):
    """A library's error with the status of the server's answer and a long text."""

    status_code = 403


class ContentLengthError(Exception):
    """An error by the name that aiohttp gives a connection that ended early."""


def missing_for(status: int) -> FileNotFoundError:
    """Return the error that fsspec raises for a response of a web server."""
    error, error.__cause__ = FileNotFoundError("https://host/run"), Answered("Failed")
    error.__cause__.status_code = status
    return error


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("https://host/run", missing_for(404), "no such file; check the URL"),
        ("https://host/run", missing_for(503), "the server fails (Failed); try again later"),
        (
            "https://host/run",
            ContentLengthError("400"),
            "the connection ended before the whole file arrived; try again",
        ),
        (
            "az://bucket/run",
            Answered("Server failed to authenticate the request.\nRequestId:1\n<Error>\n</Error>"),
            "permission denied (Server failed to authenticate the request); check the credentials, and what they allow",
        ),
        ("gs://bucket/run", ValueError("too large a block"), "cannot be opened (too large a block); check the URL"),
    ],
    ids=["missing", "server fails", "cut off", "wrong key", "another fault"],
)
def test_errors_of_libraries_are_recognized(url: str, error: Exception, message: str) -> None:
    """Check errors in the form in which libraries raise them."""
    assert str(fault(url, error)) == f"{url}: {message}"


@pytest.mark.parametrize(
    ("url", "printed"),
    [
        ("https://me:pass@host/a/b.run", "https://…@host/a/b.run"),
        ("https://token@host/b.run?X-Amz-Signature=1#2", "https://…@host/b.run?…"),
        ("abfs://container@account.example/b.run", "abfs://container@account.example/b.run"),
        ("s3://bucket/a@b.run", "s3://bucket/a@b.run"),
        ("HTTPS://me:pass@host/b.run", "HTTPS://…@host/b.run"),
        ("https://me:p@ss@host/b.run", "https://…@host/b.run"),
        ("1_x://me:pass@host/b.run", "1_x://…@host/b.run"),
        ("see https://u:p@h/x?k=1 and s3://b/c", "see https://…@h/x?… and s3://b/c"),
        ("no url?x@y", "no url?x@y"),
    ],
)
def test_credentials_in_a_url_are_not_shown(url: str, printed: str) -> None:
    assert redacted(url) == printed


def test_neither_names_nor_signature_nor_measures_show_a_password(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    monkeypatch.setattr(fsspec.implementations.memory.MemoryFileSystem, "_strip_protocol", classmethod(stripped))
    weights, secret = f"{bucket}/w.csv?sig=secret", f"{bucket}/runs/x.run?sig=secret"
    pytest.importorskip("fsspec").filesystem("memory").pipe("/bucket/w.csv", b"1,0.5\n2,0.5\n")
    scores = gradedeval.evaluate(secret, f"{bucket}/qrels.gz?sig=secret", [f'wp(file="{weights}")', "rr"])
    assert [run.run for run in scores.runs] == ["x.run"]
    for text in (str(scores), scores.signature, scores.frame.to_csv(), *scores.notes, *scores.means):
        assert "secret" not in str(text)
    assert "?…" in scores.signature


def stripped(files: type, path: str) -> str:
    """Return a path in memory without the parameters of a signed URL."""
    return "/" + path.removeprefix("memory://").strip("/").partition("?")[0]


def test_a_file_that_changes_during_reading_is_an_error(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files, window = pytest.importorskip("fsspec").filesystem("memory"), remote._next_window

    def changing(file: object) -> bytes:
        got = window(file)
        files.pipe("/bucket/runs/x.run", RUN.encode() * 2)
        return got

    monkeypatch.setattr(remote, "_next_window", changing)
    with pytest.raises(InputError, match=r"x.run: has changed while it was read; evaluate it when it is complete"):
        gradedeval.evaluate(f"{bucket}/runs/x.run", {"1": {"a": 1}}, "rr")


def test_folders_and_patterns_are_runs_in_python_too(tmp_path: Path) -> None:
    for name in ("b.run", "a.run"):
        (tmp_path / name).write_text(RUN)
    (tmp_path / "qrels").write_text(QRELS)
    for word in (tmp_path, f"{tmp_path}/*.run"):
        runs = gradedeval.evaluate(word, tmp_path / "qrels", "rr").runs
        assert [run.run for run in runs] == ["a.run", "b.run"]
    with pytest.raises(InputError, match="matches no file"):
        gradedeval.evaluate(f"{tmp_path}/*.txt", {"1": {"a": 1}}, "rr")
