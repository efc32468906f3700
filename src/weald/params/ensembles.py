"""Parameters of forests, bagging and naive ensembles, parsed once.

How many members there are and who looks on while they are made is the same for all of them. The
members' own parameters are those of trees (:mod:`weald.params.growth`), or their own business.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np

from weald._engine import FloatArray
from weald.params.columns import Columns
from weald.params.growth import (
    GrowthParams,
    check_count,
    check_flag,
    check_fraction,
    is_real,
    refuse,
    resolve_growth,
)
from weald.params.warnings import warn_user

__all__ = [
    "BaggingParams",
    "ForestParams",
    "WatchParams",
    "check_patience",
    "check_validation_fraction",
    "check_verbosity",
    "resolve_bagging_params",
    "resolve_forest_params",
    "resolve_watch",
]


@dataclass(frozen=True, kw_only=True)
class WatchParams:
    """How many members there are to be, and who looks on while they are made."""

    n_estimators: int
    out_of_bag: bool = False
    scorer: Any = None
    patience: int | None = None  # stop when the out-of-bag score rests for so many members
    tol: float = 0.0
    verbose: int = 0
    warm_start: bool = False
    keep_partial: bool = False

    @property
    def watched(self) -> bool:
        """Somebody looks on, or may stop the growth: it goes in small steps."""
        return self.verbose > 0 or self.patience is not None or self.keep_partial


@dataclass(frozen=True, kw_only=True)
class ForestParams(GrowthParams, WatchParams):
    """What the parameters of a forest mean, beside how its rows are drawn."""

    keep_rows: bool


@dataclass(frozen=True, kw_only=True)
class BaggingParams(WatchParams):
    """What the parameters of an ensemble mean, beside those of its members and their draws."""

    threads: int  # members made at a time
    vote: bool = False  # each member votes for one class
    weights: FloatArray | None = None  # of the members, given by the user
    weigh_by_oob: bool = False  # members, by their out-of-bag performance
    combine: Any = None  # instead of the mean


def resolve_watch(estimator: Any) -> WatchParams:
    """Check the parameters that all ensembles have in common."""
    e = estimator
    n_estimators = check_count("n_estimators", e.n_estimators, least=1)
    patience = check_patience(e.n_iter_no_change)
    out_of_bag, scorer = _check_oob_score(e.oob_score)
    return WatchParams(
        n_estimators=n_estimators,
        out_of_bag=out_of_bag,
        scorer=scorer,
        patience=patience,
        tol=check_fraction("tol", e.tol, low=0.0, high=np.inf),
        verbose=check_verbosity(e.verbose),
        warm_start=check_flag("warm_start", e.warm_start),
        keep_partial=check_flag("keep_partial", e.keep_partial),
    )


def resolve_forest_params(
    estimator: Any,
    criteria: dict[str, str],
    n: int,
    columns: Columns,
    total_weight: float,
    *,
    splitter: str,
    draws_rows: bool,
) -> ForestParams:
    """Check a forest's parameters against the table it is fitted to: see :func:`resolve_growth`."""
    e = estimator
    growth = resolve_growth(e, criteria, n, columns, total_weight, splitter=splitter)
    alpha = e.ccp_alpha
    if not is_real(alpha) or not 0 <= alpha < np.inf:
        raise refuse("ccp_alpha", "a number >= 0", alpha)
    growth.rules.prune_alpha = float(alpha)
    growth.rules.random_ties = True
    watch = resolve_watch(e)
    keep_rows = check_flag("keep_targets", getattr(e, "keep_targets", False))
    if not draws_rows and watch.out_of_bag:
        raise ValueError("Out of bag estimation only available if bootstrap=True")
    if not draws_rows and watch.patience is not None:
        warn_user(
            f"n_iter_no_change={watch.patience} watches the out-of-bag score, which is only there "
            "if bootstrap=True: all n_estimators trees are grown."
        )
        watch = replace(watch, patience=None)
    return ForestParams(**vars(growth), **vars(watch), keep_rows=keep_rows)


def resolve_bagging_params(estimator: Any, threads: int, vote: bool) -> BaggingParams:
    """Check the parameters of a bagging estimator."""
    watch = resolve_watch(estimator)
    weighting = estimator.weighting
    by_performance = isinstance(weighting, str) and weighting == "oob"
    combine = estimator.combine
    if combine is not None and not callable(combine):
        raise refuse("combine", "None or a function combine(answers, weights)", combine)
    if combine is not None and (watch.out_of_bag or watch.patience or by_performance):
        raise ValueError(
            "Out-of-bag predictions are means: with combine, leave oob_score, n_iter_no_change and "
            "weighting='oob' alone."
        )
    return BaggingParams(
        **vars(watch),
        threads=threads,
        vote=vote,
        weights=None if by_performance else _given_weights(weighting, watch.n_estimators),
        weigh_by_oob=by_performance,
        combine=combine,
    )


def _check_oob_score(value: Any) -> tuple[bool, Any]:
    """Whether there is to be an out-of-bag score, and by which function if not by the usual one."""
    if isinstance(value, bool | np.bool_):
        return bool(value), None
    wanted = "True, False or a function metric(y_true, y_pred), greater is better"
    if not callable(value):
        raise refuse("oob_score", wanted, value)
    try:
        signature(value).bind("y_true", "y_pred")
    except TypeError as error:
        raise refuse("oob_score", f"{wanted} (the metric itself, not a scorer)", value) from error
    except ValueError:  # a function that does not say what it takes
        pass
    return True, value


def check_verbosity(value: Any) -> int:
    """A whole number, or True for 1."""
    if isinstance(value, bool | np.bool_):
        return int(value)
    return check_count("verbose", value, least=0)


def check_patience(value: Any) -> int | None:
    """How many rounds without a gain end a fit; None: none do."""
    return None if value is None else check_count("n_iter_no_change", value, least=1)


def check_validation_fraction(value: Any, *, optional: bool) -> float | None:
    """Share of the rows that is held out; None, if that is `optional`."""
    if optional and value is None:
        return None
    if not is_real(value) or not 0 < value < 1:
        wanted = "a number between 0 and 1 (exclusive)"
        raise refuse("validation_fraction", f"None or {wanted}" if optional else wanted, value)
    return float(value)


def _given_weights(value: Any, n_estimators: int) -> FloatArray | None:
    """A weight for every member, or None if they count alike."""
    if isinstance(value, str) and value == "uniform":
        return None
    wanted = f"'uniform', 'oob' or {n_estimators} numbers >= 0, one for each of n_estimators"
    if isinstance(value, str) or value is None:
        raise refuse("weighting", wanted, value)
    try:
        weights = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise refuse("weighting", wanted, value) from error
    if weights.shape != (n_estimators,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise refuse("weighting", wanted, value)
    if not weights.any():
        raise ValueError("weighting gives no weight to any member.")
    return weights
