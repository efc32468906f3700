"""The value of the boosting game, against a linear program over all stumps."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from theory.stump_twin import all_stumps, game_value
from weald import AdaBoostClassifier, DecisionTreeClassifier
from weald.theory import weak_learnability


def problem(seed):
    """A small table with labels that are random, separable, or contradictory."""
    random = np.random.default_rng(seed)
    n, d = random.integers(2, 30), random.integers(1, 5)
    X = random.normal(size=(n, d)).round(6 if seed % 2 else 0)
    y = random.choice([-1, 1], n) if seed % 3 else np.where(X.sum(axis=1) > 0, 1, -1)
    y[:2] = [-1, 1]
    return X, y


@pytest.mark.parametrize("seed", range(120))
def test_the_value_is_that_of_all_stumps(seed):
    X, y = problem(seed)
    found = weak_learnability(X, y, tolerance=1e-8, max_rounds=500)
    value = game_value(all_stumps(X) * y) / 2
    assert found.lower[-1] == pytest.approx(value, abs=1e-7)
    assert found.upper[-1] == pytest.approx(value, abs=1e-7)
    assert (found.lower <= value + 1e-9).all()  # in all rounds
    assert (found.upper >= value - 1e-9).all()
    assert found.separable is (value > 1e-9)
    # What attains the bounds does attain them.
    assert found.weights.sum() == pytest.approx(1)
    assert (all_stumps(X) @ (found.weights * y)).max() / 2 == pytest.approx(found.upper[-1])
    assert found.margins.min() / 2 == pytest.approx(found.lower[-1], abs=1e-9)


def test_bounds_hold_when_rounds_and_rows_are_few():
    X, y = make_classification(300, 5, flip_y=0.2, random_state=0)
    value = game_value(all_stumps(X) * (2 * y - 1)) / 2
    for options in ({"max_rounds": 1}, {"max_rounds": 5}, {"max_rows": 210}):
        found = weak_learnability(X, y, tolerance=1e-6, **options)
        assert found.lower[-1] - 1e-9 <= value <= found.upper[-1] + 1e-9
        assert found.gap > 1e-6
    assert "between" in found.summary()


def test_adaboost_has_this_edge_in_every_round():
    X, y = problem(3)
    found = weak_learnability(X, y, tolerance=1e-8, max_rounds=500)
    tree = DecisionTreeClassifier(criterion="misclassification", max_depth=1)
    model = AdaBoostClassifier(tree, n_estimators=50).fit(X, y)
    assert (model.edges_ >= found.lower[-1] - 1e-9).all()
    rounds = int(np.ceil(np.log(len(y)) / (2 * found.lower[-1] ** 2)))
    assert AdaBoostClassifier(tree, n_estimators=rounds).fit(X, y).score(X, y) == 1


def test_contradictory_rows_leave_no_edge():
    found = weak_learnability([[0.0], [0.0], [1.0]], ["a", "b", "b"])
    assert found.separable is False
    assert found.upper[-1] == 0
    assert "none is better than chance" in found.summary()
    assert found.weights.round(6).tolist() == [0.5, 0.5, 0]


def test_exclusive_or_needs_deeper_trees():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    assert weak_learnability(X, y).separable is False
    deep = weak_learnability(X, y, learner=DecisionTreeClassifier(max_depth=2), random_state=0)
    assert deep.separable
    assert deep.lower[-1] == pytest.approx(0.5)


def test_a_learner_is_played_against():
    X, y = make_classification(200, 4, random_state=0)
    learner = DecisionTreeClassifier(criterion="misclassification", max_depth=1)
    played = weak_learnability(X, y, learner=learner, max_rounds=100, random_state=0)
    solved = weak_learnability(X, y, tolerance=1e-4, max_rounds=300)
    assert played.lower[-1] <= solved.upper[-1] + 1e-9
    assert played.upper[-1] >= solved.lower[-1] - 1e-9
    assert played.margins.min() / 2 == pytest.approx(played.lower[-1])
    assert "about this learner's fits" in played.summary()


def test_categories_and_gaps():
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", "y", "x", "z"], "b": [1.0, np.nan, 2.0, 3.0]})
    assert weak_learnability(frame, [0, 1, 0, 1]).lower[-1] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        ([[1.0], [2.0]], [1, 1], {}, "two classes, got 1"),
        ([[1.0]], [1], {}, "two classes, got 1"),
        ([[1.0], [2.0], [3.0]], [1, 2, 3], {}, "two classes, got 3"),
        ([[1.0], [2.0]], [1, np.nan], {}, "missing values"),
        ([[1.0], [2.0]], [1, 2, 3], {}, "y has 3 rows but X has 2"),
        ([[1.0], [2.0]], [0, 1], {"learner": "trees"}, 'learner must be "stumps"'),
        ([[1.0], [2.0]], [0, 1], {"tolerance": 0}, "tolerance must be"),
        ([[1.0], [2.0]], [0, 1], {"max_rounds": 0}, "max_rounds must be"),
        ([[1.0], [2.0]], [0, 1], {"max_rows": 0}, "max_rows must be"),
        ([[1.0], [2.0]], [0, 1], {"learner": KNeighborsClassifier()}, "takes no sample_weight"),
        ([[1.0], [2.0]], [0, 1], {"learner": 3}, "estimator object with fit"),
    ],
)
def test_bad_input_gets_one_sentence(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        weak_learnability(X, y, **options)


def test_what_it_says():
    X, y = problem(3)
    found = weak_learnability(X, y, tolerance=1e-8, max_rounds=500)
    assert "classifies every row right" in found.summary()
    assert found.to_frame().shape == (len(found.lower), 3)
    assert "edge" in found.plot().get_ylabel()
    noise = np.random.default_rng(0).integers(0, 2, 60)
    tiny = weak_learnability(np.arange(60.0)[:, None], noise, tolerance=1e-4, max_rounds=200)
    assert 0 < tiny.upper[-1] < 0.05


def test_a_part_of_the_rows_is_enough_to_begin_with(monkeypatch):
    """Bounds from a part are bounds: they hold the value that all rows give."""
    random = np.random.default_rng(0)
    X = random.integers(0, 12, (300, 3))
    y = X[:, 0] + X[:, 1] > 11
    whole = weak_learnability(X, y, tolerance=1e-4)
    monkeypatch.setattr("weald.theory.boosting_game._PART", 60)
    part = weak_learnability(X, y, tolerance=1e-4, max_rounds=80)
    assert part.gap <= 1e-4
    assert part.lower[-1] <= whole.upper[-1] + 1e-9
    assert whole.lower[-1] <= part.upper[-1] + 1e-9
    assert part.upper[0] >= whole.lower[-1]
    no_program = weak_learnability(X, y, max_rounds=1, max_rows=1)
    assert np.count_nonzero(no_program.weights) <= 260  # weights of the part, or of the program


def test_more_rounds_on_a_part_find_harder_weights(monkeypatch):
    """Labels of chance: no stump has an edge, and the weights that show it are found sooner."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(4000, 8)), random.random(4000) < 0.5
    ask = {"max_rounds": 1, "max_rows": 1}
    whole = weak_learnability(X, y, **ask)
    monkeypatch.setattr("weald.theory.boosting_game._PART", 2000)
    assert weak_learnability(X, y, **ask).upper[-1] < whole.upper[-1]
