"""AdaBoost that goes on from an earlier fit, is looked at by callbacks, or is cut short."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from weald import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
)
from weald.callbacks import EarlyStopping, History, LearningRateSchedule

ALL = ("samme", "arc-gv", "confidence", "real", "gentle", "logit")
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
X[rng.random(X.shape) < 0.02] = np.nan
FULL = np.nan_to_num(X)
NUMBERS = FULL[:, 0] + FULL[:, 1] ** 2 + 0.7 * rng.normal(size=300)
TWO = np.where(NUMBERS > 0.9, "yes", "no")
THREE = np.digitize(NUMBERS, [0.3, 1.5])
EASY = FULL[:, 2] > 0.1
WHOLE = rng.integers(0, 4, 300).astype(float)
REAL = rng.random(300)
KEPT = ("alphas_", "errors_", "edges_", "normalizers_", "weights_", "feature_importances_")


def case(model, table, target, weights=None, **fit):
    return model, table, target, weights, fit


def tree(algorithm, **parameters):
    kind = DecisionTreeRegressor if algorithm == "logit" else DecisionTreeClassifier
    return kind(**parameters)


HELD = {"X_val": X[200:], "y_val": TWO[200:]}
CASES = {
    "three": case(AdaBoostClassifier(tree("samme", max_depth=2)), X, THREE, REAL),
    "three ratios": case(AdaBoostClassifier(algorithm="real", learning_rate=0.3), X, THREE, WHOLE),
    "bayes": case(AdaBoostClassifier(GaussianNB()), FULL, THREE, WHOLE),
    "bayes ratios": case(AdaBoostClassifier(GaussianNB(), algorithm="real"), FULL, TWO, REAL),
    "lines": case(AdaBoostClassifier(LogisticRegression(), algorithm="gentle"), FULL, TWO),
    "neighbours": case(AdaBoostClassifier(KNeighborsClassifier(9)), FULL, TWO),
    "extra": case(AdaBoostClassifier(ExtraTreeClassifier(max_depth=2)), X, TWO),
    "class weights": case(
        AdaBoostClassifier(tree("", max_depth=2, class_weight="balanced")), X, THREE, WHOLE
    ),
    "class weights drawn": case(
        AdaBoostClassifier(tree("", max_depth=2, class_weight={0: 2, 1: 1, 2: 0}), resample=True),
        *(X, THREE, WHOLE),
    ),
    "skipping": case(AdaBoostClassifier(resample=True, when_worse="skip", min_edge=0.1), X, TWO),
    "redrawing": case(AdaBoostClassifier(resample=True, when_worse="redraw"), X, TWO, WHOLE),
    "ridges for classes": case(AdaBoostClassifier(Ridge(), algorithm="logit"), FULL, TWO),
    "linear": case(AdaBoostRegressor(), X, NUMBERS, REAL),
    "square": case(AdaBoostRegressor(loss="square", resample=False), X, NUMBERS, WHOLE),
    "exponential": case(AdaBoostRegressor(Ridge(), loss="exponential"), FULL, NUMBERS, WHOLE),
    "near numbers": case(AdaBoostRegressor(KNeighborsRegressor()), FULL, NUMBERS),
    "held out": case(AdaBoostRegressor(n_iter_no_change=8), X, NUMBERS, WHOLE),
    "perfect": case(AdaBoostClassifier(), X, EASY),
    "lone": case(AdaBoostClassifier(min_edge=0.45, resample=True, when_worse="skip"), X, TWO),
}
for _name in ALL:
    CASES[_name] = case(AdaBoostClassifier(algorithm=_name), X, TWO, WHOLE)
    CASES[f"{_name}, real weights"] = case(
        AdaBoostClassifier(tree(_name, max_depth=3), algorithm=_name), X, TWO, REAL
    )
    CASES[f"{_name}, drawn"] = case(
        AdaBoostClassifier(algorithm=_name, resample=True), X, TWO, REAL
    )
    CASES[f"{_name}, watched"] = case(
        AdaBoostClassifier(algorithm=_name, n_iter_no_change=9), X[:200], TWO[:200], None, **HELD
    )


def told(model, table):
    """All that can be compared of a model."""
    out = {name: getattr(model, name) for name in KEPT if hasattr(model, name)}
    out["scores"] = getattr(model, "validation_scores_", np.empty(0))
    out["predictions"] = model.member_predictions(table)
    ask = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    out[ask] = getattr(model, ask)(table)
    return out


def assert_same(one, two, table):
    assert one.stop_reason_ == two.stop_reason_
    first, second = told(one, table), told(two, table)
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name], err_msg=name)


@pytest.mark.filterwarnings("ignore:No member of")
@pytest.mark.parametrize("name", CASES)
def test_a_break_changes_nothing(name):
    model, table, target, weights, fit = CASES[name]
    model = clone(model).set_params(random_state=1, keep_weights=True)
    whole = clone(model).set_params(n_estimators=24).fit(table, target, weights, **fit)
    parts = clone(model).set_params(warm_start=True)
    for n in (1, 7, 8, 24):
        parts.set_params(n_estimators=n).fit(table, target, weights, **fit)
        parts = pickle.loads(pickle.dumps(parts))
    assert_same(parts, whole, table)


@pytest.mark.parametrize("algorithm", ALL)
def test_the_weights_of_all_rounds_are_there(algorithm):
    settings = {"algorithm": algorithm, "keep_weights": True}
    whole = AdaBoostClassifier(n_estimators=12, **settings).fit(X, TWO, WHOLE)
    parts = AdaBoostClassifier(n_estimators=5, warm_start=True, algorithm=algorithm)
    parts.fit(X, TWO, WHOLE).set_params(n_estimators=12, keep_weights=True).fit(X, TWO, WHOLE)
    np.testing.assert_array_equal(parts.weights_, whole.weights_)


def test_old_members_keep_their_parameters():
    model = AdaBoostClassifier(tree("", max_depth=1), n_estimators=3, warm_start=True).fit(X, THREE)
    model.set_params(estimator__max_depth=3, n_estimators=5).fit(X, THREE)
    assert [member.max_depth for member in model.estimators_] == [1, 1, 1, 3, 3]
    assert [member.get_depth() for member in model.estimators_] == [1, 1, 1, 3, 3]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"algorithm": "real"}, "algorithm changed"),
        ({"estimator": GaussianNB()}, "estimator changed"),
        ({"estimator__criterion": "entropy"}, "estimator__criterion changed"),
        ({"n_estimators": 2}, "n_estimators=2 must be larger or equal"),
    ],
    ids=str,
)
def test_what_cannot_be_gone_on_from(change, said):
    model = AdaBoostClassifier(tree("", max_depth=1), n_estimators=3, warm_start=True)
    model.fit(FULL, THREE)
    before = model.predict_proba(FULL)
    with pytest.raises(ValueError, match=said):
        model.set_params(n_estimators=4).set_params(**change).fit(FULL, THREE)
    np.testing.assert_array_equal(model.predict_proba(FULL), before)


def test_other_data_are_refused():
    model = AdaBoostClassifier(n_estimators=3, warm_start=True).fit(X, THREE)
    with pytest.raises(ValueError, match="the set of classes changed"):
        model.set_params(n_estimators=4).fit(X, TWO)
    with pytest.raises(ValueError, match="the columns of X changed"):
        model.fit(X[:, :3], THREE)
    assert len(model) == 3


def test_nothing_to_go_on_with():
    model = AdaBoostRegressor(n_estimators=4, warm_start=True, random_state=0).fit(X, NUMBERS)
    before = told(model, X)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        model.fit(X, NUMBERS)
    assert model.stop_reason_ == "n_estimators"
    for name, value in told(model, X).items():
        np.testing.assert_array_equal(value, before[name])
    with pytest.raises(ValueError, match="loss changed"):
        model.set_params(loss="square", n_estimators=9).fit(X, NUMBERS)


# --- callbacks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_callbacks_hear_the_validation_score(kind):
    target = THREE if kind is AdaBoostClassifier else NUMBERS
    history = History()
    model = kind(n_estimators=9, random_state=0, callbacks=[history])
    model.fit(X[:200], target[:200], X_val=X[200:], y_val=target[200:])
    assert history.curve("validation_score") == model.validation_scores_.tolist()
    assert history.curve("round") == list(range(1, 10))
    stopped = clone(model).set_params(callbacks=lambda state: state.round == 4)
    stopped.fit(X[:200], target[:200])
    assert (stopped.stop_reason_, len(stopped)) == ("callback", 4)
    np.testing.assert_array_equal(stopped.alphas_, model.alphas_[:4])


def test_learning_rates_of_a_callback():
    constant = AdaBoostClassifier(n_estimators=6, learning_rate=0.5).fit(X, TWO)
    chosen = AdaBoostClassifier(n_estimators=6, callbacks=LearningRateSchedule([0.5])).fit(X, TWO)
    np.testing.assert_array_equal(chosen.alphas_, constant.alphas_)
    falling = AdaBoostClassifier(
        n_estimators=6, algorithm="gentle", callbacks=LearningRateSchedule(lambda t: 1 / t)
    ).fit(X, TWO)
    np.testing.assert_array_equal(falling.alphas_, 1 / np.arange(1, 7))


@pytest.mark.parametrize("name", ["real", "skipping", "bayes", "linear"])
def test_the_best_rounds_are_restored_and_gone_on_from(name):
    model, table, target, _, _ = CASES[name]
    train, held = slice(200), {"X_val": table[200:], "y_val": target[200:]}
    stop = EarlyStopping(patience=15)
    model = clone(model).set_params(n_estimators=80, random_state=3, callbacks=[stop])
    model.fit(table[train], target[train], **held)
    [stop] = model.callbacks
    assert len(model) == np.argmax(model.validation_scores_) + 1
    assert model.validation_scores_[-1] == stop.best_value
    assert model.score(held["X_val"], held["y_val"]) == pytest.approx(stop.best_value)
    more = clone(model).set_params(callbacks=None, n_estimators=80)
    whole = clone(more).fit(table[train], target[train])
    model.set_params(callbacks=None, n_estimators=80, warm_start=True)
    model.fit(table[train], target[train])
    np.testing.assert_array_equal(model.alphas_, whole.alphas_)


# --- Ctrl-C ---------------------------------------------------------------------------------------


class Tired(ClassifierMixin, BaseEstimator):
    """Raises at its fourth fit, wherever that is."""

    fits = 0

    def fit(self, X, y, sample_weight):
        Tired.fits += 1
        if Tired.fits == 4:
            raise KeyboardInterrupt
        self.stump_ = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight)
        self.classes_ = self.stump_.classes_
        return self

    def predict(self, X):
        return self.stump_.predict(X)


def test_keep_partial():
    Tired.fits = 0
    model = AdaBoostClassifier(Tired(), n_estimators=9, keep_partial=True, warm_start=True)
    held = {"X_val": FULL[200:], "y_val": TWO[200:]}
    with pytest.warns(UserWarning, match="has 3 of 9 members"):
        model.fit(FULL[:200], TWO[:200], **held)
    assert (model.stop_reason_, len(model)) == ("interrupted", 3)
    assert len(model.alphas_) == len(model.validation_scores_) == 3
    whole = AdaBoostClassifier(Tired(), n_estimators=9).fit(FULL[:200], TWO[:200], **held)
    assert_same(model.fit(FULL[:200], TWO[:200], **held), whole, FULL)
    Tired.fits = 0
    with pytest.raises(KeyboardInterrupt):
        clone(model).set_params(keep_partial=False).fit(FULL, TWO)


# --- members as all ensembles have them -----------------------------------------------------------


def test_member_weights_and_leaves():
    model = AdaBoostClassifier(tree("", max_depth=2), n_estimators=5).fit(X, THREE)
    assert model.member_weights_ is model.alphas_
    leaves = model.leaf_index(X)
    assert leaves.shape == (300, 5)
    for t, member in enumerate(model.estimators_):
        np.testing.assert_array_equal(leaves[:, t], member.apply(X))
    with pytest.raises(AttributeError, match="Leaves are for weald's own trees"):
        AdaBoostClassifier(GaussianNB()).fit(FULL, THREE).leaf_index(FULL)


def test_class_weights_move_trees_and_not_errors():
    """A class without weight is not in the trees, but its rows count as errors."""
    blind = tree("", max_depth=2, class_weight={"no": 0, "yes": 1})
    with pytest.warns(UserWarning, match="better than chance"):
        model = AdaBoostClassifier(blind, keep_weights=True, n_estimators=3).fit(X, TWO)
    assert (model.estimators_[0].predict(X) == "yes").all()
    assert model.errors_[0] == pytest.approx(np.mean(TWO == "no"))
    even = tree("", max_depth=2, class_weight={"no": 2, "yes": 2})
    plain, doubled = (
        AdaBoostClassifier(member, n_estimators=8).fit(X, TWO, REAL)
        for member in (tree("", max_depth=2), even)
    )
    np.testing.assert_allclose(doubled.errors_, plain.errors_, rtol=1e-9)
    assert not isinstance(doubled.estimators_, list)


class Alike(DecisionTreeClassifier):
    """The same tree, but the engine does not know that."""


class AlikeRegressor(DecisionTreeRegressor):
    pass


@pytest.mark.parametrize("weights", [None, REAL], ids=["plain", "weighted"])
@pytest.mark.parametrize("alpha", [0.003, 0.02])
def test_the_engine_prunes_as_trees_do_by_themselves(alpha, weights):
    settings = {"max_depth": 5, "ccp_alpha": alpha}
    for fast, slow in (
        (
            AdaBoostClassifier(DecisionTreeClassifier(**settings), n_estimators=6),
            AdaBoostClassifier(Alike(**settings), n_estimators=6),
        ),
        (
            AdaBoostRegressor(DecisionTreeRegressor(**settings), n_estimators=6, random_state=0),
            AdaBoostRegressor(AlikeRegressor(**settings), n_estimators=6, random_state=0),
        ),
    ):
        target = TWO if isinstance(fast, AdaBoostClassifier) else FULL[:, 0] + FULL[:, 1] ** 2
        fast.fit(FULL, target, weights)
        slow.fit(FULL, target, weights)
        assert isinstance(slow.estimators_, list)
        assert not isinstance(fast.estimators_, list)
        counts = [[one.tree_.node_count for one in model.estimators_] for model in (fast, slow)]
        assert counts[0] == counts[1]
        assert min(counts[0]) < 2**5, "nothing was cut"
        np.testing.assert_allclose(fast.errors_, slow.errors_, rtol=1e-9)
        np.testing.assert_array_equal(fast.predict(FULL), slow.predict(FULL))
