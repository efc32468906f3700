"""Importance of columns to any model, on any rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weald
from explain.importance_cases import problem
from weald import column_importance

FEW = {"n_estimators": 5, "random_state": 0}
TWO = [("tree", weald.DecisionTreeClassifier(max_depth=3)), ("line", LogisticRegression())]
PAIR = [("tree", weald.DecisionTreeRegressor(max_depth=3)), ("line", LinearRegression())]
CLASSIFIERS = {
    "tree": weald.DecisionTreeClassifier(max_depth=4),
    "extra-tree": weald.ExtraTreeClassifier(random_state=0),
    "forest": weald.RandomForestClassifier(**FEW),
    "extra-trees": weald.ExtraTreesClassifier(**FEW),
    "bag": weald.BaggingClassifier(**FEW),
    "bag of lines": weald.BaggingClassifier(LogisticRegression(), **FEW),
    "naive": weald.NaiveEnsembleClassifier(**FEW),
    "AdaBoost": weald.AdaBoostClassifier(**FEW),
    "stagewise": weald.StagewiseClassifier(**FEW),
    "boosting": weald.GradientBoostingClassifier(**FEW),
    "voting": weald.VotingClassifier(TWO),
    "stack": weald.StackingClassifier(TWO, cv=2),
    "super learner": weald.SuperLearnerClassifier(TWO, cv=2, random_state=0),
    "blend": weald.BlendingClassifier(TWO, random_state=0),
    "conditional": weald.ConditionalClassifier(TWO, cv=2, random_state=0),
    "kernel": weald.KernelClassifier(),
    "pipeline": make_pipeline(StandardScaler(), weald.RandomForestClassifier(**FEW)),
    "foreign": LogisticRegression(),
}
REGRESSORS = {
    "tree": weald.DecisionTreeRegressor(max_depth=4),
    "extra-tree": weald.ExtraTreeRegressor(random_state=0),
    "forest": weald.RandomForestRegressor(**FEW),
    "extra-trees": weald.ExtraTreesRegressor(**FEW),
    "bag": weald.BaggingRegressor(**FEW),
    "bag of lines": weald.BaggingRegressor(LinearRegression(), **FEW),
    "naive": weald.NaiveEnsembleRegressor(**FEW),
    "AdaBoost": weald.AdaBoostRegressor(**FEW),
    "stagewise": weald.StagewiseRegressor(**FEW),
    "boosting": weald.GradientBoostingRegressor(**FEW),
    "voting": weald.VotingRegressor(PAIR),
    "stack": weald.StackingRegressor(PAIR, cv=2),
    "super learner": weald.SuperLearnerRegressor(PAIR, cv=2, random_state=0),
    "blend": weald.BlendingRegressor(PAIR, random_state=0),
    "conditional": weald.ConditionalRegressor(PAIR, cv=2, random_state=0),
    "kernel": weald.KernelRegressor(),
    "pipeline": make_pipeline(StandardScaler(), weald.GradientBoostingRegressor(**FEW)),
    "foreign": LinearRegression(),
}
MODELS = [pytest.param(m, 2, id=f"{k}, classes") for k, m in CLASSIFIERS.items()]
MODELS += [pytest.param(m, 0, id=f"{k}, numbers") for k, m in REGRESSORS.items()]


@pytest.mark.parametrize(("model", "classes"), MODELS)
def test_any_model_on_any_rows(model, classes):
    X, y = problem(300, classes=classes)
    new, truth = problem(150, seed=1, classes=classes)
    fitted = model.fit(X, y)
    before = new.copy()
    found = column_importance(fitted, new, truth, random_state=0)
    assert np.array_equal(new, before)
    assert (found.kind, found.over, found.per_member.shape) == ("permutation", "shuffles", (5, 5))
    assert found.mean[0] > 0.02
    assert found.mean[0] > 2 * np.abs(found.mean[2:]).max()
    assert (found.std_error >= 0).all()
    assert ("accuracy" if classes else "R²") in found.reading
    for n_jobs in (2, 3):
        again = column_importance(fitted, new, truth, random_state=0, n_jobs=n_jobs)
        assert np.array_equal(found.per_member, again.per_member)
    assert found.as_frame().shape == (5, 2)


def test_the_score_falls_by_what_shuffling_takes():
    X, y = problem(100, classes=2)
    model = weald.GradientBoostingClassifier(**FEW).fit(X, y)
    found = column_importance(model, X, y, n_repeats=3, random_state=7)
    seed = int(np.random.RandomState(7).randint(2**31 - 1))
    for r in range(3):
        order = np.random.default_rng([seed, r]).permutation(100)
        for j in range(5):
            changed = X.copy()
            changed[:, j] = X[order, j]
            fall = model.score(X, y) - accuracy_score(y, model.predict(changed))
            assert found.per_member[r, j] == fall


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "accuracy", None])
def test_about_the_same_as_scikit_learn(scoring):
    X, y = problem(400, classes=2)
    model = weald.RandomForestClassifier(20, random_state=0).fit(X[:200], y[:200])
    rows = X[200:], y[200:]
    ours = column_importance(
        model, *rows, scoring=scoring, n_repeats=30, out_of_bag=False, random_state=0
    )
    theirs = permutation_importance(model, *rows, scoring=scoring, n_repeats=30, random_state=0)
    spread = np.hypot(ours.std_error, theirs.importances_std / np.sqrt(30))
    assert (np.abs(ours.mean - theirs.importances_mean) <= 4 * spread + 1e-12).all()


@pytest.mark.parametrize(
    "container",
    [np.asarray, np.ndarray.tolist, sp.csr_array, pd.DataFrame, pl.DataFrame, pa.table],
    ids=["array", "lists", "sparse", "pandas", "polars", "arrow"],
)
def test_the_same_for_every_kind_of_table(container):
    X, y = problem(120)
    named = {f"c{j}": X[:, j] for j in range(5)}
    given = named if container in (pd.DataFrame, pl.DataFrame, pa.table) else X
    table = container(given)
    model = weald.GradientBoostingRegressor(**FEW).fit(table, y)
    found = column_importance(model, table, y, random_state=0)
    plain = weald.GradientBoostingRegressor(**FEW).fit(X, y)
    assert np.array_equal(
        found.per_member, column_importance(plain, X, y, random_state=0).per_member
    )
    assert found.names[0] == ("c0" if given is named else "feature_0")


def test_text_categories_and_other_indices():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"town": rng.choice(["x", "y", "z"], 200), "noise": rng.normal(size=200)},
        index=rng.permutation(200) + 1000,
    )
    y = np.where(table["town"] == "x", "yes", "no")
    model = weald.GradientBoostingClassifier(**FEW).fit(table, y)
    for labels in (y, list(y), pd.Series(y, index=table.index), pl.Series(y), pa.array(y.tolist())):
        found = column_importance(model, table, labels, random_state=0)
        assert found.names == ("town", "noise")
        assert found.mean[0] > 0.2
        assert found.mean[1] == 0


def test_rows_of_no_weight_are_absent():
    X, y = problem(100)
    w = np.random.default_rng(0).integers(0, 3, 100).astype(float)
    model = weald.GradientBoostingRegressor(**FEW).fit(X, y)
    found = column_importance(model, X, y, sample_weight=w, random_state=0)
    rest = column_importance(model, X[w > 0], y[w > 0], sample_weight=w[w > 0], random_state=0)
    assert np.array_equal(found.per_member, rest.per_member)
    plain = column_importance(model, X[w > 0], y[w > 0], random_state=0)
    assert not np.array_equal(found.per_member, plain.per_member)


def test_out_of_bag_where_there_are_such_rows():
    X, y = problem(100)
    for model in (weald.RandomForestRegressor(**FEW), weald.BaggingRegressor(**FEW)):
        model.fit(X, y)
        assert column_importance(model, X, y).over == "members"
        assert column_importance(model, X, y, out_of_bag=False).over == "shuffles"
        assert column_importance(model, X[:50], y[:50]).over == "shuffles"
        assert column_importance(model, X, y, scoring="r2").over == "shuffles"
    assert weald.RandomForestRegressor(**FEW).fit(X, y).importance(X, y).kind == "permutation"
    whole = weald.ExtraTreesRegressor(**FEW).fit(X, y)
    assert column_importance(whole, X, y).over == "shuffles"


def test_groups_of_a_whole_model():
    X, y = problem(100)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = weald.StackingRegressor(PAIR, cv=2).fit(frame, y)
    found = column_importance(model, frame, y, groups={"true": ["a", "b"]}, random_state=0)
    assert found.names == ("true", "c", "d", "e")
    alone = column_importance(model, frame, y, random_state=0)
    assert np.array_equal(found.per_member[:, 1:], alone.per_member[:, 2:])
    with pytest.raises(ValueError, match="groups names 'ab', but X has no such column: did you"):
        column_importance(model, frame, y, groups=[["ab"]])


def test_clear_refusals():
    X, y = problem(100)
    model = weald.GradientBoostingRegressor(**FEW).fit(X, y)
    with pytest.raises(ValueError, match="it keeps none: pass X and y"):
        column_importance(model, kind="permutation")
    with pytest.raises(ValueError, match="it keeps none: pass X and y"):
        column_importance(model, X)
    with pytest.raises(ValueError, match="y has 99 rows but X has 100"):
        column_importance(model, X, y[1:])
    with pytest.raises(ValueError, match="X has 4 features, but GradientBoostingRegressor"):
        column_importance(model, X[:, 1:], y)
    with pytest.raises(ValueError, match="scoring must be None, the name of a scorer"):
        column_importance(model, X, y, scoring=["r2"])
    with pytest.raises(ValueError, match="draws none"):
        column_importance(model, X, y, out_of_bag=True)
    with pytest.raises(ValueError, match="draws none"):
        column_importance(model, X, y, "unbiased")
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number"):
        column_importance(model, X, y, n_jobs=0)
    forest = weald.RandomForestRegressor(**FEW).fit(X, y)
    with pytest.raises(ValueError, match="scoring is for whole models"):
        column_importance(forest, X, y, scoring="r2", out_of_bag=True)
    with pytest.raises(ValueError, match="weight"):
        column_importance(model, X, y, sample_weight=-np.ones(100))
    with pytest.raises(ValueError, match=r"kind='impurity' reads the nodes of trees.*permutation"):
        column_importance(weald.DecisionTreeRegressor().fit(X, y))
    with pytest.raises(ValueError, match=r"not fitted"):
        column_importance(weald.DecisionTreeRegressor(), X, y)
    with (
        pytest.raises(ValueError, match="The score of these 1 rows is nan: give more rows"),
        pytest.warns(UserWarning, match="R"),
    ):
        column_importance(model, X[:1], y[:1])
