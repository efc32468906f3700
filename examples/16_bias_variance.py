"""Bias and variance of a tree, of bagging, a forest and boosting.

The squared error on new rows is noise + squared bias + variance. Forty training sets are drawn,
each model is fitted to all of them, and the error is split into its parts.

A full tree has little bias and a large variance. Bagging keeps the bias and lowers the variance;
a forest lowers the variance more, at the price of some bias. A stump is the opposite: it varies
little, and is wrong in the same way every time. Boosting takes that bias away. Two roads lead to
the same goal: average models that vary, or add up models that are too simple.

Geman, Bienenstock and Doursat (1992), Neural networks and the bias/variance dilemma, Neural
Computation 4; Breiman (1996), Bagging predictors.
"""

import numpy as np
from figures import BLUE, GREY, ORANGE, Example, panels, save

from weald import (
    BaggingRegressor,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from weald.theory import bias_variance

MODELS = {
    "full tree": DecisionTreeRegressor(),
    "bagged trees": BaggingRegressor(n_estimators=50),
    "forest": RandomForestRegressor(50, max_features=2),
    "stump": DecisionTreeRegressor(max_depth=1),
    "boosted stumps": GradientBoostingRegressor(
        n_estimators=150, learning_rate=0.1, max_leaf_nodes=2, max_features=None
    ),
}
PARTS = {"noise": (GREY, ""), "bias": (ORANGE, "///"), "variance": (BLUE, "")}


def truth(X):
    """A smooth function of five columns."""
    return 4 * np.sin(np.pi * X[:, 0]) + 8 * (X[:, 1] - 0.5) ** 2 + 4 * X[:, 2] + 2 * X[:, 3]


def draw_rows(rng, n):
    """Rows with noise of variance 1."""
    X = rng.random((n, 6))
    return X, truth(X) + rng.normal(0, 1, n)


def main():
    """Draw the parts of the error of five models."""
    found = bias_variance(
        MODELS, generator=draw_rows, truth=truth, n_repeats=40, n_train=200, random_state=0
    )
    numbers = {label: found.of(label) for label in MODELS}
    figure, ax = panels()
    places = np.arange(len(MODELS))
    bottom = np.zeros(len(MODELS))
    for part, (color, hatch) in PARTS.items():
        value = np.array([numbers[label][part] for label in MODELS])
        label = "squared bias" if part == "bias" else part
        ax.bar(places, value, 0.6, bottom, color=color, hatch=hatch, edgecolor="white", label=label)
        bottom += value
    for place, total in zip(places, bottom, strict=True):
        ax.text(place, total + 0.03, f"{total:.2f}", ha="center")
    ax.set_xticks(places, MODELS)
    ax.set_ylabel("mean squared error")
    ax.set_ylim(0, 1.25 * bottom.max())
    ax.set_title("Error on new rows, over 40 training sets of 200 rows")
    ax.legend(ncols=3, loc="upper center")
    point = "squared bias and variance: " + ", ".join(
        f"{label} {each['bias']:.2f} and {each['variance']:.2f}" for label, each in numbers.items()
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
