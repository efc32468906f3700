"""Gradient boosting: callbacks, the naive twin, and bad input."""

import pytest

pytest.register_assert_rewrite("boosting.odd_cases")
