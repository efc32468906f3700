"""Ids, names and codes of many categories in every method of trees: they neither harm nor stall."""

import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import weald

DATA = Path(os.environ.get("WEALD_DATA", Path(__file__).parents[2] / "shared" / "data"))

CLASSIFIERS = {
    "tree": weald.DecisionTreeClassifier(random_state=0),
    "small tree": weald.DecisionTreeClassifier(max_leaf_nodes=20, random_state=0),
    "entropy": weald.DecisionTreeClassifier(criterion="entropy", max_depth=5, random_state=0),
    "forest": weald.RandomForestClassifier(60, random_state=0),
    "extra-trees": weald.ExtraTreesClassifier(60, random_state=0),
    "bagging": weald.BaggingClassifier(n_estimators=30, random_state=0),
    "AdaBoost": weald.AdaBoostClassifier(n_estimators=40, random_state=0),
    "stagewise": weald.StagewiseClassifier(n_estimators=40, random_state=0),
    "boosting": weald.GradientBoostingClassifier(n_estimators=60, random_state=0),
}
REGRESSORS = {
    "tree": weald.DecisionTreeRegressor(random_state=0),
    "small tree": weald.DecisionTreeRegressor(max_leaf_nodes=20, random_state=0),
    "absolute": weald.DecisionTreeRegressor(criterion="absolute_error", max_depth=5),
    "forest": weald.RandomForestRegressor(60, random_state=0),
    "extra-trees": weald.ExtraTreesRegressor(60, random_state=0),
    "bagging": weald.BaggingRegressor(n_estimators=30, random_state=0),
    "AdaBoost": weald.AdaBoostRegressor(n_estimators=40, random_state=0),
    "stagewise": weald.StagewiseRegressor(n_estimators=40, random_state=0),
    "boosting": weald.GradientBoostingRegressor(n_estimators=60, random_state=0),
}
EVERY = [
    (kind, name) for kind in ("classes", "numbers") for name in CLASSIFIERS if name != "entropy"
]
EVERY += [("classes", "entropy"), ("numbers", "absolute")]


def model_of(kind, name):
    return (CLASSIFIERS if kind == "classes" else REGRESSORS)[name]


def generated(n=3000):
    """Six numbers, and a target of each kind."""
    rng = np.random.default_rng(11)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    signal = np.sin(2 * X["a"]) + X["b"] * X["c"] + X["d"] / 2
    noisy = (signal + rng.normal(size=n)).to_numpy()
    return X, {"classes": (noisy > 0.3).astype(int), "numbers": noisy}


def loss(model, X, y):
    if hasattr(model, "predict_proba"):
        return np.sqrt(np.mean((model.predict_proba(X)[:, 1] - y) ** 2))
    return np.sqrt(np.mean((model.predict(X) - y) ** 2))


def ratio(model, more, fewer, y):
    """Loss on the second half with more columns, by that with fewer."""
    half = len(y) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one = loss(model.fit(more[:half], y[:half]), more[half:], y[half:])
        other = loss(model.fit(fewer[:half], y[:half]), fewer[half:], y[half:])
    return one / other


@pytest.mark.parametrize(("kind", "name"), [case for case in EVERY if case[1] != "absolute"])
@pytest.mark.parametrize("bins", ["default", None])
def test_an_id_does_no_harm(kind, name, bins):
    X, y = generated()
    model = model_of(kind, name)
    if bins is None:
        if "max_bins" not in model.get_params() or name == "boosting":
            return
        model = model.set_params(max_bins=None)
    ids = X.assign(id=[f"u{i:05d}" for i in np.random.default_rng(0).permutation(len(X))])
    try:
        assert ratio(model, ids, X, y[kind]) < 1.01
    finally:
        if bins is None:
            model.set_params(max_bins=type(model)().max_bins)


@pytest.mark.parametrize(("kind", "name"), [case for case in EVERY if case[1] != "boosting"])
def test_names_without_meaning_do_little_harm(kind, name):
    """Five rows a name. Boosting smooths instead, which is less strict."""
    X, y = generated()
    names = [f"n{i}" for i in np.random.default_rng(1).integers(0, 300, len(X))]
    most = 1.06 if name == "AdaBoost" else 1.02  # draws of rows by weight repeat some of them often
    assert ratio(model_of(kind, name), X.assign(name=names), X, y[kind]) < most


def test_a_rare_class_does_not_hide_noise_from_entropy():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"name": [f"n{i}" for i in rng.integers(0, 100, 10_000)]})
    y = (rng.random(10_000) < 0.01).astype(int)
    tree = weald.DecisionTreeClassifier(criterion="entropy", max_depth=3).fit(X, y)
    assert tree.tree_.node_count == 1


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_near_unique_columns_are_named(kind, name):
    X, y = generated(200)
    X = X.assign(id=[f"u{i}" for i in range(200)], sort=["a", "b"] * 100)
    with pytest.warns(UserWarning, match="Column 'id' has a different category") as said:
        model_of(kind, name).fit(X, y[kind])
    assert len(said) == 1
    assert said[0].filename == __file__
    assert "drop" in str(said[0].message)


def test_several_are_named_in_one_sentence():
    X, y = generated(100)
    ids = {f"id {k}": [f"u{i}" for i in range(100)] for k in range(5)}
    with pytest.warns(UserWarning, match="Columns 'id 0', 'id 1', 'id 2' and 2 more have") as said:
        weald.DecisionTreeRegressor().fit(X.assign(**ids), y["numbers"])
    assert len(said) == 1


def test_nothing_is_said_of_other_columns():
    rng = np.random.default_rng(3)
    X, y = generated(200)
    X = X.assign(city=[f"c{i}" for i in rng.integers(0, 50, 200)])
    few = X[:10].assign(sort=list("abcdefgh") * 1 + ["a", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weald.DecisionTreeRegressor().fit(X, y["numbers"])
        weald.DecisionTreeRegressor().fit(few.drop(columns="city"), y["numbers"][:10])
        # Every row five times.
        ids = X.assign(id=[f"u{i}" for i in range(200)])
        weald.DecisionTreeRegressor().fit(ids, y["numbers"], sample_weight=np.full(200, 5.0))


@pytest.mark.parametrize("name", ["tree", "forest", "extra-trees", "boosting"])
def test_ids_do_not_stall(name):
    """A table with an id takes little longer than one without: the time of both is compared."""
    rng = np.random.default_rng(4)
    n = 20_000
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    y = (X["a"] + rng.normal(size=n)).to_numpy()
    ids = X.assign(id=pd.Categorical([f"u{i}" for i in range(n)]))
    model = model_of("numbers", name)
    if "n_estimators" in model.get_params():
        model = type(model)(n_estimators=10, random_state=0)

    def seconds(table):
        begin = time.process_time()  # of all threads: what else the machine does has no part in it
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(table, y)
        return time.process_time() - begin

    assert min(seconds(ids) for _ in range(3)) < 3 * min(seconds(X) for _ in range(3)) + 0.2


# --- real tables ----------------------------------------------------------------------------------


def real(name, rows=2500):
    path = DATA / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip("the shared data are not here")
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    frame = frame.iloc[np.random.default_rng(5).permutation(len(frame))[: 2 * rows]]
    frame = frame.reset_index(drop=True)
    y = frame.pop("target")
    return frame, y


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name in REGRESSORS])
@pytest.mark.parametrize("table", ["adult", "credit_default", "phoneme", "california", "kin8nm"])
def test_a_near_unique_column_in_a_real_table(table, name):
    X, y = real(table)
    kind = "numbers" if table in ("california", "kin8nm") else "classes"
    y = y.to_numpy() if kind == "numbers" else (y == y.mode()[0]).to_numpy().astype(int)
    ids = X.assign(id=[f"row {i:06d}" for i in np.random.default_rng(6).permutation(len(X))])
    # The column may be drawn in place of another: where columns are drawn, the mean over seeds.
    seeds = range(4) if name in ("forest", "extra-trees", "boosting") else range(1)
    model = model_of(kind, name)
    logs = [np.log(ratio(model.set_params(random_state=s), ids, X, y)) for s in seeds]
    assert np.exp(np.mean(logs)) < 1.01


@pytest.mark.parametrize("name", ["forest", "bagging", "extra-trees"])
@pytest.mark.parametrize("table", ["adult", "bank_full", "weather_aus", "be_mtpl"])
def test_categories_are_as_good_as_codes(table, name):
    """A quick part of `make many-categories`."""
    X, y = real(table)
    kind = "numbers" if table == "be_mtpl" else "classes"
    y = y.to_numpy() if kind == "numbers" else (y == y.mode()[0]).to_numpy().astype(int)
    text = [c for c in X if X[c].dtype == object or str(X[c].dtype) in ("str", "string")]
    assert text
    codes = X.copy()
    for column in text:
        place = pd.Categorical(X[column]).codes.astype(float)
        codes[column] = np.where(place < 0, np.nan, place)
    assert ratio(model_of(kind, name), X, codes, y) < 1.01
