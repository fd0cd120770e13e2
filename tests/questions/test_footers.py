"""Lines under tables and in notes: units, reasons, and what tells measures of one name apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradedeval.analysis.saved_scores import Signature
from support.commands import Command

TOPICS = range(1, 7)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 a 1\n{topic} 0 b 0\n{topic} 0 c 2\n" for topic in TOPICS))
    for name, listed in (("one", "abuc"), ("two", "bcau")):
        lines = (f"{topic} Q0 {docno} {rank} {9 - rank} t\n" for topic in TOPICS for rank, docno in enumerate(listed))
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


def test_numbers_that_are_not_on_the_scale_of_the_means_say_so(files: Path, cli: Command) -> None:
    words = ("one", "two", "qrels", "-m", "num_rel_ret gm_ap")
    risk = cli("risk", *words).words
    assert " | num_rel_ret: URisk by topic | gm_ap: URisk of logarithms gradedeval " in risk
    # The runs have to differ by more than a constant.
    (files / "two").write_text((files / "two").read_text().replace("1 Q0 c 1 8 t\n", ""))
    plan = cli("power", "--plan", "one", "two", "qrels", "-m", "gm_ap").words
    assert " | gm_ap: variance, difference and width of logarithms gradedeval " in plan


@pytest.mark.usefixtures("files")
def test_totals_of_counts_are_whole_numbers(cli: Command) -> None:
    words = ("one", "two", "qrels", "-m", "num_rel_ret@2", "--quiet")
    row = cli("compare", *words).text.splitlines()[3].split()
    assert row[:4] == ["num_rel_ret@2", "two", "6", "+0"]
    assert cli("risk", *words).text.splitlines()[2].split()[:3] == ["num_rel_ret@2", "one", "6"]
    assert cli("check", "one", "qrels", "--min", "num_rel_ret=3").text.startswith(
        "ok    one: num_rel_ret 12 is at least 3\n"
    )


def test_topics_that_are_left_out_have_their_reason(files: Path, cli: Command) -> None:
    (files / "three").write_text("".join((files / "two").read_text().splitlines(keepends=True)[:12]))
    compared = ("compare", "one", "three", "qrels", "-m", "p@3")
    found = cli(*compared, "--topics", "both")
    assert "p@3: 3 of 6 topics left out: not every run is scored on them (topics both)" in found.messages


@pytest.mark.usefixtures("files")
def test_measures_of_one_name_are_told_apart_by_what_differs(cli: Command) -> None:
    words = ("one", "qrels", "-m", "err err(gain=linear) rbp rbp(gain=exp) ap ap(rel=2)", "--signature", "full")
    line = cli(*words).words[cli(*words).words.index("gradedeval 0") :]
    assert line.split(" | ")[4:] == [
        "err, rbp(gain=exp,p=0.8): exp gains",
        "err(gain=linear), rbp(p=0.8): linear gains",
        "ap: rel 1",
        "ap(rel=2): rel 2",
    ]
    # A joint signature and that of a measure alone name the same gains.
    words = cli("one", "qrels", "-m", "err(gain=linear)", "--signature", "full").words
    other = words[words.index("gradedeval 0") :]
    joint, alone = Signature.read(line), Signature.read(other)
    assert joint is not None
    assert alone is not None
    assert joint.differences(alone, "err(gain=linear)") == {}


@pytest.mark.usefixtures("files")
def test_a_measure_without_an_average_over_ties_does_not_list_them_all(cli: Command) -> None:
    (message,) = cli("one", "qrels", "-m", "yaap", "--ties", "average").messages
    assert message.startswith("--ties average: yaap has no average over ties; ")
    assert len(message) < 160


def test_latex_spells_bars_and_quotation_marks(files: Path, cli: Command) -> None:
    for name in ("a|b", 'say "so"'):
        (files / name).write_text((files / "one").read_text())
    text = cli("a|b", 'say "so"', "qrels", "-m", "ap", "-f", "latex").text
    assert r"a\textbar{}b " in text
    assert r"say \char34{}so\char34{} " in text
