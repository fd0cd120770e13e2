"""One HTML page that shows what an evaluation found: to be opened from disk, mailed, published."""
