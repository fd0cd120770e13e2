"""Processes that share work, and a bar that shows how far it has come."""
