"""Real click logs, as the converters in examples/ write them; tests are skipped if the data are missing."""

import io
import runpy
import sys
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

from gradedeval import clicks
from support.paths import DATA, ROOT

CLICKMODEL_WC, SESSION_TRACK = DATA / "clicks" / "clickmodel_wc", DATA / "clicks" / "sessiontrack2013.xml"
COVID = DATA / "covid-round1"


def clickmodel_wc(*names: str) -> io.BytesIO:
    """Return files of clickmodel_wc as a click log."""
    return io.BytesIO(_converted("clickmodel_wc_log.py", *(str(CLICKMODEL_WC / name) for name in names)))


def session_track() -> io.BytesIO:
    """Return the session track of 2013 as a click log."""
    return io.BytesIO(_converted("session_track_log.py", str(SESSION_TRACK)))


def all_judged(collection: Path) -> dict[str, dict[str, int]]:
    """Return the qrels of a collection in which unjudged documents among the first ten of any run have grade 0."""
    qrels: dict[str, dict[str, int]] = {}
    for line in (collection / "qrels.txt").read_text().splitlines():
        topic, _, docno, grade = line.split()
        qrels.setdefault(topic, {})[docno] = int(grade)
    log = clicks.simulate("rr", collection / "runs", collection / "qrels.txt", sessions=1)
    for topic, docnos in zip(log.topics, log.shown, strict=True):
        qrels[topic] = dict.fromkeys(docnos, 0) | qrels[topic]
    return qrels


@cache
def _converted(script: str, *words: str) -> bytes:
    out, arguments = io.StringIO(), sys.argv
    sys.argv = [script, *words]
    try:
        with redirect_stdout(out):
            runpy.run_path(str(Path(ROOT) / "examples" / script))
    finally:
        sys.argv = arguments
    return out.getvalue().encode()
