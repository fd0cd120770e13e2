"""Links of the documentation lead somewhere: to a file of the repository, and to a heading in it."""

import re
from collections import Counter
from pathlib import Path

import pytest

from support.paths import ROOT

FILES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(
        path for folder in ("docs", "examples", "qrels_samples", "tests") for path in (ROOT / folder).rglob("*.md")
    ),
]
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)(?P<target>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.M)


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page that are the same on a code host and on the built site, and
    unique."""
    headings = HEADING.findall(FENCED.sub("", page.read_text(encoding="utf-8")))
    plain = [re.sub(r"[^\w\s-]", "", heading.replace("\\", "")).strip().lower() for heading in headings]
    names = [{re.sub(r"\s", "-", text), re.sub(r"[-\s]+", "-", text)} for text in plain]
    counts = Counter(name for both in names for name in both)
    return {name for both in names if len(both) == 1 for name in both if counts[name] == 1}


@pytest.mark.parametrize("page", FILES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_and_anchor_of_a_page_exists(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", FENCED.sub("", page.read_text(encoding="utf-8")))
    lost = []
    for link in LINK.finditer(text):
        target = (page.parent / link["target"]).resolve() if link["target"] else page
        if not target.exists() or (link["anchor"] and link["anchor"] not in anchors(target)):
            lost.append(link[0])
    assert not lost


def test_every_page_is_reached_from_the_index_and_listed_in_the_site() -> None:
    docs = ROOT / "docs"
    index = docs / "index.md"
    pages = set(docs.rglob("*.md"))
    linked = {(docs / link["target"]).resolve() for link in LINK.finditer(index.read_text(encoding="utf-8"))}
    assert pages - {index} <= linked
    listed = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", (ROOT / ".mkdocs.yml").read_text(encoding="utf-8"), re.M)
    assert {docs / name for name in listed} == pages
