"""The data door: every container, type and mistake, and what comes out of it."""

import pytest

pytest.register_assert_rewrite("data.cases")
