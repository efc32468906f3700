"""A warm start with other parameters of trees: every member tells what it was grown with."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

settings = {"n_estimators": 2, "warm_start": True, "random_state": 0}
GROWN = {
    "forest": RandomForestRegressor(max_depth=2, **settings),
    "forest of classes": RandomForestClassifier(max_depth=2, **settings),
    "extra-trees": ExtraTreesRegressor(max_depth=2, **settings),
    "extra-trees of classes": ExtraTreesClassifier(max_depth=2, **settings),
    "bag": BaggingRegressor(DecisionTreeRegressor(max_depth=2), **settings),
    "bag of classes": BaggingClassifier(DecisionTreeClassifier(max_depth=2), **settings),
    "boosting": GradientBoostingRegressor(max_depth=2, **settings),
    "boosting of classes": GradientBoostingClassifier(max_depth=2, **settings),
}


def members(model):
    return list(np.ravel(np.array(list(model.estimators_), dtype=object)))


@pytest.mark.parametrize("name", GROWN)
def test_old_members_keep_their_parameters_and_new_ones_have_theirs(name):
    model = GROWN[name]
    make = make_classification if hasattr(model, "predict_proba") else make_regression
    X, y = make(200, 6, random_state=0)
    model.fit(X, y)
    old = members(model)
    prefix = "estimator__" if "bag" in name else ""
    later = {"max_depth": 5, "min_samples_leaf": 3}
    model.set_params(n_estimators=4, **{prefix + key: value for key, value in later.items()})
    assert [m.max_depth for m in members(model)] == [2, 2]  # nothing was fitted yet
    model.fit(X, y)
    for again in (model, pickle.loads(pickle.dumps(model))):
        now = members(again)
        assert [(m.max_depth, m.min_samples_leaf) for m in now] == [(2, 1)] * 2 + [(5, 3)] * 2
        assert [m.get_depth() for m in now[:2]] == [m.get_depth() for m in old]
        for member in now:
            assert member.get_depth() <= member.max_depth
            assert member.tree_.n_node_samples.min() >= member.min_samples_leaf
            assert member.get_params()["max_depth"] == member.max_depth
        assert max(m.get_depth() for m in now[2:]) > 2


def test_each_member_knows_how_many_columns_it_looked_at():
    X, y = make_regression(200, 6, random_state=0)
    forest = RandomForestRegressor(max_features=2, **settings).fit(X, y)
    forest.set_params(n_estimators=3, max_features=5).fit(X, y)
    assert [m.max_features_ for m in forest.estimators_] == [2, 2, 5]
    assert [m.max_features for m in forest.estimators_] == [2, 2, 5]
    assert forest.max_features_ == 5
    assert forest.estimator_.max_features == 5
