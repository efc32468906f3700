"""Clean or noisy: small tables of classes are asked in a trial, where that is left to us."""

from __future__ import annotations

import warnings
from math import ceil
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss

from weald import GradientBoostingClassifier
from weald.boosting.defaults import Given, Task, choose
from weald.boosting.trial import _folds
from weald.input.fit_data import FitData
from weald.input.row_keys import bits_of, row_keys

WHOLE = 2**64


def key_of(row) -> int:
    """With Python's own whole numbers."""
    key = 0
    for value in row:
        key = ((key ^ int(np.float64(value).view(np.uint64))) * 0x9E3779B97F4A7C15) % WHOLE
        key ^= key >> 32
    for factor, shift in ((0xBF58476D1CE4E5B9, 27), (0x94D049BB133111EB, 31)):
        key = (key * factor) % WHOLE
        key ^= key >> shift
    return key


def points(n: int, n_classes: int, noise: float, seed: int = 0):
    """Clouds, two for each class; some labels are drawn anew."""
    numbers = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(scale=4, size=(2 * n_classes, 6))
    cloud = numbers.integers(2 * n_classes, size=n)
    X, y = centres[cloud] + numbers.normal(size=(n, 6)), cloud % n_classes
    other = numbers.uniform(size=n) < noise
    y[other] = numbers.integers(n_classes, size=other.sum())
    return X, y


def is_clean(model, leaves: int | None = 16) -> bool:
    chosen = (model.min_gain_, model.l2_regularization_, model.max_leaf_nodes_)
    return chosen == (0.0, 0.1, leaves)


def by_hand(X, y, given=MappingProxyType({})) -> bool:
    """The trial, with public parameters only."""
    n_classes = len(np.unique(y))
    folds = np.array([key_of(row) % 3 for row in X])
    usual = choose(Task(len(y), X.shape[1], n_classes), Given(**given))
    asked = "n_estimators" in given
    rounds, most = (
        (given["n_estimators"], max(50, given["n_estimators"] // 10)) if asked else (500, 125)
    )
    tried = min(rounds, most, max(10, ceil(rounds / 4)))
    rate = usual.learning_rate
    common = {
        "n_estimators": tried,
        "learning_rate": max(rate, min(0.3, rate * rounds / tried)),
        "max_features": usual.max_features,
        "max_depth": given.get("max_depth"),
        "random_state": 0,
    }
    free = not {"max_depth", "max_leaf_nodes"} & set(given)
    leaves, of_clean = usual.max_leaf_nodes, 16 if rounds >= 100 else 31
    settings = [
        {"max_leaf_nodes": leaves, "l2_regularization": usual.l2, "min_gain": usual.min_gain},
        {"max_leaf_nodes": of_clean if free else leaves, "l2_regularization": 0.1, "min_gain": 0},
    ]
    total = np.zeros(2)
    for k in range(2 if asked else 3):
        inside, test = folds != k, folds == k
        for which, one in enumerate(settings):
            model = GradientBoostingClassifier(**common, **one).fit(X[inside], y[inside])
            said = model.predict_proba(X[test])
            total[which] += test.sum() * log_loss(y[test], said, labels=model.classes_)
        if total[1] >= total[0] or (n_classes > 2 and total[1] <= 0.9 * total[0]):
            break
    return bool(total[1] < 0.95 * total[0])


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_the_choice_is_that_of_a_trial_by_hand(n_classes, noise, seed):
    X, y = points(240, n_classes, noise, seed)
    model = GradientBoostingClassifier(random_state=0).fit(X, y)
    assert is_clean(model) == by_hand(X, y)


GIVEN = [
    {"n_estimators": 20},
    {"n_estimators": 3, "learning_rate": 0.1},
    {"n_estimators": 100, "learning_rate": 0.1, "max_leaf_nodes": 31},
    {"n_estimators": 300, "max_depth": 3},
    {"n_estimators": 800},
    {"max_leaf_nodes": 8},
    {"max_depth": 6},
]


@pytest.mark.parametrize("given", GIVEN, ids=str)
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1, 0.3])
def test_several_classes_are_asked_whatever_is_given_of_rounds_and_trees(given, noise):
    X, y = points(240, 5, noise)
    model = GradientBoostingClassifier(random_state=0, **given).fit(X, y)
    free = 16 if given.get("n_estimators", 500) >= 100 else 31
    leaves = None if "max_depth" in given else given.get("max_leaf_nodes", free)
    assert is_clean(model, leaves) == by_hand(X, y, given)


def test_given_values_are_kept_by_the_trial():
    X, y = points(400, 5, 0.0)
    given = {"n_estimators": 30, "learning_rate": 0.15, "max_leaf_nodes": 31, "max_features": 2}
    model = GradientBoostingClassifier(random_state=0, **given).fit(X, y)
    assert is_clean(model, 31)
    assert {name: getattr(model, f"{name}_") for name in given} == given


@pytest.mark.parametrize(("rounds", "share"), [(20, 0.9), (100, 0.8), (300, 0.8)])
def test_clean_tables_of_several_classes_gain_with_rounds_given(rounds, share):
    X, y = load_digits(return_X_y=True)
    train, test = np.split(np.random.default_rng(0).permutation(len(y)), [1200])
    tried = GradientBoostingClassifier(random_state=0, n_estimators=rounds).fit(X[train], y[train])
    assert is_clean(tried, 16 if rounds >= 100 else 31)
    usual = GradientBoostingClassifier(
        random_state=0, n_estimators=rounds, l2_regularization=1.0, min_gain=0.04
    ).fit(X[train], y[train])
    assert usual.learning_rate_ == tried.learning_rate_
    losses = [log_loss(y[test], model.predict_proba(X[test])) for model in (tried, usual)]
    assert losses[0] < share * losses[1]


def test_both_choices_occur():
    chosen = {
        noise: is_clean(GradientBoostingClassifier(random_state=0).fit(*points(600, 5, noise)))
        for noise in (0.0, 0.5)
    }
    assert chosen == {0.0: True, 0.5: False}


def test_clean_tables_gain():
    X, y = load_digits(return_X_y=True)
    X, y = X[:700], y[:700]
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: len(y) * 3 // 4], order[len(y) * 3 // 4 :]
    tried = GradientBoostingClassifier(random_state=0).fit(X[train], y[train])
    usual = GradientBoostingClassifier(random_state=0, l2_regularization=1.0, min_gain=0.04)
    usual.fit(X[train], y[train])
    assert is_clean(tried)
    losses = [log_loss(y[test], model.predict_proba(X[test])) for model in (tried, usual)]
    assert losses[0] < 0.9 * losses[1]


def test_keys_are_those_of_the_values_alone():
    X = np.array([[0.0, 1.5], [-0.0, 1.5], [np.nan, 2.0], [-np.nan, 2.0], [1.5, 0.0]])
    keys = row_keys(map(bits_of, X.T), len(X))
    assert keys[0] == keys[1]
    assert keys[2] == keys[3]
    assert len(set(keys)) == 3
    assert [int(key) for key in keys[[0, 2, 4]]] == [key_of(X[0]), key_of(X[2]), key_of(X[4])]
    assert np.array_equal(row_keys(map(bits_of, X.astype(np.float32).T), len(X)), keys)


def test_folds_hold_all_copies_of_a_row_and_at_most_2000_rows():
    numbers = np.random.default_rng(0)
    X = numbers.integers(50, size=(9000, 2)).astype(float)
    parts = list(_folds(FitData(X, np.zeros(len(X)))))
    asked = [set(map(tuple, test.X)) for _, test in parts]
    assert len(set.union(*asked)) == sum(map(len, asked))
    for (train, test), seen in zip(parts, asked, strict=True):
        assert not set(map(tuple, train.X)) & seen
        assert 2000 <= len(train) + len(test) <= 2020  # copies of the last row come along
        assert len(test) > 500


@pytest.mark.parametrize("given", [{}, {"n_estimators": 40}, {"n_estimators": 60, "max_depth": 4}])
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.4])
def test_weights_are_repetitions_and_the_order_does_not_matter(noise, given):
    X, y = points(200, 3, noise)
    numbers = np.random.default_rng(1)
    weights = numbers.integers(4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = GradientBoostingClassifier(random_state=0, **given).fit(X, y, weights)
    repeated = GradientBoostingClassifier(random_state=0, **given).fit(X[rows], y[rows])
    mixed_up = numbers.permutation(rows)
    in_disorder = GradientBoostingClassifier(random_state=0, **given).fit(X[mixed_up], y[mixed_up])
    chosen = [(one.min_gain_, one.max_leaf_nodes_) for one in (weighted, repeated, in_disorder)]
    assert len(set(chosen)) == 1
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize(
    "given",
    [
        {"n_estimators": 50},
        {"max_leaf_nodes": 31},
        {"max_depth": 4},
        {"l2_regularization": 1.0},
        {"min_gain": 0.01},
        {"warm_start": True},
        {"dropout": 0.1, "learning_rate": 0.3},
        {"loss": "exponential"},
        {"order": 1},
    ],
)
def test_who_gives_something_is_not_overruled(given):
    X, y = points(300, 2, 0.0)
    assert is_clean(GradientBoostingClassifier(random_state=0).fit(X, y))
    assert not is_clean(GradientBoostingClassifier(random_state=0, **given).fit(X, y))


@pytest.mark.parametrize(
    "given",
    [
        {"l2_regularization": 1.0},
        {"min_gain": 0.01},
        {"warm_start": True},
        {"dropout": 0.1},
        {"order": 1},
    ],
    ids=str,
)
def test_nor_with_several_classes(given):
    X, y = points(300, 5, 0.0)
    rounds = {"n_estimators": 30}
    assert is_clean(GradientBoostingClassifier(random_state=0, **rounds).fit(X, y), 31)
    alone = GradientBoostingClassifier(random_state=0, **rounds, **given).fit(X, y)
    assert alone.l2_regularization_ == 1.0
    assert alone.min_gain_ == given.get("min_gain", 0.0 if "order" in given else 0.08)


@pytest.mark.parametrize("given", [{"learning_rate": 0.2}, {"min_samples_leaf": 2}, {"n_jobs": 2}])
def test_other_parameters_leave_the_choice_open(given):
    X, y = points(400, 5, 0.0)
    assert is_clean(GradientBoostingClassifier(random_state=0, **given).fit(X, y))


def test_tables_of_few_or_many_rows_are_not_tried():
    X, y = points(400, 5, 0.0)
    few = GradientBoostingClassifier(random_state=0).fit(X[:99], y[:99])
    assert not is_clean(few)
    heavy = GradientBoostingClassifier(random_state=0).fit(X, y, np.full(400, 26))
    assert not is_clean(heavy)
    assert is_clean(GradientBoostingClassifier(random_state=0).fit(X, y, np.full(400, 24)))


def test_a_class_that_a_fold_lacks_stops_the_trial():
    X, y = points(300, 3, 0.0)
    y[7] = 3
    assert not is_clean(GradientBoostingClassifier(random_state=0).fit(X, y))


def test_offsets_categories_and_missing_values_take_part():
    X, y = points(400, 3, 0.0)
    table = pd.DataFrame(X, columns=list("abcdef")).assign(
        word=pd.Categorical(np.array(["a", "b", "c"])[y])
    )
    table.iloc[::7, 0] = np.nan
    tried = GradientBoostingClassifier(random_state=0).fit(table, y, offset=np.zeros((400, 3)))
    assert is_clean(tried)
    assert np.mean(tried.predict(table, offset=np.zeros((400, 3))) == y) == 1


def test_the_trial_is_not_seen_by_callbacks_and_leaves_nothing_behind():
    X, y = points(300, 3, 0.0)
    rounds = []
    watched = GradientBoostingClassifier(random_state=0, callbacks=lambda event: rounds.append(1))
    watched.fit(X, y)
    assert is_clean(watched)
    assert len(rounds) == watched.n_estimators_ == 500
    alone = GradientBoostingClassifier(
        random_state=0,
        n_estimators=500,
        learning_rate=0.05,
        min_gain=0,
        l2_regularization=0.1,
        max_leaf_nodes=16,
        max_features=watched.max_features_,
    ).fit(X, y)
    assert np.array_equal(alone.predict_proba(X), watched.predict_proba(X))


def test_a_model_is_fitted_again_to_other_classes():
    model = GradientBoostingClassifier(random_state=0, n_estimators=20)
    for n_classes in (2, 5, 3):
        X, y = points(300, n_classes, 0.0)
        again = model.fit(X, y).predict_proba(X)
        new = GradientBoostingClassifier(random_state=0, n_estimators=20).fit(X, y)
        assert np.array_equal(again, new.predict_proba(X))


def test_the_trial_does_not_warn_of_what_the_fit_warns_of():
    X, y = points(300, 3, 0.0)
    table = pd.DataFrame({"a": X[:, 0], "word": pd.Categorical(np.arange(300) % 40)})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        GradientBoostingClassifier(random_state=0, max_bins=10).fit(table, y)
    assert len([one for one in said if "has 40 categories" in str(one.message)]) == 1
