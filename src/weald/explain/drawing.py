"""A fitted tree drawn with matplotlib: tidy layout, boxes that do not touch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.explain._boxes import (
    BoxStyle,
    DrawnNode,
    Label,
    box_lines,
    drawn_nodes,
    fill_colours,
)
from weald.explain._view import read_tree
from weald.params.extras import import_extra
from weald.params.warnings import warn_user

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

LARGEST_FONT = 11.0  # points, where the figure has room to spare
OWN_FIGURE_FONT = 9.0  # points the figure is made to fit when it is ours to make
READABLE_FONT = 3.0
SMALLEST_FONT = 1.0  # matplotlib draws nothing smaller
PADDING = 0.4  # between a box's text and its frame, as a share of the font size
FIGURE_INCHES = (4.0, 60.0)


def plot_tree(
    decision_tree: Any,
    *,
    max_depth: int | None = None,
    feature_names: Iterable[object] | None = None,
    class_names: Iterable[Any] | bool | None = None,
    label: Label = "all",
    filled: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = False,
    precision: int = 3,
    ax: Axes | None = None,
    fontsize: float | None = None,
) -> list[Annotation]:
    """Draw the tree; the left branch of each box is the "yes" to its test.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of weald or scikit-learn.
    max_depth : int, optional
        Deeper branches become one ``(...)`` box. Default: the whole tree.
    feature_names : sequence of str, optional
        One name per column. Default: the names seen in ``fit``, else ``feature_0``, ...
    class_names : sequence of str or bool, optional
        Show each node's class by these names, or with True by its label. Default: not shown.
    label : {"all", "root", "none"}, default="all"
        Which boxes say what their numbers mean.
    filled : bool, default=False
        Colour boxes by class (paler when less sure) or by value.
    impurity, node_ids : bool
        Show the impurity, show the node's index.
    proportion : bool, default=False
        Show samples as percentages and class weights as shares.
    rounded : bool, default=False
        Round the corners of the boxes.
    precision : int, default=3
        Digits after the point at most.
    ax : matplotlib Axes, optional
        Where to draw. Default: the current axes, cleared; if no figure is open, a new one that
        is large enough for the tree.
    fontsize : float, optional
        In points. Default: as large as the axes allow without overlap. With a size of your own
        the boxes overlap where the figure is too small for it.

    Returns
    -------
    list of matplotlib Annotation
        The boxes: each node before its left branch, and that before its right one.
    """
    plt = import_extra("matplotlib.pyplot", "plot_tree")
    style = BoxStyle(
        label=label,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        precision=precision,
        show_class=class_names is not None and class_names is not False,
    )
    if fontsize is not None and not fontsize > 0:
        raise ValueError(f"fontsize must be a positive number of points, got {fontsize!r}.")
    view = read_tree(decision_tree, feature_names, class_names)
    drawn = drawn_nodes(view, max_depth)
    colour_of = fill_colours(view)

    own_figure = ax is None and not plt.get_fignums()
    if ax is None:
        empty_figure = not plt.gcf().axes
        ax = plt.gca()
        ax.clear()
        if empty_figure:  # a tree has no axis labels, so the usual margins are wasted room
            ax.set_position((0.01, 0.01, 0.98, 0.98))
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(0, 1))

    boxes: list[Annotation] = []
    for item in drawn:
        face = "#d9d9d9" if item.elided else colour_of(item.node) if filled else "white"
        boxes.append(
            ax.annotate(
                "(...)" if item.elided else "\n".join(box_lines(view, item.node, style)),
                xy=(0.5, 0.5),
                ha="center",
                va="top",
                fontsize=fontsize or LARGEST_FONT,
                parse_math=False,  # a dollar sign in a column's name is only a dollar sign
                zorder=3,
                bbox={
                    "boxstyle": f"{'round' if rounded else 'square'},pad={PADDING}",
                    "facecolor": face,
                    "edgecolor": "0.35",
                },
            )
        )
    _place(ax, drawn, boxes, fontsize, own_figure)
    return boxes


def tidy_columns(
    drawn: list[DrawnNode], widths: NDArray[np.float64], gap: float
) -> NDArray[np.float64]:
    """Centre of each box across, the leftmost edge at 0.

    Each subtree is laid out on its own; then its two halves are pushed together until, on the
    level where they come closest, `gap` is left between them, and the parent goes midway. The
    halves are compared by their outlines: the leftmost and rightmost edge on each level.
    """
    children = _children(drawn)
    shift = np.zeros(len(drawn))  # from the parent's centre
    outlines: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    for here in range(len(drawn) - 1, -1, -1):  # children stand after their parent
        half = widths[here] / 2
        lefts, rights = np.array([-half]), np.array([half])
        if children[here]:
            a, b = children[here]
            (left_a, right_a), (left_b, right_b) = outlines.pop(a), outlines.pop(b)
            shared = min(len(left_a), len(left_b))
            apart = float(np.max(right_a[:shared] - left_b[:shared])) + gap
            shift[a], shift[b] = -apart / 2, apart / 2
            below_left = np.concatenate([left_a + shift[a], left_b[shared:] + shift[b]])
            below_right = np.concatenate([right_b + shift[b], right_a[shared:] + shift[a]])
            lefts = np.concatenate([lefts, below_left])
            rights = np.concatenate([rights, below_right])
        outlines[here] = lefts, rights
    centres = np.zeros(len(drawn))
    for here, item in enumerate(drawn):
        centres[here] = shift[here] + (centres[item.parent] if item.parent >= 0 else 0.0)
    return centres - float(outlines[0][0].min())


def _children(drawn: list[DrawnNode]) -> list[list[int]]:
    """Positions of the children of each drawn node, left first."""
    children: list[list[int]] = [[] for _ in drawn]
    for here, item in enumerate(drawn):
        if item.parent >= 0:
            children[item.parent].append(here)
    return children


def _place(
    ax: Axes,
    drawn: list[DrawnNode],
    boxes: list[Annotation],
    fontsize: float | None,
    own_figure: bool,
) -> None:
    """Choose the font, move the boxes to their places and join them with lines."""
    depth = np.array([item.depth for item in drawn])
    n_levels = int(depth.max()) + 1
    font = fontsize or (OWN_FIGURE_FONT if own_figure else LARGEST_FONT)
    figure: Any = ax.figure
    dots_per_point = figure.dpi / 72.0
    while True:
        # Text does not scale quite evenly, so each font size is measured, not computed.
        for box in boxes:
            box.set_fontsize(font)
        em = font * dots_per_point
        widths, heights = _box_sizes(boxes, PADDING * em)
        centres = tidy_columns(drawn, widths, gap=1.2 * em)
        level_height = np.array([heights[depth == k].max() for k in range(n_levels)])
        level_gap = 2.8 * em
        total_width = float((centres + widths / 2).max())
        total_height = float(level_height.sum()) + level_gap * (n_levels - 1)
        if own_figure:
            own_figure = False
            inches = np.array([total_width, total_height]) * 1.06 / figure.dpi
            figure.set_size_inches(*np.clip(inches, *FIGURE_INCHES))
        room = ax.get_window_extent()
        fit = min(room.width / total_width, room.height / total_height)
        if fit >= 1.0 or fontsize is not None or font <= SMALLEST_FONT:
            break
        font = max(SMALLEST_FONT, font * fit * 0.99)
    if font < READABLE_FONT and fontsize is None:
        warn_user(
            f"The {len(boxes)} boxes of this tree are too small to read in this figure; "
            "enlarge it or set max_depth."
        )

    x = centres / total_width
    # Spare height goes between the levels, all of them alike.
    slack = max(0.0, room.height - total_height) / n_levels
    scale = 1.0 / max(room.height, total_height)
    tops = np.concatenate([[0.0], np.cumsum(level_height + level_gap + slack)[:-1]]) + slack / 2
    level_top, level_bottom = 1.0 - tops * scale, 1.0 - (tops + level_height) * scale
    pad = PADDING * em * scale  # the annotated point is the text's top, the frame stands above it
    for here, item in enumerate(drawn):
        boxes[here].xy = (float(x[here]), float(level_top[item.depth] - pad))
        boxes[here].set_position(boxes[here].xy)
        frame: Any = boxes[here].get_bbox_patch()
        frame.set_linewidth(min(0.8, font / 10))
        if item.parent >= 0:
            bend = (float(x[item.parent]), float(level_bottom[item.depth - 1]))
            _draw_edge(ax, boxes[item.parent].xy, bend, boxes[here].xy, item.is_left, font)


def _box_sizes(
    boxes: list[Annotation], frame: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Width and height in pixels of each box, whose frame stands off the text by `frame`."""
    extents = [box.get_window_extent() for box in boxes]
    widths = np.array([extent.width for extent in extents]) + 2 * frame
    heights = np.array([extent.height for extent in extents]) + 2 * frame
    return widths, heights


def _draw_edge(
    ax: Axes,
    parent: tuple[float, float],
    bend: tuple[float, float],
    child: tuple[float, float],
    is_left: bool,
    font: float,
) -> None:
    """Draw a line straight down behind the parent's box, then across to the child's top.

    It turns only below the whole level, so it cannot cross a taller neighbour of the parent.
    """
    ax.plot(
        [parent[0], bend[0], child[0]],
        [parent[1], bend[1], child[1]],
        color="0.35",
        linewidth=min(1.0, font / 8),
        zorder=1,
        solid_joinstyle="round",
    )
    ax.text(
        (bend[0] + child[0]) / 2,
        (bend[1] + child[1]) / 2,
        "yes" if is_left else "no",
        fontsize=0.85 * font,
        color="0.25",
        ha="center",
        va="center",
        zorder=2,
        bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"},
    )
