"""Totals, geometric means and measures with lower is better: every command summarizes and orders like `eval`."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gradedeval
from gradedeval import Bound
from gradedeval.analysis.saved_scores import Signature
from gradedeval.analysis.score_matrix import to_matrix
from gradedeval.kernel.measures.definition import Reading
from gradedeval.questions.correlate import agreement
from support.commands import Command, succeed, without_flips
from support.commands import rows as csv_rows

# Three topics with one relevant document each: its rank in the run, 9 if it is missing.
RANKS = {"steady.run": (3, 3, 3), "uneven.run": (1, 1, 9), "weak.run": (5, 6, 4)}
QRELS = "".join(f"{topic} 0 rel 1\n" for topic in range(3))
UNENDED = pytest.mark.filterwarnings("ignore:.* no end at 95%.*:gradedeval.EvaluationWarning")


def lines(ranks: tuple[int, ...]) -> str:
    documents = [
        (t, "rel" if position == rank else f"d{position}", position)
        for t, rank in enumerate(ranks)
        for position in range(1, 7)
    ]
    return "".join(f"{topic} Q0 {docno} {position} {10 - position} t\n" for topic, docno, position in documents)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels").write_text(QRELS)
    for name, ranks in RANKS.items():
        (tmp_path / name).write_text(lines(ranks))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scored(measures: str, **options: Any) -> gradedeval.Scores:
    return gradedeval.evaluate(list(RANKS), "qrels", measures, **options)


@UNENDED
def test_compare_uses_the_scores_that_eval_prints(files: Path) -> None:
    scores = scored("gm_ap ap num_rel_ret unjudged@5 num_ret", residuals=True)
    for row in gradedeval.compare(scores).frame.itertuples():
        means = [scores.means_by_run[str(run)][str(row.measure)] for run in (row.run, row.baseline)]
        assert [row.mean, row.baseline_mean] == pytest.approx(means)
        assert row.difference == pytest.approx(means[0] - means[1])


@UNENDED
def test_the_better_geometric_mean_wins_though_its_mean_is_lower(files: Path) -> None:
    frame = gradedeval.compare(scored("ap gm_ap"), baseline="steady.run").frame.set_index(["measure", "run"])
    assert frame.loc[("ap", "uneven.run"), "difference"] == pytest.approx(1 / 3)
    row = frame.loc["gm_ap", "uneven.run"]
    assert (row["baseline_mean"], row["mean"]) == pytest.approx((1 / 3, 0.00001 ** (1 / 3)))
    assert row["difference"] < 0
    assert row["tested"] == "ratio"
    logs = np.log([[3, 3, 0.00003]])
    assert row["p"] == stats.permutation_test((logs[0],), np.mean, permutation_type="samples").pvalue
    assert row["effect"] == pytest.approx(logs.mean() / logs.std(ddof=1))


def test_the_interval_of_a_geometric_mean_is_of_the_ratio_and_of_a_total_of_the_total() -> None:
    draw = np.random.default_rng(2)
    rows = [(run, str(t), "ap", draw.uniform(0.1, 1)) for run in ("x", "y") for t in range(12)]
    import pandas as pd

    def compared(measure: str, change: Any) -> Any:
        table = [(run, topic, measure, change(score)) for run, topic, _, score in rows]
        return gradedeval.compare(pd.DataFrame(table, columns=["run", "topic", "measure", "score"])).frame.iloc[0]

    ratio, logs = compared("gm_ap", lambda score: score), compared("ap", math.log)
    assert (ratio["low"], ratio["high"]) == pytest.approx((math.exp(logs["low"]), math.exp(logs["high"])))
    assert (ratio["p"], ratio["effect"]) == (logs["p"], pytest.approx(logs["effect"]))
    total, mean = compared("num_rel_ret", lambda score: score), compared("ap", lambda score: score)
    for name in ("difference", "low", "high"):
        assert total[name] == pytest.approx(12 * mean[name])
    assert total["p"] == mean["p"]


@pytest.mark.parametrize(
    ("bound", "value", "passed"),
    [
        (Bound("min", "num_rel_ret", 3), 2, False),
        (Bound("min", "gm_ap", 0.02), 0.00001 ** (1 / 3), True),
        (Bound("max-drop", "gm_ap", 0.05), 1 / 3 - 0.00001 ** (1 / 3), False),
        (Bound("max-drop", "gm_ap", 0.5, relative=True), 1 - 3 * 0.00001 ** (1 / 3), False),
        (Bound("max-drop", "ap", 0.05), 1 / 3 - 2 / 3, True),
        (Bound("max-drop", "num_rel_ret", 0.5), 1, False),
        (Bound("max-drop", "unjudged@3", 0.05), 2 / 9 - 1 / 9, False),
        (Bound("max-drop", "unjudged@3", 1.5, relative=True), 1, True),
        (Bound("max-topic-drop", "unjudged@3", 0.5), 2 / 3, False),
        (Bound("max-unjudged", "gm_ap", 0.5), (2 / 3) ** (1 / 3) - 0.00001 ** (1 / 3), False),
    ],
)
def test_a_bound_is_on_the_summary_and_on_getting_worse(bound: Bound, value: float, passed: bool) -> None:
    runs = {"new": {}, "old": {}}
    for topic in range(3):
        runs["old"][str(topic)] = {"a": 3, "b": 2, "rel": 1}
        runs["new"][str(topic)] = {"rel": 3, "b": 2, "a": 1} if topic < 2 else {"u": 3, "v": 2, "b": 1}
    del runs["old"]["0"]["a"]
    runs["old"]["0"] = {"u": 3, "b": 2, "rel": 1}
    qrels = {str(topic): {"rel": 1, "a": 0, "b": 0} for topic in range(3)}
    residuals = "total" if bound.kind == "max-unjudged" else None
    scores = gradedeval.evaluate(runs, qrels, bound.measure, residuals=residuals)
    (row,) = gradedeval.check(scores, [bound], "old").frame.itertuples()
    assert (row.value, row.passed) == (pytest.approx(value), passed)


def test_a_drop_of_a_geometric_mean_breaks_a_bound_that_the_mean_keeps(files: Path, cli: Command) -> None:
    words = ("uneven.run", "qrels", "--baseline", "steady.run", "-m", "gm_ap", "--max-drop", "0.05")
    outcome = cli("check", *words)
    assert outcome.code == 1
    assert outcome.text.startswith(
        "FAIL  uneven.run: gm_ap fell by 0.3118 (93.5%), from 0.3333 to 0.0215, more than 0.05; judging the unjudged "
        "documents could reverse it; topic that fell most: 2"
    )
    assert cli("check", "uneven.run", "qrels", "--min", "num_rel_ret=3").text.startswith(
        "FAIL  uneven.run: num_rel_ret 2 is below 3; topics with the lowest scores: 2 0, 0 1, 1 1"
    )


# Which of two is better


def test_fewer_unjudged_documents_win_and_num_ret_has_no_winner() -> None:
    runs = {"x": {"1": {"a": 2, "b": 1}, "2": {"a": 2, "u": 1}}, "y": {"1": {"a": 1, "u": 2}, "2": {"a": 1}}}
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}
    scores = gradedeval.evaluate(runs, qrels, "unjudged@2 num_ret rbp(of=ec) rbp(of=ed)")
    with pytest.warns(gradedeval.EvaluationWarning):
        frame = gradedeval.compare(scores, baseline="x").frame.set_index("measure")
    assert frame.loc["unjudged@2", ["wins", "ties", "losses"]].tolist() == [1, 0, 1]
    assert frame.loc["num_ret", "ties"] == 1
    assert frame.loc[["num_ret", "rbp(of=ed)"], ["wins", "losses"]].isna().all(axis=None)
    readings = dict(zip(*(getattr(to_matrix(scores), name) for name in ("measures", "readings")), strict=True))
    assert readings["rbp(of=ec)"] == Reading("mean", "lower")


def test_sorting_puts_the_fewest_unjudged_first(files: Path, cli: Command) -> None:
    (files / "qrels").write_text(QRELS + "0 0 d1 0\n1 0 d1 0\n2 0 d1 0\n0 0 d2 0\n")
    for measure in ("unjudged@6", "judged@6", "num_ret"):
        table = cli(*RANKS, "qrels", "-m", measure, "--sort", measure, "-f", "csv")
        expected = list(RANKS) if measure == "num_ret" else ["steady.run", "weak.run", "uneven.run"]
        assert [row["run"] for row in csv_rows(table.text)] == expected


def test_tables_name_the_better_scores_and_the_tested_values(files: Path, cli: Command) -> None:
    outcome = cli("compare", "steady.run", "uneven.run", "qrels", "-m", "gm_ap unjudged@3 num_ret")
    ratio = "gm_ap: ratio of geometric means, tested by logarithms"
    assert f" | {ratio} | unjudged@3: lower is better | num_ret: no preferred direction gradedeval " in outcome.words
    rows = {line.split()[0]: line for line in outcome.text.splitlines()[2:8]}
    assert "×0.0000 to ×inf" in rows["gm_ap"]
    assert "–/3/–" in rows["num_ret"]


def test_orderings_go_from_the_best_to_the_worst(files: Path) -> None:
    draw = np.random.default_rng(5)
    runs = {
        f"r{n}": {str(t): {f"d{d}": float(draw.random()) for d in draw.permutation(20)[:10]} for t in range(6)}
        for n in range(7)
    }
    qrels = {str(t): {f"d{d}": int(d < 4) for d in range(12)} for t in range(6)}
    scores = gradedeval.evaluate(runs, qrels, "judged@5 unjudged@5 gm_ap")
    by_measure = {name: np.array([scores.means_by_run[run][name] for run in runs]) for name in scores.labels}
    for kind in ("tau", "weighted-tau", "tau-ap"):
        frame = gradedeval.correlate(scores, coefficient=kind).frame.set_index(["measure", "other"])["agreement"]
        itself = agreement(kind, by_measure["judged@5"], by_measure["judged@5"])  # type: ignore[arg-type]
        assert frame["judged@5", "unjudged@5"] == pytest.approx(itself)
        assert frame["gm_ap", "unjudged@5"] == pytest.approx(
            agreement(kind, by_measure["gm_ap"], -by_measure["unjudged@5"])
        )  # type: ignore[arg-type]
    by_topic = gradedeval.correlate(scores, coefficient="pearson").frame.set_index(["measure", "other"])["agreement"]
    assert by_topic["judged@5", "unjudged@5"] == pytest.approx(-1)


# Saved scores


@UNENDED
def test_saved_scores_are_read_like_runs_and_an_unknown_measure_is_named(files: Path, cli: Command) -> None:
    words = ("-m", "gm_ap num_rel_ret unjudged@3")
    cli("eval", *RANKS, "qrels", "-q", *words, "-o", "saved.csv")
    same = ("--baseline", "steady.run", "-f", "csv")
    saved = cli("compare", "--from-scores", "saved.csv", *same)
    direct = without_flips(cli("compare", *RANKS, "qrels", *words, *same).text)
    assert without_flips(saved.text) == direct.replace(",False", ",").replace(",True", ",")
    (files / "saved.csv").write_text((files / "saved.csv").read_text().replace("num_rel_ret", "mine"))
    messages = cli("compare", "--from-scores", "saved.csv", *same).messages
    assert messages[0] == "mine: no measure known here; taken as a mean, the higher the better"


# One run


def test_power_orders_by_the_summary_and_needs_a_ratio(files: Path) -> None:
    power = gradedeval.power(scored("gm_ap num_rel_ret"), draws=200, best_runs=2)
    assert set(power.curve["run"]) | set(power.curve["other"]) >= {"steady.run", "weak.run"}
    rows = power.curve.set_index("measure")
    expected = np.exp(np.mean(np.log([3 / 5, 3 / 6, 3 / 4])))
    assert rows.loc["gm_ap", ["tested", "difference"]].tolist() == ["ratio", pytest.approx(expected)]


@pytest.fixture
def six(tmp_path: Path) -> Path:
    """Write two runs of six topics."""
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 a 1\n{topic} 0 b 0\n{topic} 0 c 2\n" for topic in range(1, 7)))
    for name, listed in (("one", "abuc"), ("two", "bcau")):
        lines = (
            f"{topic} Q0 {docno} {rank} {9 - rank} t\n" for topic in range(1, 7) for rank, docno in enumerate(listed)
        )
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


def test_numbers_on_another_scale_than_the_means_are_labeled(six: Path, cli: Command) -> None:
    words = ("one", "two", "qrels", "-m", "num_rel_ret gm_ap")
    risk = cli("risk", *words).words
    assert " | num_rel_ret: URisk by topic | gm_ap: URisk of logarithms gradedeval " in risk
    # The runs have to differ by more than a constant.
    (six / "two").write_text((six / "two").read_text().replace("1 Q0 c 1 8 t\n", ""))
    plan = cli("power", "--plan", "one", "two", "qrels", "-m", "gm_ap").words
    assert " | gm_ap: variance, difference and width of logarithms gradedeval " in plan


def test_totals_of_counts_are_whole_numbers(six: Path, cli: Command) -> None:
    words = ("one", "two", "qrels", "-m", "num_rel_ret@2", "--quiet")
    row = cli("compare", *words).text.splitlines()[3].split()
    assert row[:4] == ["num_rel_ret@2", "two", "6", "+0"]
    assert cli("risk", *words).text.splitlines()[2].split()[:3] == ["num_rel_ret@2", "one", "6"]
    checked = cli("check", "one", "qrels", "--min", "num_rel_ret=3").text
    assert checked.startswith("ok    one: num_rel_ret 12 is at least 3\n")


def test_topics_that_are_left_out_have_their_reason(six: Path, cli: Command) -> None:
    (six / "three").write_text("".join((six / "two").read_text().splitlines(keepends=True)[:12]))
    compared = ("compare", "one", "three", "qrels", "-m", "p@3")
    outcome = cli(*compared, "--topics", "both")
    assert "p@3: 3 of 6 topics left out (4, 5, 6): three is not scored on them (topics both)" in outcome.messages
    messages = cli(*compared, "-m", "ap rr gap", "--topics", "both").messages
    note = "p@3, ap, rr, …: 3 of 6 topics left out (4, 5, 6): three is not scored on them (topics both)"
    assert [message for message in messages if "left out" in message] == [note]


def test_the_signature_and_one_note_list_the_shared_topics(six: Path, cli: Command) -> None:
    """Check comparisons on the topics that all runs have; summaries of single runs are over the topics of each."""
    (six / "three").write_text("".join((six / "two").read_text().splitlines(keepends=True)[:12]))
    (six / "four").write_text("".join((six / "one").read_text().splitlines(keepends=True)[4:]))
    words = ("one", "three", "qrels", "-m", "p@3 ap", "--topics", "both")
    saved = succeed(cli(*words, "-q", "-o", "saved.csv"))
    assert "topics 3..6 of 6" in saved.messages + succeed(cli(*words)).text.splitlines()[-1].split(" | ")
    for command in (("compare",), ("compare", "-q"), ("compare", "--letters"), ("risk",), ("correlate",), ("power",)):
        for source, form in ((words, "table"), (words, "json"), (("--from-scores", "saved.csv"), "json")):
            outcome = succeed(cli(*command, *source, "-f", form))
            parts = [part for part in re.split(r" \| |\n|\"", outcome.text) if part.startswith("topics ")]
            assert parts[0] == "topics 3 of 6", (command, source, form, parts)
            assert len([message for message in outcome.messages if "left out" in message]) == 1, outcome.messages
    messages = cli("compare", "one", "three", "four", "qrels", "-m", "ap", "--topics", "both").messages
    problem = "ap: 4 of 6 topics left out (1, 4, 5, 6): three, four are not scored on all of them (topics both)"
    assert [line for line in messages if "left out" in line] == [problem]
    with pytest.warns(gradedeval.EvaluationWarning) as caught:
        result = gradedeval.compare(["one", "three"], "qrels", "ap", topics="both")
    assert " | topics 3 of 6 | " in result.signature
    assert result.signature == result.frame.attrs["signature"]
    assert len([note for note in caught if "left out" in str(note.message)]) == 1


def test_measures_of_one_name_show_their_different_arguments(six: Path, cli: Command) -> None:
    words = ("one", "qrels", "-m", "err err(gain=linear) rbp rbp(gain=exp) ap ap(rel=2)", "--signature", "full")
    line = cli(*words).words[cli(*words).words.index("gradedeval 0") :]
    gains = ["err, rbp(gain=exp,p=0.8): exp gains", "err(gain=linear), rbp(p=0.8): linear gains"]
    assert line.split(" | ")[4:-1] == [*gains, "ap: rel 1", "ap(rel=2): rel 2"]
    # A joint signature and that of a measure alone name the same gains.
    words = cli("one", "qrels", "-m", "err(gain=linear)", "--signature", "full").words
    joint, alone = Signature.read(line), Signature.read(words[words.index("gradedeval 0") :])
    assert joint is not None
    assert alone is not None
    assert joint.differences(alone, "err(gain=linear)") == {}


def test_a_measure_without_an_average_over_ties_does_not_list_them_all(six: Path, cli: Command) -> None:
    (message,) = cli("one", "qrels", "-m", "yaap", "--ties", "average").messages
    assert message.startswith("--ties average: yaap has no average over ties; ")
    assert len(message) < 160
