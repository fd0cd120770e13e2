"""trec_eval's words and lines: its names and parameters for our measures, its topic order, its three columns."""
