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
from gradedeval.analysis.replicates import TESTED, estimate, p_and_margin
from gradedeval.arrays import Floats
from support.commands import Command, rows
from support.paths import ROOT
from support.runs import write_qrels, write_run
from support.statistics import by_hand, holm

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")  # that a run has no seeds
TOPICS = [str(topic) for topic in range(301, 321)]
QRELS = {topic: {f"d{number}": number % 3 for number in range(12)} for topic in TOPICS}


def ranking(system: float, seed: int) -> dict[str, dict[str, float]]:
    """Return a run with a quality that grows with `system`, with random effects of the topic and of the seed."""
    of_system, of_seed = np.random.default_rng(round(10 * system)), np.random.default_rng([round(10 * system), seed])
    lift = of_seed.normal(0, 0.3)
    return {
        topic: {
            name: (system + lift) * grade + of_system.normal() + of_seed.normal(0, 0.5)
            for name, grade in judged.items()
        }
        for topic, judged in QRELS.items()
    }


RUNS: dict[str, Any] = {
    **{f"a-{seed}.run": ranking(0.3, seed) for seed in range(5)},
    **{f"b-{seed}.run": ranking(0.8, seed) for seed in range(6)},
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
    rows_of = {(row["system"], row["measure"]): row for row in scores.systems.to_dict("records")}
    assert list(scores.systems.columns) == ["system", "seeds", "measure", "mean", "sd", "signature"]
    for (system, measure), row in rows_of.items():
        of_seeds = [means[measure] for run, means in scores.means_by_run.items() if run.startswith(system.lower())]
        expected = stats.gmean(of_seeds) if measure == "gm_ap" else np.mean(of_seeds)
        assert row["seeds"] == len(of_seeds)
        assert row["mean"] == pytest.approx(expected, rel=1e-12)
        assert (
            row["sd"] == pytest.approx(np.std(of_seeds, ddof=1), rel=1e-9)
            if len(of_seeds) > 1
            else math.isnan(row["sd"])
        )
    assert [row["seeds"] for row in rows_of.values()][::3] == [5, 6, 1]
    assert len(scores.runs) == 12  # which are shown all the same


def test_a_comparison_agrees_with_plain_loops() -> None:
    comparison = gradedeval.compare(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS, all_pairs=True).frame
    scores = gradedeval.evaluate(RUNS, QRELS, "ndcg@5")
    by_system = {system: [scores.by_topic("ndcg@5", run) for run in RUNS if run.startswith(first)]
          for system, first in (("A", "a-"), ("B", "b-"), ("plain.run", "plain"))}  # fmt: skip
    assert comparison[["run", "baseline"]].values.tolist() == [["B", "A"], ["plain.run", "A"], ["plain.run", "B"]]
    for row in comparison.to_dict("records"):
        expected = by_hand(by_system[row["run"]], by_system[row["baseline"]])
        for name, value in expected.items():
            assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), name
        means = [np.mean([np.mean(list(run.values())) for run in by_system[row[side]]]) for side in ("run", "baseline")]
        assert [row["mean"], row["baseline_mean"]] == pytest.approx(means, rel=1e-12)
    assert comparison["p_corrected"].tolist() == pytest.approx(comparison["p"].tolist(), rel=1e-12, nan_ok=True)
    assert comparison["p"].isna().tolist() == [False, True, True]


def test_p_is_corrected_over_the_pairs_that_have_one() -> None:
    runs = {**RUNS, **{f"c-{seed}.run": ranking(0.5, seed) for seed in range(5)}}
    systems = {**SYSTEMS, "C": "c-*"}
    comparison = gradedeval.compare(runs, QRELS, "ndcg@5", replicates=systems, all_pairs=True)
    p = comparison.frame.set_index(["run", "baseline"])[["p", "p_corrected"]].dropna()
    assert p.index.tolist() == [("B", "A"), ("C", "A"), ("C", "B")]
    assert p["p_corrected"].tolist() == pytest.approx(holm(p["p"].tolist()), rel=1e-12)
    notes = "fewer than 5 seeds: without p | fewer than 3 seeds: of these very runs"
    assert f"holm over 3 pairs of each measure | {notes}" in comparison.settings_text


def balanced(seed: int, topics: int, seeds: int) -> Floats:
    """Return scores of systems × seeds × topics with all components well above 0."""
    draw = np.random.default_rng(seed)
    of_topic, of_both = 0.15 * draw.normal(size=(1, 1, topics)), 0.08 * draw.normal(size=(2, 1, topics))
    rest = 0.08 * draw.normal(size=(2, seeds, 1)) + 0.05 * draw.normal(size=(2, seeds, topics))
    return np.asarray(0.4 + of_topic + of_both + rest)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3))
def test_balanced_data_agree_with_the_mixed_model_of_statsmodels(seed: int) -> None:
    models = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    pd = pytest.importorskip("pandas")
    y = balanced(seed, 12, 4)
    places = product(range(2), range(4), range(12))
    cells = [(s, f"{s}-{k}", t, f"{s}-{t}", y[s, k, t], 1) for s, k, t in places]
    data = pd.DataFrame(cells, columns=["system", "seed", "topic", "both", "y", "group"])
    components = {"topic": "0 + C(topic)", "both": "0 + C(both)", "seed": "0 + C(seed)"}
    model = models.MixedLM.from_formula("y ~ C(system)", groups="group", vc_formula=components, data=data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the optimizer can go no further
        fitted = model.fit(reml=True, method="bfgs", gtol=1e-9, maxiter=500)
    assert min(fitted.vcomp) > 1e-4
    result = estimate(y[1].mean(0) - y[0].mean(0), list(y))
    assert result.mean == pytest.approx(fitted.fe_params.iloc[1], abs=1e-6)
    assert result.se == pytest.approx(fitted.bse_fe.iloc[1], abs=1e-6)


def test_without_seeds_it_is_the_paired_t_test() -> None:
    draw = np.random.default_rng(3)
    first, second = draw.normal(size=(2, 30))
    mean, se, df = estimate(first - second, [first[None], second[None]])
    p, _ = p_and_margin(np.array([mean]), np.array([se]), np.array([df]), 0.05)
    assert p[0] == pytest.approx(stats.ttest_rel(first, second).pvalue, rel=1e-12)


def test_a_component_of_topics_that_would_be_negative_is_zero() -> None:
    draw = np.random.default_rng(5)
    noise = draw.normal(size=(2, 4, 20))
    similar = noise - noise.mean(1, keepdims=True) + 3 * draw.normal(size=(2, 4, 1))  # no topic differs
    result = estimate(similar[1].mean(0) - similar[0].mean(0), list(similar))
    squares = [20 * system.mean(1).var(ddof=1) / 4 for system in similar]
    assert result.se == pytest.approx(math.sqrt(sum(squares) / 20), rel=1e-9)
    assert result.df == pytest.approx(sum(squares) ** 2 / sum(square**2 / 4 for square in squares) - 1, rel=1e-9)


def test_a_system_of_few_seeds_has_an_interval_without_p() -> None:
    """Check Student's interval over topics if no system has three seeds; p is blank, with a note."""
    systems = {"A": ["a-0.run", "a-1.run"], "B": ["b-0.run", "b-1.run"]}
    runs = {name: RUNS[name] for members in systems.values() for name in members}
    with pytest.warns(gradedeval.EvaluationWarning, match="no p for 1 pair: B, A have fewer than 5 seeds, and"):
        comparison = gradedeval.compare(runs, QRELS, "ndcg@5", replicates=systems)
    (row,) = comparison.frame.to_dict("records")
    scores = gradedeval.evaluate(RUNS, QRELS, "ndcg@5")
    means = [
        np.mean([list(scores.by_topic("ndcg@5", run).values()) for run in members], axis=0)
        for members in systems.values()
    ]
    tested = stats.ttest_rel(means[1], means[0])
    assert [row["low"], row["high"]] == pytest.approx(list(tested.confidence_interval()), rel=1e-9)
    assert math.isnan(row["p"])
    assert math.isnan(row["p_corrected"])
    notes = "fewer than 5 seeds: without p | fewer than 3 seeds: of these very runs"
    assert f"t over topics | {notes}" in comparison.settings_text
    assert "—" in str(comparison)


def test_intervals_of_three_seeds_are_of_other_seeds_too_but_have_no_p() -> None:
    systems = {"A": [f"a-{seed}.run" for seed in range(3)], "B": "b-*"}
    runs = {name: run for name, run in RUNS.items() if name in systems["A"] or name.startswith("b-")}
    with pytest.warns(gradedeval.EvaluationWarning) as caught:
        comparison = gradedeval.compare(runs, QRELS, "ndcg@5", replicates=systems)
    messages = [str(warning.message) for warning in caught]
    assert messages == ["no p for 1 pair: A has fewer than 5 seeds, and a test would find a difference too often"]
    (row,) = comparison.frame.to_dict("records")
    scores = gradedeval.evaluate(runs, QRELS, "ndcg@5")
    by_system = [[scores.by_topic("ndcg@5", run) for run in runs if run.startswith(first)] for first in ("b-", "a-")]
    expected = by_hand(by_system[0], by_system[1])
    assert [row["low"], row["high"]] == pytest.approx([expected["low"], expected["high"]], rel=1e-9)
    assert math.isnan(row["p"])
    assert comparison.settings_text.count("fewer than 5 seeds: without p") == 1
    assert "of these very runs" not in comparison.settings_text


def test_a_single_run_as_baseline_has_no_p() -> None:
    problem = r"plain\.run has fewer than 3 seeds: intervals are of its very runs"
    with pytest.warns(gradedeval.EvaluationWarning, match=problem):
        comparison = gradedeval.compare(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS, baseline="plain.run").frame
    assert comparison["p"].isna().all()
    assert (comparison["low"] < comparison["difference"]).all()


def rejected(
    seeds: tuple[int, int],
    between: tuple[float, float],
    *,
    error: tuple[float, float] = (1, 1),
    both: float = 1.0,
    skewed: bool = False,
    topics: int = 50,
    draws: int = 20_000,
) -> float:
    """Return how often a difference is significant at 5 % if there is none.

    between  the variance of seeds, of each system
    error    the variance of the error, of each system
    both     the variance of system × topic
    skewed   whether errors and system × topic are exponential, not normal
    """
    draw = np.random.default_rng([*seeds, *(round(10 * variance) for variance in between), round(10 * both)])

    def deviates(*shape: int) -> Floats:
        return draw.exponential(size=shape) - 1 if skewed else draw.normal(size=shape)

    systems = [
        math.sqrt(noise) * deviates(draws, count, topics)
        + math.sqrt(both) * deviates(draws, 1, topics)
        + math.sqrt(varies) * draw.normal(size=(draws, count, 1))
        for count, varies, noise in zip(seeds, between, error, strict=True)
    ]
    estimates = [
        estimate(second.mean(0) - first.mean(0), [first, second]) for first, second in zip(*systems, strict=True)
    ]
    p, _ = p_and_margin(*(np.array(part) for part in zip(*estimates, strict=True)), 0.05)
    return float((p <= 0.05).mean())


BETWEEN = [(0, 0), (0.3, 0.3), (1, 1), (4, 4), (0, 1), (0, 4), (1, 4)]
SAMPLES: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {
    "5 and 5 seeds": ((5, 5), {}),
    "5 and 5 seeds, skewed scores": ((5, 5), {"skewed": True}),
    "5 and 5 seeds, the first all the same": ((5, 5), {"error": (0, 1)}),
    "5 and 10 seeds": ((5, 10), {}),
    "10 and 5 seeds": ((10, 5), {}),
    "10 and 10 seeds": ((10, 10), {}),
    "3 and 3 seeds": ((3, 3), {}),
    "4 and 4 seeds": ((4, 4), {}),
    "4 and 15 seeds": ((4, 15), {}),
}
"""Rows of the table of the page; of the last three there is no p, but an interval."""


def on_page(sample: str) -> list[str]:
    """Return the figures of a row of the table on the page."""
    page = (ROOT / "docs" / "background" / "statistics.md").read_text()
    (row,) = [row for row in page.split("\n") if row.startswith(f"| {sample} |")]
    return [cell.strip() for cell in row.split("|")[2:-1]]


@pytest.mark.exhaustive
@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("sample", SAMPLES)
def test_the_level_holds_for_every_p(sample: str, between: tuple[float, float]) -> None:
    seeds, settings = SAMPLES[sample]
    share = rejected(seeds, between, **settings)
    assert 0.04 <= share <= 0.06 or min(seeds) < TESTED
    assert on_page(sample)[BETWEEN.index(between)] == f"{100 * share:.1f} %"


@pytest.mark.exhaustive
def test_with_fewer_seeds_the_level_does_not_hold() -> None:
    assert rejected((3, 3), (0, 1)) > 0.06
    assert rejected((4, 15), (4, 4)) > 0.06


@pytest.mark.exhaustive
@pytest.mark.parametrize(("seeds", "most"), [((3, 1), 0.068), ((5, 1), 0.06), ((2, 2), 0.054), ((2, 1), 0.054)])
@pytest.mark.parametrize("between", [0, 1, 4])
def test_intervals_cover_the_difference_from_a_single_run(seeds: tuple[int, int], most: float, between: float) -> None:
    """Keep the seeds of systems of fewer than three: the estimate is the difference of these runs."""
    varies = tuple(between if count > 2 else 0.0 for count in seeds)
    assert 0.04 <= rejected(seeds, (varies[0], varies[1])) <= most


def test_the_level_holds_in_a_sample() -> None:
    assert 0.02 <= rejected((5, 5), (1, 1), topics=20, draws=500) <= 0.08


# The commands.


def test_eval_shows_systems_in_all_formats(files: tuple[str, ...], cli: Command) -> None:
    printed = rows(cli(*files, "-m", MEASURES, *GIVEN, "-f", "csv").text)
    assert [row["system"] for row in printed] == ["A"] * 3 + ["B"] * 3 + ["plain.run"] * 3
    assert list(printed[0]) == ["system", "seeds", "measure", "mean", "sd", "signature"]
    expected = gradedeval.evaluate(RUNS, QRELS, MEASURES, replicates=SYSTEMS).systems
    assert [float(row["mean"]) for row in printed] == pytest.approx(expected["mean"].tolist(), rel=1e-12)
    saved = json.loads(cli(*files, "-m", MEASURES, *GIVEN, "-f", "json").text)
    systems = next(value for value in saved.values() if isinstance(value, list))
    assert {"system": "A", "seeds": 5, "measure": "ndcg@5"}.items() <= systems[0].items()
    for form in ("table", "md", "latex", "html", "trec", "jsonl", "tsv"):
        outcome = cli(*files, "-m", MEASURES, *GIVEN, "-f", form)
        assert outcome.code == 0, (form, outcome.messages)
        assert f"{float(printed[0]['mean']):.4f}" in outcome.text or form in ("jsonl", "tsv"), form
    whole = cli(*files, "-m", MEASURES, *GIVEN, "-q", "-f", "csv").text
    assert whole == cli(*files, "-m", MEASURES, "-q", "-f", "csv").text


def test_a_sorted_table_goes_by_the_means_of_systems(files: tuple[str, ...], cli: Command) -> None:
    table = rows(cli(*files, "-m", "ndcg@5", *GIVEN, "--sort", "ndcg@5", "-f", "csv").text)
    means = [float(row["mean"]) for row in table]
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
    for first, second in zip(direct, saved, strict=True):
        assert {**first, "signature": ""} == {**second, "signature": ""}


def test_slices_of_systems_are_compared(files: tuple[str, ...], cli: Command, tmp_path: Path) -> None:
    labels = tmp_path / "labels"
    labels.write_text("topic\tparity\n" + "".join(f"{topic}\t{'odd' if int(topic) % 2 else 'even'}\n"
                                                  for topic in TOPICS))  # fmt: skip
    outcome = cli("compare", *files, "-m", "ndcg@5", *GIVEN, "--slices", str(labels), "-f", "csv")
    odd = {topic: documents for topic, documents in QRELS.items() if int(topic) % 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = gradedeval.compare(RUNS, odd, "ndcg@5", replicates=SYSTEMS).frame
    sliced = [row for row in rows(outcome.text) if row["slice"] == "parity=odd"]
    low = [float(row["low"]) for row in sliced]
    assert low == pytest.approx(alone["low"].tolist(), rel=1e-9)
    assert [row["p"] == "" for row in sliced] == alone["p"].isna().tolist() == [False, True]


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
def test_wrong_systems_are_refused(words: tuple[str, ...], message: str, files: tuple[str, ...], cli: Command) -> None:
    options = [part for word in words for part in ("--replicates", word)]
    for command in ((), ("compare",)):
        outcome = cli(*command, *files, "-m", "ndcg@5", *options)
        assert (outcome.code, len(outcome.messages)) == (2, 1)
        assert f"--replicates: {message}" in outcome.messages[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--interval",), "cannot be combined with --interval"),
        (("--best",), "cannot be combined with the marks"),
        (("compare", "--test", "t"), "t compares runs, and systems with seeds are compared by a mixed model"),
        (("compare", "--judging"), "effects of judging on means over seeds are unknown"),
    ],
)
def test_run_options_are_refused(words: tuple[str, ...], message: str, files: tuple[str, ...], cli: Command) -> None:
    outcome = cli(*words, *files, "-m", "ndcg@5", *GIVEN)
    assert (outcome.code, len(outcome.messages)) == (2, 1)
    assert message in outcome.messages[0]


@pytest.mark.parametrize(
    "systems",
    [
        SYSTEMS,
        {"A": [f"a-{seed}.run" for seed in range(5)], "B": "b-*"},
        {run: run[0].upper() for run in RUNS if run != "plain.run"},
        ["A=a-*", "B=b-*"],
    ],
)
def test_all_forms_of_systems_in_python_are_equivalent(systems: Any) -> None:
    assert gradedeval.evaluate(RUNS, QRELS, "ndcg@5", replicates=systems).systems_of == {
        "A": [f"a-{seed}.run" for seed in range(5)],
        "B": [f"b-{seed}.run" for seed in range(6)],
        "plain.run": ["plain.run"],
    }


def test_a_check_bounds_the_mean_of_a_system(files: tuple[str, ...], cli: Command, tmp_path: Path) -> None:
    expected = gradedeval.evaluate(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS).systems["mean"].tolist()
    kinds = ("--baseline", "B", "--min", f"ndcg@5={expected[0]:.4f}", "-f", "json", "--significant", "ndcg@5=0.05")
    seeded = [file for file in files if not file.endswith("plain.run")]
    bounds = json.loads(cli("check", *seeded, *GIVEN, *kinds).text)["bounds"]
    assert [bound["run"] for bound in bounds] == ["A", "A"]
    assert bounds[0]["value"] == pytest.approx(expected[0], rel=1e-12)
    comparison = gradedeval.compare(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS, baseline="B").frame.set_index("run")
    assert bounds[1]["value"] == pytest.approx(comparison.loc["A", "p_corrected"], rel=1e-9)
    refused = cli("check", *files, *GIVEN, *kinds)
    assert refused.code == 2
    cure = "'plain.run' has 1 seed, and a test needs 5 of both systems; leave out the bound, or give more seeds"
    assert refused.messages[-1].endswith(cure)
    config = tmp_path / "g.toml"
    config.write_text('min = { "ndcg@5" = 0.99 }\n[replicates]\nA = "a-*"\nB = "b-*"\n')
    outcome = cli("check", *files, "--config", str(config))
    assert outcome.code == 1
    assert "FAIL  A: ndcg@5" in outcome.text


def test_summaries_of_runs_are_by_system() -> None:
    frame = gradedeval.run_summaries(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS).frame
    assert frame["run"].tolist() == ["A", "B", "plain.run"]
    assert frame["seeds"].tolist() == [5, 6, 1]
    assert (frame["low"] < frame["score"]).all()


def test_topics_show_the_difference_of_two_systems(files: tuple[str, ...], cli: Command, tmp_path: Path) -> None:
    seeded = {name: run for name, run in RUNS.items() if name != "plain.run"}
    result = gradedeval.topic_differences(seeded, QRELS, "ndcg@5", replicates=SYSTEMS).frame
    scores = gradedeval.evaluate(RUNS, QRELS, "ndcg@5")
    for row in result.to_dict("records"):
        scores_of = {run: scores.by_topic("ndcg@5", run)[row["topic"]] for run in RUNS}
        compared, base = (
            np.array([scores_of[run] for run in RUNS if run.startswith(system)]) for system in ("b-", "a-")
        )
        assert (row["run"], row["baseline"]) == ("B", "A")
        assert [row["score"], row["baseline_score"]] == pytest.approx([compared.mean(), base.mean()], abs=1e-12)
        assert row["difference"] == pytest.approx(compared.mean() - base.mean(), abs=1e-12)
        se = math.sqrt(compared.var(ddof=1) / len(compared) + base.var(ddof=1) / len(base))
        assert row["se"] == pytest.approx(se, abs=1e-12)
    assert (result["low"] <= result["difference"]).all()
    assert (result["high"] >= result["difference"]).all()
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
    assert page.count("mixed model") == 2  # below the tables, and in the settings of the page
    section = page.partition('<section id="systems"')[2].partition("</section>")[0]
    captions = re.findall("<caption>(.*?)</caption>", section)
    assert captions == ["Means over seeds, and their standard deviations", "Systems, compared with A"]
    assert re.search("<dd>A: a-.\\.run(, a-.\\.run){4}</dd>", page)
    assert '<section id="systems"' not in gradedeval.html_report(RUNS, QRELS, "ndcg@5")
    # A test of runs is not one of systems.
    tested = {"test": "bayes", "rope": 0.02}
    page = gradedeval.html_report(RUNS, QRELS, "ndcg@5", replicates=SYSTEMS, **tested)  # type: ignore[arg-type]
    assert page.partition('<section id="systems"')[2].partition("</section>")[0] == section


def test_a_slice_of_one_topic_has_a_difference_and_nothing_else(cli: Command, tmp_path: Path) -> None:
    for name, source in (("x", "bm25"), ("y", "neural")):
        for seed in (1, 2):
            content = (ROOT / f"qrels_samples/rivers-{source}.run").read_bytes()
            (tmp_path / f"{name}-{seed}.run").write_bytes(content)
    labels = tmp_path / "labels.csv"
    labels.write_text("topic,kind\n301,alone\n" + "".join(f"{topic},many\n" for topic in range(302, 312)))
    runs = [f"{name}-{seed}.run" for name in "xy" for seed in (1, 2)]
    outcome = cli("compare", *runs, str(ROOT / "qrels_samples/rivers.qrels"), "-m", "ap", "--slices", str(labels),
                "--replicates", "x=x-*", "--replicates", "y=y-*", "-f", "csv")  # fmt: skip
    assert outcome.code == 0, outcome.messages
    rows = {row["slice"]: row for row in csv.DictReader(io.StringIO(outcome.text))}
    assert float(rows["kind=alone"]["difference"]) != 0
    assert [rows["kind=alone"][name] for name in ("se", "df", "low", "high", "p")] == [""] * 5
