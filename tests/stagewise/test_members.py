"""Members of any kind, their labels, their tables and their threads."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as PeerTree

from stagewise.cases import CANCER, DIABETES, data_of, say
from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
)


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        (StagewiseClassifier, make_pipeline(StandardScaler(), LogisticRegression())),
        (StagewiseClassifier, Ridge()),
        (StagewiseClassifier, KNeighborsClassifier(20)),  # takes no weights
        (StagewiseClassifier, PeerTree(max_depth=2)),
        (StagewiseClassifier, DecisionTreeClassifier(max_depth=1, class_weight={0: 2, 1: 1})),
        (StagewiseClassifier, make_pipeline(StandardScaler(), PeerTree(max_depth=1))),
        (StagewiseRegressor, Ridge()),
        (StagewiseRegressor, KNeighborsRegressor(20)),
        (StagewiseRegressor, ExtraTreeRegressor(max_depth=2)),
        (StagewiseRegressor, DecisionTreeClassifier(max_depth=1)),
        (StagewiseRegressor, PeerTree(max_depth=1)),
    ],
    ids=str,
)
def test_any_member(kind, member):
    X, y = data_of(kind)
    model = kind(member, n_estimators=8, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > (0.85 if kind is StagewiseClassifier else 0.1)
    h = model.member_predictions(X)
    np.testing.assert_allclose(say(model, X), model.init_ + model.steps_ @ h, rtol=1e-9)
    assert len(model.estimators_) == len(h) == model.n_estimators_ == len(model.member_weights_)
    np.testing.assert_allclose([*model.staged_predict(X)][-1], model.predict(X), rtol=1e-9)
    again = clone(model).fit(X[::2], y[::2])
    np.testing.assert_array_equal(say(again, X), say(model, X))
    np.testing.assert_array_equal(say(pickle.loads(pickle.dumps(model)), X), say(model, X))


def test_trees_of_both_libraries_say_the_same():
    X, y = CANCER
    here = StagewiseClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=15).fit(X, y)
    there = StagewiseClassifier(PeerTree(max_depth=1, random_state=0), n_estimators=15).fit(X, y)
    np.testing.assert_allclose(here.steps_, there.steps_, rtol=1e-6)
    assert here.estimators_[0].classes_.tolist() == [0, 1]


def test_members_speak_the_users_labels():
    X, y = CANCER
    labels = np.array(["bad", "good"])[y]
    model = StagewiseClassifier(n_estimators=3).fit(X, labels)
    assert set(model.estimators_[0].predict(X)) == {"bad", "good"}
    assert set(model.predict(X)) == {"bad", "good"}
    for tree in (DecisionTreeClassifier, PeerTree):
        careful = tree(max_depth=1, class_weight={"bad": 9})
        strict = StagewiseClassifier(careful, n_estimators=1).fit(X, labels)
        assert (strict.predict(X) == "bad").sum() > (model.predict(X) == "bad").sum()
    sides = StagewiseRegressor(DecisionTreeClassifier(max_depth=1), n_estimators=3).fit(*DIABETES)
    assert sides.estimators_[0].classes_.tolist() == [-1, 1]


def test_tables_as_they_are():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"number": rng.normal(size=80), "word": rng.choice(["x", "y", "z"], 80)})
    frame.loc[::9, "number"] = np.nan
    y = (frame["word"] == "x") | (frame["number"] > 0.5)
    model = StagewiseClassifier(n_estimators=20).fit(frame, y)
    assert model.score(frame, y) > 0.95
    assert model.feature_names_in_.tolist() == ["number", "word"]
    assert model.estimators_[0].feature_names_in_.tolist() == ["number", "word"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["word", "number"]])
    X, target = DIABETES
    dense, thin = StagewiseRegressor(n_estimators=5), StagewiseRegressor(n_estimators=5)
    np.testing.assert_array_equal(
        dense.fit(X, target).predict(X), thin.fit(sparse.csr_array(X), target).predict(X)
    )


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_change_nothing(n_jobs):
    X, y = DIABETES
    one = DecisionTreeRegressor(max_depth=3, max_bins=255, n_jobs=1)
    several = DecisionTreeRegressor(max_depth=3, max_bins=255, n_jobs=n_jobs)
    np.testing.assert_array_equal(
        StagewiseRegressor(one, n_estimators=10).fit(X, y).predict(X),
        StagewiseRegressor(several, n_estimators=10).fit(X, y).predict(X),
    )
