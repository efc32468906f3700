"""Losses that users write: what they get for free, and how their mistakes are found."""

import numpy as np
import pytest

from weald.losses import (
    AbsoluteError,
    Exponential,
    Huber,
    OwnLoss,
    Quantile,
    SmoothHinge,
    Softmax,
    check_derivatives,
    get_loss,
)


class Plain:
    """A loss of one's own that knows nothing of weald; `scale` spoils its gradient."""

    def __init__(self, scale=1.0, shift=0.0):
        self.scale, self.shift = scale, shift

    def value(self, y, F):
        return np.abs(F - y) ** 1.5

    def gradient(self, y, F):
        r = F - y
        return self.scale * 1.5 * np.sign(r) * np.abs(r) ** 0.5 + self.shift * (y == 3)


def test_a_plain_object_is_a_loss():
    plain = Plain()
    loss = get_loss(plain)
    assert isinstance(loss, OwnLoss)
    assert (loss.name, loss.kind, loss.has_hessian) == ("Plain", "regression", False)
    assert not loss.convex
    y = np.array([0.0, 1.0, 5.0])
    check_derivatives(plain, y, y[::-1] + 0.2)
    c = loss.constant(y, [1, 2, 1])
    assert loss.gradient(y, np.full(3, c)) @ [1, 2, 1] == pytest.approx(0, abs=1e-9)
    assert loss.mean(y, y + 4) == 8
    with pytest.raises(ValueError, match="Plain needs finite targets"):
        loss.check_target([np.nan])
    with pytest.raises(NotImplementedError, match="Plain has no second derivative"):
        loss.hessian(y, y)
    plain.gradient = lambda y, F: np.zeros((3, 1))
    with pytest.raises(ValueError, match=r"gradient of Plain must have shape \(3,\), got \(3, 1\)"):
        loss.gradient(y, y)
    plain.kind = "ranking"
    with pytest.raises(ValueError, match="kind of a loss must be one of 'regression', 'binary'"):
        get_loss(plain)


def test_what_a_plain_object_has_is_used():
    class Rich(Plain):
        name, kind, convex, link = "rich", "binary", True, Exponential().link

        def hessian(self, y, F):
            return 0.75 * np.abs(F - y) ** -0.5

        def constant(self, y, sample_weight=None):
            return 0.25

        def check_target(self, y):
            raise ValueError("no target will do")

    loss = get_loss(Rich())
    assert (loss.name, loss.kind, loss.convex, loss.has_hessian) == ("rich", "binary", True, True)
    assert loss.link == Exponential().link
    assert loss.hessian(np.zeros(1), np.ones(1)) == 0.75
    assert loss.constant(np.zeros(1)) == 0.25
    with pytest.raises(ValueError, match="no target will do"):
        loss.check_target([0.0])


def test_a_plain_loss_of_classes():
    class Entropy:
        kind, n_classes = "multiclass", 4

        def value(self, y, F):
            return Softmax().value(y, F)

        def gradient(self, y, F):
            return Softmax().gradient(y, F)

    loss, y = get_loss(Entropy()), np.array([0.0, 1.0, 1.0, 2.0])
    check_derivatives(loss, y, np.arange(16.0).reshape(4, 4))
    shares = loss.link.inverse(loss.constant(y))
    np.testing.assert_allclose(shares, [0.25, 0.5, 0.25, 0], atol=1e-6)
    with pytest.raises(ValueError, match="Entropy needs class codes 0 to 3 as targets, got 4"):
        loss.check_target([4])


def test_wrong_derivatives_are_caught():
    y, F = np.arange(5.0), np.array([1.0, 4.0, 0.0, -1.0, 9.0])
    message = (
        r"^gradient of Plain is 3 in row 0 \(y=0, F=1\), but differences of its value give 1\.5\.$"
    )
    with pytest.raises(ValueError, match=message):
        check_derivatives(Plain(scale=2.0), y, F)
    with pytest.raises(ValueError, match=r"in row 3 \(y=3, F=-1\)"):
        check_derivatives(Plain(shift=1e-3), y, F)

    class Hessian(Plain):
        def hessian(self, y, F):
            return np.ones_like(F)

    with pytest.raises(
        ValueError, match=r"hessian of Hessian is 1 in row 0 .* gradient give 0\.75"
    ):
        check_derivatives(Hessian(), y, F)

    class Classes(Softmax):
        def gradient(self, y, F):
            return Softmax.gradient(self, y, F) * [1, 1, 3]

    with pytest.raises(ValueError, match=r"gradient of softmax is .* in row 0, column 2 \(y=0"):
        check_derivatives(Classes(), np.zeros(2), np.zeros((2, 3)))

    class Broken(Plain):
        def value(self, y, F):
            return np.full(len(y), np.nan)

    with pytest.raises(ValueError, match="value of Broken must be finite, got nan in row 0"):
        check_derivatives(Broken(), y, F)


@pytest.mark.parametrize("loss", [AbsoluteError(), Quantile(0.9), Huber(), SmoothHinge()], ids=repr)
def test_corners_are_not_mistakes(loss):
    y = np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    check_derivatives(loss, y, y)
    check_derivatives(loss, y, np.array([1e-7, 1.0 + 1e-7, 1.0, 2.0, -1e-9]))
