"""Runs seen through the qrels: documents ordered, cut and graded, topic by topic."""

from gradedeval.lazy import late_modules

__getattr__ = late_modules(__name__)
