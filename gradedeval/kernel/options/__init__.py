"""Options of reading, ranking and scoring: type, default, help, checks, and place in the signature of each."""

# ruff: noqa: RUF009 - `option` makes a field.
# Without `from __future__ import annotations`: the registry reads the types of the fields of `Options`. Types given as
# text are classes of `metadata`, which few evaluations need.
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from numbers import Integral, Real
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, get_args, get_origin

from gradedeval.arrays import as_float
from gradedeval.errors import Flag, InputError, choice_hint, flag, hint_of, plural, safe_repr
from gradedeval.kernel.measures.notation import LAST_CUTOFF, Value, plain_value, read_value
from gradedeval.kernel.trec.lines import FORMATS
from gradedeval.lazy import Late

if TYPE_CHECKING:
    from gradedeval.kernel.options import metadata
    from gradedeval.kernel.options.metadata import (
        Collapse,
        Costs,
        Fill,
        Labels,
        Predicted,
        Queries,
        Replicates,
        Slices,
        TopicWeights,
    )
else:
    metadata = Late(f"{__name__}.metadata")

LARGEST = LAST_CUTOFF
"""The default maximum of whole numbers: a sum of a few of them fits in 64 bits."""

# Python's types come first: an isinstance check of the abstract classes takes longer.
_INTEGRAL, _REAL = (int, Integral), (int, float, Real)

# int() and float() accept more, such as 1_000 and digits of other scripts.
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[nN][aA][nN]|[iI][nN][fF])")


@dataclass(frozen=True)
class Number:
    """The range of numbers that an option accepts, on the command line and in Python.

    flag              the option's name on the command line
    keyword           its name in Python, if different
    whole             whether only whole numbers are allowed
    minimum, maximum  inclusive limits; without a maximum, whole numbers end at `LARGEST`
    above, below      exclusive limits
    word              a word that is allowed in place of a number
    """

    flag: str
    whole: bool = False
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    word: str | None = None
    keyword: str = ""

    @property
    def kind(self) -> str:
        """The accepted numbers in words, for a message."""
        ends = (("from", self.minimum), ("above", self.above), ("to", self.maximum), ("and below", self.below))
        words = [
            "whole number" if self.whole else "number",
            *(f"{preposition} {end:,}" for preposition, end in ends if end is not None),
        ]
        return " ".join(words) + (f", or '{self.word}'" if self.word else "")

    @property
    def limits(self) -> str:
        """The limits as on help pages: `[1<=x<=17]`; empty if there are none."""
        low, sign = (self.minimum, "<=") if self.above is None else (self.above, "<")
        high = f"<={self.maximum}" if self.maximum is not None else f"<{self.below}" if self.below is not None else ""
        if low is None:
            return ""
        return f"[{low}{sign}x{high}]" if high else f"[x{'>=' if self.above is None else '>'}{low}]"

    def read(self, text: str) -> Any:
        """Parse a number of the command line. Raises InputError (usage) if the text is not a number within limits."""
        digits = text.strip()
        if digits == self.word:
            return digits
        if not (_WHOLE if self.whole else _NUMBER).fullmatch(digits):
            raise self.error(f"'{text}' is not a {self.kind}")
        return self._within(_whole(digits) if self.whole else float(digits), digits)

    def check(self, value: Any) -> Any:
        """Convert a number of Python or NumPy to int or float. Raises InputError (usage) unless it is within limits."""
        if self.word is not None and isinstance(value, str) and value == self.word:
            return value
        if isinstance(value, bool) or not isinstance(value, _INTEGRAL if self.whole else _REAL):
            raise self.error(f"{safe_repr(value)} is not a {self.kind}")
        if isinstance(value, _INTEGRAL):
            number = int(value)
            text = str(number) if abs(number) <= LARGEST else f"{as_float(number):g}"
            return self._within(number if self.whole else as_float(number), text)
        fraction = as_float(value)
        return self._within(fraction, f"{fraction:g}")

    def _within(self, number: float, number_text: str) -> float:
        if not self.whole and not math.isfinite(number):
            raise self.error(f"{number_text} is not a finite number")
        maximum = LARGEST if self.whole and self.maximum is None and self.below is None else self.maximum
        if self.above is not None and not number > self.above:
            raise self.error(f"{number_text} is too small", f"it must be above {self.above:,}")
        if self.minimum is not None and not number >= self.minimum:
            raise self.error(f"{number_text} is too small", f"it must be at least {self.minimum:,}")
        if self.below is not None and not number < self.below:
            raise self.error(f"{number_text} is too large", f"it must be below {self.below:,}")
        if maximum is not None and not number <= maximum:
            raise self.error(f"{number_text} is too large", f"it must be at most {maximum:,}")
        return number

    def check_or_none(self, value: Any) -> Any:
        """Check a value that may be None."""
        return None if value is None else self.check(value)

    def check_field(self, settings: Any, name: str) -> None:
        """Check a field of a frozen dataclass, which may be None, and store it as an int or a float."""
        object.__setattr__(settings, name, self.check_or_none(getattr(settings, name)))

    def error(self, problem: str, hint: str = "") -> InputError:
        """Build the InputError (usage) of a value of this option."""
        return InputError(Flag(self.flag, self.keyword), problem, hint, usage=True)


def _whole(digits: str) -> float:
    """Parse the digits of a whole number; infinity beyond any limit, for which Python is slow or refuses."""
    significant = digits.lstrip("+-0") or "0"
    size = int(significant) if len(significant) <= len(str(LARGEST)) else math.inf
    return -size if digits.startswith("-") else size


UNSEEN = Number("--unseen", whole=True, minimum=0, maximum=1_000_000, word="inf")


# Descriptions of options.

Commands = Literal["none", "eval", "reading"]
"""The commands that take an option: none, only `eval`, or all that read runs and qrels."""

Section = Literal["Reading and ranking", "Measures and gains", "Residuals", "Output", "Options of this command",
    "Planning"]  # fmt: skip
"""The sections of a help page."""

READING: Section = "Reading and ranking"
GAINS: Section = "Measures and gains"
RESIDUALS: Section = "Residuals"
OUTPUT: Section = "Output"
MEASURE_HELP = "Measure to report, such as err@20 or 'ndcg(gain=exp)@10'. Repeat -m, or separate measures by spaces."
"""The help of -m in most commands."""

THIS_COMMAND: Section = "Options of this command"
PLANNING: Section = "Planning"


def name_and_value(name: str, value: Any) -> str:
    """Write an option as most stand in the signature: `depth 100`."""
    return f"{name} {exact(value)}" if isinstance(value, float) else f"{name} {value}"


def exact(value: float) -> str:
    """Format a number in six digits, or in as many as distinguish it from every other."""
    text = f"{value:g}"
    return text if float(text) == value else repr(float(value))


def name_only(name: str, value: Any) -> str:
    """Write a flag as it stands in the signature: `judged only`."""
    return name


def elsewhere(name: str, value: Any) -> str:
    """Return an empty text: another part of the signature shows the option, or no score depends on it."""
    return ""


@dataclass(eq=False, repr=False)
class Option:
    """One option. Name, type and default come from the field of `Options` that it describes.

    help            its effect, in sentences
    section         its section of a help page
    commands        the commands that take it; `none`: only code sets it
    metavar         the name of its value on a help page; None: its choices
    default_text    a description of the default, if None does not describe it
    minimum, above  the lowest allowed number, inclusive or exclusive
    below           an exclusive upper limit
    accepts         the accepted values, for a message; None: its choices, or a number
    read            user input (a file name, text, a list) -> the value
    optional_value  whether it may stand on the command line without a value
    repeats         whether it may be repeated
    names_file      whether its text names a file
    needs_ids       whether it needs ids, lines or words, which arrays of grades and scores lack
    signature       name and value -> text in the signature, if the value is not the default
    use             the property of `scoring.unused_options.Applied` that tells if a measure uses it; empty: it does not
                    concern measures
    users           the measures that use it, in words
    short           its effect on the short help page; empty: the first sentence of `help`
    """

    help: str
    section: Section = READING
    commands: Commands = "reading"
    metavar: str | None = None
    default_text: str | None = None
    minimum: float | None = None
    above: float | None = None
    below: float | None = None
    accepts: str = "True or False"
    read: Callable[[Any], Any] = lambda value: value
    optional_value: bool = False
    repeats: bool = False
    names_file: bool = False
    needs_ids: bool = False
    signature: Callable[[str, Any], str] = name_and_value
    use: str = ""
    users: str = ""
    short: str = ""
    name: str = ""
    type: Any = None
    default: Any = None

    def of(self, name: str, type: Any, default: Any) -> "Option":
        """Complete the option with name, type and default of the field of `Options` that it describes."""
        self.name, self.type, self.default = name, type, default
        self.flag = "--" + name.replace("_", "-")
        """Its name on the command line."""
        members = get_args(type)
        self.kinds = members[:-1] if members[-1:] == (NoneType,) else (type,)
        """The types of its values, without None."""
        if isinstance(type, str):  # one of `metadata`, which reads it, too
            self.read = lambda value: getattr(metadata, f"read_{name}")(value)
        self.choices: tuple[str, ...] = get_args(self.kinds[0]) if get_origin(self.kinds[0]) is Literal else ()
        """The words that it accepts, if it accepts nothing else."""
        levels: tuple[Commands, ...] = get_args(Commands)
        self.taken_by = () if self.commands == "none" else levels[: levels.index(self.commands) + 1]
        """The commands that take it; each level includes the options of the ones before."""
        self.is_flag = type is bool
        """Whether it takes no value."""
        self.words = (*self.choices, "True") if self.is_flag or self.optional_value else self.choices
        """The words that it accepts, including `True` if it may stand alone on the command line."""
        self.number: Number | None = None
        """The range of its numbers; None if it takes none."""
        if self.kinds in ((int,), (float,)):
            limits = self.minimum, None, self.above, self.below
            self.number = Number(self.flag, self.kinds == (int,), *limits)
        default = self.default_text if default in (None, False) else default
        text = self.help if default is None else f"{self.help} Default: {default}."
        self.text = f"{text} {self.number.limits}".rstrip() if self.number else text
        """Its help, with the default and the limits of a number."""
        return self

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The types of its values, without None."""
        if isinstance(self.type, str):
            return (getattr(metadata, self.type.removesuffix(" | None")),)
        return tuple(get_origin(kind) or kind for kind in self.kinds)

    def takes(self, word: str) -> bool:
        """Check if a word behind an option with optional value is its value."""
        return word in self.choices or (self.number is not None and re.fullmatch(r"[\d.]+", word) is not None)

    def parse(self, text: Any) -> Any:
        """Convert text of the command line to a number if the option takes one; return anything else unchanged."""
        return text if self.number is None or not isinstance(text, str) else self.number.read(text)

    def check(self, value: Any) -> Any:
        """Check a value and convert a NumPy number to Python. Raises InputError (usage) if it is not allowed."""
        if value is None and self.default is None:
            return value
        if self.choices:
            if value not in self.choices:
                hint = choice_hint(str(value), self.choices)
                raise self.error(f"invalid value '{value}'", hint)
        elif self.number is not None:
            return self.number.check(value)
        elif not isinstance(value, self.classes):
            raise self.error(f"{safe_repr(value)} is not {self.accepts}")
        return value

    def error(self, problem: str, hint: str = "") -> InputError:
        """Build the InputError (usage) of a value of this option."""
        return InputError(Flag(self.flag), problem, hint, usage=True)


def option(default: Any, help: str, **settings: Any) -> Any:
    """Declare a field of `Options` with its description, an `Option`."""
    return field(default=default, metadata={"option": Option(help, **settings)})


# Conversion of user input (text, a list, a dict or a file) to values of options.


def read_gain(gain: Any) -> Any:
    """Read a gain scheme from text or a list; return anything else unchanged."""
    if isinstance(gain, os.PathLike):
        gain = f"@{os.fspath(gain)}"
    value = read_value(gain) if isinstance(gain, str) else plain_value(gain)
    if not isinstance(value, str | tuple | int | float):
        return value
    from gradedeval.kernel.measures.parameters import read_scheme  # few evaluations are given one

    return read_scheme(value, flag.gain)


def read_unseen(value: Any) -> Any:
    """Read the number of relevant documents that no run retrieved: a whole number, or infinity as text or number."""
    if isinstance(value, float):
        if value == math.inf:
            return value
        value = int(value) if value.is_integer() else value
    limit = UNSEEN.read(value) if isinstance(value, str) else UNSEEN.check(value)
    return math.inf if limit == UNSEEN.word else limit


def read_format(value: Any, holds: str) -> Any:
    """Normalize the name of the format of a run or of qrels; return anything but text unchanged."""
    if not isinstance(value, str):
        return value
    from gradedeval.kernel.trec.file_formats import format_name  # most formats are detected

    return format_name(value, holds)


# The registry.

Like = Literal["trec_eval", "gdeval", "ir_measures", "cwl_eval", "ntcireval"]
Ties = Literal["docno-desc", "docno-asc", "file", "rank", "best", "worst", "average"]
TIES_BY_GRADE: tuple[Ties, ...] = ("best", "worst")
"""Orders in which a newly judged document would change places, so that no residual bounds a score."""
Order = Literal["score", "float32", "rank", "file"]
Topics = Literal["qrels", "both", "run", "relevant"]
Negative = Literal["judged", "unjudged"]
Duplicates = Literal["error", "first", "last", "refuse"]
FOLDING = ("collapse", "collapse_by", "collapse_qrels")
"""Options that fold chunks into documents."""
OF_FILES = ("run_format", "qrels_format", "labels", *FOLDING)
"""Options on the content of files, which `lint` takes too."""
OF_RUNS = ("ties", "order", "run_format", "costs", "topics", "topics_from", "judged_only")
"""Options on the ranking of runs and the choice of topics, which lists shown to users lack."""
CollapseBy = Literal["score", "first"]
Residuals = Literal["total", "split", "difference"]
ResidualDepth = Literal["cutoff", "full"]


@dataclass(frozen=True)
class Options:
    """The options of `evaluate` and of the command line, checked: how runs are read, ranked and scored.

    Raises InputError (usage) if a value is not allowed, or two options exclude each other.

    >>> options = gradedeval.Options(depth=100)
    >>> options.depth, options.ties
    (100, 'docno-desc')
    """

    # Help pages keep this order within a section, and the signature keeps it too. The table is aligned by hand:
    # fmt: off
    like: Like | None = option(None, "Follow the conventions of another tool.",
        short="Follow another tool, such as trec_eval.")
    ties: Ties = option("docno-desc", "Order of documents with equal scores: by docno, descending or ascending; as in "
        "the file; by the rank column; so that the score is the best or the worst; or the average over all "
        "orders.", signature=elsewhere, short="Order of documents with equal scores.")
    order: Order = option("score", "Rank documents by score; by score in single precision, as trec_eval 9 does; by the "
        "rank column, as where scores are distances; or as in the file. The last two ignore the scores.",
        signature=elsewhere, short="Rank by score, by the rank column or as filed.")
    depth: int | None = option(None, "Keep only the N highest-ranked documents of each topic.", metavar="N", minimum=1,
        short="Keep the N best-ranked documents of a topic.")
    topics: Topics = option("qrels", "Topics to average over: all in the qrels (topics missing from the run score as "
        "empty rankings), those in both files, all in the run, or those in both files with a relevant document.",
        short="Topics to average over, such as qrels or both.")
    gain: Value | None = option(None, "Gain scheme of graded measures that do not name their own: linear, exp, ntcir, "
        "grade, a list of gains such as 0:0.5:1, or a file with lines of grade,gain.",
        section=GAINS, metavar="SCHEME", accepts="a gain scheme or a list of gains", read=read_gain,
        signature=elsewhere,
        use="takes_gain", users="graded measures that name no gains, such as err and ndcg",
        short="Gains of the grades, such as exp or 0:0.5:1.")
    rel: float | None = option(None, "Lowest relevant grade of binary measures that do not name their own.",
        section=GAINS, metavar="GRADE", default_text="1", above=0, signature=elsewhere,
        use="takes_rel", users="binary measures that name no rel, such as ap and p",
        short="Lowest relevant grade of binary measures.")
    top_grade: float | None = option(None, "Top grade of the scale.",
        section=GAINS, metavar="GRADE", default_text="the highest grade in the qrels", minimum=0, signature=elsewhere,
        use="reads_top_grade", users="measures whose gains depend on it, such as err, and residuals")
    negative: Negative = option("judged", "How to treat grades below 0: as judged, with gain 0, or as unjudged.",
        section=GAINS,
        use="reads_judged", users="measures of judged documents, such as bpref, and residuals",
        short="Whether grades below 0 are judged.")
    costs: "Costs | None" = option(None, "Costs for C/W/L measures: lines of a document type (column 2 of the run) and "
        "its cost.", section=GAINS, commands="eval", metavar="FILE", default_text="1 for every document",
        accepts="a file or a dict of costs", names_file=True, needs_ids=True,
        signature=lambda _, costs: f"costs {costs.digest}",
        use="reads_costs", users="C/W/L measures of costs, such as tbg and rbp(of=ec)",
        short="Costs of document types, for C/W/L measures.")
    fill: "Fill | None" = option(None, "Click-based gains for unjudged documents: lines of topic,docno,gain with gains "
        "from 0 to 1. Used by err, cascade and C/W/L measures and their residuals; for all other measures the "
        "documents stay unjudged.", section=GAINS, commands="eval",
        metavar="FILE", accepts="a file, a dict or a DataFrame of gains", names_file=True,
        needs_ids=True, signature=lambda _, fill: f"fill {fill.count} {plural(fill.count, 'document')} {fill.digest}",
        use="takes_fill", users="err, cascade and C/W/L measures", short="Click-based gains for unjudged documents.")
    duplicates: Duplicates = option("error", "Duplicate docnos in a topic: error (identical judgments only warn), "
        "keep the first, keep the last, or refuse always.",
        needs_ids=True, short="Treatment of duplicate docnos in a topic.")
    collapse: "Collapse | None" = option(None, "Fold the chunks of a run into documents: docnos are cut at the last "
        "SEP, or an existing FILE has lines of chunk,document. A document has its best chunk's place.",
        metavar="SEP|FILE", accepts="a separator, a file or a dict chunk -> document", names_file=True, needs_ids=True,
        signature=lambda _, collapse: f"collapse {collapse.digest}",
        short="Fold chunks of runs into documents.")
    collapse_by: CollapseBy = option("score", "Fold the chunks of a document into the one with the highest score, or "
        "into the first one in the order of chunks: ids of chunks then break ties.", needs_ids=True,
        short="Which chunk counts.")
    collapse_qrels: "Collapse | None" = option(None, "Fold judgments of chunks into documents, as --collapse folds "
        "runs; a document has its highest grade.", metavar="SEP|FILE",
        accepts="a separator, a file or a dict chunk -> document", names_file=True, needs_ids=True, signature=elsewhere,
        short="Fold judgments of chunks into documents.")
    ignore_identical_ids: bool = option(False, "Leave out of runs the documents that have the id of their topic, where "
        "queries are documents of the collection, as in ArguAna and Quora. Judgments stay.", signature=name_only,
        needs_ids=True, short="Leave out documents with their topic's id.")
    residuals: Residuals | None = option(None, "Report how much each score could still rise if unjudged documents "
        "were relevant. 'split' separates unjudged documents in the run from ranks beyond its end; 'difference' is "
        "the signed difference of cwl_eval, for C/W/L "
        "measures.", section=RESIDUALS, commands="eval", optional_value=True,
        signature=lambda _, kind: "signed differences" if kind == "difference" else "",
        use="has_residual", users="measures with a residual, such as err and ap",
        short="How much unjudged documents could add.")
    residual_depth: ResidualDepth = option("cutoff",
        "Ranks that a residual takes into account: down to the cutoff, or all.", section=RESIDUALS, commands="eval",
        use="is_cut_residual", users="residuals of measures with a cutoff, such as err@20",
        short="Ranks of a residual: to the cutoff, or all.")
    max_residual: float | None = option(None, "Exclude topics whose residual exceeds X from each measure's mean.",
        section=RESIDUALS, commands="eval", metavar="X", minimum=0,
        use="has_residual", users="measures with a residual, such as err and ap",
        short="Leave out topics with a residual above X.")
    bounds: bool = option(False, "Report lower and upper bounds on each score over all possible judgments of the "
        "retrieved unjudged documents.", section=RESIDUALS, commands="eval", signature=elsewhere,
        use="has_bounds", users="measures with bounds, such as err and ap",
        short="Lower and upper bound of each score.")
    unseen: float | int | None = option(None, "Let N unjudged documents that were not retrieved be relevant "
        f"in each topic, in --bounds and where judging could reverse an order {UNSEEN.limits}; inf: any "
        "number.", section=RESIDUALS, commands="eval",
        metavar="N|inf", default_text="0", accepts="a whole number or inf", read=read_unseen,
        use="falls", users="measures that depend on all relevant documents, such as ap",
        short="N relevant documents were not retrieved.")
    interval: float | None = option(None, "Report the standard error and the interval of each summary over topics, "
        "at level 0.95 or as given, by the studentized bootstrap of topics.", section=OUTPUT, commands="eval",
        metavar="[LEVEL]", above=0, below=1, optional_value=True, signature=elsewhere,
        read=lambda level: 0.95 if level is True else level, short="Standard error and interval of each mean.")
    queries: "Queries | None" = option(None, "Texts of topics, shown beside them: TREC topics, a table, JSON Lines as "
        "of BEIR, Parquet, or ir_datasets:NAME.", section=OUTPUT, commands="eval", metavar="FILE",
        accepts="a file, a dict topic -> text or a DataFrame", names_file=True, needs_ids=True,
        signature=elsewhere, short="Texts of topics, shown beside them.")
    slices: "Slices | None" = option(None, "Labels of topics, whose summaries are shown too: a file with a topic and "
        "one or more columns, or columns of the queries, separated by commas. A topic may have several labels, "
        "separated by |.", section=OUTPUT, commands="eval", metavar="FILE|COLUMN",
        accepts="a file, a dict topic -> label, a DataFrame, or columns of the queries",
        names_file=True, needs_ids=True, signature=lambda _, slices: f"slices {slices.digest}",
        short="Labels of topics: means of each label, too.")
    topic_weights: "TopicWeights | None" = option(None, "Weights of topics in means, residuals and bounds: a file with "
        "lines of topic,weight. Tests and comparisons, where all topics weigh the same, refuse them.", section=OUTPUT,
        commands="eval", metavar="FILE", accepts="a file, a dict topic -> weight or a DataFrame", names_file=True,
        needs_ids=True, signature=lambda _, weights: f"topic weights {weights.digest}",
        short="Weights of topics in means.")
    replicates: "Replicates | None" = option(None, "Runs that are seeds of one system, which is shown in their place: "
        "a system and a pattern of its runs, or a file of run and system. May be repeated.", section=OUTPUT,
        commands="eval", metavar="NAME=PATTERN|FILE", accepts="NAME=pattern, a file, a dict run -> system, or a dict "
        "system -> pattern or runs", repeats=True, names_file=True, needs_ids=True,
        signature=elsewhere, short="Runs that are seeds of one system.")
    predicted: "Predicted | None" = option(None, "A machine's judgments of these topics and more, in any form of "
        "qrels: means over all topics are estimated from both, unbiased regardless of its errors, if the topics that "
        "people judged are a random sample.", section=OUTPUT, commands="eval", metavar="QRELS2",
        accepts="qrels", names_file=True, needs_ids=True, signature=elsewhere,
        short="A machine's judgments of more topics.")
    judged_only: bool = option(False, "Drop unjudged documents before ranking (condensed lists).", signature=name_only,
        short="Drop unjudged documents before ranking.")
    lenient: bool = option(False, "Skip malformed lines, and report how many.", signature=name_only, needs_ids=True)
    subtopics: bool = option(False, "The second column of the qrels names the subtopic (intent) that a document is "
        "judged for; if all are 0, there are none. For erria, alpha_ndcg, nrbp, strec and ia(MEASURE).",
        signature=elsewhere, needs_ids=True, short="Read column 2 of the qrels as the subtopic.")
    run_format: str | None = option(None, "Run format, if it cannot be detected: "
        f"{', '.join(FORMATS['run'])}, or columns in order, as in topic,q0,docno,rank,score. Append +header to "
        "skip the first line. Fields by name: topic=question,docno=chunk_id; topic=@FILE names the queries of msearch "
        "responses, one in each line.", metavar="FORMAT", default_text="detected from the content",
        accepts="the name of a format",
        read=lambda value: read_format(value, "run"), signature=elsewhere, needs_ids=True,
        short="Run format, or its columns in order.")
    qrels_format: str | None = option(None, "Qrels format, if it cannot be detected: "
        f"{', '.join(FORMATS['qrels'])}, or columns in order, as in topic,docno,grade. strata: a stratified sample, "
        "with the stratum before the grade and grades below 0 for what was pooled and not sampled; for xinfap, statap "
        "and infndcg.", metavar="FORMAT",
        default_text="detected from the content", accepts="the name of a format",
        read=lambda value: read_format(value, "qrels"), signature=elsewhere, needs_ids=True,
        short="Qrels format, or its columns in order.")
    labels: "Labels | None" = option(None, "Grades of the labels in the qrels, if they are words, as in "
        "HRel=2,Rel=1,NRel=0. L0, L1, L2, … are known.", metavar="LABEL=GRADE,…",
        accepts="a dict label -> grade, or text such as 'Rel=1,NRel=0'", signature=elsewhere,
        needs_ids=True, short="Grades of labels, as in Rel=1,NRel=0.")
    topics_from: frozenset[bytes] | None = option(None, "Keep only the topics listed in FILE.", metavar="FILE",
        accepts="a file or a list of topics", read=lambda topics: metadata.read_topics(topics),
        names_file=True, signature=lambda _, topics: metadata.chosen_topics(topics))
    max_gain: float | None = option(None, "Top gain of measures whose gains lie in 0..1.", commands="none",
        minimum=0)
    extra_fields: bool = option(False, "Ignore extra fields after the sixth in run lines, as trec_eval does.",
        commands="none", signature=elsewhere)
    given: frozenset[str] = option(frozenset(), "Which options the user has chosen.", commands="none",
        accepts="a set of names", signature=elsewhere)
    may_be_unused: frozenset[str] = option(frozenset(), "Options that need no note if unused.", commands="none",
        accepts="a set of names", signature=elsewhere)
    # fmt: on

    def __post_init__(self) -> None:
        is_default = True
        for name, described in OPTIONS.items():
            if (value := getattr(self, name)) is not described.default:
                object.__setattr__(self, name, described.check(value))
                is_default = False
        if not is_default:
            self._check_together()

    def _check_together(self) -> None:
        """Raise InputError (usage) if two options exclude each other."""
        if self.residuals == "difference" and (self.max_residual is not None or self.residual_depth == "full"):
            hint = f"{flag.max_residual} and {flag.residual_depth:full} take {flag.residuals:total}"
            raise InputError(f"{flag.residuals:difference}", "a signed difference is not a bound", hint, usage=True)
        if self.ties == "average":
            excluded = {f"{flag.order:file}": self.order == "file", flag.depth: self.depth, flag.costs: self.costs}
            for option in (option for option, is_set in excluded.items() if is_set):
                hint = "cut the measures, as in ap@100" if option == flag.depth else "leave out one of them"
                raise OPTIONS["ties"].error(f"average cannot be combined with {option}", hint)
        if self.judged_only and self.fill is not None:
            problem = f"{flag.judged_only:True} drops the documents that it fills"
            raise OPTIONS["fill"].error(problem, "leave out one of them")
        if self.judged_only and (self.wants_residuals or self.bounds):
            noun, nouns = ("residual", "residuals") if self.wants_residuals else ("bounds", "bounds")
            problem = f"a condensed list has no {noun}: a newly judged document could enter above others"
            raise OPTIONS["judged_only"].error(problem, f"leave out {flag.judged_only:True} or the {nouns}")
        if self.bounds and self.interval is not None:
            problem = f"{flag.interval:True} has columns low and high too"
            raise OPTIONS["bounds"].error(problem, "ask for one of them")
        if self.bounds and self.ties in TIES_BY_GRADE:
            problem = f"{self.ties} has no bounds: newly judged documents would change places"
            raise OPTIONS["ties"].error(problem, f"take another order of ties, or leave out {flag.bounds:True}")
        for name in ("interval", "replicates", "predicted"):
            if self.topic_weights is not None and getattr(self, name) is not None:
                problem = f"cannot be combined with {getattr(flag, name)}, where all topics weigh the same"
                raise OPTIONS["topic_weights"].error(problem, "leave out one of them")
        if "collapse_by" in self.given:
            self._check_collapse()
        if self.predicted is not None:
            self._check_predicted()

    def _check_collapse(self) -> None:
        """Raise InputError (usage) if a rule for chunks has no effect, or none that is defined."""
        described = OPTIONS["collapse_by"]
        if self.collapse is None:
            raise described.error(f"needs {flag.collapse}", "add it, or leave this out")
        if self.collapse_by == "first" and self.ties == "average":
            raise described.error(f"first cannot be combined with {flag.ties:average}", "leave out one of them")
        if self.collapse_by == "first" and self.like and PRESETS[self.like].single and "order" not in self.given:
            problem = f"first has no single order with {flag.like:{self.like}}: measures differ in precision"
            raise described.error(problem, f"leave it out, or add {flag.order:score}")

    def _check_predicted(self) -> None:
        """Raise InputError (usage) for an option that cannot be combined with estimates from two kinds of judgments."""
        topics = f"{flag.topics:{self.topics}}"
        excluded = {
            flag.fill: self.fill is not None,
            f"{flag.judged_only:True}": self.judged_only,
            f"{flag.residuals:True}": self.residuals is not None,
            flag.max_residual: self.max_residual is not None,
            # A number of unseen documents implies bounds.
            f"{flag.bounds:True}" if self.unseen is None else flag.unseen: self.bounds,
            topics: self.topics != "qrels",
        }
        sample = f"{flag.topics:qrels}, the default, keeps all judged topics, of which people's are a random sample"
        for option in (option for option, is_set in excluded.items() if is_set):
            hint = sample if option == topics else "leave out one of them"
            raise OPTIONS["predicted"].error(f"cannot be combined with {option}", hint)

    def refuse_predicted(self) -> "Options":
        """Return the options, for callers that cannot estimate. Raises InputError (usage) if they request estimates."""
        if self.predicted is not None:
            raise OPTIONS["predicted"].error("does not apply here", "leave it out, or use eval or compare")
        return self

    def top_of(self, highest: float) -> float:
        """Return the top grade of the scale: the option's, else the higher of the preset's and the qrels' `highest`."""
        if self.top_grade is not None:
            return self.top_grade
        return max(highest, PRESETS[self.like].top_grade or highest) if self.like else highest

    @property
    def by_score(self) -> bool:
        """Whether documents are ranked by their scores, in double or single precision."""
        return self.order in ("score", "float32")

    @property
    def texts(self) -> Mapping[str, str]:
        """topic -> its text; empty without queries."""
        return self.queries.texts if self.queries is not None else {}

    @property
    def wants_residuals(self) -> bool:
        return self.residuals is not None or self.max_residual is not None

    @property
    def topics_judged_later(self) -> str:
        """A warning that the selection of topics depends on judgments; empty if it does not."""
        chosen = {
            f"{flag.topics:relevant}": self.topics == "relevant",
            flag.max_residual: self.max_residual is not None,
        }
        by = " and ".join(option for option, is_set in chosen.items() if is_set)
        return by and f"topics that {by} selects now; further judgments may add topics or remove some"

    @property
    def bounded_by_residuals(self) -> bool:
        """Whether no score rises by more than its residual; signed differences of two cases are not such a bound."""
        return self.residuals != "difference" and self.ties not in TIES_BY_GRADE


OPTIONS: dict[str, Option] = {
    entry.name: entry.metadata["option"].of(entry.name, entry.type, entry.default) for entry in fields(Options)
}
"""The registry: name -> option."""


class OptionKwargs(TypedDict, total=False):
    """The options as keywords of `evaluate`; None means the default.

    A second list, because no type checker or editor derives keywords from the fields of a dataclass.
    """

    ties: Ties | None
    order: Order | None
    depth: int | None
    topics: Topics | None
    gain: Value | Sequence[float] | None
    rel: float | None
    top_grade: float | None
    negative: Negative | None
    costs: "str | os.PathLike[str] | Mapping[str, float] | Costs | None"
    fill: "str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | Fill | None"
    duplicates: Duplicates | None
    collapse: "str | os.PathLike[str] | Mapping[str, str] | Collapse | None"
    collapse_by: CollapseBy | None
    collapse_qrels: "str | os.PathLike[str] | Mapping[str, str] | Collapse | None"
    ignore_identical_ids: bool
    residuals: Residuals | bool | None
    residual_depth: ResidualDepth | None
    max_residual: float | None
    bounds: bool
    unseen: float | str | None
    interval: float | bool | None
    queries: "str | os.PathLike[str] | Mapping[Any, Any] | Iterable[Any] | Queries | None"
    slices: "str | os.PathLike[str] | Mapping[Any, Any] | Iterable[Any] | Slices | None"
    topic_weights: "str | os.PathLike[str] | Mapping[Any, float] | TopicWeights | Any | None"
    replicates: "str | os.PathLike[str] | Mapping[str, str | Sequence[str]] | Sequence[str] | Replicates | None"
    predicted: Any
    judged_only: bool
    lenient: bool
    subtopics: bool
    run_format: str | None
    qrels_format: str | None
    labels: "str | Mapping[str, float] | Labels | None"
    topics_from: str | os.PathLike[str] | Iterable[str | bytes] | None


Documented = TypeVar("Documented")


def refuse_options(
    settings: Mapping[str, object], command: str, sections: Sequence[Section], names: Sequence[str] = ()
) -> None:
    """Raise InputError (usage) for options of these names and sections, which do not apply to a command."""
    of_sections = [name for name, entry in OPTIONS.items() if entry.section in sections and name != "negative"]
    for name in (*names, *of_sections):
        value = settings.get(name)
        if value is not None and value is not False:  # not by ==, which frames and arrays take cell by cell
            raise OPTIONS[name].error(f"does not apply to {command}", "leave it out")


def lists_options(documented: Documented) -> Documented:
    """Append the options to the docstring of a function that takes them as keywords."""
    documented.__doc__ = "\n".join([documented.__doc__ or "", "    Options:", "", *_listed(), "    "])
    return documented


@cache
def _listed() -> list[str]:
    """Format the options as lines of a docstring, with continuation lines indented further."""
    lines: list[str] = []
    for name in OptionKwargs.__annotations__:
        text = f"{name:<15} {OPTIONS[name].text}"
        text += f" One of {', '.join(OPTIONS[name].choices)}." if OPTIONS[name].choices else ""
        line = " " * 4
        for word in re.findall(r"\S+\s*", text):  # textwrap takes ten times as long, for which every import would wait
            if len(line) + len(word.rstrip()) > 116:
                lines.append(line.rstrip())
                line = " " * 20
            line += word
        lines.append(line.rstrip())
    return lines


lists_options(Options)


# Presets that follow other tools.


@dataclass(eq=False, repr=False)
class Preset:
    """The settings of `--like TOOL`.

    options     option -> value, unless the user gives one
    parameters  measure -> parameters
    digits      digits in tables
    residuals   the kind of residual, unless the user names one
    shared      parameters of all measures that take them
    cut         measure -> parameters, if it has a cutoff
    single      measures that compare scores as float32 -> whether they also do so with a cutoff; all others compare
                doubles. Without it, `order` decides for all
    top_grade   the top grade of its scale, for measures that use one; None: the highest in the qrels
    """

    options: Mapping[str, Any]
    parameters: Mapping[str, Mapping[str, Value]]
    digits: int = 4
    residuals: Residuals = "total"
    shared: Mapping[str, Value] = field(default_factory=dict)
    cut: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    single: Mapping[str, bool] = field(default_factory=dict)
    top_grade: float | None = None


# Measures that ir_measures takes from pytrec_eval, with scores as in trec_eval 9; it computes RR@k itself.
_OF_RANKINGS = "ap", "p", "recall", "rprec", "ndcg", "bpref", "infap", "success", "iprec"
_OF_SETS = "set_p", "set_relative_p", "set_recall", "set_map", "set_f", "num_q", "num_ret", "num_rel", "num_rel_ret"

PRESETS: dict[str, Preset] = {
    "trec_eval": Preset(
        {"topics": "both", "negative": "unjudged", "duplicates": "refuse"},
        {name: {"gain": "linear"} for name in ("err", "nerr", "cascade", "erria", "nerria")},
    ),
    "gdeval": Preset(
        {"topics": "relevant"},
        {"err": {"gain": "exp"}, "nerr": {"gain": "exp"}, "ndcg": {"gain": "exp"}, "dcg": {"gain": "exp"}},
        digits=5,
        top_grade=4,
    ),
    "ir_measures": Preset(
        {"topics": "qrels"},
        {"err": {"gain": "exp"}, "ndcg": {"gain": "linear"}, "rbp": {"rel": 1, "p": 0.8}},
        single={**dict.fromkeys((*_OF_RANKINGS, *_OF_SETS), True), "rr": False},
        top_grade=4,
    ),
    "cwl_eval": Preset(
        {"topics": "run", "order": "file", "gain": "grade", "max_gain": 1},
        {},
        residuals="difference",
        shared={"horizon": 1000},
    ),
    "ntcireval": Preset(
        {"topics": "qrels", "order": "file"},
        {"err": {"gain": "ntcir"}, "nerr": {"gain": "ntcir"}, "rbp": {"p": 0.95}},
        cut={name: {"norm": "k"} for name in ("ap", "gap", "q")},
    ),
}


def preset_digits(like: str | None) -> int:
    """Return the number of digits in tables: 4, or the preset's."""
    return PRESETS[like].digits if like else 4


_DEFAULTS = Options()
"""A training loop asks for them thousands of times."""


def resolve_options(like: str | None = None, **settings: Any) -> Options:
    """Return the options of a preset, overridden by a user's settings, option -> text, file name or value; None and
    False: not set. Raises InputError (usage) for an unknown option or preset, or a value that is not allowed."""
    if like is None and not settings:
        return _DEFAULTS
    for name in settings:
        if name not in OPTIONS or OPTIONS[name].commands == "none":
            names = [name for name, described in OPTIONS.items() if described.commands != "none"]
            hint = "" if name in OPTIONS else hint_of("keywords", name, names)
            raise InputError("", f"unknown option '{name}'", hint, usage=True)
    settings = {name: value for name, value in settings.items() if value is not None and value is not False}
    if like is None and not settings:
        return _DEFAULTS
    OPTIONS["like"].check(like)
    explicit = {name: OPTIONS[name].read(value) for name, value in settings.items()}
    if isinstance(columns := explicit.get("slices"), tuple):
        explicit["slices"] = metadata.slices_of(explicit.get("queries"), columns)
    # A limit of residuals implies residuals.
    if "residual_depth" in explicit and "max_residual" not in explicit:
        explicit.setdefault("residuals", True)
    if explicit.get("unseen"):
        explicit.setdefault("bounds", True)
    if explicit.get("residuals") is True:
        bound = like is None or explicit.keys() & {"residual_depth", "max_residual"}
        explicit["residuals"] = "total" if bound else PRESETS[str(like)].residuals
    preset = PRESETS[like].options if like else {}
    return Options(**{**preset, **explicit, "like": like, "given": frozenset(settings)})
