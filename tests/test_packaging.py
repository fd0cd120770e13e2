"""The published wheel and source archive: their files, and a wheel that needs no checkout."""

from __future__ import annotations

import contextlib
import email.message
import email.parser
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from support.paths import ROOT

buildapi = pytest.importorskip("flit_core.buildapi", reason="the build backend is missing: pip install '.[test]'")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel by the build backend alone."""
    folder = tmp_path_factory.mktemp("built")
    with contextlib.chdir(ROOT):
        assert buildapi.get_requires_for_build_wheel() == []
        return folder / str(buildapi.build_wheel(str(folder)))


def test_the_wheel_has_its_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        about = email.parser.HeaderParser().parsestr(packed.read(name).decode())
    assert (about["Name"], about["License-Expression"], about["License-File"]) == ("gradedeval", "MIT", "LICENSE")
    assert about["Requires-Python"] == ">=3.11"
    assert about["Description-Content-Type"] == "text/markdown"
    assert "Typing :: Typed" in about.get_all("Classifier", [])
    assert "Topic :: Scientific/Engineering :: Information Analysis" in about.get_all("Classifier", [])
    assert about["Author"] == "the gradedeval authors"  # as in LICENSE
    for minor in range(11, 15):
        assert f"Programming Language :: Python :: 3.{minor}" in about.get_all("Classifier", [])
    needed = {re.split(r"[<>=!~ ]", line)[0] for line in about.get_all("Requires-Dist", []) if "extra ==" not in line}
    assert needed == {"click", "numpy", "pandas", "scipy", "tabulate"}


def test_the_wheel_works_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    parts = (path.relative_to(ROOT) for path in (ROOT / "gradedeval").rglob("*") if path.is_file())
    missing = [part for part in parts if "__pycache__" not in part.parts and not (tmp_path / "site" / part).exists()]
    assert missing == []
    words = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers.qrels", "-m", "err@20", "-f", "csv", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", "import gradedeval; print(gradedeval.__file__); from gradedeval.cli import main; main()"]
        + [str(ROOT / word) if "/" in word else word for word in words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=True,
    )
    place, header, line = done.stdout.splitlines()
    assert place.startswith(str(tmp_path / "site"))
    assert header == "run,topic,measure,score,signature"
    assert line.startswith("rivers-bm25.run,all,err@20,0.2886")


def test_the_source_archive_has_the_tests_and_their_files(tmp_path: Path) -> None:
    with contextlib.chdir(ROOT), tarfile.open(tmp_path / str(buildapi.build_sdist(str(tmp_path)))) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "gradedeval/py.typed", "tests/conftest.py"):
        assert name in names
    assert {"docs/tutorial.md", "examples/gradedeval.toml", "qrels_samples/rivers.qrels", "tests/lowest.txt"} <= names
