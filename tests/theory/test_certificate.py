"""Every inequality of the certificate holds, and its numbers are those of a plain loop."""

import numpy as np
import pytest
import sklearn.ensemble as sk

import weald
from weald.theory import certificate


def problem(seed, n_classes=2, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    raw = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) * rng.choice([0.0, 0.5, 2.0])
    y = np.searchsorted(np.quantile(raw, np.arange(1, n_classes) / n_classes), raw)
    return X, np.array(["a", "b", "c", "d"])[y]


def naive(alphas, right, w):
    """Weights, edges and normalizers round by round; `right` is 1 or -1 (T, n)."""
    D, edges, Z = w / w.sum(), [], []
    for alpha, s in zip(alphas, right, strict=True):
        edges.append(sum(D[s > 0]) - 0.5)
        new = D * np.exp(-alpha * s)
        Z.append(new.sum())
        D = new / new.sum()
    return np.array(edges), np.array(Z)


def check_chain(found):
    slack = 1 + 1e-9
    assert (found.error <= found.product * slack).all()
    np.testing.assert_allclose(found.product, found.exponential_loss, rtol=1e-9)
    assert (found.product <= found.edge_bound * slack).all()
    assert (found.edge_bound <= found.exponential_bound * slack).all()
    if found.n_classes == 2:
        assert (found.randomised_error <= found.randomised_bound * slack).all()


def tree(depth):
    return weald.DecisionTreeClassifier(max_depth=depth)


MODELS = {
    "weald": lambda seed: weald.AdaBoostClassifier(n_estimators=12),
    "deep": lambda seed: weald.AdaBoostClassifier(tree(1 + seed % 6), n_estimators=12),
    "rate": lambda seed: weald.AdaBoostClassifier(
        n_estimators=12, learning_rate=[0.1, 0.5, 1.7, 2.5][seed % 4]
    ),
    "drawn": lambda seed: weald.AdaBoostClassifier(
        tree(2), n_estimators=12, resample=True, random_state=seed
    ),
    "confidence": lambda seed: weald.AdaBoostClassifier(
        n_estimators=12, algorithm="confidence", learning_rate=[1.0, 0.5][seed % 2]
    ),
    "real": lambda seed: weald.AdaBoostClassifier(n_estimators=12, algorithm="real"),
    "gentle": lambda seed: weald.AdaBoostClassifier(n_estimators=12, algorithm="gentle"),
    "logit": lambda seed: weald.AdaBoostClassifier(n_estimators=12, algorithm="logit"),
    "sklearn": lambda seed: sk.AdaBoostClassifier(
        n_estimators=12, learning_rate=[1.0, 0.4, 2.0][seed % 3], random_state=seed
    ),
    "stagewise": lambda seed: weald.StagewiseClassifier(loss="exponential", n_estimators=12),
    "boosting": lambda seed: weald.GradientBoostingClassifier(n_estimators=5),
}


@pytest.mark.filterwarnings("ignore:No member of")
@pytest.mark.parametrize("kind", MODELS)
def test_the_chain_holds_on_every_fitted_model(kind):
    for seed in range(20):
        X, y = problem(seed)
        weights = (
            np.random.default_rng(seed).integers(kind == "sklearn", 4, len(y))
            if seed % 3 == 0
            else None
        )
        try:
            model = MODELS[kind](seed).fit(X, y, sample_weight=weights)
        except ValueError:  # scikit-learn found no member better than chance
            continue
        found = certificate(model, X, y, weights)
        check_chain(found)
        if (kind, seed % 4) != ("rate", 3):  # there weights grow beyond their precision
            assert found.training_rows in (True, None)
        wrong = np.average(model.predict(X) != y, weights=weights)
        assert found.error[-1] == pytest.approx(wrong)
        check_chain(certificate(model, *problem(seed + 1000)))  # on any other rows too


@pytest.mark.filterwarnings("ignore:No member of")
@pytest.mark.parametrize("home", [weald, sk])
@pytest.mark.parametrize("n_classes", [3, 4])
def test_the_chain_holds_for_votes_of_several_classes(home, n_classes):
    for seed in range(15):
        X, y = problem(seed, n_classes)
        model = home.AdaBoostClassifier(n_estimators=10, random_state=seed).fit(X, y)
        found = certificate(model, X, y)
        check_chain(found)
        assert found.training_rows
        assert np.isnan(found.randomised_error).all()
        assert found.error[-1] == pytest.approx(np.mean(model.predict(X) != y))


@pytest.mark.parametrize("home", [weald, sk])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_numbers_are_those_of_a_plain_loop(home, n_classes):
    X, y = problem(1, n_classes)
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = home.AdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y, sample_weight=w)
    right = np.array([np.where(m.predict(X) == y, 1, -1) for m in model.estimators_])
    alphas = model.estimator_weights_[: len(right)] / 2
    edges, Z = naive(alphas, right, w)
    found = certificate(model, X, y, w)
    np.testing.assert_allclose(found.edges, edges, atol=1e-12)
    np.testing.assert_allclose(found.normalizers, Z)
    np.testing.assert_allclose(found.alphas, alphas)
    share = w / w.sum()
    loss = [share @ np.exp(-(alphas[:t] @ right[:t])) for t in range(1, len(right) + 1)]
    np.testing.assert_allclose(found.exponential_loss, loss)
    if n_classes == 2:
        assert found.full_steps
        np.testing.assert_allclose(found.edge_bound, np.sqrt(1 - 4 * edges**2).cumprod())
        np.testing.assert_allclose(found.exponential_bound, np.exp(-2 * np.cumsum(edges**2)))
        m = alphas @ right
        assert found.randomised_error[-1] == pytest.approx(
            share @ (np.exp(-m) / (np.exp(m) + np.exp(-m)))
        )


def test_a_learning_rate_needs_another_bound():
    X, y = problem(4)
    model = weald.AdaBoostClassifier(n_estimators=20, learning_rate=0.2).fit(X, y)
    found = certificate(model, X, y)
    textbook = np.sqrt(1 - 4 * found.edges**2).cumprod()
    assert found.product[-1] > textbook[-1]  # which does not hold here
    assert not found.full_steps
    exponent = 0.2 * 1.8 * 2 * np.cumsum(found.edges**2)
    np.testing.assert_allclose(found.exponential_bound, np.exp(-exponent), rtol=1e-6)
    assert "learning rate 1" in str(found)


def test_a_member_without_error():
    X = np.arange(8.0)[:, None]
    model = weald.AdaBoostClassifier(n_estimators=5).fit(X, X[:, 0] > 3)
    found = certificate(model, X, X[:, 0] > 3)
    check_chain(found)
    assert found.edges[0] == 0.5
    assert found.error[-1] == 0
    assert found.training_rows


def test_other_rows_are_no_certificate():
    X, y = problem(2)
    model = weald.AdaBoostClassifier(n_estimators=10).fit(X, y)
    found = certificate(model, *problem(3))
    assert found.training_rows is False
    assert "not a certificate" in found.summary()
    assert certificate(model, X, y, np.arange(1, len(y) + 1)).training_rows is False  # weights
    assert "not a certificate" not in certificate(model, X, y).summary()


def test_a_bound_above_one_is_said_to_say_nothing():
    X, y = problem(5, 4)
    model = sk.AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    found = certificate(model, X, y)
    assert found.product[-1] > 1
    assert "That says nothing" in found.summary()
    assert "4 classes" in found.summary()


def test_models_that_have_no_certificate():
    X, y = problem(0)
    with pytest.raises(TypeError, match=r"do not build on each other: use margins"):
        certificate(weald.RandomForestClassifier(3).fit(X, y), X, y)
    with pytest.raises(TypeError, match=r"certificate is for classifiers.*use correlation"):
        certificate(weald.AdaBoostRegressor(n_estimators=3).fit(X, X[:, 0]), X, X[:, 0])
    X, y = problem(0, 3)
    model = weald.AdaBoostClassifier(n_estimators=3, algorithm="real").fit(X, y)
    with pytest.raises(ValueError, match=r"no bound for sums of 3 classes.*use margins"):
        certificate(model, X, y)
    one = weald.AdaBoostClassifier().fit(X, ["a"] * len(X))
    with pytest.raises(ValueError, match=r"no members|one class"):
        certificate(one, X, ["a"] * len(X))


def test_lightgbm_by_hand():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = problem(6, n=200)
    model = lightgbm.LGBMClassifier(n_estimators=8, min_child_samples=5, verbose=-1, n_jobs=1)
    found = certificate(model.fit(X, y), X, y)
    check_chain(found)
    F = model.predict(X, raw_score=True)
    signs = np.where(y == "b", 1, -1)
    assert found.exponential_loss[-1] == pytest.approx(np.exp(-signs * F).mean())
    assert found.error[-1] == pytest.approx(np.mean((F > 0) != (signs > 0)))
    assert found.training_rows is None
