"""Real runs and judgments, and the output of other tools for them: rbp_eval, session_eval, gdeval, trec_eval."""

import csv
import gzip
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import Qrels, Scores
from support.examples import sampled
from support.paths import DATA, shared

RBP_EVAL, DL_HARD, COVID, WEB = (DATA / name for name in ("rbp_eval", "dl-hard", "covid-round1", "web-track"))

pytestmark = shared

Printed = dict[str, dict[str, str]]
"""Measure -> topic (`all` is the mean) -> the number as another tool prints it."""


def runs_of(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".gz").removesuffix(".run") for path in (folder / "runs").glob("*.gz"))


def run_file(folder: Path, name: str) -> Path:
    return next(path for path in (folder / "runs").glob("*.gz") if path.name in (f"{name}.gz", f"{name}.run.gz"))


@cache
def qrels_of(folder: Path) -> Qrels:
    return Qrels(folder / "qrels.txt")


def renamed(scores: Scores, names: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return our scores under another tool's names, in the order of the measures; `all` is the summary."""
    means = scores.means
    return {
        name: {**scores.by_topic(measure), "all": means[str(measure)]}
        for name, measure in zip(names, scores.measures, strict=True)
    }


def unlike(ours: Mapping[str, Mapping[str, float]], theirs: Printed) -> list[tuple[str, str, str, float | None]]:
    """Return (measure, topic, theirs, ours) for each score that differs when printed with as many decimals as
    theirs."""
    assert ours.keys() == theirs.keys()
    return [
        (measure, topic, theirs[measure].get(topic, "absent"), ours[measure].get(topic))
        for measure in theirs
        for topic in theirs[measure].keys() | ours[measure].keys()
        if theirs[measure].get(topic) != as_printed(ours[measure].get(topic), theirs[measure].get(topic, ""))
    ]


def as_printed(value: float | None, like: str) -> str | None:
    return None if value is None else f"{value:.{decimals(like)}f}"


def decimals(number: str) -> int:
    return len(number.partition(".")[2])


def same(value: float, printed: str) -> bool:
    """Return whether the value rounds to the printed text; a value half way between two may round to either."""
    return abs(value - float(printed)) <= half_a_unit(printed)


def half_a_unit(printed: str) -> float:
    # Last bits may differ from the sum that was rounded.
    return 0.5 * 0.1 ** decimals(printed) + 1e-12


DEPTHS, PS = (2, 5, 10), (0.5, 0.8, 0.95)
SPECS = [str(number) for number in range(1, 12)]
TIED = ["5", "6", "11"]


@dataclass(frozen=True)
class Spec:
    """One of rbp_eval's specs: its command and its expected output.

    sums  (topic, depth, p) -> sum and error
    """

    command: list[str]
    sums: dict[tuple[str, int, float], tuple[str, str]]

    @property
    def qrels(self) -> Path:
        return RBP_EVAL / self.command[-2]

    @property
    def run(self) -> Path:
        return RBP_EVAL / self.command[-1]

    @property
    def gain(self) -> str:
        """Return the notation of the gains that the command sets.

        -f scales all grades so that the top grade is worth 1, as our linear gains do; -b folds the grades
        from its value on to 1, -B the grades from 1 on.
        """
        if "-b" in self.command:
            return f"rel={self.command[self.command.index('-b') + 1]}"
        return "rel=1" if "-B" in self.command else "gain=linear"

    @property
    def measures(self) -> list[str]:
        return [f"rbp(p={p},{self.gain})" for p in PS]


@cache
def spec(name: str) -> Spec:
    lines = [line for line in (RBP_EVAL / f"{name}.spec").read_text("utf-8").splitlines() if line[0] != "#"]
    command = shlex.split(lines[0])
    assert command[command.index("-d") + 1] == ",".join(map(str, DEPTHS))
    assert command[command.index("-p") + 1] == ",".join(map(str, PS))
    numbers = iter(lines[1:])
    sums: dict[tuple[str, int, float], tuple[str, str]] = {}
    for topic in ("1", "2", "all"):
        next(numbers), next(numbers)  # how many documents are relevant, and retrieved
        for depth in DEPTHS:
            next(numbers)  # how many are both
            for p in PS:
                total, error = next(numbers).split()
                sums[topic, depth, p] = total, error
    assert next(numbers, None) is None
    return Spec(command, sums)


def scores_of_spec(
    spec: Spec, depth: int, run: Any = None, **rules: Any
) -> dict[tuple[str, float], tuple[float, float]]:
    """Return (topic, p) -> score and residual of the spec's run, or of another, with `depth` documents a topic."""
    scores = gradedeval.evaluate(
        spec.run if run is None else run, spec.qrels, spec.measures, depth=depth, residuals="total", **rules
    )
    return by_topic_and_p(scores)


def by_topic_and_p(scores: Scores) -> dict[tuple[str, float], tuple[float, float]]:
    """Return (topic, p) -> score and residual of measures that are rbp with each p."""
    p_of = dict(zip(map(str, scores.measures), PS, strict=True))
    return {(row.topic, p_of[row.measure]): (number(row.score), number(row.residual)) for row in scores.rows()}


def number(value: float | None) -> float:
    assert value is not None
    return value


@pytest.mark.parametrize("name", [name for name in SPECS if name not in TIED])
def test_rbp_and_its_residual_equal_rbp_eval_by_topic_and_on_average(name: str) -> None:
    # Its -d keeps that many documents, with an unknown tail behind them: our depth, and no cutoff. For any order that
    # its command requests (as listed, -s or -r), these runs have the same one by score.
    case = spec(name)
    for depth in DEPTHS:
        for (topic, p), pair in scores_of_spec(case, depth).items():
            printed = case.sums[topic, depth, p]
            assert all(map(same, pair, printed)), (topic, depth, p, pair, printed)


SESSION_EVAL = {
    "ERR": "err",
    "ERR@10": "err@10",
    "nERR": "nerr",
    "nERR@10": "nerr@10",
    "nDCG": "ndcg(gain=exp)",
    "nDCG@10": "ndcg(gain=exp)@10",
    "AP": "ap",
    "GAP": "gap",
    "PC": "p@10",
}
"""session_eval's columns. ERR and nDCG by exponential gains; AP and PC (precision at the -k of its command) of the
grades from 1 on; GAP with equal thresholds; nothing but what says @10, and PC, is cut."""


def session_eval(name: str) -> Printed:
    path = DL_HARD / "expected" / f"{name}.session_eval-k10.txt"
    header, *rows = [line.split() for line in path.read_text("utf-8").splitlines()]
    assert header[2:] == list(SESSION_EVAL)
    return {column: {row[1]: row[index] for row in rows} for index, column in enumerate(header) if index > 1}


def gdeval(path: Path) -> Printed:
    with path.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return {name: {row["topic"].replace("amean", "all"): row[name] for row in rows} for name in ("ndcg@20", "err@20")}


def test_the_shared_data_are_complete() -> None:
    """Check the number of files: the tests below walk the files that are there."""
    assert len(runs_of(DL_HARD)) == 4
    assert len(runs_of(COVID)) == 48
    assert len(list(RBP_EVAL.glob("*.spec"))) == len(SPECS)


@pytest.mark.parametrize("name", runs_of(DL_HARD))
def test_gap_err_ndcg_ap_and_precision_equal_session_eval_by_topic(name: str) -> None:
    # It takes tied documents as listed, and so do we here: by docno up to 89 of a run's 450 numbers would differ.
    scores = gradedeval.evaluate(run_file(DL_HARD, name), qrels_of(DL_HARD), SESSION_EVAL.values(), ties="file")
    printed = session_eval(name)
    ours = {column: scores.by_topic(measure) for column, measure in zip(printed, scores.measures, strict=True)}
    assert all(len(topics) == 50 for topics in printed.values())
    assert unlike(ours, printed) == []


@pytest.mark.parametrize("name", runs_of(DL_HARD))
def test_ndcg_and_err_equal_gdeval_on_dl_hard(name: str) -> None:
    # Its ERR divides by 2^4 for any top grade (3 here): the preset sets top grade 4.
    scores = gradedeval.evaluate(run_file(DL_HARD, name), qrels_of(DL_HARD), "ndcg@20 err@20", like="gdeval")
    printed = gdeval(DL_HARD / "expected" / f"{name}.gdeval20.csv")
    assert all(len(topics) == 51 for topics in printed.values())
    assert unlike(renamed(scores, printed), printed) == []


LEADERBOARD = {"RBP(p=.5)": "rbp(p=.5,gain=0:0.5:1)", "ndcg@10": "ndcg@10", "p@5": "p@5", "bpref": "bpref", "MAP": "ap"}


@pytest.mark.parametrize("name", sampled(runs_of(COVID), 4, 2))
def test_ndcg_and_err_equal_gdeval_on_covid(name: str) -> None:
    scores = gradedeval.evaluate(run_file(COVID, name), qrels_of(COVID), "ndcg@20 err@20", like="gdeval", order="score")
    printed = gdeval(COVID / "expected" / "gdeval" / f"{name}.csv")
    assert all(len(topics) == 31 for topics in printed.values())
    assert unlike(renamed(scores, printed), printed) == []


@cache
def leaderboard() -> dict[str, dict[str, str]]:
    with (COVID / "leaderboard.csv").open(encoding="utf-8") as lines:
        return {row["run"]: row for row in csv.DictReader(lines)}


@pytest.mark.parametrize("name", sampled(runs_of(COVID), 4, 3))
def test_means_equal_the_official_leaderboard(name: str) -> None:
    # Its RBP is worth a half for grade 1: linear gains of the top grade 2. trec_eval 9 made the rest.
    options: dict[str, Any] = {"order": "float32"}
    scores = gradedeval.evaluate(run_file(COVID, name), qrels_of(COVID), LEADERBOARD.values(), **options)
    official = {column: {"all": leaderboard()[name][column]} for column in LEADERBOARD}
    ours = {column: {"all": topics["all"]} for column, topics in renamed(scores, LEADERBOARD).items()}
    assert unlike(ours, official) == []


@dataclass(frozen=True)
class Printing:
    """A line of rbp_eval's output."""

    p: float
    topic: str
    depth: int
    total: str
    error: str


def rbp_eval(name: str) -> Iterator[Printing]:
    shape = re.compile(r"p= (\S+) q= +(\S+) d= +(\d+) rbp= (\S+) \+(\S+)")
    (path,) = (COVID / "expected" / "rbp_eval").glob(f"{name}.rbp_eval_s_f0.5*.txt")
    for line in path.read_text("utf-8").splitlines():
        match = shape.fullmatch(line)
        assert match, line
        p, topic, depth, total, error = match.groups()
        yield Printing(float(p), topic, int(depth), total, error)


def falling_scores(name: str) -> dict[str, list[float]]:
    """Return topic -> the scores of a run, from the best to the worst."""
    scores: dict[str, list[float]] = {}
    with gzip.open(run_file(COVID, name), "rt", encoding="utf-8") as lines:
        for line in lines:
            topic, _, _, _, score, _ = line.split()
            scores.setdefault(topic, []).append(float(score))
    return {topic: sorted(scores_of_topic, reverse=True) for topic, scores_of_topic in scores.items()}


@pytest.mark.filterwarnings("ignore:ties=.best.")
@pytest.mark.parametrize("name", sampled(runs_of(COVID), 12))
def test_rbp_equals_rbp_eval_without_ties_and_lies_between_the_orders_with_them(name: str) -> None:
    """Check sum and error to four digits without ties in reach; with ties, see the specs above.

    -f 0.5 makes grades 0, 1, 2 worth 0, a half and 1: linear gains.
    """
    printed = list(rbp_eval(name))
    depths = sorted({line.depth for line in printed})
    assert len(printed) == len(depths) * 3 * 31
    falling = falling_scores(name)
    for depth in depths:
        tied = {topic for topic, values in falling.items() if any(a == b for a, b in pairwise(values[: depth + 1]))}
        crossed = {
            topic for topic, values in falling.items() if values[depth - 1 : depth] == values[depth : depth + 1] != []
        }
        worst, best = (rbp_at_depth(name, depth, rule) for rule in ("worst", "best"))
        for line in printed:
            if line.depth != depth:
                continue
            (low, most_unknown), (high, least_unknown) = worst[line.topic, line.p], best[line.topic, line.p]
            if not (tied if line.topic == "all" else tied & {line.topic}):
                assert (low, most_unknown) == (high, least_unknown)
                assert same(low, line.total), line
                assert same(most_unknown, line.error), line
                continue
            slack = half_a_unit(line.total)
            assert float(line.total) <= high + slack, line
            assert float(line.error) <= most_unknown + slack, line
            if not (crossed if line.topic == "all" else crossed & {line.topic}):
                assert low - slack <= float(line.total), line
                assert least_unknown - slack <= float(line.error), line


def rbp_at_depth(name: str, depth: int, ties: str) -> dict[tuple[str, float], tuple[float, float]]:
    measures = [f"rbp(p={p})" for p in PS]
    run, qrels = run_file(COVID, name), qrels_of(COVID)
    return by_topic_and_p(gradedeval.evaluate(run, qrels, measures, depth=depth, ties=ties, residuals="total"))


WEB_QRELS = {
    "2010-10.adhoc-qrels.final.txt": (48, {-2: 1431, 0: 18665, 1: 4018, 2: 1077, 3: 138}),
    "2011-qrels.adhoc.txt": (50, {-2: 1019, 0: 15205, 1: 2038, 2: 711, 3: 408}),
}
"""Topics and judgments of each grade, counted in the files with awk; no judgment has grade -1."""


@pytest.mark.parametrize("name", WEB_QRELS)
def test_web_track_qrels_have_the_topics_and_grades_of_the_files(name: str) -> None:
    topics, grades = WEB_QRELS[name]
    qrels = Qrels(WEB / name)
    assert len(qrels) == topics
    assert dict(zip(qrels.labels.tolist(), qrels.pool.sum(0).tolist(), strict=True)) == grades
    assert qrels.notes == []
