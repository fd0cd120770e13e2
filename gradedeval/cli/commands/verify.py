"""`gradedeval verify`: check a recorded result."""

from __future__ import annotations

import click

from gradedeval.cli.arguments import usage
from gradedeval.cli.options import command_line
from gradedeval.cli.output import write
from gradedeval.errors import InputError


@command_line("verify", "RECORD [FILE]...")
def command(files: tuple[str, ...]) -> None:
    """Check a result that `gradedeval eval --record` has recorded: compare the digests of its inputs, evaluate again,
    and compare the scores.

    Inputs are found by name beside RECORD, or among FILEs, which may be folders. Prints `same` and exits with code 0,
    or prints what differs and exits with code 1.
    """
    if not files:
        raise InputError("", "no record given", usage(), usage=True)
    from gradedeval.questions.verify import verify  # not for a help page

    record, *inputs = files
    result = verify(record, inputs)
    write(f"{result}\n")
    if not result.same:
        click.get_current_context().exit(1)
