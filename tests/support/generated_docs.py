"""The parts of the documentation that the code writes: help pages, options, measures, the Python API."""

from __future__ import annotations

import contextlib
import csv
import html
import inspect
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import click

import gradedeval
from gradedeval.cli import COMMANDS
from gradedeval.cli import gradedeval as program
from gradedeval.cli.options import APPENDS, HELP, MOST_USED, READS, SECTIONS, THIS_COMMAND, WRITES
from gradedeval.errors import synonyms, with_flags
from gradedeval.kernel.formats import FORMATS
from gradedeval.kernel.measures.definition import LINES, MEASURES
from gradedeval.kernel.measures.description import SHARED_PARAMETERS, Description
from gradedeval.kernel.measures.spellings import ALIASES, DIFFERENT, notation_of
from gradedeval.kernel.trec.file_formats import COLUMNS
from gradedeval.kernel.trec.shapes import SHAPES
from support.conformance import cases as conformance_cases
from support.conformance_peers import reasons
from support.file_formats import BROKEN, KINDS, SAMPLES, TREC_QRELS, TREC_RUN, WRONG
from support.paths import ROOT
from support.sessions import gradedeval as run_gradedeval
from support.spellings import (
    BY_INTENT,
    CWL_EVAL,
    DIFFERENT_WITHOUT_NOTE,
    EVALUATOR,
    IR_MEASURES,
    MTEB,
    RANX,
    SEVERAL,
    TREC_EVAL,
)
from support.wrong_ndcg import MISTAKES

PART = re.compile(r"(?<=<!-- generated: )(?P<name>[\w ]+)( -->\n).*?(?=<!-- end -->)", re.S)
HERE = Path(__file__).parent

DROP_IN = "`gradedeval trec_eval`"

# The families of measures, by the module that defines them, in the order of the page.
FAMILIES = {
    "cascade_models": "Cascade measures",
    "cumulated_gain": "Cumulated gain and compatibility",
    "precision": "Precision, recall and average precision",
    "cwl_family.user_models": "C/W/L: users of a given patience",
    "cwl_family.goal_models": "C/W/L: users with a goal",
    "cwl_family.user_defined": "C/W/L: a continuation of your own",
    "weighting_models": "Weighting models",
    "diversity": "Diversity: measures over intents",
    "sets": "Sets and counts",
    "trec_eval_only": "trec_eval's own",
}


def generated(text: str) -> str:
    """Return the page with its generated parts as the code writes them now."""
    return PART.sub(lambda part: f"{part['name']}{part[2]}{PARTS[part['name']]()}", text)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of the program, in the order of its help; after a group its own, as in `plot runs`."""
    context = click.Context(program)
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                yield f"{name} {inner}", command.get_command(context, inner)


LEAVES = {name: command for name, command in commands() if not isinstance(command, click.Group)}
"""The commands that do something by themselves."""


def options(command: click.Command) -> list[click.Option]:
    """Return the options of a command that its help shows."""
    return [param for param in command.params if isinstance(param, click.Option) and not param.hidden]


def help_pages() -> str:
    """Return the help page of each command, under a heading of its own; options that others have too are named
    alone."""
    parts = [f"## `gradedeval`\n\n{block(['--help'])}"]
    for name, command in commands():
        common = [option for option in options(command) if option_section(option) != THIS_COMMAND]
        left_out = {flag for option in common for flag in option.opts} | {"-h", "--help"}
        page = without_common(block([*name.split(), "--help"]), left_out)
        flags = [code(max(option.opts, key=len)) for option in common if option_section(option) != HELP]
        others = f"\n[Also](options.md): {', '.join(flags)}\n" if flags else ""
        parts.append(f"## `gradedeval {name}`\n\n{page}{others}")
    return "\n" + "\n".join(parts) + "\n"


def option_section(option: click.Option) -> str:
    section: str = getattr(option, "section", HELP)
    return section


def without_common(page: str, common: set[str]) -> str:
    """Return a help page without the options that the page of options has."""
    titles = (MOST_USED, *SECTIONS)
    sections: list[list[str]] = [[]]
    leaving = in_options = False
    for line in page.splitlines():
        if line and not line.startswith(" "):
            in_options, leaving = line.removesuffix(":") in titles, False
            sections.append([])
        elif in_options and line.startswith("  -"):
            leaving = re.split(r"[ ,]", line.strip())[0] in common
        if not leaving or not line:
            sections[-1].append(line)
    kept = [lines for lines in sections if any(lines[1:]) or "".join(lines[:1]).removesuffix(":") not in titles]
    text = "\n".join("\n".join(lines) for lines in kept if lines)
    return re.sub(r"\n+```$", "\n```", text) + "\n"


def all_options() -> str:
    """Return a table of every option with its help and its commands, by the sections of the help pages; the drop-in
    has a table of its own."""
    tables: dict[str, dict[tuple[str, str], list[str]]] = {section: {} for section in (*SECTIONS, DROP_IN)}
    for name, command in commands():
        for option in options(command):
            section = DROP_IN if name == "trec_eval" else getattr(option, "section", HELP)
            tables[section].setdefault(described(option), []).append(name)
    parts = []
    for section, rows in tables.items():
        last = section == DROP_IN
        parts += [
            f"## {section.replace('this command', 'single commands')}\n",
            "| option | what it does |" + ("" if last else " commands |"),
        ]
        parts.append("|---|---|" + ("" if last else "---|"))
        for (spelled, text), names in rows.items():
            parts.append(f"| {spelled} | {text} |" + ("" if last else f" {listed(names)} |"))
        parts.append("")
    return "\n" + "\n".join(parts) + "\n"


def listed(names: list[str]) -> str:
    """Return the commands that take an option; those of a group together, as in `plot: runs, topics`."""
    groups = {name.split()[0] for name in names if " " in name}
    plain = ", ".join(name for name in names if " " not in name)
    inner = [f"{group}: {', '.join(name.split()[1] for name in names if name.startswith(f'{group} '))}"
             for group in sorted(groups)]  # fmt: skip
    return "; ".join(part for part in (plain, *inner) if part)


def described(option: click.Option) -> tuple[str, str]:
    """Return the spelling of an option, its choices if they are few, and its help."""
    metavar = option.metavar or ""
    choices = metavar[1:-1].split("|") if re.fullmatch(r"\[[\w|-]+\]", metavar) else getattr(option.type, "choices", ())
    value = "" if choices or not metavar else f" {metavar}"
    *short, long = sorted(option.opts, key=len)
    spelled = ", ".join(map(code, (*short, f"{long}{value}")))
    words = " · ".join(f"`{choice}`" for choice in choices)
    return spelled, f"{words}{'. ' if words else ''}{escaped(option.help or '')}"


def block(words: list[str]) -> str:
    lines = (line.rstrip() for line in run_gradedeval(words, HERE, columns=100).splitlines())
    return "```text\n" + "\n".join(lines) + "\n```\n"


def formats() -> str:
    """Return the output formats, with the extension of a file that means each."""
    people = {"wide": "people", "long": "programs", "trec": "scripts for trec_eval"}
    shape = {"wide": "tables, rounded", "long": "long form, full precision", "trec": "trec_eval's three columns"}
    rows = [
        f"| `{name}` | `{form.extension}` | {people[form.layout]} | {shape[form.layout]} |"
        for name, form in FORMATS.items()
    ]
    return "\n".join(["", "| format | extension | for | what it has |", "|---|---|---|---|", *rows]) + "\n\n"


def measures() -> str:
    """Return a section for each family of measures, and one in it for each measure."""
    names = {module: [] for module, _ in LINES}  # type: dict[str, list[str]]
    for module, line in LINES:
        names[module] += line.split()
    parts = []
    for module in sorted(names, key=lambda module: [*FAMILIES, module].index(module)):
        title = FAMILIES.get(module) or first_sentence(import_module(f"gradedeval.kernel.measures.{module}"))
        parts += [f"## {title}\n", *map(measure, names[module])]
    return "\n" + "\n".join(parts) + "\n"


def collections() -> str:
    """Return a row for each test collection that has a name."""
    lines = ["| name | test collection | in ir_datasets | usual measures | relevant from |", "|---|---|---|---|---|"]
    for entry in gradedeval.Qrels.collections().values():
        description = f"{entry.description} ({entry.note})" if entry.note else entry.description
        lines.append(f"| `{entry.name}` | {description} | `{entry.dataset}` | `{entry.measures}` | {entry.rel} |")
    return "\n".join(lines) + "\n"


def first_sentence(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0].rstrip(".")


def measure(name: str) -> str:
    """Return the output of `gradedeval measures NAME` as a section."""
    described = Description(MEASURES[name])
    meanings = {code(key): value for key, value in described.meanings.items() if key not in SHARED_PARAMETERS}
    entries = described.entries | meanings
    for key in ("formula", "parameters"):
        if key in entries:
            entries[key] = code(entries[key]) if key == "formula" else ", ".join(map(code, entries[key].split(", ")))
    rows = [f"| {key} | {value} |" for key, value in entries.items()]
    return "\n".join([f"### {name}\n", f"{described.summary}\n", "| | |", "|---|---|", *rows]) + "\n"


def code(text: str) -> str:
    """Return code in a cell of a table. A bar in it needs HTML, the only spelling that code hosts and the site
    share."""
    if "|" not in text:
        return f"`{text}`"
    return f"<code>{re.sub('[|*_]', lambda sign: f'&#{ord(sign[0])};', html.escape(text))}</code>"


def aliases() -> str:
    """Return a table of other tools' names of measures."""
    rows = [f"| `{alias}` | [`{text}`](measures.md#{notation_of(alias)}) |" for alias, text in sorted(ALIASES.items())]
    return "\n".join(["", "| other name | measure here |", "|---|---|", *rows]) + "\n\n"


PYTHON_PAGES = {
    "evaluate": "evaluate evaluate_arrays Scores InputError EvaluationWarning",
    "inputs": "Qrels RelevanceEvaluator Options lint run_summaries",
    "measures": "parse_measures intent_aware Measure load_measures measure Gains row_sums safe_divide",
    "user models": "cwl UserState weights Weights fit fit_weights",
    "compare": "compare Comparison letters Letters topic_table topic_differences risk anova standardize",
    "explain": "explain Explanation diff Diff ranking_agreement RankingAgreement reproduction Reproduction",
    "compare measures": "correlate power plan_topics informativeness Informativeness precision_recall PrecisionRecall",
    "judge": "pool Pool to_judge ToJudge leave_one_out LeftOut agreement Agreement",
    "gate": "check Bound testing.assert_scores testing.assert_no_worse append_history read_history History",
    "publish": "table html_report verify Verification",
    "plot": "plot.runs plot.topics plot.explain plot.weights plot.pr plot.correlate plot.scatter plot.power plot.fit"
    " plot.informative plot.clicks plot.save plot.style",
    "clicks": "clicks.read_log clicks.ClickLog clicks.observe clicks.Observation clicks.fit clicks.Fits clicks.measures"
    " clicks.correlate clicks.ClickCorrelations clicks.simulate",
    "click models": "clicks.models clicks.ClickModels clicks.ClickModel clicks.read_model clicks.Prediction"
    " clicks.gains clicks.LearnedValues",
    "rankers": "ltr.objective ltr.Objective ltr.LambdaObjective ltr.SmoothObjective ltr.metric ltr.Metric"
    " ltr.swap_deltas ltr.softgap ltr.approx",
}
"""The pages of the Python reference, and the public functions and classes on each in reading order."""


def public_names() -> list[str]:
    """Return the public functions and classes of the package and of its public modules."""
    inner = [
        f"{module}.{name}"
        for module in ("clicks", "ltr", "plot", "testing")
        for name in getattr(gradedeval, module).__all__
    ]
    things = {name: attrgetter(name)(gradedeval) for name in (*gradedeval.__all__, *inner)}
    return [name for name, thing in things.items() if inspect.isclass(thing) or inspect.isfunction(thing)]


def title_of(name: str) -> str:
    """Return the heading of a public name."""
    return f"class {name}" if inspect.isclass(attrgetter(name)(gradedeval)) else name


def python_page(names: str) -> str:
    """Return public names with their signatures and docstrings, and the members of classes."""
    parts = []
    for name in names.split():
        thing = attrgetter(name)(gradedeval)
        parts.append(entry(f"## {title_of(name)}", f"gradedeval.{name}", thing))
        if inspect.isclass(thing):
            parts += members(name, thing)
    return "\n" + "\n".join(map(without_shared_options, parts)) + "\n"


def python_index() -> str:
    """Return the pages of the Python reference with links to their entries."""
    rows = ["", "| page | entries |", "|---|---|"]
    for page, names in PYTHON_PAGES.items():
        file = f"{page.replace(' ', '-')}.md"
        anchors = {name: re.sub(r"[^\w-]", "", title_of(name).replace(" ", "-")).lower() for name in names.split()}
        links = " · ".join(f"[`{name}`]({file}#{anchor})" for name, anchor in anchors.items())
        rows.append(f"| [{page.capitalize()}]({file}) | {links} |")
    return "\n".join(rows) + "\n\n"


def without_shared_options(text: str) -> str:
    """Return an entry that names only the options that `evaluate` has in the same words."""
    shared = docstring(gradedeval.evaluate).partition("\nOptions:\n")[2].splitlines()
    rows_of_page = [row for row in text.partition("\nOptions:\n")[2].splitlines() if row.startswith("| `")]
    same = [row for row in rows_of_page if row in shared]
    if not same or text.startswith("## evaluate\n"):
        return text
    names = ", ".join(row.split("|")[1].strip() for row in same)
    kept = "\n".join(line for line in text.splitlines() if line not in same) + "\n"
    kept = kept.replace("\nOptions:\n", f"\nOptions, as of [evaluate](evaluate.md#evaluate): {names}.\n")
    return kept.replace("\n\n| | |\n|---|---|\n", "\n") if len(same) == len(rows_of_page) else kept


def members(name: str, thing: type) -> Iterator[str]:
    """Yield the documented public methods and properties of a class."""
    for member, raw in vars(thing).items():
        value = getattr(raw, "func", raw)  # a cached property keeps its function there
        value = raw.fget if isinstance(raw, property) else getattr(value, "__func__", value)
        if member.startswith("_") or not inspect.isfunction(value) or not value.__doc__:
            continue
        title = f"### {name}.{member}"
        yield entry(title, f"{name}.{member}", value, call=inspect.isfunction(getattr(raw, "__func__", raw)))


def entry(title: str, name: str, thing: Any, *, call: bool = True) -> str:
    """Return a heading, how it is called, and the docstring."""
    called = f"```text\n{signature(name, thing)}\n```\n\n" if call else ""
    return f"{title}\n\n{called}{docstring(thing)}"


def signature(name: str, thing: Any) -> str:
    """Return the call, one parameter a line where it is long."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except ValueError:
        return name
    plain = (parameter.replace(annotation=parameter.empty) for parameter in parameters)
    names = [re.sub(r"<function (\w+) at \w+>", r"\1", str(parameter)) for parameter in plain]
    stars = [parameter.kind for parameter in parameters]
    if inspect.Parameter.KEYWORD_ONLY in stars and inspect.Parameter.VAR_POSITIONAL not in stars:
        names.insert(stars.index(inspect.Parameter.KEYWORD_ONLY), "*")
    names = [name for name in names if name != "self"]
    line = f"{name}({', '.join(names)})"
    return line if len(line) <= 90 else f"{name}(\n" + "".join(f"    {part},\n" for part in names) + ")"


def docstring(thing: Any) -> str:
    """Return a docstring as Markdown: aligned lists of names and meanings as tables, everything else as it is."""
    return "\n".join(map(paragraph, (inspect.getdoc(thing) or "").split("\n\n")))


def paragraph(text: str) -> str:
    """Return a paragraph; examples and indented lines as a block; lines of a name, blanks and its meaning as a
    table."""
    lines = text.splitlines()
    if text.startswith(">>> "):
        return f"```pycon\n{text}\n```\n"
    if all(line.startswith("    ") for line in lines):
        return f"```text\n{inspect.cleandoc(text)}\n```\n"
    rows: list[list[str]] = []
    for number, line in enumerate(lines):
        if named := re.fullmatch(r"([\w`.*-]+(?:, [\w`.*-]+)*) {2,}(\S.*)", line):
            rows.append([named[1], named[2]])
        elif rows and line.startswith(" "):
            rows[-1][1] += f" {line.strip()}"
        else:
            rest = "\n".join(lines[number:])
            return table(rows) + ("\n" if rows else "") + f"{escaped(rest)}\n"
    return table(rows)


def table(rows: list[list[str]]) -> str:
    """Return a table of names and meanings."""
    lines = [f"| `{name}` | {escaped(meaning)} |" for name, meaning in rows]
    return "\n".join(["| | |", "|---|---|", *lines]) + "\n" if rows else ""


def escaped(text: str) -> str:
    """Return text whose signs have no meaning in Markdown, except within code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*<|])", r"\\\1", part) for part in parts)


def other_tools() -> str:
    """Measures as other tools write them, tool by tool, and how they are written here."""
    tools = {
        "ir_measures": {**IR_MEASURES, **BY_INTENT},
        "trec_eval": {**TREC_EVAL, **{name: " ".join(here) for name, here in SEVERAL.items()}},
        "ranx": {name: here for name, (here, _) in RANX.items()},
        "cwl_eval": CWL_EVAL,
        "MTEB and BEIR": MTEB,
        "sentence-transformers": EVALUATOR,
    }
    parts = []
    for tool, names in tools.items():
        rows = [f"| {code(name)} | {code(here)} |" for name, here in names.items()]
        parts.append("\n".join([f"## {tool}\n", f"| {tool} | gradedeval |", "|---|---|", *rows]) + "\n")
    return "\n" + "\n".join(parts) + "\n"


def differences() -> str:
    """Names that mean something else in another tool."""
    noted = [f"| {code(name)} | {escaped(with_flags(different.reason))} |" for name, different in DIFFERENT.items()]
    rows = [
        *noted,
        *(f"| {code(name)} | {escaped(difference)} |" for name, difference in DIFFERENT_WITHOUT_NOTE.items()),
    ]
    return "\n" + "\n".join(["| name | there |", "|---|---|", *rows]) + "\n\n"


def words_of_others() -> str:
    """Return a table of unknown words and the messages about them."""
    parts = []
    for kind, words in synonyms().items():
        meant: dict[str, list[str]] = {}
        for word, (ours, _) in sorted(words.items()):
            meant.setdefault(ours, []).append(word)
        answers = {ours: ", or ".join(map(answer, ours.split(" | "))) for ours in meant}
        rows = [f"| {' '.join(map(code, typed))} | {answers[ours]} |" for ours, typed in sorted(meant.items())]
        parts.append("\n".join([f"### {kind.capitalize()}\n", "| typed | here |", "|---|---|", *rows]) + "\n")
    return "\n" + "\n".join(parts) + "\n"


def answer(choice: str) -> str:
    """Return the suggestion for a synonym: words to type as code, sentences unchanged."""
    command = choice.rpartition("? ")[2]
    return (
        code(command) if " " not in command or command[0] == "-" or command.split()[0] in COMMANDS else escaped(command)
    )


def column_names() -> str:
    """Return a table of columns and all their names."""
    rows = [f"| {holds} | {' · '.join(map(code, names))} |" for holds, names in COLUMNS.items()]
    return "\n" + "\n".join(["| what it holds | names |", "|---|---|", *rows]) + "\n\n"


def file_formats() -> str:
    """Return a table of every format: its signature, the time of a million lines, and the messages about broken
    files."""
    times = million_lines()
    rows = [
        f"| format | of | options | the signature says | a million lines | {' | '.join(BROKEN)} |",
        "|---|---|---|---|---|" + "---|" * len(BROKEN),
    ]
    with samples() as folder:
        for sample in KINDS:
            sample.write(folder / "FILE")
            printed = run_gradedeval([*sample.files, "-m", "ap", *sample.words], folder, hushed=True)
            signature = " ".join(printed.split())
            parts = [part for part in signature.split(" | ") if part.startswith(f"{sample.holds} format")]
            cells = [code(" ".join(sample.words)) if sample.words else "", parts[0] if parts else ""]
            cells.append("; ".join(times[sample.format, sample.holds]))
            for damage in BROKEN.values():
                damage(sample, folder / "FILE")
                cells.append(code(run_gradedeval([*sample.files, "-m", "ap", *sample.words], folder).strip()))
            rows.append(f"| {sample.format} | {sample.holds} | {' | '.join(cells)} |")
    return "\n" + "\n".join(rows) + "\n\n"


def shapes() -> str:
    """Return every shape of JSON: an example, and one line that writes it."""
    parts = []
    for shape in SHAPES:
        name = shape.name + (f" (format {shape.format})" if shape.format else "")
        head = f"**{name}**, {' or '.join(shape.holds)}: {shape.meaning}."
        made_by = shape.made_by if "`" in shape.made_by else f"`{shape.made_by}`"
        parts.append(f"{head}\n\n```json\n{shape.example}\n```\n\nWritten by {made_by}\n")
    lists = [(content, kind, shape) for shape in SHAPES if shape.layout == "lists" for content, kind in KINDS_OF_LISTS]
    rows = ["| shape | lists | names |", "|---|---|---|"]
    for content, kind, shape in lists:
        if kind in shape.holds:
            rows.append(f"| {shape.name} | {content} | {' · '.join(map(code, shape.documents(kind)))} |")
    return "\n" + "\n".join(parts) + "\n" + "\n".join(rows) + "\n\n"


KINDS_OF_LISTS = (("results", "run"), ("relevant documents", "qrels"))


def million_lines() -> dict[tuple[str, str], list[str]]:
    """(format, run or qrels) -> seconds for a million lines, and how many times as long as in TREC form."""
    rows: dict[tuple[str, str], list[str]] = {}
    for row in time_rows():
        ratio = "" if row["format"] == "trec" else f" ({row['ratio']} ×)"
        time = f"{row['what']}: {row['seconds']} s{ratio}".removeprefix(": ")
        rows.setdefault((row["format"], row["holds"]), []).append(time)
    return rows


def time_rows() -> list[dict[str, str]]:
    """Return the rows that the benchmark of file formats printed."""
    with open(ROOT / "tests/benchmarks/file_formats.tsv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def written_files() -> str:
    """Return a table of the tools that write each format, and the first line of a file."""
    rows = ["| format | of | written by | a line of it |", "|---|---|---|---|"]
    with samples() as folder:
        for sample in SAMPLES:
            sample.write(folder / "FILE")
            line = first_line((folder / "FILE").read_bytes())
            rows.append(f"| {sample.format} | {sample.holds} | {sample.by} | {line} |")
    return "\n" + "\n".join(rows) + "\n\n"


def refused_files() -> str:
    """Return a table of wrong files and the messages about them."""
    rows = ["| what is wrong | where | the message |", "|---|---|---|"]
    with samples() as folder:
        for wrong in WRONG:
            wrong.write(folder / "FILE")
            message = run_gradedeval([*wrong.files, "-m", "ap", *wrong.words], folder).strip()
            rows.append(f"| {wrong.what} | {wrong.holds} | {code(message)} |")
    return "\n" + "\n".join(rows) + "\n\n"


@contextlib.contextmanager
def samples() -> Iterator[Path]:
    """Yield a folder with a run and qrels in TREC form."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "trec.run").write_text(TREC_RUN)
        (folder / "trec.qrels").write_text(TREC_QRELS)
        yield folder


def first_line(content: bytes) -> str:
    """Return the beginning of a text file."""
    if content.startswith((b"PAR1", b"ARROW1", b"\xff\xff")):
        return ""
    first, *others = (line.strip(" ").replace("\t", "⇥") for line in content.decode("utf-8-sig").splitlines())
    text = " ".join([first, *others]) if first in ("{", "[") else first
    return code(text if len(text) < 50 else f"{text[:48]}…")


def files_of_commands() -> str:
    """Return a table of the files that each command reads and writes, as its options declare them."""
    rows = ["| command | reads | replaces | appends to |", "|---|---|---|---|"]
    for name, command in LEAVES.items():
        columns: dict[str, list[str]] = {READS: [], WRITES: [], APPENDS: []}
        for param in command.params:
            if does := getattr(param, "file", ""):
                argument = isinstance(param, click.Argument)
                columns[does].append(code(str(param.metavar) if argument else min(param.opts, key=len)))
        if any("--gain" in param.opts for param in command.params):
            columns[READS].append("`--gain @FILE`")
        arguments = [name for name in columns[READS] if not name.startswith("`-")]
        columns[READS] = [*arguments, *sorted(name for name in columns[READS] if name.startswith("`-"))]
        rows.append(f"| `{name}` | " + " | ".join(", ".join(files) for files in columns.values()) + " |")
    return "\n" + "\n".join(rows) + "\n\n"


FEATURES = ("queries", "slices", "replicates")
"""Options with facts about topics and runs."""
ASIDE = {
    ("eval", "queries"): "with `-q`",
    ("compare", "queries"): "as columns of `--slices`",
    ("diff", "queries"): "with qrels",
    ("diff", "slices"): "with qrels",
    ("check", "slices"): "in bounds",
    ("plot runs", "queries"): "as columns of `--slices`",
    ("plot runs", "slices"): "with `--slice`",
    ("pool", "queries"): "with `--to-judge`",
}
"""The condition under which a command shows it."""


def features() -> str:
    """Return a table of the commands that take facts about topics and runs."""
    rows = [f"| command | {' | '.join(code(f'--{name}') for name in FEATURES)} |", "|---|---|---|---|"]
    for name, command in LEAVES.items():
        spellings = {spelling for option in options(command) for spelling in option.opts}
        marks = [ASIDE.get((name, feature), "yes") if f"--{feature}" in spellings else "–" for feature in FEATURES]
        if {*marks} != {"–"}:
            rows.append(f"| `{name}` | {' | '.join(marks)} |")
    return "\n" + "\n".join(rows) + "\n"


def conformance_families() -> str:
    """Return the files of conformance vectors, with the number of cases and the measures of each."""
    found: dict[str, list[str]] = {}
    for case in conformance_cases():
        found.setdefault(case.family, []).append(case.entry.measure)
    rows = []
    for family, measures in found.items():
        names = dict.fromkeys(re.split("[(@]", measure)[0] for measure in measures)
        rows.append(f"| `{family}.json` | {len(measures)} | {' '.join(names)} |")
    total = sum(map(len, found.values()))
    return "\n".join(["", "| file | cases | measures |", "|---|---|---|", *rows, f"| total | {total} | |"]) + "\n\n"


def conformance_differences() -> str:
    """Return a table of other tools' differences from the conformance vectors, with reasons and numbers of cases."""
    rows = [f"| {tool} | {reason} | {count} | {example} |" for tool, reason, count, example in reasons()]
    return "\n".join(["", "| tool | why | cases | for example |", "|---|---|---|---|", *rows]) + "\n\n"


def wrong_ndcgs() -> str:
    """Return the mistakes of home-made nDCG code, each with an input, its number and the right one."""
    lines = ["", "| mistake | run | qrels | wrong | here |", "|---|---|---|---|---|"]
    for mistake in MISTAKES:
        run, qrels = mistake.input
        name = f"ndcg@{mistake.k}"
        with warnings.catch_warnings(action="ignore"):
            score = gradedeval.evaluate(run, qrels, name, **mistake.options)[name]
        wrong = mistake.make(mistake.k)(run, qrels)
        lines.append(f"| {mistake.name} | `{mistake.run}` | `{mistake.qrels}` | {wrong:.4f} | {score:.4f} |")
    return "\n".join(lines) + "\n\n"


PARTS: dict[str, Callable[[], str]] = {
    "help pages": help_pages,
    "options": all_options,
    "features": features,
    "formats": formats,
    "measures": measures,
    "collections": collections,
    "other names": aliases,
    "other tools": other_tools,
    "differences": differences,
    "words of others": words_of_others,
    "python index": python_index,
    **{f"python {page}": partial(python_page, names) for page, names in PYTHON_PAGES.items()},
    "column names": column_names,
    "files of commands": files_of_commands,
    "file formats": file_formats,
    "written files": written_files,
    "refused files": refused_files,
    "shapes": shapes,
    "wrong ndcgs": wrong_ndcgs,
    "conformance files": conformance_families,
    "conformance differences": conformance_differences,
}
