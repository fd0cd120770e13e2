"""The kinds of cases, by name."""

from fuzz.bounds import BOUNDS
from fuzz.case import Kind
from fuzz.changes import CHANGES, POOLS
from fuzz.columnar import COLUMNAR
from fuzz.commands import COMMANDS
from fuzz.experiments import ITSELF, MIRROR, SAVED
from fuzz.files import PACKED, QRELS, RUNS
from fuzz.formats import FORMATS
from fuzz.hostile import HOSTILE
from fuzz.intents import INTENTS
from fuzz.invariance import DROPPED_IN, SAME_BITS
from fuzz.round_trips import GATES, PEOPLE
from fuzz.scores import SCORES
from fuzz.shapes import SHAPES_OF_JSON
from fuzz.words import NOTATION, SMALL_TABLES

KINDS: dict[str, Kind] = {
    "scores": SCORES,
    "bounds": BOUNDS,
    "runs": RUNS,
    "qrels": QRELS,
    "packed": PACKED,
    "formats": FORMATS,
    "same": SAME_BITS,
    "intents": INTENTS,
    "trec_eval": DROPPED_IN,
    "tables": SMALL_TABLES,
    "notation": NOTATION,
    "mirror": MIRROR,
    "saved": SAVED,
    "itself": ITSELF,
    "people": PEOPLE,
    "gates": GATES,
    "changes": CHANGES,
    "pools": POOLS,
    "commands": COMMANDS,
    "hostile": HOSTILE,
    "columnar": COLUMNAR,
    "shapes": SHAPES_OF_JSON,
}
