"""Every command and every function of Python that takes a number, with input that it works on."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

import gradedeval
from gradedeval import clicks, ltr, plot
from gradedeval.kernel.options import OPTIONS, UNSEEN, Number
from support.generated_docs import LEAVES
from support.results import calls_on

TEXTS = ("1" + "0" * 30, "99999999999999999999", "1e400", "nan", "inf", "-1" + "0" * 30, "", "１２", "1" + "0" * 5000,
         "1_000", "0x10", "--")  # fmt: skip
"""Values that options refuse as numbers, or take only within limits."""
VALUES = (10**30, 10**400, 10**5000, -(10**5000), float("inf"), float("nan"), np.int64(2**62), np.uint64(2**64 - 1),
          np.float64("inf"), 1e308, 5e-324, "1e400", [1], object())  # fmt: skip

# `gradedeval NAME` -> words that it works with, in a folder with `write_files`.
WORDS = {
    "eval": "a.run b.run qrels -m ap --baseline a.run --bounds",
    "explain": "a.run qrels --topic 1 -m err",
    "weights": "-m rbp",
    "compare": "a.run b.run qrels -m ap --test bayes",
    "diff": "a.run b.run qrels -m ap",
    "pool": "a.run b.run qrels",
    "agreement": "qrels qrels a.run b.run",
    "history": "history.jsonl",
    "report": "a.run b.run qrels -m ap -o page.html --test bayes",
    "risk": "a.run b.run qrels -m ap",
    "check": "a.run qrels -m ap --min 0",
    "correlate": "a.run b.run c.run qrels -m 'ap err'",
    "fit": "-m rbp(p=0.4..0.5..0.1) --to err a.run b.run qrels",
    "power": "a.run b.run c.run qrels -m ap",
    "informative": "a.run b.run qrels -m ap --min-found 1",
    "pr": "a.run qrels",
    "lint": "a.run",
    "trec_eval": "qrels a.run",
    "clicks observe": "log.tsv",
    "clicks fit": "log.tsv -m rbp(p=0.4..0.5..0.1)",
    "clicks measures": "log.tsv qrels",
    "clicks correlate": "log.tsv qrels -m 'err ap'",
    "clicks gains": "log.tsv qrels",
    "clicks models": "log.tsv --model sdbn",
    "clicks simulate": "a.run qrels --as rbp --sessions 20",
    "plot pr": "a.run qrels -o picture.svg",
    "plot informative": "a.run b.run qrels -m ap --min-found 1 -o picture.svg",
    "plot topics": "a.run b.run qrels -m ap -o picture.svg",
    "plot runs": "a.run b.run qrels -m ap -o picture.svg",
    "plot weights": "-m rbp -o picture.svg",
    "plot fit": "-m rbp(p=0.4..0.5..0.1) --to err a.run b.run qrels -o picture.svg",
    "plot power": "a.run b.run c.run qrels -m ap -o picture.svg",
    "plot correlate": "a.run b.run c.run qrels -m 'ap err' -o picture.svg",
    "plot explain": "a.run qrels --topic 1 -m err -o picture.svg",
    "plot clicks": "log.tsv qrels -m err -o picture.svg",
}

METAVARS = ("N", "X", "P", "D", "A", "V", "GRADE", "GAIN", "INCHES", "[LEVEL]", "N|all", "N|inf")
"""Placeholders of numbers on help pages."""


def run(seed: int) -> dict[str, dict[str, float]]:
    dice = random.Random(seed)
    return {
        str(topic): {f"d{document}": 6.5 - rank for rank, document in enumerate(dice.sample(range(12), 6))}
        for topic in range(6)
    }


RUNS = {name: run(number) for number, name in enumerate(("a.run", "b.run", "c.run"))}
PAIR = {name: RUNS[name] for name in ("a.run", "b.run")}
QRELS = {str(topic): {f"d{at}": at * (topic + 1) % 4 for at in range(12)} for topic in range(6)}


ENTRY = {"gradedeval_history": 1, "time": "2026-01-01", "label": "", "run": "a", "signature": "x",
         "scores": {"ap": {"score": 0.5, "topics": 6}}}  # fmt: skip
"""A line of a history."""


def log() -> str:
    dice = random.Random(1)
    rows = ["topic\tshown\tclicks"]
    for _ in range(60):
        documents = " ".join(f"d{document}" for document in dice.sample(range(12), 6))
        rows.append(f"{dice.randrange(6)}\t{documents}\t{' '.join(map(str, sorted(dice.sample(range(1, 7), 2))))}")
    return "\n".join(rows) + "\n"


def write_files(folder: Path) -> None:
    """Write the files of `WORDS`."""
    for name, topics in RUNS.items():
        rows = [(topic, docno, score) for topic, entries in topics.items() for docno, score in entries.items()]
        (folder / name).write_text("".join(f"{topic} Q0 {docno} 1 {score} t\n" for topic, docno, score in rows))
    judged = [(topic, docno, grade) for topic, entries in QRELS.items() for docno, grade in entries.items()]
    (folder / "qrels").write_text("".join(f"{topic} 0 {docno} {grade}\n" for topic, docno, grade in judged))
    (folder / "log.tsv").write_text(log())
    (folder / "history.jsonl").write_text(json.dumps(ENTRY) + "\n")


def number_of(param: click.Parameter) -> Number | None:
    """Return the numbers that an option takes; None if it takes none."""
    flag = param.opts[-1]
    if flag == UNSEEN.flag:
        return UNSEEN
    number: Number | None = getattr(param, "number", None)
    return number or (OPTIONS[flag[2:].replace("-", "_")].number if flag[2:].replace("-", "_") in OPTIONS else None)


def options() -> Iterator[tuple[str, Number]]:
    """Yield every command and each of its options that take a number."""
    for name, command in LEAVES.items():
        for param in command.params:
            if (number := number_of(param)) is not None:
                yield name, number


def scores() -> gradedeval.Scores:
    return gradedeval.evaluate(RUNS, QRELS, "ap", residuals=True)


def log_file(folder: Path) -> str:
    return str(folder / "log.tsv")


def recorded(folder: Path) -> Path:
    gradedeval.evaluate(folder / "a.run", folder / "qrels", "ap", record=folder / "record.json")
    return folder / "record.json"


Call = Callable[..., Any]

OF_SCORES = {"check", "compare", "fit", "fit_weights", "letters", "plan_topics", "power", "reproduction", "risk",
             "run_summaries", "standardize", "evaluate_arrays", "weights"}  # fmt: skip
"""Functions that are called otherwise here than on runs, or not at all."""

# A public function -> a call of it, in a folder with `write_files` and with some of its keywords.
CALLS: dict[str, Call] = {
    **{
        name: lambda folder, call=call, **given: call(**given)
        for name, call in calls_on(RUNS, QRELS).items()
        if name not in OF_SCORES
    },
    "parse_measures": lambda folder, **given: gradedeval.parse_measures("ap p", **given),
    "Bound": lambda folder, limit: gradedeval.check(scores(), [gradedeval.Bound("min", "ap", limit)]),
    "check": lambda folder, **given: gradedeval.check(scores(), [gradedeval.Bound("min", "ap", 0)], **given),
    "letters": lambda folder, **given: gradedeval.letters(scores(), **given),
    "compare": lambda folder, **given: gradedeval.compare(scores(), test="bayes", **given),
    "fit": lambda folder, **given: gradedeval.fit(RUNS, QRELS, "rbp(p=0.4..0.5..0.1)", to="err", **given),
    "fit_weights": lambda folder, **given: gradedeval.fit_weights([0.6, 0.4], "rbp(p=0.4..0.5..0.1)", **given),
    "html_report": lambda folder, **given: gradedeval.html_report(RUNS, QRELS, "ap", test="bayes", **given),
    "lint": lambda folder, **given: gradedeval.lint(folder / "a.run", **given),
    "plan_topics": lambda folder, **given: gradedeval.plan_topics(scores(), **given),
    "power": lambda folder, **given: gradedeval.power(scores(), **given),
    "read_history": lambda folder, **given: gradedeval.read_history(folder / "history.jsonl", **given),
    "reproduction": lambda folder, **given: gradedeval.reproduction(PAIR, PAIR, **given),
    "risk": lambda folder, **given: gradedeval.risk(scores(), **given),
    "run_summaries": lambda folder, **given: gradedeval.run_summaries(scores(), **given),
    "table": lambda folder, **given: gradedeval.table(scores(), baseline="a.run", test="t", **given),
    "verify": lambda folder, **given: gradedeval.verify(recorded(folder), **given),
    "weights": lambda folder, **given: gradedeval.weights("rbp", **given),
    "clicks.correlate": lambda folder, **given: clicks.correlate(log_file(folder), QRELS, "err ap", **given),
    "clicks.fit": lambda folder, **given: clicks.fit(log_file(folder), "rbp(p=0.4..0.5..0.1)", **given),
    "clicks.gains": lambda folder, **given: clicks.gains(log_file(folder), QRELS, **given),
    "clicks.measures": lambda folder, **given: clicks.measures(log_file(folder), QRELS, **given),
    "clicks.models": lambda folder, **given: clicks.models(log_file(folder), "sdbn", **given),
    "clicks.observe": lambda folder, **given: clicks.observe(log_file(folder), **given),
    "clicks.read_log": lambda folder, **given: clicks.read_log(log_file(folder), **given),
    "clicks.simulate": lambda folder, **given: clicks.simulate("rbp", RUNS["a.run"], QRELS, **{"sessions": 9, **given}),
    "plot.explain": lambda folder, **given: plot.explain(
        gradedeval.explain(RUNS["a.run"], QRELS, "err", topic="1"), **given
    ),
    "plot.weights": lambda folder, **given: plot.weights(gradedeval.weights("rbp"), **given),
    "plot.runs": lambda folder, **given: plot.runs(scores(), **given),
    "plot.power": lambda folder, **given: plot.power(gradedeval.power(scores(), draws=20), **given),
    "ltr.objective": lambda folder, **given: ltr.objective("err", **given).gradients([0, 1], [0.2, 0.1], group=[2]),
    "ltr.approx": lambda folder, **given: ltr.approx("err", **given).gradients([0, 1], [0.2, 0.1], group=[2]),
    "ltr.softgap": lambda folder, **given: ltr.softgap("gap", **given).gradients([0, 1], [0.2, 0.1], group=[2]),
    "ltr.metric": lambda folder, **given: ltr.metric("err", **given).sklearn([0, 1], [0.2, 0.1], None, [2]),
    "ltr.swap_deltas": lambda folder, **given: ltr.swap_deltas("err", [0, 1], **given),
}
