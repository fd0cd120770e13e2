"""What a careful organiser checks of submissions before scoring: every defect with its place and its cure."""
