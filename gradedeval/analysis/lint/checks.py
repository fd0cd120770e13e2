"""Checks of a submission by itself, against the others, and against the qrels; and what its ties could change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from gradedeval.analysis.lint.submissions import Judgments, Submission
from gradedeval.errors import plural, shorten
from gradedeval.measures.definition import Measure
from gradedeval.options import Options, Ties
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.run import Run, TopicResults
from gradedeval.scoring.run_parts import map_lists
from gradedeval.scoring.scorer import Scorer
from gradedeval.trec.lines import decode
from gradedeval.trec.source import without_suffix

DEPTHS = (10, 20, 100)
SINGLE = np.finfo(np.float32)


@dataclass
class Facts:
    """Numbers about a submission.

    tag       the tag of its first line
    format    what its file was read as
    depth     topic -> how many documents
    tied      documents with the same score as another of the topic
    float32   documents tied only in single precision, as in trec_eval 9
    unjudged  depth -> mean share of unjudged documents down to it, over the judged topics of the run
    moves     measure -> mean score, and the lowest and highest that the order of tied documents allows
    content   a hash of documents and scores: equal for copies
    """

    tag: str = ""
    format: str = ""
    topics: int = 0
    documents: int = 0
    depth: dict[str, int] = field(default_factory=dict)
    tied: int = 0
    float32: int = 0
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    unjudged: dict[str, float] = field(default_factory=dict)
    moves: dict[str, dict[str, float]] = field(default_factory=dict)
    content: int = 0

    @property
    def as_dict(self) -> dict[str, Any]:
        """For programs: everything except the hash, which differs between processes."""
        facts = asdict(self)
        del facts["content"]
        return facts

    @property
    def depths(self) -> tuple[int, float, int]:
        """The fewest documents of a topic, the median, and the most."""
        counts = list(self.depth.values()) or [0]
        return min(counts), float(np.median(counts)), max(counts)


def collect_facts(run: Submission) -> Facts:
    """Facts about a submission by itself."""
    facts = Facts(decode(next(iter(run.tags), b"")), run.format, len(run.topics), run.documents)
    for topic, ranking in run.topics.items():
        facts.depth[decode(topic)] = len(ranking.line_of)
        facts.content ^= hash((topic, *ranking.docnos, *ranking.score_list))
        double = _shared(ranking.scores)
        with np.errstate(over="ignore"):
            single = _shared(ranking.scores.astype(np.float32))
        facts.tied += double
        facts.float32 += single - double
    return facts


def _shared(scores: Any) -> int:
    """How many of the scores occur more than once."""
    _, counts = np.unique(scores, return_counts=True)
    return int(counts[counts > 1].sum())


def check_alone(run: Submission, facts: Facts, max_depth: int | None, tag_is_filename: bool) -> None:
    """Add the defects of a submission by itself."""
    _check_tags(run, tag_is_filename)
    if max_depth is not None:
        for topic, ranking in run.topics.items():
            if len(ranking.docnos) > max_depth:
                what = f"topic {decode(topic)} has {len(ranking.docnos)} documents, more than {max_depth}"
                run.error("depth", what, f"keep the {max_depth} best", ranking.lines[max_depth])
    _check_ranks(run)
    _check_scores(run)
    if facts.float32:
        what = f"{facts.float32} of {facts.documents} documents tied only in single precision, which trec_eval 9 uses"
        run.warn("float32", what, "write scores that differ in their first seven digits")


def _check_tags(run: Submission, tag_is_filename: bool) -> None:
    if len(run.tags) > 1:
        second = list(run.tags)[1]
        what = f"{len(run.tags)} tags ({shorten(map(decode, run.tags))}); the second starts on this line"
        run.warn("tag", what, "give all lines of a run the same tag", run.tags[second])
    name = Path(without_suffix(run.place)).name
    stems = {name, Path(name).stem}
    for tag, line in run.tags.items():
        if tag_is_filename and decode(tag) not in stems:
            run.error("tag", f"tag '{decode(tag)}' is not the file name", f"write {Path(name).stem}", line)


def _check_ranks(run: Submission) -> None:
    """Ranks that disagree with the scores, or repeat: trec_eval uses only the scores."""
    against: list[int] = []
    repeated: list[int] = []
    for ranking in run.topics.values():
        ranks = ranking.ranks
        if np.isnan(ranks).any() or len(ranks) < 2:
            continue
        order = np.argsort(ranks, kind="stable")
        lines, scores, ranks = np.array(ranking.lines)[order], ranking.scores[order], ranks[order]
        against += lines[1:][scores[1:] > scores[:-1]].tolist()  # a difference may be larger than any float
        repeated += lines[1:][ranks[1:] == ranks[:-1]].tolist()
    if against and _scores_rise(run):
        what = "scores increase with the rank: the document ranked last counts as the best"
        run.warn("rank", what, "a higher score is better; reverse the scores", min(against))
    elif against:
        what = f"{len(against)} {plural(len(against), 'document')} with a higher score than the rank before, first here"
        run.warn("rank", what, "scores count, not ranks; make them agree", min(against))
    if repeated:
        what = f"{len(repeated)} {plural(len(repeated), 'rank')} repeated within a topic, the first on this line"
        run.warn("rank", what, "number ranks from 1 in each topic", min(repeated))


def _scores_rise(run: Submission) -> bool:
    """Whether scores never decrease from one rank to the next, in any topic."""
    several = [ranking for ranking in run.topics.values() if len(ranking.docnos) > 1]
    by_rank = [ranking.scores[np.argsort(ranking.ranks, kind="stable")] for ranking in several]
    return bool(several) and all((scores[1:] >= scores[:-1]).all() for scores in by_rank)


def _check_scores(run: Submission) -> None:
    """Scores that no system gives on purpose."""
    long = {topic: ranking for topic, ranking in run.topics.items() if len(ranking.docnos) > 1}
    flat = [topic for topic, ranking in long.items() if ranking.scores.min() == ranking.scores.max()]
    if flat:
        topics = f"{len(flat)} of {len(run.topics)} topics ({shorten(map(decode, flat))})"
        what = f"all documents have the same score in {topics}"
        run.warn("score", what, "their order is decided by docno; write distinct scores", long[flat[0]].lines[0])
    lines_of: dict[str, list[int]] = {"too large": [], "too small": []}
    for ranking in run.topics.values():
        size, line = np.abs(ranking.scores), np.array(ranking.lines)
        lines_of["too large"] += line[size > SINGLE.max].tolist()
        lines_of["too small"] += line[(size > 0) & (size < SINGLE.smallest_subnormal)].tolist()
    for kind, lines in lines_of.items():
        if lines:
            what = f"{len(lines)} {plural(len(lines), 'score')} {kind} for single precision, the first on this line"
            run.warn("score", what, "they are ties in trec_eval 9", lines[0])
    same: dict[tuple[bytes, ...], list[bytes]] = {}
    for topic, ranking in long.items():
        same.setdefault(tuple(ranking.docnos), []).append(topic)
    for first, *others in same.values():
        if others:
            which = f"{plural(len(others), 'topic')} {shorten(map(decode, others))}"
            have = f"({len(others)} of {len(run.topics)}) {'has' if len(others) == 1 else 'have'}"
            what = f"{which} {have} the documents of topic {decode(first)} in the same order"
            run.warn("copied", what, "were they copied?", long[others[0]].lines[0])


def check_together(runs: Sequence[Submission], facts: Sequence[Facts]) -> None:
    """Add the defects of submissions that share a tag or their content."""
    by_tag: dict[str, Submission] = {}
    contents: dict[int, Submission] = {}
    for run, run_facts in zip(runs, facts, strict=True):
        if not run_facts.topics:
            continue
        other = by_tag.setdefault(run_facts.tag, run)
        if other is not run and run_facts.tag:
            run.warn("tag", f"tag '{run_facts.tag}' is also that of {other.place}", "give each run a different tag")
        other = contents.setdefault(run_facts.content, run)
        if other is not run:
            run.warn("copied", f"has the same documents and scores as {other.place}", "is it the right file?")


def check_topics(run: Submission, facts: Facts, known: Sequence[str], where: str) -> None:
    """Add the topics that the run lacks, and those that only the run has."""
    facts.missing = [topic for topic in known if topic not in facts.depth]
    known_topics = set(known)
    facts.extra = [topic for topic in facts.depth if topic not in known_topics]
    if known and facts.topics and len(facts.missing) == len(known):
        what = f"shares no topics with {where} ({shorten(facts.depth, 2)} vs {shorten(known, 2)})"
        run.error("topics", what, "are they from the same collection?")
        return
    if facts.missing and facts.topics:
        what = f"{len(facts.missing)} of {len(known)} topics of {where} are missing ({shorten(facts.missing)})"
        run.warn("topics", what, "missing topics count as empty rankings")
    if facts.extra:
        count = f"{len(facts.extra)} {plural(len(facts.extra), 'topic')} not in {where} ({shorten(facts.extra)})"
        run.warn("topics", count, "they are ignored")


def check_same_topics(runs: Sequence[Submission], facts: Sequence[Facts]) -> None:
    """Add the topics that each submission lacks and another has."""
    all_topics = list(dict.fromkeys(topic for run_facts in facts for topic in run_facts.depth))
    for run, run_facts in zip(runs, facts, strict=True):
        check_topics(run, run_facts, all_topics, "the other runs")


def check_judged(run: Submission, facts: Facts, qrels: Judgments) -> None:
    """The share of the run that is unjudged."""
    both = [topic for topic in run.topics if topic in qrels.grades]
    if not both:
        return
    judged = [
        np.array([run.topics[topic].docnos[row] in qrels.grades[topic] for row in run.topics[topic].order])
        for topic in both
    ]
    for depth in DEPTHS:
        shares = [1 - float(mask[:depth].mean()) for mask in judged]
        facts.unjudged[str(depth)] = float(np.mean(shares))
    if not any(mask.any() for mask in judged):
        run.warn("unjudged", f"no document is judged in {qrels.place}", "are the docnos those of the collection?")


def valid_qrels(judged: Judgments) -> Qrels:
    """The judgments without defects."""
    return Qrels(
        {
            decode(topic): {decode(docno): grade for docno, grade in known.items()}
            for topic, known in judged.grades.items()
        }
    )


def check_relevant(judged: Judgments, qrels: Qrels, measures: Sequence[Measure]) -> None:
    """Warn of topics that have nothing relevant to a measure: they score 0."""
    scorer = Scorer(qrels, measures, Options())
    for topics, columns in scorer.without_relevant.items():
        if topics:
            names = ", ".join(scorer.measures[column].label for column in columns)
            what = f"{len(topics)} of {len(qrels)} topics without a document relevant to {names} ({shorten(topics)})"
            judged.warn("relevant", what, "they score 0 and count in means, unless --topics relevant leaves them out")


def check_tie_effects(run: Submission, facts: Facts, qrels: Qrels, measures: Sequence[Measure]) -> None:
    """Score the run, and warn where ties change its scores. Raises InputError where a measure cannot be computed."""
    if not any(topic in qrels._row for topic in run.topics):
        return
    orders: dict[str, Ties] = {"score": "docno-desc"}
    if facts.tied:
        orders |= {"worst": "worst", "best": "best"}
    means = {name: _means(run, qrels, measures, ties) for name, ties in orders.items()}
    for column, measure in enumerate(measures):
        values = {name: float(scores[column]) for name, scores in means.items()}
        facts.moves[measure.label] = {"worst": values["score"], "best": values["score"], **values}
    ranges = {name: (f"{values['worst']:.4f}", f"{values['best']:.4f}") for name, values in facts.moves.items()}
    moving = [f"{name} {worst}..{best}" for name, (worst, best) in ranges.items() if worst != best]
    if moving:
        what = f"{facts.tied} of {facts.documents} documents tied, so scores depend on their order: {', '.join(moving)}"
        run.warn("ties", what, "give scores that differ")


def _means(run: Submission, qrels: Qrels, measures: Sequence[Measure], ties: Ties) -> list[float]:
    options = replace(Options(), ties=ties)
    topics = {
        topic: TopicResults(ranking.docnos, ranking.scores, ranking.ranks) for topic, ranking in run.topics.items()
    }
    scorer = Scorer(qrels, measures, options)
    scored = map_lists(scorer.score_part, Run(run.place, topics), scorer.grader)
    scores = scorer.merge(run.name, scored.batches, scored.topics, scored.missing)
    return [
        scores.summary("score", column, measure.definition.summary) if scores.topics else np.nan
        for column, measure in enumerate(scorer.measures)
    ]
