"""`--ties average`: the mean over all orders of documents with equal scores, which tests take one by one."""

import io
import random
from itertools import chain, groupby, permutations, product
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import MEASURES, Measure, parse_measures
from gradedeval.kernel.measures.bounds import exactness
from support.commands import Command
from support.measures import VARIANTS

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")

AVERAGED = [measure for measure in VARIANTS if measure.definition.over_ties and not measure.definition.may_skip]
INTENTS = parse_measures("ia(err@3) ia(ap) ia(ndcg@4)")


def orders(run: dict[str, float]) -> list[list[str]]:
    """Return all orders of the documents from the best to the worst that their scores allow."""
    falling = sorted(run, key=lambda docno: -run[docno])
    ties = [list(tied) for _, tied in groupby(falling, key=lambda docno: run[docno])]
    return [list(chain(*order)) for order in product(*map(permutations, ties))]


def one_by_one(run: dict[str, float], judged: Any, measures: list[Measure], **rules: Any) -> Any:
    """Return the mean scores and residuals over all orders."""
    rankings = [{docno: -float(rank) for rank, docno in enumerate(order)} for order in orders(run)]
    runs = {str(number): ranking for number, ranking in enumerate(rankings)}
    scores = gradedeval.evaluate(runs, dict.fromkeys(runs, judged), measures, **rules)
    return scores.means, scores.residuals


def same(measures: list[Measure], run: dict[str, float], judged: Any, **rules: Any) -> None:
    expected = one_by_one(run, judged, measures, **rules)
    scores = gradedeval.evaluate({"t": run}, {"t": judged}, measures, ties="average", **rules)
    assert scores.means == pytest.approx(expected[0], rel=1e-9, abs=1e-12)
    bounded = [measure for measure in measures if measure.residual == "from_bounds" and not measure.by_intent]
    from_bounds = {measure.label for measure in bounded if exactness(measure, over_ties=True) != "none"}
    for name, residual in scores.residuals.items():
        assert (residual is None) == (expected[1][name] is None)
        if name in from_bounds:  # one judgment for all orders, though each order may have a best one of its own
            assert residual <= expected[1][name] + 1e-9
            continue
        # A best case is cut at the ceiling, which some orders alone may reach: the bound can lie above the mean bound.
        assert residual is None or residual >= expected[1][name] - 1e-9


def random_topic(seed: int) -> tuple[dict[str, float], dict[str, int]]:
    """Return up to seven documents of three scores, some not judged, and judged ones that are not retrieved."""
    dice = random.Random(seed)
    run = {docno: float(dice.choice((1, 1, 2, 3))) for docno in "abcdefg"[: dice.randint(1, 7)]}
    judged = {docno: dice.randint(0, 3) for docno in "abcdefghi" if dice.random() < 0.8}
    return run, judged | {"w": 0, "x": 1, "y": 2, "z": 3}


@pytest.mark.one_in(60)
@pytest.mark.parametrize("seed", range(60))
def test_every_measure_is_the_mean_over_all_orders(seed: int) -> None:
    run, judged = random_topic(seed)
    usual = [measure for measure in AVERAGED if measure.definition.summary == "mean"]
    same(usual, run, judged, residuals="total")


def test_intents_are_averaged_over_ties_too() -> None:
    run = {"a": 2.0, "b": 2.0, "c": 2.0, "d": 1.0, "e": 1.0}
    judged = {"a": {"1": 1}, "b": {"1": 3, "2": 1}, "c": {"2": 2}, "e": {"3": 3}, "x": {"3": 1}}
    same(INTENTS, run, judged, subtopics=True, residuals="total")


def test_a_thousand_tied_documents_with_one_relevant() -> None:
    run = {f"d{number}": 1.0 for number in range(1000)}
    scores = gradedeval.evaluate({"t": run}, {"t": {"d7": 1}}, "rr ap success@10 err", ties="average")
    harmonic = (1 / np.arange(1.0, 1001)).sum() / 1000
    assert list(scores.means.values()) == pytest.approx([harmonic, harmonic, 0.01, harmonic / 2])


def test_averages_without_ties_equal_the_plain_scores() -> None:
    run = {"t": {docno: float(score) for score, docno in enumerate("hgfedcba")}, "u": {"a": 1.0}}
    judged = {"t": {"a": 1, "c": 3, "d": 2, "h": 1, "x": 1}, "u": {"b": 1}}
    chosen = [measure for measure in AVERAGED if measure.definition.summary == "mean"]
    plain, averaged = (gradedeval.evaluate(run, judged, chosen, ties=ties).means for ties in ("file", "average"))
    assert averaged == pytest.approx(plain, rel=1e-13)


def test_ties_of_single_floats_are_averaged_with_scores_float32() -> None:
    run, judged = {"t": {"a": 1.0, "b": 1.00000001}}, {"t": {"a": 1}}
    assert gradedeval.evaluate(run, judged, "p@1", ties="average").means == {"p@1": 0}
    assert gradedeval.evaluate(run, judged, "p@1", ties="average", order="float32").means == {"p@1": 0.5}


def test_the_order_of_lines_changes_no_bit() -> None:
    dice = random.Random(1)
    run = {str(t): {f"d{n}": float(dice.randint(0, 9)) for n in range(60)} for t in range(5)}
    judged = {topic: {f"d{n}": dice.randint(0, 3) for n in range(0, 60, 2)} for topic in run}
    turned = {topic: dict(reversed(scores.items())) for topic, scores in run.items()}
    lines = [f"{topic} Q0 {docno} 0 {score} t\n" for topic, scores in run.items() for docno, score in scores.items()]
    shuffled = io.BytesIO("".join(dice.sample(lines, len(lines))).encode())
    chosen = AVERAGED[::7]
    first, *others = (
        gradedeval.evaluate(each, judged, chosen, ties="average").frame.drop(columns="run", errors="ignore")
        for each in (run, turned, shuffled)
    )
    assert all(first.equals(second) for second in others)


HAVE_ONE = sum(measure.definition.over_ties for measure in MEASURES.values())


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("-m bpref", f"--ties average: bpref has no average over ties; {HAVE_ONE} measures have one, such as "),
        ("-m ap --depth 10", "--ties average cannot be combined with --depth; cut the measures, as in ap@100"),
        ("-m ap --order file", "--ties average cannot be combined with --order file; leave out one of them"),
    ],
)
def test_measures_and_options_without_an_average_over_ties_are_usage_errors(
    words: str, says: str, cli: Command, tmp_path: Any
) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 3 t\n")
    output = cli("run", "qrels", "--ties", "average", *words.split())
    assert (output.code, output.out) == (2, b"")
    assert output.messages[0].replace("--ties: average", "--ties average").startswith(says)


@pytest.mark.parametrize("command", [("explain",), ("weights",)])
def test_commands_that_need_one_order_refuse_an_average(command: tuple[str, ...], cli: Command, tmp_path: Any) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 3 t\n")
    output = cli(*command, "run", "qrels", "-m", "ap", "--ties", "average")
    assert (output.code, output.out) == (2, b"")
