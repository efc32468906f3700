"""Show a fitted tree: text rules, a drawing, Graphviz, and the path of one row."""

from weald.explain.drawing import plot_tree
from weald.explain.graphviz import export_graphviz
from weald.explain.paths import Condition, RowPath, explain_path
from weald.explain.rules import export_text

__all__ = [
    "Condition",
    "RowPath",
    "explain_path",
    "export_graphviz",
    "export_text",
    "plot_tree",
]
