"""Call a function of the library, and print its result or write it to a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from gradedeval.cli.arguments import form_of, sharing, signing
from gradedeval.cli.output import STDOUT, columns_of, show, view_of, warn, write
from gradedeval.errors import InputError, emit_notes
from gradedeval.kernel.formats import FORMATS, formats_for, render
from gradedeval.kernel.scoring.results import InNotebook
from gradedeval.kernel.trec.stream import extension_of


def call(function: Callable[..., Any], *arguments: Any, jobs: int | None = None, **settings: Any) -> Any:
    """Call a function that reads runs, in processes as --jobs says, and print the remarks of its result."""
    from gradedeval.kernel.parallel import using_workers  # not for a help page

    with using_workers(sharing(jobs)):
        return with_remarks(function(*arguments, **settings))


def with_remarks(result: Any) -> Any:
    """Print the remarks of a result, and return it."""
    if isinstance(result, InNotebook):
        warn(result.remarks)
    return result


class Destination:
    """The place and the form of a result: -f, -o and --digits, which it takes out of the options.

    Raises InputError (usage) if no format has the extension of -o.
    """

    def __init__(self, options: dict[str, Any], default: str = "table") -> None:
        self.output, self.digits = options.pop("output"), options.pop("digits", None)
        self.form: str = options.pop("form") or form_of(self.output, formats_for(), default)

    @property
    def layout(self) -> Any:
        """Whether the form is read by people or by programs."""
        return FORMATS[self.form].layout

    def print(self, result: InNotebook, **shown: Any) -> None:
        """Write the tables of a result; its settings go to stderr if the form has no place for them.

        shown  keywords of the `document` of the result
        """
        if result.aside and not FORMATS[self.form].signed:
            emit_notes([result.aside])
        text = render(partial(result.tables, **shown), self.form, self.digits, signing(), view_of(self.output))
        (show if self.form == "table" else write)(text, self.output)


def form_by_extension(output: str | None, extensions: dict[str, str], default: str) -> str:
    """Return the form that the extension of -o stands for, the default if it is of none.

    extensions  those of forms that the command alone has
    """
    forms = {FORMATS[name].extension: name for name in formats_for()} | extensions
    return forms.get(extension_of(output), default)


def form_at_terminal(output: str | None, default: str, at_terminal: str) -> str:
    """Return the form of a result that is read by people at a terminal, and by programs elsewhere."""
    return at_terminal if output in STDOUT and columns_of(sys.stdout) is not None else default


def curve_form(target: str | None) -> str:
    """Return the form of the file of a curve: that of its extension, or csv. Raises InputError (usage) for a form that
    programs do not read."""
    form = form_of(target, formats_for())
    if form == "table":
        return "csv"
    if FORMATS[form].layout == "wide":
        problem, hint = f"cannot be written as {form} to '{target}'", "name a .csv, .tsv, .json or .jsonl file"
        raise InputError("--curve", problem, hint, usage=True)
    return form


def write_curve(curve: Any, target: str, settings: str) -> None:
    """Write a curve in the form of its file."""
    from gradedeval.analysis.tables import frame_document  # few commands have a curve

    write(render(partial(frame_document, curve, shown={}, signature=settings), curve_form(target)), target)
