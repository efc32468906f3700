"""Show a fitted model: rules, drawings and paths of a tree, importance of an ensemble's columns."""

from weald.explain.drawing import plot_tree
from weald.explain.graphviz import export_graphviz
from weald.explain.importance import Importance, column_importance
from weald.explain.paths import Condition, RowPath, explain_path
from weald.explain.row_effects import ColumnEffect, RowEffects, row_effects
from weald.explain.rules import export_text

__all__ = [
    "ColumnEffect",
    "Condition",
    "Importance",
    "RowEffects",
    "RowPath",
    "column_importance",
    "explain_path",
    "export_graphviz",
    "export_text",
    "plot_tree",
    "row_effects",
]
