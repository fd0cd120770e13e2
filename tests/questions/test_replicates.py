"""Seeds of one system: means and deviations, the mixed model against loops and statsmodels, and wrong replicates."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gradedeval
from gradedeval.analysis.replicates import estimate, p_and_margin
from gradedeval.arrays import Floats
from support.commands import Command, rows
from support.paths import ROOT
from support.runs import write_qrels, write_run
from support.statistics import by_hand, holm

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")  # that a run has no seeds
TOPICS = [str(topic) for topic in range(301, 321)]
QRELS = {topic: {f"d{number}": number % 3 for number in range(12)} for topic in TOPICS}


def ranking(system: float, seed: int) -> dict[str, dict[str, float]]:
    """A run whose documents stand the better the larger `system` is, with luck of the topic and of the seed."""
    own, of_seed = np.random.default_rng(round(10 * system)), np.random.default_rng([round(10 * system), seed])
    lift = of_seed.normal(0, 0.3)
    return {
        topic: {
            name: (system + lift) * grade + own.normal() + of_seed.normal(0, 0.5) for name, grade in documents.items()
        }
        for topic, documents in QRELS.items()
    }


RUNS: dict[str, Any] = {
    **{f"a-{seed}.run": ranking(0.3, seed) for seed in range(3)},
    **{f"b-{seed}.run": ranking(0.8, seed) for seed in range(4)},
    "plain.run": ranking(0.1, 0),
}
SYSTEMS = {"A": "a-*", "B": "b-*"}
MEASURES = "ndcg@5 gm_ap num_rel_ret"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    runs = [str(write_run(tmp_path / name, run)) for name, run in RUNS.items()]
    return (*runs, str(write_qrels(tmp_path / "qrels", QRELS)))


GIVEN = ("--replicates", "A=a-*", "--replicates", "B=b-*")


def test_a_system_has_the_mean_and_the_deviation_of_its_seeds() -> None:
    scores = gradedeval.evaluate(RUNS, QRELS, MEASURES, replicates=SYSTEMS)
    found = {(row["system"], row["measure"]): row for row in scores.systems.to_dict("records")}
    assert list(scores.systems.columns) == ["system", "seeds", "measure", "mean", "sd", "signature"]
    for (system, measure), row in found.items():
        own = [means[measure] for run, means in scores.means_by_run.items() if run.startswith(system.lower())]
        expected = stats.gmean(own) if measure == "gm_ap" else np.mean(own)
        assert row["seeds"] == len(own)
        assert row["mean"] == pytest.approx(expected, rel=1e-12)
        assert row["sd"] == pytest.approx(np.std(own, ddof=1), rel=1e-9) if len(own) > 1 else math.isnan(row["sd"])
    assert [row["seeds"] for row in found.values()][::3] == [3, 4, 1]
    assert len(scores.runs) == 8  # which are there all the same


def test_a_comparison_agrees_with_plain_loops() -> None:
    found = gradedeval.compare(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS, all_pairs=True).frame
    scores = gradedeval.evaluate(RUNS, QRELS, "ndcg@5")
    of = {system: [scores.by_topic("ndcg@5", run) for run in RUNS if run.startswith(first)]
          for system, first in (("A", "a-"), ("B", "b-"), ("plain.run", "plain"))}  # fmt: skip
    assert found[["run", "baseline"]].values.tolist() == [["B", "A"], ["plain.run", "A"], ["plain.run", "B"]]
    for row in found.to_dict("records"):
        expected = by_hand(of[row["run"]], of[row["baseline"]])
        for name, value in expected.items():
            assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
        means = [np.mean([np.mean(list(run.values())) for run in of[row[side]]]) for side in ("run", "baseline")]
        assert [row["mean"], row["baseline_mean"]] == pytest.approx(means, rel=1e-12)
    assert found["p_corrected"].tolist() == pytest.approx(holm(found["p"].tolist()), rel=1e-12)


def balanced(seed: int, topics: int, seeds: int) -> Floats:
    """systems × seeds × topics, of which all components are well above 0."""
    draw = np.random.default_rng(seed)
    of_topic, of_both = 0.15 * draw.normal(size=(1, 1, topics)), 0.08 * draw.normal(size=(2, 1, topics))
    rest = 0.08 * draw.normal(size=(2, seeds, 1)) + 0.05 * draw.normal(size=(2, seeds, topics))
    return np.asarray(0.4 + of_topic + of_both + rest)


@pytest.mark.parametrize("seed", range(3))
def test_balanced_data_agree_with_the_mixed_model_of_statsmodels(seed: int) -> None:
    models = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    pd = pytest.importorskip("pandas")
    y = balanced(seed, 12, 4)
    places = product(range(2), range(4), range(12))
    data = pd.DataFrame(
        [(s, f"{s}-{k}", t, f"{s}-{t}", y[s, k, t], 1) for s, k, t in places],
        columns=["system", "seed", "topic", "both", "y", "group"],
    )
    components = {"topic": "0 + C(topic)", "both": "0 + C(both)", "seed": "0 + C(seed)"}
    model = models.MixedLM.from_formula("y ~ C(system)", groups="group", vc_formula=components, data=data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the optimizer can go no further
        fitted = model.fit(reml=True, method="bfgs", gtol=1e-9, maxiter=500)
    assert min(fitted.vcomp) > 1e-4
    found = estimate(y[1].mean(0) - y[0].mean(0), list(y))
    assert found.mean == pytest.approx(fitted.fe_params.iloc[1], abs=1e-6)
    assert found.se == pytest.approx(fitted.bse_fe.iloc[1], abs=1e-6)


def test_without_seeds_it_is_the_paired_t_test() -> None:
    draw = np.random.default_rng(3)
    one, other = draw.normal(size=(2, 30))
    mean, se, df = estimate(one - other, [one[None], other[None]])
    p, _ = p_and_margin(np.array([mean]), np.array([se]), np.array([df]), 0.05)
    assert p[0] == pytest.approx(stats.ttest_rel(one, other).pvalue, rel=1e-12)


def test_components_that_would_be_negative_are_zero() -> None:
    draw = np.random.default_rng(5)
    noise = draw.normal(size=(2, 4, 20))
    flat = noise - noise.mean(2, keepdims=True) + 3 * draw.normal(size=(2, 1, 20))  # seeds have the same mean
    found = estimate(flat[1].mean(0) - flat[0].mean(0), list(flat))
    assert found.df == 19
    alike = noise - noise.mean(1, keepdims=True) + 3 * draw.normal(size=(2, 4, 1))  # no topic differs
    found = estimate(alike[1].mean(0) - alike[0].mean(0), list(alike))
    assert found.df == 6


def rejected(seeds: int, between: float, topics: int = 50, draws: int = 5000, both: float = 1.0) -> float:
    """How often a difference is found at 5 % where there is none; variances are in units of the error's."""
    draw = np.random.default_rng([seeds, round(10 * between)])
    y = draw.normal(size=(draws, 2, seeds, topics)) + math.sqrt(both) * draw.normal(size=(draws, 2, 1, topics))
    y += math.sqrt(between) * draw.normal(size=(draws, 2, seeds, 1))
    by_topic = y[:, 1].mean(1) - y[:, 0].mean(1)
    found = [estimate(difference, systems) for difference, systems in zip(by_topic, y, strict=True)]
    p, _ = p_and_margin(*(np.array(part) for part in zip(*found, strict=True)), 0.05)
    return float((p <= 0.05).mean())


@pytest.mark.exhaustive
@pytest.mark.parametrize("between", [0, 1, 4])
@pytest.mark.parametrize("seeds", [3, 5, 10])
def test_the_level_holds(seeds: int, between: float) -> None:
    share = rejected(seeds, between)
    assert share <= (0.05 + 0.0062 if between == 0 else 0.06)  # two standard errors of 5,000 draws
    page = (ROOT / "docs" / "background" / "statistics.md").read_text()
    (line,) = [line.split("|") for line in page.split("\n") if line.startswith(f"| {seeds} seeds ")]
    assert line[2 + [0, 1, 4].index(between)].strip() == f"{100 * share:.1f} %"


def test_the_level_holds_in_a_sample() -> None:
    assert rejected(3, 1, topics=20, draws=500) <= 0.08


# The commands.


def test_eval_shows_systems_in_all_formats(files: tuple[str, ...], cli: Command) -> None:
    printed = rows(cli(*files, "-m", MEASURES, *GIVEN, "-f", "csv").text)
    assert [row["system"] for row in printed] == ["A"] * 3 + ["B"] * 3 + ["plain.run"] * 3
    assert list(printed[0]) == ["system", "seeds", "measure", "mean", "sd", "signature"]
    expected = gradedeval.evaluate(RUNS, QRELS, MEASURES, replicates=SYSTEMS).systems
    assert [float(row["mean"]) for row in printed] == pytest.approx(expected["mean"].tolist(), rel=1e-12)
    saved = json.loads(cli(*files, "-m", MEASURES, *GIVEN, "-f", "json").text)
    assert {"system": "A", "seeds": 3, "measure": "ndcg@5"}.items() <= next(
        value for value in saved.values() if isinstance(value, list)
    )[0].items()
    for form in ("table", "md", "latex", "html", "trec", "jsonl", "tsv"):
        found = cli(*files, "-m", MEASURES, *GIVEN, "-f", form)
        assert found.code == 0, (form, found.messages)
        assert f"{float(printed[0]['mean']):.4f}" in found.text or form in ("jsonl", "tsv"), form
    whole = cli(*files, "-m", MEASURES, *GIVEN, "-q", "-f", "csv").text
    assert whole == cli(*files, "-m", MEASURES, "-q", "-f", "csv").text


def test_a_sorted_table_goes_by_the_means_of_systems(files: tuple[str, ...], cli: Command) -> None:
    found = rows(cli(*files, "-m", "ndcg@5", *GIVEN, "--sort", "ndcg@5", "-f", "csv").text)
    means = [float(row["mean"]) for row in found]
    assert means == sorted(means, reverse=True)
    assert len(means) == 3


def test_saved_scores_are_compared_by_system(files: tuple[str, ...], cli: Command, tmp_path: Path) -> None:
    direct = rows(cli("compare", *files, "-m", MEASURES, *GIVEN, "--baseline", "B", "-f", "csv").text)
    cli(*files, "-m", MEASURES, "-q", "-o", str(tmp_path / "saved.csv"))
    listed = tmp_path / "systems"
    lines = [f"{run} {run[0].upper()}" for run in RUNS if run != "plain.run"]
    listed.write_text("run system\n" + "\n".join([*lines, "other.run C"]) + "\n")
    words = ("compare", "--from-scores", str(tmp_path / "saved.csv"), "--replicates", str(listed), "--baseline", "B")
    saved = rows(cli(*words, "-f", "csv").text)
    assert len(saved) == 6
    for one, other in zip(direct, saved, strict=True):
        assert {**one, "signature": ""} == {**other, "signature": ""}


def test_slices_of_systems_are_compared(files: tuple[str, ...], cli: Command, tmp_path: Path) -> None:
    labels = tmp_path / "labels"
    labels.write_text("topic\tparity\n" + "".join(f"{topic}\t{'odd' if int(topic) % 2 else 'even'}\n"
                                                  for topic in TOPICS))  # fmt: skip
    found = cli("compare", *files, "-m", "ndcg@5", *GIVEN, "--slices", str(labels), "-f", "csv")
    odd = {topic: documents for topic, documents in QRELS.items() if int(topic) % 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = gradedeval.compare(RUNS, odd, "ndcg@5", replicates=SYSTEMS).frame
    sliced = [row for row in rows(found.text) if row["slice"] == "parity=odd"]
    assert [float(row["p"]) for row in sliced] == pytest.approx(alone["p"].tolist(), rel=1e-9)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("A=a-*", "A2=c-*"), "A2=c-* matches no run"),
        (("A=a-*", "all=*.run"), "run 'a-0.run' is in two systems, 'A' and 'all'; a run is of one system"),
        (("A=plain*",), "system 'A' has one seed (plain.run), and a deviation needs two"),
        (("plain.run=a-*",), "'plain.run' is a system and a run"),
        (("A=",), "'A=' is not a system and a pattern"),
        (("nothing",), "'nothing' is neither a file nor a system and a pattern"),
    ],
)
def test_wrong_replicates_are_one_line(
    words: tuple[str, ...], message: str, files: tuple[str, ...], cli: Command
) -> None:
    given = [part for word in words for part in ("--replicates", word)]
    for command in ((), ("compare",)):
        found = cli(*command, *files, "-m", "ndcg@5", *given)
        assert (found.code, len(found.messages)) == (2, 1)
        assert f"--replicates: {message}" in found.messages[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--interval",), "cannot be combined with --interval"),
        (("--best",), "cannot be combined with the marks"),
        (("compare", "--test", "t"), "t compares runs, and systems with seeds are compared by a mixed model"),
        (("compare", "--judging"), "what judging could do to means over seeds is not known"),
    ],
)
def test_what_systems_do_not_have_is_one_line(
    words: tuple[str, ...], message: str, files: tuple[str, ...], cli: Command
) -> None:
    found = cli(*words, *files, "-m", "ndcg@5", *GIVEN)
    assert (found.code, len(found.messages)) == (2, 1)
    assert message in found.messages[0]


@pytest.mark.parametrize(
    "given",
    [
        SYSTEMS,
        {"A": ["a-0.run", "a-1.run", "a-2.run"], "B": "b-*"},
        {run: run[0].upper() for run in RUNS if run != "plain.run"},
        ["A=a-*", "B=b-*"],
    ],
)
def test_all_forms_of_python_mean_the_same(given: Any) -> None:
    assert gradedeval.evaluate(RUNS, QRELS, "ndcg@5", replicates=given).systems_of == {
        "A": ["a-0.run", "a-1.run", "a-2.run"],
        "B": [f"b-{seed}.run" for seed in range(4)],
        "plain.run": ["plain.run"],
    }


def test_a_check_bounds_the_mean_of_a_system(files: tuple[str, ...], cli: Command, tmp_path: Path) -> None:
    expected = gradedeval.evaluate(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS).systems["mean"].tolist()
    words = ("check", *files, *GIVEN, "--baseline", "B", "--min", f"ndcg@5={expected[0]:.4f}", "-f", "json")
    bounds = json.loads(cli(*words, "--significant", "ndcg@5=0.05").text)["bounds"]
    assert [one["run"] for one in bounds] == ["A", "A", "plain.run", "plain.run"]
    assert bounds[0]["value"] == pytest.approx(expected[0], rel=1e-12)
    p = gradedeval.compare(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS, baseline="B").frame["p_corrected"].tolist()
    assert [one["value"] for one in bounds if one["bound"] == "significant"] == pytest.approx(p, rel=1e-9)
    config = tmp_path / "g.toml"
    config.write_text('min = { "ndcg@5" = 0.99 }\n[replicates]\nA = "a-*"\nB = "b-*"\n')
    found = cli("check", *files, "--config", str(config))
    assert found.code == 1
    assert "FAIL  A: ndcg@5" in found.text


def test_pictures_and_frames_of_systems(files: tuple[str, ...], cli: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = cli("plot", "runs", *files, "-m", "ndcg@5", *GIVEN, "-o", str(tmp_path / "r.svg"))
    assert found.code == 0, found.messages
    frame = gradedeval.run_summaries(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS).frame
    assert frame["run"].tolist() == ["A", "B", "plain.run"]
    assert frame["seeds"].tolist() == [3, 4, 1]
    assert (frame["low"] < frame["score"]).all()


def test_topics_show_the_difference_of_two_systems(files: tuple[str, ...], cli: Command, tmp_path: Path) -> None:
    found = gradedeval.topic_differences(
        {name: run for name, run in RUNS.items() if name != "plain.run"}, QRELS, "ndcg@5", replicates=SYSTEMS
    ).frame
    scores = gradedeval.evaluate(RUNS, QRELS, "ndcg@5")
    for row in found.to_dict("records"):
        own, base = (
            np.array([scores.by_topic("ndcg@5", run)[row["topic"]] for run in RUNS if run.startswith(system)])
            for system in ("b-", "a-")
        )
        assert (row["run"], row["baseline"]) == ("B", "A")
        assert [row["score"], row["baseline_score"]] == pytest.approx([own.mean(), base.mean()], abs=1e-12)
        assert row["difference"] == pytest.approx(own.mean() - base.mean(), abs=1e-12)
        se = math.sqrt(own.var(ddof=1) / len(own) + base.var(ddof=1) / len(base))
        assert row["se"] == pytest.approx(se, abs=1e-12)
    assert (found["low"] <= found["difference"]).all()
    assert (found["high"] >= found["difference"]).all()
    output = ("-o", str(tmp_path / "t.svg"))
    named = cli("plot", "topics", *files, *GIVEN, *output)
    assert (named.code, named.messages[-1].count("3 systems given")) == (2, 1)
    pytest.importorskip("matplotlib")
    drawn = cli("plot", "topics", *files[:-2], files[-1], "-m", "ndcg@5", *GIVEN, *output)
    assert drawn.code == 0, drawn.messages
    assert "± standard error over seeds" in (tmp_path / "t.svg").read_text()
    assert any("no run of either system retrieved" in line for line in drawn.messages)


def test_a_report_has_a_section_of_systems() -> None:
    pytest.importorskip("jinja2")
    page = gradedeval.html_report(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS)
    assert '<section id="systems"' in page
    assert page.count("mixed model") == 2  # below the tables, and in how the page was made
    section = page.partition('<section id="systems"')[2].partition("</section>")[0]
    captions = re.findall("<caption>(.*?)</caption>", section)
    assert captions == ["Means over seeds, and their standard deviations", "Systems, compared with A"]
    assert re.search("<dd>A: a-.\\.run, a-.\\.run, a-.\\.run</dd>", page)
    assert '<section id="systems"' not in gradedeval.html_report(RUNS, QRELS, "ndcg@5")
    # A test of runs is not one of systems.
    tested = {"test": "bayes", "rope": 0.02}
    page = gradedeval.html_report(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS, **tested)  # type: ignore[arg-type]
    assert page.partition('<section id="systems"')[2].partition("</section>")[0] == section


@pytest.mark.parametrize("name", ["letters", "anova", "power"])
def test_tests_of_single_runs_refuse_systems(name: str) -> None:
    said = rf"^replicates: {name} does not take it; give one run of each system, or use compare$"
    with pytest.raises(gradedeval.InputError, match=said):
        getattr(gradedeval, name)(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS)


def test_a_slice_of_one_topic_has_a_difference_and_nothing_else(cli: Command, tmp_path: Path) -> None:
    for name, source in (("x", "bm25"), ("y", "neural")):
        for seed in (1, 2):
            content = (ROOT / f"qrels_samples/rivers-{source}.run").read_bytes()
            (tmp_path / f"{name}-{seed}.run").write_bytes(content)
    labels = tmp_path / "labels.csv"
    labels.write_text("topic,kind\n301,alone\n" + "".join(f"{topic},many\n" for topic in range(302, 312)))
    runs = [f"{name}-{seed}.run" for name in "xy" for seed in (1, 2)]
    found = cli("compare", *runs, str(ROOT / "qrels_samples/rivers.qrels"), "-m", "ap", "--slices", str(labels),
                "--replicates", "x=x-*", "--replicates", "y=y-*", "-f", "csv")  # fmt: skip
    assert found.code == 0, found.messages
    rows = {row["slice"]: row for row in csv.DictReader(io.StringIO(found.text))}
    assert float(rows["kind=alone"]["difference"]) != 0
    assert [rows["kind=alone"][name] for name in ("se", "df", "low", "high", "p")] == [""] * 5
