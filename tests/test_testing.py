"""`assert_scores`: passes, failures with their words, and the verdicts of `check`."""

import re
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import Bound, InputError
from gradedeval.testing import assert_no_worse, assert_scores
from support.commands import python

QRELS = {"1": {"a": 1, "b": 2}, "2": {"a": 1, "c": 0}, "3": {"b": 1}}
GOOD = {"1": {"b": 2.0, "a": 1.0}, "2": {"a": 2.0}, "3": {"b": 1.0}}
BAD = {"1": {"b": 2.0, "a": 1.0}, "2": {"c": 2.0, "a": 1.0}, "3": {"c": 1.0}}


def failure(*given: Any, **keywords: Any) -> list[str]:
    with pytest.raises(AssertionError) as error:
        assert_scores(*given, **keywords)
    return str(error.value).splitlines()


def test_the_message_names_the_worst_topics() -> None:
    verdict, *_ = gradedeval.check(gradedeval.evaluate(BAD, QRELS, "rr"), [Bound("min", "rr", 0.75)]).verdicts
    head, line, signature = failure(BAD, QRELS, {"rr": 0.75})
    assert head == "1 of 1 bounds failed"
    assert line == verdict.line
    assert line == "run: rr 0.5000 is below 0.75; topics with the lowest scores: 3 0.0000, 2 0.5000"
    assert signature.startswith("gradedeval ")


def test_texts_of_topics_stand_beside_them() -> None:
    _, line, _ = failure(BAD, QRELS, {"rr": 0.75}, queries={"3": "length of the Nile", "2": "dams", "1": "fish"})
    assert "3 (length of the Nile) 0.0000" in line


def test_a_drop_from_the_baseline_fails() -> None:
    head, line, _ = failure(BAD, QRELS, {"rr": 0.1}, baseline=GOOD)
    assert head == "1 of 2 bounds failed"
    assert line.startswith("run: rr fell by 0.5000 (50.0%), from 1.0000 to 0.5000")
    assert line.endswith("topics that fell most: 3 -1.0000, 2 -0.5000")
    for allowed in (0.5, "50%"):
        assert len(assert_scores(BAD, QRELS, {"rr": 0.1}, baseline=GOOD, max_drop=allowed).verdicts) == 2
    saved = gradedeval.evaluate({"main": GOOD}, QRELS, "rr")
    for baseline in (saved, saved.frame):
        again = failure(BAD, QRELS, {"rr": 0.1}, baseline=baseline)[1]
        assert again == line.replace("; judging the unjudged documents could not reverse it", "")
    assert assert_scores(GOOD, QRELS, {"rr": 1.0, "ap": 0.9}, baseline=GOOD).failed == []


def test_a_baseline_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "main.run").write_text("1 Q0 b 1 2 t\n2 Q0 a 1 2 t\n3 Q0 b 1 1 t\n")
    assert failure(BAD, QRELS, {"rr": 0.1}, baseline=tmp_path / "main.run")[1].startswith("run: rr fell by 0.5000")
    gradedeval.evaluate({"main": GOOD}, QRELS, "rr").frame.to_csv(tmp_path / "main.csv", index=False)
    assert failure(BAD, QRELS, {"rr": 0.1}, baseline=str(tmp_path / "main.csv"))[1].startswith("run: rr fell by 0.5000")
    with pytest.raises(InputError, match="no such file"):
        assert_scores(BAD, QRELS, {"rr": 0.1}, baseline=tmp_path / "other.run")


def test_several_runs_other_bounds_and_measures_of_which_lower_is_better() -> None:
    head, line, _ = failure({"good": GOOD, "bad": BAD}, QRELS, [Bound("min", "rr", 0.75)])
    assert head == "1 of 2 bounds failed"
    assert line.startswith("bad: rr ")
    assert assert_scores(GOOD, QRELS, {"unjudged@2": 0.0}).failed == []
    unjudged = {topic: {**documents, "new": 9.0} for topic, documents in GOOD.items()}
    assert "is above 0" in failure(unjudged, QRELS, {"unjudged@2": 0.0})[1]
    assert "too few documents are judged" in failure(unjudged, QRELS, [Bound("max-unjudged", "rr", 0.1)])[1]


def many(*ranked: str) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """Return a run of twenty topics, ranked in turn, and judgments: a is relevant."""
    names = [str(topic) for topic in range(20)]
    run = {
        name: {docno: -float(rank) for rank, docno in enumerate(ranked[i % len(ranked)])}
        for i, name in enumerate(names)
    }
    return run, {name: {"a": 1, "b": 0, "c": 0} for name in names}


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_assert_no_worse_passes_or_gives_the_verdict(tmp_path: Path) -> None:
    main, qrels = many("abc", "bac")
    mixed, worse = many("bac", "abc", "bac", "abc", "abc")[0], many("bca")[0]
    assert assert_no_worse(main, qrels, {"rr": "5%", "p@1": 0.1}, baseline=main).passed
    with pytest.raises(AssertionError, match=r"^2 of 2 bounds failed\nrun: rr .*: worse than -5%"):
        assert_no_worse(worse, qrels, ["rr=5%", "p@1=0.1"], baseline=main)
    with pytest.raises(AssertionError, match=r"^cannot tell for 1 of 1 bounds, which fails\nrun: rr .*: cannot tell"):
        assert_no_worse(mixed, qrels, {"rr": "5%"}, baseline=main)
    saved = gradedeval.evaluate({"main": main}, qrels, "rr").frame
    passed = assert_no_worse(mixed, qrels, "rr=5%", baseline=saved, undecided="pass")
    assert (passed.passed, passed["answer"].tolist()) == (True, ["cannot tell"])
    with pytest.raises(InputError, match="no_worse: names no measure"):
        assert_no_worse(main, qrels, "5%", baseline=main)


@pytest.mark.parametrize(
    ("run", "expected", "keywords", "message"),
    [
        (GOOD, {}, {}, "expected: has no bounds"),
        (GOOD, {"rr": "x"}, {}, "expected: rr: 'x' is not a number"),
        (GOOD, [Bound("min", "rr", 0.5)], {"baseline": GOOD}, "baseline: no bound compares with it"),
        (GOOD, [Bound("max-drop", "rr", 0.5)], {}, "max-drop needs a baseline"),
        ({"baseline": GOOD}, {"rr": 0.5}, {"baseline": GOOD}, "run: a run is called 'baseline'"),
        ("no.run", {"rr": 0.5}, {}, "no.run: no such file"),
    ],
)
def test_invalid_tests_are_errors(run: Any, expected: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        assert_scores(run, QRELS, expected, **keywords)


def test_pytest_shows_the_line_of_the_test_and_the_message_whole(tmp_path: Path) -> None:
    (tmp_path / "test_search.py").write_text(
        f"from gradedeval.testing import assert_scores\n\n\ndef test_search():\n"
        f"    assert_scores({BAD}, {QRELS}, {{'rr': 0.75}})\n"
    )
    words = ("-m", "pytest", "-p", "no:cacheprovider", "-q", "test_search.py")
    done = python(*words, folder=tmp_path, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert done.returncode == 1
    assert re.search("^E +AssertionError: 1 of 1 bounds failed$", done.stdout, re.MULTILINE)
    assert "topics with the lowest scores: 3 0.0000, 2 0.5000" in done.stdout
    assert "options_with_residuals" not in done.stdout  # no line of ours
