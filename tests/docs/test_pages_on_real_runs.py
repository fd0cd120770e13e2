"""The pages of topics, slices, seeds, tables, collections and gates on real runs: each command as it stands there ends
well, fits a terminal and shows the means of plain loops. tests/questions/test_sections_on_real_runs.py compares all
other numbers of such commands with loops."""

import re
from pathlib import Path

import pytest

from support.paths import shared
from support.real_pages import REAL, mean, played, raw, scores, tables, too_wide

pytestmark = [shared, pytest.mark.filterwarnings("default::gradedeval.EvaluationWarning")]

PAGES = {
    "topics-and-slices.md": 2,
    "seeds.md": 0,
    "latex-table.md": 0,
    "compare-two-systems.md": 25,
    "named-collections.md": 0,
    "gate-ci.md": 0,
    "report.md": 0,
}
"""Page -> how many means of real runs its tables show."""


@pytest.mark.parametrize("page", PAGES)
def test_a_page_works_on_real_runs(page: str, tmp_path: Path) -> None:
    session, compared = played(page, tmp_path), 0
    assert session.commands
    for command, code, output in session.commands:
        assert (code, "Traceback" in output, raw(output)) == (0, False, []), (command, output)
        if not re.search(r"-f (latex|markdown|tsv)", command):
            assert too_wide(output) == [], command
        (measure,) = re.findall(r"-m '?(\w+@?\d*)", command)[:1] or [""]
        for row in (row for table in tables(output) for row in table):
            run = row.get("run", "").removesuffix(".run")
            if run not in REAL.values() or {"relevant", "parity"} & row.keys():
                continue
            columns = {"mean": row.get("measure", measure), **{name: name for name in scores(run)}}
            for column, name in columns.items():
                if column in row and name in scores(run):
                    assert float(row[column]) == pytest.approx(mean(run, name), abs=0.000051), command
                    compared += 1
    assert compared == PAGES[page]
