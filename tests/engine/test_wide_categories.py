"""Columns of many categories: the same tests as ever, written down in little room."""

import pickle

import numpy as np
import pytest

from gate import some
from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from weald.explain import explain_path, export_text


def table(n, levels, seed=0):
    """Two columns of categories, one of numbers; some categories come once, some never."""
    rng = np.random.default_rng(seed)
    wide = rng.integers(0, levels, n)
    other = (levels * rng.random(n) ** 3).astype(int)
    X = np.column_stack([wide, other, rng.integers(0, 20, n)]).astype(float)
    effect = rng.normal(size=levels)
    y = effect[wide] + effect[other] * (X[:, 2] > 10) + 0.1 * rng.normal(size=n)
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y


def route(tree, codes, went_left, X):
    """Leaf of each row if at a test of categories those codes go left that did so in training."""
    leaf = np.empty(len(X), dtype=np.int64)
    for i, row in enumerate(X):
        node = 0
        while tree.children_right[node] >= 0:
            j, value = tree.feature[node], row[tree.feature[node]]
            if np.isnan(value):
                left = tree.missing_go_to_left[node]
            elif tree.is_categorical[node]:
                left = codes[j][int(value)] in went_left[node]
            else:
                left = value <= tree.threshold[node]
            node = node + 1 if left else tree.children_right[node]
        leaf[i] = node
    return leaf


def codes_of(values, n_categories, max_bins, often):
    """Codes of the categories: those of a single row share one; with bins, the rarest too."""
    count = np.bincount(values[~np.isnan(values)].astype(int), minlength=n_categories)
    single = often * count == 1
    if max_bins is None or n_categories - single.sum() + single.any() <= max_bins:
        return np.where(single, n_categories, np.arange(n_categories))
    rank = np.argsort(np.argsort(-count, kind="stable"), kind="stable")
    return np.minimum(rank, max_bins - 1)


MANY = 1000  # rows that a row is, so that it pays to tell every category from the others

MODELS = {
    "tree": DecisionTreeRegressor(),
    "by leaves": DecisionTreeRegressor(max_leaf_nodes=200),
    "bins": DecisionTreeRegressor(max_bins=255),
    "few bins": DecisionTreeRegressor(max_bins=16),
    "forest": RandomForestRegressor(n_estimators=2, max_bins=None, max_features=2),
    "forest of bins": RandomForestRegressor(n_estimators=2),
    "extra-trees": ExtraTreesRegressor(n_estimators=2, max_bins=None, bootstrap=True),
}


@pytest.mark.filterwarnings("ignore:Column 0")  # bins keep the most frequent categories apart
@pytest.mark.parametrize("levels", some([3000, 300], one_in=9))
@pytest.mark.parametrize("name", MODELS)
def test_categories_go_left_that_went_left_in_training(name, levels):
    X, y = table(12_000, levels)  # with some rows each, or cuts would not pay
    often = 1 if hasattr(MODELS[name], "n_estimators") else MANY
    model = MODELS[name].set_params(categorical_features=[0, 1], random_state=0, n_jobs=2)
    model.fit(X, y, np.full(len(X), often))
    member = model.estimators_[1] if hasattr(model, "estimators_") else model
    tree = member.tree_
    coded = X.copy()  # as the engine sees them: by their place among the categories
    for j in (0, 1):
        known = ~np.isnan(X[:, j])
        coded[known, j] = np.searchsorted(model.categories_[j], X[known, j])
    codes = {
        j: codes_of(coded[:, j], len(model.categories_[j]), model.max_bins, often) for j in (0, 1)
    }
    drawn = model.in_bag_[1] > 0 if hasattr(model, "estimators_") else np.ones(len(X), bool)
    passed = np.asarray(tree.decision_path(coded[drawn]).todense(), dtype=bool)
    went_left = {}
    for node in np.flatnonzero(tree.is_categorical):
        values = coded[drawn][passed[:, node + 1], tree.feature[node]]
        went_left[node] = set(codes[tree.feature[node]][values[~np.isnan(values)].astype(int)])
        left, right = tree.category_sides(node)
        assert not set(left) & set(right)
        assert set(codes[tree.feature[node]][left]) == went_left[node]
    assert len(went_left) > 20
    rng = np.random.default_rng(1)  # every category with numbers it never came with
    new = coded[rng.integers(0, len(X), 4000)]
    for j in (0, 1):
        new[:, j] = rng.permutation(np.arange(4000) % len(model.categories_[j]))
    np.testing.assert_array_equal(tree.apply(new), route(tree, codes, went_left, new))
    again = pickle.loads(pickle.dumps(model))
    labels = np.column_stack(
        [model.categories_[j][new[:, j].astype(int)] for j in (0, 1)] + [new[:, 2]]
    )
    np.testing.assert_array_equal(again.predict(labels), model.predict(labels))


@pytest.mark.parametrize("sign", [1, -1])
def test_peeling_off_one_category_after_another_takes_little_room(sign):
    levels = 1000
    y = sign * np.concatenate([4.0 ** -np.arange(500), np.zeros(levels - 500)])
    X = np.random.default_rng(0).permutation(levels)[:, None]
    tree = DecisionTreeRegressor(categorical_features=[0]).fit(X, y, [MANY] * levels).tree_
    assert tree.max_depth > 50
    assert len(tree.sets) < 4 * tree.node_count


def test_room_grows_with_the_categories_and_not_with_their_square():
    rng = np.random.default_rng(0)
    for levels in (2000, 20_000):
        X, y = rng.permutation(levels)[:, None], rng.normal(size=levels)
        model = DecisionTreeRegressor(categorical_features=[0]).fit(X, y, [MANY] * levels)
        np.testing.assert_array_equal(model.predict(X), y)
        assert model.tree_.n_leaves == levels
        assert len(model.tree_.sets) < 12 * levels


def test_the_words_for_large_sets_are_short():
    rng = np.random.default_rng(0)
    levels = 3000
    X = np.array([f"level {k}" for k in rng.permutation(levels)], dtype=object)[:, None]
    y = rng.normal(size=levels)
    model = DecisionTreeRegressor().fit(X, y, [MANY] * levels)
    text = export_text(model)
    assert max(map(len, text.splitlines())) < 250
    assert "more}" in text
    for path in explain_path(model, X[:20]):
        assert len(str(path)) < 500


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(),
        DecisionTreeClassifier(),
        RandomForestRegressor(n_estimators=10, n_jobs=2),
        RandomForestRegressor(n_estimators=2, max_bins=None, n_jobs=2),
        ExtraTreesRegressor(n_estimators=2, max_bins=None, n_jobs=2),
        GradientBoostingRegressor(n_estimators=20),
    ],
    ids=["tree", "classes", "forest", "exact forest", "extra-trees", "boosting"],
)
@pytest.mark.filterwarnings("ignore")
def test_a_million_categories(model):
    n = 1_000_000
    rng = np.random.default_rng(0)
    X, y = rng.permutation(n)[:, None], rng.normal(size=n)
    y = y > 0 if isinstance(model, DecisionTreeClassifier) else y
    model.set_params(categorical_features=[0], random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X[:1000])).all()
    assert len(pickle.dumps(model)) < 400e6
