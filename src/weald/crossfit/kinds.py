"""Mixtures of class shares, and mixtures of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin

from weald._engine import FloatArray
from weald.crossfit.candidate_risks import LevelOneRows
from weald.crossfit.mixture import Mixture
from weald.input.labels import check_single_target, encode_labels
from weald.input.targets import LogShares
from weald.intervals import Calibration, ConformalIntervals
from weald.members.foreign import member_finite_values, member_shares

__all__ = ["ClassMixture", "NumberMixture"]


class ClassMixture(LogShares, ClassifierMixin, Mixture):
    """Labels in, mixed class shares out."""

    _classifier = True
    classes_: npt.NDArray[Any]
    n_classes_: int

    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        labels = encode_labels(y, n)
        if labels.multi_output:
            raise ValueError(f"{type(self).__name__} learns one target, y has several columns.")
        self.classes_ = labels.classes[0]
        self.n_classes_ = len(self.classes_)
        return labels.codes[:, 0]

    def _said(self, model: Any, X: Any) -> FloatArray:
        return member_shares(model, X, n_classes=self.n_classes_, vote=False)

    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities: the mixture of what the members say, shape (n, n_classes)."""
        return self._mixed(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of the largest probability."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_.take(shares.argmax(axis=1)))


class NumberMixture(ConformalIntervals, RegressorMixin, Mixture):
    """Numbers in, mixed numbers out."""

    _classifier = False
    _to_calibrate = ""

    def _see_mixed(self, level: LevelOneRows, mixed: FloatArray) -> None:
        self._calibration = Calibration.of(level.y, mixed, level.w, source="level-1 rows")

    def _read_target(self, y: Any, n: int) -> npt.NDArray[Any]:
        several = f"{type(self).__name__} learns one target, y has several columns."
        return check_single_target(y, n, several)

    def _said(self, model: Any, X: Any) -> FloatArray:
        return member_finite_values(model, X)[:, None]

    def predict(self, X: Any) -> FloatArray:
        """The mixture of what the members say, shape (n,)."""
        return self._mixed(X)[:, 0]
