"""What a measure is, what it sees, and all of them by family; by name they are in `gradedeval.measures`."""
