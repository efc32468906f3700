"""Users meet the names of public classes only: in errors and in help."""

import inspect
import pydoc
import re

import pytest
from sklearn.base import BaseEstimator

import weald

ESTIMATORS = [
    found
    for found in (getattr(weald, name) for name in weald.__all__)
    if inspect.isclass(found) and issubclass(found, BaseEstimator)
]
METHODS = [
    pytest.param(kind, name, id=f"{kind.__name__}.{name}")
    for kind in ESTIMATORS
    for name in dir(kind)
    if not name.startswith("_")
    and inspect.isfunction(inspect.getattr_static(kind, name))
    and inspect.getattr_static(kind, name).__code__.co_filename.find("weald") > 0
    and not any(
        p.kind is p.VAR_KEYWORD for p in inspect.signature(getattr(kind, name)).parameters.values()
    )
]


def test_all_estimators_are_looked_at():
    assert len(ESTIMATORS) >= 31
    assert len(METHODS) > 200


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_unknown_parameter_is_refused_in_the_name_of_the_class(kind):
    name = re.escape(kind.__name__)
    with pytest.raises(TypeError, match=rf"^{name}\.__init__\(\) .*'no_such_parameter'"):
        kind(no_such_parameter=1)


@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_an_unknown_argument_is_refused_in_the_name_of_the_class(kind, name):
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\.{name}\(\) got an unexpected"):
        getattr(kind, name)(kind, no_such_argument=1)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_wrong_value_of_set_params_names_the_class(kind):
    model = kind.__new__(kind)
    for name, parameter in inspect.signature(kind).parameters.items():
        setattr(model, name, parameter.default)
    with pytest.raises(ValueError, match=rf"'no_such_parameter' for estimator {kind.__name__}\("):
        model.set_params(no_such_parameter=1)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_help_shows_no_private_class(kind):
    private = {
        base.__name__
        for base in kind.__mro__
        if base.__module__.startswith("weald") and base.__name__.startswith("_")
    }
    assert not private
    text = pydoc.render_doc(kind, renderer=pydoc.plaintext)
    assert not re.findall(r"\bweald[\w.]*\._[A-Z]\w*", text)
    assert f"class {kind.__name__}(" in text


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_help_gives_methods_to_the_class_itself(kind):
    """What a user calls is listed under the class, not under a shared base of weald."""
    text = pydoc.render_doc(kind, renderer=pydoc.plaintext)
    inherited = re.findall(r"Methods inherited from (weald[\w.]*):\n(.*?)\n \|  -{20}", text, re.S)
    for _, methods in inherited:
        assert not re.findall(r"^ \|  ([a-z]\w*)\(", methods, re.M)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parameters_are_those_of_the_signature(kind):
    """They are read once for each class; a class made from it has its own."""
    names = sorted(name for name in inspect.signature(kind).parameters)
    assert kind._get_param_names() == kind._get_param_names() == names

    class Own(kind):
        def __init__(self, only=1):
            self.only = only

    assert Own._get_param_names() == ["only"]
    assert kind._get_param_names() == names


def test_a_method_that_takes_over_still_finds_its_base():
    class Own(weald.RandomForestRegressor):
        def fit(self, X, y):
            return super().fit(X, y)

    model = Own(n_estimators=3, random_state=0).fit([[0.0], [1.0]], [0.0, 1.0])
    same = weald.RandomForestRegressor(n_estimators=3, random_state=0).fit([[0.0], [1.0]], [0, 1])
    assert model.predict([[1.0]]) == same.predict([[1.0]])
