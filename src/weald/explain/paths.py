"""Why one row gets its prediction: the tests on its way through the tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from weald.explain._view import (
    Split,
    TreeView,
    is_missing,
    label_words,
    number_words,
    read_tree,
    set_words,
)

Outcome = Literal["<=", ">", "in", "not in", "is present", "is missing", "is unknown"]


@dataclass(frozen=True)
class Condition:
    """One test that a row met on its way, and how it came out."""

    node: int
    """Index of the node that holds the test."""
    column: int
    """Index of the tested column."""
    feature: str
    """Name of the tested column."""
    operator: Outcome
    """What holds for the row. A category never seen in training "is unknown"."""
    threshold: float | None
    """The node's threshold; None for a categorical test."""
    categories: tuple[object, ...] | None
    """The node's category set, the one that ``in`` or ``not in`` speaks of; None if numeric."""
    value: object
    """The row's own value; None where it is missing."""

    def __str__(self) -> str:
        return _merged_words([self])


@dataclass(frozen=True)
class RowPath:
    """The way of one row from the root to its leaf. ``str()`` gives it as one sentence."""

    prediction: object
    """What the tree predicts: a label or a number; a tuple with several outputs."""
    conditions: tuple[Condition, ...]
    """The tests from the root down."""
    leaf: int
    """Index of the leaf's node."""
    value: tuple[float, ...] | tuple[tuple[float, ...], ...]
    """The leaf's class shares, or its number; one such tuple per output if several."""
    words: str
    """The prediction as text, with the class's name."""

    def __str__(self) -> str:
        by_column: dict[int, list[Condition]] = {}
        for condition in self.conditions:
            by_column.setdefault(condition.column, []).append(condition)
        if not by_column:
            return f"predicts {self.words} for every row because the tree has no test"
        reasons = " and ".join(_merged_words(group) for group in by_column.values())
        return f"predicts {self.words} because {reasons}"


def explain_path(
    decision_tree: Any,
    X: Any,
    *,
    feature_names: Iterable[object] | None = None,
    class_names: Iterable[Any] | None = None,
) -> list[RowPath]:
    """Tell for each row which tests lead to its prediction.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of weald or scikit-learn.
    X : array, data frame or sparse matrix
        The rows, as for ``predict``.
    feature_names : sequence of str, optional
        One name per column. Default: the names seen in ``fit``, else ``feature_0``, ...
    class_names : sequence of str, optional
        One name per class in the order of ``classes_``. Default: the labels.

    Returns
    -------
    list of RowPath
        One per row. Print it for a sentence that has one reason per column.

    Examples
    --------
    >>> from weald import DecisionTreeRegressor
    >>> from weald.explain import explain_path
    >>> heights = [[175], [180], [175], [172], [165], [169], [170]]
    >>> ages = [20, 32, 40, 28, 22, 40, 70]
    >>> tree = DecisionTreeRegressor(max_depth=1).fit(heights, ages)
    >>> print(explain_path(tree, [[168]], feature_names=["height"])[0])
    predicts 44 because height <= 171
    """
    view = read_tree(decision_tree, feature_names, class_names)
    leaves = np.asarray(decision_tree.apply(X)).tolist()
    predictions = np.asarray(decision_tree.predict(X))
    parent = {child: n for n in range(view.n_nodes) for child in view.children(n) if child >= 0}
    ways = {leaf: _way_to(leaf, parent, view) for leaf in set(leaves)}
    tests = {n: view.split(n) for n in sorted({n for way in ways.values() for n, _ in way})}
    columns = {test.column for test in tests.values()}
    cells = _columns_of(X, columns)
    return [
        RowPath(
            prediction=_plain(predictions[i]),
            conditions=tuple(
                _condition(tests[node], went_left, cells[tests[node].column][i])
                for node, went_left in ways[leaf]
            ),
            leaf=leaf,
            value=_leaf_value(view, leaf),
            words=_prediction_words(view, predictions[i]),
        )
        for i, leaf in enumerate(leaves)
    ]


def _way_to(leaf: int, parent: dict[int, int], view: TreeView) -> list[tuple[int, bool]]:
    """Inner nodes from the root to a leaf, each with whether the way turns left there."""
    way: list[tuple[int, bool]] = []
    node = leaf
    while node in parent:
        above = parent[node]
        way.append((above, view.children(above)[0] == node))
        node = above
    return way[::-1]


def _columns_of(X: Any, columns: set[int]) -> dict[int, list[object]]:
    """The raw cells of the wanted columns, missing ones as None."""
    if hasattr(X, "tocsc"):
        sparse = X.tocsc()
        found = {j: sparse[:, [j]].toarray().ravel().tolist() for j in columns}
    elif hasattr(X, "columns") or hasattr(X, "column_names"):
        import narwhals.stable.v2 as nw

        frame = nw.from_native(nw.to_native(X, pass_through=True), eager_only=True)
        series = list(frame.iter_columns())  # by position: names may be numbers
        found = {j: series[j].to_list() for j in columns}
    else:
        # As objects: a plain conversion would turn a list of mixed cells into text.
        table = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
        found = {j: table[:, j].tolist() for j in columns}
    return {j: [None if is_missing(cell) else cell for cell in cells] for j, cells in found.items()}


def _condition(split: Split, went_left: bool, cell: object) -> Condition:
    operator: Outcome
    categories: tuple[object, ...] | None = None
    if split.left_labels is not None and split.right_labels is not None:
        own, other = split.left_labels, split.right_labels
        if not went_left:
            own, other = other, own
        # The row's own side, unless the other one is shorter to name.
        operator, categories = ("in", own) if len(own) <= len(other) else ("not in", other)
        if cell is not None and not _is_known(cell, split):
            operator = "is unknown"
    elif split.is_presence:
        operator = "is present"
    else:
        operator = "<=" if went_left else ">"
    if cell is None:
        operator = "is missing"
    return Condition(
        node=split.node,
        column=split.column,
        feature=split.name,
        operator=operator,
        threshold=None if categories is not None else split.threshold,
        categories=categories,
        value=cell,
    )


def _is_known(cell: object, split: Split) -> bool:
    labels = (*(split.left_labels or ()), *(split.right_labels or ()))
    return cell in labels or str(cell) in map(str, labels)


def _merged_words(conditions: list[Condition]) -> str:
    """All conditions on one column as one phrase, ``150 < height <= 171``."""
    name, cell = conditions[0].feature, conditions[0].value
    operators = {condition.operator for condition in conditions}
    if "is missing" in operators:
        return f"{name} is missing"
    if "is unknown" in operators:
        return f"{name} is unknown ({label_words(cell)})"
    named = [c.categories for c in conditions if c.operator == "in" and c.categories is not None]
    barred = [c.categories for c in conditions if c.operator == "not in" and c.categories]
    banned = {label for labels in barred for label in labels}
    if named:
        common = set.intersection(*map(set, named)) - banned
        kept = [label for label in named[0] if label in common]
        return f"{name} in {set_words(kept)}"
    if barred:
        return f"{name} not in {set_words(list(dict.fromkeys(x for b in barred for x in b)))}"
    above = [c.threshold for c in conditions if c.operator == ">" and c.threshold is not None]
    below = [c.threshold for c in conditions if c.operator == "<=" and c.threshold is not None]
    if above and below:
        low, high = max(above), min(below)
        digits = 6
        while number_words(low, digits) == number_words(high, digits) and digits < 17:
            digits += 1  # two close thresholds must not read as one number
        return f"{number_words(low, digits)} < {name} <= {number_words(high, digits)}"
    if above:
        return f"{name} > {number_words(max(above))}"
    if below:
        return f"{name} <= {number_words(min(below))}"
    return f"{name} is present"


def _plain(item: Any) -> object:
    """A NumPy scalar or row as plain Python."""
    if isinstance(item, np.ndarray):
        return tuple(item.tolist())
    return item.item() if isinstance(item, np.generic) else item


def _leaf_value(view: TreeView, leaf: int) -> tuple[float, ...] | tuple[tuple[float, ...], ...]:
    per_output = tuple(tuple(numbers) for numbers in view.numbers(leaf, shares=True))
    return per_output[0] if len(per_output) == 1 else per_output


def _prediction_words(view: TreeView, prediction: Any) -> str:
    outputs = [prediction] if view.n_outputs == 1 else list(prediction)
    if view.classes is None or view.class_names is None:
        words = [number_words(float(output)) for output in outputs]
    else:
        words = [
            names[int(np.flatnonzero(labels == output)[0])]
            for output, labels, names in zip(outputs, view.classes, view.class_names, strict=True)
        ]
    return words[0] if len(words) == 1 else "(" + ", ".join(words) + ")"
