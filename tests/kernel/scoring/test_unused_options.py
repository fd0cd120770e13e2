"""Options that no measure uses: a note appears exactly if an option changes none of the computed numbers."""

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import InputError, Measure, parse_measures
from gradedeval.kernel.options import OPTIONS, resolve_options
from gradedeval.kernel.scoring.unused_options import unused_options
from support.commands import Command
from support.measures import REPRESENTATIVES

DOCUMENTS = [f"d{number}" for number in range(30)]
VARIED = (-1, -1, 0, 0, 1, 2, 3)
BARREN = (-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3)
COLLECTIONS = ((18, VARIED), (18, VARIED), (26, VARIED), (4, VARIED), (2, VARIED), (29, BARREN), (30, BARREN))
"""How many documents of a topic are judged, and their grades, for ten topics each: some effects show only where few
documents are relevant, or where all retrieved ones are judged."""
TOPICS = [f"{collection}{number}" for collection in range(len(COLLECTIONS)) for number in range(10)]
KINDS = {"judged": {}, "subtopics": {"subtopics": True}, "strata": {"qrels_format": "strata"}}
MORE = (
    "inst(of=ec) inst(of=etc) inst(of=ed) rbp(of=ec) rbp(of=ed) rbp(of=etc) rbp(of=etu)"
    " iprec(recall=0.5) ift(T=2) ift(A=0.3)"
    ' err(judged_only=True) p(judged_only=True)@3 cwl(C="1/(1+cost)",horizon=50)'
    " ia(err) ia(ap)@5 ia(bpref) ia(rbp) ia(gap) erria(norm=best,gain=0:0.2:0.5:0.75)"
)
MEASURES = [*sorted((measure for measure in REPRESENTATIVES if not measure.parameters), key=str), *parse_measures(MORE)]

BESIDE: dict[str, dict[str, Any]] = {
    "alone": {},
    "residuals": {"residuals": True, "top_grade": 4},
    "bounds": {"bounds": True, "top_grade": 4},
}
"""Other requested values; a top grade above the grades of the qrels leaves room for another top gain."""
CONTEXT: dict[str, dict[str, Any]] = {"gain": {"top_grade": 4}, "top_grade": {"gain": "linear", "top_grade": 3}}
"""Options that make the effect of another visible: nerr5 is 0 unless a gain is 1."""
VALUES: dict[str, Any] = {
    "gain": "0:0:0.9:1:1",
    "rel": 3,
    "top_grade": 5,
    "negative": "unjudged",
    "costs": {"a": 5, "b": 9, "c": 20},
    "fill": {topic: dict.fromkeys(DOCUMENTS, 1.0) for topic in TOPICS},
    "residuals": True,
    "residual_depth": "full",
    "max_residual": 0.0,
    "bounds": True,
    "unseen": 3,
}


def _kinds(measure: Measure) -> tuple[str, ...]:
    """Return the kinds of qrels that a measure reads."""
    if measure.by_intent:
        return ("subtopics",)
    return ("judged", "strata") if measure.definition.uses_strata else ("judged",)


def _qrels(kind: str, topics: Sequence[str], draw: random.Random) -> Iterator[str]:
    for topic in topics:
        judged, grades = COLLECTIONS[int(topic[0])]
        for document in draw.sample(DOCUMENTS, judged):
            second = {"judged": "0", "subtopics": draw.choice("123"), "strata": "0"}[kind]
            stratum = f" s{draw.choice('12')}" if kind == "strata" else ""
            yield f"{topic} {second} {document}{stratum} {draw.choice(grades)}\n"


def _run(topics: Sequence[str], draw: random.Random) -> Iterator[str]:
    for topic in topics:
        for rank, document in enumerate(draw.sample(DOCUMENTS, draw.choice((2, 4, 12, 20))), 1):
            yield f"{topic} {draw.choice('abc')} {document} {rank} {30 - rank} x\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run and qrels of each kind, with various grades, types and lengths of lists; `few`: two runs of ten
    topics."""
    path = tmp_path_factory.mktemp("unused")
    (path / "run").write_text("".join(_run(TOPICS, random.Random(0))))
    for kind in KINDS:
        (path / kind).write_text("".join(_qrels(kind, TOPICS, random.Random(1))))
    (path / "few").mkdir()
    for seed in (2, 3):
        (path / "few" / f"run{seed}").write_text("".join(_run(TOPICS[:10], random.Random(seed))))
    (path / "few" / "qrels").write_text("".join(_qrels("judged", TOPICS[:10], random.Random(4))))
    return path


Columns = dict[Measure, Any]


@pytest.fixture(scope="module")
def plainly(folder: Path) -> Callable[[str, dict[str, Any]], Columns]:
    """Return a function for the numbers without the option, which many cases share: computed once."""
    cache: dict[str, Columns] = {}

    def columns(kind: str, options: dict[str, Any]) -> Columns:
        key = f"{kind} {options}"
        if key not in cache:
            measures = [measure for measure in MEASURES if kind in _kinds(measure)]
            cache[key] = _columns(folder / "run", folder / kind, measures, options | KINDS[kind])
        return cache[key]

    return columns


def _numbers(run: Path, qrels: Path, measures: list[Measure], options: dict[str, Any]) -> list[Any]:
    """Return all numbers of an evaluation: parts × topics × measures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = gradedeval.evaluate(str(run), str(qrels), measures, **options)
    run_scores = scores.runs[0]
    bounds = np.full((2, *run_scores.score.shape), np.nan) if run_scores.bounds is None else run_scores.bounds
    return [run_scores.score, run_scores.residual, run_scores.unjudged, run_scores.included.astype(float), *bounds]


def _columns(run: Path, qrels: Path, measures: list[Measure], options: dict[str, Any]) -> Columns:
    """Return measure -> its numbers; without measures that conflict with the options."""
    try:
        parts = np.array(_numbers(run, qrels, measures, options))
        return dict(zip(measures, np.moveaxis(parts, -1, 0), strict=True))
    except InputError:
        if len(measures) == 1:
            return {}
    half = len(measures) // 2
    return {**_columns(run, qrels, measures[:half], options), **_columns(run, qrels, measures[half:], options)}


def test_every_option_about_measures_is_walked() -> None:
    assert {name for name, described in OPTIONS.items() if described.use} == VALUES.keys()
    sections = {described.section for described in OPTIONS.values() if described.use}
    assert {
        name for name, option in OPTIONS.items() if option.section in sections and option.commands != "none"
    } == VALUES.keys()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("others", ["alone", "bounds", pytest.param("residuals", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", VALUES)
def test_options_that_change_no_number_are_noted(
    name: str, others: str, folder: Path, plainly: Callable[[str, dict[str, Any]], Columns]
) -> None:
    costs = {} if name == "costs" else {"costs": {"a": 1, "b": 2, "c": 3}}
    plain = {**BESIDE[others], **CONTEXT.get(name, {}), **costs}
    if name == others:
        return  # it is there already
    changed: set[Measure] = set()
    scored: set[Measure] = set()
    for kind, reading in KINDS.items():
        if (name, kind) == ("fill", "strata"):
            continue
        original = plainly(kind, plain)
        after = _columns(folder / "run", folder / kind, list(original), {**plain, **reading, name: VALUES[name]})
        scored |= after.keys()
        changed |= {
            column for column in after if not np.allclose(original[column], after[column], 0, 1e-12, equal_nan=True)
        }
    noted = {column for column in scored if _noted(column, name, {**plain, name: VALUES[name]})}
    false, missing = noted & changed, {str(column) for column in scored - changed - noted}
    assert not false
    assert not missing
    assert scored


def _noted(measure: Measure, name: str, options: dict[str, Any]) -> bool:
    notes = unused_options([measure], resolve_options(**options), max(VARIED))
    return any(note.in_python().startswith(name) for note in notes)


def test_default_values_are_not_noted() -> None:
    for like in ("trec_eval", "gdeval", "ir_measures", "cwl_eval", "ntcireval"):
        assert unused_options(parse_measures("num_ret"), resolve_options(like), 1) == []


def test_one_of_several_measures_is_enough() -> None:
    options = resolve_options(rel=2, gain="exp", negative="unjudged")
    assert unused_options(parse_measures("ndcg ap bpref"), options, 1) == []
    notes = unused_options(parse_measures("ndcg err@20"), options, 1)
    assert [str(note) for note in notes] == [
        "--rel 2: no measure here uses it (ndcg, err@20); state it in the measures: ndcg(rel=2), err(rel=2)@20",
        "--negative unjudged: no measure here uses it (ndcg, err@20); it is for measures of judged documents, such as"
        " bpref, and residuals",
    ]
    assert str(notes[0].in_python()).startswith("rel=2: ")


@pytest.mark.parametrize("name", ["gain", "rel"])
def test_a_parameter_that_a_measure_takes_is_named_in_its_notation(name: str) -> None:
    """Try every measure that takes the option's value as a parameter, but not from the option."""
    value = {"gain": "exp", "rel": 2}[name]
    options, hints = resolve_options(**{name: value}), 0
    for measure in MEASURES:
        notes = unused_options([measure], options, 1)
        if not notes or "state it" not in notes[0].hint:
            states_gains = dict(measure.parameters).keys() & {*measure.definition.gain_parameters}
            assert not notes or states_gains or name not in measure.definition.gain_parameters, measure
            continue
        (notation,) = notes[0].hint.partition(": ")[2].split(" ")
        (stated,) = parse_measures(notation)
        assert (stated.name, dict(stated.parameters)[name]) == (measure.name, value)
        hints += 1
    assert hints > 0 or name == "gain"
    (note,) = unused_options(parse_measures("rbp(gain=linear) err(gain=linear)@5"), resolve_options(gain="exp"), 1)
    assert note.hint == "state it in the measures: rbp(gain=exp), err(gain=exp)@5"
    (note,) = unused_options(parse_measures("ap"), resolve_options(gain="exp"), 1)
    assert note.hint == "it is for graded measures that name no gains, such as err and ndcg"


COMMANDS = {
    "eval": "{runs} -m {m}",
    "compare": "{runs} -m {m}",
    "risk": "{runs} -m {m}",
    "correlate": "{runs} -m {m} -m {other}",
    "power": "{runs} -m {m} --draws 50",
    "check": "{runs} --min {m}=0",
    "report": "{runs} -m {m} -o page.html",
    "diff": "{runs} -m {m}",
    "explain": "{runs} -m {m} --topic 01",
    "pool": "{runs} --leave-one-out -m {m}",
    "informative": "{runs} -m {m} --min-found 1",
    "fit": "{runs} -m rbp(p=0.1..0.9)@5 --to {m} --precision 0.2",
    "plot runs": "{runs} -m {m} -o picture.svg",
    "plot topics": "{runs} -m {m} -o picture.svg",
    "plot explain": "{runs} -m {m} --topic 01 -o picture.svg",
    "plot power": "{runs} -m {m} --draws 50 -o picture.svg",
}
"""The arguments of each command: a measure that uses neither option, or one that uses it."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_names_an_unused_option_once(
    name: str, folder: Path, cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = f"{folder}/few/run2 {folder}/few/run3 {folder}/few/qrels"
    for measure, without, unused in (("ndcg@5", "err@5", ["--rel 2", "-k 10"]), ("ap", "p", [])):
        words = COMMANDS[name].format(runs=runs, m=measure, other=without).split()
        outcome = cli(*name.split(), *words, "--rel", "2", *([] if name == "informative" else ["-k", "10"]))
        assert outcome.code in (0, 1), outcome.messages
        options = [message.split(":")[0] for message in outcome.messages if "no measure here uses it" in message]
        expected = [option for option in unused if not (name == "informative" and option == "-k 10")]
        assert sorted(options) == sorted(expected), outcome.messages
