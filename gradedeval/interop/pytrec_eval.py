"""pytrec_eval's interface, so that a script changes one import: `from gradedeval.interop import pytrec_eval`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np

from gradedeval import kernel
from gradedeval.errors import InputError, emit_notes
from gradedeval.interop.trec_eval import adapted_notes, drop_in_options, line_values, names_of, needed_measures
from gradedeval.interop.trec_eval_lines import ENTRIES, EVERY, Line, Setting, counting_topics, select_lines
from gradedeval.kernel import Options, Qrels, Scorer, Workers, decode, encode

__all__ = ["RelevanceEvaluator", "compute_aggregated_measure", "parse_qrel", "parse_run", "supported_measures",
           "supported_nicknames"]  # fmt: skip

__version__ = "0.5.11"
"""The pytrec_eval whose interface this is: libraries look at it."""

supported_measures = frozenset(ENTRIES)
supported_nicknames = {name: [member for member, entry in ENTRIES.items() if name in entry.sets] for name in EVERY}

_PARAMETERS = re.compile(rf"({'|'.join(map(re.escape, sorted(ENTRIES, key=len, reverse=True)))})[._](\d[\d.,]*)")
VERSION = "9"
"""The trec_eval inside pytrec_eval: it rounds recall levels its own way, and compares scores as float32."""

_WITHOUT_PARAMETERS = re.compile(r"(set_F|11pt_avg|utility|relstring)_(?=[-\d])")
"""Whose scores pytrec_eval returns under the name alone."""

LEAST = 0.00001
"""What a geometric mean takes lower scores for."""


class RelevanceEvaluator:
    """pytrec_eval's evaluator: judgments and measures once, then any number of runs.

    query_relevance        a dict topic -> docno -> grade, or any other qrels that `evaluate` takes
    measures               trec_eval's names as pytrec_eval writes them: `map`, `ndcg_cut_10`, `ndcg_cut.5,10`, `P`,
                           `official`; and any measure of gradedeval, as `err@20`
    relevance_level        the lowest relevant grade, for binary measures
    judged_docs_only_flag  whether documents that are not judged are dropped from runs

    Scores are as in trec_eval 9, which pytrec_eval holds; a gm_ measure is the logarithm that its geometric mean
    adds up, and runid and relstring, which are text, are 0 as there. Where dropping documents leaves none of a topic,
    iprec_at_recall_ and 11pt_avg are 0 (nan in pytrec_eval). Without a judgment no topic is scored. Raises
    `gradedeval.InputError` (a ValueError) where a measure or the qrels are wrong.

    >>> evaluator = gradedeval.RelevanceEvaluator({"q1": {"d1": 1}}, {"map", "P_1"})
    >>> evaluator.evaluate({"q1": {"d1": 0.5, "d2": 1.5}})["q1"]["map"]
    0.5
    """

    def __init__(
        self,
        query_relevance: Any,
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if not isinstance(measures, Iterable):
            raise InputError("measures", f"{measures!r} is not a list of measures", "as in {'map', 'P_5'}", usage=True)
        words = [measures] if isinstance(measures, str) else list(measures)
        options = drop_in_options(False, relevance_level, None, bool(judged_docs_only_flag), VERSION)
        qrels = query_relevance if isinstance(query_relevance, Qrels) else _read(query_relevance)
        lines = select_lines([_with_dots(word) for word in words], Setting(VERSION))
        self._lines = _named([counting_topics(line) for line in lines])
        self._scorer = Scorer(qrels, needed_measures(self._lines), options)
        self._notes = list(self._scorer.notes)

    def evaluate(self, scores: Any) -> dict[str, dict[str, float]]:
        """topic -> name of a measure, as given -> score, of the topics that are judged and in the run.

        scores  a dict topic -> docno -> score, or any other run that `evaluate` takes

        What is left out or misleads is an `EvaluationWarning`; nothing is said of few topics, as no mean is computed
        here and some call this topic by topic. Raises `gradedeval.InputError` where the run is wrong.
        """
        if not self._scorer.qrels.topics or (isinstance(scores, Mapping) and not scores):
            return {}
        names = names_of(self._lines, self._scorer)
        result = kernel.tasks.score_run("run", scores, self._scorer, Workers(), names=names)
        if result.error and result.error.kind != "no-common-topics":
            raise result.error
        emit_notes([*self._notes, *adapted_notes(result.notes), *([str(result.error)] if result.error else [])])
        if result.scores is None:
            return {}
        values = line_values(result.scores.score, self._lines, self._scorer)
        for column, line in enumerate(self._lines):
            if line.summed == "geometric":
                values[:, column] = np.log(np.maximum(values[:, column], LEAST))
            if line.measure is None:
                values[:, column] = 0
        names = [line.name for line in self._lines]
        rows = zip(result.scores.topics, values.tolist(), strict=True)
        return {topic: dict(zip(names, row, strict=True)) for topic, row in rows}


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """What a measure is over all topics: the sum of counts (`num_`), the geometric mean (`gm_`), or the mean.

    A mean over fewer than ten topics is an `EvaluationWarning`.
    """
    scores = np.fromiter(values, np.float64)
    if measure.startswith("num_"):
        return float(scores.sum())
    emit_notes(kernel.caveats.few_topics_notes(len(scores)))
    return float(np.exp(scores.mean()) if measure.startswith("gm_") else scores.mean())


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """The lines of a run as a dict topic -> docno -> score. Raises InputError where a line is none."""
    if not (joined := _joined(f_run)):
        return {}
    lines = BytesIO(joined)
    lines.name = "run"
    run = kernel.run.run_of_lines(kernel.stream.Stream(kernel.stream.Source(lines)), Options())
    return {
        decode(topic): dict(zip(map(decode, ranking.docnos), ranking.scores, strict=True))
        for topic, ranking in run.topics.items()
    }


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """The lines of qrels as a dict topic -> docno -> grade. Raises InputError where a line is none."""
    if not (lines := _joined(f_qrel)):
        return {}
    qrels = Qrels(BytesIO(lines), duplicates="refuse")
    grades = [int(label) if label == int(label) else label for label in qrels.labels.tolist()]
    return {
        decode(topic): {decode(docno): grades[code] for docno, code in documents.items()}
        for topic, documents in qrels.codes.items()
    }


def _joined(lines: Iterable[str]) -> bytes:
    return b"\n".join(encode(line.rstrip("\n")) for line in lines)


def _read(judgments: Any) -> Qrels:
    """Return the qrels. Topics without judgments do not count, as in pytrec_eval."""
    if isinstance(judgments, Mapping):
        judgments = {topic: of for topic, of in judgments.items() if not isinstance(of, Mapping) or of}
        if not judgments:
            return Qrels.empty()
    return Qrels(judgments, duplicates="refuse")


def _with_dots(word: Any) -> str:
    """Return a measure in the notation of trec_eval's -m: `ndcg_cut.10` for `ndcg_cut_10`."""
    if not isinstance(word, str):
        return str(word)
    match = None if word in ENTRIES or word in EVERY else _PARAMETERS.fullmatch(word)
    return f"{match[1]}.{match[2]}" if match else word


def _named(lines: list[Line]) -> list[Line]:
    """Return the lines by pytrec_eval's names: without parameters if a measure has only one line."""
    short = [match[1] if (match := _WITHOUT_PARAMETERS.match(line.name)) else line.name for line in lines]
    return [
        replace(line, name=name) if short.count(name) == 1 else line for line, name in zip(lines, short, strict=True)
    ]
