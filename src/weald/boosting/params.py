"""Parameters of gradient boosting, parsed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from weald._engine import resolve_threads
from weald.boosting.defaults import AUTO, Given, Settings, Task, choose, is_auto
from weald.boosting.objective import Objective
from weald.params.columns import Columns
from weald.params.ensembles import check_patience, check_validation_fraction, check_verbosity
from weald.params.growth import (
    GrowthParams,
    check_choice,
    check_count,
    check_flag,
    check_fraction,
    is_int,
    is_real,
    refuse,
    resolve_growth,
    resolve_max_features,
)

__all__ = ["GradientParams", "resolve_gradient", "resolve_trees"]

_STEPS = ("auto", "newton", "exact", "line_search", "gradient")
_OF_TREES = (
    "max_depth",
    "min_samples_split",
    "min_weight_fraction_leaf",
    "min_impurity_decrease",
    "monotonic_cst",
    "max_bins",
    "n_jobs",
)
_ROWS_BEYOND = 3  # a quantile, in each leaf
# Parameters that only trees of weald can follow, with the value that asks for nothing.
_ONLY_TREES = {
    "categorical_features": "from_dtype",
    "monotonic_cst": None,
    "interaction_cst": None,
    "max_features_per_tree": None,
    "multi_strategy": "one_tree_per_output",
}


@dataclass(frozen=True)
class GradientParams(Settings):
    """What the parameters mean, beside those that shape a tree (:func:`resolve_trees`)."""

    max_features: Any  # columns of each node, as users say it, "auto" apart
    min_samples_leaf: Any  # as users say it, "auto" apart
    order: int  # 1: trees fit the gradient; 2: gain and leaves use the second derivative
    step: str
    subsample: float
    gradient_sampling: tuple[float, float] | None  # shares of rows kept, and drawn
    columns: int  # of each tree; 0: all
    dropout: float
    max_drop: int
    vector_leaves: bool  # one tree for all scores
    validation_fraction: float | None  # of rows held out; None watches the training rows
    tol: float
    threads: int
    verbose: int
    warm_start: bool
    keep_partial: bool  # on Ctrl-C

    @property
    def uses_hessian(self) -> bool:
        """The second derivative of the loss is needed."""
        return self.order == 2 or self.step == "newton"

    @property
    def draws(self) -> bool:
        """Two trees of the same gradients may differ."""
        return self.subsample < 1 or self.gradient_sampling is not None or self.columns > 0


def resolve_gradient(estimator: Any, objective: Objective, task: Task) -> GradientParams:
    """Check the parameters of a gradient boosting estimator.

    Parameters
    ----------
    estimator : GradientBoostingClassifier or GradientBoostingRegressor
    objective : Objective
    task : Task
        What "auto" depends on; the order of its trees is found here.
    """
    e, n_columns = estimator, task.n_columns
    if e.estimator is not None:
        _refuse_tree_params(e)
    several = check_choice(
        "multi_strategy", e.multi_strategy, ("one_tree_per_output", "vector_leaves")
    )
    vector_leaves = several == "vector_leaves" and objective.n_raw > 1
    order, step = _resolve_step(e, objective, vector_leaves)
    gradient_sampling = _resolve_gradient_sampling(e)
    fraction = check_validation_fraction(e.validation_fraction, optional=True)
    per_tree = resolve_max_features(e.max_features_per_tree, n_columns, "max_features_per_tree")
    if e.monotonic_cst is not None and objective.joint:
        raise ValueError("monotonic_cst is not supported with more than two classes.")
    if e.monotonic_cst is not None and vector_leaves:
        raise ValueError(
            "monotonic_cst needs a tree for each score: use multi_strategy='one_tree_per_output'."
        )
    chosen = choose(replace(task, order=order), _read_given(e, n_columns))
    return GradientParams(
        **vars(chosen)
        | {"max_features": chosen.max_features if is_auto(e.max_features) else e.max_features},
        min_samples_leaf=_rows_for(objective.shares_below, int(task.n_rows))
        if is_auto(e.min_samples_leaf)
        else e.min_samples_leaf,
        order=order,
        step=step,
        subsample=_share("subsample", e.subsample),
        gradient_sampling=gradient_sampling,
        columns=0 if per_tree >= n_columns else per_tree,
        dropout=_resolve_dropout(e.dropout),
        max_drop=check_count("max_drop", e.max_drop, least=1),
        vector_leaves=vector_leaves,
        validation_fraction=fraction,
        tol=check_fraction("tol", e.tol, low=0.0, high=np.inf),
        threads=resolve_threads(e.n_jobs),
        verbose=check_verbosity(e.verbose),
        warm_start=check_flag("warm_start", e.warm_start),
        keep_partial=check_flag("keep_partial", e.keep_partial),
    )


def _read_given(e: Any, n_columns: int) -> Given:
    """Check what may be "auto"."""
    return Given(
        learning_rate=_unless_auto(e.learning_rate, _positive, "learning_rate"),
        n_estimators=_unless_auto(e.n_estimators, _at_least_one, "n_estimators"),
        max_leaf_nodes=_unless_auto(e.max_leaf_nodes, _leaves, "max_leaf_nodes"),
        max_features=_unless_auto(
            e.max_features,
            lambda name, value: resolve_max_features(value, n_columns, name),
            "max_features",
        ),
        l2=_unless_auto(e.l2_regularization, _number, "l2_regularization"),
        min_gain=_unless_auto(e.min_gain, _number, "min_gain"),
        min_hessian=_unless_auto(e.min_hessian, _number, "min_hessian"),
        categorical_smoothing=_unless_auto(
            e.categorical_smoothing, _number, "categorical_smoothing"
        ),
        patience=_unless_auto(e.n_iter_no_change, lambda _, value: check_patience(value), ""),
        max_depth=None if e.max_depth is None else check_count("max_depth", e.max_depth, least=1),
        goes_on=check_flag("warm_start", e.warm_start),
    )


def resolve_trees(
    estimator: Any,
    params: GradientParams,
    n: int,
    columns: Columns,
    total_weight: float,
) -> GrowthParams:
    """Check the parameters that shape a tree, against the rows it is grown from.

    The gain of the second-order objective is half of what the engine compares (Chen & Guestrin
    2016, eq. 7), so that a gain of at least `min_gain` is a decrease of twice as much.
    """
    e = estimator
    level = check_choice("growth", e.growth, ("best_first", "by_level")) == "by_level"
    asked = SimpleNamespace(
        **{name: getattr(e, name) for name in _OF_TREES},
        criterion="squared_error",
        max_leaf_nodes=params.max_leaf_nodes,
        max_features=params.max_features,
        min_samples_leaf=params.min_samples_leaf,
    )
    known = {"squared_error": "squared_error"}
    growth = resolve_growth(asked, known, n, columns, total_weight, splitter="best")
    rules = growth.rules
    if level:
        rules.frontier = "by_level"
    rules.min_decrease = max(rules.min_decrease, 2 * params.min_gain)
    if params.order == 2:  # what trees sum up is then not weights but second derivatives
        rules.min_weight_leaf = max(params.min_hessian, rules.min_weight_leaf)
    rules.category_smoothing = params.categorical_smoothing
    rules.interactions = columns.interactions(e.interaction_cst)
    return growth


def _rows_for(shares: list[float] | None, n: int) -> int:
    """Rows a leaf needs for "auto": of quantiles, such that some of them lie beyond each.

    The quantile of fewer rows is hardly more than their largest or least target, which a leaf then
    follows. But a tenth of all rows are enough for any leaf.

    Examples
    --------
    >>> _rows_for([0.1, 0.5, 0.9], 10_000), _rows_for([0.5], 10_000), _rows_for(None, 10_000)
    (30, 6, 1)
    """
    if shares is None:
        return 1
    rarest = min(min(share, 1 - share) for share in shares)
    return max(1, min(round(_ROWS_BEYOND / rarest), n // 10))


# --- single parameters --------------------------------------------------------------------------


def _unless_auto(value: Any, check: Callable[[str, Any], Any], name: str) -> Any:
    return AUTO if is_auto(value) else check(name, value)


def _positive(name: str, value: Any) -> float:
    if not is_real(value) or not 0 < value < np.inf:
        raise refuse(name, "a finite number > 0 or 'auto'", value)
    return float(value)


def _number(name: str, value: Any) -> float:
    if not is_real(value) or not 0 <= value < np.inf:
        raise refuse(name, "a finite number >= 0 or 'auto'", value)
    return float(value)


def _at_least_one(name: str, value: Any) -> int:
    return check_count(name, value, least=1)


def _leaves(name: str, value: Any) -> int | None:
    return None if value is None else check_count(name, value, least=2)


def _share(name: str, value: Any) -> float:
    if not is_real(value) or not 0 < value <= 1:
        raise refuse(name, "a number above 0 and at most 1", value)
    return float(value)


def _resolve_dropout(value: Any) -> float:
    if not is_real(value) or not 0 <= value < 1:
        raise refuse("dropout", "a number from 0 to 1 (exclusive)", value)
    return float(value)


def _resolve_gradient_sampling(e: Any) -> tuple[float, float] | None:
    """Which share of the rows gradient-based sampling keeps, and which it draws."""
    top = check_fraction("top_rate", e.top_rate, low=0.0, high=1.0)
    other = _share("other_rate", e.other_rate)
    if check_choice("sampling", e.sampling, ("uniform", "gradient")) == "uniform":
        return None
    if top + other > 1:
        raise ValueError(f"top_rate={top:g} and other_rate={other:g} must not exceed 1 together.")
    if _share("subsample", e.subsample) < 1:
        raise ValueError(
            "sampling='gradient' draws rows by top_rate and other_rate: leave subsample at 1."
        )
    return top, other


def _resolve_step(e: Any, objective: Objective, vector_leaves: bool) -> tuple[int, str]:
    """Order of the trees and kind of step; where not given, as the loss is best served."""
    step = check_choice("step", e.step, _STEPS)
    members = e.estimator is not None
    if step == "auto":
        step = objective.usual_step
        step = "line_search" if members and step == "exact" else step
    if step == "exact" and members:
        raise ValueError(
            "step='exact' sets the leaves of weald's trees: with estimator, use 'newton', "
            "'line_search' or 'gradient'."
        )
    order = e.order
    share = check_fraction(
        "min_weight_fraction_leaf", e.min_weight_fraction_leaf, low=0.0, high=0.5
    )
    by_weight = vector_leaves or (share > 0 and not objective.constant_hessian)
    if order is None:
        order = 2 if step == "newton" and objective.has_hessian and not by_weight else 1
    if not is_int(order) or order not in (1, 2):
        raise refuse("order", "None, 1 or 2", e.order)
    if order == 2 and by_weight:
        what = "multi_strategy='vector_leaves'" if vector_leaves else "min_weight_fraction_leaf"
        raise ValueError(f"{what} needs trees that sum up weights: use order=1 or None.")
    if not objective.has_hessian and (order == 2 or step == "newton"):
        what = "order=2" if order == 2 else "step='newton'"
        raise ValueError(
            f"{what} needs the second derivative of the loss, and {objective.name} has none: use "
            "order=1 and another step."
        )
    return int(order), step


def _refuse_tree_params(e: Any) -> None:
    for name, nothing in _ONLY_TREES.items():
        given = getattr(e, name)
        if given is not None and not (isinstance(given, str) and given == nothing):
            raise ValueError(
                f"{name} is for weald's own trees: with estimator={e.estimator!r}, leave it at "
                f"{nothing!r}."
            )
