"""Objects query -> hits, response or record: read alike from a file and in Python, with those that returned nothing."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from support.commands import Command

HITS = {"red shoes": [("p3", 3.0), ("p1", 2.0)], "boots": [("b1", 1.5)], "gift": []}
JUDGED = {"red shoes": {"p1": 2, "p2": 1}, "boots": {"b1": 1}, "gift": {"g1": 1}}
AP = (0.25 + 1 + 0) / 3
"""By hand: p1 at rank 2 of two relevant documents, b1 at rank 1, nothing."""

Pairs = list[tuple[str, float]]


def engine(pairs: Pairs) -> Any:
    return [{"_index": "i", "_id": d, "_score": s, "_source": {"title": d, "id": "other"}} for d, s in pairs]


FORMS: dict[str, Any] = {
    "engine": engine,
    "slim": lambda pairs: [{"_id": d, "_score": s} for d, s in pairs],
    "id": lambda pairs: [{"id": d, "score": s} for d, s in pairs],
    "doc_id": lambda pairs: [{"doc_id": d, "score": s} for d, s in pairs],
    "docno": lambda pairs: [{"docno": d, "score": s, "rank": r} for r, (d, s) in enumerate(pairs, 1)],
    "pred": lambda pairs: [{"docno": d, "y_pred": s} for d, s in pairs],
    "worst first": lambda pairs: [{"id": d, "score": s} for d, s in reversed(pairs)],
    "without scores": lambda pairs: [{"sku": d, "title": "shoe"} for d, _ in pairs],
    "null scores": lambda pairs: [{"_id": d, "_score": None, "sort": [1]} for d, _ in pairs],
    "own topic": lambda pairs: [{"query": {"p": "red shoes", "b": "boots"}[d[0]], "id": d, "score": s}
                                for d, s in pairs],
    "response": lambda pairs: {"took": 3, "hits": {"total": {"value": 9}, "hits": engine(pairs)}},
    "hits first": lambda pairs: {"hits": {"hits": engine(pairs)}, "took": 3},
    "flat response": lambda pairs: {"took": 3, "hits": [{"id": d, "score": s} for d, s in pairs]},
    "record": lambda pairs: {"answer": "text", "retrieved": [d for d, _ in pairs]},
    "record of scores": lambda pairs: {"retrieved": dict(pairs), "expected": {"x": 1}},
    "pairs": lambda pairs: [[d, s] for d, s in pairs],
    "ids": lambda pairs: [d for d, _ in pairs],
    "object": dict,
    "object, or an empty list": lambda pairs: dict(pairs) or [],
}  # fmt: skip


def evaluated(source: Any, **options: Any) -> tuple[dict[str, float], list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        means = gradedeval.evaluate(source, JUDGED, "ap num_ret", **options).means
    return means, [str(warning.message) for warning in caught if warning.category is gradedeval.EvaluationWarning]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", [("red shoes", "boots", "gift"), ("gift", "red shoes", "boots")])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_loop_over_queries_is_a_run(form: str, order: tuple[str, ...], indent: int | None, tmp_path: Path) -> None:
    held = {query: FORMS[form](HITS[query]) for query in order}
    (tmp_path / "run.json").write_text(json.dumps(held, indent=indent))
    for source in (held, str(tmp_path / "run.json")):
        means, notes = evaluated(source)
        assert means == {"ap": pytest.approx(AP, abs=1e-15), "num_ret": 3}
        assert (
            sum("1 topic with relevant documents returned nothing (gift) and counts as" in note for note in notes) == 1
        )
        assert not any("missing" in note for note in notes)


def test_topics_without_relevant_documents_may_return_nothing() -> None:
    run = {"boots": [{"id": "b1", "score": 1.0}], "none": []}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gradedeval.evaluate(run, {"boots": {"b1": 1}, "none": {"n1": 0}}, "ap")
    assert not any("returned nothing" in str(warning.message) for warning in caught)


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_judgments_by_query_are_lists_of_documents(tmp_path: Path) -> None:
    run = {"1": {"d1": 2.0, "d2": 1.0}}
    for judged in (
        {"1": [{"_id": "d2", "rating": 2}, {"_id": "d1", "rating": 0}]},
        {"1": [{"docno": "d2", "score": 1}, {"docno": "d1", "score": 0}]},
        {"1": {"question": "q", "expected": ["d2"]}},
    ):
        (tmp_path / "qrels.json").write_text(json.dumps(judged))
        for source in (judged, str(tmp_path / "qrels.json")):
            assert gradedeval.evaluate(run, source, "rr").means == {"rr": 0.5}
    intents = {"1": [{"docno": "d2", "subtopic": "a", "grade": 1}, {"docno": "d2", "subtopic": "b", "grade": 1}]}
    found = gradedeval.evaluate(run, intents, "strec@1 strec@2", subtopics=True)
    assert found.means == {"strec@1": 0, "strec@2": 1}


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_named_runs_stay_apart() -> None:
    rows = [{"topic": "boots", "docno": "b1", "score": 1.0}]
    golden = [{"query": "boots", "retrieved": ["b1"]}]
    hits = {"boots": [{"id": "b1", "score": 1.0}]}
    for run in (rows, golden, hits, {"boots": FORMS["response"](HITS["boots"])}):
        means = gradedeval.evaluate({"old": run, "new": run}, JUDGED, "ap", topics="both").means_by_run
        assert means == {"old": {"ap": 1}, "new": {"ap": 1}}


def test_fields_of_hits_by_query_are_named(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run.json").write_text(
        '{"q": [{"key": "a", "cos": 0.5, "score": 1}, {"key": "b", "cos": 0.9, "score": 0}]}'
    )
    (tmp_path / "qrels").write_text("q 0 b 1\n")
    words = ("run.json", "qrels", "-m", "rr", "-f", "csv")
    done = cli(*words, "--run-format", "docno=key,score=cos")
    assert "rr,1.0" in done.text, done.messages
    refused = cli(*words, "--run-format", "docno=key,topic=@queries")
    assert (refused.code, len(refused.messages)) == (1, 1)


@pytest.mark.parametrize(
    ("held", "says"),
    [
        ({"q": [{"id": "a", "cosine": 0.5}]}, "lists documents without a score, but 'cosine' may be one; name it, as"),
        ({"q": [{"title": "a"}]}, "'q' lists a document without an id, only title"),
        ({"q": [{"query": "other", "docno": "a", "score": 1}]}, "holds records of other topics, such as 'other'"),
        ({"q": [{"id": "a", "score": 1}], "r": [{"id": "a"}]}, "some documents have scores and some have none"),
        ({"q": [{"id": "a", "score": 1}], "r": 5}, "holds JSON in an unknown layout"),
        ({"q": {"hits": {"hits": []}}, "r": {"error": {}, "status": 400}}, "response to a search that failed"),
        ({"q": {"error": {"type": "x"}, "status": 400}}, "response to a search that failed"),
        ({"q": {"retrieved": ["a"]}, "r": {"answer": "b"}}, "no list of results (retrieved, results"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_an_object_by_query_is_one_line(held: Any, says: str, tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run.json").write_text(json.dumps(held))
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    refused = cli("run.json", "qrels", "-m", "ap")
    assert (refused.code, len(refused.messages)) == (1, 1)
    assert says in refused.messages[0]


@pytest.mark.parametrize("form", ["msearch", "lines"])
def test_responses_without_queries_ask_for_a_file_of_queries(form: str, tmp_path: Path, cli: Command) -> None:
    responses = [FORMS["response"](HITS[query]) for query in HITS]
    text = json.dumps({"responses": responses}) if form == "msearch" else "\n".join(map(json.dumps, responses))
    (tmp_path / "run.json").write_text(text)
    (tmp_path / "qrels.json").write_text(json.dumps(JUDGED))
    refused = cli("run.json", "qrels.json", "-m", "ap")
    assert refused.code == 1
    assert "run.json: does not name its queries, so they are numbered (1, 2, …), and" in refused.messages[0]
    assert refused.messages[0].endswith("and add --run-format topic=@queries.txt")
    with pytest.raises(gradedeval.InputError, match=r'and add run_format="topic=@queries\.txt"'):
        gradedeval.evaluate(responses, JUDGED, "ap")
    (tmp_path / "queries.txt").write_text("".join(f"{query}\n" for query in HITS))
    assert evaluated("run.json", run_format=f"topic=@{tmp_path / 'queries.txt'}")[0]["ap"] == pytest.approx(AP)


@pytest.mark.parametrize("word", ["msearch", "hits", "run-format"])
def test_help_leads_to_the_file_of_queries(word: str, cli: Command) -> None:
    assert "topic=@FILE" in " ".join(cli("help", word).text.split())
