"""Anything at all gives a healthy model or a sentence."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from input.bad_cases import ALL, try_to_fit
from weald import DecisionTreeRegressor

NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=64)
CELLS = st.one_of(
    NUMBERS,
    st.integers(-(2**70), 2**70),
    st.text(max_size=3),
    st.booleans(),
    st.none(),
    st.just(pd.NA),
    st.binary(max_size=2),
)
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@QUIET
@given(st.data())
@pytest.mark.parametrize("kind", ALL)
def test_any_array(kind, data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=8))
    kinds = (np.float64, np.float32, np.int64, np.uint8, np.bool_, np.complex128)
    dtype = data.draw(st.sampled_from(kinds))
    table = data.draw(hnp.arrays(dtype, shape))
    target = data.draw(hnp.arrays(data.draw(st.sampled_from(kinds)), shape[0]))
    weights = data.draw(st.none() | hnp.arrays(np.float64, shape[0]))
    try_to_fit(kind(random_state=0), table, target, weights)


@QUIET
@given(st.data())
@pytest.mark.parametrize("kind", ALL)
def test_any_frame(kind, data):
    n = data.draw(st.integers(0, 8))
    columns = data.draw(st.lists(st.text(max_size=4), min_size=1, max_size=3, unique=True))
    cells = data.draw(st.lists(CELLS, min_size=1, max_size=4))
    table = pd.DataFrame(
        {c: pd.Series([data.draw(st.sampled_from(cells)) for _ in range(n)]) for c in columns}
    )
    target = [data.draw(st.sampled_from(cells)) for _ in range(n)]
    plain = data.draw(st.booleans())
    try_to_fit(kind(random_state=0), table, np.arange(n) % 2 if plain else target)


@QUIET
@given(
    hnp.arrays(np.float64, (12, 2), elements=st.floats(-1e300, 1e300) | st.just(np.nan)),
    hnp.arrays(np.float64, 12, elements=st.floats(0, 1e150)),
    hnp.arrays(np.float64, 12, elements=st.floats(0, 1e100) | st.just(0.0)),
)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_any_finite_numbers(criterion, data, target, weights):
    weights[0], target[0] = 1.0, 1.0
    sentence = r"\by\b|sample_weight"
    try_to_fit(DecisionTreeRegressor(criterion=criterion), data, target, weights, sentence)
