"""How well a score alone determines the precision-recall curve: the maximum entropy method."""
