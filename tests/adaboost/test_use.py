"""AdaBoostClassifier: its parameters, what it keeps, how it is used."""

import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from weald import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)

ALL = ("samme", "arc-gv", "confidence", "real", "gentle", "logit")
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
NOISY = X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=300)
y = (NOISY > 0.9).astype(int)
THREE = np.array(["low", "mid", "top"])[np.digitize(NOISY, [0.3, 1.5])]
EASY = (X[:, 2] > 0.1).astype(int)


def fitted(**parameters):
    return AdaBoostClassifier(**parameters).fit(X, y)


# --- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"n_estimators": 2.5}, "n_estimators"),
        ({"learning_rate": 0}, "learning_rate must be a number > 0"),
        ({"learning_rate": np.nan}, "learning_rate"),
        ({"learning_rate": 1e6}, r"learning_rate=1e\+06 is too large"),
        ({"algorithm": "SAMME.X"}, "algorithm must be"),
        ({"algorithm": ["samme"]}, "algorithm must be"),
        ({"resample": "yes"}, "resample"),
        ({"when_worse": "cry"}, "when_worse must be"),
        ({"when_worse": "redraw"}, "needs resample=True"),
        ({"min_edge": -0.1}, "min_edge"),
        ({"min_edge": 0.6}, "min_edge"),
        ({"n_iter_no_change": 0}, "n_iter_no_change"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"tol": -1.0}, "tol"),
        ({"keep_weights": 3}, "keep_weights"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"verbose": "loud"}, "verbose"),
        ({"random_state": "dice"}, "random_state"),
        ({"estimator": DecisionTreeRegressor()}, "is a regressor: give a classifier"),
        ({"estimator": LinearSVC(), "algorithm": "real"}, "needs members with predict_proba"),
        ({"estimator": LogisticRegression(), "algorithm": "logit"}, "give a regressor"),
        ({"estimator": DecisionTreeClassifier(max_depth=0)}, "max_depth"),
        ({"estimator": StandardScaler()}, "estimator object with fit and predict"),
    ],
)
def test_bad_parameters_are_named(parameters, said):
    with pytest.raises((ValueError, TypeError), match=said):
        fitted(**parameters)


@pytest.mark.parametrize("algorithm", ["arc-gv", "confidence", "gentle", "logit"])
def test_three_classes_where_two_are_meant(algorithm):
    with pytest.raises(ValueError, match="use algorithm='samme' or 'real'"):
        AdaBoostClassifier(algorithm=algorithm).fit(X, THREE)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"X_val": X}, "X_val and y_val belong together"),
        ({"y_val": y}, "X_val and y_val belong together"),
        ({"sample_weight_val": np.ones(300)}, "sample_weight_val"),
        ({"X_val": X[:, :2], "y_val": y}, "features"),
        ({"X_val": X, "y_val": y[:5]}, "rows"),
        ({"X_val": X, "y_val": y + 1}, r"y_val .*: there is the label 2, which y in fit"),
        ({"X_val": X, "y_val": y, "sample_weight_val": np.zeros(300)}, "sample_weight is zero"),
    ],
)
def test_bad_validation_rows(given, said):
    with pytest.raises(ValueError, match=said):
        AdaBoostClassifier().fit(X, y, **given)


def test_a_failed_fit_leaves_the_old_model():
    model = AdaBoostClassifier(n_estimators=5).fit(X, THREE)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="binary classification"):
        model.set_params(algorithm="gentle").fit(X, THREE)
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("name", ["predict", "predict_proba", "decision_function"])
def test_before_the_fit(name):
    model = AdaBoostClassifier()
    with pytest.raises(NotFittedError):
        getattr(model, name)(X)
    with pytest.raises(NotFittedError):
        list(model.staged_predict(X))
    assert not hasattr(model, "estimators_")
    assert not hasattr(model, "feature_importances_")


@pytest.mark.parametrize("algorithm", ALL)
def test_learning_rate(algorithm):
    slow, fast = (
        fitted(algorithm=algorithm, learning_rate=rate, n_estimators=1) for rate in (0.1, 1.0)
    )
    np.testing.assert_allclose(slow.alphas_, 0.1 * fast.alphas_)
    np.testing.assert_allclose(slow.decision_function(X), 0.1 * fast.decision_function(X))
    many = fitted(algorithm=algorithm, learning_rate=0.1, n_estimators=60)
    assert many.score(X, y) >= fast.score(X, y)


# --- what it keeps ------------------------------------------------------------------------------


def test_attributes():
    model = AdaBoostClassifier(n_estimators=6, keep_weights=True).fit(X, THREE)
    assert model.classes_.tolist() == ["low", "mid", "top"]
    assert (model.n_classes_, model.n_features_in_, model.n_estimators_) == (3, 4, 6)
    np.testing.assert_array_equal(model.estimator_weights_, 2 * model.alphas_)
    np.testing.assert_array_equal(model.estimator_errors_, model.errors_)
    np.testing.assert_allclose(model.edges_, 2 / 3 - model.errors_)
    np.testing.assert_allclose(model.weights_[0], 1 / 300)
    assert model.weights_.shape == (7, 300)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[:2].sum() > 0.9
    assert len(model.estimators_) == len(model) == 6
    tree = model.estimators_[0]
    assert tree.classes_.tolist() == ["low", "mid", "top"]
    assert (tree.predict(X) != THREE).mean() == pytest.approx(model.errors_[0])
    assert model.member_predictions(X).shape == (6, 300, 3)
    with pytest.raises(AttributeError, match="cannot be set"):
        model.estimators_ = []
    assert not hasattr(model.set_params(keep_weights=False).fit(X, THREE), "weights_")


def test_parameters_changed_after_the_fit_change_no_prediction():
    model = AdaBoostClassifier(n_estimators=6, algorithm="real").fit(X, THREE)
    before = model.predict_proba(X)
    model.set_params(algorithm="samme", learning_rate=0.1, n_estimators=2)
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("algorithm", ALL)
def test_pickle_clone_and_search(algorithm):
    model = fitted(algorithm=algorithm, n_estimators=9, keep_weights=True)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.weights_, model.weights_)
    assert len(again.estimators_) == 9
    assert clone(model).get_params() == model.get_params()
    pipe = make_pipeline(StandardScaler(), AdaBoostClassifier(algorithm=algorithm, n_estimators=5))
    assert cross_val_score(pipe, X, y, cv=3).mean() > 0.6
    member = DecisionTreeRegressor() if algorithm == "logit" else DecisionTreeClassifier()
    search = GridSearchCV(
        AdaBoostClassifier(member, algorithm=algorithm, n_estimators=4),
        {"estimator__max_depth": [1, 2], "learning_rate": [0.5]},
        cv=2,
    ).fit(X, y)
    assert search.best_params_["estimator__max_depth"] in (1, 2)


def test_verbose(capsys):
    fitted(n_estimators=3, verbose=1, n_iter_no_change=9)
    said = capsys.readouterr().err
    assert "3/3" in said
    assert "validation score" in said
    fitted(n_estimators=3)
    assert capsys.readouterr() == ("", "")


# --- the same bits, Ctrl-C, fork ------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALL)
@pytest.mark.parametrize("resample", [False, True])
def test_same_bits_for_any_number_of_threads(algorithm, resample):
    big = np.random.default_rng(1).normal(size=(30_000, 6))
    target = ((big**2).sum(axis=1) > 6).astype(int)
    bits = set()
    for n_jobs in (1, 2, 8):
        model = AdaBoostClassifier(
            n_estimators=6,
            algorithm=algorithm,
            resample=resample,
            when_worse="skip",
            random_state=0,
            n_jobs=n_jobs,
            keep_weights=True,
        ).fit(big, target)
        arrays = (model.errors_, model.weights_[-1], model.decision_function(big[:999]))
        bits.add(tuple(a.tobytes() for a in arrays))
    assert len(bits) == 1


STOPPED = """
    import os, signal, threading, time
    import numpy as np, weald
    X = np.random.default_rng(0).random((20_000, 20)); y = (X[:, 0] + X[:, 1] > 1).astype(int)
    model = weald.AdaBoostClassifier(n_estimators=10**6, n_jobs=2)
    asked = []
    def stop():
        time.sleep(0.8)
        asked.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=stop, daemon=True).start()
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print("stopped", time.monotonic() - asked[0] < 1.0, hasattr(model, "classes_"))
    model.set_params(n_estimators=4).fit(X, y)
    answers = model.predict_proba(X)
    child = os.fork()
    if child == 0:
        same = (weald.AdaBoostClassifier(n_estimators=4, n_jobs=2).fit(X, y)
                .predict_proba(X) == answers).all()
        os._exit(0 if same else 1)
    print("fork", os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals and fork")
def test_ctrl_c_then_fork():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(STOPPED)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split() == ["stopped", "True", "False", "fork", "0"], done.stderr
