"""A table as numbers: scaled, without holes, a column for each category."""

import numpy as np
import pandas as pd
import pytest

from weald import TableEncoder

TABLE = pd.DataFrame(
    {
        "size": [1.0, 2.0, 3.0, 4.0, np.nan, 1e6],
        "kind": ["a", "b", "a", "c", None, "a"],
        "flag": [True, False, True, False, True, False],
        "same": 7.0,
        "empty": np.nan,
        "pair": ["x", "y", "x", "y", "x", "y"],
    }
)


def test_numbers_categories_and_missing_values():
    encoder = TableEncoder().fit(TABLE)
    out = encoder.transform(TABLE)
    names = list(encoder.get_feature_names_out())
    assert names == ["size", "flag", "size_missing", "kind_a", "kind_b", "kind_c", "pair_y"]
    assert out.shape == (6, encoder.n_features_out_) == (6, 7)
    by_name = dict(zip(names, out.T, strict=True))
    low, middle, high = np.nanquantile(TABLE["size"], [0.25, 0.5, 0.75])
    z = (TABLE["size"].to_numpy() - middle) / ((high - low) / 1.349)
    expected = np.nan_to_num(z / np.sqrt(1 + (z / 3) ** 2))
    np.testing.assert_allclose(by_name["size"], expected)
    assert np.abs(out).max() < 3
    np.testing.assert_array_equal(by_name["size_missing"], [0, 0, 0, 0, 1, 0])
    np.testing.assert_array_equal(by_name["kind_a"], [1, 0, 1, 0, 0, 1])
    np.testing.assert_array_equal(by_name["pair_y"], [0, 1, 0, 1, 0, 1])


def test_what_was_not_there_in_fit_says_nothing():
    encoder = TableEncoder().fit(TABLE)
    new = TABLE.iloc[[0]].assign(kind="new", size=np.nan)
    said = dict(zip(encoder.get_feature_names_out(), encoder.transform(new)[0], strict=True))
    assert said["size"] == 0
    assert said["size_missing"] == 1
    assert said["kind_a"] == said["kind_b"] == said["kind_c"] == 0


def test_rare_categories_have_no_column():
    table = pd.DataFrame({"k": ["a"] * 5 + ["b"] * 4 + ["c"] * 3 + ["d"]})
    names = TableEncoder(2).fit(table).get_feature_names_out()
    assert list(names) == ["k_a", "k_b"]


def test_splines_bend():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 1))
    bases = TableEncoder(splines=True).fit(x)
    out = bases.transform(x)
    y = np.sin(2 * x[:, 0])
    fitted = np.c_[np.ones(500), out] @ np.linalg.lstsq(np.c_[np.ones(500), out], y, rcond=None)[0]
    assert ((fitted - y) ** 2).mean() < 0.01
    far = bases.transform(np.array([[100.0], [-100.0]]))
    assert np.isfinite(far).all()


def test_two_numbers_are_enough_for_splines():
    x = np.tile([0.0, 1.0], 10)[:, None]
    assert np.isfinite(TableEncoder(splines=True).fit(x).transform(x)).all()


def test_many_rows_are_encoded_in_blocks():
    x = np.random.default_rng(0).normal(size=(120_000, 2))
    encoder = TableEncoder().fit(x)
    whole = encoder.transform(x)
    np.testing.assert_array_equal(whole[60_000:60_010], encoder.transform(x[60_000:60_010]))


@pytest.mark.parametrize("most", [0, -1, 1.5, "all"])
def test_bad_parameters(most):
    with pytest.raises(ValueError, match="max_categories"):
        TableEncoder(most).fit(TABLE)


def test_a_table_of_constants_has_no_columns():
    assert TableEncoder().fit(np.ones((5, 2))).transform(np.ones((5, 2))).shape == (5, 0)
