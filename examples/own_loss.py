"""Losses of your own in gradient boosting.

docs/write-your-own-loss.md explains this file and shows its regions word for word, which a test
sees to. Running it takes a few seconds.
"""

# region: imports
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_diabetes, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from weald import GradientBoostingClassifier, GradientBoostingRegressor
from weald.callbacks import EarlyStopping
from weald.losses import Log, check_derivatives

# endregion


# region: a loss with a second derivative
@dataclass(frozen=True)
class Careful:
    """Squared error in which a prediction that is too low costs `factor` times as much."""

    factor: float = 3.0
    convex = True

    def value(self, y, F):
        return self.hessian(y, F) * (F - y) ** 2 / 2

    def gradient(self, y, F):
        return self.hessian(y, F) * (F - y)

    def hessian(self, y, F):
        return np.where(y > F, self.factor, 1.0)


# endregion


# region: careful predictions
settings = {"n_estimators": 100, "learning_rate": 0.1, "max_leaf_nodes": 4, "random_state": 0}
X, X_new, y, y_new = train_test_split(*load_diabetes(return_X_y=True), random_state=0)
for loss in ("squared_error", Careful(), Careful(factor=20)):
    model = GradientBoostingRegressor(loss=loss, **settings).fit(X, y)
    too_low = (model.predict(X_new) < y_new).mean()
    print(f"{loss}: {too_low:.0%} of the predictions are too low")
# endregion


# region: a slip of the pen
class Slip(Careful):
    def gradient(self, y, F):
        return F - y  # the factor is missing


try:
    GradientBoostingRegressor(loss=Slip()).fit(X, y)
except ValueError as error:
    print(error)
check_derivatives(Careful(), y, y[::-1])  # says nothing: all is well
# endregion


# region: a loss without second derivative, and a link
class WaitingTime:
    """Half the deviance of inverse Gaussian times, whose variance grows like the mean cubed."""

    link = Log()  # predictions are exp(F)

    def value(self, y, F):
        return y * np.exp(-2 * F) / 2 - np.exp(-F)

    def gradient(self, y, F):
        return np.exp(-F) - y * np.exp(-2 * F)

    def constant(self, y, sample_weight=None):
        return np.log(np.average(y, weights=sample_weight))

    def check_target(self, y):
        if (y <= 0).any():
            raise ValueError("WaitingTime needs targets above 0.")


# endregion


# region: waiting times
random = np.random.default_rng(0)
x = random.uniform(size=(3000, 3))
mean = np.exp(3 * x[:, 0] * x[:, 1])
times = random.wald(mean, 0.5)
for name, loss in (("squared error", "squared_error"), ("waiting time", WaitingTime())):
    model = GradientBoostingRegressor(loss=loss, **settings).fit(x[:2000], times[:2000])
    off = np.abs(model.predict(x[2000:]) / mean[2000:] - 1).mean()
    print(f"{name}: predictions are off by {off:.0%} of the true mean")
# endregion


# region: a loss of two classes
@dataclass(frozen=True)
class WrongLabels:
    """Log loss of labels of which a share of `rate` is wrong."""

    rate: float
    kind = "binary"

    def value(self, y, F):
        return -np.log(self._chance(expit((2 * y - 1) * F)))

    def gradient(self, y, F):
        sign = 2 * y - 1
        p = expit(sign * F)
        return -sign * (1 - 2 * self.rate) * p * (1 - p) / self._chance(p)

    def _chance(self, p):
        """Of the label that is seen, if it is the true one with probability p."""
        return self.rate + (1 - 2 * self.rate) * p


# endregion


# region: wrong labels
X, true = make_classification(4000, n_informative=8, flip_y=0, random_state=0)
seen = np.where(random.random(4000) < 0.2, 1 - true, true)
for loss in ("log_loss", WrongLabels(0.2)):
    model = GradientBoostingClassifier(loss=loss, **settings).fit(X[:2000], seen[:2000])
    judged = log_loss(true[2000:], model.predict_proba(X[2000:]))
    print(f"{loss}: log loss {judged:.2f} on true labels")
# endregion


# region: early stopping
settings = {"loss": WrongLabels(0.2), "n_estimators": 1000, "learning_rate": 0.1, "random_state": 0}
early = GradientBoostingClassifier(**settings, n_iter_no_change=20, tol=0.0)
early.fit(X[:2000], seen[:2000])  # holds out a tenth of the rows
print(early.best_iteration_, early.n_estimators_, early.stop_reason_)
stop = EarlyStopping(patience=20)
early = GradientBoostingClassifier(**settings, callbacks=[stop])
early.fit(X[:2000], seen[:2000], X_val=X[2000:], y_val=seen[2000:])
print(stop.best_round, f"{stop.best_value:.2f}", early.stop_reason_)
# endregion
