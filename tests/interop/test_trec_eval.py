"""`gradedeval trec_eval`: trec_eval's own test suite byte for byte, real runs, pytrec_eval, and reviewed output."""

import gzip
import json
import random
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import MEASURES
from gradedeval.interop.trec_eval import preference_scores
from gradedeval.interop.trec_eval_lines import DROP_IN_FORMATS, Setting, select_lines
from support.commands import Command, succeed
from support.examples import sampled
from support.paths import DATA, shared

SUITE, COVID, DL_HARD = (DATA / name for name in ("trec_eval", "covid-round1", "dl-hard"))
GOLDEN = Path(__file__).parent / "golden"


PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35"
    " -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20"
)
COMMANDS = [
    ("", "qrels.test results.test", "out.test"),
    ("", "qrels.test.with-comments results.test", "out.test"),
    ("", "qrels.comment.test results.comment.test", "out.comment.test"),
    ("-m all_trec", "qrels.test results.test", "out.test.a"),
    ("-m all_trec -q", "qrels.test results.test", "out.test.aq"),
    ("-m all_trec -q -c", "qrels.test results.trunc", "out.test.aqc"),
    ("-m all_trec -q -c -M100", "qrels.test results.trunc", "out.test.aqcM"),
    ("-m all_trec -mrelstring.20 -q -l2", "qrels.rel_level results.test", "out.test.aql"),
    ("-m all_prefs -q -R prefs", "prefs.test prefs.results.test", "out.test.prefs"),
    ("-m all_prefs -q -R prefs", "prefs.comment.test prefs.results.test", "out.test.prefs"),
    ("-m all_prefs -q -R qrels_prefs", "qrels.test results.test", "out.test.qrels_prefs"),
    ("-m qrels_jg -q -R qrels_jg", "qrels.123 results.test", "out.test.qrels_jg"),
    ("-m qrels_jg -q -R qrels_jg", "qrels.comments.123 results.test", "out.test.qrels_jg"),
    (PARAMETERS, "qrels.test results.test", "out.test.meas_params"),
    ("-q -m all_trec -Z zscores_file", "qrels.test results.test", "out.test.aqZ"),
]


@shared
@pytest.mark.parametrize(("options", "files", "expected"), COMMANDS)
def test_the_suite_of_trec_eval_is_reproduced_byte_for_byte(
    options: str, files: str, expected: str, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(SUITE)
    outcome = succeed(cli("trec_eval", *options.split(), *files.split()))
    assert outcome.out == (SUITE / expected).read_bytes()


def runs_of(folder: Path, suffix: str) -> list[str]:
    return sorted(path.name.removesuffix(suffix) for path in (folder / "runs").glob(f"*{suffix}"))


# trec_eval 10 prints 0 if all of a topic's run is judged; but the documents beyond the end of a short run are unknown,
# which leaves a residual of p^n, with p = 0.9 and n documents.
SHORT = {"PS-r1-bm25medical": {"29": 9}, "Tetralogie1Fr": {"14": 1, "6": 2}}


@shared
@pytest.mark.parametrize("name", sampled(runs_of(COVID, ".gz"), 4))
def test_48_real_runs_have_the_output_of_trec_eval_10(name: str, cli: Command) -> None:
    options = ["-c", "-q", "-M1000", "-m", "all_trec"]
    ours = succeed(cli("trec_eval", *options, str(COVID / "qrels.txt"), str(COVID / "runs" / f"{name}.gz")))
    with gzip.open(COVID / "expected" / "trec_eval" / f"{name}.txt.gz", "rt", encoding="utf-8") as printed:
        pairs = zip(printed, ours.text.splitlines(keepends=True), strict=True)
        differing = {
            ours_line: theirs for theirs, ours_line in pairs if theirs != ours_line and not theirs.startswith("rbp ")
        }
    missing = {topic: 0.9**count for topic, count in SHORT.get(name, {}).items()}
    line = f"{'rbp_resid':<22}\t{{}}\t{{:.4f}}\n"
    summary = {ours_line: theirs for ours_line, theirs in differing.items() if ours_line.split()[1] == "all"}
    topics = {ours_line: theirs for ours_line, theirs in differing.items() if ours_line not in summary}
    assert topics == {line.format(topic, value): line.format(topic, 0) for topic, value in missing.items()}
    more = [float(ours_line.split()[2]) - float(theirs.split()[2]) for ours_line, theirs in summary.items()]
    assert more == ([pytest.approx(sum(missing.values()) / 30, abs=2e-4)] if missing else [])


@shared
@pytest.mark.parametrize("name", runs_of(DL_HARD, ".run.gz"))
def test_graded_runs_have_the_output_of_trec_eval_9(name: str, cli: Command) -> None:
    run = str(DL_HARD / "runs" / f"{name}.run.gz")
    ours = succeed(cli("trec_eval", "--compat", "9", *["-l2", "-q", "-m", "all_trec"], str(DL_HARD / "qrels.txt"), run))
    with gzip.open(DL_HARD / "expected" / f"{name}.trec_eval-l2.txt.gz", "rt", encoding="utf-8") as printed:
        pairs = zip(printed, ours.text.splitlines(keepends=True), strict=True)
        differing = [(theirs, ours_line) for theirs, ours_line in pairs if theirs != ours_line]
    # trec_eval adds up grades of 1 or more there, regardless of -l; ours is the sum of the lines of topics.
    assert differing == [(f"{'num_rel':<22}\tall\t3358\n", f"{'num_rel':<22}\tall\t841\n")]


def write_random_files(seed: int, folder: Path) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Write qrels and a run of a few topics, with ties, unjudged documents and grades from -2 to 3, and return both."""
    dice = random.Random(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for topic in map(str, range(6)):
        grades = [-2, -1, 0, 0, 1, 2, 3] if seed % 2 else [0, 0, 0, 1]
        qrels[topic] = {f"d{number}": dice.choice(grades) for number in dice.sample(range(60), dice.randint(1, 40))}
        qrels[topic]["d0"] = 0  # a topic without a grade from 0 up makes pytrec_eval crash
        run[topic] = {f"d{number}": dice.randint(0, 40) / 4 for number in dice.sample(range(60), dice.randint(1, 50))}
    (folder / "qrels").write_text("".join(f"{t} 0 {d} {g}\n" for t, grades in qrels.items() for d, g in grades.items()))
    (folder / "run").write_text(
        "".join(f"{t} Q0 {d} 1 {s} x\n" for t, scores in run.items() for d, s in scores.items())
    )
    return qrels, run


def by_line(text: str) -> dict[tuple[str, str], str]:
    return {(name.strip(), topic): value for name, topic, value in (line.split("\t") for line in text.splitlines())}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("seed", range(20))
def test_random_topics_have_the_scores_of_pytrec_eval(seed: int, level: int, tmp_path: Path, cli: Command) -> None:
    pytrec_eval: Any = pytest.importorskip("pytrec_eval")
    qrels, run = write_random_files(seed, tmp_path)
    names = pytrec_eval.supported_measures - {"relstring", "runid", "num_q", "gm_map", "gm_bpref"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, names, relevance_level=level).evaluate(run)
    ours = by_line(
        succeed(cli("trec_eval", "--compat", "9", "-q", f"-l{level}", "-m", "all_trec", "qrels", "run")).text
    )
    differing = [
        (topic, name, value, ours[name, topic])
        for topic, scores in theirs.items()
        for name, value in scores.items()
        if abs(float(ours[name, topic]) - value) > 0.00005 + 1e-12
    ]
    assert differing == []
    assert len(theirs["0"]) > 80


QRELS = "".join(
    f"{topic} 0 {docno} {grade}\n"
    for topic, grades in {
        "9": {"a": 3, "b": 0, "c": 1, "d": -1, "e": 2, "f": 0},
        "10": {"x": 1, "y": 0, "z": 1},
        "7": {"m": 2},
        "8": {"n": 0},
    }.items()
    for docno, grade in grades.items()
)
# Blanks and tabs, ties, ranks from 0, words behind the tag, an unjudged topic, and 7 is missing.
RUN = (
    "9 Q0 b 0 9.5 mine more words\n9 Q0 a 1 9.5 mine\n9\tQ0\tu\t2\t8e0\tmine\n9 Q0 d 3 7 mine\n9 Q0 c 4 6.5 mine\n"
    "10 Q0 y 0 2 mine\n10 Q0 x 1 1 mine\n8 Q0 n 0 1 mine\n8 Q0 v 1 0.5 mine\n99 Q0 a 1 1 mine\n"
)
CASES = {
    "official": "",
    "all": "-q -m all_trec -m yaap",
    "complete": "-c -q -m all_trec -m yaap",
    "version-9": "--compat 9 -q -m all_trec",
    "level-2": "-l 2 -q -m set -m relstring.4 -m Rprec_mult.0.5,2 -mutility.2,-1,-1,0.5 -N 100 -m ndcg.1=0,3=9",
    "judged": "-J -q -M3 -m official",
    "ours": "-q -m map -m err@20 -m P.2,1 -m rbp.0.5",
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> Path:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_output_of_own_files_equals_reviewed_files(name: str, cli: Command, request: pytest.FixtureRequest) -> None:
    printed = succeed(cli("trec_eval", *CASES[name].split(), "qrels", "run")).text
    golden = GOLDEN / f"{name}.txt"
    if request.config.getoption("--golden"):
        GOLDEN.mkdir(exist_ok=True)
        golden.write_text(printed, encoding="utf-8")
    assert printed == golden.read_text(encoding="utf-8")


def test_every_golden_file_of_the_drop_in_belongs_to_a_case() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)


def test_numbers_by_hand(cli: Command) -> None:
    """Compute topic 9: b, a are tied and stand as b, a (docnos descending); u is unjudged, d pooled and not sampled."""
    values = by_line(succeed(cli("trec_eval", "-q", "-m", "all_trec", "-m", "yaap", "qrels", "run")).text)
    expected = {
        "map": (1 / 2 + 2 / 5) / 3,
        "infAP": (1 / 2 + 1 / 2 * (1 * 1e-5 / (1 + 2e-5)) + 1 / 5 + 4 / 5 * (3 / 4 * (1 + 1e-5) / (2 + 2e-5))) / 3,
        "bpref": (1 - 1 / 2 + 1 - 1 / 2) / 3,  # R=3, two judged not relevant, one of them above either
        "binG": (1 / np.log2(3) + 1 / np.log2(2 + 3)) / 3,
        "G": (3 / np.log2(2 + 5 - 3) + 1 / np.log2(2 + 6 + 2 - 4)) / 6,
        "set_F": 2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3),
        "utility": 2 - 3,
        "rbp": 0.1 * (0.9 + 1 / 3 * 0.9**4),
        "rbp_resid": 0.1 * (0.9**2 + 0.9**3) + 0.9**5,
        "yaap": np.log((1 + 0.9) / (1 + 3 - 0.9)),
    }
    # ⌊3x + ½⌋ documents: 0 for 0 and .1, 1 for .2 to .4 (.5 gives 2), 2 for .5 to .8, 3 from .9 on, never reached.
    expected["11pt_avg"] = (5 * 0.5 + 4 * 0.4) / 11
    assert {name: values[name, "9"] for name in expected} == {name: f"{value:.4f}" for name, value in expected.items()}
    assert values["relstring", "9"] == "'03-.1'"
    assert values["num_nonrel_judged_ret", "9"] == "1"


def test_a_missing_topic_counts_as_empty_with_c(cli: Command) -> None:
    plain, complete = (
        by_line(succeed(cli("trec_eval", *words, "-q", "-m", "all_trec", "qrels", "run")).text)
        for words in ([], ["-c"])
    )
    assert (plain["num_q", "all"], complete["num_q", "all"]) == ("3", "4")
    assert ("map", "7") not in plain
    assert (complete["map", "7"], complete["relstring", "7"], complete["num_rel", "7"]) == ("0.0000", "''", "1")
    assert float(complete["map", "all"]) == pytest.approx(float(plain["map", "all"]) * 3 / 4, abs=1e-4)
    # The geometric mean takes 0.00001 for a score of 0: that of topic 8, and with -c of 7 too.
    scores = [float(plain["map", topic]) for topic in ("9", "10")]
    for values, zeros in ((plain, 1), (complete, 2)):
        mean = np.exp((np.log(scores).sum() + zeros * np.log(0.00001)) / (2 + zeros))
        assert float(values["gm_map", "all"]) == pytest.approx(mean, abs=1e-4)


@pytest.mark.parametrize(
    "words", ["-q -n -m map", "-nqmmap", "--query_eval_wanted --nosummary --measure map", "-m map qrels run -qn"]
)
def test_options_may_be_spelt_as_getopt_allows(words: str, cli: Command) -> None:
    files = [] if "run" in words.split() else ["qrels", "run"]
    printed = succeed(cli("trec_eval", *words.split(), *files)).text
    assert [line.split("\t")[1] for line in printed.splitlines()] == ["10", "8", "9"]


def test_z_scores_are_deviations_from_the_mean_of_the_file(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "z").write_text("9 map 0.2 0.05\n10 map 0.25 0\n9 num_ret 3 2\n9 gm_map -1 2\n")
    values = by_line(
        succeed(cli("trec_eval", "-q", "-Z", "z", "-m", "map", "-m", "num_ret", "-m", "gm_map", "qrels", "run")).text
    )
    assert values["Zmap", "9"] == f"{(0.3 - 0.2) / 0.05:.4f}"
    assert values["Zmap", "10"] == "0.0000"  # without deviation there is no distance
    assert values["Zmap", "8"] == "-1000000.0000"  # the file does not say
    assert values["Znum_ret", "9"] == "1.0000"
    assert float(values["Znum_ret", "all"]) == 1 - 2_000_000  # a total stays a total
    assert values["Zgm_map", "all"] == "0.0000"


def test_several_runs_are_labeled(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("9 Q0 a 1 1 theirs\n")
    printed = succeed(cli("trec_eval", "-m", "map", "qrels", "run", "other")).text
    assert [line.split("\t")[::2] for line in printed.splitlines()] == [
        [f"{'runid':<22}", "run"],
        [f"{'map':<22}", "0.1833"],
        [f"{'runid':<22}", "other"],
        [f"{'map':<22}", "0.3333"],
    ]
    official = succeed(cli("trec_eval", "qrels", "run", "other")).text
    assert [line.split("\t")[2] for line in official.splitlines() if line.startswith("runid")] == ["mine", "theirs"]


def test_formats_of_gradedeval_have_its_notation(cli: Command) -> None:
    printed = succeed(cli("trec_eval", "-f", "json", "-m", "P.1", "-m", "iprec_at_recall.0.5", "qrels", "run")).text
    assert {row["measure"] for row in json.loads(printed)["rows"]} == {"p@1", "iprec(recall=0.5)"}


def test_version_9_prints_no_line_of_a_missing_topic_and_adds_0(cli: Command) -> None:
    words = ["-c", "-q", "-m", "num_rel", "-mutility.0,0,1,0", "qrels", "run"]
    old = by_line(succeed(cli("trec_eval", "--compat", "9", *words)).text)
    new = by_line(succeed(cli("trec_eval", *words)).text)
    assert ("utility_0,0,1,0", "7") not in old
    assert new["utility_0,0,1,0", "7"] == "1.0000"  # one relevant document is missed
    assert old["num_rel", "all"] == new["num_rel", "all"] == "6"
    assert (old["utility_0,0,1,0", "all"], new["utility_0,0,1,0", "all"]) == ("0.5000", "0.7500")


TWO = {"1": {"a": 3.0, "b": 2.0}, "2": {"c": 2.0, "d": 1.0}}
JUDGED = {"1": {"a": 1}, "2": {"c": 0, "d": 1}, "3": {"e": 1}}


def test_a_geometric_mean_takes_a_hundred_thousandth_for_0() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gradedeval.EvaluationWarning)
        scores = gradedeval.evaluate(TWO, JUDGED, "gm_ap gm_map ap", residuals="total")
    assert scores.means["gm_ap"] == pytest.approx((1 * 0.5 * 0.00001) ** (1 / 3))
    # The residual of the mean is the mean of the best cases less the mean: b of topic 1 could raise no score.
    best = [score + residual for score, residual in zip((1, 0.5, 0), scores.runs[0].residual[:, 0], strict=True)]
    expected = np.exp(np.log(np.maximum(best, 0.00001)).mean()) - scores.means["gm_ap"]
    assert scores.residuals["gm_ap"] == pytest.approx(expected)


def test_gains_of_some_grades_leave_the_others_linear() -> None:
    run, qrels = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"1": {"a": 1, "b": 2, "c": 3}}
    dcg = gradedeval.evaluate(run, qrels, 'dcg(gain="1=5,3=0.5")').means.popitem()[1]
    assert dcg == pytest.approx(5 + 2 / np.log2(3) + 0.5 / 2)
    unit = gradedeval.evaluate(run, qrels, 'rbp(gain="1=0.5",p=0)').means.popitem()[1]
    assert unit == 0.5  # the others are g / 3


@pytest.mark.parametrize(("like", "retrieved"), [("trec_eval", 1), (None, 2)])
def test_trec_eval_cuts_before_it_drops_the_unjudged(like: str | None, retrieved: int) -> None:
    run = {"1": {"a": 4.0, "u": 3.0, "b": 2.0, "c": 1.0}}
    scores = gradedeval.evaluate(run, {"1": {"a": 1, "b": 0, "c": 1}}, "num_ret", like=like, depth=2, judged_only=True)
    assert scores.means == {"num_ret": retrieved}


@pytest.mark.parametrize("grade", [-1, -2, -0.5])
def test_a_grade_below_0_is_pooled_and_not_sampled(grade: float) -> None:
    qrels = {"1": {"a": grade, "b": 1}}
    score = gradedeval.evaluate({"1": {"a": 2.0, "b": 1.0}}, qrels, "infap", negative="unjudged").means["infap"]
    assert score == pytest.approx(1 / 2 + 1 / 2 * 1 * 0.5)


def test_every_negative_grade_is_pooled_in_the_drop_in(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 x -2\n1 0 b 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 3 t\n1 Q0 x 2 2 t\n1 Q0 b 3 1 t\n")
    values = by_line(succeed(cli("trec_eval", "-q", "-m", "infAP", "-m", "relstring", "qrels", "run")).text)
    assert (values["infAP", "1"], values["relstring", "1"]) == ("1.0000", "'1.1'")


def test_infap_says_that_grades_below_0_are_judged() -> None:
    with pytest.warns(gradedeval.EvaluationWarning) as caught:
        scores = gradedeval.evaluate({"1": {"x": 2.0, "b": 1.0}}, {"1": {"x": -1, "b": 1}}, "ap infap")
    message = "qrels: grades below 0 count as judged and not relevant in infap"
    assert [str(note.message) for note in caught] == [
        f'{message}; negative="unjudged" counts such documents as pooled but not sampled',
        "there is one topic; too few to tell systems apart",
    ]
    assert scores.means["infap"] == pytest.approx(0.5, abs=1e-4)


def test_a_collection_without_n_has_no_documents(cli: Command) -> None:
    """Compute topic 9: 5 retrieved, 2 of its 3 relevant ones, so 2 − 3 + 0.3 + 0.2 (0 − 5 − 3 + 2)."""
    values = by_line(succeed(cli("trec_eval", "-q", "-m", "utility.1,-1,0.3,0.2", "qrels", "run")).text)
    assert values["utility_1,-1,0.3,0.2", "9"] == "-1.9000"


def test_a_fraction_of_a_rank_is_cut_off(cli: Command) -> None:
    printed = succeed(cli("trec_eval", "-m", "P.2.7,5,2", "-m", "ndcg_cut.3.9", "qrels", "run")).text
    assert [line.split()[0] for line in printed.splitlines()] == ["P_2", "P_5", "ndcg_cut_3"]
    text = succeed(cli("trec_eval", "-q", "-m", "relstring.1.9", "qrels", "run")).text
    values = [line.split()[2] for line in text.splitlines()]
    assert {len(value) for value in values} == {len("'1'")}


def test_cutoffs_and_levels_are_printed_in_numerical_order(cli: Command) -> None:
    words = ("-m", "P.100,5", "-m", "P.20,10", "-m", "iprec_at_recall.1,.25", "-m", "iprec_at_recall.0.5")
    printed = succeed(cli("trec_eval", *words, "qrels", "run")).text
    names = ["iprec_at_recall_0.25", "iprec_at_recall_0.50", "iprec_at_recall_1.00", "P_5", "P_10", "P_20", "P_100"]
    assert [line.split()[0] for line in printed.splitlines()] == names


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("-m mapp qrels run", 1, "-m: unknown measure 'mapp'; did you mean 'map'?"),
        ("-m P.x qrels run", 2, "-m P.x: invalid parameters; expected numbers separated by commas, such as P.1,2"),
        ("-m P.0 qrels run", 2, "-m P.0: invalid parameters; cutoffs start at 1"),
        ("-m map.5 qrels run", 2, "-m map.5: invalid parameters; map takes no parameters"),
        ("-m utility.1,2 qrels run", 2, "-m utility.1,2: invalid parameters; expected four coefficients, …"),
        ("-m ndcg.1:3 qrels run", 2, "-m ndcg.1:3: invalid parameters; expected grade=gain pairs, …"),
        ("-m rbp.2 qrels run", 2, "-m rbp.2: invalid parameters; p=2 is not in [0, 1)"),
        ("-m set_F.1,2 qrels run", 2, "-m set_F.1,2: invalid parameters; expected one number, such as set_F.0.5"),
        ("-m iprec_at_recall.2 qrels run", 2, "-m iprec_at_recall.2: …; recall=2 is not in [0, 1]"),
        ("-m prefs_simp qrels run", 1, "-m: 'prefs_simp' is not available for qrels; it needs -R prefs or …"),
        ("-R prefs qrels run", 1, "-m: 'official' is not available for prefs; it needs -R qrels"),
        ("-R prefs -m err@20 qrels run", 1, "-m: unknown measure 'err@20' of prefs; …"),
        ("-R qrels_jg -m qrels_jg -J qrels run", 1, "-J: cannot be combined with -R qrels_jg; leave out one of them"),
        ("-f csv -Z none qrels run", 1, "-f: cannot be combined with -Z; leave out one of them"),
        ("-R qrel qrels run", 1, "-R: invalid value 'qrel'; did you mean 'qrels'?"),
        ("-T strange qrels run", 1, "-T: invalid value 'strange'; choose from trec_results"),
        ("qrels", 1, "expected a qrels file and a run; usage: gradedeval trec_eval QRELS RUN..."),
        ("- -", 1, "-: standard input can only be read once; give the other as a file"),
        ("-Z none qrels run", 2, "none: no such file; check the path"),
        ("-Z run qrels run", 2, "run:1: 8 fields, expected 4 (topic, measure, mean, deviation); …"),
        ("apart qrels", 2, "apart: looks like a run (6 fields per line); the order is QRELS RUN...: are they swapped?"),
        ("qrels qrels", 2, "qrels: looks like qrels (4 fields per line); the order is QRELS RUN...: are they …"),
        ("none run", 2, "none: no such file; check the path"),
        ("qrels empty", 2, "empty: is empty; …"),
        ("qrels short", 2, "short:2: 5 fields, expected 6 (topic Q0 docno rank score tag); …"),
        ("qrels twice", 4, "twice:2: duplicate document 'a' in topic 9 (first on line 1); …"),
        ("qrels apart", 7, "apart: shares no topics with qrels (51 vs 9, 10, …); …"),
        ("-R prefs -m prefs qrels run", 2, "qrels:1: 4 fields, expected 5 (topic group subgroup docno value), …"),
        ("-R prefs -m prefs badprefs run", 2, "badprefs:2: value 'x' is not a number; …"),
        ("-R qrels_jg -m qrels_jg badgroups run", 2,
         "badgroups:2: duplicate document 'a' in topic 9, group 0 (first on line 1); give each judgment once"),
        ("-h -m mapp", 1, "-m: unknown measure 'mapp' of trec_eval; did you mean 'map'?"),
    ],
)  # fmt: skip
def test_a_bad_argument_or_file_has_a_message_of_one_line(
    words: str, code: int, message: str, cli: Command, files: Path
) -> None:
    more = {
        "empty": "",
        "short": "9 Q0 a 1 1 t\n9 Q0 b 2 0\n",
        "twice": "9 Q0 a 1 1 t\n9 Q0 a 2 0 t\n",
        "apart": "51 Q0 a 1 1 t\n",
        "prefs": "9 0 0 a 1\n9 0 0 b 0\n",
        "badprefs": "9 0 0 a 1\n9 0 0 b x\n",
        "badgroups": "9 0 a 1\n9 0 a 0\n",
    }
    for name, content in more.items():
        (files / name).write_text(content)
    outcome = cli("trec_eval", *words.split())
    assert (outcome.code, outcome.out) == (code, b"")
    first = outcome.messages[-1] if "Usage" in outcome.messages[0] else outcome.messages[0]
    assert re.fullmatch(".*".join(map(re.escape, message.split("…"))), first), first


def test_the_persistence_of_rbp_is_written_as_in_version_10(cli: Command, files: Path) -> None:
    named, bare = (cli("trec_eval", "-m", f"rbp.{word}", "qrels", "run").text for word in ("p=0.8", "0.8"))
    assert named.split() == ["rbp_p=0.8", *bare.split()[1:]]
    assert cli("trec_eval", "-m", "rbp_resid.p=0.8", "qrels", "run").text.startswith("rbp_resid_p=0.8 ")


@pytest.mark.parametrize("holds", DROP_IN_FORMATS)
def test_every_measure_is_explained(holds: str, cli: Command) -> None:
    entries, nicknames = DROP_IN_FORMATS[holds]
    page = succeed(cli("trec_eval", "--help", "-R", holds)).text
    assert all(nickname in page for nickname in nicknames)
    for name in entries:
        about = succeed(cli("trec_eval", "-h", "-R", holds, "-m", name)).text
        head = about.partition("\n  ")[0]
        assert head.startswith(f"{name}: ")
        assert len(head) > len(name) + 10
    everything = succeed(cli("trec_eval", "-h", "-R", holds, "-m", nicknames[-1])).text
    assert all(len(line) <= 100 for line in (page + everything).splitlines())


def test_the_version_names_the_version_of_trec_eval(cli: Command) -> None:
    assert succeed(cli("trec_eval", "-v")).text.endswith("as trec_eval 10\n")
    assert succeed(cli("trec_eval", "-v", "--compat", "9")).text.endswith("as trec_eval 9\n")


def test_every_line_rests_on_a_measure_of_the_table_or_is_text() -> None:
    for line in select_lines(["all_trec", "yaap"], Setting()):
        assert line.name in ("runid", "num_q", "relstring") or (line.measure and line.measure.name in MEASURES)


def test_parameters_replace_the_defaults_and_add_up() -> None:
    lines = [line.name for line in select_lines(["official", "P.7,3", "P.3,5"], Setting())]
    assert [name for name in lines if name.startswith("P_")] == ["P_3", "P_5", "P_7"]
    assert lines.index("map") < lines.index("P_3")  # in the order of trec_eval, not of the arguments


Lists = dict[str, dict[str, float]]
AB, BA, BC = {"a": 1, "b": 0}, {"a": 0, "b": 1, "c": 2}, {"b": 2, "c": 1}


@pytest.mark.parametrize(
    ("groups", "ranking", "expected"),
    [
        # a > b, a > c, b > c; the run has b, a: b > a is against the judge, and c, which it lacks, comes after both. Of
        # the pairs that are both retrieved none is right.
        ([{"0": {"a": 3, "b": 2, "c": 0}}], "b a",
         {"num_prefs_poss": 3, "num_prefs_ful": 2, "simp": 2 / 3, "pair": 2 / 3, "avgjg": 2 / 3, "simp_imp": 2 / 3,
          "num_prefs_ful_ret": 0, "simp_ret": 0}),
        # Disagreeing judges are counted one by one.
        ([{"0": AB}, {"0": BA}], "a b c", {"simp": 1 / 4, "pair": pytest.approx((1 / 2 + 0 + 0) / 3), "avgjg": 1 / 2}),
        # a > b and b > c of two lists, and so a > c.
        ([{"0": {"a": 2, "b": 1}, "1": BC}], "a c b", {"num_prefs_poss": 3, "num_prefs_ful": 2}),
        # No document of the second group is retrieved: 0 / 0, which makes rnonrel 0 as in trec_eval.
        ([{"0": AB}, {"0": {"c": 1, "d": 1, "e": 0}}], "a b",
         {"avgjg_ret": 1 / 2, "avgjg_Rnonrel_ret": 0, "avgjg_Rnonrel": (1 / 1 + 0) / 2}),
        # R = 1: of x and y, both not relevant and after one another in the run, y is dropped; a > x remains, a > y not.
        ([{"0": {"a": 1, "x": 0}, "1": {"a": 1, "y": 0}}], "x a y",
         {"avgjg": 1 / 2, "avgjg_Rnonrel": 0, "avgjg_Rnonrel_ret": 0}),
    ],
)  # fmt: skip
def test_preferences_by_hand(groups: list[Lists], ranking: str, expected: dict[str, Any]) -> None:
    coded = {
        str(group).encode(): {
            name.encode(): {d.encode(): v for d, v in values.items()} for name, values in lists.items()
        }
        for group, lists in enumerate(groups)
    }
    scores = preference_scores(coded, [docno.encode() for docno in ranking.split()])
    assert {name: scores[f"prefs_{name}"] for name in expected} == expected


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("0 0 a 2\n0 0 b 1\n0 1 b 2\n0 1 a 1", "contradictory preferences: 'a' before 'b' and 'b' before 'a'"),
        ("0 0 a 2\n0 0 b 1\n0 1 b 2\n0 1 c 1\n0 2 c 2\n0 2 a 1", "contradictory preferences: 'a' before 'b' and 'b' "
         "before 'a'"),
        ("0 0 a 1\n0 0 b 0\n0 1 c 2\n0 1 b 1", "document 'b' has the value 0 in one list and more in another"),
    ],
)  # fmt: skip
def test_contradictory_lists_of_a_group_are_refused(lines: str, message: str, cli: Command, tmp_path: Path) -> None:
    (tmp_path / "prefs").write_text("".join(f"9 {line}\n" for line in lines.split("\n")))
    (tmp_path / "run").write_text("9 Q0 a 1 2 t\n")
    result = cli("trec_eval", "-R", "prefs", "-m", "prefs", "prefs", "run")
    hint = "give judges who disagree groups of their own (column 2)"
    assert (result.code, result.out, result.messages) == (4, b"", [f"prefs: topic 9: {message}; {hint}"])


def test_each_group_is_scored_as_separate_qrels(cli: Command, files: Path) -> None:
    (files / "groups").write_text("9 j1 a 1\n9 j1 b 0\n9 j2 a 0\n9 j2 b 1\n")
    values = by_line(
        succeed(cli("trec_eval", "-q", "-R", "qrels_jg", "-m", "map_avgjg", "-m", "P_avgjg.1", "groups", "run")).text
    )
    assert values["map_avgjg", "9"] == f"{(1 / 2 + 1) / 2:.4f}"  # b, a: one judge likes a, the other b
    assert values["P_avgjg_1", "9"] == "0.5000"


def test_formats_have_num_q_and_name_the_texts_they_lack(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2 t\n2 Q0 b 1 2 t\n")
    words = ("trec_eval", "qrels", "run", "-m", "num_q", "-m", "runid", "-m", "map", "-m", "relstring")
    result = cli(*words, "-f", "csv")
    rows = [line.split(",")[:4] for line in result.text.splitlines()]
    assert rows == [["run", "topic", "measure", "score"], ["run", "all", "num_q", "2"], ["run", "all", "ap", "0.5"]]
    assert result.messages == ["-f: csv holds numbers only, not the text of runid, relstring; leave out -f to print it"]
    assert "num_q" in cli("trec_eval", "qrels", "run", "-f", "table").text
    assert cli("trec_eval", "qrels", "run", "-m", "num_q", "-f", "json").messages == []
    text = cli("trec_eval", "qrels", "run", "-m", "runid", "-f", "json")
    assert (text.code, text.out) == (1, b"")
    assert text.messages == ["-f: json holds numbers only, not the text of runid; leave out -f"]


@pytest.mark.parametrize(
    ("qrels", "run", "options", "code", "message"),
    [
        ("1 0 a 1\n1 0 a 2\n", "1 Q0 a 1 2 t\n", (), 2,
         "qrels:2: duplicate document 'a' in topic 1 with grade 2 (first on line 1 with grade 1); "
         "give each judgment once"),
        ("1 0 a 1\n", "1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n1 Q0 a 3 0 t\n", (), 4,
         "run:2: duplicate document 'a' in topic 1 (first on line 1); give each document once"),
        ("1 0 a 1\n2 0 a 1\n", "1 Q0 a 1 2 t\n", ("-c",), 0,
         "run: 1 of 2 judged topics is missing (2) and counts as an empty ranking; "
         "without -c such topics are left out"),
        ("1 0 a 0\n", "1 Q0 a 1 2 t\n", ("-m", "err@5"), 0,
         "qrels: no grade above 0, so all gains are 0 and residuals are blank; are these the right qrels?"),
    ],
)  # fmt: skip
def test_messages_name_options_of_the_command_itself(
    qrels: str, run: str, options: tuple[str, ...], code: int, message: str, cli: Command, tmp_path: Path
) -> None:
    (tmp_path / "qrels").write_text(qrels)
    (tmp_path / "run").write_text(run)
    result = cli("trec_eval", *options, "qrels", "run")
    assert (result.code, result.messages[0]) == (code, message)
    assert not re.search(r"--(topics|duplicates|top-grade)", result.err.decode())


@pytest.mark.parametrize("words", ["-m recip_rank", "-R qrels_jg -m P_avgjg.1"])
@pytest.mark.parametrize(("documents", "noted"), [(20, False), (19, True)])
def test_more_than_a_tenth_tied_is_noted(documents: int, noted: bool, words: str, tmp_path: Path, cli: Command) -> None:
    scores = [100, 100, *range(documents - 2, 0, -1)]
    (tmp_path / "run").write_text("".join(f"1 Q0 d{number:02} 1 {score} t\n" for number, score in enumerate(scores)))
    (tmp_path / "qrels").write_text("1 0 d00 1\n")
    result = succeed(cli("trec_eval", *words.split(), "qrels", "run"))
    assert any("many documents have equal scores" in line for line in result.messages) == noted
