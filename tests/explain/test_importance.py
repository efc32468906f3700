"""Importance of columns against naive twins, and what noise must get: about nothing."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from weald.explain import Importance, forest_importance
from weald.explain._member_importance import decrease, node_sums


def problem(n=200, seed=0, classes=0, n_outputs=1):
    """Two columns that matter, one with two values and two with many that do not."""
    rng = np.random.default_rng(seed)
    X = np.c_[rng.normal(size=(n, 2)), rng.integers(0, 2, n), rng.normal(size=(n, 2))]
    y = (X[:, 0] + np.sin(3 * X[:, 1]))[:, None] + rng.normal(size=(n, n_outputs)) / 2
    if classes:
        y = y.argsort(axis=0).argsort(axis=0) * classes // n
    return X, y[:, 0] if n_outputs == 1 else y


MODELS = {
    "regression": (RandomForestRegressor(8, random_state=0), {}),
    "shallow": (RandomForestRegressor(8, max_depth=2, max_features=2, random_state=0), {}),
    "outputs": (RandomForestRegressor(8, random_state=0), {"n_outputs": 2}),
    "two classes": (RandomForestClassifier(8, random_state=0), {"classes": 2}),
    "classes": (RandomForestClassifier(8, min_samples_leaf=5, random_state=0), {"classes": 4}),
    "class outputs": (
        RandomForestClassifier(8, random_state=0),
        {"classes": 3, "n_outputs": 2},
    ),
    "bagging": (BaggingRegressor(n_estimators=8, random_state=0), {}),
    "patches": (
        BaggingClassifier(
            DecisionTreeClassifier(),
            n_estimators=8,
            max_samples=0.5,
            max_features=0.6,
            bootstrap=False,
            random_state=0,
        ),
        {"classes": 3},
    ),
}


def fitted(name):
    model, what = MODELS[name]
    X, y = problem(**what)
    return model.fit(X, y), X, y


# --- impurity ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_impurity_is_the_decrease_of_each_tree(name):
    model, *_ = fitted(name)
    found = forest_importance(model)
    trees = [model.forest_.tree(t) for t in range(8)]
    per_member = [tree.compute_feature_importances(normalize=False) for tree in trees]
    np.testing.assert_allclose(found.per_member, per_member, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(found.mean, np.mean(per_member, axis=0), rtol=1e-5)
    np.testing.assert_allclose(
        found.std_error, np.std(per_member, axis=0, ddof=1) / np.sqrt(8), rtol=1e-5
    )


# --- unbiased ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_in_the_bag_the_unbiased_kind_is_the_impurity_decrease(name):
    model, X, y = fitted(name)
    target = y.reshape(len(y), -1)
    for t, counts in enumerate(model.in_bag_):
        tree = model.forest_.tree(t)
        sums = node_sums(tree, tree.apply(X), target, counts.astype(float))
        found = decrease(tree, *sums)
        np.testing.assert_allclose(found, model.forest_.importances[t], rtol=1e-6, atol=1e-9)


def naive_unbiased(tree, X, y, weights):
    """Node by node: what the split promises times what the rows found."""
    reached = tree.decision_path(X).toarray().astype(bool)
    if tree.max_n_classes > 1:
        y = (y[:, :, None] == np.arange(tree.max_n_classes)).astype(float)
    else:
        y = y[:, :, None]
    total = np.zeros(tree.n_features)
    for m in np.flatnonzero(~tree.is_leaf):
        left, right = m + 1, tree.children_right[m]
        w_left, w_right = weights[reached[:, left]], weights[reached[:, right]]
        if w_left.sum() == 0 or w_right.sum() == 0:
            continue
        promised = tree.value[left] - tree.value[right]
        means = (
            np.average(y[reached[:, left]], axis=0, weights=w_left),
            np.average(y[reached[:, right]], axis=0, weights=w_right),
        )
        size = w_left.sum() * w_right.sum() / (w_left.sum() + w_right.sum()) / weights.sum()
        gain = size * (promised * (means[0] - means[1])).sum(axis=1).mean()
        total[tree.feature[m]] += gain
    return total


@pytest.mark.filterwarnings("ignore:.*without replacement the heavy ones run out")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_unbiased_like_the_twin(name, weighted):
    model, what = MODELS[name]
    X, y = problem(**what)
    w = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    model.fit(X, y, sample_weight=w)
    found = forest_importance(model, X, y, "unbiased", sample_weight=w)
    weights = np.ones(len(y)) if w is None else w
    for t, counts in enumerate(model.in_bag_):
        out = (counts == 0) & (weights > 0)
        expected = naive_unbiased(
            model.forest_.tree(t), X[out], y.reshape(len(y), -1)[out], weights[out]
        )
        np.testing.assert_allclose(found.per_member[t], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_noise_gets_nothing(classes):
    """Fully grown trees split on noise all the time; only the plain kind gives it credit."""
    kind = RandomForestClassifier if classes else RandomForestRegressor
    plain, unbiased, shuffled = [], [], []
    for seed in range(6):
        X, y = problem(400, seed, classes)
        forest = kind(50, max_features=2, random_state=seed).fit(X, y)
        plain.append(forest_importance(forest).mean)
        unbiased.append(forest_importance(forest, X, y, "unbiased").mean)
        found = forest_importance(forest, X, y, "permutation", random_state=seed)
        shuffled.append(found.mean)
    for measured in (np.array(unbiased), np.array(shuffled)):
        mean, error = measured.mean(axis=0), measured.std(axis=0, ddof=1) / np.sqrt(len(measured))
        assert (mean[:2] > 5 * error[:2]).all()
        assert (np.abs(mean[2:]) < 4 * error[2:] + 1e-3 * mean[0]).all()
        assert (np.abs(mean[2:]) < 0.05 * mean[0]).all()
    plain = np.mean(plain, axis=0)
    assert (plain[3:] > 0.1 * plain[0]).all()  # many values
    assert plain[2] < 0.5 * plain[3]  # two values


def test_unbiased_does_not_change_with_the_origin_of_y():
    X, y = problem()
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    moved = RandomForestRegressor(5, random_state=0).fit(X, y + 1e6)
    one = forest_importance(forest, X, y, "unbiased").per_member
    other = forest_importance(moved, X, y + 1e6, "unbiased").per_member
    np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {"class_weight": "balanced"},
        {"class_weight": "balanced_subsample"},
        {"class_weight": {"a": 1, "b": 3}},
        {"bootstrap": "balanced"},
        {"criterion": "entropy"},
        {"criterion": "misclassification"},
    ],
    ids=str,
)
def test_rare_classes_and_other_criteria(settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.where(X[:, 0] + rng.normal(size=600) > 1, "b", "a")
    forest = RandomForestClassifier(40, random_state=0, **settings).fit(X, y)
    found = forest_importance(forest, X, y, "unbiased").mean
    assert found[0] > 0.01
    assert (np.abs(found[1:]) < 0.3 * found[0]).all()


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_other_criteria_of_numbers(criterion):
    X, y = problem(300)
    y = np.exp(y)
    settings = {"criterion": criterion, "max_features": 2, "random_state": 0}
    forest = RandomForestRegressor(40, **settings).fit(X, y)
    found = forest_importance(forest, X, y, "unbiased").mean
    assert found[:2].min() > 5 * np.abs(found[2:]).max()


# --- permutation ------------------------------------------------------------------------------


def naive_permutation(model, X, y, seed, groups, weights, n_repeats):
    """Breiman's recipe, with the members as estimators and the shuffles as documented."""
    seed = np.random.RandomState(seed).randint(2**31 - 1)
    y = y.reshape(len(y), -1)
    rises = []
    for t, counts in enumerate(model.in_bag_):
        out = np.flatnonzero((counts == 0) & (weights > 0))
        tree = model.forest_.tree(t)

        def error(table, out=out, tree=tree):
            values = tree.leaf_values(table)
            if hasattr(model, "classes_"):
                loss = values.argmax(axis=2) != y[out]
            else:
                loss = (values[:, :, 0] - y[out]) ** 2
            return weights[out] @ loss.mean(axis=1) / weights[out].sum()

        draw = np.random.default_rng([seed, t])
        orders = [draw.permutation(len(out)) for _ in range(n_repeats)]
        rise = []
        for group in groups:
            after = []
            for order in orders:
                changed = X[out]
                changed[:, group] = changed[order][:, group]
                after.append(error(changed))
            rise.append(np.mean(after) - error(X[out]))
        rises.append(rise)
    return rises


@pytest.mark.filterwarnings("ignore:.*without replacement the heavy ones run out")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_permutation_like_the_twin(name, weighted):
    model, what = MODELS[name]
    X, y = problem(**what)
    w = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    model.fit(X, y, sample_weight=w)
    before = X.copy()
    found = forest_importance(
        model, X, y, "permutation", n_repeats=2, random_state=3, sample_weight=w
    )
    np.testing.assert_array_equal(X, before)
    weights = np.ones(len(y)) if w is None else w
    expected = naive_permutation(model, X, y, 3, [[0], [1], [2], [3], [4]], weights, 2)
    np.testing.assert_allclose(found.per_member, expected, atol=1e-12)


def test_threads_and_repetition_change_nothing():
    X, y = problem(classes=3)
    results = [
        forest_importance(
            RandomForestClassifier(10, random_state=0, n_jobs=n_jobs).fit(X, y),
            X,
            y,
            kind,
            random_state=5,
        ).per_member
        for kind in ("unbiased", "permutation")
        for n_jobs in (1, 2, 3, 1)
    ]
    for same in (results[:4], results[4:]):
        for other in same[1:]:
            np.testing.assert_array_equal(same[0], other)


def test_an_unused_column_gets_exactly_nothing():
    X, y = problem()
    X[:, 3] = 1.0
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    for kind in ("impurity", "unbiased", "permutation"):
        assert (forest_importance(forest, X, y, kind).per_member[:, 3] == 0).all()


# --- groups of columns ------------------------------------------------------------------------


def test_groups_are_shuffled_together():
    """A column and its copy stand in for each other; together they show what they are worth."""
    X, y = problem(400)
    X = np.c_[X[:, 0], X[:, 0], X[:, 1:]]
    forest = RandomForestRegressor(40, max_features=2, random_state=0).fit(X, y)
    alone = forest_importance(forest, X, y, "permutation", random_state=0)
    both = forest_importance(forest, X, y, "permutation", random_state=0, groups=[[0, 1]])
    assert both.names == (
        "feature_0 + feature_1",
        "feature_2",
        "feature_3",
        "feature_4",
        "feature_5",
    )
    assert both.mean[0] > 1.5 * alone.mean[:2].max()
    np.testing.assert_array_equal(both.mean[1:], alone.mean[2:])
    twin = naive_permutation(forest, X, y, 0, [[0, 1]], np.ones(400), 1)
    np.testing.assert_allclose(both.per_member[:, :1], twin, atol=1e-12)


@pytest.mark.parametrize("kind", ["impurity", "unbiased"])
def test_decreases_of_a_group_add_up(kind):
    X, y = problem()
    table = pd.DataFrame(X, columns=list("abcde"))
    forest = RandomForestRegressor(10, random_state=0).fit(table, y)
    each = forest_importance(forest, table, y, kind)
    some = forest_importance(forest, table, y, kind, groups={"noise": ["c", "d", 4], "true": ["a"]})
    assert some.names == ("noise", "true", "b")
    expected = np.c_[each.per_member[:, 2:].sum(axis=1), each.per_member[:, :2]]
    np.testing.assert_allclose(some.per_member, expected, rtol=1e-12)


# --- all kinds of tables and members ----------------------------------------------------------


def test_labels_and_categories_as_they_are():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300)
    table = pd.DataFrame({"colour": colour, "noise": rng.normal(size=300)})
    table.loc[::9, "noise"] = np.nan
    y = np.where((colour == "red") ^ (rng.random(300) < 0.1), "yes", "no")
    forest = RandomForestClassifier(30, random_state=0).fit(table, y)
    for kind in ("impurity", "unbiased", "permutation"):
        found = forest_importance(forest, table, list(y), kind, random_state=0)
        assert found.ranking()[0][0] == "colour"
        polar = forest_importance(forest, pl.from_pandas(table), y, kind, random_state=0)
        np.testing.assert_array_equal(found.per_member, polar.per_member)


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, pl.DataFrame, sp.csr_array])
def test_members_of_any_kind(container):
    X, y = problem()
    table = container(X)
    linear = BaggingRegressor(LinearRegression(), n_estimators=10, random_state=0)
    linear.fit(table, X @ [3, 1, 0, 0, 0])
    found = forest_importance(linear, table, X @ [3, 1, 0, 0, 0], "permutation", random_state=0)
    # Shuffling a column of a linear model doubles what its variance adds.
    np.testing.assert_allclose(
        found.mean, [18 * X[:, 0].var(), 2 * X[:, 1].var(), 0, 0, 0], rtol=0.2, atol=1e-9
    )
    with pytest.raises(ValueError, match=r"kind='unbiased' reads the nodes of trees.*permutation"):
        forest_importance(linear, table, y, "unbiased")
    with pytest.raises(ValueError, match=r"kind='impurity' reads the nodes of trees.*permutation"):
        forest_importance(linear)


@pytest.mark.parametrize("member", [GaussianNB(), KNeighborsClassifier()], ids=str)
def test_classifiers_of_any_kind(member):
    X, y = problem(classes=3)
    labels = np.array(["low", "mid", "top"])[y]
    bag = BaggingClassifier(member, n_estimators=20, max_features=0.6, random_state=0)
    bag.fit(X, labels)
    found = forest_importance(bag, X, labels, "permutation", random_state=0)
    assert found.mean[0] > 0.05
    assert (np.abs(found.mean[2:]) < 0.3 * found.mean[0]).all()
    unused = [[j not in columns for j in range(5)] for columns in bag.estimators_features_]
    assert (found.per_member[np.array(unused)] == 0).all()


def test_a_forest_from_a_file_knows_it_too():
    model, X, y = fitted("regression")
    back = pickle.loads(pickle.dumps(model))
    for kind in ("impurity", "unbiased", "permutation"):
        one, two = (forest_importance(m, X, y, kind, random_state=0) for m in (model, back))
        np.testing.assert_array_equal(one.per_member, two.per_member)


def test_members_that_drew_every_row_do_not_count():
    X, y = problem(4)
    forest = RandomForestRegressor(60, random_state=0).fit(X, y)
    for kind in ("unbiased", "permutation"):
        found = forest_importance(forest, X, y, kind)
        whole = (forest.in_bag_ > 0).all(axis=1)
        assert 0 < whole.sum() < 60
        np.testing.assert_array_equal(np.isnan(found.per_member).all(axis=1), whole)
        np.testing.assert_array_equal(found.mean, found.per_member[~whole].mean(axis=0))


# --- the result -------------------------------------------------------------------------------


def small():
    per_member = np.array([[0.0, 3.0, 1.0], [0.2, 5.0, 1.0], [-0.2, 4.0, 1.0]])
    return Importance("permutation", ("a", "b", "c"), per_member)


def test_the_result_by_hand():
    found = small()
    np.testing.assert_allclose(found.mean, [0, 4, 1], atol=1e-15)
    np.testing.assert_allclose(found.std_error, [0.2 / np.sqrt(3), 1 / np.sqrt(3), 0])
    assert [name for name, _ in found.ranking()] == ["b", "c", "a"]
    frame = found.as_frame()
    assert frame.index.tolist() == ["b", "c", "a"]
    assert frame.loc["b", "mean"] == 4
    with pytest.raises(AttributeError):
        found.kind = "impurity"
    one = Importance("impurity", ("a",), np.array([[1.0]]))
    assert np.isnan(one.std_error).all()


def test_the_reading():
    assert str(small()) == small().reading
    assert "Most important: b (4 ± 0.6), c (1 ± 0), a " in small().reading
    assert "1 of 3 are not clearly above 0" in small().reading
    alone = Importance("unbiased", ("a",), np.array([[1.0]])).reading
    assert alone.endswith("Most important: a (1).")
    impurity = Importance("impurity", ("a", "b"), np.array([[1.0, 2.0], [1.0, 3.0]])).reading
    assert "flatters columns of many values" in impurity
    assert "clearly above" not in impurity
    assert "clearly above" in Importance("unbiased", ("a",), np.ones((2, 1))).reading


def test_the_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = small().plot(top=2)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["c", "b"]
    assert [bar.get_width() for bar in ax.patches] == [1, 4]
    assert small().plot(ax) is ax
    matplotlib.pyplot.close(ax.figure)


# --- what cannot be ---------------------------------------------------------------------------


def test_clear_refusals():
    X, y = problem()
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="kind must be 'impurity', 'unbiased' or 'permutation'"):
        forest_importance(forest, X, y, "gain")
    with pytest.raises(ValueError, match="pass the training X and y"):
        forest_importance(forest, X, kind="permutation")
    with pytest.raises(ValueError, match="there were 200 rows, X has 50"):
        forest_importance(forest, X[:50], y[:50], "permutation")
    with pytest.raises(ValueError, match="y has 2 outputs, but the model was fitted with 1"):
        forest_importance(forest, X, np.c_[y, y], "unbiased")
    with pytest.raises(ValueError, match="n_repeats must be a whole number"):
        forest_importance(forest, X, y, "permutation", n_repeats=0)
    with pytest.raises(ValueError, match=r"groups names the column 'a'.*use their numbers"):
        forest_importance(forest, groups=[["a"]])
    with pytest.raises(ValueError, match="groups names the column 5"):
        forest_importance(forest, groups=[[0, 5]])
    for wrong in ([0, 1], {"a": "feature_0"}, [[]]):
        with pytest.raises(ValueError, match="groups must be a list of lists of columns"):
            forest_importance(forest, groups=wrong)
    for twice in ({"feature_4": [0, 1]}, [[0, 1], [0, 1]]):
        with pytest.raises(ValueError, match="more than one thing: choose a name"):
            forest_importance(forest, groups=twice)
    whole = ExtraTreesRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"every member saw all rows: refit with bootstrap=True"):
        forest_importance(whole, X, y, "unbiased")
    drawn = RandomForestRegressor(1, max_samples=100, random_state=0).fit(X[:3], y[:3])
    with pytest.raises(ValueError, match="every member drew all of them: use more"):
        forest_importance(drawn, X[:3], y[:3], "permutation")
    labels = RandomForestClassifier(5, random_state=0).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"y holds the label 2, which was not there in fit"):
        forest_importance(labels, X, (y > 0) + 1, "permutation")
