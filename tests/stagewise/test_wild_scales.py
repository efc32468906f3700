"""The search for a step and for the best constant has no unit: any scale of the targets will do."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from weald import DecisionTreeClassifier, DecisionTreeRegressor, StagewiseRegressor, losses
from weald.losses.search import bottom

LOSSES = [losses.Huber(1.0), losses.Huber(1e-9), losses.Huber(1e20), losses.LogCosh()]
MEMBERS = [DecisionTreeRegressor(max_depth=2), DecisionTreeClassifier(max_depth=1)]


def targets(rng, n):
    kinds = (
        lambda: rng.normal(size=n) * 10.0 ** rng.choice([-300, -100, -12, -3, 0, 3, 12, 50, 95]),
        lambda: np.r_[1e99, rng.normal(size=n - 1)],
        lambda: 10.0 ** rng.uniform(-12, 99, n) * rng.choice([-1, 1], n),
        lambda: 10.0 ** rng.uniform(-300, -100, n),
        lambda: 1e15 + rng.normal(size=n),
        lambda: np.round(rng.normal(size=n) * 3) * 10.0 ** rng.integers(-30, 30),
    )
    return kinds[rng.integers(len(kinds))]()


def weights(rng, n):
    kinds = (
        lambda: None,
        lambda: np.r_[1.0, 10.0 ** rng.uniform(-300, 0, n - 1)],
        lambda: 10.0 ** rng.uniform(-90, 90, n),
        lambda: rng.integers(1, 4, n).astype(float),
        lambda: np.full(n, 1e-90),
        lambda: np.full(n, 1e90),
    )
    return kinds[rng.integers(len(kinds))]()


def slope(loss, y, w, c):
    """Of the summed loss, as a fraction; and the sum of the sizes of its parts."""
    parts = [Fraction(a) * Fraction(b) for a, b in zip(w, loss.gradient(y, c), strict=True)]
    return sum(parts), sum(map(abs, parts))


@pytest.mark.parametrize("seed", range(60))
def test_steps_and_constants_are_right_at_any_scale(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    X = rng.integers(0, 4, (n, 2)).astype(float)
    y, w = targets(rng, n), weights(rng, n)
    for loss in LOSSES:
        for member in MEMBERS:
            model = StagewiseRegressor(member, loss=loss, n_estimators=4)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="No step of")
                model.fit(X, y, w)
            assert np.isfinite(model.predict(X)).all()
            assert (np.diff(model.train_losses_) < 0).all()
        c = model.init_
        last = 4 * np.spacing(abs(c))  # the search goes down to the last digits
        assert y.min() - last <= c <= y.max() + last
        near, each = max(abs(c) * 1e-9, 1e-310), np.ones(n) if w is None else w
        below, size = slope(loss, y, each, np.full(n, c - near))
        assert below <= Fraction(1e-12) * size
        above, size = slope(loss, y, each, np.full(n, c + near))
        assert above >= -Fraction(1e-12) * size


@pytest.mark.parametrize("where", [3e-200, -2e-12, 1.5, 1e90])
@pytest.mark.parametrize("step", [1e-9, 1.0, 1e95])
def test_the_bottom_is_found_to_its_last_digits(where, step):
    def steep(c):
        return float(np.clip((c - where) / abs(where), -1e-3, 1e30))

    found = bottom(steep, 0.0, max(step, abs(where)), 1e105)
    assert found == pytest.approx(where, rel=1e-12, abs=0)
