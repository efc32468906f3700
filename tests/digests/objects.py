"""Objects that settings of the cases name: members, losses, callbacks, scores."""

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    GradientBoostingClassifier,
    RandomForestRegressor,
    losses,
)
from weald.callbacks import EarlyStopping, History, LearningRateSchedule


class Careful:
    """A loss in which too low costs three times as much as too high."""

    def value(self, y, F):
        return np.where(y > F, 3, 1) * (F - y) ** 2

    def gradient(self, y, F):
        return 2 * np.where(y > F, 3, 1) * (F - y)


class CarefulTwice(Careful):
    """The same with its second derivative."""

    def hessian(self, y, F):
        return 2.0 * np.where(y > F, 3, 1)


class Brier:
    """Squared error of a probability."""

    kind = "binary"

    def value(self, y, F):
        return (1 / (1 + np.exp(-F)) - y) ** 2

    def gradient(self, y, F):
        p = 1 / (1 + np.exp(-F))
        return 2 * (p - y) * p * (1 - p)


def close(y_true, y_pred):
    """A score: greater is better."""
    return -float(np.abs(y_true - y_pred).mean())


def agreement(y_true, y_pred):
    return float((np.asarray(y_true) == np.asarray(y_pred)).mean())


def third_round(state):
    return state.round == 3


OBJECTS = {
    # members
    "LogisticRegression": LogisticRegression(),
    "GaussianNB": GaussianNB(),
    "KNeighborsClassifier": KNeighborsClassifier(3),
    "KNeighborsRegressor": KNeighborsRegressor(3),
    "LinearRegression": LinearRegression(),
    "Ridge": Ridge(),
    "their tree": TheirClassifier(max_depth=3),
    "their stump": TheirClassifier(max_depth=1),
    "their regression tree": TheirRegressor(max_depth=3),
    "tree": DecisionTreeClassifier(max_depth=4),
    "small tree": DecisionTreeClassifier(max_depth=2, max_bins=16),
    "extra tree": ExtraTreeClassifier(max_depth=5),
    "pruned tree": DecisionTreeClassifier(ccp_alpha=0.01),
    "balanced tree": DecisionTreeClassifier(max_depth=3, class_weight="balanced"),
    "costly tree": DecisionTreeClassifier(max_depth=3, cost_matrix=[[0, 3], [1, 0]]),
    "entropy tree": DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=6),
    "listed tree": DecisionTreeClassifier(max_depth=3, categorical_features=[0, 1]),
    "drawing tree": DecisionTreeClassifier(max_depth=2, max_features=1),
    "boosted": GradientBoostingClassifier(n_estimators=2, max_depth=2),
    "regression tree": DecisionTreeRegressor(max_depth=4),
    "small regression tree": DecisionTreeRegressor(max_depth=2, max_bins=16),
    "extra regression tree": ExtraTreeRegressor(max_depth=5),
    "pruned regression tree": DecisionTreeRegressor(ccp_alpha=0.01),
    "median tree": DecisionTreeRegressor(criterion="absolute_error", max_depth=3),
    "listed regression tree": DecisionTreeRegressor(max_depth=3, categorical_features=[0, 1]),
    "forest": RandomForestRegressor(n_estimators=2, max_depth=3),
    # losses
    "Huber(0.5)": losses.Huber(delta=0.5),
    "Quantile(0.8)": losses.Quantile(0.8),
    "Tweedie(1.8)": losses.Tweedie(1.8),
    "Focal(1)": losses.Focal(gamma=1.0),
    "SmoothHinge(0.5)": losses.SmoothHinge(smoothness=0.5),
    "Careful": Careful(),
    "CarefulTwice": CarefulTwice(),
    "Brier": Brier(),
    # scores and callbacks
    "close": close,
    "agreement": agreement,
    "history": [History()],
    "third round": [third_round],
    "patience": [EarlyStopping(patience=2)],
    "rates": [LearningRateSchedule([0.5, 0.3, 0.1])],
}
