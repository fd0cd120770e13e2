"""The command line. If the first argument is not a command, the command is `eval`."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, NamedTuple

import click

from gradedeval import __version__
from gradedeval.cli.output import (
    DocstringCommand,
    interruption,
    is_closed_pipe,
    print_error,
    print_message,
    silence_stdout,
)
from gradedeval.errors import Guess, InputError, Rewritten, did_you_mean, synonyms

# Summaries are here, not with the commands, so that `--help` imports no command.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Most used": {
        "eval": ("cli.commands.evaluate:command", "Score runs against graded judgments (the default command)."),
        "explain": ("cli.commands.explain:command", "Explain the score of a topic, rank by rank."),
        "compare": ("cli.commands.compare:command", "Compare runs, with significance tests."),
        "diff": ("cli.commands.diff:command", "Show what changed between two runs, topic by topic."),
        "check": ("cli.commands.check:command", "Check runs against bounds; exit code 1 if a bound fails."),
        "lint": ("cli.commands.lint:command", "Check runs for problems before scoring."),
        "measures": ("cli.commands.measures:command", "List the measures, or describe one."),
        "report": ("cli.commands.report:command", "Write an HTML page that shows an evaluation."),
        "plot": ("cli:plot", "Draw pictures: curves, runs, topics, weights, agreement."),
    },
    "Compare, judge and show": {
        "history": ("cli.commands.history:command", "Show scores over time."),
        "verify": ("cli.commands.verify:command", "Check a recorded result: evaluate again and compare."),
        "risk": ("cli.commands.risk:command", "Report the risk of runs against a baseline."),
        "power": ("cli.commands.power:command", "Report the discriminative power of measures."),
        "pool": ("cli.commands.pool:command", "Pool statistics, and which documents to judge next."),
        "agreement": ("cli.commands.agreement:command", "Compare two sets of judgments: kappa, alpha, order of runs."),
        "collections": (
            "cli.commands.named_qrels:command",
            "List test collections by name, and which of them are here.",
        ),
        "pr": ("cli.commands.precision_recall:command", "Print precision-recall curves, graded and at each threshold."),
    },
    "Measures": {
        "weights": ("cli.commands.weights:command", "Print the weight that a measure gives each rank."),
        "correlate": ("cli.commands.correlate:command", "Correlate measures."),
        "fit": ("cli.commands.fit:command", "Fit a parameter so that a measure agrees best with another."),
        "informative": (
            "cli.commands.informative:command",
            "Report how well a score predicts the precision-recall curve.",
        ),
    },
    "Clicks and other tools": {
        "clicks": ("cli:clicks", "Estimate examination, click models and gains from click logs."),
        "trec_eval": ("cli.commands.trec_eval:command", "Score runs with trec_eval's options and output format."),
    },
}
"""Heading of the help page -> command -> `module:attribute` of its function, and its summary."""

COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}

ABOUT: dict[str, tuple[str, str]] = {
    "help": ("cli.help:help_page", "Explain a command or a measure, or list measures or formats."),
    "completion": ("cli.completion:completion", "Print a completion script for bash, zsh or fish."),
}
"""The commands about the program itself, by name as in `GROUPS`."""

PICTURES: dict[str, tuple[str, str]] = {
    "pr": ("cli.commands.precision_recall:picture", "Draw precision-recall curves, graded and at each threshold."),
    "informative": ("cli.commands.informative:picture", "Draw actual and inferred precision-recall curves."),
    "topics": ("cli.commands.topics:picture", "Draw the difference of two runs topic by topic."),
    "runs": ("cli.commands.runs:picture", "Draw run means with intervals and what judging could add."),
    "weights": ("cli.commands.weights:picture", "Draw the weights of ranks."),
    "fit": ("cli.commands.fit:picture", "Draw the agreement of measures over a parameter."),
    "power": ("cli.commands.power:picture", "Draw the significance levels of all pairs of runs."),
    "correlate": ("cli.commands.correlate:picture", "Draw how well measures agree, as a heat map or a scatter."),
    "explain": ("cli.commands.explain:picture", "Draw one topic rank by rank."),
    "clicks": ("cli.commands.clicks.correlate:picture", "Draw a click measure against an evaluation measure."),
}
"""The pictures of `gradedeval plot PICTURE`, by name as in `GROUPS`."""

CLICK_COMMANDS: dict[str, tuple[str, str]] = {
    "observe": ("cli.commands.clicks.observe:command", "Estimate examination probabilities of ranks."),
    "fit": ("cli.commands.clicks.fit:command", "Find the rank weights closest to examination probabilities."),
    "measures": ("cli.commands.clicks.measures:command", "Report click measures of each list shown."),
    "correlate": ("cli.commands.clicks.correlate:command", "Correlate evaluation measures with click measures."),
    "gains": ("cli.commands.clicks.gains:command", "Learn gains of grades from clicks."),
    "models": ("cli.commands.clicks.models:command", "Fit click models, and report how well they predict."),
    "simulate": ("cli.commands.clicks.simulate:command", "Simulate a click log from a known user model."),
}
"""The commands of `gradedeval clicks COMMAND LOG`, by name as in `GROUPS`."""


class ExitCodes(NamedTuple):
    """The exit codes of a command: for bad `data`, for wrong `usage`, and for some kinds of errors."""

    data: int = 1
    usage: int = 2
    kinds: Mapping[str, int] = {}

    def of(self, error: InputError) -> int:
        """Return the exit code of an error."""
        return self.kinds.get(error.kind, self.usage if error.usage else self.data)


# `check` exits with 1 only for a failed bound. `trec_eval` exits with the codes of the original program: 2 for an error
# in its set-up, such as illegal parameters of a measure, 4 for an error in computing a measure, such as duplicate
# documents.
EXIT_CODES = {
    "check": ExitCodes(data=3),
    "trec_eval": ExitCodes(2, 1, {"parameters": 2, "duplicate-document": 4, "contradiction": 4, "no-common-topics": 7}),
}

COMMAND_WIDTH = max(map(len, COMMANDS | ABOUT))
"""Width of the column of commands on the help page."""

COMPLETE = "_GRADEDEVAL_COMPLETE"
"""Environment variable of shell completion, as click names it."""


class CommandGroup(DocstringCommand, click.Group):
    """A group that imports a command when it is called.

    listed_commands  the commands on its help page, by name as in `GROUPS`
    all_commands     all its commands, by name as in `GROUPS`
    """

    listed_commands: ClassVar[Mapping[str, tuple[str, str]]]
    all_commands: ClassVar[Mapping[str, tuple[str, str]]]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.listed_commands)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.all_commands:
            return None
        module, _, attribute = self.all_commands[name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(f"gradedeval.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self.listed_commands.items()])


class InnerGroup(CommandGroup):
    """A group within the program. The error for an unknown command has a hint.

    noun          the word for its commands in this error
    usual         the command that the hint suggests if a file is given instead of a command
    file_metavar  the metavar of such a file
    """

    noun: ClassVar[str] = "command"
    usual: ClassVar[str]
    file_metavar: ClassVar[str]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            print_message(ctx.get_help(), "page")
            ctx.exit(2)
        if not args[0].startswith("-") and args[0] not in self.listed_commands:
            group = str(ctx.info_name)
            ours, _ = synonyms()["commands"].get(args[0], ("", ""))
            meant = ours.removeprefix(f"{group} ")
            is_synonym = ours.startswith(f"{group} ") and meant in self.listed_commands
            hint = Guess(args[0], meant) if is_synonym else did_you_mean(args[0], self.listed_commands)
            hint = hint or f"choose from {', '.join(self.listed_commands)}"
            if os.path.exists(args[0]) or args[0] == self.file_metavar.lower():
                # A command may be typed like an option, as in --pr.
                flags = [word for word in args if word.startswith("--") and word[2:] in self.listed_commands]
                meant = flags[0][2:] if flags else self.usual
                words = [word for word in args if word not in flags[:1]]
                hint = Rewritten(f"did you mean `gradedeval {group} {meant} {args[0]}`?", group, meant, *words)
            raise InputError(group, f"no such {self.noun} '{args[0]}'", hint, usage=True)
        return super().parse_args(ctx, args)


class Commands(CommandGroup):
    """The commands of the program. `eval` may be omitted."""

    listed_commands, all_commands = COMMANDS, COMMANDS | ABOUT

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, table in (GROUPS | {"Help": ABOUT}).items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:<{COMMAND_WIDTH}}", summary) for name, (_, summary) in table.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        args = args or ["--help"]
        word = args[0]
        if word not in self.all_commands and word not in ("-h", "--help", "--version"):
            is_name = word.replace("-", "_").isidentifier() and not word.startswith("-")
            if is_name and not os.path.exists(word):
                from gradedeval.cli.hints import check_mistyped_command  # only for a missing file

                check_mistyped_command(word, args[1:], self.all_commands)
            args = ["eval", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    subcommand_metavar="[COMMAND] ...",
    epilog="`gradedeval COMMAND -h` lists what most people need, `--help` explains all.",
)
@click.version_option(__version__, prog_name="gradedeval", message="%(prog)s %(version)s")
def gradedeval() -> None:
    """Evaluate rankings by graded relevance judgments: ERR, nDCG, RBP, AP, GAP …

    \b
    gradedeval run.txt qrels.txt                        the default measures
    gradedeval run.txt qrels.txt -m err@20 -m ndcg@10   these measures
    gradedeval runs/*.run qrels.txt -m err@20 -f csv    several runs, as CSV
    gradedeval run.txt qrels.txt --residuals            with residuals
    gradedeval compare a.run b.run qrels.txt            two runs, with a significance test
    """


class Pictures(InnerGroup):
    """The pictures."""

    listed_commands = all_commands = PICTURES
    noun, usual, file_metavar = "picture", "runs", "RUN"


@click.group("plot", cls=Pictures, subcommand_metavar="PICTURE ...")
def plot() -> None:
    """Draw the results of another command, with its options, as png, svg or pdf. Needs matplotlib:
    pip install 'gradedeval[plot]'.

    \b
    gradedeval plot runs runs/*.run qrels.txt -m ndcg@10 -o runs.pdf
    gradedeval plot topics A B qrels.txt -m ndcg@10 -o topics.svg --signature
    """


class ClickCommands(InnerGroup):
    """The commands on click logs."""

    listed_commands = all_commands = CLICK_COMMANDS
    usual, file_metavar = "observe", "LOG"


@click.group("clicks", cls=ClickCommands, subcommand_metavar="COMMAND ...")
def clicks() -> None:
    """Estimate examination, click models and gains from click logs.

    A log is a tab-separated file with a header and a line for each session (a query by a user). Its columns are topic,
    clicks (the ranks that were clicked), shown (the docnos from rank 1 on), and, if known, user, session, time and
    count.

    \b
    gradedeval clicks observe log.tsv -o weights.csv
    gradedeval run.txt qrels.txt -m 'wp(file=weights.csv)'
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and exit with 0 for success, 1 for bad data, 2 for wrong usage.

    `check` exits with 1 for a failed bound and 3 for bad data; `trec_eval` exits with the original program's codes.
    """
    # numpy's linear algebra would start a thread for each core, which nothing here uses.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if COMPLETE in os.environ:
        from gradedeval.cli.completion import complete  # only for the shell

        summaries = {name: summary for name, (_, summary) in Commands.all_commands.items()}
        sys.exit(complete(os.environ[COMPLETE], COMPLETE, summaries))
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    exits = EXIT_CODES.get(arguments[0] if arguments else "", ExitCodes())
    context, code = click.Context(gradedeval), 0
    try:
        # Not click's own `main`, which ends with exit code 1 when a pipe is closed.
        with _interruptible(), gradedeval.make_context("gradedeval", list(arguments), obj=tuple(arguments)) as context:
            gradedeval.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        print_message(interruption(context))
        code = 130
    except (click.UsageError, InputError) as error:
        _report(error, context, arguments)
        code = exits.of(error) if isinstance(error, InputError) else exits.usage
    except click.ClickException as error:
        print_message(error.format_message())
        code = error.exit_code
    except OSError as error:
        silence_stdout()
        if not is_closed_pipe(error):
            print_message(f"<stdout>: {error.strerror}; the output is incomplete")
            code = exits.data
    except MemoryError:
        print_message("out of memory; try --jobs 1")
        code = exits.data
    except Exception:
        if exits.data == 1:  # Python prints the traceback and exits with 1
            raise
        sys.excepthook(*sys.exc_info())
        code = exits.data
    sys.exit(code)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Replace any exception after Ctrl-C by KeyboardInterrupt: an interrupted import may raise any."""
    interrupts: list[int] = []

    def interrupt(number: int, _: object) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    previous = signal.getsignal(signal.SIGINT)
    is_default = previous is signal.default_int_handler and threading.current_thread() is threading.main_thread()
    if is_default:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except Exception:
        if interrupts:
            raise KeyboardInterrupt from None
        raise
    finally:
        if is_default:
            signal.signal(signal.SIGINT, previous)


def _report(error: click.UsageError | InputError, context: click.Context, arguments: Sequence[str]) -> None:
    """Print the error of a command or of its arguments, and a corrected command line if there is one."""
    from gradedeval.cli.hints import corrected_command_line, suggest_right_order, usage_error  # only for an error
    from gradedeval.cli.options import RUNNING

    with context:
        problem = error if isinstance(error, InputError) else usage_error(error)
        if (running := context.meta.get(RUNNING)) is not None:
            problem = suggest_right_order(problem, running)
        print_error(problem)
        if line := corrected_command_line(gradedeval, arguments, problem.raw[1]):
            print_message(f"  {line}", "page")
