"""A report in a real browser: network requests, sorting, navigation by mouse and keyboard, markup in files, print
and telephone layouts."""

import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.commands import Command, succeed
from support.markup import hostile_runs
from support.paths import DATA, SAMPLES, shared

pytest.importorskip("jinja2")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
FLAGS += ["--disable-component-update", "--disable-sync"]
pytestmark = [pytest.mark.exhaustive, pytest.mark.skipif(BROWSER is None, reason="no Chromium here")]

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "dense", "neural")]
WORDS = [*RUNS, str(SAMPLES / "rivers.qrels"), "-m", "err@20", "-m", "ap", "--draws", "100", "--quiet"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield opened
        opened.close()


class Tab:
    """A page with its console messages, requests and dialogs."""

    def __init__(self, browser: Any, path: Path, **settings: Any) -> None:
        self.page = browser.new_page(**{"viewport": {"width": 1280, "height": 900}, **settings})
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.problems.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def close(self, path: Path) -> None:
        """Check that the page had no errors and requested only the file."""
        assert self.problems == []
        assert self.requests == [path.as_uri()]
        self.page.close()

    def texts(self, selector: str) -> list[str]:
        contents: list[str] = self.page.locator(selector).all_inner_texts()
        return contents


@pytest.fixture
def report(cli: Command, tmp_path: Path) -> Path:
    outcome = cli("report", *WORDS, "-o", "report.html")
    assert (outcome.code, outcome.err) == (0, b"")
    return tmp_path / "report.html"


def test_a_column_sorts_by_mouse_and_by_keyboard(report: Path, browser: Any) -> None:
    tab = Tab(browser, report)
    runs = "#runs .overview tbody th bdi"
    unsorted = tab.texts(runs)
    title = tab.page.locator("#runs .overview thead th").nth(1)
    title.locator("button").click()
    assert title.get_attribute("aria-sort") == "descending"
    assert tab.texts(runs) == unsorted  # the best by the first measure stand first
    title.locator("button").focus()
    tab.page.keyboard.press("Enter")
    assert title.get_attribute("aria-sort") == "ascending"
    assert tab.texts(runs) == unsorted[::-1]
    tab.page.locator("#runs .overview thead th button").first.click()
    assert tab.texts(runs) == sorted(unsorted)
    tab.page.locator(".by-topic:visible thead button").nth(5).click()
    differences = [float(text) for text in tab.texts(".by-topic:visible tbody td:nth-child(6)")]
    assert differences == sorted(differences, reverse=True)
    tab.close(report)


def chosen(tab: Tab) -> list[str]:
    """Return the chosen topic as shown in the field, the table, the map and above the rankings."""
    page = tab.page
    return [
        page.locator("#topic option:checked").inner_text(),
        *tab.texts(".by-topic:visible tr.chosen th"),
        *tab.texts(".heat:visible thead th.chosen"),
        page.locator("#view h3").inner_text().removeprefix("Topic "),
    ]


def test_a_topic_is_chosen_everywhere_by_mouse_by_keyboard_and_by_address(report: Path, browser: Any) -> None:
    tab, view = Tab(browser, report), "#view tbody td.doc"
    first = tab.texts(view)
    assert len(first) == 40
    tab.page.locator(".heat:visible tbody tr").nth(2).locator("td").nth(3).click()
    assert chosen(tab) == ["304"] * 4
    assert tab.page.locator("#b option:checked").inner_text() == tab.texts(".heat:visible tbody th")[2]
    assert tab.texts(view) != first
    tab.page.locator(".by-topic:visible tbody tr.chosen a").focus()
    keys = {"ArrowDown": "305", "ArrowUp": "304", "End": "350", "Home": "301", "ArrowRight": "302"}
    for key, topic in keys.items():
        tab.page.keyboard.press(key)
        assert chosen(tab) == [topic] * 4
    tab.page.locator("#topic").select_option(label="310")
    assert chosen(tab) == ["310"] * 4
    tab.page.locator("#measure").select_option(label="ap")
    assert tab.texts("#topics h3:visible") == ["ap"]
    assert chosen(tab) == ["310"] * 4
    assert tab.page.evaluate("location.hash").startswith("#measure=ap&topic=310&a=rivers-")
    documents = tab.texts(view)
    tab.page.locator("#a").select_option(index=0)
    tab.page.locator("#b").select_option(index=1)
    pair = [text.split(" · ")[0] for text in tab.texts("#view caption")]
    assert pair == tab.texts(".by-topic:visible thead th[data-name] bdi") == tab.texts("#a option")[:2]
    assert tab.page.locator("#view .lines path").count() > 0
    tab.page.goto(f"{report.as_uri()}#topic=312&a=rivers-dense.run")
    tab.page.reload()
    assert chosen(tab) == ["312"] * 4
    assert tab.page.locator("#a option:checked").inner_text() == "rivers-dense.run"
    assert tab.page.evaluate("Math.abs(document.querySelector('#ranks').getBoundingClientRect().top - 88) < 20")
    assert not tab.page.locator("#missing").is_visible()
    assert re.match(r"Topic 312: rivers-dense.run [\d.]+, rivers-\w+.run [\d.]+$", tab.page.inner_text("#said"))
    assert tab.page.locator("[aria-live]").count() == 0
    tab.page.goto(f"{report.as_uri()}#topic=99&b=x%2By")
    assert tab.page.inner_text("#missing") == "Not on this page: topic 99, run x+y"
    assert chosen(tab) == ["312"] * 4
    assert len(tab.texts(view)) == len(documents)
    tab.page.close()
    assert tab.problems == []


def test_code_in_files_does_not_run(cli: Command, tmp_path: Path, browser: Any) -> None:
    names = hostile_runs(tmp_path)
    assert cli("report", *names, "q.txt", "-m", "err@5", "--draws", "50", "--quiet", "-o", "report.html").code == 0
    tab = Tab(browser, tmp_path / "report.html")
    for index in range(3):
        tab.page.locator("#topic").select_option(index=index)
        assert "<script>alert(1)</script>" in tab.texts("#view tbody td.doc")
        tab.page.locator("#view tbody tr").nth(1).hover()
    assert chosen(tab) == ["{{7*7}}"] * 4
    assert tab.texts("#runs .overview tbody th bdi") == tab.texts("#a option")
    assert sorted(tab.texts("#a option")) == names
    assert tab.page.locator("img").count() == 0
    tab.close(tmp_path / "report.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_the_report_fits_a_screen_and_paper(width: int, scheme: str, report: Path, browser: Any) -> None:
    tab = Tab(browser, report, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width
    assert tab.page.locator("#view .lines").is_visible() == (width > 400)
    assert tab.page.locator("#runs .overview td:last-child").first.is_visible() == (width > 400)
    below = tab.page.locator("#runs .overview tbody th").first.evaluate("th => getComputedStyle(th, '::after').content")
    assert ("unjudged" in below) == (width == 400)
    paper = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    if (width, scheme) == (1280, "light"):
        pdf = tab.page.pdf(format="A4")
        assert pdf.startswith(b"%PDF")
        assert tab.page.locator("details[open]").count() == 0  # folded again
        tab.page.emulate_media(media="print")
        tab.page.set_viewport_size({"width": 680, "height": 900})  # A4 without its margins
        assert tab.page.evaluate("document.documentElement.scrollWidth") == 680
        wide = "elements => Math.min(...elements.map(element => element.getBoundingClientRect().width))"
        assert tab.page.locator("#view td.doc").evaluate_all(wide) > 60
    tab.close(report)


@pytest.mark.parametrize("width", [1280, 400])
def test_sticky_choices_do_not_cover_the_focused_element(width: int, report: Path, browser: Any) -> None:
    tab = Tab(browser, report, viewport={"width": width, "height": 700})
    count = 0
    for _ in range(40):
        tab.page.keyboard.press("Tab")
        hidden = tab.page.evaluate(
            "(() => { const element = document.activeElement, bar = document.querySelector('#choices');"
            " const box = element.getBoundingClientRect(), edge = bar.getBoundingClientRect();"
            " if (bar.contains(element) || getComputedStyle(bar).position !== 'sticky') return 0;"
            " return Math.min(box.bottom, edge.bottom) - Math.max(box.top, edge.top); })()"
        )
        assert hidden <= 0, tab.page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        count += 1
    assert count == 40
    tab.close(report)


def test_numeric_topics_sort_as_numbers(cli: Command, tmp_path: Path, browser: Any) -> None:
    topics = ["1.2.3", "10", "9", "1,2", "1.10.3", "b"]
    (tmp_path / "r").write_text("".join(f"{topic} Q0 d 1 1 t\n" for topic in topics))
    (tmp_path / "q").write_text("".join(f"{topic} 0 d 1\n" for topic in topics))
    assert cli("report", "r", "q", "-m", "p@1", "--quiet", "-o", "report.html").code == 0
    tab = Tab(browser, tmp_path / "report.html")
    tab.page.locator(".by-topic thead button").first.click()
    assert tab.texts(".by-topic tbody th") == ["1,2", "1.2.3", "1.10.3", "9", "10", "b"]
    tab.close(tmp_path / "report.html")


@shared
def test_48_runs_fit_on_paper_and_their_names_on_a_telephone(cli: Command, tmp_path: Path, browser: Any) -> None:
    folder = DATA / "covid-round1"
    runs = sorted(map(str, (folder / "runs").iterdir()))
    succeed(cli("report", *runs, str(folder / "qrels.txt"), "--draws", "100", "--quiet", "-o", "report.html"))
    tab = Tab(browser, tmp_path / "report.html", viewport={"width": 1280, "height": 900})
    cut = "elements => elements.filter(element => element.scrollWidth > element.clientWidth).length"
    assert tab.page.locator("#runs .scroll").first.evaluate("element => element.scrollWidth <= element.clientWidth")
    for topic in (0, 12, 29):  # rows stand beside each other, however long a name is
        tab.page.locator("#topic").select_option(index=topic)
        tops = "elements => new Set(elements.map(element => Math.round(element.getBoundingClientRect().top))).size"
        assert tab.page.locator("#view tbody").evaluate_all(tops) == 1
    tab.page.set_viewport_size({"width": 400, "height": 900})
    assert tab.page.locator(".overview tbody th").evaluate_all(cut) == 0
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    tab.page.emulate_media(media="print")
    tab.page.set_viewport_size({"width": 688, "height": 900})
    ends = "elements => Math.max(...elements.map(element => element.getBoundingClientRect().right))"
    assert tab.page.locator("table:not(.heat) td").evaluate_all(ends) <= 688
    tab.close(tmp_path / "report.html")


def test_without_scripts_only_the_rankings_are_missing(report: Path, browser: Any) -> None:
    tab = Tab(browser, report, java_script_enabled=False)
    assert tab.page.locator(".by-topic tbody tr").count() == 100
    assert tab.page.locator(".heat").nth(1).is_visible()
    assert "drawn by a script" in tab.page.locator("#ranks").inner_text()
    assert not tab.page.locator("#choices").is_visible()
    tab.close(report)


def test_one_run_of_thousands_of_topics_opens_and_scrolls(cli: Command, tmp_path: Path, browser: Any) -> None:
    draw = random.Random(1)
    with open(tmp_path / "r", "w") as run, open(tmp_path / "q", "w") as qrels:
        for topic in range(6980):
            documents = draw.sample(range(8_841_823), 10)
            run.writelines(f"t{topic} Q0 {docno} 1 {-rank} t\n" for rank, docno in enumerate(documents))
            qrels.write(f"t{topic} 0 {draw.choice(documents)} 1\n")
    assert cli("report", "r", "q", "-m", "rr@10", "--quiet", "-o", "report.html").code == 0
    assert (tmp_path / "report.html").stat().st_size < 20_000_000
    tab = Tab(browser, tmp_path / "report.html")
    assert tab.texts(".by-topic tr.chosen th") == ["t0"]
    tab.page.locator(".by-topic tr.chosen a").focus()
    tab.page.keyboard.press("End")
    assert tab.texts(".by-topic tr.chosen th") == ["t6979"]
    assert tab.page.locator("#view h3").inner_text() == "Topic t6979"
    assert tab.page.evaluate("document.querySelector('.by-topic').closest('.scroll').scrollTop") > 100_000
    tab.page.locator(".heat tbody td").nth(4000).click()
    assert tab.texts(".by-topic tr.chosen th") == ["t4000"]
    tab.close(tmp_path / "report.html")
