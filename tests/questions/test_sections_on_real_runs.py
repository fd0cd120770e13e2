"""Texts, slices, systems, letters, collections and gates on real runs, against plain loops over the files.

The texts and the slices are made here: no queries lie beside the runs.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import socket
import statistics
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pytest
from scipy import stats

import gradedeval
from gradedeval.testing import assert_scores
from support import fake_ir_datasets
from support.commands import Command, rows
from support.gate import steps, with_pip
from support.pages import Page
from support.paths import shared
from support.real_pages import (
    HOSTILE,
    QRELS,
    judged,
    labels,
    mean,
    path_of,
    raw,
    scores,
    slice_of,
    tables,
    texts,
    too_wide,
    written_queries,
)
from support.sessions import with_programs
from support.statistics import holm

pytestmark = [shared, pytest.mark.filterwarnings("default::gradedeval.EvaluationWarning")]

NAMES = (
    *("bm25_basline", "10x10.prf.unipd.it", "base.unipd.it", "UIUC_DMG_setrank_re", "PL2c1.0", "CBOWexp.0"),
    *("sheikh_bm25_all", "RUIR-doc2vec"),
)
FIRST, RUNS = NAMES[0], [str(path_of(name)) for name in NAMES]
COLUMNS = {"relevant": ("many", "few"), "parity": ("odd", "even")}
SLICES = [(column, label) for column, both in COLUMNS.items() for label in both]
EXACT = {"abs": 1e-12, "rel": 1e-9}


def on(run: str, measure: str, topics: Iterable[str]) -> list[float]:
    return [scores(run)[measure][topic] for topic in topics]


def differences(run: str, baseline: str, measure: str, topics: Iterable[str] | None = None) -> list[float]:
    known = list(topics or judged())
    return [one - other for one, other in zip(on(run, measure, known), on(baseline, measure, known), strict=True)]


@pytest.fixture
def queries(tmp_path: Path) -> str:
    return str(written_queries(tmp_path))


# Texts.


def test_programs_get_whole_texts_and_people_nothing_that_acts(queries: str, cli: Command) -> None:
    words = (*RUNS[:2], str(QRELS), "-m", "ndcg@10", "--queries", queries)
    by_topic = cli(*words, "-q", "-f", "csv")
    assert {row["topic"]: row["query"] for row in rows(by_topic.text) if row["topic"] != "all"} == texts()
    document = json.loads(cli(*words, "-q", "-f", "json").text)
    assert {row["topic"]: row["query"] for row in document["rows"] if row["topic"] != "all"} == texts()
    shown = {
        "eval": cli(*words, "-q"),
        "diff": cli("diff", *words, "--top", "30"),
        "explain": cli("explain", RUNS[0], str(QRELS), "3", "-m", "ndcg@10", "--queries", queries),
        "check": cli("check", *words, "--min", "ndcg@10=0.99"),
        "pool": cli("pool", *words, "--to-judge"),
        "latex": cli(*words, "-q", "-f", "latex"),
        "markdown": cli(*words, "-q", "-f", "markdown"),
        "html": cli(*words, "-q", "-f", "html"),
        "github": cli("check", *words, "--min", "ndcg@10=0.99", "-f", "github"),
    }
    for name, found in shown.items():
        assert (name, found.code, raw(found.text)) == (name, int(name in ("check", "github")), [])
        if name in ("diff", "explain", "pool"):
            assert (name, too_wide(found.text)) == (name, [])
    assert [line for line in shown["github"].text.splitlines() if line.startswith("::error title=no")] == []
    assert "stolen()" not in "".join(Page(shown["html"].text).scripts.values())
    assert not re.search(r"(?<!\\)[%#&$_]of_it|\\textbf\{bold\}", shown["latex"].text)


WRITTEN: dict[str, Callable[[dict[str, str]], str]] = {
    "topics.trec": lambda known: "".join(
        f"<top>\n<num> Number: {topic}\n<title> {text}\n<desc> Description:\nnone\n</top>\n"
        for topic, text in known.items()
    ),
    "topics.xml": lambda known: "<topics>" + "".join(
        f'<topic number="{topic}"><query>{escape(text)}</query></topic>' for topic, text in known.items()
    ) + "</topics>",
    "queries.jsonl": lambda known: "".join(
        json.dumps({"_id": topic, "text": text}) + "\n" for topic, text in known.items()
    ),
    "queries.json": lambda known: json.dumps(known),
    "queries.csv": lambda known: "topic,query\n" + "".join(
        '{},"{}"\n'.format(topic, text.replace('"', '""')) for topic, text in known.items()
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_texts_are_the_same_from_every_kind_of_file(name: str, tmp_path: Path, cli: Command) -> None:
    plain = [text for text in HOSTILE if not raw(text) and not (name.endswith("trec") and "<" in text)]
    known = {topic: plain[at % len(plain)] for at, topic in enumerate(judged())}
    (tmp_path / name).write_text(WRITTEN[name](known), encoding="utf-8")
    found = cli(RUNS[0], str(QRELS), "-m", "p@5", "-q", "-f", "csv", "--queries", name)
    assert found.code == 0, found.messages
    assert {row["topic"]: row["query"] for row in rows(found.text) if row["topic"] != "all"} == known


def test_the_report_has_every_text_as_text(queries: str, tmp_path: Path, cli: Command) -> None:
    pytest.importorskip("jinja2")
    words = (*RUNS[:3], str(QRELS), "-m", "ndcg@10", "--slices", "relevant,parity", "-o", "report.html")
    assert cli("report", *words, "--queries", queries).code == 0
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    seen = {topic: re.sub(r"[\x00-\x1f\u202a-\u202e]", escaped, text) for topic, text in texts().items()}
    shown = [row[0] for row in page.table("Topics by ndcg@10")[1:]]
    assert shown == [topic + text for topic, text in seen.items()]
    assert page.data("data")["texts"] == list(seen.values())
    assert not [tag for tag, _ in page.tags if tag in ("strong", "img")]
    assert "stolen" not in page.scripts["script"]
    for column, own in COLUMNS.items():
        by_label = page.table(f"Scores by {column}")[1:]
        assert {row[0] for row in by_label} == {*own}
        for label, run, topics, score in by_label:
            kept = slice_of(column, label)
            assert (int(topics), float(score)) == (
                len(kept),
                pytest.approx(mean(run, "ndcg@10", kept), abs=0.000051),
            )


def escaped(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]


# Slices.


def test_slices_of_every_command_agree_with_loops(tmp_path: Path, cli: Command) -> None:
    with (tmp_path / "labels.tsv").open("w") as file:
        print("topic", *COLUMNS, sep="\t", file=file)
        for topic, own in labels().items():
            print(topic, *own.values(), sep="\t", file=file)
    words = (*RUNS[:6], str(QRELS), "-m", "ndcg@10 ap", "--slices", "labels.tsv")
    means = {(row["run"], row["measure"], row["slice"]): row for row in rows(cli(*words, "-f", "csv").text)}
    assert len(means) == 6 * 2 * 5
    for (run, measure, name), row in means.items():
        assert float(row["score"]) == pytest.approx(mean(run, measure, topics_of(name)), **EXACT)

    compared = rows(cli("compare", *words, "--test", "wilcoxon", "-f", "csv").text)
    by_slice = [row for row in compared if row["slice"]]
    assert len(by_slice) == 5 * 2 * 4
    for row in by_slice:
        d = differences(row["run"], FIRST, row["measure"], topics_of(row["slice"]))
        assert float(row["difference"]) == pytest.approx(statistics.fmean(d), **EXACT)
        won = [sum(one > 1e-12 for one in d), sum(abs(one) <= 1e-12 for one in d), sum(one < -1e-12 for one in d)]
        assert [int(row[name]) for name in ("wins", "ties", "losses")] == won
    for measure in ("ndcg@10", "ap"):
        own = [row for row in by_slice if row["measure"] == measure]
        assert [float(row["p_corrected"]) for row in own] == pytest.approx(holm([float(row["p"]) for row in own]))
        depends_on_labels([row for row in own if row["label"] in ("many", "odd")])
    for row in rows(cli("compare", *words, "--test", "t", "-f", "csv").text):
        d = differences(row["run"], FIRST, row["measure"], topics_of(row["slice"]))
        assert float(row["p"]) == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-9)


def topics_of(name: str) -> list[str]:
    column, _, label = name.partition("=")
    return slice_of(column, label) if name else list(judged())


def depends_on_labels(several: list[dict[str, str]]) -> None:
    """p between slices is that of labels drawn in another way, but for what drawing leaves open."""
    draw = random.Random(3)
    for row in several:
        d = differences(row["run"], FIRST, row["measure"])
        size = len(slice_of(row["column"], row["label"]))
        whole = sum(d)
        first = {topic: at for at, topic in enumerate(judged())}
        own = sum(d[first[topic]] for topic in slice_of(row["column"], row["label"]))
        # Of two labels the variance between means grows with the distance of one sum from what is due to it.
        reach = abs(own - whole * size / 30) - 1e-12
        count = sum(abs(sum(draw.sample(d, size)) - whole * size / 30) >= reach for _ in range(2000))
        p = float(row["p_between"])
        assert abs(count / 2000 - p) < 5 * (p * (1 - p) / 2000 + p * (1 - p) / 10000) ** 0.5 + 0.002


def test_bounds_of_slices_break_exactly_where_the_mean_says(queries: str, cli: Command) -> None:
    for run, (column, label) in itertools.product(NAMES[:2], SLICES):
        own = mean(run, "ndcg@10", slice_of(column, label))
        words = ("check", str(path_of(run)), str(QRELS), "--queries", queries, "--slices", column)
        bounds = [f"{column}={label}: ndcg@10={bound:.12f}" for bound in (own - 1e-9, own + 1e-9)]
        assert [cli(*words, "--min", bound).code for bound in bounds] == [0, 1]


def test_changes_and_pictures_by_slice(queries: str, tmp_path: Path, cli: Command) -> None:
    words = (*RUNS[:2], str(QRELS), "-m", "ndcg@10", "--queries", queries)
    shown = cli("diff", *words, "--slices", "relevant,parity").text
    of_slices = [(column, row) for table in tables(shown) for row in table for column in COLUMNS if column in row]
    assert [(column, row[column]) for column, row in of_slices] == SLICES
    for column, row in of_slices:
        topics = slice_of(column, row[column])
        for run in NAMES[:2]:
            assert float(row[run]) == pytest.approx(mean(run, "ndcg@10", topics), abs=0.000051)
        d = differences(NAMES[1], FIRST, "ndcg@10", topics)
        assert [int(row[name]) for name in ("worse", "better")] == [
            sum(one < 0 for one in d),
            sum(one > 0 for one in d),
        ]
    pytest.importorskip("matplotlib")
    drawn = cli("plot", "runs", *words, "--slices", "parity", "--slice", "parity", "-o", "runs.svg")
    assert drawn.code == 0, drawn.messages
    picture = (tmp_path / "runs.svg").read_text(encoding="utf-8")
    assert [label for label in ("odd", "even") if label not in picture] == []
    drawn = cli("plot", "topics", *words, "-o", "topics.svg")
    assert drawn.code == 0, drawn.messages
    ElementTree.parse(tmp_path / "topics.svg")


# Systems.

SYSTEMS = {"unipd": "*unipd*", "ub": "*.0", "bm25": "*bm25*"}
"""The runs of a team, or of a method, as if they were seeds: 2, 2 and 2; two more are alone."""
GIVEN = [word for name, pattern in SYSTEMS.items() for word in ("--replicates", f"{name}={pattern}")]


@cache
def members(system: str) -> list[str]:
    among = {"unipd": "unipd", "ub": ".0", "bm25": "bm25"}
    return [name for name in NAMES if among.get(system, system) in name]


def test_systems_have_the_means_and_tests_of_loops(cli: Command) -> None:
    words = (*RUNS, str(QRELS), "-m", "ndcg@10 ap", *GIVEN)
    found = rows(cli(*words, "-f", "csv").text)
    assert sorted(row["seeds"] for row in found if row["measure"] == "ap") == ["1", "1", "2", "2", "2"]
    for row in found:
        own = [mean(run, row["measure"]) for run in members(row["system"])]
        assert float(row["mean"]) == pytest.approx(statistics.fmean(own), **EXACT)
        if len(own) > 1:
            assert float(row["sd"]) == pytest.approx(statistics.stdev(own), **EXACT)
    pairs = rows(cli("compare", *words, "--all-pairs", "-f", "csv").text)
    assert len(pairs) == 2 * 10
    for row in pairs:
        sides = [[scores(run)[row["measure"]] for run in members(row[side])] for side in ("run", "baseline")]
        # With fewer than three seeds a system is taken as it is: Student's t over topics, and no p.
        run, baseline = ({topic: statistics.fmean(one[topic] for one in own) for topic in own[0]} for own in sides)
        d = [run[topic] - baseline[topic] for topic in run]
        low, high = stats.ttest_1samp(d, 0).confidence_interval(0.95)
        assert row["p"] == row["p_corrected"] == ""
        assert [float(row["low"]), float(row["high"])] == pytest.approx([low, high], rel=1e-8)
    table = cli("compare", *words)
    assert (table.code, too_wide(table.text)) == (0, [])


def test_bounds_of_systems_are_of_the_mean_over_runs(cli: Command) -> None:
    own = statistics.fmean(mean(run, "ap") for run in members("unipd"))
    for bound, code in ((own - 1e-9, 0), (own + 1e-9, 1)):
        words = (*(str(path_of(run)) for run in members("unipd")), str(QRELS), *GIVEN[:2])
        assert cli("check", *words, "--min", f"ap={bound:.12f}").code == code


# Letters and ranks.


def test_letters_and_ranks_are_those_of_pairwise_tests(cli: Command) -> None:
    words = (*RUNS, str(QRELS), "-m", "ndcg@10")
    found = {row["run"]: row for row in rows(cli("compare", *words, "--letters", "--test", "t", "-f", "csv").text)}
    pairs = list(itertools.combinations(NAMES, 2))
    p = holm([stats.ttest_1samp(differences(*pair, "ndcg@10"), 0).pvalue for pair in pairs])
    differ = {frozenset(pair) for pair, one in zip(pairs, p, strict=True) if one <= 0.05}
    assert 0 < len(differ) < len(pairs) == 28
    for pair in pairs:
        alike = set.intersection(*(set(found[run]["same_as"]) - {" "} for run in pair))
        assert bool(alike) == (frozenset(pair) not in differ), pair
    drawn = np.random.default_rng(8).integers(0, 30, (4000, 30))
    means = np.array([np.array(list(scores(run)["ndcg@10"].values()))[drawn].mean(1) for run in NAMES])
    for at, run in enumerate(NAMES):
        better = [other for other in NAMES if mean(other, "ndcg@10") > mean(run, "ndcg@10") and {run, other} in differ]
        worse = [other for other in NAMES if mean(other, "ndcg@10") < mean(run, "ndcg@10") and {run, other} in differ]
        own = found[run]
        assert (int(own["best_rank"]), int(own["worst_rank"])) == (1 + len(better), len(NAMES) - len(worse))
        ends = np.quantile(1 + (means > means[at]).sum(0), [0.025, 0.975], method="inverted_cdf")
        assert np.abs(ends - [int(own["rank_low"]), int(own["rank_high"])]).max() <= 1
    table = cli("compare", *words, "--letters")
    assert (table.code, too_wide(table.text)) == (0, [])


def test_letters_of_many_runs_part_them() -> None:
    every = [str(file) for file in path_of(FIRST).parent.iterdir()]
    found = gradedeval.letters(every, str(QRELS), "ndcg@10").frame
    assert len(found) == len(every) > 40
    assert len(set("".join(found["same_as"]))) > 10
    best, worst = found["same_as"].iloc[0], found["same_as"].iloc[-1]
    assert "a" in best
    assert not set(best) & set(worst)


def test_latex_marks_what_differs_and_shows_the_means(cli: Command) -> None:
    words = (*RUNS, str(QRELS), "-m", "ap", "--best", "--baseline", RUNS[0], "--test", "t", "-f", "latex")
    text = cli(*words).text
    p = holm([stats.ttest_1samp(differences(run, FIRST, "ap"), 0).pvalue for run in NAMES[1:]])
    for run, own in zip(NAMES[1:], p, strict=True):
        (line,) = (line for line in text.splitlines() if line.startswith(run.replace("_", r"\_") + " "))
        sign = "ddag" if own <= 0.01 else "dag" if own <= 0.05 else ""
        assert (re.findall(r"superscript\{\\(d+ag)", line) or [""]) == [sign], (run, own)
        assert f"{mean(run, 'ap'):.4f}"[2:] in line


# Collections.


def test_a_named_collection_gives_the_scores_of_its_judgments(
    tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home" / "cord19" / "trec-covid"
    home.mkdir(parents=True)
    (home / "qrels").symlink_to(QRELS)
    far = fake_ir_datasets.install(monkeypatch, tmp_path / "home", {})
    monkeypatch.setattr(socket, "socket", fake_ir_datasets.no_network)
    found = cli(*RUNS, "trec-covid", "-m", "ndcg@10 ap", "-f", "csv")
    assert found.code == 0, found.messages
    named = rows(found.text)
    assert len(named) == len(NAMES) * 2
    for row in named:
        assert float(row["score"]) == pytest.approx(mean(row["run"], row["measure"]), **EXACT)
    assert f"qrels {gradedeval.Qrels(QRELS).digest}" in named[0]["signature"]
    described = cli("collections", "trec-covid")
    assert (described.code, far.asked) == (0, [])
    assert "30 topics" in described.words
    (tmp_path / "trec-covid").write_text("1 0 0mjt8z9p 1\n")
    assert "trec-covid: read from the file of that name" in cli(RUNS[1], "trec-covid", "-m", "ap").messages[0]


# Gates.


def test_the_action_fails_the_job_where_the_mean_says(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    folder = with_pip(with_programs(tmp_path))
    written_queries(folder)
    (folder / "qrels.txt").symlink_to(QRELS)
    for run in NAMES[:2]:
        (folder / f"{run}.gz").symlink_to(path_of(run))
    bounds = {"ndcg@10": mean(FIRST, "ndcg@10") + 1e-9, "ap": mean(FIRST, "ap") - 1e-9}
    lines = [f'"{measure}" = {bound:.12f}\n' for measure, bound in bounds.items()]
    (folder / "gradedeval.toml").write_text(f"[min]\n{''.join(lines)}")
    ended = steps(folder, runs=f"{FIRST}.gz {NAMES[1]}.gz", qrels="qrels.txt", queries="covid-queries.tsv")
    assert ended.code == 1
    failing = [(run, name) for run in NAMES[:2] for name, bound in bounds.items() if mean(run, name) < bound]
    assert failing == [(FIRST, "ndcg@10")]
    suite = ElementTree.parse(ended.out / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "1", "0")
    worst = sorted(judged(), key=lambda topic: scores(FIRST)["ndcg@10"][topic])[:5]
    (notice,) = (line for line in ended.shown.splitlines() if line.startswith("::error "))
    assert [f"{topic} (" in notice for topic in worst] == [True] * 5
    assert raw(ended.shown + ended.summary) == []
    assert f"{mean(NAMES[1], 'ndcg@10'):.4f}" in ended.summary
    assert not (folder / "stolen").exists()
    report = Page((ended.out / "report.html").read_text(encoding="utf-8"))
    assert [row[0] for row in report.tables[next(iter(report.tables))][1:]]


def test_a_test_of_pytest_names_the_worst_topics(queries: str) -> None:
    own = mean(FIRST, "ndcg@10")
    assert_scores(RUNS[0], QRELS, {"ndcg@10": own - 1e-9, "ap": mean(FIRST, "ap") - 1e-9})
    with pytest.raises(AssertionError) as error:
        assert_scores(RUNS[0], QRELS, {"ndcg@10": own + 1e-9}, baseline=RUNS[1], max_drop="5%", queries=queries)
    head, below, fell, signature = str(error.value).splitlines()
    assert head == "both bounds failed"
    falls = dict(zip(judged(), differences(FIRST, NAMES[1], "ndcg@10"), strict=True))
    topic = min(falls, key=lambda topic: falls[topic])
    for line in (below, fell):
        assert f"topics that fell most: {topic} (" in line
    fall = -statistics.fmean(differences(FIRST, NAMES[1], "ndcg@10"))
    assert f"fell by {fall:.4f} ({fall / mean(NAMES[1], 'ndcg@10'):.1%})" in fell
    assert signature.startswith("gradedeval ")
    assert raw(str(error.value)) == []
