"""Warnings point at the user's line, and errors advise what is possible."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.naive_bayes import GaussianNB

from weald import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    NaiveEnsembleClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

X = np.random.default_rng(0).normal(size=(100, 5))
CLASSES = (X[:, 0] > 0).astype(int)
COLUMN = CLASSES[:, None]
WEIGHTS = np.arange(100.0)


@pytest.mark.parametrize(
    ("model", "y", "weights"),
    [
        (DecisionTreeClassifier(), COLUMN, None),
        (DecisionTreeRegressor(), COLUMN, None),
        (RandomForestClassifier(2), COLUMN, None),
        (RandomForestRegressor(2), COLUMN, None),
        (BaggingClassifier(), COLUMN, None),
        (BaggingClassifier(GaussianNB()), COLUMN, None),
        (BaggingRegressor(), COLUMN, None),
        (NaiveEnsembleClassifier(), COLUMN, None),
        (DecisionTreeClassifier(), np.arange(100), None),  # as many classes as rows
        (RandomForestClassifier(1, oob_score=True), CLASSES, None),
        (BaggingClassifier(n_estimators=1, oob_score=True), CLASSES, None),
        (BaggingClassifier(GaussianNB(), 1, oob_score=True), CLASSES, None),
        (RandomForestClassifier(2, max_samples=0.03), CLASSES, None),
        (BaggingClassifier(max_samples=0.03), CLASSES, None),
        (ExtraTreesClassifier(2, n_iter_no_change=2), CLASSES, None),
        (BaggingClassifier(bootstrap=False, n_iter_no_change=2), CLASSES, None),
        (BaggingClassifier(bootstrap=False, max_samples=50), CLASSES, WEIGHTS),
        (RandomForestClassifier(2, warm_start=True).fit(X, CLASSES), CLASSES, None),
        (BaggingClassifier(n_estimators=2, warm_start=True).fit(X, CLASSES), CLASSES, None),
    ],
    ids=str,
)
def test_warnings_point_at_the_line_of_the_user(model, y, weights):
    with pytest.warns((UserWarning, DataConversionWarning)) as said:
        model.fit(X, y, sample_weight=weights)
    assert {warning.filename for warning in said} == {__file__}


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor, BaggingRegressor])
def test_the_target_has_no_missing_values(kind):
    """So none are advised, as they are for columns of X."""
    y = np.where(np.arange(100) == 3, np.inf, 1.0)
    with pytest.raises(ValueError, match=r"y contains infinity.*or leave the row out") as said:
        kind().fit(X, y)
    assert "NaN" not in str(said.value)
    mixed = [1.0, "two", *[3.0] * 98]
    with pytest.raises(ValueError, match=r"y mixes numbers and text.*leave the row out") as said:
        kind().fit(X, mixed)
    assert "NaN" not in str(said.value)
    with pytest.raises(ValueError, match=r"Column 0 contains infinity.*or by NaN"):
        kind().fit(y[:, None], CLASSES)


@pytest.mark.parametrize("empty", [[None] * 100, [np.nan] * 100], ids=["None", "NaN"])
def test_a_column_that_was_missing_throughout(empty):
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Series(empty, dtype=object)})
    for model in (DecisionTreeClassifier(), RandomForestClassifier(2), BaggingClassifier()):
        model.fit(frame, CLASSES)
        with pytest.raises(ValueError, match="Column 'b' held only missing values in fit but"):
            model.predict(frame.assign(b="text"))
        with pytest.raises(ValueError, match="Column 'a' held numbers in fit but"):
            model.predict(frame.assign(a="text"))


def test_directions_are_named_as_they_were_given():
    with pytest.raises(ValueError, match=r"column 1 has 2\."):
        DecisionTreeClassifier(monotonic_cst=[0, 2, 0, 0, 0]).fit(X, CLASSES)


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
@pytest.mark.parametrize("n_jobs", [0, "a", 1.5])
def test_jobs_are_checked_in_predict_too(kind, n_jobs):
    model = kind().fit(X, CLASSES).set_params(n_jobs=n_jobs)
    for ask in (model.predict, model.apply):
        with pytest.raises(ValueError, match="n_jobs must be None or a whole number"):
            ask(X)
