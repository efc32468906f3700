"""Trees as members: which the engine can grow, what they have in common, and each by itself."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from weald import _engine as engine
from weald.input.state import CheckedState, is_whole, require

__all__ = ["Templates", "as_template", "fitted_tree", "grown_by_engine", "tree_like"]


# What an estimator knows of the columns of its table.
_OF_COLUMNS = (
    *("n_features_in_", "feature_names_in_", "categories_", "_blank_columns"),
    *("_ordered_columns", "_newcomers"),
)


def grown_by_engine(estimator: Any) -> bool:
    """Whether the engine can grow such members from a table that is binned once.

    Trees of weald, and not of a class made from them. A pruning strength that is to be found by
    cross-validation, and costs of mistakes, are the tree's own business.
    """
    if not vars(type(estimator)).get("_engine_grows", False):
        return False
    costs = getattr(estimator, "cost_matrix", None)
    return costs is None and not isinstance(estimator.ccp_alpha, str)


def tree_like(kind: type[BaseEstimator], ensemble: Any) -> Any:
    """An unfitted tree with the parameters it shares with its ensemble."""
    names = set(kind().get_params()) & set(ensemble.get_params()) - {"random_state", "class_weight"}
    return kind(**{name: getattr(ensemble, name) for name in sorted(names)})


def as_template(
    tree: Any, ensemble: Any, max_features: int, *, n_outputs: int = 1, classes: Any = None
) -> Any:
    """Note on a tree what all members have in common; it has no nodes, and is returned.

    Parameters
    ----------
    tree : tree estimator
        A copy of its own.
    ensemble : estimator
        What knows the columns.
    max_features : int
        Columns tried at each node.
    n_outputs : int
    classes : array or list of arrays, optional
        Labels, if the trees are classifiers.
    """
    for name in _OF_COLUMNS:
        if hasattr(ensemble, name):
            setattr(tree, name, getattr(ensemble, name))
    tree.n_outputs_ = n_outputs
    tree.max_features_ = max_features
    if classes is not None:
        several = isinstance(classes, list)
        tree.classes_ = classes
        tree.n_classes_ = list(map(len, classes)) if several else len(classes)
    return tree


class Templates(CheckedState):
    """Trees without nodes that have what members have in common, each from some member on.

    A warm start may change the parameters of trees; members that were there before keep theirs.

    Parameters
    ----------
    template : tree estimator
        Of the members to come.
    before : Templates, optional
        Of members that are there already.
    n_before : int
        How many these are.
    """

    def __init__(self, template: Any, before: Templates | None = None, n_before: int = 0) -> None:
        self._from: list[int] = [] if before is None else before._from[:]
        self._templates: list[Any] = [] if before is None else before._templates[:]
        self._from.append(n_before)
        self._templates.append(template)

    def _check_state(self) -> None:
        starts: Any = self._from
        require(isinstance(starts, list) and len(starts) > 0, self, "where its templates start")
        require(all(is_whole(t, 0) for t in starts), self, "where its templates start")
        require(starts[0] == 0 and starts == sorted(starts), self, "where its templates start")
        templates: Any = self._templates
        require(isinstance(templates, list), self, "the list of its templates")
        require(len(templates) == len(starts), self, "the number of its templates")

    def __getitem__(self, t: int) -> Any:
        """The template of member t."""
        return self._templates[bisect_right(self._from, t) - 1]

    @property
    def last(self) -> Any:
        """The template of the members made last."""
        return self._templates[-1]

    def ranges(self) -> list[tuple[int, Any]]:
        """From which member on each template serves."""
        return list(zip(self._from, self._templates, strict=True))


def fitted_tree(
    template: Any,
    tree: engine.Tree,
    like: Any,
    seed: int,
    columns: npt.NDArray[np.int64] | None = None,
) -> Any:
    """A copy of a template that was fitted, as a member of an ensemble, to this tree.

    Parameters
    ----------
    template : tree estimator
        Has the parameters.
    tree : engine.Tree
    like : tree estimator
        Has what all members have in common.
    seed : int
    columns : array, optional
        The member saw only these columns; default: all.
    """
    member = type(template)(**{**template.get_params(deep=False), "random_state": seed})
    member.tree_ = tree
    classes = getattr(like, "classes_", None)
    as_template(member, like, template.max_features_, n_outputs=like.n_outputs_, classes=classes)
    if classes is not None:
        member._costs = None
    member.ccp_alpha_ = template.ccp_alpha
    if columns is not None:
        member.tree_ = _narrow(tree, columns)
        member.n_features_in_ = len(columns)
        member.categories_ = [like.categories_[j] for j in columns]
        if hasattr(like, "_blank_columns"):
            blank = np.isin(columns, like._blank_columns)
            member._blank_columns = np.flatnonzero(blank).tolist()
        ordered = getattr(like, "_ordered_columns", {})
        member._ordered_columns = {k: ordered[j] for k, j in enumerate(columns) if j in ordered}
        new = getattr(like, "_newcomers", {})
        member._newcomers = {k: new[j] for k, j in enumerate(columns) if j in new}
        if hasattr(like, "feature_names_in_"):
            member.feature_names_in_ = like.feature_names_in_[columns]
    return member


def _narrow(tree: engine.Tree, columns: npt.NDArray[np.int64]) -> engine.Tree:
    """The same tree for a table that has the given columns (sorted, perhaps repeated) only."""
    arrays = dict(tree.__getstate__()["arrays"])
    place = np.searchsorted(columns, arrays["feature"])  # the first of equal columns
    arrays["feature"] = np.where(tree.is_leaf, arrays["feature"], place)
    own = engine.Tree(arrays, tree.n_categories[columns], tree.n_classes)
    if tree.importance is not None:  # of a column that was drawn twice the first one has it all
        first = np.unique(columns, return_index=True)[1]
        own.importance = np.zeros(len(columns))
        own.importance[first] = tree.importance[columns[first]]
    return own
