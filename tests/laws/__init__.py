"""What must hold for every model, whatever the data."""

import pytest

pytest.register_assert_rewrite("laws.tree_cases")
