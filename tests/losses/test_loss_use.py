"""Losses by name, their parameters, and what they say to wrong ones."""

import re
from pathlib import Path

import numpy as np
import pytest

import weald
from weald.losses import (
    LOSSES,
    Exponential,
    Focal,
    Gamma,
    Huber,
    LogLoss,
    Poisson,
    Quantile,
    SmoothHinge,
    Softmax,
    SquaredError,
    Tweedie,
    get_loss,
)

OUTSIDE = [
    (SquaredError(), [1.0, np.nan], "squared_error needs finite targets, got nan in row 1."),
    (Huber(), [np.inf], "huber needs finite targets, got inf in row 0."),
    (Poisson(), [0.0, -1.0, -2.0], "poisson needs targets >= 0, got -1.0 in row 1."),
    (Poisson(), [np.inf], "poisson needs targets >= 0, got inf in row 0."),
    (Tweedie(), [-0.5], "tweedie needs targets >= 0, got -0.5 in row 0."),
    (Gamma(), [1.0, 0.0], "gamma needs targets > 0, got 0.0 in row 1."),
    (LogLoss(), [0, 1, 2], "log_loss needs targets 0 or 1, got 2.0 in row 2."),
    (Focal(), [-1], "focal needs targets 0 or 1, got -1.0 in row 0."),
    (Softmax(), [0, 0.5], "softmax needs class codes 0, 1, 2, ... as targets, got 0.5 in row 1."),
    (Softmax(3), [0, 3], "softmax needs class codes 0 to 2 as targets, got 3.0 in row 1."),
    (Softmax(3), [[0]], "softmax needs targets of shape (n,), got shape (1, 1)."),
]


@pytest.mark.parametrize(("loss", "y", "message"), OUTSIDE)
def test_targets_outside_the_domain(loss, y, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        loss.check_target(y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Huber(0), "delta of huber must be a finite number > 0, got 0."),
        (lambda: Huber(np.inf), "delta of huber must be a finite number > 0, got inf."),
        (lambda: Huber(True), "delta of huber must be a finite number > 0, got True."),
        (lambda: Quantile(1), "quantile of quantile must be a number between 0 and 1 (excl"),
        (lambda: Tweedie(2.0), "power of tweedie must be a number between 1 and 2 (exclusive), g"),
        (lambda: Tweedie("1"), "power of tweedie must be a number between 1 and 2 (exclusive), g"),
        (lambda: Focal(-0.1), "gamma of focal must be a finite number >= 0, got -0.1."),
        (lambda: SmoothHinge(np.nan), "smoothness of smooth_hinge must be a finite number > 0, g"),
        (lambda: Softmax(1), "n_classes of softmax must be None or a whole number >= 2, got 1."),
    ],
)
def test_parameters_are_checked(make, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        make()


def test_nothing_to_average():
    with pytest.raises(ValueError, match="positive in at least one row"):
        SquaredError().constant([1.0, 2.0], [0, 0])
    with pytest.raises(ValueError, match="at least one row, got none"):
        SquaredError().mean([], [])
    with pytest.raises(ValueError, match=r"must have shape \(2,\) as y has, got \(3,\)"):
        SquaredError().mean([1.0, 2.0], [0.0, 0.0], [1, 1, 1])


def test_ends_of_links():
    ends = np.array([0.0, 1.0])
    np.testing.assert_array_equal(LogLoss().link.link(ends), [-np.inf, np.inf])
    np.testing.assert_array_equal(Exponential().link.link(ends), [-np.inf, np.inf])
    np.testing.assert_array_equal(SmoothHinge().link.link(ends), [-1, 1])
    assert Poisson().link.link(ends)[0] == -np.inf
    assert np.isfinite(Softmax().link.link(ends)).all()


def test_get_loss():
    assert all(get_loss(name).name == name for name in LOSSES)
    assert get_loss("huber", delta=np.float32(0.5)) == Huber(0.5)
    assert repr(get_loss("huber", delta=np.float64(0.5))) == "Huber(delta=0.5)"
    assert get_loss("log_loss", n_classes=2) == LogLoss()
    assert get_loss("log_loss", n_classes=5) == Softmax(5)
    for wrong in ("hubert", None, Huber, 3):
        with pytest.raises(
            ValueError, match=r"loss must be one of 'squared_error', .*'softmax', or"
        ):
            get_loss(wrong)
    with pytest.raises(ValueError, match=r"huber has no parameter 'alpha' \(its parameters: delta"):
        get_loss("huber", alpha=1)
    with pytest.raises(ValueError, match="delta can be given with the name of a loss only"):
        get_loss(Huber(), delta=2)


def test_reachable_from_weald():
    assert weald.losses.get_loss is get_loss


def test_the_page_of_formulas_lists_the_losses():
    text = (Path(__file__).resolve().parents[2] / "docs" / "losses.md").read_text()
    table = text.split("\n## Formulas\n")[1]
    assert re.findall(r"^\| `(\w+)", table, re.MULTILINE) == list(LOSSES)
