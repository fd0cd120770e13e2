"""Conformance vectors: small runs and qrels with the exact scores of measures, in `qrels_samples/conformance/`.

`python -m tests.support.conformance` writes the files. Nothing here imports the package.
"""

from __future__ import annotations

import itertools
import json
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from support.conformance_measures import Real, Topic, mp, read

FOLDER = Path(__file__).parent.parent.parent / "qrels_samples" / "conformance"
LICENSE = (
    "Anyone may copy, change, publish and use these vectors, in whole or in part, for any purpose and without "
    "conditions, a notice included (as under CC0 1.0); there is no warranty."
)
Rows = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Input:
    """A run and qrels that test one property.

    run    topic, docno, score
    qrels  topic, subtopic or stratum, docno, grade
    """

    about: str
    run: Rows
    qrels: Rows


@dataclass(frozen=True)
class Entry:
    """A measure: its notation, its definition in words, its names in other tools, its summary, and other parameters."""

    measure: str
    words: str
    trec_eval: str = ""
    ir_measures: str = ""
    summary: str = "mean"
    inputs: tuple[str, ...] = ("graded", "ties", "negative", "missing", "none", "short", "fractions")
    changed: dict[str, Any] = field(default_factory=dict)

    @property
    def score(self) -> Callable[[Topic], Real]:
        """Return the definition."""
        return partial(read(self.measure), **self.changed)


@dataclass(frozen=True)
class Case:
    """A measure of an input, under options other than the defaults."""

    family: str
    name: str
    input: Input
    entry: Entry
    options: dict[str, Any] = field(default_factory=dict)
    about: str = ""

    @property
    def elsewhere(self) -> dict[str, str]:
        """Return the names of the measure in other tools; none under options, or for qrels that a tool does not
        read."""
        names = {"trec_eval": self.entry.trec_eval, "ir_measures": self.entry.ir_measures}
        grades = [row[3] for row in self.input.qrels]
        if self.family == "options" or any(isinstance(grade, float) for grade in grades):
            return {}
        if self.name == "repeated":
            names["trec_eval"] = ""
        return {tool: name.format(top=max(grades)) for tool, name in names.items() if name}


def ranked_run(docnos: str, topic: str = "1") -> Rows:
    """Return a run of these documents, in this order."""
    names = docnos.split()
    return tuple((topic, docno, float(len(names) - i)) for i, docno in enumerate(names))


def judged(grades: str, topic: str = "1") -> Rows:
    """Return qrels of `docno=grade` pairs."""
    pairs = (pair.split("=") for pair in grades.split())
    return tuple((topic, "0", docno, float(grade) if "." in grade else int(grade)) for docno, grade in pairs)


def parts(topic: str, grades: Mapping[str, str]) -> Rows:
    """Return qrels of `docno=grade` pairs by stratum or by intent."""
    return tuple((topic, name, docno, grade) for name, pairs in grades.items() for _, _, docno, grade in judged(pairs))


def intents(topic: str, *grades: str) -> Rows:
    """Return qrels of `docno=grade` pairs by intent: 1, 2, …"""
    return parts(topic, {str(number): pairs for number, pairs in enumerate(grades, 1)})


INPUTS = {
    "graded": Input(
        "grades 0 to 3; two documents retrieved are unjudged, and one that is relevant is not retrieved",
        ranked_run("a u c n b e v"),
        judged("a=3 b=0 c=1 d=2 e=2 f=0"),
    ),
    "ties": Input(
        "documents with equal scores, one of them unjudged",
        (("1", "b", 2.0), ("1", "a", 2.0), ("1", "d", 2.0), ("1", "c", 1.0), ("1", "x", 1.0), ("1", "e", 1.0)),
        judged("a=0 b=2 c=3 d=1 e=0"),
    ),
    "negative": Input(
        "grades below 0: judged, and without gain", ranked_run("s a b t c u"), judged("s=-2 a=1 b=0 t=-1 c=2 d=-1 e=1")
    ),
    "missing": Input(
        "topic 2 is judged and not in the run, topic 3 is in the run and not judged",
        ranked_run("b a u c") + ranked_run("a b", "3"),
        judged("a=2 b=0 c=1") + judged("a=1 b=2 c=0", "2"),
    ),
    "none": Input(
        "topic 2 has no relevant document",
        ranked_run("a b c") + ranked_run("a b c", "2"),
        judged("a=1 b=0 c=2") + judged("a=0 b=0", "2"),
    ),
    "no answer": Input(
        "topics 2 to 5 have no relevant document; the run returns nothing for topic 2, and little for topic 3",
        (("1", "a", 0.9), ("1", "b", 0.8), ("3", "a", 0.25), ("4", "a", 0.5), ("4", "c", 0.75), ("5", "a", 0.5)),
        judged("a=0 b=2 c=1") + judged("a=0", "2") + judged("b=0", "3") + judged("c=0", "4") + judged("a=-1", "5"),
    ),
    "short": Input(
        "the run ends before the cutoff and before the relevant documents do",
        ranked_run("b a"),
        judged("a=1 b=3 c=2 d=2 e=1 f=0"),
    ),
    "fractions": Input("grades with fractions", ranked_run("a b u c d"), judged("a=0.5 b=1.5 c=2.25 d=0 e=1.5")),
    "binary": Input("grades 0 and 1", ranked_run("x a b u c y d"), judged("a=1 b=1 c=0 d=1 e=1 x=0 y=0")),
    "deep": Input(
        "fourteen documents, more of them relevant than the cutoff",
        ranked_run("a b c d e f g h i j k l m n"),
        judged("a=0 b=3 c=1 d=0 e=2 f=0 g=3 h=1 i=0 j=2 k=1 l=3 m=0 n=1"),
    ),
    "unjudged": Input("no document retrieved is judged", ranked_run("x y z"), judged("a=2 b=1 c=0")),
    "irrelevant": Input(
        "all documents retrieved are judged not relevant", ranked_run("c d"), judged("a=2 b=1 c=0 d=0")
    ),
    "ideal": Input("the best order", ranked_run("a b c d"), judged("a=3 b=2 c=1 d=0")),
    "names": Input(
        "equal scores of all documents; docnos whose order by bytes is neither that of numbers nor of a language",
        (("1", "d9", 1.0), ("1", "d10", 1.0), ("1", "D1", 1.0), ("1", "é", 1.0)),
        judged("d9=0 d10=2 D1=3 é=1"),
    ),
    "precision": Input(
        "scores that differ as doubles and are equal in single precision",
        (("1", "a", 16777217.0), ("1", "b", 16777216.0), ("1", "c", 1.0)),
        judged("a=2 b=0 c=1"),
    ),
    "range": Input(
        "scores far apart and below 0",
        (("1", "a", -1e-300), ("1", "b", 1e300), ("1", "c", -1e30), ("1", "d", 0.0)),
        judged("a=2 b=0 c=1 d=0"),
    ),
    "repeated": Input("the same judgment twice counts once", ranked_run("a b"), judged("a=2 b=0 a=2 c=1")),
    "twice": Input("a document is in the run twice", ranked_run("a b a c"), judged("a=2 b=1 c=1")),
    "strata": Input(
        "a pool of two strata; grades below 0: in the pool and not sampled",
        ranked_run("a f b c x d g e"),
        parts("1", {"top": "a=2 b=0 c=1", "rest": "d=1 e=0 f=-1 g=-1 h=-1 i=2"}),
    ),
    "strata missing": Input(
        "strata; topic 2 is judged and not in the run, topic 3 has no relevant document",
        ranked_run("b a c") + ranked_run("a b", "3"),
        parts("1", {"top": "a=1 b=-1", "rest": "c=1 d=-1 e=0"})
        + parts("2", {"top": "a=1"})
        + parts("3", {"top": "a=0 b=-1"}),
    ),
    "intents": Input(
        "three intents; a document has a line for each that it is relevant to; intent 3 has no relevant document",
        ranked_run("b x a d c") + ranked_run("a c", "2"),
        intents("1", "a=2 b=1 c=0 d=1", "a=1 c=2 e=1 b=0", "a=0 x=0 d=0") + intents("2", "a=0 c=2", "c=1 d=1"),
    ),
    "intents missing": Input(
        "intents; topic 2 is judged and not in the run, topic 3 has no relevant document",
        ranked_run("c a b") + ranked_run("a", "3"),
        intents("1", "a=1 b=1 c=0", "a=1 d=1") + intents("2", "a=1", "b=1") + intents("3", "a=0 b=0"),
    ),
    "intents tied": Input(
        "intents; equal scores, and equal worth in the greedy ideal ranking, which depends on the order of ties",
        (("1", "a", 1.0), ("1", "c", 1.0), ("1", "b", 1.0), ("1", "d", 0.5)),
        intents("1", "b=1 c=1 d=0", "a=1 c=1", "b=1 a=0", "a=1"),
    ),
}
CORE = (*Entry.inputs, "binary", "deep", "unjudged", "irrelevant", "ideal", "names", "precision", "range", "repeated")
WHOLE = ("graded", "ties", "negative", "missing", "none", "short")
INTENTS = ("intents", "intents missing", "intents tied")
STRATA = ("strata", "strata missing")


CASCADE = (
    Entry("err", "gain (2^g − 1) / 2^top, top: the highest grade of all topics; Σ 1/i · r_i · Π_{j<i} (1 − r_j)",
          inputs=CORE),
    Entry("err@3", "err down to rank 3", ir_measures="ERR@3"),
    Entry("err(gain=linear)", "gain g / top"),
    Entry("err(gain=ntcir)@10", "gain g / (top + 1), down to rank 10"),
    Entry("err(rel=2)", "gain 1 from grade 2 on, else 0"),
    Entry("nerr", "err over that of all judged documents in descending order of gain"),
    Entry("nerr@2", "both rankings end at rank 2"),
    Entry("cascade(utility=dcg)", "err with 1/log2(i + 1) in place of 1/i"),
    Entry("cascade(gamma=0.9,utility=one)@10", "Σ 0.9^(i−1) · r_i · Π_{j<i} (1 − r_j) down to rank 10"),
    Entry("rr", "1 / rank of the first document of grade 1 or more", "recip_rank", "RR", inputs=CORE),
    Entry("rr(rel=2)@3", "of grade 2 or more, 0 if not among the first 3", ir_measures="RR(rel=2)@3",
          inputs=(*Entry.inputs, "names")),
    Entry("success@1", "1 if the first document is relevant", "success.1", "Success@1"),
    Entry("success@5", "1 if one of the first 5 is relevant", "success.5", "Success@5"),
)  # fmt: skip

CUMULATED = (
    Entry("ndcg", "gain g, discount 1/log2(i + 1); ideal: all judged documents", "ndcg", "nDCG", inputs=CORE),
    Entry("ndcg@3", "the ideal ends at rank 3 too", "ndcg_cut.3", "nDCG@3", inputs=CORE),
    Entry("ndcg@10", "both rankings end at rank 10", "ndcg_cut.10", "nDCG@10"),
    Entry("ndcg(gain=exp)@3", "gain 2^g − 1", ir_measures="nDCG(dcg='exp-log2')@3", inputs=CORE),
    Entry("ndcg(log=2)", "no discount at rank 1, then 1/log2(i)"),
    Entry("ndcg(log=10)@10", "no discount before rank 10, then 1/log10(i)"),
    Entry("ndcg(rel=2)@5", "gain 1 from grade 2 on, else 0"),
    Entry("ndcg(gain=0:1:5:10)@5", "gains 1, 5 and 10 of grades 1, 2 and 3", inputs=WHOLE),
    Entry("dcg@5", "Σ g / log2(i + 1)"),
    Entry("dcg(gain=exp)", "Σ (2^g − 1) / log2(i + 1)"),
    Entry("q", "1/R Σ (relevant so far + gain so far) / (i + ideal gain so far), over relevant documents, β = 1"),
    Entry("q@3", "q down to rank 3, divided by R"),
    Entry("q(beta=0.5,norm=k)@3", "β = ½; divided by min(R, 3)"),
    Entry("compat(p=0.8)",
          "RBO with the ideal ranking, relevant documents by grade and then as in the run, over the RBO of that "
          "with itself; ranks go on without end",
          ir_measures="Compat(p=0.8)"),
    Entry("compat(p=0.8)@5", "the overlap is summed to rank 5"),
)  # fmt: skip

PRECISION = (
    Entry("ap", "1/R Σ P@i over relevant documents; R counts all judged documents of grade 1 or more", "map", "AP",
          inputs=CORE),
    Entry("ap@3", "the sum ends at rank 3, R does not", "map_cut.3", "AP@3"),
    Entry("ap(norm=k)@3", "divided by min(R, 3)"),
    Entry("ap(rel=2)", "relevant from grade 2 on", ir_measures="AP(rel=2)"),
    Entry("sp", "Σ P@i over relevant documents"),
    Entry("p@5", "over 5, also if fewer are retrieved", "P.5", "P@5", inputs=CORE),
    Entry("p@10", "over 10, also if fewer are retrieved", "P.10", "P@10"),
    Entry("p(rel=2)@1", "relevant from grade 2 on", ir_measures="P(rel=2)@1"),
    Entry("recall@3", "relevant among the first 3 over R", "recall.3", "R@3"),
    Entry("recall@10", "relevant among the first 10 over R", "recall.10", "R@10"),
    Entry("rprec", "P@R", "Rprec", "Rprec"),
    Entry("rprec_mult(times=1.4)", "P@k, k: 1.4 R + 0.9 rounded down", "Rprec_mult.1.4"),
    Entry("recall(norm=k)@3", "relevant among the first 3 over min(R, 3)", inputs=(*Entry.inputs, "deep")),
    Entry("recall(norm=k)@10", "relevant among the first 10 over min(R, 10)"),
    Entry("relative_p@3", "relevant among the first 3 over min(3, R)", "relative_P.3"),
    Entry("bpref", "1/R Σ 1 − min(R, n) / min(R, N), n: judged non-relevant documents above, N: in all", "bpref",
          "Bpref", inputs=CORE),
    Entry("bpref(k=10)", "bpref with R + 10 in place of R"),
    Entry("accuracy", "share of retrieved pairs of a relevant and another document in the right order",
          ir_measures="Accuracy"),
    Entry("iprec(recall=0.5)", "highest P@i where ⌊R/2 + ½⌋ relevant documents are reached", "iprec_at_recall.0.5",
          "IPrec@0.5"),
    Entry("iprec(recall=0.3)", "where ⌊0.3 R + ½⌋ are reached", "iprec_at_recall.0.3", "IPrec@0.3"),
    Entry("iprec_avg", "mean interpolated precision at recall 0, 0.1, … 1", "11pt_avg"),
    Entry("gm_ap", "ap; over topics exp of the mean of ln max(AP, 0.00001)", summary="geometric"),
    Entry("gm_bpref", "bpref; over topics exp of the mean of ln max(bpref, 0.00001)", summary="geometric"),
    Entry("esl(n=2)", "documents that are not relevant above the second relevant one",
          inputs=("graded", "ties", "names")),
    Entry("rank1", "rank of the first relevant document; topics without one are left out",
          inputs=(*Entry.inputs, "no answer")),
    Entry("rank1(rel=2)@2", "of grade 2 or more, among the first 2", inputs=("graded", "ties", "missing")),
    Entry("yaap", "ln((1 + S) / (1 + R − S)), S: the sum of precisions", inputs=("graded", "ties", "short")),
    Entry("infap", "AP with precision above a rank estimated from judged documents, ε = 0.00001", "infAP", "infAP"),
    Entry("judged@5", "judged among the first 5, over those retrieved", ir_measures="Judged@5"),
    Entry("unjudged@5", "not judged among the first 5, over 5"),
)  # fmt: skip

GRADED_PRECISION = (
    Entry("gap",
          "graded average precision, equal g for thresholds 1 … top; thresholds are the grades that "
          "occur if one has a fraction",
          inputs=CORE),
    Entry("gap@3", "the sum ends at rank 3, the divisor does not"),
    Entry("gap(norm=k)@3", "divisor: the ideal ranking down to rank 3"),
    Entry("gap(g=1:1:2)", "thresholds 1, 2 and 3 with weights 1, 1 and 2", inputs=("graded", "ties", "short")),
    Entry("gprecision@3", "expected share of the first 3 that a user takes for relevant"),
    Entry("grecall", "expected share of what a user takes for relevant that is retrieved"),
    Entry("grecall@3", "of the first 3"),
)  # fmt: skip

CWL = (
    Entry("rbp", "(1 − p) Σ r_i p^(i−1), p = 0.8, gain g / top", inputs=CORE),
    Entry("rbp(p=0.5)@3", "the sum ends at rank 3, the weights stay"),
    Entry("rbp(p=0.8,rel=1)", "gain 1 from grade 1 on", ir_measures="RBP(p=0.8,rel=1)"),
    Entry("rbp(of=etu)", "expected total utility: Σ r_i p^(i−1)"),
    Entry("rbp(of=ed,p=0.9)", "documents viewed: 1 / (1 − p)"),
    Entry("rbp(horizon=5)", "all sums end at rank 5"),
    Entry("insq", "C(i) = ((i + 2T − 1) / (i + 2T))², T = 1, ranks without end",
          ir_measures="INSQ(T=1.0,max_rel={top})"),
    Entry("insq(T=2.5)@3", "T = 2.5, the sum of gains ends at rank 3"),
    Entry("insq(horizon=10)", "all sums end at rank 10"),
    Entry("inst", "C(i) = ((i + T + T_i − 1) / (i + T + T_i))², T_i = T − gain so far, T = 1",
          ir_measures="INST(T=1.0,max_rel={top})"),
    Entry("inst(T=2)", "T = 2"),
    Entry("sdcg@3", "C(i) = log2(i + 1) / log2(i + 2) for i < 3, else 0", ir_measures="SDCG(max_rel={top})@3"),
    Entry("cwlp@5", "C(i) = 1 for i < 5, else 0"),
    Entry("cwlrr", "C(i) = 1 down to the first gain above 0, then 0"),
    Entry("cwlap", "C(i) = Σ_{j>i} r_j/j over Σ_{j≥i} r_j/j"),
    Entry("tbg", "V(i) = 2^(−(i − 1)/224), each document costs 1"),
    Entry("u(L=20)", "V(i) = max(0, 1 − (i − 1)/20), each document costs 1"),
    Entry("set@5", "V(i) ∝ √(i + 1) − √i down to rank 5"),
    Entry("npv", "C(i) = 1/1.1"),
    Entry("bpm", "C(i) = 1 while the gain so far is below 1 and i below 10", ir_measures="BPM(T=1.0,max_rel={top})@10"),
    Entry("bpmd", "bpm whose thresholds move by Σ_{j<i} (r_j − ½)"),
    Entry("ift", "goal T = 2, rate A = 0.2, b1 = b2 = 0.9, R1 = R2 = 1"),
    Entry("nerr5(gain=0:0.25:0.5:1)", "C(i) = 1 − r_i; 0 if no document with gain 1 is retrieved", inputs=WHOLE),
    Entry("nerr6(gain=0:0.25:0.5:1)", "C(i) = i/(i + 1) · (1 − r_i); 0 if no document with gain 1 is retrieved",
          inputs=WHOLE),
    Entry("nerr8@5", "C(i) = 1 − r_i for i < 5, gain (2^g − 1) / 2^top", ir_measures="NERR8(max_rel={top})@5"),
    Entry("nerr9@5", "C(i) = i/(i + 1) · (1 − r_i) for i < 5", ir_measures="NERR9(max_rel={top})@5"),
    Entry("nerr10", "C(i) = 0.8 (1 − r_i)", ir_measures="NERR10(p=0.8,max_rel={top})"),
    Entry("nerr11", "C(i) = ((i + 2T − 1) / (i + 2T))² (1 − r_i), T = 1", ir_measures="NERR11(T=1.0,max_rel={top})"),
)  # fmt: skip

WEIGHTS = (
    Entry("zipf@5", "w_i = 1/i over 1 + 1/2 + … + 1/5, gain g / top"),
    Entry("zipf(beta=2)", "w_i = 1/i² over ζ(2)"),
    Entry("uniform@5", "w_i = 1/5 down to rank 5"),
    Entry("poisson(alpha=2)", "w_i = 2^(i−1) e^−2 / (i−1)!"),
    Entry("logharmonic(b=3)@5", "weights 1 down to rank 3, then 1/log3(i), over their sum"),
)  # fmt: skip

SETS = (
    Entry("set_p", "relevant share of the documents retrieved", "set_P", "SetP"),
    Entry("set_relative_p", "relevant retrieved over min(retrieved, R)", "set_relative_P", "SetP(relative=True)"),
    Entry("set_recall", "relevant retrieved over R", "set_recall", "SetR"),
    Entry("set_map", "set precision times recall", "set_map", "SetAP"),
    Entry("set_f", "2PR / (P + R)", "set_F", "SetF"),
    Entry("set_f(x=2)", "3PR / (R + 2P)", "set_F.2"),
    Entry("f1@5", "2 hits / (5 + R)"),
    Entry("utility", "relevant minus other documents retrieved", "utility"),
    Entry("utility(a=2,b=-1,c=-1)", "and minus the relevant ones missed, relevant twice",
          inputs=("graded", "ties", "short")),
    Entry("silence",
          "share of the topics without relevant documents for which nothing is returned; other topics are left out",
          inputs=("none", "no answer")),
    Entry("silence(min=0.5)", "for which no document has a score of 0.5 or more", inputs=("none", "no answer")),
    Entry("num_q", "topics", "num_q", summary="total", inputs=("missing", "none")),
    Entry("num_ret", "documents retrieved", "num_ret", "NumRet", summary="total", inputs=("missing", "none")),
    Entry("num_rel", "relevant documents", "num_rel", "NumRel", summary="total", inputs=("missing", "none")),
    Entry("num_rel_ret", "relevant documents retrieved", "num_rel_ret", "NumRelRet", summary="total",
          inputs=("missing", "none")),
    Entry("hits@3", "relevant among the first 3", inputs=("missing", "none")),
    Entry("num_nonrel_judged_ret", "judged and not relevant, retrieved", "num_nonrel_judged_ret", summary="total",
          inputs=("graded", "missing")),
    Entry("bing", "1/R Σ 1/log2(2 + not relevant above)", "binG"),
    Entry("g", "Σ g / log2(2 + lag behind the ideal's gain) over the ideal's gain", "G", inputs=WHOLE),
    Entry("ndcg_rel", "nDCG at the ranks of relevant documents, of the whole run for each missing one", "ndcg_rel"),
    Entry("rndcg",
          "mean of nDCG at the ends of the ideal ranking's grades, and of the whole run if it is longer than R + 1",
          "Rndcg"),
    Entry("rbp_topic", "(1 − p) Σ p^(i−1) g / highest grade of the topic, p = 0.9"),
    Entry("rbp_resid", "(1 − p) Σ p^(i−1) over unjudged documents, plus p^n, p = 0.9"),
)  # fmt: skip

DIVERSITY = (
    Entry("alpha_dcg@5", "Σ_i Σ_t (1 − α)^(relevant to t above) / log2(i + 1), α = ½", inputs=INTENTS),
    Entry("alpha_dcg(norm=best)@5", "over documents with all intents at all ranks", ir_measures="alpha_DCG@5",
          inputs=INTENTS),
    Entry("alpha_ndcg@5", "over the greedy ideal ranking, ties by docno descending", ir_measures="alpha_nDCG@5",
          inputs=INTENTS),
    Entry("alpha_ndcg(alpha=0.2)@2", "α = 0.2, both rankings end at rank 2", inputs=INTENTS),
    Entry("nrbp", "(1 − (1 − α) β) / N Σ β^(i−1) Σ_t (1 − α)^(relevant to t above), α = β = ½", ir_measures="NRBP",
          inputs=INTENTS),
    Entry("nnrbp", "over the greedy ideal ranking", ir_measures="nNRBP", inputs=INTENTS),
    Entry("strec@2", "share of the intents that the first 2 cover", ir_measures="StRecall@2", inputs=INTENTS),
    Entry("strec@10", "share of the intents that the first 10 cover", ir_measures="StRecall@10", inputs=INTENTS),
    Entry("erria@5", "mean ERR of the intents with a relevant document", inputs=INTENTS),
    Entry("erria(norm=best,rel=1,stop=0.5)@5",
          "a relevant document stops half of the users; over relevant documents at all ranks", ir_measures="ERR_IA@5",
          inputs=INTENTS),
    Entry("nerria(rel=1,stop=0.5)@5", "over the greedy ideal ranking", ir_measures="nERR_IA@5", inputs=INTENTS),
    Entry("ia(ap)", "mean AP of the intents with a relevant document", ir_measures="AP_IA", inputs=INTENTS),
    Entry("ia(p)@5", "mean P@5 of the intents", ir_measures="P_IA@5", inputs=INTENTS),
    Entry("ia(ndcg)@5", "mean nDCG@5 of the intents", inputs=INTENTS),
)  # fmt: skip

SAMPLED = (
    Entry("xinfap", "AP estimated from a stratified sample, ε = 0.00001", inputs=STRATA),
    Entry("statap", "1/R Σ w_i/i Σ_{j≤i} w_j over relevant documents, w: documents for each sampled one",
          inputs=STRATA),
    Entry("infndcg", "nDCG estimated from a stratified sample; the numbers of the ideal are rounded half up",
          inputs=STRATA),
    Entry("infndcg@3", "both rankings end at rank 3", inputs=STRATA),
)  # fmt: skip

FAMILIES = {
    "cascade": CASCADE,
    "cumulated-gain": CUMULATED,
    "precision": PRECISION,
    "graded-precision": GRADED_PRECISION,
    "cwl": CWL,
    "weights": WEIGHTS,
    "sets": SETS,
    "diversity": DIVERSITY,
    "samples": SAMPLED,
}
TIE_BREAKS = {
    "docno-desc": "ties by docno, descending in byte order",
    "docno-asc": "ties by docno, ascending in byte order",
    "file": "ties as listed",
    "best": "ties with the highest grades first",
    "worst": "ties with the lowest grades first",
    "average": "the mean over all orders of tied documents",
}
OPTIONS: tuple[tuple[dict[str, Any], str, str], ...] = (
    *(({"ties": rule}, "ties", words) for rule, words in list(TIE_BREAKS.items())[1:]),
    ({"ties": "docno-asc"}, "names", TIE_BREAKS["docno-asc"]),
    ({"order": "float32"}, "precision", "scores are compared in single precision"),
    ({"top_grade": 4}, "graded", "the top grade is 4"),
    ({"topics": "both"}, "missing", "the mean is over topics in both files"),
    ({"topics": "run"}, "missing", "the mean is over the topics of the run, also those without judgments"),
    ({"topics": "relevant"}, "none", "the mean is over topics with a relevant document"),
    ({"negative": "unjudged"}, "negative", "grades below 0 are unjudged"),
    ({"judged_only": True}, "graded", "unjudged documents are dropped before ranks are counted"),
    ({"duplicates": "first"}, "twice", "the first line of a document counts"),
    ({"duplicates": "last"}, "twice", "the last line of a document counts"),
    ({"depth": 2}, "graded", "the run is cut after two documents"),
)
COLUMN_2: dict[str, dict[str, Any]] = {"diversity": {"subtopics": True}, "samples": {"qrels_format": "strata"}}
"""Families for which the second column of the qrels is an intent or a stratum."""
UNDER_OPTIONS = ("ap", "err", "ndcg@3", "p@5", "rr", "rbp", "bpref")


def cases() -> Iterator[Case]:
    """Yield every case, by family, measure and input."""
    for family, measures in FAMILIES.items():
        for entry in measures:
            options = COLUMN_2.get(family, {})
            yield from (Case(family, name, INPUTS[name], entry, options) for name in entry.inputs)
    by_name = {entry.measure: entry for measures in FAMILIES.values() for entry in measures}
    for options, name, words in OPTIONS:
        for measure in UNDER_OPTIONS:
            if measure != "bpref" or options.get("ties") != "average":
                yield Case("options", name, INPUTS[name], by_name[measure], options, words)


# --- scores ----------------------------------------------------------------------------------------------------------


def single(score: float) -> float:
    """Return the nearest number of single precision."""
    if abs(score) > 3.4e38:
        return float("inf") if score > 0 else float("-inf")
    return float(struct.unpack("f", struct.pack("f", score))[0])


def rankings(scored: dict[str, float], grades: dict[str, Real], ties: str) -> list[tuple[str, ...]]:
    """Return the order of the documents; by `average` every order of tied ones."""
    names = list(scored) if ties == "file" else sorted(scored, key=str.encode, reverse=ties != "docno-asc")
    if ties in ("best", "worst"):
        names.sort(key=lambda docno: grades.get(docno, mp.mpf(0)), reverse=ties == "best")
    names.sort(key=lambda docno: -scored[docno])
    if ties != "average":
        return [tuple(names)]
    groups = [list(group) for _, group in itertools.groupby(names, key=scored.__getitem__)]
    orders = itertools.product(*map(itertools.permutations, groups))
    return [tuple(itertools.chain(*order)) for order in orders]


def topics(data: Input, options: dict[str, Any]) -> dict[str, list[Topic]]:
    """Return the counted topics, each with its ranking, or with several that count alike."""
    intents: dict[str, dict[str, dict[str, Real]]] = {}
    for topic, intent, docno, grade in data.qrels:
        if grade >= 0 or options.get("negative") != "unjudged":
            intents.setdefault(topic, {}).setdefault(intent, {})[docno] = mp.mpf(str(grade))
        intents.setdefault(topic, {})
    positive = {grade for each in intents.values() for judgments in each.values() for grade in judgments.values()}
    labels = tuple(sorted(grade for grade in positive if grade > 0))
    top = mp.mpf(options.get("top_grade", max(labels, default=0)))
    run: dict[str, dict[str, float]] = {}
    for topic, docno, score in data.run:
        if docno in run.get(topic, {}) and options["duplicates"] == "first":
            continue
        run.setdefault(topic, {})[docno] = single(score) if options.get("order") == "float32" else score
    names = {"both": [t for t in intents if t in run], "run": list(run)}.get(
        options.get("topics", "qrels"), list(intents)
    )
    if options.get("topics") == "relevant":
        names = [t for t in names if t in run and any(g > 0 for each in intents[t].values() for g in each.values())]
    topics_of_case = {}
    for topic in names:
        each = intents.get(topic, {})
        grades = {docno: grade for judgments in each.values() for docno, grade in judgments.items()}
        orders = rankings(run.get(topic, {}), grades, options.get("ties", "docno-desc"))
        if options.get("judged_only"):
            orders = [tuple(docno for docno in order if docno in grades) for order in orders]
        highest = max(run.get(topic, {}).values(), default=None)
        topics_of_case[topic] = [
            Topic(order[: options.get("depth")], grades, top, labels, each, highest) for order in orders
        ]
    return topics_of_case


def by_topic(case: Case, **changed: Any) -> dict[str, Real]:
    """Return the exact score of each topic that has one, with some options changed."""
    orders_of = topics(case.input, {**case.options, **changed})
    scores = {topic: list(map(case.entry.score, each)) for topic, each in orders_of.items()}
    return {topic: mp.fsum(each) / len(each) for topic, each in scores.items() if None not in each}


def summary(case: Case, scores: dict[str, Real]) -> Real:
    if case.entry.summary == "total":
        return mp.fsum(scores.values())
    if case.entry.summary == "geometric":
        return mp.exp(mp.fsum(mp.log(max(score, mp.mpf("0.00001"))) for score in scores.values()) / len(scores))
    return mp.fsum(scores.values()) / len(scores)


# --- files -----------------------------------------------------------------------------------------------------------


def digits(value: Real) -> float:
    """Return the float whose shortest spelling has 15 digits of the value."""
    return float(mp.nstr(value, 15))


def as_record(case: Case) -> dict[str, Any]:
    scores = by_topic(case)
    return {
        "input": case.name,
        "measure": case.entry.measure,
        "options": case.options,
        "convention": "; ".join(filter(None, (case.entry.words, case.about))),
        "elsewhere": case.elsewhere,
        "topics": {topic: digits(score) for topic, score in scores.items()},
        "value": digits(summary(case, scores)),
    }


def written(family: str) -> str:
    """Return the text of the file of a family: a line for each case and for each row of lines."""
    cases_of_family = [case for case in cases() if case.family == family]
    dump = partial(json.dumps, ensure_ascii=False)
    names = dict.fromkeys(case.name for case in cases_of_family)
    inputs = ",\n".join(
        f'  {dump(name)}: {{\n    "about": {dump(INPUTS[name].about)},\n    "run": {dump(INPUTS[name].run)},\n'
        f'    "qrels": {dump(INPUTS[name].qrels)}\n  }}'
        for name in names
    )
    records = ",\n".join(f"  {dump(as_record(case))}" for case in cases_of_family)
    head = f'{{\n"license": {dump(LICENSE)},\n"family": {dump(family)},'
    return f'{head}\n"inputs": {{\n{inputs}\n}},\n"cases": [\n{records}\n]\n}}\n'


def families() -> list[str]:
    return list(dict.fromkeys(case.family for case in cases()))


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    for family in families():
        (FOLDER / f"{family}.json").write_text(written(family), encoding="utf-8")


if __name__ == "__main__":
    main()
