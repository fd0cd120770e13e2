"""Click commands refuse options without effect, and report their assumptions."""

import json
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gradedeval import EvaluationWarning, InputError, clicks
from gradedeval.clicks.click_models import model_text

QRELS = {topic: {"a": 0, "b": 1, "c": 2, "d": 2} for topic in "pqr"}
LOG = pd.DataFrame({
    "topic": ["q", "q", "p", "r"],
    "clicks": [[1], [2], [], [1, 2]],
    "shown": [["a", "b"], ["b", "a"], ["a", "b"], ["c", "d"]],
})  # fmt: skip
RUN = {topic: {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0} for topic in "pqr"}


OF_SCORES = ": simulate does not take it; leave it out, or use evaluate"
OF_RUNS = "{}: does not apply to click logs"
SUMS = r"the weights of 'dcg.*' sum to .*, more than 1; add normalize"
REFUSED: list[tuple[Any, tuple[Any, ...], dict[str, Any], str]] = [
    (clicks.gains, (), {"share": True}, "share: applies to"),
    (clicks.gains, (), {"learn_from": "correlation", "by_document": True}, "by_document: applies to"),
    (clicks.gains, (), {"learn_from": "correlation", "model": "dbn"}, "model: applies to"),
    (clicks.gains, (), {"learn_from": "correlation", "prior": 2.0}, "prior: applies to"),
    (clicks.gains, (), {"click_measure": "qctr"}, "click_measure: applies to"),
    (clicks.gains, (), {"learn_from": "correlation", "ss_rel": 1}, "ss_rel: applies to"),
    (clicks.gains, (), {"measure": "dcg", "model": "cm"}, "measure: applies to gains without model"),
    (clicks.gains, (), {"measure": "dcg", "target": "gap"}, "measure: applies to"),
    (clicks.gains, (), {"measure": "ap"}, "'ap': no click model has its users; name one with model"),
    (clicks.gains, (), {"learn_from": "preferences", "depth": 2}, "depth: applies to click logs"),
    *((clicks.correlate, ("err",), {name: value}, OF_RUNS.format(name)) for name, value in {
        "judged_only": True, "topics_from": ["q"], "bounds": True, "ties": "file", "costs": {"T": 2.0},
    }.items()),
    (clicks.correlate, ("err",), {"fill": {("q", "z"): 0.5}}, r"fill: topic .* has no dict of gains"),
    (clicks.correlate, ([],), {}, "no measure given"),
    (clicks.simulate, ("err",), {"bounds": True}, OF_SCORES),
    (clicks.simulate, ("err rbp(p=0.5)",), {}, "2 measures; name one"),
    (clicks.fit, ("dcg@2",), {"normalize": "none", "precision": 0.1}, SUMS),
    (clicks.fit, ("dcg(log=2..3)@2",), {"normalize": "none", "precision": 0.1}, SUMS),
    (clicks.fit, ("rbp(p=0.5..0.6)",), {"precision": 0.0}, "precision: .* is too small; it must be at least 1e-10"),
    *((clicks.fit, ("rbp(p=0.5)",), {"weights": pd.DataFrame(weights)}, message) for weights, message in (
        ({"x": [0.5, 0.5]}, "weights: no column 'rank'"),
        ({"rank": [1, 3], "x": [0.5, 0.5]}, "weights: rank 2 is missing"),
        ({"rank": [1, 2], "x": [0.5, None]}, "weights:2: x '' is not a number"),
        ({"rank": [1, 2], "x": [0.5, -1]}, "weights:2: x -1 is out of range"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("function", "more", "keywords", "message"), REFUSED)
def test_unused_options_fail(function: Any, more: tuple[Any, ...], keywords: dict[str, Any], message: str) -> None:
    files = {clicks.simulate: (*more, RUN, QRELS), clicks.fit: (LOG, *more)}.get(function, (LOG, QRELS, *more))
    with pytest.raises(InputError, match=message):
        function(*files, **keywords)


@pytest.mark.parametrize("measure", ["rbp(p=0.99,gain=0:0.5:0.5)@2", "err@2"])
def test_readers_of_a_cutoff_do_not_look_below(measure: str) -> None:
    log = clicks.simulate(measure, RUN, QRELS, sessions=2000)
    assert max(ranks[-1] for ranks in log.patterns if ranks) == 2


def test_a_log_in_memory_lacks_unread_columns() -> None:
    log = clicks.read_log(LOG)
    with pytest.raises(InputError, match="was read without the column 'device'"):
        clicks.correlate(log, QRELS, "err", by="device")
    with pytest.raises(InputError, match="is read already"):
        clicks.read_log(log, idle="60m")


def test_documents_without_parameters_get_a_note() -> None:
    model = clicks.models(LOG, "ubm")["ubm"]
    with pytest.warns(EvaluationWarning) as caught:
        clicks.simulate(model, {"q": {"b": 3, "a": 2, "z": 1}}, sessions=10)
    assert [str(warning.message) for warning in caught] == [
        "1 of 3 documents shown have no parameters in ubm; 0.5 is used",
        "ranks below 2 have no parameters in ubm; 0.5 is used",
    ]
    test_log = pd.DataFrame({"topic": ["q"], "clicks": [[]], "shown": [["b", "a", "z"]]})
    with pytest.warns(EvaluationWarning) as caught:
        clicks.models(LOG, "ubm dbn", test_log=test_log)
    assert "ubm: no list of log goes below rank 2; parameters there are 0.5" in [
        str(warning.message) for warning in caught
    ]


def test_pairs_need_topics_with_two_lists() -> None:
    with pytest.warns(EvaluationWarning) as caught:
        result = clicks.correlate(LOG, QRELS, "err", pairs=5)
    messages = [str(warning.message) for warning in caught]
    assert "log: 2 lists left out of pairs: the only list of the topic" in messages
    assert "log: only two lists, and any two correlate by +1 or -1" in messages
    assert result.frame[["topics", "configurations", "sessions"]].iloc[0].tolist() == [1, 2, 2]
    with pytest.raises(InputError, match="no topic has two lists to pair"):
        clicks.correlate(LOG.iloc[2:], QRELS, "err", pairs=5)


def test_unused_judgments_get_a_note() -> None:
    with pytest.warns(EvaluationWarning, match="qrels is not used: documents have parameters of their own"):
        clicks.models(LOG, "dbn", qrels=QRELS)


def test_sessions_distinguished_only_by_time_get_a_note() -> None:
    timed = LOG.assign(user="u", time=[0.0, 1.0, 2.0, 3.0])
    assert clicks.read_log(timed).notes == ["log: each line is a session; --idle 60m merges lines of a user by time"]
    for log in (clicks.read_log(timed, idle="60m"), clicks.read_log(timed.assign(session=range(4)))):
        assert log.notes == []


def test_ignored_lists_and_clicks_get_a_warning() -> None:
    unjudged = pd.concat([LOG, LOG.iloc[:1].assign(shown=[["a", "z"]])])
    with pytest.warns(EvaluationWarning, match="not judged"):
        clicks.correlate(unjudged, QRELS, "err")
    twice = LOG.assign(clicks=[[1, 1], [2], [], [1]])
    for call in (clicks.observe, lambda log: clicks.fit(log, "rbp(p=0.5)")):
        with pytest.warns(EvaluationWarning) as caught:
            call(twice)
        assert "log: a second click on a rank counts once, in 1 session" in [str(warning.message) for warning in caught]


def test_a_log_without_clicks_has_no_perplexity_of_clicks() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = clicks.models(LOG.iloc[2:3], "dbn").frame
    assert frame.loc[(frame["measure"] == "per click"), "value"].isna().all()


def test_an_observation_takes_no_options() -> None:
    observed = clicks.observe(LOG)
    with pytest.raises(InputError, match="log: is observed already; leave out mu, ranks"):
        clicks.fit(observed, "rbp(p=0.5)", mu=0, ranks=9)


def test_a_model_predicts_sessions_with_lists_alone() -> None:
    model = clicks.models(LOG, "pbm", prior=[1, 2])["pbm"]
    assert model.predicts(LOG).ll_session == clicks.models(LOG, "pbm", prior=(1, 2)).predictions["pbm"].ll_session
    more = pd.concat([LOG, pd.DataFrame({"topic": ["q"], "clicks": [[1]]})])
    with pytest.warns(EvaluationWarning, match="1 session without a shown list left out"):
        assert model.predicts(more).sessions == 4
    with pytest.raises(InputError, match="no list is shown"):
        model.predicts(LOG.drop(columns="shown"))
    for prior in ([1, 2, 3], "a", {}):
        with pytest.raises(InputError, match=r"prior: .* is not a number"):
            clicks.models(LOG, "pbm", prior=prior)


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("dbn", {"gamma": [0.9]}, "'gamma' of dbn is not a number"),
        ("dbn", {"gamma": 0.5}, r"its name is dbn\(gamma=0.9\), and 'gamma' is 0.5; .* or the name dbn\(gamma=fit\)"),
        ("dbn", {"model": "dbn(gamma=0.5)"}, r"its name is dbn\(gamma=0.5\), and 'gamma' is 0.9"),
        ("pbm", {"examination": 0.5}, "'examination' of pbm is not a list of numbers, one for each rank"),
        ("ubm", {"examination": [1, 0.5]}, "'examination' of ubm is not a list of lists"),
        ("dcm", {"continuation": [[1], [0.5]]}, "'continuation' of dcm is not a list of numbers, one for each rank"),
    ],
)
def test_an_edited_model_must_be_valid(name: str, changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(json.loads(model_text(clicks.models(LOG, name)[name])) | changed))
    with pytest.raises(InputError, match=message):
        clicks.read_model(path)


def test_a_list_in_two_parts_of_the_log_is_counted_once() -> None:
    both = pd.concat([LOG.assign(kind="x"), LOG.assign(kind="y")])
    settings = clicks.correlate(both, QRELS, "err", by="kind").settings
    assert "| 3 topics | 4 configurations | 8 sessions | by kind" in settings


def test_lists_of_one_document_teach_no_continuation() -> None:
    with pytest.warns(EvaluationWarning, match=r"dbn\(gamma=fit\), ccm: no list of log has two ranks; .* are 0.5"):
        clicks.models(pd.DataFrame({"topic": ["q"], "clicks": ["1"], "shown": ["a"]}), "dbn(gamma=fit) ccm dbn")
