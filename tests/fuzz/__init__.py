"""Random input through every door of the package: machines that look for wrong numbers."""
