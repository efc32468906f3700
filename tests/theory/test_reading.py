"""Any library's ensemble is read as members whose combination is what the model says."""

import numpy as np
import pytest
import sklearn.ensemble as sk
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import weald
from weald.theory import read_ensemble
from weald.theory.task import read_task


def classes_of(n_classes, n=120):
    X, y = make_classification(
        n, 6, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=n_classes
    )
    return X, np.array(["no", "yes", "maybe", "never"])[y]


def numbers(n=120):
    return make_regression(n, 5, noise=20.0, random_state=0)


NAMED = [("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]

SHARES = {  # models that average class shares
    "sk forest": sk.RandomForestClassifier(7, max_depth=3, random_state=0),
    "sk extra": sk.ExtraTreesClassifier(7, max_depth=3, random_state=0),
    "sk bagging": sk.BaggingClassifier(GaussianNB(), 5, max_features=0.5, random_state=0),
    "sk voting": sk.VotingClassifier(NAMED, voting="soft", weights=[1, 2]),
    "forest": weald.RandomForestClassifier(7, max_depth=3, random_state=0),
    "bagging": weald.BaggingClassifier(GaussianNB(), 5, max_features=0.5, random_state=0),
    "weighted": weald.BaggingClassifier(n_estimators=20, weighting="oob", random_state=0),
    "naive": weald.NaiveEnsembleClassifier(GaussianNB(), 3),
    "voting": weald.VotingClassifier(NAMED, voting="soft", weights=[1, 2]),
    "super": weald.SuperLearnerClassifier(NAMED, method="simplex", random_state=0),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", SHARES)
def test_the_mean_of_class_shares_is_what_the_model_says(name, n_classes):
    X, y = classes_of(n_classes)
    model = SHARES[name].fit(X, y)
    view = read_ensemble(model)
    assert (view.kind, view.combine, view.additive) == ("classes", "mean", False)
    shares = np.array(list(view.shares(X)))
    assert shares.shape == (view.n_members, len(X), n_classes)
    np.testing.assert_allclose(
        np.average(shares, axis=0, weights=view.weights), model.predict_proba(X)
    )
    np.testing.assert_array_equal(view.votes(X), shares.argmax(axis=2))
    assert view.votes(X).dtype == np.int8
    assert view.classes.tolist() == sorted(set(y))


VOTES = {  # models that count votes
    "sk adaboost": sk.AdaBoostClassifier(n_estimators=8, random_state=0),
    "sk bagging": sk.BaggingClassifier(Perceptron(), 5, random_state=0),
    "sk voting": sk.VotingClassifier(NAMED, voting="hard", weights=[1, 2]),
    "adaboost": weald.AdaBoostClassifier(n_estimators=8),
    "bagging": weald.BaggingClassifier(n_estimators=5, voting="hard", random_state=0),
    "voting": weald.VotingClassifier(NAMED, voting="hard", weights=[1, 2]),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", VOTES)
def test_the_votes_elect_what_the_model_says(name, n_classes):
    X, y = classes_of(n_classes)
    model = VOTES[name].fit(X, y)
    view = read_ensemble(model)
    assert view.combine == "votes"
    polls = np.zeros((len(X), n_classes))
    for vote, weight in zip(view.votes(X), view.weights, strict=True):
        polls[np.arange(len(X)), vote] += weight
    clear = np.diff(np.sort(polls, axis=1)[:, -2:], axis=1)[:, 0] > 1e-9
    assert clear.mean() > 0.5
    np.testing.assert_array_equal(
        view.classes[polls.argmax(axis=1)][clear], np.asarray(model.predict(X))[clear]
    )


MEANS = {
    "sk forest": sk.RandomForestRegressor(7, max_depth=3, random_state=0),
    "sk bagging": sk.BaggingRegressor(LinearRegression(), 5, max_features=0.5, random_state=0),
    "sk voting": sk.VotingRegressor([("a", LinearRegression()), ("b", sk.ExtraTreesRegressor(3))]),
    "forest": weald.RandomForestRegressor(7, max_depth=3, random_state=0),
    "bagging": weald.BaggingRegressor(n_estimators=20, weighting="oob", random_state=0),
}


@pytest.mark.parametrize("name", MEANS)
def test_the_mean_of_numbers_is_what_the_model_says(name):
    X, y = numbers()
    model = MEANS[name].fit(X, y)
    view = read_ensemble(model)
    assert (view.kind, view.combine, view.classes) == ("numbers", "mean", None)
    np.testing.assert_allclose(
        np.average(view.values(X), axis=0, weights=view.weights), model.predict(X)
    )


@pytest.mark.parametrize("home", [sk, weald])
def test_a_median_says_what_its_members_say(home):
    X, y = numbers()
    model = home.AdaBoostRegressor(n_estimators=4, random_state=0).fit(X, y)
    view = read_ensemble(model)
    assert view.combine == "median"
    said = np.array([member.predict(X) for member in model.estimators_])
    np.testing.assert_allclose(view.values(X), said)


def total(view, X):
    terms = list(view.terms(X))
    return view.start(X) + sum(w * term for w, term in zip(view.weights, terms, strict=True))


SUMS = {
    "sk": (sk.GradientBoostingClassifier, sk.GradientBoostingRegressor),
    "sk hist": (sk.HistGradientBoostingClassifier, sk.HistGradientBoostingRegressor),
    "weald": (weald.GradientBoostingClassifier, weald.GradientBoostingRegressor),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", SUMS)
def test_terms_add_up_to_the_raw_prediction_of_classes(name, n_classes):
    X, y = classes_of(n_classes)
    settings = {"max_iter": 6} if "hist" in name else {"n_estimators": 6}
    model = SUMS[name][0](random_state=0, **settings).fit(X, y)
    view = read_ensemble(model)
    assert view.additive
    np.testing.assert_allclose(total(view, X), model.decision_function(X), atol=1e-12)
    first = next(view.terms(X))
    voted = first > 0 if n_classes == 2 else first.argmax(axis=1)
    np.testing.assert_array_equal(view.votes(X)[0], voted)


@pytest.mark.parametrize("name", SUMS)
def test_terms_add_up_to_the_raw_prediction_of_numbers(name):
    X, y = numbers()
    settings = {"max_iter": 6} if "hist" in name else {"n_estimators": 6}
    model = SUMS[name][1](random_state=0, **settings).fit(X, y)
    np.testing.assert_allclose(total(read_ensemble(model), X), model.predict(X))


@pytest.mark.parametrize("algorithm", ["confidence", "real", "gentle", "logit"])
def test_terms_of_adaboost(algorithm):
    X, y = classes_of(2)
    model = weald.AdaBoostClassifier(n_estimators=5, algorithm=algorithm).fit(X, y)
    view = read_ensemble(model)
    assert view.combine == "scores"
    np.testing.assert_allclose(total(view, X), model.decision_function(X), atol=1e-12)
    assert view.votes(X).shape == (5, len(X))


def test_terms_of_stagewise_models():
    X, y = classes_of(2)
    model = weald.StagewiseClassifier(loss="exponential", n_estimators=5).fit(X, y)
    np.testing.assert_allclose(
        total(read_ensemble(model), X), model.decision_function(X), atol=1e-12
    )


def lightgbm(n_classes, **settings):
    library = pytest.importorskip("lightgbm")
    kind = library.LGBMClassifier if n_classes else library.LGBMRegressor
    return kind(n_estimators=5, min_child_samples=5, verbose=-1, n_jobs=1, **settings)


def xgboost(n_classes):
    library = pytest.importorskip("xgboost")
    kind = library.XGBClassifier if n_classes else library.XGBRegressor
    return kind(n_estimators=5, max_depth=3, n_jobs=1)


def catboost(n_classes):
    library = pytest.importorskip("catboost")
    kind = library.CatBoostClassifier if n_classes else library.CatBoostRegressor
    return kind(iterations=5, depth=3, verbose=0, thread_count=1, allow_writing_files=False)


RAW = {
    lightgbm: lambda model, X: model.predict(X, raw_score=True),
    xgboost: lambda model, X: model.predict(X, output_margin=True),
    catboost: lambda model, X: model.predict(X, prediction_type="RawFormulaVal"),
}


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("make", RAW, ids=lambda make: make.__name__)
def test_terms_of_other_libraries(make, n_classes):
    model = make(n_classes)
    X, y = classes_of(n_classes) if n_classes else numbers()
    if n_classes:
        y = np.unique(y, return_inverse=True)[1]  # XGBoost takes codes only
    view = read_ensemble(model.fit(X, y))
    assert view.additive
    assert view.n_members == 5
    raw = np.asarray(RAW[make](model, X))
    np.testing.assert_allclose(total(view, X), raw, rtol=1e-4, atol=1e-4 * np.abs(raw).max())


@pytest.mark.parametrize("make", RAW, ids=lambda make: make.__name__)
def test_an_unfitted_model_of_another_library(make):
    with pytest.raises(NotFittedError):
        read_ensemble(make(2))


def test_a_random_forest_of_lightgbm_is_a_mean():
    model = lightgbm(0, boosting_type="rf", subsample=0.5, subsample_freq=1)
    X, y = numbers()
    np.testing.assert_allclose(total(read_ensemble(model.fit(X, y)), X), model.predict(X))


BAGS = {
    "sk forest": sk.RandomForestClassifier(4, random_state=0),
    "sk bagging": sk.BaggingClassifier(n_estimators=4, max_samples=0.5, random_state=0),
    "forest": weald.RandomForestClassifier(4, random_state=0),
}


@pytest.mark.parametrize("name", BAGS)
def test_the_rows_that_were_drawn(name):
    X, y = classes_of(2)
    model = BAGS[name].fit(X, y)
    drawn = [np.bincount(rows, minlength=len(X)) for rows in model.estimators_samples_]
    np.testing.assert_array_equal(read_ensemble(model).in_bag(), drawn)


@pytest.mark.parametrize(
    "model",
    [
        sk.ExtraTreesClassifier(3),
        weald.ExtraTreesClassifier(3),
        sk.BaggingClassifier(n_estimators=3, bootstrap=False),
        sk.AdaBoostClassifier(n_estimators=3),
        weald.AdaBoostClassifier(n_estimators=3),
    ],
)
def test_no_rows_were_drawn(model):
    assert read_ensemble(model.fit(*classes_of(2))).in_bag() is None


def test_data_frames_are_read_without_remarks(recwarn):
    pd = pytest.importorskip("pandas")
    X, y = classes_of(2)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    for model in (
        SHARES["sk forest"],
        SHARES["sk bagging"],
        VOTES["sk adaboost"],
        SHARES["forest"],
    ):
        assert read_ensemble(model.fit(frame, y)).votes(frame).shape[1] == len(X)
    model = lightgbm(2).fit(frame, y)
    assert read_ensemble(model).votes(frame).shape == (5, len(X))
    assert not recwarn.list


# --- what cannot be read --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "kind", "message"),
    [
        (
            LogisticRegression(),
            TypeError,
            "LogisticRegression is not an ensemble that weald.theory",
        ),
        (weald.DecisionTreeClassifier(), TypeError, "DecisionTreeClassifier is not an ensemble"),
        (weald.RandomForestClassifier, TypeError, "is a class: give a fitted model"),
        (weald.RandomForestClassifier(), NotFittedError, "not fitted yet"),
        (weald.GradientBoostingClassifier(), NotFittedError, "not fitted yet"),
        (sk.RandomForestClassifier(), NotFittedError, "not fitted yet"),
        (sk.AdaBoostClassifier(), NotFittedError, "not fitted yet"),
        (sk.IsolationForest().fit(numbers()[0]), TypeError, "neither classes nor numbers"),
    ],
)
def test_what_is_no_fitted_ensemble(model, kind, message):
    with pytest.raises(kind, match=message):
        read_ensemble(model)


@pytest.mark.parametrize("home", [sk, weald])
def test_several_outputs_are_refused(home):
    X, y = numbers()
    model = home.RandomForestRegressor(3).fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match="several outputs"):
        read_ensemble(model)


def test_questions_that_members_cannot_answer():
    X, y = classes_of(2)
    classifier = read_ensemble(weald.RandomForestClassifier(3).fit(X, y))
    boosted = read_ensemble(weald.GradientBoostingClassifier(n_estimators=3).fit(X, y))
    with pytest.raises(ValueError, match="predict classes, not numbers"):
        classifier.values(X)
    with pytest.raises(ValueError, match="not terms of a sum"):
        classifier.terms(X)
    with pytest.raises(ValueError, match="no class shares"):
        boosted.shares(X)
    X, y = numbers()
    with pytest.raises(ValueError, match="do not vote"):
        read_ensemble(weald.RandomForestRegressor(3).fit(X, y)).votes(X)


def test_rows_and_targets_are_checked():
    X, y = classes_of(2)
    forest = weald.RandomForestClassifier(3, random_state=0).fit(X, y)
    task = read_task(forest, X, y, np.arange(len(X)), notion="margins", kind="classes")
    np.testing.assert_array_equal(task.signs, np.where(y == "yes", 1, -1))
    assert task.weights.sum() == pytest.approx(1)
    for changed, message in (
        ({"y": y[:-1]}, "y|rows|length"),
        (
            {"y": np.where(y == "no", "none", y)},
            "'none', which RandomForestClassifier was not fitted",
        ),
        ({"y": None}, "needs the targets y"),
        ({"X": X[:0], "y": y[:0]}, "needs rows"),
        ({"sample_weight": [1.0]}, "sample_weight must be"),
        ({"sample_weight": np.zeros(len(X))}, "zero in every row"),
    ):
        with pytest.raises(ValueError, match=message):
            read_task(forest, **{"X": X, "y": y} | changed, notion="margins")
    with pytest.raises(TypeError, match=r"is for regressors, but .* predicts classes: use margins"):
        read_task(forest, X, y, notion="correlation", kind="numbers", instead="margins")
    one = weald.RandomForestClassifier(3).fit(X, ["a"] * len(X))
    with pytest.raises(ValueError, match="fitted to one class"):
        read_task(one, X, ["a"] * len(X), notion="margins")
