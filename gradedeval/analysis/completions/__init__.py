"""What a difference of two runs can become, whatever their unjudged documents turn out to be."""
