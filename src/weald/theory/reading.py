"""Reading a fitted model: weald's by the protocol of its members, others by a table of adapters.

A library is recognised by the names of modules and classes a model descends from, so that none of
them is imported here. A new library is one row of `ADAPTERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from weald._engine import FloatArray
from weald.members.ensemble import Ensemble
from weald.theory import boosters, scikit
from weald.theory.view import Counts, EnsembleView

__all__ = ["ADAPTERS", "check_unwrapped", "is_ensemble", "read_ensemble"]

# Which function reads models that descend from a class, by its library and name.
ADAPTERS: dict[tuple[str, str], Callable[[Any], EnsembleView]] = {
    ("sklearn", "BaseForest"): scikit.read_forest,
    ("sklearn", "BaseBagging"): scikit.read_bagging,
    ("sklearn", "AdaBoostClassifier"): scikit.read_adaboost_classifier,
    ("sklearn", "AdaBoostRegressor"): scikit.read_adaboost_regressor,
    ("sklearn", "BaseGradientBoosting"): scikit.read_gradient_boosting,
    ("sklearn", "BaseHistGradientBoosting"): scikit.read_hist_gradient_boosting,
    ("sklearn", "_BaseVoting"): scikit.read_voting,
    ("lightgbm", "LGBMModel"): boosters.read_lightgbm,
    ("xgboost", "XGBModel"): boosters.read_xgboost,
    ("catboost", "CatBoost"): boosters.read_catboost,
}
# What to give instead of a model that holds the ensemble.
WRAPPERS = {
    ("sklearn", "Pipeline"): "its last step, model[-1], with rows model[:-1].transform(X)",
    ("sklearn", "BaseSearchCV"): "its best_estimator_",
    ("sklearn", "CalibratedClassifierCV"): "one of its calibrated_classifiers_, by its estimator",
    ("sklearn", "FrozenEstimator"): "its estimator",
    ("sklearn", "BaseThresholdClassifier"): "its estimator_",
    ("sklearn", "TransformedTargetRegressor"): "its regressor_, with y as it was transformed",
    ("sklearn", "_MultiOutputEstimator"): "one of its estimators_, with one output as y",
    ("sklearn", "OneVsRestClassifier"): "one of its estimators_, with y == label",
}


def read_ensemble(model: Any) -> EnsembleView:
    """The members of a fitted ensemble.

    Parameters
    ----------
    model : fitted estimator
        Any ensemble of weald; scikit-learn's forests, bagging, AdaBoost, gradient boosting and
        voting; LightGBM's, XGBoost's and CatBoost's estimators.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> view = read_ensemble(RandomForestClassifier(10, random_state=0).fit(X, y))
    >>> view.n_members, view.kind, view.votes(X).shape
    (10, 'classes', (10, 150))
    """
    read = _adapter(model)
    _check_fitted(model)
    if not (is_classifier(model) or is_regressor(model)):
        raise TypeError(f"{type(model).__name__} predicts neither classes nor numbers.")
    view = read(model)
    if view.n_members == 0:
        raise ValueError(f"This {view.name} has no members: there is nothing to look at.")
    return view


def _adapter(model: Any) -> Callable[[Any], EnsembleView]:
    if isinstance(model, type):
        raise TypeError(f"{model.__name__} is a class: give a fitted model of it.")
    if isinstance(model, Ensemble):
        return _read_weald
    for key in _ancestry(model):
        if key in ADAPTERS:
            return ADAPTERS[key]
    check_unwrapped(model)
    raise TypeError(
        f"{type(model).__name__} is not an ensemble that weald.theory can read: give an ensemble "
        "of weald, scikit-learn, LightGBM, XGBoost or CatBoost."
    )


def _ancestry(model: Any) -> Iterator[tuple[str, str]]:
    """Library and name of the model's class and of those it descends from."""
    return ((kind.__module__.split(".")[0], kind.__name__) for kind in type(model).__mro__)


def check_unwrapped(model: Any) -> None:
    """Refuse models that hold an ensemble, and say how to get at it."""
    for key in _ancestry(model):
        if key in WRAPPERS:
            raise TypeError(f"{type(model).__name__} holds a model: give {WRAPPERS[key]}.")


def is_ensemble(model: Any) -> bool:
    """Whether :func:`read_ensemble` knows how to read such models."""
    return isinstance(model, Ensemble) or any(key in ADAPTERS for key in _ancestry(model))


def _check_fitted(model: Any) -> None:
    is_fitted = getattr(model, "is_fitted", None)  # CatBoost's way
    if not callable(is_fitted):
        check_is_fitted(model)
    elif not is_fitted():
        raise NotFittedError(f"This {type(model).__name__} is not fitted yet: call fit first.")


# --- weald's own ---------------------------------------------------------------------------------


def _read_weald(model: Ensemble) -> EnsembleView:
    classes = scikit.labels_of(model)
    combine = model._combination
    n_classes = 0 if classes is None else len(classes)
    added = partial(_weald_terms, model, n_classes)
    return EnsembleView(
        type(model).__name__,
        classes,
        np.asarray(model.member_weights_, dtype=np.float64),
        combine,
        answers=None if combine == "sum" else partial(_weald_answers, model),
        added=added if combine in ("sum", "scores") else None,
        begin=partial(_weald_start, model, n_classes) if combine == "sum" else None,
        bags=partial(_weald_bags, model),
        drawing=_weald_drawing(model),
        leaves=partial(_weald_leaves, model),
        n_columns=int(getattr(model, "n_features_in_", 0)),
    )


def _weald_answers(model: Ensemble, X: Any) -> Iterator[FloatArray]:
    members = model._fitted_members()
    rows = members.read(model, X)
    vote = model._combination == "votes"
    for t in range(len(members)):
        said = members.sum(rows, first=t, last=t + 1, vote=vote, n_jobs=model._jobs())[:, 0]
        yield said if is_classifier(model) else said[:, 0]


def _weald_terms(model: Ensemble, n_classes: int, X: Any) -> Iterator[FloatArray]:
    return (_one_column(term, n_classes, model) for term in model._terms(X))


def _weald_start(model: Ensemble, n_classes: int, X: Any) -> FloatArray:
    return _one_column(model._raw_start(X), n_classes, model)


def _one_column(raw: FloatArray, n_classes: int, model: Any) -> FloatArray:
    """Raw values (n, n_raw) as a view gives them."""
    if n_classes > 2:
        return raw
    if n_classes == 0 and raw.shape[1] > 1:
        raise ValueError(
            f"This {type(model).__name__} has several outputs: look at one output at a time."
        )
    return raw[:, -1]


def _weald_bags(model: Ensemble) -> Counts | None:
    sampling = model._fitted_members().sampling
    if sampling is None or not sampling.draws_rows:
        return None
    return model._fitted_members().in_bag()


def _weald_drawing(model: Ensemble) -> str:
    sampling = model._fitted_members().sampling
    if sampling is None:
        return "rows"
    kinds = {
        "groups": sampling.units,
        "classes": sampling.strata,
        "weights": sampling.weights,
        "sampler": sampling.sampler,
    }
    return next((name for name, given in kinds.items() if given is not None), "rows")


def _weald_leaves(model: Ensemble) -> int | None:
    if any(labels is not None for labels in getattr(model, "categories_", ())):
        return None  # they are divided, not cut
    return scikit.most_leaves(np.ravel(np.array(model.estimators_[:], dtype=object)))
