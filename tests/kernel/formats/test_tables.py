"""Cells of tables for people."""

from __future__ import annotations

import pytest

from gradedeval.kernel.formats import Column, Document, Table, render
from gradedeval.kernel.formats.tables import across, cut


@pytest.mark.parametrize(("kind", "value", "text"), [("signed", -0.00004, "+0.0000"), ("percent", -0.0004, "+0.0%")])
def test_what_rounds_to_zero_has_no_minus(kind: str, value: float, text: str) -> None:
    table = Table([Column("change", kind)], [[value], [-0.5]])  # type: ignore[arg-type]
    printed = render(lambda layout: Document([table]), "table")
    assert text in printed
    assert "-0.0000" not in printed
    assert "-0.0%" not in printed


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("coronavirus immunity", 20, "coronavirus immunity"),
        ("coronavirus immunity", 15, "coronavirus …"),
        ("a coronavirus-immunity-study", 12, "a coronavir…"),  # one letter would be all that is left
        ("electroencephalography", 12, "electroence…"),
        ("the origin of it, in short: a market", 30, "the origin of it, in short …"),
        ("冠状病毒的起源是什么", 11, "冠状病毒的…"),
        ("冠状病毒的起源是什么; 市场 和 实验室", 29, "冠状病毒的起源是什么 …"),
        ("cafe\u0301 au lait", 12, "cafe\u0301 au lait"),
        ("zero\u200bwidth", 9, "zero\u200bwidth"),
    ],
)
def test_texts_are_cut_at_words_where_that_leaves_some(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
    assert across(shown) <= width


def test_characters_of_east_asia_take_two_columns_of_a_terminal() -> None:
    rows = [["1", "冠状病毒", 0.5], ["2", "cafe\u0301", 0.25]]
    document = Document([Table([Column("topic"), Column("query"), Column("ap", "score")], rows)])
    assert render(lambda layout: document, "table").splitlines() == [
        "topic  query         ap",
        "-----  --------  ------",
        "1      冠状病毒  0.5000",
        "2      cafe\u0301      0.2500",
    ]
