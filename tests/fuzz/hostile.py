"""Numbers, expressions and brackets of hostile sizes: a result or one line, and neither takes long."""

import json
import random
import time
from pathlib import Path
from typing import Any

from fuzz import command
from fuzz.case import Case, Kind
from fuzz.scores import SCALES, some_measure
from support.numbers import ENTRY, WORDS, options, write_files

MOST_SECONDS = 30
"""Processor seconds: more of them grow faster than the size of the input."""
DIGITS = [1, 2, 17, 18, 19, 20, 40, 308, 309, 310, 400, 640, 4299, 4300, 4301, 5000, 100_000]
DEEP = [2, 3, 50, 99, 100, 101, 500, 990, 1000, 1100, 5000, 50_000]
SIGNS = ["", "", "", "", "+", "-", "--", " "]


def number(dice: random.Random) -> str:
    """Return a number as no sane user writes it."""
    digits = dice.choice("123456789") + dice.choice(["0", "9", "1"]) * (dice.choice(DIGITS) - 1)
    form = dice.randrange(8)
    if form == 0:
        return dice.choice(["nan", "inf", "-inf", "", "0x10", "1_0", "１２", "٣", "1e", ".", "1e5e5", "True", "null"])
    if form == 1:
        power = dice.choice([5, 17, 300, 307, 308, 309, 400, 10**9])
        digits = f"{dice.randrange(1, 10)}e{dice.choice(['', '-', '+'])}{power}"
    elif form == 2:
        digits = f"0.{'0' * dice.choice(DIGITS)}{digits[:30]}"
    elif form == 3:
        digits = f"{digits}.{digits[:30]}"
    return dice.choice(SIGNS) + digits


PARAMETERS = [
    "rbp(p={})", "insq(T={})", "inst(T={})", "tbg(h={})", "u(L={})", "npv(rate={})", "set(beta={})@5", "bpm(T={})",
    "bpm(K={})", "ift(T={},b1=1,R1=2)", "ift(A={},b2=1,R2=2)", "nerr10(phi={})", "nerr11(T={})", "zipf(beta={})@9",
    "poisson(alpha={})", "logharmonic(b={})@9", "dcg(log={})", "q(beta={})", "ap(rel={})", "err(gain=0:{}:1:1)",
    "ndcg(gain=0:1:2:{})", "gap(g={}:1:1)", "cascade(gamma={})", "rbp(horizon={})", "iprec(recall={})", "p@{}",
    "err@{}", "rbp@{}", "uniform@{}", "sdcg@{}", "nerr9@{}", "map_cut_{}", "P.{},5", "ndcg-l{}", "set_F.{}",
    "utility.{},1,0,0", 'cwl(C="{}*r")', 'cwl(C="phi*(1-r)",phi={})', 'cwl(C="1-1/(i+{})")@9', "rbp.{}",
    'ndcg(gain="1={}")', "alpha_ndcg(alpha={})@5", "compat(p={})", "bpref(k={})",
]  # fmt: skip
REPEATED = [
    *("(", ")", "ia(", "IA:", "ap,", "a=", ":", "@1", "1:", ",", '"', "'", "{", "}", "=", " ", "1", "x", "-l1"),
    *(".5,", "é"),
]


def expression(dice: random.Random) -> str:
    """Return a measure with a hostile number, of a hostile depth or of a hostile length."""
    form = dice.randrange(6)
    if form < 3:
        return dice.choice(PARAMETERS).format(number(dice))
    text, deep = some_measure(dice, dice.choice(SCALES)), dice.choice(DEEP)
    if form == 3:
        opening = dice.choice(["ia(", "(", "ia(ap,", "cwl(C=(", 'cwl(C="(', "ap(x={"])
        return opening * deep + text + dice.choice([")", ")", '")', ""]) * deep
    if form == 4:
        listed = ":".join([dice.choice(["0", "1", "0.5", "1e308"])] * dice.choice([3, 100, 2000, 2100, 30_000]))
        return dice.choice(["ndcg(gain={})", "gap(g={})", "iprec_avg(recall={})", "dcg:gain={}@5"]).format(listed)
    position = dice.randrange(len(text) + 1)
    return text[:position] + dice.choice(REPEATED) * deep + text[position:]


def nested(dice: random.Random, inside: str) -> str:
    deep = dice.choice(DEEP)
    return dice.choice(["[", '{"a":', "["]) * deep + inside + dice.choice(["]", "}", ""]) * deep


def hostile_json(dice: random.Random) -> tuple[str, bytes]:
    """Return the name of a file and its content: JSON in which a value is a number or brackets of a hostile size."""
    value = number(dice) if dice.random() < 0.6 else nested(dice, "1")
    history = {**ENTRY, "scores": {"ap": {"score": "@", "topics": 3}}}
    scores = [{"run": run, "topic": topic, "measure": "ap", "score": "@"} for run in "ab" for topic in "123"]
    forms: dict[str, Any] = {
        "a.run": dice.choice([{"1": {"d1": "@"}}, [{"topic": "1", "docno": "d1", "score": "@"}], {"topic": "@"}]),
        "qrels": dice.choice([{"1": {"d1": "@", "d2": 1}}, [{"topic": "1", "docno": "d1", "grade": "@"}]]),
        "history.jsonl": history,
        "saved.json": {"signature": "x", "rows": scores},
        "log.tsv": {"topic": "1", "shown": ["d1", "d2"], "clicks": ["@"]},
        "model.json": {"model": "pbm", "tie": "grade", "attractiveness": {"0": 0.5}, "examination": ["@"]},
    }
    name = dice.choice(list(forms))
    # Spoilt once, or everywhere; a second line makes JSON Lines of it.
    text = json.dumps(forms[name]).replace('"@"', value, dice.choice([1, -1])).replace('"@"', "1")
    return name, (f"{text}\n" * dice.choice([1, 1, 2])).encode("utf-8", "surrogateescape")


def draw(dice: random.Random) -> Case:
    form = dice.randrange(3)
    files: dict[str, bytes] = {}
    if form == 0:
        words = [
            "a.run",
            "qrels",
            "-m",
            expression(dice),
            *dice.choice([[], ["--residuals"], ["--bounds"], ["-f", "json"]]),
        ]
        words = dice.choice([words, words, ["weights", "-m", words[3], "--ranks", "3"], ["measures", words[3]]])
    elif form == 1:
        name, values = dice.choice(list(options()))
        words = [
            *name.split(),
            *WORDS[name].replace("'", "").replace("ap err", "ap").split(),
            values.flag,
            number(dice),
        ]
        if values.flag.startswith("--"):
            words[-2:] = [f"{values.flag}={words[-1]}"]
    else:
        name, content = hostile_json(dice)
        files = {name: content}
        words = {
            "saved.json": ["compare", "--from-scores", "saved.json", "--draws", "20"],
            "history.jsonl": ["history", "history.jsonl", "-f", dice.choice(["table", "json"])],
            "model.json": ["clicks", "simulate", "a.run", "qrels", "--model-from", "model.json", "--sessions", "5"],
            "log.tsv": ["clicks", dice.choice(["observe", "measures", "models"]), "log.tsv"],
        }.get(name, ["a.run", "qrels", "-m", "ap err", *dice.choice([[], ["--lenient"]])])
    return Case(files, (), {}, {"words": [word.replace("\0", "") for word in words]})


def check(case: Case, folder: Path) -> str | None:
    write_files(folder)
    case.write(folder)
    begin = time.process_time()
    outcome = command.run(case.more["words"], folder, warn=True)
    seconds = time.process_time() - begin
    if wrong := command.unclean(outcome, case.more["words"][0]):
        return wrong
    if seconds > MOST_SECONDS:
        return f"slow: {seconds:.0f} s"
    longest = max(map(len, outcome.messages), default=0)
    return f"a message of {longest} characters" if longest > 10_000 else None


HOSTILE = Kind(draw, check, weight=1)
