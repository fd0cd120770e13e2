"""Results by measure: found under any name of a measure, and by the measure itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from gradedeval.errors import InputError
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.notation import Value
from gradedeval.measures.parse import parse_measures
from gradedeval.options import Options
from gradedeval.options.presets import PRESETS


class ByMeasure(dict[str, Any]):
    """measure -> value, in the order and under the names that were asked for.

    `found["map"]`, `found["AP"]` and `found[ap]` are the same, whichever of them was asked for. Raises KeyError for a
    measure that is not there.
    """

    def __init__(self, measures: Sequence[Measure], options: Options, values: Iterable[Any]) -> None:
        super().__init__(zip((measure.label for measure in measures), values, strict=True))
        self._measures, self._options = measures, options

    def __missing__(self, name: AnyMeasure) -> Any:
        label = self._measures[index_of(name, self._measures, self._options)].label
        if label == name:  # it was taken out
            raise KeyError(name)
        return self[label]

    def __contains__(self, name: object) -> bool:
        try:
            self[name]  # type: ignore[index]
        except KeyError:
            return False
        return True

    def get(self, name: Any, default: Any = None) -> Any:
        """The value of a measure, or `default` where it is not there."""
        try:
            return self[name]
        except KeyError:
            return default


def index_of(name: AnyMeasure, measures: Sequence[Measure], options: Options) -> int:
    """Where a measure stands among those that were scored. Raises KeyError where it does not."""
    labels = [measure.label for measure in measures]
    if name in labels:
        return labels.index(str(name))
    try:
        (measure,) = parse_measures(name)
        return list(measures).index(with_defaults(measure, options))
    except (InputError, ValueError):  # a user's own measure is not a name that can be read
        if str(name) in map(str, measures):
            return [*map(str, measures)].index(str(name))
    raise KeyError(f"no measure {name} among {', '.join(labels)}")


def with_defaults(measure: Measure, options: Options) -> Measure:
    """The measure with the gain scheme and relevance level that the options give it where it names none itself.

    It is called as it was asked for.
    What is written in the measure wins, then what is given for all measures, then the preset's own for this one.
    """
    given = dict(measure.parameters)
    preset = _preset(measure, options.like)
    wanted: dict[str, Value] = {}
    if not given.keys() & set(measure.definition.gain_parameters):
        if options.gain is not None and measure.definition.scale:
            wanted["gain"] = options.gain
        elif options.rel is not None and (measure.definition.gain == "binary" or "rel" in preset):
            wanted["rel"] = options.rel
    settled = given.keys() | wanted.keys()
    if {"gain", "rel"} & settled:
        settled |= {"gain", "rel"}
    wanted |= {key: value for key, value in preset.items() if key not in settled}
    # What is a measure's default anyway stays unsaid.
    applied = measure(**{key: value for key, value in wanted.items() if value != _default(measure, key)})
    return replace(applied, asked=measure.asked)


def _preset(measure: Measure, like: str | None) -> dict[str, Value]:
    """The parameters that a preset gives a measure."""
    if like is None:
        return {}
    preset = PRESETS[like]
    shared = {key: value for key, value in preset.shared.items() if key in measure.definition.parameters}
    cut = preset.cut.get(measure.name, {}) if measure.cutoff is not None else {}
    return {**shared, **preset.parameters.get(measure.name, {}), **cut}


def _default(measure: Measure, key: str) -> Any:
    if key == "gain":
        return measure.definition.gain
    return 1 if key == "rel" and measure.definition.gain == "binary" else measure.definition.parameters.get(key)
