"""The site of docs/: it is built without a warning, has few entries at the top, and in a real browser its search finds
pages, and a telephone shows them."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from support.paths import ROOT

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def test_few_entries_stand_at_the_top() -> None:
    nav = (ROOT / ".mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    assert 3 <= len(re.findall(r"^  - ", nav, re.M)) <= 7
    assert "mkdocs serve -f .mkdocs.yml" in (ROOT / "README.md").read_text(encoding="utf-8")


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a log."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the site as the README says, and yield its address."""
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    words = [
        *(sys.executable, "-m", "mkdocs", "build", "-f", ".mkdocs.yml", "--strict", "--quiet"),
        *("--site-dir", str(folder)),
    ]
    built = subprocess.run(
        words, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=300
    )
    assert built.returncode == 0, built.stdout + built.stderr
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.exhaustive
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("condensed lists", "unjudged-documents"),
        ("expected reciprocal rank", "measures"),
        ("LightGBM", "train-rankers"),
    ],
)
def test_the_search_finds_pages(words: str, page: str, address: str) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    requested: list[str] = []
    with sync_api.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=FLAGS)
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.on("request", lambda request: requested.append(request.url))
        tab.goto(f"{address}/index.html")
        field, results = tab.locator("input[name=query]"), tab.locator(".md-search-result__link")
        field.click()  # the index is fetched when the search is first used
        field.press_sequentially(words, delay=20)
        results.first.wait_for(timeout=60_000)
        links = [result.get_attribute("href") or "" for result in results.all()]
        browser.close()
    assert any(page in link for link in links), links
    assert [url for url in requested if not url.startswith((address, "data:", "blob:"))] == []


@pytest.mark.exhaustive
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
def test_wide_tables_and_samples_scroll_within_a_page(address: str) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    widths = {}
    with sync_api.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=FLAGS)
        tab = browser.new_page(viewport={"width": 400, "height": 900})
        for page in sorted((ROOT / "docs").rglob("*.md")):
            tab.goto(f"{address}/{page.relative_to(ROOT / 'docs').with_suffix('.html').as_posix()}")
            widths[str(page)] = tab.evaluate("document.documentElement.scrollWidth")
        browser.close()
    assert {name: width for name, width in widths.items() if width > 400} == {}
