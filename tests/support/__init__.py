"""The common parts of test files: topics, measures, broken input, a slow second implementation."""

import pytest

# Their assertions show the compared values, as in test files.
pytest.register_assert_rewrite("support.broken", "support.runs")
