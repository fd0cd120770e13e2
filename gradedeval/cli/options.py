"""Options and arguments that several verbs share, each defined once."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

import click

from gradedeval.measures.costs import read_costs
from gradedeval.measures.gain_schemes import read_scheme
from gradedeval.measures.notation import Value, read_value
from gradedeval.measures.parse import DEFAULT
from gradedeval.options import CHOICES, LIKE, Options, resolve_options
from gradedeval.rankings.qrels import topics_of_file

Decorator = Callable[[Any], Any]

# The sections of a help page, by the names of the parameters.
SECTIONS = {
    "Options of this command": (
        *("topic", "baseline", "minimum", "max_drop", "max_topic_drop", "significant", "max_unjudged", "config"),
        *("to", "kinds", "weights", "ranks", "normalize", "renormalize", "precision", "curve"),
        *("validate", "validate_qrels", "validate_topics", "above", "below", "best"),
        *("test", "correction", "draws", "alpha", "seed", "from_scores"),
    ),
    "Measures and gains": ("measures", "measures_from", "gain", "rel", "top_grade", "max_gain", "negative", "costs"),
    "Residuals": ("residuals", "residual_depth", "max_residual"),
    "Standardization": ("standardize", "reference", "save_reference"),
    "Output": ("by_topic", "cwl", "form", "output", "digits", "sort", "run_name", "shown"),
    "Many runs": ("runs_from", "jobs", "keep_going"),
    "Rules": (
        "like",
        "ties",
        "order",
        "scores",
        "depth",
        "judged_only",
        "topics",
        "topics_from",
        "subtopics",
        "duplicates",
        "lenient",
    ),
}


class Number(click.ParamType):  # type: ignore[type-arg]  # generic only from click 8.4 on
    """A finite number."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"'{value}' is no number", param, ctx)
        return number


class Style(click.Choice):  # type: ignore[type-arg]  # generic only from click 8.2 on
    """A kind of residual; nothing is the preset's kind."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return True if value in ("", True) else super().convert(value, param, ctx)


class Sectioned(click.Command):
    """A command with options in sections, whose `--residuals` may stand alone.

    Only a known word after `--residuals` is its value, never a file.
    """

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = {
            param.name: param.get_help_record(ctx) for param in self.get_params(ctx) if isinstance(param, click.Option)
        }
        for heading, names in SECTIONS.items():
            section = [found for name in names if (found := records.pop(name, None))]
            if section:
                with formatter.section(heading):
                    formatter.write_dl(section)
        with formatter.section("Other"):
            formatter.write_dl([record for record in records.values() if record])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        merged: list[str] = []
        for arg in args:
            if merged and merged[-1] == "--residuals":
                known = arg in CHOICES["residuals"]
                merged[-1] = f"--residuals={arg if known else ''}"
                if known:
                    continue
            merged.append(arg)
        if merged and merged[-1] == "--residuals":
            merged[-1] = "--residuals="
        return super().parse_args(ctx, merged)


def _choice(name: str) -> click.Choice[str]:
    return click.Choice(CHOICES[name])


GAIN_OPTIONS: list[Decorator] = [
    click.option("--measures-from", multiple=True, metavar="FILE.py", help="Your own measures."),
    click.option("--gain", metavar="SCHEME", help="Gains of all graded measures that name none: linear, exp, ntcir, "
                 "grade, values as in 0:0.5:1, or @FILE of grade,gain lines."),
    click.option("--rel", type=Number(), metavar="GRADE", help="Lowest relevant grade of binary measures. Default: 1."),
    click.option("--top-grade", type=Number(), metavar="GRADE", help="Top of the grade scale. Default: the highest in "
                 "the qrels."),
    click.option("--max-gain", type=Number(), metavar="GAIN", help="Top gain of residuals. Default: the scheme's."),
    click.option("--negative", type=_choice("negative"), help="Grades below 0. Default: judged, worth 0."),
    click.option("--costs", metavar="FILE", help="Costs for the C/W/L measures: lines of a type (column 2 of the "
                 "run) and its cost. Default: 1 each."),
]  # fmt: skip

MEASURE_OPTIONS: list[Decorator] = [
    click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="A measure, as in err@20 or "
                 "'ndcg(gain=exp)@10'; several in one, separated by blanks, or several -m. Default: "
                 f"{' '.join(DEFAULT)}."),
    *GAIN_OPTIONS,
]  # fmt: skip

READING_OPTIONS: list[Decorator] = [
    click.option("--like", metavar="TOOL", help=f"The rules of another tool: {', '.join(LIKE)}."),
    click.option("--ties", type=_choice("ties"), help="Order of documents with equal scores. Default: docno-desc."),
    click.option("--order", type=_choice("order"), help="'file' keeps the order listed and reads no scores."),
    click.option("--scores", type=_choice("scores"), help="Precision in which scores are compared. Default: float64."),
    click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Keep the N best documents of each topic."),
    click.option("--judged-only", is_flag=True, help="Drop unjudged documents first (condensed lists)."),
    click.option("--topics", type=_choice("topics"), help="Topics that count: all of the qrels (default; one that "
                 "the run lacks scores 0), in both, all of the run, or relevant: in both, with a relevant document."),
    click.option("--topics-from", metavar="FILE", help="Only the topics that FILE lists."),
    click.option("--subtopics", is_flag=True, help="The qrels' second column is the subtopic (intent) that a document "
                 "is judged for; 0 is none. For erria, alpha_ndcg, nrbp, strec and ia(MEASURE)."),
    click.option("--duplicates", type=_choice("duplicates"), help="A docno twice in a topic. Default: error."),
    click.option("--lenient", is_flag=True, help="Skip bad lines, and say how many."),
]  # fmt: skip

RUN_OPTIONS: list[Decorator] = [
    click.option("--runs-from", metavar="FILE", help="Also the runs that FILE lists, one a line; - is standard input."),
    click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes that share the work. Default: as "
                 "many as there are cores."),
    click.option("--keep-going", is_flag=True, help="Write -o even where a run is bad, without that run."),
]  # fmt: skip

RESIDUAL_OPTIONS: list[Decorator] = [
    click.option("--residuals", type=Style(CHOICES["residuals"]), metavar="[split|difference]", help="How far each "
                 "score could still rise; 'split': by unjudged documents in the run, and beyond its end; 'difference': "
                 "signed, for all quantities of the C/W/L measures, as cwl_eval."),
    click.option("--residual-depth", type=_choice("residual_depth"), help="Where the best case ends. Default: cutoff."),
    click.option("--max-residual", type=Number(), metavar="X", help="Leave out topics with a residual above X, by "
                 "measure."),
]  # fmt: skip


def output_options(forms: Collection[str], default: str = "table", digits: str = "") -> list[Decorator]:
    """-f and -o, and where `digits` says what is the default there, --digits."""
    options: list[Decorator] = [
        click.option("-f", "--format", "form", type=click.Choice(list(forms)), help=f"Default: {default}, or by the "
                     "extension of -o."),
        click.option("-o", "--output", metavar="FILE", help="Write to FILE, whole or not at all."),
    ]  # fmt: skip
    if digits:
        help = f"Round to N digits. Default: {digits} in tables."
        options.append(click.option("--digits", type=click.IntRange(0, 17), metavar="N", help=help))
    return options


def with_options(*groups: list[Decorator]) -> Decorator:
    """Put groups of options on a command, in the order written."""

    def decorate(command: Any) -> Any:
        for decorator in reversed([one for group in groups for one in group]):
            command = decorator(command)
        return command

    return decorate


def chosen_rules(options: dict[str, Any]) -> Options:
    """The rules that the options and the preset make."""
    gain: str | None = options.pop("gain", None)
    costs: str | None = options.pop("costs", None)
    topics: str | None = options.pop("topics_from", None)
    scheme: Value | None = None if gain is None else read_scheme(read_value(gain), "--gain")
    return resolve_options(
        options.pop("like", None),
        gain=scheme,
        costs=None if costs is None else read_costs(costs),
        topics_from=None if topics is None else topics_of_file(topics),
        **options,
    )
