"""Forests as they are used: draws, out-of-bag, warm start, early stop, members, tables."""

import pickle
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, f1_score, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import get_routing_for_object

import weald
from weald import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier)
REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor)
ALL = CLASSIFIERS + REGRESSORS

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5))
NOISY = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=300)
LABELS = np.array(["low", "mid", "top"])[np.digitize(NOISY, [0.5, 1.5])]
NEW = rng.normal(size=(80, 5))


def target(kind):
    return LABELS if kind in CLASSIFIERS else NOISY


def answers(forest, rows=NEW):
    return forest.predict_proba(rows) if hasattr(forest, "classes_") else forest.predict(rows)


def same(a, b):
    return np.array_equal(answers(a), answers(b))


# --- the same bits ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_threads_and_steps_change_nothing(kind):
    one = kind(12, random_state=3, n_jobs=1).fit(X, target(kind))
    assert same(one, kind(12, random_state=3, n_jobs=3).fit(X, target(kind)))
    assert same(one, kind(12, random_state=3, keep_partial=True).fit(X, target(kind)))
    assert not same(one, kind(12, random_state=4).fit(X, target(kind)))


@pytest.mark.parametrize("kind", ALL)
def test_a_small_forest_is_the_beginning_of_a_large_one(kind):
    small = kind(5, random_state=0).fit(X, target(kind))
    large = kind(9, random_state=0).fit(X, target(kind))
    members = large.member_predictions(NEW)
    np.testing.assert_array_equal(small.member_predictions(NEW), members[:5])
    np.testing.assert_allclose(answers(large), members.mean(axis=0), rtol=1e-13)


@pytest.mark.parametrize("kind", ALL)
def test_warm_start_ends_where_one_fit_does(kind):
    settings = {"random_state": 1, "bootstrap": True, "oob_score": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rows without out-of-bag
        grown = kind(4, warm_start=True, **settings).fit(X, target(kind))
        first = grown.forest_
        grown.set_params(n_estimators=15).fit(X, target(kind))
    whole = kind(15, **settings).fit(X, target(kind))
    assert same(grown, whole)
    assert first.n_trees == 4
    assert grown.oob_score_ == whole.oob_score_
    np.testing.assert_array_equal(grown.oob_error_curve_, whole.oob_error_curve_)
    np.testing.assert_array_equal(grown.in_bag_, whole.in_bag_)


def test_warm_start_says_what_it_cannot_do():
    forest = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, LABELS)
    before = answers(forest)
    with pytest.warns(UserWarning, match="without increasing n_estimators"):
        forest.fit(X, LABELS)
    with pytest.raises(ValueError, match="must be larger or equal to len"):
        forest.set_params(n_estimators=3).fit(X, LABELS)
    for rows, labels in ((X[:, :3], LABELS), (X, LABELS == "low")):
        with pytest.raises(ValueError, match="columns, categories, classes"):
            forest.set_params(n_estimators=8).fit(rows, labels)
    old = RandomForestRegressor(2, warm_start=True).fit(X, NOISY)
    with pytest.raises(ValueError, match="keep_targets"):
        old.set_params(n_estimators=3, keep_targets=True).fit(X, NOISY)
    with pytest.raises(ValueError, match="criterion"):
        forest.set_params(criterion="entropy").fit(X, LABELS)
    np.testing.assert_array_equal(answers(forest), before)
    assert len(forest) == 5


def test_without_warm_start_a_fit_starts_anew():
    forest = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
    again = forest.fit(X[:, :3], LABELS == "low")
    assert (len(again), again.n_features_in_, again.n_classes_) == (5, 3, 2)


@pytest.mark.parametrize("kind", ALL)
def test_a_copy_by_pickle_predicts_the_same_bits(kind):
    weights = NOISY**2
    forest = kind(6, random_state=0, bootstrap=True).fit(X, target(kind), sample_weight=weights)
    weights[:] = 1.0  # the forest has its own
    again = pickle.loads(pickle.dumps(forest))
    assert same(forest, again)
    np.testing.assert_array_equal(forest.in_bag_, again.in_bag_)
    assert again.set_params(warm_start=True, n_estimators=7).fit(X, target(kind)).n_estimators_ == 7


def test_a_failed_fit_leaves_the_old_forest():
    forest = RandomForestRegressor(4, random_state=0, oob_score=False).fit(X, NOISY)
    before = forest.predict(NEW)
    with pytest.raises(ValueError, match="max_depth"):
        forest.set_params(max_depth=-1).fit(X[:, :2], NOISY)
    np.testing.assert_array_equal(forest.predict(NEW), before)


# --- draws --------------------------------------------------------------------------------------


def test_bootstrap_leaves_out_a_third():
    forest = RandomForestClassifier(200, random_state=0, max_depth=1).fit(X, LABELS)
    in_bag = forest.in_bag_
    assert in_bag.shape == (200, len(X))
    assert (in_bag.sum(axis=1) == len(X)).all()
    expected = (1 - 1 / len(X)) ** len(X)
    assert abs((in_bag == 0).mean() - expected) < 0.01
    rows = forest.estimators_samples_[7]
    np.testing.assert_array_equal(np.bincount(rows, minlength=len(X)), in_bag[7])


def test_a_tree_learned_from_the_rows_it_drew():
    one, new = X[:, :1], NEW[:, :1]  # between equal columns a forest chooses at random
    forest = RandomForestRegressor(3, random_state=0, max_features=None, max_bins=None)
    forest.fit(one, NOISY)
    for member, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        alone = weald.DecisionTreeRegressor().fit(one[rows], NOISY[rows])
        np.testing.assert_allclose(member.predict(new), alone.predict(new), rtol=1e-12)


def test_the_members_of_an_absolute_error_forest_know_their_importances():
    forest = RandomForestRegressor(3, criterion="absolute_error", random_state=0).fit(X, NOISY)
    each = np.array([member.feature_importances_ for member in forest.estimators_])
    np.testing.assert_allclose(each.mean(axis=0), forest.feature_importances_)
    again = pickle.loads(pickle.dumps(forest.estimators_[0]))
    np.testing.assert_array_equal(again.feature_importances_, each[0])


def test_ties_between_columns_favour_none_of_them():
    """Copies of one column tie everywhere: each must be taken about as often as the others."""
    copies = np.repeat(X[:, :1], 4, axis=1)
    for kind in (RandomForestRegressor, RandomForestClassifier, ExtraTreesClassifier):
        target = NOISY if kind is RandomForestRegressor else LABELS
        for max_features in (2, None):
            forest = kind(20, max_features=max_features, random_state=0).fit(copies, target)
            taken = np.concatenate([member.tree_.feature for member in forest.estimators_])
            shares = np.bincount(taken[taken >= 0], minlength=4) / (taken >= 0).sum()
            assert np.abs(shares - 0.25).max() < 0.03


@pytest.mark.parametrize(("max_samples", "size"), [(None, 300), (40, 40), (0.2, 60), (1.5, 450)])
def test_rows_per_tree(max_samples, size):
    forest = RandomForestClassifier(3, max_samples=max_samples, random_state=0).fit(X, LABELS)
    assert (forest.in_bag_.sum(axis=1) == size).all()


def test_few_rows_per_tree_are_remarked_on():
    with pytest.warns(UserWarning, match="is only 3"):
        RandomForestClassifier(2, max_samples=0.01).fit(X, LABELS)


def test_rows_are_drawn_by_weight():
    weights = np.where(np.arange(300) < 100, 3.0, np.where(np.arange(300) < 200, 1.0, 0.0))
    forest = RandomForestClassifier(300, random_state=0, max_depth=1)
    in_bag = forest.fit(X, LABELS, sample_weight=weights).in_bag_
    assert (in_bag.sum(axis=1) == 200).all()  # rows without weight count as absent
    assert in_bag[:, 200:].sum() == 0
    share = in_bag[:, :100].sum() / in_bag.sum()
    assert abs(share - 0.75) < 0.01
    half = RandomForestClassifier(2, max_samples=0.5).fit(X, LABELS, sample_weight=weights)
    assert (half.in_bag_.sum(axis=1) == 200).all()  # a share of the weight


def test_equal_weights_draw_like_none():
    plain = RandomForestClassifier(5, random_state=0).fit(X, LABELS)
    assert same(plain, RandomForestClassifier(5, random_state=0).fit(X, LABELS, np.full(300, 2.5)))


@pytest.mark.parametrize("kind", [ExtraTreesClassifier, ExtraTreesRegressor])
def test_without_drawing_weight_is_repetition(kind):
    times = rng.integers(0, 4, len(X))
    weighted = kind(5, random_state=0).fit(X, target(kind), sample_weight=times)
    rows = np.repeat(np.arange(len(X)), times)
    repeated = kind(5, random_state=0).fit(X[rows], target(kind)[rows])
    np.testing.assert_allclose(answers(weighted), answers(repeated), rtol=1e-12)
    assert (weighted.in_bag_ == (times > 0)).all()


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_groups_are_drawn_as_a_whole(kind):
    groups = np.array([f"household {i}" for i in rng.integers(0, 40, len(X))])
    forest = kind(30, oob_score=True, random_state=0).fit(X, target(kind), groups=groups)
    in_bag = forest.in_bag_
    for group in np.unique(groups):
        of_group = in_bag[:, groups == group]
        assert (of_group == of_group[:, :1]).all()
    # The out-of-bag score of a row comes from trees that saw none of its group.
    member = forest.member_predictions(X)
    out = (in_bag == 0).reshape(in_bag.shape + (1,) * (member.ndim - 2))
    with np.errstate(invalid="ignore"):
        expected = (member * out).sum(axis=0) / out.sum(axis=0)
    got = forest.oob_decision_function_ if kind in CLASSIFIERS else forest.oob_prediction_
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_groups_that_make_no_sense():
    forest = RandomForestClassifier(2)
    with pytest.raises(ValueError, match=r"groups must have shape \(300,\)"):
        forest.fit(X, LABELS, groups=[1, 2])
    with pytest.raises(ValueError, match="one group"):
        forest.fit(X, LABELS, groups=np.zeros(300))
    with pytest.raises(ValueError, match="groups contains missing"):
        forest.fit(X, LABELS, groups=[None] * 10 + ["a"] * 290)
    with pytest.raises(ValueError, match="need bootstrap=True"):
        ExtraTreesClassifier(2).fit(X, LABELS, groups=np.arange(300))
    with pytest.raises(ValueError, match="give up one"):
        RandomForestClassifier(2, bootstrap="balanced").fit(X, LABELS, groups=np.arange(300))


def test_groups_without_weight_are_absent():
    groups = np.repeat(np.arange(30), 10)
    weights = (groups % 3 > 0).astype(float)
    forest = RandomForestRegressor(20, random_state=0).fit(X, NOISY, weights, groups)
    assert forest.in_bag_[:, weights == 0].sum() == 0
    assert (forest.in_bag_.sum(axis=1) == 200).all()


def test_balanced_draws_for_rare_classes():
    many, y = make_classification(2000, weights=[0.95], flip_y=0.05, random_state=0)
    balanced = RandomForestClassifier(50, bootstrap="balanced", random_state=0).fit(many, y)
    rare = np.bincount(y).min()
    for counts in balanced.in_bag_:
        np.testing.assert_array_equal(np.bincount(y, weights=counts), [rare, rare])
    plain = RandomForestClassifier(50, random_state=0).fit(many, y)
    hits = [f.predict_proba(many)[:, 1].mean() for f in (plain, balanced)]
    assert hits[1] > hits[0] + 0.1
    half = RandomForestClassifier(2, bootstrap="balanced", max_samples=0.5).fit(many, y)
    assert (half.in_bag_.sum(axis=1) == 2 * (rare // 2)).all()


def test_class_weights_on_top_of_balanced_draws():
    settings = {"bootstrap": "balanced", "max_depth": 2, "random_state": 0}
    shares = [
        RandomForestClassifier(30, class_weight=given, **settings).fit(X, LABELS).predict_proba(NEW)
        for given in (None, "balanced_subsample", {"low": 1, "mid": 1, "top": 9})
    ]
    np.testing.assert_allclose(shares[0], shares[1], rtol=1e-12)
    assert (shares[2][:, 2] > shares[0][:, 2]).all()
    light = RandomForestClassifier(5, class_weight={"low": 0.0, "mid": 1, "top": 1}, **settings)
    assert light.fit(X, LABELS).in_bag_[:, LABELS == "low"].sum() == 0


def test_balanced_draws_say_what_they_cannot_do():
    with pytest.raises(ValueError, match="single output"):
        RandomForestClassifier(bootstrap="balanced").fit(X, np.c_[LABELS, LABELS])
    with pytest.raises(ValueError, match="bootstrap must be True or False"):
        RandomForestRegressor(bootstrap="even").fit(X, NOISY)


@pytest.mark.parametrize("word", ["balanced", "balanced_subsample", {"low": 9, "mid": 1, "top": 1}])
def test_class_weights_move_the_shares(word):
    uneven = np.r_[np.flatnonzero(LABELS == "low")[:15], np.flatnonzero(LABELS != "low")]
    settings = {"random_state": 0, "max_depth": 3}
    plain = RandomForestClassifier(30, **settings).fit(X[uneven], LABELS[uneven])
    weighted = RandomForestClassifier(30, class_weight=word, **settings)
    weighted.fit(X[uneven], LABELS[uneven])
    assert answers(weighted)[:, 0].mean() > answers(plain)[:, 0].mean() + 0.1


def test_class_weight_words():
    with pytest.raises(ValueError, match="'balanced', 'balanced_subsample'"):
        RandomForestClassifier(class_weight="equal").fit(X, LABELS)
    with pytest.raises(ValueError, match="max_samples=10 needs rows to be drawn"):
        ExtraTreesClassifier(max_samples=10).fit(X, LABELS)
    with pytest.raises(ValueError, match="max_samples must be"):
        RandomForestClassifier(max_samples=0.0).fit(X, LABELS)


# --- out-of-bag ---------------------------------------------------------------------------------


def test_out_of_bag_from_scratch():
    """The definition, tree by tree."""
    forest = RandomForestClassifier(25, oob_score=True, random_state=0).fit(X, LABELS)
    out = forest.in_bag_ == 0
    members = forest.member_predictions(X)
    codes = np.searchsorted(forest.classes_, LABELS)
    for t in (1, 4, 25):
        sums = (members * out[:, :, None])[:t].sum(axis=0)
        seen = out[:t].any(axis=0)
        right = (sums.argmax(axis=1) == codes)[seen].mean()
        assert forest.oob_score_curve_[t - 1] == pytest.approx(right, abs=0)
        assert forest.oob_error_curve_[t - 1] == pytest.approx(1 - right, abs=1e-15)
    mean = sums / out.sum(axis=0)[:, None]
    np.testing.assert_allclose(forest.oob_decision_function_, mean, rtol=1e-12)
    assert forest.oob_score_ == forest.oob_score_curve_[-1]


@pytest.mark.parametrize("outputs", [1, 2])
def test_out_of_bag_of_numbers(outputs):
    y = NOISY if outputs == 1 else np.c_[NOISY, X[:, 2]]
    forest = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, y)
    assert forest.oob_prediction_.shape == y.shape
    assert forest.oob_score_ == pytest.approx(r2_score(y, forest.oob_prediction_))
    assert forest.oob_error_curve_[-1] == pytest.approx(((y - forest.oob_prediction_) ** 2).mean())
    assert forest.oob_error_curve_[-1] < forest.oob_error_curve_[2]


def test_out_of_bag_of_several_labels():
    Y = np.c_[LABELS, np.where(X[:, 2] > 0, "yes", "no")]
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, Y)
    shares = forest.oob_decision_function_
    assert shares.shape == (300, 3, 2)
    assert (shares[:, 2, 1] == 0).all()  # the second output has two classes
    chosen = np.stack([forest.classes_[k].take(shares[:, :, k].argmax(1)) for k in (0, 1)], axis=1)
    assert forest.oob_score_ == (chosen == Y).all(axis=1).mean()


def test_a_scorer_gets_labels():
    def of_top(truth, says):
        assert set(says) <= set(truth) <= {"low", "mid", "top"}
        return f1_score(truth, says, average=None, labels=["top"])[0]

    forest = RandomForestClassifier(40, oob_score=of_top, random_state=0).fit(X, LABELS)
    says = forest.classes_.take(forest.oob_decision_function_.argmax(axis=1))
    assert forest.oob_score_ == of_top(LABELS, says)
    assert forest.oob_error_curve_[-1] == pytest.approx(1 - accuracy_score(LABELS, says))


def test_out_of_bag_tracks_the_test_error():
    many, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(100, oob_score=True, random_state=0)
    assert abs(forest.fit(many, y).oob_score_ - cross_val_score(forest, many, y).mean()) < 0.015


def test_rows_that_every_tree_drew():
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        forest = RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, LABELS)
    never = (forest.in_bag_ > 0).all(axis=0)
    np.testing.assert_array_equal(np.isnan(forest.oob_decision_function_).any(axis=1), never)
    assert np.isfinite(forest.oob_score_)


def test_rows_without_weight_do_not_count_in_the_score():
    weights = (np.arange(300) < 200).astype(float)
    wrong = np.where(weights > 0, LABELS, "low")
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, wrong, weights)
    says = forest.classes_.take(forest.oob_decision_function_.argmax(axis=1))
    assert forest.oob_score_ == (says == wrong)[:200].mean()


def test_out_of_bag_needs_drawn_rows():
    with pytest.raises(ValueError, match="only available if bootstrap=True"):
        ExtraTreesClassifier(oob_score=True).fit(X, LABELS)
    forest = RandomForestClassifier(20, oob_score=True, random_state=0).fit(X, LABELS)
    assert not hasattr(forest.set_params(oob_score=False).fit(X, LABELS), "oob_score_")


# --- when to stop -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_growth_stops_when_the_score_rests(kind):
    settings = {"random_state": 0, "oob_score": True, "max_samples": 0.5}
    stopped = kind(500, n_iter_no_change=10, tol=1e-3, **settings).fit(X, target(kind))
    n = stopped.n_estimators_
    assert 10 < n < 200
    whole = kind(500, **settings).fit(X, target(kind))
    np.testing.assert_array_equal(stopped.oob_score_curve_, whole.oob_score_curve_[:n])
    np.testing.assert_array_equal(
        stopped.member_predictions(NEW), whole.member_predictions(NEW)[:n]
    )
    best = np.maximum.accumulate(whole.oob_score_curve_)
    rested = best[10:] <= best[:-10] + 1e-3
    assert n == int(rested.argmax()) + 11
    again = clone(stopped).set_params(n_jobs=1, verbose=0).fit(X, target(kind))
    assert again.n_estimators_ == n
    more = stopped.set_params(warm_start=True).fit(X, target(kind))
    assert more.n_estimators_ == n  # it still rests


def test_no_stop_without_drawn_rows():
    with pytest.warns(UserWarning, match="n_iter_no_change=5"):
        assert len(ExtraTreesClassifier(8, n_iter_no_change=5).fit(X, LABELS)) == 8


def test_a_bar_is_shown_on_request(capsys):
    RandomForestClassifier(20, oob_score=True, verbose=1).fit(X, LABELS)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "20/20" in shown.err
    assert "out-of-bag score 0." in shown.err
    ExtraTreesRegressor(3, verbose=2).fit(X, NOISY)
    assert "3/3" in capsys.readouterr().err
    RandomForestClassifier(20, oob_score=True).fit(X, LABELS)
    assert capsys.readouterr() == ("", "")


STOPPED = """
    import signal, threading, warnings, os, time
    import numpy as np, weald
    X = np.random.default_rng(0).random((20_000, 20)); y = X[:, 0]
    settings = dict(random_state=0, n_jobs=1, max_depth=6)
    forest = weald.RandomForestRegressor(100_000, **settings, **{more})
    asked = []
    def stop():
        time.sleep(0.8)
        asked.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=stop, daemon=True).start()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            forest.fit(X, y)
    except KeyboardInterrupt:
        print("stopped", hasattr(forest, "forest_"), time.monotonic() - asked[0] < 1.0)
    else:
        small = weald.RandomForestRegressor(len(forest), **settings).fit(X, y)
        print("kept", (small.predict(X[:9]) == forest.predict(X[:9])).all())
        print(any("growth was stopped" in str(w.message) for w in said))
        print(len(getattr(forest, "oob_score_curve_", forest)) == len(forest))
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "stopped False True"),
        ({"keep_partial": True}, "kept True True True"),
        ({"keep_partial": True, "oob_score": True}, "kept True True True"),
    ],
    ids=str,
)
def test_ctrl_c(more, expected):
    code = textwrap.dedent(STOPPED).replace("{more}", repr(more))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == expected.split(), done.stderr


# --- members ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_members_are_trees(kind):
    forest = kind(6, random_state=0, max_depth=4).fit(X, target(kind))
    trees = forest.estimators_
    assert len(trees) == len(forest) == 6
    assert len(trees[1:3]) == 2
    assert trees[-1].get_depth() <= 4
    assert type(trees[0]) is type(forest.estimator_) is forest._member_kind
    assert trees[0].get_params()["max_depth"] == 4
    with pytest.raises(IndexError):
        trees[6]
    says = np.array([answers(tree) for tree in forest])
    np.testing.assert_array_equal(forest.member_predictions(NEW), says)
    np.testing.assert_array_equal(forest.apply(NEW), np.stack([t.apply(NEW) for t in trees], 1))
    np.testing.assert_array_equal(forest.leaf_index(NEW), forest.apply(NEW))
    assert forest.member_weights_.tolist() == [1.0] * 6
    indicator, begin = forest.decision_path(NEW)
    for t, tree in enumerate(trees):
        part = indicator[:, begin[t] : begin[t + 1]].toarray()
        np.testing.assert_array_equal(part, tree.decision_path(NEW).toarray())
    shares = np.array([tree.feature_importances_ for tree in trees])
    np.testing.assert_allclose(forest.feature_importances_, shares.mean(axis=0), atol=1e-6)
    error = shares.std(axis=0, ddof=1) / np.sqrt(6)
    np.testing.assert_allclose(forest.feature_importances_std_error_, error, atol=1e-6)


def test_members_know_names_and_labels():
    frame = pd.DataFrame(X, columns=list("abcde")).assign(eyes=np.where(X[:, 0] > 0, "b", "g"))
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(frame, LABELS)
    tree = forest[0]
    assert set(tree.predict(frame)) <= set(LABELS)
    assert "eyes" in tree.feature_names_in_
    assert str(tree.explain_path(frame)[0]).startswith("predicts ")
    assert "class: " in weald.export_text(tree)


def test_one_tree_on_all_rows_is_the_tree():
    settings = {"max_features": None, "max_bins": None, "random_state": 0}
    one, new = X[:, :1], NEW[:, :1]  # between equal columns a forest chooses at random
    forest = RandomForestClassifier(1, bootstrap=False, **settings).fit(one, LABELS)
    tree = weald.DecisionTreeClassifier(random_state=0).fit(one, LABELS)
    np.testing.assert_array_equal(forest.predict_proba(new), tree.predict_proba(new))


def test_what_cannot_be_asked_before_fit():
    forest = RandomForestRegressor()
    for name in ("estimators_", "in_bag_", "feature_importances_", "member_weights_"):
        assert not hasattr(forest, name)
    with pytest.raises(NotFittedError, match="not fitted"):
        forest.predict(X)


def test_stumps_of_nothing_have_no_importance():
    forest = RandomForestRegressor(3).fit(np.zeros((10, 2)), np.arange(10.0))
    assert forest.feature_importances_.tolist() == [0.0, 0.0]
    assert np.isnan(forest.feature_importances_std_error_).all()


# --- tables, outputs, parameters ----------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_categories_and_missing_values(kind):
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 0, "one", "two"))
    frame.loc[::7, "b"] = np.nan
    frame.loc[::11, "kind"] = None
    forest = kind(20, random_state=0).fit(frame, target(kind))
    assert forest.score(frame, target(kind)) > 0.8
    assert list(forest.categories_[-1]) == ["one", "two"]
    new = frame.head(3).assign(kind=["three", None, "one"])
    assert len(forest.predict(new)) == 3
    as_codes = frame.assign(kind=frame["kind"].cat.codes.replace(-1, np.nan))
    coded = kind(20, random_state=0, categorical_features=["kind"]).fit(as_codes, target(kind))
    np.testing.assert_array_equal(coded.predict(as_codes), forest.predict(frame))


def test_several_outputs():
    Y = np.c_[LABELS, np.where(X[:, 2] > 0, "yes", "no")]
    forest = RandomForestClassifier(20, random_state=0).fit(X, Y)
    assert forest.n_outputs_ == 2
    assert [shares.shape for shares in forest.predict_proba(NEW)] == [(80, 3), (80, 2)]
    assert [m.shape for m in forest.member_predictions(NEW)] == [(20, 80, 3), (20, 80, 2)]
    assert [(forest.predict(X)[:, k] == Y[:, k]).mean() > 0.95 for k in (0, 1)] == [True, True]
    numbers = ExtraTreesRegressor(10, random_state=0).fit(X, np.c_[NOISY, X[:, 2]])
    assert numbers.predict(NEW).shape == (80, 2)
    assert numbers.member_predictions(NEW).shape == (10, 80, 2)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss", "misclassification"])
def test_classification_criteria(criterion):
    forest = RandomForestClassifier(20, criterion=criterion, random_state=0).fit(X, LABELS)
    assert forest.score(X, LABELS) > 0.95


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_regression_criteria(criterion):
    y = np.exp(NOISY / 3)
    for kind in REGRESSORS:
        assert kind(20, criterion=criterion, random_state=0).fit(X, y).score(X, y) > 0.8
    with pytest.raises(ValueError, match="negative"):
        RandomForestRegressor(criterion="poisson").fit(X, NOISY)


def test_the_criterion_of_friedman():
    with pytest.raises(ValueError, match="same splits as 'squared_error'"):
        RandomForestRegressor(criterion="friedman_mse").fit(X, NOISY)


@pytest.mark.parametrize(
    ("settings", "smaller"),
    [
        ({"max_depth": 3}, True),
        ({"max_leaf_nodes": 8}, True),
        ({"min_samples_leaf": 0.05}, True),
        ({"min_samples_split": 40}, True),
        ({"min_weight_fraction_leaf": 0.1}, True),
        ({"min_impurity_decrease": 0.01}, True),
        ({"ccp_alpha": 0.02}, True),
        ({"max_bins": 4}, False),
        ({"max_bins": None}, False),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ALL)
def test_rules_of_growth(kind, settings, smaller):
    plain = kind(5, random_state=0).fit(X, target(kind))
    ruled = kind(5, random_state=0, **settings).fit(X, target(kind))
    if smaller:
        assert ruled.forest_.node_counts.sum() < plain.forest_.node_counts.sum() / 1.5
    assert ruled.score(X, target(kind)) > 0.3


def test_monotone_forests():
    forest = RandomForestRegressor(20, monotonic_cst=[1, 0, 0, 0, 0], random_state=0).fit(X, NOISY)
    line = np.repeat(NEW[:1], 50, axis=0)
    line[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(forest.predict(line)) >= -1e-12).all()
    with pytest.raises(ValueError, match="multiclass"):
        RandomForestClassifier(monotonic_cst=[1, 0, 0, 0, 0]).fit(X, LABELS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number >= 1"),
        ({"bootstrap": 1}, "bootstrap must be"),
        ({"oob_score": "yes"}, "oob_score must be True or False"),
        ({"warm_start": 2}, "warm_start must be"),
        ({"ccp_alpha": "cv"}, "ccp_alpha must be a number >= 0"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be"),
        ({"tol": -1.0}, "tol must be"),
        ({"keep_partial": None}, "keep_partial must be"),
        ({"verbose": -1}, "verbose must be"),
        ({"max_samples": "half"}, "max_samples must be"),
        ({"max_bins": 256}, "max_bins must be"),
        ({"max_features": 0.0}, "max_features must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": "one"}, "random_state must be"),
        ({"criterion": "mse"}, "criterion must be one of"),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesRegressor])
def test_parameters_that_make_no_sense(kind, settings, message):
    with pytest.raises(ValueError, match=message):
        kind(**{"n_estimators": 2, "bootstrap": True, **settings}).fit(X, target(kind))


def test_clone_pipeline_and_search():
    forest = RandomForestClassifier(5, bootstrap="balanced", n_iter_no_change=3, random_state=0)
    assert clone(forest).get_params() == forest.get_params()
    pipe = make_pipeline(StandardScaler(), RandomForestClassifier(10, random_state=0))
    assert cross_val_score(pipe, *load_iris(return_X_y=True)).mean() > 0.9
    search = GridSearchCV(RandomForestRegressor(5, random_state=0), {"max_depth": [1, 5]}, cv=2)
    assert search.fit(X, NOISY).best_params_ == {"max_depth": 5}


def test_weights_and_groups_are_metadata():
    request = get_routing_for_object(RandomForestClassifier())
    assert set(request.fit.requests) == {"sample_weight", "groups"}
    assert not request.predict.requests


def test_tiny_tables():
    assert RandomForestClassifier(3).fit([[1.0]], ["a"]).predict([[2.0]]).tolist() == ["a"]
    assert RandomForestRegressor(3).fit([[1.0], [2.0]], [1, 1]).predict([[5]]).tolist() == [1.0]
    with pytest.warns(UserWarning, match="OOB"):
        forest = RandomForestRegressor(1, oob_score=True, random_state=0).fit([[1.0]], [1.0])
    assert np.isnan(forest.oob_score_)


# --- intervals and importance are asked through the forest --------------------------------------


def test_intervals_through_the_forest():
    many, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(50, oob_score=True, keep_targets=True, random_state=0)
    forest.fit(many[:300], y[:300])
    for method in ("conformal", "quantile"):
        low, high = forest.predict_interval(many[300:], coverage=0.8, method=method).T
        inside = ((low <= y[300:]) & (y[300:] <= high)).mean()
        assert 0.65 < inside < 0.95
    middle = forest.predict_quantiles(many[300:], [0.1, 0.5, 0.9])
    assert (np.diff(middle, axis=1) >= 0).all()
    with pytest.raises(ValueError, match="method must be one of"):
        forest.predict_interval(many, method="guess")
    plain = RandomForestRegressor(5).fit(many, y)
    with pytest.raises(ValueError, match="keep_targets=True"):
        plain.predict_quantiles(many)
    with pytest.raises(ValueError, match="oob_score=True"):
        plain.predict_interval(many)


def test_importance_through_the_forest():
    forest = RandomForestRegressor(30, random_state=0).fit(X, NOISY)
    for kind in ("impurity", "unbiased", "permutation"):
        result = forest.importance(X, NOISY, kind=kind)
        assert set(np.argsort(-result.mean)[:2]) == {0, 1}
