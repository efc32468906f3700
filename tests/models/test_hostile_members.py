"""Files made to do harm by what the loops of other libraries would take on trust."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import weald

from .cases import numbers
from .mutations import put_together
from .test_hostile import path, refused, saved, state

__all__ = ["path"]  # a fixture


def replaced(arrays, number, new):
    return [*arrays[:number], np.ascontiguousarray(new), *arrays[number + 1 :]]


@pytest.mark.parametrize("name", ["left_child", "right_child", "feature"])
@pytest.mark.parametrize("to", [0, -2, 2**40, 3])
def test_trees_of_scikit_learn(path, name, to):
    X, _, codes = numbers()
    document, arrays = saved(DecisionTreeClassifier(max_depth=3).fit(X, codes), path)
    nodes = document["objects"][0]["state"]["nodes"]["dict"]
    number = nodes[name]["array"]
    old = arrays[number]
    new = np.where(np.arange(len(old)) == 0, to, old)
    if name == "feature" and to == 0:
        new[0] = 3  # there are columns 0, 1 and 2
    refused(path, put_together(document, replaced(arrays, number, new)))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("support_vectors_", lambda a: a[:, :1]),
        ("support_vectors_", lambda a: a[:-1]),
        ("support_vectors_", lambda a: a * np.nan),
        ("support_", lambda a: a[:-1]),
        ("support_", lambda a: a + 10**6),
        ("support_", lambda a: a - 10**6),
        ("_n_support", lambda a: a + 1),
        ("_n_support", lambda a: np.array([-5, 5, a.sum()], dtype=a.dtype)),
        ("_dual_coef_", lambda a: a[:1]),
        ("_intercept_", lambda a: a[:1]),
        ("classes_", lambda a: a[:2]),
        ("_probA", lambda a: np.ones(7)),
    ],
)
def test_support_vector_machines(path, name, change):
    X, _, codes = numbers()
    document, arrays = saved(SVC().fit(X, codes), path)
    number = document["objects"][-1]["state"][name]["array"]
    refused(path, put_together(document, replaced(arrays, number, change(arrays[number]))))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("_fit_X", lambda a: a[:-1]),
        ("_fit_X", lambda a: a[:, :2]),
        ("_fit_X", lambda a: a * np.nan),
        ("_y", lambda a: a + 10**6),
        ("_y", lambda a: a - 1),
        ("_y", lambda a: a[:-1]),
    ],
)
def test_neighbours(path, name, change):
    X, _, codes = numbers()
    document, arrays = saved(KNeighborsClassifier().fit(X, codes), path)
    number = document["objects"][-1]["state"][name]["array"]
    refused(path, put_together(document, replaced(arrays, number, change(arrays[number]))))


@pytest.mark.parametrize("degree", [-1, 4, 2**40])
def test_powers_that_take_much_memory(path, degree):
    document, arrays = saved(PolynomialFeatures(3).fit(numbers()[0]), path)
    document["objects"][-1]["state"]["_max_degree"] = degree
    refused(path, put_together(document, arrays))


def test_a_member_that_does_not_work(path):
    X, _, codes = numbers()
    document, arrays = saved(LogisticRegression().fit(X, codes), path)
    document["objects"][-1]["state"]["coef_"] = "none"
    refused(path, put_together(document, arrays))


@pytest.mark.parametrize("to", [0, 0.5, None, "none", [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("kind", [LinearRegression, LogisticRegression])
def test_coefficients_without_a_trial(path, kind, to):
    """Coefficients are checked whether or not a file brings a row to try."""
    X, real, codes = numbers()
    model = weald.BaggingRegressor if kind is LinearRegression else weald.BaggingClassifier
    target = real if kind is LinearRegression else codes
    document, arrays = saved(model(kind(), 2, random_state=0).fit(X, target), path)
    document["row"] = None
    path.write_bytes(put_together(document, arrays))
    weald.load(path).predict(X)
    state(document, f"sklearn.{kind.__name__}")["coef_"] = to
    refused(path, put_together(document, arrays))


def test_no_word_about_the_trial(path):
    X, real, _ = numbers()
    document, arrays = saved(LinearRegression().fit(X, real), path)
    del document["row"]
    refused(path, put_together(document, arrays))
