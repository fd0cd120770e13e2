"""Measures keep their requested names, and are found by any of their names."""

import csv
import pickle
from pathlib import Path

import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.measures import ap, err, ndcg
from support.commands import Command, succeed

RUN = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"c": 1.0}}
QRELS = {"q1": {"a": 0, "b": 2}, "q2": {"c": 1}}
NAMES = "map nDCG@10 P.1,2 recip_rank ndcg:gain=exp@3"


def test_means_have_the_requested_names() -> None:
    means = gradedeval.evaluate(RUN, QRELS, NAMES).means
    assert list(means) == ["map", "nDCG@10", "P_1", "P_2", "recip_rank", "ndcg:gain=exp@3"]
    assert means["map"] == means["ap"] == means["MAP"] == means[ap] == means.get("average", means.get("map")) == 0.75
    assert means["ndcg@10"] == means[ndcg @ 10] == means["nDCG@10"]
    assert "p@1" in means
    assert "p@3" not in means
    with pytest.raises(KeyError, match="no measure p@3 among map, nDCG@10"):
        means["p@3"]
    assert pickle.loads(pickle.dumps(means))["ap"] == 0.75


def test_scores_and_topics_are_found_under_any_name() -> None:
    scores = gradedeval.evaluate(RUN, QRELS, NAMES, residuals=True)
    assert scores["map"] == scores["ap"] == scores[ap] == 0.75
    assert scores.by_topic("map") == scores.by_topic("ap") == {"q1": 0.5, "q2": 1.0}
    assert scores.residuals["RR"] == scores.residuals["recip_rank"]
    assert set(scores.frame["measure"]) == set(scores.means)
    assert " | names map = ap, P_1 = p@1, P_2 = p@2, recip_rank = rr, " in scores.signature


def test_a_measure_changed_by_an_option_keeps_the_requested_name() -> None:
    scores = gradedeval.evaluate(RUN, QRELS, "Err@20 NDCG@10", gain="linear")
    assert list(scores.means) == ["Err@20", "NDCG@10"]
    assert " | names Err@20 = err(gain=linear)@20 | " in scores.signature
    assert list(gradedeval.evaluate(RUN, QRELS, err @ 20, gain="linear").means) == ["err@20"]
    assert scores["ERR@20"] == scores[err @ 20] == scores["err(gain=linear)@20"]


def test_scores_say_which_measures_they_have() -> None:
    scores = gradedeval.evaluate({"1": {"a": 1}}, {"1": {"a": 1}}, "map ndcg@10")
    assert list(scores) == ["map", "ndcg@10"]
    assert [name in scores for name in ("map", "ap", ap, "err@20", 0)] == [True, True, True, False, False]


def test_a_measure_requested_twice_has_one_column_under_both_names() -> None:
    with pytest.warns(gradedeval.EvaluationWarning, match="^map, AP: the same measure, shown as map$"):
        means = gradedeval.evaluate(RUN, QRELS, "map AP map").means
    assert means == {"map": 0.75}
    assert means["AP"] == means["ap"] == 0.75


def test_means_have_one_shape() -> None:
    scores = gradedeval.evaluate(RUN, QRELS, "map", residuals=True)
    assert scores.means_by_run == {"run": {"map": 0.75}}
    assert scores.residuals_by_run == {"run": scores.residuals}
    two = gradedeval.evaluate({"x": RUN, "y": RUN}, QRELS, "map", residuals=True)
    assert two.means_by_run["y"]["ap"] == two.means_by_run["x"]["map"] == 0.75
    assert list(two.residuals_by_run) == ["x", "y"]
    for part, hint in (("means", "use .means_by_run"), ("residuals", "use .residuals_by_run")):
        with pytest.raises(InputError, match=f"Scores.{part}: there are 2 runs; {hint}"):
            getattr(two, part)
    with pytest.raises(InputError, match=r"there are 2 runs; name one, as in by_topic\(measure, run\)"):
        two.by_topic("map")
    assert two.by_topic("map", "y") == scores.by_topic("ap")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 {d} {d == 'a':d}\n" for t in range(8) for d in "abc"))
    for run, orders in (("x", "abc"), ("y", "bac")):
        lines = [f"{t} Q0 {d} 1 {9 - rank} t\n" for t in range(8) for rank, d in enumerate(orders)]
        (tmp_path / f"{run}.run").write_text("".join(lines))
    return tmp_path


def test_tables_print_the_requested_names(files: Path, cli: Command) -> None:
    printed = cli("x.run", "qrels.txt", "-m", "map P_1 nDCG@10", "-f", "trec")
    assert [line.split()[0] for line in printed.out.decode().splitlines()] == ["map", "P_1", "nDCG@10"]
    table = cli("x.run", "y.run", "qrels.txt", "-m", "map P_1", "--signature", "full").out.decode()
    assert table.split()[:3] == ["run", "map", "P_1"]
    assert "names map = ap, P_1 = p@1" in table


def test_saved_scores_go_by_the_measure_not_its_name(files: Path, cli: Command) -> None:
    assert cli("x.run", "qrels.txt", "-q", "-m", "map", "-o", "x.csv").code == 0
    assert cli("y.run", "qrels.txt", "-q", "-m", "ap", "-o", "y.csv").code == 0
    with (files / "x.csv").open() as file:
        assert {row["measure"] for row in csv.DictReader(line for line in file if not line.startswith("#"))} == {"map"}
    compared = succeed(cli("compare", "--from-scores", "x.csv", "--from-scores", "y.csv", "-m", "MAP", "-f", "csv"))
    assert compared.out.decode().splitlines()[1].startswith("MAP,")
    assert cli("check", "y.run", "qrels.txt", "--baseline", "x.csv", "--max-drop", "ap=60%").code == 0
    assert cli("check", "y.run", "qrels.txt", "--baseline", "x.csv", "--max-drop", "AP=10%").code == 1


def test_saved_scores_of_another_level_are_not_compared(files: Path, cli: Command) -> None:
    assert cli("x.run", "qrels.txt", "-q", "-m", "map", "--rel", "2", "-o", "x.csv").code == 0
    assert cli("compare", "y.run", "qrels.txt", "-m", "ap", "--rel", "2", "--baseline", "x.csv").code == 0
    output = cli("compare", "y.run", "qrels.txt", "-m", "map", "--baseline", "x.csv")
    assert (output.code, output.messages[0].partition(";")[0]) == (
        2,
        "x.csv: map of 'x.run' is scored with gains rel 2 (here rel 1)",
    )


@pytest.fixture
def graded(files: Path) -> Path:
    qrels = files / "qrels.txt"
    qrels.write_text(qrels.read_text().replace(" 1\n", " 2\n"))
    return files


@pytest.mark.one_in(3)
@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("options", [("map", "--rel", "2"), ("ap", "--rel", "2"), ("ap(rel=2)",), ("MAP(rel=2)",)])
def test_saved_scores_have_names_of_both_kinds(options: tuple[str, ...], form: str, graded: Path, cli: Command) -> None:
    for name, run in (("first", "x.run"), ("second", "y.run")):
        assert cli(run, "qrels.txt", "-m", "map p@2", "--rel", "2", "-q", "-o", f"{name}.{form}").code == 0
    words = ("-m", *options, "--baseline", f"first.{form}", "--max-drop", "100%")
    assert "unchanged" in cli("check", "x.run", "qrels.txt", *words).text
    saved = ("--from-scores", f"first.{form}", "--from-scores", f"second.{form}")
    assert cli("compare", *saved, "-m", options[0]).code == 0


def test_columns_of_weights_name_measures_with_applied_options(graded: Path, cli: Command) -> None:
    words = ("weights", "x.run", "qrels.txt", "-m", "map P@2 dcg@2", "--ranks", "1", "-f", "csv")
    assert cli(*words).text.splitlines()[0] == "rank,map,P@2,dcg@2"
    assert cli(*words, "--rel", "2", "--gain", "exp").text.splitlines()[0] == (
        "rank,ap(rel=2),p(rel=2)@2,dcg(gain=exp)@2"
    )
