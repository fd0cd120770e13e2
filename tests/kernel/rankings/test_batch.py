"""The order of documents with equal scores, by hand, however a run lists them."""

import io

import pytest

import gradedeval

ORDERS = {
    "docno-desc": ("cba", "cba"),
    "docno-asc": ("abc", "abc"),
    "file": ("abc", "cba"),
    "rank": ("abc", "cba"),
    "best": ("bac", "bac"),
    "worst": ("cab", "cab"),
}
"""By each rule the order of a, b and c where they are listed so, and the other way round: b is relevant, a is not, and
c is not judged."""


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("ties", ORDERS)
def test_documents_of_one_score_stand_as_the_rule_says_however_they_are_listed(ties: str) -> None:
    for listed, order in zip(("abc", "cba"), ORDERS[ties], strict=True):
        run = "".join(f"1 Q0 {docno} {rank} 1 t\n" for rank, docno in enumerate(listed, 1))
        scores = gradedeval.evaluate(
            io.StringIO(run), io.StringIO("1 0 a 0\n1 0 b 1\n"), "rr judged@1 judged@2", ties=ties
        )
        relevant, judged = order.index("b") + 1, [docno != "c" for docno in order]
        assert list(scores.means.values()) == [1 / relevant, judged[0], sum(judged[:2]) / 2]


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize(("ties", "expected"), [("best", 1 / 2), ("worst", 1 / 3)])
def test_a_run_with_a_few_ties_keeps_the_order_of_its_scores(ties: str, expected: float) -> None:
    """n, which is not relevant, is first and the relevant r last, alone with their scores; a and the relevant b share
    one in between."""
    listed = (("n", 3), ("a", 2), ("b", 2), ("r", 1))
    run = "".join(f"{topic} Q0 {docno} 1 {score} t\n" for topic in "12" for docno, score in listed)
    qrels = "".join(f"{topic} 0 b 1\n{topic} 0 r 1\n" for topic in "12")
    scores = gradedeval.evaluate(io.StringIO(run), io.StringIO(qrels), "rr", ties=ties)
    assert [row.score for row in scores.rows() if row.topic in ("1", "2")] == [expected, expected]
