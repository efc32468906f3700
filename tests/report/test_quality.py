"""Figures of quality, against hand computations."""

import numpy as np
import pytest

from weald.report.honest import Honest
from weald.report.quality import area_std_error, quality_of, wilson


def of_classes(y, shares, classes=("no", "yes")):
    shares = np.asarray(shares, dtype=float)
    found = Honest("cross-validation", "", np.asarray(y), shares, shares.argmax(axis=1))
    return quality_of(found, classes)


def of_numbers(y, said):
    said = np.asarray(said, dtype=float)
    return quality_of(Honest("cross-validation", "", np.asarray(y, dtype=float), said, said), None)


P = np.array([0.1, 0.4, 0.35, 0.8])  # the example of every textbook on ROC: area 3/4
Y = np.array([0, 0, 1, 1])


def test_two_classes_by_hand():
    quality = of_classes(Y, np.c_[1 - P, P])
    area, accuracy, logs = quality.figures
    assert (area.name, area.value) == ("Area under ROC", 0.75)
    assert accuracy.value == 0.75
    assert accuracy.std_error == pytest.approx(0.25)  # sqrt(3/4 1/4 4/3 / 4)
    each = -np.log([0.9, 0.6, 0.35, 0.8])
    assert logs.value == pytest.approx(each.mean())
    assert logs.std_error == pytest.approx(each.std(ddof=1) / 2)
    assert (accuracy.plain, logs.plain) == (0.5, pytest.approx(np.log(2)))
    assert quality.confusion.tolist() == [[2, 0], [1, 1]]
    [curve] = quality.curves
    assert curve.name == "yes"
    assert curve.false_positive.tolist()[0] == 0
    assert curve.true_positive.tolist()[-1] == 1


def test_three_classes_have_a_curve_each_and_no_single_area():
    shares = np.eye(3)[[0, 1, 2, 2]] * 0.8 + 0.2 / 3
    quality = of_classes([0, 1, 2, 0], shares, ("a", "b", "c"))
    assert [one.name for one in quality.figures] == ["Accuracy", "Log loss"]
    assert [one.name for one in quality.curves] == ["a", "b", "c"]
    assert quality.confusion.tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 1]]
    assert quality.calibration.what == "the most likely class"


def test_many_classes_share_the_last_place_of_the_matrix():
    y = np.repeat(np.arange(20), np.arange(1, 21))
    quality = of_classes(y, np.eye(20)[y], tuple(map(str, range(20))))
    assert quality.names[-1] == "9 others"
    assert quality.names[0] == "9"
    assert quality.confusion.sum() == len(y)
    assert np.count_nonzero(quality.confusion) == 12


def test_calibration_by_hand():
    p = np.repeat([0.2, 0.7], 10)
    hit = np.r_[np.repeat([1, 0], [3, 7]), np.repeat([1, 0], [5, 5])]
    found = of_classes(hit, np.c_[1 - p, p]).calibration
    np.testing.assert_allclose(found.predicted, [0.2, 0.7])
    np.testing.assert_allclose(found.observed, [0.3, 0.5])
    assert found.count.tolist() == [10, 10]
    assert found.gap == pytest.approx(0.15)


def test_known_intervals_and_errors():
    low, high = wilson(np.array([0.5]), np.array([10]))
    assert (low[0], high[0]) == (pytest.approx(0.2366, abs=1e-4), pytest.approx(0.7634, abs=1e-4))
    low, high = wilson(np.array([0.0]), np.array([10]))
    assert low[0] == pytest.approx(0, abs=1e-12)


def test_error_of_the_area_is_that_of_repeated_samples():
    draw = np.random.default_rng(0)
    n, m = 40, 60  # exponential scores, for which the formula of Hanley & McNeil is exact
    yes, no = draw.exponential(4.0, (4000, n)), draw.exponential(1.0, (4000, m))
    areas = (yes[:, :, None] > no[:, None, :]).mean(axis=(1, 2))
    assert areas.mean() == pytest.approx(0.8, abs=0.005)
    assert area_std_error(0.8, n, m) == pytest.approx(areas.std(), rel=0.05)


def test_numbers_by_hand():
    quality = of_numbers([1, 2, 3, 6], [1, 2, 4, 4])
    r2, mean, root = quality.figures
    assert r2.value == pytest.approx(1 - 5 / 14)
    assert mean.value == 0.75
    assert root.value == pytest.approx(np.sqrt(5 / 4))
    assert root.plain == pytest.approx(np.sqrt(14 / 4))
    assert mean.plain == 1.5  # around the median 2.5
    assert quality.count.sum() == 4


def test_standard_errors_are_those_of_repeated_samples():
    draw = np.random.default_rng(0)
    found, told = [], []
    for _ in range(300):
        y = draw.normal(size=400)
        quality = of_numbers(y, 0.7 * y + 0.3 * draw.normal(size=400))
        found.append([one.value for one in quality.figures])
        told.append([one.std_error for one in quality.figures])
    np.testing.assert_allclose(np.mean(told, axis=0), np.std(found, axis=0), rtol=0.15)


def test_a_constant_target_and_perfect_predictions():
    assert [one.name for one in of_numbers([2, 2, 2], [2, 2, 2]).figures] == [
        "Mean absolute error",
        "Root mean squared error",
    ]
    quality = of_classes([0, 0, 0], [[1.0, 0.0]] * 3)
    assert quality.figures[0].value == 1.0
    assert quality.curves == ()
