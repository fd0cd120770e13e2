"""Pictures: their style, their files, and checks of frames before drawing."""

from __future__ import annotations

import io
import os
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gradedeval import __version__
from gradedeval.errors import InputError, did_you_mean, flag, plural, public, shorten, visible
from gradedeval.kernel.formats import in_utf8
from gradedeval.kernel.measures.parse import canonical, parse_measures
from gradedeval.kernel.options import ranges
from gradedeval.kernel.scoring.results import distinct
from gradedeval.kernel.trec.stream import extension_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend


# The style of pictures: one column of a paper wide, in colors that the color-blind can tell apart.


WIDTH, HEIGHT = 3.3, 2.4
"""Inches: a column of a paper, and a picture in it."""

# Okabe & Ito, Color Universal Design, 2008; the yellow is left out: on paper it is hardly seen.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK = COLORS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"),
)
DARK, GREY, PALE, LIGHT = "#333333", "#8c8c8c", "#b8b8b8", "#d0d0d0"
EAST_ASIAN = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Source Han Sans", "WenQuanYi Zen Hei"),
    *("IPAexGothic", "Hiragino Sans", "PingFang SC", "Microsoft YaHei", "Yu Gothic", "MS Gothic", "Malgun Gothic"),
)
"""Fonts for letters that the others lack, as installed with Linux, macOS and Windows."""
MAX_COLORED = len(COLORS)
"""Maximum lines in color; the others are grey."""

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


def require_matplotlib() -> None:
    """Raise InputError (usage) if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        hint = "pip install 'gradedeval[plot]'"
        raise InputError("plot", "draws with matplotlib, which is not installed", hint, usage=True) from None


@public
@contextmanager
def style(width: float = WIDTH, height: float = HEIGHT) -> Iterator[None]:
    """Use the settings of this module for matplotlib inside this block; afterwards the settings of the user apply
    again.

    width, height  of figures, in inches

    >>> with gradedeval.plot.style(width=7.0):
    ...     axes = gradedeval.plot.weights(gradedeval.weights("rbp", ranks=20))
    >>> axes.figure.get_size_inches()
    array([7. , 2.4])
    """
    require_matplotlib()
    import matplotlib.style
    from matplotlib.font_manager import fontManager

    # matplotlib warns of a family that is not installed.
    installed = {font.name for font in fontManager.ttflist}
    families = {"font.family": ["sans-serif", *(name for name in EAST_ASIAN if name in installed)]}
    with matplotlib.style.context(["default", {**STYLE, **families, "figure.figsize": (width, height)}]):
        yield


def draw_on(draw: Callable[[Axes], Any], ax: Axes | None) -> Axes:
    """Draw on `ax`, which keeps its own style, and return it. None draws on the current axes of pyplot; if there are
    none, they are made in the style of this module."""
    require_matplotlib()
    if ax is not None:
        draw(ax)
        return ax
    from matplotlib import pyplot, rcParams

    # In a block of `style` its size counts.
    with nullcontext() if rcParams["svg.hashsalt"] == STYLE["svg.hashsalt"] else style():
        ax = pyplot.gca()
        draw(ax)
    return ax


def line_styles(count: int) -> list[dict[str, Any]]:
    """Return the style of each line: a color of its own; beyond `MAX_COLORED` grey."""
    grey = {"color": LIGHT, "linestyle": "-", "linewidth": 0.6, "zorder": 1}
    return [{"color": color, "linestyle": "-"} for color in COLORS[:count]] + [grey] * (count - MAX_COLORED)


def use_integer_ticks(ax: Axes) -> None:
    """Set ticks at whole numbers alone, for ranks and counts."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def size_in_inches(ax: Axes) -> tuple[float, float]:
    """Return the width and the height of axes, in inches."""
    box = ax.get_window_extent()
    dots = ax.figure.dpi
    return box.width / dots, box.height / dots


LONGEST = 30
"""Maximum characters of a name in a picture; the middle of longer names is left out."""


def label_text(name: str, longest: int = LONGEST) -> str:
    """Return a name of the user as text in a picture: in one line, not too long, and never as a formula."""
    text = in_utf8(visible(name))
    if len(text) > longest:
        head = (longest - 1) * 2 // 3
        text = f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"
    # A label that begins with _ stands in no legend of matplotlib: a space of no width before it helps.
    return ("\u200b" if text.startswith("_") else "") + text.replace("$", r"\$")


SEPARATORS = "-_./: "
"""Where names of runs may be cut."""


def short_names(names: Iterable[str]) -> tuple[dict[str, str], str]:
    """Shorten names by their common beginning and end, for pictures; return name -> short name, and a pattern such as
    `rivers-*.run`.

    Names are cut only at separators. Both results are empty if there is no common part, or if a short name would be
    empty or equal another run's name.
    """
    distinct = list(dict.fromkeys(names))
    if len(distinct) < 2:
        return {}, ""
    prefix, suffix = _start(distinct), _start([name[::-1] for name in distinct])[::-1]
    for start, end in ((prefix, suffix), ("", suffix), (prefix, "")):
        short = {name: name[len(start) : len(name) - len(end)] for name in distinct}
        whole = min(map(len, distinct)) > len(start) + len(end) and not set(short.values()) & set(distinct)
        if start + end and whole and all(re.search(r"\w", name) for name in short.values()):
            return short, f"{start}*{end}"
    return {}, ""


def _start(names: Sequence[str]) -> str:
    """Return the common beginning of all names, up to a separator."""
    first, last = min(names), max(names)  # all names between them share their prefix
    length = next((n for n, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[: 1 + max(first.rfind(sign, 0, length) for sign in SEPARATORS)]


def run_labels(runs: Iterable[str]) -> dict[str, str]:
    """Return the label of each run in legends: its name without the parts that all share."""
    names = list(dict.fromkeys(map(str, runs)))
    short, _ = short_names(names)
    return {name: label_text(short.get(name, name)) for name in names}


def legend(ax: Axes, *, handles: Sequence[Any] = (), bottom: float = 1.0, runs: Sequence[str] = ()) -> None:
    """Put a legend above the axes, in the font size of their ticks, in as many columns as fit.

    It begins at the left end of the figure if that saves lines.

    handles  its entries; empty: everything with a label
    bottom   its lower end, in heights of the axes
    runs     the runs that it names: the parts left out of their labels stand above them
    """
    handles = list(handles) or ax.get_legend_handles_labels()[0]
    if not handles:
        return
    labels = [str(handle.get_label()) for handle in handles]
    points = float(ax.xaxis.get_major_ticks(1)[0].label1.get_fontsize())
    looks = {name: STYLE[f"legend.{name}"] for name in ("frameon", "handlelength", "columnspacing", "borderpad")}
    looks |= {"fontsize": points, "borderaxespad": 0.2, "handletextpad": 0.8}
    if pattern := short_names(runs)[1]:
        looks |= {"title": f"runs: {label_text(pattern, 40)}", "title_fontsize": points, "alignment": "left"}
    measured = ax.legend(handles, labels, **looks)
    measured.set_in_layout(False)
    beside, gap = (points / 72 * (looks[name] + more) for name, more in (("handlelength", 0.8), ("columnspacing", 0)))
    widths = [text.get_window_extent().width / ax.figure.dpi + beside for text in measured.get_texts()]
    over_axes, over_figure = (room - 0.6 * points / 72 for room in _rooms(ax))
    columns, most = (_columns_within(widths, room, gap) for room in (over_axes, over_figure))
    over = -(-len(widths) // most) == -(-len(widths) // columns) and _width(widths, columns, gap) <= over_axes
    placed = ax.legend(handles, labels, loc="lower left", bbox_to_anchor=(0, bottom), ncols=columns if over else most,
                     **looks)  # fmt: skip
    if over_figure != over_axes:
        placed.set_in_layout(False)
        _keep_height(ax, placed.get_window_extent().height / ax.figure.dpi + 0.2 * points / 72, bottom)
    if not over:
        _from_the_left(ax, placed)


def _from_the_left(ax: Axes, legend: Legend) -> None:
    """Move the begin of a legend to the left end of the figure."""
    from matplotlib.transforms import blended_transform_factory

    _, bottom = ax.transAxes.inverted().transform(legend.get_bbox_to_anchor().min)
    across = blended_transform_factory(ax.figure.transSubfigure, ax.transAxes)
    legend.set_bbox_to_anchor((0, bottom), across)


def _keep_height(ax: Axes, inches: float, bottom: float) -> None:
    """Reserve room above axes: the layout would take it from their width for a wider legend."""
    from matplotlib.offsetbox import AnchoredOffsetbox, DrawingArea

    room = DrawingArea(1, inches * 72)
    ax.add_artist(AnchoredOffsetbox("lower center", child=room, pad=0, borderpad=0, frameon=False,
                                    bbox_to_anchor=(0.5, bottom), bbox_transform=ax.transAxes))  # fmt: skip


def _rooms(ax: Axes) -> tuple[float, float]:
    """Return the widths of axes and of the figure above them, in inches, as the layout leaves them for a legend."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure, spec, axes_width = ax.figure, ax.get_subplotspec(), size_in_inches(ax)[0]
    if spec is None or not isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
        return axes_width * 1.05, axes_width * 1.05
    columns = spec.get_gridspec().ncols
    cell = figure.bbox.width / figure.dpi * len(spec.colspan) / columns
    tight = ax.get_tightbbox(for_layout_only=True)
    labels = 0.0 if tight is None else tight.width / figure.dpi - axes_width
    room = max(0.0, cell - labels - 0.08)
    return room, cell if len(spec.colspan) == columns else room


def _columns_within(widths: Sequence[float], room: float, gap: float) -> int:
    """Return the largest number of columns that the entries of a legend fit into."""
    return next((columns for columns in range(len(widths), 1, -1) if _width(widths, columns, gap) <= room), 1)


def _width(widths: Sequence[float], columns: int, gap: float) -> float:
    """Return the width of a legend whose entries fill columns; the first have one more if they are unequal."""
    rows, longer = divmod(len(widths), columns)
    starts = [column * rows + min(column, longer) for column in range(columns + 1)]
    return sum(max(widths[start:end]) for start, end in pairwise(starts)) + gap * (columns - 1)


def side_labels(ax: Axes, names: Sequence[str]) -> list[str]:
    """Return names for the side of axes, as short as leaves them room and tells the names apart."""
    figure, spec = ax.figure, ax.get_subplotspec()
    share = 0.36 / (1 if spec is None else spec.get_gridspec().ncols)
    points = float(ax.yaxis.get_major_ticks(1)[0].label1.get_fontsize())
    letters = max(8, min(LONGEST, int(share * figure.bbox.width / figure.dpi * 72 / (0.6 * points))))
    for longest in range(letters, LONGEST + 1):
        texts = [label_text(name, longest) for name in names]
        if len(set(texts)) == len(set(names)):
            break
    return texts


def fit_labels(ax: Axes) -> float:
    """Wrap labels that are longer than their axes in a figure that is laid out; return the added height, in inches."""
    figure, added = ax.figure, 0
    box, right = ax.get_window_extent(), figure.bbox.x1
    for axis, room in ((ax.xaxis, box.width + 2 * (right - box.x1)), (ax.yaxis, box.height)):
        label = axis.label
        text, extent = label.get_text(), label.get_window_extent()
        length = extent.width if axis is ax.xaxis else extent.height
        if length > room > 0:
            letters = max(8, int(max(map(len, text.split("\n"))) * room / length * 0.97))
            lines = [part for line in text.split("\n") for part in textwrap.wrap(line, letters, break_long_words=False)]
            label.set_text("\n".join(lines))
            added += len(lines) - 1 - text.count("\n") if axis is ax.xaxis else 0
    return added * 1.2 * float(ax.xaxis.label.get_fontsize()) / 72


def fit_legend(ax: Axes) -> None:
    """Move a legend that exceeds a laid-out figure to the left: labels may have moved its axes since."""
    legend = ax.get_legend()
    if legend is not None and legend.get_window_extent().x1 > ax.figure.bbox.x1:
        _from_the_left(ax, legend)


# A figure of one or more pictures, saved as the same bytes for the same numbers.


EXTENSIONS = ("png", "svg", "pdf")
SMALL = 5
"""Points: the size of the signature below a picture."""


class Panel(NamedTuple):
    """The draw function of one picture, and its preferred height in inches, without a legend."""

    draw: Callable[[Axes], Any]
    height: float


def extension(path: str | os.PathLike[str], flag: str = "") -> str:
    """Return the format of a file name. Raises InputError (usage) if pictures have no such format."""
    name = os.fsdecode(path)
    ending = extension_of(name).removeprefix(".")
    if ending not in EXTENSIONS:
        problem = f"'{name}' has no extension" if not ending else f"no picture has the extension '.{ending}'"
        hint = f"name a {', '.join(f'.{form}' for form in EXTENSIONS)} file"
        raise InputError(flag or f"'{name}'", problem, hint, usage=True)
    return ending


def read_size(text: str | None) -> tuple[float, float | None]:
    """Read width and height, `3.3x2.4`; the height may be missing. Raises InputError (usage) beyond 100 inches."""
    width, x, height = (text or str(WIDTH)).lower().partition("x")
    return ranges.WIDTH.read(width), ranges.HEIGHT.read(height) if x else None


def no_room_error(figure: Figure) -> InputError:
    """Return the error of a figure with too little room for its pictures; it names the side that is too short."""
    width, height = figure.get_size_inches().tolist()
    boxes = [(ax.get_tightbbox(for_layout_only=True), ax.bbox.width) for ax in figure.axes]
    narrow = any(box is not None and box.width - axes_width > 0.9 * figure.bbox.width for box, axes_width in boxes)
    side, now = ("wider", width) if narrow else ("higher", height)
    problem = f"the picture has no room in {width:.3g} × {height:.3g} inches"
    return InputError(flag.size, problem, f"make it {side} than {now:.3g}", usage=True)


def figure(panels: Sequence[Panel], width: float = WIDTH, height: float | None = None, signature: str = "") -> Figure:
    """Make a figure with the pictures below each other, in the style of this module and without pyplot.

    width, height  inches; None: the height that the pictures prefer
    signature      text below them, in small print
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    heights, letters = [panel.height for panel in panels], max(20, int(width * 72 / (SMALL * 0.6)))
    lines = [part for line in in_utf8(signature).splitlines() for part in textwrap.wrap(line, letters)]
    below = len(lines) * SMALL * 1.25 / 72 + (0.06 if lines else 0)
    with style():
        canvas = Figure(figsize=(width, height or sum(heights) + below))
        FigureCanvasAgg(canvas)  # texts are measured by its renderer, which without a canvas would be made for each
        grid = canvas.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
        for panel, ax in zip(panels, grid[:, 0], strict=True):
            panel.draw(ax)
        # Legends are measured first, and then, in axes that have their room, labels.
        for more in (_legend_height, fit_labels):
            _lay_out(canvas, below)
            heights = [room + more(ax) for room, ax in zip(heights, grid[:, 0], strict=True)]
            if height is None:
                canvas.set_figheight(sum(heights) + below)
                grid[0, 0].get_gridspec().set_height_ratios(heights)
        _lay_out(canvas, below)
        for ax in grid[:, 0]:
            fit_legend(ax)
        if lines:
            bottom = 0.05 * below / canvas.get_figheight()
            looks: dict[str, Any] = {"fontsize": SMALL, "color": "#555555", "va": "bottom"}
            canvas.text(0.01, bottom, "\n".join(lines), parse_math=False, **looks)
    return canvas


def _lay_out(figure: Figure, below: float) -> None:
    """Lay out a figure with this many inches of text below its pictures."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    share = below / figure.get_figheight()
    engine = ConstrainedLayoutEngine(rect=(0, share, 1, 1 - share), h_pad=0.03, w_pad=0.03)
    figure.set_layout_engine(engine)
    engine.execute(figure)


def _legend_height(ax: Axes) -> float:
    """Return the height of the legend of axes, in inches."""
    legend = ax.get_legend()
    return 0.0 if legend is None else legend.get_window_extent().height / ax.figure.dpi


def render(figure: Figure, form: str, signature: str = "") -> bytes:
    """Return a figure as a png, svg or pdf file, with the signature in its metadata and no date."""
    import matplotlib

    target, maker = io.BytesIO(), f"gradedeval {__version__}, matplotlib {matplotlib.__version__}"
    signature = in_utf8(signature)
    metadata: dict[str, dict[str, Any]] = {
        "png": {"Software": maker, "Description": signature},
        "svg": {"Creator": maker, "Description": signature, "Date": None},
        "pdf": {"Creator": maker, "Subject": signature, "CreationDate": None},
    }
    with style():
        figure.savefig(target, format=form, metadata=metadata[form], dpi="figure")
    return target.getvalue()


@public
def save(picture: Axes | Figure, path: str | os.PathLike[str], signature: str = "") -> None:
    """Save a picture as png, svg or pdf, by the extension of the file: the same bytes for the same numbers.

    picture    axes or a figure
    signature  the signature of the numbers, such as `scores.signature`: for the metadata of the file

    The file is written atomically. Raises InputError (usage) for another extension, and for anything but axes or a
    figure; InputError if the file cannot be written.

    >>> axes = gradedeval.plot.weights(gradedeval.weights("rbp", ranks=20))
    >>> gradedeval.plot.save(axes, "rbp.svg", "rbp, 20 ranks")
    """

    from gradedeval.kernel.trec.atomic_write import write_file

    form = extension(path)
    whole: Any = getattr(picture, "figure", picture)
    if not hasattr(whole, "savefig"):
        problem = f"expected axes or a figure, not a {type(picture).__name__}"
        raise InputError("plot.save", problem, "give what a function of gradedeval.plot returns", usage=True)
    write_file(render(whole, form, signature), os.fsdecode(path))


# The input of pictures: the frames of results, the part for one picture, and labels of axes.


NUMBERS = frozenset({
    *("actual", "agreement", "contribution", "difference", "grade", "high", "inferred", "level", "low", "p"),
    *("precision", "rank", "recall", "running", "score", "sign", "value"),
})  # fmt: skip
"""The columns that are drawn as numbers."""


def require_frame(
    result: Any, columns: Collection[str], picture: str, source: str, part: str = "frame"
) -> pd.DataFrame:
    """Return the frame of a result, or the frame itself.

    columns  the columns that it must have
    source   the source of such a frame, for a message
    part     the attribute of the result

    Raises InputError (usage) if it is not a frame, lacks a column, is empty, or has text in place of numbers.
    """
    import pandas as pd  # not before it is needed

    place, hint = f"plot.{picture}", f"give {source}"
    frame = getattr(result, part, result)
    if not isinstance(frame, pd.DataFrame):
        raise InputError(place, f"expected a frame, not a {type(result).__name__}", hint, usage=True)
    if missing := [name for name in columns if name not in frame.columns]:
        problem = f"the frame has no {plural(len(missing), 'column')} {shorten(missing)}"
        raise InputError(place, problem, hint, usage=True)
    if not len(frame):
        raise InputError(place, "the frame is empty", hint, usage=True)
    check_numbers(frame, [name for name in columns if name in NUMBERS], picture, source)
    return frame


def check_numbers(frame: pd.DataFrame, columns: Iterable[str], picture: str, source: str) -> None:
    """Raise InputError (usage) if one of these columns holds other values than numbers and blanks."""
    import pandas as pd

    for name in columns:
        if pd.to_numeric(frame[name].dropna(), errors="coerce").isna().any():
            raise InputError(f"plot.{picture}", f"column {name} holds other than numbers", f"give {source}", usage=True)


def select_measure(frame: pd.DataFrame, measure: Any, picture: str) -> pd.DataFrame:
    """Return the rows of a measure, or of the only one. Raises InputError (usage) if it is missing or ambiguous."""
    measures = list(dict.fromkeys(frame["measure"]))
    if measure is None:
        if len(measures) > 1:
            problem = f"{len(measures)} measures ({shorten(measures)})"
            raise InputError(f"plot.{picture}", problem, f"name one, as in measure='{measures[0]}'", usage=True)
        return frame
    notation = str(measure)
    same = [name for name in measures if name == notation or canonical(name) == canonical(notation)]
    if not same:
        hint = did_you_mean(notation, measures) or f"choose from {shorten(measures)}"
        raise InputError(f"plot.{picture}", f"nothing by '{notation}'", hint, usage=True)
    return cast("pd.DataFrame", frame[frame["measure"] == same[0]])


def grey_notes(frame: pd.DataFrame) -> list[str]:
    """Return a note if there are more runs than distinct colors, so that most are grey."""
    count = len(distinct(frame, "run"))
    return [f"{count} runs: the first {MAX_COLORED} are in color, the others grey"] if count > MAX_COLORED else []


LOWER = " (lower is better)"


def lower_is_better(measure: str) -> bool:
    """Return whether the lower of two scores is better; False for an unknown measure."""
    try:
        (parsed,) = parse_measures(measure)
    except (InputError, ValueError):
        return False
    return parsed.reading.sign < 0


def summary_label(measure: str, summary: str, topics: Collection[int]) -> str:
    """Return the label of an axis of summaries: the summary, the measure, and the number of topics."""
    low, high = min(topics), max(topics)
    count = f"{high} {plural(high, 'topic')}" if low == high else f"{low} to {high} topics"
    name = {"geometric": "geometric mean"}.get(summary, summary)
    return f"{name} {label_text(measure)}, {count}"
