"""A promise about new rows: PAC-Bayes bounds of a forest.

How often will this forest err on rows that nobody has seen yet? PAC-Bayes bounds answer with a
number that holds with probability 95 %, whatever the data are, from the training rows alone: each
tree is judged on the rows outside its bag.

The first-order bound doubles the error of a single tree, since the vote can only err where half
of the trees do. The second-order bound looks at pairs of trees: the vote is good because trees
rarely err *together*. It needs more rows, as few lie outside the bags of both trees, and is the
better one in the end. Both stay well above the error on 5,000 new rows: that is the price of a
promise that assumes nothing about the data.

Lorenzen, Igel and Seldin (2019), On PAC-Bayesian bounds for random forests, Machine Learning 108;
Masegosa, Lorenzen, Igel and Seldin (2020), Second order PAC-Bayesian bounds for the weighted
majority vote.
"""

import numpy as np
from figures import BLACK, BLUE, GREY, ORANGE, VERMILION, Example, log_rounds, name, panels, save
from sklearn.datasets import make_classification

from weald import RandomForestClassifier
from weald.theory import pac_bayes

ROWS = 500 * 2 ** np.arange(6)
CURVES = {
    "first order: twice the error of a tree": (VERMILION, "--"),
    "second order: pairs of trees (tandem)": (BLUE, "-"),
    "error of a tree, out of bag": (GREY, ":"),
    "error of the vote, new rows": (BLACK, "-"),
}


def main():
    """Draw bounds and test error of forests over the number of training rows."""
    X, y = make_classification(
        ROWS[-1] + 5000, n_features=20, n_informative=12, flip_y=0.02, class_sep=1.0, random_state=0
    )
    test = X[ROWS[-1] :], y[ROWS[-1] :]
    values = []
    for n in ROWS:
        forest = RandomForestClassifier(60, random_state=0).fit(X[:n], y[:n])
        found = pac_bayes(forest, X[:n], y[:n], test=test)
        bounds = found.bounds
        values.append((bounds["first_order"], bounds["tandem"], found.seen.gibbs, found.test_error))
    curves = dict(zip(CURVES, np.array(values).T, strict=True))
    figure, ax = panels(height=3.6)
    for label, (color, line) in CURVES.items():
        ax.plot(ROWS, curves[label], line, color=color, marker="o", markersize=3.5, label=label)
    log_rounds(ax)
    ax.axhline(0.5, color=ORANGE, linewidth=0.8, label="a coin")
    ax.set_ylim(0)
    ax.legend()
    name(ax, "A forest of 60 trees", "training rows", "error rate")
    numbers = dict(zip(("first_order", "tandem", "tree", "test"), np.array(values).T, strict=True))
    point = (
        f"{ROWS[-1]} rows: error on new rows {numbers['test'][-1]:.3f}, promised at most "
        f"{numbers['tandem'][-1]:.3f} (second order) and {numbers['first_order'][-1]:.3f} (first "
        f"order); {ROWS[0]} rows: {numbers['test'][0]:.3f}, {numbers['tandem'][0]:.3f} and "
        f"{numbers['first_order'][0]:.3f}"
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
