"""Bytes of TREC files and small tables -> lines, fields, numbers."""
