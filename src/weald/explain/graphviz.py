"""A fitted tree as Graphviz DOT text."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from weald.explain._boxes import BoxStyle, Colour, Label, box_lines, drawn_nodes, fill_colours
from weald.explain._view import read_tree

_ENTITY = re.compile(r"&(?=#?\w+;)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def export_graphviz(
    decision_tree: Any,
    out_file: str | os.PathLike[str] | IO[str] | None = None,
    *,
    max_depth: int | None = None,
    feature_names: Iterable[object] | None = None,
    class_names: Iterable[Any] | bool | None = None,
    label: Label = "all",
    filled: bool = False,
    leaves_parallel: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rotate: bool = False,
    rounded: bool = False,
    special_characters: bool = False,
    precision: int = 3,
    fontname: str = "helvetica",
) -> str | None:
    """Write the tree in Graphviz's DOT language, ready for ``dot -Tsvg``.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of weald or scikit-learn.
    out_file : path or text file, optional
        Where to write. Default: return the text.
    max_depth : int, optional
        Deeper branches become one ``(...)`` node. Default: the whole tree.
    feature_names : sequence of str, optional
        One name per column. Default: the names seen in ``fit``, else ``feature_0``, ...
    class_names : sequence of str or bool, optional
        Show each node's class by these names, or with True by its label. Default: not shown.
    label : {"all", "root", "none"}, default="all"
        Which nodes say what their numbers mean.
    filled : bool, default=False
        Colour nodes by class or value.
    leaves_parallel : bool, default=False
        Put all leaves in the bottom row.
    impurity, node_ids : bool
        Show the impurity, show the node's index.
    proportion : bool, default=False
        Show samples as percentages and class weights as shares.
    rotate : bool, default=False
        Grow to the right instead of down.
    rounded : bool, default=False
        Round the corners of the boxes.
    special_characters : bool, default=False
        Write ``≤`` and the like through HTML labels.
    precision : int, default=3
        Digits after the point at most.
    fontname : str, default="helvetica"
        Font of all text.

    Returns
    -------
    str or None
        The DOT text, or None if it was written to `out_file`.
    """
    style = BoxStyle(
        label=label,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        precision=precision,
        show_class=class_names is not None and class_names is not False,
    )
    view = read_tree(decision_tree, feature_names, class_names)
    drawn = drawn_nodes(view, max_depth)
    colour_of = fill_colours(view)
    quote = _html_label if special_characters else _text_label

    styles = ", ".join(["filled"] * filled + ["rounded"] * rounded)
    node_style = f', style="{styles}", color="black"' if styles else ""
    font = f"fontname={_text_label([fontname])}"
    lines = ["digraph Tree {", f"node [shape=box{node_style}, {font}] ;"]
    if leaves_parallel:
        lines.append("graph [ranksep=equally, splines=polyline] ;")
    lines.append(f"edge [{font}] ;")
    if rotate:
        lines.append("rankdir=LR ;")
    for item in drawn:
        text = ["(...)"] if item.elided else box_lines(view, item.node, style)
        colour = "#c0c0c0" if item.elided else _hex(colour_of(item.node))
        fill = f', fillcolor="{colour}"' if filled else ""
        lines.append(f"{item.node} [label={quote(text)}{fill}] ;")
        if item.parent >= 0:
            answer = "yes" if item.is_left else "no"
            lines.append(f'{drawn[item.parent].node} -> {item.node} [label="{answer}"] ;')
    if leaves_parallel:
        parents = {item.parent for item in drawn}
        leaves = [str(item.node) for here, item in enumerate(drawn) if here not in parents]
        lines.append("{rank=same ; " + "; ".join(leaves) + "} ;")
    lines.append("}")
    dot = "\n".join(lines) + "\n"
    if out_file is None:
        return dot
    if isinstance(out_file, str | os.PathLike):
        Path(out_file).write_text(dot, encoding="utf-8")
    else:
        out_file.write(dot)
    return None


def _text_label(lines: list[str]) -> str:
    """Lines as a quoted DOT string; Graphviz reads backslashes and entities even there."""
    escaped = (
        _ENTITY.sub("&amp;", _CONTROL.sub(" ", line)).replace("\\", "\\\\").replace('"', '\\"')
        for line in lines
    )
    return '"' + "\\n".join(escaped) + '"'


def _html_label(lines: list[str]) -> str:
    """Lines as an HTML-like DOT label, with a typographic less-or-equal sign."""
    escaped = (html.escape(_CONTROL.sub(" ", line)).replace(" &lt;= ", " &le; ") for line in lines)
    return "<" + "<br/>".join(escaped) + ">"


def _hex(colour: Colour) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)
