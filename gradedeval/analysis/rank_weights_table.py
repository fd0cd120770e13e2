"""Rank weights -> a table: a row a rank, a column a measure."""

from __future__ import annotations

from gradedeval.analysis.rank_weights import Weights
from gradedeval.formats import Column, Document, Layout, Table


def weights_document(weights: Weights, layout: Layout) -> Document:
    """The weights as a table, the same for people and for programs."""
    rank, *measures = weights.columns
    columns = [Column(rank, "count"), *(Column(name, "score", digits=6) for name in measures)]
    return Document([Table(columns, weights.rows)], weights.signature)
