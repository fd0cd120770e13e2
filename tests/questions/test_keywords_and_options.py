"""The options of a command are the keywords of its function in Python, with the same defaults."""

import inspect
import re
from operator import attrgetter
from typing import Any

import click
import pytest

import gradedeval
from gradedeval.kernel.options import OPTIONS, OptionKwargs
from support.generated_docs import LEAVES

LOG = "clicks.read_log"
FUNCTIONS = {
    "eval": "evaluate table append_history Scores.sorted_by",
    "explain": "explain",
    "compare": "compare topic_table",
    "diff": "diff ranking_agreement reproduction",
    "check": "check append_history",
    "lint": "lint",
    "report": "html_report",
    "history": "read_history",
    "verify": "verify",
    "risk": "risk",
    "power": "power plan_topics",
    "pool": "pool to_judge leave_one_out",
    "agreement": "agreement",
    "pr": "precision_recall",
    "weights": "weights",
    "correlate": "correlate",
    "fit": "fit fit_weights",
    "informative": "informativeness",
    "plot pr": "precision_recall plot.pr",
    "plot informative": "informativeness plot.informative",
    "plot topics": "topic_differences plot.topics",
    "plot runs": "run_summaries plot.runs",
    "plot weights": "weights plot.weights",
    "plot fit": "fit fit_weights plot.fit",
    "plot power": "power plot.power",
    "plot correlate": "correlate plot.correlate plot.scatter",
    "plot explain": "explain plot.explain",
    "plot clicks": f"clicks.correlate {LOG} plot.clicks",
    "clicks observe": f"clicks.observe {LOG}",
    "clicks fit": f"clicks.observe clicks.fit {LOG}",
    "clicks measures": f"clicks.measures {LOG}",
    "clicks correlate": f"clicks.correlate {LOG}",
    "clicks gains": f"clicks.gains {LOG}",
    "clicks models": f"clicks.models {LOG}",
    "clicks simulate": "clicks.simulate",
}
"""Command -> its equivalent public functions."""

WITHOUT = {
    **dict.fromkeys(("measures", "collections"), "prints lists and help"),
    "trec_eval": "has the options of another tool",
}
"""Commands without a function, and why."""

ONLY_OPTIONS = {
    **dict.fromkeys(("quiet", "verbose"), "how messages look"),
    **dict.fromkeys(("format", "output", "signature", "digits", "wide"), "a result is shown by its methods"),
    "size": "matplotlib has its own",
    **dict.fromkeys(("from_scores", "measures_from", "config"), "Python passes the values"),
    **dict.fromkeys(("standardize", "reference", "save_reference"), "`standardize` makes scores of scores"),
    "history": "`append_history`",
    "cluster": "`executor` takes what shares the work",
    **dict.fromkeys(("sort", "keep_going", "run_name"), "of the whole of `eval`: Scores have methods"),
    "cwl": "measures are named, as in `rbp(of=etu)`",
    "k": "measures are written with their cutoffs, as in f'ndcg@{k}'",
}
"""Options that no function has, and why."""

ONLY_OPTIONS_OF = {
    "compare": {"by_topic": "`topic_table`", "letters": "`letters`", "top": "keyword of `.shown` of `topic_table`"},
    "informative": {"by_topic": "keyword of `.shown`", "curve": "attribute of the result"},
    "explain": {"show": "keyword of `.shown`"},
    "diff": dict.fromkeys(("topic", "top", "only"), "keywords of `.shown`"),
    "lint": {"all": "keyword of `.shown`, where it is `everything`", "strict": "only sets the exit code"},
    "check": dict.fromkeys(
        ("min", "max", "max_drop", "max_topic_drop", "max_unjudged", "min_topics", "significant", "measure"),
        "a `Bound` says it",
    ),
    "power": {"plan": "`plan_topics`", "curve": "attribute of the result"},
    "fit": {"curve": "attribute of the result"},
    "pool": {**dict.fromkeys(("to_judge", "leave_one_out"), "functions"), "as_qrels": "attribute of the result"},
    "plot correlate": {"scatter": "`plot.scatter`"},
    "clicks models": dict.fromkeys(("write_model", "write_relevance", "min_seen"), "methods of the result"),
    "clicks simulate": {"model_from": "`users` may name the file"},
}
"""The same of one command."""

ONLY_KEYWORDS = {
    **dict.fromkeys(("runs", "run", "scores", "qrels", "log", "source", "path"), "the files of a command"),
    "baseline": "the first file of `diff`",
    "time": "of `append_history`; what a command appends is of now",
    **dict.fromkeys(("curves", "result", "explanation", "correlations"), "what is drawn"),
    "like": "registry, see `OPTIONS`",
    "ax": "of matplotlib",
    "progress": "a command always shows it",
    "jobs": "a command with no --jobs takes all cores",
    "executor": "eval has --cluster",
    "form": "is --format",
    "columns": "columns of a log that a command names by --by",
}
"""Keywords that no command has, and why."""

ONLY_KEYWORDS_OF = {
    "verify": dict.fromkeys(("record", "files"), "its arguments"),
    "clicks fit": {"per": "one observation is fitted to"},
    "plot clicks": dict.fromkeys(("pairs", "seed"), "pairs of engines have no picture"),
    "plot informative": {"curve": "what is drawn"},
    "plot weights": {"weights": "what is drawn"},
    "agreement": {"other": "the second file"},
    "plot correlate": {"agreement": "what is drawn", **dict.fromkeys("xy", "measures of --measure")},
}
"""The same of one command."""

SPELLED = {
    "measures": ("measure", "an option is repeated, a keyword has a list"),
    "models": ("model", "an option is repeated, a keyword has a list"),
    "learn_from": ("from", "a word of Python"),
    "target": ("for", "a word of Python"),
    "users": ("as", "a word of Python"),
    "originals": ("reproduce", "an argument of `reproduction`"),
    "weights": ("to_weights", "an argument of `fit_weights`"),
    "explained": ("topic", "several at the prompt; `explain` has `topic`"),
    "minimum": ("min", "a function of Python; a `Bound` has the word"),
    "maximum": ("max", "a function of Python; a `Bound` has the word"),
    "everything": ("all", "a function of Python"),
}
"""Keyword -> the option of another name, and why it differs."""


def options_of(command: str) -> dict[str, click.Option]:
    """Return the options of a command by keyword, except the options of the registry (tests/test_options.py)."""
    params = [param for param in LEAVES[command].params if isinstance(param, click.Option)]
    named = {max(param.opts, key=len).lstrip("-").replace("-", "_"): param for param in params}
    return {name: param for name, param in named.items() if name not in OPTIONS}


def keywords(command: str) -> dict[str, inspect.Parameter]:
    """Return the keywords of the functions of a command."""
    all_parameters: dict[str, inspect.Parameter] = {}
    for function in FUNCTIONS[command].split():
        parameters = inspect.signature(attrgetter(function)(gradedeval)).parameters.values()
        all_parameters |= {
            parameter.name: parameter
            for parameter in parameters
            if parameter.kind is not parameter.VAR_KEYWORD and parameter.name != "self"
        }
    return {name: parameter for name, parameter in all_parameters.items() if name not in OptionKwargs.__annotations__}


def test_every_command_has_a_function_or_a_reason() -> None:
    assert sorted([*FUNCTIONS, *WITHOUT]) == sorted(LEAVES)


@pytest.mark.parametrize("command", FUNCTIONS)
def test_an_option_is_a_keyword_of_the_same_name(command: str) -> None:
    keyword_names = keywords(command)
    spelled = {SPELLED[name][0] if name in SPELLED else name for name in keyword_names}
    unmatched = options_of(command).keys() - spelled - keyword_names.keys()
    assert unmatched - ONLY_OPTIONS.keys() == ONLY_OPTIONS_OF.get(command, {}).keys()


@pytest.mark.parametrize("command", FUNCTIONS)
def test_a_keyword_is_an_option_of_the_same_name(command: str) -> None:
    options = options_of(command)
    unmatched = {
        name for name in keywords(command) if name not in options and SPELLED.get(name, ("",))[0] not in options
    }
    assert unmatched - ONLY_KEYWORDS.keys() == ONLY_KEYWORDS_OF.get(command, {}).keys()


def test_every_listed_reason_is_needed() -> None:
    options = {name for command in FUNCTIONS for name in options_of(command)}
    names = {name for command in FUNCTIONS for name in keywords(command)}
    assert ONLY_OPTIONS.keys() <= options
    assert ONLY_KEYWORDS.keys() <= names
    assert {option for option, _ in SPELLED.values()} <= options


OTHERWISE = {
    "jobs": "1 in Python, where processes are started for those who ask; a command takes all cores",
    "judging": "a frame has these columns; tables show them where they are asked for",
    "label": "none is empty text",
}
"""Keywords with another default than their option, and why; `pool` names the measure of --to-judge in its help."""


def default_in_help(option: click.Option) -> str | None:
    """Return the default in the help of an option, or None."""
    match = re.search(r"Default: (.+?)(?:\.(?: \[|$)|[;,] )", option.help or "")
    return match[1].replace(" and ", " ") if match else None


def formatted(default: Any) -> str:
    """Format a default of Python like a help page."""
    if isinstance(default, tuple):
        return " ".join(map(str, default))
    return f"{default:g}" if isinstance(default, float) else str(default)


@pytest.mark.parametrize("command", FUNCTIONS)
def test_a_keyword_has_the_default_of_its_option(command: str) -> None:
    options = options_of(command)
    for name, parameter in keywords(command).items():
        option = options.get(name) or options.get(SPELLED.get(name, ("",))[0])
        if option is None or name in OTHERWISE or parameter.default in (parameter.empty, None, ()):
            continue  # the help describes None as a default in words
        if option.is_flag:
            assert parameter.default is False, name
        elif (command, name) == ("pool", "measure"):
            assert f"of --to-judge ({parameter.default})" in str(option.help)
        else:
            assert formatted(parameter.default) == default_in_help(option), name
