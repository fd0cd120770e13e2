"""`lint`: defects of runs and qrels, before scoring."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from functools import cache
from itertools import groupby, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gradedeval import __version__, kernel
from gradedeval.arrays import np
from gradedeval.errors import SHOWN, InputError, either, flag, plural, public, shorten, truncate, visible, with_keywords
from gradedeval.kernel import Column, Document, Layout, Measure, Options, Table, decode, ranges

if TYPE_CHECKING:
    from gradedeval.kernel import Batch, Qrels, Scorer
    from gradedeval.kernel.rankings.submissions import Defect, Judgments, Submission
    from gradedeval.kernel.scoring.tasks import GradedRun

Ties = Literal["docno-desc", "worst", "best"]


DEPTHS = (10, 20, 100)
ALL = either("--all", ".shown(everything=True)")


@dataclass
class Facts:
    """Numbers about a submission.

    tag       tag of its first line
    format    format of its file
    depth     topic -> number of documents
    tied      documents with the same score as another of the topic
    float32   documents tied only in single precision, as in trec_eval 9
    unjudged  depth -> mean share of unjudged documents down to it, over the judged topics of the run
    moves     measure -> mean score, and the lowest and highest mean over orders of tied documents
    content   hash of documents and scores: equal for copies
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
        """All facts except the hash, which differs between processes."""
        facts = asdict(self)
        del facts["content"]
        return facts

    @property
    def depths(self) -> tuple[int, float, int]:
        """Minimum, median and maximum number of documents of a topic."""
        counts = list(self.depth.values()) or [0]
        return min(counts), float(np.median(counts)), max(counts)


def collect_facts(run: Submission) -> Facts:
    """Collect facts about a submission by itself."""
    listed = run.listed
    facts = Facts(decode(next(iter(run.tags), b"")), run.format, len(listed.topics), len(listed))
    facts.depth = dict(zip(map(decode, listed.topics), listed.rows.counts.tolist(), strict=True))
    facts.content = _content(run)
    double_precision = listed.scores[listed.ascending(-listed.scores)]
    with np.errstate(over="ignore"):
        single_precision = double_precision.astype(np.float32)  # keeps the order
    facts.tied = _shared(double_precision, listed.follows)
    facts.float32 = _shared(single_precision, listed.follows) - facts.tied
    return facts


def _content(run: Submission) -> int:
    """Hash documents and scores, regardless of the order of topics."""
    listed = run.listed
    docnos = listed.rows.docnos(np.arange(len(listed)))
    columns = docnos.keyed(_secret()), listed.rows.length.astype(np.int32), listed.scores + 0.0  # no -0
    content = 0
    for topic, (begin, end) in zip(listed.topics, listed.bounds(), strict=True):
        content ^= hash((topic, *(column[begin:end].tobytes() for column in columns)))
    return content


@cache
def _secret() -> bytes:
    """Return a random key for hashes of content: without it, equal hashes could be forged."""
    return os.urandom(16)


def _shared(scores: Any, follows: Any) -> int:
    """Count scores, sorted within topics, that occur more than once in their topic."""
    same = (scores[1:] == scores[:-1]) & follows
    shared = np.append(same, False)
    shared[1:] |= same
    return int(np.count_nonzero(shared[: len(scores)]))


def check_alone(run: Submission, facts: Facts, max_depth: int | None, tag_is_filename: bool) -> None:
    """Add the defects of a submission by itself."""
    _check_tags(run, tag_is_filename)
    if max_depth is not None:
        for topic, (begin, end) in zip(run.listed.topics, run.listed.bounds(), strict=True):
            if end - begin > max_depth:
                problem = f"topic {decode(topic)} has {end - begin} documents, more than {max_depth}"
                run.error("depth", problem, f"keep the {max_depth} best", int(run.listed.lines[begin + max_depth]))
    if len(run.listed):
        _check_ranks(run)
        _check_scores(run)
        _check_copied(run)
    if facts.float32:
        problem = f"{facts.float32} of {facts.documents} documents tied only in single precision"
        hint = "write scores that differ in their first seven digits"
        run.warn("float32", f"{problem}, which trec_eval 9 uses", hint)


def _check_tags(run: Submission, tag_is_filename: bool) -> None:
    if len(run.tags) > 1:
        second = list(run.tags)[1]
        problem = f"{len(run.tags)} tags ({shorten(map(truncate, map(decode, run.tags)))})"
        hint = "give all lines of a run the same tag"
        run.warn("tag", f"{problem}; the second starts on this line", hint, run.tags[second])
    name = run.file_name
    stems = {name, Path(name).stem}
    for tag, line in run.tags.items():
        if b" " in tag and run.format == "trec":
            problem = f"tag '{truncate(decode(tag))}' has spaces, and trec_eval 9 refuses its lines as malformed"
            run.warn("tag", problem, "write the tag without spaces", line)
        if tag_is_filename and decode(tag) not in stems:
            run.error("tag", f"tag '{truncate(decode(tag))}' is not the file name", f"write {Path(name).stem}", line)


def _check_ranks(run: Submission) -> None:
    """Add ranks that disagree with the scores, or repeat: trec_eval uses only the scores."""
    listed = run.listed
    order = listed.ascending(listed.ranks)
    scores, ranks = listed.scores[order], listed.ranks[order]
    ranked = ~np.logical_or.reduceat(np.isnan(ranks), listed.begins)  # topics whose ranks are all numbers
    within = listed.follows & ranked[listed.rows.topic_of[1:]]
    rises = (scores[1:] > scores[:-1]) & within  # a difference may be larger than any float
    against, repeats = int(np.count_nonzero(rises)), (ranks[1:] == ranks[:-1]) & within
    if against and not ((scores[1:] < scores[:-1]) & listed.follows).any():
        problem = "scores increase with the rank, so the document ranked last is scored as the best"
        run.warn("rank", problem, "a higher score is better; reverse the scores", _first_line(run, order, rises))
    elif against:
        verb = "scores" if against == 1 else "score"
        problem = f"{against} {plural(against, 'document')} {verb} higher than the one ranked above, first here"
        run.warn("rank", problem, "ranking is by score; make ranks and scores agree", _first_line(run, order, rises))
    if repeated := int(np.count_nonzero(repeats)):
        problem = f"{repeated} {plural(repeated, 'rank')} repeated within a topic, the first on this line"
        run.warn("rank", problem, "number ranks from 1 in each topic", _first_line(run, order, repeats))


def _first_line(run: Submission, order: Any, mask: Any) -> int:
    """Return the first line of the documents in a mask, which leaves out the first document in this order."""
    return int(run.listed.lines[order][1:][mask].min())


def _check_scores(run: Submission) -> None:
    """Add scores that no system produces on purpose."""
    listed = run.listed
    lowest, highest = (extreme_of.reduceat(listed.scores, listed.begins) for extreme_of in (np.minimum, np.maximum))
    flat = np.flatnonzero((lowest == highest) & (listed.rows.counts > 1)).tolist()
    if flat:
        names = shorten([decode(listed.topics[row]) for row in flat])
        problem = f"all documents have the same score in {len(flat)} of {len(listed.topics)} topics ({names})"
        line = int(listed.lines[listed.begins[flat[0]]])
        run.warn("score", problem, "order falls back to docno; write distinct scores", line)
    size, single_precision = np.abs(listed.scores), np.finfo(np.float32)
    too_small = (size > 0) & (size < single_precision.smallest_subnormal)
    for kind, extreme in (("too large", size > single_precision.max), ("too small", too_small)):
        rows = np.flatnonzero(extreme)
        if len(rows):
            problem = f"{len(rows)} {plural(len(rows), 'score')} {kind} for single precision, the first on this line"
            run.warn("score", problem, "trec_eval 9 treats them as ties", int(listed.lines[rows[0]]))


def _check_copied(run: Submission) -> None:
    """Add topics that have the documents of another topic in the same order."""
    listed, bounds = run.listed, run.listed.bounds()
    alike: dict[bytes, list[int]] = {}
    for row, (begin, end) in enumerate(bounds):
        if end - begin > 1:
            alike.setdefault(listed.rows.hashed[begin:end].tobytes(), []).append(row)
    same: dict[tuple[bytes, ...], list[int]] = {}
    for row in (row for rows in alike.values() if len(rows) > 1 for row in rows):  # equal hashes prove nothing
        same.setdefault(tuple(listed.rows.docnos(np.arange(*bounds[row])).names()), []).append(row)
    for first, *copies in same.values():
        if copies:
            which = f"{plural(len(copies), 'topic')} {shorten([decode(listed.topics[row]) for row in copies])}"
            have = f"({len(copies)} of {len(bounds)}) {'has' if len(copies) == 1 else 'have'}"
            problem = f"{which} {have} the documents of topic {decode(listed.topics[first])} in the same order"
            run.warn("copied", problem, "check for copied lines", int(listed.lines[bounds[copies[0]][0]]))


def check_together(runs: Sequence[Submission], facts: Sequence[Facts]) -> None:
    """Add the defects of submissions that share a tag or their content."""
    by_tag: dict[str, Submission] = {}
    contents: dict[int, Submission] = {}
    for run, run_facts in zip(runs, facts, strict=True):
        if not run_facts.topics:
            continue
        first = by_tag.setdefault(run_facts.tag, run)
        if first is not run and run_facts.tag:
            run.warn("tag", f"tag '{run_facts.tag}' is also the tag of {first.place}", "give each run a different tag")
        first = contents.setdefault(run_facts.content, run)
        if first is not run:
            run.warn("copied", f"has the same documents and scores as {first.place}", "check that it is the right file")


def check_topics(run: Submission, facts: Facts, expected: Sequence[str], source: str) -> None:
    """Add the topics that the run lacks, and the topics that only the run has."""
    facts.missing = [topic for topic in expected if topic not in facts.depth]
    expected_topics = set(expected)
    facts.extra = [topic for topic in facts.depth if topic not in expected_topics]
    if expected and facts.topics and len(facts.missing) == len(expected):
        problem = f"shares no topics with {source} ({shorten(facts.depth, 2)} vs {shorten(expected, 2)})"
        run.error("topics", problem, "check that both are for the same collection")
        return
    if facts.missing and facts.topics:
        problem = f"{len(facts.missing)} of {len(expected)} topics of {source} are missing ({shorten(facts.missing)})"
        run.warn("topics", problem, "missing topics are scored as empty rankings")
    if facts.extra:
        count = f"{len(facts.extra)} {plural(len(facts.extra), 'topic')} not in {source} ({shorten(facts.extra)})"
        run.warn("unknown-topics", count, "they are ignored")


def check_same_topics(runs: Sequence[Submission], facts: Sequence[Facts]) -> None:
    """Add the topics that each submission lacks and another has."""
    all_topics = list(dict.fromkeys(topic for run_facts in facts for topic in run_facts.depth))
    for run, run_facts in zip(runs, facts, strict=True):
        check_topics(run, run_facts, all_topics, "the other runs")


def check_judged(run: Submission, facts: Facts, graded: GradedRun[Batch], place: str) -> None:
    """Add the share of unjudged documents, and warn if no document is judged."""
    judged = {
        topic: codes[:retrieved] < batch.unjudged_code
        for batch in graded.batches
        for topic, codes, retrieved in zip(batch.topics, batch.codes, batch.retrieved.tolist(), strict=True)
    }
    both = [judged[topic] for topic in run.listed.topics if topic in judged]
    for depth in DEPTHS:
        shares = [1 - int(np.count_nonzero(mask[:depth])) / min(depth, len(mask)) for mask in both]
        facts.unjudged[str(depth)] = float(np.mean(shares))
    if not any(mask.any() for mask in both):
        run.warn("unjudged", f"no document is judged in {place}", "check that docnos match the collection")


def check_relevant(judged: Judgments, qrels: Qrels, measures: Sequence[Measure]) -> None:
    """Warn of topics without a document that is relevant to a measure: they score 0."""
    scorer = kernel.Scorer(qrels, measures, Options())
    for topics, columns in scorer.topics_without_relevant.items():
        if topics:
            some_measures = len(scorer.topics_without_relevant) > 1
            names = [scorer.measures[column].label for column in columns] if some_measures else []
            problem = kernel.caveats.no_relevant_text("", topics, len(qrels), names)
            judged.warn("relevant", problem, kernel.caveats.no_relevant_hint(topics, scorer.measures))


class TieOrders:
    """Graded runs and their means under different orders of tied documents.

    options  how chunks are folded
    """

    def __init__(self, qrels: Qrels, measures: Sequence[Measure], options: Options) -> None:
        self.qrels, self.measures, self.options = qrels, measures, options
        self._scorers: dict[Ties, Scorer] = {}
        self.counts: list[tuple[int, int]] = []
        """For each graded run: the numbers of its scored topics, and of the missing ones among them."""

    @property
    def signature(self) -> str:
        """Settings that the means depend on."""
        scorer = self._scorer("docno-desc")
        return kernel.signature(self.qrels, scorer.grader.options, scorer.measures, self.counts or [(0, 0)])

    def _scorer(self, ties: Ties) -> Scorer:
        if ties not in self._scorers:  # a given order needs no warning about ties
            folding = self.options.given.intersection(kernel.options.FOLDING)
            settings = {name: getattr(self.options, name) for name in folding}
            options = Options(ties=ties, given=frozenset({"ties", *folding}), **settings)
            self._scorers[ties] = kernel.Scorer(self.qrels, self.measures, options)
        return self._scorers[ties]

    def grade(self, run: Submission, ties: Ties = "docno-desc", *, whole: bool = False) -> GradedRun[Batch]:
        """Grade a run that shares topics with the qrels, down to the deepest rank of the measures or as a whole. Raises
        InputError if a measure cannot be computed."""
        grader = self._scorer(ties).grader
        grader = replace(grader, last_rank=None) if whole else grader
        return kernel.tasks.grade_run(run.listed, grader, kernel.Workers())

    def means(self, run: Submission, graded: GradedRun[Batch], ties: Ties = "docno-desc") -> list[float]:
        """Return the mean of each measure over a run that is graded in this order. Raises InputError as `grade`."""
        scorer = self._scorer(ties)
        batches = list(map(scorer.score_batch, graded.batches))
        scores = scorer.merge(run.name, batches, graded.topics, graded.missing)
        return [
            scores.summary("score", column, measure.definition.summary) if scores.topics else np.nan
            for column, measure in enumerate(scorer.measures)
        ]


def check_tie_effects(run: Submission, facts: Facts, orders: TieOrders, graded: GradedRun[Batch]) -> None:
    """Score the run, and warn if ties change its scores. Raises InputError if a measure cannot be computed."""
    means = {"score": orders.means(run, graded)}
    if facts.tied:
        means["worst"] = orders.means(run, orders.grade(run, "worst"), "worst")
        means["best"] = orders.means(run, orders.grade(run, "best"), "best")
    for column, measure in enumerate(orders.measures):
        values = {name: float(scores[column]) for name, scores in means.items()}
        facts.moves[measure.label] = {"worst": values["score"], "best": values["score"], **values}
    ranges = {name: (f"{values['worst']:.4f}", f"{values['best']:.4f}") for name, values in facts.moves.items()}
    moving = [f"{name} {worst}..{best}" for name, (worst, best) in ranges.items() if worst != best]
    if moving:
        problem = f"{facts.tied} of {facts.documents} documents tied, so scores depend on their order"
        run.warn("ties", f"{problem}: {', '.join(moving)}", "give scores that differ")


@dataclass(frozen=True, eq=False, repr=False)
class Report(kernel.results.FrameResult):
    """Submissions in the given order with their defects and facts, and the qrels, if any.

    checked  settings that scores and the shares of unjudged documents depend on; "" without valid qrels
    """

    runs: list[Submission]
    facts: list[Facts] = field(default_factory=list)
    qrels: Judgments | None = None
    checked: str = ""

    @property
    def signature(self) -> str:
        """The version, or with qrels the settings that scores depend on."""
        return self.checked or f"gradedeval {__version__}"

    @property
    def files(self) -> list[Submission]:
        return [*([self.qrels] if self.qrels else []), *self.runs]

    @property
    def errors(self) -> int:
        return sum(file.count("error") for file in self.files)

    @property
    def warnings(self) -> int:
        return sum(file.count("warning") for file in self.files)

    def document(self, layout: Layout, *, everything: bool = False) -> Document:
        """Return tables of defects: for people the first ten of a kind, or all with `everything`; for programs always
        all."""
        if layout == "long":
            names = ("file", *(field.name for field in fields(kernel.submissions.Defect)))
            rows = [(file.place, *astuple(defect)) for file in self.files for defect in file.defects]
            return Document([Table([Column(name) for name in names], rows)], self.signature, nested=_nested(self))
        few = len(self.files) <= FEW
        listed = [_problems(file, everything) for file in self.files] if few else _by_kind(self, everything)
        blocks: list[Table | str] = [*listed]
        return Document([*blocks, _facts_table(self)] if self.runs else blocks, self.signature, messages=True)


def lint_runs(
    runs: Mapping[str, str],
    qrels: str | None,
    measures: Sequence[Measure],
    max_depth: int | None,
    tag_is_filename: bool,
    options: Options,
    words: Callable[[str], str] = with_keywords,
) -> Report:
    """Check submissions before scoring: see `lint`.

    runs     name -> path
    qrels    path of the judgments
    options  the formats of runs and qrels, labels, and how chunks are folded
    words    names options by keywords or by flags in the texts of defects
    """
    max_depth, labels = ranges.MAX_DEPTH.check_or_none(max_depth), options.labels.of if options.labels else None
    read_qrels = kernel.submissions.Judgments.of_qrels
    judged = None if qrels is None else read_qrels(qrels, options.qrels_format, labels, words=words)
    if judged is None and (folding := options.given.intersection(kernel.options.FOLDING)):
        raise kernel.options.OPTIONS[min(folding)].error("needs qrels", "add QRELS")
    valid = None if judged is None else judged.valid
    if valid is not None and options.collapse_qrels is not None:
        valid = kernel.Qrels(valid.columns, collapse=options.collapse_qrels)
    report, orders = Report([], [], judged), None
    if judged is not None and valid is not None:
        check_relevant(judged, valid, measures)
        orders = TieOrders(valid, measures, options)
    for name, path in kernel.parallel.progress("runs")(list(runs.items())):
        run = kernel.submissions.Submission.read(name, path, options.run_format, words=words)
        facts = collect_facts(run)
        check_alone(run, facts, max_depth, tag_is_filename)
        if judged is not None and orders is not None:
            check_topics(run, facts, list(map(decode, orders.qrels.topics)), judged.place)
            if any(topic in orders.qrels.row_of for topic in run.listed.topics):
                graded = orders.grade(run, whole=True)
                orders.counts.append((len(graded.topics), graded.missing))
                check_judged(run, facts, graded, judged.place)
                check_tie_effects(run, facts, orders, graded)
        elif facts.tied:
            problem = f"{facts.tied} of {facts.documents} documents tied"
            run.warn("ties", problem, f"order falls back to docno; use {flag.qrels} to see the effect")
        run.forget()
        report.runs.append(run)
        report.facts.append(facts)
    check_together(report.runs, report.facts)
    if valid is None and len(report.runs) > 1:
        check_same_topics(report.runs, report.facts)
    return report if orders is None else replace(report, checked=orders.signature)


FEW = 3
"""Maximum number of files whose problems are listed by file; with more they are listed by kind."""


def _problems(file: Submission, show_all: bool) -> str:
    """Return the number of defects of a file, and the defects."""
    errors, warnings = file.count("error"), file.count("warning")
    place = visible(file.place)
    place_and_format = place if file.format in ("", "trec") else f"{place} (format {visible(file.format)})"
    lines = [f"{place_and_format}: {_counted(errors, warnings) if errors or warnings else 'no problems found'}"]
    ranked = sorted(file.defects, key=lambda defect: (defect.weight, _first(file, defect.kind)))
    for (weight, kind), group in groupby(ranked, key=lambda defect: (defect.weight, defect.kind)):
        defects = list(group)
        listed = defects if show_all else defects[:SHOWN]
        lines += [f"  {weight:<8} {_defect_text(file, defect)}" for defect in listed]
        rest = len(defects) - len(listed)
        if rest:
            lines.append(f"  {weight:<8} {rest} more of the kind '{kind}'; {ALL} lists them")
    return "\n".join(lines)


def _counted(errors: int, warnings: int) -> str:
    return f"{errors} {plural(errors, 'error')}, {warnings} {plural(warnings, 'warning')}"


def _defect_text(file: Submission, defect: Defect, hint: bool = True) -> str:
    """Return the line of a defect, if any, its problem, and its hint."""
    line = defect.place.removeprefix(file.place).lstrip(":")
    text = f"{defect.problem}; {defect.hint}" if hint and defect.hint else defect.problem
    return visible(f"line {line}: {text}" if line else text)


def _by_kind(report: Report, show_all: bool) -> list[str]:
    """Return the number of defects of all files, and the defects of each kind, the rarest kind first."""
    folder = _folder(report.runs)
    clean = sum(not file.defects for file in report.files)
    in_folder = f" in {visible(folder)}" if folder else ""
    counts = _counted(report.errors, report.warnings)
    runs = f"{len(report.runs)} runs{in_folder}" + (" and the qrels" if len(report.files) > len(report.runs) else "")
    blocks = [f"{runs}: {counts}; {clean} of {len(report.files)} files without problems"]
    by_kind: dict[tuple[str, str], list[tuple[Submission, Defect]]] = {}
    for file in report.files:
        for defect in file.defects:
            by_kind.setdefault((defect.weight, defect.kind), []).append((file, defect))
    for (weight, kind), pairs in sorted(by_kind.items(), key=lambda item: (item[0][0], len(item[1]))):
        blocks.append(_of_kind(f"{weight}, {kind}", pairs, f"{folder}/" if folder else "", show_all))
    return blocks


def _of_kind(kind: str, pairs: list[tuple[Submission, Defect]], folder: str, show_all: bool) -> str:
    """Return the defects of a kind: the first one of each of the first ten files, or all."""
    by_file: dict[int, list[tuple[Submission, Defect]]] = {}
    for file, defect in pairs:
        by_file.setdefault(id(file), []).append((file, defect))
    hints = {defect.hint for _, defect in pairs}
    lines = [f"{kind}: {len(by_file)} {plural(len(by_file), 'file')}"]
    same = _same_ending([defect.problem for _, defect in pairs]) if len(by_file) > 1 else ""
    lines[0] += f"; … {visible(same.replace(folder, '') if folder else same)}" if same else ""
    lines[0] += f"; {visible(min(hints))}" if len(hints) == 1 and min(hints) else ""
    for defects in list(by_file.values())[: None if show_all else SHOWN]:
        for file, defect in defects if show_all else defects[:1]:
            more = f" (and {len(defects) - 1} more)" if len(defects) > 1 and not show_all else ""
            rest = replace(defect, problem=defect.problem.removesuffix(same).rstrip())
            text = _defect_text(file, rest, len(hints) > 1).rstrip(": ").replace(visible(folder), "")
            lines.append(f"  {': '.join(filter(None, (visible(file.place.removeprefix(folder)), text)))}{more}")
    if len(by_file) > SHOWN and not show_all:
        lines.append(f"  {len(by_file) - SHOWN} more files; {ALL} lists them")
    return "\n".join(lines)


def _same_ending(problems: Sequence[str]) -> str:
    """Return the words with which all problems end, if there are more than three."""
    from_the_end = zip(*(reversed(problem.split(" ")) for problem in problems), strict=False)
    ending = [word for word, *_ in takewhile(lambda words: len(set(words)) == 1, from_the_end)][::-1]
    return " ".join(ending) if len(ending) > 3 else ""


def _folder(runs: Sequence[Submission]) -> str:
    """Return the folder that contains all runs, or ""."""
    try:
        return os.path.commonpath([os.path.dirname(run.place) for run in runs])
    except ValueError:  # absolute and relative paths mixed
        return ""


def _first(file: Submission, kind: str) -> int:
    """Return the index of the first defect of a kind."""
    return next(index for index, defect in enumerate(file.defects) if defect.kind == kind)


def _facts_table(report: Report) -> Table:
    judged = any(facts.unjudged for facts in report.facts)
    counts = ("topics", "documents", "min depth", "median depth", "max depth", "tied", "tied float32")
    few = ("min depth", "max depth", "tied float32")
    tagged = any(facts.tag not in ("", run.name) for run, facts in zip(report.runs, report.facts, strict=True))
    columns = [Column("run"), *([Column("tag")] if tagged else [])]
    columns += [Column(name, "number", wide=name in few) for name in counts]
    columns += [Column(f"unjudged@{depth}", "score", wide=depth != DEPTHS[0]) for depth in DEPTHS] if judged else []
    rows = [
        [
            run.name,
            *([facts.tag] if tagged else []),
            *(facts.topics, facts.documents, *facts.depths, facts.tied, facts.float32),
            *([facts.unjudged.get(str(depth)) for depth in DEPTHS] if judged else []),
            run.count("error"),
            run.count("warning"),
        ]
        for run, facts in zip(report.runs, report.facts, strict=True)
    ]
    return Table([*columns, Column("errors", "count"), Column("warnings", "count")], rows)


def _nested(report: Report) -> dict[str, Any]:
    facts_of = {id(run): facts for run, facts in zip(report.runs, report.facts, strict=True)}
    files = [
        {
            "file": file.place,
            "kind": "run" if id(file) in facts_of else "qrels",
            "format": file.format,
            "errors": file.count("error"),
            "warnings": file.count("warning"),
            "defects": [asdict(defect) for defect in file.defects],
            **({"facts": facts_of[id(file)].as_dict} if id(file) in facts_of else {}),
        }
        for file in report.files
    ]
    return {"errors": report.errors, "warnings": report.warnings, "files": files}


@public
def lint(
    runs: Any,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] = kernel.parse.DEFAULT,
    *,
    max_depth: int | None = None,
    tag_is_filename: bool = False,
    run_format: str | None = None,
    qrels_format: str | None = None,
    labels: Any = None,
    collapse: Any = None,
    collapse_by: Literal["score", "first"] | None = None,
    collapse_qrels: Any = None,
) -> Report:
    """Check run files before scoring, as `gradedeval lint` does.

    runs             a path, a folder, a pattern such as "runs/*.run", a list of these, or a dict name -> path
    qrels            the path of judgments: checks topics, shares of unjudged documents, and effects of ties as well
    measures         the measures whose scores ties may change
    max_depth        report topics with more documents as errors
    tag_is_filename  report a tag that differs from the file name as an error
    run_format       format of the runs; None: by content
    qrels_format     format of the qrels; None: by content
    labels           a dict label -> grade, if grades are words
    collapse         with collapse_by, collapse_qrels: fold chunks into documents, as `evaluate` does

    Returns `Report`, whose `.frame` has a row for each defect, of qrels first: file, weight (`error`: an evaluator
    would refuse it, `warning`: it would score it, but not as intended), kind, place, problem, hint. No row: no
    defect. Raises InputError for anything but files, and if a measure cannot be computed from these qrels.

    >>> report = gradedeval.lint("qrels_samples/rivers-dense.run", "qrels_samples/rivers.qrels")
    >>> report.errors, report.warnings
    (0, 3)
    >>> list(report.frame["hint"])[1]
    'missing topics are scored as empty rankings'
    """
    named = kernel.named_runs(runs, qrels)
    for name, source in [*named.items(), *([("qrels", qrels)] if qrels is not None else [])]:
        if not isinstance(source, str | os.PathLike):
            problem = f"is an object of type {type(source).__name__}"
            raise InputError(name, problem, "lint reads files: give a path", usage=True)
    given = (run_format, qrels_format, labels, collapse, collapse_by, collapse_qrels)
    options = kernel.resolve_options(**dict(zip(kernel.options.OF_FILES, given, strict=True)))
    return lint_runs(named, qrels, kernel.parse_measures(measures), max_depth, tag_is_filename, options)
