"""`ia(MEASURE)`: the mean of a measure over the intents of a topic."""

from __future__ import annotations

from dataclasses import replace

from gradedeval.errors import InputError
from gradedeval.measures.definition import Measure
from gradedeval.measures.notation import IA, PRIOR, UNIFORM, is_prior, write_value


def intent_aware(measure: Measure, prior: str = UNIFORM) -> Measure:
    """The mean of a measure over the intents of each topic: `ia(err @ 20)`, in notation `ia(err@20)`.

    prior  the probabilities of the intents: `uniform` over those that have a relevant document, or `@FILE` with lines
           of topic, subtopic and probability

    Raises InputError (usage) where the measure is averaged over intents already, or does not depend on them.
    Agrawal et al., WSDM 2009; Chapelle et al., CIKM 2009, section 7.4.
    """
    if not isinstance(measure, Measure):
        raise InputError(IA, f"{measure!r} is not a measure", "for example intent_aware(err @ 20)", usage=True)
    place, definition = f"'{IA}({measure})'", measure.definition
    if measure.by_intent:
        what = "is already averaged over intents" if measure.prior else "already takes all intents into account"
        raise InputError(place, f"{measure} {what}", f"write {measure}", usage=True)
    if definition.gain is None or definition.summary == "total" or definition.uses_strata:
        what = "counts documents" if definition.summary == "total" else "reads no gains"
        what = "reads strata" if definition.uses_strata else what
        raise InputError(place, f"{measure.name} {what}: it has no mean over intents", f"write {measure}", usage=True)
    if not is_prior(prior):
        raise InputError(place, f"prior={write_value(prior)} is not {PRIOR}", f"write {IA}({measure})", usage=True)
    return replace(measure, prior=prior, asked=())
