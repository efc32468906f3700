"""Members and losses of the user's own."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

from boosting.cases import DIABETES, IRIS, SMALL
from weald import GradientBoostingClassifier, GradientBoostingRegressor, callbacks, losses


@pytest.mark.parametrize(
    "member", [Ridge(), KNeighborsRegressor(), RandomForestRegressor(5, max_depth=3)], ids=str
)
def test_any_regressor_may_be_the_member(member):
    X, y = DIABETES
    model = GradientBoostingRegressor(estimator=member, n_estimators=5, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.1
    assert type(model.estimators_[0, 0]) is type(member)
    labels = y > 140
    model = GradientBoostingClassifier(estimator=member, n_estimators=5, random_state=0)
    assert model.fit(X, labels).score(X, labels) > 0.6
    with pytest.raises(AttributeError, match="Leaves are for"):
        model.apply(X)


def test_members_of_squared_loss_at_rate_1_are_least_squares():
    X, y = DIABETES
    model = GradientBoostingRegressor(
        estimator=LinearRegression(), n_estimators=1, learning_rate=1.0
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X))


class OwnSquared:
    def value(self, y, F):
        return 0.5 * (F - y) ** 2

    def gradient(self, y, F):
        return F - y


class OwnNewton(OwnSquared):
    def hessian(self, y, F):
        return np.ones_like(F)


class OwnSoftmax:
    kind = "multiclass"

    def value(self, y, F):
        return losses.Softmax().value(y, F)

    def gradient(self, y, F):
        return losses.Softmax().gradient(y, F)

    def hessian(self, y, F):
        return losses.Softmax().hessian(y, F)


@pytest.mark.parametrize("own", [OwnSquared(), OwnNewton()])
def test_an_own_loss_is_as_good_as_a_built_in_one(own):
    X, y = DIABETES
    order = 2 if hasattr(own, "hessian") else 1
    step = "newton" if order == 2 else "exact"
    mine = GradientBoostingRegressor(loss=own, n_estimators=10, **SMALL).fit(X, y)
    theirs = GradientBoostingRegressor(order=order, step=step, n_estimators=10, **SMALL).fit(X, y)
    np.testing.assert_allclose(mine.predict(X), theirs.predict(X), rtol=1e-6)
    np.testing.assert_allclose(mine.train_score_, theirs.train_score_, rtol=1e-6)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_loss_of_many_rows_is_the_same_whoever_looks_on(n_jobs):
    """Where nobody does, it is worked out beside the derivatives of the next round."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_001, 2))
    y = X[:, 0] + rng.normal(size=len(X))
    history = callbacks.History()
    settings = {"n_estimators": 3, "max_leaf_nodes": 4, "random_state": 0, "n_jobs": n_jobs}
    unseen = GradientBoostingRegressor(loss=OwnNewton(), **settings).fit(X, y)
    seen = GradientBoostingRegressor(loss=OwnNewton(), callbacks=[history], **settings).fit(X, y)
    assert unseen.train_score_.tolist() == seen.train_score_.tolist()
    assert history.curve("train_loss") == unseen.train_score_.tolist()
    assert len(unseen.train_score_) == 3
    np.testing.assert_array_equal(unseen.predict(X), seen.predict(X))


def test_what_a_loss_raises_in_one_of_several_threads_is_raised():
    class Fails(OwnSquared):
        def gradient(self, y, F):
            if len(F) > 1000 and F.std() > 0:
                raise KeyError("gradient")
            return F - y

    X = np.arange(100_001.0)[:, None]
    with pytest.raises(KeyError, match="gradient"):
        GradientBoostingRegressor(loss=Fails(), n_estimators=5, n_jobs=2).fit(X, X[:, 0])


def test_an_own_loss_of_classes():
    X, y = IRIS
    settings = SMALL | {"n_estimators": 5, "l2_regularization": 1.0}
    mine = GradientBoostingClassifier(loss=OwnSoftmax(), **settings).fit(X, y)
    theirs = GradientBoostingClassifier(**settings).fit(X, y)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_a_slip_of_the_pen_is_found():
    class Wrong(OwnSquared):
        def gradient(self, y, F):
            return np.where(y > 300, 2, 1) * (F - y)

    X, y = DIABETES
    with pytest.raises(ValueError, match=r"gradient of Wrong is .* in row .*differences") as error:
        GradientBoostingRegressor(loss=Wrong()).fit(X, y)
    row = int(str(error.value).split("in row ")[1].split()[0])
    assert y[row] > 300


def test_an_own_loss_must_stay_finite_and_leave_scores_alone():
    class Explodes(OwnSquared):
        def constant(self, y, sample_weight=None):
            return float(np.mean(y))

        def gradient(self, y, F):
            return np.where(F > 260, np.nan, F - y)

    X, y = DIABETES
    for step in ("exact", "gradient"):
        with pytest.raises(ValueError, match="The gradient of Explodes is nan in row"):
            GradientBoostingRegressor(loss=Explodes(), step=step, learning_rate=1.0).fit(X, y)

    class Writes(OwnSquared):
        def gradient(self, y, F):
            F -= y
            return F

    with pytest.raises(ValueError, match="read-only"):
        GradientBoostingRegressor(loss=Writes()).fit(X, y)
