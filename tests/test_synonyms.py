"""The words of other tools: none is a name of ours, each has a hint, and the hint names something that exists."""

import inspect
import pkgutil
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from typing import Any

import click
import pandas as pd
import pytest

import gradedeval
from gradedeval import evaluate
from gradedeval.cli import ABOUT, COMMANDS
from gradedeval.cli import gradedeval as program
from gradedeval.cli.hints import MAX_LINE, MIN_SIMILARITY, _parse, corrected_command_line, option_error
from gradedeval.errors import Guess, InputError, did_you_mean, hint_of, is_pointer, synonyms
from gradedeval.kernel.measures.definition import MEASURES
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.options import OPTIONS
from gradedeval.kernel.scoring.results import InNotebook
from support.commands import Command, python
from support.generated_docs import LEAVES

FLAGS = {
    name: [flag for param in command.params if isinstance(param, click.Option) for flag in param.opts]
    for name, command in LEAVES.items()
}
"""Command -> its options."""

ENTRIES = [(kind, word, ours) for kind, words in synonyms().items() for word, (ours, _) in words.items()]


def keywords() -> dict[str, list[str]]:
    """Return public function -> its keywords."""
    modules = (gradedeval, gradedeval.clicks, gradedeval.plot)
    public = [getattr(module, name) for module in modules for name in module.__all__]
    functions = [function for function in public if inspect.isfunction(function)]
    return {function.__qualname__: list(inspect.signature(function).parameters) for function in functions}


def results(of: type = InNotebook) -> Iterator[type]:
    """Yield the kinds of results."""
    for kind in of.__subclasses__():
        yield kind
        yield from results(kind)


def vocabularies(kind: str) -> list[list[str]]:
    """Return the words of which one may be meant: those of each command, function or result."""
    if kind == "commands":
        return [[*COMMANDS, *ABOUT, "--version"]]
    if kind == "options":
        return list(FLAGS.values())
    if kind == "functions":
        return [gradedeval.__all__]
    if kind == "measures":
        return [list(MEASURES)]
    if kind == "values":
        options = [param for command in LEAVES.values() for param in command.params]
        choices = [list(param.type.choices) for param in options if isinstance(param.type, click.Choice)]
        return [*choices, *(list(option.choices) for option in OPTIONS.values() if option.choices)]
    if kind == "parameters":
        return [list(measure.definition.accepted.names) for measure in MEASURES.values()]
    if kind == "attributes":
        scores = evaluate({"1": {"a": 1.0}}, {"1": {"a": 1}}, "rr")
        return [dir(scores), *([*dir(kind), *getattr(kind, "__annotations__", {})] for kind in results())]
    return [*keywords().values(), list(gradedeval.Options.__annotations__)]


VOCABULARIES = {kind: vocabularies(kind) for kind in synonyms()}


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("kind", "word", "ours"), ENTRIES, ids=lambda text: str(text)[:30])
def test_words_of_other_tools_have_a_hint(kind: str, word: str, ours: str) -> None:
    without = [words for words in VOCABULARIES[kind] if word not in words]
    assert without, f"{word} is ours"
    for choice in ours.split(" | "):
        meant, replaces, sentence = choice.partition(" := ")
        if replaces:
            check_sentence(sentence.format(meant))
            if kind == "options":
                check_pointer(kind, meant, without)
            else:
                assert meant in FLAGS["eval"] if kind == "parameters" else parse_measures(meant)
            continue
        needed, asks, sentence = choice.rpartition("? ")
        assert not asks or any(needed in words for words in without)
        takers = [words for words in without if not asks or needed in words]
        if " " in sentence and not any(is_pointer(kind, sentence, words) for words in takers):
            check_sentence(sentence)
        else:
            check_pointer(kind, sentence, takers)
    assert any(hint_of(kind, word, words) for words in without) or kind == "measures"


def check_sentence(sentence: str) -> None:
    """Check that a sentence does not end in a stop, and that quoted commands exist."""
    assert " " in sentence
    assert sentence[0] != "-"
    assert not sentence.endswith(".")
    for line in re.findall(r"`gradedeval ([^`]*)`", sentence):
        command, *words = shlex.split(line)
        names = [name for name in FLAGS if f"{command} {words[0] if words else ''}".startswith(name)] or ["eval"]
        assert command in COMMANDS | ABOUT or command.isupper() or command == "--version", line
        assert command == "help" or {flag for flag in words if flag[0] == "-"} <= {*FLAGS[names[0]], "--help"}, line


CALLS = [
    ours
    for kind, _, ours in ENTRIES
    if kind in ("functions", "attributes") and re.search(r"\w\(", ours) and "text, as" not in ours
]
"""What says how it is written in Python."""


@pytest.mark.parametrize("ours", sorted(set(CALLS)))
@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_a_call_that_a_pointer_shows_runs(ours: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    qrels = {str(topic): {"a": 2, "b": 0} for topic in range(12)}
    runs = {"A": {topic: {"a": 1.0, "b": 2.0} for topic in qrels}, "B": {topic: {"a": 1.0} for topic in qrels}}
    scores = evaluate(runs, qrels, "ap p@1")
    names = {"run": runs["A"], "runs": runs, "qrels": qrels, "scores": scores, "result": scores}
    names |= {"measures": "ap p@1", "measure": "ap"}
    names |= {name: getattr(gradedeval, name) for name in ("evaluate", "compare", "Qrels")}
    calls = re.findall(r"[\w.]+\([\w=', .-]*\)(?=[ ,;]|$)", ours)
    assert calls
    for call in calls:
        eval(call, {"gradedeval": gradedeval, "path": tmp_path / "s.csv", **names})


def check_pointer(kind: str, choice: str, without: list[list[str]]) -> None:
    """Check that the suggested word exists: a command with these options, an option with this value, a measure."""
    if kind == "measures":
        assert len(parse_measures(with_cutoff(choice))) == 1
    elif kind == "commands":
        name = max((name for name in [*FLAGS, *COMMANDS, *ABOUT] if choice.startswith(name)), key=len, default="")
        assert name or choice == "--version"
        check_values(name, choice.removeprefix(name).split() if name else [])
    elif kind == "options":
        options = [option.split() for option in re.split(" (?=-)", choice)]
        names = {name for name, *_ in options}
        takers = [name for name, flags in FLAGS.items() if names <= {*flags} and flags in without]
        assert takers, choice
        for option in options:
            check_values(takers[0], option)
    else:
        first, _, attribute = choice.partition(".")
        assert any(first in known for known in without), choice
        assert not attribute or first == "means" or hasattr(pd.DataFrame, attribute)


def with_cutoff(measure: str) -> str:
    """The measure with a cutoff if it has to have one."""
    definition = MEASURES.get(measure)
    return f"{measure}@5" if definition is not None and definition.definition.cutoff == "required" else measure


def check_values(command: str, words: list[str]) -> None:
    """Check that a command takes these options with these values."""
    for flag, *value in [words[:2]] if words else []:
        (option,) = [param for param in LEAVES[command].params if flag in param.opts]
        if value and isinstance(option.type, click.Choice):
            assert value[0] in option.type.choices
        assert not (value and getattr(option, "is_flag", False))


def test_the_table_is_large_and_of_many_tools() -> None:
    counts = Counter(kind for kind, _, _ in ENTRIES)
    tools = {tool for words in synonyms().values() for _, tool in words.values()}
    assert counts.total() >= 250
    assert {"trec_eval", "gdeval", "ndeval", "ir_measures", "pytrec_eval", "ranx", "sklearn"} <= tools
    assert {"sentence-transformers", "ragas", "pandas", "statistics"} <= tools


def test_a_cutoff_may_stand_behind_at() -> None:
    written = parse_measures("ndcg_at_10 map_at_100 hit_rate_at_5")
    assert written == parse_measures("ndcg@10 ap@100 hit_rate@5")
    assert [measure.label for measure in written] == ["ndcg_at_10", "map_at_100", "hit_rate_at_5"]


def test_measures_of_other_tools_are_unknown_here() -> None:
    for word in synonyms()["measures"]:
        with pytest.raises(InputError, match="unknown measure"):
            parse_measures(word)


@pytest.fixture(autouse=True)
def files(tmp_path: Any) -> Any:
    for name in "AB":
        (tmp_path / name).write_text("1 Q0 a 1 2 t\n")
    for name in "QR":
        (tmp_path / name).write_text("1 0 a 1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("A Q --residual", "A Q --residuals"),
        ("A Q -m 'ndcg@10(rel=2)'", "A Q -m 'ndcg(rel=2)@10'"),
        ("A Q -m rbp@p=0.5", "A Q -m 'rbp(p=0.5)'"),
        ("A Q -m ndcg@k=10", "A Q -m ndcg@10"),
        ("A Q -m 'ndcg[10]'", "A Q -m ndcg@10"),
        ("A Q -m 'ndcg(10)'", "A Q -m ndcg@10"),
        ("A Q -m ndcg@5-10", "A Q -m ndcg@5..10"),
        ("A Q -m 'rbp(0.8)'", "A Q -m 'rbp(p=0.8)'"),
        ("A Q -m rbp-0.8", "A Q -m 'rbp(p=0.8)'"),
        ("A Q -m ndgc@10 -m 'ap ndgc@5'", "A Q -m ndcg@10 -m 'ap ndcg@5'"),
        ("A Q -m NDGC@10", "A Q -m ndcg@10"),
        ("A Q -m hitrate@5", "A Q -m hit_rate@5"),
        ("A Q -m 'contextual_precision@3 id_based_context_recall'", "A Q -m 'ap(norm=k)@3 set_recall'"),
        ("check A B Q", "lint A B Q"),
        ("A Q -m 'ap err(max=4,rel=1)@3'", "A Q -m 'ap err(rel=1)@3' --top-grade 4"),
        ("A Q -m all_trec", "trec_eval -m all_trec Q A"),
        ("Q A -m official -q", "trec_eval -m official -q Q A"),
        ("A Q -N 4", "trec_eval -N 4 Q A"),
        ("A Q ap ndcg@10", "A Q -m 'ap ndcg@10'"),
        ("A B Q --bonferroni", "compare A B Q --correction bonferroni"),
        ("A B Q --ttest --baseline A", "A B Q --test t --baseline A"),
        ("A B Q --pairwise", "compare A B Q --all-pairs"),
        ("compare A B Q --fail-if-worse 0.01", "check A B Q --max-drop 0.01"),
        ("A Q -m ap -m rr --fail-under 0.75", "check A Q -m ap -m rr --min ap=0.75 --min rr=0.75"),
        ("check A Q -m ap -m rr --min 0.75", "check A Q -m ap -m rr --min ap=0.75 --min rr=0.75"),
        ("compare A B Q -m ap --max-drop 1%", "check A B Q -m ap --max-drop 1%"),
        ("compare A B Q --fail-under ap=.3", "check A B Q --min ap=.3"),
        ("power A B Q --delta 0.03", "power A B Q --difference 0.03"),
        ("power A B Q --power .9", None),
        ("correlate A B Q --qrels R", "agreement Q R A B"),
        ("compare A B Q --other-qrels R -m ap", "agreement Q R A B -m ap"),
        ("correlate A B Q R -m ap", "agreement A B Q R -m ap"),
        ("A B Q R", "agreement A B Q R"),
        ("plot A B Q --pr -o x.png", "plot pr A B Q -o x.png"),
        ("plot A B Q", "plot runs A B Q -o picture.svg"),
        ("plot weights rbp", "plot weights rbp -o picture.svg"),
        ("report A B Q", "report A B Q -o report.html"),
        ("pool A B Q -k 10", "pool A B Q --pool-depth 10"),
        ("unjudged A Q -k 10", "pool A Q --pool-depth 10 --to-judge"),
        ("show A Q --topic 1 -k 10", "explain A Q --topic 1 --show 10"),
        ("explain A Q -t 1 -m ap", "explain A Q --topic 1 -m ap"),
        ("median A B Q -m ap", "compare A B Q -m ap --by-topic"),
        ("A Q --collapse-chunks _", "A Q --collapse _"),
        ("diff A B Q --sort", None),
        ("compare A B Q -q -n 3", "compare A B Q -q --top 3"),
        ("hardest A B Q -n 3", "compare A B Q --top 3 --by-topic"),
        ("A Q -m precision_at_k", "A Q -m precision@10"),
        ("A Q -m map_at_k", "A Q -m map"),
        ("A Q -m hit_rate@k", None),
        ("A Q -m 'precision_5(rel=2)'", "A Q -m 'precision(rel=2)@5'"),
        ("A Q -l2 -q", "A Q --rel 2 -q"),
        ("A Q -c", "A Q --topics qrels"),
        ("A Q --max_grade 4", "A Q --top-grade 4"),
        ("compare A B Q --test ttest", "compare A B Q --test t"),
        ("compare A B Q --pairwise", "compare A B Q --all-pairs"),
        ("diff A B Q --worst 5", "diff A B Q --top 5"),
        ("check A Q --junit x.xml", "check A Q -f junit -o x.xml"),
        ("A Q --junit x.xml", None),
        ("A Q --csv x.csv", "A Q -f csv -o x.csv"),
        ("A Q --chunk-sep '#'", "A Q --collapse '#'"),
        ("A Q --decimal 3", "A Q --digits 3"),
        ("compare A B Q --worst 3", "compare A B Q --by-topic --top 3"),
        ("compare A B Q --boxplot", "compare A B Q --by-topic"),
        ("explain A Q -q 1 -m ap", "explain A Q --topic 1 -m ap"),
        ("plot boxplot A B Q", "plot topics A B Q -o picture.svg"),
        ("leaderboard A B Q -m ap", "eval A B Q -m ap --sort"),
        ("rrf A B", None),
        ("ttest A B Q", "compare A B Q --test t"),
        ("leave-one-out A B Q", "pool A B Q --leave-one-out"),
        ("pool A B Q --unjudged", "pool A B Q --to-judge"),
        ("evaluate A Q", "eval A Q"),
        ("comapre A B Q", "compare A B Q"),
        ("A Q --ties bset", "A Q --ties best"),
        ("A Q --zzz", None),
        ("lint A --digits 3", None),
        ("A Q -m xyzzy", None),
        ("explain A Q 10 -m ap", None),
        (
            "compare A B Q --metrics ndcg@10 --stat-test student --correction holm --latex",
            "compare A B Q --metrics ndcg@10 --test t --correction holm --latex",
        ),
        ("evaluate --qrels Q --run A", "eval A Q"),
        ("--qrels Q --run A -m ndcg@10", "A Q -m ndcg@10"),
        ("compare --runs A B Q --by S", "compare A B Q --slices S"),
        ("compare A B --qrels Q", "compare A B Q"),
        ("compare --qrels Q A B", "compare A B Q"),
        ("compare --qrels Q -m ap A B", None),
        ("eval A Q --qrels Q", "eval A Q"),
        ("eval --qrels Q --qrels Q --run A", None),
        ("explain --qrels Q --run A 1", "explain A Q 1"),
        ("diff --run A --run B --qrels Q", "diff A B Q"),
        ("lint --run A --qrels Q", "lint A --qrels Q"),
        ("trec_eval --qrels Q --run A", "trec_eval Q A"),
        ("agreement --qrels Q --qrels2 Q --runs A B", "agreement Q Q A B"),
        ("measures --qrels Q", None),
        ("clicks models log --qrels Q --run A", None),
        ("compare A B Q --ci", None),
        ("compare A B Q --reference-run", None),
        ("compare A B Q --reference-run A --zzz", None),
        ("compare A B Q --stat-test zzz", None),
        ("version", "--version"),
    ],
)
def test_the_command_line_is_printed_as_it_is_meant(typed: str, meant: str | None, cli: Command) -> None:
    done = cli(*shlex.split(typed))
    assert done.code == (1 if typed.startswith("trec_eval") else 2)
    assert done.corrected == ([] if meant is None else [f"gradedeval {meant}"])
    if meant is not None and meant.endswith("picture.svg"):  # to draw it would take long
        assert _parse(program, shlex.split(meant))
    elif meant is not None:
        assert cli(*shlex.split(meant)).corrected == []


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("similarity D --threshold 0.9", "no such command 'similarity'; did you mean 'diff'?"),
        ("plagiarism", "no such command 'plagiarism'; did you mean 'lint'?"),
        ("xyzzy D", "no such command 'xyzzy', and no such file"),
        ("rrf A B", "no such command 'rrf'; rankings are not fused here: fuse them with another tool"),
    ],
)
def test_a_first_word_that_is_no_file_is_no_command(typed: str, says: str, files: Any, cli: Command) -> None:
    (files / "D").mkdir()
    done = cli(*shlex.split(typed))
    assert done.code == 2
    assert done.messages[0].startswith(says)


def test_a_word_that_only_one_command_can_follow_is_a_sentence_elsewhere(cli: Command) -> None:
    flags = FLAGS["check"]
    assert hint_of("options", "--junit", flags) == "did you mean '-f junit -o'?"
    assert hint_of("options", "--junit", FLAGS["eval"]).startswith("`gradedeval check RUN QRELS")
    assert cli("diff", "A", "B", "--rbo").messages[0].endswith("--persistence sets its depth")


def test_a_long_command_line_is_not_printed_and_no_file_is_renamed() -> None:
    guess = Guess("--resid", "--residuals")
    assert corrected_command_line(program, ["A", "Q", "--resid"], guess) == "gradedeval A Q --residuals"
    assert corrected_command_line(program, ["A" * MAX_LINE, "Q", "--resid"], guess) == ""
    assert corrected_command_line(program, ["ndgc.run", "x/ndgc", "Q"], Guess("ndgc", "ndcg")) == ""
    assert corrected_command_line(program, ["A", "Q", "--topic", "10"], Guess("10", "1")) == ""
    assert corrected_command_line(program, ["A", "Q"], "see `gradedeval --help`") == ""


def test_files_that_make_a_line_long_are_a_pattern_if_it_names_the_same(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    runs = [f"runs/{number:03}.run" for number in range(MAX_LINE // 10)]
    for run in runs:
        (tmp_path / run).touch()
    guess = Guess("correlation", "correlate")
    assert corrected_command_line(program, ["correlation", *runs, "Q"], guess) == "gradedeval correlate runs/*.run Q"
    assert corrected_command_line(program, ["correlation", *runs[1:], "Q"], guess) == ""
    assert corrected_command_line(program, ["correlation", *runs[::-1], "Q"], guess) == ""


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", sorted(LEAVES))
def test_a_line_that_is_printed_for_an_option_of_another_tool_parses(name: str) -> None:
    """The line parses also if the option is the last word, or has a value that it may not take."""
    command, printed = LEAVES[name], 0
    context = command.make_context(f"gradedeval {name}", [], resilient_parsing=True)
    for word in synonyms()["options"].keys() - FLAGS[name]:
        hint = option_error(click.NoSuchOption(word, ctx=context)).raw[1]
        for value in ([], ["2"]):
            if line := corrected_command_line(program, [*name.split(), "A", "B", word, *value], hint):
                assert _parse(program, shlex.split(line)[1:])
                printed += 1
    assert printed


def test_a_prefix_goes_before_a_similar_spelling() -> None:
    assert did_you_mean("--residual", ["--residual-depth", "--residuals"]) == "did you mean '--residuals'?"
    assert did_you_mean("residuls", ["residual-depth", "residuals"]) == "did you mean 'residuals'?"


@pytest.mark.parametrize("command", sorted(LEAVES))
def test_the_beginning_of_an_option_means_the_shortest_that_goes_on_so(command: str) -> None:
    flags = [flag for flag in FLAGS[command] if flag.startswith("--")]
    for typed in (flag[:-1] for flag in flags):
        if typed in FLAGS[command] or len(typed) < len("--abc") or typed in synonyms()["options"]:
            continue
        shortest = min((name for name in flags if name.startswith(typed)), key=len)
        assert hint_of("options", typed, FLAGS[command], MIN_SIMILARITY) == f"did you mean '{shortest}'?", typed


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "read_qrels",
            "; qrels are a path, a DataFrame or a dict topic -> docno -> grade, as in evaluate(run, qrels, measures); "
            "Qrels(qrels) reads them once",
        ),
        ("report", "; did you mean 'html_report'?"),
        ("evalute", "; did you mean 'evaluate'?"),
        ("zzz", ""),
    ],
)
def test_an_unknown_function_has_a_hint(name: str, says: str) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(gradedeval, name)
    assert str(raised.value) == f"module 'gradedeval' has no attribute '{name}'{says}"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("calc_aggregate", "; write evaluate(run, qrels, measures)"), ("evalute", "; did you mean 'evaluate'?")],
)
def test_an_import_of_an_unknown_name_has_a_hint(name: str, hint: str) -> None:
    with pytest.raises(ImportError) as raised:
        exec(f"from gradedeval import {name}")
    assert str(raised.value) == f"cannot import name '{name}' from 'gradedeval'{hint}"
    assert not hasattr(gradedeval, name)


EACH_AS_THE_FIRST = """
import sys
for name in sys.argv[1:]:
    for loaded in [loaded for loaded in sys.modules if loaded.partition(".")[0] == "gradedeval"]:
        del sys.modules[loaded]
    exec(f"from gradedeval import {name}; print({name}.__name__)")
"""


def test_submodules_are_imported_in_spite_of_similar_names() -> None:
    """Python asks for the attribute first: an error with a hint must not replace the import."""
    names = [module.name for module in pkgutil.iter_modules(gradedeval.__path__) if not module.name.startswith("_")]
    done = python("-c", EACH_AS_THE_FIRST, *names)
    assert (done.stdout.split(), done.stderr) == ([f"gradedeval.{name}" for name in names], "")
    with pytest.raises(ImportError, match=r"cannot import name 'zzz' from 'gradedeval' \("):
        exec("from gradedeval import zzz")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("df", "; did you mean 'frame'?"),
        ("to_csv", "; did you mean 'frame.to_csv'?"),
        ("mean", "; did you mean 'means'?"),
        ("meens", "; did you mean 'means'?"),
        ("zzz", ""),
    ],
)
def test_an_unknown_attribute_of_a_result_has_a_hint(name: str, says: str) -> None:
    scores = evaluate({"1": {"a": 1.0}}, {"1": {"a": 1}}, "rr")
    with pytest.raises(AttributeError) as raised:
        getattr(scores, name)
    assert str(raised.value) == f"'Scores' has no attribute '{name}'{says}"
    assert not hasattr(scores, "_zzz")


def test_an_attribute_that_fails_says_why() -> None:
    class Failing(InNotebook):
        @property
        def total(self) -> int:
            return [].missing  # type: ignore[attr-defined,no-any-return]

    with pytest.raises(AttributeError, match="'list' object has no attribute 'missing'"):
        _ = Failing().total


def test_a_guess_at_a_missing_feature_has_no_misleading_hint(cli: Command) -> None:
    assert hint_of("options", "--titles", ["--ties", "--save-reference", "--version"]) == ""
    assert hint_of("options", "--names", ["--ties", "--measure", "--version"]) == ""
    assert cli("eval", "a", "b", "--zzz").messages == ["unknown option '--zzz'; see `gradedeval eval --help`"]


def test_guesses_of_keywords_are_told_the_same() -> None:
    allowed = ("measures", "queries", "slices", "ties", "test")
    meant = {"ms": "measures", "titles": "queries", "topic_texts": "queries", "groups": "slices"}
    for guess, keyword in meant.items():
        assert hint_of("keywords", guess, allowed) == f"did you mean '{keyword}'?"
    assert hint_of("keywords", "titles", ("ties",)) == ""
    with pytest.raises(InputError, match="did you mean 'slices'"):
        evaluate({"1": {"a": 1.0}}, {"1": {"a": 1}}, "rr", groups={})


PLOT = "`gradedeval plot runs RUN... QRELS -o FILE` draws a picture"

UNKNOWN = [
    ("eval --append-to", "did you mean '--history'?"),
    ("risk --alpha", "did you mean '--risk-aversion'?"),
    ("power --best", "did you mean '--best-runs'?"),
    ("clicks models -m", "did you mean '--model'?"),
    ("clicks simulate --model", "did you mean '--model-from'?"),
    *(
        (f"eval --{name}", "did you mean '--queries'?")
        for name in ("topic-names", "topic-texts", "query-texts", "titles")
    ),
    *((f"compare --{name}", "did you mean '--slices'?") for name in ("by-group", "group-by", "groups", "by-slice")),
    ("eval --output-format", "did you mean '--format'?"),
    ("eval --plan", "it is an option of power"),
    ("eval --pairwise", "--all-pairs is an option of compare"),
    ("eval --color", "the variables NO_COLOR=1 and FORCE_COLOR=1 decide"),
    ("eval --strata", "did you mean '--qrels-format strata'?"),
    ("compare --allow-mismatch", "score the saved runs again with the same qrels and options"),
    ("compare --fill", "`gradedeval eval -q --fill FILE` saves what --from-scores reads"),
    *((f"eval --{name}", f"{PLOT}; `gradedeval plot --help` lists others") for name in ("plot", "figure")),
    *((f"plot runs --{name}", "write --size WIDTHxHEIGHT, as in --size 7x3") for name in ("width", "height", "dpi")),
    ("clicks simulate --lists", "`gradedeval clicks simulate RUN...` shows the lists of runs"),
]
"""Options that a command had, others have or somebody guessed, and what to do instead."""


@pytest.mark.parametrize(("words", "hint"), UNKNOWN)
def test_an_unknown_option_has_a_cure(words: str, hint: str, cli: Command) -> None:
    *command, typed = words.split()
    done = cli(*command, "a", "b", typed, "x")
    assert (done.code, done.messages) == (2, [f"unknown option '{typed}'; {hint}"])
