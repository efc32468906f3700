"""Why trees do not split by the error rate.

Three ways to measure how mixed the two classes of a node are. All are zero for a pure node and
largest for an even one. Gini and entropy are *strictly* concave: whenever a split changes the
class shares, the mean over the children lies below the parent. The error rate has straight sides,
and along those it sees no progress.

On the right, a node of 4 + 4 rows and two ways to split it, one of which makes a pure child. The
error rate cannot tell them apart; Gini and entropy prefer the pure child.

Breiman, Friedman, Olshen and Stone (1984), Classification and regression trees, chapter 4.
"""

import numpy as np
from figures import BLUE, GREEN, VERMILION, Example, name, panels, save

from weald import DecisionTreeClassifier

CRITERIA = {"misclassification": VERMILION, "gini": BLUE, "entropy": GREEN}
SPLITS = {"(3, 1) and (1, 3)": [3, 1, 1, 3], "(2, 4) and (2, 0)": [2, 4, 2, 0]}


def stump(criterion, weights):
    """One split of a node of two classes: two rows on its left side, two on its right."""
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=1)
    return tree.fit([[0], [0], [1], [1]], [0, 1, 0, 1], sample_weight=weights).tree_


def after_split(criterion, weights):
    """Mean impurity of the two children."""
    tree = stump(criterion, weights)
    return np.average(tree.impurity[1:], weights=tree.weighted_n_node_samples[1:])


def main():
    """Draw the impurity of all nodes, and of the children of two splits."""
    figure, (curves, bars) = panels(2)
    shares = np.linspace(0, 1, 81)
    numbers = {}
    for place, (criterion, color) in enumerate(CRITERIA.items()):
        impurity = np.array([stump(criterion, [1 - p, p, 0, 0]).impurity[0] for p in shares])
        curves.plot(shares, impurity, color=color, label=criterion)
        left = [after_split(criterion, weights) for weights in SPLITS.values()]
        for shift, value, hatch in zip((-0.19, 0.19), left, ("", "///"), strict=True):
            bars.bar(place + shift, value, 0.34, color=color, hatch=hatch, edgecolor="white")
            bars.text(place + shift, value + 0.01, f"{value:.2f}", ha="center")
        numbers[criterion] = tuple(left)
    name(curves, "A node of two classes", "share of the second class", "impurity")
    curves.legend(loc="lower center")
    name(bars, "The children of two splits of 4 + 4 rows", "", "mean impurity of the children")
    bars.set_xticks(range(3), CRITERIA)
    for label, hatch in zip(SPLITS, ("", "///"), strict=True):
        bars.bar(0, 0, color="0.5", hatch=hatch, edgecolor="white", label=label)
    bars.legend(loc="upper left", title="rows of each class", alignment="left")
    bars.set_ylim(0, 0.9)
    point = "impurity left by the even and by the pure split: " + ", ".join(
        f"{criterion} {a:.3f} and {b:.3f}" for criterion, (a, b) in numbers.items()
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
