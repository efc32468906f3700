"""Standard errors of forests, against loops and against fresh training sets."""

import numpy as np
import pytest
import sklearn.ensemble as sk

from weald import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from weald.theory import read_ensemble, stability
from weald.theory.jackknife import _Forms


def curve(X):
    return np.sin(3 * X[:, 0]) + X[:, 1]


def draw(seed, n=80):
    random = np.random.default_rng(seed)
    X = random.random((n, 2))
    return X, curve(X) + random.normal(0, 0.3, n)


def naive(bags, answers, replaced=True):
    """The formulas of Wager, Hastie & Efron, training row by training row, for one new row."""
    B, n = bags.shape
    mean, v = answers.mean(), ((answers - answers.mean()) ** 2).mean()
    ij = jackknife = gaps = known = 0.0
    for i in range(n):
        counts = bags[:, i]
        ij += np.mean((counts - counts.mean()) * (answers - mean)) ** 2
        out = counts == 0
        if out.any():
            jackknife += (answers[out].mean() - mean) ** 2
            gaps += 1 / out.sum() - 1 / B
            known += 1
    s = bags.sum() / B
    factor = 1.0 if replaced else (n - 1) / n * (n / (n - s)) ** 2
    of_rows = s if replaced else s * (1 - s / n)
    scale = (n - 1) / n * n / known
    return factor * (ij - of_rows * v / B), scale * (jackknife - gaps * v)


@pytest.mark.parametrize("seed", range(100))
def test_quadratic_forms_are_the_sums_over_rows(seed, monkeypatch):
    monkeypatch.setattr("weald.theory.jackknife._CELLS", 40)
    random = np.random.default_rng(seed)
    B, n = random.integers(5, 12), random.integers(5, 15)
    replaced = bool(seed % 2)
    if replaced:
        bags = random.multinomial(n, np.full(n, 1 / n), size=B)
    else:
        bags = np.array([random.permutation(n) < n // 2 for _ in range(B)]).astype(int)
    answers = random.normal(size=(B, 3))
    _, ij, jackknife, members, _ = _Forms.of(bags).of_answers(answers)
    for row in range(3):
        expected = naive(bags, answers[:, row], replaced)
        assert (ij[row], jackknife[row]) == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(members, answers.var(axis=0))


def test_the_correction_is_that_of_the_paper():
    """It is n / B^2 sum (t - mean)^2, and e - 1 times as much for the jackknife."""
    random = np.random.default_rng(0)
    B, n = 1000, 50
    forms = _Forms.of(random.multinomial(n, np.full(n, 1 / n), size=B))
    assert forms.correction == pytest.approx(n / B)
    assert forms.jackknife_correction == pytest.approx((np.e - 1) * n / B, rel=0.05)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(60, min_samples_leaf=3),
        BaggingRegressor(n_estimators=40, max_samples=0.5, bootstrap=False),
        sk.RandomForestRegressor(60, min_samples_leaf=3),
        sk.BaggingRegressor(n_estimators=30),
    ],
    ids=lambda model: type(model).__module__.split(".")[0] + type(model).__name__,
)
def test_numbers_of_both_libraries(model):
    X, y = draw(0)
    model.set_params(random_state=0).fit(X, y)
    found = stability(model, X[:5])
    np.testing.assert_allclose(found.prediction, model.predict(X[:5]))
    view = read_ensemble(model)
    bags, answers = np.asarray(view.in_bag(), dtype=float), view.values(X[:5])
    for row in range(5):
        expected = naive(bags, answers[:, row], bool(bags.max() > 1))
        assert (found.variance[row], found.jackknife[row]) == pytest.approx(expected, abs=1e-9)
    assert found.interval.shape == (5, 2)
    assert found.to_frame().shape == (5, 8)


@pytest.mark.parametrize("kind", [RandomForestClassifier, sk.RandomForestClassifier])
def test_class_shares(kind, monkeypatch):
    X, y = draw(0)
    label = np.array(["low", "mid", "high"])[np.digitize(y, [0.8, 1.3])]
    forest = kind(40, random_state=0).fit(X, label)
    found = stability(forest, X)
    assert found.variance.shape == (80, 3)
    np.testing.assert_allclose(found.prediction, forest.predict_proba(X), atol=1e-12)
    assert (found.interval >= 0).all()
    assert (found.interval <= 1).all()
    frame = found.to_frame()
    assert frame["class"][:3].tolist() == ["high", "low", "mid"]
    monkeypatch.setattr("weald.theory.jackknife._CELLS", 40 * 3 * 7)  # a few rows at a time
    np.testing.assert_allclose(stability(forest, X).variance, found.variance, atol=1e-12)


def test_the_variance_is_that_over_fresh_training_sets():
    """The infinitesimal jackknife is a little small, the jackknife a little large ."""
    X_new = np.random.default_rng(99).random((40, 2))
    predictions, ij, jackknife = [], [], []
    for seed in range(60):
        forest = RandomForestRegressor(300, min_samples_leaf=5, random_state=seed).fit(*draw(seed))
        predictions.append(forest.predict(X_new))
        if seed < 20:
            found = stability(forest, X_new)
            ij.append(found.variance)
            jackknife.append(found.jackknife)
    truth = np.var(predictions, axis=0, ddof=1).mean()
    low, high = np.mean(ij), np.mean(jackknife)
    assert 0.6 * truth < low < 1.15 * truth
    assert 0.9 * truth < high < 1.6 * truth
    assert (low + high) / 2 == pytest.approx(truth, rel=0.25)


def test_few_members_are_told():
    X, y = draw(1, 400)
    found = stability(RandomForestRegressor(20, random_state=0).fit(X, y), X)
    assert found.n_negative > 0
    assert (found.standard_error >= 0).all()
    assert "came out as 0 or less" in found.summary()
    assert "mostly noise" in found.summary()
    many = stability(RandomForestRegressor(1500, random_state=0).fit(X, y), X[:50])
    assert "mostly noise" not in many.summary()
    wide = stability(RandomForestRegressor(20, random_state=0).fit(X, y), X, level=0.99)
    assert (np.ptp(wide.interval, axis=1) >= np.ptp(found.interval, axis=1)).all()
    assert found.plot().get_ylabel() == "prediction"


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (ExtraTreesRegressor(5), ValueError, "fitted with bootstrap=True"),
        (GradientBoostingRegressor(n_estimators=5), TypeError, "means of members that count alike"),
        (AdaBoostClassifier(n_estimators=5), TypeError, "use a forest or bagging"),
        (BaggingClassifier(n_estimators=1), ValueError, "has one member"),
    ],
)
def test_models_it_is_not_for(model, error, message):
    X, y = draw(0)
    model.fit(X, y if hasattr(model, "loss") or "Reg" in type(model).__name__ else y > 1)
    with pytest.raises(error, match=message):
        stability(model, X)


def test_bad_input_gets_one_sentence():
    X, y = draw(0)
    forest = RandomForestRegressor(5, random_state=0)
    with pytest.raises(ValueError, match="not fitted"):
        stability(forest, X)
    forest.fit(X, y)
    with pytest.raises(ValueError, match="level must be"):
        stability(forest, X, level=95)
    with pytest.raises(ValueError, match="X has none"):
        stability(forest, X[:0])
    with pytest.raises(ValueError, match="features"):
        stability(forest, X[:, :1])
    with pytest.raises(TypeError, match="not an ensemble"):
        stability(y, X)


def test_a_variance_below_zero_is_not_told_as_no_movement():
    X, y = draw(0)
    few = [stability(RandomForestRegressor(4, random_state=s).fit(X, y), X) for s in range(8)]
    assert any(one.variance.mean() < 0 for one in few)
    for one in few:
        assert ("too little to be seen" in one.summary()) == (one.variance.mean() < 0)
    constant = stability(RandomForestRegressor(4).fit(X, np.ones(len(y))), X)
    assert "by nothing" in constant.summary()
