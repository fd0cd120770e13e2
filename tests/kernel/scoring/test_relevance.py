"""Notes on topics without a relevant document, and on a top grade that no judgment has, if numbers depend on them."""

import pytest

from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.options import resolve_options
from gradedeval.kernel.scoring.evaluate import evaluate_runs

QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 0}, "3": {"a": 2}}
RUN = {"run": {topic: {"a": 1.0} for topic in QRELS}}


def notes(measures: str, qrels: object = QRELS, **options: object) -> list[str]:
    messages = evaluate_runs(RUN, qrels, parse_measures(measures), resolve_options(**options)).notes
    return [note for note in messages if "too few to tell systems apart" not in note]


def test_topics_without_a_relevant_document_are_one_note_for_all_measures() -> None:
    hint = "exclude it with --topics relevant, or score it with -m silence"
    assert notes("ap ndcg@10 p@5 num_rel judged@5 utility") == [
        f"qrels: 1 of 3 topics has no relevant documents (2) and scores 0; {hint}"
    ]
    assert notes("ap", topics="relevant") == ["run: 1 topic without relevant documents; left out"]
    assert notes("judged@5 num_rel") == []


def test_a_measure_for_which_other_topics_have_none_is_named() -> None:
    hint = "exclude it with --topics relevant, or score it with -m silence"
    assert notes("ap ap(rel=2)") == [
        f"qrels: 1 of 3 topics has no relevant documents for ap (2) and scores 0; {hint}",
        "qrels: 2 of 3 topics have no relevant documents for ap(rel=2) (1, 2) and score 0",
    ]
    assert notes("ap(rel=2)", {"1": {"a": 1}, "2": {"a": 2}, "3": {"a": 2}}) == [
        "qrels: 1 of 3 topics has no relevant documents (1) and scores 0"
    ]


@pytest.mark.parametrize("measure", ["err@20", "nerr", "rbp(gain=exp)"])
def test_binary_qrels_with_exp_gains_of_one_half_are_noted(measure: str) -> None:
    binary = {topic: {"a": 1, "b": 0} for topic in QRELS}
    assert notes(f"{measure} rbp ap", binary) == [
        f"qrels: no grade is above 1, so a relevant document has gain 0.5 in {measure}; use --top-grade if the scale "
        "has higher grades, or rel=1 in a measure for gain 1"
    ]
    assert notes(measure, binary, top_grade=4) == notes("rbp ap err(rel=1)", binary) == []
