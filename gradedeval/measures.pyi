"""The measures by name, for type checkers and editors. `python -m pytest tests/docs --golden` writes this file."""

# mypy: disable-error-code="override, misc"
from typing import Any

from gradedeval.kernel.measures.notation import Value

from importlib import import_module as import_module
from typing import TYPE_CHECKING as TYPE_CHECKING
from typing import Any as Any
from gradedeval.kernel.measures.definition import MEASURES as MEASURES
from gradedeval.kernel.measures.definition import QUANTITIES as QUANTITIES
from gradedeval.kernel.measures.definition import Measure as Measure
from gradedeval.kernel.measures.definition import measure as measure
from gradedeval.kernel.measures.parse import CWL_DEFAULT as CWL_DEFAULT
from gradedeval.kernel.measures.parse import DEFAULT as DEFAULT
from gradedeval.kernel.measures.parse import parse_measures as parse_measures
from gradedeval.kernel.measures.diversity import intent_aware as intent_aware
from gradedeval.kernel.measures.spellings import ALIASES as ALIASES
from gradedeval.kernel.measures.user_measures import ENTRY_POINTS as ENTRY_POINTS
from gradedeval.kernel.measures.user_measures import load_measures as load_measures

__all__ = [
    "ALIASES",
    "CWL_DEFAULT",
    "DEFAULT",
    "ENTRY_POINTS",
    "MEASURES",
    "Measure",
    "QUANTITIES",
    "intent_aware",
    "load_measures",
    "measure",
    "parse_measures",
]


class _Err(Measure):
    """Expected reciprocal rank, of the first document that satisfies the user."""

    def __call__(self, /, *, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

err: _Err

class _Nerr(Measure):
    """ERR as a share of the ideal ranking's."""

    def __call__(self, /, *, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

nerr: _Nerr

class _Cascade(Measure):
    """Cascade measure with any utility of the rank (rr, dcg, one, or a file) and a chance γ of going on unsatisfied."""

    def __call__(self, /, *, utility: str = 'rr', gamma: float = 1.0, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

cascade: _Cascade

class _Ndcg(Measure):
    """DCG as a share of the ideal ranking's."""

    def __call__(self, /, *, log: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

ndcg: _Ndcg

class _Dcg(Measure):
    """Discounted cumulated gain; log=b for the discount of Järvelin & Kekäläinen."""

    def __call__(self, /, *, log: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

dcg: _Dcg

class _Q(Measure):
    """Q-measure: average precision with precision blended with the share of the ideal's cumulated gain."""

    def __call__(self, /, *, beta: float = 1.0, norm: str | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

q: _Q

class _Compat(Measure):
    """Compatibility: rank-biased overlap with the most similar ideal ranking, as a share of its overlap with itself."""

    def __call__(self, /, *, p: float = 0.95, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

compat: _Compat

class _Rbp(Measure):
    """Rank-biased precision: the user goes on to the next document with probability p."""

    def __call__(self, /, *, p: float = 0.8, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

rbp: _Rbp

class _Insq(Measure):
    """INSQ: the further down, the more a user is inclined to go on; T is the number of documents wanted."""

    def __call__(self, /, *, T: float = 1.0, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

insq: _Insq

class _Inst(Measure):
    """INST: as INSQ, and the closer to the goal T the gain so far is, the sooner the user stops."""

    def __call__(self, /, *, T: float = 1.0, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

inst: _Inst

class _Sdcg(Measure):
    """Scaled DCG: DCG's discounts down to k, as weights that sum to 1."""

    def __call__(self, /, *, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

sdcg: _Sdcg

class _Cwlp(Measure):
    """Precision as a C/W/L measure: every user views k documents."""

    def __call__(self, /, *, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

cwlp: _Cwlp

class _Cwlrr(Measure):
    """Reciprocal rank as a C/W/L measure: every user goes on to the first document with any gain."""

    def __call__(self, /, *, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

cwlrr: _Cwlrr

class _Cwlap(Measure):
    """Average precision as a C/W/L measure: the user knows the gains still to come."""

    def __call__(self, /, *, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

cwlap: _Cwlap

class _Tbg(Measure):
    """Time-biased gain: half of the users stop within each h of cost."""

    def __call__(self, /, *, h: float = 224.0, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

tbg: _Tbg

class _U(Measure):
    """U-measure: attention falls linearly with cost, to 0 at cost L."""

    def __call__(self, /, *, L: float = 1000.0, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

u: _U

class _Set(Measure):
    """Search economic theory: diminishing returns, rank i weighs (i+1)^β − i^β, down to k."""

    def __call__(self, /, *, beta: float = 0.5, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

set_: _Set

class _Npv(Measure):
    """Net present value: RBP with p = 1 / (1 + rate)."""

    def __call__(self, /, *, rate: float = 0.1, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

npv: _Npv

class _Bpm(Measure):
    """Bejeweled player model: the user stops once the gain reaches T, or the cost reaches K."""

    def __call__(self, /, *, T: float = 1.0, K: float = 10.0, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

bpm: _Bpm

class _Bpmd(Measure):
    """Dynamic bejeweled player model: good documents raise both thresholds of bpm, bad ones lower them."""

    def __call__(self, /, *, T: float = 1.0, K: float = 10.0, hb: float = 1.0, hc: float = 1.0, mid: float = 0.5, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

bpmd: _Bpmd

class _Ift(Measure):
    """Information foraging: the user stops near the goal T, or below the rate A; with neither, T=2 and A=0.2."""

    def __call__(self, /, *, T: float | None = None, b1: float = 0.9, R1: float = 1.0, A: float | None = None, b2: float = 0.9, R2: float = 1.0, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

ift: _Ift

class _Nerr8(Measure):
    """ERR's user, who gives up at k."""

    def __call__(self, /, *, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

nerr8: _Nerr8

class _Nerr9(Measure):
    """ERR's discount and user, who gives up at k."""

    def __call__(self, /, *, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

nerr9: _Nerr9

class _Nerr10(Measure):
    """ERR's user with the patience of RBP."""

    def __call__(self, /, *, phi: float = 0.8, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

nerr10: _Nerr10

class _Nerr11(Measure):
    """ERR's user with the patience of INSQ."""

    def __call__(self, /, *, T: float = 1.0, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

nerr11: _Nerr11

class _Nerr5(Measure):
    """ERR's continuation read as C/W/L: V does not converge, and the score is the limit 0 unless a gain of 1 stops
    all."""

    def __call__(self, /, *, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

nerr5: _Nerr5

class _Nerr6(Measure):
    """ERR's discount as a continuation: ΣV does not converge, the score is the limit 0 unless a gain of 1 stops all."""

    def __call__(self, /, *, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

nerr6: _Nerr6

class _Cwl(Measure):
    """A C/W/L measure by a formula of rank i, gain r, gained, cost, spent and parameters of your own."""

    def __call__(self, /, *, C: str = '', of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ..., **parameters: float) -> Measure: ...

cwl: _Cwl

class _Ddm(Measure):
    """Data-driven: C of each rank from a file, by type of document (column 2 of the run) if the file has types."""

    def __call__(self, /, *, file: str | None = None, of: str = 'eu', horizon: float | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

ddm: _Ddm

class _Zipf(Measure):
    """Zipf weights: a power law, down to rank k; without a cutoff for beta > 1 only."""

    def __call__(self, /, *, beta: float = 1.0, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

zipf: _Zipf

class _Uniform(Measure):
    """Uniform weights: every user views k documents, with equal weights."""

    def __call__(self, /, *, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

uniform: _Uniform

class _Poisson(Measure):
    """Poisson weights; the first two ranks weigh the same for alpha = 1, and weights rise before they fall above that."""

    def __call__(self, /, *, alpha: float = 1.0, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

poisson: _Poisson

class _Logharmonic(Measure):
    """Log-harmonic weights: the discount of Järvelin & Kekäläinen's DCG, scaled to sum to 1 down to rank k."""

    def __call__(self, /, *, b: float = 2, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

logharmonic: _Logharmonic

class _Wp(Measure):
    """Weighted precision with the weights of a file, 0 after the last rank in it; `gradedeval weights` writes such
    files."""

    def __call__(self, /, *, file: str | None = None, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

wp: _Wp

class _Ap(Measure):
    """Average precision."""

    def __call__(self, /, *, norm: str | None = None, rel: float = ...) -> Measure: ...

ap: _Ap

class _Gap(Measure):
    """Graded average precision: expected over users with different thresholds; g=1:1:2 weighs the grades."""

    def __call__(self, /, *, norm: str | None = None, g: Value | list[float] = ..., gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

gap: _Gap

class _Sp(Measure):
    """Sum of precisions: average precision without the number of relevant documents."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

sp: _Sp

class _P(Measure):
    """Precision: the share of the first k documents that is relevant; k also if fewer are retrieved."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

p: _P

class _Rr(Measure):
    """Reciprocal rank of the first relevant document."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

rr: _Rr

class _Recall(Measure):
    """The share of the relevant documents that is retrieved; with norm=k, of as many as the cutoff admits."""

    def __call__(self, /, *, norm: str | None = None, rel: float = ...) -> Measure: ...

recall: _Recall

class _Rprec(Measure):
    """R-precision: precision at rank R."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

rprec: _Rprec

class _Success(Measure):
    """Success: whether any of the first k documents is relevant."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

success: _Success

class _Bpref(Measure):
    """Binary preference: the mean share of documents judged non-relevant that rank below a relevant one."""

    def __call__(self, /, *, k: float = 0, rel: float = ...) -> Measure: ...

bpref: _Bpref

class _Accuracy(Measure):
    """The share of pairs of a relevant and a non-relevant retrieved document with the relevant document first."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

accuracy: _Accuracy

class _Gprecision(Measure):
    """Graded precision: the expected share of the first k documents that a user regards as relevant."""

    def __call__(self, /, *, g: Value | list[float] = ..., gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

gprecision: _Gprecision

class _Grecall(Measure):
    """Graded recall: the expected share of the documents a user regards as relevant that is retrieved."""

    def __call__(self, /, *, g: Value | list[float] = ..., gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

grecall: _Grecall

class _Iprec(Measure):
    """Interpolated precision: the highest precision at a rank that reaches a level of recall, or at any rank below it."""

    def __call__(self, /, *, recall: float = 0.0, add: float = 0.5, rel: float = ...) -> Measure: ...

iprec: _Iprec

class _IprecAvg(Measure):
    """Interpolated precision averaged over levels of recall, by tradition eleven."""

    def __call__(self, /, *, recall: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0), add: float = 0.5, rel: float = ...) -> Measure: ...

iprec_avg: _IprecAvg

class _RprecMult(Measure):
    """Precision at a multiple of R."""

    def __call__(self, /, *, times: float = 1.0, rel: float = ...) -> Measure: ...

rprec_mult: _RprecMult

class _RelativeP(Measure):
    """Precision as a share of the best possible at the cutoff."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

relative_p: _RelativeP

class _Esl(Measure):
    """Expected search length: the number of non-relevant documents above the n-th relevant one; lower is better."""

    def __call__(self, /, *, n: int = 1, docs: float = 0, rel: float = ...) -> Measure: ...

esl: _Esl

class _Rank1(Measure):
    """The rank of the first relevant document; a topic without one is left out of the mean, so lower is better only
    beside the share of topics with one, success."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

rank1: _Rank1

class _GmAp(Measure):
    """Average precision, averaged over topics by the geometric mean."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

gm_ap: _GmAp

class _GmBpref(Measure):
    """bpref, averaged over topics by the geometric mean."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

gm_bpref: _GmBpref

class _Yaap(Measure):
    """Yet another average precision: the log odds of average precision, kept finite by one document on either side."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

yaap: _Yaap

class _Infap(Measure):
    """Inferred average precision: average precision estimated from judgments of a sample of the pool."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

infap: _Infap

class _Xinfap(Measure):
    """Extended inferred average precision: AP estimated from a stratified sample (`--qrels-format strata`)."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

xinfap: _Xinfap

class _Statap(Measure):
    """statAP: average precision estimated from a stratified sample (`--qrels-format strata`); it can exceed 1."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

statap: _Statap

class _Infndcg(Measure):
    """Inferred nDCG: nDCG estimated from a stratified sample (`--qrels-format strata`); it can exceed 1."""

    def __call__(self, /, *, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

infndcg: _Infndcg

class _Bing(Measure):
    """Binary G: each relevant document is discounted by the number of non-relevant documents above it."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

bing: _Bing

class _G(Measure):
    """G: each gain is discounted by the lag of the ranking behind the ideal's gain."""

    def __call__(self, /, *, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

g: _G

class _NdcgRel(Measure):
    """nDCG averaged over the relevant documents: at each document's rank, and over the whole run for missing ones."""

    def __call__(self, /, *, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

ndcg_rel: _NdcgRel

class _Rndcg(Measure):
    """nDCG averaged over the ranks after which the ideal ranking goes on to a lower gain: R of each level."""

    def __call__(self, /, *, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

rndcg: _Rndcg

class _RbpTopic(Measure):
    """Rank-biased precision with each topic's highest gain scaled to 1: not comparable from topic to topic."""

    def __call__(self, /, *, p: float = 0.9, gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

rbp_topic: _RbpTopic

class _RbpResid(Measure):
    """The residual of binary rank-biased precision as a measure; 0 if nothing is retrieved."""

    def __call__(self, /, *, p: float = 0.9) -> Measure: ...

rbp_resid: _RbpResid

class _SetP(Measure):
    """Precision of the retrieved set."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

set_p: _SetP

class _SetRelativeP(Measure):
    """Precision of the retrieved set as a share of the best possible for a set of its size."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

set_relative_p: _SetRelativeP

class _SetRecall(Measure):
    """Recall of the retrieved set."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

set_recall: _SetRecall

class _SetMap(Measure):
    """Precision times recall of the retrieved set: its average precision if the order is unknown."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

set_map: _SetMap

class _SetF(Measure):
    """F: the weighted harmonic mean of the set's precision and recall; a larger x favors recall."""

    def __call__(self, /, *, x: float = 1.0, rel: float = ...) -> Measure: ...

set_f: _SetF

class _F1(Measure):
    """F1 at the cutoff: the harmonic mean of p@k and recall@k; a run shorter than k is padded."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

f1: _F1

class _Utility(Measure):
    """Linear utility of the retrieved set, with a value for each combination of relevant and retrieved."""

    def __call__(self, /, *, a: float = 1.0, b: float = -1.0, c: float = 0.0, d: float = 0.0, docs: float = 0.0, rel: float = ...) -> Measure: ...

utility: _Utility

class _Silence(Measure):
    """The share of the topics without relevant documents for which the run returns nothing; no other topic counts."""

    def __call__(self, /, *, min: float | None = None, rel: float = ...) -> Measure: ...

silence: _Silence

class _Erria(Measure):
    """Intent-aware ERR: the mean ERR over intents with a relevant document, or by a file's probabilities."""

    def __call__(self, /, *, stop: float = 1.0, norm: str = 'none', prior: str = 'uniform', gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

erria: _Erria

class _AlphaNdcg(Measure):
    """alpha_dcg as a share of the score of the greedy ideal ranking: each next document adds most."""

    def __call__(self, /, *, alpha: float = 0.5, rel: float = ...) -> Measure: ...

alpha_ndcg: _AlphaNdcg

class _Nrbp(Measure):
    """Novelty- and rank-biased precision: RBP with patience β and lower gains for repeated information."""

    def __call__(self, /, *, alpha: float = 0.5, beta: float = 0.5, rel: float = ...) -> Measure: ...

nrbp: _Nrbp

class _Strec(Measure):
    """Subtopic recall: the share of the intents with a relevant document that the first k documents cover."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

strec: _Strec

class _Nerria(Measure):
    """Intent-aware ERR as a share of the score of the greedy ideal ranking: each next document adds most."""

    def __call__(self, /, *, stop: float = 1.0, prior: str = 'uniform', gain: Value | list[float] = ..., rel: float = ...) -> Measure: ...

nerria: _Nerria

class _AlphaDcg(Measure):
    """DCG with novelty: each relevant document above reduces the gain of a document for an intent."""

    def __call__(self, /, *, alpha: float = 0.5, norm: str = 'none', rel: float = ...) -> Measure: ...

alpha_dcg: _AlphaDcg

class _Nnrbp(Measure):
    """nrbp as a share of the score of the greedy ideal ranking: each next document adds most."""

    def __call__(self, /, *, alpha: float = 0.5, beta: float = 0.5, rel: float = ...) -> Measure: ...

nnrbp: _Nnrbp

class _Judged(Measure):
    """The share of the first k documents that is judged."""

    def __call__(self, /) -> Measure: ...

judged: _Judged

class _Unjudged(Measure):
    """The share of the first k documents that is not judged; k also if fewer are retrieved."""

    def __call__(self, /) -> Measure: ...

unjudged: _Unjudged

class _NumQ(Measure):
    """Number of topics."""

    def __call__(self, /) -> Measure: ...

num_q: _NumQ

class _NumRet(Measure):
    """Number of documents retrieved."""

    def __call__(self, /) -> Measure: ...

num_ret: _NumRet

class _NumRel(Measure):
    """Number of relevant documents in the pool."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

num_rel: _NumRel

class _NumRelRet(Measure):
    """Number of relevant documents retrieved."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

num_rel_ret: _NumRelRet

class _Hits(Measure):
    """Mean number of relevant documents in the top k, trec_eval's num_rel_ret averaged; the hit rate is success."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

hits: _Hits

class _NumNonrelJudgedRet(Measure):
    """Number of documents retrieved that are judged and not relevant."""

    def __call__(self, /, *, rel: float = ...) -> Measure: ...

num_nonrel_judged_ret: _NumNonrelJudgedRet