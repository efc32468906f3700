"""Time limits, candidates without hope, Ctrl-C, and the bar."""

import time

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from superlearner.cases import CANDIDATES, Fails, Slow, X, Y
from weald import (
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    SuperLearnerRegressor,
)


def test_hopeless_candidates_have_no_more_folds():
    class Wild(Fails):
        fits = 0

        def fit(self, X, y):
            Wild.fits += 1
            return self

        def predict(self, X):
            return np.full(len(X), 1e4)

    model = SuperLearnerRegressor([*CANDIDATES, ("wild", Wild())], cv=5, random_state=0, n_jobs=1)
    model.fit(X, Y)
    assert Wild.fits == 1
    assert model.cv_risks_.notes[-1] == "too far behind"


def test_a_time_limit_is_kept():
    rng = np.random.default_rng(0)
    points, y = rng.normal(size=(2000, 5)), rng.normal(size=2000)
    y += points[:, 0]
    candidates = [
        ("line", LinearRegression()),
        ("slow", Slow()),
        ("boosting", GradientBoostingRegressor(n_estimators=100_000, learning_rate=0.01)),
        ("tree", DecisionTreeRegressor(max_depth=3)),
    ]
    began = time.monotonic()
    model = SuperLearnerRegressor(candidates, time_limit=1.5, random_state=0, n_jobs=1).fit(
        points, y
    )
    assert time.monotonic() - began < 2.2
    assert model.cv_risks_.risk[0] > 0
    assert model.score(points, y) > 0.4


def test_the_limit_is_not_left_with_the_members():
    boosting = GradientBoostingRegressor(n_estimators=5)
    model = SuperLearnerRegressor([("boosting", boosting)], cv=2, time_limit=60, random_state=0)
    assert [one.callbacks for one in model.fit(X, Y).estimators_[0].estimators] == [None, None]


def test_ctrl_c_keeps_what_is_complete_if_asked():
    class Stops(Fails):
        def fit(self, X, y):
            raise KeyboardInterrupt

    candidates = [*CANDIDATES[:2], ("stops", Stops())]
    with pytest.raises(KeyboardInterrupt):
        SuperLearnerRegressor(candidates, random_state=0, n_jobs=1).fit(X, Y)
    model = SuperLearnerRegressor(candidates, keep_partial=True, random_state=0, n_jobs=1)
    with pytest.warns(UserWarning, match="stopped"):
        model.fit(X, Y)
    assert model.stop_reason_ == "interrupted"
    assert np.isfinite(model.cv_risks_.risk[:2]).all()
    assert np.isnan(model.cv_risks_.risk[2])


def test_a_bar_over_candidates_and_folds(capsys):
    SuperLearnerRegressor(CANDIDATES, cv=4, verbose=1, random_state=0).fit(X, Y)
    said = capsys.readouterr().err
    assert "12/12" in said
    assert "risk" in said


class SlowLine(LinearRegression):
    """Fits that take a while, and longer with more rows."""

    def fit(self, X, y):
        time.sleep(0.001 * len(y))
        return super().fit(X, y)


def test_members_are_fitted_again_as_far_as_there_is_time():
    candidates = [("slow", SlowLine()), ("line", LinearRegression())]
    # Two folds take 0.44 s, a fit to all rows as long; so 0.6 s are enough for the folds alone.
    for limit, again in ((0.6, False), (20, True)):
        model = SuperLearnerRegressor(
            candidates[:1], cv=2, refit=True, time_limit=limit, random_state=0, n_jobs=1
        )
        began = time.monotonic()
        model.fit(X, Y)
        assert time.monotonic() - began < max(0.8, limit)
        assert hasattr(model.estimators_[0], "coef_") == again


def test_why_it_stopped():
    candidates = [("line", LinearRegression()), ("slow", Slow())]
    model = SuperLearnerRegressor(candidates, time_limit=1, cv=5, random_state=0, n_jobs=1)
    assert model.fit(X, Y).stop_reason_ == "time_limit"
    assert model.cv_risks_.notes == ["", "would take too long"]
    model = SuperLearnerRegressor(candidates[:1], time_limit=30, cv=5, random_state=0).fit(X, Y)
    assert model.stop_reason_ == "complete"


def test_what_fits_take_beside_their_rounds_is_learned():
    """Reading and predicting count too, of which a limit of rounds knows nothing."""

    class SlowToRead(GradientBoostingRegressor):
        def fit(self, X, y, **params):
            time.sleep(0.2)
            return super().fit(X, y, **params)

    candidates = [("slow", SlowToRead(n_estimators=100_000, learning_rate=0.001))]
    began = time.monotonic()
    SuperLearnerRegressor(candidates, cv=5, time_limit=3, random_state=0).fit(X, Y)
    assert time.monotonic() - began < 3.3


def test_ctrl_c_in_the_last_fits_keeps_the_copies_on_the_folds():
    class StopsOnAllRows(LinearRegression):
        def fit(self, X, y):
            if len(y) == len(Y):
                raise KeyboardInterrupt
            return super().fit(X, y)

    candidates = [("tree", DecisionTreeRegressor(max_depth=3)), ("stops", StopsOnAllRows())]
    settings = {"cv": 3, "refit": True, "random_state": 0, "n_jobs": 1}
    with pytest.raises(KeyboardInterrupt):
        SuperLearnerRegressor(candidates, **settings).fit(X, Y)
    model = SuperLearnerRegressor(candidates, keep_partial=True, **settings)
    with pytest.warns(UserWarning, match="stopped"):
        model.fit(X, Y)
    assert len(model.named_estimators_["stops"].estimators) == 3
    assert model.stop_reason_ == "interrupted"
