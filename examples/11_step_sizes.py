"""A full step against small ones.

The line search of gradient boosting takes the step that lowers the training loss most. That is
greedy: the training loss falls fast, but the error on new rows soon rises again. Steps shrunk to
a tenth need more rounds, and end lower: many trees share the work, none can overfit by itself,
and their sum is smoother. Still smaller steps gain little more, and cost many rounds.

Friedman (2001), Greedy function approximation, Annals of Statistics 29, section 5.
"""

import numpy as np
from figures import BLUE, GREEN, VERMILION, Example, log_rounds, name, panels, save
from sklearn.datasets import make_friedman1

from weald import GradientBoostingRegressor

STEPS = {
    "full step": ("line_search", 1.0, VERMILION, "--"),
    "shrunk to 0.1": ("line_search", 0.1, BLUE, "-"),
    "shrunk to 0.02": ("line_search", 0.02, GREEN, "-."),
}
ROUNDS = 1000


def main():
    """Draw training and test error over the rounds for three lengths of the step."""
    X, y = make_friedman1(2300, noise=2.0, random_state=0)
    X, X_new, y, y_new = X[:300], X[300:], y[:300], y[300:]
    figure, axes = panels(2, height=3.6, sharex=True)
    rounds, numbers = np.arange(1, ROUNDS + 1), {}
    for label, (step, rate, color, line) in STEPS.items():
        model = GradientBoostingRegressor(
            loss="squared_error", step=step, learning_rate=rate, n_estimators=ROUNDS,
            max_leaf_nodes=4, max_features=None, l2_regularization=0.0, min_gain=0.0,
        ).fit(X, y)  # fmt: skip
        curves = {}
        for ax, part, rows, target in zip(
            axes, ("train", "test"), (X, X_new), (y, y_new), strict=True
        ):
            error = [np.mean((said - target) ** 2) for said in model.staged_predict(rows)]
            ax.plot(rounds[: len(error)], error, line, color=color, label=label)
            curves[part] = np.array(error)
        best = curves["test"].argmin()
        axes[1].plot(rounds[best], curves["test"][best], "o", color=color)
        numbers[label] = curves
    log_rounds(axes[0])
    axes[0].set_ylim(0)
    axes[1].axhline(4.0, color="black", linewidth=0.8, linestyle=":", label="noise")
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    axes[1].set_ylim(0)
    name(axes[0], "300 training rows", "rounds", "mean squared error")
    name(axes[1], "New rows (dots: best round)", "rounds", "mean squared error")
    point = "least error on new rows: " + ", ".join(
        f"{label} {curves['test'].min():.2f} after {curves['test'].argmin() + 1} rounds"
        for label, curves in numbers.items()
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
