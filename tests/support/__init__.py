"""What several test files share: topics, measures, broken input, a slow second implementation. No test is here."""

import pytest

# Their assertions show what they compare, as those of test files do.
pytest.register_assert_rewrite("support.broken", "support.runs")
