"""Whether a warm start may go on from the fit before.

The draws of old members follow from the seed and from how the *last* fit drew rows. So neither may
change, or rows that old members did draw would pass as out-of-bag.
"""

from __future__ import annotations

from typing import Any

from weald.input.targets import alike
from weald.members.base import Members
from weald.members.trees import Trees
from weald.params.warnings import warn_user
from weald.sampling import Sampling

__all__ = ["check_same", "check_size", "drawing_of", "kind_of", "kind_of_members", "shape_of"]


def check_size(n_estimators: int, there: int) -> None:
    """Refuse fewer members than there are already; warn if there is nothing to add."""
    if n_estimators < there:
        raise ValueError(
            f"n_estimators={n_estimators} must be larger or equal to "
            f"len(estimators_)={there} when warm_start==True"
        )
    if n_estimators == there:
        warn_user("Warm-start fitting without increasing n_estimators does not fit new trees.")


def check_same(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Refuse to add members to those of a fit on other data or with other settings.

    Both are what members have in common, by the names users have for it. Only the first difference
    is named: others may follow from it.
    """
    for name, value in now.items():
        if not alike(before[name], value):
            raise ValueError(
                "warm_start=True adds members to those of the fit before, fitted to the same data "
                f"with the same settings, but {name} changed: fit a new ensemble instead, with "
                "warm_start=False."
            )


def kind_of(member: Any, by_engine: bool) -> dict[str, Any]:
    """What members are; trees that the engine grows together share their criterion."""
    kind = type(member)
    return {
        "estimator": [f"{kind.__module__}.{kind.__qualname__}", by_engine],
        "estimator__criterion": member._criteria.get(member.criterion) if by_engine else None,
    }


def kind_of_members(members: Members) -> dict[str, Any]:
    """What fitted members are."""
    if isinstance(members, Trees):
        return kind_of(members.like, by_engine=True)
    return kind_of(members.estimators()[0], by_engine=False)


def shape_of(fitted: dict[str, Any]) -> dict[str, Any]:
    """What the attributes of an ensemble say about the data it was fitted to."""
    return {
        "the columns of X": [fitted.get("n_features_in_"), fitted.get("feature_names_in_")],
        "the categories of a column": fitted.get("categories_"),
        "the order of categories": sorted(fitted.get("_ordered_columns", {}).items()),
        "the number of outputs": fitted.get("n_outputs_"),
        "the set of classes": fitted.get("classes_"),
    }


def drawing_of(sampling: Sampling) -> dict[str, Any]:
    """What the draws of members depend on, beside the seed."""
    return {
        "the number of rows": sampling.n_rows,
        "bootstrap (or max_samples)": [
            [sampling.kind, sampling.strata is None, type(sampling.sampler).__qualname__],
            list(getattr(sampling.sampler, "__dict__", {}).values()),
        ],
        "sample_weight (or class_weight)": [sampling.weights, sampling.present],
        "groups": sampling.units,
        "the classes of y": sampling.strata,
        "max_samples": sampling.size,
        "max_features": [sampling.columns, sampling.columns_replace],
    }
