"""Members with names, as voting and stacking have them in scikit-learn, fitted by weald."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import _routing_enabled, process_routing

from weald._engine import FloatArray
from weald.crossfit.fits import Candidate, CandidateFits, Fitted, Job, drive_fits
from weald.input.fit_data import FitData
from weald.input.state import SavedEstimator, require
from weald.members.ensemble import Ensemble
from weald.members.foreign_members import ForeignMembers

__all__ = ["NamedMembers", "copies", "routed_to_members", "sliceable"]

_QUESTIONS = ("predict", "predict_proba", "decision_function")


class NamedMembers(Ensemble, SavedEstimator):
    """An ensemble with the parameter `estimators`, a list of (name, estimator)."""

    estimators: Any
    n_jobs: Any
    verbose: Any

    def _fit_jobs(
        self,
        candidates: list[Candidate],
        jobs: list[Job],
        data: FitData,
        *,
        verbose: int,
        told: Callable[[int, Fitted], None] | None = None,
    ) -> CandidateFits:
        """Carry out fits, with a bar if `verbose`; the first that fails is the error."""
        work = CandidateFits(
            candidates,
            jobs,
            data,
            n_jobs=effective_n_jobs(self.n_jobs),
            strict=True,
            told=told,
        )
        drive_fits(work, self, verbose=verbose)
        return work

    def _keep(self, models: list[Any]) -> None:
        """Note the fitted members, in the order of those that were not dropped."""
        classes = getattr(self, "classes_", None)
        n_classes = 0 if classes is None or isinstance(classes, list) else len(classes)
        self._members = ForeignMembers(models, n_classes, 0)
        self.n_estimators_ = len(models)
        left = iter(models)
        self.named_estimators_ = Bunch()
        for name, given in self.estimators:
            dropped = isinstance(given, str) and given == "drop"
            self.named_estimators_[name] = member = given if dropped else next(left)
            if hasattr(member, "feature_names_in_"):
                self.feature_names_in_ = member.feature_names_in_

    def _check_state(self) -> None:
        self._check_members()
        state = vars(self)
        if "_members" in state:
            require(not self._members.grid, self, "the order of its members")
        if "final_estimator_" in state:
            require(hasattr(state["final_estimator_"], "predict"), self, "its final model")
        if "stack_method_" in state and "_members" in state:
            asked = list(zip(self._members.estimators(), state["stack_method_"], strict=True))
            known = all(how in _QUESTIONS and hasattr(member, how) for member, how in asked)
            require(known, self, "what it asks its members")
        for name in {"le_", "_label_encoder"} & set(state):  # one, or one for each output
            encoders = getattr(self, name)
            for one in encoders if isinstance(encoders, list) else [encoders]:
                require(hasattr(one, "inverse_transform"), self, "the codes of its classes")
        self._check_codes()

    def _check_codes(self) -> None:
        """Members of a vote say codes of classes, which are counted."""
        labels = getattr(vars(self).get("le_"), "classes_", None)
        if labels is None:
            return
        for member in self._members.estimators():
            codes: Any = getattr(member, "classes_", None)
            if isinstance(codes, np.ndarray):
                inside = codes.dtype.kind in "iu" and ((codes >= 0) & (codes < len(labels))).all()
                require(inside, self, "the codes of its classes")

    def member_predictions(self, X: Any) -> FloatArray:
        """What each member says.

        Returns
        -------
        array of shape (n_estimators_, n, n_classes) for classifiers (members without
        ``predict_proba`` say 1 for the class they predict), else (n_estimators_, n)
        """
        each = self._fitted_members().each(X, self.n_jobs)
        return each[:, :, 0] if is_classifier(self) else each[:, :, 0, 0]


def sliceable(X: Any) -> Any:
    """X, such that rows can be taken out of it; anything with rows will do, text too."""
    if sp.issparse(X):
        table: Any = X
        return table if table.format in ("csr", "csc") else table.tocsr()
    if not hasattr(X, "__getitem__") and hasattr(X, "__array__"):
        return np.asarray(X)
    return X


def copies(
    names: Any, estimators: Any, params: dict[str, dict[str, Any]], ask: Callable[..., Any]
) -> list[Candidate]:
    """The members that are not dropped."""
    return [
        Candidate(name, partial(clone, estimator), partial(ask, name), params[name])
        for name, estimator in zip(names, estimators, strict=True)
        if not (isinstance(estimator, str) and estimator == "drop")
    ]


def routed_to_members(
    ensemble: Any, names: Any, fit_params: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """What else goes to the ``fit`` of each member, by metadata routing; else weights only."""
    if _routing_enabled():
        routed = process_routing(ensemble, "fit", **fit_params)
        return {name: dict(routed[name]["fit"]) for name in names}
    weights = {key: value for key, value in fit_params.items() if key == "sample_weight"}
    return {name: dict(weights) for name in names}
