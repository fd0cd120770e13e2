"""A folder that tests of file formats share."""

from pathlib import Path

import pytest

from support.file_formats import TREC_QRELS, TREC_RUN


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command line works: with trec.run and trec.qrels, which files of other formats are compared with."""
    (tmp_path / "trec.run").write_text(TREC_RUN)
    (tmp_path / "trec.qrels").write_text(TREC_QRELS)
    monkeypatch.chdir(tmp_path)
    return tmp_path
