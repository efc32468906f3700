"""Every result has a reading, a table and a picture; numbers need neither pandas nor matplotlib."""

import builtins
from dataclasses import FrozenInstanceError

import matplotlib as mpl
import numpy as np
import pytest

import weald
from weald import theory

mpl.use("Agg")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
NUMBERS = X[:, 0] + RNG.normal(size=120)
LABELS = np.where(NUMBERS > 0, "yes", "no")
THREE = np.searchsorted([-0.5, 0.5], NUMBERS)

ADABOOST = weald.AdaBoostClassifier(n_estimators=10).fit(X, LABELS)
SLOW = weald.AdaBoostClassifier(n_estimators=10, learning_rate=0.3).fit(X, LABELS)
THREE_BOOST = weald.AdaBoostClassifier(n_estimators=10).fit(X, THREE)
FOREST = weald.RandomForestClassifier(10, random_state=0).fit(X, LABELS)
TREES = weald.RandomForestRegressor(10, random_state=0).fit(X, NUMBERS)
TWINS = weald.ExtraTreesClassifier(2, random_state=0).fit(X, LABELS)
ONE_ROUND = weald.AdaBoostClassifier(n_estimators=1).fit(X, LABELS)

RESULTS = {
    "certificate": lambda: theory.certificate(ADABOOST, X, LABELS),
    "certificate, learning rate": lambda: theory.certificate(SLOW, X, LABELS),
    "certificate, three classes": lambda: theory.certificate(THREE_BOOST, X, THREE),
    "margins": lambda: theory.margins(ADABOOST, X, LABELS),
    "margins, three classes": lambda: theory.margins(THREE_BOOST, X, THREE),
    "correlation": lambda: theory.correlation(TREES, X),
    "correlation of errors": lambda: theory.correlation(TREES, X, NUMBERS),
    "strength": lambda: theory.correlation(FOREST, X, LABELS),
    "ambiguity": lambda: theory.ambiguity(TREES, X, NUMBERS),
    "ambiguity of shares": lambda: theory.ambiguity(FOREST, X, LABELS),
    "ambiguity, weighted": lambda: theory.ambiguity(ADABOOST, X, LABELS),
    "diversity": lambda: theory.diversity(FOREST, X, LABELS),
    "diversity of members that are always right": lambda: theory.diversity(TWINS, X, LABELS),
    "certificate, one round": lambda: theory.certificate(ONE_ROUND, X, LABELS),
    "margins, one round": lambda: theory.margins(ONE_ROUND, X, LABELS),
}


@pytest.mark.parametrize("name", RESULTS)
def test_reading_table_and_picture(name):
    plt = pytest.importorskip("matplotlib.pyplot")
    result = RESULTS[name]()
    assert isinstance(result, theory.Result)
    assert str(result) == result.summary()
    assert "nan" not in result.summary()
    frame = result.to_frame()
    assert list(frame.columns) == list(result.columns())
    assert len(frame) > 0
    ax = result.plot()
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert result.plot(ax=ax) is ax
    plt.close("all")
    with pytest.raises(FrozenInstanceError):
        result.model = "another"


@pytest.mark.parametrize("name", ["certificate", "margins"])
def test_one_round_is_a_dot_and_rounds_are_whole(name):
    plt = pytest.importorskip("matplotlib.pyplot")
    alone = RESULTS[f"{name}, one round"]()
    assert ", 1 round" in alone.summary() or ", 1 member," in alone.summary()
    curves = [line for line in alone.plot().lines if len(line.get_xydata()) == 1]
    assert curves
    assert all(line.get_marker() == "o" for line in curves)
    many = RESULTS[name]().plot()
    assert all(tick == int(tick) for tick in many.get_xticks())
    plt.close("all")


def test_there_is_no_picture_of_no_pairs():
    forest = weald.RandomForestClassifier(1).fit(X, LABELS)
    with pytest.raises(ValueError, match="two members or more"):
        theory.diversity(forest, X, LABELS).plot()


def test_members_of_class_shares_stay_within_them():
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = theory.stability(FOREST, X).plot()
    for lines in ax.collections:
        ends = np.concatenate(lines.get_segments())[:, 1]
        assert ends.min() >= 0
        assert ends.max() <= 1
    plt.close("all")


def without(monkeypatch, library):
    real = builtins.__import__

    def block(name, *args, **kwargs):
        if name.split(".")[0] == library:
            raise ImportError(f"no {library}")
        return real(name, *args, **kwargs)

    monkeypatch.setattr("weald.params.extras.import_module", block)


def test_what_is_missing_is_named(monkeypatch):
    result = RESULTS["ambiguity"]()
    without(monkeypatch, "matplotlib")
    with pytest.raises(ImportError, match=r"plot needs matplotlib; .*pip install weald\[plot\]"):
        result.plot()
    without(monkeypatch, "pandas")
    with pytest.raises(ImportError, match=r"to_frame needs pandas; .*pip install weald\[pandas\]"):
        result.to_frame()
