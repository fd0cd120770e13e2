"""Define the shapes of JSON: how the records of a tool name topics, documents, scores and grades.

Recognition, refusals and the reference page go by `SHAPES`: to read another shape, add an entry, and its name to
`lines.FORMATS`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

BOTH = ("run", "qrels")

# Names of the fields of records, beside those of columns (`file_formats.COLUMNS`).

TOPIC_IDS = ("question_id", "id", "_id")
"""The id of a record that lists documents; without one, its query is the topic."""

DOCUMENT_IDS = ("node_id", "id", "_id", "hit._id", "node.id_")
"""The id of a listed document. A dot leads into an object."""

EXPECTED = (
    *("expected", "relevant", "relevant_docs", "expected_ids", "relevant_ids", "ground_truth_ids"),
    *("reference_context_ids", "expected_docs", "expected_documents", "expected_doc_ids", "expected_document_ids"),
    *("expected_chunk_ids", "expected_context_ids", "relevant_documents", "relevant_doc_ids", "relevant_document_ids"),
    *("relevant_chunk_ids", "relevant_passage_ids", "gold", "gold_ids", "gold_docs", "gold_documents", "gold_doc_ids"),
    *("gold_document_ids", "gold_chunk_ids", "ground_truth_docs", "ground_truth_doc_ids", "ground_truth_document_ids"),
    *("ground_truth_chunk_ids", "positive_ids", "positive_docs", "positive_doc_ids", "positive_chunk_ids"),
    "positive_passages",
)
RETRIEVED = (
    *("retrieved", "results", "retrieved_ids", "retrieved_context_ids", "retrieved_docs", "retrieved_documents"),
    *("retrieved_doc_ids", "retrieved_document_ids", "retrieved_chunk_ids", "retrieved_passage_ids", "result_ids"),
    "hit_ids",
)
"""Names such as `doc_ids`, `chunk_ids` or `hits` are of either kind, or of something else: the user names those."""

RESPONSE = ("hits.hits", "response.hits.hits", "hits")
"""The hits of a response."""

SCORES = ("similarity", "_score", "hit._score")
"""The score of a listed document."""

Layout = Literal["lists", "topics", "table", "rows"]
"""lists: records with a topic and its documents. topics: an object topic -> documents, or -> a record of them. table: a
table of pandas. rows: a record for each document."""


class Shape(NamedTuple):
    """A shape of records.

    name     its name in the signature and in --run-format
    holds    run, qrels or both
    layout   where the topics are
    meaning  what it is, for the reference page
    example  a file of two topics: of a run, or of judgments
    made_by  one line that writes it
    inside   the path of the records in a document; `*` is any name that `needs` does not list
    needs    names that the document has besides
    run      names of a list of results
    qrels    names of a list of judged documents
    counted  whether topics without a name are numbered from 1, or listed in a file
    format   the name of its format, if it is one of several shapes of it
    """

    name: str
    holds: tuple[str, ...]
    layout: Layout
    meaning: str
    example: str
    made_by: str
    inside: str = ""
    needs: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    qrels: tuple[str, ...] = ()
    counted: bool = False
    format: str = ""

    def documents(self, kind: str) -> tuple[str, ...]:
        """Return the names of the list of documents of a run or of qrels."""
        return self.run if kind == "run" else self.qrels


SHAPES = (
    Shape(
        "golden", BOTH, "lists",
        "a record for each query, with the documents expected, retrieved, or both",
        '{"question": "red shoes", "expected": ["d1", "d2"], "retrieved": ["d2", "d7"]}\n'
        '{"question": "boots", "expected": {"d4": 2}, "retrieved": ["d4"]}',
        '`print(json.dumps({"question": q, "expected": ids, "retrieved": found}), file=f)`; of ragas '
        "`EvaluationDataset.to_jsonl(path)` or `to_csv(path)`; of LlamaIndex, for each result, "
        "`print(r.model_dump_json(), file=f)`",
        run=RETRIEVED, qrels=EXPECTED,
    ),
    Shape(
        "hits", ("run",), "lists",
        "responses of Elasticsearch or OpenSearch: of one search, of `_msearch`, or one in each line (`topic=@FILE` "
        "names their queries); "
        "`hits` may be a flat list of objects with `id` and `score`",
        '{"responses": [{"hits": {"hits": [{"_id": "d2", "_score": 7.5}, {"_id": "d7", "_score": 3.25}]}}, '
        '{"hits": {"hits": [{"_id": "d4", "_score": 1.5}]}}]}',
        "curl -s HOST:9200/INDEX/_msearch -H 'Content-Type: application/x-ndjson' --data-binary @searches > hits.json",
        inside="responses", run=RESPONSE, counted=True,
    ),
    Shape(
        "rank_eval", ("qrels",), "lists",
        "a request of Elasticsearch or OpenSearch to `_rank_eval`",
        '{"requests": [{"id": "1", "ratings": [{"_index": "i", "_id": "d1", "rating": 1}, '
        '{"_index": "i", "_id": "d2", "rating": 1}]}, {"id": "2", "ratings": [{"_index": "i", "_id": "d4", '
        '"rating": 2}]}], "metric": {"dcg": {}}}',
        "curl -s HOST:9200/INDEX/_rank_eval --data-binary @ratings.json",
        inside="requests", qrels=("ratings",),
    ),
    Shape(
        "judgments", ("qrels",), "lists",
        "a list of judgments of OpenSearch's search relevance",
        '{"name": "j", "type": "IMPORT_JUDGMENT", "judgmentRatings": [{"query": "1", "ratings": '
        '[{"docId": "d1", "rating": "1.0"}, {"docId": "d2", "rating": "1.0"}]}, {"query": "2", "ratings": '
        '[{"docId": "d4", "rating": "2.0"}]}]}',
        "curl -s HOST:9200/_plugins/_search_relevance/judgments/ID | jq '.hits.hits[0]._source'",
        inside="judgmentRatings", qrels=("ratings",),
    ),
    Shape(
        "rated_hits", ("run",), "topics",
        "a response of Elasticsearch or OpenSearch to `_rank_eval`; its ratings are of the hits alone",
        '{"metric_score": 0.5, "details": {"1": {"hits": [{"hit": {"_id": "d2", "_score": 7.5}, "rating": 1}, '
        '{"hit": {"_id": "d7", "_score": 3.25}, "rating": null}]}, "2": {"hits": [{"hit": {"_id": "d4", '
        '"_score": 1.5}, "rating": 2}]}}}',
        "curl -s HOST:9200/INDEX/_rank_eval --data-binary @ratings.json > rated.json",
        inside="details", needs=("metric_score",), run=("hits",),
    ),
    Shape(
        "evaluator", ("qrels",), "topics",
        "queries, corpus and relevant documents, as sentence-transformers' InformationRetrievalEvaluator takes them "
        "and LlamaIndex' EmbeddingQAFinetuneDataset saves them",
        '{"queries": {"1": "red shoes", "2": "boots"}, "corpus": {"d1": "…"}, '
        '"relevant_docs": {"1": ["d1", "d2"], "2": {"d4": 2}}}',
        '`json.dump({"queries": queries, "corpus": corpus, "relevant_docs": {q: list(d) for q, d in '
        "relevant_docs.items()}}, f)`; of LlamaIndex `dataset.save_json(path)`",
        inside="relevant_docs", needs=("queries",),
    ),
    Shape(
        "mteb", ("run",), "topics",
        "predictions of MTEB, of one subset and split",
        '{"mteb_model_meta": {"model_name": "m", "revision": "1"}, "default": {"test": {"1": {"d2": 7.5, '
        '"d7": 3.25}, "2": {"d4": 1.5}}}}',
        'mteb.evaluate(model, task, prediction_folder="predictions")',
        inside="*.*", needs=("mteb_model_meta",),
    ),
    Shape(
        "split", BOTH, "table", "a table of pandas, with the names of its columns first",
        '{"columns": ["topic", "docno", "score"], "data": [["1", "d2", 7.5], ["1", "d7", 3.25], ["2", "d4", 1.5]]}',
        'frame.to_json(path, orient="split")', needs=("columns", "data"), format="json",
    ),
    Shape(
        "table", BOTH, "table", "a table of pandas, with a schema",
        '{"schema": {"fields": []}, "data": [{"topic": "1", "docno": "d2", "score": 7.5}, '
        '{"topic": "1", "docno": "d7", "score": 3.25}, {"topic": "2", "docno": "d4", "score": 1.5}]}',
        'frame.to_json(path, orient="table", index=False)', needs=("schema", "data"), format="json",
    ),
    Shape(
        "index", BOTH, "table", "a table of pandas, by row",
        '{"0": {"topic": "1", "docno": "d2", "score": 7.5}, "1": {"topic": "1", "docno": "d7", "score": 3.25}, '
        '"2": {"topic": "2", "docno": "d4", "score": 1.5}}',
        'frame.to_json(path, orient="index")', format="json",
    ),
    Shape(
        "columns", BOTH, "table", "a table of pandas, by column",
        '{"topic": {"0": "1", "1": "1", "2": "2"}, "docno": {"0": "d2", "1": "d7", "2": "d4"}, '
        '"score": {"0": 7.5, "1": 3.25, "2": 1.5}}',
        "frame.to_json(path)", format="json",
    ),
    Shape(
        "rows", BOTH, "rows", "a record for each document, in a list or in lines",
        '{"topic": "1", "docno": "d2", "score": 7.5}\n{"topic": "1", "docno": "d7", "score": 3.25}\n'
        '{"topic": "2", "docno": "d4", "score": 1.5}',
        'frame.to_json(path, orient="records", lines=True)', format="jsonl",
    ),
    Shape(
        "keyed_responses", ("run",), "topics", "an object query → response of Elasticsearch or OpenSearch",
        '{"red shoes": {"took": 3, "hits": {"hits": [{"_id": "d2", "_score": 7.5}, {"_id": "d7", "_score": 3.25}]}}, '
        '"boots": {"took": 2, "hits": {"hits": [{"_id": "d4", "_score": 1.5}]}}}',
        '`json.dump({q: client.search(index="INDEX", q=q).body for q in queries}, f)`',
        run=RESPONSE, format="hits",
    ),
    Shape(
        "keyed_golden", BOTH, "topics", "an object query → record of the documents expected, retrieved, or both",
        '{"red shoes": {"expected": ["d1", "d2"], "retrieved": ["d2", "d7"]}, '
        '"boots": {"expected": {"d4": 2}, "retrieved": ["d4"]}}',
        '`json.dump({q: {"expected": ids[q], "retrieved": found[q]} for q in queries}, f)`',
        run=RETRIEVED, qrels=EXPECTED, format="golden",
    ),
    Shape(
        "documents", BOTH, "topics", "an object query → list of documents with an id, such as hits",
        '{"red shoes": [{"id": "d2", "score": 7.5}, {"id": "d7", "score": 3.25}], '
        '"boots": [{"id": "d4", "score": 1.5}]}',
        '`json.dump({q: client.search(index="INDEX", q=q)["hits"]["hits"] for q in queries}, f)`', format="json",
    ),
    Shape(
        "nested", BOTH, "topics", "topic → docno → number, or topic → docnos",
        '{"1": {"d2": 7.5, "d7": 3.25}, "2": {"d4": 1.5}}',
        "json.dump(run, f)", format="json",
    ),
)  # fmt: skip
"""All shapes, in the order of recognition."""

SHAPE_NAMES = tuple(shape.name for shape in SHAPES if not shape.format)
"""Shapes that are formats of their own: the topics list documents."""
