"""scikit-learn's own tests of voting and stacking, with weald's classes in their place."""

import importlib
import inspect
import sys

import pytest
import sklearn.ensemble as peers
from sklearn.linear_model import LogisticRegression, Ridge

import weald
from peers.contract import contract

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore"),
]

NAMES = ("StackingClassifier", "StackingRegressor", "VotingClassifier", "VotingRegressor")


def with_our_classes(module):
    """Import a test module of scikit-learn that finds our classes under its own names."""
    theirs = {name: getattr(peers, name) for name in NAMES}
    sys.modules.pop(module, None)
    try:
        for name in NAMES:
            setattr(peers, name, getattr(weald, name))
        found = importlib.import_module(module)
    finally:
        for name, kind in theirs.items():
            setattr(peers, name, kind)
        sys.modules.pop(module, None)
    return {name: test for name, test in vars(found).items() if name.startswith("test_")}


@pytest.fixture
def global_random_seed():
    return 42


for _module in ("test_stacking", "test_voting"):
    _tests = with_our_classes(f"sklearn.ensemble.tests.{_module}")
    assert len(_tests) > 20
    globals().update(_tests)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_defaults(name):
    ours = inspect.signature(getattr(weald, name)).parameters
    theirs = inspect.signature(getattr(peers, name)).parameters
    assert list(theirs) == list(ours)[: len(theirs)]
    for parameter, expected in theirs.items():
        assert ours[parameter].default == expected.default
        assert ours[parameter].kind == expected.kind
    extra = {"reuse_out_of_bag"} if name.startswith("Stacking") else set()
    if name == "StackingRegressor":
        extra.add("calibration")
    assert set(ours) - set(theirs) == extra


TREE = weald.DecisionTreeClassifier(max_depth=3, random_state=0)
NUMBERS = weald.DecisionTreeRegressor(max_depth=3, random_state=0)
CLASSIFIERS = [("linear", LogisticRegression()), ("tree", TREE)]
REGRESSORS = [("linear", Ridge()), ("tree", NUMBERS)]
ALL = [
    weald.VotingClassifier(CLASSIFIERS),
    weald.VotingClassifier(CLASSIFIERS, voting="soft"),
    weald.VotingRegressor(REGRESSORS),
    weald.StackingClassifier(CLASSIFIERS, cv=3),
    weald.StackingClassifier(CLASSIFIERS, cv=3, passthrough=True),
    weald.StackingRegressor(REGRESSORS, cv=3),
    weald.SuperLearnerClassifier(CLASSIFIERS, cv=3, random_state=0),
    weald.SuperLearnerRegressor(REGRESSORS, cv=3, random_state=0),
    weald.ConditionalClassifier(CLASSIFIERS, cv=3, random_state=0),
    weald.ConditionalRegressor(REGRESSORS, cv=3, random_state=0),
    weald.TableEncoder(),
]
# Where one split falls depends on how many rows there are; the default candidates draw rows.
DIVIDED = [
    weald.BlendingClassifier(CLASSIFIERS, random_state=0, shuffle=False),
    weald.BlendingClassifier(CLASSIFIERS, random_state=0),
    weald.BlendingRegressor(REGRESSORS, random_state=0, shuffle=False),
    weald.BlendingRegressor(REGRESSORS, random_state=0),
    weald.SuperLearnerClassifier(CLASSIFIERS, random_state=0, method="best"),
    weald.SuperLearnerRegressor(REGRESSORS, random_state=0, method="greedy", refit=True),
    weald.SuperLearnerClassifier(random_state=0, cv=2),
    weald.SuperLearnerRegressor(random_state=0, cv=2),
]


@pytest.mark.parametrize(("estimator", "check"), contract(ALL, DIVIDED))
def test_what_scikit_learn_asks_of_every_estimator(estimator, check):
    check(estimator)
