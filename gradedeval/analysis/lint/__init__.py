"""Checks of submissions before scoring: every defect with its place and a hint."""
