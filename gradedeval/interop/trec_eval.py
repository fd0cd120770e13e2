"""Scores and printed lines of trec_eval, for `gradedeval trec_eval` and for Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gradedeval import kernel
from gradedeval.arrays import Bools, Floats, np
from gradedeval.errors import InputError, Note, emit_notes, shorten
from gradedeval.interop.trec_eval_lines import Line, counting_topics
from gradedeval.kernel import MEASURES, Measure, Options, SmallTable, decode, resolve_options

if TYPE_CHECKING:
    from gradedeval.kernel import Batch, JudgmentGroups, Qrels, Scorer, Workers

# A run scored topic by topic in trec_eval's order, with what its lines need besides scores.


@dataclass(frozen=True, eq=False)
class ScoredRun:
    """A run's scores in byte order of the topics.

    run      the name of the run, and `tag` its sixth column
    values   topics × lines: the score, nan for text
    empty    topics: whether the run has no document of it
    strings  topic -> relevance string: the grades of its first documents, one character each
    """

    run: str
    tag: str
    topics: list[str]
    values: Floats
    empty: list[bool]
    notes: list[str]
    strings: dict[str, str] = field(default_factory=dict)


def needed_measures(lines: list[Line]) -> list[Measure]:
    """Return the measures of these lines."""
    measures = [line.measure for line in lines if line.measure is not None]
    return measures + [MEASURES["num_rel"] for line in lines if line.relevant]


def score_run(
    name: str, path: str, scorer: Scorer, lines: list[Line], workers: Workers
) -> tuple[ScoredRun, kernel.Scores]:
    """Score a run by the measures of the lines, and return the scores for the other formats too."""
    graded = kernel.tasks.grade_run(path, replace(scorer.grader, last_rank=None), workers)
    batches, topics = graded.batches, graded.topics
    scored = graded.with_batches([scorer.score_with_ties(batch) for batch in batches])
    scores = scorer.merge(name, scored.batches, topics, graded.missing)
    of_run = kernel.Scores([scores], scorer.measures, scorer.qrels, scorer.options)
    order = sorted(range(len(topics)), key=topics.__getitem__)
    retrieved = dict(pair for batch in batches for pair in zip(batch.topics, batch.retrieved.tolist(), strict=True))
    empty = [not retrieved.get(topics[row], 0) for row in order]
    names, values = [decode(topics[row]) for row in order], line_values(scores.score[order], lines, scorer)
    notes = kernel.caveats.notes_of_run(scored, scorer, scores, names_of(lines, scorer))
    strings = _relevance_strings(batches, scorer.qrels.labels, max((line.length for line in lines), default=0))
    return ScoredRun(name, graded.tag, names, values, empty, notes, strings), of_run


def names_of(lines: list[Line], scorer: Scorer) -> list[str]:
    """Return the names of the scorer's measures in the lines; measures without a line keep their names."""
    called: dict[Measure, str] = {}
    for line in lines:
        if line.measure is not None:
            called.setdefault(kernel.scores.with_defaults(line.measure, scorer.options), line.name)
    return [called.get(measure, measure.label) for measure in scorer.measures]


def line_values(scores: Floats, lines: list[Line], scorer: Scorer) -> Floats:
    """Return topics × lines: the scores, from topics × measures of the scorer, by the measure of each line."""
    column = {measure: number for number, measure in enumerate(scorer.measures)}
    values = np.full((len(scores), len(lines)), np.nan)
    for number, line in enumerate(lines):
        if line.measure is not None:
            values[:, number] = scores[:, column[kernel.scores.with_defaults(line.measure, scorer.options)]]
        if line.relevant:
            values[:, number] *= scores[:, column[kernel.scores.with_defaults(MEASURES["num_rel"], scorer.options)]] > 0
    return values


def _relevance_strings(batches: Sequence[Batch], labels: Floats, length: int) -> dict[str, str]:
    """Return topic -> the grades of its first documents, one character each."""
    if not length:
        return {}
    # The codes after the labels are: unjudged, and past the end of the ranking.
    of_labels = ["." if label < 0 else ">" if label > 9 else str(int(label)) for label in labels.tolist()]
    characters = np.array([*of_labels, "-", ""], dtype="U1")
    strings: dict[str, str] = {}
    for batch in batches:
        grades: Any = characters[batch.codes[:, :length]]
        strings.update(zip(map(decode, batch.topics), map("".join, grades.tolist()), strict=True))
    return strings


# Scores -> trec_eval's three columns: measure, topic, value.


ALL = "all"
"""What stands for the topic in a line of the summary."""

MISSING = -1000000.0
"""The z score where mean and deviation are unknown."""

Norms = Mapping[tuple[str, str], tuple[float, float]]
"""(topic, measure) -> mean and standard deviation."""


@dataclass(frozen=True)
class PrintOptions:
    """Output settings: lines of topics, the summary, z scores instead of scores, topics missing from the run."""

    by_topic: bool = False
    summary: bool = True
    norms: Norms | None = None
    empty_topics: bool = True


def format_run(scored: ScoredRun, lines: list[Line], printing: PrintOptions) -> str:
    """Return the lines of one run."""
    if not printing.empty_topics:  # version 9 fills missing topics with their relevant documents, and 0 otherwise
        filled = np.array(scored.empty, dtype=bool)[:, None] & np.array([line.name != "num_rel" for line in lines])
        scored = replace(scored, values=np.where(filled, 0.0, scored.values))
    values = scored.values if printing.norms is None else _z_scores(scored, lines, printing.norms)
    topics = _topics(scored, lines, values, printing) if printing.by_topic else ()
    summary = _summary(scored, lines, values, printing) if printing.summary else ()
    return "".join([*topics, *summary])


def _topics(scored: ScoredRun, lines: list[Line], values: Floats, printing: PrintOptions) -> Iterator[str]:
    for topic, row, empty in zip(scored.topics, values.tolist(), scored.empty, strict=True):
        if empty and not printing.empty_topics:
            continue
        for line, value in zip(lines, row, strict=True):
            if line.length:
                yield kernel.formats.trec_line(line.name, topic, f"'{scored.strings.get(topic, '')[: line.length]}'")
            elif line.by_topic:
                yield _number(line, topic, value, printing)


def _summary(scored: ScoredRun, lines: list[Line], values: Floats, printing: PrintOptions) -> Iterator[str]:
    for line, column in zip(lines, values.T, strict=True):
        if not line.summary:
            continue
        if line.name == "runid":
            yield kernel.formats.trec_line("runid", ALL, scored.tag)
        elif line.summed is None:  # num_q
            yield _number(line, ALL, len(scored.topics), printing)
        else:
            yield _number(line, ALL, _summed(line, column, printing), printing)


def _summed(line: Line, values: Floats, printing: PrintOptions) -> float:
    """Sum topic by topic, as trec_eval does: the last bit of a sum can change the last digit printed."""
    if line.summed == "geometric":
        logs = values if printing.norms is not None else kernel.definition.Reading("geometric").tested(values)
        return float(np.exp(logs.cumsum()[-1] / len(values)))
    total = float(values.cumsum()[-1])
    return total if line.summed == "total" else total / len(values)


def _number(line: Line, topic: str, value: float, printing: PrintOptions) -> str:
    if printing.norms is not None:
        return "Z" + kernel.formats.trec_line(line.name, topic, f"{value:6.4f}")
    whole = line.summed in ("total", None)
    return kernel.formats.trec_line(line.name, topic, str(int(value)) if whole else f"{value:6.4f}")


def _z_scores(scored: ScoredRun, lines: list[Line], norms: Norms) -> Floats:
    values = scored.values.copy()
    for column, line in enumerate(lines):
        if line.summed is None:
            continue
        if line.summed == "geometric":
            values[:, column] = kernel.definition.Reading("geometric").tested(values[:, column])
        for row, topic in enumerate(scored.topics):
            mean, deviation = norms.get((topic, line.name), (np.nan, np.nan))
            if np.isnan(mean):
                values[row, column] = MISSING
            else:
                values[row, column] = (values[row, column] - mean) / deviation if deviation else 0.0
    return values


def read_norms(path: str) -> Norms:
    """Read the file of -Z. Raises InputError if a line is not a topic, a measure, a mean and a standard deviation."""
    columns = ("topic", "measure", "mean", "deviation")
    table = SmallTable.read(path, columns, hint=f"-Z takes lines of '{' '.join(columns)}'", words=True)
    keys = [(row.cells["topic"], row.cells["measure"]) for row in table.rows]
    norms = [(table.number(row, "mean"), table.number(row, "deviation")) for row in table.rows]
    table.check(keys, ("measure", "topic"))
    return dict(zip(keys, norms, strict=True))


# Preferences: pairs of documents of which a judge prefers one, and how many of them a ranking satisfies.
#
# A judgment group is one judge's view of a topic: one or several lists of documents with values, where a larger value
# is preferred. Preferences are transitive across the lists of a group.


Values = Mapping[bytes, Mapping[bytes, float]]
"""List -> docno -> value."""


@dataclass(frozen=True, eq=False)
class _Group:
    """A judgment group and a ranking.

    number  documents, ascending by docno: the index among all documents of the topic
    before  documents × documents: whether the row is preferred to the column
    value   documents: the largest value in any list; 0 and below is not relevant
    rank    documents: the rank, infinite if not retrieved
    single  whether the group has one list
    """

    number: Any
    before: Bools
    value: Floats
    rank: Floats
    single: bool

    @property
    def satisfied(self) -> Bools:
        """Preferences that the ranking satisfies; documents that are not retrieved come after all others."""
        return self.before & (self.rank[:, None] < self.rank[None, :])

    @property
    def retrieved(self) -> Bools:
        return np.isfinite(self.rank)

    def pairs(self, kind: str) -> Bools:
        """Return the pairs of documents counted by a kind of measure."""
        if kind == "_ret":
            return self.retrieved[:, None] & self.retrieved[None, :]
        return self.retrieved[:, None] | self.retrieved[None, :] if kind == "_imp" else np.ones_like(self.before)


def _group(lists: Values, number: Mapping[bytes, int], rank: Mapping[bytes, int]) -> _Group:
    docnos = sorted({docno for listed in lists.values() for docno in listed})
    row_of = {docno: row for row, docno in enumerate(docnos)}
    preferred = np.zeros((len(docnos), len(docnos)), dtype=bool)
    highest, zero = np.full(len(docnos), -np.inf), np.zeros(len(docnos), dtype=bool)
    for listed in lists.values():
        rows = np.array([row_of[docno] for docno in listed])
        values = np.array(list(listed.values()))
        preferred[np.ix_(rows, rows)] |= values[:, None] > values[None, :]
        highest[rows] = np.maximum(highest[rows], values)
        zero[rows] |= values == 0
    if len(lists) > 1:
        preferred = _closed(preferred)
        _check(preferred, zero & (highest > 0), docnos)
    return _Group(
        np.array([number[docno] for docno in docnos]),
        preferred,
        highest,
        np.array([rank.get(docno, np.inf) for docno in docnos], dtype=np.float64),
        len(lists) == 1,
    )


def _closed(preferred: Bools) -> Bools:
    """Return the transitive closure: if a is preferred to b, and b to c, a is preferred to c."""
    for middle in range(len(preferred)):
        preferred |= preferred[:, middle, None] & preferred[middle, None, :]
    np.fill_diagonal(preferred, False)
    return preferred


def _check(preferred: Bools, both: Bools, docnos: list[bytes]) -> None:
    """Raise InputError for contradictory lists, and documents with 0 in one list and more in another (`both`)."""
    pairs = np.argwhere(preferred & preferred.T)
    if len(pairs):
        first, second = (decode(docnos[row]) for row in pairs[0].tolist())
        problem = f"contradictory preferences: '{first}' before '{second}' and '{second}' before '{first}'"
    elif both.any():
        problem = f"document '{decode(docnos[int(both.argmax())])}' has the value 0 in one list and more in another"
    else:
        return
    raise InputError("", problem, "give judges who disagree groups of their own (column 2)", kind="contradiction")


def _with_r_others(group: _Group, retrieved: bool) -> float:
    """Return the share of preferences satisfied if R nonrelevant documents count, R the number of relevant ones.
    It is nan without any.

    If there are fewer, unseen ones are assumed after retrieved documents; if more, the first count. With `retrieved`
    only retrieved documents count, and R is the number of relevant ones retrieved.
    """
    relevant, seen = group.value > 0, group.retrieved
    reached = int((relevant & seen).sum())
    limit = reached if retrieved else int(relevant.sum())
    others = ~relevant & seen if retrieved else ~relevant
    count = int(others.sum())
    if group.single and count > limit:
        return _crowded(group, relevant & seen if retrieved else relevant, others, limit)
    pairs = group.pairs("_ret" if retrieved else "")
    if count > limit:
        # trec_eval drops those after the R-th of all, also where R counts the retrieved ones alone.
        rows = np.flatnonzero(others & (group.value == 0))
        dropped = rows[np.argsort(group.rank[rows], kind="stable")][int(relevant.sum()) :]
        pairs[dropped], pairs[:, dropped] = False, False
    unseen = max(limit - count, 0)
    satisfied = int((group.satisfied & pairs).sum()) + reached * unseen
    return _ratio(satisfied, int((group.before & pairs).sum()) + int(relevant.sum()) * unseen, np.nan)


def _crowded(group: _Group, relevant: Bools, others: Bools, limit: int) -> float:
    """Return the share for one list with more nonrelevant than relevant documents, as trec_eval counts.

    For the first R nonrelevant documents it counts every judged document above, not only relevant ones, and divides by
    R (N + R): not a proportion of preferences, but the number that trec_eval prints.
    """
    within = np.ix_(relevant, relevant)
    ranks = np.sort(group.rank[others])
    above = np.searchsorted(np.sort(group.rank[relevant]), ranks[:limit]) + np.searchsorted(ranks, ranks[:limit])
    satisfied = int(above.sum()) + int(group.satisfied[within].sum())
    return _ratio(satisfied, limit * (len(ranks) + limit) + int(group.before[within].sum()), np.nan)


def _ratio(part: float, whole: float, none: float = 0.0) -> float:
    return part / whole if whole else none


KINDS = ("", "_ret", "_imp")
"""All pairs, those of two retrieved documents, and those of at least one."""


def preference_scores(groups: Mapping[bytes, Values], ranking: Iterable[bytes]) -> dict[str, float]:
    """Return the preference measures of one topic. Raises InputError if lists of a group contradict each other."""
    rank = {docno: place for place, docno in enumerate(ranking, 1)}
    docnos = dict.fromkeys(docno for lists in groups.values() for values in lists.values() for docno in values)
    number = {docno: index for index, docno in enumerate(docnos)}
    judged = [_group(lists, number, rank) for lists in groups.values()]
    scores: dict[str, float] = {
        "prefs_num_prefs_poss": float(sum(group.before.sum() for group in judged)),
        "prefs_num_prefs_ful": float(sum(group.satisfied.sum() for group in judged)),
        "prefs_num_prefs_ful_ret": float(sum((group.satisfied & group.pairs("_ret")).sum() for group in judged)),
    }
    for kind in KINDS:
        within = [group.pairs(kind) for group in judged]
        satisfied = [int((group.satisfied & pairs).sum()) for group, pairs in zip(judged, within, strict=True)]
        every = [int((group.before & pairs).sum()) for group, pairs in zip(judged, within, strict=True)]
        scores[f"prefs_simp{kind}"] = _ratio(sum(satisfied), sum(every))
        scores[f"prefs_pair{kind}"] = _by_pair(judged, within, len(docnos))
        scores[f"prefs_avgjg{kind}"] = sum(map(_ratio, satisfied, every)) / len(judged)
    for kind, retrieved in (("", False), ("_ret", True)):
        # One group without any such preference makes the topic's score 0 in trec_eval.
        mean = sum(_with_r_others(group, retrieved) for group in judged) / len(judged)
        scores[f"prefs_avgjg_Rnonrel{kind}"] = 0.0 if np.isnan(mean) else mean
    return scores


def _by_pair(groups: list[_Group], within: list[Bools], documents: int) -> float:
    """Return the mean over pairs of documents of the share of groups with a satisfied preference for the pair."""
    satisfied, every = (np.zeros((documents, documents), dtype=np.int32) for _ in range(2))
    for group, pairs in zip(groups, within, strict=True):
        cells = np.ix_(group.number, group.number)
        satisfied[cells] += group.satisfied & pairs
        every[cells] += group.before & pairs
    upper = np.triu_indices(documents, 1)
    satisfied, every = ((counts + counts.T)[upper] for counts in (satisfied, every))
    shares = satisfied[every > 0] / every[every > 0]
    return float(shares.cumsum()[-1] / len(shares)) if len(shares) else 0.0


# Runs scored by preferences, or by each judgment group of the qrels separately.


def score_preferences(name: str, path: str, groups: JudgmentGroups, lines: list[Line], options: Options) -> ScoredRun:
    """Score a run by preference measures. Raises InputError for an invalid run, and contradictory preferences."""
    run, topics, notes = _read(path, groups, options)

    def values(ascending: bool) -> Floats:
        matrix = np.zeros((len(topics), len(lines)))
        for row, topic in enumerate(topics):
            try:
                ranking = _ranking(run.topics.get(topic), options, ascending)
                scores = preference_scores(groups.topics[topic], ranking)
            except InputError as error:
                raise error.replace(place=f"{groups.place}: topic {decode(topic)}") from None
            matrix[row] = [scores.get(line.name, np.nan) for line in lines]
        return matrix

    line_scores = values(True)
    caveats = _caveats(run, topics, lines, options, line_scores, lambda: values(False))
    return _scored(name, run, topics, line_scores, [*notes, *caveats])


BETWEEN = b"\t"
"""Separates topic and group: ids have no tabs."""


def _by_group(groups: JudgmentGroups) -> Qrels:
    """Return qrels with each group as a topic."""
    judged = {
        decode(topic + BETWEEN + group): {decode(docno): grade for docno, grade in lists[b""].items()}
        for topic, judges in groups.topics.items()
        for group, lists in judges.items()
    }
    qrels = kernel.Qrels(judged)
    qrels.place = groups.place
    return qrels


def score_groups(name: str, path: str, groups: JudgmentGroups, lines: list[Line], options: Options) -> ScoredRun:
    """Score a run by ordinary measures: a topic's score is the mean over its groups."""
    run, topics, notes = _read(path, groups, options)
    retrieved = [topic for topic in topics if topic in run.topics]
    repeated = {topic + BETWEEN + group: run.topics[topic] for topic in retrieved for group in groups.topics[topic]}
    judged = _by_group(groups)

    def values(options: Options) -> Floats:
        scorer = kernel.Scorer(judged, [line.measure for line in lines if line.measure is not None], options)
        scored = kernel.tasks.map_lists(scorer.score_part, kernel.run.Run(run.place, repeated), scorer.grader)
        score = scorer.merge(name, scored.batches, scored.topics, scored.missing).score
        row = {topic: number for number, topic in enumerate(scored.topics)}
        means = []
        for topic in topics:
            rows = [row[topic + BETWEEN + group] for group in groups.topics[topic]]
            means.append(score[rows].cumsum(0)[-1] / len(rows))  # added up one by one, as trec_eval does
        return line_values(np.array(means), lines, scorer)

    scores, ascending = values(options), replace(options, ties="docno-asc")
    caveats = _caveats(run, topics, lines, options, scores, lambda: values(ascending))
    return _scored(name, run, topics, scores, [*notes, *caveats])


def _caveats(
    run: kernel.run.Run,
    topics: list[bytes],
    lines: list[Line],
    options: Options,
    line_scores: Floats,
    reversed_scores: Callable[[], Floats],
) -> list[str]:
    """Return notes on misleading runs: tied documents are tried with docnos ascending and descending."""
    warnings: list[str] = list(run.order_check.notes(run.place, options))
    scores = [_as_read(run.topics[topic].scores, options) for topic in topics if topic in run.topics]
    counts = [np.unique(topic_scores, return_counts=True)[1] for topic_scores in scores]
    tied = sum(int(count[count > 1].sum()) for count in counts)
    if tied <= kernel.caveats.TIED * sum(map(len, scores)):
        return warnings
    both = (line_scores, reversed_scores())
    ranges = []
    for column, line in enumerate(lines):
        if line.summed != "total":
            low, high = sorted(float(np.mean(values[:, column])) for values in both)
            ranges += [f"{line.name} {low:.4f} or {high:.4f}"] if high - low > kernel.caveats.RANGE else []
    if ranges:
        problem = f"{run.place}: many documents have equal scores: {shorten(ranges, 3)}, as docnos ascend or descend"
        warnings.append(Note(problem, HINTS["ties"], kind="ties"))
    return warnings


def _as_read(scores: Iterable[float], options: Options) -> Floats:
    """Return the scores in the precision of this version's comparisons."""
    return np.array(scores, dtype=np.float32 if options.order == "float32" else np.float64).astype(np.float64)


def _read(path: str, groups: JudgmentGroups, options: Options) -> tuple[kernel.run.Run, list[bytes], list[str]]:
    """Read a run, and return it with the evaluated topics in byte order and a note about the others."""
    with closing(kernel.stream.Stream(kernel.stream.Source(path))) as stream:
        run = kernel.run.run_of_lines(stream, options)
    judged, place = sorted(groups.topics), groups.place
    both = [topic for topic in judged if topic in run.topics]
    if not both:
        raise kernel.grade.no_common_topics(run.place, run.topics, place, judged)
    missing = [decode(topic) for topic in judged if topic not in run.topics]
    singular = len(missing) == 1
    are, score = ("is", "scores") if singular else ("are", "score")
    fate = f"{score} 0" if options.topics == "qrels" else f"{are} left out"
    which = f"{len(missing)} of {len(judged)} topics of {place} {are} missing from the run ({shorten(missing)})"
    note = f"{run.place}: {which} and {fate}"
    return run, judged if options.topics == "qrels" else both, [note] if missing else []


def _ranking(results: kernel.run.TopicResults | None, options: Options, ascending: bool) -> list[bytes]:
    """Return docnos from the best to the worst. Unlike elsewhere, trec_eval breaks ties here by ascending docno."""
    if results is None:
        return []
    scores = _as_read(results.scores, options)
    order = sorted(range(len(results.docnos)), key=results.docnos.__getitem__, reverse=not ascending)
    order.sort(key=lambda position: -scores[position])
    return [results.docnos[i] for i in order[: options.depth]]


def _scored(name: str, run: kernel.run.Run, topics: list[bytes], values: Floats, notes: list[str]) -> ScoredRun:
    empty = [topic not in run.topics for topic in topics]
    return ScoredRun(name, run.tag, [decode(topic) for topic in topics], values, empty, [*run.notes, *notes])


# `gradedeval trec_eval` without its command line: files and options -> text.


HINTS = {
    "missing-topics": "without -c such topics are left out",
    "duplicate-document": "give each document once",
    "duplicate-judgment": "give each judgment once",
    "no-positive-grade": "are these the right qrels?",
    "label": "grades are numbers",
    "rising-scores": "negate the scores",
    "ties": "break the ties in the run",
    "short-lists": "give longer lists",
    "swapped-files": "the order is QRELS RUN...: are they swapped?",
}
"""Kind of an error or a note -> its hint here: trec_eval's command line lacks most of our options."""


_FORMATS = re.compile(r", or [^,;]* .--(run|qrels)-format .*")


def drop_in_options(complete: bool, level: int | None, depth: int | None, judged_only: bool, version: str) -> Options:
    """Return the options of a trec_eval command line: -c, -l, -M, -J, and the version's precision of scores."""
    topics = "qrels" if complete else "both"
    options = resolve_options("trec_eval", topics=topics, rel=level, depth=depth, judged_only=judged_only)
    # trec_eval says nothing of options without effect.
    options = replace(options, extra_fields=True, run_format="trec", qrels_format="trec", may_be_unused=options.given)
    return replace(options, order="float32" if version == "9" else "score")


def evaluate_drop_in(
    runs: Mapping[str, str],
    qrels: str,
    lines: list[Line],
    options: Options,
    printing: PrintOptions,
    *,
    holds: str,
    form: str | None = None,
    view: kernel.formats.View = kernel.formats.PAGE,
) -> str:
    """Return the output for all runs, in trec_eval's lines or another form. Raises InputError for invalid files."""
    try:
        if holds == "qrels":
            text, notes = _evaluate(runs, qrels, lines, options, printing, form, view)
        else:
            text, notes = _evaluate_groups(runs, qrels, holds, lines, options, printing)
    except InputError as error:
        raise _adapted(error) from None
    emit_notes(adapted_notes(notes))
    return text


def adapted_notes(notes: Iterable[str]) -> list[str]:
    """Return the notes with hints for this command line."""
    return [
        note.with_hint(HINTS[note.kind]) if isinstance(note, Note) and note.hint and note.kind in HINTS else note
        for note in notes
    ]


def _adapted(error: InputError) -> InputError:
    """Return the error with hints for this command line."""
    hint = HINTS.get(error.kind, _FORMATS.sub("", error.raw[1]))
    return error.replace(hint=hint, also=[_adapted(further) for further in error.also])


def _evaluate(
    runs: Mapping[str, str],
    qrels: str,
    lines: list[Line],
    options: Options,
    printing: PrintOptions,
    form: str | None,
    view: kernel.formats.View,
) -> tuple[str, list[str]]:
    """Return the text and the notes for ordinary qrels."""
    lines, lost = (lines, []) if form is None else _as_numbers(lines, form)
    judged = kernel.Qrels(qrels, duplicates=options.duplicates, format=options.qrels_format)
    scorer = kernel.Scorer(judged, needed_measures(lines), options)
    workers = kernel.Workers.current()
    each = workers.progress(list(runs.items()))
    results = [score_run(name, path, scorer, lines, workers.silent()) for name, path in each]
    most = max((scored.runs[0].most(len(scorer.measures)) for _, scored in results), default=0)
    few = kernel.caveats.few_topics_notes(most)
    run_notes = kernel.caveats.merge_run_notes((note for scored, _ in results for note in scored.notes), len(results))
    notes = [*scorer.notes, *lost, *run_notes, *few]
    if form is None:
        return _text([scored for scored, _ in results], lines, printing), notes
    scores = kernel.Scores([run for _, scored in results for run in scored.runs], scorer.measures, judged, options)
    return kernel.score_tables.render_scores(scores, form, by_topic=printing.by_topic, view=view), notes


def _as_numbers(lines: list[Line], form: str) -> tuple[list[Line], list[str]]:
    """Return the numeric lines and a note about the others. Raises InputError (usage) if none is left."""
    counted = list(map(counting_topics, lines))
    lost = ", ".join(line.name for line in counted if line.measure is None)
    numeric = [line for line in counted if line.measure is not None]
    problem = f"{form} holds numbers only, not the text of {lost}"
    if not numeric:
        raise InputError("-f", problem, "leave out -f", usage=True)
    return numeric, [f"-f: {problem}; leave out -f to print it"] if lost else []


def _evaluate_groups(
    runs: Mapping[str, str], qrels: str, holds: str, lines: list[Line], options: Options, printing: PrintOptions
) -> tuple[str, list[str]]:
    """Return text and notes for qrels of judgment groups (`qrels_jg`) or preferences (`prefs`, `qrels_prefs`)."""
    if options.judged_only:
        raise InputError("-J", f"cannot be combined with -R {holds}", "leave out one of them", usage=True)
    groups = kernel.JudgmentGroups.read(qrels, holds)
    score = score_groups if holds == "qrels_jg" else score_preferences
    results = [score(name, path, groups, lines, options) for name, path in runs.items()]
    notes = [note for scored in results for note in kernel.caveats.limit_caveats(scored.notes)]
    few = kernel.caveats.few_topics_notes(max(len(scored.topics) for scored in results))
    return _text(results, lines, printing), [*notes, *few]


def _text(results: list[ScoredRun], lines: list[Line], printing: PrintOptions) -> str:
    """Return the lines of each run. Several runs are headed by their names, unless runid is printed anyway."""
    named = len(results) == 1 or any(line.name == "runid" and printing.summary for line in lines)
    return "".join(
        ("" if named else kernel.formats.trec_line("runid", ALL, scored.run)) + format_run(scored, lines, printing)
        for scored in results
    )
