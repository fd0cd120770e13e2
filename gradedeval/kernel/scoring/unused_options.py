"""Options that the user gave, and that no measure of an evaluation uses: what each measure reads, and a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradedeval.errors import Flag, Note, shorten
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.notation import write_value
from gradedeval.kernel.options import OPTIONS, Option, Options, exact
from gradedeval.kernel.scoring.scores import gain_option, with_defaults


@dataclass(eq=False, repr=False)
class Applied:
    """A measure with the options that are applied to it.

    asked    the measure as it was asked for
    options  all options
    highest  the highest grade of the qrels
    """

    asked: Measure
    options: Options
    highest: float

    def __post_init__(self) -> None:
        self.measure = with_defaults(self.asked, self.options)

    @property
    def ignores_gains(self) -> bool:
        """Whether it counts what users view or spend who go on whatever they gain, as rbp(of=ed) does."""
        definition, rank_sum = self.measure.definition, self.measure.definition.rank_sum
        rank_sum = rank_sum(self.measure.arguments) if callable(rank_sum) else rank_sum
        counts = self.measure.arguments.get("of") in ("ec", "ed", "etc")
        return counts and definition.cwl is not None and rank_sum is not None and not self.is_foreign

    @property
    def takes_gain(self) -> bool:
        """Whether it has the gain scheme of the options."""
        return gain_option(self.asked, self.options) == "gain" and not self.ignores_gains

    @property
    def takes_rel(self) -> bool:
        """Whether it has the lowest relevant grade of the options."""
        return gain_option(self.asked, self.options) == "rel"

    @property
    def takes_fill(self) -> bool:
        """Whether unjudged documents may have gains in it."""
        return self.measure.takes_fill and not self.ignores_gains

    @property
    def reads_costs(self) -> bool:
        """Whether it depends on what it costs to view a document."""
        return self.measure.reads_costs or (self.is_foreign and self.measure.definition.cwl is not None)

    @property
    def has_bounds(self) -> bool:
        """Whether the lowest and the highest score are known."""
        return self.measure.bounds != "none"

    @property
    def is_foreign(self) -> bool:
        """Whether it is a user's own: what its function reads is not known."""
        return self.measure.definition.code != ""

    @property
    def has_difference(self) -> bool:
        """Whether it has the signed difference of two cases."""
        measure = self.measure
        return measure.definition.cwl is not None and not measure.by_intent and not measure.judged_only

    @property
    def has_residual(self) -> bool:
        """Whether it has a residual of the kind that is asked for."""
        return self.has_difference if self.options.residuals == "difference" else self.measure.residual != "none"

    @property
    def reads_unjudged(self) -> bool:
        """Whether what is asked for beside the score depends on the unjudged documents."""
        bounded = self.options.bounds and self.has_bounds
        return bounded or (self.options.wants_residuals and self.has_residual)

    @property
    def reads_top_gain(self) -> bool:
        """Whether its score depends on the top gain, as of a ranking that is best of all."""
        return self.measure.arguments.get("norm") == "best" or self.is_foreign

    @property
    def reads_top_grade(self) -> bool:
        """Whether a gain, or what is asked for beside the score, depends on the top grade."""
        measure = self.measure
        if self.highest <= 0:  # then there is no gain, and no residual, without a top grade
            return self.reads_unjudged
        if measure.rel is not None or measure.definition.scale is None or self.ignores_gains:
            return False
        by_top = measure.depends_on_top and not measure.definition.ratio
        steps = measure.threshold_shares is not None  # one for each grade
        return by_top or steps or self.reads_top_gain or self.reads_unjudged

    @property
    def tells_judged(self) -> bool:
        """Whether it matters if a document of a grade below 0 is judged."""
        measure, options = self.measure, self.options
        filled = options.fill is not None and measure.takes_fill
        condensed = options.judged_only or measure.judged_only
        own = measure.definition.judged or self.is_foreign
        # Some document beyond the run makes the highest success 1, whatever is judged.
        is_one = measure.definition.name == "success" and measure.cutoff is None and not options.wants_residuals
        return own or condensed or filled or (self.reads_unjudged and not is_one)

    @property
    def is_cut_residual(self) -> bool:
        """Whether its residual may go on below its cutoff, or is there by this option alone."""
        cut = self.measure.cutoff is not None and self.measure.only_truncates
        asks = not {"residuals", "max_residual"} & self.options.given  # the option alone asks for residuals
        return (cut or asks) and self.options.wants_residuals and self.has_residual

    @property
    def falls(self) -> bool:
        """Whether relevant documents that were not retrieved change its bounds, or these are there by this option
        alone."""
        from gradedeval.kernel.measures.bounds import falls  # few evaluations have bounds

        return falls(self.measure) or ("bounds" not in self.options.given and self.has_bounds)


def unused_options(measures: Sequence[Measure], options: Options, highest: float) -> list[Note]:
    """Return a note for each option that the user gave and that none of the measures uses.

    measures  as they were asked for
    highest   the highest grade of the qrels
    """
    given = [entry for name, entry in OPTIONS.items() if entry.use and name in options.given - options.untold]
    applied = [Applied(measure, options, highest) for measure in measures] if given else []
    return [
        unused_note(option_text(entry, options), measures, entry.users)
        for entry in given
        if not any(getattr(one, entry.use) for one in applied)
    ]


def unused_note(option: str, measures: Sequence[Measure], users: str) -> Note:
    """Return the note that no measure uses an option; `users` are those that do."""
    names = shorten([measure.label for measure in measures])
    return Note(f"{option}: no measure here uses it ({names})", f"it is for {users}", kind="unused-option")


def option_text(entry: Option, options: Options) -> str:
    """Return an option and its value, where that is short, as a message names them."""
    value, flag = getattr(options, entry.name), Flag(entry.flag)
    if isinstance(value, bool):
        return f"{flag:True}"
    if isinstance(value, int | float):
        return f"{flag:{exact(value)}}"
    return f"{flag:{write_value(value)}}" if isinstance(value, str | tuple) else f"{flag}"
