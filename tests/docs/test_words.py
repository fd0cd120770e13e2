"""Pages and messages use the words of the glossary: one term for one concept."""

import re

from support.paths import ROOT
from support.words import sentences

INSTEAD = {
    r"\bcompletely or not at all\b": "atomically",
    r"\b(what|how|as) (users|everybody|they) look(s|ed)? at\b": "examination",
    r"\blooked at\b": "examined",
    r"\bwhatever\b": "regardless of, at any, no matter how",
    r"\bprecision over recall\b(?! curve)": "precision-recall curve",
    r"\b(less|more) is better\b": "lower or higher is better",
    r"\bneither more nor less\b": "no preferred direction",
    r"\b(is|are) no (number|probability|probabilities|percentage|measure|file)\b": "is not a",
    r"\b(?<!sign )(flips?|flipped|settled|unsettled|conclusive)\b": "reverse, same order",
    r"\bturn(s|ed)? (it )?(a)?round\b": "reverse",
    r"\bgo(es)? by name\b": "ordered by name",
    r"\bthat nobody (judged|read)\b": "unjudged",
    r"\bcounts? as empty\b(?! ranking)": "counts as an empty ranking",
    r"\b(is|are) told\b": "is reported",
    r"\bdirector(y|ies)\b": "folder",
    r"\bdocument ids?\b": "docno",
    r"\bquer(y|ies) ids?\b": "topic",
    r"\bthe nearest first\b": "the closest first",
    r"\bnon-relevant documents? found\b": "retrieved",
    r"\bhow scores went\b": "scores over time",
    r"\bp values?\b": "p-value",
}
"""Pattern -> the term of the field."""

TERMS_OF_OTHERS = re.compile(r"`[^`]*`|query_id|doc_id|working directory")
"""Code, and the names that other tools give their fields."""


def of_messages() -> dict[str, str]:
    """Return place -> a sentence of the source."""
    return {f"{place}: {text[:120]}": TERMS_OF_OTHERS.sub("", text) for place, text in sentences()}


def of_pages() -> dict[str, str]:
    """Return place -> a line of the pages."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return {
        f"{page.relative_to(ROOT)}:{number}: {line[:120]}": TERMS_OF_OTHERS.sub("", line)
        for page in pages
        for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1)
    }


def unwanted_wordings(texts: dict[str, str]) -> list[tuple[str, str]]:
    """Return the places of unwanted wordings, and the term to use."""
    sought = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in INSTEAD.items()]
    return [(place, instead) for pattern, instead in sought for place, text in texts.items() if pattern.search(text)]


def test_messages_and_help_use_the_terms_of_the_field() -> None:
    assert unwanted_wordings(of_messages()) == []


def test_pages_use_them_too() -> None:
    assert unwanted_wordings(of_pages()) == []


def test_such_a_wording_is_found() -> None:
    assert unwanted_wordings({"a": "the directory", "b": "the folder"}) == [("a", "folder")]


def test_the_script_finds_messages_hints_help_and_headings() -> None:
    texts = {sentence.text for sentence in sentences()}
    assert "is not a number" in " ".join(texts)
    assert "if fully judged" in texts  # a heading
    assert any(text.startswith("Rank documents by score;") for text in texts)  # help of an option
    assert any(text.startswith("Expected reciprocal rank") for text in texts)  # help of a measure
