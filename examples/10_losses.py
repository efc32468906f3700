"""Losses: what an error costs, and how hard a row pulls.

Top: the loss of one row. Bottom: its slope, which is the pull of the row on the model, since
boosting fits the negative gradient.

Left, two classes: losses over the margin y F, which is negative where the sign is wrong, all
scaled to 1 at margin 0. They are smooth and bound the 0/1 error from above, so that lowering them
lowers it. They differ in how a badly wrong row counts: the exponential loss (AdaBoost) lets it
pull without limit, which is why AdaBoost suffers from mislabelled rows; logistic and hinge pull
with limited force.

Right, numbers: squared error pulls in proportion to the residual, absolute error and Huber's
limit the pull of outliers, and the quantile loss pulls up and down with different force.

Hastie, Tibshirani and Friedman (2009), The elements of statistical learning, figures 10.4 and
10.5.
"""

import numpy as np
from figures import BLACK, BLUE, GREEN, PURPLE, VERMILION, Example, panels, save

from weald.losses import get_loss

OF_MARGINS = {
    "exponential": (get_loss("exponential"), VERMILION, "-"),
    "logistic": (get_loss("log_loss"), BLUE, "-"),
    "smooth hinge": (get_loss("smooth_hinge"), GREEN, "--"),
}
OF_RESIDUALS = {
    "squared": (get_loss("squared_error"), VERMILION, "-"),
    "absolute": (get_loss("absolute_error"), BLUE, "-"),
    "Huber": (get_loss("huber", delta=1.0), GREEN, "--"),
    "quantile 0.9": (get_loss("quantile", quantile=0.9), PURPLE, "-."),
}


def main():
    """Draw losses and their negative gradients over margins and residuals."""
    figure, axes = panels(2, 2, height=5.2, sharex="col")
    margin, residual = np.linspace(-3, 3, 301), np.linspace(-4, 4, 400)
    cases = {
        "margin": (margin, np.ones(301), margin, OF_MARGINS),
        "residual": (residual, residual, np.zeros(400), OF_RESIDUALS),
    }
    numbers = {}
    for (top, bottom), (what, (x, y, F, losses)) in zip(axes.T, cases.items(), strict=True):
        for label, (loss, color, line) in losses.items():
            scale = 1 / loss.value(y[:1], np.zeros(1))[0] if what == "margin" else 1.0
            value, pull = scale * loss.value(y, F), -scale * loss.gradient(y, F)
            top.plot(x, value, line, color=color, label=label)
            bottom.plot(x, pull, line, color=color)
            numbers[label] = {"value": value, "pull": pull}
        top.set_ylabel("loss")
        bottom.set_ylabel("pull: negative gradient")
        top.set_title("Two classes: loss" if what == "margin" else "Numbers: loss")
        bottom.set_title("Pull of a row")
        bottom.set_xlabel("margin y F" if what == "margin" else "residual y - F")
    error = (margin <= 0).astype(float)
    axes[0, 0].plot(margin, error, color=BLACK, linewidth=1, label="0/1 error")
    axes[0, 0].set_ylim(0, 6)
    axes[1, 0].set_ylim(0, 6)
    for ax in axes[0]:
        ax.legend(loc="upper right" if ax is axes[0, 0] else "upper center")
    numbers["0/1"] = error
    wrong = {label: numbers[label]["pull"][0] for label in OF_MARGINS}
    point = "pull of a row at margin -3: " + ", ".join(f"{k} {v:.2f}" for k, v in wrong.items())
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
