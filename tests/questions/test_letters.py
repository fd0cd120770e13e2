"""Letters that runs share, and the ranks that they can have."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

import gradedeval
from gradedeval.arrays import Bools
from gradedeval.kernel.measures.definition import Reading
from gradedeval.questions.compare import rank_interval, shared_letters, significance_ranks
from support.commands import Command, succeed
from support.commands import rows as csv_rows
from support.paths import QRELS, SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "manual")]


def drawn(draw: np.random.Generator, runs: int, share: float) -> Bools:
    """Return a symmetric matrix of significant differences, of runs in a row or at random."""
    if draw.random() < 0.5:
        place = draw.random(runs)
        return np.asarray(np.abs(place[:, None] - place) > share)
    upper = np.triu(draw.random((runs, runs)) < share, 1)
    return np.asarray(upper | upper.T)


def test_two_runs_share_a_letter_if_and_only_if_they_do_not_differ() -> None:
    draw = np.random.default_rng(11)
    for _ in range(1000):
        differ = drawn(draw, int(draw.integers(2, 11)), draw.random())
        letters = shared_letters(differ)
        assert all(letters)
        for first, second in itertools.combinations(range(len(differ)), 2):
            assert bool(set(letters[first]) & set(letters[second])) != bool(differ[first, second])


def test_every_letter_is_needed() -> None:
    draw = np.random.default_rng(12)
    for _ in range(200):
        differ = drawn(draw, 7, draw.random())
        letters = shared_letters(differ)
        for gone in set("".join(letters)):
            less = [letters_of_run.replace(gone, "") for letters_of_run in letters]
            pairs = itertools.combinations_with_replacement(range(7), 2)
            assert any(not differ[pair] and not set(less[pair[0]]) & set(less[pair[1]]) for pair in pairs)


def test_the_best_runs_have_the_first_letters_and_many_runs_have_enough_letters() -> None:
    place = np.arange(80)
    letters = shared_letters(np.abs(place[:, None] - place) > 1)
    assert letters[0] == "a"
    assert letters[1] == "a b"
    assert letters[79].split() == ["79"]


def test_ranks_count_the_runs_that_are_significantly_better_or_worse() -> None:
    score = np.array([0.5, 0.9, 0.7, 0.1])
    differ = np.array([[0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 0]], dtype=bool)
    best, worst = significance_ranks(score, differ, Reading())
    assert (best.tolist(), worst.tolist()) == ([2, 1, 1, 4], [3, 2, 3, 4])
    best, worst = significance_ranks(score, differ, Reading(better="lower"))
    assert (best.tolist(), worst.tolist()) == ([2, 3, 2, 1], [3, 4, 4, 1])


def test_the_interval_of_ranks_agrees_with_a_loop() -> None:
    draw = np.random.default_rng(5)
    values = draw.random((5, 30)) + np.array([0, 0.05, 0.1, 0.3, 0.05])[:, None]
    low, high = rank_interval(values, 1, 4000, 0, 0.1)
    ranks = []
    for _ in range(4000):
        means = values[:, draw.integers(0, 30, 30)].mean(1)
        ranks.append([1 + int((means > mean).sum()) for mean in means])
    expected = np.quantile(ranks, [0.05, 0.95], axis=0, method="inverted_cdf")
    assert np.abs(low - expected[0]).max() <= 1
    assert np.abs(high - expected[1]).max() <= 1
    assert (low[3], high[3]) == (1, 1)


def test_letters_agree_with_the_comparison_of_all_pairs(cli: Command) -> None:
    for test, correction in (("t", "holm"), ("wilcoxon", "bh"), ("tukey-hsd", None)):
        result = gradedeval.letters(RUNS, QRELS, "ndcg@10 ap", test=test, correction=correction, draws=2000)
        pairs = gradedeval.compare(RUNS, QRELS, "ndcg@10 ap", all_pairs=True, test=test, correction=correction,
                                   draws=2000, judging=False).frame  # fmt: skip
        same = {(row["measure"], row["run"]): set(row["same_as"]) for row in result.frame.to_dict("records")}
        for row in pairs.to_dict("records"):
            shared = same[row["measure"], row["run"]] & same[row["measure"], row["baseline"]]
            assert bool(shared) == (row["p_corrected"] > 0.05)
    printed = cli("compare", *RUNS, QRELS, "-m", "ndcg@10 ap", "--letters", "-f", "csv")
    assert len(csv_rows(printed.text)) == 2 * len(RUNS)  # one row for each run, not for each pair


@pytest.mark.parametrize("form", ["table", "latex", "markdown", "html"])
def test_letters_have_a_column_in_every_table(form: str, cli: Command) -> None:
    outcome = succeed(cli("compare", *RUNS, QRELS, "-m", "ndcg@10", "--letters", "--draws", "200", "-f", form))
    assert "same as" in outcome.text
    assert "share a letter" in outcome.text


def test_letters_are_by_the_test_of_all_pairs_at_once_unless_one_is_named(cli: Command) -> None:
    words = ("compare", *RUNS, QRELS, "-m", "ndcg@10 ap", "--letters", "--draws", "500", "-f", "csv")
    assert cli(*words).text == cli(*words, "--test", "tukey-hsd").text
    assert gradedeval.letters(RUNS, QRELS, "ap", draws=500).settings.test == "tukey-hsd"
    assert "t | holm over 6 pairs" in " ".join(cli(*words[:-2], "--test", "t").text.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((RUNS[0], QRELS), "at least two"),
        ((*RUNS, QRELS, "--test", "bayes"), "--test: bayes gives no p, which letters need; choose another test"),
        (
            (*RUNS, QRELS, "--correction", "bh"),
            "--correction: tukey-hsd already corrects for all pairs; leave out --correction, or choose",
        ),
        ((*RUNS, QRELS, "--all-pairs"), "--all-pairs: does not apply to --letters; leave it out"),
    ],
)
def test_letters_of_unsupported_outputs_are_refused(words: Sequence[str], message: str, cli: Command) -> None:
    outcome = cli("compare", *words, "--letters")
    assert outcome.code == 2
    assert message in outcome.messages[-1]


def test_numbers_of_latex_stand_at_the_point_and_the_line_below_has_topics_and_signature(cli: Command) -> None:
    text = cli(*RUNS[:3], QRELS, "-m", "ndcg@10 num_rel_ret", "--best", "--baseline", RUNS[0], "-f", "latex").text
    assert r"\begin{tabular}{lr@{}lr@{}l}" in text
    assert r"\textbf{0.} & \textbf{6982}\textsuperscript{\ddag{}}" in text
    assert r"\textbf{473} & \textsuperscript{\ddag{}}" in text
    assert r"\multicolumn{2}{c}{ndcg@10}" in text
    flat = " ".join(text.split())
    assert "; 50 topics; " in flat
    assert r"qrels b1f7bb" in flat.partition(r"\footnotesize")[2]


def test_counts_beside_letters_are_whole(cli: Command) -> None:
    assert " 396  " in cli("compare", *RUNS, QRELS, "-m", "num_rel_ret", "--letters", "--draws", "99").text
