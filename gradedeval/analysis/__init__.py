"""What several questions build on: runs × topics, significance, what judging could change, rankings side by side."""

from gradedeval.lazy import late_modules

__getattr__ = late_modules(__name__)
