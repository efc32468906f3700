"""Bad input gets one clear sentence or a sensible result: never a crash, a hang or a NaN model."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from weald import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

CLASSIFIERS = (DecisionTreeClassifier, ExtraTreeClassifier)
REGRESSORS = (DecisionTreeRegressor, ExtraTreeRegressor)
ALL = CLASSIFIERS + REGRESSORS

X = np.array([[1.0, 5.0], [2.0, 1.0], [3.0, 4.0], [4.0, 2.0], [5.0, 3.0], [6.0, 0.0]])
Y = np.array([0, 0, 1, 0, 1, 1])


def frame(**columns):
    return pd.DataFrame({"height": X[:, 0], "age": X[:, 1], **columns})


def refuses(sentence, *, kinds=(ValueError, TypeError)):
    """The call must fail with a message that says what the pattern asks for."""
    return pytest.raises(kinds, match=sentence)


def assert_healthy(est, data):
    """A usable model: finite numbers, one answer per row."""
    tree = est.tree_
    assert np.all(np.isfinite(tree.value))
    assert np.all(np.isfinite(tree.impurity))
    assert not np.any(np.isnan(tree.threshold[~tree.is_categorical]))
    says = est.predict(data)
    assert len(says) == len(data)
    if hasattr(est, "classes_"):
        assert np.isin(says, est.classes_).all()
        np.testing.assert_allclose(est.predict_proba(data).sum(axis=1), 1)
    else:
        assert np.all(np.isfinite(says))


def try_to_fit(est, data, target, weights=None, sentence=r"\w"):
    """A healthy model (True) or a ValueError or TypeError with a sentence to read (False)."""
    message = None
    try:
        est.fit(data, target, sample_weight=weights)
    except (ValueError, TypeError) as error:
        message = str(error)
    if message is None:
        assert_healthy(est, data)
    else:
        assert re.search(sentence, message)
    return message is None


# --- shapes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_wrong_shapes(kind):
    with refuses(r"(?i)\b2D|two.dimension|2.dimension"):
        kind().fit(X[:, 0], Y)
    with refuses(r"(?i)\bdim"):
        kind().fit(X[None], Y)
    with refuses(r"(?i)y|label|samples|rows"):
        kind().fit(X, Y[:-1])
    with refuses(r"(?i)\by\b"):
        kind().fit(X, np.zeros((6, 2, 2)))
    with refuses(r"(?i)\b(0|no) (sample|row)"):
        kind().fit(X[:0], Y[:0])
    with refuses(r"(?i)\b(0|no) (feature|column)"):
        kind().fit(X[:, :0], Y)
    with refuses(r"\by\b"):
        kind().fit(X, None)


@pytest.mark.parametrize("kind", ALL)
def test_wrong_shapes_at_prediction(kind):
    est = kind().fit(X, Y)
    for method in (est.predict, est.apply, est.decision_path):
        with refuses(r"3 features.*expecting 2|2 columns|3 columns"):
            method(np.zeros((4, 3)))
        with refuses(r"(?i)\b2D|dimension"):
            method(np.zeros(2))
    fitted = kind().fit(frame(), Y)
    with refuses(r"size"):
        fitted.predict(frame().rename(columns={"age": "size"}))


@pytest.mark.parametrize("kind", ALL)
def test_predict_before_fit(kind):
    for method in ("predict", "apply", "decision_path", "get_depth", "get_n_leaves"):
        arguments = () if method.startswith("get") else (X,)
        with refuses(r"(?i)fit"):
            getattr(kind(), method)(*arguments)


# --- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinite_values_are_named(kind, bad):
    data = X.copy()
    data[3, 1] = bad
    with refuses(r"(?i)(column|feature)\D*1\b.*inf|inf.*(column|feature)\D*1\b"):
        kind().fit(data, Y)
    with refuses(r"(?i)age.*inf|inf.*age"):
        kind().fit(frame(age=data[:, 1]), Y)
    est = kind().fit(X, Y)
    with refuses(r"(?i)inf"):
        est.predict(data)


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_targets_must_be_finite(kind, bad):
    with refuses(r"(?i)\by\b.*(nan|inf|missing|finite)"):
        kind().fit(X, np.array([0, 1, 2, 3, 4, bad]))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_labels_must_be_known(kind):
    with refuses(r"(?i)\by\b.*(nan|missing)"):
        kind().fit(X, np.array([0, 1, 0, 1, 0, np.nan]))
    with refuses(r"(?i)label type.*continuous|continuous.*(class|regress)"):
        kind().fit(X, Y + 0.5 * np.arange(6))


def test_poisson_targets():
    with refuses(r"(?i)negative.*poisson|poisson.*negative"):
        DecisionTreeRegressor(criterion="poisson").fit(X, Y - 1.0)
    with refuses(r"(?i)(positive|zero).*poisson|poisson.*(positive|zero)"):
        DecisionTreeRegressor(criterion="poisson").fit(X, np.zeros(6))


@pytest.mark.parametrize("kind", ALL)
def test_all_missing_column_is_never_used(kind):
    for gap in (np.nan, None):
        data = pd.DataFrame({"height": X[:, 0], "empty": [gap] * 6})
        est = kind(random_state=0).fit(data, Y)
        assert set(est.tree_.feature) <= {0, -2}
        assert_healthy(est, data)
    alone = kind().fit(np.full((6, 1), np.nan), Y)
    assert alone.get_n_leaves() == 1
    assert_healthy(alone, np.full((6, 1), np.nan))


@pytest.mark.parametrize("kind", ALL)
def test_constant_columns_are_never_used(kind):
    est = kind(random_state=0).fit(np.c_[np.full(6, 7.0), X], Y)
    assert 0 not in est.tree_.feature
    alone = kind().fit(np.full((6, 1), 7.0), Y)
    assert alone.get_n_leaves() == 1
    assert_healthy(alone, [[7.0], [8.0], [np.nan]])


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_one_class(kind):
    est = kind().fit(X, ["only"] * 6)
    assert list(est.classes_) == ["only"]
    assert est.get_n_leaves() == 1
    assert list(est.predict(X)) == ["only"] * 6
    np.testing.assert_array_equal(est.predict_proba(X), np.ones((6, 1)))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_class_without_weight_keeps_its_column(kind):
    labels = np.array(["a", "b", "c", "a", "b", "c"])
    est = kind().fit(X, labels, sample_weight=labels != "b")
    assert list(est.classes_) == ["a", "b", "c"]
    np.testing.assert_array_equal(est.predict_proba(X)[:, 1], 0)
    assert_healthy(est, X)


@pytest.mark.parametrize("kind", ALL)
def test_one_row(kind):
    est = kind().fit(X[:1], [3])
    assert est.tree_.node_count == 1
    assert list(est.predict(X)) == [3] * 6


@pytest.mark.parametrize("kind", ALL)
def test_constant_target(kind):
    est = kind().fit(X, np.full(6, 4))
    assert est.get_n_leaves() == 1
    np.testing.assert_array_equal(est.predict(X), 4)
    np.testing.assert_array_equal(est.feature_importances_, 0)


@pytest.mark.parametrize("kind", ALL)
def test_unknown_categories_count_as_missing(kind):
    data = pd.DataFrame({"colour": ["red", "blue", "red", "blue", None, "green"]})
    est = kind(random_state=0).fit(data, Y)
    new = pd.DataFrame({"colour": ["mauve", None]})
    leaves = est.apply(new)
    assert leaves[0] == leaves[1]
    assert_healthy(est, new)
    assert est.categories_[0].tolist() == ["blue", "green", "red"]


# --- numbers at the edge ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_integers_are_not_squeezed_into_float32(kind):
    column = np.array([[2**24], [2**24 + 1], [2**24 + 2], [2**24 + 3]], dtype=np.int64)
    est = kind().fit(column, [0, 1, 0, 1])
    np.testing.assert_array_equal(est.predict(column), [0, 1, 0, 1])


@pytest.mark.parametrize("kind", ALL)
def test_huge_integers(kind):
    # Beyond 2**53 neighbouring integers would merge in silence: a sentence is due, or exact work.
    for top, dtype in ((2**63 - 1, np.int64), (2**64 - 1, np.uint64)):
        column = np.array([[top], [top - 1], [top - 2], [top - 3], [0], [7]], dtype=dtype)
        est = kind(random_state=0)
        if try_to_fit(est, column, Y, sentence=r"(?i)column 0\b"):
            np.testing.assert_array_equal(est.predict(column), Y)
    assert_healthy(kind(random_state=0).fit(np.array([[2**53 - 1]] * 6), Y), [[2**53 - 1]])
    data = frame(age=pd.Series([10**400, 1, 2, 3, 4, 5], dtype=object))
    with refuses("age"):
        kind().fit(data, Y)


def test_neighbouring_huge_labels_stay_apart():
    labels = np.array([2**62, 2**62 + 1, 2**62, 2**62 + 1, 2**62, 2**62 + 1])
    est = DecisionTreeClassifier().fit(X, labels)
    assert est.classes_.tolist() == [2**62, 2**62 + 1]
    assert est.predict(X).tolist() == labels.tolist()


@pytest.mark.parametrize("kind", REGRESSORS)
def test_large_and_small_targets(kind):
    for scale in (1e-150, 1e-7, 1e8, 1e100, 1e150, 1e300):
        est = kind(random_state=0)
        if not try_to_fit(est, X, scale * (1 + Y), sentence=r"\by\b"):
            assert scale >= 1e100
        elif scale > 1e-150:  # there the variance underflows, and the node counts as pure
            np.testing.assert_allclose(est.predict(X), scale * (1 + Y))


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_large_offset_hides_no_split(kind):
    est = kind(random_state=0).fit(X, 1e9 + Y)
    np.testing.assert_array_equal(est.predict(X), 1e9 + Y)


@pytest.mark.parametrize("kind", ALL)
def test_extreme_values_of_a_column(kind):
    top = np.finfo(np.float64).max
    column = np.array([[-top], [-1e-320], [0.0], [5e-324], [1.0], [top]])
    est = kind(random_state=0).fit(column, Y)
    assert_healthy(est, column)
    if kind in (DecisionTreeClassifier, DecisionTreeRegressor):
        np.testing.assert_array_equal(est.predict(column), Y)


def test_minus_zero_is_zero():
    est = DecisionTreeClassifier().fit([[0.0], [-0.0], [1.0]], [0, 0, 1])
    assert est.apply([[0.0]])[0] == est.apply([[-0.0]])[0]


# --- weights ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(
    "weights",
    [
        [1, 1, -1, 1, 1, 1],
        [0] * 6,
        [1, 1, np.nan, 1, 1, 1],
        [1, 1, np.inf, 1, 1, 1],
        [1, 1],
        np.ones((6, 2)),
        ["a"] * 6,
    ],
    ids=["negative", "zero", "nan", "inf", "short", "2D", "strings"],
)
def test_bad_weights(kind, weights):
    with refuses(r"(?i)sample.?weight"):
        kind().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("kind", ALL)
def test_tiny_and_large_weights(kind):
    for scale in (1e-200, 1e-30, 1e30, 1e200):
        est = kind(random_state=0)
        if try_to_fit(est, X, Y, np.full(6, scale), sentence="sample_weight"):
            assert list(est.predict(X)) == list(Y)
        else:
            assert scale in (1e-200, 1e200)


# --- types ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_columns_of_a_type_that_is_no_number_and_no_category(kind):
    with refuses(r"(?i)complex"):
        kind().fit(X + 1j, Y)
    dates = pd.Series(pd.date_range("2020-01-01", periods=6))
    for odd in (dates, dates - dates[0], pd.Series([[1], [2], [3], [4], [5], [6]])):
        with refuses("age"):
            kind().fit(frame(age=odd.to_numpy() if odd.dtype == object else odd), Y)


@pytest.mark.parametrize("kind", ALL)
def test_a_column_that_mixes_numbers_and_words(kind):
    data = frame(age=pd.Series([1, "two", 3, "four", 5.0, "six"], dtype=object))
    with refuses("age"):
        kind().fit(data, Y)


@pytest.mark.parametrize("kind", ALL)
def test_a_number_column_that_turns_into_words(kind):
    est = kind().fit(frame(), Y)
    with refuses("age"):
        est.predict(frame(age=["a", "b", "c", "d", "e", "f"]))


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_regressor_needs_numbers(kind):
    with refuses(r"(?i)\by\b|target|could not convert"):
        kind().fit(X, ["a", "b", "c", "a", "b", "c"])


# --- parameters -------------------------------------------------------------------------------

BAD_PARAMETERS = {
    "criterion": ["nonsense", 3, None],
    "splitter": ["nonsense", 1, None],
    "max_depth": [0, -1, 2.5, "3"],
    "min_samples_split": [1, 0, -2, 0.0, 1.5, "2", None],
    "min_samples_leaf": [0, -1, 0.0, 1.0, 1.5, "1", None],
    "min_weight_fraction_leaf": [-0.1, 0.6, "0", None, np.nan],
    "max_features": [0, -1, 0.0, 1.5, "nonsense"],
    "random_state": ["seed", -1, 1.5],
    "max_leaf_nodes": [1, 0, -1, 2.5, "3"],
    "min_impurity_decrease": [-0.1, "0", None, np.nan],
    "ccp_alpha": [-0.1, "nonsense", None, np.nan],
    "monotonic_cst": [[1], [1, 2], [0.5, 0], 3, "up"],
    "categorical_features": [[2], [-3], ["weight"], [True], [0.5], "nonsense", 1.5],
    "max_bins": [1, 0, -1, 256, 2.5, "8"],
    "n_jobs": [0, 1.5, "2"],
}
BAD_CLASSIFIER_PARAMETERS = {
    "criterion": ["squared_error"],
    "class_weight": ["nonsense", 3, [1, 2], {0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0}],
    "cost_matrix": [[[0, 1]], [[0, 1, 2]] * 3, [[0, np.nan], [1, 0]], 3, "cheap", [0, 1]],
}
BAD_REGRESSOR_PARAMETERS = {"criterion": ["gini", "friedman"]}


def bad_parameters(table):
    return [
        pytest.param(name, value, id=f"{name}={value}")
        for name, values in table.items()
        for value in values
    ]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("name", "value"), bad_parameters(BAD_PARAMETERS))
def test_bad_parameters(kind, name, value):
    with refuses(name):
        kind(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize(("name", "value"), bad_parameters(BAD_CLASSIFIER_PARAMETERS))
def test_bad_classifier_parameters(kind, name, value):
    with refuses(name):
        kind(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize(("name", "value"), bad_parameters(BAD_REGRESSOR_PARAMETERS))
def test_bad_regressor_parameters(kind, name, value):
    with refuses(name):
        kind(**{name: value}).fit(X, Y)


def test_category_names_need_a_frame_with_that_column():
    with refuses("weight"):
        DecisionTreeClassifier(categorical_features=["weight"]).fit(frame(), Y)
    est = DecisionTreeClassifier(categorical_features=["age"]).fit(frame(), Y)
    assert est.categories_[0] is None
    assert est.categories_[1].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", ALL)
def test_a_failed_fit_is_followed_by_a_good_one(kind):
    est = kind(max_depth=-1)
    with refuses("max_depth"):
        est.fit(X, Y)
    assert_healthy(est.set_params(max_depth=None).fit(X, Y), X)


def test_prune_checks_its_input():
    est = DecisionTreeClassifier().fit(X, Y)
    with refuses(r"(?i)fit"):
        DecisionTreeClassifier().prune(X, Y)
    with refuses(r"3 features|3 columns|2 columns"):
        est.prune(np.zeros((4, 3)), [0, 1, 0, 1])
    with refuses(r"(?i)y|label|samples|rows"):
        est.prune(X, Y[:-1])
    with refuses(r"(?i)sample.?weight"):
        est.prune(X, Y, sample_weight=-np.ones(6))


def test_alpha_by_cross_validation_on_few_rows():
    for rule in ("cv", "cv_1se"):
        for n in (1, 2, 3, 6):
            for kind in (DecisionTreeRegressor, DecisionTreeClassifier):
                try_to_fit(kind(ccp_alpha=rule), X[:n], Y[:n], sentence="ccp_alpha")


# --- anything at all --------------------------------------------------------------------------

NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=64)
CELLS = st.one_of(
    NUMBERS,
    st.integers(-(2**70), 2**70),
    st.text(max_size=3),
    st.booleans(),
    st.none(),
    st.just(pd.NA),
    st.binary(max_size=2),
)
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@QUIET
@given(st.data())
@pytest.mark.parametrize("kind", ALL)
def test_any_array(kind, data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=8))
    kinds = (np.float64, np.float32, np.int64, np.uint8, np.bool_, np.complex128)
    dtype = data.draw(st.sampled_from(kinds))
    table = data.draw(hnp.arrays(dtype, shape))
    target = data.draw(hnp.arrays(data.draw(st.sampled_from(kinds)), shape[0]))
    weights = data.draw(st.none() | hnp.arrays(np.float64, shape[0]))
    try_to_fit(kind(random_state=0), table, target, weights)


@QUIET
@given(st.data())
@pytest.mark.parametrize("kind", ALL)
def test_any_frame(kind, data):
    n = data.draw(st.integers(0, 8))
    columns = data.draw(st.lists(st.text(max_size=4), min_size=1, max_size=3, unique=True))
    cells = data.draw(st.lists(CELLS, min_size=1, max_size=4))
    table = pd.DataFrame(
        {c: pd.Series([data.draw(st.sampled_from(cells)) for _ in range(n)]) for c in columns}
    )
    target = [data.draw(st.sampled_from(cells)) for _ in range(n)]
    plain = data.draw(st.booleans())
    try_to_fit(kind(random_state=0), table, np.arange(n) % 2 if plain else target)


@QUIET
@given(
    hnp.arrays(np.float64, (12, 2), elements=st.floats(-1e300, 1e300) | st.just(np.nan)),
    hnp.arrays(np.float64, 12, elements=st.floats(0, 1e150)),
    hnp.arrays(np.float64, 12, elements=st.floats(0, 1e100) | st.just(0.0)),
)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_any_finite_numbers(criterion, data, target, weights):
    weights[0], target[0] = 1.0, 1.0
    sentence = r"\by\b|sample_weight"
    try_to_fit(DecisionTreeRegressor(criterion=criterion), data, target, weights, sentence)
