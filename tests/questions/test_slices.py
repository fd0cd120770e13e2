"""Slices of topics: evaluations, comparisons, checks, changes and pictures by label, against plain loops."""

import csv
import json
import re
import shlex
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gradedeval
from gradedeval.analysis.pairs import label_p_values
from gradedeval.arrays import Floats
from gradedeval.questions.runs import run_panels
from support.commands import Command, rows, succeed
from support.paths import SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural")]
QRELS, QUERIES = str(SAMPLES / "rivers.qrels"), str(SAMPLES / "rivers-queries.tsv")
SLICED = ("--queries", QUERIES, "--slices", "intent,language")


def topics_of(column: str) -> dict[str, set[str]]:
    """Return the topics of each label, read independently."""
    topics: dict[str, set[str]] = {}
    for row in csv.DictReader(Path(QUERIES).read_text().splitlines(), delimiter="\t"):
        for label in row[column].split("|"):
            topics.setdefault(label, set()).add(row["topic"])
    return topics


def test_the_mean_of_a_slice_is_over_its_topics(cli: Command) -> None:
    printed = succeed(cli(*RUNS, QRELS, "-m", "ndcg@10 ap", "-q", "-f", "csv", *SLICED))
    table = rows(printed.text)
    of_topics = [row for row in table if row["topic"] != "all"]
    assert all(row["query"] and not row["slice"] for row in of_topics)
    sliced = {(row["run"], row["measure"], row["slice"]): float(row["score"]) for row in table if row["slice"]}
    assert len(sliced) == 3 * 2 * 4
    for (run, measure, name), mean in sliced.items():
        column, _, label = name.partition("=")
        scores = [float(row["score"]) for row in of_topics if (row["run"], row["measure"]) == (run, measure)
               and row["topic"] in topics_of(column)[label]]  # fmt: skip
        assert mean == pytest.approx(float(np.mean(scores)), abs=1e-14)


def test_saved_scores_leave_the_means_of_slices_out(cli: Command) -> None:
    cli(*RUNS, QRELS, "-m", "ndcg@10", "-q", "-o", "plain.csv")
    cli(*RUNS, QRELS, "-m", "ndcg@10", "-q", "-o", "sliced.csv", *SLICED)
    words = ("compare", "--draws", "99", "-f", "csv", "--from-scores")
    plain, sliced = (rows(cli(*words, name).text) for name in ("plain.csv", "sliced.csv"))
    assert [{**row, "signature": ""} for row in plain] == [{**row, "signature": ""} for row in sliced]
    again = cli("compare", "--from-scores", "plain.csv", "--draws", "99", "-f", "csv", *SLICED)
    assert {row["slice"] for row in rows(again.text)} == {
        *("", "intent=fact", "intent=survey", "language=en", "language=de")
    }


def test_python_has_the_scores_of_a_slice() -> None:
    scores = gradedeval.evaluate(RUNS[:1], QRELS, "ndcg@10", queries=QUERIES, slices=["intent"], interval=True)
    part = scores.by_slice["intent"]["fact"]
    facts = sorted(topics_of("intent")["fact"])
    chosen = gradedeval.evaluate(RUNS[:1], QRELS, "ndcg@10", topics_from=facts, interval=True)
    assert part.means_by_run == chosen.means_by_run
    assert (part.intervals == chosen.intervals).all()
    assert "slice intent=fact of 20 topics" in part.signature
    assert set(scores.frame["slice"].dropna()) == {"intent=fact", "intent=survey"}
    assert scores.frame["query"].notna().sum() == 50


def test_slices_of_other_topics_have_other_signatures() -> None:
    even = {"k": {str(topic): "x" if topic % 2 else "y" for topic in range(301, 351)}}
    odd = {"k": {str(topic): "y" if topic % 2 else "x" for topic in range(301, 351)}}
    frames = [gradedeval.evaluate(RUNS[0], QRELS, "ap", slices=labels).frame for labels in (even, odd)]
    signed = [frame[frame["slice"] == "k=x"]["signature"].item() for frame in frames]
    assert all("slice k=x of 25 topics" in text for text in signed)
    assert signed[0] != signed[1]


def test_the_legend_and_caption_of_a_table_differ_from_its_slices(cli: Command) -> None:
    words = ("-m", "ap", "--best", "--caption", "Means", *SLICED)
    latex = cli(*RUNS, QRELS, *words, "-f", "latex").text
    assert latex.count(r"\begin{tabular}") == 3
    assert [latex.count(part) for part in (r"\caption{Means}", "second best")] == [1, 1]
    page = cli(*RUNS, QRELS, "-m", "ap", "--best", "--caption", "Means", *SLICED, "-f", "html").text
    assert page.count("<caption>") == 1


def test_differences_by_slice_are_corrected_over_slices_and_pairs() -> None:
    comparison = gradedeval.compare(RUNS, QRELS, "ndcg@10", queries=QUERIES, slices="intent,language", test="t")
    assert comparison.slices is not None
    frame = comparison.slices
    scores = gradedeval.evaluate(RUNS, QRELS, "ndcg@10")
    by_run = {run.run: scores.by_topic("ndcg@10", run.run) for run in scores.runs}
    expected = {}
    for column, run in product(("intent", "language"), list(by_run)[1:]):
        for label, topics in topics_of(column).items():
            pair = [[of_run[topic] for topic in sorted(topics)] for of_run in (by_run[run], by_run["rivers-bm25.run"])]
            expected[f"{column}={label}", run] = float(stats.ttest_rel(*pair).pvalue)
    order = sorted(expected, key=expected.__getitem__)
    holm, largest = {}, 0.0
    for number, key in enumerate(order):
        largest = max(largest, min(1.0, expected[key] * (len(order) - number)))
        holm[key] = largest
    for row in frame.to_dict("records"):
        key = row["slice"], row["run"]
        assert row["p"] == pytest.approx(expected[key], rel=1e-9)
        assert row["p_corrected"] == pytest.approx(holm[key], rel=1e-9)
    assert frame["p_between"].notna().tolist() == (frame["column"] == "intent").tolist()  # topics have two languages


def plain_p(differences: Floats, label: list[int], draws: int, seed: int) -> float:
    """Compute the permutation test in a loop."""
    groups = sorted(set(label))

    def spread(labels: list[int]) -> float:
        means = [
            np.mean([d for d, label in zip(differences, labels, strict=True) if label == group]) for group in groups
        ]
        return sum(labels.count(group) * (mean - np.mean(differences)) ** 2
                   for group, mean in zip(groups, means, strict=True))  # fmt: skip

    draw, observed, beyond = np.random.default_rng(seed), spread(label), 0
    for _ in range(draws):
        beyond += spread(draw.permutation(label).tolist()) >= observed - 1e-12
    return (beyond + 1) / (draws + 1)


@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_the_test_between_slices_agrees_with_a_loop(shift: float) -> None:
    draw = np.random.default_rng(4)
    label = [0] * 9 + [1] * 14 + [2] * 6
    differences = draw.normal(0, 0.3, len(label)) + shift * np.array(label)
    members = [np.array(label) == group for group in range(3)]
    (p_value,) = label_p_values(differences[None], members, 4000, 1)  # type: ignore[misc]
    assert p_value == pytest.approx(plain_p(differences, label, 2000, 2), abs=0.025)


def test_the_test_between_slices_keeps_its_level() -> None:
    draw = np.random.default_rng(7)
    label = np.repeat([0, 1], [12, 30])
    differences = draw.standard_t(4, (400, 42))
    p_values = label_p_values(differences, [label == 0, label == 1], 500, 3)
    assert p_values is not None
    assert 0.02 < float((p_values <= 0.05).mean()) < 0.09


def test_small_slices_and_topics_with_two_labels_are_not_tested() -> None:
    differences = np.ones((1, 12))
    few = np.arange(12) < 4
    assert label_p_values(differences, [few, ~few], 10, 0) is None
    assert label_p_values(differences, [np.arange(12) < 7, np.arange(12) > 4], 10, 0) is None
    labels = {"kind": {str(topic): "few" if topic < 304 else "many" for topic in range(301, 351)}}
    comparison = gradedeval.compare(RUNS[:2], QRELS, "ndcg@10", slices=labels)
    assert comparison.slices is not None
    assert comparison.slices["p"].isna().tolist() == [True, False]
    assert "kind=few: fewer than 5 topics, not tested" in comparison.settings_text


@pytest.mark.parametrize("test", ["anova", "tukey-hsd", "bayes", "wilcoxon", "bootstrap"])
def test_all_tests_take_slices(test: str, cli: Command) -> None:
    outcome = succeed(cli("compare", *RUNS, QRELS, "-m", "ndcg@10", "--test", test, "--draws", "500", *SLICED))
    assert "intent" in outcome.text


def test_a_check_bounds_slices(cli: Command, tmp_path: Path) -> None:
    bounds = ("--min", "intent=fact: ndcg@10=0.3", "--min", "intent=survey: ndcg@10=0.3")
    outcome = cli("check", RUNS[0], QRELS, *SLICED, *bounds)
    assert outcome.code == 1
    assert "ok    rivers-bm25.run: intent=fact: ndcg@10 0.3159 is at least 0.3" in outcome.text
    assert "FAIL  rivers-bm25.run: intent=survey: ndcg@10 0.2464 is below 0.3" in outcome.text
    config = tmp_path / "g.toml"
    config.write_text('[slices]\nfile = "intent"\n[slices.intent.fact]\nmin = { "ndcg@10" = 0.9 }\n')
    failed = cli("check", RUNS[0], QRELS, "--queries", QUERIES, "--config", str(config), "-f", "json")
    (bound,) = json.loads(failed.text)["bounds"]
    assert (failed.code, bound["slice"], bound["topics"], bound["passed"]) == (1, "intent=fact", 20, False)
    assert bound["worst"][0]["query"]
    unknown = cli("check", RUNS[0], QRELS, *SLICED, "--min", "intent=fcat: ndcg@10=0.3")
    assert unknown.code == 2
    assert "no slice 'intent=fcat'; did you mean 'intent=fact'?" in unknown.messages[-1]


def test_a_check_says_that_no_bound_is_of_a_slice(cli: Command) -> None:
    check = ("check", RUNS[0], QRELS, *SLICED)
    messages = cli(*check, "--min", "ndcg@20=0.1", "--max-drop", "ndcg@20=5%", "--baseline", RUNS[1]).messages
    (note,) = (message for message in messages if "--slices" in message)
    problem, _, bound = note.partition("; write --min ")
    assert problem == "--slices is used by no bound"
    (word,) = shlex.split(bound)
    assert re.fullmatch("intent=[a-z]+: ndcg@20=0.1", word)
    assert not any("used by no bound" in message for message in cli(*check, "--min", word).messages)


@pytest.mark.parametrize("measure", ["ndcg@10", "err(gain=0:0.25:0.5:0.75:1)@20", "p@5"])
def test_the_colon_of_a_slice_needs_no_space(measure: str, cli: Command) -> None:
    check = ("check", RUNS[0], QRELS, *SLICED, "--top-grade", "4")
    tight, spaced = (cli(*check, "--min", f"intent=fact:{space}{measure}=0.01") for space in ("", " "))
    assert (tight.code, tight.text) == (spaced.code, spaced.text)
    assert "intent=fact: " in tight.text
    assert "intent=fact: " not in cli(*check, "--min", f"{measure}=0.01").text


@pytest.mark.parametrize("space", ["", " "])
def test_a_label_without_its_slice_has_a_hint(space: str, cli: Command) -> None:
    outcome = cli("check", RUNS[0], QRELS, *SLICED, "--min", f"fact:{space}ndcg@20=0.3")
    assert outcome.code == 2
    assert outcome.messages[-1].endswith("; write SLICE=LABEL: MEASURE=VALUE")
    misspelled = cli("check", RUNS[0], QRELS, "--min", "ndcg:gian=exp@20=0.3")  # another way to write ndcg(gain=exp)@20
    assert misspelled.code == 2
    assert "SLICE" not in misspelled.messages[-1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[slices.intent]\nfact = 3\n", ":2: bounds of a slice stand in a table of their own"),
        ('[slices.intent.fact]\nmni = { "ndcg@10" = 0.9 }\n', ":2: unknown bound 'mni'; did you mean 'min'?"),
    ],
)
def test_an_invalid_slice_in_settings_has_its_line(content: str, message: str, cli: Command, tmp_path: Path) -> None:
    (tmp_path / "g.toml").write_text(content)
    outcome = cli("check", RUNS[0], QRELS, *SLICED, "--config", str(tmp_path / "g.toml"))
    assert outcome.code == 2
    assert message in outcome.messages[-1]


@pytest.mark.one_in(4)
@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("measure", ["ndcg@10", "gm_ap", "num_rel_ret"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "Python"])
def test_machine_formats_of_diff_have_slices(form: str, measure: str, cli: Command) -> None:
    scores = gradedeval.evaluate(RUNS[:2], QRELS, measure, queries=QUERIES, slices="intent,language")
    old, new = (scores.by_topic(scores.measures[0].label, run.run) for run in scores.runs)
    summaries = {
        f"{column}={label}": [*(next(iter(part.means_by_run[run.run].values())) for run in scores.runs)]
        for column, labels in scores.by_slice.items()
        for label, part in labels.items()
    }
    records: list[dict[str, Any]]
    if form == "Python":
        frame = gradedeval.diff(*RUNS[:2], QRELS, measure, queries=QUERIES, slices="intent,language").slices
        assert frame is not None
        records = frame.to_dict("records")
    else:
        printed = cli("diff", *RUNS[:2], QRELS, "-m", measure, *SLICED, "-f", form, "--top", "1", "--only", "worse")
        lines = rows(printed.text) if form == "csv" else [json.loads(line) for line in printed.text.splitlines()]
        assert {row["topic"] for row in lines if not row["slice"]} <= set(old)
        records = [row for row in lines if row["slice"]]
        assert {(row["topic"], row["query"] or "", row["docno"] or "") for row in records} == {("all", "", "")}
        names = {(Path(row["baseline"]).name, Path(row["run"]).name) for row in records}
        assert names == {(Path(RUNS[0]).name, Path(RUNS[1]).name)}
    assert [row["slice"] for row in records] == list(summaries)
    for row in records:
        name, topics_of_slice = row["slice"], topics_of(row["column"])[row["label"]]
        assert name == f"{row['column']}={row['label']}"
        assert [float(row[name]) for name in ("baseline_score", "score")] == pytest.approx(summaries[name], abs=1e-12)
        assert float(row["difference"]) == pytest.approx(summaries[name][1] - summaries[name][0], abs=1e-12)
        changes = [new[topic] - old[topic] for topic in topics_of_slice]
        counts = [len(topics_of_slice), sum(change < 0 for change in changes), sum(change > 0 for change in changes)]
        assert [int(row[name]) for name in ("topics", "worse", "better")] == counts


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_diff_has_the_errors_of_systems_on_slices() -> None:
    systems = {"one": ["rivers-bm25.run", "rivers-bm25-rm3.run"], "other": ["rivers-neural.run", "rivers-dense.run"]}
    runs = [*RUNS, str(SAMPLES / "rivers-dense.run")]
    diff = gradedeval.diff(runs, QRELS, "ndcg@10", replicates=systems, queries=QUERIES, slices="intent").slices
    assert diff is not None
    parts = gradedeval.evaluate(runs, QRELS, "ndcg@10", queries=QUERIES, slices="intent").by_slice["intent"]
    for row in diff.to_dict("records"):
        seeds = [[parts[row["label"]].means_by_run[run]["ndcg@10"] for run in values] for values in systems.values()]
        means = [float(np.mean(values)) for values in seeds]
        assert [row["baseline_score"], row["score"]] == pytest.approx(means, abs=1e-12)
        assert row["se"] == pytest.approx(
            float(np.sqrt(sum(np.var(values, ddof=1) / 2 for values in seeds))), abs=1e-12
        )


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_diff_ignores_labels_of_unknown_topics() -> None:
    diff = gradedeval.diff(*RUNS[:2], QRELS, "ndcg@10", slices={"k": {"none": "x"}})
    assert diff.slices is None
    assert "slice" not in diff.document("long").table.names


def test_a_picture_of_an_unknown_column_of_labels_is_refused(cli: Command) -> None:
    pytest.importorskip("matplotlib")
    wrong = cli("plot", "runs", *RUNS, QRELS, "-m", "ndcg@10", *SLICED, "--slice", "intend", "-o", "r.svg")
    assert "no column of labels 'intend'; did you mean 'intent'?" in wrong.messages[-1]


def test_slices_are_drawn_on_one_scale() -> None:
    figures = pytest.importorskip("matplotlib.figure")
    frame = gradedeval.run_summaries(RUNS, QRELS, "ndcg@10", queries=QUERIES, slices="intent", slice="intent").frame
    ends = set()
    for panel in run_panels(frame):
        ax = figures.Figure().subplots()
        panel.draw(ax)
        ends.add(ax.get_xlim())
    assert len(ends) == 1 < frame["slice"].nunique()


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_a_report_has_texts_and_slices() -> None:
    pytest.importorskip("jinja2")
    page = gradedeval.html_report(RUNS, QRELS, "ndcg@10", queries={"303": "dams </script> on the Nile"},
                                  slices={"303": "a|b", "304": "a"})  # fmt: skip
    assert '<section id="slices"' in page
    assert "dams &lt;/script&gt; on the Nile" in page
    assert "</script> on the Nile" not in page


def test_a_slice_of_all_topics_is_not_tested_and_two_labels_prevent_the_test_between_slices() -> None:
    labels = {"k": {str(topic): ["x" if topic % 2 else "y", "all"] for topic in range(301, 351)}}
    comparison = gradedeval.compare(RUNS[:2], QRELS, "ndcg@10", slices=labels)
    assert comparison.slices is not None
    p = dict(zip(comparison.slices["slice"], comparison.slices["p"].notna(), strict=True))
    assert p == {"k=x": True, "k=all": False, "k=y": True}
    family = "slices: holm over 2 slices × 1 pair of each measure; an interval is of its slice and pair alone"
    assert family in comparison.settings_text
    assert "k=all: all topics, tested above" in comparison.settings_text
    rare = {
        "k": {str(topic): ["x" if topic % 2 else "y", *(["rare"] if topic < 303 else [])] for topic in range(301, 351)}
    }
    between_labels = gradedeval.compare(RUNS[:2], QRELS, "ndcg@10", slices=rare).slices
    assert between_labels is not None
    assert between_labels["p_between"].isna().all()


def test_labels_in_signatures_leave_scores_comparable(tmp_path: Path) -> None:
    first, second = ({"k": {"301": label, "302": "z"}} for label in "xy")
    with pytest.warns(gradedeval.EvaluationWarning):
        scores = [
            gradedeval.evaluate(RUNS[number], QRELS, "ap", slices=labels)
            for number, labels in ((0, first), (1, second))
        ]
    assert all(re.search(r"\| slices [0-9a-f]{6} ", part.signature) for part in scores)
    assert scores[0].signature.partition(" slices ")[2][:6] != scores[1].signature.partition(" slices ")[2][:6]
    for number, part in enumerate(scores):
        part.frame.to_csv(tmp_path / f"{number}.csv", index=False)
    assert len(gradedeval.compare(str(tmp_path / "0.csv"), baseline=str(tmp_path / "1.csv")).frame) == 1


def test_labels_of_no_topic_and_columns_that_could_be_labels(cli: Command, tmp_path: Path) -> None:
    labels = tmp_path / "l.csv"
    labels.write_text("topic,k\n301,x:y\n302,a\nnone,b\n")
    outcome = cli(RUNS[0], QRELS, "-m", "ap", "--slices", str(labels), "-f", "csv")
    assert {row["slice"] for row in rows(outcome.text)} == {"", "k=x:y", "k=a"}
    assert cli("check", RUNS[0], QRELS, "--slices", str(labels), "--min", "k=x:y: ap=0.01").code == 0
    labels.write_text("topic,a=b\n301,x\n")
    refused = cli(RUNS[0], QRELS, "-m", "ap", "--slices", str(labels))
    assert "column 'a=b' has a = in its name" in refused.messages[-1]
