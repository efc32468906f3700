"""Margins over the rounds of AdaBoost.

The margin of a row is the weight of the votes for its class minus that against it, as a share of
all votes: 1 if all members agree on the right class, negative if the vote is wrong. The curves
show how many training rows have at most a given margin.

After 5 rounds a few rows are wrong (their margins are not positive). After 20 none is, and the
training error can fall no further. But boosting goes on: it keeps working on the rows with the
smallest margins, and moves the left end of the curve to the right. Bounds on the error on new
rows depend on this distribution and not on the number of rounds, which is why more rounds need
not overfit. Bagging of the same trees makes most margins large, and leaves the rows on the left
behind.

Schapire, Freund, Bartlett and Lee (1998), Boosting the margin, Annals of Statistics 26.
"""

import numpy as np
from figures import BLACK, BLUE, ORANGE, SKY, VERMILION, Example, name, panels, save
from sklearn.datasets import load_digits

from weald import AdaBoostClassifier, BaggingClassifier, DecisionTreeClassifier
from weald.theory import margins

MEMBER = DecisionTreeClassifier(max_depth=4)
BOOSTED = {5: (SKY, ":"), 20: (BLUE, "--"), 200: (VERMILION, "-")}


def main():
    """Draw distributions of margins after some rounds, and the smallest margin over all rounds."""
    X, y = load_digits(return_X_y=True)
    X, y = X[::2], y[::2] % 2
    bag = BaggingClassifier(MEMBER, 200, random_state=0).fit(X, y)
    found = {"bagging, 200 trees": (margins(bag, X, y), ORANGE, "-.")}
    for rounds, look in BOOSTED.items():
        model = AdaBoostClassifier(MEMBER, n_estimators=rounds).fit(X, y)
        found[f"AdaBoost, {rounds} rounds"] = (margins(model, X, y), *look)
    figure, (left, right) = panels(2, height=3.6)
    share = np.arange(1, len(y) + 1) / len(y)
    for label, (result, color, line) in found.items():
        left.step(np.sort(result.values), share, line, where="post", color=color, label=label)
    left.axvline(0, color=BLACK, linewidth=0.8)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    name(left, "Margins of the training rows", "margin", "share of rows up to it")
    smallest, mean = result.minimum, result.mean
    rounds = np.arange(1, len(smallest) + 1)
    right.plot(rounds, mean, "--", color=BLUE, label="mean")
    right.plot(rounds, smallest, color=VERMILION, label="smallest")
    right.axhline(0, color=BLACK, linewidth=0.8)
    right.legend(loc="lower right")
    name(right, "Smallest and mean margin of AdaBoost", "rounds", "margin")
    numbers = {label: result.values for label, (result, _, _) in found.items()}
    point = "smallest margin: " + ", ".join(f"{k} {v.min():.2f}" for k, v in numbers.items())
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
