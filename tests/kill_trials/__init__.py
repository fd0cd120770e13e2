"""Trials of commands that are killed, run out of disk or lose a worker at random moments."""
