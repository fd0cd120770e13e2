"""The table of measures, their names and the modules that define them; and what one gives for a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from gradedeval.arrays import Floats, np
from gradedeval.errors import TRACE, InputError, failure
from gradedeval.kernel.measures.definition import Definition, Measure
from gradedeval.kernel.measures.gains import Gains, GainTable, Grades, binary_table, graded_table, threshold_table

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
            module = vars(import_module(f"gradedeval.kernel.measures.{self._home[name]}"))
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


# A measure applied to judgments: its gain table, the ranks that it looks at, and its scores.


def gain_table(measure: Measure, grades: Grades) -> GainTable:
    """What each grade is worth to the measure. Raises InputError where its gain scheme does not fit the grades."""
    place = f"'{measure}'"
    if measure.rel is not None:
        return binary_table(measure.rel, grades)
    if measure.definition.scale is None or measure.gain is None:
        return GainTable(np.zeros(len(grades.labels)), 0.0)
    if measure.threshold_shares is not None and grades.top > 0:
        return threshold_table(measure.threshold_shares, grades, place)
    return graded_table(measure.gain, measure.definition.scale, grades, place)


def scores_of(measure: Measure, gains: Gains) -> Floats:
    """The scores of a batch. Raises InputError where a user's own measure fails, or returns NaN."""
    return as_scores(measure, run_measure(measure, gains))


def as_scores(measure: Measure, scores: Floats) -> Floats:
    """What the function of a measure returns, as scores. Raises InputError where it is NaN."""
    highest = np.maximum.reduce(scores, initial=-np.inf)
    if highest != highest:
        raise InputError(f"measure '{measure}'", "returned NaN", "the gains may be too large")
    ceiling = measure.definition.ceiling  # which the last bit of a sum may pass
    if highest > ceiling:
        return np.where((scores > ceiling) & (scores < ceiling + 1e-12), ceiling, scores)
    return scores.astype(np.float64)


def run_measure(measure: Measure, gains: Gains) -> Floats:
    """What the measure's function returns for a batch. Raises InputError where a user's own fails."""
    known = MEASURES.get(measure.name)
    is_ours = known is not None and known.definition is measure.definition
    try:
        if is_ours:
            with np.errstate(over="ignore", invalid="ignore"):
                return measure.score(gains)
        scores = np.asarray(measure.score(gains), dtype=np.float64)
    except InputError as error:
        raise error if error.place else error.replace(place=f"measure '{measure}'") from None
    except (Exception, SystemExit) as error:
        if is_ours:
            raise
        # A user's own measure: its errors are messages, not our tracebacks.
        hint = f"fix its function; {TRACE}"
        if _is_of_topic(measure.definition, error):
            hint = "a function of one topic's grades needs @gradedeval.measure(per_topic=True)"
        raise failure(error, f"measure '{measure}'", "failed", hint) from error
    if scores.shape != (len(gains.gain),):
        what = f"returned shape {scores.shape}"
        raise InputError(f"measure '{measure}'", what, f"expected one score per topic, ({len(gains.gain)},)")
    return scores


def _is_of_topic(definition: Definition, error: BaseException) -> bool:
    """Whether a function that failed was written for the grades of one topic: `Gains` are one argument, no array."""
    import inspect  # few measures fail

    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    arguments = inspect.signature(definition.function).parameters.values()
    several = sum(one.kind in positional for one in arguments) > 1
    return not definition.per_topic and (several or (isinstance(error, TypeError) and "'Gains' object" in str(error)))
