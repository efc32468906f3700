"""Odd tables, targets, weights and offsets: a sentence, or a sensible model."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from boosting.odd_cases import BOTH, assert_healthy, short, try_to_fit
from input.bad_cases import BAD_WEIGHTS, READABLE, X, Y, frame, refuses
from weald import GradientBoostingClassifier, GradientBoostingRegressor

# --- shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_wrong_shapes(kind):
    for data, target, sentence in (
        (X[:, 0], Y, r"Expected 2D array, got 1D array instead"),
        (X[None], Y, r"Found array with dim 3, while dim <= 2 is required"),
        (X, Y[:-1], r"y has 5 rows but X has 6"),
        (X, np.zeros((6, 2, 2)), r"y should be a 1d array .* not an array of shape \(6, 2, 2\)"),
        (X[:0], Y[:0], r"Found array with 0 sample\(s\)"),
        (X[:, :0], Y, r"Found array with 0 feature\(s\)"),
        (X, None, "requires y to be passed, but the target y is None"),
    ):
        with refuses(sentence):
            short(kind).fit(data, target)
    with refuses("^y should be a 1d array, one label per row: fit a model per output"):
        short(GradientBoostingClassifier).fit(X, np.c_[Y, 1 - Y])


@pytest.mark.parametrize("kind", BOTH)
def test_wrong_shapes_at_prediction(kind):
    est = short(kind).fit(X, Y)
    for method in (est.predict, est.apply, lambda data: [*est.staged_predict(data)]):
        with refuses(rf"X has 3 features, but {kind.__name__} is expecting 2 features"):
            method(np.zeros((4, 3)))
        with refuses("Expected 2D array, got 1D array instead"):
            method(np.zeros(2))
    fitted = short(kind).fit(frame(), Y)
    with refuses(r"(?s)unseen at fit time:\n- size\n.*yet now missing:\n- age\n"):
        fitted.predict(frame().rename(columns={"age": "size"}))


@pytest.mark.parametrize("kind", BOTH)
def test_questions_before_fit(kind):
    for method in ("predict", "apply", "staged_predict"):
        with pytest.raises(NotFittedError, match=f"This {kind.__name__} instance is not fitted"):
            list(getattr(kind(), method)(X))
    for name in ("estimators_", "feature_importances_", "n_trees_per_iteration_"):
        with pytest.raises(NotFittedError, match=f"This {kind.__name__} instance is not fitted"):
            getattr(kind(), name)


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_values_are_named(kind, bad):
    data = X.copy()
    data[3, 1] = bad
    with refuses("^Column 1 contains infinity"):
        short(kind).fit(data, Y)
    with refuses("^Column 'age' contains infinity"):
        short(kind).fit(frame(age=data[:, 1]), Y)
    with refuses("^Column 1 contains infinity"):
        short(kind).fit(X, Y).predict(data)


@pytest.mark.parametrize(("bad", "what"), [(np.inf, "infinity"), (np.nan, "missing values")])
def test_targets_must_be_finite(bad, what):
    with refuses(f"^y contains {what}"):
        short(GradientBoostingRegressor).fit(X, np.array([0, 1, 2, 3, 4, bad]))
    with refuses("beyond 1e100"):
        short(GradientBoostingRegressor).fit(X, 1e101 * Y)


def test_labels_must_be_known():
    with refuses("^y contains missing values"):
        short(GradientBoostingClassifier).fit(X, np.array([0, 1, 0, 1, 0, np.nan]))
    with refuses("^Unknown label type: continuous"):
        short(GradientBoostingClassifier).fit(X, Y + 0.5 * np.arange(6))
    with refuses("^y holds text that is not a number"):
        short(GradientBoostingRegressor).fit(X, ["a", "b", "c", "a", "b", "c"])


@pytest.mark.parametrize(
    ("loss", "target", "message"),
    [
        ("poisson", [-1, 0, 1, 2, 3, 4], "poisson needs targets >= 0, got -1.0 in row 0"),
        ("tweedie", [0, 0, -2, 2, 3, 4], "tweedie needs targets >= 0, got -2.0 in row 2"),
        ("gamma", [1, 1, 1, 0, 3, 4], "gamma needs targets > 0, got 0.0 in row 3"),
    ],
)
def test_targets_the_loss_is_not_for(loss, target, message):
    est = short(GradientBoostingRegressor, loss=loss)
    with refuses(message):
        est.fit(X, target)
    with refuses(message.split(",")[0]):
        est.fit(X, np.arange(1, 7), X_val=X, y_val=target)


@pytest.mark.parametrize("kind", BOTH)
def test_columns_without_information_are_never_used(kind):
    for odd in (np.full(6, np.nan), np.full(6, 7.0)):
        est = short(kind).fit(np.c_[X[:, 0], odd], Y)
        assert est.feature_importances_[1] == 0
        assert_healthy(est, np.c_[X[:, 0], odd])
        alone = short(kind).fit(odd[:, None], Y)
        assert est.n_estimators_ == 3
        assert_healthy(alone, [[7.0], [8.0], [np.nan]])
        assert len(np.unique(alone.predict([[7.0], [8.0], [np.nan]]))) == 1


@pytest.mark.parametrize("more", [{}, {"n_iter_no_change": 2}, {"estimator": Ridge()}])
def test_one_class(more):
    est = short(GradientBoostingClassifier, **more).fit(X, ["only"] * 6)
    assert list(est.predict(X)) == ["only"] * 6
    np.testing.assert_array_equal(est.predict_proba(X), np.ones((6, 1)))
    assert list(est.classes_) == ["only"]


@pytest.mark.parametrize("labels", [["a", "b", "c", "a", "b", "c"], ["a", "b", "a", "a", "b", "a"]])
def test_a_class_without_weight_keeps_its_column(labels):
    labels = np.array(labels)
    est = short(GradientBoostingClassifier).fit(X, labels, sample_weight=labels != "b")
    assert list(est.classes_) == sorted(set(labels))
    assert est.predict_proba(X)[:, 1].max() < 1e-9
    assert_healthy(est, X)


@pytest.mark.parametrize("kind", BOTH)
def test_one_row(kind):
    est = short(kind).fit(X[:1], [3])
    assert list(est.predict(X)) == [3] * 6
    with refuses("there is only 1 row"):
        short(GradientBoostingRegressor, n_iter_no_change=1).fit(X[:1], [3])


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile", "log_cosh", "poisson", "gamma"]
)
def test_constant_target(loss):
    est = short(GradientBoostingRegressor, loss=loss).fit(X, np.full(6, 4))
    np.testing.assert_allclose(est.predict(X), 4)
    np.testing.assert_array_equal(est.feature_importances_, 0)


def test_counts_that_are_all_zero():
    est = short(GradientBoostingRegressor, loss="poisson").fit(X, np.zeros(6))
    assert (est.predict(X) < 1e-9).all()
    assert_healthy(est, X)


@pytest.mark.parametrize("kind", BOTH)
def test_unknown_categories_count_as_missing(kind):
    data = pd.DataFrame({"colour": ["red", "blue", "red", "blue", None, "green"]})
    est = short(kind).fit(data, Y)
    leaves = est.apply(pd.DataFrame({"colour": ["mauve", None]}))
    np.testing.assert_array_equal(leaves[0], leaves[1])
    assert est.categories_[0].tolist() == ["blue", "green", "red"]


@pytest.mark.parametrize("kind", BOTH)
def test_types_that_are_no_numbers_and_no_categories(kind):
    with refuses("^Complex data not supported: Column 0"):
        short(kind).fit(X + 1j, Y)
    dates = pd.Series(pd.date_range("2020-01-01", periods=6))
    words = pd.Series([1, "two", 3, "four", 5.0, "six"], dtype=object)
    huge = pd.Series([10**400, 1, 2, 3, 4, 5], dtype=object)
    for odd, what in (
        (dates, "holds dates or times"),
        (dates - dates[0], "holds lengths of time"),
        (words, "mixes numbers and text"),
        (huge, r"holds integers beyond 2\*\*53"),
    ):
        with refuses(f"^Column 'age' {what}"):
            short(kind).fit(frame(age=odd), Y)
    est = short(kind).fit(frame(), Y)
    with refuses("^Column 'age' held numbers in fit but holds text"):
        est.predict(frame(age=["a", "b", "c", "d", "e", "f"]))
    with refuses(r"^Column 0 holds integers beyond 2\*\*53"):
        short(kind).fit(np.array([[2**63 - 1], [2**63 - 2]] * 3), Y)


# --- weights, offsets, validation rows ------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
@BAD_WEIGHTS
def test_bad_weights(kind, weights, sentence):
    with refuses(f"^{sentence}"):
        short(kind).fit(X, Y, sample_weight=weights)
    with refuses(f"^X_val, y_val or sample_weight_val: {sentence}"):
        short(kind).fit(X, Y, X_val=X, y_val=Y, sample_weight_val=weights)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("offset", "what"),
    [
        ([1] * 5, r"have shape \(6,\), .* got \(5,\)"),
        ([np.nan] * 6, "be finite, got nan in row 0"),
        ([np.inf] * 6, "be finite, got inf in row 0"),
        (["a"] * 6, "hold numbers"),
        (np.ones((6, 2)), r"have shape \(6,\), .* got \(6, 2\)"),
        (np.ones((6, 1, 1)), r"have shape \(6,\), .* got \(6, 1, 1\)"),
        (3.0, r"have shape \(6,\), .* got \(\)"),
    ],
    ids=["short", "nan", "inf", "strings", "2D", "3D", "number"],
)
def test_bad_offsets(kind, offset, what):
    with refuses(f"^offset must {what}"):
        short(kind).fit(X, Y, offset=offset)
    with refuses(f"^offset must {what}"):
        short(kind).fit(X, Y).predict(X, offset=offset)
    with refuses(f"offset must {what}"):
        short(kind).fit(X, Y, X_val=X, y_val=Y, offset_val=offset)


@pytest.mark.parametrize("kind", BOTH)
def test_wrong_validation_rows(kind):
    est = short(kind)
    for more, sentence in (
        ({"X_val": X}, "X_val is provided, but y_val was not provided"),
        ({"y_val": Y}, "y_val is provided, but X_val was not provided"),
        ({"sample_weight_val": Y}, "sample_weight_val weighs the rows of X_val"),
        ({"offset_val": Y}, "^offset_val belongs to the rows of X_val, which is not given"),
        (
            {"X_val": X[:, :1], "y_val": Y},
            "X_val.*X has 1 features, but .* is expecting 2 features",
        ),
        ({"X_val": X, "y_val": Y[:3]}, "y_val.*: y has 3 rows but X has 6"),
    ):
        with refuses(sentence):
            est.fit(X, Y, **more)
    with refuses("y_val.*label 7"):
        short(GradientBoostingClassifier).fit(X, Y, X_val=X, y_val=np.full(6, 7))


# --- anything -------------------------------------------------------------------------------------

QUIET = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@QUIET
@given(st.data())
@pytest.mark.parametrize("kind", BOTH)
def test_any_array(kind, data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=8))
    kinds = (np.float64, np.float32, np.int64, np.uint8, np.bool_, np.complex128)
    table = data.draw(hnp.arrays(data.draw(st.sampled_from(kinds)), shape))
    target = data.draw(hnp.arrays(data.draw(st.sampled_from(kinds)), shape[0]))
    weights = data.draw(st.none() | hnp.arrays(np.float64, shape[0]))
    try_to_fit(short(kind, random_state=0), table, target, weights, READABLE)


@QUIET
@given(
    hnp.arrays(np.float64, (12, 2), elements=st.floats(-1e300, 1e300) | st.just(np.nan)),
    hnp.arrays(np.float64, 12, elements=st.floats(0, 1e150)),
    hnp.arrays(np.float64, 12, elements=st.floats(0, 1e100) | st.just(0.0)),
)
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson", "tweedie"])
def test_any_finite_numbers(loss, data, target, weights):
    weights[0], target[0] = 1.0, 1.0
    sentence = r"\by\b|sample_weight|learning_rate"
    try_to_fit(short(GradientBoostingRegressor, loss=loss), data, target, weights, sentence)


@pytest.mark.parametrize(
    ("loss", "y", "offset"),
    [
        ("poisson", [0.0, 2.0, 2.0], [166.0, 65.0, -17.0]),
        ("poisson", [1.0, 2.0, 4.0], [17.0, -23.0, 106.0]),
        ("gamma", [3.0, 1.0, 3.0, 2.0], [8.0, -21.0, -17.0, -98.0]),
        ("tweedie", [1.0, 2.0, 4.0], [548.0, -923.0, 287.0]),
    ],
)
def test_wild_offsets_do_not_hang_the_search_for_the_start(loss, y, offset):
    """The walk to the end of its reach stopped short of it by a rounding error, for ever."""
    model = GradientBoostingRegressor(loss=loss, n_estimators=2)
    model.fit(np.arange(float(len(y)))[:, None], y, offset=offset)
    assert np.isfinite(model.train_score_).all()


def test_validation_rows_need_offsets_if_the_others_have_them():
    """Without, losses on another scale decided when to stop."""
    X, y = np.arange(20.0)[:, None], np.arange(20.0)
    model = GradientBoostingRegressor(loss="poisson", n_estimators=3, n_iter_no_change=2)
    with pytest.raises(ValueError, match="no offset_val"):
        model.fit(X, y, offset=np.ones(20), X_val=X, y_val=y)
    model.fit(X, y, offset=np.ones(20), X_val=X, y_val=y, offset_val=np.ones(20))


def test_monotone_columns_by_name():
    table = pd.DataFrame({"a": np.arange(30.0), "b": np.tile([0.0, 1.0, 2.0], 10)})
    y = -table["a"] + table["b"]
    settings_of_all = {"n_estimators": 5, "max_features": None, "min_samples_leaf": 3}
    named = GradientBoostingRegressor(monotonic_cst={"a": 1}, **settings_of_all).fit(table, y)
    listed = GradientBoostingRegressor(monotonic_cst=[1, 0], **settings_of_all).fit(table, y)
    assert np.array_equal(named.predict(table), listed.predict(table))
    with pytest.raises(ValueError, match="names 'c', but X has no such column: it has 'a', 'b'"):
        GradientBoostingRegressor(monotonic_cst={"c": 1}).fit(table, y)
    with pytest.raises(ValueError, match="no column names"):
        GradientBoostingRegressor(monotonic_cst={"a": 1}).fit(table.to_numpy(), y)
