"""Where raw predictions start: the best constant, 0, or what another model says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from weald._engine import FloatArray, resolve_threads
from weald.boosting.model import AdditiveModel, Start
from weald.boosting.objective import Objective
from weald.input.fit_data import FitData
from weald.losses import Identity, Link
from weald.losses.base import FAR
from weald.members.foreign import fit_member
from weald.params.growth import refuse

__all__ = ["is_model", "make_start"]


def is_model(init: Any) -> bool:
    """Whether `init` is another model, so that the table as it came is needed."""
    return init is not None and not isinstance(init, str)


def make_start(
    init: Any, objective: Objective, rows: FitData, classes: npt.NDArray[Any] | None
) -> tuple[Start, Any]:
    """Where raw predictions start, and what becomes of `init`.

    Parameters
    ----------
    init : None, "zero" or estimator
        An estimator is fitted to the rows, unless it is fitted already.
    objective : Objective
    rows : FitData
    classes : array, optional
        Labels, if the targets are class codes.

    Returns
    -------
    the start; a float, an array of shape (n_raw,) or the fitted estimator
    """
    K = objective.n_raw
    if is_model(init):
        model = InitModel(_fitted(init, rows, classes), objective.link, K, classes)
        return Start(np.zeros(K), model), model.estimator
    if init is None:
        offset = rows.offset
        added = None if offset is None else np.broadcast_to(offset, (len(rows), K))
        constant = objective.constant(rows.y, rows.weights, added)
    elif init == "zero":
        constant = np.zeros(K)
    else:
        raise refuse("init", "None, 'zero' or an estimator", init)
    return Start(constant), float(constant[0]) if K == 1 else constant


def _fitted(init: Any, rows: FitData, classes: npt.NDArray[Any] | None) -> Any:
    """The estimator, fitted if it was not before."""
    wanted = "predict" if classes is None else "predict_proba"
    if isinstance(init, type) or not hasattr(init, "fit") or not hasattr(init, wanted):
        raise refuse("init", f"None, 'zero' or an estimator with fit and {wanted}", init)
    try:
        check_is_fitted(init)
    except NotFittedError:
        pass
    else:
        return init
    model = clone(init)
    target = rows.y if classes is None else classes.take(rows.y.astype(np.intp))
    if rows.weights is not None and not has_fit_parameter(model, "sample_weight"):
        raise ValueError(f"init={init!r} takes no sample_weight, which was given to fit.")
    return fit_member(model, rows.given, target, rows.weights, routed=False)


@dataclass(frozen=True, eq=False)
class InitModel:
    """Another model's predictions as raw ones, cut to +-30 unless the link is the identity."""

    estimator: Any
    link: Link
    n_raw: int
    classes: npt.NDArray[Any] | None

    def __call__(self, X: Any) -> FloatArray:
        """Shape (n, n_raw)."""
        own = self._own_raw(X)
        if own is not None:
            return own
        if self.classes is None:
            said = np.asarray(self.estimator.predict(X), dtype=np.float64)
        else:
            said = self._shares(X)
        if said.ndim == 1:
            said = said[:, None]
        if said.shape != (X.shape[0], said.shape[1]) or said.shape[1] not in (1, self.n_raw):
            raise ValueError(
                f"init={self.estimator!r} predicts an array of shape {said.shape}, but the model "
                f"has {self.n_raw} score(s) for each of {X.shape[0]} rows."
            )
        said = np.broadcast_to(said, (X.shape[0], self.n_raw))
        if isinstance(self.link, Identity):
            scores = np.array(said)
        else:
            if self.classes is None:
                said = np.maximum(said, 0.0)
            with np.errstate(divide="ignore"):
                scores = np.clip(self.link.link(said), -FAR, FAR)
        if not np.isfinite(scores).all():
            raise ValueError(f"init={self.estimator!r} predicts something that is not finite.")
        return scores

    def _own_raw(self, X: Any) -> FloatArray | None:
        """Of a boosted model of weald with the same link, raw predictions as they are."""
        model = getattr(self.estimator, "_model", None)
        if not isinstance(model, AdditiveModel):
            return None
        one = self.estimator
        same = one._objective.link == self.link and np.array_equal(
            getattr(one, "classes_", ()), () if self.classes is None else self.classes
        )
        if not same or model.n_raw != self.n_raw:
            return None
        return model.raw(one, X, None, resolve_threads(one.n_jobs))

    def _shares(self, X: Any) -> FloatArray:
        """Probabilities of the classes, or of the second of two if there is one score."""
        assert self.classes is not None
        shares = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
        known = np.asarray(self.estimator.classes_).tolist()
        placed = np.zeros((len(shares), len(self.classes)))
        for k, label in enumerate(self.classes.tolist()):
            if label in known:
                placed[:, k] = shares[:, known.index(label)]
        return placed[:, 1:] if self.n_raw == 1 else placed
