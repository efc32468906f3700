"""Drawn trees: nothing overlaps, nothing leaves the axes, all is said."""

import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

mpl.use("Agg")
import matplotlib.pyplot as plt

import weald
from weald.explain import plot_tree
from weald.explain._boxes import DrawnNode
from weald.explain.drawing import tidy_columns


@pytest.fixture(autouse=True)
def _no_figure_left_open():
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def iris_tree():
    X, y = load_iris(return_X_y=True)
    return weald.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def big_tree():
    X, y = load_diabetes(return_X_y=True)
    return weald.DecisionTreeRegressor(max_leaf_nodes=40, random_state=0).fit(X, y)


def frames(boxes):
    """Edges of the drawn boxes in pixels, one row each: left, bottom, right, top."""
    boxes[0].figure.canvas.draw()
    return np.array([box.get_bbox_patch().get_window_extent().extents for box in boxes])


def overlapping_pairs(edges):
    left, bottom, right, top = edges.T
    apart = (
        (right[:, None] <= left)
        | (left[:, None] >= right)
        | (top[:, None] <= bottom)
        | (bottom[:, None] >= top)
    )
    return int((~apart).sum() - len(edges)) // 2


@pytest.mark.parametrize(
    ("which", "size"),
    [
        ("iris_tree", (3, 2)),
        ("iris_tree", (6.4, 4.8)),
        ("iris_tree", (4, 12)),
        ("big_tree", (28, 9)),
        ("big_tree", (40, 20)),
    ],
)
def test_boxes_do_not_overlap_and_stay_inside(which, size, request):
    tree = request.getfixturevalue(which)
    _, ax = plt.subplots(figsize=size)
    boxes = plot_tree(tree, ax=ax, filled=True, rounded=True, class_names=True)
    assert len(boxes) == tree.tree_.node_count
    edges = frames(boxes)
    assert overlapping_pairs(edges) == 0
    room = ax.get_window_extent()
    assert edges[:, 0].min() >= room.x0 - 2
    assert edges[:, 1].min() >= room.y0 - 2
    assert edges[:, 2].max() <= room.x1 + 2
    assert edges[:, 3].max() <= room.y1 + 2


def test_a_figure_too_small_to_read_is_told(big_tree):
    plt.figure(figsize=(4, 3))
    with pytest.warns(UserWarning, match="enlarge it or set max_depth"):
        plot_tree(big_tree)


def test_without_a_figure_one_is_made_that_fits(big_tree):
    boxes = plot_tree(big_tree)
    assert overlapping_pairs(frames(boxes)) == 0
    assert boxes[0].get_fontsize() >= 8.5  # large enough to read


def test_the_current_axes_are_used_and_cleared(iris_tree):
    fig = plt.figure(figsize=(8, 5))
    first = plot_tree(iris_tree)
    second = plot_tree(iris_tree)
    assert second[0].figure is fig
    assert len(fig.axes) == 1
    assert first[0] not in fig.axes[0].texts


def test_children_stand_below_and_beside_their_parent(big_tree):
    edges = frames(plot_tree(big_tree))
    centre = (edges[:, 0] + edges[:, 2]) / 2
    tree = big_tree.tree_
    for node in np.flatnonzero(tree.children_left >= 0):
        left, right = tree.children_left[node], tree.children_right[node]
        assert centre[left] < centre[node] < centre[right]
        assert max(edges[left, 3], edges[right, 3]) < edges[node, 1]
        np.testing.assert_allclose(centre[node], (centre[left] + centre[right]) / 2, atol=2)


@pytest.mark.parametrize("seed", range(8))
def test_tidy_layout_of_random_trees(seed):
    rng = np.random.default_rng(seed)
    drawn = [DrawnNode(0, 0, -1, False, False)]
    todo = [0]
    while todo and len(drawn) < 300:
        here = todo.pop(int(rng.integers(len(todo))))
        for is_left in (True, False):
            todo.append(len(drawn))
            drawn.append(DrawnNode(len(drawn), drawn[here].depth + 1, here, is_left, False))
    widths = rng.uniform(1, 9, len(drawn))
    x = tidy_columns(drawn, widths, gap=0.5)
    left, right = x - widths / 2, x + widths / 2
    assert left.min() == pytest.approx(0)
    depth = np.array([item.depth for item in drawn])
    for level in range(depth.max() + 1):
        order = np.flatnonzero(depth == level)
        order = order[np.argsort(x[order])]
        gaps = left[order[1:]] - right[order[:-1]]
        assert np.all(gaps >= 0.5 - 1e-9)


def test_each_box_says_what_was_asked(iris_tree):
    X, _ = load_iris(return_X_y=True)
    texts = [box.get_text() for box in plot_tree(iris_tree)]
    assert texts[0].splitlines()[1:] == ["gini = 0.667", "samples = 150", "value = [50, 50, 50]"]
    names = ["setosa", "versicolor", "virginica"]
    (root, *rest) = plot_tree(
        iris_tree,
        class_names=names,
        label="root",
        impurity=False,
        node_ids=True,
        proportion=True,
        precision=1,
        feature_names=["sl", "sw", "pl", "pw"],
    )
    lines = root.get_text().splitlines()
    assert lines[0] == "node #0"
    assert lines[1].split()[0] in ("pl", "pw")
    assert lines[2:] == ["samples = 100.0%", "value = [0.3, 0.3, 0.3]", "class = setosa"]
    leaf = int(iris_tree.apply(X[:1])[0])
    assert rest[leaf - 1].get_text().splitlines() == [f"#{leaf}", "33.3%", "[1, 0, 0]", "setosa"]


def test_every_edge_has_its_answer(iris_tree):
    boxes = plot_tree(iris_tree)
    words = [text.get_text() for text in boxes[0].axes.texts if text not in boxes]
    n_inner = int((iris_tree.tree_.children_left >= 0).sum())
    assert words.count("yes") == words.count("no") == n_inner
    assert len(words) == 2 * n_inner


def test_deeper_branches_are_folded(iris_tree):
    boxes = plot_tree(iris_tree, max_depth=0)
    assert [box.get_text() for box in boxes[1:]] == ["(...)", "(...)"]


def test_colours_tell_class_and_value(iris_tree, big_tree):
    X, _ = load_iris(return_X_y=True)
    boxes = plot_tree(iris_tree, filled=True)
    faces = [box.get_bbox_patch().get_facecolor() for box in boxes]
    leaves = iris_tree.apply(X[[0, 60, 140]])
    assert len({faces[leaf] for leaf in leaves}) == 3
    value = big_tree.tree_.value[:, 0, 0]
    plt.figure(figsize=(40, 12))
    boxes = plot_tree(big_tree, filled=True)
    blue = np.array([box.get_bbox_patch().get_facecolor()[2] for box in boxes])
    order = np.argsort(value)
    assert np.all(np.diff(blue[order]) <= 1e-12)  # the larger the value, the deeper the colour
    assert blue[order[0]] - blue[order[-1]] > 0.4
    unfilled = plot_tree(iris_tree)
    assert {box.get_bbox_patch().get_facecolor() for box in unfilled} == {(1.0, 1.0, 1.0, 1.0)}


def test_many_classes_get_colours_of_their_own():
    y = np.repeat(np.arange(24), 2)
    X = y[:, None].astype(float)
    tree = weald.DecisionTreeClassifier().fit(X, y)
    boxes = plot_tree(tree, filled=True)
    leaves = tree.apply(X)
    assert len({boxes[leaf].get_bbox_patch().get_facecolor() for leaf in leaves}) == 24
    assert overlapping_pairs(frames(boxes)) == 0


def test_categories_and_odd_names_can_be_drawn():
    table = pd.DataFrame({"pay in $ or \\frac": ["red", "blue", "a_b^c$"] * 4})
    tree = weald.DecisionTreeClassifier().fit(table, [0, 1, 1] * 4)
    boxes = plot_tree(tree, class_names=["$x", "y$"])
    frames(boxes)  # draws
    assert boxes[0].get_text().splitlines()[0].startswith("pay in $ or \\frac in {")


def test_a_single_leaf_can_be_drawn():
    tree = weald.DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    (box,) = plot_tree(tree, filled=True)
    assert box.get_text().splitlines()[-1] == "value = 3"


def test_bad_options_get_a_clear_sentence(iris_tree):
    with pytest.raises(ValueError, match="label must be 'all', 'root' or 'none', got 'some'"):
        plot_tree(iris_tree, label="some")
    with pytest.raises(ValueError, match="precision must be a whole number"):
        plot_tree(iris_tree, precision=-1)
    with pytest.raises(ValueError, match="fontsize must be a positive number"):
        plot_tree(iris_tree, fontsize=0)
    with pytest.raises(ValueError, match="max_depth must be a whole number"):
        plot_tree(iris_tree, max_depth="all")


def test_without_matplotlib_the_extra_is_named(iris_tree, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install weald\[plot\]"):
        plot_tree(iris_tree)
