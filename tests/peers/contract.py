"""What scikit-learn asks of every estimator, for many settings of ours."""

from collections import Counter

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

PER_CLASS = 2


def contract(exact=(), drawn=()):
    """scikit-learn's checks of each setting, for ``parametrize(("estimator", "check"), ...)``.

    The gate checks two settings of each class, one of either kind if there are both; the rest is
    slow. The first ones of a list come first.

    Parameters
    ----------
    exact : list of estimators
        A row of weight k is the row repeated k times.
    drawn : list of estimators
        That is so on average only, since rows are drawn at random: tested elsewhere.
    """
    chosen = _chosen([*exact], [*drawn])
    params = []
    for number, setting in enumerate([*exact, *drawn]):
        marks = () if number in chosen else pytest.mark.slow
        for count, (estimator, check) in enumerate(estimator_checks_generator(setting)):
            name = check.func.__name__
            if number >= len(exact) and name.startswith("check_sample_weight_equivalence"):
                continue
            title = f"{type(setting).__name__}-{number}-{count}-{name}"
            params.append(pytest.param(estimator, check, id=title, marks=marks))
    return params


def _chosen(exact, drawn):
    """The numbers of the settings that the gate checks."""
    numbers = [*range(len(exact)), *range(len(exact), len(exact) + len(drawn))]
    kinds = [type(setting) for setting in [*exact, *drawn]]
    # By turns: the first exact one, the first drawn one, the second exact one, ...
    turn, seen = {}, Counter()
    for number in numbers:
        side = (kinds[number], number >= len(exact))
        turn[number] = (seen[side], side[1])
        seen[side] += 1
    chosen, taken = set(), Counter()
    for number in sorted(numbers, key=turn.get):
        if taken[kinds[number]] < PER_CLASS:
            chosen.add(number)
            taken[kinds[number]] += 1
    return chosen
