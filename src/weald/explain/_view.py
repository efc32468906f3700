"""One reading of a fitted tree, and the words for the test in each of its nodes.

Everything that shows a tree (text, drawing, Graphviz, the path of a row) goes through
`TreeView`, so that all of them say the same thing in the same words. weald's own trees
and scikit-learn's are read alike; a scikit-learn tree simply has no categorical test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

LONGEST_SET = 5  # labels shown of a category set before it is cut short with a count

Operator = Literal["<=", ">", "in", "not in", "is"]


@dataclass(frozen=True)
class Split:
    """The test of one inner node: a threshold on a number, or a set of categories."""

    node: int
    column: int
    name: str
    threshold: float
    """NaN for a categorical test; +inf sends present values left and missing ones right."""
    left_labels: tuple[object, ...] | None
    """Categories that go left; None for a numeric test."""
    right_labels: tuple[object, ...] | None
    missing_left: bool

    @property
    def is_presence(self) -> bool:
        """Whether the test only asks if there is a value at all."""
        return self.left_labels is None and math.isinf(self.threshold) and self.threshold > 0

    def parts(self, left: bool, number: Callable[[float], str]) -> tuple[str, Operator, str]:
        """Column, operator and operand, as text, of what holds on one side of the node."""
        if self.left_labels is None or self.right_labels is None:
            if self.is_presence:
                return self.name, "is", "present" if left else "missing"
            return self.name, "<=" if left else ">", number(self.threshold)
        # A very long left set is easier to read as "all but" the shorter right one.
        n_left, n_right = len(self.left_labels), len(self.right_labels)
        flipped = n_left > LONGEST_SET and n_right < n_left
        labels = self.right_labels if flipped else self.left_labels
        return self.name, "in" if left != flipped else "not in", set_words(labels)


@dataclass(frozen=True)
class TreeView:
    """A fitted tree as plain arrays and names, whoever fitted it."""

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: NDArray[np.float64]
    impurity: NDArray[np.float64]
    n_rows: NDArray[np.intp]
    weight: NDArray[np.float64]
    value: NDArray[np.float64]
    """Class shares or the mean, shape (nodes, outputs, classes or 1)."""
    missing_left: NDArray[np.bool_]
    sides: Callable[[int], tuple[tuple[object, ...], tuple[object, ...]] | None]
    """Labels that go left and right at a node; None for a numeric test."""
    names: list[str]
    classes: list[NDArray[Any]] | None
    """Labels per output; None for a regressor."""
    class_names: list[list[str]] | None
    costs: NDArray[np.float64] | None
    criterion: str

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.left)

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return int(self.value.shape[1])

    def is_leaf(self, node: int) -> bool:
        """Whether a node has no test."""
        return bool(self.left[node] < 0)

    def children(self, node: int) -> tuple[int, int]:
        """Left and right child; -1 for a leaf."""
        return int(self.left[node]), int(self.right[node])

    def split(self, node: int) -> Split:
        """The test of an inner node."""
        column = int(self.feature[node])
        left_labels, right_labels = self.sides(node) or (None, None)
        return Split(
            node=node,
            column=column,
            name=self.names[column],
            threshold=float(self.threshold[node]),
            left_labels=left_labels,
            right_labels=right_labels,
            missing_left=bool(self.missing_left[node]),
        )

    def numbers(self, node: int, *, shares: bool = False) -> list[list[float]]:
        """Per output: weight of each class (or its share), or the predicted number alone."""
        if self.classes is None:
            return [[float(v)] for v in self.value[node, :, 0]]
        scale = 1.0 if shares else float(self.weight[node])
        return [
            [float(v) * scale for v in self.value[node, k, : len(labels)]]
            for k, labels in enumerate(self.classes)
        ]

    def class_index(self, node: int, output: int = 0) -> int:
        """Position in the labels of the class a row in this node is given."""
        if self.classes is None:
            raise ValueError("A regressor's node has no class.")
        shares = self.value[node, output, : len(self.classes[output])]
        if self.costs is not None:
            return int(np.argmin(shares @ self.costs))
        return int(np.argmax(shares))

    def class_words(self, node: int) -> str:
        """Name of the class given in this node, one per output."""
        if self.class_names is None:
            raise ValueError("A regressor's node has no class.")
        return ", ".join(
            names[self.class_index(node, k)] for k, names in enumerate(self.class_names)
        )

    def heights(self) -> NDArray[np.intp]:
        """Levels below and including each node: 1 for a leaf."""
        height = np.ones(self.n_nodes, dtype=np.intp)
        for node in range(self.n_nodes - 1, -1, -1):  # a child always has the larger index
            if not self.is_leaf(node):
                height[node] = 1 + max(height[child] for child in self.children(node))
        return height


def read_tree(
    decision_tree: Any,
    feature_names: Iterable[object] | None = None,
    class_names: Iterable[Any] | bool | None = None,
) -> TreeView:
    """Read a fitted weald or scikit-learn tree.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree: an estimator with a ``tree_``.
    feature_names : sequence of str, optional
        One name per column. Default: the names seen in ``fit``, else ``feature_0``, ...
    class_names : sequence of str, optional
        One name per class, in the order of ``classes_`` (with several outputs, one such
        sequence per output). Default, and for True or False: the labels themselves.
    """
    # Imported here so that the command line can show its help without scikit-learn.
    from sklearn.base import is_classifier
    from sklearn.utils.validation import check_is_fitted

    if isinstance(decision_tree, type) or not hasattr(decision_tree, "fit"):
        raise TypeError(
            f"decision_tree must be a fitted tree estimator, got {type(decision_tree).__name__}."
        )
    check_is_fitted(decision_tree)
    if not hasattr(decision_tree, "tree_"):
        raise TypeError(
            f"decision_tree must be a single tree, got {type(decision_tree).__name__}; of an "
            "ensemble pass one member."
        )
    tree = decision_tree.tree_
    classes: list[NDArray[Any]] | None = None
    if is_classifier(decision_tree):
        labels = decision_tree.classes_
        classes = [np.asarray(c) for c in (labels if tree.n_outputs > 1 else [labels])]
    costs = getattr(decision_tree, "_costs", None)
    return TreeView(
        left=np.asarray(tree.children_left, dtype=np.intp),
        right=np.asarray(tree.children_right, dtype=np.intp),
        feature=np.asarray(tree.feature, dtype=np.intp),
        threshold=np.asarray(tree.threshold, dtype=np.float64),
        impurity=np.asarray(tree.impurity, dtype=np.float64),
        n_rows=np.asarray(tree.n_node_samples, dtype=np.intp),
        weight=np.asarray(tree.weighted_n_node_samples, dtype=np.float64),
        value=np.asarray(tree.value, dtype=np.float64),
        missing_left=np.asarray(tree.missing_go_to_left, dtype=np.bool_),
        sides=partial(_category_sides, decision_tree),
        names=_feature_names(decision_tree, feature_names),
        classes=classes,
        class_names=None if classes is None else _class_names(classes, class_names),
        costs=None if costs is None else np.asarray(costs, dtype=np.float64),
        criterion=str(getattr(decision_tree, "criterion", "impurity")),
    )


def _category_sides(
    decision_tree: Any, node: int
) -> tuple[tuple[object, ...], tuple[object, ...]] | None:
    """Labels that go left and right at a categorical node; None at another."""
    tree = decision_tree.tree_
    if not hasattr(tree, "is_categorical") or not tree.is_categorical[node]:
        return None
    labels = np.asarray(decision_tree.categories_[int(tree.feature[node])])
    left, right = (tuple(labels[codes].tolist()) for codes in tree.category_sides(node))
    return left, right


def _feature_names(decision_tree: Any, given: Iterable[object] | None) -> list[str]:
    n_columns = int(decision_tree.tree_.n_features)
    if given is None:
        given = getattr(decision_tree, "feature_names_in_", None)
    if given is None:
        return [f"feature_{j}" for j in range(n_columns)]
    names = [str(name) for name in given]
    if len(names) != n_columns:
        raise ValueError(
            f"feature_names must hold one name for each of the {n_columns} columns, "
            f"got {len(names)}."
        )
    return names


def _class_names(
    classes: list[NDArray[Any]], given: Iterable[Any] | bool | None
) -> list[list[str]]:
    if given is None or isinstance(given, bool):
        return [[str(label) for label in labels.tolist()] for labels in classes]
    rows: list[Any] = list(given)
    per_output = [rows] if len(classes) == 1 else rows
    if len(per_output) != len(classes) or any(isinstance(names, str) for names in per_output):
        raise ValueError(
            f"class_names must hold one list of names for each of the {len(classes)} outputs."
        )
    found = [[str(name) for name in names] for names in per_output]
    for names, labels in zip(found, classes, strict=True):
        if len(names) != len(labels):
            raise ValueError(
                f"class_names must hold one name for each of the {len(labels)} classes, "
                f"got {len(names)}."
            )
    return found


def set_words(labels: Sequence[object]) -> str:
    """Category set as text, ``{red, blue}``; a long one is cut short with a count."""
    kept = LONGEST_SET - 1 if len(labels) > LONGEST_SET else len(labels)
    shown = [label_words(label) for label in labels[:kept]]
    if kept < len(labels):
        shown.append(f"+{len(labels) - kept} more")
    return "{" + ", ".join(shown) + "}"


def label_words(label: object) -> str:
    """One category as text, quoted where it could be misread inside a set."""
    if isinstance(label, float):
        return number_words(label)
    text = str(label)
    misread = not text or text != text.strip() or any(c in "{},'\"\n\r\t" for c in text)
    return repr(text) if misread else text


def number_words(number: float, digits: int = 6) -> str:
    """Number as people write it: `digits` digits, no trailing zeros, rarely an exponent."""
    if number == 0 or not math.isfinite(number):
        return "0" if number == 0 else str(number)
    power = math.floor(math.log10(abs(number)))
    if not -5 <= power < 15:
        return f"{number:.{digits}g}"
    text = f"{number:.{max(0, digits - 1 - power)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def is_missing(cell: object) -> bool:
    """Whether a cell of a data frame or array holds no value."""
    # pandas.NA refuses to be compared, so it is known by the name of its type.
    return cell is None or type(cell).__name__ == "NAType" or bool(cell != cell)
