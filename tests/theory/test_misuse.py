"""Models and rows that a notion is not about: one sentence that says what to give instead."""

import importlib.util

import numpy as np
import pytest
import sklearn.ensemble as sk
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weald
from weald import theory

NOTIONS = {
    "certificate": theory.certificate,
    "margins": theory.margins,
    "correlation": theory.correlation,
    "ambiguity": theory.ambiguity,
    "diversity": theory.diversity,
    "pac_bayes": theory.pac_bayes,
    "generalization_bound": theory.generalization_bound,
    "stability": lambda model, X, y: theory.stability(model, X),
}


def classes(n=100):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")


def message_of(notion, model, X, y):
    with pytest.raises((TypeError, ValueError)) as caught:
        NOTIONS[notion](model, X, y)
    message = str(caught.value)
    assert message.endswith("."), message
    assert "\n" not in message
    return message


FOREST = weald.RandomForestClassifier(3, max_depth=2, random_state=0)
WRAPPED = {
    "pipeline": (make_pipeline(StandardScaler(), FOREST), r"model[:-1].transform(X)"),
    "search": (GridSearchCV(FOREST, {"max_depth": [1, 2]}, cv=2), "best_estimator_"),
    "calibrated": (CalibratedClassifierCV(FOREST, cv=2), "calibrated_classifiers_"),
    "one class at a time": (OneVsRestClassifier(FOREST), "estimators_"),
}


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("name", WRAPPED)
def test_a_model_that_holds_the_ensemble(notion, name):
    model, told = WRAPPED[name]
    X, y = classes()
    assert told in message_of(notion, model.fit(X, y), X, y)


def test_what_the_message_about_pipelines_says_works():
    X, y = classes()
    model = make_pipeline(StandardScaler(), FOREST).fit(X, y)
    found = theory.margins(model[-1], model[:-1].transform(X), y)
    assert len(found.values) == len(X)


def test_wrapped_regressors():
    X, _ = classes()
    y = X[:, 0]
    forest = weald.RandomForestRegressor(3)
    moved = TransformedTargetRegressor(forest, func=np.exp, inverse_func=np.log).fit(X, y)
    assert "regressor_" in message_of("ambiguity", moved, X, y)
    several = MultiOutputRegressor(forest).fit(X, X)
    assert "estimators_" in message_of("ambiguity", several, X, y)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("model", [None, "forest", 3, LogisticRegression(), object()])
def test_no_ensemble_at_all(notion, model):
    X, y = classes()
    if isinstance(model, LogisticRegression):
        model.fit(X, y)
    message_of(notion, model, X, y)


@pytest.mark.parametrize("notion", ["certificate", "margins", "diversity"])
def test_advice_is_not_refused_in_turn(notion):
    """Terms of a sum have no opinions: correlation and ambiguity would refuse them as well."""
    X, _ = classes()
    boosted = weald.GradientBoostingRegressor(n_estimators=3).fit(X, X[:, 0])
    assert "use bias_variance instead" in message_of(notion, boosted, X, X[:, 0])
    forest = weald.RandomForestRegressor(3).fit(X, X[:, 0])
    assert "use correlation or ambiguity instead" in message_of(notion, forest, X, X[:, 0])
    for other in ("correlation", "ambiguity"):
        assert "use bias_variance instead" in message_of(other, boosted, X, X[:, 0])
    X, y = classes()
    boosted = weald.GradientBoostingClassifier(n_estimators=3).fit(X, y)
    assert "use margins instead" in message_of("correlation", boosted, X, y)


def test_lightgbm_says_no_number_of_leaves():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = classes()
    model = lightgbm.LGBMClassifier(n_estimators=3, num_leaves=4, verbose=-1).fit(X, y)
    assert "give n_leaves" in message_of("generalization_bound", model, X, y)
    found = theory.generalization_bound(model, X, y, n_leaves=4)
    assert found.training_error[-1] == pytest.approx(np.mean(model.predict(X) != y))
    histograms = sk.HistGradientBoostingClassifier(max_iter=3).fit(X, y)
    assert "give n_leaves" in message_of("generalization_bound", histograms, X, y)


def test_lightgbm_is_not_given_other_columns():
    lightgbm = pytest.importorskip("lightgbm")
    pandas = pytest.importorskip("pandas")
    X, y = classes()
    table = pandas.DataFrame(X, columns=list("abc"))
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(table, y)
    with pytest.raises(ValueError, match="same order"):
        theory.margins(model, table[["c", "b", "a"]], y)


def test_xgboost_without_trees():
    xgboost = pytest.importorskip("xgboost")
    X, y = classes()
    model = xgboost.XGBClassifier(n_estimators=3, booster="gblinear").fit(X, y == "yes")
    assert "use trees" in message_of("margins", model, X, y == "yes")


class EveryOther:
    """A sampler of the user's, which knows nothing of the rows."""

    def rows(self, n, random):
        return np.bincount(random.integers(n // 2, size=n) * 2, minlength=n)


def of_forest(**params):
    return weald.RandomForestClassifier(20, random_state=0, **params)


@pytest.mark.parametrize(
    ("drawing", "model", "given"),
    [
        ("weights", of_forest(class_weight={"no": 3, "yes": 1}), {}),
        ("weights", of_forest(), {"sample_weight": np.arange(1, 101)}),
        ("classes", of_forest(bootstrap="balanced"), {}),
        ("groups", weald.BaggingClassifier(n_estimators=20), {"groups": np.arange(100) // 4}),
        ("sampler", weald.BaggingClassifier(n_estimators=20, bootstrap=EveryOther()), {}),
    ],
)
def test_rows_that_were_not_drawn_alike(drawing, model, given):
    """Out of bag they are not like new rows, and the jackknife is about draws that are alike."""
    X, y = classes()
    model.fit(X, y, **given)
    assert theory.read_ensemble(model).drawing == drawing
    assert f"by {drawing}" in message_of("stability", model, X, y)
    if drawing == "sampler":  # what it leaves out has nothing to do with what is in the rows
        assert theory.pac_bayes(model, X, y).seen.n >= 50
    else:
        assert "rows='held_out'" in message_of("pac_bayes", model, X, y)


def test_equal_weights_draw_alike():
    X, y = classes()
    model = of_forest().fit(X, y, sample_weight=np.full(100, 2.0))
    assert theory.read_ensemble(model).drawing == "rows"
    assert theory.pac_bayes(model, X, y).bound <= 1


def test_one_member_is_not_stable_or_not():
    X, y = classes()
    forest = weald.RandomForestClassifier(1).fit(X, y)
    assert "has one member" in message_of("stability", forest, X, y)


def test_a_module_and_a_function_do_not_share_a_name():
    """Else `import weald.theory.margins` gives the function."""
    for name in theory.__all__:
        assert importlib.util.find_spec(f"weald.theory.{name}") is None, name
