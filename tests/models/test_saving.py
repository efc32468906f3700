"""What is refused when a model is saved, and files that are there as a whole or not at all."""

import errno
import os
import resource
import stat
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import weald
from weald.callbacks import EarlyStopping, History, LearningRateSchedule, Progress, TimeLimit
from weald.combining import weighted_median

from .cases import answers, numbers, same_bits


class OwnModel(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class OwnForest(weald.RandomForestRegressor):
    pass


class OwnLoss:
    def value(self, y, F):
        return (F - y) ** 2

    def gradient(self, y, F):
        return 2 * (F - y)


def bag(member):
    return weald.BaggingRegressor(member, 2, random_state=0)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (bag(OwnModel()), ["BaggingRegressor.estimator", "OwnModel", "model-files.md"]),
        (bag(GaussianProcessRegressor()), ["GaussianProcessRegressor", "pickle"]),
        (bag(HistGradientBoostingRegressor(max_iter=2)), ["HistGradientBoostingRegressor"]),
        (
            bag(make_pipeline(FunctionTransformer(np.log1p), LinearRegression())),
            ["func", "log1p", "data only"],
        ),
        (
            bag(make_pipeline(FunctionTransformer(lambda X: X), LinearRegression())),
            ["func", "<lambda>", "data only", "pickle"],
        ),
        (bag(KNeighborsRegressor(weights=lambda d: 1 / (1 + d))), ["weights", "<lambda>"]),
        (
            weald.BaggingRegressor(n_estimators=2, combine=lambda said, weights: said[0]),
            ["BaggingRegressor.combine", "<lambda>", "data only"],
        ),
        (
            weald.GradientBoostingRegressor(n_estimators=2, loss=OwnLoss()),
            ["GradientBoostingRegressor.loss", "weald.losses"],
        ),
        (
            weald.GradientBoostingRegressor(n_estimators=2, callbacks=[lambda state: None]),
            ["GradientBoostingRegressor.callbacks", "None"],
        ),
        (
            weald.RandomForestRegressor(2, random_state=np.random.RandomState(0)),
            ["RandomForestRegressor.random_state", "an int"],
        ),
        (OwnForest(2), ["OwnForest"]),
    ],
)
def test_what_cannot_be_stored_is_named(model, words, tmp_path):
    X, real, _ = numbers()
    model.fit(np.abs(X), real)
    with pytest.raises(weald.ModelFileError) as error:
        model.save(tmp_path / "model.weald")
    said = str(error.value)
    assert said.startswith("Cannot save ")
    assert said.endswith(".")
    assert "\n" not in said
    assert all(word in said for word in words), said
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_model(tmp_path):
    for thing in (None, np.zeros(3), weald.RandomForestRegressor, "model"):
        with pytest.raises(weald.ModelFileError, match="not an estimator"):
            weald.save(thing, tmp_path / "model.weald")


def test_functions_and_callbacks_of_weald(tmp_path):
    X, real, _ = numbers()
    path = tmp_path / "model.weald"
    for model in (
        weald.BaggingRegressor(n_estimators=3, combine=weighted_median, random_state=0),
        weald.GradientBoostingRegressor(n_estimators=3, callbacks=[TimeLimit(60)]),
        weald.GradientBoostingRegressor(n_estimators=3, loss=weald.losses.Huber(0.5)),
    ):
        model.fit(X, real).save(path)
        same_bits(answers(model, X), answers(weald.load(path), X))


def test_callbacks_that_remember_a_fit(tmp_path):
    X, _, _ = numbers()
    noise = np.random.default_rng(0).normal(size=len(X))  # of which there is little to learn
    path = tmp_path / "model.weald"
    looking_on = [History(), EarlyStopping(5), LearningRateSchedule([0.5, 0.1]), Progress(100)]
    model = weald.GradientBoostingRegressor(
        n_estimators=8, warm_start=True, callbacks=looking_on, random_state=0
    )
    model.fit(X[20:], noise[20:], X_val=X[:20], y_val=noise[:20]).save(path)
    loaded = weald.load(path)
    history, stop = loaded.callbacks[:2]
    assert history.states == looking_on[0].states
    assert (stop.best_round, stop.best_value) == (
        looking_on[1].best_round,
        looking_on[1].best_value,
    )
    for each in (model, loaded):  # and both go on in the same way
        each.set_params(n_estimators=40)
        each.fit(X[20:], noise[20:], X_val=X[:20], y_val=noise[:20])
    assert loaded.n_estimators_ == model.n_estimators_ < 40
    assert loaded.callbacks[1].best_round == model.callbacks[1].best_round
    same_bits(answers(model, X), answers(loaded, X))


@pytest.mark.parametrize("loss", list(weald.losses.LOSSES))
def test_every_loss(loss, tmp_path):
    X, real, codes = numbers()
    path = tmp_path / "model.weald"
    kind = weald.losses.LOSSES[loss].kind
    if kind == "regression":
        model = weald.GradientBoostingRegressor(n_estimators=3, loss=loss).fit(X, abs(real))
    else:
        named = loss if kind == "binary" else "log_loss"  # of more than two classes
        model = weald.GradientBoostingClassifier(n_estimators=3, loss=named)
        model.fit(X, codes > 0 if kind == "binary" else codes)
    model.save(path)
    same_bits(answers(model, X), answers(weald.load(path), X))


@pytest.mark.parametrize("info", [[1], "text", {"a": object()}, {"a": {1, 2}}])
def test_info_that_json_cannot_hold(info, tmp_path):
    with pytest.raises(weald.ModelFileError, match="info must be a dict"):
        weald.save(weald.DecisionTreeRegressor(), tmp_path / "model.weald", info=info)


# --- whole or not at all --------------------------------------------------------------------------


def model(depth):
    X, real, _ = numbers()
    return weald.DecisionTreeRegressor(max_depth=depth).fit(X, real)


class CrashError(Exception):
    pass


@pytest.mark.parametrize("where", ["half a file", "the disk", "the new name"])
def test_a_crash_leaves_the_old_file(where, tmp_path, monkeypatch):
    path = tmp_path / "model.weald"
    model(1).save(path)
    old = path.read_bytes()

    def crash(*_, **__):
        raise CrashError

    def half(tensors, name, metadata):
        Path(name).write_bytes(old[:100])
        raise CrashError

    if where == "half a file":
        monkeypatch.setattr(safetensors.numpy, "save_file", half)
    elif where == "the disk":
        monkeypatch.setattr(os, "fsync", crash)
    else:
        monkeypatch.setattr(Path, "replace", crash)
    with pytest.raises(CrashError):
        model(3).save(path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]
    assert weald.load(path).get_depth() == 1


def test_the_new_file_takes_the_place_of_the_old(tmp_path):
    path = tmp_path / "model.weald"
    model(1).save(path)
    link = tmp_path / "link.weald"
    link.symlink_to(path)
    model(3).save(link)
    assert link.is_symlink()
    assert weald.load(path).get_depth() == 3
    assert sorted(tmp_path.iterdir()) == [link, path]


def test_the_file_has_the_usual_rights(tmp_path):
    plain, path = tmp_path / "plain", tmp_path / "model.weald"
    plain.touch()
    model(1).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_paths_that_cannot_be_written(tmp_path):
    for path in (tmp_path, tmp_path / "none" / "model.weald"):
        with pytest.raises(weald.ModelFileError, match="Cannot save to"):
            model(1).save(path)


def test_a_pipe_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(weald.ModelFileError, match="Cannot save to"):
        model(1).save(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_private_file_stays_private(tmp_path):
    path = tmp_path / "model.weald"
    model(1).save(path)
    path.chmod(0o600)
    model(3).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert weald.load(path).get_depth() == 3


@pytest.mark.parametrize("name", ["😀" * 60, "a" * 249])
def test_long_names(name, tmp_path):
    path = tmp_path / f"{name}.weald"
    model(1).save(path)
    assert weald.load(path).get_depth() == 1


def test_a_full_disk(tmp_path):
    """As the system tells it, and with the old file in its place."""
    path = tmp_path / "model.weald"
    model(1).save(path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="too large") as error:
            model(5).save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert error.value.errno == errno.EFBIG
    assert error.value.filename == str(path)
    assert list(tmp_path.iterdir()) == [path]
    assert weald.load(path).get_depth() == 1


def test_info_without_end(tmp_path):
    info = {}
    for _ in range(100_000):
        info = {"a": info}
    with pytest.raises(weald.ModelFileError, match="info must be a dict"):
        model(1).save(tmp_path / "model.weald", info=info)
