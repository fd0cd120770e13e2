"""Runs without judgments: how far their rankings agree, topic by topic and pair by pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gradedeval.analysis.diff.kendall import kendall_taus
from gradedeval.analysis.diff.overlap import TIES, Ties, lists_of, rank_biased_overlap
from gradedeval.analysis.ranked_runs import RankedRuns, rank_runs
from gradedeval.arrays import Floats, Ints
from gradedeval.errors import InputError, check_choice, did_you_mean, plural, shorten, warn_caller
from gradedeval.formats.frames import to_frame
from gradedeval.formats.notebook import InNotebook
from gradedeval.options import OptionKwargs, Options, numbers
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.grade import Grader
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.topics import no_common_topics
from gradedeval.scoring.run_names import named_runs

if TYPE_CHECKING:
    import pandas as pd

PERSISTENCE, AT = 0.9, 10
FEW_PAIRS = 64
"""Pairs of runs that are not worth the start of further processes."""


@dataclass(frozen=True)
class AgreementSettings:
    """How agreement is measured: see `agreement`. Raises InputError (usage) where a value is not allowed."""

    p: float = PERSISTENCE
    at: int = AT
    ties: Ties = "a"

    def __post_init__(self) -> None:
        check_choice(self.ties, TIES, "--rbo-ties")
        numbers.PERSISTENCE.check_field(self, "p")
        numbers.AT.check_field(self, "at")

    def __str__(self) -> str:
        how = {"a": "mean over the orders of ties", "b": "corrected for ties", "w": "tied documents share a rank"}
        return f"rbo: extrapolated, p {self.p:g}, {how[self.ties]} | overlap at {self.at} | tau: of what both retrieved"


@dataclass(frozen=True, eq=False)
class Agreement(InNotebook, document="analysis.diff.agreement_tables.agreement_document"):
    """How far runs agree.

    frame  a row for each pair of runs and topic, those that agree least first: run, other, topic, rbo (extrapolated),
           rbo_low, rbo_high (its bounds, whatever stands below the ends of the rankings), residual (rbo_high −
           rbo_low), overlap (documents among the first `at` of both, as a share of those of the longer), tau (Kendall's
           τ_b of the documents that both retrieved; blank with fewer than two), common (how many these are)
    """

    runs: list[str]
    frame: pd.DataFrame
    settings: AgreementSettings
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Agreement of {shorten(self.runs)}>"

    def of_topic(self, topic: str | None) -> Agreement:
        """The same, for one topic alone. Raises InputError (usage) where it is not among them."""
        if topic is None:
            return self
        known = list(dict.fromkeys(self.frame["topic"]))
        if topic not in known:
            hint = did_you_mean(topic, known) or f"as in {shorten(known)}"
            raise InputError("--topic", f"'{topic}' is not a topic of both runs", hint, usage=True)
        return replace(self, frame=self.frame[self.frame["topic"] == topic])

    @property
    def means(self) -> pd.DataFrame:
        """The means over topics of each pair of runs, and how many topics they share."""
        pairs = self.frame.groupby(["run", "other"], sort=False)
        return pairs[list(NUMBERS)].mean().assign(topics=pairs.size()).reset_index()


NUMBERS = ("rbo", "rbo_low", "rbo_high", "residual", "overlap", "tau", "common")


def agreement(
    runs: Any,
    *,
    p: float = PERSISTENCE,
    at: int = AT,
    rbo_ties: Ties = "a",
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Agreement:
    """How far the rankings of runs agree, without judgments.

    runs      two or more, as `evaluate` takes them
    p         persistence of rank-biased overlap: at depth d it weighs (1 − p) p^(d − 1)
    at        the depth of `overlap`
    rbo_ties  how rank-biased overlap takes tied documents: `a`, as the mean over all their orders, its bounds too; `b`,
              as the mean share at each depth, over what a ranking with these ties agrees with itself; `w`, as documents
              that share the rank of the first

    The other arguments are those of `evaluate` that say how runs are read and ranked; how ties are broken matters to
    overlap alone.

    Rank-biased overlap: Webber, Moffat & Zobel, TOIS 2010, equation 32; `b` and `w`: Corsi & Urbano, SIGIR 2024.
    Where the longer of two rankings has ties, their extrapolated RBO of kind `a` is a product of means, and not quite
    the mean over orders that is computed here. Returns `Agreement`: `.frame`, `.means`. Raises
    `gradedeval.InputError` where there are fewer than two runs, or two have no topic in common.
    """
    options = resolve_options(like, **keywords)
    options.check_unscored("agreement")
    found = agreement_of(named_runs(runs), options, AgreementSettings(p, at, rbo_ties))
    warn_caller(found.notes)
    return found


def agreement_of(
    runs: Mapping[str, Any],
    options: Options,
    settings: AgreementSettings,
    workers: Workers | None = None,
) -> Agreement:
    """As `agreement`, for runs by name."""
    if len(runs) < 2:
        what, hint = f"{len(runs)} {plural(len(runs), 'run')} given", "agreement is between two or more"
        raise InputError("", what, hint, usage=True)
    workers = workers or Workers()
    ranked = rank_runs(runs, Grader(Qrels.none(), options, keep_ties=True), workers)
    pairs = [(one, other) for other in range(len(runs)) for one in range(other)]
    found = _of_pairs(ranked, pairs, settings, workers)
    names = np.array(ranked.names, dtype=object)
    frame = to_frame(
        {
            "run": np.repeat([ranked.runs[one].name for one, _ in pairs], [len(rows) for rows, _ in found]),
            "other": np.repeat([ranked.runs[other].name for _, other in pairs], [len(rows) for rows, _ in found]),
            "topic": names[np.concatenate([rows for rows, _ in found])],
            **dict(zip(NUMBERS, np.concatenate([numbers for _, numbers in found], axis=1), strict=True)),
        }
    ).astype({"common": int})
    notes = list(ranked.notes)
    left_out = len(ranked.topics) - min(len(rows) for rows, _ in found)
    if left_out:
        what = f"{left_out} of {len(ranked.topics)} {plural(len(ranked.topics), 'topic')}"
        notes.append(f"{what} left out of a pair: not in both runs")
    return Agreement(list(runs), frame, settings, notes)


def _of_pairs(
    ranked: RankedRuns, pairs: list[tuple[int, int]], settings: AgreementSettings, workers: Workers
) -> list[tuple[Ints, Floats]]:
    """What `_of_pair` gives for pairs of runs; processes share many."""
    if len(pairs) < FEW_PAIRS:
        workers = workers.serial()
    return list(workers.imap(partial(_of_pair, ranked, settings), pairs))


def _of_pair(ranked: RankedRuns, settings: AgreementSettings, pair: tuple[int, int]) -> tuple[Ints, Floats]:
    """The topics that two runs share, those that agree least first, and their `NUMBERS`. Raises InputError where they
    share none."""
    one, other = (ranked.runs[number] for number in pair)
    shared = np.flatnonzero((one.counts > 0) & (other.counts > 0))
    if not len(shared):
        own = [[ranked.topics[row] for row in np.flatnonzero(run.counts)] for run in (one, other)]
        raise no_common_topics(one.place, own[0], other.place, own[1])
    rbo, low, high = rank_biased_overlap(
        lists_of(one, shared), lists_of(other, shared), len(ranked), settings.p, settings.ties
    )
    # Where the other run has each document of the one.
    place = np.full(len(ranked), -1)
    place[other.document] = np.arange(len(other.document))
    theirs = place[one.document]
    mine = np.flatnonzero(theirs >= 0)
    theirs = theirs[mine]
    topic, topics = ranked.topic[one.document[mine]], len(ranked.topics)
    among = np.bincount(topic[np.maximum(one.rank[mine], other.rank[theirs]) <= settings.at], minlength=topics)
    longest = np.minimum(np.maximum(one.counts, other.counts)[shared], settings.at)
    firsts = [(run.rank - 1 if run.first is None else run.first)[at] for run, at in ((one, mine), (other, theirs))]
    tau = kendall_taus(topic, firsts[0], firsts[1], topics)[shared]
    common = np.bincount(topic, minlength=topics)[shared]
    order = np.argsort(rbo, kind="stable")
    return shared[order], np.stack([rbo, low, high, high - low, among[shared] / longest, tau, common])[:, order]
