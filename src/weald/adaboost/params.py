"""Parameters of AdaBoost, parsed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weald._engine import resolve_threads
from weald.params.ensembles import check_patience, check_validation_fraction, check_verbosity
from weald.params.growth import (
    check_choice,
    check_count,
    check_flag,
    check_fraction,
    is_real,
    refuse,
)

__all__ = ["AdaBoostParams", "resolve_adaboost"]


@dataclass(frozen=True)
class AdaBoostParams:
    """What the parameters of AdaBoost mean, beside those of its members."""

    n_estimators: int
    learning_rate: float
    resample: bool
    when_worse: str
    min_edge: float
    patience: int | None  # stop when the validation score rests for so many rounds
    validation_fraction: float
    tol: float
    keep_weights: bool
    threads: int
    verbose: int
    warm_start: bool
    keep_partial: bool


def resolve_adaboost(estimator: Any) -> AdaBoostParams:
    """Check the parameters that classifiers and regressors have in common."""
    e = estimator
    rate = e.learning_rate
    if not is_real(rate) or not 0 < rate < np.inf:
        raise refuse("learning_rate", "a number > 0", rate)
    resample = check_flag("resample", e.resample)
    when_worse = check_choice("when_worse", e.when_worse, ("stop", "skip", "redraw"))
    if when_worse == "redraw" and not resample:
        raise ValueError(
            "when_worse='redraw' draws the rows again, which needs resample=True: weights alone "
            "would give the same member."
        )
    patience = check_patience(e.n_iter_no_change)
    fraction = check_validation_fraction(e.validation_fraction, optional=False)
    assert fraction is not None
    return AdaBoostParams(
        n_estimators=check_count("n_estimators", e.n_estimators, least=1),
        learning_rate=float(rate),
        resample=resample,
        when_worse=when_worse,
        min_edge=check_fraction("min_edge", getattr(e, "min_edge", 0.0), low=0.0, high=0.5),
        patience=patience,
        validation_fraction=fraction,
        tol=check_fraction("tol", e.tol, low=0.0, high=np.inf),
        keep_weights=check_flag("keep_weights", e.keep_weights),
        threads=resolve_threads(e.n_jobs),
        verbose=check_verbosity(e.verbose),
        warm_start=check_flag("warm_start", e.warm_start),
        keep_partial=check_flag("keep_partial", e.keep_partial),
    )
