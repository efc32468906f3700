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
