"""Documents that neither of two runs retrieved: the same assumption, option and line in every command with an order."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from support.commands import Command
from support.runs import write_qrels, write_run

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
RELEVANT = [f"r{number}" for number in range(5)]
RUN_A = {"1": ["x", "n"], "2": ["m", "o", *RELEVANT]}
RUN_B = {"1": ["n", "x"], "2": RELEVANT}
QRELS = {"1": {"x": 1, "n": 0}, "2": {**dict.fromkeys(RELEVANT, 1), "m": 0, "o": 0}}
"""All documents are judged, and A is ahead by topic 1, with its single relevant document."""
LINE = (
    "ndcg: unjudged documents that neither run retrieved are taken as not relevant; use --unseen N to "
    "assume that some are relevant"
)
COMMANDS = {
    "compare": ("compare", "A", "B", "Q", "-m", "ndcg p@1", "--judging"),
    "compare, as csv": ("compare", "A", "B", "Q", "-m", "ndcg p@1", "-f", "csv"),
    "diff": ("diff", "A", "B", "Q", "-m", "ndcg p@1"),
    "check": ("check", "B", "Q", "--baseline", "A", "--max-drop", "ndcg=0.001", "--max-drop", "p@1=0.001"),
    "report": ("report", "A", "B", "Q", "-m", "ndcg p@1", "-o", "page.html"),
    "plot topics": ("plot", "topics", "A", "B", "Q", "-m", "ndcg", "-o", "picture.svg"),
}


def ranked(run: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    return {topic: {docno: -float(rank) for rank, docno in enumerate(docnos)} for topic, docnos in run.items()}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, cli: Command) -> Path:
    for name, run in (("A", RUN_A), ("B", RUN_B)):
        write_run(tmp_path / name, ranked(run))
    write_qrels(tmp_path / "Q", QRELS)
    return tmp_path


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_with_an_order_has_the_same_line_and_option(name: str, cli: Command) -> None:
    pytest.importorskip({"report": "jinja2", "plot topics": "matplotlib"}.get(name, "numpy"))
    messages = cli(*COMMANDS[name]).messages
    assert messages.count(LINE) == 1, messages
    for number in ("0", "3", "inf"):
        assert not [line for line in cli(*COMMANDS[name], "--unseen", number).messages if "unjudged documents" in line]


def scored(qrels: dict[str, dict[str, int]], **rules: Any) -> gradedeval.Scores:
    return gradedeval.evaluate({"A": ranked(RUN_A), "B": ranked(RUN_B)}, qrels, "ndcg recall", **rules)


def test_an_order_that_unseen_documents_reverse_is_not_called_the_same(cli: Command) -> None:
    """Find the ends of the difference by enumeration: each topic has 0 to 3 further relevant documents."""
    ways = list(itertools.product(range(4), repeat=2))
    ends = []
    for counts in ways:
        more = {t: {f"w{i}": 1 for i in range(count)} for t, count in zip(QRELS, counts, strict=True)}
        first, second = scored({t: QRELS[t] | more[t] for t in QRELS}).means_by_run.values()
        ends.append(float(second["ndcg"] or 0) - float(first["ndcg"] or 0))
    assert ends[0] < 0 < max(ends)  # without further documents A is ahead
    row = gradedeval.compare(scored(QRELS, residuals="total", unseen=3)).frame.set_index("measure").loc["ndcg"]
    assert row[["lowest", "highest"]].tolist() == pytest.approx([min(ends), max(ends)], rel=0, abs=1e-12)

    def print_orders(*words: str) -> str:
        return cli("compare", "A", "B", "Q", "-m", "ndcg ap recall", "--judging", *words).text

    assert re.search(r"ndcg .* same order$", print_orders(), re.M)
    assert re.search(r"ndcg .* could be reversed$", print_orders("--unseen", "3"), re.M)
    assert re.search(
        r"ap .* could be reversed$", print_orders("--unseen", "3"), re.M
    )  # by judgments found in the search
    assert re.search(r"recall .* same order$", print_orders("--unseen", "3"), re.M)  # both find everything


def test_a_page_and_a_diff_report_the_same_order(tmp_path: Path, cli: Command) -> None:
    text = cli("diff", "A", "B", "Q", "-m", "ndcg", "--unseen", "inf").words
    assert "1 worse, 1 better, 0 equal | judging could reverse the order of 2 " in text
    pytest.importorskip("jinja2")
    for words, sentence in (
        ((), "More judging cannot change this: B stays below A."),
        (("--unseen", "3"), "B could be reversed by further judging"),
    ):
        cli("report", "A", "B", "Q", "-m", "ndcg", "-o", "page.html", *words)
        assert sentence in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_python_has_the_same_line() -> None:
    scores = scored(QRELS, residuals="total")
    line = LINE.replace("ndcg", "ndcg, recall").replace("--unseen N", "unseen=…")
    assert gradedeval.compare(scores).frame.attrs["if_fully_judged"] == line
    assert gradedeval.topic_differences(scores).frame.attrs["if_fully_judged"] == line
    assert gradedeval.topic_differences(scored(QRELS, residuals="total", unseen=0)).frame.attrs["if_fully_judged"] == ""
    pytest.importorskip("matplotlib")
    with pytest.warns(gradedeval.EvaluationWarning, match=r"^ndcg: unjudged documents that neither run retrieved"):
        gradedeval.plot.topics(scores, "ndcg")
