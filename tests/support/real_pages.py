"""The commands of a page on real runs: its sample files replaced, its tables read again, and scores by plain loops."""

import gzip
import re
import statistics
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from support.conformance_measures import Topic, in_doubles, read
from support.paths import DATA, ROOT
from support.sessions import BLOCK, NAMED, WIDTH, commands_of, joined, printed, run_command, with_programs

COVID = DATA / "covid-round1"
QRELS = COVID / "qrels.txt"

REAL = {
    "bm25": "bm25_basline",
    "bm25-rm3": "10x10.prf.unipd.it",
    "neural": "UIUC_DMG_setrank_re",
    "dense": "RUIR-doc2vec",
    "manual": "BBGhelani2",
}
"""The run of a sample -> the real one in its place."""

COLUMNS = {"intent": "relevant", "fact": "few", "survey": "many", "language": "parity"}
"""A column or label of the samples' queries -> that of the real ones: the number of relevant documents, and whether the
number of the topic is odd."""

HOSTILE = (
    "<script>alert(1)</script> & 'single' \"double\"",
    "\x1b[31mred\x1b[0m and \x07 a bell",
    "\u202eright to left\u202c and zero\u200bwidth",
    r"\textbf{bold} 100% of_it #1 $x$ ~ ^ \end{table}",
    "a | pipe ``code`` **strong** [link](https://example.org) <!-- remark -->",
    "=HYPERLINK(1), and, commas; @import",
    "::error title=no::not a command%0A",
    "$(touch stolen) `touch stolen` ; rm -rf nothing && exit 0",
    "冠状病毒的起源是什么 🦠 Ω ἀρχή",
    "coronavirus " * 60 + "end",
    "]]> </testsuite> </script><script>stolen()</script>",
    '"a quote at the start',
)
"""Texts that mean something in a terminal, a page, LaTeX, Markdown, a spreadsheet, a shell or a log."""


@cache
def judged() -> dict[str, dict[str, int]]:
    """Return topic -> document -> grade, in the order of the topics' numbers."""
    qrels: dict[str, dict[str, int]] = {str(topic): {} for topic in range(1, 31)}
    for line in QRELS.read_text().splitlines():
        topic, _, docno, grade = line.split()
        qrels[topic][docno] = int(grade)
    return qrels


@cache
def texts() -> dict[str, str]:
    """Return topic -> its made text: each hostile one is used two or three times."""
    return {topic: HOSTILE[index % len(HOSTILE)] for index, topic in enumerate(judged())}


@cache
def labels() -> dict[str, dict[str, str]]:
    """Return topic -> column -> label."""
    relevant = {topic: sum(grade > 0 for grade in grades.values()) for topic, grades in judged().items()}
    median = statistics.median(relevant.values())
    return {
        topic: {"relevant": "many" if count > median else "few", "parity": "odd" if int(topic) % 2 else "even"}
        for topic, count in relevant.items()
    }


def slice_of(column: str, label: str) -> list[str]:
    return [topic for topic, labels_of_topic in labels().items() if labels_of_topic[column] == label]


def path_of(run: str) -> Path:
    return COVID / "runs" / f"{run}.gz"


@cache
def scores(run: str) -> dict[str, dict[str, float]]:
    """measure -> topic -> score, of a run of the collection by its name: loops over the lines of the files."""
    return scored(gzip.decompress(path_of(run).read_bytes()).decode())


def scored(run: str) -> dict[str, dict[str, float]]:
    """Return the same of the text of a run."""
    retrieved: dict[str, list[tuple[float, str]]] = {topic: [] for topic in judged()}
    for line in run.splitlines():
        topic, _, docno, _, score, _ = line.split()
        retrieved[topic].append((float(score), docno))
    scores_by_measure: dict[str, dict[str, float]] = {}
    for name in ("ndcg@5", "ndcg@10", "ap", "p@20", "err@20"):
        with in_doubles():
            score, scores_by_measure[name] = read(name), {}
            for topic, grades in judged().items():
                ranking = tuple(docno for _, docno in sorted(retrieved[topic], reverse=True))
                scores_by_measure[name][topic] = float(score(Topic(ranking, grades, 2, (1, 2))))
    return scores_by_measure


def mean(run: str, measure: str, topics: list[str] | None = None) -> float:
    scores_of_topics = scores(run)[measure]
    return statistics.fmean(scores_of_topics[topic] for topic in topics or scores_of_topics)


def written_queries(folder: Path) -> Path:
    """Return a table of all topics with text and labels."""
    path = folder / "covid-queries.tsv"
    with path.open("w", encoding="utf-8", newline="\n") as file:
        print("topic", "query", "relevant", "parity", sep="\t", file=file)
        for topic, text in texts().items():
            print(topic, text, labels()[topic]["relevant"], labels()[topic]["parity"], sep="\t", file=file)
    return path


def real_folder(folder: Path) -> Path:
    """Return a reader's folder whose samples are real runs, judgments, and the made queries."""
    (folder / "real").mkdir()
    for name in REAL.values():
        (folder / "real" / f"{name}.run").write_bytes(gzip.decompress(path_of(name).read_bytes()))
    (folder / "real" / "covid.qrels").symlink_to(QRELS)
    written_queries(folder / "real")
    return with_programs(folder)


def on_real_runs(body: str) -> str:
    """Return a block with the names of real files, and of their columns and labels."""
    body = body.replace("qrels_samples/", "real/").replace("rivers.qrels", "covid.qrels")
    body = body.replace("rivers-queries.tsv", "covid-queries.tsv")
    body = re.sub(r"\b(?:rivers-)?(bm25-rm3|bm25|neural|dense|manual)\b", lambda found: REAL[found[1]], body)
    body = re.sub(rf"\b({'|'.join(COLUMNS)})\b", lambda found: COLUMNS[found[1]], body)
    return re.sub(r"rivers-(?=[{*])", "", body)


@dataclass
class Played:
    """A page whose blocks were run.

    commands  each command with its exit code, and what it printed
    names     what the Python blocks defined
    """

    folder: Path
    commands: list[tuple[str, int, str]] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})


def played(page: str, folder: Path) -> Played:
    """Return a page of docs/how-to on the real runs: its blocks run one after the other as the test of the pages
    runs them."""
    played_page = Played(real_folder(folder))
    for block in BLOCK.finditer((ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")):
        body = on_real_runs(block["body"])
        if named := NAMED.match(body):
            (folder / named["name"]).write_text(body, encoding="utf-8")
        if block["kind"] == "console":
            for command in map(joined, commands_of(body)):
                played_page.commands.append((command, *run_command(command, folder)))
        elif block["kind"] == "python":
            printed(body, folder, played_page.names)
    return played_page


def tables(text: str) -> Iterator[list[dict[str, str]]]:
    """Yield the rows of each table of a terminal: heading, a rule, and lines to the next empty one."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if re.fullmatch(r"-+(?:  -+)+", line):
            spans = [match.span() for match in re.finditer(r"-+", line)]
            rows = []
            for row in lines[index + 1 :]:
                if not row.strip():
                    break
                rows.append([row[start:end].strip() for start, end in spans])
            names = [lines[index - 1][start:end].strip() for start, end in spans]
            yield [dict(zip(names, row, strict=True)) for row in rows]


def too_wide(text: str) -> list[str]:
    """Return the lines that a terminal of the pages would break."""
    return [line for line in text.splitlines() if columns(line) > WIDTH]


def columns(line: str) -> int:
    """Return the columns of a terminal: two for a character of East Asia, none for an invisible or combining one."""
    seen = [character for character in line if unicodedata.category(character) not in ("Mn", "Me", "Cf")]
    return len(seen) + sum(unicodedata.east_asian_width(character) in "WF" for character in seen)


def raw(text: str) -> list[str]:
    """Return the characters that would control a terminal, or reverse the text."""
    turns = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return [
        character
        for character in text
        if character not in "\n\t"
        and (unicodedata.category(character) == "Cc" or unicodedata.bidirectional(character) in turns)
    ]
