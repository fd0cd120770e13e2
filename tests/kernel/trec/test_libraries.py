"""Read the files of libraries for retrieval, and print their figures. The files and figures are of

- ragas 0.4.3: EvaluationDataset, IDBasedContextPrecision, IDBasedContextRecall;
- LlamaIndex: RetrieverEvaluator of llama-index-core 0.14.25, EmbeddingQAFinetuneDataset of llama-index-finetuning
  0.4.2;
- sentence-transformers 6.2.0: InformationRetrievalEvaluator;
- MTEB 2.26.24: AbsTaskRetrieval, its scores rounded to five places.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gradedeval
from support.commands import Command

SOUTH, EAT, SLEEP = "when do flocks fly south?", "what do owls eat?", "how long do swifts sleep?"


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def means(cli: Command, run: Path, qrels: Path, measures: str, *words: str) -> dict[str, float]:
    done = cli(str(run), str(qrels), "-m", measures, "-f", "csv", *words)
    assert done.code == 0, done.messages
    rows = [line.split(",") for line in done.text.splitlines()[1:]]
    return {row[2]: float(row[3]) for row in rows if row[1] == "all"}


# ragas ------------------------------------------------------------------------------------------------------------

RAGAS = [
    {"user_input": SOUTH, "retrieved_contexts": ["In autumn.", "An owl's\ncall."], "retrieved_context_ids": ["geese-3",
     "owls-1"], "reference_context_ids": ["geese-3", "geese-7"], "response": "in autumn", "reference": "in autumn"},
    {"user_input": EAT, "retrieved_contexts": ["c", "d", "e"], "retrieved_context_ids": ["geese-7", "owls-1", "owls-2"],
     "reference_context_ids": ["owls-2"], "response": "mice", "reference": "mice"},
    {"user_input": SLEEP, "retrieved_contexts": ["x"], "retrieved_context_ids": [41], "reference_context_ids": [41, 42],
     "response": "never", "reference": "?"},
]  # fmt: skip
RAGAS_CSV = """\
user_input,retrieved_contexts,retrieved_context_ids,reference_context_ids,response,reference
when do flocks fly south?,"['In autumn.', ""An owl's\\ncall.""]","['geese-3', 'owls-1']","['geese-3', 'geese-7']",\
in autumn,"in
autumn"
what do owls eat?,"['c', 'd', 'e']","['geese-7', 'owls-1', 'owls-2']",['owls-2'],mice,mice
how long do swifts sleep?,['x'],[41],"[41, 42]",never,?
"""
BY_ID = {"set_p": (0.5 + 1 / 3 + 1) / 3, "set_recall": (0.5 + 1 + 0.5) / 3}


def texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with ids as text, as Parquet needs them."""
    lists = [name for name in frame.columns if name.endswith("_ids")]
    return frame.assign(**{name: frame[name].map(lambda ids: [*map(str, ids)]) for name in lists})


WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "to_jsonl": lambda _, path: path.write_text(lines(RAGAS)),
    "to_csv": lambda _, path: path.write_text(RAGAS_CSV),
    "pandas, lines": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    **{
        f"pandas, {orient}": lambda frame, path, orient=orient: frame.to_json(path, orient=orient)
        for orient in ("records", "columns", "index", "split", "table")
    },
    "pandas, CSV": lambda frame, path: frame.to_csv(path, index=False),
    "pandas, CSV with an index": lambda frame, path: frame.to_csv(path),
    "pandas, CSV with semicolons": lambda frame, path: frame.to_csv(path, sep=";"),
    "pandas, TSV": lambda frame, path: frame.to_csv(path, sep="\t"),
    "JSON in CSV": lambda frame, path: frame.map(
        lambda cell: json.dumps(cell) if isinstance(cell, list) else cell
    ).to_csv(path),
    "pandas, Parquet": lambda frame, path: texts(frame).to_parquet(path),
    "pandas, Feather": lambda frame, path: texts(frame).to_feather(path),
}


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("writer", WRITERS)
def test_a_dataset_of_ragas_has_its_figures(writer: str, tmp_path: Path, cli: Command) -> None:
    if writer.split(" ")[-1] in ("Parquet", "Feather"):
        pytest.importorskip("pyarrow")
    file = tmp_path / "ragas"
    WRITERS[writer](pd.DataFrame(RAGAS), file)
    assert means(cli, file, file, "set_p set_recall") == pytest.approx(BY_ID)
    assert means(cli, file, file, "set_p set_recall", "--lenient") == pytest.approx(BY_ID)
    assert cli("lint", str(file), "--qrels", str(file)).code == 0
    changes = cli("diff", str(file), str(file), str(file), "-m", "set_p").text
    assert "3 topics: 0 worse, 0 better, 3 equal" in changes
    assert gradedeval.evaluate(str(file), str(file), "set_p").means == pytest.approx({"set_p": BY_ID["set_p"]})


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("form", ["to_pandas", "to_list", "read_csv", "read_parquet", "arrow"])
def test_a_dataset_of_ragas_is_read_in_python(form: str, tmp_path: Path) -> None:
    frame: Any = pd.DataFrame(RAGAS)
    if form == "to_list":
        frame = RAGAS
    elif form == "read_csv":
        (tmp_path / "ragas.csv").write_text(RAGAS_CSV)
        frame = pd.read_csv(tmp_path / "ragas.csv")
    elif form != "to_pandas":
        parquet = pytest.importorskip("pyarrow.parquet")
        texts(frame).to_parquet(tmp_path / "ragas.parquet")
        frame = {"arrow": parquet.read_table, "read_parquet": pd.read_parquet}[form](tmp_path / "ragas.parquet")
    assert gradedeval.evaluate(frame, frame, ["set_p", "set_recall"]).means == pytest.approx(BY_ID)


def test_without_results_or_references_ragas_has_no_number(tmp_path: Path, cli: Command) -> None:
    """Count precision without results and recall without references as 0; for ragas they are nan, and left out of
    means."""
    more = [
        {"user_input": "a", "retrieved_context_ids": [], "reference_context_ids": ["x"]},
        {"user_input": "b", "retrieved_context_ids": ["x"], "reference_context_ids": []},
    ]
    (tmp_path / "ragas.jsonl").write_text(lines([*RAGAS, *more]))
    file = tmp_path / "ragas.jsonl"
    assert means(cli, file, file, "set_p set_recall") == pytest.approx({name: 3 * BY_ID[name] / 5 for name in BY_ID})
    values = means(cli, file, file, "set_p set_recall", "--topics", "relevant")
    assert values["set_recall"] == pytest.approx((0.5 + 1 + 0.5 + 0) / 4)  # its mean


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("['a' 'b']", "FILE:2: 'expected' is text, not a list of ids"),  # of NumPy: Python would read 'ab'
        ("a", "FILE:2: 'expected' is text, not a list of ids"),
        ("", "FILE:2: 'expected' is text, not a list of ids"),
        ('"[a, b]"', "FILE:2: 'expected' is text, not a list of ids"),
        ('"{""a"": 1, ""a"": 2}"', "FILE:2: 'expected' is text, not a list of ids"),
        ("[0.5]", "'expected' lists a number: 0.5"),
        ("\"{'a': 1, 'a': 2}\"", "FILE:2: 'expected' is text, not a list of ids"),
        ("['a'", "FILE:2: 'expected' is text, not a list of ids"),
        ("['a'],['b'],['c']", "FILE:2: 4 fields, expected 3"),
    ],
)
def test_a_cell_that_is_not_a_list_is_refused(cell: str, says: str, tmp_path: Path, cli: Command) -> None:
    columns = f"{cell},['a']" if cell.count("[") < 3 else cell
    (tmp_path / "FILE").write_text(f"question,expected,retrieved\nx,{columns}\ny,['a'],['b']\n")
    refused = cli("FILE", "FILE", "-m", "rr")
    assert refused.code == 1
    assert [says in message for message in refused.messages] == [True], refused.messages
    output = cli("FILE", "FILE", "-m", "rr", "--lenient")
    assert output.code == 0
    assert any("skipped 1 bad line, the first on line 2" in message for message in output.messages), output.messages


def test_columns_of_lists_with_other_names_are_named(tmp_path: Path, cli: Command) -> None:
    table = pd.DataFrame([{"ask": row["user_input"], "found": row["retrieved_context_ids"],
                           "right": row["reference_context_ids"]} for row in RAGAS])  # fmt: skip
    options = {"run_format": "topic=ask,documents=found", "qrels_format": "topic=ask,documents=right"}
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    for write in (table.to_csv, table.to_json, texts(table).to_json):
        write(tmp_path / "table")
        assert means(cli, tmp_path / "table", tmp_path / "table", "set_p", *words)["set_p"] == pytest.approx(11 / 18)
    qrels = gradedeval.Qrels(table, format=options["qrels_format"])
    with pytest.warns(gradedeval.EvaluationWarning):
        scores = gradedeval.evaluate(table, qrels, "set_p", run_format=options["run_format"])
    assert scores.means["set_p"] == pytest.approx(11 / 18)


# LlamaIndex -------------------------------------------------------------------------------------------------------

EXPECTED = {SOUTH: ["geese-3", "geese-7"], EAT: ["owls-2"], SLEEP: ["swifts-1", "swifts-4", "swifts-5"]}
RETRIEVED = {SOUTH: ["geese-3", "owls-1"], EAT: ["geese-7", "owls-1", "owls-2"], SLEEP: ["owls-1", "swifts-4"]}
RESULTS = [
    {"query": query, "expected_ids": ids, "expected_texts": None, "retrieved_ids": RETRIEVED[query],
     "retrieved_texts": ["…"] * len(RETRIEVED[query]), "mode": "text",
     "metric_dict": {"hit_rate": {"score": 1.0, "metadata": {}}}}
    for query, ids in EXPECTED.items()
]  # fmt: skip
LLAMAINDEX = {
    "hit_rate": [1.0, 1.0, 1.0],
    "mrr": [1.0, 0.3333333333333333, 0.5],
    "precision": [0.5, 0.3333333333333333, 0.5],
    "recall": [0.5, 1.0, 0.3333333333333333],
    "ap": [0.5, 0.3333333333333333, 0.16666666666666666],
    "ndcg": [0.6131471927654584, 0.5, 0.2960819109658652],
}


@pytest.mark.parametrize("form", ["lines", "list"])
def test_results_of_llamaindex_have_its_figures(form: str, tmp_path: Path, cli: Command) -> None:
    file = tmp_path / "results"
    file.write_text(lines(RESULTS) if form == "lines" else json.dumps(RESULTS))
    done = cli(str(file), str(file), "-m", " ".join(LLAMAINDEX), "-q", "-f", "csv")
    rows = [line.split(",") for line in done.text.splitlines()[1:]]
    of_topics = {name: [float(row[3]) for row in rows if row[2] == name and row[1] != "all"] for name in LLAMAINDEX}
    assert of_topics == {name: pytest.approx(values) for name, values in LLAMAINDEX.items()}


def test_a_dataset_of_llamaindex_and_its_nodes_are_read(tmp_path: Path, cli: Command) -> None:
    ids = dict(zip(EXPECTED, ("6f1a", "77c0", "b2d9"), strict=True))
    dataset = {
        "queries": {topic: query for query, topic in ids.items()},
        "corpus": {"geese-3": "…"},
        "relevant_docs": {ids[query]: docnos for query, docnos in EXPECTED.items()},
        "mode": "text",
    }
    nodes = [
        {"id": ids[query], "retrieved": [
            {"node": {"id_": docno, "embedding": None, "metadata": {}, "text": "…", "class_name": "TextNode"},
             "score": 1 - rank / 10, "class_name": "NodeWithScore"} for rank, docno in enumerate(docnos)]}
        for query, docnos in RETRIEVED.items()
    ]  # fmt: skip
    (tmp_path / "dataset.json").write_text(json.dumps(dataset, indent=4))
    (tmp_path / "nodes.jsonl").write_text(lines(nodes))
    values = means(cli, tmp_path / "nodes.jsonl", tmp_path / "dataset.json", "mrr ndcg")
    assert values == pytest.approx({name: sum(LLAMAINDEX[name]) / 3 for name in ("mrr", "ndcg")})


# sentence-transformers --------------------------------------------------------------------------------------------

IDS = {"q1": SOUTH, "q2": EAT, "q3": SLEEP}
PREDICTED = {
    "q1": {"geese-3": 0.9, "owls-1": 0.8, "owls-2": 0.4, "swifts-4": 0.3},
    "q2": {"geese-3": 0.7, "owls-1": 0.6, "owls-2": 0.5, "swifts-1": 0.3},
    "q3": {"owls-1": 0.75, "swifts-4": 0.65, "swifts-1": 0.45, "geese-3": 0.35},
}
TIED = {**PREDICTED, "q2": {**PREDICTED["q2"], "owls-1": 0.5}, "q3": {**PREDICTED["q3"], "owls-1": 0.65}}
EVALUATOR = {
    "birds_cosine_accuracy@1": 0.3333333333333333,
    "birds_cosine_accuracy@2": 0.6666666666666666,
    "birds_cosine_precision@2": 0.3333333333333333,
    "birds_cosine_precision@4": 0.3333333333333333,
    "birds_cosine_recall@2": 0.27777777777777773,
    "birds_cosine_recall@4": 0.7222222222222222,
    "birds_cosine_ndcg@3": 0.5479561555809006,
    "birds_cosine_ndcg@4": 0.5479561555809006,
    "birds_cosine_mrr@4": 0.611111111111111,
    "birds_cosine_map@2": 0.25,
    "birds_cosine_map@4": 0.4074074074074074,
}


@pytest.mark.parametrize(
    ("predicted", "ties"), [(PREDICTED, ()), (TIED, ("--ties", "docno-asc")), (TIED, ("--ties", "file"))]
)
def test_predictions_of_sentence_transformers_have_its_figures(
    predicted: dict[str, dict[str, float]], ties: tuple[str, ...], tmp_path: Path, cli: Command
) -> None:
    """Break ties by ascending ids on request, as it does; the default is descending."""
    records = [
        {"query_id": topic, "query": query, "results": [{"corpus_id": docno, "score": score}
         for docno, score in predicted[topic].items()]} for topic, query in IDS.items()
    ]  # fmt: skip
    relevant = {topic: EXPECTED[query] for topic, query in IDS.items()}
    (tmp_path / "predictions.jsonl").write_text(lines(records))
    (tmp_path / "golden.json").write_text(json.dumps({"queries": IDS, "corpus": {}, "relevant_docs": relevant}))
    files = tmp_path / "predictions.jsonl", tmp_path / "golden.json"
    assert means(cli, *files, " ".join(EVALUATOR), *ties) == pytest.approx(EVALUATOR)
    if ties:
        assert means(cli, *files, "birds_cosine_mrr@4")["birds_cosine_mrr@4"] == pytest.approx(5 / 6)


# MTEB -------------------------------------------------------------------------------------------------------------

MTEB = {
    "ndcg_at_1": 0.16667, "ndcg_at_3": 0.51064, "ndcg_at_5": 0.51064,
    "map_at_1": 0.16667, "map_at_3": 0.46296, "map_at_5": 0.46296,
    "recall_at_1": 0.16667, "recall_at_3": 0.72222, "recall_at_5": 0.72222,
    "precision_at_1": 0.33333, "precision_at_3": 0.44444, "precision_at_5": 0.26667,
    "mrr_at_1": 0.3333333333333333, "mrr_at_3": 0.6666666666666666, "mrr_at_5": 0.6666666666666666,
    "hit_rate_at_1": 0.33333, "hit_rate_at_3": 1.0, "hit_rate_at_5": 1.0,
    "r_cap_at_1": 1 / 3, "r_cap_at_3": (0.5 + 1 + 2 / 3) / 3,
}  # fmt: skip


def test_predictions_of_mteb_have_its_figures(tmp_path: Path, cli: Command) -> None:
    """Check a tie in topic q2, and grades up to 2, whose gains are the grades."""
    predicted = {**PREDICTED, "q2": TIED["q2"]}
    document = {"mteb_model_meta": {"model_name": "me/birds", "revision": "1"}, "default": {"test": predicted}}
    judged = {"q1": {"geese-3": 1, "geese-7": 2}, "q2": {"owls-2": 1, "owls-1": 0},
              "q3": {"swifts-1": 2, "swifts-4": 1, "swifts-5": 1}}  # fmt: skip
    (tmp_path / "BirdRetrieval_predictions.json").write_text(json.dumps(document))
    (tmp_path / "qrels.json").write_text(json.dumps(judged))
    values = means(cli, tmp_path / "BirdRetrieval_predictions.json", tmp_path / "qrels.json", " ".join(MTEB))
    assert values == pytest.approx(MTEB, abs=5e-6)


@pytest.mark.parametrize(
    ("subsets", "says"),
    [
        ({"en-fr": {"test": PREDICTED}, "fr": {"test": TIED}}, "2 subsets or splits: en-fr, fr"),
        ({"default": {"dev": PREDICTED, "test": TIED}}, "2 subsets or splits: dev, test"),
        ({"en-fr": {"dev": PREDICTED, "test": TIED}, "fr": {"test": TIED}}, "2 subsets or splits: en-fr, fr"),
    ],
)
def test_one_of_several_subsets_of_mteb_is_selected_as_in_the_message(
    subsets: dict[str, Any], says: str, tmp_path: Path, cli: Command
) -> None:
    document: Any = {"mteb_model_meta": {"model_name": "me/birds", "revision": "1"}, **subsets}
    (tmp_path / "several.json").write_text(json.dumps(document))
    (tmp_path / "qrels.txt").write_text("q1 0 geese-3 1\nq2 0 owls-2 1\n")
    refused = cli("several.json", "qrels.txt", "-m", "rr")
    assert refused.code == 1
    assert [says in message for message in refused.messages] == [True]
    for name in re.findall(r'\["(.*?)"\]', refused.messages[0]):  # as jq does
        document = document[name]
    (tmp_path / "one.json").write_text(json.dumps(document))
    assert means(cli, tmp_path / "one.json", tmp_path / "qrels.txt", "rr") == {"rr": pytest.approx((1 + 1 / 3) / 2)}
