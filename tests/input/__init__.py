"""Tables, weights and targets: every container, type and mistake, and what comes out of it.

Bad input gets one clear sentence or a sensible result: never a crash, a hang or a NaN model.
"""

import pytest

pytest.register_assert_rewrite("input.cases", "input.bad_cases")
