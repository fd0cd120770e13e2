"""Bounds of a check, on the command line and in a settings file."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from gradedeval import kernel
from gradedeval.analysis import significance
from gradedeval.errors import Guess, InputError, check_choice, did_you_mean, flag
from gradedeval.kernel import Measure, Options, parse_measures, resolve_options

Kind = Literal["min", "max", "max-drop", "no-worse", "max-topic-drop", "significant", "max-unjudged", "min-topics"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COMPARED = ("max-drop", "no-worse", "max-topic-drop", "significant")
RELATIVE = ("max-drop", "no-worse")
"""Bounds that may be a share of the baseline's mean."""
LIMIT = kernel.ranges.Number("the limit")
EVERY_MEASURE = ("max-drop", "no-worse", "significant", "min-topics")
"""Bounds whose bare value applies to each measure."""
UNTESTED = ("max-drop", "min-topics")
"""Those among them that apply to the default measures if none is named: a test is corrected over chosen measures."""


@dataclass(frozen=True)
class Bound:
    """A bound on a measure.

    kind      `min` or `max` of the mean (or total, or geometric mean); `max-drop` from the baseline's mean; `no-worse`
              than the baseline's mean by a margin, if the topics can tell; `max-topic-drop` of any topic; `significant`
              drop at a level; `max-unjudged`: how much unjudged documents could add to the mean; `min-topics` in the
              mean for which the run has documents, and the baseline too, if there is one. If lower is better, a drop
              is a rise
    measure   its notation, as in the scores
    limit     the score, drop, margin, level or number
    relative  whether the limit is a share of the baseline's mean
    place     its name in error messages
    slice     its slice of topics, as in `intent=tail`; empty: all topics

    Raises InputError (usage) for an unknown kind, or a limit that is not a finite number.

    >>> bound = gradedeval.Bound("max-drop", "err@20", 0.02, relative=True)
    >>> bound.name, bound.allowed
    ('max-drop err@20', '2%')
    """

    kind: Kind
    measure: str
    limit: float
    relative: bool = False
    place: str = ""
    slice: str = ""

    def __post_init__(self) -> None:
        check_choice(self.kind, KINDS, self.place or "Bound")
        LIMIT.check_field(self, "limit")

    @property
    def name(self) -> str:
        """Slice, kind and measure as text."""
        return f"{self.slice}: {self.kind} {self.measure}" if self.slice else f"{self.kind} {self.measure}"

    @property
    def allowed(self) -> str:
        """The limit as text."""
        return f"{100 * self.limit:g}%" if self.relative else f"{self.limit:g}"


@dataclass(frozen=True)
class BoundSpec:
    """A bound before its measure is resolved.

    measure    notation; None for a bare value, which bounds every measure; with `min`, `max`, `max-topic-drop` and
               `max-unjudged` the only measure
    from_file  whether it is from a settings file, which the command line overrides
    slice      empty: all topics
    cutoff     default cutoff of its measure
    """

    kind: Kind
    measure: str | None
    value: Any
    place: str
    from_file: bool = False
    slice: str = ""
    cutoff: int | None = None


OF_SLICE = re.compile(r"(?P<slice>[^:=()]+=(?:.+?(?=:\s)|[^:=()]+)):\s*(?P<bound>.+)", re.DOTALL)
"""A bound of a slice, as in `intent=tail: ndcg@10=0.4`. A label with brackets or colons needs the space behind the
colon."""
ONLY_LABEL = re.compile(r"[^:=()]+:[^:=()]+(?:\(.*)?", re.DOTALL)
"""Measure of a bound whose slice lacks the column, as in `tail: ndcg@10=0.4`."""
COMPARISONS = {"min": ">", "max": "<"}
"""Optional sign before the = of a bound, as in `--min 'ndcg@20>=0.8'`."""


def read_bound(kind: Kind, word: str, cutoff: int | None = None) -> BoundSpec:
    """Read a bound of one kind: MEASURE=VALUE or a bare VALUE, with an optional prefix `SLICE: `.

    cutoff  default cutoff of its measure
    """
    sliced = OF_SLICE.fullmatch(word)
    name, equals, value = (sliced["bound"] if sliced else word).rpartition("=")
    measure = name.removesuffix(COMPARISONS.get(kind, "=")) if equals else None
    label = sliced["slice"].strip() if sliced else ""
    return BoundSpec(kind, measure, value, f"--{kind} {word}", slice=label, cutoff=cutoff)


def resolve_bounds(
    specs: Iterable[BoundSpec],
    measures: Iterable[Measure],
    options: Options,
    table: Mapping[str, Measure] | None = None,
) -> tuple[list[Bound], list[Measure]]:
    """Return the bounds, one of each kind, measure and slice, and all measures that they need.

    measures  the measures of -m, which bare values bound; without any, the default measures

    Raises InputError (usage) for an invalid limit or measure, for a bare value without exactly one measure, and for
    a repeated bound, under any name of its measure: only the command line overrides a file.
    """
    measures, written = list(measures), list(specs)
    bounds: dict[tuple[Kind, str, str], Bound] = {}
    spec_of: dict[tuple[Kind, str, str], BoundSpec] = {}
    bare = [spec for spec in written if spec.kind in EVERY_MEASURE and spec.measure is None]
    if not measures and bare == written and all(spec.kind in UNTESTED for spec in bare):
        # Coverage, as by judged@20, is no quality.
        measures = [measure for measure in parse_measures(kernel.parse.DEFAULT) if measure.definition.gain is not None]
    chosen = list(measures)
    # Such a value bounds every measure, of -m or else of the remaining bounds, so it is resolved last.
    for spec in [*(spec for spec in written if spec not in bare), *bare]:
        limit, relative = _limit(spec)
        bounded = _measures_of(spec, measures or chosen if spec in bare else measures, table)
        for measure in bounded:
            _check_reach(spec, measure, limit, relative)
            applied = kernel.scores.with_defaults(measure, options)
            key = spec.kind, str(applied), spec.slice
            if _replaces(spec, spec_of.get(key), measure):
                spec_of[key] = spec
                bounds[key] = Bound(spec.kind, applied.label, limit, relative, spec.place, spec.slice)
        chosen += [measure for measure in bounded if measure not in chosen and spec.measure is not None]
    if not bounds:
        text = "for example --min err@20=0.25 or --max-drop err@20=5%; `gradedeval lint` checks the files themselves"
        hint = Guess("check", "lint", text=text)
        raise InputError("", "no bound to check", hint, usage=True)
    return list(bounds.values()), list(dict.fromkeys(chosen))


def _replaces(spec: BoundSpec, previous: BoundSpec | None, measure: Measure) -> bool:
    """Return whether a bound replaces the previous one of the same kind and measure, if any. Raises InputError (usage)
    for two bounds from the same source."""
    if previous is None or previous is spec:
        return True
    if previous.from_file == spec.from_file:
        problem = f"given twice: {previous.place} bounds '{measure.label}' as well"
        raise InputError(spec.place, problem, "keep one of the two", usage=True)
    return previous.from_file


def _measures_of(spec: BoundSpec, measures: list[Measure], table: Mapping[str, Measure] | None) -> list[Measure]:
    """Return the measures of a bound."""
    if spec.measure is not None:
        try:
            return parse_measures(spec.measure, table, spec.cutoff)
        except InputError as error:
            message = f"{error.place}: {error.raw[0]}" if error.place else error.raw[0]
            hint = "write SLICE=LABEL: MEASURE=VALUE" if ONLY_LABEL.fullmatch(spec.measure) else error.raw[1]
            raise error.replace(place=spec.place, problem=message, hint=hint, usage=True) from None
    unique = list(dict.fromkeys(measures))
    if spec.kind in EVERY_MEASURE and unique:
        return unique
    if len(unique) != 1:
        if unique:
            each = f" --{spec.kind} ".join(f"{measure.label}={spec.value}" for measure in unique)
            hint = Guess(str(spec.value), each, text=f"write MEASURE=VALUE, as in {unique[0].label}={spec.value}")
            raise InputError(spec.place, f"names no measure, and there are {len(unique)}", hint, usage=True)
        hint = f"write MEASURE=VALUE, for example err@20=0.25, or give one {flag.measure}"
        raise InputError(spec.place, "names no measure", hint, usage=True)
    return unique


def _check_reach(spec: BoundSpec, measure: Measure, limit: float, relative: bool) -> None:
    """Raise InputError (usage) for a bound that no score could break: such a check would always pass."""
    definition, (summary, better) = measure.definition, measure.reading
    if relative:
        maximum = 1.0 if better != "lower" and definition.floor >= 0 else math.inf
    else:
        maximum = definition.ceiling if summary != "total" and measure.arguments.get("of", "eu") == "eu" else math.inf
    certain = limit >= maximum if spec.kind == "no-worse" else limit > maximum
    if spec.kind in ("max", "max-drop", "no-worse", "max-topic-drop", "max-unjudged") and certain:
        hint = f"write {spec.value}% for a share of the baseline's mean" if spec.kind in RELATIVE else ""
        reason = "a mean drops by 100% at most" if relative else f"'{measure}' is {maximum:g} at most"
        raise InputError(spec.place, f"can never fail: {reason}", "" if relative else hint, usage=True)


def _limit(spec: BoundSpec) -> tuple[float, bool]:
    """Return the limit, and whether it is relative to the baseline."""
    word = spec.value
    relative = isinstance(word, str) and word.strip().endswith("%")
    if relative and spec.kind not in RELATIVE:
        takers = " and ".join(f"--{kind}" for kind in RELATIVE)
        raise InputError(spec.place, f"'{word}' is a percentage", f"only {takers} take percentages", usage=True)
    try:
        limit = LIMIT.read(word.strip().removesuffix("%")) if isinstance(word, str) else LIMIT.check(word)
    except InputError:
        name, sign, value = str(word).partition(COMPARISONS.get(spec.kind, "="))
        hint = f"write {sign}= or =, as in {name}{sign}={value}" if sign else "for example err@20=0.25"
        raise InputError(spec.place, f"'{word}' is not a number", hint, usage=True) from None
    if spec.kind == "min-topics" and (limit < 1 or not limit.is_integer()):
        raise InputError(spec.place, f"{word} is not a number of topics", "give 1 or more", usage=True)
    if limit < 0 and spec.kind not in ("min", "max"):
        hint = "give a margin above 0" if spec.kind == "no-worse" else "give 0 or more"
        raise InputError(spec.place, f"{word} is negative", hint, usage=True)
    if limit == 0 and spec.kind == "no-worse":
        hint = "give a margin above 0, such as 5%; --significant tests for any drop"
        raise InputError(spec.place, "no number of topics shows that nothing is lost", hint, usage=True)
    if spec.kind == "significant" and not 0 < limit < 1:
        hint = "give a number between 0 and 1, such as 0.05"
        raise InputError(spec.place, f"{word} is not a significance level", hint, usage=True)
    return (limit / 100 if relative else limit), relative


Place = Callable[..., str]
"""Keys -> file and line of the statement that sets them."""
_UNQUOTED = re.compile(r"""(?:^|[{,.])\s*(?P<key>[A-Za-z]\w*(?:\([^)"']*\)(?:@\d+)?|@\d+))\s*=""")
"""A measure as a key without quotes."""
LONGEST = 10_000
"""Number of characters of a line that are searched for such a key."""
LARGEST, DEEPEST, MOST_DIGITS = 1 << 20, 50, 400
"""Maximum bytes of a settings file, depth of brackets or parts of a key, and digits of a number. Beyond them Python's
parser takes minutes, or fails."""
# Strings and comments may contain brackets and line ends that end no statement.
_TOKEN = re.compile(
    r'''"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{0,5}|"(?:[^"\\\n]|\\.)*+"?'''
    r"""|'''(?:[^']|'{1,2}(?!'))*+'{0,5}|'[^'\n]*+'?|\#[^\n]*+|[][{}=,.\n]|[0-9][0-9_]*+""",
    re.DOTALL,
)

Undecided = Literal["pass", "fail"]
SETTINGS: dict[str, Any] = {"baseline": str, "measures": tuple, "undecided": str, "test": str, "draws": int,
    "seed": int}  # fmt: skip
# The options of `gradedeval check`, as on the command line but without `--`.
OPTION_KEYS = {
    described.flag[2:]: described for described in kernel.options.OPTIONS.values() if "reading" in described.taken_by
}
OPTION_KEYS |= {name: kernel.options.OPTIONS[name] for name in ("unseen", "queries", "slices", "replicates")}


class Settings(NamedTuple):
    """A settings file, if any: its bounds, options by name, and the measures that may be named."""

    path: str | None
    specs: list[BoundSpec]
    options: dict[str, Any]
    table: Mapping[str, Measure]


def find_settings(file: str | None, table: Mapping[str, Measure]) -> Settings:
    """Read the settings of `file`, else of gradedeval.toml, else of pyproject.toml if it has a table [tool.gradedeval].
    Raises InputError (usage) with the line of the problem."""
    if file is not None:
        return Settings(file, *read_settings(file, table), table)
    for name in ("gradedeval.toml", "pyproject.toml"):
        if os.path.isfile(name) and any(settings := read_settings(name, table, required=False)):
            return Settings(name, *settings, table)
    return Settings(None, [], {}, table)


def read_settings(
    path: str, table: Mapping[str, Measure] | None = None, required: bool = True
) -> tuple[list[BoundSpec], dict[str, Any]]:
    """Return the bounds and options in a TOML file, or in the table [tool.gradedeval] of a pyproject.toml.

    table     name -> Measure; default: the measures of this package
    required  whether a file without settings is an error
    """
    import tomllib  # only a check reads TOML

    try:
        content = _text(path)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "--config takes a TOML file", usage=True) from None
    except UnicodeDecodeError as error:
        raise InputError(path, f"not UTF-8 ({error.reason})", "save the file as UTF-8", usage=True) from None
    content = content.removeprefix("\ufeff")
    statements = statements_of(path, content)
    try:
        document: Any = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        pattern = r"(?P<problem>.*?) \(at (?:line (?P<line>\d+), column \d+|end of document)\)"
        message = re.fullmatch(pattern, str(error))
        lines = content.split("\n")
        line = (message and message["line"]) or len(lines) - (not lines[-1]) or 1
        problem = message["problem"] if message else str(error)
        bare = _UNQUOTED.search(lines[int(line) - 1][:LONGEST])
        hint = f'quote the key: "{bare["key"]}" = …' if bare else ""
        raise InputError(f"{path}:{line}", f"invalid TOML ({problem})", hint, usage=True) from None
    prefix: tuple[str, ...] = ()
    if Path(path).name == "pyproject.toml" or "tool" in document:
        prefix, document = ("tool", "gradedeval"), document.get("tool", {})
        document = document.get("gradedeval") if isinstance(document, dict) else None
    if not isinstance(document, dict) or not document:
        if required:
            missing = "table [tool.gradedeval]" if prefix else "settings"
            raise InputError(path, f"has no {missing}", 'for example min = { "err@20" = 0.25 }', usage=True)
        return [], {}

    line_of = lines_of_keys(statements)

    def place(*keys: str) -> str:
        return f"{path}:{line_of.get((*prefix, *keys), 1)}"

    return _settings(document, place, path, table)


def _text(path: str) -> str:
    try:
        data = kernel.stream.beginning(path, LARGEST + 1)
        kernel.stream.check_pointer(data, path)
    except InputError as error:
        raise error.replace(usage=True) from None
    if len(data) > LARGEST:
        raise InputError(path, f"has more than {LARGEST:,} bytes", "--config takes a file of settings", usage=True)
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")


def statements_of(path: str, content: str) -> list[tuple[int, str]]:
    """Return the statements of a TOML text (blank lines and comments are statements too), each with its first line.

    Raises InputError (usage) if brackets, keys or numbers are too large for the parser.
    """
    statements = []
    begin, first, line, depth, parts = 0, 1, 1, 0, 0
    for match in _TOKEN.finditer(content):
        token = match[0]
        line += token.count("\n")
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token, 0)
        parts = parts + (token == ".") if token not in "=,{}[]\n" else 0
        if max(depth, parts) > DEEPEST:
            problem = f"nested more than {DEEPEST} deep"
            raise InputError(f"{path}:{line}", f"invalid TOML ({problem})", "no setting is", usage=True)
        if token[0].isdigit() and len(token) > MOST_DIGITS:
            problem = f"a number of more than {MOST_DIGITS} digits"
            raise InputError(f"{path}:{line}", f"invalid TOML ({problem})", "give a smaller one", usage=True)
        if token == "\n" and depth <= 0:
            statements.append((first, content[begin : match.end()]))
            begin, first = match.end(), line
    return [*statements, (first, content[begin:])]


def lines_of_keys(statements: Iterable[tuple[int, str]]) -> dict[tuple[str, ...], int]:
    """Return for the keys of a valid text the first line of the first statement that sets them; the parser reports
    none."""
    import tomllib

    lines, table = dict[tuple[str, ...], int](), tuple[str, ...]()
    for line, text in statements:
        is_header = text.lstrip().startswith("[")
        if text.lstrip()[:1] in ("", "#"):
            continue
        paths = list(_paths(tomllib.loads(text), () if is_header else table))
        table = paths[-1] if is_header else table
        for keys in paths:
            lines.setdefault(keys, line)
    return lines


def _paths(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the keys of a table and of its inner tables."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield (*keys, key)
        yield from _paths(inner, (*keys, key))


def _settings(
    document: dict[str, Any], place: Place, config: str, table: Mapping[str, Measure] | None
) -> tuple[list[BoundSpec], dict[str, Any]]:
    specs, options = list[BoundSpec](), dict[str, Any]()
    for key, value in document.items():
        if (kind := _kind(key)) is not None:
            specs += _specs(kind, key, value, place)
        elif key == "slices" and isinstance(value, dict):
            specs += _of_slices(value, place)
            if "file" in value:
                options[key] = _option(kernel.options.OPTIONS[key], value["file"], place(key), config)
        elif key in OPTION_KEYS:
            options[OPTION_KEYS[key].name] = _option(OPTION_KEYS[key], value, place(key), config)
        elif key in SETTINGS:
            options[key.replace("-", "_")] = _setting(key, value, place(key), config, table)
        else:
            hint = did_you_mean(key, (*KINDS, *SETTINGS, *OPTION_KEYS)) or f"bounds are {', '.join(KINDS)}"
            if key in ("run", "runs", "qrels"):
                hint = "RUN and QRELS are given on the command line"
            elif key == "gradedeval":
                hint = "settings stand at the top of the file: leave out [gradedeval]"
            raise InputError(place(key), f"unknown setting '{key}'", hint, usage=True)
    return specs, options


def _kind(key: str) -> Kind | None:
    """Return the kind of bound that a key names, also with underscores, as in Python; None for another key."""
    return next((kind for kind in KINDS if kind == key.replace("_", "-")), None)


def _specs(kind: Kind, key: str, value: Any, place: Place, *within: str) -> list[BoundSpec]:
    """Return the bounds of one kind: one value, one for each measure, or a list as on the command line.

    key     its kind as written
    within  keys of the tables around it
    """
    slice_name = "=".join(within[1:])
    if isinstance(value, list):
        line = place(*within, key)
        if not all(isinstance(word, str) for word in value):
            raise InputError(line, f"{key} is not a list of strings", f'for example {key} = ["ndcg@10=5%"]', usage=True)
        read = [read_bound(kind, word) for word in value]
        return [replace(bound, place=line, from_file=True, slice=slice_name or bound.slice) for bound in read]
    of_measures = value.items() if isinstance(value, dict) else [(None, value)]
    return [
        BoundSpec(kind, measure, limit, place(*within, key, *([] if measure is None else [measure])), True, slice_name)
        for measure, limit in of_measures
    ]


def _of_slices(columns: dict[str, Any], place: Place) -> list[BoundSpec]:
    """Return the bounds of slices: tables [slices.COLUMN.LABEL]. A key `file` next to them is the value of --slices."""
    specs: list[BoundSpec] = []
    for column, labels in columns.items():
        if column == "file" and not isinstance(labels, dict):
            continue
        for label, kinds in labels.items() if isinstance(labels, dict) else [("", None)]:
            if not isinstance(kinds, dict):
                line = place("slices", column, *([label] if label else []))
                hint = 'as in [slices.intent.tail] and below it min = { "ndcg@10" = 0.4 }'
                raise InputError(line, "bounds of a slice stand in a table of their own", hint, usage=True)
            for key, value in kinds.items():
                if (kind := _kind(key)) is None:
                    hint = did_you_mean(key, KINDS) or f"bounds are {', '.join(KINDS)}"
                    line = place("slices", column, label, key)
                    raise InputError(line, f"unknown bound '{key}'", hint, usage=True)
                specs += _specs(kind, key, value, place, "slices", column, label)
    return specs


def _option(described: kernel.options.Option, value: Any, place: str, config: str) -> Any:
    """Return the value of an option, checked now so that an error has its line; a path is relative to the file's
    folder."""
    if described.names_file and isinstance(value, str):
        resolved = kernel.stream.resolve_relative(config, value)
        if described.name not in ("slices", "replicates") or os.path.exists(resolved):
            return resolved
        if described.name == "slices":  # columns of the queries, which are not read yet
            return value
    _check_at(place, lambda: resolve_options(**{described.name: value}))
    return value


def _check_at(place: str, check: Callable[[], object]) -> None:
    """Run a check; report its error at this line."""
    try:
        check()
    except InputError as error:
        raise error.replace(place=place, usage=True) from None


def _setting(key: str, value: Any, place: str, config: str, table: Mapping[str, Measure] | None) -> Any:
    if key == "measures":
        words = [value] if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            hint = 'for example measures = ["err@20", "ndcg@10"]'
            raise InputError(place, "measures is not a list of strings", hint, usage=True)
        _check_at(place, lambda: parse_measures(words, table))
        return tuple(words)
    kind = SETTINGS[key]
    if type(value) is not kind:
        expected = {bool: "true or false", int: "a whole number"}.get(kind, "a string")
        raise InputError(place, f"{key} is not {expected}", usage=True)
    if key == "undecided":
        check_choice(value, get_args(Undecided), place)
    arguments: dict[str, Any] = {key: value} if key in ("test", "draws", "seed") else {}
    _check_at(place, lambda: significance.TestSettings(**arguments))
    baseline = kernel.stream.resolve_relative(config, str(value)) if key == "baseline" else ""
    return baseline if os.path.exists(baseline) else value


# Margins in Python.


def margins(no_worse: Any, measures: Iterable[str]) -> list[Bound]:
    """Return the bounds of the keyword `no_worse`: measure -> margin, words as on the command line, or one margin.

    measures  the notations that a margin without a measure applies to
    """
    names = list(measures)
    if isinstance(no_worse, Mapping):
        specs = [BoundSpec("no-worse", name, value, f"no_worse: {name}") for name, value in no_worse.items()]
    else:
        single = isinstance(no_worse, str) or not isinstance(no_worse, Iterable)
        specs = [_margin(word) for word in ([no_worse] if single else no_worse)]
    bounds = []
    for spec in specs:
        limit, relative = _limit(spec)
        if spec.measure is None and not names:
            raise InputError(flag.no_worse, "names no measure", 'for example {"ndcg@10": "5%"}', usage=True)
        label = spec.slice and f"{spec.slice}: "
        for name in names if spec.measure is None else [spec.measure]:
            (measure,) = parse_measures(name)
            _check_reach(spec, measure, limit, relative)
            place = spec.place if spec.measure is not None else f"no_worse: {label}{name}"
            bounds.append(Bound("no-worse", name, limit, relative, place, spec.slice))
    return bounds


def _margin(word: Any) -> BoundSpec:
    """Read a word as of --no-worse; a number is a margin of every measure."""
    if not isinstance(word, str):
        return BoundSpec("no-worse", None, word, flag.no_worse)
    return replace(read_bound("no-worse", word), place=f"{flag.no_worse} {word}")
