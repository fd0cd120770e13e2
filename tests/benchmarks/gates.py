"""The rates at which each rule of `gradedeval check` passes and fails runs that are equal, or worse by 1, 2 or 5 %.

Topics are drawn with replacement from those of TREC-COVID, round 1: the same draws for all rules, pairs and losses. The
40 best runs by ndcg@10 are paired; the new run is scaled to the mean of the old one, times 1 − loss. It prints tables
in Markdown, and the claims that they do not bear out; the exit code is 1 if there is one. 2,000 draws take less than
four minutes of a processor.

    nice python tests/benchmarks/gates.py [--draws N] [--reference GATE.py]
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent.parent)]
import gradedeval  # noqa: E402
from gradedeval.analysis import no_worse  # noqa: E402
from gradedeval.analysis.no_worse import ALPHA, CANNOT_TELL, EQUAL, FEWEST, NO_WORSE, WORSE, Margin, Moments  # noqa: E402
from gradedeval.analysis.significance import correct_p_values  # noqa: E402
from support.paths import DATA  # noqa: E402

Floats = np.ndarray[Any, np.dtype[np.float64]]
MEASURES = ("ndcg@10", "ap", "rr", "p@10", "rbp")
SIZES, LOSSES, BEST = (10, 30, 50, 100, 300), (0.0, 0.01, 0.02, 0.05), 40
MARGIN = Margin(0.05, True)
FAILED: list[str] = []


class Pair(NamedTuple):
    """Two runs on all topics, the new one with the mean of the old."""

    old: Floats
    new: Floats

    @property
    def sd(self) -> float:
        """Return standard deviation of the differences over the old mean."""
        return float((self.new - self.old).std() / self.old.mean())

    def losing(self, loss: float) -> Pair:
        return Pair(self.old, self.new * (1 - loss))


@cache
def scores() -> tuple[list[str], dict[str, Floats]]:
    """Names of the best runs, and measure -> runs × topics."""
    folder = DATA / "covid-round1"
    table = gradedeval.evaluate(str(folder / "runs"), str(folder / "qrels.txt"), list(MEASURES))
    by_run = np.array([run.score for run in table.runs])
    best = np.argsort(-by_run[:, :, 0].mean(1), kind="stable")[:BEST]
    names = [table.runs[index].run.removesuffix(".gz") for index in best]
    return names, {measure: by_run[best, :, column] for column, measure in enumerate(MEASURES)}


def pair(measure: str, old: int, new: int) -> Pair:
    """Return two runs, the better one as the old one."""
    of = scores()[1][measure]
    return Pair(of[old], of[new] * (of[old].mean() / of[new].mean()))


@cache
def all_pairs(measure: str) -> list[tuple[int, int]]:
    """Return the pairs that differ, from the most alike to the least."""
    pairs = [(old, new) for old, new in combinations(range(BEST), 2) if pair(measure, old, new).sd > 1e-6]
    return sorted(pairs, key=lambda indices: pair(measure, *indices).sd)


def kinds() -> dict[str, list[tuple[int, int]]]:
    """Return the four pairs most alike, and four around the median of all, by ndcg@10."""
    ordered = all_pairs("ndcg@10")
    middle = len(ordered) // 2
    return {"most alike": ordered[:4], "median": ordered[middle - 2 : middle + 2]}


@cache
def counts(topics: int, draws: int) -> Floats:
    """draws × topics of the collection: how often each was drawn."""
    every = scores()[1]["ndcg@10"].shape[1]
    drawn = np.random.default_rng(topics).integers(0, every, (draws, topics))
    return np.apply_along_axis(np.bincount, 1, drawn, minlength=every).astype(float)


def moments(of: Pair, drawn: Floats, side: int) -> Moments:
    """Return the moments of `Moments.of`, from how often each topic was drawn."""
    old, new = of
    topics = float(drawn[0].sum())
    differs = np.abs(new - old) > EQUAL
    few = drawn @ differs < FEWEST
    new_mean, old_mean = drawn @ new / topics, drawn @ old / topics
    farthest = np.where(drawn > 0, np.abs(new - old), 0).max(1)
    off = np.where(few, old_mean + side * farthest - new_mean, 0.0)
    of_new, both, of_old = (drawn @ (a * b) for a, b in ((new, new), (new, old), (old, old)))
    squares = (of_new - topics * new_mean**2 + off**2 * topics / (topics + 1),
               both - topics * new_mean * old_mean, of_old - topics * old_mean**2)  # fmt: skip
    return Moments(topics + few.astype(float), new_mean + off / (topics + 1), old_mean, squares)


def answers(of: Pair, drawn: Floats, p: Floats | None = None, margin: Margin = MARGIN) -> Any:
    """Return the answer of each draw; `p` corrected."""
    low, high = moments(of, drawn, -1), moments(of, drawn, 1)
    ends = no_worse.end_of(low, -1, margin.relative), no_worse.end_of(high, 1, margin.relative)
    same = drawn @ (np.abs(of.new - of.old) > EQUAL) == 0
    corrected = no_worse.tail_of(high, margin) if p is None else p
    return no_worse.decide(ends, corrected, margin, same, int(drawn[0].sum()))


def drops(of: Pair, drawn: Floats) -> Floats:
    """Return whether --max-drop 2% fails."""
    return 1 - drawn @ of.new / (drawn @ of.old) > 0.02 + EQUAL


def significant(of: Pair, drawn: Floats) -> Floats:
    """Return whether --significant 0.05 --test t fails: two-sided."""
    topics, change = float(drawn[0].sum()), of.new - of.old
    mean = drawn @ change / topics
    variance = np.maximum(0, drawn @ change**2 / topics - mean**2) / (topics - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stats.t.sf(-mean / np.sqrt(variance), topics - 1)
    return (mean < 0) & (p <= ALPHA)


# Tables.


def show(*cells: Any) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def head(*cells: str) -> None:
    show(*cells)
    show(*["---"] * len(cells))


def rates(counts_of_answers: Any) -> list[float]:
    return [float((counts_of_answers == name).mean()) for name in (NO_WORSE, WORSE, CANNOT_TELL)]


def whole(values: Any) -> str:
    return "/".join(f"{100 * value:.0f}" for value in values)


def rules(draws: int) -> None:
    """Print all rules on the same draws: the pair most alike, the same shrunk, and the median pair."""
    names, ordered = scores()[0], all_pairs("ndcg@10")
    alike, median = ordered[0], ordered[len(ordered) // 2]
    for kind, (old, new), of in (
        ("two versions of one system: the pair most alike with its differences shrunk", alike, shrunk(alike)),
        ("the pair most alike", alike, pair("ndcg@10", *alike)),
        ("the median pair", median, pair("ndcg@10", *median)),
    ):
        print(
            f"\n{kind.capitalize()}: {names[old]} (old), {names[new]} (new); deviation of the differences {of.sd:.1%}"
        )
        rules_of(of, draws)


ALIKE = 0.145
"""Deviation of the differences, of the mean, of two versions of one system."""


def shrunk(indices: tuple[int, int], sd: float = ALIKE) -> Pair:
    of = pair("ndcg@10", *indices)
    return Pair(of.old, of.old + (of.new - of.old) * sd / of.sd)


def rules_of(of: Pair, draws: int) -> None:
    """Print the rates of each rule."""
    print()
    head("rule", "true loss", *(f"n = {topics}" for topics in SIZES))
    by_rule: dict[str, Callable[[Pair, Floats], str | list[float]]] = {
        "--max-drop 2%: fails": lambda of, drawn: [float(drops(of, drawn).mean())],
        "--significant 0.05: fails": lambda of, drawn: [float(significant(of, drawn).mean())],
        "--no-worse 5%: no worse/worse/cannot tell": lambda of, drawn: rates(answers(of, drawn)),
    }
    for rule, rate in by_rule.items():
        for loss in LOSSES:
            cells = [rate(of.losing(loss), counts(topics, draws)) for topics in SIZES]
            show(rule, f"{loss:.0%}", *map(whole, cells))


MOST = {"ndcg@10": 0.055, "rr": 0.06, "p@10": 0.06}
"""Wrong answers that are claimed, at most, from 30 topics on."""


def over_all_pairs(draws: int) -> None:
    """Print the wrong answers over all pairs, by measure: mean, and 95th percentile of the pairs."""
    print(
        "\nWrong answers of --no-worse 5% over all pairs (every fourth by ap and rbp): the mean (95 % have at most):\n"
    )
    head("measure", "pairs", "truth", *(f"n = {topics}" for topics in SIZES))
    for measure in ("ndcg@10", "rr", "p@10", "ap", "rbp"):
        pairs = all_pairs(measure)[:: 1 if measure in MOST else 4]
        for truth, loss, wrong in (("equal: worse", 0.0, WORSE), ("5 % lost: no worse", 0.05, NO_WORSE)):
            cells = []
            for topics in SIZES:
                rates_of_pairs = [
                    float((answers(pair(measure, *indices).losing(loss), counts(topics, draws)) == wrong).mean())
                    for indices in pairs
                ]
                mean = float(np.mean(rates_of_pairs))
                cells.append(f"{mean:.1%} ({np.quantile(rates_of_pairs, 0.95):.1%})")
                most = 0.08 if topics == 10 else MOST.get(measure, 1.0)
                claim(mean <= most, f"{measure}, {truth}, {topics} topics: {mean:.1%} of at most {most:.1%}")
            show(measure, len(pairs), truth, *cells)


def promises(draws: int) -> None:
    """Print the power for a known deviation: the drop that 8 of 10 find, and the topics with which 8 of 10 equal
    runs pass."""
    print("\nPromised in 80 % of evaluations, with the deviation of all topics known:\n")
    head("pair", *(f"drop found, n = {topics}" for topics in SIZES), "topics needed", "equal run passes")
    names, kept = scores()[0], dict[int, list[float]]()
    for indices in [indices for pairs in kinds().values() for indices in pairs]:
        of, cells = pair("ndcg@10", *indices), []
        for topics in SIZES:
            drop = 0.0
            for _ in range(8):  # a loss changes the deviation, too
                drop = no_worse.smallest_drop(of.losing(drop).sd, topics, MARGIN.value)
            rate = float((answers(of.losing(drop), counts(topics, draws)) == WORSE).mean())
            cells.append(f"{drop:.1%}: {rate:.1%}")
            kept.setdefault(topics, []).append(rate)
        needed = no_worse.topics_needed(of.sd, MARGIN.value)
        assert needed is not None
        passes = rates(answers(of, counts(needed, draws)))[0]
        kept.setdefault(0, []).append(passes)
        show(f"{names[indices[0]]}, {names[indices[1]]}", *cells, needed, f"{passes:.1%}")
    means = {topics: float(np.mean(of)) for topics, of in kept.items()}
    show("mean", *(f"{means[topics]:.1%}" for topics in SIZES), "", f"{means[0]:.1%}")
    for topics, mean in means.items():
        claim(
            0 < topics < 50 or abs(mean - 0.8) <= 0.03,
            f"{mean:.1%} of the promised 80 % at {topics or 'planned'} topics",
        )


def five_measures(draws: int) -> None:
    """Print the answers for equal runs by five measures, with Holm's correction."""
    print(f"\nFive measures ({', '.join(MEASURES)}), all equal, over every fourth pair: worse on any:\n")
    head("topics", "pairs", "worse on any")
    pairs = all_pairs("ndcg@10")[::4]
    for topics in SIZES:
        drawn, answers_of_pairs = counts(topics, draws), []
        for indices in pairs:
            of = [pair(measure, *indices) for measure in MEASURES]
            p = np.array([no_worse.tail_of(moments(each, drawn, 1), MARGIN) for each in of]).T
            corrected = np.array([correct_p_values(row, "holm") if row.min() < ALPHA else row * 0 + 1 for row in p]).T
            each = [answers(moments, drawn, values) == WORSE for moments, values in zip(of, corrected, strict=True)]
            answers_of_pairs.append(float(np.any(each, axis=0).mean()))
        mean = float(np.mean(answers_of_pairs))
        claim(mean <= 0.07, f"five measures, {topics} topics: {mean:.1%} worse on any")
        show(topics, len(pairs), f"{mean:.1%}")


def beyond(draws: int) -> None:
    """Print the errors that no interval cures, at 50 topics: the best run and twenty equal ones, with differences
    shrunk as above."""
    print(f"\nWhat no interval cures, at 50 topics, with the differences of runs shrunk to {ALIKE:.1%}:\n")
    head("what", "share")
    old, topics = scores()[1]["ndcg@10"][0], np.random.default_rng(50).integers(0, 30, (draws, 50))
    equal, rng = [shrunk((0, new)).new for new in range(1, 21)], np.random.default_rng(5)
    passed = [compared(new[topics] * (rng.random(topics.shape) >= 0.05), old[topics]) == NO_WORSE for new in equal]
    show("nothing left on 5 % of topics: no worse", f"{np.mean(passed):.1%}")
    any_worse = np.any([compared(new[topics], old[topics]) == WORSE for new in equal], axis=0)
    show("twenty equal runs on the same topics: some is worse", f"{any_worse.mean():.1%}")

    print(
        "\nTen commits, each 1 % below the last that was accepted, with changes of its own; the same 50 topics for all."
    )
    print("True loss at the end:\n")
    head("deviation of a commit's changes", "accepted", "baseline is the last accepted", "pinned baseline")
    for sd in (0.05, 0.1, ALIKE):
        for rule, accepts in (("if no worse", [NO_WORSE]), ("unless worse", [NO_WORSE, CANNOT_TELL])):
            lost = [ratchet(topics, sd, accepts, pinned) for pinned in (False, True)]
            show(f"{sd:.1%}", rule, *(f"{loss:.1%}" for loss in lost))


def compared(new: Floats, old: Floats) -> Any:
    """Return the answer of each row of topics."""
    ends, p = no_worse.intervals(new, old, True), no_worse.p_of_drop(new, old, MARGIN)
    return no_worse.answer(new, old, MARGIN, ends, p)


def ratchet(topics: Any, sd: float, accepts: list[str], pinned: bool) -> float:
    """Return the true loss after ten commits, the mean over draws.

    A commit adds to the last accepted run the differences of another real run from the best, shrunk to `sd`, which
    change no mean, and takes 1 % away.
    """
    old, rng = scores()[1]["ndcg@10"][0], np.random.default_rng(10)
    changes = np.array([shrunk((0, new), sd).new - old for new in range(1, 21)])
    order = rng.permuted(np.tile(np.arange(20), (len(topics), 1)), axis=1)[:, :10]
    accepted = baseline = np.tile(old, (len(topics), 1))
    for each in order.T:
        new = 0.99 * (accepted + changes[each])
        samples = (np.take_along_axis(run, topics, axis=1) for run in (new, baseline))
        passes = np.isin(compared(*samples).astype(str), accepts)
        accepted = np.where(passes[:, None], new, accepted)
        baseline = baseline if pinned else accepted
    return float(1 - accepted.mean() / old.mean())


def claim(holds: bool, text: str) -> None:
    if not holds:
        FAILED.append(text)


def same_as_reference(path: str, draws: int) -> None:
    """Compare with another program's answers, draw by draw, on the named pairs, and with arrays of topics."""
    spec = importlib.util.spec_from_file_location("reference", path)
    assert spec is not None
    assert spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    differ = samples = 0
    for of, topics in named_samples():
        drawn = counts(topics, draws)[:50]
        ours = answers(of, drawn)
        rows = [np.repeat(np.arange(len(of.old)), row.astype(int)) for row in drawn]
        arrays = np.array([of.new[row] for row in rows]), np.array([of.old[row] for row in rows])
        assert (compared(*arrays) == ours).all()
        theirs = [reference.verdict(*sample, MARGIN.value) for sample in zip(*arrays, strict=True)]
        differ += int((np.array(theirs, dtype=object) != ours).sum())
        samples += len(ours)
    print(f"\nThe reference program differs in {differ} of {samples} answers on the named pairs.")
    claim(differ <= 0.03 * samples, f"{differ} of {samples} answers are not those of the reference")


def named_samples() -> Iterator[tuple[Pair, int]]:
    for pairs in kinds().values():
        for indices in pairs:
            for loss in LOSSES:
                for topics in SIZES:
                    yield pair("ndcg@10", *indices).losing(loss), topics


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--reference", help="a program with a function verdict(new, old, margin)")
    arguments = parser.parse_args()
    for study in (rules, over_all_pairs, promises, five_measures, beyond):
        study(arguments.draws)
    if arguments.reference:
        same_as_reference(arguments.reference, arguments.draws)
    print("\nAll claims hold." if not FAILED else "\nNot borne out:\n" + "\n".join(f"- {text}" for text in FAILED))
    return int(bool(FAILED))


if __name__ == "__main__":
    sys.exit(main())
