"""`lint`: submissions and judgments -> one report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gradedeval.analysis.lint import checks
from gradedeval.analysis.lint.submissions import Judgments, Submission, read_judgments, read_submission
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import DEFAULT, parse_measures
from gradedeval.options import numbers
from gradedeval.options.values import Labels
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.trec.lines import decode


@dataclass(frozen=True)
class Report:
    """The submissions in the order given, facts about each, and the qrels if they were given; with their defects."""

    runs: list[Submission]
    facts: list[checks.Facts] = field(default_factory=list)
    qrels: Judgments | None = None

    @property
    def files(self) -> list[Submission]:
        return [*([self.qrels] if self.qrels else []), *self.runs]

    @property
    def errors(self) -> int:
        return sum(file.count("error") for file in self.files)

    @property
    def warnings(self) -> int:
        return sum(file.count("warning") for file in self.files)


def lint(
    runs: Mapping[str, str],
    qrels: str | None = None,
    measures: Sequence[Measure] | None = None,
    *,
    max_depth: int | None = None,
    tag_is_filename: bool = False,
    run_format: str | None = None,
    qrels_format: str | None = None,
    labels: Labels | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Check submissions for everything that a careful organizer checks before scoring.

    runs             name -> path
    qrels            path of the judgments: checks topics, shares of unjudged documents, effects of ties
    measures         the measures whose scores ties may change
    max_depth        documents allowed in a topic
    tag_is_filename  whether the tag of a run must be its file name
    run_format       the format of the runs, qrels_format that of the qrels; None: as their content says
    labels           label -> grade, where the grades of the qrels are words
    progress         passes the runs on one by one, and may show how far the work has come

    Raises InputError where a measure cannot be computed from these qrels; problems of the files are in the report.
    """
    max_depth = numbers.MAX_DEPTH.check_or_none(max_depth)
    judged = None if qrels is None else read_judgments(qrels, qrels_format, labels.of if labels else None)
    valid = checks.valid_qrels(judged) if judged is not None and judged.grades else None
    chosen = list(measures) if measures is not None else parse_measures(DEFAULT)
    report = Report([], [], judged)
    if judged is not None and valid is not None:
        checks.check_relevant(judged, valid, chosen)
    for name, path in progress(list(runs.items())):
        run = read_submission(name, path, run_format)
        facts = checks.collect_facts(run)
        checks.check_alone(run, facts, max_depth, tag_is_filename)
        if judged is not None and valid is not None:
            checks.check_topics(run, facts, list(map(decode, judged.grades)), judged.place)
            checks.check_judged(run, facts, judged)
            checks.check_tie_effects(run, facts, valid, chosen)
        elif facts.tied:
            what = f"{facts.tied} of {facts.documents} documents tied"
            run.warn("ties", what, "their order is decided by docno; --qrels shows the effect on scores")
        run.forget()
        report.runs.append(run)
        report.facts.append(facts)
    checks.check_together(report.runs, report.facts)
    if valid is None and len(report.runs) > 1:
        checks.check_same_topics(report.runs, report.facts)
    return report
