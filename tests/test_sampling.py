"""Draws and the out-of-bag watch by themselves, as ensembles of any members use them."""

import pickle

import numpy as np
import pytest
from sklearn.metrics import r2_score

from weald.members.out_of_bag import OutOfBag
from weald.members.weighted_out_of_bag import WeightedOutOfBag
from weald.params.stopping import Stopping
from weald.sampling import resolve_draw


def draw(n=20, **settings):
    return resolve_draw(n, **{"bootstrap": True, "max_samples": None, **settings})


def test_draws_are_made_anew_from_the_seed():
    sampling = draw(max_samples=12, weights=np.arange(20.0))
    again = pickle.loads(pickle.dumps(sampling))
    for member in (0, 7):
        np.testing.assert_array_equal(sampling.rows(3, member), again.rows(3, member))
    assert (sampling.rows(3, 0) != sampling.rows(3, 1)).any()
    assert (sampling.rows(3, 0) != sampling.rows(4, 0)).any()
    np.testing.assert_array_equal(sampling.in_bag(3, 2)[1], sampling.rows(3, 1))
    assert len(sampling.row_numbers(3, 1)) == 12


@pytest.mark.parametrize(("max_samples", "size"), [(7, 7), (0.35, 7), (None, 20), (1.0, 20)])
def test_without_replacement(max_samples, size):
    sampling = draw(bootstrap=False, pasting=True, max_samples=max_samples)
    counts = sampling.rows(0, 0)
    assert counts.max() == 1
    assert counts.sum() == size
    assert sampling.draws_rows == (size < 20)


def test_without_replacement_by_weight():
    weights = np.r_[np.zeros(5), np.ones(10), np.full(5, 9.0)]
    sampling = draw(bootstrap=False, pasting=True, max_samples=5, weights=weights)
    counts = sampling.in_bag(0, 200).sum(axis=0)
    assert counts[:5].sum() == 0
    assert counts[15:].min() > 2 * counts[5:15].max()
    assert sampling.member_weights(weights) is None
    everything = draw(bootstrap=False, pasting=True, weights=weights)
    assert everything.member_weights(weights) is weights  # nothing is drawn, so they count
    assert everything.drawn_rows == 15
    with pytest.raises(ValueError, match="asks for 16 rows but there are 15"):
        draw(bootstrap=False, pasting=True, max_samples=16, weights=weights)


@pytest.mark.parametrize(
    ("max_features", "replace", "columns"), [(3, False, 3), (0.5, False, 5), (1.0, True, 10)]
)
def test_columns(max_features, replace, columns):
    sampling = draw(n_columns=10, max_features=max_features, bootstrap_features=replace)
    drawn = [sampling.columns_of(0, member) for member in range(20)]
    assert all(len(used) == columns and (np.diff(used) >= 0).all() for used in drawn)
    assert all(len(set(used)) == columns for used in drawn) != replace
    np.testing.assert_array_equal(draw(n_columns=4).columns_of(0, 0), range(4))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_features": 11}, "more than the 10 columns"),
        ({"max_features": 0}, "max_features must be"),
        ({"max_features": 1.5}, "max_features must be"),
        ({"bootstrap_features": "yes"}, "bootstrap_features must be True or False"),
        ({"bootstrap": "balanced"}, "single output of classes"),
        ({"max_samples": True}, "max_samples must be"),
        ({"max_samples": np.nan}, "max_samples must be"),
    ],
    ids=str,
)
def test_draws_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        draw(n_columns=10, **settings)


def test_rows_a_member_gets_on_average():
    groups = np.repeat(np.arange(5), [2, 2, 4, 6, 6])
    classes = np.repeat(np.array([0, 1], dtype=np.int32), [15, 5])
    for sampling, rows in (
        (draw(), 20),
        (draw(groups=groups, max_samples=3), 12),
        (draw(bootstrap="balanced", classes=classes), 10),
    ):
        assert sampling.drawn_rows == rows
        got = np.mean([sampling.rows(0, t).sum() for t in range(400)])
        assert got == pytest.approx(rows, rel=0.05)


def test_a_watch_over_members_of_any_kind():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(50, 1))
    watch = OutOfBag(y, patience=4, tol=0.01)
    guesses, seen = np.zeros(50), np.zeros(50)
    for member in range(30):
        rows = rng.choice(50, size=20, replace=False)
        says = y[rows, 0] + rng.normal(size=20)
        watch.add(rows, says)
        guesses[rows] += says
        seen[rows] += 1
        there = seen > 0
        expected = r2_score(y[there, 0], guesses[there] / seen[there])
        assert watch.score == pytest.approx(expected)
        assert watch.n_members == member + 1
    assert watch.stopped
    np.testing.assert_allclose(watch.prediction[:, 0, 0], guesses / seen)


def test_a_watch_over_classes_of_several_outputs():
    codes = np.array([[0, 2], [1, 0], [1, 1]], dtype=np.int32)
    classes = [np.array(["a", "b"]), np.array(["u", "v", "w"])]
    watch = OutOfBag(codes, 3, classes=classes, scorer=lambda truth, says: says.shape[1])
    watch.add(np.array([], dtype=np.intp), np.zeros((0, 2, 3)))
    assert np.isnan(watch.score)
    watch.add(np.array([0, 2]), np.array([[[1, 0, 0], [0, 0, 1.0]], [[1, 0, 0], [0, 1, 0]]]))
    assert watch.score == 2
    assert watch.error_curve[-1] == 0.5  # the third row's first label is wrong
    with pytest.warns(UserWarning, match="1 of 3 rows"):
        watch.warn_of_rows_never_left_out()


def test_one_row_has_an_error_but_no_score():
    """What one number says about the spread of all of them is nothing."""
    watch = OutOfBag(np.array([[1.0], [2.0], [4.0]]), patience=3)
    watch.add(np.array([1]), np.array([[[2.5]]]))
    assert np.isnan(watch.score)
    assert watch.error_curve[-1] == 0.25
    watch.add(np.array([0]), np.array([[[1.0]]]))
    assert watch.score == pytest.approx(1 - 0.25 / 0.5)


@pytest.mark.parametrize("classes", [None, [np.array(["a", "b"])]], ids=["numbers", "classes"])
def test_rows_without_weight_do_not_weigh_members(classes):
    rng = np.random.default_rng(0)
    there, k = np.arange(30) % 3 > 0, 1 if classes is None else 2
    if classes is None:
        target, values = rng.normal(size=(30, 1)), rng.normal(size=(30, 1, 1))
    else:
        target = rng.integers(0, 2, (30, 1)).astype(np.int32)
        values = np.where(rng.random((30, 1, 1)) < 0.8, np.eye(2)[target], np.eye(2)[1 - target])
    rows = np.sort(rng.choice(30, 20, replace=False))
    watch = WeightedOutOfBag(target, k, classes=classes, present=there)
    watch.add(rows, values[rows])
    only = WeightedOutOfBag(target[there], k, classes=classes)
    among = np.flatnonzero(np.isin(np.flatnonzero(there), rows))
    only.add(among, values[there][among])
    assert watch.weights == pytest.approx(only.weights)
    assert watch.score == pytest.approx(only.score)
    blind = WeightedOutOfBag(target, k, classes=classes)
    blind.add(rows, values[rows])
    assert blind.weights != pytest.approx(watch.weights)


@pytest.mark.parametrize(
    ("curve", "patience", "tol", "flat"),
    [
        ([0.1, 0.2, 0.3], 2, 0.0, None),
        ([0.3, 0.2, 0.1], 2, 0.0, 3),
        ([np.nan, np.nan, np.nan, 0.5, 0.6], 2, 0.0, None),
        ([0.1, 0.2, 0.3, 0.4], 1, 0.15, 2),
        ([], 3, 0.0, None),
    ],
)
def test_when_a_curve_is_flat(curve, patience, tol, flat):
    rule = Stopping(patience, tol)
    assert not rule.says_stop
    stops = []
    for score in curve:
        rule.note(score)
        stops.append(rule.says_stop)
    assert (stops.index(True) + 1 if any(stops) else None) == flat
