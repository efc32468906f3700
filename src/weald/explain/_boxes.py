"""What a drawn node shows: its lines of text and its colour. Shared by plot and Graphviz."""

from __future__ import annotations

import colorsys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from weald.explain._view import TreeView
from weald.params.growth import check_count

Label = Literal["all", "root", "none"]
Colour = tuple[float, float, float]

WIDEST_LINE = 36  # characters; longer tests and value lists go on in the next line

# One hue per class, picked to stay apart for colour-blind eyes; more classes go round the
# colour circle by the golden ratio.
_HUES: list[Colour] = [
    (0.90, 0.56, 0.20),
    (0.27, 0.56, 0.82),
    (0.20, 0.64, 0.44),
    (0.78, 0.42, 0.66),
    (0.80, 0.75, 0.25),
    (0.80, 0.36, 0.30),
    (0.40, 0.76, 0.80),
    (0.55, 0.50, 0.75),
]
_VALUE_HUE: Colour = (0.90, 0.56, 0.20)


@dataclass(frozen=True)
class BoxStyle:
    """Which lines a box has, and how."""

    label: Label
    impurity: bool
    node_ids: bool
    proportion: bool
    precision: int
    show_class: bool

    def __post_init__(self) -> None:
        check_count("precision", self.precision, least=0)
        if self.label not in get_args(Label):
            raise ValueError(f"label must be 'all', 'root' or 'none', got {self.label!r}.")


@dataclass(frozen=True)
class DrawnNode:
    """A node of the picture; a cut-off branch is a single node marked `elided`."""

    node: int
    depth: int
    parent: int
    """Position of the parent in the list of drawn nodes; -1 for the root."""
    is_left: bool
    elided: bool


def drawn_nodes(view: TreeView, max_depth: int | None) -> list[DrawnNode]:
    """Nodes to draw in pre-order, each after its parent."""
    limit = view.n_nodes if max_depth is None else check_count("max_depth", max_depth, least=0)
    drawn: list[DrawnNode] = []
    todo = [DrawnNode(0, 0, -1, False, False)]
    while todo:
        item = todo.pop()
        here = len(drawn)
        drawn.append(item)
        if item.elided or view.is_leaf(item.node):
            continue
        left, right = view.children(item.node)
        deeper = item.depth + 1
        for child, is_left in ((right, False), (left, True)):
            todo.append(DrawnNode(child, deeper, here, is_left, deeper > limit))
    return drawn


def box_lines(view: TreeView, node: int, style: BoxStyle) -> list[str]:
    """Lines of text for one node, the test first."""
    labelled = style.label == "all" or (style.label == "root" and node == 0)

    def titled(title: str, text: str) -> str:
        return f"{title} = {text}" if labelled else text

    def number(x: float) -> str:
        return tidy_number(x, style.precision)

    lines: list[str] = []
    if style.node_ids:
        lines.append(f"node #{node}" if labelled else f"#{node}")
    if not view.is_leaf(node):
        lines += _wrapped(" ".join(view.split(node).parts(True, number)))
    if style.impurity:
        lines.append(titled(view.criterion, number(float(view.impurity[node]))))
    if style.proportion:
        share = 100.0 * float(view.n_rows[node]) / float(view.n_rows[0])
        lines.append(titled("samples", f"{share:.1f}%"))
    else:
        lines.append(titled("samples", str(int(view.n_rows[node]))))
    lines += _wrapped(titled("value", _value_words(view, node, style, number)))
    if style.show_class and view.class_names is not None:
        lines += _wrapped(titled("class", view.class_words(node)))
    return lines


def _value_words(view: TreeView, node: int, style: BoxStyle, number: Callable[[float], str]) -> str:
    outputs = view.numbers(node, shares=style.proportion)
    if view.classes is None:
        flat = [number(output[0]) for output in outputs]
        return flat[0] if len(flat) == 1 else "[" + ", ".join(flat) + "]"
    per_output = ["[" + ", ".join(map(number, output)) + "]" for output in outputs]
    return per_output[0] if len(per_output) == 1 else "[" + ", ".join(per_output) + "]"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDEST_LINE, break_long_words=False, break_on_hyphens=False) or [""]


def tidy_number(x: float, precision: int) -> str:
    """Number rounded to `precision` decimals, trailing zeros left out."""
    text = f"{x:.{precision}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def fill_colours(view: TreeView) -> Callable[[int], Colour]:
    """Colour of a node: hue of its class by how sure it is, or depth of colour by its value.

    With several outputs there is no single class or value, so purity decides.
    """
    if view.n_outputs > 1:
        purity = -view.impurity
        return lambda node: _tint(_VALUE_HUE, _position(purity, float(purity[node])))
    if view.classes is None:
        values = view.value[:, 0, 0]
        return lambda node: _tint(_VALUE_HUE, _position(values, float(values[node])))
    n_classes = len(view.classes[0])

    def by_class(node: int) -> Colour:
        winner = view.class_index(node)
        chance = 1.0 / n_classes
        share = float(view.value[node, 0, winner])
        sureness = 1.0 if n_classes == 1 else (share - chance) / (1.0 - chance)
        return _tint(_class_hue(winner), max(0.0, sureness))

    return by_class


def _position(values: np.ndarray, value: float) -> float:
    """Where a value lies between the smallest (0) and the largest (1) of the tree."""
    low, high = float(values.min()), float(values.max())
    return (value - low) / (high - low) if high > low else 0.0


def _class_hue(index: int) -> Colour:
    if index < len(_HUES):
        return _HUES[index]
    return colorsys.hsv_to_rgb(index * 0.618034 % 1.0, 0.55, 0.85)


def _tint(hue: Colour, amount: float) -> Colour:
    """Blend from near white; never the full hue, so that black text stays readable."""
    amount = 0.04 + 0.78 * min(amount, 1.0)
    red, green, blue = (1.0 - amount * (1.0 - part) for part in hue)
    return red, green, blue
