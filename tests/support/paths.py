"""Paths: the checkout, its samples, and the data shared beside it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLES = ROOT / "qrels_samples"
QRELS = str(SAMPLES / "rivers.qrels")

# Real runs and judgments, and the output of other tools for them: beside the checkout, if at all.
DATA = ROOT.parent / "shared" / "data"
shared = pytest.mark.shared
