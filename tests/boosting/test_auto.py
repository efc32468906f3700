"""What "auto" chooses, as a function and in fits, and that it is free of units."""

import inspect
import re
import warnings
from dataclasses import replace
from html import unescape
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_friedman1, make_friedman2
from sklearn.metrics import log_loss

import weald
from boosting.cases import BOTH, CANCER, DIABETES
from weald import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
)
from weald.boosting.defaults import Given, Task, choose
from weald.boosting.units import row_scale

SMALL, LARGE = Task(1000, 28), Task(100_000, 28)
NUMBERS = Task(5000, 20, family="numbers")
TASKS = [
    replace(NUMBERS, n_rows=n, n_columns=d, family=family)
    for n, d, family in product(
        (5, 300, 5000, 10**6), (1, 4, 50), ("likelihood", "numbers", "exact")
    )
]
FRIEDMAN = make_friedman1(600, noise=1.0, random_state=0)


# --- the function ---------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_what_is_given_stays_and_the_rest_makes_sense(task):
    for rounds, rate, leaves, depth in product(
        ("auto", 1, 100, 10**5), ("auto", 1e-6, 0.1, 2.0), ("auto", None, 2, 31), (None, 1, 40)
    ):
        given = Given(
            n_estimators=rounds, learning_rate=rate, max_leaf_nodes=leaves, max_depth=depth
        )
        chosen = choose(task, given)
        for name in ("n_estimators", "learning_rate", "max_leaf_nodes"):
            asked = getattr(given, name)
            assert asked == "auto" or getattr(chosen, name) == asked
        assert 1 <= chosen.max_features <= task.n_columns
        assert chosen.n_estimators >= 1
        assert rate != "auto" or 0 < chosen.learning_rate <= 0.3
        assert leaves != "auto" or (chosen.max_leaf_nodes is None) == (depth is not None)


def test_all_that_is_given_is_taken():
    given = Given(0.2, 7, 5, 4, 0.5, 0.25, 0.125, 3.0, 2)
    assert tuple(vars(choose(SMALL, given)).values()) == tuple(vars(given).values())[:-2]


def test_nothing_given_is_the_table():
    small = choose(SMALL)
    assert (small.n_estimators, small.learning_rate, small.max_leaf_nodes) == (500, 0.05, 64)
    assert (small.max_features, small.l2, small.min_gain, small.patience) == (5, 1.0, 0.2, None)
    numbers = choose(NUMBERS)
    assert (numbers.n_estimators, numbers.learning_rate) == (2000, 0.025)
    assert (numbers.max_features, numbers.l2, numbers.min_gain) == (10, 3.0, 0)
    many = choose(replace(NUMBERS, n_rows=10_001))
    assert (many.n_estimators, many.learning_rate) == (1000, 0.05)
    exact = choose(replace(NUMBERS, family="exact"))
    assert (exact.n_estimators, exact.learning_rate) == (400, 0.05)
    slow = choose(replace(SMALL, slow=True))
    assert (slow.n_estimators, slow.learning_rate) == (100, 0.1)


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_fewer_rounds_go_further_each_but_not_in_all(task):
    chosen = [choose(task, Given(n_estimators=rounds)) for rounds in (5, 20, 100, 300, 3000)]
    rates = [one.learning_rate for one in chosen]
    ways = [one.learning_rate * one.n_estimators for one in chosen]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > rates[-1]
    assert ways == sorted(ways)


def test_rounds_follow_a_rate():
    usual = choose(SMALL)
    assert choose(SMALL, Given(learning_rate=0.05)) == usual
    assert choose(SMALL, Given(learning_rate=0.025)).n_estimators == 1000
    assert choose(SMALL, Given(learning_rate=3.0)).n_estimators == 100
    assert choose(SMALL, Given(learning_rate=1e-9)).n_estimators == 5000


def test_columns_are_drawn_where_rows_may_be_learned_by_heart():
    few = Given(n_estimators=100, learning_rate=0.1, max_leaf_nodes=31)
    assert choose(SMALL, few).max_features == 5
    assert choose(LARGE, few).max_features == 28
    counts = [choose(replace(LARGE, n_rows=n), few).max_features for n in (10**4, 2 * 10**4, 10**5)]
    assert counts == sorted(set(counts))
    # Rare counts are few rows, whatever their number.
    assert choose(replace(LARGE, worth=0.01), few).max_features == 5
    # The least are three, if there are rows to choose by.
    assert choose(Task(1000, 4)).max_features == 3
    assert choose(Task(1000, 4, family="numbers")).max_features == 3
    assert choose(Task(100, 4)).max_features == 2
    assert choose(Task(100, 4, family="numbers")).max_features == 3


def test_few_rounds_for_numbers_try_more_columns():
    counts = [choose(NUMBERS, Given(n_estimators=n)).max_features for n in (300, 100, 50, 20, 5)]
    assert counts[0] == counts[1] == 10
    assert counts[1:] == sorted(counts[1:])
    assert counts[-2] == 14
    classes = [choose(SMALL, Given(n_estimators=n)).max_features for n in (300, 20)]
    assert classes == [5, 5]


@pytest.mark.parametrize("task", [SMALL, LARGE, NUMBERS], ids=str)
def test_few_steps_are_held_back_less(task):
    usual = choose(task)
    for rounds, rate, part in [(20, 0.03, 0.1), (20, 0.1, 0.16), (40, 0.1, 0.64), (50, 0.1, 1.0)]:
        short = choose(task, Given(n_estimators=rounds, learning_rate=rate))
        assert short.l2 == pytest.approx(part * usual.l2)
        assert short.min_gain == pytest.approx(part * usual.min_gain)
        assert short.min_hessian == usual.min_hessian
    # Small trees go less far, and rounds that may go on are not few.
    flat = choose(task, Given(n_estimators=50, learning_rate=0.1, max_depth=3))
    assert flat.l2 == pytest.approx(usual.l2 / 4)
    assert choose(task, Given(n_estimators=20, goes_on=True)).l2 == usual.l2
    assert choose(task, Given(n_estimators=20, learning_rate=0.1, l2=0.7)).l2 == 0.7


def test_small_trees_go_further_and_see_more():
    deep, flat = (choose(NUMBERS, Given(max_depth=depth)) for depth in (10, 3))
    assert deep.learning_rate == 0.025 < flat.learning_rate
    assert deep.max_features == 10 < flat.max_features == 20
    assert choose(NUMBERS, Given(max_leaf_nodes=8)).learning_rate == flat.learning_rate


def test_patience_waits_for_a_small_rate():
    assert choose(LARGE).patience == 10
    assert choose(LARGE, Given(learning_rate=0.003)).patience == 167


def test_units_of_the_loss_are_counted_in_rows():
    plain, tiny = choose(SMALL), choose(replace(SMALL, unit=2.0**-10))
    for name in ("l2", "min_gain", "min_hessian"):
        assert getattr(tiny, name) == getattr(plain, name) / 1024
    assert choose(replace(SMALL, order=1)).min_gain == 0
    assert choose(SMALL, Given(l2=2.0)).l2 == 2.0


def test_rare_counts_pay_more_for_noise():
    plain = choose(LARGE)
    for worth, times in [(1.0, 1), (0.25, 4), (0.125, 8), (1e-9, 10)]:
        rare = choose(replace(LARGE, worth=worth))
        assert rare.min_gain == pytest.approx(times * plain.min_gain)
        assert rare.categorical_smoothing == pytest.approx(times * plain.categorical_smoothing)
        assert rare.l2 == plain.l2


# --- in fits --------------------------------------------------------------------------------------


def test_few_rounds_are_used_well():
    X, y = load_digits(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X[:1200], y[:1200])
    assert log_loss(y[1200:], model.predict_proba(X[1200:])) < 0.3
    assert model.learning_rate_ == pytest.approx(0.25)


def test_few_columns_are_not_lost():
    X, y = make_friedman2(1500, random_state=0)
    auto, every = (
        GradientBoostingRegressor(
            n_estimators=100, learning_rate=0.1, max_leaf_nodes=31, max_features=m, random_state=0
        ).fit(X[:1000], y[:1000])
        for m in ("auto", None)
    )
    errors = [np.mean((model.predict(X[1000:]) - y[1000:]) ** 2) for model in (auto, every)]
    assert errors[0] < 1.5 * errors[1]


CHOSEN = {
    "learning_rate": 0.2,
    "max_leaf_nodes": 7,
    "max_features": 2,
    "l2_regularization": 0.5,
    "min_gain": 0.25,
    "min_hessian": 0.125,
    "categorical_smoothing": 3.0,
    "n_iter_no_change": 4,
}


@pytest.mark.parametrize("cls", BOTH)
def test_what_was_chosen_is_shown(cls):
    X, y = CANCER if cls is GradientBoostingClassifier else DIABETES
    auto = cls(n_estimators=3, random_state=0, n_iter_no_change="auto").fit(X, y)
    for name in CHOSEN:
        assert getattr(auto, f"{name}_") != "auto"
    assert auto.n_iter_no_change_ is None
    given = cls(n_estimators=3, random_state=0, **CHOSEN).fit(X, y)
    assert {name: getattr(given, f"{name}_") for name in CHOSEN} == CHOSEN
    again = cls(n_estimators=3, random_state=0)
    again.set_params(**{name: getattr(auto, f"{name}_") for name in CHOSEN}).fit(X, y)
    np.testing.assert_array_equal(auto.predict(X), again.predict(X))
    assert cls(max_features="sqrt", n_estimators=1).fit(X, y).max_features_ == int(
        np.sqrt(X.shape[1])
    )
    for name in CHOSEN:  # each is in the page of the class
        assert f"{name}_" in inspect.getdoc(cls)


def test_a_fit_ends_when_no_split_is_left():
    X, y = np.random.default_rng(0).normal(size=(400, 6)), np.arange(400) % 2
    with pytest.warns(UserWarning, match="has a split, so that it predicts a constant"):
        noise = GradientBoostingClassifier(min_gain=50.0, random_state=0).fit(X, y)
    assert noise.stop_reason_ == "no_split"
    assert noise.n_estimators_ == len(noise.train_score_) == 10 * 3 - 1  # 2 of 6 columns
    with pytest.warns(UserWarning, match="has a split"):
        asked = GradientBoostingClassifier(min_gain=50.0, n_estimators=40).fit(X, y)
    assert (asked.n_estimators_, asked.stop_reason_) == (40, "n_estimators")
    usual = {"max_leaf_nodes": 64, "random_state": 0}  # given, so that there is no trial
    clear = GradientBoostingClassifier(**usual).fit(X, X[:, 0] > 0)
    longer = GradientBoostingClassifier(**usual, n_estimators=500, learning_rate=0.05).fit(
        X, X[:, 0] > 0
    )
    assert clear.stop_reason_ == "no_split"
    np.testing.assert_allclose(
        clear.predict_proba(X), longer.predict_proba(X), atol=0.002
    )  # what is left out adds next to nothing


def test_a_tiny_rate_is_told():
    X, y = FRIEDMAN
    with pytest.warns(UserWarning, match=r"n_estimators=10 at learning_rate=1e-05 go 0.01% of"):
        GradientBoostingRegressor(learning_rate=1e-5, n_estimators=10).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GradientBoostingRegressor(learning_rate=0.03, n_estimators=10).fit(X, y)


# --- units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.01, 1e6])
@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(n_iter_no_change=5, learning_rate=0.05, random_state=0),
        GradientBoostingRegressor(
            n_iter_no_change=5, random_state=0, validation_fraction=None, learning_rate=0.3
        ),
        GradientBoostingRegressor(
            n_iter_no_change=5,
            scoring="neg_mean_squared_error",
            learning_rate=0.05,
            random_state=0,
        ),
        GradientBoostingRegressor(
            n_iter_no_change=5, loss="absolute_error", learning_rate=0.3, random_state=0
        ),
        GradientBoostingRegressor(n_iter_no_change=5, loss="gamma", random_state=0),
        StagewiseRegressor(n_iter_no_change=5, learning_rate=0.2, random_state=0),
    ],
    ids=str,
)
def test_early_stopping_knows_no_unit(model, factor):
    X, y = FRIEDMAN
    y = np.abs(y) + 1
    rounds = [model.fit(X, c * y).n_estimators_ for c in (1.0, factor)]
    assert model.stop_reason_ == "no_change"
    assert rounds[0] == rounds[1] > 15


def test_tol_is_a_share_of_what_was_gained():
    X, y = FRIEDMAN
    rounds = [
        GradientBoostingRegressor(n_iter_no_change=5, tol=tol, random_state=0).fit(X, y)
        for tol in (0.2, 0.01, 0.0)
    ]
    assert [one.n_estimators_ for one in rounds] == sorted({one.n_estimators_ for one in rounds})
    first = rounds[0].validation_score_
    gained = first[0] / (1 - 0.05) ** 2 - first.min()  # the start is about a round before
    assert first[-6] - first.min() < 0.25 * gained


def test_a_small_rate_does_not_stop_early():
    X, y = FRIEDMAN
    quick, small = (
        GradientBoostingRegressor(
            learning_rate=rate, n_estimators=3000, n_iter_no_change=10, random_state=0
        ).fit(X, y)
        for rate in (0.05, 0.005)
    )
    assert small.validation_score_.min() < 1.1 * quick.validation_score_.min()
    assert small.n_estimators_ > 5 * quick.n_estimators_


WEIGHTED = {
    "numbers": (GradientBoostingRegressor(random_state=0), FRIEDMAN[1]),
    "classes": (GradientBoostingClassifier(random_state=0), (FRIEDMAN[1] > 14).astype(int)),
    "counts": (
        GradientBoostingRegressor(loss="poisson", random_state=0),
        np.floor(np.abs(FRIEDMAN[1])),
    ),
    "median": (GradientBoostingRegressor(loss="absolute_error", random_state=0), FRIEDMAN[1]),
    "stopped": (GradientBoostingRegressor(n_iter_no_change=5, random_state=0), FRIEDMAN[1]),
    "stagewise": (StagewiseClassifier(n_iter_no_change=5, random_state=0), FRIEDMAN[1] > 14),
}


@pytest.mark.parametrize("name", WEIGHTED)
def test_only_the_shares_of_weights_count(name):
    model, y = WEIGHTED[name]
    X, w = FRIEDMAN[0], np.random.default_rng(0).uniform(0.1, 3.0, len(y))

    def said(weights):
        model.fit(X, y, weights)
        return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)

    plain = said(w)
    assert np.ptp(plain) > 0.3
    same = said(w * 2.0**-30)
    if name == "stagewise":  # searches for its step
        np.testing.assert_allclose(same, plain, rtol=1e-12)
    else:
        np.testing.assert_array_equal(same, plain)
    for factor in (1 / w.sum(), 1e6):
        np.testing.assert_allclose(said(w * factor), plain, rtol=1e-9)


def test_scale_of_weights():
    for natural in (None, [6, 4], [0.5, 1.5], [0.0, 0.0], [0.0, 2.0]):
        assert row_scale(natural) == 1
    assert row_scale(np.full(7, 1e-100)) == pytest.approx(1e100)
    assert row_scale([0.25, 0.0, 0.75]) == 2
    weights = np.random.default_rng(0).uniform(size=1000)
    assert row_scale(weights) == row_scale(weights[::-1])


def test_rounds_that_may_go_on_have_no_say():
    usual = choose(LARGE)
    for rounds in (5, 5000):
        chosen = choose(LARGE, Given(n_estimators=rounds, goes_on=True))
        assert chosen == replace(usual, n_estimators=rounds)


@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
@pytest.mark.parametrize("unit", [1e-4, 1e-9])
def test_tiny_means_give_no_constant(loss, unit):
    X, y = FRIEDMAN[0], np.abs(FRIEDMAN[1])
    usual, tiny = (
        GradientBoostingRegressor(loss=loss, random_state=0).fit(X, c * y) for c in (1.0, unit)
    )
    assert tiny.score(X, unit * y) > 0.9
    assert usual.l2_regularization_ > 100 * tiny.l2_regularization_ > 0


def test_rare_counts_are_counts():
    random = np.random.default_rng(0)
    X = random.uniform(size=(4000, 3))
    model = GradientBoostingRegressor(loss="poisson", random_state=0, n_estimators=30)
    model.fit(X, random.poisson(0.02 * np.exp(2 * X[:, 0])))
    assert model.l2_regularization_ == 1.0


# --- names ----------------------------------------------------------------------------------------


CLASSES = [one for one in map(weald.__dict__.get, weald.__all__) if inspect.isclass(one)]


@pytest.mark.parametrize("cls", CLASSES)
def test_no_private_names(cls):
    assert cls.__qualname__ == cls.__name__
    with pytest.raises(TypeError, match=rf"^{cls.__name__}\.__init__\(\) got an unexpected"):
        cls(no_such_parameter=1)


# --- what was chosen can be seen ------------------------------------------------------------------


def words_of(html):
    """The rows of the table of parameters, by name."""
    rows = re.findall(r'<td class="param">(.*?)</td>\s*<td class="value">(.*?)</td>', html, re.S)
    plain = [[re.sub(r"<[^>]*>.*", "", part.strip(), flags=re.S) for part in row] for row in rows]
    named = re.findall(r"Copy (\w+) to clipboard", html)
    return dict(zip(named, [unescape(value) for _, value in plain], strict=True))


@pytest.mark.parametrize("kind", BOTH)
def test_every_auto_has_an_attribute_that_is_documented_and_shown(kind):
    X, y = CANCER
    auto = [
        name
        for name, parameter in inspect.signature(kind).parameters.items()
        if parameter.default == "auto"
    ]
    assert len(auto) >= 9
    for model in (
        kind(random_state=0, **dict.fromkeys(("n_iter_no_change",), "auto")),
        kind(n_estimators=3, learning_rate=0.5, max_leaf_nodes=4),
    ):
        before = words_of(model._repr_html_())
        assert not any("(" in before[name] for name in auto)
        model.fit(X, y)
        after = words_of(model._repr_html_())
        attributes = kind.__doc__.partition("Attributes\n")[2].partition("Notes\n")[0]
        for name in auto:
            chosen = getattr(model, f"{name}_")
            assert chosen != "auto"
            assert re.search(rf"^    .*\b{name}_\b.* :", attributes, re.M)
            if getattr(model, name) == "auto":
                shown = f"{chosen:.4g}" if isinstance(chosen, float) else repr(chosen)
                assert after[name] == f"'auto' ({shown})"
            else:
                assert after[name] == repr(getattr(model, name))
        assert model.order_ in (1, 2)


def test_a_single_class_has_these_attributes_too():
    model = GradientBoostingClassifier().fit([[0.0], [1.0]], ["a", "a"])
    assert model.stop_reason_ == "one_class"
    assert (model.min_samples_leaf_, model.step_, model.order_) == (1, "newton", 2)


def test_what_quantiles_are_calibrated_on():
    X, y = DIABETES
    short = {"loss": "quantile", "n_estimators": 5, "random_state": 0}
    assert GradientBoostingRegressor(**short).fit(X, y).calibration_ == "rows of the folds"
    stopped = GradientBoostingRegressor(**short, n_iter_no_change=3).fit(X, y)
    assert stopped.calibration_ == "validation rows"
    assert GradientBoostingRegressor(**short, calibration=None).fit(X, y).calibration_ is None
    with pytest.raises(AttributeError):
        _ = GradientBoostingRegressor().calibration_


def test_words_of_other_estimators_are_shown_too():
    X, y = CANCER
    forest = weald.RandomForestClassifier(2).fit(X, y)
    assert words_of(forest._repr_html_())["max_features"] == f"'sqrt' ({forest.max_features_})"
