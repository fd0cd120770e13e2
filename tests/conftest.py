"""Options and fixtures that several test files share."""

import gc
import io
import subprocess
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import settings

from gradedeval.cli import main
from support.commands import HIDDEN, Outcome, environment
from support.paths import DATA
from support.processes import end_fsspec

PATCHED = """
    analysis.greatest_differences analysis.reversals analysis.pictures analysis.score_matrix questions.to_judge
    kernel.parallel kernel.parallel.executors
    kernel.rankings.docnos kernel.rankings.grade kernel.rankings.qrels
    kernel.rankings.segments kernel.rankings.submissions
    kernel.scoring.caveats kernel.scoring.intervals kernel.scoring.sharing
    kernel.trec.blocks kernel.trec.documents kernel.trec.line_reader kernel.trec.remote kernel.trec.tokenizer
"""
"""Modules that tests patch: the modules themselves, and not what stands for them until they are imported."""
for name in PATCHED.split():
    import_module(f"gradedeval.{name}")

# `--hypothesis-profile=ci` or `full` takes its place.
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="rewrite golden files and the documentation, then review")


def pytest_configure(config: pytest.Config) -> None:
    if absent := [
        word for word in config.args if not (config.invocation_params.dir / word.partition("::")[0]).exists()
    ]:
        raise pytest.UsageError(f"no file {', '.join(absent)}")  # pytest-xdist would run nothing, and say nothing
    if config.getoption("--golden"):  # some pages are rewritten by tests that the quick run leaves out
        config.option.markexpr = ""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Freeze the collected items for the garbage collector: they are many and stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out tests of the shared data if it is missing, and in the quick run most cases of a test marked
    `one_in`."""
    absent = pytest.mark.skip("the shared data are not beside this checkout")
    counted: Counter[str] = Counter()
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker(pytest.mark.exhaustive if DATA.is_dir() else absent)
        if (sample := item.get_closest_marker("one_in")) and not item.get_closest_marker("exhaustive"):
            name = item.nodeid.partition("[")[0]
            if counted[name] % sample.args[0]:
                item.add_marker(pytest.mark.exhaustive)
            counted[name] += 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Yield the report of a test. One with text that is not Unicode, such as the name of a file, could not be sent
    by a process of pytest-xdist, which would end without saying which test failed."""
    report = yield
    try:
        str(report.longrepr).encode()
    except UnicodeEncodeError:
        report.longrepr = str(report.longrepr).encode(errors="backslashreplace").decode()
    return report


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """Fail a test that leaves a thread: beside one no process is forked, in any later test."""
    running = set(threading.enumerate())
    yield
    if "fsspec.asyn" in sys.modules:
        end_fsspec()
    assert not set(threading.enumerate()) - running


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., Outcome]:
    """Return `cli("run.txt", "qrels.txt", stdin=b"")`: the command line in `tmp_path`, in this process, which is
    faster.

    An exception that is not a message of ours comes out as it is; a warning on stderr that is none fails the test.
    """
    monkeypatch.chdir(tmp_path)

    def run(*words: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            with pytest.raises(SystemExit) as stop:
                main(words)
        warnings_shown = [str(warning) for warning in caught if not issubclass(warning.category, HIDDEN)]
        assert not warnings_shown
        return Outcome(int(stop.value.code or 0), *capfdbinary.readouterr())

    return run


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., Outcome]:
    """Return `process("run.txt", "qrels.txt", stdin=b"", stdout=None)`: the command line in a process of its own.

    stdout  a file or descriptor to write to, of which the outcome then knows nothing
    """

    def run(
        *words: str, stdin: bytes = b"", stdout: IO[Any] | int | None = None, python: Sequence[str] = ()
    ) -> Outcome:
        done = subprocess.run(
            [sys.executable, *python, "-m", "gradedeval", *words],
            cwd=tmp_path,
            env=environment(),
            input=stdin,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        return Outcome(done.returncode, done.stdout or b"", done.stderr)

    return run
