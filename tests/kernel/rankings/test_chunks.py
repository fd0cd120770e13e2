"""Chunks folded into documents, compared to a slow program, for all forms of runs and judgments."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval.errors import InputError
from gradedeval.kernel import parallel
from gradedeval.kernel.options import metadata
from gradedeval.kernel.options.metadata import Collapse
from gradedeval.kernel.parallel import Limits
from gradedeval.kernel.rankings import chunks as folding
from gradedeval.kernel.rankings.chunks import cut_lengths, leaders
from gradedeval.kernel.rankings.docnos import Docnos
from gradedeval.kernel.trec.small_tables import SmallTable

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")

MEASURES = "ndcg err@3 ap num_ret num_rel_ret rr"
TIES = ("docno-desc", "docno-asc", "file", "rank", "best", "worst", "average")
Line = tuple[str, str, int, float]
"""Topic, chunk, rank and score."""


def drawn_run(draw: random.Random, separator: str) -> list[Line]:
    """Return a run with few documents, many ties, and docnos with none, one or several separators."""
    lines = []
    for topic in range(draw.randint(1, 3)):
        names = [f"d{draw.choice(('', separator))}{number}" for number in range(draw.randint(1, 5))]
        names += [separator, f"{separator}x"]
        ids = {f"{draw.choice(names)}{draw.choice((separator, ''))}{draw.choice(('', '1', '22'))}" for _ in range(12)}
        ids = {name + draw.choice(("", "-longer-than-eight-bytes")) for name in ids} - {""}
        listed = draw.sample(sorted(ids), len(ids))
        scores = [draw.choice((0.5, 0.25, 0.1, 0.10000000001, 2.0)) for _ in listed]
        if draw.random() < 0.5:
            scores.sort(reverse=True)
        ranks = draw.sample(range(1, len(listed) + 1), len(listed))
        lines += [(f"q{topic}", name, rank, score) for name, rank, score in zip(listed, ranks, scores, strict=True)]
    return lines


def document_of(chunk: str, separator: str) -> str:
    head, mark, _ = chunk.rpartition(separator)
    return head if mark and head else chunk


def single(score: float) -> float:
    return float(struct.unpack("f", struct.pack("f", score))[0])


def fold_slowly(lines: list[Line], separator: str, options: dict[str, Any]) -> list[Line]:
    """Return the lines of documents: the best chunk of each by score; the whole ranking, as it is, by `first`."""
    order, ties, by = options["order"], options["ties"], options["collapse_by"]
    result: list[Line] = []
    for topic in dict.fromkeys(line[0] for line in lines):
        listed = [line for line in lines if line[0] == topic]

        def worth(line: Line) -> float:
            return {"score": line[3], "float32": single(line[3]), "rank": -line[2], "file": 0.0}[order]

        ranking = list(listed)
        if ties in ("docno-desc", "docno-asc") and by == "first" and order != "file":
            ranking.sort(key=lambda line: line[1].encode(), reverse=ties == "docno-desc")
        if ties == "rank" and order != "file":
            ranking.sort(key=lambda line: line[2])
        ranking.sort(key=worth, reverse=True)
        best: dict[str, Line] = {}
        for line in ranking:
            best.setdefault(document_of(line[1], separator), line)
        if by == "first" and ties in ("docno-desc", "docno-asc"):
            names = list(best)
            result += [(topic, name, rank, float(-rank)) for rank, name in enumerate(names, 1)]
            continue
        for name, line in sorted(best.items(), key=lambda item: listed.index(item[1])):
            result.append((topic, name, line[2], line[3]))
    return result


def text(lines: list[Line]) -> str:
    return "".join(f"{topic} Q0 {name} {rank} {score!r} t\n" for topic, name, rank, score in lines)


def interleave(lines: list[Line]) -> list[Line]:
    """Return the lines with topics in turn, each in its order."""
    by_topic = {topic: [line for line in lines if line[0] == topic] for topic in dict.fromkeys(row[0] for row in lines)}
    longest = max(map(len, by_topic.values()))
    return [rows[index] for index in range(longest) for rows in by_topic.values() if index < len(rows)]


def drawn_options(draw: random.Random) -> dict[str, Any]:
    by = draw.choice(("score", "first"))
    ties = draw.choice([name for name in TIES if by == "score" or name != "average"])
    order = draw.choice(("score", "float32", "rank", "file"))
    return {"ties": ties, "order": "score" if ties == "average" else order, "collapse_by": by}


def scores_of(run: Any, qrels: Any, **options: Any) -> list[tuple[Any, ...]]:
    scores = gradedeval.evaluate(run, qrels, MEASURES, topics="run", **options)
    return [tuple(row) for row in scores.frame.drop(columns=["run", "signature"]).itertuples(index=False)]


def expected(lines: list[Line], separator: str, qrels: Any, options: dict[str, Any], path: Path) -> Any:
    """Return the scores of the run folded slowly; by its new scores if it is a ranking already."""
    ranked = options["collapse_by"] == "first" and options["ties"] in ("docno-desc", "docno-asc")
    path.write_text(text(fold_slowly(lines, separator, options)))
    order = {"order": "file"} if ranked else {"order": options["order"], "ties": options["ties"]}
    return scores_of(path, qrels, **order)


def judgments_of(lines: list[Line], separator: str, draw: random.Random) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for topic, name, _, _ in lines:
        judged.setdefault(topic, {"nowhere": 1})
        if draw.random() < 0.7:
            judged[topic][document_of(name, separator)] = draw.randint(0, 3)
    return judged


def cases(count: int) -> Iterator[tuple[random.Random, str, list[Line], dict[str, Any]]]:
    for seed in range(count):
        draw = random.Random(seed)
        separator = draw.choice(("#", "_", "::", "-", "/", "é", "abcabcabc"))
        yield draw, separator, drawn_run(draw, separator), drawn_options(draw)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("count", [15, pytest.param(500, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("block", [1, 1 << 21])
def test_folded_runs_equal_a_slow_program(
    block: int, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "LIMITS", Limits(block=block, gathered=5))
    run, slow = tmp_path / "run", tmp_path / "slow"
    for number, (draw, separator, lines, options) in enumerate(cases(count)):
        qrels, listed = judgments_of(lines, separator, draw), draw.choice((lines, interleave(lines)))
        collapse: Any = separator
        if draw.random() < 0.3:
            collapse = {name: document_of(name, separator) for _, name, _, _ in lines}
        run.write_text(text(listed))
        reference = expected(listed, separator, qrels, options, slow)
        assert scores_of(run, qrels, collapse=collapse, **options) == reference, number


@pytest.mark.exhaustive
def test_every_form_of_a_run_is_folded_equally(tmp_path: Path) -> None:
    names = ["topic", "docno", "rank", "score"]
    for number, (draw, separator, lines, options) in enumerate(cases(60)):
        qrels = judgments_of(lines, separator, draw)
        reference = expected(lines, separator, qrels, options, tmp_path / "slow")
        frame = pd.DataFrame(lines, columns=names)
        forms: list[Any] = [frame, frame.astype({"docno": object})]
        if options["order"] != "rank" and options["ties"] != "rank":
            nested: dict[str, dict[str, float]] = {}
            for topic, name, _, score in lines:
                nested.setdefault(topic, {})[name] = score
            (tmp_path / "run.json").write_text(json.dumps(nested))
            forms += [nested, tmp_path / "run.json", [(topic, name, score) for topic, name, _, score in lines]]
        for form in forms:
            assert scores_of(form, qrels, collapse=separator, **options) == reference, (number, type(form))


def test_judgments_of_chunks_have_the_highest_grade(tmp_path: Path) -> None:
    for number, (draw, separator, lines, _) in enumerate(cases(20)):
        judged: dict[str, dict[str, int]] = {}
        folded: dict[str, dict[str, int]] = {}
        for topic, name, _, _ in lines:
            grade, document = draw.randint(-1, 4), document_of(name, separator)
            judged.setdefault(topic, {})[name] = grade
            highest = folded.setdefault(topic, {})
            highest[document] = max(grade, highest.get(document, grade))
        rows = [(topic, name, grade) for topic, grades in judged.items() for name, grade in grades.items()]
        draw.shuffle(rows)
        path = tmp_path / "qrels"
        path.write_text("".join(f"{topic} 0 {name} {grade}\n" for topic, name, grade in rows))
        frame = pd.DataFrame(rows, columns=["topic", "docno", "grade"])
        table = {name: document_of(name, separator) for _, name, _ in rows}
        plain = gradedeval.Qrels(folded)
        for source in (path, judged, frame):
            for collapse in (separator, table):
                qrels = gradedeval.Qrels(source, collapse=collapse)
                assert qrels.digest == plain.digest, (number, source)
                assert qrels.labels.tolist() == plain.labels.tolist()
                readings = {
                    topic.decode(): {name.decode(): qrels.labels[code] for name, code in documents.items()}
                    for topic, documents in qrels.codes.items()
                }
                assert readings == folded


@pytest.mark.parametrize(("part", "options"), [("subtopic", {"subtopics": True}), ("stratum", {"format": "strata"})])
def test_intents_and_strata_are_folded_separately(part: str, options: dict[str, Any]) -> None:
    columns = ["topic", "docno", part, "grade"]
    rows = [("q", "a#1", "1", 1), ("q", "a#2", "1", 3), ("q", "b#1", "2", 2), ("q", "c", "1", 0)]
    folded = [("q", "a", "1", 3), ("q", "b", "2", 2), ("q", "c", "1", 0)]
    qrels = gradedeval.Qrels(pd.DataFrame(rows, columns=columns), collapse="#", **options)
    assert qrels.digest == gradedeval.Qrels(pd.DataFrame(folded, columns=columns), **options).digest


def test_cut_lengths_finds_the_last_separator() -> None:
    draw = random.Random(7)
    for separator in ("#", "::", "-", "aa", "é", "0123456789"):
        names = ["", separator, separator * 2, f"x{separator}", f"{separator}x"]
        for _ in range(500):
            parts = ["".join(draw.choices("ab:0-", k=draw.choice((0, 1, 3, 7, 8, 9, 20)))) for _ in range(3)]
            names.append(separator.join(parts[: draw.randint(1, 3)]))
        docnos = Docnos.of([name.encode() for name in names])
        cut = cut_lengths(docnos.buffer, docnos.start, docnos.length, separator.encode()).tolist()
        assert cut == [len(document_of(name, separator).encode()) for name in names]


def test_colliding_hashes_do_not_fold_different_documents() -> None:
    names, counts = [b"a", b"b", b"a", b"b", b"c"], np.array([3, 2])
    docnos = Docnos.of(names)
    same = Docnos(docnos.buffer, docnos.start, docnos.length, np.zeros(5, dtype=np.uint64))
    assert leaders(counts, docnos).tolist() == leaders(counts, same).tolist() == [0, 1, 0, 3, 4]
    many = Docnos.of([b"%d" % (number % 3000) for number in range(9000)])
    high = Docnos(many.buffer, many.start, many.length, many.hashed >> np.uint64(40))  # all in the first slot
    assert leaders(np.array([9000]), high).tolist() == [number % 3000 for number in range(9000)]


# --- other options ---------------------------------------------------------------------------------------------------

RUN = {"q": {"a#1": 3.0, "b#1": 2.0, "a#2": 1.0}}
QRELS = {"q": {"a": 1, "b": 2}}


def test_the_same_chunk_twice_is_still_an_error(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("q Q0 a#1 1 3 t\nq Q0 b#1 2 2 t\nq Q0 a#1 3 1 t\n")
    with pytest.raises(InputError, match=r"run:3: duplicate document 'a#1' in topic q \(first on line 1\)"):
        gradedeval.evaluate(path, QRELS, collapse="#")
    scores = gradedeval.evaluate(path, QRELS, "num_ret", collapse="#", duplicates="last")
    assert scores.means["num_ret"] == 2
    assert any("dropped 1 duplicate document; kept the last of each" in note for note in scores.notes)
    qrels = tmp_path / "qrels"
    qrels.write_text("q 0 a#1 1\nq 0 a#1 2\n")
    with pytest.raises(InputError, match="qrels:2: duplicate document 'a#1'"):
        gradedeval.Qrels(qrels, collapse="#")


def test_chunks_fold_before_any_cut() -> None:
    assert gradedeval.evaluate(RUN, QRELS, "num_rel_ret", collapse="#", depth=2).means["num_rel_ret"] == 2
    assert gradedeval.evaluate(RUN, QRELS, "rr(rel=2)@2", collapse="#").means["rr(rel=2)@2"] == 0.5
    run = {"q": {"a#1": 3.0, "a#2": 2.0, "b#1": 1.0}}
    assert gradedeval.evaluate(run, QRELS, "p@2", collapse="#").means["p@2"] == 1


def test_first_breaks_ties_by_the_ids_of_chunks() -> None:
    run, qrels = {"q": {"a#9": 1.0, "a-b#1": 1.0}}, {"q": {"a": 1}}
    for by, rank in (("score", 2), ("first", 2)):
        scores = gradedeval.evaluate(run, qrels, "rr", collapse="#", collapse_by=by)
        assert scores.means["rr"] == 1 / rank
    run = {"q": {"a#9": 1.0, "a!#1": 1.0}}  # a!#1 < a#9, but a! > a
    assert gradedeval.evaluate(run, qrels, "rr", collapse="#").means["rr"] == 1 / 2
    assert gradedeval.evaluate(run, qrels, "rr", collapse="#", collapse_by="first").means["rr"] == 1


def test_a_chunk_without_a_document_is_named_with_its_line(tmp_path: Path) -> None:
    run, table = tmp_path / "run", tmp_path / "table.csv"
    run.write_text("q Q0 a#1 1 3 t\nq Q0 b#1 2 2 t\n")
    table.write_text("chunk,document\na#1,a\n")
    with pytest.raises(
        InputError, match=r"run:2: chunk 'b#1' is not in .*table.csv; list each chunk with its document"
    ):
        gradedeval.evaluate(run, QRELS, collapse=table)
    with pytest.raises(InputError, match=r"qrels: 1 judged chunk is not in .*table.csv \(b#1\)"):
        gradedeval.Qrels({"q": {"a#1": 1, "b#1": 1}}, collapse=str(table))
    table.write_text("a#1,a\na#1,b\n")
    with pytest.raises(InputError, match=r"table.csv:2: chunk 'a#1' is of 'b' and of 'a'; list it once"):
        gradedeval.evaluate(run, QRELS, collapse=table)


def test_a_separator_that_no_docno_has_gets_a_note(tmp_path: Path) -> None:
    text_of_note = r"run: no docno has '::' after its first character, so collapse changes nothing"
    path = tmp_path / "run"
    path.write_text("q Q0 a#1 1 3 t\n")
    for run in (RUN, path):
        with pytest.warns(gradedeval.EvaluationWarning, match=text_of_note):
            gradedeval.evaluate(run, QRELS, collapse="::")
    with pytest.warns(gradedeval.EvaluationWarning, match="so collapse_qrels changes nothing"):
        gradedeval.evaluate(RUN, QRELS, collapse="#", collapse_qrels="#")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"collapse": ""}, "collapse: is empty; give a separator"),
        ({"collapse": 3}, "collapse: 3 is not a separator, a file or a dict chunk -> document"),
        ({"collapse": {}}, "collapse: has no chunks"),
        ({"collapse_by": "first"}, "collapse_by: needs collapse"),
        ({"collapse": "#", "collapse_by": "best"}, "collapse_by: invalid value 'best'"),
        ({"collapse": "#", "collapse_by": "first", "ties": "average"}, "first cannot be combined with ties"),
        ({"collapse": "#", "collapse_by": "first", "like": "ir_measures"}, "first has no single order with like"),
    ],
)
def test_a_rule_without_a_meaning_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gradedeval.evaluate(RUN, QRELS, **options)


def test_qrels_that_were_read_otherwise_are_refused() -> None:
    qrels = gradedeval.Qrels({"q": {"a#1": 1}}, collapse="#")
    for collapse in ("_", {"a#1": "a"}):
        with pytest.raises(InputError, match="these qrels were read with others"):
            gradedeval.evaluate(RUN, qrels, collapse_qrels=collapse)
    with pytest.raises(InputError, match="these qrels were read without"):
        gradedeval.evaluate(RUN, gradedeval.Qrels(QRELS), collapse_qrels="#")
    assert gradedeval.evaluate(RUN, qrels, "ap", collapse="#", collapse_qrels="#").means["ap"] == 1


def test_the_signature_says_how_chunks_were_folded() -> None:
    table = {"a#1": "a", "a#2": "a", "b#1": "b"}
    scores = gradedeval.evaluate(RUN, {"q": {"a#1": 1}}, collapse=table, collapse_by="first", collapse_qrels="#")
    digest = Collapse(b"", {key.encode(): value.encode() for key, value in table.items()}).digest
    assert digest.startswith("table ")
    assert f' | collapse qrels "#" | collapse by first | collapse {digest} | ' in scores.signature
    assert 'collapse "_"' in gradedeval.evaluate(RUN, QRELS, collapse="_").signature


def test_folding_keeps_the_columns_of_a_run_that_has_no_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("nothing is to be folded")

    monkeypatch.setattr(folding, "leaders", refuse)
    frame = pd.DataFrame([("q", "a", 1.0)], columns=["topic", "docno", "score"])
    assert gradedeval.evaluate(frame, QRELS, "num_rel_ret", collapse="#").means["num_rel_ret"] == 1


@pytest.mark.parametrize("seed", range(2))
def test_a_table_read_at_once_equals_one_read_line_by_line(seed: int, tmp_path: Path) -> None:
    """Read unusual lines one by one, with the same documents or the same error."""
    dice, path, at_once = random.Random(seed), tmp_path / "table", 0
    odd = [
        *("", "#c\ta", '"c",d', "c d", "c\t", "\td", "c\td\te", "c;d", "a#1\tz", "chunk\tdocument"),
        "\ufeffc\td",
        "c, d",
    ]
    for _ in range(150):
        separator = dice.choice("\t\t,;")
        lines = [f"{name}#{part}{separator}{name}" for name in "abc" for part in range(dice.choice((1, 2)))]
        if dice.random() < 0.3:
            lines.insert(0, f"chunk{separator}document")
        if dice.random() < 0.5:
            lines.insert(dice.randrange(len(lines) + 1), dice.choice(odd))
        path.write_bytes((dice.choice(["\n", "\n", "\r\n"]).join(lines) + dice.choice(["", "\n"])).encode())
        plain = metadata._plain_table(path)
        at_once += bool(plain)
        rows = SmallTable.read(path, ("chunk", "document"), hint="", words=True)
        if plain:
            assert not rows.problems.count
            assert plain == {row.cells["chunk"].encode(): row.cells["document"].encode() for row in rows.rows}
    assert at_once > 25
