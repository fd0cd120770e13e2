"""Standardized scores: how a run scores on a topic relative to a set of runs."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gradedeval.analysis.saved_scores import Signature, describe_mismatch, mismatch_error
from gradedeval.analysis.score_matrix import as_scores
from gradedeval.errors import Flag, InputError, did_you_mean, flag, plural, public, shorten
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.parse import canonical
from gradedeval.kernel.scoring.scores import RunScores, Scores
from gradedeval.kernel.trec.small_tables import SmallTable

HEADER = ("measure", "topic", "mean", "deviation", "runs")
MINIMUM = (("mean", -math.inf), ("deviation", 0.0), ("runs", 0.0))
STANDARDIZE = Flag("--standardize", "standardize()")


@dataclass(frozen=True)
class Standard:
    """The scores of a set of runs on one topic: mean, sample deviation, and number of runs."""

    mean: float
    deviation: float
    runs: int


@dataclass(frozen=True)
class Reference:
    """The scores of a set of runs on every topic: (measure, topic) -> Standard.

    place       the file; "" of runs that are scored here
    runs        the number of runs
    signatures  measure -> the signature of its scores; "" if unknown
    """

    place: str
    runs: int
    standards: dict[tuple[str, str], Standard]
    signatures: dict[str, str]

    @property
    def name(self) -> str:
        """The part of a signature; its six digits tell one reference from another."""
        from hashlib import sha256  # most evaluations do without

        digest = sha256(repr(sorted(self.standards.items(), key=lambda item: item[0])).encode()).hexdigest()[:6]
        runs = f"{self.runs} {plural(self.runs, 'run')}"
        return f"standardized by {self.place}, {runs} {digest}" if self.place else f"standardized over {runs} {digest}"

    @classmethod
    def of(cls, scores: Scores) -> Reference:
        """Build the reference of these runs. Raises InputError (usage) for one run, InputError for infinite scores."""
        if len(scores.runs) < 2:
            problem = "a single run has no deviation"
            raise InputError(STANDARDIZE, problem, f"add runs, or give {flag.reference:FILE}", usage=True)
        scores_of: dict[tuple[str, str], list[float]] = {}
        for run in scores.runs:
            for column, measure in enumerate(scores.measures):
                for row in np.flatnonzero(run.included[:, column]).tolist():
                    scores_of.setdefault((str(measure), run.topics[row]), []).append(float(run.score[row, column]))
        standards = _standards(scores_of)
        first = scores.runs[0].run
        signatures = {str(measure): scores.signatures[first, measure.label] for measure in scores.measures}
        return cls("", len(scores.runs), standards, signatures)

    @classmethod
    def read(cls, path: str | Path) -> Reference:
        """Read a reference saved by `text`. Raises InputError with the line of any problem."""
        table = SmallTable.headed(path, HEADER, "--save-reference writes such a file", multiline=True)
        standards: dict[tuple[str, str], Standard] = {}
        signatures: dict[str, str] = {}
        for row in table.rows:
            measure = canonical(row.cells["measure"])
            signatures[measure] = row.cells.get("signature") or signatures.get(measure, "")
            mean, deviation, runs = (table.number(row, name, minimum) for name, minimum in MINIMUM)
            if runs == runs:
                standards[measure, row.cells["topic"]] = Standard(mean, deviation, int(runs))
        table.check([(row.cells["measure"], row.cells["topic"]) for row in table.rows], ("measure", "topic"))
        maximum = max((standard.runs for standard in standards.values()), default=0)
        return cls(table.place, maximum, standards, signatures)

    @property
    def text(self) -> str:
        """The reference as csv, which `read` reads. The first row of each measure has its signature."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow((*HEADER, "signature"))
        unwritten = dict(self.signatures)
        writer.writerows(
            (*key, standard.mean, standard.deviation, standard.runs, unwritten.pop(key[0], ""))
            for key, standard in self.standards.items()
        )
        return out.getvalue()

    def notes(self, scores: Scores) -> list[str]:
        """Return notes on scores to standardize. Raises InputError (usage) for different qrels or options."""
        here = Signature.read(scores.signature)
        notes = dict[str, None]()
        for measure in map(str, scores.measures):
            reference = Signature.read(self.signatures[measure])
            if reference is None or here is None:
                notes |= {f"{self.place}: no signature, so qrels and options cannot be checked": None}
            elif problem := describe_mismatch(reference, here, measure, "here"):
                raise mismatch_error(self.place, problem)
        return list(notes)


def _standards(scores_of: dict[tuple[str, str], list[float]]) -> dict[tuple[str, str], Standard]:
    """Return the standard of each measure and topic. Raises InputError for the first with an infinite score."""
    for (name, topic), scores in scores_of.items():
        if not all(map(math.isfinite, scores)):
            problem = f"'{name}' is infinite on topic {topic}, so there is no deviation"
            raise InputError(STANDARDIZE, problem, "leave it out, or give it a horizon")
    standards = {}
    for key, scores in scores_of.items():
        # Equal scores may differ from their mean in the last bits.
        deviation = 0.0 if np.ptp(scores) <= 1e-12 else float(np.std(scores, ddof=1))
        standards[key] = Standard(float(np.mean(scores)), deviation, len(scores))
    return standards


@public
def standardize(scores: Scores, reference: Reference | str | Path | None = None) -> Scores:
    """Standardize scores: Φ(z), z = (score − mean) / deviation by topic and measure, Φ the normal distribution.

    reference  means and deviations of a set of runs, or a file of them; None: the reference of these runs

    Every topic then counts the same: an average run has 0.5, and so have all runs if the deviation is 0. The
    standardized sum of precisions is Zhang et al.'s sSP. There are no residuals: judging documents moves the other runs
    too. Raises InputError (usage) for a single run without a reference, for counts, and if the reference lacks a
    measure or is of different qrels or options; InputError if it lacks a topic. Webber et al., SIGIR 2008.

    >>> runs = {"A": {"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}, "B": {"q1": {"d2": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}}
    >>> scores = gradedeval.evaluate(runs, {"q1": {"d1": 1}, "q2": {"d1": 1}}, "rr")
    >>> gradedeval.standardize(scores).frame.query("topic == 'all'")[["run", "score"]].round(3)
      run  score
    2   A   0.76
    5   B   0.24
    """
    scores = as_scores(scores)
    scores.options.refuse_predicted()
    counts = [measure.label for measure in scores.measures if measure.definition.summary == "total"]
    if counts:
        problem = f"'{counts[0]}' is a count, which cannot be standardized"
        raise InputError(STANDARDIZE, problem, "leave it out", usage=True)
    if isinstance(reference, str | Path):
        reference = Reference.read(reference)
    reference = Reference.of(scores) if reference is None else reference
    _check(reference, scores.measures)
    notes = [*scores.notes, *reference.notes(scores)]
    runs = [_run(run, scores.measures, reference) for run in scores.runs]
    return replace(scores, runs=runs, notes=notes, transformations=(*scores.transformations, reference.name))


def _check(reference: Reference, measures: list[Measure]) -> None:
    names = list(dict.fromkeys(measure for measure, _ in reference.standards))
    for name in map(str, measures):
        if name not in names:
            hint = did_you_mean(name, names) or f"it has those by {shorten(names)}"
            raise InputError(flag.reference, f"no means by '{name}'", hint, usage=True)


def _run(run: RunScores, measures: list[Measure], reference: Reference) -> RunScores:
    score = np.full(run.score.shape, np.nan)
    for column, measure in enumerate(measures):
        for row in np.flatnonzero(run.included[:, column]).tolist():
            standard = reference.standards.get((str(measure), run.topics[row]))
            if standard is None:
                problem = f"no mean of topic {run.topics[row]} by '{measure}'"
                raise InputError(flag.reference, problem, "save a new one from runs on these topics")
            z = (run.score[row, column] - standard.mean) / standard.deviation if standard.deviation > 0 else 0.0
            score[row, column] = 0.5 * math.erfc(-z / math.sqrt(2))
    blank = np.full(score.shape, np.nan)
    return replace(run, score=score, residual=blank, unjudged=blank, bounds=None)
