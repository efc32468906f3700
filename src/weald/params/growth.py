"""Parameters of trees, parsed once into what the engine understands.

The checks of single values serve ensembles as well (:mod:`weald.params.ensembles`). Code further
down gets checked values only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from weald._engine import Rules, resolve_threads
from weald.params.columns import Columns
from weald.params.criteria import CRITERIA

_NO_LIMIT = 2**40  # more rows, leaves or levels than there can be; fits the engine's integers


@dataclass(frozen=True)
class GrowthParams:
    """How the parameters of an estimator grow a tree from a table of given size."""

    criterion: str
    rules: Rules
    max_features: int
    max_bins: int  # 0: exact
    keys: bool  # random cuts of exact values need no ranks
    threads: int


@dataclass(frozen=True)
class TreeParams(GrowthParams):
    """What the parameters of one tree mean."""

    prune: float | Literal["cv", "cv_1se"]


def is_int(value: Any) -> bool:
    """A whole number, and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def is_real(value: Any) -> bool:
    """A number, and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def refuse(name: str, wanted: str, value: Any) -> ValueError:
    """The error of a parameter that has a value it must not have."""
    return ValueError(f"{name} must be {wanted}, got {value!r}.")


def check_count(name: str, value: Any, *, least: int) -> int:
    """A whole number that is at least `least`."""
    if not is_int(value) or value < least:
        raise refuse(name, f"a whole number >= {least}", value)
    return min(int(value), _NO_LIMIT)


def check_fraction(name: str, value: Any, *, low: float, high: float) -> float:
    """A real number between `low` and `high`."""
    if not is_real(value) or not low <= value <= high:
        raise refuse(name, f"a number between {low:g} and {high:g}", value)
    return float(value)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """One of the given words."""
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(map(repr, choices))
        raise refuse(name, f"one of {words}", value)
    return value


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise refuse(name, "True or False", value)
    return bool(value)


def count_or_share(name: str, value: Any, n: int, *, least: int, whole: bool) -> int:
    """A number of rows, or a share of the `n` rows there are."""
    if is_int(value) and value >= least:
        return min(int(value), _NO_LIMIT)
    in_range = is_real(value) and (0 < value < 1 or (whole and value == 1))
    if in_range and not is_int(value):
        return max(least, ceil(float(value) * n))
    bound = "1.0" if whole else "1.0 (exclusive)"
    raise refuse(name, f"a whole number >= {least} or a share of the rows up to {bound}", value)


def resolve_max_features(value: Any, d: int, name: str = "max_features") -> int:
    """How many of the `d` columns are tried at each node."""
    if value is None:
        return d
    if isinstance(value, str) and value == "sqrt":
        return max(1, int(np.sqrt(d)))
    if isinstance(value, str) and value == "log2":
        return max(1, int(np.log2(d)))
    if is_int(value) and value >= 1:
        return min(int(value), _NO_LIMIT)
    if is_real(value) and not is_int(value) and 0 < value <= 1:
        return max(1, int(value * d))
    raise refuse(name, "None, 'sqrt', 'log2', a whole number >= 1 or a share in (0, 1]", value)


def resolve_seed(random_state: Any) -> int:
    """One number from scikit-learn's ``random_state``, for the engine's own random numbers."""
    try:
        if type(random_state) is int:
            return _seed_of(random_state)
        return _draw_seed(random_state)
    except (TypeError, ValueError) as error:
        wanted = "None, a whole number from 0 to 2**32 - 1 or a numpy.random.RandomState"
        raise refuse("random_state", wanted, random_state) from error


def _draw_seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


# To set up random numbers takes as long as to grow a small tree; of a number they are the same.
_seed_of = lru_cache(maxsize=1024)(_draw_seed)


def resolve_prune(value: Any) -> float | Literal["cv", "cv_1se"]:
    """The pruning strength: a number, or how to choose it."""
    if value == "cv" or value == "cv_1se":
        return "cv" if value == "cv" else "cv_1se"
    if not is_real(value) or not 0 <= value < np.inf:
        raise refuse("ccp_alpha", "a number >= 0, 'cv' or 'cv_1se'", value)
    return float(value)


def resolve_growth(
    estimator: Any,
    criteria: dict[str, str],
    n: int,
    columns: Columns,
    total_weight: float,
    *,
    splitter: str,
) -> GrowthParams:
    """Check the parameters that trees and forests have in common against a table.

    Parameters
    ----------
    estimator : a tree or forest estimator
    criteria : dict
        The criteria it knows, by the names users give them.
    n : int
        Number of rows.
    columns : Columns
        Kinds and names of the columns.
    total_weight : float
        Sum of the weights of the rows a tree gets.
    splitter : {"best", "random"}
    """
    e = estimator
    d = len(columns)
    if (
        isinstance(e.criterion, str)
        and e.criterion == "friedman_mse"
        and "squared_error" in criteria
    ):
        raise ValueError(
            "criterion='friedman_mse' chooses the same splits as 'squared_error': use that."
        )
    criterion = CRITERIA[check_choice("criterion", e.criterion, tuple(criteria))]
    rules = Rules()
    if e.max_depth is not None:
        rules.max_depth = check_count("max_depth", e.max_depth, least=1)
    rules.min_samples_leaf = count_or_share(
        "min_samples_leaf", e.min_samples_leaf, n, least=1, whole=False
    )
    rules.min_samples_split = count_or_share(
        "min_samples_split", e.min_samples_split, n, least=2, whole=True
    )
    share = check_fraction(
        "min_weight_fraction_leaf", e.min_weight_fraction_leaf, low=0.0, high=0.5
    )
    rules.min_weight_leaf = share * total_weight
    decrease = check_fraction(
        "min_impurity_decrease", e.min_impurity_decrease, low=0.0, high=np.inf
    )
    rules.min_decrease = decrease * total_weight
    if e.max_leaf_nodes is not None:
        rules.max_leaves = check_count("max_leaf_nodes", e.max_leaf_nodes, least=2)
        rules.frontier = "best_first"
    max_features = resolve_max_features(e.max_features, d)
    rules.max_features = 0 if max_features >= d else max_features
    rules.random_split = splitter == "random"
    rules.monotone = columns.directions(e.monotonic_cst)
    max_bins = 0
    if e.max_bins is not None:
        if not is_int(e.max_bins) or not 2 <= e.max_bins <= 255:
            raise refuse("max_bins", "None (exact) or a whole number from 2 to 255", e.max_bins)
        max_bins = int(e.max_bins)
    threads = resolve_threads(e.n_jobs)
    return GrowthParams(
        criterion=criterion.engine,
        rules=rules,
        max_features=max_features,
        max_bins=max_bins,
        keys=rules.random_split and max_bins == 0 and not criterion.needs_ranks,
        threads=threads,
    )


def resolve_member_tree(
    tree: Any,
    criteria: dict[str, str],
    n: int,
    columns: Columns,
    total_weight: float,
) -> GrowthParams:
    """Check the parameters shared by all trees of an ensemble; seeds come from elsewhere."""
    splitter = check_choice("splitter", tree.splitter, ("best", "random"))
    growth = resolve_growth(tree, criteria, n, columns, total_weight, splitter=splitter)
    prune = resolve_prune(tree.ccp_alpha)
    assert not isinstance(prune, str)  # such trees are fitted one by one
    growth.rules.prune_alpha = prune
    return growth


def resolve_tree_params(
    estimator: Any,
    criteria: dict[str, str],
    n: int,
    columns: Columns,
    total_weight: float,
) -> TreeParams:
    """Check a tree's parameters against the table it is fitted to: see :func:`resolve_growth`."""
    splitter = check_choice("splitter", estimator.splitter, ("best", "random"))
    growth = resolve_growth(estimator, criteria, n, columns, total_weight, splitter=splitter)
    growth.rules.seed = resolve_seed(estimator.random_state)
    return TreeParams(**vars(growth), prune=resolve_prune(estimator.ccp_alpha))
