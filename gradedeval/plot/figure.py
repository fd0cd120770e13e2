"""A figure of one or several pictures, and how it is saved: the same bytes for the same numbers."""

from __future__ import annotations

import io
import os
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradedeval import __version__
from gradedeval.errors import InputError
from gradedeval.formats import in_utf8
from gradedeval.options import numbers
from gradedeval.plot.appearance import WIDTH, need_matplotlib, style
from gradedeval.trec.source import extension_of
from gradedeval.trec.written import write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXTENSIONS = ("png", "svg", "pdf")
DPI = 200
SMALL = 5
"""Points: the size of the signature below a picture."""


class Panel(NamedTuple):
    """What draws one picture on axes, and how high it should be, in inches, without a legend."""

    draw: Callable[[Axes], Any]
    height: float


def extension(path: str | os.PathLike[str], flag: str = "") -> str:
    """The format that a file name asks for. Raises InputError (usage) where pictures have none such."""
    name = os.fsdecode(path)
    ending = extension_of(name).removeprefix(".")
    if ending not in EXTENSIONS:
        what = f"'{name}' has no extension" if not ending else f"no picture has the extension '.{ending}'"
        place = flag or f"'{name}'"
        raise InputError(place, what, f"name a {', '.join(f'.{one}' for one in EXTENSIONS)} file", usage=True)
    return ending


def check_size(width: float, height: float | None = None, dpi: float = DPI) -> None:
    """Raise InputError (usage) for a size that is none: 100 inches at most, and 2,400 dots each."""
    numbers.WIDTH.check(width)
    numbers.HEIGHT.check_or_none(height)
    numbers.DPI.check(dpi)


def no_room(figure: Figure) -> InputError:
    """What is said of a figure that its pictures do not fit into."""
    inches = " × ".join(f"{side:g}" for side in figure.get_size_inches().tolist())
    return InputError("--height", f"the picture has no room in {inches} inches", "leave it out", usage=True)


def figure(panels: Sequence[Panel], width: float = WIDTH, height: float | None = None, signature: str = "") -> Figure:
    """A figure with the pictures below each other, in the style of the house and without pyplot.

    width, height  inches; None: as high as the pictures ask for
    signature      text below them, in small print
    """
    need_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    heights, lines = [panel.height for panel in panels], _wrapped(in_utf8(signature), width)
    below = len(lines) * SMALL * 1.25 / 72 + (0.06 if lines else 0)
    with style():
        made = Figure(figsize=(width, height or sum(heights) + below))
        grid = made.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
        for panel, ax in zip(panels, grid[:, 0], strict=True):
            panel.draw(ax)
        if height is None:
            made.draw_without_rendering()
            heights = [one + _legend_height(ax) for one, ax in zip(heights, grid[:, 0], strict=True)]
            made.set_figheight(sum(heights) + below)
            grid[0, 0].get_gridspec().set_height_ratios(heights)
        share = below / made.get_figheight()
        made.set_layout_engine(ConstrainedLayoutEngine(rect=(0, share, 1, 1 - share), h_pad=0.03, w_pad=0.03))
        if lines:
            text = "\n".join(lines)
            made.text(0.01, share * 0.05, text, fontsize=SMALL, color="#555555", va="bottom", parse_math=False)
    return made


def _legend_height(ax: Axes) -> float:
    """The height of the legend above axes, in inches."""
    legend = ax.get_legend()
    return 0.0 if legend is None else legend.get_window_extent().height / ax.figure.dpi


def _wrapped(signature: str, width: float) -> list[str]:
    """The signature in lines as wide as the figure."""
    letters = max(20, int(width * 72 / (SMALL * 0.6)))
    return [part for line in signature.splitlines() for part in textwrap.wrap(line, letters)]


def as_bytes(figure: Figure, form: str, signature: str = "", dpi: float | None = None) -> bytes:
    """The file of a figure: png, svg or pdf, with the signature in its metadata and no date."""
    import matplotlib

    target, maker = io.BytesIO(), f"gradedeval {__version__}, matplotlib {matplotlib.__version__}"
    signature = in_utf8(signature)
    metadata: dict[str, dict[str, Any]] = {
        "png": {"Software": maker, "Description": signature},
        "svg": {"Creator": maker, "Description": signature, "Date": None},
        "pdf": {"Creator": maker, "Subject": signature, "CreationDate": None},
    }
    with style():
        figure.savefig(target, format=form, metadata=metadata[form], dpi=dpi or "figure")
    return target.getvalue()


def save(picture: Axes | Figure, path: str | os.PathLike[str], signature: str = "") -> None:
    """Save a picture as png, svg or pdf, by the extension of the file: the same bytes for the same numbers.

    picture    axes or a figure
    signature  what the numbers depend on, such as `scores.signature`: for the metadata of the file

    The file is there completely or not at all. Raises InputError (usage) for another extension, and for what is neither
    axes nor a figure; InputError where the file cannot be written.
    """
    form = extension(path)
    whole: Any = getattr(picture, "figure", picture)
    if not hasattr(whole, "savefig"):
        what = f"expected axes or a figure, not a {type(picture).__name__}"
        raise InputError("plot.save", what, "give what a function of gradedeval.plot returns", usage=True)
    write_file(as_bytes(whole, form, signature), os.fsdecode(path))
