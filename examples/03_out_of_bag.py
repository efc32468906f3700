"""The out-of-bag error is a test error that costs no test rows.

Every tree of a forest leaves out about 37 % of the rows, those that its bootstrap draw did not
hit. The trees that left a row out can be asked about it: they have not seen it. The error of
these answers, over the number of trees, follows the error on 5,000 new rows. The error on the
training rows themselves is zero, and says nothing.

The out-of-bag curve starts higher, as only 37 % of the trees speak for a row, and comes together
with the other one as trees are added. Neither rises again: more trees never overfit.

Breiman (1996), Out-of-bag estimation; Breiman (2001), Random forests, Machine Learning 45.
"""

import numpy as np
from figures import BLUE, GREY, ORANGE, Example, log_rounds, name, panels, save
from sklearn.datasets import make_classification

from weald import RandomForestClassifier

TREES = 300


def error_curve(forest, X, y):
    """Error of the first tree, the first two, ..., by the mean of their class shares."""
    shares = forest.member_predictions(X).cumsum(axis=0)
    return (shares.argmax(axis=2) != y).mean(axis=1)


def main():
    """Draw out-of-bag, test and training error over the number of trees."""
    X, y = make_classification(
        6000, n_features=20, n_informative=8, flip_y=0.1, class_sep=0.8, random_state=0
    )
    X, X_new, y, y_new = X[:1000], X[1000:], y[:1000], y[1000:]
    forest = RandomForestClassifier(TREES, oob_score=True, random_state=0).fit(X, y)
    out_of_bag, test = forest.oob_error_curve_, error_curve(forest, X_new, y_new)
    train = error_curve(forest, X, y)
    trees = np.arange(1, TREES + 1)
    noise = np.sqrt(out_of_bag[-1] * (1 - out_of_bag[-1]) / len(y))
    figure, ax = panels()
    ax.fill_between(
        trees, out_of_bag - 2 * noise, out_of_bag + 2 * noise, color=BLUE, alpha=0.15, linewidth=0
    )
    ax.plot(trees, out_of_bag, color=BLUE, label="out-of-bag (band: 2 standard errors)")
    ax.plot(trees, test, "--", color=ORANGE, label="5,000 new rows")
    ax.plot(trees, train, ":", color=GREY, label="training rows")
    log_rounds(ax)
    ax.set_ylim(-0.01, 0.4)
    ax.legend()
    name(ax, "A random forest on 1,000 rows", "number of trees", "error rate")
    numbers = {
        "out_of_bag": out_of_bag[-1],
        "test": test[-1],
        "train": train[-1],
        "noise": noise,
        "left_out": (forest.in_bag_ == 0).mean(),
        "gap_after_10": out_of_bag[9] - test[9],
    }
    point = (
        f"{TREES} trees: out-of-bag error {numbers['out_of_bag']:.3f} ± {noise:.3f}, test error "
        f"{numbers['test']:.3f}; a tree leaves out {numbers['left_out']:.1%} of the rows"
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
