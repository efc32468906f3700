"""Ways of using trees that once went wrong."""

import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.metadata_routing import get_routing_for_object

import weald
from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

rng = np.random.default_rng(0)
X = rng.random((200, 3))
Y = np.where(X[:, 0] > 0.5, "a", "b")


def test_a_daemon_thread_at_work_does_not_abort_the_exit():
    code = """
        import threading, time
        import numpy as np, weald
        X = np.random.default_rng(0).random((200_000, 20)); y = np.arange(200_000) % 2
        fit = lambda: weald.DecisionTreeClassifier().fit(X, y)
        threading.Thread(target=fit, daemon=True).start()
        time.sleep(0.3)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_pruning_path_leaves_a_fitted_tree_alone():
    tree = DecisionTreeClassifier().fit(X, Y)
    tree.cost_complexity_pruning_path(X[:, :2], np.where(X[:, 0] > 0.5, "y", "z"))
    assert set(tree.predict(X)) == {"a", "b"}


def test_a_failed_refit_leaves_the_old_model():
    tree = DecisionTreeClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="max_depth"):
        tree.set_params(max_depth=-1).fit(X, np.where(X[:, 0] > 0.5, "y", "z"))
    np.testing.assert_array_equal(tree.predict(X), Y)


def test_cross_validated_pruning_counts_rows_that_weigh_something():
    weights = np.r_[np.ones(6), np.zeros(194)]
    with pytest.raises(ValueError, match=r"needs at least 10 rows.*n_samples=6"):
        DecisionTreeClassifier(ccp_alpha="cv").fit(X, Y, weights)
    weights[1:] = 0  # nothing to prune, so nothing to cross-validate
    assert DecisionTreeClassifier(ccp_alpha="cv").fit(X, Y, weights).get_n_leaves() == 1
    tree = DecisionTreeClassifier(ccp_alpha="cv").fit(X, Y)
    assert hasattr(tree, "ccp_path_")
    assert not hasattr(tree.set_params(ccp_alpha=0.0).fit(X, Y), "ccp_path_")


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u8", "?"])
def test_labels_at_both_ends_of_an_integer_type(dtype):
    low, high = (0, 1) if dtype == "?" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    labels = np.array([low, high], dtype=dtype)
    tree = DecisionTreeClassifier().fit([[0], [1]], labels)
    np.testing.assert_array_equal(tree.classes_, np.sort(labels))
    assert tree.classes_.dtype == np.dtype(dtype)


def test_paths_of_frames_with_numbered_columns():
    frame = pd.DataFrame(X)
    tree = DecisionTreeClassifier(max_depth=1).fit(frame, Y)
    assert str(tree.explain_path(frame)[0]).startswith(f"predicts {Y[0]} because feature_0")
    assert len(tree.explain_path(frame.iloc[:1])) == 1


def test_arrays_of_a_tree_are_read_only():
    tree = DecisionTreeClassifier().fit(X, Y)
    for name in ("threshold", "feature", "children_right", "value"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree.tree_, name)[0] = 1


@pytest.mark.parametrize("name", ["value", "impurity", "n_node_samples", "threshold"])
def test_damaged_pickles_are_refused(name):
    state = DecisionTreeClassifier().fit(X, Y).tree_.__getstate__()
    arrays = dict(state["arrays"], **{name: state["arrays"][name][:-1]})
    damaged = weald._engine.Tree.__new__(weald._engine.Tree)
    with pytest.raises(ValueError, match=r"^Not a valid tree: \w+ has \d+ entries for \d+ nodes"):
        damaged.__setstate__(dict(state, arrays=arrays))


def test_a_leaf_has_one_mark():
    state = DecisionTreeClassifier().fit(X, Y).tree_.__getstate__()
    right = state["arrays"]["children_right"].copy()
    right[right == -1] = -2
    damaged = weald._engine.Tree.__new__(weald._engine.Tree)
    with pytest.raises(ValueError, match="not a valid tree"):
        damaged.__setstate__(dict(state, arrays=dict(state["arrays"], children_right=right)))


def test_a_pickle_predicts_the_same_bits():
    tree = DecisionTreeRegressor().fit(X, X.sum(axis=1))
    again = pickle.loads(pickle.dumps(tree))
    np.testing.assert_array_equal(tree.predict(X), again.predict(X))


def test_endless_parameters():
    tree = DecisionTreeClassifier(max_leaf_nodes=2**70, max_depth=2**70, max_features=2**70)
    assert tree.fit(X, Y).score(X, Y) == 1
    assert DecisionTreeClassifier(min_samples_leaf=2**70).fit(X, Y).get_n_leaves() == 1


def test_only_weights_are_metadata():
    request = get_routing_for_object(DecisionTreeClassifier())
    assert set(request.fit.requests) == {"sample_weight"}
    assert not request.predict.requests


def test_limits_on_weight_follow_the_weights_that_grow_the_tree():
    costs = [[0, 1], [9, 0]]
    tree = DecisionTreeClassifier(cost_matrix=costs, min_weight_fraction_leaf=0.05).fit(X, Y)
    assert tree.get_n_leaves() > 1


def test_shares_of_rows_do_not_count_absent_rows():
    weights = np.r_[np.ones(100), np.zeros(100)]
    settings = {"min_samples_leaf": 0.2}
    weighted = DecisionTreeClassifier(**settings).fit(X, Y, weights)
    absent = DecisionTreeClassifier(**settings).fit(X[:100], Y[:100])
    np.testing.assert_array_equal(weighted.tree_.threshold, absent.tree_.threshold)


def test_equal_weights_do_not_move_a_median():
    y = np.arange(10.0)
    for weight in (0.1, 0.3, 0.7):
        tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=1)
        tree.fit(np.zeros((10, 1)), y, np.full(10, weight))
        assert tree.tree_.value[0, 0, 0] == 4.5


def test_random_cuts_on_sampled_bins_route_rows_as_they_were_grown():
    n = 450_000
    x = np.random.default_rng(5).random((n, 1))
    tree = weald.ExtraTreeRegressor(max_bins=16, max_depth=4, random_state=0).fit(x, x[:, 0])
    rows = np.bincount(tree.apply(x), minlength=tree.tree_.node_count)
    leaf = tree.tree_.is_leaf
    np.testing.assert_array_equal(rows[leaf], tree.tree_.n_node_samples[leaf])


def test_check_input_is_accepted_and_ignored():
    tree = DecisionTreeClassifier().fit(X, Y, check_input=False)
    np.testing.assert_array_equal(tree.predict(X, check_input=False), Y)
    with pytest.raises(
        ValueError, match="X has 2 features, but DecisionTreeClassifier is expecting 3 features"
    ):
        tree.apply(X[:, :2], check_input=False)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cost_matrix": [[0, -1], [1, 0]]}, "negative or not finite"),
        ({"cost_matrix": [[0, 1, 2]]}, "2 x 2"),
        ({"class_weight": {"a": "x"}}, r"class_weight\['a'\]"),
        ({"class_weight": {"a": 0, "b": 0}}, "class_weight"),
        ({"ccp_alpha": "auto"}, "number >= 0, 'cv' or 'cv_1se'"),
        ({"max_bins": 1}, "2 to 255"),
        ({"monotonic_cst": [2, 0, 0]}, "column 0"),
        ({"monotonic_cst": {"a": 1}}, "names 'a', but X has no column names: give indices"),
    ],
)
def test_messages_name_the_matter(settings, message):
    with pytest.raises(ValueError, match=message):
        DecisionTreeClassifier(**settings).fit(X, Y)


@pytest.mark.parametrize("make", [ExtraTreeClassifier, ExtraTreeRegressor])
def test_an_exact_extra_tree_of_categories_alone(make):
    # Its codes are few but not kept in bytes.
    rng = np.random.default_rng(5)
    X = rng.integers(4, size=(1000, 3)).astype(float)
    y = rng.integers(2, size=1000)
    tree = make(categorical_features=[0, 1, 2], random_state=0).fit(X, y).tree_
    assert tree.n_leaves <= len(np.unique(X, axis=0))
    rows = np.asarray(tree.decision_path(X.astype(np.float32)).sum(axis=0)).ravel()
    np.testing.assert_array_equal(rows, tree.n_node_samples)
