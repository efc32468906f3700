"""A warm start goes on only where the new trees are about the same as the old ones."""

import numpy as np
import pandas as pd
import pytest

from forest.cases import LABELS, NOISY, X
from weald import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

GROUPS = np.arange(300) // 3


@pytest.mark.parametrize(
    ("settings", "fit", "changed"),
    [
        ({"max_samples": 0.3}, {}, "max_samples"),
        ({"bootstrap": False}, {}, "bootstrap"),
        ({}, {"groups": GROUPS}, "groups"),
        ({}, {"sample_weight": np.arange(300.0)}, "sample_weight"),
        ({}, {"sample_weight": (GROUPS > 9).astype(float)}, "sample_weight"),
        ({"rows": 50}, {}, "number of rows"),
    ],
    ids=str,
)
def test_the_draws_must_be_those_of_the_fit_before(settings, fit, changed):
    """The out-of-bag rows of the old trees would be taken for others, which they had drawn."""
    forest = RandomForestRegressor(5, warm_start=True, random_state=0).fit(X, NOISY)
    before = forest.predict(X)
    n = settings.pop("rows", len(X))
    with pytest.raises(ValueError, match=f"but .*{changed}.* changed: fit a new ensemble"):
        forest.set_params(n_estimators=6, **settings).fit(X[:n], NOISY[:n], **fit)
    np.testing.assert_array_equal(forest.predict(X), before)
    forest.set_params(n_estimators=5, warm_start=False, **settings).fit(X, NOISY)
    anew = RandomForestRegressor(5, random_state=0, **settings).fit(X, NOISY)
    np.testing.assert_array_equal(forest.predict(X), anew.predict(X))


def test_draws_that_come_later():
    forest = RandomForestRegressor(5, warm_start=True, bootstrap=False).fit(X, NOISY)
    with pytest.raises(ValueError, match=r"but bootstrap \(or max_samples\) changed"):
        forest.set_params(n_estimators=6, bootstrap=True, oob_score=True).fit(X, NOISY)
    even = RandomForestClassifier(5, warm_start=True).fit(X, LABELS)
    with pytest.raises(ValueError, match=r"but bootstrap \(or max_samples\) changed"):
        even.set_params(n_estimators=6, bootstrap="balanced").fit(X, LABELS)


def test_leaves_that_keep_rows_need_the_same_rows():
    forest = ExtraTreesRegressor(3, warm_start=True, keep_targets=True).fit(X, NOISY)
    with pytest.raises(ValueError, match="the number of rows changed"):
        forest.set_params(n_estimators=4).fit(X[:50], NOISY[:50])
    assert forest.predict_quantiles(X[:2]).shape == (2, 3)


def test_trees_that_draw_nothing_may_see_other_rows():
    forest = ExtraTreesClassifier(3, warm_start=True, random_state=0).fit(X, LABELS)
    assert len(forest.set_params(n_estimators=5).fit(X[:200], LABELS[:200])) == 5


def test_the_same_weights_and_groups_go_on():
    weights = np.arange(1.0, 301.0)
    forest = RandomForestClassifier(3, warm_start=True).fit(X, LABELS, weights, GROUPS)
    assert len(forest.set_params(n_estimators=5).fit(X, LABELS, weights.copy(), GROUPS + 7)) == 5


@pytest.mark.parametrize("names", [list("edcba"), list("abcdf")], ids="".join)
def test_columns_of_other_names_or_in_another_order(names):
    frame = pd.DataFrame(X, columns=list("abcde"))
    forest = RandomForestClassifier(3, warm_start=True).fit(frame, LABELS)
    with pytest.raises(ValueError, match="but the columns of X changed"):
        forest.set_params(n_estimators=4).fit(frame.set_axis(names, axis=1), LABELS)


@pytest.mark.parametrize("word", ["balanced", "balanced_subsample"])
def test_balanced_weights_depend_on_the_rows_of_each_fit(word):
    forest = RandomForestClassifier(2, warm_start=True, class_weight=word)
    with pytest.warns(UserWarning, match="not recommended for warm_start"):
        forest.fit(X, LABELS)
