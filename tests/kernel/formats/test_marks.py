"""Cells, marks and names: formats keep all characters, and markup in a name is text."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gradedeval.kernel.formats import Column, Document, Mark, Table, render
from gradedeval.kernel.formats.markup import WRITERS, as_html, as_latex, as_markdown
from gradedeval.kernel.formats.tables import across, cut
from support.commands import Command
from support.every_command import WORDS, collection, filled, forms_of
from support.generated_docs import LEAVES
from support.paths import ROOT

NAMES = [r"a_b%c&d#$~^\{}", '[x]--y---z "q" <p>|`*,,', "*Größe† ≤ 1", "a -- b\udcff"]
MARKS = {(0, 0): Mark(signs="a"), (0, 1): Mark(1, "†"), (1, 1): Mark(2, "†‡"), (2, 1): Mark()}


def document(**keywords: str) -> Document:
    rows = [[name, score] for name, score in zip(NAMES, (0.5, 0.25, 0.125, None), strict=True)]
    legend = [("best", Mark(1)), (" & ", Mark()), ("", Mark(signs="‡")), (" p ≤ 5%", Mark())]
    return Document(
        [Table([Column("run"), Column("ap", "score")], rows, MARKS)], "signature", legend=legend, **keywords
    )


def cells(text: str) -> list[str]:
    """Return the numbers of a LaTeX table, with the parts before and behind the point in one line."""
    rows = [line.removesuffix(r"\\").split(" & ")[1:] for line in text.splitlines() if line.endswith(r"\\")][1:]
    return ["".join(part.strip() for part in row) for row in rows]


def test_latex_marks_and_aligns_numbers() -> None:
    text = as_latex(document(caption="50% of A_B"), 2)
    assert cells(text) == [
        r"\textbf{0.}\textbf{50}\textsuperscript{\dag{}}",
        r"\underline{0.}\underline{25}\textsuperscript{\dag{}\ddag{}}",
        "0.12",
        "",
    ]
    assert r"\begin{tabular}{lr@{}l}" in text
    assert text.splitlines()[1:4] == [r"\begin{table}", r"\centering", r"\caption{50\% of A\_B}"]
    assert (
        r"\footnotesize \textbf{best} \& \textsuperscript{\ddag{}} p \ensuremath{\leq} 5\%; signature\par"
        in " ".join(text.split())
    )
    assert text.endswith("\\end{table}\n")


def test_latex_escapes_commands_in_names() -> None:
    lines = [line.split(" & ")[0].strip() for line in as_latex(document(), 2).splitlines() if line.endswith(r"\\")]
    assert lines[1:] == [
        r"a\_b\%c\&d\#\$\textasciitilde{}\textasciicircum{}\textbackslash{}\{\}\textsuperscript{a}",
        r"{}[x]-{}-y-{}-{}-z \char34{}q\char34{} \ensuremath{<}p\ensuremath{>}\textbar{}\textasciigrave{}*,{},",
        r"{}*Größe\dag{} \ensuremath{\leq} 1",
        r"a -{}- b\textbackslash{}xff",
    ]
    assert r"x'{}'{}'y,{},z's" in as_latex(document(caption="x'''y,,z's"), 2)


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("a", r"% needs \usepackage{booktabs,graphicx}"),
        ("é", "[T1]{fontenc}"),
        ('"', "[T1]{fontenc}"),  # in other fonts it is a closing quotation mark
        ("日本", "LuaLaTeX or XeLaTeX"),
        ("≤", "graphicx}"),
    ],
)
def test_latex_names_its_packages(name: str, needs: str) -> None:
    assert needs in as_latex(Document([Table([Column("run")], [[name]])]), None).splitlines()[0]


def test_markdown_escapes_links_and_mentions() -> None:
    text = "by @bob, bob@a.org: https://a.org www.b.org; ndcg@10 at 9:30"
    table = as_markdown(Document([Table([Column("query")], [[text]])]), None)
    escaped = "by @<!-- -->bob, bob@<!-- -->a.org: https\\://a.org www\\.b.org; ndcg@10 at 9:30"
    assert f"| {escaped} |" in table


def test_markdown_and_html_mark_numbers() -> None:
    text = as_markdown(document(caption="a*b"), 2)
    assert text.startswith("a\\*b\n\n| run")
    assert [line.split(" | ")[-1].strip(" |") for line in text.splitlines()[4:7]] == [
        "**0.50**<sup>†</sup>",
        "<ins>0.25</ins><sup>†‡</sup>",
        "0.12",
    ]
    page = ElementTree.fromstring(f"<page>{as_html(document(caption='a<b'), 2).replace(chr(0xDCFF), '')}</page>")
    assert page.findtext(".//caption") == "a<b"
    assert [node.text for node in page.findall(".//td/strong") + page.findall(".//td/u")] == ["0.50", "0.25"]
    assert "".join(page.findall(".//tr")[2][0].itertext()).strip() == NAMES[1]


def test_every_format_for_people_writes_a_document_without_marks() -> None:
    bare = Document([Table([Column("run")], [["x"]])])
    assert all("textbf" not in write(bare, None) and "sup" not in write(bare, None) for write in WRITERS.values())


@pytest.fixture
def log_of(tmp_path: Path) -> Callable[..., str]:
    """Return the log of pdflatex for an article with a body and options."""
    pdflatex, kpsewhich = shutil.which("pdflatex"), shutil.which("kpsewhich")
    if not pdflatex or not kpsewhich or subprocess.run([kpsewhich, "booktabs.sty"], capture_output=True).returncode:
        pytest.skip("NO LATEX: apt-get install texlive-latex-recommended; no table is compiled here")

    def run(body: str, options: str = "") -> str:
        preamble = rf"\documentclass[{options}]{{article}}\usepackage{{booktabs,graphicx}}\usepackage[T1]{{fontenc}}"
        text = f"{preamble}\\begin{{document}}\n{body}\n\\end{{document}}"
        (tmp_path / "d.tex").write_text(text, "utf-8", "surrogateescape")
        words = [pdflatex, "-draftmode", "-halt-on-error", "d.tex"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, re.findall("^!.*", done.stdout, re.M)) == (0, [])
        return done.stdout

    return run


def test_latex_compiles(log_of: Callable[..., str]) -> None:
    tables = as_latex(document(), None) + as_latex(document(caption="{ % $ \\x"), None)
    log_of(tables)


@pytest.mark.exhaustive
def test_the_tables_of_the_documentation_fit_a_column_of_two(log_of: Callable[..., str]) -> None:
    page = (ROOT / "docs/how-to/latex-table.md").read_text(encoding="utf-8")
    tables = re.findall(r"^% needs.*?(?=^```|^\$ )", page, re.M | re.S)
    assert len(tables) == 2
    bare = re.sub(r"\\caption\{.*\}\n|\\(begin|end)\{table\}|\\centering\n", "", tables[0])
    for text in (*tables, bare, f"\\begin{{table*}}\\centering\\caption{{x}}\n{bare}\\end{{table*}}"):
        assert "Overfull" not in log_of(text, "twocolumn")


@pytest.mark.exhaustive
def test_the_tables_of_every_command_fit_a_column_of_two(log_of: Callable[..., str], cli: Command) -> None:
    """Check ids with characters that LaTeX knows, and tables longer than a page, with 1,000 weights of ranks."""
    ids = {"docno": b"cl_we%b", "topic": b"3&01", "run": b"sys_$1", "tag": b"t#"}
    collection(ids)
    lines = [
        [*name.split(), *filled(words, ids)]
        for name, every in WORDS.items()
        if "latex" in forms_of(name, LEAVES[name]) and name != "weights"
        for words in every
    ]
    tables = [cli(*line, "-f", "latex") for line in lines]
    assert {table.code for table in tables} == {0, 1}
    assert "Overfull \\hbox" not in log_of("\n\n".join(table.text for table in tables), "twocolumn")


def test_latex_shrinks_but_never_stretches_a_table_to_its_column() -> None:
    for text in (as_latex(document(), None), as_latex(document(caption="x"), None)):
        start, tabular, after = re.split(r"(\\begin\{tabular\}.*?\\end\{tabular\})", text, flags=re.S)
        shrunk = r"\noindent\resizebox{\ifdim\width>\columnwidth\columnwidth\else\width\fi}{!}{%" + "\n"
        assert start.endswith(shrunk)
        assert after.startswith("}\n")
        assert tabular.count(r"\begin{tabular}") == 1


@pytest.mark.parametrize(("kind", "value", "text"), [("signed", -0.00004, "+0.0000"), ("percent", -0.0004, "+0.0%")])
def test_numbers_that_round_to_zero_have_no_minus(kind: str, value: float, text: str) -> None:
    table = Table([Column("change", kind)], [[value], [-0.5]])  # type: ignore[arg-type]
    printed = render(lambda layout: Document([table]), "table")
    assert text in printed
    assert "-0.0000" not in printed
    assert "-0.0%" not in printed


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("coronavirus immunity", 20, "coronavirus immunity"),
        ("coronavirus immunity", 15, "coronavirus …"),
        ("a coronavirus-immunity-study", 12, "a coronavir…"),  # one letter would be all that is left
        ("electroencephalography", 12, "electroence…"),
        ("the origin of it, in short: a market", 30, "the origin of it, in short …"),
        ("冠状病毒的起源是什么", 11, "冠状病毒的…"),
        ("冠状病毒的起源是什么; 市场 和 实验室", 29, "冠状病毒的起源是什么 …"),
        ("cafe\u0301 au lait", 12, "cafe\u0301 au lait"),
        ("zero\u200bwidth", 9, "zero\u200bwidth"),
    ],
)
def test_texts_are_cut_between_words_if_a_word_fits(text: str, width: int, expected: str) -> None:
    assert cut(text, width) == expected
    assert across(expected) <= width


def test_characters_of_east_asia_take_two_columns_of_a_terminal() -> None:
    rows = [["1", "冠状病毒", 0.5], ["2", "cafe\u0301", 0.25]]
    document = Document([Table([Column("topic"), Column("query"), Column("ap", "score")], rows)])
    assert render(lambda layout: document, "table").splitlines() == [
        "topic  query         ap",
        "-----  --------  ------",
        "1      冠状病毒  0.5000",
        "2      cafe\u0301      0.2500",
    ]
