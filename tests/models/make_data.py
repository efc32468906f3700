"""Write the model files in ``data``, and what their models say: ``python make_data.py``.

They are of the first version of the format, and every later version of weald must read them. A new
version of the format gets files of its own; these stay.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

import weald

DATA = Path(__file__).parent / "data"
VERSION = 1


def rows():
    """Eight rows with a number, a category and a missing value."""
    return [[k / 4 - 1, "abc"[k % 3], None if k == 5 else k * k / 10] for k in range(8)]


def table():
    rng = np.random.default_rng(0)
    X = np.empty((60, 3), dtype=object)
    X[:, 0], X[:, 2] = rng.normal(size=60), rng.normal(size=60) ** 2
    X[:, 1] = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
    X[::9, 2] = None
    return X, X[:, 0].astype(float) * 2 + (X[:, 1] == "a") + rng.normal(size=60) / 5


def models():
    """Names to fitted models."""
    X, real = table()
    numbers = X[:, :1].astype(float)
    labels = np.array(["no", "perhaps", "yes"])[np.digitize(real, [-1, 1])]
    c = {"categorical_features": [1], "random_state": 0}
    members = [
        ("tree", weald.DecisionTreeClassifier(max_depth=2)),
        ("line", LogisticRegression()),
    ]
    return {
        "tree": weald.DecisionTreeClassifier(max_depth=3, **c).fit(X, labels),
        "forest": weald.RandomForestRegressor(3, max_depth=3, **c).fit(X, real),
        "boosting": weald.GradientBoostingClassifier(n_estimators=2, max_leaf_nodes=4, **c).fit(
            X, labels
        ),
        "bag of ridges": weald.BaggingRegressor(Ridge(), 3, random_state=0).fit(numbers, real),
        "adaboost": weald.AdaBoostClassifier(n_estimators=3, random_state=0).fit(numbers, labels),
        "stack": weald.StackingClassifier(members, cv=2).fit(numbers, labels),
        "kernel": weald.KernelRegressor(0.3).fit(numbers[:20], real[:20]),
    }


def said(name, model):
    """What a model says about the rows, as JSON can hold it: numbers bit by bit."""
    X = np.array(rows(), dtype=object)
    if model.n_features_in_ == 1:
        X = X[:, :1].astype(float)
    method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    values = getattr(model, method)(X)
    return {
        "predict": model.predict(X).tolist(),
        method: [value.hex() for value in values.ravel().tolist()],
    }


def main():
    answers = {}
    for name, model in models().items():
        file = DATA / f"{name.replace(' ', '-')}-{VERSION}.weald"
        model.save(file, info={"made by": "make_data.py"})
        answers[file.name] = said(name, weald.load(file))
        print(file.name, file.stat().st_size)
    text = json.dumps(answers, indent=1)
    (DATA / f"answers-{VERSION}.json").write_text(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
