"""Weights of rows; labels, tables and outputs."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as PeerTree

from bagging.cases import BOTH, DIABETES, WINE, data_of, say
from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)

# --- weights of rows ----------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "member"), BOTH, ids=str)
def test_rows_are_drawn_by_weight(kind, member):
    X, y = data_of(kind)
    w = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    bag = kind(member, 300, random_state=0).fit(X, y, sample_weight=w)
    counts = bag.in_bag_
    assert (counts[:, w == 0] == 0).all()
    share = counts.sum(axis=0) / counts.sum()
    np.testing.assert_allclose(share, w / w.sum(), atol=5 * np.sqrt(3 / w.sum() / counts.sum()))


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        (BaggingRegressor, None),
        (BaggingRegressor, Ridge()),
        (BaggingRegressor, KNeighborsRegressor(3)),
    ],
    ids=str,
)
def test_a_weight_is_a_repetition_on_average(kind, member):
    """Where rows are drawn, weight k and k copies give the same distribution of members."""
    X, y = DIABETES
    X, y = X[:60], y[:60]
    w = np.random.default_rng(1).integers(0, 4, len(y))
    settings = {"max_samples": 60, "random_state": 0}
    weighted = kind(member, 250, **settings).fit(X, y, sample_weight=w)
    repeated = kind(member, 250, **settings).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    a, b = weighted.member_predictions(X), repeated.member_predictions(X)
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 250)
    z = (a.mean(axis=0) - b.mean(axis=0)) / error
    assert abs(z).max() < 5
    assert np.sqrt((z**2).mean()) < 1.5
    np.testing.assert_allclose(a.std(axis=0).mean(), b.std(axis=0).mean(), rtol=0.1)


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        (BaggingClassifier, DecisionTreeClassifier()),
        (BaggingClassifier, RidgeClassifier(solver="cholesky")),
        (BaggingClassifier, KNeighborsClassifier(3)),  # takes no weights: repeated
        (BaggingRegressor, DecisionTreeRegressor()),
        (BaggingRegressor, make_pipeline(StandardScaler(), LinearRegression())),
    ],
    ids=str,
)
def test_without_draws_a_weight_is_a_repetition(kind, member):
    X, y = data_of(kind)
    w = np.random.default_rng(1).integers(0, 4, len(y))
    settings = {"bootstrap": False, "max_features": 0.6, "random_state": 0}
    weighted = kind(member, 3, **settings).fit(X, y, sample_weight=w)
    repeated = kind(member, 3, **settings).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(say(weighted, X), say(repeated, X), rtol=1e-6)


def test_fractions_for_a_member_that_takes_no_weights():
    X, y = WINE
    bag = BaggingClassifier(KNeighborsClassifier(), bootstrap=False)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        bag.fit(X, y, sample_weight=np.linspace(0.5, 1, len(y)))
    plain = bag.fit(X, y).predict_proba(X)
    equal = bag.fit(X, y, sample_weight=np.full(len(y), 0.5))
    np.testing.assert_array_equal(equal.predict_proba(X), plain)
    bag.set_params(bootstrap=True).fit(X, y, sample_weight=np.linspace(0.5, 1, len(y)))


def test_pasting_by_weight_is_advised_against():
    X, y = WINE
    w = np.arange(len(y)) % 3 + 1.0
    with pytest.warns(UserWarning, match="recommended to use bootstrap=True"):
        BaggingClassifier(bootstrap=False, max_samples=50).fit(X, y, sample_weight=w)


def test_a_class_without_weight_is_absent():
    X, y = WINE
    tree = DecisionTreeClassifier(class_weight={0: 0, 1: 1, 2: 1})
    bag = BaggingClassifier(tree, 10, random_state=0, oob_score=True).fit(X, y)
    assert bag.predict_proba(X)[:, 0].max() == 0
    assert (bag.in_bag_[:, y == 0] == 0).all()
    with pytest.raises(ValueError, match="without weight"):
        bag.fit(X, y, sample_weight=(y == 0).astype(float))


# --- labels, tables, outputs --------------------------------------------------------------------


@pytest.mark.parametrize(
    "member", [None, KNeighborsClassifier(1), GaussianNB(), PeerTree()], ids=str
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # in GaussianNB
def test_a_class_that_some_members_never_saw(member):
    X, y = WINE
    y = np.array(["x", "y", "z"])[y]
    y[:2] = "a"
    bag = BaggingClassifier(member, 15, max_samples=25, random_state=0, oob_score=True).fit(X, y)
    shares = bag.predict_proba(X)
    assert shares.shape == (len(y), 4)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert set(bag.predict(X)) <= set("axyz")
    assert bag.score(X, y) > 0.6


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", None], 300)
    size = np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300))
    X = pd.DataFrame({"colour": colour, "size": size, "noise": rng.normal(size=300)})
    y = np.where(colour == "red", "yes", "no")
    bag = BaggingClassifier(n_estimators=20, max_features=2, random_state=0, oob_score=True)
    assert bag.fit(X, y).oob_score_ > 0.95
    assert set(bag.categories_[0]) == {"red", "green", "blue"}
    for one, columns in zip(bag.estimators_, bag.estimators_features_, strict=True):
        part = X.iloc[:, columns]
        assert list(one.feature_names_in_) == list(part.columns)
        assert one.predict(part).shape == (300,)
        assert one.tree_.n_features == 2
    with pytest.raises(ValueError, match="held numbers in fit"):
        bag.predict(X.assign(size="much"))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_that_are_drawn_twice_get_names_of_their_own(frame):
    """Members of other kinds get a data frame, in which no two columns may have the same name."""
    X, y = WINE
    names = [f"c{j}" for j in range(X.shape[1])]
    member = NamedTree(max_depth=3, random_state=0)
    settings = {"n_estimators": 4, "bootstrap_features": True, "random_state": 0}
    named = BaggingClassifier(member, **settings).fit(frame(dict(zip(names, X.T, strict=True))), y)
    plain = BaggingClassifier(PeerTree(max_depth=3, random_state=0), **settings).fit(X, y)
    for one, columns in zip(named.estimators_, named.estimators_features_, strict=True):
        assert len(set(columns)) < len(columns)
        times = [list(columns[: i + 1]).count(j) for i, j in enumerate(columns)]
        expected = [
            f"c{j}" if t == 1 else f"c{j} ({t})" for j, t in zip(columns, times, strict=True)
        ]
        assert one.names_ == expected
    table = frame(dict(zip(names, X.T, strict=True)))
    np.testing.assert_allclose(named.predict_proba(table), plain.predict_proba(X))


class NamedTree(PeerTree):
    """Remembers the names of its columns."""

    def fit(self, X, y, sample_weight=None):
        self.names_ = list(X.columns)
        return super().fit(np.asarray(X), y, sample_weight)

    def predict_proba(self, X):
        assert list(X.columns) == self.names_
        return super().predict_proba(np.asarray(X))


def test_several_outputs():
    X, y = WINE
    Y = np.c_[y, y == 1]
    bag = BaggingClassifier(n_estimators=15, oob_score=True, random_state=0, weighting="oob")
    bag.fit(X, Y)
    assert bag.predict(X).shape == Y.shape
    assert [p.shape for p in bag.predict_proba(X)] == [(len(y), 3), (len(y), 2)]
    assert [p.shape for p in bag.member_predictions(X)] == [(15, len(y), 3), (15, len(y), 2)]
    assert [p.shape for p in bag.predict_log_proba(X)] == [(len(y), 3), (len(y), 2)]
    with pytest.raises(ValueError, match="1d array"):
        BaggingClassifier(GaussianNB()).fit(X, Y)
    X, y = DIABETES
    for member in (None, Ridge()):
        bag = BaggingRegressor(member, 15, oob_score=True, random_state=0).fit(X, np.c_[y, -y])
        np.testing.assert_allclose(bag.predict(X)[:, 0], -bag.predict(X)[:, 1])
        assert bag.member_predictions(X).shape == (15, len(y), 2)
        assert bag.oob_prediction_.shape == (len(y), 2)


def test_leaves():
    X, y = WINE
    bag = BaggingClassifier(n_estimators=4, random_state=0).fit(X, y)
    leaves = bag.leaf_index(X)
    np.testing.assert_array_equal(leaves, bag.apply(X))
    np.testing.assert_array_equal(leaves[:, 2], bag.estimators_[2].apply(X))
    assert bag.forest_.n_trees == 4
    other = BaggingClassifier(GaussianNB(), 4).fit(X, y)
    assert not hasattr(other, "apply")
    assert not hasattr(other, "leaf_index")
    assert not hasattr(other, "forest_")


def test_one_row():
    for member in (None, PeerTree()):
        bag = BaggingClassifier(member, 3).fit([[1.0, 2.0]], ["only"])
        assert bag.predict([[0.0, 0.0]]) == ["only"]
    assert BaggingRegressor(n_estimators=3).fit([[1.0]], [5.0]).predict([[9.0]]) == [5.0]
