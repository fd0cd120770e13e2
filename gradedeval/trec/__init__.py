"""TREC files, frames and dicts -> topics with their documents."""
