"""A fitted tree as indented text rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weald.explain._view import TreeView, read_tree
from weald.params.growth import check_count


def export_text(
    decision_tree: Any,
    *,
    feature_names: Iterable[object] | None = None,
    class_names: Iterable[Any] | None = None,
    max_depth: int | None = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
    show_missing: bool = False,
) -> str:
    """Write the tree as indented rules, one line for each side of a test.

    A numeric tree reads exactly as scikit-learn's function of the same name writes it; a
    categorical test reads ``color in {red, blue}`` and ``color not in {red, blue}``; a test
    for a missing value reads ``height is present`` and ``height is missing``.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of weald or scikit-learn.
    feature_names : sequence of str, optional
        One name per column. Default: the names seen in ``fit``, else ``feature_0``, ...
    class_names : sequence of str, optional
        One name per class in the order of ``classes_``; with several outputs, one such
        sequence per output. Default: the labels.
    max_depth : int or None, default=10
        Deeper branches become one line that tells how many levels were left out.
    spacing : int, default=3
        Width of one step of indentation.
    decimals : int, default=2
        Digits after the point, for thresholds, values and weights.
    show_weights : bool, default=False
        Show the total weight of each class in the leaves of a classifier.
    show_missing : bool, default=False
        Add ``or missing`` to the side that missing values take.

    Returns
    -------
    str
        The rules, one per line.

    Examples
    --------
    >>> from weald import DecisionTreeRegressor
    >>> from weald.explain import export_text
    >>> heights = [[175], [180], [175], [172], [165], [169], [170]]
    >>> ages = [20, 32, 40, 28, 22, 40, 70]
    >>> tree = DecisionTreeRegressor(max_depth=1).fit(heights, ages)
    >>> print(export_text(tree, feature_names=["height"]), end="")
    |--- height <= 171.00
    |   |--- value: [44.00]
    |--- height >  171.00
    |   |--- value: [30.00]
    """
    if max_depth is not None:
        check_count("max_depth", max_depth, least=0)
    check_count("spacing", spacing, least=1)
    check_count("decimals", decimals, least=0)
    view = read_tree(decision_tree, feature_names, class_names)
    heights = view.heights()
    limit = view.n_nodes if max_depth is None else int(max_depth)

    def number(x: float) -> str:
        return f"{x:.{decimals}f}"

    def line(depth: int, text: str) -> str:
        return ("|" + " " * spacing) * depth + "|" + "-" * spacing + " " + text + "\n"

    lines: list[str] = []
    # A stack instead of recursion: a tree may be deeper than Python's recursion limit.
    # An entry is a node to describe or, as text, the line that leads to the next node.
    todo: list[tuple[int, int | str]] = [(0, 0)]
    while todo:
        depth, item = todo.pop()
        if isinstance(item, str):
            lines.append(line(depth, item))
        elif view.is_leaf(item):
            lines.append(line(depth, _leaf_words(view, item, number, show_weights)))
        elif depth > limit:
            lines.append(line(depth, f"truncated branch of depth {heights[item]}"))
        else:
            split = view.split(item)
            for side in (False, True):  # pushed right side first, so that left comes out first
                child = view.children(item)[0 if side else 1]
                name, operator, operand = split.parts(side, number)
                text = f"{name} {operator:<2} {operand}"  # ">" padded to the width of "<="
                if show_missing and side == split.missing_left and not split.is_presence:
                    text += " or missing"
                todo += [(depth + 1, child), (depth, text)]
    return "".join(lines)


def _leaf_words(view: TreeView, node: int, number: Any, show_weights: bool) -> str:
    """What a leaf predicts: its class, or its value per output."""
    if view.classes is None:
        return "value: [" + ", ".join(number(v[0]) for v in view.numbers(node)) + "]"
    words = f"class: {view.class_words(node)}"
    if show_weights:
        per_output = ["[" + ", ".join(map(number, w)) + "]" for w in view.numbers(node)]
        words = f"weights: {', '.join(per_output)} {words}"
    return words
