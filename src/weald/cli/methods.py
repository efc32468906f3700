"""The methods that `weald fit` compares: a row each."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from weald.cli.errors import UserError
from weald.dataset.errors import suggestion

__all__ = ["METHODS", "Method", "Settings", "chosen_methods", "make", "read_settings"]


@dataclass(frozen=True)
class Method:
    """A method of the comparison.

    Attributes
    ----------
    name : str
        As in ``--method``.
    classifier, regressor : str
        Classes of weald.
    parameters : dict
        What is not as by default, for both tasks.
    for_classes, for_numbers : dict
        The same for one task.
    depth_for_numbers : int or None
        Of the members of a regressor, if they are trees of another depth than by default.
    share : float
        Of the time, as multiples of what the others get.
    """

    name: str
    classifier: str
    regressor: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    for_classes: Mapping[str, Any] = field(default_factory=dict)
    for_numbers: Mapping[str, Any] = field(default_factory=dict)
    depth_for_numbers: int | None = None
    share: float = 1.0


# In the order in which they are fitted: what is quick and good first, as the time may run out.
METHODS = {
    one.name: one
    for one in (
        Method("boosting", "GradientBoostingClassifier", "GradientBoostingRegressor", share=2.0),
        Method("forest", "RandomForestClassifier", "RandomForestRegressor"),
        Method("extra-trees", "ExtraTreesClassifier", "ExtraTreesRegressor"),
        Method(
            "tree",
            "DecisionTreeClassifier",
            "DecisionTreeRegressor",
            {"ccp_alpha": "cv_1se", "max_bins": 255},
        ),
        Method("bagging", "BaggingClassifier", "BaggingRegressor", {"n_estimators": 50}),
        Method(
            "adaboost",
            "AdaBoostClassifier",
            "AdaBoostRegressor",
            for_classes={"n_estimators": 200},
            for_numbers={"n_estimators": 100},
            depth_for_numbers=6,
        ),
        Method("super-learner", "SuperLearnerClassifier", "SuperLearnerRegressor", share=3.0),
    )
}


Settings = dict[str, dict[str, Any]]  # of each method, parameters that the user gave


def chosen_methods(names: Iterable[str]) -> list[Method]:
    """The methods by name, in the order of the table; all of them if none is named."""
    wanted = list(names)
    for name in wanted:
        if name not in METHODS:
            raise UserError(
                f"--method {name!r} is unknown: use some of {', '.join(METHODS)}."
                f"{suggestion(name, METHODS)}"
            )
    return [one for one in METHODS.values() if not wanted or one.name in wanted]


def read_settings(texts: Iterable[str], methods: list[Method], task: str) -> Settings:
    """What ``--set`` gives.

    It is ``parameter=value`` for every method that has it, ``method.parameter=value`` for one.
    """
    settings: Settings = {one.name: {} for one in methods}
    known = {one.name: make(one, task, 0).get_params(deep=True) for one in methods}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UserError(f"--set {text!r} must have the form parameter=value.")
        owner, dot, parameter = key.strip().rpartition(".")
        if dot and owner not in settings:
            raise UserError(
                f"--set {text!r} names the method {owner!r}, which is not among "
                f"{', '.join(settings)}.{suggestion(owner, settings)}"
            )
        takers = [name for name in ([owner] if dot else settings) if parameter in known[name]]
        if not takers:
            every = {name for params in known.values() for name in params}
            where = owner if dot else f"any of {', '.join(settings)}"
            raise UserError(
                f"--set {text!r}: there is no parameter {parameter!r} in {where}."
                f"{suggestion(parameter, every)}"
            )
        for name in takers:
            settings[name][parameter] = _value(value.strip())
    return settings


def make(method: Method, task: str, seed: int, given: Mapping[str, Any] | None = None) -> Any:
    """A new estimator.

    Parameters
    ----------
    method : Method
    task : {"classification", "regression"}
    seed : int
        Its `random_state`.
    given : dict, optional
        Parameters that the user gave.

    >>> make(METHODS["bagging"], "regression", 7)
    BaggingRegressor(n_estimators=50, random_state=7)
    """
    import weald

    classes = task == "classification"
    kind: Any = getattr(weald, method.classifier if classes else method.regressor)
    own = {**method.parameters, **(method.for_classes if classes else method.for_numbers)}
    if not classes and method.depth_for_numbers is not None:
        own["estimator"] = weald.DecisionTreeRegressor(max_depth=method.depth_for_numbers)
    model = kind(random_state=seed, **own)
    return model.set_params(**(given or {}))


def _value(text: str) -> Any:
    """A number, None, True, a tuple, else the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
