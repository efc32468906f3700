"""Data and helpers that several of these tests use."""

from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as PeerTree

from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

WINE = load_wine(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)

DRAWS = {
    "bagging": {},
    "small bags": {"max_samples": 0.4},
    "pasting": {"bootstrap": False, "max_samples": 0.6},
    "subspaces": {"bootstrap": False, "max_features": 0.5},
    "patches": {"bootstrap": False, "max_samples": 0.5, "max_features": 0.5},
    "repeated columns": {"max_features": 0.7, "bootstrap_features": True},
}
MEMBERS = [
    (BaggingClassifier, None),
    (BaggingClassifier, ExtraTreeClassifier(max_depth=4)),
    (BaggingClassifier, PeerTree(max_features=2)),
    (BaggingClassifier, KNeighborsClassifier(3)),
    (BaggingRegressor, DecisionTreeRegressor(min_samples_leaf=3)),
    (BaggingRegressor, ExtraTreeRegressor()),
    (BaggingRegressor, Ridge()),
]
BOTH = [
    (BaggingClassifier, None),
    (BaggingClassifier, GaussianNB()),
    (BaggingRegressor, None),
    (BaggingRegressor, Ridge()),
]


def data_of(kind):
    return WINE if kind is BaggingClassifier else DIABETES


def say(bag, X):
    return bag.predict_proba(X) if hasattr(bag, "predict_proba") else bag.predict(X)
