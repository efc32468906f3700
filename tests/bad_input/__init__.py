"""Bad input gets one clear sentence or a sensible result: never a crash, a hang or a NaN model."""

import pytest

pytest.register_assert_rewrite("bad_input.cases")
