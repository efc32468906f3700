"""Weak learners become a strong one.

A stump, one question about one column, is wrong about 46 % of new rows here: hardly better than a
coin. AdaBoost combines 400 of them and is wrong about 12 %, half as often as one large tree. The
class is +1 where the ten columns, squared and added, exceed their median: no single column says
much.

This is the theorem that weak and strong learnability are the same (Schapire 1990), and figure
10.2 of Hastie, Tibshirani and Friedman (2009), The elements of statistical learning.
"""

import numpy as np
from figures import BLUE, GREY, ORANGE, SKY, Example, log_rounds, name, panels, save
from sklearn.datasets import make_hastie_10_2

from weald import AdaBoostClassifier, DecisionTreeClassifier

ROUNDS = 400


def main():
    """Draw the error of one stump, one large tree, and boosted stumps over the rounds."""
    X, y = make_hastie_10_2(12_000, random_state=0)
    X, y, X_new, y_new = X[:2000], y[:2000], X[2000:], y[2000:]
    tree = DecisionTreeClassifier(max_leaf_nodes=244).fit(X, y)
    model = AdaBoostClassifier(n_estimators=ROUNDS).fit(X, y)
    test = 1 - np.array(list(model.staged_score(X_new, y_new)))
    train = 1 - np.array(list(model.staged_score(X, y)))
    numbers = {"stump": test[0], "tree": 1 - tree.score(X_new, y_new), "boosted": test[-1]}
    numbers |= {"edges": model.edges_}
    figure, ax = panels()
    rounds = np.arange(1, ROUNDS + 1)
    ax.axhline(numbers["stump"], color=GREY, linestyle=":", label="one stump")
    ax.axhline(numbers["tree"], color=ORANGE, linestyle="--", label="one tree of 244 leaves")
    ax.plot(rounds, test, color=BLUE, label="boosted stumps")
    ax.plot(rounds, train, color=SKY, linewidth=1, label="boosted stumps, training rows")
    ax.set_ylim(0, 0.52)
    log_rounds(ax)
    ax.legend(loc="lower left")
    name(ax, "Errors on 10,000 new rows", "rounds of AdaBoost", "error rate")
    point = (
        f"error on new rows: one stump {numbers['stump']:.3f}, one tree {numbers['tree']:.3f}, "
        f"{ROUNDS} boosted stumps {numbers['boosted']:.3f}; smallest edge {model.edges_.min():.3f}"
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
