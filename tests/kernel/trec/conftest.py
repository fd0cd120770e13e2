"""A folder that tests of file formats share."""

from pathlib import Path

import pytest

from support.file_formats import TREC_QRELS, TREC_RUN


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with trec.run and trec.qrels, the references for files of other formats."""
    (tmp_path / "trec.run").write_text(TREC_RUN)
    (tmp_path / "trec.qrels").write_text(TREC_QRELS)
    monkeypatch.chdir(tmp_path)
    return tmp_path
