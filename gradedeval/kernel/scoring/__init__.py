"""Graded rankings and measures -> scores, residuals, means and signature."""
