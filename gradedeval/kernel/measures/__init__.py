"""Measures by family, their definition and their input; `gradedeval.measures` has them by name."""
