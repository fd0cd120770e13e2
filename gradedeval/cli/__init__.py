"""The command line: a first argument that names a verb is the verb, everything else is evaluated."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from gradedeval.cli.output import say, stop_quietly
from gradedeval.errors import InputError
from gradedeval.version import __version__

# One file a verb: gradedeval/cli/<module>.py holds it as `command`. The summaries stand here so that help imports none.
VERBS: dict[str, tuple[str, str]] = {
    "eval": ("evaluate", "Score runs against graded judgements; need not be said."),
    "explain": ("explain", "Say how a topic's score comes about, rank by rank."),
    "measures": ("measures", "List the measures, or explain one."),
    "weights": ("weights", "Print the weight of each rank by a measure."),
    "compare": ("compare", "Tell which run is better, and how sure that is."),
    "check": ("check", "Hold runs against bounds; exit code 1 where one breaks."),
    "correlate": ("correlate", "Tell how far measures agree."),
    "fit": ("fit", "Find the parameter with which a measure agrees best with another."),
    "power": ("power", "Tell how many pairs of runs a measure can tell apart."),
    "lint": ("lint", "Check runs before they are scored."),
    "trec_eval": ("trec_eval", "Score runs with trec_eval's own words and output."),
}


class Verbs(click.Group):
    """A group whose verbs are imported when they are called, and where `eval` need not be said."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"gradedeval.cli.{VERBS[name][0]}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(name, summary) for name, (_, summary) in VERBS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in VERBS and args[0] not in ("-h", "--help", "--version"):
            args = ["eval", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    subcommand_metavar="[VERB] ...",
    epilog="`gradedeval eval -h` lists the options of an evaluation, `gradedeval measures` the measures.",
)
@click.version_option(__version__, prog_name="gradedeval", message="%(prog)s %(version)s")
def gradedeval() -> None:
    """Score ranked retrieval against graded judgements: ERR, nDCG, RBP, AP, GAP and their kin.

    \b
    gradedeval run.txt qrels.txt                        the default measures
    gradedeval run.txt qrels.txt -m err@20 -m ndcg@10   these measures
    gradedeval runs/*.run qrels.txt -m err@20 -f csv    several runs, for programs
    gradedeval run.txt qrels.txt --residuals            and how much is still unknown
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. Exit code 0: done; 1: bad data or a failed check; 2: bad usage."""
    # numpy's linear algebra would start a thread for each core; nothing here has use for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        # Not `main` of click: it ends a closed pipe with exit code 1.
        with gradedeval.make_context("gradedeval", words) as context:
            gradedeval.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
        code = 0
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.exceptions.Abort:
        say("interrupted")
        code = 130
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.format_message())
        code = 2
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
        say(f"<stdout>: {error.strerror}; nothing complete was written")
        code = 1
    except MemoryError:
        say("memory: there is not enough; --jobs 1 takes the least, and grades of few distinct values less")
        code = 1
    except KeyboardInterrupt:
        say("interrupted")
        code = 130
    sys.exit(code)


def _in_a_line(error: click.UsageError) -> str:
    """click's message as fault; cure: its own `Did you mean …?`, or else where help is."""
    problem, found, hint = error.format_message().strip().replace("(Did", "Did").partition(" Did you mean ")
    command = error.ctx.command_path if error.ctx else "gradedeval eval"
    return f"{problem.rstrip('.')}; " + (f"did you mean {hint.rstrip(')')}" if found else f"`{command} -h` explains")
