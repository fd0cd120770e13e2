"""HTML pages as tests read them."""

import json
import re
from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """The parts of a page: tags with their attributes, and the texts of tables and scripts.

    tags     each start tag: name, attributes
    tables   caption -> rows of texts of cells
    scripts  id, or tag, of each script and style -> its text
    shown    all other text
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.source = text
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.scripts: dict[str, str] = {}
        self.shown = ""
        self._rows: list[list[str]] = []
        self._into: list[str] | None = None
        self._caption: list[str] = []
        self._script: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._script = dict(attrs).get("id") or tag
            self.scripts[self._script] = ""
        elif tag == "table":
            self._rows, self._caption = [], []
        elif tag == "caption":
            self._into = self._caption
        elif tag == "tr":
            self._rows.append([])
            self._into = None
        elif tag in ("td", "th"):
            self._rows[-1].append("")
            self._into = self._rows[-1]

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._script = None
        elif tag == "table":
            self.tables["".join(self._caption).strip()] = [[text.strip() for text in row] for row in self._rows]
        if tag in ("caption", "tr", "table"):
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts[self._script] += data
            return
        self.shown += data
        if self._into is self._caption and self._into is not None:
            self._caption.append(data)
        elif self._into:
            self._into[-1] = (self._into[-1] + data).lstrip()

    def table(self, caption: str) -> list[list[str]]:
        """Return the rows of the table whose caption begins with the text."""
        (rows,) = (rows for name, rows in self.tables.items() if name.startswith(caption))
        return rows

    def data(self, name: str) -> Any:
        """Return the JSON of a script element."""
        return json.loads(self.scripts[name])

    @property
    def policy(self) -> str:
        (policy,) = (
            attributes["content"]
            for tag, attributes in self.tags
            if attributes.get("http-equiv") == "Content-Security-Policy"
        )
        return policy or ""

    @property
    def words(self) -> str:
        """Return the text that a reader sees, in one line."""
        return re.sub(r"\s+", " ", self.shown)
