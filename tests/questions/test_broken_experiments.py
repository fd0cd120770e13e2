"""Broken input of the verbs over many runs: one clear line, a non-zero exit, and no file touched."""

import sys
from pathlib import Path

import pytest

from support.broken import RUN, Broken, check_refused, contents
from support.commands import Command

WORSE = b"1 Q0 b 1 3 t\n1 Q0 a 2 2 t\n2 Q0 x 1 1 t\n2 Q0 c 2 0 t\n"
SCORES = b"run,topic,measure,score\nold,1,err@20,0.5\nold,2,err@20,0.25\nold,all,err@20,0.375\n"
TWO = ("run.txt", "b.run", "qrels.txt", "-m", "err@20")
VERBS = ("compare", "correlate", "power")


def bad(name: str, command: tuple[str, ...], *problem: str, code: int = 2, **files: bytes) -> Broken:
    """Return a case; `files` are further files: `s_csv=b"…"` is a file s.csv."""
    named = {file.replace("_", "."): content for file, content in files.items()}
    return Broken(name, problem, code=code, command=command, files={"b.run": WORSE, "s.csv": SCORES, **named})


def bad_scores(name: str, content: bytes, *problem: str) -> Broken:
    return bad(f"saved scores: {name}", ("compare", "--from-scores", "s.csv"), *problem, code=1, s_csv=content)


HEAD = b"run,topic,measure,score\n"

EVERY = [
    *(bad(f"{verb} without files", (verb,), f"expected a run and a qrels file; usage: gradedeval {verb} RUN... QRELS")
      for verb in VERBS),
    *(bad(f"{verb} of a missing run", (verb, "none", *TWO), "none: no such file; check the path", code=1)
      for verb in VERBS),
    *(bad(f"{verb} of a broken run", (verb, *TWO), "run.txt:1: 2 fields, expected 6 …", code=1, run_txt=b"1 Q0\n")
      for verb in VERBS),
    *(bad(f"{verb} by a wrong measure", (verb, *TWO[:-1], "rpb"), "unknown measure 'rpb'; did you mean 'rbp'?")
      for verb in VERBS),
    *(bad(f"{verb} of runs beside saved scores", (verb, *TWO, "--from-scores", "s.csv"),
          "--from-scores: cannot be combined with files such as 'run.txt'; give either RUN... QRELS or saved scores")
      for verb in VERBS),
    *(bad(f"{verb} of saved scores by other rules", (verb, "--from-scores", "s.csv", "--gain", "exp"),
          "--gain: cannot be combined with --from-scores: saved scores cannot be changed; score the runs again")
      for verb in VERBS),
    *(bad(f"{verb} to an unknown extension", (verb, *TWO, "-o", "x.foo"),
        "'x.foo': no format has the extension '.foo'; …")
      for verb in (*VERBS, "fit")),
    *(bad(f"{verb} with an unknown option", (verb, *TWO, "--sead", "3"),
        "unknown option '--sead'; did you mean '--seed'?")
      for verb in ("compare", "power", "check")),
    *(bad(f"{verb} at the level 5", (verb, *TWO, "--alpha", "5"), "--alpha: 5 is too large; it must be below 1")
      for verb in ("compare", "power")),
    *(bad(f"{verb} of a measure that goes to infinity", (verb, *TWO[:-1], "nerr5(of=ed)"),
          "measure 'nerr5(of=ed)': infinite scores have no mean to compare; exclude this measure", code=1)
      for verb in ("compare", "power")),
    *(bad(f"{verb} of scores whose squares are too large", (verb, *TWO[:-1], "dcg(gain=0:1e200:1e200)"),
          "measure 'dcg(gain=0:1e200:1e200)': scores of 1e+150 or more have no deviation to compare by; …",
          code=1)
      for verb in ("compare", "power")),
    bad("gains whose sums are too large", (*TWO[:-1], "dcg(gain=0:1e300:1e308)"),
        "'dcg(gain=0:1e+300:1e+308)': the top gain 1e+308 is not below 1e+300; give smaller gains, …", code=1),
    *(bad(f"{verb} of one run", (verb, "run.txt", "qrels.txt", "-m", "ap rr"), problem)
      for verb, problem in (("compare", "compare needs at least two runs; add a run or --baseline"),
                         ("power", "power needs at least two runs; add a run"),
                         ("correlate", "rank correlation needs at least two runs; add a run, or use "
                             "--coefficient spearman"))),
    *(bad(f"{verb} of the same run twice", (verb, "run.txt", *TWO), "run 'run.txt' is given twice; give each run once")
      for verb in VERBS),
]  # fmt: skip

COMPARE = [
    bad("a baseline that is nothing", ("compare", *TWO, "--baseline", "none"),
        "--baseline: 'none' is neither a file nor one of the runs (run.txt, b.run); check the path", code=1),
    bad("a baseline that is qrels", ("compare", *TWO, "--baseline", "qrels.txt"),
        "qrels.txt: looks like qrels (4 fields per line); …", code=1),
    bad("a baseline by other measures", ("compare", *TWO[:-1], "ap", "--baseline", "s.csv"),
        "s.csv: no scores by 'ap' (only err@20); save them with -m 'ap' too", code=1),
    bad("a run of saved scores that is not there", ("compare", *TWO, "--baseline", "s.csv:new"),
        "unknown run 'new'; choose from old"),
    bad("a run for a baseline of saved scores", ("compare", "--from-scores", "s.csv", "--baseline", "b.run"),
        "--baseline: 'b.run' is a run, and there are no qrels to score it with; …"),
    bad("a correction of Tukey's test", ("compare", *TWO, "--test", "tukey-hsd", "--correction", "holm"),
        "--correction: tukey-hsd already corrects for all pairs; …"),
    bad("an unknown test", ("compare", *TWO, "--test", "ttest"), "--test: invalid value 'ttest'; did you mean 't'?"),
    bad("saved scores without the measure", ("compare", "--from-scores", "s.csv", "-m", "err@10"),
        "no scores by 'err@10'; did you mean 'err@20'?"),
    bad("runs without a measure in common", ("compare", "--from-scores", "s.csv", "--from-scores", "t.csv"),
        "no measure in common (err@20 vs ap); score both by the same measures",
        t_csv=HEAD + b"new,1,ap,1\n"),
    bad("a run in two files", ("compare", "--from-scores", "s.csv", "--from-scores", "t.csv"),
        "duplicate run 'old'; give each run once", t_csv=SCORES),
    bad("no saved scores there", ("compare", "--from-scores", "none.csv"), "none.csv: no such file; …", code=1),
    bad_scores("empty", b"", "s.csv: is empty; save scores with `gradedeval RUN... QRELS -q -f csv …"),
    bad_scores("no measure", b"run,topic,score\n", "s.csv:1: no column 'measure'; …"),
    bad_scores("means alone", HEAD + b"old,all,err@20,0.5\n", "s.csv: no scores by topic; …"),
    bad_scores("a cell too few", SCORES + b"old,3,err@20\n", "s.csv:5: 3 fields, expected 4; …"),
    bad_scores("a word", SCORES + b"old,3,err@20,high\n", "s.csv:5: 'high' is not a number; …"),
    *(bad_scores(f"{cell} for a score", SCORES + f"old,3,err@20,{cell}\n".encode(),
                 f"s.csv:5: '{cell}' is not a number; …")
      for cell in ("nan", "1_000", "0x1")),
    bad_scores("a blank", SCORES + b"old,3,err@20,\n", "s.csv:5: no score; each row of a topic has one; …"),
    bad_scores("twice", SCORES + b"old,2,err@20,0.5\n",
               "s.csv:5: duplicate err@20 of topic 2 of 'old' (first on line 3); keep one of the two"),
    bad_scores("a run", RUN, "s.csv:1: no column 'run'; …"),
    bad_scores("unpacked badly", b"\x1f\x8bgarbage", "s.csv: broken compressed data (…); …"),
]  # fmt: skip

CHECK = [
    bad("no bound", ("check", *TWO), "no bound to check; for example --min err@20=0.25 or --max-drop err@20=5%; …"),
    bad("a bound on no number", ("check", *TWO, "--min", "err@20=high"), "--min err@20=high: 'high' is not a "
        "number; …"),
    bad("a bound on a wrong measure", ("check", *TWO, "--min", "rpb=0.1"), "--min rpb=0.1: unknown measure 'rpb'; …"),
    bad("a bare bound and two measures", ("check", *TWO, "-m", "ap", "--min", "0.1"),
        "--min 0.1: names no measure, and there are 2; write MEASURE=VALUE, …"),
    bad("a bare level alone", ("check", *TWO[:-2], "--significant", "0.1"),
        "--significant 0.1: names no measure; …"),
    bad("a drop without a baseline", ("check", *TWO[1:], "--max-drop", "0.1"),
        "--max-drop needs a baseline; add --baseline RUN or --baseline SCORES.csv"),
    bad("a level that two topics cannot come to", ("check", *TWO, "--baseline", "b.run", "--significant", "0.05"),
        "--significant 0.05: with 2 topics the smallest possible p is 0.5, so nothing is significant at 0.05; "
            "use more topics, …"),
    bad("no such settings", ("check", *TWO, "--config", "none.toml"), "none.toml: cannot be read (…); …"),
    bad("settings that are no UTF-8", ("check", *TWO, "--config", "x.toml"),
        "x.toml: not UTF-8 (…); save the file as UTF-8",
        x_toml=b"\xff\n"),
    bad("settings of nothing", ("check", *TWO, "--config", "pyproject.toml"),
        "pyproject.toml: has no table [tool.gradedeval]; …", pyproject_toml=b"[project]\nname = 'x'\n"),
    bad("a baseline of settings that is nowhere", ("check", *TWO, "--config", "x.toml"),
        "settings from x.toml", "--baseline: 'none.run' is neither a file nor one of the runs (…); …",
        code=3, x_toml=b"baseline = 'none.run'\nmin = 0.1\n"),
]  # fmt: skip

FIT = ("fit", "run.txt", "b.run", "qrels.txt", "--to", "err@20")
FITS = [
    bad("fit without a measure", FIT, "no measure with a range; for example -m …"),
    bad("fit without a range", (*FIT, "-m", "rbp@5"), "'rbp@5': has no range; write one, for example …"),
    bad("fit to nothing", (*FIT[:-2], "-m", "rbp(p=0.1..0.9)"),
        "--to: no measure given; name one, such as --to err@20"),
    bad("fit to a wrong name", (*FIT[:-1], "rpb", "-m", "rbp(p=0.1..0.9)"), "unknown measure 'rpb'; did …"),
    bad("fit without files", ("fit", "-m", "rbp(p=0.1..0.9)", "--to", "ap"), "expected a run and a qrels file; …"),
    bad("fit with no precision", (*FIT, "-m", "rbp(p=0.1..0.9)", "--precision", "0"),
        "--precision: 0 is too small; it must be at least 1e-10"),
    bad("fit of one run's ordering", (FIT[0], *FIT[2:], "-m", "nerr9@1..3", "--coefficient", "tau"),
        "--coefficient: rank correlation needs at least two runs; …"),
    bad("validation on no topics", (*FIT, "-m", "nerr9@1..3", "--validate", "none"), "none: no such file; …",
        code=1),
    bad("a curve for people", (*FIT, "-m", "nerr9@1..3", "--curve", "c.md"),
        "--curve: cannot be written as markdown to 'c.md'; …"),
    bad("weights and runs", ("fit", "run.txt", "qrels.txt", "-m", "rbp(p=0.1..0.9)", "--to-weights", "w.csv"),
        "--to-weights: cannot be combined with runs; leave them out", w_csv=b"1,1\n"),
    bad("weights beside runs", (*FIT, "-m", "rbp(p=0.1..0.9)", "--to-weights", "w.csv"),
        "--to: does not apply to --to-weights; leave it out", w_csv=b"1,1\n"),
    *(bad(f"weights: {name}", ("fit", "--to-weights", "w.csv", "-m", "rbp(p=0.1..0.9)"), problem, code=1, w_csv=content)
      for name, content, problem in (
          ("nothing", b"", "w.csv: is empty; expected lines of rank,weight"),
          ("zeros", b"1,0\n2,0\n", "w.csv: no weight above 0; …"),
          ("a gap", b"1,0.5\n3,0.2\n", "w.csv: rank 2 is missing; list every rank from 1, in any order"),
          ("a word", b"1,0.5\n2,x\n", "w.csv:2: weight 'x' is not a number; …"),
          ("one below 0", b"1,0.5\n2,-1\n", "w.csv:2: weight -1 is out of range; …"),
          ("twice", b"1,0.5\n1,0.5\n", "w.csv:2: duplicate rank 1 (first on line 1); …"),
          ("rank 0", b"0,0.5\n", "w.csv:1: rank 0 is out of range; …"),
      )),
    bad("more ranks than weights", ("fit", "--to-weights", "w.csv", "-m", "rbp(p=0.1..0.9)", "--ranks", "5"),
        "--ranks: 5 is out of range for 2 weights; give 1 to 2", w_csv=b"1,0.5\n2,0.5\n"),
    bad("weights of a measure without", ("fit", "--to-weights", "w.csv", "-m", "nerr10(phi=0.1..0.9)"),
        "nerr10(phi=0.1) has no fixed rank weights; …", w_csv=b"1,0.5\n2,0.5\n"),
]  # fmt: skip

STANDARD = [
    bad("one run standardized", ("run.txt", "qrels.txt", "-m", "sp", "--standardize"),
        "--standardize: a single run has no deviation; add runs, or give --reference FILE"),
    bad("residuals of standardized scores", (*TWO, "--standardize", "--residuals"),
        "--standardize: standardized scores have no residuals; leave out --residuals"),
    bad("a reference and a new one", (*TWO, "--reference", "r.csv", "--save-reference", "s.csv"),
        "--save-reference: cannot be combined with --reference: there would be nothing new to save; …"),
    bad("a baseline that is not standardized", ("compare", *TWO, "--standardize", "--baseline", "s.csv"),
        "--baseline: saved scores cannot be standardized together with the runs; give the baseline as a run"),
    bad("no such reference", (*TWO, "--reference", "none.csv"), "none.csv: no such file; …", code=1),
    bad("a reference of something else", (*TWO, "--reference", "s.csv"),
        "s.csv:1: no column 'mean'; …", code=1),
    bad("a broken reference", (*TWO, "--reference", "r.csv"),
        "r.csv:2: mean 'x' is not a number; …", "r.csv:3: 1 field, expected 5; …", code=1,
        r_csv=b"measure,topic,mean,deviation,runs\nerr@20,1,x,0,2\nerr@20\n"),
]  # fmt: skip

CASES = [*EVERY, *COMPARE, *CHECK, *FITS, *STANDARD]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_broken_input_has_a_clear_message_and_no_output(case: Broken, tmp_path: Path, cli: Command) -> None:
    case.write(tmp_path)
    original = contents(tmp_path)
    outcome = cli(*case.arguments)
    if case.says[0].startswith("settings from"):  # the data read so far are no fault
        assert outcome.messages[0] == case.says[0]
        outcome = type(outcome)(outcome.code, outcome.out, outcome.err.partition(b"\n")[2])
        check_refused(outcome, case.code, case.says[1:])
    else:
        check_refused(outcome, case.code, case.says)
    assert contents(tmp_path) == original


def test_names_of_cases_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 90


SCIPY = [
    ("compare", *TWO, "--test", "t"),
    ("compare", *TWO, "--test", "sign"),
    ("check", *TWO, "--baseline", "b.run", "--significant", "0.05", "--test", "t"),
    ("compare", *TWO, "--test", "anova"),
    ("compare", *TWO, "--test", "bayes"),
    ("power", *TWO, "--plan"),
    ("correlate", *TWO, "-m", "rr"),
    (*FIT, "-m", "nerr9@1..3"),
]
NO_SCIPY = [
    ("compare", *TWO),
    ("compare", *TWO, "--test", "tukey-hsd"),
    ("compare", *TWO, "--test", "wilcoxon"),
    ("compare", *TWO, "--test", "bootstrap"),
    ("check", *TWO, "--baseline", "b.run", "--significant", "0.5"),
    ("power", *TWO),
    ("risk", *TWO),
    ("correlate", *TWO, "-m", "rr", "--coefficient", "tau-ap"),
    (*TWO, "--standardize"),
]


@pytest.mark.parametrize("words", [*SCIPY, *NO_SCIPY])
def test_commands_name_a_missing_scipy(
    words: tuple[str, ...], tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad("", ()).write(tmp_path)
    monkeypatch.setitem(sys.modules, "scipy", None)
    outcome = cli(*words)
    assert outcome.code == (2 if words in SCIPY else 0)
    assert words in NO_SCIPY or outcome.messages == ["scipy is not installed; pip install scipy"]
