"""Precision over recall, graded and at each threshold."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import InputError
from support.commands import Command
from support.commands import rows as csv_rows
from support.paths import QRELS, SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "neural")]
ignored = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")  # topics without a document of grade 4

JUDGED = {"1": {"a": 1, "b": 2, "c": 0, "d": 1, "missed": 2}}
RUN = {"1": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}


def curve(curves: gradedeval.PrecisionRecall, measure: str, run: str = "run") -> list[tuple[float, float]]:
    points = curves.frame[(curves.frame["measure"] == measure) & (curves.frame["run"] == run)]
    return list(zip(points["recall"], points["precision"], strict=True))


def test_a_small_example_by_hand() -> None:
    # Half of the users want grade 1 or 2, the others 2 alone: gains 1/2 and 1, of which there are 3.
    curves = gradedeval.precision_recall({"run": RUN}, JUDGED)
    for measure, precision in (
        ("gap", [1, 1, *[3 / 4] * 5, 0, 0, 0, 0]),  # at recall 1/6, 1/2 and 2/3
        ("gap(rel=1)", [*[1] * 6, 3 / 4, 3 / 4, 0, 0, 0]),
        ("gap(rel=2)", [*[1 / 2] * 6, 0, 0, 0, 0, 0]),
    ):
        np.testing.assert_allclose([value for _, value in curve(curves, measure)], precision, atol=1e-12)
    assert "interpolated at 11 levels of recall" in curves.signature


def test_the_area_below_the_curve_before_it_is_interpolated_is_gap() -> None:
    # Steps of recall are tenths and precision never rises: interpolation has no effect.
    judged = {"1": {"a": 2, "b": 2, "c": 1, "d": 2, "e": 2, "f": 1}}
    run = {"1": {"a": 5.0, "b": 4.0, "c": 3.0, "x": 2.0, "d": 1.0}}
    points = curve(gradedeval.precision_recall({"run": run}, judged), "gap")
    area = sum((recall - previous) * precision for (previous, _), (recall, precision) in pairwise(points))
    assert area == pytest.approx(gradedeval.evaluate(run, judged, "gap")["gap"])


@ignored
def test_binary_curves_are_interpolated_precision() -> None:
    curves = gradedeval.precision_recall(RUNS, QRELS)
    # Half a document less than a whole one is enough to round up, and more than rounding errors of recall · R.
    levels = [[f"iprec(recall={tenth / 10},rel={rel},add=0.95)" for tenth in range(11)] for rel in (1, 2, 3, 4)]
    means = gradedeval.evaluate(RUNS, QRELS, [name for names in levels for name in names]).means_by_run
    for run, of_run in means.items():
        for rel, expected in enumerate(levels, 1):
            precision = [value for _, value in curve(curves, f"gap(rel={rel})", run)]
            np.testing.assert_allclose(precision, [of_run[name] for name in expected], atol=1e-12)  # type: ignore[index]


@ignored
def test_levels_agree_with_a_slow_second_implementation() -> None:
    curves = gradedeval.precision_recall(RUNS[:1], QRELS, "gap(g=1:2:0:1)", depth=50)
    grades, ranked = _read(QRELS, 3), _read(RUNS[0], 4)
    shares = np.array([1, 2, 0, 1]) / 4
    topics = [_curve(ranked.get(topic, {}), of_topic, shares) for topic, of_topic in grades.items()]
    for recall, precision in curve(curves, "gap(g=1:2:0:1)", "rivers-bm25.run"):
        best = [max([p for r, p in points if r >= recall - 1e-9], default=0.0) for points in topics]
        assert precision == pytest.approx(np.mean(best))


def _read(path: str, column: int) -> dict[str, dict[str, float]]:
    by_measure: dict[str, dict[str, float]] = {}
    for line in Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            fields = line.split()
            by_measure.setdefault(fields[0], {})[fields[2]] = float(fields[column])
    return by_measure


def _curve(scores: dict[str, float], grades: dict[str, float], shares: Iterable[float]) -> list[tuple[float, float]]:
    """Compute recall and graded precision at each relevant document by their formulas."""

    def worth(grade: float) -> float:
        return float(sum(list(shares)[: max(0, int(grade))]))

    order = sorted(scores, key=lambda docno: (scores[docno], docno), reverse=True)[:50]
    seen = [grades.get(docno, 0) for docno in order]
    total = sum(worth(grade) for grade in grades.values())
    points = []
    for n, grade in enumerate(seen, 1):
        if worth(grade) > 0:
            above = sum(worth(min(grade, seen_grade)) for seen_grade in seen[:n]) / worth(grade)
            points.append((sum(map(worth, seen[:n])) / total, above / n))
    return points


@ignored
def test_the_command_prints_the_frame_and_a_table(cli: Command) -> None:
    words = ("pr", *RUNS, QRELS, "--quiet")
    rows = csv_rows(cli(*words, "-f", "csv").text)
    frame = gradedeval.precision_recall(RUNS, QRELS).frame
    assert [float(row["precision"]) for row in rows] == frame["precision"].tolist()
    table = cli(*words).text.splitlines()
    assert table[0] == "precision, gap"
    assert table[2].split() == ["recall", "rivers-bm25.run", "rivers-neural.run"]
    assert [line.split()[0] for line in table[4:7]] == ["0", "0.1", "0.2"]


@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        ("ap", {}, "'ap': has no graded precision and recall; give gap, or one with thresholds such as 'gap(g=1:1:2)'"),
        ("gap", {"ties": "average"}, "ties: precision at a document needs one order; choose an order"),
        *(("gap", {"top_grade": top}, f"'gap': has more than 100 thresholds up to grade {top:g}, each with a binary "
           "curve; name one, as in 'gap(rel=1)'") for top in (101, 10**9, 1e308)),
    ],
)  # fmt: skip
def test_measures_and_options_without_a_curve_are_refused(measure: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        gradedeval.precision_recall(RUN, JUDGED, measure, **options)
    assert str(raised.value) == message
    assert raised.value.usage
