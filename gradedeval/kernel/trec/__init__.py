"""Bytes of runs, qrels and small tables -> lines, fields, numbers."""

from gradedeval.lazy import late_modules

__getattr__ = late_modules(__name__)
