"""Runs seen through the qrels: documents ordered, cut and graded, topic by topic."""
