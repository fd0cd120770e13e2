"""The registry of options: every option once, and all that reads it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import click
import pytest

import gradedeval
import gradedeval.kernel.options.metadata as metadata
from gradedeval.kernel.options import OF_FILES, OPTIONS, PRESETS, Option, OptionKwargs, Options, option, resolve_options
from gradedeval.kernel.scoring.evaluate import evaluate
from gradedeval.questions.limits import OPTION_KEYS
from support.commands import Command, succeed
from support.generated_docs import LEAVES
from support.paths import ROOT
from support.source import FILES, nodes


def parameters(name: str) -> list[click.Option]:
    return [param for param in LEAVES[name].params if isinstance(param, click.Option)]


def test_keywords_have_the_names_and_the_types_of_the_options() -> None:
    names = [name for name, described in OPTIONS.items() if described.commands != "none" and name != "like"]
    assert list(OptionKwargs.__annotations__) == names
    stored, keywords = (get_type_hints(described, localns=vars(metadata)) for described in (Options, OptionKwargs))
    # Of values that are read from files or text, users give something else.
    for name in [name for name in names if OPTIONS[name].accepts == Option("").accepts]:
        values = set(get_args(stored[name] | None)) - {type(None)}
        assert values <= set(get_args(keywords[name] | None)), name


def test_presets_are_the_choices_of_like() -> None:
    assert tuple(PRESETS) == OPTIONS["like"].choices


@pytest.mark.parametrize("name", [name for name, described in OPTIONS.items() if described.choices])
def test_every_choice_is_taken_and_another_word_is_refused(name: str) -> None:
    for choice in OPTIONS[name].choices:
        assert getattr(Options(**{name: choice}), name) == choice
    with pytest.raises(gradedeval.InputError, match=rf"^{name}: invalid value 'x'; choose from .*"):
        Options(**{name: "x"})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [name for name, described in OPTIONS.items() if described.number])
@pytest.mark.parametrize("value", ["1", True, float("nan"), float("inf"), -1])
def test_numbers_that_are_none_or_too_small_are_refused(name: str, value: Any) -> None:
    with pytest.raises(gradedeval.InputError, match=f"^{name}: "):
        Options(**{name: value})


def test_a_new_option_is_one_definition() -> None:
    """A field of `Options` defines help, checks and signature."""
    entry = option(None, "Stop after N documents.", metavar="N", minimum=2).metadata["option"]
    described = entry.of("stop_after", int | None, None)
    assert (described.flag, described.choices) == ("--stop-after", ())
    assert described.parse("3") == 3
    assert described.signature("stop after", 3) == "stop after 3"
    for value, message in ((1, "1 is too small; it must be at least 2"), (2.5, "2.5 is not a whole number from 2")):
        with pytest.raises(gradedeval.InputError, match=f"^stop_after: {re.escape(message)}$"):
            described.check(value)


def test_every_option_of_the_registry_is_an_option_of_the_commands_that_take_it() -> None:
    levels = {"eval": "eval", "weights": "reading", "pr": "reading", "informative": "reading"}
    reading = [
        "compare",
        "check",
        "correlate",
        "fit",
        "power",
        "report",
        "risk",
        "explain",
        "diff",
        "pool",
        "agreement",
    ]
    levels |= dict.fromkeys((*reading, "clicks simulate", "plot runs", "plot topics"), "reading")
    for name in LEAVES:
        level = levels.get(
            name.removeprefix("plot "), levels.get(name)
        )  # a command that reads no run, or reads it in its own way, takes none of them
        expected = {described.flag for described in OPTIONS.values() if level and level in described.taken_by}
        expected |= {OPTIONS[each].flag for each in OF_FILES} if name == "lint" else set()
        says = ("compare", "check", "diff", "report", "plot topics")  # whether judging could reverse an order
        expected |= {"--unseen"} if name in says else set()
        texts = ("compare", "check", "diff", "explain", "report", "pool", "plot topics", "plot runs", "plot explain")
        expected |= {"--queries"} if name in texts else set()  # where there are topics to name
        seeded = ("compare", "check", "diff", "report", "plot runs", "plot topics")
        expected |= {"--replicates"} if name in seeded else set()
        expected |= {"--slices"} if name in ("compare", "check", "diff", "report", "plot runs") else set()
        expected |= {"--predicted"} if name == "compare" else set()
        expected |= {"--fill"} if name in ("explain", "plot explain") else set()
        expected |= {"--costs"} if name in ("explain", "plot explain") else set()
        filtered = ("fit", "plot fit", "correlate", "plot correlate")  # as Azzopardi et al., ICTIR 2021, section 4
        expected |= {"--max-residual", "--residual-depth"} if name in filtered else set()
        of_logs = "clicks correlate" if name == "plot clicks" else name
        expected |= {"--depth", "--lenient"} if of_logs.startswith("clicks ") else set()
        judged = {"--qrels-format", "--labels"}  # of the qrels beside them
        with_qrels = {f"clicks {verb}" for verb in ("measures", "correlate", "gains", "models")}
        expected |= judged if of_logs in with_qrels else set()
        expected |= {"--gain", "--top-grade", "--negative", "--fill"} if of_logs == "clicks correlate" else set()
        offered = {flag for param in parameters(name) for flag in param.opts}
        assert {described.flag for described in OPTIONS.values()} & offered == expected


def test_help_gives_the_default_and_the_choices() -> None:
    helps = {param.opts[-1]: param for param in parameters("eval")}
    for described in OPTIONS.values():
        if described.commands != "none":
            param = helps[described.flag]
            assert param.help == described.text
            assert all(choice in str(param.metavar) for choice in described.choices)


def test_python_lists_the_options_in_the_docstrings() -> None:
    for documented in (evaluate, Options):
        for name in OptionKwargs.__annotations__:
            assert re.search(rf"^    {name} ", documented.__doc__ or "", re.MULTILINE), name


def test_a_file_of_settings_takes_the_options_of_check() -> None:
    flags = {flag for param in parameters("check") for flag in param.opts}
    assert {f"--{key}" for key in OPTION_KEYS} == {described.flag for described in OPTIONS.values()} & flags


@pytest.mark.filterwarnings("ignore:.*no measure here uses it")
def test_changed_options_stand_in_the_signature() -> None:
    run, qrels = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 1, "b": 0}}
    options: dict[str, Any] = {"depth": 1, "topics": "both", "lenient": True, "topics_from": ["1"], "top_grade": 3}
    signature = gradedeval.evaluate(run, qrels, "dcg", **options).signature
    assert " | depth 1 | topics both | lenient | 1 chosen topic " in signature
    assert resolve_options(residuals="difference").residuals == "difference"


@pytest.mark.parametrize(
    ("settings", "residuals"),
    [
        ({}, None),
        ({"residuals": True}, "total"),
        ({"residuals": False}, None),
        ({"residuals": "split"}, "split"),
        ({"residuals": True, "like": "cwl_eval"}, "difference"),
        *(({"residuals": True, "like": like}, preset.residuals) for like, preset in PRESETS.items()),
        *(({"residuals": True, "like": like, "max_residual": 0.5}, "total") for like in PRESETS),
        ({"like": "cwl_eval", "max_residual": 0.5}, None),
        ({"like": "cwl_eval", "residual_depth": "full"}, "total"),
        ({"residual_depth": "full"}, "total"),
        ({"residual_depth": "full", "max_residual": 0.5}, None),
    ],
)
def test_the_kind_of_residual_is_settled_once(settings: dict[str, Any], residuals: str | None) -> None:
    assert resolve_options(**settings).residuals == residuals


def test_a_preset_and_a_maximum_residual_together_leave_topics_out_of_the_mean() -> None:
    run, qrels = {"sure": {"a": 2.0}, "open": {"x": 2.0}}, {"sure": {"a": 1}, "open": {"b": 1}}
    plain = gradedeval.evaluate(run, qrels, "rbp(p=0.5)@1", like="cwl_eval", residuals=True)
    assert (plain.options.residuals, plain.options.max_residual) == ("difference", None)
    assert list(plain.means.values()) == [pytest.approx(0.25)]
    for more in ({}, {"residuals": True}):
        kept = gradedeval.evaluate(run, qrels, "rbp(p=0.5)@1", like="cwl_eval", max_residual=0.1, **more)  # type: ignore[arg-type]
        assert list(kept.means.values()) == [pytest.approx(0.5)]
        assert kept.options.residuals == ("total" if more else None)


def test_a_bare_residuals_takes_no_file_for_its_value(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run.txt").write_text("1 Q0 a 1 2 t\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    total = succeed(cli("--residuals", "run.txt", "qrels.txt", "-m", "err@2"))
    assert cli("run.txt", "qrels.txt", "-m", "err@2", "--residuals") == total
    assert cli("run.txt", "--residuals", "total", "qrels.txt", "-m", "err@2") == total
    assert b"unjudged" in cli("run.txt", "--residuals", "split", "qrels.txt", "-m", "err@2").out


def test_text_files_and_values_mean_the_same(tmp_path: Path) -> None:
    (tmp_path / "topics").write_text("1\n2 more\n")
    (tmp_path / "costs").write_text("video 30\n")
    assert resolve_options(gain="0:0.5:1").gain == resolve_options(gain=[0, 0.5, 1]).gain == (0, 0.5, 1)
    assert resolve_options(topics_from=tmp_path / "topics") == resolve_options(topics_from=["1", b"2"])
    from_file, from_values = (
        resolve_options(costs=str(tmp_path / "costs")).costs,
        resolve_options(costs={"video": 30}).costs,
    )
    assert from_file is not None
    assert from_values is not None
    assert from_file.of == from_values.of


def strings(code: list[ast.AST]) -> Iterator[str]:
    """Yield the texts in a module that are no docstrings."""
    documented = {id(node.value) for node in code if isinstance(node, ast.Expr)}
    for node in code:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield node.value


def test_nothing_else_lists_the_options() -> None:
    """A second list of options would name several; a message or a key names one. Names that are also ordinary words,
    such as `topics` or `scores`, are left out."""
    names = {name for name in OPTIONS if "_" in name} | {described.flag for described in OPTIONS.values()}
    for path in FILES:
        if path.parent.name != "options":
            named = names & set(strings(nodes(path)))
            assert len(named) <= 2, f"{path.relative_to(ROOT)} names {sorted(named)}"
