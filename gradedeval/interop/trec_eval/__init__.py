"""The drop-in for trec_eval: its command line, measure names, topic order and output format."""
