"""Every source of a measure has an entry of BibTeX, and every entry is one that BibTeX reads."""

import re
from pathlib import Path

import pytest

from gradedeval import MEASURES
from gradedeval.kernel.measures import description
from gradedeval.kernel.measures.definition import status_of
from gradedeval.kernel.measures.description import Description, cited_in, references
from support.commands import Command

SOURCES = {name: " ".join(measure.definition.paragraphs[2].split()) for name, measure in MEASURES.items()}
REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "book": {"author", "title", "publisher", "year"},
    "techreport": {"author", "title", "institution", "year"},
    "misc": {"author", "title", "howpublished"},
}
OTHER_YEARS = re.compile(r"of October 2011|TREC 2007 Million Query track")
"""A version of a script, and a track without a paper."""


def fields(entry: str) -> dict[str, str]:
    """Return the fields of an entry; fail on a malformed entry."""
    match = re.fullmatch(r"@(\w+)\{(\w+),\n((?:.*\n)*?)\}\n", entry)
    assert match is not None, entry
    parts = re.split(r",\n(?=  \w)", match[3].rstrip("\n"))
    contents = {}
    for part in parts:
        name, value = re.fullmatch(r"  (\w+) *= \{(.*)\}", part, re.DOTALL).groups()  # type: ignore[union-attr]
        depth = 0
        for mark in re.findall(r"[{}]", value):
            depth += 1 if mark == "{" else -1
            assert depth >= 0, part
        assert depth == 0, part
        assert name not in contents, entry
        contents[name] = value
    assert REQUIRED[match[1]] <= contents.keys(), entry
    return contents


@pytest.mark.parametrize("reference", references(), ids=lambda reference: reference.text.partition(",")[0])
def test_an_entry_is_well_formed_and_is_cited(reference: tuple[tuple[str, ...], str]) -> None:
    cited, text = reference
    entry = fields(text)
    assert text.isascii()
    assert re.fullmatch(r"\d{4}", entry.get("year", "2000"))
    assert re.fullmatch(r"10\.\d{4,}/\S+", entry.get("doi", "10.1145/1"))
    assert all(" and " not in name for name in entry["author"].split(" and "))
    for name in cited:
        assert any(name in source for source in SOURCES.values()), name


def test_entries_differ() -> None:
    keys = [reference.text.partition(",")[0] for reference in references()]
    titles = [fields(reference.text)["title"] for reference in references()]
    assert len(set(keys)) == len(keys)
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("name", SOURCES)
def test_every_cited_paper_has_an_entry_of_its_year(name: str) -> None:
    text = OTHER_YEARS.sub("", SOURCES[name])
    for reference in references():
        for cited in sorted(reference.cited, key=len, reverse=True):
            if cited in text:
                year = fields(reference.text).get("year", "")
                assert year in cited or not re.search(r"[12]\d{3}", cited)
                assert reference in cited_in(SOURCES[name])
            text = text.replace(cited, "")
    assert not re.search(r"(19|20)\d\d", text.replace(" and TOIS 2017", "")), text
    if status_of(name) == "common":
        assert Description(MEASURES[name]).bibtex


def test_every_entry_of_the_file_is_read() -> None:
    text = Path(description.__file__).with_name("references.bib").read_text(encoding="utf-8")
    assert text.count("\n@") == len(references())


def test_a_measure_is_cited_by_either_command(cli: Command) -> None:
    entry = "@article{jarvelin2002cumulated,"
    for words in ("help ndcg -f bibtex", "measures nDCG@10 -f bibtex"):
        assert cli(*words.split()).text.startswith(entry)
    assert cli("measures", "-f", "bibtex").text.count(entry) == 1
    assert cli(*["help", "ndcg", "--bibtex"]).messages == [
        "unknown option '--bibtex'; `gradedeval help MEASURE -f bibtex` prints the papers to cite"
    ]


def test_tools_are_cited_in_the_order_of_the_source(cli: Command) -> None:
    assert cli(*["help", "p", "-f", "bibtex"]).text.startswith("@misc{treceval,")
    keys = re.findall(r"^@\w+\{(\w+),", cli(*["help", "map", "-f", "bibtex"]).text, re.MULTILINE)
    assert keys == ["robertson2008new", "zhang2010click", "treceval"]


def test_the_page_of_a_user_defined_measure_names_its_source(cli: Command, tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    lines = ("import gradedeval", "@gradedeval.measure()", "def mine(g):",
             '    """Mine.', "", "    Σ", "", "    Our wiki.", '    """',
             "    return gradedeval.row_sums(g.gain)", "")  # fmt: skip
    plugin.write_text("\n".join(lines), encoding="utf-8")
    done = cli("measures", "mine", "-f", "bibtex", "--measures-from", str(plugin))
    assert done.code == 2
    assert done.messages == ["-f bibtex: no paper is known for 'mine' (Our wiki); cite its source yourself"]
