"""The short signature below tables for people: omitted settings follow from the others."""

import itertools
import random
import re
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import MEASURES, InputError, parse_measures
from gradedeval.kernel.options import OPTIONS, resolve_options
from gradedeval.kernel.scoring.evaluate import evaluate_runs
from gradedeval.kernel.scoring.signature import INTERVAL, short
from support.commands import Command
from support.measures import VARIANTS

VALUES: dict[str, list[Any]] = {
    "depth": [3, 5],
    "gain": ["exp", "ntcir", "0:0.1:0.5:1", "0:0.1:0.5:0.9", "grade", "@gains"],
    "rel": [1, 2, 2.0000001],
    "top_grade": [3, 4, 3.0000001],
    "costs": ["costs"],
    "fill": ["fill"],
    "max_residual": [0.4, 0.40000001],
    "unseen": [1, "inf"],
    "interval": [0.9, 0.9000000000001],
    "run_format": ["trec", "topic,rank,docno,score,q0,tag"],
    "qrels_format": ["trec", "topic,q0,docno,grade"],
    "labels": ["Rel=1,HRel=3", "Rel=1,HRel=2"],
    "topics_from": ["topics"],
}
"""Values of the options that have no choices, the files among them in the folder of the collection."""
NEVER = {"extra_fields", "given", "max_gain"}
"""Settings without an option."""
VERSIONS = ("one", "two")
QRELS = ("qrels", "capped", "worded", "sampled")
FILES = ("costs", "fill", "topics_from")
INCOMPLETE = ("cwl", "ddm", "wp", "zipf")
LISTED = " ".join(
    [
        *(f"{name}@5" if measure.definition.cutoff == "required" else name for name, measure in MEASURES.items()
          if name not in INCOMPLETE),
        "zipf@5 map P_10 ndcg_cut_5 ap(rel=2) p(rel=1)@5 ndcg(gain=exp)@5 ndcg(gain=linear)@5 rbp(p=0.8)",
    ]
)  # fmt: skip
LISTED += " wp(file=weights) wp(file=weights,rel=2)@3"
"""All measures by their own names, and some by others or with the parameters that are the defaults."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make runs, qrels of four kinds, and files of options in two folders, under equal names with different content."""
    draw, home = random.Random(5), tmp_path_factory.mktemp("collection")
    for version in VERSIONS:
        (home / version).mkdir()
    ties = [[f"{t} {draw.choice('ab')} d{d} {draw.randrange(9)} {draw.randrange(5)}" for d in range(9)] for t in "1234"]
    (home / "a.run").write_text("".join(f"{line} t\n" for lines in ties for line in lines))
    (home / "b.run").write_text("".join(f"{line} t\n" for lines in ties[:3] for line in reversed(lines)))
    judged = [(t, n % 3, f"d{d}", draw.choice([-1, 0, 0, 1, 2, 3])) for t in "12345" for n, d in enumerate(range(12))]
    judged = [row for row in judged if row[2] not in ("d1", "d4")]
    words = {-1: "NRel", 0: "NRel", 1: "Rel", 2: "Rel", 3: "HRel"}
    (home / "qrels").write_text("".join(f"{t} {i} {d} {g}\n" for t, i, d, g in judged))
    (home / "capped").write_text("".join(f"{t} {i} {d} {min(g, 2)}\n" for t, i, d, g in judged))
    (home / "worded").write_text("".join(f"{t} {i} {d} {words[g]}\n" for t, i, d, g in judged))
    (home / "sampled").write_text("".join(f"{t} {i} {d} s{d[-1]} {g}\n" for t, i, d, g in judged))
    for file, *versions in (
        ("weights", "1,0.5\n2,0.5\n", "1,0.5\n2,0.25\n3,0.25\n"),
        ("gains", "0,0\n1,0.2\n2,0.5\n3,1\n", "0,0\n1,0.2\n2,0.4\n3,1\n"),
        ("costs", "a 1\nb 2\n", "a 1\nb 3\n"),
        ("fill", "1,d1,0.5\n2,d4,0.3\n", "1,d1,0.6\n2,d4,0.3\n"),
        ("topics", "1\n2\n", "1\n3\n"),
    ):
        for version, content in zip(VERSIONS, versions, strict=True):
            (home / version / file).write_text(content)
    return home


def settings() -> list[dict[str, Any]]:
    """Return every option with each of its values, each preset with some options, and pairs of options."""
    singles = [
        {name: value}
        for name, described in OPTIONS.items()
        if name not in NEVER
        for value in (*described.choices, *VALUES.get(name, []), *([True] if described.is_flag else []))
    ]
    draw = random.Random(11)
    pairs = [
        {**first, **second} for first, second in itertools.combinations(singles, 2) if first.keys() != second.keys()
    ]
    liked = [pair for pair in pairs if pair.keys() & {"like"} and pair.keys() & {"gain", "rel", "top_grade", "topics"}]
    return [{}, *singles, *liked, *draw.sample(pairs, 40)]


def evaluate_quietly(run: Path, qrels: Path, measures: str, changes: dict[str, Any]) -> gradedeval.Scores | None:
    """Evaluate one run; return None if the options exclude each other."""
    try:
        options = resolve_options(**{"duplicates": "first", **changes})
        return evaluate_runs({run.name: str(run)}, str(qrels), parse_measures(measures), options, by_topic=True)
    except InputError:
        return None


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")
def test_different_numbers_never_have_equal_short_signatures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the short signature of a run and a measure decides all numbers, and the full one the short."""
    by_signature: dict[tuple[str, str, str, str], str] = {}
    shorts: dict[str, str] = {}
    walked = 0
    for options, version in itertools.product(settings(), VERSIONS):
        pairs = (("a.run", "qrels"), *(("b.run", name) for name in QRELS[1:] if len(options) < 2))
        if version != VERSIONS[0] and not (options.keys() & set(FILES) or "@gains" in options.values()):
            pairs = pairs[: not options]
        monkeypatch.chdir(folder / version)
        for run, qrels in pairs:
            measures = LISTED if options else f"{LISTED} {' '.join(map(str, VARIANTS))}"
            scores = evaluate_quietly(folder / run, folder / qrels, " ".join(dict.fromkeys(measures.split())), options)
            if scores is None:
                continue
            walked += 1
            assert shorts.setdefault(scores.signature, short(scores.signature)) == short(scores.signature)
            numbers: dict[str, list[Any]] = {}
            for row in scores.rows():
                numbers.setdefault(row.measure, []).append(row[3:])
            for label, values in numbers.items():
                key = (run, label, short(scores.signatures[run, label]), ",".join(scores.columns))
                assert by_signature.setdefault(key, repr(values)) == repr(values), (options, qrels, key)
    assert walked > 200


def test_the_short_signature_omits_defaults() -> None:
    run, qrels = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 2, "b": 0}}

    def short_signature(measures: str, **options: Any) -> str:
        return short(gradedeval.evaluate(run, qrels, measures, **options).signature).partition(" | ")[2]

    assert re.fullmatch(
        r"qrels \w+ \| ndcg: exp gains", short_signature("err@20 map gap rbp(p=0.9) ndcg(gain=exp) P_10")
    )
    changed = short_signature("err@20 map ndcg P_10", gain="exp", ties="docno-desc")
    assert re.fullmatch(r"qrels \w+ \| names ndcg = ndcg\(gain=exp\) \| ndcg: exp gains", changed)
    assert short_signature("err@20", order="file").endswith(" | order file")
    assert short_signature("err@20", top_grade=2) == short_signature("err@20")
    assert ", top 3" in short_signature("err@20", top_grade=3)


def test_the_signature_of_another_version_stays_whole() -> None:
    interval = f"gradedeval {gradedeval.__version__} | qrels 0123ab, grades 0..1, top 1 | 95% {INTERVAL}"
    assert short(interval).endswith(" | qrels 0123ab | 95% interval")
    line = "gradedeval 0.0.9 | qrels 0123ab, grades 0..2, top 2 | topics 5 of 5 | ties docno-desc | err: exp gains"
    assert short(line) == line
    assert short(line.replace("0.0.9", gradedeval.__version__)) == f"gradedeval {gradedeval.__version__} | qrels 0123ab"
    both = f"randomization, 10 draws\nvalidated on {line}"
    assert short(both) == both


MINE = "import gradedeval\n\n\n@gradedeval.measure(per_topic=True)\ndef mine(grades):\n    return sum(grades[:{}])\n"


def test_a_measure_of_other_code_has_another_signature_and_is_not_compared(tmp_path: Path, cli: Command) -> None:
    run, qrels = {"t": {f"d{rank}": -rank for rank in range(9)}}, {"t": {f"d{rank}": 1 for rank in range(9)}}
    evaluations = []
    for number in (5, 7):
        (file := tmp_path / f"my{number}.py").write_text(MINE.format(number))
        measures = [gradedeval.load_measures(file)["mine"], "ap"]
        scores = gradedeval.evaluate({f"run {number}": run}, qrels, measures)
        assert re.search(r" \| code of mine [0-9a-f]{6}$", short(scores.signature))
        evaluations.append(scores)
    assert short(evaluations[0].signature) != short(evaluations[1].signature)
    for number, scores in enumerate(evaluations):
        scores.frame.to_csv(tmp_path / f"{number}.csv", index=False)
    saved = [word for number in range(2) for word in ("--from-scores", f"{number}.csv")]
    outcome = cli("compare", *saved)
    assert outcome.code == 2
    assert "1.csv: mine of 'run 7' is scored with code of mine" in outcome.messages[-1]
