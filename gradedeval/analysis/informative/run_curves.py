"""The lists of a run: their actual curves, and those that the scores of measures determine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gradedeval.analysis.background_weights import only, settled_batches
from gradedeval.analysis.informative.curves import LEVELS, Users, curves
from gradedeval.analysis.informative.expected_scores import expected_score
from gradedeval.analysis.informative.maximum_entropy import GradedLists, MostRandom, most_random
from gradedeval.arrays import Floats
from gradedeval.errors import InputError, plural
from gradedeval.measures.applied import gain_table, scores_of
from gradedeval.measures.definition import Measure
from gradedeval.measures.gain_schemes import GainTable
from gradedeval.measures.table import MEASURES
from gradedeval.options import numbers
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import Batch
from gradedeval.scoring.doubts import doubts_of, not_too_many
from gradedeval.scoring.run_parts import grade_run
from gradedeval.scoring.scorer import Scorer
from gradedeval.trec.lines import decode

COUNTS = "counts alone"
"""What stands for a measure where nothing but the number of documents of each grade is known."""
MEAN, GRADED = "mean", "graded"
"""The curves beside the binary ones: their mean, and that of graded precision and recall."""


@dataclass(frozen=True)
class Sparse:
    """Which lists are too short, or find too little, for a curve.

    ranks  a list has at least so many
    found  and at least so many documents of each grade above 0
    """

    ranks: int = 50
    found: int = 5

    def __post_init__(self) -> None:
        numbers.MIN_RANKS.check_field(self, "ranks")
        numbers.MIN_FOUND.check_field(self, "found")

    def __str__(self) -> str:
        documents = plural(self.found, "document")
        return f"{self.ranks} {plural(self.ranks, 'rank')} and {self.found} {documents} of each grade above 0"


class RunCurves(NamedTuple):
    """What is found of a run.

    topics     of its lists, `ranks` how long they are
    numbers    of each list: measures × (score, entropy, whether the solver converged)
    rms        of each list: measures × curves; nan where it did not converge
    precision  measures × curves × (actual, inferred) × levels of recall, summed over lists that converged
    scored     on how many topics the run counts, and how many of them it lacks
    """

    name: str
    topics: list[str]
    ranks: list[int]
    numbers: list[Floats]
    rms: list[Floats]
    precision: Floats
    scored: tuple[int, int]
    format: str
    notes: list[str]


@dataclass(frozen=True, eq=False, repr=False)
class Solver:
    """Finds the curves that measures determine for the lists of a run.

    grades  the distinct grades from 0 on; what is below 0 or not judged is 0
    """

    scorer: Scorer
    grades: Floats
    sparse: Sparse

    @property
    def measures(self) -> list[str]:
        """The measures, and what stands for none."""
        return [*(measure.label for measure in self.scorer.measures), COUNTS]

    @cached_property
    def users(self) -> dict[str, Users]:
        """curve -> whose precision and recall it shows: of one threshold, or with several the graded one."""
        above = (np.arange(len(self.grades)) >= np.arange(1, len(self.grades))[:, None]).astype(np.float64)
        binary = {
            f"rel={grade:g}": Users(np.ones(1), above[row : row + 1]) for row, grade in enumerate(self.grades[1:])
        }
        worth = self.worth(gain_table(MEASURES["gap"], self.scorer.grades), MEASURES["gap"])
        return binary | ({GRADED: Users(np.diff(worth), above)} if len(binary) > 1 else {})

    @property
    def curves(self) -> list[str]:
        """The names of the curves, the mean of the binary ones among them."""
        binary = [name for name in self.users if name != GRADED]
        return [*binary, MEAN, *(name for name in self.users if name == GRADED)]

    def worth(self, table: GainTable, measure: Measure) -> Floats:
        """grades: what each is worth to a measure. Raises InputError (usage) where grade 0 has a gain."""
        labels = self.scorer.grades.labels
        found = np.append(labels, self.grades)
        worth = np.append(table.worth, np.zeros(len(self.grades)))[[found.tolist().index(one) for one in self.grades]]
        if worth[0]:
            hint = "here what is not judged has grade 0: give it gain 0"
            raise InputError(f"'{measure}'", f"gives grade 0 the gain {worth[0]:g}", hint, usage=True)
        return np.asarray(worth)

    def of_run(self, run: tuple[str, Any]) -> RunCurves:
        """The distances and curves of a run, by name and source. Raises InputError where it cannot be read."""
        name, source = run
        graded = grade_run(source, replace(self.scorer.grader, last_rank=None), Workers())
        precision = np.zeros((len(self.measures), len(self.curves), 2, len(LEVELS)))
        scored = len(graded.topics), graded.missing
        notes = not_too_many([*graded.notes, *doubts_of(graded, self.scorer)])
        found = RunCurves(name, [], [], [], [], precision, scored, graded.format, notes)
        for batch in settled_batches(graded):
            self._add(found, batch)
        return found

    def _add(self, found: RunCurves, batch: Batch) -> None:
        """Add the lists of a batch that are long enough and find enough."""
        grade_of = np.searchsorted(self.grades, np.maximum(self.scorer.grades.labels, 0))
        grade = np.append(grade_of, [0, -1])[batch.codes]  # of what is not judged, and past the end
        counts = np.stack([(grade == one).sum(1) for one in range(len(self.grades))], axis=1)
        rows = np.flatnonzero((counts.sum(1) >= self.sparse.ranks) & (counts[:, 1:] >= self.sparse.found).all(1))
        if not len(rows):
            return
        lists = GradedLists((grade[rows, None] == np.arange(len(self.grades))[:, None]).astype(np.float64))
        solved = self._solved(only(batch, rows.tolist()), lists)
        for row, topic in enumerate(rows.tolist()):
            length = int(counts[topic].sum())
            own = [(score[row], most.entropy[row], most.converged[row]) for score, most in solved]
            rms = np.full((len(self.measures), len(self.curves)), np.nan)
            for measure, (_, most) in enumerate(solved):
                if most.converged[row]:
                    rms[measure], at_levels = self._distances(
                        lists.grades[row, :, :length], most.chances[row, :, :length]
                    )
                    found.precision[measure] += at_levels
            found.topics.append(decode(batch.topics[topic]))
            found.ranks.append(length)
            found.numbers.append(np.array(own))
            found.rms.append(rms)

    def _solved(self, batch: Batch, lists: GradedLists) -> list[tuple[Floats, MostRandom]]:
        """For each measure the scores of lists, and the chances that they determine; without a measure, by counts."""
        gains_of, found = self.scorer.gains_cache(batch), []
        for measure, table in zip(self.scorer.measures, self.scorer.tables, strict=True):
            g, worth = gains_of(table, measure), self.worth(table, measure)
            expected = expected_score(measure, g, worth, lists.grades.shape[2])
            found.append((scores_of(measure, g), most_random(lists, expected, worth)))
        every = np.ones(len(lists.grades), dtype=bool)
        return [*found, (np.full(len(every), np.nan), MostRandom(lists.uniform, every, np.zeros(len(every))))]

    def _distances(self, grades: Floats, chances: Floats) -> tuple[Floats, Floats]:
        """curves: the distance of the inferred curve from the actual one; curves × 2 × levels: their precision."""
        found = {name: curves(users, grades, chances) for name, users in self.users.items()}
        distances = {name: own.rms for name, own in found.items()}
        levels = {name: own.at_levels() for name, own in found.items()}
        binary = [name for name in found if name != GRADED]
        distances[MEAN] = float(np.mean([distances[name] for name in binary]))
        levels[MEAN] = np.mean([levels[name] for name in binary], axis=0)
        return np.array([distances[name] for name in self.curves]), np.stack([levels[name] for name in self.curves])
