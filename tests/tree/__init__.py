"""Single trees."""

import pytest

pytest.register_assert_rewrite("tree.test_oracle")
