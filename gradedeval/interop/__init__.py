"""gradedeval in the place of other tools (trec_eval, pytrec_eval), and inside them (ir_measures and PyTerrier)."""
