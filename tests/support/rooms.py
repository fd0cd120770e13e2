"""The rooms of the package in the order in which they may import each other."""

from __future__ import annotations

# The rooms, from the ground up: each may import those before it.
ORDER = (
    *("errors", "arrays", "formats", "trec", "parallel", "measures", "options", "rankings", "scoring"),
    *("cluster", "analysis", "cli", "questions", "clicks", "ltr", "interop", "plot", "__main__"),
)
