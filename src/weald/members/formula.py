"""How trees become a prediction, as data: all that a program in any language needs to predict.

A row ends in a leaf of every tree, and the leaf says a few numbers. Then

    total  = start + sum_t weight_t said_t         (or their weighted median)
    raw    = the steps `to_raw` of total, one after the other
    class  = `choose` of raw
    answer = the steps `to_answer` of raw: class shares, or numbers

A step is the name of a small operation and its numbers, so that a formula can be written as JSON.
Sums run in the order of the trees, as they do in the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from weald._engine import FloatArray, Tree
from weald.losses import links
from weald.members.base import Members
from weald.members.trees import Trees

__all__ = [
    "STEPS",
    "Choice",
    "Formula",
    "NoFormula",
    "Step",
    "choice_of",
    "link_data",
    "mean_formula",
    "member_tree",
    "trees_of",
]

Step = tuple[Any, ...]

# name: what it makes of the numbers v
STEPS = {
    "add": "v + c",
    "divide": "v / c",
    "times": "c v",
    "second less first": "v_2 - v_1, one number",
    "last": "the last number alone",
    "class less others": "each class less the mean of the others",
    "both ways": "-v and v",
    "two shares": "probabilities of two classes by a link: those of -v and v, or 1 - p and p",
    "inverse": "predictions of raw values by a link",
    "in order": "the numbers in ascending order, put to the given places",
    "ones": "1 for the only class there is",
}
Choice = Literal["largest", "positive", "cheapest", "first"]


class NoFormula(ValueError):  # noqa: N818 (it is an answer as much as an error)
    """A model that is no formula of trees; the message says why, in a sentence."""


@dataclass(frozen=True, eq=False)
class Formula:
    """How the trees of a model become its prediction.

    Attributes
    ----------
    tree : callable
        The tree of a round and its place in the round.
    rounds, per_round : int
        Trees there are; the k-th of a round adds to the k-th block of numbers.
    start : array of shape (n_raw,)
    weights : array of shape (rounds,), optional
        None: 1.
    vote : bool
        A leaf says 1 for its largest class, the first of equals, instead of its shares.
    said : list of arrays of shape (node_count, n_raw), optional
        What the nodes of each tree say, if neither votes nor values.
    median : bool
        The weighted median of what is said, the lower one, instead of the sum.
    to_raw, to_answer : tuple of steps
    choose : optional
        How raw values become a class: the largest, the first of equals; the second if the last is
        positive; the one of least cost; the first. None for numbers.
    costs : array of shape (n_classes, n_classes), optional
        For "cheapest": of predicting the second when the first is true.
    """

    tree: Callable[[int, int], Tree]
    rounds: int
    start: FloatArray
    per_round: int = 1
    weights: FloatArray | None = None
    vote: bool = False
    said: Sequence[FloatArray] | None = None
    median: bool = False
    to_raw: tuple[Step, ...] = ()
    to_answer: tuple[Step, ...] = ()
    choose: Choice | None = None
    costs: FloatArray | None = None


def choice_of(model: Any) -> dict[str, Any]:
    """How a model that averages class shares chooses the class; nothing for numbers."""
    if not hasattr(model, "classes_"):
        return {}
    costs = getattr(model, "_costs", None)
    return {"choose": "largest" if costs is None else "cheapest", "costs": costs}


def trees_of(members: Members) -> Trees:
    """The members, if they are trees of the engine."""
    if not isinstance(members, Trees):
        raise NoFormula("Its members are not trees that weald grew.")
    return members


def member_tree(members: Trees) -> Callable[[int, int], Tree]:
    """The trees of members by round and place."""
    return lambda t, k: members.forests[k].tree(t)


def mean_formula(model: Any, weights: FloatArray | None = None, *, vote: bool = False) -> Formula:
    """The mean of what the trees of a model say."""
    trees = trees_of(model._fitted_members())
    if model.n_outputs_ > 1:
        raise NoFormula("It predicts several targets.")
    total = len(trees) if weights is None else float(weights.sum())
    return Formula(
        tree=member_tree(trees),
        rounds=len(trees),
        start=np.zeros(trees.forest.max_n_classes),
        weights=weights,
        vote=vote,
        to_raw=(("divide", total),),
        **choice_of(model),
    )


def link_data(link: links.Link) -> list[Any]:
    """Name and parameters of a link of weald."""
    if type(link) is not getattr(links, type(link).__name__, None):
        raise NoFormula("Its loss has a link that is not one of weald's.")
    return [link.name, *(getattr(link, part.name) for part in fields(link))]  # type: ignore[arg-type]
