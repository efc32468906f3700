"""Stacking: a final model learns from what members say of rows that they have not seen.

The face is scikit-learn's, and so is the code of questions. Beyond it any splitter will do: folds
need neither cover all rows (time series) nor predict a row only once (repeated folds). Level-1 rows
are those that some fold predicts; a row that is predicted k times counts 1/k each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from sklearn import ensemble as sk
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold
from sklearn.utils.validation import _check_method_params, check_is_fitted

from weald.crossfit.fits import Candidate, CandidateFits, Job
from weald.crossfit.folds import make_folds
from weald.crossfit.level_one import LevelOne, fold_jobs, level_one
from weald.crossfit.out_of_bag import with_out_of_bag
from weald.input.fit_data import FitData
from weald.input.labels import check_groups
from weald.input.raw_table import take_rows
from weald.input.targets import all_or_nothing
from weald.intervals import Calibration, ConformalIntervals
from weald.intervals.copies import TO_CALIBRATE, check_calibration
from weald.members.foreign import fit_member, spread, takes_weights
from weald.params.growth import is_int
from weald.params.names import own_names
from weald.stacking.named import NamedMembers, copies, routed_to_members, sliceable

__all__ = ["StackingClassifier", "StackingRegressor"]


_Base: Any = sk.StackingRegressor.__bases__[-1]


class StackingEnsemble(NamedMembers, _Base):
    """What stacking classifiers and regressors share."""

    _groups: Any = None

    @property
    def _combination(self) -> str:
        return "other"

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Any:
        """Fit members and final model; labels are codes here already."""
        names, estimators = self._validate_estimators()
        self._validate_final_estimator()
        params = routed_to_members(self, names, fit_params)
        X, y = sliceable(X), np.asarray(y)
        methods = self._methods(names, estimators)
        n_classes = len(self.classes_) if is_classifier(self) and y.ndim == 1 else 0
        ask = partial(_said, methods=methods, n_classes=n_classes)
        candidates = copies(names, estimators, params, ask)
        if self.cv == "prefit":
            models = [one for one in estimators if not isinstance(one, str)]
            for model in models:
                check_is_fitted(model)
            self._keep(models)
            self.stack_method_ = _told(methods)
            said = [
                getattr(model, how)(X)
                for model, how in zip(models, self.stack_method_, strict=True)
            ]
            rows, weights = np.arange(len(y)), None
        else:
            level, weights = self._crossed(candidates, FitData(X, y), methods, n_classes)
            rows, said = level.rows, level.said
        self._fit_final(X, y, rows, said, weights, fit_params)
        return self

    def _methods(self, names: Any, estimators: Any) -> dict[str, Any]:
        """What each member is asked for, or the error that it lacks it; its fit comes first."""
        methods: dict[str, Any] = {}
        for name, estimator in zip(names, estimators, strict=True):
            if isinstance(estimator, str) and estimator == "drop":
                continue
            try:
                methods[name] = self._method_name(name, estimator, self.stack_method)
            except ValueError as error:
                methods[name] = error
        return methods

    def _crossed(
        self, candidates: list[Candidate], data: FitData, methods: dict[str, Any], n_classes: int
    ) -> tuple[LevelOne, Any]:
        """Fit the members to the folds and to all rows."""
        classes = is_classifier(self)
        folds = make_folds(self.cv, data.X, data.y, self._groups, classes=classes)
        if self.reuse_out_of_bag and self._groups is None:
            candidates = [
                with_out_of_bag(one, self.cv, data, n_classes, methods[one.name])
                for one in candidates
            ]
        jobs: list[Job] = []
        for m, candidate in enumerate(candidates):
            jobs += [Job(m)] if candidate.out_of_bag else [Job(m), *fold_jobs(m, folds)]
        work = self._fit_jobs(candidates, jobs, data, verbose=int(self.verbose))
        self._keep([self._on_all(work, m) for m in range(len(candidates))])
        self.stack_method_ = _told(methods)
        level = level_one(work, list(range(len(candidates))), folds)
        return level, level.weights(None, len(data))

    @staticmethod
    def _on_all(work: CandidateFits, m: int) -> Any:
        return next(one.model for job, one in work.of(m) if job.fold is None)

    def _concatenate_predictions(self, X: Any, predictions: Any) -> Any:
        """Level-1 columns, and those of X if it is passed through."""
        return super()._concatenate_predictions(sliceable(X), predictions)

    def _fit_final(
        self, X: Any, y: Any, rows: Any, said: Any, weights: Any, fit_params: dict[str, Any]
    ) -> None:
        """Fit the final model to the level-1 rows."""
        if len(rows) == len(y) and (rows == np.arange(len(y))).all():
            meta, target, params = self._concatenate_predictions(X, said), y, dict(fit_params)
        else:
            meta = self._concatenate_predictions(take_rows(X, rows), said)
            target = y[rows]
            params = _check_method_params(X, params=fit_params, indices=rows)
        if weights is not None and takes_weights(self.final_estimator_, routed=False):
            given = params.get("sample_weight")
            params["sample_weight"] = weights if given is None else weights * given
        try:
            fit_member(self.final_estimator_, meta, target, fit_params=params)
        except ValueError as error:
            self._tell_of_bad_numbers(said, error)
            raise
        self._see_final(meta, target, rows, params)

    def _see_final(self, meta: Any, target: Any, rows: Any, params: dict[str, Any]) -> None:
        """Look at the level-1 rows, their targets, and what else the final model got."""

    def _tell_of_bad_numbers(self, said: Any, error: ValueError) -> None:
        members = [name for name, one in self.named_estimators_.items() if not isinstance(one, str)]
        for name, one in zip(members, said, strict=True):
            for part in one if isinstance(one, list) else [one]:
                if np.asarray(part).dtype.kind == "f" and not np.isfinite(part).all():
                    raise ValueError(
                        f"The member {name!r} predicts numbers that are not finite, which the "
                        "final model does not take: mend the member or drop it."
                    ) from error

    @contextmanager
    def _grouped(self, groups: Any, y: Any) -> Iterator[None]:
        """Hand the groups past scikit-learn, whose ``fit`` does not know them."""
        self._groups = None if groups is None else check_groups(groups, len(y))
        try:
            yield
        finally:
            self.__dict__.pop("_groups", None)


def _told(methods: dict[str, Any]) -> list[str]:
    for method in methods.values():
        if isinstance(method, Exception):
            raise method
    return list(methods.values())


def _said(name: str, model: Any, X: Any, *, methods: dict[str, Any], n_classes: int) -> Any:
    """What a member says, one column for each class if its method says that much."""
    method = methods[name]
    if isinstance(method, Exception):
        raise method
    said = getattr(model, method)(X)
    if isinstance(said, list):
        return said
    said = np.asarray(said)
    classes = getattr(model, "classes_", None)
    if n_classes == 0 or said.ndim == 1 or method == "predict" or classes is None:
        return said
    if len(classes) == n_classes or said.shape[1] != len(classes):
        return said
    # The training rows lack a class: it gets no share, or a decision below all others.
    absent = 0.0 if method == "predict_proba" else said.min()
    return spread(said, model, n_classes, absent)


@own_names
class StackingClassifier(sk.StackingClassifier, StackingEnsemble):
    """A final classifier on top of members of any kinds, as scikit-learn's, and with any splitter.

    Parameters
    ----------
    estimators : list of (str, estimator)
        A member may be "drop". Regressors are members too, of codes.
    final_estimator : classifier, optional
        Learns from what the members say; default: logistic regression. Another
        `StackingClassifier` makes several layers.
    cv : int, splitter, iterable of (train, test), or "prefit", optional
        Folds of which every one predicts rows that its members have not seen; default: 5 stratified
        ones in the order of the rows. Rows that no fold predicts (as in a time series) do not train
        the final model. "prefit" takes members that are fitted already.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What members are asked for; "auto" is the first of the three they have.
    n_jobs : int, optional
        Fits that run at the same time. None means 1; weald's own estimators then use all cores.
    passthrough : bool, default=False
        The final model sees X as well.
    verbose : int, default=0
        1 shows a bar over members and folds.
    reuse_out_of_bag : bool, default=True
        weald's forests and bags that draw rows with replacement know what to say of rows they have
        not seen: one fit then takes the place of those on folds. Only where `cv` is None or a
        number, and no groups are given.

    Attributes
    ----------
    estimators_ : list of fitted members
        On all rows; to class codes.
    named_estimators_ : Bunch
    final_estimator_ : classifier
    stack_method_ : list of str
    classes_ : array, or list of arrays
    n_estimators_ : int
    n_features_in_, feature_names_in_ : if members know them

    Examples
    --------
    Members are judged on later rows only:

    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> from weald import GradientBoostingClassifier, StackingClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
    >>> members = [
    ...     ("linear", LogisticRegression()),
    ...     ("trees", GradientBoostingClassifier(n_estimators=50, random_state=0)),
    ... ]
    >>> stack = StackingClassifier(members, cv=TimeSeriesSplit(4)).fit(X[:300], y[:300])
    >>> stack.score(X[300:], y[300:]) > 0.9
    True
    """

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        reuse_out_of_bag: bool = True,
    ) -> None:
        super().__init__(
            estimators,
            final_estimator,
            cv=cv,
            stack_method=stack_method,
            n_jobs=n_jobs,
            passthrough=passthrough,
            verbose=verbose,
        )
        self.reuse_out_of_bag = reuse_out_of_bag

    def fit(self, X: Any, y: Any, *, groups: Any = None, **fit_params: Any) -> StackingClassifier:
        """Fit the members, and the final model to what they say of rows they have not seen.

        Parameters
        ----------
        X : table, as the members take it
        y : array-like of shape (n,)
        groups : array-like of shape (n,), optional
            Rows of a group stay together in the folds.
        **fit_params : dict
            ``sample_weight``, which the final model gets too, and with metadata routing whatever
            members ask for.

        Returns
        -------
        self
        """
        with all_or_nothing(self), self._grouped(groups, y):
            return super().fit(X, y, **fit_params)  # type: ignore[no-any-return]


@own_names
class StackingRegressor(ConformalIntervals, sk.StackingRegressor, StackingEnsemble):
    """A final regressor on top of members of any kinds, as scikit-learn's, and with any splitter.

    Parameters
    ----------
    estimators : list of (str, regressor)
        A member may be "drop".
    final_estimator : regressor, optional
        Learns from what the members say; default: ridge regression. Another `StackingRegressor`
        makes several layers.
    cv : int, splitter, iterable of (train, test), or "prefit", optional
        Folds of which every one predicts rows that its members have not seen; default: 5, in the
        order of the rows. Rows that no fold predicts (as in a time series) do not train the final
        model. "prefit" takes members that are fitted already.
    n_jobs : int, optional
        Fits that run at the same time. None means 1; weald's own estimators then use all cores.
    passthrough : bool, default=False
        The final model sees X as well.
    verbose : int, default=0
        1 shows a bar over members and folds.
    reuse_out_of_bag : bool, default=True
        weald's forests and bags that draw rows with replacement know what to say of rows they have
        not seen: one fit then takes the place of those on folds. Only where `cv` is None or a
        number, and no groups are given.
    calibration : None, int, splitter or iterable of (train, test), default=None
        Folds of the level-1 rows. Copies of the final model are fitted to them, and their errors on
        the rows they have not seen make the intervals of :meth:`predict_interval`. A number keeps
        the groups together, if there are any.

    Attributes
    ----------
    estimators_ : list of fitted members, on all rows
    named_estimators_ : Bunch
    final_estimator_ : regressor
    stack_method_ : list of str
    n_estimators_ : int
    n_features_in_, feature_names_in_ : if members know them

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from weald import RandomForestRegressor, StackingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("ridge", RidgeCV()), ("forest", RandomForestRegressor(random_state=0))]
    >>> stack = StackingRegressor(members).fit(X[::2], y[::2])
    >>> stack.score(X[1::2], y[1::2]) > 0.4
    True
    """

    _to_calibrate = TO_CALIBRATE

    def __init__(
        self,
        estimators: Any,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        reuse_out_of_bag: bool = True,
        calibration: Any = None,
    ) -> None:
        super().__init__(
            estimators,
            final_estimator,
            cv=cv,
            n_jobs=n_jobs,
            passthrough=passthrough,
            verbose=verbose,
        )
        self.reuse_out_of_bag = reuse_out_of_bag
        self.calibration = calibration

    def fit(self, X: Any, y: Any, *, groups: Any = None, **fit_params: Any) -> StackingRegressor:
        """Fit the members, and the final model to what they say of rows they have not seen.

        Parameters
        ----------
        X : table, as the members take it
        y : array-like of shape (n,)
        groups : array-like of shape (n,), optional
            Rows of a group stay together in the folds.
        **fit_params : dict
            ``sample_weight``, which the final model gets too, and with metadata routing whatever
            members ask for.

        Returns
        -------
        self
        """
        with all_or_nothing(self), self._grouped(groups, y):
            return super().fit(X, y, **fit_params)  # type: ignore[no-any-return]

    def _see_final(self, meta: Any, target: Any, rows: Any, params: dict[str, Any]) -> None:
        self.__dict__.pop("_calibration", None)
        if self.calibration is None:
            return
        groups = self._groups[rows] if self._groups is not None else rows
        folds = check_calibration(self.calibration)
        if is_int(folds) and len(np.unique(groups)) == len(groups):
            folds, groups = KFold(folds, shuffle=True, random_state=0), None
        parts, weights = [], params.get("sample_weight")
        for fold in make_folds(folds, meta, target, groups, classes=False):
            known = _check_method_params(meta, params=params, indices=fold.train)
            copy, learned = clone(self.final_estimator_), take_rows(meta, fold.train)
            fit_member(copy, learned, target[fold.train], fit_params=known)
            said = np.asarray(copy.predict(take_rows(meta, fold.test)))
            w = None if weights is None else np.asarray(weights, dtype=np.float64)[fold.test]
            parts.append(Calibration.of(target[fold.test], said, w, source="level-1 rows"))
        self._calibration = Calibration.joined(parts)
