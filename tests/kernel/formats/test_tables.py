"""Cells of tables for people."""

from __future__ import annotations

import pytest

from gradedeval.kernel.formats import Column, Document, Table, render


@pytest.mark.parametrize(("kind", "value", "text"), [("signed", -0.00004, "+0.0000"), ("percent", -0.0004, "+0.0%")])
def test_what_rounds_to_zero_has_no_minus(kind: str, value: float, text: str) -> None:
    table = Table([Column("change", kind)], [[value], [-0.5]])  # type: ignore[arg-type]
    printed = render(lambda layout: Document([table]), "table")
    assert text in printed
    assert "-0.0000" not in printed
    assert "-0.0%" not in printed
