"""The two kinds of stagewise models: two classes in and probabilities out, numbers in and out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score

from weald.input.table import check_target, encode_again, encode_labels
from weald.stagewise.base import StagewiseBase
from weald.losses import Loss
from weald.losses.links import two_shares
from weald.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["Numbers", "TwoClasses"]

FloatArray = npt.NDArray[np.float64]


class TwoClasses(ClassifierMixin, StagewiseBase):
    """Two classes in, probabilities out."""

    _kind = "binary"
    classes_: npt.NDArray[Any]
    n_classes_: int

    def _get_estimator(self) -> Any:
        if self.estimator is None:
            return DecisionTreeClassifier(max_depth=1, max_bins=255)
        return self.estimator

    def _read_target(self, y: Any, n: int) -> FloatArray:
        labels = encode_labels(y, n)
        if labels.multi_output:
            raise ValueError("y should be a 1d array, one label per row: fit a model per output.")
        self.classes_ = labels.classes[0]
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y has {self.n_classes_} classes, use AdaBoostClassifier or one model per class "
                "(sklearn.multiclass.OneVsRestClassifier)."
            )
        return labels.codes[:, 0].astype(np.float64)

    def _read_validation_target(self, y: Any, n: int) -> FloatArray:
        return encode_again(y, n, self.classes_).astype(np.float64)

    def _wrong_kind(self, loss: Loss) -> ValueError:
        return ValueError(
            f"loss={self.loss!r} is not a loss of two classes: use 'log_loss', 'exponential', "
            "'smooth_hinge', 'focal', or a loss of your own whose kind is 'binary'."
        )

    def _sides(self) -> npt.NDArray[Any]:
        return self.classes_

    def _nothing_to_learn(self) -> bool:
        return self.n_classes_ == 1

    def decision_function(self, X: Any) -> FloatArray:
        """Score ``F = init + sum_t nu_t h_t``; above 0 for ``classes_[1]``.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        return self._scores(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class on whose side the score is.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        return self._labels(self._scores(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities, ``P(classes_[1]) = link^-1(F)`` with the link of the loss.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n, n_classes_)
        """
        return self._shares(self._scores(X))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Natural logarithm of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """:meth:`decision_function` after 1, 2, ... rounds."""
        yield from self._staged_scores(X)

    def staged_predict(self, X: Any) -> Iterator[npt.NDArray[Any]]:
        """:meth:`predict` after 1, 2, ... rounds."""
        for F in self._staged_scores(X):
            yield self._labels(F)

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """:meth:`predict_proba` after 1, 2, ... rounds."""
        for F in self._staged_scores(X):
            yield self._shares(F)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Accuracy after 1, 2, ... rounds."""
        for said in self.staged_predict(X):
            yield float(accuracy_score(y, said, sample_weight=sample_weight))

    def _labels(self, F: FloatArray) -> npt.NDArray[Any]:
        return self.classes_.take((F > 0).astype(np.intp))

    def _shares(self, F: FloatArray) -> FloatArray:
        if self.n_classes_ == 1:
            return np.ones((len(F), 1))
        return two_shares(self.loss_.link, F)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class Numbers(RegressorMixin, StagewiseBase):
    """Numbers in, numbers out."""

    _kind = "regression"

    def _get_estimator(self) -> Any:
        if self.estimator is None:
            return DecisionTreeRegressor(max_depth=3, max_bins=255)
        return self.estimator

    def _read_target(self, y: Any, n: int) -> FloatArray:
        target = check_target(y, n)
        if target.shape[1] > 1:
            raise ValueError("y should be a 1d array, one number per row: fit a model per output.")
        if np.abs(target).max(initial=0.0) > 1e100:
            raise ValueError("y holds numbers beyond 1e100, whose squares may overflow: rescale y.")
        return target[:, 0]

    def _read_validation_target(self, y: Any, n: int) -> FloatArray:
        return Numbers._read_target(self, y, n)

    def _wrong_kind(self, loss: Loss) -> ValueError:
        return ValueError(
            f"loss={self.loss!r} is a loss of classes: use one of numbers such as 'squared_error', "
            "or StagewiseClassifier."
        )

    def _sides(self) -> npt.NDArray[Any]:
        return np.array([-1, 1])

    def predict(self, X: Any) -> FloatArray:
        """What the model predicts, ``link^-1(init + sum_t nu_t h_t)`` with the link of the loss.

        Parameters
        ----------
        X : table of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        return self._predictions(self._scores(X))

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """:meth:`predict` after 1, 2, ... rounds."""
        for F in self._staged_scores(X):
            yield self._predictions(F)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R² after 1, 2, ... rounds."""
        for said in self.staged_predict(X):
            yield float(r2_score(y, said, sample_weight=sample_weight))

    def _predictions(self, F: FloatArray) -> FloatArray:
        return np.asarray(self.loss_.link.inverse(F))
