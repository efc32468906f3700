"""Parameters that make no sense are refused by name."""

import numpy as np
import pytest

from input.bad_cases import (
    ALL,
    CLASSIFIERS,
    REGRESSORS,
    X,
    Y,
    assert_healthy,
    frame,
    refuses,
    try_to_fit,
)
from weald import DecisionTreeClassifier, DecisionTreeRegressor

BAD_PARAMETERS = {
    "criterion": ["nonsense", 3, None],
    "splitter": ["nonsense", 1, None],
    "max_depth": [0, -1, 2.5, "3"],
    "min_samples_split": [1, 0, -2, 0.0, 1.5, "2", None],
    "min_samples_leaf": [0, -1, 0.0, 1.0, 1.5, "1", None],
    "min_weight_fraction_leaf": [-0.1, 0.6, "0", None, np.nan],
    "max_features": [0, -1, 0.0, 1.5, "nonsense"],
    "random_state": ["seed", -1, 1.5],
    "max_leaf_nodes": [1, 0, -1, 2.5, "3"],
    "min_impurity_decrease": [-0.1, "0", None, np.nan],
    "ccp_alpha": [-0.1, "nonsense", None, np.nan],
    "monotonic_cst": [[1], [1, 2], [0.5, 0], 3, "up"],
    "categorical_features": [[2], [-3], ["weight"], [True], [0.5], "nonsense", 1.5],
    "max_bins": [1, 0, -1, 256, 2.5, "8"],
    "n_jobs": [0, 1.5, "2"],
}
BAD_CLASSIFIER_PARAMETERS = {
    "criterion": ["squared_error"],
    "class_weight": ["nonsense", 3, [1, 2], {0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0}],
    "cost_matrix": [[[0, 1]], [[0, 1, 2]] * 3, [[0, np.nan], [1, 0]], 3, "cheap", [0, 1]],
}
BAD_REGRESSOR_PARAMETERS = {"criterion": ["gini", "friedman"]}


def bad_parameters(table):
    return [
        pytest.param(name, value, id=f"{name}={value}")
        for name, values in table.items()
        for value in values
    ]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("name", "value"), bad_parameters(BAD_PARAMETERS))
def test_bad_parameters(kind, name, value):
    with refuses(name):
        kind(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(("name", "value"), bad_parameters(BAD_CLASSIFIER_PARAMETERS))
def test_bad_classifier_parameters(kind, name, value):
    with refuses(name):
        kind(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize(("name", "value"), bad_parameters(BAD_REGRESSOR_PARAMETERS))
def test_bad_regressor_parameters(kind, name, value):
    with refuses(name):
        kind(**{name: value}).fit(X, Y)


def test_category_names_need_a_frame_with_that_column():
    with refuses("weight"):
        DecisionTreeClassifier(categorical_features=["weight"]).fit(frame(), Y)
    est = DecisionTreeClassifier(categorical_features=["age"]).fit(frame(), Y)
    assert est.categories_[0] is None
    assert est.categories_[1].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", ALL)
def test_a_failed_fit_is_followed_by_a_good_one(kind):
    est = kind(max_depth=-1)
    with refuses("max_depth"):
        est.fit(X, Y)
    assert_healthy(est.set_params(max_depth=None).fit(X, Y), X)


def test_prune_checks_its_input():
    est = DecisionTreeClassifier().fit(X, Y)
    with refuses(r"(?i)fit"):
        DecisionTreeClassifier().prune(X, Y)
    with refuses(r"3 features|3 columns|2 columns"):
        est.prune(np.zeros((4, 3)), [0, 1, 0, 1])
    with refuses(r"(?i)y|label|samples|rows"):
        est.prune(X, Y[:-1])
    with refuses(r"(?i)sample.?weight"):
        est.prune(X, Y, sample_weight=-np.ones(6))


def test_alpha_by_cross_validation_on_few_rows():
    for rule in ("cv", "cv_1se"):
        for n in (1, 2, 3, 6):
            for kind in (DecisionTreeRegressor, DecisionTreeClassifier):
                try_to_fit(kind(ccp_alpha=rule), X[:n], Y[:n], sentence="ccp_alpha")
