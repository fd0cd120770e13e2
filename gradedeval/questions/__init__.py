"""Questions asked of scores: each in a file of its own, with its tables, its picture and its command."""
