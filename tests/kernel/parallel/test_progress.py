"""Show a progress bar that leaves no trace."""

from __future__ import annotations

import sys

import pytest

from gradedeval.cli import progress as bars
from gradedeval.kernel import parallel
from support.processes import Terminal


def test_a_bar_shows_how_many_runs_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(bars, "PATIENCE", -1.0)
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(bars.with_progress(iter("abcd"), 4)) == list("abcd")
    assert "runs" in terminal.getvalue()
    assert "100%" in terminal.getvalue()
    terminal.truncate(0)
    monkeypatch.setattr(bars, "PATIENCE", 1000.0)
    assert list(bars.with_progress(iter("abcd"), 4)) == list("abcd")
    assert terminal.getvalue() == ""


def test_loops_have_a_bar_in_commands_but_not_in_python() -> None:
    assert parallel.progress("draws") is parallel.no_progress
    with parallel.using_workers(parallel.Workers(progress=bars.with_progress)):
        handler = parallel.progress("draws")
    assert (handler.func, handler.keywords) == (bars.with_progress, {"label": "draws"})  # type: ignore[attr-defined]


def test_an_abandoned_bar_restores_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(bars, "PATIENCE", -1.0)
    watched = bars.with_progress(iter("abcd"), 4)
    assert [next(watched), next(watched)] == ["a", "b"]
    watched.close()  # type: ignore[attr-defined]
    output = terminal.getvalue()
    assert output.rindex("\x1b[?25h") > output.rindex("\x1b[?25l")


def test_nested_loops_have_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(bars, "PATIENCE", -1.0)
    for measure in bars.with_progress(["ap", "rr", "err"], label="measures"):
        for _ in bars.with_progress(range(3), label=f"pairs by {measure}"):
            pass
    output = terminal.getvalue()
    assert "pairs by ap" in output  # the first, when no other stood yet
    assert "measures" in output
    assert "pairs by rr" not in output
    assert "pairs by err" not in output
