"""The command line: a first argument that names a command is that command; anything else is evaluated."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from gradedeval.cli.output import say, stop_quietly
from gradedeval.errors import InputError, did_you_mean
from gradedeval.version import __version__

# A command is a line here and gradedeval/cli/<module>.py, which defines it as `command`. The summaries stand here so
# that `--help` imports no command.
COMMANDS: dict[str, tuple[str, str]] = {
    "eval": ("evaluate", "Score runs against graded judgments (the default command)."),
    "explain": ("explain", "Explain the score of a topic, rank by rank."),
    "measures": ("measures", "List the measures, or describe one."),
    "weights": ("weights", "Print the weight that a measure gives each rank."),
    "compare": ("compare", "Compare runs, with significance tests."),
    "risk": ("risk", "Report what runs risk against a baseline."),
    "check": ("check", "Check runs against bounds; exit code 1 if a bound fails."),
    "correlate": ("correlate", "Correlate measures."),
    "fit": ("fit", "Fit a parameter so that a measure agrees best with another."),
    "power": ("power", "Report the discriminative power of measures."),
    "lint": ("lint", "Check runs for problems before scoring."),
    "trec_eval": ("trec_eval", "Score runs with trec_eval's options and output."),
}

# Flags of trec_eval that are not ours -> the parameter that does the same, if there is one.
TREC_EVAL_FLAGS: dict[str, str | None] = {
    "-c": "topics",
    "-l": "rel",
    "-M": "depth",
    "-J": "judged_only",
    **dict.fromkeys(("-n", "-N", "-Z", "-R", "-T", "-D")),
}


class Commands(click.Group):
    """A group that imports a command when it is called; `eval` may be left out."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"gradedeval.cli.{COMMANDS[name][0]}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            say(ctx.get_help())
            ctx.exit(2)
        word = args[0]
        if word not in COMMANDS and word not in ("-h", "--help", "--version"):
            if word.isidentifier() and not os.path.exists(word) and (hint := did_you_mean(word, COMMANDS)):
                raise InputError(word, "no such command or file", hint, usage=True)
            args = ["eval", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    subcommand_metavar="[COMMAND] ...",
    epilog="`gradedeval eval --help` lists the options of an evaluation, `gradedeval measures` the measures.",
)
@click.version_option(__version__, prog_name="gradedeval", message="%(prog)s %(version)s")
def gradedeval() -> None:
    """Evaluate ranked retrieval with graded relevance judgments: ERR, nDCG, RBP, AP, GAP and many more.

    \b
    gradedeval run.txt qrels.txt                        the default measures
    gradedeval run.txt qrels.txt -m err@20 -m ndcg@10   these measures
    gradedeval runs/*.run qrels.txt -m err@20 -f csv    several runs, as CSV
    gradedeval run.txt qrels.txt --residuals            with residuals: what is still unknown
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. Exit code 0: success; 1: bad data or a failed check; 2: wrong usage."""
    # numpy's linear algebra would start a thread for each core; nothing here has use for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        arguments = list(sys.argv[1:] if arguments is None else arguments)
        # Not click's own `main`, which ends with exit code 1 when a pipe is closed.
        with gradedeval.make_context("gradedeval", arguments) as context:
            gradedeval.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
        code = 0
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.exceptions.Abort:
        say("interrupted")
        code = 130
    except click.UsageError as error:
        say(_in_a_line(error))
        code = 2
    except click.ClickException as error:
        say(error.format_message())
        code = error.exit_code
    except InputError as error:
        say(str(error))
        code = error.exit_code
    except BrokenPipeError:
        stop_quietly()
        code = 0
    except OSError as error:
        stop_quietly()
        say(f"<stdout>: {error.strerror}; the output is incomplete")
        code = 1
    except MemoryError:
        say("out of memory; try --jobs 1")
        code = 1
    except KeyboardInterrupt:
        say("interrupted")
        code = 130
    sys.exit(code)


def _in_a_line(error: click.UsageError) -> str:
    """A usage error of click as problem; hint, in the same words for every version of click."""
    problem = error.format_message().strip().rstrip(".")
    problem = f"{problem[:1].lower()}{problem[1:]}"
    hint = f"see `{error.ctx.command_path if error.ctx else 'gradedeval'} --help`"
    if isinstance(error, click.NoSuchOption):
        problem = f"unknown option '{error.option_name}'"
        if error.option_name in TREC_EVAL_FLAGS:
            params = error.ctx.command.params if error.ctx else []
            ours = [param.opts[0] for param in params if param.name == TREC_EVAL_FLAGS[error.option_name]]
            hint = f"did you mean '{ours[0]}'? " if ours else ""
            hint += "`gradedeval trec_eval` takes trec_eval's options"
        else:
            hint = did_you_mean(error.option_name, error.possibilities or ()) or hint
    return f"{problem}; {hint}"
