"""What a measure states about itself: the keywords of `@measure` and `@cwl`, each defined here and only here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.measures.gain_schemes import Scale
from gradedeval.measures.notation import Value
from gradedeval.measures.parameters import Checks

Arguments = Mapping[str, Value]
"""The parameters that a measure was given, by name."""

Cutoff = Literal["truncates", "renormalizes", "sums_to_k", "required", "none"]
Residual = Literal["beyond_run", "within_run", "from_bounds", "none"]
Summary = Literal["mean", "total", "geometric"]
Better = Literal["higher", "lower", "neither"]


class Reading(NamedTuple):
    """How scores by a measure are read: what sums them up over topics, and which of two is the better one."""

    summary: Summary = "mean"
    better: Better = "higher"

    @property
    def sign(self) -> int:
        """What a score is multiplied by so that more is better."""
        return -1 if self.better == "lower" else 1


@dataclass(frozen=True, eq=False, repr=False)
class RankingWeights:
    """Weights W(i) that depend on the ranking: Σ_i W(i) [gain_i > 0] is the score.

    function  a function of the gains and the parameters: topics × ranks
    over      what they are divided by, a function of the same: topics; where it is 0, weights are 0
    finite    whether the weights of all ranks sum to the score
    """

    function: Callable[..., Floats]
    over: Callable[..., Any] | None = None
    finite: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class RankSum:
    """A score as a sum over the ranks, with weights that no order of the documents changes.

    of       what the weights multiply: the document's `gain`; the probability that a user who is satisfied with the
             probability that the gain says will `stop` there; or graded `precision`: 1/n Σ_{m≤n} min(gain_m, gain_n)
    weights  a function of the gains and the parameters: topics × ranks, or ranks; None: 1 each
    over     what they are divided by, a function of the same: topics, or a number; where it is 0, weights are 0
    pool     what that is of the pool, where judging changes it: the score of its `ideal` ranking down to the cutoff, or
             the sum of the gains of what is `relevant`; then the weights depend on the rank alone
    """

    of: Literal["gain", "stop", "precision"]
    weights: Callable[..., Any] | None = None
    over: Callable[..., Any] | None = None
    pool: Literal["", "ideal", "relevant"] = ""

    def at_ranks(self, g: Any, arguments: Arguments) -> Floats:
        """topics × ranks: the weights that the ranks of a batch of gains have."""
        weights = np.zeros(g.gain.shape) + (1.0 if self.weights is None else self.weights(g, **arguments))
        if self.over is None:
            return weights
        whole = np.reshape(self.over(g, **arguments), (-1, 1))
        return np.divide(weights, whole, out=np.zeros(weights.shape), where=np.broadcast_to(whole > 0, weights.shape))


@dataclass(frozen=True, eq=False, repr=False)
class Bounds:
    """How low and how high a score can come, whatever the unjudged documents turn out to be: for `--bounds`.

    function  a function of the gains and the parameters: topics, topics: the lowest and the highest score. As text it
              is `module.name` in `gradedeval.measures.bounds`, which only who asks for bounds has to import
    exact     whether both are reached; `binary`: where gains are 0 and 1
    but       in words, which are reached where not both are
    of_scale  whether it depends on the gains of grades that occur nowhere: `Gains.levels` has them too then
    over_ties  whether it also takes the documents of a run with ties one by one, where scores are means over their
              orders: `Gains.first` is set then, and the columns go on below the cutoff
    """

    function: Callable[..., tuple[Floats, Floats]] | str
    exact: bool | Literal["binary"] = True
    but: str = ""
    of_scale: bool = False
    over_ties: bool = False


Rule = Bounds | Literal["rises", "intents", "counts", "none"]
"""How the bounds of a score come about: see `Properties`."""


@dataclass(init=False, repr=False, eq=False, kw_only=True)
class Properties:
    """What a measure reads of the judgments.

    gain     the default gain scheme, or `binary` (gains 0 and 1, parameter `rel`); None: the measure reads no gains
    scale    `unit` for gains in [0, 1], `raw` (the default) for gains of any size; graded measures only
    intents  whether it is a function of `Gains.intents`, the batch by intent

    What a cutoff does, what the residual is, and where scores lie.

    cutoff     `truncates`: the sum stops at k and nothing else changes; `renormalizes`: k also changes what the sum is
               divided by; `sums_to_k`: the weights are those of the full depth, summed to k; `required`: the measure
               has no score without a k, which is a parameter of it; `none`: the measure takes no cutoff
    residual   `beyond_run`: ranks past the end of the run could still add to the score; `within_run`: only retrieved
               documents could; `from_bounds`: so it is, and judging them changes what the sum is divided by, so that
               the residual is the highest score of `bounds` less the score; `none`: no residual is printed, because
               filling in the unjudged documents gives no bound: some judgment of them can lift a score above score +
               residual; a function of the arguments where it depends on them
    bounds     what is known of all scores that judging unjudged documents can lead to: `rises`: none of them is below
               the score or above score + residual; `intents`: so it is of each intent of which the score is the mean;
               `counts`: the score follows from the number of relevant documents found and that of all, rises with the
               first, falls with the second, and does not fall where both grow by one; `Bounds` for others; `none`; a
               function of the arguments where it depends on them. A measure without residual has none
    floor      the lowest possible score
    ceiling    the highest possible score
    over_ties  whether `--ties average` gives its mean over all orders of tied documents: the score is linear in the
               gains, which are mean gains then, or its function looks at `Gains.first`
    summary    how topics are summarized: `mean`, `total`, or `geometric`: the geometric mean, where scores below
               0.00001 are raised to that
    better     whether `higher` scores are better, `lower` ones, or `neither`; of a C/W/L measure, expected utility

    What the parameters may be.

    checks    parameter -> (what its value must be, in words; a test of a value): see `Check`
    validate  a function of the arguments and the cutoff that raises InputError (usage) where, taken together, they are
              not enough or contradict each other

    What a test of all measures at once may not expect of this one.

    monotone              whether a better document moved up never lowers the score; False where a good document can end
                          the search, or lower ranks weigh more; a function of the arguments where it depends on them
    relevance_only        whether relevant documents alone make the score
    uses_strata           whether it needs the strata of a sample, `Gains.sample`
    takes_fill            whether documents that nobody judged may have gains in it: see --fill
    uses_unsampled        whether it reads grades below 0, where they count as unjudged, as pooled but not sampled
    """

    gain: str | None = "binary"
    scale: Scale | None = None
    intents: bool = False
    cutoff: Cutoff = "truncates"
    residual: Residual | Callable[[Arguments], Residual] = "none"
    bounds: Rule | Callable[[Arguments], Rule] = "none"
    floor: float = 0.0
    ceiling: float = np.inf
    over_ties: bool = False
    summary: Summary = "mean"
    better: Better = "higher"
    checks: Checks | None = None
    validate: Callable[[Arguments, int | None], None] | None = None
    monotone: bool | Callable[[Arguments], bool] = True
    relevance_only: bool = True
    uses_strata: bool = False
    uses_unsampled: bool = False
    takes_fill: bool = False

    def __post_init__(self) -> None:
        graded = self.gain not in ("binary", None)
        self.scale = (self.scale or "raw") if graded else None


@dataclass(repr=False, eq=False, kw_only=True)
class MeasureProperties(Properties):
    """What can be shown of a measure beside its score.

    details             a function of the gains and the parameters: column name -> topics × ranks, for `gradedeval
                        explain`. A column of one rank more ends with the sum of what lies beyond the end; one called
                        `contribution` is what each rank adds to the score, where that is not the difference that it
                        makes to end the ranking one rank later
    weights_in_ranking  see `RankingWeights`, for `gradedeval weights`
    rank_sum            see `RankSum`: how the score changes when two documents change places, for `gradedeval.ltr`; a
                        function of the arguments where it depends on them
    """

    details: Callable[..., Mapping[str, Floats]] | None = None
    weights_in_ranking: RankingWeights | None = None
    rank_sum: RankSum | Callable[[Arguments], RankSum] | None = None


@dataclass(repr=False, eq=False, kw_only=True)
class CWLProperties(Properties):
    """What a C/W/L measure states beyond its continuation probability C(i).

    tail       how many ranks a user who reaches the first rank past the end will view, that one included: a function of
               the state there and the parameters; without it C is evaluated rank by rank, and the sum extrapolated
    converges  whether V tends to 0 even where its sum is infinite
    cost_unit  what to say where a parameter is a cost and no costs are given, as in `h is in seconds`
    types      the document types, column 2 of a run, that it distinguishes: a function of the arguments
    """

    gain: str | None = "linear"
    scale: Scale | None = "unit"
    cutoff: Cutoff = "sums_to_k"
    residual: Residual | Callable[[Arguments], Residual] = "beyond_run"
    ceiling: float = 1.0
    takes_fill: bool = True
    tail: Callable[..., Any] | None = None
    converges: bool = False
    cost_unit: str = ""
    types: Callable[[Arguments], frozenset[bytes]] | None = None
