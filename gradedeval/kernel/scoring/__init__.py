"""Graded rankings and measures -> scores, residuals, means and signature."""

from gradedeval.lazy import late_modules

__getattr__ = late_modules(__name__)
