"""Options that no measure of an evaluation uses: the inputs of each measure, and a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradedeval.errors import Flag, Note, plural, shorten
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.notation import write_value
from gradedeval.kernel.options import OPTIONS, Option, Options, exact
from gradedeval.kernel.scoring.scores import gain_option, with_defaults


@dataclass(eq=False, repr=False)
class Applied:
    """A measure, as requested, with the options that apply to it; `highest` is the highest grade of the qrels."""

    requested: Measure
    options: Options
    highest: float

    def __post_init__(self) -> None:
        self.measure = with_defaults(self.requested, self.options)

    @property
    def ignores_gains(self) -> bool:
        """Whether it counts documents viewed or their cost whatever their gains, as rbp(of=ed) does."""
        definition, rank_sum = self.measure.definition, self.measure.definition.rank_sum
        rank_sum = rank_sum(self.measure.arguments) if callable(rank_sum) else rank_sum
        counts = self.measure.arguments.get("of") in ("ec", "ed", "etc")
        return counts and definition.cwl is not None and rank_sum is not None and not self.is_foreign

    @property
    def takes_gain(self) -> bool:
        """Whether the gain scheme of the options applies."""
        return gain_option(self.requested, self.options) == "gain" and not self.ignores_gains

    @property
    def takes_rel(self) -> bool:
        """Whether the lowest relevant grade of the options applies."""
        return gain_option(self.requested, self.options) == "rel"

    @property
    def takes_fill(self) -> bool:
        """Whether unjudged documents may have gains."""
        return self.measure.takes_fill and not self.ignores_gains

    @property
    def reads_costs(self) -> bool:
        """Whether it depends on the costs of documents."""
        return self.measure.reads_costs or (self.is_foreign and self.measure.definition.cwl is not None)

    @property
    def has_bounds(self) -> bool:
        """Whether the lowest and the highest score are known."""
        return self.measure.bounds != "none"

    @property
    def is_foreign(self) -> bool:
        """Whether it is a user's own measure, which may read anything."""
        return self.measure.definition.code != ""

    @property
    def has_difference(self) -> bool:
        """Whether it has the signed difference of two cases."""
        measure = self.measure
        return measure.definition.cwl is not None and not measure.by_intent and not measure.judged_only

    @property
    def has_residual(self) -> bool:
        """Whether it has a residual of the requested kind."""
        return self.has_difference if self.options.residuals == "difference" else self.measure.residual != "none"

    @property
    def reads_unjudged(self) -> bool:
        """Whether its requested bounds or residual depend on unjudged documents."""
        bounded = self.options.bounds and self.has_bounds
        return bounded or (self.options.wants_residuals and self.has_residual)

    @property
    def reads_top_gain(self) -> bool:
        """Whether its score depends on the top gain, for example through the best possible ranking."""
        return self.measure.arguments.get("norm") == "best" or self.is_foreign

    @property
    def reads_top_grade(self) -> bool:
        """Whether a gain, a requested bound or a requested residual depends on the top grade."""
        measure = self.measure
        if self.highest <= 0:  # then there is no gain, and no residual, without a top grade
            return self.reads_unjudged
        if measure.rel is not None or measure.definition.scale is None or self.ignores_gains:
            return False
        by_top = measure.depends_on_top and not measure.definition.ratio
        steps = measure.threshold_shares is not None  # one for each grade
        return by_top or steps or self.reads_top_gain or self.reads_unjudged

    @property
    def reads_judged(self) -> bool:
        """Whether it matters if a document of a grade below 0 is judged."""
        measure, options = self.measure, self.options
        filled = options.fill is not None and measure.takes_fill
        condensed = options.judged_only or measure.judged_only
        reads = measure.definition.judged or self.is_foreign
        # Some document beyond the run makes the highest success 1, whatever is judged.
        is_one = measure.definition.name == "success" and measure.cutoff is None and not options.wants_residuals
        return reads or condensed or filled or (self.reads_unjudged and not is_one)

    @property
    def is_cut_residual(self) -> bool:
        """Whether its residual may extend below its cutoff, or is computed for this option alone."""
        cut = self.measure.cutoff is not None and self.measure.only_truncates
        asks = not {"residuals", "max_residual"} & self.options.given  # the option alone asks for residuals
        return (cut or asks) and self.options.wants_residuals and self.has_residual

    @property
    def falls(self) -> bool:
        """Whether its bounds depend on relevant documents not retrieved, or are computed for this option alone."""
        from gradedeval.kernel.measures.bounds import may_fall  # few evaluations have bounds

        return may_fall(self.measure) or ("bounds" not in self.options.given and self.has_bounds)


def unused_options(measures: Sequence[Measure], options: Options, highest: float) -> list[Note]:
    """Return a note for each option given that no measure uses; `highest` is the highest grade of the qrels."""
    entries = [entry for name, entry in OPTIONS.items() if entry.use and name in options.given - options.may_be_unused]
    applied = [Applied(measure, options, highest) for measure in measures] if entries else []
    return [
        unused_note(option_text(entry, options), measures, entry.users, _stating(measures, entry.name, options))
        for entry in entries
        if not any(getattr(candidate, entry.use) for candidate in applied)
    ]


def _stating(measures: Sequence[Measure], name: str, options: Options) -> list[str]:
    """Return the notations of measures that do not use an option, but take its value as a parameter of that name."""
    value, notations = getattr(options, name), list[str]()
    for measure in measures:
        taken = measure.definition.gain_parameters
        others = dict(measure.parameters).keys() & {*taken} - {name}  # which exclude it
        if name in taken and not others and isinstance(value, str | int | float):
            notations.append(str(measure(**{name: value})))
    return notations


def unused_note(option: str, measures: Sequence[Measure], users: str, stating: Sequence[str] = ()) -> Note:
    """Return the note that no measure uses an option: `users` would, and `stating` are notations with its value."""
    names = shorten([measure.label for measure in measures])
    hint = f"state it in the {plural(len(stating), 'measure')}: {shorten(stating)}" if stating else f"it is for {users}"
    return Note(f"{option}: no measure here uses it ({names})", hint, kind="unused-option")


def option_text(entry: Option, options: Options) -> str:
    """Return an option, with its value if short, as messages name it."""
    value, flag = getattr(options, entry.name), Flag(entry.flag)
    if isinstance(value, bool):
        return f"{flag:True}"
    if isinstance(value, int | float):
        return f"{flag:{exact(value)}}"
    return f"{flag:{write_value(value)}}" if isinstance(value, str | tuple) else f"{flag}"
