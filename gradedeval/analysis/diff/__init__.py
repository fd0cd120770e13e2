"""`diff`: what changed between two runs: topics and documents with judgments, agreement of the rankings without."""
