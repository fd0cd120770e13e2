"""The table of measures: their names, and the modules that define them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from gradedeval.measures.definition import Measure

# Module and names. The first measures tell the most; this is the order of help, of documentation and of
# `gradedeval measures`.
LINES = (
    ("cascading", "err nerr cascade"),
    ("cumulated", "ndcg dcg q"),
    ("patience", "rbp insq inst sdcg cwlp cwlrr cwlap tbg u set npv"),
    ("adaptive", "bpm bpmd ift"),
    ("patient_err", "nerr8 nerr9 nerr10 nerr11 nerr5 nerr6"),
    ("expressed", "cwl ddm"),
    ("distributions", "zipf uniform poisson logharmonic wp"),
    ("precision", "ap"),
    ("graded_ap", "gap"),
    ("precision", "sp p"),
    ("cascading", "rr"),
    ("precision", "recall rprec"),
    ("cascading", "success"),
    ("precision", "bpref"),
    ("graded_ap", "gprecision grecall"),
    ("interpolated", "iprec iprec_avg rprec_mult"),
    ("sets", "relative_p"),
    ("transformed", "gm_ap gm_bpref infap yaap"),
    ("against_ideal", "bing g ndcg_rel rndcg"),
    ("trec_rbp", "rbp_topic rbp_resid"),
    ("sets", "set_p set_relative_p set_recall set_map set_f utility"),
    ("novelty", "erria alpha_ndcg nrbp strec nerria alpha_dcg nnrbp"),
    ("precision", "judged unjudged"),
    ("counts", "num_q num_ret num_rel num_rel_ret"),
    ("sets", "num_nonrel_judged_ret"),
)


class Table(Mapping[str, Measure]):
    """name -> measure, in the order of the lines.

    A module is imported when one of its measures is asked for: who wants ERR need not wait for all the others.
    """

    def __init__(self, lines: tuple[tuple[str, str], ...]) -> None:
        self._home = {name: module for module, names in lines for name in names.split()}
        self._known: dict[str, Measure] = {}

    def __getitem__(self, name: str) -> Measure:
        if name not in self._known:
            module = vars(import_module(f"gradedeval.measures.{self._home[name]}"))
            # A measure whose name Python or the module needs for something else ends with an underscore there: set_.
            self._known[name] = module.get(f"{name}_") or module[name]
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._home

    def __iter__(self) -> Iterator[str]:
        return iter(self._home)

    def __len__(self) -> int:
        return len(self._home)


MEASURES = Table(LINES)
