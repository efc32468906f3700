"""Candidates with names, as users give them: checked, and read for what tables they take."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags

from weald.members.foreign import check_member

__all__ = ["check_named", "takes_what_one_takes"]


def check_named(estimators: Any, *, classifiers: bool, or_none: str = "") -> list[tuple[str, Any]]:
    """The candidates that are not dropped; their names differ.

    Parameters
    ----------
    estimators : list of (str, estimator)
    classifiers : bool
        They are to be classifiers, else regressors.
    or_none : str
        What None would have meant, in words.
    """
    wanted = f"estimators must be {or_none}a list of (name, estimator)"
    if not isinstance(estimators, list | tuple) or not estimators:
        raise ValueError(f"{wanted}, got {estimators!r}.")
    for item in estimators:
        if not (isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str)):
            raise ValueError(f"{wanted}, but it holds {item!r}.")
    names = [name for name, _ in estimators]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Two candidates are named {name!r}: names must differ.")
        if "__" in name:
            raise ValueError(f"The name {name!r} of a candidate must not contain '__'.")
    kept = [(name, one) for name, one in estimators if not (isinstance(one, str) and one == "drop")]
    if not kept:
        raise ValueError("All candidates are dropped: at least one is needed.")
    wrong, kind, right = is_regressor, "regressor", "classifiers"
    if not classifiers:
        wrong, kind, right = is_classifier, "classifier", "regressors"
    for name, one in kept:
        if wrong(check_member(one)):
            raise ValueError(f"The candidate {name!r} is a {kind}: only {right} can be mixed here.")
    return kept


def takes_what_one_takes(tags: Any, estimators: Any) -> Any:
    """Tags of an ensemble that leaves out candidates that fail: one that takes it is enough."""
    given = estimators if isinstance(estimators, list | tuple) else []
    pairs = [item for item in given if isinstance(item, list | tuple) and len(item) == 2]
    known = [one for _, one in pairs if hasattr(one, "__sklearn_tags__")]
    for name in ("allow_nan", "categorical", "string", "sparse"):
        takes = any(getattr(get_tags(one).input_tags, name) for one in known)
        setattr(tags.input_tags, name, takes)
    return tags
