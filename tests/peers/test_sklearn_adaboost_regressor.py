"""scikit-learn's AdaBoostRegressor: the same face, and the same numbers from the same members."""

import inspect

import numpy as np
import pytest
import sklearn.ensemble as peers
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor as PeerTree

from gate import some
from oracle.scripted import Scripted, scripted
from peers.contract import contract
from weald import AdaBoostRegressor, DecisionTreeRegressor

pytestmark = pytest.mark.peers

X, Y = make_friedman1(300, noise=1.0, random_state=0)
LOSSES = ("linear", "square", "exponential")


@pytest.mark.filterwarnings("ignore:No member")
@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None)
@given(seed=st.integers(0, 10**6), noise=st.floats(0.1, 3), rate=st.sampled_from([1.0, 0.3, 2.0]))
def test_same_members_same_model_as_scikit_learn(loss, seed, noise, rate):
    rng = np.random.default_rng(seed)
    n, T = int(rng.integers(2, 30)), 8
    y = rng.normal(size=n)
    script = y + noise * rng.normal(size=(T, n))
    weights = rng.integers(0, 3, n) + (np.arange(n) == 0)
    kept = {"n_estimators": T, "learning_rate": rate, "loss": loss, "random_state": 0}
    theirs, rows = scripted(peers.AdaBoostRegressor(Scripted(), **kept), y, script, weights)
    ours, _ = scripted(AdaBoostRegressor(Scripted(), **kept), y, script, weights)
    t = len(theirs.estimators_)
    assert ours.n_estimators_ == t
    if theirs.estimator_weights_[0] == 0:  # the only member, and no good
        assert ours.stop_reason_ == "worse"
    else:
        np.testing.assert_allclose(ours.errors_, theirs.estimator_errors_[:t], rtol=1e-7)
        np.testing.assert_allclose(
            ours.estimator_weights_, theirs.estimator_weights_[:t], rtol=1e-6, atol=1e-9
        )
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    for a, b in zip(ours.staged_predict(rows), theirs.staged_predict(rows), strict=True):
        np.testing.assert_array_equal(a, b)


def test_parameters_and_defaults_of_scikit_learn():
    ours = inspect.signature(AdaBoostRegressor).parameters
    theirs = inspect.signature(peers.AdaBoostRegressor).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for name, expected in theirs.items():
        assert ours[name].default == expected.default
        assert ours[name].kind == expected.kind
    fitted = peers.AdaBoostRegressor(n_estimators=3).fit(X, Y)
    model = AdaBoostRegressor(n_estimators=3).fit(X, Y)
    public = {name for name in dir(fitted) if not name.startswith("_")}
    assert public - {"estimator_params"} <= set(dir(model))
    assert model.feature_importances_.shape == fitted.feature_importances_.shape
    assert model.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize("data", ["diabetes", "friedman"])
@pytest.mark.parametrize("loss", some(LOSSES, one_in=9))
def test_held_out_scores_of_scikit_learn(data, loss):
    inputs, y = (
        load_diabetes(return_X_y=True)
        if data == "diabetes"
        else make_friedman1(500, noise=1.0, random_state=0)
    )
    gain = []
    for seed in range(8):
        train, test = train_test_split(np.arange(len(y)), test_size=0.4, random_state=seed)
        found = [
            kind(loss=loss, random_state=seed)
            .fit(inputs[train], y[train])
            .score(inputs[test], y[test])
            for kind in (AdaBoostRegressor, peers.AdaBoostRegressor)
        ]
        gain.append(found[0] - found[1])
    assert np.mean(gain) > -2 * np.std(gain, ddof=1) / np.sqrt(len(gain)) - 0.01


EXACT = [
    AdaBoostRegressor(n_estimators=5, resample=False),
    AdaBoostRegressor(n_estimators=5, resample=False, loss="square", keep_weights=True),
    AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=2), n_estimators=5, resample=False, loss="exponential"
    ),
    AdaBoostRegressor(LinearRegression(), n_estimators=3, resample=False),
]
DRAWN = [
    AdaBoostRegressor(n_estimators=5),
    AdaBoostRegressor(n_estimators=5, when_worse="redraw", learning_rate=0.5),
    AdaBoostRegressor(n_estimators=5, n_iter_no_change=2, resample=False),
    AdaBoostRegressor(KNeighborsRegressor(1), n_estimators=3),
    AdaBoostRegressor(PeerTree(max_depth=3), n_estimators=3),
]


@pytest.mark.filterwarnings("ignore:No member")
@pytest.mark.parametrize(("estimator", "check"), contract(EXACT, DRAWN))
def test_estimator_contract(estimator, check):
    check(estimator)
