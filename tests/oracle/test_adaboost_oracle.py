"""AdaBoost against its naive twins: the same stumps, errors, votes and weights, round by round."""

import numpy as np
import pytest

from oracle.naive_adaboost import naive_adaboost
from weald import AdaBoostClassifier, DecisionTreeClassifier, DecisionTreeRegressor

CASES = range(120)


def case(seed):
    """A small table with ties in it, noisy labels, and weights of some kind."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 5))
    X = rng.integers(0, rng.integers(2, 30), size=(n, d)).astype(float)
    if rng.random() < 0.3:
        X += rng.normal(size=X.shape)
    y = np.where(X[:, 0] + rng.normal(size=n) * X[:, 0].std() > X[:, 0].mean(), 1, -1)
    y[:2] = -1, 1
    kinds = [None, rng.integers(1, 4, n).astype(float), rng.integers(0, 3, n) + (y > 0) * 0.5]
    weights = kinds[rng.integers(3)]
    if weights is not None and not (weights[y < 0].any() and weights[y > 0].any()):
        weights = None
    return X, y, weights


def stump_of(tree):
    """Column, threshold, and the classes said on both sides."""
    tree = tree.tree_
    said = np.where(tree.value[:, 0, 1] > tree.value[:, 0, 0], 1, -1)
    if tree.node_count == 1:
        return -1, np.inf, said[0], said[0]
    return tree.feature[0], tree.threshold[0], said[1], said[2]


def worth(X, y, w, column, threshold):
    """What the twin maximises."""
    left = X[:, column] <= threshold if column >= 0 else np.ones(len(y), dtype=bool)
    sides = [(w[rows & (y > 0)].sum(), w[rows & (y < 0)].sum()) for rows in (left, ~left)]
    return sum((p * p + n * n) / (p + n) for p, n in sides if p + n > 0)


@pytest.mark.filterwarnings("ignore:No member of")
@pytest.mark.parametrize("max_bins", [None, 255])
@pytest.mark.parametrize("seed", CASES)
def test_the_same_stumps_errors_and_votes(seed, max_bins):
    X, y, weights = case(seed)
    twin = naive_adaboost(X, y, 12, weights)
    member = DecisionTreeClassifier(max_depth=1, max_bins=max_bins)
    model = AdaBoostClassifier(member, n_estimators=12, keep_weights=True).fit(X, y, weights)
    if not twin.alphas:  # one member stays, without a vote
        assert model.alphas_.tolist() == [0.0]
        return
    same = 0
    for stump, tree in zip(twin.stumps, model.estimators_, strict=False):
        column, threshold, left, right = stump_of(tree)
        expected = (stump.column, stump.threshold, stump.left, stump.right)
        if (column, threshold, left, right) != pytest.approx(expected, abs=1e-12):
            break
        same += 1
    np.testing.assert_allclose(model.errors_[:same], twin.errors[:same], atol=1e-12)
    np.testing.assert_allclose(model.alphas_[:same], twin.alphas[:same], rtol=1e-9)
    np.testing.assert_allclose(model.normalizers_[:same], twin.normalizers[:same], rtol=1e-9)
    np.testing.assert_allclose(model.weights_[: same + 1], twin.weights[: same + 1], atol=1e-12)
    if same < len(twin.alphas):  # from here on they go different ways: there must be a tie
        w = twin.weights[same]
        chosen = worth(X, y, w, column, threshold)
        assert chosen == pytest.approx(worth(X, y, w, stump.column, stump.threshold), abs=1e-12)
        assert model.errors_[same] == pytest.approx(twin.errors[same], abs=1e-12)
        return
    assert model.stop_reason_ == twin.reason
    np.testing.assert_allclose(model.decision_function(X), twin.score(X), rtol=1e-9, atol=1e-9)


def test_ties_go_to_the_first_column_and_the_lowest_threshold():
    x = np.array([0, 1, 2, 3, 4, 5, 6, 7.0])
    y = np.array([1, 0, 0, 0, 0, 0, 0, 1])  # 0.5 and 6.5 are equally good
    model = AdaBoostClassifier(n_estimators=1).fit(np.c_[x * 0, x, x], y)
    assert stump_of(model[0]) == (1, 0.5, 1, -1)


# --- the other algorithms: a loop of NumPy around a tree that is known to be right ---------------


def loop(algorithm, X, y, w, rounds, depth):
    """Errors, votes, sums Z, and the scores (n, K) of codes y, by the formulas of the papers."""
    k = y.max() + 1
    w, n = w / w.sum(), len(y)
    F, errors, alphas, sums = np.zeros((n, k)), [], [], []
    sign = 2 * y - 1
    for _ in range(rounds):
        if algorithm == "logit":  # Friedman, Hastie & Tibshirani (2000), algorithm 3
            p = 1 / (1 + np.exp(-2 * F[:, 1]))
            z = np.clip((y - p) / (p * (1 - p)), -4, 4)
            tree = DecisionTreeRegressor(max_depth=depth)
            h = tree.fit(X, z, sample_weight=WEIGHTS * p * (1 - p)).predict(X)
            alpha, step, error = 0.5, np.c_[-h, h], w[(h > 0) != (y == 1)].sum()
            change = np.exp(-alpha * sign * h)
        else:
            tree = DecisionTreeClassifier(max_depth=depth).fit(X, y, sample_weight=w)
            p = tree.predict_proba(X)
            wrong = p.argmax(axis=1) != y
            error = w[wrong].sum()
        if algorithm == "samme":  # Zhu, Zou, Rosset & Hastie (2009), algorithm 2
            alpha = (np.log((1 - error) / error) + np.log(k - 1)) / 2
            step = np.where(np.arange(k) == p.argmax(axis=1)[:, None], 1, -1 / (k - 1))
            change = np.exp(np.where(wrong, alpha, -alpha))
        elif algorithm == "real":  # the same, algorithm 4; y codes as 1 and -1/(K-1)
            logs = np.log(np.clip(p, 0.01 / k, 1 - 0.01 / k))
            alpha, step = 1.0, (k - 1) * (logs - logs.mean(axis=1, keepdims=True))
            coded = np.where(np.arange(k) == y[:, None], 1, -1 / (k - 1))
            change = np.exp(-(k - 1) / k * (coded * logs).sum(axis=1))
        elif algorithm in ("confidence", "gentle"):  # Schapire & Singer (1999), section 3
            h = 2 * p[:, 1] - 1
            r = (w * sign * h).sum()
            error, step = (1 - r) / 2, np.c_[-h, h]
            alpha = 1.0 if algorithm == "gentle" else np.log((1 + r) / (1 - r)) / 2
            change = np.exp(-alpha * sign * h)
        F = F + alpha * step
        w = w * change
        errors.append(error)
        alphas.append(alpha)
        sums.append(w.sum())
        w = w / w.sum()
    return np.array(errors), np.array(alphas), np.array(sums), F, w


N = 150
WEIGHTS = np.random.default_rng(5).uniform(0.2, 3, N)
TWO = ("samme", "confidence", "real", "gentle", "logit")


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize(
    ("algorithm", "k"),
    [*((a, 2) for a in TWO), ("samme", 3), ("samme", 5), ("real", 3), ("real", 6)],
)
def test_the_formulas_of_the_papers(algorithm, k, depth):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(N, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=N)).argsort().argsort() * k // N
    kind = DecisionTreeRegressor if algorithm == "logit" else DecisionTreeClassifier
    model = AdaBoostClassifier(
        kind(max_depth=depth), n_estimators=8, algorithm=algorithm, keep_weights=True
    ).fit(X, y, WEIGHTS)
    errors, alphas, sums, F, w = loop(algorithm, X, y, WEIGHTS, 8, depth)
    np.testing.assert_allclose(model.errors_, errors, atol=1e-9)
    np.testing.assert_allclose(model.edges_, 1 - 1 / k - errors, atol=1e-9)
    np.testing.assert_allclose(model.alphas_, alphas, rtol=1e-9)
    np.testing.assert_allclose(model.normalizers_, sums, rtol=1e-9)
    np.testing.assert_allclose(model.weights_[-1], w, rtol=1e-7)
    found = model.decision_function(X)
    np.testing.assert_allclose(found, F if k > 2 else F[:, 1], rtol=1e-8, atol=1e-8)
