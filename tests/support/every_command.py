"""Calls of every command, and the small collection that they work on."""

import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

import gradedeval
from gradedeval.analysis.pictures import EXTENSIONS
from support.dated import dated

POSITIONS = ("docno", "topic", "run", "tag")
"""The kinds of ids of the collection."""

M = ("-m", "err@5 ndcg")
RUNS = ("{run}.run", "b.run", "c{run}.run")
AB = RUNS[:2]
SAVED = ("--from-scores", "saved.csv")
WORDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "eval": ((*RUNS, "qrels", *M), (*RUNS, "qrels", *M, "-q", "--residuals", "--history", "new")),
    "explain": tuple((*runs, "qrels", *M, "--topic", "{topic}") for runs in (RUNS[:1], AB)),
    "measures": ((), ("err",)),
    "collections": ((), ("robust04",)),
    "weights": (("-m", "rbp", "--ranks", "5"), (*RUNS, "qrels", "-m", "ap")),
    "compare": ((*RUNS, "qrels", *M), SAVED, (*RUNS, "qrels", *M, "-q"), (*SAVED, "--baseline", "{run}.run")),
    "diff": (
        (*AB, "qrels", *M),
        AB,
        (*AB, "qrels", *M, "--topic", "{topic}"),
        (*AB, "--topic", "{topic}"),
        (*AB, "qrels", "--reproduce", *AB),
    ),
    "pool": tuple(
        (*RUNS, "qrels", *more)
        for more in (
            (),
            ("--to-judge",),
            ("--to-judge", "--strategy", "pairs"),
            ("--leave-one-out",),
            ("--groups", "groups"),
        )
    ),
    "agreement": (("qrels", "second.qrels"), ("qrels", "second.qrels", *RUNS)),
    "history": (("history",),),
    "report": ((*RUNS, "qrels", *M),),
    "verify": (("record.json",),),
    "risk": ((*RUNS, "qrels", *M), (*SAVED, "--baseline", "{run}.run")),
    "check": (
        (*RUNS, "qrels", "--min", "err@5=0", "--baseline", "b.run", "--max-topic-drop", "ndcg=0.01"),
        (*RUNS, "qrels", "--min", "err@5=0.9", "--history", "new", "--label", "{topic}"),
    ),
    "correlate": ((*RUNS, "qrels", *M), SAVED),
    "fit": ((*RUNS, "qrels", "-m", "rbp(p=0.1..0.9)", "--to", "ndcg", "--precision", "0.2", "--curve", "curve.csv"),),
    "power": ((*RUNS, "qrels", *M, "--draws", "50"),),
    "informative": ((*RUNS, "qrels", "--min-found", "1", "-q"),),
    "pr": ((*RUNS, "qrels"),),
    "plot pr": ((*RUNS, "qrels"),),
    "plot informative": ((*RUNS, "qrels", "--min-found", "1"),),
    "plot topics": ((*AB, "qrels", "-m", "ndcg"),),
    "plot runs": ((*RUNS, "qrels", "-m", "ndcg", "--signature", "full"),),
    "plot weights": (("-m", "rbp"),),
    "plot fit": ((*RUNS, "qrels", "-m", "rbp(p=0.1..0.9)", "--to", "ndcg", "--precision", "0.2"),),
    "plot power": ((*RUNS, "qrels", *M, "--draws", "50"),),
    "plot correlate": ((*RUNS, "qrels", *M), (*RUNS, "qrels", *M, "--scatter")),
    "plot explain": ((*AB, "qrels", "-m", "err@5", "--topic", "{topic}"),),
    "plot clicks": (("log", "qrels", "-m", "err@5", "--unjudged", "keep"),),
    "clicks observe": (("log", "--per", "query"), ("log", "--per", "user")),
    "clicks fit": (("log", "-m", "rbp"),),
    "clicks measures": (("log", "qrels"),),
    "clicks correlate": (("log", "qrels", "-m", "err@5", "--by", "user", "--unjudged", "keep"),),
    "clicks gains": (("log", "qrels", "--model", "ctr"),),
    "clicks models": (("log", "--model", "ctr", "--write-relevance", "gains.csv", "--write-model", "model.json"),),
    "clicks simulate": ((*RUNS, "qrels", "--as", "err@5", "--sessions", "20"),),
    "lint": ((*RUNS, "--qrels", "qrels"), (*RUNS, "--tag-is-filename")),
    "trec_eval": (("-q", "-m", "all_trec", "qrels", RUNS[0]),),
}
BESIDE = ("new", "curve.csv", "gains.csv", "model.json")
"""The files that commands write beside their output."""


def filled(words: Iterable[str], ids: Mapping[str, bytes]) -> list[str]:
    """Return words with the ids of a collection in their places."""
    return [word.format(**{position: os.fsdecode(name) for position, name in ids.items()}) for word in words]


def forms_of(name: str, command: click.Command) -> tuple[str, ...]:
    """Return the formats that a command writes; those of files by their extension."""
    if name.startswith("plot "):
        return tuple(f".{extension}" for extension in EXTENSIONS)
    chosen = [
        extension.type.choices
        for extension in command.params
        if extension.name == "output_format" and isinstance(extension.type, click.Choice)
    ]
    return tuple(map(str, chosen[0])) if chosen else (".html",) if name == "report" else ("",)


def collection(odd: dict[str, bytes]) -> None:
    """Write runs, judgments, a click log and files derived from them to the current folder; `odd` are the tested
    ids."""
    documents, topics = [odd["docno"], b"d1", b"d2", b"d3", b"d4"], [odd["topic"], b"1", b"2" + odd["topic"], b"3"]
    grades = [3, 0, 2, 1, None]
    judged = [(t, d, grades[(i + j) % 5]) for i, t in enumerate(topics) for j, d in enumerate(documents)]
    qrels = b"".join(b"%b 0 %b %d\n" % one for one in judged if one[2] is not None)
    Path("qrels").write_bytes(qrels)
    Path("second.qrels").write_bytes(qrels.replace(b" 3\n", b" 2\n"))
    names = [f"{os.fsdecode(name)}.run" for name in (odd["run"], b"b", b"c" + odd["run"])]
    for shift, name in enumerate(names):
        ranks = [(t, documents[(shift * i + j) % 5], 5 - j) for i, t in enumerate(topics) for j in range(5)]
        Path(name).write_bytes(b"".join(b"%b Q0 %b 0 %d %b\n" % (*one, odd["tag"]) for one in ranks))
    Path("groups").write_bytes(b"%b.run %b\nb.run x\nc%b.run x\n" % (odd["run"], odd["run"], odd["run"]))
    lists = [b" ".join([*documents[n:], *documents[:n]]) for n in range(5)]
    log = [(t, 1 + n % 3, lists[n], odd["topic"]) for n in range(5) for t in topics for _ in range(5)]
    Path("log").write_bytes(b"topic\tclicks\tshown\tuser\n" + b"".join(b"%b\t%d\t%b\t%b\n" % one for one in log))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gradedeval.EvaluationWarning)
        scores = gradedeval.evaluate(names, "qrels", "err@5 ndcg", residuals=True, record="record.json")
    scores.frame.to_csv("saved.csv", index=False, errors="surrogateescape")
    for label in ("first", "second"):
        gradedeval.append_history(scores, "history", label=label)
    grown = Path("history")
    grown.write_bytes(dated(grown.read_bytes()))
