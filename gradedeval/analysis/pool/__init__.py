"""`pool`: what runs give a collection of judgments: statistics, what to judge next, what it is worth without them."""
