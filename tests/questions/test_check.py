"""`check`: a whole CI job, its bounds from words and from TOML, and its reports for machines."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import gradedeval
from gradedeval import Bound, EvaluationWarning, InputError
from gradedeval.analysis import score_matrix
from gradedeval.analysis.score_matrix import to_matrix
from gradedeval.analysis.significance import TestSettings as Settings
from gradedeval.kernel.formats import formats_for
from gradedeval.kernel.measures.parse import canonical
from gradedeval.questions.check import REPORTS, Checked, verdicts
from gradedeval.questions.limits import KINDS, lines_of_keys, statements_of
from support.commands import Command, shell
from support.paths import ROOT
from support.runs import write_qrels, write_run

QRELS = "".join(f"{topic} 0 a 1\n{topic} 0 b 0\n{topic} 0 c 0\n" for topic in range(1, 11))


def ranking(places: list[int], unjudged: int = 0) -> str:
    """Return a run with the relevant document of each topic at the place given, among judged documents, and with
    unjudged documents below it in `unjudged` topics."""
    lines = []
    for topic, place in enumerate(places, 1):
        docnos = ["b", "c"]
        docnos.insert(place - 1, "a")
        if topic <= unjudged:
            docnos[docnos.index("b")] = "u"
        lines += [f"{topic} Q0 {docno} {rank} {10 - rank} t\n" for rank, docno in enumerate(docnos, 1)]
    return "".join(lines)


MAIN = [1, 1, 1, 1, 2, 2, 2, 2, 2, 3]
NEW = ("check", "new.run", "qrels.txt")


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Write the judgments, the run of the main branch and the bounds of a repository; return its folder."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "main.run").write_text(ranking(MAIN))
    (tmp_path / "gradedeval.toml").write_text(
        'measures = ["rr"]\nbaseline = "main.run"\n\n'
        '[min]\nrr = 0.5\n[max-drop]\nrr = "5%"\n[max-topic-drop]\nrr = 0.5\n[max-unjudged]\nrr = 0.1\n'
    )
    return tmp_path


def test_a_whole_job_passes_and_fails(job: Path, cli: Command) -> None:
    new, toml = job / "new.run", job / "gradedeval.toml"

    new.write_text(ranking([1, 1, 1, 1, 1, 2, 2, 2, 2, 3]))
    passed = cli(*NEW)
    assert passed.code == 0
    assert passed.messages == ["settings from gradedeval.toml"]
    assert [line[:4] for line in passed.text.splitlines()[:4]] == ["ok  "] * 4
    assert "rr rose by 0.0500 (7.3%), from 0.6833 to 0.7333 (allowed: 5%)\n" in passed.text

    new.write_text(ranking([2, 1, 1, 1, 2, 2, 2, 2, 2, 3]))
    worse = cli(*NEW)
    assert worse.code == 1
    (broken,) = [line for line in worse.text.splitlines() if line.startswith("FAIL")]
    assert broken == (
        "FAIL  new.run: rr fell by 0.0500 (7.3%), from 0.6833 to 0.6333, more than 5%; judging the unjudged "
        "documents could not reverse it; topic that fell most: 1 -0.5000"
    )
    # Of the topics that have a relevant document now.
    of_these = cli(*NEW, "--topics", "relevant").text
    assert "; judging the unjudged documents could not reverse it on these topics; topic" in of_these

    new.write_text(ranking([3, 1, 1, 1, 1, 2, 2, 2, 2, 2]))
    one_topic = cli(*NEW)
    assert one_topic.code == 1
    (broken,) = [line for line in one_topic.text.splitlines() if line.startswith("FAIL")]
    assert broken == "FAIL  new.run: rr fell by more than 0.5 in 1 topic of 10; topic that fell most: 1 -0.6667"

    new.write_text(ranking(MAIN, unjudged=10))
    unknown = cli(*NEW)
    assert unknown.code == 1
    (broken,) = [line for line in unknown.text.splitlines() if line.startswith("FAIL")]
    assert broken == (
        "FAIL  new.run: unjudged documents could lift rr by 0.3167, more than 0.1: too few documents are judged; "
        "topics that could gain most: 10 -0.6667, 5 -0.5000, 6 -0.5000, 7 -0.5000, 8 -0.5000"
    ).replace("-", "+")

    toml.write_text(toml.read_text().replace("rr = 0.5", "rr = 0.5\nndgc = 0.1", 1))
    broken_config = cli(*NEW)
    assert broken_config.code == 2
    assert broken_config.out == b""
    assert broken_config.messages == ["gradedeval.toml:6: unknown measure 'ndgc'; did you mean 'ndcg'?"]


BETTER = ranking([1] * 10)
WORSE = ranking([2] * 10)


def checked(cli: Command, *words: str) -> tuple[int, list[str]]:
    """Return the exit code and the bounds, each with + if it holds and - if not."""
    outcome = cli(*NEW, *words, "-f", "json")
    bounds = json.loads(outcome.text)["bounds"] if outcome.code < 2 else []
    return outcome.code, [f"{'+' if bound['passed'] else '-'}{bound['bound']} {bound['measure']}" for bound in bounds]


@pytest.fixture
def folder(job: Path) -> Path:
    """Return the folder of the job without a file of settings."""
    (job / "gradedeval.toml").unlink()
    (job / "new.run").write_text(WORSE)
    return job


@pytest.mark.parametrize(
    ("bound", "code"),
    [
        (("--min", "rr=0.5"), 0),
        (("--min", "rr=0.5001"), 1),
        (("--max-drop", "rr=0.18334"), 0),
        (("--max-drop", "rr=0.1833"), 1),
        (("--max-drop", "rr=26.9%"), 0),
        (("--max-drop", "rr=26.8%"), 1),
        (("--max-topic-drop", "rr=0.5"), 0),
        (("--max-topic-drop", "rr=0.4999"), 1),
        (("--max-unjudged", "rr=0"), 0),
        (("--significant", "rr=0.05"), 0),
        (("--significant", "rr=0.3"), 1),
        (("-m", "rr", "--min", "0.5"), 0),
        (("-m", "rr", "--min", "0.5", "--max-drop", "5%"), 1),
    ],
)
def test_a_bound_is_broken_just_beyond_its_limit(bound: tuple[str, ...], code: int, folder: Path, cli: Command) -> None:
    assert checked(cli, "--baseline", "main.run", *bound)[0] == code


def test_a_mean_equal_to_the_limit_meets_the_bound(folder: Path) -> None:
    # 0.1 + 0.2 and the like: the last bits break no bound.
    scores = gradedeval.evaluate(folder / "main.run", folder / "qrels.txt", "rr")
    assert gradedeval.check(scores, [Bound("min", "rr", scores.means["rr"] + 1e-15)])["passed"].tolist() == [True]


def test_a_small_significant_drop_breaks_a_level(folder: Path, cli: Command) -> None:
    (folder / "main.run").write_text(BETTER)
    assert checked(cli, "--baseline", "main.run", "--significant", "rr=0.05") == (1, ["-significant rr"])
    (folder / "new.run").write_text(BETTER)
    (folder / "main.run").write_text(WORSE)
    assert checked(cli, "--baseline", "main.run", "--significant", "rr=0.05") == (0, ["+significant rr"])


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ("--max-drop rr=1 --min p@1=0 --significant 0.05", "+min p@1 +max-drop rr +significant p@1 +significant rr"),
        ("--min err@20=0.1 --gain linear -m err@20 --max-unjudged 0.5", "+min err@20 +max-unjudged err@20"),
        ("--min rbp(p=0.5)=0.1 --min rbp:p=0.8@5=0.1", "+min rbp(p=0.5) +min rbp:p=0.8@5"),
        (
            "--max-drop 100%",
            " ".join(f"+max-drop {name}" for name in ("err@20", "ndcg@20", "rbp", "ap", "gap", "p@10")),
        ),
    ],
)
def test_bounds_take_their_own_measures_or_m_or_the_defaults(
    bounds: str, expected: str, folder: Path, cli: Command
) -> None:
    code, lines = checked(cli, *bounds.split(), *(() if "--gain" in bounds else ("--baseline", "main.run")))
    assert (code, " ".join(lines)) == (0, expected)


def test_the_levels_of_several_measures_are_corrected_together(folder: Path, cli: Command) -> None:
    (folder / "main.run").write_text(ranking([1] * 8 + [2, 2]))
    (folder / "new.run").write_text(ranking([2] * 8 + [2, 2]))
    outcome = cli(*NEW, "--baseline", "main.run", "-m", "rr p@1", "--significant", "0.01")
    assert outcome.text.count("p 0.0156 (randomization, all permutations, holm over 2)") == 2  # 2 · 2/2^8


def test_saved_scores_are_a_baseline(folder: Path, cli: Command) -> None:
    assert cli("main.run", "qrels.txt", "-q", "-m", "rr", "-o", "main.csv").code == 0
    assert checked(cli, "--baseline", "main.csv", "--max-drop", "rr=0.1") == (1, ["-max-drop rr"])


BEIR = {topic: {docno: 3 - rank for rank, docno in enumerate("bca")} for topic in map(str, range(1, 11))}
"""A run that has the relevant document last."""
RANKED = [(topic, docno, score) for topic, ranked in BEIR.items() for docno, score in ranked.items()]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("main.tsv", "".join(f"{topic}\t{docno}\t{4 - score}\n" for topic, docno, score in RANKED)),
        ("main.tsv", "query-id\tcorpus-id\tscore\n" + "".join("\t".join(map(str, row)) + "\n" for row in RANKED)),
        ("main.csv", "qid,docno,score\n" + "".join(",".join(map(str, row)) + "\n" for row in RANKED)),
        ("main.json", json.dumps(BEIR)),
        (
            "main.jsonl",
            "".join(json.dumps(dict(zip(("qid", "docno", "score"), row, strict=True))) + "\n" for row in RANKED),
        ),
    ],
)
def test_a_run_of_any_name_is_a_baseline(name: str, content: str, folder: Path, cli: Command) -> None:
    (folder / name).write_text(content)
    assert checked(cli, "--baseline", name, "--max-drop", "rr=0") == (0, ["+max-drop rr"])


def test_a_baseline_of_fewer_topics_is_noted_and_min_topics_fails(folder: Path, cli: Command) -> None:
    cli("main.run", "qrels.txt", "-q", "-m", "rr", "-o", "main.csv")
    kept = [line for line in (folder / "main.csv").read_text().splitlines(True) if ",7," not in line]
    (folder / "main.csv").write_text("".join(kept))
    check = (*NEW, "--baseline", "main.csv", "--max-drop", "rr=1")
    outcome = cli(*check)
    message = (
        "baseline 'main.run' has scores of 9 of 10 topics: drops elsewhere go unnoticed; --min-topics 10 makes that"
    )
    assert (outcome.code, [line[: len(message)] for line in outcome.messages if "baseline" in line]) == (0, [message])
    assert cli(*check, "--min-topics", "10").code == 1


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_baseline_without_its_means_has_no_signature_and_is_refused(form: str, folder: Path, cli: Command) -> None:
    cli("main.run", "qrels.txt", "-q", "-m", "rr", "-o", f"main.{form}")
    kept = [line for line in (folder / f"main.{form}").read_text().splitlines(True) if "all" not in line]
    (folder / f"main.{form}").write_text("".join(kept))
    check = (*NEW, "--baseline", f"main.{form}", "--max-drop", "rr=1")
    outcome = cli(*check)
    problem = f"main.{form}: the row of the mean (topic 'all') of a run is missing, and with it the signature"
    assert (outcome.code, outcome.messages[0][: len(problem)]) == (3, problem)


def test_each_of_several_runs_is_checked(folder: Path, cli: Command) -> None:
    (folder / "other.run").write_text(BETTER)
    runs = ("new.run", "other.run", "main.run")
    outcome = cli("check", *runs, "qrels.txt", "--baseline", "main.run", "--max-drop", "rr=0")
    assert [line[:20] for line in outcome.text.splitlines()[:2]] == ["FAIL  new.run: rr fe", "ok    other.run: rr "]
    assert outcome.code == 1


# Settings


def test_pyproject_is_read_if_it_has_our_table(folder: Path, cli: Command) -> None:
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert cli(*NEW, "--min", "rr=0.1").messages == []
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.gradedeval]\nmin = { rr = 0.9 }\n")
    outcome = cli(*NEW)
    assert (outcome.code, outcome.messages) == (1, ["settings from pyproject.toml"])
    assert cli(*NEW, "--config", "pyproject.toml").code == 1
    (folder / "gradedeval.toml").write_text("[tool.gradedeval]\nmin = { rr = 0.5 }\n")
    assert cli(*NEW).code == 0


def test_an_option_overrides_the_file(job: Path, cli: Command) -> None:
    (job / "new.run").write_text(ranking(MAIN))
    assert cli(*NEW).code == 0
    assert cli(*NEW, "--min", "rr=0.9").code == 1
    assert cli(*NEW, "--min", "0.9").code == 1
    (job / "better.run").write_text(BETTER)
    assert cli(*NEW, "--baseline", "better.run").code == 1


@pytest.mark.parametrize(
    ("measures", "first", "second", "bounded"),
    [
        ("", "--min map=0.9", "--min ap=0.1", "ap"),
        ("", "--min map=0.9", "--min map=0.1", "map"),
        ("", "--max-drop ap=1%", "--max-drop ap=0.9", "ap"),
        ("-m ap", "--min 0.9", "--min ap=0.1", "ap"),
        ("", "--significant ap=0.1", "--significant 0.2", "ap"),
    ],
)
def test_a_repeated_bound_is_refused(
    measures: str, first: str, second: str, bounded: str, folder: Path, cli: Command
) -> None:
    outcome = cli(*NEW, "--baseline", "main.run", *f"{measures} {first} {second}".split())
    message = f"{second}: given twice: {first} bounds '{bounded}' as well; keep one of the two"
    assert (outcome.code, outcome.messages) == (2, [message])


def test_a_file_repeats_no_bound_and_overrides_no_option(folder: Path, cli: Command) -> None:
    (folder / "gradedeval.toml").write_text("[min]\nmap = 0.9\nap = 0.1\n")
    outcome = cli(*NEW)
    message = "gradedeval.toml:3: given twice: gradedeval.toml:2 bounds 'ap' as well; keep one of the two"
    assert (outcome.code, outcome.messages) == (2, [message])
    (folder / "gradedeval.toml").write_text("min-topics = 5\n[min]\nmap = 0.9\n")
    assert checked(cli, "--min", "ap=0.1", "--min-topics", "ap=11") == (1, ["+min ap", "-min-topics ap"])


def test_a_file_takes_every_option_with_paths_relative_to_it(job: Path, cli: Command) -> None:
    folder = job / "ci"
    folder.mkdir()
    (folder / "old.run").write_text(ranking(MAIN))
    (folder / "few.txt").write_text("1\n2\n5\n")
    (folder / "gate.toml").write_text(
        'measures = "err@5"\nbaseline = "old.run"\ngain = "linear"\ntopics-from = "few.txt"\ntest = "t"\n'
        "seed = 3\ndraws = 100\nsignificant = 0.2\nmin = 0.1\n"
    )
    (job / "new.run").write_text(WORSE)
    outcome = cli(*NEW, "--config", "ci/gate.toml")
    assert outcome.code == 1
    assert "err@5 fell by 0.3333 (40.0%), from 0.8333 to 0.5000, p 0.1835 (t), significant" in outcome.text


LINES = """# a comment
measures = [
  "rr",
  "ap"
]

[min]
rr = 0.5

[max-drop]
"rbp(p=0.5)" = "5%"
ap = 0.1
"""


@pytest.mark.parametrize(
    ("keys", "line"),
    [(("measures",), 2), (("min", "rr"), 8), (("max-drop", "rbp(p=0.5)"), 11), (("max-drop", "ap"), 12), (("min",), 7)],
)
def test_the_line_of_a_key_is_the_first_of_its_statement(keys: tuple[str, ...], line: int) -> None:
    assert lines_of_keys(statements_of("gate.toml", LINES))[keys] == line


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ("min = {", 1, "invalid TOML (…)"),
        ("a = 1\nb == 2\n", 2, "invalid TOML (Invalid value)"),
        ("\n\nmni = 0.2\n", 3, "unknown setting 'mni'; did you mean 'min'?"),
        ("[min]\nrr = 0.5\nnope = 0.5\n", 3, "unknown measure 'nope'; …"),
        ("[min]\nrr = true\n", 2, "'True' is not a number; for example err@20=0.25"),
        ("[min]\nrr = '5%'\n", 2, "'5%' is a percentage; only --max-drop and --no-worse take percentages"),
        ("[max-drop]\nrr = -0.1\n", 2, "-0.1 is negative; give 0 or more"),
        ("significant = 5\n", 1, "5 is not a significance level; give a number between 0 and 1, such as 0.05"),
        ("measures = ['rr', 'ap']\nmin = 0.5\n", 2, "names no measure, and there are 2; write MEASURE=VALUE, …"),
        ("min = 0.5\n", 1, "names no measure; write MEASURE=VALUE, …"),
        ("measures = 3\n", 1, "measures is not a list of strings; …"),
        ("measures = ['nope']\n", 1, "unknown measure 'nope'; …"),
        ("[min]\nrr = 0\n[gain]\nx = 1\n", 3, "{'x': 1} is not a gain scheme or a list of gains"),
        ("ties = 'bset'\n", 1, "invalid value 'bset'; did you mean 'best'?"),
        ("depth = 0\n", 1, "0 is too small; it must be at least 1"),
        ("lenient = 3\n", 1, "3 is not True or False"),
        ("seed = 'x'\n", 1, "seed is not a whole number"),
        ("seed = 99999999999999999999\n", 1, "1e+20 is too large; it must be at most 999,999,999,999,999,999"),
        ("depth = 1e400\n", 1, "inf is not a whole number from 1"),
        (f"a = 1\ndepth = {'1' * 10_000}\n", 2, "invalid TOML (a number of more than 400 digits); give a smaller one"),
        (f"\nx = {'[' * 50_000}{']' * 50_000}\n", 2, "invalid TOML (nested more than 50 deep); no setting is"),
        ("[" + ".".join("a" * 20_000) + "]\nx = 1\n", 1, "invalid TOML (nested more than 50 deep); no setting is"),
        ("[min]\n'" + "(" * 30_000 + "' = 1\n", 2, "'…': has parentheses more than 100 deep; leave some of them out"),
        ("baseline = 3\n", 1, "baseline is not a string"),
        ("qrels = 'qrels.txt'\n", 1, "unknown setting 'qrels'; RUN and QRELS are given on the command line"),
        ("[gradedeval]\nmin = { rr = 0.5 }\n", 1, "unknown setting 'gradedeval'; settings stand at the top of …"),
    ],
)
def test_broken_settings_are_refused_with_the_line(
    content: str, line: int, problem: str, job: Path, cli: Command
) -> None:
    (job / "gradedeval.toml").write_text(content)
    outcome = cli("check", "main.run", "qrels.txt", "--config", "gradedeval.toml")
    assert (outcome.code, outcome.out) == (2, b"")
    message = outcome.messages[-1]
    assert re.fullmatch(re.escape(f"gradedeval.toml:{line}: {problem}").replace("…", ".*"), message), message


@pytest.mark.parametrize("content", ["", "[tool.other]\nx = 1\n"])
def test_a_named_file_without_settings_is_refused(content: str, job: Path, cli: Command) -> None:
    (job / "x.toml").write_text(content)
    assert cli("check", "main.run", "qrels.txt", "--config", "x.toml").code == 2


# Reports


def both(job: Path, signature: str = "") -> Checked:
    scores = gradedeval.evaluate([str(job / "main.run"), str(job / "new.run")], job / "qrels.txt", "rr", residuals=True)
    bounds = [Bound("min", "rr", 0.1), Bound("max-drop", "rr", 0.05, True)]
    return Checked(verdicts(to_matrix(scores), bounds, "main.run", Settings()), signature)


def test_github_s_annotations_are_one_line_each_and_escaped(folder: Path) -> None:
    lines = REPORTS["github"](both(folder), str).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("::error title=max-drop rr::new.run: rr fell by 0.1833 (26.8%25), from 0.6833 to 0.5000")
    assert lines[1] == "::notice title=gradedeval check::1 of 2 bounds failed, over 10 topics"


def test_junit_is_xml_with_a_case_for_each_bound(folder: Path) -> None:
    suite = ElementTree.fromstring(REPORTS["junit"](both(folder, 'a "signature" <&>'), str))
    assert suite.attrib == {"name": "gradedeval check", "tests": "2", "failures": "1", "errors": "0"}
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["min rr 0.1", "max-drop rr 5%"]
    assert [case.find("failure") is not None for case in cases] == [False, True]
    assert suite.find("properties/property").get("value") == 'a "signature" <&>'  # type: ignore[union-attr]
    topics = [element.attrib for element in suite.iterfind("testcase/properties/property")]
    assert topics == [{"name": "topics", "value": "10"}] * 2


@pytest.mark.parametrize("form", [*REPORTS, *formats_for()])
def test_a_report_in_a_file_leaves_the_broken_bounds_on_stderr(form: str, folder: Path, cli: Command) -> None:
    outcome = cli(*NEW, "--min", "rr=0.9", "-f", form, "-o", "report")
    assert (outcome.code, outcome.out) == (1, b"")
    assert outcome.messages == [
        "FAIL  new.run: rr 0.5000 is below 0.9; "
        "topics with the lowest scores: 1 0.5000, 2 0.5000, 3 0.5000, 4 0.5000, 5 0.5000"
    ]
    assert (folder / "report").read_text()


def test_the_format_of_a_report_follows_its_extension(folder: Path, cli: Command) -> None:
    for name, begins in (("r.md", "**"), ("r.json", "{"), ("r.xml", "<?xml"), ("r.txt", "ok  ")):
        assert cli(*NEW, "--min", "rr=0.1", "-o", name).code == 0
        assert (folder / name).read_text().startswith(begins)


# In Python


def test_verdicts_are_a_tidy_frame(folder: Path) -> None:
    scores = gradedeval.evaluate([str(folder / "main.run"), str(folder / "new.run")], folder / "qrels.txt", "rr")
    bounds = [Bound("min", "rr", 0.6), Bound("max-topic-drop", "rr", 0.5), Bound("significant", "rr", 0.3)]
    frame = gradedeval.check(scores, bounds, "main.run").frame
    assert frame["run"].tolist() == ["new.run"] * 3
    assert frame["bound"].tolist() == ["min", "max-topic-drop", "significant"]
    assert frame["passed"].tolist() == [False, True, False]
    assert frame["topics"].tolist() == [10] * 3
    # Four topics fall by 3/6 and one rises by 1/6: 4 of 32 sign flips have all the threes alike, 13 or 11 sixths.
    assert frame["value"].tolist() == [0.5, 0.5, 4 / 32]
    assert frame["worst"][0] == "topics that fell most: 1 -0.5000, 2 -0.5000, 3 -0.5000, 4 -0.5000"
    with pytest.raises(InputError, match="Bound: invalid value 'most'"):
        Bound("most", "rr", 0.1)  # type: ignore[arg-type]


def test_bounds_without_residual_or_baseline_are_errors(folder: Path) -> None:
    scores = gradedeval.evaluate(folder / "new.run", folder / "qrels.txt", "bpref rr", residuals=True)
    with pytest.raises(InputError, match="bpref has no residual; set a minimum share of judged documents"):
        gradedeval.check(scores, [Bound("max-unjudged", "bpref", 0.1)])
    with pytest.raises(InputError, match="--max-drop needs a baseline; add baseline"):
        gradedeval.check(scores, [Bound("max-drop", "rr", 0.1)])
    with pytest.raises(InputError, match="the baseline is the only run"):
        gradedeval.check(scores, [Bound("max-drop", "rr", 0.1)], "new.run")


# The examples


@pytest.mark.exhaustive
def test_the_commands_of_the_workflow_run_as_they_stand(tmp_path: Path) -> None:
    """Run each `run:` of the workflow except installing and searching; the job fails as on GitHub."""
    shutil.copy(ROOT / "examples" / "gradedeval.toml", tmp_path)
    samples = ROOT / "qrels_samples"
    shutil.copy(samples / "rivers.qrels", tmp_path / "qrels.txt")
    shutil.copy(samples / "rivers-bm25.run", tmp_path / "main.run")
    content = (ROOT / "examples" / "github-workflow.yml").read_text()
    steps = pytest.importorskip("yaml").safe_load(content)["jobs"]["evaluate"]["steps"]
    commands = [step["run"] for step in steps if step.get("run", "").startswith("gradedeval check ")]
    assert len(commands) == 2
    assert steps[-1]["run"].startswith("gradedeval diff ")
    for run, code in (("rivers-bm25-rm3.run", 0), ("rivers-dense.run", 1)):
        shutil.copy(samples / run, tmp_path / "new.run")
        (tmp_path / "summary.md").unlink(missing_ok=True)
        outcomes = [shell(f"export GITHUB_STEP_SUMMARY=summary.md; {command}", tmp_path) for command in commands]
        assert outcomes[0].code == code, outcomes[0]
        assert ("::error title=" in outcomes[0].text) == bool(code)
        assert "gradedeval check" in (tmp_path / "summary.md").read_text()


def test_an_unreachable_level_is_refused(folder: Path, cli: Command) -> None:
    check = (*NEW, "--baseline", "main.run")
    topics = [str(topic) for topic in range(1, 31)]
    write_qrels(folder / "qrels.txt", {topic: {"a": 1, "b": 0} for topic in topics})
    write_run(folder / "new.run", {topic: {"b": 2.0, "a": 1.0} for topic in topics})
    write_run(folder / "main.run", {topic: {"a": 2.0} for topic in topics})
    outcome = cli(*check, "--significant", "rr=0.01", "--draws", "98")
    assert (outcome.code, outcome.out) == (2, b"")
    assert outcome.messages == [
        "--significant rr=0.01: with 98 draws the smallest possible p is 0.01, so nothing is significant at 0.01; "
        "use --draws 99 or more, or --test t"
    ]
    assert cli(*check, "--significant", "rr=0.01", "--draws", "99").code == 1
    # Two measures: Holm's correction doubles the smaller p.
    two = ("-m", "rr p@1", "--significant", "0.01", "--draws")
    message = "(0.01005 after holm over 2), so nothing is significant at 0.01; use --draws 199 or more, or --test t"
    assert cli(*check, *two, "198").messages[-1].endswith(message)
    assert cli(*check, *two, "199").code == 1
    not_alike = {topic: {"b": 2.0, "a": 1.0} for topic in topics[1:]} | {"1": {"a": 2.0}}
    write_run(folder / "new.run", not_alike)
    assert cli(*check, "--significant", "rr=0.01", "--draws", "1", "--test", "t").code == 1
    with pytest.raises(InputError, match="significant rr: with 9 draws the smallest possible p is"):
        gradedeval.check(gradedeval.evaluate(["main.run", "new.run"], "qrels.txt", "rr"),
                         [Bound("significant", "rr", 0.05)], "main.run", draws=9)  # fmt: skip


def test_an_equal_score_is_reported_as_unchanged(folder: Path, cli: Command) -> None:
    (folder / "new.run").write_text((folder / "main.run").read_text())
    outcome = cli(*NEW, "--baseline", "main.run", "-m", "rr", "--max-drop", "0", "--min", "0")
    github = cli(*NEW, "--min", "rr=0.1", "-f", "github").text
    assert github == "::notice title=gradedeval check::the bound holds, over 10 topics\n"
    assert "new.run: rr unchanged at 0.6833 (allowed: 0)\n" in outcome.text
    assert "\nboth bounds hold\n" in outcome.text


@pytest.mark.parametrize("bound", ["--max-drop", "--max-topic-drop", "--max-unjudged"])
def test_a_bound_that_cannot_fail_is_refused(bound: str, folder: Path, cli: Command) -> None:
    check = (*NEW, "--baseline", "main.run")
    outcome = cli(*check, bound, "ndcg@10=5")
    assert (outcome.code, outcome.out) == (2, b"")
    (message,) = outcome.messages
    assert message.startswith(f"{bound} ndcg@10=5: can never fail: 'ndcg@10' is 1 at most")
    assert message.endswith("; write 5% for a share of the baseline's mean") == (bound == "--max-drop")
    assert cli(*check, "--max-drop", "rr=101%").messages == [
        "--max-drop rr=101%: can never fail: a mean drops by 100% at most"
    ]
    assert cli(*check, bound, "ndcg@10=1").code == 0


@pytest.mark.parametrize("form", ["junit", "github", "json", "text"])
def test_bad_data_are_not_a_failed_bound(form: str, folder: Path, cli: Command) -> None:
    (folder / "bad.run").write_text("1 Q0 a\n")
    outcome = cli("check", "bad.run", "qrels.txt", "--min", "rr=0.1", "-f", form)
    assert outcome.code == 3
    problem = outcome.messages[-1]
    assert problem.startswith("bad.run:1: 3 fields")
    if form == "junit":
        suite = ElementTree.fromstring(outcome.text)
        assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "1")
        (error,) = suite.iter("error")
        assert error.get("message") == problem
    elif form == "json":
        assert json.loads(outcome.text) == {"passed": False, "error": problem, "bounds": []}
    else:
        annotation = f"::error title=gradedeval check%3A nothing was checked::{problem}\n"
        assert outcome.text == ("" if form == "text" else annotation)


def test_many_bounds_are_looked_up_by_name(folder: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []

    def counted(name: str) -> str:
        looked_up.append(name)
        return canonical(name)

    monkeypatch.setattr(score_matrix, "canonical", counted)
    bounds = [word for number in range(1, 41) for word in ("--min", f"err@{number}=0")]
    assert cli(*NEW, *bounds).code == 0
    assert len(looked_up) < 400  # 40 bounds with 40 measures each were looked up before


def test_an_invalid_command_line_writes_no_report(folder: Path, cli: Command) -> None:
    outcome = cli("check", "new.run", "new.run", "qrels.txt", "--min", "rr=0.1", "-f", "junit", "-o", "out")
    assert (outcome.code, outcome.out, (folder / "out").exists()) == (2, b"", False)
    assert outcome.messages == ["run 'new.run' is given twice; give each run once"]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (
            "new.ru",
            None,
            "--baseline: 'new.ru' is neither a file nor one of the runs (new.run); did you mean 'new.run'?",
        ),
        ("bad.csv", "qid,docno,rank,scor\n1,a,1,2\n", "bad.csv: no column 'score' among"),
        ("bad.json", "[]", "bad.json: is empty; expected"),
    ],
)
def test_files_that_lack_data_are_bad_data(
    name: str, content: str | None, problem: str, folder: Path, cli: Command
) -> None:
    if content is not None:
        (folder / name).write_text(content)
        assert cli("check", name, "qrels.txt", "--min", "rr=0.1").code == 3
        assert cli(name, "qrels.txt").code == 1
    outcome = cli(*NEW, "--max-drop", "rr=5%", "--baseline", name)
    assert (outcome.code, outcome.messages[0][: len(problem)]) == (3, problem)


ONLY = "only --max-drop works with a baseline without topics"
"""The problem of a baseline of means."""
TOPICS = "save it with `gradedeval RUN QRELS -q`, which adds the topics"


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl"])
def test_a_baseline_of_means_has_the_verdicts_of_its_run_by_max_drop(form: str, folder: Path, cli: Command) -> None:
    cli("main.run", "qrels.txt", "-m", "rr gm_ap num_rel_ret", "-f", form, "-o", "means")
    for bound in ("rr=0.3", "rr=0.001", "rr=5%", "rr=60%", "gm_ap=5%", "num_rel_ret=0"):
        check = (*NEW, "--max-drop", bound, "--min", "rr=0.1", "-f", "json")
        of_run, of_means = cli(*check, "--baseline", "main.run"), cli(*check, "--baseline", "means")
        assert of_means.code == of_run.code
        assert of_means.messages[:1] == [f"means has no scores by topic: {ONLY}; {TOPICS}"]
        for by_run, by_means in zip(
            *(json.loads(outcome.text)["bounds"] for outcome in (of_run, of_means)), strict=True
        ):
            assert (by_run["value"], by_run["passed"], by_run["topics"]) == (
                by_means["value"],
                by_means["passed"],
                by_means["topics"],
            )
            assert by_run["verdict"].startswith(by_means["verdict"])  # judging is not known to reverse it
            assert by_means["worst"] == [] or by_means["bound"] == "min"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("min", "max", "max-drop", "max-unjudged")])
def test_a_bound_that_needs_topics_refuses_a_baseline_of_means(kind: str, folder: Path, cli: Command) -> None:
    cli("main.run", "qrels.txt", "-m", "rr", "-o", "means.json")
    value = {"min-topics": "5", "significant": "0.5"}.get(kind, "0.1")
    refused = f"means.json has no scores by topic, and {ONLY}; {TOPICS}"
    outcome = cli(*NEW, f"--{kind}", f"rr={value}", "--baseline", "means.json")
    assert (outcome.code, outcome.messages) == (3, [f"--{kind} rr={value}: {refused}"])
    (folder / "gradedeval.toml").write_text(f'baseline = "means.json"\n[{kind}]\nrr = {value}\n')
    outcome = cli(*NEW)
    assert (outcome.code, outcome.messages[-1]) == (3, f"gradedeval.toml:3: {refused}")
    scores = gradedeval.evaluate(str(folder / "new.run"), str(folder / "qrels.txt"), "rr")
    with pytest.raises(InputError, match=re.escape("and only max-drop works with a baseline without topics")):
        gradedeval.check(scores, [Bound(kind, "rr", float(value))], str(folder / "means.json"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("saved_with", "checked_with", "problem"),
    [
        ((), (), ""),
        (("--topics", "both"), ("--topics", "both"), "over topics that depend on the run, and were saved without them"),
        (("--topics", "both"), (), "scored with topics 9 of 10 (here 10 of 10)"),
        (("--rel", "2"), (), "scored with gains rel 2 (here rel 1)"),
    ],
)
def test_a_baseline_of_means_is_over_the_same_topics(
    saved_with: tuple[str, ...], checked_with: tuple[str, ...], problem: str, folder: Path, cli: Command
) -> None:
    (folder / "few.run").write_text(ranking(MAIN[:9]))
    (folder / "new.run").write_text(ranking(MAIN)[ranking(MAIN).index("2 Q0") :])  # the first topic is missing
    assert cli("few.run", "qrels.txt", "-m", "rr", "-o", "means.csv", *saved_with).code == 0
    outcome = cli(*NEW, "--max-drop", "rr=100%", "--baseline", "means.csv", *checked_with)
    again = "score it again with the same qrels and options"
    assert outcome.code == (2 if problem else 0)
    assert not problem or outcome.messages == [f"means.csv: rr of 'few.run' is {problem}; {again}"]


def test_a_baseline_of_means_without_signature_or_of_another_version_is_noted(folder: Path, cli: Command) -> None:
    cli("main.run", "qrels.txt", "-m", "rr", "-o", "means.csv")
    saved = (folder / "means.csv").read_text()
    versions = f"scores come from several versions: the runs by gradedeval {gradedeval.__version__}, means.csv by"
    for content, problem in (
        ("".join(line.partition(',"')[0].removesuffix(",signature") + "\n" for line in saved.splitlines()),
         "means.csv: no signature, so qrels and options cannot be checked"),
        (saved.replace(f"gradedeval {gradedeval.__version__}", "gradedeval 0.0.9"), f"{versions} gradedeval 0.0.9"),
    ):  # fmt: skip
        (folder / "means.csv").write_text(content)
        outcome = cli(*NEW, "--max-drop", "rr=90%", "--baseline", "means.csv")
        assert (outcome.code, outcome.messages[0]) == (0, problem)


def test_a_slice_of_a_baseline_of_means_is_refused(folder: Path, cli: Command) -> None:
    cli("main.run", "qrels.txt", "-m", "rr", "-o", "means.csv")
    (folder / "slices.tsv").write_text("topic\tintent\n1\ttail\n2\ttail\n")
    check = (*NEW, "--slices", "slices.tsv", "--baseline", "means.csv", "--max-drop", "rr=90%")
    assert cli(*check, "--min", "intent=tail: rr=0.1").code == 0
    outcome = cli(*check, "--max-drop", "intent=tail: rr=90%")
    problem = f"--max-drop intent=tail: rr=90%: means.csv has no scores by topic, and {ONLY}, and not on a slice"
    assert (outcome.code, outcome.messages[-1]) == (3, f"{problem}; {TOPICS}")


def test_only_check_accepts_a_baseline_of_means(folder: Path, cli: Command) -> None:
    cli("main.run", "qrels.txt", "-m", "rr", "-o", "means.csv")
    for command in ("compare", "risk"):
        outcome = cli(command, "new.run", "qrels.txt", "-m", "rr", "--baseline", "means.csv")
        hint = "save scores with `gradedeval RUN... QRELS -q -f csv -o scores.csv`"
        assert (outcome.code, outcome.messages) == (1, [f"means.csv: no scores by topic; {hint}"])
    scores = gradedeval.evaluate(str(folder / "new.run"), str(folder / "qrels.txt"), "rr")
    with pytest.warns(EvaluationWarning, match="only max-drop works with a baseline without topics"):
        outcome = gradedeval.check(scores, [Bound("max-drop", "rr", 0.18)], folder / "means.csv")
    assert [verdict.passed for verdict in outcome.verdicts] == [False]


def test_an_internal_error_is_not_a_failed_bound(folder: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradedeval.cli.commands.check.verdicts", lambda *_: 1 / 0)
    outcome = cli(*NEW, "--min", "rr=0.1")
    assert (outcome.code, outcome.messages[-1]) == (3, "ZeroDivisionError: division by zero")


@pytest.mark.parametrize(
    ("line", "key"),
    [("err@20 = 0.25", "err@20"), ("rbp(p=0.8) = 0.1", "rbp(p=0.8)"), ("ndcg(gain=exp)@10 = 1", "ndcg(gain=exp)@10")],
)
def test_a_measure_without_quotes_has_a_hint(line: str, key: str, folder: Path, cli: Command) -> None:
    for text in (f"[min]\n{line}\n", f"min = {{ {line} }}\n"):
        (folder / "gradedeval.toml").write_text(text)
        (message,) = cli("check", "run.txt", "qrels.txt").messages
        assert message.endswith(f'; quote the key: "{key}" = …'), message


def test_an_upper_bound_is_for_measures_with_lower_is_better(folder: Path, cli: Command) -> None:
    (folder / "worst.run").write_text("".join(f"{topic} Q0 u 1 2 t\n{topic} Q0 a 2 1 t\n" for topic in range(1, 11)))
    check = ("check", "worst.run", "qrels.txt", "-m", "unjudged@2")
    broken = cli(*check, "--max", "0.2")
    assert broken.code == 1
    begins = "FAIL  worst.run: unjudged@2 0.5000 is above 0.2; topics with the highest scores: 1 0.5000, 2 0.5000, 3"
    assert broken.text.startswith(begins)
    assert cli(*check, "--max", "0.5").code == 0
    lower_bound = cli(*check, "--min", "0.2")
    assert lower_bound.code == 0
    assert lower_bound.messages == [
        "--min 0.2: lower is better by unjudged@2, so this bound passes worse runs; use --max to refuse it"
    ]
    assert cli("check", "worst.run", "qrels.txt", "--max", "rr=0.9").messages == [
        "--max rr=0.9: higher is better by rr, so this bound passes worse runs; use --min to refuse it"
    ]
    assert cli("check", "worst.run", "qrels.txt", "--max", "rr=2").code == 2
    scores = gradedeval.evaluate(str(folder / "worst.run"), str(folder / "qrels.txt"), "rr unjudged@2")
    with pytest.warns(gradedeval.EvaluationWarning, match="min unjudged@2: lower is better"):
        gradedeval.check(scores, [Bound("min", "unjudged@2", 0.2)])


def test_a_bound_may_require_enough_topics(folder: Path, cli: Command) -> None:
    (folder / "few.run").write_text(ranking(MAIN[:3]))
    check = ("check", "few.run", "qrels.txt", "-m", "rr ap", "--topics", "both")
    outcome = cli(*check, "--min-topics", "5", "-f", "json")
    assert outcome.code == 1
    bounds = json.loads(outcome.text)["bounds"]
    assert [(bound["measure"], bound["value"], bound["topics"]) for bound in bounds] == [("rr", 3, 3), ("ap", 3, 3)]
    assert bounds[0]["verdict"] == "rr is over 3 topics, fewer than 5"
    assert cli(*check, "--min-topics", "rr=3").code == 0
    assert cli(*check, "--min-topics", "2.5").messages == [
        "--min-topics 2.5: 2.5 is not a number of topics; give 1 or more"
    ]
    # By default all topics of the qrels count, with 0 for topics that the run lacks: it has not answered them.
    outcome = cli("check", "few.run", "qrels.txt", "-m", "rr", "--min-topics", "5", "--min", "rr=0")
    assert outcome.code == 1
    assert "\nFAIL  few.run: rr is over 3 topics with documents, fewer than 5\n" in outcome.text
    assert cli("check", "few.run", "qrels.txt", "-m", "rr", "--min-topics", "3").code == 0
    assert cli("check", "main.run", "qrels.txt", "--baseline", "few.run", "--min-topics", "rr=4").code == 1
    both = ("check", "main.run", "qrels.txt", "--baseline", "few.run", "--topics", "both", "--min-topics", "rr=5")
    assert cli(*both).text.startswith("FAIL  main.run: rr is over 3 topics, fewer than 5")


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_in_python_a_baseline_may_be_saved_in_any_form(folder: Path, cli: Command) -> None:
    new, main = (gradedeval.evaluate(name, "qrels.txt", "rr", residuals="total") for name in ("new.run", "main.run"))
    both = gradedeval.evaluate(["main.run", "new.run"], "qrels.txt", "rr")
    bounds = [Bound("max-drop", "rr", 0.5)]
    cli("main.run", "qrels.txt", "-m", "rr", "-q", "-o", "main.csv")
    expected = gradedeval.check(both, bounds, "main.run").frame
    differences = gradedeval.compare(both, baseline="main.run")["difference"].tolist()
    risks = gradedeval.risk(both, baseline="main.run")["u_risk"].tolist()[1:]
    for baseline in (main, main.frame, str(folder / "main.csv"), folder / "main.csv"):
        assert gradedeval.check(new, bounds, baseline)["value"].tolist() == expected["value"].tolist()
        assert gradedeval.compare(new, baseline=baseline)["difference"].tolist() == differences
        assert gradedeval.risk(new, baseline=baseline)["u_risk"].tolist()[:1] == risks
    problem = r"^baseline: 'mian.run' is neither a file nor one of the runs .*; did you mean 'main.run'\?$"
    with pytest.raises(InputError, match=problem):
        gradedeval.check(both, bounds, "mian.run")
    with pytest.raises(InputError, match="is a run, and there are no qrels"):
        gradedeval.check(new, bounds, "main.run")
    otherwise = gradedeval.evaluate("main.run", "qrels.txt", "rr", topics="qrels", rel=2)
    with pytest.raises(InputError):
        gradedeval.check(new, bounds, otherwise)


def test_a_large_file_is_refused_as_settings(job: Path, cli: Command) -> None:
    (job / "x.toml").write_text("#\n" * 600_000)
    outcome = cli("check", "main.run", "qrels.txt", "--config", "x.toml")
    assert (outcome.code, outcome.out) == (2, b"")
    assert outcome.messages == ["x.toml: has more than 1,048,576 bytes; --config takes a file of settings"]


@pytest.mark.exhaustive
def test_lines_of_settings_are_found_in_one_reading(job: Path, monkeypatch: pytest.MonkeyPatch, cli: Command) -> None:
    """Parse the file once for the values and once by statement, not once for each line and setting."""
    parsed: list[int] = []
    loads = tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text, **more: (parsed.append(len(text)), loads(text, **more))[1])
    bounds = "".join(f'"rr@{number}" = 0\n' for number in range(1, 300))
    content = "# a comment\n" * 500 + f"[min]\n{bounds}" + "# another\n" * 500
    (job / "x.toml").write_text(content)
    assert cli("check", "main.run", "qrels.txt", "--config", "x.toml").code == 0
    assert sum(parsed) <= 2 * len(content)


@pytest.mark.parametrize(
    "content",
    [
        'a = """x [{"\n[b]\n""" # ]\nb = 1\n',
        "a = '''\n]'''\nb = '[{'\n[c]\nd = 1\n",
        'a = "\\"[" # {\n\n\n[b.c]\nd = [\n 1, # ]\n 2]\ne.f = 1\n',
        'a = { b = { c = "}" } }\r\n[[d]]\r\ne = 1\r\n[f]\r\ng = 1.5\r\n',
        "",
        "a = 1",
    ],
)
def test_statements_end_at_the_lines_of_the_parser(content: str) -> None:
    """Compare with the shortest beginnings of the text that the parser accepts."""
    content = content.replace("\r\n", "\n")  # as a file is read
    lines, start, expected = content.split("\n"), 0, dict[tuple[str, ...], int]()
    for end in range(1, len(lines) + 1):
        with suppress(tomllib.TOMLDecodeError):
            for keys in keys_of(tomllib.loads("\n".join(lines[:end]))):
                expected.setdefault(keys, start + 1)
            start = end
    assert {
        keys: line for keys, line in lines_of_keys(statements_of("x", content)).items() if keys in expected
    } == expected


def keys_of(value: Any, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield (*prefix, key)
        yield from keys_of(inner, (*prefix, key))


def test_topics_that_meet_the_bound_are_not_at_fault_and_names_with_spaces_are_quoted() -> None:
    names = ["iphone 15 case", "usb-c cable, 2m", "it's", "plain"]
    qrels = {name: {"a": 1} for name in [*names, "whole"]}
    run = {name: {"b": 2.0, "a": 1.0} for name in names} | {"whole": {"a": 1.0}}
    with pytest.warns(EvaluationWarning):
        scores = gradedeval.evaluate(run, qrels, "rr rank1 num_rel_ret")
    bounds = [Bound("min", "rr", 0.9), Bound("max", "rank1", 1.5), Bound("min", "num_rel_ret", 6)]
    checked = gradedeval.check(scores, bounds)
    low, high, total = (verdict.worst_words for verdict in checked.verdicts)
    listed = "'iphone 15 case' {0}, 'usb-c cable, 2m' {0}, 'it's' {0}, plain {0}"
    assert low == f"topics with the lowest scores: {listed.format('0.5000')}"
    assert high == f"topics with the highest scores: {listed.format('2.0000')}"
    assert total.endswith(", whole 1")  # a limit of a total is not one of a topic
    assert [len(verdict.worst_topics) for verdict in checked.verdicts] == [4, 4, 5]
