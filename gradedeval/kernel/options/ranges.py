"""Ranges of the numbers that settings and command-line options accept; each has its flag and its limits."""

from __future__ import annotations

from functools import partial

from gradedeval.kernel.options import Number as Number

MOST_DRAWS = 10_000_000
MOST_RANKS = 100_000
"""Of fixed weights: the work grows with the square of the depth."""
_count = partial(Number, whole=True, minimum=1)
_share = partial(Number, above=0, below=1)

# Defaults and their meaning stand beside the settings; limits here.
ALPHA = _share("--alpha")
AT = _count("--at")
BEST_RUNS = Number("--best-runs", whole=True, minimum=2)
BETA = _share("--beta")
CUTOFF = _count("-k")
BUDGET = _count("--budget")
DEPTH = _count("--depth")
DIFFERENCE = Number("--difference", above=0, maximum=1e100)
DIGITS = Number("--digits", whole=True, minimum=0, maximum=17)
DOCS_IN_COLLECTION = _count("-N")
DRAWS = _count("--draws", maximum=MOST_DRAWS)
FLOOR = Number("--floor", minimum=0, below=0.5)
HEIGHT = Number("--size", minimum=0.5, maximum=100)
IDLE = Number("--idle", above=0)
ITERATIONS = _count("--iterations", maximum=100_000)
JOBS = _count("--jobs")
LEVEL_FOR_REL = _count("-l")
MAX_DEPTH = _count("--max-depth")
MAX_RETRIEVED = _count("-M")
MIN_FOUND = _count("--min-found")
MIN_SEEN = Number("--min-seen", whole=True, minimum=0)
MU = Number("--mu", minimum=0)
PAGE = Number("--page", whole=True, minimum=0)
PAIRS = Number("--pairs", whole=True, minimum=2, maximum=10_000_000)
PERSISTENCE = _share("--persistence")
POOL_DEPTH = _count("--pool-depth")
PRECISION = Number("--precision", minimum=1e-10)
PRIOR = Number("--prior", minimum=0)
RANKS = _count("--ranks")
RISK_AVERSION = Number("--risk-aversion", minimum=0, maximum=1_000_000)
ROPE = Number("--rope", minimum=0)
SEED = Number("--seed", whole=True, minimum=0)
SESSIONS = _count("--sessions", maximum=100_000_000)
SHOW = _count("--show")
SS_REL = Number("--ss-rel")
TOP = _count("--top")
WEIGHED_RANKS = _count("--ranks", maximum=MOST_RANKS)
WIDTH = Number("--size", minimum=1, maximum=100)
