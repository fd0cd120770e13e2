"""The Python interface: all forms of a run and qrels give equal numbers, and results have the promised types."""

import copy
import math
import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval.measures import ap, err, ndcg, rbp
from support.commands import python
from support.paths import ROOT

QRELS = {"q1": {"a": 3, "b": 0, "c": 1, "d": 2}, "q2": {"x": 1, "y": 0}}
RUN = {"q1": {"a": 5.0, "u": 4.0, "c": 3.0, "n": 2.0, "b": 1.0}, "q2": {"y": 2.0, "x": 2.0}}


def run_lines() -> str:
    return "".join(f"{t} Q0 {d} 0 {s} tag\n" for t, docs in RUN.items() for d, s in docs.items())


def test_ids_that_are_integers_in_a_frame_are_their_digits() -> None:
    run = pd.DataFrame({"topic": [51, 51], "docno": [1, 2], "score": [2.0, 1.0]})
    assert gradedeval.evaluate(run, {"51": {"2": 1}}, "rr").means == {"rr": 0.5}


def test_ids_that_became_floats_are_refused() -> None:
    run = pd.DataFrame({"topic": [51.0], "docno": ["a"], "score": [2.0]})
    with pytest.raises(
        gradedeval.InputError, match=r"run:1: id 51.0 is a float; ids must be text: read them with dtype=str"
    ):
        gradedeval.evaluate(run, QRELS, "rr")


def test_several_runs_are_given_as_a_list_or_by_name(tmp_path: Path) -> None:
    (tmp_path / "one.run").write_text(run_lines())
    (tmp_path / "two.run.gz").write_text(run_lines())
    listed = gradedeval.evaluate([tmp_path / "one.run", tmp_path / "two.run.gz"], QRELS, "ap")
    assert list(listed.means_by_run) == ["one.run", "two.run"]
    named = gradedeval.evaluate({"mine": RUN, "theirs": tmp_path / "one.run"}, QRELS, "ap")
    assert named.means_by_run["mine"] == named.means_by_run["theirs"] == pytest.approx({"ap": (5 / 9 + 1 / 2) / 2})
    assert named.by_topic("ap", "theirs")["q2"] == 0.5
    assert list(gradedeval.evaluate([RUN, RUN], QRELS, "ap").means_by_run) == ["run1", "run2"]


def test_the_frame_is_tidy_and_ends_each_measure_with_its_mean() -> None:
    frame = gradedeval.evaluate(RUN, QRELS, "ap err@1", residuals="split").frame
    assert list(frame.columns) == ["run", "topic", "measure", "score", "residual", "unjudged", "beyond", "signature"]
    assert list(frame["topic"]) == ["q1", "q2", "all"] * 2
    of_ap = frame[(frame["measure"] == "ap") & (frame["topic"] != "all")]
    assert of_ap["score"].mean() == frame.query("measure == 'ap' and topic == 'all'")["score"].item()


def test_measures_are_values() -> None:
    assert str(ndcg(gain="exp") @ 10) == "ndcg(gain=exp)@10"
    assert gradedeval.parse_measures("ndcg(gain=exp)@10") == [ndcg(gain="exp") @ 10]
    assert gradedeval.evaluate(RUN, QRELS, [err @ 20, rbp(p=0.5, rel=1)]).means.keys() == {"err@20", "rbp(p=0.5,rel=1)"}
    assert len({err @ 20, gradedeval.parse_measures("ERR@20")[0]}) == 1
    assert err @ np.int64(20) == err @ 20
    for wrong in (lambda: err @ 0, lambda: err(gian="exp"), lambda: rbp(p=1), lambda: ap(gain="exp")):
        with pytest.raises(gradedeval.InputError):
            wrong()


def test_options_are_keywords_and_a_wrong_one_is_named() -> None:
    scores = gradedeval.evaluate(RUN, QRELS, err, gain=(0, 0.5, 0.5, 1))
    assert scores.means.keys() == {"err"}
    assert " | names err = err(gain=0:0.5:0.5:1) | " in scores.signature
    assert gradedeval.evaluate(RUN, QRELS, "ap", topics_from=["q1"]).by_topic("ap").keys() == {"q1"}
    with pytest.raises(gradedeval.InputError, match="unknown option 'dept'; did you mean 'depth'"):
        gradedeval.evaluate(RUN, QRELS, "ap", dept=3)
    with pytest.raises(gradedeval.InputError, match="invalid value 'docno'"):
        gradedeval.evaluate(RUN, QRELS, "ap", ties="docno")
    options: dict[str, Any] = {"extra_fields": True}  # the drop-in alone sets it
    with pytest.raises(gradedeval.InputError, match="unknown option 'extra_fields'"):
        gradedeval.evaluate(RUN, QRELS, "ap", **options)


@pytest.mark.parametrize("jobs", ["2", 0, 1.5, None, 10**30])
def test_jobs_are_a_whole_number(jobs: Any) -> None:
    with pytest.raises(gradedeval.InputError, match=r"^jobs: .* is (not a whole number from 1|too small|too large)"):
        gradedeval.evaluate(RUN, QRELS, "ap", jobs=jobs)


@pytest.mark.parametrize("argument", [RUN, [RUN]])
def test_functions_of_scores_refuse_runs(argument: Any) -> None:
    for function in (gradedeval.compare, gradedeval.power, gradedeval.correlate):
        with pytest.raises(gradedeval.InputError, match=f"^scores: expected scores, not a {type(argument).__name__}; "):
            function(argument)


@pytest.mark.exhaustive
def test_a_measure_offered_by_another_package_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(
        "from gradedeval import measure, row_sums\n@measure(gain='linear')\ndef haul(g):\n    return row_sums(g.gain)\n"
    )
    (tmp_path / "other-1.dist-info").mkdir()
    (tmp_path / "other-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    (tmp_path / "other-1.dist-info" / "entry_points.txt").write_text("[gradedeval.measures]\nhaul = other:haul\n")
    code = f"import gradedeval; print(gradedeval.evaluate({RUN!r}, {QRELS!r}, 'haul@3').means)"
    done = python("-c", code, PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert (done.returncode, done.stdout) == (0, "{'haul@3': 2.5}\n")  # (3 + 0 + 1 + 0 + 1) / 2


def test_a_measure_that_writes_to_its_input_fails_and_harms_no_other(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from gradedeval import measure, row_sums\n"
        "@measure(gain='exp', scale='unit')\n"
        "def mine(g):\n    g.gain[:] = 0\n    return row_sums(g.gain)\n"
    )
    mine = gradedeval.load_measures(tmp_path / "mine.py")["mine"]
    with pytest.raises(gradedeval.InputError, match=r"measure 'mine': failed .*read-only"):
        gradedeval.evaluate(RUN, QRELS, [mine, err])


@pytest.mark.parametrize(
    "options",
    [{"gain": {0: 0, 1: 1}}, {"lenient": "no"}, {"judged_only": 1}, {"measures": []}, {"measures": [object()]}],
)
def test_an_option_of_the_wrong_kind_is_a_fault(options: dict[str, Any]) -> None:
    with pytest.raises(gradedeval.InputError):
        gradedeval.evaluate(RUN, QRELS, **{"measures": "ap", **options})


def test_scores_print_in_a_line() -> None:
    text = repr(gradedeval.evaluate(RUN, QRELS, "ap err@20"))
    assert text.startswith("<Scores of run: ap, err@20; gradedeval ")
    assert "\n" not in text


@pytest.mark.filterwarnings("ignore:.*no measure here uses it")
def test_arrays_that_measures_share_cannot_be_written_to(tmp_path: Path) -> None:
    seen: list[str] = []

    @gradedeval.measure(gain="linear", scale="unit")
    def looks(g: gradedeval.Gains) -> Any:
        """Return the sum of gains.

        Σ g

        Unpublished.
        """
        arrays = {name: getattr(g, name) for name in dir(type(g)) + list(vars(g)) if not name.startswith("_")}
        seen.extend(name for name, array in arrays.items() if isinstance(array, np.ndarray) and array.flags.writeable)
        return gradedeval.row_sums(g.gain)

    gradedeval.evaluate(RUN, QRELS, [looks, looks @ 2], residuals=True)
    assert seen == []


@pytest.mark.parametrize("name", gradedeval.MEASURES)
def test_measures_are_pickled_and_copied_as_themselves(name: str) -> None:
    measure = gradedeval.MEASURES[name]
    assert pickle.loads(pickle.dumps(measure)) == copy.deepcopy(measure) == measure


TWELVE = {str(topic): {"a": topic % 2, "b": 1} for topic in range(12)}
INTENTS = {"1": {"a": {"x": 1}, "b": {"y": 1}}}
STRATA = {"1": {"a": {"1": 1}, "b": {"2": 0}}}


@pytest.mark.parametrize(
    ("qrels", "measures", "options"),
    [
        (QRELS, "err@2 rbp(p=0.5) gap", {"residuals": True}),
        (QRELS, "ap", {"bounds": True}),
        (QRELS, "ap", {"interval": 0.9}),
        (QRELS, "ap", {"max_residual": 0.5}),
        (INTENTS, "erria@20", {"subtopics": True}),
        (STRATA, "infap", {"qrels_format": "strata"}),
        (TWELVE, "p@2", {"predicted": {**TWELVE, "13": {"a": 1}, "14": {"a": 0}}}),
    ],
)
@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_copies_of_scores_are_equal(qrels: Any, measures: str, options: dict[str, Any]) -> None:
    run = RUN if qrels is QRELS else {topic: {"a": 2.0, "b": 1.0} for topic in [*qrels, "13", "14"]}
    scores = gradedeval.evaluate(run, qrels, measures, **options)
    again = pickle.loads(pickle.dumps(scores))
    assert again == scores != gradedeval.evaluate(run, qrels, f"{measures} num_ret", **options)
    assert hash(again) == hash(scores)
    assert again.frame.equals(scores.frame)
    assert repr(again.qrels) == repr(scores.qrels)
    with pytest.raises(gradedeval.InputError, match="these qrels come with saved scores, without their judgments"):
        gradedeval.evaluate(run, again.qrels, measures, **options)


def test_a_pickle_of_fifty_topics_has_neither_judgments_nor_runs() -> None:
    qrels = {str(topic): {f"document-{number}": number % 3 for number in range(300)} for topic in range(50)}
    runs = {name: {topic: dict.fromkeys(qrels[topic], 1.0) for topic in qrels} for name in "AB"}
    scores = gradedeval.evaluate(runs, qrels, "ndcg@10 err@20 ap p@10", residuals=True)
    assert len(pickle.dumps(scores)) <= 40_000 < len(pickle.dumps(scores.qrels))


def test_scores_of_topics_are_a_frame_without_means() -> None:
    scores = gradedeval.evaluate(RUN, QRELS, "err@2 ap")
    assert scores.topics.columns.tolist() == ["err@2", "ap"]
    assert scores.topics["ap"].to_dict() == scores.by_topic("ap")
    assert scores.topics.mean().to_dict() == pytest.approx(scores.means)
    both = gradedeval.evaluate({"A": RUN, "all": RUN}, QRELS, "err@2 ap")
    assert both.topics.index.names == ["run", "topic"]
    assert both.topics.loc["all"].equals(scores.topics)


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_scores_of_topics_that_do_not_count_are_blank() -> None:
    scores = gradedeval.evaluate(RUN, QRELS, "rbp(p=0.9) err@1", max_residual=0.5)
    for label in scores.labels:
        assert scores.topics[label].dropna().to_dict() == scores.by_topic(label)


def test_a_measure_that_cannot_be_imported_cannot_be_pickled(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from gradedeval import measure\n@measure\ndef mine(g):\n    return g.gain.sum(1)\n"
    )
    with pytest.raises(pickle.PicklingError, match=r"measure mine: other processes cannot import it from mine\.py; "):
        pickle.dumps(gradedeval.load_measures(tmp_path / "mine.py")["mine"])


def test_a_measure_that_ends_the_program_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import sys\nfrom gradedeval import measure\n@measure\ndef mine(g):\n    sys.exit('so there')\n"
    )
    with pytest.raises(gradedeval.InputError, match=r"measure 'mine': failed .SystemExit: so there."):
        gradedeval.evaluate(RUN, QRELS, [gradedeval.load_measures(tmp_path / "mine.py")["mine"]])


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"1": {"a": 2.0}, 1: {"b": 1.0}}, "run: duplicate topic '1', as text and as a number"),
        ({"1": {"a": "9", "b": "1_0"}}, r"run\['1'\]: score '1_0' is not a finite number"),
        ({"1": {"a": [1.0], "b": [2.0]}}, r"score \[1.0\] is not a finite number"),
        *(({"1": {"a": score}}, r"^run\['1'\]") for score in (10**400, math.nan, math.inf, "high", None)),
        ({"\ud800": {"a": 1.0}}, "is not valid text"),
        ({}, "run: is empty"),
    ],
)
def test_dicts_that_are_not_runs_are_errors(run: Any, message: str) -> None:
    with pytest.raises(gradedeval.InputError, match=message):
        gradedeval.evaluate(run, {"1": {"a": 1, "b": 2}}, "ap")


def test_a_closed_file_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"1 Q0 a 1 1 t\n")
    with (tmp_path / "run").open("rb") as file:
        pass
    with pytest.raises(gradedeval.InputError, match=r"cannot be read .*closed file"):
        gradedeval.evaluate(file, {"1": {"a": 1}}, "ap")


def test_any_path_is_called_by_its_file(tmp_path: Path) -> None:
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_bytes(b"1 Q0 a 1 1 t\n")
    entries = sorted(os.scandir(tmp_path), key=lambda entry: entry.name)
    assert list(gradedeval.evaluate(entries, {"1": {"a": 1}}, "ap").means_by_run) == ["a.run", "b.run"]


def test_a_run_without_judged_documents_is_noted() -> None:
    judged, mistaken = {"1": {"D3": 1.0, "x": 0.5}}, {"1": {"doc D3": 1.0, "doc D4": 0.5}}
    with pytest.warns(gradedeval.EvaluationWarning, match="none of its documents is judged in its topic"):
        gradedeval.evaluate(mistaken, {"1": {"D3": 1}}, "ap")
    with pytest.warns(gradedeval.EvaluationWarning, match="none of its documents down to rank 1 is judged"):
        gradedeval.evaluate({"1": {"D3": 1.0, "x": 2.0}}, {"1": {"D3": 1}}, "rr@1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "there is one topic")
        gradedeval.evaluate(judged, {"1": {"D3": 1}}, "ap")
