"""Pictures: the numbers of the frames they are drawn from, and messages about missing data."""

import importlib.util
import re
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval import InputError, clicks
from gradedeval.analysis import pictures
from gradedeval.analysis.pictures import _width
from gradedeval.cli import PICTURES, canvas
from support.commands import Command, succeed
from support.paths import QRELS, ROOT, SAMPLES

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.text import Text

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "neural", "dense")]
LOGS = [str(SAMPLES / f"{name}-clicks.tsv") for name in ("zhang", "rivers")]


@pytest.fixture(scope="module")
def scores() -> gradedeval.Scores:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gradedeval.EvaluationWarning)  # a topic that one run lacks
        return gradedeval.evaluate(RUNS, QRELS, "err@20 ndcg@10 num_rel_ret", residuals="split", interval=0.95)


@pytest.fixture
def ax() -> Axes:
    return Figure(figsize=(3.3, 2.5)).subplots()


def two(scores: gradedeval.Scores) -> pd.DataFrame:
    """Return the saved scores of two runs."""
    frame = scores.frame
    return frame[frame["run"].isin(["rivers-bm25.run", "rivers-neural.run"])]


def bars(ax: Axes) -> dict[str, list[Any]]:
    """Return the bars of each container by its label."""
    return {str(group.get_label()): list(group) for group in ax.containers if isinstance(group, BarContainer)}


def names(labels: list[Any]) -> list[str]:
    return [label.get_text() for label in labels]


def test_runs_are_the_score_below_the_residual(scores: gradedeval.Scores, ax: Axes) -> None:
    frame = gradedeval.run_summaries(scores).frame
    of_measure = frame[frame["measure"] == "err@20"].sort_values("score", ascending=False)
    assert gradedeval.plot.runs(scores, "err@20", ax=ax) is ax
    drawn = bars(ax)
    certain = of_measure["score"] + of_measure["unjudged"]
    for name, low, high in (
        ("score", 0 * certain, of_measure["score"]),
        ("unjudged", of_measure["score"], certain),
        ("beyond the run", certain, of_measure["score"] + of_measure["residual"]),
    ):
        ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in drawn[name]]
        np.testing.assert_allclose(ends, np.column_stack([low, high]), err_msg=name, atol=1e-12)
    (interval,) = [group for group in ax.containers if not isinstance(group, BarContainer)]
    ends = np.array([line[:, 0] for line in interval.lines[2][0].get_segments()])
    np.testing.assert_allclose(ends, of_measure[["low", "high"]].to_numpy())
    short = of_measure["run"].str.removeprefix("rivers-").str.removesuffix(".run")
    assert names(ax.get_yticklabels()) == short.tolist()
    assert ax.get_ylabel() == "run (rivers-*.run)"
    assert ax.get_xlabel() == "mean err@20, 50 topics"


def test_the_summaries_of_runs_agree_with_the_evaluation(scores: gradedeval.Scores) -> None:
    frame = scores.frame
    means = frame[frame["topic"] == "all"].reset_index(drop=True)
    result = gradedeval.run_summaries(scores).frame.sort_values(["run", "measure"]).reset_index(drop=True)
    means = means.sort_values(["run", "measure"]).reset_index(drop=True)
    for name in ("score", "low", "high", "unjudged", "beyond", "residual"):
        np.testing.assert_allclose(result[name], means[name].astype(float), err_msg=name, atol=1e-12)
    saved = gradedeval.run_summaries(frame).frame
    assert saved["score"].tolist() == gradedeval.run_summaries(scores)["score"].tolist()


def test_topics_are_differences_in_order_and_gray_if_open(scores: gradedeval.Scores, ax: Axes) -> None:
    differences = gradedeval.topic_differences(two(scores)).frame
    of_measure = differences[differences["measure"] == "err@20"].reset_index(drop=True)
    assert of_measure["difference"].is_monotonic_decreasing
    assert not of_measure["same_order"].all()
    gradedeval.plot.topics(two(scores), "err@20", ax=ax)
    drawn = {label.rpartition(":")[0] or label: group for label, group in bars(ax).items()}
    heights = dict(zip(of_measure.index, of_measure["difference"], strict=True))
    for name, kind in (
        ("neural better", of_measure["same_order"] & (of_measure["difference"] > 0)),
        ("bm25 better", of_measure["same_order"] & (of_measure["difference"] < 0)),
        ("could be reversed", ~of_measure["same_order"]),
    ):
        drawn_heights = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in drawn[name]}
        assert drawn_heights == {place: heights[place] for place in of_measure.index[kind.astype(bool)]}, name
    certain = of_measure[of_measure["high"] > of_measure["low"]]
    np.testing.assert_allclose(
        [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in drawn["range if all judged"]],
        certain[["low", "high"]],
    )
    assert ax.get_xlabel() == "topic"
    assert names(ax.get_xticklabels()) == of_measure["topic"].tolist()


def test_few_topics_are_named_and_a_run_may_be_the_baseline(scores: gradedeval.Scores, ax: Axes) -> None:
    frame = two(scores)
    few = frame[frame["topic"].isin(["301", "302", "303"])]
    gradedeval.plot.topics(few, "ndcg@10", baseline="rivers-neural.run", ax=ax)
    differences = gradedeval.topic_differences(few, baseline="rivers-neural.run").frame
    differences = differences[differences["measure"] == "ndcg@10"]
    assert names(ax.get_xticklabels()) == differences["topic"].tolist()
    assert (differences["run"] == "rivers-bm25.run").all()


def test_settled_orders_by_hand() -> None:
    of_a = [("a", "1", 0.5, 0.1), ("a", "2", 0.5, 0.2), ("a", "3", 0.4, 0.0)]
    of_b = [("b", "1", 0.7, 0.3), ("b", "2", 0.6, 0.0), ("b", "3", 0.2, 0.1)]
    frame = pd.DataFrame(of_a + of_b, columns=["run", "topic", "score", "residual"]).assign(measure="err@20")
    result = gradedeval.topic_differences(frame).frame.set_index("topic")
    assert result["same_order"].to_dict() == {"1": True, "2": False, "3": True}
    np.testing.assert_allclose(result.loc[["1", "2", "3"], ["low", "high"]], [[0.1, 0.5], [-0.1, 0.1], [-0.2, -0.1]])


def test_the_heat_map_has_the_numbers_of_the_matrix(ax: Axes) -> None:
    rows = [("ap", "rr", "pearson", 0.75), ("ap", "q", "pearson", 0.5), ("rr", "q", "pearson", float("nan"))]
    rows += [(second, measure, "spearman", value - 1) for measure, second, _, value in rows]
    agreement = pd.DataFrame(rows, columns=["measure", "other", "kind", "agreement"])
    gradedeval.plot.correlate(agreement, ax=ax)
    cells = ax.images[0].get_array()
    assert cells is not None
    measures = ["ap", "rr", "q"]
    assert names(ax.get_yticklabels()) == names(ax.get_xticklabels()) == measures
    for measure, second, _, value in rows:
        place = measures.index(measure), measures.index(second)
        (text,) = [text for text in ax.texts if text.get_position() == place[::-1]]
        assert text.get_text() == ("—" if np.isnan(value) else f"{value:.2f}")
        assert np.isnan(value) or cells[place] == value
    assert ax.get_xlabel() == "above the diagonal: Pearson's r\nbelow: Spearman's ρ"


def test_a_scatter_has_a_point_for_each_run_and_topic(scores: gradedeval.Scores, ax: Axes) -> None:
    gradedeval.plot.scatter(scores, "ndcg@10", "err@20", ax=ax)
    for run, points in zip(scores.runs, ax.collections, strict=True):
        expected = run.score[:, [1, 0]]
        np.testing.assert_array_equal(np.asarray(points.get_offsets()), expected)
    assert ax.get_xlabel() == "ndcg@10, by run and topic"


def lines(ax: Axes) -> dict[str, np.ndarray[Any, Any]]:
    """Return the points of each line by its label."""
    return {str(line.get_label()): np.asarray(line.get_xydata()) for line in ax.lines}


def test_curves_are_precision_over_recall_of_each_run_and_threshold(ax: Axes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gradedeval.EvaluationWarning)  # topics without a document of grade 4
        curves = gradedeval.precision_recall(RUNS[:2], QRELS, "gap(g=1:0:1:1)")
    assert list(dict.fromkeys(curves.frame["measure"])) == ["gap(g=1:0:1:1)", *(f"gap(rel={rel})" for rel in (1, 3, 4))]
    gradedeval.plot.pr(curves, ax=ax)
    drawn = lines(ax)
    assert len(drawn) == 8
    for (measure, run), points in curves.frame.groupby(["measure", "run"]):
        np.testing.assert_array_equal(drawn[f"{run} {measure}"], points[["recall", "precision"]])
    labels = ["bm25", "neural", "gap(g=1:0:1:1)", "grade ≥ 1", "grade ≥ 3", "grade ≥ 4"]
    assert names(ax.get_legend().get_texts()) == labels  # type: ignore[union-attr]


def test_inferred_curves_are_drawn_with_the_actual_one(ax: Axes) -> None:
    rows = [(name, curve, 0.5 * number, 0.8, value, 7) for name, value in (("ap", 0.7), ("counts alone", 0.3))
            for curve in ("rel=1", "graded") for number in (1, 2)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["measure", "curve", "recall", "actual", "inferred", "lists"])
    gradedeval.plot.informative(frame, ax=ax)
    heights = {name: set(points[:, 1].tolist()) for name, points in lines(ax).items()}
    assert heights == {"actual": {0.8}, "ap": {0.7}, "counts alone": {0.3}}
    assert ax.get_ylabel() == "precision, grade ≥ 1 (7 lists)"
    with pytest.raises(InputError, match=r"^plot.informative: no curve 'rel=2'; did you mean 'rel=1'\?$"):
        gradedeval.plot.informative(frame, "rel=2", ax=ax)


@pytest.mark.parametrize("quantity", ["W", "C", "L"])
def test_weights_are_lines_over_ranks(quantity: Any, ax: Axes) -> None:
    weights = gradedeval.weights("rbp(p=0.9) dcg@3", ranks=5, quantity=quantity)
    gradedeval.plot.weights(weights, ax=ax)
    for name, points in lines(ax).items():
        np.testing.assert_array_equal(points, weights.frame[["rank", name]])
    assert ax.get_ylabel().startswith(f"{quantity}(i): ")


def test_a_fit_has_its_curve_the_best_value_and_the_plateau(ax: Axes) -> None:
    ranges = "rbp(p=0.1..0.9..0.02) rbp(p=0.2..0.6..0.1)"
    result = gradedeval.fit_weights([0.6, 0.25, 0.1, 0.05], ranges, precision=0.02)
    first, _ = result.frame["measure"]
    gradedeval.plot.fit(result, first, ax=ax)
    curve, near, best, _ = (np.asarray(line.get_xydata()) for line in ax.lines)
    row = result.frame.iloc[0]
    np.testing.assert_array_equal(curve, result.curve[result.curve["measure"] == first][["value", "divergence"]])
    assert (near[0, 0], near[-1, 0]) == (row["low"], row["high"])
    assert best.tolist() == [[row["value"], row["divergence"]]]
    assert (ax.get_xlabel(), ax.get_ylabel()) == (f"p of {first}", "Kullback–Leibler divergence (nats)")
    both = Figure().subplots()
    agreement = {"divergence": "agreement"}
    fit = SimpleNamespace(frame=result.frame.rename(columns=agreement).assign(by="pearson"),
                          curve=result.curve.rename(columns=agreement).assign(by="pearson"))  # fmt: skip
    gradedeval.plot.fit(fit, ax=both)
    assert names(both.get_legend().get_texts())[:2] == [f"{name}, Pearson's r" for name in result.frame["measure"]]  # type: ignore[union-attr]
    another = SimpleNamespace(frame=fit.frame, curve=fit.curve.assign(parameter=["k", *fit.curve["parameter"][1:]]))
    problem = r"^plot.fit: the measures differ in their parameters \(k, p\); name one, as in"
    with pytest.raises(InputError, match=problem):
        gradedeval.plot.fit(another, ax=ax)


@pytest.mark.parametrize("level", ["level", "p"])
def test_levels_of_pairs_stand_in_descending_order(level: str, ax: Axes) -> None:
    rows = [("ap", 0.02), ("ap", 0.4), ("ap", 0.0), ("err@20", 0.3), ("err@20", 0.01), ("err@20", 0.7)]
    frame = pd.DataFrame(rows, columns=["measure", level])
    gradedeval.plot.power(SimpleNamespace(curve=frame) if level == "level" else frame, alpha=0.1, ax=ax)
    drawn = lines(ax)
    assert drawn["ap"].tolist() == [[1, 0.4], [2, 0.02], [3, 0.0]]
    assert drawn["err@20"].tolist() == [[1, 0.7], [2, 0.3], [3, 0.01]]
    assert drawn["α = 0.1"][:, 1].tolist() == [0.1, 0.1]
    problem = r"^plot.power: the frame has no levels and no p-values; give the result of gradedeval"
    with pytest.raises(InputError, match=problem):
        gradedeval.plot.power(frame.rename(columns={level: "other"}), ax=ax)


def test_an_explanation_has_contributions_grades_and_the_score_so_far(ax: Axes) -> None:
    explained = gradedeval.explain(RUNS[2], QRELS, "err@20 ap", topic="301")
    frame = explained.frame
    of_measure = frame[frame["measure"] == "err@20"]
    gradedeval.plot.explain(explained, "err@20", ax=ax)
    drawn = bars(ax)
    assert [bar.get_height() for bar in drawn["contribution"]] == of_measure["contribution"].tolist()
    np.testing.assert_array_equal(lines(ax)["score so far"], of_measure[["rank", "running"]].astype(float))
    open_ = of_measure[of_measure["grade"].isna()]
    assert [bar.get_height() for bar in drawn["could add"]] == open_["could_add"].tolist()
    colors = pd.Series([bar.get_facecolor() for bar in drawn["grade"]], index=of_measure["grade"].fillna(-9))
    assert colors.groupby(level=0).nunique().eq(1).all()
    assert colors.nunique() == 4
    legend = ["grade 0", "grade 1", "grade 2", "unjudged, could add", "score so far"]
    assert names(ax.get_legend().get_texts()) == legend  # type: ignore[union-attr]
    gradedeval.plot.explain(frame, "ap", show=5, ax=Figure().subplots())


def test_clicks_are_a_point_for_each_list_as_large_as_its_sessions(ax: Axes) -> None:
    correlation, draw = clicks.correlate(LOGS[1], QRELS, "err ndcg@5", by="kind"), gradedeval.plot.clicks
    draw(correlation, "ndcg@5", "qctr", ax=ax)
    by_kind = correlation.frame[
        (correlation.frame["measure"] == "ndcg@5") & (correlation.frame["clicks"] == "qctr")
    ].set_index("by")
    per_list = clicks.measures(LOGS[1], QRELS).frame.set_index(["topic", "shown"])
    assert correlation.lists is not None
    for group, (part, lists) in zip(ax.collections, correlation.lists.groupby("by"), strict=True):
        assert group.get_label() == f"{part}: {by_kind.loc[part, 'correlation']:.3f}"
        points, pairs = np.asarray(group.get_offsets()), zip(lists["topic"], lists["shown"], strict=True)
        np.testing.assert_array_equal(points, lists[["ndcg@5", "qctr"]].to_numpy())
        assert points[:, 1].tolist() == [per_list.loc[pair, "qctr"] for pair in pairs]
        area = np.asarray(group.get_sizes())
        np.testing.assert_allclose(area, 4 + 36 * lists["sessions"] / correlation.lists["sessions"].max())
        assert np.corrcoef(points[:, 0], points[:, 1])[0, 1] > 0.7
    for message, call in {
        "plot.clicks: 2 measures (err, ndcg@5); name one, as in": lambda: draw(correlation, ax=ax),
        "plot.clicks: no click measure 'qtr'; did you mean 'qctr'": lambda: draw(correlation, "err", "qtr", ax=ax),
        "plot.clicks: there are no lists to draw; give the result of gradedeval.clicks.correlate without": lambda: draw(
            clicks.correlate(LOGS[1], QRELS, "err", pairs=2), ax=ax
        ),
    }.items():
        with pytest.raises(InputError, match=f"^{re.escape(message)}"):
            call()


def test_settings_of_matplotlib_are_restored(scores: gradedeval.Scores) -> None:
    from matplotlib import pyplot

    pyplot.switch_backend("agg")  # which it chooses itself otherwise
    original = rcParams.copy()
    axes = gradedeval.plot.runs(scores, "err@20")
    assert axes is pyplot.gca()
    pyplot.close("all")
    assert rcParams == original
    with gradedeval.plot.style():
        assert rcParams["font.size"] == 7
    assert rcParams == original


@pytest.mark.one_in(2)
@pytest.mark.parametrize("form", ["svg", "png", pytest.param("pdf", marks=pytest.mark.exhaustive)])
def test_a_picture_file_has_the_signature_and_reproducible_bytes(form: str, cli: Command, tmp_path: Path) -> None:
    words = ("plot", "weights", "-m", "p@3", "--ranks", "5", "--signature", "full", "-o")
    for name in ("one", "two"):
        outcome = cli(*words, f"{name}.{form}")
        assert (outcome.code, outcome.out) == (0, b""), outcome.err
    content = (tmp_path / f"one.{form}").read_bytes()
    assert content == (tmp_path / f"two.{form}").read_bytes()
    if form != "pdf":
        assert b"ranks 1..5" in content


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("runs",), "-o: missing file name; for example -o picture.svg"),
        (("runs", "-o", "x.jpeg"), "-o: no picture has the extension '.jpeg'; name a .png, .svg, .pdf file"),
        (("runs", "-o", "x"), "-o: 'x' has no extension; name a .png, .svg, .pdf file"),
        (("runs", "-o", "x.svg", "--size", "7x"), "--size: '' is not a number from 0.5 to 100"),
        (("runs", "-o", "x.svg", "--size", "7x101"), "--size: 101 is too large; it must be at most 100"),
        (("topics", "-o", "x.svg"), "3 runs given, and two are compared topic by topic; choose two"),
        (("topics", "-o", "x.svg", "one"), "1 run given, and two are compared topic by topic; add a run"),
        (("correlate", "-o", "x.svg", "-m", "ap"), "correlate needs at least two measures; add another -m"),
        (("correlate", "-o", "x.svg", "--scatter", "-m", "ap"),
         "--scatter: 1 measure given; give two, such as -m err@20 -m ndcg@10"),
        (("power", "-o", "x.svg", "-m", "ap", "one"), "power needs at least two runs; add a run"),
        (("pr", "-o", "x.svg", "-m", "ap"),
         "'ap': has no graded precision and recall; give gap, or one with thresholds such as 'gap(g=1:1:2)'"),
        (("weights", "-o", "x.svg"), "no measure given; for example -m 'rbp(p=0.95)'"),
        (("explain", "-o", "x.svg"), "3 runs given; explain one, or two side by side"),
        (("topic", "-o", "x.svg"), "plot: no such picture 'topic'; did you mean 'topics'?"),
    ],
)  # fmt: skip
def test_errors_leave_one_line_and_no_file(words: tuple[str, ...], message: str, cli: Command, tmp_path: Path) -> None:
    runs = RUNS[:1] if words[-1] == "one" else RUNS
    outcome = cli("plot", *(word for word in words if word != "one"), *runs, QRELS, "--quiet")
    assert (outcome.code, outcome.messages) == (2, [message])
    assert list(tmp_path.iterdir()) == []


def test_a_frame_that_lacks_data_of_a_picture_is_named(scores: gradedeval.Scores, ax: Axes) -> None:
    problem = r"^plot.runs: 3 measures \(err@20, ndcg@10, num_rel_ret\); name one, as in measure='err@20'$"
    with pytest.raises(InputError, match=problem):
        gradedeval.plot.runs(scores, ax=ax)
    lacking = gradedeval.topic_differences(two(scores)).frame.drop(columns=["low", "high"])
    message = r"^plot.topics: the frame has no columns low, high; give the result of gradedeval"
    with pytest.raises(InputError, match=message):
        gradedeval.plot.topics(lacking, ax=ax)
    with pytest.raises(InputError, match=r"^plot.correlate: the frame is empty; give the frame of correlate$"):
        gradedeval.plot.correlate(pd.DataFrame(columns=["measure", "other", "kind", "agreement"]), ax=ax)


def test_without_matplotlib_the_extra_is_named(
    scores: gradedeval.Scores, cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = "plot: draws with matplotlib, which is not installed; pip install 'gradedeval[plot]'"
    outcome = cli("plot", "runs", *RUNS, QRELS, "-o", "x.svg")
    assert (outcome.code, outcome.messages) == (2, [message])
    with pytest.raises(InputError) as raised:
        gradedeval.plot.runs(scores, "err@20")
    assert str(raised.value) == message


def test_markup_in_names_of_runs_is_text(ax: Axes) -> None:
    hostile = ["$\\frac{a}{$", "x" * 80 + "end", "a\nb", "é$"]
    rows = [(run, topic, "ap", 0.1 * number) for number, run in enumerate(hostile) for topic in ("1", "2")]
    frame = pd.DataFrame(rows, columns=["run", "topic", "measure", "score"])
    with pytest.warns(gradedeval.EvaluationWarning, match="no residuals"):
        gradedeval.plot.runs(frame, ax=ax)
    labels = names(ax.get_yticklabels())
    assert labels[0] == r"é\$"
    assert labels[1] == r"a\nb"
    assert len(labels[2]) <= 30
    assert labels[2].endswith("end")
    ax.figure.canvas.draw()  # type: ignore[attr-defined]


def test_unsuitable_frames_are_refused(
    scores: gradedeval.Scores, ax: Axes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot, ranks = gradedeval.plot, pd.DataFrame({"rank": [1, 2]})
    curve = pd.DataFrame({"measure": ["ap"], "level": [0.5]})
    words, letters = curve.assign(level="x"), ranks.assign(p=["a", "b"])
    explained = gradedeval.explain(RUNS[2], QRELS, topic="301")
    monkeypatch.chdir(tmp_path)
    for message, call in {
        "plot.power: expected a frame, not a Scores; give the result": lambda: plot.power(scores, ax=ax),
        "plot.power: column level holds other than numbers; give the result": lambda: plot.power(words, ax=ax),
        "alpha: 7 is too large; it must be below 1": lambda: plot.power(curve, alpha=7, ax=ax),
        "plot.weights: the frame has no column but rank; give the result": lambda: plot.weights(ranks, ax=ax),
        "plot.weights: column p holds other than numbers; give the result": lambda: plot.weights(letters, ax=ax),
        "ranks: 0 is too small; it must be at least 1": lambda: plot.weights(ranks, ranks=0, ax=ax),
        "show: -3 is too small; it must be at least 1": lambda: plot.explain(explained, show=-3, ax=ax),
        "plot.save: expected axes or a figure, not a Scores; give what": lambda: plot.save(scores, "x.png"),  # type: ignore[arg-type]
        "no/x.svg: cannot be written (No such file or directory); nothing": lambda: plot.save(ax, "no/x.svg"),
    }.items():
        with pytest.raises(InputError, match=f"^{re.escape(message)}"):
            call()
    assert list(tmp_path.iterdir()) == []
    half = pd.DataFrame({"measure": ["a", "a"], "other": ["b", "c"], "kind": "pearson", "agreement": [0.5, 0.25]})
    plot.correlate(half, ax=ax)
    assert names(ax.get_yticklabels()) == ["a", "b", "c"]


def saved(scores_of: dict[str, list[float]], measure: str = "err", **more: Any) -> pd.DataFrame:
    """Return saved scores by one measure, one score for each topic."""
    rows = [(run, str(topic), score) for run, scores in scores_of.items() for topic, score in enumerate(scores)]
    return pd.DataFrame(rows, columns=["run", "topic", "score"]).assign(measure=measure, **more)


def test_a_name_with_an_underscore_first_is_in_legends(ax: Axes) -> None:
    frame = saved({"_base": [0.1, 0.6, 0.5], "x": [0.3, 0.2, 0.5]}, residual=0.0)
    gradedeval.plot.topics(frame, ax=ax)
    legend = [text.strip("\u200b") for text in names(ax.get_legend().get_texts())]  # type: ignore[union-attr]
    assert legend == ["x better: 1", "_base better: 1", "tied: 1"]
    another = Figure().subplots()
    gradedeval.plot.scatter(pd.concat([frame, frame.assign(measure="rr")]), ax=another)
    assert [text.strip("\u200b") for text in names(another.get_legend().get_texts())] == ["_base", "x"]  # type: ignore[union-attr]


def test_legends_name_runs_as_tables_do() -> None:
    runs = {f"rivers-{name}.run": {"1": {"a": 1.0}, "2": {"b": 1.0}} for name in ("one", "two", "three")}
    scores = gradedeval.evaluate(runs, {"1": {"a": 1}, "2": {"b": 1}}, "ap rr")
    curves = gradedeval.precision_recall(runs, {"1": {"a": 1}, "2": {"b": 1}})
    for plot, result in ((gradedeval.plot.pr, curves), (gradedeval.plot.scatter, scores)):
        legend = plot(result, ax=Figure().subplots()).get_legend()
        assert legend is not None
        assert names(legend.get_texts())[:3] == ["one", "two", "three"]
        assert legend.get_title().get_text() == "runs: rivers-*.run"


def test_runs_tied_on_every_topic_have_a_picture(ax: Axes) -> None:
    gradedeval.plot.topics(saved({"a": [0.5, 0.25], "b": [0.5, 0.25]}, residual=0.0), ax=ax)
    assert names(ax.get_legend().get_texts()) == ["tied: 2"]  # type: ignore[union-attr]
    assert ax.get_ylim() == (-1, 1)


def test_bars_of_very_many_topics_are_areas(ax: Axes) -> None:
    rng = np.random.default_rng(3)
    frame = saved({"a": rng.random(1000).tolist(), "b": rng.random(1000).tolist()}, residual=0.1)
    gradedeval.plot.topics(frame, ax=ax)
    assert not ax.patches
    differences = gradedeval.topic_differences(frame).frame
    rises, drops, open_, reach = (area.get_paths()[0].vertices for area in ax.collections)
    assert drops[:, 1].min() == differences["difference"].min()  # type: ignore[index]
    assert rises[:, 1].max() == differences["difference"].max()  # type: ignore[index]
    assert np.abs(open_).max(axis=0)[1] <= 0.1  # type: ignore[arg-type]
    assert (reach[:, 1].min(), reach[:, 1].max()) == (differences["low"].min(), differences["high"].max())  # type: ignore[index]


def test_a_grade_has_one_color_in_all_pictures_of_the_same_qrels() -> None:
    colors_of: dict[str, set[Any]] = {}
    for run, topic, measure in (
        (RUNS[0], "303", "ndcg@10"), (RUNS[2], "303", "ndcg@10"), (RUNS[0], "301", "ap"), (RUNS[0], "301", "err@3")
    ):  # fmt: skip
        ax = Figure().subplots()
        gradedeval.plot.explain(gradedeval.explain(run, QRELS, measure, topic=topic), ax=ax)
        legend = ax.get_legend()
        assert legend is not None
        for patch, text in zip(legend.legend_handles, names(legend.get_texts()), strict=True):
            if text.startswith("grade"):
                colors_of.setdefault(text, set()).add(patch.get_facecolor())  # type: ignore[union-attr]
    assert {"grade 1", "grade 2", "grade 3"} <= colors_of.keys()
    assert not {"grade -2", "grade 0"} <= colors_of.keys()
    colors = [color for colors_of_grade in colors_of.values() for color in colors_of_grade]
    assert len(colors) == len(set(colors)) + max(0, sum("≤ 0" in name or name == "grade 0" for name in colors_of) - 1)
    assert {len(colors_of_grade) for colors_of_grade in colors_of.values()} == {1}


def test_the_first_50_weights_are_drawn(ax: Axes) -> None:
    gradedeval.plot.weights(gradedeval.weights("rbp(p=0.8) p@10"), ax=ax)
    assert [len(points) for points in lines(ax).values()] == [50, 50]
    assert 0 < ax.get_xlim()[0] < 1


@pytest.mark.exhaustive
def test_axes_say_if_lower_is_better(ax: Axes) -> None:
    frame = pd.concat([saved({"a": [3, 1], "b": [2, 4]}, name) for name in ("esl", "ap")])
    gradedeval.plot.scatter(frame, ax=ax)
    assert ax.get_xlabel() == "esl, by run and topic (lower is better)"
    assert ax.get_ylabel() == "ap, by run and topic"
    heat = Figure().subplots()
    gradedeval.plot.correlate(frame, ax=heat)
    assert heat.get_xlabel().endswith("\nof esl the lower score is the better one")


def test_the_longest_bar_ends_inside_the_axes_and_a_legend_has_no_frame(scores: gradedeval.Scores) -> None:
    with gradedeval.plot.style():
        ax = Figure().subplots()
    gradedeval.plot.runs(scores, "err@20", ax=ax)
    assert ax.get_xlim()[0] == 0
    assert ax.get_xlim()[1] > ax.dataLim.x1
    legend = ax.get_legend()
    assert legend is not None
    assert not legend.get_frame_on()
    assert {text.get_fontsize() for text in legend.get_texts()} == {6.5}


@pytest.mark.exhaustive
def test_letters_that_no_font_has_are_one_note(cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "\ue123\ue124").write_text("1 Q0 a 1 3 t\n", encoding="utf-8")
    (tmp_path / "q").write_text("1 0 a 1\n", encoding="utf-8")
    words = ("plot", "runs", "\ue123\ue124", "q", "-m", "p@5", "-o")
    note = "x.png: no font here has \ue123, \ue124; install one, or write .svg, which keeps the text"
    assert [line for line in cli(*words, "x.png").messages if "font" in line] == [note]
    assert not [line for line in cli(*words, "x.svg").messages if "font" in line]
    from matplotlib.font_manager import fontManager

    entry = SimpleNamespace(name="IPAexGothic")
    monkeypatch.setattr(fontManager, "ttflist", [*fontManager.ttflist, entry])
    with gradedeval.plot.style():
        assert rcParams["font.family"] == ["sans-serif", "IPAexGothic"]


def test_a_picture_without_room_is_not_written(cli: Command, tmp_path: Path) -> None:
    outcome = cli("plot", "weights", "-m", "p@3", "--size", "3.3x0.5", "-o", "x.svg", "--quiet")
    message = "--size: the picture has no room in 3.3 × 0.5 inches; make it higher than 0.5"
    assert (outcome.code, outcome.messages, list(tmp_path.iterdir())) == (2, [message], [])


def outside(figure: Figure) -> list[str]:
    """Return the texts and legends that extend beyond a figure, and its squeezed axes."""
    figure.draw_without_rendering()
    hidden: set[int] = set()
    for axis in (artist for ax in figure.axes for artist in (ax.xaxis, ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low - 1e-9 <= tick.get_loc() <= high + 1e-9:
                hidden |= {id(tick.label1), id(tick.label2)}
    texts: list[Any] = [
        artist for artist in figure.findobj(Text) if artist.get_text().strip() and id(artist) not in hidden
    ]  # type: ignore[attr-defined]
    named = [(artist.get_text(), artist) for artist in texts if artist.get_visible()]
    named += [("legend", legend) for ax in figure.axes if (legend := ax.get_legend()) is not None]
    boxes = [(name, artist.get_window_extent()) for name, artist in named]
    width, height = figure.bbox.width + 1, figure.bbox.height + 1
    problems = [name for name, box in boxes if min(box.min) < -1 or box.x1 > width or box.y1 > height]
    return problems + [
        f"axes {number}" for number, ax in enumerate(figure.axes) if ax.bbox.width < figure.bbox.width / 2
    ]


OPTIONS = {
    "runs": "--judged-only",
    "weights": "--ranks 50 --normalize sum",
    "fit": "--coefficient spearman --precision 0.1",
    "power": "--best-runs 2 --alpha 0.1",
    "correlate": "--scatter",
    "explain": "--topic 302 --show 5",
    "clicks": "--click-measure ss --gain exp",
}
"""Options of one command in addition to the options of all pictures."""
MANY_MEASURES = "ndcg@20 ap p@5 rbp(p=0.8) err@20 bpref rr"


@pytest.mark.one_in(24)
@pytest.mark.parametrize(("measures", "width"), [("ndcg@20", "3.3"), (MANY_MEASURES, "3.3"), (MANY_MEASURES, "7")])
@pytest.mark.parametrize("picture", PICTURES)
def test_pictures_have_no_truncated_text_and_no_squeezed_axes(
    picture: str, measures: str, width: str, cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures: list[Figure] = []
    drawn = pictures.figure
    monkeypatch.setattr(canvas, "figure", lambda *words, **named: figures.append(drawn(*words, **named)) or figures[-1])
    has_one_measure = measures == "ndcg@20"
    runs = []
    for number in range(2 if picture == "topics" else 3 if has_one_measure else 10):
        name = f"a-long-name-of-{'x' * (number % 4)}-a-run-{number}.run"
        lines = Path(RUNS[number % 3]).read_text().splitlines(keepends=True)
        (tmp_path / name).write_text("".join(line for line in lines if line.split()[0] < "313"))
        runs.append(name)
    ranges = "rbp(p=0.1..0.9..0.2)" if has_one_measure else "rbp(p=0.1..0.9..0.2) ndcg@1..10"
    words = {
        "pr": (*runs, QRELS, "-m", "gap", "--depth", "100"),
        "informative": (
            *runs[:2],
            QRELS,
            "-m",
            "gap" if has_one_measure else "gap ap rr",
            "--depth",
            "50",
            "--min-found",
            "2",
        ),
        "weights": ("-m", "rbp(p=0.8)" if has_one_measure else "rbp(p=0.8) dcg insq rbp(p=0.5) p@5 rbp(p=0.95) dcg@10"),
        "fit": (*runs[:3], QRELS, "-m", ranges, "--to", "ap"),
        "power": (*runs, QRELS, "-m", measures, "--draws", "100"),
        "correlate": (*runs, QRELS, "-m", "ndcg@20 ap" if has_one_measure else measures),
        "explain": (runs[0], QRELS, "-m", measures, "--topic", "301"),
        "clicks": (LOGS[1], QRELS, "-m", "err", *(() if has_one_measure else ("--by", "kind"))),
    }.get(picture, (*runs, QRELS, "-m", measures))
    if has_one_measure:
        words = (*words, *OPTIONS.get(picture, "").split())
    outcome = succeed(cli("plot", picture, *words, "--size", width, "-o", "x.png", "--quiet"))
    assert (outcome.out, outcome.messages) == (b"", [])
    assert outside(figures[0]) == []


def test_a_legend_counts_columns_as_they_are_filled() -> None:
    # Four entries in three columns stand 2, 1, 1.
    assert [_width([1, 2, 4, 8], columns, 0.5) for columns in (1, 2, 3, 4)] == [8, 10.5, 15, 16.5]


def test_all_invalid_measures_are_reported_at_once(cli: Command) -> None:
    outcome = cli("plot", "fit", *RUNS, QRELS, "-m", "ndcg@10", "-o", "x.svg", "--quiet")
    assert outcome.code == 2
    message = " ".join(outcome.messages)
    assert "'ndcg@10': has no range" in message
    assert "--to: no measure given" in message


def test_runs_beyond_the_colors_are_noted(ax: Axes) -> None:
    rows = [("gap", float("nan"), f"r{run}", 0.1 * level, 0.5, 3) for run in range(9) for level in range(11)]
    frame = pd.DataFrame(rows, columns=["measure", "rel", "run", "recall", "precision", "topics"])
    with pytest.warns(gradedeval.EvaluationWarning, match=r"^9 runs: the first 7 are in color, the others grey$"):
        gradedeval.plot.pr(frame, ax=ax)


def test_a_single_pair_has_the_tick_1(ax: Axes) -> None:
    gradedeval.plot.power(pd.DataFrame({"measure": ["ap"], "level": [0.5]}), ax=ax)
    low, high = ax.get_xlim()
    assert [tick for tick in ax.get_xticks() if low <= tick <= high] == [1]


@pytest.fixture(scope="module")
def examples() -> Any:
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "examples" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        spec.loader.exec_module(module)
    return module


@pytest.mark.one_in(2)
@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("name", ["runs", "topics"])
def test_the_pictures_of_the_readme_are_as_the_example_draws_them(
    name: str, examples: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Compare bytes by the same version of matplotlib, otherwise words and numbers, as other versions may lay them
    out differently."""
    monkeypatch.chdir(ROOT)
    stored = ROOT / "docs" / "pictures" / f"{name}.svg"
    examples.draw(tmp_path, [name])
    now = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    assert "<dc:description>gradedeval 0.1.0 | qrels " in now
    if request.config.getoption("--golden"):
        stored.write_text(now, encoding="utf-8")
    original = stored.read_text(encoding="utf-8")
    maker, words = (re.compile(pattern) for pattern in (r"gradedeval [^,]*, matplotlib [^<]*", r">([^<>]+)</text>"))
    if maker.findall(original) == maker.findall(now):
        assert original == now, "python examples/pictures.py docs/pictures runs topics"
    assert words.findall(original) == words.findall(now)
    assert len(words.findall(now)) > 10


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_the_example_draws_every_picture(examples: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    examples.draw(tmp_path)
    assert {path.stem for path in tmp_path.glob("*.svg")} == {*gradedeval.plot.__all__} - {"save", "style"}


class OfALibrary(UserWarning, DeprecationWarning):
    """A warning of a library such as pyparsing, which matplotlib uses while drawing."""


def test_warnings_of_libraries_are_not_shown(cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn = pictures.figure

    def warns(*words: Any, **named: Any) -> Any:
        warnings.warn("'parseString' deprecated - use 'parse_string'", OfALibrary, stacklevel=1)
        return drawn(*words, **named)

    monkeypatch.setattr(canvas, "figure", warns)
    outcome = succeed(cli("plot", "weights", "-m", "rbp", "-o", str(tmp_path / "x.svg")))
    assert [line for line in outcome.messages if "deprecated" in line] == []


def test_of_very_many_topics_the_largest_differences_are_named(ax: Axes) -> None:
    qrels = {f"{topic:03}": {"a": 1} for topic in range(300)}
    runs = {
        "x": {topic: {"a": 1.0} if topic < "200" else {"b": 2.0, "a": 1.0} for topic in qrels},
        "y": {topic: {"a": 1.0} if topic > "100" else {"b": 2.0, "c": 1.5, "a": 1.0} for topic in qrels},
    }
    gradedeval.plot.topics(gradedeval.evaluate(runs, qrels, "rr", residuals="total"), ax=ax)
    named = names(ax.get_xticklabels())
    assert 2 <= len(named) <= 10
    assert ax.get_xlabel() == "300 topics (largest named)"
