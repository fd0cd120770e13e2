"""The worth of estimates from judgments of people and of a machine: the tables of machine_judgments.md.

Topics are drawn with replacement from those of TREC-COVID, round 1, and runs at random from its runs; machines are made
from the qrels by stated errors. Skewed scores and gross errors are simulated. It is not part of the tests, which hold a
part of it.

    nice python tests/benchmarks/machine_judgments.py [--draws N] [--only STUDY]
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent.parent.parent)]
from gradedeval.kernel.scoring.predicted import CHOSEN, HEAVY, Estimates, chosen_p  # noqa: E402
from support import machine_judges as judges  # noqa: E402
from support.machine_judges import JUDGES, KINDS, MEASURES, Draws, Floats, drawn, intervals, worth  # noqa: E402

OF = {"people": "people", "both": "both", "one λ": "both, one λ", "machine": "machine"}


def coverage(draws: int) -> None:
    """Print all cells of measures, kinds and machines, with 25 of 200 topics judged by people."""
    show("measure", "of", "machine", *(f"{of} covers" for of in OF.values()), "width of both", "of one λ", "of machine")
    show(*["---"] * 10)
    for measure, kind, judge, estimates in judges.cells(judges.real_scores(), JUDGES, 25, 200, draws):
        covers = (share(estimate.covers) for estimate in estimates.values())
        show(measure, kind, judge, *covers, *(percent(estimates[name].width) for name in ("both", "one λ", "machine")))


def skewed(draws: int) -> None:
    """Print estimates of simulated scores, four of five of them 0, by a machine that errs on the others by a normal
    deviate of sd .1."""
    show("judged", "others", "of", "bias", "its standard error", "covers", "mean half width")
    show(*["---"] * 7)
    for judged, others in ((10, 25), (25, 25), (25, 175), (50, 50)):
        some = judges.mostly_zeros(judged, others, draws)
        for of, estimates in intervals(some).items():
            errors, half = estimates.mean - some.truth, (estimates.high - estimates.low) / 2
            cells = f"{errors.mean():+.4f}", f"{errors.std() / draws**0.5:.4f}"
            show(
                judged,
                others,
                OF[of],
                *cells,
                share(worth(estimates, some.truth, estimates).covers),
                f"{half.mean():.4f}",
            )


def gross(draws: int) -> None:
    """Print estimates of simulated scores by a machine that is grossly wrong on a share of 1,000 topics and all but
    right elsewhere."""
    show("wrong", "judged", "people covers", "both covers", "no such topic judged", "then both covers", "noted")
    show(*["---"] * 7)
    for wrong in (0.0, 0.01, 0.02, 0.05, 0.1, 0.2):
        for judged in (15, 25, 50, 100):
            some, seen = judges.grossly_wrong(wrong, judged, 1000 - judged, draws)
            of = intervals(some)
            people, both = (worth(of[name], some.truth, of["people"]).covers for name in ("people", "both"))
            covered = (of["both"].low <= some.truth) & (some.truth <= of["both"].high)
            then = share(float(covered[~seen].mean())) if (~seen).sum() > 100 else "—"
            noted = share(float((of["both"].share > HEAVY).mean()))
            show(f"{100 * wrong:g} %", judged, share(people), share(both), share(float((~seen).mean())), then, noted)


def worthless(draws: int) -> None:
    """Print estimates by a machine whose scores are independent of people's, and by one that grades at random."""
    widths = ("ratio of mean widths", "most", "mean of ratios", "most")
    show("machine", "of", "judged", "people covers", "both covers", "λ", *widths)
    show(*["---"] * 10)
    people, random = (judges.real_scores()[name] for name in ("people", "random"))
    for judge in ("another topic's", "random"):
        for total in (50, 200):
            for judged in (5, 15, 25):
                rows = []
                for some in all_draws(people, random, judged, total, draws):
                    some = some if judge == "random" else judges.unrelated(some)
                    of = intervals(some)
                    alone, both = (worth(of[name], some.truth, of["people"]) for name in ("people", "both"))
                    rows.append((alone.covers, both.covers, of["both"].power.mean(), both.width, both.ratio))
                means, most = (reduce(rows, axis=0).tolist() for reduce in (np.mean, np.max))
                cells_of_row = (f"{value:.3f}" for of in zip(means[3:], most[3:], strict=True) for value in of)
                show(judge, total, judged, *map(share, means[:2]), f"{means[2]:.2f}", *cells_of_row)


def enough(draws: int) -> None:
    """Print coverage by the number of topics that people judge."""
    show("of", "judged", "people covers", "least", "both covers", "least", "width of both", *JUDGES, "topics saved")
    show(*["---"] * 11)
    for total in (50, 200):
        for judged in (5, 10, 15, 25, 40):
            cells = list(judges.cells(judges.real_scores(), JUDGES, judged, total, draws))
            people, both = ([estimates[of] for *_, estimates in cells] for of in ("people", "both"))
            covers = [share(estimate) for of in (people, both) for estimate in least_and_mean(of)]
            widths = {judge: np.mean([f["both"].width for *_, j, f in cells if j == judge]) for judge in JUDGES}
            width = float(np.mean([estimate.width for estimate in both]))
            times = 1 / width**2
            show(total, judged, *covers, percent(width), *map(percent, widths.values()), f"×{times:.1f}")


def least_and_mean(worths: list[judges.Worth]) -> tuple[float, float]:
    covers = [each.covers for each in worths]
    return float(np.mean(covers)), min(covers)


def all_draws(people: Floats, machine: Floats, judged: int, total: int, draws: int) -> Iterator[Draws]:
    for column in range(len(MEASURES)):
        for number, kind in enumerate(KINDS):
            pair = people[:, :, column], machine[:, :, column]
            yield drawn(*pair, kind, judged, total, draws, 100 * column + 10 * number)


def chosen(draws: int) -> None:
    """Print estimates from judged topics that are no random sample: the means of runs by ndcg@10, 25 topics of 200
    or 15 of 50."""
    show("machine", "judged", "topics", "people: bias", "covers", "both: bias", "covers", "noticed")
    show(*["---"] * 8)
    scores, draws = judges.real_scores(), min(draws, 1000)
    for judge in JUDGES:
        people, machine = (scores[name][:, :, 0] for name in ("people", judge))
        for judged, total in ((25, 200), (15, 50)):
            for name, choose in CHOICES.items():
                some, estimates = _chosen(people, machine, judged, total, draws, choose)
                of = intervals(some)
                cells = [worth(of[way], some.truth, of["people"]) for way in ("people", "both")]
                texts = [cell for estimate in cells for cell in (f"{estimate.bias:+.3f}", share(estimate.covers))]
                show(judge, f"{judged} of {total}", name, *texts, share(float(np.mean(estimates < CHOSEN))))


Choice = Callable[[np.random.Generator, Floats, Floats, int], Any]
CHOICES: dict[str, Choice] = {
    "at random": lambda dice, people, machine, judged: dice.permutation(len(people))[:judged],
    "hardest, by people": lambda dice, people, machine, judged: np.argsort(people, kind="stable")[:judged],
    "of the harder half": lambda dice, people, machine, judged: dice.permutation(
        np.argsort(people, kind="stable")[: len(people) // 2]
    )[:judged],
    "of the harder three quarters": lambda dice, people, machine, judged: dice.permutation(
        np.argsort(people, kind="stable")[: 3 * len(people) // 4]
    )[:judged],
}
"""Which of the topics people judge, by their mean scores by people and by the machine."""


def _chosen(
    people: Floats, machine: Floats, judged: int, total: int, draws: int, choose: Choice
) -> tuple[Draws, Floats]:
    """Draws of which people judge the chosen topics, and p that they are a random sample."""
    dice, rows, estimates = np.random.default_rng(total), [], []
    easy, easy_by_machine = people.mean(0), machine.mean(0)
    for _ in range(draws):
        topics = dice.integers(0, people.shape[1], total)
        run = int(dice.integers(len(people)))
        first = choose(dice, easy[topics], easy_by_machine[topics], judged)
        rest = np.delete(np.arange(total), first)
        estimates.append(chosen_p(easy_by_machine[topics[first]], easy_by_machine[topics[rest]], 2000))
        drawn = topics[first], topics[rest]
        rows.append(
            (
                people[run, drawn[0]],
                machine[run, drawn[0]],
                machine[run, drawn[1]],
                people[run].mean(),
            )
        )
    return Draws(*(np.array(values) for values in zip(*rows, strict=True))), np.array(estimates)


def strata(draws: int) -> None:
    """Compare topics chosen from strata of the machine's scores with a random choice."""
    show("machine", "of", "judged", "one stratum: covers", "width", "strata: covers", "width", "of one")
    show(*["---"] * 8)
    scores = judges.real_scores()
    for judge in JUDGES:
        for number, kind in enumerate(KINDS):
            for judged, parts in ((15, 5), (25, 5), (40, 5)):
                cells = []
                for column in range(len(MEASURES)):
                    pair = scores["people"][:, :, column], scores[judge][:, :, column]
                    some = drawn(*pair, kind, judged, 200, draws, 100 * column + number)
                    by = pair[1].mean(0)
                    by_people = intervals(some)["people"]
                    cells.append(
                        [
                            worth(
                                *stratified(*pair, kind, by, judged, cut, 200, draws, 100 * column + number), by_people
                            )
                            for cut in (1, parts)
                        ]
                    )
                plain, two = (np.mean([cell[index] for cell in cells], 0) for index in (0, 1))
                widths = percent(plain[1]), percent(two[1]), f"{two[1] / plain[1]:.3f}"
                show(judge, kind, f"{judged} of 200", share(plain[0]), widths[0], share(two[0]), *widths[1:])


def stratified(
    people: Floats, machine: Floats, kind: str, by: Floats, judged: int, parts: int, total: int, draws: int, seed: int
) -> tuple[Estimates, Floats]:
    """Return estimates from equal parts of the topics in order of `by`, the machine's mean over runs, with as many
    topics judged in each; and the truth.

    The estimate is λ mean(m) over all topics, and the mean over parts of that of h − λ m; its variance that of h over
    all topics and, of the judged ones of each part, that of h − λ m (double sampling).
    """
    everything = drawn(people, machine, kind, total, total, draws, seed)  # all of them judged
    topics = np.random.default_rng(seed)
    topics.permuted(np.tile(np.arange(len(people)), (draws, 1)), axis=1)  # the same topics as `drawn`
    places = topics.integers(0, people.shape[1], (draws, total))
    order = np.argsort(by[places] + 1e-9 * topics.random(places.shape), axis=1).reshape(draws, parts, -1)
    first = topics.permuted(order, axis=2)[:, :, : judged // parts]
    h, m = (np.take_along_axis(scores, first.reshape(draws, -1), 1) for scores in everything[:2])
    h, m = (values.reshape(draws, parts, -1) for values in (h, m))
    weights = _powers_within(h, m)
    middle = everything.machine.mean(1)[:, None, None]
    rectified = h - weights * (m - middle)
    within = rectified.var(2, ddof=1) / (judged // parts) * (1 - judged / total)
    variance = within.sum(1) / parts**2 + h.reshape(draws, -1).var(1, ddof=1) / total
    mean, error = rectified.mean((1, 2)), np.sqrt(variance)
    from scipy.special import stdtrit

    margin = stdtrit(judged - parts, 0.975) * error
    blank = np.full(draws, np.nan)
    estimates = Estimates(mean, error, mean - margin, mean + margin, mean, weights.mean((1, 2)), blank, places[:, 0])
    return estimates, everything.truth


def _powers_within(h: Floats, m: Floats) -> Floats:
    """Return λ of the other judged topics (draws × parts × topics), from the variation within parts."""
    size = h.shape[2]
    a, b = h - h.mean(2, keepdims=True), m - m.mean(2, keepdims=True)
    # Without one topic a part's sum of products falls by size / (size − 1) times its own product.
    products, squares = ((d * b).sum((1, 2), keepdims=True) - d * b * size / (size - 1) for d in (a, b))
    ratio = np.divide(products, squares, out=np.zeros_like(h), where=squares > 1e-12)
    return np.asarray(ratio.clip(0, 1))


def share(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def show(*cells: Any) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


STUDIES: dict[str, Callable[[int], None]] = {
    "coverage": coverage,
    "skewed": skewed,
    "gross": gross,
    "worthless": worthless,
    "enough": enough,
    "chosen": chosen,
    "strata": strata,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--draws", type=int, default=20_000, help="of topics and runs, for each cell")
    parser.add_argument("--only", choices=STUDIES)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    studies: Iterable[str] = [arguments.only] if arguments.only else STUDIES
    for name in studies:
        print(f"\n{STUDIES[name].__doc__}\n")
        STUDIES[name](arguments.draws)


if __name__ == "__main__":
    sys.exit(main())
