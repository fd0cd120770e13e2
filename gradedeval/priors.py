"""How probable each intent of a topic is: P(t|q), from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradedeval.errors import Findings, plural, some
from gradedeval.trec.lines import decimal, fields, text
from gradedeval.trec.source import Source
from gradedeval.trec.subtopics import NO_INTENT

FIELDS = ("topic", "subtopic", "probability")
ROUNDED = 0.01
"""By how much a topic's probabilities may miss 1 together: they are often written with two or three digits."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Probabilities of intents, `chance`: topic -> subtopic -> probability, those of a topic summing to 1."""

    place: str
    chance: dict[bytes, dict[bytes, float]]

    def with_names(self, names: Mapping[bytes, list[bytes]]) -> dict[bytes, list[bytes]]:
        """topic -> subtopics: those that have judgements, then those that have a probability alone."""
        topics = dict.fromkeys([*names, *self.chance])
        known = {topic: (names.get(topic, []), self.chance.get(topic, {})) for topic in topics}
        return {topic: [*own, *sorted(given.keys() - set(own))] for topic, (own, given) in known.items()}

    def notes(self, names: Mapping[bytes, list[bytes]]) -> list[str]:
        """What of the file is not used, or not found among the subtopics that have judgements."""
        others = [text(topic) for topic in self.chance if topic not in names]
        lost = [
            f"{text(subtopic)} of {text(topic)}"
            for topic, own in self.chance.items()
            for subtopic in own.keys() - set(names.get(topic, own))
        ]
        said = []
        if others:
            said.append(f"{self.place}: {len(others)} {plural(len(others), 'topic')} not judged ({some(others)})")
        if lost:
            count = f"{len(lost)} {plural(len(lost), 'subtopic')} without judgements ({some(sorted(lost))})"
            said.append(f"{self.place}: {count}; they score 0")
        return said


def read_prior(path: str) -> Prior:
    """The probabilities in a file with lines of topic, subtopic and probability.

    A topic's probabilities are divided by their sum, which must be 1 but for rounding. Raises Fault where it is not,
    where a line has no probability, or repeats another.
    """
    source = Source(path)
    findings = Findings(source.place)
    chance: dict[bytes, dict[bytes, float]] = {}
    last: dict[bytes, int] = {}
    for number, (topic, subtopic, token) in fields(source.read(), findings, FIELDS):
        value, own = decimal(token), chance.setdefault(topic, {})
        last[topic] = number
        if not 0 <= value <= 1:
            findings.add(number, f"'{text(token)}' is no probability", "a probability is a number from 0 to 1")
        elif subtopic == NO_INTENT:
            findings.add(number, "subtopic 0 is no intent", "remove the line")
        elif subtopic in own:
            findings.add(number, f"subtopic {text(subtopic)} of topic {text(topic)} again", "give it once")
        else:
            own[subtopic] = value
    findings.check()
    for topic, own in chance.items():
        if abs(sum(own.values()) - 1) > ROUNDED:
            what = f"the probabilities of topic {text(topic)} sum to {sum(own.values()):g}"
            findings.add(last[topic], what, "they must sum to 1")
    findings.check()
    scaled = {topic: {name: one / sum(own.values()) for name, one in own.items()} for topic, own in chance.items()}
    return Prior(source.place, scaled)
