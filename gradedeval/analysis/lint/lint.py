"""`lint`: submissions and judgments -> one report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gradedeval.analysis.lint.checks import Facts, check_alone, check_judged, check_together, check_topics, facts_of
from gradedeval.analysis.lint.submissions import Judgments, Submission, read_judgments, read_submission
from gradedeval.analysis.lint.tie_effects import check_moves, clean_qrels
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import DEFAULT, parse_measures
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.trec.lines import decode


@dataclass(frozen=True)
class Report:
    """What was found: the submissions in the order given, with facts about each, and the qrels if they were given."""

    runs: list[Submission]
    facts: list[Facts] = field(default_factory=list)
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
    progress: Progress = no_progress,
) -> Report:
    """Look at submissions for all that a careful organiser checks before scoring.

    runs             name -> path
    qrels            path of the judgments: topics missing or extra, shares of unjudged, what ties can change
    measures         those that ties may move
    max_depth        documents allowed in a topic
    tag_is_filename  whether a run's tag must be the name of its file
    progress            passes the runs on one by one, and may show how far the work has come

    Raises InputError where a measure cannot be computed from these qrels; all that is wrong with the files is in the
    report.
    """
    judged = None if qrels is None else read_judgments(qrels)
    clean = clean_qrels(judged) if judged is not None and judged.grades else None
    chosen = list(measures) if measures is not None else parse_measures(DEFAULT)
    report = Report([], [], judged)
    for name, path in progress(list(runs.items())):
        run = read_submission(name, path)
        own = facts_of(run)
        check_alone(run, own, max_depth, tag_is_filename)
        if judged is not None and clean is not None:
            check_topics(run, own, list(map(decode, judged.grades)), judged.place)
            check_judged(run, own, judged)
            check_moves(run, own, clean, chosen)
        elif own.tied:
            what = f"{own.tied} of {own.documents} documents tied"
            run.warn("ties", what, "their order is that of docnos; --qrels shows what it changes")
        run.forget()
        report.runs.append(run)
        report.facts.append(own)
    check_together(report.runs, report.facts)
    if clean is None and len(report.runs) > 1:
        every = list(dict.fromkeys(topic for own in report.facts for topic in own.depth))
        for run, own in zip(report.runs, report.facts, strict=True):
            check_topics(run, own, every, "the other runs")
    return report
