"""`evaluate_arrays`: grades and scores in arrays, as in the training of rankers -> scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints, distinct, ranks
from gradedeval.errors import EvaluationWarning, InputError, emit_notes, flag, public
from gradedeval.kernel.measures.definition import AnyMeasure, Measure
from gradedeval.kernel.measures.parse import DEFAULT, parse_measures
from gradedeval.kernel.options import OPTIONS, OptionKwargs, resolve_options
from gradedeval.kernel.rankings.batch import Documents, GradeCounts
from gradedeval.kernel.rankings.docnos import Docnos, Index, JudgmentColumns
from gradedeval.kernel.rankings.grade import choose_topics
from gradedeval.kernel.rankings.in_memory import checked_ids, ident
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.scoring.caveats import few_topics_notes, tie_notes
from gradedeval.kernel.scoring.scorer import Scorer, no_relevant_notes
from gradedeval.kernel.scoring.scores import Scores
from gradedeval.kernel.scoring.tasks import GradedRun
from gradedeval.kernel.trec.tokenizer import text_hashes

TIES = ("file", "best", "worst", "average")
"""Orders of documents with equal scores that need no docnos; `file`: as arrays list them."""

TIED = (
    "documents with equal scores and different grades stay in the order of the arrays; set ties='file' if this is "
    "intended, or 'average', 'worst' or 'best'"
)


@lru_cache(maxsize=256)
def check_measure(measure: Measure) -> None:
    """Raise InputError (usage) for an incomplete measure, or one that needs more than grades and scores."""
    measure.complete()
    needs = (("intents", measure.by_intent), ("strata", measure.definition.uses_strata))
    for need, is_needed in (*needs, ("types of documents", bool(measure.types))):
        if is_needed:
            raise InputError(f"'{measure}'", f"needs {need}, which arrays lack", "use gradedeval.evaluate", usage=True)


def as_numbers(values: Any, place: str) -> Floats:
    """Return an array of float64. Raises InputError for masked values, uneven rows and anything but numbers."""
    if np.any(mask := getattr(values, "mask", False)) and isinstance(mask, np.ndarray):
        hint = "give documents without a grade the grade nan, and leave out ranks that hold none"
        raise InputError(place, "has masked values", hint, usage=True)
    try:
        array = np.asarray(values)
    except ValueError:
        hint = "gradedeval.evaluate_arrays(..., group=...) takes topics of different lengths"
        raise InputError(place, "has rows of different lengths", hint, usage=True) from None
    except Exception as error:  # any library may hold the values
        raise InputError(place, f"is not an array of numbers ({error})", "expected numbers", usage=True) from None
    if array.dtype.kind not in "biuf":
        try:
            if array.dtype.kind != "O" or any(isinstance(value, str | bytes) for value in array.ravel()[:1]):
                raise TypeError
            array = array.astype(np.float64)
        except OverflowError:
            raise InputError(place, "holds a number that is too large", "expected finite numbers", usage=True) from None
        except (TypeError, ValueError):
            problem = f"holds {array.dtype} values"
            raise InputError(place, problem, "expected numbers", usage=True) from None
    return array.astype(np.float64, copy=False)


def check_finite(scores: Floats, place: str) -> None:
    """Raise InputError if a score is infinite or not a number."""
    if not np.isfinite(scores).all():
        position = np.argwhere(~np.isfinite(scores))[0].tolist()
        problem = f"{scores[tuple(position)]} is not a finite number"
        raise InputError(f"{place}[{', '.join(map(str, position))}]", problem, "does the model diverge?")


def grade_codes(grades: Floats, place: str) -> tuple[Floats, NDArray[Any]]:
    """Return the distinct grades, ascending, and the index of each grade among them; `len(labels)` for nan, unjudged.
    Raises InputError for an infinite grade, or without grades."""
    judged: Bools = grades == grades
    if judged.all():
        labels, codes = distinct(grades.ravel())
        codes = codes.reshape(grades.shape)
    else:
        labels, index = distinct(grades[judged])
        codes = np.full(grades.shape, len(labels))
        codes[judged] = index
    if not len(labels) or not np.isfinite(labels[[0, -1]]).all():
        problem = "holds an infinite grade" if len(labels) else "holds no grade"
        raise InputError(place, problem, "expected a grade for each document, nan where it is not judged")
    return labels + 0.0, codes  # no −0


@public
def evaluate_arrays(
    grades: Any,
    scores: Any,
    /,
    measures: AnyMeasure | Iterable[AnyMeasure] = DEFAULT,
    *,
    group: Any = None,
    qid: Any = None,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Scores:
    """Score one run in arrays of grades and scores, as of LightGBM, XGBoost and scikit-learn.

    grades    the grade of each document, nan if unjudged; they must include all relevant documents of a topic. One
              dimension, or topics × documents
    scores    the score of each document, in the same shape, finite; the highest ranks first
    measures  as for `evaluate`
    group     number of documents of each topic, topic after topic; topics are called 1, 2, 3, …
    qid       the topic of each document, in any order. Without `group` and `qid` one dimension is one topic
    like      a preset, as for `evaluate`
    keywords  options, as for `evaluate`. `ties` is `file`, `best`, `worst` or `average`: without docnos, documents with
              equal scores stay in the order of the arrays, with a warning if it matters and `ties` is not set

    Returns `Scores`, as `evaluate`. Its signature is that of qrels with the docnos 1, 2, 3, … within each topic. Raises
    `gradedeval.InputError` if arrays do not fit each other, or if a measure or an option needs more than arrays.

    >>> gradedeval.evaluate_arrays([2, 0, 1], [0.9, 0.8, 0.1], "rr p@2").means
    {'rr': 1.0, 'p@2': 0.5}
    """
    _check_options(keywords)
    ties, requested = keywords.pop("ties", None), parse_measures(measures)
    for measure in requested:
        check_measure(measure)
    options = resolve_options(like, **keywords, ties=ties or "file")
    if ties is None:
        options = replace(options, given=options.given - {"ties"})
    topics, counts, graded, scored = _by_topic(grades, scores, group, qid)
    labels, codes = grade_codes(graded, "grades")
    qrels = ArrayQrels(topics, counts, labels, codes)
    scorer = Scorer(qrels, requested, options)
    documents = Documents(topics, counts, codes, scored, None, lambda rows: Docnos.of([b""] * len(rows)))
    batches = [scorer.score_with_ties(batch) for batch in scorer.grader.batches(documents)]
    chosen, missing, topic_notes = choose_topics(topics, "scores", qrels, options)
    run = scorer.merge("run", batches, chosen, missing)
    few = few_topics_notes(run.most(len(scorer.measures)))
    notes = [*scorer.notes, *topic_notes, *no_relevant_notes(scorer, [run]), *few]
    if ties is None and options.by_score and _tied(counts, codes, scored):
        notes.append(f"scores: {TIED}")
        notes += tie_notes(GradedRun("scores", "", batches, chosen), run, scorer)
    return Scores([run], scorer.measures, qrels, options, emit_notes(notes))


def _check_options(keywords: Mapping[str, Any]) -> None:
    """Raise InputError (usage) for options that need more than arrays."""
    for name, described in OPTIONS.items():
        if described.needs_ids and keywords.get(name):
            raise described.error("has no meaning for arrays", "leave it out")
    if keywords.get("order") == "rank":
        raise InputError(flag.order, "rank: arrays have no ranks", "give negated ranks as scores", usage=True)
    if (ties := keywords.get("ties")) is not None and ties not in TIES:
        hint = f"choose from {', '.join(TIES)}"
        raise InputError(flag.ties, f"{ties}: arrays have no docnos or ranks", hint, usage=True)


def _by_topic(grades: Any, scores: Any, group: Any, qid: Any) -> tuple[list[bytes], Ints, Floats, Floats]:
    """Return ids and sizes of topics, and the grades and scores of all documents, topic after topic."""
    graded, scored = as_numbers(grades, "grades"), as_numbers(scores, "scores")
    if graded.shape != scored.shape:
        problem = f"has the shape {scored.shape}, grades {graded.shape}"
        raise InputError("scores", problem, "give each document a grade and a score", usage=True)
    if graded.ndim not in (1, 2) or not graded.size:
        problem = f"has {graded.ndim} dimensions" if graded.size else "is empty"
        raise InputError("grades", problem, "expected documents, or topics × documents", usage=True)
    check_finite(scored, "scores")
    if (group is not None) + (qid is not None) + (graded.ndim == 2) > 1:
        problem = "define the topics of documents more than once"
        raise InputError("grades", f"{problem}: group, qid and two dimensions", "give one of them", usage=True)
    if qid is not None:
        topics, counts, order = topics_of(qid, len(graded))
        return topics, counts, graded[order], scored[order]
    counts = np.full(len(graded), graded.shape[1]) if graded.ndim == 2 else np.array([len(graded)])
    counts = counts if group is None else topic_sizes(group, len(graded))
    return [b"%d" % number for number in range(1, len(counts) + 1)], counts, graded.ravel(), scored.ravel()


def topic_sizes(group: Any, documents: int) -> Ints:
    """Return the sizes of topics. Raises InputError if they do not add up."""
    sizes = as_numbers(group, "group")
    if sizes.ndim != 1 or (sizes < 1).any() or (sizes != np.floor(sizes)).any():
        hint = "expected the number of documents of each topic"
        raise InputError("group", "is not a list of sizes", hint, usage=True)
    if sizes.sum() != documents:
        hint = "qid= takes the topic of each document" if len(sizes) == documents else "give the size of every topic"
        raise InputError("group", f"sums to {sizes.sum():g}, there are {documents} documents", hint, usage=True)
    return sizes.astype(np.int64)


def topics_of(qid: Any, documents: int) -> tuple[list[bytes], Ints, NDArray[Any]]:
    """Return topics in order of appearance, their sizes, and the positions of all documents, topic after topic."""
    ids = np.asarray(qid)
    if ids.shape != (documents,):
        problem = f"has the shape {ids.shape}, there are {documents} documents"
        raise InputError("qid", problem, "give the topic of each document", usage=True)
    if ids.dtype.kind == "O":
        named = checked_ids(ids.tolist(), "topic", "qid", range(1, len(ids) + 1))
        ids = np.array([name.decode("utf-8", "surrogateescape") for name in named])
    names, first, topic, counts = np.unique(ids, return_index=True, return_inverse=True, return_counts=True)
    appear = np.argsort(first)
    rank = np.empty_like(appear)
    rank[appear] = np.arange(len(appear))
    topics = [ident(name, "qid", "topic") for name in names[appear].tolist()]
    return topics, counts[appear], np.argsort(rank[topic], kind="stable")


# Lists to train rankers on: every document has a grade.


@dataclass(frozen=True, eq=False, repr=False)
class JudgedLists:
    """Documents in lists.

    labels  documents: the grades, list after list
    sizes   lists: number of documents
    order   documents: the position of each in the arrays of the caller; None: as here
    """

    labels: Floats
    sizes: Ints
    order: NDArray[Any] | None = None

    @classmethod
    def of(cls, labels: Any, group: Any, qid: Any) -> JudgedLists:
        """Return the lists of documents with these labels: `group` sizes, or the `qid` of each document. Raises
        InputError (usage) unless labels are whole numbers from 0 that fit the lists."""
        # A copy: objectives keep it, and batches may reuse their memory.
        grades = as_numbers(labels, "labels").flatten()
        wrong = ~(np.isfinite(grades) & (grades >= 0) & (grades == np.floor(grades)))
        if wrong.any() or not len(grades):
            place, problem = "labels", "is empty"
            if len(grades):
                first = int(np.flatnonzero(wrong)[0])
                place, problem = f"labels[{first}]", f"{grades[first]:g} is not a whole number from 0"
            raise InputError(place, problem, "expected the grade of each document: 0, 1, 2, …", usage=True)
        if (group is None) == (qid is None):
            problem = "says in two ways" if group is not None else "does not say"
            hint = "give group, the sizes of lists, or qid, the list of each document"
            raise InputError("group", f"{problem} which documents are in a list", hint, usage=True)
        if group is not None:
            return cls(grades, topic_sizes(group, len(grades)))
        _, sizes, order = topics_of(qid, len(grades))
        in_order = bool((order[1:] > order[:-1]).all())
        return cls(grades[order], sizes, None if in_order else order)

    def same(self, second: JudgedLists | None) -> bool:
        """Return whether both have the same documents in the same lists."""
        if second is None or (self.order is None) != (second.order is None):
            return False
        pairs = ((self.labels, second.labels), (self.sizes, second.sizes), (self.order, second.order))
        return all(np.array_equal(first, match) for first, match in pairs if first is not None and match is not None)

    def listed(self, values: Floats) -> Floats:
        """Return the values of documents, list after list."""
        return values if self.order is None else values[self.order]

    def scores_of(self, scores: Any) -> Floats:
        """Return the scores of documents, list after list. Raises InputError for a wrong number, or if not finite."""
        documents = len(self.labels)
        values = as_numbers(scores, "scores").ravel()
        if len(values) != documents:
            problem = f"has {len(values)} values for {documents} documents"
            raise InputError("scores", problem, "give one each", usage=True)
        check_finite(values, "scores")
        return values

    def evaluated(self, measure: Measure, scores: Floats, top: float | None) -> Scores:
        """Evaluate each list as a topic, with notes; documents with equal scores stay in the order of the arrays."""
        ordered = self.listed(scores)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvaluationWarning)  # the caller emits them
            return evaluate_arrays(
                self.labels, ordered, measure, group=self.sizes, ties="file", topics="qrels", top_grade=top
            )


def _tied(counts: Ints, codes: NDArray[Any], scores: Floats) -> bool:
    """Return whether documents of a topic have equal scores and different grades."""
    ordered = np.sort(scores)
    if not (ordered[1:] == ordered[:-1]).any():
        return False
    topic = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((codes, scores, topic))
    topic, scores, codes = topic[order], scores[order], codes[order]
    same = (topic[1:] == topic[:-1]) & (scores[1:] == scores[:-1])
    return bool((same & (codes[1:] != codes[:-1])).any())


# Judgments in arrays, topic after topic: documents have positions and no docnos.


class ArrayQrels(Qrels):
    """Qrels of documents named by their positions within a topic, from 1.

    topics  ids
    counts  topics: number of documents, judged or not
    labels  the distinct grades, ascending
    codes   documents: index into labels; `len(labels)` if unjudged
    """

    def __init__(self, topics: list[bytes], counts: Ints, labels: Floats, codes: NDArray[Any]) -> None:
        topic = np.repeat(np.arange(len(topics)), counts)
        judged = codes < len(labels)
        graded = GradeCounts.of(topic[judged], codes[judged], len(topics), len(labels))
        kept = np.flatnonzero(graded.size)  # a topic without a judgment is not judged
        self._start("grades")
        self.labels, self.counts = labels, graded.select(kept)
        self.topics = [topics[row] for row in kept.tolist()]
        self._columns = np.searchsorted(kept, topic[judged]), ranks(counts)[judged] + 1, codes[judged]

    @cached_property
    def columns(self) -> JudgmentColumns:
        topic, position, codes = self._columns
        docnos = Docnos(*text_hashes([b"%d" % number for number in position.tolist()]))
        index = Index(docnos, topic.astype(np.int32), len(self.topics))
        return JudgmentColumns(self.topics, self.labels, codes, index)
