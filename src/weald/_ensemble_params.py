"""Parameters of bagging and naive ensembles, parsed once; without those of the members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from weald._params import check_count, check_flag, check_fraction, is_int, refuse

__all__ = ["EnsembleParams", "check_n_jobs", "check_verbosity", "resolve_bagging_params"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EnsembleParams:
    """What the parameters of an ensemble mean, beside those of its members and their draws."""

    n_estimators: int
    threads: int  # members made at a time
    vote: bool = False  # each member votes for one class
    weights: FloatArray | None = None  # of the members, given by the user
    weigh: bool = False  # the members by their out-of-bag performance
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


def resolve_bagging_params(estimator: Any, threads: int, vote: bool) -> EnsembleParams:
    """Check the parameters of a bagging estimator."""
    e = estimator
    n_estimators = check_count("n_estimators", e.n_estimators, least=1)
    patience = e.n_iter_no_change
    if patience is not None:
        patience = check_count("n_iter_no_change", patience, least=1)
    scorer = e.oob_score if callable(e.oob_score) else None
    by_performance = isinstance(e.weighting, str) and e.weighting == "oob"
    return EnsembleParams(
        n_estimators=n_estimators,
        threads=threads,
        vote=vote,
        weights=None if by_performance else _given_weights(e.weighting, n_estimators),
        weigh=by_performance,
        out_of_bag=scorer is not None or check_flag("oob_score", e.oob_score),
        scorer=scorer,
        patience=patience,
        tol=check_fraction("tol", e.tol, low=0.0, high=np.inf),
        verbose=check_verbosity(e.verbose),
        warm_start=check_flag("warm_start", e.warm_start),
        keep_partial=check_flag("keep_partial", e.keep_partial),
    )


def check_verbosity(value: Any) -> int:
    """A whole number, or True for 1."""
    if isinstance(value, bool | np.bool_):
        return int(value)
    return check_count("verbose", value, least=0)


def check_n_jobs(value: Any) -> int | None:
    """None, or a whole number other than 0."""
    if value is not None and (not is_int(value) or value == 0):
        raise refuse("n_jobs", "None or a whole number other than 0", value)
    return None if value is None else int(value)


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
