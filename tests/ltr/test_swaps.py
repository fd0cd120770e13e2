"""Changes by swaps, against the scores of all swapped rankings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gradedeval import MEASURES, InputError, Measure, ltr
from gradedeval.kernel.scoring.evaluate_arrays import JudgedLists
from gradedeval.ltr import lists
from support.lists import TOP, one, swapped
from support.measures import VARIANTS, every

DRAW = np.random.default_rng(19)


def takes_arrays(measure: Measure) -> bool:
    stated = measure.definition
    return not (measure.by_intent or stated.uses_strata or stated.may_skip or measure.types)


CLOSED = [measure for measure in VARIANTS if measure.rank_sum is not None and takes_arrays(measure)]
NAMES = "dcg ndcg rbp sdcg p wp err nerr rr cascade gap ap insq recall zipf npv"
OTHERS = [measure for measure in VARIANTS if measure.rank_sum is None and takes_arrays(measure)]


@every(CLOSED)
def test_closed_forms_equal_scores_of_each_ranking(measures: Sequence[Measure]) -> None:
    grades = DRAW.integers(0, TOP, 9)
    order = DRAW.permutation(9)
    place = np.argsort(order)
    for measure in measures:
        expected = np.abs(swapped(measure, grades[order]))[np.ix_(place, place)]
        deltas = ltr.swap_deltas(measure, grades, order, top=TOP)
        np.testing.assert_allclose(deltas, expected, rtol=1e-12, atol=1e-12, err_msg=str(measure))


@pytest.mark.exhaustive
@every(OTHERS)
def test_other_measures_are_evaluated(measures: Sequence[Measure]) -> None:
    grades = DRAW.integers(0, TOP, 4)
    for measure in measures:
        expected = np.abs(swapped(measure, grades))
        deltas = ltr.swap_deltas(measure, grades, top=TOP)
        np.testing.assert_array_equal(deltas, expected, err_msg=str(measure))


def test_the_families_have_closed_forms() -> None:
    closed = {name for name, measure in MEASURES.items() if measure.rank_sum is not None}
    assert {*NAMES.split()} <= closed
    # If attention depends on the relevant documents above, each ranking has other weights.
    assert not closed & {"inst", "bpm", "ift", "q", "bpref", "cwlap"}
    assert one("rbp(of=ed)").rank_sum is None


@pytest.mark.parametrize("text", ["ndcg", "err", "gap(g=1:1:2)", "ap"])
def test_changes_have_the_sign_of_the_grades_in_bands_too(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    grades = DRAW.integers(0, TOP + 1, 30)
    whole = ltr.swap_deltas(text, grades, top=TOP)
    monkeypatch.setattr(lists, "CELLS", 90)
    np.testing.assert_array_equal(ltr.swap_deltas(text, grades, top=TOP), whole)
    measure = one(text)
    sample = lists.lists_of(measure, JudgedLists.of(grades, [30], None), TOP, None)
    (block,) = sample.blocks
    change, better = lists.changes(sample, block, 0, 29), lists.pairs(block, 0, 29)
    assert (change * better <= 1e-15).all()


def test_a_list_without_a_better_order_has_no_changes() -> None:
    for grades in ([0, 0, 0], [2, 2], [1]):
        assert not ltr.swap_deltas("ndcg", grades).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("q", [0, 1] * 26),
            r"'q': has no closed form for a swap, so lists may have 50 documents; one has 52; use one of",
        ),
        (("ndcg", [0, -1]), r"labels\[1\]: -1 is not a whole number from 0"),
        (("ndcg", [1, np.nan]), r"labels\[1\]: nan is not a whole number from 0"),
        (("ndcg", []), "labels: is empty"),
        (("ndcg", [0, 1], [0, 0]), "order: is not a ranking of 2 documents by their numbers from 0"),
        (("ndcg ap", [0, 1]), "'ndcg ap': names 2 measures; give one"),
        (("alpha_ndcg", [0, 1]), "needs intents, which arrays lack"),
        (("p", [0, 1]), "p needs a cutoff"),
    ],
)
def test_bad_arguments_of_swap_deltas_have_a_clear_message(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ltr.swap_deltas(*arguments)
    with pytest.raises(InputError, match=r"labels: label 4 is above the top grade 3; raise top, or correct the label"):
        ltr.swap_deltas("err", [0, 4], top=3)
    with pytest.raises(InputError, match="top=0 is not a grade above 0"):
        ltr.swap_deltas("err", [0, 4], top=0)
