"""Write the sample files: the worked examples, and the synthetic collections `rivers` and `ambiguous` with their runs.

    python qrels_samples/make.py [DIR]

writes them to DIR, by default the folder of this file. The same bytes come out every time: all randomness is
`random.Random(text).random()`, which Python promises never to change, and beyond it there is only addition,
multiplication and rounding. That is why nothing here calls `gauss`, `sample` or `shuffle`, and why sums go through
`fsum` (the built-in `sum` of floats rounds differently since Python 3.12).
"""

from __future__ import annotations

import argparse
import gzip
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from random import Random

Ranking = Sequence[tuple[str, str]]
"""Documents with their scores as printed, best first."""

CORPUS = 2400
TOPICS = range(301, 351)
WITHOUT_RELEVANT = frozenset({317, 341})
SPAM = -2
SAMPLED = 0.12
"""The share of the candidates that are judged whoever retrieves them."""
GRADES_OF_100 = (1,) * 48 + (2,) * 28 + (3,) * 16 + (4,) * 8
"""The grades among a hundred relevant documents."""


@dataclass(frozen=True)
class System:
    """A retrieval system: what it makes of a document, and how it prints it.

    skill     how far one grade lifts a document, in standard deviations of the system's own error
    words     weight of the luck that all word-matching systems share
    vectors   weight of the luck that all embedding systems share
    gullible  how far spam lifts a document
    depth     documents retrieved for each topic
    pooled    how many of its best documents the assessors see
    origin, step, digits   score = origin + step × belief, printed with so many decimals; few decimals make ties
    lacks     topics without an answer
    """

    skill: float
    words: float
    vectors: float
    gullible: float
    depth: int
    pooled: int
    origin: float
    step: float
    digits: int
    lacks: frozenset[int] = frozenset()


SYSTEMS = {
    "manual": System(2.1, 0.3, 0.3, 0.0, 50, 16, 50.0, 5.0, 2),
    "neural": System(1.4, 0.2, 0.8, 0.0, 80, 17, -1.5, 2.25, 6),
    "bm25-rm3": System(0.85, 1.0, 0.0, 0.8, 100, 18, 14.0, 3.5, 4),
    "bm25": System(0.7, 1.0, 0.0, 0.8, 100, 18, 11.0, 3.0, 1),
    "dense": System(0.4, 0.0, 1.0, 0.3, 60, 8, 0.5, 0.0625, 4, frozenset({333})),
    "random": System(0.0, 0.0, 0.0, 0.0, 100, 0, 20.0, 4.0, 0),
}
"""By tag, the best first."""


@dataclass(frozen=True)
class Candidate:
    """A document that might answer a topic: its true grade, and the luck it has with each family of systems."""

    docno: str
    grade: int
    words: float
    vectors: float


def bell(rng: Random) -> float:
    """A number that is normal to the eye: mean 0, deviation 1, never beyond ±6."""
    return fsum(rng.random() for _ in range(12)) - 6


def candidates(topic: int) -> list[Candidate]:
    """The documents among which every system chooses, a few of them relevant and a few of them spam."""
    rng = Random(f"rivers, topic {topic}")
    size = 240 + int(120 * rng.random())
    # Squared, so that most topics have few relevant documents and some have many.
    relevant = 0 if topic in WITHOUT_RELEVANT else 5 + int(40 * rng.random() * rng.random())
    spam = 2 + int(6 * rng.random())
    grades = [GRADES_OF_100[int(100 * rng.random())] for _ in range(relevant)] + [SPAM] * spam
    grades += [0] * (size - len(grades))
    numbers = sorted(range(1, CORPUS + 1), key=lambda _: rng.random())[:size]
    return [
        Candidate(f"river-{number:04}", grade, bell(rng), bell(rng))
        for number, grade in zip(numbers, grades, strict=True)
    ]


def retrieve(tag: str, topic: int, documents: Iterable[Candidate]) -> Ranking:
    """What a system answers. Tied documents stand in the order of their unrounded scores, as in the runs of engines."""
    system, rng = SYSTEMS[tag], Random(f"rivers, topic {topic}, {tag}")
    if topic in system.lacks:
        return []
    # On some topics all systems do worse than on others, but not equally so.
    ease = 0.6 + 0.8 * rng.random()
    beliefs = []
    for document in documents:
        merit = system.gullible if document.grade == SPAM else system.skill * ease * document.grade
        luck = system.words * document.words + system.vectors * document.vectors
        beliefs.append((merit + luck + bell(rng), document.docno))
    best = sorted(beliefs, reverse=True)[: system.depth]
    return [(docno, f"{system.origin + system.step * belief:.{system.digits}f}") for belief, docno in best]


def pool(topic: int, documents: Iterable[Candidate], rankings: Mapping[str, Ranking]) -> dict[str, int]:
    """The judged documents of a topic with their grades: the best of each system, and a sample of all candidates."""
    rng = Random(f"rivers, topic {topic}, pool")
    judged = {docno for tag, ranking in rankings.items() for docno, _ in ranking[: SYSTEMS[tag].pooled]}
    judged |= {document.docno for document in documents if rng.random() < SAMPLED}
    return {document.docno: document.grade for document in documents if document.docno in judged}


def run_lines(topic: object, ranking: Ranking, tag: str) -> list[str]:
    """`topic Q0 docno rank score tag`, ranks from 1."""
    return [f"{topic} Q0 {docno} {rank} {score} {tag}" for rank, (docno, score) in enumerate(ranking, 1)]


def qrels_lines(topic: object, grades: Mapping[str, int]) -> list[str]:
    """`topic iteration docno grade`, by docno."""
    return [f"{topic} 0 {docno} {grades[docno]}" for docno in sorted(grades)]


def rivers() -> dict[str, list[str]]:
    """The synthetic collection: file names with their lines."""
    qrels: list[str] = []
    runs: dict[str, list[str]] = {tag: [] for tag in SYSTEMS}
    for topic in TOPICS:
        documents = candidates(topic)
        rankings = {tag: retrieve(tag, topic, documents) for tag in SYSTEMS}
        qrels += qrels_lines(topic, pool(topic, documents, rankings))
        for tag, ranking in rankings.items():
            runs[tag] += run_lines(topic, ranking, tag)
    # One run is compressed, to show that nothing has to be unpacked.
    suffix = {"random": ".run.gz"}
    return {"rivers.qrels": qrels} | {f"rivers-{tag}{suffix.get(tag, '.run')}": lines for tag, lines in runs.items()}


AMBIGUOUS = range(401, 409)
RETRIEVED_OF_AMBIGUOUS = 20


@dataclass(frozen=True)
class Meant:
    """A document of an ambiguous topic: its grade for each intent to which it is relevant, and the luck it has."""

    docno: str
    grades: Mapping[int, int]
    luck: float


def popularity(topic: int) -> list[float]:
    """How many users mean each intent of a topic, as shares with two digits: the first intent is the commonest."""
    rng = Random(f"ambiguous, topic {topic}")
    weights = [1 / (rank + rng.random()) for rank in range(1, 3 + int(4 * rng.random()))]
    shares = [round(weight / fsum(weights), 2) for weight in weights]
    return [round(1 - fsum(shares[1:]), 2), *shares[1:]]


def meant(topic: int, intents: int) -> list[Meant]:
    """The documents of an ambiguous topic. One in four is relevant, more of them to the commoner intents."""
    rng = Random(f"ambiguous, topic {topic}, documents")
    documents = []
    for number in range(1, 61):
        grades = {}
        for intent in range(1, intents + 1):
            if rng.random() < 0.25 / intent:
                grades[intent] = 1 + int(3 * rng.random() * rng.random())
        documents.append(Meant(f"page-{topic}-{number:02}", grades, bell(rng)))
    return documents


def worth(document: Meant, shares: Sequence[float], seen: Mapping[int, int]) -> float:
    """What a system believes a document to be worth to all users, after so many documents for each intent."""
    useful = fsum(grade * shares[intent - 1] * 0.5 ** seen.get(intent, 0) for intent, grade in document.grades.items())
    return useful + 0.1 * document.luck


def diversified(documents: Sequence[Meant], shares: Sequence[float], novelty: bool) -> Ranking:
    """The best documents in order; with `novelty`, each chosen for what the ones before it lack."""
    seen: dict[int, int] = {}
    left, ranking = list(documents), []
    for rank in range(RETRIEVED_OF_AMBIGUOUS):
        best = max(left, key=lambda document: worth(document, shares, seen))
        left.remove(best)
        ranking.append((best.docno, f"{RETRIEVED_OF_AMBIGUOUS - rank}"))
        for intent in best.grades if novelty else ():
            seen[intent] = seen.get(intent, 0) + 1
    return ranking


def ambiguous() -> dict[str, list[str]]:
    """The collection of topics with several intents: file names with their lines."""
    qrels: list[str] = []
    prior: list[str] = []
    runs: dict[str, list[str]] = {"plain": [], "diverse": []}
    for topic in AMBIGUOUS:
        shares = popularity(topic)
        documents = meant(topic, len(shares))
        rng = Random(f"ambiguous, topic {topic}, pool")
        for document in documents:
            if rng.random() < 0.8:
                # A document that is relevant to nobody is judged once, for subtopic 0, and may be spam.
                grades = document.grades or {0: SPAM if rng.random() < 0.1 else 0}
                qrels += [f"{topic} {intent} {document.docno} {grade}" for intent, grade in grades.items()]
        prior += [f"{topic} {intent} {share}" for intent, share in enumerate(shares, 1)]
        for tag, lines in runs.items():
            lines += run_lines(topic, diversified(documents, shares, novelty=tag == "diverse"), tag)
    files = {"ambiguous.qrels": qrels, "ambiguous.prior": prior}
    return files | {f"ambiguous-{tag}.run": lines for tag, lines in runs.items()}


def example(
    name: str, about: str, topic: str, grades: Mapping[str, int], retrieved: Sequence[str]
) -> dict[str, list[str]]:
    """A worked example of one topic: its qrels and its run, each with a comment that says what it is."""
    ranking = [(docno, str(len(retrieved) - above)) for above, docno in enumerate(retrieved)]
    return {
        f"{name}.qrels": [f"# {about}: the judgments", *qrels_lines(topic, grades)],
        f"{name}.run": [f"# {about}: the ranking", *run_lines(topic, ranking, "example")],
    }


def worked_examples() -> dict[str, list[str]]:
    """The examples that can be checked by hand: file names with their lines."""
    err = {"grade-3": 3, "grade-2": 2, "grade-4": 4}
    four = {"a": 3, "b": 0, "c": 1, "d": 2}
    zhang = {f"rank-{rank:02}": int(rank in (2, 5, 6, 13, 20)) for rank in range(1, 21)}
    return (
        example("err-worked-example", "Grades 3, 2, 4 on a scale of 0 to 4", "3-2-4", err, list(err))
        | example("four-documents", "Four judged documents, d missed, u and n unjudged", "abcd", four, [*"aucnb"])
        | example("zhang-ranks", "Relevant at ranks 2, 5, 6, 13 and 20 of 20", "5-of-20", zhang, list(zhang))
    )


def result_page() -> dict[str, list[str]]:
    """Two topics whose results are pages, videos and an advertisement: column 2 of the run says which."""
    shown = {
        "jazz": [("page", "a", 1), ("video", "b", 2), ("ad", "c", None), ("page", "d", 2), ("page", "e", 0)],
        "rock": [("ad", "f", 0), ("page", "g", 2), ("video", "h", None), ("page", "i", 1)],
    }
    run, qrels = [], []
    for topic, results in shown.items():
        for rank, (kind, docno, grade) in enumerate(results, 1):
            run.append(f"{topic} {kind} {docno} {rank} {10 - rank} page")
            qrels += [] if grade is None else [f"{topic} 0 {docno} {grade}"]
    costs = ["# seconds that a user looks at each type of result", "page 20", "video 60", "ad 5"]
    return {"result-page.run": run, "result-page.qrels": qrels, "result-page.costs": costs}


def attention() -> dict[str, list[str]]:
    """Weights of the first ten ranks, and chances of going on from the first four."""
    weights = ("0.4", "0.2", "0.15", "0.1", "0.05", "0.04", "0.03", "0.02", "0.005", "0.005")
    chances = ("0.7", "0.8", "0.85", "0.9")
    return {
        f"{name}.csv": [f"rank,{column}", *(f"{rank},{value}" for rank, value in enumerate(values, 1))]
        for name, column, values in (("attention", "weight", weights), ("chances", "C", chances))
    }


SATISFIES = {0: 0.05, 1: 0.1, 2: 0.3, 3: 0.6, 4: 0.8}


def clicks() -> dict[str, list[str]]:
    """Logs of clicks: of users who go down the first five documents of a list until one satisfies them, each click as
    often as is expected; and the example of Zhang et al., with other users who make its gaps and pages."""
    lines = ["topic\tkind\tclicks\tshown\tcount"]
    for number, topic in enumerate(TOPICS[:30]):
        documents = candidates(topic)
        rankings = {tag: retrieve(tag, topic, documents) for tag in SYSTEMS}
        grades = pool(topic, documents, rankings)
        for tag in ("bm25", "neural", "manual"):
            shown = [docno for docno, _ in rankings[tag][:5]]
            looking = 400 // (number + 1) + 20.0
            for rank, docno in enumerate([*shown, ""], 1):
                stopping = SATISFIES[max(grades.get(docno, 0), 0)] if docno else 1.0
                if count := round(looking * stopping):
                    kind = "navigational" if number % 3 == 0 else "informational"
                    lines.append(f"{topic}\t{kind}\t{rank if docno else '-'}\t{' '.join(shown)}\t{count}")
                looking -= looking * stopping
    example = ["topic\tclicks\tuser\tcount", "A\t1 5 6\tann\t1", "B\t2 4 10\tann\t1"]
    others = {"3": 48, "1 3 7 13": 20, "3 7 12 19": 16, "4 9 16": 6, "3 6 10 16": 1}
    example += [f"C\t{ranks}\t\t{count}" for ranks, count in others.items()]
    return {"rivers-clicks.tsv": lines, "zhang-clicks.tsv": example}


def compressed(data: bytes) -> bytes:
    """Gzip without time and file name. `gzip.compress` will not do: its header varies between Python versions."""
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as file:
        file.write(data)
    return packed.getvalue()


ASKED = ("length of the", "source of the", "dams on the", "floods of the", "fish in the")
RIVERS = ("Amazon", "Danube", "Elbe", "Ganges", "Loire", "Mekong", "Nile", "Rhine", "Volga", "Yukon")


def queries() -> dict[str, Iterable[str]]:
    """The topics of `rivers`: text, what is asked for (a fact, or all that there is), and one or two languages."""
    rows = []
    for number, topic in enumerate(TOPICS):
        asked, river = ASKED[number % len(ASKED)], RIVERS[number * 3 % len(RIVERS)]
        intent = "fact" if number % len(ASKED) < 2 else "survey"
        language = "en|de" if number % 7 == 0 else "en" if number % 3 else "de"
        rows.append(f"{topic}\t{asked} {river}\t{intent}\t{language}")
    return {"rivers-queries.tsv": ["topic\tquery\tintent\tlanguage", *rows]}


def main() -> None:
    """Write all files to the folder named, or beside this one."""
    parser = argparse.ArgumentParser(description="Write the sample qrels and runs.")
    parser.add_argument("folder", metavar="DIR", nargs="?", type=Path, default=Path(__file__).parent)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    files = worked_examples() | result_page() | attention() | rivers() | ambiguous() | clicks() | queries()
    for name, lines in files.items():
        data = "".join(f"{line}\n" for line in lines).encode()
        (folder / name).write_bytes(compressed(data) if name.endswith(".gz") else data)


if __name__ == "__main__":
    main()
