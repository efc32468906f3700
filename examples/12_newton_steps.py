"""First order and second order.

A leaf has to choose the number it adds to the score of its rows. Left, a leaf with 18 rows of one
class and 2 of the other: the curve is its true log loss. First order knows the slope only, and
cannot say how far to go: its step is the mean gradient, which is far too short here. Second order
knows the curvature too: it replaces the curve by a parabola and goes to its lowest point, -G / (H
+ l2).

Right, whole models: where the classes become clear, p (1 - p) is small and gradient steps become
ever shorter. Newton's do not, and the loss falls much faster, on new rows as well. First order is
not wrong, but slow: it needs several times as many rounds.

Friedman, Hastie and Tibshirani (2000), Additive logistic regression, Annals of Statistics 28;
Chen and Guestrin (2016), XGBoost.
"""

import numpy as np
from figures import BLACK, BLUE, VERMILION, Example, name, panels, save
from sklearn.datasets import make_hastie_10_2

from weald import GradientBoostingClassifier
from weald.losses import get_loss

ORDERS = {"first order": (1, "gradient", VERMILION), "second order": (2, "newton", BLUE)}
ROUNDS = 300


def draw_leaf(ax):
    """One leaf: its loss, and where the two steps lead."""
    loss, y = get_loss("log_loss"), np.repeat([1.0, 0.0], [18, 2])
    slope = loss.gradient(y, np.zeros(20)).mean()
    curvature = loss.hessian(y, np.zeros(20)).mean()
    values = np.linspace(-0.5, 4, 200)

    def mean(value):
        return loss.mean(y, np.full(20, float(value)))

    ax.plot(values, [mean(value) for value in values], color=BLACK, label="log loss of the leaf")
    parabola = mean(0) + slope * values + curvature * values**2 / 2
    ax.plot(values, parabola, "--", color=BLUE, linewidth=1, label="parabola at 0")
    ax.plot(
        values, mean(0) + slope * values, "--", color=VERMILION, linewidth=1, label="slope at 0"
    )
    steps = {
        "gradient step": (-slope, VERMILION, "s"),
        "Newton step": (-slope / curvature, BLUE, "o"),
    }
    for label, (step, color, marker) in steps.items():
        ax.plot(step, mean(step), marker, color=color, label=label)
    ax.set_ylim(0.2, 1.5)
    ax.legend(loc="upper center")
    name(ax, "A leaf of 18 + 2 rows", "number that the leaf adds", "mean log loss")
    return {label: mean(step) for label, (step, _, _) in steps.items()} | {"start": mean(0)}


def main():
    """Draw the step of one leaf, and losses of whole models of both orders."""
    figure, (leaf, models) = panels(2)
    numbers = {"leaf": draw_leaf(leaf)}
    X, y = make_hastie_10_2(6000, random_state=0)
    X, X_new, y, y_new = X[:1000], X[1000:], y[:1000], y[1000:]
    loss = get_loss("log_loss")
    for label, (order, step, color) in ORDERS.items():
        model = GradientBoostingClassifier(
            order=order, step=step, learning_rate=0.1, n_estimators=ROUNDS, max_leaf_nodes=4,
            max_features=None, l2_regularization=0.0, min_gain=0.0,
        ).fit(X, y)  # fmt: skip
        test = [
            loss.mean((y_new > 0) * 1.0, F.ravel()) for F in model.staged_decision_function(X_new)
        ]
        rounds = np.arange(1, ROUNDS + 1)
        models.plot(rounds, model.train_score_, color=color, label=f"{label}, training rows")
        models.plot(rounds, test, ":", color=color, label=f"{label}, new rows")
        numbers[label] = {"train": model.train_score_, "test": np.array(test)}
    models.legend(loc="upper right")
    models.set_ylim(0, 1)
    name(models, "Boosting with learning rate 0.1", "rounds", "mean log loss")
    first, second = numbers["first order"]["train"], numbers["second order"]["train"]
    numbers["rounds"] = int(np.argmax(second <= first[-1])) + 1
    point = (
        f"the leaf's loss is {numbers['leaf']['start']:.2f}, after the gradient step "
        f"{numbers['leaf']['gradient step']:.2f}, after Newton's "
        f"{numbers['leaf']['Newton step']:.2f}; "
        f"second order is after {numbers['rounds']} rounds where first order is after {ROUNDS}"
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
