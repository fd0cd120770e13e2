"""`check --no-worse`: no worse, worse, or cannot tell, in every output, with its exit codes."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import gradedeval
from gradedeval import Bound, EvaluationWarning, InputError
from gradedeval.analysis import no_worse
from gradedeval.kernel.formats import formats_for
from gradedeval.questions.check import REPORTS
from support.commands import Command, succeed
from support.pages import Page

SCORE_OF = {1: "abc", 2: "bac", 3: "bca"}
"""Rank of the relevant document -> ranking."""

Places = list[int]
BEST, MIXED = [1] * 20, [1, 2] * 10
CASES: dict[str, tuple[Places, Places, str]] = {
    "no worse": ([*MIXED[:19], 1], MIXED, "50%"),
    "equal": (MIXED, MIXED, "5%"),
    "worse": ([2, 3] * 10, BEST, "5%"),
    "cannot tell": ([2, 1] * 9 + [1, 3], MIXED, "5%"),
}
"""Places of the new run, of the main run, and a margin."""
CODES = {"no worse": 0, "equal": 0, "worse": 1, "cannot tell": 4}
NEW = ("check", "new.run", "qrels", "--baseline", "main.run")


def answer_of(case: str) -> str:
    return "no worse" if case == "equal" else case


def write(folder: Path, new: Places, main: Places) -> None:
    for name, places in (("new.run", new), ("main.run", main)):
        lines = (
            f"{topic} Q0 {docno} {rank} {9 - rank} t\n"
            for topic, place in enumerate(places, 1)
            for rank, docno in enumerate(SCORE_OF[place], 1)
        )
        (folder / name).write_text("".join(lines))
    judged = (f"{topic} 0 {docno} {int(docno == 'a')}\n" for topic in range(1, len(main) + 1) for docno in "abc")
    (folder / "qrels").write_text("".join(judged))


def checked(cli: Command, *words: str) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit code and the bounds of a check."""
    outcome = cli(*NEW, *words, "-f", "json")
    return outcome.code, json.loads(outcome.text)["bounds"] if outcome.code in (0, 1, 4) else []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("form", [*REPORTS, *formats_for()])
@pytest.mark.parametrize("case", CASES)
def test_every_answer_stands_in_every_format(case: str, form: str, tmp_path: Path, cli: Command) -> None:
    new, main, margin = CASES[case]
    write(tmp_path, new, main)
    outcome = cli(*NEW, "--no-worse", f"rr={margin}", *(() if form == "text" else ("-f", form)))
    assert outcome.code == CODES[case]
    failed, is_open = case == "worse", case == "cannot tell"
    if form == "junit":
        suite = ElementTree.fromstring(outcome.text)
        elements = [suite.find(f"testcase/{name}") is not None for name in ("failure", "skipped")]
        assert elements == [failed, is_open]
        assert (suite.get("failures"), suite.get("skipped", "0")) == (str(int(failed)), str(int(is_open)))
    elif form == "github":
        levels = re.findall("^::(\\w+) title=no-worse rr::new.run: rr ", outcome.text, re.MULTILINE)
        assert levels == ["error"] * failed + ["warning"] * is_open
    elif form in ("json", "jsonl", "csv", "tsv"):
        assert f"{answer_of(case)}" in outcome.text
    else:
        marks = {"text": ("ok", "FAIL", "?"), "latex": ("ok", "FAIL", "?")}.get(form, ("✅", "❌", "❔"))
        assert marks[1 if failed else 2 if is_open else 0] in outcome.text
        assert answer_of(case) in outcome.words.replace("\\", "")
    seen = [line for line in outcome.messages if line.startswith(("FAIL", "?"))]
    for_people = form in ("text", "github", *formats_for("wide"))
    assert len(seen) == (0 if for_people or not (failed or is_open) else 1)
    note = "these topics cannot tell; add topics, or allow a larger margin: `gradedeval power --plan A B QRELS"
    whole = f"{note} --no-worse rr=5%` says how many topics a margin takes"
    assert [line for line in outcome.messages if line.startswith(note)] == [whole] * is_open


@pytest.mark.parametrize("case", CASES)
def test_every_answer_stands_on_the_page_of_a_report_and_in_a_history(case: str, tmp_path: Path, cli: Command) -> None:
    pytest.importorskip("jinja2")
    new, main, margin = CASES[case]
    write(tmp_path, new, main)
    verdict = cli(*NEW, "--no-worse", f"rr={margin}", "--history", "h.jsonl").text.splitlines()[0]
    sentence = verdict.partition("new.run: ")[2].partition("; topic")[0]
    succeed(cli("report", *NEW[1:], "-m", "p@1", "--no-worse", f"rr={margin}", "-o", "r.html", "--quiet"))
    assert f"new.run {answer_of(case)}: {sentence}" in Page((tmp_path / "r.html").read_text()).words
    (kept,) = (json.loads(line) for line in cli("history", "h.jsonl", "-f", "jsonl").text.splitlines())
    assert (kept["answer"], kept["passed"]) == (answer_of(case), {0: True, 1: False, 4: None}[CODES[case]])
    assert answer_of(case) in cli("history", "h.jsonl").text


def test_the_sentences_give_the_power_of_the_topics(tmp_path: Path, cli: Command) -> None:
    lines = {}
    for case, (new, main, margin) in CASES.items():
        write(tmp_path, new, main)
        lines[case] = cli(*NEW, "--no-worse", f"rr={margin}").text.splitlines()[0]
    equal = "rr unchanged on all topics: no worse than -5% (20 topics; up to 13.9% of topics could still differ)"
    assert lines["equal"] == f"ok    new.run: {equal}"
    change = r"rr [-+]\d+\.\d% \[[-+]\d+\.\d%, [-+]\d+\.\d%\]"
    shows = (
        r" \(20 topics; a drop of about \d+\.\d% would be called worse in 8 of 10;"
        r" about [\d,]+ topics would pass an equal run in 8 of 10\)"
    )
    assert re.fullmatch(rf"ok    new\.run: {change}: no worse than -50%{shows}", lines["no worse"])
    assert re.match(rf"FAIL  new\.run: {change}: worse than -5%{shows}; judging the unjudged doc", lines["worse"])
    cannot_tell = rf"\?     new\.run: {change}: cannot tell whether it is no worse than -5%{shows}"
    assert re.fullmatch(cannot_tell, lines["cannot tell"])
    write(tmp_path, [2] * 3 + [1] * 12 + [2] * 15, [1] * 15 + [2] * 15)
    within = cli(*NEW, "--no-worse", "rr=50%").text.splitlines()[0]
    assert "no worse than -50% (" in within
    write(tmp_path, [2] * 12 + [1] * 18, BEST + [1] * 10)
    within = cli(*NEW, "--no-worse", "rr=50%").text.splitlines()[0]
    assert within.startswith("ok  ")
    assert "no worse than -50%, though worse than the baseline (30 topics" in within
    assert "worse, perhaps by less than 15% (" in cli(*NEW, "--no-worse", "rr=15%").text


@pytest.mark.parametrize("topics", [1, 2, 9, 10])
def test_under_ten_topics_cannot_tell_unless_all_scores_are_equal(topics: int, tmp_path: Path, cli: Command) -> None:
    write(tmp_path, ([2, 3] * 5)[:topics], [1] * topics)
    code, (bound,) = checked(cli, "--no-worse", "rr=5%")
    assert (code, bound["answer"]) == ((1, "worse") if topics == 10 else (4, "cannot tell"))
    assert bound["passed"] is (False if topics == 10 else None)
    assert (bound["low"] is None) == (topics == 1)
    assert (bound["smallest_drop"] is None) == (topics < 10)
    assert ("an answer needs 10" in bound["verdict"]) == (topics < 10)
    write(tmp_path, [1] * topics, [1] * topics)
    code, (bound,) = checked(cli, "--no-worse", "rr=5%")
    assert (code, bound["answer"], bound["change"]) == (0, "no worse", 0)
    assert bound["could_differ"] == pytest.approx(1 - 0.05 ** (1 / topics))


@pytest.mark.parametrize(
    ("undecided", "code", "passed", "ends", "mark"),
    [
        ((), 4, None, "cannot tell for 1 of 2 bounds", "?   "),
        (("--undecided", "pass"), 0, True, "cannot tell for 1 of 2 bounds, which passes", "ok  "),
        (("--undecided", "fail"), 1, False, "cannot tell for 1 of 2 bounds, which fails", "FAIL"),
    ],
)
def test_undecided_bounds_may_pass_or_fail(
    undecided: tuple[str, ...], code: int, passed: bool | None, ends: str, mark: str, tmp_path: Path, cli: Command
) -> None:
    write(tmp_path, *CASES["cannot tell"][:2])
    words = ("--no-worse", "rr=5%", "--min", "rr=0", *undecided)
    outcome = cli(*NEW, *words)
    assert outcome.code == code
    assert outcome.text.splitlines()[1].startswith(f"{mark}  new.run: rr ")
    assert ends in outcome.text.splitlines()
    document = json.loads(cli(*NEW, *words, "-f", "json", "--history", "history").text)
    assert (document["passed"], document["bounds"][1]["passed"]) == (passed, passed)
    assert document["bounds"][1]["answer"] == "cannot tell"
    (row,) = csv.DictReader(io.StringIO(cli("history", "history", "-f", "csv").text))
    assert row["check"] == {None: "cannot tell", True: "passed", False: "FAILED"}[passed]
    assert row["passed"] == ("" if passed is None else str(passed))
    assert row["check"] in cli("history", "history").words


def test_a_failed_bound_outweighs_an_undecided_one(tmp_path: Path, cli: Command) -> None:
    write(tmp_path, *CASES["cannot tell"][:2])
    outcome = cli(*NEW, "--no-worse", "rr=5%", "--min", "rr=0.99")
    assert outcome.code == 1
    assert "1 of 2 bounds failed; cannot tell for 1 of 2 bounds" in outcome.text
    (tmp_path / "new.run").write_text("1 Q0\n")
    assert cli(*NEW, "--no-worse", "rr=5%").code == 3


def test_a_bare_margin_is_for_all_measures_of_m(tmp_path: Path, cli: Command) -> None:
    write(tmp_path, *CASES["worse"][:2])
    for kind in ("--no-worse", "--max-drop"):
        code, bounds = checked(cli, "-m", "rr p@1 ap", kind, "5%")
        assert (code, [bound["measure"] for bound in bounds]) == (1, ["rr", "p@1", "ap"])
    _, bounds = checked(cli, "--min", "rr=0", "--min", "p@1=0", "--no-worse", "5%")
    assert [bound["measure"] for bound in bounds if bound["bound"] == "no-worse"] == ["rr", "p@1"]


def test_worse_is_corrected_over_measures_and_no_worse_is_not(tmp_path: Path, cli: Command) -> None:
    # 9 of 20 topics lose a half by rr, and 3 gain it: p is 0.041.
    write(tmp_path, [2] * 9 + [1] * 11, [1] * 9 + [2] * 3 + [1] * 8)
    alone = checked(cli, "--no-worse", "rr=1%")[1][0]
    assert alone["answer"] == "worse"
    bounds = checked(cli, "-m", "rr p@1 ap", "--no-worse", "1%")[1]
    assert {bound["answer"] for bound in bounds} == {"cannot tell"}
    assert (bounds[0]["low"], bounds[0]["high"]) == (alone["low"], alone["high"])
    wide = checked(cli, "-m", "rr p@1 ap", "--no-worse", "90%")[1]
    assert {bound["answer"] for bound in wide} == {"no worse"}


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl"])
def test_saved_scores_are_a_baseline_in_any_format(form: str, tmp_path: Path, cli: Command) -> None:
    for case, (new, main, margin) in CASES.items():
        write(tmp_path, new, main)
        expected = checked(cli, "--no-worse", f"rr={margin}")
        assert cli("main.run", "qrels", "-m", "rr", "-q", "-f", form, "-o", "saved").code == 0
        code, (bound,) = checked(cli, "--no-worse", f"rr={margin}", "--baseline", "saved")
        assert (code, bound["answer"]) == (CODES[case], answer_of(case))
        for name in ("change", "low", "high", "topics_needed"):
            assert bound[name] == expected[1][0][name]


def test_a_drop_is_a_rise_if_lower_is_better(tmp_path: Path, cli: Command) -> None:
    new, main, _ = CASES["worse"]
    write(tmp_path, main, new)
    unjudged = "".join(f"{topic} 0 a 1\n" for topic in range(1, 21))
    (tmp_path / "qrels").write_text(unjudged)
    fewer = checked(cli, "--no-worse", "unjudged@1=5%")[1][0]
    assert (fewer["answer"], fewer["change"], fewer["value"]) == ("no worse", -1, -1)
    write(tmp_path, [1] * 4 + [2] * 16, [1] * 10 + [2] * 10)
    (tmp_path / "qrels").write_text(unjudged)
    code, (more,) = checked(cli, "--no-worse", "unjudged@1=5%")
    assert code == 1
    assert more["answer"] == "worse"
    assert more["value"] == more["change"] == pytest.approx(0.6)
    assert "a rise of about" in more["verdict"]
    assert "worse, perhaps by less than 5%" in more["verdict"] or "worse than +5%" in more["verdict"]
    assert "topics that rose most" in more["worst"][0] if isinstance(more["worst"][0], str) else more["worst"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--no-worse", "rr=0"), "--no-worse rr=0: no number of topics shows that nothing is lost; …"),
        (("--no-worse", "rr=-5%"), "--no-worse rr=-5%: -5% is negative; give a margin above 0"),
        (("--no-worse", "rr=100%"), "--no-worse rr=100%: can never fail: a mean drops by 100% at most"),
        (("--no-worse", "rr=5"), "--no-worse rr=5: can never fail: 'rr' is 1 at most; write 5% for a share …"),
        (("--no-worse", "rr=x"), "--no-worse rr=x: 'x' is not a number; …"),
        (("--no-worse", "5%"), "--no-worse 5%: names no measure; …"),
        (("--no-worse", "num_ret=5%"), "--no-worse num_ret=5%: neither higher nor lower is better by num_ret, …"),
        (("--no-worse", "gm_ap=0.01"), "--no-worse gm_ap=0.01: gm_ap is a geometric mean, … gm_ap=5%"),
        (("--min", "rr=0", "--undecided", "pass"), "--undecided: applies to --no-worse alone; …"),
        (("--no-worse", "rr=5%", "--no-worse", "rr=6%"), "--no-worse rr=6%: given twice: …"),
    ],
)
def test_an_invalid_margin_is_refused(words: tuple[str, ...], problem: str, tmp_path: Path, cli: Command) -> None:
    write(tmp_path, MIXED, BEST)
    outcome = cli(*NEW, *words)
    assert (outcome.code, outcome.out) == (2, b"")
    assert re.fullmatch(re.escape(problem).replace("…", ".*"), outcome.messages[-1]), outcome.messages


def test_a_share_of_a_zero_mean_is_bad_data(tmp_path: Path, cli: Command) -> None:
    write(tmp_path, MIXED, [2] * 20)
    outcome = cli(*NEW, "--no-worse", "p@1=5%", "-f", "junit")
    assert outcome.code == 3
    problem = "the baseline's p@1 is 0, and a margin cannot be a share of it; give a difference of means"
    assert outcome.messages[-1].startswith(f"--no-worse p@1=5%: {problem}")
    assert ElementTree.fromstring(outcome.text).get("errors") == "1"
    assert checked(cli, "--no-worse", "p@1=0.01")[0] == 0


def test_totals_and_geometric_means_are_in_their_own_units(tmp_path: Path, cli: Command) -> None:
    write(tmp_path, [2] * 12 + [1] * 18, [1] * 30)
    (total,) = checked(cli, "--no-worse", "num_rel_ret=1")[1]
    assert total["answer"] == "no worse"
    share = checked(cli, "--no-worse", "gm_ap=90%")[1][0]
    assert share["answer"] == "no worse"
    assert share["change"] == pytest.approx(0.5**0.4 - 1)
    assert share["low"] < share["change"] < share["high"] < 0
    assert checked(cli, "--no-worse", "gm_ap=10%")[0] == 1


def test_slices_have_margins_of_their_own(tmp_path: Path, cli: Command) -> None:
    write(tmp_path, [2, 3] * 10 + [1] * 20, [1] * 40)
    lines = (f"{topic}\t{'tail' if topic <= 20 else 'head'}\n" for topic in range(1, 41))
    (tmp_path / "slices.tsv").write_text("topic\tintent\n" + "".join(lines))
    words = ("--slices", "slices.tsv", "--no-worse", "intent=tail: rr=5%", "--no-worse", "intent=head: rr=5%")
    code, bounds = checked(cli, *words)
    assert (code, [bound["answer"] for bound in bounds]) == (1, ["worse", "no worse"])
    assert bounds[0]["verdict"].startswith("intent=tail: rr ")


TOML = {
    "list": 'no_worse = ["rr=5%", "p@1=10%"]\n',
    "hyphen": 'no-worse = ["rr=5%", "p@1=10%"]\n',
    "table": '[no-worse]\nrr = "5%"\n"p@1" = "10%"\n',
    "underscore": '[no_worse]\nrr = "5%"\n"p@1" = "10%"\n',
}


@pytest.mark.parametrize("written", TOML)
def test_a_file_of_settings_has_margins_and_the_undecided_outcome(written: str, tmp_path: Path, cli: Command) -> None:
    write(tmp_path, *CASES["cannot tell"][:2])
    toml = tmp_path / "gradedeval.toml"
    toml.write_text(TOML[written])
    code, bounds = checked(cli)
    assert (code, [(bound["measure"], bound["limit"]) for bound in bounds]) == (4, [("rr", 0.05), ("p@1", 0.1)])
    toml.write_text('undecided = "pass"\n' + TOML[written])
    assert checked(cli)[0] == 0
    assert checked(cli, "--undecided", "fail")[0] == 1
    assert checked(cli, "--no-worse", "rr=99%")[1][0]["limit"] == 0.99


@pytest.mark.parametrize(
    ("toml", "line", "problem"),
    [
        ('undecided = "maybe"\nno_worse = ["rr=5%"]\n', 1, "invalid value 'maybe'; choose from pass, fail"),
        ("no_worse = [5]\n", 1, 'no_worse is not a list of strings; for example no_worse = ["ndcg@10=5%"]'),
        ('\nno_worse = ["rr"]\n', 2, "'rr' is not a number; for example err@20=0.25"),
        ('no_worse=["rr=5%","rr=6%"]\n', 1, "given twice: gradedeval.toml:1 bounds 'rr' as well; keep one of the two"),
    ],
)
def test_a_broken_margin_in_a_file_has_its_line(
    toml: str, line: int, problem: str, tmp_path: Path, cli: Command
) -> None:
    write(tmp_path, MIXED, MIXED)
    (tmp_path / "gradedeval.toml").write_text(toml)
    outcome = cli(*NEW)
    assert (outcome.code, len(outcome.messages)) == (2, 1)
    assert re.fullmatch(re.escape(f"gradedeval.toml:{line}: {problem}").replace("…", ".*"), outcome.messages[0])


@pytest.mark.parametrize("margins", [{"rr": "5%"}, "rr=5%", ["rr=5%"], "5%", {"rr": 0.05}, 0.05])
def test_in_python_margins_are_a_keyword(margins: Any, tmp_path: Path, cli: Command) -> None:
    write(tmp_path, *CASES["worse"][:2])
    scores = gradedeval.evaluate(["main.run", "new.run"], "qrels", "rr")
    result = gradedeval.check(scores, baseline="main.run", no_worse=margins)
    assert (result.passed, result["answer"].tolist(), result["bound"].tolist()) == (False, ["worse"], ["no-worse"])
    assert result["relative"].tolist() == ["%" in str(margins)]
    assert result["limit"].tolist() == [0.05]


def test_undecided_bounds_are_none_in_python(tmp_path: Path) -> None:
    write(tmp_path, *CASES["cannot tell"][:2])
    scores = gradedeval.evaluate([str(tmp_path / "main.run"), str(tmp_path / "new.run")], tmp_path / "qrels", "rr")
    with pytest.warns(EvaluationWarning, match="these topics cannot tell; add topics"):
        result = gradedeval.check(scores, baseline="main.run", no_worse={"rr": "5%"})
    assert (result.passed, result.failed, len(result.undecided)) == (None, [], 1)
    assert result.passed_by_run == {"new.run": None}
    with pytest.warns(EvaluationWarning):
        assert gradedeval.check(scores, [Bound("no-worse", "rr", 0.05, True)], undecided="fail").passed is False
    with pytest.raises(InputError, match="undecided: invalid value 'never'"):
        gradedeval.check(scores, no_worse="5%", undecided="never")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no_worse rr=x: 'x' is not a number"):
        gradedeval.check(scores, no_worse="rr=x")
    with pytest.raises(InputError, match=r"^no scores by 'ap'"):
        gradedeval.check(scores, no_worse="ap=5%")


def test_seeds_are_not_compared_by_their_topics_alone(tmp_path: Path, cli: Command) -> None:
    write(tmp_path, MIXED, MIXED)
    (tmp_path / "seeds.tsv").write_text("new.run second\nother.run second\nmain.run first\nsame.run first\n")
    for name, original in (("other.run", "new.run"), ("same.run", "main.run")):
        (tmp_path / name).write_text((tmp_path / original).read_text())
    runs = ("new.run", "other.run", "main.run", "same.run")
    words = ("check", *runs, "qrels", "--replicates", "seeds.tsv", "--baseline", "first")
    outcome = cli(*words, "--no-worse", "rr=5%")
    assert outcome.code == 2
    assert outcome.messages[-1].startswith("--no-worse rr=5%: does not know how much the seeds of a mean vary; use")


def test_power_plans_the_topics_of_a_margin(tmp_path: Path, cli: Command) -> None:
    write(tmp_path, [2, 1] * 9 + [1, 3], MIXED)
    words = ("power", "--plan", "main.run", "new.run", "qrels")
    rows = csv.DictReader(io.StringIO(cli(*words, "--no-worse", "rr=20%", "--no-worse", "p@1=0.2", "-f", "csv").text))
    by_measure = {row["measure"]: row for row in rows}
    planned_designs = {name: row["design"] for name, row in by_measure.items()}
    assert planned_designs == {"rr": "no worse than -20%", "p@1": "no worse than -0.2"}
    main, new = (np.array([1 / place for place in places]) for places in (MIXED, [2, 1] * 9 + [1, 3]))
    deviation = float((new - main).std(ddof=1) / main.mean())
    needed = int(by_measure["rr"]["needed"])
    assert needed == no_worse.topics_needed(deviation, 0.2)
    # The verdicts of check on the same runs.
    assert checked(cli, "--no-worse", "rr=20%")[1][0]["topics_needed"] == needed
    planned = gradedeval.plan_topics(["main.run", "new.run"], "qrels", "rr p@1", no_worse={"rr": "20%"})
    assert planned["needed"].tolist() == [needed]
    assert needed == json.loads(cli(*words, "-m", "rr", "--no-worse", "20%", "-f", "json").text)["rows"][0]["needed"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--no-worse", "rr=5%", "--alpha", "0.1"), "--no-worse: has one level and one power, so --difference, …"),
        (("--no-worse", "rr=0.000001%"), "--no-worse rr=0.000001%: more than 10000000 topics are needed; …"),
        (("--no-worse", "num_rel_ret=3"), "--no-worse num_rel_ret=3: a total needs a margin that is a share; …"),
        (("--no-worse", "num_ret=3%"), "--no-worse num_ret=3%: neither higher nor lower is better, …"),
        (("-m", "ap", "--no-worse", "rr=5%"), "no scores by 'rr'; …"),
    ],
)
def test_an_invalid_plan_is_refused(words: tuple[str, ...], problem: str, tmp_path: Path, cli: Command) -> None:
    write(tmp_path, [2, 1] * 9 + [1, 3], MIXED)
    outcome = cli("power", "--plan", "main.run", "new.run", "qrels", *words)
    assert (outcome.code, outcome.out) == (2, b"")
    assert re.fullmatch(re.escape(problem).replace("…", ".*"), outcome.messages[-1]), outcome.messages
