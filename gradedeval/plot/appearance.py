"""How pictures look: one column of a paper wide, in colors that the color-blind can tell apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from gradedeval.errors import InputError, visible
from gradedeval.formats import in_utf8

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 3.3, 2.4
"""Inches: a column of a paper, and a picture in it."""

# Okabe & Ito, Color Universal Design, 2008; the yellow is left out: on paper it is hardly seen.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK = COLORS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"),
)
DARK, GREY, PALE, LIGHT = "#333333", "#8c8c8c", "#b8b8b8", "#d0d0d0"
LINES = ("-", "--", "-.", ":")
EAST_ASIAN = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Source Han Sans", "WenQuanYi Zen Hei"),
    *("IPAexGothic", "Hiragino Sans", "PingFang SC", "Microsoft YaHei", "Yu Gothic", "MS Gothic", "Malgun Gothic"),
)
"""Fonts for letters that the others do not have: those that Linux, macOS and Windows come with."""
MANY = len(COLORS)
"""Of more lines than these the others are grey."""

STYLE: Mapping[str, Any] = {
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.columnspacing": 1.2,
    "legend.borderpad": 0.1,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "patch.linewidth": 0.4,
    "hatch.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "grid.linewidth": 0.4,
    "grid.color": "#dddddd",
    "figure.dpi": 200,
    "savefig.dpi": 200,
    "figure.constrained_layout.use": True,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "gradedeval",
}


def need_matplotlib() -> None:
    """Raise InputError (usage) where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        hint = "pip install 'gradedeval[plot]'"
        raise InputError("plot", "draws with matplotlib, which is not installed", hint, usage=True) from None


@contextmanager
def style(width: float = WIDTH, height: float = HEIGHT) -> Iterator[None]:
    """In this block matplotlib draws as here, whatever the settings of the user; after it they are as before.

    width, height  of figures, in inches
    """
    need_matplotlib()
    import matplotlib.style
    from matplotlib.font_manager import fontManager

    # A family that is not installed would be complained of.
    installed = {font.name for font in fontManager.ttflist}
    families = {"font.family": ["sans-serif", *(name for name in EAST_ASIAN if name in installed)]}
    with matplotlib.style.context(["default", {**STYLE, **families, "figure.figsize": (width, height)}]):
        yield


def drawn(draw: Callable[[Axes], Any], ax: Axes | None) -> Axes:
    """Draw on `ax`, which keeps its own style; on None as pyplot does, on the current axes, which are made in the style
    of the house where there are none. Returns the axes."""
    need_matplotlib()
    if ax is not None:
        draw(ax)
        return ax
    from matplotlib import pyplot, rcParams

    # In a block of `style` its size counts.
    with nullcontext() if rcParams["svg.hashsalt"] == STYLE["svg.hashsalt"] else style():
        ax = pyplot.gca()
        draw(ax)
    return ax


def looks(count: int) -> list[dict[str, Any]]:
    """How each of so many lines is drawn: by color, and by dashes where colors repeat; those beyond `MANY` in grey."""
    if count > MANY:
        return [*looks(MANY), *({"color": LIGHT, "linestyle": "-", "linewidth": 0.6, "zorder": 1},) * (count - MANY)]
    colors = list(islice(cycle(COLORS), count))
    return [{"color": color, "linestyle": LINES[index // len(COLORS)]} for index, color in enumerate(colors)]


def whole_numbers(ax: Axes) -> None:
    """Ticks at whole numbers alone, for ranks and counts."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def inches_of(ax: Axes) -> tuple[float, float]:
    """The width and the height of axes."""
    box = ax.get_window_extent()
    dots = ax.figure.dpi
    return box.width / dots, box.height / dots


LONGEST = 30
"""Characters of a name in a picture; of a longer one the middle is left out."""


def shown(name: str, longest: int = LONGEST) -> str:
    """A name of the user's as text in a picture: in one line, not too long, and never as a formula."""
    text = in_utf8(visible(name))
    if len(text) > longest:
        head = (longest - 1) * 2 // 3
        text = f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"
    # A label that begins with _ stands in no legend of matplotlib: a space of no width before it helps.
    return ("\u200b" if text.startswith("_") else "") + text.replace("$", r"\$")


def legend(ax: Axes, *, handles: Sequence[Any] = (), bottom: float = 1.0) -> None:
    """A legend above the axes, in the letters of their ticks, in as many columns as there is room for.

    handles  what it has; nothing: all that has a label
    bottom   where it begins, in heights of the axes
    """
    handles = list(handles) or ax.get_legend_handles_labels()[0]
    if not handles:
        return
    labels = [str(handle.get_label()) for handle in handles]
    # A letter is about as wide as 0.58 of its height; beside it stand the line and two gaps.
    points = float(ax.xaxis.get_major_ticks(1)[0].label1.get_fontsize())
    room, column = inches_of(ax)[0] * 1.05, points / 72 * (0.58 * max(map(len, labels)) + 3.8)
    columns = max(1, min(len(handles), int(room / column)))
    looks = {name: STYLE[f"legend.{name}"] for name in ("frameon", "handlelength", "columnspacing", "borderpad")}
    ax.legend(handles, labels, loc="lower left", bbox_to_anchor=(0, bottom), ncols=columns, borderaxespad=0.2,
              fontsize=points, **looks)  # fmt: skip
