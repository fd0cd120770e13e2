"""Tables as Markdown, LaTeX and HTML; all content is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise
from textwrap import fill

from gradedeval.errors import visible
from gradedeval.kernel.formats.tables import PAGE, Document, Mark, Markup, Table, in_utf8

# An underscore within a word is one.
_MARKDOWN = re.compile(r"[\\`*~$\[\]]|(?<![^\W_])_|_(?![^\W_])")
# Mentions and addresses are broken by a comment, as nothing else does it; `ndcg@10` is neither.
_MENTION = re.compile(r"(?<!\w)@(?=[A-Za-z])|(?<=\w)@(?=[\w-]+\.[A-Za-z])")
_LINK = re.compile(r"(?i)\b(https?|ftp|www)(:(?=//)|(?<=www)\.)")


def _plain_markdown(text: str) -> str:
    """Escape text for Markdown, also links and mentions, which code hosts would make of it."""
    plain = _MARKDOWN.sub(r"\\\g<0>", escape(text, quote=False))
    if "@" in plain:
        plain = _MENTION.sub("@<!-- -->", plain)
    return _LINK.sub(r"\1\\\2", plain) if ":" in plain or "." in plain else plain


# <ins> is underlined wherever markdown is shown; code hosts take <u> away.
MARKDOWN = Markup(
    lambda text: _plain_markdown(text).replace("|", "\\|"),
    "**{}**",
    "<ins>{}</ins>",
    "<sup>{}</sup>".format,
    padded=False,
)


def as_markdown(document: Document, digits: int | None) -> str:
    """Write GitHub's tables; a paragraph of several lines keeps its line breaks."""
    blocks = [
        tabulated(block, digits, "github", MARKDOWN)
        if isinstance(block, Table)
        else (f"```\n{block}\n```" if "\n" in block else _plain_markdown(block))
        for block in document.blocks
    ]
    title = document.title and f"**{_plain_markdown(document.title)}**"
    above = (title, _plain_markdown(visible(document.caption)))
    below = (MARKDOWN.paragraph(document.legend), _plain_markdown(document.signature))
    return "\n\n".join(part for part in (*above, *blocks, *below) if part) + "\n"


HTML = Markup(escape, "<strong>{}</strong>", "<u>{}</u>", "<sup>{}</sup>".format, padded=False)


def as_html(document: Document, digits: int | None) -> str:
    """Write tables and paragraphs as a fragment of a page."""
    blocks = [f"<p><strong>{escape(document.title)}</strong></p>"] if document.title else []
    first = next((block for block in document.blocks if isinstance(block, Table)), None)
    blocks += [
        _html_table(block, digits, document.caption if block is first else "")
        if isinstance(block, Table)
        else f"<p>{escape(block)}</p>"
        for block in document.blocks
    ]
    blocks += [f"<p>{HTML.paragraph(document.legend)}</p>"] if document.legend else []
    full = f' title="{escape(document.full)}"' if document.full else ""
    blocks += [f"<p{full}>{escape(document.signature)}</p>"] if document.signature else []
    return in_utf8("\n".join(blocks) + "\n")


def _html_table(table: Table, digits: int | None, caption: str) -> str:
    text = tabulated(table, digits, "unsafehtml", HTML)
    return text.replace("<table>", f"<table>\n<caption>{escape(visible(caption))}</caption>", 1) if caption else text


_GREEK = (
    "Gamma Γ, Delta Δ, Theta Θ, Lambda Λ, Xi Ξ, Pi Π, Sigma Σ, Phi Φ, Psi Ψ, Omega Ω, alpha α, beta β, gamma γ, "
    "delta δ, varepsilon ε, zeta ζ, eta η, theta θ, kappa κ, lambda λ, mu μ, nu ν, xi ξ, pi π, rho ρ, sigma σ, "
    "tau τ, varphi φ, chi χ, psi ψ, omega ω"
)
# LaTeX's special characters, and symbols that its usual fonts have only in formulas, or not at all.
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\ensuremath{<}", ">": r"\ensuremath{>}",
    "|": r"\textbar{}", '"': r"\char34{}", "`": r"\textasciigrave{}", "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}", "≠": r"\ensuremath{\neq}", "×": r"\ensuremath{\times}", "±": r"\ensuremath{\pm}",
    "−": r"\ensuremath{-}", "→": r"\ensuremath{\rightarrow}", "∞": r"\ensuremath{\infty}", "∝": r"\ensuremath{\propto}",
    "⌊": r"\ensuremath{\lfloor}", "⌋": r"\ensuremath{\rfloor}", "†": r"\dag{}", "‡": r"\ddag{}",
    "✅": "ok", "❌": "FAIL", "❔": "?",
    **{letter: rf"\ensuremath{{\{name}}}" for name, letter in map(str.split, _GREEK.split(", "))},
}  # fmt: skip
# Two hyphens are a dash, two commas or apostrophes quotation marks; a bracket or an asterisk at the beginning of a row
# belongs to the command before it.
_LIGATURES = re.compile(r"(?<=([-',]))(?=\1)|(?=^[\[*])")
_OF_T1, _BEYOND_T1 = re.compile(r"[^\0-\x7f]|\\char34\b"), re.compile("[^\0-\u017f–—‘’“”„…•™€]")


def _plain_latex(text: str) -> str:
    """Escape text for LaTeX."""
    return "".join(_LATEX.get(sign, sign) for sign in _LIGATURES.sub("\0", in_utf8(text))).replace("\0", "{}")


LATEX = Markup(
    _plain_latex,
    r"\textbf{{{}}}",
    r"\underline{{{}}}",
    lambda signs: rf"\textsuperscript{{{_plain_latex(signs)}}}",
    padded=False,
)


def as_latex(document: Document, digits: int | None) -> str:
    """Write booktabs tables, as floats if there is a caption; everything else is a comment."""
    signature = "" if document.legend else document.signature  # the legend's line includes it
    parts = [block for block in (document.title, *document.blocks, signature) if block]
    first = next((block for block in parts if isinstance(block, Table)), None)
    bare = replace(document, legend=(), caption="")  # both belong to the first table
    blocks = [
        _latex_table(block, digits, document if block is first else bare)
        if isinstance(block, Table)
        else _comment(block)
        for block in parts
    ]
    for number, (above, below) in enumerate(pairwise(parts), 1):
        if isinstance(above, Table) and isinstance(below, Table):  # adjacent tables would stand side by side
            blocks[number] = "\n" + blocks[number]
    return "\n".join([_needed("\n".join(blocks)), *blocks]) + "\n"


def _needed(text: str) -> str:
    """Return a comment that lists the packages needed to compile the text."""
    body = "\n".join(line for line in text.split("\n") if not line.startswith("%"))
    letters = r" and \usepackage[T1]{fontenc}" if _OF_T1.search(body) else ""
    if _BEYOND_T1.search(body):
        letters = ", and LuaLaTeX or XeLaTeX with a font that has all its letters"
    return rf"% needs \usepackage{{booktabs,graphicx}}{letters}"


def _in_lines(text: str, indent: str = "") -> str:
    """Break a line of LaTeX into lines that fit a page; LaTeX reads a line end as a space."""
    return fill(text, PAGE.width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _comment(text: str) -> str:
    return "\n".join(_in_lines(f"% {line}", "% ") for line in in_utf8(text).split("\n"))


# Shrink a table to the width of its column, if it is wider.
_SHRUNK = r"\noindent\resizebox{\ifdim\width>\columnwidth\columnwidth\else\width\fi}{!}{%"

_NUMBER = re.compile(r"([+−-]?[\d,]+\.?)(\d*)")


def _at_the_point(column: Sequence[str], marks: Sequence[Mark]) -> list[str] | None:
    """Split the cells of a column of marked numbers behind the decimal point, which signs and bold figures then do not
    move. Returns None for other columns."""
    parted = [_NUMBER.fullmatch(text) for text in column]
    if not any(map(any, marks)) or any(text and not match for text, match in zip(column, parted, strict=True)):
        return None
    cells = []
    for match, mark in zip(parted, marks, strict=True):
        whole, rest = (match[1], match[2]) if match else ("", "")
        behind = LATEX.write(rest, mark) if rest else LATEX.write("", Mark(signs=mark.signs))
        cells.append(f"{LATEX.write(whole, Mark(mark.place)) if whole else ''} & {behind}")
    return cells


def _latex_columns(table: Table, digits: int | None) -> tuple[list[str], list[list[str]], str]:
    """Return the cells of the header, the cells of the rows, and the column types."""
    values = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    header, *body = table.cells(digits, LATEX)
    written = list(zip(*body, strict=True)) or [()] * len(table.columns)
    kinds, columns = list[str](), list[list[str]]()
    for number, left in enumerate(table.left):
        marks = [table.marks.get((row, number), Mark()) for row in range(len(table.rows))]
        parted = None if left else _at_the_point(table.columns[number].cells(values[number], digits), marks)
        columns.append(list(written[number]) if parted is None else parted)
        kinds.append("l" if left else "r" if parted is None else "r@{}l")
        header[number] = header[number] if parted is None else rf"\multicolumn{{2}}{{c}}{{{header[number]}}}"
    return header, [list(row) for row in zip(*columns, strict=True)], "".join(kinds)


def _latex_table(table: Table, digits: int | None, document: Document) -> str:
    header, body, kinds = _latex_columns(table, digits)
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    line = " & ".join(f"{{:{'<' if left else '>'}{width}}}" for left, width in zip(table.left, widths, strict=True))
    rows = [rf"{line.format(*row)} \\" for row in body]
    lines = [_SHRUNK, rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", rf"{line.format(*header)} \\", r"\midrule", *rows,
             r"\bottomrule", r"\end{tabular}}"]  # fmt: skip
    if document.legend:
        signed = "; ".join(line for line in document.signature.split("\n") if line)
        legend = LATEX.paragraph(document.legend) + (f"; {_plain_latex(signed)}" if signed else "")
        lines += ["", _in_lines(rf"\smallskip\noindent{{\footnotesize {legend}\par}}")]
    if not document.caption:
        return "\n".join(lines)
    caption = rf"\caption{{{_plain_latex(visible(document.caption))}}}"
    return "\n".join([r"\begin{table}", r"\centering", caption, *lines, r"\end{table}"])


def tabulated(table: Table, digits: int | None, style: str, markup: Markup) -> str:
    """Write a table in one of tabulate's styles."""
    from tabulate import tabulate

    header, *body = table.cells(digits, markup)
    align = ["left" if is_left else "right" for is_left in table.left]
    return tabulate(body, headers=header, tablefmt=style, disable_numparse=True, colalign=align if body else None)


WRITERS: Mapping[str, Callable[[Document, int | None], str]] = {
    "markdown": as_markdown,
    "latex": as_latex,
    "html": as_html,
}
