"""arc-gv: the votes of its formula, and a smallest margin that tends to the best there is."""

import numpy as np
import pytest

from weald import AdaBoostClassifier, DecisionTreeClassifier
from weald.theory import margins


def problem(seed, noise):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4))
    return X, X[:, 0] + X[:, 1] - X[:, 2] / 2 + noise * rng.normal(size=80) > 0


@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_votes_are_those_of_the_formula(noise, rate):
    raised = 0
    for seed in range(5):
        X, y = problem(seed, noise)
        w = np.random.default_rng(seed).uniform(0.5, 2, len(y))
        model = AdaBoostClassifier(n_estimators=60, algorithm="arc-gv", learning_rate=rate)
        model.fit(X, y, sample_weight=w)
        s = np.where(model.member_predictions(X) == np.where(y, 1, -1), 1.0, -1.0)
        F, total = np.zeros(len(y)), 0.0
        for t, alpha in enumerate(model.alphas_):
            D = w * np.exp(-F)
            error = D[s[t] < 0].sum() / D.sum()
            rho = max(0.0, F.min() / total) if total else 0.0
            raised += rho > 0
            assert alpha == pytest.approx(rate * (np.arctanh(1 - 2 * error) - np.arctanh(rho)))
            F += alpha * s[t]
            total += alpha
    assert raised > 0 or noise > 0


def test_the_smallest_margin_tends_to_the_best():
    X, y = problem(0, 0.0)
    found = margins(AdaBoostClassifier(n_estimators=1500, algorithm="arc-gv").fit(X, y), X, y)
    assert 0.95 * found.best_minimum < found.minimum[-1] <= found.best_minimum
    assert found.minimum[1499] > found.minimum[149] > found.minimum[29]


def test_it_is_adaboost_as_long_as_rows_are_wrong():
    X, y = problem(1, 2.0)
    stump = DecisionTreeClassifier(max_depth=1, max_bins=255, criterion="misclassification")
    plain = AdaBoostClassifier(stump, n_estimators=30).fit(X, y)
    assert plain.score(X, y) < 1
    arcing = AdaBoostClassifier(n_estimators=30, algorithm="arc-gv").fit(X, y)
    np.testing.assert_array_equal(arcing.alphas_, plain.alphas_)


def test_a_member_below_the_smallest_margin_ends_it():
    X, y = problem(2, 0.0)
    weak = DecisionTreeClassifier(max_depth=1, max_bins=255)  # by gini: not the largest edge
    model = AdaBoostClassifier(weak, n_estimators=5000, algorithm="arc-gv").fit(X, y)
    assert model.stop_reason_ == "edge"
    found = margins(model, X, y)
    assert (model.edges_ > 0).all()
    assert (model.edges_[1:] > found.minimum[:-1] / 2).all()
