"""Bayes errors against closed forms."""

import numpy as np
import pytest
from scipy.stats import expon, multivariate_normal, norm, uniform

from weald.theory import bayes_error


def test_the_worked_example():
    """1.5 x^2 + x on [0, 1] is below 1 on [3/4, 1] and above, but half of it is in neither."""
    found = bayes_error(lambda x: 1.5 * x**2 + x, lambda x: 1, supports=[(0, 1), (3 / 4, 7 / 4)])
    assert found.overlap == pytest.approx(1 / 4, abs=1e-8)
    assert found.error == pytest.approx(1 / 8, abs=1e-8)
    assert found.precision < 1e-8


@pytest.mark.parametrize("distance", [0, 0.1, 1, 2, 3.7, 9])
@pytest.mark.parametrize("prior", [0.5, 0.1, 0.8])
def test_two_normal_distributions(distance, prior):
    found = bayes_error(norm(0), norm(distance), (prior, 1 - prior))
    if distance == 0:
        assert found.error == pytest.approx(min(prior, 1 - prior), abs=1e-10)
        return
    t = np.log(prior / (1 - prior)) / distance
    expected = prior * norm.cdf(-distance / 2 - t) + (1 - prior) * norm.cdf(-distance / 2 + t)
    assert found.error == pytest.approx(expected, abs=1e-10)
    assert found.overlap == pytest.approx(2 * norm.cdf(-distance / 2), abs=1e-10)
    if abs(t) < 5:  # else it is where nothing of either is left
        assert found.boundaries == pytest.approx([distance / 2 + t], abs=1e-8)


def test_normal_distributions_of_unequal_spread_have_two_boundaries():
    found = bayes_error(norm(0, 1), norm(0, 3))
    cut = np.sqrt(2 * np.log(3) / (1 - 1 / 9))
    assert found.boundaries == pytest.approx([-cut, cut], abs=1e-8)
    assert found.error == pytest.approx(
        (2 * norm.cdf(-cut) + norm.cdf(cut / 3) - norm.cdf(-cut / 3)) / 2, abs=1e-10
    )


@pytest.mark.parametrize("seed", range(60))
def test_uniform_distributions(seed):
    random = np.random.default_rng(seed)
    low, width = random.uniform(0, 2, 2), random.uniform(0.1, 2, 2)
    p = random.uniform(0.1, 0.9)
    common = max(0.0, (low + width).min() - low.max())
    found = bayes_error(*(uniform(a, b) for a, b in zip(low, width, strict=True)), (p, 1 - p))
    assert found.error == pytest.approx(common * min(p / width[0], (1 - p) / width[1]), abs=1e-9)
    assert 0 <= found.error <= min(p, 1 - p) + 1e-12


def test_exponential_distributions():
    found = bayes_error(expon(), expon(scale=2))
    cut = 2 * np.log(2)
    expected = (np.exp(-cut) + 1 - np.exp(-cut / 2)) / 2
    assert found.error == pytest.approx(expected, abs=1e-10)


def test_functions_of_one_number_and_priors_that_do_not_sum_to_one():
    def one(x):
        return 2 * x if x < 0.5 else 2 * x

    found = bayes_error(one, lambda x: 2 - 2 * x, (3, 3), supports=[(0, 1), (0, 1)])
    assert found.error == pytest.approx(1 / 4, abs=1e-10)
    assert found.priors == (0.5, 0.5)


def test_two_dimensions():
    one, two = multivariate_normal([-1, 0]), multivariate_normal([1, 0])
    found = bayes_error(one, two, box=[(-8, 8), (-8, 8)], n_grid=300)
    assert found.error == pytest.approx(norm.cdf(-1), abs=1e-3)
    assert abs(found.error - norm.cdf(-1)) <= found.precision
    assert found.to_frame().shape == (1, 2)
    with pytest.raises(ValueError, match="one dimension can be drawn"):
        found.plot()


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        ((norm(0), norm(1), (0.5, -0.5)), {}, "priors must be two positive numbers"),
        ((norm(0), norm(1), 0.5), {}, "priors must be two positive numbers"),
        ((norm(0), 3.0), {}, "density_2 must be a function or a frozen distribution"),
        ((norm(0), lambda x: 1), {}, "density_2 is a function, so supports must give"),
        ((lambda x: 2, lambda x: 1), {"supports": [(0, 1)] * 2}, "density_1 integrates to 2 "),
        ((lambda x: -1, lambda x: 1), {"supports": [(0, 1)] * 2}, "must be a number >= 0"),
        ((norm(0), norm(1)), {"supports": [(0, 1)] * 3}, "supports must be a pair"),
        ((norm(0), norm(1)), {"box": [(1, 0)]}, "box must be a list"),
        ((norm(0), norm(1)), {"box": [(0, 1)] * 9}, "too large"),
        ((norm(0), 3), {"box": [(0, 1)] * 2}, "must be functions"),
        ((norm(0).pdf, norm(0).pdf), {"box": [(0, 1)] * 2}, "take rows of shape"),
        (
            (multivariate_normal([0, 0]),) * 2,
            {"box": [(0, 1)] * 2},
            "density_1 has a mass of 0.1165 in the box",
        ),
    ],
)
def test_bad_input_gets_one_sentence(args, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        bayes_error(*args, **options)


def test_what_it_says():
    found = bayes_error(norm(0), norm(2))
    assert "The best decision changes at 1." in found.summary()
    assert "does not change the decision" in str(bayes_error(norm(0), norm(0)))
    assert "without error" in str(bayes_error(uniform(0, 1), uniform(2, 1)))
    frame = found.to_frame()
    assert set(frame["decision"]) == {1, 2}
    assert frame["decision"][frame["x"] < 0.99].eq(1).all()
    assert found.plot().get_ylabel() == "prior × density"
