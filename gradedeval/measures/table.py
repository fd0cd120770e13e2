"""The table of measures: their names, and the modules that define them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from gradedeval.measures.definition import Measure

# Module and names, the most informative measures first: the order in help, documentation and `gradedeval measures`.
LINES = (
    ("cascade_models", "err nerr cascade"),
    ("cumulated_gain", "ndcg dcg q"),
    ("compatibility", "compat"),
    ("cwl_family.user_models", "rbp insq inst sdcg cwlp cwlrr cwlap tbg u set npv"),
    ("cwl_family.goal_models", "bpm bpmd ift"),
    ("cwl_family.user_models", "nerr8 nerr9 nerr10 nerr11 nerr5 nerr6"),
    ("cwl_family.user_defined", "cwl ddm"),
    ("weighting_models", "zipf uniform poisson logharmonic wp"),
    ("precision", "ap"),
    ("graded_precision", "gap"),
    ("precision", "sp p"),
    ("cascade_models", "rr"),
    ("precision", "recall rprec"),
    ("cascade_models", "success"),
    ("precision", "bpref accuracy"),
    ("graded_precision", "gprecision grecall"),
    ("precision", "iprec iprec_avg"),
    ("precision", "rprec_mult"),
    ("sets", "relative_p"),
    ("precision", "esl"),
    ("precision", "gm_ap gm_bpref yaap"),
    ("sampled", "infap xinfap statap infndcg"),
    ("trec_eval_only", "bing g ndcg_rel rndcg"),
    ("trec_eval_only", "rbp_topic rbp_resid"),
    ("sets", "set_p set_relative_p set_recall set_map set_f f1 utility"),
    ("diversity", "erria alpha_ndcg nrbp strec nerria alpha_dcg nnrbp"),
    ("precision", "judged unjudged"),
    ("sets", "num_q num_ret num_rel num_rel_ret hits"),
    ("sets", "num_nonrel_judged_ret"),
)


class Table(Mapping[str, Measure]):
    """name -> measure, in the order of the lines.

    A module is imported when one of its measures is first used: an evaluation by ERR does not wait for all the others.
    """

    def __init__(self, lines: tuple[tuple[str, str], ...]) -> None:
        self._home = {name: module for module, names in lines for name in names.split()}
        self._known: dict[str, Measure] = {}

    def __getitem__(self, name: str) -> Measure:
        if name not in self._known:
            module = vars(import_module(f"gradedeval.measures.{self._home[name]}"))
            # Where Python or the module uses the name for something else, it ends with an underscore: set_.
            self._known[name] = module.get(f"{name}_") or module[name]
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._home

    def __iter__(self) -> Iterator[str]:
        return iter(self._home)

    def __len__(self) -> int:
        return len(self._home)


MEASURES = Table(LINES)
