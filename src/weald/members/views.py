"""The members of an ensemble of trees as tree estimators, made when they are asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

from sklearn.base import BaseEstimator

from weald import _engine as engine
from weald.input.state import CheckedState, is_whole, require

__all__ = ["MemberTrees", "Templates", "fitted_tree", "refuse_members", "tree_template"]


class MemberTrees(Sequence[Any]):
    """A read-only list of fitted trees that are made one by one; the forest stays compact.

    Parameters
    ----------
    n : int
        Number of members.
    make : callable
        Gives the member of a number.
    """

    def __init__(self, n: int, make: Callable[[int], Any]) -> None:
        self._n = n
        self._make = make

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, t: int) -> Any: ...
    @overload
    def __getitem__(self, t: slice) -> list[Any]: ...
    def __getitem__(self, t: int | slice) -> Any:
        chosen = range(self._n)[t]  # says what is out of range
        return self._make(chosen) if isinstance(chosen, int) else [self._make(i) for i in chosen]

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Iterable[Any]) -> list[Any]:
        return [*other, *self]

    def __repr__(self) -> str:
        return f"<{self._n} trees>"


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


def refuse_members(ensemble: Any, members: Any) -> None:
    """Say, in place of a setter of ``estimators_``, what to do instead."""
    raise AttributeError(
        f"The estimators_ of {type(ensemble).__name__} cannot be set: add members by warm_start="
        "True and a larger n_estimators, or put the predictions of several ensembles together by "
        "weald.combining."
    )


def tree_template(kind: type[BaseEstimator], ensemble: Any) -> Any:
    """An unfitted tree with the parameters it shares with its ensemble."""
    names = set(kind().get_params()) & set(ensemble.get_params()) - {"random_state", "class_weight"}
    return kind(**{name: getattr(ensemble, name) for name in sorted(names)})


def fitted_tree(template: Any, tree: engine.Tree, ensemble: Any, seed: int) -> Any:
    """A copy of a template that was fitted, as a member of an ensemble, to this tree."""
    member = type(template)(**{**template.get_params(deep=False), "random_state": seed})
    member.tree_ = tree
    for name in ("n_features_in_", "feature_names_in_", "n_outputs_", "categories_"):
        if hasattr(ensemble, name):
            setattr(member, name, getattr(ensemble, name))
    if hasattr(ensemble, "classes_"):
        member.classes_, member.n_classes_ = ensemble.classes_, ensemble.n_classes_
        member._costs = None
    member.max_features_ = template.max_features_
    member.ccp_alpha_ = template.ccp_alpha
    return member
