"""How low and how high scores can come, whatever the unjudged documents turn out to be."""
