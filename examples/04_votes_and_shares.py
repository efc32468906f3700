"""Counted votes against averaged class shares.

Bagged trees can each cast one vote, or say how the classes share their leaf. A vote forgets how
sure the tree was. Averaged shares remember it: with few members the bag of shares makes somewhat
fewer errors, with many the two are alike.

The larger difference is on the right. If each of 50 trees thinks that the first class has 80 %,
all 50 vote for it, and the share of votes is 100 %. Votes are not probabilities: their squared
error (Brier score) stays high with any number of trees.

After the simulation of Hastie, Tibshirani and Friedman (2009), The elements of statistical
learning, figure 8.10: 30 rows, five columns of correlation 0.95, P(second class) is 0.2 or 0.8 by
the sign of the first column. The smallest possible error is 0.2.
"""

import numpy as np
from figures import BLACK, BLUE, VERMILION, Example, log_rounds, name, panels, save

from weald import BaggingClassifier, DecisionTreeClassifier

MEMBERS = 50


def draw_rows(random, n):
    """Five columns that are much alike; the first decides."""
    X = np.sqrt(0.05) * random.normal(size=(n, 5)) + np.sqrt(0.95) * random.normal(size=(n, 1))
    return X, random.random(n) < np.where(X[:, 0] > 0, 0.8, 0.2)


def main():
    """Draw error and Brier score of votes and of shares over the number of members."""
    random = np.random.default_rng(0)
    X_new, y_new = draw_rows(random, 2000)
    numbers_of = np.arange(1, MEMBERS + 1)[:, None]
    error, brier = {}, {}
    for seed in range(60):
        X, y = draw_rows(random, 30)
        bag = BaggingClassifier(
            DecisionTreeClassifier(min_samples_leaf=5), MEMBERS, random_state=seed
        ).fit(X, y)
        shares = bag.member_predictions(X_new)[:, :, 1]
        for way, said in (("votes", shares > 0.5), ("shares", shares)):
            mean = said.cumsum(axis=0) / numbers_of
            error.setdefault(way, []).append(((mean > 0.5) != y_new).mean(axis=1))
            brier.setdefault(way, []).append(((mean - y_new) ** 2).mean(axis=1))
    figure, axes = panels(2)
    numbers = {}
    for ax, (what, curves) in zip(axes, {"error": error, "brier": brier}.items(), strict=True):
        for way, color, line in (("votes", VERMILION, "--"), ("shares", BLUE, "-")):
            mean = np.mean(curves[way], axis=0)
            label = "majority vote" if way == "votes" else "mean of class shares"
            ax.plot(numbers_of, mean, line, color=color, label=label)
            numbers[what, way] = mean
        log_rounds(ax)
    axes[0].axhline(0.2, color=BLACK, linewidth=0.8, linestyle=":", label="smallest possible")
    axes[1].axhline(0.16, color=BLACK, linewidth=0.8, linestyle=":")
    axes[0].legend()
    name(axes[0], "Errors", "number of trees", "error rate")
    name(axes[1], "Probabilities", "number of trees", "Brier score")
    point = (
        f"4 trees: error {numbers['error', 'votes'][3]:.3f} by votes, "
        f"{numbers['error', 'shares'][3]:.3f} by shares; {MEMBERS} trees: Brier score "
        f"{numbers['brier', 'votes'][-1]:.3f} by votes, "
        f"{numbers['brier', 'shares'][-1]:.3f} by shares"
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
