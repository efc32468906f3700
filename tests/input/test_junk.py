"""Whatever comes is clean afterwards or a clear error."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from input.cases import Reader, assert_sound, fit
from weald.input.labels import check_target, check_weights, encode_labels
from weald.input.table import check_X_predict

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.complex_numbers(),
    st.binary(max_size=2),
    st.dates(),
    st.decimals(allow_nan=False),
    st.sampled_from(
        [pd.NA, pd.NaT, np.int8(3), np.float32(2.5), np.str_("q"), frozenset(), {"a": 1}]
    ),
)
CELLS = hnp.arrays(object, hnp.array_shapes(max_dims=3, max_side=4), elements=SCALARS)
TYPED = hnp.arrays(hnp.scalar_dtypes(), hnp.array_shapes(max_dims=3, max_side=4))
ASKED = st.one_of(st.sampled_from(["from_dtype", None]), st.lists(st.integers(0, 3), max_size=3))


def attempt(call):
    """Give the result, or None after an error of the right kind with a message worth reading."""
    try:
        return call()
    except (ValueError, TypeError) as error:
        if " " not in str(error)[10:]:
            pytest.fail(f"unclear: {error!r}")
        return None


@settings(max_examples=300, deadline=None)
@given(X=st.one_of(CELLS, TYPED), asked=ASKED, as_list=st.booleans())
def test_junk_is_a_clean_table_or_a_clear_error(X, asked, as_list):
    X_given = X.tolist() if as_list else X
    reader = attempt(lambda: Reader().fit(X_given, categorical_features=asked))
    if reader is None:
        return
    table = reader.table_
    assert_sound(table.X, X.shape)
    for labels, values in zip(table.categories, table.X.T, strict=True):
        if labels is not None:
            assert sorted(labels.tolist()) == labels.tolist()
            assert set(values[~np.isnan(values)]) == set(range(len(labels)))
    np.testing.assert_array_equal(check_X_predict(reader, X_given), table.X)


@settings(max_examples=200, deadline=None)
@given(
    y=st.one_of(CELLS, TYPED), read=st.sampled_from([encode_labels, check_target, check_weights])
)
def test_junk_beside_the_table_is_clean_or_a_clear_error(y, read):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        got = attempt(lambda: read(y, len(y)))
    if got is None:
        return
    if read is encode_labels:
        for codes, classes in zip(got.codes.T, got.classes, strict=True):
            assert set(codes) == set(range(len(classes)))
    else:
        assert np.isfinite(got).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=1, max_size=30))
def test_text_survives_the_round_trip_in_every_library(cells):
    columns = {
        "objects": np.array(cells, dtype=object)[:, None],
        "pandas": pd.DataFrame({"a": pd.Series(cells, dtype="string")}),
        "polars": pl.DataFrame({"a": pl.Series(cells, dtype=pl.String)}),
        "arrow": pa.table({"a": pa.array(cells, type=pa.string())}),
    }
    known = sorted({cell for cell in cells if cell is not None})
    for name, frame in columns.items():
        table = fit(frame)
        labels = table.categories[0]
        if known or name != "objects":  # an object column of None says nothing about its kind
            assert labels.tolist() == known
            codes = table.X[:, 0]
            assert [None if np.isnan(c) else labels[int(c)] for c in codes] == cells
