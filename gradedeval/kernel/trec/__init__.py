"""Bytes of runs, qrels and small tables -> lines, fields, numbers."""
