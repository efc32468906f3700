"""The variance law of forests: rho s² + (1 - rho) s² / B.

A mean of B numbers with variance s² and pairwise correlation rho has this variance. Here the
numbers are the errors of trees on new rows: s² is the mean squared distance of one tree from the
truth, and rho s² that of a forest of infinitely many.

Left: rho and s² come from 50 trees of one forest (`weald.theory.correlation`); the dots are
errors of *another* forest as trees are added. The law predicts them. More trees remove the second
term only.

Right: the first term is why forests draw columns at each node. With fewer columns to choose from,
trees become less alike (rho falls) and worse (s² rises). What counts is the product, and it is
smallest in between.

Breiman (2001), Random forests, Machine Learning 45, theorem 11.2; Hastie, Tibshirani and Friedman
(2009), The elements of statistical learning, 15.2.
"""

import numpy as np
from figures import BLACK, BLUE, ORANGE, VERMILION, Example, log_rounds, name, panels, save
from sklearn.datasets import make_friedman1

from weald import RandomForestRegressor
from weald.theory import correlation

SHOWN = {1: (ORANGE, "s", ":"), 3: (BLUE, "o", "-"), 5: (VERMILION, "D", "--")}
COLUMNS = (1, 2, 3, 4, 5)
SIZES = 2 ** np.arange(9)


def main():
    """Draw predicted and measured errors over the number of trees, and rho and s² by columns."""
    X, y = make_friedman1(400, n_features=5, noise=1.0, random_state=0)
    X_new, y_new = make_friedman1(3000, n_features=5, noise=0.0, random_state=1)
    figure, (curves, terms) = panels(2)
    found, numbers = {}, {}
    for m in COLUMNS:
        forest = RandomForestRegressor(50, max_features=m, random_state=0).fit(X, y)
        found[m] = correlation(forest, X_new, y_new)
    for m, (color, marker, line) in SHOWN.items():
        rho, s2 = found[m].rho, found[m].sigma2
        other = RandomForestRegressor(SIZES[-1], max_features=m, random_state=1).fit(X, y)
        errors = other.member_predictions(X_new) - y_new
        measured = np.array([np.mean(errors[:B].mean(axis=0) ** 2) for B in SIZES])
        predicted = rho * s2 + (1 - rho) * s2 / SIZES
        curves.plot(SIZES, predicted, line, color=color, linewidth=1.2)
        curves.plot(SIZES, measured, marker, color=color, markersize=4.5)
        label = f"{m} column{'s' * (m > 1)} per node" if m < 5 else "all columns"
        curves.plot([], [], marker=marker, linestyle=line, color=color, label=label)
        numbers[m] = {"predicted": predicted, "measured": measured}
    curves.set_ylim(0)
    log_rounds(curves)
    curves.legend()
    name(curves, "Lines: the law; dots: another forest", "number of trees B", "squared error")
    rho, s2 = (np.array([getattr(each, k) for each in found.values()]) for k in ("rho", "sigma2"))
    terms.plot(COLUMNS, rho, "-o", color=BLUE, label="correlation rho")
    terms.plot(COLUMNS, s2 / s2.max(), "--s", color=ORANGE, label="s², share of its largest")
    terms.plot(COLUMNS, rho * s2 / s2.max(), "-", color=BLACK, label="rho s², in the same unit")
    terms.set_ylim(0, 1.4)
    terms.set_xticks(COLUMNS)
    terms.legend(loc="upper right")
    name(terms, "What the columns per node do", "columns per node", "correlation, share")
    best = COLUMNS[int(np.argmin(rho * s2))]
    numbers |= {"rho": rho, "s2": s2, "best": best}
    point = (
        f"rho from {rho[0]:.2f} (1 column per node) to {rho[-1]:.2f} (all), s² from {s2[0]:.1f} to "
        f"{s2[-1]:.1f}; rho s² is smallest with {best} columns; {SIZES[-1]} trees of 3 columns: "
        f"predicted error {numbers[3]['predicted'][-1]:.2f}, "
        f"measured {numbers[3]['measured'][-1]:.2f}"
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
