"""A decision tree that tries every split of every column: slow, short, easy to check by hand.

It shares no code with the engine. Everything is recomputed from the rows of a node, nothing is
updated incrementally, so a mistake in a running sum cannot hide here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

import numpy as np

EPS = float(np.finfo(np.float64).eps)
CLASSIFICATION = ("gini", "entropy", "misclassification")
REGRESSION = ("squared_error", "absolute_error", "poisson")


@dataclass(frozen=True)
class Table:
    """Training rows: X (n, d) with NaN for missing, Y (n, outputs), weights, column kinds."""

    X: np.ndarray
    Y: np.ndarray
    w: np.ndarray
    categorical: tuple[bool, ...]
    n_classes: tuple[int, ...] | None = None  # per output; None for regression

    @property
    def rows(self) -> np.ndarray:
        """Rows that count: a row of weight zero acts as if absent."""
        return np.flatnonzero(self.w > 0)

    @property
    def total_weight(self) -> float:
        return float(self.w.sum())


@dataclass(frozen=True)
class Rules:
    """Criterion and stop rules, in scikit-learn's meaning."""

    criterion: str
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None


@dataclass(frozen=True)
class Split:
    """A test on one column: `x <= threshold`, or `code in left_codes`, goes left."""

    feature: int
    threshold: float = np.nan
    left_codes: frozenset[int] | None = None
    missing_left: bool = False

    def sends_left(self, x: np.ndarray) -> np.ndarray:
        """Which values of the column go left."""
        if self.left_codes is None:
            left = x <= self.threshold
        else:
            left = np.isin(x, sorted(self.left_codes))
        return np.where(np.isnan(x), self.missing_left, left)

    def goes_left(self, X: np.ndarray) -> np.ndarray:
        """Which rows of a matrix go left."""
        return self.sends_left(X[:, self.feature])


# --- impurities: one output, weights w > 0 ----------------------------------------------------


def class_shares(y: np.ndarray, w: np.ndarray, n_classes: int) -> np.ndarray:
    return np.bincount(y.astype(int), weights=w, minlength=n_classes) / w.sum()


def median_interval(y: np.ndarray, w: np.ndarray) -> tuple[float, float]:
    """Smallest and largest number that minimise `sum w |y - m|`; they differ on an even cut."""
    order = np.argsort(y, kind="stable")
    y, cumulative, half = y[order], np.cumsum(w[order]), w.sum() / 2
    slack = 1e-12 * half
    low = y[np.flatnonzero(cumulative >= half - slack)[0]]
    high = y[np.flatnonzero(cumulative > half + slack)[0]]
    return float(low), float(high)


def impurity_of_output(y: np.ndarray, w: np.ndarray, criterion: str, n_classes: int) -> float:
    if criterion in CLASSIFICATION:
        p = class_shares(y, w, n_classes)
        if criterion == "gini":
            return float(np.sum(p * (1 - p)))
        if criterion == "entropy":
            return float(-np.sum(p[p > 0] * np.log2(p[p > 0])))
        return float(1 - p.max())
    y = y.astype(float)
    mean = np.average(y, weights=w)
    if criterion == "squared_error":
        return float(np.average((y - mean) ** 2, weights=w))
    if criterion == "absolute_error":
        return float(np.average(np.abs(y - np.mean(median_interval(y, w))), weights=w))
    # Half the Poisson deviance; its terms `mean - y` cancel because the leaf predicts the mean.
    positive = y > 0
    terms = np.zeros_like(y)
    terms[positive] = y[positive] * np.log(y[positive] / mean)
    return float(np.average(terms, weights=w))


def impurity(table: Table, rows: np.ndarray, criterion: str) -> float:
    """Impurity of a node: the mean over the outputs."""
    kinds = table.n_classes or (1,) * table.Y.shape[1]
    return float(
        np.mean(
            [
                impurity_of_output(table.Y[rows, k], table.w[rows], criterion, n)
                for k, n in enumerate(kinds)
            ]
        )
    )


def node_value(table: Table, rows: np.ndarray, criterion: str) -> np.ndarray:
    """What a node says, shape (outputs, max classes): class shares, mean or median."""
    Y, w = table.Y[rows], table.w[rows]
    if table.n_classes is not None:
        value = np.zeros((Y.shape[1], max(table.n_classes)))
        for k, n in enumerate(table.n_classes):
            value[k, :n] = class_shares(Y[:, k], w, n)
        return value
    if criterion == "absolute_error":
        numbers = [np.mean(median_interval(Y[:, k], w)) for k in range(Y.shape[1])]
    else:
        numbers = [np.average(Y[:, k], weights=w) for k in range(Y.shape[1])]
    return np.array(numbers)[:, None]


# --- candidate splits -------------------------------------------------------------------------


def midpoint(low: float, high: float) -> float:
    """Halfway between neighbours; the lower one where no number lies between them."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def two_group_partitions(codes: np.ndarray) -> Iterator[frozenset[int]]:
    """Every way to send some codes left and the others right; the first code is always left."""
    first, others = int(codes[0]), [int(c) for c in codes[1:]]
    for size in range(len(others)):
        for chosen in combinations(others, size):
            yield frozenset((first, *chosen))


def candidate_splits(
    x: np.ndarray, w: np.ndarray, feature: int, categorical: bool
) -> Iterator[Split]:
    """All splits of one column over a node's values `x` and weights, missing right before left."""
    present = np.unique(x[~np.isnan(x)])
    any_missing = bool(np.isnan(x).any())
    if len(present) == 0:
        return
    if categorical:
        tests = [Split(feature, left_codes=left) for left in two_group_partitions(present)]
        everyone = Split(feature, left_codes=frozenset(int(c) for c in present))
    else:
        tests = [Split(feature, threshold=midpoint(*pair)) for pair in pairwise(present)]
        everyone = Split(feature, threshold=np.inf)
    if not any_missing:
        for test in tests:
            weight_left = float(np.sum(w[test.sends_left(x)]))
            yield replace(test, missing_left=weight_left > float(np.sum(w)) - weight_left)
        return
    yield from tests
    yield everyone  # present values left, missing right
    yield from (replace(test, missing_left=True) for test in tests)


# --- judging a split --------------------------------------------------------------------------


def gain(table: Table, rows: np.ndarray, split: Split, criterion: str) -> float:
    """`Q(node) - sum_child (W_child / W) Q(child)`."""
    left = split.goes_left(table.X[rows])
    W = table.w[rows].sum()
    children = sum(
        table.w[child].sum() / W * impurity(table, child, criterion)
        for child in (rows[left], rows[~left])
    )
    return impurity(table, rows, criterion) - children


def forbidden(table: Table, rows: np.ndarray, split: Split, rules: Rules) -> str | None:
    """The rule that a split breaks, or None for a valid split."""
    left = split.goes_left(table.X[rows])
    least_weight = rules.min_weight_fraction_leaf * table.total_weight
    for child in (rows[left], rows[~left]):
        if len(child) < max(1, rules.min_samples_leaf):
            return "min_samples_leaf"
        if table.w[child].sum() < least_weight * (1 - 1e-9):
            return "min_weight_fraction_leaf"
        if rules.criterion == "poisson" and np.any(table.w[child] @ table.Y[child] <= EPS):
            return "a Poisson leaf needs a positive sum"
    return None


def must_be_leaf(table: Table, rows: np.ndarray, depth: int, rules: Rules) -> str | None:
    """The rule that makes a node a leaf before any split is looked at, or None."""
    if rules.max_depth is not None and depth >= rules.max_depth:
        return "max_depth"
    if len(rows) < max(rules.min_samples_split, 2 * rules.min_samples_leaf):
        return "too few rows"
    if table.w[rows].sum() < 2 * rules.min_weight_fraction_leaf * table.total_weight:
        return "min_weight_fraction_leaf"
    same = np.all(table.Y[rows] == table.Y[rows[0]])  # rounding may leave a speck of impurity
    if same or impurity(table, rows, rules.criterion) <= EPS:
        return "pure"
    return None


def valid_splits(
    table: Table, rows: np.ndarray, rules: Rules, columns: list[int] | None = None
) -> Iterator[tuple[Split, float]]:
    """Every valid split of the given columns (all, unless told) with its gain."""
    for j in range(table.X.shape[1]) if columns is None else columns:
        for split in candidate_splits(table.X[rows, j], table.w[rows], j, table.categorical[j]):
            if forbidden(table, rows, split, rules) is None:
                yield split, gain(table, rows, split, rules.criterion)


# --- growing ----------------------------------------------------------------------------------


@dataclass
class Node:
    """A node of the oracle's tree; `improvement` is the gain times the node's weight share."""

    rows: np.ndarray
    depth: int
    impurity: float
    value: np.ndarray
    weight: float
    split: Split | None = None
    improvement: float = -np.inf
    children: list["Node"] = field(default_factory=list)

    def preorder(self) -> Iterator["Node"]:
        yield self
        for child in self.children:
            yield from child.preorder()


def grow(table: Table, rules: Rules) -> Node:
    """Grow a tree, best node first; the order matters only when leaves are limited."""

    def new_node(rows: np.ndarray, depth: int) -> Node:
        node = Node(
            rows,
            depth,
            impurity(table, rows, rules.criterion),
            node_value(table, rows, rules.criterion),
            float(table.w[rows].sum()),
        )
        if must_be_leaf(table, rows, depth, rules) is not None:
            return node
        best, best_gain = None, -np.inf
        for split, g in valid_splits(table, rows, rules):
            if g > best_gain + 1e-12 * node.impurity:  # ties: the first wins
                best, best_gain = split, g
        improvement = best_gain * node.weight / table.total_weight
        if best is not None and improvement + EPS >= rules.min_impurity_decrease:
            node.split, node.improvement = best, improvement
        return node

    root = new_node(table.rows, 0)
    frontier, leaves = [root], 1
    while frontier and (rules.max_leaf_nodes is None or leaves < rules.max_leaf_nodes):
        node = frontier.pop(int(np.argmax([f.improvement for f in frontier])))
        if node.split is None:
            continue
        left = node.split.goes_left(table.X[node.rows])
        for child_rows in (node.rows[left], node.rows[~left]):
            child = new_node(child_rows, node.depth + 1)
            node.children.append(child)
            frontier.append(child)
        leaves += 1
    for node in frontier:
        node.split = None
    return root


def apply(root: Node, X: np.ndarray) -> np.ndarray:
    """Pre-order number of the leaf of every row."""
    number = {id(node): i for i, node in enumerate(root.preorder())}
    out = np.empty(len(X), dtype=int)

    def descend(node: Node, which: np.ndarray) -> None:
        out[which] = number[id(node)]
        if node.children:
            left = node.split.goes_left(X[which])
            descend(node.children[0], which[left])
            descend(node.children[1], which[~left])

    descend(root, np.arange(len(X)))
    return out


# --- reading a flat tree: arrays with scikit-learn's names ------------------------------------


def split_of(tree, i: int) -> Split | None:
    """The test of node i, None for a leaf."""
    if tree.children_left[i] == -1:
        return None
    codes = None
    if tree.is_categorical[i]:
        codes = frozenset(int(c) for c in tree.left_categories(i))
    threshold = float(tree.threshold[i])
    return Split(int(tree.feature[i]), threshold, codes, bool(tree.missing_go_to_left[i]))


def walk(tree, X: np.ndarray, rows: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """Route rows by the arrays of a flat tree: (node, depth, rows), in pre-order.

    The order is asserted on the way: each node is met once, at the place of its number.
    """
    stack, visited = [(0, 0, rows)], 0
    while stack:
        i, depth, here = stack.pop()
        assert i == visited
        visited += 1
        yield i, depth, here
        split = split_of(tree, i)
        if split is not None:
            left = split.goes_left(X[here])
            stack.append((int(tree.children_right[i]), depth + 1, here[~left]))
            stack.append((int(tree.children_left[i]), depth + 1, here[left]))
    assert visited == tree.node_count
