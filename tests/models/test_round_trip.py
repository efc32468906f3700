"""A model that was saved and loaded says the same, bit by bit."""

import inspect
import os
import pickle

import numpy as np
import pytest
from safetensors import safe_open
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold

import weald
from state.models import models

from .cases import answers, mixed, numbers, quietly, same_bits

ESTIMATORS = sorted(
    name
    for name in weald.__all__
    if inspect.isclass(kind := getattr(weald, name)) and issubclass(kind, BaseEstimator)
)


@pytest.fixture(scope="module")
def fitted():
    return quietly(models)


def through_a_file(model, tmp_path):
    path = tmp_path / "model.weald"
    model.save(path)
    return weald.load(path)


def test_every_class_comes_back(fitted, tmp_path):
    for name, (model, X) in fitted.items():
        loaded = through_a_file(model, tmp_path)
        assert type(loaded) is type(model), name
        same_bits(answers(model, X), answers(loaded, X))
    encoder = {weald.TableEncoder}  # in the tests of mixed tables
    assert {type(model) for model, _ in fitted.values()} | encoder == {
        getattr(weald, name) for name in ESTIMATORS
    }


def test_all_attributes_come_back(fitted, tmp_path):
    """The state is that of a pickle, and a second file has the same bytes."""
    first, second = tmp_path / "first", tmp_path / "second"
    for name, (model, _) in fitted.items():
        model.save(first)
        loaded = weald.load(first)
        assert vars(loaded).keys() == vars(pickle.loads(pickle.dumps(model))).keys(), name
        loaded.save(second)
        assert first.read_bytes() == second.read_bytes(), name
        again = clone(loaded).get_params(deep=False)
        assert again.keys() == model.get_params(deep=False).keys()


def _kinds(classifier):
    """Parameters and constructor of every class that reads the mixed table itself."""
    out = []
    for name in ESTIMATORS:
        kind = getattr(weald, name)
        if name.startswith(("Voting", "Stacking", "Kernel", "TableEncoder")):
            continue  # for the members to read
        if name.endswith("Classifier" if classifier else "Regressor"):
            out.append(pytest.param(kind, id=name))
    return out


def _model(kind):
    given = kind().get_params() if "estimators" not in inspect.signature(kind).parameters else {}
    few = {"n_estimators": 3, "random_state": 0, "n_jobs": 1}
    params = {name: few[name] for name in few if name in given}
    if not given:
        tree = weald.DecisionTreeClassifier if "Classifier" in kind.__name__ else None
        tree = tree or weald.DecisionTreeRegressor
        return kind([("a", tree(max_depth=2)), ("b", tree(max_depth=3))], random_state=0)
    return kind(**params)


@pytest.mark.parametrize("kind", _kinds(False))
def test_numbers_of_a_mixed_table(kind, tmp_path):
    X, real = mixed()
    model = quietly(_model(kind).fit, X, real)
    loaded = through_a_file(model, tmp_path)
    same_bits(answers(model, X), answers(loaded, X))
    assert list(loaded.feature_names_in_) == list(X.columns)


LABELS = {
    "text": np.array(["no", "perhaps", "yes"]),
    "objects": np.array(["no", "ja", "日本"], dtype=object),
    "truth": np.array([False, True, True]),
    "numbers": np.array([-3, 7, 2**60]),
    "small numbers": np.array([1, 2, 3], dtype=np.int8),
    "floats": np.array([0.0, 1.0, 2.5e9]),
}


@pytest.mark.parametrize("kind", _kinds(True))
def test_classes_of_a_mixed_table(kind, tmp_path):
    X, real = mixed()
    names = list(LABELS)
    # One kind of labels for each class, so that every kind has its turn.
    labels = LABELS[names[ESTIMATORS.index(kind.__name__) % len(names)]]
    limits = [1.0] if kind is weald.StagewiseClassifier else [1.0, 3.0]
    y = labels[np.digitize(real, limits)]
    model = quietly(_model(kind).fit, X, y)
    loaded = through_a_file(model, tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype
    same_bits(answers(model, X), answers(loaded, X))


@pytest.mark.parametrize("labels", list(LABELS.values()), ids=list(LABELS))
def test_labels_of_all_types(labels, tmp_path):
    X, _, codes = numbers()
    for model in (weald.RandomForestClassifier(3, random_state=0), weald.DecisionTreeClassifier()):
        model.fit(X, labels[codes])
        loaded = through_a_file(model, tmp_path)
        assert loaded.classes_.dtype == model.classes_.dtype
        same_bits(answers(model, X), answers(loaded, X))


@pytest.mark.parametrize("splines", [False, True])
def test_an_encoder(splines, tmp_path):
    X, _ = mixed()
    encoder = weald.TableEncoder(splines=splines).fit(X)
    loaded = through_a_file(encoder, tmp_path)
    same_bits(answers(encoder, X), answers(loaded, X))
    assert list(loaded.get_feature_names_out()) == list(encoder.get_feature_names_out())


def test_a_default_super_learner(tmp_path):
    X, real, codes = numbers(150)
    for kind, y in ((weald.SuperLearnerRegressor, real), (weald.SuperLearnerClassifier, codes)):
        model = quietly(kind(cv=2, random_state=0).fit, X, y)
        same_bits(answers(model, X[:50]), answers(through_a_file(model, tmp_path), X[:50]))


def test_models_in_models(tmp_path):
    X, real, codes = numbers()
    forest = weald.RandomForestClassifier(3, random_state=0)
    bag = weald.BaggingClassifier(LogisticRegression(), 3, random_state=0)
    inner = weald.StackingClassifier([("forest", forest), ("bag", bag)], cv=KFold(2))
    outer = weald.VotingClassifier([("inner", inner), ("forest", forest)], voting="soft")
    outer.fit(X, codes)
    loaded = through_a_file(outer, tmp_path)
    same_bits(answers(outer, X), answers(loaded, X))
    # What was one thing is one thing again.
    assert loaded.named_estimators_["inner"] is loaded.estimators_[0]
    boosted = weald.GradientBoostingRegressor(init=Ridge(), n_estimators=3).fit(X, real)
    same_bits(answers(boosted, X), answers(through_a_file(boosted, tmp_path), X))


def test_a_loaded_model_goes_on(tmp_path):
    X, real, _ = numbers()
    model = weald.RandomForestRegressor(3, warm_start=True, random_state=0).fit(X, real)
    loaded = through_a_file(model, tmp_path)
    for each in (model, loaded):
        each.set_params(n_estimators=6).fit(X, real)
    same_bits(answers(model, X), answers(loaded, X))
    assert loaded.n_estimators_ == 6


def test_a_model_that_is_not_fitted(tmp_path):
    model = weald.RandomForestRegressor(7, random_state=3)
    loaded = through_a_file(model, tmp_path)
    assert loaded.get_params() == model.get_params()


def test_random_rows_out_of_bag_and_intervals_come_back(tmp_path):
    X, real, _ = numbers()
    model = weald.RandomForestRegressor(40, oob_score=True, keep_targets=True, random_state=0).fit(
        X, real
    )
    loaded = through_a_file(model, tmp_path)
    assert loaded.oob_score_ == model.oob_score_
    assert np.array_equal(loaded.in_bag_, model.in_bag_)
    for one, other in zip(
        model.predict_interval(X, 0.8), loaded.predict_interval(X, 0.8), strict=True
    ):
        assert np.array_equal(one, other)


def test_safetensors_reads_the_file(fitted, tmp_path):
    path = tmp_path / "model.weald"
    model = fitted["forest"][0]
    model.save(path)
    with safe_open(path, "numpy") as file:
        assert file.metadata()["weald"].startswith("model file 1 ")
        nodes = model._members.forest.__getstate__()["nodes"]
        arrays = [file.get_tensor(name) for name in file.keys()]  # noqa: SIM118
    assert sum(a.dtype == nodes.dtype and np.array_equal(a, nodes) for a in arrays) == 1


def test_shared_arrays_are_stored_once(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.array([f"a rather long label {k}" for k in range(400)], dtype=object)
    X = labels[rng.integers(0, 400, (800, 1))]
    model = weald.RandomForestRegressor(1, max_depth=2, random_state=0)
    quietly(model.fit, X, rng.normal(size=800))
    path = tmp_path / "model.weald"
    model.save(path)
    assert path.read_bytes().count(b"a rather long label 77") == 1
    loaded = weald.load(path)
    template = loaded._members.like
    assert template.categories_[0] is loaded.categories_[0]


def test_a_large_file_is_mapped_and_let_go(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 5)), rng.normal(size=4000)
    model = weald.RandomForestRegressor(20, random_state=0).fit(X, y)
    path = tmp_path / "model.weald"
    model.save(path)
    assert path.stat().st_size > 1 << 20
    loaded = weald.load(path)
    with path.open("r+b") as file:  # in its place: whatever were still mapped would change
        file.write(b"\xff" * path.stat().st_size)
    os.truncate(path, 10)
    assert np.array_equal(loaded.predict(X), model.predict(X))
