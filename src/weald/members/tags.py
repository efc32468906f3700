"""What an ensemble may be given, as scikit-learn's tags say it."""

from __future__ import annotations

from typing import Any

from sklearn.utils import get_tags

__all__ = ["like_members"]


def like_members(
    tags: Any, member: Any, *, multi_output: bool = False, also_own: bool = False
) -> Any:
    """The tags of an ensemble whose members read the table as it is: it takes what they take.

    Parameters
    ----------
    tags : of the ensemble
    member : estimator
    multi_output : bool
        Of targets too.
    also_own : bool
        The ensemble reads the table itself too: it takes only what both take.
    """
    if isinstance(member, type) or not hasattr(member, "__sklearn_tags__"):
        return tags
    of_member = get_tags(member)
    for name in ("sparse", "allow_nan", "categorical", "string", "positive_only"):
        takes = getattr(of_member.input_tags, name)
        if also_own:
            takes = takes and getattr(tags.input_tags, name)
        setattr(tags.input_tags, name, takes)
    if multi_output:
        tags.target_tags.multi_output = of_member.target_tags.multi_output
    return tags
