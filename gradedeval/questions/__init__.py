"""Questions asked of scores: each in a file of its own, with its tables, its picture and its command."""

from gradedeval.lazy import late_modules

__getattr__ = late_modules(__name__)
