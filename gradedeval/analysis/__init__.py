"""What several questions build on: runs × topics, significance, what judging could change, rankings side by side."""
