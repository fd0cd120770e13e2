"""Which topics count: those of the qrels, of both files, or of the run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from gradedeval.errors import InputError, Note, plural, shorten
from gradedeval.options import Options
from gradedeval.rankings.qrels import Qrels
from gradedeval.trec.lines import decode


@dataclass
class Chosen:
    """The topics that count, how many of them the run lacks, and what to tell the user."""

    topics: list[bytes]
    missing: int = 0
    notes: list[str] = field(default_factory=list)


def choose_topics(present: Collection[bytes], place: str, qrels: Qrels, options: Options) -> Chosen:
    """Settle which topics count of a run that has the topics `present`: without qrels, its own. Raises InputError where
    it shares none with the qrels, or none is listed."""
    wanted = options.topics_from
    known, of = (qrels.topics, qrels.place) if qrels.topics else (present, place)
    judged = [topic for topic in known if wanted is None or topic in wanted]
    if known and not judged:
        raise InputError("--topics-from", f"no topic of {of} is listed", f"its topics are {_names(known)}")
    if not present:
        raise InputError(place, "is empty", "expected one document per line")
    if not qrels.topics:
        return Chosen(judged)
    listed = set(present)
    both = [topic for topic in judged if topic in listed]
    if not both:
        raise no_common_topics(place, present, qrels.place, judged)
    missing = [topic for topic in judged if topic not in listed] if len(both) < len(judged) else []
    others = present if len(both) < len(listed) else ()
    extra = [topic for topic in others if topic not in qrels._row and (wanted is None or topic in wanted)]
    chosen = Chosen(both)
    fate, hint = "left out", ""
    if options.topics == "qrels":
        chosen = Chosen(judged, len(missing))
        fate, hint = "they count as empty", "use --topics both to leave them out"
    elif options.topics == "run":
        chosen = Chosen(both + extra)
    elif options.topics == "relevant":
        chosen = _relevant(both, place, qrels)
    if missing:
        of = f"{len(missing)} of {len(judged)} judged {plural(len(judged), 'topic')}"
        what = f"{place}: {of} not in the run ({_names(missing)}); {fate}"
        chosen.notes.append(Note(what, hint, kind="missing-topics"))
    unknown = sorted((wanted or frozenset()) - listed - set(judged))
    if unknown:
        count = f"{len(unknown)} {plural(len(unknown), 'topic')}"
        chosen.notes.append(f"--topics-from: {count} in neither {place} nor {qrels.place} ({_names(unknown)})")
    if extra:
        fate = "they count, with nothing relevant" if options.topics == "run" else "ignored"
        what = f"{place}: {len(extra)} {plural(len(extra), 'topic')} not judged ({_names(extra)})"
        chosen.notes.append(Note(what, fate, kind="unjudged-topics"))
    return chosen


def no_common_topics(run: str, topics: Collection[bytes], other: str, others: Collection[bytes]) -> InputError:
    """The error of a run that has none of the topics of the qrels (or of other runs); it names some of each."""
    what = f"shares no topics with {other} ({_names(topics, 2)} vs {_names(others, 2)})"
    return InputError(run, what, "are they from the same collection?", kind="no-common-topics")


def _relevant(both: list[bytes], place: str, qrels: Qrels) -> Chosen:
    """Those of the topics in both files that have a relevant document, as gdeval counts them."""
    positive = qrels._pool_of(both).of_topics(qrels.labels > 0)
    topics = [topic for topic, count in zip(both, positive.tolist(), strict=True) if count]
    if not topics:
        raise InputError(qrels.place, "no topic has a relevant document", "use --topics both to score them all 0")
    left_out = len(both) - len(topics)
    said = f"{place}: {left_out} {plural(left_out, 'topic')} without relevant documents; left out"
    return Chosen(topics, notes=[said] if left_out else [])


def _names(topics: Collection[bytes], most: int = 5) -> str:
    return shorten([decode(topic) for topic in topics], most)
