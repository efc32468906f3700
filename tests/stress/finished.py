"""A finished tree against its own rows, in NumPy: no code of the engine takes part.

The rows go down the tree by its public arrays. Then every node must say what its rows say, and the
splits of some nodes must be as good as the best of all cuts.
"""

from dataclasses import dataclass, field

import numpy as np

SHARES = ("gini", "entropy", "log_loss", "misclassification")


@dataclass(frozen=True)
class Lesson:
    """A tree, and what it was grown from.

    Attributes
    ----------
    X : array of shape (n, d)
        With the codes of categories.
    Y : array of shape (n, outputs) or None
        Class codes, numbers, or for criterion "gradient" the sums' terms ``-w g``. None if they
        are not known; then only the shape of the tree is looked at.
    w : array of shape (n,) or None
        Weights; for "gradient" the terms ``w h``. None if they are not known.
    classes : tuple of int
        Classes of each output; empty for numbers.
    rules : dict
        Parameters of the tree.
    close : float
        To how much of the whole weight, or of the targets' size, sums are exact.
    """

    tree: object
    X: np.ndarray
    Y: np.ndarray | None
    w: np.ndarray | None
    criterion: str
    rules: dict
    categorical: list
    classes: tuple = ()
    close: float = 1e-9
    l2: float = 0.0
    leaves: np.ndarray | None = None  # what leaves are to say, by rule of the ensemble
    extra: dict = field(default_factory=dict)


class Wrong(AssertionError):  # noqa: N818
    """What must hold does not."""


def must(holds, text):
    if not np.all(holds):
        raise Wrong(text)


# --- rows down a tree ---------------------------------------------------------------------------


def left_sets(tree):
    """Which codes go left at each node that tests categories: (place of the node, table)."""
    nodes = np.flatnonzero(tree.is_categorical)
    place = np.zeros(tree.node_count, dtype=int)
    place[nodes] = np.arange(len(nodes))
    table = np.zeros((len(nodes), int(max([*tree.n_categories, 1]))), dtype=bool)
    for k, i in enumerate(nodes):
        table[k, tree.left_categories(i)] = True
    return place, table


def pairs(tree, X, rows):
    """All (row, node) pairs such that the row passes the node."""
    place, sets = left_sets(tree)
    node = np.zeros(len(rows), dtype=int)
    found = []
    while len(rows):
        found.append((rows, node))
        inner = tree.children_right[node] >= 0
        rows, node = rows[inner], node[inner]
        x = X[rows, tree.feature[node]]
        missing = np.isnan(x)
        left = x <= tree.threshold[node]
        by_set = tree.is_categorical[node] & ~missing
        if by_set.any():
            left[by_set] = sets[place[node[by_set]], x[by_set].astype(int)]
        left[missing] = tree.missing_go_to_left[node[missing]]
        node = np.where(left, tree.children_left[node], tree.children_right[node])
    return tuple(np.concatenate(part) for part in zip(*found, strict=True))


# --- what nodes say -----------------------------------------------------------------------------


def class_sums(lesson, row, node, k):
    n = lesson.classes[k]
    place = node * n + lesson.Y[row, k].astype(int)
    sums = np.bincount(place, lesson.w[row], minlength=lesson.tree.node_count * n)
    return sums.reshape(-1, n)


def share_impurity(p, criterion):
    if criterion == "gini":
        return 1 - (p**2).sum(axis=1)
    if criterion == "misclassification":
        return 1 - p.max(axis=1)
    logs = np.log2(p, out=np.zeros_like(p), where=p > 0)
    return -(p * logs).sum(axis=1)


def check_shares(lesson, row, node, W):
    """Values and impurities of a tree of classes."""
    tree, impurity = lesson.tree, 0.0
    doubt = lesson.close * W[0] / W
    bounds = lesson.rules.get("monotonic_cst") is not None  # they move what nodes say
    for k in range(len(lesson.classes)):
        p = class_sums(lesson, row, node, k) / W[:, None]
        said = tree.value[:, k, : p.shape[1]]
        off = np.abs(said - p) > doubt[:, None] + 1e-9
        must(~off | bounds, "a node says other shares than its rows")
        must(tree.value[:, k, p.shape[1] :] == 0, "a share of a class that is none")
        impurity = impurity + share_impurity(p, lesson.criterion) / len(lesson.classes)
    return impurity, 1e-7 + 20 * doubt


def node_means(lesson, row, node, W, k):
    """Means of the targets, counted from where they are in the middle of."""
    y = lesson.Y[:, k]
    middle = float(np.median(y))
    w = lesson.w[row]
    mean = np.bincount(node, w * (y[row] - middle), minlength=len(W)) / W
    return y - middle, mean, middle


def medians(y, w, node, n_nodes):
    """Least and largest weighted median of each node."""
    order = np.lexsort((y, node))
    y, w, node = y[order], w[order], node[order]
    whole = np.cumsum(w)
    begin = np.searchsorted(node, np.arange(n_nodes))
    before = np.r_[0.0, whole][begin]
    total = np.r_[0.0, whole][np.searchsorted(node, np.arange(n_nodes), "right")] - before
    slack = 1e-9 * total
    last = np.searchsorted(node, np.arange(n_nodes), "right") - 1
    low = np.searchsorted(whole, before + total / 2 - slack)
    high = np.searchsorted(whole, before + total / 2 + slack)
    return y[np.clip(low, begin, last)], y[np.clip(high, begin, last)]


def sure_nodes(lesson):
    """Which nodes say a median: in a forest those above the leaves are worked out from these."""
    if lesson.criterion != "absolute_error" or "rows" in lesson.extra:
        return np.ones(lesson.tree.node_count, dtype=bool)
    return lesson.tree.children_left < 0


def check_numbers(lesson, row, node, W):
    """Values and impurities of a tree of numbers; impurities as far as they are sure."""
    tree, impurity, doubt = lesson.tree, 0.0, 0.0
    bounds = lesson.rules.get("monotonic_cst") is not None  # they move what nodes say
    for k in range(lesson.Y.shape[1]):
        y, mean, middle = node_means(lesson, row, node, W, k)
        size = float(np.abs(y).max()) + abs(middle) * 1e-6 + 1e-300
        said = tree.value[:, k, 0] - middle
        if lesson.criterion == "absolute_error":
            low, high = medians(y[row], lesson.w[row], node, len(W))
            inside = (said >= low - 1e-9 * size) & (said <= high + 1e-9 * size)
            must(
                inside | bounds | ~sure_nodes(lesson),
                "a node says something else than a median of its rows",
            )
            terms = np.abs(y[row] - said[node])
            doubt = doubt + 1e-7 * size
        else:
            off = np.abs(said - mean) > lesson.close * size * W[0] / W + 1e-9 * size
            must(~off | bounds, "a node says something else than the mean of its rows")
            terms = (y[row] - mean[node]) ** 2
            doubt = doubt + 1e-7 * size**2 + 20 * lesson.close * size**2 * W[0] / W
        if lesson.criterion == "poisson":
            whole, of_node = lesson.Y[row, k], mean[node] + middle
            ratio = np.divide(whole, of_node, out=np.ones_like(whole), where=whole > 0)
            terms = whole * np.log(ratio)
        part = np.bincount(node, lesson.w[row] * terms, minlength=len(W)) / W
        impurity = impurity + part / lesson.Y.shape[1]
    return impurity, doubt


# --- the tree -----------------------------------------------------------------------------------


def check_shape(tree, rules, depth, counts, root_rows):
    """Limits hold, and no side of a split is empty."""
    inner = tree.children_left >= 0
    leaves = int((~inner).sum())
    must(counts > 0, "a node without rows")
    must(tree.n_node_samples == counts, "a node counts other rows than reach it")
    must(tree.children_left[inner] == np.flatnonzero(inner) + 1, "not in pre-order")
    sides = tree.children_left[inner], tree.children_right[inner]
    must(counts[inner] == counts[sides[0]] + counts[sides[1]], "rows get lost between nodes")
    if rules.get("max_depth"):
        must(depth <= rules["max_depth"], "deeper than max_depth")
    if isinstance(rules.get("max_leaf_nodes"), int):
        must(leaves <= rules["max_leaf_nodes"], "more leaves than max_leaf_nodes")
    least = rules.get("min_samples_leaf", 1)
    if isinstance(least, float):
        least = int(np.ceil(least * root_rows)) if root_rows else 1
    if tree.node_count > 1:
        must(counts >= least, "a leaf of fewer rows than min_samples_leaf")
    enough = rules.get("min_samples_split", 2)
    if isinstance(enough, int):
        must(counts[inner] >= enough, "a split of fewer rows than min_samples_split")


def check_directions(tree, directions):
    """Left of a rising column no leaf says more than any leaf right of it."""
    said = tree.value[:, 0, -1]
    leaf = tree.children_left < 0
    end = ends(tree)
    low, high = np.where(leaf, said, np.inf), np.where(leaf, said, -np.inf)
    rounding = 1e-15 * float(np.abs(said[leaf]).max())
    for i in np.flatnonzero(~leaf):
        sign = directions[tree.feature[i]]
        if sign == 0:
            continue
        right = int(tree.children_right[i])
        if sign > 0:
            fine = high[i + 1 : right].max() <= low[right : end[i]].min() + rounding
        else:
            fine = low[i + 1 : right].min() + rounding >= high[right : end[i]].max()
        must(fine, "a monotone column and leaves that are not")


def ends(tree):
    """One past the last node below each node, in pre-order."""
    end = np.arange(1, tree.node_count + 1)
    for i in range(tree.node_count - 1, -1, -1):
        if tree.children_left[i] >= 0:
            end[i] = end[tree.children_right[i]]
    return end


def check_groups(tree, groups):
    """Columns of a branch lie in one group."""
    used = {0: frozenset()}
    for i in np.flatnonzero(tree.children_left >= 0):
        below = used[int(i)] | {int(tree.feature[i])}
        must(any(below <= set(group) for group in groups), "columns that must not meet have met")
        used[int(tree.children_left[i])] = used[int(tree.children_right[i])] = below


def check_tree(lesson):
    """Everything but the quality of splits; gives the (row, node) pairs, and the leaf of each row.

    Rows without weight have no part in the pairs, but a leaf.
    """
    tree, rules = lesson.tree, lesson.rules
    # A second derivative of 0 (a probability of 1, but for rounding) makes no row absent.
    given = lesson.w is None or lesson.criterion == "gradient"
    there = lesson.extra["there"] if given else lesson.w > 0
    row, node = pairs(tree, lesson.X, np.arange(len(lesson.X)))
    leaf = np.empty(len(lesson.X), dtype=int)
    leaf[row] = node  # the last one counts
    row, node = row[there[row]], node[there[row]]
    counts = np.bincount(node, minlength=tree.node_count)
    must(len(counts) == tree.node_count, "a child that is not there")
    if not lesson.extra.get("rows unknown"):
        check_shape(tree, rules, tree.depth, counts, lesson.extra.get("rows"))
    if rules.get("monotonic_cst") is not None:
        check_directions(tree, rules["monotonic_cst"])
    if lesson.extra.get("groups"):
        check_groups(tree, lesson.extra["groups"])
    if lesson.w is None:
        return row, node, leaf
    W = np.bincount(node, lesson.w[row], minlength=tree.node_count)
    off = np.abs(tree.weighted_n_node_samples - W)
    unit = lesson.close * W[0] + lesson.extra.get("unit", 0.0)
    must(off <= 1e-9 * W + unit, "a node weighs something else than its rows")
    fraction = rules.get("min_weight_fraction_leaf", 0.0)
    if fraction and tree.node_count > 1 and lesson.criterion != "gradient":
        must(fraction * W[0] * (1 - 1e-6) <= W, "a leaf lighter than min_weight_fraction_leaf")
    if lesson.leaves is not None:
        is_leaf = tree.children_left < 0
        said = tree.value.reshape(tree.node_count, -1)
        low, high = lesson.leaves(row, node)
        must(~is_leaf[:, None] | ((said >= low) & (said <= high)), "a leaf takes another step")
    if lesson.criterion == "gradient" or lesson.Y is None:
        return row, node, leaf
    check = check_shares if lesson.classes else check_numbers
    impurity, doubt = check(lesson, row, node, W)
    if rules.get("monotonic_cst") is None:  # it is about what nodes say
        fine = (np.abs(tree.impurity - impurity) <= doubt) | ~sure_nodes(lesson)
        must(fine, "a node of another impurity")
    return row, node, leaf
